// Writes JSON that is the same bytes for the same calls, in the form that the strict reader of the
// runtime takes.
#ifndef KC_COMPILER_PACKAGE_JSON_WRITER_H
#define KC_COMPILER_PACKAGE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/expr.h"

enum { KC_JSON_DEPTH = 64 };

typedef struct {
    FILE *out;
    int broken; // levels whose items stand on lines of their own
    int depth;
    bool filled[KC_JSON_DEPTH]; // whether the open list or object has an item
    bool after_key;
} kc_json;

kc_json kc_json_to(FILE *, int broken);
void kc_json_open(kc_json *, char bracket); // '{' or '['
void kc_json_close(kc_json *, char bracket);
void kc_json_key(kc_json *, const char *key);
// Values. Bytes that are not UTF-8 become U+FFFD; integers above 2^53 in magnitude become decimal
// strings.
void kc_json_string(kc_json *, const char *);
void kc_json_string_or_null(kc_json *, const char *);
void kc_json_int(kc_json *, int64_t);
void kc_json_bool(kc_json *, bool);
void kc_json_real(kc_json *,
                  double); // six significant digits: for measurements, not for the manifest
void kc_json_expr(kc_json *, const kc_expr_pool *, const kc_expr *);
void kc_json_raw(kc_json *, const char *text); // a value that is JSON already

// Key and value in one call.
void kc_json_put_string(kc_json *, const char *key, const char *);
void kc_json_put_int(kc_json *, const char *key, int64_t);
void kc_json_put_bool(kc_json *, const char *key, bool);

#endif
