// The list of passes, and the driver that runs them.
#include "passes/pass.h"

#include <string.h>
#include <time.h>

const kc_pass *const kc_pipeline[] = {
    &kc_pass_decompose,
    &kc_pass_variants,
    &kc_pass_simplify,
    &kc_pass_split,
    &kc_pass_fuse,
    &kc_pass_plan,
    &kc_pass_tile,
    &kc_pass_layout,
    &kc_pass_pipeline,
    &kc_pass_sync,
    NULL,
};

const kc_pass *kc_pass_find(const char *name) {
    for (const kc_pass *const *p = kc_pipeline; *p; p++)
        if (strcmp((*p)->name, name) == 0) return *p;
    return NULL;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void verify_after(const kc_pass *pass, const kc_module *module) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, pass->name, NULL, 0);
    if (!kc_module_verify(module, pass->level_out, diag)) {
        kc_diag_print(diag, stderr);
        kc_bug("the IR is not valid after pass %s", pass->name);
    }
    kc_arena_destroy(arena);
}

static bool run_one(const kc_pass *pass, int index, kc_module *module, const kc_target *target,
                    kc_diag *diag, const kc_pipeline_options *options) {
    kc_pass_context context = {
        module, target, diag, kc_arena_create(), options->explain, options->no_fusion};
    double start = seconds_now();
    kc_bug_context(pass->name);
    bool ok = pass->run(&context);
    kc_bug_context(NULL);
    kc_arena_destroy(context.scratch);
    if (options->timed) options->timed(options->timed_context, pass, seconds_now() - start);
    if (!ok) return false;
    verify_after(pass, module);
    const char *dump = options->dump_after;
    if (dump && (strcmp(dump, "all") == 0 || strcmp(dump, pass->name) == 0))
        options->dump(options->dump_context, pass, index, module);
    return true;
}

bool kc_pipeline_run(const kc_pass *const *passes, kc_module *module, const kc_target *target,
                     kc_diag *diag, const kc_pipeline_options *options) {
    for (int i = 0; passes[i]; i++) {
        if (passes[i]->needs_target && !target) {
            kc_report(diag, KC_ERROR, (kc_loc){0, 0},
                      "pass %s needs a target; name one in the module header: module @m {target = "
                      "\"cuda:sm_80\"}",
                      passes[i]->name);
            return false;
        }
        if (!run_one(passes[i], i, module, target, diag, options)) return false;
        if (options->stop_after && strcmp(options->stop_after, passes[i]->name) == 0) break;
    }
    return true;
}

static void report_unknown(const char *name, size_t length, kc_arena *arena, kc_diag *diag) {
    const char *known = "";
    for (const kc_pass *const *p = kc_pipeline; *p; p++)
        known = kc_arena_printf(arena, "%s%s%s", known, *known ? " " : "", (*p)->name);
    kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "no pass is named '%.*s'; the passes are: %s",
              (int)length, name, known);
}

const kc_pass **kc_pipeline_parse(kc_arena *arena, const char *list, kc_diag *diag) {
    const kc_pass **passes = KC_NEW_ARRAY(arena, const kc_pass *, strlen(list) / 2 + 2);
    int n = 0;
    bool ok = true;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        const kc_pass *pass = kc_pass_find(kc_arena_strndup(arena, at, length));
        if (pass) passes[n++] = pass;
        else if (length > 0) report_unknown(at, length, arena, diag), ok = false;
        at += length + (at[length] == ',');
    }
    return ok ? passes : NULL;
}
