#include "runtime/sim/cuda/race_sets.h"

#include <stdlib.h>
#include <string.h>

#define SMALLEST (1u << 14)

void kcsim_race_sets_destroy(kcsim_race_sets *sets) {
    free(sets->entries);
    free(sets->sets);
    free(sets->heads);
    *sets = (kcsim_race_sets){.most = 0};
}

void kcsim_race_sets_reset(kcsim_race_sets *sets) {
    if (sets->count > 1) memset(sets->heads, 0, sets->capacity * sizeof *sets->heads);
    sets->entry_count = 0;
    sets->count = 1; /* the empty one */
    sets->limit = SMALLEST < sets->most ? SMALLEST : sets->most;
}

static uint32_t hash_of(const kcsim_accessed *entries, uint32_t count) {
    uint64_t hash = count, word;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&word, &entries[i], sizeof word);
        hash = (hash ^ word) * 0x9fb21c651e98df25u;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* As many chains as there is room for sets. */
static bool grow_sets(kcsim_race_sets *sets) {
    uint32_t capacity = sets->capacity ? sets->capacity * 2 : 256;
    kcsim_race_set *grown = realloc(sets->sets, capacity * sizeof *grown);
    if (!grown) return false;
    sets->sets = grown;
    uint32_t *heads = realloc(sets->heads, capacity * sizeof *heads);
    if (!heads) return false;
    memset(heads, 0, capacity * sizeof *heads);
    sets->heads = heads;
    sets->capacity = capacity;
    for (uint32_t id = 1; id < sets->count; id++) {
        const kcsim_race_set *set = &sets->sets[id];
        uint32_t *head =
            &heads[hash_of(sets->entries + set->first, set->count) & (capacity - 1)];
        sets->sets[id].next = *head;
        *head = id;
    }
    return true;
}

static bool grow_entries(kcsim_race_sets *sets, uint32_t more) {
    uint32_t capacity = sets->entry_capacity ? sets->entry_capacity : 256;
    while (capacity < sets->entry_count + more)
        capacity *= 2;
    if (capacity == sets->entry_capacity) return true;
    kcsim_accessed *grown = realloc(sets->entries, capacity * sizeof *grown);
    if (!grown) return false;
    sets->entries = grown;
    sets->entry_capacity = capacity;
    return true;
}

uint32_t kcsim_race_sets_find(kcsim_race_sets *sets, const kcsim_accessed *entries,
                              uint32_t count) {
    if (count == 0) return 0;
    if (sets->count >= sets->capacity && !grow_sets(sets)) return 0;
    uint32_t *head = &sets->heads[hash_of(entries, count) & (sets->capacity - 1)];
    for (uint32_t id = *head; id; id = sets->sets[id].next) {
        const kcsim_race_set *set = &sets->sets[id];
        if (set->count == count &&
            memcmp(sets->entries + set->first, entries, count * sizeof *entries) == 0)
            return id;
    }
    if (!grow_entries(sets, count)) return 0;
    uint32_t id = sets->count++;
    sets->sets[id] = (kcsim_race_set){.first = sets->entry_count, .count = count, .next = *head};
    *head = id;
    memcpy(sets->entries + sets->entry_count, entries, count * sizeof *entries);
    sets->entry_count += count;
    return id;
}

/* Sets move down to where the dropped ones were, in order: names[old] is the new id. */
static void move_down(kcsim_race_sets *sets, uint32_t *names) {
    uint32_t old_count = sets->count;
    sets->count = 1;
    sets->entry_count = 0;
    memset(sets->heads, 0, sets->capacity * sizeof *sets->heads);
    for (uint32_t id = 1; id < old_count; id++) {
        kcsim_race_set set = sets->sets[id];
        if (!names[id]) continue;
        kcsim_accessed *to = sets->entries + sets->entry_count;
        memmove(to, sets->entries + set.first, set.count * sizeof *to);
        uint32_t *head = &sets->heads[hash_of(to, set.count) & (sets->capacity - 1)];
        names[id] = sets->count++;
        sets->sets[names[id]] = (kcsim_race_set){
            .first = sets->entry_count, .count = set.count, .next = *head};
        *head = names[id];
        sets->entry_count += set.count;
    }
}

void kcsim_race_sets_sweep(kcsim_race_sets *sets, uint32_t *ids, uint64_t id_count) {
    uint32_t *names = calloc(sets->count, sizeof *names);
    if (names) {
        for (uint64_t i = 0; i < id_count; i++)
            names[ids[i]] = ids[i] != 0;
        move_down(sets, names);
        for (uint64_t i = 0; i < id_count; i++)
            ids[i] = names[ids[i]];
        free(names);
    }
    uint32_t kept = sets->entry_count + sets->count;
    if (!names || kept > sets->most / 2) {
        memset(ids, 0, id_count * sizeof *ids);
        kcsim_race_sets_reset(sets);
        return;
    }
    sets->limit = kept * 2 > SMALLEST ? kept * 2 : SMALLEST;
}
