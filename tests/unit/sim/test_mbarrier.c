/* mbarriers: what each instruction does, what is wrong use, who is ordered by them, who waits for ever. */
#include "tests/unit/sim/machine_test.h"

#define BARS ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n.shared .align 16 .b8 data[1024];\n"
/* A kernel like PTX_KERNEL with barriers and data in shared memory. */
#define KERNEL(body)                                                                               \
    PTX_HEADER BARS ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS        \
                    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\n"    \
                    "mul.wide.u32 %d4, %r0, 8;\nadd.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\n"  \
                    "shl.b32 %r1, %r0, 2;\nsetp.ne.b32 %p1, %r0, 0;\n" body "\nret;\n}\n"
/* One thread's results: `at` is an offset into out. */
#define ONE(body) KERNEL("@%p1 bra end;\n" body "\nend:")
#define PUT_P(at, predicate) "selp.b64 %d9, 1, 0, " predicate ";\nst.global.b64 [%d0+" #at "], %d9;\n"
#define PUT_R(at, reg) "cvt.u64.u32 %d9, " reg ";\nst.global.b64 [%d0+" #at "], %d9;\n"
#define INIT(bar, count) "@!%p1 mbarrier.init.shared::cta.b64 [" bar "], " #count ";\n"
#define SPIN(label, form, bar, what)                                                               \
    label ":\nmbarrier." form ".b64 %p5, [" bar "], " what ";\n@!%p5 bra " label ";\n"

static void one(const char *ptx, const uint64_t *wanted, size_t count) {
    uint64_t in[32] = {0}, out[32];
    machine_lanes(ptx, "sm_90a", in, out);
    for (size_t i = 0; i < count; i++) assert_int_equal(out[i], wanted[i]);
}

