// The `cuda` device on a scripted driver: contexts restored, images walked through, errors worded,
// launches passed on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pack.h"
#include "runtime/builtin.h"
#include "runtime/cuda/cuda_driver.h"
#include "runtime/kcrt.h"
#include "scripted_driver.h"

static char ours, theirs; // addresses stand for contexts
static CUcontext stack[8];
static int depth, retained, most_depth;
static driver_result load_result, launch_result;
static int launches, cluster_launches, shared_attribute, loads;
static unsigned seen_grid[3], seen_shared;
static uint64_t seen_pointer, seen_value;

static CUcontext context(char *p) {
    return (CUcontext)(void *)p;
}

static CUresult error_name(CUresult r, const char **name) {
    *name = r == DRIVER_NO_BINARY_FOR_GPU ? "NO_BINARY" : "SOME_ERROR";
    return DRIVER_SUCCESS;
}
static CUresult error_string(CUresult r, const char **text) {
    (void)r;
    *text = "the driver's text";
    return DRIVER_SUCCESS;
}
static driver_result device_count(int *n) {
    *n = 1;
    return DRIVER_SUCCESS;
}
static CUresult device_get(CUdevice *d, int ordinal) {
    *d = ordinal + 40;
    return DRIVER_SUCCESS;
}

static driver_result device_attribute(int *value, driver_attribute a, int d) {
    (void)d;
    *value = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
             : a == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448
                                                                          : 0;
    return a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE ? 1 : DRIVER_SUCCESS;
}

static CUresult retain(CUcontext *c, CUdevice d) {
    (void)d;
    *c = context(&ours);
    retained++;
    return DRIVER_SUCCESS;
}
static CUresult release_context(CUdevice d) {
    (void)d;
    retained--;
    return DRIVER_SUCCESS;
}
static CUresult get_current(CUcontext *c) {
    *c = depth ? stack[depth - 1] : NULL;
    return DRIVER_SUCCESS;
}
static CUresult push(CUcontext c) {
    stack[depth++] = c;
    most_depth = depth > most_depth ? depth : most_depth;
    return DRIVER_SUCCESS;
}
static CUresult pop(CUcontext *c) {
    *c = stack[--depth];
    return DRIVER_SUCCESS;
}

static driver_result must_be_current(void) {
    CUcontext c;
    get_current(&c);
    return c == context(&ours) ? DRIVER_SUCCESS : 201;
}

static CUresult stream_context(driver_stream s, CUcontext *c) {
    *c = s == (driver_stream)&theirs ? context(&theirs) : context(&ours);
    return DRIVER_SUCCESS;
}

static driver_result module_load(driver_module *m, const void *image) {
    loads++;
    *m = (driver_module)(uintptr_t)image;
    driver_result r = load_result;
    load_result = DRIVER_SUCCESS; // the first one fails
    return r ? r : must_be_current();
}
static CUresult kernel_get(int *v, CUfunction_attribute a, driver_kernel k) {
    (void)k;
    *v = a == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 1024 : 0;
    return DRIVER_SUCCESS;
}
static CUresult kernel_set(driver_kernel k, CUfunction_attribute a, int v) {
    (void)k;
    if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) shared_attribute = v;
    return DRIVER_SUCCESS;
}

static driver_result launch(driver_kernel k, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, driver_stream s,
                            void **parameters, void **extra) {
    (void)k, (void)bx, (void)by, (void)bz, (void)s, (void)extra;
    launches++;
    seen_grid[0] = gx, seen_grid[1] = gy, seen_grid[2] = gz;
    seen_shared = shared;
    memcpy(&seen_pointer, parameters[0], 8);
    memcpy(&seen_value, parameters[1], 8);
    return launch_result ? launch_result : must_be_current();
}

