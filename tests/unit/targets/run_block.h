// Runs kernels from tile IR text in one of two ways: on the host, emission alone (host_block.h), or
// as PTX on the CUDA simulator, through LLVM's back end. Tests say which with run_on.
#ifndef KC_TESTS_TARGETS_RUN_BLOCK_H
#define KC_TESTS_TARGETS_RUN_BLOCK_H

#include <limits.h>
#include "targets/build.h"
#include "tests/unit/targets/host_block.h"

typedef enum { RUN_ON_HOST, RUN_ON_SIMULATOR } run_place;
static run_place run_on;

// A pointer with the bytes behind it, or an integer.
typedef struct {
    void *data;
    size_t size;
    int64_t value;
} run_argument;

enum { RUN_MAX_ARGUMENTS = 8 };

// ---- the simulator, by the driver interface -------------------------------------------------

static void *simulator;

static void *driver(const char *name) {
    void *symbol = dlsym(simulator, name);
    if (!symbol) fail_msg("the simulator has no %s", name);
    return symbol;
}

#define DRIVER(name, types, ...)                                                                   \
    do {                                                                                           \
        int(*function_) types;                                                                     \
        *(void **)&function_ = driver(#name);                                                      \
        int status_ = function_(__VA_ARGS__);                                                      \
        if (status_) fail_msg(#name " gives %d", status_);                                         \
    } while (0)

// The library beside the tests, or where KCRT_CUDA_SIM says. NULL: none.
static bool simulator_open(void) {
    char path[PATH_MAX], *named = getenv("KCRT_CUDA_SIM");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    path[n > 0 ? n : 0] = 0;
    for (int i = 0; i < 3; i++)
        if (strrchr(path, '/')) *strrchr(path, '/') = 0;
    strcat(path, "/lib/libkcsim_cuda.so");
    setenv("KCSIM_CUDA_DEVICES", "sm_80", 0);
    simulator = dlopen(named ? named : path, RTLD_NOW | RTLD_LOCAL);
    if (!simulator) return false;
    int device;
    void *context;
    DRIVER(cuInit, (unsigned), 0);
    DRIVER(cuDeviceGet, (int *, int), &device, 0);
    DRIVER(cuDevicePrimaryCtxRetain, (void **, int), &context, device);
    DRIVER(cuCtxSetCurrent, (void *), context);
    return true;
}

static void *simulator_load(kc_arena *arena, const char *tile) {
    kc_diag *diag;
    const char *error;
    kc_module *module = parse_tile(arena, tile, &diag);
    assert_non_null(module);
    kc_build_options options = {.want = KC_BUILD_ASSEMBLY};
    kc_images images;
    const kc_target *target = kc_target_parse_one(arena, "cuda:sm_80", &error);
    assert_true(kc_target_build(target, module, &options, arena, diag, &images));
    void *loaded = NULL;
    DRIVER(cuModuleLoadData, (void **, const void *), &loaded, images.images[0].data);
    return loaded;
}

static void simulator_run(void *module, const char *name, int threads, int grid, int shared,
                          run_argument *arguments, int n) {
    uint64_t values[RUN_MAX_ARGUMENTS] = {0};
    void *pointers[RUN_MAX_ARGUMENTS], *function;
    for (int i = 0; i < n; i++) {
        pointers[i] = &values[i];
        values[i] = (uint64_t)arguments[i].value;
        if (!arguments[i].data) continue;
        DRIVER(cuMemAlloc_v2, (uint64_t *, size_t), &values[i], arguments[i].size);
        DRIVER(cuMemcpyHtoD_v2, (uint64_t, const void *, size_t), values[i], arguments[i].data,
               arguments[i].size);
    }
    DRIVER(cuModuleGetFunction, (void **, void *, const char *), &function, module, name);
    if (shared > 48 << 10)
        DRIVER(cuFuncSetAttribute, (void *, int, int), function, 8 /* most dynamic shared memory */,
               shared);
    DRIVER(cuLaunchKernel,
           (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
            void **, void **),
           function, (unsigned)grid, 1, 1, (unsigned)threads, 1, 1, (unsigned)shared, NULL,
           pointers, NULL);
    DRIVER(cuCtxSynchronize, (void));
    for (int i = 0; i < n; i++) {
        if (!arguments[i].data) continue;
        DRIVER(cuMemcpyDtoH_v2, (void *, uint64_t, size_t), arguments[i].data, values[i],
               arguments[i].size);
        DRIVER(cuMemFree_v2, (uint64_t), values[i]);
    }
}

// ---- both -----------------------------------------------------------------------------------

typedef struct {
    void *kernel;
    uint64_t values[RUN_MAX_ARGUMENTS];
} host_call;

static void host_body(void *context) {
    host_call *c = context;
    void (*kernel)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    *(void **)&kernel = c->kernel;
    kernel(c->values[0], c->values[1], c->values[2], c->values[3], c->values[4], c->values[5]);
}

// `target` decides the warp size on the host; the simulator has 32 lanes.
static void *run_compile(kc_arena *arena, const char *tile, const char *target) {
    return run_on == RUN_ON_HOST ? host_compile(arena, host_emit(arena, tile, target))
                                 : simulator_load(arena, tile);
}

static void run_release(void *library) {
    if (run_on == RUN_ON_HOST) dlclose(library);
    else DRIVER(cuModuleUnload, (void *), library);
}

static void run_kernel(void *library, const char *name, int lanes, int threads, int grid,
                       int shared, run_argument *arguments, int n) {
    if (run_on == RUN_ON_SIMULATOR) {
        simulator_run(library, name, threads, grid, shared, arguments, n);
        return;
    }
    host_call call = {.kernel = dlsym(library, name)};
    assert_non_null(call.kernel);
    for (int i = 0; i < n; i++)
        call.values[i] = arguments[i].data ? (uint64_t)(uintptr_t)arguments[i].data
                                           : (uint64_t)arguments[i].value;
    host.warp_size = lanes;
    for (int p = 0; p < grid; p++)
        host_run(library, threads, p, host_body, &call);
}

// 0 when the tests can run here; they print why not.
static int run_setup(void **state) {
    if (host_setup(state)) return -1;
    if (!simulator_open()) print_message("no simulator beside the tests: its half is skipped\n");
    return 0;
}

static bool run_available(run_place place) {
    run_on = place;
    return place == RUN_ON_HOST ? host_available : simulator != NULL;
}

#endif
