// Images, kernels and launches of a HIP device.
#include <string.h>

#include "runtime/hip/hip_driver.h"
#include "runtime/rank.h"

#define MOST_ARGS 128

int hip_rank(void *handle, const char *triple, const char *arch, const char *role,
             const char **reason) {
    hip_device *device = handle;
    return strcmp(triple, "hip") ? 0 : kcrt_rank_hip(device->arch, arch, role, reason);
}

kcrt_status hip_module_load(void *handle, const char *role, const void *image, size_t size,
                            void **out) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    hipModule_t module = NULL;
    int previous;
    (void)role,
        (void)size; // hsaco is the only role that is ranked, and an ELF image knows its size
    kcrt_status status = hip_enter(device, &previous);
    if (status) return status;
    hipError_t r = d->hipModuleLoadData(&module, image);
    hip_leave(device, previous);
    *out = module;
    status = hip_check(d, device, r, "the image was not accepted");
    bool refused = r == hipErrorNoBinaryForGpu || r == hipErrorInvalidImage ||
                   r == hipErrorInvalidKernelFile || r == hipErrorSharedObjectInitFailed;
    return refused ? KCRT_NO_IMAGE : status;
}

void hip_module_unload(void *handle, void *module) {
    hip_device *device = handle;
    int previous;
    if (hip_enter(device, &previous)) return;
    device->driver->hipModuleUnload(module);
    hip_leave(device, previous);
}

// Dynamic shared memory needs no asking: a group may have all of its LDS.
kcrt_status hip_kernel_get(void *handle, void *module, const char *symbol,
                           uint64_t max_dynamic_shared, void **out) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    hipFunction_t kernel = NULL;
    int previous;
    (void)max_dynamic_shared;
    kcrt_status status = hip_enter(device, &previous);
    if (status) return status;
    hipError_t r = d->hipModuleGetFunction(&kernel, module, symbol);
    hip_leave(device, previous);
    *out = kernel;
    if (r == hipErrorNotFound)
        return kcrt_fail(KCRT_BAD_PACKAGE,
                         "The image has no kernel `%s`, which the manifest launches.", symbol);
    return hip_check(d, device, r, symbol);
}

kcrt_status hip_launch(void *handle, void *kernel, const kcrt_launch_shape *s,
                       const kcrt_kernel_arg *args, int n, void *stream) {
    hip_device *device = handle;
    const hip_driver *d = device->driver;
    uint64_t values[MOST_ARGS];
    void *parameters[MOST_ARGS];
    int previous;
    if (s->cluster[0] * s->cluster[1] * s->cluster[2] > 1)
        return kcrt_fail(KCRT_UNSUPPORTED, "AMD devices have no clusters.");
    for (int i = 0; i < n; i++) {
        values[i] = args[i].is_memory ? hip_address(args[i].base, args[i].value) : args[i].value;
        parameters[i] = &values[i];
    }
    kcrt_status status = hip_enter(device, &previous);
    if (status) return status;
    hipError_t r = d->hipModuleLaunchKernel(kernel, s->grid[0], s->grid[1], s->grid[2], s->block[0],
                                            s->block[1], s->block[2], s->dynamic_shared, stream,
                                            parameters, NULL);
    hip_leave(device, previous);
    return r == hipSuccess ? KCRT_OK : hip_check(d, device, r, "The kernel cannot be launched");
}
