// One binary: header 32 bytes { magic 4, version u32, size u64, entry offset u64, entry size u64 },
// entry 40 bytes { image kind u16, offload kind u16, flags u32, strings offset u64, count u64,
// image offset u64, image size u64 }, string map: pairs of u64 offsets, key and value. All little
// endian, all offsets from the binary's own header.
#include "runtime/package.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrt_device.h"

#define HEADER_BYTES 32
#define ENTRY_BYTES 40
#define MAX_STRINGS 64

typedef struct {
    const char *what;
    const unsigned char *data; // of the binary at `at`
    size_t size;               // of this binary
    size_t at;                 // of this binary in the file, for messages
} binary;

static uint64_t read_u64(const unsigned char *p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static uint32_t read_u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static kcrt_status bad(const binary *b, const char *problem) {
    return kcrt_fail(KCRT_BAD_PACKAGE, "%s is not a usable package: in the entry at byte %zu, %s.",
                     b->what, b->at, problem);
}

static bool fits(const binary *b, uint64_t offset, uint64_t size) {
    return offset <= b->size && size <= b->size - offset;
}

static const char *string_at(const binary *b, uint64_t offset) {
    if (offset >= b->size || !memchr(b->data + offset, 0, b->size - offset)) return NULL;
    return (const char *)b->data + offset;
}

static kcrt_status read_strings(const binary *b, uint64_t offset, uint64_t count, kcrt_entry *out) {
    out->triple = out->arch = out->role = "";
    if (count > MAX_STRINGS) return bad(b, "the string map has more than 64 strings");
    if (!fits(b, offset, count * 16)) return bad(b, "the string map lies outside the entry");
    const struct {
        const char *key;
        const char **value;
    } wanted[] = {{"triple", &out->triple}, {"arch", &out->arch}, {"kc.role", &out->role}};
    unsigned seen = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *key = string_at(b, read_u64(b->data + offset + 16 * i));
        const char *value = string_at(b, read_u64(b->data + offset + 16 * i + 8));
        if (!key || !value) return bad(b, "a string lies outside the entry or has no end");
        for (unsigned w = 0; w < 3; w++) {
            if (strcmp(key, wanted[w].key)) continue;
            if (seen & 1u << w) return bad(b, "a string appears twice in the string map");
            seen |= 1u << w;
            *wanted[w].value = value;
        }
    }
    return KCRT_OK;
}

static kcrt_status read_entry(const binary *b, kcrt_entry *out) {
    uint64_t offset = read_u64(b->data + 16), size = read_u64(b->data + 24);
    if (size < ENTRY_BYTES || !fits(b, offset, size))
        return bad(b, "the entry header lies outside the entry");
    const unsigned char *entry = b->data + offset;
    out->image_kind = (uint16_t)(entry[0] | entry[1] << 8);
    out->offload_kind = (uint16_t)(entry[2] | entry[3] << 8);
    uint64_t image = read_u64(entry + 24), image_size = read_u64(entry + 32);
    if (!fits(b, image, image_size)) return bad(b, "the image lies outside the entry");
    out->image = b->data + image;
    out->size = image_size;
    return read_strings(b, read_u64(entry + 8), read_u64(entry + 16), out);
}

// Checks the header at b->data with `left` bytes to the end of the file, and sets b->size.
static kcrt_status read_header(binary *b, size_t left) {
    static const unsigned char magic[4] = {0x10, 0xff, 0x10, 0xad};
    if (left < HEADER_BYTES) return bad(b, "the file ends inside the header");
    if (memcmp(b->data, magic, 4))
        return bad(b, "the bytes 10 FF 10 AD of an offload binary are missing");
    uint32_t version = read_u32(b->data + 4);
    if (version != 1) return bad(b, "the offload binary has a version other than 1");
    uint64_t size = read_u64(b->data + 8);
    if (size < HEADER_BYTES + ENTRY_BYTES) return bad(b, "the size is smaller than the headers");
    if (size > left)
        return bad(b, "the size goes past the end of the file: it may have been cut short");
    b->size = size;
    return KCRT_OK;
}

static kcrt_status grow(kcrt_arena *arena, kcrt_package *package, int *capacity) {
    if (package->count < *capacity) return KCRT_OK;
    int wanted = *capacity ? *capacity * 2 : 32;
    kcrt_entry *bigger = KCRT_NEW(arena, kcrt_entry, (size_t)wanted);
    if (!bigger)
        return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to read the package.");
    if (package->count) memcpy(bigger, package->entries, (size_t)package->count * sizeof *bigger);
    package->entries = bigger;
    *capacity = wanted;
    return KCRT_OK;
}

kcrt_status kcrt_package_read(kcrt_arena *arena, const char *what, const void *data, size_t size,
                              kcrt_package *out) {
    *out = (kcrt_package){0};
    int capacity = 0;
    if (!size) return kcrt_fail(KCRT_BAD_PACKAGE, "%s is not a usable package: it is empty.", what);
    for (size_t at = 0; at < size;) {
        binary b = {.what = what, .data = (const unsigned char *)data + at, .at = at};
        kcrt_status status = read_header(&b, size - at);
        if (!status && out->count == KCRT_MAX_ENTRIES)
            status = bad(&b, "there are more than 65537 entries");
        if (!status) status = grow(arena, out, &capacity);
        if (!status) status = read_entry(&b, &out->entries[out->count]);
        if (status) return status;
        out->count++;
        // A last binary without its padding is accepted; the size is at most what is left, so this
        // cannot wrap.
        size_t step = (b.size + 7) & ~(size_t)7;
        at = step > size - at ? size : at + step;
    }
    return KCRT_OK;
}

// Pipes and devices have no size to look at first, and some never end: one byte more than `most` is
// asked for.
static kcrt_status read_stream(FILE *file, const char *path, size_t most, void **data,
                               size_t *size) {
    size_t capacity = 1 << 16, used = 0;
    unsigned char *bytes = malloc(capacity);
    while (bytes) {
        used += fread(bytes + used, 1, capacity - used, file);
        if (used < capacity || used > most) break;
        unsigned char *bigger = realloc(bytes, capacity *= 2);
        if (!bigger) free(bytes);
        bytes = bigger;
    }
    if (!bytes) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to read %s.", path);
    kcrt_status status =
        ferror(file)  ? kcrt_fail(KCRT_IO, "Cannot read %s: %s.", path, strerror(errno))
        : used > most ? kcrt_fail(KCRT_UNSUPPORTED, "%s is too large: it has more than %zu MiB.",
                                  path, most >> 20)
                      : KCRT_OK;
    if (status) {
        free(bytes);
        return status;
    }
    *data = bytes;
    *size = used;
    return KCRT_OK;
}

kcrt_status kcrt_file_read(const char *path, size_t most, void **data, size_t *size) {
    *data = NULL;
    *size = 0;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return kcrt_fail(errno == ENOENT ? KCRT_NOT_FOUND : KCRT_IO, "Cannot open %s: %s.", path,
                         strerror(errno));
    kcrt_status status = read_stream(file, path, most, data, size);
    fclose(file);
    return status;
}
