#include "runtime/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/kcrt_device.h"

#define MAX_EXPR_TEXT 4096

kcrt_status kcrt_bad_manifest(const kcrt_reader *r, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->function)
        return kcrt_fail(KCRT_BAD_PACKAGE,
                         "%s is not a usable package: in its manifest, function `%s`: %s.", r->what,
                         r->function, text);
    return kcrt_fail(KCRT_BAD_PACKAGE, "%s is not a usable package: in its manifest: %s.", r->what,
                     text);
}

kcrt_status kcrt_no_memory(const kcrt_reader *r) {
    return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to read the manifest of %s.",
                     r->what);
}

static kcrt_status want(const kcrt_reader *r, const kcrt_json *object, const char *key,
                        kcrt_json_kind kind, const kcrt_json **out) {
    *out = kcrt_json_get(object, key);
    if (!*out) return kcrt_bad_manifest(r, "`%s` is missing", key);
    if ((*out)->kind == kind) return KCRT_OK;
    return kcrt_bad_manifest(r, "`%s` must be %s and is %s", key, kcrt_json_kind_name(kind),
                             kcrt_json_kind_name((*out)->kind));
}

kcrt_status kcrt_field_string(const kcrt_reader *r, const kcrt_json *object, const char *key,
                              const char **out) {
    const kcrt_json *field;
    kcrt_status status = want(r, object, key, KCRT_JSON_STRING, &field);
    if (!status) *out = field->text;
    return status;
}

static bool is_name(const char *text) {
    for (const char *p = text; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!letter && (p == text || *p < '0' || *p > '9')) return false;
    }
    return *text && strlen(text) <= 255;
}

kcrt_status kcrt_field_name(const kcrt_reader *r, const kcrt_json *object, const char *key,
                            const char **out) {
    kcrt_status status = kcrt_field_string(r, object, key, out);
    if (!status && !is_name(*out))
        return kcrt_bad_manifest(r, "`%s` is not a name: `%.80s`", key, *out);
    return status;
}

kcrt_status kcrt_field_list(const kcrt_reader *r, const kcrt_json *object, const char *key,
                            const kcrt_json **out) {
    return want(r, object, key, KCRT_JSON_LIST, out);
}

kcrt_status kcrt_field_list_or(const kcrt_reader *r, const kcrt_json *object, const char *key,
                               const kcrt_json **out) {
    static const kcrt_json empty = {.kind = KCRT_JSON_LIST};
    *out = &empty;
    return kcrt_json_get(object, key) ? want(r, object, key, KCRT_JSON_LIST, out) : KCRT_OK;
}

// -?[0-9]+ within int64.
static bool decimal(const char *text, int64_t *out) {
    bool negative = *text == '-';
    int64_t value = 0;
    const char *p = text + negative;
    if (!*p) return false;
    for (; *p; p++) {
        int digit = *p - '0';
        if (digit < 0 || digit > 9) return false;
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
    }
    *out = value;
    return true;
}

kcrt_status kcrt_read_int(const kcrt_reader *r, const kcrt_json *node, const char *key,
                          int64_t least, int64_t most, int64_t *out) {
    int64_t value;
    if (node->kind == KCRT_JSON_INT) value = node->integer;
    else if (node->kind != KCRT_JSON_STRING || !decimal(node->text, &value))
        return kcrt_bad_manifest(r, "`%s` must be an integer and is %s", key,
                                 kcrt_json_kind_name(node->kind));
    if (value < least || value > most)
        return kcrt_bad_manifest(r, "`%s` is %lld, outside %lld to %lld", key, (long long)value,
                                 (long long)least, (long long)most);
    *out = value;
    return KCRT_OK;
}

kcrt_status kcrt_field_int(const kcrt_reader *r, const kcrt_json *object, const char *key,
                           int64_t least, int64_t most, int64_t *out) {
    const kcrt_json *field = kcrt_json_get(object, key);
    if (!field) return kcrt_bad_manifest(r, "`%s` is missing", key);
    return kcrt_read_int(r, field, key, least, most, out);
}

