// The frontend's interface: what a caller gets besides text, and its limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compiler/frontend/binding.h"
#include "compiler/frontend/frontend.h"

typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_module *module;
} loaded;

static loaded load(const char *text, size_t size) {
    loaded l = {.arena = kc_arena_create()};
    l.diag = kc_diag_create(l.arena, "test.yaml", text, size);
    l.module = kc_frontend_load(l.arena, "some/test.v2.yaml", text, size, l.diag);
    return l;
}

static loaded load_function(const char *arguments, const char *body) {
    char text[4096];
    snprintf(text, sizeof text, "kc: 1\nfunctions:\n  f:\n%s    body: |\n      %s\n", arguments,
             body);
    loaded l = load(text, strlen(text));
    if (!l.module) kc_diag_print(l.diag, stderr);
    assert_non_null(l.module);
    return l;
}

static kc_bound bound_of(const loaded *l, const char *name) {
    const kc_op *func = kc_func_find(l->module, "f");
    kc_bound bound[64];
    kc_func_bindings(func, bound);
    return bound[kc_expr_symbol_index(kc_op_pool(func), name, strlen(name))];
}

static void test_bindings(void **state) {
    (void)state;
    loaded l = load_function("    dims: {P: {}}\n"
                             "    inputs:\n"
                             "      a: f32[M, 2 * N + M]\n"
                             "      b: {type: \"f32[K * L, Q // 2]\", strides: [ld, 1]}\n"
                             "      c: {type: \"f32[M]\", strides: [2 * s]}\n"
                             "    outputs:\n"
                             "      y: f32[K]\n",
                             "y = broadcast(P * sum(a) + sum(b) + sum(c), [K])");
    assert_int_equal(bound_of(&l, "M"), KC_BOUND_SHAPE);
    assert_int_equal(bound_of(&l, "N"), KC_BOUND_SHAPE); // affine, with M known
    assert_int_equal(bound_of(&l, "K"), KC_BOUND_SHAPE); // bare in an output
    assert_int_equal(bound_of(&l, "ld"), KC_BOUND_STRIDE);
    assert_int_equal(bound_of(&l, "P"), KC_BOUND_PASSED);
    assert_int_equal(bound_of(&l, "Q"), KC_BOUND_PASSED); // not affine
    assert_int_equal(bound_of(&l, "L"), KC_BOUND_PASSED); // its factor is no constant
    assert_int_equal(bound_of(&l, "s"), KC_BOUND_PASSED); // not bare
    kc_arena_destroy(l.arena);
}

