// The geometry of conv2d, which the frontend, the verifier, the interpreter and the tile pass must
// agree on. Attributes with two items speak of height, then of width.
#ifndef KC_IR_CONV2D_H
#define KC_IR_CONV2D_H

#include "ir/ir.h"

// How often a kernel fits into a padded input: (input + low + high - dilation * (kernel - 1) - 1)
// // step + 1, and 0 where the kernel is larger. NULL: too large an expression.
const kc_expr *kc_conv2d_extent(kc_expr_pool *, const kc_expr *input, const kc_expr *kernel,
                                const kc_expr *low, const kc_expr *high, int64_t step,
                                int64_t dilation);
// That of an op, for height (0) or width (1).
const kc_expr *kc_conv2d_op_extent(kc_expr_pool *, const kc_op *, int which);

#endif
