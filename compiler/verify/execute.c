// In a worker: the cases on the simulator, one after the other. kcrun's parts fill arrays and compare with the reference;
// placing tensors is done here, because alignment and shared memory are what is tried.
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/verify/verify.h"
#include "runtime/kcrun/task.h"

enum { BASE_ALIGNMENT = 256, SMALL_INTEGERS = 4 };

typedef struct {
    task *task;
    const kcrt_signature *f;
    const kcrt_target *target;
    int out;
    uint64_t seed;
    int64_t device_values[KCRT_DEVICE_SYMBOLS];
    char problem[600]; // of the running case
} runner;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void tell(int out, const char *format, ...) {
    char line[1200];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (n >= (int)sizeof line - 1) n = (int)sizeof line - 2;
    for (int i = 0; i < n; i++)
        if (line[i] == '\n') line[i] = ' ';
    line[n] = '\n';
    if (write(out, line, (size_t)n + 1) < 0) _exit(3);
}

static bool fail(runner *r, const char *text) {
    if (!r->problem[0]) snprintf(r->problem, sizeof r->problem, "%s", text);
    return false;
}

// ---- inputs ------------------------------------------------------------------------------------------------------------

static bool describe(runner *r, const kc_verify_case *c) {
    task *t = r->task;
    t->arg_count = r->f->arg_count;
    t->symbol_count = r->f->dim_count + r->f->stride_count;
    for (int s = 0; s < t->symbol_count; s++) {
        t->values[s] = c->values[s];
        t->known[s] = 1;
    }
    for (int a = 0; a < t->arg_count; a++) {
        argument *arg = &t->args[a];
        if (kcrt_function_arg(t->on.function, a, &arg->info)) return fail(r, kcrt_last_error());
        arg->type = kc_dtype_find(arg->info.type, strlen(arg->info.type));
    }
    return true;
}

static void fill_integers(array *a, uint64_t state) {
    for (size_t i = 0; i < a->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t v = (int64_t)(state >> 33) % (2 * SMALL_INTEGERS + 1);
        bool positive = a->type == KC_u8 || a->type == KC_bool;
        if (!positive) v -= SMALL_INTEGERS;
        if (kc_dtype_is_float(a->type)) kc_dtype_store(a->type, array_at(a, i), (double)v);
        else kc_dtype_store_i64(a->type, array_at(a, i), v);
    }
}

static bool fill(runner *r, argument *arg, int index, const kc_verify_case *c) {
    char error[ERROR_SIZE];
    if (c->fill == 2) {
        fill_integers(&arg->host, r->seed * 1000003u + (uint64_t)index + 1);
        return true;
    }
    spec s = {.fill = c->fill ? FILL_UNIFORM : FILL_NORMAL};
    return kcrun_spec_fill(&s, &arg->host, r->seed, (uint64_t)index, error) ? true : fail(r, error);
}

static bool prepare(runner *r, int a, const kc_verify_case *c) {
    char error[ERROR_SIZE];
    argument *arg = &r->task->args[a];
    int64_t shape[KCRT_MAX_RANK] = {0}, last = 0;
    bool scalar = arg->info.is_scalar;
    if (!scalar && kcrt_function_shape(r->task->on.function, a, r->task->values, r->task->known, shape, arg->strides))
        return fail(r, kcrt_last_error());
    if (!kcrun_array_make(&arg->host, arg->type, scalar ? 0 : arg->info.rank, shape, error)) return fail(r, error);
    for (int d = 0; d < arg->info.rank && arg->host.count; d++) last += (shape[d] - 1) * arg->strides[d];
    arg->span = arg->host.count ? (size_t)(last + 1) * (size_t)kc_dtype_bytes(arg->type) : 0;
    return arg->info.is_output || fill(r, arg, a, c);
}

// ---- memory ------------------------------------------------------------------------------------------------------------

typedef struct {
    void *memory[KCRT_MAX_ARGS];
    size_t offset[KCRT_MAX_ARGS];
    DLTensor tensors[KCRT_MAX_ARGS];
    void *pointers[KCRT_MAX_ARGS + KCRT_MAX_NAMES];
    int n;
} placement;

static size_t offset_of(const argument *arg, const kc_verify_case *c) {
    return c->misaligned ? (size_t)kc_dtype_bytes(arg->type) : 0;
}

// Copies between the dense host array and the strided bytes.
static void move(const argument *arg, char *strided, bool in) {
    size_t bytes = (size_t)kc_dtype_bytes(arg->type);
    for (size_t i = 0; i < arg->host.count; i++) {
        size_t rest = i;
        int64_t at = 0;
        for (int d = arg->info.rank - 1; d >= 0; d--) {
            at += (int64_t)(rest % (size_t)arg->host.shape[d]) * arg->strides[d];
            rest /= (size_t)arg->host.shape[d];
        }
        char *there = strided + (size_t)at * bytes, *here = array_at(&arg->host, i);
        memcpy(in ? there : here, in ? here : there, bytes);
    }
}

