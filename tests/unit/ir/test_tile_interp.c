// The tile interpreter: what kernels compute, and that each watch it keeps reports what it is for,
// by kernels that do it wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tile_interp.h"
#include "tests/unit/ir/expect_report.h"

enum { MOST = 64, MAX_ARRAYS = 4 };

typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_module *module;
    float in_data[MAX_ARRAYS][MOST] __attribute__((aligned(256))),
        out_data[MAX_ARRAYS][MOST] __attribute__((aligned(256)));
    int64_t in_shape[MAX_ARRAYS][2], out_shape[MAX_ARRAYS][2];
    kc_interp_array in[MAX_ARRAYS], out[MAX_ARRAYS];
    int n_in, n_out, variant, ran;
    kc_interp_symbol symbols[4];
    int n_symbols;
} runner;

static runner *begin(const char *text, int level) {
    runner *r = aligned_alloc(256, (sizeof *r + 255) / 256 * 256);
    memset(r, 0, sizeof *r);
    r->arena = kc_arena_create();
    r->variant = -1;
    char *all = kc_arena_printf(r->arena, "module @m\n%s", text);
    r->diag = kc_diag_create(r->arena, "test", all, strlen(all));
    r->module = kc_module_parse(r->arena, all, strlen(all), r->diag);
    if (r->module) kc_module_verify(r->module, level, r->diag);
    if (kc_diag_errors(r->diag)) kc_diag_print(r->diag, stderr);
    assert_int_equal(kc_diag_errors(r->diag), 0);
    return r;
}

static void shaped(kc_interp_array *a, int64_t *shape, void *data, kc_dtype type, int rank,
                   int64_t rows, int64_t columns) {
    shape[0] = rows, shape[1] = columns;
    *a = (kc_interp_array){type, rank, shape, NULL, data};
}

// An input of f32 with elements 1, 2, 3 ...; an output of 32-bit elements that were -1.
static void input(runner *r, int rank, int64_t rows, int64_t columns) {
    for (int i = 0; i < MOST; i++)
        r->in_data[r->n_in][i] = (float)(i + 1);
    shaped(&r->in[r->n_in], r->in_shape[r->n_in], r->in_data[r->n_in], KC_f32, rank, rows, columns);
    r->n_in++;
}

static void output(runner *r, kc_dtype type, int rank, int64_t rows, int64_t columns) {
    for (int i = 0; i < MOST; i++)
        r->out_data[r->n_out][i] = -1;
    shaped(&r->out[r->n_out], r->out_shape[r->n_out], r->out_data[r->n_out], type, rank, rows,
           columns);
    r->n_out++;
}

static bool try_run(runner *r) {
    kc_tile_call call = {.inputs = r->in,
                         .n_inputs = r->n_in,
                         .outputs = r->out,
                         .n_outputs = r->n_out,
                         .symbols = r->symbols,
                         .n_symbols = r->n_symbols,
                         .variant = r->variant};
    bool ok = kc_tile_run(r->module, "f", &call, r->diag);
    r->ran = call.ran;
    return ok;
}

static void end(runner *r) {
    kc_arena_destroy(r->arena);
    free(r);
}

static void run(runner *r) {
    bool ok = try_run(r);
    if (!ok) kc_diag_print(r->diag, stderr);
    assert_true(ok);
}

static void expect_floats(const runner *r, int n, const float *expected) {
    for (int i = 0; i < n; i++) {
        bool same =
            r->out_data[0][i] == expected[i] || (isnan(expected[i]) && isnan(r->out_data[0][i]));
        if (!same)
            fprintf(stderr, "element %d is %g, expected %g\n", i, (double)r->out_data[0][i],
                    (double)expected[i]);
        assert_true(same);
    }
}

static void expect_error(runner *r, const char *part) {
    assert_false(try_run(r));
    expect_report(r->diag, part);
    end(r);
}

// A function of x[N] to y[N] with one kernel of tiles of 4.
#define FUNCTION(body)                                                                             \
    "func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..1000} {\n  variant {workspace = 0} {\n    %y " \
    "= output {name = \"y\"} : f32[N]\n"                                                           \
    "    kernel inputs(%x) outputs(%y) {name = \"k\", grid = (N + 3) // 4, warps = 1} {\n    "     \
    "^(%x: f32[N], %y: f32[N]):\n"                                                                 \
    "      %p = program_id : i64\n      %c = const {integer = 4} : i64\n      %b = mul %p, %c : "  \
    "i64\n"                                                                                        \
    "      %i = iota {axis = 0} : tile<4xi32>\n      %at = iota {axis = 0} : tile<4xi64>\n      "  \
    "%j = add %at, %b : tile<4xi64>\n"                                                             \
    "      %n = sym {expr = N} : i64\n      %m = lt %j, %n : tile<4xbool>\n" body                  \
    "      return\n    }\n  }\n}\n"

