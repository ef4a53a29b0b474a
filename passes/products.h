// What several passes ask of a matrix product: where k lies, and what its elements are multiplied
// as.
#ifndef KC_PASSES_PRODUCTS_H
#define KC_PASSES_PRODUCTS_H

#include "ir/ir.h"

// Whether k is the last dimension of operand i, the one before it else.
static inline bool kc_product_k_last(const kc_op *product, int i) {
    kc_attr_key key = i ? KC_ATTR_TRANSPOSE_B : KC_ATTR_TRANSPOSE_A;
    return (i == 1) == (kc_attr_int(product, key, 0) != 0);
}

static inline int kc_product_axis_of_k(const kc_op *product, int i) {
    return kc_operand(product, i)->type.rank - 2 + kc_product_k_last(product, i);
}

// Edges are filled up with zeros, which f8e8m0 does not have; wider, its elements are the same.
static inline kc_dtype kc_product_elem(kc_dtype elem) {
    bool lacks_zero = kc_dtype_is_float(elem) && kc_dtype_round(elem, 0) != 0;
    return lacks_zero ? kc_dtype_compute(elem) : elem;
}

#endif
