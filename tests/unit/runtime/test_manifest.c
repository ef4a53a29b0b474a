// The manifest reader: the worked example of docs/PACKAGE.md reads as it says; each wrong manifest
// is refused with a sentence that names what is wrong; damaged ones never do harm, also when their
// hashes are right.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fake.h"
#include "pack.h"
#include "runtime/manifest.h"

static char *example; // the JSON of docs/PACKAGE.md, with true hashes
static pack_image images[4];

static char *read_page(void) {
    FILE *file = fopen("docs/PACKAGE.md", "rb");
    if (!file) return NULL;
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return n ? text : NULL;
}

// In place: the text from `from` on, of `length` bytes, becomes `with`.
static void replace_at(char *from, size_t length, const char *with) {
    size_t n = strlen(with);
    memmove(from + n, from + length, strlen(from + length) + 1);
    memcpy(from, with, n);
}

static int setup(void **state) {
    (void)state;
    static const struct {
        const char *triple, *arch, *role;
        size_t size;
    } like[] = {{"cuda", "sm_80", "ptx", 4711},
                {"cuda", "sm_80", "ptx", 5120},
                {"hip", "gfx942", "hsaco", 9216},
                {"kc", "ir", "ir", 802}};
    char *page = read_page(), *start = page ? strstr(page, "```json\n") : NULL;
    if (!start) return -1;
    example = calloc(1, strlen(start) + 1000);
    strcpy(example, start + 8);
    *strstr(example, "```") = 0;
    char *at = example;
    for (int i = 0; i < 4; i++) {
        images[i] = (pack_image){like[i].triple, like[i].arch, like[i].role,
                                 calloc(1, like[i].size), like[i].size};
        char hex[65];
        kcrt_sha256_hex(images[i].bytes, images[i].size, hex);
        at = strstr(at, "\"sha256\": \"") + 11;
        replace_at(at, 11, hex);
    }
    free(page);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++)
        free((void *)(uintptr_t)images[i].bytes);
    free(example);
    return 0;
}

typedef struct {
    kcrt_arena arena;
    pack bytes;
    kcrt_package package;
    kcrt_manifest manifest;
} loaded;

static kcrt_status read_manifest(loaded *l, const char *text) {
    memset(l, 0, sizeof *l);
    l->bytes = pack_with(text, images, 4);
    kcrt_status status =
        kcrt_package_read(&l->arena, "T.kcb", l->bytes.data, l->bytes.size, &l->package);
    return status ? status : kcrt_manifest_read(&l->arena, "T.kcb", &l->package, &l->manifest);
}

static void release(loaded *l) {
    kcrt_manifest_release(&l->manifest);
    kcrt_arena_release(&l->arena);
    free(l->bytes.data);
}

static void test_example(void **state) {
    (void)state;
    loaded l;
    if (read_manifest(&l, example)) fail_msg("%s", kcrt_last_error());
    assert_string_equal(l.manifest.module, "vectors");
    assert_int_equal(l.manifest.function_count, 2);
    const kcrt_signature *saxpy = &l.manifest.functions[0], *norm2 = &l.manifest.functions[1];
    assert_int_equal(saxpy->target_count, 2);
    assert_int_equal(saxpy->args[3].alias, 2);
    assert_true(saxpy->args[0].is_scalar && saxpy->args[0].bytes == 4);
    assert_int_equal(saxpy->ir, 3);
    const kcrt_variant *fast = &saxpy->targets[0].variants[0];
    assert_true(fast->has_when && !saxpy->targets[0].variants[1].has_when);
    assert_int_equal(fast->steps[0].param_count, 5);
    assert_int_equal(fast->steps[0].params[4].size, 8);
    assert_int_equal(norm2->stride_count, 1);
    assert_int_equal(norm2->binding_count, 2);
    assert_int_equal(norm2->args[1].rank, 0);
    assert_int_equal(norm2->targets[0].device_used, 1); // dev.multiprocessors
    assert_int_equal(saxpy->targets[0].device_used, 0);
    assert_int_equal(norm2->targets[0].variants[0].step_count, 2);
    int64_t values[KCRT_MAX_SYMBOLS] = {1000, 64, 64}, bytes;
    values[norm2->device_base] = 132;
    assert_int_equal(kcrt_term_eval(&norm2->targets[0].variants[0].workspace, values, &bytes),
                     KC_EXPR_OK);
    assert_int_equal(bytes, 1056);
    release(&l);
}

