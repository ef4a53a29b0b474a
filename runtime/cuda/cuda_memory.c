// Memory, copies and streams of a CUDA device. A base is a CUdeviceptr.
#include "runtime/cuda/cuda_driver.h"

uint64_t cuda_address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

// Runs one driver call in the device's context. `r` and `d` are in scope for `call`.
#define IN_CONTEXT(device, call, what)                                                             \
    const cuda_driver *d = (device)->driver;                                                       \
    bool pushed;                                                                                   \
    kcrt_status status = cuda_enter(device, &pushed);                                              \
    if (status) return status;                                                                     \
    CUresult r = call;                                                                             \
    status = cuda_check(d, device, r, what);                                                       \
    cuda_leave(device, pushed)

kcrt_status cuda_alloc(void *handle, size_t bytes, void **out) {
    cuda_device *device = handle;
    CUdeviceptr at = 0;
    IN_CONTEXT(device, d->cuMemAlloc_v2(&at, bytes), "Memory cannot be allocated");
    *out = (void *)(uintptr_t)at;
    return status;
}

kcrt_status cuda_free(void *handle, void *base) {
    cuda_device *device = handle;
    IN_CONTEXT(device, d->cuMemFree_v2((CUdeviceptr)(uintptr_t)base), "Memory cannot be freed");
    return status;
}

static CUresult copy(const cuda_driver *d, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                     const void *src, uint64_t src_offset, size_t bytes, CUstream stream) {
    CUdeviceptr to = cuda_address(dst, dst_offset),
                from = cuda_address((void *)(uintptr_t)src, src_offset);
    if (kind == KCRT_DEVICE_TO_DEVICE) return d->cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
    CUresult r = kind == KCRT_HOST_TO_DEVICE ? d->cuMemcpyHtoDAsync_v2(to, src, bytes, stream)
                                             : d->cuMemcpyDtoHAsync_v2(dst, from, bytes, stream);
    return r == CUDA_SUCCESS ? d->cuStreamSynchronize(stream) : r;
}

kcrt_status cuda_copy(void *handle, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                      const void *src, uint64_t src_offset, size_t bytes, void *stream) {
    cuda_device *device = handle;
    IN_CONTEXT(device, copy(d, kind, dst, dst_offset, src, src_offset, bytes, stream),
               "Memory cannot be copied");
    return status;
}

static CUresult copy_peer(const cuda_device *to, CUdeviceptr dst, const cuda_device *from,
                          CUdeviceptr src, size_t bytes) {
    const cuda_driver *d = to->driver;
    CUresult r = d->cuMemcpyPeer(dst, to->context, src, from->context, bytes);
    return r == CUDA_SUCCESS ? d->cuCtxSynchronize()
                             : r; // the copy itself may be asynchronous with the host
}

kcrt_status cuda_copy_peer(void *dst_handle, void *dst, uint64_t dst_offset, void *src_handle,
                           const void *src, uint64_t src_offset, size_t bytes) {
    cuda_device *to = dst_handle, *from = src_handle;
    if (!to->driver->cuMemcpyPeer)
        return kcrt_fail(KCRT_UNSUPPORTED, "The driver of `%s` does not copy between devices.",
                         to->driver->kind);
    IN_CONTEXT(to,
               copy_peer(to, cuda_address(dst, dst_offset), from,
                         cuda_address((void *)(uintptr_t)src, src_offset), bytes),
               "Memory cannot be copied between devices");
    (void)d;
    return status;
}

kcrt_status cuda_memset(void *handle, void *base, uint64_t offset, int value, size_t bytes,
                        void *stream) {
    cuda_device *device = handle;
    IN_CONTEXT(device,
               d->cuMemsetD8Async(cuda_address(base, offset), (unsigned char)value, bytes, stream),
               "Memory cannot be filled");
    return status;
}

// ---- Streams ------------------------------------------------------------------------------------

kcrt_status cuda_stream_create(void *handle, void **out) {
    cuda_device *device = handle;
    CUstream stream = NULL;
    IN_CONTEXT(device, d->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
               "A stream cannot be created");
    *out = stream;
    return status;
}

kcrt_status cuda_stream_wrap(void *handle, void *native, void **out) {
    cuda_device *device = handle;
    const cuda_driver *d = device->driver;
    CUcontext context = NULL;
    *out = native;
    if (!d->cuStreamGetCtx || (uintptr_t)native <= 2)
        return KCRT_OK; // 0, 1 and 2 are the default streams of any context
    kcrt_status status =
        cuda_check(d, device, d->cuStreamGetCtx(native, &context), "The stream cannot be used");
    if (!status && context != device->context)
        status = kcrt_fail(KCRT_INVALID_ARGUMENT,
                           "The stream does not belong to the primary context of %s:%d.", d->kind,
                           device->ordinal);
    return status;
}

void cuda_stream_free(void *handle, void *stream) {
    cuda_device *device = handle;
    bool pushed;
    if (cuda_enter(device, &pushed)) return;
    device->driver->cuStreamDestroy_v2(stream);
    cuda_leave(device, pushed);
}

kcrt_status cuda_stream_sync(void *handle, void *stream) {
    cuda_device *device = handle;
    IN_CONTEXT(device, d->cuStreamSynchronize(stream), "Work on the stream failed");
    return status;
}

static CUresult wait_for(const cuda_driver *d, CUstream waiter, CUstream on) {
    CUevent event = NULL;
    CUresult r = d->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    if (r != CUDA_SUCCESS) return r;
    r = d->cuEventRecord(event, on);
    if (r == CUDA_SUCCESS) r = d->cuStreamWaitEvent(waiter, event, 0);
    d->cuEventDestroy_v2(event); // the driver keeps it until the wait is over
    return r;
}

kcrt_status cuda_stream_wait(void *handle, void *waiter, void *on) {
    cuda_device *device = handle;
    IN_CONTEXT(device, wait_for(d, waiter, on), "A stream cannot be made to wait");
    return status;
}

kcrt_status cuda_stream_capturing(void *handle, void *stream, int *out) {
    cuda_device *device = handle;
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!device->driver->cuStreamIsCapturing) return KCRT_OK;
    IN_CONTEXT(device, d->cuStreamIsCapturing(stream, &capture),
               "The stream cannot be asked whether it is captured");
    *out = capture != CU_STREAM_CAPTURE_STATUS_NONE;
    return status;
}

kcrt_status cuda_device_sync(void *handle) {
    cuda_device *device = handle;
    IN_CONTEXT(device, d->cuCtxSynchronize(), "Work on the device failed");
    return status;
}
