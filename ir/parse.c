// The parser: module, layouts, functions, and the state that its parts share. docs/IR.md has the
// grammar.
//
// A function's facts must be known before any expression over its dims is built, since expressions
// simplify as they are built. They stand behind the signature, so that is skipped, the facts are
// read, and then the parser goes back.
#include "ir/parse.h"

#include <stdarg.h>
#include <string.h>

void kc_parse_next(kc_parser *p) {
    p->token = kc_lex_next(&p->lexer);
}

kc_parse_mark kc_parse_here(const kc_parser *p) {
    return (kc_parse_mark){p->lexer, p->token};
}

void kc_parse_go(kc_parser *p, kc_parse_mark mark) {
    p->lexer = mark.lexer;
    p->token = mark.token;
}

bool kc_parse_error(kc_parser *p, kc_loc loc, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (++p->errors <= KC_MAX_PARSE_ERRORS) kc_report(p->diag, KC_ERROR, loc, "%s", text);
    return false;
}

bool kc_parse_expected(kc_parser *p, const char *what) {
    if (p->token.kind == KC_TOKEN_END)
        return kc_parse_error(p, p->token.loc, "expected %s, found the end of the text", what);
    int length = p->token.length > 40 ? 40 : (int)p->token.length;
    return kc_parse_error(p, p->token.loc, "expected %s, found '%.*s'", what, length,
                          p->token.text);
}

bool kc_parse_take(kc_parser *p, char punctuation) {
    if (!kc_token_is(&p->token, punctuation)) return false;
    kc_parse_next(p);
    return true;
}

bool kc_parse_expect(kc_parser *p, char punctuation) {
    return kc_parse_take(p, punctuation) || kc_parse_expected(p, (char[]){punctuation, 0});
}

// NAME or STRING; a SYMBOL token's text likewise.
static bool parse_symbol(kc_parser *p, const char **text) {
    if (p->token.kind == KC_TOKEN_NAME ||
        (p->token.kind == KC_TOKEN_SYMBOL && *p->token.text != '"')) {
        *text = kc_arena_strndup(p->arena, p->token.text, p->token.length);
        kc_parse_next(p);
        return true;
    }
    if (p->token.kind == KC_TOKEN_SYMBOL) p->token.kind = KC_TOKEN_STRING;
    return kc_parse_string(p, text);
}

bool kc_parse_loc(kc_parser *p, kc_loc *loc) {
    if (p->token.kind != KC_TOKEN_LOC || p->token.first) return true;
    const char *colon = memchr(p->token.text, ':', p->token.length),
               *end = p->token.text + p->token.length;
    kc_token line = {.text = p->token.text, .length = (size_t)(colon - p->token.text)};
    kc_token column = {.text = colon + 1, .length = (size_t)(end - colon - 1)};
    int64_t l, c;
    if (!kc_token_integer(&line, &l) || !kc_token_integer(&column, &c) || l < 1 || l > UINT32_MAX ||
        c > UINT32_MAX)
        return kc_parse_error(p, p->token.loc, "a location is LINE:COLUMN, from 1");
    *loc = (kc_loc){(uint32_t)l, (uint32_t)c};
    kc_parse_next(p);
    return true;
}

// ---- functions

typedef struct {
    kc_parse_mark args, outputs, dict, body;
    bool has_dict;
    kc_op *func;
} signature;

// Skips a parenthesised group and remembers where it was.
static bool skip_list(kc_parser *p, kc_parse_mark *mark) {
    if (!kc_token_is(&p->token, '(')) return kc_parse_expected(p, "(");
    *mark = kc_parse_here(p);
    if (!kc_lex_skip_group(&p->lexer, p->token))
        return kc_parse_error(p, mark->token.loc, "this ( is never closed");
    kc_parse_next(p);
    return true;
}

static bool skip_dict(kc_parser *p, signature *s) {
    s->has_dict = kc_parse_dict_follows(p);
    s->dict = kc_parse_here(p);
    if (!s->has_dict) return true;
    if (!kc_lex_skip_group(&p->lexer, p->token))
        return kc_parse_error(p, p->token.loc, "this { is never closed");
    kc_parse_next(p);
    return true;
}

