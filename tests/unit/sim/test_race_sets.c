/* Sets of accesses: each once, sweeps keep what words have, and there is an end to their memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/sim/cuda/race_sets.h"

static void test_once(void **state) {
    kcsim_race_sets sets = {.most = 1 << 20};
    (void)state;
    kcsim_race_sets_reset(&sets);
    assert_int_equal(kcsim_race_sets_find(&sets, NULL, 0), 0);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            kcsim_accessed both[2] = {{.time = i / 100, .warp = (uint16_t)(i % 100), .bytes = 15},
                                      {.time = i, .warp = 200, .bytes = 3, .atomic = 1}};
            assert_int_equal(kcsim_race_sets_find(&sets, both, 1 + i % 2), i + 1);
        }
    kcsim_race_sets_destroy(&sets);
}

static void test_sweep(void **state) {
    kcsim_race_sets sets = {.most = 1 << 20};
    uint32_t ids[100] = {0};
    (void)state;
    kcsim_race_sets_reset(&sets);
    for (uint32_t i = 1; i <= 1000; i++) {
        kcsim_accessed one = {.time = i, .bytes = 15};
        uint32_t id = kcsim_race_sets_find(&sets, &one, 1);
        if (i % 10 == 0) ids[i / 10 - 1] = id;
    }
    ids[7] = ids[8];
    kcsim_race_sets_sweep(&sets, ids, 100);
    assert_int_equal(sets.count, 1 + 99);
    for (uint32_t i = 0; i < 100; i++) {
        const kcsim_race_set *set = &sets.sets[ids[i]];
        assert_int_equal(set->count, 1);
        assert_int_equal(sets.entries[set->first].time, i == 7 ? 90 : 10 * i + 10);
    }
    kcsim_accessed kept = {.time = 500, .bytes = 15}, gone = {.time = 501, .bytes = 15};
    assert_int_equal(kcsim_race_sets_find(&sets, &kept, 1), ids[49]);
    assert_int_equal(kcsim_race_sets_find(&sets, &gone, 1), 100);
    kcsim_race_sets_destroy(&sets);
}

/* Words that all differ: they are forgotten in the end, and the memory stays within its bound. */
static void test_bound(void **state) {
    kcsim_race_sets sets = {.most = 1 << 12};
    static uint32_t ids[4000];
    uint32_t forgotten = 0;
    (void)state;
    kcsim_race_sets_reset(&sets);
    for (uint32_t i = 0; i < 20000; i++) {
        kcsim_accessed one = {.time = i, .bytes = 15};
        if (kcsim_race_sets_full(&sets)) {
            kcsim_race_sets_sweep(&sets, ids, 4000);
            forgotten += ids[(i - 1) % 4000] == 0;
        }
        ids[i % 4000] = kcsim_race_sets_find(&sets, &one, 1);
        assert_true(sets.count + sets.entry_count <= (1 << 12) + 2);
    }
    assert_true(forgotten > 0);
    assert_true(sets.capacity <= 1 << 12 && sets.entry_capacity <= 1 << 12);
    kcsim_race_sets_destroy(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_once), cmocka_unit_test(test_sweep), cmocka_unit_test(test_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
