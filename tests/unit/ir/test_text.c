// The text form: canonical text survives parse and print byte for byte; everything else is a
// located error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <locale.h>

#include <cmocka.h>

#include "ir/ir.h"

static kc_module *parse(kc_arena *arena, const char *text, size_t size, kc_diag **diag) {
    *diag = kc_diag_create(arena, "test", text, size);
    return kc_module_parse(arena, text, size, *diag);
}

static char *print_parsed(const char *text) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag;
    kc_module *module = parse(arena, text, strlen(text), &diag);
    if (!module) {
        kc_diag_print(diag, stderr);
        fail_msg("text that should parse does not");
    }
    char *printed = kc_module_to_text(module, NULL);
    kc_arena *other = kc_arena_create();
    char *cloned = kc_module_to_text(kc_module_clone(other, module), NULL);
    assert_string_equal(printed, cloned);
    free(cloned);
    kc_arena_destroy(other);
    kc_arena_destroy(arena);
    return printed;
}

static void assert_canonical(const char *text) {
    char *printed = print_parsed(text);
    assert_string_equal(printed, text);
    free(printed);
}

static void assert_becomes(const char *text, const char *expected) {
    char *printed = print_parsed(text);
    assert_string_equal(printed, expected);
    free(printed);
    assert_canonical(expected);
}

// ---- round trips

static const char tensor_text[] =
    "module @m {target = \"cuda:sm_80,x=1\"}\n"
    "func @constants(%x: f16[M], %w: i4[8] constant \"00ff\", %b: f32[2, 3] constant \"\") -> (x: f16[M] "
    "alias x) dims {M} {\n"
    "  return %x\n"
    "}\n"
    "func @f(%x: f16[M, K], %w: f16[K, N]@[ldw, 1], %s: f32[]) -> (y: f16[M, N] alias x @3:4, z: "
    "bool[]) {fast = 1} "
    "dims {M: 1..65536, K: 0..2147483647 multiple 8, N, ldw: -5..7, align.x} doc \"two\\nlines "
    "\\\"q\\\" \\\\ \\x01\" @1:2 {\n"
    "  schedule {target = \"cuda\", unit = \"fma\", tile = [128, 64], warps = 8} @9:8\n"
    "  %0 = cast %x {dtype = f32} : f32[M, K] @12:5\n"
    "  %w_1 = cast %w {dtype = f32} : f32[K, N]\n"
    "  %h = matmul %0, %w_1 {transpose_a = 0, precision = \"high\"} : f32[M, N] "
    "@4294967295:4294967295\n"
    "  %1 = slice %h {starts = [M // 2, 3], steps = [1, -2]} : f32[M // 2, N]\n"
    "  %2 = const {integer = -9223372036854775808} : i64[]\n"
    "  %3 = concat %0, %0, %0 {axis = 0} : f32[M, K]\n"
    "  return %x, %2\n"
    "}\n"
    "func @\"odd name\"() -> () {\n"
    "}\n";

static const char reduce_text[] =
    "module @m\n"
    "func @f(%x: f32[M]) -> (y: f32[]) dims {M: 0..9} {\n"
    "  %0 = iota {axis = 0} : i64[M]\n"
    "  %y, %1 = reduce %x, %0 {axes = [0], init = [-inf, 0]} : f32[], i64[] {\n"
    "  ^(%a: f32[], %2: i64[], %b: f32[], %3: i64[]):\n"
    "    yield %a, %3\n"
    "  }\n"
    "  %4 = fusion %x {name = \"g\"} : f32[M] {\n"
    "  ^(%x: f32[M]):\n"
    "    %0 = abs %x : f32[M]\n"
    "    yield %0\n"
    "  }\n"
    "  return %y\n"
    "}\n";

