#include "runtime/sim/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/sim/arena.h"

#define ALIGNMENT 512u
#define GUARD ((uint64_t)1 << 20)
#define PAGE ((uint64_t)4096)
#define FIRST_BASE ((uint64_t)0x200000000000)
#define SLOT_SPAN ((uint64_t)1 << 40) /* between the bases of two machines */
#define LARGEST_SPAN                                                                               \
    ((uint64_t)1 << 39) /* of one: leaves the host room for what checks remember  \
                                          */
#define SLOTS 32

/* Machines get disjoint address ranges, the same ones in every run, so that an address tells its
 * device and findings repeat to the byte. */
static pthread_mutex_t slot_lock = PTHREAD_MUTEX_INITIALIZER;
static bool slot_taken[SLOTS];

static int take_slot(void) {
    int found = -1;
    pthread_mutex_lock(&slot_lock);
    for (int i = 0; i < SLOTS && found < 0; i++)
        if (!slot_taken[i]) slot_taken[found = i] = true;
    pthread_mutex_unlock(&slot_lock);
    return found;
}

static void give_slot(int slot) {
    pthread_mutex_lock(&slot_lock);
    slot_taken[slot] = false;
    pthread_mutex_unlock(&slot_lock);
}

static uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

static void *map_private(void *at, uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
    void *range = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return range == MAP_FAILED ? NULL : range;
}

static void *reserve(uint64_t bytes) {
    return map_private(NULL, bytes);
}

bool kcsim_memory_create(kcsim_memory *memory, uint64_t limit) {
    memset(memory, 0, sizeof *memory);
    memory->slot = take_slot();
    if (memory->slot < 0) return false;
    memory->limit = limit;
    memory->base = FIRST_BASE + (uint64_t)memory->slot * SLOT_SPAN;
    memory->next = memory->base + GUARD;
    /* A process with a limit on its address space gets a smaller range, and runs out of it sooner.
     */
    for (uint64_t span = LARGEST_SPAN; span >= ((uint64_t)1 << 30) && !memory->span; span /= 4) {
        memory->host = reserve(span);
        memory->defined = memory->host ? reserve(span) : NULL;
        if (memory->defined) memory->span = span;
        else if (memory->host) munmap(memory->host, span);
    }
    if (!memory->span) give_slot(memory->slot);
    return memory->span != 0;
}

static void *device_page(uint64_t address) {
    return (void *)(uintptr_t)address;
}

static uint64_t whole_pages(uint64_t bytes) {
    return round_up(bytes, PAGE);
}

static void unmap_shared(const kcsim_allocation *made) {
    munmap(device_page(made->base), whole_pages(made->bytes));
}

void kcsim_memory_destroy(kcsim_memory *memory) {
    if (!memory->span) return;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->allocations[i].live && memory->allocations[i].shared)
            unmap_shared(&memory->allocations[i]);
    if (memory->has_file) close(memory->file);
    munmap(memory->host, memory->span);
    munmap(memory->defined, memory->span);
    free(memory->allocations);
    give_slot(memory->slot);
    memset(memory, 0, sizeof *memory);
}

