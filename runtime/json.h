// A strict JSON reader (RFC 8259) for manifests and simulator reports, which may come from anyone.
//
// Refused beyond the RFC's own errors: invalid UTF-8, duplicate keys, U+0000 in strings, nesting
// above 64, an integer that does not fit int64_t. Integers are exact; a number with a fraction or
// an exponent is kept as its text.
#ifndef KCRT_JSON_H
#define KCRT_JSON_H

#include <stdint.h>

#include "runtime/arena.h"

typedef enum {
    KCRT_JSON_NULL,
    KCRT_JSON_BOOL,
    KCRT_JSON_INT,
    KCRT_JSON_REAL,
    KCRT_JSON_STRING,
    KCRT_JSON_LIST,
    KCRT_JSON_OBJECT
} kcrt_json_kind;

typedef struct kcrt_json kcrt_json;
struct kcrt_json {
    kcrt_json_kind kind;
    uint32_t length; // of a string in bytes; the number of items of a list or object
    const char *key; // of an item of an object, else NULL
    union {
        int64_t integer;  // INT; BOOL: 0 or 1
        const char *text; // STRING (no NUL inside), REAL
        kcrt_json *first; // LIST, OBJECT
    };
    kcrt_json *next; // the next item of the same list or object
};

// Everything is in the arena. NULL on error, with *error a static sentence without a full stop, and
// *error_at the offset.
kcrt_json *kcrt_json_parse(kcrt_arena *, const char *text, size_t length, const char **error,
                           size_t *error_at);

// The item of that key; NULL when absent, when it is null, or when `object` is not an object.
const kcrt_json *kcrt_json_get(const kcrt_json *object, const char *key);
const char *kcrt_json_kind_name(kcrt_json_kind); // "an integer"

#endif
