// erf. Below 1 an odd polynomial; above, 1 - 2^-p(|x|) with a polynomial p for -log2(erfc), fitted
// so that the error left in erfc is even. Both are computed and one is selected.

#include "targets/common/math/exp_core.h"

float kc_math_erf_f32(float x) {
    float a = abs_f32(x), z = x * x;
    float s = 0x1.4917a4p-14f;
    s = fma_f32(s, z, -0x1.a3d812p-11f);
    s = fma_f32(s, z, 0x1.540172p-8f);
    s = fma_f32(s, z, -0x1.b7f88cp-6f);
    s = fma_f32(s, z, 0x1.ce2cf2p-4f);
    s = fma_f32(s, z, -0x1.81273ep-2f);
    s = fma_f32(s, z, 0x1.06eba8p-3f);
    float small = fma_f32(s, x, x);
    float t = a > 4.0f ? 4.0f : a; // from 3.92 on the result is 1
    float p = -0x1.2e6866p-12f;
    p = fma_f32(p, t, 0x1.23660ap-8f);
    p = fma_f32(p, t, -0x1.0882f6p-5f);
    p = fma_f32(p, t, 0x1.34058ep-3f);
    p = fma_f32(p, t, 0x1.d664d6p-1f);
    p = fma_f32(p, t, 0x1.a09034p0f);
    p = -fma_f32(p, t, 0x1.b45a76p-13f);
    float sum = p + MAGIC_ONE_F32;
    float f = p - (sum - MAGIC_ONE_F32);
    float large = fma_f32(-exp2_poly_f32(f), power_one_f32(sum), 1.0f);
    return a < 1.0f ? small : with_sign_f32(large, x);
}

double kc_math_erf_f64(double x) {
    double a = abs_f64(x), z = x * x;
    double s = 0x1.25ec3cb74752ep-34;
    s = fma_f64(s, z, -0x1.452ac54ffa025p-30);
    s = fma_f64(s, z, 0x1.fc0d5c2f28c28p-27);
    s = fma_f64(s, z, -0x1.5f8e4d2412c4bp-23);
    s = fma_f64(s, z, 0x1.b9ed71fb0fe72p-20);
    s = fma_f64(s, z, -0x1.f4d31d85b4f84p-17);
    s = fma_f64(s, z, 0x1.f9a3342152cf7p-14);
    s = fma_f64(s, z, -0x1.c02db49229b1fp-11);
    s = fma_f64(s, z, 0x1.565bcd126d6edp-8);
    s = fma_f64(s, z, -0x1.b82ce312ab0a3p-6);
    s = fma_f64(s, z, 0x1.ce2f21a04360fp-4);
    s = fma_f64(s, z, -0x1.812746b0379fdp-2);
    s = fma_f64(s, z, 0x1.06eba8214db69p-3);
    double small = fma_f64(s, x, x);
    double t = a > 6.0 ? 6.0 : a; // from 5.93 on the result is 1
    double p = -0x1.a5f68b8ab0dafp-40;
    p = fma_f64(p, t, 0x1.2d837752901f3p-34);
    p = fma_f64(p, t, -0x1.935865b01e90bp-30);
    p = fma_f64(p, t, 0x1.4f2b06261276dp-26);
    p = fma_f64(p, t, -0x1.82c344962aa9fp-23);
    p = fma_f64(p, t, 0x1.4754b267c00afp-20);
    p = fma_f64(p, t, -0x1.a080b14409ebcp-18);
    p = fma_f64(p, t, 0x1.8d7c374633df6p-16);
    p = fma_f64(p, t, -0x1.0eea95399370dp-14);
    p = fma_f64(p, t, 0x1.a6163534bcd22p-14);
    p = fma_f64(p, t, 0x1.160cbe0086ff5p-14);
    p = fma_f64(p, t, -0x1.e639bd050bf94p-11);
    p = fma_f64(p, t, 0x1.4edff984b74d7p-9);
    p = fma_f64(p, t, -0x1.aaefe06b39977p-12);
    p = fma_f64(p, t, -0x1.c2eca03de5946p-6);
    p = fma_f64(p, t, 0x1.2f944c6511854p-3);
    p = fma_f64(p, t, 0x1.d64087996b8c7p-1);
    p = fma_f64(p, t, 0x1.a0be563bda627p0);
    p = -fma_f64(p, t, 0x1.1d98a62ce6e81p-22);
    double sum = p + MAGIC_ONE_F64;
    double f = p - (sum - MAGIC_ONE_F64);
    double large = fma_f64(-exp2_poly_f64(f), power_one_f64(sum), 1.0);
    return a < 1.0 ? small : with_sign_f64(large, x);
}
