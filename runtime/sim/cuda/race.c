/* Races on shared memory, by a shadow word per 4 bytes.
 *
 * Each warp has a clock, and for every other warp the last tick it has heard of. Clocks are
 * exchanged where warps meet at a barrier. An access is ordered after another warp's when that
 * warp's tick then has been heard of:
 *
 *     warp 0  write s[0] at tick 1 --- barrier: now tick 2, and both know 0:1 1:1 --- ...
 *     warp 1  ------------------------ barrier -------------------------------------- read s[0]:
 * 0:1 is known: ordered
 *
 * A word remembers its last writer and its readers since. One reader is kept exactly; several are
 * kept as "several at this tick", which is exact while barriers are for the whole block; kernels
 * with barriers for some of the warps (`exact`) keep every reader's tick. Bytes of a word are told
 * apart by a mask, so that two halves belong to two warps.
 *
 * Where mbarriers or clusters order warps one by one (`exact` too), clocks part, and "several" says
 * nothing of atomics either: each warp's last one is kept, of the few words that have any. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"

#define SEVERAL 1023u
#define TIMES 0x1ffffu /* ticks that are told apart; behind them races may be missed */

typedef struct mark {
    uint32_t time : 17;
    uint32_t atomic : 1;
    uint32_t warp : 10;
    uint32_t bytes : 4;
} mark;

typedef struct word {
    mark writer, reader; /* time 0: none */
} word;

struct kcsim_race {
    uint64_t count;
    word *words;
    uint32_t warps;    /* of the cluster */
    uint16_t *readers; /* exact: each warp's last reading tick */
    /* exact: words that atomics touched, and each warp's last tick there */
    uint32_t *atomic_at; /* by word: its place among them + 1; NULL while there is none */
    uint64_t *atomic_words;
    uint16_t *atomics;
    uint32_t atomic_count, atomic_capacity;
};

kcsim_race *kcsim_race_create(uint64_t shared_bytes, uint32_t warps, bool exact) {
    kcsim_race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->count = (shared_bytes + 3) / 4;
    race->words = calloc(race->count + 1, sizeof *race->words);
    race->warps = warps;
    if (exact) race->readers = calloc((race->count + 1) * warps, sizeof *race->readers);
    if (!race->words || (exact && !race->readers)) {
        kcsim_race_destroy(race);
        return NULL;
    }
    return race;
}

void kcsim_race_destroy(kcsim_race *race) {
    if (!race) return;
    free(race->words);
    free(race->readers);
    free(race->atomic_at);
    free(race->atomic_words);
    free(race->atomics);
    free(race);
}

void kcsim_race_reset(kcsim_race *race) {
    if (!race) return;
    memset(race->words, 0, race->count * sizeof *race->words);
    if (race->readers) memset(race->readers, 0, race->count * race->warps * sizeof *race->readers);
    for (uint32_t i = 0; i < race->atomic_count; i++)
        race->atomic_at[race->atomic_words[i]] = 0;
    race->atomic_count = 0;
}

static bool is_ordered(const kcsim_warp *warp, mark past) {
    return past.time == 0 || past.warp == warp->id ||
           (past.warp != SEVERAL && past.time <= warp->time[past.warp]);
}

static bool conflicts(const kcsim_warp *warp, mark past, uint32_t bytes, bool atomic) {
    if (!(past.bytes & bytes) || (past.atomic && atomic)) return false;
    return !is_ordered(warp, past);
}

/* "Several" are ordered when the tick they share lies before everything this warp knows. Not for
 * `exact`, so the block is alone and has one clock a warp. */
static inline bool several_ordered(const kcsim_warp *warp, mark past) {
    const uint32_t *clocks = warp->block->clocks;
    uint32_t count = warp->block->warp_count;
    for (uint32_t w = 0; w < count; w++) {
        bool could_be = clocks[w * count + w] >= past.time; /* a warp that exited never got there */
        if (w != warp->index && could_be && past.time > warp->time[w]) return false;
    }
    return true;
}

static bool reader_conflicts(const kcsim_race *race, uint64_t index, const kcsim_warp *warp,
                             uint32_t bytes, bool atomic, uint32_t *other) {
    mark reader = race->words[index].reader;
    if (!(reader.bytes & bytes) || (reader.atomic && atomic) || reader.time == 0) return false;
    *other = reader.warp;
    if (reader.warp != SEVERAL) return !is_ordered(warp, reader);
    if (!race->readers) return !several_ordered(warp, reader);
    for (uint32_t w = 0; w < race->warps; w++)
        if (w != warp->id && race->readers[index * race->warps + w] > warp->time[w]) {
            *other = w;
            return true;
        }
    return false;
}

