// header 32 bytes, entry 40, string map 3 pairs of u64, string table, image (aligned to 8),
// padding.
#include "compiler/package/offload.h"

#include <string.h>

#include "compiler/package/bytes.h"

enum { HEADER_BYTES = 32, ENTRY_BYTES = 40, PAIR_BYTES = 16, PAIRS = 3 };

static size_t padded(size_t n) {
    return (n + 7) & ~(size_t)7;
}

// Image kinds 0 none, 1 object, 3 cubin, 5 PTX.
static int image_kind(const char *role) {
    if (!strcmp(role, "cubin")) return 3;
    if (!strcmp(role, "ptx")) return 5;
    return !strcmp(role, "hsaco");
}

// Offload kinds 0 none, 2 CUDA, 4 HIP.
static int offload_kind(const char *triple) {
    return !strcmp(triple, "cuda") ? 2 : !strcmp(triple, "hip") ? 4 : 0;
}

void kc_offload_write(FILE *out, const kc_offload_image *image) {
    const char *const strings[2 * PAIRS] = {"triple",    image->triple, "arch",
                                            image->arch, "kc.role",     image->role};
    size_t map = HEADER_BYTES + ENTRY_BYTES, table = map + PAIRS * PAIR_BYTES, table_size = 1;
    for (int i = 0; i < 2 * PAIRS; i++)
        table_size += strlen(strings[i]) + 1;
    size_t at = padded(table + table_size), total = padded(at + image->size);
    fwrite("\x10\xff\x10\xad", 1, 4, out);
    kc_bytes_number(out, 1, 4);
    kc_bytes_number(out, total, 8);
    kc_bytes_number(out, HEADER_BYTES, 8);
    kc_bytes_number(out, ENTRY_BYTES, 8);
    kc_bytes_number(out, (uint64_t)image_kind(image->role), 2);
    kc_bytes_number(out, (uint64_t)offload_kind(image->triple), 2);
    kc_bytes_number(out, 0, 4); // flags
    kc_bytes_number(out, map, 8);
    kc_bytes_number(out, PAIRS, 8);
    kc_bytes_number(out, at, 8);
    kc_bytes_number(out, image->size, 8);
    size_t string = table + 1; // the table starts with a NUL
    for (int i = 0; i < 2 * PAIRS; i++) {
        kc_bytes_number(out, string, 8);
        string += strlen(strings[i]) + 1;
    }
    fputc(0, out);
    for (int i = 0; i < 2 * PAIRS; i++)
        fwrite(strings[i], 1, strlen(strings[i]) + 1, out);
    kc_bytes_zeros(out, at - (table + table_size));
    fwrite(image->data, 1, image->size, out);
    kc_bytes_zeros(out, total - (at + image->size));
}
