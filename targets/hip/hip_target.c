// The hip kind: its architectures as rows.
#include "targets/kinds.h"

#define HIP_SHARED(kilobytes)                                                                      \
    .max_shared_memory = (kilobytes)*1024, .shared_memory_static = (kilobytes)*1024,               \
    .shared_memory_per_multiprocessor = (kilobytes)*1024

// Wave64, 4 SIMDs with 512 registers a lane each.
#define CDNA(banks)                                                                                \
    .warp_size = 64, .max_num_threads = 1024, .shared_banks = (banks), .vector_bytes = 16,         \
    .registers_per_multiprocessor = 131072, .max_registers = 512,                                  \
    .threads_per_multiprocessor = 2048, .blocks_per_multiprocessor = 32, .fma_f32_per_cycle = 64

// Wave32; a compute unit is half of a work-group processor and has 2 SIMDs.
#define RDNA                                                                                       \
    .warp_size = 32, .max_num_threads = 1024, .shared_banks = 32, .vector_bytes = 16,              \
    .max_registers = 256, .threads_per_multiprocessor = 1024, .blocks_per_multiprocessor = 16,     \
    .fma_f32_per_cycle = 64, .fma_f64_per_cycle = 2

static const kc_target_arch archs[] = {
#define ARCH(name_, portable_, example_, ...)                                                      \
    {.name = name_, .portable = portable_, .example = example_, .defaults = {__VA_ARGS__}},
#include "targets/hip/archs.def"
#undef ARCH
};

const kc_target_kind kc_target_hip = {
    .name = "hip",
    .triple = "amdgcn-amd-amdhsa",
    .archs = archs,
    .n_archs = sizeof archs / sizeof *archs,
};