static CUresult launch_config(const CUlaunchConfig *c, driver_kernel k, void **parameters,
                              void **extra) {
    (void)k, (void)parameters, (void)extra;
    cluster_launches += c->numAttrs == 1 &&
                        c->attrs[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
                        c->attrs[0].value.clusterDim.x == 2;
    return must_be_current();
}

static cuda_driver driver = {
    .base = {.vendor = &kcrt_cuda_vendor,
             .kind = "scripted",
             .ready = true,
#define X(needed, call, parameters, cuda, hip) .call = call,
             KCRT_DRIVER_CALLS(X)
#undef X
    },
    .cuGetErrorName = error_name,
    .cuGetErrorString = error_string,
    .cuDeviceGet = device_get,
    .cuDevicePrimaryCtxRetain = retain,
    .cuDevicePrimaryCtxRelease_v2 = release_context,
    .cuCtxGetCurrent = get_current,
    .cuCtxPushCurrent_v2 = push,
    .cuCtxPopCurrent_v2 = pop,
    .cuStreamGetCtx = stream_context,
    .cuFuncGetAttribute = kernel_get,
    .cuFuncSetAttribute = kernel_set,
    .cuLaunchKernelEx = launch_config,
};

// Two images for sm_90 and sm_80: PTX whose labels are right.
static const char ptx90[] = ".version 7.8\n.target sm_90\n.address_size 64\n",
                  ptx80[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
static const pack_image images[] = {{"cuda", "sm_80", "ptx", ptx80, sizeof ptx80},
                                    {"cuda", "sm_90", "ptx", ptx90, sizeof ptx90}};
#define FUNCTION(kernel, extra)                                                                    \
    "{\"name\":\"f\",\"dims\":[{\"name\":\"N\"}],\"args\":[{\"name\":\"y\",\"direction\":"         \
    "\"output\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"N\"]}],"                         \
    "\"targets\":[{\"triple\":\"cuda\",\"arch\":\"sm_80\",\"images\":[0],\"variants\":[{"          \
    "\"steps\":[" STEP(kernel, extra) "]}]},"                                                      \
                                      "{\"triple\":\"cuda\",\"arch\":\"sm_90\",\"images\":[1],"    \
                                      "\"variants\":[{\"steps\":[" STEP(kernel, extra) "]}]}]}"
#define STEP(kernel, extra)                                                                        \
    "{\"kernel\":\"" kernel "\",\"grid\":[\"N\",2,3],\"block\":[32,1,1]," extra                    \
    "\"args\":[{\"pointer\":\"y\",\"offset\":8},{\"expr\":\"N * 10\",\"type\":\"i64\"}]}"

static kcrt_device *device;

static int setup(void **state) {
    (void)state;
    static kcrt_device_api api;
    api = kcrt_cuda_api;
    api.user = &driver;
    return kcrt_device_register("scripted", kDLCUDA, &api) || kcrt_device_open("scripted", &device);
}

static int teardown(void **state) {
    (void)state;
    kcrt_device_close(device);
    return retained != 0;
}

static int reset(void **state) {
    (void)state;
    depth = most_depth = launches = cluster_launches = shared_attribute = loads = 0;
    load_result = launch_result = DRIVER_SUCCESS;
    return 0;
}

static kcrt_status load(const char *functions, kcrt_module **module) {
    static pack p;
    free(p.data);
    p = pack_functions(functions, "", images, 2);
    return kcrt_module_load_memory(device, p.data, p.size, NULL, module);
}

static kcrt_status launch_f(kcrt_module *module, int64_t n) {
    kcrt_function *f;
    void *memory;
    assert_int_equal(kcrt_function_get(module, "f", &f), KCRT_OK);
    assert_int_equal(kcrt_alloc(device, 4096, &memory), KCRT_OK);
    DLTensor y = kcrt_tensor(kcrt_device_dl(device), memory, kcrt_dtype(2, 32), 1, &n, NULL);
    void *args[] = {&y};
    kcrt_status status = kcrt_launch(f, NULL, args, 1, NULL, 0);
    if (!status) assert_int_equal(seen_pointer, (uintptr_t)memory + 8);
    char copy[600];
    snprintf(copy, sizeof copy, "%s", kcrt_last_error());
    assert_int_equal(kcrt_free(device, memory), KCRT_OK);
    if (status) kcrt_fail(status, "%s", copy);
    return status;
}

static void test_launch(void **state) {
    (void)state;
    kcrt_module *module;
    assert_int_equal(load(FUNCTION("k", ""), &module), KCRT_OK);
    assert_int_equal(loads, 1); // sm_90 alone: sm_80 was not needed
    push(context(&theirs));
    assert_int_equal(launch_f(module, 5), KCRT_OK);
    CUcontext current;
    get_current(&current);
    assert_ptr_equal(current, context(&theirs)); // the caller's context is restored
    assert_int_equal(depth, 1);
    assert_true(seen_grid[0] == 5 && seen_grid[1] == 2 && seen_grid[2] == 3);
    assert_int_equal(seen_value, 50);
    pop(&current);
    push(context(&ours));
    most_depth = 0;
    assert_int_equal(launch_f(module, 5), KCRT_OK);
    assert_int_equal(most_depth, 0); // already current: nothing is pushed
    pop(&current);
    kcrt_module_unload(module);
}

static void test_walk(void **state) {
    (void)state;
    kcrt_module *module;
    static const driver_result go_on[] = {DRIVER_NO_BINARY_FOR_GPU, DRIVER_INVALID_IMAGE,
                                          CUDA_ERROR_INVALID_PTX,
                                          CUDA_ERROR_UNSUPPORTED_PTX_VERSION};
    for (int i = 0; i < 4; i++) {
        loads = 0;
        load_result = go_on[i];
        assert_int_equal(load(FUNCTION("k", ""), &module), KCRT_OK);
        assert_int_equal(loads, 2); // sm_90 refused, sm_80 taken
        kcrt_module_unload(module);
    }
    loads = 0;
    load_result = 700; // not a refusal: the walk stops
    assert_int_equal(load(FUNCTION("k", ""), &module), KCRT_DRIVER);
    assert_int_equal(loads, 1);
    assert_non_null(strstr(kcrt_last_error(), "SOME_ERROR (the driver's text)"));
}

static void test_nothing_suits(void **state) {
    (void)state;
    kcrt_module *module;
    kcrt_load_options options = {.size = sizeof options, .no_jit = 1};
    pack p = pack_functions(FUNCTION("k", ""), "", images, 2);
    assert_int_equal(kcrt_module_load_memory(device, p.data, p.size, &options, &module),
                     KCRT_NO_IMAGE);
    static const char *const words[] = {"`f`",       "scripted",  "sm_90", "Scripted",
                                        "sm_80 ptx", "sm_90 ptx", "no_jit"};
    for (int i = 0; i < 7; i++)
        if (!strstr(kcrt_last_error(), words[i]))
            fail_msg("`%s` is not in: %s", words[i], kcrt_last_error());
    free(p.data);
}

static void test_damaged_image(void **state) {
    (void)state;
    kcrt_module *module;
    pack p = pack_functions(FUNCTION("k", ""), "", images, 2);
    p.data[p.size - 16] ^= 1; // inside the PTX for sm_90
    assert_int_equal(kcrt_module_load_memory(device, p.data, p.size, NULL, &module),
                     KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "SHA-256"));
    assert_int_equal(loads, 0);
    free(p.data);
    pack_image mislabelled[] = {{"cuda", "sm_80", "ptx", ptx80, sizeof ptx80},
                                {"cuda", "sm_90", "ptx", ptx80, sizeof ptx80}};
    p = pack_functions(FUNCTION("k", ""), "", mislabelled, 2);
    assert_int_equal(kcrt_module_load_memory(device, p.data, p.size, NULL, &module),
                     KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "another architecture than its label"));
    free(p.data);
}

