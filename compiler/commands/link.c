// kc link
#include <stdlib.h>

#include "compiler/commands/command.h"
#include "compiler/package/link.h"
#include "compiler/package/outfile.h"

static int join(const kc_command *command, kc_arena *arena, const kc_texts *paths,
                const char *output) {
    const char *error = NULL;
    kc_package_file **files = KC_NEW_ARRAY(arena, kc_package_file *, paths->n);
    for (int i = 0; i < paths->n; i++) {
        files[i] = kc_package_open(arena, paths->items[i], &error);
        if (!files[i]) return kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
    }
    char *data = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&data, &size);
    if (!out) return kc_command_fail(command, KC_EXIT_FAULT, "out of memory");
    bool ok = kc_package_link(arena, files, paths->n, out, &error);
    fclose(out);
    ok = ok && kc_outfile_write(arena, output, data, size, &error);
    free(data);
    return ok ? KC_EXIT_DONE : kc_command_fail(command, KC_EXIT_WRONG, "%s", error);
}

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    const char *output = NULL;
    kc_texts paths = {0};
    const kc_option table[] = {{"-o", KC_OPTION_TEXT, &output, "C.kcb", "the file to write"}};
    int status = kc_options_parse(command, arena, argc, argv, table, 1, &paths, 2, -1);
    if (status != KC_PARSE_GO) return status;
    if (!output) return kc_usage_error(command, "-o C.kcb is missing");
    return join(command, arena, &paths, output);
}

const kc_command kc_command_link = {"link", "join packages of one module",
                                    "A.kcb B.kcb [C.kcb]... -o OUT.kcb",
                                    "The packages must hold different functions, or the same "
                                    "functions for different architectures.\n",
                                    run};
