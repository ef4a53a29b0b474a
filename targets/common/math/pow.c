// pow(x, y) = 2^(y * log2|x|), with the special cases of C99 Annex F.
//
// y * log2|x| reaches 1024 (128 in f32), and its absolute error is the result's relative error: the
// logarithm is carried as an unevaluated sum high + low. |x| = 2^e * m, m in [sqrt(1/2), sqrt(2)],
// s = (m - 1) / (m + 1) as high + low, log2(m) = 2/ln2 * (s + s^3/3 + ...): the terms up to s (f32)
// or s^3 (f64) are computed in two parts, the rest in one.

#include "targets/common/math/exp_core.h"

// ---- f32 ----------------------------------------------------------------------------------------

#define TWO_OVER_LN2_HI_F32 0x1.715476p+1f
#define TWO_OVER_LN2_LO_F32 0x1.4ae0cp-25f

KC_MATH_INLINE float log2_two_f32(float x, float *low) {
    int denormal = x < 0x1p-126f;
    float scaled = denormal ? x * 0x1p23f : x;
    uint32_t e = (bits_f32(scaled) - 0x3f3504f3u) & 0xff800000u;
    float exponent = fma_f32((float)(int32_t)e, 0x1p-23f, denormal ? -23.0f : 0.0f);
    float f = from_bits_f32(bits_f32(scaled) - e) - 1.0f;
    // s = f / (2 + f), and what the rounded quotient and the rounded denominator left.
    float d = 2.0f + f, d_low = f - (d - 2.0f), inverse = 1.0f / d;
    float s = f * inverse;
    float s_low = inverse * fma_f32(-s, d_low, fma_f32(-s, d, f));
    float z = s * s;
    float q = 0x1.59025p-2f;
    q = fma_f32(q, z, 0x1.a5cad8p-2f);
    q = fma_f32(q, z, 0x1.2776e8p-1f);
    q = fma_f32(q, z, 0x1.ec709ep-1f);
    float main = s * TWO_OVER_LN2_HI_F32;
    float rest = fma_f32(s, TWO_OVER_LN2_HI_F32, -main);
    // d log2(m) / ds = 2/ln2 / (1 - s^2).
    rest = fma_f32(s_low, fma_f32(TWO_OVER_LN2_HI_F32, z, TWO_OVER_LN2_HI_F32), rest);
    rest = fma_f32(s, TWO_OVER_LN2_LO_F32, rest);
    rest = fma_f32(s * z, q, rest);
    // |exponent| >= |main| unless it is 0: the sums' errors are exact.
    float sum = exponent + main;
    rest += main - (sum - exponent);
    float high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

// 2^(high + low), for high of any size.
KC_MATH_INLINE float exp2_two_f32(float high, float low) {
    float sum = high + MAGIC_TWO_F32;
    float f = (high - (sum - MAGIC_TWO_F32)) + low;
    return saturate_exp_f32(scale_two_f32(exp2_poly_f32(f), sum), high, 129.0f, -151.0f);
}

float kc_math_pow_f32(float x, float y) {
    float a = abs_f32(x), b = abs_f32(y), inf = KC_MATH_INF_F32;
    float low, high = log2_two_f32(a, &low);
    float product = y * high;
    float result = exp2_two_f32(product, fma_f32(y, low, fma_f32(y, high, -product)));
    int integer = __builtin_floorf(y) == y;
    int odd = integer && __builtin_floorf(0.5f * y) != 0.5f * y;
    result = a == 0.0f || a == inf ? ((a == 0.0f) == (y < 0.0f) ? inf : 0.0f) : result;
    result = b == inf ? ((a > 1.0f) == (y > 0.0f) ? inf : 0.0f) : result;
    result = odd ? with_sign_f32(result, x) : result;
    result = x < 0.0f && a < inf && !integer ? KC_MATH_NAN_F32 : result;
    result = x != x || y != y ? x + y : result;
    return x == 1.0f || y == 0.0f || (a == 1.0f && b == inf) ? 1.0f : result;
}

// ---- f64 ----------------------------------------------------------------------------------------

#define TWO_OVER_LN2_HI_F64 0x1.71547652b82fep+1
#define TWO_OVER_LN2_LO_F64 0x1.777d0ffda0d24p-55
#define CUBE_HI_F64 0x1.ec709dc3a03fdp-1 // 2 / (3 ln 2)
#define CUBE_LO_F64 0x1.d27f05548af0cp-55

// The coefficient of s^3 and what follows it, as high + low.
KC_MATH_INLINE double log2_poly_two_f64(double z, double *low) {
    double q = 0x1.61e8b00943ea5p-3;
    q = fma_f64(q, z, 0x1.58fdca779b391p-3);
    q = fma_f64(q, z, 0x1.8a09ab4b7b6fdp-3);
    q = fma_f64(q, z, 0x1.c68ee9b1684fdp-3);
    q = fma_f64(q, z, 0x1.0c9a853a63793p-2);
    q = fma_f64(q, z, 0x1.484b13d6adf25p-2);
    q = fma_f64(q, z, 0x1.a61762a7aedd2p-2);
    q = fma_f64(q, z, 0x1.2776c50ef9bfcp-1);
    q = fma_f64(q, z, CUBE_LO_F64);
    double high = CUBE_HI_F64 + q;
    *low = q - (high - CUBE_HI_F64);
    return high;
}

KC_MATH_INLINE double log2_two_f64(double x, double *low) {
    int denormal = x < 0x1p-1022;
    double scaled = denormal ? x * 0x1p52 : x;
    uint64_t e = (bits_f64(scaled) - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
    double exponent = (double)((int32_t)(e >> 32) >> 20) - (denormal ? 52.0 : 0.0);
    double f = from_bits_f64(bits_f64(scaled) - e) - 1.0;
    double d = 2.0 + f, d_low = f - (d - 2.0), inverse = 1.0 / d;
    double s = f * inverse;
    double s_low = inverse * fma_f64(-s, d_low, fma_f64(-s, d, f));
    double z = s * s, z_low = fma_f64(s + s, s_low, fma_f64(s, s, -z));
    double cube = s * z, cube_low = fma_f64(s_low, z, fma_f64(s, z_low, fma_f64(s, z, -cube)));
    double q_low, q = log2_poly_two_f64(z, &q_low);
    double term = cube * q;
    double rest = fma_f64(cube, q_low, fma_f64(cube_low, q, fma_f64(cube, q, -term)));
    double main = s * TWO_OVER_LN2_HI_F64;
    double main_low = fma_f64(s, TWO_OVER_LN2_HI_F64, -main);
    main_low = fma_f64(s, TWO_OVER_LN2_LO_F64, fma_f64(s_low, TWO_OVER_LN2_HI_F64, main_low));
    double first = main + term; // |main| > |term|
    rest += main_low + (term - (first - main));
    double sum = exponent + first;
    rest += first - (sum - exponent);
    double high = sum + rest;
    *low = rest - (high - sum);
    return high;
}

KC_MATH_INLINE double exp2_two_f64(double high, double low) {
    double sum = high + MAGIC_TWO_F64;
    double f = (high - (sum - MAGIC_TWO_F64)) + low;
    return saturate_exp_f64(scale_two_f64(exp2_poly_f64(f), sum), high, 1025.0, -1076.0);
}

double kc_math_pow_f64(double x, double y) {
    double a = abs_f64(x), b = abs_f64(y), inf = KC_MATH_INF_F64;
    double low, high = log2_two_f64(a, &low);
    double product = y * high;
    double result = exp2_two_f64(product, fma_f64(y, low, fma_f64(y, high, -product)));
    int integer = __builtin_floor(y) == y;
    int odd = integer && __builtin_floor(0.5 * y) != 0.5 * y;
    result = a == 0.0 || a == inf ? ((a == 0.0) == (y < 0.0) ? inf : 0.0) : result;
    result = b == inf ? ((a > 1.0) == (y > 0.0) ? inf : 0.0) : result;
    result = odd ? with_sign_f64(result, x) : result;
    result = x < 0.0 && a < inf && !integer ? KC_MATH_NAN_F64 : result;
    result = x != x || y != y ? x + y : result;
    return x == 1.0 || y == 0.0 || (a == 1.0 && b == inf) ? 1.0 : result;
}
