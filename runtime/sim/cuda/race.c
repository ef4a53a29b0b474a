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
 * apart by a mask, so that two halves belong to two warps. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"

#define SEVERAL 63u

typedef struct mark {
    uint32_t time : 21;
    uint32_t atomic : 1;
    uint32_t warp : 6;
    uint32_t bytes : 4;
} mark;

typedef struct word {
    mark writer, reader; /* time 0: none */
} word;

struct kcsim_race {
    uint64_t count;
    word *words;
    uint16_t (*readers)[KCSIM_LANES]; /* exact: each warp's last reading tick */
};

kcsim_race *kcsim_race_create(uint64_t shared_bytes, bool exact) {
    kcsim_race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->count = (shared_bytes + 3) / 4;
    race->words = calloc(race->count + 1, sizeof *race->words);
    if (exact) race->readers = calloc(race->count + 1, sizeof *race->readers);
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
    free(race);
}

void kcsim_race_reset(kcsim_race *race) {
    if (!race) return;
    memset(race->words, 0, race->count * sizeof *race->words);
    if (race->readers) memset(race->readers, 0, race->count * sizeof *race->readers);
}

static bool is_ordered(const kcsim_warp *warp, mark past) {
    return past.time == 0 || past.warp == warp->index ||
           (past.warp < KCSIM_LANES && past.time <= warp->time[past.warp]);
}

static bool conflicts(const kcsim_warp *warp, mark past, uint32_t bytes, bool atomic) {
    if (!(past.bytes & bytes) || (past.atomic && atomic)) return false;
    return !is_ordered(warp, past);
}

/* "Several" are ordered when the tick they share lies before everything this warp knows. */
static bool several_ordered(const kcsim_warp *warp, mark past) {
    for (uint32_t w = 0; w < warp->block->warp_count; w++) {
        bool could_be =
            warp->block->warps[w].time[w] >= past.time; /* a warp that exited never got there */
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
    for (uint32_t w = 0; w < warp->block->warp_count; w++)
        if (w != warp->index && race->readers[index][w] > warp->time[w]) {
            *other = w;
            return true;
        }
    return false;
}

static void note_reader(kcsim_race *race, uint64_t index, const kcsim_warp *warp, uint32_t bytes,
                        uint32_t now) {
    mark *reader = &race->words[index].reader;
    bool mine = reader->warp == warp->index || reader->time == 0;
    bool over = !mine && (reader->warp == SEVERAL ? !race->readers && several_ordered(warp, *reader)
                                                  : !race->readers && is_ordered(warp, *reader));
    if (race->readers)
        race->readers[index][warp->index] = (uint16_t)(now < UINT16_MAX ? now : UINT16_MAX);
    if (mine && reader->time == now) reader->bytes |= bytes;
    else if (mine || over)
        *reader = (mark){.time = now & 0x1fffff, .warp = warp->index & 63, .bytes = bytes & 15};
    else
        *reader = (mark){.time = (now > reader->time ? now : reader->time) & 0x1fffff,
                         .warp = SEVERAL,
                         .bytes = (reader->bytes | bytes) & 15};
}

static void note_writer(kcsim_race *race, uint64_t index, const kcsim_warp *warp, uint32_t bytes,
                        uint32_t now, bool atomic) {
    mark *writer = &race->words[index].writer;
    bool current = writer->time && writer->warp != warp->index && !is_ordered(warp, *writer);
    mark fresh = {
        .time = now & 0x1fffff, .atomic = atomic, .warp = warp->index & 63, .bytes = bytes & 15};
    if (writer->time == now && writer->warp == warp->index) {
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

uint32_t kcsim_race_news(const kcsim_race *race, const kcsim_warp *warp, const uint64_t *addresses,
                         uint32_t mask, uint32_t size, kcsim_access_kind kind) {
    if (kind != KCSIM_ACCESS_READ || size != 4 || race->readers) return mask;
    /* A word that this warp, or several, have read since the last barrier, and whose writer is
     * known to be ordered. */
    uint32_t now = warp->time[warp->index] & 0x1fffff, news = 0;
    mark mine = {.time = now, .warp = warp->index & 63, .bytes = 15},
         shared = {.time = now, .warp = SEVERAL, .bytes = 15};
    for (; mask; mask &= mask - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const word *at = &race->words[addresses[lane] / 4];
        bool known = same_mark(at->reader, mine) || same_mark(at->reader, shared);
        if (!known || !is_ordered(warp, at->writer)) news |= 1u << lane;
    }
    return news;
}

static bool access_word(kcsim_race *race, const kcsim_warp *warp, uint64_t index, uint32_t bytes,
                        kcsim_access_kind kind, uint32_t *other) {
    uint32_t now = warp->time[warp->index];
    bool atomic = kind == KCSIM_ACCESS_ATOMIC;
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
    uint32_t known[KCSIM_LANES] = {0};
    for (uint32_t w = 0; w < block->warp_count; w++)
        for (uint32_t k = 0; warps >> w & 1 && k < block->warp_count; k++)
            if (block->warps[w].time[k] > known[k]) known[k] = block->warps[w].time[k];
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (!(warps >> w & 1)) continue;
        memcpy(block->warps[w].time, known, sizeof known);
        block->warps[w].time[w]++;
    }
}
