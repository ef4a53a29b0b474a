/* wgmma: what may go wrong around it, each with a kernel that is right. The numbers, swizzles and types are compared with NumPy
 * in tests/foreign (wgmma.cu and Triton's kernels). */
#include "tests/unit/sim/machine_test.h"

/* A warpgroup stores a tile of ones (64 x 16 halves, no swizzle: A) whose first rows are B too, multiplies once or more, and
 * stores the first accumulator. */
#define MMA_INTO(a, b, scale)                                                                                          \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" a ", " b ", %r12, %r13}, %d5, %d6, " scale ", 1, 1, 0, 0;\n"
#define MMA MMA_INTO("%r10", "%r11", "1")
#define ZEROS "mov.b32 %r10, 0;\nmov.b32 %r11, 0;\nmov.b32 %r12, 0;\nmov.b32 %r13, 0;\n"
#define STORE                                                                                                          \
    "shl.b32 %r1, %r0, 4;\nmov.b32 %r2, tile;\nadd.s32 %r1, %r1, %r2;\nmov.b32 %r3, 0x3c003c00;\n"                     \
    "st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};\n"
/* start address | leading 1024 | stride 128 */
#define DESCRIPTORS                                                                                                    \
    "shr.u32 %r4, %r2, 4;\ncvt.u64.u32 %d5, %r4;\nmov.b64 %d6, 0x0000000800400000;\nor.b64 %d5, %d5, %d6;\nmov.b64 %d6, %d5;\n"
#define PROXY "fence.proxy.async.shared::cta;\n"
#define BARRIER "bar.sync 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT "wgmma.wait_group.sync.aligned 0;\n"
#define WAIT1 "wgmma.wait_group.sync.aligned 1;\n"
#define RESULT "mul.wide.u32 %d7, %r0, 4;\nadd.s64 %d7, %d0, %d7;\nst.global.b32 [%d7], %r10;\n"

#define KERNEL(body)                                                                                                   \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"          \
    ".shared .align 128 .b8 tile[2048];\n" PTX_REGISTERS                                                               \
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\n" body "ret;\n}\n"
#define BEGIN STORE DESCRIPTORS ZEROS PROXY BARRIER

static void run(const char *ptx, uint32_t threads, const char *kind, const char *text, const float *wanted) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        kcsim_options options = {.checks = KCSIM_CHECK_ALL, .seed = seed};
        machine_test test = machine_open(&options, "sm_90a", ptx, 4096);
        kcsim_status status = machine_launch(&test, 1, threads, 0);
        if (!kind && status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
        if (kind) assert_true(machine_found(&test, kind, text));
        else assert_int_equal(kcsim_finding_count(test.machine), 0);
        const float *out = kcsim_mem_host(test.machine, test.out, 512);
        for (uint32_t i = 0; !kind && i < 128; i++) assert_true(out[i] == *wanted);
        machine_close(&test);
    }
}

static void right(const char *ptx, float wanted) {
    run(ptx, 128, NULL, NULL, &wanted);
}

static void wrong(const char *ptx, const char *kind, const char *text) {
    run(ptx, 128, kind, text, NULL);
}

