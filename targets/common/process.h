// Runs a tool: arguments, a time limit, its stderr and stdout caught together, its output file in
// memory.
#ifndef KC_TARGETS_COMMON_PROCESS_H
#define KC_TARGETS_COMMON_PROCESS_H

#include "ir/arena.h"

typedef enum {
    KC_PROCESS_OK,
    KC_PROCESS_NOT_STARTED,
    KC_PROCESS_TIMEOUT,
    KC_PROCESS_STATUS,
    KC_PROCESS_SIGNAL
} kc_process_end;

typedef struct {
    kc_process_end end;
    int code;         // exit status, signal or errno
    const char *text; // what it printed (the first megabyte), in the arena
    size_t size;
} kc_process_result;

// argv[0] is a path. Descriptors in `keep` (-1 ends the list) stay open in the tool, so that
// /proc/self/fd/N names them. The tool dies with us. Never fails to return within the time limit.
kc_process_result kc_process_run(kc_arena *, const char *const *argv, const int *keep,
                                 double seconds);
// A file that has no name and leaves nothing behind. -1 with errno.
int kc_process_memory_file(const char *data, size_t size);
// Its whole content; NULL when it cannot be read.
const char *kc_process_read_file(kc_arena *, int descriptor, size_t *size);

#endif
