// Tensors in files: .npy and safetensors. Files come from anyone: sizes, offsets and texts are
// checked before they are used, and nothing is read that is not a regular file.
#ifndef KC_COMPILER_FRONTEND_TENSOR_FILE_H
#define KC_COMPILER_FRONTEND_TENSOR_FILE_H

#include "ir/ir.h"

enum {
    KC_TENSOR_MAX_BYTES = 1 << 30,  // of one tensor; a package is no larger
    KC_TENSOR_MAX_HEADER = 16 << 20, // of a safetensors file
    KC_TENSOR_ERROR = 512
};

// Elements as device memory holds them: row-major, without gaps, little-endian, 4-bit ones packed.
typedef struct {
    kc_dtype type;
    int rank;
    int64_t shape[KC_MAX_RANK];
    const void *data; // of the arena
    size_t size;
} kc_tensor_data;

// `tensor` names one in a safetensors file; NULL for .npy. `as` KC_DTYPE_NONE: the file's own type;
// else the file has that type, or unsigned integers or raw bytes that are its bits. Nothing is
// converted. False: a sentence without a full stop that begins with the path.
bool kc_tensor_file_read(kc_arena *, const char *path, const char *tensor, kc_dtype as,
                         kc_tensor_data *out, char error[KC_TENSOR_ERROR]);

// safetensors.c: the same for one format; the file is open and has `size` bytes.
bool kc_safetensors_read(kc_arena *, int file, size_t size, const char *path, const char *tensor,
                         kc_dtype as, kc_tensor_data *out, char error[KC_TENSOR_ERROR]);
// Memory that goes with the arena; NULL: there is none.
void *kc_tensor_memory(kc_arena *, size_t size);

#endif
