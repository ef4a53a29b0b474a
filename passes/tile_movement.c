// Movement ops as index maps: the value of the result at some coordinates is the value of an
// operand at others. Nothing is moved; the layouts of loads and stores decide later what an index
// map costs.
#include "passes/tiler.h"

#include <math.h>
#include <string.h>

static kc_value *emit_broadcast(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *x = kc_operand(op, 0);
    kc_coord from[KC_MAX_RANK];
    int skip = kc_result(op, 0)->type.rank - x->type.rank;
    for (int d = 0; d < x->type.rank; d++)
        from[d] = kc_expr_is_one(x->type.shape[d]) ? (kc_coord){0} : c[skip + d];
    return kc_tiler_emit(t, x, from, predicate);
}

static kc_value *emit_transpose(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    const int64_t *perm = kc_attr_get(op, KC_ATTR_PERM)->integers;
    kc_coord from[KC_MAX_RANK];
    if (!kc_tiler_carried_from(t, op, c, from))
        for (int d = 0; d < kc_operand(op, 0)->type.rank; d++)
            from[perm[d]] = c[d];
    return kc_tiler_emit(t, kc_operand(op, 0), from, predicate);
}

static void shift_slice(kc_tiler *t, kc_op *op, const kc_coord *c, kc_coord *from) {
    const kc_attr *starts = kc_attr_get(op, KC_ATTR_STARTS),
                  *steps = kc_attr_get(op, KC_ATTR_STEPS);
    kc_value *x = kc_operand(op, 0);
    for (int d = 0; d < x->type.rank; d++) {
        const kc_expr *step = kc_expr_const(t->pool, steps->integers[d]);
        from[d] = kc_tiler_coord_add(t, kc_tiler_coord_scale(t, c[d], step, x->type.shape[d]),
                                     starts->exprs[d]);
    }
}

static kc_value *emit_slice(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_coord from[KC_MAX_RANK];
    shift_slice(t, op, c, from);
    return kc_tiler_emit(t, kc_operand(op, 0), from, predicate);
}

// low <= coordinate < high, as a flag tile, and-ed to the predicate.
static kc_value *inside(kc_tiler *t, kc_coord c, const kc_expr *low, const kc_expr *high) {
    kc_value *i = kc_tiler_coord_value(t, c, KC_i64), *result = NULL;
    if (!kc_expr_known_le(t->pool, low, kc_expr_const(t->pool, 0)))
        result = kc_build_binary(&t->build, KC_OP_GE, i, kc_tiler_sym(t, low));
    if (high) {
        kc_value *below = kc_build_binary(&t->build, KC_OP_LT, i, kc_tiler_sym(t, high));
        result = result ? kc_build_binary(&t->build, KC_OP_AND, result, below) : below;
    }
    return result;
}

kc_value *kc_tiler_both(kc_tiler *t, kc_value *a, kc_value *b) {
    return a && b ? kc_build_binary(&t->build, KC_OP_AND, a, b) : a ? a : b;
}

static kc_expr const *negated(kc_tiler *t, const kc_expr *e) {
    return kc_expr_sub(t->pool, kc_expr_const(t->pool, 0), e);
}

static kc_value *shift_pad(kc_tiler *t, kc_op *op, const kc_coord *c, kc_coord *from) {
    const kc_expr *const *low = kc_attr_get(op, KC_ATTR_LOW)->exprs,
                         *const *high = kc_attr_get(op, KC_ATTR_HIGH)->exprs;
    kc_value *x = kc_operand(op, 0), *within = NULL;
    int64_t zero;
    for (int d = 0; d < x->type.rank; d++) {
        bool none_after = kc_expr_is_const(high[d], &zero) && zero == 0;
        const kc_expr *end = none_after ? NULL : kc_expr_add(t->pool, low[d], x->type.shape[d]);
        within = kc_tiler_both(t, within, inside(t, c[d], low[d], end));
        from[d] = kc_tiler_coord_add(t, c[d], negated(t, low[d]));
    }
    return within;
}