static void test_phases(void **state) {
    (void)state;
    one(ONE("mbarrier.init.shared.b64 [bar], 2;\n"
            "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 1;\n" PUT_P(0, "%p2")
            "mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;\n" PUT_P(8, "%p2")
            "mbarrier.arrive.shared::cta.b64 %d5, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d5;\n" PUT_P(16, "%p2")
            "mbarrier.arrive.release.cta.shared::cta.b64 %d6, [bar];\n"
            "mbarrier.test_wait.acquire.cta.shared.b64 %p2, [bar], %d5;\n" PUT_P(24, "%p2")
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(32, "%p2")
            "mbarrier.pending_count.b64 %r5, %d5;\n" PUT_R(40, "%r5")
            "mbarrier.pending_count.b64 %r5, %d6;\n" PUT_R(48, "%r5")
            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n" PUT_P(56, "%p2")
            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;\n" PUT_P(64, "%p2")),
        (uint64_t[]){1, 0, 0, 1, 1, 2, 1, 1, 0}, 9);
}

static void test_bytes(void **state) {
    (void)state;
    one(ONE("mbarrier.init.shared.b64 [bar], 1;\n"
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n"
            "mbarrier.arrive.expect_tx.shared.b64 %d5, [bar], 32;\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d5;\n" PUT_P(0, "%p2")
            "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 40;\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d5;\n" PUT_P(8, "%p2")
            "mbarrier.complete_tx.shared.b64 [bar], 8;\n"
            "mbarrier.try_wait.shared.b64 %p2, [bar], %d5, 1000;\n@!%p2 mbarrier.test_wait.shared.b64 %p2, [bar], %d5;\n" PUT_P(16, "%p2")
            /* bytes may come before they are expected */
            "mbarrier.complete_tx.shared.b64 [bar], 8;\nmbarrier.arrive.shared.b64 %d6, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(24, "%p2")
            "mbarrier.expect_tx.shared.b64 [bar], 9;\nmbarrier.complete_tx.shared.b64 [bar], 1;\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(32, "%p2")),
        (uint64_t[]){0, 0, 1, 0, 1}, 5);
}

static void test_counts(void **state) {
    (void)state;
    one(ONE("mbarrier.init.shared.b64 [bar], 6;\ncvta.shared.u64 %d10, bar;\n" /* generic addresses too */
            "mbarrier.arrive.noComplete.shared.b64 %d5, [bar], 2;\n"
            "mbarrier.arrive.b64 %d5, [%d10], 1;\nmbarrier.pending_count.b64 %r5, %d5;\n" PUT_R(0, "%r5")
            "mbarrier.arrive_drop.shared.b64 %d5, [bar], 3;\n"
            "mbarrier.test_wait.b64 %p2, [%d10], %d5;\n" PUT_P(8, "%p2")
            "mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d5, [bar], 1;\nmbarrier.pending_count.b64 %r5, %d5;\n" PUT_R(16, "%r5")
            "mbarrier.arrive_drop.expect_tx.shared.b64 _, [bar], 4;\nmbarrier.arrive.shared.b64 %d6, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(24, "%p2")
            "mbarrier.complete_tx.shared.b64 [bar], 4;\nmbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(32, "%p2")
            "mbarrier.arrive.shared.b64 %d6, [bar];\nmbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(40, "%p2")
            "mbarrier.inval.shared.b64 [bar];\nst.shared.b64 [bar], %d0;\nmbarrier.init.shared.b64 [bar], 1048575;\n"
            "mbarrier.arrive.shared.b64 %d6, [bar], 1048574;\nmbarrier.arrive.shared.b64 %d6, [bar];\n"
            "mbarrier.test_wait.shared.b64 %p2, [bar], %d6;\n" PUT_P(48, "%p2")),
        (uint64_t[]){4, 1, 3, 0, 1, 1, 1}, 7);
}

static void refused(const char *body, const char *text) {
    machine_expect(body, 1, 32, 0, "mbarrier", text);
}

static void test_misuse(void **state) {
    (void)state;
    refused(ONE("mbarrier.arrive.shared.b64 %d5, [bar];"), "no mbarrier was initialised");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.inval.shared.b64 [bar];\nmbarrier.arrive.shared.b64 %d5, [bar];"),
            "or it was invalidated");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.init.shared.b64 [bar], 1;"), "live mbarrier");
    refused(ONE("mbarrier.init.shared.b64 [data+4], 1;"), "multiple of 8");
    refused(ONE("mbarrier.init.shared.b64 [bar], 0;"), "1 to 1048575");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1048576;"), "1 to 1048575");
    refused(ONE("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 %d5, [bar], 3;"), "more arrivals");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.expect_tx.shared.b64 [bar], 1048575;\nmbarrier.expect_tx.shared.b64 [bar], 1;"),
            "tx-count goes up");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.complete_tx.shared.b64 [bar], 1048575;\nmbarrier.complete_tx.shared.b64 [bar], 1;"),
            "tx-count goes down");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.noComplete.shared.b64 %d5, [bar], 1;"), "noComplete");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.shared.b64 %d5, [bar];\nmbarrier.arrive.shared.b64 %d6, [bar];\n"
                "mbarrier.test_wait.shared.b64 %p2, [bar], %d5;"),
            "the state is not of this phase");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.test_wait.parity.shared.b64 %p2, [bar], 2;"), "parity is 0 or 1");
    refused(ONE("mbarrier.init.shared.b64 [bar], 1;\nst.shared.b32 [bar+4], 1;"), "writes over a live mbarrier");
    refused(ONE("cvta.shared.u64 %d10, bar;\nmbarrier.init.b64 [%d0], 1;"), "lies in shared memory");
    machine_expect(ONE("mbarrier.init.shared.b64 [bar+65536], 1;"), 1, 32, 0, "out_of_bounds", NULL);
    machine_expect(ONE("mbarrier.init.shared.b64 [bar], %r9;"), 1, 32, 0, "uninitialized", "count was never written");
}

/* Every thread writes, arrives, waits, reads its neighbour's. */
#define NEIGHBOURS(count, sync, arrive, wait)                                                      \
    KERNEL(INIT("bar", count) sync "mov.b32 %r2, data;\nadd.u32 %r2, %r2, %r1;\nst.shared.b32 [%r2], %r0;\n" arrive wait \
           "xor.b32 %r3, %r1, 128;\nmov.b32 %r4, data;\nadd.u32 %r4, %r4, %r3;\nld.shared.b32 %r5, [%r4];\n" \
           "st.global.v2.b32 [%d2], {%r5, %r5};")
