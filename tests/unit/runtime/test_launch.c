// Launches on a plug-in device: what is checked, what is bound, which variant is taken, what
// reaches the device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fake.h"
#include "pack.h"
#include "runtime/kcrt.h"

static const pack_image image = {"fake", "f1", "bin", "image", 5};

// matmul-like: dims, a stride name, an affine shape, a passed dim, a scalar, an alias, two
// variants, workspace, all steps.
static const char functions[] =
    "{\"name\":\"f\",\"dims\":[{\"name\":\"M\",\"min\":1,\"max\":100,\"multiple_of\":1},{\"name\":"
    "\"K\",\"multiple_of\":8},"
    "  {\"name\":\"P\"},{\"name\":\"Q\"}],"
    " \"strides\":[{\"name\":\"ldx\"}],\"unbound\":[\"P\"],"
    " \"args\":[{\"name\":\"x\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f16\","
    "\"shape\":[\"M\",\"K\"],\"strides\":[\"ldx\",1]},"
    "  {\"name\":\"w\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"2 "
    "* Q + 1\",\"K\"]},"
    "  "
    "{\"name\":\"alpha\",\"direction\":\"input\",\"kind\":\"scalar\",\"type\":\"f32\",\"shape\":[]}"
    ","
    "  "
    "{\"name\":\"y\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":["
    "\"M\",\"Q\"]},"
    "  "
    "{\"name\":\"z\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"f32\",\"shape\":[\"2 "
    "* Q + 1\",\"K\"],\"alias\":\"w\"}],"
    " \"targets\":[{\"triple\":\"fake\",\"arch\":\"f1\",\"images\":[0],\"variants\":["
    "  {\"when\":\"K % 16 == 0 and align.x >= "
    "16\",\"steps\":[{\"kernel\":\"fast\",\"grid\":[\"cdiv(M, 16)\",\"Q\",1],\"block\":[128,1,1],"
    "    \"args\":[{\"pointer\":\"x\"}]}]},"
    "  {\"workspace\":\"M * 4 + 100\",\"steps\":["
    "   {\"memset\":{\"to\":{\"workspace\":4},\"value\":255,\"bytes\":\"M\"}},"
    "   "
    "{\"copy\":{\"to\":{\"pointer\":\"y\",\"offset\":4},\"from\":{\"workspace\":\"4\"},\"bytes\":4}"
    "},"
    "   "
    "{\"kernel\":\"general\",\"grid\":[\"dev.multiprocessors\",\"P\",1],\"block\":[32,2,1],"
    "\"shared\":\"K * 2\",\"args\":["
    "     "
    "{\"pointer\":\"y\",\"offset\":\"M\"},{\"workspace\":\"8\"},{\"scalar\":\"alpha\"},{\"expr\":"
    "\"ldx + P\",\"type\":\"i64\"},{\"expr\":\"Q\",\"type\":\"i32\"}]}]}]}]},"
    "{\"name\":\"g\",\"dims\":[{\"name\":\"N\"}],"
    " \"args\":[{\"name\":\"x\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"i32\","
    "\"shape\":[\"N\"]},"
    "  "
    "{\"name\":\"y\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"i32\",\"shape\":["
    "\"N\"]}],"
    " \"targets\":[{\"triple\":\"fake\",\"arch\":\"f1\",\"images\":[0],\"variants\":["
    "  {\"when\":\"N != 13\",\"steps\":[{\"kernel\":\"g0\",\"grid\":[\"cdiv(N, "
    "4)\",1,1],\"block\":[4,1,1],\"args\":["
    "   {\"expr\":\"1000000000000 // max(N, 1)\",\"type\":\"i32\"}]}]}]}]},"
    "{\"name\":\"i\",\"dims\":[{\"name\":\"N\"}],"
    " \"args\":[{\"name\":\"x\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"u8\","
    "\"shape\":[\"N\"]},"
    "  {\"name\":\"c\",\"direction\":\"inout\",\"kind\":\"tensor\",\"type\":\"u8\",\"shape\":[\"N\"]},"
    "  {\"name\":\"y\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"u8\",\"shape\":[\"N\"]}],"
    " \"targets\":[{\"triple\":\"fake\",\"arch\":\"f1\",\"images\":[0],\"variants\":[{\"steps\":[]}"
    "]}]},"
    "{\"name\":\"h\",\"dims\":[{\"name\":\"A\"},{\"name\":\"B\"}],\"strides\":[{\"name\":\"s\"},{"
    "\"name\":\"t\"}],"
    " \"args\":[{\"name\":\"y\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"u8\","
    "\"shape\":[\"A\",\"B\"],\"strides\":[\"s\",\"t\"]}],"
    " \"targets\":[{\"triple\":\"fake\",\"arch\":\"f1\",\"images\":[0],\"variants\":[{\"steps\":[]}"
    "]}]}";

static pack packed;
static kcrt_device *device;
static kcrt_module *module;
static kcrt_function *f, *g, *h;

static int setup(void **state) {
    (void)state;
    packed = pack_functions(functions, "", &image, 1);
    if (kcrt_device_register("fake", kDLExtDev, &fake_api)) return -1;
    if (kcrt_device_open("fake", &device) ||
        kcrt_module_load_memory(device, packed.data, packed.size, NULL, &module)) {
        fprintf(stderr, "%s\n", kcrt_last_error());
        return -1;
    }
    return kcrt_function_get(module, "f", &f) || kcrt_function_get(module, "g", &g) ||
           kcrt_function_get(module, "h", &h);
}

static int teardown(void **state) {
    (void)state;
    kcrt_module_unload(module);
    kcrt_device_close(device);
    free(packed.data);
    return fake_live_allocations || fake_live_modules;
}

// The arguments of f, right ones: M 3, K 24 (ldx 32), Q 5, P 2.
typedef struct {
    _Alignas(256) unsigned char x[8192], w[8192], y[8192];
    int64_t x_shape[2], x_strides[2], w_shape[2], y_shape[2], z_shape[2], p;
    float alpha;
    DLTensor tx, tw, ty, tz;
    void *args[6];
} call;

static call c;

static int reset(void **state) {
    (void)state;
    const DLDevice on = kcrt_device_dl(device);
    c = (call){.x_shape = {3, 24},
               .x_strides = {32, 1},
               .w_shape = {11, 24},
               .y_shape = {3, 5},
               .z_shape = {11, 24},
               .p = 2,
               .alpha = 1.5f};
    c.tx = kcrt_tensor(on, c.x, kcrt_dtype(2, 16), 2, c.x_shape, c.x_strides);
    c.tw = kcrt_tensor(on, c.w, kcrt_dtype(2, 32), 2, c.w_shape, NULL);
    c.ty = kcrt_tensor(on, c.y, kcrt_dtype(2, 32), 2, c.y_shape, NULL);
    c.tz = kcrt_tensor(on, c.w, kcrt_dtype(2, 32), 2, c.z_shape, NULL);
    void *args[] = {&c.tx, &c.tw, &c.alpha, &c.ty, &c.tz, &c.p};
    memcpy(c.args, args, sizeof args);
    memset(&fake_seen, 0, sizeof fake_seen);
    fake_log[0] = 0;
    fake_capturing = fake_out_of_memory = false;
    return 0;
}

static kcrt_status launch(void) {
    return kcrt_launch(f, NULL, c.args, 6, NULL, 0);
}

// The launch fails, starts nothing, and its sentence holds all these words.
static void refused(kcrt_status status, const char *words) {
    assert_int_equal(status, KCRT_INVALID_ARGUMENT);
    assert_int_equal(fake_seen.count, 0);
    char copy[256], *save;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
        if (!strstr(kcrt_last_error(), word))
            fail_msg("`%s` is not in: %s", word, kcrt_last_error());
    size_t n = strlen(kcrt_last_error());
    assert_true(n > 10 && kcrt_last_error()[n - 1] == '.');
}

static void test_general_variant(void **state) {
    (void)state;
    assert_int_equal(launch(), KCRT_OK);
    assert_string_equal(fake_log, "alloc memset copy general");
    assert_int_equal(fake_seen.shape.grid[0], 7); // dev.multiprocessors
    assert_int_equal(fake_seen.shape.grid[1], 2); // P, passed
    assert_int_equal(fake_seen.shape.block[0], 32);
    assert_int_equal(fake_seen.shape.block[1], 2);
    assert_int_equal(fake_seen.shape.dynamic_shared, 48);
    assert_int_equal(fake_seen.arg_count, 5);
    assert_ptr_equal(fake_seen.args[0].base, c.y);
    assert_int_equal(fake_seen.args[0].value, 3); // byte offset M
    assert_true(fake_seen.args[1].is_memory && fake_seen.args[1].value == 8);
    float alpha;
    memcpy(&alpha, &fake_seen.args[2].value, 4);
    assert_true(alpha == 1.5f && fake_seen.args[2].size == 4 && !fake_seen.args[2].is_memory);
    assert_int_equal(fake_seen.args[3].value, 34); // ldx + P
    assert_int_equal(fake_seen.args[4].value, 5);  // Q from 2 * Q + 1 == 11
    assert_int_equal(fake_seen.args[4].size, 4);
    assert_int_equal(c.y[4], 255); // the copy step, after the memset step
    fake_log[0] = 0;
    assert_int_equal(launch(), KCRT_OK); // the pool serves the second launch
    assert_string_equal(fake_log, "memset copy general");
}

static void test_divisible_variant(void **state) {
    (void)state;
    c.x_shape[1] = c.w_shape[1] = c.z_shape[1] = 32;
    assert_int_equal(launch(), KCRT_OK);
    assert_string_equal(fake_seen.kernel, "fast");
    assert_int_equal(fake_seen.shape.grid[0], 1);
    assert_int_equal(fake_seen.shape.grid[1], 5);
    c.tx.byte_offset = 8; // now align.x is 8
    assert_int_equal(launch(), KCRT_OK);
    assert_string_equal(fake_seen.kernel, "general");
    c.tx.byte_offset = 16;
    assert_int_equal(launch(), KCRT_OK);
    assert_string_equal(fake_seen.kernel, "fast");
    assert_int_equal(fake_seen.args[0].value, 16);
}

static void test_rank_type_device(void **state) {
    (void)state;
    c.tx.ndim = 1;
    refused(launch(), "f: |argument `x`|f16[M, K]|rank 1");
    reset(NULL);
    c.tw.dtype = kcrt_dtype(0, 32);
    refused(launch(), "`w`|int32|f32");
    reset(NULL);
    c.tw.dtype.lanes = 2;
    refused(launch(), "`w`|2 lanes");
    reset(NULL);
    c.ty.device.device_type = kDLCPU;
    refused(launch(), "`y`|cpu:0");
    reset(NULL);
    c.ty.device.device_id = 1;
    refused(launch(), "`y`|12:1|12:0");
    reset(NULL);
    c.args[1] = NULL;
    refused(launch(), "`w`|NULL");
    reset(NULL);
    c.args[2] = NULL;
    refused(launch(), "`alpha`|NULL");
    reset(NULL);
    c.args[5] = NULL;
    refused(launch(), "dimension P|NULL");
    refused(kcrt_launch(f, NULL, c.args, 5, NULL, 0), "6 arguments|P|given 5");
    reset(NULL);
    c.tw.shape = NULL;
    refused(launch(), "`w`|no shape");
    reset(NULL);
    c.w_shape[0] = -1;
    refused(launch(), "`w`|-1");
}

static void test_shapes_agree(void **state) {
    (void)state;
    c.w_shape[1] = 16;
    refused(launch(), "`w`|extent 16 on axis 1|K = 24");
    reset(NULL);
    c.y_shape[0] = 4;
    refused(launch(), "`y`|extent 4|M = 3");
    reset(NULL);
    c.w_shape[0] = 12;
    refused(launch(), "`w`|12|axis 0|2"); // 2 * Q + 1 is odd
    reset(NULL);
    c.x_shape[0] = c.y_shape[0] = 101;
    c.x_strides[0] = 24;
    refused(launch(), "M is 101|`x`, axis 0|1 to 100");
    reset(NULL);
    c.x_shape[1] = c.w_shape[1] = c.z_shape[1] = 20;
    refused(launch(), "K is 20|multiples of 8");
    reset(NULL);
    c.p = -5;
    refused(launch(), "P is -5|passed by the caller");
}

static void test_strides(void **state) {
    (void)state;
    c.x_strides[1] = 2;
    refused(launch(), "`x`|stride 2 on axis 1");
    reset(NULL);
    c.x_strides[0] = -32;
    refused(launch(), "`x`|negative stride");
    reset(NULL);
    int64_t strides[] = {30, 1};
    c.tw.strides = strides;
    refused(launch(), "`w`|contiguous|24|30");
    strides[0] = 24;
    assert_int_equal(launch(), KCRT_OK);
    reset(NULL);
    c.x_shape[0] = c.y_shape[0] = 1; // the stride of an extent of 1 is not looked at
    c.x_strides[0] = -7;
    c.x_strides[1] = 1;
    assert_int_equal(launch(), KCRT_OK);
    assert_int_equal(fake_seen.args[3].value, 2); // ldx 0, P 2
    reset(NULL);
    c.x_shape[0] = INT64_MAX / 2;
    refused(launch(), "M is");
}

static void test_pointers(void **state) {
    (void)state;
    c.tw.byte_offset = 2;
    refused(launch(), "`w`|multiple of its element size 4");
    reset(NULL);
    c.tw.data = NULL;
    refused(launch(), "`w`|no data");
    reset(NULL);
    c.ty.data = c.x + 64;
    refused(launch(), "`y`|overlaps `x`|alias");
    reset(NULL);
    c.tz.data = c.w + 4; // in part
    refused(launch(), "`z`|the same memory as `w`|in part");
    reset(NULL);
    c.tz.data = c.y;
    refused(launch(), "`z`|overlaps `y`");
    reset(NULL);
    c.ty.data = c.x + 2 * (2 * 32 + 24); // right behind x's last element
    assert_int_equal(launch(), KCRT_OK);
}

// One argument, which overlaps nothing.
static void test_inouts(void **state) {
    (void)state;
    kcrt_function *i;
    kcrt_arg_info info;
    assert_int_equal(kcrt_function_get(module, "i", &i), KCRT_OK);
    assert_int_equal(kcrt_function_arg_count(i), 3);
    static const struct {
        int output, inout;
    } expected[] = {{0, 0}, {1, 1}, {1, 0}};
    for (int a = 0; a < 3; a++) {
        assert_int_equal(kcrt_function_arg(i, a, &info), KCRT_OK);
        assert_int_equal(info.is_output, expected[a].output);
        assert_int_equal(info.is_inout, expected[a].inout);
        assert_null(info.alias);
    }
    int64_t shape[] = {8}, strides[] = {0};
    DLTensor t[3];
    void *args[] = {&t[0], &t[1], &t[2]};
    for (int a = 0; a < 3; a++)
        t[a] = kcrt_tensor(kcrt_device_dl(device), c.y + 16 * a, kcrt_dtype(1, 8), 1, shape, NULL);
    assert_int_equal(kcrt_launch(i, NULL, args, 3, NULL, 0), KCRT_OK);
    t[1].data = c.y + 7;
    refused(kcrt_launch(i, NULL, args, 3, NULL, 0), "`c`|overlaps `x`|`c` is updated in place");
    t[1].data = c.y;
    refused(kcrt_launch(i, NULL, args, 3, NULL, 0), "`c`|overlaps `x`|`c` is updated in place");
    t[1].data = c.y + 32;
    refused(kcrt_launch(i, NULL, args, 3, NULL, 0), "`y`|overlaps `c`|`c` is updated in place");
    t[1].data = c.y + 16;
    t[1].strides = strides;
    refused(kcrt_launch(i, NULL, args, 3, NULL, 0), "`c`|contiguous");
    t[1].strides = NULL;
    t[1].data = NULL;
    refused(kcrt_launch(i, NULL, args, 3, NULL, 0), "`c`|no data");
}

// Uploaded once when the module is opened, whatever uses it; gone with the module.
static void test_constants(void **state) {
    (void)state;
    static const char uses[] =
        "{\"name\":\"%c\",\"dims\":[],\"args\":[],\"constants\":[{\"name\":\"w\",\"type\":\"i32\","
        "\"shape\":[2],\"constant\":\"two\"}],\"targets\":[{\"triple\":\"fake\",\"arch\":\"f1\","
        "\"images\":[0],\"variants\":[{\"steps\":[{\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],"
        "\"args\":[{\"constant\":\"two\"},{\"constant\":\"three\"}]}]}]}]}";
    static const char list[] = "\"constants\":[{\"name\":\"two\",\"image\":1,\"offset\":0,\"bytes\":8},"
                               "{\"name\":\"three\",\"image\":1,\"offset\":256,\"bytes\":12}],";
    char first[1000], second[1000], both[2001], data[268];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)i;
    snprintf(first, sizeof first, uses, 'a');
    snprintf(second, sizeof second, uses, 'b');
    snprintf(both, sizeof both, "%s,%s", first, second);
    pack_image with[] = {image, {"kc", "const", "const", data, sizeof data}};
    pack p = pack_functions(both, list, with, 2);
    kcrt_module *m;
    kcrt_function *a;
    int before = fake_live_allocations;
    if (kcrt_module_load_memory(device, p.data, p.size, NULL, &m)) fail_msg("%s", kcrt_last_error());
    assert_int_equal(fake_live_allocations, before + 1);
    assert_int_equal(kcrt_function_get(m, "b", &a), KCRT_OK);
    assert_int_equal(kcrt_function_arg_count(a), 0);
    assert_int_equal(kcrt_launch(a, NULL, NULL, 0, NULL, 0), KCRT_INVALID_ARGUMENT);
    void *none[1] = {NULL};
    assert_int_equal(kcrt_launch(a, NULL, none, 0, NULL, 0), KCRT_OK);
    assert_int_equal(fake_live_allocations, before + 1);
    const char *two = fake_seen.args[0].base, *three = fake_seen.args[1].base;
    assert_true(fake_seen.args[0].is_memory && fake_seen.args[0].value == 0);
    assert_true(fake_seen.args[1].is_memory && fake_seen.args[1].value == 256 && three == two);
    assert_memory_equal(two, data, sizeof data);
    assert_int_equal((uintptr_t)two % 256, 0);
    kcrt_module_unload(m);
    assert_int_equal(fake_live_allocations, before);
    free(p.data);

    static const struct {
        const char *from, *to, *words;
    } bad[] = {{"\"shape\":[2]", "\"shape\":[3]", "constant `w` does not have as many bytes"},
               {"\"shape\":[2]", "\"shape\":[-2]", "`shape` is -2"},
               {"\"i32\"", "\"i33\"", "constant `w` has type `i33`"},
               {"\"constant\":\"two\"}],", "\"constant\":\"six\"}],", "no constant `six`"},
               {"[2]", "[4611686018427387904,8]", "constant `w` is larger than"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1100], *at = strstr(first, bad[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - first), first, bad[i].to,
                 at + strlen(bad[i].from));
        p = pack_functions(text, list, with, 2);
        kcrt_status status = kcrt_module_load_memory(device, p.data, p.size, NULL, &m);
        assert_int_equal(status, KCRT_BAD_PACKAGE);
        if (!strstr(kcrt_last_error(), bad[i].words)) fail_msg("%s", kcrt_last_error());
        free(p.data);
    }
    data[3]++; // hashed while the package is made, so that the same bytes are good again
    p = pack_functions(first, "\"constants\":[{\"name\":\"two\",\"image\":1,\"offset\":0,\"bytes\":8},"
                              "{\"name\":\"two\",\"image\":1,\"offset\":0,\"bytes\":8}],", with, 2);
    assert_int_equal(kcrt_module_load_memory(device, p.data, p.size, NULL, &m), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "two constants are called `two`"));
    free(p.data);
}