static bool upload(runner *r, const argument *arg, void *base, size_t offset) {
    char *bytes = calloc(arg->span ? arg->span : 1, 1);
    if (!bytes) return fail(r, "not enough memory");
    move(arg, bytes, true);
    kcrt_status status = kcrt_copy((kcrt_place){r->task->on.device, base, offset}, (kcrt_place){NULL, bytes, 0}, arg->span, NULL);
    free(bytes);
    return status ? fail(r, kcrt_last_error()) : true;
}

// The input whose memory output `a` takes over; -1: none.
static int shared_with(const runner *r, int a, const kc_verify_case *c) {
    int input = r->f->args[a].alias;
    if (!c->in_place || input < 0 || r->f->args[input].is_scalar) return -1;
    const argument *x = &r->task->args[a], *y = &r->task->args[input];
    bool same = x->type == y->type && x->info.rank == y->info.rank && x->host.count == y->host.count && x->span == y->span;
    for (int d = 0; same && d < x->info.rank; d++) same = x->host.shape[d] == y->host.shape[d] && x->strides[d] == y->strides[d];
    return same ? input : -1;
}

static bool place(runner *r, placement *p, int a, const kc_verify_case *c) {
    argument *arg = &r->task->args[a];
    kcrt_device *device = r->task->on.device;
    int shared = arg->info.is_output ? shared_with(r, a, c) : -1;
    p->offset[a] = offset_of(arg, c);
    if (shared < 0 && kcrt_alloc(device, arg->span ? arg->span + p->offset[a] : 0, &p->memory[a])) return fail(r, kcrt_last_error());
    void *base = shared < 0 ? p->memory[a] : p->memory[shared];
    p->tensors[a] = kcrt_tensor(kcrt_device_dl(device), base, arg->info.dtype, arg->info.rank, arg->host.shape, arg->strides);
    p->tensors[a].byte_offset = arg->span ? p->offset[a] : 0;
    return arg->info.is_output || !arg->span || upload(r, arg, base, p->offset[a]);
}

static bool place_all(runner *r, placement *p, const kc_verify_case *c) {
    for (int a = 0; a < r->task->arg_count; a++) {
        bool scalar = r->task->args[a].info.is_scalar;
        p->pointers[p->n++] = scalar ? r->task->args[a].host.data : (void *)&p->tensors[a];
        if (!scalar && !place(r, p, a, c)) return false;
    }
    for (int s = 0; s < r->f->dim_count; s++)
        if (r->f->symbols[s].is_passed) p->pointers[p->n++] = &r->task->values[s];
    return true;
}

static bool fetch(runner *r, const placement *p, int a) {
    argument *arg = &r->task->args[a];
    char *bytes = calloc(arg->span ? arg->span : 1, 1);
    if (!bytes) return fail(r, "not enough memory");
    kcrt_status status = !arg->span ? KCRT_OK
                                    : kcrt_copy((kcrt_place){NULL, bytes, 0},
                                                (kcrt_place){r->task->on.device, p->tensors[a].data, p->offset[a]}, arg->span, NULL);
    if (!status) move(arg, bytes, false);
    free(bytes);
    return status ? fail(r, kcrt_last_error()) : true;
}

static bool launch(runner *r, const kc_verify_case *c) {
    placement p = {.n = 0};
    bool ok = place_all(r, &p, c);
    if (ok && (kcrt_launch(r->task->on.function, NULL, p.pointers, p.n, NULL, 0) || kcrt_device_sync(r->task->on.device)))
        ok = fail(r, kcrt_last_error());
    for (int a = 0; a < r->task->arg_count && ok; a++)
        if (r->task->args[a].info.is_output) ok = fetch(r, &p, a);
    for (int a = 0; a < r->task->arg_count; a++) kcrt_free(r->task->on.device, p.memory[a]);
    return ok;
}

// ---- comparison ----------------------------------------------------------------------------------------------------------

static double compare(runner *r) {
    check_result results[KCRT_MAX_ARGS];
    int n = 0;
    double worst = 0;
    if (!kcrun_check_outputs(r->task, results, &n) && !n) fail(r, "the reference cannot compute this");
    for (int i = 0; i < n; i++) {
        const check_result *x = &results[i];
        if (x->worst > worst) worst = x->worst;
        if (!x->wrong || r->problem[0]) continue;
        snprintf(r->problem, sizeof r->problem, "%s: %zu elements wrong, the worst at %zu: got %.9g, want %.9g within %.3g", x->output,
                 x->wrong, x->index, x->got, x->want, x->bound);
    }
    return worst;
}

