// The device `ref` by its table, as libkcrt uses it: images good and bad, launches with bounds,
// failures with a sentence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/kcrt_device.h"

static const kcrt_device_api *api;
static void *device;

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char ir[] = "module @m\n"
                         "func @half(%a: f32[], %x: f32[M, N]@[ld, 1]) -> (y: f16[M, N], s: f32[]) "
                         "dims {M: 0..100, N: 0..100, ld} {\n"
                         "  %0 = broadcast %a : f32[M, N]\n  %1 = mul %0, %x : f32[M, N]\n  %2 = "
                         "cast %1 {dtype = f16} : f16[M, N]\n"
                         "  %3 = sum %1 {axes = [0, 1]} : f32[]\n  return %2, %3\n}\n"
                         "func @pick(%x: f32[3], %k: i64[2]) -> (y: f32[2]) {\n  %0 = gather %x, "
                         "%k {axis = 0} : f32[2]\n  return %0\n}\n"
                         "func @add(%x: f32[N], %c: f32[N]) -> (c: f32[N] alias c, y: f32[N]) dims {N: "
                         "0..100} {\n  %0 = add %x, %c : f32[N]\n  return %0, %c\n}\n"
                         "func @scaled(%x: f32[2], %w: f32[2] constant \"" HASH "\") -> (y: f32[2]) {\n"
                         "  %0 = mul %x, %w : f32[2]\n  return %0\n}\n"
                         "func @huge(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = "
                         "broadcast %x : f32[N, N]\n"
                         "  %1 = sum %0 {axes = [0, 1]} : f32[]\n  return %1\n}\n";

static void *load(void) {
    void *module = NULL;
    assert_int_equal(api->module_load(device, "ir", ir, sizeof ir, &module), KCRT_OK);
    assert_non_null(module);
    return module;
}

static DLTensor tensor(void *data, int code, int bits, int rank, int64_t *shape, int64_t *strides) {
    return kcrt_tensor((DLDevice){kDLCPU, 0}, data, kcrt_dtype(code, bits), rank, shape, strides);
}

