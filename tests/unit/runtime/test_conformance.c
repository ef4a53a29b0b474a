// One suite over every device that is there: the plug-in one, real GPUs, simulators, the reference.
//
// A device that is not there is skipped and said so. What a device does not have is asked for
// through its status (KCRT_UNSUPPORTED), never known by name; only the image that is launched
// depends on the kind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "fake.h"
#include "pack.h"
#include "runtime/kcrt.h"

static const char *device_name; // of the suite that runs
static kcrt_device *device;

#define OK(call)                                                                                   \
    do {                                                                                           \
        kcrt_status status_ = (call);                                                              \
        if (status_)                                                                               \
            fail_msg("%s: %s: %s (%s)", device_name, #call, kcrt_last_error(),                     \
                     kcrt_status_name(status_));                                                   \
    } while (0)

static kcrt_place on(void *base, size_t offset) {
    return (kcrt_place){device, base, offset};
}

static kcrt_place host(void *base) {
    return (kcrt_place){NULL, base, 0};
}

static void test_identity(void **state) {
    (void)state;
    int64_t value;
    char text[64], tiny[3];
    OK(kcrt_device_attr(device, KCRT_ATTR_EXIST, &value));
    assert_int_equal(value, 1);
    OK(kcrt_device_string(device, KCRT_ATTR_NAME, text, sizeof text));
    assert_true(strlen(text) > 0);
    OK(kcrt_device_string(device, KCRT_ATTR_ARCH, text, sizeof text));
    OK(kcrt_device_string(device, KCRT_ATTR_ARCH, tiny, sizeof tiny));
    assert_true(strlen(tiny) <= 2 && !strncmp(text, tiny, strlen(tiny)));
    assert_int_equal(kcrt_device_attr(device, KCRT_ATTR_NAME, &value), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_device_string(device, KCRT_ATTR_WARP_SIZE, text, sizeof text),
                     KCRT_INVALID_ARGUMENT);
}

static void test_attributes(void **state) {
    (void)state;
    for (int a = KCRT_ATTR_API_VERSION; a < KCRT_ATTR_COUNT; a++) {
        int64_t value = -1;
        kcrt_status status = kcrt_device_attr(device, (kcrt_attr)a, &value);
        if (status == KCRT_OK) assert_true(value > 0);
        else assert_true(status == KCRT_UNSUPPORTED && value == 0);
    }
}

static void test_alloc(void **state) {
    (void)state;
    void *p[8];
    for (int i = 0; i < 8; i++) {
        OK(kcrt_alloc(device, (size_t)1 << 2 * i, &p[i]));
        assert_non_null(p[i]);
        assert_int_equal((uintptr_t)p[i] % 256, 0);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(p[i], p[j]);
    }
    for (int i = 0; i < 8; i++)
        OK(kcrt_free(device, p[i]));
    void *none = &none;
    OK(kcrt_alloc(device, 0, &none));
    assert_null(none);
    OK(kcrt_free(device, NULL));
}

