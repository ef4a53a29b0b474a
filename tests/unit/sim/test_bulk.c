/* Bulk and tensor copies: every form, every swizzle and rank against loops that know nothing of the machine's, and a zoo
 * of wrong uses beside right ones. */
#include "tests/unit/sim/machine_test.h"

#include "runtime/sim/cuda/tensor_map.h"

#define BUFFER (1u << 16)
#define SHARED 32768u
#define HEADER                                                                                     \
    ".version 8.7\n.target sm_90a\n.address_size 64\n"                                             \
    ".shared .align 1024 .b8 tile[32768];\n.shared .align 8 .b64 bar;\n.shared .align 8 .b64 full;\n" \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128],\n"          \
    ".param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4)\n{\n" PTX_REGISTERS \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\n"                    \
    "mov.b64 %d9, map;\ncvta.param.u64 %d10, %d9;\n"                                               \
    "ld.param.u32 %r10, [c0];\nld.param.u32 %r11, [c1];\nld.param.u32 %r12, [c2];\n"               \
    "ld.param.u32 %r13, [c3];\nld.param.u32 %r14, [c4];\nsetp.ne.b32 %p1, %r0, 0;\n"               \
    "mov.b32 %r1, tile;\nshl.b32 %r3, %r0, 4;\nadd.s32 %r2, %r1, %r3;\n"                           \
    "cvt.u64.u32 %d4, %r3;\nadd.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\n"
#define END "\nret;\n}\n"
#define KERNEL(body) HEADER body END
#define INIT "@!%p1 mbarrier.init.shared::cta.b64 [bar], 1;\nbar.sync 0;\n"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " bytes ";\n"
#define WAIT                                                                                       \
    "wait:\nmbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0;\n@!%p5 bra wait;\n"
#define LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1], 512, [bar];\n"
#define STORE "cp.async.bulk.global.shared::cta.bulk_group [%d0], [tile], 512;\n"
#define COMMIT "cp.async.bulk.commit_group;\n"
#define DRAIN "cp.async.bulk.wait_group.read 0;\n"
#define FENCE "fence.proxy.async.shared::cta;\n"
#define ONLY_FIRST "@%p1 bra skip;\n"
#define SKIP "skip:\n"
#define FROM_TILE "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r2];\nst.global.v4.b32 [%d2], {%r20, %r21, %r22, %r23};\n"
#define TO_TILE "st.shared.v4.b32 [%r2], {%r0, %r0, %r0, %r0};\n"

typedef struct launch_params {
    uint64_t out, in;
    uint8_t pad[48];
    uint8_t map[128];
    int32_t at[5];
} launch_params;

typedef struct bulk_test {
    machine_test test;
    launch_params params;
    kcsim_tensor_map map;
} bulk_test;

static void bulk_open(bulk_test *bulk, const char *ptx, uint64_t seed) {
    static uint8_t bytes[BUFFER];
    kcsim_options options = kcsim_options_default();
    memset(bulk, 0, sizeof *bulk);
    options.seed = seed;
    bulk->test = machine_open(&options, "sm_90a", ptx, BUFFER);
    uint32_t random = 1;
    for (size_t i = 0; i < BUFFER; i++) bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
    machine_write(&bulk->test, bulk->test.in, bytes, BUFFER);
    machine_write(&bulk->test, bulk->test.out, bytes, BUFFER);
    bulk->params.out = bulk->test.out;
    bulk->params.in = bulk->test.in;
}

static kcsim_status bulk_run(bulk_test *bulk, uint32_t grid, uint32_t threads, uint32_t cluster) {
    kcsim_launch_config config = {.grid = {grid, 1, 1}, .block = {threads, 1, 1}, .cluster = {cluster, 1, 1}};
    return kcsim_launch(bulk->test.machine, bulk->test.function, &config, &bulk->params, sizeof bulk->params);
}

static const uint8_t *bytes_at(bulk_test *bulk, uint64_t address) {
    return kcsim_mem_host(bulk->test.machine, address, BUFFER);
}

/* Under three seeds; `kind` NULL: nothing is found; "": anything is. */
static void expect(const char *ptx, uint32_t threads, const char *kind, const char *text) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        bulk_test bulk;
        bulk_open(&bulk, ptx, seed * 977);
        kcsim_status status = bulk_run(&bulk, 1, threads, 1);
        if ((status == KCSIM_OK) != !kind) print_message("%s\n", kcsim_last_fault(bulk.test.machine));
        assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
        if (kind && *kind) assert_true(machine_found(&bulk.test, kind, text));
        machine_close(&bulk.test);
    }
}

/* ---- tensors ---- */

