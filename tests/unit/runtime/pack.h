// Packages built by hand, for tests of the reader and the loader.
#ifndef TEST_PACK_H
#define TEST_PACK_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sha256.h"

typedef struct {
    unsigned char *data;
    size_t size;
} pack;

typedef struct {
    const char *triple, *arch, *role;
    const void *bytes;
    size_t size;
} pack_image;

static inline void put_number(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

// Appends one offload binary: header, entry, string map, strings, image.
static inline void pack_entry(pack *p, int image_kind, int offload_kind, const pack_image *image) {
    const char *strings[] = {"triple", image->triple, "arch", image->arch, "kc.role", image->role};
    size_t table = 32 + 40 + 3 * 16, text = 1, offsets[6];
    for (int i = 0; i < 6; i++) {
        offsets[i] = table + text;
        text += strlen(strings[i]) + 1;
    }
    size_t at = (table + text + 7) & ~(size_t)7, total = (at + image->size + 7) & ~(size_t)7;
    p->data = realloc(p->data, p->size + total);
    unsigned char *b = p->data + p->size;
    memset(b, 0, total);
    memcpy(b, "\x10\xff\x10\xad", 4);
    put_number(b + 4, 1, 4);
    put_number(b + 8, total, 8);
    put_number(b + 16, 32, 8);
    put_number(b + 24, 40, 8);
    put_number(b + 32, (uint64_t)image_kind, 2);
    put_number(b + 34, (uint64_t)offload_kind, 2);
    put_number(b + 40, 72, 8);
    put_number(b + 48, 3, 8);
    put_number(b + 56, at, 8);
    put_number(b + 64, image->size, 8);
    for (int i = 0; i < 6; i++) {
        put_number(b + 72 + 8 * i, offsets[i], 8);
        strcpy((char *)b + offsets[i], strings[i]);
    }
    if (image->size) memcpy(b + at, image->bytes, image->size);
    p->size += total;
}

// "[{...}, ...]" with the true sizes and hashes.
static inline char *pack_images_json(const pack_image *images, int count) {
    char *text = calloc(1, (size_t)count * 400 + 8), *at = text;
    at += sprintf(at, "[");
    for (int i = 0; i < count; i++) {
        char hex[65];
        kcrt_sha256_hex(images[i].bytes, images[i].size, hex);
        at += sprintf(
            at,
            "%s{\"triple\":\"%s\",\"arch\":\"%s\",\"role\":\"%s\",\"sha256\":\"%s\",\"size\":%zu}",
            i ? "," : "", images[i].triple, images[i].arch, images[i].role, hex, images[i].size);
    }
    sprintf(at, "]");
    return text;
}

// A package with that manifest text and those images.
static inline pack pack_with(const char *manifest, const pack_image *images, int count) {
    pack p = {NULL, 0};
    pack_image first = {"kc", "manifest", "manifest", manifest, strlen(manifest)};
    pack_entry(&p, 0, 0, &first);
    for (int i = 0; i < count; i++)
        pack_entry(&p, strcmp(images[i].role, "ptx") ? 1 : 5, 2, &images[i]);
    return p;
}

// A package of module `m` with those functions (the inside of the list) and, before it, further
// top-level keys.
static inline pack pack_functions(const char *functions, const char *more, const pack_image *images,
                                  int count) {
    char *list = pack_images_json(images, count);
    size_t size = strlen(list) + strlen(functions) + strlen(more) + 200;
    char *manifest = malloc(size);
    snprintf(manifest, size,
             "{\"format\":1,\"module\":\"m\",\"tools\":{},\"images\":%s,%s\"functions\":[%s]}",
             list, more, functions);
    pack p = pack_with(manifest, images, count);
    free(manifest);
    free(list);
    return p;
}

#endif
