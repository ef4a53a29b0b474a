// A stand-in for libkcrt_ref.so, for tests of `--check` alone: whatever the function, its last
// argument is its first one. $MOCK_SHIFT is added to every value before rounding, and $MOCK_BOUND
// is every bound.
#include <stdlib.h>
#include <string.h>

#include "ir/dtype.h"
#include "runtime/kcrt_device.h"

static char sentence[200];

static kcrt_status count(void *user, int *out) {
    (void)user;
    *out = 1;
    return KCRT_OK;
}

static kcrt_status open_device(void *user, const char *which, int *ordinal, void **device) {
    (void)user, (void)which;
    *ordinal = 0;
    *device = sentence;
    return KCRT_OK;
}

static void close_device(void *device) {
    (void)device;
}

static kcrt_status attr(void *device, kcrt_attr which, int64_t *out) {
    (void)device, (void)which, (void)out;
    strcpy(sentence, "The stand-in has no attributes.");
    return KCRT_UNSUPPORTED;
}

static kcrt_status string(void *device, kcrt_attr which, char *buf, size_t size) {
    (void)device, (void)which;
    strncpy(buf, "mock", size);
    return KCRT_OK;
}

static kcrt_status memory_alloc(void *device, size_t bytes, void **base) {
    (void)device;
    *base = aligned_alloc(256, (bytes + 255) & ~(size_t)255);
    return KCRT_OK;
}

static kcrt_status memory_free(void *device, void *base) {
    (void)device;
    free(base);
    return KCRT_OK;
}

static uint64_t address(void *base, uint64_t offset) {
    return (uint64_t)(uintptr_t)base + offset;
}

static kcrt_status copy(void *device, kcrt_copy_kind kind, void *dst, uint64_t to, const void *src,
                        uint64_t from, size_t bytes, void *stream) {
    (void)device, (void)kind, (void)stream;
    memcpy((char *)dst + to, (const char *)src + from, bytes);
    return KCRT_OK;
}

static int rank(void *device, const char *triple, const char *arch, const char *role,
                const char **reason) {
    (void)device, (void)triple, (void)arch, (void)reason;
    return !strcmp(role, "ir");
}

static kcrt_status module_load(void *device, const char *role, const void *image, size_t size,
                               void **module) {
    (void)device, (void)role, (void)size;
    *module = (void *)(uintptr_t)image;
    return KCRT_OK;
}

static void module_unload(void *device, void *module) {
    (void)device, (void)module;
}

static kcrt_status function_check(void *device, void *module, const char *function) {
    (void)device, (void)module;
    if (strcmp(function, "copy_u8")) return KCRT_OK;
    strcpy(sentence, "The stand-in does not know copy_u8.");
    return KCRT_NOT_FOUND;
}

static double number(const char *name) {
    const char *text = getenv(name);
    return text ? strtod(text, NULL) : 0;
}

static kc_dtype type_of(const DLTensor *t) {
    for (int i = 0; i < KC_DTYPE_COUNT; i++)
        if (kc_dtype_table[i].dl_code == t->dtype.code &&
            kc_dtype_table[i].dl_bits == t->dtype.bits)
            return (kc_dtype)i;
    return KC_DTYPE_NONE;
}

// Dense tensors alone.
static kcrt_status launch_function(void *device, void *module, const char *function,
                                   const kcrt_function_call *call, void *stream) {
    (void)device, (void)module, (void)function, (void)stream;
    int y = call->arg_count - 1;
    const DLTensor *from = call->tensors[0], *to = call->tensors[y];
    kc_dtype type = type_of(from);
    int64_t n = 1;
    for (int i = 0; i < from->ndim; i++)
        n *= from->shape[i];
    for (int64_t i = 0; i < n; i++) {
        const char *in = (const char *)from->data + from->byte_offset;
        double value = kc_dtype_get(type, in, i) + number("MOCK_SHIFT");
        void *out = (char *)to->data + to->byte_offset;
        if (kc_dtype_is_float(type)) kc_dtype_put(type, out, i, value);
        else
            kc_dtype_put_i64(type, out, i,
                             kc_dtype_get_i64(type, in, i) + (int64_t)number("MOCK_SHIFT"));
        if (call->values && call->values[y]) call->values[y][i] = value;
        if (call->bounds && call->bounds[y]) call->bounds[y][i] = number("MOCK_BOUND");
    }
    return KCRT_OK;
}

static const char *last_error(void) {
    return sentence;
}

__attribute__((visibility("default"))) const kcrt_device_api *kcrt_ref_device_api(void);
const kcrt_device_api *kcrt_ref_device_api(void) {
    static const kcrt_device_api api = {
        .size = sizeof api,
        .version = KCRT_DEVICE_API_VERSION,
        .count = count,
        .open = open_device,
        .close = close_device,
        .attr = attr,
        .string = string,
        .alloc = memory_alloc,
        .free = memory_free,
        .address = address,
        .copy = copy,
        .rank = rank,
        .module_load = module_load,
        .module_unload = module_unload,
        .function_check = function_check,
        .launch_function = launch_function,
        .last_error = last_error,
    };
    return &api;
}
