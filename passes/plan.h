// Shared by the files of the plan pass.
#ifndef KC_PASSES_PLAN_H
#define KC_PASSES_PLAN_H

#include "passes/pass.h"

// ---- plan_variants.c: which variants a function gets, and the facts that hold in each
enum {
    KC_PLAN_MAX_FACTS = 32,
    KC_PLAN_WHOLE_ROW = 8192,
    KC_PLAN_SHORT_ROW = 1024,
    KC_PLAN_FEWEST_ROWS = 16, // of a product, that have variants of their own
    KC_PLAN_FEW_ROWS = 64,
};

typedef struct {
    int n;
    struct {
        int symbol;
        int64_t max, multiple_of;
    } facts[KC_PLAN_MAX_FACTS]; // max 0: as it is
    int n_aligned;
    const char **aligned;
    const kc_expr *when; // over the function's pool; NULL: always
    const char *reason;
} kc_variant_plan;

// Ordered from the most special to the general one, which has no `when`.
int kc_plan_variants(kc_pass_context *, kc_op *func, kc_variant_plan *plans, int most);

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
void kc_plan_widen(kc_module *, kc_op *func);

// ---- plan_schedule.c: the model's schedule entries
// Reports entries that name no statement, and wishes that cannot be met on this target.
bool kc_plan_check_schedules(kc_pass_context *, const kc_op *func);
// Copies what the first matching entry wishes to the kernel.
void kc_plan_schedule(kc_pass_context *, const kc_op *func, kc_op *kernel);

#endif
