// Integer expressions as text: the printer and the parser, which agree on brackets.
//
// Precedence, loosest first: or, and, not, comparison (not chained), + -, * // % /, unary minus.
// Products print without spaces (`4*M`), quotients with them (`(M + 127) // 128`); a quotient that
// is a factor always stands in brackets, needed or not.
#include "ir/expr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OR = 1, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, PRIMARY };

typedef struct {
    const char *text; // the operator, or the function's name
    int precedence;   // PRIMARY: a function
} form;

static const form forms[] = {
    [KC_EXPR_ADD] = {" + ", SUM},       [KC_EXPR_SUB] = {" - ", SUM},
    [KC_EXPR_MUL] = {"*", PRODUCT},     [KC_EXPR_FLOORDIV] = {" // ", PRODUCT},
    [KC_EXPR_MOD] = {" % ", PRODUCT},   [KC_EXPR_DIV] = {" / ", PRODUCT},
    [KC_EXPR_CDIV] = {"cdiv", PRIMARY}, [KC_EXPR_MIN] = {"min", PRIMARY},
    [KC_EXPR_MAX] = {"max", PRIMARY},   [KC_EXPR_EQ] = {" == ", COMPARE},
    [KC_EXPR_NE] = {" != ", COMPARE},   [KC_EXPR_LT] = {" < ", COMPARE},
    [KC_EXPR_LE] = {" <= ", COMPARE},   [KC_EXPR_GT] = {" > ", COMPARE},
    [KC_EXPR_GE] = {" >= ", COMPARE},   [KC_EXPR_AND] = {" and ", AND},
    [KC_EXPR_OR] = {" or ", OR},
};

const char *kc_expr_status_text(kc_expr_status status) {
    switch (status) {
    case KC_EXPR_OK: return "ok";
    case KC_EXPR_OVERFLOW: return "the value does not fit in 64 bits";
    case KC_EXPR_DIVIDE_BY_ZERO: return "division by zero";
    case KC_EXPR_INEXACT: return "a division with `/` does not come out even";
    case KC_EXPR_UNBOUND: return "a symbol has no value";
    }
    return "unknown status";
}

// ---- printing -----------------------------------------------------------------------------------

typedef struct {
    const kc_expr_pool *pool;
    char *buffer;
    size_t size, length;
    int nesting, deepest; // of brackets, as the parser counts them
} printer;

static void put(printer *p, const char *text) {
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        if (p->length + i + 1 < p->size) p->buffer[p->length + i] = text[i];
    p->length += n;
}

static void put_number(printer *p, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(p, text);
}

static void open_bracket(printer *p) {
    put(p, "(");
    if (++p->nesting > p->deepest) p->deepest = p->nesting;
}

static void close_bracket(printer *p) {
    put(p, ")");
    p->nesting--;
}

static void print_expr(printer *p, const kc_expr *e, int least);

static void print_bracketed(printer *p, const kc_expr *e) {
    open_bracket(p);
    print_expr(p, e, OR);
    close_bracket(p);
}

static bool is_minus_times(const kc_expr *e) {
    return e->kind == KC_EXPR_MUL && e->a->kind == KC_EXPR_CONST && e->a->value == -1;
}

static void print_factor(printer *p, const kc_expr *e) {
    bool quotient = e->kind == KC_EXPR_FLOORDIV || e->kind == KC_EXPR_MOD || e->kind == KC_EXPR_DIV;
    if (quotient || is_minus_times(e)) print_bracketed(p, e);
    else print_expr(p, e, e->kind == KC_EXPR_MUL ? PRODUCT : UNARY);
}

static void print_product(printer *p, const kc_expr *e) {
    if (is_minus_times(e)) {
        put(p, "-");
    } else {
        print_factor(p, e->a);
        put(p, "*");
    }
    print_factor(p, e->b);
}

// The right side of a sum: a negative constant or coefficient becomes a subtraction.
static void print_addend(printer *p, const kc_expr *e) {
    bool product = e->kind == KC_EXPR_MUL && e->a->kind == KC_EXPR_CONST;
    int64_t k = product ? e->a->value : e->kind == KC_EXPR_CONST ? e->value : 0;
    if (k >= 0 || k == INT64_MIN) {
        put(p, " + ");
        print_expr(p, e, PRODUCT);
        return;
    }
    put(p, " - ");
    if (!product || k != -1) put_number(p, -k);
    if (product && k != -1) put(p, "*");
    if (product) print_factor(p, e->b);
}

static void print_call_arguments(printer *p, kc_expr_kind kind, const kc_expr *e) {
    bool chain = kind != KC_EXPR_CDIV && e->a->kind == kind;
    if (chain) print_call_arguments(p, kind, e->a);
    else print_expr(p, e->a, OR);
    put(p, ", ");
    print_expr(p, e->b, OR);
}

