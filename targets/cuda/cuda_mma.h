// Hooks of code generation for tensor cores; see targets/common/emit.h.
#ifndef KC_TARGETS_CUDA_CUDA_MMA_H
#define KC_TARGETS_CUDA_CUDA_MMA_H

#include "targets/common/emit.h"

void kc_cuda_load_matrices(kc_emit *, LLVMValueRef pointer, int n, bool transposed,
                           LLVMValueRef *words);
void kc_cuda_multiply_matrices(kc_emit *, const kc_mma *, int n_a, const LLVMValueRef *a, int n_b,
                               const LLVMValueRef *b, int n_c, LLVMValueRef *c);
LLVMValueRef kc_cuda_round_tf32(kc_emit *, LLVMValueRef);

#endif
