// kc: the table of commands. This is the only place that exits.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/commands/command.h"
#include "compiler/version.h"

static const kc_command *const commands[] = {
    &kc_command_build,   &kc_command_run,    &kc_command_verify, &kc_command_bench,
    &kc_command_inspect, &kc_command_link,   &kc_command_opt,    &kc_command_devices,
    &kc_command_targets, &kc_command_passes, &kc_command_doctor, &kc_command_version,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out) {
    fprintf(out,
            "usage: kc COMMAND [ARGUMENT]...\n\nkc %s compiles models of functions over tensors "
            "into fat binaries of GPU "
            "kernels.\n\n",
            KC_VERSION);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->meaning);
    fprintf(out, "\n`kc COMMAND --help` says more about one.\n");
}

static const kc_command *find(const char *name) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    return NULL;
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return KC_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return KC_EXIT_DONE;
    }
    const kc_command *command = find(!strcmp(argv[1], "--version") ? "version" : argv[1]);
    if (!command) {
        fprintf(stderr,
                "kc: '%s' is not a command\nusage: kc COMMAND [ARGUMENT]...\n`kc --help` lists the "
                "commands\n",
                argv[1]);
        return KC_EXIT_USAGE;
    }
    kc_arena *arena = kc_arena_create();
    int status = command->run(command, arena, argc - 1, argv + 1);
    kc_arena_destroy(arena);
    return status;
}

// Results that could not be written in full are not done: a full disk behind `kc ... > FILE` must
// not look like success.
static int flush_results(int status) {
    if (!fflush(stdout) && !ferror(stdout)) return status;
    if (errno == EPIPE) return status ? status : KC_EXIT_WRONG; // whoever reads has read enough
    fprintf(stderr, "kc: cannot write to standard output: %s\n", strerror(errno));
    return status ? status : KC_EXIT_WRONG;
}

static void on_out_of_memory(void *context) {
    (void)context;
    static const char text[] = "kc: out of memory\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(KC_EXIT_FAULT);
    _exit(KC_EXIT_FAULT);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of the write, with a message
    kc_arena_on_out_of_memory(on_out_of_memory, NULL);
    exit(flush_results(dispatch(argc, argv)));
}
