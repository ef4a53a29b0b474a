// The type rules that rows of body_ops.def share, for every element type: an op gives the type that
// its row says, or refuses the operand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/frontend/body_ops.h"
#include "compiler/frontend/frontend.h"

#define KEEP "keep"
#define REAL "real"
#define INDEX "index"
#define ROUNDS "rounds"
#define ARITHMETIC "arithmetic"
#define COMPARES "compares"
#define LOGIC "logic"
#define MOVES "moves"

typedef struct {
    kc_opcode code;
    const char *name, *signature; // an operator has no name
    const char *rule;
} row;

static const row rows[] = {
#define OP(CODE, NAME, EMITTER, VALUES, SIGNATURE, REFUSES, TYPES, EXTENTS, MEANING, BOUND)        \
    {KC_OP_##CODE, NAME, SIGNATURE, TYPES},
#define OPERATOR(ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND) {KC_OP_##ID, NULL, TEXT, TYPES},
#define PREFIX(TOKEN, ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND)                           \
    {KC_OP_##ID, NULL, TEXT, TYPES},
#include "compiler/frontend/body_ops.def"
};

static kc_dtype real(kc_dtype t) {
    return t == KC_f64 ? KC_f64 : KC_f32;
}

static bool is(const row *r, const char *rule) {
    return !strcmp(r->rule, rule);
}

// What the rule gives for operands of type t: KC_DTYPE_NONE for refused, t itself for no known
// rule.
static kc_dtype expected(const row *r, kc_dtype t, bool *known) {
    *known = true;
    bool is_bool = t == KC_bool, is_float = kc_dtype_is_float(t);
    if (is(r, "keep"))
        return is_bool || (r->code == KC_OP_NEG && t == KC_f8e8m0) ? KC_DTYPE_NONE : t;
    if (is(r, "real")) return is_bool ? KC_DTYPE_NONE : real(t);
    if (is(r, "index")) return KC_i64;
    if (is(r, "rounds") || is(r, "arithmetic"))
        return is_bool ? KC_DTYPE_NONE : is_float ? real(t) : t;
    if (is(r, "compares")) return KC_bool;
    if (is(r, "logic")) return is_bool ? KC_bool : KC_DTYPE_NONE;
    *known = is(r, "moves");
    return t;
}

static const struct {
    const char *signature, *arguments; // how an op is called with a tensor x of one dimension
} calls[] = {
    {"x", "x"},
    {"x, y", "x, x"},
    {"x, *, axis=, keepdims=false", "x, axis=0, keepdims=true"},
    {"x, axis=-1", "x"},
    {"x, perm", "x, [0]"},
    {"x, shape", "x, [N]"},
    {"x, starts, ends, axes=, steps=", "x, [0], [N]"},
    {"x, amounts, value=0", "x, [[0, 0]]"},
};

static void write_call(const row *r, char *out, size_t size) {
    *out = 0;
    for (size_t i = 0; r->name && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].signature, r->signature))
            snprintf(out, size, "%s(%s)", r->name, calls[i].arguments);
    if (r->name) return;
    snprintf(out, size, "%s", r->signature); // "a + b" or "-x": all operands are x
    size_t last = strlen(out) - 1;
    if (out[0] == 'a') out[0] = 'x';
    if (out[last] == 'b') out[last] = 'x';
}

static bool is_reduction(const row *r) {
    return r->name && strstr(r->signature, "keepdims");
}

// Whether `y = call` is accepted with y declared of type `result`, and needs no conversion there.
static bool gives(const row *r, const char *call, kc_dtype operand, kc_dtype result) {
    char text[512];
    snprintf(
        text, sizeof text,
        "kc: 1\nfunctions:\n  f:\n    dims: {N: {multiple_of: 2}}\n    inputs: {x: \"%s[N]\"}\n"
        "    outputs: {y: \"%s[%s]\"}\n    body: |\n      y = %s\n",
        kc_dtype_name(operand), kc_dtype_name(result), is_reduction(r) ? "1" : "N", call);
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, "t.yaml", text, strlen(text));
    kc_module *module = kc_frontend_load(arena, "t.yaml", text, strlen(text), diag);
    char *ir = module ? kc_module_to_text(module, NULL) : NULL;
    // floor of integers is the operand itself
    bool plain = ir && (strstr(ir, "return %y ") || strstr(ir, "return %x "));
    free(ir);
    kc_arena_destroy(arena);
    return plain;
}

static bool packed_result(const row *r, kc_dtype t) {
    return kc_dtype_is_packed(t) && is_reduction(r); // one element is no whole byte
}

static int check(const row *r, const char *call, kc_dtype t) {
    bool known;
    kc_dtype want = expected(r, t, &known);
    if (!known || packed_result(r, t)) return 0;
    int wrong = 0;
    for (kc_dtype result = 0; result < KC_DTYPE_COUNT; result++) {
        if (gives(r, call, t, result) == (result == want)) continue;
        print_error("%s with x of %s: rule '%s' and result %s\n", call, kc_dtype_name(t), r->rule,
                    kc_dtype_name(result));
        wrong++;
    }
    return wrong;
}

static void test_rules(void **state) {
    (void)state;
    int wrong = 0, tried = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char call[128];
        bool known;
        expected(&rows[i], KC_f32, &known);
        write_call(&rows[i], call, sizeof call);
        if (!known || !*call) continue;
        tried++;
        for (kc_dtype t = 0; t < KC_DTYPE_COUNT; t++)
            wrong += check(&rows[i], call, t);
    }
    assert_int_equal(wrong, 0);
    assert_true(tried >= 45);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