// ---- global memory ------------------------------------------------------------------------------

static void test_masked_tail(void **state) {
    (void)state;
    runner *r = begin(FUNCTION("      %v = load %x base(%b) local(%i) mask(%m) {value = 100} : "
                               "tile<4xf32>\n      %w = add %v, %v : tile<4xf32>\n"
                               "      store %y, %w base(%b) local(%i) mask(%m)\n"),
                      KC_LEVEL_TILE);
    input(r, 1, 6, 0);
    output(r, KC_f32, 1, 6, 0);
    run(r);
    expect_floats(r, 8, (float[]){2, 4, 6, 8, 10, 12, -1, -1});
    end(r);
}

static void test_value_where_masked_off(void **state) {
    (void)state;
    runner *r = begin(
        FUNCTION("      %one = const {integer = 1} : i64\n      %odd = ge %j, %one : "
                 "tile<4xbool>\n      %q = and %odd, %m : tile<4xbool>\n"
                 "      %v = load %x base(%b) local(%i) mask(%q) {value = 100} : tile<4xf32>\n"
                 "      store %y, %v base(%b) local(%i) mask(%m)\n"),
        KC_LEVEL_TILE);
    input(r, 1, 3, 0);
    output(r, KC_f32, 1, 3, 0);
    run(r);
    expect_floats(r, 4, (float[]){100, 2, 3, -1});
    end(r);
}

static void test_outside(void **state) {
    (void)state;
    runner *r = begin(FUNCTION("      %v = load %x base(%b) local(%i) : tile<4xf32>\n      store "
                               "%y, %v base(%b) local(%i) mask(%m)\n"),
                      KC_LEVEL_TILE);
    input(r, 1, 6, 0);
    output(r, KC_f32, 1, 6, 0);
    expect_error(r, "kernel k, program 1: load: element [6] of [6] of %x lies outside");
    r = begin(FUNCTION("      %v = load %x base(%b) local(%i) mask(%m) : tile<4xf32>\n      store "
                       "%y, %v base(%b) local(%i)\n"),
              KC_LEVEL_TILE);
    input(r, 1, 6, 0);
    output(r, KC_f32, 1, 6, 0);
    expect_error(r, "store: element [6] of [6] of %y lies outside");
}

static void test_two_writers(void **state) {
    (void)state;
    runner *r = begin(FUNCTION("      %z = const {integer = 0} : i64\n      %v = load %x base(%b) "
                               "local(%i) mask(%m) : tile<4xf32>\n"
                               "      store %y, %v base(%z) local(%i)\n"),
                      KC_LEVEL_TILE);
    input(r, 1, 8, 0);
    output(r, KC_f32, 1, 8, 0);
    expect_error(r, "element 0 of %y was written by program 0 too");
}

static void test_no_programs(void **state) {
    (void)state;
    runner *r = begin(FUNCTION("      %v = load %x base(%b) local(%i) : tile<4xf32>\n      store "
                               "%y, %v base(%b) local(%i)\n"),
                      KC_LEVEL_TILE);
    input(r, 1, 0, 0);
    output(r, KC_f32, 1, 0, 0);
    run(r);
    end(r);
}

// ---- arithmetic ---------------------------------------------------------------------------------

// Every op rounds to its type: 1 + 2^-24 is 1 in f32, and 2049 is 2048 in f16.
static void test_rounds_as_the_machine(void **state) {
    (void)state;
    runner *r = begin(FUNCTION("      %e = const {value = 5.960464477539063e-8} : f32\n      %o = "
                               "const {value = 1} : tile<4xf32>\n"
                               "      %s = add %o, %e : tile<4xf32>\n      %d = sub %s, %o : "
                               "tile<4xf32>\n      %k = const {value = 2048} : tile<4xf32>\n"
                               "      %v = load %x base(%b) local(%i) mask(%m) : tile<4xf32>\n     "
                               " %t = add %k, %v : tile<4xf32>\n"
                               "      %h = cast %t {dtype = f16} : tile<4xf16>\n      %w = cast %h "
                               "{dtype = f32} : tile<4xf32>\n"
                               "      %u = add %w, %d : tile<4xf32>\n      store %y, %u base(%b) "
                               "local(%i) mask(%m)\n"),
                      KC_LEVEL_TILE);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    run(r);
    expect_floats(r, 4, (float[]){2048, 2050, 2052, 2052});
    end(r);
}

