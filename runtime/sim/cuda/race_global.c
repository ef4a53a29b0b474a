/* Races on global memory. A word remembers its last plain writer, its last atomic (or strong
 * store), and its last two readers: what a later access is compared with. Warps of a cluster are
 * ordered by their clocks (order.c), those of others by talk.c; in kernels that do not talk nothing
 * orders clusters, which conflicts.h looks after, so that here only one's own count.
 *
 * Two strong accesses race only when one is outside the other's scope, or where they are of
 * different sizes (PTX ISA, "Morally strong operations": they overlap completely). A plain load
 * beside a compare-and-swap is a guess, as compilers make it to begin their loops with: no race. A
 * copy that an mbarrier is told of is also ordered before who knows of its end (transit.h). What
 * ld.global.nc reads no thread may write, however it is ordered (PTX ISA, "ld.global.nc": read-only
 * while the kernel runs).
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"

#define PAGE_WORDS 1024u
#define MOST_PAGES 4096u /* 64 KiB each; behind it words are not remembered */
#define MANY_PAGES 512u  /* used again between clusters that do not talk */

typedef struct mark {
    uint32_t key;                 /* the warp */
    uint32_t time : 30;           /* 0: none */
    uint32_t bulk : 1, fixed : 1; /* by the asynchronous proxy; by ld.global.nc */
    uint32_t step;                /* which of the warp's accesses it was */
    uint16_t place;               /* kcsim_place_of */
    uint16_t bytes : 4, scope : 2, strong : 1, reads : 1, swaps : 1, lane : 5;
    uint16_t several : 1, parts : 1; /* by other lanes too; not all of the bytes at once */
    uint16_t width : 3;              /* of an element: 1 << width bytes */
} mark;

typedef struct word {
    mark writer, atomic, readers[2];
} word;

struct kcsim_global_race {
    uint64_t base, page_count;
    word **pages;
    uint32_t used;
    uint64_t list[MOST_PAGES]; /* those that are used */
    word *spare[MOST_PAGES];   /* of clusters before, whose marks mean nothing to those to come */
    uint32_t spare_count;
};

kcsim_global_race *kcsim_global_race_create(const kcsim_memory *memory) {
    kcsim_global_race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->base = memory->base;
    race->page_count = (memory->next - memory->base) / (4 * PAGE_WORDS) + 1;
    race->pages = calloc(race->page_count, sizeof *race->pages);
    if (race->pages) return race;
    free(race);
    return NULL;
}

static void put_aside(kcsim_global_race *race) {
    for (uint32_t i = 0; i < race->used; i++) {
        race->spare[race->spare_count++] = race->pages[race->list[i]];
        race->pages[race->list[i]] = NULL;
    }
    race->used = 0;
}

void kcsim_global_race_destroy(kcsim_global_race *race) {
    if (!race) return;
    put_aside(race);
    for (uint32_t i = 0; i < race->spare_count; i++)
        free(race->spare[i]);
    free(race->pages);
    free(race);
}

void kcsim_global_race_begin(kcsim_global_race *race) {
    if (race->used > MANY_PAGES) put_aside(race);
}

static word *word_at(kcsim_global_race *race, uint64_t address) {
    uint64_t index = (address - race->base) / 4, page = index / PAGE_WORDS;
    if (page >= race->page_count) return NULL;
    if (!race->pages[page]) {
        if (race->used == MOST_PAGES) return NULL;
        race->pages[page] = race->spare_count ? race->spare[--race->spare_count]
                                              : calloc(PAGE_WORDS, sizeof **race->pages);
        if (!race->pages[page]) return NULL;
        race->list[race->used++] = page;
    }
    return &race->pages[page][index % PAGE_WORDS];
}

/* Lanes of one warp, as race_lanes.c has it. What several lanes stored may be this one's too. */
static bool lanes_are_ordered(const kcsim_warp *warp, const mark *past, const mark *now) {
    if (past->step < warp->round_step || past->step == now->step) return true;
    if (past->parts || past->bulk || now->bulk) return true;
    if (past->several) return !past->reads || warp->partly_met;
    return past->lane == now->lane || (warp->partly_met && warp->known[now->lane][past->lane]);
}

static bool is_ordered(const kcsim_warp *warp, const mark *past, const mark *now, uint32_t first) {
    uint32_t id = past->key - first;
    if (id == warp->id) return lanes_are_ordered(warp, past, now);
    if (id < warp->block->launch->clock_count) return past->time <= warp->time[id];
    return !warp->block->worker->talk || kcsim_talk_is_ordered(warp, past->key, past->time);
}

/* Where clusters do not talk only those of one's own are looked at. */
static bool matters(const kcsim_warp *warp, const mark *past, uint32_t first) {
    return past->time &&
           (past->key - first < warp->block->launch->clock_count || warp->block->worker->talk);
}

