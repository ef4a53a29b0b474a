/* Each arithmetic instruction on one warp, against the host, with the values where they go wrong. */
#include "tests/unit/sim/machine_test.h"

#include <math.h>
#include <time.h>

#include "runtime/sim/cuda/lanes.h"

/* in: two 32-bit operands, low and high. out: 32 bits. */
#define BODY32(text)                                                                               \
    PTX_KERNEL("ld.global.v2.b32 {%r1, %r2}, [%d3];\nmov.b32 %r3, 0;\n" text                       \
               "\nst.global.v2.b32 [%d2], {%r3, 0};")
/* in: one 64-bit operand; %d11 is the operand of the next lane. */
#define BODY64(text)                                                                               \
    PTX_KERNEL("ld.global.b64 %d10, [%d3];\nadd.s32 %r5, %r0, 1;\nand.b32 %r5, %r5, 31;\n"         \
               "mul.wide.u32 %d12, %r5, 8;\nadd.s64 %d12, %d1, %d12;\nld.global.b64 %d11, [%d12];\n" text \
               "\nst.global.b64 [%d2], %d13;")

static const uint32_t corner[] = {0,          1,          2,          31,         32,         33,
                                  0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x12345678,
                                  0x00ff00ff, 100,        0xffff8000, 65536};

static void fill_pairs(uint64_t in[32], uint32_t round) {
    for (uint32_t i = 0; i < 32; i++)
        in[i] = corner[(i + round) % 16] | (uint64_t)corner[(i * 7 + round * 3) % 16] << 32;
}

typedef uint32_t (*reference32)(uint32_t a, uint32_t b);

static void check32(const char *ptx, reference32 reference) {
    uint64_t in[32], out[32];
    for (uint32_t round = 0; round < 8; round++) {
        fill_pairs(in, round);
        machine_lanes(ptx, "sm_80", in, out);
        for (int i = 0; i < 32; i++) {
            uint32_t a = (uint32_t)in[i], b = (uint32_t)(in[i] >> 32);
            if ((uint32_t)out[i] != reference(a, b)) print_error("a %x b %x in %s\n", a, b, strstr(ptx, "mov.b32 %r3"));
            assert_int_equal((uint32_t)out[i], reference(a, b));
        }
    }
}

#define CHECK32(text, expression)                                                                  \
    static uint32_t expected_##text(uint32_t a, uint32_t b) {                                      \
        (void)a, (void)b;                                                                          \
        return (uint32_t)(expression);                                                             \
    }

CHECK32(add, a + b)
CHECK32(sub, a - b)
CHECK32(mul, a *b)
CHECK32(mulhi, (uint64_t)a *b >> 32)
CHECK32(mulhis, (int64_t)(int32_t)a *(int32_t)b >> 32)
CHECK32(mad, a *b + 7)
CHECK32(divu, b ? a / b : UINT32_MAX)
CHECK32(divs, b ? (int64_t)(int32_t)a / (int32_t)b : -1)
CHECK32(rems, b ? (int64_t)(int32_t)a % (int32_t)b : a)
CHECK32(mins, (int32_t)a < (int32_t)b ? a : b)
CHECK32(maxu, a > b ? a : b)
CHECK32(shl, b > 31 ? 0 : a << b)
CHECK32(shru, b > 31 ? 0 : a >> b)
CHECK32(shrs, (int32_t)a >> (b > 31 ? 31 : b))
CHECK32(popc, __builtin_popcount(a))
CHECK32(clz, a ? __builtin_clz(a) : 32)
CHECK32(bfind, a ? 31 - __builtin_clz(a) : -1)
CHECK32(cnot, a == 0)
CHECK32(lop3, (a & b) ^ 0x55555555)
CHECK32(prmt, (a & 0xff) << 24 | (b & 0xff) << 16 | (a >> 24) << 8 | (b >> 24))
CHECK32(bfe, a >> 4 & 0xff)
CHECK32(bfes, (int32_t)(a << 20) >> 24)
CHECK32(bfi, (b & ~0xff0u) | (a & 0xff) << 4)
CHECK32(shf, (uint32_t)(((uint64_t)b << 32 | a) >> 9))
CHECK32(addsat, (int64_t)(int32_t)a + (int32_t)b > INT32_MAX   ? INT32_MAX
                : (int64_t)(int32_t)a + (int32_t)b < INT32_MIN ? INT32_MIN
                                                               : (int64_t)(int32_t)a + (int32_t)b)
