/* Number formats, conversions, and the two sets of lane kernels against each other. */
#include "tests/unit/sim/machine_test.h"

#include <math.h>

#include "runtime/sim/cuda/convert.h"
#include "runtime/sim/cuda/lanes.h"

/* ---- formats ---- */

static double half_value(uint16_t bits) {
    _Float16 value;
    memcpy(&value, &bits, 2);
    return (double)value;
}

static double bfloat_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}

static void check_format(ptx_type type, double (*value_of)(uint16_t), uint16_t infinity) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double value = value_of((uint16_t)bits);
        double got = kcsim_decode(type, bits);
        if (value != value) {
            assert_true(got != got);
            continue;
        }
        assert_true(got == value && signbit(got) == signbit(value));
        assert_int_equal(kcsim_encode(type, value, PTX_M_RN), bits);
        uint32_t magnitude = bits & 0x7fff, sign = bits & 0x8000;
        if (magnitude + 1 >= infinity) continue;
        /* Halfway to the next one, and a little to either side. */
        double next = value_of((uint16_t)(bits + 1)), middle = (value + next) / 2;
        double below = middle + (value - middle) / 1024, above = middle + (next - middle) / 1024;
        assert_int_equal(kcsim_encode(type, middle, PTX_M_RN), bits + (bits & 1));
        assert_int_equal(kcsim_encode(type, middle, PTX_M_RNA), bits + 1);
        assert_int_equal(kcsim_encode(type, below, PTX_M_RN), bits);
        assert_int_equal(kcsim_encode(type, above, PTX_M_RN), bits + 1);
        assert_int_equal(kcsim_encode(type, above, PTX_M_RZ), bits);
        assert_int_equal(kcsim_encode(type, below, PTX_M_RP), sign ? bits : bits + 1);
        assert_int_equal(kcsim_encode(type, below, PTX_M_RM), sign ? bits + 1 : bits);
    }
}

static void test_formats(void **state) {
    (void)state;
    check_format(PTX_F16, half_value, 0x7c00);
    check_format(PTX_BF16, bfloat_value, 0x7f80);
    assert_int_equal(kcsim_encode(PTX_F16, 65520, PTX_M_RN), 0x7c00);
    assert_int_equal(kcsim_encode(PTX_F16, 65519.9, PTX_M_RN), 0x7bff);
    assert_int_equal(kcsim_encode(PTX_F16, 1e9, PTX_M_RZ), 0x7bff);
    assert_int_equal(kcsim_encode(PTX_F16, -1e9, PTX_M_RP), 0xfbff);
    assert_int_equal(kcsim_encode(PTX_F32, 1e-46, PTX_M_RN), 0);
    assert_int_equal(kcsim_encode(PTX_F32, 1e-46, PTX_M_RP), 1);
    assert_int_equal(kcsim_encode(PTX_TF32, 1.0 + 1.0 / 2048, PTX_M_RNA), 0x3f802000);
    assert_int_equal(kcsim_encode(PTX_E4M3X2, 448, PTX_M_RN), 0x7e);
    assert_int_equal(kcsim_encode(PTX_E4M3X2, -1e9, PTX_M_RN), 0xfe);
    assert_int_equal(kcsim_encode(PTX_E4M3X2, 1.0, PTX_M_RN), 0x38);
    assert_int_equal(kcsim_encode(PTX_E5M2X2, 1.25, PTX_M_RN), 0x3d);
    assert_true(kcsim_decode(PTX_E4M3X2, 0x7f) != kcsim_decode(PTX_E4M3X2, 0x7f));
    assert_true(kcsim_decode(PTX_E4M3X2, 0x01) == 1.0 / 512);
}

/* ---- cvt ---- */

#define CONVERT(text)                                                                              \
    PTX_KERNEL_FOR("sm_100", "ld.global.b64 %d10, [%d3];\nmov.b64 {%r1, %r2}, %d10;\nmov.b32 {%h1, %h2}, "       \
               "%r1;\nmov.b64 %d13, 0;\n" text "\nst.global.b64 [%d2], %d13;")
#define TO32 "\nmov.b64 %d13, {%r3, 0};"
#define TO16 "\nmov.b32 %r3, {%h3, 0};" TO32