typedef struct tensor {
    kcsim_tensor_type type;
    unsigned rank;
    uint64_t dims[5];
    uint16_t box[5];
    uint8_t steps[5];
    kcsim_tensor_swizzle swizzle;
    bool nan;
    int32_t at[5];
} tensor;

static void set_map(bulk_test *bulk, const tensor *t, uint64_t address) {
    kcsim_tensor_map *map = &bulk->map;
    memset(map, 0, sizeof *map);
    map->type = (uint8_t)t->type;
    map->rank = (uint8_t)t->rank;
    map->swizzle = (uint8_t)t->swizzle;
    map->fill_nan = t->nan;
    map->address = address;
    map->strides[0] = kcsim_tensor_type_bytes(t->type);
    for (unsigned i = 0; i < 5; i++) {
        map->dims[i] = i < t->rank ? t->dims[i] : 1;
        map->box[i] = i < t->rank ? t->box[i] : 1;
        map->steps[i] = i < t->rank && i && t->steps[i] ? t->steps[i] : 1;
        if (i && i < t->rank) map->strides[i] = (map->strides[i - 1] * map->dims[i - 1] + 15) / 16 * 16;
        bulk->params.at[i] = t->at[i];
    }
    const char *problem = kcsim_tensor_map_problem(map);
    if (problem) print_error("%s\n", problem);
    assert_null(problem);
    kcsim_tensor_map_write(map, bulk->params.map);
}

/* PTX ISA, "Swizzling modes": where the sixteen-byte chunks of line after line of 128 bytes go. */
static const char *const tables[KCSIM_SWIZZLE_COUNT][8] = {
    {"01234567"},
    {"01234567", "10325476"},
    {"01234567", "10325476", "23016745", "32107654"},
    {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"},
    {"01234567", "23016745", "45670123", "67452301"},
    {NULL},
    {"01234567", "45670123"}};

static size_t swizzled(kcsim_tensor_swizzle mode, size_t at) {
    static const size_t lines[KCSIM_SWIZZLE_COUNT] = {1, 2, 4, 8, 4, 1, 2};
    const char *line = tables[mode][at / 128 % lines[mode]];
    return at / 128 * 128 + (size_t)(line[at / 16 % 8] - '0') * 16 + at % 16;
}

/* Calls `element` for each element of the box: its place in the box, and its bytes in the tensor or NULL. */
static size_t walk(const tensor *t, const kcsim_tensor_map *map,
                   void (*element)(void *context, size_t place, size_t offset, bool inside), void *context) {
    size_t size = map->strides[0], place = 0;
    uint32_t n[5];
    for (unsigned i = 0; i < 5; i++) n[i] = (map->box[i] + map->steps[i] - 1u) / map->steps[i];
    for (uint32_t e = 0; e < n[4]; e++)
        for (uint32_t d = 0; d < n[3]; d++)
            for (uint32_t c = 0; c < n[2]; c++)
                for (uint32_t b = 0; b < n[1]; b++)
                    for (uint32_t a = 0; a < n[0]; a++, place += size) {
                        uint32_t index[5] = {a, b, c, d, e};
                        int64_t offset = 0;
                        bool inside = true;
                        for (unsigned i = 0; i < 5; i++) {
                            int64_t x = (int64_t)t->at[i] * (i < t->rank) + (int64_t)index[i] * map->steps[i];
                            inside &= x >= 0 && x < (int64_t)map->dims[i];
                            offset += x * (int64_t)map->strides[i];
                        }
                        element(context, place, (size_t)offset, inside);
                    }
    return place;
}

typedef struct oracle {
    const tensor *t;
    size_t size;
    const uint8_t *global, *shared;
    uint8_t *result;
} oracle;

static void put_loaded(void *context, size_t place, size_t offset, bool inside) {
    oracle *o = context;
    static const uint64_t nans[9] = {[2] = 0x7fff, [4] = 0x7fffffff, [8] = 0x7fffffffffffffff};
    uint64_t value = o->t->nan ? nans[o->size] : 0;
    if (inside) memcpy(&value, o->global + offset, o->size);
    memcpy(o->result + swizzled(o->t->swizzle, place), &value, o->size);
}

#define COORDINATES_1 "{%r10}"
#define COORDINATES_2 "{%r10, %r11}"
#define COORDINATES_3 "{%r10, %r11, %r12}"
#define COORDINATES_4 "{%r10, %r11, %r12, %r13}"
#define COORDINATES_5 "{%r10, %r11, %r12, %r13, %r14}"
static const char *const coordinates[6] = {"", COORDINATES_1, COORDINATES_2, COORDINATES_3, COORDINATES_4, COORDINATES_5};

/* All of `bytes` from or to the tile, by thread 0..31. */
#define LOOP_FROM_TILE "mov.b32 %r30, %r3;\nagain:\nsetp.ge.u32 %p6, %r30, %r31;\n@%p6 bra over;\nadd.s32 %r32, %r1, %r30;\n" \
    "cvt.u64.u32 %d20, %r30;\nadd.s64 %d21, %d0, %d20;\nld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r32];\n" \
    "st.global.v4.b32 [%d21], {%r20, %r21, %r22, %r23};\nadd.s32 %r30, %r30, 512;\nbra again;\nover:\n"
#define LOOP_TO_TILE "mov.b32 %r30, %r3;\nagain:\nsetp.ge.u32 %p6, %r30, %r31;\n@%p6 bra over;\nadd.s32 %r32, %r1, %r30;\n" \
    "cvt.u64.u32 %d20, %r30;\nadd.s64 %d21, %d1, %d20;\nld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%d21];\n" \
    "st.shared.v4.b32 [%r32], {%r20, %r21, %r22, %r23};\nadd.s32 %r30, %r30, 512;\nbra again;\nover:\n"

static void join(char *out, const char *first, const char *second, const char *third) {
    size_t room = 4096;
    assert_in_range(snprintf(out, room, "%s%s%s", first, second, third), 1, 4000);
}

static void check_load(const tensor *t) {
    bulk_test bulk;
    char ptx[8192];
    uint8_t wanted[SHARED];
    size_t bytes = kcsim_tensor_type_bytes(t->type);
    for (unsigned i = 0; i < t->rank; i++)
        bytes *= i && t->steps[i] ? (t->box[i] + t->steps[i] - 1u) / t->steps[i] : t->box[i];
    assert_in_range(bytes, 16, SHARED);
    char body[512];
    snprintf(body, sizeof body,
             "mov.b32 %%r31, %zu;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %%r31;\n"
             "cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%%d10, %s], [bar];\n",
             bytes, t->rank, coordinates[t->rank]);
    join(ptx, HEADER INIT ONLY_FIRST, body, SKIP WAIT);
    snprintf(body, sizeof body, "mov.b32 %%r31, %zu;\n", bytes);
    join(ptx + strlen(ptx), body, LOOP_FROM_TILE, END);
    bulk_open(&bulk, ptx, 0);
    set_map(&bulk, t, bulk.test.in);
    kcsim_status status = bulk_run(&bulk, 1, 32, 1);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(bulk.test.machine));
    assert_int_equal(status, KCSIM_OK);
    oracle o = {.t = t, .size = bulk.map.strides[0], .global = bytes_at(&bulk, bulk.test.in), .result = wanted};
    assert_int_equal(walk(t, &bulk.map, put_loaded, &o), bytes);
    assert_memory_equal(bytes_at(&bulk, bulk.test.out), wanted, bytes);
    machine_close(&bulk.test);
}

