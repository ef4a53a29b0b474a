/* Launches that begin before their predecessor has ended (programmatic dependent launch). CUDA
 * programming guide, "Programmatic Dependent Launch and Synchronization": such a kernel may run
 * before what its predecessor writes is visible, whether that one triggers it or ends, so that it
 * always waits first. PTX ISA, "griddepcontrol": .wait waits until all prerequisite grids are
 * complete and what they did to memory is visible. And: a release fence in front of
 * .launch_dependents synchronizes with the start of the dependent grid.
 *
 *     before:  st y, fence.gpu, st x     -- launch_dependents, or its end
 *     k:       ld y, but ld x: a race    griddepcontrol.wait - bar.sync: all threads may use x
 *
 * The launch runs behind its predecessor; what that one did is compared with what this one does
 * until it has waited. Where the predecessor did not wait for its own, that one may still run. */
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/talk.h"

void kcsim_early_wait(kcsim_warp *warp) {
    const kcsim_grid *launch = warp->block->launch;
    kcsim_worker *worker = warp->block->worker;
    if (!launch->earlier) return;
    if (!warp->waited && worker->waiter_count < KCSIM_WAITERS)
        worker->waiters[worker->waiter_count++] =
            (struct kcsim_waiter){kcsim_warp_key(warp), warp->time[warp->id]};
    if (!warp->waited) warp->waited = warp->time[warp->id];
    kcsim_earlier_waited(launch->earlier);
}

/* It knows of a warp of another cluster that had waited: of the first few that did. */
static bool heard_of_waiter(const kcsim_warp *warp) {
    const kcsim_worker *worker = warp->block->worker;
    for (uint32_t i = 0; worker->talk && i < worker->waiter_count; i++)
        if (kcsim_talk_is_ordered(warp, worker->waiters[i].key, worker->waiters[i].time))
            return true;
    return false;
}

/* The warp has waited itself, or knows of one that had. */
static bool has_waited(kcsim_warp *warp) {
    const kcsim_cluster *cluster = warp->block->cluster;
    if (warp->waited) return true;
    for (uint32_t id = 0; id < warp->block->launch->clock_count; id++) {
        const kcsim_block *block = &cluster->blocks[id / warp->block->warp_count];
        const kcsim_warp *other = &block->warps[id % block->warp_count];
        if (!other->waited || other->waited > warp->time[id]) continue;
        warp->waited = warp->time[warp->id];
        return true;
    }
    if (!heard_of_waiter(warp)) return false;
    warp->waited = warp->time[warp->id];
    return true;
}

static void tell(kcsim_access *access, uint32_t lanes, const kcsim_trace *trace) {
    char text[KCSIM_FINDING_TEXT], kernel[KCSIM_FINDING_QUOTE];
    kcsim_text_fit(kernel, sizeof kernel, trace->kernel);
    snprintf(text, sizeof text, "%s (line %u), launched before, %s it, and %s", kernel, trace->line,
             trace->wrote ? "writes" : "reads",
             trace->behind ? "no griddepcontrol.wait of the launch between waits for that"
                           : "no griddepcontrol.wait lies between");
    kcsim_access_report(access, KCSIM_FINDING_RACE, lanes, text);
}

static void end_hearing(kcsim_warp *warp) {
    if (warp->heard) kcsim_early_wait(warp);
    warp->heard = false;
}

void kcsim_early_fence(kcsim_warp *warp, const kcsim_insn *insn) {
    uint32_t count = warp->block->launch->clock_count;
    end_hearing(warp);
    if (!warp->handed || kcsim_scope_of(insn) != KCSIM_SCOPE_GPU ||
        ptx_has(insn->source, PTX_GROUP_SEMANTICS) == PTX_M_ACQUIRE)
        return;
    memcpy(warp->handed, warp->time, count * sizeof *warp->time);
    kcsim_order_tick(warp);
}

void kcsim_early_trigger(kcsim_warp *warp) {
    const kcsim_grid *launch = warp->block->launch;
    if (warp->handed)
        kcsim_earlier_hand_over(launch->earlier, kcsim_warp_key(warp) - warp->id, warp->handed,
                                launch->clock_count);
}

/* A strong access may see the predecessor say that it is done: then an acquire, or a fence behind
 * it, is as good as the wait. */
static void hear(const kcsim_access *access) {
    ptx_modifier semantics = ptx_has(access->insn->source, PTX_GROUP_SEMANTICS);
    bool reads = access->kind == KCSIM_ACCESS_READ ||
                 (access->kind == KCSIM_ACCESS_ATOMIC && access->insn->d.slot);
    if (!reads) return;
    access->warp->heard = true;
    if (semantics == PTX_M_ACQUIRE || semantics == PTX_M_ACQ_REL) end_hearing(access->warp);
}

static bool finds(kcsim_access *access, const kcsim_touch *touch, kcsim_trace *trace) {
    kcsim_warp *warp = access->warp;
    kcsim_earlier *earlier = warp->block->launch->earlier;
    bool met = kcsim_earlier_find(earlier, touch, has_waited(warp), trace);
    if (trace->heard) hear(access);
    return met;
}

void kcsim_early_access(kcsim_access *access) {
    const kcsim_grid *launch = access->warp->block->launch;
    uint32_t bad = 0, count = KCSIM_LANES;
    bool copies = access->insn->kind == KCSIM_DO_BULK;
    kcsim_touch touch = {.size = access->size,
                         .line = access->insn->line,
                         .warp = kcsim_warp_key(access->warp),
                         .time = access->warp->time[access->warp->id],
                         .writes = access->kind != KCSIM_ACCESS_READ,
                         .strong = !copies && (access->kind == KCSIM_ACCESS_ATOMIC ||
                                               kcsim_is_strong(access->insn))};
    kcsim_trace trace = {.line = 0}, first = {.line = 0};
    for (uint32_t rest = access->mask; rest && launch->is_early; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        touch.address = access->address[lane];
        if (!finds(access, &touch, &trace)) continue;
        if (!bad) first = trace;
        bad |= 1u << lane;
    }
    if (bad) tell(access, bad, &first);
    if (access->span.same) count = 1;
    else if (access->span.dense && access->mask == UINT32_MAX) {
        touch.size = access->size * KCSIM_LANES;
        count = 1;
    }
    touch.address = access->span.low;
    if (count == 1) kcsim_earlier_note(launch->earlier, &touch);
    for (uint32_t rest = count > 1 ? access->mask : 0; rest; rest &= rest - 1) {
        touch.address = access->address[__builtin_ctz(rest)];
        kcsim_earlier_note(launch->earlier, &touch);
    }
}
