// A Pratt parser with Python's precedence, lowest first:
//     or   and   not   comparisons (not chained)   + -   * / // %   unary -   **
// `**` binds tighter than the minus on its left and takes a unary minus on its right: -x**-2 is
// -(x**(-2)).
//
// After an error the rest of the line is skipped and the next statement is tried, so that one run
// shows many errors.
#include <string.h>

#include "compiler/frontend/body_ast.h"
#include "compiler/frontend/frontend.h"

typedef struct {
    kc_body_lexer lexer;
    kc_token token; // the next one, not consumed
    kc_arena *arena;
    kc_diag *diag;
    int depth;
    bool failed; // in this statement
} parser;

enum {
    BP_OR = 1,
    BP_AND = 2,
    BP_NOT = 3,
    BP_COMPARE = 4,
    BP_SUM = 5,
    BP_PRODUCT = 6,
    BP_UNARY = 7,
    BP_POWER = 8
};

static kc_ast *parse(parser *p, int least);

static void next(parser *p) {
    p->token = kc_body_lex_next(&p->lexer);
    if (p->token.kind == KC_TOKEN_ERROR) p->failed = true;
}

// Reports once a statement: what follows an error is noise.
static kc_ast *fail(parser *p, kc_loc loc, const char *text) {
    if (!p->failed) kc_report(p->diag, KC_ERROR, loc, "%s", text);
    p->failed = true;
    return NULL;
}

static const char *seen(parser *p) {
    const kc_token *token = &p->token;
    if (token->kind == KC_TOKEN_NAME) return kc_arena_printf(p->arena, "'%s'", token->text);
    return kc_body_token_text(token->kind);
}

static kc_ast *new_ast(parser *p, kc_ast_kind kind, kc_loc loc) {
    kc_ast *ast = KC_NEW(p->arena, kc_ast);
    ast->kind = kind;
    ast->loc = loc;
    return ast;
}

static void add_arg(parser *p, kc_ast *ast, kc_ast_arg arg) {
    int n = ast->count;
    if ((n & (n - 1)) == 0) { // capacity is the next power of two
        kc_ast_arg *args = KC_NEW_ARRAY(p->arena, kc_ast_arg, n ? 2 * n : 1);
        if (n) memcpy(args, ast->args, sizeof *args * (size_t)n);
        ast->args = args;
    }
    ast->args[ast->count++] = arg;
}

static kc_ast *combine(parser *p, kc_ast_kind kind, kc_token op, kc_ast *a, kc_ast *b) {
    kc_ast *ast = new_ast(p, kind, op.loc);
    ast->op = op.kind;
    add_arg(p, ast, (kc_ast_arg){.loc = a->loc, .value = a});
    if (b) add_arg(p, ast, (kc_ast_arg){.loc = b->loc, .value = b});
    return ast;
}

static bool at_keyword(parser *p) {
    if (p->token.kind != KC_TOKEN_NAME) return false;
    kc_body_lexer ahead = p->lexer;
    while (ahead.at < ahead.in.length && strchr(" \t\n", ahead.in.text[ahead.at]))
        ahead.at++;
    return ahead.at < ahead.in.length && ahead.in.text[ahead.at] == '=' &&
           (ahead.at + 1 == ahead.in.length || ahead.in.text[ahead.at + 1] != '=');
}

// A bracket that was opened on another line is worth a note: that is where one is usually missing.
static kc_ast *fail_in_bracket(parser *p, kc_loc open, const char *text) {
    bool noted = !p->failed && open.line != p->token.loc.line;
    fail(p, p->token.loc, text);
    if (noted) kc_report(p->diag, KC_NOTE, open, "inside the bracket that is opened here");
    return NULL;
}