static void note_reader(kcsim_race *race, uint64_t index, const kcsim_warp *warp, uint32_t bytes,
                        uint32_t now) {
    mark *reader = &race->words[index].reader;
    bool mine = reader->warp == warp->id || reader->time == 0;
    bool over = !mine && (reader->warp == SEVERAL ? !race->readers && several_ordered(warp, *reader)
                                                  : !race->readers && is_ordered(warp, *reader));
    if (race->readers)
        race->readers[index * race->warps + warp->id] =
            (uint16_t)(now < UINT16_MAX ? now : UINT16_MAX);
    if (mine && reader->time == now) reader->bytes |= bytes;
    else if (mine || over)
        *reader = (mark){.time = now & TIMES, .warp = warp->id & SEVERAL, .bytes = bytes & 15};
    else
        *reader = (mark){.time = (now > reader->time ? now : reader->time) & TIMES,
                         .warp = SEVERAL,
                         .bytes = (reader->bytes | bytes) & 15};
}

static void note_writer(kcsim_race *race, uint64_t index, const kcsim_warp *warp, uint32_t bytes,
                        uint32_t now, bool atomic) {
    mark *writer = &race->words[index].writer;
    bool current = writer->time && writer->warp != warp->id && !is_ordered(warp, *writer);
    mark fresh = {
        .time = now & TIMES, .atomic = atomic, .warp = warp->id & SEVERAL, .bytes = bytes & 15};
    if (writer->time == now && writer->warp == warp->id) {
        fresh.bytes |= writer->bytes;
        fresh.atomic = atomic && writer->atomic;
    }
    /* Another warp's bytes of the same word, or its atomics: both stay known. */
    if (current && (!(writer->bytes & bytes) || (writer->atomic && atomic))) {
        fresh.warp = SEVERAL;
        fresh.bytes |= writer->bytes;
        fresh.atomic = atomic && writer->atomic;
    }
    *writer = fresh;
}

static bool same_mark(mark a, mark b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* This warp, or several, have read these bytes of the word at this tick already, and whoever wrote
 * it is known to be ordered. */
static inline bool is_old_news(const kcsim_warp *warp, word at, uint32_t now, uint32_t bytes) {
    bool read = at.reader.time == now && (at.reader.warp == warp->id || at.reader.warp == SEVERAL);
    return read && !(bytes & ~at.reader.bytes) && is_ordered(warp, at.writer);
}

uint32_t kcsim_race_news(const kcsim_race *race, const kcsim_warp *warp, const uint64_t *addresses,
                         uint32_t mask, uint32_t size, kcsim_access_kind kind) {
    uint32_t now = warp->time[warp->id] & TIMES, news = 0;
    uint32_t words = size < 4 ? 1 : size / 4, bytes = size < 4 ? (1u << size) - 1 : 15;
    if (kind != KCSIM_ACCESS_READ || (size > 4 && size % 4) || race->readers) return mask;
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), within = addresses[lane] % 4;
        const word *at = &race->words[addresses[lane] / 4];
        bool known = within + (size < 4 ? size : 4) <= 4;
        for (uint32_t i = 0; known && i < words; i++)
            known = is_old_news(warp, at[i], now, bytes << within);
        news |= (uint32_t)!known << lane;
    }
    return news;
}

/* ---- atomics, exactly ---- */

static uint16_t *atomics_of(const kcsim_race *race, uint64_t index) {
    uint32_t place = race->atomic_at ? race->atomic_at[index] : 0;
    return place ? race->atomics + (size_t)(place - 1) * race->warps : NULL;
}

/* Out of memory means a race that is not seen. */
static void note_atomic(kcsim_race *race, uint64_t index, const kcsim_warp *warp, uint32_t now) {
    uint16_t *times = atomics_of(race, index);
    if (!times && race->atomic_count == race->atomic_capacity) {
        uint32_t wanted = race->atomic_capacity ? race->atomic_capacity * 2 : 16;
        uint64_t *words = realloc(race->atomic_words, wanted * sizeof *words);
        if (words) race->atomic_words = words;
        uint16_t *grown = realloc(race->atomics, (size_t)wanted * race->warps * sizeof *grown);
        if (grown) race->atomics = grown;
        if (!words || !grown) return;
        race->atomic_capacity = wanted;
    }
    if (!race->atomic_at) race->atomic_at = calloc(race->count + 1, sizeof *race->atomic_at);
    if (!race->atomic_at) return;
    if (!times) {
        race->atomic_words[race->atomic_count] = index;
        race->atomic_at[index] = race->atomic_count + 1;
        times = race->atomics + (size_t)race->atomic_count++ * race->warps;
        memset(times, 0, race->warps * sizeof *times);
    }
    times[warp->id] = (uint16_t)(now < UINT16_MAX ? now : UINT16_MAX);
}

