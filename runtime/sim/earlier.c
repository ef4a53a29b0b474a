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

/* Whose: 63..56 the tag    55..32 the time, at most MOST_TIME    31..0 the warp, or SEVERAL */
#define MOST_TIME (((uint64_t)1 << 24) - 1)
#define SEVERAL UINT32_MAX

typedef struct table {
    _Atomic uint64_t *entries[2]; /* of reads, of writes */
    _Atomic uint64_t *owners[2];  /* of the same, if the launch hands over; made when first needed */
    uint32_t *handed;             /* by warp: up to which time it is; NULL: the launch does not */
    uint64_t warps;
    atomic_bool hands_over;       /* some did */
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

static void *reserve(size_t bytes) {
    void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? NULL : range;
}

static void drop_handed(table *of) {
    if (of->handed) munmap(of->handed, of->warps * sizeof *of->handed);
    of->handed = NULL;
}

kcsim_earlier *kcsim_earlier_create(const kcsim_memory *memory) {
    kcsim_earlier *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->base = memory->base;
    made->count = memory->span / SECTOR + 1;
    for (int i = 0; i < 2 * TABLES; i++) {
        made->tables[i / 2].pending = NONE;
        made->tables[i / 2].entries[i % 2] = reserve(bytes_of(made));
        if (made->tables[i / 2].entries[i % 2]) continue;
        kcsim_earlier_destroy(made);
        return NULL;
    }
    return made;
}

void kcsim_earlier_destroy(kcsim_earlier *earlier) {
    if (!earlier) return;
    for (int i = 0; i < 2 * TABLES; i++) {
        table *of = &earlier->tables[i / 2];
        if (of->entries[i % 2]) munmap((void *)of->entries[i % 2], bytes_of(earlier));
        if (of->owners[i % 2]) munmap((void *)of->owners[i % 2], bytes_of(earlier));
        drop_handed(of);
    }
    free(earlier);
}

static int find_table(const kcsim_earlier *earlier, uint64_t number) {
    for (int i = 0; number && i < TABLES; i++)
        if (earlier->tables[i].number == number) return i;
    return NONE;
}

static void begin_handing(const kcsim_earlier *earlier, table *now, uint64_t warps) {
    drop_handed(now);
    now->hands_over = false;
    now->warps = warps;
    for (int i = 0; warps && i < 2; i++)
        if (!now->owners[i]) now->owners[i] = reserve(bytes_of(earlier));
    if (warps && now->owners[0] && now->owners[1]) now->handed = reserve(warps * sizeof(uint32_t));
}

void kcsim_earlier_begin(kcsim_earlier *earlier, uint64_t number, const char *kernel,
                         uint64_t after, uint64_t warps) {
    earlier->now = (earlier->now + 1) % TABLES;
    table *now = &earlier->tables[earlier->now];
    now->number = number;
    now->pending = find_table(earlier, after);
    now->waited = false;
    snprintf(now->kernel, sizeof now->kernel, "%s", kernel);
    begin_handing(earlier, now, warps);
    for (int i = 0; i < TABLES; i++)
        if (i != earlier->now && earlier->tables[i].pending == earlier->now)
            earlier->tables[i].pending = NONE;
    if (now->tag++ < 255) return;
    for (int i = 0; i < 2; i++) {
        madvise((void *)now->entries[i], bytes_of(earlier), MADV_DONTNEED);
        if (now->owners[i]) madvise((void *)now->owners[i], bytes_of(earlier), MADV_DONTNEED);
    }
    now->tag = 1;
}

bool kcsim_earlier_is_open(const kcsim_earlier *earlier) {
    return earlier->tables[earlier->now].pending != NONE;
}

void kcsim_earlier_waited(kcsim_earlier *earlier) {
    earlier->tables[earlier->now].waited = true;
}

void kcsim_earlier_hand_over(kcsim_earlier *earlier, uint32_t first, const uint32_t *times,
                             uint32_t count) {
    table *now = &earlier->tables[earlier->now];
    for (uint32_t i = 0; now->handed && i < count && first + i < now->warps; i++)
        if (times[i] > now->handed[first + i]) now->handed[first + i] = times[i];
    now->hands_over = true;
}

/* One warp's last time; several warps' are not told apart. */
static void note_owner(_Atomic uint64_t *owner, uint64_t tag, const kcsim_touch *touch) {
    uint64_t old = atomic_load_explicit(owner, memory_order_relaxed), fresh;
    do {
        uint64_t time = touch->time < MOST_TIME ? touch->time : MOST_TIME;
        uint32_t warp = touch->warp;
        if (old >> 56 == tag) {
            if ((uint32_t)old != warp) warp = SEVERAL;
            if ((old >> 32 & MOST_TIME) > time) time = old >> 32 & MOST_TIME;
        }
        fresh = tag << 56 | time << 32 | warp;
    } while (fresh != old && !atomic_compare_exchange_weak(owner, &old, fresh));
}

/* Whether what was done to a sector comes before the start of the launch behind. */
static bool was_handed_over(const table *past, bool writes, uint64_t index) {
    if (!past->handed || !past->hands_over) return false;
    uint64_t owner = atomic_load_explicit(&past->owners[writes][index], memory_order_relaxed);
    uint32_t warp = (uint32_t)owner;
    if (owner >> 56 != past->tag) return false;
    if (warp == SEVERAL) return true; /* perhaps: nothing is said */
    return warp < past->warps && (owner >> 32 & MOST_TIME) <= past->handed[warp];
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
        uint32_t bytes = bytes_in(touch, at);
        do fresh = joined(old, now->tag, bytes, touch);
        while (fresh != old && !atomic_compare_exchange_weak(entry, &old, fresh));
        if (now->handed)
            note_owner(&now->owners[touch->writes][(at - earlier->base) / SECTOR], now->tag, touch);
    }
}

/* Two strong accesses are no race; neither are two reads. */
static bool meets(const kcsim_earlier *earlier, const table *past, bool writes,
                  const kcsim_touch *touch, kcsim_trace *found) {
    uint64_t end = touch->address + touch->size;
    for (uint64_t at = touch->address / SECTOR * SECTOR; at < end; at += SECTOR) {
        uint64_t index = (at - earlier->base) / SECTOR;
        uint64_t entry = atomic_load_explicit(&past->entries[writes][index], memory_order_relaxed);
        if (was_handed_over(past, writes, index)) continue;
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
