/* Schedules: the order in which blocks begin and take turns, where lanes part, and which stores are late, is the seed's alone. */
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

/* Lanes that were parted meet again wherever all of them have to be, in loops too; volatile accesses before each such place
 * part them. */
#define PART "st.volatile.shared.u32 [%r3], %r0;\nld.volatile.shared.u32 %r4, [%r3];\n"
#define TOGETHER                                                                                       \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[4096];\n"             \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS                           \
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" \
    "mad.lo.u32 %r2, %r2, 64, %r0;\nmul.wide.u32 %d4, %r2, 4;\nadd.s64 %d2, %d0, %d4;\n"              \
    "shl.b32 %r3, %r0, 2;\nmov.u32 %r1, tile;\nadd.u32 %r3, %r3, %r1;\nmov.u32 %r20, 0;\n"           \
    "mov.u32 %r21, 3;\nsetp.lt.u32 %p1, %r0, 32;\nsetp.ge.u32 %p2, %r0, 8;\n"                        \
    "and.b32 %r22, %r0, 31;\nsetp.lt.u32 %p4, %r22, 20;\n"                                           \
    "again:\n" PART "shfl.sync.idx.b32 %r5, %r4, 7, 31, -1;\nadd.u32 %r20, %r20, %r5;\n"             \
    PART "@%p4 shfl.sync.idx.b32 %r5, %r4, 2, 31, 0xfffff;\nadd.u32 %r20, %r20, %r5;\n"              \
    PART "vote.sync.ballot.b32 %r5, %p2, -1;\nadd.u32 %r20, %r20, %r5;\n"                            \
    PART "redux.sync.add.u32 %r5, %r4, -1;\nadd.u32 %r20, %r20, %r5;\n"                              \
    PART "elect.sync %r5|%p5, -1;\n@%p5 add.u32 %r20, %r20, 1;\n"                                    \
    PART "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [tile];\nadd.u32 %r20, %r20, %r5;\n" \
    "bar.sync 0;\n" PART "@%p1 bar.arrive 1, 64;\n@!%p1 bar.sync 1, 64;\n"                           \
    PART "bar.red.popc.u32 %r5, 0, %p4;\nadd.u32 %r20, %r20, %r5;\n"                                 \
    PART "barrier.cluster.arrive.aligned;\n" PART "barrier.cluster.wait.aligned;\n"                  \
    "sub.u32 %r21, %r21, 1;\nsetp.ne.u32 %p3, %r21, 0;\n" PART "@%p3 bra again;\n"                   \
    "st.global.u32 [%d2], %r20;\nret;\n}\n"

static void run_together(uint64_t seed, uint32_t out[128], char **counters) {
    kcsim_options options = kcsim_options_default();
    options.seed = seed;
    machine_test test = machine_open(&options, "sm_90a", TOGETHER, 512);
    kcsim_status status = machine_launch_clusters(&test, 2, 64, 2);
    if (status != KCSIM_OK) print_error("seed %d: %s\n", (int)seed, kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    assert_int_equal(kcsim_finding_count(test.machine), 0);
    assert_int_equal(machine_counter(&test, "barriers"), 30);
    memcpy(out, kcsim_mem_host(test.machine, test.out, 512), 512);
    *counters = kcsim_counters_json(test.machine);
    machine_close(&test);
}

/* Executions of the line with this instruction, in both warps of both blocks. */
static long executions(const char *counters, const char *instruction) {
    const char *at = strstr(counters, instruction);
    assert_non_null(at);
    at = strstr(at, "\"executions\": ");
    assert_non_null(at);
    return strtol(at + strlen("\"executions\": "), NULL, 10);
}

static void test_lanes_meet(void **state) {
    uint32_t right[128], out[128];
    int parted = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 32; seed++) {
        char *counters;
        run_together(seed, out, &counters);
        if (seed == 0) memcpy(right, out, sizeof out);
        assert_memory_equal(out, right, sizeof out);
        /* What all lanes do together is counted once, also where they come to it apart. */
        assert_int_equal(executions(counters, "ldmatrix"), 12);
        assert_int_equal(executions(counters, "redux"), 12);
        assert_int_equal(executions(counters, "barrier.cluster.wait"), 12);
        long stores = executions(counters, "st.volatile");
        if (seed == 0) assert_int_equal(stores, 12);
        parted += stores > 12;
        free(counters);
    }
    assert_in_range(parted, 20, 31);
}

/* Lanes that poll in vain are found, parted or not; and lanes that wait for others of their warp, which have to meet
 * without them first, let these go on. */
static void test_lanes_wait(void **state) {
    (void)state;
    machine_expect(PTX_KERNEL(".shared .align 4 .b32 flag;\n@%p0 bra wait;\nst.volatile.shared.u32 [flag], 0;\n"
                              "wait: ld.volatile.shared.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra wait;"),
                   2, 64, 0, "deadlock", "polls memory");
    machine_expect(PTX_KERNEL(".shared .align 4 .b32 flag;\nst.volatile.shared.u32 [flag], 0;\nbar.sync 0;\n"
                              "and.b32 %r2, %r0, 31;\nsetp.lt.u32 %p0, %r2, 16;\n@%p0 bra wait;\n"
                              "ld.volatile.shared.u32 %r1, [flag];\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, 0xffff0000;\n"
                              "st.volatile.shared.u32 [flag], 1;\nbra end;\n"
                              "wait: ld.volatile.shared.u32 %r1, [flag];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra wait;\nend:"),
                   2, 64, 0, NULL, NULL);
}

/* One block counts up to 60 in a word; eight warps of another look at it, by relaxed loads and by atomics in turn. Nobody goes
 * back, atomics see the newest, and who waits for the end sees it. */