static const char two_axes[] =
    "func @f(%x: f32[M, N], %w: f32[N]) -> (y: f32[M, N]) dims {M: 0..1000, N: 0..1000} {\n  "
    "variant {workspace = 0} {\n"
    "    %y = output {name = \"y\"} : f32[M, N]\n    kernel inputs(%x, %w) outputs(%y) {name = "
    "\"k\", grid = 1, warps = 1} {\n"
    "    ^(%x: f32[M, N], %w: f32[N], %y: f32[M, N]):\n      %z = const {integer = 0} : i64\n      "
    "%r = iota {axis = 0} : tile<2x1xi32>\n"
    "      %c = iota {axis = 1} : tile<1x3xi64>\n      %v = load %x base(%z, %z) local(%r, %c) : "
    "tile<2x3xf32>\n"
    "      %u = load %w base(%z) local(%c) : tile<1x3xf32>\n      %s = mul %v, %u : tile<2x3xf32>\n"
    "      %m = reduce %s {axes = [1], init = [0]} : tile<2x1xf32> {\n      ^(%a: f32, %b: f32):\n "
    "       %t = add %a, %b : f32\n        yield %t\n      }\n"
    "      %d = sub %s, %m : tile<2x3xf32>\n      store %y, %d base(%z, %z) local(%r, %c)\n      "
    "return\n    }\n  }\n}\n";

static void test_broadcast_and_reduce(void **state) {
    (void)state;
    runner *r = begin(two_axes, KC_LEVEL_TILE);
    input(r, 2, 2, 3);
    input(r, 1, 3, 0);
    output(r, KC_f32, 2, 2, 3);
    run(r);
    expect_floats(r, 6, (float[]){1 - 14, 4 - 14, 9 - 14, 4 - 32, 10 - 32, 18 - 32});
    end(r);
}

// Pairs of value and index, smallest first, in a tile that keeps two parts of the axis: then the
// second reduction.
static const char partial[] =
    "layout #0 = #layout<tile: 8, lane: [1], warp: [2] [4]>\nlayout #1 = #layout<tile: 2, lane: "
    "[0], warp: [1] [0]>\n"
    "layout #2 = #layout<tile: 1, lane: [0], warp: [0] [0]>\n"
    "func @f(%x: f32[8]) -> (y: f32[1], k: i32[1]) {\n  variant {workspace = 0} {\n    %y = output "
    "{name = \"y\"} : f32[1]\n    %k = output {name = \"k\"} : i32[1]\n"
    "    kernel inputs(%x) outputs(%y, %k) {name = \"k\", grid = 1, warps = 4} {\n    ^(%x: "
    "f32[8], %y: f32[1], %k: i32[1]):\n"
    "      %z = const {integer = 0} : i64\n      %i = iota {axis = 0} : tile<8xi32, #0>\n      %v "
    "= load %x base(%z) local(%i) : tile<8xf32, #0>\n"
    "      %p, %q = reduce %v, %i {axes = [0], init = [inf, 0]} : tile<2xf32, #1>, tile<2xi32, #1> "
    "{\n      ^(%a: f32, %ai: i32, %b: f32, %bi: i32):\n"
    "        %l = lt %b, %a : bool\n        %s = select %l, %b, %a : f32\n        %t = select %l, "
    "%bi, %ai : i32\n        yield %s, %t\n      }\n"
    "      %g, %h = reduce %p, %q {axes = [0], init = [inf, 0]} : tile<1xf32, #2>, tile<1xi32, #2> "
    "{\n      ^(%a: f32, %ai: i32, %b: f32, %bi: i32):\n"
    "        %l = lt %b, %a : bool\n        %s = select %l, %b, %a : f32\n        %t = select %l, "
    "%bi, %ai : i32\n        yield %s, %t\n      }\n"
    "      %o = iota {axis = 0} : tile<1xi32, #2>\n      store %y, %g base(%z) local(%o)\n      "
    "store %k, %h base(%z) local(%o)\n      return\n    }\n  }\n}\n";

