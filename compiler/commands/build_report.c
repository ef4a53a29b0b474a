// What a build says besides its files: IR after passes, times, reasons, and all of it for scripts.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/build_command.h"
#include "compiler/package/json_writer.h"
#include "compiler/package/outfile.h"

// ---- dumps --------------------------------------------------------------------------------------

static void print_dump(const kc_build_run *run, int task, const kc_task_dump *dump) {
    printf("// %s, after %s\n%s", kc_task_name(run->arena, &run->tasks[task]), dump->pass,
           dump->text);
}

static const char *dump_path(const kc_build_run *run, int task, const kc_task_dump *dump,
                             const char *folder) {
    const kc_task *t = &run->tasks[task];
    return kc_arena_printf(run->arena, "%s/%02d-%s.%s.%s.kcir", folder, dump->index, dump->pass,
                           t->function ? t->function : run->module->name, t->target->arch->name);
}

bool kc_build_write_dumps(kc_build_run *run, const char *folder, const char **error) {
    if (folder && mkdir(folder, 0777) && errno != EEXIST) {
        *error =
            kc_arena_printf(run->arena, "cannot make the folder %s: %s", folder, strerror(errno));
        return false;
    }
    for (int i = 0; i < run->n_tasks; i++)
        for (int d = 0; d < run->results[i].n_dumps; d++) {
            const kc_task_dump *dump = &run->results[i].dumps[d];
            if (!folder) print_dump(run, i, dump);
            else if (!kc_outfile_write(run->arena, dump_path(run, i, dump, folder), dump->text,
                                       strlen(dump->text), error))
                return false;
        }
    return true;
}

// ---- times --------------------------------------------------------------------------------------

enum { MOST_STEPS = 32 };

// Sums over all tasks, in the order in which steps first appear.
static int sum_times(const kc_build_run *run, kc_task_time sums[MOST_STEPS]) {
    int n = 0;
    for (int i = 0; i < run->n_tasks; i++)
        for (int t = 0; t < run->results[i].n_times; t++) {
            const kc_task_time *time = &run->results[i].times[t];
            int k = 0;
            while (k < n && strcmp(sums[k].pass, time->pass))
                k++;
            if (k == n && n == MOST_STEPS) continue;
            if (k == n) sums[n++] = (kc_task_time){time->pass, 0};
            sums[k].seconds += time->seconds;
        }
    return n;
}

void kc_build_print_times(const kc_build_run *run, FILE *out) {
    kc_task_time sums[MOST_STEPS];
    int n = sum_times(run, sums);
    double all = 0;
    for (int i = 0; i < n; i++)
        all += sums[i].seconds;
    fprintf(out, "%-16s %10s %6s   (%d compilations, wall time of each step summed)\n", "step",
            "ms", "%", run->n_tasks);
    for (int i = 0; i < n; i++)
        fprintf(out, "%-16s %10.3f %5.1f%%\n", sums[i].pass, 1e3 * sums[i].seconds,
                all > 0 ? 100 * sums[i].seconds / all : 0);
    fprintf(out, "%-16s %10.3f\n", "all", 1e3 * all);
}

void kc_build_print_explanations(const kc_build_run *run, FILE *out) {
    for (int i = 0; i < run->n_tasks; i++)
        if (run->results[i].explain) fputs(run->results[i].explain, out);
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_targets(kc_json *j, const kc_build_run *run) {
    kc_json_key(j, "targets");
    kc_json_open(j, '[');
    for (int i = 0; i < run->n_targets; i++) {
        kc_json_open(j, '{');
        kc_json_put_string(j, "target", kc_target_canonical(run->arena, run->targets[i]));
        kc_json_put_bool(j, "added", i >= run->n_asked);
        kc_json_close(j, '}');
    }
    kc_json_close(j, ']');
}

static void put_task(kc_json *j, const kc_build_run *run, int i) {
    static const char *const ends[] = {"done", "refused", "fault"};
    const kc_task_result *result = &run->results[i];
    kc_json_open(j, '{');
    kc_json_key(j, "function");
    kc_json_string_or_null(j, run->tasks[i].function);
    kc_json_put_string(j, "arch", run->tasks[i].target->arch->name);
    kc_json_put_string(j, "end", ends[result->end]);
    kc_json_put_bool(j, "cached", result->cached);
    kc_json_key(j, "images");
    kc_json_open(j, '{');
    for (int k = 0; k < result->n_images; k++)
        kc_json_put_int(j, result->images[k].role, (int64_t)result->images[k].size);
    kc_json_close(j, '}');
    kc_json_close(j, '}');
}

static void put_times(kc_json *j, const kc_build_run *run) {
    kc_task_time sums[MOST_STEPS];
    int n = sum_times(run, sums);
    if (!n) return;
    kc_json_key(j, "seconds");
    kc_json_open(j, '{');
    for (int i = 0; i < n; i++) {
        kc_json_key(j, sums[i].pass);
        kc_json_real(j, sums[i].seconds);
    }
    kc_json_close(j, '}');
}

static void put_diagnostics(kc_json *j, const kc_build_run *run) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) kc_bug("out of memory");
    kc_diag_print_json(run->diag, out);
    fclose(out);
    while (size && text[size - 1] == '\n')
        text[--size] = 0;
    kc_json_key(j, "diagnostics");
    kc_json_raw(j, text);
    free(text);
}

void kc_build_print_json(const kc_build_run *run, const char *output, const char *emit,
                         const char *error, int status, FILE *out) {
    kc_json j = kc_json_to(out, 2);
    kc_json_open(&j, '{');
    kc_json_put_bool(&j, "ok", status == KC_EXIT_DONE);
    kc_json_key(&j, "output");
    kc_json_string_or_null(&j, status == KC_EXIT_DONE ? output : NULL);
    kc_json_put_string(&j, "emit", emit);
    kc_json_key(&j, "module");
    kc_json_string_or_null(&j, run->module ? run->module->name : NULL);
    if (run->package) kc_json_put_int(&j, "package_bytes", (int64_t)run->package_size);
    put_targets(&j, run);
    kc_json_key(&j, "compilations");
    kc_json_open(&j, '[');
    for (int i = 0; run->results && i < run->n_tasks; i++)
        put_task(&j, run, i);
    kc_json_close(&j, ']');
    put_times(&j, run);
    if (run->note) kc_json_put_string(&j, "note", run->note);
    if (error) kc_json_put_string(&j, "error", error);
    put_diagnostics(&j, run);
    kc_json_close(&j, '}');
    fputc('\n', out);
}
