// The table of the device: host memory, one queue, and images of role `ir`.
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int the_device; // its address is the handle

static kcrt_status count(void *user, int *out) {
    (void)user;
    *out = 1;
    return KCRT_OK;
}

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **device) {
    (void)user;
    if (which && *which && strcmp(which, "0"))
        return ref_fail(KCRT_NO_DEVICE, "There is no device ref:%.64s; there is `ref` alone.",
                        which);
    *ordinal = 0;
    *device = &the_device;
    return KCRT_OK;
}

static void close_device(void *device) {
    (void)device;
}

static kcrt_status attr(void *device, kcrt_attr which, int64_t *out) {
    (void)device;
    int64_t page = sysconf(_SC_PAGESIZE);
    switch (which) {
    case KCRT_ATTR_EXIST: *out = 1; return KCRT_OK;
    case KCRT_ATTR_API_VERSION: *out = KCRT_DEVICE_API_VERSION; return KCRT_OK;
    case KCRT_ATTR_WARP_SIZE: *out = 1; return KCRT_OK;
    case KCRT_ATTR_MULTIPROCESSORS: *out = sysconf(_SC_NPROCESSORS_ONLN); return KCRT_OK;
    case KCRT_ATTR_TOTAL_MEMORY: *out = sysconf(_SC_PHYS_PAGES) * page; return KCRT_OK;
    case KCRT_ATTR_AVAILABLE_MEMORY: *out = sysconf(_SC_AVPHYS_PAGES) * page; return KCRT_OK;
    default: return ref_fail(KCRT_UNSUPPORTED, "The device `ref` does not have this attribute.");
    }
}

static kcrt_status string(void *device, kcrt_attr which, char *buf, size_t size) {
    (void)device;
    if (which != KCRT_ATTR_NAME && which != KCRT_ATTR_ARCH)
        return ref_fail(KCRT_UNSUPPORTED, "The device `ref` does not have this attribute.");
    snprintf(buf, size, "%s", which == KCRT_ATTR_NAME ? "reference interpreter" : "ref");
    return KCRT_OK;
}

// ---- memory -------------------------------------------------------------------------------------

static kcrt_status alloc(void *device, size_t bytes, void **base) {
    (void)device;
    *base = bytes > SIZE_MAX - 255 ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *base ? KCRT_OK
                 : ref_fail(KCRT_OUT_OF_MEMORY,
                            "Not enough host memory for %zu bytes on the device `ref`.", bytes);
}

static kcrt_status release(void *device, void *base) {
    (void)device;
    free(base);
    return KCRT_OK;
}

static uint64_t address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

static kcrt_status copy(void *device, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                        const void *src, uint64_t src_offset, size_t bytes, void *stream) {
    (void)device, (void)kind, (void)stream;
    memcpy((char *)dst + dst_offset, (const char *)src + src_offset, bytes);
    return KCRT_OK;
}

static kcrt_status set_memory(void *device, void *base, uint64_t offset, int value, size_t bytes,
                              void *stream) {
    (void)device, (void)stream;
    memset((char *)base + offset, value, bytes);
    return KCRT_OK;
}

// -------------------------------------------------------------------------------------------------

static int rank(void *device, const char *triple, const char *arch, const char *role,
                const char **reason) {
    (void)device, (void)arch;
    if (!strcmp(triple, "kc") && !strcmp(role, "ir")) return 1;
    if (reason) *reason = "the reference runs tensor IR alone";
    return 0;
}

static const kcrt_device_api api = {
    .size = sizeof api,
    .version = KCRT_DEVICE_API_VERSION,
    .count = count,
    .open = open_device,
    .close = close_device,
    .attr = attr,
    .string = string,
    .alloc = alloc,
    .free = release,
    .address = address,
    .copy = copy,
    .memset = set_memory,
    .rank = rank,
    .module_load = ref_module_load,
    .module_unload = ref_module_unload,
    .function_check = ref_function_check,
    .launch_function = ref_launch,
    .last_error = ref_last_error,
    .report = ref_report,
};

KCRT_API const kcrt_device_api *kcrt_ref_device_api(void);

const kcrt_device_api *kcrt_ref_device_api(void) {
    return &api;
}
