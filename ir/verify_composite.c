// The ops that decompose rewrites.
#include "ir/verify.h"

static bool check_tensors(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1) ||
        !kc_check_kind(c, op, kc_check_result(op, 0), KC_TYPE_TENSOR, "the result"))
        return false;
    for (int i = 0; i < op->n_operands; i++)
        if (!kc_check_kind(c, op, kc_check_operand(c, op, i), KC_TYPE_TENSOR, "an operand"))
            return false;
    return true;
}

static kc_dtype reduced_dtype(kc_opcode code, kc_dtype elem) {
    switch (code) {
    case KC_OP_SUM:
    case KC_OP_PROD: return kc_dtype_accumulate(elem);
    case KC_OP_ARGMAX:
    case KC_OP_ARGMIN: return KC_i64;
    default: return elem;
    }
}

static void check_left_shape(kc_checker *c, const kc_op *op, const bool *reduced) {
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    bool keep = kc_attr_int(op, KC_ATTR_KEEPDIMS, 0), fits = true;
    int at = 0;
    for (int d = 0; fits && d < x->rank; d++) {
        if (reduced[d] && !keep) continue;
        const kc_expr *expected = reduced[d] ? kc_expr_const(c->pool, 1) : x->shape[d];
        fits = at < result->rank && kc_check_same(c, expected, result->shape[at++]);
    }
    if (!fits || at != result->rank)
        kc_check_fail(c, op, "the result has not the shape that is left%s",
                      keep ? " with reduced extents 1" : "");
}

static void check_reduction(kc_checker *c, const kc_op *op) {
    bool reduced[KC_MAX_RANK];
    if (!check_tensors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    if (!kc_check_axes(c, op, x->rank, reduced)) return;
    int n = kc_attr_get(op, KC_ATTR_AXES)->count;
    if ((op->code == KC_OP_ARGMAX || op->code == KC_OP_ARGMIN) && n != 1 && n != x->rank)
        kc_check_fail(c, op, "an index is taken along one axis, or of all elements");
    kc_dtype expected = reduced_dtype(op->code, x->elem);
    if (result->elem != expected)
        kc_check_fail(c, op, "the result is %s, expected %s", kc_dtype_name(result->elem),
                      kc_dtype_name(expected));
    check_left_shape(c, op, reduced);
}

// softmax, log_softmax and the norms: the result is like x; scale and bias run along the axis.
static void check_along_axis(kc_checker *c, const kc_op *op) {
    if (!check_tensors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    if (result->elem != x->elem || !kc_type_same_shape(c->pool, result, x))
        kc_check_fail(c, op, "the result has not the type of x");
    if (!kc_check_axis(c, op, x->rank)) return;
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    for (int i = 1; i < op->n_operands; i++) {
        const kc_type *along = kc_check_operand(c, op, i);
        if (along->elem != x->elem || along->rank != 1 ||
            !kc_check_same(c, along->shape[0], x->shape[axis]))
            kc_check_fail(c, op, "operand %d is not %s[extent of the axis]", i,
                          kc_dtype_name(x->elem));
    }
}

static void check_rope(kc_checker *c, const kc_op *op) {
    if (!check_tensors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    if (result->elem != x->elem || !kc_type_same_shape(c->pool, result, x))
        kc_check_fail(c, op, "the result has not the type of x");
    if (x->rank < 1) kc_check_fail(c, op, "x has rank 0");
    for (int i = 1; i < 3 && x->rank; i++) {
        const kc_type *half = kc_check_operand(c, op, i);
        bool fits = half->elem == x->elem && half->rank == x->rank;
        for (int d = 0; fits && d < x->rank; d++) {
            const kc_expr *times = kc_expr_const(c->pool, d == x->rank - 1 ? 2 : 1);
            fits = kc_check_same(c, kc_expr_mul(c->pool, half->shape[d], times), x->shape[d]);
        }
        if (!fits) kc_check_fail(c, op, "operand %d is not like x with half the last extent", i);
    }
}

// Each dimension of the scales is that of x, or 1; in the last one an element stands for a block.
static bool scales_fit(kc_checker *c, const kc_type *x, const kc_type *scale, int64_t block) {
    int lead = x->rank - scale->rank;
    for (int d = 0; d < scale->rank; d++) {
        if (lead < 0) return false;
        if (kc_expr_is_one(scale->shape[d])) continue;
        bool last = d == scale->rank - 1;
        const kc_expr *per = kc_expr_const(c->pool, last ? block : 1);
        if (last && block < 1) return false;
        if (!kc_check_same(c, kc_expr_mul(c->pool, scale->shape[d], per), x->shape[lead + d]))
            return false;
    }
    return true;
}

static void check_scaled(kc_checker *c, const kc_op *op) {
    if (!check_tensors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *scale = kc_check_operand(c, op, 1);
    const kc_type *result = kc_check_result(op, 0);
    const kc_attr *dtype = kc_attr_get(op, KC_ATTR_DTYPE);
    int64_t block = kc_attr_int(op, KC_ATTR_BLOCK, 0);
    if (!kc_type_same_shape(c->pool, result, x))
        kc_check_fail(c, op, "the result has not the shape of x");
    if (result->elem != (dtype ? dtype->dtype : x->elem) || result->elem == KC_bool)
        kc_check_fail(c, op, "the result is %s", kc_dtype_name(result->elem));
    if (scale->elem != x->elem)
        kc_check_fail(c, op, "the scales are %s, x is %s", kc_dtype_name(scale->elem),
                      kc_dtype_name(x->elem));
    if (x->rank < 1) kc_check_fail(c, op, "x has rank 0");
    else if (!scales_fit(c, x, scale, block))
        kc_check_fail(c, op, "the scales do not broadcast to one a block");
    else if (scale->rank == KC_MAX_RANK && block)
        kc_check_fail(c, op, "scales of blocks have at most %d dimensions", KC_MAX_RANK - 1);
}

static void check_cumsum(kc_checker *c, const kc_op *op) {
    if (!check_tensors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    kc_dtype expected = kc_dtype_accumulate(x->elem);
    kc_check_axis(c, op, x->rank);
    if (result->elem != expected)
        kc_check_fail(c, op, "the result is %s, expected %s", kc_dtype_name(result->elem),
                      kc_dtype_name(expected));
    if (!kc_type_same_shape(c->pool, result, x))
        kc_check_fail(c, op, "the result has not the shape of x");
}

kc_check_facts *kc_check_composite_facts(kc_opcode code) {
    switch (code) {
    case KC_OP_SUM:
    case KC_OP_PROD:
    case KC_OP_MEAN:
    case KC_OP_AMAX:
    case KC_OP_AMIN:
    case KC_OP_ARGMAX:
    case KC_OP_ARGMIN: return check_reduction;
    case KC_OP_CUMSUM: return check_cumsum;
    case KC_OP_SOFTMAX:
    case KC_OP_LOG_SOFTMAX:
    case KC_OP_LAYERNORM:
    case KC_OP_RMSNORM: return check_along_axis;
    case KC_OP_ROPE: return check_rope;
    case KC_OP_QUANTIZE:
    case KC_OP_DEQUANTIZE: return check_scaled;
    default: return NULL;
    }
}
