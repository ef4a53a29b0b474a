// kc build: options in, files out. What happens between is compiler/build.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/build_command.h"
#include "passes/pass.h"

typedef struct {
    const char *output, *emit, *images, *dump, *host, *fusion;
    kc_texts targets, functions, models;
    kc_build_command o;
} input;

static const char *const image_names[] = {"auto", "ptx", "cubin", "both", NULL};
static const char *const host_names[] = {"x86_64", "aarch64", NULL};
static const char *const fusion_names[] = {"on", "off", NULL};

// ---- options ------------------------------------------------------------------------------------

static int read_options(const kc_command *command, kc_arena *arena, int argc, char **argv,
                        input *in) {
    kc_build_request *r = &in->o.request;
    const kc_option table[] = {
        {"--target", KC_OPTION_TEXTS, &in->targets, "T",
         "cuda:sm_90a, a family (cuda), attributes after commas, or JSON; repeatable"},
        {"-o", KC_OPTION_TEXT, &in->output, "OUT",
         "the file to write; a folder (DIR/) for one file a target"},
        {"--emit", KC_OPTION_TEXT, &in->emit, "KIND",
         "kcb (default), obj, c, ptx, cubin, asm, hsaco, llvm, tile, tensor"},
        {"--images", KC_OPTION_TEXT, &in->images, "KIND",
         "auto (cubin and PTX where ptxas is found), ptx, both (or cubin: a cubin is demanded, and "
         "has "
         "its PTX beside it)"},
        {"--no-portable", KC_OPTION_FLAG, &r->no_portable, NULL,
         "no suffix-free PTX beside a suffixed architecture"},
        {"--function", KC_OPTION_TEXTS, &in->functions, "F", "only this function; repeatable"},
        {"--header", KC_OPTION_TEXT, &in->o.header, "OUT.h",
         "also write a C and C++ header that calls the functions"},
        {"--strip", KC_OPTION_FLAG, &r->strip, NULL,
         "leave out the tensor IR, which device `ref` needs"},
        {"--host", KC_OPTION_TEXT, &in->host, "ARCH",
         "of --emit obj: x86_64 or aarch64 (default: this machine's)"},
        {"--fusion", KC_OPTION_TEXT, &in->fusion, "on|off",
         "off: every op becomes a kernel of its own; slow, for finding which op is wrong"},
        {"--dump-after", KC_OPTION_TEXT, &in->dump, "PASS[:DIR]",
         "print the IR after a pass, or `all`; with DIR: into files"},
        {"--time-passes", KC_OPTION_FLAG, &r->options.time_passes, NULL,
         "print how long each pass took"},
        {"--explain", KC_OPTION_FLAG, &r->options.explain, NULL,
         "print the variants and schedules, and why they were chosen"},
        {"-MD", KC_OPTION_TEXT, &in->o.depend, "FILE.d",
         "write what the output depends on, for make"},
        {"-j", KC_OPTION_INT, &r->options.jobs, "N", "compilations at a time (default: one a CPU)"},
        {"--budget", KC_OPTION_SECONDS, &r->options.seconds, "SECONDS",
         "give up on one compilation after this long (300)"},
        {"--cache-dir", KC_OPTION_TEXT, &r->options.cache_dir, "DIR",
         "keep results there and use them again"},
        {"--json", KC_OPTION_FLAG, &in->o.json, NULL,
         "print what was built, and the diagnostics, as JSON"},
    };
    return kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table,
                            &in->models, 1, 1);
}

static int choose_emit(const kc_command *command, input *in) {
    kc_build_command *o = &in->o;
    int images = kc_choice(in->images ? in->images : "auto", image_names);
    int host = in->host ? kc_choice(in->host, host_names) : (int)kc_host_own();
    int fusion = kc_choice(in->fusion ? in->fusion : "on", fusion_names);
    o->emit = kc_emit_kind_find(in->emit ? in->emit : "kcb");
    if (images < 0)
        return kc_usage_error(command, "--images is auto, ptx, cubin or both, not '%s'",
                              in->images);
    if (host < 0) return kc_usage_error(command, "--host is x86_64 or aarch64, not '%s'", in->host);
    if (!o->emit)
        return kc_usage_error(command, "--emit is %s, not '%s'", kc_emit_kind_names, in->emit);
    if (fusion < 0)
        return kc_usage_error(command, "--fusion is on or off, not '%s'", in->fusion);
    o->host = (kc_host)host;
    o->request.options.no_fusion = fusion;
    o->request.images = images == 3 ? KC_IMAGES_BOTH : (kc_images_choice)images;
    o->request.single = o->emit->form == KC_EMIT_SINGLE ? o->emit->single : 0;
    o->request.only_kind = o->emit->kind;
    bool dash = in->output && !strcmp(in->output, "-");
    o->output = !dash ? in->output : o->emit->form == KC_EMIT_SINGLE ? NULL : "/dev/stdout";
    o->to_stdout = o->emit->form == KC_EMIT_SINGLE && !o->output;
    if (!o->output && !o->to_stdout) return kc_usage_error(command, "-o OUT is missing");
    if (!o->output && o->depend)
        return kc_usage_error(command, "-MD wants -o: it names what depends on the model");
    if (o->to_stdout && o->json)
        return kc_usage_error(command, "--json wants -o: both would go to standard output");
    return KC_PARSE_GO;
}