/* Index of the first allocation whose base is above `address`. */
static size_t upper_bound(const kcsim_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->allocations[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static uint64_t room(uint64_t bytes) {
    return round_up(bytes, ALIGNMENT) + GUARD;
}

/* Fresh addresses while there are any: a stale pointer then never points at something new. */
static bool place(kcsim_memory *memory, uint64_t bytes, uint64_t align, uint64_t *address) {
    uint64_t end = memory->base + memory->span, fresh = round_up(memory->next, align);
    if (fresh <= end && room(bytes) <= end - fresh) {
        *address = fresh;
        memory->next = fresh + room(bytes);
        return true;
    }
    size_t kept = 0;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->allocations[i].live || memory->allocations[i].reserved)
            memory->allocations[kept++] = memory->allocations[i];
    memory->count = kept;
    uint64_t from = memory->base + GUARD;
    for (size_t i = 0; i <= kept; i++) {
        uint64_t to = i < kept ? memory->allocations[i].base : end;
        from = round_up(from, align);
        if (from <= to && room(bytes) <= to - from) {
            *address = from;
            return true;
        }
        if (i == kept) break;
        uint64_t behind = memory->allocations[i].base + room(memory->allocations[i].bytes);
        if (behind > from) from = behind; /* what is mapped lies in its reservation */
    }
    return false;
}

kcsim_allocation *kcsim_memory_place(kcsim_memory *memory, uint64_t bytes, uint64_t align) {
    uint64_t address;
    if (bytes == 0 || bytes > memory->span) return NULL;
    if (!place(memory, bytes, align, &address)) return NULL;
    kcsim_allocation made = {.base = address,
                             .bytes = bytes,
                             .defined_from = address,
                             .defined_to = address,
                             .live = true};
    return kcsim_memory_insert(memory, &made) ? kcsim_memory_near(memory, address) : NULL;
}

bool kcsim_memory_insert(kcsim_memory *memory, const kcsim_allocation *allocation) {
    if (!kcsim_array_grow((void **)&memory->allocations, memory->count, &memory->capacity,
                          sizeof *memory->allocations))
        return false;
    size_t at = upper_bound(memory, allocation->base);
    memmove(&memory->allocations[at + 1], &memory->allocations[at],
            (memory->count - at) * sizeof *memory->allocations);
    memory->count++;
    memory->allocations[at] = *allocation;
    return true;
}

kcsim_allocation *kcsim_memory_alloc(kcsim_memory *memory, uint64_t bytes) {
    uint64_t left = memory->used < memory->limit ? memory->limit - memory->used : 0;
    if (bytes > left || round_up(bytes, ALIGNMENT) > left) return NULL;
    kcsim_allocation *made = kcsim_memory_place(memory, bytes, ALIGNMENT);
    if (made) memory->used += round_up(bytes, ALIGNMENT);
    return made;
}

/* The pages of a new file, in the range and at the device address. */
static bool map_twice(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    int file = memfd_create("kcsim", MFD_CLOEXEC);
    if (file < 0) return false;
    int access = PROT_READ | PROT_WRITE;
    void *there = MAP_FAILED, *inside = MAP_FAILED;
    if (ftruncate(file, (off_t)bytes) == 0)
        there =
            mmap(device_page(address), bytes, access, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    if (there == device_page(address))
        inside = mmap(memory->host + (address - memory->base), bytes, access,
                      MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
    if (there != MAP_FAILED && inside == MAP_FAILED) munmap(there, bytes);
    return inside != MAP_FAILED;
}

kcsim_allocation *kcsim_memory_alloc_shared(kcsim_memory *memory, uint64_t bytes) {
    kcsim_allocation *made = kcsim_memory_place(memory, bytes, PAGE);
    if (!made) return NULL;
    made->shared = map_twice(memory, made->base, whole_pages(bytes));
    made->live = made->shared;
    made->defined_to = made->base + bytes;
    return made->live ? made : NULL;
}

/* Whole pages go back to the host; the edges are cleared by hand. Guard zones are larger than a
 * page, so no page is shared with a neighbour. */
static void forget(uint8_t *range, uint64_t offset, uint64_t bytes) {
    uint64_t from = round_up(offset, PAGE), to = (offset + bytes) / PAGE * PAGE;
    if (from >= to) {
        memset(range + offset, 0, bytes);
        return;
    }
    memset(range + offset, 0, from - offset);
    madvise(range + from, to - from, MADV_DONTNEED);
    memset(range + to, 0, offset + bytes - to);
}

bool kcsim_memory_free(kcsim_memory *memory, uint64_t address) {
    kcsim_allocation *found = kcsim_memory_near(memory, address);
    if (!found || !found->live || found->mapped || found->base != address) return false;
    found->live = false;
    if (found->shared) {
        unmap_shared(found);
        map_private(memory->host + (address - memory->base), whole_pages(found->bytes));
    } else {
        memory->used -= round_up(found->bytes, ALIGNMENT);
        forget(memory->host, address - memory->base, found->bytes);
    }
    forget(memory->defined, address - memory->base, found->bytes);
    return true;
}

kcsim_allocation *kcsim_memory_near(const kcsim_memory *memory, uint64_t address) {
    size_t above = upper_bound(memory, address);
    return above ? &memory->allocations[above - 1] : NULL;
}

kcsim_allocation *kcsim_memory_find(const kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    kcsim_allocation *near = kcsim_memory_near(memory, address);
    if (!near || !near->live || address - near->base > near->bytes ||
        bytes > near->bytes - (address - near->base))
        return NULL;
    return near;
}

void kcsim_memory_mark(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    kcsim_allocation *found = kcsim_memory_find(memory, address, bytes);
    if (!found || bytes == 0) return;
    uint64_t end = address + bytes;
    bool empty = found->defined_from == found->defined_to;
    if (empty || (address <= found->defined_to && end >= found->defined_from)) {
        if (empty || address < found->defined_from) found->defined_from = address;
        if (empty || end > found->defined_to) found->defined_to = end;
    } else if (bytes > found->defined_to - found->defined_from) {
        /* Keep the longer interval as the interval, spell the shorter one out. */
        memset(memory->defined + (found->defined_from - memory->base), 1,
               found->defined_to - found->defined_from);
        found->defined_from = address;
        found->defined_to = end;
    } else {
        memset(memory->defined + (address - memory->base), 1, bytes);
    }
}

bool kcsim_memory_is_defined(const kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    const kcsim_allocation *found = kcsim_memory_find(memory, address, bytes);
    if (!found) return false;
    const uint8_t *marks = memory->defined + (address - memory->base);
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t at = address + i;
        if (at >= found->defined_from && at < found->defined_to)
            i = found->defined_to - address - 1;
        else if (!marks[i]) return false;
    }
    return true;
}

void kcsim_memory_copy_marks(kcsim_memory *memory, uint64_t to, uint64_t from, uint64_t bytes) {
    if (kcsim_memory_is_defined(memory, from, bytes)) {
        kcsim_memory_mark(memory, to, bytes);
        return;
    }
    kcsim_allocation *target = kcsim_memory_find(memory, to, bytes);
    const kcsim_allocation *source = kcsim_memory_find(memory, from, bytes);
    if (!target || !source || target->shared) return;
    /* Bytes become undefined here: the target's interval has to be spelled out first. Copying
     * backwards or forwards as memmove does keeps overlapping ranges right. */
    memset(memory->defined + (target->defined_from - memory->base), 1,
           target->defined_to - target->defined_from);
    uint64_t source_from = source->defined_from, source_to = source->defined_to;
    target->defined_from = target->defined_to = target->base;
    uint8_t *marks = memory->defined + (to - memory->base);
    for (uint64_t n = 0; n < bytes; n++) {
        uint64_t i = to > from ? bytes - 1 - n : n;
        uint64_t at = from + i;
        bool inside = at >= source_from && at < source_to;
        marks[i] = inside || memory->defined[at - memory->base];
    }
}
