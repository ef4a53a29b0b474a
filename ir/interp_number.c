// Each op on numbers with bounds; see interp_number.h for how the bounds are made.
#include "ir/interp_number.h"

#include <math.h>
#include <string.h>

// ---- rounding -----------------------------------------------------------------------------------

kc_precision kc_number_precision(kc_dtype type) {
    switch (type) {
    case KC_f32:
        return (kc_precision){type, 0x1p-24 + 0x1p-53, 0x1p-150, 0x1.ffffffp127, 0x1p-53, false};
    case KC_f16: return (kc_precision){type, 0x1p-11, 0x1p-25, 65520, 0x1p-53, false};
    case KC_bf16: return (kc_precision){type, 0x1p-8, 0x1p-134, 0x1.ffp127, 0x1p-53, false};
    // The reference rounds where an implementation does, so both errors count.
    case KC_f64: return (kc_precision){type, 0x1p-52, 0x1p-1074, INFINITY, 0x1p-53, false};
    default: break;
    }
    // Nothing is computed in narrower types: they are cast to, moved, compared.
    double unit = ldexp(0.5, -kc_dtype_table[type].mantissa_bits);
    return (kc_precision){type, unit, kc_dtype_ulp(type, 0) / 2, INFINITY, 0x1p-53, false};
}

// The power of two at or below |x|; 0 for denormals and 0, infinity for infinity.
static double binade(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0x7ff) << 52;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

static double half_ulp(const kc_precision *p, double x) {
    double half = binade(x) * p->unit;
    return half > p->least ? half : p->least;
}

static kc_number unknown(double v) {
    return (kc_number){v, INFINITY};
}

static kc_number exact(double v) {
    return (kc_number){v, 0};
}

kc_number kc_number_in_range(kc_number x, const kc_precision *p) {
    double size = fabs(x.v);
    if (!(size + x.e >= p->overflow) || isinf(x.v)) return x;
    if (size - x.e >= p->overflow) return exact(copysign(INFINITY, x.v));
    return unknown(size >= p->overflow ? copysign(INFINITY, x.v) : x.v);
}

static double round_to(const kc_precision *p, double v) {
    return p->type == KC_f32 ? (double)(float)v : kc_dtype_round(p->type, v);
}

// Rounding of v is known when the operands are: in f64 the reference did it.
kc_number kc_number_rounded(double v, double spread, const kc_precision *p) {
    if (isnan(v) || isinf(v)) return (kc_number){v, spread == 0 ? 0 : INFINITY};
    if (spread == 0 && fabs(v) < p->overflow) return (kc_number){v, fabs(round_to(p, v) - v)};
    double e = spread + half_ulp(p, fabs(v) + spread);
    if (fabs(v) >= p->overflow) e = spread; // rounding cannot bring it back
    return kc_number_in_range((kc_number){v, isnan(e) ? INFINITY : e}, p);
}

static bool is_narrow(const kc_precision *p) {
    return kc_dtype_bits(p->type) < 16;
}

kc_number kc_number_literal(double v, const kc_precision *p) {
    if (is_narrow(p)) return exact(kc_dtype_represent(p->type, v));
    return kc_number_rounded(v, 0, p);
}

// ---- functions of one operand -------------------------------------------------------------------

// A monotone function, evaluated at the ends of the operand's interval; `ulps` of its own.
static kc_number monotone(kc_number x, double (*f)(double), double ulps, const kc_precision *p) {
    double v = f(x.v), spread = 0;
    if (x.e > 0) {
        double low = f(x.v - x.e), high = f(x.v + x.e);
        if (isnan(low) != isnan(v) || isnan(high) != isnan(v)) return unknown(v);
        if (isnan(v) || (isinf(v) && low == v && high == v)) return exact(v);
        spread = fmax(fabs(high - v), fabs(low - v));
        if (spread > 0) spread += 4 * p->doubles * fabs(v);
    }
    if (isnan(v) || isinf(v)) return (kc_number){v, spread == 0 ? 0 : INFINITY};
    // A function of f64 is as good as the C library's, which is within an ulp.
    double own = (2 * ulps + (p->type == KC_f64 ? 1 : 0)) * half_ulp(p, fabs(v) + spread);
    return kc_number_in_range((kc_number){v, spread + own}, p);
}

