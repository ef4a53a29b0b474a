// An array in host memory: dense, row-major, in one element type. 4-bit elements take a byte each
// here, of which they are the low nibble; files and devices have them packed. Errors are sentences
// in a caller's buffer.
#ifndef KCRUN_ARRAY_H
#define KCRUN_ARRAY_H

#include <stdbool.h>

#include "ir/dtype.h"

#define ARRAY_MAX_RANK 32
#define ERROR_SIZE 512

typedef struct {
    kc_dtype type;
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    size_t count; // of elements
    void *data;   // owned; kc_dtype_unit(type) * count bytes
} array;

bool kcrun_array_make(array *, kc_dtype, int rank, const int64_t *shape,
                      char error[ERROR_SIZE]); // zeroed
void kcrun_array_free(array *);
static inline void *array_at(const array *a, size_t i) {
    return (char *)a->data + i * (size_t)kc_dtype_unit(a->type);
}

// ---- strided.c: elements in device memory, strides in elements
void kcrun_array_spread(const array *, const int64_t *strides, void *memory);
void kcrun_array_collect(array *, const int64_t *strides, const void *memory);

// ---- npy.c --------------------------------------------------------------------------------------
// Versions 1 to 3; Fortran order and big-endian are converted. `as`: the type that is wanted. Types
// that .npy lacks come as V2, V1, u2 or u1 (bits); of 4-bit types two a byte, the low nibble first,
// so that the last axis is half as long. f64 and f32 are rounded to a smaller float type, and
// *rounded set; integers may change their width where every value fits. Anything else is an error.
bool kcrun_npy_read(const char *path, kc_dtype as, array *out, bool *rounded,
                    char error[ERROR_SIZE]);
// Without a conversion of numbers. `as` KC_DTYPE_NONE: the file's own type. Else it must be that
// type, or bits of it.
bool kcrun_npy_read_exact(const char *path, kc_dtype as, array *out, char error[ERROR_SIZE]);
// `as` KC_DTYPE_NONE: the array's own type, as bits where .npy lacks it (packed ones as u1). Appears
// whole or not at all.
bool kcrun_npy_write(const char *path, const array *, kc_dtype as, char error[ERROR_SIZE]);
// Any file: beside it, fsync, rename.
bool kcrun_file_write(const char *path, const void *head, size_t head_size, const void *body,
                      size_t body_size, char error[ERROR_SIZE]);

// ---- fill.c -------------------------------------------------------------------------------------
typedef enum {
    FILL_NONE,
    FILL_ZEROS,
    FILL_ONES,
    FILL_ARANGE,
    FILL_UNIFORM,
    FILL_NORMAL,
    FILL_NUMBER
} fill_kind;
typedef struct {
    const char *path; // FILE.npy, or NULL
    bool has_shape;
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    fill_kind fill;
    double number;
    int64_t integer; // FILL_NUMBER: the same, exactly, when is_integer
    bool is_integer;
} spec;

// FILE.npy, NUMBER, FILL, SHAPE:FILL or SHAPE:NUMBER, where SHAPE is 128x64.
bool kcrun_spec_parse(const char *text, spec *out, char error[ERROR_SIZE]);
// uniform: floats in [-1, 1), integers in [-16, 16) (unsigned [0, 32)), bool either. normal: mean
// 0, deviation 1 (integers 8; i4 2; they wrap). f8e8m0, which has no sign, takes absolute values.
// normal is made as a sum of twelve uniforms, so that the same seed gives the same
// bits everywhere. `stream` tells arguments apart.
bool kcrun_spec_fill(const spec *, array *, uint64_t seed, uint64_t stream, char error[ERROR_SIZE]);

#endif
