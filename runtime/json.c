// Recursive descent with a depth limit, so that the stack is bounded; nodes are linked, so that
// nothing is moved.
#include "runtime/json.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

typedef struct {
    kcrt_arena *arena;
    const char *at, *end;
    const char *error; // the first one; everything unwinds when it is set
    const char *error_at;
} reader;

static kcrt_json *read_value(reader *r, int depth);

static void *fail(reader *r, const char *error) {
    if (!r->error) {
        r->error = error;
        r->error_at = r->at;
    }
    return NULL;
}

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(reader *r, char c) {
    skip_space(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static kcrt_json *new_node(reader *r, kcrt_json_kind kind) {
    kcrt_json *node = KCRT_NEW(r->arena, kcrt_json, 1);
    if (!node) return fail(r, "not enough memory for this text");
    node->kind = kind;
    return node;
}

// ---- Strings ------------------------------------------------------------------------------------

static int hex4(reader *r) {
    int value = 0;
    if (r->end - r->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *out, uint32_t c) {
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 63));
        *out++ = (char)(0x80 | (c >> 6 & 63));
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

// After "\u". Surrogates come in pairs or not at all.
static bool read_unicode_escape(reader *r, char **out) {
    int c = hex4(r);
    if (c < 0) return fail(r, "`\\u` wants four hexadecimal digits"), false;
    if (c == 0) return fail(r, "a string may not contain U+0000"), false;
    if (c >= 0xdc00 && c < 0xe000) return fail(r, "a low surrogate without a high one"), false;
    uint32_t code = (uint32_t)c;
    if (c >= 0xd800 && c < 0xdc00) {
        bool escape = r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u';
        if (escape) r->at += 2;
        int low = escape ? hex4(r) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return fail(r, "a high surrogate without a low one"), false;
        code = 0x10000 + ((uint32_t)(c - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    }
    *out = put_utf8(*out, code);
    return true;
}

static bool read_escape(reader *r, char **out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end) return fail(r, "the string has no end"), false;
    char c = *r->at++;
    if (c == 'u') return read_unicode_escape(r, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) return fail(r, "unknown escape in a string"), false;
    *(*out)++ = to[found - from];
    return true;
}

// Bytes of the well-formed UTF-8 sequence at p; 0 when there is none.
static int utf8_length(const unsigned char *p, size_t left) {
    if (p[0] < 0x80) return 1;
    int n = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
            : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
            : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                          : 0;
    if (!n || (size_t)n > left) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

// After the opening quote. The text without escapes is never longer than with them.
static const char *read_string(reader *r, uint32_t *length) {
    const char *p = r->at;
    while (p < r->end && *p != '"')
        p += *p == '\\' && r->end - p > 1 ? 2 : 1;
    if (p >= r->end) return fail(r, "the string has no end");
    char *text = kcrt_arena_alloc(r->arena, (size_t)(p - r->at) + 1, 1), *out = text;
    if (!text) return fail(r, "not enough memory for this text");
    while (*r->at != '"') {
        unsigned char c = (unsigned char)*r->at;
        if (c < 0x20) return fail(r, "a control character in a string must be escaped");
        if (c == '\\') {
            r->at++;
            if (!read_escape(r, &out)) return NULL;
            continue;
        }
        int n = utf8_length((const unsigned char *)r->at, (size_t)(p - r->at));
        if (!n) return fail(r, "the text is not valid UTF-8");
        memcpy(out, r->at, (size_t)n);
        out += n;
        r->at += n;
    }
    r->at++;
    *length = (uint32_t)(out - text);
    return text;
}

// ---- Numbers ------------------------------------------------------------------------------------

static bool digits(reader *r) {
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > start;
}

// Past the number; *integer says whether it has neither fraction nor exponent. False when it is
// malformed.
static bool scan_number(reader *r, bool *integer) {
    *integer = true;
    if (*r->at == '-') r->at++;
    if (r->at < r->end && *r->at == '0') r->at++;
    else if (!digits(r)) return false;
    if (r->at < r->end && *r->at == '.') {
        *integer = false;
        r->at++;
        if (!digits(r)) return false;
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        *integer = false;
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!digits(r)) return false;
    }
    return r->at == r->end || !strchr("0123456789.+-eE", *r->at) || !*r->at;
}

static kcrt_json *read_number(reader *r) {
    const char *start = r->at;
    bool integer, negative = *start == '-';
    if (!scan_number(r, &integer)) return fail(r, "malformed number");
    kcrt_json *node = new_node(r, integer ? KCRT_JSON_INT : KCRT_JSON_REAL);
    if (!node) return NULL;
    if (!integer) {
        node->length = (uint32_t)(r->at - start);
        node->text = kcrt_arena_string(r->arena, start, node->length);
        return node->text ? node : fail(r, "not enough memory for this text");
    }
    int64_t value = 0;
    for (const char *p = start + negative; p < r->at; p++) {
        int digit = *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            r->at = start;
            return fail(r, "the integer does not fit in 64 bits");
        }
    }
    node->integer = value;
    return node;
}

// ---- Lists and objects --------------------------------------------------------------------------

static int compare_keys(const void *a, const void *b) {
    return strcmp((*(const kcrt_json *const *)a)->key, (*(const kcrt_json *const *)b)->key);
}

// Pairwise for the few keys that objects have; sorted for many, so that a hostile text costs n log
// n.
static bool check_keys(reader *r, const kcrt_json *object) {
    if (object->length <= 16) {
        for (const kcrt_json *a = object->first; a; a = a->next)
            for (const kcrt_json *b = a->next; b; b = b->next)
                if (!strcmp(a->key, b->key))
                    return fail(r, "duplicate key in the object that ends here"), false;
        return true;
    }
    const kcrt_json **sorted = malloc(object->length * sizeof *sorted);
    if (!sorted) return fail(r, "not enough memory for this text"), false;
    size_t n = 0;
    for (const kcrt_json *item = object->first; item; item = item->next)
        sorted[n++] = item;
    qsort(sorted, n, sizeof *sorted, compare_keys);
    bool unique = true;
    for (size_t i = 1; i < n; i++)
        unique &= strcmp(sorted[i - 1]->key, sorted[i]->key) != 0;
    free(sorted);
    return unique ? true : (fail(r, "duplicate key in the object that ends here"), false);
}

static kcrt_json *read_item(reader *r, bool keyed, int depth) {
    const char *key = NULL;
    uint32_t length;
    if (keyed) {
        if (!take(r, '"')) return fail(r, "expected a key in double quotes");
        key = read_string(r, &length);
        if (!key) return NULL;
        if (!take(r, ':')) return fail(r, "expected `:` after the key");
    }
    kcrt_json *item = read_value(r, depth);
    if (item) item->key = key;
    return item;
}

// After the opening bracket or brace.
static kcrt_json *read_items(reader *r, bool keyed, int depth) {
    char close = keyed ? '}' : ']';
    kcrt_json *node = new_node(r, keyed ? KCRT_JSON_OBJECT : KCRT_JSON_LIST);
    if (!node) return NULL;
    if (depth == MAX_DEPTH) return fail(r, "nested more than 64 deep");
    kcrt_json **tail = &node->first;
    if (take(r, close)) return node;
    do {
        kcrt_json *item = read_item(r, keyed, depth + 1);
        if (!item) return NULL;
        *tail = item;
        tail = &item->next;
        node->length++;
    } while (take(r, ','));
    if (!take(r, close)) return fail(r, keyed ? "expected `,` or `}`" : "expected `,` or `]`");
    return keyed && !check_keys(r, node) ? NULL : node;
}

static kcrt_json *read_word(reader *r) {
    static const struct {
        const char *word;
        kcrt_json_kind kind;
        int value;
    } words[] = {
        {"null", KCRT_JSON_NULL, 0}, {"true", KCRT_JSON_BOOL, 1}, {"false", KCRT_JSON_BOOL, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i].word, n)) continue;
        r->at += n;
        kcrt_json *node = new_node(r, words[i].kind);
        if (node) node->integer = words[i].value;
        return node;
    }
    return fail(r, "expected a value");
}