#define ARRIVE "mbarrier.arrive.shared.b64 %d5, [bar];\n"

static void test_order(void **state) {
    (void)state;
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n", ARRIVE, SPIN("w", "try_wait.shared", "bar", "%d5")), 1, 64, 0, NULL, NULL);
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n", ARRIVE, SPIN("w", "test_wait.shared", "bar", "%d5")), 1, 64, 0, NULL, NULL);
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n", ARRIVE, SPIN("w", "try_wait.parity.acquire.cta.shared::cta", "bar", "0")), 1, 64, 0, NULL, NULL);
    /* not waiting, waiting for the wrong phase, arriving before the store: the neighbour's value may not be there */
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n", ARRIVE, ""), 1, 64, 0, "race", "no barrier");
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n", ARRIVE, SPIN("w", "try_wait.parity.shared", "bar", "1")), 1, 64, 0, "race", NULL);
    machine_expect(NEIGHBOURS(64, "bar.sync 0;\n" ARRIVE, "", SPIN("w", "try_wait.shared", "bar", "%d5")), 1, 64, 0, "race", NULL);
    /* an initialisation that nothing orders before its use */
    machine_expect(NEIGHBOURS(64, "", "bar.sync 0;\n" ARRIVE, SPIN("w", "try_wait.shared", "bar", "%d5")), 1, 64, 0, NULL, NULL);
    machine_expect(KERNEL(INIT("bar", 64) "mbarrier.arrive.shared.b64 %d5, [bar];"), 1, 64, 0, "race", NULL);
    /* relaxed arrivals and waits order by fences, and not without */
#define RELAXED(before, after)                                                                     \
    NEIGHBOURS(64, "bar.sync 0;\n", before "mbarrier.arrive.relaxed.cta.shared::cta.b64 %d5, [bar];\n", \
               SPIN("w", "test_wait.relaxed.cta.shared::cta", "bar", "%d5") after)
    machine_expect(RELAXED("fence.acq_rel.cta;\n", "fence.acq_rel.cta;\n"), 1, 64, 0, NULL, NULL);
    machine_expect(RELAXED("", "fence.acq_rel.cta;\n"), 1, 64, 0, "race", NULL);
    machine_expect(RELAXED("fence.acq_rel.cta;\n", ""), 1, 64, 0, "race", NULL);
}

/* Warp 0 fills, warp 1 empties, in four rounds over one buffer: out[round] = what warp 1's lane 0 read. */
#define PIPELINE(first_empty, produce_wait, consume_arrive, full_parity)                           \
    KERNEL(INIT("full", 32) INIT("empty", 32) "bar.sync 0;\nmov.b32 %r10, 0;\nmov.b32 %r11, 0;\n"  \
           "and.b32 %r12, %r1, 127;\nmov.b32 %r13, data;\nadd.u32 %r13, %r13, %r12;\n"             \
           "setp.ge.u32 %p3, %r0, 32;\n@%p3 bra consumer;\nxor.b32 %r14, %r11, " first_empty ";\n" \
           "producer:\n" produce_wait                                                              \
           "add.u32 %r15, %r10, 100;\nst.shared.b32 [%r13], %r15;\nmbarrier.arrive.shared.b64 _, [full];\n" \
           "xor.b32 %r14, %r14, 1;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, 4;\n@%p4 bra producer;\nbra end;\n" \
           "consumer:\nand.b32 %r16, %r10, 1;\n" full_parity                                       \
           SPIN("c", "try_wait.parity.shared", "full", "%r16")                                     \
           "ld.shared.b32 %r15, [%r13];\n" consume_arrive                                          \
           "mul.wide.u32 %d8, %r10, 8;\nadd.u64 %d8, %d8, %d0;\nsetp.eq.u32 %p6, %r0, 32;\ncvt.u64.u32 %d9, %r15;\n" \
           "@%p6 st.global.b64 [%d8], %d9;\nadd.u32 %r10, %r10, 1;\nsetp.lt.u32 %p4, %r10, 4;\n@%p4 bra consumer;\nend:\n")
