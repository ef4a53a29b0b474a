// kc version
#include "compiler/commands/command.h"
#include "compiler/package/json_writer.h"
#include "compiler/version.h"
#include "targets/build.h"

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    bool json = false;
    const kc_option options[] = {{"--json", KC_OPTION_FLAG, &json, NULL, "print JSON"}};
    kc_texts rest = {0};
    int status = kc_options_parse(command, arena, argc, argv, options, 1, &rest, 0, 0);
    if (status != KC_PARSE_GO) return status;
    if (!json) {
        printf("kc %s (LLVM %s)\n", KC_VERSION, kc_build_llvm_version());
        return KC_EXIT_DONE;
    }
    kc_json j = kc_json_to(stdout, 0);
    kc_json_open(&j, '{');
    kc_json_put_string(&j, "kc", KC_VERSION);
    kc_json_put_string(&j, "llvm", kc_build_llvm_version());
    kc_json_close(&j, '}');
    printf("\n");
    return KC_EXIT_DONE;
}

const kc_command kc_command_version = {
    "version", "print the versions of kc and of what it is built with", "[--json]", NULL, run};
