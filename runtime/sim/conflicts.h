/* Conflicts between blocks on global memory: two blocks of one launch use the same bytes, one of
 * them writes, and nothing orders blocks within a launch.
 *
 * For each word (and for each byte, where accesses are narrower than a word) the least writer and
 * the least reader are remembered, and of each the least in another cluster. What is kept does not
 * depend on the order in which host threads run blocks, so neither does what is found: a conflict
 * is told at its word's least writer, once a word, with the least access that it conflicts with.
 */
#ifndef KCSIM_CONFLICTS_H
#define KCSIM_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/memory.h"

typedef struct kcsim_conflicts kcsim_conflicts;

/* Who accesses: `place` is the instruction, below 2^22; `thread` below 2^10; blocks are numbered
 * cluster by cluster. */
typedef struct kcsim_accessor {
    uint64_t block;
    uint32_t thread, place;
    bool writes;
} kcsim_accessor;

/* Addresses at which a conflict was seen for the first time; one list a host thread. */
typedef struct kcsim_conflict_list {
    uint64_t *items; /* address * 2, plus 1 for a byte's own entry */
    size_t count, capacity;
} kcsim_conflict_list;

/* NULL when the host has no address space for it. */
kcsim_conflicts *kcsim_conflicts_create(const kcsim_memory *memory);
void kcsim_conflicts_destroy(kcsim_conflicts *conflicts);
/* Forgets everything, which is cheap. */
void kcsim_conflicts_begin(kcsim_conflicts *conflicts, uint32_t cluster_blocks);
/* Thread-safe. The range lies in one allocation; each of its threads, one after another from
 * accessor.thread, has `each` bytes of it. */
void kcsim_conflicts_access(kcsim_conflicts *conflicts, uint64_t address, uint32_t size,
                            uint32_t each, bool is_write, kcsim_accessor accessor,
                            kcsim_conflict_list *found);
/* The least writer at an item of a list, and who conflicts with it, when all blocks have run. */
kcsim_accessor kcsim_conflicts_at(const kcsim_conflicts *conflicts, uint64_t item,
                                  kcsim_accessor *other);

#endif