// ---- which variant -------------------------------------------------------------------------------------------------------

static int64_t alignment_of(const runner *r, int a, const kc_verify_case *c) {
    const argument *arg = &r->task->args[a];
    return arg->span && c->misaligned ? kc_dtype_bytes(arg->type) : BASE_ALIGNMENT;
}

static int choose_variant(const runner *r, const kc_verify_case *c) {
    int64_t values[KCRT_MAX_SYMBOLS] = {0}, holds;
    for (int s = 0; s < r->task->symbol_count; s++) values[s] = c->values[s];
    for (int a = 0; a < r->f->arg_count; a++) values[r->f->align_base + a] = alignment_of(r, a, c);
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++) values[r->f->device_base + i] = r->device_values[i];
    for (int v = 0; v < r->target->variant_count; v++)
        if (!r->target->variants[v].has_when || (!kcrt_term_eval(&r->target->variants[v].when, values, &holds) && holds)) return v;
    return -1;
}

static void describe_case(const runner *r, const kc_verify_case *c, char *text, size_t size) {
    static const char *const fills[] = {"normal", "uniform", "small integers"};
    size_t at = 0;
    text[0] = 0;
    for (int s = 0; s < r->task->symbol_count && at < size; s++)
        at += (size_t)snprintf(text + at, size - at, "%s%s=%lld", s ? " " : "", r->f->symbols[s].name, (long long)c->values[s]);
    if (at < size)
        snprintf(text + at, size - at, "%s%s, %s inputs", c->misaligned ? ", unaligned" : "", c->in_place ? ", in place" : "", fills[c->fill]);
}

// ---- all cases -------------------------------------------------------------------------------------------------------------

static void run_case(runner *r, const kc_verify_case *c) {
    char text[400];
    double worst = 0;
    r->problem[0] = 0;
    bool ok = describe(r, c);
    for (int a = 0; a < r->task->arg_count && ok; a++) ok = prepare(r, a, c);
    int variant = ok ? choose_variant(r, c) : 0;
    describe_case(r, c, text, sizeof text);
    tell(r->out, "case\t%d\t%s", variant, text);
    if (ok && launch(r, c)) worst = compare(r);
    if (isinf(worst)) worst = 1e300; // printf's "inf" would not be read back everywhere
    tell(r->out, "result\t%d\t%.6g\t%s%s%s", variant, worst, r->problem[0] ? text : "", r->problem[0] ? ": " : "", r->problem);
    for (int a = 0; a < r->task->arg_count; a++) kcrun_array_free(&r->task->args[a].host);
}

static void read_device(runner *r) {
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++)
        if (kcrt_device_attr(r->task->on.device, kcrt_device_symbols[i].attr, &r->device_values[i])) r->device_values[i] = 0;
}

static bool can_run(const runner *r, const char *device) {
    session ref;
    kcrt_device *simulator;
    if (kcrt_device_open(device, &simulator)) {
        tell(r->out, "cannot\t%s", kcrt_last_error());
        return false;
    }
    kcrt_device_close(simulator);
    bool ok = r->f->ir >= 0 && kcrun_session_open(r->task, "ref", &ref);
    if (r->f->ir < 0) tell(r->out, "cannot\tthe package has no IR to compare with (it was built with --strip)");
    else if (!ok) tell(r->out, "cannot\tthe reference: %s", kcrt_last_error());
    if (ok) kcrun_session_close(&ref);
    return ok;
}

void kc_verify_execute(const kc_package_file *subset, const char *path, double seconds, uint64_t seed, int out) {
    static task t; // too large for a stack; one a process
    static options o;
    const kcrt_signature *f = &subset->manifest.functions[0];
    const kcrt_target *target = &f->targets[0];
    runner r = {.task = &t, .f = f, .target = target, .out = out, .seed = seed};
    kc_arena *arena = kc_arena_create();
    kc_verify_case *cases;
    const char *device = kc_arena_printf(arena, "%s-sim:%s", target->triple, target->arch);
    double deadline = now() + seconds;
    o.program = "kc verify", o.package = path, o.function = f->name;
    t.options = &o;
    t.simulated = true;
    if (!can_run(&r, device)) return;
    if (!kcrun_session_open(&t, device, &t.on)) {
        tell(out, "broken\t%s", kcrt_last_error());
        return;
    }
    read_device(&r);
    int n = kc_verify_cases(arena, f, target, &cases);
    for (int i = 0; i < n; i++) {
        if (now() > deadline) {
            tell(out, "late");
            break;
        }
        run_case(&r, &cases[i]);
    }
    kcrun_session_close(&t.on);
}
