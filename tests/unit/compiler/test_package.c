// What the writers write, the runtime's readers read: containers, manifests, JSON.
#include "fixture.h"

static const char saxpy[] =
    "kc: 1\nmodule: vectors\nfunctions:\n  saxpy:\n    doc: 'z = \"alpha\" x + y'\n"
    "    inputs: {alpha: f32, x: \"f32[N]\", y: \"f32[N]\"}\n"
    "    outputs: {z: \"f32[N]\"}\n    body: |\n      z = alpha * x + y\n";
static const char in_place[] =
    "kc: 1\nmodule: m\nfunctions:\n  f:\n    inputs: {s: f32, x: \"f32[N]\"}\n"
    "    outputs: {y: {type: \"f32[N]\", alias: x}}\n    body: |\n      y = sqrt(x)\n";
static const char strided[] =
    "kc: 1\nmodule: m\nfunctions:\n  f:\n    dims: {M: {min: 1, max: 64}, K: {multiple_of: 8}, U: "
    "{}}\n"
    "    inputs: {x: {type: \"f16[M, K]\", strides: [ldx, 1]}}\n    outputs: {y: \"f32[M, K + "
    "1]\", t: \"f32[]\"}\n"
    "    body: |\n      y = pad(cast(x, \"f32\") * U, [[0, 0], [0, 1]])\n      t = sum(x)\n";
static const char mlp[] =
    "kc: 1\nmodule: m\nfunctions:\n  f:\n    inputs: {x: \"f32[M, K]\", w: \"f32[K, N]\", v: "
    "\"f32[N, P]\"}\n"
    "    outputs: {y: \"f32[M, P]\"}\n    body: |\n      y = matmul(relu(matmul(x, w)), v)\n";

// ---- containers ---------------------------------------------------------------------------------

static void containers_of_every_size(void **state) {
    (void)state;
    for (size_t size = 0; size < 70; size++) {
        char image[70], *data = NULL;
        size_t total;
        memset(image, 'a' + (int)(size % 26), sizeof image);
        FILE *out = open_memstream(&data, &total);
        kc_offload_write(out, &(kc_offload_image){"cuda", "sm_90a", "cubin", image, size});
        kc_offload_write(out, &(kc_offload_image){"hip", "gfx90a:xnack+", "hsaco", image, size});
        fclose(out);
        assert_int_equal(total % 8, 0);
        kcrt_arena arena = {0};
        kcrt_package package;
        assert_int_equal(kcrt_package_read(&arena, "test", data, total, &package), KCRT_OK);
        assert_int_equal(package.count, 2);
        const kcrt_entry *e = package.entries;
        assert_string_equal(e[0].triple, "cuda");
        assert_string_equal(e[0].arch, "sm_90a");
        assert_string_equal(e[0].role, "cubin");
        assert_int_equal(e[0].image_kind, 3);
        assert_int_equal(e[0].offload_kind, 2);
        assert_int_equal(e[1].image_kind, 1);
        assert_int_equal(e[1].offload_kind, 4);
        assert_string_equal(e[1].arch, "gfx90a:xnack+");
        for (int i = 0; i < 2; i++) {
            assert_int_equal(e[i].size, size);
            assert_memory_equal(e[i].image, image, size);
        }
        kcrt_arena_release(&arena);
        free(data);
    }
}

// ---- manifests ----------------------------------------------------------------------------------

static void manifest_reads_back(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    size_t size;
    const char *error = NULL,
               *data = package_of(arena, saxpy, ".version 7.0\n.target sm_80\n", &size);
    kc_package_file *file = kc_package_open_memory(arena, "test", data, size, &error);
    if (!file) fail_msg("%s", error);
    const kcrt_manifest *m = &file->manifest;
    const kcrt_signature *f = &m->functions[0];
    assert_string_equal(m->module, "vectors");
    assert_string_equal(f->doc, "z = \"alpha\" x + y");
    assert_int_equal(f->arg_count, 4);
    assert_true(f->args[0].is_scalar);
    assert_true(f->args[3].is_output);
    assert_int_equal(f->args[3].alias, -1);
    assert_int_equal(f->dim_count, 1);
    assert_int_equal(f->symbols[0].facts.max, 2147483647);
    assert_int_equal(f->ir, 1);
    assert_int_equal(f->target_count, 1);
    const kcrt_target *t = &f->targets[0];
    assert_int_equal(t->variant_count, 2);
    assert_true(t->variants[0].has_when);
    assert_false(t->variants[1].has_when);
    assert_int_equal(t->variants[0].step_count, 1);
    const kcrt_step *step = &t->variants[0].steps[0];
    assert_int_equal(step->kind, KCRT_STEP_KERNEL);
    assert_int_equal(step->block[0] % 32, 0);
    assert_int_equal(step->param_count, 5);
    assert_int_equal(step->params[0].kind, KCRT_PARAM_SCALAR);
    assert_int_equal(step->params[1].kind, KCRT_PARAM_PLACE);
    assert_int_equal(step->params[4].kind, KCRT_PARAM_EXPR);
    assert_int_equal(step->params[4].size, 8);
    kc_arena_destroy(arena);
}

