#include "runtime/sim/conflicts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/sim/arena.h"

/* A writer in one word, so that comparing words compares block, then thread, then place:
 *
 *     63..56 launch    55 told    54..32 block + 1    31..22 thread    21..0 place */
#define BLOCK_BITS 23
#define TOLD ((uint64_t)1 << 55)
#define SEVERAL ((1u << BLOCK_BITS) - 1)

/* A reader: 31..24 launch, 22..0 block + 1, or SEVERAL. */

typedef struct table {
    _Atomic uint64_t *writers;
    _Atomic uint32_t *readers;
    uint64_t entries;
} table;

struct kcsim_conflicts {
    uint64_t base;
    table words, bytes;
    uint32_t launch; /* 1 to 255 */
};

static void *reserve(uint64_t bytes) {
    void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? NULL : range;
}

static bool create_table(table *made, uint64_t entries) {
    made->entries = entries;
    made->writers = reserve(entries * sizeof *made->writers);
    made->readers = made->writers ? reserve(entries * sizeof *made->readers) : NULL;
    return made->readers != NULL;
}

static void destroy_table(table *old) {
    if (old->writers) munmap((void *)old->writers, old->entries * sizeof *old->writers);
    if (old->readers) munmap((void *)old->readers, old->entries * sizeof *old->readers);
}

kcsim_conflicts *kcsim_conflicts_create(const kcsim_memory *memory) {
    kcsim_conflicts *conflicts = calloc(1, sizeof *conflicts);
    if (!conflicts) return NULL;
    conflicts->base = memory->base;
    if (create_table(&conflicts->words, memory->span / 4) &&
        create_table(&conflicts->bytes, memory->span))
        return conflicts;
    kcsim_conflicts_destroy(conflicts);
    return NULL;
}

void kcsim_conflicts_destroy(kcsim_conflicts *conflicts) {
    if (!conflicts) return;
    destroy_table(&conflicts->words);
    destroy_table(&conflicts->bytes);
    free(conflicts);
}

static void clear_table(table *used) {
    madvise((void *)used->writers, used->entries * sizeof *used->writers, MADV_DONTNEED);
    madvise((void *)used->readers, used->entries * sizeof *used->readers, MADV_DONTNEED);
}

/* Entries carry their launch's number; when numbers run out the tables are given back to the host.
 */
void kcsim_conflicts_begin(kcsim_conflicts *conflicts) {
    if (conflicts->launch++ < 255) return;
    clear_table(&conflicts->words);
    clear_table(&conflicts->bytes);
    conflicts->launch = 1;
}

static uint32_t block_of(uint64_t block) {
    return (uint32_t)(block % (SEVERAL - 1)) + 1;
}

static bool is_current(uint64_t launch, uint64_t entry, unsigned shift) {
    return entry >> shift == launch;
}

static void tell(table *where, uint64_t index, uint64_t item, kcsim_conflict_list *found) {
    uint64_t before = atomic_fetch_or(&where->writers[index], TOLD);
    if (before & TOLD) return;
    if (kcsim_array_grow((void **)&found->items, found->count, &found->capacity,
                         sizeof *found->items))
        found->items[found->count++] = item;
}

static void note_write(table *where, uint64_t launch, uint64_t index, kcsim_accessor accessor,
                       uint64_t item, kcsim_conflict_list *found) {
    uint64_t block = block_of(accessor.block);
    uint64_t mine = launch << 56 | block << 32 | (uint64_t)(accessor.thread & 1023) << 22 |
                    (accessor.place & 0x3fffff);
    uint64_t old = atomic_load(&where->writers[index]), fresh;
    do {
        fresh = mine;
        if (!is_current(launch, old, 56)) continue;
        uint64_t told = old & TOLD;
        fresh = ((old & ~TOLD) < mine ? old & ~TOLD : mine) | told;
    } while (old != fresh && !atomic_compare_exchange_weak(&where->writers[index], &old, fresh));
    bool other_writer = is_current(launch, old, 56) && (old >> 32 & SEVERAL) != block;
    uint32_t reader = atomic_load(&where->readers[index]);
    bool other_reader = is_current(launch, reader, 24) && (reader & SEVERAL) != block;
    if (other_writer || other_reader) tell(where, index, item, found);
}

/* The reader is noted before the writer is looked at, and the writer above before the reader: one
 * of two threads that meet here sees the other. */
static void note_read(table *where, uint64_t launch, uint64_t index, kcsim_accessor accessor,
                      uint64_t item, kcsim_conflict_list *found) {
    uint32_t block = block_of(accessor.block), mine = (uint32_t)launch << 24 | block;
    uint32_t old = atomic_load(&where->readers[index]), fresh;
    do {
        fresh = is_current(launch, old, 24) && (old & SEVERAL) != block
                    ? (uint32_t)launch << 24 | SEVERAL
                    : mine;
    } while (old != fresh && !atomic_compare_exchange_weak(&where->readers[index], &old, fresh));
    uint64_t writer = atomic_load(&where->writers[index]);
    if (is_current(launch, writer, 56) && (writer >> 32 & SEVERAL) != block)
        tell(where, index, item, found);
}

void kcsim_conflicts_access(kcsim_conflicts *conflicts, uint64_t address, uint32_t size,
                            bool is_write, kcsim_accessor accessor, kcsim_conflict_list *found) {
    bool narrow = size < 4 || address % 4;
    table *where = narrow ? &conflicts->bytes : &conflicts->words;
    uint64_t step = narrow ? 1 : 4;
    for (uint64_t at = address; at < address + size; at += step) {
        uint64_t index = (at - conflicts->base) / step, item = at * 2 + narrow;
        if (is_write) note_write(where, conflicts->launch, index, accessor, item, found);
        else note_read(where, conflicts->launch, index, accessor, item, found);
    }
}

kcsim_accessor kcsim_conflicts_writer(const kcsim_conflicts *conflicts, uint64_t item) {
    bool narrow = item & 1;
    const table *where = narrow ? &conflicts->bytes : &conflicts->words;
    uint64_t entry = atomic_load(&where->writers[(item / 2 - conflicts->base) / (narrow ? 1 : 4)]);
    return (kcsim_accessor){.block = (entry >> 32 & SEVERAL) - 1,
                            .thread = (uint32_t)(entry >> 22 & 1023),
                            .place = (uint32_t)(entry & 0x3fffff)};
}
