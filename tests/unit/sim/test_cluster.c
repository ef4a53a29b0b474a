/* Clusters: numbers of blocks, each other's shared memory, the cluster's barrier, remote mbarriers, and what goes wrong. */
#include "tests/unit/sim/machine_test.h"

#define HEADER(target) ".version 8.7\n.target " target "\n.address_size 64\n"
#define VARIABLES ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 data[1024];\n"
/* %r20 the block's rank, %r21 the cluster's blocks, %r22 the next block's rank, %r23 data of that block, %d20 its bar (generic);
 * %r24 data; out by global thread at %d2. */
#define KERNEL_LIMITS(limits, body)                                                                \
    HEADER("sm_90") VARIABLES ".visible .entry k(.param .u64 out, .param .u64 in)\n" limits "{\n" PTX_REGISTERS \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmov.u32 %r30, %ctaid.x;\nmov.u32 %r31, %ntid.x;\n" \
    "mad.lo.u32 %r32, %r30, %r31, %r0;\nmul.wide.u32 %d4, %r32, 8;\nadd.s64 %d2, %d0, %d4;\n"      \
    "mov.u32 %r20, %cluster_ctarank;\nmov.u32 %r21, %cluster_nctarank;\nadd.u32 %r22, %r20, 1;\nsetp.ge.u32 %p0, %r22, %r21;\n" \
    "@%p0 mov.u32 %r22, 0;\nmov.u32 %r24, data;\nmapa.shared::cluster.u32 %r23, %r24, %r22;\n"     \
    "cvta.shared.u64 %d19, bar;\nmapa.u64 %d20, %d19, %r22;\nmapa.shared::cluster.u32 %r25, bar, %r22;\n" \
    "shl.b32 %r1, %r0, 2;\nadd.u32 %r2, %r24, %r1;\nadd.u32 %r3, %r23, %r1;\nsetp.ne.b32 %p1, %r0, 0;\n" body "\nret;\n}\n"
#define KERNEL(body) KERNEL_LIMITS("", body)
#define ARRIVE "barrier.cluster.arrive.aligned;\n"
#define WAIT "barrier.cluster.wait.aligned;\n"
#define SYNC ARRIVE WAIT
#define PUT(reg) "st.global.v2.b32 [%d2], {" reg ", 0};\n"
#define SPIN(label, form, bar, what)                                                               \
    label ":\nmbarrier." form ".b64 %p5, [" bar "], " what ";\n@!%p5 bra " label ";\n"

static void test_numbers(void **state) {
    static const char ptx[] =
        HEADER("sm_90") ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS "ld.param.u64 %d0, [out];\n"
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %nctaid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n"
        "mul.wide.u32 %d1, %r4, 64;\nadd.u64 %d0, %d0, %d1;\n"
        "mov.u32 %r5, %clusterid.x;\nmov.u32 %r6, %clusterid.y;\nmov.u32 %r7, %nclusterid.x;\nmov.u32 %r8, %nclusterid.y;\n"
        "st.global.v4.b32 [%d0], {%r5, %r6, %r7, %r8};\n"
        "mov.u32 %r5, %cluster_ctaid.x;\nmov.u32 %r6, %cluster_ctaid.y;\nmov.u32 %r7, %cluster_nctaid.x;\nmov.u32 %r8, %cluster_nctaid.y;\n"
        "st.global.v4.b32 [%d0+16], {%r5, %r6, %r7, %r8};\n"
        "mov.u32 %r5, %cluster_ctarank;\nmov.u32 %r6, %cluster_nctarank;\nmov.pred %p1, %is_explicit_cluster;\nselp.b32 %r7, 1, 0, %p1;\n"
        "mov.u32 %r8, %cluster_nctaid.z;\nst.global.v4.b32 [%d0+32], {%r5, %r6, %r7, %r8};\nret;\n}\n";
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", ptx, 4096);
    uint64_t params[2] = {test.out, test.in};
    for (int clusters = 0; clusters < 2; clusters++) {
        uint32_t cx = clusters ? 3 : 1, cy = clusters ? 2 : 1;
        kcsim_launch_config config = {.grid = {6, 4, 1}, .block = {1, 1, 1}};
        if (clusters) memcpy(config.cluster, (uint32_t[]){3, 2, 1}, sizeof config.cluster);
        assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, sizeof params), KCSIM_OK);
        const uint32_t *out = kcsim_mem_host(test.machine, test.out, 24 * 64);
        for (uint32_t y = 0; y < 4; y++)
            for (uint32_t x = 0; x < 6; x++) {
                const uint32_t *at = out + (y * 6 + x) * 16;
                uint32_t wanted[12] = {x / cx, y / cy, 6 / cx, 4 / cy, x % cx, y % cy, cx, cy,
                                       y % cy * cx + x % cx, cx * cy, (uint32_t)clusters, 1};
                assert_memory_equal(at, wanted, sizeof wanted);
            }
    }
    machine_close(&test);
}