#define EMPTY_WAIT SPIN("p", "try_wait.parity.shared", "empty", "%r14")
#define EMPTY_ARRIVE "mbarrier.arrive.shared.b64 _, [empty];\n"

static void test_pipeline(void **state) {
    (void)state;
    machine_expect(PIPELINE("1", EMPTY_WAIT, EMPTY_ARRIVE, ""), 1, 64, 0, NULL, NULL);
    for (uint64_t seed = 0; seed < 4; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed;
        machine_test test = machine_open(&options, "sm_90a", PIPELINE("1", EMPTY_WAIT, EMPTY_ARRIVE, ""), 4096);
        assert_int_equal(machine_launch(&test, 1, 64, 0), KCSIM_OK);
        const uint64_t *out = kcsim_mem_host(test.machine, test.out, 32);
        for (uint64_t i = 0; i < 4; i++) assert_int_equal(out[i], 100 + i);
        machine_close(&test);
    }
    /* the producer does not wait (a race, or phases that the consumer misses); the consumer never frees; parities that are wrong on either
     * side: what goes wrong with the consumer's depends on who is first */
    machine_expect(PIPELINE("1", "", EMPTY_ARRIVE, ""), 1, 64, 0, "", NULL);
    machine_expect(PIPELINE("1", EMPTY_WAIT, "", ""), 1, 64, 0, "deadlock", "in phase 0 wants 32 of 32 arrivals");
    machine_expect(PIPELINE("0", EMPTY_WAIT, EMPTY_ARRIVE, ""), 1, 64, 0, "deadlock", "waiting for it: warps 0");
    machine_expect(PIPELINE("1", EMPTY_WAIT, EMPTY_ARRIVE, "xor.b32 %r16, %r16, 1;\n"), 1, 64, 0, "", NULL);
}

