/* Races on shared memory, by two sets of accesses a word: its writers and its readers.
 *
 * Each warp has a clock, and for every other warp the last tick it has heard of. Clocks are
 * exchanged where warps meet at a barrier, and as order.c says. An access is ordered after another
 * warp's when that warp's tick then has been heard of:
 *
 *     warp 0  write s[0] at tick 1 --- barrier: now tick 2, and both know 0:1 1:1 --- ...
 *     warp 1  ------------------------ barrier --- read s[0]: 0:1 is known: ordered
 *
 * A word remembers the accesses that a later one could still race with:
 *
 *     read      is a reader; readers that it is ordered after are forgotten, for who comes after it
 *               comes after them
 *     write     is the only writer, and there are no readers
 *     atomic    is one more writer; only atomics that it is ordered after are forgotten, for other
 *               atomics need not be ordered after it
 *
 * each for the bytes of the word that it touches. Sets are kept once (race_sets.h), so what becomes
 * of a word is a step from a pair of sets to another. A warp's steps are remembered for as long as
 * it hears nothing new: the words of a tile all take the same one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/race_sets.h"
#include "runtime/sim/cuda/talk.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define STEPS 256u
#define NOBODY UINT32_MAX
#define WARP_SHIFT 22 /* an instruction below, and its warp */

typedef struct pair {
    uint32_t writers, readers;
} pair;

typedef struct step {
    pair before, after;
    uint32_t knowledge; /* warp->knowledge; 0: no step */
    uint16_t warp;
    uint8_t bytes, kind, atomic;
    uint32_t other; /* who conflicts, or NOBODY */
    bool reads;     /* it is a reader */
} step;

struct kcsim_race {
    uint64_t count;
    pair *words, *places; /* places: who the sets last changed by, WARP_SHIFT */
    kcsim_race_sets sets;
    step steps[STEPS];
};

kcsim_race *kcsim_race_create(uint64_t shared_bytes, uint32_t blocks) {
    kcsim_race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->count = (shared_bytes + 3) / 4;
    race->sets.most = KCSIM_RACE_MOST / blocks;
    race->words = calloc(race->count + 1, sizeof *race->words);
    race->places = calloc(race->count + 1, sizeof *race->places);
    if (race->words && race->places) return race;
    kcsim_race_destroy(race);
    return NULL;
}

void kcsim_race_destroy(kcsim_race *race) {
    if (!race) return;
    free(race->words);
    free(race->places);
    kcsim_race_sets_destroy(&race->sets);
    free(race);
}

void kcsim_race_reset(kcsim_race *race) {
    if (!race) return;
    memset(race->words, 0, race->count * sizeof *race->words);
    memset(race->steps, 0, sizeof race->steps);
    kcsim_race_sets_reset(&race->sets);
}

static inline uint64_t bits_of(const pair *at) {
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    return bits;
}

static inline bool same_pair(pair a, pair b) {
    return bits_of(&a) == bits_of(&b);
}

/* ---- one step ---- */

typedef struct entries {
    kcsim_accessed list[KCSIM_RACE_WIDEST];
    uint32_t count;
} entries;

static bool is_ordered(const kcsim_warp *warp, const kcsim_accessed *past) {
    return past->warp == warp->id || past->time <= warp->time[past->warp];
}

/* One who conflicts, `wanted` if that warp does. */
static uint32_t conflict_with(const kcsim_race *race, uint32_t id, const kcsim_warp *warp,
                              uint32_t bytes, uint8_t atomic, uint32_t wanted) {
    uint32_t found = NOBODY;
    if (!id) return NOBODY;
    const kcsim_race_set *set = &race->sets.sets[id];
    for (uint32_t i = 0; i < set->count; i++) {
        const kcsim_accessed *past = &race->sets.entries[set->first + i];
        bool together = atomic && past->atomic == atomic;
        if (!(past->bytes & bytes) || together || is_ordered(warp, past)) continue;
        if (past->warp == wanted) return wanted;
        if (found == NOBODY) found = past->warp;
    }
    return found;
}

static void find_conflict(const kcsim_race *race, const kcsim_warp *warp, step *at, bool reads) {
    uint32_t id = reads ? at->before.readers : at->before.writers;
    at->other = conflict_with(race, id, warp, at->bytes, at->atomic, NOBODY);
    at->reads = reads;
}

static bool is_forgotten(const kcsim_warp *warp, const kcsim_accessed *past,
                         kcsim_access_kind kind) {
    if (kind == KCSIM_ACCESS_WRITE) return true;
    return (kind == KCSIM_ACCESS_READ || past->atomic) && is_ordered(warp, past);
}

