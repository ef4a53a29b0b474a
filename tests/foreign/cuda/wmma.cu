// mma.h: one warp multiplies one tile; layouts of every combination, all types of sm_75 and sm_80.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// C of m x n, A and B of any layout; k in steps; `shared` puts the operands into shared memory first.
template <int M, int N, int K, class In, class Stored, class Acc, class LA, class LB>
__device__ void tile(const Stored *a, const Stored *b, const Acc *c, Acc *d, int k, wmma::layout_t out) {
    constexpr bool ra = std::is_same<LA, wmma::row_major>::value, rb = std::is_same<LB, wmma::row_major>::value;
    wmma::fragment<wmma::matrix_a, M, N, K, In, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> fc;
    int ldc = out == wmma::mem_row_major ? N : M;
    wmma::load_matrix_sync(fc, c, ldc, out);
    for (int at = 0; at < k; at += K) {
        wmma::load_matrix_sync(fa, ra ? a + at : a + at * M, ra ? k : M);
        wmma::load_matrix_sync(fb, rb ? b + at * N : b + at, rb ? N : k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(d, fc, ldc, out);
}

#define TILE(name, M, N, K, In, Stored, Acc, LA, LB, out)                                                              \
    extern "C" __global__ void name(const Stored *a, const Stored *b, const Acc *c, Acc *d, int k) {                   \
        tile<M, N, K, In, Stored, Acc, wmma::LA, wmma::LB>(a, b, c, d, k, wmma::out);                                  \
    }
TILE(wmma_f16_rr, 16, 16, 16, __half, __half, float, row_major, row_major, mem_row_major)
TILE(wmma_f16_rc, 16, 16, 16, __half, __half, float, row_major, col_major, mem_col_major)
TILE(wmma_f16_cr, 16, 16, 16, __half, __half, __half, col_major, row_major, mem_row_major)
TILE(wmma_f16_cc, 16, 16, 16, __half, __half, __half, col_major, col_major, mem_col_major)
TILE(wmma_f16_32x8, 32, 8, 16, __half, __half, float, row_major, col_major, mem_row_major)
TILE(wmma_f16_8x32, 8, 32, 16, __half, __half, float, col_major, row_major, mem_row_major)
TILE(wmma_s8, 16, 16, 16, signed char, signed char, int, row_major, col_major, mem_row_major)
TILE(wmma_u8, 16, 16, 16, unsigned char, unsigned char, int, col_major, row_major, mem_col_major)
TILE(wmma_s8_32x8, 32, 8, 16, signed char, signed char, int, row_major, col_major, mem_row_major)
TILE(wmma_s8_8x32, 8, 32, 16, signed char, signed char, int, col_major, col_major, mem_row_major)
#if __CUDA_ARCH__ >= 800
TILE(wmma_bf16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major, mem_row_major)
TILE(wmma_bf16_32x8, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float, col_major, row_major, mem_row_major)
TILE(wmma_bf16_8x32, 8, 32, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, row_major, mem_col_major)
TILE(wmma_tf32, 16, 16, 8, wmma::precision::tf32, float, float, row_major, col_major, mem_row_major)
TILE(wmma_tf32_cr, 16, 16, 8, wmma::precision::tf32, float, float, col_major, row_major, mem_col_major)
TILE(wmma_f64, 8, 8, 4, double, double, double, row_major, col_major, mem_row_major)
TILE(wmma_f64_cr, 8, 8, 4, double, double, double, col_major, row_major, mem_col_major)
#endif

// Below 8 bits: elements packed in bytes, k in steps of 32 or 128. A by rows, B by columns.
template <int K, class In, class Op> __device__ void packed(const char *a, const char *b, const int *c, int *d, int k, Op op) {
    constexpr int per_byte = K == 32 ? 2 : 8;
    wmma::fragment<wmma::matrix_a, 8, 8, K, In, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, K, In, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> fc;
    wmma::load_matrix_sync(fc, c, 8, wmma::mem_col_major);
    for (int at = 0; at < k; at += K) {
        wmma::load_matrix_sync(fa, a + at / per_byte, k);
        wmma::load_matrix_sync(fb, b + at / per_byte, k);
        op(fc, fa, fb);
    }
    wmma::store_matrix_sync(d, fc, 8, wmma::mem_row_major);
}
#define PACKED(name, K, In, product)                                                                                   \
    extern "C" __global__ void name(const char *a, const char *b, const int *c, int *d, int k) {                       \
        packed<K, wmma::experimental::precision::In>(a, b, c, d, k, [](auto &fc, auto &fa, auto &fb) { product; });    \
    }
PACKED(wmma_s4, 32, s4, wmma::mma_sync(fc, fa, fb, fc))
PACKED(wmma_u4, 32, u4, wmma::mma_sync(fc, fa, fb, fc, true))
PACKED(wmma_b1_xor, 128, b1, wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpXOR))
#if __CUDA_ARCH__ >= 800
PACKED(wmma_b1_and, 128, b1, wmma::bmma_sync(fc, fa, fb, fc, wmma::experimental::bmmaBitOpAND))
#endif

// As it is used: tiles staged in padded shared memory, fragments scaled and combined element by element.
extern "C" __global__ void wmma_gemm(const __half *a, const __half *b, float *c, int n, int k, float alpha) {
    __shared__ __half as[32][24], bs[16][40];
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
    wmma::fill_fragment(sum, 0.0f);
    for (int at = 0; at < k; at += 16) {
        for (int i = threadIdx.x; i < 32 * 16; i += blockDim.x) {
            as[i / 16][i % 16] = a[(blockIdx.y * 32 + i / 16) * k + at + i % 16];
            bs[i / 32][i % 32] = b[(at + i / 32) * n + blockIdx.x * 32 + i % 32];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
        wmma::load_matrix_sync(fa, &as[wr][0], 24);
        wmma::load_matrix_sync(fb, &bs[0][wc], 40);
        wmma::mma_sync(sum, fa, fb, sum);
        __syncthreads();
    }
    float *to = c + (blockIdx.y * 32 + wr) * n + blockIdx.x * 32 + wc;
    wmma::load_matrix_sync(old, to, n, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = alpha * sum.x[i] + old.x[i];
    wmma::store_matrix_sync(to, sum, n, wmma::mem_row_major);
}
