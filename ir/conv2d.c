#include "ir/conv2d.h"

const kc_expr *kc_conv2d_extent(kc_expr_pool *pool, const kc_expr *input, const kc_expr *kernel,
                                const kc_expr *low, const kc_expr *high, int64_t step,
                                int64_t dilation) {
    const kc_expr *one = kc_expr_const(pool, 1), *zero = kc_expr_const(pool, 0);
    const kc_expr *padded = kc_expr_add(pool, input, kc_expr_add(pool, low, high));
    const kc_expr *reach =
        kc_expr_mul(pool, kc_expr_const(pool, dilation), kc_expr_sub(pool, kernel, one));
    const kc_expr *room = kc_expr_sub(pool, kc_expr_sub(pool, padded, reach), one);
    const kc_expr *extent = kc_expr_add(
        pool, kc_expr_binary(pool, KC_EXPR_FLOORDIV, room, kc_expr_const(pool, step)), one);
    if (!extent || kc_expr_min_value(pool, extent) >= 0) return extent;
    return kc_expr_binary(pool, KC_EXPR_MAX, extent, zero);
}

const kc_expr *kc_conv2d_op_extent(kc_expr_pool *pool, const kc_op *op, int which) {
    const kc_type *x = &kc_operand(op, 0)->type, *w = &kc_operand(op, 1)->type;
    return kc_conv2d_extent(pool, x->shape[2 + which], w->shape[2 + which],
                            kc_attr_get(op, KC_ATTR_LOW)->exprs[which],
                            kc_attr_get(op, KC_ATTR_HIGH)->exprs[which],
                            kc_attr_get(op, KC_ATTR_STEPS)->integers[which],
                            kc_attr_get(op, KC_ATTR_DILATION)->integers[which]);
}
