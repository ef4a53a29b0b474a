/* Tensor maps that a kernel changes: every field, in shared and in global memory, the fences, and what goes wrong. */
#include "tests/unit/sim/machine_test.h"

#include "runtime/sim/cuda/tensor_map.h"

/* The map comes as a parameter; %d10 is its generic address, %r1 that of a copy in shared memory, %d8 that of one behind `out`. */
#define HEADER(target)                                                                                                 \
    ".version 8.8\n.target " target "\n.address_size 64\n"                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128])\n{\n" PTX_REGISTERS             \
    ".shared .align 1024 .b8 tile[2048];\n.shared .align 128 .b8 copy[128];\n.shared .align 8 .b64 bar;\n"             \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmov.b64 %d9, map;\ncvta.param.u64 %d10, %d9;\n" \
    "mov.b32 %r1, copy;\nadd.s64 %d8, %d0, 8192;\nmul.wide.u32 %d4, %r0, 4;\nadd.s64 %d11, %d10, %d4;\nld.b32 %r2, [%d11];\n" \
    "shl.b32 %r3, %r0, 2;\nadd.s32 %r4, %r1, %r3;\nst.shared.b32 [%r4], %r2;\nadd.s64 %d12, %d8, %d4;\n"               \
    "setp.ne.b32 %p1, %r0, 0;\nbar.warp.sync -1;\n"
#define KERNEL(target, body) HEADER(target) body "\nret;\n}\n"
#define PUBLISH "bar.warp.sync -1;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r1], 128;\n"
#define ACQUIRE "fence.proxy.tensormap::generic.acquire.gpu [%d8], 128;\n"
#define SET(what) "@!%p1 tensormap.replace.tile." what ";\n"
/* A box of 16 x 32 halves to `out`. */
#define USE                                                                                                            \
    "@%p1 bra skip;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"                  \
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n"                                                      \
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d8, {0, 0}], [bar];\n"      \
    "skip:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n"            \
    "shl.b32 %r3, %r0, 5;\nmov.b32 %r5, tile;\nadd.s32 %r5, %r5, %r3;\nld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r5];\n" \
    "ld.shared.v4.b32 {%r24, %r25, %r26, %r27}, [%r5+16];\nmul.wide.u32 %d5, %r0, 32;\nadd.s64 %d5, %d5, %d0;\n"       \
    "st.global.v4.b32 [%d5], {%r20, %r21, %r22, %r23};\nst.global.v4.b32 [%d5+16], {%r24, %r25, %r26, %r27};\n"

typedef struct launch_params {
    uint64_t out, in;
    uint8_t pad[48];
    uint8_t map[128];
} launch_params;

static const kcsim_tensor_map box = {.type = KCSIM_TENSOR_F16, .rank = 2, .strides = {2, 128}, .dims = {64, 16, 1, 1, 1},
                                     .box = {32, 16, 1, 1, 1}, .steps = {1, 1, 1, 1, 1}};

/* `changed`: the map at `out` + 8192 afterwards. */
static void run(const char *ptx, const char *arch, const kcsim_tensor_map *map, const char *kind, const char *text, kcsim_tensor_map *changed,
                uint16_t out[512]) {
    static uint16_t in[4096];
    static uint8_t zeros[16384];
    machine_test test = machine_open(NULL, arch, ptx, sizeof zeros);
    launch_params params = {.out = test.out, .in = test.in};
    kcsim_tensor_map made = *map;
    for (int i = 0; i < 4096; i++) in[i] = (uint16_t)i;
    machine_write(&test, test.in, in, sizeof in);
    machine_write(&test, test.out, zeros, sizeof zeros);
    if (!made.address) made.address = test.in;
    kcsim_tensor_map_write(&made, params.map);
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    kcsim_status status = kcsim_launch(test.machine, test.function, &config, &params, sizeof params);
    if (!kind && status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&test, kind, text));
    if (changed) assert_true(kcsim_tensor_map_read(changed, (const uint8_t *)kcsim_mem_host(test.machine, test.out, 16384) + 8192));
    if (changed) changed->address -= test.in;
    if (out) memcpy(out, kcsim_mem_host(test.machine, test.out, 1024), 1024);
    machine_close(&test);
}

