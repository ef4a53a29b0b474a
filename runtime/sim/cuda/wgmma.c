/* What is known of wgmma in flight: wgmma.h. */
#include "runtime/sim/cuda/wgmma.h"

#include "runtime/sim/cuda/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 16u
#define TRAIL 64u

typedef enum register_role { ROLE_NONE, ROLE_SUM, ROLE_SOURCE } register_role;

typedef struct slot_state {
    uint32_t group;        /* the last to use it */
    uint32_t role : 2;     /* register_role */
    uint32_t written : 30; /* the warp's count of wgmma.fence then, plus 1 */
} slot_state;

typedef struct warp_state {
    uint32_t committed, waited;
    uint32_t reading; /* the last group that reads shared memory */
    uint64_t proxy_fenced; /* when */
    uint64_t stored;       /* its last ordinary store */
    uint64_t all_fenced;   /* the last time that nobody's store wanted a fence for it to read */
    uint32_t fences;       /* wgmma.fence */
    uint32_t issued;
    slot_state *slots;
} warp_state;

typedef struct piece {
    uint64_t written; /* when, by an ordinary store; 0: not */
    uint32_t writer;
} piece;

typedef struct warpgroup {
    uint32_t issued; /* by the warp that is furthest */
    uint32_t pcs[TRAIL];
} warpgroup;

struct kcsim_wgmma {
    uint64_t pieces, now;
    piece *stores;
    uint32_t *reads; /* by warp and piece: the last group that reads it */
    uint32_t warps, slots;
    warp_state *states;
    slot_state *slot_states;
    warpgroup groups[8];
};

kcsim_wgmma *kcsim_wgmma_create(uint64_t shared_bytes, uint32_t warps, uint32_t slots) {
    kcsim_wgmma *wgmma = calloc(1, sizeof *wgmma);
    if (!wgmma) return NULL;
    wgmma->pieces = (shared_bytes + PIECE - 1) / PIECE;
    wgmma->warps = warps;
    wgmma->slots = slots;
    wgmma->stores = calloc(wgmma->pieces + 1, sizeof *wgmma->stores);
    wgmma->reads = calloc((wgmma->pieces + 1) * warps, sizeof *wgmma->reads);
    wgmma->states = calloc(warps, sizeof *wgmma->states);
    wgmma->slot_states = calloc((size_t)warps * slots, sizeof *wgmma->slot_states);
    if (!wgmma->stores || !wgmma->reads || !wgmma->states || !wgmma->slot_states) {
        kcsim_wgmma_destroy(wgmma);
        return NULL;
    }
    kcsim_wgmma_reset(wgmma);
    return wgmma;
}

void kcsim_wgmma_destroy(kcsim_wgmma *wgmma) {
    if (!wgmma) return;
    free(wgmma->stores);
    free(wgmma->reads);
    free(wgmma->states);
    free(wgmma->slot_states);
    free(wgmma);
}

void kcsim_wgmma_reset(kcsim_wgmma *wgmma) {
    if (!wgmma) return;
    wgmma->now = 0;
    memset(wgmma->stores, 0, wgmma->pieces * sizeof *wgmma->stores);
    memset(wgmma->reads, 0, wgmma->pieces * wgmma->warps * sizeof *wgmma->reads);
    memset(wgmma->states, 0, wgmma->warps * sizeof *wgmma->states);
    memset(wgmma->slot_states, 0,
           (size_t)wgmma->warps * wgmma->slots * sizeof *wgmma->slot_states);
    memset(wgmma->groups, 0, sizeof wgmma->groups);
    for (uint32_t w = 0; w < wgmma->warps; w++)
        wgmma->states[w].slots = wgmma->slot_states + (size_t)w * wgmma->slots;
}

static void tell(kcsim_warp *warp, const kcsim_insn *insn, kcsim_finding_kind kind, uint32_t lanes,
                 const char *space, const char *text) {
    kcsim_report report = {.kind = kind, .lanes = lanes, .space = space, .other = text};
    kcsim_report_lanes(warp, insn, &report);
}

/* ---- registers ---- */

