// Building tensor IR: the few combinations that several passes need.
#ifndef KC_PASSES_TENSOR_BUILD_H
#define KC_PASSES_TENSOR_BUILD_H

#include "ir/ir.h"

// A constant with the shape and element type of `like`.
kc_value *kc_tensor_const(kc_builder *, const kc_type *like, double);
// x with `shape`: nothing when it has it, else reshape.
kc_value *kc_tensor_reshape(kc_builder *, kc_value *x, int rank, const kc_expr *const *shape);
kc_value *kc_tensor_broadcast(kc_builder *, kc_value *x, int rank, const kc_expr *const *shape);
// The reduced value repeated along the axes it was reduced over, to the shape of `like`.
kc_value *kc_tensor_spread(kc_builder *, kc_value *reduced, int n_axes, const int64_t *axes,
                           const kc_type *like);
// A reduction whose combiner is one elementwise op.
kc_value *kc_tensor_reduce(kc_builder *, kc_opcode combine, kc_value *x, int n_axes,
                           const int64_t *axes, double init);
// A scan whose combiner is one elementwise op.
kc_value *kc_tensor_scan(kc_builder *, kc_opcode combine, kc_value *x, int64_t axis, double init);
// Number of elements along the axes, as a rank-0 tensor.
kc_value *kc_tensor_count(kc_builder *, const kc_type *, int n_axes, const int64_t *axes, kc_dtype);
kc_type kc_tensor_reduced_type(const kc_type *, int n_axes, const int64_t *axes, kc_dtype,
                               bool keepdims, kc_expr_pool *);

#endif
