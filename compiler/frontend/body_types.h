// Terms of the body: which type several of them meet in, and how they become tensors of one type
// and shape.
//
// The rules (LANGUAGE: "What has which type"):
//   weak terms (literals, dimensions) take the type that they meet; alone, integers are i64 and
//   reals f32 KEEP        promotion alone: min max clamp where, concat ARITHMETIC  promotion, and
//   floats below f32 become f32 REAL        the same, and integers become f32: `/`, mathematical
//   functions, mean COMPARE     like KEEP, but a literal that the narrow float type does not hold
//   exactly is met in f32
#ifndef KC_COMPILER_FRONTEND_BODY_TYPES_H
#define KC_COMPILER_FRONTEND_BODY_TYPES_H

#include "compiler/frontend/function.h"

typedef enum { KC_MEET_KEEP, KC_MEET_ARITHMETIC, KC_MEET_REAL, KC_MEET_COMPARE } kc_meet;

kc_term kc_term_poison(kc_loc);
kc_term kc_term_tensor(kc_value *, kc_loc);
bool kc_term_any_poison(int n, const kc_term *);
const char *kc_term_text(kc_function *, const kc_term *); // its type, or "a literal"

kc_dtype kc_body_meet(int n, const kc_term *, kc_meet);
// A tensor of type dtype. Weak terms become constants of the given shape (rank 0: scalars). NULL
// after an error: an integer that does not fit.
kc_value *kc_body_materialize(kc_function *, kc_loc, const kc_term *, kc_dtype, int rank,
                              const kc_expr *const *shape);
kc_value *kc_body_broadcast(kc_function *, kc_loc, kc_value *, int rank,
                            const kc_expr *const *shape);
bool kc_body_merge_shapes(kc_function *, kc_loc, const kc_type *a, const kc_type *b, int *rank,
                          const kc_expr **shape);
// An elementwise op on terms that meet in dtype and are broadcast to one shape.
kc_term kc_body_elementwise(kc_function *, kc_loc, kc_opcode, int n, const kc_term *, kc_dtype);

// ---- body_weak.c
kc_term kc_weak_int(kc_loc, const kc_expr *);
kc_term kc_weak_number(kc_function *, kc_loc, double);
// Unary and binary elementwise ops on weak terms give weak terms; poison after an error.
kc_term kc_weak_apply(kc_function *, kc_loc, kc_opcode, int n, const kc_term *);
bool kc_weak_is_number(const kc_term *, double *value); // a literal, integer or real
// A finite number that would be infinity or the largest value in the float type is refused.
bool kc_weak_check_float(kc_function *, kc_loc, double number, kc_dtype);
kc_value *kc_weak_materialize(kc_function *, kc_loc, const kc_term *, kc_dtype, int rank,
                              const kc_expr *const *shape);

// ---- body_elementwise.c
// `spelling`: what messages call it, "exp" or "'+'".
kc_term kc_body_unary(kc_function *, kc_loc, const char *spelling, kc_opcode, kc_term);
kc_term kc_body_binary(kc_function *, kc_loc, const char *spelling, kc_opcode, kc_term, kc_term);

#endif
