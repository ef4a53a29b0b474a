// One job for each (function, target), in a forked worker; its lines become rows.
#include "compiler/verify/verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/build/pool.h"
#include "ir/diag.h"
#include "targets/common/process.h"

typedef struct {
    int function, target; // in the package
    int first_row, n_rows;
} job;

typedef struct {
    kc_arena *arena;
    const kc_package_file *file;
    const kc_verify_options *options;
    job *jobs;
    int n_jobs;
    kc_verify_row *rows;
    int n_rows;
} verifier;

// ---- in the worker ------------------------------------------------------------------------------

static void work(void *context, int index, int out) {
    verifier *v = context;
    const job *j = &v->jobs[index];
    size_t size;
    const char *error;
    char *package = kc_verify_subset(v->file, j->function, j->target, &size);
    int memory = kc_process_memory_file(package, size);
    if (memory < 0) kc_bug("no memory for the package under test");
    const kc_package_file *subset =
        kc_package_open_memory(v->arena, v->file->path, package, size, &error);
    if (!subset) kc_bug("the package under test cannot be read: %s", error);
    const char *path = kc_arena_printf(v->arena, "/proc/self/fd/%d", memory);
    kc_verify_execute(subset, path, v->options->seconds, v->options->seed, out);
}

// ---- rows ---------------------------------------------------------------------------------------

static void add_problem(kc_verify_row *row, kc_verify_state state, const char *text) {
    if (state == KC_VERIFY_FAILED && row->state != KC_VERIFY_FAILED)
        row->problem = NULL; // a failure says more
    if (row->state != KC_VERIFY_FAILED) row->state = state;
    if (!row->problem) row->problem = text;
}

static kc_verify_row *row_of(verifier *v, const job *j, long variant) {
    return variant < 0 || variant >= j->n_rows ? NULL : &v->rows[j->first_row + variant];
}

static void add_result(verifier *v, const job *j, char *fields) {
    char *rest;
    kc_verify_row *row = row_of(v, j, strtol(fields, &rest, 10));
    if (!row || *rest != '\t') return;
    double worst = strtod(rest + 1, &rest);
    row->cases++;
    if (worst > row->worst) row->worst = worst;
    if (*rest == '\t' && rest[1])
        add_problem(row, KC_VERIFY_FAILED, kc_arena_strdup(v->arena, rest + 1));
}

static void for_all(verifier *v, const job *j, kc_verify_state state, const char *text) {
    for (int i = 0; i < j->n_rows; i++)
        add_problem(&v->rows[j->first_row + i], state, kc_arena_strdup(v->arena, text));
}

// Reads the worker's lines; *open is the case that began and did not end, *late whether time ran
// out.
static void read_lines(verifier *v, const job *j, char *text, char **open, bool *late) {
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strncmp(line, "case\t", 5)) *open = line + 5;
        if (!strncmp(line, "result\t", 7)) add_result(v, j, line + 7), *open = NULL;
        if (!strncmp(line, "cannot\t", 7)) for_all(v, j, KC_VERIFY_UNVERIFIED, line + 7);
        if (!strncmp(line, "broken\t", 7)) for_all(v, j, KC_VERIFY_FAILED, line + 7);
        if (!strcmp(line, "late")) *late = true;
    }
}

static void blame(verifier *v, const job *j, char *open, const kc_pool_end *end) {
    char *rest = NULL;
    kc_verify_row *row = open ? row_of(v, j, strtol(open, &rest, 10)) : NULL;
    const char *text =
        kc_arena_printf(v->arena, "%s%s%s%s%s", row && *rest ? rest + 1 : "", row ? ": " : "",
                        end->died, *end->said ? ": " : "", end->said);
    if (row) add_problem(row, KC_VERIFY_FAILED, text);
    else for_all(v, j, KC_VERIFY_FAILED, text);
}

static void done(void *context, int index, const kc_pool_end *end) {
    verifier *v = context;
    const job *j = &v->jobs[index];
    char *text = kc_arena_strndup(v->arena, end->data ? end->data : "", end->size), *open = NULL;
    bool late = false;
    read_lines(v, j, text, &open, &late);
    if (end->died) blame(v, j, open, end);
    for (int i = 0; i < j->n_rows; i++) {
        kc_verify_row *row = &v->rows[j->first_row + i];
        if (!row->cases && row->state == KC_VERIFY_PASSED)
            add_problem(row, KC_VERIFY_UNVERIFIED,
                        late ? "there was no time for it; give more with --budget"
                             : "no case that was tried selects it");
    }
}

