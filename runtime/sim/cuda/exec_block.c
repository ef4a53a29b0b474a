/* One block: its memory, and the scheduler of its warps.
 *
 * The scheduler takes a warp at random, seeded by the launch's seed and the block's number, and
 * lets it run for a random number of instructions (where warps may see each other by atomics or
 * strong accesses, also for very few). So interleavings differ between seeds and repeat for one
 * seed. Where nothing in memory changes for long, exec_poll.c finds out whether it ever will. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/mbarrier.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"
#include "runtime/sim/cuda/wgmma.h"

#define QUIET_STEPS                                                                                \
    ((uint64_t)1                                                                                   \
     << 14) /* instructions without any change before polling is looked for; then twice that */

uint64_t kcsim_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void *aligned_zeros(uint64_t bytes) {
    void *memory = NULL;
    uint64_t rounded = (bytes + 127) / 64 * 64;
    if (posix_memalign(&memory, 64, rounded) != 0) return NULL;
    memset(memory, 0, rounded);
    return memory;
}

/* Threads fill warps in x, then y, then z. */
static void number_threads(kcsim_block *block) {
    const uint32_t *size = block->launch->block;
    for (uint32_t w = 0; w < block->warp_count; w++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t thread = w * 32 + lane;
            block->warps[w].tid[0][lane] = thread % size[0];
            block->warps[w].tid[1][lane] = thread / size[0] % size[1];
            block->warps[w].tid[2][lane] = thread / size[0] / size[1];
        }
}

/* What is remembered of its asynchronous copies. */
static bool create_copies(kcsim_block *block) {
    const kcsim_grid *launch = block->launch;
    const kcsim_code *code = launch->code;
    uint32_t first = block->rank * block->warp_count;
    bool made = true;
    if (launch->check_copies && code->copies) {
        block->copies = kcsim_copies_create(launch->shared_bytes, block->warp_count, first);
        made &= block->copies != NULL;
    }
    if (code->bulk) {
        block->proxy = kcsim_proxy_create(block->warp_count, launch->clock_count);
        made &= block->proxy != NULL;
    }
    if (code->bulk && launch->machine->options.seed) {
        block->late = kcsim_late_create(block->warp_count * KCSIM_LANES);
        made &= block->late != NULL;
    }
    if (launch->check_copies && code->bulk) {
        block->leaving = kcsim_copies_create(launch->shared_bytes, block->warp_count, first);
        block->flights = kcsim_flights_create(launch->shared_bytes, launch->clock_count);
        block->across = kcsim_across_create(launch->shared_bytes, launch->clock_count);
        made &= block->leaving && block->flights && block->across;
    }
    if (block->worker->transit) {
        block->departures = kcsim_departures_create(block->warp_count);
        made &= block->departures != NULL;
    }
    return made;
}

/* What the checks remember of the block. */
static bool create_checks(kcsim_block *block) {
    const kcsim_grid *launch = block->launch;
    const kcsim_code *code = launch->code;
    bool alone = launch->cluster_blocks == 1, made = true;
    if ((launch->check_race || (launch->check_proxy && code->bulk)) && launch->shared_bytes) {
        block->race = kcsim_race_create(launch->shared_bytes, launch->cluster_blocks);
        block->traces = kcsim_traces_create(launch->shared_bytes);
        made &= block->race && block->traces;
    }
    if (code->flags && launch->check_order) {
        block->flags = kcsim_flags_create(launch->shared_bytes, launch->clock_count);
        made &= block->flags != NULL;
    }
    if (code->wgmma && launch->check_wgmma) {
        block->wgmma =
            kcsim_wgmma_create(launch->shared_bytes, block->warp_count, code->slot_count);
        made &= block->wgmma != NULL;
    }
    if (code->mbarriers) {
        block->mbarriers = kcsim_mbarriers_create(launch->shared_bytes, launch->clock_count);
        made &= block->mbarriers != NULL;
    }
    if (launch->hands_over) {
        block->handed =
            calloc((size_t)block->warp_count * launch->clock_count, sizeof *block->handed);
        made &= block->handed != NULL;
    }
    /* Where atomics may order blocks, which is not followed, nothing is said of visits. */
    if (launch->check_bounds && !alone && !code->talks_across_blocks) {
        block->visits = calloc(launch->clock_count, sizeof *block->visits);
        made &= block->visits != NULL;
    }
    return create_copies(block) && made;
}