#define FIELDS(space, at)                                                                                              \
    "add.s64 %d6, %d1, 256;\nmov.b64 %d7, 512;\nmov.b32 %r7, 2;\nmov.b32 %r8, 77;\n"                                   \
    SET("global_address" space ".b1024.b64 [" at "], %d6") SET("rank" space ".b1024.b32 [" at "], %r7")                \
    SET("global_stride" space ".b1024.b64 [" at "], 1, %d7") SET("global_dim" space ".b1024.b32 [" at "], 2, %r8")     \
    SET("box_dim" space ".b1024.b32 [" at "], 2, 4") SET("element_stride" space ".b1024.b32 [" at "], 2, %r7")         \
    SET("elemtype" space ".b1024.b32 [" at "], 10") SET("swizzle_mode" space ".b1024.b32 [" at "], 2")                 \
    SET("fill_mode" space ".b1024.b32 [" at "], 1") SET("interleave_layout" space ".b1024.b32 [" at "], 0")

static void check_fields(const char *ptx) {
    kcsim_tensor_map map;
    run(ptx, "sm_90a", &box, NULL, NULL, &map, NULL);
    assert_int_equal(map.address, 256);
    assert_int_equal(map.rank, 3);
    assert_int_equal(map.strides[2], 512);
    assert_int_equal(map.dims[2], 77);
    assert_int_equal(map.box[2], 4);
    assert_int_equal(map.steps[2], 2);
    assert_int_equal(map.type, KCSIM_TENSOR_BF16);
    assert_int_equal(map.strides[0], 2);
    assert_int_equal(map.swizzle, KCSIM_SWIZZLE_64);
    assert_int_equal(map.fill_nan, 1);
    assert_int_equal(map.dims[0], 64);
}

static void test_fields(void **state) {
    kcsim_tensor_map map;
    (void)state;
    check_fields(KERNEL("sm_90a", FIELDS(".shared::cta", "%r1") PUBLISH));
    check_fields(KERNEL("sm_90a", "st.global.b32 [%d12], %r2;\nbar.warp.sync -1;\n" FIELDS(".global", "%d8")));
    check_fields(KERNEL("sm_90a", "cvt.u64.u32 %d13, %r1;\ncvta.shared.u64 %d13, %d13;\n" FIELDS("", "%d13") PUBLISH));
    run(KERNEL("sm_120a", SET("elemtype.shared::cta.b1024.b32 [%r1], 9") SET("swizzle_mode.shared::cta.b1024.b32 [%r1], 3")
                   SET("swizzle_atomicity.shared::cta.b1024.b32 [%r1], 1") PUBLISH), "sm_120a", &box, NULL, NULL, &map, NULL);
    assert_int_equal(map.type, KCSIM_TENSOR_F64);
    assert_int_equal(map.strides[0], 8);
    assert_int_equal(map.swizzle, KCSIM_SWIZZLE_128_ATOM_32);
    run(KERNEL("sm_100a", SET("swizzle_mode.shared::cta.b1024.b32 [%r1], 3") SET("swizzle_atomicity.shared::cta.b1024.b32 [%r1], 3")
                   SET("swizzle_mode.shared::cta.b1024.b32 [%r1], 3") PUBLISH), "sm_100a", &box, NULL, NULL, &map, NULL);
    assert_int_equal(map.swizzle, KCSIM_SWIZZLE_128_ATOM_64);
    run(KERNEL("sm_100a", SET("swizzle_mode.shared::cta.b1024.b32 [%r1], 3") SET("swizzle_atomicity.shared::cta.b1024.b32 [%r1], 3")
                   SET("swizzle_atomicity.shared::cta.b1024.b32 [%r1], 0") PUBLISH), "sm_100a", &box, NULL, NULL, &map, NULL);
    assert_int_equal(map.swizzle, KCSIM_SWIZZLE_128);
}

/* Another address, and only 9 rows and 30 columns of it. */
static void test_use(void **state) {
    uint16_t out[512];
    (void)state;
    run(KERNEL("sm_90a", "add.s64 %d6, %d1, 256;\n" SET("global_address.shared::cta.b1024.b64 [%r1], %d6")
                   SET("global_dim.shared::cta.b1024.b32 [%r1], 0, 30") SET("global_dim.shared::cta.b1024.b32 [%r1], 1, 9") PUBLISH ACQUIRE USE),
        "sm_90a", &box, NULL, NULL, NULL, out);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 32; column++)
            assert_int_equal(out[32 * row + column], row < 9 && column < 30 ? 128 + 64 * row + column : 0);
}

#define IN_GLOBAL "st.global.b32 [%d12], %r2;\nbar.warp.sync -1;\nadd.s64 %d6, %d1, 256;\n" SET("global_address.global.b1024.b64 [%d8], %d6")
#define RELEASE "fence.proxy.tensormap::generic.release.gpu;\nbar.warp.sync -1;\n"

