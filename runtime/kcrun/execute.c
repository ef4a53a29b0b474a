// The run itself: inputs to the device, the launch, outputs back.
//
// On a real device every buffer lies between guard zones, and outputs start as a pattern that is a
// NaN in every float type: what is written outside, or not written inside, shows. On a simulator
// there is neither, because it sees both itself.
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrun/task.h"

#define GUARD_BYTES 4096
#define PATTERN 0xff

typedef struct {
    kcrt_device *device;
    bool guarded;
    void *memory[KCRT_MAX_ARGS];
    DLTensor tensors[KCRT_MAX_ARGS];
    void *pointers[KCRT_MAX_ARGS + KCRT_MAX_NAMES];
    int64_t passed[KCRT_MAX_NAMES];
    int count; // of pointers
} placement;

static size_t guard(const placement *p) {
    return p->guarded ? GUARD_BYTES : 0;
}

static bool place(const task *t, placement *p, int a) {
    const argument *arg = &t->args[a];
    size_t size = arg->span + 2 * guard(p);
    if (kcrt_alloc(p->device, size, &p->memory[a])) return kcrun_task_fail(t);
    p->tensors[a] =
        kcrt_tensor(kcrt_device_dl(p->device), p->memory[a], arg->info.dtype, arg->info.rank,
                    (int64_t *)(uintptr_t)arg->host.shape, (int64_t *)(uintptr_t)arg->strides);
    p->tensors[a].byte_offset = guard(p);
    if (!size || (!kcrun_is_input(arg) && !p->guarded)) return true;
    unsigned char *bytes = malloc(size);
    if (!bytes) return kcrun_task_error(t, "Not enough memory.");
    memset(bytes, PATTERN, size);
    if (kcrun_is_input(arg))
        kcrun_array_spread(kcrun_contents(arg), arg->strides, bytes + guard(p));
    kcrt_status status = kcrt_copy((kcrt_place){p->device, p->memory[a], 0},
                                   (kcrt_place){NULL, bytes, 0}, size, NULL);
    free(bytes);
    return status ? kcrun_task_fail(t) : true;
}

static bool place_all(const task *t, placement *p) {
    for (int a = 0; a < t->arg_count; a++) {
        p->pointers[p->count++] =
            t->args[a].info.is_scalar ? t->args[a].host.data : (void *)&p->tensors[a];
        if (!t->args[a].info.is_scalar && !place(t, p, a)) return false;
    }
    for (int s = 0, n = 0; s < t->symbol_count; s++) {
        kcrt_symbol_info info;
        if (kcrt_function_symbol(t->on.function, s, &info)) return kcrun_task_fail(t);
        if (!info.is_passed) continue;
        p->passed[n] = t->values[s];
        p->pointers[p->count++] = &p->passed[n++];
    }
    return true;
}

static void release(const task *t, placement *p) {
    for (int a = 0; a < t->arg_count; a++)
        kcrt_free(p->device, p->memory[a]);
}

static bool guards_intact(const task *t, const argument *arg, const unsigned char *bytes,
                          const placement *p) {
    for (size_t i = 0; i < guard(p); i++)
        if (bytes[i] != PATTERN || bytes[guard(p) + arg->span + i] != PATTERN)
            return kcrun_task_error(t, "The kernel wrote outside `%s`.", arg->info.name);
    return true;
}

static bool fetch(task *t, const placement *p, int a) {
    argument *arg = &t->args[a];
    size_t size = arg->span + 2 * guard(p);
    if (!size) return true;
    unsigned char *bytes = malloc(size);
    if (!bytes) return kcrun_task_error(t, "Not enough memory.");
    bool good = !kcrt_copy((kcrt_place){NULL, bytes, 0}, (kcrt_place){p->device, p->memory[a], 0},
                           size, NULL);
    if (!good) kcrun_task_fail(t);
    else good = guards_intact(t, arg, bytes, p);
    if (good && arg->info.is_output) good = kcrun_make_room(t, arg);
    if (good && arg->info.is_output)
        kcrun_array_collect(&arg->host, arg->strides, bytes + guard(p));
    free(bytes);
    return good;
}

// Stride names that nobody gave were taken as of dense arrays; that may be what a launch refuses.
static bool refused(const task *t) {
    kcrun_task_fail(t);
    for (int s = 0; s < t->symbol_count; s++) {
        kcrt_symbol_info info;
        if (kcrt_function_symbol(t->on.function, s, &info) || !info.is_stride ||
            kcrun_options_find(t->options->dims, t->options->dim_count, info.name))
            continue;
        kcrun_task_note(t, "The stride %s was taken as %lld; --dim %s=VALUE gives another.",
                        info.name, (long long)t->values[s], info.name);
    }
    return false;
}

bool kcrun_task_execute(task *t) {
    placement p = {.device = t->on.device, .guarded = !t->simulated};
    bool good = place_all(t, &p);
    if (good && kcrt_launch(t->on.function, NULL, p.pointers, p.count, NULL, 0)) good = refused(t);
    if (good && kcrt_device_sync(t->on.device)) good = kcrun_task_fail(t);
    for (int a = 0; a < t->arg_count && good; a++)
        if (!t->args[a].info.is_scalar && (t->args[a].info.is_output || p.guarded))
            good = fetch(t, &p, a);
    release(t, &p);
    return good;
}

static bool fetch_exact(const task *t, const placement *p, int a, array *exact) {
    char error[ERROR_SIZE];
    const argument *arg = &t->args[a];
    if (!kcrun_array_make(exact, arg->type, arg->info.rank, arg->host.shape, error))
        return kcrun_task_error(t, "%s: %s.", arg->info.name, error);
    unsigned char *bytes = malloc(arg->span ? arg->span : 1);
    if (!bytes) return kcrun_task_error(t, "Not enough memory.");
    bool good =
        !arg->span || !kcrt_copy((kcrt_place){NULL, bytes, 0},
                                 (kcrt_place){p->device, p->memory[a], guard(p)}, arg->span, NULL);
    if (good) kcrun_array_collect(exact, arg->strides, bytes);
    free(bytes);
    return good ? true : kcrun_task_fail(t);
}

bool kcrun_task_reference(const task *t, const session *ref, double **values, double **bounds,
                          array *exact) {
    placement p = {.device = ref->device, .guarded = true};
    bool good = place_all(t, &p);
    for (int a = 0; a < t->arg_count && good; a++) {
        if (!t->args[a].info.is_output) continue;
        size_t n = t->args[a].host.count;
        values[a] = calloc(n ? n : 1, sizeof(double));
        bounds[a] = calloc(n ? n : 1, sizeof(double));
        if (!values[a] || !bounds[a]) good = kcrun_task_error(t, "Not enough memory.");
    }
    if (good && kcrt_launch_bounded(ref->function, NULL, p.pointers, p.count, values, bounds))
        good = kcrun_task_fail(t);
    for (int a = 0; a < t->arg_count && good; a++)
        if (t->args[a].info.is_output) good = fetch_exact(t, &p, a, &exact[a]);
    release(t, &p);
    return good;
}