static void alias_is_an_input(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    size_t size;
    const char *error = NULL, *data = package_of(arena, in_place, ".target sm_80\n", &size);
    kc_package_file *file = kc_package_open_memory(arena, "test", data, size, &error);
    if (!file) fail_msg("%s", error);
    assert_int_equal(file->manifest.functions[0].args[2].alias, 1);
    assert_int_equal(file->manifest.functions[0].targets[0].variants[0].step_count, 1);
    kc_arena_destroy(arena);
}

static void strides_and_passed_dims(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    size_t size;
    const char *error = NULL, *data = package_of(arena, strided, ".target sm_80\n", &size);
    kc_package_file *file = kc_package_open_memory(arena, "test", data, size, &error);
    if (!file) fail_msg("%s", error);
    const kcrt_signature *f = &file->manifest.functions[0];
    assert_int_equal(f->dim_count, 3);
    assert_int_equal(f->stride_count, 1);
    assert_string_equal(f->symbols[3].name, "ldx");
    assert_int_equal(f->passed_count, 1);
    for (int s = 0; s < 3; s++)
        assert_int_equal(f->symbols[s].is_passed, !strcmp(f->symbols[s].name, "U"));
    assert_int_equal(f->symbols[0].facts.max, 64);
    assert_int_equal(f->symbols[1].facts.multiple_of, 8);
    assert_int_equal(f->args[1].shape[1].form, KCRT_TERM_EXPR);
    assert_false(f->args[2].is_scalar); // an output of rank 0 is memory
    kc_arena_destroy(arena);
}

static void workspace_between_kernels(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    size_t size;
    const char *error = NULL, *data = package_of(arena, mlp, ".target sm_80\n", &size);
    kc_package_file *file = kc_package_open_memory(arena, "test", data, size, &error);
    if (!file) fail_msg("%s", error);
    const kcrt_signature *f = &file->manifest.functions[0];
    for (int v = 0; v < f->targets[0].variant_count; v++) {
        const kcrt_variant *variant = &f->targets[0].variants[v];
        int writes = 0;
        assert_true(variant->step_count >= 2);
        assert_int_equal(variant->workspace.form, KCRT_TERM_EXPR);
        for (int s = 0; s < variant->step_count; s++)
            for (int p = 0; p < variant->steps[s].param_count; p++)
                writes += variant->steps[s].params[p].kind == KCRT_PARAM_PLACE &&
                          variant->steps[s].params[p].place.arg < 0;
        assert_true(writes >= 2); // written by one kernel, read by another
    }
    kc_arena_destroy(arena);
}

static void resources_are_kept(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_kernel_resources kernels[] = {{"saxpy_v0_k0", 21, -1, 3, 0, 0}};
    kc_images images = {.kernels = kernels, .n_kernels = 1};
    const char *text = variants_of(arena, saxpy, "cuda:sm_80", &images);
    assert_non_null(strstr(text, "\"resources\": {\"saxpy_v0_k0\": {\"registers\": 21, \"spills\": "
                                 "3, \"stack\": 0, \"shared\": 0}}"));
    assert_null(strstr(text, "scalar_registers"));
    kc_arena_destroy(arena);
}

static void the_same_bytes_twice(void **state) {
    (void)state;
    kc_arena *a = kc_arena_create(), *b = kc_arena_create();
    size_t n, m;
    const char *x = package_of(a, mlp, ".target sm_80\n", &n),
               *y = package_of(b, mlp, ".target sm_80\n", &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    kc_arena_destroy(a);
    kc_arena_destroy(b);
}

// ---- JSON ---------------------------------------------------------------------------------------

static char *json_of(void (*write)(kc_json *), int broken) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    kc_json j = kc_json_to(out, broken);
    write(&j);
    fclose(out);
    return text;
}

