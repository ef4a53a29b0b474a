// Bytes as a .npy and as a safetensors file: whatever they are, an answer comes, and data that is
// accepted is as large as its shape says.
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/frontend/tensor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/kc-fuzz-XXXXXX";

static void remove_folder(void) {
    rmdir(folder);
}

static bool write_file(const char *path, const uint8_t *data, size_t size) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool good = file >= 0 && write(file, data, size) == (ssize_t)size;
    if (file >= 0) close(file);
    return good;
}

static void try_read(const char *path, const char *tensor, kc_dtype as) {
    kc_arena *arena = kc_arena_create();
    kc_tensor_data out;
    char error[KC_TENSOR_ERROR] = "";
    if (kc_tensor_file_read(arena, path, tensor, as, &out, error)) {
        size_t bits = (size_t)kc_dtype_bits(out.type);
        for (int d = 0; d < out.rank; d++)
            if (out.shape[d] < 0 || __builtin_mul_overflow(bits, (size_t)out.shape[d], &bits)) abort();
        if ((bits + 7) / 8 != out.size || (as != KC_DTYPE_NONE && out.type != as)) abort();
        for (size_t i = 0; i < out.size; i++)
            *(volatile const char *)((const char *)out.data + i); // all of it is there
    } else if (!*error) {
        abort();
    }
    kc_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const kc_dtype types[] = {KC_DTYPE_NONE, KC_f16, KC_bf16, KC_i4, KC_f8e4m3};
    static char npy[64], safetensors[64];
    if (!*npy) {
        if (!mkdtemp(folder) || atexit(remove_folder)) abort();
        snprintf(npy, sizeof npy, "%s/a.npy", folder);
        snprintf(safetensors, sizeof safetensors, "%s/a.safetensors", folder);
    }
    if (!write_file(npy, data, size) || !write_file(safetensors, data, size)) abort();
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        try_read(npy, NULL, types[i]);
        try_read(safetensors, "b", types[i]);
    }
    try_read(safetensors, NULL, KC_DTYPE_NONE);
    unlink(npy);
    unlink(safetensors);
    return 0;
}
