// kc inspect
#include <string.h>

#include "compiler/commands/inspect_command.h"

typedef struct {
    bool json, verify;
    kc_texts extract, files;
} input;

static int parse(const kc_command *command, kc_arena *arena, int argc, char **argv, input *in) {
    const kc_option table[] = {
        {"--extract", KC_OPTION_TEXTS, &in->extract, "WHAT=FILE",
         "write an image; WHAT is ARCH[:ROLE[:FUNCTION]]; repeatable"},
        {"--verify", KC_OPTION_FLAG, &in->verify, NULL,
         "check hashes, labels and that images hold their kernels"},
        {"--json", KC_OPTION_FLAG, &in->json, NULL,
         "print the manifest, and `problems` with --verify"},
    };
    return kc_options_parse(command, arena, argc, argv, table, sizeof table / sizeof *table,
                            &in->files, 1, 1);
}

// The manifest's own object, with two more keys before its own.
static void print_json(const kc_package_file *file, bool verified, const kc_texts *problems) {
    kc_json j = kc_json_to(stdout, 3);
    kc_json_open(&j, '{');
    kc_json_put_int(&j, "package_bytes", (int64_t)file->size);
    if (verified) {
        kc_json_key(&j, "problems");
        kc_json_open(&j, '[');
        for (int i = 0; i < problems->n; i++)
            kc_json_string(&j, problems->items[i]);
        kc_json_close(&j, ']');
    }
    for (const kcrt_json *item = file->root->first; item; item = item->next) {
        kc_json_key(&j, item->key);
        kc_json_copy(&j, item);
    }
    kc_json_close(&j, '}');
    putchar('\n');
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    input in = {0};
    const char *error = NULL;
    int status = parse(command, arena, argc, argv, &in);
    if (status != KC_PARSE_GO) return status;
    for (int i = 0; i < in.extract.n; i++)
        if (!kc_inspect_extract_file(in.extract.items[i]))
            return kc_usage_error(command, "--extract %s: ARCH[:ROLE[:FUNCTION]]=FILE is wanted",
                                  in.extract.items[i]);
    kc_package_file *file = kc_package_open(arena, in.files.items[0], &error);
    if (!file) return kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
    kc_texts problems = {0};
    if (in.verify) problems = kc_inspect_check(arena, file);
    for (int i = 0; i < in.extract.n; i++)
        if (!kc_inspect_extract(arena, file, in.extract.items[i], &error))
            return kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
    if (in.json) print_json(file, in.verify, &problems);
    else if (!in.extract.n && !in.verify) kc_inspect_print(file, stdout);
    for (int i = 0; i < problems.n; i++)
        kc_command_fail(command, KC_EXIT_WRONG, "%s", problems.items[i]);
    if (in.verify && !problems.n && !in.json)
        printf("%s: %d images agree with the manifest\n", file->path, file->manifest.image_count);
    return problems.n ? KC_EXIT_WRONG : KC_EXIT_DONE;
}

const kc_command kc_command_inspect = {
    "inspect", "show, check or take apart a package", "OUT.kcb [OPTION]...",
    "PTX is extracted without the NUL that ends it inside the package.\n", run};
