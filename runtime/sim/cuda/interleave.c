/* Interleavings: what a seed other than 0 does so that warps and blocks meet in other orders.
 *
 * What others can see of a program that has no races happens at atomics and strong accesses. So
 * that is where turns end most often: between the load and the store of a lost update, between a
 * flag that was looked at and what was done about it. And there lanes of a warp part, which have no
 * promise to keep step (PTX ISA, "Independent Thread Scheduling"):
 *
 *     lanes 0-15  st.volatile s[i]; ld.volatile s[i + 16]        reads what is not there yet
 *     lanes 16-31                                          st.volatile s[i]; ...
 *
 * until they come to an instruction that they have to execute together: a barrier, a shuffle, a
 * matrix product. */
#include "runtime/sim/cuda/exec.h"

#define OFTEN 32u  /* times that a warp parts at every second access; then it costs too much */
#define SELDOM 16u /* and it parts at one in so many */

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

/* Alternate lanes, pairs, ... halves, or any, as `drawn` says. */
static uint32_t some_lanes(uint64_t drawn) {
    static const uint32_t patterns[] = {0xaaaaaaaa, 0xcccccccc, 0xf0f0f0f0, 0xff00ff00, 0xffff0000};
    uint32_t which = drawn % 8;
    uint32_t lanes = which < 5 ? patterns[which] : (uint32_t)(drawn >> 32);
    return drawn & 8 ? lanes : ~lanes;
}

uint32_t kcsim_part(kcsim_warp *warp, uint32_t mask) {
    kcsim_block *block = warp->block;
    if (warp->clock_stands) return mask; /* as above */
    if (kcsim_random(&block->random) % (warp->partings < OFTEN ? 2 : SELDOM)) return mask;
    uint32_t lanes = some_lanes(kcsim_random(&block->random));
    if (!(lanes & mask)) lanes = ~lanes;
    lanes &= warp->mask;
    if (lanes == warp->mask) return mask;
    warp->partings++;
    kcsim_warp_part(warp, lanes, 1 + kcsim_turn(&block->random, 5));
    return mask & lanes;
}
