/* The simulated machine, as the driver interfaces above it see it: memory, modules, launches,
 * findings, counters.
 *
 * One machine is one device. All functions may be called from several threads: memory and module
 * functions lock the machine, launches run one at a time. Nothing here prints, exits or waits for
 * the outside. Strings that are returned as `char *` are malloc'd and belong to the caller.
 *
 * The rule of findings: what a program does wrong while it runs is a finding (kind, kernel, line,
 * ...) recorded in the machine. With KCSIM_ON_FINDING_ERROR the launch that made it answers
 * KCSIM_FAULT; with KCSIM_ON_FINDING_REPORT it goes on (a bad access is skipped, a bad load reads
 * zero) and answers KCSIM_OK, except when nothing can go on (deadlock, trap), which is always
 * KCSIM_FAULT. */
#ifndef KCSIM_MACHINE_H
#define KCSIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/sim/arch.h"

typedef struct kcsim_machine kcsim_machine;
typedef struct kcsim_module kcsim_module;
typedef struct kcsim_function kcsim_function;

typedef enum kcsim_status {
    KCSIM_OK = 0,
    KCSIM_INVALID,      /* an argument makes no sense (size 0, unknown address, parameter bytes of a
                           wrong size) */
    KCSIM_NO_MEMORY,    /* over the machine's memory, or the host's */
    KCSIM_INVALID_PTX,  /* does not parse, or an instruction is unknown: the log names the line */
    KCSIM_WRONG_TARGET, /* .target newer than the device, or a suffix the device does not have */
    KCSIM_PTX_VERSION,  /* .version newer than the simulator knows */
    KCSIM_NOT_PTX,      /* an ELF or fat binary image, nothing this machine runs */
    KCSIM_NOT_FOUND,    /* no such function or variable */
    KCSIM_LAUNCH_LIMIT, /* grid, block, shared memory or registers over a limit; the finding says
                           which */
    KCSIM_FAULT         /* the launch made a finding, trapped or deadlocked */
} kcsim_status;

/* A short name for messages: "invalid PTX". Never NULL. */
const char *kcsim_status_text(kcsim_status status);

/* ---- checks: a bit each; the name in KCSIM_CHECKS is the finding's kind ---------------------- */
enum {
    KCSIM_CHECK_OUT_OF_BOUNDS = 1u << 0,
    KCSIM_CHECK_MISALIGNED = 1u << 1,
    KCSIM_CHECK_UNINITIALIZED = 1u << 2,
    KCSIM_CHECK_RACE = 1u << 3,
    KCSIM_CHECK_BARRIER_DIVERGENCE = 1u << 4,
    KCSIM_CHECK_DEADLOCK =
        1u
        << 5, /* turning it off changes nothing but the finding: a deadlock still ends the launch */
    KCSIM_CHECK_PROXY_FENCE = 1u << 6,
    KCSIM_CHECK_ASYNC_IN_FLIGHT = 1u << 7,
    KCSIM_CHECK_MBARRIER = 1u << 8,
    KCSIM_CHECK_LAUNCH_LIMIT = 1u << 9,
    KCSIM_CHECK_ALL = (1u << 10) - 1
};

/* Parses "all", "none" (or nothing), each alone, or names separated by commas. False with *bad
 * pointing at the first that is none of them. */
bool kcsim_checks_parse(const char *text, uint32_t *mask, const char **bad);

typedef enum kcsim_on_finding { KCSIM_ON_FINDING_ERROR, KCSIM_ON_FINDING_REPORT } kcsim_on_finding;

typedef struct kcsim_options {
    uint64_t seed;   /* of the scheduler: which interleaving is run; 0: the tamest */
    uint32_t checks; /* KCSIM_CHECK_* bits */
    kcsim_on_finding on_finding;
    int64_t memory;      /* bytes on the card; 0: the architecture's */
    int multiprocessors; /* 0: the architecture's */
    int host_threads;    /* 0: as many as there are cores */
} kcsim_options;

/* Seed 0, all checks, error, everything else the architecture's. */
kcsim_options kcsim_options_default(void);