/* Runs clusters of `cluster` blocks and compares the first word of every thread's out. */
static void gives(const char *ptx, uint32_t grid, uint32_t block, uint32_t cluster, uint32_t (*wanted)(uint32_t, uint32_t, uint32_t)) {
    for (uint64_t seed = 0; seed < 6; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed;
        machine_test test = machine_open(&options, "sm_90a", ptx, 1 << 16);
        kcsim_status status = machine_launch_clusters(&test, grid, block, cluster);
        if (status != KCSIM_OK) print_message("%s\n", kcsim_last_fault(test.machine));
        assert_int_equal(status, KCSIM_OK);
        const uint32_t *out = kcsim_mem_host(test.machine, test.out, grid * block * 8);
        for (uint32_t i = 0; i < grid * block; i++)
            assert_int_equal(out[i * 2], wanted(i / block, i % block, cluster));
        machine_close(&test);
    }
}

static uint32_t next(uint32_t block, uint32_t cluster) {
    return block / cluster * cluster + (block + 1) % cluster;
}
static uint32_t of_next(uint32_t block, uint32_t thread, uint32_t cluster) {
    return next(block, cluster) * 1000 + thread;
}
static uint32_t of_previous(uint32_t block, uint32_t thread, uint32_t cluster) {
    return (block / cluster * cluster + (block + cluster - 1) % cluster) * 1000 + thread;
}
static uint32_t rank_of_next(uint32_t block, uint32_t thread, uint32_t cluster) {
    (void)thread;
    return next(block, cluster) % cluster;
}
static uint32_t all_blocks(uint32_t block, uint32_t thread, uint32_t cluster) {
    (void)block;
    (void)thread;
    return cluster * 64;
}

#define OWN "mad.lo.u32 %r5, %r30, 1000, %r0;\nst.shared.b32 [%r2], %r5;\n"
#define READ "ld.shared::cluster.b32 %r6, [%r3];\n"
#define GENERIC "cvt.u64.u32 %d5, %r1;\ncvta.shared.u64 %d6, data;\nmapa.u64 %d6, %d6, %r22;\nadd.u64 %d6, %d6, %d5;\n"

static void test_remote_memory(void **state) {
    (void)state;
    for (uint32_t cluster = 1; cluster <= 8; cluster *= 2) {
        gives(KERNEL(OWN SYNC READ SYNC PUT("%r6")), 8, 64, cluster, of_next);
        gives(KERNEL(OWN SYNC GENERIC "ld.b32 %r6, [%d6];\n" SYNC PUT("%r6")), 8, 64, cluster, of_next);
    }
    gives(KERNEL("mad.lo.u32 %r5, %r30, 1000, %r0;\n" SYNC "st.shared::cluster.b32 [%r3], %r5;\n" SYNC "ld.shared.b32 %r6, [%r2];\n" PUT("%r6")),
          8, 64, 4, of_previous);
    gives(KERNEL("mad.lo.u32 %r5, %r30, 1000, %r0;\n" SYNC GENERIC "st.b32 [%d6], %r5;\n" SYNC "ld.shared.b32 %r6, [%r2];\n" PUT("%r6")),
          6, 64, 3, of_previous);
    gives(KERNEL("getctarank.shared::cluster.u32 %r6, %r23;\n" PUT("%r6")), 8, 32, 4, rank_of_next);
    gives(KERNEL("getctarank.u64 %r6, %d20;\n" PUT("%r6")), 8, 32, 4, rank_of_next);
    gives(KERNEL("mov.u32 %r9, 0;\nmapa.shared::cluster.u32 %r8, data, %r9;\n@%p1 bra on;\nst.shared.b32 [data], 0;\non:\n" SYNC
                 "atom.shared::cluster.add.u32 %r6, [%r8], 1;\nred.relaxed.cluster.shared::cluster.add.u32 [%r8], 1;\n" SYNC
                 "ld.shared::cluster.b32 %r6, [%r8];\nshr.u32 %r6, %r6, 1;\n" SYNC PUT("%r6")),
          8, 64, 4, all_blocks);
    /* lanes of one access go to different blocks */
    gives(KERNEL(OWN SYNC "and.b32 %r7, %r0, 1;\nmapa.shared::cluster.u32 %r8, %r2, %r7;\nld.shared::cluster.b32 %r6, [%r8];\n"
                 "sub.u32 %r6, %r6, %r0;\nrem.u32 %r6, %r6, 2000;\nmul.lo.u32 %r9, %r7, 1000;\nsub.u32 %r6, %r6, %r9;\nadd.u32 %r6, %r6, %r22;\n" SYNC PUT("%r6")),
          4, 64, 2, rank_of_next);
    /* which addresses are whose */
    gives(KERNEL("isspacep.shared::cluster %p3, %d20;\nisspacep.shared::cta %p4, %d20;\nisspacep.shared %p6, %d19;\nselp.b32 %r6, 1, 0, %p3;\n"
                 "@%p4 add.u32 %r6, %r6, 10;\n@!%p6 add.u32 %r6, %r6, 20;\nsub.u32 %r6, %r6, 1;\nadd.u32 %r6, %r6, %r22;\n" PUT("%r6")),
          4, 32, 2, rank_of_next);
}

