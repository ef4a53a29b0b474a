/* Races between lanes of one warp on shared memory.
 *
 * Lanes go their own ways; that they happen to run together orders nothing. bar.warp.sync does, for
 * the lanes it names, and so does whatever orders the whole warp: barriers, mbarriers, acquires and
 * fences (which, for simplicity, count for all its lanes, unless they release only). shfl, vote and
 * the like do not: PTX ISA, "bar.warp.sync": "guarantees memory ordering among participating
 * threads"; of the others it says that lanes wait for each other, no more.
 *
 *     st.shared [s + lane]            round 7: s[3] was written by lane 3
 *     bar.warp.sync -1                round 8
 *     ld.shared [s + 31 - lane]       lane 28 reads s[3]: what is of round 7 is ordered
 *
 * So with a release (an arrival, an atomic): another warp that acquires it knows what the lanes did
 * that make it, and those that they have met; stores of the others are a race still, and what is
 * stored where they loaded.
 *
 * A word remembers one warp's lanes in its current round. Where some of the lanes have met, a tick
 * tells the times within the round apart, and each lane knows the tick of the others that it has
 * heard of. What other warps did to the word is race.c's affair. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/race_lanes.h"

#define LAST_TICK 0xffu
#define RELEASES (sizeof((kcsim_warp *)0)->releases / sizeof(struct kcsim_lane_release))

struct kcsim_traces {
    uint64_t count;
    kcsim_lane_trace words[];
};

kcsim_traces *kcsim_traces_create(uint64_t shared_bytes) {
    uint64_t count = (shared_bytes + 3) / 4;
    kcsim_traces *traces = calloc(1, sizeof *traces + count * sizeof *traces->words);
    if (traces) traces->count = count;
    return traces;
}

void kcsim_traces_destroy(kcsim_traces *traces) {
    free(traces);
}

/* After the last round nothing is looked for, until a block starts anew. */
void kcsim_lanes_order(kcsim_warp *warp) {
    if (warp->round < KCSIM_ROUNDS - 1) warp->round++;
    warp->tick = 1;
    warp->round_step = warp->global_steps + 1;
    warp->partly_met = false;
}

void kcsim_traces_start(kcsim_block *block) {
    bool soon_over = false;
    for (uint32_t w = 0; w < block->warp_count; w++)
        soon_over |= block->warps[w].round > KCSIM_ROUNDS / 2;
    if (!soon_over && block->cluster->count == 1) return;
    if (block->traces)
        memset(block->traces->words, 0, block->traces->count * sizeof(kcsim_lane_trace));
    for (uint32_t w = 0; w < block->warp_count; w++)
        block->warps[w].round = 0;
}

void kcsim_lanes_meet(kcsim_warp *warp, uint32_t lanes) {
    if (!(warp->live & ~lanes) || warp->tick == LAST_TICK) {
        kcsim_lanes_order(warp);
        return;
    }
    uint8_t known[KCSIM_LANES] = {0};
    if (!warp->partly_met) memset(warp->known, 0, sizeof warp->known);
    warp->partly_met = true;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        for (uint32_t of = 0; lanes >> lane & 1 && of < KCSIM_LANES; of++) {
            uint8_t tick = lanes >> of & 1 ? warp->tick : warp->known[lane][of];
            if (tick > known[of]) known[of] = tick;
        }
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        if (lanes >> lane & 1) memcpy(warp->known[lane], known, sizeof known);
    warp->tick++;
}

static uint32_t bytes_of(uint64_t address, uint32_t size) {
    return size >= 4 ? 15 : ((1u << size) - 1) << (address & 3) & 15;
}

/* Lanes that released in this round before are covered, and those that these have met. */
void kcsim_lanes_release(kcsim_warp *warp, uint32_t lanes) {
    struct kcsim_lane_release *last = &warp->last_release;
    uint32_t now = warp->time[warp->id], covered = lanes;
    if (last->round == warp->round) covered |= last->lanes;
    for (uint32_t i = 0; i < KCSIM_LANES * KCSIM_LANES && warp->partly_met; i++)
        if (lanes >> i / KCSIM_LANES & 1 && warp->known[i / KCSIM_LANES][i % KCSIM_LANES])
            covered |= 1u << i % KCSIM_LANES;
    *last = (struct kcsim_lane_release){.time = now, .round = warp->round, .lanes = covered};
    warp->releases[now % RELEASES] = *last;
    if (warp->live & ~covered) warp->block->cluster->lanes_release = true;
}

/* A lane's store, or before a store its load, that this warp knows of by a release which does not
 * cover that lane. Instructions of the whole warp, like ldmatrix, are read by all before any goes
 * on. */
