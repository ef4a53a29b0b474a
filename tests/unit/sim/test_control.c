/* Branches, divergence, barriers, calls, and what the lanes of a warp do together. */
#include "tests/unit/sim/machine_test.h"

#define OUT32 "\nst.global.v2.b32 [%d2], {%r3, 0};"

static void lanes(const char *ptx, uint64_t out[32]) {
    uint64_t in[32];
    for (uint32_t i = 0; i < 32; i++) in[i] = i * 3;
    machine_lanes(ptx, "sm_90", in, out);
}

/* Lane i loops i times; every second lane leaves early; all meet again. */
static void test_divergence(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("mov.b32 %r3, 0;\nmov.b32 %r4, 0;\n"
                     "loop:\nsetp.ge.s32 %p1, %r4, %r0;\n@%p1 bra done;\n"
                     "add.s32 %r4, %r4, 1;\nand.b32 %r5, %r4, 1;\nsetp.eq.b32 %p2, %r5, 0;\n@%p2 bra even;\n"
                     "add.s32 %r3, %r3, 100;\nbra.uni loop;\n"
                     "even:\nadd.s32 %r3, %r3, 1;\nbra.uni loop;\n"
                     "done:\nactivemask.b32 %r6;\nsetp.ne.b32 %p3, %r6, -1;\n@%p3 add.s32 %r3, %r3, 1000000;" OUT32),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], (i + 1) / 2 * 100 + i / 2);
}

static void test_branch_index(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("and.b32 %r4, %r0, 3;\nmov.b32 %r3, 9;\n"
                     "table: .branchtargets zero, one, two, three;\nbrx.idx %r4, table;\n"
                     "zero: mov.b32 %r3, 10;\nbra end;\none: mov.b32 %r3, 11;\nbra end;\n"
                     "two: mov.b32 %r3, 12;\nbra end;\nthree: mov.b32 %r3, 13;\nend:" OUT32),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 10 + i % 4);
}

/* f(x) = x < 2 ? x : g(x) + 1; both with locals of their own, called from two places, one of them guarded. */
#define CALLED                                                                                     \
    PTX_HEADER ".func (.param .b32 result) g(.param .b32 x)\n{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; " \
               "mul.lo.s32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }\n"                    \
               ".func (.param .b32 result) f(.param .b32 x)\n{ .reg .b32 %r<4>; .reg .pred %p<2>;\n" \
               "ld.param.b32 %r1, [x]; setp.ge.u32 %p1, %r1, 2; @%p1 bra big;\n"                   \
               "st.param.b32 [result], %r1; ret;\n"                                                \
               "big: { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r1; call.uni (r0), g, (p0); " \
               "ld.param.b32 %r2, [r0]; }\nadd.s32 %r3, %r2, 1; st.param.b32 [result], %r3; ret; }\n" \
               ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS             \
               "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8; add.s64 %d2, %d0, %d4;\n" \
               "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], %r0; call.uni (r0), f, (p0); " \
               "ld.param.b32 %r3, [r0]; }\nsetp.gt.u32 %p1, %r0, 9; mov.b32 %r5, 0;\n"             \
               "{ .param .b32 p0; .param .b32 r0; st.param.b32 [p0], 5; st.param.b32 [r0], 7; @%p1 call.uni (r0), f, (p0); " \
               "ld.param.b32 %r5, [r0]; }\nadd.s32 %r3, %r3, %r5;\nst.global.v2.b32 [%d2], {%r3, 0}; ret; }\n"

static void test_calls(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(CALLED, out);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], (i < 2 ? i : i * i + 1) + (i > 9 ? 26 : 7));
}

/* A lock taken in turn by the lanes of one warp: the lane that holds it is ahead of those that spin. */
static void test_lanes_make_progress(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_HEADER ".shared .align 4 .b32 lock;\n.shared .align 4 .b32 total;\n"
                     ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS
                     "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8; add.s64 %d2, %d0, %d4;\n"
                     "setp.ne.b32 %p1, %r0, 0; @%p1 bra spin; st.shared.b32 [lock], 0; st.shared.b32 [total], 0;\n"
                     "spin: bar.warp.sync -1;\n"
                     "try: atom.shared.cas.b32 %r4, [lock], 0, 1; setp.ne.b32 %p2, %r4, 0; @%p2 bra try;\n"
                     "ld.volatile.shared.b32 %r5, [total]; add.s32 %r5, %r5, 1; st.volatile.shared.b32 [total], %r5;\n"
                     "mov.b32 %r3, %r5; atom.shared.exch.b32 %r4, [lock], 0;\n"
                     "st.global.v2.b32 [%d2], {%r3, 0}; ret; }\n",
          out);
    uint64_t seen = 0;
    for (int i = 0; i < 32; i++) seen |= (uint64_t)1 << out[i];
    assert_true(seen == 0x1fffffffe);
}