static bool in_flight(const warp_state *state, const slot_state *slot, register_role role) {
    return slot->role == role && slot->group > state->waited;
}

/* Written since the last wgmma.fence. */
static bool is_dirty(const warp_state *state, const slot_state *slot) {
    return slot->written == state->fences + 1;
}

static void read_register(kcsim_warp *warp, const kcsim_insn *insn, uint32_t slot, uint32_t mask) {
    const warp_state *state = &warp->block->wgmma->states[warp->index];
    if (slot && in_flight(state, &state->slots[slot], ROLE_SUM))
        tell(warp, insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, mask, "register",
             "it is read while a wgmma that was not waited for writes it");
}

static void write_register(kcsim_warp *warp, const kcsim_insn *insn, uint32_t slot, uint32_t mask) {
    warp_state *state = &warp->block->wgmma->states[warp->index];
    if (!slot) return;
    slot_state *at = &state->slots[slot];
    if (in_flight(state, at, ROLE_SUM))
        tell(warp, insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, mask, "register",
             "it is written while a wgmma that was not waited for writes it");
    if (in_flight(state, at, ROLE_SOURCE))
        tell(warp, insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, mask, "register",
             "it is written while a wgmma that was not waited for reads it");
    at->written = state->fences + 1;
    at->role = ROLE_NONE;
}

void kcsim_wgmma_watch(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const ptx_statement *statement = insn->source;
    if (insn->kind >= KCSIM_DO_WGMMA && insn->kind <= KCSIM_DO_WGMMA_GROUP) return;
    uint32_t written = 0;
    if (ptx_ops[statement->op].destinations && statement->operand_count &&
        statement->operands[0].kind == PTX_OPERAND_VECTOR)
        written = statement->operands[0].element_count;
    else if (insn->kind == KCSIM_DO_LOAD) written = insn->list_count;
    read_register(warp, insn, insn->a.slot, mask);
    read_register(warp, insn, insn->b.slot, mask);
    read_register(warp, insn, insn->c.slot, mask);
    bool targets = insn->kind == KCSIM_DO_BRANCH_INDEX;
    for (uint32_t i = 0; !targets && i < insn->list_count; i++) {
        if (i < written) write_register(warp, insn, insn->list[i].slot, mask);
        else read_register(warp, insn, insn->list[i].slot, mask);
    }
    /* Compilers copy registers behind the fence; the assembler makes one register of them. */
    const warp_state *state = &warp->block->wgmma->states[warp->index];
    bool copies = insn->kind == KCSIM_DO_MOVE && insn->a.slot;
    bool dirty = !copies || is_dirty(state, &state->slots[insn->a.slot]);
    write_register(warp, insn, insn->d.slot, mask);
    if (!dirty) state->slots[insn->d.slot].written = 0;
}

void kcsim_do_wgmma_fence(kcsim_warp *warp) {
    if (warp->block->wgmma) warp->block->wgmma->states[warp->index].fences++;
}

void kcsim_do_wgmma_group(kcsim_warp *warp, const kcsim_insn *insn) {
    if (!warp->block->wgmma) return;
    warp_state *state = &warp->block->wgmma->states[warp->index];
    if (insn->imm < 0) {
        state->committed++;
    } else if (state->committed > insn->imm) {
        uint32_t done = state->committed - (uint32_t)insn->imm;
        if (done > state->waited) state->waited = done;
    }
}

/* ---- warps of a warpgroup ---- */

