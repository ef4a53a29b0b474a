#include "runtime/sim/cuda/transit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/talk.h"

#define PAGE_WORDS 1024u
#define MOST_PAGES 8192u /* 8 KiB each; behind it words are not remembered */
#define MANY_PAGES 1024u /* given back between clusters that do not talk */
#define TRIPS 16384u     /* the latest; older ones count as complete */
#define LANDINGS 64u     /* of a block, the same */

typedef struct trip {
    uint32_t number;      /* in the order of issues, from 1 */
    uint32_t key, issued; /* the warp, and its clock */
    uint32_t count;       /* the group, or the mbarrier's phase */
    uint32_t next;        /* the open trip of that warp before it */
    uint32_t also;
    uint16_t place; /* kcsim_place_of */
    bool bulk, reduces;
    bool lands, forgotten; /* an mbarrier is told; nothing is known of it any more */
    uint32_t lanes;        /* whose copies they are */
    /* of a group */
    uint32_t pending;          /* lanes that have not waited */
    uint32_t waited;           /* when the first of them did; 0: not yet */
    uint32_t handed, acquired; /* to an mbarrier: when, and the warp's count of waits then */
    /* of an mbarrier */
    uint64_t at;
    uint32_t *seen; /* by warp of the cluster: when it knew */
} trip;

/* The last trips that read a word, or that write it; 0: none. */
typedef struct word {
    uint32_t last[2];
} word;

typedef struct table {
    word **pages;
    uint32_t used;
    uint64_t list[MOST_PAGES]; /* those that are used */
} table;

struct kcsim_transit {
    uint64_t base, page_count;
    table read, written;
    trip *trips;            /* by number modulo TRIPS */
    uint32_t latest, first; /* before the first they are of clusters that do not matter */
};

struct kcsim_departures {
    bool used;
    uint32_t *committed[2];                     /* groups, by thread; [1]: of bulk copies */
    uint32_t *open[2];                          /* by warp: the latest trip that is */
    uint32_t landings[LANDINGS], landing_count; /* a ring */
    uint32_t warp, phase;                       /* who has seen what last */
    uint64_t at;
};

/* ---- trips ---- */

kcsim_transit *kcsim_transit_create(const kcsim_memory *memory) {
    kcsim_transit *transit = calloc(1, sizeof *transit);
    if (!transit) return NULL;
    transit->base = memory->base;
    transit->page_count = (memory->next - memory->base) / (4 * PAGE_WORDS) + 1;
    transit->read.pages = calloc(transit->page_count, sizeof *transit->read.pages);
    transit->written.pages = calloc(transit->page_count, sizeof *transit->written.pages);
    transit->trips = calloc(TRIPS, sizeof *transit->trips);
    if (transit->read.pages && transit->written.pages && transit->trips) return transit;
    kcsim_transit_destroy(transit);
    return NULL;
}

static void give_back(table *used) {
    for (uint32_t i = 0; i < used->used; i++) {
        free(used->pages[used->list[i]]);
        used->pages[used->list[i]] = NULL;
    }
    used->used = 0;
}

void kcsim_transit_destroy(kcsim_transit *transit) {
    if (!transit) return;
    give_back(&transit->read);
    give_back(&transit->written);
    for (uint32_t i = 0; transit->trips && i < TRIPS && i <= transit->latest; i++)
        free(transit->trips[i].seen);
    free(transit->trips);
    free(transit->read.pages);
    free(transit->written.pages);
    free(transit);
}

void kcsim_transit_begin(kcsim_transit *transit) {
    if (transit->read.used > MANY_PAGES) give_back(&transit->read);
    if (transit->written.used) give_back(&transit->written);
    transit->first = transit->latest + 1;
}

/* NULL when it is too old. */
static trip *trip_of(const kcsim_transit *transit, uint32_t number) {
    if (number < transit->first || number == 0) return NULL;
    trip *found = &transit->trips[number % TRIPS];
    return found->number == number ? found : NULL;
}

static trip *add_trip(kcsim_transit *transit, const kcsim_warp *warp, uint32_t count) {
    trip *fresh = &transit->trips[++transit->latest % TRIPS];
    free(fresh->seen);
    *fresh = (trip){.number = transit->latest,
                    .key = kcsim_warp_key(warp),
                    .issued = warp->time[warp->id],
                    .count = count,
                    .place = kcsim_place_of(warp)};
    return fresh;
}