static void test_facts(void **state) {
    (void)state;
    loaded l = load_function("    dims: {M: {min: 2, max: 10}}\n"
                             "    inputs: {a: \"f32[M, N / 6, K]\"}\n"
                             "    outputs: {y: \"f32[M, N / 6, K / 4, 4]\"}\n",
                             "y = reshape(a, [M, N / 6, K / 4, 4])");
    kc_expr_pool *pool = kc_op_pool(kc_func_find(l.module, "f"));
    kc_expr_facts m = kc_expr_get_facts(pool, kc_expr_symbol_index(pool, "M", 1));
    assert_int_equal(m.min, 2);
    assert_int_equal(m.max, 10);
    assert_int_equal(kc_expr_get_facts(pool, kc_expr_symbol_index(pool, "N", 1)).multiple_of, 6);
    assert_int_equal(kc_expr_get_facts(pool, kc_expr_symbol_index(pool, "K", 1)).multiple_of, 4);
    assert_string_equal(l.module->name, "test");
    kc_arena_destroy(l.arena);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Sizes past every limit end with an error, soon.
static void refuse(const char *head, const char *repeated, size_t times, const char *tail) {
    size_t n = strlen(repeated), length = strlen(head), size = length + n * times + strlen(tail);
    char *text = malloc(size + 1);
    memcpy(text, head, length);
    for (size_t i = 0; i < times; i++)
        memcpy(text + length + i * n, repeated, n);
    strcpy(text + length + n * times, tail);
    double start = seconds();
    loaded l = load(text, size);
    assert_null(l.module);
    assert_true(kc_diag_errors(l.diag) > 0);
    assert_true(kc_arena_bytes(l.arena) < 512u << 20);
    assert_true(seconds() - start <
                20); // far above what it takes, far below what a quadratic loop would
    kc_arena_destroy(l.arena);
    free(text);
}

#define HEAD                                                                                       \
    "kc: 1\nfunctions:\n  f:\n    inputs: {x: \"f32[M]\"}\n    outputs: {y: \"f32[M]\"}\n    "     \
    "body: |\n"

static void test_sizes(void **state) {
    (void)state;
    refuse("kc: 1\n# ", "x", 100u << 20, "\n");
    refuse("", "[", 1u << 20, "");
    refuse("", "{a: ", 1u << 20, "");
    refuse("a: [", "x,", 1u << 20, "]");
    refuse("a: [", "{},", 1u << 20, "]");
    refuse("kc: 1\nfunctions: [", "{a: b},", 40000, "]");
    refuse("", "- ", 1u << 20, "");
    refuse("? ", "? ", 1u << 19, "");
    refuse("kc: \"", "\\n", 1u << 20, "\"");
    refuse(HEAD "      y = ", "(", 200000, "");
    refuse(HEAD "      y = ", "x + ", 60000, "x\n");
    refuse(HEAD "      y = ", "[", 200000, "");
    refuse(HEAD, "      y = x\n", 20000, "");
    refuse(HEAD, "      ) = (\n", 20000, "");
    refuse(HEAD, "      a = b\n", 30000, "");
    refuse(HEAD "      y = x\n    dims: {", "a, ", 100000, "}\n");
    refuse("kc: 1\nfunctions:\n  f:\n    inputs: {x: \"f32[", "M + ", 100000, "1]\"}\n");
    refuse("kc: 1\nfunctions:\n  f:\n    inputs: {x: \"f32[", "-", 100000, "1]\"}\n");
}

static void test_many_undefined(void **state) {
    (void)state;
    char *text = malloc(256 << 10), *at = text;
    at += sprintf(at, "%s", HEAD);
    for (int i = 0; i < 12000; i++)
        at += sprintf(at, "      a%d=b%d\n", i, i);
    refuse(text, "", 0, "");
    free(text);
}

static void test_many_functions(void **state) {
    (void)state;
    char *text = malloc(2 << 20), *at = text;
    at += sprintf(at, "kc: 1\nfunctions:\n");
    for (int i = 0; i < 60000; i++)
        at += sprintf(at, "  f%d: {}\n", i);
    refuse(text, "", 0, "");
    free(text);
}

// Values that double in size at each step are refused before they grow.
static void test_growth(void **state) {
    (void)state;
    char text[8192] = HEAD "      s0 = sqrt(M)\n      d0 = M + 1\n      x0 = x\n";
    for (int i = 0; i < 40; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n,
                 "      s%d = s%d * s%d\n      d%d = d%d * d%d + M // 2\n      x%d = slice(x%d, [M "
                 "// 2 - 5], [M - 3])\n",
                 i + 1, i, i, i + 1, i, i, i + 1, i);
    }
    strcat(text, "      y = x * s40\n");
    loaded l = load(text, strlen(text));
    assert_null(l.module);
    kc_arena_destroy(l.arena);
}

static void test_large_model(void **state) {
    (void)state;
    enum { STATEMENTS = 5000 };
    char *text = malloc(64 * STATEMENTS + 512), *at = text;
    at += sprintf(at, "%s      a0 = x\n", HEAD);
    for (int i = 0; i < STATEMENTS; i++)
        at += sprintf(at, "      a%d = a%d * 2 + x\n", i + 1, i);
    sprintf(at, "      y = a%d\n", STATEMENTS);
    loaded l = load(text, strlen(text));
    assert_non_null(l.module);
    kc_arena_destroy(l.arena);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bindings),       cmocka_unit_test(test_facts),
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_growth),
        cmocka_unit_test(test_large_model),    cmocka_unit_test(test_many_undefined),
        cmocka_unit_test(test_many_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