// The example with the first `from` replaced is refused with all these words.
static void wrong(const char *from, const char *to, const char *words) {
    char *text = calloc(1, strlen(example) + 1000);
    strcpy(text, example);
    char *at = strstr(text, from), copy[300], *save;
    if (!at) fail_msg("`%s` is not in the example", from);
    replace_at(at, strlen(from), to);
    loaded l;
    kcrt_status status = read_manifest(&l, text);
    if (status != KCRT_BAD_PACKAGE && status != KCRT_UNSUPPORTED)
        fail_msg("`%s` instead of `%s`: status %d, %s", to, from, status, kcrt_last_error());
    snprintf(copy, sizeof copy, "%s|T.kcb", words);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
        if (!strstr(kcrt_last_error(), word))
            fail_msg("`%s` is not in: %s", word, kcrt_last_error());
    release(&l);
    free(text);
}

static void test_top_level(void **state) {
    (void)state;
    wrong("\"format\": 1", "\"format\": 2", "format 2|reads format 1");
    wrong("\"format\": 1", "\"format\": \"x\"", "`format` must be an integer and is a string");
    wrong("\"module\": \"vectors\"", "\"module\": \"9x\"", "`module` is not a name");
    wrong("\"module\": \"vectors\",", "", "`module` is missing");
    wrong("\"module\"", "\"format\"", "duplicate key|byte");
    wrong("\"arch\": \"sm_80\", \"role\": \"ptx\"", "\"arch\": \"sm_86\", \"role\": \"ptx\"",
          "sm_86 ptx|sm_80 ptx");
    wrong("\"size\": 4711", "\"size\": 4710", "4710|4711");
    wrong("\"sha256\": \"", "\"sha256\": \"A", "64 lowercase hexadecimal");
    wrong("\"functions\"", "\"functoins\"", "`functions` is missing");
    wrong("\"name\": \"norm2\"", "\"name\": \"saxpy\"", "two functions are called `saxpy`");
    wrong("{\"triple\": \"cuda\"", "1, {\"triple\": \"cuda\"", "5 items and the file has 4");
}