static void test_right(void **state) {
    (void)state;
    right(KERNEL(BEGIN FENCE MMA COMMIT WAIT RESULT), 16);
    right(KERNEL(BEGIN FENCE MMA MMA COMMIT MMA COMMIT WAIT RESULT), 48);
    right(KERNEL(BEGIN FENCE MMA COMMIT WAIT "add.f32 %r10, %r10, 0f3f800000;\n" FENCE MMA COMMIT WAIT RESULT), 33);
    /* The first product is done, the second is not, and has other accumulators. */
    right(KERNEL(BEGIN "mov.b32 %r14, 0;\nmov.b32 %r15, 0;\n" FENCE MMA COMMIT
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r14, %r15, %r16, %r17}, %d5, %d6, 0, 1, 1, 0, 0;\n"
                 COMMIT WAIT1 RESULT WAIT), 16);
    /* Who reads may fence too. */
    right(KERNEL(STORE DESCRIPTORS ZEROS BARRIER PROXY FENCE MMA COMMIT WAIT RESULT), 16);
    /* Operands are stored anew after all have waited. */
    right(KERNEL(BEGIN FENCE MMA COMMIT WAIT BARRIER "st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};\n" PROXY BARRIER
                 FENCE MMA COMMIT WAIT RESULT), 32);
    /* Copies of registers behind the fence are the assembler's to fold. */
    right(KERNEL(BEGIN "mov.b32 %r20, 0;\n" FENCE "mov.b32 %r10, %r20;\n" "mov.b32 %r11, %r20;\n" MMA COMMIT WAIT RESULT), 16);
}

static void test_registers(void **state) {
    (void)state;
    wrong(KERNEL(BEGIN FENCE MMA COMMIT RESULT WAIT), "async_in_flight", "it is read while a wgmma");
    wrong(KERNEL(BEGIN FENCE MMA WAIT RESULT), "async_in_flight", "it is read while a wgmma");
    wrong(KERNEL(BEGIN FENCE MMA COMMIT WAIT1 RESULT), "async_in_flight", "it is read while a wgmma");
    wrong(KERNEL(BEGIN FENCE MMA COMMIT ZEROS WAIT RESULT), "async_in_flight", "it is written while a wgmma");
    wrong(KERNEL(BEGIN MMA COMMIT WAIT RESULT), "async_in_flight", "no wgmma.fence");
    wrong(KERNEL(BEGIN FENCE MMA COMMIT WAIT "add.f32 %r10, %r10, 0f3f800000;\n" MMA COMMIT WAIT RESULT), "async_in_flight",
          "no wgmma.fence since");
    wrong(KERNEL(STORE DESCRIPTORS PROXY BARRIER FENCE MMA COMMIT WAIT RESULT), "uninitialized", "never written");
}

/* A in registers: writing them is too early before the wait, reading them never is. */
#define FROM_REGISTERS                                                                                                 \
    "mov.b32 %r20, %r3;\nmov.b32 %r21, %r3;\nmov.b32 %r22, %r3;\nmov.b32 %r23, %r3;\n" FENCE                           \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, {%r20, %r21, %r22, %r23}, %d6, 1, 1, 1, 0;\n" COMMIT

static void test_sources(void **state) {
    (void)state;
    right(KERNEL(BEGIN FROM_REGISTERS "add.s32 %r24, %r20, 1;\n" WAIT "mov.b32 %r20, 0;\n" RESULT), 16);
    wrong(KERNEL(BEGIN FROM_REGISTERS "mov.b32 %r20, 0;\n" WAIT RESULT), "async_in_flight", "that was not waited for reads it");
}

static void test_memory(void **state) {
    (void)state;
    wrong(KERNEL(STORE DESCRIPTORS ZEROS BARRIER FENCE MMA COMMIT WAIT RESULT), "proxy_fence", "no fence.proxy.async");
    wrong(KERNEL(PROXY STORE DESCRIPTORS ZEROS BARRIER FENCE MMA COMMIT WAIT RESULT), "proxy_fence", "no fence.proxy.async");
    wrong(KERNEL(STORE DESCRIPTORS ZEROS PROXY FENCE MMA COMMIT WAIT RESULT), "race", "no barrier lies between");
    wrong(KERNEL(BEGIN FENCE MMA COMMIT BARRIER "st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};\n" WAIT RESULT), "async_in_flight",
          "still reads it");
    wrong(KERNEL(BEGIN FENCE MMA COMMIT WAIT "st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};\n" RESULT), "race", "no barrier");
    wrong(KERNEL(BEGIN "add.s64 %d5, %d5, 0x8000;\nmov.b64 %d5, 0x0000200000400000;\n" FENCE MMA COMMIT WAIT RESULT),
          "out_of_bounds", "past the end of shared memory");
}

