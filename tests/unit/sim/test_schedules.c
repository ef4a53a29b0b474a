/* Schedules: the order in which blocks begin and take turns is the seed's alone. */
#include "tests/unit/sim/machine_test.h"

/* Block i (or the i-th to come, where tickets are taken) waits for the one before it, or behind it; thread 0 does. */
#define CHAIN(number, neighbour, last)                                                                 \
    PTX_KERNEL("setp.ne.u32 %p0, %r0, 0;\n@%p0 bra end;\n" number                                      \
               "mul.wide.u32 %d5, %r1, 4;\nadd.s64 %d5, %d1, %d5;\nsetp.eq.u32 %p1, %r1, " last ";\n"   \
               "@%p1 bra tell;\nwait: ld.acquire.gpu.global.u32 %r2, [%d5+" neighbour "];\n"            \
               "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra wait;\n"                                            \
               "tell: st.release.gpu.global.u32 [%d5], 1;\nend:")
#define BY_INDEX "mov.u32 %r1, %ctaid.x;\n"
#define BY_TICKET "atom.global.add.u32 %r1, [%d1+256], 1;\n"

/* On a card with room for two blocks of 1024 threads, or for all twelve. */
static kcsim_status run_chain(const char *ptx, uint64_t seed, int multiprocessors) {
    static const char zeros[1024];
    kcsim_options options = kcsim_options_default();
    options.seed = seed;
    options.multiprocessors = multiprocessors;
    machine_test test = machine_open(&options, "sm_80", ptx, sizeof zeros);
    machine_write(&test, test.in, zeros, sizeof zeros);
    kcsim_status status = machine_launch(&test, 12, 1024, 0);
    if (status != KCSIM_OK) assert_true(machine_found(&test, "deadlock", "polls memory"));
    machine_close(&test);
    return status;
}

static void test_order_of_blocks(void **state) {
    int stuck = 0;
    (void)state;
    assert_int_equal(run_chain(CHAIN(BY_INDEX, "-4", "0"), 0, 1), KCSIM_OK);
    assert_int_equal(run_chain(CHAIN(BY_INDEX, "4", "11"), 0, 1), KCSIM_FAULT);
    for (uint64_t seed = 0; seed < 16; seed++) {
        stuck += run_chain(CHAIN(BY_INDEX, "-4", "0"), seed, 1) != KCSIM_OK;
        assert_int_equal(run_chain(CHAIN(BY_TICKET, "-4", "0"), seed, 1), KCSIM_OK);
        assert_int_equal(run_chain(CHAIN(BY_INDEX, "-4", "0"), seed, 6), KCSIM_OK);
        assert_int_equal(run_chain(CHAIN(BY_INDEX, "4", "11"), seed, 6), KCSIM_OK);
    }
    assert_in_range(stuck, 4, 15);
}

/* Forty blocks, each warp of which adds to one sum and notes when it came. */
static void run_order(uint64_t seed, int threads, uint32_t order[320]) {
    static const char ptx[] = PTX_KERNEL(
        "mov.u32 %r1, %ctaid.x;\nshl.b32 %r2, %r1, 3;\nshr.u32 %r3, %r0, 5;\nadd.u32 %r2, %r2, %r3;\n"
        "and.b32 %r3, %r0, 31;\nsetp.ne.u32 %p0, %r3, 0;\n@%p0 bra end;\n"
        "atom.global.add.u32 %r4, [%d1], 1;\nmul.wide.u32 %d5, %r2, 4;\nadd.s64 %d5, %d0, %d5;\n"
        "st.global.u32 [%d5], %r4;\nend:");
    const uint32_t zero = 0;
    kcsim_options options = kcsim_options_default();
    options.seed = seed;
    options.host_threads = threads;
    machine_test test = machine_open(&options, "sm_90a", ptx, 2560);
    machine_write(&test, test.in, &zero, sizeof zero);
    assert_int_equal(machine_launch(&test, 40, 256, 0), KCSIM_OK);
    memcpy(order, kcsim_mem_host(test.machine, test.out, 1280), 1280);
    machine_close(&test);
}

static void test_same_seed(void **state) {
    uint32_t one[320], other[320], before[320] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        run_order(seed, 1, one);
        for (int threads = 2; threads <= 8; threads *= 2) {
            run_order(seed, threads, other);
            assert_memory_equal(one, other, sizeof one);
        }
        assert_memory_not_equal(one, before, sizeof one);
        memcpy(before, one, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_blocks),
        cmocka_unit_test(test_same_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
