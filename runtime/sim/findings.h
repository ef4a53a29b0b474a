/* Findings: what a program did wrong, aggregated by kind, kernel, line and space.
 *
 * Each block collects into its own set; sets are merged under an order (block, then thread) that
 * does not depend on which host thread ran what, so that the result is the same for any number of
 * them. */
#ifndef KCSIM_FINDINGS_H
#define KCSIM_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/text.h"

/* In the order of the KCSIM_CHECK_* bits. */
#define KCSIM_FINDING_KINDS(X)                                                                     \
    X(OUT_OF_BOUNDS, "out_of_bounds")                                                              \
    X(MISALIGNED, "misaligned")                                                                    \
    X(UNINITIALIZED, "uninitialized")                                                              \
    X(RACE, "race")                                                                                \
    X(BARRIER_DIVERGENCE, "barrier_divergence")                                                    \
    X(DEADLOCK, "deadlock")                                                                        \
    X(PROXY_FENCE, "proxy_fence")                                                                  \
    X(ASYNC_IN_FLIGHT, "async_in_flight")                                                          \
    X(MBARRIER, "mbarrier")                                                                        \
    X(LAUNCH_LIMIT, "launch_limit")

typedef enum kcsim_finding_kind {
#define X(name, text) KCSIM_FINDING_##name,
    KCSIM_FINDING_KINDS(X)
#undef X
        KCSIM_FINDING_KIND_COUNT
} kcsim_finding_kind;

/* Bytes of the longest sentence, and of an instruction that is quoted in one. */
#define KCSIM_FINDING_TEXT 352
#define KCSIM_FINDING_QUOTE 128

typedef struct kcsim_finding {
    kcsim_finding_kind kind;
    const char *kernel, *instruction,
        *space; /* a set borrows these; the machine's own set copies them */
    const char *function; /* in which the line stands: the kernel, or what it calls; likewise */
    uint32_t line;
    uint32_t block[3], thread[3];
    uint64_t order; /* block and thread as one number: the least is the one that is shown */
    uint64_t address;
    uint32_t size;
    uint64_t count;
    char other[KCSIM_FINDING_TEXT]; /* a sentence: what was expected, who else was there */
} kcsim_finding;

typedef struct kcsim_finding_set {
    kcsim_finding *items;
    size_t count, capacity;
    bool owns_text;
} kcsim_finding_set;

const char *kcsim_finding_kind_name(kcsim_finding_kind kind);
/* Adds or merges. Runs out of memory silently: a finding may then be missing its detail, never the
 * launch its status. */
void kcsim_finding_add(kcsim_finding_set *set, const kcsim_finding *finding);
void kcsim_finding_merge(kcsim_finding_set *into, const kcsim_finding_set *from);
void kcsim_finding_sort(kcsim_finding_set *set); /* by kernel, line, kind, space */
void kcsim_finding_clear(kcsim_finding_set *set);
void kcsim_finding_json(kcsim_text *text, const kcsim_finding *finding);
/* One sentence for an error message. */
void kcsim_finding_sentence(const kcsim_finding *finding, char *out, size_t size);

#endif
