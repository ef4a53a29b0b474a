// What a run prints and writes: outputs, the result of a check, a simulator's counters.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/json.h"
#include "runtime/kcrun/task.h"

typedef struct {
    uint64_t checksum;
    double min, max, mean;
    size_t nans;
} summary;

static uint64_t checksum(const array *a) {
    uint64_t sum = 0xcbf29ce484222325u;
    const unsigned char *bytes = a->data;
    for (size_t i = 0; i < a->count * (size_t)kc_dtype_unit(a->type); i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

// FNV-1a over the bytes (of 4-bit types over a byte each); min and max are NaN-free, mean is not.
static summary summarise(const array *a) {
    summary s = {.checksum = checksum(a), .min = NAN, .max = NAN};
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        double v = kc_dtype_is_float(a->type) ? kc_dtype_load(a->type, array_at(a, i))
                                              : (double)kc_dtype_load_i64(a->type, array_at(a, i));
        sum += v;
        s.nans += isnan(v);
        s.min = isnan(v) || s.min < v ? s.min : v;
        s.max = isnan(v) || s.max > v ? s.max : v;
    }
    s.mean = a->count && !isnan(sum) ? sum / (double)a->count : NAN; // a NaN without a sign
    return s;
}

static void print_shape(const array *a, const char *open, const char *close) {
    printf("%s", open);
    for (int i = 0; i < a->rank; i++)
        printf("%s%lld", i ? ", " : "", (long long)a->shape[i]);
    printf("%s", close);
}

static void print_json_number(double v) {
    if (isfinite(v)) printf("%.17g", v);
    else printf(isnan(v) ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
}

static void print_json_string(const char *text) {
    putchar('"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') printf("\\%c", *p);
        else if (*p < 0x20) printf("\\u%04x", *p);
        else putchar(*p);
    }
    putchar('"');
}

// ---- Text ---------------------------------------------------------------------------------------

static void print_output(const argument *arg, const char *file) {
    summary s = summarise(&arg->host);
    printf("%s: %s", arg->info.name, arg->info.type);
    print_shape(&arg->host, "[", "]");
    printf(" checksum %016" PRIx64, s.checksum);
    if (arg->host.count) printf(" min %.9g max %.9g mean %.9g", s.min, s.max, s.mean);
    if (s.nans) printf(" nan %zu", s.nans);
    if (file) printf(" -> %s", file);
    putchar('\n');
}

static void print_index(const task *t, const check_result *r, char *out, size_t size) {
    const argument *arg = NULL;
    for (int a = 0; a < t->arg_count; a++)
        if (t->args[a].info.is_output && !strcmp(t->args[a].info.name, r->output))
            arg = &t->args[a];
    int64_t index[ARRAY_MAX_RANK];
    size_t left = r->index, at = 0;
    out[0] = 0;
    for (int i = arg->host.rank - 1; i >= 0; i--) {
        int64_t extent = arg->host.shape[i] ? arg->host.shape[i] : 1;
        index[i] = (int64_t)(left % (size_t)extent);
        left /= (size_t)extent;
    }
    for (int i = 0; i < arg->host.rank && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? ", " : "", (long long)index[i]);
}

static void print_check(const task *t, const check_result *r) {
    char index[512];
    print_index(t, r, index, sizeof index);
    printf("%s: check %s", r->output, r->wrong ? "FAILED" : "passed");
    if (r->wrong) printf(", %zu elements outside their bound", r->wrong);
    printf(", worst at [%s]: got %.9g, reference %.9g, bound %.3g", index, r->got, r->want,
           r->bound);
    if (isfinite(r->worst)) printf(" (%.3g of what is allowed)", r->worst);
    putchar('\n');
}

// ---- JSON ---------------------------------------------------------------------------------------

static void print_json_check(const task *t, const check_result *r) {
    char index[512];
    print_index(t, r, index, sizeof index);
    printf(", \"check\": {\"passed\": %s, \"wrong\": %zu, \"worst\": {\"index\": [%s], \"got\": ",
           r->wrong ? "false" : "true", r->wrong, index);
    print_json_number(r->got);
    printf(", \"reference\": ");
    print_json_number(r->want);
    printf(", \"bound\": ");
    print_json_number(r->bound);
    printf(", \"of_allowed\": ");
    print_json_number(r->worst);
    printf("}}");
}

static void print_json_output(const argument *arg, const char *file) {
    summary s = summarise(&arg->host);
    printf("{\"name\": \"%s\", \"type\": \"%s\", ", arg->info.name, arg->info.type);
    print_shape(&arg->host, "\"shape\": [", "]");
    printf(", \"checksum\": \"%016" PRIx64 "\", \"min\": ", s.checksum);
    print_json_number(s.min);
    printf(", \"max\": ");
    print_json_number(s.max);
    printf(", \"mean\": ");
    print_json_number(s.mean);
    if (file) printf(", \"file\": "), print_json_string(file);
}

static void print_json_head(const task *t) {
    char arch[128] = "";
    kcrt_device_string(t->on.device, KCRT_ATTR_ARCH, arch, sizeof arch);
    printf("{\"function\": \"%s\", \"device\": ", t->options->function);
    print_json_string(t->options->device);
    printf(", \"arch\": ");
    print_json_string(arch);
    printf(", \"outputs\": [");
}

// ---- Outputs ------------------------------------------------------------------------------------

// FILE.npy[:TYPE]: a type after the last colon, when it is one.
static bool write_output(const task *t, const argument *arg, const char *text, char *path,
                         size_t size) {
    char error[ERROR_SIZE];
    const char *colon = strrchr(text, ':');
    kc_dtype as = colon ? kc_dtype_find(colon + 1, strlen(colon + 1)) : KC_DTYPE_NONE;
    if (colon && (as == KC_DTYPE_NONE))
        return kcrun_task_error(t, "--output %s=%s: `%s` is not an element type.", arg->info.name,
                                text, colon + 1);
    snprintf(path, size, "%.*s", (int)(colon ? (size_t)(colon - text) : strlen(text)), text);
    return kcrun_npy_write(path, &arg->host, as, error)
               ? true
               : kcrun_task_error(t, "--output %s: %s.", arg->info.name, error);
}

static const check_result *result_of(const check_result *results, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(results[i].output, name)) return &results[i];
    return NULL;
}

