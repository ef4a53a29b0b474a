#include "runtime/kcrun/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/kcrun/task.h"

static bool is_simulator(const task *t) {
    char *json;
    if (kcrt_device_report(t->on.device, &json)) return false;
    free(json);
    return true;
}

static bool open_device(task *t, options *o, char *name, size_t size) {
    if (!o->device) {
        if (!kcrun_device_choose(t, name, size)) return false;
        o->device = name;
    }
    if (!kcrun_session_open(t, o->device, &t->on)) return false;
    t->simulated = is_simulator(t);
    if (o->has_seed && t->simulated && kcrt_device_set_seed(t->on.device, o->seed))
        return kcrun_task_fail(t);
    return true;
}

// Counters are written after a failed launch too: the findings say why it failed.
static bool run(task *t) {
    check_result results[KCRT_MAX_ARGS];
    int checked = 0;
    bool findings = false;
    if (!kcrun_inputs_prepare(t)) return false;
    bool good = kcrun_task_execute(t);
    good &= kcrun_counters_deliver(t, &findings);
    if (!good) return false;
    bool passed = !t->options->check || kcrun_check_outputs(t, results, &checked);
    good = kcrun_outputs_deliver(t, results, checked);
    if (fflush(stdout)) good = kcrun_task_error(t, "Standard output cannot be written.");
    return good && passed && !findings;
}

int kcrt_run_main(int argc, char **argv) {
    static options o; // too large for a stack; one run a process
    static task t;
    char name[64];
    int status = kcrun_options_parse(argc, argv, &o);
    if (status || o.help) return status;
    t = (task){.options = &o};
    bool good = open_device(&t, &o, name, sizeof name) && run(&t);
    for (int a = 0; a < t.arg_count; a++) {
        kcrun_array_free(&t.args[a].host);
        kcrun_array_free(&t.args[a].before);
    }
    kcrun_session_close(&t.on);
    return good ? 0 : 1;
}