/* NULL when the host has no address space left. `arch` is borrowed (a row of the table). */
kcsim_machine *kcsim_machine_create(const kcsim_arch *arch, const kcsim_options *options);
void kcsim_machine_destroy(kcsim_machine *machine); /* modules and memory too; NULL is fine */
const kcsim_arch *kcsim_machine_arch(const kcsim_machine *machine);
const kcsim_options *kcsim_machine_options(const kcsim_machine *machine); /* zeros filled in */
/* Of modules that are loaded from now on, how much stack a thread has for functions that recurse and
 * for alloca (16 KiB at first; never less, at most 256 KiB); how much memory kernels may have from
 * malloc (8 MiB at first). */
void kcsim_machine_set_stack(kcsim_machine *machine, size_t bytes);
void kcsim_machine_set_heap(kcsim_machine *machine, size_t bytes);
/* Who gets what kernels print, when a launch ends; nobody at first. It must not call the machine. */
typedef void (*kcsim_output)(void *context, bool is_error, const char *text, size_t size);
void kcsim_machine_set_output(kcsim_machine *machine, kcsim_output output, void *context);
/* The scheduler's seed of launches that begin from now on. */
void kcsim_machine_set_seed(kcsim_machine *machine, uint64_t seed);

/* ---- global memory ------------------------------------------------------------------------------
 * Addresses are at least 256-byte aligned, never 0, never reused while anything could still hold
 * them, and have guard zones on both sides. Memory is lazy: pages no one touches cost nothing.
 * Fresh memory is undefined. */
kcsim_status kcsim_mem_alloc(kcsim_machine *machine, size_t bytes, uint64_t *address);
/* Memory of the host that the device reaches too, at the same address. The host writes without
 * telling, so all of it counts as defined. The card's size does not limit it. */
kcsim_status kcsim_mem_alloc_shared(kcsim_machine *machine, size_t bytes, uint64_t *address);
bool kcsim_mem_is_shared(kcsim_machine *machine, uint64_t address);
kcsim_status kcsim_mem_free(kcsim_machine *machine,
                            uint64_t address); /* KCSIM_INVALID unless the base of a live one */
/* Addresses and memory apart. A range is reserved; memory that has no address of its own (it counts
 * on the card) is mapped into it. Sizes and addresses are multiples of 4096. Pieces that adjoin are
 * one allocation to everything else. */
typedef struct kcsim_backing kcsim_backing;
kcsim_status kcsim_mem_reserve(kcsim_machine *machine, size_t bytes, size_t align,
                               uint64_t *address);
kcsim_status kcsim_mem_unreserve(kcsim_machine *machine, uint64_t address);
kcsim_status kcsim_mem_create(kcsim_machine *machine, size_t bytes, kcsim_backing **out);
void kcsim_mem_destroy(kcsim_machine *machine, kcsim_backing *backing); /* mapped nowhere */
kcsim_status kcsim_mem_map(kcsim_machine *machine, uint64_t address, kcsim_backing *backing);
kcsim_status kcsim_mem_unmap(kcsim_machine *machine, uint64_t address, size_t bytes);
/* The live allocation that `address` lies in; KCSIM_INVALID when there is none. Out pointers may be
 * NULL. */
kcsim_status kcsim_mem_range(kcsim_machine *machine, uint64_t address, uint64_t *base,
                             size_t *bytes);
void kcsim_mem_info(kcsim_machine *machine, size_t *free_bytes, size_t *total_bytes);

/* Host pointer to [address, address + bytes), or NULL unless the whole range lies in one live
 * allocation (or module variable). For copies: after writing through it call kcsim_mem_written. */
void *kcsim_mem_host(kcsim_machine *machine, uint64_t address, size_t bytes);
void kcsim_mem_written(kcsim_machine *machine, uint64_t address, size_t bytes);
/* True when every byte is defined. */
bool kcsim_mem_defined(kcsim_machine *machine, uint64_t address, size_t bytes);
/* For device-to-device copies: definedness goes along with the bytes (call after the memmove;
 * ranges may overlap). */
void kcsim_mem_copy_defined(kcsim_machine *machine, uint64_t to, uint64_t from, size_t bytes);

/* ---- modules --------------------------------------------------------------------------------- */
/* `ptx` need not end in NUL; a NUL ends it. On anything but KCSIM_OK *out is NULL and `log` (may be
 * NULL) holds one line: "line 12: unknown instruction 'foo.bar'". */
