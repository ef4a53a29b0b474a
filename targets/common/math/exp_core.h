// The parts of the exponential that exp, exp2, tanh, erf and pow share.
//
// e^x = 2^n * e^r with n = round(x / ln 2). Rounding is by adding and subtracting a large number
// ("magic"), whose low bits then hold n as an integer: no conversion, which a NaN would leave
// undefined. The magic number carries twice the exponent's bias as well, so that 2^n comes from the
// sum's bits by shifts:
//
//     sum  = x / ln 2 + (1.5 * 2^23 + 254)      low bits: n + 254
//     n    = sum - (1.5 * 2^23 + 254)
//     2^n  = 2^floor(n / 2) * 2^ceil(n / 2)
//
// Two factors, because n runs from -150 to 128: a result may be denormal, or overflow only after
// rounding. Where the power itself is known to be normal, MAGIC_ONE and a single factor do.
#ifndef KC_TARGETS_COMMON_MATH_EXP_CORE_H
#define KC_TARGETS_COMMON_MATH_EXP_CORE_H

#include "targets/common/math/kcmath.h"

#define MAGIC_TWO_F32 (0x1.8p23f + 254.0f)
#define MAGIC_ONE_F32 (0x1.8p23f + 127.0f)
#define MAGIC_TWO_F64 (0x1.8p52 + 2046.0)
#define MAGIC_ONE_F64 (0x1.8p52 + 1023.0)

#define LOG2E_F32 0x1.715476p+0f
#define LN2_HI_F32 0x1.62e4p-1f
#define LN2_LO_F32 0x1.7f7d1cp-20f
#define LOG2E_F64 0x1.71547652b82fep+0
#define LN2_HI_F64 0x1.62e42feep-1
#define LN2_LO_F64 0x1.a39ef35793c76p-33

// p * 2^n, where sum = n + MAGIC_TWO.
KC_MATH_INLINE float scale_two_f32(float p, float sum) {
    uint32_t half = (bits_f32(sum) >> 1) << 23;
    uint32_t rest = (bits_f32(sum) << 23) - half;
    return p * from_bits_f32(half) * from_bits_f32(rest);
}

KC_MATH_INLINE double scale_two_f64(double p, double sum) {
    uint64_t half = (bits_f64(sum) >> 1) << 52;
    uint64_t rest = (bits_f64(sum) << 52) - half;
    return p * from_bits_f64(half) * from_bits_f64(rest);
}

// 2^n, a normal number, where sum = n + MAGIC_ONE.
KC_MATH_INLINE float power_one_f32(float sum) {
    return from_bits_f32(bits_f32(sum) << 23);
}

KC_MATH_INLINE double power_one_f64(double sum) {
    return from_bits_f64(bits_f64(sum) << 52);
}

// x - n * ln 2; the first product is exact.
KC_MATH_INLINE float reduce_exp_f32(float x, float n) {
    return fma_f32(n, -LN2_LO_F32, fma_f32(n, -LN2_HI_F32, x));
}

KC_MATH_INLINE double reduce_exp_f64(double x, double n) {
    return fma_f64(n, -LN2_LO_F64, fma_f64(n, -LN2_HI_F64, x));
}

// e^r for |r| <= ln2 / 2.
KC_MATH_INLINE float exp_poly_f32(float r) {
    float p = 0x1.694c8ep-10f;
    p = fma_f32(p, r, 0x1.12397ep-7f);
    p = fma_f32(p, r, 0x1.555a26p-5f);
    p = fma_f32(p, r, 0x1.555492p-3f);
    p = fma_f32(p, r, 0x1.fffffap-2f);
    p = fma_f32(p, r, 1.0f);
    return fma_f32(p, r, 1.0f);
}

KC_MATH_INLINE double exp_poly_f64(double r) {
    double p = 0x1.1eecf80653ab8p-29;
    p = fma_f64(p, r, 0x1.af6e588468d51p-26);
    p = fma_f64(p, r, 0x1.27e533aae751p-22);
    p = fma_f64(p, r, 0x1.71ddee87f036ep-19);
    p = fma_f64(p, r, 0x1.a01a017d443d4p-16);
    p = fma_f64(p, r, 0x1.a01a01b43d87cp-13);
    p = fma_f64(p, r, 0x1.6c16c16c1e5c5p-10);
    p = fma_f64(p, r, 0x1.111111110ea07p-7);
    p = fma_f64(p, r, 0x1.5555555555544p-5);
    p = fma_f64(p, r, 0x1.555555555555cp-3);
    p = fma_f64(p, r, 0x1p-1);
    p = fma_f64(p, r, 1.0);
    return fma_f64(p, r, 1.0);
}

// 2^f for |f| <= 1/2, and slightly beyond.
KC_MATH_INLINE float exp2_poly_f32(float f) {
    float p = 0x1.3fa206p-13f;
    p = fma_f32(p, f, 0x1.5f0b82p-10f);
    p = fma_f32(p, f, 0x1.3b30ap-7f);
    p = fma_f32(p, f, 0x1.c6af76p-5f);
    p = fma_f32(p, f, 0x1.ebfbd8p-3f);
    p = fma_f32(p, f, 0x1.62e43p-1f);
    return fma_f32(p, f, 1.0f);
}

KC_MATH_INLINE double exp2_poly_f64(double f) {
    double p = 0x1.de49d600a7dc3p-36;
    p = fma_f64(p, f, 0x1.eafdc2f6d54aap-32);
    p = fma_f64(p, f, 0x1.e4bbc00d37bp-28);
    p = fma_f64(p, f, 0x1.b524232262994p-24);
    p = fma_f64(p, f, 0x1.62c027b683ceap-20);
    p = fma_f64(p, f, 0x1.ffcbfcdb1c5bdp-17);
    p = fma_f64(p, f, 0x1.430912f7013a2p-13);
    p = fma_f64(p, f, 0x1.5d87fe7888dffp-10);
    p = fma_f64(p, f, 0x1.3b2ab6fba53b8p-7);
    p = fma_f64(p, f, 0x1.c6b08d704a182p-5);
    p = fma_f64(p, f, 0x1.ebfbdff82c58dp-3);
    p = fma_f64(p, f, 0x1.62e42fefa39efp-1);
    return fma_f64(p, f, 1.0);
}

// The results beyond the range, for exponentials of base 2 and of base e. A NaN keeps its result.
KC_MATH_INLINE float saturate_exp_f32(float result, float x, float highest, float lowest) {
    result = x > highest ? KC_MATH_INF_F32 : result;
    return x < lowest ? 0.0f : result;
}

KC_MATH_INLINE double saturate_exp_f64(double result, double x, double highest, double lowest) {
    result = x > highest ? KC_MATH_INF_F64 : result;
    return x < lowest ? 0.0 : result;
}

#endif
