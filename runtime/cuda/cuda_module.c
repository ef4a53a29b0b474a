// Images, kernels and launches of a CUDA device.
#include <string.h>

#include "runtime/cuda/cuda_driver.h"
#include "runtime/rank.h"

#define MOST_ARGS 128
#define SHARED_WITHOUT_ASKING (48 << 10)

int cuda_rank(void *handle, const char *triple, const char *arch, const char *role,
              const char **reason) {
    cuda_device *device = handle;
    return strcmp(triple, "cuda")
               ? 0
               : kcrt_rank_cuda(device->major, device->minor, arch, role, reason);
}

// The walk through the images goes on after these.
static bool is_refusal(CUresult r) {
    return r == CUDA_ERROR_NO_BINARY_FOR_GPU || r == CUDA_ERROR_INVALID_IMAGE ||
           r == CUDA_ERROR_INVALID_PTX || r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           r == CUDA_ERROR_JIT_COMPILER_NOT_FOUND || r == CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

static CUresult load(const cuda_driver *d, const char *role, const void *image, CUmodule *module,
                     char *log, size_t log_size) {
    if (strcmp(role, "ptx") || !d->cuModuleLoadDataEx) return d->cuModuleLoadData(module, image);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)log_size};
    return d->cuModuleLoadDataEx(module, image, 2, options, values);
}

// The compiler's first line: the rest repeats the PTX.
static void cut_log(char *log, size_t size) {
    log[size - 1] = 0;
    log[strcspn(log, "\r\n")] = 0;
}

kcrt_status cuda_module_load(void *handle, const char *role, const void *image, size_t size,
                             void **out) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    char log[1024] = "";
    CUmodule module = NULL;
    bool pushed;
    (void)size; // an ELF image knows its size, and PTX ends with a NUL, as the package reader has
                // checked
    kcrt_status status = cuda_enter(device, &pushed);
    if (status) return status;
    CUresult r = load(d, role, image, &module, log, sizeof log);
    cut_log(log, sizeof log);
    cuda_leave(device, pushed);
    *out = module;
    if (r == CUDA_SUCCESS) return KCRT_OK;
    status = cuda_check(d, device, r, log[0] ? log : "the image was not accepted");
    return is_refusal(r) ? KCRT_NO_IMAGE : status;
}

void cuda_module_unload(void *handle, void *module) {
    cuda_device *device = handle;
    bool pushed;
    if (cuda_enter(device, &pushed)) return;
    device->driver->cuModuleUnload(module);
    cuda_leave(device, pushed);
}

// ---- Kernels ------------------------------------------------------------------------------------

// Above 48 KB dynamic shared memory must be asked for, up to what the device has beside the static
// part.
static CUresult ask_for_shared(const cuda_device *device, CUfunction kernel, uint64_t most) {
    const cuda_driver *d = device->driver;
    int fixed = 0, limit = 0;
    if (!d->cuFuncSetAttribute || !d->cuFuncGetAttribute) return CUDA_SUCCESS;
    CUresult r = d->cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel);
    if (r != CUDA_SUCCESS || most + (uint64_t)fixed <= SHARED_WITHOUT_ASKING) return r;
    r = d->cuDeviceGetAttribute(&limit, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                device->device);
    if (r != CUDA_SUCCESS) return r;
    int dynamic = most < (uint64_t)(limit - fixed) ? (int)most : limit - fixed;
    return d->cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic);
}

kcrt_status cuda_kernel_get(void *handle, void *module, const char *symbol,
                            uint64_t max_dynamic_shared, void **out) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    CUfunction kernel = NULL;
    bool pushed;
    kcrt_status status = cuda_enter(device, &pushed);
    if (status) return status;
    CUresult r = d->cuModuleGetFunction(&kernel, module, symbol);
    if (r == CUDA_ERROR_NOT_FOUND)
        status = kcrt_fail(KCRT_BAD_PACKAGE,
                           "The image has no kernel `%s`, which the manifest launches.", symbol);
    else if (r == CUDA_SUCCESS && max_dynamic_shared)
        r = ask_for_shared(device, kernel, max_dynamic_shared);
    if (!status) status = cuda_check(d, device, r, symbol);
    cuda_leave(device, pushed);
    *out = kernel;
    return status;
}

static CUresult launch_clusters(const cuda_driver *d, CUfunction kernel, const kcrt_launch_shape *s,
                                void **parameters, CUstream stream) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = s->cluster[0];
    cluster.value.clusterDim.y = s->cluster[1];
    cluster.value.clusterDim.z = s->cluster[2];
    CUlaunchConfig config = {.gridDimX = s->grid[0],
                             .gridDimY = s->grid[1],
                             .gridDimZ = s->grid[2],
                             .blockDimX = s->block[0],
                             .blockDimY = s->block[1],
                             .blockDimZ = s->block[2],
                             .sharedMemBytes = s->dynamic_shared,
                             .hStream = stream,
                             .attrs = &cluster,
                             .numAttrs = 1};
    return d->cuLaunchKernelEx(&config, kernel, parameters, NULL);
}

kcrt_status cuda_launch(void *handle, void *kernel, const kcrt_launch_shape *s,
                        const kcrt_kernel_arg *args, int n, void *stream) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    uint64_t values[MOST_ARGS];
    void *parameters[MOST_ARGS];
    bool pushed, clusters = s->cluster[0] * s->cluster[1] * s->cluster[2] > 1;
    if (clusters && !d->cuLaunchKernelEx)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` has no cluster launches.", d->kind);
    for (int i = 0; i < n; i++) {
        values[i] = args[i].is_memory ? cuda_address(args[i].base, args[i].value) : args[i].value;
        parameters[i] = &values[i];
    }
    kcrt_status status = cuda_enter(device, &pushed);
    if (status) return status;
    CUresult r = clusters ? launch_clusters(d, kernel, s, parameters, stream)
                          : d->cuLaunchKernel(kernel, s->grid[0], s->grid[1], s->grid[2],
                                              s->block[0], s->block[1], s->block[2],
                                              s->dynamic_shared, stream, parameters, NULL);
    cuda_leave(device, pushed);
    return r == CUDA_SUCCESS ? KCRT_OK : cuda_check(d, device, r, "The kernel cannot be launched");
}
