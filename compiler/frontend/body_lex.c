// Characters become tokens. Newlines end statements, except inside brackets; `#` starts a comment.
// Columns count code points, so that diagnostics point at the right one behind any text.
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/body_ast.h"
#include "compiler/frontend/frontend.h"

kc_body_lexer kc_body_lex_start(kc_arena *arena, kc_diag *diag, kc_body_text in) {
    return (kc_body_lexer){.in = in, .arena = arena, .diag = diag, .column = in.start.column};
}

static int peek(const kc_body_lexer *lexer, size_t ahead) {
    size_t at = lexer->at + ahead;
    return at < lexer->in.length ? (unsigned char)lexer->in.text[at] : 0;
}

static void advance(kc_body_lexer *lexer) {
    if (peek(lexer, 0) == '\n') {
        lexer->line++;
        lexer->column = lexer->in.columns ? lexer->in.columns[lexer->line] : 1;
    } else if ((peek(lexer, 1) & 0xC0) != 0x80) lexer->column++;
    lexer->at++;
}

static kc_loc here(const kc_body_lexer *lexer) {
    if (lexer->in.fixed) return lexer->in.start;
    return (kc_loc){lexer->in.start.line + lexer->line, lexer->column};
}

static void skip_blanks(kc_body_lexer *lexer) {
    for (;;) {
        int c = peek(lexer, 0);
        if (c == '#')
            while (lexer->at < lexer->in.length && peek(lexer, 0) != '\n')
                advance(lexer);
        else if (c == ' ' || c == '\t' || (c == '\n' && lexer->brackets > 0)) advance(lexer);
        else return;
    }
}

static bool is_name(int c) {
    return c == '_' || (c < 128 && isalnum(c));
}

// Does a statement begin here, at the start of an unindented line?
static bool at_statement(const kc_body_lexer *lexer) {
    size_t n = 0;
    while (is_name(peek(lexer, n)))
        n++;
    if (!n) return false;
    while (peek(lexer, n) == ' ')
        n++;
    return peek(lexer, n) == '=' && peek(lexer, n + 1) != '=';
}

void kc_body_lex_skip_statement(kc_body_lexer *lexer) {
    for (; lexer->at < lexer->in.length; advance(lexer)) {
        int c = peek(lexer, 0);
        if (c == '#')
            while (peek(lexer, 1) && peek(lexer, 1) != '\n')
                advance(lexer);
        if (c == '(' || c == '[') lexer->brackets++;
        if (c == ')' || c == ']') lexer->brackets--;
        if (c != '\n') continue;
        kc_body_lexer after = *lexer;
        advance(&after);
        if (lexer->brackets <= 0 || at_statement(&after)) break;
    }
    lexer->brackets = 0;
}

static kc_token error(kc_body_lexer *lexer, kc_token token, const char *text) {
    kc_report(lexer->diag, KC_ERROR, token.loc, "%s", text);
    token.kind = KC_TOKEN_ERROR;
    return token;
}

static kc_token read_name(kc_body_lexer *lexer, kc_token token) {
    static const struct {
        const char *word;
        kc_token_kind kind;
    } words[] = {{"and", KC_TOKEN_AND}, {"or", KC_TOKEN_OR}, {"not", KC_TOKEN_NOT}};
    size_t start = lexer->at;
    while (is_name(peek(lexer, 0)))
        advance(lexer);
    size_t length = lexer->at - start;
    if (length > KC_MODEL_MAX_NAME)
        return error(lexer, token,
                     kc_arena_printf(lexer->arena,
                                     "a name has at most %d characters, this one has %zu",
                                     (int)KC_MODEL_MAX_NAME, length));
    token.kind = KC_TOKEN_NAME;
    token.text = kc_arena_strndup(lexer->arena, lexer->in.text + start, length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(token.text, words[i].word)) token.kind = words[i].kind;
    return token;
}

// Decimal text to the nearest double, whatever the process's locale.
static double to_double(const char *text) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c ? strtod_l(text, NULL, c) : strtod(text, NULL);
    if (c) freelocale(c);
    return value;
}

static void skip_digits(kc_body_lexer *lexer) {
    while (isdigit(peek(lexer, 0)))
        advance(lexer);
}

// Digits, fraction, exponent; true when it has one of the latter two.
static bool scan_number(kc_body_lexer *lexer) {
    bool is_float = false;
    skip_digits(lexer);
    if (peek(lexer, 0) == '.') {
        is_float = true;
        advance(lexer);
        skip_digits(lexer);
    }
    int c = peek(lexer, 1), sign = c == '+' || c == '-';
    if ((peek(lexer, 0) == 'e' || peek(lexer, 0) == 'E') &&
        isdigit(peek(lexer, 1 + (size_t)sign))) {
        is_float = true;
        for (int i = 0; i <= sign; i++)
            advance(lexer);
        skip_digits(lexer);
    }
    return is_float;
}

static kc_token read_number(kc_body_lexer *lexer, kc_token token) {
    size_t start = lexer->at;
    bool is_float = scan_number(lexer);
    char *text = kc_arena_strndup(lexer->arena, lexer->in.text + start, lexer->at - start);
    if (is_name(peek(lexer, 0)) || peek(lexer, 0) == '.') {
        while (is_name(peek(lexer, 0)) || peek(lexer, 0) == '.')
            advance(lexer);
        return error(lexer, token,
                     "malformed number: write decimal digits, such as 12, 0.5 or 1e-5");
    }
    errno = 0;
    token.kind = is_float ? KC_TOKEN_FLOAT : KC_TOKEN_INT;
    if (is_float) token.number = to_double(text);
    else token.integer = strtoll(text, NULL, 10);
    if (is_float && token.number > 1.7976931348623157e308)
        return error(lexer, token, "the number is larger than any f64; write inf for infinity");
    if (!is_float && errno == ERANGE)
        return error(lexer, token,
                     "the integer does not fit i64; write it with a point for a float");
    return token;
}

