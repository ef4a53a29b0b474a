// Shared memory, static and dynamic, and barriers: scan, histogram, transposition, sort, stencil.
#include <cstdint>

// Inclusive scan of one block's elements, doubling the distance.
extern "C" __global__ void block_scan(const int *x, int *out, int n) {
    extern __shared__ int two[];
    int i = threadIdx.x, at = blockIdx.x * blockDim.x + i, now = 0, size = blockDim.x;
    two[i] = at < n ? x[at] : 0;
    __syncthreads();
    for (int d = 1; d < size; d *= 2) {
        now = 1 - now;
        int *to = two + now * size, *from = two + (1 - now) * size;
        to[i] = from[i] + (i >= d ? from[i - d] : 0);
        __syncthreads();
    }
    if (at < n) out[at] = two[now * size + i];
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (bins[i]) atomicAdd(&out[i], bins[i]);
}

extern "C" __global__ void transpose(const float *x, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < columns) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (r + k < columns && c < rows) out[(size_t)(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}

// Bitonic sort of 2 * blockDim keys.
extern "C" __global__ void sort(unsigned *keys) {
    extern __shared__ unsigned k[];
    unsigned n = 2 * blockDim.x, t = threadIdx.x;
    keys += blockIdx.x * n;
    k[t] = keys[t], k[t + blockDim.x] = keys[t + blockDim.x];
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned i = 2 * t - (t & (d - 1)), j = i + d;
            bool up = (i & size) == 0;
            unsigned a = k[i], b = k[j];
            if ((a > b) == up) k[i] = b, k[j] = a;
        }
    __syncthreads();
    keys[t] = k[t], keys[t + blockDim.x] = k[t + blockDim.x];
}

// Barriers that return something, and two halves of a block that meet at barriers of their own.
extern "C" __global__ void counting(const int *x, int *out) {
    __shared__ int box[2][64];
    int i = threadIdx.x, half = i / 64, v = x[i];
    int count = __syncthreads_count(v > 0), both = __syncthreads_and(v > -100) | __syncthreads_or(v > 99) << 1;
    box[half][i % 64] = v;
    if (half == 0) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[i] = box[half][63 - i % 64] + count * 1000 + both * 1000000;
}

// 2-D stencil with a halo; every thread loads more than one element.
template <int R> __device__ void blur(const float *x, float *out, int w, int h, float (*tile)[32 + 2 * R]) {
    int x0 = blockIdx.x * 32 - R, y0 = blockIdx.y * 8 - R;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < (8 + 2 * R) * (32 + 2 * R); i += 256) {
        int c = i % (32 + 2 * R), r = i / (32 + 2 * R);
        int cx = min(max(x0 + c, 0), w - 1), cy = min(max(y0 + r, 0), h - 1);
        tile[r][c] = x[cy * w + cx];
    }
    __syncthreads();
    float sum = 0;
    for (int r = 0; r <= 2 * R; r++)
        for (int c = 0; c <= 2 * R; c++) sum += tile[threadIdx.y + r][threadIdx.x + c];
    int cx = x0 + R + threadIdx.x, cy = y0 + R + threadIdx.y;
    if (cx < w && cy < h) out[cy * w + cx] = sum / ((2 * R + 1) * (2 * R + 1));
}
extern "C" __global__ void blur2(const float *x, float *out, int w, int h) {
    __shared__ float tile[12][36];
    blur<2>(x, out, w, h, tile);
}

extern "C" __global__ __launch_bounds__(256, 2) void matmul(const float *a, const float *b, float *c, int m, int n,
                                                            int k) {
    __shared__ float as[16][17], bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < k; at += 16) {
        as[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
