// Closing a device and asking about it; registry.c opens it.
#include <stdlib.h>

#include "runtime/object.h"

kcrt_status kcrt_null_argument(const char *function) {
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s was given a NULL pointer.", function);
}

void kcrt_device_close(kcrt_device *device) {
    if (!device) return;
    kcrt_registry_forget(device);
    kcrt_pool_release(&device->queue);
    for (size_t i = 0; i < device->block_count; i++)
        device->blocks[i].in_use = false;
    kcrt_pool_drop_free(device);
    free(device->blocks);
    device->api->close(device->handle);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

kcrt_status kcrt_device_attr(kcrt_device *device, kcrt_attr attr, int64_t *out) {
    if (out) *out = 0;
    if (!device || !out) return kcrt_null_argument("kcrt_device_attr");
    if (attr == KCRT_ATTR_EXIST) {
        *out = 1;
        return KCRT_OK;
    }
    if (attr < 0 || attr >= KCRT_ATTR_COUNT || attr == KCRT_ATTR_NAME || attr == KCRT_ATTR_ARCH)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "Attribute %d is not a number that a device has.",
                         (int)attr);
    return kcrt_from_device(device->api, device->api->attr(device->handle, attr, out));
}

kcrt_status kcrt_device_string(kcrt_device *device, kcrt_attr attr, char *buf, size_t size) {
    if (buf && size) *buf = 0;
    if (!device || !buf || !size) return kcrt_null_argument("kcrt_device_string");
    if (attr != KCRT_ATTR_NAME && attr != KCRT_ATTR_ARCH)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "Attribute %d is not a string that a device has.",
                         (int)attr);
    return kcrt_from_device(device->api, device->api->string(device->handle, attr, buf, size));
}

DLDevice kcrt_device_dl(kcrt_device *device) {
    return device->dl;
}

kcrt_status kcrt_device_set_seed(kcrt_device *device, uint64_t seed) {
    if (!device) return kcrt_null_argument("kcrt_device_set_seed");
    if (!device->api->set_seed)
        return kcrt_fail(KCRT_UNSUPPORTED, "%s is not a simulator: it has no seed.", device->name);
    return kcrt_from_device(device->api, device->api->set_seed(device->handle, seed));
}

kcrt_status kcrt_device_report(kcrt_device *device, char **json) {
    if (json) *json = NULL;
    if (!device || !json) return kcrt_null_argument("kcrt_device_report");
    if (!device->api->report)
        return kcrt_fail(KCRT_UNSUPPORTED, "%s is not a simulator: it counts nothing.",
                         device->name);
    return kcrt_from_device(device->api, device->api->report(device->handle, json));
}