// Items up to the closing bracket; the opening one is the current token.
static kc_ast *parse_items(parser *p, kc_ast *ast, kc_token_kind close, bool keywords) {
    kc_loc open = p->token.loc;
    next(p);
    while (p->token.kind != close && !p->failed) {
        kc_ast_arg arg = {.loc = p->token.loc};
        if (keywords && at_keyword(p)) {
            arg.keyword = p->token.text;
            next(p);
            next(p);
        }
        arg.value = parse(p, 0);
        if (!arg.value) return NULL;
        add_arg(p, ast, arg);
        if (p->token.kind == KC_TOKEN_COMMA) next(p);
        else if (p->token.kind == KC_TOKEN_END)
            return fail(p, open,
                        close == KC_TOKEN_CLOSE ? "this '(' is never closed"
                                                : "this '[' is never closed");
        else if (p->token.kind != close)
            return fail_in_bracket(p, open,
                                   kc_arena_printf(p->arena, "expected ',' or %s, seen %s",
                                                   kc_body_token_text(close), seen(p)));
    }
    if (p->failed) return NULL;
    next(p);
    return ast;
}

static kc_ast *parse_name(parser *p) {
    kc_token name = p->token;
    next(p);
    if (p->token.kind == KC_TOKEN_OPEN) {
        kc_ast *call = new_ast(p, KC_AST_CALL, name.loc);
        call->text = name.text;
        return parse_items(p, call, KC_TOKEN_CLOSE, true);
    }
    static const struct {
        const char *word;
        kc_ast_kind kind;
        int64_t integer;
        double number;
    } words[] = {{"true", KC_AST_BOOL, 1, 0},
                 {"false", KC_AST_BOOL, 0, 0},
                 {"inf", KC_AST_FLOAT, 0, __builtin_inf()},
                 {"nan", KC_AST_FLOAT, 0, __builtin_nan("")}};
    kc_ast *ast = new_ast(p, KC_AST_NAME, name.loc);
    ast->text = name.text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name.text, words[i].word) != 0) continue;
        ast->kind = words[i].kind;
        ast->integer = words[i].integer;
        ast->number = words[i].number;
    }
    return ast;
}

static kc_ast *parse_group(parser *p) {
    kc_loc open = p->token.loc;
    next(p);
    kc_ast *ast = parse(p, 0);
    if (!ast) return NULL;
    if (p->token.kind == KC_TOKEN_END) return fail(p, open, "this '(' is never closed");
    if (p->token.kind != KC_TOKEN_CLOSE)
        return fail_in_bracket(
            p, open,
            kc_arena_printf(p->arena, "expected ')', seen %s%s", seen(p),
                            p->token.kind == KC_TOKEN_COMMA ? "; lists are written with [ ]" : ""));
    next(p);
    return ast;
}

static kc_ast *parse_prefix(parser *p, int bp) {
    kc_token op = p->token;
    next(p);
    kc_ast *operand = parse(p, bp);
    if (!operand) return NULL;
    return op.kind == KC_TOKEN_ADD ? operand : combine(p, KC_AST_UNARY, op, operand, NULL);
}

static kc_ast *parse_atom(parser *p) {
    kc_token token = p->token;
    kc_ast *ast;
    switch (token.kind) {
    case KC_TOKEN_NAME: return parse_name(p);
    case KC_TOKEN_OPEN: return parse_group(p);
    case KC_TOKEN_LIST_OPEN:
        return parse_items(p, new_ast(p, KC_AST_LIST, token.loc), KC_TOKEN_LIST_CLOSE, false);
    case KC_TOKEN_SUB:
    case KC_TOKEN_ADD: return parse_prefix(p, BP_UNARY);
    case KC_TOKEN_NOT: return parse_prefix(p, BP_NOT);
    case KC_TOKEN_INT:
    case KC_TOKEN_FLOAT:
    case KC_TOKEN_STRING: break;
    default:
        return fail(p, token.loc,
                    kc_arena_printf(p->arena, "expected an expression, seen %s", seen(p)));
    }
    next(p);
    ast = new_ast(p,
                  token.kind == KC_TOKEN_INT     ? KC_AST_INT
                  : token.kind == KC_TOKEN_FLOAT ? KC_AST_FLOAT
                                                 : KC_AST_STRING,
                  token.loc);
    ast->integer = token.integer;
    ast->number = token.number;
    ast->text = token.text;
    return ast;
}

