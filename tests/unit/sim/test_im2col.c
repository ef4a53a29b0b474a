/* Tensor copies of im2col against the definition of a convolution: output pixel (n, p, q) and filter tap (r, s) read input pixel
 * (n, p * stride - pad + r * dilation, q * stride - pad + s * dilation). PTX ISA, "im2col mode". */
#include "tests/unit/sim/machine_test.h"

#include "runtime/sim/cuda/tensor_map.h"

#define CHANNELS 64 /* of the tensor; halves */
#define BOX 32      /* of a pixel that are copied */
#define PIXELS 64

/* Rank, coordinates, offsets. Afterwards tile is copied to `out`. */
#define KERNEL(copy)                                                                                                   \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[4096];\n.shared .align 8 .b64 bar;\n" \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128], .param .b32 c0, .param .b32 c1,\n" \
    ".param .b32 c2, .param .b32 c3, .param .b32 c4, .param .b16 o0, .param .b16 o1, .param .b16 o2)\n{\n" PTX_REGISTERS \
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmov.b64 %d9, map;\ncvta.param.u64 %d10, %d9;\n"                   \
    "ld.param.b32 %r10, [c0];\nld.param.b32 %r11, [c1];\nld.param.b32 %r12, [c2];\nld.param.b32 %r13, [c3];\n"         \
    "ld.param.b32 %r14, [c4];\nld.param.b16 %h1, [o0];\nld.param.b16 %h2, [o1];\nld.param.b16 %h3, [o2];\n"            \
    "setp.ne.b32 %p1, %r0, 0;\n" copy                                                                                  \
    "shl.b32 %r3, %r0, 5;\nmov.b32 %r5, tile;\nadd.s32 %r5, %r5, %r3;\nld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r5];\n" \
    "ld.shared.v4.b32 {%r24, %r25, %r26, %r27}, [%r5+16];\nmul.wide.u32 %d5, %r0, 32;\nadd.s64 %d5, %d5, %d0;\n"       \
    "st.global.v4.b32 [%d5], {%r20, %r21, %r22, %r23};\nst.global.v4.b32 [%d5+16], {%r24, %r25, %r26, %r27};\nret;\n}\n"
#define LOAD(rank, at, offsets)                                                                                        \
    KERNEL("@%p1 bra skip;\nmbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"           \
           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;\n"                                               \
           "cp.async.bulk.prefetch.tensor." rank ".L2.global.im2col [%d10, {" at "}], {" offsets "};\n"                \
           "cp.async.bulk.tensor." rank ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d10, {" at "}], [bar], {" offsets "};\n" \
           "skip:\nbar.sync 0;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n")

typedef struct launch_params {
    uint64_t out, in;
    uint8_t pad[48];
    uint8_t map[128];
    int32_t at[5];
    uint16_t offsets[3];
} launch_params;

/* W, H, D; sizes that are not there are 1. */
typedef struct convolution {
    int rank, images, size[3], pad[3], filter[3], stride[3], dilation[3];
} convolution;

static int outputs(const convolution *c, int d) {
    return (c->size[d] + 2 * c->pad[d] - c->dilation[d] * (c->filter[d] - 1) - 1) / c->stride[d] + 1;
}

static uint16_t input(int n, const int at[3], int channel) {
    return (uint16_t)(1 + n * 7919 + at[2] * 1009 + at[1] * 211 + at[0] * 31 + channel * 3);
}

static void make(const convolution *c, kcsim_tensor_map *map, uint64_t address, kcsim_tensor_swizzle swizzle) {
    *map = (kcsim_tensor_map){.type = KCSIM_TENSOR_U16, .rank = (uint8_t)c->rank, .address = address, .swizzle = (uint8_t)swizzle, .im2col = 1};
    map->strides[0] = 2;
    for (int i = 0; i < 5; i++) {
        bool spatial = i && i + 1 < c->rank;
        map->dims[i] = !i ? CHANNELS : spatial ? (uint64_t)c->size[i - 1] : i + 1 == c->rank ? (uint64_t)c->images : 1;
        map->box[i] = !i ? BOX : i == 1 ? PIXELS : 1;
        map->steps[i] = spatial ? (uint8_t)c->stride[i - 1] : 1;
        if (i && i < c->rank) map->strides[i] = map->strides[i - 1] * map->dims[i - 1];
        if (!spatial) continue;
        map->lower[i - 1] = (int16_t)-c->pad[i - 1];
        map->upper[i - 1] = (int16_t)(c->pad[i - 1] - c->dilation[i - 1] * (c->filter[i - 1] - 1));
    }
    const char *problem = kcsim_tensor_map_problem(map);
    if (problem) print_error("%s\n", problem);
    assert_null(problem);
}

