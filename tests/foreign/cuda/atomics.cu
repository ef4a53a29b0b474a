// Atomics of every kind and type, on global and shared memory, with and without a result.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

template <class T> __device__ void integer_ops(T *to, T v) {
    atomicAdd(to + 0, v);
    atomicMin(to + 1, v);
    atomicMax(to + 2, v);
    atomicAnd(to + 3, v);
    atomicOr(to + 4, v);
    atomicXor(to + 5, v);
}

extern "C" __global__ void atomic_integers(const int *x, int *i32, unsigned *u32, long long *s64,
                                           unsigned long long *u64) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    long long w = (long long)v * 0x100000001ll;
    integer_ops(i32, v);
    integer_ops(u32, (unsigned)v);
    atomicMin(s64, w);
    atomicMax(s64 + 1, w);
    integer_ops(u64, (unsigned long long)w);
    atomicInc(u32 + 6, 16);
    atomicDec(u32 + 7, 10);
    atomicSub(i32 + 6, v);
}

extern "C" __global__ void atomic_shared(const int *x, int *i32, unsigned *u32, unsigned long long *u64) {
    __shared__ int a[6];
    __shared__ unsigned b[8];
    __shared__ unsigned long long c[6];
    if (threadIdx.x < 6) {
        a[threadIdx.x] = i32[threadIdx.x];
        c[threadIdx.x] = u64[threadIdx.x];
    }
    if (threadIdx.x < 8) b[threadIdx.x] = u32[threadIdx.x];
    __syncthreads();
    int v = x[threadIdx.x];
    integer_ops(a, v);
    integer_ops(b, (unsigned)v);
    integer_ops(c, (unsigned long long)((long long)v * 0x100000001ll));
    atomicInc(b + 6, 16);
    atomicDec(b + 7, 10);
    __syncthreads();
    if (threadIdx.x < 6) {
        i32[threadIdx.x] = a[threadIdx.x];
        u64[threadIdx.x] = c[threadIdx.x];
    }
    if (threadIdx.x < 8) u32[threadIdx.x] = b[threadIdx.x];
}

// The values are small integers, so that sums are exact in any order.
extern "C" __global__ void atomic_floats(const float *x, float *f32, double *f64, __half *f16, __half2 *f16x2,
                                         __nv_bfloat16 *bf16) {
    __shared__ float near;
    float v = x[threadIdx.x];
    if (threadIdx.x == 0) near = 0;
    __syncthreads();
    atomicAdd(f32, v);
    atomicAdd(&near, v);
    atomicAdd(f64, (double)v);
    atomicAdd(f16, __float2half(v));
    atomicAdd(f16x2, __floats2half2_rn(v, -v));
    atomicAdd(bf16, __float2bfloat16(v)); // a loop of cas below sm_90
    __syncthreads();
    if (threadIdx.x == 0) f32[1] = near;
}

// What atomics return: every ticket once; exchanges form a chain; cas builds a product.
extern "C" __global__ void atomic_results(unsigned *ticket, int *seen, int *chain, unsigned long long *product,
                                          unsigned short *half_cas) {
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = atomicAdd(ticket, 1u);
    seen[mine] = 1;
    chain[me + 1] = atomicExch(chain, (int)me + 1);
    unsigned long long old = *(volatile unsigned long long *)product, was;
    do {
        was = old;
        old = atomicCAS(product, was, was * (2 * me + 1));
    } while (old != was);
    unsigned short old16 = *(volatile unsigned short *)half_cas, was16;
    do {
        was16 = old16;
        old16 = atomicCAS(half_cas, was16, (unsigned short)(was16 + 3));
    } while (old16 != was16);
}

extern "C" __global__ void atomic_scopes(unsigned *out) {
    atomicAdd_block(out + blockIdx.x + 2, 1u);
    atomicAdd_system(out, 2u);
    atomicAdd(out + 1, 3u);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
}

// The last block to finish adds up what the others left: a counter and fences, no second launch.
extern "C" __global__ void last_block_sum(const int *x, volatile int *partial, unsigned *done, int *total) {
    __shared__ int sum;
    __shared__ bool last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned i = 0; i < gridDim.x; i++) all += partial[i];
        *total = all;
    }
}