CHECK32(mul24, (a & 0xffffff) * (b & 0xffffff))
CHECK32(abss, (int32_t)a < 0 ? 0 - a : a)
CHECK32(sad, 5 + ((int32_t)a < (int32_t)b ? b - a : a - b))
CHECK32(dp4a, 9 + (int8_t)a * (int8_t)b + (int8_t)(a >> 8) * (int8_t)(b >> 8) +
                  (int8_t)(a >> 16) * (int8_t)(b >> 16) + (int8_t)(a >> 24) * (int8_t)(b >> 24))
CHECK32(selp, (int32_t)a < (int32_t)b ? a : b)
CHECK32(set, a == b ? 0xffffffff : 0)
CHECK32(slct, (int32_t)b >= 0 ? a : 77)

static void test_integers(void **state) {
    (void)state;
    check32(BODY32("add.s32 %r3, %r1, %r2;"), expected_add);
    check32(BODY32("sub.s32 %r3, %r1, %r2;"), expected_sub);
    check32(BODY32("mul.lo.s32 %r3, %r1, %r2;"), expected_mul);
    check32(BODY32("mul.hi.u32 %r3, %r1, %r2;"), expected_mulhi);
    check32(BODY32("mul.hi.s32 %r3, %r1, %r2;"), expected_mulhis);
    check32(BODY32("mad.lo.s32 %r3, %r1, %r2, 7;"), expected_mad);
    check32(BODY32("div.u32 %r3, %r1, %r2;"), expected_divu);
    check32(BODY32("div.s32 %r3, %r1, %r2;"), expected_divs);
    check32(BODY32("rem.s32 %r3, %r1, %r2;"), expected_rems);
    check32(BODY32("min.s32 %r3, %r1, %r2;"), expected_mins);
    check32(BODY32("max.u32 %r3, %r1, %r2;"), expected_maxu);
    check32(BODY32("shl.b32 %r3, %r1, %r2;"), expected_shl);
    check32(BODY32("shr.u32 %r3, %r1, %r2;"), expected_shru);
    check32(BODY32("shr.s32 %r3, %r1, %r2;"), expected_shrs);
    check32(BODY32("popc.b32 %r3, %r1;"), expected_popc);
    check32(BODY32("clz.b32 %r3, %r1;"), expected_clz);
    check32(BODY32("bfind.u32 %r3, %r1;"), expected_bfind);
    check32(BODY32("cnot.b32 %r3, %r1;"), expected_cnot);
    check32(BODY32("lop3.b32 %r3, %r1, %r2, 0x55555555, 0x6a;"), expected_lop3);
    check32(BODY32("prmt.b32 %r3, %r1, %r2, 0x0437;"), expected_prmt);
    check32(BODY32("bfe.u32 %r3, %r1, 4, 8;"), expected_bfe);
    check32(BODY32("bfe.s32 %r3, %r1, 4, 8;"), expected_bfes);
    check32(BODY32("bfi.b32 %r3, %r1, %r2, 4, 8;"), expected_bfi);
    check32(BODY32("shf.r.wrap.b32 %r3, %r1, %r2, 41;"), expected_shf);
    check32(BODY32("add.sat.s32 %r3, %r1, %r2;"), expected_addsat);
    check32(BODY32("mul24.lo.u32 %r3, %r1, %r2;"), expected_mul24);
    check32(BODY32("abs.s32 %r3, %r1;"), expected_abss);
    check32(BODY32("sad.s32 %r3, %r1, %r2, 5;"), expected_sad);
    check32(BODY32("dp4a.s32.s32 %r3, %r1, %r2, 9;"), expected_dp4a);
    check32(BODY32("setp.lt.s32 %p1, %r1, %r2;\nselp.b32 %r3, %r1, %r2, %p1;"), expected_selp);
    check32(BODY32("set.eq.u32.u32 %r3, %r1, %r2;"), expected_set);
    check32(BODY32("slct.b32.s32 %r3, %r1, 77, %r2;"), expected_slct);
}