static void put_stored(void *context, size_t place, size_t offset, bool inside) {
    oracle *o = context;
    if (inside) memcpy(o->result + offset, o->shared + swizzled(o->t->swizzle, place), o->size);
}

static void put_added(void *context, size_t place, size_t offset, bool inside) {
    oracle *o = context;
    uint32_t old, value;
    if (!inside) return;
    memcpy(&old, o->result + offset, 4);
    memcpy(&value, o->shared + swizzled(o->t->swizzle, place), 4);
    old += value;
    memcpy(o->result + offset, &old, 4);
}

static void check_store(const tensor *t, bool adds) {
    bulk_test bulk;
    char ptx[8192];
    static uint8_t wanted[BUFFER];
    size_t bytes = kcsim_tensor_type_bytes(t->type);
    for (unsigned i = 0; i < t->rank; i++)
        bytes *= i && t->steps[i] ? (t->box[i] + t->steps[i] - 1u) / t->steps[i] : t->box[i];
    char body[512];
    snprintf(body, sizeof body, "mov.b32 %%r31, %zu;\n", bytes);
    join(ptx, HEADER, body, LOOP_TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST);
    snprintf(body, sizeof body, "cp%s.async.bulk.tensor.%ud.global.shared::cta%s.tile.bulk_group [%%d10, %s], [tile];\n",
             adds ? ".reduce" : "", t->rank, adds ? ".add" : "", coordinates[t->rank]);
    join(ptx + strlen(ptx), body, COMMIT "cp.async.bulk.wait_group 0;\n" SKIP, END);
    bulk_open(&bulk, ptx, 0);
    set_map(&bulk, t, bulk.test.out);
    memcpy(wanted, bytes_at(&bulk, bulk.test.out), BUFFER);
    kcsim_status status = bulk_run(&bulk, 1, 32, 1);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(bulk.test.machine));
    assert_int_equal(status, KCSIM_OK);
    oracle o = {.t = t, .size = bulk.map.strides[0], .shared = bytes_at(&bulk, bulk.test.in), .result = wanted};
    walk(t, &bulk.map, adds ? put_added : put_stored, &o);
    assert_memory_equal(bytes_at(&bulk, bulk.test.out), wanted, BUFFER);
    machine_close(&bulk.test);
}

