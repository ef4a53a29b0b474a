// Reductions, and the composites that work along one axis.
#include "compiler/frontend/body_ops.h"

// The type that a reduction takes its operand in.
static kc_dtype operand_type(kc_opcode code, kc_dtype dtype) {
    if (code == KC_OP_SUM || code == KC_OP_PROD) return kc_dtype_accumulate(dtype);
    if (code == KC_OP_MEAN) return kc_dtype_is_float(dtype) ? kc_dtype_compute(dtype) : KC_f32;
    return dtype; // min max argmax argmin
}

static bool is_index(kc_opcode code) {
    return code == KC_OP_ARGMAX || code == KC_OP_ARGMIN;
}

static bool mark_axis(kc_call *call, const kc_ast *ast, const kc_type *type,
                      bool reduced[KC_MAX_RANK]) {
    int axis;
    if (!kc_call_axis(call, ast, type, &axis)) return false;
    if (reduced[axis]) {
        KC_CALL_ERROR(call, ast->loc, "'axis' has dimension %d of %s twice: give each once", axis,
                      kc_types_text(call->fn, type));
        return false;
    }
    reduced[axis] = true;
    return true;
}

// Which dimensions go: argument 1, an axis or a list of them; all when it is left out.
static bool read_axes(kc_call *call, const kc_type *type, bool reduced[KC_MAX_RANK]) {
    const kc_ast *ast = call->given[1];
    for (int d = 0; d < type->rank; d++)
        reduced[d] = !ast;
    if (!ast) return true;
    if (ast->kind != KC_AST_LIST) return mark_axis(call, ast, type, reduced);
    if (!ast->count) {
        KC_CALL_ERROR(call, ast->loc,
                      "'axis' is an empty list; leave it out to reduce all dimensions");
        return false;
    }
    if (is_index(call->op->code) && ast->count > 1) {
        KC_CALL_ERROR(call, ast->loc,
                      "%s takes one dimension, or none for the index in row-major order",
                      call->op->name);
        return false;
    }
    bool good = true;
    for (int i = 0; i < ast->count; i++)
        good = mark_axis(call, ast->args[i].value, type, reduced) && good;
    return good;
}

static kc_type reduced_type(kc_function *fn, const kc_type *type, kc_dtype dtype,
                            const bool *reduced, bool keepdims) {
    const kc_expr *shape[KC_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < type->rank; d++) {
        if (!reduced[d]) shape[rank++] = type->shape[d];
        else if (keepdims) shape[rank++] = kc_expr_const(fn->pool, 1);
    }
    return kc_type_tensor(dtype, rank, shape);
}

kc_term kc_call_reduce(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_ranked(call, 0);
    bool reduced[KC_MAX_RANK], keepdims;
    if (!x || !read_axes(call, &x->type, reduced) || !kc_call_bool(call, 2, &keepdims))
        return kc_term_poison(call->loc);
    fn->builder.loc = call->loc;
    x = kc_build_cast(&fn->builder, x, operand_type(call->op->code, x->type.elem));
    kc_dtype dtype = is_index(call->op->code) ? KC_i64 : x->type.elem;
    kc_value *result = kc_build_1(&fn->builder, call->op->code,
                                  reduced_type(fn, &x->type, dtype, reduced, keepdims), 1, &x);
    int64_t axes[KC_MAX_RANK];
    int n = 0;
    for (int d = 0; d < x->type.rank; d++)
        if (reduced[d]) axes[n++] = d;
    kc_attr_set_ints(fn->model->module, result->def, KC_ATTR_AXES, n, axes);
    if (keepdims) kc_attr_set_int(result->def, KC_ATTR_KEEPDIMS, 1);
    return kc_term_tensor(result, call->loc);
}

static bool want_number(kc_call *call, int i, const kc_value *x) {
    if (x->type.elem != KC_bool) return true;
    kc_call_refuse(call, i, "of a number type", kc_types_text(call->fn, &x->type),
                   "cast it first, such as cast(x, \"f32\")");
    return false;
}

kc_term kc_call_softmax(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_ranked(call, 0);
    int axis;
    if (!x || !want_number(call, 0, x) || !kc_call_axis_or(call, 1, &x->type, -1, &axis))
        return kc_term_poison(call->loc);
    fn->builder.loc = call->loc;
    x = kc_build_cast(&fn->builder, x, kc_body_meet(1, call->values, KC_MEET_REAL));
    kc_value *result = kc_build_1(&fn->builder, call->op->code,
                                  kc_type_tensor(x->type.elem, x->type.rank, x->type.shape), 1, &x);
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    return kc_term_tensor(result, call->loc);
}

// scale and bias: one element for each index along the axis.
static bool check_parameter(kc_call *call, int i, const kc_type *x, int axis) {
    const kc_type *type = &call->values[i].value->type;
    if (type->rank == 1 && kc_expr_known_equal(call->fn->pool, type->shape[0], x->shape[axis]))
        return true;
    kc_call_refuse(
        call, i,
        kc_arena_printf(call->fn->arena, "of shape [%s], as dimension %d of %s that it goes along",
                        kc_dims_text(call->fn, x->shape[axis]), axis, kc_types_text(call->fn, x)),
        kc_types_text(call->fn, type), "");
    return false;
}

kc_term kc_call_norm(kc_call *call) {
    kc_function *fn = call->fn;
    int n = call->op->n_values, axis;
    double eps;
    kc_value *values[3];
    for (int i = 0; i < n; i++)
        if (!(values[i] = kc_call_ranked(call, i)) || !want_number(call, i, values[i]))
            return kc_term_poison(call->loc);
    const kc_type *x = &values[0]->type;
    if (!kc_call_axis_or(call, n, x, -1, &axis) ||
        !kc_call_number(call, n + 1, n == 3 ? 1e-5 : 1e-6, &eps))
        return kc_term_poison(call->loc);
    for (int i = 1; i < n; i++)
        if (!check_parameter(call, i, x, axis)) return kc_term_poison(call->loc);
    if (!(eps >= 0) || eps > 1e30) {
        kc_call_refuse(call, n + 1, "a finite number, at least 0",
                       kc_arena_printf(fn->arena, "%.9g", eps), "");
        return kc_term_poison(call->loc);
    }
    kc_dtype dtype = kc_body_meet(n, call->values, KC_MEET_REAL);
    fn->builder.loc = call->loc;
    for (int i = 0; i < n; i++)
        values[i] = kc_build_cast(&fn->builder, values[i], dtype);
    kc_value *result = kc_build_1(&fn->builder, call->op->code,
                                  kc_type_tensor(dtype, x->rank, x->shape), n, values);
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    kc_attr_set_float(result->def, KC_ATTR_EPS, eps);
    return kc_term_tensor(result, call->loc);
}