/* What stays of a set behind an access of this kind. */
static void keep(const kcsim_race *race, uint32_t id, const kcsim_warp *warp, uint32_t bytes,
                 kcsim_access_kind kind, entries *out) {
    out->count = 0;
    if (!id) return;
    const kcsim_race_set *set = &race->sets.sets[id];
    for (uint32_t i = 0; i < set->count; i++) {
        kcsim_accessed past = race->sets.entries[set->first + i];
        if (is_forgotten(warp, &past, kind)) past.bytes &= (uint8_t)~bytes;
        if (past.bytes) out->list[out->count++] = past;
    }
}

static void add(entries *to, kcsim_accessed fresh) {
    uint32_t at = 0;
    if (to->count == KCSIM_RACE_WIDEST) return;
    while (at < to->count && to->list[at].warp < fresh.warp)
        at++;
    for (uint32_t i = at; i < to->count && to->list[i].warp == fresh.warp; i++)
        if (to->list[i].time == fresh.time && to->list[i].atomic == fresh.atomic) {
            to->list[i].bytes |= fresh.bytes;
            return;
        }
    memmove(to->list + at + 1, to->list + at, (to->count - at) * sizeof *to->list);
    to->list[at] = fresh;
    to->count++;
}

static void take_step(kcsim_race *race, const kcsim_warp *warp, step *at) {
    kcsim_access_kind kind = (kcsim_access_kind)at->kind;
    kcsim_accessed fresh = {.time = warp->time[warp->id],
                            .warp = (uint16_t)warp->id,
                            .bytes = at->bytes,
                            .atomic = at->atomic};
    entries kept;
    at->after = at->before;
    find_conflict(race, warp, at, false);
    if (kind == KCSIM_ACCESS_READ) {
        keep(race, at->before.readers, warp, at->bytes, kind, &kept);
        add(&kept, fresh);
        at->after.readers = kcsim_race_sets_find(&race->sets, kept.list, kept.count);
        return;
    }
    if (at->other == NOBODY) find_conflict(race, warp, at, true);
    if (kind == KCSIM_ACCESS_WRITE) {
        keep(race, at->before.readers, warp, at->bytes, kind, &kept);
        at->after.readers = kcsim_race_sets_find(&race->sets, kept.list, kept.count);
    }
    keep(race, at->before.writers, warp, at->bytes, kind, &kept);
    add(&kept, fresh);
    at->after.writers = kcsim_race_sets_find(&race->sets, kept.list, kept.count);
}

static const step *step_from(kcsim_race *race, const kcsim_warp *warp, pair before, uint32_t bytes,
                             kcsim_access_kind kind, uint8_t atomic) {
    uint32_t hash = before.writers * 0x9e3779b1u ^ before.readers * 0x85ebca77u;
    hash = (hash ^ hash >> 16) + bytes + 16 * kind + 64 * warp->id;
    step *at = &race->steps[hash % STEPS];
    if (same_pair(at->before, before) && at->knowledge == warp->knowledge &&
        at->warp == warp->id && at->bytes == bytes && at->kind == kind && at->atomic == atomic)
        return at;
    *at = (step){.before = before,
                 .knowledge = warp->knowledge,
                 .warp = (uint16_t)warp->id,
                 .bytes = (uint8_t)bytes,
                 .kind = (uint8_t)kind,
                 .atomic = atomic};
    take_step(race, warp, at);
    return at;
}

/* ---- accesses ---- */

static const kcsim_racer nobody = {.warp = NOBODY, .place = UINT32_MAX};

static uint32_t place_of(const kcsim_warp *warp) {
    return warp->id << WARP_SHIFT | (warp->pc & ((1u << WARP_SHIFT) - 1));
}

static void set_word(kcsim_race *race, uint64_t i, pair after, uint32_t place) {
    if (race->words[i].writers != after.writers) race->places[i].writers = place;
    if (race->words[i].readers != after.readers) race->places[i].readers = place;
    race->words[i] = after;
}

static void make_room(kcsim_race *race) {
    if (!kcsim_race_sets_full(&race->sets)) return;
    kcsim_race_sets_sweep(&race->sets, &race->words[0].writers, race->count * 2);
    memset(race->steps, 0, sizeof race->steps);
}

/* One instruction's way over words: the last step is likely to be the next word's too. */
typedef struct walk {
    kcsim_race *race;
    const kcsim_warp *warp;
    kcsim_access_kind kind;
    uint8_t atomic;
    const step *taken;
    kcsim_racer other; /* the first that conflicts, or nobody */
} walk;

