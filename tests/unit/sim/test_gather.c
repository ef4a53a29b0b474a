/* tile::gather4 and tile::scatter4: four rows of a matrix. PTX ISA, ".tile::scatter4 and .tile::gather4 modes". */
#include "tests/unit/sim/machine_test.h"

#include "runtime/sim/cuda/tensor_map.h"

#define START(target)                                                                                                  \
    ".version 8.8\n.target " target "\n.address_size 64\n.shared .align 1024 .b8 tile[512];\n.shared .align 8 .b64 bar;\n" \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128], .param .b32 c0, .param .b32 c1,\n" \
    ".param .b32 c2, .param .b32 c3, .param .b32 c4)\n{\n" PTX_REGISTERS                                               \
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.b64 %d9, map;\ncvta.param.u64 %d10, %d9;\n"                   \
    "ld.param.b32 %r10, [c0];\nld.param.b32 %r11, [c1];\nld.param.b32 %r12, [c2];\nld.param.b32 %r13, [c3];\n"         \
    "ld.param.b32 %r14, [c4];\nsetp.ne.b32 %p1, %r0, 0;\nmov.b32 %r5, tile;\nshl.b32 %r3, %r0, 4;\nadd.s32 %r5, %r5, %r3;\n"
#define FIVE "{%r10, %r11, %r12, %r13, %r14}"
#define GATHER(target, to)                                                                                             \
    START(target) "@%p1 bra skip;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"    \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;\n"                                                       \
    "cp.async.bulk.tensor.2d." to ".global.tile::gather4.mbarrier::complete_tx::bytes [tile], [%d10, " FIVE "], [bar];\n" \
    "skip:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n"            \
    "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r5];\nmul.wide.u32 %d5, %r0, 16;\nadd.s64 %d5, %d5, %d0;\n"          \
    "st.global.v4.b32 [%d5], {%r20, %r21, %r22, %r23};\nret;\n}\n"
#define SCATTER(target)                                                                                                \
    START(target) "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"       \
    "@!%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d10, " FIVE "], [tile];\n"           \
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n"

typedef struct launch_params {
    uint64_t out, in;
    uint8_t pad[48];
    uint8_t map[128];
    int32_t at[5];
} launch_params;

/* A matrix of 10 rows of 70 halves (of 80); boxes of 64. */
static machine_test run(const char *ptx, const char *arch, const int32_t at[5], uint16_t height, kcsim_tensor_swizzle swizzle, bool good) {
    static uint16_t in[1024];
    machine_test test = machine_open(NULL, arch, ptx, sizeof in);
    launch_params params = {.out = test.out, .in = test.in};
    kcsim_tensor_map map = {.type = KCSIM_TENSOR_U16, .rank = 2, .swizzle = (uint8_t)swizzle, .address = test.in, .strides = {2, 160},
                            .dims = {70, 10, 1, 1, 1}, .box = {64, height, 1, 1, 1}, .steps = {1, 1, 1, 1, 1}};
    for (int i = 0; i < 1024; i++) in[i] = (uint16_t)(1000 * (i / 80) + i % 80 + 1);
    machine_write(&test, test.in, in, sizeof in);
    kcsim_tensor_map_write(&map, params.map);
    memcpy(params.at, at, sizeof params.at);
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    kcsim_status status = kcsim_launch(test.machine, test.function, &config, &params, sizeof params);
    if ((status == KCSIM_OK) != good) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, good ? KCSIM_OK : KCSIM_FAULT);
    return test;
}

static void gather(const char *ptx, const char *arch, kcsim_tensor_swizzle swizzle) {
    static const int32_t at[5] = {8, 7, 0, 10, 7};
    machine_test test = run(ptx, arch, at, 1, swizzle, true);
    const uint16_t *out = kcsim_mem_host(test.machine, test.out, 512);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 64; c++) {
            int chunk = swizzle ? c / 8 ^ i : c / 8, column = at[0] + c;
            bool inside = at[1 + i] < 10 && column < 70;
            assert_int_equal(out[64 * i + 8 * chunk + c % 8], inside ? 1000 * at[1 + i] + column + 1 : 0);
        }
    machine_close(&test);
}

static void test_gather(void **state) {
    (void)state;
    gather(GATHER("sm_100a", "shared::cluster"), "sm_100a", KCSIM_SWIZZLE_NONE);
    gather(GATHER("sm_120", "shared::cta"), "sm_120", KCSIM_SWIZZLE_128);
}

static void test_scatter(void **state) {
    static const int32_t at[5] = {8, 3, 9, 1, -1};
    (void)state;
    machine_test test = run(SCATTER("sm_100a"), "sm_100a", at, 1, KCSIM_SWIZZLE_NONE, true);
    const uint16_t *in = kcsim_mem_host(test.machine, test.in, 2048);
    for (int row = 0; row < 10; row++)
        for (int c = 0; c < 80; c++) {
            int i = row == 3 ? 0 : row == 9 ? 1 : row == 1 ? 2 : -1;
            bool taken = i >= 0 && c >= 8 && c < 70;
            int thread = 8 * i + (c - 8) / 8; /* 16 bytes each, of words that are its number */
            assert_int_equal(in[80 * row + c], !taken ? 1000 * row + c + 1 : c % 2 ? 0 : thread);
        }
    machine_close(&test);
}

static void test_wrong(void **state) {
    static const int32_t at[5] = {0, 0, 1, 2, 3};
    (void)state;
    machine_test test = run(GATHER("sm_100a", "shared::cluster"), "sm_100a", at, 4, KCSIM_SWIZZLE_NONE, false);
    assert_true(machine_found(&test, "out_of_bounds", "a box of one"));
    machine_close(&test);
    machine_refuse("sm_120a", GATHER("sm_90", "shared::cta"), "such as sm_100");
    machine_refuse("sm_120a", GATHER("sm_120a", "shared::cluster"), "such as sm_100a");
    machine_refuse("sm_120a", SCATTER("sm_120a"), "such as sm_100a");
    machine_refuse("sm_120a", START("sm_120a") "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [tile], [%d10, {%r1, %r2}], [bar];\nret;\n}\n",
                   "5 coordinates");
    machine_refuse("sm_120a", START("sm_120a") "cp.async.bulk.tensor.2d.shared::cta.global.tile::scatter4.mbarrier::complete_tx::bytes [tile], [%d10, " FIVE "], [bar];\nret;\n}\n",
                   "no such mode");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gather), cmocka_unit_test(test_scatter), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
