// Shared by the files of the decompose pass: what takes the place of a composite op, NULL when it
// stays.
#ifndef KC_PASSES_DECOMPOSE_H
#define KC_PASSES_DECOMPOSE_H

#include "passes/tensor_build.h"

typedef kc_value *kc_expansion(kc_builder *, kc_op *);

// ---- decompose_scale.c
kc_expansion kc_expand_rope, kc_expand_quantize, kc_expand_dequantize;

#endif
