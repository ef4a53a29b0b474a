/* Happens-before where more than the block's barriers make it: mbarriers and the cluster's barrier.
 *
 *     warp 0  writes x at tick 3 -- arrive: object's clock = {0:3}, tick 4 -- writes y at tick 4
 *     warp 1  -- wait: takes {0:3} -- reads x: 3 is known, ordered -- reads y: 4 is not: a race
 *
 * PTX ISA, "Memory Consistency Model": a release pattern is a release, or a fence and a relaxed
 * operation behind it; an acquire pattern is an acquire, or a relaxed operation and a fence behind
 * it. */
#include "runtime/sim/cuda/exec.h"

#include <string.h>

void kcsim_order_join(uint32_t *into, const uint32_t *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (from[i] > into[i]) into[i] = from[i];
}

void kcsim_order_release(kcsim_warp *warp, uint32_t *into, bool relaxed) {
    kcsim_order_join(into, relaxed ? warp->fenced : warp->time, warp->block->launch->clock_count);
    if (!relaxed) kcsim_order_tick(warp);
}

void kcsim_order_acquire(kcsim_warp *warp, const uint32_t *from, bool relaxed) {
    kcsim_order_join(relaxed ? warp->observed : warp->time, from, warp->block->launch->clock_count);
    warp->knowledge++;
    kcsim_lanes_order(warp);
}

void kcsim_order_fence(kcsim_warp *warp) {
    uint32_t count = warp->block->launch->clock_count;
    if (!warp->fenced) return;
    kcsim_order_join(warp->time, warp->observed, count);
    memcpy(warp->fenced, warp->time, count * sizeof *warp->time);
    kcsim_order_tick(warp);
}
