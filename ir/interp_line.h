// Sums and products of floats that grow by one term after the other, with the error bound that
// holds whatever the order an implementation adds or multiplies in.
//
// Of n summands the error is at most (n - 1) u sum |x|, u being half an ulp relative (Rump 2012:
// without higher terms); errors of the summands add up. Of n factors the relative error is
// (1 + u)^(n - 1) - 1, and each rounding to a denormal, 2^-150 at most in f32, may be multiplied by
// all larger factors that follow. Sums of which every partial sum is representable are exact: small
// integers, halves and the like.
#ifndef KC_IR_INTERP_LINE_H
#define KC_IR_INTERP_LINE_H

#include "ir/interp_number.h"

typedef struct {
    int64_t n;
    double sum;          // starts at 0, or at -0 if a sum of negative zeros shall be one
    double size, errors; // sum of |x|; of the bounds
    int last_bit;        // all x are multiples of 2^last_bit, while any is set
    bool any, special, positive, negative, other; // other: than -0
} kc_summands;

void kc_summands_add(kc_summands *, double v, double e);
kc_number kc_summands_sum(const kc_summands *, const kc_precision *); // of at least one term

typedef struct {
    int64_t n;
    double product, reach, growth, shrink; // start at 1: KC_NO_FACTORS
    bool special, open, infinite;
} kc_factors;

#define KC_NO_FACTORS ((kc_factors){.product = 1, .reach = 1, .growth = 1, .shrink = 1})

void kc_factors_add(kc_factors *, double v, double e);
kc_number kc_factors_product(const kc_factors *, const kc_precision *); // of at least one factor

#endif
