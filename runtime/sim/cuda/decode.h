/* What the decoder's files share: one statement in, one instruction out. */
#ifndef KCSIM_DECODE_H
#define KCSIM_DECODE_H

#include "runtime/sim/cuda/code.h"

/* An operand that is not there. As a source it reads as zeros; as a destination it is dropped. */
#define KCSIM_NOWHERE 0x7fffffffu

/* Addresses of shared, local and parameter memory seen as generic ones. */
#define KCSIM_SHARED_WINDOW 0x500000000000u
#define KCSIM_LOCAL_WINDOW 0x510000000000u
#define KCSIM_PARAM_WINDOW 0x520000000000u
#define KCSIM_WINDOW_BYTES 0x100000000u
/* Addresses of .shared::cluster: exec_cluster.c. */
#define KCSIM_RANK_SHIFT 24
#define KCSIM_OFFSET_MASK 0xffffffu
#define KCSIM_CLUSTER_MOST 16u

typedef struct kcsim_decoder {
    ptx_module *module;
    const kcsim_flat *flat;
    const uint32_t *slot_of;
    kcsim_code *code;
    const ptx_statement *statement;
    kcsim_insn *insn;
    uint8_t *constants;
    size_t constant_count, constant_capacity; /* in bytes */
    uint32_t *buckets;                        /* of interned constants: offset + 1 */
} kcsim_decoder;

/* Records the error with the statement's line; always false. */
bool kcsim_decode_fail(kcsim_decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

kcsim_ref kcsim_absent(void);
static inline bool kcsim_is_absent(kcsim_ref ref) {
    return ref.at == KCSIM_NOWHERE;
}
static inline unsigned kcsim_type_bytes(ptx_type type) {
    return ptx_types[type].bits <= 8 ? 1 : ptx_types[type].bits / 8u;
}

/* Bytes of the register in an operand; -1 when it is no register. 0 is a predicate. */
int kcsim_register_bytes(const kcsim_decoder *decoder, const ptx_operand *operand);
/* A value of exactly `bytes` (2, 4, 8, 16; 0 a predicate) as a source; constants are read as
 * `type`. */
bool kcsim_decode_source(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                         ptx_type type, kcsim_ref *out);
/* A register of exactly `bytes`, or `_`. */
bool kcsim_decode_destination(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                              kcsim_ref *out);
/* A predicate source; *negated is set for !p. */
bool kcsim_decode_predicate(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *out,
                            bool *negated);
/* `bits` in every lane. */
kcsim_ref kcsim_decode_constant(kcsim_decoder *decoder, uint64_t bits, unsigned bytes);
/* The address a variable has for its space. */
uint64_t kcsim_variable_address(const kcsim_decoder *decoder, const ptx_variable *variable);
/* d, or d and p of `d|p`. */
bool kcsim_decode_pair(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                       unsigned second_bytes);
/* The operand in brackets: a register of *width bytes and an offset. */
bool kcsim_decode_address(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *out,
                          int64_t *offset, uint8_t *width);
kcsim_ref *kcsim_decode_list(kcsim_decoder *decoder, uint32_t count);
ptx_space kcsim_statement_space(const ptx_statement *statement);
/* .shared::cluster, or generic: addresses may be those of another block of the cluster. */
bool kcsim_reaches_cluster(const ptx_statement *statement);

bool kcsim_decode_arithmetic(kcsim_decoder *decoder); /* decode_arithmetic.c */
bool kcsim_decode_other(kcsim_decoder *decoder);   /* decode_move.c: compares, moves, conversions */
bool kcsim_decode_memory(kcsim_decoder *decoder);  /* decode_memory.c */
bool kcsim_decode_bulk(kcsim_decoder *decoder);    /* decode_bulk.c */
bool kcsim_decode_tensormap(kcsim_decoder *decoder); /* decode_tensormap.c */
/* A narrow scope on something that may order global memory is noted. */
static inline void kcsim_note_scope(kcsim_decoder *decoder) {
    ptx_modifier scope = ptx_has(decoder->statement, PTX_GROUP_SCOPE);
    decoder->code->narrow_scopes |= scope == PTX_M_CTA || scope == PTX_M_CLUSTER;
}
bool kcsim_decode_cluster(kcsim_decoder *decoder); /* decode_cluster.c: clusters, mbarriers */
bool kcsim_decode_control(kcsim_decoder *decoder); /* decode_control.c: branches, barriers, warps */

/* ---- decode_matrix.c: tensor cores ---- */
bool kcsim_decode_matrix(kcsim_decoder *decoder);
bool kcsim_decode_wgmma(kcsim_decoder *decoder); /* decode_wgmma.c */
/* ldmatrix and stmatrix of 8 bits and less: decode_bytes.c */
bool kcsim_decode_matrix_bytes(kcsim_decoder *decoder, bool is_store);
bool kcsim_decode_wmma(kcsim_decoder *decoder); /* decode_wmma.c */
bool kcsim_decode_wmma_move(kcsim_decoder *decoder, bool is_store);
/* .rn .rz .rm .rp, of f64 alone. */
bool kcsim_decode_rounding(kcsim_decoder *decoder);
bool kcsim_decode_mma_sections(kcsim_decoder *decoder); /* decode_sparse.c: mma.sp, .block_scale */
/* Exactly `count` registers, alone or in braces. */
bool kcsim_decode_fragment(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *list,
                           uint32_t count, unsigned bytes, bool is_written);
/* The PTX says that it is for an sm_ that has this, and new enough; `suffix`: only with a or f. */
bool kcsim_decode_needs(kcsim_decoder *decoder, int target, bool suffix, int version);
typedef struct kcsim_extent {
    uint32_t m, n, k;
} kcsim_extent;
/* Of a .mMnNkK; zeros for other shapes. */
kcsim_extent kcsim_matrix_extent(const ptx_statement *statement);

#endif
