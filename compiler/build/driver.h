// From a model file and a list of targets to results in memory. Commands write them.
#ifndef KC_COMPILER_BUILD_DRIVER_H
#define KC_COMPILER_BUILD_DRIVER_H

#include "compiler/build/task.h"

// Exit statuses of kc.
enum { KC_EXIT_DONE = 0, KC_EXIT_WRONG = 1, KC_EXIT_USAGE = 2, KC_EXIT_FAULT = 3 };

// KC_IMAGES_CUBIN: a cubin is demanded. It travels with its PTX, so that both is what it means.
typedef enum {
    KC_IMAGES_AUTO,
    KC_IMAGES_PTX,
    KC_IMAGES_CUBIN,
    KC_IMAGES_BOTH = KC_IMAGES_CUBIN
} kc_images_choice;

typedef struct {
    const char *const *targets; // texts as the user gave them
    int n_targets;
    const char *const *functions; // none: all
    int n_functions;
    kc_images_choice images;
    bool no_portable; // no suffix-free PTX beside a suffixed architecture
    bool strip;       // no tensor IR for device `ref`
    int single; // not 0: no package, but these outputs of whole modules (KC_BUILD_*, KC_TASK_*)
    const char *only_kind; // the kind of target that `single` is for, or NULL
    bool any_level;        // IR text may be of any level, not only as the frontend makes it
    kc_task_options options;
} kc_build_request;

// A build as it goes along. Everything is in the arena.
typedef struct {
    kc_arena *arena;
    const kc_build_request *request;
    const char *path;
    const char *source;
    size_t source_size;
    kc_diag *diag;
    kc_module *module;
    kc_task_options options;   // of the request, completed
    const kc_target **targets; // in order of request, each once
    int n_targets, n_asked;    // those after n_asked were added: suffix-free PTX
    const char *note;
    kc_task *tasks; // function by function, each for all targets
    kc_task_result *results;
    int n_tasks;
    const char *package; // NULL when single
    size_t package_size;
} kc_build_run;

kc_build_run *kc_build_run_create(kc_arena *, const kc_build_request *, const char *path);
// First of all: the targets, which depend on the command line alone. False: *error says which is
// wrong and what is right.
bool kc_build_targets(kc_build_run *, const char **error);

// The steps after that. Each returns an exit status and has reported what is wrong in run->diag.
int kc_build_load(kc_build_run *);   // model file, or IR text when it does not end in .yaml or .yml
int kc_build_choose(kc_build_run *); // functions, tools, tasks
int kc_build_compile(kc_build_run *); // the workers; diagnostics merged
int kc_build_pack(kc_build_run *);    // and reads it as the runtime will
int kc_build_all(kc_build_run *);     // all of them

// merge.c: what the workers reported, each user error once, faults with function, target and stage.
// KC_EXIT_DONE if all tasks are done.
int kc_build_merge(kc_build_run *);

#endif
