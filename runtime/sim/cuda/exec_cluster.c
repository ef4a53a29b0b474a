/* Clusters: blocks that are resident together, reach each other's shared memory, and have a barrier
 * of their own (PTX ISA, "Cluster of Cooperative Thread Arrays", "barrier.cluster").
 *
 * An address in .shared::cluster is the rank of a block + 1 in the bits from 24 up, and below them
 * an address of that block; 0 above is the block's own, so that every .shared::cta address is one:
 *
 *     mapa d, 0x40, 3  ->  0x04000040
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/mbarrier.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"

#define SHORTEST_TURN 64u

/* ---- making them ---- */

bool kcsim_cluster_create(kcsim_cluster *cluster, kcsim_worker *worker) {
    uint32_t count = worker->launch->cluster_blocks, clocks = worker->launch->clock_count;
    memset(cluster, 0, sizeof *cluster);
    cluster->worker = worker;
    cluster->count = count;
    cluster->blocks = calloc(count, sizeof *cluster->blocks);
    cluster->turns = calloc(count, sizeof *cluster->turns);
    cluster->gathered = calloc(clocks, sizeof *cluster->gathered);
    cluster->passed = calloc(clocks, sizeof *cluster->passed);
    bool made = cluster->blocks && cluster->turns && cluster->gathered && cluster->passed;
    for (uint32_t i = 0; made && i < count; i++)
        made = kcsim_block_create(&cluster->blocks[i], cluster, i);
    if (!made) kcsim_cluster_destroy(cluster);
    return made;
}

void kcsim_cluster_destroy(kcsim_cluster *cluster) {
    for (uint32_t i = 0; cluster->blocks && i < cluster->count; i++)
        kcsim_block_destroy(&cluster->blocks[i]);
    free(cluster->blocks);
    free(cluster->turns);
    free(cluster->gathered);
    free(cluster->passed);
    memset(cluster, 0, sizeof *cluster);
}

/* Blocks of a cluster are neighbours in the grid. */
void kcsim_block_at(const kcsim_grid *grid, uint64_t cluster, uint32_t rank, uint32_t id[3]) {
    for (int i = 0; i < 3; i++) {
        uint32_t size = grid->cluster[i], along = grid->grid[i] / size;
        id[i] = (uint32_t)(cluster % along) * size + rank % size;
        cluster /= along;
        rank /= size;
    }
}

void kcsim_cluster_start(kcsim_cluster *cluster, uint64_t number) {
    const kcsim_grid *launch = cluster->worker->launch;
    memset(cluster->gathered, 0, launch->clock_count * sizeof *cluster->gathered);
    memset(cluster->passed, 0, launch->clock_count * sizeof *cluster->passed);
    memset(cluster->turns, 0, cluster->count * sizeof *cluster->turns);
    cluster->gathering = cluster->lanes_release = cluster->across = false;
    cluster->elsewhere = 0;
    cluster->random = launch->machine->options.seed ^ (number + 1) * 0x9e6c63d0876a9a47u;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        uint32_t id[3];
        kcsim_block_at(launch, number, rank, id);
        kcsim_block_start(&cluster->blocks[rank], id);
    }
    cluster->number = number;
    if (cluster->worker->global_race && !cluster->worker->talk)
        kcsim_global_race_begin(cluster->worker->global_race);
    if (cluster->worker->transit && !cluster->worker->talk)
        kcsim_transit_begin(cluster->worker->transit);
    if (cluster->worker->proxy_global && !cluster->worker->talk)
        kcsim_proxy_global_begin(cluster->worker->proxy_global);
}

/* ---- running them ---- */

uint64_t kcsim_cluster_changes(const kcsim_cluster *cluster) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cluster->count; i++)
        sum += cluster->blocks[i].changes;
    return sum;
}

static bool ended(const kcsim_cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->blocks[i].stuck || cluster->blocks[i].trapped) return true;
    return false;
}

