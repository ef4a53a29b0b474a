// The reference interpreter: values against NumPy, edges by hand, and bounds from both sides: what is right to compute in f32 lies
// inside, what is wrong does not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "tests/unit/ir/interp_vectors.h"

enum { MOST = 4096, MAX_ARRAYS = 8 };
#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

// ---- running ------------------------------------------------------------------------------------------------------------

// Arguments are given as doubles; int64 values fit for what is tested here unless said otherwise.
typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_module *module;
    kc_interp_array in[MAX_ARRAYS], out[MAX_ARRAYS];
    int64_t in_shape[MAX_ARRAYS][KC_MAX_RANK], out_shape[MAX_ARRAYS][KC_MAX_RANK];
    double *values[MAX_ARRAYS], *bounds[MAX_ARRAYS];
    int n_in, n_out;
    kc_interp_symbol symbols[4];
    int n_symbols;
    size_t max_bytes;
    int64_t clamped;
} runner;

static runner begin(const char *text) {
    runner r = {.arena = kc_arena_create()};
    char *all = kc_arena_printf(r.arena, "module @m\n%s", text);
    r.diag = kc_diag_create(r.arena, "test", all, strlen(all));
    r.module = kc_module_parse(r.arena, all, strlen(all), r.diag);
    if (r.module && !kc_module_verify(r.module, KC_LEVEL_COMPOSITE, r.diag)) {
        kc_arena *ignored = kc_arena_create();
        kc_diag *again = kc_diag_create(ignored, "test", all, strlen(all));
        if (kc_module_verify(r.module, KC_LEVEL_TENSOR, again)) r.diag = kc_diag_create(r.arena, "test", all, strlen(all));
        kc_arena_destroy(ignored);
    }
    if (kc_diag_errors(r.diag)) kc_diag_print(r.diag, stderr);
    assert_int_equal(kc_diag_errors(r.diag), 0);
    return r;
}

static int64_t fill_shape(int64_t *shape, int rank, va_list args) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) n *= shape[d] = va_arg(args, int);
    return n;
}

static void add_input(runner *r, kc_dtype type, const double *values, int rank, ...) {
    va_list args;
    va_start(args, rank);
    int64_t *shape = r->in_shape[r->n_in], n = fill_shape(shape, rank, args);
    va_end(args);
    char *data = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    for (int64_t i = 0; i < n; i++) kc_dtype_store(type, data + i * kc_dtype_bytes(type), values[i]);
    r->in[r->n_in++] = (kc_interp_array){type, rank, shape, NULL, data};
}

static int add_output(runner *r, kc_dtype type, int rank, ...) {
    va_list args;
    va_start(args, rank);
    int64_t *shape = r->out_shape[r->n_out], n = fill_shape(shape, rank, args);
    va_end(args);
    r->values[r->n_out] = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    r->bounds[r->n_out] = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    r->out[r->n_out] = (kc_interp_array){type, rank, shape, NULL, kc_arena_alloc(r->arena, (size_t)(n + 1) * 8)};
    return r->n_out++;
}

static bool try_run(runner *r) {
    kc_interp_call call = {.inputs = r->in, .n_inputs = r->n_in, .outputs = r->out, .n_outputs = r->n_out, .values = r->values, .bounds = r->bounds,
                           .symbols = r->symbols, .n_symbols = r->n_symbols, .max_bytes = r->max_bytes};
    bool ok = kc_interp_run(kc_func_find(r->module, "f"), &call, r->diag);
    r->clamped = call.clamped;
    return ok;
}

static void run(runner *r) {
    bool ok = try_run(r);
    if (!ok) kc_diag_print(r->diag, stderr);
    assert_true(ok);
}

static void end(runner *r) {
    kc_arena_destroy(r->arena);
}

// The error that a failing run reports.
static void expect_error(runner *r, const char *part) {
    char *text = NULL;
    size_t size;
    assert_false(try_run(r));
    FILE *out = open_memstream(&text, &size);
    kc_diag_print(r->diag, out);
    fclose(out);
    if (!strstr(text, part)) fprintf(stderr, "expected \"%s\" in: %s\n", part, text);
    assert_non_null(strstr(text, part));
    free(text);
    end(r);
}

static double stored(const runner *r, int output, int64_t i) {
    kc_dtype type = r->out[output].type;
    return kc_dtype_load(type, (const char *)r->out[output].data + i * kc_dtype_bytes(type));
}

// ---- comparing ----------------------------------------------------------------------------------------------------------------

// The rule of the whole project.
static bool passes(double got, double value, double bound, kc_dtype type) {
    if (isinf(bound) || got == value || (isnan(got) && isnan(value))) return true;
    return fabs(got - value) <= bound + (kc_dtype_is_float(type) ? kc_dtype_ulp(type, value) / 2 : 0);
}

static void expect_number(const char *what, int i, double got, double expected, double relative) {
    bool same = got == expected || (isnan(got) && isnan(expected)) || fabs(got - expected) <= relative * fabs(expected);
    if (relative > 0 && got == 0 && fabs(expected) < 1e-41) same = true; // 1 / infinity
    if (!same) fprintf(stderr, "%s, element %d: %.17g, expected %.17g\n", what, i, got, expected);
    assert_true(same);
}

// What f32 can hold of a value that NumPy gave in double.
static double in_f32(double x) {
    return fabs(x) >= 0x1.ffffffp127 ? copysign(INFINITY, x) : x;
}

static void expect_values(const runner *r, int output, const char *what, const double *expected, int n) {
    for (int i = 0; i < n; i++) expect_number(what, i, r->values[output][i], expected[i], 1e-13);
}

// ---- elementwise against NumPy ---------------------------------------------------------------------------------------------------

static double ulps_allowed(const char *op) {
    static const struct { const char *op; double ulps; } rows[] = {
        {"abs", 0}, {"neg", 0}, {"floor", 0}, {"ceil", 0}, {"round", 0}, {"relu", 0}, {"sqrt", 0.5}, {"exp", 2}, {"exp2", 2}, {"log", 2},
        {"log2", 2}, {"rsqrt", 2}, {"sin", 4}, {"cos", 4}, {"tanh", 4}, {"erf", 4},
    };
    for (int i = 0; i < LENGTH(rows); i++)
        if (!strcmp(rows[i].op, op)) return rows[i].ulps;
    return 40; // a formula: a few roundings and functions, sometimes with cancellation
}

