// The reference interpreter: what a function of tensor IR means. Slow, obvious, in double
// precision.
//
// It runs functions at the composite and the tensor level, after `fuse` too. Values of float types
// are computed in double and rounded only where the language rounds: at `cast` and at outputs.
// Integers are computed as integers of their type.
//
// Every element carries an error bound: how far the value of any right implementation may be from
// this one, when it computes in the IR's types, within the bounds of the language for each op, sums
// in any order, a*b+c contracted or not. A result `got` is right when
//
//     |got - value| <= bound + half an ulp of the output's type      or  got is value (the same
//     infinity, both NaN)
//
// A bound of infinity says that anything is right, NaN included: where the language leaves the
// value open, or an error within the bounds decides (an overflow, the sign under a root). Integers
// and bools have bound 0 unless they were decided by floats that tie within their bounds.
// ir/interp_number.h states the bound of each op, interp_reduce.c and interp_matmul.c those of sums
// and products.
//
// Thread-safe: the module is only read. Nothing is allocated from an arena but the diagnostic of a
// failure.
#ifndef KC_IR_INTERP_H
#define KC_IR_INTERP_H

#include "ir/ir.h"

// An argument in host memory.
typedef struct {
    kc_dtype type;
    int rank;
    const int64_t *shape;
    const int64_t *strides; // in elements; NULL: contiguous, row-major
    void *data;             // of the first element; of inputs only read
} kc_interp_array;

typedef struct {
    const char *name;
    int64_t value;
} kc_interp_symbol;

typedef struct {
    const kc_interp_array *inputs,
        *outputs; // in the function's order, constants behind the inputs; outputs may share memory
                  // with inputs
    int n_inputs, n_outputs;
    double *const *values; // by output, row-major: the value before it is rounded to the output's
                           // type; NULL or entries NULL
    double *const *bounds; // by output, row-major: its bound
    const kc_interp_symbol
        *symbols; // further ones follow from the shapes of inputs, where a dimension is a bare name
    int n_symbols;
    size_t max_bytes; // of memory; 0: KC_INTERP_MEMORY
    int64_t clamped;  // out: indices of gather that were out of range
} kc_interp_call;

#define KC_INTERP_MEMORY ((size_t)8 << 30)

// The function must have been verified at one of its levels. False: the reason is in the sink,
// outputs are undefined.
bool kc_interp_run(const kc_op *func, kc_interp_call *, kc_diag *);

#endif