/* Bytes that never come: who waits for what. */
static void test_deadlock(void **state) {
    (void)state;
#define EXPECTING(bytes, come)                                                                     \
    KERNEL(INIT("bar", 1) "bar.sync 0;\n@!%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " #bytes ";\n" \
           "@!%p1 mbarrier.complete_tx.shared.b64 [bar], " #come ";\n" SPIN("w", "try_wait.parity.shared", "bar", "0"))
    machine_expect(EXPECTING(512, 512), 1, 64, 0, NULL, NULL);
    machine_expect(EXPECTING(512, 384), 1, 64, 0, "deadlock",
                   "mbarrier 0x0 in phase 0 wants 0 of 1 arrivals and 128 bytes; waiting for it: warps 0 1");
    machine_expect(KERNEL(INIT("bar", 65) "bar.sync 0;\nmbarrier.arrive.shared.b64 %d5, [bar];\n" SPIN("w", "test_wait.shared", "bar", "%d5")),
                   1, 64, 0, "deadlock", "wants 1 of 65 arrivals and 0 bytes");
    /* a wait that looks at the clock to sleep longer and longer, as libcu++ has it; and one that only waits for a time */
#define BACKOFF(count)                                                                             \
    KERNEL(INIT("bar", count) "bar.sync 0;\nmbarrier.arrive.shared.b64 %d5, [bar];\nmov.u64 %d6, %globaltimer;\nmov.b32 %r5, 0;\n" \
           "again: add.u32 %r5, %r5, 1;\nwait:\nmbarrier.try_wait.shared.b64 %p2, [bar], %d5;\n@%p2 bra end;\n" \
           "setp.lt.u32 %p3, %r5, 16;\n@%p3 bra again;\nmov.u64 %d7, %globaltimer;\nsub.u64 %d7, %d7, %d6;\n" \
           "setp.ge.u64 %p4, %d7, 4000000;\n@%p4 bra wait;\nshr.u64 %d8, %d7, 2;\ncvt.u32.u64 %r6, %d8;\nnanosleep.u32 %r6;\nbra wait;\nend:")
    machine_expect(BACKOFF(64), 1, 64, 0, NULL, NULL);
    machine_expect(BACKOFF(65), 1, 64, 0, "deadlock", "wants 1 of 65 arrivals and 0 bytes; waiting for it: warps 0 1");
#define DELAY(clock, limit)                                                                        \
    KERNEL(INIT("bar", 1) "bar.sync 0;\n@%p1 bra wait;\nmov.u32 %r5, " clock ";\nspin: mov.u32 %r6, " clock ";\nsub.u32 %r6, %r6, %r5;\n" \
           "setp.lt.u32 %p2, %r6, " limit ";\n@%p2 bra spin;\nmbarrier.arrive.shared.b64 _, [bar];\nwait:\n" SPIN("w", "try_wait.parity.shared", "bar", "0"))
    machine_expect(DELAY("%clock", "1000000"), 1, 64, 0, NULL, NULL);
    machine_expect(DELAY("%clock", "1000000000"), 1, 64, 0, NULL, NULL);
    machine_expect(DELAY("%globaltimer_hi", "100"), 1, 64, 0, NULL, NULL);
    /* one thread looks, goes on without, and gives what it looked for: no deadlock */
    machine_expect(ONE("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n"
                       "mbarrier.arrive.shared.b64 _, [bar];\n" SPIN("w", "try_wait.parity.shared", "bar", "0")),
                   1, 32, 0, NULL, NULL);
    /* the lanes of one warp wait for each other: those that are behind wait, in each of several warps */
    machine_expect(KERNEL(INIT("bar", 192) "bar.sync 0;\nand.b32 %r5, %r0, 1;\nsetp.ne.b32 %p2, %r5, 0;\n@%p2 bra odd;\n"
                          "mbarrier.arrive.shared.b64 _, [bar];\n" SPIN("w", "try_wait.parity.shared", "bar", "0") "bra end;\n"
                          "odd: mbarrier.arrive.shared.b64 _, [bar];\nend:\n"), 1, 192, 0, NULL, NULL);
    machine_expect(KERNEL(INIT("bar", 193) "bar.sync 0;\nand.b32 %r5, %r0, 1;\nsetp.ne.b32 %p2, %r5, 0;\n@%p2 bra odd;\n"
                          SPIN("w", "try_wait.parity.shared", "bar", "0") "bra end;\n"
                          "odd: mbarrier.arrive.shared.b64 _, [bar], 2;\n" SPIN("v", "try_wait.parity.shared", "bar", "0") "end:\n"),
                   1, 192, 0, "deadlock", "wants 1 of 193 arrivals");
    machine_expect(KERNEL(INIT("bar", 1) "bar.warp.sync -1;\n@%p1 bra wait;\nmov.b32 %r5, 0;\nspin: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 100;\n"
                          "@%p2 bra spin;\nmbarrier.arrive.shared.b64 _, [bar];\nwait:\n" SPIN("w", "try_wait.parity.shared", "bar", "0")),
                   1, 32, 0, NULL, NULL);
}

/* cp.async that an mbarrier is waited for with. */
#define COPY(arrive, count, wait)                                                                  \
    KERNEL(INIT("bar", count) INIT("full", 64) "bar.sync 0;\nmov.b32 %r2, data;\nadd.u32 %r2, %r2, %r1;\n" \
           "shl.b32 %r3, %r0, 2;\ncvt.u64.u32 %d7, %r3;\nadd.u64 %d7, %d7, %d1;\n"                 \
           "cp.async.ca.shared.global [%r2], [%d7], 4;\n" arrive wait                              \
           "xor.b32 %r3, %r1, 128;\nmov.b32 %r4, data;\nadd.u32 %r4, %r4, %r3;\nld.shared.b32 %r5, [%r4];\n" \
           "st.global.v2.b32 [%d2], {%r5, %r5};")
#define NOINC "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n"
#define INC "cp.async.mbarrier.arrive.shared.b64 [bar];\nmbarrier.arrive.shared.b64 _, [bar];\n"
#define WAIT0 SPIN("w", "try_wait.parity.shared", "bar", "0")

static void test_copies(void **state) {
    (void)state;
    machine_expect(COPY(NOINC, 64, WAIT0), 1, 64, 0, NULL, NULL);
    machine_expect(COPY(INC, 64, WAIT0), 1, 64, 0, NULL, NULL);
    /* what is handed over later, to another mbarrier, takes nothing back */
    machine_expect(COPY(INC "cp.async.ca.shared.global [%r2+512], [%d7], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [full];\n", 64, WAIT0), 1, 64,
                   0, NULL, NULL);
    machine_expect(COPY(INC "cp.async.ca.shared.global [%r2], [%d7], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [full];\n", 64, WAIT0), 1, 64, 0,
                   "async_in_flight", "has not waited");
    machine_expect(COPY("mbarrier.arrive.shared.b64 _, [bar];\n", 64, WAIT0), 1, 64, 0, "async_in_flight", "has not waited");
    machine_expect(COPY(INC, 65, WAIT0), 1, 64, 0, "deadlock", "wants 1 of 65");
    machine_expect(COPY(NOINC, 64, ""), 1, 64, 0, "race", NULL);
}

static void unloadable(const char *body, const char *text) {
    char ptx[4096];
    snprintf(ptx, sizeof ptx, "%s%s%s", ".version 8.7\n.target sm_90a\n.address_size 64\n" BARS ".visible .entry k()\n{\n" PTX_REGISTERS, body,
             "\nret;\n}\n");
    machine_refuse("sm_90a", ptx, text);
}

static void test_forms_that_are_not(void **state) {
    (void)state;
    unloadable("mbarrier.init.shared.b32 [bar], 1;", "b64");
    unloadable("mbarrier.init.shared::cluster.b64 [bar], 1;", "shared::cta");
    unloadable("mbarrier.test_wait.shared::cluster.b64 %p1, [bar], %d1;", "shared::cta");
    unloadable("mbarrier.arrive.global.b64 _, [bar];", "shared memory");
    unloadable("mbarrier.arrive.acquire.cta.shared.b64 _, [bar];", "an arrival releases");
    unloadable("mbarrier.try_wait.release.cta.shared.b64 %p1, [bar], %d1;", "a wait acquires");
    unloadable("mbarrier.arrive.sometimes.shared.b64 _, [bar];", "line");
    unloadable("setmaxnreg.inc.sync.aligned.u32 20;", "24 to 256");
    unloadable("setmaxnreg.dec.sync.aligned.u32 100;", "24 to 256");
}

/* setmaxnreg: two warps of 128 registers a thread to begin with. */
#define MOVE_REGISTERS(first, second)                                                              \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n.maxnreg 128\n{\n" PTX_REGISTERS \
    "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p1, %r0, 32;\n@%p1 bra second;\nsetmaxnreg." first ";\nret;\nsecond:\nsetmaxnreg." second ";\nret;\n}\n"

static void test_registers(void **state) {
    (void)state;
    machine_expect(MOVE_REGISTERS("dec.sync.aligned.u32 40", "inc.sync.aligned.u32 216"), 1, 64, 0, NULL, NULL);
    machine_expect(MOVE_REGISTERS("dec.sync.aligned.u32 40", "inc.sync.aligned.u32 224"), 1, 64, 0, "deadlock", "setmaxnreg");
    machine_expect(MOVE_REGISTERS("dec.sync.aligned.u32 136", "inc.sync.aligned.u32 128"), 1, 64, 0, "launch_limit", "registers a thread, and it holds 128");
    machine_expect(MOVE_REGISTERS("inc.sync.aligned.u32 120", "dec.sync.aligned.u32 128"), 1, 64, 0, "launch_limit", "registers a thread, and it holds 128");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),   cmocka_unit_test(test_bytes),    cmocka_unit_test(test_counts),
        cmocka_unit_test(test_misuse),   cmocka_unit_test(test_order),    cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_deadlock), cmocka_unit_test(test_copies),   cmocka_unit_test(test_forms_that_are_not),
        cmocka_unit_test(test_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