static void test_outputs_do_not_fold(void **state) {
    (void)state;
    int64_t shape[] = {4, 3}, strides[] = {3, 1};
    DLTensor t = kcrt_tensor(kcrt_device_dl(device), c.y, kcrt_dtype(1, 8), 2, shape, strides);
    void *args[] = {&t};
    static const struct {
        int64_t s, t;
        bool good;
    } table[] = {{3, 1, true},  {4, 1, true},  {1, 4, true},  {2, 1, false},
                 {1, 1, false}, {0, 1, false}, {0, 0, false}, {1, 3, false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        strides[0] = table[i].s;
        strides[1] = table[i].t;
        assert_int_equal(kcrt_launch(h, NULL, args, 1, NULL, 0),
                         table[i].good ? KCRT_OK : KCRT_INVALID_ARGUMENT);
        if (!table[i].good) refused(KCRT_INVALID_ARGUMENT, "`y`|overlap");
    }
}

static void test_empty(void **state) {
    (void)state;
    int64_t n = 0;
    DLTensor x = kcrt_tensor(kcrt_device_dl(device), NULL, kcrt_dtype(0, 32), 1, &n, NULL), y = x;
    void *args[] = {&x, &y};
    assert_int_equal(kcrt_launch(g, NULL, args, 2, NULL, 0), KCRT_OK);
    assert_int_equal(fake_seen.count, 0); // nothing starts for an empty result
}

static void test_expressions_that_fail(void **state) {
    (void)state;
    int64_t n = 13;
    DLTensor x = kcrt_tensor(kcrt_device_dl(device), c.x, kcrt_dtype(0, 32), 1, &n, NULL), y = x;
    y.data = c.y;
    void *args[] = {&x, &y};
    refused(kcrt_launch(g, NULL, args, 2, NULL, 0), "g: |none of the 1 variants");
    n = 3;
    refused(kcrt_launch(g, NULL, args, 2, NULL, 0), "g: |`g0`|333333333333|32 bits");
}

static void test_workspace(void **state) {
    (void)state;
    size_t bytes;
    assert_int_equal(kcrt_function_workspace(f, (const DLTensor *const *)(void *)c.args, 6, &bytes),
                     KCRT_OK);
    assert_int_equal(bytes, 112);
    void *mine;
    assert_int_equal(kcrt_workspace_alloc(device, 112, &mine), KCRT_OK);
    refused(kcrt_launch(f, NULL, c.args, 6, mine, 111), "112 bytes|111");
    refused(kcrt_launch(f, NULL, c.args, 6, (char *)mine + 4, 112), "256");
    assert_int_equal(kcrt_launch(f, NULL, c.args, 6, mine, 112), KCRT_OK);
    assert_ptr_equal(fake_seen.args[1].base, mine);
    fake_capturing = true;
    assert_int_equal(kcrt_launch(f, NULL, c.args, 6, mine, 112), KCRT_OK);
    assert_int_equal(launch(), KCRT_UNSUPPORTED);
    assert_non_null(strstr(kcrt_last_error(), "captured"));
    fake_capturing = false;
    assert_int_equal(kcrt_workspace_free(device, mine), KCRT_OK);
    assert_int_equal(kcrt_workspace_free(device, mine), KCRT_INVALID_ARGUMENT);
    void *again;
    assert_int_equal(kcrt_workspace_alloc(device, 100, &again), KCRT_OK);
    assert_ptr_equal(again, mine); // from the pool
    assert_int_equal(kcrt_workspace_free(device, again), KCRT_OK);
}

static void test_descriptions(void **state) {
    (void)state;
    kcrt_arg_info arg;
    kcrt_symbol_info symbol;
    assert_int_equal(kcrt_function_arg_count(f), 5);
    assert_int_equal(kcrt_function_arg(f, 4, &arg), KCRT_OK);
    assert_string_equal(arg.name, "z");
    assert_string_equal(arg.alias, "w");
    assert_true(arg.is_output && !arg.is_scalar && arg.rank == 2 && !arg.has_strides);
    assert_int_equal(kcrt_function_arg(f, 5, &arg), KCRT_NOT_FOUND);
    assert_int_equal(kcrt_function_symbol_count(f), 5);
    assert_int_equal(kcrt_function_symbol(f, 2, &symbol), KCRT_OK);
    assert_true(symbol.is_passed && !symbol.is_stride);
    assert_int_equal(kcrt_function_symbol(f, 4, &symbol), KCRT_OK);
    assert_true(symbol.is_stride && !strcmp(symbol.name, "ldx"));
    assert_int_equal(kcrt_module_function_count(module), 4);
    assert_int_equal(kcrt_function_get(module, "nope", &f), KCRT_NOT_FOUND);
    assert_non_null(strstr(kcrt_last_error(), "f, g, i, h"));
    assert_int_equal(kcrt_function_get(module, "f", &f), KCRT_OK);
}

static void test_solve(void **state) {
    (void)state;
    int64_t values[8] = {0}, shape[2], strides[2];
    unsigned char known[8] = {0};
    void *args[5] = {&c.tx, NULL, NULL, NULL, NULL};
    assert_int_equal(kcrt_function_solve(f, args, 5, values, known), KCRT_OK);
    assert_true(known[0] && known[1] && !known[2] && !known[3] && known[4]);
    assert_true(values[0] == 3 && values[1] == 24 && values[4] == 32);
    assert_int_equal(kcrt_function_shape(f, 3, values, known, shape, strides),
                     KCRT_INVALID_ARGUMENT);
    assert_non_null(strstr(kcrt_last_error(), "depends on Q"));
    values[3] = 6, known[3] = 1;
    assert_int_equal(kcrt_function_shape(f, 3, values, known, shape, strides), KCRT_OK);
    assert_true(shape[0] == 3 && shape[1] == 6 && strides[0] == 6 && strides[1] == 1);
    assert_int_equal(kcrt_function_shape(f, 0, values, known, shape, strides), KCRT_OK);
    assert_true(strides[0] == 32 && strides[1] == 1);
    known[3] = 0;
    args[1] = &c.tw;
    assert_int_equal(kcrt_function_solve(f, args, 5, values, known), KCRT_OK);
    assert_true(known[3] && values[3] == 5);
}

static void test_null_handles(void **state) {
    (void)state;
    size_t bytes;
    void *p;
    kcrt_device_close(NULL);
    kcrt_module_unload(NULL);
    kcrt_stream_free(NULL);
    assert_int_equal(kcrt_launch(NULL, NULL, c.args, 6, NULL, 0), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_launch(f, NULL, NULL, 6, NULL, 0), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_alloc(NULL, 4, &p), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_function_workspace(NULL, NULL, 0, &bytes), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_launch_bounded(f, NULL, c.args, 6, NULL, NULL), KCRT_UNSUPPORTED);
    assert_string_equal(kcrt_function_name(NULL), ""); // what a generated header meets first
    assert_int_equal(kcrt_function_device(NULL).device_type, 0);
    assert_int_equal(kcrt_function_arg_count(NULL), 0);
    assert_int_equal(kcrt_function_symbol_count(NULL), 0);
}

static void test_register(void **state) {
    (void)state;
    kcrt_device_api bad = fake_api;
    bad.copy = NULL;
    assert_int_equal(kcrt_device_register("fake2", kDLExtDev, &bad), KCRT_INVALID_ARGUMENT);
    assert_non_null(strstr(kcrt_last_error(), "copy"));
    bad = fake_api;
    bad.version = 99;
    assert_int_equal(kcrt_device_register("fake2", kDLExtDev, &bad), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_device_register("fake", kDLExtDev, &fake_api), KCRT_INVALID_ARGUMENT);
    assert_int_equal(kcrt_device_register("a:b", kDLExtDev, &fake_api), KCRT_INVALID_ARGUMENT);
    kcrt_device *d;
    assert_int_equal(kcrt_device_open("nope", &d), KCRT_NOT_FOUND);
    assert_non_null(strstr(kcrt_last_error(), "cuda-sim"));
    assert_int_equal(kcrt_device_open("fake:9", &d), KCRT_NO_DEVICE);
    assert_null(d);
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_general_variant),
        TEST(test_divisible_variant),
        TEST(test_rank_type_device),
        TEST(test_shapes_agree),
        TEST(test_strides),
        TEST(test_pointers),
        TEST(test_inouts),
        TEST(test_constants),
        TEST(test_outputs_do_not_fold),
        TEST(test_empty),
        TEST(test_expressions_that_fail),
        TEST(test_workspace),
        TEST(test_descriptions),
        TEST(test_solve),
        TEST(test_null_handles),
        TEST(test_register),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