static void test_images(void **state) {
    (void)state;
    static const struct {
        const char *role, *text;
        kcrt_status status;
        const char *sentence;
    } rows[] = {
        {"ptx", ir, KCRT_NO_IMAGE, "role `ir`"},
        {"ir", "", KCRT_BAD_PACKAGE, "tensor IR cannot be used: ir:1:1: error"},
        {"ir", "module @m\nfunc @f(", KCRT_BAD_PACKAGE, "error"},
        {"ir", "module @m\nfunc @f(%x: f32[2]) -> (y: f32[3]) {\n  return %x\n}\n",
         KCRT_BAD_PACKAGE, "value 0 has not the type"},
        {"ir",
         "module @m\nfunc @f(%x: f32[2]) -> (y: f32[2]) {\n  %0 = reduce %x {axes = [0], init = "
         "[0]} : f32[2]\n  return %x\n}\n",
         KCRT_BAD_PACKAGE, "error"},
        {"ir",
         "module @m\nfunc @f(%x: f32[2]) -> (y: f32[2]) {\n  variant {workspace = 0} {\n  }\n}\n",
         KCRT_BAD_PACKAGE, "planned into kernels"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *module = NULL;
        assert_int_equal(
            api->module_load(device, rows[i].role, rows[i].text, strlen(rows[i].text), &module),
            rows[i].status);
        assert_null(module);
        if (!strstr(api->last_error(), rows[i].sentence))
            fprintf(stderr, "%s\n", api->last_error());
        assert_non_null(strstr(api->last_error(), rows[i].sentence));
    }
    const char *reason = NULL;
    assert_true(api->rank(device, "kc", "ir", "ir", &reason) > 0);
    assert_int_equal(api->rank(device, "cuda", "sm_80", "ptx", &reason), 0);
    assert_non_null(reason);
}

static void test_launch(void **state) {
    (void)state;
    void *module = load();
    float a = 0.1f, x[6] = {1, 2, -1, 4, 5, -1}, sum = 0;
    uint16_t y[4] = {0};
    int64_t shape[2] = {2, 2}, strides[2] = {3, 1};
    double y_values[4], y_bounds[4], s_value, s_bound;
    DLTensor tx = tensor(x, 2, 32, 2, shape, strides), ty = tensor(y, 2, 16, 2, shape, NULL),
             ts = tensor(&sum, 2, 32, 0, NULL, NULL);
    const DLTensor *tensors[] = {NULL, &tx, &ty, &ts};
    const void *scalars[] = {&a, NULL, NULL, NULL};
    double *values[] = {NULL, NULL, y_values, &s_value},
           *bounds[] = {NULL, NULL, y_bounds, &s_bound};
    const char *names[] = {"M", "N", "ld"};
    int64_t numbers[] = {2, 2, 3};
    kcrt_function_call call = {4, tensors, scalars, values, bounds, 3, names, numbers, 0, NULL};
    assert_int_equal(api->function_check(device, module, "half"), KCRT_OK);
    assert_int_equal(api->launch_function(device, module, "half", &call, NULL), KCRT_OK);
    const double expected[4] = {0.1f * 1.0, 0.1f * 2.0, 0.1f * 4.0, 0.1f * 5.0};
    for (int i = 0; i < 4; i++)
        assert_true(y_values[i] == expected[i] && y_bounds[i] >= 0 && y_bounds[i] < 1e-7);
    assert_int_equal(y[0], 0x2e66); // 0.1 in f16
    assert_true(fabs(s_value - 1.2) < 1e-7 && s_bound > 0 && s_bound < 1e-6 &&
                fabs((double)sum - s_value) < 1e-7);
    call.values = call.bounds = NULL; // neither has to be asked for
    assert_int_equal(api->launch_function(device, module, "half", &call, NULL), KCRT_OK);
    api->module_unload(device, module);
}

// An inout is one argument: read as it was, written when all is computed.
static void test_inout(void **state) {
    (void)state;
    void *module = load();
    float x[3] = {1, 2, 3}, c[3] = {10, 20, 30}, y[3] = {0};
    int64_t shape[1] = {3}, numbers[] = {3};
    DLTensor tx = tensor(x, 2, 32, 1, shape, NULL), tc = tensor(c, 2, 32, 1, shape, NULL),
             ty = tensor(y, 2, 32, 1, shape, NULL);
    const DLTensor *tensors[] = {&tx, &tc, &ty};
    const void *scalars[] = {NULL, NULL, NULL};
    double c_values[3], y_values[3], *values[] = {NULL, c_values, y_values};
    const char *names[] = {"N"};
    kcrt_function_call call = {.arg_count = 3,
                               .tensors = tensors,
                               .scalars = scalars,
                               .values = values,
                               .symbol_count = 1,
                               .symbol_names = names,
                               .symbol_values = numbers};
    assert_int_equal(api->launch_function(device, module, "add", &call, NULL), KCRT_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(c[i] == 11 * (float)(i + 1) && c_values[i] == 11 * (i + 1));
        assert_true(y[i] == 10 * (float)(i + 1) && y_values[i] == 10 * (i + 1));
    }
    call.arg_count = 2;
    assert_int_equal(api->launch_function(device, module, "add", &call, NULL),
                     KCRT_INVALID_ARGUMENT);
    assert_non_null(strstr(api->last_error(), "takes 3 arguments"));
    api->module_unload(device, module);
}

// Constants come beside the arguments.
static void test_constants(void **state) {
    (void)state;
    void *module = load();
    float x[2] = {1, 2}, w[3] = {0, 3, 5}, y[2] = {0};
    int64_t shape[1] = {2};
    DLTensor tx = tensor(x, 2, 32, 1, shape, NULL), ty = tensor(y, 2, 32, 1, shape, NULL),
             constants[] = {tensor(w, 2, 32, 1, shape, NULL)};
    const DLTensor *tensors[] = {&tx, &ty};
    const void *scalars[] = {NULL, NULL};
    kcrt_function_call call = {
        .arg_count = 2, .tensors = tensors, .scalars = scalars, .constant_count = 1};
    constants[0].byte_offset = sizeof *w;
    call.constants = constants;
    assert_int_equal(api->launch_function(device, module, "scaled", &call, NULL), KCRT_OK);
    assert_true(y[0] == 3 && y[1] == 10);
    call.constant_count = 0;
    assert_int_equal(api->launch_function(device, module, "scaled", &call, NULL),
                     KCRT_INVALID_ARGUMENT);
    assert_non_null(strstr(api->last_error(), "takes 2 arguments and 1 constants"));
    call.constant_count = 1;
    constants[0].ndim = 0;
    assert_int_equal(api->launch_function(device, module, "scaled", &call, NULL),
                     KCRT_INVALID_ARGUMENT);
    api->module_unload(device, module);
}

static void test_failures(void **state) {
    (void)state;
    void *module = load();
    float x = 1, y;
    DLTensor tx = tensor(&x, 2, 32, 0, NULL, NULL), ty = tensor(&y, 2, 32, 0, NULL, NULL),
             wrong = tensor(&y, 2, 64, 0, NULL, NULL);
    const DLTensor *tensors[] = {&tx, &ty}, *other[] = {&tx, &wrong};
    const void *scalars[] = {NULL, NULL};
    const char *names[] = {"N"};
    int64_t numbers[] = {2000000000};
    kcrt_function_call call = {2, tensors, scalars, NULL, NULL, 1, names, numbers, 0, NULL};
    assert_int_equal(api->function_check(device, module, "none"), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(api->last_error(), "`none`"));
    assert_int_equal(api->launch_function(device, module, "none", &call, NULL), KCRT_BAD_PACKAGE);
    assert_int_equal(api->launch_function(device, module, "huge", &call, NULL), KCRT_DRIVER);
    assert_non_null(strstr(api->last_error(), "more memory than the interpreter may use"));
    call.symbol_count = 0;
    assert_int_equal(api->launch_function(device, module, "huge", &call, NULL), KCRT_DRIVER);
    assert_non_null(strstr(api->last_error(), "no value is given for N"));
    call.tensors = other;
    assert_int_equal(api->launch_function(device, module, "huge", &call, NULL),
                     KCRT_INVALID_ARGUMENT);
    call.arg_count = 1;
    assert_int_equal(api->launch_function(device, module, "huge", &call, NULL),
                     KCRT_INVALID_ARGUMENT);
    api->module_unload(device, module);
}

static void test_report_of_gathers(void **state) {
    (void)state;
    void *module = load();
    float x[3] = {1, 2, 3}, y[2];
    int64_t k[2] = {5, -1}, three = 3, two = 2;
    DLTensor tx = tensor(x, 2, 32, 1, &three, NULL), tk = tensor(k, 0, 64, 1, &two, NULL),
             ty = tensor(y, 2, 32, 1, &two, NULL);
    const DLTensor *tensors[] = {&tx, &tk, &ty};
    const void *scalars[] = {NULL, NULL, NULL};
    kcrt_function_call call = {3, tensors, scalars, NULL, NULL, 0, NULL, NULL, 0, NULL};
    assert_int_equal(api->launch_function(device, module, "pick", &call, NULL), KCRT_OK);
    assert_true(y[0] == 3 && y[1] == 3);
    char *json = NULL;
    assert_int_equal(api->report(device, &json), KCRT_OK);
    assert_non_null(strstr(json, "{\"name\": \"pick\", \"launches\": 1, \"findings\": [{\"kind\": "
                                 "\"out_of_bounds\", \"kernel\": \"pick\""));
    assert_non_null(strstr(json, "\"count\": 1}"));
    free(json);
    api->module_unload(device, module);
}

static void test_memory(void **state) {
    (void)state;
    void *base = NULL;
    char text[4] = "";
    assert_int_equal(api->alloc(device, 1000, &base), KCRT_OK);
    assert_int_equal(api->address(base, 256) % 256, 0);
    assert_int_equal(api->memset(device, base, 1, 'x', 3, NULL), KCRT_OK);
    assert_int_equal(api->copy(device, KCRT_DEVICE_TO_HOST, text, 0, base, 1, 3, NULL), KCRT_OK);
    assert_string_equal(text, "xxx");
    assert_int_equal(api->free(device, base), KCRT_OK);
    assert_int_equal(api->alloc(device, SIZE_MAX - 10, &base), KCRT_OUT_OF_MEMORY);
    int ordinal = 0;
    void *other = NULL;
    assert_int_equal(api->open(NULL, "1", &ordinal, &other), KCRT_NO_DEVICE);
    int64_t value = 0;
    assert_int_equal(api->attr(device, KCRT_ATTR_EXIST, &value), KCRT_OK);
    assert_int_equal(api->attr(device, KCRT_ATTR_L2_BYTES, &value), KCRT_UNSUPPORTED);
}

// build/test/runtime/test_ref -> build/lib/libkcrt_ref.so, unless KCRT_REF names another.
static void *open_library(void) {
    char path[4096];
    const char *named = getenv("KCRT_REF");
    if (named) return dlopen(named, RTLD_NOW);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    for (int up = 0; up < 3 && n > 0; up++)
        while (n > 0 && path[--n] != '/')
            continue;
    strcpy(path + (n > 0 ? n : 0), "/lib/libkcrt_ref.so");
    return dlopen(path, RTLD_NOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),   cmocka_unit_test(test_launch),
        cmocka_unit_test(test_inout),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_report_of_gathers),
        cmocka_unit_test(test_memory),
    };
    void *library = open_library();
    if (!library) {
        fprintf(stderr, "skipped: the library of `ref` is not there: %s\n", dlerror());
        return 0;
    }
    kcrt_ref_device_api_fn *get;
    *(void **)&get = dlsym(library, KCRT_REF_SYMBOL);
    int ordinal = 0;
    api = get();
    if (api->open(NULL, NULL, &ordinal, &device)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
