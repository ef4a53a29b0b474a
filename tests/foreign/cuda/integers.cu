// Integer intrinsics, SIMD within a register, 64- and 128-bit arithmetic.
#include <cstdint>

extern "C" __global__ void int_bits(const uint32_t *x, const uint32_t *y, uint32_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t a = x[i], b = y[i], *o = out + i * 12;
    o[0] = __byte_perm(a, b, b & 0x7777);
    o[1] = __brev(a);
    o[2] = __clz(a);
    o[3] = __ffs(a);
    o[4] = __popc(a);
    o[5] = __funnelshift_l(a, b, b);
    o[6] = __funnelshift_rc(a, b, b);
    o[7] = __mulhi((int)a, (int)b);
    o[8] = __umulhi(a, b);
    o[9] = __mul24((int)a, (int)b);
    o[10] = __sad((int)a, (int)b, 5);
    o[11] = __uhadd(a, b) ^ __rhadd((int)a, (int)b);
}

extern "C" __global__ void int_dots(const uint32_t *x, const uint32_t *y, uint32_t *out) {
    int i = threadIdx.x;
    uint32_t a = x[i], b = y[i], *o = out + i * 6;
    o[0] = __dp4a((int)a, (int)b, 17);
    o[1] = __dp4a(a, b, 17u);
    o[2] = __dp2a_lo((int)a, (int)b, -3);
    o[3] = __dp2a_hi((int)a, (int)b, -3);
    o[4] = __dp2a_lo(a, b, 3u);
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(o[5]) : "r"(a), "r"(b), "r"(9));
}

extern "C" __global__ void int_simd(const uint32_t *x, const uint32_t *y, uint32_t *out) {
    int i = threadIdx.x;
    uint32_t a = x[i], b = y[i], *o = out + i * 8;
    o[0] = __vadd4(a, b);
    o[1] = __vsub2(a, b);
    o[2] = __vmaxs4(a, b);
    o[3] = __vminu2(a, b);
    o[4] = __vaddss2(a, b);
    o[5] = __vcmpgtu4(a, b);
    o[6] = __vavgu4(a, b);
    o[7] = __viaddmax_s32((int)a, (int)b, 7);
}

extern "C" __global__ void int_64(const uint64_t *x, const uint64_t *y, uint64_t *out) {
    int i = threadIdx.x;
    uint64_t a = x[i], b = y[i], *o = out + i * 14;
    int64_t s = (int64_t)a, t = (int64_t)b;
    o[0] = a + b;
    o[1] = a * b;
    o[2] = __umul64hi(a, b);
    o[3] = (uint64_t)__mul64hi(s, t);
    o[4] = b ? a / b : 0;
    o[5] = b ? a % b : 0;
    o[6] = t ? (uint64_t)(s / t) : 0;
    o[7] = t ? (uint64_t)(s % t) : 0;
    o[8] = a << (b & 63) ^ (uint64_t)(s >> (b & 63));
    o[9] = __brevll(a);
    o[10] = __clzll(s) | __ffsll(s) << 8 | __popcll(a) << 16;
    unsigned __int128 p = (unsigned __int128)a * b + a;
    o[11] = (uint64_t)(p >> 64);
    o[12] = (uint64_t)(p - b >> 3);
    o[13] = (uint64_t)(s < t ? s : t) ^ (a > b ? a : b);
}

extern "C" __global__ void int_divisions(const int *x, const int *y, int *out) {
    int i = threadIdx.x, a = x[i], b = y[i], *o = out + i * 8;
    o[0] = a / b;
    o[1] = a % b;
    o[2] = (int)((unsigned)a / (unsigned)b);
    o[3] = (int)((unsigned)a % (unsigned)b);
    o[4] = a / 7 + a % 1000 + (int)((unsigned)a / 10u);
    o[5] = (short)a / (short)(b | 1);
    o[6] = (signed char)a * (unsigned char)b + (short)(a >> 3);
    o[7] = abs(a) + max(a, b) - min(a, b);
}