static void test_signatures(void **state) {
    (void)state;
    wrong("{\"name\": \"N\", \"min\": 0", "{\"name\": \"N\", \"min\": -1",
          "function `saxpy`|`min` is -1");
    wrong("\"min\": 0, \"max\": 2147483647, \"multiple_of\": 1",
          "\"min\": 5, \"max\": 4, \"multiple_of\": 1", "min above its max");
    wrong("\"multiple_of\": 1}", "\"multiple_of\": 0}", "`multiple_of` is 0");
    wrong("\"shape\": [\"N\"]}", "\"shape\": [\"L\"]}", "uses `L`, which is not declared|`shape`");
    wrong("\"shape\": [\"N\"]}", "\"shape\": [\"N +\"]}", "`N +`|`shape`|offset 3");
    wrong("\"shape\": [\"N\"]}", "\"shape\": [\"align.x\"]}", "may not use `align.x`");
    wrong("\"shape\": [\"N\"]}", "\"shape\": [true]}",
          "must be an expression and is true or false");
    wrong("\"type\": \"f32\", \"shape\": [\"N\"]}", "\"type\": \"f33\", \"shape\": [\"N\"]}",
          "type `f33`");
    wrong("\"type\": \"f32\", \"shape\": [\"N\"]}", "\"type\": \"i4\", \"shape\": []}",
          "`x`|4-bit elements want a last axis");
    wrong("\"direction\": \"input\"", "\"direction\": \"in\"", "none of `input`, `inout` and `output`");
    wrong("\"direction\": \"input\", \"kind\": \"scalar\"",
          "\"direction\": \"inout\", \"kind\": \"scalar\"", "`alpha`|a scalar is an input");
    wrong("\"name\": \"x\", \"direction\": \"input\"", "\"name\": \"x\", \"direction\": \"inout\"",
          "`y` is out of order: inputs come first, then inouts, then outputs");
    wrong("\"direction\": \"output\"", "\"direction\": \"inout\"", "`z`|`alias`");
    wrong("\"kind\": \"scalar\"", "\"kind\": \"vector\"", "neither `tensor` nor `scalar`");
    wrong("\"name\": \"y\", \"direction\": \"input\"", "\"name\": \"x\", \"direction\": \"input\"",
          "two arguments are called `x`");
    wrong("\"name\": \"x\", \"direction\": \"input\"", "\"name\": \"x\", \"direction\": \"output\"",
          "`y` is out of order");
    wrong("\"alias\": \"y\"", "\"alias\": \"alpha\"", "`alias`");
    wrong("\"alias\": \"y\"", "\"alias\": \"q\"", "`alias`");
    wrong("\"ir\": 3", "\"ir\": 2", "role is `hsaco`");
    wrong("\"ir\": 3", "\"ir\": 4", "`ir` is 4");
    wrong("\"strides\": [\"ldx\", 1]", "\"strides\": [\"ldx\"]", "the rank is above");
    wrong("\"strides\": [\"ldx\", 1]", "\"strides\": [\"ldx + 0 * M + 1\", 1]",
          "`ldx` stands bare in no `strides`");
    wrong("\"shape\": [\"M\", \"K\"]", "\"shape\": [\"M * K\", \"K\"]",
          "no shape determines the dim `M`");
    wrong("\"dims\": [{\"name\": \"M\"", "\"unbound\": [\"Z\"], \"dims\": [{\"name\": \"M\"",
          "`unbound` must list dims");
}

static void test_targets(void **state) {
    (void)state;
    wrong("\"images\": [0]", "\"images\": [2]", "`sm_80` lists an image of `gfx942`");
    wrong("\"images\": [0]", "\"images\": [99]", "`images` is 99");
    wrong("\"triple\": \"hip\", \"arch\": \"gfx942\", \"images\": [2]",
          "\"triple\": \"cuda\", \"arch\": \"sm_80\", \"images\": [0]", "two targets are `sm_80`");
    wrong("\"when\": \"N % 4", "\"when\": \"N % alpha % 4", "`alpha`, which is not declared");
    wrong("\"steps\": [", "\"needs\": [\"tensor_map\"], \"steps\": [",
          "needs the feature `tensor_map`");
    wrong("\"kernel\": \"saxpy_v0_k0\"", "\"kernel\": \"\"", "symbol is empty");
    wrong("\"kernel\": \"saxpy_v0_k0\"", "\"kernal\": \"saxpy_v0_k0\"",
          "one of kernel, memset and copy");
    wrong("\"block\": [256, 1, 1]", "\"block\": [256, 1]", "`block` must have three items");
    wrong("\"block\": [256, 1, 1]", "\"block\": [0, 1, 1]", "`block` is 0");
    wrong("\"block\": [256, 1, 1]", "\"block\": [256, 1, 1], \"stream\": 1", "key `stream`");
    wrong("{\"scalar\": \"alpha\"}", "{\"scalar\": \"x\"}", "`x`, which is not a scalar");
    wrong("{\"pointer\": \"x\"}", "{\"pointer\": \"alpha\"}", "`alpha`, which is not a tensor");
    wrong("{\"pointer\": \"x\"}", "{\"pointer\": \"x\", \"workspace\": 0}", "key `workspace`");
    wrong("{\"pointer\": \"x\"}", "{\"tensor_map\": \"x\"}",
          "`tensor_map`; this runtime knows pointer");
    wrong("{\"pointer\": \"x\"}", "{\"constant\": \"c\"}", "no constant `c`");
    wrong("{\"expr\": \"N\", \"type\": \"i64\"}", "{\"expr\": \"N\", \"type\": \"f32\"}",
          "`expr` may be i32 or i64");
    wrong("{\"expr\": \"N\", \"type\": \"i64\"}", "{\"expr\": \"N\"}", "`type` is missing");
    wrong("\"workspace\": \"min(M, 2", "\"workspace\": \"min(M,, 2",
          "`workspace` is wrong at offset");
}

