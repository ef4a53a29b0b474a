// kc opt: passes on IR text. With --emit it goes on into code generation, so that a dump can be
// followed to its PTX.
#include <string.h>

#include "compiler/commands/build_command.h"
#include "compiler/package/outfile.h"

typedef struct {
    const char *passes, *target, *emit, *output;
    kc_texts files;
} input;

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, input *in) {
    const kc_option table[] = {
        {"--passes", KC_OPTION_TEXT, &in->passes, "a,b",
         "the passes to run, in order; may be empty"},
        {"--target", KC_OPTION_TEXT, &in->target, "T",
         "instead of the target in the module's header"},
        {"--emit", KC_OPTION_TEXT, &in->emit, "KIND",
         "tile (the IR, default), llvm, ptx, cubin, asm or hsaco"},
        {"-o", KC_OPTION_TEXT, &in->output, "OUT", "write there instead of to standard output"},
    };
    int status = kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table,
                                  &in->files, 1, 1);
    if (status != KC_PARSE_GO) return status;
    if (in->output && !strcmp(in->output, "-")) in->output = NULL;
    if (!in->passes)
        return kc_usage_error(command, "--passes=a,b is missing; `kc passes` lists them");
    return KC_PARSE_GO;
}

// The passes, or a usage error that lists them.
static int choose_passes(const kc_command *command, kc_arena *arena, const char *list,
                         kc_task_options *options) {
    kc_diag *diag = kc_diag_create(arena, "--passes", NULL, 0);
    options->passes = kc_pipeline_parse(arena, list, diag);
    if (options->passes) return KC_PARSE_GO;
    kc_diag_print(diag, stderr);
    return kc_usage_error(command, "--passes=%s: unknown pass", list);
}

static const kc_emit_kind *choose_emit(const char *name) {
    const kc_emit_kind *emit = kc_emit_kind_find(name ? name : "tile");
    return emit && emit->form == KC_EMIT_SINGLE && strcmp(emit->name, "tensor") ? emit : NULL;
}

// The target of the module unless one is given; NULL with a report when there is none that can be
// used.
static const kc_target *choose_target(kc_build_run *run, const char *given,
                                      const kc_emit_kind *emit) {
    const char *text = given ? given : run->module->target, *error;
    if (!text) text = "cuda:sm_80"; // passes and outputs that depend on it are refused below
    const kc_target *target = kc_target_parse_one(run->arena, text, &error);
    bool needed = emit->single != KC_TASK_TILE;
    for (const kc_pass *const *pass = run->options.passes; *pass; pass++)
        needed = needed || (*pass)->needs_target;
    if (needed && !given && !run->module->target) {
        target = NULL;
        error = "the module names no target; write module @name {target = \"cuda:sm_80\"} or give "
                "--target";
    }
    if (target && emit->kind && strcmp(emit->kind, target->kind->name)) {
        error = kc_arena_printf(run->arena, "--emit %s is for %s targets; the module's is %s",
                                emit->name, emit->kind, text);
        target = NULL;
    }
    if (!target) kc_report(run->diag, KC_ERROR, (kc_loc){0, 0}, "%s", error);
    return target;
}

static int work(kc_build_run *run, const input *in, const kc_emit_kind *emit) {
    int status = kc_build_load(run);
    if (status) return status;
    bool given = in->target || run->module->target;
    const kc_target *target = choose_target(run, in->target, emit);
    if (!target) return KC_EXIT_WRONG;
    run->tasks = KC_NEW(run->arena, kc_task);
    run->tasks[0] = (kc_task){.target = target, .want = emit->single, .untargeted = !given};
    run->results = KC_NEW(run->arena, kc_task_result);
    run->n_tasks = 1;
    return kc_build_compile(run);
}

static int deliver(const kc_command *command, kc_build_run *run, const char *output,
                   const char *role) {
    const char *error;
    for (int i = 0; i < run->results[0].n_images; i++) {
        const kc_image *image = &run->results[0].images[i];
        if (strcmp(image->role, role)) continue;
        if (!output) fwrite(image->data, 1, image->size, stdout);
        else if (!kc_outfile_write(run->arena, output, image->data, image->size, &error))
            return kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
    }
    return KC_EXIT_DONE;
}

static int run_opt(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    input in = {0};
    kc_build_request request = {.any_level = true};
    int status = parse(command, arena, argc, argv, &in);
    if (status == KC_PARSE_GO) status = choose_passes(command, arena, in.passes, &request.options);
    if (status != KC_PARSE_GO) return status;
    const kc_emit_kind *emit = choose_emit(in.emit);
    if (!emit)
        return kc_usage_error(command, "--emit is tile, llvm, ptx, cubin, asm or hsaco, not '%s'",
                              in.emit);
    request.options.unverified = true;
    kc_build_run *run = kc_build_run_create(arena, &request, in.files.items[0]);
    status = work(run, &in, emit);
    kc_diag_print(run->diag, stderr);
    return status ? status : deliver(command, run, in.output, emit->role);
}

const kc_command kc_command_opt = {
    "opt", "run passes on IR text and print the IR that comes of it",
    "--passes=a,b FILE [OPTION]...",
    "FILE is IR text, such as `kc build --dump-after all:DIR` writes, or a model file.\n", run_opt};
