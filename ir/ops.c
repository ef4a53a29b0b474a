// The op and attribute tables, made from ops.def and attrs.def, and look-ups in them.
#include "ir/ir.h"

#include <string.h>

// The rows name levels, traits, rules and domains without their prefix, so that they stay short.
enum {
    LEVEL_COMPOSITE = KC_LEVEL_COMPOSITE,
    LEVEL_TENSOR = KC_LEVEL_TENSOR,
    LEVEL_TILE = KC_LEVEL_TILE,
    LEVEL_LAYOUT = KC_LEVEL_LAYOUT,
    LEVEL_ALL_TENSOR = KC_LEVEL_ALL_TENSOR,
    LEVEL_ALL_TILE = KC_LEVEL_ALL_TILE,
    LEVEL_ALL = KC_LEVEL_ALL,
    PURE = KC_PURE,
    ELEMENTWISE = KC_ELEMENTWISE,
    COMMUTATIVE = KC_COMMUTATIVE,
    MOVEMENT = KC_MOVEMENT,
    REDUCTION = KC_REDUCTION,
    CONTRACTION = KC_CONTRACTION,
    TERMINATOR = KC_TERMINATOR,
    CHEAP = KC_CHEAP,
    READS_GLOBAL = KC_READS_GLOBAL,
    WRITES_GLOBAL = KC_WRITES_GLOBAL,
    READS_SHARED = KC_READS_SHARED,
    WRITES_SHARED = KC_WRITES_SHARED,
    BARRIER = KC_BARRIER,
    ISOLATED = KC_ISOLATED,
    COLLECTIVE = KC_COLLECTIVE,
    SCAN = KC_SCAN,
};
#define OP(id, name, levels, operands, attrs, rule, domain, traits, meaning)                       \
    [KC_OP_##id] = {name, levels, operands, attrs, KC_##rule, KC_##domain, traits, meaning},
const kc_op_info kc_op_table[KC_OP_COUNT] = {
#include "ir/ops.def"
};
#undef OP

#define ATTR(id, name, kind, meaning) [KC_ATTR_##id] = {name, KC_KIND_##kind, meaning},
const struct kc_attr_info kc_attr_table[KC_ATTR_COUNT] = {
#include "ir/attrs.def"
};
#undef ATTR

kc_opcode kc_opcode_find(const char *name) {
    for (int i = 0; i < KC_OP_COUNT; i++)
        if (!strcmp(kc_op_table[i].name, name)) return (kc_opcode)i;
    return KC_OP_COUNT;
}

kc_attr_key kc_attr_find(const char *name) {
    for (int i = 0; i < KC_ATTR_COUNT; i++)
        if (!strcmp(kc_attr_table[i].name, name)) return (kc_attr_key)i;
    return KC_ATTR_COUNT;
}

// The next word of a row's list: its start and length without the suffix, which is '*', '?' or 0.
// NULL at the end.
static const char *next_word(const char **at, int *length, char *suffix) {
    const char *start = *at + strspn(*at, " ");
    *length = (int)strcspn(start, " *?");
    if (!*length) return NULL;
    *suffix = start[*length] == ' ' ? 0 : start[*length];
    *at = start + *length + (*suffix != 0);
    return start;
}

int kc_op_segments(kc_opcode code, kc_segment segments[KC_MAX_SEGMENTS]) {
    const char *at = kc_op_table[code].operands, *word;
    int n = 0, length;
    char suffix;
    while (n < KC_MAX_SEGMENTS && (word = next_word(&at, &length, &suffix))) {
        kc_segment_mode mode = suffix == '*'   ? KC_SEGMENT_ANY
                               : suffix == '?' ? KC_SEGMENT_OPTIONAL
                                               : KC_SEGMENT_ONE;
        segments[n++] = (kc_segment){word, length, mode};
    }
    return n;
}

static kc_attr_key find_attr_word(const char *word, int length) {
    for (int i = 0; i < KC_ATTR_COUNT; i++)
        if (strlen(kc_attr_table[i].name) == (size_t)length &&
            !memcmp(kc_attr_table[i].name, word, (size_t)length))
            return (kc_attr_key)i;
    return KC_ATTR_COUNT;
}

int kc_op_attr_keys(kc_opcode code, kc_attr_key keys[KC_MAX_ATTRS]) {
    const char *at = kc_op_table[code].attrs, *word;
    int n = 0, length;
    char suffix;
    while (n < KC_MAX_ATTRS && (word = next_word(&at, &length, &suffix)))
        keys[n++] = find_attr_word(word, length);
    return n;
}

int kc_op_attr_need(kc_opcode code, kc_attr_key key) {
    const char *at = kc_op_table[code].attrs, *word;
    int length;
    char suffix;
    while ((word = next_word(&at, &length, &suffix)))
        if (find_attr_word(word, length) == key) return suffix == '?' ? 1 : 2;
    return 0;
}
