#include "runtime/sim/cuda/ptx_lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_name_start(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool starts(const ptx_lexer *lexer, const char *text) {
    size_t length = strlen(text);
    return (size_t)(lexer->end - lexer->at) >= length && memcmp(lexer->at, text, length) == 0;
}

/* False when a block comment never ends. */
static bool skip_blank(ptx_lexer *lexer) {
    while (lexer->at < lexer->end) {
        if (*lexer->at == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (isspace((unsigned char)*lexer->at)) {
            lexer->at++;
        } else if (starts(lexer, "//") || *lexer->at == '#') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (starts(lexer, "/*")) {
            lexer->at += 2;
            while (lexer->at < lexer->end && !starts(lexer, "*/"))
                lexer->line += *lexer->at++ == '\n';
            if (lexer->at == lexer->end) return false;
            lexer->at += 2;
        } else {
            break;
        }
    }
    return true;
}

/* Exactly `digits` hexadecimal digits after 0f or 0d. */
static bool hex_bits(ptx_lexer *lexer, int digits, uint64_t *value) {
    if (lexer->end - lexer->at < digits + 2) return false;
    *value = 0;
    for (int i = 0; i < digits; i++) {
        char c = lexer->at[2 + i];
        if (!isxdigit((unsigned char)c)) return false;
        int digit = isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10;
        *value = *value << 4 | (uint64_t)digit;
    }
    lexer->at += digits + 2;
    return true;
}

static ptx_token_kind lex_integer(ptx_lexer *lexer, uint64_t *value) {
    int base = 10;
    const char *at = lexer->at;
    if (*at == '0' && lexer->end - at > 1) {
        char mark = (char)(at[1] | 32);
        base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
        at += base != 8 ? 2 : 0;
    }
    const char *first = at;
    *value = 0;
    for (; at < lexer->end && isxdigit((unsigned char)*at); at++) {
        int digit = isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10;
        if (digit >= base || *value > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base)
            return PTX_TOKEN_BAD;
        *value = *value * (uint64_t)base + (uint64_t)digit;
    }
    if (at == first) return PTX_TOKEN_BAD;
    if (at < lexer->end && (*at == 'U' || *at == 'u')) at++;
    if (at < lexer->end && is_name(*at)) return PTX_TOKEN_BAD;
    lexer->at = at;
    return PTX_TOKEN_INTEGER;
}

/* A decimal float: digits, then a point or an exponent. */
static bool lex_decimal(ptx_lexer *lexer, uint64_t *value) {
    char copy[64];
    size_t length = 0;
    bool is_float = false;
    for (const char *at = lexer->at; at < lexer->end && length < sizeof copy - 1; at++) {
        bool exponent_sign = (*at == '+' || *at == '-') && length && (copy[length - 1] | 32) == 'e';
        if (!isdigit((unsigned char)*at) && *at != '.' && (*at | 32) != 'e' && !exponent_sign)
            break;
        is_float |= *at == '.' || (*at | 32) == 'e';
        copy[length++] = *at;
    }
    copy[length] = 0;
    if (!is_float || length == sizeof copy - 1) return false;
    char *rest;
    double number = strtod(copy, &rest);
    if (rest == copy) return false;
    lexer->at += rest - copy;
    memcpy(value, &number, sizeof number);
    return true;
}

static ptx_token_kind lex_number(ptx_lexer *lexer, uint64_t *value) {
    char mark = lexer->end - lexer->at > 1 && *lexer->at == '0' ? (char)(lexer->at[1] | 32) : 0;
    if (mark == 'f' && hex_bits(lexer, 8, value)) return PTX_TOKEN_FLOAT32;
    if (mark == 'd' && hex_bits(lexer, 16, value)) return PTX_TOKEN_FLOAT64;
    if (mark != 'x' && lex_decimal(lexer, value)) return PTX_TOKEN_FLOAT64;
    return lex_integer(lexer, value);
}

static void lex_name(ptx_lexer *lexer) {
    while (lexer->at < lexer->end) {
        if (is_name(*lexer->at)) lexer->at++;
        else if (starts(lexer, "::") && lexer->end - lexer->at > 2 && is_name(lexer->at[2]))
            lexer->at += 2;
        else break;
    }
}

ptx_token ptx_next_token(ptx_lexer *lexer) {
    const char *before = lexer->at;
    bool closed = skip_blank(lexer);
    ptx_token token = {.kind = closed ? PTX_TOKEN_END : PTX_TOKEN_BAD,
                       .line = lexer->line,
                       .text = lexer->at,
                       .spaced = lexer->at != before};
    if (lexer->at >= lexer->end) return token;
    char c = *lexer->at;
    if (is_name_start(c)) {
        token.kind = PTX_TOKEN_NAME;
        lex_name(lexer);
    } else if (isdigit((unsigned char)c)) {
        token.kind = lex_number(lexer, &token.value);
        if (token.kind == PTX_TOKEN_BAD) { /* `2d` of tex.2d: a word that starts with a digit */
            token.kind = PTX_TOKEN_NAME;
            lex_name(lexer);
        }
    } else if (c == '"') {
        const char *close = memchr(lexer->at + 1, '"', (size_t)(lexer->end - lexer->at - 1));
        const char *newline = memchr(lexer->at + 1, '\n', (size_t)(lexer->end - lexer->at - 1));
        bool good = close && (!newline || close < newline);
        token.kind = good ? PTX_TOKEN_STRING : PTX_TOKEN_BAD;
        lexer->at = good ? close + 1 : lexer->at + 1;
    } else {
        token.kind = strchr(".,;:()[]{}<>=+-!|@~*/", c) && c ? PTX_TOKEN_SYMBOL : PTX_TOKEN_BAD;
        token.symbol = c;
        lexer->at++;
    }
    token.length = (size_t)(lexer->at - token.text);
    return token;
}
