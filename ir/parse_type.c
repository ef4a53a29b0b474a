// Expressions, types, facts and attribute dictionaries.
#include "ir/parse.h"

#include <string.h>

// ---- expressions and numbers

static const char *undeclared(kc_parser *p, int known) {
    return kc_expr_symbol_count(p->pool) > known ? kc_expr_symbol_name(p->pool, known) : NULL;
}

static bool parse_expr(kc_parser *p, const kc_expr **expr) {
    kc_token text = kc_lex_expr(&p->lexer, p->token);
    const char *error = NULL;
    size_t error_at = 0;
    int known = kc_expr_symbol_count(p->pool);
    if (text.length > KC_MAX_EXPR_TEXT)
        return kc_parse_error(p, text.loc, "an expression of more than %d characters",
                              KC_MAX_EXPR_TEXT);
    *expr = kc_expr_parse(p->pool, text.text, text.length, &error, &error_at);
    if (!*expr) {
        kc_loc at = {text.loc.line, text.loc.column + (uint32_t)error_at};
        return kc_parse_error(p, at, "in an integer expression: %s",
                              error ? error : "not an expression");
    }
    const char *stranger = undeclared(p, known);
    if (stranger)
        return kc_parse_error(
            p, text.loc, "'%s' is not declared; name it in the dims of the function", stranger);
    kc_parse_next(p);
    return true;
}

static bool parse_integer(kc_parser *p, int64_t *value) {
    kc_token text = kc_lex_number(&p->lexer, p->token);
    if (!kc_token_integer(&text, value))
        return kc_parse_error(p, text.loc, "expected an integer of at most 64 bits");
    kc_parse_next(p);
    return true;
}

static bool parse_float(kc_parser *p, double *value) {
    kc_token text = kc_lex_number(&p->lexer, p->token);
    if (!kc_token_float(&text, value))
        return kc_parse_error(p, text.loc, "expected a number, inf, -inf or nan");
    kc_parse_next(p);
    return true;
}

bool kc_parse_string(kc_parser *p, const char **text) {
    if (p->token.kind != KC_TOKEN_STRING) return kc_parse_expected(p, "a string");
    *text = kc_token_string(p->arena, &p->token);
    if (!*text)
        return kc_parse_error(p, p->token.loc,
                              "a string knows the escapes \\n \\t \\\" \\\\ and \\x01 to \\xff");
    kc_parse_next(p);
    return true;
}

static bool parse_dtype(kc_parser *p, kc_dtype *dtype) {
    *dtype = p->token.kind == KC_TOKEN_NAME ? kc_dtype_find(p->token.text, p->token.length)
                                            : KC_DTYPE_NONE;
    if (*dtype == KC_DTYPE_NONE) return kc_parse_expected(p, "an element type such as f32");
    kc_parse_next(p);
    return true;
}

// ---- types

static bool parse_shape(kc_parser *p, int *rank, const kc_expr **shape) {
    *rank = 0;
    if (!kc_parse_expect(p, '[')) return false;
    if (kc_parse_take(p, ']')) return true;
    do {
        if (*rank == KC_MAX_RANK)
            return kc_parse_error(p, p->token.loc, "a rank above %d", KC_MAX_RANK);
        if (!parse_expr(p, &shape[(*rank)++])) return false;
    } while (kc_parse_take(p, ','));
    return kc_parse_expect(p, ']');
}

static bool parse_tensor(kc_parser *p, kc_dtype elem, kc_type *type) {
    int rank = 0, n_strides = 0;
    *type = (kc_type){.kind = KC_TYPE_TENSOR, .elem = elem};
    kc_loc loc = p->token.loc;
    if (!parse_shape(p, &rank, type->shape)) return false;
    type->rank = rank;
    if (!kc_parse_take(p, '@')) return true;
    if (!parse_shape(p, &n_strides, type->strides)) return false;
    if (n_strides == rank && rank > 0) return true;
    return kc_parse_error(p, loc, "%d strides for a tensor of rank %d", n_strides, rank);
}

