/* Memory: vector widths, spaces, generic addresses, atomics, copies, variables, what the counters say. */
#include "tests/unit/sim/machine_test.h"

static void lanes(const char *ptx, uint64_t out[32]) {
    uint64_t in[32];
    for (uint32_t i = 0; i < 32; i++) in[i] = 0x8182838485868788u + i * 0x0101010101010101u;
    machine_lanes(ptx, "sm_90", in, out);
}

static uint64_t input(uint32_t i) {
    return 0x8182838485868788u + i * 0x0101010101010101u;
}

/* ---- loads and stores ---- */

static void test_widths(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("ld.global.s8 %r3, [%d3+7];\ncvt.s64.s32 %d10, %r3;\nst.global.b64 [%d2], %d10;"), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], (int64_t)(int8_t)(input(i) >> 56));
    lanes(PTX_KERNEL("ld.global.u8 %h1, [%d3+1];\ncvt.u64.u16 %d10, %h1;\nst.global.b64 [%d2], %d10;"), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], input(i) >> 8 & 0xff);
    lanes(PTX_KERNEL("ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%d3];\nst.global.v4.u16 [%d2], {%h4, %h3, %h2, %h1};"), out);
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t in = input(i);
        assert_true(out[i] == (in << 48 | (in >> 16 & 0xffff) << 32 | (in >> 32 & 0xffff) << 16 | in >> 48));
    }
    lanes(PTX_KERNEL("ld.global.v2.b32 {_, %r4}, [%d3];\nst.global.u8 [%d2+2], %r4;"), out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], (input(i) >> 32 & 0xff) << 16);
    /* Sixteen bytes by the even lanes. */
    lanes(PTX_KERNEL("and.b32 %r1, %r0, 1;\nsetp.ne.b32 %p1, %r1, 0;\n@%p1 bra end;\n"
                     "ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {%r4, %r5, %r6, %r7}, [%d3];\n"
                     "st.global.wt.v4.b32 [%d2], {%r6, %r7, %r4, %r5};\nend:"),
          out);
    for (uint32_t i = 0; i < 32; i++) assert_true(out[i] == input(i ^ 1));
}

/* The stack of a thread, through generic addresses, at an index that is not constant. */
/* Registers that are vectors: as a whole, by their parts, of a range. */
static void test_vector_registers(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL(".reg .v2 .b32 v<3>, one;\n.reg .v4 .b16 q;\nld.global.v2.b32 v2, [%d3];\nmov.b32 one.x, v2.y;\nadd.u32 one.y, v2.x, 1;\n"
                     "mov.b32 v1.r, one.y;\nmov.b32 v1.g, one.x;\nmov.b32 v0.x, 5;\nst.global.v2.b32 [%d2], v1;\n"), out);
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t in = input(i);
        assert_true(out[i] == ((uint32_t)(in + 1) | in >> 32 << 32));
    }
    lanes(PTX_KERNEL(".reg .v4 .b16 q;\nld.global.v4.b16 q, [%d3];\nmov.b16 q.x, q.w;\nst.global.v4.b16 [%d2], {q.a, q.b, q.y, q.x};\n"), out);
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t in = input(i);
        assert_true(out[i] == (in >> 48 | (in >> 32 & 0xffff) << 16 | (in >> 16 & 0xffff) << 32 | in >> 48 << 48));
    }
}

static void test_local_memory(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_HEADER
          ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.local .align 8 .b8 depot[64];\n.reg .b64 %SP, %SPL;\n"
          PTX_REGISTERS "mov.b64 %SPL, depot; cvta.local.u64 %SP, %SPL; ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;\n"
          "mov.b32 %r1, 0;\nfill: mul.wide.u32 %d4, %r1, 8; add.s64 %d5, %SPL, %d4; mad.lo.s32 %r2, %r1, 10, %r0;\n"
          "cvt.u64.u32 %d6, %r2; st.local.b64 [%d5], %d6; add.s32 %r1, %r1, 1; setp.ne.b32 %p1, %r1, 8; @%p1 bra fill;\n"
          "and.b32 %r3, %r0, 7; mul.wide.u32 %d4, %r3, 8; add.s64 %d5, %SP, %d4; ld.b64 %d7, [%d5];\n"
          "mul.wide.u32 %d4, %r0, 8; add.s64 %d2, %d0, %d4; st.global.b64 [%d2], %d7; ret; }\n",
          out);
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i % 8 * 10 + i);
}

