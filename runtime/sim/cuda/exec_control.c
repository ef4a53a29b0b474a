/* Where lanes go: groups that part and meet, exits, barriers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/exec.h"
#include "runtime/sim/cuda/wgmma.h"

/* ---- groups ---- */

static void add_group(kcsim_warp *warp, kcsim_group group) {
    for (uint32_t i = 0; i < warp->group_count; i++) {
        kcsim_group *other = &warp->groups[i];
        bool same =
            other->pc == group.pc && other->state == group.state && other->barrier == group.barrier;
        if (!same) continue;
        other->mask |= group.mask;
        other->wanted |= group.wanted;
        return;
    }
    warp->groups[warp->group_count++] = group; /* masks are disjoint: there are at most 32 */
}

static void remove_group(kcsim_warp *warp, uint32_t index) {
    warp->groups[index] = warp->groups[--warp->group_count];
}

static void add_ready(kcsim_warp *warp, uint32_t pc, uint32_t mask) {
    if (mask) add_group(warp, (kcsim_group){.pc = pc, .mask = mask, .state = KCSIM_GROUP_READY});
}

void kcsim_warp_set_aside(kcsim_warp *warp) {
    add_ready(warp, warp->pc, warp->mask);
    warp->mask = 0;
}

/* The group furthest behind of those that can run, of `lanes` if any are given; UINT32_MAX: none. */
static uint32_t furthest_behind(const kcsim_warp *warp, uint32_t lanes) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const kcsim_group *group = &warp->groups[i];
        if (group->state != KCSIM_GROUP_READY || (lanes && !(group->mask & lanes))) continue;
        if (best == UINT32_MAX || group->pc < warp->groups[best].pc) best = i;
    }
    return best;
}

static void look_behind(kcsim_warp *warp) {
    uint32_t other = furthest_behind(warp, warp->ahead);
    warp->behind = other == UINT32_MAX ? UINT32_MAX : warp->groups[other].pc;
}

static void run_group(kcsim_warp *warp, uint32_t index) {
    warp->pc = warp->groups[index].pc;
    warp->mask = warp->groups[index].mask;
    remove_group(warp, index);
    look_behind(warp);
}

/* Groups that were parted may run; so may all of them again, in the usual order. */
static void end_parting(kcsim_warp *warp) {
    for (uint32_t i = 0; warp->parted && i < warp->group_count; i++)
        if (warp->groups[i].state == KCSIM_GROUP_APART) warp->groups[i].state = KCSIM_GROUP_READY;
    warp->parted = false;
    warp->ahead = 0;
}

/* Lanes that name one another run the instruction with one mask: those `of` the one at `pc` are
 * told. */
static void check_masks(kcsim_warp *warp, uint32_t pc, uint32_t of, uint32_t lanes,
                        const uint32_t *wanted) {
    uint32_t bad = 0, first = 0, other = 0;
    char text[120];
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
        uint32_t named = of >> lane & 1 ? wanted[lane] & lanes : 0, apart = 0;
        for (; named; named &= named - 1)
            if (wanted[__builtin_ctz(named)] != wanted[lane]) apart |= named & (0 - named);
        if (apart && !bad) {
            first = lane;
            other = (uint32_t)__builtin_ctz(apart);
        }
        bad |= (uint32_t)(apart != 0) << lane;
    }
    if (!bad) return;
    snprintf(text, sizeof text,
             "lane %u names lane %u in its mask %08" PRIx32 ", and that one's mask is %08" PRIx32,
             first, other, wanted[first], wanted[other]);
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .lanes = bad,
                           .space = "warp",
                           .other = text};
    kcsim_report_lanes(warp, &warp->block->launch->code->insns[pc], &report);
}

/* Lanes that others wait for may have exited meanwhile; and bar.warp.sync may be met at several
 * instructions. */