static double inverse_root(double x) {
    return 1 / sqrt(x);
}

static kc_number op_exp(const kc_number *x, const kc_precision *p) {
    return monotone(*x, exp, 2, p);
}
static kc_number op_exp2(const kc_number *x, const kc_precision *p) {
    return monotone(*x, exp2, 2, p);
}
static kc_number op_log(const kc_number *x, const kc_precision *p) {
    return monotone(*x, log, 2, p);
}
static kc_number op_log2(const kc_number *x, const kc_precision *p) {
    return monotone(*x, log2, 2, p);
}
static kc_number op_rsqrt(const kc_number *x, const kc_precision *p) {
    return monotone(*x, inverse_root, 2, p);
}
static kc_number op_tanh(const kc_number *x, const kc_precision *p) {
    return monotone(*x, tanh, 4, p);
}
static kc_number op_erf(const kc_number *x, const kc_precision *p) {
    return monotone(*x, erf, 4, p);
}

static kc_number op_sqrt(const kc_number *x, const kc_precision *p) {
    if (x->e == 0) return kc_number_rounded(sqrt(x->v), 0, p);
    return monotone(*x, sqrt, 0.5, p);
}

// Steeper than 1 nowhere, and never more than 2 apart.
static kc_number wave(kc_number x, double v, const kc_precision *p) {
    if (isnan(v)) return (kc_number){v, x.e == 0 || isnan(x.v) ? 0 : INFINITY};
    double spread = fmin(x.e, 2);
    return (kc_number){v,
                       spread + (8 + (p->type == KC_f64)) * half_ulp(p, fmin(fabs(v) + spread, 1))};
}

static kc_number op_sin(const kc_number *x, const kc_precision *p) {
    return wave(*x, sin(x->v), p);
}
static kc_number op_cos(const kc_number *x, const kc_precision *p) {
    return wave(*x, cos(x->v), p);
}

// Steps are taken exactly; an interval that holds one covers both sides.
static kc_number step(kc_number x, double (*f)(double)) {
    double v = f(x.v);
    if (x.e == 0 || isnan(v) || isinf(v)) return exact(v);
    return (kc_number){v, fmax(f(x.v + x.e) - v, v - f(x.v - x.e))};
}

static kc_number op_floor(const kc_number *x, const kc_precision *p) {
    return (void)p, step(*x, floor);
}
static kc_number op_ceil(const kc_number *x, const kc_precision *p) {
    return (void)p, step(*x, ceil);
}
static kc_number op_round(const kc_number *x, const kc_precision *p) {
    return (void)p, step(*x, nearbyint);
}

// Of signs alone: exact.
static kc_number op_abs(const kc_number *x, const kc_precision *p) {
    return (void)p, (kc_number){fabs(x->v), x->e};
}
// fnuz types have no negative zero.
static kc_number op_neg(const kc_number *x, const kc_precision *p) {
    return (kc_number){is_narrow(p) ? kc_dtype_represent(p->type, -x->v) : -x->v, x->e};
}

// ---- arithmetic ---------------------------------------------------------------------------------

static bool finite_both(const kc_number *x) {
    return isfinite(x[0].v) && isfinite(x[1].v);
}

// Infinite and NaN operands decide alone.
static kc_number op_add(const kc_number *x, const kc_precision *p) {
    double v = x[0].v + x[1].v;
    return finite_both(x) ? kc_number_rounded(v, x[0].e + x[1].e, p) : exact(v);
}

static kc_number op_sub(const kc_number *x, const kc_precision *p) {
    return op_add((kc_number[]){x[0], {-x[1].v, x[1].e}}, p);
}

// An operand that may be 0 or of either sign.
static bool loose(kc_number x) {
    return x.e > 0 && x.e >= fabs(x.v);
}