static void check_both(tensor t) {
    check_load(&t);
    check_store(&t, false);
}

static void test_swizzles(void **state) {
    static const uint16_t inner[KCSIM_SWIZZLE_COUNT] = {32, 16, 32, 64, 64, 64, 64};
    (void)state;
    for (int mode = 0; mode < KCSIM_SWIZZLE_COUNT; mode++) {
        if (mode == KCSIM_SWIZZLE_128_FLIP) continue;
        check_both((tensor){.type = KCSIM_TENSOR_F16, .rank = 2, .dims = {128, 100}, .box = {inner[mode], 64},
                            .swizzle = (kcsim_tensor_swizzle)mode, .at = {8, 3}});
        check_both((tensor){.type = KCSIM_TENSOR_F16, .rank = 2, .dims = {100, 50}, .box = {inner[mode], 64},
                            .swizzle = (kcsim_tensor_swizzle)mode, .at = {70, -3}});
    }
}

static void test_ranks(void **state) {
    (void)state;
    check_both((tensor){.type = KCSIM_TENSOR_U8, .rank = 1, .dims = {1000}, .box = {256}, .at = {0}});
    check_both((tensor){.type = KCSIM_TENSOR_U8, .rank = 1, .dims = {1000}, .box = {256}, .at = {900}});
    check_both((tensor){.type = KCSIM_TENSOR_F64, .rank = 1, .dims = {100}, .box = {32}, .at = {-7}});
    check_both((tensor){.type = KCSIM_TENSOR_S32, .rank = 2, .dims = {37, 11}, .box = {16, 8}, .at = {-5, 6}});
    check_both((tensor){.type = KCSIM_TENSOR_BF16, .rank = 3, .dims = {21, 7, 9}, .box = {16, 4, 5}, .at = {8, -2, 6}});
    check_both((tensor){.type = KCSIM_TENSOR_U16, .rank = 4, .dims = {13, 5, 6, 7}, .box = {8, 3, 4, 5}, .at = {9, 3, -1, 4}});
    check_both((tensor){.type = KCSIM_TENSOR_F32, .rank = 5, .dims = {9, 4, 3, 5, 2}, .box = {8, 3, 2, 3, 2},
                        .at = {3, -1, 2, 4, -1}});
    check_both((tensor){.type = KCSIM_TENSOR_S64, .rank = 2, .dims = {8, 8}, .box = {4, 4}, .at = {100, 100}});
    check_both((tensor){.type = KCSIM_TENSOR_TF32, .rank = 3, .dims = {16, 20, 12}, .box = {8, 9, 8}, .steps = {1, 2, 3},
                        .at = {4, 5, 2}});
}

static void test_fill(void **state) {
    static const kcsim_tensor_type types[] = {KCSIM_TENSOR_F16, KCSIM_TENSOR_BF16, KCSIM_TENSOR_F32, KCSIM_TENSOR_F64};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        check_load(&(tensor){.type = types[i], .rank = 2, .dims = {20, 10}, .box = {16, 8}, .nan = true, .at = {-3, 7}});
}

static void test_tensor_add(void **state) {
    (void)state;
    check_store(&(tensor){.type = KCSIM_TENSOR_U32, .rank = 2, .dims = {40, 20}, .box = {32, 8}, .swizzle = KCSIM_SWIZZLE_128,
                          .at = {20, 15}}, true);
    check_store(&(tensor){.type = KCSIM_TENSOR_S32, .rank = 3, .dims = {40, 5, 4}, .box = {32, 3, 2}, .at = {-4, 3, 3}}, true);
}

/* ---- plain copies ---- */

static void test_plain(void **state) {
    bulk_test bulk;
    (void)state;
    bulk_open(&bulk, KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD SKIP WAIT FROM_TILE), 0);
    assert_int_equal(bulk_run(&bulk, 1, 32, 1), KCSIM_OK);
    assert_memory_equal(bytes_at(&bulk, bulk.test.out), bytes_at(&bulk, bulk.test.in), 512);
    assert_int_equal(machine_counter(&bulk.test, "async_copy"), 1);
    assert_int_equal(machine_counter(&bulk.test, "global_load_bytes"), 512);
    assert_int_equal(machine_counter(&bulk.test, "global_load_sectors"), 16);
    machine_close(&bulk.test);
    bulk_open(&bulk, KERNEL("mov.b32 %r31, 512;\n" LOOP_TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 0);
    assert_int_equal(bulk_run(&bulk, 1, 32, 1), KCSIM_OK);
    assert_memory_equal(bytes_at(&bulk, bulk.test.out), bytes_at(&bulk, bulk.test.in), 512);
    assert_int_equal(machine_counter(&bulk.test, "global_store_sectors"), 32 / 2);
    machine_close(&bulk.test);
}

