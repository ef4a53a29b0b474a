#include "runtime/sim/cuda/tensor.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

/* ---- elements ---- */

static inline double from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* A small float without its sign: its bits are put where an f32 has them, and a power of two makes
 * good the difference of the biases, also for subnormals. */
static inline double small_float(uint32_t magnitude, uint32_t fraction_bits, double power) {
    return from_bits(magnitude << (23 - fraction_bits)) * power;
}

static inline double from_half(uint16_t bits) {
    uint32_t magnitude = bits & 0x7fff;
    double value = small_float(magnitude, 10, 0x1p112);
    if (magnitude >= 0x7c00) value = from_bits(0x7f800000 | magnitude << 13);
    return bits & 0x8000 ? -value : value;
}

static inline double from_e4m3(uint8_t bits) {
    double value = (bits & 0x7f) == 0x7f ? (double)NAN : small_float(bits & 0x7f, 3, 0x1p120);
    return bits & 0x80 ? -value : value;
}

/* Six bits at the bottom of the byte; four in the middle of it. */
static inline double from_e3m2(uint8_t bits) {
    double value = small_float(bits & 0x1f, 2, 0x1p124);
    return bits & 0x20 ? -value : value;
}

static inline double from_e2m3(uint8_t bits) {
    double value = small_float(bits & 0x1f, 3, 0x1p126);
    return bits & 0x20 ? -value : value;
}

static inline double from_e2m1(uint8_t bits) {
    double value = small_float(bits >> 2 & 7, 1, 0x1p126);
    return bits & 0x20 ? -value : value;
}

static void from_nibbles(ptx_type type, const uint8_t *from, uint32_t count, double *out) {
    for (uint32_t i = 0; i < count; i++) {
        int32_t bits = from[i / 2] >> 4 * (i % 2) & 15;
        out[i] = type == PTX_S4 ? (bits ^ 8) - 8 : bits;
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2,f16c"))) static uint32_t from_halves(const uint16_t *from,
                                                                 uint32_t count, double *out) {
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 eight = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i)));
        _mm256_storeu_pd(out + i, _mm256_cvtps_pd(_mm256_castps256_ps128(eight)));
        _mm256_storeu_pd(out + i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(eight, 1)));
    }
    return i;
}
#else
static uint32_t from_halves(const uint16_t *from, uint32_t count, double *out) {
    (void)from, (void)count, (void)out;
    return 0;
}
#endif

static void take_halves(const uint16_t *from, uint32_t count, double *out) {
    uint32_t done = kcsim_lanes() == &kcsim_lanes_avx2 ? from_halves(from, count, out) : 0;
    for (uint32_t i = done; i < count; i++)
        out[i] = from_half(from[i]);
}

#define EACH(type, value)                                                                          \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        type bits = ((const type *)from)[i];                                                       \
        out[i] = (value);                                                                          \
    }                                                                                              \
    break

void kcsim_elements(ptx_type element, const void *from, uint32_t count, double *out) {
    switch (element) {
    case PTX_F16: take_halves(from, count, out); break;
    case PTX_BF16: EACH(uint16_t, from_bits((uint32_t)bits << 16));
    case PTX_TF32: /* the unit reads ten bits of the fraction */
        EACH(uint32_t, from_bits(bits & 0xffffe000));
    case PTX_F32: EACH(uint32_t, from_bits(bits));
    case PTX_F64: memcpy(out, from, count * sizeof *out); break;
    case PTX_E4M3: EACH(uint8_t, from_e4m3(bits));
    case PTX_E5M2: EACH(uint8_t, from_half((uint16_t)(bits << 8)));
    case PTX_E3M2: EACH(uint8_t, from_e3m2(bits));
    case PTX_E2M3: EACH(uint8_t, from_e2m3(bits));
    case PTX_E2M1: EACH(uint8_t, from_e2m1(bits));
    case PTX_S8: EACH(int8_t, bits);
    case PTX_U8: EACH(uint8_t, bits);
    case PTX_S32: EACH(int32_t, bits);
    case PTX_B1: EACH(uint32_t, bits);
    default: from_nibbles(element, from, count, out); break;
    }
}

/* ---- fragments ---- */

