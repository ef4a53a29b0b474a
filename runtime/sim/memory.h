/* Global memory of one machine: one reserved range of addresses, a shadow byte a byte that says
 * whether it was ever written, and the list of allocations, sorted by address.
 *
 *      device address = base + offset    host bytes = host + offset    shadow = defined + offset
 *
 * Between allocations lie guard zones that nothing maps, so that an index past the end of one array
 * is not inside the next. Pages that nothing touches cost nothing. Writes by the host are
 * remembered as one interval an allocation
 * (`defined_from..defined_to`), so that copying in a large array does not touch its shadow.
 *
 * Shared memory is what the host uses too (pinned, managed): its pages are a file of their own that
 * is mapped twice, in the range and at the device address itself, so that one address serves both
 * sides. Anything else faults when the host follows a device pointer. The host writes without
 * telling, so all of it counts as defined. */
#ifndef KCSIM_MEMORY_H
#define KCSIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kcsim_allocation {
    uint64_t base, bytes;
    uint64_t defined_from, defined_to; /* device addresses; everything in between is defined */
    bool live;
    bool read_only; /* .const variables */
    bool shared;    /* mapped at `base` in the host's address space */
    bool reserved;  /* addresses alone; never live */
    bool mapped;    /* lies in a reservation */
    bool heap;      /* a kernel's malloc gave it */
} kcsim_allocation;

typedef struct kcsim_memory {
    uint64_t base, span, next;
    uint8_t *host, *defined;
    uint64_t used, limit;
    kcsim_allocation *allocations;
    size_t count, capacity;
    int slot;
    bool has_file; /* what has no address of its own lies there */
    int file;
    uint64_t file_end;
} kcsim_memory;

/* Memory without an address. */
typedef struct kcsim_backing kcsim_backing;
struct kcsim_backing {
    uint64_t offset, bytes;
    bool used; /* it was mapped once: it may hold something */
};

bool kcsim_memory_create(kcsim_memory *memory, uint64_t limit);
void kcsim_memory_destroy(kcsim_memory *memory);

/* NULL when over the limit or out of addresses. The pointer holds until the next allocation or
 * release. */
kcsim_allocation *kcsim_memory_alloc(kcsim_memory *memory, uint64_t bytes);
/* The same, of whole pages that the host reaches at `base`: none of the card's, so no limit holds.
 * NULL also when its addresses are taken. */
kcsim_allocation *kcsim_memory_alloc_shared(kcsim_memory *memory, uint64_t bytes);
bool kcsim_memory_free(kcsim_memory *memory, uint64_t address);

/* The allocation, live or not, whose bytes or following guard zone hold `address`; NULL before the
 * first. */
kcsim_allocation *kcsim_memory_near(const kcsim_memory *memory, uint64_t address);
/* The live allocation that holds all of [address, address + bytes). */
kcsim_allocation *kcsim_memory_find(const kcsim_memory *memory, uint64_t address, uint64_t bytes);

/* memory_map.c. Addresses and sizes are multiples of 4096. */
bool kcsim_memory_reserve(kcsim_memory *memory, uint64_t bytes, uint64_t align, uint64_t *address);
bool kcsim_memory_unreserve(kcsim_memory *memory, uint64_t address); /* nothing is mapped there */
bool kcsim_backing_create(kcsim_memory *memory, uint64_t bytes, kcsim_backing *out);
void kcsim_backing_destroy(kcsim_memory *memory, const kcsim_backing *backing);
bool kcsim_memory_map(kcsim_memory *memory, uint64_t address, kcsim_backing *backing);
bool kcsim_memory_unmap(kcsim_memory *memory, uint64_t address, uint64_t bytes);

/* For memory_map.c: an entry of fresh addresses, without a look at limits; and one as it is. */
kcsim_allocation *kcsim_memory_place(kcsim_memory *memory, uint64_t bytes, uint64_t align);
bool kcsim_memory_insert(kcsim_memory *memory, const kcsim_allocation *allocation);

void kcsim_memory_mark(kcsim_memory *memory, uint64_t address, uint64_t bytes);
bool kcsim_memory_is_defined(const kcsim_memory *memory, uint64_t address, uint64_t bytes);
void kcsim_memory_copy_marks(kcsim_memory *memory, uint64_t to, uint64_t from, uint64_t bytes);

#endif
