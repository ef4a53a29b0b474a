/* One memory access of a warp: where each lane's bytes are on the host, after every check. */
#ifndef KCSIM_ACCESS_H
#define KCSIM_ACCESS_H

#include "runtime/sim/cuda/exec.h"

typedef struct kcsim_access {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    ptx_space space;   /* never generic */
    kcsim_block *home; /* whose shared memory it is */
    uint32_t mask;     /* lanes whose access is good */
    uint32_t size;     /* bytes of a lane */
    kcsim_access_kind kind;
    uint64_t address[KCSIM_LANES]; /* in its space; lanes that are off repeat one that is on */
    kcsim_span span;               /* of the addresses */
    /* A lane's bytes lie at origin + address + lane * stride on the host, its definedness at marks
     * + the same. */
    uint8_t *origin, *marks;
    uint64_t stride;
    uint32_t shadowed; /* lanes whose bytes may be undefined, or have to be marked */
} kcsim_access;

static inline uint8_t *kcsim_host(const kcsim_access *access, uint32_t lane) {
    return access->origin + access->address[lane] + lane * access->stride;
}

static inline uint8_t *kcsim_marks(const kcsim_access *access, uint32_t lane) {
    return access->marks + access->address[lane] + lane * access->stride;
}

/* Addresses of `ref` + offset, a sum of as many bits as the register (of `width` bytes) has. Lanes
 * whose address is undefined are reported and left out of the mask that is returned. */
uint32_t kcsim_access_addresses(kcsim_warp *warp, const kcsim_insn *insn, kcsim_ref ref,
                                unsigned width, int64_t offset, uint32_t mask, uint64_t *addresses);
/* Splits lanes by space when `access->space` is generic: takes those of one space out of *rest,
 * with addresses of that space, into access->mask. Call until *rest is 0. */
void kcsim_access_take_space(kcsim_access *access, ptx_space space, const uint64_t *addresses,
                             uint32_t *rest);
/* Alignment, bounds, host pointers; reports and drops the lanes that fail. */
void kcsim_access_locate(kcsim_access *access);
/* Reports these lanes of it; `text`: what is wrong, or the access that they meet. */
void kcsim_access_report(const kcsim_access *access, kcsim_finding_kind kind, uint32_t lanes,
                         const char *text);
/* The race rules of shared memory, and between blocks of global memory, and copies in flight, for
 * lanes of access->mask. */
void kcsim_access_race(kcsim_access *access);
/* Of these, what is looked at between blocks that do not talk; for accesses of global memory. */
void kcsim_access_note_conflicts(const kcsim_access *access);
/* early.c: what launches that may not have ended do with these bytes of global memory. */
void kcsim_early_access(kcsim_access *access);
/* race.c: the lanes whose access another warp's conflicts with, and one such warp. */
uint32_t kcsim_race_lanes(kcsim_race *race, const kcsim_access *access, kcsim_racer *other);
/* A strong access to shared memory releases or acquires. Only for blocks that have flags. */
void kcsim_flags_pass(kcsim_access *access); /* flags.c */
/* Remembers what the warp looked at, in case it waits. While it is watched for that, global memory
 * counts more than shared memory, by which others hear of it. */
static inline void kcsim_access_look(const kcsim_access *access) {
    const kcsim_warp *warp = access->warp;
    if (!access->mask) return;
    if (warp->clock_stands && warp->look.insn && warp->look.space == PTX_SPACE_GLOBAL &&
        access->space != PTX_SPACE_GLOBAL)
        return;
    access->warp->look =
        (struct kcsim_look){.insn = access->insn,
                            .address = access->address[__builtin_ctz(access->mask)],
                            .space = access->space,
                            .size = access->size,
                            .lanes = access->mask};
}
/* Counts sectors or wavefronts. */
void kcsim_access_count(kcsim_access *access); /* traffic.c */
/* ldmatrix and stmatrix: the first `rows` lanes each point at a row in shared memory; located, checked
 * and counted. False when some row cannot be reached. */
bool kcsim_access_rows(kcsim_access *access, uint32_t rows, uint32_t mask);
/* One request that reads global memory, of as many bytes in each lane as `sizes` says. */
void kcsim_access_count_ranges(const kcsim_warp *warp, const uint64_t *addresses,
                               const uint32_t *sizes, uint32_t mask);

#endif