/* Without any check the same comes out. */
static void test_unchecked(void **state) {
    static const uint8_t bytes[BUFFER] = {1, 2, 3};
    kcsim_options options = kcsim_options_default();
    launch_params params = {.out = 0};
    (void)state;
    options.checks = 0;
    machine_test test = machine_open(&options, "sm_90a", KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD WAIT STORE COMMIT DRAIN SKIP), BUFFER);
    machine_write(&test, test.in, bytes, BUFFER);
    params.out = test.out;
    params.in = test.in;
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, &params, sizeof params), KCSIM_OK);
    assert_memory_equal(kcsim_mem_host(test.machine, test.out, 512), bytes, 512);
    machine_close(&test);
}

static uint32_t combined(const char *op, uint32_t old, uint32_t value) {
    if (strcmp(op, "add.u32") == 0) return old + value;
    if (strcmp(op, "and.b32") == 0) return old & value;
    if (strcmp(op, "or.b32") == 0) return old | value;
    if (strcmp(op, "xor.b32") == 0) return old ^ value;
    if (strcmp(op, "inc.u32") == 0) return old >= value ? 0 : old + 1;
    if (strcmp(op, "dec.u32") == 0) return old == 0 || old > value ? value : old - 1;
    if (strcmp(op, "min.u32") == 0) return old < value ? old : value;
    if (strcmp(op, "max.u32") == 0) return old > value ? old : value;
    bool less = (int32_t)old < (int32_t)value;
    return less == (strcmp(op, "min.s32") == 0) ? old : value;
}

/* Into global memory, and into shared memory by way of an mbarrier. */
static void test_reductions(void **state) {
    static const char *const ops[] = {"add.u32", "and.b32", "or.b32",  "xor.b32", "inc.u32",
                                      "dec.u32", "min.u32", "max.u32", "min.s32", "max.s32"};
    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        bulk_test bulk;
        char ptx[8192];
        uint32_t wanted[128], values[128];
        char body[256];
        snprintf(body, sizeof body, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%d0], [tile], 512;\n", ops[i]);
        join(ptx, HEADER "mov.b32 %r31, 512;\n" LOOP_TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST, body, COMMIT DRAIN SKIP END);
        bulk_open(&bulk, ptx, 0);
        /* other values than the source's */
        memcpy(values, bytes_at(&bulk, bulk.test.in), 512);
        machine_write(&bulk.test, bulk.test.out, bytes_at(&bulk, bulk.test.in) + 512, 512);
        memcpy(wanted, bytes_at(&bulk, bulk.test.out), 512);
        for (int k = 0; k < 128; k++) wanted[k] = combined(ops[i], wanted[k], values[k]);
        assert_int_equal(bulk_run(&bulk, 1, 32, 1), KCSIM_OK);
        assert_memory_equal(bytes_at(&bulk, bulk.test.out), wanted, 512);
        machine_close(&bulk.test);
    }
}

/* Two blocks: one load into both; and from one block's shared memory into the other's. */
static void test_clusters(void **state) {
    static const char multicast[] = KERNEL(
        "mov.u32 %r40, %cluster_ctarank;\nmov.b16 %h1, 3;\n@!%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "@!%p1 " EXPECT("512") "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "setp.ne.b32 %p2, %r40, 0;\nor.pred %p3, %p1, %p2;\n@%p3 bra skip;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%d1], 512, [bar], %h1;\n"
        SKIP WAIT "mul.wide.u32 %d20, %r40, 512;\nadd.s64 %d2, %d2, %d20;\n" FROM_TILE
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");
    static const char across[] = KERNEL(
        "mov.u32 %r40, %cluster_ctarank;\n@!%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n@!%p1 " EXPECT("512") TO_TILE FENCE
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" ONLY_FIRST
        "xor.b32 %r41, %r40, 1;\nadd.s32 %r42, %r1, 1024;\nmapa.shared::cluster.u32 %r43, %r42, %r41;\n"
        "mov.b32 %r44, bar;\nmapa.shared::cluster.u32 %r45, %r44, %r41;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r43], [tile], 512, [%r45];\n" SKIP WAIT
        "mul.wide.u32 %d20, %r40, 512;\nadd.s64 %d2, %d2, %d20;\nadd.s32 %r2, %r2, 1024;\n" FROM_TILE
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n");
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        bulk_test bulk;
        bulk_open(&bulk, multicast, seed);
        kcsim_status status = bulk_run(&bulk, 2, 32, 2);
        if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(bulk.test.machine));
        assert_int_equal(status, KCSIM_OK);
        for (int rank = 0; rank < 2; rank++)
            assert_memory_equal(bytes_at(&bulk, bulk.test.out) + 512 * rank, bytes_at(&bulk, bulk.test.in), 512);
        machine_close(&bulk.test);
        bulk_open(&bulk, across, seed);
        status = bulk_run(&bulk, 2, 32, 2);
        if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(bulk.test.machine));
        assert_int_equal(status, KCSIM_OK);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t word;
            memcpy(&word, bytes_at(&bulk, bulk.test.out) + 4 * i, 4);
            assert_int_equal(word, i / 4 % 32);
        }
        machine_close(&bulk.test);
    }
}

