#include "runtime/kcrun/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] = " OUT.kcb FUNCTION [--device D] --input NAME=SPEC... [--output "
                                 "NAME=FILE.npy[:TYPE]]... [--dim M=17]\n"
                                 "         [--check] [--counters FILE.json] [--seed N] [--json]\n"
                                 "  D     cuda:0, hip:0, cuda-sim[:ARCH], hip-sim[:ARCH], ref; "
                                 "default: the first GPU that the package has an image\n"
                                 "        for, else the simulator of its first image\n"
                                 "  SPEC  FILE.npy, a number, or SHAPE:FILL such as 128x64:normal; "
                                 "fills: zeros ones arange uniform normal\n";

static int usage(const options *o, const char *problem, const char *what) {
    fprintf(stderr, "%s: error: %s%s%s\nusage: %s%s", o->program, problem, what ? " " : "",
            what ? what : "", o->program, usage_text);
    return 2;
}

static int add_pair(options *o, option_pair *list, int *count, const char *text,
                    const char *option) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof list->name)
        return usage(o, "expected NAME=VALUE after", option);
    option_pair *pair = &list[*count];
    snprintf(pair->name, sizeof pair->name, "%.*s", (int)(equals - text), text);
    if (kcrun_options_find(list, *count, pair->name)) return usage(o, "given twice:", text);
    if (*count == OPTIONS_MOST - 1) return usage(o, "too many of", option);
    pair->value = equals + 1;
    ++*count;
    return 0;
}

static int set_seed(options *o, const char *text) {
    char *end;
    errno = 0;
    o->seed = strtoull(text, &end, 0);
    o->has_seed = true;
    return *text >= '0' && *text <= '9' && !*end && !errno
               ? 0
               : usage(o, "--seed wants a number from 0 on, not", text);
}

static int take_value(options *o, const char *option, const char *value) {
    if (!strcmp(option, "--input")) return add_pair(o, o->inputs, &o->input_count, value, option);
    if (!strcmp(option, "--output"))
        return add_pair(o, o->outputs, &o->output_count, value, option);
    if (!strcmp(option, "--dim")) return add_pair(o, o->dims, &o->dim_count, value, option);
    if (!strcmp(option, "--seed")) return set_seed(o, value);
    if (!strcmp(option, "--device")) o->device = value;
    if (!strcmp(option, "--counters")) o->counters = value;
    return 0;
}

static bool wants_value(const char *option, size_t n) {
    static const char *const names[] = {"--input", "--output", "--dim",
                                        "--seed",  "--device", "--counters"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !strncmp(names[i], option, n)) return true;
    return false;
}

static int take_option(options *o, int argc, char **argv, int *i) {
    const char *text = argv[*i], *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    if (!strcmp(text, "--check")) o->check = true;
    else if (!strcmp(text, "--json")) o->json = true;
    else if (!wants_value(text, n)) return usage(o, "unknown option", text);
    else {
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        if (!equals && *i + 1 == argc) return usage(o, "a value is missing after", text);
        return take_value(o, name, equals ? equals + 1 : argv[++*i]);
    }
    return 0;
}

int kcrun_options_parse(int argc, char **argv, options *o) {
    *o = (options){.program = argc > 0 ? argv[0] : "kcrun"};
    for (int i = 1; i < argc; i++) {
        int status = 0;
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            printf("usage: %s%s", o->program, usage_text);
            o->help = true;
            return 0;
        }
        if (argv[i][0] == '-' && argv[i][1]) status = take_option(o, argc, argv, &i);
        else if (!o->package) o->package = argv[i];
        else if (!o->function) o->function = argv[i];
        else status = usage(o, "unexpected argument", argv[i]);
        if (status) return status;
    }
    if (!o->package || !o->function) return usage(o, "a package and a function are wanted", NULL);
    return 0;
}

const char *kcrun_options_find(const option_pair *list, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(list[i].name, name)) return list[i].value;
    return NULL;
}
