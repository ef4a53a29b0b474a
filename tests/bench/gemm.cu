// A product as one writes it in CUDA C++ for mma.sync: what kc's own is compared with in tests/bench/gemm.py.
// y[M, N] = a[M, K] b[N, K]^T, tiles of 128 x 128 and 64 bytes of k, four warps of 64 x 64, a ring of four stages.
// A fragment has the same bytes in every type, so that MMA (the instruction), ACCUMULATOR (its type) and LETTER (its
// constraint) are all that types differ in. Sizes are whole tiles.
#include <stdint.h>

enum { TILE = 128, STEP = 64, STAGES = 4, WARPS = 4, CHUNK = 16, STAGE = 2 * TILE * STEP };

// Chunks of 16 bytes are exchanged so that eight rows of one column of chunks lie in different banks.
static __device__ uint32_t place(int row, int chunk) { return row * STEP + (chunk ^ (row >> 1 & 3)) * CHUNK; }

static __device__ void copy(uint32_t shared, const char *global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global));
}

static __device__ void load(uint32_t (&to)[4], uint32_t from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(from));
}

static __device__ void multiply(ACCUMULATOR (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : LETTER(c[0]), LETTER(c[1]), LETTER(c[2]), LETTER(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// `row` is the number of bytes of a row of a and b.
extern "C" __global__ void __launch_bounds__(WARPS * 32) gemm(const char *a, const char *b, ACCUMULATOR *y, int n, int row) {
    extern __shared__ __align__(128) char ring[];
    const uint32_t shared = (uint32_t)__cvta_generic_to_shared(ring);
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, steps = row / STEP;
    a += (size_t)blockIdx.y * TILE * row + (size_t)(thread / 4) * row + thread % 4 * CHUNK;
    b += (size_t)blockIdx.x * TILE * row + (size_t)(thread / 4) * row + thread % 4 * CHUNK;
    const uint32_t written = shared + place(thread / 4, thread % 4);
    // Rows of a warp's fragments: those of a by lane % 16, of b by eights; their chunk by the other bits of the lane.
    const int row_a = warp / 2 * 64 + lane % 16, row_b = warp % 2 * 64 + lane % 8 + lane / 16 * 8;
    ACCUMULATOR c[4][8][4] = {};

    auto fetch = [&](int stage) {
        for (int i = 0; i < TILE / 32; i++) {
            copy(written + stage * STAGE + i * 32 * STEP, a + (size_t)i * 32 * row);
            copy(written + stage * STAGE + TILE * STEP + i * 32 * STEP, b + (size_t)i * 32 * row);
        }
        a += STEP, b += STEP;
    };
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) fetch(s);
        asm volatile("cp.async.commit_group;");
    }
    int read = 0, write = STAGES - 1;
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        if (step + STAGES - 1 < steps) fetch(write);
        asm volatile("cp.async.commit_group;");
        const uint32_t from = shared + read * STAGE;
#pragma unroll
        for (int k = 0; k < STEP / 32; k++) {
            uint32_t fa[4][4], fb[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load(fa[i], from + place(row_a + i * 16, k * 2 + lane / 16));
                load(fb[i], from + TILE * STEP + place(row_b + i * 16, k * 2 + lane / 8 % 2));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) multiply(c[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        read = (read + 1) % STAGES, write = (write + 1) % STAGES;
    }
    y += ((size_t)blockIdx.y * TILE + warp / 2 * 64 + lane / 4) * n + blockIdx.x * TILE + warp % 2 * 64 + lane % 4 * 2;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++)
            for (int r = 0; r < 4; r++) y[(size_t)(i * 16 + r / 2 * 8) * n + j * 8 + r % 2] = c[i][j][r];
}