static void test_partial_reduce_of_pairs(void **state) {
    (void)state;
    runner *r = begin(partial, KC_LEVEL_LAYOUT);
    input(r, 1, 8, 0);
    output(r, KC_f32, 1, 1, 0);
    output(r, KC_i32, 1, 1, 0);
    r->in_data[0][5] = -3;
    run(r);
    int32_t index;
    memcpy(&index, r->out_data[1], sizeof index);
    assert_true(r->out_data[0][0] == -3 && index == 5);
    end(r);
}

// Affine maps one after the other, in two segments whose totals go through shared memory, and the
// order matters: 2x, x + 1, 3x, x - 1, ...
#define AFFINE                                                                                     \
    "{\n      ^(%a: f32, %b: f32, %c: f32, %d: f32):\n        %1 = mul %a, %c : f32\n        "    \
    "%2 = mul %b, %c : f32\n        %3 = add %2, %d : f32\n        yield %1, %3\n      }\n"

static const char segments[] =
    "layout #0 = #layout<tile: 8, lane: [1] [2], warp: [4]>\nlayout #1 = #layout<tile: 2, lane: "
    "[0] [0], warp: [1]>\nlayout #2 = #layout<tile: 2, reg: [1], lane: [0] [0], warp: [0]>\n"
    "layout #3 = #layout<tile: 1, lane: [0] [0], warp: [0]>\nlayout #4 = #layout<tile: 2, offset: "
    "[1]>\n"
    "func @f(%x: f32[8], %w: f32[8]) -> (y: f32[8], t: f32[1]) {\n  variant {workspace = 0} {\n"
    "    %y = output {name = \"y\"} : f32[8]\n    %t = output {name = \"t\"} : f32[1]\n"
    "    kernel inputs(%x, %w) outputs(%y, %t) {name = \"k\", grid = 1, warps = 2} {\n"
    "    ^(%x: f32[8], %w: f32[8], %y: f32[8], %t: f32[1]):\n"
    "      %m1 = shared_alloc : shared<2xf32, #4>\n      %m2 = shared_alloc : shared<2xf32, #4>\n"
    "      %z = const {integer = 0} : i64\n      %i = iota {axis = 0} : tile<8xi32, #0>\n"
    "      %u = load %x base(%z) local(%i) : tile<8xf32, #0>\n"
    "      %v = load %w base(%z) local(%i) : tile<8xf32, #0>\n"
    "      %p1, %p2, %t1, %t2 = scan %u, %v {axes = [0], init = [1, 0]} : tile<8xf32, #0>, "
    "tile<8xf32, #0>, tile<2xf32, #1>, tile<2xf32, #1> " AFFINE
    "      shared_store %m1, %t1\n      shared_store %m2, %t2\n      barrier\n"
    "      %l1 = shared_load %m1 : tile<2xf32, #2>\n      %l2 = shared_load %m2 : tile<2xf32, #2>\n"
    "      %r1, %r2, %s1, %s2 = scan_carry inputs(%p1, %p2) totals(%l1, %l2) {axes = [0], init = "
    "[1, 0]} : tile<8xf32, #0>, tile<8xf32, #0>, tile<1xf32, #3>, tile<1xf32, #3> " AFFINE
    "      %o = iota {axis = 0} : tile<1xi32, #3>\n      store %y, %r2 base(%z) local(%i)\n"
    "      store %t, %s2 base(%z) local(%o)\n      return\n    }\n  }\n}\n";

static void test_scan_of_segments(void **state) {
    (void)state;
    static const float factors[8] = {2, 1, 3, 1, -1, 2, 1, 5},
                         terms[8] = {0, 1, 0, -1, 4, 0, 7, 2};
    runner *r = begin(segments, KC_LEVEL_LAYOUT);
    float want = 0;
    input(r, 1, 8, 0);
    input(r, 1, 8, 0);
    memcpy(r->in_data[0], factors, sizeof factors);
    memcpy(r->in_data[1], terms, sizeof terms);
    output(r, KC_f32, 1, 8, 0);
    output(r, KC_f32, 1, 1, 0);
    run(r);
    for (int i = 0; i < 8; i++) {
        want = want * factors[i] + terms[i];
        assert_true(r->out_data[0][i] == want);
    }
    assert_true(r->out_data[1][0] == want);
    end(r);
}

