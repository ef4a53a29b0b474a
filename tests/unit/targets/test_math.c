// The kernels' mathematical functions, compiled for the host: largest error in ulp of each, and the
// special cases.
//
// f32: every f16 and bf16 value, and every STRIDE-th bit pattern of f32 (all 2^32 with
// KC_MATH_EXHAUSTIVE=1, half an hour), against the C library in double. f64: random arguments and
// edges against long double. Each function's largest error is printed and fails the test above its
// bound.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "targets/common/math/kcmath.h"

#define STRIDE 509 // prime, so that the low bits of the patterns vary
#define RANDOM_F64 400000
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// The largest error seen, and where.
typedef struct {
    double ulp, x, y, got;
} Worst;

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double random_between(double low, double high) {
    return low + (high - low) * ((double)(random_bits() >> 11) * 0x1p-53);
}

static void report(const char *name, Worst worst, double bound, long long count) {
    print_message("  %-10s %7.4f ulp (bound %g) over %lld, worst at %a %a: %a\n", name, worst.ulp,
                  bound, count, worst.x, worst.y, worst.got);
    if (!(worst.ulp <= bound))
        fail_msg("%s is off by %g ulp, more than %g", name, worst.ulp, bound);
}

// ---- errors in ulp ------------------------------------------------------------------------------

// |got - want| in units of the last place of an f32 near `want`. An overflow to infinity is
// measured as 2^128.
static double error_f32(float got, double want) {
    if (isnan(want)) return isnan(got) ? 0.0 : INFINITY;
    if (isnan(got)) return INFINITY;
    if (want == 0.0 || isinf(want))
        return got == (float)want && !signbit(got) == !signbit(want) ? 0.0 : INFINITY;
    double limited = fabs(want) > 0x1p128 ? copysign(0x1p128, want) : want;
    double value = isinf(got) ? copysign(0x1p128, got) : (double)got;
    int exponent = (int)(bits_f64(limited) >> 52 & 0x7ff) - 1023;
    exponent = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
    return fabs(value - limited) * from_bits_f64((uint64_t)(1023 + 23 - exponent) << 52);
}

static double error_f64(double got, long double want) {
    if (isnan(want)) return isnan(got) ? 0.0 : INFINITY;
    if (isnan(got)) return INFINITY;
    if (want == 0.0L || isinf(want))
        return got == (double)want && !signbit(got) == !signbit(want) ? 0.0 : INFINITY;
    long double limited = fabsl(want) > 0x1p1024L ? copysignl(0x1p1024L, want) : want;
    long double value = isinf(got) ? copysignl(0x1p1024L, got) : (long double)got;
    int exponent = ilogbl(limited);
    exponent = exponent < -1022 ? -1022 : exponent > 1023 ? 1023 : exponent;
    return (double)ldexpl(fabsl(value - limited), 52 - exponent);
}

// ---- one argument, f32 --------------------------------------------------------------------------

static double reference_rsqrt(double x) {
    return 1.0 / sqrt(x);
}

static long double reference_rsqrt_long(long double x) {
    return 1.0L / sqrtl(x);
}

static const struct {
    const char *name;
    float (*function)(float);
    double (*reference)(double);
    double bound;
} functions_f32[] = {
    {"exp_f32", kc_math_exp_f32, exp, 1.0},
    {"exp2_f32", kc_math_exp2_f32, exp2, 1.0},
    {"log_f32", kc_math_log_f32, log, 1.0},
    {"log2_f32", kc_math_log2_f32, log2, 1.0},
    {"rsqrt_f32", kc_math_rsqrt_f32, reference_rsqrt, 1.5},
    {"sin_f32", kc_math_sin_f32, sin, 1.75},
    {"cos_f32", kc_math_cos_f32, cos, 1.75},
    {"tanh_f32", kc_math_tanh_f32, tanh, 1.75},
    {"erf_f32", kc_math_erf_f32, erf, 1.25},
};

static float widen_f16(uint32_t half) {
    uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
    float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? ldexpf((float)(1024 + fraction), (int)exponent - 25)
                                     : ldexpf((float)fraction, -24);
    return half & 0x8000 ? -magnitude : magnitude;
}

static void try_f32(size_t i, float x, Worst *worst) {
    float got = functions_f32[i].function(x);
    double error = error_f32(got, functions_f32[i].reference((double)x));
    if (!(error <= worst->ulp)) *worst = (Worst){error, (double)x, 0.0, (double)got};
}