/* Eight lines of 16 bytes a wavefront: 16 of A (each warp its rows), 2 of B (once); the stores before took 16. */
static void test_wavefronts(void **state) {
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", KERNEL(BEGIN FENCE MMA COMMIT WAIT RESULT), 4096);
    assert_int_equal(machine_launch(&test, 1, 128, 0), KCSIM_OK);
    assert_int_equal(machine_counter(&test, "shared_wavefronts"), 16 + 16 + 2);
    assert_int_equal(machine_counter(&test, "shared_bank_conflicts"), 0);
    machine_close(&test);
}

static void test_warpgroups(void **state) {
    (void)state;
    /* The fourth warp leaves; or the block has only three; or two paths run different instructions. */
    wrong(KERNEL(BEGIN "setp.ge.u32 %p1, %r0, 96;\n@%p1 bra END;\n" FENCE MMA COMMIT WAIT "END:\n"), "barrier_divergence",
          "waits for it");
    run(KERNEL(BEGIN FENCE MMA COMMIT WAIT), 96, "barrier_divergence", "all 128 threads", NULL);
    wrong(KERNEL(BEGIN FENCE "setp.ge.u32 %p1, %r0, 96;\n@%p1 bra OTHER;\n" MMA "bra END;\nOTHER:\n" MMA "END:\n" COMMIT WAIT),
          "barrier_divergence", "another warp of the warpgroup runs line");
    wrong(KERNEL(BEGIN FENCE "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra END;\n" MMA "END:\n" COMMIT WAIT), "barrier_divergence", NULL);
}

static void refuse(const char *ptx, const char *text) {
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), NULL);
    kcsim_module *module = NULL;
    char log[300] = "";
    assert_int_not_equal(kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module), KCSIM_OK);
    if (!strstr(log, text)) print_error("%s\n", log);
    assert_non_null(strstr(log, text));
    kcsim_machine_destroy(machine);
}

#define FORM(form, tail) KERNEL("wgmma.mma_async.sync.aligned." form " {%r10, %r11, %r12, %r13}, %d5, %d6, 1" tail ";\n")

static void test_forms(void **state) {
    (void)state;
    refuse(FORM("m64n8k8.f32.f16.f16", ", 1, 1, 0, 0"), "this shape and these types");
    refuse(FORM("m64n12k16.f32.f16.f16", ", 1, 1, 0, 0"), "this shape and these types");
    refuse(FORM("m64n40k32.s32.s8.s8", ""), "this shape and these types");
    refuse(FORM("m64n8k256.s32.b1.b1.xor.popc", ""), "this shape and these types");
    refuse(FORM("m64n8k16.f32.f16.f16", ", 1, 1, 0"), "operand 8 must be 0 or 1");
    refuse(FORM("m64n8k16.f32.f16.f16", ", 2, 1, 0, 0"), "operand 5 must be 1 or -1");
    refuse(FORM("m64n8k8.f32.tf32.tf32", ", 1, 1, 0, 0"), "an operand too many");
    refuse(FORM("m64n16k16.f32.f16.f16", ", 1, 1, 0, 0"), "4 registers where 8 are wanted");
    refuse(KERNEL("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%r10, %r11, %r12, %r13}, %d5, %d6, %r1, 0, 1, 1, 1, 0, 0;"),
           "not supported");
    refuse(".version 8.7\n.target sm_90\n.address_size 64\n.entry k() { wgmma.fence.sync.aligned; ret; }", "needs the target sm_90a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),  cmocka_unit_test(test_registers),  cmocka_unit_test(test_sources),
        cmocka_unit_test(test_wavefronts), cmocka_unit_test(test_memory), cmocka_unit_test(test_warpgroups), cmocka_unit_test(test_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
