/* Reserved addresses, and memory that is mapped into them.
 *
 * Memory without an address is a stretch of one file a machine; mapping it maps the file's pages
 * into the range. Mapped pieces that adjoin are one allocation, so that accesses and copies may
 * cross from one to the next. A reservation stays in the list behind what is mapped in it: it has
 * the lower index at the same base, so a look-up finds the mapped piece first. */
#include "runtime/sim/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((uint64_t)4096)

static uint8_t *host_of(const kcsim_memory *memory, uint64_t address) {
    return memory->host + (address - memory->base);
}

bool kcsim_backing_create(kcsim_memory *memory, uint64_t bytes, kcsim_backing *out) {
    uint64_t left = memory->used < memory->limit ? memory->limit - memory->used : 0;
    if (bytes == 0 || bytes % PAGE != 0 || bytes > left) return false;
    if (!memory->has_file) {
        memory->file = memfd_create("kcsim", MFD_CLOEXEC);
        if (memory->file < 0) return false;
        memory->has_file = true;
    }
    if (ftruncate(memory->file, (off_t)(memory->file_end + bytes)) != 0) return false;
    *out = (kcsim_backing){.offset = memory->file_end, .bytes = bytes};
    memory->file_end += bytes;
    memory->used += bytes;
    return true;
}

/* Its place in the file is not given to anybody else; its pages go back to the host. */
void kcsim_backing_destroy(kcsim_memory *memory, const kcsim_backing *backing) {
    void *pages = mmap(NULL, backing->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file,
                       (off_t)backing->offset);
    if (pages != MAP_FAILED) {
        madvise(pages, backing->bytes, MADV_REMOVE);
        munmap(pages, backing->bytes);
    }
    memory->used -= backing->bytes;
}

bool kcsim_memory_reserve(kcsim_memory *memory, uint64_t bytes, uint64_t align, uint64_t *address) {
    if (bytes % PAGE != 0) return false;
    kcsim_allocation *made = kcsim_memory_place(memory, bytes, align < PAGE ? PAGE : align);
    if (!made) return false;
    made->live = false;
    made->reserved = true;
    *address = made->base;
    return true;
}

static void remove_at(kcsim_memory *memory, size_t at) {
    memory->count--;
    memmove(&memory->allocations[at], &memory->allocations[at + 1],
            (memory->count - at) * sizeof *memory->allocations);
}

static kcsim_allocation *reservation_of(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    for (size_t i = 0; i < memory->count; i++) {
        kcsim_allocation *here = &memory->allocations[i];
        if (here->reserved && address - here->base <= here->bytes &&
            bytes <= here->bytes - (address - here->base))
            return here;
    }
    return NULL;
}

/* The mapped piece that touches or overlaps [address, address + bytes), or NULL. */
static kcsim_allocation *mapped_near(kcsim_memory *memory, uint64_t address, uint64_t bytes,
                                     bool touching) {
    for (size_t i = 0; i < memory->count; i++) {
        kcsim_allocation *here = &memory->allocations[i];
        if (!here->mapped) continue;
        uint64_t end = here->base + here->bytes;
        if (touching ? end == address || here->base == address + bytes
                     : here->base < address + bytes && end > address)
            return here;
    }
    return NULL;
}

bool kcsim_memory_unreserve(kcsim_memory *memory, uint64_t address) {
    kcsim_allocation *found = reservation_of(memory, address, 1);
    if (!found || found->base != address || mapped_near(memory, address, found->bytes, false))
        return false;
    remove_at(memory, (size_t)(found - memory->allocations));
    return true;
}

/* Intervals do not survive pieces that join and part: the bytes are marked one by one. */
static void spell_out(kcsim_memory *memory, kcsim_allocation *piece) {
    memset(memory->defined + (piece->defined_from - memory->base), 1,
           piece->defined_to - piece->defined_from);
    piece->defined_from = piece->defined_to = piece->base;
}

static bool add_piece(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    kcsim_allocation piece = {.base = address,
                              .bytes = bytes,
                              .defined_from = address,
                              .defined_to = address,
                              .live = true,
                              .mapped = true};
    return kcsim_memory_insert(memory, &piece);
}

static bool join(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    for (kcsim_allocation *next; (next = mapped_near(memory, address, bytes, true));) {
        spell_out(memory, next);
        uint64_t end = address + bytes, next_end = next->base + next->bytes;
        if (next->base < address) address = next->base;
        bytes = (next_end > end ? next_end : end) - address;
        remove_at(memory, (size_t)(next - memory->allocations));
    }
    return add_piece(memory, address, bytes);
}

bool kcsim_memory_map(kcsim_memory *memory, uint64_t address, kcsim_backing *backing) {
    if (address % PAGE != 0 || !reservation_of(memory, address, backing->bytes) ||
        mapped_near(memory, address, backing->bytes, false))
        return false;
    void *pages = mmap(host_of(memory, address), backing->bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED, memory->file, (off_t)backing->offset);
    if (pages == MAP_FAILED || !join(memory, address, backing->bytes)) return false;
    /* What it held elsewhere is not looked into. */
    if (backing->used) kcsim_memory_mark(memory, address, backing->bytes);
    backing->used = true;
    return true;
}

bool kcsim_memory_unmap(kcsim_memory *memory, uint64_t address, uint64_t bytes) {
    kcsim_allocation *found = mapped_near(memory, address, bytes, false);
    if (!found || address < found->base || address + bytes > found->base + found->bytes)
        return false;
    kcsim_allocation whole = *found;
    uint64_t end = address + bytes, whole_end = whole.base + whole.bytes;
    spell_out(memory, found);
    remove_at(memory, (size_t)(found - memory->allocations));
    if (whole.base < address && !add_piece(memory, whole.base, address - whole.base)) return false;
    if (end < whole_end && !add_piece(memory, end, whole_end - end)) return false;
    mmap(host_of(memory, address), bytes, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    madvise(memory->defined + (address - memory->base), bytes, MADV_DONTNEED);
    return true;
}
