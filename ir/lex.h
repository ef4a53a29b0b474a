// Tokens of the IR's text. Expressions, numbers and tile extents are read from the raw text at a
// token, because `//` divides there and begins a comment elsewhere. A lexer is a plain value:
// copying it is how the parser goes back.
#ifndef KC_IR_LEX_H
#define KC_IR_LEX_H

#include "ir/text.h"

typedef enum {
    KC_TOKEN_END,
    KC_TOKEN_NAME,   // a letter, then letters, digits, dots
    KC_TOKEN_VALUE,  // %name; text is the name
    KC_TOKEN_SYMBOL, // @name or @"..."; text is what follows the @
    KC_TOKEN_LAYOUT, // #12; text is the digits
    KC_TOKEN_DIGITS,
    KC_TOKEN_STRING,      // text with its quotes
    KC_TOKEN_LOC,         // @12:5; text is 12:5
    KC_TOKEN_ARROW,       // ->
    KC_TOKEN_RANGE,       // ..
    KC_TOKEN_PUNCTUATION, // one character
    KC_TOKEN_WRONG,       // a byte that begins nothing, or a string without an end
} kc_token_kind;

typedef struct {
    kc_token_kind kind;
    const char *at; // its first byte in the source
    const char *text;
    size_t length; // of text
    kc_loc loc;
    bool first; // on its line
} kc_token;

typedef struct {
    const char *at, *end;
    kc_loc loc; // of `at`
    bool fresh; // nothing but blanks since the line began
} kc_lexer;

kc_lexer kc_lexer_create(const char *text, size_t size);
kc_token kc_lex_next(kc_lexer *);
bool kc_token_is(const kc_token *, char punctuation);
bool kc_token_is_name(const kc_token *, const char *name);

// The raw text that begins at the token: an expression up to , ] } or an unmatched ) or the line's
// end; a number up to one of these or a blank. The lexer stands behind it then.
kc_token kc_lex_expr(kc_lexer *, kc_token from);
kc_token kc_lex_number(kc_lexer *, kc_token from);
kc_token kc_lex_line(kc_lexer *, kc_token from); // the rest of the line without trailing blanks
// The extents of `64x32xf16`, and the lexer behind the last x. Number of extents; -1: too many or
// one too large.
int kc_lex_extents(kc_lexer *, kc_token from, int64_t extents[KC_MAX_RANK]);
// Behind the bracket that closes the one at the token; false when it is never closed.
bool kc_lex_skip_group(kc_lexer *, kc_token open);
// From a token of an op to the next line that does not belong to it, or to the } that closes the
// region it is in.
void kc_lex_skip_op(kc_lexer *, kc_token from);

bool kc_token_integer(const kc_token *,
                      int64_t *); // decimal, with - allowed; false: not one, or too large
bool kc_token_float(const kc_token *, double *);
// The characters of a string token; NULL: a wrong escape.
char *kc_token_string(kc_arena *, const kc_token *);

#endif
