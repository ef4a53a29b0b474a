// The cuda kind: its architectures as rows.
#include "targets/kinds.h"
#include "targets/mma.h"

// Opt-in shared memory of a block and shared memory of a multiprocessor, in KB, with what every
// architecture has.
#define CUDA_SHARED(block, multiprocessor)                                                         \
    .warp_size = 32, .max_num_threads = 1024, .shared_banks = 32, .vector_bytes = 16,              \
    .has_matrix_load = 1, .registers_per_multiprocessor = 65536, .max_registers = 255,             \
    .shared_memory_static = 48 * 1024,                                                             \
    .shared_memory_reserved = ((multiprocessor) - (block)) * 1024,                                 \
    .max_shared_memory = (block)*1024, .shared_memory_per_multiprocessor = (multiprocessor)*1024

// Multiply-adds of mma a cycle and multiprocessor.
#define CUDA_MMA(f16, tf32, f64, i8, f8)                                                           \
    .mma_f16_per_cycle = (f16), .mma_tf32_per_cycle = (tf32), .mma_f64_per_cycle = (f64),          \
    .mma_i8_per_cycle = (i8), .mma_f8_per_cycle = (f8)

static const kc_target_arch archs[] = {
#define ARCH(name_, portable_, example_, ...)                                                      \
    {.name = name_, .portable = portable_, .example = example_, .defaults = {__VA_ARGS__}},
#include "targets/cuda/archs.def"
#undef ARCH
};

static const kc_mma mmas[] = {
#define MMA(name_, text_, operand_, accumulator_, m_, n_, k_, a_, b_, c_, note_, capability_,      \
            ptx_)                                                                                  \
    {.name = name_,                                                                                \
     .text = text_,                                                                                \
     .operand = KC_##operand_,                                                                     \
     .accumulator = KC_##accumulator_,                                                             \
     .m = m_,                                                                                      \
     .n = n_,                                                                                      \
     .k = k_,                                                                                      \
     .a = a_,                                                                                      \
     .b = b_,                                                                                      \
     .c = c_,                                                                                      \
     .fragments = (kc_layout[3]){{.rank = 0}},                                                     \
     .note = note_,                                                                                \
     .compute_capability = capability_,                                                            \
     .ptx_version = ptx_},
#include "targets/cuda/mma.def"
#undef MMA
};

const kc_target_kind kc_target_cuda = {
    .name = "cuda",
    .triple = "nvptx64-nvidia-cuda",
    .archs = archs,
    .n_archs = sizeof archs / sizeof *archs,
    .mmas = mmas,
    .n_mmas = sizeof mmas / sizeof *mmas,
};
