// How the symbols of a function get their values at launch (docs/PACKAGE.md, "How symbols get their
// values").
#ifndef KC_COMPILER_FRONTEND_BINDING_H
#define KC_COMPILER_FRONTEND_BINDING_H

#include "ir/ir.h"

typedef enum {
    KC_BOUND_SHAPE,  // stands bare in a shape, or an extent is affine in it with everything else
                     // known
    KC_BOUND_STRIDE, // no shape gives it, and it stands bare in strides: a stride name
    KC_BOUND_PASSED, // nothing gives it: the caller passes it
} kc_bound;

// One entry for each symbol of the function's pool whose name has no dot (align.x and dev.* are not
// the model's), by symbol index; entries of other symbols are KC_BOUND_SHAPE. `bound` has room for
// kc_expr_symbol_count(pool) entries.
void kc_func_bindings(const kc_op *func, kc_bound *bound);

#endif
