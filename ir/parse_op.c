// Ops and regions. An op is one line, up to the { of its region; what an error leaves undone is
// skipped to the next op, and the names it would have defined stand for unknown values, so that one
// mistake is reported once.
#include "ir/parse.h"

#include <string.h>

// ---- names

kc_parse_scope *kc_parse_scope_create(kc_parser *p, kc_parse_scope *outer, bool isolated) {
    kc_parse_scope *scope = KC_NEW(p->scratch, kc_parse_scope);
    kc_namer *namer = isolated ? kc_namer_create(p->scratch) : outer->namer;
    *scope = (kc_parse_scope){outer, kc_map_create(p->scratch), namer, isolated};
    return scope;
}

// In the order in which the printer meets values, so that it will choose the same text again.
static const char *parse_value_name(kc_parser *p, const kc_token *token) {
    if (kc_is_digit(token->text[0])) return NULL;
    const char *text = kc_arena_strndup(p->scratch, token->text, token->length);
    const char *name = kc_namer_original(p->scope->namer, text);
    kc_namer_take(p->scope->namer, text);
    return kc_arena_strdup(p->arena, name);
}

static kc_value *look_up(kc_parser *p, const kc_token *name) {
    for (kc_parse_scope *s = p->scope; s; s = s->isolated ? NULL : s->outer) {
        kc_value *value = kc_map_get_text(s->values, name->text, name->length);
        if (value) return value;
    }
    return NULL;
}

static bool is_number(const kc_token *name) {
    for (size_t i = 0; i < name->length; i++)
        if (!kc_is_digit(name->text[i])) return false;
    return true;
}

bool kc_parse_define(kc_parser *p, kc_token name, kc_value *value) {
    if (!is_number(&name) && !kc_is_name(name.text, name.length))
        return kc_parse_error(p, name.loc, "a value's name begins with a letter, or is a number");
    if (look_up(p, &name))
        return kc_parse_error(p, name.loc, "%%%.*s is defined already", (int)name.length,
                              name.text);
    kc_map_set_text(p->scope->values, name.text, name.length, value);
    return true;
}

// ---- operands

enum { MAX_VALUES = 4096 };

typedef struct {
    kc_value *values[MAX_VALUES];
    int n, segments[KC_MAX_SEGMENTS];
} operand_list;

static bool parse_value(kc_parser *p, operand_list *list) {
    if (p->token.kind != KC_TOKEN_VALUE) return kc_parse_expected(p, "a value such as %x");
    kc_value *value = look_up(p, &p->token);
    if (!value) {
        return kc_parse_error(
            p, p->token.loc, "%%%.*s is not defined here%s", (int)p->token.length, p->token.text,
            p->scope->isolated ? "; this region sees its own arguments alone" : "");
    }
    if (list->n == MAX_VALUES)
        return kc_parse_error(p, p->token.loc, "more than %d operands", MAX_VALUES);
    list->values[list->n++] = value;
    kc_parse_next(p);
    return true;
}

static bool parse_values(kc_parser *p, operand_list *list) {
    do {
        if (!parse_value(p, list)) return false;
    } while (kc_parse_take(p, ','));
    return true;
}

static bool here(const kc_parser *p, char punctuation) {
    return !p->token.first && kc_token_is(&p->token, punctuation);
}

static int find_segment(const kc_parser *p, int n, const kc_segment *segments) {
    for (int i = 0; i < n; i++)
        if (p->token.length == (size_t)segments[i].length &&
            !memcmp(p->token.text, segments[i].name, p->token.length))
            return i;
    return -1;
}

// The segments written as name(...), from segment `plain` on and in order.
static bool parse_named_segments(kc_parser *p, kc_opcode code, int plain, int n,
                                 const kc_segment *segments, operand_list *list) {
    int next = plain;
    while (p->token.kind == KC_TOKEN_NAME && !p->token.first &&
           !kc_token_is_name(&p->token, "dims")) {
        int i = find_segment(p, n, segments);
        if (i < next)
            return kc_parse_error(p, p->token.loc, "the operands of %s are: %s, in this order",
                                  kc_op_table[code].name, kc_op_table[code].operands);
        kc_parse_next(p);
        int before = list->n;
        if (!kc_parse_expect(p, '(')) return false;
        if (!kc_token_is(&p->token, ')') && !parse_values(p, list)) return false;
        if (!kc_parse_expect(p, ')')) return false;
        list->segments[i] = list->n - before;
        next = i + 1;
    }
    return true;
}

