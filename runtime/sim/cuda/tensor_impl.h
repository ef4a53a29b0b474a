/* The body of tensor.h: included once a host instruction set, by tensor.c and tensor_avx2.c, which
 * define TENSOR_TABLE (the name of the table) before. Everything else here is static.
 *
 * Products of the elements that there are have at most 22 bits, and are exact in double: whether
 * they are fused with the sum or not makes no difference to its bits. */
#include <math.h>
#include <string.h>

#include "runtime/sim/cuda/mma.h"

#if defined(__x86_64__)
#include <immintrin.h>
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
    int32_t sign = type == PTX_S4 ? 8 : 0;
    for (uint32_t i = 0; i < count / 2; i++) {
        out[2 * i] = ((from[i] & 15) ^ sign) - sign;
        out[2 * i + 1] = ((from[i] >> 4) ^ sign) - sign;
    }
}

/* Eight at a time; how many that makes. */
static uint32_t take_eights(const uint16_t *from, uint32_t count, double *out) {
    uint32_t i = 0;
#ifdef TENSOR_VECTOR
    for (; i + 8 <= count; i += 8) {
        __m256 eight = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(from + i)));
        _mm256_storeu_pd(out + i, _mm256_cvtps_pd(_mm256_castps256_ps128(eight)));
        _mm256_storeu_pd(out + i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(eight, 1)));
    }
#else
    (void)from, (void)count, (void)out;
#endif
    return i;
}

static void take_halves(const uint16_t *from, uint32_t count, double *out) {
    for (uint32_t i = take_eights(from, count, out); i < count; i++)
        out[i] = from_half(from[i]);
}

#define EACH(type, value)                                                                          \
    for (uint32_t i = 0; i < count; i++) {                                                         \
        type bits = ((const type *)from)[i];                                                       \
        out[i] = (value);                                                                          \
    }                                                                                              \
    break

static void elements(ptx_type element, const void *restrict from, uint32_t count,
                     double *restrict out) {
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

/* The same in `room`, or where they are. */
static const double *numbers_of(ptx_type type, const void *from, uint32_t count, double *room) {
    if (type == PTX_F64) return from;
    elements(type, from, count, room);
    return room;
}

/* ---- transposing: 16 bytes of each of eight rows become columns of eight elements ---- */

static uint32_t bytes_of(ptx_type type) {
    uint32_t bits = ptx_types[type].bits;
    return bits == 1 ? 4 : bits / 8;
}

#if defined(__x86_64__)
typedef __m128i bytes16;

/* Neighbours of `in` side by side, element by element: `low` and `high` are instructions. */
#define PAIR_ROWS(low, high)                                                                       \
    for (uint32_t i = 0; i < 8; i += 2) {                                                          \
        out[i] = low(in[i], in[i + 1]);                                                            \
        out[i + 1] = high(in[i], in[i + 1]);                                                       \
    }
/* Those of rows 0 1 beside those of rows 2 3. */
#define PAIR_PAIRS(low, high)                                                                      \
    for (uint32_t i = 0; i < 4; i++) {                                                             \
        uint32_t from = i / 2 * 4 + i % 2;                                                         \
        in[2 * i] = low(out[from], out[from + 2]);                                                 \
        in[2 * i + 1] = high(out[from], out[from + 2]);                                            \
    }
#define PAIR_FOURS(low, high)                                                                      \
    for (uint32_t i = 0; i < 4; i++) {                                                             \
        out[2 * i] = low(in[i], in[i + 4]);                                                        \
        out[2 * i + 1] = high(in[i], in[i + 4]);                                                   \
    }

static void transpose(uint32_t bytes, const uint8_t *const rows[8], uint8_t *to) {
    bytes16 in[8], out[8];
    for (uint32_t i = 0; i < 8; i++)
        in[i] = _mm_loadu_si128((const bytes16 *)(const void *)rows[i]);
    if (bytes == 1) {
        PAIR_ROWS(_mm_unpacklo_epi8, _mm_unpackhi_epi8)
        PAIR_PAIRS(_mm_unpacklo_epi16, _mm_unpackhi_epi16)
        PAIR_FOURS(_mm_unpacklo_epi32, _mm_unpackhi_epi32)
    } else if (bytes == 2) {
        PAIR_ROWS(_mm_unpacklo_epi16, _mm_unpackhi_epi16)
        PAIR_PAIRS(_mm_unpacklo_epi32, _mm_unpackhi_epi32)
        PAIR_FOURS(_mm_unpacklo_epi64, _mm_unpackhi_epi64)
    } else {
        PAIR_ROWS(_mm_unpacklo_epi32, _mm_unpackhi_epi32)
        PAIR_PAIRS(_mm_unpacklo_epi64, _mm_unpackhi_epi64)
        for (uint32_t i = 0; i < 8; i++)
            out[i] = in[i / 2 + i % 2 * 4];
    }
    memcpy(to, out, sizeof out);
}
#else
static void transpose(uint32_t bytes, const uint8_t *const rows[8], uint8_t *to) {
    for (uint32_t i = 0; i < 16 / bytes; i++)
        for (uint32_t row = 0; row < 8; row++, to += bytes)
            memcpy(to, rows[row] + i * bytes, bytes);
}
#endif

/* Rows `first` .. of B, a column each of `rows`. */
static void take_transposed(kcsim_tile *tile, ptx_type type, const uint8_t *const rows[8],
                            uint32_t first) {
    uint8_t columns[128];
    uint32_t bytes = bytes_of(type);
    transpose(bytes, rows, columns);
    elements(type, columns, 128 / bytes, tile->b[first]);
}

/* Four rows at a time are 128 bytes. */
static void take_rows(kcsim_tile *tile, ptx_type type, const uint8_t *const pieces[16][2]) {
    uint32_t each = 32 / bytes_of(type);
    for (uint32_t row = 0; row < 16; row += 4) {
        uint8_t bytes[128];
        double values[128];
        for (uint32_t i = 0; i < 8; i++)
            memcpy(bytes + 16 * i, pieces[row + i / 2][i % 2], 16);
        elements(type, bytes, 4 * each, values);
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t n = 0; n < each; n += 8)
                memcpy(&tile->a[row + i][n], values + i * each + n, 8 * sizeof *values);
    }
}