static void wake_gathered(kcsim_warp *warp) {
    uint32_t at_barriers = 0, wanted[KCSIM_LANES], places = 0;
    const kcsim_insn *insns = warp->block->launch->code->insns;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const kcsim_group *group = &warp->groups[i];
        if (group->state != KCSIM_GROUP_AT_LANES || insns[group->pc].kind != KCSIM_DO_WARP_BARRIER)
            continue;
        const uint32_t *masks = kcsim_at(warp, insns[group->pc].e);
        for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
            if (group->mask >> lane & 1) wanted[lane] = masks[lane];
        at_barriers |= group->mask;
        places++;
    }
    for (uint32_t i = 0; i < warp->group_count; i++) {
        kcsim_group *group = &warp->groups[i];
        if (group->state != KCSIM_GROUP_AT_LANES) continue;
        bool barrier = insns[group->pc].kind == KCSIM_DO_WARP_BARRIER;
        uint32_t here = barrier ? at_barriers : group->mask;
        if (group->wanted & warp->live & ~here) continue;
        if (barrier && places > 1) check_masks(warp, group->pc, group->mask, at_barriers, wanted);
        if (barrier) kcsim_warp_met(warp, group->pc, group->mask, at_barriers);
        if (barrier) group->pc++;
        group->state = KCSIM_GROUP_READY;
        group->wanted = 0;
    }
}

bool kcsim_warp_choose(kcsim_warp *warp) {
    for (int attempt = 0; attempt < 2; attempt++) {
        uint32_t best = furthest_behind(warp, warp->ahead);
        if (best == UINT32_MAX && warp->ahead) {
            warp->ahead = 0;
            best = furthest_behind(warp, 0);
        }
        if (best != UINT32_MAX) {
            run_group(warp, best);
            return true;
        }
        end_parting(warp);
        wake_gathered(warp);
    }
    return false;
}

void kcsim_warp_rotate(kcsim_warp *warp) {
    uint32_t from = warp->pc, best = UINT32_MAX;
    kcsim_warp_rejoin(warp);
    if (warp->behind == UINT32_MAX && !warp->rotating) return;
    kcsim_warp_set_aside(warp);
    warp->rotating = !warp->rotating;
    for (uint32_t i = 0; warp->rotating && i < warp->group_count; i++) {
        const kcsim_group *group = &warp->groups[i];
        if (group->state == KCSIM_GROUP_READY && group->pc > from &&
            (best == UINT32_MAX || group->pc < warp->groups[best].pc))
            best = i;
    }
    if (best == UINT32_MAX) {
        kcsim_warp_choose(warp);
        return;
    }
    run_group(warp, best);
    warp->behind = UINT32_MAX;
}

bool kcsim_warp_take(kcsim_warp *warp, uint32_t lanes) {
    kcsim_warp_set_aside(warp);
    warp->rotating = false;
    for (uint32_t i = 0; i < warp->group_count; i++) {
        if (warp->groups[i].state != KCSIM_GROUP_READY || !(warp->groups[i].mask & lanes)) continue;
        run_group(warp, i);
        warp->behind = UINT32_MAX;
        warp->rotating = true;
        return true;
    }
    kcsim_warp_choose(warp);
    return false;
}

void kcsim_warp_stay(kcsim_warp *warp) {
    warp->yielding = false;
    if (warp->ahead && !--warp->ahead_turns) warp->ahead = 0;
    look_behind(warp);
    if (warp->rotating) warp->behind = UINT32_MAX;
}

/* ---- lanes that the seed parts: interleave.c ---- */

void kcsim_warp_part(kcsim_warp *warp, uint32_t lanes, uint32_t turns) {
    add_ready(warp, warp->pc, warp->mask & ~lanes);
    warp->mask = warp->ahead = lanes;
    warp->ahead_turns = turns;
    warp->parted = true;
    warp->behind = UINT32_MAX;
}

bool kcsim_warp_await(kcsim_warp *warp) {
    if (!warp->parted) return false;
    warp->block->worker->executed[warp->pc]--; /* it is yet to come */
    add_group(warp, (kcsim_group){.pc = warp->pc, .mask = warp->mask, .state = KCSIM_GROUP_APART});
    warp->mask = 0;
    kcsim_warp_choose(warp);
    return true;
}

void kcsim_warp_rejoin(kcsim_warp *warp) {
    if (!warp->parted) return;
    end_parting(warp);
    if (warp->mask) look_behind(warp);
}

