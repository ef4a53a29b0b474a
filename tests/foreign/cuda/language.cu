// What the language is made of: variables with initialisers, functions, structures, switches, local arrays.
#include <cstdint>

struct pair { float x; int n; };
struct big { double d[3]; pair p; unsigned char tail[5]; };

__constant__ float weights[8] = {1, -2, 3.5f, 0, 0.25f, 6, -7, 8};
__constant__ pair pairs[3] = {{1.5f, 10}, {-2.5f, -20}, {0, 30}};
__device__ int counter = 41;
__device__ unsigned char letters[16] = "kernels";
__device__ const int *pointer_to_counter = &counter;
__device__ double table[4] = {1e300, -0.0, 3.25, 1e-300};
__device__ short sparse[100] = {1, 2, 3};
__constant__ float set_by_host[4];

extern "C" __global__ void variables(float *f, int *i, double *d) {
    int t = threadIdx.x;
    f[t] = weights[t % 8] + pairs[t % 3].x + set_by_host[t % 4];
    i[t] = pairs[t % 3].n + counter + letters[t % 16] + *pointer_to_counter + sparse[t % 100];
    d[t] = table[t % 4];
}
extern "C" __global__ void bump() {
    if (threadIdx.x == 0) counter += 1;
}

__device__ __noinline__ pair scale(pair p, float by) {
    p.x *= by;
    p.n += (int)by;
    return p;
}
__device__ __noinline__ big widen(big b, pair p) {
    for (int i = 0; i < 3; i++) b.d[i] += p.x * (i + 1);
    b.p = scale(p, 2);
    b.tail[p.n & 3] ^= 0x55;
    return b;
}
__device__ __noinline__ int gcd(int a, int b) {
    while (b) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a;
}
__device__ __noinline__ void by_address(int *where, const pair &p) { *where += p.n; }

extern "C" __global__ void functions(const int *x, double *d, int *out, pair given, big block) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, local = x[t];
    pair p = {given.x + (float)x[t], given.n - t};
    big b = block;
    if (x[t] & 1) b = widen(block, p); // only some lanes call
    by_address(&local, b.p);
    d[t] = b.d[0] + b.d[1] * 2 + b.d[2] * 4 + b.p.x;
    out[t * 3] = gcd(x[t], 360 + t);
    out[t * 3 + 1] = local;
    out[t * 3 + 2] = b.tail[0] | b.tail[1] << 8 | b.tail[2] << 16;
}

// A dense switch becomes a branch table; cases fall through and lanes part ways.
extern "C" __global__ void switches(const int *x, int *out) {
    int t = threadIdx.x, v = x[t], r = 1;
    switch (v) {
    case 0: r = v + t; break;
    case 1: r = v * 3 - t; [[fallthrough]];
    case 2: r += t * t; break;
    case 3: for (int i = 0; i < t; i++) r = r * 5 + 1; break;
    case 4: r = __popc(t) << 4; break;
    case 5: return;
    case 6: r = -t; while (r < 100) r += 7; break;
    case 7: r = t / 3; break;
    case 8: r = t % 5; out[t] = 1; [[fallthrough]];
    case 9: r ^= 0x1234; break;
    default: r = 99;
    }
    out[t] = r;
}

// An array with an index nobody knows lives in local memory.
extern "C" __global__ void local_arrays(const int *x, int *out, int n) {
    int t = threadIdx.x, stack[24], top = 0;
    short tally[10] = {};
    for (int i = 0; i < n; i++) {
        int v = x[t * n + i];
        tally[v % 10]++;
        if (v % 3 == 0 && top > 1) {
            top--;
            stack[top - 1] += stack[top];
        } else
            stack[top++] = v;
    }
    int sum = 0;
    for (int i = 0; i < top; i++) sum = sum * 3 + stack[i];
    out[t * 2] = sum;
    int best = 0;
    for (int i = 1; i < 10; i++)
        if (tally[i] > tally[best]) best = i;
    out[t * 2 + 1] = best * 100 + tally[best];
}

// Every width memory has, at addresses that are only as aligned as they must be.
struct alignas(16) wide { double a, b; };
extern "C" __global__ void widths(const unsigned char *c8, const unsigned short *c16, const uint4 *c128, const wide *w,
                                  const char2 *pairs8, const float2 *p64, long long *out) {
    int t = threadIdx.x;
    uint4 q = c128[t];
    wide v = w[t];
    char2 p = pairs8[t];
    float2 f = __ldg(&p64[t]);
    out[t] = c8[t] + c16[t] * 3 + q.x + q.y * 5 + q.z * 7 + q.w * 11 + (long long)(v.a - v.b) + p.x * p.y +
             (long long)(f.x * f.y);
}

// The Collatz length: every lane leaves its loop when it likes.
extern "C" __global__ void collatz(const unsigned *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long v = x[i];
    int steps = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        if (++steps > 500) break;
    }
    out[i] = steps;
}

// Special registers.
extern "C" __global__ void where_am_i(unsigned *out) {
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), lane, warp, below;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out += (b * blockDim.x * blockDim.y * blockDim.z + t) * 4;
    out[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    out[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    out[2] = lane == t % 32 && warp == t / 32 && below == (1u << lane) - 1;
    long long c = clock64();
    out[3] = clock64() >= c;
}
