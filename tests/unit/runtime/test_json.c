// The strict JSON reader: what it accepts, exactly, and what it refuses where.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/json.h"

static kcrt_arena arena;
static const char *error;
static size_t error_at;

static kcrt_json *parse_bytes(const char *text, size_t n) {
    kcrt_arena_release(&arena);
    char *exact = malloc(n ? n : 1); // so that a read past the end is seen
    memcpy(exact, text, n);
    kcrt_json *root = kcrt_json_parse(&arena, exact, n, &error, &error_at);
    free(exact);
    return root;
}

static kcrt_json *parse(const char *text) {
    return parse_bytes(text, strlen(text));
}

static void test_values(void **state) {
    (void)state;
    kcrt_json *root = parse(" {\"a\": [1, -2, true, false, null, \"x\\n\\u00e9\\ud83d\\ude00\"], "
                            "\"b\": 1.50e3, \"c\": {}} ");
    assert_non_null(root);
    assert_int_equal(root->kind, KCRT_JSON_OBJECT);
    assert_int_equal(root->length, 3);
    const kcrt_json *list = kcrt_json_get(root, "a");
    assert_int_equal(list->length, 6);
    assert_int_equal(list->first->integer, 1);
    assert_int_equal(list->first->next->integer, -2);
    const kcrt_json *text = list->first->next->next->next->next->next;
    assert_string_equal(text->text, "x\n\xc3\xa9\xf0\x9f\x98\x80");
    assert_int_equal(text->length, strlen(text->text));
    assert_int_equal(kcrt_json_get(root, "b")->kind, KCRT_JSON_REAL);
    assert_string_equal(kcrt_json_get(root, "b")->text, "1.50e3");
    assert_null(kcrt_json_get(root, "d"));
    assert_null(kcrt_json_get(list, "a"));
}

static void test_integers_are_exact(void **state) {
    (void)state;
    assert_true(parse("9007199254740993")->integer == 9007199254740993);
    assert_true(parse("9223372036854775807")->integer == INT64_MAX);
    assert_true(parse("-9223372036854775808")->integer == INT64_MIN);
    assert_int_equal(parse("-0")->integer, 0);
    assert_null(parse("9223372036854775808"));
    assert_string_equal(error, "the integer does not fit in 64 bits");
    assert_null(parse("-9223372036854775809"));
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *says;
    } table[] = {
        {"", 0, "ends where a value"},
        {"{\"a\":1,\"a\":2}", 13, "duplicate key"},
        {"{\"a\":1,}", 7, "key in double quotes"},
        {"[1,]", 3, "expected a value"},
        {"[1 2]", 3, "`,` or `]`"},
        {"{\"a\" 1}", 5, "expected `:`"},
        {"01", 1, "malformed number"},
        {"1.", 2, "malformed number"},
        {"1e", 2, "malformed number"},
        {"-", 1, "malformed number"},
        {"+1", 0, "expected a value"},
        {"nul", 0, "expected a value"},
        {"1 1", 2, "more text"},
        {"\"abc", 1, "no end"},
        {"\"a\\\"", 1, "no end"},
        {"\"\\x\"", 3, "unknown escape"},
        {"\"\\u12g4\"", 6, "four hexadecimal"},
        {"\"\\u0000\"", 7, "U+0000"},
        {"\"\\ud800\"", 7, "low one"},
        {"\"\\udc00\"", 7, "without a high"},
        {"\"\t\"", 1, "control character"},
        {"\"\xff\"", 1, "UTF-8"},
        {"\"\xc0\x80\"", 1, "UTF-8"},
        {"\"\xed\xa0\x80\"", 1, "UTF-8"},
        {"\"\xf4\x90\x80\x80\"", 1, "UTF-8"},
        {"NaN", 0, "expected a value"},
        {"/**/1", 0, "expected a value"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (parse(table[i].text)) fail_msg("accepted: %s", table[i].text);
        if (!strstr(error, table[i].says) || error_at != table[i].at)
            fail_msg("%s: says `%s` at %zu", table[i].text, error, error_at);
    }
    assert_null(parse_bytes("[1]\0", 4));
}

static void test_depth(void **state) {
    (void)state;
    char text[200];
    for (int depth = 64; depth <= 65; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = 0;
        assert_true((parse(text) != NULL) == (depth == 64));
    }
    char *deep = malloc(1000000);
    memset(deep, '[', 1000000);
    assert_null(parse_bytes(deep, 1000000)); // and the stack is still there
    free(deep);
}

static void test_many_keys(void **state) {
    (void)state;
    char *text = malloc(400000), *at = text;
    *at++ = '{';
    for (int i = 0; i < 20000; i++)
        at += sprintf(at, "%s\"k%d\":%d", i ? "," : "", i, i);
    strcpy(at, "}");
    assert_non_null(parse(text));
    strcpy(at, ",\"k77\":0}");
    assert_null(parse(text));
    assert_string_equal(error, "duplicate key in the object that ends here");
    free(text);
}

static void test_every_prefix(void **state) {
    (void)state;
    const char *text = "{\"a\":[1,-2.5e+3,\"\\u00e9\xc3\xa9\",{\"b\":null}],\"c\":true}";
    for (size_t n = 0; n < strlen(text); n++)
        assert_null(parse_bytes(text, n));
    assert_non_null(parse(text));
}

static void test_memory_limit(void **state) {
    (void)state;
    kcrt_arena small = {.limit = 1000};
    char text[1000];
    memset(text, '1', sizeof text);
    for (int i = 2; i < 999; i += 2)
        text[i] = ',';
    text[0] = '[';
    assert_null(kcrt_json_parse(&small, text, 999, &error, &error_at));
    assert_non_null(strstr(error, "memory"));
    kcrt_arena_release(&small);
}

static int release(void **state) {
    (void)state;
    kcrt_arena_release(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),       cmocka_unit_test(test_integers_are_exact),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_depth),
        cmocka_unit_test(test_many_keys),    cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