/* ---- branches ---- */

void kcsim_warp_branch(kcsim_warp *warp, uint32_t taken, uint32_t target) {
    uint32_t stay = warp->mask & ~taken;
    if (!stay) {
        warp->pc = target;
    } else if (!taken) {
        warp->pc++;
    } else {
        add_ready(warp, target, taken);
        add_ready(warp, warp->pc + 1, stay);
        warp->mask = 0;
        kcsim_warp_choose(warp);
    }
}

void kcsim_warp_branch_index(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint32_t *index = kcsim_at(warp, insn->a);
    uint32_t bad = kcsim_report_undefined(warp, insn, insn->a, mask,
                                          "the index of a branch was never written");
    uint32_t outside = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t target = insn->list_count ? insn->list[0].at : warp->pc + 1;
        if (index[lane] < insn->list_count) target = insn->list[index[lane]].at;
        else if (!(bad >> lane & 1)) outside |= 1u << lane;
        add_ready(warp, target, 1u << lane);
    }
    kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                           .lanes = outside,
                           .space = "branch",
                           .other = "the index is past the end of the branch's targets"};
    kcsim_report_lanes(warp, insn, &report);
    add_ready(warp, warp->pc + 1, warp->mask & ~mask);
    warp->mask = 0;
    kcsim_warp_choose(warp);
}

/* ---- lanes of a warp together ---- */

/* Lanes of the running group whose own mask names nobody who is not here. */
static uint32_t satisfied(const kcsim_warp *warp, const uint32_t *wanted, uint32_t *missing) {
    uint32_t lanes = 0;
    *missing = 0;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint32_t absent = wanted[lane] & warp->live & ~warp->mask;
        *missing |= absent;
        if (!absent) lanes |= 1u << lane;
    }
    return lanes;
}

static void join_waiting(kcsim_warp *warp) {
    for (uint32_t i = 0; i < warp->group_count; i++) {
        const kcsim_group *group = &warp->groups[i];
        if (group->pc != warp->pc || group->state != KCSIM_GROUP_AT_LANES) continue;
        warp->mask |= group->mask;
        remove_group(warp, i);
        return;
    }
}

static bool is_uniform(const kcsim_warp *warp, const uint32_t *wanted) {
    uint32_t first = wanted[__builtin_ctz(warp->mask)], different = 0;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        different |= (wanted[lane] ^ first) & (0 - (warp->mask >> lane & 1));
    return !different;
}

void kcsim_warp_leave_behind(kcsim_warp *warp, uint32_t lanes) {
    add_ready(warp, warp->pc + 1, warp->mask & ~lanes);
    warp->mask = lanes;
    if (warp->pc + 1 < warp->behind) warp->behind = warp->pc + 1;
}

bool kcsim_warp_gather(kcsim_warp *warp, const kcsim_insn *insn) {
    const uint32_t *wanted = kcsim_at(warp, insn->e);
    uint32_t missing, ready = satisfied(warp, wanted, &missing);
    kcsim_report_undefined(warp, insn, insn->e, warp->mask, "the mask of lanes was never written");
    if (!missing && is_uniform(warp, wanted)) return true;
    join_waiting(warp);
    if (!is_uniform(warp, wanted)) check_masks(warp, warp->pc, warp->mask, warp->mask, wanted);
    ready = satisfied(warp, wanted, &missing);
    if (ready == warp->mask) return true;
    add_group(warp, (kcsim_group){.pc = warp->pc,
                                  .mask = warp->mask & ~ready,
                                  .wanted = missing,
                                  .state = KCSIM_GROUP_AT_LANES});
    warp->mask = ready;
    if (ready) return true;
    kcsim_warp_choose(warp);
    return false;
}

/* ---- barriers ---- */

void kcsim_report_divergence(kcsim_warp *warp, uint32_t pc, uint32_t lanes, const char *text) {
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .lanes = lanes,
                           .space = "barrier",
                           .other = text};
    kcsim_report_lanes(warp, &warp->block->launch->code->insns[pc], &report);
}