/* Whether both are within each other's scope. */
static bool reaches(const kcsim_warp *warp, const mark *past, const mark *now, uint32_t first) {
    kcsim_scope scope = (kcsim_scope)(past->scope < now->scope ? past->scope : now->scope);
    uint32_t id = past->key - first;
    if (scope == KCSIM_SCOPE_GPU) return true;
    if (id >= warp->block->launch->clock_count) return false;
    return scope == KCSIM_SCOPE_CLUSTER || id / warp->block->warp_count == warp->block->rank;
}

/* It waited for the end of a copy, though nothing orders the copy's issue before it. */
static bool has_landed(const kcsim_warp *warp, uint64_t address, const mark *past) {
    return past->bulk && past->reads && warp->block->worker->transit &&
           kcsim_transit_has_landed(warp, address, past->key);
}

static inline bool conflicts(const kcsim_warp *warp, uint64_t address, const mark *past,
                             const mark *now, uint32_t first) {
    if (!past->time || !(past->bytes & now->bytes)) return false;
    if ((past->fixed && !now->reads) || (now->fixed && !past->reads))
        return matters(warp, past, first);
    if ((past->swaps && now->reads) || (past->reads && now->swaps)) return false;
    bool strong = past->strong && now->strong && past->width == now->width;
    if (strong && reaches(warp, past, now, first)) return false;
    return !is_ordered(warp, past, now, first) && !has_landed(warp, address, past);
}

static void join(mark *now, const mark *past, uint32_t round_step) {
    bool round = past->step >= round_step;
    now->parts |= (past->parts && round) || past->bytes != now->bytes;
    now->several |= round && (past->several || past->lane != now->lane);
    now->bytes |= past->bytes;
}

static void note(word *at, mark now, kcsim_access_kind kind, uint32_t round_step) {
    mark *place = now.strong ? &at->atomic : &at->writer;
    if (kind == KCSIM_ACCESS_READ) {
        place = &at->readers[0];
        if (place->time && (place->key != now.key || place->fixed > now.fixed)) {
            if (place->fixed >= at->readers[1].fixed) at->readers[1] = *place;
        } else if (place->time == now.time) join(&now, place, round_step);
    } else if (place->key == now.key && place->time == now.time) {
        join(&now, place, round_step);
    }
    *place = now;
}

/* The access that this one races with, or NULL. */
static const mark *find(const kcsim_warp *warp, uint64_t address, const word *at, const mark *now,
                        uint32_t first) {
    if (conflicts(warp, address, &at->writer, now, first)) return &at->writer;
    if (conflicts(warp, address, &at->atomic, now, first)) return &at->atomic;
    for (int i = 0; !now->reads && i < 2; i++)
        if (conflicts(warp, address, &at->readers[i], now, first)) return &at->readers[i];
    return NULL;
}

static kcsim_party party_of(const kcsim_grid *launch, const mark *past) {
    return kcsim_party_of(launch, past->key, past->lane, past->place);
}

static void tell(kcsim_access *access, uint32_t lanes, const mark *now, const mark *other,
                 bool fixed) {
    const kcsim_grid *launch = access->warp->block->launch;
    kcsim_party party = party_of(launch, other);
    char text[KCSIM_FINDING_TEXT];
    bool own = other->key == kcsim_warp_key(access->warp);
    const char *what = other->reads ? "reads this" : "stores here too";
    const char *why = own ? "and no bar.warp.sync lies between" : "and nothing orders the two";
    if (own && !fixed)
        what = other->several ? "and other lanes used it too" : "of this warp used it too";
    if (fixed) why = "and nobody may write what .nc reads";
    else if (other->strong && now->strong && other->width != now->width)
        why = "and nothing orders the two: of different sizes, they are not atomic to each other";
    kcsim_describe_party(launch, &party, what, why, text, sizeof text);
    kcsim_access_report(access, KCSIM_FINDING_RACE, lanes, text);
}

/* Which bytes of the word at `at` lie in [from, end). */
static uint32_t bytes_of(uint64_t at, uint64_t from, uint64_t end) {
    uint32_t bytes = 15;
    if (at < from) bytes &= 15u << (from - at) & 15u;
    if (at + 4 > end) bytes &= 15u >> (at + 4 - end);
    return bytes;
}

static bool is_fixed(const kcsim_insn *insn) {
    return insn->kind == KCSIM_DO_LOAD &&
           (insn->source->op == PTX_OP_LDU || ptx_has(insn->source, PTX_GROUP_NC) != PTX_M_NONE);
}

