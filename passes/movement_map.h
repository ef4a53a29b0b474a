// Facts about movement ops that several passes need.
#ifndef KC_PASSES_MOVEMENT_MAP_H
#define KC_PASSES_MOVEMENT_MAP_H

#include "ir/ir.h"

// How the dimensions of a reshape's operand and result fall into groups of equal product; a group may be empty on one side,
// where the other has extents of 1. At most 2 * KC_MAX_RANK.
typedef struct {
    int from_begin, from_end, to_begin, to_end;
} kc_reshape_group;
int kc_reshape_groups(kc_expr_pool *, const kc_type *from, const kc_type *to, kc_reshape_group *);
const kc_expr *kc_reshape_product(kc_expr_pool *, const kc_type *, int begin,
                                  int end); // of extents

// A bijection that keeps innermost neighbours together: what is computed in the order of its operand may be stored in the
// order of its result.
bool kc_movement_keeps_rows(const kc_op *);
// The same bijection, perhaps of another value.
bool kc_movement_same(kc_expr_pool *, const kc_op *, const kc_op *);

#endif