static void follow(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_wgmma *wgmma = warp->block->wgmma;
    warpgroup *group = &wgmma->groups[warp->index / 4 % 8];
    uint32_t *issued = &wgmma->states[warp->index].issued, pc = warp->pc;
    char text[120];
    if (warp->index / 4 * 4 + 4 > warp->block->warp_count) {
        tell(warp, insn, KCSIM_FINDING_BARRIER_DIVERGENCE, mask, "warpgroup",
             "all 128 threads of an aligned warpgroup must run this");
        return;
    }
    for (uint32_t w = warp->index / 4 * 4; w < warp->index / 4 * 4 + 4; w++) {
        if (warp->block->warps[w].live || wgmma->states[w].issued > *issued) continue;
        snprintf(text, sizeof text, "warp %u of the warpgroup exited and will not run this", w);
        tell(warp, insn, KCSIM_FINDING_BARRIER_DIVERGENCE, mask, "warpgroup", text);
        break;
    }
    if (*issued == group->issued) {
        group->pcs[group->issued++ % TRAIL] = pc;
    } else if (group->issued - *issued <= TRAIL && group->pcs[*issued % TRAIL] != pc) {
        const kcsim_insn *other = warp->block->launch->code->insns + group->pcs[*issued % TRAIL];
        snprintf(text, sizeof text,
                 "another warp of the warpgroup runs line %u as its wgmma number %u", other->line,
                 *issued + 1);
        tell(warp, insn, KCSIM_FINDING_BARRIER_DIVERGENCE, mask, "warpgroup", text);
    }
    ++*issued;
}

void kcsim_wgmma_leave(kcsim_warp *warp, uint32_t mask) {
    kcsim_wgmma *wgmma = warp->block->wgmma;
    const warpgroup *group = &wgmma->groups[warp->index / 4 % 8];
    uint32_t issued = wgmma->states[warp->index].issued;
    char text[120];
    if (issued >= group->issued) return;
    const kcsim_insn *other = warp->block->launch->code->insns;
    if (group->issued - issued <= TRAIL) other += group->pcs[issued % TRAIL];
    snprintf(text, sizeof text,
             "warp %u exits, and a warp of its warpgroup waits for it to run the wgmma of line %u",
             warp->index, other->line);
    tell(warp, other, KCSIM_FINDING_BARRIER_DIVERGENCE, mask, "warpgroup", text);
}

/* ---- issue ---- */

/* The same accumulators may be in several products in flight: the unit keeps their order. */
void kcsim_wgmma_issue(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    if (!warp->block->wgmma) return;
    warp_state *state = &warp->block->wgmma->states[warp->index];
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    bool dirty = false, busy = false;
    follow(warp, insn, mask);
    for (uint32_t i = 0; i < insn->list_count; i++) {
        slot_state *slot = &state->slots[insn->list[i].slot];
        register_role role = i < form->d_registers ? ROLE_SUM : ROLE_SOURCE;
        if (!insn->list[i].slot) continue;
        dirty |= is_dirty(state, slot);
        busy |= in_flight(state, slot, role == ROLE_SUM ? ROLE_SOURCE : ROLE_SUM);
        slot->role = role;
        slot->group = state->committed + 1;
    }
    if (dirty || !state->fences)
        tell(warp, insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, mask, "register",
             dirty ? "its registers were written, and no wgmma.fence since orders that"
                   : "no wgmma.fence comes before the first wgmma");
    if (busy)
        tell(warp, insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, mask, "register",
             "a register is A of one wgmma in flight and D of another");
}

/* ---- shared memory ---- */

void kcsim_do_proxy_fence(kcsim_warp *warp, const kcsim_insn *insn) {
    kcsim_wgmma *wgmma = warp->block->wgmma;
    ptx_modifier space = ptx_has(insn->source, PTX_GROUP_SPACE);
    if (ptx_has(insn->source, PTX_GROUP_PROXY) != PTX_M_ASYNC) return;
    if (warp->block->worker->proxy_global && (space == PTX_M_GLOBAL || space == PTX_M_NONE))
        kcsim_proxy_global_fence(warp);
    if (space == PTX_M_GLOBAL) return;
    if (warp->block->proxy) kcsim_proxy_fence(warp);
    if (wgmma) wgmma->states[warp->index].proxy_fenced = ++wgmma->now;
}

static void tell_piece(kcsim_warp *warp, const kcsim_insn *insn, kcsim_finding_kind kind,
                       uint32_t lanes, uint64_t address, const char *text) {
    uint64_t addresses[KCSIM_LANES];
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        addresses[i] = address;
    kcsim_report report = {.kind = kind,
                           .lanes = lanes,
                           .space = "shared",
                           .size = PIECE,
                           .addresses = addresses,
                           .other = text};
    kcsim_report_lanes(warp, insn, &report);
}