/* One generic load, by lanes that mean shared, global and constant memory. */
static void test_generic_addresses(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_HEADER
          ".const .align 8 .b64 table[2] = {700, 800};\n.shared .align 8 .b64 box;\n"
          ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS
          "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8;\n"
          "add.s64 %d2, %d0, %d4; add.s64 %d3, %d1, %d4; mov.u64 %d5, box; cvta.shared.u64 %d5, %d5;\n"
          "setp.ne.b32 %p1, %r0, 0; @%p1 bra m; mov.b64 %d6, 600; st.b64 [%d5], %d6; m: bar.sync 0;\n"
          "mov.u64 %d7, table; cvta.const.u64 %d7, %d7; add.s64 %d7, %d7, 8; ld.const.b64 %d9, [table];\n"
          "and.b32 %r1, %r0, 3; setp.eq.b32 %p2, %r1, 1; setp.eq.b32 %p3, %r1, 2; mov.b64 %d8, %d3;\n"
          "@%p2 mov.b64 %d8, %d5; @%p3 mov.b64 %d8, %d7; ld.b64 %d10, [%d8]; isspacep.shared %p4, %d8;\n"
          "@%p4 add.s64 %d10, %d10, %d9; st.global.b64 [%d2], %d10; ret; }\n",
          out);
    for (uint32_t i = 0; i < 32; i++)
        assert_true(out[i] == (i % 4 == 1 ? 1300 : i % 4 == 2 ? 800 : input(i)));
}

/* An address register of 32 bits: [register + number] is a sum modulo 2^32, in every instruction. %r9 is 4096 before the lane's 16
 * bytes of the tile and %r8 before `bar`, both below 0; %r20 becomes the lane's number. */
#define WRAPPED(body)                                                                                                    \
    ".version 8.7\n.target sm_90\n.address_size 64\n.shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 bar;\n"       \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.local .align 8 .b8 depot[64];\n" PTX_REGISTERS              \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8; add.s64 %d2, %d0, %d4;\n" \
    "add.s64 %d3, %d1, %d4; mov.b32 %r1, tile; shl.b32 %r2, %r0, 4; add.s32 %r7, %r1, %r2; sub.s32 %r9, %r7, 4096;\n"     \
    "mov.b32 %r8, bar; sub.s32 %r8, %r8, 4096; setp.eq.u32 %p0, %r0, 0; mov.b32 %r3, 0;\n" body                          \
    "\ncvt.u64.u32 %d10, %r20; st.global.b64 [%d2], %d10; ret; }\n"
#define WRAPPED_INIT "@%p0 mbarrier.init.shared.b64 [%r8+4096], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
#define WRAPPED_EXPECT(bytes) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r8+4096], " bytes ";\n"
#define WRAPPED_WAIT "w: mbarrier.try_wait.parity.shared.b64 %p5, [%r8+4096], 0; @!%p5 bra w;\n"

