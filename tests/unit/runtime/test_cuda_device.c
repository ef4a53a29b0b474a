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

static char ours, theirs; // addresses stand for contexts
static CUcontext stack[8];
static int depth, retained, most_depth;
static CUresult load_result, launch_result;
static int launches, cluster_launches, shared_attribute, loads;
static unsigned seen_grid[3], seen_shared;
static uint64_t seen_pointer, seen_value;

static CUcontext context(char *p) {
    return (CUcontext)(void *)p;
}

static CUresult init(unsigned flags) {
    return flags ? 1 : CUDA_SUCCESS;
}
static CUresult driver_version(int *v) {
    *v = 13000;
    return CUDA_SUCCESS;
}
static CUresult error_name(CUresult r, const char **name) {
    *name = r == CUDA_ERROR_NO_BINARY_FOR_GPU ? "NO_BINARY" : "SOME_ERROR";
    return CUDA_SUCCESS;
}
static CUresult error_string(CUresult r, const char **text) {
    (void)r;
    *text = "the driver's text";
    return CUDA_SUCCESS;
}
static CUresult device_count(int *n) {
    *n = 1;
    return CUDA_SUCCESS;
}
static CUresult device_get(CUdevice *d, int ordinal) {
    *d = ordinal + 40;
    return CUDA_SUCCESS;
}
static CUresult device_name(char *name, int n, CUdevice d) {
    (void)d;
    snprintf(name, (size_t)n, "Scripted");
    return CUDA_SUCCESS;
}
static CUresult total_memory(size_t *bytes, CUdevice d) {
    *bytes = d == 40 ? 123456 : 0;
    return CUDA_SUCCESS;
}

static CUresult device_attribute(int *value, CUdevice_attribute a, CUdevice d) {
    (void)d;
    *value = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
             : a == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448
                                                                          : 0;
    return a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE ? 1 : CUDA_SUCCESS;
}

static CUresult retain(CUcontext *c, CUdevice d) {
    (void)d;
    *c = context(&ours);
    retained++;
    return CUDA_SUCCESS;
}
static CUresult release_context(CUdevice d) {
    (void)d;
    retained--;
    return CUDA_SUCCESS;
}
static CUresult get_current(CUcontext *c) {
    *c = depth ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}
static CUresult push(CUcontext c) {
    stack[depth++] = c;
    most_depth = depth > most_depth ? depth : most_depth;
    return CUDA_SUCCESS;
}
static CUresult pop(CUcontext *c) {
    *c = stack[--depth];
    return CUDA_SUCCESS;
}
static CUresult context_sync(void) {
    return CUDA_SUCCESS;
}
static CUresult memory_info(size_t *available, size_t *total) {
    *available = 1000;
    *total = 2000;
    return CUDA_SUCCESS;
}

static CUresult must_be_ours(void) {
    CUcontext c;
    get_current(&c);
    return c == context(&ours) ? CUDA_SUCCESS : 201;
}

static CUresult memory_alloc(CUdeviceptr *p, size_t n) {
    if (n > 1u << 30) return CUDA_ERROR_OUT_OF_MEMORY;
    *p = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (n + 255) & ~(size_t)255);
    return must_be_ours();
}
static CUresult memory_free(CUdeviceptr p) {
    free((void *)(uintptr_t)p);
    return must_be_ours();
}
static CUresult in(CUdeviceptr d, const void *s, size_t n, CUstream q) {
    (void)q;
    memcpy((void *)(uintptr_t)d, s, n);
    return must_be_ours();
}
static CUresult out(void *d, CUdeviceptr s, size_t n, CUstream q) {
    (void)q;
    memcpy(d, (void *)(uintptr_t)s, n);
    return must_be_ours();
}
static CUresult across(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream q) {
    (void)q;
    memcpy((void *)(uintptr_t)d, (void *)(uintptr_t)s, n);
    return must_be_ours();
}
static CUresult fill(CUdeviceptr d, unsigned char v, size_t n, CUstream q) {
    (void)q;
    memset((void *)(uintptr_t)d, v, n);
    return must_be_ours();
}
static CUresult stream_create(CUstream *s, unsigned flags) {
    *s = (CUstream)(void *)&ours;
    return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : 1;
}
static CUresult stream_destroy(CUstream s) {
    (void)s;
    return CUDA_SUCCESS;
}
static CUresult stream_sync(CUstream s) {
    (void)s;
    return CUDA_SUCCESS;
}
static CUresult stream_wait(CUstream s, CUevent e, unsigned flags) {
    (void)s, (void)e;
    return flags;
}
static CUresult stream_context(CUstream s, CUcontext *c) {
    *c = s == (CUstream)(void *)&theirs ? context(&theirs) : context(&ours);
    return CUDA_SUCCESS;
}
static CUresult event_create(CUevent *e, unsigned flags) {
    *e = (CUevent)(void *)&ours;
    return flags == CU_EVENT_DISABLE_TIMING ? CUDA_SUCCESS : 1;
}
static CUresult event_record(CUevent e, CUstream s) {
    (void)e, (void)s;
    return CUDA_SUCCESS;
}
static CUresult event_destroy(CUevent e) {
    (void)e;
    return CUDA_SUCCESS;
}