/* 128-bit sums by the carry chain: the high half of (x, y) + (y, x). */
static void test_carry(void **state) {
    uint64_t in[32], out[32];
    (void)state;
    for (uint32_t i = 0; i < 32; i++) in[i] = i % 3 == 0 ? UINT64_MAX - i : i % 3 == 1 ? i : 0x8000000000000000u + i;
    machine_lanes(BODY64("add.cc.s64 %d14, %d10, %d11;\naddc.s64 %d13, 0, 0;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) assert_int_equal(out[i], in[i] + in[(i + 1) % 32] < in[i]);
    machine_lanes(BODY64("sub.cc.s64 %d14, %d10, %d11;\nsubc.s64 %d13, 5, 0;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) assert_int_equal(out[i], 5 - (in[i] < in[(i + 1) % 32]));
    /* The carry after a subtraction, read by an addition: set when nothing was borrowed. */
    machine_lanes(BODY64("sub.cc.s64 %d14, %d10, %d11;\naddc.s64 %d13, 0, 0;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) assert_int_equal(out[i], in[i] >= in[(i + 1) % 32]);
    machine_lanes(BODY64("mul.hi.u64 %d13, %d10, %d11;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) {
        __extension__ unsigned __int128 product = (unsigned __int128)in[i] * in[(i + 1) % 32];
        assert_true(out[i] == (uint64_t)(product >> 64));
    }
    machine_lanes(BODY64("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %d10; mov.b64 %d13, {hi, lo}; }"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) assert_true(out[i] == (in[i] << 32 | in[i] >> 32));
}

/* ---- floats ---- */

static const uint32_t floats[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0x00000001, 0x807fffff, 0x7f7fffff, 0x3f800001, 0x40490fdb, 0x33800000, 0x4b800001,
                                  0xc2f6e979, 0x00800000};

static float f32(uint64_t bits) {
    float value;
    uint32_t narrow = (uint32_t)bits;
    memcpy(&value, &narrow, 4);
    return value;
}

static uint32_t u32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? 0x7fffffff : bits;
}

static void check_floats(const char *ptx, reference32 reference) {
    uint64_t in[32], out[32];
    for (uint32_t round = 0; round < 16; round++) {
        for (uint32_t i = 0; i < 32; i++)
            in[i] = floats[i % 16] | (uint64_t)floats[(i + round) % 16] << 32;
        machine_lanes(ptx, "sm_90", in, out);
        for (int i = 0; i < 32; i++) {
            uint32_t want = reference((uint32_t)in[i], (uint32_t)(in[i] >> 32));
            if ((uint32_t)out[i] != want)
                print_error("a %08x b %08x got %08x want %08x: %s\n", (uint32_t)in[i], (uint32_t)(in[i] >> 32),
                            (uint32_t)out[i], want, strstr(ptx, "mov.b32 %r3"));
            assert_int_equal((uint32_t)out[i], want);
        }
    }
}

#define FLOAT32(name, expression)                                                                  \
    static uint32_t float_##name(uint32_t x, uint32_t y) {                                         \
        float a = f32(x), b = f32(y);                                                              \
        (void)b;                                                                                   \
        return u32(expression);                                                                    \
    }

static float flushed(float value) {
    return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value;
}

static float least(float a, float b) {
    if (a != a || b != b) return a != a ? b : a;
    return a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}

FLOAT32(add, a + b)
FLOAT32(mul, a *b)
FLOAT32(fma, fmaf(a, b, a))
FLOAT32(div, a / b)
FLOAT32(sqrt, sqrtf(a))
FLOAT32(mulftz, flushed(flushed(a) * flushed(b)))
FLOAT32(min, least(a, b))
FLOAT32(minnan, a != a || b != b ? NAN : least(a, b))
FLOAT32(sat, a + b > 0 ? (a + b < 1 ? a + b : 1) : 0)
FLOAT32(rsqrt, (float)(1 / sqrt((double)a)))
FLOAT32(ex2, (float)exp2((double)a))
FLOAT32(floor, floorf(a))
FLOAT32(rint, rintf(a))

static uint32_t float_neg(uint32_t x, uint32_t y) {
    (void)y;
    return x ^ 0x80000000;
}

static uint32_t float_copysign(uint32_t x, uint32_t y) {
    return (y & 0x7fffffff) | (x & 0x80000000);
}

static uint32_t float_to_s32(uint32_t x, uint32_t y) {
    float a = f32(x);
    (void)y;
    if (a != a) return 0;
    return a >= 0x1p31f ? INT32_MAX : a <= -0x1p31f ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)a;
}

static uint32_t float_ltu(uint32_t x, uint32_t y) {
    return !(f32(x) >= f32(y));
}

static uint32_t float_ne(uint32_t x, uint32_t y) {
    float a = f32(x), b = f32(y);
    return a < b || a > b;
}

static uint32_t float_isnormal(uint32_t x, uint32_t y) {
    (void)y;
    return isnormal(f32(x)) != 0;
}

static void test_floats(void **state) {
    (void)state;
    check_floats(BODY32("add.rn.f32 %r3, %r1, %r2;"), float_add);
    check_floats(BODY32("mul.f32 %r3, %r1, %r2;"), float_mul);
    check_floats(BODY32("fma.rn.f32 %r3, %r1, %r2, %r1;"), float_fma);
    check_floats(BODY32("div.rn.f32 %r3, %r1, %r2;"), float_div);
    check_floats(BODY32("sqrt.rn.f32 %r3, %r1;"), float_sqrt);
    check_floats(BODY32("mul.ftz.f32 %r3, %r1, %r2;"), float_mulftz);
    check_floats(BODY32("min.f32 %r3, %r1, %r2;"), float_min);
    check_floats(BODY32("min.NaN.f32 %r3, %r1, %r2;"), float_minnan);
    check_floats(BODY32("add.sat.f32 %r3, %r1, %r2;"), float_sat);
    check_floats(BODY32("rsqrt.approx.f32 %r3, %r1;"), float_rsqrt);
    check_floats(BODY32("ex2.approx.f32 %r3, %r1;"), float_ex2);
    check_floats(BODY32("cvt.rmi.f32.f32 %r3, %r1;"), float_floor);
    check_floats(BODY32("cvt.rni.f32.f32 %r3, %r1;"), float_rint);
    check_floats(BODY32("neg.f32 %r3, %r1;"), float_neg);
    check_floats(BODY32("copysign.f32 %r3, %r1, %r2;"), float_copysign);
    check_floats(BODY32("cvt.rzi.s32.f32 %r3, %r1;"), float_to_s32);
    check_floats(BODY32("setp.ltu.f32 %p1, %r1, %r2;\nselp.u32 %r3, 1, 0, %p1;"), float_ltu);
    check_floats(BODY32("setp.ne.f32 %p1, %r1, %r2;\nselp.u32 %r3, 1, 0, %p1;"), float_ne);
    check_floats(BODY32("testp.normal.f32 %p1, %r1;\nselp.u32 %r3, 1, 0, %p1;"), float_isnormal);
}

/* 1 + 2^-24 in each direction, and a product whose exact value lies between. */
static void test_rounding_modes(void **state) {
    static const struct {
        const char *ptx;
        uint32_t expected;
    } cases[] = {{BODY32("add.rn.f32 %r3, 0f3F800000, 0f33000000;"), 0x3f800000},
                 {BODY32("add.rp.f32 %r3, 0f3F800000, 0f33000000;"), 0x3f800001},
                 {BODY32("add.rz.f32 %r3, 0f3F800000, 0f33000000;"), 0x3f800000},
                 {BODY32("add.rm.f32 %r3, 0fBF800000, 0fB3000000;"), 0xbf800001},
                 {BODY32("mul.rp.f32 %r3, 0f3F800001, 0f3F800001;"), 0x3f800003},
                 {BODY32("fma.rz.f32 %r3, 0f3F800001, 0f3F800001, 0f00000000;"), 0x3f800002},
                 {BODY32("cvt.rz.f32.u32 %r3, 0xffffffff;"), 0x4f7fffff},
                 {BODY32("cvt.rn.f32.u32 %r3, 0xffffffff;"), 0x4f800000}};
    uint64_t in[32] = {0}, out[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine_lanes(cases[i].ptx, "sm_80", in, out);
        assert_int_equal((uint32_t)out[5], cases[i].expected);
    }
}

static void test_doubles(void **state) {
    uint64_t in[32], out[32];
    double values[32];
    (void)state;
    for (int i = 0; i < 32; i++) values[i] = ldexp(1.0 + i / 7.0, i * 60 - 1000) * (i % 2 ? -1 : 1);
    memcpy(in, values, sizeof in);
    machine_lanes(BODY64("fma.rn.f64 %d13, %d10, %d11, 0d3FF0000000000000;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) {
        double want = fma(values[i], values[(i + 1) % 32], 1.0);
        assert_memory_equal(&out[i], &want, 8);
    }
    machine_lanes(BODY64("div.rn.f64 %d13, %d10, %d11;"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) {
        double want = values[i] / values[(i + 1) % 32];
        assert_memory_equal(&out[i], &want, 8);
    }
    machine_lanes(BODY64("{.reg .f32 x; cvt.rn.f32.f64 x, %d10; cvt.f64.f32 %d13, x;}"), "sm_80", in, out);
    for (int i = 0; i < 32; i++) {
        double want = (double)(float)values[i];
        assert_memory_equal(&out[i], &want, 8);
    }
}

/* The set of kernels is asked for at every access: nanoseconds, not the microseconds of a trapped cpuid. */
static void test_choice_is_cheap(void **state) {
    const kcsim_lane_table *first = kcsim_lanes();
    clock_t start = clock();
    (void)state;
    for (int i = 0; i < 200000; i++) assert_ptr_equal(kcsim_lanes(), first);
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers), cmocka_unit_test(test_carry),   cmocka_unit_test(test_floats),
        cmocka_unit_test(test_rounding_modes), cmocka_unit_test(test_doubles), cmocka_unit_test(test_choice_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
