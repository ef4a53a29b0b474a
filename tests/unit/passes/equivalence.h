// Runs one function before and after each pass, and compares: for test_equivalence.c and
// test_random.c, which include it once. The reference interpreter runs it as written; after each
// pass the fitting interpreter runs what the pass left, in every variant that holds. Results lie
// within the reference's error bound. A case runs in a process of its own, so that a fault inside a
// pass is a failure of that case.
#ifndef KC_TESTS_EQUIVALENCE_H
#define KC_TESTS_EQUIVALENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/interp.h"
#include "ir/tile_interp.h"
#include "passes/pass.h"

enum { MAX_ARGS = 8, MAX_DIMS = 8 };

typedef struct {
    kc_interp_array array;
    int64_t shape[KC_MAX_RANK], strides[KC_MAX_RANK];
    int64_t n, cells; // elements; elements of memory, gaps included
    char *memory;
    double *values, *bounds; // of outputs
    char *allocated;
} argument;

typedef struct {
    const char *name, *text; // of a module without its first line, with a function @f
    const char *target;
    kc_arena *arena;
    kc_diag *diag;
    char dims[80];
    bool general;    // bases are aligned to one element
    bool may_refuse; // a schedule that cannot be met is an error, not a failure
    kc_interp_symbol symbols[MAX_DIMS];
    int n_symbols;
    argument in[MAX_ARGS], out[MAX_ARGS];
    int n_in, n_out;
    int failures;
} testcase;

// ---- arguments ----------------------------------------------------------------------------------

static uint64_t seed;

static double uniform(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-53;
}

static double about_normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform();
    return sum;
}

static double element(const char *name, kc_dtype type) {
    double quarter = floor(uniform() * 17) / 4 - 2;
    if (name[0] == 'k') return floor(uniform() * 9) - 2;
    if (type == KC_bool) return uniform() < 0.5;
    if (type == KC_f8e8m0) return exp2(floor(uniform() * 9) - 4);
    if (!kc_dtype_is_float(type)) return floor(uniform() * 19) - (type == KC_u8 ? 0 : 9);
    if (name[0] == 'z') return quarter;
    if (name[0] == 'p') return exp(about_normal());
    if (name[0] != 'q') return about_normal();
    double choice = uniform();
    return choice < 0.02 ? NAN : choice < 0.04 ? INFINITY : choice < 0.06 ? -INFINITY : quarter;
}

static int64_t evaluate(const testcase *t, kc_expr_pool *pool, const kc_expr *e) {
    int64_t values[64] = {0}, result = 0;
    for (int i = 0; i < kc_expr_symbol_count(pool); i++)
        for (int k = 0; k < t->n_symbols; k++)
            if (!strcmp(kc_expr_symbol_name(pool, i), t->symbols[k].name))
                values[i] = t->symbols[k].value;
    assert_int_equal(kc_expr_eval(e, values, NULL, &result), KC_EXPR_OK);
    return result;
}

// `aligned`: also where base addresses are not.
static argument make_argument(const testcase *t, kc_expr_pool *pool, const kc_type *type,
                              bool aligned) {
    argument a = {.n = 1, .cells = 1};
    for (int d = type->rank - 1; d >= 0; d--) {
        a.shape[d] = evaluate(t, pool, type->shape[d]);
        a.strides[d] = type->strides[0] ? evaluate(t, pool, type->strides[d]) : a.n;
        a.n *= a.shape[d];
    }
    for (int d = 0; d < type->rank; d++)
        if (a.shape[d] > 0) a.cells += (a.shape[d] - 1) * a.strides[d];
    size_t size = (size_t)kc_dtype_unit(type->elem);
    size_t bytes = (size_t)kc_dtype_size(type->elem, a.cells) + 512;
    char *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(memory, 0xff, (bytes + 255) / 256 * 256);
    a.allocated = memory;
    a.memory = memory + (t->general && !aligned ? size : 0);
    a.values = calloc((size_t)a.n + 1, sizeof(double));
    a.bounds = calloc((size_t)a.n + 1, sizeof(double));
    a.array = (kc_interp_array){type->elem, type->rank, NULL, NULL, a.memory};
    return a;
}

static void settle_pointers(argument *a, bool strided) {
    a->array.shape = a->shape;
    a->array.strides = strided ? a->strides : NULL;
}

static void make_arguments(testcase *t, const kc_op *func) {
    const kc_output *outputs;
    t->n_out = kc_func_outputs(func, &outputs);
    t->n_in = func->body->n_args;
    for (int i = 0; i < t->n_in; i++) {
        const kc_value *arg = func->body->args[i];
        t->in[i] = make_argument(t, func->pool, &arg->type, kc_constant_hash(arg));
        settle_pointers(&t->in[i], arg->type.strides[0]);
        for (int64_t k = 0; k < t->in[i].cells && t->in[i].n; k++)
            kc_dtype_put(arg->type.elem, t->in[i].memory, k, element(arg->name, arg->type.elem));
    }
    for (int i = 0; i < t->n_out; i++) {
        t->out[i] = make_argument(t, func->pool, &outputs[i].type, false);
        settle_pointers(&t->out[i], outputs[i].type.strides[0]);
    }
}

