// Questions about the reductions of a fusion or kernel body that both `plan` and `tile` ask.
#ifndef KC_PASSES_ROWS_H
#define KC_PASSES_ROWS_H

#include "ir/ir.h"

// Whether the elements under a reduction are wanted again once it is known: a result has their
// shape, or another reduction of them depends on it. Holding them then saves reading them twice.
// Numbers the ops of `body`.
bool kc_rows_needed_again(kc_expr_pool *, kc_arena *scratch, kc_block *body,
                          const kc_op *reduction);

#endif
