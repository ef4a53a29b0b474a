/* Asynchronous copies as global memory sees them: which of its words a copy may still read or
 * write, as far as a warp knows.
 *
 * PTX ISA, "Asynchronous operations": a copy is as if another thread made it. Its issue comes before
 * what it does to memory, and that before its completion, which is somebody's wait:
 *
 *     warp 0   bulk store of x at tick 3 - wait_group 0 at tick 3 - releases a flag
 *     warp 9   -------------------------------------------------- acquires it: knows {0:3} - reads x
 *
 * race_global.c orders the issue; here the completion is looked for: by the wait of the group's
 * thread (and not one of .read, which is about shared memory alone), or by whoever has waited for
 * the mbarrier's phase. A trip is what one line's copies, of one group or phase, go by. */
#ifndef KCSIM_TRANSIT_H
#define KCSIM_TRANSIT_H

#include "runtime/sim/cuda/access.h"

/* ---- a worker's: trips, and the words they touch ---- */

typedef struct kcsim_transit kcsim_transit;
kcsim_transit *kcsim_transit_create(const kcsim_memory *memory);
void kcsim_transit_destroy(kcsim_transit *transit);
/* A cluster begins that does not talk to those before it. */
void kcsim_transit_begin(kcsim_transit *transit);

/* Lanes of the running instruction copy as their threads' open groups; `lanes` becomes those of one
 * trip, as not all need be in groups of one number. 0: it goes unseen. */
uint32_t kcsim_transit_group(kcsim_warp *warp, bool bulk, uint32_t *lanes);
/* A lane's copy tells the mbarrier at `at` of `home`. `also`: another trip by which its end may
 * be known as well, or 0. */
uint32_t kcsim_transit_landing(const kcsim_warp *warp, uint32_t lane, kcsim_block *home,
                               uint64_t at, uint32_t phase, uint32_t also);
/* The trip's copies touch these bytes. Words that they touch in part are left out. */
void kcsim_transit_touch(kcsim_transit *transit, uint32_t trip, uint64_t address, uint64_t size,
                         kcsim_access_kind kind);

/* Reports lanes that meet a copy whose completion nothing orders before them. */
void kcsim_transit_check(kcsim_access *access);
/* All copies of that word by the warp `key` that end at an mbarrier have, as far as `warp` knows. */
bool kcsim_transit_has_landed(const kcsim_warp *warp, uint64_t address, uint32_t key);

/* ---- a block's: the trips that are open ---- */

typedef struct kcsim_departures kcsim_departures;
kcsim_departures *kcsim_departures_create(uint32_t warp_count);
void kcsim_departures_destroy(kcsim_departures *departures);
void kcsim_departures_reset(kcsim_departures *departures, uint32_t warp_count);

/* Commits groups and waits for them: what copies.c does for shared memory. */
void kcsim_transit_commit(kcsim_warp *warp, bool bulk, uint32_t lanes);
void kcsim_transit_wait(kcsim_warp *warp, bool bulk, uint32_t lanes, uint64_t left);
/* The lane's copies so far are waited for by way of an mbarrier. */
void kcsim_transit_hand_over(kcsim_warp *warp, uint32_t lane);
/* A warp has seen that all phases before `phase` of an mbarrier are complete. */
void kcsim_transit_observed(kcsim_block *home, const kcsim_warp *warp, uint64_t at, uint32_t phase);

#endif
