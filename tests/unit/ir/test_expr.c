// Integer expressions: canonical form, text, errors; random expressions against a second evaluator.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr.h"

static const kc_expr *parse(kc_expr_pool *pool, const char *text) {
    const char *error = NULL;
    size_t at = 0;
    const kc_expr *e = kc_expr_parse(pool, text, strlen(text), &error, &at);
    if (e == NULL) fail_msg("%s: %s at %zu", text, error, at);
    return e;
}

static void set(kc_expr_pool *pool, const char *name, int64_t min, int64_t max, int64_t multiple) {
    int i = kc_expr_symbol_index(pool, name, strlen(name));
    kc_expr_set_facts(pool, i, (kc_expr_facts){min, max, multiple});
}

static kc_expr_pool *new_pool(void) {
    kc_expr_pool *pool = kc_expr_pool_create();
    assert_non_null(pool);
    set(pool, "M", 0, INT32_MAX, 1);
    set(pool, "N", 1, 4096, 1);
    set(pool, "K", 0, INT32_MAX, 8);
    set(pool, "P", 1, 100, 1);
    return pool;
}

typedef struct {
    const char *text, *canonical;
} text_row;

static void test_canonical(void **state) {
    (void)state;
    static const text_row rows[] = {
        {"M + N - M", "N"},
        {"M - M", "0"},
        {"(M*4 + 8)//4", "M + 2"},
        {"(K*8) % 8", "0"},
        {"K % 8", "0"},
        {"(8*M)//8", "M"},
        {"K//8*8", "K"},
        {"K/8*16", "2*K"},
        {"(K + 3)//8", "K // 8"},
        {"(K*M + 7)//8", "M*(K // 8)"},
        {"cdiv(K, 8)", "K // 8"},
        {"cdiv(M, 128)", "(M + 127) // 128"},
        {"(M + 255)//128", "(M + 127) // 128 + 1"},
        {"cdiv(cdiv(M, 4), 32)", "(M + 127) // 128"},
        {"M//4//8", "M // 32"},
        {"(4*M + 9) % 16", "4*((M + 2) % 4) + 1"},
        {"M % 64 % 8", "M % 8"},
        {"M*N//N", "M"},
        {"N*M % N", "0"},
        {"(M*N + N)/N", "M + 1"},
        {"K*M//M", "K*M // M"}, // M may be 0
        {"P // 101", "0"},
        {"P % 101", "P"},
        {"(M+1)*(N-1)", "N + M*N - M - 1"},
        {"N - M", "N - M"},
        {"-M", "-M"},
        {"-(M//2)", "-(M // 2)"},
        {"3 - M*2", "-2*M + 3"},
        {"M*0 + 1*N", "N"},
        {"M // -4", "-M // 4"},
        {"min(M, M)", "M"},
        {"min(M, N, M + 1)", "min(M, N)"},
        {"max(N, 1)", "N"},
        {"min(N, 4096)", "N"},
        {"max(M, min(N, M))", "max(M, min(M, N))"},
        {"M >= 0", "1"},
        {"N > 4096", "0"},
        {"M > 3", "M >= 4"},
        {"2*M <= 7", "M <= 3"},
        {"2*M == 7", "0"},
        {"K == 12", "0"},
        {"M < N", "M < N"},
        {"N > M", "M < N"},
        {"not M < N", "M >= N"},
        {"M + 5 <= N", "M + 5 <= N"},
        {"not not M", "M != 0"},
        {"M % 8 == 0 and align.x >= 16", "M % 8 == 0 and align.x >= 16"},
        {"1 and M == 1 or 0", "M == 1"},
        {"M == 1 or (N == 2 and M == 3)", "M == 1 or N == 2 and M == 3"},
        {"(M == 1 or N == 2) and M == 3", "(M == 1 or N == 2) and M == 3"},
        {"not (M == 1 and N == 2)", "not (M == 1 and N == 2)"},
        {"dev.multiprocessors*2", "2*dev.multiprocessors"},
        {"7 // -2", "-4"},
        {"-7 % 4", "1"},
        {"7 % -4", "-1"},
        {"cdiv(-7, 2)", "-3"},
        {"8 / 2", "4"},
        {"7 / 2", "7 / 2"},
        {"1 // 0", "1 // 0"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775807 + 1", "9223372036854775807 + 1"},
        {"9223372036854775807 + 1 - 1", "9223372036854775807"},
    };
    kc_expr_pool *pool = new_pool();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[256];
        const kc_expr *e = parse(pool, rows[i].text);
        size_t n = kc_expr_print(pool, e, buffer, sizeof buffer);
        assert_string_equal(buffer, rows[i].canonical);
        assert_int_equal(n, strlen(buffer));
        assert_ptr_equal(parse(pool, buffer), e);
    }
    kc_expr_pool_destroy(pool);
}

