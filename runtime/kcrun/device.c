// Opening the package on a device, and which device when none is named.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrun/task.h"
#include "runtime/object.h"

static void say(const task *t, const char *what, const char *format, va_list args) {
    fprintf(stderr, "%s: %s: ", t->options->program, what);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

bool kcrun_task_error(const task *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(t, "error", format, args);
    va_end(args);
    return false;
}

void kcrun_task_note(const task *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(t, "note", format, args);
    va_end(args);
}

bool kcrun_task_fail(const task *t) {
    return kcrun_task_error(t, "%s", kcrt_last_error());
}

// Only the function that is wanted is loaded: others may have no image for this device.
bool kcrun_session_open(const task *t, const char *device, session *out) {
    kcrt_load_options lazy = {.size = sizeof lazy, .lazy = 1};
    *out = (session){0};
    if (kcrt_device_open(device, &out->device)) return kcrun_task_fail(t);
    if (kcrt_module_load_file(out->device, t->options->package, &lazy, &out->module))
        return kcrun_task_fail(t);
    if (kcrt_function_get(out->module, t->options->function, &out->function))
        return kcrun_task_fail(t);
    return true;
}

void kcrun_session_close(session *s) {
    kcrt_module_unload(s->module);
    kcrt_device_close(s->device);
    *s = (session){0};
}

// ---- The default --------------------------------------------------------------------------------

static bool suits(kcrt_device *device, const kcrt_package *package) {
    const char *reason;
    for (int i = 1; i < package->count; i++) {
        const kcrt_entry *e = &package->entries[i];
        if (device->api->rank(device->handle, e->triple, e->arch, e->role, &reason) > 0)
            return true;
    }
    return false;
}

static bool find_gpu(const kcrt_package *package, char *name, size_t size) {
    static const char *const kinds[] = {"cuda", "hip"};
    for (int k = 0; k < 2; k++) {
        int count = 0;
        if (kcrt_device_count(kinds[k], &count)) continue;
        for (int i = 0; i < count; i++) {
            kcrt_device *device;
            snprintf(name, size, "%s:%d", kinds[k], i);
            if (kcrt_device_open(name, &device)) continue;
            bool good = suits(device, package);
            kcrt_device_close(device);
            if (good) return true;
        }
    }
    return false;
}

static bool find_simulator(const kcrt_package *package, char *name, size_t size) {
    for (int i = 1; i < package->count; i++) {
        const kcrt_entry *e = &package->entries[i];
        if (!strcmp(e->triple, "cuda") || !strcmp(e->triple, "hip")) {
            snprintf(name, size, "%s-sim:%.40s", e->triple, e->arch);
            return true;
        }
    }
    snprintf(name, size, "ref");
    return package->count > 1;
}

bool kcrun_device_choose(const task *t, char *name, size_t size) {
    kcrt_arena arena = {0};
    kcrt_package package;
    void *bytes;
    size_t n;
    if (kcrt_file_read(t->options->package, KCRT_MAX_PACKAGE_BYTES, &bytes, &n))
        return kcrun_task_fail(t);
    bool good = !kcrt_package_read(&arena, t->options->package, bytes, n, &package);
    if (!good) kcrun_task_fail(t);
    else if (!find_gpu(&package, name, size) && !find_simulator(&package, name, size))
        good = kcrun_task_error(t, "%s has no images.", t->options->package);
    kcrt_arena_release(&arena);
    free(bytes);
    return good;
}
