/* What is counted, by hand: kernels of which each number can be told from their text (INTERFACES: Counters). */
#include "tests/unit/sim/zoo.h"

#include "runtime/sim/state.h"

typedef struct cost {
    uint64_t executions, bytes, sectors, ideal, wavefronts, conflicts, flops;
} cost;

/* The record of the line whose instruction begins so. */
static const char *record_of(const char *json, const char *instruction) {
    char wanted[300];
    snprintf(wanted, sizeof wanted, "\"instruction\": \"%s", instruction);
    const char *lines = strstr(json, "\"lines\": ["), *at = lines ? strstr(lines, wanted) : NULL;
    if (!at) print_error("no line '%s' in %s\n", instruction, json);
    assert_non_null(at);
    return at;
}

static uint64_t number_in(const char *record, const char *name) {
    char wanted[40];
    snprintf(wanted, sizeof wanted, "\"%s\": ", name);
    record = strstr(record, "\"executions\"");
    const char *end = strchr(record, '}'), *at = strstr(record, wanted);
    return at && at < end ? strtoull(at + strlen(wanted), NULL, 10) : 0;
}

static uint64_t total(const char *json, const char *name) {
    char wanted[60];
    snprintf(wanted, sizeof wanted, "\"%s\": ", name);
    const char *at = strstr(json, wanted);
    assert_non_null(at);
    return strtoull(at + strlen(wanted), NULL, 10);
}

/* Runs a body in the zoo's kernel; the JSON is malloc'd. */
static char *count(const char *body, const char *directive, unsigned launches) {
    static zoo_form form;
    static const uint8_t zeros[ZOO_BUFFER];
    char ptx[12000], log[300] = "";
    kcsim_module *module;
    const kcsim_function *function;
    struct {
        uint64_t out, in;
        uint8_t pad[48], map[128];
    } params = {.out = 0};
    form = (zoo_form){.arch = "sm_90a", .grid = {1, 1}, .block = {32, 1}};
    snprintf(form.body, sizeof form.body, "%s", body);
    if (directive) zoo_directive(&form, directive);
    zoo_ptx(&form, ptx, sizeof ptx);
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), NULL);
    kcsim_status loaded = kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module);
    if (loaded != KCSIM_OK) print_error("%s\n%s\n", log, body);
    assert_int_equal(loaded, KCSIM_OK);
    assert_int_equal(kcsim_module_find_function(module, "k", &function), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(machine, ZOO_BUFFER, &params.out), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(machine, ZOO_BUFFER, &params.in), KCSIM_OK);
    memcpy(kcsim_mem_host(machine, params.in, ZOO_BUFFER), zeros, ZOO_BUFFER);
    kcsim_mem_written(machine, params.in, ZOO_BUFFER);
    kcsim_launch_config config = {.grid = {form.grid[0], 1, 1}, .block = {form.block[0], 1, 1}};
    for (unsigned i = 0; i < launches; i++) {
        kcsim_status status = kcsim_launch(machine, function, &config, &params, sizeof params);
        if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(machine));
        assert_int_equal(status, KCSIM_OK);
    }
    char *json = kcsim_counters_json(machine);
    kcsim_machine_destroy(machine);
    return json;
}

static void expect_in(const char *json, const char *instruction, cost wanted) {
    const char *record = record_of(json, instruction);
    cost got = {number_in(record, "executions"), number_in(record, "bytes"),      number_in(record, "sectors"),
                number_in(record, "sectors_ideal"), number_in(record, "wavefronts"), number_in(record, "bank_conflicts"),
                number_in(record, "flops")};
    if (memcmp(&got, &wanted, sizeof got) != 0)
        print_error("%s: executions %lu bytes %lu sectors %lu ideal %lu wavefronts %lu conflicts %lu flops %lu\n", instruction,
                    (unsigned long)got.executions, (unsigned long)got.bytes, (unsigned long)got.sectors,
                    (unsigned long)got.ideal, (unsigned long)got.wavefronts, (unsigned long)got.conflicts,
                    (unsigned long)got.flops);
    assert_memory_equal(&got, &wanted, sizeof got);
}

/* The last line of the body. */
static void expect(const char *body, cost wanted) {
    char last[300];
    const char *end = body + strlen(body) - 2, *start = end; /* at ";\n" */
    while (start > body && start[-1] != '\n') start--;
    snprintf(last, sizeof last, "%.*s", (int)(end - start), start);
    char *json = count(body, NULL, 1);
    expect_in(json, last, wanted);
    free(json);
}