/* ---- what is wrong ---- */

static void test_waiting(void **state) {
    (void)state;
    expect(KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD SKIP FROM_TILE), 32, "async_in_flight", "was not waited for");
    expect(KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD SKIP TO_TILE WAIT), 32, "async_in_flight", "was not waited for");
    /* one warp waits, and the barrier tells the others; or it does not */
    expect(KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD WAIT SKIP "bar.sync 0;\nand.b32 %r50, %r2, 511;\nadd.s32 %r2, %r1, %r50;\n" FROM_TILE), 64, NULL, NULL);
    expect(KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD WAIT SKIP "and.b32 %r50, %r2, 511;\nadd.s32 %r2, %r1, %r50;\n" FROM_TILE), 64, "", NULL);
    /* bytes: too few, too many, none announced */
    expect(KERNEL(INIT ONLY_FIRST EXPECT("512") LOAD SKIP WAIT FROM_TILE), 32, NULL, NULL);
    expect(KERNEL(INIT ONLY_FIRST EXPECT("528") LOAD SKIP WAIT FROM_TILE), 32, "deadlock", NULL);
    expect(KERNEL(INIT ONLY_FIRST EXPECT("496") LOAD SKIP WAIT FROM_TILE), 32, "deadlock", NULL);
    expect(KERNEL(INIT ONLY_FIRST "mbarrier.arrive.shared::cta.b64 _, [bar];\n" LOAD SKIP WAIT FROM_TILE), 32, "async_in_flight",
           NULL);
    /* the wrong mbarrier is waited for */
    expect(KERNEL("@!%p1 mbarrier.init.shared::cta.b64 [full], 1;\n" INIT ONLY_FIRST EXPECT("0")
                  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;\n"
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1], 512, [full];\n" SKIP WAIT
                  FROM_TILE), 32, "async_in_flight", NULL);
    expect(KERNEL(ONLY_FIRST LOAD SKIP), 32, "mbarrier", "no mbarrier was initialised");
}

static void test_reuse(void **state) {
    (void)state;
#define STORED TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT
    expect(KERNEL(STORED DRAIN SKIP "bar.sync 0;\n" TO_TILE), 32, NULL, NULL);
    expect(KERNEL(STORED SKIP "bar.sync 0;\n" TO_TILE), 32, "async_in_flight", "nothing says that it was read");
    expect(KERNEL(STORED "cp.async.bulk.wait_group.read 1;\n" SKIP "bar.sync 0;\n" TO_TILE), 32, "async_in_flight", NULL);
    expect(KERNEL(TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE DRAIN SKIP "bar.sync 0;\n" TO_TILE), 32, "async_in_flight", NULL);
    expect(KERNEL(STORED "ld.shared.b32 %r20, [tile];\n" DRAIN SKIP), 32, NULL, NULL);
    /* the block exits: not waited for, not even committed; a group of nothing needs no wait */
    expect(KERNEL(STORED SKIP), 32, "async_in_flight", "the block exits");
    expect(KERNEL(TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE SKIP), 32, "async_in_flight", "the block exits");
    expect(KERNEL(STORED DRAIN COMMIT SKIP), 32, NULL, NULL);
    /* two groups, of which the older is waited for */
    expect(KERNEL(STORED "cp.async.bulk.global.shared::cta.bulk_group [%d0+1024], [tile], 16;\n" COMMIT
                  "cp.async.bulk.wait_group 0;\n" SKIP "bar.sync 0;\n" TO_TILE), 32, NULL, NULL);
}

