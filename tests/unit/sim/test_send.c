/* st.async and red.async: what a thread sends to the shared memory of another block, and that block's mbarrier. PTX ISA,
 * "st.async", "red.async". */
#include "tests/unit/sim/machine_test.h"

/* Each thread of two blocks sends to its place of sixteen bytes in the other block; `bytes` of a block come. What lies there
 * is in[0..1], what is sent comes from in[2..3]. */
#define START                                                                                                              \
    ".version 8.7\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[512];\n.shared .align 8 .b64 bar;\n"         \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS ".reg .f32 %f<8>;\n.reg .f64 %g<4>;\n"         \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmov.u32 %r4, %cluster_ctarank;\n"            \
    "xor.b32 %r5, %r4, 1;\nld.global.v2.b64 {%d2, %d3}, [%d1];\nld.global.v2.b64 {%d4, %d5}, [%d1+16];\n"                  \
    "mov.b64 {%r10, %r11}, %d4;\nmov.b64 {%r12, %r13}, %d5;\nmov.b32 %f0, %r10;\nmov.b32 %f1, %r11;\n"                     \
    "mov.b64 %g0, %d4;\nmov.b64 %g1, %d5;\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nadd.s32 %r1, %r1, %r2;\n"             \
    "st.shared.v2.b64 [%r1], {%d2, %d3};\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\n"
#define MEET "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
#define THERE                                                                                                              \
    "mapa.shared::cluster.u32 %r6, %r1, %r5;\nmov.u32 %r8, bar;\nmapa.shared::cluster.u32 %r7, %r8, %r5;\n"                \
    "cvta.shared.u64 %d6, tile;\ncvt.u64.u32 %d7, %r2;\nadd.s64 %d6, %d6, %d7;\nmapa.u64 %d6, %d6, %r5;\n"                 \
    "cvta.shared.u64 %d8, bar;\nmapa.u64 %d8, %d8, %r5;\n"
#define EXPECT(bytes) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " bytes ";\n"
#define WAIT "wait:\nmbarrier.try_wait.parity.shared.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n"
#define SHOW                                                                                                               \
    "ld.shared.v2.b64 {%d10, %d11}, [%r1];\nmad.lo.u32 %r3, %r4, 512, %r2;\ncvt.u64.u32 %d9, %r3;\n"                       \
    "add.s64 %d9, %d9, %d0;\nst.global.v2.b64 [%d9], {%d10, %d11};\n"
#define KERNEL(bytes, send) START MEET EXPECT(bytes) THERE send ";\n" WAIT SHOW "ret;\n}\n"

#define ONE 0x3ff0000000000007u
#define TWO 0x40000000fffffff0u
#define OLD0 0xf000000e00000005u
#define OLD1 0x1122334455667788u
#define LOW(x) ((x) & 0xffffffffu)
#define HIGH(x) ((x) & 0xffffffff00000000u)

static void sends(const char *ptx, uint64_t first, uint64_t second) {
    static const uint64_t in[4] = {OLD0, OLD1, ONE, TWO};
    for (uint64_t seed = 0; seed < 4; seed++) {
        kcsim_options options = kcsim_options_default();
        options.seed = seed * 977;
        machine_test test = machine_open(&options, "sm_90a", ptx, 1024);
        machine_write(&test, test.in, in, sizeof in);
        kcsim_status status = machine_launch_clusters(&test, 2, 32, 2);
        if (status != KCSIM_OK) print_error("%s\n%s\n", kcsim_last_fault(test.machine), ptx);
        assert_int_equal(status, KCSIM_OK);
        const uint64_t *out = kcsim_mem_host(test.machine, test.out, 1024);
        for (int i = 0; i < 64; i++) {
            assert_true(out[2 * i] == first);
            assert_true(out[2 * i + 1] == second);
        }
        machine_close(&test);
    }
}

#define ST(words) "st.async" words ".shared::cluster.mbarrier::complete_tx::bytes"
#define TO " [%r6], "
#define BAR ", [%r7]"

