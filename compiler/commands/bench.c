// kc bench: time on a real device. A simulator counts, but has no clock that means anything.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/commands/command.h"
#include "compiler/package/json_writer.h"
#include "compiler/verify/place.h"

enum { DEFAULT_ROUNDS = 20, DEFAULT_LAUNCHES = 50, MOST_ROUNDS = 10000 };

typedef struct {
    const char *device;
    kc_texts inputs, dims, words;
    int rounds, launches;
    bool json;
} input;

typedef struct {
    double best, median, worst; // seconds a launch
    double bytes;               // of all tensors, each once
    char arch[64], name[128];
} measurement;

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, input *in) {
    const kc_option table[] = {
        {"--device", KC_OPTION_TEXT, &in->device, "D",
         "cuda:0 or hip:0 (default: the first GPU that the package is for)"},
        {"--input", KC_OPTION_TEXTS, &in->inputs, "NAME=SPEC",
         "as in `kc run`; without it, tensors are normal if --dim gives their shape"},
        {"--dim", KC_OPTION_TEXTS, &in->dims, "M=17", "the value of a dimension"},
        {"--rounds", KC_OPTION_INT, &in->rounds, "N", "measurements (20)"},
        {"--launches", KC_OPTION_INT, &in->launches, "N", "launches in each (50)"},
        {"--json", KC_OPTION_FLAG, &in->json, NULL, "print JSON"},
    };
    in->rounds = DEFAULT_ROUNDS, in->launches = DEFAULT_LAUNCHES;
    int status = kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table,
                                  &in->words, 2, 2);
    if (status != KC_PARSE_GO) return status;
    if (in->rounds < 1 || in->rounds > MOST_ROUNDS || in->launches < 1)
        return kc_usage_error(command, "--rounds is 1 to %d and --launches at least 1",
                              MOST_ROUNDS);
    return KC_PARSE_GO;
}

// ---- the task -----------------------------------------------------------------------------------

static int add_pairs(const kc_command *command, const kc_texts *texts, option_pair *pairs,
                     int *count, const char *option) {
    for (int i = 0; i < texts->n; i++) {
        const char *equals = strchr(texts->items[i], '=');
        if (!equals || (size_t)(equals - texts->items[i]) >= sizeof pairs->name ||
            *count == OPTIONS_MOST)
            return kc_usage_error(command, "%s wants NAME=VALUE, not '%s'", option,
                                  texts->items[i]);
        option_pair *pair = &pairs[(*count)++];
        snprintf(pair->name, sizeof pair->name, "%.*s", (int)(equals - texts->items[i]),
                 texts->items[i]);
        pair->value = equals + 1;
    }
    return KC_PARSE_GO;
}

// Inputs that were not named are filled once the dims are known.
static void add_missing_inputs(task *t, options *o) {
    int n = kcrt_function_arg_count(t->on.function);
    for (int a = 0; a < n && o->input_count < OPTIONS_MOST; a++) {
        kcrt_arg_info info;
        if (kcrt_function_arg(t->on.function, a, &info) || (info.is_output && !info.is_inout))
            continue;
        if (kcrun_options_find(o->inputs, o->input_count, info.name)) continue;
        option_pair *pair = &o->inputs[o->input_count++];
        snprintf(pair->name, sizeof pair->name, "%s", info.name);
        pair->value = info.is_scalar ? "1" : "normal";
    }
}

static bool is_real(const char *device) {
    return !strncmp(device, "cuda:", 5) || !strncmp(device, "hip:", 4) || !strcmp(device, "cuda") ||
           !strcmp(device, "hip");
}

static int choose_device(const kc_command *command, const input *in, const task *t, char name[64]) {
    if (in->device) snprintf(name, 64, "%s", in->device);
    else if (!kcrun_device_choose(t, name, 64)) return KC_EXIT_WRONG;
    if (is_real(name)) return KC_PARSE_GO;
    return kc_command_fail(
        command, KC_EXIT_WRONG,
        in->device
            ? "%s has no clock that means anything: time is measured on a GPU (cuda:0, hip:0)"
            : "no GPU here suits the package (the best there is: %s), and time is measured on a "
              "GPU; "
              "`kc run --counters` counts instructions and memory traffic on a simulator",
        name);
}

