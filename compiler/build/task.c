// Tasks on the pool of workers.
#include "compiler/build/pool.h"
#include "compiler/build/record.h"

enum { DEFAULT_SECONDS = 300 };

typedef struct {
    kc_arena *arena;
    kc_module *module;
    const kc_task_options *options;
    const kc_task *tasks;
    kc_task_result *results;
} batch;

const char *kc_task_name(kc_arena *arena, const kc_task *task) {
    return kc_arena_printf(arena, "%s for %s:%s", task->function ? task->function : "the module",
                           task->target->kind->name, task->target->arch->name);
}

static void work(void *context, int job, int out) {
    batch *b = context;
    kc_task_work(b->module, b->options, &b->tasks[job], out);
}

static void done(void *context, int job, const kc_pool_end *end) {
    batch *b = context;
    kc_task_result *result = &b->results[job];
    if (!kc_record_read(b->arena, end->data, end->size, result) || end->died)
        result->end = KC_TASK_FAULT;
    if (result->end == KC_TASK_FAULT && !result->fault)
        result->fault = end->died ? end->died : "it ended before it was done";
    result->said = end->said;
}

bool kc_tasks_run(kc_arena *arena, kc_module *module, const kc_task_options *options,
                  const kc_task *tasks, int n, kc_task_result *results, const char **error) {
    batch b = {arena, module, options, tasks, results};
    double seconds = options->seconds > 0 ? options->seconds : DEFAULT_SECONDS;
    kc_pool pool = {options->jobs, seconds, &b, work, done};
    return kc_pool_run(arena, &pool, n, error);
}
