// Writes LLVM offload binaries, version 1 (docs/PACKAGE.md, "Entries"). The reader is
// runtime/package.c.
#ifndef KC_COMPILER_PACKAGE_OFFLOAD_H
#define KC_COMPILER_PACKAGE_OFFLOAD_H

#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *triple, *arch, *role;
    const void *data;
    size_t size;
} kc_offload_image;

// One binary with one image, padded to 8 bytes. The kinds follow from triple and role.
void kc_offload_write(FILE *, const kc_offload_image *);

#endif
