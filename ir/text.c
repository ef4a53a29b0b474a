// Spelling: names, strings, numbers.
#include "ir/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const kc_expr_facts kc_facts_default = {INT64_MIN / 4, INT64_MAX / 4, 1};

bool kc_is_name(const char *text, size_t length) {
    if (!length || !kc_is_letter(text[0])) return false;
    for (size_t i = 1; i < length; i++)
        if (!kc_is_name_char(text[i])) return false;
    return true;
}

locale_t kc_locale_enter(void) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return uselocale(c);
}

void kc_locale_leave(locale_t before) {
    locale_t c = uselocale(before);
    if (c != before && c != LC_GLOBAL_LOCALE) freelocale(c);
}

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

void kc_float_to_text(double number, char text[KC_FLOAT_TEXT]) {
    if (isnan(number)) {
        uint64_t bits = bits_of(number);
        if (bits == 0x7FF8000000000000u) snprintf(text, KC_FLOAT_TEXT, "nan");
        else snprintf(text, KC_FLOAT_TEXT, "nan(0x%016llx)", (unsigned long long)bits);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, KC_FLOAT_TEXT, "%.*g", digits, number);
        if (bits_of(strtod(text, NULL)) == bits_of(number)) return;
    }
}

void kc_print_string(const char *text, FILE *out) {
    fputc('"', out);
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\') fprintf(out, "\\%c", c);
        else if (c == '\n') fputs("\\n", out);
        else if (c == '\t') fputs("\\t", out);
        else if (c < 0x20 || c == 0x7F) fprintf(out, "\\x%02x", c);
        else fputc(c, out);
    }
    fputc('"', out);
}

void kc_print_symbol(const char *text, FILE *out) {
    if (kc_is_name(text, strlen(text))) fputs(text, out);
    else kc_print_string(text, out);
}

static char *allocate(size_t length) {
    char *text = malloc(length + 1);
    if (!text) kc_bug("no memory to print %zu characters", length);
    return text;
}

void kc_print_expr(const kc_expr_pool *pool, const kc_expr *expr, FILE *out) {
    char fixed[256], *text = fixed;
    size_t length = kc_expr_print(pool, expr, fixed, sizeof fixed);
    if (length >= sizeof fixed) kc_expr_print(pool, expr, text = allocate(length), length + 1);
    fputs(text, out);
    if (text != fixed) free(text);
}

void kc_print_layout(const kc_layout *layout, FILE *out) {
    size_t length = kc_layout_print(layout, NULL, 0);
    char *text = allocate(length);
    kc_layout_print(layout, text, length + 1);
    fputs(text, out);
    free(text);
}

// ---- names

kc_namer *kc_namer_create(kc_arena *arena) {
    kc_namer *namer = KC_NEW(arena, kc_namer);
    *namer = (kc_namer){arena, kc_map_create(arena), kc_map_create(arena)};
    return namer;
}

void kc_namer_take(kc_namer *namer, const char *text) {
    kc_map_set_text(namer->taken, text, strlen(text), namer);
}

const char *kc_namer_unique(kc_namer *namer, const char *name) {
    size_t length = strlen(name);
    const char *text = name;
    // Names are never given back, so that a suffix once taken need not be tried again.
    intptr_t suffix = (intptr_t)kc_map_get_text(namer->suffixes, name, length);
    while (suffix || kc_map_get_text(namer->taken, text, strlen(text))) {
        if (!suffix) suffix = 1;
        text = kc_arena_printf(namer->arena, "%s_%d", name, (int)suffix);
        if (!kc_map_get_text(namer->taken, text, strlen(text))) break;
        suffix++;
    }
    if (suffix) kc_map_set_text(namer->suffixes, name, length, (void *)suffix);
    return text;
}

const char *kc_namer_original(kc_namer *namer, const char *text) {
    size_t end = strlen(text), n = end;
    while (n && kc_is_digit(text[n - 1]))
        n--;
    if (n < 2 || n == end || text[n - 1] != '_') return text;
    const char *name = kc_arena_strndup(namer->arena, text, n - 1);
    return strcmp(kc_namer_unique(namer, name), text) ? text : name;
}
