// A YAML document as a tree of located nodes, read from libyaml's events.
//
// Aliases are shared nodes, so the tree is a DAG: it is never changed after reading. Scalars are
// text; what text means (a number, a name, a type) the reader of the model decides.
#ifndef KC_COMPILER_FRONTEND_YAML_TREE_H
#define KC_COMPILER_FRONTEND_YAML_TREE_H

#include "compiler/frontend/source.h"

typedef enum { KC_YAML_SCALAR, KC_YAML_LIST, KC_YAML_MAP } kc_yaml_kind;
typedef enum { KC_YAML_PLAIN, KC_YAML_QUOTED, KC_YAML_LITERAL, KC_YAML_FOLDED } kc_yaml_style;

typedef struct kc_yaml kc_yaml;
struct kc_yaml {
    kc_yaml_kind kind;
    kc_loc loc;       // first character: the `|` of a literal block, the quote of a quoted scalar
    const char *text; // SCALAR, with a NUL after it
    size_t length;
    kc_yaml_style style;
    bool verbatim;   // SCALAR on one line, standing in the file exactly as in `text`
    int count;       // LIST: items; MAP: pairs
    kc_yaml **items; // LIST: items; MAP: values
    kc_yaml **keys;  // MAP: scalars, distinct
    size_t weight;   // nodes it stands for, aliases expanded
};

// The only document of a checked source. NULL after an error.
kc_yaml *kc_yaml_read(kc_arena *, const kc_source *, kc_diag *);
kc_yaml *kc_yaml_find(const kc_yaml *map, const char *key); // value, or NULL
bool kc_yaml_is_null(const kc_yaml *);                      // nothing, `~` or null
// Location of byte `offset` of a scalar's text; its start when the text is not verbatim.
kc_loc kc_yaml_loc(const kc_yaml *, size_t offset);
// A short description for errors: a map, a list, 'text'.
const char *kc_yaml_describe(kc_arena *, const kc_yaml *);

#endif
