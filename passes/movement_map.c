#include "passes/movement_map.h"

#include <string.h>

const kc_expr *kc_reshape_product(kc_expr_pool *pool, const kc_type *type, int begin, int end) {
    const kc_expr *p = kc_expr_const(pool, 1);
    for (int d = begin; d < end; d++)
        p = kc_expr_mul(pool, p, type->shape[d]);
    return p;
}

// The smallest group that starts at (i, j), by the number of dimensions it takes.
static kc_reshape_group next_group(kc_expr_pool *pool, const kc_type *from, const kc_type *to,
                                   int i, int j) {
    for (int taken = 1; taken < from->rank - i + to->rank - j; taken++)
        for (int p = taken; p >= 0; p--) {
            int q = taken - p;
            if (i + p > from->rank || j + q > to->rank) continue;
            if (kc_expr_known_equal(pool, kc_reshape_product(pool, from, i, i + p),
                                    kc_reshape_product(pool, to, j, j + q)))
                return (kc_reshape_group){i, i + p, j, j + q};
        }
    return (kc_reshape_group){i, from->rank, j, to->rank};
}

int kc_reshape_groups(kc_expr_pool *pool, const kc_type *from, const kc_type *to,
                      kc_reshape_group *groups) {
    int n = 0;
    for (int i = 0, j = 0; i < from->rank || j < to->rank; n++) {
        groups[n] = next_group(pool, from, to, i, j);
        i = groups[n].from_end, j = groups[n].to_end;
    }
    return n;
}

bool kc_movement_keeps_rows(const kc_op *op) {
    if (op->code == KC_OP_RESHAPE) return true;
    if (op->code != KC_OP_TRANSPOSE) return false;
    const kc_attr *perm = kc_attr_get(op, KC_ATTR_PERM);
    return perm->count > 0 && perm->integers[perm->count - 1] == perm->count - 1;
}

bool kc_movement_same(kc_expr_pool *pool, const kc_op *a, const kc_op *b) {
    if (a->code != b->code ||
        !kc_type_same_shape(pool, &kc_operand(a, 0)->type, &kc_operand(b, 0)->type))
        return false;
    if (a->code == KC_OP_RESHAPE)
        return kc_type_same_shape(pool, &kc_result(a, 0)->type, &kc_result(b, 0)->type);
    const kc_attr *p = kc_attr_get(a, KC_ATTR_PERM), *q = kc_attr_get(b, KC_ATTR_PERM);
    return memcmp(p->integers, q->integers, sizeof *p->integers * (size_t)p->count) == 0;
}
