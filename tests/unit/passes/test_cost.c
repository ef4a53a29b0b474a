// The cost model: plans fit the machine, wishes are kept, and what it says of well-known cases.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "passes/cost.h"
#include "passes/integers.h"

static kc_arena *arena;

static int begin(void **state) {
    (void)state;
    arena = kc_arena_create();
    return 0;
}

static int end(void **state) {
    (void)state;
    kc_arena_destroy(arena);
    return 0;
}

static const kc_target *target(const char *text) {
    const char *error;
    const kc_target *t = kc_target_parse_one(arena, text, &error);
    if (!t) fail_msg("%s", error);
    return t;
}

static kc_cost_problem product(const kc_target *t, kc_dtype elem, int64_t m, int64_t n, int64_t k) {
    kc_cost_problem p = {.m = m, .n = n, .k = k, .batch = 1, .elem = elem, .result = KC_f32};
    if (elem == KC_f64) p.result = KC_f64;
    if (elem == KC_i8) p.result = KC_i32;
    p.cover[0] = power_of_two_at_least(m), p.cover[1] = power_of_two_at_least(n);
    p.cover[2] = power_of_two_at_least(k);
    p.vectors = true;
    p.direct = t->attributes.has_async_copy;
    kc_cost_choose_unit(t, &p, "ieee");
    return p;
}

static void check_fits(const kc_target *t, const kc_cost_problem *p, const kc_cost_plan *plan) {
    const kc_target_attributes *a = &t->attributes;
    int64_t threads = plan->choice.warps * a->warp_size;
    assert_true(threads <= a->max_num_threads);
    assert_true(plan->blocks * threads <= a->threads_per_multiprocessor);
    assert_true(plan->shared <= a->max_shared_memory);
    assert_true(plan->registers <= a->max_registers);
    assert_true(plan->registers * threads * plan->blocks <= a->registers_per_multiprocessor);
    assert_true(plan->blocks >= 1 && plan->seconds > 0);
    for (int i = 0; i < 3; i++)
        assert_true(plan->choice.tile[i] >= p->least[i]);
    assert_null(kc_cost_misfit(arena, t, p, &plan->choice));
}

static void test_plans_fit(void **state) {
    static const char *const targets[] = {"cuda:sm_75",   "cuda:sm_80", "cuda:sm_86", "cuda:sm_90a",
                                          "cuda:sm_120a", "hip:gfx942", "hip:gfx1100"};
    static const kc_dtype types[] = {KC_f64, KC_f32, KC_f16, KC_bf16, KC_i8, KC_f8e4m3};
    static const int64_t sizes[][3] = {{4096, 4096, 4096}, {1, 5, 3},      {16, 4096, 4096},
                                       {64, 64, 65536},    {100000, 8, 8}, {129, 127, 65}};
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (size_t e = 0; e < sizeof types / sizeof *types; e++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                const kc_target *t = target(targets[i]);
                kc_cost_problem p = product(t, types[e], sizes[s][0], sizes[s][1], sizes[s][2]);
                kc_cost_choice none = {0};
                kc_cost_plan plans[4];
                int n = kc_cost_rank(t, &p, &none, plans, 4);
                if (kc_cost_rate(t, p.unit, p.elem)) assert_true(n > 0);
                for (int k = 0; k < n; k++) {
                    check_fits(t, &p, &plans[k]);
                    if (k) assert_true(plans[k].score >= plans[k - 1].score);
                }
            }
}

static void test_wishes_are_kept(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_80");
    kc_cost_problem p = product(t, KC_f16, 1000, 1000, 1000);
    kc_cost_choice wish = {.tile = {64, 96, 32}, .stages = 3};
    kc_cost_plan plan;
    assert_int_equal(kc_cost_rank(t, &p, &wish, &plan, 1), 1);
    assert_memory_equal(plan.choice.tile, wish.tile, sizeof wish.tile);
    assert_int_equal(plan.choice.stages, 3);
    assert_true(plan.choice.warps > 0);
}

static void test_limits(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_80");
    kc_cost_problem p = product(t, KC_f16, 4096, 4096, 4096);
    kc_cost_choice none = {0}, many = {{128, 256, 64}, 8, 5};
    kc_cost_plan plan;
    assert_int_equal(kc_cost_rank(t, &p, &none, &plan, 1), 1);
    assert_int_equal(plan.limit, KC_COST_MATH);
    const char *reason = kc_cost_misfit(arena, t, &p, &many);
    assert_non_null(reason);
    assert_non_null(
        strstr(reason, "need 245760 bytes of shared memory, a block of sm_80 has 166912"));
}

static void test_parts(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_80");
    kc_cost_choice none = {0};
    kc_cost_problem large = product(t, KC_f16, 4096, 4096, 4096),
                    deep = product(t, KC_f16, 64, 64, 65536),
                    shallow = product(t, KC_f16, 64, 64, 64);
    assert_int_equal(kc_cost_parts(t, &large, &none), 1);
    assert_true(kc_cost_parts(t, &deep, &none) > 8);
    assert_int_equal(kc_cost_parts(t, &shallow, &none), 1);
}

static void test_units(void **state) {
    (void)state;
    const kc_target *t = target("cuda:sm_80");
    assert_int_equal(kc_cost_rate(t, "fma", KC_f32), 64);
    assert_int_equal(kc_cost_rate(t, "tensor", KC_bf16), 1024);
    assert_int_equal(kc_cost_rate(t, "tensor", KC_f8e4m3), 0);
    kc_cost_problem ieee = product(t, KC_f32, 64, 64, 64), half = product(t, KC_f16, 64, 64, 64);
    assert_string_equal(ieee.unit, "fma");
    assert_string_equal(half.unit, "tensor");
    assert_int_equal(half.least[0], 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_plans_fit, begin, end),
        cmocka_unit_test_setup_teardown(test_wishes_are_kept, begin, end),
        cmocka_unit_test_setup_teardown(test_limits, begin, end),
        cmocka_unit_test_setup_teardown(test_parts, begin, end),
        cmocka_unit_test_setup_teardown(test_units, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
