/* cvt: between all number formats of PTX, in every rounding mode, one lane at a time. The common
 * conversions have lane kernels; this is the definition. */
#ifndef KCSIM_CONVERT_H
#define KCSIM_CONVERT_H

#include "runtime/sim/cuda/ptx.h"

typedef struct kcsim_conversion {
    ptx_type to, from;
    ptx_modifier round; /* PTX_M_NONE: what the pair of types implies */
    bool ftz, sat, satfinite, relu;
    uint8_t to_bytes, from_bytes; /* of the registers */
} kcsim_conversion;

/* NULL, or why this pair of types or this rounding cannot be. */
const char *kcsim_conversion_problem(const kcsim_conversion *conversion, bool has_second);

/* d and a are 32 lanes of to_bytes and from_bytes; b is the second source of packed forms, or NULL.
 */
void kcsim_convert(const kcsim_conversion *conversion, void *d, const void *a, const void *b);

/* The bits of a number nearest to value in a format (F16, BF16, F32, TF32, E4M3X2's and E5M2X2's
 * element). */
uint64_t kcsim_encode(ptx_type format, double value, ptx_modifier round);
double kcsim_decode(ptx_type format, uint64_t bits);

#endif
