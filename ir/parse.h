// The parser's state and the functions its files call in each other. Every one reports its own
// errors and then gives false; the caller only recovers.
#ifndef KC_IR_PARSE_H
#define KC_IR_PARSE_H

#include "ir/lex.h"
#include "ir/map.h"

// Limits on what text may ask for: far above anything real, low enough that hostile text stays
// cheap.
enum {
    KC_MAX_TEXT = 64 << 20,
    KC_MAX_NESTING = 64,
    KC_MAX_OPS = 1 << 19,
    KC_MAX_EXPR_TEXT = 4096,
    KC_MAX_SYMBOLS = 1024,
    KC_MAX_POOLS = 1 << 15,
    KC_MAX_ALL_SYMBOLS = 1 << 18,
    KC_MAX_LAYOUTS = 1 << 12,
    KC_MAX_PARSE_ERRORS = 100,
};

// Names visible in a region. An isolated region sees nothing further out.
typedef struct kc_parse_scope {
    struct kc_parse_scope *outer;
    kc_map *values;
    kc_namer *namer; // of the isolated region
    bool isolated;
} kc_parse_scope;

typedef struct {
    kc_lexer lexer;
    kc_token token; // the next one
    kc_arena *arena, *scratch;
    kc_module *module;
    kc_diag *diag;
    kc_map *functions; // name -> op
    kc_parse_scope *scope;
    kc_expr_pool *pool; // where expressions go now
    const kc_layout **layouts;
    int n_layouts, layouts_capacity;
    int depth, ops, pools, symbols, errors;
    void *op_parts[KC_MAX_NESTING + 2]; // by depth
} kc_parser;

typedef struct {
    kc_lexer lexer;
    kc_token token;
} kc_parse_mark;

// parse.c
void kc_parse_next(kc_parser *);
kc_parse_mark kc_parse_here(const kc_parser *);
void kc_parse_go(kc_parser *, kc_parse_mark);
bool kc_parse_error(kc_parser *, kc_loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));             // false
bool kc_parse_expected(kc_parser *, const char *what); // an error at the next token; false
bool kc_parse_take(kc_parser *, char punctuation);     // takes it when it is next
bool kc_parse_expect(kc_parser *, char punctuation);
bool kc_parse_loc(kc_parser *, kc_loc *); // optional @line:column

// parse_type.c
bool kc_parse_type(kc_parser *, kc_type *);
bool kc_parse_dims(kc_parser *, kc_expr_pool *); // optional
bool kc_parse_string(kc_parser *, const char **);
bool kc_parse_dict_follows(const kc_parser *); // { name =
bool kc_parse_dict(kc_parser *, kc_op *);

// parse_op.c
bool kc_parse_body(kc_parser *, kc_op *,
                   kc_parse_scope *outer); // from { to }, errors inside are recovered from
bool kc_parse_define(kc_parser *, kc_token name, kc_value *); // a name in the current scope
kc_parse_scope *kc_parse_scope_create(kc_parser *, kc_parse_scope *outer, bool isolated);

#endif