static kc_number op_mul(const kc_number *x, const kc_precision *p) {
    double v = x[0].v * x[1].v;
    if (isnan(x[0].v) || isnan(x[1].v)) return exact(v);
    if (!finite_both(x)) return loose(x[0]) || loose(x[1]) ? unknown(v) : exact(v);
    double spread = fabs(x[0].v) * x[1].e + fabs(x[1].v) * x[0].e + x[0].e * x[1].e;
    kc_number r = kc_number_rounded(v, spread, p);
    if (!p->contracted) return r;
    // What goes unrounded into a sum overflows there or not at all; and in f64 it differs from what
    // the reference rounded.
    if (isinf(r.v)) return unknown(r.v);
    if (p->type == KC_f64) r.e += half_ulp(p, v);
    return r;
}

// (a + ea) / (b - eb) - a / b
static kc_number op_div(const kc_number *x, const kc_precision *p) {
    double v = x[0].v / x[1].v;
    if (isnan(x[0].v) || isnan(x[1].v)) return exact(v);
    if (loose(x[1])) return unknown(v);
    if (x[1].v == 0) return loose(x[0]) ? unknown(v) : exact(v);
    if (!finite_both(x)) return exact(v);
    double through = x[1].e > 0 ? fabs(v) * x[1].e : 0; // v may be infinite
    return kc_number_rounded(v, (x[0].e + through) / (fabs(x[1].v) - x[1].e), p);
}

// NumPy's remainder, with the divisor's sign, of a zero too; *moved: fmod's result had the other
// one.
static double remainder_of(double a, double b, bool *moved) {
    double r = fmod(a, b);
    *moved = r != 0 && (r < 0) != (b < 0);
    if (r == 0) return copysign(0, b);
    return *moved ? r + b : r;
}

// The remainder is exact but for the addition of the divisor. Where the quotient's interval holds
// an integer the remainder may be anywhere in its range.
static kc_number op_mod(const kc_number *x, const kc_precision *p) {
    bool moved;
    double v = remainder_of(x[0].v, x[1].v, &moved), q = x[0].v / x[1].v;
    if (x[0].e == 0 && x[1].e == 0) return moved ? kc_number_rounded(v, 0, p) : exact(v);
    if (isnan(x[0].v) || isnan(x[1].v)) return exact(v);
    if (!finite_both(x) || loose(x[1])) return unknown(v);
    double spread = (x[0].e + fabs(q) * x[1].e) / (fabs(x[1].v) - x[1].e);
    double through = x[0].e + (fabs(q) + spread + 1) * x[1].e;
    if (floor(q + spread) != floor(q - spread))
        return (kc_number){v, fabs(x[1].v) + x[1].e + through};
    return kc_number_rounded(v, through, p);
}

// NumPy's floor_divide: (a - fmod(a, b)) / b, then to the integer it nearly is; a zero has the
// quotient's sign. Two roundings, which matter beyond 2^21 in f32.
static kc_number op_floordiv(const kc_number *x, const kc_precision *p) {
    bool moved;
    double a = x[0].v, b = x[1].v;
    if (b == 0 || isnan(a) || isnan(b)) return op_div(x, p);
    double r = fmod(a, b), q = (a - r) / b;
    (void)remainder_of(a, b, &moved);
    double v = nearbyint(moved ? q - 1 : q);
    if (v == 0) v = copysign(0, a / b);
    if (!finite_both(x)) return x[0].e == 0 && x[1].e == 0 ? exact(v) : unknown(v);
    if (loose(x[1])) return unknown(v);
    if (isinf(v)) return kc_number_rounded(v, x[0].e + x[1].e, p);
    double spread = (x[0].e + fabs(a / b) * x[1].e) / (fabs(b) - x[1].e);
    double e = spread > 0 ? fmax(floor(a / b + spread) - v, v - floor(a / b - spread)) : 0;
    if (fabs(v) * p->unit >= 0.125) e += 4 * half_ulp(p, v) + 1;
    return kc_number_in_range((kc_number){v, e}, p);
}

