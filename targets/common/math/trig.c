// sin and cos over all finite arguments.
//
// x = q * pi/2 + r with |r| <= pi/4; the quadrant q mod 4 picks +-sin(r) or +-cos(r). Up to a
// limit, r = x - q * pi/2 with pi/2 as three numbers: the first fma is exact, so that what is left
// is rounded relative to itself. Beyond it the bits of 2/pi that matter are multiplied out (Payne
// and Hanek): with x = m * 2^k and m an integer, only x * 2/pi mod 4 is wanted, so the bits of 2/pi
// worth 4 * 2^-k and more are skipped, and a window of those after them is enough:
//
//     2/pi = 0.10100010 11111001 10000011 01101110 ...
//                 `--- window ---'                      m * window = quadrant . fraction of it
//
// The bits are constants chosen by selects, since there is no memory.

#include "targets/common/math/kcmath.h"

#define TWO_OVER_PI_F32 0x1.45f306p-1f
#define TWO_OVER_PI_F64 0x1.45f306dc9c883p-1
#define HALF_PI_0_F32 0x1.921fb4p+0f // rounded down, all three: then -0 comes through
#define HALF_PI_1_F32 0x1.4442dp-24f
#define HALF_PI_2_F32 0x1.84698ap-48f
#define HALF_PI_0_F64 0x1.921fb54442d18p+0
#define HALF_PI_1_F64 0x1.1a62633145c06p-54
#define HALF_PI_2_F64 0x1.c1cd129024e09p-107
#define MAGIC_F32 0x1.8p23f // adding it rounds to an integer, which the sum's low bits hold
#define MAGIC_F64 0x1.8p52
#define LIMIT_F32 65536.0f
#define LIMIT_F64 0x1p20

// ---- f32 ----------------------------------------------------------------------------------------

// 32 bits of 0.(32 zeros)(2/pi), from word `index`, 0 to 7, on.
KC_MATH_INLINE uint32_t two_over_pi_word(uint32_t index) {
    uint32_t low = index & 1 ? 0xa2f9836eu : 0;
    low = index & 2 ? (index & 1 ? 0xfc2757d1u : 0x4e441529u) : low;
    uint32_t high = index & 1 ? 0xdb629599u : 0xf534ddc0u;
    high = index & 2 ? (index & 1 ? 0xfe5163abu : 0x3c439041u) : high;
    return index & 4 ? high : low;
}

KC_MATH_INLINE uint32_t funnel_left(uint32_t high, uint32_t low, uint32_t shift) {
    return (uint32_t)((((uint64_t)high << 32) | low) << shift >> 32);
}

// For |x| of at least 2^16.
KC_MATH_INLINE float reduce_huge_f32(float x, uint32_t *quadrant) {
    uint32_t magnitude = bits_f32(x) & 0x7fffffffu;
    uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    // x = mantissa * 2^(e - 23); the window starts after e - 25 bits of 2/pi, or in the 32 zeros
    // before them.
    uint32_t skip = (magnitude >> 23) - 127 - 25 + 32;
    uint32_t index = (skip >> 5) & 7, shift = skip & 31;
    uint32_t a = two_over_pi_word(index), b = two_over_pi_word(index + 1);
    uint32_t c = two_over_pi_word(index + 2), d = two_over_pi_word(index + 3);
    a = funnel_left(a, b, shift);
    b = funnel_left(b, c, shift);
    c = funnel_left(c, d, shift);
    uint64_t low = (uint64_t)mantissa * c;
    uint64_t middle = (uint64_t)mantissa * b + (low >> 32);
    uint64_t turns =
        ((uint64_t)(mantissa * a) << 32) + middle; // 2 bits of quadrant, 62 of fraction
    uint64_t fraction = turns << 2;
    uint32_t q = (uint32_t)(turns >> 62) + (uint32_t)(fraction >> 63);
    float r = (float)((double)(int64_t)fraction * 0x1.921fb54442d18p-64);
    int negative = x < 0.0f;
    *quadrant = negative ? 0u - q : q;
    return magnitude >= 0x7f800000u ? x - x : negative ? -r : r;
}