static void test_constants(void **state) {
    (void)state;
    // The image of the IR stands for one of constants.
    static const char role[] = "\"role\": \"ir\"", list[] = "\"functions\"",
                      use[] = "\"args\": [\n    {\"name\": \"alpha\"";
    (void)role;
    wrong(list, "\"constants\": [{\"name\": \"c\", \"image\": 9, \"offset\": 0, \"bytes\": 4}], \"functions\"",
          "`image` is 9");
    wrong(list, "\"constants\": [{\"name\": \"c\", \"image\": 0, \"offset\": 0, \"bytes\": 4}], \"functions\"",
          "constant `c` is not in a `const` image");
    wrong(list, "\"constants\": [{\"name\": \"9\"}], \"functions\"", "`name` is not a name");
    wrong(use, "\"constants\": [{\"name\": \"w\", \"type\": \"f32\", \"shape\": [1], \"constant\": \"c\"}], \"args\": [{\"name\": \"alpha\"",
          "function `saxpy`|there is no constant `c`");
}

static void test_decimal_strings(void **state) {
    (void)state;
    char *text = calloc(1, strlen(example) + 100);
    strcpy(text, example);
    char *at = strstr(text, "2147483647");
    replace_at(at, 10, "\"9007199254740993\"");
    loaded l;
    assert_int_equal(read_manifest(&l, text), KCRT_OK);
    assert_true(l.manifest.functions[0].symbols[0].facts.max == 9007199254740993);
    release(&l);
    free(text);
    wrong("2147483647", "\"1x\"", "must be an integer");
    wrong("2147483647", "\"9223372036854775808\"", "must be an integer");
    wrong("2147483647", "1.5", "a number with a fraction");
}

static void test_ptx_ends_with_nul(void **state) {
    (void)state;
    ((char *)(uintptr_t)images[0].bytes)[4710] = 'x';
    loaded l;
    assert_int_equal(read_manifest(&l, example), KCRT_BAD_PACKAGE);
    assert_non_null(strstr(kcrt_last_error(), "NUL"));
    release(&l);
    ((char *)(uintptr_t)images[0].bytes)[4710] = 0;
}

// Manifests with bytes changed, cut and doubled: a status each time, and if OK, a load that also
// ends in a status.
static void test_mutations(void **state) {
    (void)state;
    uint64_t seed = 7;
    size_t n = strlen(example);
    char *text = calloc(1, 2 * n);
    kcrt_device *device;
    int good = 0;
    assert_int_equal(kcrt_device_register("fake", kDLExtDev, &fake_api), KCRT_OK);
    assert_int_equal(kcrt_device_open("fake", &device), KCRT_OK);
    for (int round = 0; round < 3000; round++) {
        strcpy(text, example);
        for (int i = 0; i < 1 + round % 3; i++) {
            static const char alphabet[] = "0123456789\"\"[]{},:-abMNK *+/%().";
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[(seed >> 33) % n] = alphabet[(seed >> 20) % (sizeof alphabet - 1)];
        }
        loaded l;
        kcrt_module *module;
        good += read_manifest(&l, text) == KCRT_OK;
        assert_true(kcrt_module_load_memory(device, l.bytes.data, l.bytes.size, NULL, &module) !=
                    KCRT_OK);
        assert_true(strlen(kcrt_last_error()) > 10);
        release(&l);
    }
    kcrt_device_close(device);
    free(text);
    assert_true(good > 100); // changes inside names and comments are harmless: the test would
                             // notice a reader that refuses all
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),         cmocka_unit_test(test_top_level),
        cmocka_unit_test(test_signatures),      cmocka_unit_test(test_targets),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_decimal_strings), cmocka_unit_test(test_ptx_ends_with_nul),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
