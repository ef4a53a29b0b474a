// The registry of kinds and the attribute table.
#include "targets/kinds.h"
#include <string.h>

static const kc_target_kind *const kinds[] = {&kc_target_cuda, &kc_target_hip};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const kc_target_attribute_info kc_target_attribute_table[KC_TARGET_ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(name_, policy_, min_, max_, unit_, meaning_)                                     \
    {.name = #name_,                                                                               \
     .policy = KC_TARGET_##policy_,                                                                \
     .min = min_,                                                                                  \
     .max = max_,                                                                                  \
     .unit = unit_,                                                                                \
     .meaning = meaning_},
#include "targets/attributes.def"
#undef ATTRIBUTE
};

int kc_target_kind_count(void) {
    return KIND_COUNT;
}

const kc_target_kind *kc_target_kind_at(int index) {
    return index >= 0 && index < KIND_COUNT ? kinds[index] : NULL;
}

static bool same(const char *name, const char *text, size_t length) {
    return strlen(name) == length && !memcmp(name, text, length);
}

const kc_target_kind *kc_target_kind_find(const char *name, size_t length) {
    for (int i = 0; i < KIND_COUNT; i++)
        if (same(kinds[i]->name, name, length)) return kinds[i];
    return NULL;
}

const kc_target_arch *kc_target_arch_find(const kc_target_kind *kind, const char *name,
                                          size_t length) {
    for (int i = 0; i < kind->n_archs; i++)
        if (same(kind->archs[i].name, name, length)) return &kind->archs[i];
    return NULL;
}

static const size_t offsets[KC_TARGET_ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(name, ...) offsetof(kc_target_attributes, name),
#include "targets/attributes.def"
#undef ATTRIBUTE
};

static int64_t *field(kc_target_attributes *attributes, int i) {
    return (int64_t *)(void *)((char *)attributes + offsets[i]);
}

int64_t kc_target_get(const kc_target *target, kc_target_attribute i) {
    kc_target_attributes copy = target->attributes;
    return *field(&copy, i);
}

const char *kc_target_canonical(kc_arena *arena, const kc_target *target) {
    kc_target_attributes mine = target->attributes, usual = target->arch->defaults;
    const char *text = kc_arena_printf(arena, "%s:%s", target->kind->name, target->arch->name);
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++)
        if (*field(&mine, i) != *field(&usual, i))
            text = kc_arena_printf(arena, "%s,%s=%lld", text, kc_target_attribute_table[i].name,
                                   (long long)*field(&mine, i));
    return text;
}

const kc_target *kc_target_portable(kc_arena *arena, const kc_target *target) {
    const char *name = target->arch->portable;
    if (!name) return NULL;
    const kc_target_arch *arch = kc_target_arch_find(target->kind, name, strlen(name));
    if (!arch) return NULL;
    kc_target *result = KC_NEW(arena, kc_target);
    *result = (kc_target){target->kind, arch, arch->defaults};
    kc_target_attributes mine = target->attributes, usual = target->arch->defaults;
    for (int i = 0; i < KC_TARGET_ATTRIBUTE_COUNT; i++) {
        int64_t value = *field(&mine, i), limit = *field(&result->attributes, i);
        kc_target_policy policy = kc_target_attribute_table[i].policy;
        if (value == *field(&usual, i) || policy == KC_TARGET_FIXED) continue;
        if (policy == KC_TARGET_LIMIT && value > limit) continue;
        *field(&result->attributes, i) = value;
    }
    return result;
}
