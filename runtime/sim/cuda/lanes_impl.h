/* The body of the lane kernels. Included once a host instruction set, by lanes_base.c and
 * lanes_avx2.c, which define LANES_TABLE (the name of the table) before. Everything here is static.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef LANES_VECTOR
#include <immintrin.h>
#endif

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

#ifdef LANES_VECTOR
#define FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMAF(a, b, c) fmaf(a, b, c)
#endif

/* ---- integer helpers ------------------------------------------------------------------------- */

static inline int32_t clamp_s32(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

static inline int64_t signed24(uint32_t value) {
    return (int32_t)(value << 8) >> 8;
}

static inline uint64_t join(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

static inline uint32_t highest(uint64_t value) {
    return value ? 63 - (uint32_t)__builtin_clzll(value) : UINT32_MAX;
}

static inline uint32_t reverse32(uint32_t value) {
    value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
    value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
    value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(value);
}

/* bfe: position and length are their low bytes; bits past the top read as 0, or as the sign of the
 * last one. */
static inline uint64_t field(uint64_t value, uint32_t position, uint32_t length, uint32_t width,
                             bool is_signed) {
    position &= 0xff;
    length &= 0xff;
    if (length == 0) return 0;
    uint32_t top = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    uint64_t sign = is_signed && value >> top & 1 ? ~(uint64_t)0 : 0;
    if (position >= width) return sign;
    uint32_t kept = top - position + 1;
    uint64_t mask = kept == 64 ? ~(uint64_t)0 : ((uint64_t)1 << kept) - 1;
    return (value >> position & mask) | (sign & ~mask);
}

static inline uint64_t insert(uint64_t from, uint64_t into, uint32_t position, uint32_t length,
                              uint32_t width) {
    position &= 0xff;
    length &= 0xff;
    if (position >= width || length == 0) return into;
    if (length > width - position) length = width - position;
    uint64_t mask = (length == 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1) << position;
    return (into & ~mask) | (from << position & mask);
}

/* prmt: a nibble picks a byte of eight; its top bit asks for that byte's sign eight times. */
static inline uint32_t permute(uint64_t bytes, uint32_t selector) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick = selector >> 4 * i & 0xf;
        uint32_t byte = (uint32_t)(bytes >> 8 * (pick & 7)) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

static inline uint32_t backward4(uint32_t from) {
    return from | ((from - 1) & 7) << 4 | ((from - 2) & 7) << 8 | ((from - 3) & 7) << 12;
}

static inline uint32_t clamp_left(uint32_t from) {
    static const uint32_t selectors[] = {0x3210, 0x3211, 0x3222, 0x3333};
    return selectors[from];
}

static inline uint32_t clamp_right(uint32_t from) {
    static const uint32_t selectors[] = {0x0000, 0x1110, 0x2210, 0x3210};
    return selectors[from];
}

static inline uint32_t table3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        result |= term & (0 - (table >> i & 1));
    }
    return result;
}

static inline uint32_t bit_mask(uint32_t start, uint32_t length, bool clamp) {
    if (clamp && start > 31) return 0;
    uint32_t ones = length > 31 ? UINT32_MAX : (1u << length) - 1;
    return ones << (start & 31);
}

static inline uint32_t byte_of(uint32_t word, uint32_t index, bool is_signed) {
    uint32_t byte = word >> 8 * index & 0xff;
    return is_signed ? (uint32_t)(int8_t)byte : byte;
}

static inline uint32_t dot4(uint32_t a, uint32_t b, bool signed_a, bool signed_b) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum += byte_of(a, i, signed_a) * byte_of(b, i, signed_b);
    return sum;
}

static inline uint32_t dot2(uint32_t a, uint32_t b, bool signed_a, bool signed_b) {
    uint32_t low = a & 0xffff, high = a >> 16;
    if (signed_a) {
        low = (uint32_t)(int16_t)low;
        high = (uint32_t)(int16_t)high;
    }
    return low * byte_of(b, 0, signed_b) + high * byte_of(b, 1, signed_b);
}

/* ---- float helpers --------------------------------------------------------------------------- */