static void test_text_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *error;
    } rows[] = {
        {"", 0, "expected a number, a name or `(`, found the end"},
        {"M +", 3, "expected a number, a name or `(`, found the end"},
        {"M + )", 4, "expected a number, a name or `(`"},
        {"(M", 2, "expected `)`"},
        {"M N", 2, "expected an operator or the end"},
        {"3M", 1, "expected an operator after the number"},
        {"1 < M < 3", 7, "comparisons are not chained: use `and`"},
        {"cdiv(M, 2, 3)", 10, "`cdiv` takes two operands"},
        {"min(M)", 5, "expected `,` and a second operand"},
        {"min(M, 2", 8, "expected `)` or `,`"},
        {"a.", 0, "a name cannot end with a dot"},
        {"and", 0, "expected an operand, found `and`, `or` or `not`"},
        {"9223372036854775808", 0, "the number does not fit in 64 bits"},
        {"M $ 2", 2, "expected an operator or the end"},
    };
    kc_expr_pool *pool = new_pool();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *error = NULL;
        size_t at = 99;
        assert_null(kc_expr_parse(pool, rows[i].text, strlen(rows[i].text), &error, &at));
        assert_string_equal(error, rows[i].error);
        assert_int_equal(at, rows[i].at);
    }
    kc_expr_pool_destroy(pool);
}

static void repeat(char *out, const char *head, int n, const char *middle, const char *tail) {
    out[0] = '\0';
    for (int i = 0; i < n; i++)
        strcat(out, head);
    strcat(out, middle);
    for (int i = 0; i < n; i++)
        strcat(out, tail);
}

static void test_nesting(void **state) {
    (void)state;
    static const struct {
        const char *head, *tail;
    } rows[] = {{"(", ")"}, {"-", ""}, {"not ", ""}, {"min(M, ", ")"}};
    kc_expr_pool *pool = new_pool();
    char text[8192];
    const char *error;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        repeat(text, rows[i].head, 64, "P", rows[i].tail);
        assert_non_null(parse(pool, text));
        repeat(text, rows[i].head, 65, "P", rows[i].tail);
        assert_null(kc_expr_parse(pool, text, strlen(text), &error, NULL));
        assert_string_equal(error, "nested more than 64 deep");
        repeat(text, rows[i].head, 1000, "P", rows[i].tail);
        assert_null(kc_expr_parse(pool, text, strlen(text), NULL, NULL));
    }
    repeat(text, "((P+1)//M*", 60, "P", ")");
    const kc_expr *e = kc_expr_parse(pool, text, strlen(text), &error, NULL);
    assert_true(e != NULL || error != NULL);
    kc_expr_pool_destroy(pool);
}

// Chains of many different symbols: kept, or refused, never a crash and never slow.
static void test_large(void **state) {
    (void)state;
    static const char *const joins[] = {" + ", "*", " // ", " and ", " - 2*", ", "};
    kc_expr_pool *pool = kc_expr_pool_create();
    char text[40000];
    for (size_t j = 0; j < sizeof joins / sizeof *joins; j++)
        for (int n = 100; n <= 2000; n *= 10) {
            bool call = strcmp(joins[j], ", ") == 0;
            size_t length = (size_t)sprintf(text, call ? "min(s" : "s");
            for (int i = 0; i < n; i++)
                length += (size_t)sprintf(text + length, "%ss%d", joins[j], i);
            length += (size_t)sprintf(text + length, call ? ")" : "");
            const char *error = NULL;
            const kc_expr *e = kc_expr_parse(pool, text, length, &error, NULL);
            if (n == 100) assert_non_null(e);
            if (n == 1000) assert_non_null(strstr(error, "too large"));
        }
    kc_expr_pool_destroy(pool);
}

