/* Where the pieces of a matrix in shared memory lie: wgmma.h.
 *
 * A matrix in shared memory is told by a descriptor (PTX ISA, "Matrix Descriptor"): bits 0-13 the
 * start address, 16-29 the leading dimension byte offset, 32-45 the stride dimension byte offset,
 * all of them in units of 16 bytes; 49-51 the base offset; 62-63 the swizzle: 0 none, 1 of 128
 * bytes, 2 of 64, 3 of 32. A line is as long as the swizzle (16 bytes without one), eight lines are
 * a core. K is 32 bytes, `outer` is m or n; P elements are 16 bytes, W pieces of 16 bytes a line:
 *
 *     K contiguous      lines are outer = 0..7, stride offset to the next eight;
 *                       bytes 16-31 of K follow, without swizzle a leading offset away
 *     outer contiguous  lines are k = 0..7; a line holds W * P of outer.
 *                       Swizzled: leading offset to the next W * P of outer, stride to the
 *                       next 8 k. Without: stride offset to the next P of outer, leading to
 *                       the next 8 k
 *
 * Swizzling exchanges pieces of a line: bits 4.. of the address are xored with bits 7.., as many as
 * the swizzle has; the base offset is taken off those first.
 *
 * A loop's descriptors differ by where they start; those that start at the same place within 1024
 * bytes, after which all swizzles repeat, have one plan. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/wgmma.h"

#define PERIOD 1024u
#define PIECE KCSIM_WGMMA_PIECE

typedef struct layout {
    uint32_t start, leading, stride, base, pieces; /* of a line */
} layout;

static layout layout_of(uint64_t bits) {
    static const uint8_t pieces[] = {1, 8, 4, 2};
    return (layout){.start = ((uint32_t)(bits & 0x3fff) << 4) % PERIOD,
                    .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                    .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                    .base = (uint32_t)(bits >> 49 & 7),
                    .pieces = pieces[bits >> 62]};
}

static inline uint32_t swizzled(const layout *at, uint32_t offset) {
    uint32_t address = at->start + offset;
    return address ^ ((((address >> 7) - at->base) & (at->pieces - 1)) << 4);
}

/* The two pieces of each row. */
static void place_rows(kcsim_wgmma_plan *plan, const layout *at) {
    uint32_t line = at->pieces * PIECE, second = at->pieces == 1 ? at->leading : PIECE;
    for (uint32_t i = 0; i < plan->key.rows; i++) {
        uint32_t row = plan->key.first + i, offset = row % 8 * line + row / 8 * at->stride;
        plan->addresses[2 * i] = swizzled(at, offset);
        plan->addresses[2 * i + 1] = swizzled(at, offset + second);
    }
    plan->count = 2 * plan->key.rows;
}

/* Of each of k lines those of `across` pieces, eight rows each. */
static void place_lines(kcsim_wgmma_plan *plan, const layout *at) {
    uint32_t line = at->pieces * PIECE, first = plan->key.first / 8;
    plan->count = 0;
    for (uint32_t i = 0; i < plan->key.lines; i++)
        for (uint32_t piece = first; piece < first + plan->across; piece++) {
            uint32_t offset =
                at->pieces == 1
                    ? piece * at->stride + i % 8 * PIECE + i / 8 * at->leading
                    : piece % at->pieces * PIECE + piece / at->pieces * at->leading + i % 8 * line +
                          i / 8 * at->stride;
            plan->addresses[plan->count++] = swizzled(at, offset);
        }
}

static int compare(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void find_runs(kcsim_wgmma_plan *plan) {
    uint32_t sorted[KCSIM_WGMMA_PIECES], count = 0;
    memcpy(sorted, plan->addresses, plan->count * sizeof *sorted);
    qsort(sorted, plan->count, sizeof *sorted, compare);
    for (uint32_t i = 0; i < plan->count; i++) {
        kcsim_stretch *last = count ? &plan->runs[count - 1] : NULL;
        if (last && sorted[i] <= last->at + last->size)
            last->size = sorted[i] + PIECE - last->at;
        else plan->runs[count++] = (kcsim_stretch){.at = sorted[i], .size = PIECE};
    }
    plan->run_count = count;
    plan->end = sorted[plan->count - 1] + PIECE;
}

/* Eight lines of 16 bytes are one wavefront where they lie in different banks. */
static void count_core(kcsim_wgmma_plan *plan, const uint32_t *addresses, uint32_t step) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t same = 1;
        for (uint32_t n = 0; n < i; n++) {
            uint32_t apart = addresses[n * step] ^ addresses[i * step];
            same += apart && apart / PIECE % 8 == 0;
        }
        most = same > most ? same : most;
    }
    plan->wavefronts += most;
    plan->bank_conflicts += most - 1;
}

static void count_cores(kcsim_wgmma_plan *plan) {
    uint32_t step = plan->key.lines ? plan->across : 2;
    plan->wavefronts = plan->bank_conflicts = 0;
    for (uint32_t i = 0; i < plan->count; i += 8 * step)
        for (uint32_t piece = 0; piece < step; piece++)
            count_core(plan, plan->addresses + i + piece, step);
}

static bool same_key(const kcsim_wgmma_key *a, const kcsim_wgmma_key *b) {
    return a->bits == b->bits && a->first == b->first && a->rows == b->rows &&
           a->lines == b->lines;
}

const kcsim_wgmma_plan *kcsim_wgmma_plan_of(kcsim_wgmma_plan *plans, uint64_t bits, uint32_t first,
                                            uint32_t rows, uint32_t lines) {
    kcsim_wgmma_key key = {
        .bits = bits & ~(uint64_t)(0x3fff & ~(PERIOD / PIECE - 1)), .first = first,
        .rows = rows, .lines = lines};
    uint64_t hash = (key.bits ^ first * 0x10001u ^ (uint64_t)rows << 20) * 0x9e3779b97f4a7c15u;
    kcsim_wgmma_plan *plan = &plans[hash >> 32 & (KCSIM_WGMMA_PLANS - 1)];
    if (same_key(&plan->key, &key)) return plan;
    layout at = layout_of(bits);
    plan->key = key;
    plan->across = rows / 8;
    if (lines) place_lines(plan, &at);
    else place_rows(plan, &at);
    find_runs(plan);
    count_cores(plan);
    return plan;
}
