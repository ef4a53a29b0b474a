// Shared by the files of the split pass.
#ifndef KC_PASSES_SPLIT_H
#define KC_PASSES_SPLIT_H

#include "passes/pass.h"

// Replaces a matrix product by one of `parts` parts of k, a batch dimension, and their sum. Gives
// the product. NULL: its rank leaves no room for another dimension.
kc_op *kc_split_product(kc_pass_context *, kc_op *scope, kc_op *product, int64_t parts);
// Into how many parts the cost model would cut it; `schedule`: the entry that speaks of it, or
// NULL.
int64_t kc_split_worth(kc_pass_context *, const kc_op *product, const kc_op *schedule);

#endif
