// Streams. NULL is the device's default queue; a device without stream_create has no other.
#include <stdlib.h>

#include "runtime/object.h"

static kcrt_status new_stream(kcrt_device *device, void *native, kcrt_stream **out) {
    kcrt_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory for a stream.");
    stream->device = device;
    stream->native = native;
    pthread_mutex_init(&stream->lock, NULL);
    *out = stream;
    return KCRT_OK;
}

kcrt_status kcrt_stream_create(kcrt_device *device, kcrt_stream **out) {
    if (out) *out = NULL;
    if (!device || !out) return kcrt_null_argument("kcrt_stream_create");
    const kcrt_device_api *api = device->api;
    void *native = NULL;
    if (!api->stream_create) return KCRT_OK;
    kcrt_status status = kcrt_from_device(api, api->stream_create(device->handle, &native));
    if (!status) status = new_stream(device, native, out);
    if (status && native) api->stream_free(device->handle, native);
    return status;
}

kcrt_status kcrt_stream_wrap(kcrt_device *device, void *native, kcrt_stream **out) {
    if (out) *out = NULL;
    if (!device || !out) return kcrt_null_argument("kcrt_stream_wrap");
    const kcrt_device_api *api = device->api;
    void *wrapped = NULL;
    if (!api->stream_wrap)
        return kcrt_fail(KCRT_UNSUPPORTED, "%s has no streams of a driver to wrap.", device->name);
    kcrt_status status = kcrt_from_device(api, api->stream_wrap(device->handle, native, &wrapped));
    if (!status) status = new_stream(device, wrapped, out);
    if (!status) (*out)->borrowed = true;
    return status;
}

kcrt_status kcrt_stream_sync(kcrt_stream *stream) {
    if (!stream) return kcrt_registry_sync_queues();
    const kcrt_device_api *api = stream->device->api;
    if (!api->stream_sync) return KCRT_OK;
    return kcrt_from_device(api, api->stream_sync(stream->device->handle, stream->native));
}

kcrt_status kcrt_device_sync(kcrt_device *device) {
    if (!device) return kcrt_null_argument("kcrt_device_sync");
    if (!device->api->device_sync) return KCRT_OK;
    return kcrt_from_device(device->api, device->api->device_sync(device->handle));
}

kcrt_status kcrt_stream_wait(kcrt_stream *waiter, kcrt_stream *on) {
    if (!waiter && !on) return KCRT_OK;
    kcrt_device *device = waiter ? waiter->device : on->device;
    if (waiter && on && waiter->device->api != on->device->api)
        return kcrt_fail(KCRT_UNSUPPORTED, "A stream of %s cannot wait for one of %s.",
                         waiter->device->name, on->device->name);
    if (!device->api->stream_wait || waiter == on) return KCRT_OK;
    if (waiter && on && waiter->device != on->device)
        return kcrt_stream_sync(on); // events belong to one device's context
    return kcrt_from_device(device->api, device->api->stream_wait(
                                             device->handle, kcrt_native(waiter), kcrt_native(on)));
}

void kcrt_stream_free(kcrt_stream *stream) {
    if (!stream) return;
    kcrt_pool_release(stream);
    if (!stream->borrowed) stream->device->api->stream_free(stream->device->handle, stream->native);
    free(stream);
}
