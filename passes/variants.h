// Shared by the files of the variants pass.
#ifndef KC_PASSES_VARIANTS_H
#define KC_PASSES_VARIANTS_H

#include "passes/pass.h"

enum { KC_VARIANT_MAX_FACTS = 32, KC_VARIANT_MOST = 8 };

typedef struct {
    int symbol;
    int64_t multiple_of, min, max; // those of the function's facts that hold too
} kc_variant_fact;

typedef struct {
    int n;
    kc_variant_fact facts[KC_VARIANT_MAX_FACTS];
    int n_aligned;
    const char **aligned;
    const kc_expr *when; // over the function's pool; NULL: always
    const char *reason;
} kc_variant_plan;

// ---- variants_choose.c: which variants a function gets, at most KC_VARIANT_MOST, from the most
// special to the general one, which has no `when`. Their number.
int kc_variants_choose(kc_pass_context *, kc_op *func, kc_variant_plan *plans);

#endif