static void test_eval_status(void **state) {
    (void)state;
    kc_expr_pool *pool = kc_expr_pool_create();
    int x = kc_expr_symbol_index(pool, "x", 1), y = kc_expr_symbol_index(pool, "y", 1);
    assert_int_equal(x, 0);
    assert_int_equal(y, 1);
    assert_int_equal(kc_expr_symbol_index(pool, "x", 1), 0);
    assert_int_equal(kc_expr_symbol_count(pool), 2);
    static const struct {
        const char *text;
        int64_t x, y;
        kc_expr_status status;
        int64_t value;
    } rows[] = {
        {"x*y", INT64_MAX, 2, KC_EXPR_OVERFLOW, 0},
        {"x*y - x*y", INT64_MAX, INT64_MAX, KC_EXPR_OK, 0},
        {"x*y//y", INT64_MAX, INT64_MAX, KC_EXPR_OK, INT64_MAX},
        {"x*x*y", INT64_MAX, 4, KC_EXPR_OVERFLOW, 0},
        {"x + 1", INT64_MAX, 0, KC_EXPR_OVERFLOW, 0},
        {"x // y", INT64_MIN, -1, KC_EXPR_OVERFLOW, 0},
        {"x % y", INT64_MIN, -1, KC_EXPR_OK, 0},
        {"x // y", 7, -2, KC_EXPR_OK, -4},
        {"x % y", 7, -2, KC_EXPR_OK, -1},
        {"x % y", -7, 2, KC_EXPR_OK, 1},
        {"cdiv(x, y)", 7, 2, KC_EXPR_OK, 4},
        {"cdiv(x, y)", -7, 2, KC_EXPR_OK, -3},
        {"x // y", 1, 0, KC_EXPR_DIVIDE_BY_ZERO, 0},
        {"x % y", 1, 0, KC_EXPR_DIVIDE_BY_ZERO, 0},
        {"x / y", 7, 2, KC_EXPR_INEXACT, 0},
        {"x / 4", 8, 0, KC_EXPR_OK, 2},
        {"x / 4", 9, 0, KC_EXPR_INEXACT, 0},
        {"y != 0 and x // y > 2", 9, 0, KC_EXPR_OK, 0},
        {"y == 0 or x // y > 2", 9, 0, KC_EXPR_OK, 1},
        {"x < y", INT64_MIN, INT64_MAX, KC_EXPR_OK, 1},
        {"x", INT64_MIN, 0, KC_EXPR_OK, INT64_MIN},
        {"-x", INT64_MIN, 0, KC_EXPR_OVERFLOW, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t out = 77, values[] = {rows[i].x, rows[i].y};
        const kc_expr *e = parse(pool, rows[i].text);
        assert_int_equal(kc_expr_eval(e, values, NULL, &out), rows[i].status);
        assert_int_equal(out, rows[i].value);
    }
    int64_t out;
    bool bound[] = {true, false};
    int64_t values[] = {0, 5};
    assert_int_equal(kc_expr_eval(parse(pool, "x + y"), values, bound, &out), KC_EXPR_UNBOUND);
    assert_int_equal(kc_expr_eval(parse(pool, "x and y"), values, bound, &out), KC_EXPR_OK);
    kc_expr_pool_destroy(pool);
}

static void test_questions(void **state) {
    (void)state;
    kc_expr_pool *pool = new_pool();
    int m = kc_expr_symbol_index(pool, "M", 1);
    const kc_expr *rest, *e = parse(pool, "3*M + K*N - 5");
    int64_t c;
    assert_true(kc_expr_linear_in(pool, e, m, &c, &rest));
    assert_int_equal(c, 3);
    assert_ptr_equal(rest, parse(pool, "K*N - 5"));
    assert_false(kc_expr_linear_in(pool, parse(pool, "M*N + M"), m, &c, &rest));
    assert_false(kc_expr_linear_in(pool, parse(pool, "M + M//2"), m, &c, &rest));
    assert_false(kc_expr_linear_in(pool, parse(pool, "N + 1"), m, &c, &rest));
    assert_true(kc_expr_uses(e, m));
    assert_false(kc_expr_uses(rest, m));
    assert_true(kc_expr_known_le(pool, parse(pool, "M + 3"), parse(pool, "M + N + 2")));
    assert_false(kc_expr_known_le(pool, parse(pool, "M + 4"), parse(pool, "M + N + 2")));
    assert_true(kc_expr_known_le(pool, parse(pool, "(N-1)*(P-1)"), parse(pool, "4095*99")));
    assert_int_equal(kc_expr_min_value(pool, parse(pool, "(N-1)*(P-1)")), 0);
    assert_int_equal(kc_expr_max_value(pool, parse(pool, "(N-1)*(P-1)")), 4095 * 99);
    assert_int_equal(kc_expr_max_value(pool, parse(pool, "M*M*M")), INT64_MAX);
    assert_true(kc_expr_known_equal(pool, parse(pool, "M*(N+1)"), parse(pool, "M*N + M")));
    assert_false(kc_expr_known_equal(pool, parse(pool, "M"), parse(pool, "N")));
    assert_int_equal(kc_expr_divisor(pool, parse(pool, "K*4*M + 64")), 32);
    assert_int_equal(kc_expr_divisor(pool, parse(pool, "min(K, 12)")), 4);
    assert_int_equal(kc_expr_divisor(pool, parse(pool, "0")), 0);
    assert_ptr_equal(kc_expr_substitute(pool, e, m, parse(pool, "N - 1")),
                     parse(pool, "3*N - 8 + K*N"));
    assert_null(kc_expr_add(pool, NULL, e));
    assert_null(kc_expr_not(pool, kc_expr_cdiv(pool, e, NULL)));
    kc_expr_pool *other = kc_expr_pool_create();
    const kc_expr *copy = kc_expr_import(other, pool, e);
    char text[64];
    kc_expr_print(other, copy, text, sizeof text);
    assert_string_equal(text, "3*M + K*N - 5");
    int k = kc_expr_symbol_index(other, "K", 1);
    assert_int_equal(kc_expr_get_facts(other, k).multiple_of, 8);
    assert_int_equal(kc_expr_print(other, copy, text, 4), 13);
    assert_string_equal(text, "3*M");
    kc_expr_pool_destroy(other);
    kc_expr_pool_destroy(pool);
    kc_expr_pool_destroy(NULL);
}

// ---- random expressions -------------------------------------------------------------------------

enum { SYMBOLS = 4, NODES = 40 };

typedef __int128 wide;

typedef struct {
    kc_expr_kind kind;
    int64_t value; // constant, or symbol
    int a, b;
} node; // a second, plain tree: what the constructors are compared with

typedef struct {
    node nodes[NODES];
    int count;
} tree;

static uint64_t seed, round_seed;

static uint64_t next(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static int64_t pick(int64_t low, int64_t high) {
    return low + (int64_t)(next() % (uint64_t)(high - low + 1));
}

static int grow(tree *t, int depth) {
    node n = {.kind = KC_EXPR_CONST, .a = -1, .b = -1};
    if (depth == 0 || t->count > NODES / 2 || pick(0, 7) == 0) {
        n.kind = pick(0, 1) ? KC_EXPR_SYMBOL : KC_EXPR_CONST;
        n.value = n.kind == KC_EXPR_SYMBOL ? pick(0, SYMBOLS - 1)
                                           : (pick(0, 3) ? pick(-9, 16) : 1 << pick(0, 7));
    } else {
        static const kc_expr_kind often[] = {KC_EXPR_ADD, KC_EXPR_SUB,      KC_EXPR_MUL,
                                             KC_EXPR_MUL, KC_EXPR_FLOORDIV, KC_EXPR_MOD};
        n.kind = pick(0, 2) ? often[pick(0, 5)] : (kc_expr_kind)pick(KC_EXPR_ADD, KC_EXPR_NOT);
        n.a = grow(t, depth - 1);
        if (n.kind != KC_EXPR_NOT) n.b = grow(t, depth - 1);
    }
    t->nodes[t->count] = n;
    return t->count++;
}

static wide slow_floor(wide a, wide b) {
    wide q = a / b;
    while (q * b > a)
        q -= b > 0 ? 1 : -1;
    return (a - q * b != 0 && ((a - q * b < 0) != (b < 0))) ? q - 1 : q;
}

static bool slow_eval(const tree *t, int at, const int64_t *values, wide *out) {
    const node *n = &t->nodes[at];
    wide a = 0, b = 0;
    if (n->kind == KC_EXPR_CONST || n->kind == KC_EXPR_SYMBOL) {
        *out = n->kind == KC_EXPR_CONST ? n->value : values[n->value];
        return true;
    }
    if (!slow_eval(t, n->a, values, &a)) return false;
    if (n->kind == KC_EXPR_AND && a == 0) return *out = 0, true;
    if (n->kind == KC_EXPR_OR && a != 0) return *out = 1, true;
    if (n->b >= 0 && !slow_eval(t, n->b, values, &b)) return false;
    bool division = n->kind == KC_EXPR_FLOORDIV || n->kind == KC_EXPR_MOD ||
                    n->kind == KC_EXPR_DIV || n->kind == KC_EXPR_CDIV;
    if (division && b == 0) return false;
    switch (n->kind) {
    case KC_EXPR_ADD: *out = a + b; break;
    case KC_EXPR_SUB: *out = a - b; break;
    case KC_EXPR_MUL: *out = a * b; break;
    case KC_EXPR_FLOORDIV: *out = slow_floor(a, b); break;
    case KC_EXPR_MOD: *out = a - b * slow_floor(a, b); break;
    case KC_EXPR_DIV: *out = slow_floor(a, b); return *out * b == a;
    case KC_EXPR_CDIV: *out = -slow_floor(-a, b); break;
    case KC_EXPR_MIN: *out = a < b ? a : b; break;
    case KC_EXPR_MAX: *out = a < b ? b : a; break;
    case KC_EXPR_EQ: *out = a == b; break;
    case KC_EXPR_NE: *out = a != b; break;
    case KC_EXPR_LT: *out = a < b; break;
    case KC_EXPR_LE: *out = a <= b; break;
    case KC_EXPR_GT: *out = a > b; break;
    case KC_EXPR_GE: *out = a >= b; break;
    case KC_EXPR_AND: *out = a != 0 && b != 0; break;
    case KC_EXPR_OR: *out = a != 0 || b != 0; break;
    default: *out = a == 0; break;
    }
    wide bound = (wide)1 << 62; // keeps the products of this evaluator in range
    return *out<bound && * out> - bound;
}

static const kc_expr *construct(kc_expr_pool *pool, const tree *t, int at) {
    const node *n = &t->nodes[at];
    static const char *const names[] = {"p", "q", "r", "s"};
    if (n->kind == KC_EXPR_CONST) return kc_expr_const(pool, n->value);
    if (n->kind == KC_EXPR_SYMBOL) return kc_expr_symbol(pool, names[n->value]);
    const kc_expr *a = construct(pool, t, n->a);
    if (n->kind == KC_EXPR_NOT) return kc_expr_not(pool, a);
    return kc_expr_binary(pool, n->kind, a, construct(pool, t, n->b));
}

static int64_t pick_value(kc_expr_facts f) {
    int64_t low = -slow_floor(-f.min, f.multiple_of), high = slow_floor(f.max, f.multiple_of);
    int64_t at = pick(0, 5);
    return f.multiple_of * (at == 0 ? low : at == 1 ? high : pick(low, high));
}

static kc_expr_facts pick_facts(void) {
    static const int64_t multiples[] = {1, 1, 2, 3, 4, 8, 16};
    int64_t multiple = multiples[pick(0, 6)], low = pick(-3, 3) * pick(0, 1) * multiple;
    return (kc_expr_facts){low, low + multiple * (pick(0, 2) ? pick(0, 40) : 1 << pick(6, 26)),
                           multiple};
}

static void check_value(const kc_expr *e, const tree *t, int root, const int64_t *values) {
    wide expected;
    int64_t got;
    if (!slow_eval(t, root, values, &expected)) return;
    assert_int_equal(kc_expr_eval(e, values, NULL, &got), KC_EXPR_OK);
    assert_true(got == expected);
    assert_true(got >= e->min && got <= e->max);
    assert_true(e->divisor == 0 ? got == 0 : got % e->divisor == 0);
}

static void check_text(kc_expr_pool *pool, const kc_expr *e) {
    static char text[100000], again[100000];
    const char *error = NULL;
    size_t n = kc_expr_print(pool, e, text, sizeof text);
    assert_true(n < sizeof text);
    if (kc_expr_parse(pool, text, n, &error, NULL) != e) fail_msg("%s: %s", text, error);
    kc_expr_pool *other = kc_expr_pool_create(); // symbols numbered in another order, same facts
    for (int i = SYMBOLS - 1; i >= 0; i--) {
        const char *name = kc_expr_symbol_name(pool, i);
        kc_expr_set_facts(other, kc_expr_symbol_index(other, name, 1), kc_expr_get_facts(pool, i));
    }
    kc_expr_print(other, kc_expr_import(other, pool, e), again, sizeof again);
    assert_string_equal(text, again);
    kc_expr_pool_destroy(other);
}

static void random_round(void) {
    kc_expr_pool *pool = kc_expr_pool_create();
    kc_expr_facts facts[SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++) {
        char name[2] = {(char)('p' + i), 0};
        facts[i] = pick_facts();
        kc_expr_set_facts(pool, kc_expr_symbol_index(pool, name, 1), facts[i]);
    }
    tree t = {.count = 0};
    int root = grow(&t, (int)pick(1, 6));
    const kc_expr *e = construct(pool, &t, root);
    assert_non_null(e);
    for (int i = 0; i < 40; i++) {
        int64_t values[SYMBOLS];
        for (int s = 0; s < SYMBOLS; s++)
            values[s] = pick_value(facts[s]);
        check_value(e, &t, root, values);
    }
    check_text(pool, e);
    kc_expr_pool_destroy(pool);
}

static void test_random(void **state) {
    (void)state;
    const char *given = getenv("KC_SEED");
    round_seed = given ? strtoull(given, NULL, 0) : 1;
    for (int rounds = given ? 1 : 6000; rounds > 0; rounds--, round_seed++) {
        seed = (round_seed + 1) * 0x9e3779b97f4a7c15u;
        random_round();
    }
}

static int print_seed(void **state) {
    (void)state;
    printf("random expressions ended at KC_SEED=%" PRIu64 " (set it to replay)\n", round_seed);
    return 0;
}

static void test_garbage(void **state) {
    (void)state;
    static const char *const words[] = {
        "M",   "(",    ")",     "+", "-",    "*",   "//",   "%", "/", "==",
        "<",   "min(", "cdiv(", ",", "and ", "or ", "not ", "7", "0", "9223372036854775807",
        "x.y", " ",    "\xff",  "$", "."};
    seed = 12345;
    for (int i = 0; i < 3000; i++) {
        kc_expr_pool *pool = kc_expr_pool_create();
        char text[400] = "";
        int n = (int)pick(1, 16);
        for (int j = 0; j < n; j++)
            strcat(text, words[pick(0, sizeof words / sizeof *words - 1)]);
        const char *error = NULL;
        size_t at = 0;
        const kc_expr *e = kc_expr_parse(pool, text, strlen(text), &error, &at);
        assert_true((e == NULL) == (error != NULL));
        assert_true(at <= strlen(text));
        int64_t out, values[4] = {3, 4, 5, 6};
        if (e != NULL) kc_expr_eval(e, values, NULL, &out);
        kc_expr_pool_destroy(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_text_errors),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_eval_status),
        cmocka_unit_test(test_questions),
        cmocka_unit_test_teardown(test_random, print_seed),
        cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