// ---- measuring ----------------------------------------------------------------------------------

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool launch_many(const task *t, const kc_placement *p, int n) {
    for (int i = 0; i < n; i++)
        if (kcrt_launch(t->on.function, NULL, p->pointers, p->n, NULL, 0)) return false;
    return kcrt_device_sync(t->on.device) == KCRT_OK;
}

// The first launches, which warm caches and clocks, are not counted.
static bool measure(const input *in, task *t, const kc_placement *p, measurement *m) {
    static double seconds[MOST_ROUNDS];
    if (!launch_many(t, p, in->launches)) return false;
    for (int r = 0; r < in->rounds; r++) {
        double start = now();
        if (!launch_many(t, p, in->launches)) return false;
        seconds[r] = (now() - start) / in->launches;
    }
    qsort(seconds, (size_t)in->rounds, sizeof *seconds, compare);
    m->best = seconds[0], m->median = seconds[in->rounds / 2], m->worst = seconds[in->rounds - 1];
    for (int a = 0; a < t->arg_count; a++)
        m->bytes += (double)t->args[a].span;
    kcrt_device_string(t->on.device, KCRT_ATTR_NAME, m->name, sizeof m->name);
    kcrt_device_string(t->on.device, KCRT_ATTR_ARCH, m->arch, sizeof m->arch);
    return true;
}

static void print(const input *in, const task *t, const measurement *m) {
    double rate = m->median > 0 ? m->bytes / m->median * 1e-9 : 0;
    if (!in->json) {
        printf("%s on %s (%s): median %.3f us, best %.3f us, worst %.3f us, %d x %d launches, %.1f "
               "GB/s of its arguments\n",
               t->options->function, m->name, m->arch, 1e6 * m->median, 1e6 * m->best,
               1e6 * m->worst, in->rounds, in->launches, rate);
        return;
    }
    kc_json j = kc_json_to(stdout, 1);
    kc_json_open(&j, '{');
    kc_json_put_string(&j, "function", t->options->function);
    kc_json_put_string(&j, "device", m->name);
    kc_json_put_string(&j, "arch", m->arch);
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"median_seconds", m->median},
                   {"best_seconds", m->best},
                   {"worst_seconds", m->worst},
                   {"argument_bytes", m->bytes},
                   {"gb_per_second", rate}};
    for (int i = 0; i < 5; i++) {
        kc_json_key(&j, numbers[i].key);
        kc_json_real(&j, numbers[i].value);
    }
    kc_json_put_int(&j, "rounds", in->rounds);
    kc_json_put_int(&j, "launches", in->launches);
    kc_json_close(&j, '}');
    putchar('\n');
}

static int work(const kc_command *command, const input *in, task *t, options *o) {
    kc_placement p = {.n = 0};
    kc_place_wishes wishes = {0};
    measurement m = {0};
    const char *error = NULL;
    if (!kcrun_session_open(t, o->device, &t->on)) return KC_EXIT_WRONG;
    add_missing_inputs(t, o);
    if (!kcrun_inputs_prepare(t)) return KC_EXIT_WRONG;
    bool ok = kc_place_all(t, &wishes, &p, &error);
    if (ok && !measure(in, t, &p, &m)) {
        ok = false;
        error = kcrt_last_error();
    }
    if (ok) print(in, t, &m);
    kc_place_release(t, &p);
    return ok ? KC_EXIT_DONE : kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    static options o; // too large for a stack
    static task t;
    char device[64];
    input in = {0};
    int status = parse(command, arena, argc, argv, &in);
    if (status != KC_PARSE_GO) return status;
    o = (options){
        .program = "kc bench", .package = in.words.items[0], .function = in.words.items[1]};
    t = (task){.options = &o};
    status = add_pairs(command, &in.inputs, o.inputs, &o.input_count, "--input");
    if (status == KC_PARSE_GO) status = add_pairs(command, &in.dims, o.dims, &o.dim_count, "--dim");
    if (status == KC_PARSE_GO) status = choose_device(command, &in, &t, device);
    if (status != KC_PARSE_GO) return status;
    o.device = device;
    status = work(command, &in, &t, &o);
    for (int a = 0; a < t.arg_count; a++)
        kcrun_array_free(&t.args[a].host);
    kcrun_session_close(&t.on);
    return status;
}

const kc_command kc_command_bench = {"bench", "measure a function on a GPU",
                                     "OUT.kcb FUNCTION [--device D] [OPTION]...", NULL, run};
