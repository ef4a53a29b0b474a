// Typed access to the fields of a manifest, each failure a located sentence; for manifest*.c alone.
#ifndef KCRT_FIELDS_H
#define KCRT_FIELDS_H

#include "runtime/manifest.h"

typedef struct {
    kcrt_arena *arena;
    const char *what;     // the package
    const char *function; // NULL outside functions
    kcrt_manifest *manifest;
    kcrt_signature *signature; // of `function`
} kcrt_reader;

kcrt_status kcrt_bad_manifest(const kcrt_reader *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
kcrt_status kcrt_no_memory(const kcrt_reader *);

// Of `object`, the field `key`. The `_or` ones accept its absence. A NAME is checked to be one.
kcrt_status kcrt_field_string(const kcrt_reader *, const kcrt_json *object, const char *key,
                              const char **out);
kcrt_status kcrt_field_name(const kcrt_reader *, const kcrt_json *object, const char *key,
                            const char **out);
kcrt_status kcrt_field_list(const kcrt_reader *, const kcrt_json *object, const char *key,
                            const kcrt_json **out);
kcrt_status kcrt_field_list_or(const kcrt_reader *, const kcrt_json *object, const char *key,
                               const kcrt_json **out);
kcrt_status kcrt_field_int(const kcrt_reader *, const kcrt_json *object, const char *key,
                           int64_t least, int64_t most, int64_t *out);
kcrt_status kcrt_field_int_or(const kcrt_reader *, const kcrt_json *object, const char *key,
                              int64_t least, int64_t most, int64_t absent, int64_t *out);
// INT or a decimal string. `key` names it in messages.
kcrt_status kcrt_read_int(const kcrt_reader *, const kcrt_json *, const char *key, int64_t least,
                          int64_t most, int64_t *out);
// EXPR over symbols below `scope` of the reader's signature.
kcrt_status kcrt_read_term(const kcrt_reader *, const kcrt_json *, const char *key, int scope,
                           kcrt_term *out);
// A list of numbers of things, at most `most` of them, allocated as `size` bytes each.
kcrt_status kcrt_new_items(const kcrt_reader *, const kcrt_json *list, const char *key, int most,
                           size_t size, void **items, int *count);

typedef struct {
    const char *name;
    int bits;
    DLDataType dtype;
} kcrt_type;
const kcrt_type *kcrt_find_type(const char *name); // NULL: this runtime does not know it

int kcrt_find_arg(const kcrt_signature *, const char *name);

// manifest_constants.c: those of the package, and what a function calls them.
kcrt_status kcrt_read_constants(const kcrt_reader *, const kcrt_json *root);
kcrt_status kcrt_read_constant_uses(const kcrt_reader *, const kcrt_json *function);

// manifest_target.c
kcrt_status kcrt_read_targets(kcrt_reader *, const kcrt_json *function);
// plan.c: decides how each dim and stride name gets its value, or says which one cannot.
kcrt_status kcrt_plan_bindings(const kcrt_reader *);

#endif
