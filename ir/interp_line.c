#include "ir/interp_line.h"

#include <math.h>
#include <string.h>

// ---- sums ---------------------------------------------------------------------------------------

// Position of the lowest set bit of a finite number that is not 0.
static int lowest_bit(double v) {
    uint64_t bits, mantissa;
    memcpy(&bits, &v, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent) mantissa |= UINT64_C(1) << 52;
    else exponent = 1;
    return exponent - 1075 + __builtin_ctzll(mantissa);
}

void kc_summands_add(kc_summands *s, double v, double e) {
    s->n++;
    s->sum += v;
    s->errors += e;
    s->other = s->other || v != 0 || !signbit(v);
    if (!isfinite(v)) {
        s->special = true;
        return;
    }
    s->size += fabs(v);
    s->positive = s->positive || v > 0;
    s->negative = s->negative || v < 0;
    if (v == 0) return;
    int bit = lowest_bit(v);
    if (!s->any || bit < s->last_bit) s->last_bit = bit;
    s->any = true;
}

// All terms are multiples of what half the spacing of floats at the largest partial sum is: no
// partial sum is ever rounded.
static bool never_rounds(const kc_summands *s, const kc_precision *p) {
    int digits = kc_dtype_table[p->type].mantissa_bits + 1, exponent;
    frexp(s->size, &exponent);
    return !s->any || s->last_bit + digits >= exponent;
}

kc_number kc_summands_sum(const kc_summands *s, const kc_precision *p) {
    double size = s->size + s->errors, sum = s->sum;
    if (isinf(s->errors)) return (kc_number){sum, INFINITY};
    if (s->errors == 0 && !s->other) return KC_NUMBER_ZERO; // an implementation may start at +0
    if (s->errors == 0 && !s->special && size < p->overflow && never_rounds(s, p))
        return (kc_number){sum, 0};
    double bound = s->errors + (double)(s->n - 1) * p->unit * size;
    if (size + bound >= p->overflow || isinf(size)) { // some order may overflow on the way
        bool certain =
            !s->special && !(s->positive && s->negative) && fabs(sum) - bound >= p->overflow;
        return (kc_number){fabs(sum) >= p->overflow ? copysign(INFINITY, sum) : sum,
                           certain ? 0 : INFINITY};
    }
    if (s->special) return (kc_number){sum, 0};
    return (kc_number){sum, s->n > 1 ? bound : s->errors};
}

// ---- products -----------------------------------------------------------------------------------

void kc_factors_add(kc_factors *f, double v, double e) {
    double far = fabs(v) + e;
    f->n++;
    f->product *= v;
    f->reach *= far;
    f->growth *= fmax(far, 1);
    f->shrink *= fmin(far, 1);
    f->infinite = f->infinite || isinf(v);
    f->special = f->special || !isfinite(v);
    f->open = f->open || isinf(e);
}

kc_number kc_factors_product(const kc_factors *f, const kc_precision *p) {
    double product = f->product, reach = f->reach, n = (double)f->n;
    bool loose = reach > 0 && reach != fabs(product) &&
                 f->special; // an infinity times what may be 0
    // In some order the others become 0 before they meet the infinity.
    bool vanishes = f->infinite && !isnan(product) && f->shrink < 8 * p->least;
    if (f->open || loose || vanishes) return (kc_number){product, INFINITY};
    if (f->special) return (kc_number){product, 0};
    if (f->growth >= p->overflow) { // some order may overflow on the way
        bool certain = f->shrink == 1 && fabs(product) * (1 - n * 2 * p->unit) -
                                                 (reach - fabs(product)) >=
                                             p->overflow;
        return (kc_number){fabs(product) >= p->overflow ? copysign(INFINITY, product) : product,
                           certain ? 0 : INFINITY};
    }
    if (f->n < 2) return (kc_number){product, reach - fabs(product)};
    double rounding = reach * expm1((n - 1) * log1p(p->unit + p->doubles));
    double bound = reach - fabs(product) + rounding;
    if (reach > 0) bound += n * p->least * f->growth;
    return kc_number_in_range((kc_number){product, isnan(bound) ? INFINITY : bound}, p);
}
