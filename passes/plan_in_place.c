// Whether a fusion may write its results over one of its arguments: then each element of the
// argument is read by who writes it. Elementwise ops ask their operands where they are asked;
// slices, concatenations and padding shift what is asked for, and what one of them shifts another
// one may shift back: a row put into a tensor is a concatenation of three slices.
#include "passes/plan.h"

#include <string.h>

typedef struct {
    const kc_expr *by[KC_MAX_RANK];
} shift;

typedef struct {
    kc_arena *arena;
    kc_expr_pool *pool;
    const kc_value *argument;
    const shift **asked; // by op order: where an op was asked; NULL: not yet
    int n_ops;
} walk;

static bool comes_from(const walk *w, const kc_value *v, bool *seen) {
    if (v == w->argument) return true;
    if (!v->def || seen[v->def->order]) return false;
    seen[v->def->order] = true;
    for (int i = 0; i < v->def->n_operands; i++)
        if (comes_from(w, kc_operand(v->def, i), seen)) return true;
    return false;
}

static bool reads(const walk *w, const kc_op *op) {
    bool *seen = KC_NEW_ARRAY(w->arena, bool, w->n_ops);
    for (int i = 0; i < op->n_operands; i++)
        if (comes_from(w, kc_operand(op, i), seen)) return true;
    return false;
}

static bool same_shift(const walk *w, const shift *a, const shift *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (!kc_expr_known_equal(w->pool, a->by[d], b->by[d])) return false;
    return true;
}

static bool in_place(walk *w, const kc_value *v, shift s);

static bool concat_in_place(walk *w, const kc_op *op, shift s) {
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    for (int i = 0; i < op->n_operands; i++) {
        if (!in_place(w, kc_operand(op, i), s)) return false;
        s.by[axis] = kc_expr_sub(w->pool, s.by[axis], kc_operand(op, i)->type.shape[axis]);
    }
    return true;
}

static bool slice_in_place(walk *w, const kc_op *op, shift s) {
    const kc_attr *starts = kc_attr_get(op, KC_ATTR_STARTS),
                  *steps = kc_attr_get(op, KC_ATTR_STEPS);
    for (int d = 0; d < starts->count; d++) {
        if (steps->integers[d] != 1) return !reads(w, op);
        s.by[d] = kc_expr_add(w->pool, s.by[d], starts->exprs[d]);
    }
    return in_place(w, kc_operand(op, 0), s);
}

static bool pad_in_place(walk *w, const kc_op *op, shift s) {
    const kc_attr *low = kc_attr_get(op, KC_ATTR_LOW);
    for (int d = 0; d < low->count; d++)
        s.by[d] = kc_expr_sub(w->pool, s.by[d], low->exprs[d]);
    return in_place(w, kc_operand(op, 0), s);
}

// Whether the argument is read in place by whatever computes v, which is asked for at the
// coordinates of the result shifted.
static bool in_place(walk *w, const kc_value *v, shift s) {
    shift none;
    for (int d = 0; d < KC_MAX_RANK; d++)
        none.by[d] = kc_expr_const(w->pool, 0);
    if (v == w->argument) return same_shift(w, &s, &none, v->type.rank);
    kc_op *op = v->def;
    if (!op) return true;
    if (w->asked[op->order])
        return same_shift(w, w->asked[op->order], &s, v->type.rank) || !reads(w, op);
    shift *asked = KC_NEW(w->arena, shift);
    *asked = s;
    w->asked[op->order] = asked;
    if (op->code == KC_OP_CONCAT) return concat_in_place(w, op, s);
    if (op->code == KC_OP_SLICE) return slice_in_place(w, op, s);
    if (op->code == KC_OP_PAD) return pad_in_place(w, op, s);
    if (!kc_op_has(op, KC_ELEMENTWISE)) return !reads(w, op);
    for (int i = 0; i < op->n_operands; i++)
        if (!in_place(w, kc_operand(op, i), s)) return false;
    return true;
}

bool kc_plan_reads_in_place(kc_arena *arena, const kc_op *fusion, const kc_value *argument) {
    kc_block_renumber(fusion->body);
    const kc_op *yield = fusion->body->last;
    walk w = {.arena = arena,
              .pool = kc_op_pool(fusion),
              .argument = argument,
              .n_ops = yield->order + 1};
    w.asked = KC_NEW_ARRAY(arena, const shift *, w.n_ops);
    shift none;
    for (int d = 0; d < KC_MAX_RANK; d++)
        none.by[d] = kc_expr_const(w.pool, 0);
    for (int i = 0; i < yield->n_operands; i++)
        if (!in_place(&w, kc_operand(yield, i), none)) return false;
    return true;
}
