#include "runtime/rank.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

_Bool kcrt_parse_sm(const char *arch, int *number, char *suffix) {
    if (strncmp(arch, "sm_", 3)) return 0;
    const char *p = arch + 3;
    *number = 0;
    for (; *p >= '0' && *p <= '9' && p - arch < 8; p++)
        *number = *number * 10 + (*p - '0');
    *suffix = *p == 'a' || *p == 'f' ? *p : 0;
    return *number >= 10 && p[*suffix != 0] == 0;
}

static int no(const char **reason, const char *why) {
    *reason = why;
    return 0;
}

// Bands: exact 9000, suffix family 7000, cubin family 5000, PTX 1000; within a band the newer
// architecture, and the cubin before the PTX of the same architecture.
int kcrt_rank_cuda(int major, int minor, const char *arch, const char *role, const char **reason) {
    int number, device = major * 10 + minor;
    char suffix;
    bool cubin = !strcmp(role, "cubin");
    if (!cubin && strcmp(role, "ptx")) return no(reason, "this role is not for NVIDIA GPUs");
    if (!kcrt_parse_sm(arch, &number, &suffix))
        return no(reason, "not an architecture that this runtime knows");
    if (suffix == 'a' && number != device)
        return no(reason, "suffix `a` runs on exactly its own architecture");
    if (suffix == 'f' && (number / 10 != major || number > device))
        return no(reason, "suffix `f` runs on its own family alone");
    if (number > device) return no(reason, "built for a newer architecture");
    if (cubin && number / 10 != major)
        return no(reason, "a cubin runs on its own major version alone");
    if (number == device) return 9000 + (suffix == 'a' ? 4 : suffix == 'f' ? 2 : 0) + cubin;
    if (suffix == 'f') return 7000 + number * 2 + cubin;
    return (cubin ? 5000 : 1000) + number;
}

// ---- AMD ----------------------------------------------------------------------------------------

static const struct {
    const char *generic;
    const char *members;
} generics[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
};

static bool in_generic(const char *arch, size_t arch_length, const char *processor, size_t length) {
    for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) {
        if (strlen(generics[i].generic) != arch_length ||
            strncmp(generics[i].generic, arch, arch_length))
            continue;
        for (const char *p = generics[i].members; (p = strstr(p, " gfx")); p++)
            if (!strncmp(p + 1, processor, length) && p[1 + length] == ' ') return true;
    }
    return false;
}

// Whether the device's id holds ":feature+" or ":feature-" as given, up to the next colon or the
// end.
static bool has_feature(const char *device, const char *feature, size_t length) {
    for (const char *p = strchr(device, ':'); p; p = strchr(p + 1, ':'))
        if (!strncmp(p + 1, feature, length) && (p[1 + length] == ':' || !p[1 + length]))
            return true;
    return false;
}

int kcrt_rank_hip(const char *device, const char *arch, const char *role, const char **reason) {
    if (strcmp(role, "hsaco")) return no(reason, "this role is not for AMD GPUs");
    size_t processor = strcspn(device, ":"), wanted = strcspn(arch, ":");
    bool exact = processor == wanted && !strncmp(device, arch, wanted);
    if (!exact && !in_generic(arch, wanted, device, processor))
        return no(reason, "built for another processor");
    int features = 0;
    for (const char *p = arch + wanted; *p; features++) {
        size_t length = strcspn(p + 1, ":");
        if (!has_feature(device, p + 1, length))
            return no(reason, "a feature that it was built for (xnack, sramecc) is set otherwise");
        p += 1 + length;
    }
    return (exact ? 9000 : 5000) + features;
}