static uint64_t convert(const char *ptx, uint64_t in) {
    uint64_t ins[32], out[32];
    for (int i = 0; i < 32; i++)
        ins[i] = in;
    machine_lanes(ptx, "sm_100", ins, out);
    for (int i = 1; i < 32; i++)
        assert_true(out[i] == out[0]);
    return out[0];
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static uint32_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static void test_conversions(void **state) {
    (void)state;
    /* integers: cut, extend, saturate */
    assert_int_equal(convert(CONVERT("cvt.s32.s8 %r3, %r1;" TO32), 0x80), 0xffffff80);
    assert_int_equal(convert(CONVERT("cvt.u32.u8 %r3, %r1;" TO32), 0x1ff), 0xff);
    assert_int_equal(convert(CONVERT("cvt.u8.u32 %r3, %r1;" TO32), 0x1ff), 0xff);
    assert_int_equal(convert(CONVERT("cvt.s8.s32 %r3, %r1;" TO32), 0xff), 0xffffffff);
    assert_int_equal(convert(CONVERT("cvt.sat.s8.s32 %r3, %r1;" TO32), 300), 127);
    assert_int_equal(convert(CONVERT("cvt.sat.u8.s32 %r3, %r1;" TO32), 0xfffffff0), 0);
    assert_int_equal(convert(CONVERT("cvt.sat.u16.u32 %h3, %r1;" TO16), 70000), 65535);
    assert_true(convert(CONVERT("cvt.s64.s32 %d13, %r1;"), 0x80000000) == 0xffffffff80000000);
    assert_true(convert(CONVERT("cvt.u64.s32 %d13, %r1;"), 0x80000000) == 0xffffffff80000000);
    assert_true(convert(CONVERT("cvt.s64.u32 %d13, %r1;"), 0x80000000) == 0x80000000);
    assert_int_equal(convert(CONVERT("cvt.u32.u64 %r3, %d10;" TO32), 0x123456789), 0x23456789);
    /* floats to integers: the four directions, limits, NaN */
    assert_int_equal(convert(CONVERT("cvt.rni.s32.f32 %r3, %r1;" TO32), bits_of_float(2.5f)), 2);
    assert_int_equal(convert(CONVERT("cvt.rzi.s32.f32 %r3, %r1;" TO32), bits_of_float(-2.7f)),
                     (uint32_t)-2);
    assert_int_equal(convert(CONVERT("cvt.rmi.s32.f32 %r3, %r1;" TO32), bits_of_float(-2.1f)),
                     (uint32_t)-3);
    assert_int_equal(convert(CONVERT("cvt.rpi.u32.f32 %r3, %r1;" TO32), bits_of_float(2.1f)), 3);
    assert_int_equal(convert(CONVERT("cvt.rzi.u32.f32 %r3, %r1;" TO32), bits_of_float(-5.f)), 0);
    assert_int_equal(convert(CONVERT("cvt.rzi.u8.f32 %r3, %r1;" TO32), bits_of_float(300.f)), 255);
    assert_int_equal(convert(CONVERT("cvt.rzi.s32.f32 %r3, %r1;" TO32), 0x7fc00000), 0);
    assert_true(convert(CONVERT("cvt.rzi.s64.f32 %d13, %r1;"), 0x7fc00000) == 0x8000000000000000);
    assert_true(convert(CONVERT("cvt.rzi.u64.f64 %d13, %d10;"), bits_of(1e30)) == UINT64_MAX);
    assert_true(convert(CONVERT("cvt.rzi.s64.f64 %d13, %d10;"), bits_of(-0x1p63)) ==
                0x8000000000000000);
    /* integers to floats */
    assert_int_equal(convert(CONVERT("cvt.rn.f32.u64 %r3, %d10;" TO32), UINT64_MAX), 0x5f800000);
    assert_int_equal(convert(CONVERT("cvt.rz.f32.u64 %r3, %d10;" TO32), UINT64_MAX), 0x5f7fffff);
    assert_int_equal(convert(CONVERT("cvt.rn.f16.s32 %h3, %r1;" TO16), (uint32_t)-2049), 0xe800);
    assert_int_equal(convert(CONVERT("cvt.rn.f16.u32 %h3, %r1;" TO16), 70000), 0x7c00);
    assert_int_equal(convert(CONVERT("cvt.rp.f32.s64 %r3, %d10;" TO32), 16777217), 0x4b800001);
    /* floats to floats */
    assert_int_equal(
        convert(CONVERT("cvt.rn.f16.f32 %h3, %r1;" TO16), bits_of_float(1.00048828125f)), 0x3c00);
    assert_int_equal(
        convert(CONVERT("cvt.rn.f16.f64 %h3, %d10;" TO16), bits_of(1.00048828125 + 1e-12)), 0x3c01);
    assert_int_equal(convert(CONVERT("cvt.rn.bf16.f32 %h3, %r1;" TO16), 0x3f808000), 0x3f80);
    assert_int_equal(convert(CONVERT("cvt.rn.bf16.f32 %h3, %r1;" TO16), 0x3f818000), 0x3f82);
    assert_int_equal(convert(CONVERT("cvt.rz.bf16.f32 %h3, %r1;" TO16), 0x3f80ffff), 0x3f80);
    assert_int_equal(convert(CONVERT("cvt.f32.f16 %r3, %h1;" TO32), 0x0001),
                     bits_of_float(0x1p-24f));
    assert_int_equal(convert(CONVERT("cvt.f32.bf16 %r3, %h1;" TO32), 0x4049), 0x40490000);
    assert_int_equal(convert(CONVERT("cvt.rna.tf32.f32 %r3, %r1;" TO32), 0x3f801000), 0x3f802000);
    assert_int_equal(convert(CONVERT("cvt.sat.f32.f32 %r3, %r1;" TO32), bits_of_float(7)),
                     0x3f800000);
    assert_int_equal(convert(CONVERT("cvt.ftz.f32.f16 %r3, %h1;" TO32), 0x0001),
                     bits_of_float(0x1p-24f));
    /* pairs: the first source is the high half */
    assert_int_equal(convert(CONVERT("cvt.rn.f16x2.f32 %r3, %r1, %r2;" TO32),
                             bits_of_float(1) | (uint64_t)bits_of_float(2) << 32),
                     0x3c004000);
    assert_int_equal(convert(CONVERT("cvt.rn.relu.bf16x2.f32 %r3, %r1, %r2;" TO32),
                             bits_of_float(-1) | (uint64_t)bits_of_float(2) << 32),
                     0x00004000);
    assert_int_equal(convert(CONVERT("cvt.rn.satfinite.e4m3x2.f32 %h3, %r1, %r2;" TO16),
                             bits_of_float(1) | (uint64_t)bits_of_float(1000) << 32),
                     0x387e);
    assert_int_equal(convert(CONVERT("cvt.rn.f16x2.e4m3x2 %r3, %h1;" TO32), 0x3840), 0x3c004000);
}

/* ---- halves ---- */

/* fma of halves rounds once: checked where rounding twice, by way of float, goes wrong. */
static void test_half_arithmetic(void **state) {
    uint64_t random = 7;
    (void)state;
    kcsim_lane_fn half = kcsim_lane_find(KCSIM_LANE_FMA, PTX_F16, false),
                  bfloat = kcsim_lane_find(KCSIM_LANE_FMA, PTX_BF16, false);
    kcsim_lane_fn sum = kcsim_lane_find(KCSIM_LANE_ADD, PTX_F16X2, false);
    for (int round = 0; round < 20000; round++) {
        uint16_t a[64], b[64], c[64], d[64];
        for (int i = 0; i < 64; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            a[i] = (uint16_t)(random >> 48);
            b[i] = (uint16_t)(random >> 32);
            c[i] = (uint16_t)(random >> 16);
        }
        half(d, a, b, c, c);
        for (int i = 0; i < 32; i++) {
            uint64_t want = kcsim_encode(
                PTX_F16, half_value(a[i]) * half_value(b[i]) + half_value(c[i]), PTX_M_RN);
            assert_int_equal(d[i], want);
        }
        sum(d, a, b, c, c);
        for (int i = 0; i < 64; i++)
            assert_int_equal(d[i],
                             kcsim_encode(PTX_F16, half_value(a[i]) + half_value(b[i]), PTX_M_RN));
        bfloat(d, a, b, c, c);
        for (int i = 0; i < 32; i++) {
            long double product = bfloat_value(a[i]) * bfloat_value(b[i]),
                        exact = product + bfloat_value(c[i]);
            if (exact - product != bfloat_value(c[i]) || exact - bfloat_value(c[i]) != product)
                continue;
            if (exact != exact || fabsl(exact) < 0x1p-100L || fabsl(exact) > 0x1p100L) continue;
            double near =
                (double)exact; /* 64 bits to 53, towards odd, so that the last rounding is right */
            if (near != exact) {
                uint64_t bits = bits_of(near);
                if (!(bits & 1)) bits += fabsl((long double)near) > fabsl(exact) ? (uint64_t)-1 : 1;
                memcpy(&near, &bits, 8);
            }
            assert_int_equal(d[i], kcsim_encode(PTX_BF16, near, PTX_M_RN));
        }
    }
}

/* f32 sums with halves among the operands: widened first, rounded once. */
static void test_mixed_precision(void **state) {
    uint64_t in =
        0x3c00 | 0x4000 << 16 | (uint64_t)bits_of_float(0.25f) << 32; /* 1 and 2 as f16, 0.25 */
    (void)state;
    assert_int_equal(convert(CONVERT("add.f32.f16 %r3, %h1, %r2;" TO32), in), bits_of_float(1.25f));
    assert_int_equal(convert(CONVERT("sub.rn.f32.f16 %r3, %h2, %r2;" TO32), in),
                     bits_of_float(1.75f));
    assert_int_equal(convert(CONVERT("fma.rn.f32.f16 %r3, %h2, %h2, %r2;" TO32), in),
                     bits_of_float(4.25f));
    assert_int_equal(convert(CONVERT("fma.rn.sat.f32.bf16 %r3, %h1, %h1, %r2;" TO32), 0x3f80),
                     bits_of_float(1.0f));
    assert_int_equal(convert(CONVERT("add.rz.f32.bf16 %r3, %h1, 0fB3000000;" TO32), 0x3f80),
                     0x3f7fffff);
}

/* ---- the two sets of kernels ---- */

static void test_tables_agree(void **state) {
    const kcsim_lane_table *base = &kcsim_lanes_base, *fast = kcsim_lanes();
    _Alignas(64) uint8_t in[4][512], one[512], two[512];
    uint64_t random = 3;
    (void)state;
    if (fast == base) skip();
    assert_int_equal(base->row_count, fast->row_count);
    assert_int_equal(base->compare_count, fast->compare_count);
    for (int round = 0; round < 200; round++) {
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 64; i++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                uint64_t word = random ^ random >> 29;
                if (round % 4 == 1) word &= 0x003f003f003f003f;
                if (round % 4 == 2) word |= 0x7f8000007f800000 * (random >> 60 & 1);
                memcpy(in[k] + 8 * i, &word, 8);
            }
        for (int i = 0; i < base->row_count; i++) {
            memset(one, 0, sizeof one);
            memset(two, 0, sizeof two);
            base->rows[i].fn(one, in[0], in[1], in[2], in[3]);
            fast->rows[i].fn(two, in[0], in[1], in[2], in[3]);
            if (memcmp(one, two, sizeof one) != 0)
                print_error("op %d type %s\n", (int)base->rows[i].op,
                            ptx_types[base->rows[i].type].text);
            assert_memory_equal(one, two, sizeof one);
        }
        for (int i = 0; i < base->compare_count; i++)
            assert_int_equal(base->compares[i].fn(in[0], in[1]),
                             fast->compares[i].fn(in[0], in[1]));
        static const unsigned widths[] = {2, 4, 8, 16};
        for (int i = 0; i < 4; i++) {
            base->blend(one, in[0], in[1], (uint32_t)random, widths[i]);
            fast->blend(two, in[0], in[1], (uint32_t)random, widths[i]);
            assert_memory_equal(one, two, widths[i] * 32);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),         cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_half_arithmetic), cmocka_unit_test(test_mixed_precision),
        cmocka_unit_test(test_tables_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
