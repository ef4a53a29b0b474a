// Forked workers: each job runs in a process of its own, with a time limit, and sends bytes to the
// parent. A job that dies or hangs takes nobody along.
#ifndef KC_COMPILER_BUILD_POOL_H
#define KC_COMPILER_BUILD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/arena.h"

typedef struct {
    const char *died; // NULL: it ended by itself with status 0; else what happened
    const char *data; // what it sent, valid during the call
    size_t size;
    const char *said; // what it wrote to its stderr (the first 64 KB), "" if nothing; in the arena
} kc_pool_end;

typedef struct {
    int jobs;       // at a time; 0: one a CPU
    double seconds; // of one job
    void *context;
    // In the worker: sends to `out` and returns, or ends the process. Returning means status 0.
    void (*work)(void *context, int job, int out);
    // In the parent, in the order in which jobs end.
    void (*done)(void *context, int job, const kc_pool_end *);
} kc_pool;

// Jobs 0 to n-1. False when no worker could be started at all: *error says why.
bool kc_pool_run(kc_arena *, const kc_pool *, int n, const char **error);

#endif