static void print_node(printer *p, const kc_expr *e) {
    int precedence = forms[e->kind].precedence;
    if (e->kind == KC_EXPR_MUL) {
        print_product(p, e);
    } else if (precedence == PRIMARY) {
        put(p, forms[e->kind].text);
        open_bracket(p);
        print_call_arguments(p, e->kind, e);
        close_bracket(p);
    } else {
        print_expr(p, e->a, precedence == COMPARE ? SUM : precedence);
        if (e->kind == KC_EXPR_ADD) {
            print_addend(p, e->b);
        } else {
            put(p, forms[e->kind].text);
            print_expr(p, e->b, precedence + 1);
        }
    }
}

// Prints e, in brackets when its operator binds looser than `least`.
static void print_expr(printer *p, const kc_expr *e, int least) {
    if (e->kind == KC_EXPR_CONST) {
        put_number(p, e->value);
    } else if (e->kind == KC_EXPR_SYMBOL) {
        put(p, kc_expr_symbol_name(p->pool, e->symbol));
    } else if (e->kind == KC_EXPR_NOT) {
        if (least > NOT) {
            print_bracketed(p, e);
            return;
        }
        put(p, "not ");
        print_expr(p, e->a, COMPARE);
    } else if (forms[e->kind].precedence < least) {
        print_bracketed(p, e);
    } else {
        print_node(p, e);
    }
}

size_t kc_expr_print(const kc_expr_pool *pool, const kc_expr *e, char *buffer, size_t size) {
    printer p = {.pool = pool, .buffer = buffer, .size = size};
    print_expr(&p, e, OR);
    if (size > 0) buffer[p.length < size ? p.length : size - 1] = '\0';
    return p.length;
}

// ---- parsing ------------------------------------------------------------------------------------

typedef struct {
    kc_expr_pool *pool;
    const char *start, *at, *end;
    const char *error, *error_at;
    int nesting;
} parser;

static const kc_expr *fail(parser *p, const char *error) {
    if (p->error == NULL) p->error = error, p->error_at = p->at;
    return NULL;
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t name_length(const parser *p) {
    const char *s = p->at;
    if (s == p->end || !is_letter(*s)) return 0;
    while (s < p->end && (is_letter(*s) || is_digit(*s) || *s == '.'))
        s++;
    return (size_t)(s - p->at);
}

// Takes `token` when it stands next; a word must end there, and `/` must not be the start of `//`.
static bool take(parser *p, const char *token) {
    skip_space(p);
    size_t n = strlen(token);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, token, n) != 0) return false;
    if (is_letter(*token) && name_length(p) != n) return false;
    if (strcmp(token, "/") == 0 && p->end - p->at > 1 && p->at[1] == '/') return false;
    p->at += n;
    return true;
}

static bool enter(parser *p) {
    if (p->nesting == KC_EXPR_MAX_NESTING) fail(p, "nested more than 64 deep");
    else p->nesting++;
    return p->error == NULL;
}

static const kc_expr *made(parser *p, const kc_expr *e) {
    return e != NULL ? e : fail(p, "the expression is too large, or memory is out");
}

static const kc_expr *parse_or(parser *p);

static const kc_expr *parse_number(parser *p, bool negative) {
    uint64_t v = 0, most = (uint64_t)INT64_MAX + negative;
    const char *from = p->at;
    for (; p->at < p->end && is_digit(*p->at); p->at++) {
        uint64_t digit = (uint64_t)(*p->at - '0');
        if (v > (most - digit) / 10) {
            p->at = from;
            return fail(p, "the number does not fit in 64 bits");
        }
        v = v * 10 + digit;
    }
    if (name_length(p) > 0) return fail(p, "expected an operator after the number");
    return made(p, kc_expr_const(p->pool, negative ? (int64_t)(0 - v) : (int64_t)v));
}

static const kc_expr *parse_call(parser *p, kc_expr_kind kind) {
    if (!enter(p)) return NULL;
    const kc_expr *e = parse_or(p);
    int count = 1;
    for (; p->error == NULL && take(p, ","); count++) {
        if (kind == KC_EXPR_CDIV && count == 2) return fail(p, "`cdiv` takes two operands");
        const kc_expr *b = parse_or(p);
        if (b == NULL) return NULL;
        e = made(p, kc_expr_binary(p->pool, kind, e, b));
    }
    if (p->error != NULL) return NULL;
    if (count < 2) return fail(p, "expected `,` and a second operand");
    if (!take(p, ")")) return fail(p, "expected `)` or `,`");
    p->nesting--;
    return e;
}

