/* What the simulated devices are: one row an architecture, with the limits that programs can ask
 * for and that a launch is held to. Rows are data; nothing else in the simulator knows an
 * architecture by name. */
#ifndef KCSIM_ARCH_H
#define KCSIM_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kcsim_arch {
    const char *name;        /* "sm_90a" */
    const char *device_name; /* "NVIDIA H100 (kc simulator)" */
    int major, minor;        /* compute capability */
    char suffix;             /* 'a', or 0: the instruction sets a PTX target may ask for */
    int multiprocessors;
    int max_threads_per_block;
    int max_threads_per_multiprocessor;
    int max_blocks_per_multiprocessor;
    int registers_per_block;
    int registers_per_multiprocessor;
    int shared_per_block;          /* bytes, without opting in */
    int shared_per_block_optin;    /* bytes, after the function attribute was raised */
    int shared_per_multiprocessor; /* bytes */
    int shared_reserved_per_block; /* bytes the system keeps of each block's share */
    int constant_memory;           /* bytes */
    int clock_khz;
    int memory_clock_khz;
    int memory_bus_bits;
    int64_t l2_bytes;
    int64_t total_memory; /* bytes */
    int max_ptx_version;  /* major * 10 + minor: what this simulator's "driver" accepts */
} kcsim_arch;

/* The row for `name`, or NULL. A bare "sm_90" is answered with the sm_90 row; what a bare name
 * should mean to a user (INTERFACES: the "a" variant) is decided where names are read:
 * kcsim_arch_default_variant. */
const kcsim_arch *kcsim_arch_find(const char *name);

/* The row a user means by `name`: "sm_90" is "sm_90a" where that row exists. NULL when unknown. */
const kcsim_arch *kcsim_arch_default_variant(const char *name);

/* All rows, for listings and error texts. */
const kcsim_arch *kcsim_arch_at(size_t index); /* NULL past the end */

#endif