kcsim_status kcsim_module_load(kcsim_machine *machine, const char *ptx, size_t size, char *log,
                               size_t log_size, kcsim_module **out);
void kcsim_module_unload(kcsim_machine *machine, kcsim_module *module);
size_t kcsim_module_function_count(const kcsim_module *module); /* kernels only */
const kcsim_function *kcsim_module_function_at(const kcsim_module *module, size_t index);
kcsim_status kcsim_module_find_function(const kcsim_module *module, const char *name,
                                        const kcsim_function **out);
/* A .global or .const variable. */
kcsim_status kcsim_module_find_global(const kcsim_module *module, const char *name,
                                      uint64_t *address, size_t *bytes);

typedef struct kcsim_param {
    size_t offset, size, align; /* in the parameter block */
} kcsim_param;

typedef struct kcsim_function_info {
    const char *name; /* owned by the module */
    size_t param_count;
    const kcsim_param *params;
    size_t param_bytes;   /* offset + size of the last one */
    int max_threads;      /* per block: .reqntid, else .maxntid, else 1024 */
    int reqntid[3];       /* 0s when the kernel asks for none */
    int cluster[3];       /* 0s when none */
    size_t static_shared; /* bytes */
    size_t local_bytes;   /* per thread */
    size_t const_bytes;
    int registers;            /* an estimate from liveness, per thread */
    int ptx_version;          /* 87 for 8.7 */
    int target;               /* 90 for sm_90a */
    int max_cluster;          /* .maxclusterrank; 0 when none */
    bool cluster_must_be_set; /* .explicitcluster without a size */
    bool grid_of_clusters;    /* .blocksareclusters: a launch's grid counts clusters, its block is
                                 reqntid, or 1 */
} kcsim_function_info;

kcsim_function_info kcsim_function_describe(const kcsim_function *function);

/* ---- launches -------------------------------------------------------------------------------- */
/* Runs the whole grid and returns when it is done. `params` is the packed parameter block
 * (params[i].offset); `param_bytes` must be at least info.param_bytes. Shared memory above the
 * default limit must have been allowed by the caller (`shared_limit`: the function attribute
 * MAX_DYNAMIC_SHARED_SIZE_BYTES; 0 means the default limit). */
typedef struct kcsim_launch_config {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0s: the kernel's own, else none */
    size_t dynamic_shared;
    size_t shared_limit;
    bool big_clusters; /* the function attribute NON_PORTABLE_CLUSTER_SIZE_ALLOWED: up to 16 blocks
                        */
    bool cooperative;  /* all blocks are resident at once, or KCSIM_LAUNCH_LIMIT; grid barriers */
    uint64_t after;    /* the launch whose end it need not wait for (kcsim_launch_number); 0: none.
                          It runs behind that all the same; what it uses of that launch's before it
                          waits (griddepcontrol.wait) is a finding. */
} kcsim_launch_config;

kcsim_status kcsim_launch(kcsim_machine *machine, const kcsim_function *function,
                          const kcsim_launch_config *config, const void *params,
                          size_t param_bytes);
/* Of the last launch that began: from 1. */
uint64_t kcsim_launch_number(const kcsim_machine *machine);
/* One sentence on the last launch that did not answer KCSIM_OK; "" when there was none. Valid until
 * the next launch. */
const char *kcsim_last_fault(const kcsim_machine *machine);

/* The most blocks of `function` one multiprocessor holds at once. */
int kcsim_occupancy(const kcsim_machine *machine, const kcsim_function *function, int block_threads,
                    size_t dynamic_shared);

/* ---- what was seen --------------------------------------------------------------------------- */
/* Findings are aggregated: one record per kind, kernel, line and space, with a count; the block and
 * thread are those of the first in (block, thread) order. Order is by kernel, line, kind. */
size_t kcsim_finding_count(kcsim_machine *machine);
char *kcsim_findings_json(kcsim_machine *machine); /* [ {kind, kernel, ...}, ... ] */
char *kcsim_counters_json(kcsim_machine *machine); /* {"device": ..., "kernels": [...]} */
char *kcsim_counters_table(kcsim_machine *machine); /* the same as text for people */
void kcsim_reset_counters(kcsim_machine *machine); /* counters and findings */

#endif