static bool check_count(kc_parser *p, kc_opcode code, kc_loc loc, int n, const kc_segment *segments,
                        const operand_list *list) {
    for (int i = 0; i < n; i++) {
        int most = segments[i].mode == KC_SEGMENT_ANY ? MAX_VALUES : 1,
            least = segments[i].mode == KC_SEGMENT_ONE;
        if (list->segments[i] < least || list->segments[i] > most)
            return kc_parse_error(
                p, loc, "%s has %d operands for '%.*s'; its operands are: %s",
                kc_op_table[code].name, list->segments[i], segments[i].length, segments[i].name,
                kc_op_table[code].operands[0] ? kc_op_table[code].operands : "none");
    }
    return true;
}

static bool parse_operands(kc_parser *p, kc_opcode code, kc_loc loc, operand_list *list) {
    kc_segment segments[KC_MAX_SEGMENTS];
    int n = kc_op_segments(code, segments), plain = 0;
    while (plain < n && segments[plain].mode == KC_SEGMENT_ONE)
        plain++;
    if (p->token.kind == KC_TOKEN_VALUE && !p->token.first && !parse_values(p, list)) return false;
    if (n == 1 && plain == 0) {
        list->segments[0] = list->n;
        plain = 1;
    } else {
        if (list->n != plain)
            return kc_parse_error(
                p, loc, "%s has %d operands before its named ones; its operands are: %s",
                kc_op_table[code].name, list->n,
                kc_op_table[code].operands[0] ? kc_op_table[code].operands : "none");
        for (int i = 0; i < plain; i++)
            list->segments[i] = 1;
    }
    return parse_named_segments(p, code, plain, n, segments, list) &&
           check_count(p, code, loc, n, segments, list);
}

// ---- ops

enum { MAX_RESULTS = 64 };

typedef struct {
    kc_token results[MAX_RESULTS];
    kc_type types[MAX_RESULTS];
    int n_results, n_types;
    operand_list operands;
} op_parts;

static bool parse_results(kc_parser *p, op_parts *parts) {
    if (p->token.kind != KC_TOKEN_VALUE) return true;
    do {
        if (p->token.kind != KC_TOKEN_VALUE) return kc_parse_expected(p, "a result such as %x");
        if (parts->n_results == MAX_RESULTS)
            return kc_parse_error(p, p->token.loc, "more than %d results", MAX_RESULTS);
        parts->results[parts->n_results++] = p->token;
        kc_parse_next(p);
    } while (kc_parse_take(p, ','));
    return kc_parse_expect(p, '=');
}

static bool parse_types(kc_parser *p, op_parts *parts) {
    kc_loc loc = p->token.loc;
    if (here(p, ':')) {
        kc_parse_next(p);
        do {
            if (parts->n_types == MAX_RESULTS)
                return kc_parse_error(p, loc, "more than %d result types", MAX_RESULTS);
            if (!kc_parse_type(p, &parts->types[parts->n_types++])) return false;
        } while (kc_parse_take(p, ','));
    }
    if (parts->n_types == parts->n_results) return true;
    return kc_parse_error(p, loc, "%d results and %d result types", parts->n_results,
                          parts->n_types);
}

static bool parse_code(kc_parser *p, kc_opcode *code) {
    kc_token name = p->token;
    if (name.kind != KC_TOKEN_NAME) return kc_parse_expected(p, "an op");
    *code = kc_opcode_find(kc_arena_strndup(p->scratch, name.text, name.length));
    if (*code == KC_OP_COUNT)
        return kc_parse_error(p, name.loc, "there is no op '%.*s'", (int)name.length, name.text);
    if (*code == KC_OP_FUNC)
        return kc_parse_error(p, name.loc, "a function stands at the outermost level");
    kc_parse_next(p);
    return true;
}

static bool admit_op(kc_parser *p, kc_opcode code, kc_loc loc) {
    if (++p->ops > KC_MAX_OPS) return kc_parse_error(p, loc, "more than %d ops", KC_MAX_OPS);
    if (code != KC_OP_VARIANT) return true;
    p->symbols += kc_expr_symbol_count(p->pool);
    if (++p->pools <= KC_MAX_POOLS && p->symbols <= KC_MAX_ALL_SYMBOLS) return true;
    return kc_parse_error(p, loc, "too many functions and variants with too many dims");
}

static kc_op *build(kc_parser *p, kc_block *block, kc_opcode code, op_parts *parts) {
    kc_builder b = kc_builder_at_end(p->module, block, (kc_loc){0});
    kc_op *op = kc_build(&b, code, parts->operands.n, parts->operands.values, parts->n_results,
                         parts->types);
    kc_op_set_segments(op, parts->operands.segments);
    for (int i = 0; i < parts->n_results; i++)
        op->results[i]->name = parse_value_name(p, &parts->results[i]);
    return op;
}

