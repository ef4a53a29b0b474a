// [sm_90a] Clusters by cooperative groups and cuda::ptx: each other's shared memory, the cluster's barrier, remote mbarriers.
#include <cooperative_groups.h>
#include <cuda/ptx>
namespace cg = cooperative_groups;

// Sums of 4 * 128 numbers: each block its share, then the first block all of them.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int *x, int *out) {
    __shared__ int part[128];
    cg::cluster_group cluster = cg::this_cluster();
    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    for (int step = 64; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++) sum += *cluster.map_shared_rank(part, rank);
        out[blockIdx.x / 4] = sum;
    }
    cluster.sync();
}

// A histogram whose bins lie in the shared memory of both blocks.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_histogram(const int *x, int *out, int n) {
    __shared__ int bins[32];
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = threadIdx.x + cluster.block_rank() * blockDim.x; i < n; i += 2 * blockDim.x) {
        int bin = x[i];
        atomicAdd(cluster.map_shared_rank(bins, bin / 32) + bin % 32, 1);
    }
    cluster.sync();
    if (threadIdx.x < 32) out[cluster.block_rank() * 32 + threadIdx.x] = bins[threadIdx.x];
}

// What special registers say, in two dimensions.
extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_numbers(int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    int *at = out + (blockIdx.y * gridDim.x + blockIdx.x) * 8;
    dim3 index = cluster.block_index(), dims = cluster.dim_blocks();
    if (threadIdx.x) return;
    at[0] = cluster.block_rank(), at[1] = cluster.num_blocks(), at[2] = index.x, at[3] = index.y;
    at[4] = dims.x, at[5] = dims.y, at[6] = cluster.thread_rank(), at[7] = cluster.num_threads();
}

// Rounds of a ring: each block fills the next one's buffer when that is free, and says so by an mbarrier there.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_ring(const int *x, int *out, int rounds) {
    namespace ptx = cuda::ptx;
    __shared__ alignas(8) uint64_t full, empty;
    __shared__ int buffer[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned next = (cluster.block_rank() + 1) % 4, previous = (cluster.block_rank() + 3) % 4;
    int *theirs = cluster.map_shared_rank(buffer, next), value = x[blockIdx.x * 64 + threadIdx.x];
    uint64_t *their_full = cluster.map_shared_rank(&full, next), *their_empty = cluster.map_shared_rank(&empty, previous);
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&full, 64);
        ptx::mbarrier_init(&empty, 64);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    for (int round = 0; round < rounds; round++) {
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &empty, ~round & 1)) {}
        theirs[threadIdx.x ^ 33] = value + round;
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, their_full);
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, round & 1)) {}
        value = buffer[threadIdx.x];
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, their_empty);
    }
    out[blockIdx.x * 64 + threadIdx.x] = value;
    cluster.sync();
}