static uint32_t run_of(ptx_type type) {
    uint32_t bits = ptx_types[type].bits;
    return bits == 64 || bits == 1 ? 4 : 4 * (32 / bits);
}

/* Rows or columns of which some lane is not defined. */
static uint32_t quads_undefined(const kcsim_warp *warp, kcsim_ref ref) {
    uint32_t full = warp->full[ref.slot], quads = 0;
    for (uint32_t g = 0; full != UINT32_MAX && g < 8; g++)
        if ((full >> 4 * g & 15) != 15) quads |= 1u << g;
    return quads;
}

void kcsim_tile_take_a(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers, bool halves) {
    uint32_t run = run_of(type);
    double values[256];
    for (uint32_t r = 0; r < registers; r++) {
        uint32_t low = halves ? 8 * (r & 1) : 0, column = run * (halves ? r >> 1 : r);
        kcsim_elements(type, kcsim_at(warp, list[r]), 8 * run, values);
        tile->row_undefined |= quads_undefined(warp, list[r]) << low;
        for (uint32_t g = 0; g < 8; g++)
            for (uint32_t i = 0; i < run; i += 4)
                memcpy(&tile->a[g + low][column + i], values + run * g + i, 4 * sizeof *values);
    }
}

void kcsim_tile_take_b(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers) {
    uint32_t run = run_of(type);
    double values[256];
    for (uint32_t r = 0; r < registers; r++) {
        kcsim_elements(type, kcsim_at(warp, list[r]), 8 * run, values);
        tile->column_undefined |= quads_undefined(warp, list[r]);
        for (uint32_t i = 0; i < run; i++)
            for (uint32_t g = 0; g < 8; g++)
                tile->b[run * r + i][g] = values[run * g + i];
    }
}

/* Eight rows of C, read as memory, are the elements of the lanes one after another. */
void kcsim_tile_take_c(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers) {
    double values[32];
    for (uint32_t r = 0; r < registers; r++) {
        double *sums = type == PTX_F16 ? tile->sum[8 * r] : tile->sum[8 * (r >> 1)] + (r & 1);
        tile->sum_defined[r] = warp->full[list[r].slot];
        if (type == PTX_F16) {
            kcsim_elements(type, kcsim_at(warp, list[r]), 64, sums);
            continue;
        }
        kcsim_elements(type, kcsim_at(warp, list[r]), 32, values);
        for (uint32_t lane = 0; lane < 32; lane++)
            sums[2 * lane] = values[lane];
    }
}

/* ---- products ---- */

typedef double vector __attribute__((vector_size(32), may_alias));

/* A macro, for the compiler takes vectors apart by the target of the function they stand in. */
#define MULTIPLY                                                                                   \
    for (uint32_t row = 0; row < rows; row += 4) {                                                 \
        vector *sums = (vector *)tile->sum[row];                                                   \
        vector s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];                             \
        vector s4 = sums[4], s5 = sums[5], s6 = sums[6], s7 = sums[7];                             \
        for (uint32_t i = 0; i < k; i++) {                                                         \
            const vector *b = (const vector *)tile->b[i];                                          \
            const vector low = b[0], high = b[1];                                                  \
            s0 += tile->a[row][i] * low;                                                           \
            s1 += tile->a[row][i] * high;                                                          \
            s2 += tile->a[row + 1][i] * low;                                                       \
            s3 += tile->a[row + 1][i] * high;                                                      \
            s4 += tile->a[row + 2][i] * low;                                                       \
            s5 += tile->a[row + 2][i] * high;                                                      \
            s6 += tile->a[row + 3][i] * low;                                                       \
            s7 += tile->a[row + 3][i] * high;                                                      \
        }                                                                                          \
        sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;                                    \
        sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;                                    \
    }

static void multiply(kcsim_tile *tile, uint32_t rows, uint32_t k) {
    MULTIPLY
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(kcsim_tile *tile, uint32_t rows,
                                                          uint32_t k) {
    MULTIPLY
}
#endif

static void multiply_fused(kcsim_tile *tile, uint32_t rows, uint32_t k) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t column = 0; column < 8; column++)
                tile->sum[row][column] =
                    fma(tile->a[row][i], tile->b[i][column], tile->sum[row][column]);
}