static void take_columns(kcsim_tile *tile, ptx_type type, const uint8_t *const rows[2][8]) {
    take_transposed(tile, type, rows[0], 0);
    take_transposed(tile, type, rows[1], 16 / bytes_of(type));
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

static void take_a(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                   const kcsim_ref *list, uint32_t registers, bool halves) {
    uint32_t run = run_of(type);
    double values[256];
    for (uint32_t r = 0; r < registers; r++) {
        uint32_t low = halves ? 8 * (r & 1) : 0, column = run * (halves ? r >> 1 : r);
        const double *from = numbers_of(type, kcsim_at(warp, list[r]), 8 * run, values);
        tile->row_undefined |= quads_undefined(warp, list[r]) << low;
        for (uint32_t g = 0; g < 8; g++)
            for (uint32_t i = 0; i < run; i += 4)
                memcpy(&tile->a[g + low][column + i], from + run * g + i, 4 * sizeof *from);
    }
}

/* Of four bits or 64: number by number. */
static inline void take_b_slowly(kcsim_tile *tile, ptx_type type, const void *from, uint32_t first,
                          uint32_t run) {
    double room[256];
    const double *values = numbers_of(type, from, 8 * run, room);
    for (uint32_t i = 0; i < run; i++)
        for (uint32_t g = 0; g < 8; g++)
            tile->b[first + i][g] = values[run * g + i];
}

static void take_b(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type, const kcsim_ref *list,
                   uint32_t registers) {
    uint32_t run = run_of(type), bits = ptx_types[type].bits;
    for (uint32_t r = 0; r < registers; r++) {
        const uint8_t *from = kcsim_at(warp, list[r]), *rows[8];
        tile->column_undefined |= quads_undefined(warp, list[r]);
        if (bits == 64) take_b_slowly(tile, PTX_F64, from, 4 * r, 4);
        if (bits == 4) take_b_slowly(tile, type, from, run * r, run);
        if (bits == 4 || bits == 64) continue;
        for (uint32_t g = 0; g < 8; g++)
            rows[g] = from + 16 * g;
        take_transposed(tile, type, rows, run * r);
    }
}

/* Two registers side by side: elements 0 and 1 of eight rows. */
#define TAKE_PAIRS(type, value)                                                                    \
    for (uint32_t lane = 0; lane < 32; lane++) {                                                   \
        type bits = ((const type *)even)[lane];                                                    \
        sums[2 * lane] = (value);                                                                  \
        bits = ((const type *)odd)[lane];                                                          \
        sums[2 * lane + 1] = (value);                                                              \
    }                                                                                              \
    break

static void take_pairs(ptx_type type, const void *even, const void *odd, double *restrict sums) {
    switch (type) {
    case PTX_F64: TAKE_PAIRS(double, bits);
    case PTX_F32: TAKE_PAIRS(uint32_t, from_bits(bits));
    default: TAKE_PAIRS(int32_t, bits);
    }
}

/* Eight rows of C, read as memory, are the elements of the lanes one after another. */
static void take_c(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type, const kcsim_ref *list,
                   uint32_t registers) {
    for (uint32_t r = 0; r < registers; r++)
        tile->sum_defined[r] = warp->full[list[r].slot];
    if (type == PTX_F16)
        for (uint32_t r = 0; r < registers; r++)
            elements(type, kcsim_at(warp, list[r]), 64, tile->sum[8 * r]);
    else
        for (uint32_t r = 0; r < registers; r += 2)
            take_pairs(type, kcsim_at(warp, list[r]), kcsim_at(warp, list[r + 1]),
                       tile->sum[4 * r]);
}

/* ---- products ---- */

typedef double vector __attribute__((vector_size(32), may_alias));

/* A macro, for what a function passes vectors in depends on the instruction set. */
#ifdef TENSOR_VECTOR
#define ADD_PRODUCT(sum, a, b)                                                                     \
    sum = (vector)_mm256_fmadd_pd(_mm256_set1_pd(a), (__m256d)(b), (__m256d)(sum))
#else
#define ADD_PRODUCT(sum, a, b) sum += (a) * (b)
#endif

static void multiply_tiles(kcsim_tile *tile, uint32_t rows, uint32_t k) {
    for (uint32_t row = 0; row < rows; row += 4) {
        vector *sums = (vector *)tile->sum[row];
        vector s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
        vector s4 = sums[4], s5 = sums[5], s6 = sums[6], s7 = sums[7];
        for (uint32_t i = 0; i < k; i++) {
            const vector *b = (const vector *)tile->b[i];
            const vector low = b[0], high = b[1];
            ADD_PRODUCT(s0, tile->a[row][i], low);
            ADD_PRODUCT(s1, tile->a[row][i], high);
            ADD_PRODUCT(s2, tile->a[row + 1][i], low);
            ADD_PRODUCT(s3, tile->a[row + 1][i], high);
            ADD_PRODUCT(s4, tile->a[row + 2][i], low);
            ADD_PRODUCT(s5, tile->a[row + 2][i], high);
            ADD_PRODUCT(s6, tile->a[row + 3][i], low);
            ADD_PRODUCT(s7, tile->a[row + 3][i], high);
        }
        sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
        sums[4] = s4, sums[5] = s5, sums[6] = s6, sums[7] = s7;
    }
}

#ifdef TENSOR_VECTOR
static void multiply(kcsim_tile *tile, uint32_t rows, uint32_t k, bool is_double) {
    (void)is_double; /* fused as it is */
    multiply_tiles(tile, rows, k);
}
#else
static void multiply(kcsim_tile *tile, uint32_t rows, uint32_t k, bool is_double) {
    if (!is_double) {
        multiply_tiles(tile, rows, k);
        return;
    }
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t column = 0; column < 8; column++)
                tile->sum[row][column] =
                    fma(tile->a[row][i], tile->b[i][column], tile->sum[row][column]);
}
#endif