static CUresult module_load(CUmodule *m, const void *image) {
    loads++;
    *m = (CUmodule)(uintptr_t)image;
    CUresult r = load_result;
    load_result = CUDA_SUCCESS; // the first one fails
    return r ? r : must_be_ours();
}
static CUresult module_unload(CUmodule m) {
    (void)m;
    return must_be_ours();
}
static CUresult get_function(CUfunction *f, CUmodule m, const char *name) {
    *f = (CUfunction)m;
    return strcmp(name, "gone") ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
static CUresult function_get(int *v, CUfunction_attribute a, CUfunction f) {
    (void)f;
    *v = a == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 1024 : 0;
    return CUDA_SUCCESS;
}
static CUresult function_set(CUfunction f, CUfunction_attribute a, int v) {
    (void)f;
    if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) shared_attribute = v;
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream s, void **parameters,
                       void **extra) {
    (void)f, (void)bx, (void)by, (void)bz, (void)s, (void)extra;
    launches++;
    seen_grid[0] = gx, seen_grid[1] = gy, seen_grid[2] = gz;
    seen_shared = shared;
    memcpy(&seen_pointer, parameters[0], 8);
    memcpy(&seen_value, parameters[1], 8);
    return launch_result ? launch_result : must_be_ours();
}

static CUresult launch_config(const CUlaunchConfig *c, CUfunction f, void **parameters,
                              void **extra) {
    (void)f, (void)parameters, (void)extra;
    cluster_launches += c->numAttrs == 1 &&
                        c->attrs[0].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
                        c->attrs[0].value.clusterDim.x == 2;
    return CUDA_SUCCESS;
}

static cuda_driver driver = {
    .kind = "scripted",
    .ready = true,
    .cuInit = init,
    .cuDriverGetVersion = driver_version,
    .cuGetErrorName = error_name,
    .cuGetErrorString = error_string,
    .cuDeviceGetCount = device_count,
    .cuDeviceGet = device_get,
    .cuDeviceGetName = device_name,
    .cuDeviceGetAttribute = device_attribute,
    .cuDeviceTotalMem_v2 = total_memory,
    .cuDevicePrimaryCtxRetain = retain,
    .cuDevicePrimaryCtxRelease_v2 = release_context,
    .cuCtxGetCurrent = get_current,
    .cuCtxPushCurrent_v2 = push,
    .cuCtxPopCurrent_v2 = pop,
    .cuCtxSynchronize = context_sync,
    .cuMemGetInfo_v2 = memory_info,
    .cuMemAlloc_v2 = memory_alloc,
    .cuMemFree_v2 = memory_free,
    .cuMemcpyHtoDAsync_v2 = in,
    .cuMemcpyDtoHAsync_v2 = out,
    .cuMemcpyDtoDAsync_v2 = across,
    .cuMemsetD8Async = fill,
    .cuStreamCreate = stream_create,
    .cuStreamDestroy_v2 = stream_destroy,
    .cuStreamSynchronize = stream_sync,
    .cuStreamWaitEvent = stream_wait,
    .cuStreamGetCtx = stream_context,
    .cuEventCreate = event_create,
    .cuEventRecord = event_record,
    .cuEventDestroy_v2 = event_destroy,
    .cuModuleLoadData = module_load,
    .cuModuleUnload = module_unload,
    .cuModuleGetFunction = get_function,
    .cuFuncGetAttribute = function_get,
    .cuFuncSetAttribute = function_set,
    .cuLaunchKernel = launch,
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
    load_result = launch_result = CUDA_SUCCESS;
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
    static const CUresult go_on[] = {CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_IMAGE,
                                     CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION};
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
    assert_int_equal(value, 123456);
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