static void test_unary(void **state) {
    (void)state;
    enum { N = LENGTH(unary_x) };
    for (int k = 0; k < LENGTH(unary_rows); k++) {
        char text[200];
        const char *op = unary_rows[k].op;
        snprintf(text, sizeof text, "func @f(%%x: f32[%d]) -> (y: f32[%d]) {\n  %%0 = %s %%x : f32[%d]\n  return %%0\n}\n", N, N, op, N);
        runner r = begin(text);
        add_input(&r, KC_f32, unary_x, 1, N);
        add_output(&r, KC_f32, 1, N);
        run(&r);
        for (int i = 0; i < N; i++) {
            double expected = in_f32(unary_rows[k].y[i]), bound = r.bounds[0][i], ulp = kc_dtype_ulp(KC_f32, expected);
            expect_number(op, i, r.values[0][i], expected, 1e-13);
            if (!isfinite(expected)) continue;
            if (!strncmp(op, "gelu", 4) && unary_x[i] < -1) continue; // 1 - erf cancels
            if (bound > ulps_allowed(op) * ulp * 1.0001) fprintf(stderr, "%s, element %d: bound of %g ulp\n", op, i, bound / ulp);
            assert_true(bound <= ulps_allowed(op) * ulp * 1.0001);
            if (ulps_allowed(op) >= 2) assert_true(bound >= ulps_allowed(op) * ulp * 0.4 || ulps_allowed(op) == 40);
        }
        end(&r);
    }
}

static void test_binary(void **state) {
    (void)state;
    enum { N = LENGTH(binary_a) };
    for (int k = 0; k < LENGTH(binary_rows); k++) {
        char text[240];
        const char *op = binary_rows[k].op;
        snprintf(text, sizeof text, "func @f(%%a: f32[%d], %%b: f32[%d]) -> (y: f32[%d]) {\n  %%0 = %s %%a, %%b : f32[%d]\n  return %%0\n}\n", N, N, N, op, N);
        runner r = begin(text);
        add_input(&r, KC_f32, binary_a, 1, N);
        add_input(&r, KC_f32, binary_b, 1, N);
        add_output(&r, KC_f32, 1, N);
        run(&r);
        for (int i = 0; i < N; i++) {
            double expected = in_f32(binary_rows[k].y[i]), most = (!strcmp(op, "pow") ? 4 : 0.5) * kc_dtype_ulp(KC_f32, expected);
            if (!strcmp(op, "floordiv") && fabs(expected) > 1e6) most *= 8;
            expect_number(op, i, r.values[0][i], expected, 1e-13);
            if (isfinite(expected) && r.bounds[0][i] > most * 1.0001) fprintf(stderr, "%s, element %d: bound %g\n", op, i, r.bounds[0][i]);
            if (isfinite(expected)) assert_true(r.bounds[0][i] <= most * 1.0001);
            else assert_true(r.bounds[0][i] == 0);
        }
        end(&r);
    }
}

// ---- bounds -----------------------------------------------------------------------------------------------------------------------

static uint64_t seed = 88172645463325252u;

static float random_float(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (float)((double)(seed >> 11) * 0x1p-52 - 1);
}