static void test_remote_errors(void **state) {
    (void)state;
    machine_expect(KERNEL(OWN SYNC "ld.shared.b32 %r6, [%r3];\n" SYNC), 2, 32, 2, "out_of_bounds", "reaches .shared::cta only");
    machine_expect(KERNEL("mov.u32 %r9, 2;\nmapa.shared::cluster.u32 %r8, data, %r9;\n"), 2, 32, 2, "out_of_bounds", "no block of this rank");
    machine_expect(KERNEL(OWN SYNC "ld.shared::cluster.b32 %r6, [%r3+2048];\n" SYNC), 2, 32, 2, "out_of_bounds", "there are 1032 bytes");
    machine_expect(KERNEL(OWN SYNC "ld.shared::cluster.b32 %r6, [%r3+2];\n" SYNC), 2, 32, 2, "misaligned", NULL);
    machine_expect(KERNEL(SYNC READ PUT("%r6") SYNC), 2, 32, 2, "uninitialized", NULL);
}

/* What orders blocks, and what happens without. */
static void test_races(void **state) {
    (void)state;
    machine_expect(KERNEL(OWN READ SYNC), 2, 64, 2, "race", "used it too at line");
    machine_expect(KERNEL(OWN "bar.sync 0;\n" READ SYNC), 2, 64, 2, "race", "used it too at line");
    machine_expect(KERNEL(OWN ARRIVE READ WAIT SYNC), 2, 64, 2, "race", NULL);
    machine_expect(KERNEL(ARRIVE OWN WAIT READ SYNC), 2, 64, 2, "race", NULL);
    machine_expect(KERNEL("mov.u32 %r5, 1;\n" SYNC "st.shared::cluster.b32 [%r3], %r5;\nst.shared.b32 [%r2], %r5;\n" SYNC), 2, 64, 2, "race", NULL);
    /* the store comes after the neighbour's read, and nothing says so */
    machine_expect(KERNEL(OWN SYNC READ "st.shared.b32 [%r2], %r0;\n" SYNC), 2, 64, 2, "race", NULL);
    machine_expect(KERNEL(OWN SYNC READ SYNC "st.shared.b32 [%r2], %r0;\n"), 2, 64, 2, NULL, NULL);
    /* relaxed arrivals order by a fence */
    machine_expect(KERNEL(OWN "fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed.aligned;\n" WAIT READ SYNC), 2, 64, 2, NULL, NULL);
    machine_expect(KERNEL(OWN "barrier.cluster.arrive.relaxed.aligned;\n" WAIT READ SYNC), 2, 64, 2, "race", NULL);
    machine_expect(KERNEL(OWN "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n" READ SYNC), 2, 64, 2, NULL, NULL);
    machine_expect(KERNEL("@!%p1 mbarrier.init.shared.b64 [bar], 64;\nfence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive.relaxed;\n"
                          "barrier.cluster.wait;\nmbarrier.arrive.shared::cluster.b64 _, [%r25];\n" SPIN("w", "try_wait.parity.acquire.cluster.shared::cta", "bar", "0")),
                   4, 64, 2, NULL, NULL);
    machine_expect(KERNEL("@!%p1 mbarrier.init.shared.b64 [bar], 64;\nbar.sync 0;\nmbarrier.arrive.shared::cluster.b64 _, [%r25];\n" SYNC),
                   2, 64, 2, "", NULL);
}