static void fill(const convolution *c, uint16_t *in) {
    for (int n = 0; n < c->images; n++)
        for (int z = 0; z < c->size[2]; z++)
            for (int y = 0; y < c->size[1]; y++)
                for (int x = 0; x < c->size[0]; x++)
                    for (int k = 0; k < CHANNELS; k++) *in++ = input(n, (const int[3]){x, y, z}, k);
}

/* The numbers of output pixel `m`, counted through all images. */
static int base_of(const convolution *c, int m, int base[3]) {
    for (int d = 0; d < 3; d++) {
        base[d] = m % outputs(c, d) * c->stride[d] - c->pad[d];
        m /= outputs(c, d);
    }
    return m;
}

static void column(const char *ptx, const convolution *c, int first, const int tap[3], int channel, kcsim_tensor_swizzle swizzle) {
    static uint16_t in[1 << 16], out[PIXELS * BOX];
    machine_test test = machine_open(NULL, "sm_90a", ptx, sizeof in);
    launch_params params = {.out = test.out, .in = test.in};
    kcsim_tensor_map map;
    int base[3], n = base_of(c, first, base);
    memset(in, 0, sizeof in);
    fill(c, in);
    machine_write(&test, test.in, in, sizeof in);
    make(c, &map, test.in, swizzle);
    kcsim_tensor_map_write(&map, params.map);
    params.at[0] = channel;
    for (int d = 0; d + 2 < c->rank; d++) {
        params.at[d + 1] = base[d];
        params.offsets[d] = (uint16_t)(tap[d] * c->dilation[d]);
    }
    params.at[c->rank - 1] = n;
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    kcsim_status status = kcsim_launch(test.machine, test.function, &config, &params, sizeof params);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    memcpy(out, kcsim_mem_host(test.machine, test.out, sizeof out), sizeof out);
    for (int m = 0; m < PIXELS; m++) {
        n = base_of(c, first + m, base);
        for (int k = 0; k < BOX; k++) {
            int at[3];
            bool inside = n < c->images && channel + k < CHANNELS;
            for (int d = 0; d < 3; d++) {
                at[d] = base[d] + tap[d] * c->dilation[d];
                inside &= at[d] >= 0 && at[d] < c->size[d];
            }
            int chunk = k / 8, swapped = swizzle == KCSIM_SWIZZLE_64 ? chunk ^ (m / 2 % 4) : chunk; /* two rows are 128 bytes */
            assert_int_equal(out[BOX * m + 8 * swapped + k % 8], inside ? input(n, at, channel + k) : 0);
        }
    }
    machine_close(&test);
}

#define ONES {1, 1, 1}

