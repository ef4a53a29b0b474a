/* Bulk copies from one block's shared memory to another's, as the source sees them: who may write
 * there again, and when may the block exit.
 *
 * No group ends such a copy. Its end is the phase of the destination's mbarrier: as soon as a thread
 * that has waited for it has told the source's owner, by whatever orders them (order.c, talk.c):
 *
 *     block 0  copies s to block 1 - barrier.cluster at tick 3: knows {1:5}  - stores to s
 *     block 1  waits for the mbarrier at tick 5 - barrier.cluster
 *
 * A trip is what the copies of one warp go by that tell one phase of one mbarrier. Every chunk of
 * shared memory has a bit for each of the block's latest trips; older ones count as complete. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"

#define CHUNK 16u /* bytes that a bulk copy counts in */
#define TRIPS 64u
#define EACH_TRIP(trip, trips)                                                                     \
    for (uint64_t rest_##trip = (trips), trip;                                                     \
         rest_##trip && (trip = (uint64_t)__builtin_ctzll(rest_##trip), true);                     \
         rest_##trip &= rest_##trip - 1)

typedef struct trip {
    uint64_t at; /* the mbarrier, of block `home` of the cluster */
    uint32_t home, phase;
    uint64_t low, high; /* chunks that it may read */
    uint32_t key, lane; /* the warp; of the last copy: its lane and place */
    uint16_t place;
    bool forgotten;
} trip;

struct kcsim_across {
    uint64_t chunk_count;
    uint32_t clock_count, count; /* of trips so far */
    trip trips[TRIPS];
    uint32_t *seen;   /* by trip and warp of the cluster: when it knew the phase to be complete; 0 */
    uint64_t *chunks; /* NULL before the first copy, as `seen` */
    /* Of an mbarrier of this block: what was seen last, and is known. */
    uint32_t observer, observed_phase;
    uint64_t observed_at;
};

kcsim_across *kcsim_across_create(uint64_t shared_bytes, uint32_t clock_count) {
    kcsim_across *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->chunk_count = (shared_bytes + CHUNK - 1) / CHUNK;
    made->clock_count = clock_count;
    return made;
}

void kcsim_across_destroy(kcsim_across *across) {
    if (!across) return;
    free(across->seen);
    free(across->chunks);
    free(across);
}

void kcsim_across_reset(kcsim_across *across) {
    if (!across) return;
    across->observed_phase = 0;
    if (!across->count) return;
    across->count = 0;
    memset(across->chunks, 0, across->chunk_count * sizeof *across->chunks);
}

static uint32_t trip_count(const kcsim_across *across) {
    return across->count < TRIPS ? across->count : TRIPS;
}

static bool is_ready(kcsim_across *across) {
    if (!across->chunks) across->chunks = calloc(across->chunk_count + 1, sizeof *across->chunks);
    if (!across->seen)
        across->seen = calloc((size_t)TRIPS * across->clock_count, sizeof *across->seen);
    return across->chunks && across->seen;
}

static uint32_t add_trip(kcsim_across *across) {
    uint32_t index = across->count++ % TRIPS;
    const trip *old = &across->trips[index];
    if (across->count > TRIPS)
        for (uint64_t i = old->low; i < old->high; i++)
            across->chunks[i] &= ~(UINT64_C(1) << index);
    memset(across->seen + (size_t)index * across->clock_count, 0,
           across->clock_count * sizeof *across->seen);
    return index;
}

/* One that the copy belongs to, or a new one. */
static uint32_t find_trip(kcsim_across *across, const trip *wanted) {
    uint32_t found = TRIPS;
    for (uint32_t i = 0; i < trip_count(across); i++) {
        trip *old = &across->trips[i];
        if (old->at != wanted->at || old->home != wanted->home || old->forgotten) continue;
        if (old->phase > wanted->phase) old->forgotten = true; /* initialised anew */
        if (old->phase == wanted->phase && old->key == wanted->key) found = i;
    }
    if (found < TRIPS) return found;
    found = add_trip(across);
    across->trips[found] = *wanted;
    return found;
}

bool kcsim_across_begin(const kcsim_block *source, const kcsim_warp *warp, uint32_t lane,
                        uint64_t address, uint64_t size, const kcsim_block *home, uint64_t at,
                        uint32_t phase) {
    kcsim_across *across = source->across;
    uint64_t low = address / CHUNK, high = (address + size + CHUNK - 1) / CHUNK;
    const trip wanted = {.at = at,
                         .home = home->rank,
                         .phase = phase,
                         .low = low,
                         .high = high,
                         .key = kcsim_warp_key(warp)};
    if (!is_ready(across)) return false;
    uint32_t index = find_trip(across, &wanted);
    trip *used = &across->trips[index];
    if (low < used->low) used->low = low;
    if (high > used->high) used->high = high;
    used->lane = lane;
    used->place = kcsim_place_of(warp);
    for (uint64_t i = low; i < high && i < across->chunk_count; i++)
        across->chunks[i] |= UINT64_C(1) << index;
    home->across->observed_phase = 0;
    source->cluster->across = true;
    return true;
}

static void observe(kcsim_across *across, const kcsim_warp *warp, uint32_t home, uint64_t at,
                    uint32_t phase) {
    for (uint32_t i = 0; i < trip_count(across); i++) {
        const trip *open = &across->trips[i];
        uint32_t *seen = across->seen + (size_t)i * across->clock_count + warp->id;
        if (open->at == at && open->home == home && open->phase < phase && !*seen)
            *seen = warp->time[warp->id];
    }
}

void kcsim_across_observed(const kcsim_block *home, const kcsim_warp *warp, uint64_t at,
                           uint32_t phase) {
    kcsim_across *last = home->across;
    const kcsim_cluster *cluster = home->cluster;
    bool again = last->observer == warp->id && last->observed_at == at;
    if (!cluster->across || (again && last->observed_phase == phase)) return;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        observe(cluster->blocks[rank].across, warp, home->rank, at, phase);
    last->observer = warp->id;
    last->observed_at = at;
    last->observed_phase = phase;
}

/* It is known to be complete here. */
static bool is_complete(const kcsim_across *across, uint32_t index, const kcsim_warp *warp) {
    const uint32_t *seen = across->seen + (size_t)index * across->clock_count;
    uint32_t first = kcsim_warp_key(warp) - warp->id;
    if (across->trips[index].forgotten) return true;
    for (uint32_t w = 0; w < across->clock_count; w++)
        if (seen[w] && kcsim_is_ordered(warp, first + w, seen[w])) return true;
    return false;
}

static void describe(const kcsim_block *source, uint32_t index, const char *event, char *text,
                     size_t size) {
    const trip *open = &source->across->trips[index];
    const uint32_t *to = source->cluster->blocks[open->home].id;
    kcsim_party party = kcsim_party_of(source->launch, open->key, open->lane, open->place);
    char end[128];
    snprintf(end, sizeof end,
             "and %snobody here knows that mbarrier 0x%" PRIx64 " of block %" PRIu32 ",%" PRIu32
             ",%" PRIu32 " was waited for",
             event, open->at, to[0], to[1], to[2]);
    kcsim_describe_party(source->launch, &party, "copies from it", end, text, size);
}

/* The trips that read some of these chunks. */
static uint64_t trips_of(const kcsim_across *across, uint64_t address, uint64_t size) {
    uint64_t trips = 0;
    for (uint64_t i = address / CHUNK; i * CHUNK < address + size && i < across->chunk_count; i++)
        trips |= across->chunks[i];
    return trips;
}

void kcsim_across_check(kcsim_access *access, uint32_t lanes) {
    const kcsim_across *across = access->home->across;
    uint64_t complete = 0, open = 0;
    uint32_t bad = 0, first = 0;
    char text[KCSIM_FINDING_TEXT];
    if (!across->count) return;
    KCSIM_EACH_LANE(lane, lanes) {
        uint64_t trips = trips_of(across, access->address[lane], access->size);
        EACH_TRIP(i, trips & ~(complete | open)) {
            if (is_complete(across, (uint32_t)i, access->warp)) complete |= UINT64_C(1) << i;
            else open |= UINT64_C(1) << i;
        }
        if (!(trips & open)) continue;
        if (!bad) first = (uint32_t)__builtin_ctzll(trips & open);
        bad |= 1u << lane;
    }
    if (!bad) return;
    describe(access->home, first, "", text, sizeof text);
    kcsim_access_report(access, KCSIM_FINDING_ASYNC_IN_FLIGHT, bad, text);
}

static bool some_warp_knows(const kcsim_block *block, uint32_t index) {
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (is_complete(block->across, index, &block->warps[w])) return true;
    return false;
}

void kcsim_across_leave(kcsim_warp *warp, uint32_t mask) {
    const kcsim_block *block = warp->block;
    uint32_t index = 0, count = trip_count(block->across);
    char text[KCSIM_FINDING_TEXT];
    while (index < count && some_warp_knows(block, index))
        index++;
    if (index == count) return;
    describe(block, index, "the block exits: ", text, sizeof text);
    kcsim_report report = {.kind = KCSIM_FINDING_ASYNC_IN_FLIGHT,
                           .lanes = mask & (0 - mask),
                           .space = "shared",
                           .other = text};
    kcsim_report_lanes(warp, &block->launch->code->insns[warp->pc], &report);
}
