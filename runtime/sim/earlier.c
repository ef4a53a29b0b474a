#include "runtime/sim/earlier.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TABLES 3 /* of the launch, of its predecessor, of that one's */
#define SECTOR 32u
#define NONE (-1)

/* An entry: 63..56 the table's tag    54 strong    53..32 line    31..0 bytes */
#define STRONG ((uint64_t)1 << 54)
#define LINE_MOST (((uint64_t)1 << 22) - 1)

typedef struct table {
    _Atomic uint64_t *entries[2]; /* of reads, of writes */
    uint64_t tag;                 /* 1 to 255; others are of launches long gone */
    uint64_t number;              /* 0: no launch */
    int pending;                  /* the table of the launch that this one did not wait for */
    atomic_bool waited;
    char kernel[80];
} table;

struct kcsim_earlier {
    uint64_t base, count;
    table tables[TABLES];
    int now;
};

static size_t bytes_of(const kcsim_earlier *earlier) {
    return earlier->count * sizeof(uint64_t);
}

kcsim_earlier *kcsim_earlier_create(const kcsim_memory *memory) {
    kcsim_earlier *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->base = memory->base;
    made->count = memory->span / SECTOR + 1;
    for (int i = 0; i < 2 * TABLES; i++) {
        void *range = mmap(NULL, bytes_of(made), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED) {
            kcsim_earlier_destroy(made);
            return NULL;
        }
        made->tables[i / 2].entries[i % 2] = range;
        made->tables[i / 2].pending = NONE;
    }
    return made;
}

void kcsim_earlier_destroy(kcsim_earlier *earlier) {
    if (!earlier) return;
    for (int i = 0; i < 2 * TABLES; i++)
        if (earlier->tables[i / 2].entries[i % 2])
            munmap((void *)earlier->tables[i / 2].entries[i % 2], bytes_of(earlier));
    free(earlier);
}

static int find_table(const kcsim_earlier *earlier, uint64_t number) {
    for (int i = 0; number && i < TABLES; i++)
        if (earlier->tables[i].number == number) return i;
    return NONE;
}

void kcsim_earlier_begin(kcsim_earlier *earlier, uint64_t number, const char *kernel,
                         uint64_t after) {
    earlier->now = (earlier->now + 1) % TABLES;
    table *now = &earlier->tables[earlier->now];
    now->number = number;
    now->pending = find_table(earlier, after);
    now->waited = false;
    snprintf(now->kernel, sizeof now->kernel, "%s", kernel);
    for (int i = 0; i < TABLES; i++)
        if (i != earlier->now && earlier->tables[i].pending == earlier->now)
            earlier->tables[i].pending = NONE;
    if (now->tag++ < 255) return;
    for (int i = 0; i < 2; i++)
        madvise((void *)now->entries[i], bytes_of(earlier), MADV_DONTNEED);
    now->tag = 1;
}

bool kcsim_earlier_is_open(const kcsim_earlier *earlier) {
    return earlier->tables[earlier->now].pending != NONE;
}

void kcsim_earlier_waited(kcsim_earlier *earlier) {
    earlier->tables[earlier->now].waited = true;
}

/* The bytes of the sector from `start` on that are touched. */
static uint32_t bytes_in(const kcsim_touch *touch, uint64_t start) {
    uint64_t from = touch->address > start ? touch->address - start : 0;
    uint64_t end = touch->address + touch->size - start;
    uint32_t below = end < SECTOR ? (1u << end) - 1 : UINT32_MAX;
    return below & UINT32_MAX << from;
}

static uint64_t joined(uint64_t old, uint64_t tag, uint32_t bytes, const kcsim_touch *touch) {
    uint64_t line = touch->line < LINE_MOST ? touch->line : LINE_MOST;
    uint64_t strong = touch->strong ? STRONG : 0;
    if (old >> 56 != tag) return tag << 56 | strong | line << 32 | bytes;
    uint64_t past = old >> 32 & LINE_MOST;
    return tag << 56 | (old & strong) | (past < line ? past : line) << 32 | (uint32_t)old | bytes;
}

void kcsim_earlier_note(kcsim_earlier *earlier, const kcsim_touch *touch) {
    table *now = &earlier->tables[earlier->now];
    uint64_t end = touch->address + touch->size;
    for (uint64_t at = touch->address / SECTOR * SECTOR; at < end; at += SECTOR) {
        _Atomic uint64_t *entry = &now->entries[touch->writes][(at - earlier->base) / SECTOR];
        uint64_t old = atomic_load_explicit(entry, memory_order_relaxed), fresh;
        do fresh = joined(old, now->tag, bytes_in(touch, at), touch);
        while (fresh != old && !atomic_compare_exchange_weak(entry, &old, fresh));
    }
}

/* Two strong accesses are no race; neither are two reads. */
static bool meets(const kcsim_earlier *earlier, const table *past, bool writes,
                  const kcsim_touch *touch, kcsim_trace *found) {
    uint64_t end = touch->address + touch->size;
    for (uint64_t at = touch->address / SECTOR * SECTOR; at < end; at += SECTOR) {
        uint64_t entry = atomic_load_explicit(&past->entries[writes][(at - earlier->base) / SECTOR],
                                              memory_order_relaxed);
        if (entry >> 56 != past->tag || !((uint32_t)entry & bytes_in(touch, at))) continue;
        if (touch->strong && entry & STRONG) {
            found->heard |= writes;
            continue;
        }
        found->kernel = past->kernel;
        found->line = (uint32_t)(entry >> 32 & LINE_MOST);
        found->wrote = writes;
        return true;
    }
    return false;
}

bool kcsim_earlier_find(const kcsim_earlier *earlier, const kcsim_touch *touch, bool waited,
                        kcsim_trace *found) {
    int at = earlier->tables[earlier->now].pending;
    *found = (kcsim_trace){.kernel = ""};
    while (at != NONE && at != earlier->now) {
        const table *past = &earlier->tables[at];
        bool met = !waited && (meets(earlier, past, true, touch, found) ||
                               (touch->writes && meets(earlier, past, false, touch, found)));
        if (met) return true;
        /* The predecessor's end is that of all it waited for. */
        if (waited && past->waited) return false;
        waited = false;
        found->behind = true;
        at = past->pending;
    }
    return false;
}
