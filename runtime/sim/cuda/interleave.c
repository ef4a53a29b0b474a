/* Interleavings: what a seed other than 0 does so that warps and blocks meet in other orders.
 *
 * What others can see of a program that has no races happens at atomics and strong accesses. So
 * that is where turns end most often: between the load and the store of a lost update, between a
 * flag that was looked at and what was done about it. */
#include "runtime/sim/cuda/exec.h"

uint32_t kcsim_turn(uint64_t *random, unsigned bits) {
    uint64_t drawn = kcsim_random(random);
    return 1 + (uint32_t)(drawn >> 32 & (((uint64_t)1 << drawn % (bits + 1)) - 1));
}

void kcsim_interrupt(kcsim_warp *warp) {
    kcsim_block *block = warp->block;
    if (warp->clock_stands) return; /* it is watched for coming back to where it was */
    uint64_t drawn = kcsim_random(&block->random);
    if (drawn & 3) return;
    kcsim_warp_yield(warp);
    block->interrupted = drawn & 4;
}
