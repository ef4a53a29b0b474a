// Element types. Every float format narrower than f32 goes through one decoder and one encoder that
// work on bits, driven by a row per format, so that no result depends on the host's rounding mode,
// on its libm or on whether it has half-precision instructions.
#include "ir/dtype.h"

#include <math.h>
#include <string.h>

const kc_dtype_info kc_dtype_table[KC_DTYPE_COUNT] = {
#define X(name, bits, class, dl_code, dl_bits, exponent, mantissa)                                 \
    [KC_##name] = {#name, bits, KC_CLASS_##class, dl_code, dl_bits, exponent, mantissa},
    KC_DTYPES(X)
#undef X
};

kc_dtype kc_dtype_find(const char *name, size_t length) {
    for (int t = 0; t < KC_DTYPE_COUNT; t++) {
        const char *s = kc_dtype_table[t].name;
        if (strlen(s) == length && memcmp(s, name, length) == 0) return (kc_dtype)t;
    }
    return KC_DTYPE_NONE;
}

// ---- the rules of the model language ------------------------------------------------------------

// The least float that holds every value of both, as NumPy sees it: 16-bit floats for integers of
// up to 8 bits, f32 for i16, f64 for the rest.
static kc_dtype promote_float_integer(kc_dtype f, kc_dtype i) {
    int bits = kc_dtype_table[i].bits;
    if (bits > 16 || f == KC_f64) return KC_f64;
    if (bits > 8 || f == KC_f32) return KC_f32;
    if (f == KC_f8e8m0) return KC_bf16; // its exponents are those of f32
    return kc_dtype_table[f].bits == 16 ? f : KC_f16;
}

static kc_dtype promote_floats(kc_dtype a, kc_dtype b) {
    int wide = kc_dtype_table[a].bits, narrow = kc_dtype_table[b].bits;
    // Two formats that do not hold each other: f16 and bf16, two f8, f16 and f8e8m0.
    return wide == narrow || wide < 16 || (a == KC_f16 && b == KC_f8e8m0) ? KC_f32 : a;
}

static kc_dtype promote_integers(kc_dtype a, kc_dtype b) {
    bool mixed = kc_dtype_table[a].class != kc_dtype_table[b].class;
    return mixed && kc_dtype_table[a].bits == 8 ? KC_i16 : a; // u8 is the only unsigned type
}

kc_dtype kc_dtype_promote(kc_dtype a, kc_dtype b) {
    if (kc_dtype_table[a].bits < kc_dtype_table[b].bits) {
        kc_dtype t = a;
        a = b, b = t;
    }
    if (a == b || b == KC_bool) return a;
    if (a == KC_bool) return b;
    bool float_a = kc_dtype_is_float(a), float_b = kc_dtype_is_float(b);
    if (float_a && float_b) return promote_floats(a, b);
    if (float_a) return promote_float_integer(a, b);
    return float_b ? promote_float_integer(b, a) : promote_integers(a, b);
}

kc_dtype kc_dtype_compute(kc_dtype t) {
    return kc_dtype_is_float(t) && t != KC_f64 ? KC_f32 : t;
}

kc_dtype kc_dtype_accumulate(kc_dtype t) {
    if (kc_dtype_is_float(t)) return t == KC_f64 ? KC_f64 : KC_f32;
    return t == KC_i64 ? KC_i64 : KC_i32;
}

// ---- float formats ------------------------------------------------------------------------------

// What the table of types does not say: the bias, the largest finite code (without sign), and what
// stands above it.
typedef struct {
    int bias;
    unsigned largest;
    enum { IEEE, NAN_ABOVE, NAN_IS_MINUS_ZERO, NO_NAN, POWERS } special;
    bool saturates; // in casts; otherwise overflow gives infinity
} format;

static const format formats[KC_DTYPE_COUNT] = {
    [KC_f16] = {15, 0x7bff, IEEE, false},
    [KC_bf16] = {127, 0x7f7f, IEEE, false},
    [KC_f8e4m3] = {7, 0x7e, NAN_ABOVE, true},
    [KC_f8e5m2] = {15, 0x7b, IEEE, true},
    [KC_f8e4m3fnuz] = {8, 0x7f, NAN_IS_MINUS_ZERO, true},
    [KC_f8e5m2fnuz] = {16, 0x7f, NAN_IS_MINUS_ZERO, true},
    [KC_f8e8m0] = {127, 0xfe, POWERS, true},
    [KC_f4e2m1] = {1, 0x7, NO_NAN, true},
};

static double from_bits(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t to_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

// 2^e for every e that a double has, denormals included.
static double power_of_two(int e) {
    return from_bits(e < -1022 ? UINT64_C(1) << (e + 1074) : (uint64_t)(e + 1023) << 52);
}

// floor(log2(|x|)) of a finite x; of zero, less than any format's least exponent.
static int exponent_of(double x) {
    int e = (int)(to_bits(x) >> 52 & 0x7ff);
    return e != 0 ? e - 1023 : x == 0 ? -1075 : ilogb(x);
}

static double decode(kc_dtype t, unsigned code) {
    const kc_dtype_info *info = &kc_dtype_table[t];
    const format *f = &formats[t];
    if (f->special == POWERS) return code == 0xff ? NAN : power_of_two((int)code - f->bias);
    unsigned sign = code >> (info->bits - 1), magnitude = code & ((1u << (info->bits - 1)) - 1);
    if (f->special == NAN_IS_MINUS_ZERO && sign && magnitude == 0) return NAN;
    if (magnitude > f->largest) {
        bool infinite = f->special == IEEE && magnitude == f->largest + 1;
        return !infinite ? NAN : sign ? -INFINITY : INFINITY;
    }
    int exponent = (int)(magnitude >> info->mantissa_bits);
    unsigned mantissa = magnitude & ((1u << info->mantissa_bits) - 1);
    if (exponent > 0) mantissa |= 1u << info->mantissa_bits;
    else exponent = 1;
    double v = mantissa * power_of_two(exponent - f->bias - info->mantissa_bits);
    return sign ? -v : v;
}

static unsigned nan_code(kc_dtype t) {
    switch (formats[t].special) {
    case IEEE: // quiet
        return formats[t].largest + 1 + (1u << (kc_dtype_table[t].mantissa_bits - 1));
    case NAN_IS_MINUS_ZERO: return 0x80;
    case NO_NAN: return formats[t].largest; // as the hardware's saturating conversions do
    default: return formats[t].largest + 1;
    }
}

// The code of |x|, rounded to nearest even, as if the format had no largest exponent. A code is
// continuous: adding the rounded significand to the exponent field carries into it by itself.
static uint64_t encode_magnitude(kc_dtype t, double x) {
    int mantissa = kc_dtype_table[t].mantissa_bits, bias = formats[t].bias;
    int exponent = exponent_of(x), least = 1 - bias;
    uint64_t bits = to_bits(x) & ((UINT64_C(1) << 52) - 1);
    if (exponent >= -1022) bits |= UINT64_C(1) << 52;
    int field = exponent < least ? 1 : exponent + bias;
    int drop = 52 - mantissa + (exponent < least ? least - exponent : 0);
    if (drop > 54) return 0;
    uint64_t half = UINT64_C(1) << (drop - 1), odd = bits >> drop & 1;
    uint64_t rounded = (bits + half - 1 + odd) >> drop;
    return ((uint64_t)(field - 1) << mantissa) + rounded;
}

// e8m0 holds 2^-127 to 2^127 and no sign: ties go up, zero and less than the least give the least.
static unsigned encode_power(double x) {
    if (x != x || x < 0) return 0xff;
    if (x >= power_of_two(127)) return 0xfe;
    if (x <= power_of_two(-127)) return 0;
    int e = exponent_of(x);
    return (unsigned)(e + 127 + (x >= 1.5 * power_of_two(e)));
}

static unsigned encode(kc_dtype t, double x) {
    const format *f = &formats[t];
    if (f->special == POWERS) return encode_power(x);
    if (x != x) return nan_code(t);
    unsigned sign = (unsigned)(to_bits(x) >> 63) << (kc_dtype_table[t].bits - 1);
    uint64_t code = isinf(x) ? UINT64_MAX : encode_magnitude(t, x);
    if (code > f->largest) code = f->saturates ? f->largest : f->largest + 1;
    if (f->special == NAN_IS_MINUS_ZERO && code == 0) sign = 0;
    return (unsigned)code | sign;
}

// ---- one element --------------------------------------------------------------------------------

static int64_t sign_extend_nibble(unsigned v) {
    return (int64_t)(v & 0xf) - (v & 8 ? 16 : 0);
}

int64_t kc_dtype_load_i64(kc_dtype t, const void *at) {
    int64_t i64;
    int32_t i32;
    int16_t i16;
    switch (t) {
    case KC_i64: memcpy(&i64, at, sizeof i64); return i64;
    case KC_i32: memcpy(&i32, at, sizeof i32); return i32;
    case KC_i16: memcpy(&i16, at, sizeof i16); return i16;
    case KC_i8: return *(const int8_t *)at;
    case KC_u8: return *(const uint8_t *)at;
    case KC_i4: return sign_extend_nibble(*(const uint8_t *)at);
    case KC_bool: return *(const uint8_t *)at != 0;
    default: return kc_dtype_saturate(KC_i64, kc_dtype_load(t, at));
    }
}

double kc_dtype_load(kc_dtype t, const void *at) {
    double f64;
    float f32;
    uint16_t half;
    switch (t) {
    case KC_f64: memcpy(&f64, at, sizeof f64); return f64;
    case KC_f32: memcpy(&f32, at, sizeof f32); return f32;
    case KC_f16:
    case KC_bf16: memcpy(&half, at, sizeof half); return decode(t, half);
    case KC_f4e2m1: return decode(t, *(const uint8_t *)at & 0xf);
    default:
        if (kc_dtype_is_float(t)) return decode(t, *(const uint8_t *)at);
        return (double)kc_dtype_load_i64(t, at);
    }
}

static void store_nibble(void *at, unsigned v) {
    uint8_t *byte = at;
    *byte = (uint8_t)((*byte & 0xf0) | (v & 0xf));
}

// A double that rounds to every float narrower than f64 as v does: bits that do not fit are
// gathered into the last one ("round to odd").
static double sticky_double(int64_t v) {
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, lost = 0;
    int shift = 0;
    for (; u >> 53 != 0; shift++, u >>= 1)
        lost |= u & 1;
    double d = (double)(u | lost) * power_of_two(shift);
    return v < 0 ? -d : d;
}

void kc_dtype_store_i64(kc_dtype t, void *at, int64_t v) {
    switch (t) {
    case KC_i64: memcpy(at, &v, sizeof v); break;
    case KC_i32: memcpy(at, &(uint32_t){(uint32_t)v}, sizeof(uint32_t)); break;
    case KC_i16: memcpy(at, &(uint16_t){(uint16_t)v}, sizeof(uint16_t)); break;
    case KC_i8:
    case KC_u8: *(uint8_t *)at = (uint8_t)v; break;
    case KC_i4: store_nibble(at, (unsigned)v); break;
    case KC_bool: *(uint8_t *)at = v != 0; break;
    case KC_f64: memcpy(at, &(double){(double)v}, sizeof(double)); break;
    default: kc_dtype_store(t, at, sticky_double(v));
    }
}

void kc_dtype_store(kc_dtype t, void *at, double v) {
    switch (t) {
    case KC_f64: memcpy(at, &v, sizeof v); break;
    case KC_f32: memcpy(at, &(float){(float)v}, sizeof(float)); break;
    case KC_f16:
    case KC_bf16: memcpy(at, &(uint16_t){(uint16_t)encode(t, v)}, sizeof(uint16_t)); break;
    case KC_f4e2m1: store_nibble(at, encode(t, v)); break;
    default:
        if (kc_dtype_is_float(t)) *(uint8_t *)at = (uint8_t)encode(t, v);
        else kc_dtype_store_i64(t, at, kc_dtype_saturate(t, v));
    }
}

double kc_dtype_round(kc_dtype t, double v) {
    if (!kc_dtype_is_float(t) || t == KC_f64) return v;
    return t == KC_f32 ? (double)(float)v : decode(t, encode(t, v));
}

double kc_dtype_ulp(kc_dtype t, double v) {
    if (!kc_dtype_is_float(t)) return 1;
    if (v != v) return v;
    int mantissa = kc_dtype_table[t].mantissa_bits, exponent_bits = kc_dtype_table[t].exponent_bits;
    bool wide = t == KC_f64 || t == KC_f32;
    int bias = wide ? (1 << (exponent_bits - 1)) - 1 : formats[t].bias;
    int most = wide ? bias : (int)(formats[t].largest >> mantissa) - bias;
    int least = formats[t].special == POWERS && !wide ? -bias : 1 - bias;
    int e = isinf(v) ? most : exponent_of(v);
    return power_of_two((e < least ? least : e > most ? most : e) - mantissa);
}

int64_t kc_dtype_saturate(kc_dtype t, double v) {
    if (t == KC_bool) return v != 0;
    if (v != v) return 0;
    int bits = kc_dtype_is_integer(t) ? kc_dtype_table[t].bits : 64;
    bool sign = kc_dtype_table[t].class != KC_CLASS_UINT;
    if (sign) bits--;
    double end = power_of_two(bits); // the first value that is too large
    int64_t most = (int64_t)((UINT64_C(1) << bits) - 1), least = sign ? -most - 1 : 0;
    return v >= end ? most : v <= (double)least ? least : (int64_t)v;
}

// ---- arrays -------------------------------------------------------------------------------------

static size_t byte_of(kc_dtype t, int64_t i) {
    return (size_t)(kc_dtype_is_packed(t) ? i / 2 : i * kc_dtype_bytes(t));
}

static unsigned char nibble_of(const void *array, int64_t i) {
    return (unsigned char)(((const unsigned char *)array)[i / 2] >> (i % 2 ? 4 : 0) & 0xf);
}

static void put_nibble(void *array, int64_t i, unsigned v) {
    unsigned char *byte = (unsigned char *)array + i / 2;
    *byte = (unsigned char)(i % 2 ? (*byte & 0x0f) | v << 4 : (*byte & 0xf0) | v);
}

double kc_dtype_get(kc_dtype t, const void *array, int64_t i) {
    unsigned char nibble;
    if (!kc_dtype_is_packed(t)) return kc_dtype_load(t, (const char *)array + byte_of(t, i));
    nibble = nibble_of(array, i);
    return kc_dtype_load(t, &nibble);
}

int64_t kc_dtype_get_i64(kc_dtype t, const void *array, int64_t i) {
    unsigned char nibble;
    if (!kc_dtype_is_packed(t)) return kc_dtype_load_i64(t, (const char *)array + byte_of(t, i));
    nibble = nibble_of(array, i);
    return kc_dtype_load_i64(t, &nibble);
}

static bool keeps_infinity(kc_dtype t, double v) {
    return isinf(v) && formats[t].saturates && formats[t].special == IEEE;
}

void kc_dtype_put(kc_dtype t, void *array, int64_t i, double v) {
    unsigned char nibble = 0, *at = (unsigned char *)array + byte_of(t, i);
    if (kc_dtype_is_packed(t)) {
        kc_dtype_store(t, &nibble, v);
        put_nibble(array, i, nibble);
    } else if (keeps_infinity(t, v)) { // of 8 bits
        *at = (unsigned char)((formats[t].largest + 1) | (v < 0 ? 0x80 : 0));
    } else {
        kc_dtype_store(t, at, v);
    }
}

void kc_dtype_put_i64(kc_dtype t, void *array, int64_t i, int64_t v) {
    unsigned char nibble = 0;
    if (!kc_dtype_is_packed(t)) {
        kc_dtype_store_i64(t, (char *)array + byte_of(t, i), v);
        return;
    }
    kc_dtype_store_i64(t, &nibble, v);
    put_nibble(array, i, nibble);
}

double kc_dtype_represent(kc_dtype t, double v) {
    return keeps_infinity(t, v) ? v : kc_dtype_round(t, v);
}