// ---- jobs ---------------------------------------------------------------------------------------

static bool is_wanted(const verifier *v, const char *name) {
    for (int i = 0; i < v->options->n_functions; i++)
        if (!strcmp(v->options->functions[i], name)) return true;
    return v->options->n_functions == 0;
}

static bool check_names(const verifier *v, const char **error) {
    const kcrt_manifest *m = &v->file->manifest;
    for (int i = 0; i < v->options->n_functions; i++) {
        const char *known = "";
        bool found = false;
        for (int f = 0; f < m->function_count; f++) {
            found = found || !strcmp(m->functions[f].name, v->options->functions[i]);
            known = kc_arena_printf(v->arena, "%s%s%s", known, f ? " " : "", m->functions[f].name);
        }
        if (found) continue;
        *error = kc_arena_printf(v->arena, "%s has no function `%s`; it has: %s", v->file->path,
                                 v->options->functions[i], known);
        return false;
    }
    return true;
}

static bool has_role(const verifier *v, const kcrt_target *t, const char *role) {
    for (int i = 0; i < t->image_count; i++)
        if (!strcmp(v->file->manifest.images[t->images[i]].role, role)) return true;
    return false;
}

static void add_rows(verifier *v, const job *j) {
    const kcrt_signature *f = &v->file->manifest.functions[j->function];
    const kcrt_target *t = &f->targets[j->target];
    const kcrt_json *functions = kcrt_json_get(v->file->root, "functions");
    const kcrt_json *target =
        kc_json_item(kcrt_json_get(kc_json_item(functions, j->function), "targets"), j->target);
    bool only_cubin = has_role(v, t, "cubin") && !has_role(v, t, "ptx");
    for (int i = 0; i < t->variant_count; i++) {
        const kcrt_json *variant = kc_json_item(kcrt_json_get(target, "variants"), i);
        kc_verify_row *row = &v->rows[v->n_rows++];
        *row = (kc_verify_row){
            .function = f->name, .triple = t->triple, .arch = t->arch, .variant = i};
        row->reason = kc_json_text_or(kcrt_json_get(variant, "schedule"), "reason", "");
        row->cubin = has_role(v, t, "cubin");
        if (only_cubin)
            add_problem(row, KC_VERIFY_UNVERIFIED,
                        "a cubin without its PTX cannot be executed on a simulator");
    }
}

static void plan(verifier *v) {
    const kcrt_manifest *m = &v->file->manifest;
    int n_targets = 0, n_variants = 0;
    for (int f = 0; f < m->function_count; f++)
        for (int t = 0; t < m->functions[f].target_count; t++)
            n_targets++, n_variants += m->functions[f].targets[t].variant_count;
    v->jobs = KC_NEW_ARRAY(v->arena, job, n_targets + 1);
    v->rows = KC_NEW_ARRAY(v->arena, kc_verify_row, n_variants + 1);
    for (int f = 0; f < m->function_count; f++)
        for (int t = 0; t < m->functions[f].target_count && is_wanted(v, m->functions[f].name);
             t++) {
            job *j = &v->jobs[v->n_jobs++];
            *j = (job){f, t, v->n_rows, m->functions[f].targets[t].variant_count};
            add_rows(v, j);
            if (j->n_rows && v->rows[j->first_row].state == KC_VERIFY_UNVERIFIED)
                v->n_jobs--; // only_cubin: rows without a job
        }
}

int kc_verify_run(kc_arena *arena, const kc_package_file *file, const kc_verify_options *options,
                  kc_verify_row **rows, const char **error) {
    enum { GRACE_SECONDS = 60 }; // a case that has begun may end
    verifier v = {.arena = arena, .file = file, .options = options};
    if (!check_names(&v, error)) return -1;
    plan(&v);
    kc_pool pool = {options->jobs, options->seconds + GRACE_SECONDS, &v, work, done};
    if (!kc_pool_run(arena, &pool, v.n_jobs, error)) return -1;
    *rows = v.rows;
    return v.n_rows;
}