static bool parse_doc(kc_parser *p, kc_op *func) {
    const char *doc;
    if (!kc_token_is_name(&p->token, "doc")) return true;
    kc_parse_next(p);
    if (!kc_parse_string(p, &doc)) return false;
    kc_func_set_doc(p->module, func, doc);
    return true;
}

// First pass over a header: name, facts, doc, location; marks for the rest.
static bool scan_signature(kc_parser *p, signature *s) {
    const char *name;
    if (p->token.kind != KC_TOKEN_SYMBOL)
        return kc_parse_expected(p, "a function's name such as @f");
    kc_loc name_loc = p->token.loc;
    if (!parse_symbol(p, &name)) return false;
    if (kc_map_get_text(p->functions, name, strlen(name)))
        return kc_parse_error(p, name_loc, "function @%s is defined already", name);
    if (++p->pools > KC_MAX_POOLS)
        return kc_parse_error(p, name_loc, "more than %d functions and variants", KC_MAX_POOLS);
    s->func = kc_func_create(p->module, name, (kc_loc){0});
    kc_map_set_text(p->functions, name, strlen(name), s->func);
    if (!skip_list(p, &s->args)) return false;
    if (p->token.kind != KC_TOKEN_ARROW) return kc_parse_expected(p, "->");
    kc_parse_next(p);
    if (!skip_list(p, &s->outputs) || !skip_dict(p, s) || !kc_parse_dims(p, s->func->pool))
        return false;
    if (!parse_doc(p, s->func) || !kc_parse_loc(p, &s->func->loc)) return false;
    s->body = kc_parse_here(p);
    return true;
}

static bool parse_argument(kc_parser *p, kc_op *func) {
    kc_token name = p->token;
    kc_type type;
    if (name.kind != KC_TOKEN_VALUE) return kc_parse_expected(p, "an argument such as %x");
    kc_parse_next(p);
    if (!kc_parse_expect(p, ':') || !kc_parse_type(p, &type)) return false;
    // An input is known by its name elsewhere too, so that it keeps what stands here.
    char *text =
        kc_is_digit(name.text[0]) ? NULL : kc_arena_strndup(p->arena, name.text, name.length);
    if (text) kc_namer_take(p->scope->namer, text);
    if (kc_token_is_name(&p->token, "constant")) {
        const char *hash;
        kc_parse_next(p);
        if (!kc_parse_string(p, &hash)) return false;
        return kc_parse_define(p, name, kc_func_add_constant(p->module, func, type, text, hash));
    }
    if (kc_func_constants(func))
        return kc_parse_error(p, name.loc, "constants stand behind all other arguments");
    return kc_parse_define(p, name, kc_block_add_arg(p->module, func->body, type, text));
}

static bool parse_output(kc_parser *p, kc_op *func) {
    kc_output output = {0};
    if (!parse_symbol(p, &output.name) || !kc_parse_expect(p, ':') ||
        !kc_parse_type(p, &output.type))
        return false;
    if (kc_token_is_name(&p->token, "alias")) {
        kc_parse_next(p);
        if (!parse_symbol(p, &output.alias)) return false;
    }
    if (!kc_parse_loc(p, &output.loc)) return false;
    kc_func_add_output(p->module, func, &output);
    return true;
}

static bool parse_list_of(kc_parser *p, kc_op *func, bool (*item)(kc_parser *, kc_op *)) {
    if (!kc_parse_expect(p, '(')) return false;
    if (kc_parse_take(p, ')')) return true;
    do {
        if (!item(p, func)) return false;
    } while (kc_parse_take(p, ','));
    return kc_parse_expect(p, ')');
}

static bool parse_signature(kc_parser *p, signature *s) {
    bool good = true;
    kc_parse_go(p, s->args);
    good &= parse_list_of(p, s->func, parse_argument);
    kc_parse_go(p, s->outputs);
    good &= parse_list_of(p, s->func, parse_output);
    kc_parse_go(p, s->dict);
    if (s->has_dict) good &= kc_parse_dict(p, s->func);
    kc_parse_go(p, s->body);
    return good;
}

static bool parse_func(kc_parser *p) {
    signature s;
    if (!scan_signature(p, &s)) return false;
    p->scope = kc_parse_scope_create(p, NULL, true);
    p->pool = s.func->pool;
    parse_signature(p, &s); // errors in it do not keep the body from being read
    bool good = kc_parse_body(p, s.func, NULL);
    p->pool = NULL;
    return good;
}

