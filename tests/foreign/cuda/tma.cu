// [sm_90a] Bulk and tensor copies by cuda::ptx: a ring of tiles that one thread fills, stores from shared memory, a reduction.
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_fp16.h>
namespace ptx = cuda::ptx;
using ptx::space_cluster, ptx::space_global, ptx::space_shared;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ static bool passed(uint64_t *bar, uint32_t parity) {
    return ptx::mbarrier_try_wait_parity(bar, parity);
}

// Tiles of 16 x 64, swizzled, of a row of tiles; two in flight. Each is doubled in place of another buffer and stored.
extern "C" __global__ void tma_ring(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, int tiles) {
    __shared__ alignas(1024) __half box[2][16 * 64], result[16 * 64];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x, consumers = blockDim.x - 32, row = blockIdx.x * 16;
    if (t == 0) {
        for (int i = 0; i < 2; i++) {
            ptx::mbarrier_init(&full[i], 1);
            ptx::mbarrier_init(&empty[i], consumers);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (t >= consumers) { // the last warp
        if (t != consumers) return;
        for (int i = 0; i < tiles; i++) {
            int stage = i % 2;
            if (i >= 2) while (!passed(&empty[stage], (i / 2 - 1) % 2)) {}
            const int32_t at[2] = {i * 64, row};
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], sizeof box[0]);
            ptx::cp_async_bulk_tensor(space_cluster, space_global, box[stage], &in, at, &full[stage]);
        }
        return;
    }
    for (int i = 0; i < tiles; i++) {
        int stage = i % 2;
        while (!passed(&full[stage], i / 2 % 2)) {}
        for (int k = t; k < 16 * 8; k += consumers) { // chunks of eight
            int r = k / 8, c = k % 8 ^ (r & 7);
            for (int e = 0; e < 8; e++)
                result[r * 64 + k % 8 * 8 + e] = box[stage][r * 64 + c * 8 + e] * __half(2.0f);
        }
        ptx::mbarrier_arrive(&empty[stage]);
        ptx::fence_proxy_async(space_shared);
        asm volatile("bar.sync 1, %0;" ::"r"(consumers) : "memory");
        if (t == 0) {
            const int32_t at[2] = {i * 64, row};
            ptx::cp_async_bulk_tensor(space_global, space_shared, &out, at, result);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
        }
        asm volatile("bar.sync 1, %0;" ::"r"(consumers) : "memory");
    }
}

// Every block adds its 256 numbers to one row.
extern "C" __global__ void bulk_sum(const int *x, int *sum) {
    __shared__ alignas(16) int box[256];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_proxy_async(space_shared);
        ptx::cp_async_bulk(space_cluster, space_global, box, x + blockIdx.x * 256, sizeof box, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof box);
    }
    __syncthreads();
    while (!passed(&bar, 0)) {}
    box[t] = box[t] * 3 + t;
    ptx::fence_proxy_async(space_shared);
    __syncthreads();
    if (t == 0) {
        ptx::cp_reduce_async_bulk(space_global, space_shared, ptx::op_add, sum, box, sizeof box);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
    }
}


// Each block makes its own tensor map out of one: rows of one part of a matrix, half as wide. One thread changes it in shared
// memory, a warp publishes it, a copy uses it.
extern "C" __global__ void tma_group(const __grid_constant__ CUtensorMap form, __half *x, CUtensorMap *maps, __half *out) {
    __shared__ alignas(1024) __half box[16 * 64];
    __shared__ alignas(128) CUtensorMap map;
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t < 16) ((uint64_t *)&map)[t] = ((const uint64_t *)&form)[t];
    __syncwarp();
    if (t == 0) {
        ptx::tensormap_replace_global_address(space_shared, &map, (uint64_t)(x + blockIdx.x * 16 * 128));
        ptx::tensormap_replace_global_dim(space_shared, &map, ptx::n32_t<0>{}, 56);
        ptx::tensormap_replace_global_dim(space_shared, &map, ptx::n32_t<1>{}, 5 + 4 * blockIdx.x);
        ptx::tensormap_replace_global_stride(space_shared, &map, ptx::n32_t<0>{}, (uint64_t)256);
        ptx::tensormap_replace_box_dim(space_shared, &map, ptx::n32_t<1>{}, 16);
        ptx::tensormap_replace_swizzle_mode(space_shared, &map, ptx::n32_t<3>{});
        ptx::tensormap_replace_fill_mode(space_shared, &map, ptx::n32_t<0>{});
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, &maps[blockIdx.x], &map, ptx::n32_t<128>{});
    if (t == 0) {
        ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, &maps[blockIdx.x], ptx::n32_t<128>{});
        const int32_t at[2] = {0, 0};
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof box);
        ptx::cp_async_bulk_tensor(space_cluster, space_global, box, &maps[blockIdx.x], at, &bar);
    }
    while (!passed(&bar, 0)) {}
    for (int k = t; k < 16 * 64; k += 32) {
        int r = k / 64, c = k % 64;
        out[blockIdx.x * 16 * 64 + k] = box[r * 64 + (c / 8 ^ (r & 7)) * 8 + c % 8];
    }
}
#endif