KC_MATH_INLINE float reduce_f32(float x, uint32_t *quadrant) {
    if (__builtin_expect(!(abs_f32(x) <= LIMIT_F32), 0)) return reduce_huge_f32(x, quadrant);
    float sum = fma_f32(x, TWO_OVER_PI_F32, MAGIC_F32);
    float n = sum - MAGIC_F32;
    *quadrant = bits_f32(sum);
    float r = fma_f32(n, -HALF_PI_0_F32, x);
    r = fma_f32(n, -HALF_PI_1_F32, r);
    return fma_f32(n, -HALF_PI_2_F32, r);
}

// sin of quadrant * pi/2 + r.
KC_MATH_INLINE float sin_quadrant_f32(float r, uint32_t quadrant) {
    float z = r * r;
    float s = fma_f32(-0x1.9953fep-13f, z, 0x1.110778p-7f);
    s = fma_f32(s, z, -0x1.555546p-3f);
    s = fma_f32(s, z, 0.0f); // +0 where z is 0, so that -0 stays -0
    s = fma_f32(s, r, r);
    float c = fma_f32(0x1.99e90ep-16f, z, -0x1.6c0c2ap-10f);
    c = fma_f32(c, z, 0x1.55554ap-5f);
    c = fma_f32(c, z, -0.5f);
    c = fma_f32(c, z, 1.0f);
    float result = quadrant & 1 ? c : s;
    return quadrant & 2 ? -result : result;
}

float kc_math_sin_f32(float x) {
    uint32_t quadrant;
    float r = reduce_f32(x, &quadrant);
    return sin_quadrant_f32(r, quadrant);
}

float kc_math_cos_f32(float x) {
    uint32_t quadrant;
    float r = reduce_f32(x, &quadrant);
    return sin_quadrant_f32(r, quadrant + 1);
}

// ---- f64 ----------------------------------------------------------------------------------------

// 0.(64 zeros)(2/pi) in words of 64 bits: word 0 is 0, the rest:
#define W1 0xa2f9836e4e441529u
#define W2 0xfc2757d1f534ddc0u
#define W3 0xdb6295993c439041u
#define W4 0xfe5163abdebbc561u
#define W5 0xb7246e3a424dd2e0u
#define W6 0x06492eea09d1921cu
#define W7 0xfe1deb1cb129a73eu
#define W8 0xe88235f52ebb4484u
#define W9 0xe99c7026b45f7e41u
#define W10 0x3991d639835339f4u
#define W11 0x9c845f8bbdf9283bu
#define W12 0x1ff897ffde05980fu
#define W13 0xef2f118b5a0a6d1fu
#define W14 0x6d367ecf27cb09b7u
#define W15 0x4f463f669e5fea2du
#define W16 0x7527bac7ebe5f17bu
#define W17 0x3d0739f78a5292eau
#define W18 0x6bfb5fb11f8d5d08u
#define W19 0x56033046fc7b6babu

KC_MATH_INLINE uint64_t pick_word(uint32_t i, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                  uint64_t e) {
    uint64_t low = i & 2 ? (i & 1 ? d : c) : (i & 1 ? b : a);
    return i & 4 ? e : low;
}

// The four words from word `index`, 0 to 16, on: first a row of seven, then its part.
KC_MATH_INLINE void two_over_pi_window(uint32_t index, uint64_t window[4]) {
    uint32_t row = index >> 2;
    uint64_t a = pick_word(row, 0, W4, W8, W12, W16);
    uint64_t b = pick_word(row, W1, W5, W9, W13, W17);
    uint64_t c = pick_word(row, W2, W6, W10, W14, W18);
    uint64_t d = pick_word(row, W3, W7, W11, W15, W19);
    uint64_t e = pick_word(row, W4, W8, W12, W16, 0);
    uint64_t f = pick_word(row, W5, W9, W13, W17, 0);
    uint64_t g = pick_word(row, W6, W10, W14, W18, 0);
    uint32_t two = index & 2, one = index & 1;
    a = two ? c : a;
    b = two ? d : b;
    c = two ? e : c;
    d = two ? f : d;
    e = two ? g : e;
    window[0] = one ? b : a;
    window[1] = one ? c : b;
    window[2] = one ? d : c;
    window[3] = one ? e : d;
}

KC_MATH_INLINE uint64_t funnel_left_wide(uint64_t high, uint64_t low, uint32_t shift) {
    return high << shift | low >> 1 >> (63 - shift);
}