static int binding_power(kc_token_kind kind) {
    switch (kind) {
    case KC_TOKEN_OR: return BP_OR;
    case KC_TOKEN_AND: return BP_AND;
    case KC_TOKEN_EQ:
    case KC_TOKEN_NE:
    case KC_TOKEN_LT:
    case KC_TOKEN_LE:
    case KC_TOKEN_GT:
    case KC_TOKEN_GE: return BP_COMPARE;
    case KC_TOKEN_ADD:
    case KC_TOKEN_SUB: return BP_SUM;
    case KC_TOKEN_MUL:
    case KC_TOKEN_DIV:
    case KC_TOKEN_FLOORDIV:
    case KC_TOKEN_MOD: return BP_PRODUCT;
    case KC_TOKEN_POW: return BP_POWER;
    default: return 0;
    }
}

static bool is_word(const parser *p, const char *word) {
    return p->token.kind == KC_TOKEN_NAME && !strcmp(p->token.text, word);
}

// What stands after a complete operand and is not an operator of ours, but of Python's.
static void check_foreign(parser *p) {
    if (p->token.kind == KC_TOKEN_LIST_OPEN)
        fail(p, p->token.loc,
             "values are not indexed with [ ]: use slice(x, starts, ends) or gather(x, indices, "
             "axis)");
    else if (p->token.kind == KC_TOKEN_OPEN)
        fail(p, p->token.loc, "only an op's name can be called");
    else if (is_word(p, "if"))
        fail(p, p->token.loc, "there is no conditional expression: use where(c, a, b)");
}

static kc_ast *parse_binary(parser *p, kc_ast *left, int bp) {
    kc_token op = p->token;
    next(p);
    kc_ast *right = parse(p, bp == BP_POWER ? BP_UNARY : bp + 1);
    if (!right) return NULL;
    if (bp == BP_COMPARE && binding_power(p->token.kind) == BP_COMPARE)
        return fail(p, p->token.loc, "comparisons are not chained: write a < b and b < c");
    return combine(p, KC_AST_BINARY, op, left, right);
}

// The expression whose operators all bind at least as tightly as `least`.
static kc_ast *parse(parser *p, int least) {
    if (p->depth >= KC_MODEL_MAX_NESTING)
        return fail(
            p, p->token.loc,
            kc_arena_printf(p->arena,
                            "the expression is nested deeper than %d levels; use more statements",
                            (int)KC_MODEL_MAX_NESTING));
    p->depth++;
    kc_ast *left = p->failed ? NULL : parse_atom(p);
    int operators = 0;
    while (left && !p->failed) {
        check_foreign(p);
        int bp = binding_power(p->token.kind);
        if (!bp || bp < least) break;
        // A long chain a + b + c leans left: its tree is as deep as it is long.
        if (p->depth + ++operators > KC_MODEL_MAX_NESTING) {
            left = fail(p, p->token.loc,
                        kc_arena_printf(p->arena,
                                        "more than %d operators and brackets in one expression; "
                                        "use more statements",
                                        (int)KC_MODEL_MAX_NESTING));
            break;
        }
        left = parse_binary(p, left, bp);
    }
    p->depth--;
    return p->failed ? NULL : left;
}

static parser start(kc_arena *arena, kc_diag *diag, kc_body_text in) {
    parser p = {.lexer = kc_body_lex_start(arena, diag, in), .arena = arena, .diag = diag};
    next(&p);
    return p;
}

kc_ast *kc_expression_parse(kc_arena *arena, kc_diag *diag, kc_body_text in) {
    parser p = start(arena, diag, in);
    kc_ast *ast = parse(&p, 0);
    if (ast && p.token.kind != KC_TOKEN_END)
        return fail(&p, p.token.loc, kc_arena_printf(arena, "unexpected %s", seen(&p)));
    return ast;
}