static inline uint32_t bits32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float flush32(float value) {
    uint32_t bits = bits32(value);
    return float32(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

/* A NaN result is always this one on the device. */
static inline float canonical32(float value) {
    return value != value ? float32(0x7fffffffu) : value;
}

/* Which of two NaNs a host's instruction passes on depends on the host: f64 too gets one NaN, the
 * device's CUDART_NAN. */
static inline double canonical64(double value) {
    const uint64_t bits = 0xfff8000000000000u;
    double nan;
    memcpy(&nan, &bits, sizeof nan);
    return value != value ? nan : value;
}

static inline float min32(float a, float b) {
    float least = a < b || (a == b && bits32(a) >> 31) ? a : b;
    least = a != a ? b : least;
    return b != b ? a : least;
}

static inline float max32(float a, float b) {
    float most = a > b || (a == b && bits32(b) >> 31) ? a : b;
    most = a != a ? b : most;
    return b != b ? a : most;
}

/* div.approx is a * (1 / b), and above 2^126 the reciprocal is no normal number. */
static inline float divide_coarsely(float a, float b) {
    float magnitude = fabsf(b);
    bool vanishes = magnitude > 0x1p126f && magnitude <= 0x1.fffffep127f;
    return vanishes ? a * copysignf(0, b) : a / b;
}

/* What rcp and rsqrt .approx.ftz.f64 see of a number and leave of one: its upper 32 bits, no
 * subnormal numbers. */
static inline double upper_half(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffffffff00000000u;
    if (!(bits & 0x7ff0000000000000u)) bits &= 0x8000000000000000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float xorsign32(float a, float b, float magnitude) {
    return magnitude != magnitude
               ? magnitude
               : float32(bits32(magnitude) | ((bits32(a) ^ bits32(b)) & 0x80000000u));
}

/* Double to float rounding to odd: a second rounding, to half precision, is then right. */
static inline float odd_from_double(double value) {
    float nearest = (float)value;
    uint32_t bits = bits32(nearest);
    bool exact = (double)nearest == value || value != value;
    if (exact || bits & 1) return nearest;
    bool too_large = fabs((double)nearest) > fabs(value);
    return float32(too_large ? bits - 1 : bits + 1);
}

/* The same for a sum that a double may not hold: its lost part decides. */
static inline float odd_from_sum(double a, double b) {
    double sum = a + b, part = sum - a;
    double lost = (a - (sum - part)) + (b - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (lost != 0 && lost == lost && !(bits & 1)) {
        bits = (lost > 0) == (sum > 0) ? bits + 1 : bits - 1;
        memcpy(&sum, &bits, sizeof sum);
    }
    return odd_from_double(sum);
}

static inline float from_half(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    if (rest >= 0x7c00) return float32(sign | 0x7f800000u | (rest & 0x3ff) << 13);
    if (rest >= 0x400) return float32(sign | ((rest << 13) + (112u << 23)));
    float value = (float)rest * 0x1p-24f;
    return sign ? -value : value;
}

static inline float flushed_half(uint16_t half) {
    return from_half(half & 0x7c00 ? half : half & 0x8000);
}

static inline uint16_t to_half(float value) {
    uint32_t bits = bits32(value), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) return 0x7fff;
    if (rest >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
    if (rest < 0x38800000u) { /* below the smallest normal: adding 0.5 rounds at the right bit */
        float shifted = float32(rest) + 0.5f;
        return (uint16_t)(sign | (bits32(shifted) - 0x3f000000u));
    }
    rest += 0xfffu + (rest >> 13 & 1);
    return (uint16_t)(sign | ((rest - (112u << 23)) >> 13));
}

static inline float from_bfloat(uint16_t value) {
    return float32((uint32_t)value << 16);
}

static inline uint16_t to_bfloat(float value) {
    uint32_t bits = bits32(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return value != value ? 0x7fff : (uint16_t)rounded;
}

static inline void load_half(float *restrict out, const uint16_t *in, int count) {
#ifdef LANES_VECTOR
    for (int i = 0; i < count; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(in + i))));
#else
    for (int i = 0; i < count; i++)
        out[i] = from_half(in[i]);
#endif
}

static inline void store_half(uint16_t *restrict out, const float *in, int count) {
    for (int i = 0; i < count; i++)
        out[i] = to_half(in[i]);
}

static inline void load_bfloat(float *restrict out, const uint16_t *in, int count) {
    for (int i = 0; i < count; i++)
        out[i] = from_bfloat(in[i]);
}

static inline void store_bfloat(uint16_t *restrict out, const float *in, int count) {
    for (int i = 0; i < count; i++)
        out[i] = to_bfloat(in[i]);
}

/* ---- the kernels, from the rows -------------------------------------------------------------- */

#define SIGNATURE(name)                                                                            \
    static void name(void *restrict dp, const void *ap, const void *bp, const void *cp,            \
                     const void *ep)

#define KERNEL(name, count, D, A, B, C, expression)                                                \
    SIGNATURE(name) {                                                                              \
        D *restrict dv = dp;                                                                       \
        const A *av = ap;                                                                          \
        const B *bv = bp;                                                                          \
        const C *cv = cp;                                                                          \
        const uint32_t *ev = ep;                                                                   \
        for (int i = 0; i < (count); i++) {                                                        \
            A a = av[i];                                                                           \
            B b = bv[i];                                                                           \
            C c = cv[i];                                                                           \
            uint32_t e = ev[i];                                                                    \
            (void)a, (void)b, (void)c, (void)e;                                                    \
            dv[i] = (D)(expression);                                                               \
        }                                                                                          \
    }
#define LANE(op, type, D, A, B, C, expression) KERNEL(op##_##type, 32, D, A, B, C, expression)
#define LANE2(op, type, D, A, B, C, expression) KERNEL(op##_##type, 64, D, A, B, C, expression)
#include "runtime/sim/cuda/lanes_int.def"
#undef LANE
#undef LANE2

#define FLOAT_KERNEL(name, count, ftz, expression)                                                 \
    SIGNATURE(name) {                                                                              \
        float *restrict dv = dp;                                                                   \
        const float *av = ap, *bv = bp, *cv = cp;                                                  \
        (void)ep;                                                                                  \
        for (int i = 0; i < (count); i++) {                                                        \
            float a = (ftz) ? flush32(av[i]) : av[i], b = (ftz) ? flush32(bv[i]) : bv[i];          \
            float c = (ftz) ? flush32(cv[i]) : cv[i];                                              \
            (void)b, (void)c;                                                                      \
            float result = canonical32(expression);                                                \
            dv[i] = (ftz) ? flush32(result) : result;                                              \
        }                                                                                          \
    }
#define FLOAT(op, expression)                                                                      \
    FLOAT_KERNEL(op##_F32, 32, false, expression)                                                  \
    FLOAT_KERNEL(op##_F32_ftz, 32, true, expression)                                               \
    FLOAT_KERNEL(op##_F32X2, 64, false, expression)                                                \
    FLOAT_KERNEL(op##_F32X2_ftz, 64, true, expression)
#define DOUBLE(op, expression) DOUBLE_KERNEL(op##_F64, expression)
#define DOUBLE_KERNEL(name, expression)                                                            \
    SIGNATURE(name) {                                                                              \
        double *restrict dv = dp;                                                                  \
        const double *av = ap, *bv = bp, *cv = cp;                                                 \
        (void)ep;                                                                                  \
        for (int i = 0; i < 32; i++) {                                                             \
            double a = av[i], b = bv[i], c = cv[i];                                                \
            (void)b, (void)c;                                                                      \
            dv[i] = canonical64(expression);                                                       \
        }                                                                                          \
    }
#define HALF_KERNEL(name, count, load, store, expression)                                          \
    SIGNATURE(name) {                                                                              \
        float av[count], bv[count], cv[count], dv[count];                                          \
        (void)ep;                                                                                  \
        load(av, ap, count);                                                                       \
        load(bv, bp, count);                                                                       \
        load(cv, cp, count);                                                                       \
        for (int i = 0; i < (count); i++) {                                                        \
            float a = av[i], b = bv[i], c = cv[i];                                                 \
            (void)b, (void)c;                                                                      \
            dv[i] = expression;                                                                    \
        }                                                                                          \
        store(dp, dv, count);                                                                      \
    }
#define HALF(op, expression)                                                                       \
    HALF_KERNEL(op##_F16, 32, load_half, store_half, expression)                                   \
    HALF_KERNEL(op##_F16X2, 64, load_half, store_half, expression)                                 \
    HALF_KERNEL(op##_BF16, 32, load_bfloat, store_bfloat, expression)                              \
    HALF_KERNEL(op##_BF16X2, 64, load_bfloat, store_bfloat, expression)
#include "runtime/sim/cuda/lanes_float.def"
#undef FLOAT
#undef DOUBLE
#undef HALF

/* Signs are bits: no rounding, no canonical NaN. */
#define SIGN_KERNELS(suffix, count, U, sign)                                                       \
    KERNEL(ABS_##suffix, count, U, U, U, U, a & ~(sign))                                           \
    KERNEL(NEG_##suffix, count, U, U, U, U, a ^ (sign))                                            \
    KERNEL(COPYSIGN_##suffix, count, U, U, U, U, (b & ~(sign)) | (a & (sign)))
SIGN_KERNELS(F16, 32, uint16_t, 0x8000u)
SIGN_KERNELS(F16X2, 64, uint16_t, 0x8000u)
SIGN_KERNELS(F32, 32, uint32_t, 0x80000000u)
SIGN_KERNELS(F64, 32, uint64_t, 0x8000000000000000u)
KERNEL(ABS_F32_ftz, 32, uint32_t, uint32_t, uint32_t, uint32_t,
       a & 0x7f800000u ? a & 0x7fffffffu : 0)
KERNEL(NEG_F32_ftz, 32, uint32_t, uint32_t, uint32_t, uint32_t,
       (a & 0x7f800000u ? a : a & 0x80000000u) ^ 0x80000000u)
KERNEL(FLUSH_F16, 32, uint16_t, uint16_t, uint16_t, uint16_t, a & 0x7c00 ? a : a & 0x8000)
KERNEL(FLUSH_F16X2, 64, uint16_t, uint16_t, uint16_t, uint16_t, a & 0x7c00 ? a : a & 0x8000)
KERNEL(FLUSH_BF16, 32, uint16_t, uint16_t, uint16_t, uint16_t, a & 0x7f80 ? a : a & 0x8000)
KERNEL(FLUSH_BF16X2, 64, uint16_t, uint16_t, uint16_t, uint16_t, a & 0x7f80 ? a : a & 0x8000)

SIGNATURE(FROM_F16_F32) {
    (void)bp, (void)cp, (void)ep;
    float *d = dp;
    load_half(d, ap, 32);
    for (int i = 0; i < 32; i++)
        d[i] = canonical32(d[i]);
}

SIGNATURE(FROM_BF16_F32) {
    (void)bp, (void)cp, (void)ep;
    float *d = dp;
    load_bfloat(d, ap, 32);
    for (int i = 0; i < 32; i++)
        d[i] = canonical32(d[i]);
}

SIGNATURE(FROM_F32_F16) {
    (void)bp, (void)cp, (void)ep;
    store_half(dp, ap, 32);
}

SIGNATURE(FROM_F32_BF16) {
    (void)bp, (void)cp, (void)ep;
    store_bfloat(dp, ap, 32);
}

static const kcsim_lane_row rows[] = {
#define LANE(op, type, D, A, B, C, expression) {KCSIM_LANE_##op, PTX_##type, false, op##_##type},
#define LANE2 LANE
#include "runtime/sim/cuda/lanes_int.def"
#define FLOAT(op, expression)                                                                      \
    {KCSIM_LANE_##op, PTX_F32, false, op##_F32}, {KCSIM_LANE_##op, PTX_F32, true, op##_F32_ftz},   \
        {KCSIM_LANE_##op, PTX_F32X2, false, op##_F32X2},                                           \
        {KCSIM_LANE_##op, PTX_F32X2, true, op##_F32X2_ftz},
#define DOUBLE(op, expression) {KCSIM_LANE_##op, PTX_F64, false, op##_F64},
#define HALF(op, expression)                                                                       \
    {KCSIM_LANE_##op, PTX_F16, false, op##_F16}, {KCSIM_LANE_##op, PTX_F16X2, false, op##_F16X2},  \
        {KCSIM_LANE_##op, PTX_BF16, false, op##_BF16},                                             \
        {KCSIM_LANE_##op, PTX_BF16X2, false, op##_BF16X2},
#include "runtime/sim/cuda/lanes_float.def"
#define SIGNS(suffix, type)                                                                        \
    {KCSIM_LANE_ABS, PTX_##type, false, ABS_##suffix},                                             \
        {KCSIM_LANE_NEG, PTX_##type, false, NEG_##suffix},                                         \
        {KCSIM_LANE_COPYSIGN, PTX_##type, false, COPYSIGN_##suffix},
    SIGNS(F16, F16) SIGNS(F16, BF16) SIGNS(F16X2, F16X2) SIGNS(F16X2, BF16X2) SIGNS(F32, F32)
        SIGNS(F64, F64){KCSIM_LANE_ABS, PTX_F32, true, ABS_F32_ftz},
    {KCSIM_LANE_NEG, PTX_F32, true, NEG_F32_ftz},
    {KCSIM_LANE_FLUSH, PTX_F16, false, FLUSH_F16},
    {KCSIM_LANE_FLUSH, PTX_F16X2, false, FLUSH_F16X2},
    {KCSIM_LANE_FLUSH, PTX_BF16, false, FLUSH_BF16},
    {KCSIM_LANE_FLUSH, PTX_BF16X2, false, FLUSH_BF16X2},
    {KCSIM_LANE_FROM_F16, PTX_F32, false, FROM_F16_F32},
    {KCSIM_LANE_FROM_BF16, PTX_F32, false, FROM_BF16_F32},
    {KCSIM_LANE_FROM_F32, PTX_F16, false, FROM_F32_F16},
    {KCSIM_LANE_FROM_F32, PTX_BF16, false, FROM_F32_BF16},
};

/* ---- comparisons: a byte a lane, then a bit a lane ------------------------------------------- */

#ifdef LANES_VECTOR
static inline uint32_t pack_bits(const uint8_t *flags) {
    __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)flags);
    return (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(all, 7));
}
#else
static inline uint32_t pack_bits(const uint8_t *flags) {
    uint32_t mask = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * i, 8);
        mask |= (uint32_t)((eight & 0x0101010101010101u) * 0x0102040810204080u >> 56) << 8 * i;
    }
    return mask;
}
#endif

#define COMPARE_KERNEL(name, T, LOAD, expression)                                                  \
    static uint32_t name(const void *ap, const void *bp) {                                         \
        const T *av = ap, *bv = bp;                                                                \
        uint8_t flags[32];                                                                         \
        for (int i = 0; i < 32; i++) {                                                             \
            __typeof__(LOAD(av[0])) a = LOAD(av[i]), b = LOAD(bv[i]);                              \
            flags[i] = (expression);                                                               \
        }                                                                                          \
        return pack_bits(flags);                                                                   \
    }
#define COMPARES_ORDERED(suffix, T, LOAD)                                                          \
    COMPARE_KERNEL(EQ_##suffix, T, LOAD, a == b)                                                   \
    COMPARE_KERNEL(LT_##suffix, T, LOAD, a < b)                                                    \
    COMPARE_KERNEL(LE_##suffix, T, LOAD, a <= b)                                                   \
    COMPARE_KERNEL(GT_##suffix, T, LOAD, a > b)                                                    \
    COMPARE_KERNEL(GE_##suffix, T, LOAD, a >= b)
#define COMPARES_INTEGER(suffix, T)                                                                \
    COMPARES_ORDERED(suffix, T, )                                                                  \
    COMPARE_KERNEL(NE_##suffix, T, , a != b)
/* `ne` is false where one is NaN; the forms ending in u are true there. */
#define COMPARES_FLOAT(suffix, T, LOAD)                                                            \
    COMPARES_ORDERED(suffix, T, LOAD)                                                              \
    COMPARE_KERNEL(NE_##suffix, T, LOAD, a<b || a> b)                                              \
    COMPARE_KERNEL(EQU_##suffix, T, LOAD, !(a < b || a > b))                                       \
    COMPARE_KERNEL(NEU_##suffix, T, LOAD, a != b)                                                  \
    COMPARE_KERNEL(LTU_##suffix, T, LOAD, !(a >= b))                                               \
    COMPARE_KERNEL(LEU_##suffix, T, LOAD, !(a > b))                                                \
    COMPARE_KERNEL(GTU_##suffix, T, LOAD, !(a <= b))                                               \
    COMPARE_KERNEL(GEU_##suffix, T, LOAD, !(a < b))                                                \
    COMPARE_KERNEL(NUM_##suffix, T, LOAD, a == a && b == b)                                        \
    COMPARE_KERNEL(NAN_##suffix, T, LOAD, a != a || b != b)

COMPARES_INTEGER(U16, uint16_t)
COMPARES_INTEGER(S16, int16_t)
COMPARES_INTEGER(U32, uint32_t)
COMPARES_INTEGER(S32, int32_t)
COMPARES_INTEGER(U64, uint64_t)
COMPARES_INTEGER(S64, int64_t)
COMPARES_FLOAT(F32, float, )
COMPARES_FLOAT(F32_ftz, float, flush32)
COMPARES_FLOAT(F64, double, )
COMPARES_FLOAT(F16, uint16_t, from_half)
COMPARES_FLOAT(F16_ftz, uint16_t, flushed_half)
COMPARES_FLOAT(BF16, uint16_t, from_bfloat)

#define ROW(compare, suffix, type, ftz)                                                            \
    { PTX_M_##compare, PTX_##type, ftz, compare##_##suffix }
#define ROWS_INTEGER(suffix, type)                                                                 \
    ROW(EQ, suffix, type, false), ROW(NE, suffix, type, false), ROW(LT, suffix, type, false),      \
        ROW(LE, suffix, type, false), ROW(GT, suffix, type, false), ROW(GE, suffix, type, false),
#define ROWS_FLOAT(suffix, type, ftz)                                                              \
    ROW(EQ, suffix, type, ftz), ROW(NE, suffix, type, ftz), ROW(LT, suffix, type, ftz),            \
        ROW(LE, suffix, type, ftz), ROW(GT, suffix, type, ftz), ROW(GE, suffix, type, ftz),        \
        ROW(EQU, suffix, type, ftz), ROW(NEU, suffix, type, ftz), ROW(LTU, suffix, type, ftz),     \
        ROW(LEU, suffix, type, ftz), ROW(GTU, suffix, type, ftz), ROW(GEU, suffix, type, ftz),     \
        ROW(NUM, suffix, type, ftz), ROW(NAN, suffix, type, ftz),

#pragma push_macro("NAN")
#undef NAN
static const kcsim_compare_row compares[] = {
    ROWS_INTEGER(U16, U16) ROWS_INTEGER(S16, S16) ROWS_INTEGER(U32, U32) ROWS_INTEGER(S32, S32)
        ROWS_INTEGER(U64, U64) ROWS_INTEGER(S64, S64) ROWS_FLOAT(F32, F32, false)
            ROWS_FLOAT(F32_ftz, F32, true) ROWS_FLOAT(F64, F64, false) ROWS_FLOAT(F16, F16, false)
                ROWS_FLOAT(F16_ftz, F16, true) ROWS_FLOAT(BF16, BF16, false)};
#pragma pop_macro("NAN")

/* ---- blending by a mask ---------------------------------------------------------------------- */

#define BLEND(U)                                                                                   \
    do {                                                                                           \
        U *dv = d;                                                                                 \
        const U *av = a, *bv = b;                                                                  \
        U result[32];                                                                              \
        for (int i = 0; i < 32; i++) {                                                             \
            U keep = (U)(0 - (U)(mask >> i & 1));                                                  \
            result[i] = (U)((av[i] & keep) | (bv[i] & (U)~keep));                                  \
        }                                                                                          \
        memcpy(dv, result, sizeof result);                                                         \
    } while (0)

static void blend(void *d, const void *a, const void *b, uint32_t mask, unsigned bytes) {
    if (bytes == 4) BLEND(uint32_t);
    else if (bytes == 8) BLEND(uint64_t);
    else if (bytes == 2) BLEND(uint16_t);
    else BLEND(u128);
}

/* Addresses lie below 2^63 or are wrong anyway: signed comparisons, which hosts have for vectors,
 * do. */
static kcsim_span span(const uint64_t *addresses, uint32_t size) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    uint64_t bits = 0, different = 0, sparse = 0, first = addresses[0];
    for (uint64_t i = 0; i < 32; i++) {
        int64_t at = (int64_t)addresses[i];
        low = at < low ? at : low;
        high = at > high ? at : high;
        bits |= addresses[i];
        different |= addresses[i] ^ first;
        sparse |= addresses[i] ^ (first + i * size);
    }
    return (kcsim_span){.low = (uint64_t)low,
                        .high = (uint64_t)high,
                        .bits = bits,
                        .same = !different,
                        .dense = !sparse};
}

const kcsim_lane_table LANES_TABLE = {
    .name = LANES_NAME,
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
    .compares = compares,
    .compare_count = sizeof compares / sizeof compares[0],
    .blend = blend,
    .span = span,
};
