// Memory, copies and streams of a driver's device. A base is the driver's address.
#include "runtime/driver.h"

uint64_t kcrt_driver_address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

static void *at(const void *base, uint64_t offset) {
    return (void *)((uintptr_t)base + offset);
}

kcrt_status kcrt_driver_alloc(void *handle, size_t bytes, void **out) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, device->driver->memory_alloc(out, bytes),
                             "Memory cannot be allocated");
}

kcrt_status kcrt_driver_free(void *handle, void *base) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, device->driver->memory_free(base),
                             "Memory cannot be freed");
}

static driver_result copy(const kcrt_driver *d, kcrt_copy_kind kind, void *dst, void *src,
                          size_t bytes, void *stream) {
    if (kind == KCRT_DEVICE_TO_DEVICE) return d->copy_within(dst, src, bytes, stream);
    driver_result r = kind == KCRT_HOST_TO_DEVICE ? d->copy_in(dst, src, bytes, stream)
                                                  : d->copy_out(dst, src, bytes, stream);
    return r == DRIVER_SUCCESS ? d->stream_sync(stream) : r;
}

kcrt_status kcrt_driver_copy(void *handle, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                             const void *src, uint64_t src_offset, size_t bytes, void *stream) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r =
        copy(device->driver, kind, at(dst, dst_offset), at(src, src_offset), bytes, stream);
    return kcrt_driver_leave(device, before, r, "Memory cannot be copied");
}

kcrt_status kcrt_driver_memset(void *handle, void *base, uint64_t offset, int value, size_t bytes,
                               void *stream) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r = device->driver->fill(at(base, offset), (unsigned char)value, bytes, stream);
    return kcrt_driver_leave(device, before, r, "Memory cannot be filled");
}

// ---- Streams ------------------------------------------------------------------------------------

kcrt_status kcrt_driver_stream_create(void *handle, void **out) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r = device->driver->stream_create(out, DRIVER_STREAM_NON_BLOCKING);
    return kcrt_driver_leave(device, before, r, "A stream cannot be created");
}

void kcrt_driver_stream_free(void *handle, void *stream) {
    const kcrt_driver_device *device = handle;
    int before;
    if (kcrt_driver_enter(device, &before)) return;
    device->driver->stream_destroy(stream);
    device->driver->vendor->restore(device, before);
}

kcrt_status kcrt_driver_stream_sync(void *handle, void *stream) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, device->driver->stream_sync(stream),
                             "Work on the stream failed");
}

static driver_result wait_for(const kcrt_driver *d, void *waiter, void *on) {
    driver_event event = NULL;
    driver_result r = d->event_create(&event, DRIVER_EVENT_DISABLE_TIMING);
    if (r != DRIVER_SUCCESS) return r;
    r = d->event_record(event, on);
    if (r == DRIVER_SUCCESS) r = d->stream_wait(waiter, event, 0);
    d->event_destroy(event); // the driver keeps it until the wait is over
    return r;
}

kcrt_status kcrt_driver_stream_wait(void *handle, void *waiter, void *on) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, wait_for(device->driver, waiter, on),
                             "A stream cannot be made to wait");
}

kcrt_status kcrt_driver_stream_capturing(void *handle, void *stream, int *out) {
    const kcrt_driver_device *device = handle;
    driver_capture capture = DRIVER_CAPTURE_NONE;
    int before;
    if (!device->driver->stream_capturing) return KCRT_OK;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    driver_result r = device->driver->stream_capturing(stream, &capture);
    *out = capture != DRIVER_CAPTURE_NONE;
    return kcrt_driver_leave(device, before, r,
                             "The stream cannot be asked whether it is captured");
}

kcrt_status kcrt_driver_device_sync(void *handle) {
    const kcrt_driver_device *device = handle;
    int before;
    kcrt_status status = kcrt_driver_enter(device, &before);
    if (status) return status;
    return kcrt_driver_leave(device, before, device->driver->device_sync(),
                             "Work on the device failed");
}
