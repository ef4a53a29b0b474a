// [sm_80 sm_89 sm_90a] mma.sp in every shape and type, and m8n8k4: one warp, fragments loaded as the PTX ISA says they lie.
#include <cstdint>

// A is stored as it is multiplied, half as wide as k; B is 8 rows of k. C is 1 2 3 4. WORDS: of 32 bits, in a row of A.
template <int WORDS> __device__ uint32_t part(const uint32_t *m, int r) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    return m[(g + 8 * (r & 1)) * WORDS + t + 4 * (r >> 1)];
}
template <int WORDS> __device__ uint32_t column(const uint32_t *m, int r) {
    return m[threadIdx.x / 4 * WORDS + threadIdx.x % 4 + 4 * r];
}

// meta[row][section]: four bits a chunk, the first lowest; 16 of them (elements of 16 bits and more) or 32 a section. Lanes
// that are not selected hold something else.
template <bool SMALL, int SECTIONS> __device__ uint32_t metadata(const uint32_t *meta, int selector) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    int section = SECTIONS == 1 ? 0 : SMALL ? t / 2 : t % 2, high = t % 2;
    bool chosen = SMALL ? SECTIONS == 2 || t / 2 == selector : SECTIONS == 2 ? t / 2 == selector : t == selector;
    if (!chosen) return 0x9c4e48d1;
    if (SMALL) return meta[(g + 8 * high) * SECTIONS + section];
    return meta[g * SECTIONS + section] | meta[(g + 8) * SECTIONS + section] << 16;
}

#define STORE(d, r) for (int i = 0; i < 4; i++) d[(threadIdx.x / 4 + 8 * (i / 2)) * 8 + 2 * (threadIdx.x % 4) + i % 2] = r[i]
#define ONE_SECTION(name, SMALL, Acc, c, text, selector)                                                               \
    extern "C" __global__ void name(const uint32_t *a, const uint32_t *b, const uint32_t *meta, Acc *d) {              \
        Acc r[4] = {1, 2, 3, 4};                                                                                       \
        asm volatile(text " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, " #selector ";"                        \
                     : c(r[0]), c(r[1]), c(r[2]), c(r[3])                                                              \
                     : "r"(part<4>(a, 0)), "r"(part<4>(a, 1)), "r"(column<8>(b, 0)), "r"(column<8>(b, 1)),             \
                       "r"(metadata<SMALL, 1>(meta, selector)));                                                       \
        STORE(d, r);                                                                                                   \
    }
#define TWO_SECTIONS(name, SMALL, Acc, c, text, selector)                                                              \
    extern "C" __global__ void name(const uint32_t *a, const uint32_t *b, const uint32_t *meta, Acc *d) {              \
        Acc r[4] = {1, 2, 3, 4};                                                                                       \
        asm volatile(text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, " #selector ";"         \
                     : c(r[0]), c(r[1]), c(r[2]), c(r[3])                                                              \
                     : "r"(part<8>(a, 0)), "r"(part<8>(a, 1)), "r"(part<8>(a, 2)), "r"(part<8>(a, 3)),                 \
                       "r"(column<16>(b, 0)), "r"(column<16>(b, 1)), "r"(column<16>(b, 2)), "r"(column<16>(b, 3)),     \
                       "r"(metadata<SMALL, 2>(meta, selector)));                                                       \
        STORE(d, r);                                                                                                   \
    }
#define SP "mma.sp::ordered_metadata.sync.aligned.m16n8"

#if __CUDA_ARCH__ >= 800
ONE_SECTION(sparse_f16_k16_0, false, float, "+f", SP "k16.row.col.f32.f16.f16.f32", 0)
ONE_SECTION(sparse_f16_k16_1, false, float, "+f", "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 1)
ONE_SECTION(sparse_f16_k16_2, false, float, "+f", SP "k16.row.col.f32.f16.f16.f32", 2)
ONE_SECTION(sparse_bf16_k16_3, false, float, "+f", SP "k16.row.col.f32.bf16.bf16.f32", 3)
TWO_SECTIONS(sparse_f16_k32_0, false, float, "+f", SP "k32.row.col.f32.f16.f16.f32", 0)
TWO_SECTIONS(sparse_f16_k32_1, false, float, "+f", SP "k32.row.col.f32.f16.f16.f32", 1)
ONE_SECTION(sparse_tf32_k8_2, false, float, "+f", SP "k8.row.col.f32.tf32.tf32.f32", 2)
TWO_SECTIONS(sparse_tf32_k16_1, false, float, "+f", SP "k16.row.col.f32.tf32.tf32.f32", 1)
ONE_SECTION(sparse_s8_k32_0, true, int, "+r", SP "k32.row.col.s32.s8.s8.s32", 0)
ONE_SECTION(sparse_s8_k32_1, true, int, "+r", SP "k32.row.col.satfinite.s32.s8.s8.s32", 1)
TWO_SECTIONS(sparse_u8_k64_0, true, int, "+r", SP "k64.row.col.s32.u8.u8.s32", 0)
ONE_SECTION(sparse_s4_k64_1, true, int, "+r", SP "k64.row.col.s32.s4.s4.s32", 1)
TWO_SECTIONS(sparse_s4_k128_0, true, int, "+r", SP "k128.row.col.s32.s4.s4.s32", 0)
#endif
#if __CUDA_ARCH__ >= 890
TWO_SECTIONS(sparse_e4m3_k64_0, true, float, "+f", SP "k64.row.col.f32.e4m3.e4m3.f32", 0)
#endif

// Four products of 8 x 4 and 4 x 8 halves: a[q][8][4] or [4][8], b[q][4][8] or [8][4], d[q][8][8]. C is zero.
template <bool ROWS> __device__ void take(const uint32_t *m, uint32_t (&r)[2]) { // ROWS: k lies side by side
    int q = threadIdx.x / 4 % 4, t = threadIdx.x % 4, high = threadIdx.x / 16;
    for (int i = 0; i < 2; i++) r[i] = m[q * 16 + (ROWS ? (t + 4 * high) * 2 + i : t * 4 + 2 * high + i)];
}
#define QUADS(name, la, lb, ROWS_A, ROWS_B)                                                                            \
    extern "C" __global__ void name(const uint32_t *a, const uint32_t *b, float *d) {                                  \
        uint32_t x[2], y[2];                                                                                           \
        float r[8] = {};                                                                                               \
        take<ROWS_A>(a, x);                                                                                            \
        take<ROWS_B>(b, y);                                                                                            \
        asm volatile("mma.sync.aligned.m8n8k4." la "." lb ".f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, " \
                     "{%0,%1,%2,%3,%4,%5,%6,%7};"                                                                      \
                     : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]), "+f"(r[4]), "+f"(r[5]), "+f"(r[6]), "+f"(r[7])  \
                     : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]));                                                    \
        int lane = threadIdx.x;                                                                                        \
        for (int i = 0; i < 8; i++)                                                                                    \
            d[lane / 4 % 4 * 64 + ((lane & 1) + (i & 2) + lane / 16 * 4) * 8 + (i & 4) + (lane & 2) + (i & 1)] = r[i]; \
    }
QUADS(quads_row_col, "row", "col", true, true)
QUADS(quads_col_row, "col", "row", false, false)
QUADS(quads_row_row, "row", "row", true, false)
QUADS(quads_col_col, "col", "col", false, true)