static kc_value *emit_pad(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *x = kc_operand(op, 0);
    kc_coord from[KC_MAX_RANK];
    kc_value *within = shift_pad(t, op, c, from);
    kc_value *value = kc_tiler_emit(t, x, from, kc_tiler_both(t, predicate, within));
    double fill_value = kc_attr_float(op, KC_ATTR_VALUE, 0);
    bool zeros = fill_value == 0 && !signbit(fill_value) &&
                 (!kc_dtype_is_float(x->type.elem) || kc_dtype_round(x->type.elem, 0) == 0);
    if (!within || (zeros && value->def && value->def->code == KC_OP_LOAD)) return value;
    kc_type scalar = kc_type_scalar(x->type.elem);
    kc_value *fill =
        kc_dtype_is_float(x->type.elem)
            ? kc_build_const(&t->build, scalar, fill_value)
            : kc_tiler_int(t, x->type.elem, kc_dtype_saturate(x->type.elem, fill_value));
    return kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){within, value, fill});
}

static kc_value *shift_concat(kc_tiler *t, kc_op *op, int operand, const kc_coord *c,
                              kc_coord *from) {
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    const kc_expr *begin = kc_expr_const(t->pool, 0);
    for (int i = 0; i < operand; i++)
        begin = kc_expr_add(t->pool, begin, kc_operand(op, i)->type.shape[axis]);
    kc_value *x = kc_operand(op, operand);
    const kc_expr *end = kc_expr_add(t->pool, begin, x->type.shape[axis]);
    kc_value *within = inside(t, c[axis], begin, operand + 1 < op->n_operands ? end : NULL);
    for (int d = 0; d < x->type.rank; d++)
        from[d] = c[d];
    from[axis] = kc_tiler_coord_add(t, c[axis], negated(t, begin));
    return within;
}

static kc_value *emit_concat(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *result = NULL;
    for (int i = 0; i < op->n_operands; i++) {
        kc_coord from[KC_MAX_RANK];
        kc_value *within = shift_concat(t, op, i, c, from);
        kc_value *value =
            kc_tiler_emit(t, kc_operand(op, i), from, kc_tiler_both(t, predicate, within));
        result = result && within ? kc_build_elementwise(&t->build, KC_OP_SELECT, 3,
                                                         (kc_value *[]){within, value, result})
                                  : value;
    }
    return result;
}

kc_value *kc_tiler_shift(kc_tiler *t, kc_op *op, int operand, const kc_coord *c, kc_coord *from) {
    if (op->code == KC_OP_CONCAT) return shift_concat(t, op, operand, c, from);
    if (op->code == KC_OP_PAD) return shift_pad(t, op, c, from);
    shift_slice(t, op, c, from);
    return NULL;
}

// Negative indices count from the end; what is still outside is clamped.
static kc_value *emit_gather(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *x = kc_operand(op, 0), *indices = kc_operand(op, 1);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0), taken = indices->type.rank;
    kc_value *index =
        kc_build_cast(&t->build, kc_tiler_emit(t, indices, c + axis, predicate), KC_i64);
    kc_value *extent = kc_tiler_sym(t, x->type.shape[axis]), *zero = kc_tiler_int(t, KC_i64, 0);
    kc_value *negative = kc_build_binary(&t->build, KC_OP_LT, index, zero);
    kc_value *from_end = kc_build_binary(&t->build, KC_OP_ADD, index, extent);
    index =
        kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){negative, from_end, index});
    kc_value *last = kc_build_binary(&t->build, KC_OP_SUB, extent, kc_tiler_int(t, KC_i64, 1));
    index = kc_build_binary(&t->build, KC_OP_MAX,
                            kc_build_binary(&t->build, KC_OP_MIN, index, last), zero);
    kc_coord from[KC_MAX_RANK];
    unsigned axes = 0;
    for (int d = 0; d < taken; d++)
        axes |= c[axis + d].axes;
    for (int d = 0; d < x->type.rank; d++)
        from[d] = d < axis ? c[d] : d == axis ? (kc_coord){0} : c[d + taken - 1];
    from[axis] = index->type.rank ? (kc_coord){NULL, index, axes} : (kc_coord){index, NULL, 0};
    if (kc_expr_min_value(t->pool, x->type.shape[axis]) < 1) // there may be nothing to take
        predicate = kc_tiler_both(t, predicate, kc_build_binary(&t->build, KC_OP_GT, extent, zero));
    return kc_tiler_emit(t, x, from, predicate);
}

