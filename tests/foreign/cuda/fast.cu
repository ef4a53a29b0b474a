// With -use_fast_math: results below the smallest normal number are flushed, divisions and roots are approximations.
// Also cache operators, prefetches and other instructions that only say how.
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void fast_flush(const float *x, const float *y, float *out) {
    int i = threadIdx.x;
    float a = x[i], b = y[i], *o = out + i * 6;
    o[0] = a + b, o[1] = a * b, o[2] = fmaf(a, b, a), o[3] = fminf(a, b), o[4] = fabsf(a), o[5] = a < b ? 1 : 0;
}

extern "C" __global__ void fast_functions(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], p = fabsf(v) + 0.01f, *o = out + i * 8;
    o[0] = expf(v), o[1] = logf(p), o[2] = sinf(v), o[3] = v / p, o[4] = sqrtf(p), o[5] = powf(p, 1.5f), o[6] = tanhf(v), o[7] = 1 / p;
}

extern "C" __global__ void cached(const float *x, float *out) {
    int i = threadIdx.x;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
    float a = __ldcg(x + i), b = __ldcs(x + i), c = __ldca(x + i), d = __ldlu(x + i), e = __ldcv(x + i), f;
    asm volatile("ld.global.L1::no_allocate.L2::128B.f32 %0, [%1];" : "=f"(f) : "l"(x + i));
    __stcg(out + i, a + b);
    __stwt(out + 32 + i, c + d);
    __stcs(out + 64 + i, e + f);
    __nanosleep(20);
    __syncwarp();
}

extern "C" __global__ void spaces(const int *x, int *out) {
    __shared__ int s[32];
    int local[2] = {x[threadIdx.x], 5}, *p = threadIdx.x & 1 ? s + threadIdx.x : local + (threadIdx.x >> 1 & 1);
    s[threadIdx.x] = 100 + threadIdx.x;
    __syncwarp();
    *p += 1; // some in shared, some in local memory
    out[threadIdx.x] = *p * 16 + __isShared(p) + __isLocal(p) * 2 + __isGlobal(x) * 4 + __isConstant(x) * 8;
}
#if __CUDA_ARCH__ >= 750
extern "C" __global__ void half_tanh(const __half2 *x, __half2 *out) {
    out[threadIdx.x] = h2tanh_approx(x[threadIdx.x]);
    out[threadIdx.x + 32] = h2exp2(x[threadIdx.x]);
}
#endif
