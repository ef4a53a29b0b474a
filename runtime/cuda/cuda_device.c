// The tables of `cuda` and `cuda-sim`: the same device on two drivers. Their primary context, and
// what needs one.
#include <stdlib.h>
#include <string.h>

#include "runtime/builtin.h"
#include "runtime/cuda/cuda_driver.h"
#include "runtime/rank.h"

static cuda_driver real_driver = {.base = {.vendor = &kcrt_cuda_vendor, .kind = "cuda"}};
static cuda_driver sim_driver = {
    .base = {.vendor = &kcrt_cuda_vendor, .kind = "cuda-sim", .simulated = true}};

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **out) {
    cuda_driver *d = user;
    void *opened = NULL;
    kcrt_status status = kcrt_driver_open(&d->base, which, ordinal, sizeof(cuda_device), &opened);
    if (status) return status;
    cuda_device *device = opened;
    CUdevice number = 0;
    CUresult r = d->cuDeviceGet(&number, *ordinal);
    device->base.number = number;
    if (!r) r = kcrt_cuda_capability(&d->base, number, &device->major, &device->minor);
    if (!r) r = d->cuDevicePrimaryCtxRetain(&device->context, number);
    status = kcrt_driver_check(&d->base, NULL, r, "The primary context cannot be made");
    if (!status) *out = device;
    else free(device);
    return status;
}

static void close_device(void *handle) {
    cuda_device *device = handle;
    ((cuda_driver *)device->base.driver)->cuDevicePrimaryCtxRelease_v2(device->base.number);
    free(device);
}

static kcrt_status stream_wrap(void *handle, void *native, void **out) {
    const cuda_device *device = handle;
    const cuda_driver *d = (const cuda_driver *)device->base.driver;
    CUcontext context = NULL;
    *out = native;
    if (!d->cuStreamGetCtx || (uintptr_t)native <= 2)
        return KCRT_OK; // 0, 1 and 2 are the default streams of any context
    kcrt_status status = kcrt_driver_check(
        &d->base, &device->base, d->cuStreamGetCtx(native, &context), "The stream cannot be used");
    if (!status && context != device->context)
        status = kcrt_fail(KCRT_INVALID_ARGUMENT,
                           "The stream does not belong to the primary context of %s:%d.",
                           d->base.kind, device->base.ordinal);
    return status;
}

static kcrt_status copy_peer(void *dst_handle, void *dst, uint64_t dst_offset, void *src_handle,
                             const void *src, uint64_t src_offset, size_t bytes) {
    const cuda_device *to = dst_handle, *from = src_handle;
    const cuda_driver *d = (const cuda_driver *)to->base.driver;
    int before;
    if (!d->cuMemcpyPeer)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` does not copy between devices.",
                         d->base.kind);
    kcrt_status status = kcrt_driver_enter(&to->base, &before);
    if (status) return status;
    CUresult r = d->cuMemcpyPeer((uintptr_t)dst + dst_offset, to->context,
                                 (uintptr_t)src + src_offset, from->context, bytes);
    if (r == DRIVER_SUCCESS) r = d->base.device_sync(); // the copy itself may be asynchronous
    return kcrt_driver_leave(&to->base, before, r, "Memory cannot be copied between devices");
}

static int rank(void *handle, const char *triple, const char *arch, const char *role,
                const char **reason) {
    const cuda_device *device = handle;
    return strcmp(triple, "cuda")
               ? 0
               : kcrt_rank_cuda(device->major, device->minor, arch, role, reason);
}

#define CUDA_TABLE(driver)                                                                         \
    {                                                                                              \
        KCRT_DRIVER_MEMBERS, .user = &(driver), .open = open_device, .close = close_device,        \
                             .copy_peer = copy_peer, .stream_wrap = stream_wrap,                   \
                             .stream_capturing = kcrt_driver_stream_capturing, .rank = rank,       \
                             .kernel_get = kcrt_cuda_kernel_get, .launch = kcrt_cuda_launch        \
    }

const kcrt_device_api kcrt_cuda_api = CUDA_TABLE(real_driver);
const kcrt_device_api kcrt_cuda_sim_api = CUDA_TABLE(sim_driver);
