// Runs one function from its text, with arguments given as doubles; for the tests of the reference
// interpreter.
#ifndef KC_TESTS_INTERP_RUNNER_H
#define KC_TESTS_INTERP_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "tests/unit/ir/expect_report.h"

enum { MAX_ARRAYS = 8 };
#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

// ---- running ------------------------------------------------------------------------------------

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

static inline runner begin(const char *text) {
    runner r = {.arena = kc_arena_create()};
    char *all = kc_arena_printf(r.arena, "module @m\n%s", text);
    r.diag = kc_diag_create(r.arena, "test", all, strlen(all));
    r.module = kc_module_parse(r.arena, all, strlen(all), r.diag);
    if (r.module && !kc_module_verify(r.module, KC_LEVEL_COMPOSITE, r.diag)) {
        kc_arena *ignored = kc_arena_create();
        kc_diag *again = kc_diag_create(ignored, "test", all, strlen(all));
        if (kc_module_verify(r.module, KC_LEVEL_TENSOR, again))
            r.diag = kc_diag_create(r.arena, "test", all, strlen(all));
        kc_arena_destroy(ignored);
    }
    if (kc_diag_errors(r.diag)) kc_diag_print(r.diag, stderr);
    assert_int_equal(kc_diag_errors(r.diag), 0);
    return r;
}

static inline int64_t fill_shape(int64_t *shape, int rank, va_list args) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= shape[d] = va_arg(args, int);
    return n;
}

static inline void add_input(runner *r, kc_dtype type, const double *values, int rank, ...) {
    va_list args;
    va_start(args, rank);
    int64_t *shape = r->in_shape[r->n_in], n = fill_shape(shape, rank, args);
    va_end(args);
    char *data = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    for (int64_t i = 0; i < n; i++)
        kc_dtype_put(type, data, i, values[i]);
    r->in[r->n_in++] = (kc_interp_array){type, rank, shape, NULL, data};
}

static inline int add_output(runner *r, kc_dtype type, int rank, ...) {
    va_list args;
    va_start(args, rank);
    int64_t *shape = r->out_shape[r->n_out], n = fill_shape(shape, rank, args);
    va_end(args);
    r->values[r->n_out] = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    r->bounds[r->n_out] = kc_arena_alloc(r->arena, (size_t)(n + 1) * 8);
    r->out[r->n_out] =
        (kc_interp_array){type, rank, shape, NULL, kc_arena_alloc(r->arena, (size_t)(n + 1) * 8)};
    return r->n_out++;
}

static inline bool try_run(runner *r) {
    kc_interp_call call = {.inputs = r->in,
                           .n_inputs = r->n_in,
                           .outputs = r->out,
                           .n_outputs = r->n_out,
                           .values = r->values,
                           .bounds = r->bounds,
                           .symbols = r->symbols,
                           .n_symbols = r->n_symbols,
                           .max_bytes = r->max_bytes};
    bool ok = kc_interp_run(kc_func_find(r->module, "f"), &call, r->diag);
    r->clamped = call.clamped;
    return ok;
}

static inline void run(runner *r) {
    bool ok = try_run(r);
    if (!ok) kc_diag_print(r->diag, stderr);
    assert_true(ok);
}

static inline void end(runner *r) {
    kc_arena_destroy(r->arena);
}

// The error that a failing run reports.
static inline void expect_error(runner *r, const char *part) {
    assert_false(try_run(r));
    expect_report(r->diag, part);
    end(r);
}

static inline double stored(const runner *r, int output, int64_t i) {
    kc_dtype type = r->out[output].type;
    return kc_dtype_get(type, r->out[output].data, i);
}

// ---- comparing ----------------------------------------------------------------------------------

// The rule of the whole project.
static inline bool passes(double got, double value, double bound, kc_dtype type) {
    if (isinf(bound) || got == value || (isnan(got) && isnan(value))) return true;
    if (got == kc_dtype_represent(type, value)) return true;
    return fabs(got - value) <=
           bound + (kc_dtype_is_float(type) ? kc_dtype_ulp(type, value) / 2 : 0);
}

static inline void expect_number(const char *what, int i, double got, double expected,
                                 double relative) {
    bool same = got == expected || (isnan(got) && isnan(expected)) ||
                fabs(got - expected) <= relative * fabs(expected);
    if (relative > 0 && got == 0 && fabs(expected) < 1e-41) same = true; // 1 / infinity
    if (!same) fprintf(stderr, "%s, element %d: %.17g, expected %.17g\n", what, i, got, expected);
    assert_true(same);
}

// What f32 can hold of a value that NumPy gave in double.
static inline double in_f32(double x) {
    return fabs(x) >= 0x1.ffffffp127 ? copysign(INFINITY, x) : x;
}

static inline void expect_values(const runner *r, int output, const char *what,
                                 const double *expected, int n) {
    for (int i = 0; i < n; i++)
        expect_number(what, i, r->values[output][i], expected[i], 1e-13);
}

#endif