static void test_copies(void **state) {
    (void)state;
    enum { N = 100003 };
    unsigned char *a = malloc(N), *b = calloc(1, N);
    void *p, *q;
    for (int i = 0; i < N; i++)
        a[i] = (unsigned char)(i * 7 + i / 256);
    OK(kcrt_alloc(device, N, &p));
    OK(kcrt_alloc(device, N, &q));
    OK(kcrt_copy(on(p, 0), host(a), N, NULL));
    OK(kcrt_copy(on(q, 0), on(p, 0), N, NULL));
    OK(kcrt_copy(host(b), on(q, 0), N, NULL));
    assert_memory_equal(a, b, N);
    // Sub-copies: [1000, 1017) of p over [3, 20) of q, and back to an offset in host memory.
    OK(kcrt_copy(on(q, 3), on(p, 1000), 17, NULL));
    OK(kcrt_copy((kcrt_place){NULL, b, 50}, on(q, 2), 19, NULL));
    assert_int_equal(b[50], a[2]);
    assert_memory_equal(b + 51, a + 1000, 17);
    assert_int_equal(b[68], a[20]);
    OK(kcrt_copy(on(q, N - 1), (kcrt_place){NULL, a, 9}, 1, NULL));
    OK(kcrt_copy(host(b), on(q, N - 1), 1, NULL));
    assert_int_equal(b[0], a[9]);
    OK(kcrt_copy((kcrt_place){NULL, b, 1}, (kcrt_place){NULL, a, 5}, 4, NULL)); // host to host
    assert_memory_equal(b + 1, a + 5, 4);
    OK(kcrt_copy(on(NULL, 0), host(NULL), 0, NULL));
    assert_int_equal(kcrt_copy(on(NULL, 0), host(a), 1, NULL), KCRT_INVALID_ARGUMENT);
    OK(kcrt_free(device, p));
    OK(kcrt_free(device, q));
    free(a);
    free(b);
}

static void test_streams(void **state) {
    (void)state;
    kcrt_stream *s, *t;
    int value = 0;
    void *p;
    OK(kcrt_alloc(device, 8, &p));
    OK(kcrt_stream_create(device, &s));
    OK(kcrt_stream_create(device, &t));
    for (int i = 1; i <= 20; i++) {
        OK(kcrt_copy(on(p, 0), host(&i), sizeof i, s));
        OK(kcrt_stream_wait(t, s));
        OK(kcrt_copy(on(p, 4), on(p, 0), 4, t));
        OK(kcrt_stream_wait(s, t));
        OK(kcrt_copy(host(&value), on(p, 4), sizeof value, s));
        assert_int_equal(value, i);
    }
    OK(kcrt_stream_sync(s));
    OK(kcrt_stream_sync(t));
    OK(kcrt_stream_sync(NULL));
    OK(kcrt_device_sync(device));
    kcrt_stream *wrapped;
    kcrt_status status = kcrt_stream_wrap(device, NULL, &wrapped);
    assert_true(status == KCRT_OK || status == KCRT_UNSUPPORTED);
    if (!status) OK(kcrt_copy(host(&value), on(p, 0), sizeof value, wrapped));
    kcrt_stream_free(wrapped);
    kcrt_stream_free(s);
    kcrt_stream_free(t);
    OK(kcrt_free(device, p));
}

static void test_workspace(void **state) {
    (void)state;
    void *a, *b, *c;
    OK(kcrt_workspace_alloc(device, 1000, &a));
    OK(kcrt_workspace_alloc(device, 1000, &b));
    assert_ptr_not_equal(a, b);
    OK(kcrt_workspace_free(device, a));
    OK(kcrt_workspace_alloc(device, 900, &c));
    assert_ptr_equal(a, c);
    OK(kcrt_workspace_free(device, b));
    OK(kcrt_workspace_free(device, c));
    assert_int_equal(kcrt_workspace_free(device, &a), KCRT_INVALID_ARGUMENT);
}

static void test_two_handles(void **state) {
    (void)state;
    kcrt_device *other;
    int x = 1234567, y = 0;
    void *p, *q;
    OK(kcrt_device_open(device_name, &other));
    OK(kcrt_alloc(device, 4, &p));
    OK(kcrt_alloc(other, 4, &q));
    OK(kcrt_copy(on(p, 0), host(&x), 4, NULL));
    OK(kcrt_copy((kcrt_place){other, q, 0}, on(p, 0), 4, NULL));
    OK(kcrt_copy(host(&y), (kcrt_place){other, q, 0}, 4, NULL));
    assert_int_equal(y, x);
    OK(kcrt_free(other, q));
    OK(kcrt_free(device, p));
    kcrt_device_close(other);
}