static const char kernel_text[] =
    "module @m\n"
    "layout #0 = #layout<tile: 4x4, reg: [0,1] [0,2], lane: [1,0] [2,0]>\n"
    "layout #1 = #layout<tile: 4x4, offset: [0,1] [0,2] [1,1] [2,2]>\n"
    "func @f(%x: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..100, N: 0..4096, align.x} {\n"
    "  variant {when = N % 4 == 0 and align.x >= 16, workspace = 0, aligned = [\"x\"]} dims {N: "
    "4..4096 multiple 4, extra: 1..2} @5:6 {\n"
    "    %y = output {name = \"y\"} : f32[M, N]\n"
    "    %t = buffer {offset = M} : f32[N]\n"
    "    kernel inputs(%x) outputs(%y) {name = \"k\", grid = (M + 3) // 4, warps = 4} @7:8 {\n"
    "    ^(%x: f32[M, N], %y: f32[M, N]):\n"
    "      %pid = program_id : i64\n"
    "      %n = sym {expr = N // 4} : i32\n"
    "      %l = iota {axis = 1} : tile<4x4xi32, #0>\n"
    "      %m = lt %l, %n : tile<4x4xbool, #0>\n"
    "      %v = load %x base(%pid, %pid) local(%l, %l) mask(%m) {value = -0, vector = 16} : "
    "tile<4x4xf32, #0>\n"
    "      %b = shared_alloc : shared<4x4xf32, #1>\n"
    "      shared_store %b, %v\n"
    "      barrier\n"
    "      %w = shared_load %b stage(%n) {offsets = [0, 0]} : tile<4x4xf32, #0>\n"
    "      %c = const {value = nan} : tile<f32, #0>\n"
    "      %r = for %pid, %pid carried(%w) {step = 2} : tile<4x4xf32, #0> {\n"
    "      ^(%i: i64, %a: tile<4x4xf32, #0>):\n"
    "        %0 = add %a, %w : tile<4x4xf32, #0>\n"
    "        yield %0\n"
    "      }\n"
    "      store %y, %r base(%pid, %pid) local(%l, %l)\n"
    "      return\n"
    "    }\n"
    "  }\n"
    "}\n";

static void canonical_text_survives(void **state) {
    (void)state;
    assert_canonical(tensor_text);
    assert_canonical(reduce_text);
    assert_canonical(kernel_text);
    assert_canonical("module @\"a b\"\n");
}

#define FUNC(dims, body)                                                                           \
    "module @m\nfunc @f(%x: f32[M]) -> () dims {M: 0..8" dims "} {\n" body "}\n"

static void loose_text_becomes_canonical(void **state) {
    (void)state;
    assert_becomes("// head\nmodule   @m // tail\n func @f ( %x:f32[ M ] )->( )dims{M:0..8} {  // "
                   "here\n\r\n\tschedule {warps=2,tile=[1 ,\n 2]} }",
                   FUNC("", "  schedule {tile = [1, 2], warps = 2}\n"));
    assert_becomes(FUNC("", "  %a = abs %x : f32[(M) // (1 + 1)]\n  // %a\n  %b = abs %a : f32[M "
                            "// 1]// c\n  return\n"),
                   FUNC("", "  %a = abs %x : f32[M // 2]\n  %b = abs %a : f32[M]\n  return\n"));
    assert_becomes(FUNC("", "  %7 = abs %x : f32[M]\n  %3 = abs %7 : f32[M]\n"),
                   FUNC("", "  %0 = abs %x : f32[M]\n  %1 = abs %0 : f32[M]\n"));
}

// `when` keeps its meaning although the variant's own facts would make it true.
static void facts_are_known_before_expressions(void **state) {
    (void)state;
    assert_becomes(
        "module @m\nfunc @f(%x: f32[K % 8, (K // 8) * 8]) -> () dims {K: 0..800 multiple 8, M: "
        "0..8} {\n"
        "  variant {when = M % 4 == 0, workspace = M % 4} dims {M: 0..8 multiple 4} {\n  }\n}\n",
        "module @m\nfunc @f(%x: f32[0, K]) -> () dims {K: 0..800 multiple 8, M: 0..8} {\n"
        "  variant {when = M % 4 == 0, workspace = 0} dims {M: 0..8 multiple 4} {\n  }\n}\n");
}

