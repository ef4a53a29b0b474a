#include "runtime/sim/cuda/ptx_tables.h"

#include <string.h>

const ptx_type_info ptx_types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE] = {"", 0, PTX_KIND_NONE},
#define TYPE(name, text, bits, kind) [PTX_##name] = {text, bits, PTX_KIND_##kind},
#include "runtime/sim/cuda/ptx_types.def"
#undef TYPE
};

const ptx_op_info ptx_ops[PTX_OP_COUNT] = {
#define OP(name, mnemonic, family, dests, least, most, class, groups)                              \
    [PTX_OP_##                                                                                     \
        name] = {mnemonic, PTX_FAMILY_##family, dests, least, most, KCSIM_CLASS_##class, groups},
#include "runtime/sim/cuda/ptx_ops.def"
#undef OP
};

static const struct {
    const char *text;
    ptx_group group;
} modifiers[PTX_MODIFIER_COUNT] = {
    [PTX_M_NONE] = {"", PTX_GROUP_COUNT},
#define MODIFIER(name, text, group) [PTX_M_##name] = {text, PTX_GROUP_##group},
#include "runtime/sim/cuda/ptx_modifiers.def"
#undef MODIFIER
};

_Static_assert(PTX_MODIFIER_COUNT <= 256, "a statement keeps a modifier in a byte");

static const char *const group_names[] = {
#define X(name) #name,
    PTX_GROUPS(X)
#undef X
};

static const char *const special_names[] = {
#define X(name, text) text,
    PTX_SPECIALS(X)
#undef X
};

static const char *const space_names[] = {"generic", "global", "shared",  "local",
                                          "param",   "const",  "register"};

const char *ptx_space_name(ptx_space space) {
    return space_names[space];
}

static bool same(const char *name, const char *text, size_t length) {
    return name[0] == text[0] && strncmp(name, text, length) == 0 && name[length] == 0;
}

bool ptx_op_takes(ptx_op op, ptx_group group) {
    const char *name = group_names[group], *list = ptx_ops[op].groups;
    size_t length = strlen(name);
    while (*list) {
        size_t word = strcspn(list, " ");
        if (word == length && strncmp(list, name, length) == 0) return true;
        list += word + (list[word] == ' ');
    }
    return false;
}

ptx_type ptx_find_type(const char *text, size_t length) {
    for (int i = 1; i < PTX_TYPE_COUNT; i++)
        if (same(ptx_types[i].text, text, length)) return (ptx_type)i;
    return PTX_NO_TYPE;
}

ptx_op ptx_find_op(const char *mnemonic, size_t length, size_t *used) {
    ptx_op best = PTX_OP_COUNT;
    *used = 0;
    for (int i = 0; i < PTX_OP_COUNT; i++) {
        const char *candidate = ptx_ops[i].mnemonic;
        if (candidate[0] != mnemonic[0]) continue;
        size_t size = strlen(candidate);
        bool fits = size <= length && memcmp(candidate, mnemonic, size) == 0 &&
                    (size == length || mnemonic[size] == '.');
        if (fits && size > *used) {
            best = (ptx_op)i;
            *used = size;
        }
    }
    return best;
}

ptx_modifier ptx_find_modifier(ptx_op op, const char *text, size_t length, const uint8_t *taken,
                               ptx_group *group) {
    ptx_modifier found = PTX_M_NONE;
    for (int i = PTX_MODIFIER_COUNT - 1; i > 0; i--) {
        if (!same(modifiers[i].text, text, length) || !ptx_op_takes(op, modifiers[i].group))
            continue;
        if (found != PTX_M_NONE && taken[modifiers[i].group]) continue;
        *group = modifiers[i].group;
        found = (ptx_modifier)i;
    }
    return found;
}

bool ptx_find_tile(const char *text, size_t length, uint16_t tile[3]) {
    size_t at = 0;
    for (int part = 0; part < 3; part++) {
        uint32_t number = 0;
        if (at >= length || text[at++] != "mnk"[part]) return false;
        for (; at < length && text[at] >= '0' && text[at] <= '9' && number < 1000; at++)
            number = number * 10 + (uint32_t)(text[at] - '0');
        tile[part] = (uint16_t)number;
    }
    return at == length;
}

ptx_special ptx_find_special(const char *text, size_t length) {
    for (int i = 0; i < PTX_SPECIAL_COUNT; i++)
        if (same(special_names[i], text, length)) return (ptx_special)i;
    return PTX_SPECIAL_COUNT;
}
