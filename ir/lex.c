// The lexer. It counts columns in code points as it goes and accepts any bytes.
#include "ir/lex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kc_lexer kc_lexer_create(const char *text, size_t size) {
    return (kc_lexer){text, text + size, {1, 1}, true};
}

static char peek(const kc_lexer *lx, size_t ahead) {
    return (size_t)(lx->end - lx->at) > ahead ? lx->at[ahead] : 0;
}

static void advance(kc_lexer *lx, size_t n) {
    for (; n && lx->at < lx->end; n--, lx->at++) {
        if (*lx->at == '\n') {
            lx->loc.line++;
            lx->loc.column = 1;
            lx->fresh = true;
        } else if (((unsigned char)*lx->at & 0xC0) != 0x80) {
            lx->loc.column++;
        }
    }
}

static void advance_to(kc_lexer *lx, const char *at) {
    advance(lx, (size_t)(at - lx->at));
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_comment(kc_lexer *lx) {
    while (lx->at < lx->end && *lx->at != '\n')
        advance(lx, 1);
}

static void skip_blanks(kc_lexer *lx) {
    while (lx->at < lx->end) {
        if (is_blank(*lx->at)) advance(lx, 1);
        else if (*lx->at == '/' && peek(lx, 1) == '/') skip_comment(lx);
        else return;
    }
}

static const char *name_end(const kc_lexer *lx, const char *at) {
    // A name does not swallow the dots of a range.
    while (at < lx->end && kc_is_name_char(*at) &&
           !(*at == '.' && at + 1 < lx->end && at[1] == '.'))
        at++;
    return at;
}

static const char *digits_end(const kc_lexer *lx, const char *at) {
    while (at < lx->end && kc_is_digit(*at))
        at++;
    return at;
}

// Behind the closing quote, or NULL when the line ends before it.
static const char *string_end(const kc_lexer *lx, const char *at) {
    for (at++; at < lx->end && *at != '\n'; at++) {
        if (*at == '"') return at + 1;
        if (*at == '\\' && at + 1 < lx->end && at[1] != '\n') at++;
    }
    return NULL;
}

// @12:5, @name or @"name"; a lone @ is punctuation.
static const char *lex_at(const kc_lexer *lx, kc_token *token) {
    const char *at = lx->at + 1, *end = digits_end(lx, at);
    if (end > at && end < lx->end && *end == ':' && digits_end(lx, end + 1) > end + 1) {
        token->kind = KC_TOKEN_LOC;
        return digits_end(lx, end + 1);
    }
    token->kind = KC_TOKEN_SYMBOL;
    if (at < lx->end && *at == '"' && (end = string_end(lx, at))) return end;
    if (at < lx->end && kc_is_letter(*at)) return name_end(lx, at);
    token->kind = KC_TOKEN_PUNCTUATION;
    token->text = lx->at;
    return at;
}

// Sets the kind and the start of the text, and gives the token's end.
static const char *classify(const kc_lexer *lx, kc_token *token) {
    const char *at = lx->at, *end;
    char c = *at, next = peek(lx, 1);
    token->text = at + (c == '%' || c == '@' || c == '#');
    if (kc_is_letter(c)) return token->kind = KC_TOKEN_NAME, name_end(lx, at);
    if (kc_is_digit(c)) return token->kind = KC_TOKEN_DIGITS, digits_end(lx, at);
    if (c == '%' && (end = name_end(lx, at + 1)) > at + 1) return token->kind = KC_TOKEN_VALUE, end;
    if (c == '#' && kc_is_digit(next)) return token->kind = KC_TOKEN_LAYOUT, digits_end(lx, at + 1);
    if (c == '@') return lex_at(lx, token);
    if (c == '"' && (end = string_end(lx, at))) return token->kind = KC_TOKEN_STRING, end;
    if (c == '-' && next == '>') return token->kind = KC_TOKEN_ARROW, at + 2;
    if (c == '.' && next == '.') return token->kind = KC_TOKEN_RANGE, at + 2;
    token->text = at;
    token->kind = c && strchr("()[]{}<>,:=^-", c) ? KC_TOKEN_PUNCTUATION : KC_TOKEN_WRONG;
    return at + 1;
}

kc_token kc_lex_next(kc_lexer *lx) {
    skip_blanks(lx);
    kc_token token = {
        .kind = KC_TOKEN_END, .at = lx->at, .text = lx->at, .loc = lx->loc, .first = lx->fresh};
    if (lx->at == lx->end) return token;
    const char *end = classify(lx, &token);
    token.length = (size_t)(end - token.text);
    advance_to(lx, end);
    lx->fresh = false;
    return token;
}

bool kc_token_is(const kc_token *token, char punctuation) {
    return token->kind == KC_TOKEN_PUNCTUATION && *token->text == punctuation;
}

bool kc_token_is_name(const kc_token *token, const char *name) {
    return token->kind == KC_TOKEN_NAME && token->length == strlen(name) &&
           !memcmp(token->text, name, token->length);
}

// ---- raw text

static void go_back(kc_lexer *lx, kc_token to) {
    lx->at = to.at;
    lx->loc = to.loc;
    lx->fresh = false;
}

// Ends `from` at `end` without trailing blanks.
static kc_token raw(kc_lexer *lx, kc_token from, const char *end) {
    while (end > from.at && is_blank(end[-1]))
        end--;
    from.text = from.at;
    from.length = (size_t)(end - from.at);
    go_back(lx, from);
    advance_to(lx, end);
    return from;
}

kc_token kc_lex_expr(kc_lexer *lx, kc_token from) {
    const char *at = from.at;
    int depth = 0;
    for (; at < lx->end && *at != '\n'; at++) {
        if (*at == '(') depth++;
        else if (*at == ')' && depth-- == 0) break;
        else if (depth == 0 && memchr(",]}", *at, 3)) break;
    }
    return raw(lx, from, at);
}

kc_token kc_lex_number(kc_lexer *lx, kc_token from) {
    const char *at = from.at;
    while (at < lx->end && !is_blank(*at) && !memchr(",]}", *at, 3) &&
           !(*at == '.' && at + 1 < lx->end && at[1] == '.'))
        at++;
    return raw(lx, from, at);
}

kc_token kc_lex_line(kc_lexer *lx, kc_token from) {
    const char *end = memchr(from.at, '\n', (size_t)(lx->end - from.at));
    return raw(lx, from, end ? end : lx->end);
}

int kc_lex_extents(kc_lexer *lx, kc_token from, int64_t extents[KC_MAX_RANK]) {
    const char *at = from.at;
    int n = 0;
    while (at < lx->end && kc_is_digit(*at)) {
        const char *end = digits_end(lx, at);
        kc_token digits = {.text = at, .length = (size_t)(end - at)};
        if (n == KC_MAX_RANK || !kc_token_integer(&digits, &extents[n++]) || end == lx->end ||
            *end != 'x')
            return -1;
        at = end + 1;
    }
    go_back(lx, from);
    advance_to(lx, at);
    return n;
}

// ---- skipping, by brackets alone. Comments are seen only where they begin a line: elsewhere //
// may be a division.

// Moves over one thing: a string, a comment line or a byte. Gives the byte, 0 for the others.
static char skip_one(kc_lexer *lx, bool *fresh) {
    char c = *lx->at;
    const char *end;
    if (c == '"' && (end = string_end(lx, lx->at))) {
        advance_to(lx, end);
        *fresh = false;
        return 0;
    }
    if (*fresh && c == '/' && peek(lx, 1) == '/') {
        skip_comment(lx);
        return 0;
    }
    advance(lx, 1);
    if (c == '\n') *fresh = true;
    else if (!is_blank(c)) *fresh = false;
    return c;
}

bool kc_lex_skip_group(kc_lexer *lx, kc_token open) {
    int depth = 0;
    bool fresh = false;
    go_back(lx, open);
    while (lx->at < lx->end) {
        char c = skip_one(lx, &fresh);
        if (c == '(' || c == '[' || c == '{') depth++;
        else if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
    }
    lx->fresh = false;
    return depth == 0;
}

void kc_lex_skip_op(kc_lexer *lx, kc_token from) {
    int depth = 0;
    bool fresh = false;
    go_back(lx, from);
    while (lx->at < lx->end) {
        char c = *lx->at;
        if (depth == 0 && (c == '}' || (c == '\n' && lx->at != from.at))) break;
        if (c == '{') depth++;
        else if (c == '}') depth--;
        skip_one(lx, &fresh);
    }
    lx->fresh = true;
}

// ---- values of tokens

bool kc_token_integer(const kc_token *token, int64_t *value) {
    size_t i = token->length && token->text[0] == '-';
    bool negative = i;
    int64_t n = 0;
    if (i == token->length) return false;
    for (; i < token->length; i++) {
        if (!kc_is_digit(token->text[i])) return false;
        int digit = token->text[i] - '0';
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_sub_overflow(n, digit, &n)) return false;
    }
    *value = n; // negative all the way, so that the least integer fits
    return negative || !__builtin_sub_overflow((int64_t)0, n, value);
}