static void the_printer_makes_names_unique(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    kc_module *module = kc_module_create(arena, "m");
    kc_op *func = kc_func_create(module, "f", (kc_loc){0});
    const kc_type scalar = kc_type_tensor(KC_f32, 0, NULL);
    kc_value *x = kc_block_add_arg(module, func->body, scalar, "x");
    kc_builder b = kc_builder_at_end(module, func->body, (kc_loc){0});
    const char *names[] = {"x", "x_1", "x", "9 lives", NULL, "\xC3\xA4", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        kc_build_unary(&b, KC_OP_ABS, x)->name = names[i];
    char *text = kc_module_to_text(module, NULL);
    const char *expected = "module @m\n"
                           "func @f(%x: f32[]) -> () {\n"
                           "  %x_1 = abs %x : f32[]\n"
                           "  %x_1_1 = abs %x : f32[]\n"
                           "  %x_2 = abs %x : f32[]\n"
                           "  %_9_lives = abs %x : f32[]\n"
                           "  %0 = abs %x : f32[]\n"
                           "  %___ = abs %x : f32[]\n"
                           "  %1 = abs %x : f32[]\n"
                           "}\n";
    assert_string_equal(text, expected);
    free(text);
    kc_arena_destroy(arena);
    assert_canonical(expected);
}

static const char *second_name(const char *text, kc_arena *arena) {
    kc_diag *diag;
    kc_module *module = parse(arena, text, strlen(text), &diag);
    return module->body->first->body->first->next->results[0]->name;
}

static void the_parser_undoes_suffixes(void **state) {
    (void)state;
    kc_arena *arena = kc_arena_create();
    assert_string_equal(
        second_name(FUNC("", "  %a = abs %x : f32[M]\n  %a_1 = abs %x : f32[M]\n"), arena), "a");
    assert_string_equal(
        second_name(FUNC("", "  %a = abs %x : f32[M]\n  %a_2 = abs %x : f32[M]\n"), arena), "a_2");
    assert_string_equal(
        second_name(FUNC("", "  %a = abs %x : f32[M]\n  %b_1 = abs %x : f32[M]\n"), arena), "b_1");
    assert_string_equal(
        second_name(FUNC("", "  %a = abs %x : f32[M]\n  %x_1 = abs %x : f32[M]\n"), arena), "x");
    kc_arena_destroy(arena);
    assert_canonical("module @m\nfunc @f(%x: f32[], %x_1: f32[]) -> () {\n  %x_1_1 = abs %x_1 : "
                     "f32[]\n  %x_2 = abs %x : f32[]\n  return\n}\n");
}

// ---- numbers

static double through_text(double number) {
    kc_arena *arena = kc_arena_create();
    kc_module *module = kc_module_create(arena, "m");
    kc_op *func = kc_func_create(module, "f", (kc_loc){0});
    kc_builder b = kc_builder_at_end(module, func->body, (kc_loc){0});
    kc_build_const(&b, kc_type_scalar(KC_f64), number);
    size_t size;
    char *text = kc_module_to_text(module, &size);
    kc_diag *diag;
    kc_module *copy = parse(arena, text, size, &diag);
    assert_non_null(copy);
    double result = kc_attr_float(copy->body->first->body->first, KC_ATTR_VALUE, 0);
    free(text);
    kc_arena_destroy(arena);
    return result;
}

static double from_bits(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void floats_read_back_bit_for_bit(void **state) {
    (void)state;
    uint64_t bits = 0x9E3779B97F4A7C15u;
    const uint64_t special[] = {0,
                                1,
                                1ull << 63,
                                0x7FF0000000000000u,
                                0xFFF0000000000000u,
                                0x7FF8000000000000u,
                                0xFFF8000000000000u,
                                0x7FF8000000000001u,
                                0x000FFFFFFFFFFFFFu,
                                0x7FEFFFFFFFFFFFFFu,
                                0x3FB999999999999Au};
    for (size_t i = 0; i < sizeof special / sizeof *special + 300; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double number = from_bits(i < sizeof special / sizeof *special ? special[i] : bits),
               back = through_text(number);
        assert_memory_equal(&number, &back, sizeof number);
    }
}

static void the_locale_does_not_matter(void **state) {
    (void)state;
    // A decimal comma where such a locale is installed; else this shows that nothing else breaks.
    static const char *const candidates[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", NULL};
    char *before = strdup(setlocale(LC_ALL, NULL));
    for (int i = 0; candidates[i] && !setlocale(LC_ALL, candidates[i]); i++) {
    }
    assert_true(through_text(0.1) == 0.1);
    setlocale(LC_ALL, before);
    free(before);
}

// ---- errors

static char *errors_of(const char *text, size_t size, int *count) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag;
    assert_null(parse(arena, text, size, &diag));
    assert_true(kc_diag_errors(diag) > 0);
    *count = kc_diag_errors(diag);
    char *printed;
    size_t length;
    FILE *file = open_memstream(&printed, &length);
    kc_diag_print(diag, file);
    fclose(file);
    kc_arena_destroy(arena);
    return printed;
}

static const struct {
    const char *text, *error; // the one error that is expected
} wrong[] = {
    {"module @m\nfunc @f(%w: f32[2] constant \"0\", %x: f32[2]) -> () {\n  return\n}\n",
     "2:34: error: constants stand behind all other arguments"},
    {"module @m\nfunc @f(%w: f32[2] constant 7) -> () {\n  return\n}\n", "2:29: error: expected a string"},
    {"", "test:1:1: error: expected 'module @name', found the end of the text"},
    {"modul @m\n", "test:1:1: error: expected 'module @name', found 'modul'"},
    {"module m\n", "test:1:8: error: expected the module's name such as @m"},
    {"module @m {target = 5}\n", "test:1:21: error: expected a string"},
    {"module @m\nlayout #1 = #layout<tile: 1>\n",
     "test:2:8: error: layouts are numbered in order; expected #0"},
    {"module @m\nlayout #0 = nonsense\n", "in a layout: "},
    {"module @m\nfun @f() -> () {\n}\n",
     "test:2:1: error: expected 'func' or 'layout', found 'fun'"},
    {"module @m\nfunc @f() -> () {\n}\nfunc @f() -> () {\n}\n",
     "test:4:6: error: function @f is defined already"},
    {"module @m\nfunc @f(%x: f32[M] -> () {\n", "test:2:8: error: this ( is never closed"},
    {"module @m\nfunc @f() -> () {\n", "expected }, found the end of the text"},
    {"module @m\nfunc @f(%x: f33[]) -> () {\n}\n",
     "test:2:13: error: expected an element type such as f32, found 'f33'"},
    {"module @m\nfunc @f(%x: f32[M]) -> () {\n}\n", "test:2:17: error: 'M' is not declared"},
    {"module @m\nfunc @f(%x: f32[M +]) -> () dims {M} {\n}\n", "error: in an integer expression: "},
    {"module @m\nfunc @f(%x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) -> () {\n}\n", "a rank above 8"},
    {"module @m\nfunc @f(%x: f32[1, 2]@[1]) -> () {\n}\n", "1 strides for a tensor of rank 2"},
    {"module @m\nfunc @f() -> () dims {M: 5..4} {\n}\n",
     "test:2:23: error: facts of 'M' that nothing can meet"},
    {"module @m\nfunc @f() -> () dims {M: 0..99999999999999999999} {\n}\n",
     "expected an integer of at most 64 bits"},
    {"module @m\nfunc @f() -> () @0:1 {\n}\n", "a location is LINE:COLUMN, from 1"},
    {"module @m\nfunc @f() -> () doc \"\\q\" {\n}\n", "a string knows the escapes"},
    {"module @m\nfunc @f() -> () doc \"open {\n}\n", "expected a string"},
    {FUNC("", "  %a = frobnicate %x : f32[M]\n  %b = abs %a : f32[M]\n"),
     "test:3:8: error: there is no op 'frobnicate'"},
    {FUNC("", "  %a = abs %y : f32[M]\n"), "test:3:12: error: %y is not defined here"},
    {FUNC("", "  %x = abs %x : f32[M]\n"), "test:3:3: error: %x is defined already"},
    {FUNC("", "  %1x = abs %x : f32[M]\n"), "a value's name begins with a letter, or is a number"},
    {FUNC("", "  %a = abs %x, %x : f32[M]\n"),
     "test:3:3: error: abs has 2 operands before its named ones; its operands are: x"},
    {FUNC("", "  %a = abs %x\n"), "1 results and 0 result types"},
    {FUNC("", "  %a = abs %x : f32[M], f32[M]\n"), "1 results and 2 result types"},
    {FUNC("", "  %a = abs %x {dtype = f32} : f32[M]\n"),
     "test:3:16: error: abs has no attribute 'dtype'; it has: none"},
    {FUNC("", "  schedule {warps = 1, warps = 2}\n"), "attribute 'warps' is given twice"},
    {FUNC("", "  schedule {warps = 1.5}\n"), "expected an integer of at most 64 bits"},
    {FUNC("", "  %a = const {value = 0x10} : f32\n"), "expected a number, inf, -inf or nan"},
    {FUNC("", "  %a = abs %x : f32[M] %x\n"), "expected the end of the op, found 'x'"},
    {FUNC("", "  func @g() -> () {\n  }\n"), "a function stands at the outermost level"},
    {FUNC("", "  store %x, %x mask(%x) base(%x)\n"),
     "the operands of store are: buffer value base* local*  mask?, in this order"},
    {FUNC("", "  store %x, %x mask(%x, %x)\n"), "store has 2 operands for 'mask'"},
    {FUNC("", "  %a = iota {axis = 0} : tile<4x4xf32, #0>\n"), "there is no layout #0"},
    {FUNC("", "  %a = iota {axis = 0} : tile<99999x99999xf32>\n"),
     "expected extents such as 64x32xf16"},
    {FUNC("", "  schedule dims {M}\n"), "only a function and a variant have dims"},
    {FUNC("", "  %f = fusion %x : f32[M] {\n  ^(%a: f32[M]):\n    yield %x\n  }\n"),
     "test:5:11: error: %x is not defined here; this region sees its own arguments alone"},
    {FUNC("", "  variant {workspace = Q} {\n  }\n"), "'Q' is not declared"},
};

static void each_error_is_one_and_located(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int count;
        char *errors = errors_of(wrong[i].text, strlen(wrong[i].text), &count);
        if (count != 1 || !strstr(errors, wrong[i].error))
            fail_msg("for\n%s\nexpected one error: %s\nfound\n%s", wrong[i].text, wrong[i].error,
                     errors);
        free(errors);
    }
}

static void reading_goes_on_after_an_error(void **state) {
    (void)state;
    int count;
    static const char text[] = FUNC("", "  %a = nonesuch %x {when = (}\n  %b = for %x, %x : f32[M] "
                                        "{\n    ^^\n    %c = abs %x : f32[M]\n  }\n"
                                        "  variant {\n    %d = abs %q : f32[M]\n    %e = abs %d : "
                                        "f32[M]\n  }\n  %g = abs %b : f32[Q]\n");
    char *errors = errors_of(text, sizeof text - 1, &count);
    assert_int_equal(count, 4);
    assert_non_null(strstr(errors, "test:3:8: error: there is no op 'nonesuch'\n    %a = nonesuch "
                                   "%x {when = (}\n         ^\n"));
    assert_non_null(strstr(errors, "test:5:6: error: "));
    assert_non_null(strstr(errors, "test:9:14: error: %q is not defined here"));
    assert_non_null(strstr(errors, "test:12:21: error: 'Q' is not declared"));
    free(errors);
}

static void any_bytes_are_refused_in_peace(void **state) {
    (void)state;
    const char *texts[] = {tensor_text, reduce_text, kernel_text};
    uint64_t seed = 1;
    for (int i = 0; i < 3000; i++) {
        char text[4096];
        size_t size = strlen(texts[i % 3]);
        memcpy(text, texts[i % 3], size);
        for (int k = 0; k < 1 + i % 4; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[(seed >> 33) % size] = "{}()[]<>%@#:,=\"\\\n0\x80"[(seed >> 24) % 20];
        }
        kc_arena *arena = kc_arena_create();
        kc_diag *diag;
        kc_module *module = parse(arena, text, i % 7 ? size : (seed >> 40) % size, &diag);
        assert_true((module != NULL) == (kc_diag_errors(diag) == 0));
        if (module) kc_module_verify(module, KC_LEVEL_LAYOUT, diag);
        kc_arena_destroy(arena);
    }
}

static void depth_and_size_are_limited(void **state) {
    (void)state;
    size_t depth = 100000;
    char *text = malloc(64 + depth * 10),
         *at = text + sprintf(text, "module @m\nfunc @f() -> () {\n");
    for (size_t i = 0; i < depth; i++)
        at += sprintf(at, "variant {\n");
    int count;
    char *errors = errors_of(text, (size_t)(at - text), &count);
    assert_non_null(strstr(errors, "regions nested deeper than 64"));
    free(errors);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text_survives),
        cmocka_unit_test(loose_text_becomes_canonical),
        cmocka_unit_test(facts_are_known_before_expressions),
        cmocka_unit_test(the_printer_makes_names_unique),
        cmocka_unit_test(the_parser_undoes_suffixes),
        cmocka_unit_test(floats_read_back_bit_for_bit),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(each_error_is_one_and_located),
        cmocka_unit_test(reading_goes_on_after_an_error),
        cmocka_unit_test(any_bytes_are_refused_in_peace),
        cmocka_unit_test(depth_and_size_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
