/* Words of shared memory through which warps order each other: what an atomic or a strong store of
 * one releases, an atomic or a strong load of another acquires. An atomic adds to what was released
 * before it (a release sequence), a store replaces it. Each such word has a clock (order.c). */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/talk.h"

struct kcsim_flags {
    uint64_t words;
    uint32_t *index;  /* by word: which clock, from 1; 0: none yet */
    uint32_t *clocks; /* clock_count numbers each */
    uint32_t count, capacity, clock_count;
};

kcsim_flags *kcsim_flags_create(uint64_t shared_bytes, uint32_t clock_count) {
    kcsim_flags *flags = calloc(1, sizeof *flags);
    if (!flags) return NULL;
    flags->words = shared_bytes / 4 + 1;
    flags->clock_count = clock_count;
    flags->index = calloc(flags->words, sizeof *flags->index);
    if (flags->index) return flags;
    free(flags);
    return NULL;
}

void kcsim_flags_destroy(kcsim_flags *flags) {
    if (!flags) return;
    free(flags->index);
    free(flags->clocks);
    free(flags);
}

void kcsim_flags_reset(kcsim_flags *flags) {
    if (!flags || !flags->count) return;
    memset(flags->index, 0, flags->words * sizeof *flags->index);
    flags->count = 0;
}

/* NULL when the host is out of memory. */
static uint32_t *clock_of(kcsim_flags *flags, uint64_t address) {
    uint32_t *index = &flags->index[address / 4], count = flags->clock_count;
    if (*index) return flags->clocks + (size_t)(*index - 1) * count;
    if (flags->count == flags->capacity) {
        uint32_t wanted = flags->capacity ? flags->capacity * 2 : 16;
        uint32_t *grown = realloc(flags->clocks, (size_t)wanted * count * sizeof *grown);
        if (!grown) return NULL;
        flags->clocks = grown;
        flags->capacity = wanted;
    }
    *index = ++flags->count;
    uint32_t *clock = flags->clocks + (size_t)(*index - 1) * count;
    memset(clock, 0, count * sizeof *clock);
    return clock;
}

void kcsim_flags_pass(kcsim_access *access) {
    kcsim_flags *flags = access->home->flags;
    kcsim_warp *warp = access->warp;
    ptx_modifier semantics = ptx_has(access->insn->source, PTX_GROUP_SEMANTICS);
    if (access->home != warp->block &&
        ptx_has(access->insn->source, PTX_GROUP_SCOPE) == PTX_M_CTA)
        return; /* the block whose word it is lies outside the scope */
    bool writes = access->kind != KCSIM_ACCESS_READ, reads = access->kind != KCSIM_ACCESS_WRITE;
    bool releases = semantics == PTX_M_RELEASE || semantics == PTX_M_ACQ_REL;
    /* Before its first fence a warp has nothing to tell by relaxed accesses. */
    bool tells = writes && (releases || warp->fenced[warp->id]);
    bool acquires = semantics == PTX_M_ACQUIRE || semantics == PTX_M_ACQ_REL;
    if (writes && releases) kcsim_lanes_release(warp, access->mask);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];
        if (!flags->index[address / 4] && !tells) continue;
        uint32_t *clock = clock_of(flags, address);
        if (!clock) {
            warp->block->worker->failed = true;
            return;
        }
        if (reads) kcsim_order_acquire(warp, clock, !acquires);
        if (reads && warp->block->worker->talk) kcsim_talk_share(warp);
        if (writes && !reads) memset(clock, 0, flags->clock_count * sizeof *clock);
        const uint32_t *released = releases ? warp->time : warp->fenced;
        if (writes) kcsim_order_join(clock, released, flags->clock_count);
    }
    if (writes && releases) kcsim_order_tick(warp);
}