static bool nan_with_bits(const char *text, size_t length, double *value) {
    char *end;
    if (length != 23 || memcmp(text, "nan(0x", 6) || text[22] != ')') return false;
    uint64_t bits = strtoull(text + 6, &end, 16);
    memcpy(value, &bits, sizeof bits);
    return end == text + 22 && isnan(*value);
}

bool kc_token_float(const kc_token *token, double *value) {
    char text[64], *end;
    if (!token->length || token->length >= sizeof text) return false;
    memcpy(text, token->text, token->length);
    text[token->length] = 0;
    if (nan_with_bits(text, token->length, value)) return true;
    if (!strcmp(text, "nan")) return *value = (double)NAN, true;
    if (strspn(text, "0123456789+-.einf") != token->length) return false;
    *value = strtod(text, &end);
    return end == text + token->length;
}

static int hex_digit(char c) {
    return kc_is_digit(c)         ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// Decodes the escape at *at, which it moves over; 0 when it is none.
static char unescape(const char **at, const char *end) {
    char c = *(*at)++;
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '"':
    case '\\': return c;
    case 'x': {
        if (end - *at < 2) return 0;
        int high = hex_digit((*at)[0]), low = hex_digit((*at)[1]);
        *at += 2;
        return high < 0 || low < 0 ? 0 : (char)(high * 16 + low);
    }
    default: return 0;
    }
}

char *kc_token_string(kc_arena *arena, const kc_token *token) {
    char *text = kc_arena_alloc(arena, token->length + 1), *out = text;
    const char *at = token->text + 1, *end = token->text + token->length - 1;
    while (at < end) {
        char c = *at++;
        if (c == '\\') c = at < end ? unescape(&at, end) : 0;
        if (!c) return NULL;
        *out++ = c;
    }
    return text;
}
