// The `hip` device on a scripted library: the current device restored, target ids ranked, images
// walked through.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack.h"
#include "runtime/builtin.h"
#include "runtime/hip/hip_driver.h"
#include "runtime/kcrt.h"

static int current, switches, loads, launches;
static hipError_t load_result;
static const void *loaded_image;
static uint64_t seen_pointer;
static unsigned seen_grid;

static hipError_t init(unsigned flags) {
    return flags;
}
static hipError_t version(int *v) {
    *v = 60000000;
    return hipSuccess;
}
static const char *error_name(hipError_t r) {
    return r == hipErrorNoBinaryForGpu ? "hipErrorNoBinaryForGpu" : "hipErrorOther";
}
static const char *error_string(hipError_t r) {
    (void)r;
    return "the library's text";
}
static hipError_t device_count(int *n) {
    *n = 2;
    return hipSuccess;
}
static hipError_t get_device(int *d) {
    *d = current;
    return hipSuccess;
}
static hipError_t set_device(int d) {
    current = d;
    switches++;
    return hipSuccess;
}
static hipError_t device_name(char *name, int n, hipDevice_t d) {
    snprintf(name, (size_t)n, "Scripted %d", d);
    return hipSuccess;
}
static hipError_t total(size_t *bytes, hipDevice_t d) {
    *bytes = d == 1 ? 77 : 0;
    return hipSuccess;
}
static hipError_t device_sync(void) {
    return hipSuccess;
}
static hipError_t info(size_t *available, size_t *all) {
    *available = 5;
    *all = 6;
    return hipSuccess;
}

static hipError_t attribute(int *v, hipDeviceAttribute_t a, int d) {
    (void)d;
    *v = a == hipDeviceAttributeMultiprocessorCount ? 304 : 0;
    return a == hipDeviceAttributeMultiprocessorCount ? hipSuccess : 1;
}

static hipError_t properties(void *out, int d) {
    strcpy((char *)out + KCRT_HIP_ARCH_OFFSET_R0600,
           d ? "gfx942:sramecc+:xnack-" : "gfx90a:sramecc+:xnack-");
    return hipSuccess;
}

static hipError_t on_device(void) {
    return current == 1 ? hipSuccess : 101;
}
static hipError_t memory_alloc(void **p, size_t n) {
    *p = aligned_alloc(256, (n + 255) & ~(size_t)255);
    return on_device();
}
static hipError_t memory_free(void *p) {
    free(p);
    return on_device();
}
static hipError_t in(hipDeviceptr_t d, void *s, size_t n, hipStream_t q) {
    (void)q;
    memcpy(d, s, n);
    return on_device();
}
static hipError_t out(void *d, hipDeviceptr_t s, size_t n, hipStream_t q) {
    (void)q;
    memcpy(d, s, n);
    return on_device();
}
static hipError_t across(hipDeviceptr_t d, hipDeviceptr_t s, size_t n, hipStream_t q) {
    (void)q;
    memcpy(d, s, n);
    return on_device();
}
static hipError_t fill(hipDeviceptr_t d, unsigned char v, size_t n, hipStream_t q) {
    (void)q;
    memset(d, v, n);
    return on_device();
}
static hipError_t stream_create(hipStream_t *s, unsigned flags) {
    *s = (hipStream_t)(void *)&current;
    return flags == hipStreamNonBlocking ? hipSuccess : 1;
}
static hipError_t stream_destroy(hipStream_t s) {
    (void)s;
    return hipSuccess;
}
static hipError_t stream_wait(hipStream_t s, hipEvent_t e, unsigned f) {
    (void)s, (void)e;
    return f;
}
static hipError_t event_create(hipEvent_t *e, unsigned f) {
    *e = (hipEvent_t)(void *)&current;
    return f == hipEventDisableTiming ? hipSuccess : 1;
}
static hipError_t event_record(hipEvent_t e, hipStream_t s) {
    (void)e, (void)s;
    return hipSuccess;
}
static hipError_t event_destroy(hipEvent_t e) {
    (void)e;
    return hipSuccess;
}

