// Numbers of 16 and 8 bits: arithmetic alone and in pairs, comparisons, conversions, functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

extern "C" __global__ void f16_scalar(const __half *x, const __half *y, __half *out) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    __half a = x[i], b = y[i], *o = out + i * 10;
    o[0] = a + b, o[1] = a - b, o[2] = a * b, o[3] = a / b;
    o[4] = __hfma(a, b, a);
    o[5] = __hmax(a, b), o[6] = __hmin(a, b);
    o[7] = __hneg(__habs(a));
    o[8] = __hgt(a, b) ? __float2half(1.0f) : __hadd_sat(a, b);
    o[9] = hrint(a) + hfloor(b);
}

extern "C" __global__ void f16_pairs(const __half2 *x, const __half2 *y, __half2 *out, uint32_t *masks) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    __half2 a = x[i], b = y[i], *o = out + i * 9;
    o[0] = __hadd2(a, b), o[1] = __hsub2(a, b), o[2] = __hmul2(a, b), o[3] = __hfma2(a, b, a);
    o[4] = __hmax2(a, b), o[5] = __hmin2(a, b);
    o[6] = __lowhigh2highlow(a);
    o[7] = __heq2(a, b);
    o[8] = __hfma2_relu(a, b, b);
    masks[i] = __hgt2_mask(a, b) ^ __hne2_mask(a, b) << 1;
}

extern "C" __global__ void f16_functions(const __half *x, __half *out) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    __half a = x[i], p = __habs(a) + __float2half(0.125f), *o = out + i * 7;
    o[0] = hexp(a), o[1] = hlog(p), o[2] = hsqrt(p), o[3] = hrsqrt(p), o[4] = hsin(a), o[5] = hrcp(p), o[6] = hexp2(a);
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bf16_all(const __nv_bfloat16 *x, const __nv_bfloat16 *y, __nv_bfloat16 *out) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    __nv_bfloat16 a = x[i], b = y[i], *o = out + i * 10;
    o[0] = a + b, o[1] = a - b, o[2] = a * b;
    o[3] = __hfma(a, b, a);
    o[4] = __hmax(a, b), o[5] = __hmin_nan(a, b);
    __nv_bfloat162 p = __halves2bfloat162(a, b), q = __hfma2(p, p, p);
    o[6] = __low2bfloat16(q), o[7] = __high2bfloat16(q);
    o[8] = __hlt(a, b) ? a : b;
    o[9] = __float2bfloat16_rz(__bfloat162float(a) * 1.01f);
}
#endif

extern "C" __global__ void half_conversions(const float *x, uint16_t *out, float *back, int *ints) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float v = x[i];
    uint16_t *o = out + i * 8;
    o[0] = __half_as_ushort(__float2half_rn(v)), o[1] = __half_as_ushort(__float2half_rz(v));
    o[2] = __half_as_ushort(__float2half_ru(v)), o[3] = __half_as_ushort(__float2half_rd(v));
    o[4] = __bfloat16_as_ushort(__float2bfloat16_rn(v));
    __half2 h = __floats2half2_rn(v, -v);
    o[5] = __half_as_ushort(__high2half(h));
    o[6] = __half_as_ushort(__int2half_rn((int)(v * 100)));
    o[7] = __half_as_ushort(__double2half((double)v));
    back[i * 2] = __half2float(__float2half_rn(v));
    back[i * 2 + 1] = __bfloat162float(__float2bfloat16(v));
    ints[i * 2] = __half2int_rz(__float2half(v));
    ints[i * 2 + 1] = __half2short_rd(__float2half(v));
}

// Below sm_89 the header does it with integers, from there on it is an instruction.
extern "C" __global__ void fp8_conversions(const float *x, uint8_t *out, float *back) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float v = x[i];
    uint8_t *o = out + i * 4;
    o[0] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
    o[1] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2);
    __nv_fp8x2_storage_t two = __nv_cvt_float2_to_fp8x2(make_float2(v, v * 0.5f), __NV_SATFINITE, __NV_E4M3);
    o[2] = (uint8_t)(two >> 8);
    o[3] = __nv_cvt_halfraw_to_fp8(__float2half(v), __NV_SATFINITE, __NV_E5M2);
    float *f = back + i * 3;
    f[0] = float(*(const __nv_fp8_e4m3 *)&o[0]);
    f[1] = float(*(const __nv_fp8_e5m2 *)&o[1]);
    __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(two, __NV_E4M3);
    f[2] = __half2float(__half(__half_raw{h.y}));
}
