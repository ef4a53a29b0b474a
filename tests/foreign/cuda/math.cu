// f32 and f64: the hardware's approximations, the library's functions, roundings, conversions.
#include <cstdint>

#define EACH(n) int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return

extern "C" __global__ void fast_math(const float *x, float *out, int n) {
    EACH(n);
    float v = x[i], p = fabsf(v) + 0.01f, *o = out + i * 12, t;
    o[0] = __expf(v);
    o[1] = __logf(p);
    o[2] = __sinf(v);
    o[3] = __cosf(v);
    o[4] = __fdividef(v, p + 1);
    o[5] = rsqrtf(p);
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(v));
    o[6] = t;
    o[7] = __powf(p, 1.5f);
    o[8] = exp2f(v);
    o[9] = __log2f(p);
    o[10] = __exp10f(v * 0.25f);
    o[11] = __tanf(v * 0.25f);
}

extern "C" __global__ void library_f32(const float *x, float *out, int n) {
    EACH(n);
    float v = x[i], p = fabsf(v) + 0.01f, *o = out + i * 20;
    o[0] = sinf(v);
    o[1] = cosf(v * 100000);
    o[2] = expf(v);
    o[3] = logf(p);
    o[4] = powf(p, v);
    o[5] = tanhf(v);
    o[6] = erff(v);
    o[7] = atan2f(v, p - 1);
    o[8] = fmodf(v * 100, p);
    o[9] = cbrtf(v);
    o[10] = log1pf(p);
    o[11] = expm1f(v * 0.1f);
    o[12] = asinf(v * 0.1f);
    o[13] = hypotf(v, p);
    o[14] = tgammaf(p);
    o[15] = sinhf(v);
    o[16] = rintf(v) + floorf(v) * 2 + ceilf(v) * 4 + truncf(v) * 8 + roundf(v) * 16;
    o[17] = ldexpf(v, 5) + (float)ilogbf(p);
    o[18] = normcdff(v);
    o[19] = fdimf(v, 1) + copysignf(p, v) + fmaxf(v, 0) + fminf(v, 0);
}

// Sums, products, quotients and roots are fixed by IEEE in every rounding: compared bit for bit.
extern "C" __global__ void roundings_f32(const float *x, const float *y, float *out, int n) {
    EACH(n);
    float a = x[i], b = y[i], *o = out + i * 16;
    o[0] = __fadd_rn(a, b), o[1] = __fadd_rz(a, b), o[2] = __fadd_ru(a, b), o[3] = __fadd_rd(a, b);
    o[4] = __fmul_rn(a, b), o[5] = __fmul_rz(a, b), o[6] = __fmul_ru(a, b), o[7] = __fmul_rd(a, b);
    o[8] = __fdiv_rn(a, b), o[9] = __fdiv_rz(a, b), o[10] = __fsqrt_rn(fabsf(a)), o[11] = __fsqrt_ru(fabsf(a));
    o[12] = __frcp_rn(b), o[13] = __frcp_rd(b), o[14] = __fmaf_rn(a, b, a), o[15] = __fmaf_rz(a, b, -b);
}

extern "C" __global__ void roundings_f64(const double *x, const double *y, double *out, int n) {
    EACH(n);
    double a = x[i], b = y[i], *o = out + i * 8;
    o[0] = __dadd_rn(a, b), o[1] = __dadd_rz(a, b), o[2] = __dmul_rn(a, b), o[3] = __dmul_ru(a, b);
    o[4] = a / b, o[5] = sqrt(fabs(a)), o[6] = fma(a, b, -a), o[7] = __drcp_rn(b);
}

extern "C" __global__ void library_f64(const double *x, double *out, int n) {
    EACH(n);
    double v = x[i], p = fabs(v) + 0.01, *o = out + i * 14;
    o[0] = sin(v);
    o[1] = cos(v * 1000);
    o[2] = exp(v);
    o[3] = log(p);
    o[4] = pow(p, v);
    o[5] = erf(v);
    o[6] = tanh(v);
    o[7] = atan(v);
    o[8] = cbrt(v);
    o[9] = rsqrt(p);
    o[10] = floor(v) + rint(v) * 3;
    o[11] = fmod(v * 10, p);
    o[12] = exp2(v);
    o[13] = log1p(p);
}

extern "C" __global__ void conversions(const double *x, int *ints, long long *longs, float *floats, int n) {
    EACH(n);
    double d = x[i];
    float f = (float)d;
    int *o = ints + i * 8;
    o[0] = __float2int_rn(f), o[1] = __float2int_rz(f), o[2] = __float2int_ru(f), o[3] = __float2int_rd(f);
    o[4] = __double2int_rn(d), o[5] = (int)__float2uint_rz(f), o[6] = (signed char)d, o[7] = (short)f;
    long long *l = longs + i * 3;
    l[0] = __double2ll_rn(d), l[1] = (long long)__double2ull_rz(d), l[2] = __float2ll_rd(f);
    float *r = floats + i * 6;
    r[0] = __double2float_rz(d), r[1] = __double2float_ru(d), r[2] = __int2float_rz(o[0] * 77777777);
    r[3] = __ll2float_rn(l[0] * 123456789), r[4] = (float)__ll2double_rn(l[0]);
    r[5] = __uint_as_float((unsigned)__float_as_int(f) ^ 1u) + (float)__hiloint2double(__double2hiint(d), __double2loint(d));
}
