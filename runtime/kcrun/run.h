// kcrun: runs one function of a package. `kc run` is the same code, linked into the compiler.
#ifndef KCRUN_RUN_H
#define KCRUN_RUN_H

// argv[0] names the program in messages ("kcrun", "kc run"); then OUT.kcb FUNCTION and the options
// that `kcrun --help` lists. Results on stdout, diagnostics on stderr. Returns the exit status: 0 done; 1
// wrong input, a failed check or a simulator's finding; 2 usage.
int kcrt_run_main(int argc, char **argv);

#endif
