#include "runtime/sim/cuda/convert.h"

#include <math.h>
#include <string.h>

typedef struct float_format {
    int exponent_bits, fraction_bits;
    bool has_infinity;
} float_format;

static float_format format_of(ptx_type type) {
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return (float_format){5, 10, true};
    case PTX_BF16:
    case PTX_BF16X2: return (float_format){8, 7, true};
    case PTX_TF32: return (float_format){8, 10, true};
    case PTX_E4M3X2: return (float_format){4, 3, false};
    case PTX_E5M2X2: return (float_format){5, 2, true};
    case PTX_E2M1X2: return (float_format){2, 1, false};
    case PTX_E2M3X2: return (float_format){2, 3, false};
    case PTX_E3M2X2: return (float_format){3, 2, false};
    case PTX_F64: return (float_format){11, 52, true};
    default: return (float_format){8, 23, true};
    }
}

static bool is_float(ptx_type type) {
    return ptx_types[type].kind == PTX_KIND_FLOAT;
}

static bool is_signed(ptx_type type) {
    return ptx_types[type].kind == PTX_KIND_SINT;
}

/* The largest number of a format without infinity. */
static uint64_t largest_bits(ptx_type type) {
    float_format format = format_of(type);
    if (type == PTX_E4M3X2) return 0x7e; /* above it is the NaN */
    return ((uint64_t)1 << (format.exponent_bits + format.fraction_bits)) - 1;
}

/* All of 16 or 32 bits; tf32 lives in the top of an f32. */
static uint64_t nan_bits(ptx_type type) {
    switch (type) {
    case PTX_E4M3X2:
    case PTX_E5M2X2: return 0x7f;
    case PTX_E2M1X2:
    case PTX_E2M3X2:
    case PTX_E3M2X2: return largest_bits(type); /* there is no NaN: cvt gives the largest number */
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2: return 0x7fff;
    case PTX_F64: return 0x7ff8000000000000;
    default: return 0x7fffffff;
    }
}

/* Whether a significand whose dropped part is `rest` of `unit` goes up in magnitude. */
static bool rounds_up(ptx_modifier round, bool negative, bool odd, uint64_t rest, uint64_t half,
                      bool exact) {
    if (exact) return false;
    switch (round) {
    case PTX_M_RZ: return false;
    case PTX_M_RM: return negative;
    case PTX_M_RP: return !negative;
    case PTX_M_RNA: return rest >= half;
    default: return rest > half || (rest == half && odd);
    }
}

static uint64_t overflow_bits(ptx_type type, float_format format, bool negative,
                              ptx_modifier round) {
    uint64_t largest = (((uint64_t)1 << format.exponent_bits) - 1) << format.fraction_bits;
    bool towards_zero =
        round == PTX_M_RZ || (round == PTX_M_RM && !negative) || (round == PTX_M_RP && negative);
    if (!format.has_infinity) return largest_bits(type); /* PTX converts with satfinite alone */
    return towards_zero ? largest - 1 : largest;
}

/* significand * 2^exponent, exactly, to the format. */
static uint64_t encode(ptx_type type, bool negative, uint64_t significand, int exponent,
                       ptx_modifier round) {
    float_format format = format_of(type);
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t sign = (uint64_t)negative << (format.exponent_bits + format.fraction_bits);
    if (significand == 0) return sign;
    int shift = __builtin_clzll(significand);
    significand <<= shift;
    exponent += 63 - shift; /* value = 1.xxx * 2^exponent, the 1 in bit 63 */
    int kept = format.fraction_bits + 1, biased = exponent + bias;
    if (biased < 1) { /* subnormal: fewer bits are kept */
        kept += biased - 1;
        biased = 0;
    }
    uint64_t quotient = 0, rest = significand, half = (uint64_t)1 << 63;
    if (kept > 0) {
        quotient = significand >> (64 - kept);
        rest = kept == 64 ? 0 : significand << kept;
    } else if (kept < 0) {
        rest = 1; /* far below half of the smallest */
    }
    if (rounds_up(round, negative, quotient & 1, rest, half, rest == 0)) quotient++;
    /* The leading one of a normal number adds one to the exponent field, and so does a carry. */
    uint64_t bits = quotient + ((uint64_t)(biased > 0 ? biased - 1 : 0) << format.fraction_bits);
    uint64_t limit = (((uint64_t)1 << format.exponent_bits) - 1) << format.fraction_bits;
    if (format.has_infinity ? bits >= limit : bits > largest_bits(type))
        bits = overflow_bits(type, format, negative, round);
    return sign | bits;
}