static void free_arguments(testcase *t) {
    for (int i = 0; i < t->n_in + t->n_out; i++) {
        argument *a = i < t->n_in ? &t->in[i] : &t->out[i - t->n_in];
        free(a->allocated);
        free(a->values);
        free(a->bounds);
    }
}

// Memory as a run sees it: an output that may occupy an input does.
typedef struct {
    kc_interp_array in[MAX_ARGS], out[MAX_ARGS];
    char *saved[MAX_ARGS]; // what an aliased input held
    const argument *aliased[MAX_ARGS];
} run_arrays;

static size_t bytes_of(const argument *a) {
    return (size_t)kc_dtype_size(a->array.type, a->cells);
}

static void begin_run(testcase *t, const kc_op *func, run_arrays *r) {
    const kc_output *outputs;
    kc_func_outputs(func, &outputs);
    memset(r, 0, sizeof *r);
    for (int i = 0; i < t->n_in; i++)
        r->in[i] = t->in[i].array;
    for (int i = 0; i < t->n_out; i++) {
        r->out[i] = t->out[i].array;
        memset(r->out[i].data, 0xff, bytes_of(&t->out[i]));
        for (int k = 0; outputs[i].alias && k < t->n_in; k++) {
            if (strcmp(outputs[i].alias, func->body->args[k]->name)) continue;
            r->aliased[i] = &t->in[k];
            r->saved[i] = malloc(bytes_of(&t->in[k]) + 1);
            memcpy(r->saved[i], t->in[k].memory, bytes_of(&t->in[k]));
            r->out[i].data = t->in[k].memory;
        }
    }
}

static void end_run(testcase *t, run_arrays *r) {
    for (int i = 0; i < t->n_out; i++) {
        if (!r->saved[i]) continue;
        memcpy(t->out[i].memory, r->aliased[i]->memory, bytes_of(r->aliased[i]));
        memcpy(r->aliased[i]->memory, r->saved[i], bytes_of(r->aliased[i]));
        free(r->saved[i]);
    }
}

// ---- comparing ----------------------------------------------------------------------------------

static void fail_case(testcase *t, const char *after, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail_case(testcase *t, const char *after, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s {%s}%s after %s: ", t->name, t->dims, t->general ? " [general]" : "",
            after);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    t->failures++;
}

static bool close_enough(double got, double value, double bound, kc_dtype type) {
    if (isinf(bound) || got == value || (isnan(got) && isnan(value))) return true;
    if (got == kc_dtype_represent(type, value)) return true;
    double half_ulp = kc_dtype_is_float(type) ? kc_dtype_ulp(type, value) / 2 : 0;
    return fabs(got - value) <= bound + half_ulp;
}

static void compare(testcase *t, const char *after) {
    for (int i = 0; i < t->n_out; i++) {
        const argument *a = &t->out[i];
        int64_t c[KC_MAX_RANK] = {0};
        for (int64_t k = 0; k < a->n; k++) {
            int64_t at = 0;
            for (int d = 0; d < a->array.rank; d++)
                at += c[d] * a->strides[d];
            double got = kc_dtype_get(a->array.type, a->memory, at);
            if (!close_enough(got, a->values[k], a->bounds[k], a->array.type)) {
                fail_case(t, after, "output %d, element %lld is %.9g, expected %.9g within %.3g", i,
                          (long long)k, got, a->values[k], a->bounds[k]);
                return;
            }
            for (int d = a->array.rank - 1; d >= 0 && ++c[d] == a->shape[d]; d--)
                c[d] = 0;
        }
    }
}

// ---- running ------------------------------------------------------------------------------------

static void print_diagnostics(testcase *t, const char *after) {
    if (!kc_diag_errors(t->diag)) return;
    fail_case(t, after, "diagnostics:");
    kc_diag_print(t->diag, stderr);
    t->diag = kc_diag_create(t->arena, t->name, NULL, 0);
}

static void run_reference(testcase *t, const kc_op *func, const char *after, bool first) {
    run_arrays r;
    double *values[MAX_ARGS], *bounds[MAX_ARGS];
    begin_run(t, func, &r);
    for (int i = 0; i < t->n_out; i++)
        values[i] = t->out[i].values, bounds[i] = t->out[i].bounds;
    kc_interp_call call = {.inputs = r.in,
                           .n_inputs = t->n_in,
                           .outputs = r.out,
                           .n_outputs = t->n_out,
                           .symbols = t->symbols,
                           .n_symbols = t->n_symbols,
                           .values = first ? values : NULL,
                           .bounds = first ? bounds : NULL};
    bool ok = kc_interp_run(func, &call, t->diag);
    end_run(t, &r);
    if (ok) compare(t, after);
    print_diagnostics(t, after);
}