/* The other block's memory is there only until it exits. */
static void test_exits(void **state) {
    (void)state;
    machine_expect(KERNEL(OWN SYNC READ PUT("%r6")), 4, 64, 2, "out_of_bounds", "exited");
    machine_expect(KERNEL(OWN SYNC READ PUT("%r6") ARRIVE), 4, 64, 2, "out_of_bounds", "exited");
    machine_expect(KERNEL(OWN SYNC READ PUT("%r6") SYNC), 4, 64, 2, NULL, NULL);
    /* the block that is read may as well leave when the reader says that it is done */
    machine_expect(KERNEL("@!%p1 mbarrier.init.shared.b64 [bar], 64;\n" OWN SYNC READ PUT("%r6")
                          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r25];\n" SPIN("w", "try_wait.parity.acquire.cluster.shared::cta", "bar", "0")),
                   4, 64, 2, NULL, NULL);
    /* threads that exited hold nobody up */
    machine_expect(KERNEL("setp.ge.u32 %p3, %r0, 32;\n@%p3 exit;\n" SYNC SYNC), 4, 64, 2, NULL, NULL);
}

static void test_cluster_barrier(void **state) {
    (void)state;
    machine_expect(KERNEL(SYNC SYNC SYNC), 16, 96, 4, NULL, NULL);
    machine_expect(KERNEL(SYNC SYNC), 4, 96, 0, NULL, NULL);
    machine_expect(KERNEL(ARRIVE SYNC), 2, 32, 2, "barrier_divergence", "has not waited");
    machine_expect(KERNEL(WAIT), 2, 32, 2, "barrier_divergence", "without having arrived");
    machine_expect(KERNEL("setp.eq.u32 %p3, %r20, 1;\n@%p3 bra loop;\n" SYNC "ret;\nloop: bra loop;\n"), 2, 32, 2, "deadlock", NULL);
    machine_expect(KERNEL("setp.eq.u32 %p3, %r20, 1;\n@%p3 bra other;\n" SYNC "ret;\nother:\nmbarrier.init.shared.b64 [bar], 33;\n"), 2, 1, 2, NULL, NULL);
    /* half a warp leaves, and the barrier is .aligned */
    machine_expect(KERNEL("setp.lt.u32 %p3, %r0, 16;\n@%p3 exit;\n" SYNC), 2, 32, 2, "barrier_divergence", "exited before the cluster's barrier");
    machine_expect(KERNEL("setp.lt.u32 %p3, %r0, 16;\n@%p3 exit;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"), 2, 32, 2, NULL, NULL);
}

/* A ring: each block fills the next one's data and tells it by an mbarrier there, with bytes or without. */
#define RING(expect, store, tell)                                                                  \
    KERNEL("@!%p1 mbarrier.init.shared.b64 [bar], 64;\n" SYNC "mad.lo.u32 %r5, %r30, 1000, %r0;\n" expect store tell \
           SPIN("w", "try_wait.parity.acquire.cluster.shared::cta", "bar", "0") "ld.shared.b32 %r6, [%r2];\n" PUT("%r6") SYNC)
#define STORE "st.shared::cluster.b32 [%r3], %r5;\n"