// ---- reshape ------------------------------------------------------------------------------------

// The row-major index of the result's coordinates inside a group.
static kc_coord linear_index(kc_tiler *t, const kc_type *to, kc_reshape_group g,
                             const kc_coord *c) {
    kc_coord linear = {0};
    for (int d = g.to_begin; d < g.to_end; d++) {
        const kc_expr *stride = kc_reshape_product(t->pool, to, d + 1, g.to_end);
        linear = kc_tiler_coord_sum(t, linear, kc_tiler_coord_scale(t, c[d], stride, to->shape[d]));
    }
    return linear;
}

static kc_coord as_coord(kc_value *v, unsigned axes) {
    return v->type.rank ? (kc_coord){NULL, v, axes} : (kc_coord){v, NULL, 0};
}

static void split_index(kc_tiler *t, const kc_type *from, kc_reshape_group g, kc_coord linear,
                        kc_coord *out) {
    bool narrow = kc_expr_max_value(t->pool, kc_reshape_product(t->pool, from, g.from_begin,
                                                                g.from_end)) < INT32_MAX;
    kc_dtype dtype = narrow ? KC_i32 : KC_i64;
    kc_value *rest = kc_tiler_coord_value(t, linear, dtype);
    for (int d = g.from_end - 1; d > g.from_begin; d--) {
        kc_value *extent = kc_build_cast(&t->build, kc_tiler_sym(t, from->shape[d]), dtype);
        kc_value *index = kc_build_binary(&t->build, KC_OP_MOD, rest, extent);
        rest = kc_build_binary(&t->build, KC_OP_FLOORDIV, rest, extent);
        out[d] = as_coord(index->type.rank ? index : kc_build_cast(&t->build, index, KC_i64),
                          linear.axes);
    }
    out[g.from_begin] =
        as_coord(rest->type.rank ? rest : kc_build_cast(&t->build, rest, KC_i64), linear.axes);
}

void kc_tiler_reshape_coords(kc_tiler *t, const kc_type *from_type, const kc_type *to_type,
                             const kc_coord *to, kc_coord from[KC_MAX_RANK]) {
    kc_reshape_group groups[2 * KC_MAX_RANK];
    int n = kc_reshape_groups(t->pool, from_type, to_type, groups);
    memset(from, 0, sizeof *from * KC_MAX_RANK);
    for (int i = 0; i < n; i++) {
        kc_reshape_group g = groups[i];
        if (g.from_begin == g.from_end ||
            kc_expr_is_one(kc_reshape_product(t->pool, from_type, g.from_begin, g.from_end)))
            continue;
        kc_coord linear = linear_index(t, to_type, g, to);
        if (g.from_end == g.from_begin + 1) from[g.from_begin] = linear;
        else split_index(t, from_type, g, linear, from);
    }
}

static kc_value *emit_reshape(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *x = kc_operand(op, 0);
    kc_coord from[KC_MAX_RANK];
    if (!kc_tiler_carried_from(t, op, c, from))
        kc_tiler_reshape_coords(t, &x->type, &kc_result(op, 0)->type, c, from);
    return kc_tiler_emit(t, x, from, predicate);
}

kc_movement kc_tiler_movement(kc_opcode code) {
    static const kc_movement movements[KC_OP_COUNT] = {
        [KC_OP_BROADCAST] = emit_broadcast, [KC_OP_TRANSPOSE] = emit_transpose,
        [KC_OP_RESHAPE] = emit_reshape,     [KC_OP_SLICE] = emit_slice,
        [KC_OP_CONCAT] = emit_concat,       [KC_OP_PAD] = emit_pad,
        [KC_OP_GATHER] = emit_gather,
    };
    return movements[code];
}