static bool continues(const trip *old, const kcsim_warp *warp, uint32_t count) {
    return old->key == kcsim_warp_key(warp) && old->count == count && old->place == warp->pc;
}

/* ---- those that are open ---- */

kcsim_departures *kcsim_departures_create(uint32_t warp_count) {
    kcsim_departures *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    for (int bulk = 0; bulk < 2; bulk++) {
        made->committed[bulk] = calloc(warp_count * KCSIM_LANES, sizeof *made->committed[bulk]);
        made->open[bulk] = calloc(warp_count, sizeof *made->open[bulk]);
    }
    if (made->committed[0] && made->committed[1] && made->open[0] && made->open[1]) return made;
    kcsim_departures_destroy(made);
    return NULL;
}

void kcsim_departures_destroy(kcsim_departures *departures) {
    if (!departures) return;
    for (int bulk = 0; bulk < 2; bulk++) {
        free(departures->committed[bulk]);
        free(departures->open[bulk]);
    }
    free(departures);
}

void kcsim_departures_reset(kcsim_departures *departures, uint32_t warp_count) {
    if (!departures || !departures->used) return;
    for (int bulk = 0; bulk < 2; bulk++) {
        memset(departures->committed[bulk], 0,
               warp_count * KCSIM_LANES * sizeof *departures->committed[bulk]);
        memset(departures->open[bulk], 0, warp_count * sizeof *departures->open[bulk]);
    }
    departures->landing_count = 0;
    departures->phase = 0;
    departures->used = false;
}

/* The threads of a warp. */
static uint32_t *committed_of(const kcsim_warp *warp, bool bulk) {
    return warp->block->departures->committed[bulk] + warp->index * KCSIM_LANES;
}

uint32_t kcsim_transit_group(kcsim_warp *warp, bool bulk, uint32_t *lanes) {
    kcsim_departures *departures = warp->block->departures;
    kcsim_transit *transit = warp->block->worker->transit;
    const uint32_t *committed = committed_of(warp, bulk);
    uint32_t group = committed[__builtin_ctz(*lanes)] + 1, together = 0;
    uint32_t *open = &departures->open[bulk][warp->index];
    KCSIM_EACH_LANE(lane, *lanes) if (committed[lane] + 1 == group) together |= 1u << lane;
    *lanes = together;
    departures->used = true;
    for (trip *old = trip_of(transit, *open); old && old->count == group;
         old = trip_of(transit, old->next)) {
        if (!continues(old, warp, group) || old->lanes != together) continue;
        old->issued = warp->time[warp->id];
        return old->number;
    }
    trip *fresh = add_trip(transit, warp, group);
    fresh->lanes = fresh->pending = together;
    fresh->bulk = bulk;
    fresh->next = *open;
    return *open = fresh->number;
}

static void forget(trip *past) {
    past->forgotten = true;
    free(past->seen);
    past->seen = NULL;
}

static uint32_t depart(kcsim_departures *departures, kcsim_transit *transit, trip *fresh) {
    uint32_t *place = &departures->landings[departures->landing_count++ % LANDINGS];
    trip *old = departures->landing_count > LANDINGS ? trip_of(transit, *place) : NULL;
    if (old) forget(old);
    departures->used = true;
    return *place = fresh->number;
}

static uint32_t landings(const kcsim_departures *departures) {
    return departures->landing_count < LANDINGS ? departures->landing_count : LANDINGS;
}

uint32_t kcsim_transit_landing(const kcsim_warp *warp, uint32_t lane, kcsim_block *home,
                               uint64_t at, uint32_t phase, uint32_t also) {
    kcsim_departures *departures = home->departures;
    kcsim_transit *transit = warp->block->worker->transit;
    for (uint32_t i = 0; i < landings(departures); i++) {
        trip *old = trip_of(transit, departures->landings[i]);
        if (!old || old->at != at || old->forgotten) continue;
        if (old->count > phase) forget(old); /* the mbarrier was initialised anew */
        if (!continues(old, warp, phase) || old->also != also) continue;
        old->issued = warp->time[warp->id];
        return old->number;
    }
    uint32_t *seen = calloc(warp->block->launch->clock_count, sizeof *seen);
    if (!seen) return 0;
    trip *fresh = add_trip(transit, warp, phase);
    fresh->bulk = fresh->lands = true;
    fresh->lanes = 1u << lane;
    fresh->at = at;
    fresh->also = also;
    fresh->seen = seen;
    departures->phase = 0;
    return depart(departures, transit, fresh);
}

