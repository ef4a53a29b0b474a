/* Words of shared memory by which warps order each other: every pattern with its twin that lacks one piece. */
#include "tests/unit/sim/machine_test.h"

#define HEAD                                                                                       \
    PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .b32 flag;\n.shared .b32 count;\n.shared .b32 data[64];\n" PTX_REGISTERS \
               "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p1, %r0, 0;\n"        \
               "@%p1 st.shared.b32 [flag], 0;\n@%p1 st.shared.b32 [count], 0;\nbar.sync 0;\nsetp.ge.u32 %p2, %r0, 32;\n"
/* Warp 0 writes data and raises the flag, warp 1 waits for it and reads. */
#define HAND_OVER(before, store, load, after)                                                      \
    HEAD "@%p2 bra reader;\n@!%p1 bra end;\nst.shared.b32 [data], 7;\n" before "st." store ".shared.b32 [flag], 1;\nbra end;\n" \
         "reader:\nld." load ".shared.b32 %r1, [flag];\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra reader;\n" after \
         "ld.shared.b32 %r2, [data];\nst.global.b32 [%d0], %r2;\nend: ret;\n}\n"
/* Every warp adds to its word and to the count; who is last reads the others' words. */
#define LAST(before, add, after)                                                                   \
    HEAD "and.b32 %r3, %r0, 31;\nsetp.ne.u32 %p4, %r3, 0;\n@%p4 bra end;\nshr.u32 %r4, %r0, 3;\nmov.b32 %r5, data;\nadd.u32 %r5, %r5, %r4;\n" \
         "st.shared.b32 [%r5], %r0;\n" before "atom." add ".shared.add.u32 %r6, [count], 1;\n" after \
         "setp.ne.u32 %p5, %r6, 2;\n@%p5 bra end;\nld.shared.b32 %r7, [data];\nld.shared.b32 %r8, [data+4];\nld.shared.b32 %r9, [data+8];\n" \
         "add.u32 %r7, %r7, %r8;\nadd.u32 %r7, %r7, %r9;\nst.global.b32 [%d0], %r7;\nend: ret;\n}\n"

#define RIGHT(ptx, threads) machine_expect(ptx, 1, threads, 0, NULL, NULL)
#define RACE(ptx, threads) machine_expect(ptx, 1, threads, 0, "race", "no barrier lies between")

static void test_store_and_load(void **state) {
    (void)state;
    RIGHT(HAND_OVER("", "release.cta", "acquire.cta", ""), 64);
    RIGHT(HAND_OVER("fence.acq_rel.cta;\n", "relaxed.cta", "acquire.cta", ""), 64);
    RIGHT(HAND_OVER("", "release.cta", "relaxed.cta", "fence.acq_rel.cta;\n"), 64);
    RIGHT(HAND_OVER("membar.cta;\n", "volatile", "volatile", "membar.cta;\n"), 64);
    RACE(HAND_OVER("", "relaxed.cta", "acquire.cta", ""), 64);
    RACE(HAND_OVER("", "release.cta", "relaxed.cta", ""), 64);
    RACE(HAND_OVER("", "volatile", "volatile", ""), 64);
    RACE(HAND_OVER("membar.cta;\n", "volatile", "volatile", ""), 64);
    RACE(HAND_OVER("", "volatile", "volatile", "membar.cta;\n"), 64);
}

/* Each warp's release must survive the others' additions. */
static void test_last_one(void **state) {
    (void)state;
    RIGHT(LAST("", "acq_rel.cta", ""), 96);
    RIGHT(LAST("fence.sc.cta;\n", "acquire.cta", ""), 96);
    RIGHT(LAST("membar.cta;\n", "relaxed.cta", "membar.cta;\n"), 96);
    RACE(LAST("", "relaxed.cta", ""), 96);
    RACE(LAST("", "acquire.cta", ""), 96);
    RACE(LAST("", "release.cta", ""), 96);
    RACE(LAST("membar.cta;\n", "relaxed.cta", ""), 96);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store_and_load), cmocka_unit_test(test_last_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
