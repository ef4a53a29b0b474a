/* What a module image is, and the PTX in it: PTX text, or the vendor's fat binary (bare or behind
 * the wrapper that host compilers emit), or a cubin, which this machine cannot run.
 *
 * A fat binary is a header (magic, version, header bytes, payload bytes) and entries, each with a
 * header of its own:
 *
 *     0 u16 kind (1 PTX, 2 cubin)   4 u32 header bytes    8 u64 payload bytes (padded)
 *    16 u32 compressed bytes       28 u32 SM number      40 u64 flags (0x2000 LZ4, 0x8000 zstd)
 *    56 u64 bytes when expanded
 *
 * The driver is given a pointer without a length, so sizes in the headers are believed, but every
 * entry is held to the size that the outer header states, and to the file's where there is one. */
#include "runtime/sim/cuda/driver_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FATBIN_HEADER = 16, ENTRY_HEADER = 64, KIND_PTX = 1, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
enum { LARGEST_PTX = 1 << 28 };
static const uint32_t FATBIN_MAGIC = 0xba55ed50u, WRAPPER_MAGIC = 0x466243b1u;

/* Fields stand at any alignment. */
static uint64_t field(const unsigned char *at, size_t bytes) {
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* ---- compression ----------------------------------------------------------------------------- */

/* A length that continues while its bytes are 255. False at the end of the input. */
static bool lz4_length(const unsigned char **in, const unsigned char *end, size_t *length) {
    if (*length != 15) return true;
    unsigned char more;
    do {
        if (*in == end) return false;
        more = *(*in)++;
        *length += more;
    } while (more == 255);
    return true;
}

/* LZ4 block format: literals, then a match that reaches back into the output. */
static bool lz4(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size) {
    const unsigned char *end = in + in_size;
    size_t at = 0;
    while (in < end) {
        unsigned token = *in++;
        size_t literals = token >> 4, match = token & 15;
        if (!lz4_length(&in, end, &literals)) return false;
        if (literals > (size_t)(end - in) || literals > out_size - at) return false;
        memcpy(out + at, in, literals);
        in += literals;
        at += literals;
        if (in == end) break;
        if (end - in < 2) return false;
        size_t back = (size_t)field(in, 2);
        in += 2;
        if (!lz4_length(&in, end, &match)) return false;
        match += 4;
        if (back == 0 || back > at || match > out_size - at) return false;
        for (; match > 0; match--, at++)
            out[at] = out[at - back];
    }
    return at == out_size;
}

/* Zstandard is the toolkit's default; the system's library is used where there is one. */
static bool zstd(const unsigned char *in, size_t in_size, unsigned char *out, size_t out_size) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    size_t (*decompress)(void *, size_t, const void *, size_t);
    *(void **)&decompress = dlsym(library, "ZSTD_decompress");
    bool good = decompress != NULL && decompress(out, out_size, in, in_size) == out_size;
    dlclose(library);
    return good;
}

/* ---- fat binaries ---------------------------------------------------------------------------- */