static kcrt_json *read_value(reader *r, int depth) {
    skip_space(r);
    if (r->at == r->end) return fail(r, "the text ends where a value is expected");
    char c = *r->at;
    if (c == '{' || c == '[') {
        r->at++;
        return read_items(r, c == '{', depth);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(r);
    if (c != '"') return read_word(r);
    r->at++;
    kcrt_json *node = new_node(r, KCRT_JSON_STRING);
    if (!node) return NULL;
    node->text = read_string(r, &node->length);
    return node->text ? node : NULL;
}

kcrt_json *kcrt_json_parse(kcrt_arena *arena, const char *text, size_t length, const char **error,
                           size_t *error_at) {
    reader r = {.arena = arena, .at = text, .end = text + length};
    kcrt_json *root = length > UINT32_MAX ? fail(&r, "the text is too long") : read_value(&r, 0);
    if (root) {
        skip_space(&r);
        if (r.at != r.end) root = fail(&r, "more text after the value");
    }
    *error = r.error;
    *error_at = r.error ? (size_t)(r.error_at - text) : 0;
    return root;
}

const kcrt_json *kcrt_json_get(const kcrt_json *object, const char *key) {
    if (!object || object->kind != KCRT_JSON_OBJECT) return NULL;
    for (const kcrt_json *item = object->first; item; item = item->next)
        if (!strcmp(item->key, key)) return item->kind == KCRT_JSON_NULL ? NULL : item;
    return NULL;
}

const char *kcrt_json_kind_name(kcrt_json_kind kind) {
    static const char *const names[] = {
        "null",     "true or false", "an integer", "a number with a fraction",
        "a string", "a list",        "an object"};
    return names[kind];
}
