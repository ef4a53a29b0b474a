// Checks that several ops share.
#include "ir/verify.h"

const kc_type *kc_check_type(kc_checker *c, const kc_type *type, const kc_expr_pool *from) {
    if (from == c->pool || !from || !c->pool || type->kind != KC_TYPE_TENSOR) return type;
    kc_type *here = KC_NEW(c->scratch, kc_type);
    *here = kc_type_import(c->pool, from, type);
    return here;
}

const kc_type *kc_check_operand(kc_checker *c, const kc_op *op, int i) {
    const kc_value *value = op->operands[i].value;
    const kc_op *home = value->def ? value->def : value->block ? value->block->parent : NULL;
    return kc_check_type(c, &value->type, home ? kc_op_pool(home) : NULL);
}

bool kc_check_same(const kc_checker *c, const kc_expr *a, const kc_expr *b) {
    return a == b || (c->pool && kc_expr_known_equal(c->pool, a, b));
}

bool kc_check_scalar(const kc_type *type, kc_dtype elem) {
    return type->kind != KC_TYPE_SHARED && type->kind != KC_TYPE_TOKEN && type->rank == 0 &&
           (elem == KC_DTYPE_NONE || type->elem == elem);
}

bool kc_check_results(kc_checker *c, const kc_op *op, int expected) {
    if (op->n_results != expected)
        kc_check_fail(c, op, "%d results, expected %d", op->n_results, expected);
    return op->n_results == expected;
}

bool kc_check_axis(kc_checker *c, const kc_op *op, int rank) {
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, -1);
    if (axis < 0 || axis >= rank)
        kc_check_fail(c, op, "axis %lld of a shape of rank %d", (long long)axis, rank);
    return axis >= 0 && axis < rank;
}

bool kc_check_axes(kc_checker *c, const kc_op *op, int rank, bool reduced[KC_MAX_RANK]) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int64_t last = -1;
    for (int i = 0; i < KC_MAX_RANK; i++)
        reduced[i] = false;
    for (int i = 0; i < axes->count; i++) {
        int64_t axis = axes->integers[i];
        if (axis <= last || axis >= rank)
            return kc_check_fail(c, op,
                                 "axes are dimensions below %d in ascending order; item %d is %lld",
                                 rank, i, (long long)axis),
                   false;
        reduced[axis] = true;
        last = axis;
    }
    return true;
}

bool kc_check_kind(kc_checker *c, const kc_op *op, const kc_type *type, kc_type_kind kind,
                   const char *what) {
    static const char *const names[] = {"nothing", "a tensor", "a tile", "a shared buffer",
                                        "a token"};
    if (type->kind != kind)
        kc_check_fail(c, op, "%s is %s, expected %s", what, names[type->kind], names[kind]);
    return type->kind == kind;
}

void kc_check_packing(kc_checker *c, const kc_op *op, const kc_type *type, const char *what) {
    const char *trouble = type->kind == KC_TYPE_TENSOR ? kc_type_packing(c->pool, type) : NULL;
    if (trouble) kc_check_fail(c, op, "%s %s", what, trouble);
}

const kc_op *kc_check_terminator(const kc_op *op) {
    const kc_op *last = op->body->last;
    return last && kc_op_has(last, KC_TERMINATOR) ? last : NULL;
}

void kc_check_region_yields(kc_checker *c, const kc_op *op, int n, const kc_type *const *types) {
    const kc_op *yield = kc_check_terminator(op);
    if (!yield || yield->code != KC_OP_YIELD) {
        kc_check_fail(c, op, "its region does not end in yield");
        return;
    }
    if (yield->n_operands != n) {
        kc_check_fail(c, op, "its region yields %d values, expected %d", yield->n_operands, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        const kc_type *got = kc_check_operand(c, yield, i);
        bool both_scalar =
            kc_check_scalar(got, types[i]->elem) && kc_check_scalar(types[i], KC_DTYPE_NONE);
        bool same = got->elem == types[i]->elem && kc_type_same_shape(c->pool, got, types[i]) &&
                    kc_layout_same(got->layout, types[i]->layout);
        if (!same && !both_scalar)
            kc_check_fail(c, op, "value %d that its region yields has another type than expected",
                          i);
    }
}
