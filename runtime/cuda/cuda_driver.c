// What NVIDIA's driver does in its own way: its names, its errors, contexts, compute capability,
// and the log of compiling PTX.
#include <stdio.h>
#include <string.h>

#include "runtime/cuda/cuda_driver.h"
#include "runtime/rank.h"

static const char *const libraries[] = {"libcuda.so.1", NULL};

static const kcrt_driver_symbol symbols[] = {
#define X(needed, call, parameters, cuda, hip) {#cuda, offsetof(cuda_driver, base.call), needed},
    KCRT_DRIVER_CALLS(X)
#undef X
#define X(needed, name, parameters) {#name, offsetof(cuda_driver, name), needed},
        KCRT_CUDA_CALLS(X)
#undef X
};

static void explain(const kcrt_driver *base, driver_result r, const char **name,
                    const char **text) {
    const cuda_driver *d = (const cuda_driver *)base;
    d->cuGetErrorName(r, name);
    d->cuGetErrorString(r, text);
}

// ---- Architectures and attributes ---------------------------------------------------------------

CUresult kcrt_cuda_capability(const kcrt_driver *d, CUdevice device, int *major, int *minor) {
    CUresult r = d->device_attribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    return r ? r : d->device_attribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

static kcrt_status read_arch(const kcrt_driver *base, int ordinal, char arch[256]) {
    const cuda_driver *d = (const cuda_driver *)base;
    CUdevice device;
    int major = 0, minor = 0;
    kcrt_status status =
        kcrt_driver_check(base, NULL, d->cuDeviceGet(&device, ordinal), "A device cannot be found");
    if (status) return status;
    CUresult r = kcrt_cuda_capability(base, device, &major, &minor);
    snprintf(arch, 256, "sm_%d%d", major, minor);
    return kcrt_driver_check(base, NULL, r, "The compute capability cannot be read");
}

static bool same_arch(const char *arch, const char *wanted) {
    int has, number;
    char suffix;
    return kcrt_parse_sm(arch, &has, &suffix) && kcrt_parse_sm(wanted, &number, &suffix) &&
           has == number;
}

static const kcrt_driver_attribute attributes[] = {
    {KCRT_ATTR_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {KCRT_ATTR_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {KCRT_ATTR_MAX_BLOCK_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {KCRT_ATTR_MAX_BLOCK_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {KCRT_ATTR_MAX_BLOCK_Z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {KCRT_ATTR_SHARED_MEMORY_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {KCRT_ATTR_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {KCRT_ATTR_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {KCRT_ATTR_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {KCRT_ATTR_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
};

// ---- Contexts -----------------------------------------------------------------------------------

static driver_result enter(const kcrt_driver_device *base, int *pushed) {
    const cuda_device *device = (const cuda_device *)base;
    const cuda_driver *d = (const cuda_driver *)base->driver;
    CUcontext current = NULL;
    *pushed = 0;
    CUresult r = d->cuCtxGetCurrent(&current);
    if (r == DRIVER_SUCCESS && current == device->context) return r;
    if (r == DRIVER_SUCCESS) r = d->cuCtxPushCurrent_v2(device->context);
    *pushed = r == DRIVER_SUCCESS;
    return r;
}

static void restore(const kcrt_driver_device *base, int pushed) {
    CUcontext popped;
    if (pushed) ((const cuda_driver *)base->driver)->cuCtxPopCurrent_v2(&popped);
}

// ---- Images -------------------------------------------------------------------------------------

static driver_result load_image(const kcrt_driver *base, const char *role, const void *image,
                                driver_module *module, char *log, size_t log_size) {
    const cuda_driver *d = (const cuda_driver *)base;
    if (strcmp(role, "ptx") || !d->cuModuleLoadDataEx) return base->module_load(module, image);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)log_size};
    return d->cuModuleLoadDataEx(module, image, 2, options, values);
}

static const driver_result refusals[] = {
    DRIVER_NO_BINARY_FOR_GPU,
    DRIVER_INVALID_IMAGE,
    CUDA_ERROR_INVALID_PTX,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    CUDA_ERROR_JIT_COMPILATION_DISABLED,
    DRIVER_SUCCESS,
};

kcrt_driver_vendor kcrt_cuda_vendor = {
    .libraries = libraries,
    .absent = "There is no NVIDIA driver here: libcuda.so.1 cannot be loaded.",
    .interface = "a CUDA driver",
    .simulator_variable = "KCRT_CUDA_SIM",
    .simulator_file = "libkcsim_cuda.so",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .no_device = {DRIVER_NO_DEVICE, DRIVER_NO_DEVICE},
    .explain = explain,
    .arch_prefix = "sm_",
    .arch_example = "sm_90a",
    .read_arch = read_arch,
    .same_arch = same_arch,
    .attributes = attributes,
    .attribute_count = sizeof attributes / sizeof *attributes,
    .enter = enter,
    .restore = restore,
    .load_image = load_image,
    .refusals = refusals,
};