static void test_f32_half_arguments(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(functions_f32); i++) {
        Worst worst = {0};
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            try_f32(i, widen_f16(bits), &worst);
            try_f32(i, from_bits_f32(bits << 16), &worst);
        }
        report(functions_f32[i].name, worst, functions_f32[i].bound, 0x20000);
    }
}

static void test_f32_all_arguments(void **state) {
    (void)state;
    uint64_t stride = getenv("KC_MATH_EXHAUSTIVE") ? 1 : STRIDE;
    for (size_t i = 0; i < COUNT(functions_f32); i++) {
        Worst worst = {0};
        for (uint64_t bits = 0; bits <= 0xffffffffu; bits += stride)
            try_f32(i, from_bits_f32((uint32_t)bits), &worst);
        report(functions_f32[i].name, worst, functions_f32[i].bound,
               (long long)(0x100000000u / stride));
    }
}

// ---- one argument, f64 --------------------------------------------------------------------------

static const struct {
    const char *name;
    double (*function)(double);
    long double (*reference)(long double);
    double bound, from, to; // where most of what is interesting happens
} functions_f64[] = {
    {"exp_f64", kc_math_exp_f64, expl, 1.0, -746.0, 710.0},
    {"exp2_f64", kc_math_exp2_f64, exp2l, 1.0, -1076.0, 1025.0},
    {"log_f64", kc_math_log_f64, logl, 1.0, 0.4, 2.5},
    {"log2_f64", kc_math_log2_f64, log2l, 1.0, 0.4, 2.5},
    {"rsqrt_f64", kc_math_rsqrt_f64, reference_rsqrt_long, 1.5, 0.25, 4.0},
    {"sin_f64", kc_math_sin_f64, sinl, 1.75, -100.0, 100.0},
    {"cos_f64", kc_math_cos_f64, cosl, 1.75, -100.0, 100.0},
    {"tanh_f64", kc_math_tanh_f64, tanhl, 1.75, -2.0, 2.0},
    {"erf_f64", kc_math_erf_f64, erfl, 1.25, -6.1, 6.1},
};

static void try_f64(size_t i, double x, Worst *worst) {
    double got = functions_f64[i].function(x);
    double error = error_f64(got, functions_f64[i].reference((long double)x));
    if (!(error <= worst->ulp)) *worst = (Worst){error, x, 0.0, got};
}

// Every power of two and its neighbours, both signs; multiples of pi/2 rounded to double; and the
// double that comes nearest to a multiple of pi/2.
static void try_edges_f64(size_t i, Worst *worst) {
    for (uint64_t exponent = 0; exponent < 0x800; exponent++) {
        for (int64_t step = -2; step <= 2; step++) {
            uint64_t bits = (exponent << 52) + (uint64_t)step;
            try_f64(i, from_bits_f64(bits), worst);
            try_f64(i, from_bits_f64(bits ^ 0x8000000000000000u), worst);
        }
    }
    for (int n = 1; n < 200000; n += n < 1000 ? 1 : 97) {
        double multiple = (double)(n * 1.57079632679489661923132169163975144L);
        try_f64(i, multiple, worst);
        try_f64(i, nextafter(multiple, 0.0), worst);
        try_f64(i, -multiple, worst);
    }
    try_f64(i, 6381956970095103.0 * 0x1p797, worst);
    try_f64(i, 5.0, worst);
}

static void test_f64_arguments(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(functions_f64); i++) {
        Worst worst = {0};
        try_edges_f64(i, &worst);
        for (int n = 0; n < RANDOM_F64; n++) {
            try_f64(i, from_bits_f64(random_bits()), &worst);
            try_f64(i, random_between(functions_f64[i].from, functions_f64[i].to), &worst);
            try_f64(i, random_between(-1.0, 1.0), &worst);
        }
        report(functions_f64[i].name, worst, functions_f64[i].bound, 3LL * RANDOM_F64);
    }
}

// ---- pow ----------------------------------------------------------------------------------------

static void try_pow_f32(float x, float y, Worst *worst) {
    float got = kc_math_pow_f32(x, y);
    double error = error_f32(got, pow((double)x, (double)y));
    if (!(error <= worst->ulp)) *worst = (Worst){error, (double)x, (double)y, (double)got};
}

static void try_pow_f64(double x, double y, Worst *worst) {
    double got = kc_math_pow_f64(x, y);
    double error = error_f64(got, powl((long double)x, (long double)y));
    if (!(error <= worst->ulp)) *worst = (Worst){error, x, y, got};
}