/* Threads that count as arrived: a warp that is there in full counts as 32, as the hardware counts
 * warps. */
static uint32_t threads_arrived(const kcsim_block *block, const kcsim_barrier *barrier) {
    uint32_t total = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t arrived = barrier->arrived[w];
        bool whole = arrived && !(block->warps[w].live & ~arrived);
        total += whole ? 32 : (uint32_t)__builtin_popcount(arrived);
    }
    return total;
}

static bool is_complete(const kcsim_block *block, const kcsim_barrier *barrier) {
    if (!barrier->in_use) return false;
    if (barrier->expected) return threads_arrived(block, barrier) >= barrier->expected;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->warps[w].live & ~barrier->arrived[w]) return false;
    return true;
}

/* An aligned barrier wants all lanes of a warp at once. Lanes that never came have exited (or the
 * barrier counts threads). */
static void check_whole_warps(kcsim_block *block, const kcsim_barrier *barrier) {
    char text[160];
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        uint32_t arrived = barrier->arrived[w], missing = warp->present & ~arrived;
        if (!barrier->aligned || !arrived || !missing) continue;
        snprintf(text, sizeof text,
                 "lanes %08" PRIx32 " of warp %u came to the barrier, lanes %08" PRIx32 " %s",
                 arrived, w, missing, missing & warp->live ? "did not" : "exited before it");
        kcsim_report_divergence(warp, barrier->pc, arrived, text);
    }
}

static void give_reduction(kcsim_warp *warp, const kcsim_group *group,
                           const kcsim_barrier *barrier) {
    const kcsim_insn *insn = &warp->block->launch->code->insns[group->pc];
    uint32_t values[32], result = barrier->true_count;
    if (insn->mode != KCSIM_BARRIER_REDUCE) return;
    if (insn->imm == PTX_M_BPOPC) {
        for (int i = 0; i < 32; i++)
            values[i] = result;
        kcsim_put(warp, insn->d, values, 4, group->mask);
    } else {
        bool holds = insn->imm == PTX_M_BAND ? result == barrier->count : result > 0;
        kcsim_put_predicate(warp, insn->d, holds ? UINT32_MAX : 0, group->mask);
    }
    if (!warp->block->launch->track) return;
    for (uint32_t lanes = group->mask; lanes && insn->bytes && barrier->undefined;
         lanes &= lanes - 1)
        kcsim_set_defined_bits(warp, insn->d, (unsigned)__builtin_ctz(lanes), insn->bytes, 0);
    kcsim_set_defined(warp, insn->d, group->mask, barrier->undefined ? 0 : UINT32_MAX);
}

void kcsim_warp_release(kcsim_warp *warp, uint32_t index) {
    kcsim_group group = warp->groups[index];
    remove_group(warp, index);
    add_ready(warp, group.pc + 1, group.mask);
    if (warp->mask && group.pc + 1 < warp->behind) warp->behind = group.pc + 1;
    warp->blocked = false;
}

static void release(kcsim_block *block, uint32_t id) {
    kcsim_barrier *barrier = &block->barriers[id];
    uint32_t waiting = 0;
    check_whole_warps(block, barrier);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        for (uint32_t i = 0; i < warp->group_count;) {
            kcsim_group group = warp->groups[i];
            if (group.state != KCSIM_GROUP_AT_BARRIER || group.barrier != id) {
                i++;
                continue;
            }
            waiting |= 1u << w;
            give_reduction(warp, &group, barrier);
            kcsim_warp_release(warp, i);
            i = 0;
        }
    }
    kcsim_race_meet(block, waiting, id);
    block->worker->barriers++;
    memset(barrier, 0, sizeof *barrier);
}

static void check_barriers(kcsim_block *block) {
    for (uint32_t id = 0; id < KCSIM_BARRIERS; id++)
        if (is_complete(block, &block->barriers[id])) release(block, id);
}

