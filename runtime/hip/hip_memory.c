// Memory, copies and streams of a HIP device.
#include "runtime/hip/hip_driver.h"

uint64_t hip_address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

static void *at(const void *base, uint64_t offset) {
    return (void *)(uintptr_t)hip_address((void *)(uintptr_t)base, offset);
}

// Runs one call with the device current. `r` and `d` are in scope for `call`.
#define ON_DEVICE(device, call, what)                                                              \
    const hip_driver *d = (device)->driver;                                                        \
    int previous;                                                                                  \
    kcrt_status status = hip_enter(device, &previous);                                             \
    if (status) return status;                                                                     \
    hipError_t r = call;                                                                           \
    status = hip_check(d, device, r, what);                                                        \
    hip_leave(device, previous)

kcrt_status hip_alloc(void *handle, size_t bytes, void **out) {
    hip_device *device = handle;
    ON_DEVICE(device, d->hipMalloc(out, bytes), "Memory cannot be allocated");
    return status;
}

kcrt_status hip_free(void *handle, void *base) {
    hip_device *device = handle;
    ON_DEVICE(device, d->hipFree(base), "Memory cannot be freed");
    return status;
}

static hipError_t copy(const hip_driver *d, kcrt_copy_kind kind, void *dst, void *src, size_t bytes,
                       hipStream_t stream) {
    if (kind == KCRT_DEVICE_TO_DEVICE) return d->hipMemcpyDtoDAsync(dst, src, bytes, stream);
    hipError_t r = kind == KCRT_HOST_TO_DEVICE ? d->hipMemcpyHtoDAsync(dst, src, bytes, stream)
                                               : d->hipMemcpyDtoHAsync(dst, src, bytes, stream);
    return r == hipSuccess ? d->hipStreamSynchronize(stream) : r;
}

kcrt_status hip_copy(void *handle, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                     const void *src, uint64_t src_offset, size_t bytes, void *stream) {
    hip_device *device = handle;
    ON_DEVICE(device, copy(d, kind, at(dst, dst_offset), at(src, src_offset), bytes, stream),
              "Memory cannot be copied");
    return status;
}

static hipError_t copy_peer(const hip_driver *d, void *dst, int to, const void *src, int from,
                            size_t bytes) {
    hipError_t r = d->hipMemcpyPeer(dst, to, src, from, bytes);
    return r == hipSuccess ? d->hipDeviceSynchronize()
                           : r; // the copy itself may be asynchronous with the host
}

kcrt_status hip_copy_peer(void *dst_handle, void *dst, uint64_t dst_offset, void *src_handle,
                          const void *src, uint64_t src_offset, size_t bytes) {
    hip_device *to = dst_handle, *from = src_handle;
    if (!to->driver->hipMemcpyPeer)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` does not copy between devices.",
                         to->driver->kind);
    ON_DEVICE(
        to,
        copy_peer(d, at(dst, dst_offset), to->ordinal, at(src, src_offset), from->ordinal, bytes),
        "Memory cannot be copied between devices");
    return status;
}

kcrt_status hip_memset(void *handle, void *base, uint64_t offset, int value, size_t bytes,
                       void *stream) {
    hip_device *device = handle;
    ON_DEVICE(device, d->hipMemsetD8Async(at(base, offset), (unsigned char)value, bytes, stream),
              "Memory cannot be filled");
    return status;
}

// ---- Streams ------------------------------------------------------------------------------------

kcrt_status hip_stream_create(void *handle, void **out) {
    hip_device *device = handle;
    hipStream_t stream = NULL;
    ON_DEVICE(device, d->hipStreamCreateWithFlags(&stream, hipStreamNonBlocking),
              "A stream cannot be created");
    *out = stream;
    return status;
}

kcrt_status hip_stream_wrap(void *handle, void *native, void **out) {
    (void)handle;
    *out = native;
    return KCRT_OK;
}

void hip_stream_free(void *handle, void *stream) {
    hip_device *device = handle;
    int previous;
    if (hip_enter(device, &previous)) return;
    device->driver->hipStreamDestroy(stream);
    hip_leave(device, previous);
}

kcrt_status hip_stream_sync(void *handle, void *stream) {
    hip_device *device = handle;
    ON_DEVICE(device, d->hipStreamSynchronize(stream), "Work on the stream failed");
    return status;
}

static hipError_t wait_for(const hip_driver *d, hipStream_t waiter, hipStream_t on) {
    hipEvent_t event = NULL;
    hipError_t r = d->hipEventCreateWithFlags(&event, hipEventDisableTiming);
    if (r != hipSuccess) return r;
    r = d->hipEventRecord(event, on);
    if (r == hipSuccess) r = d->hipStreamWaitEvent(waiter, event, 0);
    d->hipEventDestroy(event); // the runtime keeps it until the wait is over
    return r;
}

kcrt_status hip_stream_wait(void *handle, void *waiter, void *on) {
    hip_device *device = handle;
    ON_DEVICE(device, wait_for(d, waiter, on), "A stream cannot be made to wait");
    return status;
}

kcrt_status hip_stream_capturing(void *handle, void *stream, int *out) {
    hip_device *device = handle;
    hipStreamCaptureStatus capture = hipStreamCaptureStatusNone;
    if (!device->driver->hipStreamIsCapturing || !stream)
        return KCRT_OK; // the default queue is never captured
    ON_DEVICE(device, d->hipStreamIsCapturing(stream, &capture),
              "The stream cannot be asked whether it is captured");
    *out = capture != hipStreamCaptureStatusNone;
    return status;
}

kcrt_status hip_device_sync(void *handle) {
    hip_device *device = handle;
    ON_DEVICE(device, d->hipDeviceSynchronize(), "Work on the device failed");
    return status;
}