const char *kc_ast_text(kc_arena *arena, const kc_ast *ast) {
    switch (ast->kind) {
    case KC_AST_INT: return kc_arena_printf(arena, "%lld", (long long)ast->integer);
    case KC_AST_FLOAT: return kc_arena_printf(arena, "%.9g", ast->number);
    case KC_AST_BOOL: return ast->integer ? "true" : "false";
    case KC_AST_STRING: return kc_arena_printf(arena, "the string \"%s\"", ast->text);
    case KC_AST_NAME: return kc_arena_printf(arena, "the name '%s'", ast->text);
    case KC_AST_LIST: return "a list";
    case KC_AST_CALL: return kc_arena_printf(arena, "a call of '%s'", ast->text);
    case KC_AST_UNARY:
    case KC_AST_BINARY: break;
    }
    return "an expression";
}

static const char *bad_statement(parser *p, kc_token name) {
    if (is_word(p, "import") || !strcmp(name.text, "import") || !strcmp(name.text, "for") ||
        !strcmp(name.text, "return") || !strcmp(name.text, "def") || !strcmp(name.text, "if"))
        return kc_arena_printf(p->arena,
                               "'%s' is not in the language: a body is a list of NAME = EXPRESSION",
                               name.text);
    int bp = binding_power(p->token.kind);
    kc_body_lexer ahead = p->lexer;
    if ((bp == BP_SUM || bp == BP_PRODUCT || bp == BP_POWER) && kc_body_token_text(p->token.kind) &&
        ahead.at < ahead.in.length && ahead.in.text[ahead.at] == '=')
        return "a name is assigned once; write a new name instead of an update";
    if (p->token.kind == KC_TOKEN_COMMA) return "one name is assigned at a time";
    return kc_arena_printf(p->arena, "expected '=' after '%s', seen %s", name.text, seen(p));
}

// NAME = EXPRESSION up to the end of the line. False when not even a name was seen.
static bool parse_statement(parser *p, kc_statement *statement) {
    kc_token name = p->token;
    *statement = (kc_statement){.loc = name.loc};
    if (name.kind != KC_TOKEN_NAME) {
        fail(p, name.loc,
             kc_arena_printf(p->arena, "expected NAME = EXPRESSION, seen %s", seen(p)));
        return false;
    }
    next(p);
    if (p->token.kind != KC_TOKEN_ASSIGN) {
        fail(p, p->token.loc, bad_statement(p, name));
        return false;
    }
    next(p);
    statement->name = name.text;
    statement->value = parse(p, 0);
    if (statement->value && p->token.kind != KC_TOKEN_NEWLINE && p->token.kind != KC_TOKEN_END)
        statement->value =
            fail(p, p->token.loc,
                 kc_arena_printf(p->arena, "expected an operator or the end of the line, seen %s",
                                 seen(p)));
    return true;
}

static void add_statement(kc_arena *arena, kc_body *body, kc_statement statement) {
    int n = body->count;
    if ((n & (n - 1)) == 0) {
        kc_statement *grown = KC_NEW_ARRAY(arena, kc_statement, n ? 2 * n : 1);
        if (n) memcpy(grown, body->statements, sizeof *grown * (size_t)n);
        body->statements = grown;
    }
    body->statements[body->count++] = statement;
}

kc_body kc_body_parse(kc_arena *arena, kc_diag *diag, kc_body_text in) {
    kc_body body = {0};
    parser p = start(arena, diag, in);
    while (p.token.kind != KC_TOKEN_END) {
        if (p.token.kind == KC_TOKEN_NEWLINE) {
            next(&p);
            continue;
        }
        kc_statement statement;
        if (parse_statement(&p, &statement)) add_statement(arena, &body, statement);
        if (!p.failed) continue;
        body.broken = true;
        // The newline itself may be the token that was wrong: then the next line is already
        // reached.
        if (p.token.kind != KC_TOKEN_NEWLINE) kc_body_lex_skip_statement(&p.lexer);
        p.failed = false;
        p.depth = 0;
        next(&p);
    }
    return body;
}
