// Every op and operator of the language has goldens of the mistakes that can be made with it:
// tests/golden/frontend/ops (test_frontend_goldens compares their messages). A mistake is a
// statement that ends in a comment with its kind:
//
//     t1 = softmax(x, axis=2)   # axis
//
// missing, excess, unknown, twice: a parameter without value, one argument too many, a keyword that
// is none, one that is given twice; the messages show the signature. The name of a parameter: an
// argument of the wrong kind. type, rank, shape: what the op refuses, as its row of body_ops.def
// says. Operators have one function each, operator_ID or prefix_ID. Each mistake gives one error on
// its line, and nothing else is wrong.
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/frontend/body_ops.h"
#include "compiler/frontend/frontend.h"

#define FOLDER "tests/golden/frontend/ops"

typedef struct {
    char subject[32]; // an op, or the function of an operator
    char kind[32];
} mistake;

static mistake mistakes[4096];
static int n_mistakes, failures;

#define FAIL(...) (print_error(__VA_ARGS__), failures++)

static bool has(const char *subject, const char *kind) {
    for (int i = 0; i < n_mistakes; i++)
        if (!strcmp(mistakes[i].subject, subject) && !strcmp(mistakes[i].kind, kind)) return true;
    return false;
}

static void want(const char *subject, const char *kind) {
    if (!has(subject, kind))
        FAIL("no golden in " FOLDER " has a mistake of kind '%s' for %s\n", kind, subject);
}

// ---- reading the goldens

static char *read_file(const char *name, const char *extension) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s.%s", name, extension);
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length;
    FILE *copy = open_memstream(&text, &length);
    for (int c; file && (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(copy);
    if (file) fclose(file);
    return text;
}

// The error on a line, NULL when there is none or more than one; notes are free.
static const char *message_of(const char *name, const char *errors, int line) {
    char start[300];
    const char *found = NULL, *at = errors;
    snprintf(start, sizeof start, "%s.yaml:%d:", name, line);
    for (; (at = strstr(at, start)); at++) {
        if (!memmem(at, strcspn(at, "\n"), ": error: ", 9)) continue;
        if (found) return NULL;
        found = at;
    }
    return found;
}

static bool is_signature_kind(const char *kind) {
    return !strcmp(kind, "missing") || !strcmp(kind, "excess") || !strcmp(kind, "unknown") ||
           !strcmp(kind, "twice");
}

static void check_mistake(const char *name, const char *errors, int line, const mistake *m) {
    const char *message = message_of(name, errors, line);
    char call[64];
    snprintf(call, sizeof call, ": %s(", m->subject);
    if (!message) FAIL("%s.yaml:%d: a mistake wants one error on its line\n", name, line);
    else if (is_signature_kind(m->kind) &&
             !memmem(message, strcspn(message, "\n"), call, strlen(call)))
        FAIL("%s.yaml:%d: the message does not show the signature\n", name, line);
}

// `text` is one line; `function` the one that it stands in. True when it is a mistake.
static bool read_mistake(const char *text, const char *function, mistake *m) {
    const char *hash = strstr(text, "# "), *value = strstr(text, " = ");
    if (!hash || !value) return false;
    size_t n = strspn(value += 3, "abcdefghijklmnopqrstuvwxyz0123456789_");
    bool call = value[n] == '(' && !strncmp(function, "op_", 3);
    snprintf(m->subject, sizeof m->subject, "%.*s", (int)(call ? n : strlen(function)),
             call ? value : function);
    snprintf(m->kind, sizeof m->kind, "%s", hash + 2);
    return true;
}

static void read_golden(const char *name) {
    char *text = read_file(name, "yaml"), *errors = read_file(name, "err"), *state,
         function[32] = "";
    int line = 1, found = 0, seen = 0;
    for (char *at = strtok_r(text, "\n", &state); at; at = strtok_r(NULL, "\n", &state), line++) {
        if (!strncmp(at, "  ", 2) && at[2] != ' ') sscanf(at, " %31[a-z0-9_]", function);
        mistake *m = &mistakes[n_mistakes];
        if (!read_mistake(at, function, m)) continue;
        check_mistake(name, errors, line, m);
        assert_true(++n_mistakes < (int)(sizeof mistakes / sizeof *mistakes));
        found++;
    }
    for (const char *at = errors; (at = strstr(at, ": error: ")); at++)
        seen++;
    if (seen != found) FAIL("%s: %d mistakes, %d errors\n", name, found, seen);
    free(text);
    free(errors);
}

static int is_model(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".yaml");
}

static int read_goldens(void **state) {
    (void)state;
    struct dirent **entries;
    int n = scandir(FOLDER, &entries, is_model, alphasort);
    for (int i = 0; i < n; i++) {
        *strrchr(entries[i]->d_name, '.') = 0;
        read_golden(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return n <= 0;
}

static void test_goldens_hold_what_they_say(void **state) {
    (void)state;
    assert_int_equal(failures, 0);
}

// ---- coverage

static void want_refusals(const char *subject, int refuses) {
    if (refuses & KC_REFUSES_TYPE) want(subject, "type");
    if (refuses & KC_REFUSES_RANK) want(subject, "rank");
    if (refuses & KC_REFUSES_SHAPE) want(subject, "shape");
}

static void test_ops(void **state) {
    (void)state;
    failures = 0;
    for (int i = 0; i < kc_body_op_count; i++) {
        const kc_body_op *op = &kc_body_op_table[i];
        char text[256], *next;
        want(op->name, "missing");
        want(op->name, "excess");
        want(op->name, "unknown");
        want(op->name, "twice");
        want_refusals(op->name, op->refuses);
        snprintf(text, sizeof text, "%s", op->signature);
        for (char *one = strtok_r(text, ", ", &next); one; one = strtok_r(NULL, ", ", &next)) {
            one[strcspn(one, "=")] = 0;
            if (strcmp(one, "*") != 0) want(op->name, one);
        }
    }
    assert_int_equal(failures, 0);
}

static const struct {
    const char *function;
    bool prefix;
    int refuses;
} operators[] = {
#define OPERATOR(ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND)                                \
    {"operator_" #ID, false, REFUSES},
#define PREFIX(TOKEN, ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND)                           \
    {"prefix_" #TOKEN, true, REFUSES},
#include "compiler/frontend/body_ops.def"
};

static void test_operators(void **state) {
    (void)state;
    failures = 0;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char subject[32];
        snprintf(subject, sizeof subject, "%s", operators[i].function);
        for (char *c = subject; *c; c++)
            *c = (char)tolower(*c);
        want(subject, operators[i].prefix ? "x" : "a");
        if (!operators[i].prefix) want(subject, "b");
        want_refusals(subject, operators[i].refuses);
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens_hold_what_they_say),
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_operators),
    };
    return cmocka_run_group_tests(tests, read_goldens, NULL);
}
