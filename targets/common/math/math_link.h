// Gives a GPU module the mathematical functions it calls.
//
// A module declares what it needs, `declare float @kc_math_exp_f32(float)`, and calls it; kcmath.h
// lists the functions. After kc_math_link each such declaration is an internal, always-inline
// definition. The pass list that follows must begin with `always-inline`, a module pass, as in
// "always-inline,function(sroa,...)": it leaves the bodies in their callers and no function behind.
// A body's operations are never contracted or otherwise made inexact, whatever flags the caller's
// own operations carry. The module must have its triple and data layout already.
#ifndef KC_TARGETS_COMMON_MATH_MATH_LINK_H
#define KC_TARGETS_COMMON_MATH_MATH_LINK_H

#include <stdbool.h>

#include <llvm-c/Core.h>

// Returns false, with *error a message (the caller's, for LLVMDisposeMessage), if the module
// declares a kc_math_ function that does not exist or has another type; the module is then as it
// was. Without such declarations it does nothing.
bool kc_math_link(LLVMModuleRef module, char **error);

#endif