static int unreleased(const kcsim_lane_trace *at, const kcsim_warp *warp, uint32_t bytes,
                      bool writes, kcsim_racer *other) {
    const kcsim_cluster *cluster = warp->block->cluster;
    const kcsim_insn *insns = warp->block->launch->code->insns;
    uint32_t id = at->round_and_warp & 1023, count = warp->block->warp_count;
    if (id == warp->id || id / count >= cluster->count) return -1;
    const kcsim_warp *past = &cluster->blocks[id / count].warps[id % count];
    const struct kcsim_lane_release *by = &past->releases[warp->time[id] % RELEASES];
    if (by->time != warp->time[id] || by->round != at->round_and_warp >> 10) return -1;
    bool stored = at->written & bytes && !(at->written & KCSIM_TRACE_FLAG) &&
                  !(at->writers & by->lanes); /* who may have stored the same */
    bool loaded = writes && at->read & bytes && !(at->read & KCSIM_TRACE_FLAG) &&
                  at->readers & ~by->lanes && insns[at->read_place].kind == KCSIM_DO_LOAD;
    if (!stored && !loaded) return -1;
    other->place = stored ? at->write_place : at->read_place;
    other->reads = !stored;
    return (int)(id * KCSIM_LANES) +
           __builtin_ctz(stored ? at->writers : at->readers & ~by->lanes);
}

static uint32_t unreleased_lanes(const kcsim_traces *traces, const kcsim_warp *warp,
                                 const uint64_t *addresses, uint32_t mask, uint32_t size,
                                 bool writes, kcsim_racer *other) {
    uint32_t bad = 0;
    kcsim_racer found = *other;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), bytes = bytes_of(addresses[lane], size);
        uint64_t last = (addresses[lane] + size - 1) / 4;
        for (uint64_t i = addresses[lane] / 4; i <= last && i < traces->count; i++) {
            int who = unreleased(&traces->words[i], warp, bytes, writes, &found);
            if (who < 0) continue;
            found.warp = (uint32_t)who / KCSIM_LANES;
            found.lane = who % (int)KCSIM_LANES;
            if (!bad) *other = found;
            bad |= 1u << lane;
        }
    }
    return bad;
}

int kcsim_traces_lane(const kcsim_traces *traces, uint64_t word, uint32_t warp, bool reads) {
    if (!traces || word >= traces->count) return -1;
    const kcsim_lane_trace *at = &traces->words[word];
    uint32_t lanes = reads ? at->readers : at->writers;
    if (!lanes || (at->round_and_warp & 1023) != warp) return -1;
    if (!(reads ? at->read : at->written)) return -1;
    return __builtin_ctz(lanes);
}

static uint32_t read_lanes(kcsim_traces *traces, const kcsim_warp *warp, const uint64_t *addresses,
                           uint32_t mask, uint32_t size, kcsim_rival *first) {
    uint32_t bad = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), bytes = bytes_of(addresses[lane], size);
        uint64_t last = (addresses[lane] + size - 1) / 4;
        for (uint64_t i = addresses[lane] / 4; i <= last && i < traces->count; i++) {
            kcsim_rival rival = kcsim_trace_read(&traces->words[i], warp, lane, bytes);
            if (rival.lane < 0) continue;
            if (!bad) *first = rival;
            bad |= 1u << lane;
        }
    }
    return bad;
}

/* All lanes look before any is noted: what one store does at once is no race. */
static uint32_t write_lanes(kcsim_traces *traces, const kcsim_warp *warp, const uint64_t *addresses,
                            uint32_t mask, uint32_t size, bool atomic, kcsim_rival *first) {
    uint32_t bad = 0;
    for (int noting = 0; noting < 2; noting++)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest), bytes = bytes_of(addresses[lane], size);
            uint64_t last = (addresses[lane] + size - 1) / 4;
            for (uint64_t i = addresses[lane] / 4; i <= last && i < traces->count; i++) {
                kcsim_lane_trace *at = &traces->words[i];
                kcsim_rival rival = {.lane = -1};
                if (noting) kcsim_trace_write(at, warp, lane, bytes, atomic);
                else rival = kcsim_trace_look(at, warp, lane, bytes, atomic);
                if (rival.lane < 0) continue;
                if (!bad) *first = rival;
                bad |= 1u << lane;
            }
        }
    return bad;
}

uint32_t kcsim_traces_access(kcsim_traces *traces, const kcsim_warp *warp,
                             const uint64_t *addresses, uint32_t mask, uint32_t size,
                             kcsim_access_kind kind, kcsim_racer *other) {
    kcsim_rival first = {.lane = -1};
    uint32_t before = 0, bad;
    if (warp->round == KCSIM_ROUNDS - 1) return 0;
    if (warp->block->cluster->lanes_release)
        before = unreleased_lanes(traces, warp, addresses, mask, size,
                                  kind != KCSIM_ACCESS_READ, other);
    if (kind == KCSIM_ACCESS_READ)
        bad = read_lanes(traces, warp, addresses, mask, size, &first);
    else
        bad = write_lanes(traces, warp, addresses, mask, size, kind == KCSIM_ACCESS_ATOMIC, &first);
    if (!bad) return before;
    *other = (kcsim_racer){.warp = warp->id, .lane = first.lane, .place = first.place};
    return bad;
}