kcrt_status kcrt_field_int_or(const kcrt_reader *r, const kcrt_json *object, const char *key,
                              int64_t least, int64_t most, int64_t absent, int64_t *out) {
    *out = absent;
    return kcrt_json_get(object, key) ? kcrt_field_int(r, object, key, least, most, out) : KCRT_OK;
}

static const kc_expr *parse_text(const kcrt_reader *r, const kcrt_json *node, const char *key,
                                 kcrt_status *status) {
    kcrt_signature *signature = r->signature;
    if (node->length > MAX_EXPR_TEXT) {
        *status = kcrt_bad_manifest(r, "the expression of `%s` is longer than %d bytes", key,
                                    MAX_EXPR_TEXT);
        return NULL;
    }
    const char *error = NULL;
    size_t at = 0;
    const kc_expr *expr = kc_expr_parse(signature->pool, node->text, node->length, &error, &at);
    // The parser declares what it does not know: such a name has an index past ours.
    if (kc_expr_symbol_count(signature->pool) > signature->symbol_count) {
        *status = kcrt_bad_manifest(
            r, "the expression `%.200s` of `%s` uses `%.80s`, which is not declared", node->text,
            key, kc_expr_symbol_name(signature->pool, signature->symbol_count));
        return NULL;
    }
    if (!expr)
        *status = kcrt_bad_manifest(r, "the expression `%.200s` of `%s` is wrong at offset %zu: %s",
                                    node->text, key, at, error ? error : "not enough memory");
    return expr;
}

kcrt_status kcrt_read_term(const kcrt_reader *r, const kcrt_json *node, const char *key, int scope,
                           kcrt_term *out) {
    kcrt_signature *signature = r->signature;
    const kc_expr *expr = NULL;
    kcrt_status status = KCRT_OK;
    if (!node) return kcrt_bad_manifest(r, "`%s` is missing", key);
    if (node->kind == KCRT_JSON_INT) {
        expr = kc_expr_const(signature->pool, node->integer);
        if (!expr) return kcrt_no_memory(r);
    } else if (node->kind == KCRT_JSON_STRING) {
        expr = parse_text(r, node, key, &status);
        if (!expr) return status;
    } else {
        return kcrt_bad_manifest(r, "`%s` must be an expression and is %s", key,
                                 kcrt_json_kind_name(node->kind));
    }
    for (int s = scope; s < signature->symbol_count; s++)
        if (kc_expr_uses(expr, s))
            return kcrt_bad_manifest(r, "`%s` may not use `%s`", key,
                                     kc_expr_symbol_name(signature->pool, s));
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS; i++)
        if (kc_expr_uses(expr, signature->device_base + i)) signature->device_used |= 1u << i;
    *out = (kcrt_term){.form = KCRT_TERM_EXPR, .expr = expr};
    if (kc_expr_is_const(expr, &out->value)) out->form = KCRT_TERM_CONST;
    if (expr->kind == KC_EXPR_SYMBOL) {
        out->form = KCRT_TERM_SYMBOL;
        out->symbol = expr->symbol;
    }
    return KCRT_OK;
}

kcrt_status kcrt_new_items(const kcrt_reader *r, const kcrt_json *list, const char *key, int most,
                           size_t size, void **items, int *count) {
    if (list->length > (uint32_t)most)
        return kcrt_bad_manifest(r, "`%s` has %u items; the limit is %d", key, list->length, most);
    *items = kcrt_arena_alloc(r->arena, list->length, size);
    *count = (int)list->length;
    return *items ? KCRT_OK : kcrt_no_memory(r);
}

int kcrt_find_arg(const kcrt_signature *signature, const char *name) {
    for (int i = 0; i < signature->arg_count; i++)
        if (!strcmp(signature->args[i].name, name)) return i;
    return -1;
}