static void test_wrapping(void **state) {
    static const char *const kernels[] = {
        WRAPPED("st.shared.b32 [%r9+4096], %r0; ld.shared.b32 %r20, [%r9+4096];"),
        WRAPPED("st.shared.v4.b32 [%r9+4096], {%r3, %r3, %r3, %r0}; ld.shared.v2.b32 {%r4, %r20}, [%r9+4104];"),
        WRAPPED("st.shared.b32 [%r9+4096], %r3; red.shared.add.u32 [%r9+4096], %r0; atom.shared.add.u32 %r20, [%r9+4096], 1;"),
        WRAPPED("shl.b32 %r4, %r0, 2; add.s32 %r5, %r4, 1; add.s32 %r6, %r4, 2; add.s32 %r10, %r4, 3;\n"
                "st.shared.v4.b32 [%r7], {%r4, %r5, %r6, %r10}; bar.sync 0;\n"
                "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r9+4096];"),
        WRAPPED("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9+4096], {%r0}; bar.sync 0; shl.b32 %r4, %r0, 2;\n"
                "add.s32 %r4, %r1, %r4; ld.shared.b32 %r20, [%r4];"),
        WRAPPED("cp.async.ca.shared.global [%r9+4096], [%d3], 8; cp.async.wait_all; ld.shared.b32 %r20, [%r7];"),
        WRAPPED(WRAPPED_INIT WRAPPED_EXPECT("256")
                "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9+4096], [%d1], 256, [%r8+4096];\n"
                WRAPPED_WAIT "shl.b32 %r4, %r0, 3; add.s32 %r4, %r1, %r4; ld.shared.b32 %r20, [%r4];"),
        WRAPPED("shl.b32 %r4, %r0, 3; add.s32 %r4, %r1, %r4; st.shared.v2.b32 [%r4], {%r0, %r3}; fence.proxy.async.shared::cta;\n"
                "bar.sync 0; @!%p0 bra skip; cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r9+4096], 256;\n"
                "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; skip: bar.sync 0; ld.global.b32 %r20, [%d2];"),
        WRAPPED(WRAPPED_INIT WRAPPED_EXPECT("128")
                "mapa.shared::cluster.u32 %r4, %r7, 0; mapa.shared::cluster.u32 %r5, bar, 0;\n"
                "sub.s32 %r4, %r4, 33554432; sub.s32 %r5, %r5, 33554432; st.async.shared::cluster.mbarrier::complete_tx::bytes"
                ".b32 [%r4+33554432], %r0, [%r5+33554432];\n" WRAPPED_WAIT "ld.shared::cluster.b32 %r20, [%r4+33554432];"),
        WRAPPED("mov.b32 %r4, depot; sub.s32 %r4, %r4, 4096; st.local.b32 [%r4+4100], %r0; ld.local.b32 %r20, [%r4+4100];"),
    };
    uint64_t in[32], out[32];
    (void)state;
    for (uint32_t i = 0; i < 32; i++) in[i] = i;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        machine_lanes(kernels[k], "sm_90", in, out);
        for (uint32_t i = 0; i < 32; i++) assert_int_equal(out[i], i);
    }
}

static void test_variables(void **state) {
    static const char ptx[] = PTX_HEADER
        ".visible .global .align 4 .b32 counter = 5;\n.global .align 8 .b64 pointers[2] = {counter, generic(counter)+4};\n"
        ".visible .global .align 4 .f32 reals[3] = {1.5, 0f40000000};\n.global .align 1 .b8 bytes[] = {1, 2, 0xff};\n"
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS
        "ld.param.u64 %d0, [out]; ld.global.u64 %d1, [pointers]; ld.global.u64 %d3, [pointers+8]; sub.s64 %d3, %d3, %d1;\n"
        "ld.u32 %r1, [%d1]; add.s32 %r1, %r1, 1; st.global.u32 [counter], %r1; ld.global.f32 %r2, [reals+4];\n"
        "ld.global.u8 %r3, [bytes+2]; st.global.v4.b32 [%d0], {%r1, %r2, %r3, 0}; st.global.b64 [%d0+16], %d3; ret; }\n";
    uint64_t address;
    size_t bytes;
    (void)state;
    machine_test test = machine_open(NULL, "sm_80", ptx, 64);
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_OK);
    const uint32_t *out = kcsim_mem_host(test.machine, test.out, 24);
    assert_int_equal(out[0], 6);
    assert_int_equal(out[1], 0x40000000);
    assert_int_equal(out[2], 0xff);
    assert_int_equal(out[4], 4);
    assert_int_equal(kcsim_module_find_global(test.module, "counter", &address, &bytes), KCSIM_OK);
    assert_int_equal(bytes, 4);
    assert_int_equal(*(uint32_t *)kcsim_mem_host(test.machine, address, 4), 6);
    assert_int_equal(kcsim_module_find_global(test.module, "reals", &address, &bytes), KCSIM_OK);
    assert_int_equal(bytes, 12);
    assert_int_equal(kcsim_module_find_global(test.module, "nothing", &address, &bytes), KCSIM_NOT_FOUND);
    machine_close(&test);
}

/* ---- atomics ---- */

