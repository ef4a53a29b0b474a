/* The tokens of PTX. */
#ifndef KCSIM_PTX_LEX_H
#define KCSIM_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,    /* foo, %r1, $L__BB0_1; `::` inside belongs to it (shared::cta) */
    PTX_TOKEN_INTEGER, /* 12, 0x1F, 017, 0b11, 12U */
    PTX_TOKEN_FLOAT32, /* 0f3F800000: value holds the bits */
    PTX_TOKEN_FLOAT64, /* 0d..., 1.5, 1e3 */
    PTX_TOKEN_STRING,
    PTX_TOKEN_SYMBOL, /* one character: . , ; : ( ) [ ] { } < > = + - ! | @ ~ * / */
    PTX_TOKEN_BAD
} ptx_token_kind;

typedef struct ptx_token {
    ptx_token_kind kind;
    char symbol;
    uint32_t line;
    const char *text;
    size_t length;
    uint64_t value;
    bool spaced; /* white space or a comment stands before it */
} ptx_token;

typedef struct ptx_lexer {
    const char *at, *end;
    uint32_t line;
} ptx_lexer;

ptx_token ptx_next_token(ptx_lexer *lexer);

#endif
