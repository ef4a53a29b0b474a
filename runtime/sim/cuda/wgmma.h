/* wgmma: matrices of a warpgroup, in its registers and in shared memory, multiplied asynchronously.
 *
 * A product is computed when it is issued, each warp its 16 rows; what is late is the permission to
 * touch its registers and its operands in memory, as with copies (copies.c):
 *
 *     wgmma.fence              registers written before may be used
 *     wgmma.mma_async          D and A belong to group committed + 1; reads shared memory by the
 *                              asynchronous proxy: stores want a fence.proxy.async on the way
 *     wgmma.commit_group       committed + 1
 *     wgmma.wait_group n       groups up to committed - n are done
 *
 * Stores are known by pieces of 16 bytes, registers by slot. */
#ifndef KCSIM_WGMMA_H
#define KCSIM_WGMMA_H

#include "runtime/sim/cuda/access.h"

/* What decoding found out; an instruction has k of 32 bytes. */
struct kcsim_wgmma_form {
    uint16_t n, k;
    ptx_type a, b, d;
    uint8_t d_registers, a_registers; /* a_registers 0: A is in shared memory */
    bool saturate, negative;
    bool a_transposed, b_transposed; /* the outer dimension is the contiguous one */
    const struct kcsim_mma_form *sparse; /* mma.h; NULL: A is dense. Its k is that of a section, as
                                            the k above is; the metadata ends the list */
};

typedef struct kcsim_wgmma kcsim_wgmma;
kcsim_wgmma *kcsim_wgmma_create(uint64_t shared_bytes, uint32_t warps, uint32_t slots);
void kcsim_wgmma_destroy(kcsim_wgmma *wgmma);
void kcsim_wgmma_reset(kcsim_wgmma *wgmma);

void kcsim_do_wgmma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_wgmma_fence(kcsim_warp *warp);
void kcsim_do_wgmma_group(kcsim_warp *warp, const kcsim_insn *insn);
void kcsim_do_proxy_fence(kcsim_warp *warp, const kcsim_insn *insn);

/* Before every other instruction: does it touch registers of a product in flight? */
void kcsim_wgmma_watch(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* Before every access to shared memory: does it overwrite an operand in flight? */
void kcsim_wgmma_touch(const kcsim_access *access);
/* The last lanes of a warp exit: have the warps of its warpgroup run the same? */
void kcsim_wgmma_leave(kcsim_warp *warp, uint32_t mask);

/* ---- where a matrix lies: wgmma_plan.c ---- */

#define KCSIM_WGMMA_PIECE 16u
#define KCSIM_WGMMA_PIECES 512u /* of 256 rows or columns of 32 bytes */
#define KCSIM_WGMMA_PLANS 32u

typedef struct kcsim_wgmma_key {
    uint64_t bits; /* of the descriptor, the start modulo 1024 */
    uint32_t first, rows;
    uint32_t lines; /* of K; 0 when K is contiguous */
} kcsim_wgmma_key;

/* Of `rows` rows (of A, columns of B) from `first` on the pieces of 16 bytes. All addresses count
 * from the start of the matrix, rounded down to 1024. */
typedef struct kcsim_wgmma_plan {
    kcsim_wgmma_key key;
    uint32_t across, count, run_count, end;
    uint32_t wavefronts, bank_conflicts; /* of reading them */
    /* K contiguous: piece k of a row at 2 * row + k; else the piece of eight rows from `row` on
     * that line k has, at across * k + row / 8. */
    uint32_t addresses[KCSIM_WGMMA_PIECES];
    kcsim_stretch runs[KCSIM_WGMMA_PIECES]; /* the same bytes, ascending, neighbours together */
} kcsim_wgmma_plan;

/* One of `plans`, of which there are KCSIM_WGMMA_PLANS: it is as it was, or made anew. */
const kcsim_wgmma_plan *kcsim_wgmma_plan_of(kcsim_wgmma_plan *plans, uint64_t bits, uint32_t first,
                                            uint32_t rows, uint32_t lines);

/* ---- for exec_wgmma.c: wgmma.c keeps the books ---- */

/* A product is issued: divergence, missing fences. Its registers are taken. */
void kcsim_wgmma_issue(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* It reads these stretches behind `start`, multiples of 16 bytes. */
void kcsim_wgmma_read(kcsim_warp *warp, const kcsim_insn *insn, uint32_t start,
                      const kcsim_stretch *list, uint32_t count, uint32_t mask);

#endif