static uint8_t atomic_of(kcsim_access_kind kind, uint32_t size) {
    return kind == KCSIM_ACCESS_ATOMIC ? (uint8_t)(1 + __builtin_ctz(size | 1u << 7)) : 0;
}

static inline const step *step_of(walk *at, pair before, uint32_t bytes) {
    const step *taken = at->taken;
    if (!taken || bytes != taken->bytes || !same_pair(before, taken->before))
        at->taken = taken = step_from(at->race, at->warp, before, bytes, at->kind, at->atomic);
    return taken;
}

/* Preferably the last of those who conflict: of that one it is known where it was. */
static void name_other(walk *at, const step *taken, uint64_t i) {
    pair places = at->race->places[i];
    uint32_t last = taken->reads ? places.readers : places.writers;
    uint32_t set = taken->reads ? taken->before.readers : taken->before.writers;
    at->other.warp = conflict_with(at->race, set, at->warp, taken->bytes,
                                   taken->atomic, last >> WARP_SHIFT);
    if (at->other.warp == last >> WARP_SHIFT) at->other.place = last & ((1u << WARP_SHIFT) - 1);
    at->other.word = i;
    at->other.reads = taken->reads;
}

/* True when it is a race. */
static inline bool touch_word(walk *at, uint64_t i, uint32_t bytes) {
    pair before = at->race->words[i];
    const step *taken = step_of(at, before, bytes);
    bool bad = taken->other != NOBODY;
    if (bad && at->other.warp == NOBODY) name_other(at, taken, i);
    if (!same_pair(taken->after, before)) set_word(at->race, i, taken->after, place_of(at->warp));
    return bad;
}

static inline bool touch_bytes(walk *at, uint64_t address, uint64_t size) {
    bool bad = false;
    uint64_t end = address + size;
    for (uint64_t i = address / 4; i * 4 < end && i < at->race->count; i++) {
        uint32_t bytes = 15;
        if (i * 4 < address) bytes &= 15u << (address - i * 4);
        if (i * 4 + 4 > end) bytes &= 15u >> (i * 4 + 4 - end);
        bad |= touch_word(at, i, bytes);
    }
    return bad;
}

/* How many words from here on are in the state of the first. */
static uint64_t run_of(const pair *words, uint64_t count) {
    uint64_t i = 0, first = bits_of(words);
    for (; i + 8 <= count; i += 8) {
        uint64_t different = 0;
        for (uint64_t k = i; k < i + 8; k++)
            different |= bits_of(&words[k]) ^ first;
        if (different) break;
    }
    while (i < count && same_pair(words[i], *words))
        i++;
    return i;
}

/* Whole words, up to the first that would be a race; that one's address, or the end. */
static uint64_t touch_quietly(walk *at, uint64_t address, uint64_t size) {
    uint64_t i = address / 4, end = i + size / 4;
    if ((address | size) % 4 || end > at->race->count) return address;
    while (i < end) {
        pair before = at->race->words[i];
        uint64_t stop = i + run_of(at->race->words + i, end - i);
        const step *taken = step_of(at, before, 15);
        if (taken->other != NOBODY) break;
        for (; !same_pair(taken->after, before) && i < stop; i++)
            set_word(at->race, i, taken->after, place_of(at->warp));
        i = stop;
    }
    return 4 * i;
}

/* Whole words that are all as the last step leaves a word, and it is no race: nothing is to do. */
static inline bool is_settled(const walk *at, uint64_t address, uint64_t size) {
    const step *last = at->taken;
    const pair *words = at->race->words + address / 4;
    if (!last || last->other != NOBODY || last->bytes != 15 || (address | size) % 4 ||
        (address + size) / 4 > at->race->count || !same_pair(last->before, last->after))
        return false;
    uint64_t different = 0, settled = bits_of(&last->after);
    for (uint64_t i = 0; i < size / 4; i++)
        different |= bits_of(&words[i]) ^ settled;
    return !different;
}

static inline bool touch(walk *at, uint64_t address, uint64_t size) {
    if (is_settled(at, address, size)) return false;
    uint64_t from = touch_quietly(at, address, size);
    return from != address + size && touch_bytes(at, from, address + size - from);
}

bool kcsim_race_access(kcsim_race *race, const kcsim_warp *warp, uint64_t address, uint32_t size,
                       kcsim_access_kind kind, kcsim_racer *other) {
    walk at = {.race = race,
               .warp = warp,
               .kind = kind,
               .atomic = atomic_of(kind, size),
               .other = nobody};
    make_room(race);
    if (!touch(&at, address, size)) return false;
    *other = at.other;
    return true;
}

