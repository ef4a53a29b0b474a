// What a pass over tensor IR works on: the bodies of functions, and of their variants once there
// are some.
#ifndef KC_PASSES_SCOPES_H
#define KC_PASSES_SCOPES_H

#include "passes/pass.h"

// Calls `visit` for every function without variants, and for every variant that is in tensor form.
// False of `visit` goes on with the next function: the variants of one would fail alike. Whether
// all were true.
bool kc_scopes(kc_pass_context *, bool (*visit)(kc_pass_context *, kc_op *scope));
// The function whose body the scope has.
const kc_op *kc_scope_func(const kc_op *scope);

#endif
