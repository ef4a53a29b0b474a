// cumsum. What it sums can be moved first: shifted by one for the exclusive sum, turned round for
// the sum from the end, whose result is turned back.
#include "compiler/frontend/body_ops.h"

static kc_value *moved(kc_function *fn, kc_opcode code, kc_value *x, int axis,
                       const kc_expr *extent) {
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < x->type.rank; d++)
        shape[d] = d == axis ? extent : x->type.shape[d];
    return kc_build_1(&fn->builder, code, kc_type_tensor(x->type.elem, x->type.rank, shape), 1, &x);
}

// x[first + i * step] along the axis, `extent` of them.
static kc_value *taken(kc_function *fn, kc_value *x, int axis, const kc_expr *first, int64_t step,
                       const kc_expr *extent) {
    kc_value *result = moved(fn, KC_OP_SLICE, x, axis, extent);
    const kc_expr *starts[KC_MAX_RANK];
    int64_t steps[KC_MAX_RANK];
    for (int d = 0; d < x->type.rank; d++) {
        starts[d] = d == axis ? first : kc_expr_const(fn->pool, 0);
        steps[d] = d == axis ? step : 1;
    }
    kc_attr_set_exprs(fn->model->module, result->def, KC_ATTR_STARTS, x->type.rank, starts);
    kc_attr_set_ints(fn->model->module, result->def, KC_ATTR_STEPS, x->type.rank, steps);
    return result;
}

static kc_value *turned(kc_function *fn, kc_value *x, int axis) {
    const kc_expr *extent = x->type.shape[axis], *one = kc_expr_const(fn->pool, 1);
    return taken(fn, x, axis, kc_expr_sub(fn->pool, extent, one), -1, extent);
}

// A zero comes in, the last element goes.
static kc_value *shifted(kc_function *fn, kc_value *x, int axis) {
    const kc_expr *extent = x->type.shape[axis], *zero = kc_expr_const(fn->pool, 0),
                  *one = kc_expr_const(fn->pool, 1), *low[KC_MAX_RANK], *high[KC_MAX_RANK];
    kc_value *padded = moved(fn, KC_OP_PAD, x, axis, kc_expr_add(fn->pool, extent, one));
    for (int d = 0; d < x->type.rank; d++)
        low[d] = d == axis ? one : zero, high[d] = zero;
    kc_attr_set_exprs(fn->model->module, padded->def, KC_ATTR_LOW, x->type.rank, low);
    kc_attr_set_exprs(fn->model->module, padded->def, KC_ATTR_HIGH, x->type.rank, high);
    kc_attr_set_float(padded->def, KC_ATTR_VALUE, 0);
    return taken(fn, padded, axis, zero, 1, extent);
}

kc_term kc_call_cumsum(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_ranked(call, 0);
    int axis;
    bool exclusive, reverse;
    if (!x || !kc_call_axis(call, call->given[1], &x->type, &axis) ||
        !kc_call_bool(call, 2, &exclusive) || !kc_call_bool(call, 3, &reverse))
        return kc_term_poison(call->loc);
    fn->builder.loc = call->loc;
    x = kc_build_cast(&fn->builder, x, kc_dtype_accumulate(x->type.elem));
    if (reverse) x = turned(fn, x, axis);
    if (exclusive) x = shifted(fn, x, axis);
    kc_value *result = kc_build_1(&fn->builder, KC_OP_CUMSUM,
                                  kc_type_tensor(x->type.elem, x->type.rank, x->type.shape), 1, &x);
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    if (reverse) result = turned(fn, result, axis);
    return kc_term_tensor(result, call->loc);
}
