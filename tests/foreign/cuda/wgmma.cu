// [sm_90a] wgmma: tiles of 64 x N in shared memory that the kernel swizzles by hand; A from registers; every operand type.
#include <cstdint>
#include <cuda_fp16.h>

__device__ uint64_t descriptor(const void *at, uint32_t leading, uint32_t stride, uint64_t swizzle) {
    uint32_t address = (uint32_t)__cvta_generic_to_shared(at);
    return (uint64_t)((address & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | swizzle << 62;
}

// Pieces of 16 bytes in a line: 1, 8, 4, 2 for descriptor modes 0 (none), 1, 2, 3.
__device__ constexpr uint32_t pieces(int mode) { return mode == 0 ? 1 : 16 >> mode; }

__device__ uint32_t swizzled(int mode, uint32_t offset) { return offset ^ (((offset >> 7) & (pieces(mode) - 1)) << 4); }

// Where 16 bytes with K contiguous go: row `outer`, piece `k` of W a line. Blocks of 8 lines one after another; without a
// swizzle the two pieces of an instruction's K are in two arrays, ROWS / 8 blocks apart.
template <int MODE, int ROWS> __device__ uint32_t along_k(uint32_t outer, uint32_t k) {
    constexpr uint32_t W = pieces(MODE);
    uint32_t column = k / W * (ROWS * W * 16);
    return column + swizzled(MODE, outer * W * 16 + k % W * 16);
}

// With the outer dimension contiguous: line `k` of K, piece `outer`; 8 lines a block, blocks of K one after another.
template <int MODE, int K> __device__ uint32_t across_k(uint32_t k, uint32_t outer) {
    constexpr uint32_t W = pieces(MODE);
    uint32_t column = outer / W * (K * W * 16);
    return column + swizzled(MODE, k * W * 16 + outer % W * 16);
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Keeps the compiler from moving writes of registers behind the fence.
template <int N> __device__ void hold(float (&d)[N]) {
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <class T, int N> __device__ void hold(T (&d)[N]) {
    for (int i = 0; i < N; i++) asm volatile("" : "+r"(d[i])::"memory");
}
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }


template <int TA, int TB> __device__ void step_f16(float (&d)[8], uint64_t a, uint64_t b, int add) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %10, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, %11, %12; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                 : "l"(a), "l"(b), "r"(add), "n"(TA), "n"(TB));
}

__device__ void store(float *out, const float (&d)[8], int n) {
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 8; i++) out[(16 * warp + g + i / 2 % 2 * 8) * n + i / 4 * 8 + 2 * t + i % 2] = d[i];
}

