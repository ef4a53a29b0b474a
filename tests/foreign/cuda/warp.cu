// What the lanes of a warp do together: shuffles, votes, matches, reductions, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>

namespace cg = cooperative_groups;

__device__ __forceinline__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

// One sum a block, of any number of elements; blocks of up to 1024 threads.
extern "C" __global__ void block_sum(const float *x, float *out, int n) {
    __shared__ float partial[32];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        v = warp_sum(v);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

// All four shuffles, of 32 and 64 bits and of pieces of a warp.
extern "C" __global__ void shuffles(const int *x, int *out) {
    int i = threadIdx.x, v = x[i];
    out[0 * 32 + i] = __shfl_sync(~0u, v, i * 7 + 3);
    out[1 * 32 + i] = __shfl_up_sync(~0u, v, 5);
    out[2 * 32 + i] = __shfl_down_sync(~0u, v, 9);
    out[3 * 32 + i] = __shfl_xor_sync(~0u, v, 21);
    out[4 * 32 + i] = __shfl_sync(~0u, v, i + 1, 8);
    out[5 * 32 + i] = __shfl_up_sync(~0u, v, 3, 16);
    out[6 * 32 + i] = __shfl_down_sync(~0u, v, 1, 4);
    long long w = __shfl_xor_sync(~0u, (long long)v << 20 | 7, 1);
    out[7 * 32 + i] = (int)(w >> 20);
    double d = __shfl_up_sync(~0u, (double)v, 1);
    out[8 * 32 + i] = (int)d;
}

extern "C" __global__ void votes(const int *x, uint32_t *out) {
    int i = threadIdx.x, lane = i % 32, v = x[i];
    unsigned all = __ballot_sync(~0u, v > 0), some = 0;
    if (v > 0) some = __ballot_sync(all, v & 1); // only those of `all` vote
    uint32_t *o = out + i * 5;
    o[0] = all;
    o[1] = some;
    o[2] = __any_sync(~0u, v == 7) | __all_sync(~0u, v < 100) << 1 | __all_sync(~0u, v >= 0) << 2;
    o[3] = __popc(all & ((1u << lane) - 1));
    o[4] = v > 0 ? __popc(__activemask()) <= __popc(all) : 1;
}

extern "C" __global__ void matches(const int *x, const long long *y, uint32_t *out) {
    int i = threadIdx.x, equal;
    uint32_t *o = out + i * 5;
    o[0] = __match_any_sync(~0u, x[i]);
    o[1] = __match_any_sync(~0u, y[i]);
    o[2] = __match_all_sync(~0u, x[i], &equal);
    o[2] |= (unsigned)equal;
    o[3] = __match_all_sync(~0u, x[i] - x[i], &equal);
    o[3] &= equal ? ~0u : 0u;
    o[4] = x[i] & 1 ? __match_any_sync(__match_any_sync(__activemask(), 1), x[i]) : 0;
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(const int *x, int *out) {
    int i = threadIdx.x, v = x[i];
    unsigned mask = __match_any_sync(~0u, i % 3);
    int *o = out + i * 8;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_min_sync(~0u, v);
    o[2] = __reduce_max_sync(~0u, v);
    o[3] = (int)__reduce_min_sync(~0u, (unsigned)v);
    o[4] = (int)__reduce_and_sync(~0u, (unsigned)v);
    o[5] = (int)__reduce_or_sync(~0u, (unsigned)v);
    o[6] = (int)__reduce_xor_sync(~0u, (unsigned)v);
    o[7] = __reduce_add_sync(mask, v); // three groups that come at different times
}
#endif

template <unsigned N> __device__ float tile_sum(cg::thread_block_tile<N> tile, float v) {
    for (int d = N / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
    return v;
}

// Cooperative groups: tiles, reductions and scans in them, groups of those who happen to be there.
extern "C" __global__ void groups(const float *x, const int *y, float *sums, int *ints, unsigned *count) {
    cg::thread_block block = cg::this_thread_block();
    unsigned i = block.thread_rank();
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    sums[i] = tile_sum(eight, x[i]);
    ints[i * 4] = cg::reduce(warp, y[i], cg::plus<int>());
    ints[i * 4 + 1] = cg::inclusive_scan(warp, y[i]);
    ints[i * 4 + 2] = cg::reduce(eight, y[i], cg::greater<int>());
    block.sync();
    ints[i * 4 + 3] = (int)eight.ballot(y[i] > 0) << 8 | (int)eight.meta_group_rank();
    if (y[i] > 0) {
        cg::coalesced_group here = cg::coalesced_threads();
        if (here.thread_rank() == 0) atomicAdd(count, here.size());
    }
    cg::coalesced_group same = cg::labeled_partition(warp, y[i] & 3);
    if (same.thread_rank() == 0) atomicAdd(count + 1 + (y[i] & 3), same.size());
    cg::coalesced_group odd = cg::binary_partition(warp, y[i] & 1);
    atomicAdd(count + 5, odd.shfl(i, 0) == i);
}

// Stream compaction with one atomic a warp: the order among warps is free, the set is not.
extern "C" __global__ void compact(const int *x, int *out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] <= 0) return;
    unsigned mask = __activemask(), lane = threadIdx.x % 32;
    int leader = __ffs(mask) - 1;
    unsigned base = 0;
    if ((int)lane == leader) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & ((1u << lane) - 1))] = x[i];
}
