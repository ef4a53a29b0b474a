#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"

#define REMEMBERED 16u
#define REDUCES 0x80000000u /* a reduction, over which others may go */

/* An mbarrier that copies have been announced to. */
typedef struct landing {
    uint64_t at;
    uint32_t *seen; /* by warp of the cluster: phases that it knows to be complete */
    uint32_t *when; /* of each warp's last few: its own clock then */
} landing;

struct kcsim_flights {
    uint64_t count;
    uint64_t *words; /* 0, or (landing + 1) << 32 | phase, with REDUCES */
    landing *landings;
    uint32_t landing_count, capacity, clock_count;
};

kcsim_flights *kcsim_flights_create(uint64_t shared_bytes, uint32_t clock_count) {
    kcsim_flights *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->count = (shared_bytes + 3) / 4;
    made->clock_count = clock_count;
    made->words = calloc(made->count + 1, sizeof *made->words);
    if (made->words) return made;
    free(made);
    return NULL;
}

void kcsim_flights_destroy(kcsim_flights *flights) {
    if (!flights) return;
    for (uint32_t i = 0; i < flights->landing_count; i++)
        free(flights->landings[i].seen);
    free(flights->landings);
    free(flights->words);
    free(flights);
}

void kcsim_flights_reset(kcsim_flights *flights) {
    if (!flights || !flights->landing_count) return;
    for (uint32_t i = 0; i < flights->landing_count; i++)
        free(flights->landings[i].seen);
    flights->landing_count = 0;
    memset(flights->words, 0, flights->count * sizeof *flights->words);
}

static landing *find(const kcsim_flights *flights, uint64_t at) {
    for (uint32_t i = 0; i < flights->landing_count; i++)
        if (flights->landings[i].at == at) return &flights->landings[i];
    return NULL;
}

static landing *find_or_add(kcsim_flights *flights, uint64_t at) {
    landing *found = find(flights, at);
    if (found) return found;
    if (flights->landing_count == flights->capacity) {
        uint32_t wanted = flights->capacity ? flights->capacity * 2 : 16;
        landing *grown = realloc(flights->landings, wanted * sizeof *grown);
        if (!grown) return NULL;
        flights->landings = grown;
        flights->capacity = wanted;
    }
    uint32_t *clocks = calloc((size_t)flights->clock_count * (REMEMBERED + 1), sizeof *clocks);
    if (!clocks) return NULL;
    landing *fresh = &flights->landings[flights->landing_count++];
    *fresh = (landing){.at = at, .seen = clocks, .when = clocks + flights->clock_count};
    return fresh;
}

/* An mbarrier that was initialised anew counts its phases from 0 again. */
static void begin_anew(kcsim_flights *flights, landing *place, uint32_t phase) {
    for (uint32_t w = 0; w < flights->clock_count; w++)
        if (place->seen[w] > phase) place->seen[w] = 0;
}

bool kcsim_flights_begin(kcsim_flights *flights, uint64_t at, uint32_t phase, uint64_t address,
                         uint64_t size, bool reduces) {
    landing *place = find_or_add(flights, at);
    if (!place) return false;
    begin_anew(flights, place, phase);
    uint64_t word = (uint64_t)(place - flights->landings + 1) << 32 | phase;
    if (reduces) word |= REDUCES;
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < flights->count; i++)
        flights->words[i] = word;
    return true;
}

void kcsim_flights_observed(kcsim_flights *flights, const kcsim_warp *warp, uint64_t at,
                            uint32_t phase) {
    landing *place = find(flights, at);
    if (!place) return;
    uint32_t *seen = &place->seen[warp->id];
    if (phase > *seen + REMEMBERED) *seen = phase - REMEMBERED;
    while (*seen < phase)
        place->when[warp->id * REMEMBERED + ++*seen % REMEMBERED] = warp->time[warp->id];
}

/* The warp has waited itself, or knows of one that had. */
static bool has_landed(const kcsim_flights *flights, const kcsim_warp *warp, uint64_t word) {
    const landing *place = &flights->landings[(word >> 32) - 1];
    uint32_t phase = ((uint32_t)word & ~REDUCES) + 1;
    if (place->seen[warp->id] >= phase) return true;
    for (uint32_t w = 0; w < flights->clock_count; w++) {
        if (place->seen[w] < phase) continue;
        if (place->seen[w] - phase >= REMEMBERED) return true;
        if (place->when[w * REMEMBERED + phase % REMEMBERED] <= warp->time[w]) return true;
    }
    return false;
}

bool kcsim_flights_look(const kcsim_flights *flights, const kcsim_warp *warp, uint64_t address,
                        uint64_t size, bool reduces, uint64_t *at) {
    uint64_t known = 0;
    if (!flights->landing_count) return false;
    for (uint64_t i = address / 4; i < (address + size + 3) / 4 && i < flights->count; i++) {
        uint64_t word = flights->words[i];
        if (word == known || word == 0 || (reduces && word & REDUCES)) continue;
        if (!has_landed(flights, warp, word)) {
            *at = flights->landings[(word >> 32) - 1].at;
            return true;
        }
        known = word;
    }
    return false;
}
