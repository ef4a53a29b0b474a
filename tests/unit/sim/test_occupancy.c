/* What devices say of themselves, against the vendor's published table; how many blocks a
 * multiprocessor holds, against the vendor's calculator where its header is installed and against
 * worked examples everywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/machine.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-compare"
#if defined(__has_include)
#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define HAVE_CALCULATOR 1
#elif __has_include("/usr/local/cuda/include/cuda_occupancy.h")
#include "/usr/local/cuda/include/cuda_occupancy.h"
#define HAVE_CALCULATOR 1
#endif
#endif
#pragma GCC diagnostic pop

/* ---- "Technical specifications per compute capability" of the programming guide --------------- */

static void rows_are_as_published(void **state) {
    (void)state;
    static const struct {
        int major, minor, threads, blocks, shared_kib, optin_kib;
    } table[] = {
        {7, 5, 1024, 16, 64, 64},    {8, 0, 2048, 32, 164, 163},  {8, 6, 1536, 16, 100, 99},
        {8, 7, 1536, 16, 164, 163},  {8, 9, 1536, 24, 100, 99},   {9, 0, 2048, 32, 228, 227},
        {10, 0, 2048, 32, 228, 227}, {12, 0, 1536, 24, 100, 99},
    };
    for (size_t i = 0; kcsim_arch_at(i); i++) {
        const kcsim_arch *a = kcsim_arch_at(i);
        size_t k = 0;
        while (k < sizeof table / sizeof table[0] &&
               (table[k].major != a->major || table[k].minor != a->minor))
            k++;
        assert_true(k < sizeof table / sizeof table[0]);
        assert_int_equal(a->max_threads_per_multiprocessor, table[k].threads);
        assert_int_equal(a->max_blocks_per_multiprocessor, table[k].blocks);
        assert_int_equal(a->shared_per_multiprocessor, table[k].shared_kib * 1024);
        assert_int_equal(a->shared_per_block_optin, table[k].optin_kib * 1024);
        assert_int_equal(a->shared_per_block, 48 * 1024);
        assert_int_equal(a->shared_reserved_per_block, a->major < 8 ? 0 : 1024);
        assert_int_equal(a->max_threads_per_block, 1024);
        assert_int_equal(a->registers_per_block, 65536);
        assert_int_equal(a->registers_per_multiprocessor, 65536);
        assert_int_equal(a->constant_memory, 65536);
    }
}

/* ---- kernels of many registers ---------------------------------------------------------------- */

/* Holds `live` values at once. */
static char *kernel_text(int live) {
    size_t room = 512 + (size_t)live * 120;
    char *text = malloc(room);
    assert_non_null(text);
    int at = snprintf(text, room,
                      ".version 7.0\n.target sm_75\n.address_size 64\n"
                      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%p;\n.reg .b32 %%r<%d>;\n"
                      "ld.param.u64 %%p, [p];\n",
                      live + 1);
    for (int i = 0; i < live; i++)
        at += snprintf(text + at, room - (size_t)at, "ld.global.u32 %%r%d, [%%p+%d];\n", i, 4 * i);
    for (int i = 0; i < live; i++)
        at += snprintf(text + at, room - (size_t)at, "st.global.u32 [%%p+%d], %%r%d;\n", 4 * i,
                       live - 1 - i);
    snprintf(text + at, room - (size_t)at, "ret;\n}\n");
    return text;
}

typedef struct subject {
    kcsim_machine *machine;
    const kcsim_function *function;
    int registers;
} subject;

static subject load(const kcsim_arch *arch, int live) {
    kcsim_options options = kcsim_options_default();
    options.memory = 1 << 20;
    subject made = {.machine = kcsim_machine_create(arch, &options)};
    assert_non_null(made.machine);
    char *text = kernel_text(live), log[200] = "";
    kcsim_module *module;
    if (kcsim_module_load(made.machine, text, strlen(text), log, sizeof log, &module) != KCSIM_OK)
        fail_msg("%s", log);
    free(text);
    assert_int_equal(kcsim_module_find_function(module, "k", &made.function), KCSIM_OK);
    made.registers = kcsim_function_describe(made.function).registers;
    return made;
}

