// kc verify
#include <string.h>

#include "compiler/commands/command.h"
#include "compiler/verify/verify.h"

typedef struct {
    bool allow_unverified, json;
    double seconds;
    int jobs, seed;
    kc_texts targets, words; // the file, then functions
} input;

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, input *in) {
    const kc_option table[] = {
        {"--allow-unverified", KC_OPTION_FLAG, &in->allow_unverified, NULL,
         "variants that could not be executed are no failure"},
        {"--target", KC_OPTION_TEXTS, &in->targets, "T",
         "of a model file: what to build it for (default: cuda:sm_80)"},
        {"--budget", KC_OPTION_SECONDS, &in->seconds, "SECONDS",
         "for one function on one architecture (60)"},
        {"--seed", KC_OPTION_INT, &in->seed, "N", "of the inputs"},
        {"-j", KC_OPTION_INT, &in->jobs, "N", "functions at a time (default: one a CPU)"},
        {"--json", KC_OPTION_FLAG, &in->json, NULL, "print JSON"},
    };
    in->seconds = 60;
    return kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table,
                            &in->words, 1, -1);
}

static bool is_model(const char *path) {
    size_t n = strlen(path);
    return (n > 5 && !strcmp(path + n - 5, ".yaml")) || (n > 4 && !strcmp(path + n - 4, ".yml"));
}

// A model file is built in memory first. PTX is what a simulator executes, so no assembler is
// asked.
static int build(const kc_command *command, kc_arena *arena, const input *in, const char *path,
                 kc_build_run **out) {
    static const char *usual[] = {"cuda:sm_80"};
    kc_build_request *request = KC_NEW(arena, kc_build_request);
    const char *error;
    request->targets = in->targets.n ? in->targets.items : usual;
    request->n_targets = in->targets.n ? in->targets.n : 1;
    request->images = KC_IMAGES_PTX;
    request->options.jobs = in->jobs;
    *out = kc_build_run_create(arena, request, path);
    if (!kc_build_targets(*out, &error)) return kc_usage_error(command, "%s", error);
    int status = kc_build_all(*out);
    kc_diag_print((*out)->diag, stderr);
    return status;
}

static int open_file(const kc_command *command, kc_arena *arena, const input *in,
                     kc_package_file **file) {
    const char *path = in->words.items[0], *error;
    kc_build_run *run = NULL;
    if (!is_model(path)) {
        if (in->targets.n)
            return kc_usage_error(command, "--target is for model files; a package has its own");
        *file = kc_package_open(arena, path, &error);
    } else {
        int status = build(command, arena, in, path, &run);
        if (status) return status;
        *file = kc_package_open_memory(arena, path, run->package, run->package_size, &error);
    }
    return *file ? KC_EXIT_DONE : kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
}

// ---- results ------------------------------------------------------------------------------------

static const char *const states[] = {"passed", "FAILED", "unverified"};

static void print_row(const kc_verify_row *row) {
    printf("%-24s %-16s %d %-24s %-10s", row->function, row->arch, row->variant, row->reason,
           states[row->state]);
    if (row->cases) printf(" %4d cases, worst %.2g of the bound", row->cases, row->worst);
    if (row->cubin && row->state == KC_VERIFY_PASSED) printf("; PTX verified, cubin not executed");
    putchar('\n');
    if (row->problem) printf("    %s\n", row->problem);
}

static void print_json(const kc_verify_row *rows, int n, int status) {
    static const char *const words[] = {"passed", "failed", "unverified"};
    kc_json j = kc_json_to(stdout, 2);
    kc_json_open(&j, '{');
    kc_json_put_bool(&j, "ok", status == KC_EXIT_DONE);
    kc_json_key(&j, "variants");
    kc_json_open(&j, '[');
    for (int i = 0; i < n; i++) {
        kc_json_open(&j, '{');
        kc_json_put_string(&j, "function", rows[i].function);
        kc_json_put_string(&j, "triple", rows[i].triple);
        kc_json_put_string(&j, "arch", rows[i].arch);
        kc_json_put_int(&j, "variant", rows[i].variant);
        kc_json_put_string(&j, "reason", rows[i].reason);
        kc_json_put_string(&j, "state", words[rows[i].state]);
        kc_json_put_int(&j, "cases", rows[i].cases);
        kc_json_key(&j, "worst");
        kc_json_real(&j, rows[i].worst);
        kc_json_put_bool(&j, "cubin_not_executed", rows[i].cubin);
        kc_json_key(&j, "problem");
        kc_json_string_or_null(&j, rows[i].problem);
        kc_json_close(&j, '}');
    }
    kc_json_close(&j, ']');
    kc_json_close(&j, '}');
    putchar('\n');
}

static int summarise(const input *in, const kc_verify_row *rows, int n) {
    int counts[3] = {0};
    for (int i = 0; i < n; i++)
        counts[rows[i].state]++;
    bool wrong =
        counts[KC_VERIFY_FAILED] || (counts[KC_VERIFY_UNVERIFIED] && !in->allow_unverified);
    int status = wrong ? KC_EXIT_WRONG : KC_EXIT_DONE;
    if (in->json) {
        print_json(rows, n, status);
        return status;
    }
    for (int i = 0; i < n; i++)
        print_row(&rows[i]);
    printf("%d variants passed, %d failed, %d unverified\n", counts[0], counts[1], counts[2]);
    fflush(stdout); // the lines may go to one place
    if (counts[2] && !counts[1] && wrong)
        fprintf(stderr, "kc verify: variants that could not be executed count as failures; see "
                        "--allow-unverified\n");
    return status;
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    input in = {0};
    kc_package_file *file;
    kc_verify_row *rows;
    const char *error;
    int status = parse(command, arena, argc, argv, &in);
    if (status != KC_PARSE_GO) return status;
    status = open_file(command, arena, &in, &file);
    if (status) return status;
    kc_verify_options options = {in.jobs, in.seconds, (uint64_t)in.seed, in.words.items + 1,
                                 in.words.n - 1};
    int n = kc_verify_run(arena, file, &options, &rows, &error);
    return n < 0 ? kc_command_fail(command, KC_EXIT_WRONG, "%s", error) : summarise(&in, rows, n);
}

const kc_command kc_command_verify = {
    "verify", "run every variant on a simulator and compare it with the reference",
    "OUT.kcb|MODEL.yaml [FUNCTION]... [OPTION]...",
    "Sizes are taken where tiles, vectors and variants begin and end; pointers are aligned and "
    "not; a result is right within\n"
    "the reference's error bound plus half an ulp of the output's type.\n",
    run};
