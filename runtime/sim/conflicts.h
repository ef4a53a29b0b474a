/* Conflicts between blocks on global memory: two blocks of one launch use the same bytes, one of
 * them writes, and nothing orders blocks within a launch.
 *
 * For each word (and for each byte, where accesses are narrower than a word) the least writer is
 * remembered, and one reader or "several". What is kept does not depend on the order in which host
 * threads run blocks, so neither does what is found: a conflict is told at its word's least writer,
 * once a word. */
#ifndef KCSIM_CONFLICTS_H
#define KCSIM_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/memory.h"

typedef struct kcsim_conflicts kcsim_conflicts;

/* Who accesses: `place` is the instruction, below 2^22; `thread` below 2^10. */
typedef struct kcsim_accessor {
    uint64_t block;
    uint32_t thread, place;
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
void kcsim_conflicts_begin(kcsim_conflicts *conflicts);
/* Thread-safe. The range lies in one allocation. */
void kcsim_conflicts_access(kcsim_conflicts *conflicts, uint64_t address, uint32_t size,
                            bool is_write, kcsim_accessor accessor, kcsim_conflict_list *found);
/* The least writer at an item of a list, when all blocks have run. */
kcsim_accessor kcsim_conflicts_writer(const kcsim_conflicts *conflicts, uint64_t item);

#endif
