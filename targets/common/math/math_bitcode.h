// The mathematical functions of kcmath.h as LLVM bitcode without target, made by math.mk and linked
// in by math_link.c.
#ifndef KC_TARGETS_COMMON_MATH_MATH_BITCODE_H
#define KC_TARGETS_COMMON_MATH_MATH_BITCODE_H

#include <stddef.h>

extern const unsigned char kc_math_bitcode[];
extern const size_t kc_math_bitcode_size;

#endif