bool kcrun_outputs_deliver(const task *t, const check_result *results, int checked) {
    const options *o = t->options;
    int printed = 0;
    if (o->json) print_json_head(t);
    for (int a = 0; a < t->arg_count; a++) {
        const argument *arg = &t->args[a];
        char path[4096];
        if (!arg->info.is_output) continue;
        const char *text = kcrun_options_find(o->outputs, o->output_count, arg->info.name);
        if (text && !write_output(t, arg, text, path, sizeof path)) return false;
        const check_result *r = result_of(results, checked, arg->info.name);
        if (o->json) {
            if (printed++) printf(", ");
            print_json_output(arg, text ? path : NULL);
            if (r) print_json_check(t, r);
            printf("}");
        } else {
            print_output(arg, text ? path : NULL);
            if (r) print_check(t, r);
        }
    }
    if (o->json) printf("]}\n");
    return true;
}

// ---- Counters -----------------------------------------------------------------------------------

static void print_finding(const task *t, const kcrt_json *kernel, const kcrt_json *finding) {
    const kcrt_json *name = kcrt_json_get(kernel, "name"), *kind = kcrt_json_get(finding, "kind");
    const kcrt_json *line = kcrt_json_get(finding, "line"),
                    *instruction = kcrt_json_get(finding, "instruction");
    fprintf(stderr, "%s: error: simulator: %s in kernel %s", t->options->program,
            kind && kind->kind == KCRT_JSON_STRING ? kind->text : "a finding",
            name && name->kind == KCRT_JSON_STRING ? name->text : "?");
    if (line && line->kind == KCRT_JSON_INT)
        fprintf(stderr, ", line %lld", (long long)line->integer);
    if (instruction && instruction->kind == KCRT_JSON_STRING)
        fprintf(stderr, ": %s", instruction->text);
    fputc('\n', stderr);
}

static bool print_findings(const task *t, const char *json) {
    kcrt_arena arena = {0};
    const char *error;
    size_t at;
    bool found = false;
    const kcrt_json *root = kcrt_json_parse(&arena, json, strlen(json), &error, &at);
    if (!root) kcrun_task_note(t, "the simulator's report is not JSON: %s at byte %zu.", error, at);
    const kcrt_json *kernels = kcrt_json_get(root, "kernels");
    for (const kcrt_json *k = kernels && kernels->kind == KCRT_JSON_LIST ? kernels->first : NULL; k;
         k = k->next) {
        const kcrt_json *findings = kcrt_json_get(k, "findings");
        if (!findings || findings->kind != KCRT_JSON_LIST) continue;
        for (const kcrt_json *f = findings->first; f; f = f->next) {
            found = true;
            print_finding(t, k, f);
        }
    }
    kcrt_arena_release(&arena);
    return found;
}

bool kcrun_counters_deliver(const task *t, bool *findings) {
    char *json, error[ERROR_SIZE];
    *findings = false;
    kcrt_status status = kcrt_device_report(t->on.device, &json);
    if (status == KCRT_UNSUPPORTED && !t->options->counters) return true;
    if (status) return kcrun_task_fail(t);
    *findings = print_findings(t, json);
    bool good = !t->options->counters ||
                kcrun_file_write(t->options->counters, json, strlen(json), "\n", 1, error);
    if (!good) kcrun_task_error(t, "--counters %s.", error);
    free(json);
    return good;
}
