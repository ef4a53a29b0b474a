// kc build: options in, files out. What happens between is compiler/build.
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/command.h"
#include "compiler/package/outfile.h"

typedef struct {
    const char *output, *emit, *images, *dump, *host, *header, *depend;
    kc_texts targets, functions;
    bool no_portable, strip, json;
    kc_build_request request;
} options;

static const char *const image_names[] = {"auto", "ptx", "cubin", "both", NULL};

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, options *o, kc_texts *models) {
    const kc_option table[] = {
        {"--target", KC_OPTION_TEXTS, &o->targets, "T", "cuda:sm_90a, hip:gfx942, a family, attributes after commas, or JSON; repeatable"},
        {"-o", KC_OPTION_TEXT, &o->output, "OUT", "the file to write"},
        {"--function", KC_OPTION_TEXTS, &o->functions, "F", "only this function; repeatable"},
        {"--images", KC_OPTION_TEXT, &o->images, "KIND", "auto, ptx, cubin or both"},
        {"-j", KC_OPTION_INT, &o->request.options.jobs, "N", "compilations at a time (default: one a CPU)"},
    };
    int status = kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table, models, 1, 1);
    if (status != KC_PARSE_GO) return status;
    if (!o->targets.n) return kc_usage_error(command, "--target is missing; `kc targets` lists them");
    if (!o->output) return kc_usage_error(command, "-o OUT.kcb is missing");
    int images = kc_choice(o->images ? o->images : "auto", image_names);
    if (images < 0) return kc_usage_error(command, "--images is auto, ptx, cubin or both, not '%s'", o->images);
    o->request.images = (kc_images_choice)images;
    o->request.targets = o->targets.items, o->request.n_targets = o->targets.n;
    o->request.functions = o->functions.items, o->request.n_functions = o->functions.n;
    return KC_PARSE_GO;
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    options o = {0};
    kc_texts models = {0};
    int status = parse(command, arena, argc, argv, &o, &models);
    if (status != KC_PARSE_GO) return status;
    kc_build_run *build = kc_build_run_create(arena, &o.request, models.items[0]);
    const char *error = NULL;
    status = kc_build_all(build);
    if (!status && !kc_outfile_write(arena, o.output, build->package, build->package_size, &error)) status = KC_EXIT_WRONG;
    kc_diag_print(build->diag, stderr);
    if (error) kc_command_fail(command, status, "%s", error);
    return status;
}

const kc_command kc_command_build = {"build", "compile a model file into a package", "MODEL.yaml --target T [--target T]... -o OUT.kcb [OPTION]...",
                                     NULL, run};