static void test_dot_in_a_loop(void **state) {
    (void)state;
    runner *r =
        begin("func @f(%x: f32[2, K], %w: f32[K, 3]) -> (y: f32[2, 3]) dims {K: 0..1000} {\n  "
              "variant {workspace = 0} {\n"
              "    %y = output {name = \"y\"} : f32[2, 3]\n    kernel inputs(%x, %w) outputs(%y) "
              "{name = \"k\", grid = 1, warps = 1} {\n"
              "    ^(%x: f32[2, K], %w: f32[K, 3], %y: f32[2, 3]):\n      %z = const {integer = 0} "
              ": i64\n      %n = sym {expr = (K + 1) // 2} : i64\n"
              "      %k = sym {expr = K} : i64\n      %two = const {integer = 2} : i64\n      %r = "
              "iota {axis = 0} : tile<2x1x1xi32>\n"
              "      %c = iota {axis = 1} : tile<1x3x1xi32>\n      %d = iota {axis = 2} : "
              "tile<1x1x2xi64>\n      %init = const {value = 0} : tile<2x3x1xf32>\n"
              "      %sum = for %z, %n carried(%init) {step = 1} : tile<2x3x1xf32> {\n      ^(%s: "
              "i64, %acc: tile<2x3x1xf32>):\n"
              "        %b = mul %s, %two : i64\n        %e = add %d, %b : tile<1x1x2xi64>\n        "
              "%m = lt %e, %k : tile<1x1x2xbool>\n"
              "        %va = load %x base(%z, %b) local(%r, %d) mask(%m) : tile<2x1x2xf32>\n       "
              " %vb = load %w base(%b, %z) local(%d, %c) mask(%m) : tile<1x3x2xf32>\n"
              "        %next = dot %va, %vb, %acc {axis = 2} : tile<2x3x1xf32>\n        yield "
              "%next\n      }\n"
              "      store %y, %sum base(%z, %z) local(%r, %c)\n      return\n    }\n  }\n}\n",
              KC_LEVEL_TILE);
    input(r, 2, 2, 3);
    input(r, 2, 3, 3);
    output(r, KC_f32, 2, 2, 3);
    run(r);
    expect_floats(r, 6, (float[]){30, 36, 42, 66, 81, 96});
    r->in_shape[0][1] = r->in_shape[1][0] = 0; // no step at all: what was carried in
    run(r);
    expect_floats(r, 6, (float[]){0, 0, 0, 0, 0, 0});
    end(r);
}

static void test_if(void **state) {
    (void)state;
    runner *r = begin(
        FUNCTION(
            "      %one = const {integer = 1} : i64\n      %t = eq %p, %one : bool\n      if %t {\n"
            "        %v = load %x base(%b) local(%i) : tile<4xf32>\n        store %y, %v base(%b) "
            "local(%i)\n      }\n"),
        KC_LEVEL_TILE);
    input(r, 1, 8, 0);
    output(r, KC_f32, 1, 8, 0);
    run(r);
    expect_floats(r, 8, (float[]){-1, -1, -1, -1, 5, 6, 7, 8});
    end(r);
}

// ---- shared memory ------------------------------------------------------------------------------

#define SHARED(allocs, body)                                                                       \
    "layout #0 = #layout<tile: 4, lane: [1] [2]>\nlayout #1 = #layout<tile: 4, offset: [1] "       \
    "[2]>\nlayout #2 = #layout<tile: 2x4, offset: [0,1] [0,2] [1,0]>\n"                            \
    "layout #3 = #layout<tile: 2, lane: [1] [0]>\nlayout #4 = #layout<tile: 1, lane: [0] [0]>\n"   \
    "func @f(%x: f32[4]) -> (y: f32[4]) {\n  variant {workspace = 0} {\n    %y = output {name = "  \
    "\"y\"} : f32[4]\n"                                                                            \
    "    kernel inputs(%x) outputs(%y) {name = \"k\", grid = 1, warps = 1} {\n    ^(%x: f32[4], "  \
    "%y: f32[4]):\n" allocs "      %z = const {integer = 0} : i64\n      %o = const {integer = "   \
    "1} : i64\n      %i = iota {axis = 0} : tile<4xi32, #0>\n"                                     \
    "      %v = load %x base(%z) local(%i) : tile<4xf32, #0>\n      %d = add %v, %v : "            \
    "tile<4xf32, #0>\n" body                                                                       \
    "      store %y, %w base(%z) local(%i)\n      return\n    }\n  }\n}\n"
#define ONE "      %s = shared_alloc {offset = 0} : shared<4xf32, #1>\n"
#define TWO ONE "      %t = shared_alloc {offset = 8} : shared<4xf32, #1>\n"
#define STAGES "      %s = shared_alloc {offset = 0} : shared<2x4xf32, #2>\n"
#define STORE_D "      shared_store %s, %d\n"
#define STORE_V "      shared_store %s, %v\n"
#define LOAD "      %w = shared_load %s : tile<4xf32, #0>\n"
#define BARRIER "      barrier\n"

