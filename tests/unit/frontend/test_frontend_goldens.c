// Walks tests/golden/frontend and its folder ops (or $KC_GOLDENS): each NAME.yaml is loaded; its
// diagnostics must be NAME.err and its tensor IR NAME.out, to the byte; a file that is absent
// stands for an empty one. IR must also verify and read back as it was printed. UPDATE=1 rewrites
// the files. ONLY=NAME takes one.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/frontend/frontend.h"

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0;
    FILE *copy = open_memstream(&text, &length);
    for (int c; file && (c = fgetc(file)) != EOF;)
        fputc(c, copy);
    fclose(copy);
    if (file) fclose(file);
    if (size) *size = length;
    return text;
}

static void write_file(const char *path, const char *text) {
    if (!*text) {
        unlink(path);
        return;
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char *diagnostics(const kc_diag *diag) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    kc_diag_print(diag, out);
    fclose(out);
    return text;
}

static int compare(const char *path, const char *text) {
    if (getenv("UPDATE")) {
        write_file(path, text);
        return 0;
    }
    char *expected = read_file(path, NULL);
    int differs = strcmp(expected, text) != 0;
    if (differs) print_error("%s: expected\n%s\nseen\n%s\n", path, expected, text);
    free(expected);
    return differs;
}

// The verifier's opinion, and whether the text reads back.
static int check_module(const char *name, const kc_module *module, const char *text) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, name, NULL, 0);
    int bad = !kc_module_verify(module, KC_LEVEL_COMPOSITE, diag);
    kc_module *back = kc_module_parse(arena, text, strlen(text), diag);
    char *again = back ? kc_module_to_text(back, NULL) : NULL;
    if (!again || strcmp(text, again) != 0) bad = 1;
    if (bad) {
        char *why = diagnostics(diag);
        print_error("%s: the module does not verify or read back\n%s\n%s\n%s", name, why, text,
                    again ? again : "");
        free(why);
    }
    free(again);
    kc_arena_destroy(arena);
    return bad;
}

static int check_file(const char *folder, const char *name) {
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    char *text = read_file(path, &size);
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, kc_arena_printf(arena, "%s.yaml", name), text, size);
    kc_module *module = kc_frontend_load(arena, path, text, size, diag);
    char *errors = diagnostics(diag), *ir = module ? kc_module_to_text(module, NULL) : strdup("");
    int failures = module ? check_module(name, module, ir) : 0;
    snprintf(path, sizeof path, "%s/%s.err", folder, name);
    failures += compare(path, errors);
    snprintf(path, sizeof path, "%s/%s.out", folder, name);
    failures += compare(path, ir);
    if ((module == NULL) != (kc_diag_errors(diag) > 0)) {
        print_error("%s: %d errors but %s module\n", name, kc_diag_errors(diag),
                    module ? "a" : "no");
        failures++;
    }
    free(errors);
    free(ir);
    free(text);
    kc_arena_destroy(arena);
    return failures;
}

static int is_model(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".yaml");
}

static void check_folder(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, is_model, alphasort), failures = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        *strrchr(entries[i]->d_name, '.') = 0;
        const char *only = getenv("ONLY");
        if (!only || !strcmp(only, entries[i]->d_name))
            failures += check_file(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    assert_int_equal(failures, 0);
}

static void test_goldens(void **state) {
    (void)state;
    const char *given = getenv("KC_GOLDENS");
    check_folder(given ? given : "tests/golden/frontend");
}

static void test_mistakes(void **state) {
    (void)state;
    if (!getenv("KC_GOLDENS")) check_folder("tests/golden/frontend/ops");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goldens),
                                       cmocka_unit_test(test_mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
