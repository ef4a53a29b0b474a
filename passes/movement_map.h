// Facts about movement ops that several passes need.
#ifndef KC_PASSES_MOVEMENT_MAP_H
#define KC_PASSES_MOVEMENT_MAP_H

#include "ir/ir.h"

// How the dimensions of a reshape's operand and result fall into groups of equal product; a group
// may be empty on one side, where the other has extents of 1. At most 2 * KC_MAX_RANK.
typedef struct {
    int from_begin, from_end, to_begin, to_end;
} kc_reshape_group;
int kc_reshape_groups(kc_expr_pool *, const kc_type *from, const kc_type *to, kc_reshape_group *);
// Of the extents of dimensions begin to end - 1.
const kc_expr *kc_reshape_product(kc_expr_pool *, const kc_type *, int begin, int end);

enum { NO_AXIS = -1 };
// Whether the shapes differ by extents of 1 alone: where[d] is then the dimension of `to` that d of
// `from` is, NO_AXIS where its extent is 1.
bool kc_movement_adds_ones(kc_expr_pool *, const kc_type *from, const kc_type *to, int *where);
// The same of a result and the dimensions of a space that are not reduced: axes are the space's.
bool kc_movement_kept_axes(kc_expr_pool *, const kc_type *result, const kc_type *space,
                           const bool *reduced, int *axes);
// An op whose result runs along these axes: those that operand i runs along, NO_AXIS where it
// stays at one place or follows several. For reshapes, transposes, broadcasts, and ops that keep
// every dimension.
void kc_movement_operand_axes(kc_expr_pool *, const kc_op *, int i, const int *axes, int *from);

// A bijection that keeps innermost neighbours together: what is computed in the order of its
// operand may be stored in the order of its result.
bool kc_movement_keeps_rows(const kc_op *);
// The same bijection, perhaps of another value.
bool kc_movement_same(kc_expr_pool *, const kc_op *, const kc_op *);

#endif
