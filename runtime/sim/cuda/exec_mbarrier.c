/* The mbarrier instructions: lane by lane, in order, on the object each lane names. */
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/mbarrier.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"

#define EACH_LANE(lane, lanes)                                                                     \
    for (uint32_t rest_##lane = (lanes), lane;                                                     \
         rest_##lane && (lane = (uint32_t)__builtin_ctz(rest_##lane), true);                       \
         rest_##lane &= rest_##lane - 1)

#define SPURIOUS 16u /* one in so many try_waits that could succeed does not */

typedef struct lane_results {
    uint64_t states[KCSIM_LANES];
    uint32_t done; /* waits that succeeded */
    uint32_t bad;  /* lanes whose operation was refused */
} lane_results;

static void tell(const kcsim_access *access, uint32_t lanes, const char *text) {
    kcsim_report report = {.kind = KCSIM_FINDING_MBARRIER,
                           .lanes = lanes,
                           .space = "shared",
                           .addresses = access->address,
                           .size = 8,
                           .other = text};
    kcsim_report_lanes(access->warp, access->insn, &report);
}

static bool is_wait(const kcsim_insn *insn) {
    return insn->mode == KCSIM_MBARRIER_TEST || insn->mode == KCSIM_MBARRIER_TRY;
}

/* An arrival at another block's mbarrier that says .cta reaches nobody. One that says nothing counts
 * as .cluster, as compilers and libraries use it. */
static bool reaches(const kcsim_access *access) {
    return access->home == access->warp->block ||
           ptx_has(access->insn->source, PTX_GROUP_SCOPE) != PTX_M_CTA;
}

static bool releases(const kcsim_insn *insn) {
    switch (insn->mode) {
    case KCSIM_MBARRIER_ARRIVE:
    case KCSIM_MBARRIER_DROP:
    case KCSIM_MBARRIER_COPIES:
    case KCSIM_MBARRIER_COPIES_NOINC: return true;
    default: return false;
    }
}

/* ---- one lane ---- */

static uint32_t number(const kcsim_access *access, kcsim_ref ref, uint32_t lane) {
    return ((const uint32_t *)kcsim_at(access->warp, ref))[lane];
}

static const char *arrive(kcsim_access *access, kcsim_mbarrier *object, uint32_t lane,
                          lane_results *results) {
    const kcsim_insn *insn = access->insn;
    bool has_count = !insn->extend && !kcsim_is_absent(insn->b);
    uint32_t count = has_count ? number(access, insn->b, lane) : 1;
    if (access->home != access->warp->block && !kcsim_is_absent(insn->d))
        return "the state of another block's mbarrier cannot be had: the result must be _";
    if (insn->extend) {
        const char *problem =
            kcsim_mbarrier_expect(access->home, object, number(access, insn->b, lane));
        if (problem) return problem;
    }
    bool last = count == object->pending && object->bytes == 0;
    if (insn->part && last) return ".noComplete, and this arrival completes the phase";
    return kcsim_mbarrier_arrive(access->home, object, count, insn->mode == KCSIM_MBARRIER_DROP,
                                 &results->states[lane]);
}

/* The copies are made when they are issued (copies.c), so they arrive at once. */
static const char *arrive_with_copies(kcsim_access *access, kcsim_mbarrier *object, uint32_t lane) {
    kcsim_copies *copies = access->warp->block->copies;
    bool counted = access->insn->mode == KCSIM_MBARRIER_COPIES_NOINC;
    const char *problem = counted ? NULL : kcsim_mbarrier_increase(access->home, object);
    uint64_t state;
    if (problem) return problem;
    if (copies) kcsim_copies_hand_over(copies, access->warp, lane);
    if (access->warp->block->departures) kcsim_transit_hand_over(access->warp, lane);
    return kcsim_mbarrier_arrive(access->home, object, 1, false, &state);
}

/* Whether the phase that the lane waits for is complete. */
static const char *wait(kcsim_access *access, const kcsim_mbarrier *object, uint32_t lane,
                        lane_results *results) {
    const kcsim_insn *insn = access->insn;
    bool done;
    if (insn->parity) {
        uint32_t parity = number(access, insn->c, lane);
        if (parity > 1) return "a phase's parity is 0 or 1";
        done = (object->phase & 1) != parity;
    } else {
        uint64_t state = ((const uint64_t *)kcsim_at(access->warp, insn->c))[lane];
        uint32_t behind = object->phase - (uint32_t)(state >> 32);
        if (!(state >> 31 & 1) || behind > 1)
            return "the state is not of this phase of the mbarrier, nor of the one before";
        done = behind == 1;
    }
    if (done) {
        kcsim_order_acquire(access->warp, object->passed, insn->relaxed);
        kcsim_cluster_hear(access->warp, access->home);
        if (access->warp->block->worker->talk) kcsim_talk_share(access->warp);
        access->warp->acquired++;
        if (access->home->flights)
            kcsim_flights_observed(access->home->flights, access->warp, object->at, object->phase);
        if (access->home->across)
            kcsim_across_observed(access->home, access->warp, object->at, object->phase);
        if (access->home->departures)
            kcsim_transit_observed(access->home, access->warp, object->at, object->phase);
        results->done |= 1u << lane;
    }
    return NULL;
}

static const char *begin_or_end(kcsim_access *access, kcsim_mbarrier *object, uint32_t lane) {
    const kcsim_insn *insn = access->insn;
    bool begins = insn->mode == KCSIM_MBARRIER_INIT;
    const char *problem = NULL;
    if (begins)
        problem = kcsim_mbarrier_init(access->home, access->address[lane],
                                      number(access, insn->b, lane), insn->line);
    else kcsim_mbarrier_invalidate(access->home, object);
    if (!problem && access->shadowed >> lane & 1) memset(kcsim_marks(access, lane), begins, 8);
    return problem;
}

static const char *operate(kcsim_access *access, uint32_t lane, lane_results *results) {
    const kcsim_insn *insn = access->insn;
    kcsim_block *home = access->home;
    kcsim_mbarrier *object = kcsim_mbarrier_find(home, access->address[lane]);
    if (!object && insn->mode != KCSIM_MBARRIER_INIT)
        return "no mbarrier was initialised here, or it was invalidated";
    if (releases(insn) && reaches(access))
        kcsim_order_join(object->gathered,
                         insn->relaxed ? access->warp->fenced : access->warp->time,
                         access->warp->block->launch->clock_count);
    switch (insn->mode) {
    case KCSIM_MBARRIER_INIT:
    case KCSIM_MBARRIER_INVALIDATE: return begin_or_end(access, object, lane);
    case KCSIM_MBARRIER_EXPECT:
        return kcsim_mbarrier_expect(home, object, number(access, insn->b, lane));
    case KCSIM_MBARRIER_COMPLETE:
        return kcsim_mbarrier_complete(home, object, number(access, insn->b, lane));
    case KCSIM_MBARRIER_ARRIVE:
    case KCSIM_MBARRIER_DROP: return arrive(access, object, lane, results);
    case KCSIM_MBARRIER_COPIES:
    case KCSIM_MBARRIER_COPIES_NOINC: return arrive_with_copies(access, object, lane);
    default: return wait(access, object, lane, results);
    }
}

/* ---- all lanes ---- */

static void each_object(kcsim_access *access, lane_results *results) {
    kcsim_warp *warp = access->warp;
    EACH_LANE(lane, access->mask) {
        const char *problem = operate(access, lane, results);
        if (problem) {
            tell(access, 1u << lane, problem);
            results->bad |= 1u << lane;
        } else if (is_wait(access->insn) && !(results->done >> lane & 1)) {
            warp->wait = (struct kcsim_wait){.home = access->home,
                                             .at = access->address[lane],
                                             .pc = warp->pc,
                                             .lanes = access->mask & ~results->done};
        }
    }
}

/* A lane whose wait was refused goes on: one finding, and no deadlock that only follows from it. */
static void finish_wait(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                        lane_results *results) {
    uint32_t done = results->done | results->bad;
    bool could = (mask & ~done) == 0;
    if (could && insn->mode == KCSIM_MBARRIER_TRY &&
        kcsim_random(&warp->block->random) % SPURIOUS == 0) {
        done = 0;
        warp->block->changes++; /* it will succeed, so this is no polling */
    }
    if (could) warp->wait.lanes = 0;
    kcsim_put_predicate(warp, insn->d, done, mask);
    if (warp->block->launch->track) kcsim_set_defined(warp, insn->d, mask, UINT32_MAX);
    if (mask & ~done) kcsim_warp_yield(warp);
}

static void check_operands(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_report_undefined(warp, insn, insn->b, mask, "the mbarrier's count was never written");
    kcsim_report_undefined(warp, insn, insn->c, mask,
                           "the mbarrier's state or parity was never written");
}

static uint32_t drop_misaligned(kcsim_warp *warp, const kcsim_insn *insn, const uint64_t *addresses,
                                uint32_t mask) {
    uint32_t bad = 0;
    EACH_LANE(lane, mask) if (addresses[lane] & 7) bad |= 1u << lane;
    kcsim_report report = {.kind = KCSIM_FINDING_MBARRIER,
                           .lanes = bad,
                           .space = "shared",
                           .addresses = addresses,
                           .size = 8,
                           .other = "an mbarrier lies at a multiple of 8 bytes"};
    kcsim_report_lanes(warp, insn, &report);
    return mask & ~bad;
}

/* The pending arrivals of a state: a question to a register. */
static void pending_count(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint64_t *states = kcsim_at(warp, insn->a);
    uint32_t counts[KCSIM_LANES];
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        counts[lane] = states[lane] & KCSIM_MBARRIER_MOST;
    kcsim_put(warp, insn->d, counts, 4, mask);
    if (warp->block->launch->track)
        kcsim_set_defined(warp, insn->d, mask, warp->full[insn->a.slot]);
}

void kcsim_do_mbarrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    lane_results results = {.done = 0};
    kcsim_access access = {.warp = warp, .insn = insn, .size = 8, .kind = KCSIM_ACCESS_ATOMIC};
    bool plain = insn->mode == KCSIM_MBARRIER_INIT || insn->mode == KCSIM_MBARRIER_INVALIDATE;
    if (insn->mode == KCSIM_MBARRIER_PENDING) {
        pending_count(warp, insn, mask);
        return;
    }
    if (plain) access.kind = KCSIM_ACCESS_WRITE;
    check_operands(warp, insn, mask);
    uint32_t rest =
        kcsim_access_addresses(warp, insn, insn->a, insn->element, insn->imm, mask, addresses);
    rest = drop_misaligned(warp, insn, addresses, rest);
    results.bad = mask & ~rest;
    while (rest) {
        kcsim_access_take_space(&access, (ptx_space)insn->space, addresses, &rest);
        uint32_t wanted = access.mask;
        if (access.space != PTX_SPACE_SHARED) {
            tell(&access, access.mask, "an mbarrier lies in shared memory");
            access.mask = 0;
        } else {
            kcsim_access_locate(&access);
            kcsim_access_race(&access);
        }
        results.bad |= wanted & ~access.mask;
        each_object(&access, &results);
    }
    if (releases(insn) && !insn->relaxed) {
        kcsim_lanes_release(warp, mask);
        kcsim_order_tick(warp);
    }
    if (is_wait(insn)) {
        finish_wait(warp, insn, mask, &results);
        return;
    }
    warp->block->changes++;
    kcsim_put(warp, insn->d, results.states, 8, mask);
    if (warp->block->launch->track) kcsim_set_defined(warp, insn->d, mask, UINT32_MAX);
}
