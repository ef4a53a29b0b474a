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

bool kc_movement_adds_ones(kc_expr_pool *pool, const kc_type *from, const kc_type *to, int *where) {
    int j = 0;
    for (int d = 0; d < from->rank; d++) {
        where[d] = NO_AXIS;
        if (kc_expr_is_one(from->shape[d])) continue;
        while (j < to->rank && kc_expr_is_one(to->shape[j]))
            j++;
        if (j == to->rank || !kc_expr_known_equal(pool, from->shape[d], to->shape[j])) return false;
        where[d] = j++;
    }
    while (j < to->rank && kc_expr_is_one(to->shape[j]))
        j++;
    return j == to->rank;
}

bool kc_movement_kept_axes(kc_expr_pool *pool, const kc_type *result, const kc_type *space,
                           const bool *reduced, int *axes) {
    kc_type kept = {.kind = KC_TYPE_TENSOR, .elem = result->elem};
    int axis_of[KC_MAX_RANK];
    for (int a = 0; a < space->rank; a++)
        if (!reduced[a]) axis_of[kept.rank] = a, kept.shape[kept.rank++] = space->shape[a];
    if (!kc_movement_adds_ones(pool, result, &kept, axes)) return false;
    for (int d = 0; d < result->rank; d++)
        if (axes[d] != NO_AXIS) axes[d] = axis_of[axes[d]];
    return true;
}

// Of a group of several dimensions the innermost runs along the innermost.
static void reshape_axes(kc_expr_pool *pool, const kc_type *x, const kc_type *result,
                         const int *axes, int *from) {
    kc_reshape_group groups[2 * KC_MAX_RANK];
    int n = kc_reshape_groups(pool, x, result, groups);
    for (int d = 0; d < x->rank; d++)
        from[d] = NO_AXIS;
    for (int i = 0; i < n; i++)
        if (groups[i].from_end > groups[i].from_begin && groups[i].to_end > groups[i].to_begin)
            from[groups[i].from_end - 1] = axes[groups[i].to_end - 1];
}

void kc_movement_operand_axes(kc_expr_pool *pool, const kc_op *op, int i, const int *axes,
                              int *from) {
    const kc_type *type = &kc_operand(op, i)->type, *result = &kc_result(op, 0)->type;
    if (op->code == KC_OP_RESHAPE) {
        reshape_axes(pool, type, result, axes, from);
        return;
    }
    const kc_attr *perm = op->code == KC_OP_TRANSPOSE ? kc_attr_get(op, KC_ATTR_PERM) : NULL;
    int before = op->code == KC_OP_BROADCAST ? result->rank - type->rank : 0;
    for (int d = 0; d < type->rank; d++) {
        bool repeated = op->code == KC_OP_BROADCAST && kc_expr_is_one(type->shape[d]);
        from[perm ? perm->integers[d] : d] = repeated ? NO_AXIS : axes[before + d];
    }
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
