/* Sets of accesses to a word of shared memory, kept once each: words that went through the same
 * accesses share theirs, and most of a tile did.
 *
 *     word 0 .. 4095   written by warp 0 at tick 3      id 7 = {0:3}
 *     word 0 .. 1023   read by warps 1, 2 and 3         id 9 = {1:5, 2:4, 3:4}
 *
 * A set is an id for ever, until a sweep drops those that no word has any more. Id 0 is the empty
 * set. */
#ifndef KCSIM_RACE_SETS_H
#define KCSIM_RACE_SETS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kcsim_accessed {
    uint32_t time; /* the warp's tick */
    uint16_t warp; /* in the cluster */
    uint8_t bytes; /* of the word: a bit each */
    uint8_t atomic; /* 0: none; else by its size, as atomics of two sizes are none to each other */
} kcsim_accessed;

typedef struct kcsim_race_set {
    uint32_t first, count; /* of `entries` */
    uint32_t next;         /* with this hash */
} kcsim_race_set;

typedef struct kcsim_race_sets {
    kcsim_accessed *entries; /* of a set: by warp, then tick */
    kcsim_race_set *sets;
    uint32_t *heads; /* by hash */
    uint32_t entry_count, entry_capacity, count, capacity;
    uint32_t limit; /* entries and sets: then there is a sweep */
    uint32_t most;  /* behind it they are forgotten, and races are missed */
} kcsim_race_sets;

#define KCSIM_RACE_MOST (1u << 20) /* of a cluster's blocks together: at most 32 MiB */
#define KCSIM_RACE_WIDEST 4096u /* entries of one set */

void kcsim_race_sets_destroy(kcsim_race_sets *sets);
void kcsim_race_sets_reset(kcsim_race_sets *sets);
/* 0 when the host is out of memory: a race that is not seen. */
uint32_t kcsim_race_sets_find(kcsim_race_sets *sets, const kcsim_accessed *entries, uint32_t count);
static inline bool kcsim_race_sets_full(const kcsim_race_sets *sets) {
    return sets->entry_count + sets->count > sets->limit;
}
/* Drops the sets that none of `ids` is, and numbers the others anew, in `ids` too. */
void kcsim_race_sets_sweep(kcsim_race_sets *sets, uint32_t *ids, uint64_t id_count);

#endif