/* 32 lanes do one atomic instruction on eight bytes that start as given. */
static void atomic_on(const char *ptx, uint64_t start, uint64_t expected) {
    machine_test test = machine_open(NULL, "sm_90", ptx, 64);
    machine_write(&test, test.out, &start, 8);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    uint64_t got = *(uint64_t *)kcsim_mem_host(test.machine, test.out, 8);
    if (got != expected) print_error("%llx from %s\n", (unsigned long long)got, strstr(ptx, "cvt"));
    assert_true(got == expected);
    machine_close(&test);
}

#define atomic(op, operands, start, expected)                                                      \
    atomic_on(PTX_KERNEL("cvt.u64.u32 %d10, %r0;\n" op " " operands ";"), start, expected)

static void test_atomics(void **state) {
    (void)state;
    atomic("atom.global.add.u32", "%r1, [%d0], %r0", 4, 500);
    atomic("red.global.add.u64", "[%d0], %d10", (uint64_t)1 << 40, ((uint64_t)1 << 40) + 496);
    atomic("atom.global.max.s32", "%r1, [%d0], %r0", 0xfffffff0, 31);
    atomic("red.global.min.u32", "[%d0], %r0", 77, 0);
    atomic("atom.global.or.b32", "%r1, [%d0], %r0", 0, 31);
    atomic("atom.global.xor.b64", "%d11, [%d0], %d10", 5, 5);
    atomic("atom.global.inc.u32", "%r1, [%d0], 9", 0, 2);
    atomic("atom.global.dec.u32", "%r1, [%d0], 9", 0, 8);
    atomic("atom.global.exch.b32", "%r1, [%d0], %r0", 8, 31);
    atomic("atom.global.cas.b32", "%r1, [%d0], %r0, 100", 7, 100);
    atomic("atom.global.add.f32", "%r1, [%d0], 0f3F000000", 0x3f800000, 0x41880000);
    atomic("red.global.add.f64", "[%d0], 0d3FF0000000000000", 0, 0x4040000000000000);
    atomic("red.relaxed.gpu.global.add.noftz.f16x2", "[%d0], 0x3c003800", 0, 0x50004c00);
    atomic("atom.add.s32", "%r1, [%d0], 1", 0, 32);
}

/* ---- asynchronous copies, matrices ---- */

static void test_copy_async(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_HEADER
          ".extern .shared .align 16 .b8 pool[];\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 16 .b8 tile[256];\n"
          PTX_REGISTERS "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8;\n"
          "add.s64 %d2, %d0, %d4; add.s64 %d3, %d1, %d4; mov.b32 %r1, tile; shl.b32 %r2, %r0, 3; add.s32 %r1, %r1, %r2;\n"
          "and.b32 %r3, %r0, 1; setp.eq.b32 %p1, %r3, 1; selp.b32 %r4, 4, 8, %p1;\n"
          "cp.async.ca.shared.global [%r1], [%d3], 8, %r4;\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
          "bar.sync 0;\nld.shared.b64 %d5, [%r1];\nst.global.b64 [%d2], %d5; ret; }\n",
          out);
    for (uint32_t i = 0; i < 32; i++) assert_true(out[i] == (i % 2 ? input(i) & 0xffffffff : input(i)));
}

/* Rows of 8 halves come in by ldmatrix and go out by stmatrix; transposing twice is nothing. */
static void test_matrices(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(".version 8.7\n.target sm_90\n.address_size 64\n"
          ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 16 .b8 tile[256];\n.shared .align 16 .b8 other[256];\n"
          PTX_REGISTERS "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d4, %r0, 8;\n"
          "add.s64 %d2, %d0, %d4; add.s64 %d3, %d1, %d4; mov.b32 %r1, tile; shl.b32 %r2, %r0, 3; add.s32 %r3, %r1, %r2;\n"
          "ld.global.b64 %d5, [%d3]; st.shared.b64 [%r3], %d5; bar.sync 0; and.b32 %r4, %r0, 15; shl.b32 %r4, %r4, 4;\n"
          "add.s32 %r5, %r1, %r4; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r6, %r7}, [%r5];\n"
          "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r6; mov.b32 %r8, other; add.s32 %r9, %r8, %r4;\n"
          "movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r7;\n"
          "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r9], {%r6, %r7};\n"
          "bar.sync 0; add.s32 %r3, %r8, %r2; ld.shared.b64 %d5, [%r3]; st.global.b64 [%d2], %d5; ret; }\n",
          out);
    for (uint32_t i = 0; i < 32; i++) assert_true(out[i] == input(i));
}

