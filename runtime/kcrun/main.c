#include "runtime/kcrun/run.h"

int main(int argc, char **argv) {
    static char name[] = "kcrun"; // not the path it was started by
    if (argc > 0) argv[0] = name;
    return kcrt_run_main(argc, argv);
}