/* Each warp's part of what the block has. clocks: how many of each warp of the cluster it keeps. */
static void deal_out(kcsim_block *block, uint64_t register_bytes, uint32_t clocks) {
    const kcsim_grid *launch = block->launch;
    const kcsim_code *code = launch->code;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        warp->block = block;
        warp->index = w;
        warp->id = block->rank * block->warp_count + w;
        warp->time = block->clocks + (size_t)w * clocks * launch->clock_count;
        if (clocks > 1) {
            warp->fenced = warp->time + launch->clock_count;
            warp->observed = warp->fenced + launch->clock_count;
        }
        warp->registers = block->registers + register_bytes * w;
        warp->constants = code->constants;
        warp->full = block->full + (size_t)code->slot_count * w;
        if (launch->track) warp->defined = block->defined + (size_t)code->slot_count * w;
        if (block->handed) warp->handed = block->handed + (size_t)w * launch->clock_count;
    }
}

bool kcsim_block_create(kcsim_block *block, kcsim_cluster *cluster, uint32_t rank) {
    kcsim_worker *worker = cluster->worker;
    const kcsim_grid *launch = worker->launch;
    const kcsim_code *code = launch->code;
    memset(block, 0, sizeof *block);
    block->worker = worker;
    block->cluster = cluster;
    block->rank = rank;
    block->launch = launch;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->warp_count = (block->thread_count + 31) / 32;
    uint64_t register_bytes = (code->register_bytes + 63u) / 64 * 64;
    block->warps = calloc(block->warp_count, sizeof *block->warps);
    block->registers = aligned_zeros(register_bytes * block->warp_count);
    block->full =
        aligned_zeros((uint64_t)code->slot_count * block->warp_count * sizeof *block->full);
    if (launch->track)
        block->defined =
            calloc((size_t)code->slot_count * block->warp_count, sizeof *block->defined);
    block->shared = aligned_zeros(launch->shared_bytes);
    block->shared_defined = aligned_zeros(launch->shared_bytes);
    block->local = aligned_zeros(code->local_bytes * block->warp_count * 32);
    block->local_defined = aligned_zeros(code->local_bytes * block->warp_count * 32);
    uint32_t clocks = code->orders || launch->cluster_blocks > 1 ? 3 : 1;
    block->clocks =
        calloc((size_t)block->warp_count * clocks * launch->clock_count, sizeof *block->clocks);
    if (code->arrives)
        block->arrivals =
            calloc((size_t)KCSIM_BARRIERS * launch->clock_count, sizeof *block->arrivals);
    if (!block->clocks || (code->arrives && !block->arrivals) || !create_checks(block) ||
        !block->warps || !block->registers || !block->full || (launch->track && !block->defined) ||
        !block->shared || !block->shared_defined || !block->local || !block->local_defined) {
        kcsim_block_destroy(block);
        return false;
    }
    deal_out(block, register_bytes, clocks);
    number_threads(block);
    return true;
}

