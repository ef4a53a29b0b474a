// A target: a kind ("cuda", "hip"), an architecture, and attributes that passes and code generation
// read.
//
// Nothing here asks a device. Attributes describe the architecture's usual card; a user may
// override them. This header and target.c, parse.c, list.c and the tables need neither LLVM nor a
// vendor tool, so passes may link them alone.
//
// Text:  cuda:sm_90a   cuda:sm_90a,max_shared_memory=101376   {"kind": "cuda", "arch": "sm_90a",
// "max_num_threads": 512}
//        cuda (every architecture of the family)
#ifndef KC_TARGETS_TARGET_H
#define KC_TARGETS_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "ir/arena.h"

// What a user may do with an attribute.
typedef enum {
    KC_TARGET_FIXED, // stated for completeness; only the architecture's own value is accepted
    KC_TARGET_LIMIT, // may be lowered, never raised
    KC_TARGET_RAISE, // may be raised up to the row's maximum
    KC_TARGET_FREE,  // any value between the row's minimum and maximum
} kc_target_policy;

// Values are int64_t fields of kc_target_attributes, one a row.
typedef struct {
#define ATTRIBUTE(name, ...) int64_t name;
#include "targets/attributes.def"
#undef ATTRIBUTE
} kc_target_attributes;

typedef enum {
#define ATTRIBUTE(name, ...) KC_TARGET_##name,
#include "targets/attributes.def"
#undef ATTRIBUTE
    KC_TARGET_ATTRIBUTE_COUNT
} kc_target_attribute;

typedef struct {
    const char *name;
    kc_target_policy policy;
    int64_t min, max;
    const char *unit; // "" for a number or a truth value
    const char *meaning;
} kc_target_attribute_info;

extern const kc_target_attribute_info kc_target_attribute_table[KC_TARGET_ATTRIBUTE_COUNT];

typedef struct {
    const char *name;     // "sm_90a"
    const char *portable; // the architecture whose code newer hardware can take instead (sm_90 for
                          // sm_90a), else NULL
    const char *example;  // the card that the defaults describe
    kc_target_attributes defaults;
} kc_target_arch;

typedef struct kc_mma kc_mma; // targets/mma.h

typedef struct {
    const char *name;   // "cuda"; also what the package records as triple
    const char *triple; // of the code generator
    const kc_target_arch *archs;
    int n_archs;
    const kc_mma *mmas; // tensor-core instructions that passes may choose
    int n_mmas;
} kc_target_kind;

typedef struct {
    const kc_target_kind *kind;
    const kc_target_arch *arch;
    kc_target_attributes attributes;
} kc_target;

// The registry.
int kc_target_kind_count(void);
const kc_target_kind *kc_target_kind_at(int index);
const kc_target_kind *kc_target_kind_find(const char *name, size_t length); // NULL when unknown
const kc_target_arch *kc_target_arch_find(const kc_target_kind *, const char *name, size_t length);

// Fills *out with an arena array of targets and returns how many: one, or a whole family. 0: *error
// says what is wrong and lists the right names or values. Any bytes are accepted.
int kc_target_parse(kc_arena *, const char *text, const kc_target **out, const char **error);
// The same where exactly one target is wanted, as in a module's target string. NULL: see *error.
const kc_target *kc_target_parse_one(kc_arena *, const char *text, const char **error);

// "cuda:sm_90a,max_shared_memory=101376": only attributes that differ from the defaults, in table
// order. parse gives it back.
const char *kc_target_canonical(kc_arena *, const kc_target *);
int64_t kc_target_get(const kc_target *, kc_target_attribute);
// The suffix-free target whose PTX newer GPUs can take (sm_90 for sm_90a, attributes kept where its
// limits allow), or NULL.
const kc_target *kc_target_portable(kc_arena *, const kc_target *);

// What `kc targets` shows.
void kc_target_list(FILE *, bool json);

static inline int kc_target_warp_size(const kc_target *t) {
    return (int)t->attributes.warp_size;
}

#endif
