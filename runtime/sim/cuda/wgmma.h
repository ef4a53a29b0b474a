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

/* ---- for exec_wgmma.c: wgmma.c keeps the books ---- */

/* A product is issued: divergence, missing fences. Its registers are taken. */
void kcsim_wgmma_issue(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* It reads these bytes, a multiple of 16. */
void kcsim_wgmma_read(kcsim_warp *warp, const kcsim_insn *insn, uint32_t address, uint32_t size,
                      uint32_t mask);

#endif
