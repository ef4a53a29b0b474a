// Matrix products with one row or one column become a product and a sum: they are bound by memory,
// and the reduction is the form that reads it at full width.
#include "passes/products.h"
#include "passes/simplify.h"

#include <string.h>

// A matrix operand as memory holds it, and which of its last two dimensions k is.
typedef struct {
    kc_value *value;
    int k;
} matrix;

static bool swaps_last_two(const kc_op *op) {
    if (!op || op->code != KC_OP_TRANSPOSE) return false;
    const kc_attr *perm = kc_attr_get(op, KC_ATTR_PERM);
    int n = perm->count;
    for (int d = 0; d < n - 2; d++)
        if (perm->integers[d] != d) return false;
    return n >= 2 && perm->integers[n - 1] == n - 2;
}

static matrix operand_matrix(const kc_op *op, int i) {
    matrix m = {.value = kc_operand(op, i)};
    bool k_last = kc_product_k_last(op, i);
    while (swaps_last_two(m.value->def)) {
        m.value = kc_operand(m.value->def, 0);
        k_last = !k_last;
    }
    m.k = m.value->type.rank - 2 + k_last;
    return m;
}

// The operand repeated over `type`, where k is at dimension `k`. Its other dimension has one
// element or is in its place.
static kc_value *spread_over(kc_builder *b, const matrix *m, kc_dtype elem, int k,
                             const kc_type *type) {
    kc_value *v = kc_build_cast(b, m->value, elem);
    if (m->k != k) {
        const kc_expr *shape[KC_MAX_RANK];
        int rank = type->rank;
        memcpy(shape, v->type.shape, sizeof shape);
        shape[rank - 1] = v->type.shape[rank - 2];
        shape[rank - 2] = v->type.shape[rank - 1];
        v = kc_tensor_reshape(b, v, rank, shape);
    }
    return kc_tensor_broadcast(b, v, type->rank, type->shape);
}

// a[.., m, 0] * b[.., 0, n]
static kc_value *outer_product(kc_builder *b, kc_op *op, const matrix *x, const matrix *y) {
    const kc_type *type = &kc_result(op, 0)->type;
    int last = type->rank - 1;
    return kc_build_binary(b, KC_OP_MUL, spread_over(b, x, type->elem, last, type),
                           spread_over(b, y, type->elem, last - 1, type));
}

// sum over k of a[.., m, k] * b[.., k, n], where m or n has extent 1; a product without sum where k
// has. The matrix stays as memory holds it, and the vector is turned to its k. NULL: an ordinary
// matrix product.
kc_value *kc_simplify_product(kc_builder *b, kc_op *op) {
    const kc_type *type = &kc_result(op, 0)->type;
    matrix x = operand_matrix(op, 0), y = operand_matrix(op, 1);
    bool one_row = kc_expr_is_one(type->shape[type->rank - 2]),
         one_column = kc_expr_is_one(type->shape[type->rank - 1]);
    if (kc_expr_is_one(x.value->type.shape[x.k])) return outer_product(b, op, &x, &y);
    if (!one_row && !one_column) return NULL;
    const matrix *large = one_row ? &y : &x;
    int64_t k = large->k;
    const kc_type *space = &large->value->type;
    kc_value *product = kc_build_binary(b, KC_OP_MUL, spread_over(b, &x, type->elem, (int)k, space),
                                        spread_over(b, &y, type->elem, (int)k, space));
    return kc_tensor_reshape(b, kc_tensor_reduce(b, KC_OP_ADD, product, 1, &k, 0), type->rank,
                             type->shape);
}