/* C + A * B of small integers in f16: row i of A is i in every place, B is one in column 0, two in column 1, ... */
static void test_mma(void **state) {
    uint64_t out[32];
    (void)state;
    lanes(PTX_KERNEL("shr.u32 %r1, %r0, 2;\ncvt.rn.f16.u32 %h1, %r1;\nadd.s32 %r2, %r1, 8;\ncvt.rn.f16.u32 %h2, %r2;\n"
                     "mov.b32 %r4, {%h1, %h1};\nmov.b32 %r5, {%h2, %h2};\nadd.s32 %r3, %r1, 1;\ncvt.rn.f16.u32 %h3, %r3;\n"
                     "mov.b32 %r6, {%h3, %h3};\nmov.b32 %r7, 0f3F000000;\n"
                     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r4, %r5, %r4, %r5}, "
                     "{%r6, %r6}, {%r7, %r7, %r7, %r7};\n"
                     "cvt.rzi.s32.f32 %r14, %r11;\ncvt.rzi.s32.f32 %r15, %r12;\nst.global.v2.b32 [%d2], {%r14, %r15};"),
          out);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t row = i / 4, column = 2 * (i % 4);
        assert_int_equal(out[i] & 0xffffffff, 16 * row * (column + 2));
        assert_int_equal(out[i] >> 32, 16 * (row + 8) * (column + 1));
    }
}

/* ---- counters ---- */

static machine_test counted(const char *ptx, uint32_t threads) {
    machine_test test = machine_open(NULL, "sm_80", ptx, 1 << 16);
    memset(kcsim_mem_host(test.machine, test.in, 1 << 16), 0, 1 << 16);
    kcsim_mem_written(test.machine, test.in, 1 << 16);
    assert_int_equal(machine_launch(&test, 1, threads, 0), KCSIM_OK);
    return test;
}

static void test_sectors(void **state) {
    (void)state;
    machine_test test = counted(PTX_KERNEL("ld.global.b64 %d5, [%d3];\nst.global.b64 [%d2], %d5;"), 32);
    assert_int_equal(machine_counter(&test, "global_load_bytes"), 256);
    assert_int_equal(machine_counter(&test, "global_load_sectors"), 8);
    assert_int_equal(machine_counter(&test, "global_load_sectors_ideal"), 8);
    assert_int_equal(machine_counter(&test, "global_store_sectors"), 8);
    assert_int_equal(machine_counter(&test, "load_global"), 1);
    machine_close(&test);
    /* Four bytes every 64: a sector each. */
    test = counted(PTX_KERNEL("shl.b64 %d5, %d4, 3;\nadd.s64 %d6, %d1, %d5;\nld.global.b32 %r1, [%d6];\nst.global.b64 [%d2], %d5;"), 32);
    assert_int_equal(machine_counter(&test, "global_load_sectors"), 32);
    assert_int_equal(machine_counter(&test, "global_load_sectors_ideal"), 4);
    assert_int_equal(machine_counter(&test, "global_load_bytes"), 128);
    machine_close(&test);
    /* All lanes the same word. */
    test = counted(PTX_KERNEL("ld.global.b32 %r1, [%d1];\nst.global.b64 [%d2], %d4;"), 32);
    assert_int_equal(machine_counter(&test, "global_load_sectors"), 1);
    assert_int_equal(machine_counter(&test, "global_load_sectors_ideal"), 1);
    machine_close(&test);
}

#define SHARED_KERNEL(access)                                                                      \
    PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 16 .b8 tile[32768];\n" PTX_REGISTERS \
               "mov.u32 %r0, %tid.x; mov.b32 %r1, tile; mov.b32 %r5, 1; mov.b64 %d5, 1;\n" access "\nret; }\n"

static void wavefronts(const char *ptx, long expected, long conflicts) {
    machine_test test = counted(ptx, 32);
    assert_int_equal(machine_counter(&test, "shared_wavefronts"), expected);
    assert_int_equal(machine_counter(&test, "shared_bank_conflicts"), conflicts);
    machine_close(&test);
}

