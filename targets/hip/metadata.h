// The resources of kernels as an AMD code object states them in its metadata note.
#ifndef KC_TARGETS_HIP_METADATA_H
#define KC_TARGETS_HIP_METADATA_H

#include "targets/build.h"

// Reads the note of an ELF image. -1: no such note, or it is malformed. Accepts any bytes.
int kc_metadata_read(kc_arena *, const char *image, size_t size, kc_kernel_resources **out);

#endif
