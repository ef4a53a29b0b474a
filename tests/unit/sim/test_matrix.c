/* mma and wmma: sums that show how they were added, limits, and what the checks say about fragments. Every shape and type
 * is compared with NumPy in tests/foreign. */
#include <fenv.h>
#include <math.h>

#include "tests/unit/sim/machine_test.h"

static uint64_t of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* f64 is added by fma, one product after the other: C = 1, then (1 + 2^-30) * (1 - 2^-30) - 1, and so on. */
static void test_f64(void **state) {
    uint64_t in[32], out[32];
    (void)state;
    double x = 1 + ldexp(1, -30), y = 1 - ldexp(1, -30), wanted = -1;
    for (int i = 0; i < 4; i++) wanted = fma(x, y, wanted);
    for (int i = 0; i < 32; i++) in[i] = of_double(x);
    machine_lanes(PTX_KERNEL("ld.global.b64 %d5, [%d3];\nmov.b64 %d6, 0d3FEFFFFFFF800000;\nmov.b64 %d7, 0dBFF0000000000000;\n"
                             "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d8, %d9}, {%d5}, {%d6}, {%d7, %d7};\n"
                             "st.global.b64 [%d2], %d9;"),
                  "sm_80", in, out);
    assert_true(of_double(y) == 0x3FEFFFFFFF800000u);
    for (int i = 0; i < 32; i++) assert_true(out[i] == of_double(wanted));
}

/* Lane 0's row is full: 16 x 127 x 127 more than the largest number wraps, or with .satfinite stays. */
static void test_integer_limits(void **state) {
    uint64_t in[32], out[32];
    (void)state;
    for (uint32_t i = 0; i < 32; i++) in[i] = i < 4 ? 0x7f7f7f7f : i < 8 ? 0x81818181 : 0;
    machine_lanes(PTX_KERNEL("ld.global.b32 %r1, [%d3];\nmov.b32 %r2, 0x7f7f7f7f;\nmov.b32 %r3, 0x7fffffff;\nmov.b32 %r4, 0x80000001;\n"
                             "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r5, %r6}, {%r1}, {%r2}, {%r3, %r4};\n"
                             "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r7, %r8}, {%r1}, {%r2}, {%r3, %r4};\n"
                             "st.global.v2.b32 [%d2], {%r5, %r8};"),
                  "sm_80", in, out);
    int32_t sum = 16 * 127 * 127;
    assert_int_equal((uint32_t)out[0], 0x7fffffffu + (uint32_t)sum);
    assert_int_equal(out[0] >> 32, 0x80000001u + (uint32_t)sum);
    assert_int_equal((uint32_t)out[4], 0x7fffffffu - (uint32_t)sum);
    assert_int_equal(out[4] >> 32, 0x80000000u);
    assert_int_equal((uint32_t)out[8], 0x7fffffffu);
}

/* The largest e4m3, a NaN, an infinity of e5m2, and the smallest number of each. */
static void test_fp8(void **state) {
    static const struct {
        uint32_t a;
        float wanted;
    } rows[] = {{0x7e, 448}, {0xfe, -448}, {0x7f, NAN}, {0x01, 0.001953125f}, {0x78, 256}};
    uint64_t in[32], out[32];
    (void)state;
    for (uint32_t i = 0; i < 32; i++) in[i] = i % 4 == 0 && i / 4 < 5 ? rows[i / 4].a : 0;
    machine_lanes(PTX_KERNEL_FOR("sm_89", "ld.global.b32 %r1, [%d3];\nmov.b32 %r2, 0x3c3c3c3c;\nmov.b32 %r3, 0;\nmov.b32 %r4, 0;\n"
                             "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%r5, %r6, %r7, %r8}, {%r1, %r3, %r3, %r3}, "
                             "{%r2, %r2}, {%r4, %r4, %r4, %r4};\nst.global.v2.b32 [%d2], {%r5, %r8};"),
                  "sm_89", in, out);
    for (uint32_t row = 0; row < 5; row++) {
        float value;
        memcpy(&value, &out[4 * row], sizeof value);
        assert_true(isnan(rows[row].wanted) ? isnan(value) : value == rows[row].wanted);
        assert_int_equal(out[4 * row] >> 32, 0);
    }
}

/* Every bit pattern of the small types of sm_120a, by their definition: sign, exponent, fraction. */
static double minifloat(uint32_t bits, uint32_t exponents, uint32_t fractions) {
    uint32_t fraction = bits & ((1u << fractions) - 1), exponent = bits >> fractions & ((1u << exponents) - 1);
    int bias = (1 << (exponents - 1)) - 1;
    double value = exponent ? ldexp(1 + ldexp(fraction, -(int)fractions), (int)exponent - bias) : ldexp(fraction, 1 - bias - (int)fractions);
    return bits >> (exponents + fractions) & 1 ? -value : value;
}

