// Shared by the files of the simplify pass.
#ifndef KC_PASSES_SIMPLIFY_H
#define KC_PASSES_SIMPLIFY_H

#include "passes/tensor_build.h"

// ---- simplify_product.c: what takes the place of a matrix product, NULL when it stays
kc_value *kc_simplify_product(kc_builder *, kc_op *);

#endif