static const kc_expr *parse_primary(parser *p) {
    skip_space(p);
    if (p->at == p->end) return fail(p, "expected a number, a name or `(`, found the end");
    if (is_digit(*p->at)) return parse_number(p, false);
    if (take(p, "(")) {
        const kc_expr *e = enter(p) ? parse_or(p) : NULL;
        if (p->error == NULL && !take(p, ")")) return fail(p, "expected `)`");
        p->nesting--;
        return e;
    }
    const char *name = p->at;
    size_t n = name_length(p);
    if (n == 0) return fail(p, "expected a number, a name or `(`");
    if (name[n - 1] == '.') return fail(p, "a name cannot end with a dot");
    if (take(p, "and") || take(p, "or") || take(p, "not")) {
        p->at = name;
        return fail(p, "expected an operand, found `and`, `or` or `not`");
    }
    p->at += n;
    for (kc_expr_kind k = KC_EXPR_CDIV; k <= KC_EXPR_MAX; k++)
        if (strlen(forms[k].text) == n && memcmp(forms[k].text, name, n) == 0 && take(p, "("))
            return parse_call(p, k);
    int index = kc_expr_symbol_index(p->pool, name, n);
    return made(p, index < 0 ? NULL : kc_expr_symbol(p->pool, kc_expr_symbol_name(p->pool, index)));
}

static const kc_expr *parse_unary(parser *p) {
    if (!take(p, "-")) return parse_primary(p);
    if (p->at < p->end && is_digit(*p->at)) return parse_number(p, true);
    const kc_expr *e = enter(p) ? parse_unary(p) : NULL;
    p->nesting--;
    return e == NULL ? NULL : made(p, kc_expr_sub(p->pool, kc_expr_const(p->pool, 0), e));
}

// Operators of one precedence, each spelled as the parser looks for it; longer spellings first.
typedef struct {
    const char *token;
    kc_expr_kind kind;
    int precedence;
} operator_row;

static const operator_row operators[] = {
    {"or", KC_EXPR_OR, OR},      {"and", KC_EXPR_AND, AND},   {"==", KC_EXPR_EQ, COMPARE},
    {"!=", KC_EXPR_NE, COMPARE}, {"<=", KC_EXPR_LE, COMPARE}, {">=", KC_EXPR_GE, COMPARE},
    {"<", KC_EXPR_LT, COMPARE},  {">", KC_EXPR_GT, COMPARE},  {"+", KC_EXPR_ADD, SUM},
    {"-", KC_EXPR_SUB, SUM},     {"*", KC_EXPR_MUL, PRODUCT}, {"//", KC_EXPR_FLOORDIV, PRODUCT},
    {"%", KC_EXPR_MOD, PRODUCT}, {"/", KC_EXPR_DIV, PRODUCT},
};

static const operator_row *take_operator(parser *p, int precedence) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].precedence == precedence && take(p, operators[i].token))
            return &operators[i];
    return NULL;
}

static const kc_expr *parse_level(parser *p, int level);

static const kc_expr *parse_not(parser *p) {
    if (!take(p, "not")) return parse_level(p, COMPARE);
    const kc_expr *e = enter(p) ? parse_not(p) : NULL;
    p->nesting--;
    return e == NULL ? NULL : made(p, kc_expr_not(p->pool, e));
}

static const kc_expr *parse_operand(parser *p, int level) {
    if (level == NOT) return parse_not(p);
    return level == UNARY ? parse_unary(p) : parse_level(p, level);
}

static const kc_expr *parse_level(parser *p, int level) {
    const kc_expr *e = parse_operand(p, level + 1);
    const operator_row *op;
    for (int n = 0; e != NULL && (op = take_operator(p, level)) != NULL; n++) {
        if (level == COMPARE && n == 1) return fail(p, "comparisons are not chained: use `and`");
        const kc_expr *b = parse_operand(p, level + 1);
        e = b == NULL ? NULL : made(p, kc_expr_binary(p->pool, op->kind, e, b));
    }
    return e;
}

static const kc_expr *parse_or(parser *p) {
    return parse_level(p, OR);
}

// What text simplifies to may need more brackets than the text had; it must still read back.
static const kc_expr *check_nesting(parser *p, const kc_expr *e) {
    printer out = {.pool = p->pool};
    if (e != NULL) print_expr(&out, e, OR);
    return out.deepest > KC_EXPR_MAX_NESTING ? fail(p, "simplified, it is nested more than 64 deep")
                                             : e;
}

const kc_expr *kc_expr_parse(kc_expr_pool *pool, const char *text, size_t length,
                             const char **error, size_t *error_at) {
    parser p = {.pool = pool, .start = text, .at = text, .end = text + length};
    const kc_expr *e = parse_or(&p);
    skip_space(&p);
    if (p.error == NULL && p.at != p.end) e = fail(&p, "expected an operator or the end");
    if (p.error == NULL) e = check_nesting(&p, e);
    if (error != NULL) *error = p.error;
    if (error_at != NULL) *error_at = p.error != NULL ? (size_t)(p.error_at - text) : 0;
    return p.error == NULL ? e : NULL;
}
