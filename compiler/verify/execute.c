// In a worker: the cases on the simulator, one after the other. kcrun's parts fill arrays and
// compare with the reference.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compiler/verify/place.h"
#include "compiler/verify/verify.h"

enum { SMALL_INTEGERS = 4 };

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

// ---- inputs -------------------------------------------------------------------------------------

static void fill_integers(array *a, uint64_t state) {
    for (size_t i = 0; i < a->count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int64_t v = (int64_t)(state >> 33) % (2 * SMALL_INTEGERS + 1);
        bool positive = a->type == KC_u8 || a->type == KC_bool || a->type == KC_f8e8m0;
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

static bool prepare(runner *r, const kc_verify_case *c) {
    task *t = r->task;
    const char *error;
    t->symbol_count = r->f->dim_count + r->f->stride_count;
    for (int s = 0; s < t->symbol_count; s++) {
        t->values[s] = c->values[s];
        t->known[s] = 1;
    }
    if (!kc_place_prepare(t, &error)) return fail(r, error);
    for (int a = 0; a < t->arg_count; a++)
        if (kcrun_is_input(&t->args[a]) && !fill(r, &t->args[a], a, c)) return false;
    return true;
}

static bool launch(runner *r, const kc_verify_case *c) {
    task *t = r->task;
    int aliases[KCRT_MAX_ARGS];
    for (int a = 0; a < t->arg_count; a++)
        aliases[a] = r->f->args[a].alias;
    kc_place_wishes wishes = {c->misaligned, c->in_place ? aliases : NULL};
    kc_placement p;
    const char *error = NULL;
    bool ok = kc_place_all(t, &wishes, &p, &error);
    if (ok && (kcrt_launch(t->on.function, NULL, p.pointers, p.n, NULL, 0) ||
               kcrt_device_sync(t->on.device))) {
        ok = false;
        error = kcrt_last_error();
    }
    ok = ok && kc_place_fetch(t, &p, &error);
    if (!ok) fail(r, error);
    kc_place_release(t, &p);
    return ok;
}

// ---- comparison ---------------------------------------------------------------------------------

static double compare(runner *r) {
    check_result results[KCRT_MAX_ARGS];
    int n = 0;
    double worst = 0;
    if (!kcrun_check_outputs(r->task, results, &n) && !n)
        fail(r, "the reference cannot compute this");
    for (int i = 0; i < n; i++) {
        const check_result *x = &results[i];
        if (x->worst > worst) worst = x->worst;
        if (!x->wrong || r->problem[0]) continue;
        snprintf(r->problem, sizeof r->problem,
                 "%s: %zu elements wrong, the worst at %zu: got %.9g, want %.9g within %.3g",
                 x->output, x->wrong, x->index, x->got, x->want, x->bound);
    }
    return worst;
}

// ---- which variant ------------------------------------------------------------------------------

static int64_t alignment_of(const runner *r, int a, const kc_verify_case *c) {
    const argument *arg = &r->task->args[a];
    return arg->span && c->misaligned ? kc_dtype_unit(arg->type) : KC_PLACE_ALIGNMENT;
}

static int choose_variant(const runner *r, const kc_verify_case *c) {
    int64_t alignments[KCRT_MAX_SYMBOLS];
    for (int a = 0; a < r->f->arg_count; a++)
        alignments[a] = alignment_of(r, a, c);
    return kc_verify_variant(r->f, r->target, r->device_values, alignments, c);
}

static void describe_case(const runner *r, const kc_verify_case *c, char *text, size_t size) {
    static const char *const fills[] = {"normal", "uniform", "small integers"};
    size_t at = 0;
    text[0] = 0;
    for (int s = 0; s < r->task->symbol_count && at < size; s++)
        at += (size_t)snprintf(text + at, size - at, "%s%s=%lld", s ? " " : "",
                               r->f->symbols[s].name, (long long)c->values[s]);
    if (at < size)
        snprintf(text + at, size - at, "%s%s, %s inputs", c->misaligned ? ", unaligned" : "",
                 c->in_place ? ", in place" : "", fills[c->fill]);
}

// ---- all cases ----------------------------------------------------------------------------------

static void run_case(runner *r, const kc_verify_case *c) {
    char text[400];
    double worst = 0;
    r->problem[0] = 0;
    bool ok = prepare(r, c);
    int variant = ok ? choose_variant(r, c) : 0;
    describe_case(r, c, text, sizeof text);
    tell(r->out, "case\t%d\t%s", variant, text);
    if (ok && launch(r, c)) worst = compare(r);
    if (isinf(worst)) worst = 1e300; // printf's "inf" would not be read back everywhere
    tell(r->out, "result\t%d\t%.6g\t%s%s%s", variant, worst, r->problem[0] ? text : "",
         r->problem[0] ? ": " : "", r->problem);
    for (int a = 0; a < r->task->arg_count; a++) {
        kcrun_array_free(&r->task->args[a].host);
        kcrun_array_free(&r->task->args[a].before);
    }
}

// A fault stays with the device's context, as on hardware: the next case gets a fresh one.
static bool reopen(runner *r, const char *device) {
    kcrun_session_close(&r->task->on);
    return kcrun_session_open(r->task, device, &r->task->on);
}

static void read_device(runner *r) {
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++)
        if (kcrt_device_attr(r->task->on.device, kcrt_device_symbols[i].attr, &r->device_values[i]))
            r->device_values[i] = 0;
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
    if (r->f->ir < 0)
        tell(r->out, "cannot\tthe package has no IR to compare with (it was built with --strip)");
    else if (!ok) tell(r->out, "cannot\tthe reference: %s", kcrt_last_error());
    if (ok) kcrun_session_close(&ref);
    return ok;
}

void kc_verify_execute(const kc_package_file *subset, const char *path, double seconds,
                       uint64_t seed, int out) {
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
    int n = kc_verify_cases(arena, f, target, r.device_values, &cases);
    for (int i = 0; i < n; i++) {
        if (now() > deadline) {
            tell(out, "late");
            break;
        }
        run_case(&r, &cases[i]);
        if (r.problem[0] && !reopen(&r, device)) break;
    }
    kcrun_session_close(&t.on);
}
