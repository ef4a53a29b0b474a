// kc run: the runtime's own program, under another name.
#include <string.h>

#include "compiler/commands/command.h"
#include "runtime/kcrun/run.h"

static int run(const kc_command *command, kc_arena *arena, int argc, char **argv) {
    static char name[] = "kc run";
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        kc_texts none = {0};
        return kc_options_parse(command, arena, argc, argv, NULL, 0, &none, 0, 0);
    }
    argv[0] = name;
    return kcrt_run_main(argc, argv);
}

const kc_command kc_command_run = {
    "run", "run a function of a package on a device or a simulator",
    "OUT.kcb FUNCTION [--device D] --input NAME=SPEC... [--output NAME=FILE.npy[:TYPE]]... "
    "[OPTION]...",
    "D       cuda:0, hip:0, cuda-sim[:ARCH], hip-sim[:ARCH] or ref; default: the first GPU that "
    "the package has an image\n"
    "        for, else the simulator of its first image\n"
    "SPEC    FILE.npy, a number, or SHAPE:FILL such as 128x64:normal; fills: zeros ones arange "
    "uniform normal\n"
    "\n"
    "  --input NAME=SPEC           an input; each one is wanted\n"
    "  --output NAME=FILE[:TYPE]   write an output; without any, each output's shape, checksum, "
    "min, max and mean are printed\n"
    "  --dim NAME=N                a dimension that no shape gives\n"
    "  --check                     compare with the reference, within its error bound\n"
    "  --counters FILE.json        what a simulator counted\n"
    "  --seed N                    of fills and of a simulator\n"
    "  --json                      print results as JSON\n",
    run};
