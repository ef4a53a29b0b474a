// Shared by the files of the plan pass.
#ifndef KC_PASSES_PLAN_H
#define KC_PASSES_PLAN_H

#include "passes/pass.h"

// ---- plan_in_place.c
// Whether the fusion reads each element of the argument only where it writes that element of its
// results.
bool kc_plan_reads_in_place(kc_arena *, const kc_op *fusion, const kc_value *argument);

// ---- plan_workspace.c: offsets of the buffers between kernels, by liveness
typedef struct kc_workspace kc_workspace;
kc_workspace *kc_workspace_create(kc_arena *, kc_expr_pool *);
// A place for a buffer that is written by step `first` and last read by step `last`.
const kc_expr *kc_workspace_place(kc_workspace *, const kc_expr *bytes, int first, int last);
const kc_expr *kc_workspace_bytes(const kc_workspace *);

// ---- plan_widen.c: 4-bit values between kernels that cannot be packed become 8-bit ones
void kc_plan_widen(kc_module *, kc_op *variant);

// ---- plan_schedule.c: the model's schedule entries
// Reports entries that name no statement, and wishes that cannot be met on this target.
bool kc_plan_check_schedules(kc_pass_context *, const kc_op *variant);
// Copies what the first matching entry wishes to the kernel.
void kc_plan_schedule(kc_pass_context *, const kc_op *variant, kc_op *kernel);

#endif