static hipError_t module_load(hipModule_t *m, const void *image) {
    loads++;
    loaded_image = image;
    *m = (hipModule_t)(uintptr_t)image;
    hipError_t r = load_result;
    load_result = hipSuccess; // the first one fails
    return r ? r : on_device();
}
static hipError_t module_unload(hipModule_t m) {
    (void)m;
    return on_device();
}
static hipError_t get_function(hipFunction_t *f, hipModule_t m, const char *name) {
    *f = (hipFunction_t)(void *)m;
    return strcmp(name, "gone") ? hipSuccess : hipErrorNotFound;
}

static hipError_t launch(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                         unsigned by, unsigned bz, unsigned shared, hipStream_t s,
                         void **parameters, void **extra) {
    (void)f, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
    launches++;
    seen_grid = gx;
    memcpy(&seen_pointer, parameters[0], 8);
    return on_device();
}

static hip_driver driver = {
    .kind = "scripted",
    .ready = true,
    .hipInit = init,
    .hipDriverGetVersion = version,
    .hipRuntimeGetVersion = version,
    .hipGetErrorName = error_name,
    .hipGetErrorString = error_string,
    .hipGetDeviceCount = device_count,
    .hipGetDevice = get_device,
    .hipSetDevice = set_device,
    .hipDeviceGetName = device_name,
    .hipDeviceGetAttribute = attribute,
    .hipDeviceTotalMem = total,
    .hipDeviceSynchronize = device_sync,
    .hipMemGetInfo = info,
    .hipMalloc = memory_alloc,
    .hipFree = memory_free,
    .hipMemcpyHtoDAsync = in,
    .hipMemcpyDtoHAsync = out,
    .hipMemcpyDtoDAsync = across,
    .hipMemsetD8Async = fill,
    .hipStreamCreateWithFlags = stream_create,
    .hipStreamDestroy = stream_destroy,
    .hipStreamSynchronize = stream_destroy,
    .hipStreamWaitEvent = stream_wait,
    .hipEventCreateWithFlags = event_create,
    .hipEventRecord = event_record,
    .hipEventDestroy = event_destroy,
    .hipModuleLoadData = module_load,
    .hipModuleUnload = module_unload,
    .hipModuleGetFunction = get_function,
    .hipModuleLaunchKernel = launch,
    .properties = properties,
    .arch_offset = KCRT_HIP_ARCH_OFFSET_R0600,
};

// ELF headers for AMD; the fourth is for another feature.
static unsigned char elf[4][64];
static const pack_image images[] = {{"hip", "gfx9-4-generic", "hsaco", elf[0], 64},
                                    {"hip", "gfx942", "hsaco", elf[1], 64},
                                    {"hip", "gfx90a", "hsaco", elf[2], 64},
                                    {"hip", "gfx942:xnack+", "hsaco", elf[3], 64}};
#define TARGET(arch, index)                                                                        \
    "{\"triple\":\"hip\",\"arch\":\"" arch "\",\"images\":[" index                                 \
    "],\"variants\":[{\"steps\":[{\"kernel\":\"k\",\"grid\":[\"N\",1,1],"                          \
    "\"block\":[64,1,1],\"args\":[{\"pointer\":\"y\",\"offset\":16}]}]}]}"
static const char function[] =
    "{\"name\":\"f\",\"dims\":[{\"name\":\"N\"}],\"args\":[{\"name\":\"y\",\"direction\":"
    "\"output\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"N\"]}],"
    "\"targets\":[" TARGET("gfx9-4-generic", "0") "," TARGET("gfx942", "1") "," TARGET(
        "gfx90a", "2") "," TARGET("gfx942:xnack+", "3") "]}";

static kcrt_device *device;
static pack packed;

static int setup(void **state) {
    (void)state;
    static kcrt_device_api api;
    api = kcrt_hip_api;
    api.user = &driver;
    for (int i = 0; i < 4; i++) {
        memcpy(elf[i], "\177ELF\2\1", 6);
        elf[i][18] = 224;
        elf[i][60] = (unsigned char)i; // four different hashes
    }
    packed = pack_functions(function, "", images, 4);
    return kcrt_device_register("scripted", kDLROCM, &api) ||
           kcrt_device_open("scripted:1", &device);
}