/* What is remembered of it, but for the lane and the bytes of a word. */
static mark mark_of(const kcsim_access *access) {
    const kcsim_warp *warp = access->warp;
    const kcsim_insn *insn = access->insn;
    bool bulk = insn->kind == KCSIM_DO_BULK;
    return (mark){.key = kcsim_warp_key(warp),
                  .time = warp->time[warp->id] & 0x3fffffff,
                  .bulk = bulk,
                  .fixed = is_fixed(insn),
                  .step = warp->global_steps,
                  .place = kcsim_place_of(warp),
                  .scope = kcsim_scope_of(insn),
                  .strong = access->kind == KCSIM_ACCESS_ATOMIC || (!bulk && kcsim_is_strong(insn)),
                  .reads = access->kind == KCSIM_ACCESS_READ,
                  .swaps = insn->kind == KCSIM_DO_ATOMIC && insn->round == PTX_M_CAS,
                  .several = access->span.same && (access->mask & (access->mask - 1)),
                  .width = (uint32_t)__builtin_ctz(insn->bytes | 16u) & 7};
}

void kcsim_global_race_access(kcsim_access *access) {
    kcsim_warp *warp = access->warp;
    kcsim_global_race *race = warp->block->worker->global_race;
    warp->global_steps++;
    mark now = mark_of(access), other = {.time = 0};
    uint32_t first = now.key - warp->id, bad = 0;
    KCSIM_EACH_LANE(lane, access->mask) {
        uint64_t from = access->address[lane], end = from + access->size;
        now.lane = lane & 31;
        for (uint64_t at = from / 4 * 4; at < end; at += 4) {
            word *place = word_at(race, at);
            if (!place) continue;
            now.bytes = bytes_of(at, from, end) & 15;
            const mark *found = find(warp, at, place, &now, first);
            if (!found && now.several) {
                now.lane = (31u - (uint32_t)__builtin_clz(access->mask)) & 31;
                found = find(warp, at, place, &now, first);
                now.lane = lane & 31;
            }
            if (found && !bad) other = *found;
            if (found) bad |= 1u << lane;
            note(place, now, access->kind, warp->round_step);
        }
        if (access->span.same) break;
    }
    if (bad)
        tell(access, access->span.same ? access->mask : bad, &now, &other,
             now.fixed || (other.fixed && !now.reads));
}

/* ---- questions of copies ---- */

static const word *look_at(const kcsim_global_race *race, uint64_t address) {
    uint64_t index = (address - race->base) / 4, page = index / PAGE_WORDS;
    if (page >= race->page_count || !race->pages[page]) return NULL;
    return &race->pages[page][index % PAGE_WORDS];
}

/* An ordinary store to some of these bytes that this warp comes after. */
static bool was_stored(const kcsim_warp *warp, const mark *past, uint32_t bytes) {
    uint32_t first = kcsim_warp_key(warp) - warp->id;
    return past->bytes & bytes && !past->bulk && matters(warp, past, first) &&
           kcsim_is_ordered(warp, past->key, past->time);
}

bool kcsim_global_race_unfenced(const kcsim_warp *warp, uint64_t address, uint64_t size,
                                kcsim_party *party) {
    const kcsim_global_race *race = warp->block->worker->global_race;
    uint32_t key = 0, time = 0; /* of a store that is fenced */
    for (uint64_t at = address / 4 * 4; at < address + size; at += 4) {
        const word *place = look_at(race, at);
        const mark *stores[] = {place ? &place->writer : NULL, place ? &place->atomic : NULL};
        for (int i = 0; place && i < 2; i++) {
            if ((stores[i]->key == key && stores[i]->time == time) ||
                !was_stored(warp, stores[i], bytes_of(at, address, address + size)))
                continue;
            if (!kcsim_proxy_global_is_fenced(warp, stores[i]->key, stores[i]->time)) {
                *party = party_of(warp->block->launch, stores[i]);
                return true;
            }
            key = stores[i]->key;
            time = stores[i]->time;
        }
    }
    return false;
}

bool kcsim_global_race_version(const kcsim_warp *warp, uint64_t address, uint64_t size,
                               uint64_t *version, kcsim_party *party) {
    uint32_t first = kcsim_warp_key(warp) - warp->id;
    *version = 0;
    for (uint64_t at = address / 4 * 4; at < address + size; at += 4) {
        const word *place = look_at(warp->block->worker->global_race, at);
        const mark *stores[] = {place ? &place->writer : NULL, place ? &place->atomic : NULL};
        for (int i = 0; place && i < 2; i++) {
            if (!matters(warp, stores[i], first)) continue;
            if (!kcsim_is_ordered(warp, stores[i]->key, stores[i]->time)) {
                *party = party_of(warp->block->launch, stores[i]);
                return false;
            }
            *version = (*version ^ (uint64_t)stores[i]->key << 32 ^ stores[i]->time) *
                           0x9e3779b97f4a7c15u +
                       at;
        }
    }
    return true;
}