/* B has 1 (of e5m2) in rows 1, 5, ... */
#define F8F6F4(type)                                                                                                   \
    ".version 8.7\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d4, %r0, 8;\n"              \
    "add.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\nld.global.v2.b32 {%r1, %r2}, [%d3];\nmov.b32 %r3, 0;\n"           \
    "mov.b32 %r4, 0x00003c00;\nmma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32." type                                \
    ".e5m2.f32 {%r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r3}, {%r4, %r4}, {%r3, %r3, %r3, %r3};\n"                         \
    "st.global.v2.b32 [%d2], {%r5, %r7};\nret;\n}\n"

static void test_f8f6f4(void **state) {
    static const struct {
        const char *ptx;
        uint32_t exponents, fractions, shift;
    } forms[] = {{F8F6F4("e3m2"), 3, 2, 0}, {F8F6F4("e2m3"), 2, 3, 0}, {F8F6F4("e2m1"), 2, 1, 2}};
    (void)state;
    for (int f = 0; f < 3; f++) {
        uint32_t count = 1u << (1 + forms[f].exponents + forms[f].fractions);
        for (uint32_t first = 0; first < count; first += 16) {
            uint64_t in[32] = {0}, out[32];
            for (uint32_t g = 0; g < 8; g++) /* column 1 of A: rows g and g + 8 */
                in[4 * g] = (uint64_t)((first + g) % count) << (8 + forms[f].shift) | (uint64_t)((first + g + 8) % count) << (40 + forms[f].shift);
            machine_lanes(forms[f].ptx, "sm_120a", in, out);
            for (uint32_t g = 0; g < 16; g++) {
                uint32_t word = (uint32_t)(out[g % 8 * 4] >> (g < 8 ? 0 : 32));
                float value;
                memcpy(&value, &word, sizeof value);
                assert_true((double)value == minifloat((first + g) % count, forms[f].exponents, forms[f].fractions));
            }
        }
    }
}

/* Fused, k by k, in each direction; %d5 and %d6 are a third and a seventh, up and down. */
static void test_directions(void **state) {
    static const struct {
        const char *mma, *wmma;
        int how;
    } forms[] = {
#define DIRECTION(name)                                                                                                \
    PTX_KERNEL("mov.b64 %d5, 0d3FD5555555555555;\nmov.b64 %d6, 0d3FC2492492492492;\nmov.b64 %d7, 0d3FF0000000000000;\n"  \
               "mma.sync.aligned.m8n8k4.row.col" name ".f64.f64.f64.f64 {%d8, %d9}, {%d5}, {%d6}, {%d7, %d7};\nst.global.b64 [%d2], %d8;"), \
    PTX_KERNEL("mov.b64 %d5, 0d3FD5555555555555;\nmov.b64 %d6, 0d3FC2492492492492;\nmov.b64 %d7, 0d3FF0000000000000;\n"  \
               "wmma.mma.sync.aligned.row.col.m8n8k4" name ".f64.f64.f64.f64 {%d8, %d9}, {%d5}, {%d6}, {%d7, %d7};\nst.global.b64 [%d2], %d8;")
        {DIRECTION(""), FE_TONEAREST}, {DIRECTION(".rz"), FE_TOWARDZERO}, {DIRECTION(".rm"), FE_DOWNWARD}, {DIRECTION(".rp"), FE_UPWARD},
    };
    uint64_t in[32] = {0}, out[32], all[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        volatile double third = 1.0 / 3, seventh = 1.0 / 7, sum = 1;
        fesetround(forms[i].how);
        for (int k = 0; k < 4; k++) sum = fma(third, seventh, sum);
        fesetround(FE_TONEAREST);
        double value = sum;
        memcpy(&all[i], &value, 8);
        machine_lanes(forms[i].mma, "sm_80", in, out);
        for (int lane = 0; lane < 32; lane++) assert_true(out[lane] == all[i]);
        machine_lanes(forms[i].wmma, "sm_80", in, out);
        for (int lane = 0; lane < 32; lane++) assert_true(out[lane] == all[i]);
    }
    assert_true(all[1] == all[2] && all[3] > all[2]);
}

#define LOAD_A "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r1, %r2}, "

