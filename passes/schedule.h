// The model's schedule entries, as several passes read them.
#ifndef KC_PASSES_SCHEDULE_H
#define KC_PASSES_SCHEDULE_H

#include "ir/ir.h"
#include "targets/target.h"

// Whether the entry speaks of this target; without one (NULL) only entries for every target do.
bool kc_schedule_matches(const kc_target *, const kc_op *schedule);
// Whether the block has a value of that name.
bool kc_schedule_computes(const kc_block *, const char *name);
// The first entry of the function for this target that speaks of the op: one for all statements, or
// for one that it, or an op that no reduction or contraction stands between, computes. NULL: none.
kc_op *kc_schedule_entry(const kc_target *, kc_arena *scratch, kc_op *scope, kc_op *op);

#endif