static void test_fences(void **state) {
    (void)state;
    run(KERNEL("sm_90a", PUBLISH ACQUIRE USE), "sm_90a", &box, NULL, NULL, NULL, NULL);
    run(KERNEL("sm_90a", PUBLISH USE), "sm_90a", &box, "proxy_fence", "acquired it since", NULL, NULL);
    run(KERNEL("sm_90a", ACQUIRE PUBLISH USE), "sm_90a", &box, "proxy_fence", "acquired it since", NULL, NULL);
    run(KERNEL("sm_90a", IN_GLOBAL RELEASE ACQUIRE USE), "sm_90a", &box, NULL, NULL, NULL, NULL);
    run(KERNEL("sm_90a", IN_GLOBAL ACQUIRE USE), "sm_90a", &box, "proxy_fence", "released it since", NULL, NULL);
    run(KERNEL("sm_90a", IN_GLOBAL RELEASE USE), "sm_90a", &box, "proxy_fence", "acquired it since", NULL, NULL);
}

static void test_wrong(void **state) {
    kcsim_tensor_map odd = box;
    (void)state;
    run(KERNEL("sm_90a", "@!%p1 st.shared.b32 [%r1+8], 1;\n" SET("fill_mode.shared::cta.b1024.b32 [%r1], 1")), "sm_90a", &box,
        "uninitialized", "no tensor map", NULL, NULL);
    run(KERNEL("sm_90a", SET("fill_mode.shared::cta.b1024.b32 [%r1+32], 1")), "sm_90a", &box, "misaligned", "64 bytes", NULL, NULL);
    run(KERNEL("sm_90a", "cvta.param.u64 %d13, %d9;\n" SET("fill_mode.b1024.b32 [%d13], 1")), "sm_90a", &box, "out_of_bounds", NULL, NULL, NULL);
    run(KERNEL("sm_90a", SET("fill_mode.shared::cta.b1024.b32 [%r1+65536], 1")), "sm_90a", &box, "out_of_bounds", NULL, NULL, NULL);
    run(KERNEL("sm_90a", SET("rank.shared::cta.b1024.b32 [%r1], %r30")), "sm_90a", &box, "uninitialized", "never written", NULL, NULL);
    run(KERNEL("sm_90a", SET("box_dim.shared::cta.b1024.b32 [%r1], 0, 300") PUBLISH ACQUIRE USE), "sm_90a", &box, "out_of_bounds", "boxDim", NULL, NULL);
    run(KERNEL("sm_90a", SET("rank.shared::cta.b1024.b32 [%r1], 2") PUBLISH ACQUIRE USE), "sm_90a", &odd, "out_of_bounds", NULL, NULL, NULL);
    run(KERNEL("sm_90a", "@!%p1 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], [%r1], 128;"),
        "sm_90a", &box, "barrier_divergence", "all lanes of the warp", NULL, NULL);
}

static void refuse(const char *ptx, const char *text) {
    char log[300] = "";
    kcsim_module *module;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_120a"), NULL);
    assert_int_not_equal(kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module), KCSIM_OK);
    if (!strstr(log, text) || !strstr(log, "line ")) print_error("%s\n", log);
    assert_true(strstr(log, text) && strstr(log, "line "));
    kcsim_machine_destroy(machine);
}

static void test_refusals(void **state) {
    (void)state;
    refuse(KERNEL("sm_90", SET("fill_mode.global.b1024.b32 [%d8], 1")), "such as sm_90a");
    refuse(KERNEL("sm_80", ACQUIRE), "needs sm_90");
    refuse(KERNEL("sm_90", "fence.proxy.tensormap::generic.acquire.gpu [%d8], 64;"), "not known");
    refuse(KERNEL("sm_120a", SET("interleave_layout.global.b1024.b32 [%d8], 1")), "not supported");
    refuse(KERNEL("sm_120a", SET("elemtype.global.b1024.b32 [%d8], 13")), "not supported");
    refuse(KERNEL("sm_120a", SET("swizzle_mode.global.b1024.b32 [%d8], %r1")), "not supported");
    refuse(KERNEL("sm_120a", SET("swizzle_atomicity.global.b1024.b32 [%d8], 2")), "not supported");
    refuse(KERNEL("sm_120a", SET("box_dim.global.b1024.b32 [%d8], 5, %r1")), "below 5");
    refuse(KERNEL("sm_120a", SET("global_stride.global.b1024.b64 [%d8], 4, %d1")), "below 4");
    refuse(KERNEL("sm_120a", SET("global_stride.global.b1024.b32 [%d8], 0, %r1")), "not known");
    refuse(KERNEL("sm_120a", SET("rank.global.b1024.b32 [%d8], 0, %r1")), "not known");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_use), cmocka_unit_test(test_fences),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