static void expect(const char *ptx, const char *kind, const char *text) {
    machine_test test = machine_open(NULL, "sm_80", ptx, 512);
    uint8_t bytes[512] = {0};
    machine_write(&test, test.in, bytes, sizeof bytes);
    assert_int_equal(machine_launch(&test, 1, 32, 0), kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&test, kind, text));
    else assert_int_equal(kcsim_finding_count(test.machine), 0);
    machine_close(&test);
}

static void test_fragments(void **state) {
    (void)state;
    expect(PTX_KERNEL(LOAD_A "[%d1], 32;\nst.global.v2.b32 [%d2], {%r1, %r2};"), NULL, NULL);
    expect(PTX_KERNEL(LOAD_A "[%d1+256];"), NULL, NULL);
    expect(PTX_KERNEL(LOAD_A "[%d1+272];"), "out_of_bounds", "past the start");
    expect(PTX_KERNEL(LOAD_A "[%d1], 48;"), "out_of_bounds", "past the start");
    expect(PTX_KERNEL(LOAD_A "[%d1+4], 16;"), "misaligned", "its stride");
    expect(PTX_KERNEL(LOAD_A "[%d1], 20;"), "misaligned", "its stride");
    expect(PTX_KERNEL(LOAD_A "[%d0], 16;\nst.global.v2.b32 [%d2], {%r1, %r2};"), "uninitialized", "never written");
    expect(PTX_KERNEL("wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r1}, [%d1], 128;\nst.global.b32 [%d2], %r1;"), NULL, NULL);
    expect(PTX_KERNEL("wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r1}, [%d1], 36;"), "misaligned", "its stride");
    expect(PTX_KERNEL("wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r1}, [%d1+392];"), "out_of_bounds", "past the start");
    expect(PTX_KERNEL("wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r1}, [%d1+384];"), NULL, NULL);
    expect(PTX_KERNEL("mov.b32 %r1, 0;\nwmma.store.d.sync.aligned.row.m8n32k16.global.f16 [%d0], {%r1, %r1, %r1, %r3};"),
           "uninitialized", "never written");
    expect(PTX_KERNEL("mov.b32 %r1, 0;\nwmma.store.d.sync.aligned.col.m8n32k16.global.f16 [%d0], {%r1, %r1, %r1, %r1};"), NULL, NULL);
}

/* The whole warp, at once: lanes that part meet first, and those that are gone are missed. */
static void test_whole_warps(void **state) {
    static const char mma[] = PTX_KERNEL("setp.lt.u32 %p1, %r0, 8;\nmov.b32 %r1, 0;\n@%p1 bra meet;\nmov.b32 %r1, 1;\nmeet:\n"
                                         "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.b32 [%d2], %r2;");
    (void)state;
    expect(mma, NULL, NULL);
    expect(PTX_KERNEL("setp.lt.u32 %p1, %r0, 8;\n@%p1 bra end;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;\nend:"),
           "barrier_divergence", "all lanes of the warp");
    expect(PTX_KERNEL("setp.lt.u32 %p1, %r0, 8;\n@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;"), "barrier_divergence",
           "all lanes of the warp");
    expect(PTX_KERNEL("setp.lt.u32 %p1, %r0, 99;\n@!%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;"), NULL, NULL);
    expect(PTX_KERNEL("setp.lt.u32 %p1, %r0, 8;\n@%p1 bra other;\n" LOAD_A "[%d1], 16;\nbra end;\nother:\n" LOAD_A "[%d1], 16;\nend:"),
           "barrier_divergence", "wait for lanes");
}

/* Row by row in, column by column out: a transposition, of two-byte elements. */
static void test_layouts(void **state) {
    (void)state;
    machine_test test = machine_open(NULL, "sm_80",
                                     PTX_KERNEL("wmma.load.c.sync.aligned.row.m32n8k16.global.f16 {%r1, %r2, %r3, %r4}, [%d1];\n"
                                                "wmma.store.d.sync.aligned.col.m32n8k16.global.f16 [%d0], {%r1, %r2, %r3, %r4}, 40;"),
                                     1024);
    uint16_t in[512] = {0}, *out;
    for (uint16_t i = 0; i < 256; i++) in[i] = (uint16_t)(3 * i + 1);
    machine_write(&test, test.in, in, sizeof in);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    out = kcsim_mem_host(test.machine, test.out, 1024);
    for (int row = 0; row < 32; row++)
        for (int column = 0; column < 8; column++) assert_int_equal(out[column * 40 + row], in[row * 8 + column]);
    machine_close(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f64),       cmocka_unit_test(test_integer_limits), cmocka_unit_test(test_fp8),
        cmocka_unit_test(test_f8f6f4),    cmocka_unit_test(test_directions),
        cmocka_unit_test(test_fragments), cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_whole_warps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
