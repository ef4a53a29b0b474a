// Commands of `kc`: one descriptor each, listed in main.c, which alone exits.
#ifndef KC_COMPILER_COMMANDS_COMMAND_H
#define KC_COMPILER_COMMANDS_COMMAND_H

#include <stdio.h>

#include "compiler/build/driver.h"
#include "ir/arena.h"

typedef struct kc_command kc_command;
struct kc_command {
    const char *name;
    const char *meaning;   // one line for `kc --help`
    const char *arguments; // after the name in the usage line
    const char *help;      // what --help says besides the options, or NULL
    int (*run)(const kc_command *, kc_arena *, int argc,
               char **argv); // argv[0] is the command's name; gives an exit status
};

extern const kc_command kc_command_build, kc_command_run, kc_command_verify, kc_command_bench,
    kc_command_inspect, kc_command_link, kc_command_opt, kc_command_devices, kc_command_targets,
    kc_command_passes, kc_command_doctor, kc_command_version;

// ---- options.c ----------------------------------------------------------------------------------

typedef struct {
    const char **items;
    int n;
} kc_texts;

typedef enum {
    KC_OPTION_FLAG,
    KC_OPTION_TEXT,
    KC_OPTION_TEXTS,
    KC_OPTION_INT,
    KC_OPTION_SECONDS
} kc_option_kind;

typedef struct {
    const char *name; // with its dashes: "--target", "-o"
    kc_option_kind kind;
    void *to;          // bool, const char *, kc_texts, int, double
    const char *value; // how the help names the value
    const char *meaning;
} kc_option;

enum { KC_PARSE_GO = -1 }; // else an exit status

// Fills what the options and `positional` point to. Anything wrong: a sentence and the usage on
// stderr, KC_EXIT_USAGE. --help: the help on stdout, KC_EXIT_DONE. least..most: how many positional
// arguments there may be (most -1: any number).
int kc_options_parse(const kc_command *, kc_arena *, int argc, char **argv, const kc_option *,
                     int n_options, kc_texts *positional, int least, int most);
// A usage error found later: "kc NAME: TEXT" and the usage line on stderr; gives KC_EXIT_USAGE.
int kc_usage_error(const kc_command *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// "kc NAME: TEXT" on stderr; gives `status`.
int kc_command_fail(const kc_command *, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The index of `text` in a list that ends with NULL, or -1.
int kc_choice(const char *text, const char *const *list);

#endif
