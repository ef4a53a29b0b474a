// The parameters of a kernel, in order: what code generation declares and the package's steps pass.
//
//   1. each input: a scalar by value (its body argument is a rank-0 TILE) or a pointer (its body argument is a TENSOR)
//   2. each output: a pointer
//   3. each symbol that the kernel's body mentions (sym ops, grids, shapes and strides of its buffers), in ascending
//      symbol index: i64
#ifndef KC_IR_KERNEL_PARAMS_H
#define KC_IR_KERNEL_PARAMS_H

#include "ir/ir.h"

typedef enum { KC_PARAM_POINTER, KC_PARAM_SCALAR, KC_PARAM_SYMBOL } kc_param_kind;

typedef struct {
    kc_param_kind kind;
    kc_value *argument; // body argument; NULL for a symbol
    kc_value *operand;  // what the kernel op is given: a function argument, an `output` or a `buffer`; NULL for a symbol
    bool written;       // an output
    int symbol;         // KC_PARAM_SYMBOL: index in kc_op_pool(kernel)
} kc_param;

// Fills *params with an arena array and returns its length.
int kc_kernel_params(kc_arena *, const kc_op *kernel, kc_param **params);
// Whether what the kernel is given to write may be the memory of what it is given to read: the same value, or an output
// that may overlap that input.
bool kc_kernel_may_overlap(const kc_op *kernel, const kc_value *read, const kc_value *written);

#endif