/* ---- results ---- */

/* Two halves a lane. Normal ones are rounded by hand: 42 bits of the fraction go, half of their
 * unit and the last bit that stays decide. False when one is not, and not 0. */
static bool give_halves(const double *sums, uint32_t out[32]) {
    uint64_t halves[64], others = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint64_t bits, magnitude;
        memcpy(&bits, &sums[i], sizeof bits);
        magnitude = bits & INT64_MAX;
        uint64_t normal = magnitude - ((uint64_t)1009 << 52) < (uint64_t)(1023 + 15 - 1009) << 52;
        uint64_t fraction = magnitude - ((uint64_t)1008 << 52);
        fraction = (fraction + ((uint64_t)1 << 41) - 1 + (magnitude >> 42 & 1)) >> 42;
        others |= (normal ^ 1) & (magnitude != 0);
        halves[i] = (bits >> 48 & 0x8000) | (normal ? fraction : 0);
    }
    for (uint32_t lane = 0; lane < 32; lane++)
        out[lane] = (uint32_t)(halves[2 * lane] | halves[2 * lane + 1] << 16);
    return !others;
}

/* False when there is a NaN, whose bits are another matter. */
static bool give_floats(const double *restrict sums, float *restrict even, float *restrict odd) {
    int numbers = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        even[lane] = (float)sums[2 * lane];
        odd[lane] = (float)sums[2 * lane + 1];
        numbers += (even[lane] == even[lane]) + (odd[lane] == odd[lane]);
    }
    return numbers == 64;
}

