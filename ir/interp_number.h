// A number and its error bound, and what each elementwise op does to both. For kc_interp alone.
//
// v is the value in exact arithmetic (in double, which is as good for f32), e bounds |what an
// implementation has - v|. e = 0 means that all implementations have exactly v; e = infinity, that
// nothing is known. A zero whose sign depends on the order of a sum has the least e there is.
//
// How the bounds are made. An op maps the intervals of its operands, [v - e, v + e], to an interval
// of results; how far that reaches from the value is the spread. The implementation's own rounding
// comes on top: half an ulp for + - * / sqrt, `ulps` of the language for functions; ulps are those
// of the binade of |v| + spread. If all operands are exact, the rounding error of a correctly
// rounded op is known: |round(v) - v|. Results from overflow on are infinite; where the interval
// reaches there, the bound is infinite.
#ifndef KC_IR_INTERP_NUMBER_H
#define KC_IR_INTERP_NUMBER_H

#include "ir/ir.h"

typedef struct {
    double v, e;
} kc_number;
typedef struct {
    int64_t v;
    double e;
} kc_integer;

// How a float type rounds.
typedef struct {
    kc_dtype type;
    double unit;     // half an ulp is unit * the power of two at or below |x|
    double least;    // half of the smallest denormal
    double overflow; // from here on values round to infinity
    double doubles;  // relative error of the reference itself
    bool contracted; // a product may go into a sum without being rounded first
} kc_precision;

kc_precision kc_number_precision(kc_dtype);
// A sum of nothing but -0: +0 when it was begun with +0.
#define KC_NUMBER_ZERO ((kc_number){0, 0x1p-1074})

typedef kc_number kc_number_op(const kc_number *x, const kc_precision *);
typedef kc_integer kc_integer_op(const kc_integer *x, kc_dtype);

// NULL: the op has no meaning there. Comparisons give 0 or 1 with e = 1 where either is possible.
kc_number_op *kc_number_op_of(kc_opcode);
kc_integer_op *kc_integer_op_of(kc_opcode);
bool kc_number_op_rounds(kc_opcode); // exact operands may give a result with an error

// v, off by `spread` through its operands, correctly rounded.
kc_number kc_number_rounded(double v, double spread, const kc_precision *);
// A literal of that type: what it is rounded to is known.
kc_number kc_number_literal(double v, const kc_precision *);
// Infinity where |v| +- e lies beyond the range of the type; the bound is infinite where the edge
// is inside.
kc_number kc_number_in_range(kc_number, const kc_precision *);
// c ? a : b
kc_number kc_number_select(kc_integer c, kc_number a, kc_number b);
kc_integer kc_integer_select(kc_integer c, kc_integer a, kc_integer b);

// Casts between kinds, to type `to`.
kc_number kc_number_to_float(kc_number, kc_dtype from, kc_dtype to);
kc_integer kc_number_to_integer(kc_number, kc_dtype to);
kc_number kc_integer_to_float(kc_integer, kc_dtype to);
kc_integer kc_integer_to_integer(kc_integer, kc_dtype to);

int64_t kc_integer_wrap(kc_dtype, int64_t);

#endif