static runner *shared(const char *text) {
    runner *r = begin(text, KC_LEVEL_LAYOUT);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    return r;
}

static void test_shared_memory(void **state) {
    (void)state;
    runner *r = shared(SHARED(ONE, STORE_D BARRIER LOAD));
    run(r);
    expect_floats(r, 4, (float[]){2, 4, 6, 8});
    end(r);
    r = shared(SHARED("      %s = shared_alloc : shared<4xf32, #1>\n",
                      STORE_D LOAD)); // before `sync` order is enough
    run(r);
    expect_floats(r, 4, (float[]){2, 4, 6, 8});
    end(r);
}

static void test_stages_and_parts(void **state) {
    (void)state;
    runner *r = shared(SHARED(
        STAGES,
        "      shared_store %s, %v stage(%z)\n      shared_store %s, %d stage(%o)\n" BARRIER
        "      %a = shared_load %s stage(%o) {offsets = [2]} : tile<2xf32, #3>\n      %g = reduce "
        "%a {axes = [0], init = [0]} : tile<1xf32, #4> {\n"
        "      ^(%l: f32, %m: f32):\n        %t = add %l, %m : f32\n        yield %t\n      }\n"
        "      %c = shared_load %s stage(%z) : tile<4xf32, #0>\n      %w = add %c, %g : "
        "tile<4xf32, #0>\n"));
    run(r);
    expect_floats(r, 4, (float[]){1 + 14, 2 + 14, 3 + 14, 4 + 14});
    end(r);
    expect_error(shared(SHARED(
                     STAGES, "      %k = const {integer = 2} : i64\n      shared_store %s, %d "
                             "stage(%k)\n      %w = shared_load %s stage(%z) : tile<4xf32, #0>\n")),
                 "stage 2 of 2");
}

static void test_shared_mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {SHARED(ONE, LOAD), "element 0 is read and was never written"},
        {SHARED(ONE, STORE_D LOAD), "element 0 was written since the last barrier"},
        {SHARED(ONE, STORE_D BARRIER LOAD STORE_V), "element 0 was read since the last barrier"},
        {SHARED(ONE, STORE_D STORE_V BARRIER LOAD),
         "element 0 is written twice since the last barrier"},
        {SHARED(TWO, STORE_D BARRIER "      shared_store %t, %v\n" BARRIER LOAD),
         "element 2 was overwritten by another buffer at the same place"},
        {SHARED(STAGES, "      shared_store %s, %v stage(%z)\n" BARRIER
                        "      %w = shared_load %s stage(%o) : tile<4xf32, #0>\n"),
         "was never written"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_error(shared(rows[i].text), rows[i].error);
}