// PASS, all, PASS:DIR or all:DIR.
static int choose_dump(const kc_command *command, kc_arena *arena, input *in) {
    if (!in->dump) return KC_PARSE_GO;
    const char *colon = strchr(in->dump, ':');
    const char *name =
        colon ? kc_arena_strndup(arena, in->dump, (size_t)(colon - in->dump)) : in->dump;
    in->o.dump_folder = colon ? colon + 1 : NULL;
    in->o.request.options.dump_after = name;
    if (!strcmp(name, "all") || kc_pass_find(name)) {
        if (colon && !colon[1])
            return kc_usage_error(command, "--dump-after %s: a folder is wanted after the colon",
                                  in->dump);
        if (!colon && (in->o.to_stdout || in->o.json))
            return kc_usage_error(command,
                                  "--dump-after %s:DIR is wanted: standard output is taken", name);
        return KC_PARSE_GO;
    }
    const char *known = "all";
    for (const kc_pass *const *pass = kc_pipeline; *pass; pass++)
        known = kc_arena_printf(arena, "%s %s", known, (*pass)->name);
    return kc_usage_error(command, "--dump-after: no pass is named '%s'; choose from: %s", name,
                          known);
}

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, input *in) {
    int status = read_options(command, arena, argc, argv, in);
    if (status != KC_PARSE_GO) return status;
    if (!in->targets.n)
        return kc_usage_error(command, "--target is missing; `kc targets` lists what there is");
    status = choose_emit(command, in);
    if (status == KC_PARSE_GO) status = choose_dump(command, arena, in);
    kc_build_request *r = &in->o.request;
    r->targets = in->targets.items, r->n_targets = in->targets.n;
    r->functions = in->functions.items, r->n_functions = in->functions.n;
    return status;
}

// ---- the build ----------------------------------------------------------------------------------

static int check_single(const kc_command *command, const kc_build_run *run,
                        const kc_build_command *o) {
    struct stat s;
    if (o->emit->form != KC_EMIT_SINGLE || run->n_targets == 1) return KC_PARSE_GO;
    size_t n = o->output ? strlen(o->output) : 0;
    if (n && (o->output[n - 1] == '/' || (!stat(o->output, &s) && S_ISDIR(s.st_mode))))
        return KC_PARSE_GO;
    return kc_usage_error(command,
                          "--emit %s for %d targets makes a file for each: give a folder, -o DIR/",
                          o->emit->name, run->n_targets);
}

// What was learnt on the way is shown even when the build failed later.
static const char *show(kc_build_run *run, const kc_build_command *o) {
    const char *error = NULL;
    FILE *out = o->to_stdout || o->json ? stderr : stdout;
    if (!run->results) return NULL;
    if (run->options.dump_after) kc_build_write_dumps(run, o->dump_folder, &error);
    if (run->options.explain) kc_build_print_explanations(run, out);
    if (run->options.time_passes && !o->json) kc_build_print_times(run, out);
    return error;
}

static int run_build(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    input in = {0};
    const kc_build_command *o = &in.o;
    const char *error = NULL;
    int status = parse(command, arena, argc, argv, &in);
    if (status != KC_PARSE_GO) return status;
    kc_build_run *run = kc_build_run_create(arena, &in.o.request, in.models.items[0]);
    if (!kc_build_targets(run, &error)) return kc_usage_error(command, "%s", error);
    status = check_single(command, run, o);
    if (status != KC_PARSE_GO) return status;
    status = kc_build_all(run);
    error = show(run, o);
    if (!status && !error) kc_build_write_files(run, o, &error);
    if (error && !status) status = KC_EXIT_WRONG;
    kc_diag_print(run->diag, stderr);
    if (error) kc_command_fail(command, status, "%s", error);
    if (o->json) kc_build_print_json(run, o->output, o->emit->name, error, status, stdout);
    return status;
}

const kc_command kc_command_build = {
    "build", "compile a model file into a package of GPU kernels",
    "MODEL.yaml --target T [--target T]... -o OUT.kcb [OPTION]...",
    "The model may also be IR text, as --emit tensor writes it. No GPU is looked at or needed. The "
    "same inputs give the same\n"
    "bytes. OUT appears whole or not at all.\n",
    run_build};