static uint32_t barrier_number(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint32_t *ids = kcsim_at(warp, insn->a);
    uint32_t id = ids[__builtin_ctz(mask)], other = 0;
    kcsim_report_undefined(warp, insn, insn->a, mask, "the barrier's number was never written");
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (ids[__builtin_ctz(rest)] != id) other |= rest & (0 - rest);
    if (other)
        kcsim_report_divergence(warp, warp->pc, other, "lanes of one warp name different barriers");
    if (id >= KCSIM_BARRIERS)
        kcsim_report_divergence(warp, warp->pc, mask, "there are 16 barriers, numbered from 0");
    return id % KCSIM_BARRIERS;
}

static uint32_t barrier_count(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    if (kcsim_is_absent(insn->b)) return 0;
    uint32_t count = ((const uint32_t *)kcsim_at(warp, insn->b))[__builtin_ctz(mask)];
    kcsim_report_undefined(warp, insn, insn->b, mask,
                           "the barrier's count of threads was never written");
    if (count % 32 || count == 0)
        kcsim_report_divergence(warp, warp->pc, mask,
                                "a barrier's count of threads must be a multiple of 32, and not 0");
    return (count + 31) / 32 * 32;
}

/* Arrivals count threads: who has arrived waits for the barrier before it arrives anew. */
static void check_again(kcsim_warp *warp, const kcsim_barrier *barrier, uint32_t mask) {
    uint32_t again = barrier->arrived[warp->index] & mask;
    char text[96];
    if (!again) return;
    snprintf(text, sizeof text,
             "lanes %08" PRIx32 " arrive again at a barrier that is not complete since line %u",
             again, warp->block->launch->code->insns[barrier->pc].line);
    kcsim_report_divergence(warp, warp->pc, again, text);
}

static void arrive(kcsim_warp *warp, const kcsim_insn *insn, kcsim_barrier *barrier, uint32_t mask,
                   uint32_t count) {
    if (!barrier->in_use)
        *barrier = (kcsim_barrier){.in_use = true, .pc = warp->pc, .expected = count};
    else if (barrier->expected != count)
        kcsim_report_divergence(warp, warp->pc, mask,
                                "warps at one barrier expect different counts of threads");
    check_again(warp, barrier, mask);
    bool reduces = insn->mode == KCSIM_BARRIER_REDUCE;
    if ((reduces ? barrier->plain : barrier->reduces) && !barrier->mixed) {
        barrier->mixed = true;
        kcsim_report_divergence(
            warp, warp->pc, mask,
            "some come to the barrier by a reduction, others by sync or arrive");
    }
    barrier->plain |= !reduces;
    barrier->reduces |= reduces;
    barrier->aligned |= insn->aligned;
    if (insn->aligned && barrier->arrived[warp->index] & ~mask) {
        bool elsewhere = true;
        for (uint32_t i = 0; i < warp->group_count; i++)
            if (warp->groups[i].state == KCSIM_GROUP_AT_BARRIER && warp->groups[i].pc == warp->pc)
                elsewhere = false;
        if (elsewhere)
            kcsim_report_divergence(warp, warp->pc, mask,
                                    "lanes of one warp meet the barrier at different instructions");
    }
    barrier->arrived[warp->index] |= mask;
    if (insn->mode == KCSIM_BARRIER_REDUCE) {
        uint32_t values = kcsim_predicate(warp, insn->c) ^ (insn->negate_c ? UINT32_MAX : 0);
        barrier->true_count += (uint32_t)__builtin_popcount(values & mask);
        barrier->undefined |= (mask & ~warp->full[insn->c.slot]) != 0;
    }
    barrier->count += (uint32_t)__builtin_popcount(mask);
}

void kcsim_warp_stop(kcsim_warp *warp, uint32_t mask, kcsim_group_state state, uint8_t barrier) {
    uint32_t rest = warp->mask & ~mask; /* switched off by the guard: they go on */
    add_group(warp, (kcsim_group){
                        .pc = warp->pc, .mask = mask, .state = (uint8_t)state, .barrier = barrier});
    add_ready(warp, warp->pc + 1, rest);
    warp->mask = 0;
    if (state == KCSIM_GROUP_AT_BARRIER) check_barriers(warp->block);
    kcsim_warp_choose(warp);
}