static void test_remote_mbarriers(void **state) {
    (void)state;
    gives(RING("", STORE, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r25];\n"), 8, 64, 4, of_previous);
    gives(RING("", STORE, "mbarrier.arrive.b64 _, [%d20], 1;\n"), 8, 64, 4, of_previous);
    gives(RING("mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;\n", STORE,
               "fence.acq_rel.cluster;\nmbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r25], 4;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
          8, 64, 2, of_previous);
    machine_expect(RING("", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r25];\n", STORE), 4, 64, 2, "race", NULL);
    machine_expect(RING("", STORE, "mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];\n"), 4, 64, 2, "race", NULL);
    machine_expect(RING("", STORE, "mbarrier.arrive.release.cluster.shared::cluster.b64 %d8, [%r25];\n"), 2, 64, 2, "mbarrier", "the result must be _");
    machine_expect(RING("", STORE, "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r25];\n"), 2, 64, 2, "deadlock",
                   "mbarrier 0x400 in phase 0 wants 1 of 64 arrivals and 0 bytes; waiting for it: warps 0 1");
}

/* Blocks of several clusters write the same global word; within a cluster its barrier orders them. */
static void test_global_memory(void **state) {
    (void)state;
    machine_expect(KERNEL("st.global.b32 [%d0], %r30;"), 4, 1, 2, "race", NULL);
    machine_expect(KERNEL("setp.ne.u32 %p3, %r20, 0;\n@!%p3 st.global.b32 [%d2+8], 5;\n" SYNC "@%p3 ld.global.b32 %r6, [%d2];\n@%p3 st.global.b32 [%d2], %r6;\n"),
                   4, 1, 2, NULL, NULL);
}

static void limited(const char *ptx, uint32_t grid, uint32_t cluster, bool big, const char *arch, const char *text) {
    machine_test test = machine_open(NULL, arch, ptx, 64);
    uint64_t params[2] = {test.out, test.in};
    kcsim_launch_config config = {.grid = {grid, 1, 1}, .block = {32, 1, 1}, .big_clusters = big};
    if (cluster) memcpy(config.cluster, (uint32_t[]){cluster, 1, 1}, sizeof config.cluster);
    kcsim_status status = kcsim_launch(test.machine, test.function, &config, params, sizeof params);
    assert_int_equal(status, text ? KCSIM_LAUNCH_LIMIT : KCSIM_OK);
    if (text) assert_true(machine_found(&test, "launch_limit", text));
    machine_close(&test);
}

static void test_limits(void **state) {
    (void)state;
    limited(PTX_KERNEL(""), 4, 2, false, "sm_80", "no clusters");
    limited(PTX_KERNEL(""), 4, 1, false, "sm_80", NULL);
    limited(KERNEL(""), 6, 4, false, "sm_90a", "no multiple");
    limited(KERNEL(""), 32, 16, false, "sm_90a", "the limit is 8");
    limited(KERNEL(""), 32, 16, true, "sm_90a", NULL);
    limited(KERNEL(""), 32, 32, true, "sm_90a", "the limit is 16");
    limited(KERNEL_LIMITS(".maxclusterrank 4\n", ""), 8, 8, false, "sm_90a", "the kernel allows 4");
    limited(KERNEL_LIMITS(".explicitcluster\n.reqnctapercluster 2, 1, 1\n", ""), 8, 4, false, "sm_90a", "requires 2");
    limited(KERNEL_LIMITS(".explicitcluster\n.reqnctapercluster 2\n", ""), 8, 0, false, "sm_90a", NULL);
    limited(KERNEL_LIMITS(".explicitcluster\n", ""), 8, 0, false, "sm_90a", "gives no cluster size");
}

/* A grid of clusters: out[block] = blocks of the grid, of the cluster, threads. */
static void test_blocks_are_clusters(void **state) {
#define SPREAD(version, limits)                                                                    \
    ".version " version "\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n" limits \
    "\n{\n" PTX_REGISTERS "ld.param.u64 %d0, [out];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nmov.u32 %r3, %cluster_nctarank;\n" \
    "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %nctaid.y;\nmul.wide.u32 %d1, %r1, 16;\nadd.s64 %d0, %d0, %d1;\nmov.u32 %r0, %tid.x;\n" \
    "setp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.v4.b32 [%d0], {%r2, %r3, %r4, %r5};\nret;\n}\n"
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", SPREAD("9.0", ".blocksareclusters .reqntid 64, 1, 1 .reqnctapercluster 2, 1, 1"), 4096);
    uint64_t params[2] = {test.out, test.in};
    for (uint32_t size = 1; size <= 64; size += 63) {
        kcsim_launch_config config = {.grid = {5, 1, 1}, .block = {size, 1, 1}};
        assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, sizeof params), KCSIM_OK);
        const uint32_t *out = kcsim_mem_host(test.machine, test.out, 4096);
        for (uint32_t b = 0; b < 10; b++) {
            assert_int_equal(out[4 * b], 10);
            assert_int_equal(out[4 * b + 1], 2);
            assert_int_equal(out[4 * b + 2], 64);
            assert_int_equal(out[4 * b + 3], 1);
        }
        assert_false(kcsim_mem_defined(test.machine, test.out + 160, 4));
    }
    kcsim_launch_config config = {.grid = {5, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, sizeof params), KCSIM_LAUNCH_LIMIT);
    static const char *const bad[][2] = {{SPREAD("9.0", ".blocksareclusters .reqntid 64"), "needs .reqntid and .reqnctapercluster"},
                                         {SPREAD("9.0", ".reqnctapercluster 2 .blocksareclusters"), "needs .reqntid and .reqnctapercluster"},
                                         {SPREAD("8.8", ".blocksareclusters .reqntid 64 .reqnctapercluster 2"), "needs PTX 9.0"}};
    machine_close(&test);
    for (int i = 0; i < 3; i++)
        machine_refuse("sm_90a", bad[i][0], bad[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_clusters),
        cmocka_unit_test(test_numbers),         cmocka_unit_test(test_remote_memory),    cmocka_unit_test(test_remote_errors),
        cmocka_unit_test(test_races),           cmocka_unit_test(test_exits),            cmocka_unit_test(test_cluster_barrier),
        cmocka_unit_test(test_remote_mbarriers), cmocka_unit_test(test_global_memory),   cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
