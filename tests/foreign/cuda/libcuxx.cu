// libcu++: cuda::barrier, cuda::pipeline, cuda::atomic_ref.
#pragma nv_diag_suppress static_var_with_dynamic_init // barriers are initialised by init()
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Arrive early, wait late; half of the threads only give, the other half only take.
extern "C" __global__ void barrier_split(const int *x, int *out, int steps) {
    __shared__ block_barrier ready, free_again;
    __shared__ int box[64];
    if (threadIdx.x == 0) {
        init(&ready, blockDim.x);
        init(&free_again, blockDim.x);
    }
    __syncthreads();
    int sum = 0, half = blockDim.x / 2, t = threadIdx.x % half;
    for (int i = 0; i < steps; i++) {
        if ((int)threadIdx.x < half) {
            box[t] = x[(blockIdx.x * steps + i) * half + t];
            (void)ready.arrive();
            free_again.arrive_and_wait();
        } else {
            ready.arrive_and_wait();
            sum += box[half - 1 - t] * (i + 1);
            (void)free_again.arrive();
        }
    }
    if ((int)threadIdx.x >= half) out[blockIdx.x * half + t] = sum;
}

// Copies that arrive on a barrier.
extern "C" __global__ void barrier_copies(const int4 *x, int *out) {
    __shared__ block_barrier bar;
    __shared__ int4 box[64];
    auto block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    block.sync();
    cuda::memcpy_async(&box[threadIdx.x], &x[blockIdx.x * 64 + threadIdx.x], cuda::aligned_size_t<16>(16), bar);
    bar.arrive_and_wait();
    int4 v = box[63 - threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = v.x + v.y * 2 + v.z * 3 + v.w * 4;
}

// A pipeline of a thread's own copies.
extern "C" __global__ void pipeline_threads(const int4 *x, int *out, int steps) {
    __shared__ int4 stage[3][32];
    auto pipe = cuda::make_pipeline();
    int sum = 0;
    for (int load = 0, use = 0; use < steps; use++) {
        for (; load < steps && load < use + 3; load++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[load % 3][threadIdx.x], &x[load * 32 + threadIdx.x], cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        int4 v = stage[use % 3][threadIdx.x];
        sum = sum * 3 + v.x - v.y + v.z - v.w;
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// A pipeline that the block shares: its stages are mbarriers.
extern "C" __global__ void pipeline_block(const int *x, int *out, int steps) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int stage[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int load = 0, use = 0; use < steps; use++) {
        for (; load < steps && load < use + 2; load++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[load % 2], x + load * 64, sizeof(int) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[use % 2][(threadIdx.x + use * 7) % 64];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// Release and acquire between blocks: each block hands a number on to the next.
extern "C" __global__ void atomic_chain(int *flag, int *value, int *out) {
    if (threadIdx.x == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> turn(*flag);
        while (turn.load(cuda::memory_order_acquire) != (int)blockIdx.x) {}
        *value = *value * 3 + (int)blockIdx.x;
        out[blockIdx.x] = *value;
        turn.store((int)blockIdx.x + 1, cuda::memory_order_release);
    }
}

extern "C" __global__ void atomic_orders(unsigned *x, unsigned long long *y, float *f) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> a(x[0]), b(x[1]), c(x[2]);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> d(*y);
    cuda::atomic_ref<float, cuda::thread_scope_block> e(*f);
    unsigned t = threadIdx.x;
    a.fetch_add(t, cuda::memory_order_relaxed);
    b.fetch_max(t, cuda::memory_order_acq_rel);
    unsigned old = c.load(cuda::memory_order_relaxed);
    while (!c.compare_exchange_weak(old, old * 2 + 1 < 1000 ? old * 2 + 1 : old, cuda::memory_order_seq_cst)) {}
    d.fetch_xor(1ull << t, cuda::memory_order_seq_cst);
    e.fetch_add(1.0f, cuda::memory_order_relaxed);
}