bool kcsim_race_read(kcsim_race *race, const kcsim_warp *warp, uint64_t start,
                     const kcsim_stretch *list, uint32_t count, kcsim_racer *other,
                     uint32_t *which) {
    walk at = {.race = race, .warp = warp, .kind = KCSIM_ACCESS_READ, .other = nobody};
    uint32_t racing = count;
    make_room(race);
    for (uint32_t i = 0; i < count; i++)
        if (touch(&at, start + list[i].at, list[i].size) && racing == count) racing = i;
    *other = at.other;
    *which = racing;
    return racing < count;
}

uint32_t kcsim_race_lanes(kcsim_race *race, const kcsim_access *access, kcsim_racer *other) {
    walk at = {.race = race,
               .warp = access->warp,
               .kind = access->kind,
               .atomic = atomic_of(access->kind, access->size),
               .other = nobody};
    uint32_t bad = 0, rest = access->mask, size = access->size;
    uint64_t low = access->span.low, last = UINT64_MAX;
    bool raced = false;
    make_room(race);
    if (access->span.dense && rest == UINT32_MAX) {
        uint64_t quiet = touch_quietly(&at, low, size * 32u) - low;
        if (quiet == size * 32u) return 0;
        rest <<= quiet / size;
    }
    for (; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        if (access->address[lane] != last) raced = touch_bytes(&at, access->address[lane], size);
        last = access->address[lane];
        bad |= (uint32_t)raced << lane;
    }
    *other = at.other;
    return bad;
}

bool kcsim_race_unfenced(const kcsim_race *race, const kcsim_warp *warp, uint64_t address,
                         uint64_t size, uint32_t *writer) {
    uint32_t known = 0;
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < race->count; i++) {
        uint32_t id = race->words[i].writers;
        if (id == known || id == 0) continue;
        const kcsim_race_set *set = &race->sets.sets[id];
        for (uint32_t k = 0; k < set->count; k++) {
            const kcsim_accessed *past = &race->sets.entries[set->first + k];
            if (past->atomic || kcsim_proxy_is_fenced(warp, past->warp, past->time)) continue;
            *writer = past->warp;
            return true;
        }
        known = id;
    }
    return false;
}

void kcsim_race_forget(kcsim_race *race, uint64_t address, uint64_t size) {
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < race->count; i++)
        race->words[i] = (pair){.writers = 0};
}

void kcsim_race_describe(const kcsim_block *home, kcsim_racer other, char *text, size_t size) {
    uint32_t warps = home->warp_count;
    const kcsim_block *block = &home->cluster->blocks[other.warp / warps];
    bool alone = home->cluster->count == 1;
    const char *end = alone ? "and no barrier lies between" : "and nothing orders the two";
    int lane = kcsim_traces_lane(home->traces, other.word, other.warp, other.reads);
    kcsim_party party = {.place = other.place};
    memcpy(party.block, block->id, sizeof party.block);
    kcsim_thread_at(home->launch, other.warp % warps * 32 + (lane < 0 ? 0 : (uint32_t)lane),
                    party.thread);
    if (lane >= 0) {
        kcsim_describe_party(home->launch, &party, "used it too", end, text, size);
        return;
    }
    int used = snprintf(text, size, "a lane from ");
    kcsim_describe_party(home->launch, &party, "on used it too", end, text + used,
                         size - (size_t)used);
}

void kcsim_race_arrive(kcsim_warp *warp, uint32_t barrier) {
    uint32_t count = warp->block->launch->clock_count;
    kcsim_order_release(warp, warp->block->arrivals + (size_t)barrier * count, false);
}

void kcsim_race_meet(kcsim_block *block, uint32_t warps, uint32_t barrier) {
    uint32_t known[KCSIM_CLUSTER_MOST * KCSIM_LANES], count = block->launch->clock_count;
    uint32_t *arrivals = block->arrivals ? block->arrivals + (size_t)barrier * count : NULL;
    memset(known, 0, count * sizeof *known);
    if (arrivals) {
        memcpy(known, arrivals, count * sizeof *known);
        memset(arrivals, 0, count * sizeof *arrivals);
    }
    if (block->worker->talk) kcsim_talk_meet(block, warps);
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (warps >> w & 1) kcsim_order_join(known, block->warps[w].time, count);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        if (!(warps >> w & 1)) continue;
        memcpy(warp->time, known, count * sizeof *known);
        kcsim_order_tick(warp);
        kcsim_lanes_order(warp);
    }
}