// A sum of two is off by its own rounding at most: the neighbour of the right float fails unless the sum is halfway.
static void test_add_is_sharp(void **state) {
    (void)state;
    enum { N = 2000 };
    static double a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = random_float(), b[i] = random_float() * 100;
    runner r = begin("func @f(%a: f32[2000], %b: f32[2000]) -> (y: f32[2000]) {\n  %0 = add %a, %b : f32[2000]\n  return %0\n}\n");
    add_input(&r, KC_f32, a, 1, N);
    add_input(&r, KC_f32, b, 1, N);
    add_output(&r, KC_f32, 1, N);
    run(&r);
    for (int i = 0; i < N; i++) {
        float right = (float)a[i] + (float)b[i], wrong = nextafterf(nextafterf(right, INFINITY), INFINITY);
        assert_true(passes(right, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_false(passes(wrong, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_true(r.bounds[0][i] == fabs((double)right - r.values[0][i]));
    }
    end(&r);
}

// Whole numbers are exact all the way, so that comparisons of them are certain.
static void test_whole_numbers_are_exact(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 1000}, y[4] = {7, -2, 0.5, 1024};
    runner r = begin("func @f(%x: f32[4], %y: f32[4]) -> (z: bool[4], s: f32[], p: f32[4]) {\n"
                     "  %0 = mul %x, %y : f32[4]\n  %1 = add %0, %x : f32[4]\n  %2 = add %x, %0 : f32[4]\n  %3 = eq %1, %2 : bool[4]\n"
                     "  %4 = sum %1 {axes = [0]} : f32[]\n  return %3, %4, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_input(&r, KC_f32, y, 1, 4);
    add_output(&r, KC_bool, 1, 4);
    add_output(&r, KC_f32, 0);
    add_output(&r, KC_f32, 1, 4);
    run(&r);
    for (int i = 0; i < 4; i++) assert_true(r.values[0][i] == 1 && r.bounds[0][i] == 0 && r.bounds[2][i] == 0);
    expect_number("sum", 0, r.values[1][0], 8 - 2 + 4.5 + 1025000, 0);
    assert_true(r.bounds[1][0] == 0);
    end(&r);
}

// a*b + c, contracted or not, lies inside; half precision in between does not.
static void test_chain_of_floats(void **state) {
    (void)state;
    enum { N = 4000 };
    static double x[3][N];
    int outside = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) x[k][i] = random_float();
    runner r = begin("func @f(%a: f32[4000], %b: f32[4000], %c: f32[4000]) -> (y: f32[4000], z: f32[4000]) {\n"
                     "  %0 = mul %a, %b : f32[4000]\n  %1 = add %0, %c : f32[4000]\n  %2 = exp %1 : f32[4000]\n  %3 = div %1, %2 : f32[4000]\n"
                     "  %4 = tanh %3 : f32[4000]\n  %5 = sub %4, %3 : f32[4000]\n  return %1, %5\n}\n");
    for (int k = 0; k < 3; k++) add_input(&r, KC_f32, x[k], 1, N);
    add_output(&r, KC_f32, 1, N);
    add_output(&r, KC_f32, 1, N);
    run(&r);
    for (int i = 0; i < N; i++) {
        float a = (float)x[0][i], b = (float)x[1][i], c = (float)x[2][i];
        float product = a * b, y = product + c, contracted = fmaf(a, b, c), z = y / expf(y);
        assert_true(passes(y, r.values[0][i], r.bounds[0][i], KC_f32) && passes(contracted, r.values[0][i], r.bounds[0][i], KC_f32));
        assert_true(passes(tanhf(z) - z, r.values[1][i], r.bounds[1][i], KC_f32));
        outside += !passes(kc_dtype_round(KC_f16, product) + c, r.values[0][i], r.bounds[0][i], KC_f32);
        assert_true(r.bounds[0][i] < 0x1p-22 && r.bounds[1][i] < 0x1p-16);
    }
    assert_true(outside > N * 9 / 10);
    end(&r);
}

static void test_sums_in_any_order(void **state) {
    (void)state;
    enum { N = 1000 };
    static double x[N];
    float forward = 0, backward = 0, strided = 0;
    for (int i = 0; i < N; i++) x[i] = random_float();
    runner r = begin("func @f(%x: f32[1000]) -> (y: f32[], m: f32[]) {\n  %0 = sum %x {axes = [0]} : f32[]\n  %1 = mean %x {axes = [0]} : f32[]\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, N);
    add_output(&r, KC_f32, 0);
    add_output(&r, KC_f32, 0);
    run(&r);
    for (int i = 0; i < N; i++) forward += (float)x[i], backward += (float)x[N - 1 - i], strided += (float)x[i * 7 % N];
    float orders[] = {forward, backward, strided};
    for (int i = 0; i < 3; i++) {
        assert_true(passes(orders[i], r.values[0][0], r.bounds[0][0], KC_f32));
        assert_true(passes(orders[i] / N, r.values[1][0], r.bounds[1][0], KC_f32));
    }
    assert_true(r.bounds[0][0] > 0 && r.bounds[0][0] < 1e-4 * 1000);
    assert_false(passes(forward - (float)x[3], r.values[0][0], r.bounds[0][0], KC_f32)); // an element is missing
    end(&r);
}

// ---- reductions ---------------------------------------------------------------------------------------------------------------------

static void test_reductions(void **state) {
    (void)state;
    for (int k = 0; k < LENGTH(reduce_rows); k++) {
        char text[400];
        const char *op = reduce_rows[k].op, *elem = strncmp(op, "arg", 3) ? "f32" : "i64";
        kc_dtype type = strncmp(op, "arg", 3) ? KC_f32 : KC_i64;
        snprintf(text, sizeof text,
                 "func @f(%%x: f32[4, 7]) -> (a: %s[7], b: %s[4, 1], c: %s[]) {\n  %%0 = %s %%x {axes = [0]} : %s[7]\n"
                 "  %%1 = %s %%x {axes = [1], keepdims = 1} : %s[4, 1]\n  %%2 = %s %%x {axes = [0, 1]} : %s[]\n  return %%0, %%1, %%2\n}\n",
                 elem, elem, elem, op, elem, op, elem, op, elem);
        runner r = begin(text);
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_output(&r, type, 1, 7);
        add_output(&r, type, 2, 4, 1);
        add_output(&r, type, 0);
        run(&r);
        expect_values(&r, 0, op, reduce_rows[k].along_0, 7);
        expect_values(&r, 1, op, reduce_rows[k].along_1, 4);
        expect_values(&r, 2, op, reduce_rows[k].all, 1);
        assert_true(r.bounds[2][0] < 1e-4);
        end(&r);
    }
}

static void test_empty_and_special_reductions(void **state) {
    (void)state;
    double x[6] = {1, NAN, 3, -INFINITY, INFINITY, 2};
    runner r = begin("func @f(%x: f32[2, 3], %e: f32[2, 0]) -> (a: f32[2], b: f32[2], c: f32[2], d: f32[2], e1: f32[2], g: i64[2]) {\n"
                     "  %0 = sum %e {axes = [1]} : f32[2]\n  %1 = prod %e {axes = [1]} : f32[2]\n  %2 = amax %x {axes = [1]} : f32[2]\n"
                     "  %3 = sum %x {axes = [1]} : f32[2]\n  %4 = amin %e {axes = [1]} : f32[2]\n  %5 = argmax %x {axes = [1]} : i64[2]\n"
                     "  return %0, %1, %2, %3, %4, %5\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 3);
    add_input(&r, KC_f32, x, 2, 2, 0);
    for (int i = 0; i < 5; i++) add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_i64, 1, 2);
    run(&r);
    expect_values(&r, 0, "empty sum", (double[]){0, 0}, 2);
    expect_values(&r, 1, "empty product", (double[]){1, 1}, 2);
    expect_values(&r, 2, "maximum", (double[]){NAN, INFINITY}, 2);
    expect_values(&r, 3, "sum", (double[]){NAN, NAN}, 2);
    expect_values(&r, 4, "empty minimum", (double[]){INFINITY, INFINITY}, 2);
    expect_values(&r, 5, "argmax", (double[]){1, 1}, 2);
    for (int i = 0; i < 6; i++) assert_true(r.bounds[i][0] == 0 && r.bounds[i][1] == 0);
    end(&r);
}

static void test_argmax_of_ties(void **state) {
    (void)state;
    double x[4] = {2, 5, 5, 5}, y[4] = {1, 1, 1, 1};
    runner r = begin("func @f(%x: f32[4], %y: f32[4]) -> (a: i64[], b: i64[], c: i64[]) {\n"
                     "  %0 = argmax %x {axes = [0]} : i64[]\n  %1 = exp %x : f32[4]\n  %2 = argmax %1 {axes = [0]} : i64[]\n"
                     "  %3 = argmin %y {axes = [0]} : i64[]\n  return %0, %2, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_input(&r, KC_f32, y, 1, 4);
    for (int i = 0; i < 3; i++) add_output(&r, KC_i64, 0);
    run(&r);
    assert_true(r.values[0][0] == 1 && r.bounds[0][0] == 0); // exact values: the first
    assert_true(r.values[1][0] == 1 && r.bounds[1][0] == 2); // within their error any of 1, 2, 3 may be the largest
    assert_true(r.values[2][0] == 0 && r.bounds[2][0] == 0);
    end(&r);
}

// The region that decompose makes for argmax, with NaN; and a product of pairs in a tuple with a maximum.
static void test_regions(void **state) {
    (void)state;
    double x[10] = {1, 7, 7, NAN, NAN, 3, -1, 3, 2, 0};
    runner r = begin(
        "func @f(%x: f32[2, 5]) -> (v: f32[2], i: i64[2], m: f32[2], p: f32[2]) {\n"
        "  %0 = iota {axis = 1} : i64[2, 5]\n"
        "  %1, %2 = reduce %x, %0 {axes = [1], init = [-inf, inf]} : f32[2], i64[2] {\n"
        "  ^(%a: f32[], %i: i64[], %b: f32[], %j: i64[]):\n"
        "    %g = gt %b, %a : bool[]\n    %t = eq %b, %a : bool[]\n    %na = ne %a, %a : bool[]\n    %nb = ne %b, %b : bool[]\n"
        "    %z = not %na : bool[]\n    %o = and %nb, %z : bool[]\n    %w = or %g, %o : bool[]\n    %q = and %na, %nb : bool[]\n"
        "    %s = or %t, %q : bool[]\n    %l = lt %j, %i : bool[]\n    %u = and %s, %l : bool[]\n    %k = or %w, %u : bool[]\n"
        "    %c = select %k, %b, %a : f32[]\n    %d = select %k, %j, %i : i64[]\n    yield %c, %d\n  }\n"
        "  %3, %4 = reduce %x, %x {axes = [1], init = [-inf, 1]} : f32[2], f32[2] {\n"
        "  ^(%a: f32[], %i: f32[], %b: f32[], %j: f32[]):\n    %c = max %a, %b : f32[]\n    %d = mul %j, %i : f32[]\n    yield %c, %d\n  }\n"
        "  return %1, %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 5);
    add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_i64, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    run(&r);
    expect_values(&r, 0, "value", (double[]){NAN, 3}, 2);
    expect_values(&r, 1, "index", (double[]){3, 0}, 2);
    expect_values(&r, 2, "maximum", (double[]){NAN, 3}, 2);
    expect_values(&r, 3, "product", (double[]){NAN, 0}, 2);
    end(&r);
}

// ---- matrix products ------------------------------------------------------------------------------------------------------------------

static void test_products(void **state) {
    (void)state;
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            char text[300];
            snprintf(text, sizeof text, "func @f(%%a: f32[2, %s], %%b: f32[2, %s]) -> (y: f32[2, 3, 4]) {\n"
                     "  %%0 = matmul %%a, %%b {transpose_a = %d, transpose_b = %d} : f32[2, 3, 4]\n  return %%0\n}\n",
                     ta ? "5, 3" : "3, 5", tb ? "4, 5" : "5, 4", ta, tb);
            runner r = begin(text);
            add_input(&r, KC_f32, ta ? product_a_t : product_a, 3, 2, ta ? 5 : 3, ta ? 3 : 5);
            add_input(&r, KC_f32, tb ? product_b_t : product_b, 3, 2, tb ? 4 : 5, tb ? 5 : 4);
            add_output(&r, KC_f32, 3, 2, 3, 4);
            run(&r);
            expect_values(&r, 0, "matmul", product_y, 24);
            for (int i = 0; i < 24; i++) assert_true(r.bounds[0][i] > 0 && r.bounds[0][i] < 6e-6);
            end(&r);
        }
}

static void test_products_by_hand(void **state) {
    (void)state;
    double a[4] = {1, INFINITY, 2e38, 3}, b[4] = {0, 1, 2, 1e38}, small[4] = {1, 2, 3, -128};
    runner r = begin("func @f(%a: f32[2, 2], %b: f32[2, 2], %i: i8[2, 2]) -> (y: f32[2, 2], z: i32[2, 2], e: f32[2, 2]) {\n"
                     "  %0 = matmul %a, %b : f32[2, 2]\n  %1 = matmul %i, %i : i32[2, 2]\n  %2 = cast %i {dtype = f32} : f32[2, 2]\n"
                     "  %3 = matmul %2, %2 : f32[2, 2]\n  return %0, %1, %3\n}\n");
    add_input(&r, KC_f32, a, 2, 2, 2);
    add_input(&r, KC_f32, b, 2, 2, 2);
    add_input(&r, KC_i8, small, 2, 2, 2);
    add_output(&r, KC_f32, 2, 2, 2);
    add_output(&r, KC_i32, 2, 2, 2);
    add_output(&r, KC_f32, 2, 2, 2);
    run(&r);
    expect_values(&r, 0, "products", (double[]){INFINITY, INFINITY, 6, INFINITY}, 4); // 2e38 + 3e38 overflows in every order
    assert_true(r.bounds[0][0] == 0 && r.bounds[0][3] == 0);
    expect_values(&r, 1, "i8", (double[]){7, -254, -381, 16390}, 4);
    expect_values(&r, 2, "whole numbers", (double[]){7, -254, -381, 16390}, 4);
    for (int i = 0; i < 4; i++) assert_true(r.bounds[1][i] == 0 && r.bounds[2][i] == 0);
    end(&r);
}

// ---- rows -----------------------------------------------------------------------------------------------------------------------------

static void test_rows(void **state) {
    (void)state;
    static const struct { const char *op, *attrs; int operands; const double *y; } rows[] = {
        {"softmax", "axis = 1", 1, row_softmax}, {"log_softmax", "axis = 1", 1, row_log_softmax}, {"softmax", "axis = 0", 1, row_softmax_0},
        {"layernorm", "axis = 1, eps = 0.00001", 3, row_layernorm}, {"rmsnorm", "axis = 1, eps = 0.000001", 2, row_rmsnorm},
    };
    for (int k = 0; k < LENGTH(rows); k++) {
        char text[400];
        snprintf(text, sizeof text, "func @f(%%x: f32[4, 7], %%s: f32[7], %%b: f32[7]) -> (y: f32[4, 7]) {\n  %%0 = %s %%x%s%s {%s} : f32[4, 7]\n  return %%0\n}\n",
                 rows[k].op, rows[k].operands > 1 ? ", %s" : "", rows[k].operands > 2 ? ", %b" : "", rows[k].attrs);
        runner r = begin(text);
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_input(&r, KC_f32, row_scale, 1, 7);
        add_input(&r, KC_f32, row_bias, 1, 7);
        add_output(&r, KC_f32, 2, 4, 7);
        run(&r);
        for (int i = 0; i < 28; i++) {
            expect_number(rows[k].op, i, r.values[0][i], rows[k].y[i], 3e-7); // eps is a literal of f32
            assert_true(r.bounds[0][i] > 0 && r.bounds[0][i] < 2e-5);
        }
        end(&r);
    }
}

// ---- integers -----------------------------------------------------------------------------------------------------------------------------

static void test_integers(void **state) {
    (void)state;
    double a[8] = {7, -7, 7, -7, 5, -2147483648.0, 2147483647, 3}, b[8] = {3, 3, -3, -3, 0, -1, 2, -2};
    runner r = begin("func @f(%a: i32[8], %b: i32[8]) -> (q: i32[8], m: i32[8], p: i32[8], s: i32[8], w: i8[8], n: i32[8]) {\n"
                     "  %0 = floordiv %a, %b : i32[8]\n  %1 = mod %a, %b : i32[8]\n  %2 = mul %a, %b : i32[8]\n  %3 = add %a, %b : i32[8]\n"
                     "  %4 = cast %a {dtype = i8} : i8[8]\n  %5 = abs %a : i32[8]\n  return %0, %1, %2, %3, %4, %5\n}\n");
    add_input(&r, KC_i32, a, 1, 8);
    add_input(&r, KC_i32, b, 1, 8);
    for (int i = 0; i < 6; i++) add_output(&r, i == 4 ? KC_i8 : KC_i32, 1, 8);
    run(&r);
    expect_values(&r, 0, "floordiv", (double[]){2, -3, -3, 2, r.values[0][4], -2147483648.0, 1073741823, -2}, 8);
    expect_values(&r, 1, "mod", (double[]){1, 2, -2, -1, r.values[1][4], 0, 1, -1}, 8);
    expect_values(&r, 2, "mul", (double[]){21, -21, -21, 21, 0, -2147483648.0, -2, -6}, 8);
    expect_values(&r, 3, "add", (double[]){10, -4, 4, -10, 5, 2147483647, -2147483647, 1}, 8);
    expect_values(&r, 4, "cast", (double[]){7, -7, 7, -7, 5, 0, -1, 3}, 8);
    expect_values(&r, 5, "abs", (double[]){7, 7, 7, 7, 5, -2147483648.0, 2147483647, 3}, 8);
    for (int i = 0; i < 8; i++) assert_true(r.bounds[0][i] == (i == 4 ? INFINITY : 0) && r.bounds[2][i] == 0); // by zero: anything
    end(&r);
}

static void test_integer_powers_and_bools(void **state) {
    (void)state;
    double a[6] = {2, -3, 1, -1, 5, 0}, b[6] = {10, 3, -5, -3, -1, 0}, c[6] = {1, 0, 1, 0, 1, 0};
    runner r = begin("func @f(%a: i64[6], %b: i64[6], %c: bool[6]) -> (p: i64[6], n: bool[6], x: bool[6], g: i64[6], k: i64[6]) {\n"
                     "  %0 = pow %a, %b : i64[6]\n  %1 = not %c : bool[6]\n  %2 = gt %a, %b : bool[6]\n  %3 = or %1, %2 : bool[6]\n"
                     "  %4 = and %a, %b : i64[6]\n  %5 = not %a : i64[6]\n  return %0, %1, %3, %4, %5\n}\n");
    add_input(&r, KC_i64, a, 1, 6);
    add_input(&r, KC_i64, b, 1, 6);
    add_input(&r, KC_bool, c, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    add_output(&r, KC_bool, 1, 6);
    add_output(&r, KC_bool, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    add_output(&r, KC_i64, 1, 6);
    run(&r);
    expect_values(&r, 0, "pow", (double[]){1024, -27, 1, -1, 0, 1}, 6);
    expect_values(&r, 1, "not", (double[]){0, 1, 0, 1, 0, 1}, 6);
    expect_values(&r, 2, "or", (double[]){0, 1, 1, 1, 1, 1}, 6);
    expect_values(&r, 3, "and", (double[]){2, 1, 1, -3, 5, 0}, 6);
    expect_values(&r, 4, "not", (double[]){-3, 2, -2, 0, -6, -1}, 6);
    end(&r);
}

static void test_wide_integers(void **state) {
    (void)state;
    int64_t x[2] = {INT64_MAX, (INT64_C(1) << 53) + 1}, y[2];
    runner r = begin("func @f(%x: i64[2]) -> (y: i64[2], s: i64[]) {\n  %0 = add %x, %x : i64[2]\n  %1 = sum %x {axes = [0]} : i64[]\n  return %0, %1\n}\n");
    add_input(&r, KC_i64, (double[]){0, 0}, 1, 2);
    memcpy(r.in[0].data, x, sizeof x);
    add_output(&r, KC_i64, 1, 2);
    add_output(&r, KC_i64, 0);
    run(&r);
    memcpy(y, r.out[0].data, sizeof y);
    assert_true(y[0] == -2 && y[1] == (INT64_C(1) << 54) + 2);
    memcpy(y, r.out[1].data, sizeof *y);
    assert_true(y[0] == INT64_MIN + (INT64_C(1) << 53));
    end(&r);
}

// ---- casts -----------------------------------------------------------------------------------------------------------------------------------

static void test_casts(void **state) {
    (void)state;
    double x[9] = {2.9, -2.9, 300, -300, NAN, INFINITY, -INFINITY, 1e30, -0.0};
    runner r = begin("func @f(%x: f32[9]) -> (a: i8[9], b: u8[9], c: i32[9], d: bool[9], e: f16[9]) {\n"
                     "  %0 = cast %x {dtype = i8} : i8[9]\n  %1 = cast %x {dtype = u8} : u8[9]\n  %2 = cast %x {dtype = i32} : i32[9]\n"
                     "  %3 = cast %x {dtype = bool} : bool[9]\n  %4 = cast %x {dtype = f16} : f16[9]\n  return %0, %1, %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 1, 9);
    add_output(&r, KC_i8, 1, 9);
    add_output(&r, KC_u8, 1, 9);
    add_output(&r, KC_i32, 1, 9);
    add_output(&r, KC_bool, 1, 9);
    add_output(&r, KC_f16, 1, 9);
    run(&r);
    expect_values(&r, 0, "i8", (double[]){2, -2, 127, -128, 0, 127, -128, 127, 0}, 9);
    expect_values(&r, 1, "u8", (double[]){2, 0, 255, 0, 0, 255, 0, 255, 0}, 9);
    expect_values(&r, 2, "i32", (double[]){2, -2, 300, -300, 0, 2147483647, -2147483648.0, 2147483647, 0}, 9);
    expect_values(&r, 3, "bool", (double[]){1, 1, 1, 1, 1, 1, 1, 1, 0}, 9);
    expect_number("f16", 0, stored(&r, 4, 0), 2.900390625, 0);
    expect_number("f16", 7, stored(&r, 4, 7), INFINITY, 0);
    end(&r);
}

// An output in f16 is compared with what was rounded, a value inside the function is rounded.
static void test_rounding_places(void **state) {
    (void)state;
    double x[4] = {1 + 0x1p-11, 65519, 65520, 0.1f};
    runner r = begin("func @f(%x: f32[4]) -> (a: f16[4], b: f32[4]) {\n  %0 = cast %x {dtype = f16} : f16[4]\n"
                     "  %1 = cast %0 {dtype = f32} : f32[4]\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f16, 1, 4);
    add_output(&r, KC_f32, 1, 4);
    run(&r);
    expect_values(&r, 0, "before rounding", (double[]){1 + 0x1p-11, 65519, INFINITY, (double)0.1f}, 4);
    expect_values(&r, 1, "after rounding", (double[]){1, 65504, INFINITY, 0.0999755859375}, 4);
    assert_true(stored(&r, 0, 0) == 1 && stored(&r, 0, 1) == 65504 && isinf(stored(&r, 0, 2)));
    assert_true(passes(1 + 0x1p-10, r.values[0][0], r.bounds[0][0], KC_f16)); // halfway: the neighbour is as near
    assert_false(passes(1 + 0x1p-9, r.values[0][0], r.bounds[0][0], KC_f16));
    end(&r);
}

static void test_casts_of_uncertain_values(void **state) {
    (void)state;
    double x[3] = {0.7f, 0.1f, 2};
    runner r = begin("func @f(%x: f32[3]) -> (a: i32[3], b: f32[3], c: f16[3], d: bool[3]) {\n  %k = const {value = 10} : f32[3]\n  %0 = exp %x : f32[3]\n"
                     "  %1 = log %0 : f32[3]\n  %2 = sub %1, %x : f32[3]\n  %3 = add %2, %k : f32[3]\n  %4 = cast %3 {dtype = i32} : i32[3]\n"
                     "  %5 = floor %3 : f32[3]\n  %6 = cast %3 {dtype = f16} : f16[3]\n  %7 = cast %6 {dtype = f32} : f32[3]\n"
                     "  %8 = cast %2 {dtype = bool} : bool[3]\n  %9 = neg %6 : f16[3]\n  return %4, %5, %9, %8\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_output(&r, KC_i32, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    add_output(&r, KC_f16, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    run(&r);
    for (int i = 0; i < 3; i++) { // log(exp(x)) - x + 10 is 10 but for errors
        assert_true(r.bounds[0][i] == 1 && r.bounds[1][i] == 1);
        assert_true(passes(9, r.values[0][i], r.bounds[0][i], KC_i32) && passes(10, r.values[0][i], r.bounds[0][i], KC_i32));
        assert_false(passes(8, r.values[0][i], r.bounds[0][i], KC_i32));
        assert_true(r.values[2][i] == -10 && r.bounds[2][i] == 0); // far from where f16 rounds otherwise
        assert_true(r.bounds[3][i] == 1);
    }
    end(&r);
}

// ---- comparisons and overflow -------------------------------------------------------------------------------------------------------------------

static void test_uncertain_comparisons(void **state) {
    (void)state;
    double x[3] = {0.3f, 1, 5}, y[3] = {0.3f, 2, NAN};
    runner r = begin("func @f(%x: f32[3], %y: f32[3]) -> (c: bool[3], s: f32[3], n: bool[3]) {\n  %0 = exp %x : f32[3]\n  %1 = exp %y : f32[3]\n"
                     "  %2 = lt %0, %1 : bool[3]\n  %k = const {value = 100} : f32[3]\n  %3 = select %2, %x, %k : f32[3]\n  %4 = ne %1, %1 : bool[3]\n  return %2, %3, %4\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_input(&r, KC_f32, y, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    add_output(&r, KC_bool, 1, 3);
    run(&r);
    assert_true(r.bounds[0][0] == 1 && r.bounds[0][1] == 0 && r.bounds[0][2] == 0); // a tie within errors; certain; NaN
    assert_true(r.values[0][1] == 1 && r.values[0][2] == 0);
    assert_true(passes(x[0], r.values[1][0], r.bounds[1][0], KC_f32) && passes(100, r.values[1][0], r.bounds[1][0], KC_f32));
    assert_true(r.bounds[1][1] == 0 && r.bounds[1][2] == 0);
    expect_values(&r, 2, "is NaN", (double[]){0, 0, 1}, 3);
    for (int i = 0; i < 3; i++) assert_true(r.bounds[2][i] == 0); // x != x needs no certainty
    end(&r);
}

static void test_overflow(void **state) {
    (void)state;
    double x[5] = {3e38, -3e38, 1e38, 88.7, 88}, y[5] = {3e38, -3e38, 1e38, 0, 0x1.fffffep127 / exp(88)};
    runner r = begin("func @f(%x: f32[5], %y: f32[5]) -> (a: f32[5], b: f32[5], c: f32[5], d: f32[5]) {\n  %0 = add %x, %y : f32[5]\n"
                     "  %1 = exp %x : f32[5]\n  %2 = sub %0, %0 : f32[5]\n  %3 = mul %1, %y : f32[5]\n  return %0, %1, %2, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 5);
    add_input(&r, KC_f32, y, 1, 5);
    for (int i = 0; i < 4; i++) add_output(&r, KC_f32, 1, 5);
    run(&r);
    expect_number("sum", 0, r.values[0][0], INFINITY, 0);
    expect_number("sum", 1, r.values[0][1], -INFINITY, 0);
    assert_true(r.bounds[0][0] == 0 && isnan(r.values[2][0]) && r.bounds[2][0] == 0);
    assert_true(isinf(r.values[1][0]) && r.bounds[1][0] == 0 && r.values[1][1] == 0);
    assert_true(isfinite(r.values[1][3]) && isfinite(r.bounds[1][3]));
    assert_true(isinf(r.bounds[3][4])); // the largest float within errors: it may overflow
    end(&r);
}

// A product that overflows may survive inside a fused multiply-add.
static void test_overflow_in_contraction(void **state) {
    (void)state;
    double x[1] = {2e20f}, y[1] = {-3.9e38};
    runner r = begin("func @f(%x: f32[1], %y: f32[1]) -> (a: f32[1], b: f32[1]) {\n  %0 = mul %x, %x : f32[1]\n  %1 = add %0, %y : f32[1]\n"
                     "  %2 = mul %x, %x : f32[1]\n  %3 = neg %2 : f32[1]\n  return %1, %3\n}\n");
    add_input(&r, KC_f32, x, 1, 1);
    add_input(&r, KC_f32, y, 1, 1);
    add_output(&r, KC_f32, 1, 1);
    add_output(&r, KC_f32, 1, 1);
    run(&r);
    assert_true(isinf(r.bounds[0][0]));
    assert_true(r.values[1][0] == -INFINITY && r.bounds[1][0] == 0);
    end(&r);
}

// ---- movement -----------------------------------------------------------------------------------------------------------------------------------

static void test_movement(void **state) {
    (void)state;
    double k[4] = {2, 0, 1, -1};
    runner r = begin("func @f(%x: f32[2, 3, 4], %k: i32[2, 2]) -> (a: f32[4, 2, 3], b: f32[2, 2, 2], c: f32[3, 5, 6], d: f32[2, 6, 4], e: f32[2, 2, 2, 4], g: f32[6]) {\n"
                     "  %0 = transpose %x {perm = [2, 0, 1]} : f32[4, 2, 3]\n"
                     "  %1 = slice %x {starts = [1, 2, 1], steps = [-1, -2, 1]} : f32[2, 2, 2]\n"
                     "  %2 = pad %x {low = [1, 0, 1], high = [0, 2, 1], value = -1.5} : f32[3, 5, 6]\n"
                     "  %t = const {value = 10} : f32[2, 3, 4]\n  %y = mul %x, %t : f32[2, 3, 4]\n"
                     "  %3 = concat %x, %y {axis = 1} : f32[2, 6, 4]\n  %4 = gather %x, %k {axis = 1} : f32[2, 2, 2, 4]\n"
                     "  %5 = reshape %x : f32[4, 6]\n  %6 = sum %5 {axes = [0]} : f32[6]\n  return %0, %1, %2, %3, %4, %6\n}\n");
    add_input(&r, KC_f32, move_x, 3, 2, 3, 4);
    add_input(&r, KC_i32, k, 2, 2, 2);
    add_output(&r, KC_f32, 3, 4, 2, 3);
    add_output(&r, KC_f32, 3, 2, 2, 2);
    add_output(&r, KC_f32, 3, 3, 5, 6);
    add_output(&r, KC_f32, 3, 2, 6, 4);
    add_output(&r, KC_f32, 4, 2, 2, 2, 4);
    add_output(&r, KC_f32, 1, 6);
    run(&r);
    expect_values(&r, 0, "transpose", move_transpose, 24);
    expect_values(&r, 1, "slice", move_slice, 8);
    expect_values(&r, 2, "pad", move_pad, 90);
    expect_values(&r, 3, "concat", move_concat, 48);
    expect_values(&r, 4, "gather", move_take, 32);
    expect_values(&r, 5, "reshape", move_reshape_sum, 6);
    assert_int_equal(r.clamped, 0);
    end(&r);
}

static void test_gather_clamps(void **state) {
    (void)state;
    double x[3] = {10, 20, 30}, k[6] = {-1, -3, -4, 2, 3, 1e6};
    runner r = begin("func @f(%x: f32[3], %k: i64[6]) -> (y: f32[6]) {\n  %0 = gather %x, %k {axis = 0} : f32[6]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_input(&r, KC_i64, k, 1, 6);
    add_output(&r, KC_f32, 1, 6);
    run(&r);
    expect_values(&r, 0, "gather", (double[]){30, 10, 10, 30, 30, 30}, 6);
    assert_int_equal(r.clamped, 3);
    end(&r);
    r = begin("func @f(%x: f32[N], %k: i32[2]) -> (y: f32[2]) dims {N: 0..100} {\n  %0 = gather %x, %k {axis = 0} : f32[2]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 0); // nothing to take: 0
    add_input(&r, KC_i32, k, 1, 2);
    add_output(&r, KC_f32, 1, 2);
    run(&r);
    expect_values(&r, 0, "gather from nothing", (double[]){0, 0}, 2);
    assert_int_equal(r.clamped, 2);
    end(&r);
}

static void test_broadcast_iota_sym(void **state) {
    (void)state;
    double x[2] = {5, 6};
    runner r = begin("func @f(%x: f32[N, 1]) -> (y: f32[3, N, 2], i: i8[2, 300], s: f32[]) dims {N: 0..100} {\n  %0 = broadcast %x : f32[3, N, 2]\n"
                     "  %1 = iota {axis = 1} : i8[2, 300]\n  %2 = sym {expr = N * 10 // 3} : f32[]\n  return %0, %1, %2\n}\n");
    add_input(&r, KC_f32, x, 2, 2, 1);
    add_output(&r, KC_f32, 3, 3, 2, 2);
    add_output(&r, KC_i8, 2, 2, 300);
    add_output(&r, KC_f32, 0);
    run(&r);
    expect_values(&r, 0, "broadcast", (double[]){5, 5, 6, 6, 5, 5, 6, 6, 5, 5, 6, 6}, 12);
    assert_true(r.values[1][127] == 127 && r.values[1][128] == -128 && r.values[1][300 + 299] == 43);
    expect_number("sym", 0, r.values[2][0], 6, 0);
    end(&r);
}

// ---- calls -----------------------------------------------------------------------------------------------------------------------------------

// Strides of inputs and outputs; an output over its input.
static void test_strides(void **state) {
    (void)state;
    double x[12] = {1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9, -1};
    runner r = begin("func @f(%x: f32[M, 3]@[ld, 1]) -> (y: f32[3, M]@[1, 3] alias x) dims {M: 0..10, ld} {\n  %0 = transpose %x {perm = [1, 0]} : f32[3, M]\n  return %0\n}\n");
    int64_t in_strides[2] = {4, 1}, out_strides[2] = {1, 3};
    add_input(&r, KC_f32, x, 1, 12);
    r.in[0].rank = 2;
    memcpy(r.in_shape[0], (int64_t[]){3, 3}, 2 * sizeof(int64_t));
    r.in[0].strides = in_strides;
    add_output(&r, KC_f32, 2, 3, 3);
    r.out[0].strides = out_strides;
    r.out[0].data = r.in[0].data;
    run(&r);
    for (int i = 0; i < 9; i++) assert_true(stored(&r, 0, i) == i + 1); // transposed, then written transposed
    expect_values(&r, 0, "row-major", (double[]){1, 4, 7, 2, 5, 8, 3, 6, 9}, 9);
    end(&r);
}

static void test_fusions(void **state) {
    (void)state;
    double x[3] = {1, 2, 3};
    runner r = begin("func @f(%x: f32[3]) -> (y: f16[3], z: f32[3]) {\n  %0, %1 = fusion %x : f16[3], f32[3] {\n  ^(%a: f32[3]):\n    %2 = exp %a : f32[3]\n"
                     "    %3 = cast %2 {dtype = f16} : f16[3]\n    yield %3, %2\n  }\n  return %0, %1\n}\n");
    add_input(&r, KC_f32, x, 1, 3);
    add_output(&r, KC_f16, 1, 3);
    add_output(&r, KC_f32, 1, 3);
    run(&r);
    for (int i = 0; i < 3; i++) {
        expect_number("unrounded", i, r.values[0][i], exp(x[i]), 1e-15);
        expect_number("rounded", i, stored(&r, 0, i), kc_dtype_round(KC_f16, exp(x[i])), 0);
    }
    end(&r);
}

static void test_errors(void **state) {
    (void)state;
    double x[4] = {1, 2, 3, 4};
    runner r = begin("func @f(%x: f32[4]) -> (y: f32[]) dims {P: 0..100} {\n  %0 = sym {expr = P} : f32[]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 0);
    expect_error(&r, "no value is given for P");
    r = begin("func @f(%x: f32[N]) -> (y: f32[2]) dims {N: 1..100, S: 0..100} {\n  %0 = slice %x {starts = [S], steps = [1]} : f32[2]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 2);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"S", 3};
    expect_error(&r, "slice takes 2 elements of dimension 0 from 3 in steps of 1; its extent is 4");
    r = begin("func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 1..100} {\n  %0 = exp %x : f32[N]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 3);
    expect_error(&r, "argument 'y' has extent 3 in dimension 0, expected 4");
    r = begin("func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 1..100} {\n  %0 = exp %x : f32[N]\n  return %0\n}\n");
    add_input(&r, KC_f64, x, 1, 4);
    add_output(&r, KC_f32, 1, 4);
    expect_error(&r, "argument 'x' is f64 of rank 1, expected f32 of rank 1");
    r = begin("func @f(%x: f32[N]) -> (y: f32[M]) dims {N: 0..100, M: 0..100} {\n  %0 = reshape %x : f32[M]\n  return %0\n}\n");
    add_input(&r, KC_f32, x, 1, 4);
    add_output(&r, KC_f32, 1, 3);
    expect_error(&r, "reshape of 4 elements to 3");
}

static void test_sizes(void **state) {
    (void)state;
    double x[1] = {1};
    runner r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast %x : f32[N, N, N, N]\n"
                     "  %1 = sum %0 {axes = [0, 1, 2, 3]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 2000000000};
    expect_error(&r, "more than 2^63 elements");
    r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast %x : f32[N]\n  %1 = sum %0 {axes = [0]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 1000000};
    r.max_bytes = 1 << 20;
    expect_error(&r, "needs more memory than the interpreter may use (1 MiB)");
    r = begin("func @f(%x: f32[]) -> (y: f32[]) dims {N: 0..2147483647} {\n  %0 = broadcast %x : f32[N]\n  %1 = sum %0 {axes = [0]} : f32[]\n  return %1\n}\n");
    add_input(&r, KC_f32, x, 0);
    add_output(&r, KC_f32, 0);
    r.symbols[r.n_symbols++] = (kc_interp_symbol){"N", 100000};
    run(&r);
    expect_number("sum", 0, r.values[0][0], 100000, 0);
    assert_true(r.bounds[0][0] == 0); // whole numbers below 2^24
    end(&r);
}

// Whichever allocation is the one too many, the run fails with its sentence and leaves nothing behind.
static void test_every_budget(void **state) {
    (void)state;
    int failures = 0;
    for (size_t budget = 64; budget < 1 << 16; budget += budget / 16) {
        runner r = begin("func @f(%x: f32[4, 7]) -> (y: f32[4, 7], k: i64[4], m: f32[4, 4]) {\n  %0 = softmax %x {axis = 1} : f32[4, 7]\n"
                         "  %1 = argmax %0 {axes = [1]} : i64[4]\n  %2 = matmul %0, %x {transpose_b = 1} : f32[4, 4]\n  return %0, %1, %2\n}\n");
        add_input(&r, KC_f32, row_x, 2, 4, 7);
        add_output(&r, KC_f32, 2, 4, 7);
        add_output(&r, KC_i64, 1, 4);
        add_output(&r, KC_f32, 2, 4, 4);
        r.max_bytes = budget;
        failures += !try_run(&r);
        end(&r);
    }
    assert_true(failures > 20 && failures < 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unary), cmocka_unit_test(test_binary), cmocka_unit_test(test_add_is_sharp), cmocka_unit_test(test_whole_numbers_are_exact),
        cmocka_unit_test(test_chain_of_floats), cmocka_unit_test(test_sums_in_any_order), cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_empty_and_special_reductions), cmocka_unit_test(test_argmax_of_ties), cmocka_unit_test(test_regions),
        cmocka_unit_test(test_products), cmocka_unit_test(test_products_by_hand), cmocka_unit_test(test_rows), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integer_powers_and_bools), cmocka_unit_test(test_wide_integers), cmocka_unit_test(test_casts),
        cmocka_unit_test(test_rounding_places), cmocka_unit_test(test_casts_of_uncertain_values), cmocka_unit_test(test_uncertain_comparisons),
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_overflow_in_contraction), cmocka_unit_test(test_movement),
        cmocka_unit_test(test_gather_clamps), cmocka_unit_test(test_broadcast_iota_sym), cmocka_unit_test(test_strides),
        cmocka_unit_test(test_fusions), cmocka_unit_test(test_errors), cmocka_unit_test(test_sizes), cmocka_unit_test(test_every_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
