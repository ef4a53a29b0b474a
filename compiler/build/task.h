// One unit of compilation: a function (or the whole module) for one target, compiled in a forked
// worker. The parent runs no pass and no code generation, so a fault in LLVM or an assembler ends a
// worker and becomes a diagnostic.
#ifndef KC_COMPILER_BUILD_TASK_H
#define KC_COMPILER_BUILD_TASK_H

#include "ir/ir.h"
#include "passes/pass.h"
#include "targets/build.h"

// What a task yields besides images of code generation (KC_BUILD_*): the IR as text.
enum {
    KC_TASK_TENSOR = 256, // as the frontend made it: image of role "tensor"
    KC_TASK_TILE = 512,   // after the last pass, whichever that is: role "tile"
};

typedef struct {
    const char *function; // NULL: all functions together, as one module
    kc_loc loc;           // of the function
    const kc_target *target;
    int want;
    bool untargeted; // the module gets no target in its header: nothing depends on one
} kc_task;

typedef struct {
    int jobs;          // workers at a time; 0: one a CPU
    double seconds;    // of one task; 0: 300
    const char *ptxas; // absolute path; "": there is none
    const char *ptxas_version;
    const char *cache_dir;  // or NULL
    const char *dump_after; // pass, "all" or NULL
    bool time_passes, explain, no_fusion;
    const kc_pass *const *passes; // NULL-terminated; NULL: all of kc_pipeline
    bool unverified; // the module comes from text: check before each pass that it may run
} kc_task_options;

typedef enum {
    KC_TASK_DONE,
    KC_TASK_REFUSED, // errors in the diagnostics
    KC_TASK_FAULT,   // died, hung, or said so itself: see `stage` and `fault`
} kc_task_end;

typedef struct {
    int index; // of the pass, from 0
    const char *pass, *text;
} kc_task_dump;

typedef struct {
    const char *pass;
    double seconds;
} kc_task_time;

typedef struct {
    kc_task_end end;
    const char *stage;       // the pass, or what else was going on, when it ended
    const char *fault;       // what happened
    const char *said;        // what the worker wrote to its stderr, "" if nothing
    const char *diagnostics; // a JSON list as kc_diag_print_json writes it, or NULL
    kc_image images[8];
    int n_images;
    const char *variants; // JSON (docs/PACKAGE.md); NULL for whole modules
    const char *explain;
    kc_task_dump *dumps;
    int n_dumps;
    kc_task_time *times;
    int n_times;
    bool cached;
} kc_task_result;

// task.c: runs all tasks, at most `jobs` at a time. results[i] belongs to tasks[i] and does not
// depend on the order in which they finished. Everything is in the arena. False when no worker
// could be started at all: *error says why.
bool kc_tasks_run(kc_arena *, kc_module *, const kc_task_options *, const kc_task *, int n,
                  kc_task_result *results, const char **error);

// worker.c: the work of one task, in the worker: reads the module, changes it, writes records to
// `out`. Does not return to the program: ends the process.
_Noreturn void kc_task_work(kc_module *, const kc_task_options *, const kc_task *, int out);

// "f for cuda:sm_80"
const char *kc_task_name(kc_arena *, const kc_task *);

#endif