// ---- the module

static bool parse_header(kc_parser *p) {
    if (!kc_token_is_name(&p->token, "module")) return kc_parse_expected(p, "'module @name'");
    kc_parse_next(p);
    if (p->token.kind != KC_TOKEN_SYMBOL)
        return kc_parse_expected(p, "the module's name such as @m");
    if (!parse_symbol(p, &p->module->name)) return false;
    if (!kc_parse_take(p, '{')) return true;
    if (!kc_token_is_name(&p->token, "target")) return kc_parse_expected(p, "target");
    kc_parse_next(p);
    return kc_parse_expect(p, '=') && kc_parse_string(p, &p->module->target) &&
           kc_parse_expect(p, '}');
}

static void add_layout(kc_parser *p, const kc_layout *layout) {
    if (p->n_layouts == p->layouts_capacity) {
        int capacity = p->layouts_capacity ? 2 * p->layouts_capacity : 16;
        const kc_layout **layouts = KC_NEW_ARRAY(p->scratch, const kc_layout *, capacity);
        for (int i = 0; i < p->n_layouts; i++)
            layouts[i] = p->layouts[i];
        p->layouts = layouts;
        p->layouts_capacity = capacity;
    }
    p->layouts[p->n_layouts++] = layout;
}

static bool parse_layout(kc_parser *p) {
    int64_t number;
    const char *error = NULL;
    size_t error_at = 0;
    if (p->token.kind != KC_TOKEN_LAYOUT)
        return kc_parse_expected(p, "a layout's number such as #0");
    if (!kc_token_integer(&p->token, &number) || number != p->n_layouts || number >= KC_MAX_LAYOUTS)
        return kc_parse_error(p, p->token.loc, "layouts are numbered in order; expected #%d",
                              p->n_layouts);
    kc_parse_next(p);
    if (!kc_token_is(&p->token, '=')) return kc_parse_expected(p, "=");
    kc_parse_next(p);
    kc_token text = kc_lex_line(&p->lexer, p->token);
    kc_layout layout;
    bool good = kc_layout_parse(&layout, text.text, text.length, &error, &error_at);
    add_layout(p, good ? kc_module_layout(p->module, &layout) : NULL);
    if (!good)
        return kc_parse_error(p, (kc_loc){text.loc.line, text.loc.column + (uint32_t)error_at},
                              "in a layout: %s", error);
    kc_parse_next(p);
    return true;
}

static bool parse_top(kc_parser *p) {
    bool layout = kc_token_is_name(&p->token, "layout");
    if (!layout && !kc_token_is_name(&p->token, "func"))
        return kc_parse_expected(p, "'func' or 'layout'");
    kc_parse_next(p);
    return layout ? parse_layout(p) : parse_func(p);
}

static void parse_module(kc_parser *p) {
    kc_parse_next(p);
    if (!parse_header(p)) return;
    while (p->token.kind != KC_TOKEN_END && p->errors < KC_MAX_PARSE_ERRORS) {
        kc_parse_mark start = kc_parse_here(p);
        if (parse_top(p)) continue;
        kc_parse_go(p, start);
        kc_lex_skip_op(&p->lexer, start.token);
        if (p->lexer.at == start.token.at) kc_lex_next(&p->lexer); // a stray } ends no op
        kc_parse_next(p);
    }
}

kc_module *kc_module_parse(kc_arena *arena, const char *text, size_t size, kc_diag *diag) {
    if (size > KC_MAX_TEXT) {
        kc_report(diag, KC_ERROR, (kc_loc){0}, "IR text of %zu bytes; at most %d are read", size,
                  KC_MAX_TEXT);
        return NULL;
    }
    kc_parser p = {.arena = arena, .scratch = kc_arena_create(), .diag = diag};
    p.lexer = kc_lexer_create(text, size);
    p.module = kc_module_create(arena, "");
    p.functions = kc_map_create(p.scratch);
    locale_t before = kc_locale_enter();
    parse_module(&p);
    kc_locale_leave(before);
    kc_arena_destroy(p.scratch);
    return p.errors ? NULL : p.module;
}