static bool parse_layout_reference(kc_parser *p, const kc_layout **layout) {
    int64_t number;
    if (p->token.kind != KC_TOKEN_LAYOUT) return kc_parse_expected(p, "a layout such as #0");
    if (!kc_token_integer(&p->token, &number) || number >= p->n_layouts)
        return kc_parse_error(p, p->token.loc, "there is no layout #%.*s", (int)p->token.length,
                              p->token.text);
    *layout = p->layouts[number];
    kc_parse_next(p);
    return true;
}

enum { MAX_TILE_ELEMENTS = 1 << 30 };

static bool parse_tile(kc_parser *p, kc_type_kind kind, kc_type *type) {
    *type = (kc_type){.kind = kind};
    kc_parse_next(p);
    bool open = kc_token_is(&p->token, '<');
    if (!open && kind == KC_TYPE_TOKEN) {
        *type = kc_type_token();
        return true;
    }
    if (!open) return kc_parse_expected(p, "<");
    kc_parse_next(p);
    kc_loc loc = p->token.loc;
    type->rank = kc_lex_extents(&p->lexer, p->token, type->tile);
    int64_t elements = 1;
    for (int i = 0; i < type->rank; i++)
        if (__builtin_mul_overflow(elements, type->tile[i], &elements) ||
            elements > MAX_TILE_ELEMENTS)
            type->rank = -1;
    if (type->rank < 0) {
        type->rank = 0;
        return kc_parse_error(p, loc,
                              "expected extents such as 64x32xf16, at most %d of them, %d elements",
                              KC_MAX_RANK, MAX_TILE_ELEMENTS);
    }
    kc_parse_next(p);
    if (!parse_dtype(p, &type->elem)) return false;
    if (kc_parse_take(p, ',') && !parse_layout_reference(p, &type->layout)) return false;
    return kc_parse_expect(p, '>');
}

bool kc_parse_type(kc_parser *p, kc_type *type) {
    kc_dtype elem;
    if (kc_token_is_name(&p->token, "tile")) return parse_tile(p, KC_TYPE_TILE, type);
    if (kc_token_is_name(&p->token, "shared")) return parse_tile(p, KC_TYPE_SHARED, type);
    if (kc_token_is_name(&p->token, "token")) return parse_tile(p, KC_TYPE_TOKEN, type);
    if (!parse_dtype(p, &elem)) return false;
    if (kc_token_is(&p->token, '[') && !p->token.first) return parse_tensor(p, elem, type);
    *type = kc_type_scalar(elem);
    return true;
}

// ---- facts

static bool parse_fact(kc_parser *p, kc_expr_pool *pool) {
    if (p->token.kind != KC_TOKEN_NAME) return kc_parse_expected(p, "the name of a dim");
    kc_token name = p->token;
    int index = kc_expr_symbol_index(pool, name.text, name.length);
    if (index < 0 || index >= KC_MAX_SYMBOLS)
        return kc_parse_error(p, name.loc, "more than %d dims", KC_MAX_SYMBOLS);
    kc_expr_facts facts = kc_facts_default;
    kc_parse_next(p);
    if (kc_parse_take(p, ':')) {
        if (!parse_integer(p, &facts.min)) return false;
        if (p->token.kind != KC_TOKEN_RANGE) return kc_parse_expected(p, "..");
        kc_parse_next(p);
        if (!parse_integer(p, &facts.max)) return false;
        if (kc_token_is_name(&p->token, "multiple")) {
            kc_parse_next(p);
            if (!parse_integer(p, &facts.multiple_of)) return false;
        }
    }
    if (facts.min > facts.max || facts.multiple_of < 1)
        return kc_parse_error(p, name.loc, "facts of '%.*s' that nothing can meet",
                              (int)name.length, name.text);
    kc_expr_set_facts(pool, index, facts);
    return true;
}

bool kc_parse_dims(kc_parser *p, kc_expr_pool *pool) {
    if (!kc_token_is_name(&p->token, "dims") || p->token.first) return true;
    if (!pool) return kc_parse_error(p, p->token.loc, "only a function and a variant have dims");
    kc_parse_next(p);
    if (!kc_parse_expect(p, '{')) return false;
    do {
        if (!parse_fact(p, pool)) return false;
    } while (kc_parse_take(p, ','));
    return kc_parse_expect(p, '}');
}

// ---- attributes