void kcsim_block_destroy(kcsim_block *block) {
    for (uint32_t w = 0; block->warps && block->worker->talk && w < block->warp_count; w++)
        kcsim_talk_forget(&block->warps[w]);
    free(block->warps);
    free(block->registers);
    free(block->full);
    free(block->defined);
    free(block->shared);
    free(block->shared_defined);
    free(block->local);
    free(block->local_defined);
    kcsim_race_destroy(block->race);
    kcsim_traces_destroy(block->traces);
    kcsim_copies_destroy(block->copies);
    kcsim_wgmma_destroy(block->wgmma);
    kcsim_copies_destroy(block->leaving);
    kcsim_flights_destroy(block->flights);
    kcsim_across_destroy(block->across);
    kcsim_proxy_destroy(block->proxy);
    kcsim_departures_destroy(block->departures);
    kcsim_late_destroy(block->late);
    kcsim_mbarriers_destroy(block->mbarriers);
    kcsim_flags_destroy(block->flags);
    free(block->clocks);
    free(block->arrivals);
    free(block->visits);
    free(block->handed);
    free(block->past);
    memset(block, 0, sizeof *block);
}

static void start_warp(kcsim_block *block, kcsim_warp *warp) {
    uint32_t first = warp->index * 32, count = block->thread_count - first;
    uint32_t slots = block->launch->code->slot_count;
    warp->present = count >= 32 ? UINT32_MAX : (1u << count) - 1;
    warp->live = warp->mask = warp->present;
    warp->pc = 0;
    warp->behind = UINT32_MAX;
    warp->carry = warp->carry_defined = 0;
    warp->group_count = 0;
    warp->blocked = warp->rotating = warp->parted = false;
    warp->ahead = warp->partings = warp->apart = 0;
    warp->steps = warp->slice = 0;
    warp->clock_stands = false;
    /* Without tracking everything counts as defined. */
    memset(warp->full, block->launch->track ? 0 : 0xff, slots * sizeof *warp->full);
    warp->full[0] = UINT32_MAX;
    if (warp->has_holes) memset(warp->defined, 0, slots * sizeof *warp->defined);
    warp->has_holes = false;
    uint32_t clocks = block->launch->clock_count;
    memset(warp->time, 0, (warp->fenced ? 3 : 1) * clocks * sizeof *warp->time);
    warp->time[warp->id] = 1; /* it has begun */
    kcsim_order_tick(warp);
    warp->yielding = false;
    warp->cluster_arrived = warp->cluster_owed = warp->acquired = 0;
    warp->wait.lanes = 0;
    if (block->worker->talk) kcsim_talk_forget(warp);
    warp->look.insn = NULL;
    kcsim_lanes_order(warp);
    memset(warp->releases, 0, sizeof warp->releases);
    memset(&warp->last_release, 0, sizeof warp->last_release);
    warp->quota = block->launch->quota;
    warp->waited = 0;
    warp->heard = false;
    if (warp->handed) memset(warp->handed, 0, clocks * sizeof *warp->handed);
}

void kcsim_block_start(kcsim_block *block, const uint32_t id[3]) {
    const kcsim_grid *launch = block->launch;
    uint64_t linear = id[0] + launch->grid[0] * (id[1] + (uint64_t)launch->grid[1] * id[2]);
    block->linear = linear;
    memcpy(block->id, id, sizeof block->id);
    block->random = launch->machine->options.seed ^ (linear + 1) * 0xd1342543de82ef95u;
    block->live_threads = block->thread_count;
    block->stuck = block->trapped = false;
    block->changes = block->quiet = block->steps = block->quiet_since = 0;
    block->patience = QUIET_STEPS;
    block->clock_read = block->time_passed = false;
    block->clock_offset = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    if (block->arrivals)
        memset(block->arrivals, 0,
               (size_t)KCSIM_BARRIERS * launch->clock_count * sizeof *block->arrivals);
    memset(block->shared, 0, launch->shared_bytes);
    memset(block->local, 0, launch->code->local_bytes * block->warp_count * 32);
    if (launch->track) {
        memset(block->shared_defined, 0, launch->shared_bytes);
        memset(block->local_defined, 0, launch->code->local_bytes * block->warp_count * 32);
    }
    kcsim_race_reset(block->race);
    kcsim_traces_start(block);
    kcsim_copies_reset(block->copies);
    kcsim_wgmma_reset(block->wgmma);
    kcsim_copies_reset(block->leaving);
    kcsim_flights_reset(block->flights);
    kcsim_across_reset(block->across);
    kcsim_proxy_reset(block->proxy);
    kcsim_departures_reset(block->departures, block->warp_count);
    kcsim_late_reset(block->late);
    block->map_change_count = block->map_fence_count = 0;
    kcsim_mbarriers_reset(block->mbarriers);
    kcsim_flags_reset(block->flags);
    if (block->visits) memset(block->visits, 0, launch->clock_count * sizeof *block->visits);
    block->register_pool = block->visitors = 0;
    for (uint32_t w = 0; w < block->warp_count; w++)
        start_warp(block, &block->warps[w]);
}

