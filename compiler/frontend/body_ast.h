// The expression language: tokens, syntax trees, parser. Bodies use all of it; dimensions and types
// use it too.
#ifndef KC_COMPILER_FRONTEND_BODY_AST_H
#define KC_COMPILER_FRONTEND_BODY_AST_H

#include "ir/diag.h"

typedef enum {
    KC_TOKEN_END,
    KC_TOKEN_NEWLINE,
    KC_TOKEN_ERROR, // ERROR: reported already
    KC_TOKEN_NAME,
    KC_TOKEN_INT,
    KC_TOKEN_FLOAT,
    KC_TOKEN_STRING,
    KC_TOKEN_OPEN,
    KC_TOKEN_CLOSE,
    KC_TOKEN_LIST_OPEN,
    KC_TOKEN_LIST_CLOSE,
    KC_TOKEN_COMMA,
    KC_TOKEN_ASSIGN,
    KC_TOKEN_ADD,
    KC_TOKEN_SUB,
    KC_TOKEN_MUL,
    KC_TOKEN_DIV,
    KC_TOKEN_FLOORDIV,
    KC_TOKEN_MOD,
    KC_TOKEN_POW,
    KC_TOKEN_EQ,
    KC_TOKEN_NE,
    KC_TOKEN_LT,
    KC_TOKEN_LE,
    KC_TOKEN_GT,
    KC_TOKEN_GE,
    KC_TOKEN_AND,
    KC_TOKEN_OR,
    KC_TOKEN_NOT,
} kc_token_kind;

typedef struct {
    kc_token_kind kind;
    kc_loc loc;
    const char *text; // NAME and STRING (without quotes): NUL-terminated, in the arena
    int64_t integer;
    double number;
} kc_token;

// Text to read and where its lines stand in the file.
typedef struct {
    const char *text;
    size_t length;
    kc_loc start; // of the first character
    const uint32_t
        *columns; // first column of each line of a literal block; NULL: the text is one line
    bool fixed;   // every token is at `start`: the text does not stand verbatim in the file
} kc_body_text;

typedef struct {
    kc_body_text in;
    kc_arena *arena;
    kc_diag *diag;
    size_t at;
    uint32_t line, column; // of `at`; line counts from 0
    int brackets;          // newlines are blanks inside brackets
} kc_body_lexer;

kc_body_lexer kc_body_lex_start(kc_arena *, kc_diag *, kc_body_text);
kc_token kc_body_lex_next(kc_body_lexer *);
// Recovery: to the end of the line on which all brackets are closed, or before which an unindented
// NAME = stands.
void kc_body_lex_skip_statement(kc_body_lexer *);
const char *kc_body_token_text(kc_token_kind); // for errors: "','", "a name"

typedef enum {
    KC_AST_INT,
    KC_AST_FLOAT,
    KC_AST_BOOL,
    KC_AST_STRING,
    KC_AST_NAME,
    KC_AST_LIST,
    KC_AST_CALL,
    KC_AST_UNARY,
    KC_AST_BINARY,
} kc_ast_kind;

typedef struct kc_ast kc_ast;

typedef struct {
    const char *keyword; // NULL: positional
    kc_loc loc;          // of the keyword, else of the value
    kc_ast *value;
} kc_ast_arg;

struct kc_ast {
    kc_ast_kind kind;
    kc_loc loc;       // of the operator for BINARY, else of the first character
    const char *text; // NAME, STRING, CALL (the function's name)
    int64_t integer;  // INT, BOOL
    double number;    // FLOAT
    kc_token_kind op; // UNARY, BINARY
    int count;
    kc_ast_arg *args; // LIST, CALL; UNARY and BINARY have their operands here too
};

typedef struct {
    const char *name;
    kc_loc loc;
    kc_ast *value; // NULL: a syntax error was reported; the name is known, its value is not
} kc_statement;

typedef struct {
    kc_statement *statements;
    int count;
    bool broken; // some statement could not be read
} kc_body;

kc_body kc_body_parse(kc_arena *, kc_diag *, kc_body_text);
const char *kc_ast_text(kc_arena *,
                        const kc_ast *); // for errors: "a list", "the string \"a\"", "1.5"
// One expression that takes up the whole text. NULL after an error.
kc_ast *kc_expression_parse(kc_arena *, kc_diag *, kc_body_text);

#endif
