// What the manifest says about one function on one target, taken from the module after the last
// pass.
#ifndef KC_COMPILER_PACKAGE_VARIANTS_H
#define KC_COMPILER_PACKAGE_VARIANTS_H

#include <stdio.h>

#include "ir/ir.h"
#include "targets/build.h"

// The list `variants` of docs/PACKAGE.md as JSON. Resources come from `images` (none: left out).
void kc_variants_write(FILE *, const kc_op *func, const kc_target *, const kc_images *images);

// For people (`kc build --explain`): each variant, its predicate and why, each kernel and its
// schedule.
void kc_variants_explain(FILE *, const kc_op *func, const kc_target *);

#endif
