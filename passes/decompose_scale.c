// rope, quantize, dequantize as primitives. The large operand keeps its shape, so that it is read
// and written in whole vectors; what is repeated and reshaped is small.
#include "passes/decompose.h"

static kc_value *binary(kc_builder *b, kc_opcode code, kc_value *x, kc_value *y) {
    return kc_build_binary(b, code, x, y);
}

// ---- rope ---------------------------------------------------------------------------------------

// Half 0 or 1 of the last dimension, of the extent that `like` has there.
static kc_value *half(kc_builder *b, kc_value *x, const kc_type *like, int which) {
    kc_expr_pool *pool = kc_op_pool(b->block->parent);
    const kc_expr *starts[KC_MAX_RANK];
    int64_t steps[KC_MAX_RANK];
    int last = x->type.rank - 1;
    for (int d = 0; d <= last; d++)
        starts[d] = kc_expr_const(pool, 0), steps[d] = 1;
    if (which) starts[last] = like->shape[last];
    kc_value *part =
        kc_build_1(b, KC_OP_SLICE, kc_type_tensor(x->type.elem, x->type.rank, like->shape), 1, &x);
    kc_attr_set_exprs(b->module, part->def, KC_ATTR_STARTS, last + 1, starts);
    kc_attr_set_ints(b->module, part->def, KC_ATTR_STEPS, last + 1, steps);
    return part;
}

static kc_value *side_by_side(kc_builder *b, kc_value *left, kc_value *right,
                              const kc_type *whole) {
    kc_value *both =
        kc_build_1(b, KC_OP_CONCAT, kc_type_tensor(whole->elem, whole->rank, whole->shape), 2,
                   (kc_value *[]){left, right});
    kc_attr_set_int(both->def, KC_ATTR_AXIS, whole->rank - 1);
    return both;
}

// [x1 * cos - x2 * sin, x2 * cos + x1 * sin]: what is computed from a pair of elements is two
// results.
kc_value *kc_expand_rope(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0), *cosine = kc_operand(op, 1), *sine = kc_operand(op, 2);
    kc_value *left = half(b, x, &sine->type, 0), *right = half(b, x, &sine->type, 1);
    kc_value *first =
        binary(b, KC_OP_SUB, binary(b, KC_OP_MUL, left, cosine), binary(b, KC_OP_MUL, right, sine));
    kc_value *second =
        binary(b, KC_OP_ADD, binary(b, KC_OP_MUL, right, cosine), binary(b, KC_OP_MUL, left, sine));
    return side_by_side(b, first, second, &kc_result(op, 0)->type);
}

// ---- scales -------------------------------------------------------------------------------------

// One scale a block, [..., blocks], as [..., blocks * block]; then over the shape of x.
static kc_value *spread(kc_builder *b, kc_op *op) {
    const kc_type *x = &kc_operand(op, 0)->type;
    kc_value *scale = kc_operand(op, 1);
    int64_t block = kc_attr_int(op, KC_ATTR_BLOCK, 0);
    int rank = scale->type.rank;
    if (rank == 0 || block < 2 || kc_expr_is_one(scale->type.shape[rank - 1]))
        return kc_tensor_broadcast(b, scale, x->rank, x->shape);
    kc_expr_pool *pool = kc_op_pool(op);
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < rank; d++)
        shape[d] = scale->type.shape[d];
    shape[rank] = kc_expr_const(pool, 1);
    scale = kc_tensor_reshape(b, scale, rank + 1, shape);
    shape[rank] = kc_expr_const(pool, block);
    scale = kc_tensor_broadcast(b, scale, rank + 1, shape);
    shape[rank - 1] = x->shape[x->rank - 1];
    scale = kc_tensor_reshape(b, scale, rank, shape);
    return kc_tensor_broadcast(b, scale, x->rank, x->shape);
}

kc_value *kc_expand_quantize(kc_builder *b, kc_op *op) {
    kc_dtype to = kc_result(op, 0)->type.elem;
    kc_value *q = binary(b, KC_OP_DIV, kc_operand(op, 0), spread(b, op));
    return kc_build_cast(b, kc_dtype_is_integer(to) ? kc_build_unary(b, KC_OP_ROUND, q) : q, to);
}

kc_value *kc_expand_dequantize(kc_builder *b, kc_op *op) {
    return binary(b, KC_OP_MUL, kc_operand(op, 0), spread(b, op));
}
