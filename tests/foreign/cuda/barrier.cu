// [sm_80 sm_89 sm_90a] cuda::barrier and cuda::pipeline: mbarriers as libcu++ writes them.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// A reversal by split arrive and wait, again and again.
extern "C" __global__ void barrier_reverse(const int *x, int *out, int rounds) {
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    __shared__ int stage[2][128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int round = 0; round < rounds; round++) {
        stage[round & 1][threadIdx.x] = value * 3 + round;
        barrier::arrival_token token = bar.arrive();
        int own = value & 1;
        bar.wait(std::move(token));
        value = stage[round & 1][blockDim.x - 1 - threadIdx.x] + own;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// Warps that produce and warps that consume, two buffers, four barriers.
extern "C" __global__ void barrier_roles(const int *x, int *out, int steps) {
    __shared__ barrier ready[2], filled[2];
    __shared__ int buffer[2][64];
    if (threadIdx.x < 2) {
        init(&ready[threadIdx.x], blockDim.x);
        init(&filled[threadIdx.x], blockDim.x);
    }
    __syncthreads();
    x += blockIdx.x * steps * 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < steps; i++) {
            ready[i & 1].arrive_and_wait();
            buffer[i & 1][threadIdx.x] = x[i * 64 + threadIdx.x];
            (void)filled[i & 1].arrive();
        }
    } else {
        int t = threadIdx.x - 64, sum = 0;
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (int i = 0; i < steps; i++) {
            filled[i & 1].arrive_and_wait();
            sum = sum * 2 + buffer[i & 1][63 - t];
            (void)ready[i & 1].arrive();
        }
        out[blockIdx.x * 64 + t] = sum;
    }
}

// Threads that leave early drop out of the barrier.
extern "C" __global__ void barrier_drop(const int *x, int *out) {
    __shared__ barrier bar;
    __shared__ int total[2];
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        total[0] = total[1] = 0;
    }
    __syncthreads();
    int value = x[threadIdx.x];
    atomicAdd(&total[0], value);
    if (value < 0) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    int all = total[0];
    atomicAdd(&total[1], 1);
    bar.arrive_and_wait();
    out[threadIdx.x] = all * 100 + total[1];
}
