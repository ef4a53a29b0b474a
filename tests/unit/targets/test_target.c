// Target text, JSON, canonical text and their errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "targets/target.h"

static kc_arena *arena;

static int setup(void **state) {
    (void)state;
    arena = kc_arena_create();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    kc_arena_destroy(arena);
    return 0;
}

static const kc_target *good(const char *text) {
    const char *error;
    const kc_target *target = kc_target_parse_one(arena, text, &error);
    if (!target) print_message("%s: %s\n", text, error);
    assert_non_null(target);
    assert_null(error);
    return target;
}

static void bad(const char *text, const char *part) {
    const char *error = NULL;
    const kc_target *targets;
    assert_int_equal(kc_target_parse(arena, text, &targets, &error), 0);
    assert_null(targets);
    assert_non_null(error);
    if (!strstr(error, part)) print_message("'%s' lacks '%s'\n", error, part);
    assert_non_null(strstr(error, part));
}

static void every_architecture(void **state) {
    (void)state;
    int count = 0;
    for (int k = 0; k < kc_target_kind_count(); k++) {
        const kc_target_kind *kind = kc_target_kind_at(k);
        const kc_target *family;
        const char *error;
        assert_int_equal(kc_target_parse(arena, kind->name, &family, &error), kind->n_archs);
        for (int i = 0; i < kind->n_archs; i++, count++) {
            const char *text = kc_arena_printf(arena, "%s:%s", kind->name, kind->archs[i].name);
            assert_string_equal(kc_target_canonical(arena, good(text)), text);
            assert_string_equal(kc_target_canonical(arena, &family[i]), text);
            for (int a = 0; a < KC_TARGET_ATTRIBUTE_COUNT; a++) {
                int64_t value = kc_target_get(&family[i], (kc_target_attribute)a);
                const kc_target_attribute_info *row = &kc_target_attribute_table[a];
                bool absent = a == KC_TARGET_ptx_version && value == 0;
                if (!absent && (value < row->min || value > row->max))
                    fail_msg("%s %s = %lld", text, row->name, (long long)value);
            }
            if (kind->archs[i].portable)
                assert_non_null(kc_target_arch_find(kind, kind->archs[i].portable,
                                                    strlen(kind->archs[i].portable)));
        }
    }
    assert_int_equal(count, 19);
}

static void attributes(void **state) {
    (void)state;
    const kc_target *t = good("cuda:sm_90a,max_shared_memory=101376");
    assert_int_equal(t->attributes.max_shared_memory, 101376);
    assert_int_equal(t->attributes.warp_size, 32);
    assert_int_equal(kc_target_get(t, KC_TARGET_max_num_threads), 1024);
    assert_string_equal(kc_target_canonical(arena, t), "cuda:sm_90a,max_shared_memory=101376");
    t = good("{\"kind\": \"cuda\", \"max_num_threads\": 512, \"arch\": \"sm_90a\"}");
    assert_string_equal(kc_target_canonical(arena, t), "cuda:sm_90a,max_num_threads=512");
    // A default given by hand leaves no trace; order in the text does not matter.
    assert_string_equal(kc_target_canonical(arena, good("hip:gfx942,warp_size=64")), "hip:gfx942");
    assert_string_equal(
        kc_target_canonical(arena, good("cuda:sm_80,clock=1000,max_num_threads=256")),
        "cuda:sm_80,max_num_threads=256,clock=1000");
    assert_int_equal(good("cuda:sm_75")->attributes.max_shared_memory, 65536);
    assert_int_equal(good("cuda:sm_86")->attributes.max_shared_memory, 101376);
    assert_int_equal(good("hip:gfx950")->attributes.max_shared_memory, 163840);
}

static void portable(void **state) {
    (void)state;
    const kc_target *t = kc_target_portable(arena, good("cuda:sm_90a,max_shared_memory=65536"));
    assert_string_equal(kc_target_canonical(arena, t), "cuda:sm_90,max_shared_memory=65536");
    assert_int_equal(t->attributes.ptx_version, 78);
    assert_null(kc_target_portable(arena, good("cuda:sm_80")));
}

static void errors(void **state) {
    (void)state;
    bad("", "unknown target kind ''; expected one of: cuda, hip");
    bad("metal", "expected one of: cuda, hip");
    bad("cuda:sm_70", "expected one of: sm_75, sm_80");
    bad("cuda:", "unknown cuda architecture ''");
    bad("hip:sm_80", "expected one of: gfx90a");
    bad("cuda:sm_80,", "expected ATTRIBUTE=VALUE");
    bad("cuda:sm_80,warp=32", "expected one of: warp_size, max_num_threads");
    bad("cuda:sm_80,warp_size=64", "warp_size of sm_80 is 32 and cannot be changed");
    bad("cuda:sm_80,max_shared_memory=200000", "must be between 1024 and 166912, seen 200000");
    bad("cuda:sm_80,max_shared_memory=lots", "needs an integer, seen 'lots'");
    bad("cuda:sm_80,max_shared_memory=", "needs an integer");
    bad("cuda:sm_80,clock=99999999999999999999999", "needs an integer");
    bad("cuda:sm_80,clock=1000,clock=1000", "given twice");
    bad("cuda:sm_100a,ptx_version=80", "must be between 86 and 90");
    bad("hip:gfx942,ptx_version=80", "cannot be changed");
    bad("{", "is not a JSON object");
    bad("{} x", "is not a JSON object");
    bad("{\"arch\": \"sm_80\"}", "needs \"kind\", one of: cuda, hip");
    bad("{\"kind\": 3}", "needs \"kind\"");
    bad("{\"kind\": \"cuda\", \"kind\": \"hip\"}", "given twice");
    bad("{\"kind\": \"cuda\", \"arch\": null}", "\"arch\" needs a string");
    bad("{\"kind\": \"cuda\", \"clock\": 1.5}", "needs an integer");
    bad("{\"kind\": \"cuda\", \"clock\": 1e300}", "needs an integer");
    bad("{\"kind\": \"cuda\", \"clock\": [[]]}", "needs an integer");
    bad("\xff\xfe", "unknown target kind '?"
                    "?'");
    char *big = malloc(100001);
    memset(big, '{', 100000);
    big[100000] = 0;
    bad(big, "bytes at most");
    free(big);
    const char *error;
    assert_null(kc_target_parse_one(arena, "cuda", &error));
    assert_non_null(strstr(error, "names a family; expected one architecture: sm_75"));
}

static void listing(void **state) {
    (void)state;
    for (int json = 0; json < 2; json++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        kc_target_list(out, json);
        fclose(out);
        assert_non_null(strstr(text, "cuda:sm_120a"));
        assert_non_null(strstr(text, "hip:gfx12-generic"));
        assert_non_null(strstr(text, "max_shared_memory"));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_architecture),
        cmocka_unit_test(attributes),
        cmocka_unit_test(portable),
        cmocka_unit_test(errors),
        cmocka_unit_test(listing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
