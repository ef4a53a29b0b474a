// [sm_90a] Launches that may begin before the one in front of them has ended.
#include <cuda_runtime.h>

// All of it: out = 3 x + thread.
extern "C" __global__ void early_make(const int *x, int *out, int n) {
    cudaTriggerProgrammaticLaunchCompletion();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 3 * x[i] + i;
}

// Weights come in while the launch in front may still run; one warp waits for all.
extern "C" __global__ void early_weigh(const int *weights, const int *made, int *out, int n) {
    __shared__ int w[64];
    if (threadIdx.x < 64) w[threadIdx.x] = weights[threadIdx.x];
    if (threadIdx.x < 32) cudaGridDependencySynchronize();
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = made[i] * w[i % 64] + made[n - 1 - i];
}

// Over what the launch before the last one made: that has ended when the last one has, which waited for it.
extern "C" __global__ void early_write(int *made, const int *weighed, int n) {
    cudaGridDependencySynchronize();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) made[i] -= weighed[i];
}