/* The blocks that can go on; *left: those that are not done. */
static uint32_t ready_blocks(const kcsim_cluster *cluster, uint32_t *ready, uint32_t *left) {
    uint64_t changes = cluster->elsewhere + kcsim_cluster_changes(cluster);
    uint32_t count = 0;
    *left = 0;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const struct kcsim_turn *turn = &cluster->turns[i];
        if (turn->done) continue;
        ++*left;
        if (!turn->polling || turn->polled_at != changes) ready[count++] = i;
    }
    return count;
}

static uint64_t take_turn(kcsim_cluster *cluster, uint32_t rank) {
    kcsim_block *block = &cluster->blocks[rank];
    struct kcsim_turn *turn = &cluster->turns[rank];
    uint64_t before = block->steps;
    uint64_t budget = block->launch->by_seed
                          ? kcsim_turn(&cluster->random, KCSIM_BLOCK_BITS)
                          : SHORTEST_TURN + (kcsim_random(&cluster->random) & 1023);
    kcsim_progress progress = kcsim_block_run(block, budget);
    turn->done = progress == KCSIM_PROGRESS_DONE;
    turn->polling = progress == KCSIM_PROGRESS_POLLING;
    turn->polled_at = cluster->elsewhere + kcsim_cluster_changes(cluster);
    return block->steps - before;
}

kcsim_progress kcsim_cluster_run(kcsim_cluster *cluster, uint64_t budget) {
    uint32_t ready[KCSIM_CLUSTER_MOST], left;
    if (cluster->count == 1) return kcsim_block_run(&cluster->blocks[0], budget);
    for (uint64_t spent = 0; spent < budget;) {
        uint32_t count = ready_blocks(cluster, ready, &left);
        if (!left || ended(cluster)) return KCSIM_PROGRESS_DONE;
        if (!count) return KCSIM_PROGRESS_POLLING;
        spent += take_turn(cluster, ready[kcsim_random(&cluster->random) % count]) + 1;
    }
    return KCSIM_PROGRESS_PAUSED;
}

void kcsim_cluster_polls_forever(kcsim_cluster *cluster) {
    for (uint32_t i = 0; i < cluster->count; i++) {
        kcsim_block *block = &cluster->blocks[i];
        if (!block->live_threads) continue;
        if (block->polls) kcsim_block_polls_forever(block);
        else kcsim_block_stuck(block);
    }
}

/* ---- the cluster's barrier ---- */

static bool is_complete(const kcsim_cluster *cluster) {
    for (uint32_t i = 0; cluster->gathering && i < cluster->count; i++) {
        const kcsim_block *block = &cluster->blocks[i];
        for (uint32_t w = 0; w < block->warp_count; w++)
            if (block->warps[w].live & ~block->warps[w].cluster_arrived) return false;
    }
    return cluster->gathering;
}

static void check_whole_warp(kcsim_warp *warp) {
    uint32_t missing = warp->present & ~warp->cluster_arrived;
    const kcsim_insn *insn = &warp->block->launch->code->insns[warp->cluster_pc];
    if (!warp->cluster_arrived || !missing || !insn->aligned) return;
    kcsim_report_divergence(warp, warp->cluster_pc, warp->cluster_arrived,
                            "lanes of the warp exited before the cluster's barrier, and it is "
                            ".aligned: all lanes of a warp arrive together");
}

static void know_begun(kcsim_warp *warp, const kcsim_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t *time = &warp->time[block->warps[w].id];
        if (!*time) *time = 1;
    }
}

bool kcsim_cluster_has_begun(const kcsim_warp *warp, const kcsim_block *block) {
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (warp->time[block->warps[w].id]) return true;
    return false;
}

void kcsim_cluster_hear(kcsim_warp *warp, const kcsim_block *home) {
    const kcsim_cluster *cluster = warp->block->cluster;
    for (uint32_t rank = 0; home->visitors >> rank; rank++)
        if (home->visitors >> rank & 1) know_begun(warp, &cluster->blocks[rank]);
}

/* Relaxed or not, all have begun. */
static void pass(kcsim_warp *warp, const kcsim_insn *insn, uint32_t lanes) {
    const kcsim_cluster *cluster = warp->block->cluster;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        know_begun(warp, &cluster->blocks[rank]);
    warp->cluster_owed &= ~lanes;
    kcsim_order_acquire(warp, warp->block->cluster->passed, insn->relaxed);
    if (warp->block->worker->talk) kcsim_talk_share(warp);
}

