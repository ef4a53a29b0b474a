// Conversions between f32 and the floats of 8 and 4 bits, whose codes are the low bits of an
// integer. They mean what `cast` means; the measure is kc_dtype_store of ir/dtype.h.
//
// To a format: codes are ordered as their magnitudes are. So moving the exponent of an f32, adding
// half a last place and cutting off rounds to nearest even and carries by itself; below the format's
// least normal value a power of two is added instead whose last place is the format's least
// denormal. What comes out above the largest finite code becomes that code, infinities too: casts
// saturate.
// From a format: exponent and mantissa stand where those of an f32 do, and a multiplication by a
// power of two, which is exact, makes up for the other bias. e5m2 is the upper half of an f16.

#include "targets/common/math/kcmath.h"

#define F32_INF 0x7f800000u
#define F32_NAN 0x7fc00000u

typedef enum {
    IEEE, // an infinity above the largest finite code, then NaN
    NAN_ABOVE,
    NAN_IS_MINUS_ZERO,
    NO_NAN,
} Special;

typedef struct {
    uint32_t bits, mantissa, bias, largest;
    Special special;
} Format;

static const Format e4m3 = {8, 3, 7, 0x7e, NAN_ABOVE}, e5m2 = {8, 2, 15, 0x7b, IEEE},
                    e4m3fnuz = {8, 3, 8, 0x7f, NAN_IS_MINUS_ZERO},
                    e5m2fnuz = {8, 2, 16, 0x7f, NAN_IS_MINUS_ZERO}, e2m1 = {4, 1, 1, 0x7, NO_NAN};

// 2^e of a normal f32.
KC_MATH_INLINE float power_of_two(uint32_t biased_exponent) {
    return from_bits_f32(biased_exponent << 23);
}

KC_MATH_INLINE uint32_t nan_code(Format f) {
    return f.special == IEEE                ? f.largest + 3 // quiet: e5m2 is the only one
           : f.special == NAN_ABOVE         ? f.largest + 1
           : f.special == NAN_IS_MINUS_ZERO ? 0x80
                                            : f.largest;
}

KC_MATH_INLINE uint32_t to_code(float x, Format f) {
    uint32_t size = bits_f32(x) & 0x7fffffffu, drop = 23 - f.mantissa;
    uint32_t moved = size - ((127 - f.bias) << 23);
    uint32_t normal = (moved + ((1u << (drop - 1)) - 1) + (size >> drop & 1)) >> drop;
    uint32_t last_place = 128 - f.bias + drop;
    uint32_t denormal =
        bits_f32(from_bits_f32(size) + power_of_two(last_place)) - (last_place << 23);
    uint32_t code = size < (128 - f.bias) << 23 ? denormal : normal;
    code = code > f.largest ? f.largest : code;
    uint32_t sign = bits_f32(x) >> 31 << (f.bits - 1);
    if (f.special == NAN_IS_MINUS_ZERO) sign = code == 0 ? 0 : sign;
    return size > F32_INF ? nan_code(f) : code | sign;
}

KC_MATH_INLINE float from_code(uint32_t code, Format f) {
    uint32_t top = 1u << (f.bits - 1), size = code & (top - 1), sign = (code & top) << (32 - f.bits);
    float value = from_bits_f32(size << (23 - f.mantissa)) * power_of_two(254 - f.bias);
    uint32_t bits = bits_f32(value);
    if (f.special == NAN_ABOVE) bits = size > f.largest ? F32_NAN : bits;
    bits |= sign;
    if (f.special == NAN_IS_MINUS_ZERO) bits = code == 0x80 ? F32_NAN : bits;
    return from_bits_f32(bits);
}

uint32_t kc_math_f8e4m3_of_f32(float x) {
    return to_code(x, e4m3);
}

uint32_t kc_math_f8e5m2_of_f32(float x) {
    return to_code(x, e5m2);
}

uint32_t kc_math_f8e4m3fnuz_of_f32(float x) {
    return to_code(x, e4m3fnuz);
}

uint32_t kc_math_f8e5m2fnuz_of_f32(float x) {
    return to_code(x, e5m2fnuz);
}

uint32_t kc_math_f4e2m1_of_f32(float x) {
    return to_code(x, e2m1);
}

float kc_math_f32_of_f8e4m3(uint32_t code) {
    return from_code(code, e4m3);
}

float kc_math_f32_of_f8e5m2(uint32_t code) {
    uint16_t bits = (uint16_t)(code << 8);
    _Float16 half;
    __builtin_memcpy(&half, &bits, sizeof half);
    return (float)half;
}

float kc_math_f32_of_f8e4m3fnuz(uint32_t code) {
    return from_code(code, e4m3fnuz);
}

float kc_math_f32_of_f8e5m2fnuz(uint32_t code) {
    return from_code(code, e5m2fnuz);
}

float kc_math_f32_of_f4e2m1(uint32_t code) {
    return from_code(code, e2m1);
}

// ---- e8m0 ---------------------------------------------------------------------------------------

// Powers of two from 2^-127 (a denormal f32) to 2^127, no zero, no sign. Ties go up; below the least
// there is the least; negative values give NaN.
uint32_t kc_math_f8e8m0_of_f32(float x) {
    uint32_t bits = bits_f32(x), size = bits & 0x7fffffffu;
    uint32_t half = size < 1u << 23 ? 1u << 21 : 1u << 22; // of 2^-127, 2^-128 is added
    uint32_t code = (size + half) >> 23;
    code = code > 0xfe ? 0xfe : code;
    return size > F32_INF || bits > 0x80000000u ? 0xff : code;
}

float kc_math_f32_of_f8e8m0(uint32_t code) {
    uint32_t bits = code == 0 ? 1u << 22 : code << 23;
    return from_bits_f32(code == 0xff ? F32_NAN : bits);
}