static kc_token read_string(kc_body_lexer *lexer, kc_token token) {
    int quote = peek(lexer, 0);
    advance(lexer);
    size_t start = lexer->at;
    for (int c; (c = peek(lexer, 0)) != quote; advance(lexer)) {
        if (!c || c == '\n') return error(lexer, token, "the string does not end on its line");
        if (c == '\\') return error(lexer, token, "strings have no escapes; remove the backslash");
    }
    token.kind = KC_TOKEN_STRING;
    token.text = kc_arena_strndup(lexer->arena, lexer->in.text + start, lexer->at - start);
    advance(lexer);
    return token;
}

static const struct {
    const char *text;
    kc_token_kind kind;
} operators[] = { // longest first
    {"**", KC_TOKEN_POW},  {"//", KC_TOKEN_FLOORDIV}, {"==", KC_TOKEN_EQ},
    {"!=", KC_TOKEN_NE},   {"<=", KC_TOKEN_LE},       {">=", KC_TOKEN_GE},
    {"<", KC_TOKEN_LT},    {">", KC_TOKEN_GT},        {"=", KC_TOKEN_ASSIGN},
    {"+", KC_TOKEN_ADD},   {"-", KC_TOKEN_SUB},       {"*", KC_TOKEN_MUL},
    {"/", KC_TOKEN_DIV},   {"%", KC_TOKEN_MOD},       {"(", KC_TOKEN_OPEN},
    {")", KC_TOKEN_CLOSE}, {"[", KC_TOKEN_LIST_OPEN}, {"]", KC_TOKEN_LIST_CLOSE},
    {",", KC_TOKEN_COMMA}};

static const struct {
    int c;
    const char *hint;
} hints[] = {{'@', "; use matmul(a, b)"},
             {'&', "; use 'and'"},
             {'|', "; use 'or'"},
             {'!', "; use 'not' or '!='"},
             {'~', "; use 'not'"},
             {'^', "; use '**' for powers"},
             {'.', "; values have no attributes or methods"},
             {';', "; statements end at the end of the line"},
             {'\\', "; lines continue inside brackets"},
             {':', "; a statement is NAME = EXPRESSION"}};

static kc_token unexpected(kc_body_lexer *lexer, kc_token token) {
    size_t start = lexer->at, length = 1;
    const char *hint = "";
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].c == peek(lexer, 0)) hint = hints[i].hint;
    while ((peek(lexer, length) & 0xC0) == 0x80)
        length++;
    return error(lexer, token,
                 kc_arena_printf(lexer->arena, "unexpected '%.*s'%s", (int)length,
                                 lexer->in.text + start, hint));
}

static kc_token read_operator(kc_body_lexer *lexer, kc_token token) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t length = strlen(operators[i].text);
        if (lexer->in.length - lexer->at < length ||
            memcmp(lexer->in.text + lexer->at, operators[i].text, length) != 0)
            continue;
        token.kind = operators[i].kind;
        for (size_t j = 0; j < length; j++)
            advance(lexer);
        if (token.kind == KC_TOKEN_OPEN || token.kind == KC_TOKEN_LIST_OPEN) lexer->brackets++;
        if (token.kind == KC_TOKEN_CLOSE || token.kind == KC_TOKEN_LIST_CLOSE) lexer->brackets--;
        return token;
    }
    return unexpected(lexer, token);
}

kc_token kc_body_lex_next(kc_body_lexer *lexer) {
    skip_blanks(lexer);
    kc_token token = {.kind = KC_TOKEN_END, .loc = here(lexer)};
    int c = peek(lexer, 0);
    if (lexer->at >= lexer->in.length) return token;
    if (c == '\n') {
        advance(lexer);
        token.kind = KC_TOKEN_NEWLINE;
        return token;
    }
    if (isdigit(c) || (c == '.' && isdigit(peek(lexer, 1)))) return read_number(lexer, token);
    if (is_name(c)) return read_name(lexer, token);
    if (c == '"' || c == '\'') return read_string(lexer, token);
    return read_operator(lexer, token);
}

const char *kc_body_token_text(kc_token_kind kind) {
    switch (kind) {
    case KC_TOKEN_END: return "the end";
    case KC_TOKEN_NEWLINE: return "the end of the line";
    case KC_TOKEN_ERROR: return "an error";
    case KC_TOKEN_NAME: return "a name";
    case KC_TOKEN_INT:
    case KC_TOKEN_FLOAT: return "a number";
    case KC_TOKEN_STRING: return "a string";
    case KC_TOKEN_AND: return "'and'";
    case KC_TOKEN_OR: return "'or'";
    case KC_TOKEN_NOT: return "'not'";
    default: break;
    }
    static const char *const quoted[] = {"'**'", "'//'", "'=='", "'!='", "'<='", "'>='", "'<'",
                                         "'>'",  "'='",  "'+'",  "'-'",  "'*'",  "'/'",  "'%'",
                                         "'('",  "')'",  "'['",  "']'",  "','"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].kind == kind) return quoted[i];
    return "?";
}