static void complete(kcsim_cluster *cluster) {
    const kcsim_insn *insns = cluster->worker->launch->code->insns;
    uint32_t clocks = cluster->worker->launch->clock_count;
    kcsim_order_join(cluster->passed, cluster->gathered, clocks);
    memset(cluster->gathered, 0, clocks * sizeof *cluster->gathered);
    cluster->gathering = cluster->lanes_release = false;
    for (uint32_t i = 0; i < cluster->count; i++) {
        kcsim_block *block = &cluster->blocks[i];
        bool any = false;
        for (uint32_t w = 0; w < block->warp_count; w++) {
            kcsim_warp *warp = &block->warps[w];
            check_whole_warp(warp);
            any |= warp->cluster_arrived != 0;
            warp->cluster_arrived = 0;
            for (uint32_t g = 0; g < warp->group_count;) {
                kcsim_group group = warp->groups[g];
                if (group.state != KCSIM_GROUP_AT_CLUSTER) {
                    g++;
                    continue;
                }
                pass(warp, &insns[group.pc], group.mask);
                kcsim_warp_release(warp, g);
                g = 0;
            }
        }
        cluster->worker->barriers += any;
        block->changes++;
    }
}

static void arrive(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_cluster *cluster = warp->block->cluster;
    uint32_t again = mask & warp->cluster_owed;
    if (again)
        kcsim_report_divergence(warp, warp->pc, again,
                                "arrives at the cluster's barrier again, and has not waited for "
                                "the last time");
    if (!warp->cluster_arrived) warp->cluster_pc = warp->pc;
    else if (insn->aligned && warp->cluster_pc != warp->pc)
        kcsim_report_divergence(warp, warp->pc, mask,
                                "lanes of one warp arrive at the cluster's barrier at different "
                                "instructions, and it is .aligned");
    warp->cluster_arrived |= mask;
    warp->cluster_owed |= mask;
    cluster->gathering = true;
    kcsim_order_release(warp, cluster->gathered, insn->relaxed);
    warp->block->changes++;
}

void kcsim_warp_cluster_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_cluster *cluster = warp->block->cluster;
    if (insn->mode == KCSIM_BARRIER_ARRIVE) {
        arrive(warp, insn, mask);
        warp->pc++;
        if (is_complete(cluster)) complete(cluster);
        return;
    }
    uint32_t bad = mask & ~warp->cluster_owed;
    if (bad)
        kcsim_report_divergence(warp, warp->pc, bad,
                                "waits at the cluster's barrier without having arrived");
    if (mask & warp->cluster_arrived) {
        kcsim_warp_stop(warp, mask, KCSIM_GROUP_AT_CLUSTER, 0);
        return;
    }
    pass(warp, insn, mask);
    warp->pc++;
}

/* ---- leaving ---- */

/* What a copy brought, some warp here has waited for. */
static bool was_awaited(const kcsim_block *block, const kcsim_visit *visit) {
    uint64_t at;
    if (visit->insn->kind != KCSIM_DO_BULK) return false;
    for (uint32_t w = 0; block->flights && w < block->warp_count; w++)
        if (!kcsim_flights_look(block->flights, &block->warps[w], visit->address, 1, false,
                                &at))
            return true;
    return !block->flights;
}

/* What other blocks did in this one's shared memory has to come before its end, and nothing but a
 * barrier or an mbarrier says so. */
static void check_visits(kcsim_block *block) {
    const kcsim_grid *launch = block->launch;
    for (uint32_t id = 0; id < launch->clock_count; id++) {
        const kcsim_visit *visit = &block->visits[id];
        uint64_t addresses[KCSIM_LANES] = {0};
        uint32_t known = 0;
        char text[120];
        for (uint32_t w = 0; w < block->warp_count; w++)
            if (block->warps[w].time[id] > known) known = block->warps[w].time[id];
        if (visit->time <= known || was_awaited(block, visit)) continue;
        addresses[visit->lane] = visit->address;
        snprintf(text, sizeof text,
                 "block %u,%u,%u may have exited by then: nothing orders this before its end",
                 block->id[0], block->id[1], block->id[2]);
        kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                               .lanes = 1u << visit->lane,
                               .space = "shared",
                               .addresses = addresses,
                               .other = text};
        kcsim_report_lanes(visit->warp, visit->insn, &report);
    }
}

