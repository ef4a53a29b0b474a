// The tables of `hip` and `hip-sim`: the same device on two libraries.
#include <stdlib.h>
#include <string.h>

#include "runtime/builtin.h"
#include "runtime/hip/hip_driver.h"
#include "runtime/rank.h"

static hip_driver real_driver = {.base = {.vendor = &kcrt_hip_vendor, .kind = "hip"}};
static hip_driver sim_driver = {
    .base = {.vendor = &kcrt_hip_vendor, .kind = "hip-sim", .simulated = true}};

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **out) {
    return kcrt_driver_open(user, which, ordinal, sizeof(kcrt_driver_device), out);
}

static kcrt_status stream_wrap(void *handle, void *native, void **out) {
    (void)handle;
    *out = native;
    return KCRT_OK;
}

static kcrt_status stream_capturing(void *handle, void *stream, int *out) {
    // The default queue is never captured.
    return stream ? kcrt_driver_stream_capturing(handle, stream, out) : KCRT_OK;
}

static kcrt_status copy_peer(void *dst_handle, void *dst, uint64_t dst_offset, void *src_handle,
                             const void *src, uint64_t src_offset, size_t bytes) {
    const kcrt_driver_device *to = dst_handle, *from = src_handle;
    const hip_driver *d = (const hip_driver *)to->driver;
    int before;
    if (!d->hipMemcpyPeer)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` does not copy between devices.",
                         d->base.kind);
    kcrt_status status = kcrt_driver_enter(to, &before);
    if (status) return status;
    hipError_t r = d->hipMemcpyPeer((char *)dst + dst_offset, to->ordinal,
                                    (const char *)src + src_offset, from->ordinal, bytes);
    if (r == DRIVER_SUCCESS) r = d->base.device_sync(); // the copy itself may be asynchronous
    return kcrt_driver_leave(to, before, r, "Memory cannot be copied between devices");
}

static int rank(void *handle, const char *triple, const char *arch, const char *role,
                const char **reason) {
    const kcrt_driver_device *device = handle;
    return strcmp(triple, "hip") ? 0 : kcrt_rank_hip(device->arch, arch, role, reason);
}

static kcrt_status launch(void *handle, void *kernel, const kcrt_launch_shape *s,
                          const kcrt_kernel_arg *args, int n, void *stream) {
    if (s->cluster[0] * s->cluster[1] * s->cluster[2] > 1)
        return kcrt_fail(KCRT_UNSUPPORTED, "AMD devices have no clusters.");
    return kcrt_driver_launch(handle, kernel, s, args, n, stream);
}

// Dynamic shared memory needs no asking: a group may have all of its LDS.
#define HIP_TABLE(driver)                                                                          \
    {                                                                                              \
        KCRT_DRIVER_MEMBERS, .user = &(driver), .open = open_device, .close = free,                \
                             .copy_peer = copy_peer, .stream_wrap = stream_wrap,                   \
                             .stream_capturing = stream_capturing, .rank = rank,                   \
                             .kernel_get = kcrt_driver_kernel_get, .launch = launch                \
    }

const kcrt_device_api kcrt_hip_api = HIP_TABLE(real_driver);
const kcrt_device_api kcrt_hip_sim_api = HIP_TABLE(sim_driver);