static void worked_examples(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        int live, registers, threads, shared, blocks;
    } table[] = {
        {"sm_80", 4, 16, 256, 0, 8},        /* threads: 2048 / 256 */
        {"sm_75", 4, 16, 32, 0, 16},        /* blocks */
        {"sm_86", 4, 16, 256, 20 << 10, 4}, /* shared: 100 KiB / 21 KiB */
        {"sm_75", 4, 16, 64, 257, 16},      /* 512 bytes each: not the limit */
        {"sm_80", 30, 40, 512, 0, 3},       /* a file of 16384 holds 12 warps of 1280; 48 / 16 */
        {"sm_80", 50, 64, 160, 0, 6},       /* 32 warps, blocks of 5 */
        {"sm_90a", 90, 104, 672, 0, 0},     /* 21 warps count as 24: 24 * 3328 is over 65536 */
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        subject s = load(kcsim_arch_find(table[i].arch), table[i].live);
        assert_int_equal(s.registers, table[i].registers);
        assert_int_equal(
            kcsim_occupancy(s.machine, s.function, table[i].threads, (size_t)table[i].shared),
            table[i].blocks);
        kcsim_machine_destroy(s.machine);
    }
}

#ifdef HAVE_CALCULATOR

static int calculated(const kcsim_arch *a, int registers, int threads, size_t shared) {
    cudaOccDeviceProp device = {0};
    device.computeMajor = a->major;
    device.computeMinor = a->minor;
    device.maxThreadsPerBlock = a->max_threads_per_block;
    device.maxThreadsPerMultiprocessor = a->max_threads_per_multiprocessor;
    device.regsPerBlock = a->registers_per_block;
    device.regsPerMultiprocessor = a->registers_per_multiprocessor;
    device.warpSize = 32;
    device.sharedMemPerBlock = (size_t)a->shared_per_block;
    device.sharedMemPerMultiprocessor = (size_t)a->shared_per_multiprocessor;
    device.numSms = a->multiprocessors;
    device.sharedMemPerBlockOptin = (size_t)a->shared_per_block_optin;
    device.reservedSharedMemPerBlock = (size_t)a->shared_reserved_per_block;
    cudaOccFuncAttributes function = {0};
    function.maxThreadsPerBlock = 1024;
    function.numRegs = registers;
    function.partitionedGCConfig = PARTITIONED_GC_OFF;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = (size_t)a->shared_per_block_optin;
    cudaOccDeviceState carveout = {0};
    carveout.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &carveout, threads,
                                                shared) != CUDA_OCC_SUCCESS)
        return -1;
    return result.activeBlocksPerMultiprocessor;
}

static void as_the_calculator_says(void **state) {
    (void)state;
    static const int live[] = {4, 30, 50, 90, 140, 240};
    static const size_t shared[] = {0, 1, 1000, 16 << 10, 33000, 48 << 10, 60 << 10};
    int compared = 0;
    for (size_t i = 0; kcsim_arch_at(i); i++)
        for (size_t k = 0; k < sizeof live / sizeof live[0]; k++) {
            const kcsim_arch *arch = kcsim_arch_at(i);
            subject s = load(arch, live[k]);
            for (int threads = 32; threads <= 1024; threads += 31)
                for (size_t m = 0; m < sizeof shared / sizeof shared[0]; m++, compared++)
                    assert_int_equal(kcsim_occupancy(s.machine, s.function, threads, shared[m]),
                                     calculated(arch, s.registers, threads, shared[m]));
            kcsim_machine_destroy(s.machine);
        }
    print_message("%d answers of the calculator\n", compared);
}

#else

static void as_the_calculator_says(void **state) {
    (void)state;
    print_message("no cuda_occupancy.h: not compared\n");
    skip();
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_published),
        cmocka_unit_test(worked_examples),
        cmocka_unit_test(as_the_calculator_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