void kcsim_transit_observed(kcsim_block *home, const kcsim_warp *warp, uint64_t at,
                            uint32_t phase) {
    kcsim_departures *departures = home->departures;
    if (departures->warp == warp->id && departures->at == at && departures->phase == phase) return;
    for (uint32_t i = 0; i < landings(departures); i++) {
        trip *open = trip_of(warp->block->worker->transit, departures->landings[i]);
        if (!open || open->forgotten || open->at != at || open->count >= phase) continue;
        if (!open->seen[warp->id]) open->seen[warp->id] = warp->time[warp->id];
    }
    departures->warp = warp->id;
    departures->at = at;
    departures->phase = phase;
}

void kcsim_transit_commit(kcsim_warp *warp, bool bulk, uint32_t lanes) {
    uint32_t *committed = committed_of(warp, bulk);
    KCSIM_EACH_LANE(lane, lanes) committed[lane]++;
    warp->block->departures->used = true;
}

void kcsim_transit_wait(kcsim_warp *warp, bool bulk, uint32_t lanes, uint64_t left) {
    const uint32_t *committed = committed_of(warp, bulk);
    uint32_t *link = &warp->block->departures->open[bulk][warp->index];
    for (trip *open; (open = trip_of(warp->block->worker->transit, *link));) {
        uint32_t done = 0;
        KCSIM_EACH_LANE(lane, lanes & open->pending)
        if (committed[lane] >= left + open->count) done |= 1u << lane;
        if (done && !open->waited) open->waited = warp->time[warp->id];
        open->pending &= ~done;
        if (open->pending) link = &open->next;
        else *link = open->next;
    }
}

void kcsim_transit_hand_over(kcsim_warp *warp, uint32_t lane) {
    uint32_t number = warp->block->departures->open[0][warp->index];
    for (trip *open; (open = trip_of(warp->block->worker->transit, number)) && !open->handed;
         number = open->next)
        if (open->lanes >> lane & 1) {
            open->handed = warp->time[warp->id];
            open->acquired = warp->acquired;
        }
}

/* ---- words ---- */

static word *word_at(const kcsim_transit *transit, const table *of, uint64_t address) {
    uint64_t index = (address - transit->base) / 4, page = index / PAGE_WORDS;
    if (page >= transit->page_count || !of->pages[page]) return NULL;
    return &of->pages[page][index % PAGE_WORDS];
}

static void add_page(kcsim_transit *transit, table *to, uint64_t address) {
    uint64_t page = (address - transit->base) / 4 / PAGE_WORDS;
    if (page >= transit->page_count || to->pages[page] || to->used == MOST_PAGES) return;
    to->pages[page] = calloc(PAGE_WORDS, sizeof **to->pages);
    if (to->pages[page]) to->list[to->used++] = page;
}

void kcsim_transit_touch(kcsim_transit *transit, uint32_t number, uint64_t address, uint64_t size,
                         kcsim_access_kind kind) {
    trip *touching = trip_of(transit, number);
    table *touched = kind == KCSIM_ACCESS_READ ? &transit->read : &transit->written;
    uint64_t at = (address + 3) / 4 * 4, end = (address + size) / 4 * 4;
    if (!touching) return;
    touching->reduces = kind == KCSIM_ACCESS_ATOMIC;
    while (at < end) {
        uint64_t left = PAGE_WORDS - (at - transit->base) / 4 % PAGE_WORDS;
        uint64_t count = (end - at) / 4 < left ? (end - at) / 4 : left;
        add_page(transit, touched, at);
        word *first = word_at(transit, touched, at);
        for (uint64_t i = 0; first && i < count; i++)
            if (first[i].last[0] != number) first[i] = (word){{number, first[i].last[0]}};
        at += 4 * count;
    }
}

static bool has_waited(const kcsim_warp *warp, const trip *past, uint32_t lane) {
    bool own = past->key == kcsim_warp_key(warp);
    if (past->handed &&
        (own ? warp->acquired > past->acquired : kcsim_is_ordered(warp, past->key, past->handed)))
        return true;
    if (!own) return past->waited && kcsim_is_ordered(warp, past->key, past->waited);
    return !past->pending || (past->waited && !(past->pending >> lane & 1));
}

