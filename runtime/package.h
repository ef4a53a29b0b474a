// The container: concatenated LLVM offload binaries, version 1, one image each. docs/PACKAGE.md
// says what is inside.
//
// Nothing is copied: an entry's strings and image point into the caller's bytes, which must outlive
// it. Nothing is trusted: every offset and length is checked against its own binary, every string
// against its NUL.
#ifndef KCRT_PACKAGE_H
#define KCRT_PACKAGE_H

#include <stdint.h>

#include "runtime/arena.h"
#include "runtime/kcrt.h"

#define KCRT_MAX_ENTRIES 65537 // 65536 images and the manifest
#define KCRT_MAX_PACKAGE_BYTES ((size_t)1 << 30)

typedef struct {
    uint16_t image_kind, offload_kind;
    const char *triple, *arch, *role; // "" where the entry has none
    const void *image;
    size_t size;
} kcrt_entry;

typedef struct {
    kcrt_entry *entries; // owned by the arena
    int count;
} kcrt_package;

// KCRT_BAD_PACKAGE with the offset and what is wrong there. `what` names the bytes in messages: a
// path, "the package".
kcrt_status kcrt_package_read(kcrt_arena *, const char *what, const void *data, size_t size,
                              kcrt_package *out);

// The whole file, pipes and devices too; KCRT_UNSUPPORTED when it has more than `most` bytes.
// KCRT_IO, KCRT_NOT_FOUND, KCRT_OUT_OF_MEMORY. *data is malloc'ed.
kcrt_status kcrt_file_read(const char *path, size_t most, void **data, size_t *size);

#endif