static void run_variants(testcase *t, const kc_module *module, const char *pass) {
    const kc_op *func = kc_func_find(module, "f");
    int variants = 0, ran = 0;
    for (const kc_op *op = func->body->first; op; op = op->next)
        variants += op->code == KC_OP_VARIANT;
    for (int v = 0; v < variants; v++) {
        run_arrays r;
        char after[64];
        snprintf(after, sizeof after, "%s, variant %d", pass, v);
        begin_run(t, func, &r);
        kc_tile_call call = {.inputs = r.in,
                             .n_inputs = t->n_in,
                             .outputs = r.out,
                             .n_outputs = t->n_out,
                             .symbols = t->symbols,
                             .n_symbols = t->n_symbols,
                             .variant = v};
        bool ok = kc_tile_run(module, "f", &call, t->diag);
        end_run(t, &r);
        if (ok && call.ran == v) compare(t, after), ran++;
        print_diagnostics(t, after);
    }
    if (!ran && !t->failures) fail_case(t, pass, "no variant holds");
}

static bool has_variants(const kc_op *func) {
    for (const kc_op *op = func->body->first; op; op = op->next)
        if (op->code == KC_OP_VARIANT) return true;
    return false;
}

static kc_module *parse(testcase *t) {
    char *text = kc_arena_printf(t->arena, "module @m {target = \"%s\"}\n%s", t->target, t->text);
    kc_module *module = kc_module_parse(t->arena, text, strlen(text), t->diag);
    if (module) kc_module_verify(module, KC_LEVEL_COMPOSITE, t->diag);
    print_diagnostics(t, "parsing");
    return module;
}

static void run_passes(testcase *t, kc_module *module, const kc_target *target) {
    for (const kc_pass *const *p = kc_pipeline; *p && !t->failures; p++) {
        kc_pass_context context = {
            .module = module, .target = target, .diag = t->diag, .scratch = kc_arena_create()};
        if (getenv("KC_TEST_VERBOSE"))
            fprintf(stderr, "%s {%s}: %s\n", t->name, t->dims, (*p)->name);
        bool ran = (*p)->run(&context),
             ok = ran && kc_module_verify(module, (*p)->level_out, t->diag);
        kc_arena_destroy(context.scratch);
        if (!ran && t->may_refuse && kc_diag_errors(t->diag)) return;
        if (!ok) {
            print_diagnostics(t, (*p)->name);
            return;
        }
        const kc_op *func = kc_func_find(module, "f");
        if (has_variants(func)) run_variants(t, module, (*p)->name);
        else run_reference(t, func, (*p)->name, false);
    }
}

static int run_case(testcase *t, kc_arena *arena) {
    const char *error = NULL;
    t->arena = arena;
    t->diag = kc_diag_create(arena, t->name, NULL, 0);
    seed = 0x9E3779B97F4A7C15u;
    kc_module *module = parse(t);
    const kc_target *target = kc_target_parse_one(arena, t->target, &error);
    if (!module || !target || t->failures) return 1;
    make_arguments(t, kc_func_find(module, "f"));
    run_reference(t, kc_func_find(module, "f"), "nothing", true);
    if (!t->failures) run_passes(t, module, target);
    free_arguments(t);
    return t->failures;
}

// ---- cases --------------------------------------------------------------------------------------

// "M=3,N=5 [general]"
static void read_dims(testcase *t, const char *text, size_t length) {
    const char *mark = memchr(text, '[', length);
    t->general = mark != NULL;
    if (mark) length = (size_t)(mark - text);
    snprintf(t->dims, sizeof t->dims, "%.*s", (int)length, text);
    static char names[MAX_DIMS][16];
    for (const char *at = t->dims; *at; at += strcspn(at, ","), at += *at == ',') {
        long long value;
        if (sscanf(at, " %15[A-Za-z]=%lld", names[t->n_symbols], &value) != 2) break;
        t->symbols[t->n_symbols] = (kc_interp_symbol){names[t->n_symbols], value};
        t->n_symbols++;
    }
}

// 0: it holds.
static int run_in_child(const char *name, const char *text, const char *target, const char *dims,
                        size_t length) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        kc_arena *arena = kc_arena_create();
        testcase t = {.name = name,
                      .text = text,
                      .target = target,
                      .may_refuse = strstr(text, "schedule {") != NULL};
        setrlimit(RLIMIT_CPU, &(struct rlimit){120, 120}); // sanitized code too has time enough
        read_dims(&t, dims, length);
        int failures = run_case(&t, arena);
        kc_arena_destroy(arena);
        _exit(failures ? 1 : 0);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
    if (!WIFEXITED(status))
        fprintf(stderr, "%s {%.*s} for %s: a pass or an interpreter died of signal %d\n", name,
                (int)length, dims, target, WTERMSIG(status));
    return status != 0;
}

#endif