static void test_missing_kernel(void **state) {
    (void)state;
    kcrt_module *module;
    assert_int_equal(load(FUNCTION("gone", ""), &module), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "`gone`"));
    assert_int_equal(depth, 0);
}

static void test_shared_and_clusters(void **state) {
    (void)state;
    kcrt_module *module;
    assert_int_equal(load(FUNCTION("k", "\"shared\":100000,"), &module), KCRT_OK);
    assert_int_equal(shared_attribute, 100000);
    assert_int_equal(launch_f(module, 1), KCRT_OK);
    assert_int_equal(seen_shared, 100000);
    kcrt_module_unload(module);
    assert_int_equal(load(FUNCTION("k", "\"shared\":\"N * 4\","), &module),
                     KCRT_OK); // N may be anything: all there is
    assert_int_equal(shared_attribute, 232448 - 1024);
    kcrt_module_unload(module);
    assert_int_equal(load(FUNCTION("k", "\"cluster\":[2,1,1],"), &module), KCRT_OK);
    launches = 0;
    kcrt_function *f;
    void *memory;
    int64_t n = 4;
    assert_int_equal(kcrt_function_get(module, "f", &f), KCRT_OK);
    assert_int_equal(kcrt_alloc(device, 4096, &memory), KCRT_OK);
    DLTensor y = kcrt_tensor(kcrt_device_dl(device), memory, kcrt_dtype(2, 32), 1, &n, NULL);
    void *args[] = {&y};
    assert_int_equal(kcrt_launch(f, NULL, args, 1, NULL, 0), KCRT_OK);
    assert_true(cluster_launches == 1 && launches == 0);
    kcrt_free(device, memory);
    kcrt_module_unload(module);
}

static void test_errors(void **state) {
    (void)state;
    kcrt_module *module;
    void *p;
    int64_t value;
    assert_int_equal(kcrt_alloc(device, (size_t)1 << 31, &p), KCRT_OUT_OF_MEMORY);
    assert_null(p);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_CLOCK_KHZ, &value), KCRT_UNSUPPORTED);
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_TOTAL_MEMORY, &value), KCRT_OK);
    assert_int_equal(value, 1000040); // the driver's number of the device was asked
    assert_int_equal(load(FUNCTION("k", ""), &module), KCRT_OK);
    launch_result = 719;
    assert_int_equal(launch_f(module, 5), KCRT_DRIVER);
    assert_non_null(strstr(kcrt_last_error(), "SOME_ERROR"));
    assert_int_equal(depth, 0);
    kcrt_module_unload(module);
    kcrt_stream *stream;
    assert_int_equal(kcrt_stream_wrap(device, &theirs, &stream), KCRT_INVALID_ARGUMENT);
    assert_non_null(strstr(kcrt_last_error(), "primary context"));
    assert_int_equal(kcrt_stream_wrap(device, &ours, &stream), KCRT_OK);
    kcrt_stream_free(stream);
    kcrt_device *other;
    assert_int_equal(kcrt_device_open("scripted:1", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:sm_80", &other), KCRT_NO_DEVICE);
    assert_int_equal(kcrt_device_open("scripted:what", &other), KCRT_NOT_FOUND);
    assert_int_equal(kcrt_device_open("scripted:sm_90a", &other), KCRT_OK);
    kcrt_device_close(other);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_launch),        TEST(test_walk),           TEST(test_nothing_suits),
        TEST(test_damaged_image), TEST(test_missing_kernel), TEST(test_shared_and_clusters),
        TEST(test_errors),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