static void test_pow_f32(void **state) {
    (void)state;
    Worst worst = {0};
    long long count = 0;
    // Every pair of a coarse grid over all bit patterns; then results spread evenly over the finite
    // ones.
    for (uint64_t a = 0; a <= 0xffffffffu; a += 0x3fffd1) {
        for (uint64_t b = 0; b <= 0xffffffffu; b += 0x3fffef, count++) {
            try_pow_f32(from_bits_f32((uint32_t)a), from_bits_f32((uint32_t)b), &worst);
        }
    }
    for (int n = 0; n < 3000000; n++, count++) {
        float x = n & 1 ? from_bits_f32((uint32_t)random_bits() & 0x7fffffffu)
                        : (float)random_between(0.5, 2.0);
        try_pow_f32(x, (float)(random_between(-151.0, 129.0) / log2(x)), &worst);
        try_pow_f32(-x, (float)(int)random_between(-20.0, 20.0), &worst);
    }
    report("pow_f32", worst, 3.0, count);
}

static void test_pow_f64(void **state) {
    (void)state;
    Worst worst = {0};
    long long count = 0;
    for (int n = 0; n < 800000; n++, count++) {
        double x =
            n & 1 ? from_bits_f64(random_bits() & 0x7fffffffffffffffu) : random_between(0.5, 2.0);
        try_pow_f64(x, random_between(-1076.0, 1025.0) / log2(x), &worst);
        try_pow_f64(x, from_bits_f64(random_bits()), &worst);
        try_pow_f64(-x, (double)(int)random_between(-20.0, 20.0), &worst);
    }
    report("pow_f64", worst, 1.5, count);
}

// ---- special cases ------------------------------------------------------------------------------

static int same_f32(float a, float b) {
    return isnan(b) ? isnan(a) : bits_f32(a) == bits_f32(b);
}

static int same_f64(double a, double b) {
    return isnan(b) ? isnan(a) : bits_f64(a) == bits_f64(b);
}

// The library's pow is C99's: all pairs of values that Annex F distinguishes, compared bit by bit.
static void test_pow_special(void **state) {
    (void)state;
    const double values[] = {0.0, 0x1p-140, 0.25,       0.5,        1.0,    1.5,      2.0, 3.0,
                             4.0, 2.5,      16777215.0, 16777216.0, 0x1p60, INFINITY, NAN};
    for (size_t i = 0; i < 2 * COUNT(values); i++) {
        double x = i & 1 ? -values[i / 2] : values[i / 2];
        for (size_t k = 0; k < 2 * COUNT(values); k++) {
            double y = k & 1 ? -values[k / 2] : values[k / 2];
            if (!same_f32(kc_math_pow_f32((float)x, (float)y), powf((float)x, (float)y))) {
                Worst worst = {0};
                try_pow_f32((float)x, (float)y, &worst);
                if (!(worst.ulp <= 1.0))
                    fail_msg("pow_f32(%a, %a) is %a", x, y,
                             (double)kc_math_pow_f32((float)x, (float)y));
            }
            if (!same_f64(kc_math_pow_f64(x, y), pow(x, y))) {
                Worst worst = {0};
                try_pow_f64(x, y, &worst);
                if (!(worst.ulp <= 1.0))
                    fail_msg("pow_f64(%a, %a) is %a", x, y, kc_math_pow_f64(x, y));
            }
        }
    }
}

