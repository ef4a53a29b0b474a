// Output files that appear whole or not at all: written to a file without a name in the same
// folder, synced, then given their name in one step. What stood under the name before stays until
// then, and after any failure.
//
// A kill at any moment leaves no temporary file where the file system has O_TMPFILE; elsewhere, and
// for the instant in which a file is replaced, a process of its own does the naming, which a kill
// of kc does not reach.
#ifndef KC_COMPILER_PACKAGE_OUTFILE_H
#define KC_COMPILER_PACKAGE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/arena.h"

typedef struct kc_outfile kc_outfile;

// Everything is on disk, but under no name yet. NULL: *error is a sentence that names the path and
// what to try. A device or a pipe is only checked to be writable here; kc_outfile_commit writes it.
// `data` is borrowed until then.
kc_outfile *kc_outfile_stage(kc_arena *, const char *path, const void *data, size_t size,
                             const char **error);
bool kc_outfile_commit(kc_outfile *, const char **error);
void kc_outfile_drop(kc_outfile *); // a staged output that is not wanted after all; accepts NULL

// Stage and commit of one file.
bool kc_outfile_write(kc_arena *, const char *path, const void *data, size_t size,
                      const char **error);

#endif