void kcsim_cluster_left(kcsim_block *block) {
    kcsim_cluster *cluster = block->cluster;
    if (is_complete(cluster)) complete(cluster);
    if (block->live_threads == 0 && block->visits) check_visits(block);
}

/* ---- addresses ---- */

void kcsim_do_map_address(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint32_t *ranks = kcsim_at(warp, insn->b);
    const void *a = kcsim_at(warp, insn->a);
    uint64_t result[KCSIM_LANES];
    uint32_t narrow[KCSIM_LANES], bad = 0, blocks = warp->block->cluster->count;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
        uint64_t address =
            insn->bytes == 8 ? ((const uint64_t *)a)[lane] : ((const uint32_t *)a)[lane];
        uint64_t window = address & ~(uint64_t)UINT32_MAX;
        uint64_t rank = ranks[lane] < blocks ? ranks[lane] : KCSIM_CLUSTER_MOST;
        if (ranks[lane] >= blocks) bad |= 1u << lane;
        result[lane] = window | (rank + 1) << KCSIM_RANK_SHIFT | (address & KCSIM_OFFSET_MASK);
        narrow[lane] = (uint32_t)result[lane];
    }
    kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                           .lanes = bad & mask,
                           .space = "shared",
                           .other = "the cluster has no block of this rank"};
    kcsim_report_lanes(warp, insn, &report);
    kcsim_put(warp, insn->d, insn->bytes == 8 ? (void *)result : narrow, insn->bytes, mask);
    if (warp->block->launch->track)
        kcsim_set_defined(warp, insn->d, mask, warp->full[insn->a.slot] & warp->full[insn->b.slot]);
}

void kcsim_do_block_rank(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const void *a = kcsim_at(warp, insn->a);
    uint32_t result[KCSIM_LANES];
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
        uint32_t address =
            insn->bytes == 8 ? (uint32_t)((const uint64_t *)a)[lane] : ((const uint32_t *)a)[lane];
        uint32_t above = address >> KCSIM_RANK_SHIFT;
        result[lane] = above ? above - 1 : warp->block->rank;
    }
    kcsim_put(warp, insn->d, result, 4, mask);
    if (warp->block->launch->track)
        kcsim_set_defined(warp, insn->d, mask, warp->full[insn->a.slot]);
}

/* ---- registers ---- */

/* setmaxnreg: what .dec gives back goes to the block's pool, and .inc waits for it there. */
bool kcsim_warp_registers(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_block *block = warp->block;
    uint32_t wanted = (uint32_t)insn->imm, have = warp->quota;
    kcsim_report report = {.kind = KCSIM_FINDING_LAUNCH_LIMIT, .lanes = mask, .space = "registers"};
    char text[144];
    if (mask != warp->live)
        kcsim_report_divergence(warp, warp->pc, mask,
                                "setmaxnreg is .aligned: all lanes of a warp run it together");
    if (insn->extend ? wanted < have : wanted > have) {
        const ptx_routine *routine = block->launch->function->routine;
        bool given = !routine->maxnreg && !routine->minnctapersm && have == block->launch->quota;
        snprintf(text, sizeof text,
                 "setmaxnreg.%s asks for %u registers a thread, and it holds %u%s",
                 insn->extend ? "inc" : "dec", wanted, have,
                 given ? ": all that it may, as the kernel has no .maxnreg" : "");
        report.other = text;
        kcsim_report_lanes(warp, insn, &report);
        return true;
    }
    if (insn->extend && block->register_pool < wanted - have) {
        kcsim_warp_yield(warp);
        return false;
    }
    if (insn->extend) block->register_pool -= wanted - have;
    else block->register_pool += have - wanted;
    warp->quota = wanted;
    block->changes++;
    return true;
}
