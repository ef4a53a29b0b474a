// matmul: NumPy's rules for vectors and batches, written out. A vector becomes a matrix of one row
// or column and the dimension of extent 1 is taken off the result; batch dimensions are broadcast
// to one another.
#include <string.h>

#include "compiler/frontend/body_ops.h"

typedef struct {
    kc_value *value; // of rank 2 or more
    bool vector;     // it had rank 1
    bool transposed;
    const kc_expr *outer, *inner; // rows of a or columns of b; the contracted extent
} side;

static kc_term poison(const kc_call *call) {
    return kc_term_poison(call->loc);
}

bool kc_contract_operand(kc_call *call, int i, const kc_value *value) {
    kc_dtype dtype = value->type.elem;
    bool narrow = dtype == KC_i8 || dtype == KC_u8 || dtype == KC_i4;
    if (kc_dtype_is_float(dtype) || narrow) return true;
    KC_CALL_ERROR(
        call, kc_call_loc(call, i),
        "%s multiplies floats, i8, u8 and i4, not %s: cast '%s' first, such as cast(%s, \"f32\")",
        call->op->name, kc_dtype_name(dtype), call->names[i],
        call->given[i]->kind == KC_AST_NAME ? call->given[i]->text : "x");
    return false;
}

bool kc_contract_same_type(kc_call *call, const kc_value *a, const kc_value *b) {
    if (a->type.elem == b->type.elem) return true;
    bool a_wider = kc_dtype_table[a->type.elem].bits > kc_dtype_table[b->type.elem].bits;
    kc_dtype to = a_wider ? b->type.elem : a->type.elem; // the narrower one is the faster matmul
    const kc_ast *ast = call->given[a_wider ? 0 : 1];
    KC_CALL_ERROR(
        call, call->loc, "%s wants one element type, seen %s and %s: write cast(%s, \"%s\")",
        call->op->name, kc_dtype_name(a->type.elem), kc_dtype_name(b->type.elem),
        ast->kind == KC_AST_NAME ? ast->text : call->names[a_wider ? 0 : 1], kc_dtype_name(to));
    return false;
}

static kc_value *reshape(kc_function *fn, kc_value *value, int rank, const kc_expr *const *shape) {
    return kc_build_1(&fn->builder, KC_OP_RESHAPE, kc_type_tensor(value->type.elem, rank, shape), 1,
                      &value);
}

static bool read_side(kc_call *call, int i, side *s) {
    kc_function *fn = call->fn;
    s->value = kc_call_ranked(call, i);
    if (!s->value || !kc_contract_operand(call, i, s->value) ||
        !kc_call_bool(call, 2 + i, &s->transposed))
        return false;
    const kc_type *type = &s->value->type;
    s->vector = type->rank == 1;
    if (s->vector && s->transposed) {
        KC_CALL_ERROR(call, kc_call_loc(call, 2 + i),
                      "'%s' wants '%s' to have two dimensions or more, not one: leave it out for a "
                      "vector",
                      call->names[2 + i], call->names[i]);
        return false;
    }
    if (s->vector) {
        s->inner = type->shape[0];
        s->outer = kc_expr_const(fn->pool, 1);
        return true;
    }
    bool inner_last = (i == 0) != s->transposed;
    s->inner = type->shape[type->rank - (inner_last ? 1 : 2)];
    s->outer = type->shape[type->rank - (inner_last ? 2 : 1)];
    return true;
}

static void vector_to_matrix(kc_function *fn, int i, side *s) {
    if (!s->vector) return;
    const kc_expr *shape[2] = {i == 0 ? s->outer : s->inner, i == 0 ? s->inner : s->outer};
    s->value = reshape(fn, s->value, 2, shape);
}

static kc_type batch_of(const kc_value *value) {
    return kc_type_tensor(value->type.elem, value->type.rank - 2, value->type.shape);
}

static kc_value *broadcast_batch(kc_call *call, kc_value *value, int rank,
                                 const kc_expr *const *batch) {
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < rank; d++)
        shape[d] = batch[d];
    shape[rank] = value->type.shape[value->type.rank - 2];
    shape[rank + 1] = value->type.shape[value->type.rank - 1];
    return kc_body_broadcast(call->fn, call->loc, value, rank + 2, shape);
}

