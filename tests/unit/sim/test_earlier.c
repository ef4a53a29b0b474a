/* What the last few launches did to memory: bytes, strong accesses, chains of launches that did not wait, what was handed
 * over, and numbers of launches that come round. */
#include "tests/unit/sim/machine_test.h"

#include "runtime/sim/earlier.h"

#define LAST(earlier, number, after) kcsim_earlier_begin(earlier, number, "k", after, 0)

typedef struct setup {
    kcsim_memory memory;
    kcsim_earlier *earlier;
    uint64_t at; /* some address */
} setup;

static setup open_setup(void) {
    setup made;
    assert_true(kcsim_memory_create(&made.memory, 1 << 20));
    made.earlier = kcsim_earlier_create(&made.memory);
    assert_non_null(made.earlier);
    made.at = made.memory.base + 4096;
    return made;
}

static void close_setup(setup *of) {
    kcsim_earlier_destroy(of->earlier);
    kcsim_memory_destroy(&of->memory);
}

static void note(const setup *of, uint64_t offset, uint32_t size, bool writes, bool strong, uint32_t line) {
    kcsim_touch touch = {.address = of->at + offset, .size = size, .line = line, .writes = writes, .strong = strong};
    kcsim_earlier_note(of->earlier, &touch);
}

/* The line that is found, or 0. */
static uint32_t look(const setup *of, uint64_t offset, uint32_t size, bool writes, bool strong, bool waited, kcsim_trace *trace) {
    kcsim_touch touch = {.address = of->at + offset, .size = size, .writes = writes, .strong = strong};
    return kcsim_earlier_find(of->earlier, &touch, waited, trace) ? trace->line : 0;
}

static void bytes(void **state) {
    setup s = open_setup();
    kcsim_trace trace;
    (void)state;
    LAST(s.earlier, 1, 0);
    assert_false(kcsim_earlier_is_open(s.earlier));
    note(&s, 30, 5, true, false, 17); /* across two sectors */
    note(&s, 33, 1, true, false, 12);
    note(&s, 100, 4, false, false, 20);
    LAST(s.earlier, 2, 1);
    assert_true(kcsim_earlier_is_open(s.earlier));
    for (uint64_t i = 0; i < 64; i++) {
        uint32_t line = i < 30 || i > 34 ? 0 : i < 32 ? 17 : 12;
        assert_int_equal(look(&s, i, 1, false, false, false, &trace), line);
        assert_int_equal(look(&s, i, 1, true, false, false, &trace), line);
        assert_int_equal(look(&s, i, 1, true, false, true, &trace), 0);
    }
    assert_int_equal(look(&s, 0, 128, false, false, false, &trace), 17);
    assert_true(trace.wrote && !trace.behind);
    assert_int_equal(look(&s, 96, 8, false, false, false, &trace), 0);
    assert_int_equal(look(&s, 96, 8, true, false, false, &trace), 20);
    assert_false(trace.wrote);
    close_setup(&s);
}

static void strong(void **state) {
    setup s = open_setup();
    kcsim_trace trace;
    (void)state;
    LAST(s.earlier, 1, 0);
    note(&s, 0, 4, true, true, 5);
    note(&s, 64, 4, true, true, 6);
    note(&s, 64, 4, true, false, 7);
    LAST(s.earlier, 2, 1);
    assert_int_equal(look(&s, 0, 4, true, true, false, &trace), 0);
    assert_true(trace.heard);
    assert_int_equal(look(&s, 0, 4, false, false, false, &trace), 5);
    assert_false(trace.heard);
    assert_int_equal(look(&s, 64, 4, true, true, false, &trace), 6);
    close_setup(&s);
}

/* 1 <- 2 <- 3, and whether 2 waited. */
static void chains(void **state) {
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        setup s = open_setup();
        kcsim_trace trace;
        LAST(s.earlier, 1, 0);
        note(&s, 0, 4, true, false, 5);
        LAST(s.earlier, 2, 1);
        note(&s, 64, 4, true, false, 6);
        if (waits) kcsim_earlier_waited(s.earlier);
        LAST(s.earlier, 3, 2);
        assert_int_equal(look(&s, 0, 4, false, false, false, &trace), 5);
        assert_true(trace.behind);
        assert_int_equal(look(&s, 0, 4, false, false, true, &trace), waits ? 0 : 5);
        assert_int_equal(look(&s, 64, 4, false, false, true, &trace), 0);
        assert_int_equal(look(&s, 64, 4, false, false, false, &trace), 6);
        LAST(s.earlier, 4, 0);
        assert_false(kcsim_earlier_is_open(s.earlier));
        assert_int_equal(look(&s, 64, 4, false, false, false, &trace), 0);
        close_setup(&s);
    }
}

static void handed_over(void **state) {
    setup s = open_setup();
    kcsim_trace trace;
    const uint32_t times[2] = {3, 7};
    (void)state;
    kcsim_earlier_begin(s.earlier, 1, "k", 0, 8);
    for (uint32_t warp = 4; warp < 6; warp++)
        for (uint32_t time = 1; time < 10; time++) {
            kcsim_touch touch = {.address = s.at + 1024 * warp + 32 * time, .size = 4, .line = 9, .writes = true, .warp = warp, .time = time};
            kcsim_earlier_note(s.earlier, &touch);
        }
    kcsim_earlier_hand_over(s.earlier, 4, times, 2);
    LAST(s.earlier, 2, 1);
    for (uint32_t warp = 4; warp < 6; warp++)
        for (uint32_t time = 1; time < 10; time++)
            assert_int_equal(look(&s, 1024 * warp + 32 * time, 4, false, false, false, &trace), time <= times[warp - 4] ? 0 : 9);
    close_setup(&s);
}

/* Tags are numbers from 1 to 255, and there are three tables. */
static void many_launches(void **state) {
    setup s = open_setup();
    kcsim_trace trace;
    (void)state;
    for (uint64_t launch = 1; launch < 2000; launch++) {
        uint64_t places = launch % 97;
        LAST(s.earlier, launch, launch - 1);
        if (launch > 1) {
            uint64_t before = (launch - 1) % 97;
            assert_int_equal(look(&s, 32 * before, 4, false, false, false, &trace), launch - 1);
            assert_false(trace.behind);
            kcsim_earlier_waited(s.earlier);
        }
        for (uint64_t i = 0; i < 97; i++)
            assert_int_equal(look(&s, 32 * i, 4, true, false, true, &trace), 0);
        note(&s, 32 * places, 4, true, false, (uint32_t)launch);
    }
    close_setup(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),       cmocka_unit_test(strong),        cmocka_unit_test(chains),
        cmocka_unit_test(handed_over), cmocka_unit_test(many_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
