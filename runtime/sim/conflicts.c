#include "runtime/sim/conflicts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/sim/arena.h"

/* An access in one number, so that comparing numbers compares block, then thread, then place:
 *
 *     63..56 launch   55 told (of the least writer)   54..32 block   31..22 thread   21..0 place
 *
 * Of the writers of a word, and of its readers, the least is kept and the least of another cluster.
 * What the second one holds is always beyond the first one's cluster: who is not the least, or no
 * longer, is a candidate for it. So both come out the same in whatever order accesses come. */
#define BLOCK_MASK ((1u << 23) - 1)
#define TOLD ((uint64_t)1 << 55)

typedef _Atomic uint64_t slot;

typedef struct side {
    slot *first, *second;
} side;

typedef struct table {
    side writers, readers;
    uint64_t entries;
} table;

struct kcsim_conflicts {
    uint64_t base;
    table words, bytes;
    uint32_t launch;  /* 1 to 255 */
    uint32_t cluster; /* blocks of one */
};

static void *reserve(uint64_t bytes) {
    void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? NULL : range;
}

static bool create_table(table *made, uint64_t entries) {
    slot **each[4] = {&made->writers.first, &made->writers.second, &made->readers.first,
                      &made->readers.second};
    made->entries = entries;
    for (int i = 0; i < 4; i++)
        if (!(*each[i] = reserve(entries * sizeof(slot)))) return false;
    return true;
}

static void each_slots(const table *of, void (*what)(slot *slots, uint64_t bytes)) {
    slot *each[4] = {of->writers.first, of->writers.second, of->readers.first, of->readers.second};
    for (int i = 0; i < 4; i++)
        if (each[i]) what(each[i], of->entries * sizeof(slot));
}

static void unmap(slot *slots, uint64_t bytes) {
    munmap((void *)slots, bytes);
}

static void give_back(slot *slots, uint64_t bytes) {
    madvise((void *)slots, bytes, MADV_DONTNEED);
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
    each_slots(&conflicts->words, unmap);
    each_slots(&conflicts->bytes, unmap);
    free(conflicts);
}

/* Entries carry their launch's number; when numbers run out the tables are given back to the host.
 */
void kcsim_conflicts_begin(kcsim_conflicts *conflicts, uint32_t cluster_blocks) {
    conflicts->cluster = cluster_blocks;
    if (conflicts->launch++ < 255) return;
    each_slots(&conflicts->words, give_back);
    each_slots(&conflicts->bytes, give_back);
    conflicts->launch = 1;
}

static bool is_current(const kcsim_conflicts *conflicts, uint64_t entry) {
    return entry >> 56 == conflicts->launch;
}

static uint64_t block_of(uint64_t entry) {
    return entry >> 32 & BLOCK_MASK;
}

static bool apart(const kcsim_conflicts *conflicts, uint64_t a, uint64_t b) {
    if (conflicts->cluster == 1) return block_of(a) != block_of(b);
    return block_of(a) / conflicts->cluster != block_of(b) / conflicts->cluster;
}

static void keep_less(const kcsim_conflicts *conflicts, slot *least, uint64_t entry) {
    uint64_t old = atomic_load(least);
    while (!is_current(conflicts, old) || entry < old)
        if (atomic_compare_exchange_weak(least, &old, entry)) return;
}

/* Notes an access; the one that it met in the first slot, or 0. */
static uint64_t note(const kcsim_conflicts *conflicts, const side *where, uint64_t index,
                     uint64_t mine) {
    uint64_t old = atomic_load(&where->first[index]), met;
    do {
        met = is_current(conflicts, old) ? old & ~TOLD : 0;
        if (met && met <= mine) break;
    } while (!atomic_compare_exchange_weak(&where->first[index], &old,
                                           mine | (met ? old & TOLD : 0)));
    if (met && apart(conflicts, met, mine))
        keep_less(conflicts, &where->second[index], met > mine ? met : mine);
    return met;
}

