// An image is what the manifest says: its SHA-256 and size, and that its own header agrees with its
// label.
#include <string.h>

#include "runtime/object.h"
#include "runtime/rank.h"
#include "runtime/sha256.h"

#define EM_CUDA 190
#define EM_AMDGPU 224

static uint32_t little(const unsigned char *p, int bytes) {
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static const char *check_elf(const unsigned char *p, size_t size, uint32_t machine,
                             uint32_t *flags) {
    if (size < 64 || memcmp(p, "\177ELF\2\1", 6)) return "is not a 64-bit little-endian ELF file";
    if (little(p + 18, 2) != machine) return "is an ELF file for another kind of machine";
    *flags = little(p + 48, 4);
    return NULL;
}

// Older assemblers put the SM number into bits 0 to 7 of e_flags, newer ones into bits 8 to 15. The
// suffix does not show.
static const char *check_cubin(const kcrt_image *image, const unsigned char *p) {
    uint32_t flags = 0;
    int number = 0;
    char suffix;
    const char *problem = check_elf(p, image->size, EM_CUDA, &flags);
    if (problem) return problem;
    if (!kcrt_parse_sm(image->arch, &number, &suffix))
        return "has a label that is not an architecture";
    if ((int)(flags & 255) != number && (int)(flags >> 8 & 255) != number)
        return "was assembled for another architecture than its label says";
    return NULL;
}

// The `.target` line names exactly the label.
static const char *check_ptx(const kcrt_image *image, const char *text) {
    const char *target = text;
    size_t length = strlen(image->arch);
    while ((target = strstr(target, ".target")) && target != text && target[-1] != '\n')
        target++;
    if (!target) return "has no .target directive";
    target += strlen(".target");
    target += strspn(target, " \t");
    if (strncmp(target, image->arch, length) || !strchr(" \t\r\n,/", target[length]))
        return "has a .target directive for another architecture than its label says";
    return NULL;
}

static const char *problem_of(const kcrt_image *image, const void *bytes) {
    char hex[65];
    uint32_t flags;
    kcrt_sha256_hex(bytes, image->size, hex);
    if (strcmp(hex, image->sha256))
        return "has another SHA-256 than the manifest says: the file is damaged";
    if (!strcmp(image->role, "cubin")) return check_cubin(image, bytes);
    if (!strcmp(image->role, "ptx"))
        return check_ptx(image, bytes); // the manifest reader saw the NUL
    if (!strcmp(image->role, "hsaco")) return check_elf(bytes, image->size, EM_AMDGPU, &flags);
    return NULL;
}

kcrt_status kcrt_image_verify(const char *what, const kcrt_image *image, const void *bytes) {
    const char *problem = problem_of(image, bytes);
    if (!problem) return KCRT_OK;
    return kcrt_fail(KCRT_BAD_PACKAGE, "%s is not a usable package: its image `%.40s %.40s` %s.",
                     what, image->arch, image->role, problem);
}
