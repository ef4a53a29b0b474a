#include "passes/tensor_build.h"

kc_value *kc_tensor_const(kc_builder *b, const kc_type *like, double value) {
    kc_type type = kc_type_tensor(like->elem, like->rank, like->shape);
    if (!kc_dtype_is_float(type.elem)) return kc_build_const_int(b, type, (int64_t)value);
    return kc_build_const(b, type, value);
}

static bool same_shape(kc_builder *b, const kc_type *type, int rank, const kc_expr *const *shape) {
    if (type->rank != rank) return false;
    for (int d = 0; d < rank; d++)
        if (!kc_expr_known_equal(kc_op_pool(b->block->parent), type->shape[d], shape[d]))
            return false;
    return true;
}

kc_value *kc_tensor_reshape(kc_builder *b, kc_value *x, int rank, const kc_expr *const *shape) {
    if (same_shape(b, &x->type, rank, shape)) return x;
    return kc_build_1(b, KC_OP_RESHAPE, kc_type_tensor(x->type.elem, rank, shape), 1, &x);
}

kc_value *kc_tensor_broadcast(kc_builder *b, kc_value *x, int rank, const kc_expr *const *shape) {
    if (same_shape(b, &x->type, rank, shape)) return x;
    return kc_build_1(b, KC_OP_BROADCAST, kc_type_tensor(x->type.elem, rank, shape), 1, &x);
}

kc_type kc_tensor_reduced_type(const kc_type *type, int n_axes, const int64_t *axes, kc_dtype elem,
                               bool keepdims, kc_expr_pool *pool) {
    const kc_expr *shape[KC_MAX_RANK];
    int rank = 0;
    for (int d = 0, next = 0; d < type->rank; d++) {
        bool reduced = next < n_axes && axes[next] == d;
        next += reduced;
        if (!reduced) shape[rank++] = type->shape[d];
        else if (keepdims) shape[rank++] = kc_expr_const(pool, 1);
    }
    return kc_type_tensor(elem, rank, shape);
}

kc_value *kc_tensor_spread(kc_builder *b, kc_value *reduced, int n_axes, const int64_t *axes,
                           const kc_type *like) {
    kc_type kept = kc_tensor_reduced_type(like, n_axes, axes, reduced->type.elem, true,
                                          kc_op_pool(b->block->parent));
    return kc_tensor_broadcast(b, kc_tensor_reshape(b, reduced, kept.rank, kept.shape), like->rank,
                               like->shape);
}

// A reduction or scan of x to `type`.
static kc_value *monoid(kc_builder *b, kc_opcode code, kc_opcode combine, kc_value *x, kc_type type,
                        int n_axes, const int64_t *axes, double init) {
    kc_module *module = b->module;
    kc_op *op = kc_build(b, code, 1, &x, 1, &type);
    kc_attr_set_ints(module, op, KC_ATTR_AXES, n_axes, axes);
    kc_attr_set_floats(module, op, KC_ATTR_INIT, 1, &init);
    kc_block *body = kc_op_add_body(module, op);
    kc_type scalar = kc_type_tensor(x->type.elem, 0, NULL);
    kc_value *left = kc_block_add_arg(module, body, scalar, "a"),
             *right = kc_block_add_arg(module, body, scalar, "b");
    kc_builder inner = kc_builder_at_end(module, body, b->loc);
    kc_value *both = kc_build_binary(&inner, combine, left, right);
    kc_build(&inner, KC_OP_YIELD, 1, &both, 0, NULL);
    return kc_result(op, 0);
}

kc_value *kc_tensor_reduce(kc_builder *b, kc_opcode combine, kc_value *x, int n_axes,
                           const int64_t *axes, double init) {
    kc_type type = kc_tensor_reduced_type(&x->type, n_axes, axes, x->type.elem, false,
                                          kc_op_pool(b->block->parent));
    return monoid(b, KC_OP_REDUCE, combine, x, type, n_axes, axes, init);
}

kc_value *kc_tensor_scan(kc_builder *b, kc_opcode combine, kc_value *x, int64_t axis, double init) {
    return monoid(b, KC_OP_SCAN, combine, x,
                  kc_type_tensor(x->type.elem, x->type.rank, x->type.shape), 1, &axis, init);
}

kc_value *kc_tensor_count(kc_builder *b, const kc_type *type, int n_axes, const int64_t *axes,
                          kc_dtype elem) {
    kc_expr_pool *pool = kc_op_pool(b->block->parent);
    const kc_expr *count = kc_expr_const(pool, 1);
    for (int i = 0; i < n_axes; i++)
        count = kc_expr_mul(pool, count, type->shape[axes[i]]);
    return kc_build_sym(b, kc_type_tensor(elem, 0, NULL), count);
}
