/* What a launch cost: instructions by class, memory traffic, shared-memory wavefronts; for a kernel
 * and for each of its lines. README.md says how each is counted.
 *
 * Instructions are warp instructions: one instruction executed by any number of lanes of one warp
 * counts once. */
#ifndef KCSIM_COUNTERS_H
#define KCSIM_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/findings.h"
#include "runtime/sim/text.h"

#define KCSIM_CLASSES(X)                                                                           \
    X(FMA, "fma")                                                                                  \
    X(ALU, "alu")                                                                                  \
    X(SFU, "sfu")                                                                                  \
    X(TENSOR, "tensor")                                                                            \
    X(CONVERT, "convert")                                                                          \
    X(MOVE, "move")                                                                                \
    X(LOAD_GLOBAL, "load_global")                                                                  \
    X(STORE_GLOBAL, "store_global")                                                                \
    X(LOAD_SHARED, "load_shared")                                                                  \
    X(STORE_SHARED, "store_shared")                                                                \
    X(ASYNC_COPY, "async_copy")                                                                    \
    X(ATOMIC, "atomic")                                                                            \
    X(BARRIER, "barrier")                                                                          \
    X(BRANCH, "branch")                                                                            \
    X(OTHER, "other")

typedef enum kcsim_class {
#define X(name, text) KCSIM_CLASS_##name,
    KCSIM_CLASSES(X)
#undef X
        KCSIM_CLASS_COUNT
} kcsim_class;

/* The sums that are written by name, in this order. */
#define KCSIM_SUMS(X)                                                                              \
    X(tensor_flops)                                                                                \
    X(global_load_bytes)                                                                           \
    X(global_load_sectors)                                                                         \
    X(global_load_sectors_ideal)                                                                   \
    X(global_store_bytes)                                                                          \
    X(global_store_sectors)                                                                        \
    X(global_store_sectors_ideal)                                                                  \
    X(shared_wavefronts)                                                                           \
    X(shared_bank_conflicts)                                                                       \
    X(barriers)

typedef struct kcsim_counts {
    uint64_t instructions[KCSIM_CLASS_COUNT];
    uint64_t thread_instructions; /* lanes: what `speed` is measured in */
#define X(name) uint64_t name;
    KCSIM_SUMS(X)
#undef X
} kcsim_counts;

/* What one instruction cost, as often as it was executed. Its memory traffic is in one direction. */
typedef struct kcsim_cost {
    uint64_t bytes, sectors, sectors_ideal; /* of global memory */
    uint64_t wavefronts, bank_conflicts;    /* of shared memory */
    uint64_t flops;
    bool stores;
} kcsim_cost;

typedef struct kcsim_line {
    uint32_t line;
    kcsim_class class;
    const char *instruction; /* the counters' own copy; a launch borrows it */
    uint64_t executions;
    kcsim_cost cost;
} kcsim_line;

typedef struct kcsim_kernel_counts {
    char *name;
    uint64_t launches;
    kcsim_counts counts;
    kcsim_line *lines; /* in order, each once */
    size_t line_count;
} kcsim_kernel_counts;

typedef struct kcsim_counters {
    kcsim_kernel_counts *kernels;
    size_t count, capacity;
} kcsim_counters;

void kcsim_counts_add(kcsim_counts *into, const kcsim_counts *from);
/* Adds an instruction's cost to the sums. */
void kcsim_counts_add_line(kcsim_counts *into, const kcsim_line *line);
/* Sorts `lines`, and makes one of those that are the same instruction; *count becomes less. */
void kcsim_lines_join(kcsim_line *lines, size_t *count);
/* One more launch. `lines` are sorted and joined. */
void kcsim_counters_add(kcsim_counters *counters, const char *kernel, const kcsim_counts *counts,
                        const kcsim_line *lines, size_t line_count);
/* The kernel is listed, for its findings' sake, though it never ran. */
void kcsim_counters_name(kcsim_counters *counters, const char *kernel);
void kcsim_counters_clear(kcsim_counters *counters);
void kcsim_counters_json_text(kcsim_text *text, const kcsim_counters *counters, const char *device,
                              const kcsim_finding_set *findings);
/* The same for people: a table a kernel, a row a line of PTX that moved memory, multiplied or made
 * up a hundredth of the instructions. */
void kcsim_counters_table_text(kcsim_text *text, kcsim_counters *counters, const char *device,
                               const kcsim_finding_set *findings);

#endif