#define COUNT_UP(type, reg, bits, move)                                                                   \
    PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nsetp.ne.u32 %p0, %r7, 0;\nmov.u32 %r10, 0;\nmov.u32 %r20, 0;\n" \
               "mov.u32 %r21, 0;\n@%p0 bra look;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra end;\n"           \
               "count: add.u32 %r10, %r10, 1;\n" move ";\nst.relaxed.gpu.global." type " [%d1], " reg ";\n" \
               "setp.lt.u32 %p1, %r10, 60;\n@%p1 bra count;\nbra end;\n"                              \
               "look: ld.relaxed.gpu.global." type " " reg ", [%d1];\ncvt.u32." type " %r11, " reg ";\n" \
               "setp.lt.u32 %p2, %r11, %r10;\n@%p2 add.u32 %r20, %r20, 1;\nmax.u32 %r10, %r10, %r11;\n" \
               "add.u32 %r21, %r21, 1;\nand.b32 %r12, %r21, 3;\nsetp.ne.u32 %p3, %r12, 0;\n@%p3 bra more;\n" \
               "atom.relaxed.gpu.global.or.b" bits " " reg ", [%d1], 0;\ncvt.u32." type " %r11, " reg ";\n" \
               "setp.lt.u32 %p2, %r11, %r10;\n@%p2 add.u32 %r20, %r20, 1;\nmax.u32 %r10, %r10, %r11;\n" \
               "more: setp.lt.u32 %p1, %r10, 60;\n@%p1 bra look;\n"                                     \
               "st.global.u32 [%d2], %r20;\nst.global.u32 [%d2+4], %r10;\nend:")

static void test_nobody_goes_back(void **state) {
    static const char *const kernels[] = {COUNT_UP("u32", "%r9", "32", "mov.u32 %r9, %r10"),
                                          COUNT_UP("u64", "%d9", "64", "cvt.u64.u32 %d9, %r10")};
    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed;
        machine_test test = machine_open(&options, "sm_80", kernels[seed % 2], 2048);
        const uint64_t zero = 0;
        machine_write(&test, test.in, &zero, sizeof zero);
        assert_int_equal(machine_launch(&test, 2, 256, 0), KCSIM_OK);
        const uint32_t *out = kcsim_mem_host(test.machine, test.out, 2048);
        for (int i = 0; i < 256; i++) assert_int_equal(out[2 * i], 0);
        for (int i = 0; i < 256; i++) assert_int_equal(out[2 * i + 1], 60);
        machine_close(&test);
    }
}

/* The first block looks at a word together, at a barrier. The other goes through barriers for long and changes nothing, then
 * ends that wait, or does not. */
#define LOOK_TOGETHER(end)                                                                                 \
    PTX_KERNEL("setp.ne.u32 %p0, %r0, 0;\nmov.u32 %r7, %ctaid.x;\nsetp.ne.u32 %p1, %r7, 0;\nmov.u32 %r1, 0;\n" \
               "mov.u32 %r2, 9000;\n@%p1 bra work;\n"                                                      \
               "look: @!%p0 ld.acquire.gpu.global.u32 %r1, [%d1];\nsetp.ne.u32 %p2, %r1, 0;\n"             \
               "barrier.red.or.pred %p3, 0, %p2;\n@!%p3 bra look;\nbra end;\n"                             \
               "work: sub.u32 %r2, %r2, 1;\nbar.sync 0;\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra work;\n" end "end:")

static void test_blocks_look_together(void **state) {
    (void)state;
    machine_expect(LOOK_TOGETHER("@!%p0 st.release.gpu.global.u32 [%d1], 1;\n"), 2, 64, 0, NULL, NULL);
    machine_expect(LOOK_TOGETHER("@!%p0 st.release.gpu.global.u32 [%d1], 1;\n"), 2, 96, 2, NULL, NULL);
    machine_expect(LOOK_TOGETHER(""), 2, 64, 0, "deadlock", "polls memory");
    machine_expect(LOOK_TOGETHER(""), 2, 96, 2, "deadlock", "polls memory");
}

/* Four blocks, two a cluster, meet six times by a counter at which their first threads look: what one cluster adds sets the
 * other free, whichever of its blocks was found polling, and how often. */
static void test_clusters_meet(void **state) {
    static const char ptx[] = PTX_KERNEL_FOR(
        "sm_90a", "setp.ne.u32 %p0, %r0, 0;\nmov.u32 %r1, 0;\n"
        "again: add.u32 %r1, %r1, 4;\nbar.sync 0;\n@%p0 bra met;\natom.add.release.gpu.global.u32 %r2, [%d1], 1;\n"
        "wait: ld.acquire.gpu.global.u32 %r3, [%d1];\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra wait;\n"
        "met: bar.sync 0;\nsetp.lt.u32 %p2, %r1, 24;\n@%p2 bra again;");
    const uint32_t zero = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed;
        machine_test test = machine_open(&options, "sm_90a", ptx, 512);
        machine_write(&test, test.in, &zero, sizeof zero);
        assert_int_equal(machine_launch_clusters(&test, 4, 32, 2), KCSIM_OK);
        assert_int_equal(kcsim_finding_count(test.machine), 0);
        machine_close(&test);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_blocks),
        cmocka_unit_test(test_same_seed),
        cmocka_unit_test(test_lanes_meet),
        cmocka_unit_test(test_lanes_wait),
        cmocka_unit_test(test_nobody_goes_back),
        cmocka_unit_test(test_blocks_look_together),
        cmocka_unit_test(test_clusters_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
