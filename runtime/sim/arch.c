#include "runtime/sim/arch.h"

#include <stdio.h>
#include <string.h>

#define KIB 1024
#define GIB ((int64_t)1 << 30)
#define MIB ((int64_t)1 << 20)

/* The PTX that the drivers of CUDA 13.0 accept. */
#define NEWEST_PTX 90

/* Everything a row of one generation shares: threads and blocks an SM holds, registers, shared
 * memory (default, opt-in, an SM), what the system keeps of it, constant memory. */
#define LIMITS(threads, blocks, optin, shared, reserved)                                           \
    .max_threads_per_block = 1024, .max_threads_per_multiprocessor = (threads),                    \
    .max_blocks_per_multiprocessor = (blocks), .registers_per_block = 65536,                       \
    .registers_per_multiprocessor = 65536, .shared_per_block = 48 * KIB,                           \
    .shared_per_block_optin = (optin)*KIB, .shared_per_multiprocessor = (shared)*KIB,              \
    .shared_reserved_per_block = (reserved), .constant_memory = 64 * KIB,                          \
    .max_ptx_version = NEWEST_PTX

#define TURING LIMITS(1024, 16, 64, 64, 0)
#define AMPERE LIMITS(2048, 32, 163, 164, 1024)
#define AMPERE_RTX LIMITS(1536, 16, 99, 100, 1024)
#define ADA LIMITS(1536, 24, 99, 100, 1024)
#define HOPPER LIMITS(2048, 32, 227, 228, 1024)
#define BLACKWELL LIMITS(2048, 32, 227, 228, 1024)
#define BLACKWELL_RTX LIMITS(1536, 24, 99, 100, 1024)

#define ROW(NAME, SUFFIX, MAJOR, MINOR, CARD, SMS, CLOCK, MEMCLOCK, BUS, L2, MEMORY, GENERATION)   \
    {                                                                                              \
        .name = NAME, .suffix = SUFFIX, .major = MAJOR, .minor = MINOR,                            \
        .device_name = "NVIDIA " CARD " (kc simulator)", .multiprocessors = SMS,                   \
        .clock_khz = CLOCK, .memory_clock_khz = MEMCLOCK, .memory_bus_bits = BUS,                  \
        .l2_bytes = (L2)*MIB, .total_memory = (MEMORY)*GIB, GENERATION                             \
    }

static const kcsim_arch rows[] = {
    ROW("sm_75", 0, 7, 5, "T4", 40, 1590000, 5001000, 256, 4, 16, TURING),
    ROW("sm_80", 0, 8, 0, "A100", 108, 1410000, 1512000, 5120, 40, 80, AMPERE),
    ROW("sm_86", 0, 8, 6, "A10", 72, 1695000, 6251000, 384, 6, 24, AMPERE_RTX),
    ROW("sm_87", 0, 8, 7, "Orin", 16, 1300000, 3200000, 256, 4, 32,
        LIMITS(1536, 16, 163, 164, 1024)),
    ROW("sm_89", 0, 8, 9, "L4", 58, 2040000, 6251000, 192, 48, 24, ADA),
    ROW("sm_90", 0, 9, 0, "H100", 132, 1980000, 2619000, 5120, 50, 80, HOPPER),
    ROW("sm_90a", 'a', 9, 0, "H100", 132, 1980000, 2619000, 5120, 50, 80, HOPPER),
    ROW("sm_100", 0, 10, 0, "B200", 148, 1965000, 3996000, 8192, 126, 180, BLACKWELL),
    ROW("sm_100a", 'a', 10, 0, "B200", 148, 1965000, 3996000, 8192, 126, 180, BLACKWELL),
    ROW("sm_120", 0, 12, 0, "RTX 5090", 170, 2407000, 14001000, 512, 96, 32, BLACKWELL_RTX),
    ROW("sm_120a", 'a', 12, 0, "RTX 5090", 170, 2407000, 14001000, 512, 96, 32, BLACKWELL_RTX),
};

const kcsim_arch *kcsim_arch_at(size_t index) {
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}

const kcsim_arch *kcsim_arch_find(const char *name) {
    for (size_t i = 0; name && kcsim_arch_at(i); i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

const kcsim_arch *kcsim_arch_default_variant(const char *name) {
    char with_suffix[16];
    if (!name) return NULL;
    snprintf(with_suffix, sizeof with_suffix, "%.10sa", name);
    const kcsim_arch *suffixed = kcsim_arch_find(with_suffix);
    return suffixed ? suffixed : kcsim_arch_find(name);
}
