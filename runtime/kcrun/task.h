// One run: the function on a device, its arguments in host memory, and where they are on the
// device.
#ifndef KCRUN_TASK_H
#define KCRUN_TASK_H

#include "runtime/kcrt_device.h"
#include "runtime/kcrun/array.h"
#include "runtime/kcrun/options.h"
#include "runtime/manifest.h"

typedef struct {
    kcrt_device *device;
    kcrt_module *module;
    kcrt_function *function;
} session;

typedef struct {
    kcrt_arg_info info;
    kc_dtype type;
    spec from;                      // inputs
    array host;                     // inputs: the values; outputs: the results, dense
    array before;                   // inouts: the old contents, once `host` has the new ones
    int64_t strides[KCRT_MAX_RANK]; // in elements, on the device
    size_t span;                    // bytes from the first element to past the last, on the device
} argument;

static inline bool kcrun_is_input(const argument *arg) {
    return !arg->info.is_output || arg->info.is_inout;
}

// What an input, or an inout before the launch, holds.
static inline const array *kcrun_contents(const argument *arg) {
    return arg->before.data ? &arg->before : &arg->host;
}

typedef struct {
    const options *options;
    session on;
    bool simulated; // counts and finds: its buffers have no guard zones
    argument args[KCRT_MAX_ARGS];
    int arg_count;
    int64_t values[2 * KCRT_MAX_NAMES];
    unsigned char known[2 * KCRT_MAX_NAMES];
    int symbol_count;
} task;

// Messages: "PROGRAM: error: TEXT". Both return false.
bool kcrun_task_error(const task *, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool kcrun_task_fail(const task *); // kcrt_last_error
void kcrun_task_note(const task *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// device.c
bool kcrun_session_open(const task *, const char *device, session *out);
void kcrun_session_close(session *);
bool kcrun_device_choose(const task *, char *name, size_t size); // the default of --device

// inputs.c: reads --input and --dim, decides all shapes, fills the inputs.
bool kcrun_inputs_prepare(task *);

// inputs.c: room in `host` for the results; an inout's old contents go to `before`.
bool kcrun_make_room(const task *, argument *);

// execute.c: copies in, launches, waits, copies out; frees device memory in any case.
bool kcrun_task_execute(task *);
// The same inputs on `ref`: dense outputs as doubles before rounding, and bounds; lists by
// argument, entries owned by the caller. Integer outputs also in `exact`.
bool kcrun_task_reference(const task *, const session *ref, double **values, double **bounds,
                          array *exact);

// check.c: true when every output is within its bound. Prints what it found.
typedef struct {
    const char *output;
    double worst;
    size_t wrong, index;
    double got, want, bound;
} check_result;
bool kcrun_check_outputs(const task *, check_result *results, int *count);

// report.c
bool kcrun_outputs_deliver(const task *, const check_result *,
                           int checked); // files, or a summary on stdout
bool kcrun_counters_deliver(const task *, bool *findings);

#endif
