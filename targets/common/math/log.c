// log and log2. x = 2^e * m with m in [sqrt(1/2), sqrt(2)], so that e never cancels against log(m);
// f = m - 1 is exact.
//   f32: log(1 + f) = f + f^2 * P(f).
//   f64: with s = f / (2 + f), log(1 + f) = 2s + s R(s^2) = f - (f^2/2 - s * (f^2/2 + R)); the
//        last form keeps f, which is exact, as the leading term.

#include "targets/common/math/kcmath.h"

#define LN2_F32 0x1.62e43p-1f
#define LOG2E_HI_F32 0x1.715476p+0f
#define LOG2E_LO_F32 0x1.4ae0cp-26f
#define LN2_HI_F64 0x1.62e42feep-1
#define LN2_LO_F64 0x1.a39ef35793c76p-33
#define LOG2E_HI_F64 0x1.71547652b82fep+0
#define LOG2E_LO_F64 0x1.777d0ffda0d24p-56

// ---- f32 ----------------------------------------------------------------------------------------

KC_MATH_INLINE float split_f32(float x, float *exponent) {
    int denormal = x < 0x1p-126f;
    float scaled = denormal ? x * 0x1p23f : x;
    uint32_t e = (bits_f32(scaled) - 0x3f3504f3u) & 0xff800000u;
    *exponent = fma_f32((float)(int32_t)e, 0x1p-23f, denormal ? -23.0f : 0.0f);
    return from_bits_f32(bits_f32(scaled) - e) - 1.0f;
}

KC_MATH_INLINE float log_special_f32(float result, float x) {
    float edge = x == 0.0f ? -KC_MATH_INF_F32 : x < 0.0f ? KC_MATH_NAN_F32 : x;
    return x > 0.0f && x < KC_MATH_INF_F32 ? result : edge;
}

float kc_math_log_f32(float x) {
    float e, f = split_f32(x, &e), s = f * f;
    // Even and odd powers apart at the start: a shorter chain of dependent operations.
    float p = -0x1.38472ep-4f, q = 0x1.0860d4p-3f;
    p = fma_f32(p, s, -0x1.0f3fa8p-3f);
    q = fma_f32(q, s, 0x1.226dfcp-3f);
    p = fma_f32(p, s, -0x1.5425c4p-3f);
    q = fma_f32(q, s, 0x1.99a41ap-3f);
    p = fma_f32(p, s, -0x1.000432p-2f);
    p = fma_f32(q, f, p);
    p = fma_f32(p, f, 0x1.55555p-2f);
    p = fma_f32(p, f, -0x1.fffff8p-2f);
    return log_special_f32(fma_f32(e, LN2_F32, fma_f32(p, s, f)), x);
}

float kc_math_log2_f32(float x) {
    float e, f = split_f32(x, &e), s = f * f;
    float p = -0x1.c36734p-4f, q = 0x1.7e0e6p-3f;
    p = fma_f32(p, s, -0x1.877afep-3f);
    q = fma_f32(q, s, 0x1.a2e68p-3f);
    p = fma_f32(p, s, -0x1.eab18p-3f);
    q = fma_f32(q, s, 0x1.277ef4p-2f);
    p = fma_f32(p, s, -0x1.715ac8p-2f);
    p = fma_f32(q, f, p);
    p = fma_f32(p, f, 0x1.ec7094p-2f);
    p = fma_f32(p, f, -0x1.71547p-1f);
    p = fma_f32(p, f, LOG2E_LO_F32);
    return log_special_f32(fma_f32(f, LOG2E_HI_F32, f * p) + e, x);
}

// ---- f64 ----------------------------------------------------------------------------------------

KC_MATH_INLINE double split_f64(double x, double *exponent) {
    int denormal = x < 0x1p-1022;
    double scaled = denormal ? x * 0x1p52 : x;
    uint64_t e = (bits_f64(scaled) - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
    *exponent = (double)((int32_t)(e >> 32) >> 20) - (denormal ? 52.0 : 0.0);
    return from_bits_f64(bits_f64(scaled) - e) - 1.0;
}

// s^2 * P(s^2) = R.
KC_MATH_INLINE double log_poly_f64(double s) {
    double z = s * s;
    double p = 0x1.2f02bc21370e8p-3;
    p = fma_f64(p, z, 0x1.39a2024c8125p-3);
    p = fma_f64(p, z, 0x1.74663bf2834bap-3);
    p = fma_f64(p, z, 0x1.c71c5218e1095p-3);
    p = fma_f64(p, z, 0x1.24924941dc60ep-2);
    p = fma_f64(p, z, 0x1.999999997ff58p-2);
    p = fma_f64(p, z, 0x1.5555555555592p-1);
    return p * z;
}

KC_MATH_INLINE double log_special_f64(double result, double x) {
    double edge = x == 0.0 ? -KC_MATH_INF_F64 : x < 0.0 ? KC_MATH_NAN_F64 : x;
    return x > 0.0 && x < KC_MATH_INF_F64 ? result : edge;
}

double kc_math_log_f64(double x) {
    double e, f = split_f64(x, &e), s = f / (2.0 + f);
    double half_square = 0.5 * f * f;
    double tail = fma_f64(s, half_square + log_poly_f64(s), e * LN2_LO_F64);
    return log_special_f64(fma_f64(e, LN2_HI_F64, f - (half_square - tail)), x);
}

double kc_math_log2_f64(double x) {
    double e, f = split_f64(x, &e), s = f / (2.0 + f);
    double half_square = 0.5 * f * f;
    // log(1 + f) as high + low, then times log2(e) as high + low.
    double high = f - half_square;
    double low = fma_f64(s, half_square + log_poly_f64(s), (f - high) - half_square);
    double product = high * LOG2E_HI_F64;
    double rest = fma_f64(high, LOG2E_HI_F64, -product);
    rest = fma_f64(high, LOG2E_LO_F64, fma_f64(low, LOG2E_HI_F64, rest));
    double sum = e + product;
    return log_special_f64(sum + (((e - sum) + product) + rest), x);
}