static bool read_precision(kc_call *call, const char **precision) {
    *precision = kc_call_string(call, 4, "ieee");
    if (!*precision) return false;
    if (!strcmp(*precision, "ieee") || !strcmp(*precision, "high") || !strcmp(*precision, "fast"))
        return true;
    kc_call_refuse(call, 4, "\"ieee\", \"high\" or \"fast\"", kc_call_seen(call, call->given[4]),
                   "");
    return false;
}

kc_dtype kc_contract_result(kc_dtype dtype) {
    return kc_dtype_is_float(dtype) ? kc_dtype_compute(dtype) : KC_i32;
}

static kc_value *build(kc_call *call, const side *a, const side *b, int batch_rank,
                       const kc_expr *const *batch) {
    kc_function *fn = call->fn;
    kc_value *operands[2] = {broadcast_batch(call, a->value, batch_rank, batch),
                             broadcast_batch(call, b->value, batch_rank, batch)};
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < batch_rank; d++)
        shape[d] = batch[d];
    shape[batch_rank] = a->outer;
    shape[batch_rank + 1] = b->outer;
    fn->builder.loc = call->loc;
    kc_dtype dtype = kc_contract_result(operands[0]->type.elem);
    kc_value *result = kc_build_1(&fn->builder, KC_OP_MATMUL,
                                  kc_type_tensor(dtype, batch_rank + 2, shape), 2, operands);
    if (a->transposed) kc_attr_set_int(result->def, KC_ATTR_TRANSPOSE_A, 1);
    if (b->transposed) kc_attr_set_int(result->def, KC_ATTR_TRANSPOSE_B, 1);
    return result;
}

static kc_value *drop_vector_dimensions(kc_function *fn, kc_value *result, const side *a,
                                        const side *b) {
    const kc_expr *shape[KC_MAX_RANK];
    int rank = result->type.rank, n = 0;
    for (int d = 0; d < rank; d++)
        if (!(a->vector && d == rank - 2) && !(b->vector && d == rank - 1))
            shape[n++] = result->type.shape[d];
    return n == rank ? result : reshape(fn, result, n, shape);
}

kc_term kc_call_matmul(kc_call *call) {
    kc_function *fn = call->fn;
    side a, b;
    const char *precision;
    if (!read_side(call, 0, &a) || !read_side(call, 1, &b) || !read_precision(call, &precision))
        return poison(call);
    if (!kc_contract_same_type(call, a.value, b.value)) return poison(call);
    if (!kc_expr_known_equal(fn->pool, a.inner, b.inner)) {
        KC_CALL_ERROR(call, call->loc, "matmul of %s%s and %s%s: the contracted dimensions %s",
                      kc_types_text(fn, &a.value->type), a.transposed ? " transposed" : "",
                      kc_types_text(fn, &b.value->type), b.transposed ? " transposed" : "",
                      kc_dims_unequal(fn, a.inner, b.inner));
        return poison(call);
    }
    fn->builder.loc = call->loc;
    vector_to_matrix(fn, 0, &a);
    vector_to_matrix(fn, 1, &b);
    kc_type batch_a = batch_of(a.value), batch_b = batch_of(b.value);
    const kc_expr *batch[KC_MAX_RANK];
    int batch_rank;
    if (!kc_body_merge_shapes(fn, call->loc, &batch_a, &batch_b, &batch_rank, batch)) {
        kc_report(fn->diag, KC_NOTE, call->loc, "these are the batch dimensions of %s and %s",
                  kc_types_text(fn, &a.value->type), kc_types_text(fn, &b.value->type));
        return poison(call);
    }
    kc_value *result = build(call, &a, &b, batch_rank, batch);
    if (a.value->type.elem == KC_f32 && strcmp(precision, "ieee") != 0)
        kc_attr_set_string(fn->model->module, result->def, KC_ATTR_PRECISION, precision);
    return kc_term_tensor(drop_vector_dimensions(fn, result, &a, &b), call->loc);
}