// Monotone in each operand where the base is positive, or keeps its sign under an exact exponent:
// the corners bound it.
static kc_number op_pow(const kc_number *x, const kc_precision *p) {
    kc_number a = x[0], b = x[1];
    double v = pow(a.v, b.v), spread = 0;
    bool whole = b.e == 0 && b.v == floor(b.v);
    if (a.e > 0 || b.e > 0) {
        if (isnan(v) || (loose(a) && !(whole && b.v >= 0)) || (a.v <= 0 && !whole))
            return unknown(v);
        for (int i = 0; i < 4; i++)
            spread =
                fmax(spread, fabs(pow(a.v + (i & 1 ? a.e : -a.e), b.v + (i & 2 ? b.e : -b.e)) - v));
        if (loose(a) && b.v > 0) spread = fmax(spread, fabs(v));
        if (isnan(spread)) return unknown(v);
        spread += 4 * p->doubles * fabs(v);
    }
    if (isnan(v) || isinf(v)) return (kc_number){v, spread == 0 ? 0 : INFINITY};
    double own = (8 + (p->type == KC_f64)) * half_ulp(p, fabs(v) + spread);
    return kc_number_in_range((kc_number){v, spread + own}, p);
}

// max([a], [b]) is [max of the lower ends, max of the upper ends].
static kc_number op_max(const kc_number *x, const kc_precision *p) {
    (void)p;
    if (isnan(x[0].v) || isnan(x[1].v)) return exact(NAN);
    double v = x[0].v > x[1].v || (x[0].v == x[1].v && !signbit(x[0].v)) ? x[0].v : x[1].v;
    if ((x[0].e == 0 && x[1].e == 0) || isinf(v)) return exact(v);
    double high = fmax(x[0].v + x[0].e, x[1].v + x[1].e),
           low = fmax(x[0].v - x[0].e, x[1].v - x[1].e);
    return (kc_number){v, fmax(high - v, v - low)};
}

static kc_number op_min(const kc_number *x, const kc_precision *p) {
    kc_number r = op_max((kc_number[]){{-x[0].v, x[0].e}, {-x[1].v, x[1].e}}, p);
    return (kc_number){-r.v, r.e};
}

// ---- comparisons --------------------------------------------------------------------------------

// Known but for the sign of a zero.
static bool is_known(kc_number x) {
    return x.e == 0 || (x.v == 0 && x.e == KC_NUMBER_ZERO.e);
}

// Certain unless the intervals meet. -1, 0, 1: order; 2: NaN; 3: uncertain.
static int order(const kc_number *x) {
    if (isnan(x[0].v) || isnan(x[1].v)) return 2;
    if (x[0].v == x[1].v && is_known(x[0]) && is_known(x[1])) return 0;
    if (x[0].v + x[0].e < x[1].v - x[1].e) return -1;
    if (x[0].v - x[0].e > x[1].v + x[1].e) return 1;
    return 3;
}

static kc_number answer(const kc_number *x, bool yes, bool certain) {
    certain = certain && !isinf(x[0].e) && !isinf(x[1].e);
    return (kc_number){yes, certain ? 0 : 1};
}

// When intervals only touch from one side, <= or >= may still be certain; that is left uncertain.
static kc_number op_lt(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v < x[1].v, order(x) != 3);
}
static kc_number op_le(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v <= x[1].v, order(x) != 3);
}
static kc_number op_gt(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v > x[1].v, order(x) != 3);
}
static kc_number op_ge(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v >= x[1].v, order(x) != 3);
}
static kc_number op_eq(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v == x[1].v, order(x) != 3);
}
static kc_number op_ne(const kc_number *x, const kc_precision *p) {
    return (void)p, answer(x, x[0].v != x[1].v, order(x) != 3);
}

kc_number_op *kc_number_op_of(kc_opcode code) {
    static kc_number_op *const table[KC_OP_COUNT] = {
        [KC_OP_ABS] = op_abs,     [KC_OP_NEG] = op_neg,
        [KC_OP_SQRT] = op_sqrt,   [KC_OP_RSQRT] = op_rsqrt,
        [KC_OP_EXP] = op_exp,     [KC_OP_EXP2] = op_exp2,
        [KC_OP_LOG] = op_log,     [KC_OP_LOG2] = op_log2,
        [KC_OP_SIN] = op_sin,     [KC_OP_COS] = op_cos,
        [KC_OP_TANH] = op_tanh,   [KC_OP_ERF] = op_erf,
        [KC_OP_FLOOR] = op_floor, [KC_OP_CEIL] = op_ceil,
        [KC_OP_ROUND] = op_round, [KC_OP_ADD] = op_add,
        [KC_OP_SUB] = op_sub,     [KC_OP_MUL] = op_mul,
        [KC_OP_DIV] = op_div,     [KC_OP_FLOORDIV] = op_floordiv,
        [KC_OP_MOD] = op_mod,     [KC_OP_POW] = op_pow,
        [KC_OP_MIN] = op_min,     [KC_OP_MAX] = op_max,
        [KC_OP_LT] = op_lt,       [KC_OP_LE] = op_le,
        [KC_OP_GT] = op_gt,       [KC_OP_GE] = op_ge,
        [KC_OP_EQ] = op_eq,       [KC_OP_NE] = op_ne,
    };
    return table[code];
}

