// One small parser for every command: --name VALUE, --name=VALUE, -j N, -jN, `--` ends the options.
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/command.h"

typedef struct {
    const kc_command *command;
    kc_arena *arena;
    int argc, next;
    char **argv;
    const kc_option *options;
    int n_options;
} parser;

// ---- help and errors ----------------------------------------------------------------------------

static void print_usage(const kc_command *command, FILE *out) {
    fprintf(out, "usage: kc %s%s%s\n", command->name, *command->arguments ? " " : "",
            command->arguments);
}

static void print_help(const kc_command *command, const kc_option *options, int n) {
    print_usage(command, stdout);
    printf("\nkc %s: %s.\n", command->name, command->meaning);
    if (command->help) printf("\n%s", command->help);
    printf("\n");
    for (int i = 0; i < n; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", options[i].name, options[i].value ? " " : "",
                 options[i].value ? options[i].value : "");
        printf("  %-27s %s\n", left, options[i].meaning);
    }
    printf("  %-27s %s\n", "--help", "show this");
}

int kc_usage_error(const kc_command *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "kc %s: ", command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    print_usage(command, stderr);
    fprintf(stderr, "`kc %s --help` says more\n", command->name);
    return KC_EXIT_USAGE;
}

int kc_command_fail(const kc_command *command, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "kc %s: error: ", command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

int kc_choice(const char *text, const char *const *list) {
    for (int i = 0; list[i]; i++)
        if (!strcmp(text, list[i])) return i;
    return -1;
}

// ---- values -------------------------------------------------------------------------------------

static void add_text(kc_arena *arena, kc_texts *list, const char *text) {
    bool full = (list->n & (list->n - 1)) == 0; // capacity is the next power of two
    if (full) {
        const char **bigger = KC_NEW_ARRAY(arena, const char *, list->n ? 2 * list->n : 1);
        if (list->n) memcpy(bigger, list->items, sizeof *bigger * (size_t)list->n);
        list->items = bigger;
    }
    list->items[list->n++] = text;
}

static int set_int(parser *p, const kc_option *o, const char *value) {
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (*end || end == value || errno || n < 0 || n > INT_MAX)
        return kc_usage_error(p->command, "%s wants a whole number that is not negative, not '%s'",
                              o->name, value);
    *(int *)o->to = (int)n;
    return KC_PARSE_GO;
}

static int set_seconds(parser *p, const kc_option *o, const char *value) {
    char *end;
    double seconds = strtod(value, &end);
    if (*end || end == value || !(seconds > 0) || seconds > 1e9)
        return kc_usage_error(p->command, "%s wants a number of seconds above 0, not '%s'", o->name,
                              value);
    *(double *)o->to = seconds;
    return KC_PARSE_GO;
}

static int set_value(parser *p, const kc_option *o, const char *value) {
    switch (o->kind) {
    case KC_OPTION_TEXT:
        if (*(const char **)o->to) return kc_usage_error(p->command, "%s is given twice", o->name);
        *(const char **)o->to = value;
        return KC_PARSE_GO;
    case KC_OPTION_TEXTS: add_text(p->arena, o->to, value); return KC_PARSE_GO;
    case KC_OPTION_INT: return set_int(p, o, value);
    case KC_OPTION_SECONDS: return set_seconds(p, o, value);
    case KC_OPTION_FLAG: break;
    }
    *(bool *)o->to = true;
    return KC_PARSE_GO;
}

// ---- options ------------------------------------------------------------------------------------

// The option that `text` names; *value is what follows '=' (or stands right behind a one-letter
// option), else NULL.
static const kc_option *find(const parser *p, const char *text, const char **value) {
    for (int i = 0; i < p->n_options; i++) {
        const kc_option *o = &p->options[i];
        size_t n = strlen(o->name);
        if (strncmp(text, o->name, n)) continue;
        bool letter = n == 2 && o->kind != KC_OPTION_FLAG && text[n];
        if (text[n] && text[n] != '=' && !letter) continue;
        *value = !text[n] ? NULL : text + n + (text[n] == '=');
        return o;
    }
    return NULL;
}

static int unknown(parser *p, const char *text) {
    const char *best = NULL;
    size_t longest = 3; // "--x" in common says nothing yet
    for (int i = 0; i < p->n_options; i++) {
        size_t n = 0;
        while (text[n] && text[n] == p->options[i].name[n])
            n++;
        if (n >= longest && n > 3) best = p->options[i].name, longest = n;
    }
    return best ? kc_usage_error(p->command, "unknown option '%s'; did you mean %s?", text, best)
                : kc_usage_error(p->command, "unknown option '%s'", text);
}

static int parse_option(parser *p, const char *text) {
    const char *value = NULL;
    const kc_option *o = find(p, text, &value);
    if (!o) return unknown(p, text);
    if (o->kind == KC_OPTION_FLAG && value)
        return kc_usage_error(p->command, "%s takes no value", o->name);
    if (o->kind != KC_OPTION_FLAG && !value) {
        if (p->next == p->argc)
            return kc_usage_error(p->command, "%s wants %s after it", o->name, o->value);
        value = p->argv[p->next++];
    }
    return set_value(p, o, value);
}

int kc_options_parse(const kc_command *command, kc_arena *arena, int argc, char **argv,
                     const kc_option *options, int n_options, kc_texts *positional, int least,
                     int most) {
    parser p = {command, arena, argc, 1, argv, options, n_options};
    bool ended = false;
    while (p.next < argc) {
        const char *text = argv[p.next++];
        if (!ended && !strcmp(text, "--")) {
            ended = true;
        } else if (!ended && (!strcmp(text, "--help") || !strcmp(text, "-h"))) {
            print_help(command, options, n_options);
            return KC_EXIT_DONE;
        } else if (!ended && text[0] == '-' && text[1]) {
            int status = parse_option(&p, text);
            if (status != KC_PARSE_GO) return status;
        } else if (positional->n == most) {
            return kc_usage_error(command, "'%s' is one argument too many", text);
        } else {
            add_text(arena, positional, text);
        }
    }
    if (positional->n < least) return kc_usage_error(command, "an argument is missing");
    return KC_PARSE_GO;
}