// Vectors of 2, in a layout of 2 registers a lane: whole and aligned, in the middle of a pair, cut
// by the mask, along the other axis.
static void test_vectors(void **state) {
    (void)state;
    static const char text[] =
        "layout #0 = #layout<tile: 4, reg: [1], lane: [2]>\nfunc @f(%%x: f32[N]) -> (y: f32[N]) "
        "dims {N: 0..1000} {\n  variant {workspace = 0} {\n"
        "    %%y = output {name = \"y\"} : f32[N]\n    kernel inputs(%%x) outputs(%%y) {name = "
        "\"k\", grid = 1, warps = 1} {\n"
        "    ^(%%x: f32[N], %%y: f32[N]):\n      %%b = const {integer = %d} : i64\n      %%s = "
        "const {integer = %d} : i32\n"
        "      %%n = const {integer = %d} : i32\n      %%o = iota {axis = 0} : tile<4xi32, #0>\n   "
        "   %%i = mul %%o, %%s : tile<4xi32, #0>\n"
        "      %%m = lt %%o, %%n : tile<4xbool, #0>\n      %%v = load %%x base(%%b) local(%%i) "
        "mask(%%m) {vector = 2} : tile<4xf32, #0>\n"
        "      store %%y, %%v base(%%b) local(%%i) mask(%%m) {vector = 2}\n      return\n    }\n  "
        "}\n}\n";
    static const struct {
        int base, step, count;
        const char *error;
    } rows[] = {
        {2, 1, 4, NULL},
        {0, 1, 2, NULL},
        {1, 1, 4, "load: a vector of 2 at element 1 is not aligned to its 8 bytes"},
        {0, 1, 3, "load: a vector of 2 is masked in part"},
        {0, 2, 4, "load: a vector of 2 takes elements at 0 and 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char all[2000];
        snprintf(all, sizeof all, text, rows[i].base, rows[i].step, rows[i].count);
        runner *r = begin(all, KC_LEVEL_LAYOUT);
        input(r, 1, 8, 0);
        output(r, KC_f32, 1, 8, 0);
        if (rows[i].error) {
            expect_error(r, rows[i].error);
            continue;
        }
        run(r);
        for (int k = 0; k < rows[i].count; k++)
            assert_true(r->out_data[0][rows[i].base + k] == (float)(rows[i].base + k + 1));
        end(r);
    }
}

// Two registers a lane that read one element: so they do, each reads its own, one is masked off.
static void test_same(void **state) {
    (void)state;
    static const char text[] =
        "layout #0 = #layout<tile: 4, reg: [1], lane: [2]>\nfunc @f(%%x: f32[N]) -> (y: f32[N]) "
        "dims {N: 0..1000} {\n  variant {workspace = 0} {\n"
        "    %%y = output {name = \"y\"} : f32[N]\n    kernel inputs(%%x) outputs(%%y) {name = "
        "\"k\", grid = 1, warps = 1} {\n"
        "    ^(%%x: f32[N], %%y: f32[N]):\n      %%b = const {integer = 0} : i64\n      %%s = "
        "const {integer = %d} : i32\n"
        "      %%n = const {integer = %d} : i32\n      %%o = iota {axis = 0} : tile<4xi32, #0>\n   "
        "   %%i = floordiv %%o, %%s : tile<4xi32, #0>\n"
        "      %%m = lt %%o, %%n : tile<4xbool, #0>\n      %%v = load %%x base(%%b) local(%%i) "
        "mask(%%m) {%s = 2} : tile<4xf32, #0>\n"
        "      store %%y, %%v base(%%b) local(%%o) mask(%%m)\n      return\n    }\n  }\n}\n";
    static const struct {
        int divisor, count;
        const char *attribute, *error;
    } rows[] = {
        {2, 4, "same", NULL},
        {1, 4, "same", "load: registers that are to be the same take elements at 0 and 1"},
        {2, 3, "same", "load: registers that are to be the same take elements at 1 and -1"},
        {2, 4, "vector = 2, same", "load: a vector of registers that are the same"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char all[2000];
        snprintf(all, sizeof all, text, rows[i].divisor, rows[i].count, rows[i].attribute);
        runner *r = begin(all, KC_LEVEL_LAYOUT);
        input(r, 1, 8, 0);
        output(r, KC_f32, 1, 8, 0);
        if (rows[i].error) {
            expect_error(r, rows[i].error);
            continue;
        }
        run(r);
        expect_floats(r, 4, (float[]){1, 1, 2, 2});
        end(r);
    }
}

// ---- plans --------------------------------------------------------------------------------------

#define COPY(name, from, to)                                                                       \
    "    kernel inputs(%" from ") outputs(%" to ") {name = \"" name                                \
    "\", grid = 1, warps = 1} {\n    ^(%i: f32[4], %o: f32[4]):\n"                                 \
    "      %z = const {integer = 0} : i64\n      %l = iota {axis = 0} : tile<4xi32>\n      %v = "  \
    "load %i base(%z) local(%l) : tile<4xf32>\n"                                                   \
    "      %w = add %v, %v : tile<4xf32>\n      store %o, %w base(%z) local(%l)\n      return\n  " \
    "  }\n"

static void test_workspace(void **state) {
    (void)state;
    static const char start[] = "func @f(%x: f32[4]) -> (y: f32[4]) {\n";
    char text[3000];
    snprintf(text, sizeof text,
             "%s  variant {workspace = 32} {\n    %%t = buffer {offset = 16} : f32[4]\n    %%y = "
             "output {name = \"y\"} : f32[4]\n%s%s  }\n}\n",
             start, COPY("a", "x", "t"), COPY("b", "t", "y"));
    runner *r = begin(text, KC_LEVEL_TILE);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    run(r);
    expect_floats(r, 4, (float[]){4, 8, 12, 16});
    end(r);
    snprintf(text, sizeof text,
             "%s  variant {workspace = 32} {\n    %%t = buffer {offset = 16} : f32[4]\n    %%y = "
             "output {name = \"y\"} : f32[4]\n%s  }\n}\n",
             start, COPY("b", "t", "y"));
    r = begin(text, KC_LEVEL_TILE);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    run(r); // nobody wrote it
    expect_floats(r, 4, (float[]){NAN, NAN, NAN, NAN});
    end(r);
    snprintf(text, sizeof text,
             "%s  variant {workspace = 24} {\n    %%t = buffer {offset = 16} : f32[4]\n    %%y = "
             "output {name = \"y\"} : f32[4]\n%s%s  }\n}\n",
             start, COPY("a", "x", "t"), COPY("b", "t", "y"));
    r = begin(text, KC_LEVEL_TILE);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    expect_error(r, "16 bytes at 16 lie outside the workspace of 24");
}

static const char variants[] =
    "func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..1000, align.x} {\n"
    "  variant {when = N % 4 == 0 and align.x >= 16, workspace = 0} dims {N: 0..1000 multiple 4} "
    "{\n    %y = output {name = \"y\"} : f32[N]\n"
    "    kernel inputs(%x) outputs(%y) {name = \"a\"} {\n    ^(%x: f32[N]):\n      %0 = add %x, %x "
    ": f32[N]\n      yield %0\n    }\n  }\n"
    "  variant {workspace = 0} {\n    %y = output {name = \"y\"} : f32[N]\n"
    "    kernel inputs(%x) outputs(%y) {name = \"b\"} {\n    ^(%x: f32[N]):\n      %0 = mul %x, %x "
    ": f32[N]\n      yield %0\n    }\n  }\n}\n";

static void test_variants(void **state) {
    (void)state;
    static const struct {
        int n, align, variant, ran;
    } rows[] = {
        {8, 0, -1, 0}, {7, 0, -1, 1}, {8, 8, -1, 1}, {8, 16, -1, 0}, {8, 0, 1, 1}, {7, 0, 0, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        runner *r = begin(variants, KC_LEVEL_TENSOR);
        input(r, 1, rows[i].n, 0);
        output(r, KC_f32, 1, rows[i].n, 0);
        r->variant = rows[i].variant;
        if (rows[i].align)
            r->symbols[r->n_symbols++] = (kc_interp_symbol){"align.x", rows[i].align};
        run(r);
        assert_int_equal(r->ran, rows[i].ran);
        expect_floats(r, 3,
                      rows[i].ran == 0   ? (float[]){2, 4, 6}
                      : rows[i].ran == 1 ? (float[]){1, 4, 9}
                                         : (float[]){-1, -1, -1});
        end(r);
    }
    runner *r = begin(variants, KC_LEVEL_TENSOR); // not aligned, and that is seen
    input(r, 1, 8, 0);
    output(r, KC_f32, 1, 8, 0);
    r->in[0].data = &r->in_data[0][1];
    run(r);
    assert_int_equal(r->ran, 1);
    end(r);
    r = begin(variants, KC_LEVEL_TENSOR);
    input(r, 1, 8, 0);
    output(r, KC_f32, 1, 8, 0);
    r->variant = 2;
    expect_error(r, "there is no variant 2; there are 2");
}

static void test_calls(void **state) {
    (void)state;
    runner *r = begin("func @f(%x: f32[4]) -> (y: f32[4]) {\n  return %x\n}\n", KC_LEVEL_TENSOR);
    input(r, 1, 4, 0);
    output(r, KC_f32, 1, 4, 0);
    expect_error(r, "it has no variants");
    r = begin(two_axes, KC_LEVEL_TILE);
    input(r, 2, 2, 3);
    input(r, 1, 3, 0);
    output(r, KC_f32, 2, 2, 3);
    int64_t strides[2] = {5, 1};
    r->in[0].strides = strides;
    expect_error(r, "argument 'x' has stride 5 in dimension 0, the kernel takes it to be 3");
    r = begin(two_axes, KC_LEVEL_TILE);
    kc_tile_call call = {.variant = -1};
    assert_false(kc_tile_run(r->module, "g", &call, r->diag));
    end(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_masked_tail),
        cmocka_unit_test(test_value_where_masked_off),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_two_writers),
        cmocka_unit_test(test_no_programs),
        cmocka_unit_test(test_rounds_as_the_machine),
        cmocka_unit_test(test_broadcast_and_reduce),
        cmocka_unit_test(test_partial_reduce_of_pairs),
        cmocka_unit_test(test_scan_of_segments),
        cmocka_unit_test(test_dot_in_a_loop),
        cmocka_unit_test(test_if),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_stages_and_parts),
        cmocka_unit_test(test_shared_mistakes),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_workspace),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