__attribute__((noinline)) static bool atomics_conflict(const kcsim_race *race, uint64_t index,
                                                       const kcsim_warp *warp, uint32_t *other) {
    const uint16_t *times = race->atomic_count ? atomics_of(race, index) : NULL;
    for (uint32_t w = 0; times && w < race->warps; w++)
        if (w != warp->id && times[w] > warp->time[w]) {
            *other = w;
            return true;
        }
    return false;
}

/* `exact`: atomics are kept apart from the marks of plain accesses. */
__attribute__((noinline)) static bool exact_atomic(kcsim_race *race, uint64_t index,
                                                   const kcsim_warp *warp, uint32_t bytes,
                                                   uint32_t *other) {
    mark writer = race->words[index].writer;
    note_atomic(race, index, warp, warp->time[warp->id]);
    if (writer.warp != SEVERAL && conflicts(warp, writer, bytes, false)) {
        *other = writer.warp;
        return true;
    }
    return reader_conflicts(race, index, warp, bytes, false, other);
}

static bool access_word(kcsim_race *race, const kcsim_warp *warp, uint64_t index, uint32_t bytes,
                        kcsim_access_kind kind, uint32_t *other) {
    uint32_t now = warp->time[warp->id];
    bool atomic = kind == KCSIM_ACCESS_ATOMIC;
    if (race->readers && atomic) return exact_atomic(race, index, warp, bytes, other);
    if (race->readers && atomics_conflict(race, index, warp, other)) return true;
    mark writer = race->words[index].writer;
    bool found = false;
    /* Plain writes by several warps to parts of a word are not told apart any further. */
    bool vague = writer.warp == SEVERAL && !writer.atomic;
    if (conflicts(warp, writer, bytes, atomic) && !vague) {
        found = !(writer.warp == SEVERAL && several_ordered(warp, writer));
        *other = writer.warp;
    }
    if (kind == KCSIM_ACCESS_READ) {
        note_reader(race, index, warp, bytes, now);
        return found;
    }
    uint32_t reader = 0;
    if (!found && reader_conflicts(race, index, warp, bytes, atomic, &reader)) {
        found = true;
        *other = reader;
    }
    note_writer(race, index, warp, bytes, now, atomic);
    return found;
}

bool kcsim_race_unfenced(const kcsim_race *race, const kcsim_warp *warp, uint64_t address,
                         uint64_t size, uint32_t *writer) {
    mark known = {.time = 0};
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < race->count; i++) {
        mark last = race->words[i].writer;
        if (last.time == 0 || last.warp == SEVERAL || same_mark(last, known)) continue;
        if (!kcsim_proxy_is_fenced(warp, last.warp, last.time)) {
            *writer = last.warp;
            return true;
        }
        known = last;
    }
    return false;
}

void kcsim_race_forget(kcsim_race *race, uint64_t address, uint64_t size) {
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < race->count; i++) {
        race->words[i] = (word){.writer = {.time = 0}};
        if (race->readers)
            memset(race->readers + i * race->warps, 0, race->warps * sizeof *race->readers);
    }
}

bool kcsim_race_access(kcsim_race *race, const kcsim_warp *warp, uint64_t address, uint32_t size,
                       kcsim_access_kind kind, uint32_t *other) {
    bool found = false;
    uint64_t first = address / 4, last = (address + size - 1) / 4;
    for (uint64_t index = first; index <= last && index < race->count; index++) {
        uint32_t bytes = size >= 4 ? 15 : ((1u << size) - 1) << (address & 3);
        uint32_t who = 0;
        if (access_word(race, warp, index, bytes & 15, kind, &who) && !found) {
            found = true;
            *other = who;
        }
    }
    return found;
}

void kcsim_race_meet(kcsim_block *block, uint32_t warps) {
    uint32_t known[KCSIM_CLUSTER_MOST * KCSIM_LANES], count = block->launch->clock_count;
    memset(known, 0, count * sizeof *known);
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (warps >> w & 1) kcsim_order_join(known, block->warps[w].time, count);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        if (!(warps >> w & 1)) continue;
        memcpy(warp->time, known, count * sizeof *known);
        warp->time[warp->id]++;
    }
}