static void test_bank_conflicts(void **state) {
    (void)state;
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 2; add.s32 %r2, %r1, %r2; st.shared.b32 [%r2], %r5;"), 1, 0);
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 3; add.s32 %r2, %r1, %r2; st.shared.b32 [%r2], %r5;"), 2, 1);
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 7; add.s32 %r2, %r1, %r2; st.shared.b32 [%r2], %r5;"), 32, 31);
    wavefronts(SHARED_KERNEL("mad.lo.s32 %r2, %r0, 132, %r1; st.shared.b32 [%r2], %r5;"), 1, 0);
    wavefronts(SHARED_KERNEL("st.shared.b32 [%r1], %r5;"), 1, 0);
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 3; add.s32 %r2, %r1, %r2; st.shared.b64 [%r2], %d5;"), 2, 0);
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 4; add.s32 %r2, %r1, %r2; st.shared.v4.b32 [%r2], {%r5, %r5, %r5, %r5};"), 4, 0);
    wavefronts(SHARED_KERNEL("shl.b32 %r2, %r0, 5; add.s32 %r2, %r1, %r2; st.shared.v4.b32 [%r2], {%r5, %r5, %r5, %r5};"), 8, 4);
    /* Half a warp: one wavefront of the 8-byte access is all it needs. */
    wavefronts(SHARED_KERNEL("setp.gt.u32 %p1, %r0, 15; shl.b32 %r2, %r0, 3; add.s32 %r2, %r1, %r2; @%p1 bra e; "
                             "st.shared.b64 [%r2], %d5; e:"), 1, 0);
}

static void test_memory_map(void **state) {
    uint64_t a, b, base;
    size_t bytes, free_bytes, total;
    (void)state;
    kcsim_options options = kcsim_options_default();
    options.memory = (int64_t)8 << 30;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), &options);
    assert_int_equal(kcsim_mem_alloc(machine, (size_t)6 << 30, &a), KCSIM_OK);
    assert_int_equal(kcsim_mem_alloc(machine, 1000, &b), KCSIM_OK);
    assert_int_equal(a % 256, 0);
    assert_int_equal(b % 256, 0);
    kcsim_mem_info(machine, &free_bytes, &total);
    assert_int_equal(total, (size_t)8 << 30);
    assert_int_equal(free_bytes, ((size_t)2 << 30) - 1024);
    assert_int_equal(kcsim_mem_alloc(machine, (size_t)3 << 30, &base), KCSIM_NO_MEMORY);
    assert_int_equal(kcsim_mem_range(machine, b + 999, &base, &bytes), KCSIM_OK);
    assert_int_equal(base, b);
    assert_int_equal(bytes, 1000);
    assert_null(kcsim_mem_host(machine, b + 900, 101));
    assert_non_null(kcsim_mem_host(machine, b + 900, 100));
    assert_false(kcsim_mem_defined(machine, b, 8));
    kcsim_mem_written(machine, b, 8);
    kcsim_mem_written(machine, b + 100, 4);
    assert_true(kcsim_mem_defined(machine, b, 8));
    assert_true(kcsim_mem_defined(machine, b + 100, 4));
    assert_false(kcsim_mem_defined(machine, b, 9));
    kcsim_mem_copy_defined(machine, b + 4, b, 16);
    assert_true(kcsim_mem_defined(machine, b, 12));
    assert_false(kcsim_mem_defined(machine, b + 12, 1));
    assert_int_equal(kcsim_mem_free(machine, b + 4), KCSIM_INVALID);
    assert_int_equal(kcsim_mem_free(machine, b), KCSIM_OK);
    assert_int_equal(kcsim_mem_free(machine, b), KCSIM_INVALID);
    assert_null(kcsim_mem_host(machine, b, 1));
    kcsim_machine_destroy(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector_registers),
        cmocka_unit_test(test_widths),     cmocka_unit_test(test_local_memory), cmocka_unit_test(test_generic_addresses),
        cmocka_unit_test(test_variables),  cmocka_unit_test(test_atomics),      cmocka_unit_test(test_copy_async),
        cmocka_unit_test(test_matrices),   cmocka_unit_test(test_mma),          cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_bank_conflicts), cmocka_unit_test(test_memory_map), cmocka_unit_test(test_wrapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
