// Passes: one file, one exported descriptor each; pipeline.c is the list of them in order.
//
// A pass does one thing to a module in place. The driver (pipeline.c) does everything around it:
// dumping, verifying after each pass, timing, stopping early. A pass contains none of that.
#ifndef KC_PASSES_PASS_H
#define KC_PASSES_PASS_H

#include "ir/ir.h"
#include "targets/target.h"

typedef struct {
    kc_module *module;
    const kc_target *target; // NULL for passes that need none
    kc_diag *diag;
    kc_arena *scratch; // freed after the pass
    bool explain;      // record reasons in `reason` attributes
    bool no_fusion;    // `fuse` makes every op a kernel of its own
} kc_pass_context;

typedef struct {
    const char *name;
    const char *meaning;     // one line for `kc passes`
    int level_in, level_out; // what the module must be, and is after (KC_LEVEL_*)
    bool needs_target;
    bool (*run)(kc_pass_context *); // false after errors, which are in the sink
} kc_pass;

extern const kc_pass kc_pass_decompose, kc_pass_variants, kc_pass_simplify, kc_pass_split,
    kc_pass_fuse, kc_pass_plan, kc_pass_tile, kc_pass_layout, kc_pass_pipeline, kc_pass_sync;

// ---- the pipeline -------------------------------------------------------------------------------

// In order, NULL-terminated.
extern const kc_pass *const kc_pipeline[];
const kc_pass *kc_pass_find(const char *name);

typedef struct {
    const char *stop_after; // pass name, or NULL
    const char *dump_after; // pass name, "all", or NULL
    // Called with the text after a pass that was asked for; index counts passes from 0.
    void (*dump)(void *context, const kc_pass *, int index, const kc_module *);
    void *dump_context;
    void (*timed)(void *context, const kc_pass *, double seconds); // or NULL
    void *timed_context;
    bool explain, no_fusion;
} kc_pipeline_options;

// Runs `passes` (NULL-terminated). Verifies the module after each one: a violation is a fault of
// ours (kc_bug).
bool kc_pipeline_run(const kc_pass *const *passes, kc_module *, const kc_target *, kc_diag *,
                     const kc_pipeline_options *);
// "a,b,c" -> NULL-terminated arena array; NULL with a diagnostic that lists the passes when a name
// is unknown.
const kc_pass **kc_pipeline_parse(kc_arena *, const char *list, kc_diag *);

#endif