#define AT(bytes) "mul.lo.u32 %r10, %r0, " #bytes ";\ncvt.u64.u32 %d10, %r10;\nadd.s64 %d11, %d1, %d10;\nadd.s64 %d12, %d0, %d10;\nadd.s32 %r11, %r1, %r10;\n"

/* {executions, distinct bytes, distinct segments of 32 bytes, bytes / 32 rounded up} */
static void test_global(void **state) {
    (void)state;
    expect("ld.global.b32 %r10, [%d3];\n", (cost){1, 128, 4, 4, 0, 0, 0});
    expect("ld.global.b32 %r10, [%d3+4];\n", (cost){1, 128, 5, 4, 0, 0, 0});
    expect("ld.b32 %r10, [%d3+16];\n", (cost){1, 128, 5, 4, 0, 0, 0});
    expect("ld.global.b32 %r10, [%d1+64];\n", (cost){1, 4, 1, 1, 0, 0, 0});
    expect(AT(8) "ld.global.b32 %r10, [%d11];\n", (cost){1, 128, 8, 4, 0, 0, 0});
    expect(AT(32) "ld.global.b32 %r10, [%d11];\n", (cost){1, 128, 32, 4, 0, 0, 0});
    expect(AT(36) "ld.global.b32 %r10, [%d11];\n", (cost){1, 128, 32, 4, 0, 0, 0});
    expect(AT(16) "ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%d11];\n", (cost){1, 512, 16, 16, 0, 0, 0});
    expect(AT(64) "ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%d11];\n", (cost){1, 512, 32, 16, 0, 0, 0});
    expect(AT(2) "ld.global.b16 %h1, [%d11];\n", (cost){1, 64, 2, 2, 0, 0, 0});
    expect(AT(1) "ld.global.b8 %r10, [%d11];\n", (cost){1, 32, 1, 1, 0, 0, 0});
    expect(AT(1) "ld.global.b8 %r10, [%d11+1];\n", (cost){1, 32, 2, 1, 0, 0, 0});
    /* half of the lanes; the words of a pair of lanes; backwards */
    expect("@%p2 ld.global.b32 %r10, [%d3];\n", (cost){1, 64, 2, 2, 0, 0, 0});
    expect("shr.u32 %r10, %r0, 1;\nmul.wide.u32 %d10, %r10, 4;\nadd.s64 %d11, %d1, %d10;\nld.global.b32 %r10, [%d11];\n",
           (cost){1, 64, 2, 2, 0, 0, 0});
    expect("sub.u32 %r10, 31, %r0;\nmul.wide.u32 %d10, %r10, 4;\nadd.s64 %d11, %d1, %d10;\nld.global.b32 %r10, [%d11];\n",
           (cost){1, 128, 4, 4, 0, 0, 0});
    /* no lane is on: executed, and no request */
    expect("setp.gt.u32 %p4, %r0, 99;\n@%p4 ld.global.b32 %r10, [%d3];\n", (cost){1, 0, 0, 0, 0, 0, 0});
    expect("st.global.b32 [%d2], %r0;\n", (cost){1, 128, 4, 4, 0, 0, 0});
    expect(AT(8) "st.global.b32 [%d12+4], %r0;\n", (cost){1, 128, 8, 4, 0, 0, 0});
    /* parameters, constants and local memory are none of it */
    expect(".local .align 4 .b8 mine[64];\nst.local.b32 [mine], %r0;\n", (cost){1, 0, 0, 0, 0, 0, 0});
    expect("ld.param.u32 %r10, [out];\n", (cost){1, 0, 0, 0, 0, 0, 0});
    expect("atom.global.add.u32 %r10, [%d3], 1;\n", (cost){1, 0, 0, 0, 0, 0, 0});
}

