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
#include "scripted_driver.h"

static int current, switches, loads, launches;
static driver_result load_result;
static const void *loaded_image;
static uint64_t seen_pointer;
static unsigned seen_grid;

static const char *error_name(hipError_t r) {
    return r == DRIVER_NO_BINARY_FOR_GPU ? "hipErrorNoBinaryForGpu" : "hipErrorOther";
}
static const char *error_string(hipError_t r) {
    (void)r;
    return "the library's text";
}
static driver_result device_count(int *n) {
    *n = 2;
    return DRIVER_SUCCESS;
}
static hipError_t runtime_version(int *version) {
    *version = 60000000;
    return DRIVER_SUCCESS;
}
static hipError_t get_device(int *d) {
    *d = current;
    return DRIVER_SUCCESS;
}
static hipError_t set_device(int d) {
    current = d;
    switches++;
    return DRIVER_SUCCESS;
}
static driver_result must_be_current(void) {
    return current == 1 ? DRIVER_SUCCESS : 101;
}

static driver_result device_attribute(int *v, driver_attribute a, int d) {
    (void)d;
    *v = a == hipDeviceAttributeMultiprocessorCount ? 304 : 0;
    return a == hipDeviceAttributeMultiprocessorCount ? DRIVER_SUCCESS : 1;
}

static hipError_t properties(void *to, int d) {
    strcpy((char *)to + KCRT_HIP_ARCH_OFFSET_R0600,
           d ? "gfx942:sramecc+:xnack-" : "gfx90a:sramecc+:xnack-");
    return DRIVER_SUCCESS;
}

static driver_result module_load(driver_module *m, const void *image) {
    loads++;
    loaded_image = image;
    *m = (driver_module)(uintptr_t)image;
    driver_result r = load_result;
    load_result = DRIVER_SUCCESS; // the first one fails
    return r ? r : must_be_current();
}

static driver_result launch(driver_kernel k, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, driver_stream s,
                            void **parameters, void **extra) {
    (void)k, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
    launches++;
    seen_grid = gx;
    memcpy(&seen_pointer, parameters[0], 8);
    return must_be_current();
}

static hip_driver driver = {
    .base = {.vendor = &kcrt_hip_vendor,
             .kind = "scripted",
             .ready = true,
#define X(needed, call, parameters, cuda, hip) .call = call,
             KCRT_DRIVER_CALLS(X)
#undef X
    },
    .hipGetErrorName = error_name,
    .hipGetErrorString = error_string,
    .hipRuntimeGetVersion = runtime_version,
    .hipGetDevice = get_device,
    .hipSetDevice = set_device,
    .hipGetDevicePropertiesR0600 = properties,
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
    load_result = DRIVER_SUCCESS;
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
    assert_int_equal(value, 1000001);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_API_VERSION, &value), KCRT_OK);
    assert_int_equal(value, 60000000);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_DRIVER_VERSION, &value), KCRT_OK);
    assert_int_equal(value, 13000);
    assert_int_equal(kcrt_device_dl(device).device_id, 1);
    kcrt_device *other;
    assert_int_equal(kcrt_device_open("scripted:2", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:gfx1100", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:what", &other), KCRT_NOT_FOUND);
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
    static const driver_result go_on[] = {DRIVER_NO_BINARY_FOR_GPU, DRIVER_INVALID_IMAGE,
                                          hipErrorInvalidKernelFile,
                                          hipErrorSharedObjectInitFailed};
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
