// The command line of kcrun.
#ifndef KCRUN_OPTIONS_H
#define KCRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_MOST 256

typedef struct {
    char name[256];
    const char *value;
} option_pair;

typedef struct {
    const char *program, *package, *function, *device, *counters;
    option_pair inputs[OPTIONS_MOST], outputs[OPTIONS_MOST], dims[OPTIONS_MOST];
    int input_count, output_count, dim_count;
    bool check, json, help; // help: it was asked for and printed
    uint64_t seed;
    bool has_seed;
} options;

// 0, or the exit status after a message.
int kcrun_options_parse(int argc, char **argv, options *out);
const char *kcrun_options_find(const option_pair *list, int count, const char *name);

#endif