static char *unpack(const unsigned char *entry) {
    const unsigned char *payload = entry + field(entry + 4, 4);
    uint64_t padded = field(entry + 8, 8), packed = field(entry + 16, 4);
    uint64_t flags = field(entry + 40, 8), expanded = field(entry + 56, 8);
    bool compressed = (flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    uint64_t size = compressed ? expanded : padded;
    if (size > LARGEST_PTX || packed > padded) return NULL;
    char *text = malloc((size_t)size + 1);
    if (text == NULL) return NULL;
    bool good = true;
    if ((flags & FLAG_LZ4) != 0)
        good = lz4(payload, (size_t)packed, (unsigned char *)text, (size_t)size);
    else if ((flags & FLAG_ZSTD) != 0)
        good = zstd(payload, (size_t)packed, (unsigned char *)text, (size_t)size);
    else memcpy(text, payload, (size_t)size);
    text[size] = 0;
    if (good) return text;
    free(text);
    return NULL;
}

typedef struct choice {
    char *ptx; /* malloc'd; NULL: none so far */
    unsigned sm;
    bool special;                   /* .target sm_90a, sm_100f */
    bool any, old_enough, unpacked; /* PTX at all; that the device may take; that could be read */
} choice;

/* Whether the device takes PTX with this .target: `a` is for one architecture alone, `f` for those
 * of its family that are not older. */
static bool target_fits(const char *ptx, const kcsim_arch *arch, bool *special) {
    const char *target = strstr(ptx, ".target");
    unsigned sm = 0, device = (unsigned)(arch->major * 10 + arch->minor);
    char suffix = 0;
    if (target == NULL || sscanf(target, ".target sm_%u%c", &sm, &suffix) < 1) return true;
    *special = suffix == 'a' || suffix == 'f';
    if (suffix == 'a') return sm == device && arch->suffix == 'a';
    if (suffix == 'f') return sm / 10 == (unsigned)arch->major && sm <= device;
    return sm <= device;
}

/* The entry for the highest architecture that the device takes is kept, one made for it alone
 * before one for all. */
static void consider(choice *best, const unsigned char *entry, const kcsim_arch *arch) {
    unsigned of = (unsigned)field(entry + 28, 4);
    bool special = false;
    best->any = true;
    if (of > (unsigned)(arch->major * 10 + arch->minor)) return;
    best->old_enough = true;
    char *text = unpack(entry);
    if (text == NULL) return;
    bool fits = target_fits(text, arch, &special);
    best->unpacked = true;
    if (fits && (best->ptx == NULL || of > best->sm || (of == best->sm && special))) {
        free(best->ptx);
        *best = (choice){text, of, special, true, true, true};
    } else {
        free(text);
    }
}

static choice choose(const unsigned char *image, size_t limit, const kcsim_arch *arch) {
    choice best = {0};
    if (limit < FATBIN_HEADER) return best;
    size_t at = (size_t)field(image + 6, 2), end;
    if (__builtin_add_overflow(at, (size_t)field(image + 8, 8), &end) || end > limit) end = limit;
    while (at <= end && end - at >= ENTRY_HEADER) {
        const unsigned char *entry = image + at;
        size_t header = (size_t)field(entry + 4, 4);
        uint64_t payload = field(entry + 8, 8);
        if (header < ENTRY_HEADER || header > end - at || payload > end - at - header) break;
        if (field(entry, 2) == KIND_PTX) consider(&best, entry, arch);
        at += header + (size_t)payload;
    }
    return best;
}

static CUresult from_fatbin(const unsigned char *image, size_t limit, const kcsim_arch *arch,
                            char **ptx, char *why, size_t why_size) {
    choice best = choose(image, limit, arch);
    *ptx = best.ptx;
    if (best.ptx != NULL) return CUDA_SUCCESS;
    if (!best.any)
        snprintf(why, why_size, "the fat binary has no PTX for %s: the simulator cannot run cubins",
                 arch->name);
    else if (best.unpacked || !best.old_enough)
        snprintf(why, why_size,
                 "the fat binary has PTX, but only for newer or other architectures than %s",
                 arch->name);
    else
        snprintf(why, why_size,
                 "the fat binary's PTX cannot be decompressed; build it with "
                 "--compress-mode=none or install libzstd");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* ---- any image ------------------------------------------------------------------------------- */

/* The first four bytes; a shorter image, or one that a NUL ends before, has zeros there. */
static uint32_t magic_of(const unsigned char *bytes, size_t limit) {
    uint32_t magic = 0;
    for (size_t i = 0; i < 4 && i < limit && bytes[i] != 0; i++)
        magic |= (uint32_t)bytes[i] << (8 * i);
    return magic;
}

static bool is_text(uint32_t first) {
    return (first >= ' ' && first < 0x7f) || first == '\n' || first == '\r' || first == '\t';
}

CUresult driver_image_ptx(const void *image, size_t limit, const kcsim_arch *arch, char **ptx,
                          char *why, size_t why_size) {
    const unsigned char *bytes = image;
    *ptx = NULL;
    uint32_t magic = magic_of(bytes, limit);
    if (magic == WRAPPER_MAGIC && limit == SIZE_MAX) { /* it holds a pointer: not in a file */
        image = *(const void *const *)(bytes + 8);
        if (image != NULL && magic_of(image, limit) == FATBIN_MAGIC)
            return from_fatbin(image, limit, arch, ptx, why, why_size);
    }
    if (magic == FATBIN_MAGIC) return from_fatbin(bytes, limit, arch, ptx, why, why_size);
    if (is_text(magic & 0xff)) {
        *ptx = strndup(image, limit);
        return *ptx != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (memcmp(&magic, "\177ELF", 4) == 0) {
        snprintf(why, why_size, "a cubin: the simulator runs PTX, which travels beside it");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    snprintf(why, why_size, "neither PTX text nor a fat binary");
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult driver_image_read(const char *path, char **image, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult result = CUDA_ERROR_OPERATING_SYSTEM;
    char *bytes = NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length >= 0 && length <= LARGEST_PTX && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)length + 1);
        result = bytes == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    }
    if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length)
        result = CUDA_ERROR_OPERATING_SYSTEM;
    fclose(file);
    if (result != CUDA_SUCCESS) {
        free(bytes);
        return result;
    }
    bytes[length] = 0;
    *image = bytes;
    *size = (size_t)length;
    return CUDA_SUCCESS;
}
