// Whether reductions of a matrix product are made by the kernel of the product: `split` and `fuse`
// ask.
//
// A tile of the product then holds whole what is reduced together: its rows, its columns, or the
// parts that `split` cuts long ones into, whose results another kernel reduces.
#ifndef KC_PASSES_JOIN_H
#define KC_PASSES_JOIN_H

#include "passes/pass.h"

typedef struct {
    kc_op *scope, *product;
    bool reduced[2];          // of the product's rows and columns, along which reductions reduce
    const kc_expr *extent[2]; // of these dimensions
    const kc_expr *part[2];   // of the parts that one is cut into; NULL: it is not cut
    int64_t held;             // what the reductions hold beside the product, in its elements
} kc_join;

// For a product that is not cut into parts.
kc_join kc_join_of(kc_op *scope, kc_op *product);
// Whether the cost model finds it better than a kernel that reads the product. Numbers the ops of
// the scope.
bool kc_join_pays(kc_pass_context *, const kc_join *);
// The extent along dimension i (0: rows) of the tile that suits the product best; 0: there is none.
int64_t kc_join_tile(kc_pass_context *, const kc_join *, int i);

#endif
