// Movement ops after the hero: a product whose columns are split into heads, a softmax seen in
// another shape. A bijection that keeps rows costs nothing when its operand is computed and its
// result is stored, so the fusion goes on behind it: its space is that of the operand, and axes are
// followed forwards through it.
//
// Behind a reshape most dimensions are no axis: a group of several becomes numbers of its own,
// known only to this pass. What is asked for along just these numbers is asked for where the
// operand's axes are.
//
// A result of 4-bit elements is written in pairs of neighbours, which have to be neighbours along
// the axes too.
#include "passes/fuser.h"

#include <string.h>

static void forward_axes(kc_fuser *f, kc_fuse_carried *step) {
    const kc_type *from = &kc_operand(step->op, 0)->type, *to = &kc_result(step->op, 0)->type;
    if (step->op->code == KC_OP_TRANSPOSE) {
        const int64_t *perm = kc_attr_get(step->op, KC_ATTR_PERM)->integers;
        for (int d = 0; d < to->rank; d++)
            step->to[d] = step->from[perm[d]];
        return;
    }
    kc_reshape_group groups[2 * KC_MAX_RANK];
    int n = kc_reshape_groups(f->pool, from, to, groups);
    for (int i = 0; i < n; i++) {
        kc_reshape_group g = groups[i];
        bool alone = g.from_end == g.from_begin + 1 && g.to_end == g.to_begin + 1;
        for (int d = g.to_begin; d < g.to_end; d++)
            step->to[d] = alone                          ? step->from[g.from_begin]
                          : kc_expr_is_one(to->shape[d]) ? NO_AXIS
                                                         : f->next_carried++;
    }
}

static void add(kc_fuser *f, kc_cluster *c, const kc_op *op, const int *from, int *to) {
    kc_fuse_carried *step = KC_NEW(f->pass->scratch, kc_fuse_carried);
    step->op = op;
    memcpy(step->from, from, sizeof step->from);
    forward_axes(f, step);
    step->next = c->carried;
    c->carried = step;
    memcpy(to, step->to, sizeof step->to);
}

static bool has_even_rows(const kc_fuser *f, const kc_type *type) {
    return type->rank > 0 && kc_expr_divisor(f->pool, type->shape[type->rank - 1]) % 2 == 0;
}

static bool may_carry(const kc_fuser *f, const kc_op *op, bool pairs) {
    if (!kc_movement_keeps_rows(op)) return false;
    return !pairs || (has_even_rows(f, &kc_operand(op, 0)->type) &&
                      has_even_rows(f, &kc_result(op, 0)->type));
}

// Elementwise ops may stand between the movement ops, and between them and the result.
static bool find(kc_fuser *f, kc_cluster *c, kc_value *v, int *axes, bool pairs, bool *seen) {
    kc_op *op = v->def;
    if (!op || kc_fuse_is_cut(f, v) || seen[op->order]) return false;
    seen[op->order] = true;
    if (may_carry(f, op, pairs)) {
        int from[KC_MAX_RANK] = {0};
        kc_value *x = kc_operand(op, 0);
        if (kc_fuse_is_cut(f, x) ||
            (!kc_fuse_find_hero(f, c, x, from) && !find(f, c, x, from, pairs, seen)))
            return false;
        add(f, c, op, from, axes);
        return true;
    }
    if (!kc_op_has(op, KC_ELEMENTWISE)) return false;
    for (int i = 0; i < op->n_operands; i++)
        if (find(f, c, kc_operand(op, i), axes, pairs, seen)) return true;
    return false;
}

bool kc_fuse_find_carried(kc_fuser *f, kc_cluster *c, kc_value *result, int *axes) {
    return find(f, c, result, axes, kc_dtype_is_packed(result->type.elem),
                KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1));
}

bool kc_fuse_carried_from(const kc_fuser *f, const kc_cluster *c, const kc_op *op, const int *axes,
                          int *from) {
    if (!kc_movement_keeps_rows(op)) return false;
    for (const kc_fuse_carried *step = c->carried; step; step = step->next) {
        bool same = kc_movement_same(f->pool, step->op, op);
        if (!same ||
            memcmp(step->to, axes, sizeof *axes * (size_t)kc_result(op, 0)->type.rank) != 0)
            continue;
        memcpy(from, step->from, sizeof step->from);
        return true;
    }
    return false;
}
