// The IR in the head comment of each pass is what the pass does: the text after "// before:" is parsed and run through it,
// and must print as the text after "// after:". UPDATE=1 rewrites the comments.
#include "passes/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *text = malloc(1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

// The indented block of comment lines that follows `mark`; begin and end are set to where it stands.
static char *block_after(const char *source, const char *mark, const char **begin, const char **end) {
    const char *at = strstr(source, mark);
    assert_non_null(at);
    at = strchr(at, '\n') + 1;
    char *out = malloc(strlen(at) + 1), *to = out;
    *begin = at;
    while (strncmp(at, "//   ", 5) == 0) {
        const char *next = strchr(at, '\n') + 1;
        memcpy(to, at + 5, (size_t)(next - at - 5));
        to += next - at - 5;
        at = next;
    }
    *to = 0;
    *end = at;
    return out;
}

static void rewrite(const char *path, const char *source, const char *begin, const char *end, const char *text) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(source, 1, (size_t)(begin - source), f);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        fprintf(f, "//   %.*s\n", (int)strcspn(line, "\n"), line);
    fputs(end, f);
    fclose(f);
}

static char *run_pass(const kc_pass *pass, const char *before) {
    kc_arena *arena = kc_arena_create();
    kc_diag *diag = kc_diag_create(arena, pass->name, before, strlen(before));
    kc_module *module = kc_module_parse(arena, before, strlen(before), diag);
    kc_diag_print(diag, stderr);
    assert_non_null(module);
    const char *error = NULL;
    const kc_target *target = module->target ? kc_target_parse_one(arena, module->target, &error) : NULL;
    const kc_pass *one[] = {pass, NULL};
    kc_pipeline_options options = {0};
    assert_true(kc_module_verify(module, pass->level_in, diag));
    assert_true(kc_pipeline_run(one, module, target, diag, &options));
    size_t size;
    char *text = kc_module_to_text(module, &size);
    kc_arena_destroy(arena);
    return text;
}

static void check(const char *path, const kc_pass *pass) {
    size_t size;
    const char *begin, *end;
    char *source = read_file(path, &size);
    char *before = block_after(source, "// before:", &begin, &end);
    char *after = block_after(source, "// after:", &begin, &end);
    char *got = run_pass(pass, before);
    if (getenv("UPDATE")) rewrite(path, source, begin, end, got);
    else assert_string_equal(got, after);
    free(got), free(after), free(before), free(source);
}

#define HEAD_COMMENT(pass, path) \
    static void head_comment_of_##pass(void **state) { \
        (void)state; \
        check(path, &kc_pass_##pass); \
    }
HEAD_COMMENT(decompose, "passes/decompose.c")
HEAD_COMMENT(variants, "passes/variants.c")
HEAD_COMMENT(simplify, "passes/simplify.c")
HEAD_COMMENT(split, "passes/split.c")
HEAD_COMMENT(fuse, "passes/fuse.c")
HEAD_COMMENT(plan, "passes/plan.c")
HEAD_COMMENT(tile, "passes/tile.c")
HEAD_COMMENT(layout, "passes/layout.c")
HEAD_COMMENT(pipeline, "passes/pipeline_loops.c")
HEAD_COMMENT(sync, "passes/sync.c")

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(head_comment_of_decompose), cmocka_unit_test(head_comment_of_variants),
        cmocka_unit_test(head_comment_of_simplify),  cmocka_unit_test(head_comment_of_split),
        cmocka_unit_test(head_comment_of_fuse),      cmocka_unit_test(head_comment_of_plan),
        cmocka_unit_test(head_comment_of_tile),      cmocka_unit_test(head_comment_of_layout),
        cmocka_unit_test(head_comment_of_pipeline),  cmocka_unit_test(head_comment_of_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
