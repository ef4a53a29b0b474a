// The mathematical functions that generated kernels call, for every target alike.
//
// One source set, compiled twice: by clang to LLVM bitcode that is linked into GPU modules
// (math_link.h), and for the host, where the tests measure its errors. The same operations in the
// same order give the same bits everywhere, so a measurement on the host holds on the GPU. Hence
// the subset of C these sources keep to:
//   - + - * / sqrt, explicit fma, comparisons, bit casts, integer arithmetic; conversions only
//     where in range. Contraction is off: an fma is where one is written.
//   - no memory: no tables, no globals, no addresses. Polynomials and selects instead.
//   - no calls but to the inline helpers, so that each function is whole by itself once compiled.
//   - selects rather than branches, but for the reduction of huge arguments of sin and cos.
// Denormals are kept. NaN, infinities and signed zeros are those of C99 Annex F. The measured errors
// are in README.md.
#ifndef KC_TARGETS_COMMON_MATH_KCMATH_H
#define KC_TARGETS_COMMON_MATH_KCMATH_H

#include <stdint.h>

float kc_math_exp_f32(float x);
float kc_math_exp2_f32(float x);
float kc_math_log_f32(float x);
float kc_math_log2_f32(float x);
float kc_math_rsqrt_f32(float x);
float kc_math_sin_f32(float x);
float kc_math_cos_f32(float x);
float kc_math_tanh_f32(float x);
float kc_math_erf_f32(float x);
float kc_math_pow_f32(float x, float y);

double kc_math_exp_f64(double x);
double kc_math_exp2_f64(double x);
double kc_math_log_f64(double x);
double kc_math_log2_f64(double x);
double kc_math_rsqrt_f64(double x);
double kc_math_sin_f64(double x);
double kc_math_cos_f64(double x);
double kc_math_tanh_f64(double x);
double kc_math_erf_f64(double x);
double kc_math_pow_f64(double x, double y);

// Casts between f32 and the small floats; see small.c.
uint32_t kc_math_f8e4m3_of_f32(float x);
uint32_t kc_math_f8e5m2_of_f32(float x);
uint32_t kc_math_f8e4m3fnuz_of_f32(float x);
uint32_t kc_math_f8e5m2fnuz_of_f32(float x);
uint32_t kc_math_f8e8m0_of_f32(float x);
uint32_t kc_math_f4e2m1_of_f32(float x);
float kc_math_f32_of_f8e4m3(uint32_t code);
float kc_math_f32_of_f8e5m2(uint32_t code);
float kc_math_f32_of_f8e4m3fnuz(uint32_t code);
float kc_math_f32_of_f8e5m2fnuz(uint32_t code);
float kc_math_f32_of_f8e8m0(uint32_t code);
float kc_math_f32_of_f4e2m1(uint32_t code);

// ---- helpers of the sources ---------------------------------------------------------------------

#define KC_MATH_INLINE static inline __attribute__((always_inline, unused))

#define KC_MATH_INF_F32 __builtin_inff()
#define KC_MATH_NAN_F32 __builtin_nanf("")
#define KC_MATH_INF_F64 __builtin_inf()
#define KC_MATH_NAN_F64 __builtin_nan("")

KC_MATH_INLINE uint32_t bits_f32(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

KC_MATH_INLINE float from_bits_f32(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

KC_MATH_INLINE uint64_t bits_f64(double x) {
    uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

KC_MATH_INLINE double from_bits_f64(uint64_t bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

KC_MATH_INLINE float fma_f32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

KC_MATH_INLINE double fma_f64(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

KC_MATH_INLINE float abs_f32(float x) {
    return __builtin_fabsf(x);
}

KC_MATH_INLINE double abs_f64(double x) {
    return __builtin_fabs(x);
}

// `magnitude`, which has no sign of its own, with the sign of `sign`.
KC_MATH_INLINE float with_sign_f32(float magnitude, float sign) {
    return from_bits_f32(bits_f32(magnitude) | (bits_f32(sign) & 0x80000000u));
}

KC_MATH_INLINE double with_sign_f64(double magnitude, double sign) {
    return from_bits_f64(bits_f64(magnitude) | (bits_f64(sign) & 0x8000000000000000u));
}

#endif