// out[64, 16] = a[64, 64] b[16, 64]^T, both with K contiguous.
template <int MODE> __device__ void both_along_k(float *out, const uint4 *a, const uint4 *b) {
    __shared__ alignas(1024) unsigned char sa[64 * 128], sb[16 * 128];
    for (int i = threadIdx.x; i < 64 * 8; i += 128) *(uint4 *)(sa + along_k<MODE, 64>(i / 8, i % 8)) = a[i];
    for (int i = threadIdx.x; i < 16 * 8; i += 128) *(uint4 *)(sb + along_k<MODE, 16>(i / 8, i % 8)) = b[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    constexpr uint32_t W = pieces(MODE);
    float d[8];
    for (int i = 0; i < 8; i++) d[i] = 0;
    hold(d);
    fence();
    for (int k = 0; k < 4; k++) {
        uint32_t piece = 2 * k;
        step_f16<0, 0>(d, descriptor(sa + piece / W * (64 * W * 16) + piece % W * 16, 64 * 16, 8 * W * 16, MODE),
                       descriptor(sb + piece / W * (16 * W * 16) + piece % W * 16, 16 * 16, 8 * W * 16, MODE), k > 0);
    }
    commit();
    wait<0>();
    store(out, d, 16);
}

// out[64, 64] = a[32, 64]^T b[32, 64], both with the outer dimension contiguous; 16 columns at a time.
template <int MODE> __device__ void both_across_k(float *out, const uint4 *a, const uint4 *b) {
    __shared__ alignas(1024) unsigned char sa[32 * 128], sb[32 * 128];
    for (int i = threadIdx.x; i < 32 * 8; i += 128) {
        *(uint4 *)(sa + across_k<MODE, 32>(i / 8, i % 8)) = a[i];
        *(uint4 *)(sb + across_k<MODE, 32>(i / 8, i % 8)) = b[i];
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    constexpr uint32_t W = pieces(MODE), line = W * 16, column = 32 * line;
    // Without a swizzle the roles of the two offsets are exchanged.
    constexpr uint32_t leading = MODE ? column : 8 * line, stride = MODE ? 8 * line : column;
    for (uint32_t n = 0; n < 4; n++) {
        float d[8];
        uint32_t piece = 2 * n;
        for (int i = 0; i < 8; i++) d[i] = 0;
        hold(d);
        fence();
        for (uint32_t k = 0; k < 2; k++)
            step_f16<1, 1>(d, descriptor(sa + 16 * k * line, leading, stride, MODE),
                           descriptor(sb + piece / W * column + piece % W * 16 + 16 * k * line, leading, stride, MODE), k > 0);
        commit();
        wait<0>();
        store(out + 16 * n, d, 64);
    }
}

#define TILES(name, mode)                                                                                               \
    extern "C" __global__ void wgmma_k_##name(float *out, const uint4 *a, const uint4 *b) { both_along_k<mode>(out, a, b); } \
    extern "C" __global__ void wgmma_mn_##name(float *out, const uint4 *a, const uint4 *b) { both_across_k<mode>(out, a, b); }
TILES(none, 0)
TILES(128, 1)
TILES(64, 2)
TILES(32, 3)

// A from registers; -A; two groups in flight on two accumulators. out[64, 16], a[64, 16], b[16, 16] with K contiguous.
extern "C" __global__ void wgmma_registers(float *out, float *less, const uint32_t *a, const uint4 *b) {
    __shared__ alignas(128) unsigned char sb[16 * 32];
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    if (threadIdx.x < 32) *(uint4 *)(sb + along_k<0, 16>(threadIdx.x / 2, threadIdx.x % 2)) = b[threadIdx.x];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    uint32_t r[4];
    for (int i = 0; i < 4; i++) r[i] = a[(16 * warp + g + 8 * (i & 1)) * 8 + 4 * (i >> 1) + t];
    float d[8], e[8];
    for (int i = 0; i < 8; i++) d[i] = 1, e[i] = 2;
    uint64_t matrix = descriptor(sb, 256, 128, 0);
    hold(d), hold(e), hold(r);
    fence();
#define PRODUCT(d, sign)                                                                                                \
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, 1, " sign ", 1, 0;" \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])       \
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(matrix))
    PRODUCT(d, "1");
    commit();
    PRODUCT(e, "-1");
    commit();
    wait<1>();
    store(out, d, 16);
    wait<0>();
    store(less, e, 16);
}

// One instruction of other types: K is 32 bytes; out is 64 x 8 words (f16: 64 x 8 halves).
#define ONE(name, type, constraint, word, tail)                                                                         \
    extern "C" __global__ void wgmma_##name(word *out, const uint4 *a, const uint4 *b) {                                \
        __shared__ alignas(128) unsigned char sa[64 * 32], sb[8 * 32];                                                  \
        *(uint4 *)(sa + along_k<0, 64>(threadIdx.x / 2, threadIdx.x % 2)) = a[threadIdx.x];                             \
        if (threadIdx.x < 16) *(uint4 *)(sb + along_k<0, 8>(threadIdx.x / 2, threadIdx.x % 2)) = b[threadIdx.x];        \
        asm volatile("fence.proxy.async;" ::: "memory");                                                                \
        __syncthreads();                                                                                                \
        int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;                                     \
        word d[4] = {0, 0, 0, 0};                                                                                       \
        hold(d);                                                                                                        \
        fence();                                                                                                        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n8" type " {%0,%1,%2,%3}, %4, %5, 1" tail ";"                     \
                     : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])           \
                     : "l"(descriptor(sa, 1024, 128, 0)), "l"(descriptor(sb, 128, 128, 0)));                            \
        commit();                                                                                                       \
        wait<0>();                                                                                                      \
        for (int i = 0; i < 4; i++) out[(16 * warp + g + i / 2 * 8) * 8 + 2 * t + i % 2] = d[i];                        \
    }
ONE(s8, "k32.s32.s8.s8", "r", int, "")
ONE(u8s8, "k32.s32.u8.s8", "r", int, "")
ONE(b1, "k256.s32.b1.b1.and.popc", "r", int, "")
ONE(tf32, "k8.f32.tf32.tf32", "f", float, ", 1, 1")
ONE(bf16, "k16.f32.bf16.bf16", "f", float, ", 1, -1, 0, 0")
ONE(e5m2e4m3, "k32.f32.e5m2.e4m3", "f", float, ", 1, 1")

// A sparse: 32 bytes of it are 64 bytes of K. meta[64][2]: four bits a chunk of half of K. f16: two threads of four hold rows g
// and g + 8 of a half each; s8: all four, one row and half each.
#define SPARSE(name, type, constraint, word, tail, SMALL)                                                               \
    extern "C" __global__ void wgmma_sparse_##name(word *out, const uint4 *a, const uint4 *b, const uint32_t *meta) {   \
        __shared__ alignas(128) unsigned char sa[64 * 32], sb[8 * 64];                                                  \
        *(uint4 *)(sa + along_k<0, 64>(threadIdx.x / 2, threadIdx.x % 2)) = a[threadIdx.x];                             \
        if (threadIdx.x < 32) *(uint4 *)(sb + along_k<0, 8>(threadIdx.x / 4, threadIdx.x % 4)) = b[threadIdx.x];        \
        asm volatile("fence.proxy.async;" ::: "memory");                                                                \
        __syncthreads();                                                                                                \
        int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;                                     \
        const uint32_t *rows = meta + (16 * warp + g) * 2;                                                              \
        uint32_t e = SMALL ? rows[t % 2 * 16 + t / 2] : rows[t % 2] | rows[16 + t % 2] << 16;                           \
        word d[4] = {0, 0, 0, 0};                                                                                       \
        uint32_t held[1] = {e};                                                                                         \
        hold(d), hold(held);                                                                                            \
        fence();                                                                                                        \
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8" type " {%0,%1,%2,%3}, %4, %5, %6, 0, 1" tail ";"           \
                     : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])           \
                     : "l"(descriptor(sa, 1024, 128, 0)), "l"(descriptor(sb, 128, 128, 0)), "r"(held[0]));              \
        commit();                                                                                                       \
        wait<0>();                                                                                                      \
        for (int i = 0; i < 4; i++) out[(16 * warp + g + i / 2 * 8) * 8 + 2 * t + i % 2] = d[i];                        \
    }
SPARSE(f16, "k32.f32.f16.f16", "f", float, ", 1, 1, 0, 0", false)
SPARSE(s8, "k64.s32.s8.s8", "r", int, "", true)