static int teardown(void **state) {
    (void)state;
    kcrt_device_close(device);
    free(packed.data);
    return 0;
}

static int reset(void **state) {
    (void)state;
    current = switches = loads = launches = 0;
    load_result = hipSuccess;
    return 0;
}

static void test_attributes(void **state) {
    (void)state;
    int64_t value;
    char text[64];
    assert_int_equal(kcrt_device_string(device, KCRT_ATTR_ARCH, text, sizeof text), KCRT_OK);
    assert_string_equal(text, "gfx942:sramecc+:xnack-");
    assert_int_equal(kcrt_device_string(device, KCRT_ATTR_NAME, text, sizeof text), KCRT_OK);
    assert_string_equal(text, "Scripted 1");
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_MULTIPROCESSORS, &value), KCRT_OK);
    assert_int_equal(value, 304);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_WARP_SIZE, &value), KCRT_UNSUPPORTED);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_TOTAL_MEMORY, &value), KCRT_OK);
    assert_int_equal(value, 77);
    assert_int_equal(kcrt_device_dl(device).device_id, 1);
    kcrt_device *other;
    assert_int_equal(kcrt_device_open("scripted:2", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:gfx1100", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:gfx90a", &other), KCRT_OK);
    assert_int_equal(kcrt_device_dl(other).device_id, 0);
    kcrt_device_close(other);
}

static void test_launch(void **state) {
    (void)state;
    kcrt_module *module;
    kcrt_function *f;
    void *memory;
    int64_t n = 7;
    assert_int_equal(kcrt_module_load_memory(device, packed.data, packed.size, NULL, &module),
                     KCRT_OK);
    assert_int_equal(loads, 1);
    assert_memory_equal(loaded_image, elf[1], 64); // gfx942 before its generic, and xnack+ never
    assert_int_equal(kcrt_function_get(module, "f", &f), KCRT_OK);
    assert_int_equal(kcrt_alloc(device, 4096, &memory), KCRT_OK);
    DLTensor y = kcrt_tensor(kcrt_device_dl(device), memory, kcrt_dtype(2, 32), 1, &n, NULL);
    void *args[] = {&y};
    assert_int_equal(kcrt_launch(f, NULL, args, 1, NULL, 0), KCRT_OK);
    assert_int_equal(seen_pointer, (uintptr_t)memory + 16);
    assert_int_equal(seen_grid, 7);
    assert_int_equal(current, 0); // the caller's device is restored
    switches = 0;
    current = 1;
    assert_int_equal(kcrt_launch(f, NULL, args, 1, NULL, 0), KCRT_OK);
    assert_int_equal(switches, 0);
    current = 0;
    kcrt_stream *s;
    assert_int_equal(kcrt_stream_create(device, &s), KCRT_OK);
    assert_int_equal(kcrt_stream_wait(s, NULL), KCRT_OK);
    kcrt_stream_free(s);
    assert_int_equal(kcrt_free(device, memory), KCRT_OK);
    kcrt_module_unload(module);
    assert_int_equal(current, 0);
}

static void test_walk(void **state) {
    (void)state;
    kcrt_module *module;
    static const hipError_t go_on[] = {hipErrorNoBinaryForGpu, hipErrorInvalidImage,
                                       hipErrorInvalidKernelFile, hipErrorSharedObjectInitFailed};
    for (int i = 0; i < 4; i++) {
        loads = 0;
        load_result = go_on[i];
        assert_int_equal(kcrt_module_load_memory(device, packed.data, packed.size, NULL, &module),
                         KCRT_OK);
        assert_int_equal(loads, 2);
        assert_memory_equal(loaded_image, elf[0], 64); // the generic
        kcrt_module_unload(module);
    }
    load_result = 719;
    assert_int_equal(kcrt_module_load_memory(device, packed.data, packed.size, NULL, &module),
                     KCRT_DRIVER);
    assert_non_null(strstr(kcrt_last_error(), "hipErrorOther (the library's text)"));
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_attributes), TEST(test_launch), TEST(test_walk)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
