// mma.sync by inline assembly in every common shape, operands by ldmatrix or loaded as the fragments' layout says.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

// A fragment register r of lane l holds elements of row g + 8 * (r & 1), from column E * (t + 4 * (r >> 1)), of B
// column g, from row E * (t + 4 * r): E elements a register. Matrices lie with k fastest.
template <int E, class T> __device__ uint32_t word(const T *m, int ld, int row, int at) {
    return *(const uint32_t *)(m + row * ld + at * E);
}

#define LANE int lane = threadIdx.x, g = lane / 4, t = lane % 4
#define STORE4 for (int i = 0; i < 4; i++) d[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = r[i]

#define MMA_A4(name, E, T, Acc, ld, text, c)                                                                           \
    extern "C" __global__ void name(const T *a, const T *b, Acc *d) {                                                  \
        LANE;                                                                                                          \
        uint32_t a0 = word<E>(a, ld, g, t), a1 = word<E>(a, ld, g + 8, t), a2 = word<E>(a, ld, g, t + 4),              \
                 a3 = word<E>(a, ld, g + 8, t + 4), b0 = word<E>(b, ld, g, t), b1 = word<E>(b, ld, g, t + 4);          \
        Acc r[4] = {1, 2, 3, 4};                                                                                       \
        asm volatile(text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                     \
                     : c(r[0]), c(r[1]), c(r[2]), c(r[3])                                                              \
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                          \
        STORE4;                                                                                                        \
    }
#define MMA_A2(name, E, T, Acc, ld, text, c)                                                                           \
    extern "C" __global__ void name(const T *a, const T *b, Acc *d) {                                                  \
        LANE;                                                                                                          \
        uint32_t a0 = word<E>(a, ld, g, t), a1 = word<E>(a, ld, g + 8, t), b0 = word<E>(b, ld, g, t);                  \
        Acc r[4] = {1, 2, 3, 4};                                                                                       \
        asm volatile(text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                              \
                     : c(r[0]), c(r[1]), c(r[2]), c(r[3])                                                              \
                     : "r"(a0), "r"(a1), "r"(b0));                                                                     \
        STORE4;                                                                                                        \
    }
#define MMA_A1(name, E, T, ld, text)                                                                                   \
    extern "C" __global__ void name(const T *a, const T *b, int *d) {                                                  \
        LANE;                                                                                                          \
        uint32_t a0 = word<E>(a, ld, g, t), b0 = word<E>(b, ld, g, t);                                                 \
        int r[2] = {1, 2};                                                                                             \
        asm volatile(text " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(r[0]), "+r"(r[1]) : "r"(a0), "r"(b0));               \
        for (int i = 0; i < 2; i++) d[g * 8 + 2 * t + i] = r[i];                                                       \
    }

MMA_A2(mma_f16_k8, 2, uint16_t, float, 8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "+f")
MMA_A1(mma_s8_m8, 4, int8_t, 16, "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32")
MMA_A1(mma_u8_m8, 4, uint8_t, 16, "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.u8.s32")
MMA_A1(mma_s4_m8, 4, int8_t, 16, "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32") // two numbers a byte
#if __CUDA_ARCH__ < 900
MMA_A1(mma_b1_xor, 4, int8_t, 16, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
#endif
#if __CUDA_ARCH__ >= 800
MMA_A4(mma_f16_k16, 2, uint16_t, float, 16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "+f")
MMA_A4(mma_bf16_k16, 2, uint16_t, float, 16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "+f")
MMA_A2(mma_bf16_k8, 2, uint16_t, float, 8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "+f")
MMA_A2(mma_tf32_k4, 1, float, float, 4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", "+f")
MMA_A4(mma_tf32_k8, 1, float, float, 8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "+f")
MMA_A2(mma_s8_k16, 4, int8_t, int, 16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", "+r")
MMA_A4(mma_s8_k32, 4, int8_t, int, 32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "+r")
MMA_A4(mma_u8s8_k32, 4, int8_t, int, 32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32", "+r")
MMA_A2(mma_s4_k32, 4, int8_t, int, 16, "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", "+r")
MMA_A4(mma_u4_k64, 4, int8_t, int, 32, "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", "+r")
MMA_A2(mma_b1_k128, 4, int8_t, int, 16, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", "+r")
MMA_A4(mma_b1_k256, 4, int8_t, int, 32, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", "+r")
#endif
#if __CUDA_ARCH__ >= 890
MMA_A4(mma_e4m3, 4, uint8_t, float, 32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "+f")
MMA_A4(mma_e5m2, 4, uint8_t, float, 32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", "+f")
#endif

#if __CUDA_ARCH__ >= 800
// f64: A has 8 rows, a lane holds A[g][t], B[t][g] and C[g][2t], C[g][2t+1].
extern "C" __global__ void mma_f64(const double *a, const double *b, double *d) {
    LANE;
    double r0 = 1, r1 = 2;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(r0), "+d"(r1)
                 : "d"(a[g * 4 + t]), "d"(b[g * 4 + t]));
    d[g * 8 + 2 * t] = r0, d[g * 8 + 2 * t + 1] = r1;
}
#endif

// 64 x 64 of C a block of four warps: ldmatrix in all its forms from padded shared memory, f16 sums in between.
extern "C" __global__ __launch_bounds__(128) void mma_gemm(const __half *a, const __half *b, float *c, int n, int k) {
    __shared__ __align__(16) __half as[64][24], bs[16][72];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, wr = warp * 16;
    float sum[8][4] = {};
    for (int at = 0; at < k; at += 16) {
        int row = threadIdx.x / 2, column = threadIdx.x % 2 * 8;
        *(uint4 *)&as[row][column] = *(const uint4 *)&a[(size_t)(blockIdx.y * 64 + row) * k + at + column];
        row = threadIdx.x / 8, column = threadIdx.x % 8 * 8;
        *(uint4 *)&bs[row][column] = *(const uint4 *)&b[(size_t)(at + row) * n + blockIdx.x * 64 + column];
        __syncthreads();
        uint32_t fa[4], fb[2];
        unsigned where = (unsigned)__cvta_generic_to_shared(&as[wr + lane % 16][lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                     : "r"(where));
#pragma unroll
        for (int j = 0; j < 8; j++) {
            where = (unsigned)__cvta_generic_to_shared(&bs[lane % 16][j * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(fb[0]), "=r"(fb[1])
                         : "r"(where));
#if __CUDA_ARCH__ >= 800
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                         : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
#else
            for (int h = 0; h < 2; h++)
                asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                             : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                             : "r"(fa[2 * h]), "r"(fa[2 * h + 1]), "r"(fb[h]));
#endif
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int h = 0; h < 2; h++)
            *(float2 *)&c[(size_t)(blockIdx.y * 64 + wr + lane / 4 + 8 * h) * n + blockIdx.x * 64 + j * 8 + lane % 4 * 2] =
                make_float2(sum[j][2 * h], sum[j][2 * h + 1]);
}