void kcsim_tile_multiply(kcsim_tile *tile, uint32_t rows, uint32_t k, bool is_double) {
    if (is_double) {
        multiply_fused(tile, rows, k);
        return;
    }
#if defined(__x86_64__)
    if (kcsim_lanes() == &kcsim_lanes_avx2) {
        multiply_avx2(tile, rows, k);
        return;
    }
#endif
    multiply(tile, rows, k);
}

void kcsim_tile_count(kcsim_tile *tile, uint32_t rows, uint32_t words, bool is_xor) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < 8; column++)
            for (uint32_t i = 0; i < words; i++) {
                uint32_t a = (uint32_t)tile->a[row][i], b = (uint32_t)tile->b[i][column];
                tile->sum[row][column] += __builtin_popcount(is_xor ? a ^ b : a & b);
            }
}

/* ---- results ---- */

/* Normal halves are rounded by hand: 42 bits of the fraction go, half of their unit and the last
 * bit that stays decide. */
static bool quick_half(double sum, uint64_t *half) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    uint64_t exponent = bits >> 52 & 0x7ff;
    if ((exponent < 1009 || exponent >= 1023 + 15) && bits << 1) return false;
    *half = bits >> 48 & 0x8000;
    if (!(bits << 1)) return true;
    uint64_t magnitude = (bits & INT64_MAX) - ((uint64_t)1008 << 52);
    *half |= (magnitude + ((uint64_t)1 << 41) - 1 + (magnitude >> 42 & 1)) >> 42;
    return true;
}

static uint64_t result_of(ptx_type type, double sum, bool saturate) {
    uint64_t half;
    if (type == PTX_F16 && quick_half(sum, &half)) return half;
    if (type != PTX_S32) return kcsim_encode(type, sum, PTX_M_RN);
    if (saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(int64_t)sum;
}

/* False when there is a NaN, whose bits are another matter. */
static bool give_floats(const double *sums, uint32_t out[32]) {
    float values[32];
    int numbers = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        values[lane] = (float)sums[2 * lane];
        numbers += values[lane] == values[lane];
    }
    memcpy(out, values, sizeof values);
    return numbers == 32;
}

static void give_register(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, bool saturate,
                          kcsim_ref d, uint32_t first, uint32_t mask) {
    const double *sums = tile->sum[8 * (first >> 1)] + (first & 1);
    uint64_t wide[32];
    uint32_t narrow[32];
    bool done = type == PTX_F32 && give_floats(sums, narrow);
    for (uint32_t lane = 0; !done && lane < 32; lane++) {
        wide[lane] = result_of(type, sums[2 * lane], saturate);
        if (type == PTX_F16) wide[lane] |= result_of(type, sums[2 * lane + 1], false) << 16;
        narrow[lane] = (uint32_t)wide[lane];
    }
    if (type == PTX_F64) kcsim_put(warp, d, wide, 8, mask);
    else kcsim_put(warp, d, narrow, 4, mask);
}

/* An element of D depends on its row of A, its column of B and its C. */
static void define_register(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, kcsim_ref d,
                            uint32_t c_defined, uint32_t first, uint32_t mask) {
    if (!tile->row_undefined && !tile->column_undefined && (c_defined & mask) == mask) {
        kcsim_set_defined(warp, d, mask, UINT32_MAX);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint32_t row = lane / 4 + 8 * (first >> 1), column = 2 * (lane % 4) + (first & 1);
        uint64_t part = type == PTX_F16 ? 0xffff : UINT64_MAX, known = 0;
        if (!(tile->column_undefined >> column & 1)) known |= part;
        if (type == PTX_F16 && !(tile->column_undefined >> (column + 1) & 1)) known |= part << 16;
        if (!(c_defined >> lane & 1) || tile->row_undefined >> row & 1) known = 0;
        kcsim_set_defined_bits(warp, d, lane, type == PTX_F64 ? 8 : 4, known);
    }
}

void kcsim_tile_give(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, bool saturate,
                     const kcsim_ref *list, uint32_t registers, uint32_t mask) {
    uint32_t each = type == PTX_F16 ? 2 : 1;
    for (uint32_t r = 0; r < registers; r++) {
        give_register(tile, warp, type, saturate, list[r], r * each, mask);
        if (warp->block->launch->track)
            define_register(tile, warp, type, list[r], tile->sum_defined[r], r * each, mask);
    }
}