/* Banks are 4 bytes wide, 32 of them; 8 bytes a lane go by half warps, 16 by quarters. */
static void test_shared(void **state) {
    (void)state;
    expect("st.shared.b32 [%r3], %r0;\n", (cost){1, 0, 0, 0, 1, 0, 0});
    expect("st.shared.b32 [%r1], 0;\n", (cost){1, 0, 0, 0, 1, 0, 0});
    expect(AT(8) "st.shared.b32 [%r11], %r0;\n", (cost){1, 0, 0, 0, 2, 1, 0});
    expect(AT(12) "st.shared.b32 [%r11], %r0;\n", (cost){1, 0, 0, 0, 1, 0, 0});
    expect(AT(16) "ld.shared.b32 %r12, [%r11];\n", (cost){1, 0, 0, 0, 4, 3, 0});
    expect(AT(128) "ld.shared.b32 %r12, [%r11];\n", (cost){1, 0, 0, 0, 32, 31, 0});
    expect(AT(128) "@%p2 ld.shared.b32 %r12, [%r11];\n", (cost){1, 0, 0, 0, 16, 15, 0});
    expect(AT(2) "ld.shared.b16 %h1, [%r11];\n", (cost){1, 0, 0, 0, 1, 0, 0});
    expect(AT(1) "ld.shared.b8 %r12, [%r11];\n", (cost){1, 0, 0, 0, 1, 0, 0});
    expect(AT(8) "ld.shared.b64 %d13, [%r11];\n", (cost){1, 0, 0, 0, 2, 0, 0});
    expect(AT(16) "ld.shared.b64 %d13, [%r11];\n", (cost){1, 0, 0, 0, 4, 2, 0});
    expect(AT(16) "ld.shared.v2.b32 {%r20, %r21}, [%r11];\n", (cost){1, 0, 0, 0, 4, 2, 0});
    expect(AT(16) "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 4, 0, 0});
    expect(AT(32) "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 8, 4, 0});
    expect(AT(128) "ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 32, 28, 0});
    expect(AT(16) "@%p2 ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 2, 0, 0});
    expect("cvta.shared.u64 %d10, tile;\nadd.s64 %d10, %d10, %d4;\nst.b32 [%d10], 1;\n", (cost){1, 0, 0, 0, 1, 0, 0});
    /* rows of 16 bytes: one behind the other, and all in the same banks */
    expect(AT(16) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 4, 0, 0});
    expect(AT(128) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r11];\n", (cost){1, 0, 0, 0, 32, 28, 0});
    expect(AT(32) "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r11];\n", (cost){1, 0, 0, 0, 2, 1, 0});
    expect(AT(144) "rem.u32 %r11, %r11, 2048;\nand.b32 %r11, %r11, -16;\nmov.u32 %r12, 0;\n"
                   "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {%r12};\n", (cost){1, 0, 0, 0, 1, 0, 0});
}

#define COMMIT "cp.async.commit_group;\ncp.async.wait_group 0;\n"

static void test_copies(void **state) {
    char *json;
    (void)state;
    json = count("cp.async.ca.shared.global [%r3], [%d3+4], 4;\n" COMMIT, NULL, 1);
    expect_in(json, "cp.async.ca.shared.global", (cost){1, 128, 5, 4, 1, 0, 0});
    assert_int_equal(total(json, "async_copy"), 3);
    assert_int_equal(total(json, "load_global"), 0);
    assert_int_equal(total(json, "global_load_sectors"), 5);
    free(json);
    json = count(AT(16) "cp.async.cg.shared.global [%r11], [%d11], 16;\n" COMMIT, NULL, 1);
    expect_in(json, "cp.async.cg.shared.global", (cost){1, 512, 16, 16, 4, 0, 0});
    free(json);
    /* odd lanes read half, and fill the rest with zeros: one request all the same */
    json = count(AT(16) "and.b32 %r12, %r0, 1;\nshl.b32 %r12, %r12, 3;\nsub.u32 %r12, 16, %r12;\n"
                        "cp.async.cg.shared.global [%r11], [%d11], 16, %r12;\n" COMMIT, NULL, 1);
    expect_in(json, "cp.async.cg.shared.global", (cost){1, 384, 16, 12, 4, 0, 0});
    free(json);
#define BULK_IN "@!%p0 bra end;\nmbarrier.init.shared.b64 [bar], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
#define BULK "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
#define BULK_WAIT "wait:\nmbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;\n@!%p4 bra wait;\nend:\n"
    json = count(BULK_IN BULK " [tile], [%d1], 512, [bar];\n" BULK_WAIT, NULL, 1);
    expect_in(json, BULK, (cost){1, 512, 16, 16, 4, 0, 0});
    assert_int_equal(total(json, "global_load_bytes"), 512);
    assert_int_equal(total(json, "async_copy"), 1);
    free(json);
    json = count(BULK_IN BULK " [tile], [%d1+16], 512, [bar];\n" BULK_WAIT, NULL, 1);
    expect_in(json, BULK, (cost){1, 512, 17, 16, 4, 0, 0});
    free(json);
    json = count("st.shared.b32 [%r3], %r0;\nfence.proxy.async;\nbar.sync 0;\n"
                 "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0+16], [tile], 128;\n"
                 "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", NULL, 1);
    expect_in(json, "@%p0 cp.async.bulk.global", (cost){1, 128, 5, 4, 1, 0, 0});
    assert_int_equal(total(json, "global_store_bytes"), 128);
    assert_int_equal(total(json, "global_load_bytes"), 0);
    free(json);
}

static void test_tensor(void **state) {
    (void)state;
#define ZERO "mov.u32 %r10, 0;\nmov.f32 %f4, 0f00000000;\n"
    expect(ZERO "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r10, %r10}, {%r10}, {%f4, %f4, %f4, %f4};\n",
           (cost){1, 0, 0, 0, 0, 0, 2 * 16 * 8 * 8});
    expect(ZERO "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r10, %r10, %r10, %r10}, {%r10, %r10}, {%f4, %f4, %f4, %f4};\n",
           (cost){1, 0, 0, 0, 0, 0, 2 * 16 * 8 * 16});
    char *json = count("mov.b64 %d10, 0x0000000800400000;\nmov.b32 %r10, 0;\nshl.b32 %r11, %r0, 4;\nadd.u32 %r11, %r11, %r1;\n"
                       "st.shared.v4.b32 [%r11], {%r10, %r10, %r10, %r10};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
                       "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nwgmma.fence.sync.aligned;\n"
                       "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d10, %d10, 1, 1, 1, 0, 0;\n"
                       "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n", "@block 128", 1);
    expect_in(json, "wgmma.mma_async", (cost){4, 0, 0, 0, 4 * 4 + 2, 0, 2 * 64 * 8 * 16});
    assert_int_equal(total(json, "tensor_flops"), 2 * 64 * 8 * 16);
    free(json);
}

/* How often each class occurs in a body, less what the kernel around it has. */
static void expect_class(const char *body, const char *class, uint64_t wanted) {
    char *with = count(body, NULL, 1), *without = count("", NULL, 1);
    uint64_t got = total(with, class) - total(without, class);
    if (got != wanted) print_error("%s: %s %lu\n", body, class, (unsigned long)got);
    assert_int_equal(got, wanted);
    free(with);
    free(without);
}

static void test_classes(void **state) {
    (void)state;
    expect_class("mov.f32 %f0, 0f00000000;\nfma.rn.f32 %f1, %f0, %f0, %f0;\nadd.f32 %f2, %f0, %f1;\nmul.f32 %f3, %f0, %f2;\n", "fma", 3);
    expect_class("add.s32 %r10, %r0, 1;\nxor.b32 %r11, %r10, 3;\nsetp.eq.u32 %p4, %r10, 5;\n", "alu", 3);
    expect_class("mov.f32 %f0, 0f00000000;\nex2.approx.f32 %f1, %f0;\nrsqrt.approx.f32 %f2, %f0;\n", "sfu", 2);
    expect_class("cvt.rn.f32.s32 %f0, %r0;\ncvt.rn.f16.f32 %h0, %f0;\n", "convert", 2);
    expect_class("mov.u32 %r10, %r0;\nmov.b64 %d10, {%r10, %r0};\n", "move", 2);
    expect_class("ld.global.b32 %r10, [%d3];\nld.b32 %r10, [%d3];\n", "load_global", 2);
    expect_class("st.global.b32 [%d2], %r0;\n", "store_global", 1);
    expect_class("ld.shared.b32 %r10, [%r3];\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r1];\n", "load_shared", 2);
    expect_class("st.shared.b32 [%r3], %r0;\n", "store_shared", 1);
    expect_class("cp.async.ca.shared.global [%r3], [%d3], 4;\ncp.async.wait_all;\n", "async_copy", 2);
    expect_class("red.global.add.u32 [%d1], 1;\natom.global.add.u32 %r10, [%d1], 1;\n", "atomic", 2);
    expect_class("bar.sync 0;\nmembar.cta;\n", "barrier", 2);
    expect_class("bra on;\non:\n", "branch", 1);
    expect_class("ld.param.b32 %r10, [map];\n", "other", 1);
    expect_class(ZERO "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r10, %r10}, {%r10}, {%f4, %f4, %f4, %f4};\n",
                 "tensor", 1);
}

/* Warps, blocks and launches add up; halves of a warp that part count twice; a function that is called twice has one line. */
static void test_sums(void **state) {
    (void)state;
    char *json = count("ld.global.b32 %r10, [%d3];\nbar.sync 0;\nbar.sync 0;\n", "@block 96", 1);
    expect_in(json, "ld.global.b32", (cost){3, 384, 12, 12, 0, 0, 0});
    assert_int_equal(total(json, "barriers"), 2);
    free(json);
    json = count("ld.global.b32 %r10, [%d3+4];\nbar.sync 0;\n", "@grid 5", 3);
    expect_in(json, "ld.global.b32", (cost){15, 15 * 128, 15 * 5, 15 * 4, 0, 0, 0});
    assert_int_equal(total(json, "global_load_sectors"), 15 * 5);
    assert_int_equal(total(json, "global_load_sectors_ideal"), 15 * 4);
    assert_int_equal(total(json, "launches"), 3);
    assert_int_equal(total(json, "barriers"), 15);
    free(json);
    json = count("@%p2 bra high;\nbra on;\nhigh:\nadd.s32 %r10, %r0, 1;\non:\nld.global.b32 %r10, [%d3];\n", NULL, 1);
    expect_in(json, "add.s32 %r10, %r0, 1", (cost){1, 0, 0, 0, 0, 0, 0});
    expect_in(json, "ld.global.b32", (cost){1, 128, 4, 4, 0, 0, 0});
    free(json);
}

static void test_table(void **state) {
    kcsim_counters counters = {0};
    kcsim_finding_set none = {0};
    kcsim_text text = {0};
    kcsim_counts counts = {0};
    const kcsim_line lines[] = {
        {.line = 7, .class = KCSIM_CLASS_LOAD_GLOBAL, .instruction = "ld.global.b32 %r1, [%rd1]", .executions = 10,
         .cost = {.bytes = 1280, .sectors = 80, .sectors_ideal = 40}},
        {.line = 8, .class = KCSIM_CLASS_LOAD_SHARED, .instruction = "ld.shared.b32 %r1, [%r2]", .executions = 10,
         .cost = {.wavefronts = 30, .bank_conflicts = 20}},
        {.line = 9, .class = KCSIM_CLASS_ALU, .instruction = "add.s32 %r1, %r2, %r3", .executions = 3000},
        {.line = 10, .class = KCSIM_CLASS_ALU, .instruction = "sub.s32 %r1, %r2, %r3", .executions = 3},
    };
    (void)state;
    kcsim_counters_add(&counters, "kernel", &counts, lines, 4);
    kcsim_counters_table_text(&text, &counters, "sm_80", &none);
    char *table = kcsim_text_take(&text);
    assert_string_equal(table,
        "sm_80\n\nkernel: 1 launches, 3023 warp instructions\n"
        "  line   executions class             sectors sectors/each moved/need  wavefronts conflicts  instruction\n"
        "     7           10 load_global            80         8.00       2.00                        ld.global.b32 %r1, [%rd1]\n"
        "     8           10 load_shared                                                30        20  ld.shared.b32 %r1, [%r2]\n"
        "     9         3000 alu                                                                      add.s32 %r1, %r2, %r3\n"
        "                  3 in lines that move no memory, each below a hundredth\n");
    free(table);
    kcsim_counters_clear(&counters);
    kcsim_counters_add(&counters, "short", &counts, lines, 3);
    kcsim_counters_table_text(&text, &counters, "sm_80", &none);
    table = kcsim_text_take(&text);
    assert_non_null(strstr(table, "short: 1 launches, 3020 warp"));
    assert_null(strstr(table, "each below"));
    free(table);
    kcsim_counters_clear(&counters);
}

/* Texts that are too long end at a word, lists after an item, with "...". */
static void test_fitting(void **state) {
    char text[24], list[24] = "";
    (void)state;
    kcsim_text_fit(text, sizeof text, "exactly twenty-three !!");
    assert_string_equal(text, "exactly twenty-three !!");
    kcsim_text_fit(text, sizeof text, "one more than the twenty");
    assert_string_equal(text, "one more than the...");
    kcsim_text_fit(text, sizeof text, "mma.sync {%r1,%r2,%r3,%r4}");
    assert_string_equal(text, "mma.sync {%r1,%r2,...");
    kcsim_text_fit(text, sizeof text, "cp.reduce.async.bulk.tensor.2d");
    assert_string_equal(text, "cp.reduce.async.bulk...");
    for (int i = 0; i < 9; i++) kcsim_text_list(list, sizeof list, "; ", "warp 7");
    assert_string_equal(list, "warp 7; warp 7; ...");
    for (size_t size = 8; size < 24; size++) {
        memset(list, 0, sizeof list);
        for (int i = 0; i < 9; i++) kcsim_text_list(list, size, ", ", "12");
        assert_true(strlen(list) < size);
        assert_string_equal(list + strlen(list) - 3, "...");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_global), cmocka_unit_test(test_shared),  cmocka_unit_test(test_copies), cmocka_unit_test(test_tensor),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_sums), cmocka_unit_test(test_table), cmocka_unit_test(test_fitting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
