// cuda_pipeline.h: copies to shared memory behind the computation (plain ones on sm_75).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

// Row sums, two stages.
extern "C" __global__ void pipeline_sum(const float4 *x, float *out, int steps) {
    __shared__ float4 stage[2][64];
    float sum = 0;
    x += blockIdx.x * steps * 64;
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &x[threadIdx.x], 16);
    __pipeline_commit();
    for (int i = 0; i < steps; i++) {
        if (i + 1 < steps)
            __pipeline_memcpy_async(&stage[(i + 1) & 1][threadIdx.x], &x[(i + 1) * 64 + threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = stage[i & 1][63 - threadIdx.x];
        sum += v.x + v.y + v.z + v.w;
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// The edge is filled with zeros: fewer bytes are copied than the piece has.
extern "C" __global__ void pipeline_edge(const float *x, float *out, int n) {
    __shared__ __align__(16) float stage[256];
    int at = blockIdx.x * 256 + threadIdx.x * 4, left = max(0, min(4, n - at));
    __pipeline_memcpy_async(&stage[threadIdx.x * 4], left ? &x[at] : x, 16, 16 - 4 * left);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    float sum = stage[threadIdx.x] + stage[threadIdx.x + 64] * 2 + stage[threadIdx.x + 128] * 4 + stage[threadIdx.x + 192] * 8;
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// Cooperative groups' own copies, waited for by the group.
extern "C" __global__ void group_copies(const int *x, int *out, int n) {
    extern __shared__ int stage[];
    cg::thread_block block = cg::this_thread_block();
    int *other = stage + n;
    cg::memcpy_async(block, stage, x + blockIdx.x * 2 * n, sizeof(int) * n);
    cg::memcpy_async(block, other, x + (blockIdx.x * 2 + 1) * n, sizeof(int) * n);
    cg::wait_prior<1>(block);
    int sum = 0;
    for (int i = 0; i < n; i++) sum += stage[i] * (i % 5 + (int)threadIdx.x);
    cg::wait(block);
    for (int i = 0; i < n; i++) sum -= other[(i + threadIdx.x) % n] * (i % 3);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