bool kc_number_op_rounds(kc_opcode code) {
    switch (code) {
    case KC_OP_ABS:
    case KC_OP_NEG:
    case KC_OP_FLOOR:
    case KC_OP_CEIL:
    case KC_OP_ROUND:
    case KC_OP_MIN:
    case KC_OP_MAX:
    case KC_OP_LT:
    case KC_OP_LE:
    case KC_OP_GT:
    case KC_OP_GE:
    case KC_OP_EQ:
    case KC_OP_NE: return false;
    default: return true;
    }
}

// The branch taken; where the condition is open, far enough to reach the other one too.
kc_number kc_number_select(kc_integer c, kc_number a, kc_number b) {
    kc_number taken = c.v ? a : b, other = c.v ? b : a;
    if (c.e == 0) return taken;
    double e = fmax(taken.e, fabs(other.v - taken.v) + other.e);
    bool same = (isnan(a.v) && isnan(b.v)) || a.v == b.v;
    if (same) e = fmax(a.e, b.e);
    return (kc_number){taken.v, isnan(e) || isnan(taken.v) != isnan(other.v) ? INFINITY : e};
}

// ---- integers -----------------------------------------------------------------------------------

int64_t kc_integer_wrap(kc_dtype t, int64_t v) {
    switch (t) {
    case KC_i32: return (int32_t)v;
    case KC_i16: return (int16_t)v;
    case KC_i8: return (int8_t)v;
    case KC_u8: return (uint8_t)v;
    case KC_i4: return (int64_t)((uint64_t)v << 60) >> 60;
    case KC_bool: return v & 1;
    default: return v;
    }
}

// Arithmetic wraps. A result that is open and could have wrapped may be anything.
static kc_integer wrapped(uint64_t v, double e, kc_dtype t) {
    kc_integer r = {kc_integer_wrap(t, (int64_t)v), e};
    double half = ldexp(1, kc_dtype_table[t].bits - 1),
           least = t == KC_u8 || t == KC_bool ? 0 : -half, most = least + 2 * half - 1;
    if (e > 0 && ((double)r.v - e < least || (double)r.v + e > most)) r.e = INFINITY;
    return r;
}

static kc_integer int_abs(const kc_integer *x, kc_dtype t) {
    return wrapped(x->v < 0 ? 0 - (uint64_t)x->v : (uint64_t)x->v, x->e, t);
}
static kc_integer int_neg(const kc_integer *x, kc_dtype t) {
    return wrapped(0 - (uint64_t)x->v, x->e, t);
}
static kc_integer int_not(const kc_integer *x, kc_dtype t) {
    return (kc_integer){kc_integer_wrap(t, ~x->v), x->e};
}

static kc_integer int_add(const kc_integer *x, kc_dtype t) {
    return wrapped((uint64_t)x[0].v + (uint64_t)x[1].v, x[0].e + x[1].e, t);
}
static kc_integer int_sub(const kc_integer *x, kc_dtype t) {
    return wrapped((uint64_t)x[0].v - (uint64_t)x[1].v, x[0].e + x[1].e, t);
}

static kc_integer int_mul(const kc_integer *x, kc_dtype t) {
    double e = 0;
    if (x[0].e > 0 || x[1].e > 0)
        e = fabs((double)x[0].v) * x[1].e + fabs((double)x[1].v) * x[0].e + x[0].e * x[1].e;
    return wrapped((uint64_t)x[0].v * (uint64_t)x[1].v, isnan(e) ? INFINITY : e, t);
}