static void *work(void *argument) {
    unsigned char *fine = argument;
    for (int i = 0; i < 50; i++) {
        unsigned char out[64], in[64];
        void *p;
        memset(in, i, sizeof in);
        if (kcrt_alloc(device, 64, &p) || kcrt_copy(on(p, 0), host(in), 64, NULL) ||
            kcrt_copy(host(out), on(p, 0), 64, NULL) || kcrt_free(device, p))
            return NULL;
        if (memcmp(in, out, 64)) return NULL;
        if (kcrt_alloc(NULL, 1, &p) != KCRT_INVALID_ARGUMENT ||
            !strstr(kcrt_last_error(), "kcrt_alloc"))
            return NULL;
    }
    *fine = 1;
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    unsigned char fine[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &fine[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fine[i], 1);
}

// ---- A kernel, where the device takes PTX -------------------------------------------------------

static const char ptx[] =
    ".version 6.4\n.target sm_75\n.address_size 64\n"
    ".visible .entry saxpy(.param .f32 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param "
    ".u64 p4)\n{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %d<9>;\n"
    "  ld.param.f32 %f1, [p0];\n  ld.param.u64 %d1, [p1];\n  ld.param.u64 %d2, [p2];\n  "
    "ld.param.u64 %d3, [p3];\n  ld.param.u64 %d4, [p4];\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n  mad.lo.s32 %r4, "
    "%r1, %r2, %r3;\n"
    "  cvt.u64.u32 %d5, %r4;\n  setp.ge.u64 %p1, %d5, %d4;\n  @%p1 bra DONE;\n"
    "  shl.b64 %d5, %d5, 2;\n  add.s64 %d6, %d1, %d5;\n  add.s64 %d7, %d2, %d5;\n  add.s64 %d8, "
    "%d3, %d5;\n"
    "  ld.global.f32 %f2, [%d6];\n  ld.global.f32 %f3, [%d7];\n  fma.rn.f32 %f4, %f1, %f2, %f3;\n  "
    "st.global.f32 [%d8], %f4;\n"
    "DONE:\n  ret;\n}\n";

static const char saxpy[] =
    "{\"name\":\"saxpy\",\"dims\":[{\"name\":\"N\"}],\"args\":["
    "{\"name\":\"alpha\",\"direction\":\"input\",\"kind\":\"scalar\",\"type\":\"f32\",\"shape\":[]}"
    ","
    "{\"name\":\"x\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"N\"]"
    "},"
    "{\"name\":\"y\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"N\"]"
    "},"
    "{\"name\":\"z\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":["
    "\"N\"],\"alias\":\"y\"}],"
    "\"targets\":[{\"triple\":\"cuda\",\"arch\":\"sm_75\",\"images\":[0],\"variants\":[{"
    "\"workspace\":\"N * 4\",\"steps\":["
    "{\"kernel\":\"saxpy\",\"grid\":[\"cdiv(N, 128)\",1,1],\"block\":[128,1,1],\"args\":["
    "{\"scalar\":\"alpha\"},{\"pointer\":\"x\"},{\"pointer\":\"y\"},{\"workspace\":0},{\"expr\":"
    "\"N\",\"type\":\"i64\"}]},"
    "{\"copy\":{\"to\":{\"pointer\":\"z\"},\"from\":{\"workspace\":0},\"bytes\":\"N * 4\"}}]}]}]}";

static void run_saxpy(kcrt_function *f, kcrt_stream *stream, int64_t n, bool in_place) {
    size_t bytes = (size_t)n * 4;
    float *x = malloc(bytes + 1), *y = malloc(bytes + 1), *z = malloc(bytes + 1), alpha = 2;
    void *px, *py, *pz;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)i, y[i] = (float)(i % 10);
    OK(kcrt_alloc(device, bytes, &px));
    OK(kcrt_alloc(device, bytes, &py));
    OK(kcrt_alloc(device, bytes, &pz));
    OK(kcrt_copy(on(px, 0), host(x), bytes, stream));
    OK(kcrt_copy(on(py, 0), host(y), bytes, stream));
    DLTensor tx = kcrt_tensor(kcrt_device_dl(device), px, kcrt_dtype(2, 32), 1, &n, NULL), ty = tx,
             tz = tx;
    ty.data = py;
    tz.data = in_place ? py : pz;
    void *args[] = {&alpha, &tx, &ty, &tz};
    OK(kcrt_launch(f, stream, args, 4, NULL, 0));
    OK(kcrt_stream_sync(stream));
    OK(kcrt_copy(host(z), on(tz.data, 0), bytes, stream));
    for (int64_t i = 0; i < n; i++)
        assert_true(z[i] == 2 * x[i] + y[i]);
    OK(kcrt_free(device, px));
    OK(kcrt_free(device, py));
    OK(kcrt_free(device, pz));
    free(x), free(y), free(z);
}

static void test_kernel(void **state) {
    (void)state;
    pack_image image = {"cuda", "sm_75", "ptx", ptx, sizeof ptx};
    pack p = pack_functions(saxpy, "", &image, 1);
    kcrt_module *module;
    kcrt_function *f;
    kcrt_stream *stream;
    kcrt_status status = kcrt_module_load_memory(device, p.data, p.size, NULL, &module);
    if (status == KCRT_NO_IMAGE) {
        assert_non_null(strstr(kcrt_last_error(), "sm_75 ptx"));
        free(p.data);
        fprintf(stderr, "skipped: %s takes no PTX: %s\n", device_name, kcrt_last_error());
        skip();
    }
    OK(status);
    OK(kcrt_function_get(module, "saxpy", &f));
    OK(kcrt_stream_create(device, &stream));
    run_saxpy(f, stream, 1000, false);
    run_saxpy(f, stream, 1000, true);
    run_saxpy(f, NULL, 129, false);
    run_saxpy(f, stream, 1, false);
    run_saxpy(f, stream, 0, false);
    run_saxpy(f, stream, 20000, false); // the pool grows
    kcrt_stream_free(stream);
    kcrt_module_unload(module);
    free(p.data);
}

// A constant and an inout: y = alpha w + y, where only y changes and nobody passes w. Also from IR.
static const char axpy[] =
    "{\"name\":\"axpy\",\"dims\":[],\"args\":["
    "{\"name\":\"alpha\",\"direction\":\"input\",\"kind\":\"scalar\",\"type\":\"f32\",\"shape\":[]},"
    "{\"name\":\"y\",\"direction\":\"inout\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[4]}],"
    "\"constants\":[{\"name\":\"w\",\"type\":\"f32\",\"shape\":[4],\"constant\":\"c\"}],\"ir\":2,"
    "\"targets\":[{\"triple\":\"cuda\",\"arch\":\"sm_75\",\"images\":[0],\"variants\":[{\"steps\":["
    "{\"kernel\":\"saxpy\",\"grid\":[1,1,1],\"block\":[32,1,1],\"args\":[{\"scalar\":\"alpha\"},"
    "{\"constant\":\"c\"},{\"pointer\":\"y\"},{\"pointer\":\"y\"},{\"expr\":4,\"type\":\"i64\"}]}]}]}]}";
static const char axpy_ir[] =
    "module @m\nfunc @axpy(%alpha: f32[], %y: f32[4], %w: f32[4] constant "
    "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\") -> (y: f32[4] alias y) {\n"
    "  %0 = broadcast %alpha : f32[4]\n  %1 = mul %0, %w : f32[4]\n  %2 = add %1, %y : f32[4]\n"
    "  return %2\n}\n";

static void test_constants_and_inouts(void **state) {
    (void)state;
    static const float w[] = {1, 2, 3, 4};
    float y[] = {10, 20, 30, 40}, alpha = 2, got[4];
    pack_image images[] = {{"cuda", "sm_75", "ptx", ptx, sizeof ptx},
                           {"kc", "const", "const", (const char *)w, sizeof w},
                           {"kc", "ir", "ir", axpy_ir, sizeof axpy_ir}};
    pack p = pack_functions(
        axpy, "\"constants\":[{\"name\":\"c\",\"image\":1,\"offset\":0,\"bytes\":16}],", images, 3);
    kcrt_module *module;
    kcrt_function *f;
    kcrt_status status = kcrt_module_load_memory(device, p.data, p.size, NULL, &module);
    if (status == KCRT_NO_IMAGE) {
        free(p.data);
        skip();
    }
    OK(status);
    OK(kcrt_function_get(module, "axpy", &f));
    int64_t n = 4;
    void *py;
    OK(kcrt_alloc(device, sizeof y, &py));
    OK(kcrt_copy(on(py, 0), host(y), sizeof y, NULL));
    DLTensor t = kcrt_tensor(kcrt_device_dl(device), py, kcrt_dtype(2, 32), 1, &n, NULL);
    void *args[] = {&alpha, &t};
    for (int run = 1; run <= 2; run++) {
        OK(kcrt_launch(f, NULL, args, 2, NULL, 0));
        OK(kcrt_device_sync(device));
        OK(kcrt_copy(host(got), on(py, 0), sizeof got, NULL));
        for (int i = 0; i < 4; i++)
            assert_true(got[i] == y[i] + (float)run * 2 * w[i]);
    }
    OK(kcrt_free(device, py));
    kcrt_module_unload(module);
    free(p.data);
}

static void test_no_jit(void **state) {
    (void)state;
    pack_image image = {"cuda", "sm_75", "ptx", ptx, sizeof ptx};
    pack p = pack_functions(saxpy, "", &image, 1);
    kcrt_module *module;
    kcrt_load_options options = {.size = sizeof options, .no_jit = 1};
    assert_int_equal(kcrt_module_load_memory(device, p.data, p.size, &options, &module),
                     KCRT_NO_IMAGE);
    assert_null(module);
    assert_non_null(strstr(kcrt_last_error(), device_name));
    assert_non_null(strstr(kcrt_last_error(), "`saxpy`"));
    free(p.data);
}

// ---- Running the suite --------------------------------------------------------------------------

static int open_it(void **state) {
    (void)state;
    return kcrt_device_open(device_name, &device);
}

static int close_it(void **state) {
    (void)state;
    kcrt_device_close(device);
    return 0;
}

// Companion libraries of the build that this program belongs to:
// BUILD/test/runtime/test_conformance.
static void use_library(const char *variable, const char *file) {
    char path[PATH_MAX] = "", full[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || getenv(variable)) return;
    snprintf(full, sizeof full, "%s/../../lib/%s", dirname(path), file);
    if (!access(full, R_OK)) setenv(variable, full, 0);
}

static int run_suite(const char *name) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),    cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_alloc),       cmocka_unit_test(test_copies),
        cmocka_unit_test(test_streams),     cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_two_handles), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_kernel),      cmocka_unit_test(test_no_jit),
        cmocka_unit_test(test_constants_and_inouts),
    };
    device_name = name;
    kcrt_status status = kcrt_device_open(name, &device);
    if (status) {
        fprintf(stderr, "skipped: %s is not there: %s\n", name, kcrt_last_error());
        return status != KCRT_NO_DEVICE;
    }
    kcrt_device_close(device);
    return cmocka_run_group_tests_name(name, tests, open_it, close_it);
}

int main(void) {
    static const char *const names[] = {"fake",           "cuda:0",  "hip:0", "cuda-sim",
                                        "cuda-sim:sm_80", "hip-sim", "ref"};
    int failed = kcrt_device_register("fake", kDLExtDev, &fake_api) != KCRT_OK;
    use_library("KCRT_CUDA_SIM", "libkcsim_cuda.so");
    use_library("KCRT_HIP_SIM", "libkcsim_hip.so");
    use_library("KCRT_REF", "libkcrt_ref.so");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        failed += run_suite(names[i]);
    return failed != 0;
}
