// A plug-in device for tests: memory is malloc'ed, a launch is written down. Its dl type is
// kDLExtDev.
//
// An image whose text starts with "no" is turned away with the rest of the text as the reason.
// Every symbol is a kernel but "missing".
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrt_device.h"

typedef struct {
    int count; // of launches since the last reset
    char kernel[64];
    kcrt_launch_shape shape;
    kcrt_kernel_arg args[128];
    int arg_count;
} fake_launches;

static fake_launches fake_seen;
static char fake_log[4096]; // one word a driver call: "launch:k0 memset copy"
static int fake_live_allocations, fake_live_modules;
static bool fake_capturing, fake_out_of_memory;

static inline void fake_note(const char *text) {
    size_t n = strlen(fake_log);
    snprintf(fake_log + n, sizeof fake_log - n, "%s%s", n ? " " : "", text);
}

static kcrt_status fake_count(void *user, int *out) {
    (void)user;
    *out = 2;
    return KCRT_OK;
}

static kcrt_status fake_open(void *user, const char *which, int *ordinal, void **device) {
    (void)user;
    if (which && strcmp(which, "0") && strcmp(which, "1"))
        return kcrt_fail(KCRT_NO_DEVICE, "There is no fake:%s.", which);
    *ordinal = which ? which[0] - '0' : 0;
    *device = &fake_seen;
    return KCRT_OK;
}

static void fake_close(void *device) {
    (void)device;
}

static kcrt_status fake_attr(void *device, kcrt_attr attr, int64_t *out) {
    (void)device;
    if (attr == KCRT_ATTR_MULTIPROCESSORS) *out = 7;
    else return kcrt_fail(KCRT_UNSUPPORTED, "A fake has no attribute %d.", (int)attr);
    return KCRT_OK;
}

static kcrt_status fake_string(void *device, kcrt_attr attr, char *buf, size_t size) {
    (void)device;
    snprintf(buf, size, "%s", attr == KCRT_ATTR_ARCH ? "f1" : "Fake device");
    return KCRT_OK;
}

static kcrt_status fake_alloc(void *device, size_t bytes, void **base) {
    (void)device;
    if (fake_out_of_memory) return kcrt_fail(KCRT_OUT_OF_MEMORY, "The fake has no memory left.");
    *base = aligned_alloc(256, (bytes + 255) & ~(size_t)255);
    fake_live_allocations++;
    fake_note("alloc");
    return KCRT_OK;
}

static kcrt_status fake_free(void *device, void *base) {
    (void)device;
    free(base);
    fake_live_allocations--;
    fake_note("free");
    return KCRT_OK;
}

static uint64_t fake_address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

static kcrt_status fake_copy(void *device, kcrt_copy_kind kind, void *dst, uint64_t dst_offset,
                             const void *src, uint64_t src_offset, size_t bytes, void *stream) {
    (void)device, (void)stream;
    memcpy((char *)dst + dst_offset, (const char *)src + src_offset, bytes);
    fake_note(kind == KCRT_DEVICE_TO_DEVICE ? "copy" : kind == KCRT_HOST_TO_DEVICE ? "in" : "out");
    return KCRT_OK;
}

static kcrt_status fake_memset(void *device, void *base, uint64_t offset, int value, size_t bytes,
                               void *stream) {
    (void)device, (void)stream;
    memset((char *)base + offset, value, bytes);
    fake_note("memset");
    return KCRT_OK;
}

static kcrt_status fake_is_capturing(void *device, void *stream, int *out) {
    (void)device, (void)stream;
    *out = fake_capturing;
    return KCRT_OK;
}

static int fake_rank(void *device, const char *triple, const char *arch, const char *role,
                     const char **reason) {
    (void)device, (void)role;
    if (strcmp(triple, "fake")) return 0;
    *reason = "not a fake architecture";
    return arch[0] == 'f' ? arch[1] - '0' + 1 : 0;
}

static kcrt_status fake_module_load(void *device, const char *role, const void *image, size_t size,
                                    void **module) {
    (void)device, (void)role;
    fake_note("load");
    if (size > 2 && !memcmp(image, "no", 2))
        return kcrt_fail(KCRT_NO_IMAGE, "%.*s", (int)(size - 3), (const char *)image + 3);
    *module = (void *)(uintptr_t)image;
    fake_live_modules++;
    return KCRT_OK;
}

static void fake_module_unload(void *device, void *module) {
    (void)device, (void)module;
    fake_live_modules--;
}

static kcrt_status fake_kernel_get(void *device, void *module, const char *symbol,
                                   uint64_t max_shared, void **kernel) {
    (void)device, (void)module, (void)max_shared;
    if (!strcmp(symbol, "missing"))
        return kcrt_fail(KCRT_BAD_PACKAGE, "The image has no kernel `missing`.");
    *kernel = (void *)(uintptr_t)symbol; // lives as long as the manifest
    return KCRT_OK;
}

static kcrt_status fake_launch(void *device, void *kernel, const kcrt_launch_shape *shape,
                               const kcrt_kernel_arg *args, int n, void *stream) {
    (void)device, (void)stream;
    fake_seen.count++;
    snprintf(fake_seen.kernel, sizeof fake_seen.kernel, "%s", (const char *)kernel);
    fake_seen.shape = *shape;
    memcpy(fake_seen.args, args, (size_t)n * sizeof *args);
    fake_seen.arg_count = n;
    fake_note(kernel);
    return KCRT_OK;
}

static kcrt_device_api fake_api = {
    .size = sizeof(kcrt_device_api),
    .version = KCRT_DEVICE_API_VERSION,
    .count = fake_count,
    .open = fake_open,
    .close = fake_close,
    .attr = fake_attr,
    .string = fake_string,
    .alloc = fake_alloc,
    .free = fake_free,
    .address = fake_address,
    .copy = fake_copy,
    .memset = fake_memset,
    .stream_capturing = fake_is_capturing,
    .rank = fake_rank,
    .module_load = fake_module_load,
    .module_unload = fake_module_unload,
    .kernel_get = fake_kernel_get,
    .launch = fake_launch,
};

#endif