uint64_t kcsim_encode(ptx_type type, double value, ptx_modifier round) {
    float_format format = format_of(type);
    bool negative = signbit(value);
    int scale = type == PTX_TF32 ? 13 : 0;
    if (value != value) return nan_bits(type);
    if (isinf(value)) {
        uint64_t top = (((uint64_t)1 << format.exponent_bits) - 1) << format.fraction_bits;
        if (!format.has_infinity) top = largest_bits(type);
        return ((uint64_t)negative << (format.exponent_bits + format.fraction_bits) | top) << scale;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t significand = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent) significand |= (uint64_t)1 << 52;
    return encode(type, negative, significand, (exponent ? exponent : 1) - 1075, round) << scale;
}

/* Of a normal number. */
static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double kcsim_decode(ptx_type type, uint64_t bits) {
    if (type == PTX_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (type == PTX_UE8M0X2) return bits == 0xff ? NAN : ldexp(1, (int)bits - 127);
    if (type == PTX_TF32) type = PTX_F32;
    if (type == PTX_F32) {
        float number;
        memcpy(&number, &bits, sizeof number);
        if (number == number) return (double)number;
    }
    float_format format = format_of(type);
    uint64_t fraction = bits & (((uint64_t)1 << format.fraction_bits) - 1);
    int field = (int)(bits >> format.fraction_bits & (((uint64_t)1 << format.exponent_bits) - 1));
    int top = (1 << format.exponent_bits) - 1, bias = top / 2;
    bool negative = bits >> (format.exponent_bits + format.fraction_bits) & 1;
    double value;
    if (type == PTX_E4M3X2 ? (bits & 0x7f) == 0x7f
                           : format.has_infinity && field == top && fraction != 0)
        value = NAN;
    else if (field == top && format.has_infinity) value = INFINITY;
    else if (field == 0) value = (double)fraction * power_of_two(1 - bias - format.fraction_bits);
    else
        value = (double)(fraction | (uint64_t)1 << format.fraction_bits) *
                power_of_two(field - bias - format.fraction_bits);
    return negative ? -value : value;
}

static double to_integral(double value, ptx_modifier round) {
    switch (round) {
    case PTX_M_RNI: return nearbyint(value); /* the host rounds to nearest even */
    case PTX_M_RZI: return trunc(value);
    case PTX_M_RMI: return floor(value);
    case PTX_M_RPI: return ceil(value);
    default: return value;
    }
}

static uint64_t low_bits(uint64_t value, int bits) {
    return bits >= 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

static int64_t sign_extend(uint64_t value, int bits) {
    return bits >= 64 ? (int64_t)value : (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* Out of range goes to the nearest limit; NaN is 0, or the top bit where one side has 64 bits. */
static uint64_t float_to_integer(const kcsim_conversion *conversion, double value) {
    int bits = ptx_types[conversion->to].bits;
    bool wide = conversion->from == PTX_F64 || bits == 64;
    if (value != value) return wide ? (uint64_t)1 << (bits - 1) : 0;
    double whole =
        to_integral(value, conversion->round == PTX_M_NONE ? PTX_M_RZI : conversion->round);
    if (is_signed(conversion->to)) {
        double limit = ldexp(1, bits - 1);
        if (whole >= limit) return low_bits(((uint64_t)1 << (bits - 1)) - 1, bits);
        if (whole < -limit) whole = -limit;
        return low_bits((uint64_t)(int64_t)whole, bits);
    }
    if (whole <= 0) return 0;
    if (whole >= ldexp(1, bits)) return low_bits(UINT64_MAX, bits);
    return (uint64_t)whole;
}

static uint64_t integer_to_integer(const kcsim_conversion *conversion, uint64_t value) {
    int bits = ptx_types[conversion->to].bits, from_bits = ptx_types[conversion->from].bits;
    bool negative = is_signed(conversion->from) && sign_extend(value, from_bits) < 0;
    if (is_signed(conversion->from)) value = (uint64_t)sign_extend(value, from_bits);
    if (!conversion->sat) return low_bits(value, bits);
    uint64_t most =
        is_signed(conversion->to) ? ((uint64_t)1 << (bits - 1)) - 1 : low_bits(UINT64_MAX, bits);
    int64_t least = is_signed(conversion->to) ? -(int64_t)most - 1 : 0;
    if (negative)
        return low_bits((uint64_t)((int64_t)value < least ? least : (int64_t)value), bits);
    return value > most ? most : value;
}

static double flush(double value) {
    return fabs(value) < 0x1p-126 ? copysign(0, value) : value;
}

/* ue8m0: a power of two, of the magnitude. Below 2^-127 there is nothing to round up to it; the
 * largest is 2^127, above it is the NaN (cuda_fp8.hpp does the same for hosts). */
static uint64_t to_scale(const kcsim_conversion *conversion, double value) {
    int exponent;
    if (value != value) return 0xff;
    value = fabs(value);
    if (isinf(value)) return conversion->satfinite ? 0xfe : 0xff;
    if (value <= 0x1p-127) return 0;
    bool above = frexp(value, &exponent) > 0.5 && conversion->round == PTX_M_RP;
    int bits = exponent - 1 + 127 + above;
    return (uint64_t)(bits == 0xff && conversion->satfinite ? 0xfe : bits);
}

static uint64_t float_to_float(const kcsim_conversion *conversion, double value) {
    if (conversion->to == PTX_UE8M0X2) return to_scale(conversion, value);
    bool integral = conversion->round >= PTX_M_RNI && conversion->round <= PTX_M_RPI;
    if (integral) value = to_integral(value, conversion->round);
    if (conversion->sat) value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (conversion->relu && signbit(value)) value = value == value ? 0 : value;
    if (conversion->satfinite && isinf(value)) {
        uint64_t infinite = kcsim_encode(conversion->to, value, PTX_M_RN);
        return !format_of(conversion->to).has_infinity
                   ? infinite
                   : infinite - (conversion->to == PTX_TF32 ? 1u << 13 : 1);
    }
    if (conversion->to == PTX_F64) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    uint64_t bits = kcsim_encode(conversion->to, value, integral ? PTX_M_RN : conversion->round);
    bool overflowed = conversion->satfinite && isinf(kcsim_decode(conversion->to, bits));
    return overflowed ? bits - (conversion->to == PTX_TF32 ? 1u << 13 : 1) : bits;
}

static uint64_t convert_one(const kcsim_conversion *conversion, uint64_t source) {
    source = low_bits(source, ptx_types[conversion->from].bits);
    if (is_float(conversion->from)) {
        double value = kcsim_decode(conversion->from, source);
        bool flush_in = conversion->ftz && conversion->from == PTX_F32;
        if (flush_in) value = flush(value);
        if (!is_float(conversion->to)) return float_to_integer(conversion, value);
        if (conversion->from == PTX_F64 && conversion->to == PTX_F64 &&
            conversion->round == PTX_M_NONE && !conversion->sat)
            return source;
        uint64_t bits = float_to_float(conversion, value);
        bool subnormal = conversion->ftz && conversion->to == PTX_F32 && !(bits & 0x7f800000);
        return subnormal ? bits & 0x80000000 : bits;
    }
    if (!is_float(conversion->to)) return integer_to_integer(conversion, source);
    bool negative =
        is_signed(conversion->from) && sign_extend(source, ptx_types[conversion->from].bits) < 0;
    uint64_t magnitude =
        negative ? 0 - (uint64_t)sign_extend(source, ptx_types[conversion->from].bits) : source;
    if (conversion->sat)
        return kcsim_encode(conversion->to, negative || !magnitude ? 0 : 1, PTX_M_RN);
    return encode(conversion->to, negative, magnitude, 0, conversion->round);
}

/* d = {a in the high half, b in the low half}; or both halves of a packed source. */
static uint64_t convert_pair(const kcsim_conversion *conversion, uint64_t first, uint64_t second) {
    int half = ptx_types[conversion->to].bits / 2;
    kcsim_conversion one = *conversion;
    if (ptx_types[conversion->from].kind == PTX_KIND_PACKED) {
        int from_half = ptx_types[conversion->from].bits / 2;
        double low = kcsim_decode(conversion->from, low_bits(first, from_half));
        double high = kcsim_decode(conversion->from, low_bits(first >> from_half, from_half));
        return float_to_float(&one, high) << half | low_bits(float_to_float(&one, low), half);
    }
    double high = kcsim_decode(PTX_F32, low_bits(first, 32)),
           low = kcsim_decode(PTX_F32, low_bits(second, 32));
    if (conversion->ftz) {
        high = flush(high);
        low = flush(low);
    }
    return float_to_float(&one, high) << half | low_bits(float_to_float(&one, low), half);
}

const char *kcsim_conversion_problem(const kcsim_conversion *conversion, bool has_second) {
    ptx_type_kind to = ptx_types[conversion->to].kind, from = ptx_types[conversion->from].kind;
    if (to == PTX_KIND_PACKED) {
        bool pair = conversion->from == PTX_F32 && has_second;
        bool widened = from == PTX_KIND_PACKED && !has_second;
        return pair || widened ? NULL
                               : "a packed result needs two f32 sources or one packed source";
    }
    if (has_second) return "only a packed result has two sources";
    bool numbers = (to == PTX_KIND_UINT || to == PTX_KIND_SINT || to == PTX_KIND_FLOAT) &&
                   (from == PTX_KIND_UINT || from == PTX_KIND_SINT || from == PTX_KIND_FLOAT);
    if (!numbers) return "these types cannot be converted";
    bool integral = conversion->round >= PTX_M_RNI && conversion->round <= PTX_M_RPI;
    bool to_integer = to != PTX_KIND_FLOAT && from == PTX_KIND_FLOAT;
    if (to_integer && !integral) return "a conversion to an integer needs .rni .rzi .rmi or .rpi";
    if (from != PTX_KIND_FLOAT && to == PTX_KIND_FLOAT && (!conversion->round || integral))
        return "a conversion from an integer needs .rn .rz .rm or .rp";
    return NULL;
}

void kcsim_convert(const kcsim_conversion *conversion, void *d, const void *a, const void *b) {
    bool packed = ptx_types[conversion->to].kind == PTX_KIND_PACKED;
    bool extend =
        is_signed(conversion->to) && ptx_types[conversion->to].bits < conversion->to_bytes * 8;
    for (int i = 0; i < 32; i++) {
        uint64_t first = 0, second = 0;
        memcpy(&first, (const char *)a + i * conversion->from_bytes, conversion->from_bytes);
        if (b)
            memcpy(&second, (const char *)b + i * conversion->from_bytes, conversion->from_bytes);
        uint64_t result =
            packed ? convert_pair(conversion, first, second) : convert_one(conversion, first);
        if (extend) result = (uint64_t)sign_extend(result, ptx_types[conversion->to].bits);
        memcpy((char *)d + i * conversion->to_bytes, &result, conversion->to_bytes);
    }
}