static void test_proxies(void **state) {
    (void)state;
    expect(KERNEL(TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, NULL, NULL);
    expect(KERNEL(TO_TILE "bar.sync 0;\n" ONLY_FIRST FENCE STORE COMMIT DRAIN SKIP), 32, NULL, NULL);
    expect(KERNEL(TO_TILE "fence.proxy.async;\nbar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, NULL, NULL);
    expect(KERNEL(TO_TILE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, "proxy_fence", "without fence.proxy.async");
    expect(KERNEL(TO_TILE "fence.proxy.async.global;\nbar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, "proxy_fence", NULL);
    expect(KERNEL(FENCE TO_TILE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, "proxy_fence", NULL);
    expect(KERNEL("and.b32 %r50, %r3, 511;\nadd.s32 %r2, %r1, %r50;\nsetp.lt.u32 %p7, %r0, 32;\n@!%p7 " TO_TILE FENCE ONLY_FIRST STORE COMMIT DRAIN SKIP), 64,
           "race", NULL);
    /* written, then loaded over */
    expect(KERNEL(TO_TILE INIT ONLY_FIRST EXPECT("512") LOAD SKIP WAIT FROM_TILE), 32, "proxy_fence", "writes");
    expect(KERNEL(TO_TILE FENCE INIT ONLY_FIRST EXPECT("512") LOAD SKIP WAIT FROM_TILE), 32, NULL, NULL);
}

static void test_places(void **state) {
    (void)state;
#define PLAIN(to, from, size) KERNEL(INIT ONLY_FIRST EXPECT("512") "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" to "], [" from "], " size ", [bar];\n" SKIP)
    expect(PLAIN("tile+32256", "%d1+65024", "512"), 32, NULL, NULL);
    expect(PLAIN("tile", "%d1+65040", "512"), 32, "out_of_bounds", "\"space\": \"global\"");
    expect(PLAIN("tile+32768", "%d1", "512"), 32, "out_of_bounds", "\"space\": \"shared\"");
    expect(PLAIN("tile+8", "%d1", "512"), 32, "misaligned", NULL);
    expect(PLAIN("tile", "%d1+4", "512"), 32, "misaligned", NULL);
    expect(PLAIN("tile", "%d1", "500"), 32, "misaligned", "multiple of 16");
    expect(KERNEL(FENCE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT DRAIN SKIP), 32, "uninitialized", "never written");
}

static void run_with_map(const tensor *t, const char *how, const char *kind, const char *text) {
    bulk_test bulk;
    bulk_open(&bulk, KERNEL(INIT ONLY_FIRST EXPECT("2048") "add.s64 %d10, %d10, 0;\n"
                            "cp.async.bulk.prefetch.tensor.2d.L2.global [%d10, {%r10, %r11}];\n"
                            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d10, {%r10, %r11}], [bar];\n" SKIP WAIT), 0);
    set_map(&bulk, t, bulk.test.in);
    if (strcmp(how, "spoiled") == 0) bulk.params.map[40] ^= 1;
    if (strcmp(how, "zeros") == 0) memset(bulk.params.map, 0, 128);
    kcsim_status status = bulk_run(&bulk, 1, 32, 1);
    assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&bulk.test, kind, text));
    machine_close(&bulk.test);
}

static void test_maps(void **state) {
    tensor t = {.type = KCSIM_TENSOR_F32, .rank = 2, .dims = {64, 64}, .box = {32, 16}, .swizzle = KCSIM_SWIZZLE_128};
    (void)state;
    run_with_map(&t, "", NULL, NULL);
    run_with_map(&t, "spoiled", "out_of_bounds", "no tensor map");
    run_with_map(&t, "zeros", "out_of_bounds", "no tensor map");
    t.rank = 3, t.dims[2] = t.box[2] = 1;
    run_with_map(&t, "", "out_of_bounds", "another number of dimensions");
    /* a tensor larger than its memory */
    t = (tensor){.type = KCSIM_TENSOR_F32, .rank = 2, .dims = {64, 1 << 20}, .box = {32, 16}, .at = {0, 250}};
    run_with_map(&t, "", "out_of_bounds", "\"space\": \"global\"");
    /* copied to the thread's own memory; not at a multiple of 64 */
    expect(KERNEL(".local .align 64 .b8 mine[128];\nmov.b64 %d30, mine;\ncvta.local.u64 %d31, %d30;\nst.local.b64 [mine], 0;\n" INIT
                  ONLY_FIRST "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d31, {%r10}], [bar];\n"
                  SKIP), 32, "out_of_bounds", "a tensor map lies in");
    expect(KERNEL(INIT ONLY_FIRST "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1+16, {%r10}], [bar];\n"
                  SKIP), 32, "misaligned", "multiple of 64");
}

static void test_prefetches(void **state) {
    (void)state;
    expect(KERNEL("cp.async.bulk.prefetch.L2.global [%d1], 256;\nprefetch.tensormap [%d10];\n"
                  "fence.proxy.tensormap::generic.release.gpu;\nfence.proxy.tensormap::generic.acquire.gpu [%d10], 128;"), 32, NULL, NULL);
}

static void refused(const char *body, const char *text) {
    char ptx[4096];
    snprintf(ptx, sizeof ptx, "%s%s\nret;\n}\n", HEADER, body);
    machine_refuse("sm_90a", ptx, text);
}

static void test_refusals(void **state) {
    (void)state;
    refused("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d10, {%r10, %r11, %r12, %r13}], [bar], {%h1};",
            "2 offsets were expected");
    refused("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d10, {%r10, %r11, %r12}], [bar];",
            "1 offsets were expected");
    refused("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%d10, {%r10, %r11}], [bar];",
            "no such mode");
    refused("cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%d10, {%r10, %r11, %r12}], [tile];", "no such mode");
    refused("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [tile], [%d10, {%r10, %r11, %r12}], [bar], {%h1};",
            "im2col::w");
    refused("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d10, {%r10}], [bar];",
            "2 coordinates");
    refused("cp.async.bulk.global.shared::cta.mbarrier::complete_tx::bytes [%d0], [tile], 512;", "bulk_group");
    refused("cp.async.bulk.global.global.bulk_group [%d0], [%d1], 512;", "between these spaces");
    refused("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%d0], [tile], 512;", "reduction");
    refused("ld.global.b32 %r1, [%d1, {%r2}];", "no coordinates");
    refused("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d1, {%r10}], 512, [bar];", "no coordinates");
}

static void test_problems(void **state) {
    kcsim_tensor_map good = {.type = KCSIM_TENSOR_F16, .rank = 2, .address = 4096, .strides = {2, 256}, .dims = {128, 8, 1, 1, 1},
                             .box = {64, 8, 1, 1, 1}, .steps = {1, 1, 1, 1, 1}, .swizzle = KCSIM_SWIZZLE_128};
    (void)state;
    assert_null(kcsim_tensor_map_problem(&good));
#define BAD(change, part)                                                                          \
    do {                                                                                           \
        kcsim_tensor_map map = good;                                                               \
        map.change;                                                                                \
        assert_non_null(kcsim_tensor_map_problem(&map));                                           \
        assert_non_null(strstr(kcsim_tensor_map_problem(&map), part));                             \
    } while (0)
    BAD(address = 4104, "globalAddress");
    BAD(strides[1] = 264, "globalStrides");
    BAD(strides[1] = (uint64_t)1 << 40, "globalStrides");
    BAD(dims[1] = 0, "globalDim");
    BAD(box[1] = 257, "boxDim");
    BAD(box[1] = 0, "boxDim");
    BAD(box[0] = 128, "swizzle");
    BAD(box[0] = 4, "multiple of 16");
    BAD(steps[1] = 9, "elementStrides");
    BAD(rank = 6, "tensorRank");
    BAD(type = KCSIM_TENSOR_TYPE_COUNT, "tensorDataType");
}

/* What a thread reads back of its own bulk store when it has waited by `wait`: bit 0: under some seed the bytes of before;
 * bit 1: under some the new ones. The block ends, and they are there. */
static unsigned read_back(const char *wait) {
    unsigned seen = 0;
    char ptx[8192];
    snprintf(ptx, sizeof ptx, "%s%s%s%s", HEADER TO_TILE FENCE "bar.sync 0;\n" ONLY_FIRST STORE COMMIT, wait,
             "ld.global.b32 %r20, [%d0+496];\nst.global.b32 [%d0+1024], %r20;\n" SKIP "bar.sync 0;\n", END);
    for (uint64_t seed = 0; seed < 16; seed++) {
        bulk_test bulk;
        bulk_open(&bulk, ptx, seed);
        const uint8_t *out = bytes_at(&bulk, bulk.test.out);
        uint32_t before, after, last;
        memcpy(&before, out + 496, 4);
        bulk_run(&bulk, 1, 32, 1);
        memcpy(&after, out + 1024, 4);
        memcpy(&last, out + 496, 4);
        assert_true(after == before || after == 31);
        assert_int_equal(last, 31);
        seen |= after == before ? 1 : 2;
        machine_close(&bulk.test);
    }
    return seen;
}

static void test_late(void **state) {
    (void)state;
    assert_int_equal(read_back("cp.async.bulk.wait_group 0;\n"), 2);
    assert_int_equal(read_back(DRAIN), 3);
    assert_int_equal(read_back("cp.async.bulk.wait_group 1;\n"), 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unchecked), cmocka_unit_test(test_problems),   cmocka_unit_test(test_plain),    cmocka_unit_test(test_swizzles),
        cmocka_unit_test(test_ranks),      cmocka_unit_test(test_fill),     cmocka_unit_test(test_tensor_add),
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_clusters), cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_reuse),      cmocka_unit_test(test_proxies),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_maps),       cmocka_unit_test(test_prefetches), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_late)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
