/* The same lane kernels for x86 hosts with AVX2, FMA and F16C. */
#include "runtime/sim/cuda/lanes.h"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))),       \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#define LANES_VECTOR
#define LANES_TABLE kcsim_lanes_avx2
#define LANES_NAME "avx2"
#include "runtime/sim/cuda/lanes_impl.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
const kcsim_lane_table kcsim_lanes_avx2 = {.name = "none"};
#endif