/* The low bits of a sum that an integer of 52 bits was added to are the sum's own. */
static inline uint32_t integer_of(double sum, bool saturate) {
    uint64_t bits;
    if (saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    sum += 0x1.8p52;
    memcpy(&bits, &sum, sizeof bits);
    return (uint32_t)bits;
}

static bool give_integers(const double *restrict sums, bool saturate, uint32_t *restrict even,
                          uint32_t *restrict odd) {
    for (uint32_t lane = 0; lane < 32; lane++) {
        even[lane] = integer_of(sums[2 * lane], saturate);
        odd[lane] = integer_of(sums[2 * lane + 1], saturate);
    }
    return true;
}

static bool give_doubles(const double *restrict sums, double *restrict even,
                         double *restrict odd) {
    uint64_t not_numbers = 0;
    for (uint32_t i = 0; i < 64; i++)
        not_numbers |= sums[i] == sums[i] ? 0 : UINT64_MAX;
    for (uint32_t lane = 0; lane < 32; lane++) {
        even[lane] = sums[2 * lane];
        odd[lane] = sums[2 * lane + 1];
    }
    return !not_numbers;
}

/* One register: of f16 both elements, else those from sums[0] on. */
static void give_slowly(const double *sums, ptx_type type, uint8_t *out) {
    uint32_t bytes = type == PTX_F64 ? 8 : 4;
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t bits = kcsim_encode(type, sums[2 * lane], PTX_M_RN);
        if (type == PTX_F16) bits |= kcsim_encode(type, sums[2 * lane + 1], PTX_M_RN) << 16;
        memcpy(out + bytes * lane, &bits, bytes);
    }
}

/* Eight rows: of f16 one register, else two, with element 0 and element 1. */
static void give_rows(const double *sums, ptx_type type, bool saturate, void *const to[2]) {
    bool done = type == PTX_F64   ? give_doubles(sums, to[0], to[1])
                : type == PTX_F32 ? give_floats(sums, to[0], to[1])
                : type == PTX_F16 ? give_halves(sums, to[0])
                : type == PTX_S32 ? give_integers(sums, saturate, to[0], to[1])
                                  : false;
    if (!done) give_slowly(sums, type, to[0]);
    if (!done && type != PTX_F16) give_slowly(sums + 1, type, to[1]);
}

/* A register itself where all its lanes take part, else room beside it. */
static void *room_for(kcsim_warp *warp, kcsim_ref d, uint32_t mask, void *beside) {
    return mask == warp->live && !kcsim_is_absent(d) ? warp->registers + d.at : beside;
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

static void give(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, bool saturate,
                 const kcsim_ref *list, uint32_t registers, uint32_t mask) {
    uint32_t each = type == PTX_F16 ? 1 : 2, bytes = type == PTX_F64 ? 8 : 4;
    for (uint32_t r = 0; r < registers; r += each) {
        double beside[2][32];
        void *to[2] = {room_for(warp, list[r], mask, beside[0]),
                       room_for(warp, list[r + each - 1], mask, beside[1])};
        give_rows(tile->sum[8 / each * r], type, saturate, to);
        for (uint32_t i = 0; i < each; i++)
            if (to[i] == beside[i]) kcsim_put(warp, list[r + i], beside[i], bytes, mask);
    }
    for (uint32_t r = 0; warp->block->launch->track && r < registers; r++)
        define_register(tile, warp, type, list[r], tile->sum_defined[r], r * (3 - each), mask);
}

/* ---- all of it ---- */

static void mma(kcsim_warp *warp, const kcsim_mma_form *form, const kcsim_ref *list,
                uint32_t mask) {
    const kcsim_ref *a = list + form->d_registers, *b = a + form->a_registers;
    kcsim_tile tile;
    tile.row_undefined = tile.column_undefined = 0;
    take_a(&tile, warp, form->a, a, form->a_registers, form->rows == 16);
    take_b(&tile, warp, form->b, b, form->b_registers);
    take_c(&tile, warp, form->d, b + form->b_registers, form->d_registers);
    if (form->a == PTX_B1) kcsim_tile_count(&tile, form->rows, form->k, form->is_xor);
    else multiply(&tile, form->rows, form->k, form->d == PTX_F64);
    give(&tile, warp, form->d, form->saturate, list, form->d_registers, mask);
}

const kcsim_tensor_table TENSOR_TABLE = {.elements = elements,
                                         .take_a = take_a,
                                         .take_b = take_b,
                                         .take_c = take_c,
                                         .take_rows = take_rows,
                                         .take_columns = take_columns,
                                         .multiply = multiply,
                                         .give = give,
                                         .mma = mma};