// Ops whose result jumps: open where an operand is.
static kc_integer jumpy(const kc_integer *x, int64_t v, kc_dtype t) {
    return (kc_integer){kc_integer_wrap(t, v), x[0].e > 0 || x[1].e > 0 ? INFINITY : 0};
}

// Division by zero gives an unspecified value.
static kc_integer int_floordiv(const kc_integer *x, kc_dtype t) {
    int64_t a = x[0].v, b = x[1].v;
    if (b == 0) return (kc_integer){0, INFINITY};
    if (b == -1) return jumpy(x, (int64_t)(0 - (uint64_t)a), t);
    return jumpy(x, a / b - (a % b != 0 && (a < 0) != (b < 0)), t);
}

static kc_integer int_mod(const kc_integer *x, kc_dtype t) {
    int64_t a = x[0].v, b = x[1].v;
    if (b == 0) return (kc_integer){0, INFINITY};
    if (b == -1) return jumpy(x, 0, t);
    int64_t r = a % b;
    return jumpy(x, r != 0 && (r < 0) != (b < 0) ? r + b : r, t);
}

// A negative exponent gives 1 / a**n, truncated; of 0 that is a division by zero.
static kc_integer int_pow(const kc_integer *x, kc_dtype t) {
    int64_t n = x[1].v;
    uint64_t base = (uint64_t)x[0].v, r = 1;
    if (n < 0) {
        if (x[0].v == 0) return (kc_integer){0, INFINITY};
        return jumpy(x, x[0].v == 1 ? 1 : x[0].v == -1 ? (n & 1 ? -1 : 1) : 0, t);
    }
    for (; n; n >>= 1, base *= base)
        if (n & 1) r *= base;
    return jumpy(x, (int64_t)r, t);
}

static kc_integer int_max(const kc_integer *x, kc_dtype t) {
    (void)t;
    int64_t v = x[0].v > x[1].v ? x[0].v : x[1].v;
    if (x[0].e == 0 && x[1].e == 0) return (kc_integer){v, 0};
    double high = fmax((double)x[0].v + x[0].e, (double)x[1].v + x[1].e),
           low = fmax((double)x[0].v - x[0].e, (double)x[1].v - x[1].e);
    return (kc_integer){v, fmax(high - (double)v, (double)v - low)};
}

static kc_integer int_min(const kc_integer *x, kc_dtype t) {
    (void)t;
    int64_t v = x[0].v < x[1].v ? x[0].v : x[1].v;
    if (x[0].e == 0 && x[1].e == 0) return (kc_integer){v, 0};
    double high = fmin((double)x[0].v + x[0].e, (double)x[1].v + x[1].e),
           low = fmin((double)x[0].v - x[0].e, (double)x[1].v - x[1].e);
    return (kc_integer){v, fmax(high - (double)v, (double)v - low)};
}

// Of bools a certain operand may decide alone.
static kc_integer int_and(const kc_integer *x, kc_dtype t) {
    if (t == KC_bool && ((x[0].e == 0 && !x[0].v) || (x[1].e == 0 && !x[1].v)))
        return (kc_integer){0, 0};
    kc_integer r = jumpy(x, x[0].v & x[1].v, t);
    if (t == KC_bool && r.e > 0) r.e = 1;
    return r;
}

static kc_integer int_or(const kc_integer *x, kc_dtype t) {
    if (t == KC_bool && ((x[0].e == 0 && x[0].v) || (x[1].e == 0 && x[1].v)))
        return (kc_integer){1, 0};
    kc_integer r = jumpy(x, x[0].v | x[1].v, t);
    if (t == KC_bool && r.e > 0) r.e = 1;
    return r;
}

static kc_integer int_answer(const kc_integer *x, bool yes) {
    bool certain = x[0].e == 0 && x[1].e == 0;
    if (!certain) certain = fabs((double)x[0].v - (double)x[1].v) > x[0].e + x[1].e;
    return (kc_integer){yes, certain ? 0 : 1};
}