static void test_shuffles(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("shfl.sync.down.b32 %r3, %r0, 4, 31, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i < 28 ? i + 4 : i);
    lanes(PTX_KERNEL("shfl.sync.up.b32 %r3|%p1, %r0, 4, 0, -1;\n@!%p1 mov.b32 %r3, 99;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i >= 4 ? i - 4 : 99);
    lanes(PTX_KERNEL("shfl.sync.bfly.b32 %r3, %r0, 5, 31, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i ^ 5);
    /* Segments of eight lanes: the mask 24 keeps the high bits of the lane. */
    lanes(PTX_KERNEL("shfl.sync.idx.b32 %r3, %r0, 3, 0x181f, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i / 8 * 8 + 3);
}

/* A comparison of two halves gives two predicates. */
static void test_packed_predicates(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("cvt.rn.f16.u32 %h0, %r0;\nmov.b32 %r4, {%h0, %h0};\n"
                     "setp.lt.f16x2 %p1|%p2, %r4, 0x4d004900;\n" /* 10 and 20 */
                     "selp.b32 %r3, 1, 0, %p1;\n@%p2 add.s32 %r3, %r3, 2;" OUT32),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], (i < 10 ? 1 : 0) + (i < 20 ? 2 : 0));
}

/* Halves of the warp shuffle at different times, each naming itself alone. */
static void test_half_warps(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("setp.lt.u32 %p1, %r0, 16;\nselp.b32 %r4, 0xffff, 0xffff0000, %p1;\n@%p1 bra low;\n"
                     "add.s32 %r5, %r0, 100;\nbra meet;\nlow: mov.b32 %r5, %r0;\nmeet:\n"
                     "redux.sync.add.s32 %r3, %r5, %r4;" OUT32),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i < 16 ? 120 : 376 + 1600);
}

static void test_votes(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("setp.gt.u32 %p1, %r0, 20;\nvote.sync.ballot.b32 %r3, %p1, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 0xffe00000);
    lanes(PTX_KERNEL("setp.gt.u32 %p1, %r0, 20;\nvote.sync.any.pred %p2, %p1, -1;\nvote.sync.all.pred %p3, !%p1, -1;\n"
                     "selp.b32 %r3, 1, 0, %p2;\n@%p3 add.s32 %r3, %r3, 2;" OUT32),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 1);
    lanes(PTX_KERNEL("shr.u32 %r4, %r0, 3;\nmatch.any.sync.b32 %r3, %r4, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 0xffu << i / 8 * 8);
    lanes(PTX_KERNEL_FOR("sm_90", "elect.sync %r3|%p1, -1;\n@%p1 mov.b32 %r3, 77;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i ? 0 : 77);
    lanes(PTX_KERNEL("redux.sync.max.s32 %r3, %r0, -1;" OUT32), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], 31);
}

/* ---- blocks ---- */

#define BLOCK_SUM                                                                                  \
    PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in) .maxntid 1024\n{\n.shared .align 8 .b8 buffer[8192];\n" \
    PTX_REGISTERS                                                                                  \
        "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ntid.x;\n" \
        "mul.wide.u32 %d4, %r0, 8; add.s64 %d3, %d1, %d4; ld.global.b64 %d5, [%d3];\n"             \
        "shl.b32 %r1, %r0, 3; mov.b32 %r2, buffer; add.s32 %r2, %r2, %r1; st.shared.b64 [%r2], %d5;\n" \
        "shr.u32 %r4, %r9, 1;\n"                                                                   \
        "again: bar.sync 0; setp.ge.u32 %p1, %r0, %r4; @%p1 bra skip;\n"                           \
        "shl.b32 %r5, %r4, 3; add.s32 %r5, %r2, %r5; ld.shared.b64 %d6, [%r5]; ld.shared.b64 %d7, [%r2];\n" \
        "add.s64 %d7, %d7, %d6; st.shared.b64 [%r2], %d7;\n"                                       \
        "skip: shr.u32 %r4, %r4, 1; setp.ne.b32 %p2, %r4, 0; @%p2 bra again;\n"                    \
        "setp.ne.b32 %p3, %r0, 0; @%p3 bra end; mov.u32 %r6, %ctaid.x; mul.wide.u32 %d8, %r6, 8;\n" \
        "add.s64 %d2, %d0, %d8; st.global.b64 [%d2], %d7; end: ret; }\n"

static uint64_t sum_with(uint64_t seed, int threads, uint32_t grid) {
    kcsim_options options = kcsim_options_default();
    options.seed = seed;
    options.host_threads = threads;
    machine_test test = machine_open(&options, "sm_80", BLOCK_SUM, 1024 * 8);
    uint64_t in[1024], first;
    for (uint64_t i = 0; i < 1024; i++) in[i] = i * i;
    machine_write(&test, test.in, in, sizeof in);
    assert_int_equal(machine_launch(&test, grid, 1024, 0), KCSIM_OK);
    assert_int_equal(kcsim_finding_count(test.machine), 0);
    const uint64_t *out = kcsim_mem_host(test.machine, test.out, grid * 8);
    for (uint32_t i = 1; i < grid; i++) assert_int_equal(out[i], out[0]);
    first = out[0];
    machine_close(&test);
    return first;
}

static void test_block_sum(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) assert_int_equal(sum_with(seed, 1, 3), 357389824);
    assert_int_equal(sum_with(9, 4, 17), 357389824);
}

/* Warps hand a number on by named barriers of 64 threads, one pair after the other. */
static void test_named_barriers(void **state) {
    (void)state;
    machine_test test = machine_open(
        NULL, "sm_80",
        PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 4 .b32 box;\n" PTX_REGISTERS
                   "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.b32 %r3, 0;\n"
                   "setp.eq.b32 %p1, %r1, 0; @%p1 bra first; setp.eq.b32 %p2, %r1, 1; @%p2 bra second;\n"
                   "bar.sync 2, 64; ld.shared.b32 %r3, [box]; bra end;\n"
                   "first: setp.ne.b32 %p3, %r0, 0; @%p3 bra w; st.shared.b32 [box], 41; w: bar.arrive 1, 64; bra end;\n"
                   "second: bar.sync 1, 64; setp.ne.b32 %p3, %r0, 32; @%p3 bra v; ld.shared.b32 %r3, [box];\n"
                   "add.s32 %r3, %r3, 1; st.shared.b32 [box], %r3; v: bar.arrive 2, 64;\n"
                   "end: mul.wide.u32 %d4, %r0, 4; add.s64 %d2, %d0, %d4; st.global.b32 [%d2], %r3; ret; }\n",
        96 * 4);
    assert_int_equal(machine_launch(&test, 1, 96, 0), KCSIM_OK);
    const uint32_t *out = kcsim_mem_host(test.machine, test.out, 96 * 4);
    for (int i = 64; i < 96; i++) assert_int_equal(out[i], 42);
    assert_int_equal(kcsim_finding_count(test.machine), 0);
    machine_close(&test);
}

static void test_barrier_reduction(void **state) {
    (void)state;
    machine_test test = machine_open(
        NULL, "sm_80",
        PTX_KERNEL("setp.lt.u32 %p1, %r0, 70;\nbar.red.popc.u32 %r3, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\n"
                   "bar.red.or.pred %p3, 0, %p1;\n@%p2 add.s32 %r3, %r3, 1000;\n@%p3 add.s32 %r3, %r3, 10000;" OUT32),
        128 * 8);
    assert_int_equal(machine_launch(&test, 1, 128, 0), KCSIM_OK);
    const uint64_t *out = kcsim_mem_host(test.machine, test.out, 128 * 8);
    for (int i = 0; i < 128; i++) assert_int_equal(out[i], 10070);
    machine_close(&test);
}

/* All blocks wait for all others through a counter in global memory. */
#define GRID_BARRIER                                                                               \
    PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nmov.u32 %r8, %nctaid.x;\n"                                 \
               "atom.global.add.u32 %r4, [%d1], 1;\n"                                              \
               "wait: ld.acquire.gpu.global.b32 %r5, [%d1];\nsetp.lt.u32 %p1, %r5, %r8;\n@%p1 bra wait;\n" \
               "mul.wide.u32 %d5, %r7, 8;\nadd.s64 %d2, %d0, %d5;\nst.global.v2.b32 [%d2], {%r5, 0};")

static void test_blocks_wait_for_blocks(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed;
        machine_test test = machine_open(&options, "sm_80", GRID_BARRIER, 64 * 8);
        uint64_t zero = 0;
        machine_write(&test, test.in, &zero, 8);
        assert_int_equal(machine_launch(&test, 20, 1, 0), KCSIM_OK);
        const uint64_t *out = kcsim_mem_host(test.machine, test.out, 64 * 8);
        for (int i = 0; i < 20; i++) assert_int_equal(out[i], 20);
        machine_close(&test);
    }
}

/* The order in which eight warps come to an atomic: the seed's, whether given at first or later. */
static void order_of_warps(machine_test *test, uint32_t order[8]) {
    const uint32_t zero = 0;
    machine_write(test, test->in, &zero, sizeof zero);
    assert_int_equal(machine_launch(test, 1, 256, 0), KCSIM_OK);
    for (int warp = 0; warp < 8; warp++)
        memcpy(&order[warp], kcsim_mem_host(test->machine, test->out + (uint64_t)warp * 256, 4), 4);
}

/* The hardware does not wait for lanes that exited, and kernels rely on it: whose lanes left early, or behind what all ran,
 * or what their own half did. Those that were at such an instruction last, without those who wait, are missed. */
#define TO_HALVES "and.b32 %r1, %r0, 31;\nsetp.gt.u32 %p0, %r1, 15;\n"
#define ALL_SHUFFLE "shfl.sync.bfly.b32 %r3, %r1, 8, 31, 0xffffffff;\n"

static void test_exited_lanes(void **state) {
    static const char missed[] = "exited: they ran other .sync instructions";
    (void)state;
    machine_expect(PTX_KERNEL(TO_HALVES "@%p0 bra end;\n" ALL_SHUFFLE "bar.warp.sync -1;\nend:"), 2, 96, 0, NULL, NULL);
    machine_expect(PTX_KERNEL(TO_HALVES ALL_SHUFFLE "@%p0 exit;\n" ALL_SHUFFLE "bar.warp.sync -1;"), 2, 96, 0, NULL, NULL);
    machine_expect(PTX_KERNEL(TO_HALVES "selp.b32 %r2, 0xffff0000, 0xffff, %p0;\n"
                              "shfl.sync.bfly.b32 %r3, %r1, 8, 31, %r2;\n@%p0 exit;\nvote.sync.any.pred %p1, %p0, -1;"),
                   2, 96, 0, NULL, NULL);
    machine_expect(PTX_KERNEL(TO_HALVES "@!%p0 bra low;\nbar.warp.sync 0xffff0000;\nbar.warp.sync -1;\nexit;\n"
                              "low: bar.warp.sync -1;\nbar.warp.sync -1;"),
                   2, 96, 0, NULL, NULL);
    machine_expect(PTX_KERNEL(TO_HALVES "@!%p0 bra low;\nbar.warp.sync 0xffff0000;\nexit;\nlow: bar.warp.sync -1;"),
                   2, 96, 0, "barrier_divergence", missed);
    machine_expect(PTX_KERNEL(TO_HALVES "@%p0 bra high;\n" ALL_SHUFFLE "exit;\n"
                              "high: vote.sync.any.pred %p1, %p0, 0xffff0000;"),
                   2, 96, 0, "barrier_divergence", missed);
}

static void test_seed(void **state) {
    static const char ptx[] = PTX_KERNEL("atom.global.add.u32 %r1, [%d1], 1;\nst.global.b32 [%d2], %r1;");
    uint32_t first[8], second[8], again[8];
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", ptx, 2048);
    order_of_warps(&test, first);
    kcsim_machine_set_seed(test.machine, 12345);
    assert_int_equal(kcsim_machine_options(test.machine)->seed, 12345);
    order_of_warps(&test, second);
    kcsim_machine_set_seed(test.machine, 0);
    order_of_warps(&test, again);
    assert_memory_not_equal(first, second, sizeof first);
    assert_memory_equal(first, again, sizeof first);
    machine_close(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),      cmocka_unit_test(test_branch_index),
        cmocka_unit_test(test_calls),           cmocka_unit_test(test_lanes_make_progress),
        cmocka_unit_test(test_shuffles),        cmocka_unit_test(test_half_warps),
        cmocka_unit_test(test_packed_predicates),
        cmocka_unit_test(test_votes),           cmocka_unit_test(test_block_sum),
        cmocka_unit_test(test_named_barriers),  cmocka_unit_test(test_barrier_reduction),
        cmocka_unit_test(test_blocks_wait_for_blocks), cmocka_unit_test(test_exited_lanes),
        cmocka_unit_test(test_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