static void tell(const table *where, uint64_t index, uint64_t item, kcsim_conflict_list *found) {
    uint64_t before = atomic_fetch_or(&where->writers.first[index], TOLD);
    if (before & TOLD) return;
    if (kcsim_array_grow((void **)&found->items, found->count, &found->capacity,
                         sizeof *found->items))
        found->items[found->count++] = item;
}

static bool is_apart(const kcsim_conflicts *conflicts, const slot *past, uint64_t mine) {
    uint64_t entry = atomic_load(past);
    return is_current(conflicts, entry) && apart(conflicts, entry, mine);
}

static void note_write(const kcsim_conflicts *conflicts, const table *where, uint64_t index,
                       uint64_t mine, uint64_t item, kcsim_conflict_list *found) {
    uint64_t met = note(conflicts, &where->writers, index, mine);
    uint64_t reader = atomic_load(&where->readers.first[index]);
    bool read = is_current(conflicts, reader);
    if ((met && apart(conflicts, met, mine)) || (read && apart(conflicts, reader, mine)) ||
        (read && is_apart(conflicts, &where->readers.second[index], mine)))
        tell(where, index, item, found);
}

/* The reader is noted before the writer is looked at, and the writer above before the readers: one
 * of two threads that meet here sees the other. Who moves a reader to the second slot looks for
 * it. */
static void note_read(const kcsim_conflicts *conflicts, const table *where, uint64_t index,
                      uint64_t mine, uint64_t item, kcsim_conflict_list *found) {
    uint64_t met = note(conflicts, &where->readers, index, mine);
    uint64_t writer = atomic_load(&where->writers.first[index]);
    if (!is_current(conflicts, writer)) return;
    if (apart(conflicts, writer, mine) || (met && apart(conflicts, writer, met)))
        tell(where, index, item, found);
}

void kcsim_conflicts_access(kcsim_conflicts *conflicts, uint64_t address, uint32_t size,
                            uint32_t each, bool is_write, kcsim_accessor accessor,
                            kcsim_conflict_list *found) {
    bool narrow = each < 4 || address % 4;
    const table *where = narrow ? &conflicts->bytes : &conflicts->words;
    uint64_t step = narrow ? 1 : 4, left = each;
    uint64_t mine = (uint64_t)conflicts->launch << 56 | (accessor.block & BLOCK_MASK) << 32 |
                    (uint64_t)(accessor.thread & 1023) << 22 | (accessor.place & 0x3fffff);
    for (uint64_t at = address; at < address + size; at += step) {
        uint64_t index = (at - conflicts->base) / step, item = at * 2 + narrow;
        if (is_write) note_write(conflicts, where, index, mine, item, found);
        else note_read(conflicts, where, index, mine, item, found);
        left -= step < left ? step : left;
        if (left) continue;
        left = each;
        mine += (uint64_t)1 << 22;
    }
}

static kcsim_accessor accessor_of(uint64_t entry, bool writes) {
    return (kcsim_accessor){.block = block_of(entry),
                            .thread = (uint32_t)(entry >> 22 & 1023),
                            .place = (uint32_t)(entry & 0x3fffff),
                            .writes = writes};
}

kcsim_accessor kcsim_conflicts_at(const kcsim_conflicts *conflicts, uint64_t item,
                                  kcsim_accessor *other) {
    bool narrow = item & 1;
    const table *where = narrow ? &conflicts->bytes : &conflicts->words;
    uint64_t index = (item / 2 - conflicts->base) / (narrow ? 1 : 4);
    uint64_t writer = atomic_load(&where->writers.first[index]) & ~TOLD, least = UINT64_MAX;
    slot *const past[3] = {&where->writers.second[index], &where->readers.first[index],
                           &where->readers.second[index]};
    for (int i = 0; i < 3; i++) {
        uint64_t entry = atomic_load(past[i]);
        if (!is_apart(conflicts, past[i], writer) || entry >= least) continue;
        least = entry;
        *other = accessor_of(entry, i == 0);
    }
    return accessor_of(writer, true);
}