static bool has_seen(const kcsim_warp *warp, const trip *past) {
    uint32_t count = warp->block->launch->clock_count, first = past->key / count * count;
    for (uint32_t w = 0; w < count; w++)
        if (past->seen[w] && kcsim_is_ordered(warp, first + w, past->seen[w])) return true;
    return false;
}

static bool is_complete(const kcsim_warp *warp, const trip *past, uint32_t lane) {
    for (; past; past = trip_of(warp->block->worker->transit, past->also)) {
        if (past->forgotten || (past->lands ? has_seen(warp, past) : has_waited(warp, past, lane)))
            return true;
        if (!past->also) return false;
    }
    return true;
}

bool kcsim_transit_has_landed(const kcsim_warp *warp, uint64_t address, uint32_t key) {
    const kcsim_transit *transit = warp->block->worker->transit;
    const word *place = word_at(transit, &transit->read, address);
    bool some = false;
    for (int i = 0; place && i < 2; i++) {
        const trip *past = trip_of(transit, place->last[i]);
        if (!past || past->key != key || !past->lands) continue;
        if (!is_complete(warp, past, 0)) return false;
        some = true;
    }
    return some;
}

/* ---- what meets them ---- */

/* One instruction's way over words. */
typedef struct walk {
    const kcsim_warp *warp;
    kcsim_access_kind kind;
    uint32_t lane, over; /* over: a trip that does not matter */
    const trip *met;
    bool writes; /* it does */
} walk;

/* Where nothing orders the issue either it is a race, and told as that. */
static bool meets(walk *at, uint32_t number, bool writes) {
    if (!number || number == at->over) return false;
    const trip *past = trip_of(at->warp->block->worker->transit, number);
    bool harmless = !past || (past->reduces && at->kind == KCSIM_ACCESS_ATOMIC) ||
                    !kcsim_is_ordered(at->warp, past->key, past->issued);
    if (harmless || is_complete(at->warp, past, at->lane)) {
        if (harmless || !past->pending) at->over = number;
        return false;
    }
    at->met = past;
    at->writes = writes;
    return true;
}

static bool meets_word(walk *at, const table *of, uint64_t address, bool writes) {
    const word *place = word_at(at->warp->block->worker->transit, of, address);
    return place && (meets(at, place->last[0], writes) || meets(at, place->last[1], writes));
}

static void tell(kcsim_access *access, uint32_t lanes, const walk *found) {
    const kcsim_grid *launch = access->warp->block->launch;
    const trip *past = found->met;
    kcsim_party party =
        kcsim_party_of(launch, past->key, (uint32_t)__builtin_ctz(past->lanes), past->place);
    char text[KCSIM_FINDING_TEXT], end[96];
    if (past->lands)
        snprintf(end, sizeof end,
                 "and nobody that is known of here has waited for mbarrier 0x%" PRIx64, past->at);
    else
        snprintf(end, sizeof end, "and no wait for that%s comes before this",
                 past->bulk ? " (one of .read is none)" : "");
    kcsim_describe_party(launch, &party, found->writes ? "copies to it" : "copies from it", end,
                         text, sizeof text);
    kcsim_access_report(access, KCSIM_FINDING_ASYNC_IN_FLIGHT, lanes, text);
}

void kcsim_transit_check(kcsim_access *access) {
    const kcsim_transit *transit = access->warp->block->worker->transit;
    bool stores = access->kind != KCSIM_ACCESS_READ;
    walk at = {.warp = access->warp, .kind = access->kind}, first = at;
    uint32_t bad = 0, lanes = access->span.same ? access->mask & (0 - access->mask) : access->mask;
    if (!transit->written.used && !(stores && transit->read.used)) return;
    KCSIM_EACH_LANE(lane, lanes) {
        uint64_t from = access->address[lane], end = from + access->size;
        at.lane = lane;
        for (uint64_t i = from / 4 * 4; i < end; i += 4) {
            if (!meets_word(&at, &transit->written, i, true) &&
                !(stores && meets_word(&at, &transit->read, i, false)))
                continue;
            if (!bad) first = at;
            bad |= 1u << lane;
            break;
        }
    }
    if (bad) tell(access, access->span.same ? access->mask : bad, &first);
}