static void stores(void **state) {
    (void)state;
    sends(KERNEL("128", ST("") ".b32" TO "%r10" BAR), HIGH(OLD0) | LOW(ONE), OLD1);
    sends(KERNEL("128", ST(".weak") ".u32" TO "%r10" BAR), HIGH(OLD0) | LOW(ONE), OLD1);
    sends(KERNEL("128", ST("") ".s32 [%r6+4], -2" BAR), LOW(OLD0) | (uint64_t)0xfffffffe << 32, OLD1);
    sends(KERNEL("128", ST("") ".f32" TO "%f0" BAR), HIGH(OLD0) | LOW(ONE), OLD1);
    sends(KERNEL("256", ST("") ".b64" TO "%d4" BAR), ONE, OLD1);
    sends(KERNEL("256", ST("") ".u64 [%r6+8], %d5" BAR), OLD0, TWO);
    sends(KERNEL("256", ST("") ".s64" TO "%d4" BAR), ONE, OLD1);
    sends(KERNEL("256", ST("") ".f64" TO "%g0" BAR), ONE, OLD1);
    sends(KERNEL("256", ST("") ".v2.b32 [%r6+8], {%r10, %r11}" BAR), OLD0, ONE);
    sends(KERNEL("512", ST("") ".v2.b64" TO "{%d4, %d5}" BAR), ONE, TWO);
    sends(KERNEL("512", ST("") ".v2.f64" TO "{%g0, %g1}" BAR), ONE, TWO);
    sends(KERNEL("512", ST("") ".v4.b32" TO "{%r12, %r13, %r10, %r11}" BAR), TWO, ONE);
    sends(KERNEL("512", ST("") ".v4.f32" TO "{%f0, %f1, %f0, %f1}" BAR), ONE, ONE);
    sends(KERNEL("128", "st.async.mbarrier::complete_tx::bytes.b32 [%d6], %r10, [%d8]"), HIGH(OLD0) | LOW(ONE), OLD1);
}

#define RED(words) "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes" words
#define LOWER(x) (HIGH(OLD0) | ((x) & 0xffffffffu))

static void reductions(void **state) {
    (void)state;
    sends(KERNEL("128", RED(".add.u32") TO "%r10" BAR), LOWER(12), OLD1);
    sends(KERNEL("128", RED(".add.s32") TO "-9" BAR), LOWER(-4u), OLD1);
    sends(KERNEL("256", RED(".add.u64") TO "%d4" BAR), OLD0 + ONE, OLD1);
    sends(KERNEL("256", RED(".add.s64") TO "%d4" BAR), OLD0 + ONE, OLD1);
    sends(KERNEL("128", RED(".inc.u32") TO "%r10" BAR), LOWER(6), OLD1);
    sends(KERNEL("128", RED(".inc.u32") TO "5" BAR), LOWER(0), OLD1);
    sends(KERNEL("128", RED(".dec.u32") TO "%r10" BAR), LOWER(4), OLD1);
    sends(KERNEL("128", RED(".dec.u32") TO "4" BAR), LOWER(4), OLD1);
    sends(KERNEL("128", RED(".min.u32") TO "%r12" BAR), LOWER(5), OLD1);
    sends(KERNEL("128", RED(".min.s32") TO "%r12" BAR), LOWER(TWO), OLD1);
    sends(KERNEL("128", RED(".max.u32") TO "%r12" BAR), LOWER(TWO), OLD1);
    sends(KERNEL("128", RED(".max.s32") TO "%r12" BAR), LOWER(5), OLD1);
    sends(KERNEL("128", RED(".and.b32") TO "%r10" BAR), LOWER(5), OLD1);
    sends(KERNEL("128", RED(".or.b32") TO "%r10" BAR), LOWER(7), OLD1);
    sends(KERNEL("128", RED(".xor.b32") TO "%r10" BAR), LOWER(2), OLD1);
    sends(KERNEL("128", "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%d6], %r10, [%d8]"), LOWER(12), OLD1);
    /* All lanes of both blocks into words of their own, twice in one phase. */
    sends(KERNEL("256", RED(".add.u32") TO "%r10" BAR ";\n" RED(".add.u32") TO "%r10" BAR), LOWER(19), OLD1);
}

static void refuse(const char *send, const char *target, const char *text) {
    char ptx[4000];
    snprintf(ptx, sizeof ptx, ".version 8.7\n.target %s\n.address_size 64\n.visible .entry k()\n{\n%s%s;\nret;\n}\n",
             target, PTX_REGISTERS, send);
    machine_refuse("sm_90a", ptx, text);
}

static void refusals(void **state) {
    (void)state;
    refuse("st.async.shared::cluster.b32 [%r1], %r2, [%r3]", "sm_90", "this form is not known");
    refuse(ST("") ".b16 [%r1], %h2, [%r3]", "sm_90", "this form is not known");
    refuse(ST("") ".v4.b64 [%r1], {%d2, %d3, %d4, %d5}, [%r3]", "sm_90", "this form is not known");
    refuse(ST(".relaxed") ".b32 [%r1], %r2, [%r3]", "sm_90", "this form is not known");
    refuse(ST("") ".v2.b32 [%r1], {%r2, %r3, %r4}, [%r3]", "sm_90", "2 values were expected");
    refuse(ST("") ".b32 [%r1], %r2, [%r3]", "sm_80", "this needs a target such as sm_90");
    refuse(RED(".add.f32") " [%r1], %r2, [%r3]", "sm_90", "this form is not known");
    refuse(RED(".and.b64") " [%r1], %d2, [%r3]", "sm_90", "this form is not known");
    refuse("red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3]", "sm_90", "this form is not known");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),
        cmocka_unit_test(reductions),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