static void write_strings(kc_json *j) {
    kc_json_open(j, '[');
    kc_json_string(j, "a\"b\\c\n\t\x01\x7f");
    kc_json_string(j, "caf\xC3\xA9 \xF0\x9F\x98\x80");
    kc_json_string(j, "\xC0\xAF|\xED\xA0\x80|\xF5\x80\x80\x80|\xC3");
    kc_json_close(j, ']');
}

static void strings_survive(void **state) {
    (void)state;
    char *text = json_of(write_strings, 0);
    kcrt_arena arena = {0};
    const char *error = NULL;
    size_t at;
    kcrt_json *list = kcrt_json_parse(&arena, text, strlen(text), &error, &at);
    if (!list) fail_msg("%s at %zu of %s", error, at, text);
    assert_string_equal(kc_json_item(list, 0)->text, "a\"b\\c\n\t\x01\x7f");
    assert_string_equal(kc_json_item(list, 1)->text, "caf\xC3\xA9 \xF0\x9F\x98\x80");
    assert_null(strstr(kc_json_item(list, 2)->text, "\xC0"));
    assert_non_null(strstr(kc_json_item(list, 2)->text, "\xEF\xBF\xBD|")); // U+FFFD
    kcrt_arena_release(&arena);
    free(text);
}

static void write_numbers(kc_json *j) {
    const int64_t exact = INT64_C(1) << 53;
    kc_json_open(j, '{');
    kc_json_put_int(j, "a", exact);
    kc_json_put_int(j, "b", exact + 1);
    kc_json_put_int(j, "c", -exact - 1);
    kc_json_put_int(j, "d", INT64_MIN);
    kc_json_close(j, '}');
}

static void large_integers_are_strings(void **state) {
    (void)state;
    char *text = json_of(write_numbers, 0);
    assert_string_equal(
        text,
        "{\"a\": 9007199254740992, \"b\": \"9007199254740993\", \"c\": \"-9007199254740993\", "
        "\"d\": \"-9223372036854775808\"}");
    free(text);
}

static void write_nested(kc_json *j) {
    kc_json_open(j, '{');
    kc_json_key(j, "empty");
    kc_json_open(j, '[');
    kc_json_close(j, ']');
    kc_json_key(j, "list");
    kc_json_open(j, '[');
    kc_json_int(j, 1);
    kc_json_open(j, '{');
    kc_json_put_bool(j, "x", true);
    kc_json_close(j, '}');
    kc_json_raw(j, "null");
    kc_json_close(j, ']');
    kc_json_close(j, '}');
}

static void lines_break_where_asked(void **state) {
    (void)state;
    char *flat = json_of(write_nested, 0), *broken = json_of(write_nested, 2);
    assert_string_equal(flat, "{\"empty\": [], \"list\": [1, {\"x\": true}, null]}");
    assert_string_equal(broken,
                        "{\n \"empty\": [],\n \"list\": [\n  1,\n  {\"x\": true},\n  null\n ]\n}");
    free(flat);
    free(broken);
}

static void reading_and_writing_again(void **state) {
    (void)state;
    const char text[] =
        "{\"a\": [1, -2, \"x\", null, true, 1.5e3], \"b\": {\"c\": \"9223372036854775807\"}}";
    kcrt_arena arena = {0};
    const char *error;
    size_t at, size;
    kcrt_json *value = kcrt_json_parse(&arena, text, strlen(text), &error, &at);
    assert_non_null(value);
    char *copy = NULL;
    FILE *out = open_memstream(&copy, &size);
    kc_json j = kc_json_to(out, 0);
    kc_json_copy(&j, value);
    fclose(out);
    assert_string_equal(copy, text);
    kcrt_arena_release(&arena);
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_of_every_size),   cmocka_unit_test(manifest_reads_back),
        cmocka_unit_test(alias_is_an_input),          cmocka_unit_test(strides_and_passed_dims),
        cmocka_unit_test(workspace_between_kernels),  cmocka_unit_test(resources_are_kept),
        cmocka_unit_test(the_same_bytes_twice),       cmocka_unit_test(strings_survive),
        cmocka_unit_test(large_integers_are_strings), cmocka_unit_test(lines_break_where_asked),
        cmocka_unit_test(reading_and_writing_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
