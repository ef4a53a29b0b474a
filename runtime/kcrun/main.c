#include "runtime/kcrun/run.h"

int main(int argc, char **argv) {
    if (argc > 0) argv[0] = (char[]){"kcrun"};
    return kcrt_run_main(argc, argv);
}