/* ---- the scheduler ---- */

static kcsim_warp *pick(kcsim_block *block) {
    uint32_t ready[32], count = 0;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->warps[w].live && !block->warps[w].blocked) ready[count++] = w;
    if (!count) return NULL;
    return &block->warps[ready[count == 1 ? 0 : kcsim_random(&block->random) % count]];
}

/* Groups that wait for lanes of their warp may have been freed by an exit elsewhere in it. */
static bool wake(kcsim_block *block) {
    bool any = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        if (!warp->live || warp->mask || !kcsim_warp_choose(warp)) continue;
        warp->blocked = false;
        any = true;
    }
    return any;
}

/* Somebody is at the cluster's barrier, so another block may set this one free. */
static bool waits_for_others(const kcsim_block *block) {
    for (uint32_t w = 0; block->cluster->count > 1 && w < block->warp_count; w++)
        for (uint32_t i = 0; i < block->warps[w].group_count; i++)
            if (block->warps[w].groups[i].state == KCSIM_GROUP_AT_CLUSTER) return true;
    return false;
}

/* How many instructions a warp runs before another has its turn. */
static uint32_t turn_of(kcsim_block *block, uint64_t left) {
    if (!block->launch->by_seed) return 32 + (uint32_t)(kcsim_random(&block->random) & 511);
    uint32_t turn = kcsim_turn(&block->random, KCSIM_WARP_BITS);
    return turn < left ? turn : (uint32_t)left;
}

kcsim_progress kcsim_block_run(kcsim_block *block, uint64_t budget) {
    uint64_t end = block->steps + budget < budget ? UINT64_MAX : block->steps + budget;
    block->interrupted = block->polls = false;
    while (block->live_threads && !block->trapped) {
        kcsim_warp *warp = pick(block);
        bool told = kcsim_mbarriers_tell(block, !warp);
        if (!warp && (told || wake(block))) continue;
        if (!warp && waits_for_others(block)) return KCSIM_PROGRESS_POLLING;
        if (!warp) {
            kcsim_block_stuck(block);
            return KCSIM_PROGRESS_DONE;
        }
        uint64_t changes = block->quiet = block->changes, before = warp->steps;
        kcsim_warp_run(warp, turn_of(block, end - block->steps));
        block->steps += warp->steps - before;
        if (warp->slice > KCSIM_FAIR_SLICE && warp->mask) {
            kcsim_warp_rotate(warp);
            warp->slice = 0;
        }
        if (block->changes != changes) {
            block->quiet_since = block->steps;
        } else if (block->steps - block->quiet_since > block->patience) {
            block->quiet_since = block->steps;
            if (kcsim_mbarriers_tell(block, true)) continue;
            if (!kcsim_block_goes_round(block)) block->patience *= 2;
            else if (kcsim_block_polls_in_vain(block)) return KCSIM_PROGRESS_POLLING;
        }
        if (block->steps >= end || block->interrupted) return KCSIM_PROGRESS_PAUSED;
    }
    return KCSIM_PROGRESS_DONE;
}