bool kc_parse_dict_follows(const kc_parser *p) {
    if (!kc_token_is(&p->token, '{')) return false;
    kc_lexer ahead = p->lexer;
    kc_token name = kc_lex_next(&ahead), equals = kc_lex_next(&ahead);
    return name.kind == KC_TOKEN_NAME && kc_token_is(&equals, '=');
}

enum { MAX_LIST = 256 };

typedef union {
    int64_t integers[MAX_LIST];
    double numbers[MAX_LIST];
    const char *strings[MAX_LIST];
    const kc_expr *exprs[MAX_LIST];
} attr_list;

static bool parse_list_item(kc_parser *p, kc_attr_kind kind, attr_list *list, int i) {
    switch (kind) {
    case KC_KIND_INTS: return parse_integer(p, &list->integers[i]);
    case KC_KIND_FLOATS: return parse_float(p, &list->numbers[i]);
    case KC_KIND_STRINGS: return kc_parse_string(p, &list->strings[i]);
    default: return parse_expr(p, &list->exprs[i]);
    }
}

static bool parse_list(kc_parser *p, kc_attr_key key, kc_op *op) {
    attr_list list;
    kc_attr_kind kind = kc_attr_table[key].kind;
    int n = 0;
    if (!kc_parse_expect(p, '[')) return false;
    if (!kc_token_is(&p->token, ']')) {
        do {
            if (n == MAX_LIST)
                return kc_parse_error(p, p->token.loc, "a list of more than %d items", MAX_LIST);
            if (!parse_list_item(p, kind, &list, n++)) return false;
        } while (kc_parse_take(p, ','));
    }
    if (!kc_parse_expect(p, ']')) return false;
    switch (kind) {
    case KC_KIND_INTS: kc_attr_set_ints(p->module, op, key, n, list.integers); break;
    case KC_KIND_FLOATS: kc_attr_set_floats(p->module, op, key, n, list.numbers); break;
    case KC_KIND_STRINGS: kc_attr_set_strings(p->module, op, key, n, list.strings); break;
    default: kc_attr_set_exprs(p->module, op, key, n, list.exprs); break;
    }
    return true;
}

static bool parse_attr_value(kc_parser *p, kc_attr_key key, kc_op *op) {
    kc_attr value = {.key = key};
    bool good = false;
    p->pool = kc_attr_pool(op, key);
    switch (kc_attr_table[key].kind) {
    case KC_KIND_INT: good = parse_integer(p, &value.integer); break;
    case KC_KIND_FLOAT: good = parse_float(p, &value.number); break;
    case KC_KIND_STRING: good = kc_parse_string(p, &value.string); break;
    case KC_KIND_DTYPE: good = parse_dtype(p, &value.dtype); break;
    case KC_KIND_EXPR: good = parse_expr(p, &value.expr); break;
    default: return parse_list(p, key, op);
    }
    if (good) *kc_attr_slot(op, key) = value;
    return good;
}

static bool parse_attr(kc_parser *p, kc_op *op) {
    kc_token name = p->token;
    if (name.kind != KC_TOKEN_NAME) return kc_parse_expected(p, "the name of an attribute");
    kc_attr_key key = kc_attr_find(kc_arena_strndup(p->scratch, name.text, name.length));
    if (key == KC_ATTR_COUNT || !kc_op_attr_need(op->code, key))
        return kc_parse_error(p, name.loc, "%s has no attribute '%.*s'; it has: %s",
                              kc_op_row(op)->name, (int)name.length, name.text,
                              kc_op_row(op)->attrs[0] ? kc_op_row(op)->attrs : "none");
    if (kc_attr_get(op, key))
        return kc_parse_error(p, name.loc, "attribute '%s' is given twice",
                              kc_attr_table[key].name);
    kc_parse_next(p);
    return kc_parse_expect(p, '=') && parse_attr_value(p, key, op);
}

bool kc_parse_dict(kc_parser *p, kc_op *op) {
    kc_expr_pool *pool = p->pool;
    bool good = kc_parse_expect(p, '{');
    while (good && (good = parse_attr(p, op)) && kc_parse_take(p, ',')) {
    }
    good = good && kc_parse_expect(p, '}');
    p->pool = pool;
    return good;
}