static bool parse_region(kc_parser *p, kc_op *op) {
    if (p->depth == KC_MAX_NESTING)
        return kc_parse_error(p, p->token.loc, "regions nested deeper than %d", KC_MAX_NESTING);
    p->depth++;
    kc_expr_pool *pool = p->pool;
    p->pool = kc_op_pool(op);
    bool good = kc_parse_body(p, op, p->scope);
    p->pool = pool;
    p->depth--;
    return good;
}

// What follows the operands. The dictionary is read after the dims, whose facts its expressions are
// simplified with.
static bool parse_rest(kc_parser *p, kc_block *block, kc_opcode code, op_parts *parts) {
    bool dict = !p->token.first && kc_parse_dict_follows(p);
    kc_parse_mark dict_at = kc_parse_here(p);
    if (dict) {
        kc_lex_skip_group(&p->lexer, p->token);
        kc_parse_next(p);
    }
    if (!parse_types(p, parts)) return false;
    kc_op *op = build(p, block, code, parts);
    if (!kc_parse_dims(p, op->pool) || !kc_parse_loc(p, &op->loc)) return false;
    kc_parse_mark after = kc_parse_here(p);
    if (dict) {
        kc_parse_go(p, dict_at);
        if (!kc_parse_dict(p, op)) return false;
        kc_parse_go(p, after);
    }
    if (here(p, '{') && !parse_region(p, op)) return false;
    for (int i = 0; i < parts->n_results; i++)
        if (!kc_parse_define(p, parts->results[i], op->results[i])) return false;
    if (p->token.first || kc_token_is(&p->token, '}') || p->token.kind == KC_TOKEN_END) return true;
    return kc_parse_expected(p, "the end of the op");
}

static void define_unknown(kc_parser *p, const op_parts *parts) {
    for (int i = 0; i < parts->n_results; i++) {
        if (look_up(p, &parts->results[i])) continue;
        kc_value *unknown = KC_NEW(p->arena, kc_value);
        kc_map_set_text(p->scope->values, parts->results[i].text, parts->results[i].length,
                        unknown);
    }
}

static void parse_op(kc_parser *p, kc_block *block, op_parts *parts) {
    kc_parse_mark start = kc_parse_here(p);
    kc_opcode code = KC_OP_COUNT;
    parts->n_results = parts->n_types = parts->operands.n = 0;
    memset(parts->operands.segments, 0, sizeof parts->operands.segments);
    bool good = parse_results(p, parts) && parse_code(p, &code) &&
                admit_op(p, code, start.token.loc) &&
                parse_operands(p, code, start.token.loc, &parts->operands) &&
                parse_rest(p, block, code, parts);
    if (good) return;
    define_unknown(p, parts);
    kc_parse_go(p, start);
    kc_lex_skip_op(&p->lexer, start.token);
    kc_parse_next(p);
}

// ---- regions

static bool parse_args(kc_parser *p, kc_block *block) {
    if (!kc_parse_take(p, '^')) return true;
    if (!kc_parse_expect(p, '(')) return false;
    if (!kc_token_is(&p->token, ')')) {
        do {
            kc_token name = p->token;
            kc_type type;
            if (name.kind != KC_TOKEN_VALUE) return kc_parse_expected(p, "an argument such as %x");
            if (block->n_args == MAX_VALUES)
                return kc_parse_error(p, name.loc, "more than %d arguments", MAX_VALUES);
            kc_parse_next(p);
            if (!kc_parse_expect(p, ':') || !kc_parse_type(p, &type)) return false;
            if (!kc_parse_define(
                    p, name, kc_block_add_arg(p->module, block, type, parse_value_name(p, &name))))
                return false;
        } while (kc_parse_take(p, ','));
    }
    return kc_parse_expect(p, ')') && kc_parse_expect(p, ':');
}

static bool parse_block(kc_parser *p, kc_block *block) {
    if (!p->op_parts[p->depth]) p->op_parts[p->depth] = KC_NEW(p->scratch, op_parts);
    op_parts *parts = p->op_parts[p->depth];
    while (p->token.kind != KC_TOKEN_END && !kc_token_is(&p->token, '}')) {
        if (p->errors >= KC_MAX_PARSE_ERRORS) return false;
        parse_op(p, block, parts);
    }
    return kc_parse_expect(p, '}');
}

bool kc_parse_body(kc_parser *p, kc_op *op, kc_parse_scope *outer) {
    bool good = kc_parse_expect(p, '{');
    bool isolated = kc_op_has(op, KC_ISOLATED) || (op->code == KC_OP_VARIANT && kc_token_is(&p->token, '^'));
    if (p->scope == outer) // a function has made its scope already, with its arguments in it
        p->scope = kc_parse_scope_create(p, outer, isolated);
    kc_block *body = op->body ? op->body : kc_op_add_body(p->module, op);
    good = good && parse_args(p, body) && parse_block(p, body);
    p->scope = outer;
    return good;
}
