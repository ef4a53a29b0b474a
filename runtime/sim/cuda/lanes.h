/* Lane kernels: one operation on all 32 lanes of a warp, over structure-of-arrays registers.
 *
 * A kernel is a pure function: it computes every lane, also those that are switched off, and the
 * caller keeps what it wants. So kernels have no branches on masks, and compilers turn them into
 * vector code. The same source is compiled twice, for any host and for hosts with AVX2, FMA and
 * F16C; kcsim_lanes() picks once.
 *
 *     LANE(op, TYPE, D, A, B, C, expression)     in lanes_int.def: integers; a b c e are the
 * operands of one lane FLOAT(op, expression)                      in lanes_float.def: f32 (with and
 * without ftz) and f32x2 DOUBLE(op, expression)  HALF(op, expression)   f64; f16, f16x2, bf16,
 * bf16x2 computed in float, rounded once */
#ifndef KCSIM_LANES_H
#define KCSIM_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/sim/cuda/ptx.h"

#define KCSIM_LANES 32
/* The lanes of a mask, in order. */
#define KCSIM_EACH_LANE(lane, lanes)                                                               \
    for (uint32_t rest_##lane = (lanes), lane;                                                     \
         rest_##lane && (lane = (uint32_t)__builtin_ctz(rest_##lane), true);                       \
         rest_##lane &= rest_##lane - 1)

typedef void (*kcsim_lane_fn)(void *restrict d, const void *a, const void *b, const void *c,
                              const void *e);
/* One bit a lane. */
typedef uint32_t (*kcsim_compare_fn)(const void *a, const void *b);

/* What a lane kernel computes; finer than an instruction (mul.hi is not mul.lo). */
#define KCSIM_LANE_OPS(X)                                                                          \
    X(ADD) X(SUB) X(MUL) X(MUL_HI) X(MUL_WIDE) X(MAD) X(MAD_HI) X(MAD_WIDE) X(ADD_SAT) X(SUB_SAT)  \
    X(MUL24) X(MUL24_HI) X(MAD24) X(MAD24_HI) X(MAD24_HI_SAT) X(MAD_HI_SAT) X(DIV_APPROX)          \
    X(RCP_COARSE) X(RSQRT_COARSE) X(FMA) X(DIV) X(REM) X(ABS) X(NEG) X(MIN) X(MAX) X(MIN3)         \
    X(MAX3) X(MIN3_NAN) X(MAX3_NAN) X(MIN3_ABS) X(MAX3_ABS) X(MIN3_NAN_ABS) X(MAX3_NAN_ABS)        \
    X(MIN_NAN) X(MAX_NAN) X(MIN_XORSIGN) X(MAX_XORSIGN) X(MIN_NAN_XORSIGN) X(MAX_NAN_XORSIGN)      \
    X(SAD) X(AND) X(OR) X(XOR) X(NOT) X(CNOT) X(SHL) X(SHR) X(SHF_L_WRAP) X(SHF_L_CLAMP)           \
    X(SHF_R_WRAP) X(SHF_R_CLAMP) X(BFE) X(BFI) X(BFIND) X(BFIND_SHIFT) X(BREV) X(CLZ) X(POPC)      \
    X(PRMT) X(PRMT_F4E) X(PRMT_B4E) X(PRMT_RC8) X(PRMT_ECL) X(PRMT_ECR) X(PRMT_RC16) X(LOP3)       \
    X(BMSK_CLAMP) X(BMSK_WRAP) X(SZEXT_CLAMP) X(SZEXT_WRAP) X(DP4A_UU) X(DP4A_US) X(DP4A_SU)       \
    X(DP4A_SS) X(DP2A_LO_UU) X(DP2A_LO_US) X(DP2A_LO_SU) X(DP2A_LO_SS) X(DP2A_HI_UU)               \
    X(DP2A_HI_US) X(DP2A_HI_SU) X(DP2A_HI_SS) X(RCP) X(SQRT) X(RSQRT) X(SIN) X(COS) X(LG2) X(EX2)  \
    X(TANH) X(COPYSIGN) X(FLUSH) X(SATURATE) X(RELU) X(EXTEND_U16) X(EXTEND_S16) X(EXTEND_U32)     \
    X(EXTEND_S32) X(TRUNCATE_64) X(TRUNCATE_32) X(FROM_S32) X(FROM_U32) X(FROM_F16) X(FROM_BF16)   \
    X(FROM_F32)

typedef enum kcsim_lane_op {
#define X(name) KCSIM_LANE_##name,
    KCSIM_LANE_OPS(X)
#undef X
        KCSIM_LANE_OP_COUNT
} kcsim_lane_op;

typedef struct kcsim_lane_row {
    kcsim_lane_op op;
    ptx_type type;
    bool ftz;
    kcsim_lane_fn fn;
} kcsim_lane_row;

typedef struct kcsim_compare_row {
    ptx_modifier compare;
    ptx_type type;
    bool ftz;
    kcsim_compare_fn fn;
} kcsim_compare_row;

/* d[i] = mask bit i ? a[i] : b[i]; d may be a or b. `bytes` is 2, 4, 8 or 16. */
typedef void (*kcsim_blend_fn)(void *d, const void *a, const void *b, uint32_t mask,
                               unsigned bytes);

/* What 32 addresses have in common. */
typedef struct kcsim_span {
    uint64_t low, high; /* the least and the greatest */
    uint64_t bits;      /* all of them or-ed: what they are aligned to */
    bool same;          /* all equal */
    bool dense;         /* each `size` above the one before */
} kcsim_span;
typedef kcsim_span (*kcsim_span_fn)(const uint64_t *addresses, uint32_t size);

typedef struct kcsim_lane_table {
    const char *name;
    const kcsim_lane_row *rows;
    int row_count;
    const kcsim_compare_row *compares;
    int compare_count;
    kcsim_blend_fn blend;
    kcsim_span_fn span;
} kcsim_lane_table;

extern const kcsim_lane_table kcsim_lanes_base;
extern const kcsim_lane_table kcsim_lanes_avx2; /* empty on hosts that are no x86 */

const kcsim_lane_table *kcsim_lanes(void);

/* NULL when there is no such row. Types whose sign does not matter to `op` stand in the table as
 * unsigned. */
kcsim_lane_fn kcsim_lane_find(kcsim_lane_op op, ptx_type type, bool ftz);
kcsim_compare_fn kcsim_compare_find(ptx_modifier compare, ptx_type type, bool ftz);

#endif
