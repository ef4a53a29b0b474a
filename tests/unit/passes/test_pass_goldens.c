// Goldens of passes: tests/golden/passes/NAME.in starts with "// passes: a,b"; NAME.out is the module after them, or, when
// they fail, NAME.err the diagnostics. A second line "// fusion: off" is that option. UPDATE=1 rewrites; ONLY=NAME runs one.
#include "passes/pass.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define FOLDER "tests/golden/passes/"

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 20);
    size_t size = fread(text, 1, (1 << 20) - 1, f);
    text[size] = 0;
    fclose(f);
    return text;
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static char *diagnostics(const kc_diag *diag) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    kc_diag_print(diag, f);
    fclose(f);
    return text;
}

// The module's text after the passes, or the diagnostics; *failed says which.
static char *run_case(const char *name, const char *text, bool *failed) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, name, text, strlen(text));
    kc_module *module = kc_module_parse(arena, text, strlen(text), diag);
    size_t size;
    char *out = NULL;
    *failed = true;
    if (module) {
        const char *list = text + strlen("// passes: "), *error = NULL;
        const kc_pass **passes = kc_pipeline_parse(arena, kc_arena_strndup(arena, list, strcspn(list, "\n")), diag);
        const kc_target *target = module->target ? kc_target_parse_one(arena, module->target, &error) : NULL;
        kc_pipeline_options options = {.no_fusion = strstr(text, "\n// fusion: off\n") != NULL};
        if (passes && kc_pipeline_run(passes, module, target, diag, &options)) {
            *failed = false;
            out = kc_module_to_text(module, &size);
        }
    }
    if (!out) out = diagnostics(diag);
    kc_arena_destroy(arena);
    return out;
}

static bool check_case(const char *name) {
    char path[512], expected_path[512];
    snprintf(path, sizeof path, FOLDER "%s", name);
    char *text = read_text(path);
    bool failed;
    char *got = run_case(name, text, &failed);
    snprintf(expected_path, sizeof expected_path, FOLDER "%.*s%s", (int)(strlen(name) - 3), name, failed ? ".err" : ".out");
    char *expected = read_text(expected_path);
    bool same = expected && strcmp(expected, got) == 0;
    if (!same && getenv("UPDATE")) write_text(expected_path, got), same = true;
    if (!same) print_error("%s differs from %s; it is now:\n%s", name, expected_path, got);
    free(expected), free(got), free(text);
    return same;
}

static void goldens_of_passes(void **state) {
    (void)state;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    const char *only = getenv("ONLY");
    int cases = 0, bad = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 3, ".in") != 0 || (only && !strstr(e->d_name, only))) continue;
        cases++;
        bad += !check_case(e->d_name);
    }
    closedir(folder);
    assert_true(cases > 0);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(goldens_of_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