void kcsim_warp_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t id = barrier_number(warp, insn, mask), count = barrier_count(warp, insn, mask);
    kcsim_block *block = warp->block;
    if (mask == warp->live) warp->apart &= ~mask;
    arrive(warp, insn, &block->barriers[id], mask, count);
    if (insn->mode == KCSIM_BARRIER_ARRIVE) {
        kcsim_race_arrive(warp, id);
        warp->pc++;
        check_barriers(block);
        return;
    }
    kcsim_warp_stop(warp, mask, KCSIM_GROUP_AT_BARRIER, (uint8_t)id);
}

void kcsim_warp_exit(kcsim_warp *warp, uint32_t mask) {
    kcsim_block *block = warp->block;
    uint32_t rest = warp->mask & ~mask;
    warp->live &= ~mask;
    block->live_threads -= (uint32_t)__builtin_popcount(mask);
    block->changes++;
    if (block->wgmma && !warp->live) kcsim_wgmma_leave(warp, mask);
    if (block->leaving && !block->live_threads) kcsim_bulk_leave(warp, mask);
    if (block->across && !block->live_threads) kcsim_across_leave(warp, mask);
    if (block->late && !block->live_threads) kcsim_late_land(block);
    add_ready(warp, warp->pc + 1, rest);
    warp->mask = 0;
    check_barriers(block);
    kcsim_cluster_left(block);
    kcsim_warp_choose(warp);
}

/* ---- stuck ---- */

void kcsim_warp_endless(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_block *block = warp->block;
    char text[100];
    snprintf(text, sizeof text,
             "never leaves the loop of lines %u to %u: there is no way out of it", insn->line,
             (uint32_t)insn->imm);
    kcsim_report report = {
        .kind = KCSIM_FINDING_DEADLOCK, .lanes = mask, .space = "loop", .other = text};
    kcsim_report_lanes(warp, insn, &report);
    block->stuck = block->trapped = block->worker->faulted = true;
    if (!block->worker->fault[0])
        snprintf(block->worker->fault, sizeof block->worker->fault,
                 "block %u,%u,%u is stuck: warp %u %s", block->id[0], block->id[1], block->id[2],
                 warp->index, text);
}

static void describe(char *text, size_t size, const kcsim_warp *warp, const kcsim_group *group) {
    uint32_t line = warp->block->launch->code->insns[group->pc].line;
    if (group->state == KCSIM_GROUP_AT_BARRIER)
        snprintf(text, size, "warp %u lanes %08" PRIx32 " wait at barrier %u, line %u", warp->index,
                 group->mask, group->barrier, line);
    else if (group->state == KCSIM_GROUP_AT_CLUSTER)
        snprintf(text, size, "warp %u lanes %08" PRIx32 " wait at the cluster's barrier, line %u",
                 warp->index, group->mask, line);
    else
        snprintf(text, size, "warp %u lanes %08" PRIx32 " wait for lanes %08" PRIx32 ", line %u",
                 warp->index, group->mask, group->wanted & warp->live & ~group->mask, line);
}

void kcsim_block_stuck(kcsim_block *block) {
    char text[KCSIM_FINDING_TEXT] = "", item[112];
    kcsim_warp *first = NULL;
    bool divided = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        divided |= warp->group_count > 1;
        for (uint32_t i = 0; i < warp->group_count; i++) {
            if (!first) first = warp;
            describe(item, sizeof item, warp, &warp->groups[i]);
            kcsim_text_list(text, sizeof text, "; ", item);
        }
    }
    block->stuck = true;
    block->worker->faulted = true;
    if (!first) return;
    const kcsim_group *group = &first->groups[0];
    kcsim_report report = {.kind =
                               divided ? KCSIM_FINDING_BARRIER_DIVERGENCE : KCSIM_FINDING_DEADLOCK,
                           .lanes = group->mask,
                           .space = "barrier",
                           .other = text};
    kcsim_report_lanes(first, &block->launch->code->insns[group->pc], &report);
    snprintf(block->worker->fault, sizeof block->worker->fault, "block %u,%u,%u is stuck: %s",
             block->id[0], block->id[1], block->id[2], text);
}