// Where a result is exact it must be exactly that, sign of zero included.
static void test_exact(void **state) {
    (void)state;
    const struct {
        float (*function)(float);
        double (*wide)(double);
        double x, want;
    } cases[] = {
        {kc_math_exp_f32, kc_math_exp_f64, 0.0, 1.0},
        {kc_math_exp_f32, kc_math_exp_f64, -0.0, 1.0},
        {kc_math_exp_f32, kc_math_exp_f64, INFINITY, INFINITY},
        {kc_math_exp_f32, kc_math_exp_f64, -INFINITY, 0.0},
        {kc_math_exp_f32, kc_math_exp_f64, NAN, NAN},
        {kc_math_exp2_f32, kc_math_exp2_f64, 10.0, 1024.0},
        {kc_math_exp2_f32, kc_math_exp2_f64, -149.0, 0x1p-149},
        {kc_math_exp2_f32, kc_math_exp2_f64, INFINITY, INFINITY},
        {kc_math_exp2_f32, kc_math_exp2_f64, -INFINITY, 0.0},
        {kc_math_exp2_f32, kc_math_exp2_f64, NAN, NAN},
        {kc_math_log_f32, kc_math_log_f64, 1.0, 0.0},
        {kc_math_log_f32, kc_math_log_f64, 0.0, -INFINITY},
        {kc_math_log_f32, kc_math_log_f64, -0.0, -INFINITY},
        {kc_math_log_f32, kc_math_log_f64, -1.0, NAN},
        {kc_math_log_f32, kc_math_log_f64, -INFINITY, NAN},
        {kc_math_log_f32, kc_math_log_f64, INFINITY, INFINITY},
        {kc_math_log_f32, kc_math_log_f64, NAN, NAN},
        {kc_math_log2_f32, kc_math_log2_f64, 1.0, 0.0},
        {kc_math_log2_f32, kc_math_log2_f64, 0x1p-149, -149.0},
        {kc_math_log2_f32, kc_math_log2_f64, 0x1p100, 100.0},
        {kc_math_log2_f32, kc_math_log2_f64, -0.0, -INFINITY},
        {kc_math_log2_f32, kc_math_log2_f64, -1.0, NAN},
        {kc_math_log2_f32, kc_math_log2_f64, INFINITY, INFINITY},
        {kc_math_log2_f32, kc_math_log2_f64, NAN, NAN},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, 4.0, 0.5},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, 0.0, INFINITY},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, -0.0, -INFINITY},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, INFINITY, 0.0},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, -1.0, NAN},
        {kc_math_rsqrt_f32, kc_math_rsqrt_f64, NAN, NAN},
        {kc_math_sin_f32, kc_math_sin_f64, 0.0, 0.0},
        {kc_math_sin_f32, kc_math_sin_f64, -0.0, -0.0},
        {kc_math_sin_f32, kc_math_sin_f64, INFINITY, NAN},
        {kc_math_sin_f32, kc_math_sin_f64, -INFINITY, NAN},
        {kc_math_sin_f32, kc_math_sin_f64, NAN, NAN},
        {kc_math_cos_f32, kc_math_cos_f64, 0.0, 1.0},
        {kc_math_cos_f32, kc_math_cos_f64, -0.0, 1.0},
        {kc_math_cos_f32, kc_math_cos_f64, INFINITY, NAN},
        {kc_math_cos_f32, kc_math_cos_f64, NAN, NAN},
        {kc_math_tanh_f32, kc_math_tanh_f64, 0.0, 0.0},
        {kc_math_tanh_f32, kc_math_tanh_f64, -0.0, -0.0},
        {kc_math_tanh_f32, kc_math_tanh_f64, INFINITY, 1.0},
        {kc_math_tanh_f32, kc_math_tanh_f64, -INFINITY, -1.0},
        {kc_math_tanh_f32, kc_math_tanh_f64, 0x1p-140, 0x1p-140},
        {kc_math_tanh_f32, kc_math_tanh_f64, NAN, NAN},
        {kc_math_erf_f32, kc_math_erf_f64, 0.0, 0.0},
        {kc_math_erf_f32, kc_math_erf_f64, -0.0, -0.0},
        {kc_math_erf_f32, kc_math_erf_f64, INFINITY, 1.0},
        {kc_math_erf_f32, kc_math_erf_f64, -INFINITY, -1.0},
        {kc_math_erf_f32, kc_math_erf_f64, NAN, NAN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        float got = cases[i].function((float)cases[i].x);
        double wide = cases[i].wide(cases[i].x);
        if (!same_f32(got, (float)cases[i].want))
            fail_msg("f32 case %zu: f(%a) is %a", i, cases[i].x, (double)got);
        if (!same_f64(wide, cases[i].want))
            fail_msg("f64 case %zu: f(%a) is %a", i, cases[i].x, wide);
    }
}

// The measure itself: a result one and a half units off must be seen as that.
static void test_measure(void **state) {
    (void)state;
    assert_true(error_f32(1.0f + 0x1p-23f, 1.0) == 1.0);
    assert_true(error_f32(0x1p-149f, 0x1p-150) == 0.5);
    assert_true(error_f32(INFINITY, 0x1.fffffep127) == 1.0);
    assert_true(isinf(error_f32(0.0f, -0.0)));
    assert_true(isinf(error_f32(1.0f, NAN)));
    assert_true(error_f64(1.0 - 0x1p-53, 1.0L) == 0.5);
    assert_true(error_f64(INFINITY, 0x1.fffffffffffffp1023L) == 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measure),           cmocka_unit_test(test_exact),
        cmocka_unit_test(test_pow_special),       cmocka_unit_test(test_f32_half_arguments),
        cmocka_unit_test(test_f32_all_arguments), cmocka_unit_test(test_f64_arguments),
        cmocka_unit_test(test_pow_f32),           cmocka_unit_test(test_pow_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