static void test_columns(void **state) {
    static const convolution line = {3, 3, {40, 1, 1}, {2, 0, 0}, {5, 1, 1}, ONES, ONES};
    static const convolution plain = {4, 2, {9, 14, 1}, {1, 1, 0}, {3, 3, 1}, ONES, ONES};
    static const convolution strided = {4, 4, {13, 11, 1}, {1, 2, 0}, {3, 5, 1}, {2, 3, 1}, ONES};
    static const convolution dilated = {4, 2, {12, 12, 1}, {0, 2, 0}, {3, 3, 1}, {1, 2, 1}, {2, 2, 1}};
    static const convolution solid = {5, 2, {6, 5, 4}, {1, 1, 1}, {3, 3, 3}, {1, 2, 1}, ONES};
    (void)state;
    for (int s = 0; s < 5; s += 2) column(LOAD("3d", "%r10, %r11, %r12", "%h1"), &line, 33, (const int[3]){s, 0, 0}, 0, KCSIM_SWIZZLE_NONE);
    for (int tap = 0; tap < 9; tap++) {
        const int at[3] = {tap % 3, tap / 3, 0};
        const char *ptx = LOAD("4d", "%r10, %r11, %r12, %r13", "%h1, %h2");
        column(ptx, &plain, 14 * tap, at, 8 * tap, KCSIM_SWIZZLE_NONE);
        column(ptx, &strided, 7 * tap, at, 0, KCSIM_SWIZZLE_64);
        column(ptx, &dilated, 5 * tap, at, 32, KCSIM_SWIZZLE_64);
        column(LOAD("5d", "%r10, %r11, %r12, %r13, %r14", "%h1, %h2, %h3"), &solid, 9 * tap, (const int[3]){tap % 3, tap / 3, tap % 2}, 16,
               KCSIM_SWIZZLE_NONE);
    }
}

/* Out of shared memory: pixels of the tensor get what lies in tile; no offsets. */
static void test_store(void **state) {
    static const convolution c = {4, 2, {9, 7, 1}, {0, 0, 0}, {1, 1, 1}, {2, 1, 1}, ONES};
    static uint16_t in[1 << 16];
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a",
        KERNEL("mov.b32 %r1, tile;\nshl.b32 %r2, %r0, 5;\nadd.s32 %r1, %r1, %r2;\nst.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};\n"
               "st.shared.v4.b32 [%r1+16], {%r0, %r0, %r0, %r0};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
               "@!%p1 cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%d10, {%r10, %r11, %r12, %r13}], [tile];\n"
               "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nbar.sync 0;\n"), sizeof in);
    launch_params params = {.out = test.out, .in = test.in, .at = {0, 4, 2, 0, 0}};
    kcsim_tensor_map map;
    machine_write(&test, test.in, in, sizeof in);
    make(&c, &map, test.in, KCSIM_SWIZZLE_NONE);
    kcsim_tensor_map_write(&map, params.map);
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, &params, sizeof params), KCSIM_OK);
    const uint16_t *now = kcsim_mem_host(test.machine, test.in, sizeof in);
    for (int m = 0; m < 2 * 7 * 5; m++) {
        int base[3], n = base_of(&c, m, base), number = m - (2 * 5 + 2);
        for (int k = 0; k < BOX; k += 2) {
            int wanted = number < 0 || number >= PIXELS ? 0 : 2 * number + k / 16; /* the thread that stored it */
            assert_int_equal(now[((n * 7 + base[1]) * 9 + base[0]) * CHANNELS + k], wanted);
        }
    }
    machine_close(&test);
}

static void wrong(int32_t w, bool tiled, bool undefined, const char *kind, const char *text) {
    static const convolution c = {4, 2, {9, 7, 1}, {1, 1, 0}, {3, 3, 1}, ONES, ONES};
    static uint16_t in[1 << 16];
    machine_test test = machine_open(NULL, "sm_90a", undefined ? LOAD("4d", "%r10, %r11, %r12, %r13", "%h5, %h2")
                                                     : LOAD("4d", "%r10, %r11, %r12, %r13", "%h1, %h2"), sizeof in);
    launch_params params = {.out = test.out, .in = test.in, .at = {0, w, 2, 0, 0}};
    kcsim_tensor_map map;
    machine_write(&test, test.in, in, sizeof in);
    make(&c, &map, test.in, KCSIM_SWIZZLE_NONE);
    map.im2col = !tiled;
    kcsim_tensor_map_write(&map, params.map);
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {128, 1, 1}};
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, &params, sizeof params), KCSIM_FAULT);
    assert_true(machine_found(&test, kind, text));
    machine_close(&test);
}

static void test_wrong(void **state) {
    (void)state;
    wrong(8, false, false, "out_of_bounds", "outside the map's bounding box");
    wrong(-2, false, false, "out_of_bounds", "outside the map's bounding box");
    wrong(0, true, false, "out_of_bounds", "not one of im2col");
    wrong(0, false, true, "uninitialized", "an offset of the copy was never written");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns), cmocka_unit_test(test_store), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