static kc_integer int_lt(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v < x[1].v);
}
static kc_integer int_le(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v <= x[1].v);
}
static kc_integer int_gt(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v > x[1].v);
}
static kc_integer int_ge(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v >= x[1].v);
}
static kc_integer int_eq(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v == x[1].v);
}
static kc_integer int_ne(const kc_integer *x, kc_dtype t) {
    return (void)t, int_answer(x, x[0].v != x[1].v);
}

kc_integer_op *kc_integer_op_of(kc_opcode code) {
    static kc_integer_op *const table[KC_OP_COUNT] = {
        [KC_OP_ABS] = int_abs,
        [KC_OP_NEG] = int_neg,
        [KC_OP_NOT] = int_not,
        [KC_OP_ADD] = int_add,
        [KC_OP_SUB] = int_sub,
        [KC_OP_MUL] = int_mul,
        [KC_OP_FLOORDIV] = int_floordiv,
        [KC_OP_MOD] = int_mod,
        [KC_OP_POW] = int_pow,
        [KC_OP_MIN] = int_min,
        [KC_OP_MAX] = int_max,
        [KC_OP_AND] = int_and,
        [KC_OP_OR] = int_or,
        [KC_OP_LT] = int_lt,
        [KC_OP_LE] = int_le,
        [KC_OP_GT] = int_gt,
        [KC_OP_GE] = int_ge,
        [KC_OP_EQ] = int_eq,
        [KC_OP_NE] = int_ne,
    };
    return table[code];
}

kc_integer kc_integer_select(kc_integer c, kc_integer a, kc_integer b) {
    kc_integer taken = c.v ? a : b, other = c.v ? b : a;
    if (c.e == 0) return taken;
    return (kc_integer){taken.v, fmax(taken.e, fabs((double)other.v - (double)taken.v) + other.e)};
}

// ---- casts --------------------------------------------------------------------------------------

static bool widens(kc_dtype from, kc_dtype to) {
    if (from == KC_f8e8m0 && to == KC_f16) return false; // the range is wider
    return to == from || (kc_dtype_bits(to) > kc_dtype_bits(from) && kc_dtype_bits(to) >= 16);
}

// Rounding is monotone: the ends of the interval, rounded, bound what comes out.
kc_number kc_number_to_float(kc_number x, kc_dtype from, kc_dtype to) {
    if (widens(from, to)) return x;
    double v = kc_dtype_round(to, x.v);
    if (isinf(x.e)) return unknown(v);
    if (x.e == 0) return exact(v);
    double low = kc_dtype_round(to, x.v - x.e), high = kc_dtype_round(to, x.v + x.e);
    if (isnan(low) != isnan(v) || isnan(high) != isnan(v)) return unknown(v); // f8e8m0 of either sign
    if (isnan(v) || low == high) return exact(v);
    return (kc_number){v, isinf(low) || isinf(high) ? INFINITY : fmax(high - v, v - low)};
}

kc_integer kc_number_to_integer(kc_number x, kc_dtype to) {
    if (isinf(x.e)) return (kc_integer){kc_dtype_saturate(to, x.v), to == KC_bool ? 1 : INFINITY};
    if (to == KC_bool) return (kc_integer){x.v != 0, loose(x) ? 1 : 0};
    int64_t v = kc_dtype_saturate(to, x.v);
    if (x.e == 0 || isnan(x.v)) return (kc_integer){v, 0};
    double low = (double)kc_dtype_saturate(to, x.v - x.e),
           high = (double)kc_dtype_saturate(to, x.v + x.e);
    return (kc_integer){v, fmax(high - (double)v, (double)v - low)};
}

kc_number kc_integer_to_float(kc_integer x, kc_dtype to) {
    unsigned char cell[8] = {0};
    kc_dtype_store_i64(to, cell, x.v);
    double v = kc_dtype_load(to, cell);
    if (x.e == 0) return exact(v);
    if (to == KC_f8e8m0) return unknown(v);
    return (kc_number){v, x.e + kc_dtype_ulp(to, fabs(v) + x.e)};
}

kc_integer kc_integer_to_integer(kc_integer x, kc_dtype to) {
    if (to != KC_bool) return wrapped((uint64_t)x.v, x.e, to);
    bool open = x.e > 0 && x.e >= fabs((double)x.v);
    return (kc_integer){x.v != 0, open ? 1 : 0};
}