KC_MATH_INLINE uint64_t multiply_high(uint64_t a, uint64_t b) {
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

// For |x| of at least 2^20. Doubles come as near to a multiple of pi/2 as 2^-62 of a quadrant: of
// the 126 bits of fraction, 64 are significant even then.
KC_MATH_INLINE double reduce_huge_f64(double x, uint32_t *quadrant) {
    uint64_t magnitude = bits_f64(x) & 0x7fffffffffffffffu;
    uint64_t mantissa = (magnitude & 0xfffffffffffffu) | 0x10000000000000u;
    uint32_t skip = (uint32_t)(magnitude >> 52) - 1023 - 54 + 64;
    uint64_t w[4];
    two_over_pi_window(skip >> 6, w);
    uint32_t shift = skip & 63;
    uint64_t a = funnel_left_wide(w[0], w[1], shift);
    uint64_t b = funnel_left_wide(w[1], w[2], shift);
    uint64_t c = funnel_left_wide(w[2], w[3], shift);
    uint64_t product = mantissa * b;
    uint64_t low = product + multiply_high(mantissa, c);
    uint64_t high = mantissa * a + multiply_high(mantissa, b) + (low < product);
    uint32_t q = (uint32_t)(high >> 62) + (uint32_t)(high >> 61 & 1);
    high = high << 2 | low >> 62;
    low <<= 2;
    uint64_t flip =
        (uint64_t)((int64_t)high >>
                   63); // a fraction above 1/2 is negative: its complement, one unit off
    high ^= flip;
    low ^= flip;
    uint32_t zeros = (uint32_t)__builtin_clzll(high | 1);
    uint64_t leading = funnel_left_wide(high, low, zeros);
    double scale = from_bits_f64((uint64_t)(1023 - 53 - zeros) << 52);
    // The fraction times pi/2, as one product with everything below it in the addend.
    double top = (double)(leading >> 11), rest = (double)(leading & 0x7ffu) * 0x1p-11;
    double r =
        fma_f64(top, HALF_PI_0_F64, fma_f64(rest, HALF_PI_0_F64, top * HALF_PI_1_F64)) * scale;
    int negative = x < 0.0;
    *quadrant = negative ? 0u - q : q;
    r = (flip != 0) != negative ? -r : r;
    return magnitude >= 0x7ff0000000000000u ? x - x : r;
}

KC_MATH_INLINE double reduce_f64(double x, uint32_t *quadrant) {
    if (__builtin_expect(!(abs_f64(x) <= LIMIT_F64), 0)) return reduce_huge_f64(x, quadrant);
    double sum = fma_f64(x, TWO_OVER_PI_F64, MAGIC_F64);
    double n = sum - MAGIC_F64;
    *quadrant = (uint32_t)bits_f64(sum);
    double r = fma_f64(n, -HALF_PI_0_F64, x);
    r = fma_f64(n, -HALF_PI_1_F64, r);
    return fma_f64(n, -HALF_PI_2_F64, r);
}

KC_MATH_INLINE double sin_quadrant_f64(double r, uint32_t quadrant) {
    double z = r * r;
    double s = fma_f64(0x1.5d8e3511c1ebcp-33, z, -0x1.ae5e5471f5349p-26);
    s = fma_f64(s, z, 0x1.71de355f05598p-19);
    s = fma_f64(s, z, -0x1.a01a019bf222ep-13);
    s = fma_f64(s, z, 0x1.111111110f75dp-7);
    s = fma_f64(s, z, -0x1.5555555555548p-3);
    s = fma_f64(s, z, 0.0);
    s = fma_f64(s, r, r);
    double c = fma_f64(-0x1.8fa681e39e977p-37, z, 0x1.1ee9dbd0d887p-29);
    c = fma_f64(c, z, -0x1.27e4f7f19d4b3p-22);
    c = fma_f64(c, z, 0x1.a01a019c8f3eep-16);
    c = fma_f64(c, z, -0x1.6c16c16c15016p-10);
    c = fma_f64(c, z, 0x1.555555555554bp-5);
    c = fma_f64(c, z, -0.5);
    c = fma_f64(c, z, 1.0);
    double result = quadrant & 1 ? c : s;
    return quadrant & 2 ? -result : result;
}

double kc_math_sin_f64(double x) {
    uint32_t quadrant;
    double r = reduce_f64(x, &quadrant);
    return sin_quadrant_f64(r, quadrant);
}

double kc_math_cos_f64(double x) {
    uint32_t quadrant;
    double r = reduce_f64(x, &quadrant);
    return sin_quadrant_f64(r, quadrant + 1);
}