/* A fence by who stored or by who reads orders the two proxies; that the one comes before the other
 * at all is the race check's business. */
static bool is_fenced(const kcsim_wgmma *wgmma, const warp_state *reader, uint64_t stored,
                      uint32_t writer) {
    return !stored || reader->proxy_fenced > stored ||
           wgmma->states[writer].proxy_fenced > stored;
}

static bool all_fenced(const kcsim_wgmma *wgmma, warp_state *reader) {
    bool fenced = true;
    if (reader->all_fenced == wgmma->now) return true;
    for (uint32_t w = 0; w < wgmma->warps; w++)
        fenced &= is_fenced(wgmma, reader, wgmma->states[w].stored, w);
    if (fenced) reader->all_fenced = wgmma->now;
    return fenced;
}

static void look_for_fences(kcsim_warp *warp, const kcsim_insn *insn, uint32_t first, uint32_t end,
                            uint32_t mask) {
    const kcsim_wgmma *wgmma = warp->block->wgmma;
    const warp_state *state = &wgmma->states[warp->index];
    char text[120];
    for (uint32_t at = first; at < end; at++) {
        const piece *store = &wgmma->stores[at];
        if (is_fenced(wgmma, state, store->written, store->writer)) continue;
        snprintf(text, sizeof text,
                 "warp %u stored it, and no fence.proxy.async of that warp or this one follows",
                 store->writer);
        tell_piece(warp, insn, KCSIM_FINDING_PROXY_FENCE, mask, (uint64_t)at * PIECE, text);
    }
}

void kcsim_wgmma_read(kcsim_warp *warp, const kcsim_insn *insn, uint32_t start,
                      const kcsim_stretch *list, uint32_t count, uint32_t mask) {
    kcsim_wgmma *wgmma = warp->block->wgmma;
    if (!wgmma) return;
    warp_state *state = &wgmma->states[warp->index];
    uint32_t *reads = wgmma->reads + warp->index * wgmma->pieces;
    bool fenced = all_fenced(wgmma, state);
    state->reading = state->committed + 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = (start + list[i].at) / PIECE, end = first + list[i].size / PIECE;
        for (uint32_t at = first; at < end; at++)
            reads[at] = state->reading;
        if (!fenced) look_for_fences(warp, insn, first, end, mask);
    }
}

static bool overwritten(const kcsim_wgmma *wgmma, uint64_t at, uint32_t *reader) {
    for (uint32_t w = 0; w < wgmma->warps; w++) {
        const warp_state *state = &wgmma->states[w];
        if (state->reading <= state->waited) continue;
        if (wgmma->reads[w * wgmma->pieces + at] > state->waited) {
            *reader = w;
            return true;
        }
    }
    return false;
}

void kcsim_wgmma_touch(const kcsim_access *access) {
    kcsim_wgmma *wgmma = access->home->wgmma;
    uint32_t bad = 0, reader = 0;
    uint64_t first = 0;
    char text[120];
    if (access->kind == KCSIM_ACCESS_READ) return;
    uint64_t now = ++wgmma->now;
    bool local = access->home == access->warp->block;
    bool async = access->insn->kind == KCSIM_DO_BULK; /* the same proxy: no fence is wanted */
    if (local && !async) wgmma->states[access->warp->index].stored = now;
    KCSIM_EACH_LANE(lane, access->mask) {
        uint64_t from = access->address[lane], end = from + access->size;
        for (uint64_t at = from / PIECE; at * PIECE < end && at < wgmma->pieces; at++) {
            if (local || async)
                wgmma->stores[at] =
                    (piece){.written = async ? 0 : now, .writer = access->warp->index};
            if (!overwritten(wgmma, at, &reader)) continue;
            if (!bad) first = from;
            bad |= 1u << lane;
        }
    }
    if (!bad) return;
    snprintf(text, sizeof text, "a wgmma of warp %u still reads it: that warp has not waited",
             reader);
    tell_piece(access->warp, access->insn, KCSIM_FINDING_ASYNC_IN_FLIGHT, bad, first, text);
}
