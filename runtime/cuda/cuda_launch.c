// What launches on NVIDIA's devices have beside the common ones: shared memory to be asked for, and
// clusters.
#include "runtime/cuda/cuda_driver.h"

#define SHARED_WITHOUT_ASKING (48 << 10)

// Above 48 KB dynamic shared memory must be asked for, up to what the device has beside the static
// part.
static CUresult ask_for_shared(const kcrt_driver_device *device, driver_kernel kernel,
                               uint64_t most) {
    const cuda_driver *d = (const cuda_driver *)device->driver;
    int fixed = 0, limit = 0;
    if (!d->cuFuncSetAttribute || !d->cuFuncGetAttribute) return DRIVER_SUCCESS;
    CUresult r = d->cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel);
    if (r != DRIVER_SUCCESS || most + (uint64_t)fixed <= SHARED_WITHOUT_ASKING) return r;
    r = d->base.device_attribute(&limit, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                 device->number);
    if (r != DRIVER_SUCCESS) return r;
    int dynamic = most < (uint64_t)(limit - fixed) ? (int)most : limit - fixed;
    return d->cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic);
}

kcrt_status kcrt_cuda_kernel_get(void *handle, void *module, const char *symbol,
                                 uint64_t max_dynamic_shared, void **out) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_kernel_get(handle, module, symbol, max_dynamic_shared, out);
    if (status || !max_dynamic_shared) return status;
    status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, ask_for_shared(device, *out, max_dynamic_shared),
                             symbol);
}

static kcrt_status launch_clusters(const kcrt_driver_device *device, void *kernel,
                                   const kcrt_launch_shape *s, void **parameters, void *stream) {
    const cuda_driver *d = (const cuda_driver *)device->driver;
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
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, d->cuLaunchKernelEx(&config, kernel, parameters, NULL),
                             "The kernel cannot be launched");
}

kcrt_status kcrt_cuda_launch(void *handle, void *kernel, const kcrt_launch_shape *s,
                             const kcrt_kernel_arg *args, int n, void *stream) {
    const kcrt_driver_device *device = handle;
    kcrt_driver_arguments packed;
    if (s->cluster[0] * s->cluster[1] * s->cluster[2] <= 1)
        return kcrt_driver_launch(handle, kernel, s, args, n, stream);
    if (!((const cuda_driver *)device->driver)->cuLaunchKernelEx)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` has no cluster launches.",
                         device->driver->kind);
    kcrt_driver_pack(&packed, args, n);
    return launch_clusters(device, kernel, s, packed.parameters, stream);
}
