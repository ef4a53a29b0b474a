// Which reader a file is for, and .npy by kcrun's reader.
#include "compiler/frontend/tensor_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/kcrun/array.h"

_Static_assert((int)KC_TENSOR_ERROR == (int)ERROR_SIZE, "errors of both kinds fit one buffer");

static bool fail(char error[KC_TENSOR_ERROR], const char *path, const char *problem) {
    snprintf(error, KC_TENSOR_ERROR, "%.300s: %s", path, problem);
    return false;
}

void *kc_tensor_memory(kc_arena *arena, size_t size) {
    void *data = malloc(size ? size : 1);
    if (data) kc_arena_defer(arena, free, data);
    return data;
}

// ---- .npy ---------------------------------------------------------------------------------------

static bool take_array(kc_arena *arena, const char *path, const array *a, kc_tensor_data *out,
                       char error[KC_TENSOR_ERROR]) {
    int64_t strides[KC_MAX_RANK], stride = 1;
    if (a->rank > KC_MAX_RANK) return fail(error, path, "has more than 8 dimensions");
    *out = (kc_tensor_data){.type = a->type, .rank = a->rank};
    for (int d = a->rank - 1; d >= 0; d--) {
        out->shape[d] = a->shape[d];
        strides[d] = stride;
        stride *= a->shape[d];
    }
    out->size = (a->count * (size_t)kc_dtype_bits(a->type) + 7) / 8;
    void *data = kc_tensor_memory(arena, out->size);
    if (!data) return fail(error, path, "not enough memory");
    if (kc_dtype_is_packed(a->type)) kcrun_array_spread(a, strides, data);
    else if (out->size) memcpy(data, a->data, out->size);
    out->data = data;
    return true;
}

static bool read_npy(kc_arena *arena, const char *path, size_t size, kc_dtype as,
                     kc_tensor_data *out, char error[KC_TENSOR_ERROR]) {
    array a;
    if (size > KC_TENSOR_MAX_BYTES)
        return fail(error, path, "is larger than 1 GiB, which no package holds");
    bool good = kcrun_npy_read_exact(path, as, &a, error);
    if (good) good = take_array(arena, path, &a, out, error);
    kcrun_array_free(&a);
    return good;
}

// ---- files --------------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

// An open regular file. Opening a pipe would wait, so that it is looked at first.
static int open_regular(const char *path, size_t *size, char error[KC_TENSOR_ERROR]) {
    struct stat s;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &s)) fail(error, path, strerror(errno));
    else if (!S_ISREG(s.st_mode)) fail(error, path, "is no regular file");
    else {
        *size = (size_t)s.st_size;
        return file;
    }
    if (file >= 0) close(file);
    return -1;
}

bool kc_tensor_file_read(kc_arena *arena, const char *path, const char *tensor, kc_dtype as,
                         kc_tensor_data *out, char error[KC_TENSOR_ERROR]) {
    bool npy = ends_with(path, ".npy"), safetensors = ends_with(path, ".safetensors");
    size_t size;
    if (!npy && !safetensors)
        return fail(error, path, "is neither a .npy nor a .safetensors file");
    if (npy && tensor) return fail(error, path, "holds one array; 'tensor' is for safetensors");
    int file = open_regular(path, &size, error);
    if (file < 0) return false;
    bool good = npy ? read_npy(arena, path, size, as, out, error)
                    : kc_safetensors_read(arena, file, size, path, tensor, as, out, error);
    close(file);
    return good;
}
