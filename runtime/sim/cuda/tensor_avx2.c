/* The same work on tiles for x86 hosts with AVX2, FMA and F16C. */
#include "runtime/sim/cuda/tensor.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))),       \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#define TENSOR_VECTOR
#define TENSOR_TABLE kcsim_tensor_avx2
#include "runtime/sim/cuda/tensor_impl.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
const kcsim_tensor_table kcsim_tensor_avx2 = {.elements = 0};
#endif
