/* Every check: a kernel that is wrong and is caught, and its twin that is right and is not. */
#include "tests/unit/sim/machine_test.h"

typedef struct expectation {
    const char *kind; /* NULL: nothing is found */
    const char *text;
} expectation;

/* `in` holds 64 KiB of zeros, `out` nothing. */
static void run_with(const kcsim_options *options, const char *ptx, uint32_t grid, uint32_t block, size_t shared,
                     expectation expected) {
    static const uint8_t zeros[1 << 16];
    machine_test test = machine_open(options, "sm_90a", ptx, sizeof zeros);
    machine_write(&test, test.in, zeros, sizeof zeros);
    kcsim_status status = machine_launch(&test, grid, block, shared);
    if (expected.kind) {
        assert_true(machine_found(&test, expected.kind, expected.text));
        assert_int_equal(status, KCSIM_FAULT);
        assert_non_null(strstr(kcsim_last_fault(test.machine), "in kernel k"));
    } else {
        if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
        assert_int_equal(status, KCSIM_OK);
        assert_int_equal(kcsim_finding_count(test.machine), 0);
    }
    machine_close(&test);
}

static void broken(const char *ptx, uint32_t block, const char *kind, const char *text) {
    run_with(NULL, ptx, 1, block, 0, (expectation){kind, text});
}

static void right(const char *ptx, uint32_t block) {
    run_with(NULL, ptx, 1, block, 0, (expectation){0});
}

#define SHARED_KERNEL(body)                                                                        \
    PTX_HEADER ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.shared .align 16 .b8 tile[4096];\n" PTX_REGISTERS \
               "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d4, %r0, 8;\n" \
               "add.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\nmov.b32 %r1, tile;\nshl.b32 %r2, %r0, 2;\n" \
               "add.s32 %r3, %r1, %r2;\n" body "\nret;\n}\n"

static void test_out_of_bounds(void **state) {
    (void)state;
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d1+65536];"), 32, "out_of_bounds", "\"space\": \"global\"");
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d1+65536];"), 32, "out_of_bounds", "65536 bytes past the start");
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d1+-4];"), 32, "out_of_bounds", NULL);
    broken(PTX_KERNEL("st.global.b32 [%d2+65500], 1;"), 32, "out_of_bounds", "\"thread\": [5, 0, 0]");
    broken(PTX_KERNEL("ld.b32 %r1, [0];"), 32, "out_of_bounds", "no allocation");
    broken(SHARED_KERNEL("ld.shared.b32 %r4, [%r3+4096];"), 32, "out_of_bounds", "\"space\": \"shared\"");
    broken(SHARED_KERNEL("st.shared.b32 [%r3+4000], %r0;"), 32, "out_of_bounds", "there are 4096 bytes");
    broken(PTX_KERNEL("ld.param.b32 %r1, [in+8];"), 1, "out_of_bounds", "\"space\": \"param\"");
    broken(PTX_KERNEL("atom.global.add.u32 %r1, [%d1+65536], 1;"), 1, "out_of_bounds", "atom.global.add.u32");
    right(PTX_KERNEL("ld.global.b32 %r1, [%d1+65532];"), 32);
    right(SHARED_KERNEL("st.shared.b32 [%r3+3968], %r0;"), 32);
    /* Of the lanes of one store, those that are wrong: 8 bytes each, so lanes 8 and up of 65472 on. */
    broken(PTX_KERNEL("st.global.b64 [%d2+65472], %d0;"), 32, "out_of_bounds", "\"count\": 24");
}

static void test_freed_memory(void **state) {
    uint64_t extra;
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", PTX_KERNEL("ld.global.b32 %r1, [%d1];"), 4096);
    assert_int_equal(kcsim_mem_alloc(test.machine, 4096, &extra), KCSIM_OK);
    assert_int_equal(kcsim_mem_free(test.machine, test.in), KCSIM_OK);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
    assert_true(machine_found(&test, "out_of_bounds", "freed"));
    machine_close(&test);
}

static void test_misaligned(void **state) {
    (void)state;
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d1+2];"), 32, "misaligned", "\"size\": 4");
    broken(PTX_KERNEL("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d3];"), 32, "misaligned", "\"count\": 16");
    broken(SHARED_KERNEL("ld.shared.b64 %d5, [%r3];"), 32, "misaligned", "\"thread\": [1, 0, 0]");
    right(PTX_KERNEL("ld.global.v2.b32 {%r1, %r2}, [%d3];"), 32);
}

static void test_uninitialized(void **state) {
    (void)state;
    /* memory never written */
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d2];\nst.global.b32 [%d2+8192], %r1;"), 32, "uninitialized", "stored");
    broken(PTX_KERNEL("ld.global.b32 %r1, [%d2];\nadd.s32 %r1, %r1, 1;\nmul.lo.s32 %r2, %r1, 0;\nsetp.eq.b32 %p1, %r2, 0;\n"
                      "@%p1 bra end;\nst.global.b32 [%d2], 1;\nend:"), 32, "uninitialized", "predicate");
    broken(PTX_KERNEL("ld.global.b64 %d5, [%d2];\nadd.s64 %d5, %d1, %d5;\nld.global.b32 %r1, [%d5];"), 32, "uninitialized",
           "address");
    broken(SHARED_KERNEL("ld.shared.b32 %r4, [%r3];\nst.global.b32 [%d2], %r4;"), 32, "uninitialized", NULL);
    /* a register that is written on one path only */
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 7;\n@%p1 bra skip;\nmov.b32 %r5, 1;\nskip:\nst.global.b32 [%d2], %r5;"), 32,
           "uninitialized", "\"count\": 24");
    right(PTX_KERNEL("setp.gt.u32 %p1, %r0, 7;\nmov.b32 %r5, 2;\n@%p1 bra skip;\nmov.b32 %r5, 1;\nskip:\nst.global.b32 [%d2], %r5;"),
          32);
    /* loaded, but never used; copied within shared memory; masked out */
    right(PTX_KERNEL("ld.global.b32 %r1, [%d2];\nadd.s32 %r1, %r1, 1;"), 32);
    right(SHARED_KERNEL("ld.shared.b32 %r4, [%r3];\nst.shared.b32 [%r3+512], %r4;"), 32);
    right(PTX_KERNEL("ld.global.b32 %r1, [%d2];\nand.b32 %r1, %r1, 0;\nst.global.b32 [%d2], %r1;"), 32);
    /* half a word is there, and only that half is used */
    right(PTX_KERNEL("st.global.b16 [%d2], 5;\nld.global.b32 %r1, [%d2];\nand.b32 %r2, %r1, 0xffff;\nst.global.b32 [%d2+16384], %r2;"),
          32);
    right(PTX_KERNEL("st.global.b16 [%d2+2], 5;\nld.global.b32 %r1, [%d2];\nshr.u32 %r2, %r1, 16;\nmov.b32 {%h1, %h2}, %r1;\n"
                     "st.global.b32 [%d2+16384], %r2;\nst.global.b16 [%d2+24576], %h2;"), 32);
    broken(PTX_KERNEL("st.global.b16 [%d2], 5;\nld.global.b32 %r1, [%d2];\nshr.u32 %r2, %r1, 16;\nst.global.b32 [%d2+16384], %r2;"),
           32, "uninitialized", NULL);
    /* a shuffle from a lane that is not there; a reduction over something undefined */
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra end;\nshfl.sync.down.b32 %r3, %r0, 8, 31, 0xffff;\n"
                      "st.global.b32 [%d2], %r3;\nend:"), 32, "uninitialized", "\"count\": 8");
    right(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra end;\nshfl.sync.down.b32 %r3, %r0, 8, 15, 0xffff;\n"
                     "st.global.b32 [%d2], %r3;\nend:"), 32);
}

/* %r40 and %h30 are never written. What compilers do with the half of a register that nobody wrote is
 * followed to the bit, as long as only the other half counts. */
static void test_partly_defined(void **state) {
    (void)state;
#define LOW "mov.b64 %d5, {%r0, %r40};\n"
#define HIGH "mov.b64 %d5, {%r40, %r0};\n"
#define HALF "mov.b32 %r5, {%h1, %h30};\n"
#define STORE32 "st.global.b32 [%d2], %r6;"
#define STORE64 "st.global.b64 [%d2], %d6;"
    static const struct {
        const char *right, *broken; /* to be equal but for where the undefined bits end up */
    } cases[] = {
        {PTX_KERNEL(HIGH "bfe.s64 %d6, %d5, 32, 8;\n" STORE64),
         PTX_KERNEL(HIGH "bfe.s64 %d6, %d5, 31, 8;\n" STORE64)},
        {PTX_KERNEL(LOW "bfe.u64 %d6, %d5, 16, 16;\n" STORE64),
         PTX_KERNEL(LOW "bfe.u64 %d6, %d5, 16, 17;\n" STORE64)},
        {PTX_KERNEL(HIGH "bfi.b64 %d6, %d4, %d5, 0, 32;\n" STORE64),
         PTX_KERNEL(HIGH "bfi.b64 %d6, %d4, %d5, 0, 31;\n" STORE64)},
        {PTX_KERNEL(HIGH "mov.b64 {_, %r6}, %d5;\n" STORE32),
         PTX_KERNEL(HIGH "mov.b64 {%r6, _}, %d5;\n" STORE32)},
        {PTX_KERNEL(HIGH "shr.s64 %d6, %d5, 32;\n" STORE64),
         PTX_KERNEL(LOW "shr.s64 %d6, %d5, 32;\n" STORE64)},
        {PTX_KERNEL(LOW "shl.b64 %d6, %d5, 32;\n" STORE64),
         PTX_KERNEL(LOW "shl.b64 %d6, %d5, 31;\n" STORE64)},
        {PTX_KERNEL("shl.b32 %r5, %r40, 4;\nand.b32 %r6, %r5, 15;\n" STORE32),
         PTX_KERNEL("shl.b32 %r5, %r40, 3;\nand.b32 %r6, %r5, 15;\n" STORE32)},
        {PTX_KERNEL("shf.l.wrap.b32 %r6, %r0, %r40, 32;\nshf.r.clamp.b32 %r6, %r40, %r0, 32;\n" STORE32),
         PTX_KERNEL("shf.r.clamp.b32 %r6, %r40, %r0, 31;\n" STORE32)},
        {PTX_KERNEL("prmt.b32 %r6, %r0, %r40, 0x3a10;\n" STORE32),
         PTX_KERNEL("prmt.b32 %r6, %r0, %r40, 0x3f10;\n" STORE32)},
        {PTX_KERNEL("or.b32 %r6, %r40, -1;\n" STORE32),
         PTX_KERNEL("or.b32 %r6, %r40, -2;\n" STORE32)},
        /* (a & b) | (~a & c): where a is 0, b does not matter */
        {PTX_KERNEL("mov.b32 %r5, 0;\nlop3.b32 %r6, %r5, %r40, %r0, 0xca;\n" STORE32),
         PTX_KERNEL("mov.b32 %r5, 1;\nlop3.b32 %r6, %r5, %r40, %r0, 0xca;\n" STORE32)},
        {PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "cvt.s32.s8 %r6, %r5;\n" STORE32),
         PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "cvt.s64.s32 %d6, %r5;\n" STORE64)},
        {PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "cvt.rn.f32.u16 %r6, %r5;\n" STORE32),
         PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "cvt.rn.f32.u32 %r6, %r5;\n" STORE32)},
        {PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "mad.lo.s32 %r6, %r5, 3, %r5;\nst.global.b16 [%d2], %r6;"),
         PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "mad.lo.s32 %r6, %r5, 3, %r5;\n" STORE32)},
        {PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "add.f16x2 %r6, %r5, %r5;\nst.global.b16 [%d2], %r6;"),
         PTX_KERNEL("cvt.u16.u32 %h1, %r0;\n" HALF "add.f16x2 %r6, %r5, %r5;\n" STORE32)},
        {PTX_KERNEL("cvt.rn.f16x2.f32 %r6, %r40, %r0;\nst.global.b16 [%d2], %r6;"),
         PTX_KERNEL("cvt.rn.f16x2.f32 %r6, %r0, %r40;\nst.global.b16 [%d2], %r6;")},
        {PTX_KERNEL("bfe.u32 %r6, %r0, 3, 4;\n" STORE32),
         PTX_KERNEL("bfe.u32 %r6, %r0, %r40, 4;\n" STORE32)},
        {PTX_KERNEL("setp.eq.b32 %p1, %r0, 3;\nselp.b32 %r6, %r0, 1, %p1;\n" STORE32),
         PTX_KERNEL("setp.eq.b32 %p1, %r40, 3;\nselp.b32 %r6, %r0, 1, %p1;\n" STORE32)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        right(cases[i].right, 32);
        broken(cases[i].broken, 32, "uninitialized", NULL);
    }
}

/* A block knows nothing of the registers of the one that ran before it. */
static void test_blocks_begin_undefined(void **state) {
    (void)state;
    kcsim_options options = kcsim_options_default();
    options.host_threads = 1;
    run_with(&options,
             PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nsetp.ne.b32 %p1, %r7, 0;\nmul.wide.u32 %d5, %r7, 256;\n"
                        "add.s64 %d2, %d2, %d5;\n@%p1 bra store;\n" HALF
                        "and.b32 %r5, %r5, 0;\nmov.b32 {%h2, %h3}, %r5;\nmov.b32 %r5, {%h2, %h30};\n"
                        "store: st.global.b16 [%d2], %r5;"),
             2, 32, 0, (expectation){"uninitialized", "\"block\": [1, 0, 0]"});
}

static void test_shared_races(void **state) {
    (void)state;
    /* warp 1 reads what warp 0 wrote */
#define NEIGHBOUR(between)                                                                         \
    SHARED_KERNEL("st.shared.b32 [%r3], %r0;\n" between "xor.b32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\n" \
                  "ld.shared.b32 %r5, [%r4];\nst.global.b32 [%d2], %r5;")
    broken(NEIGHBOUR(""), 64, "race", "no barrier");
    right(NEIGHBOUR("bar.sync 0;\n"), 64);
    right(NEIGHBOUR("bar.sync 3, 64;\n"), 64);
    /* the barrier at the loop's end is missing: the next round's store meets this round's loads */
#define ROUNDS(end)                                                                                \
    SHARED_KERNEL("mov.b32 %r6, 0;\nagain: st.shared.b32 [%r3], %r6;\nbar.sync 0;\nxor.b32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\n" \
                  "add.s32 %r4, %r1, %r4;\nld.shared.b32 %r5, [%r4];\n" end                        \
                  "add.s32 %r6, %r6, 1;\nsetp.ne.b32 %p1, %r6, 4;\n@%p1 bra again;\nst.global.b32 [%d2], %r5;")
    broken(ROUNDS(""), 64, "race", NULL);
    right(ROUNDS("bar.sync 0;\n"), 64);
    /* two warps store to one word; one warp's lanes store different values to one word */
    broken(SHARED_KERNEL("st.shared.b32 [%r1], 7;"), 64, "race", NULL);
    right(SHARED_KERNEL("st.shared.b32 [%r1], 7;"), 32);
    broken(SHARED_KERNEL("st.shared.b32 [%r1], %r0;"), 32, "race", "lanes of one warp");
    /* halves of one word belong to two warps */
    right(SHARED_KERNEL("shr.u32 %r4, %r0, 5;\nshl.b32 %r4, %r4, 1;\nand.b32 %r5, %r0, 31;\nshl.b32 %r5, %r5, 2;\n"
                        "add.s32 %r4, %r4, %r5;\nadd.s32 %r4, %r1, %r4;\ncvt.u16.u32 %h1, %r0;\nst.shared.b16 [%r4], %h1;"),
          64);
    /* atomics do not race with each other, but with plain loads */
    right(SHARED_KERNEL("atom.shared.add.u32 %r4, [%r1], 1;"), 64);
    broken(SHARED_KERNEL("atom.shared.add.u32 %r4, [%r1], 1;\nld.shared.b32 %r5, [%r1];"), 64, "race", NULL);
    /* many readers, then a writer */
    broken(SHARED_KERNEL("st.shared.b32 [%r3], 1;\nbar.sync 0;\nld.shared.b32 %r5, [%r1];\nsetp.ne.b32 %p1, %r0, 0;\n"
                         "@%p1 bra end;\nst.shared.b32 [%r1], 2;\nend:"), 96, "race", NULL);
    right(SHARED_KERNEL("st.shared.b32 [%r3], 1;\nbar.sync 0;\nld.shared.b32 %r5, [%r1];\nbar.sync 0;\nsetp.ne.b32 %p1, %r0, 0;\n"
                        "@%p1 bra end;\nst.shared.b32 [%r1], 2;\nend:"), 96);
    /* a named barrier orders only those that take part */
    broken(SHARED_KERNEL("shr.u32 %r4, %r0, 6;\nst.shared.b32 [%r3], %r0;\nadd.s32 %r5, %r4, 1;\nbar.sync %r5, 64;\n"
                         "xor.b32 %r4, %r0, 64;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\nld.shared.b32 %r5, [%r4];"),
           128, "race", NULL);
    right(SHARED_KERNEL("shr.u32 %r4, %r0, 6;\nst.shared.b32 [%r3], %r0;\nadd.s32 %r5, %r4, 1;\nbar.sync %r5, 64;\n"
                        "xor.b32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\nld.shared.b32 %r5, [%r4];"),
          128);
}

/* What lanes of one warp do is ordered by bar.warp.sync and by barriers, not by running together. */
static void test_races_of_lanes(void **state) {
    (void)state;
#define SWAPPED(between)                                                                           \
    SHARED_KERNEL("st.shared.b32 [%r3], %r0;\n" between "xor.b32 %r4, %r0, 5;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\n" \
                  "ld.shared.b32 %r5, [%r4];\nst.global.b32 [%d2], %r5;")
    broken(SWAPPED(""), 32, "race", "no bar.warp.sync");
    broken(SWAPPED("shfl.sync.bfly.b32 %r6, %r0, 1, 31, -1;\n"), 32, "race", "no bar.warp.sync");
    right(SWAPPED("bar.warp.sync -1;\n"), 64);
    right(SWAPPED("bar.sync 0;\n"), 32);
    right(SWAPPED("membar.cta;\n"), 32);
    /* read by others, then stored to */
#define REUSED(between)                                                                            \
    SHARED_KERNEL("st.shared.b32 [%r3], %r0;\nbar.warp.sync -1;\nld.shared.b32 %r5, [%r1];\n" between "st.shared.b32 [%r3], %r5;")
    broken(REUSED(""), 32, "race", "no bar.warp.sync");
    right(REUSED("bar.warp.sync -1;\n"), 32);
    /* eight lanes meet: that orders them, not the others */
#define EIGHTS "and.b32 %r6, %r0, 24;\nshl.b32 %r6, 255, %r6;\nbar.warp.sync %r6;\n"
    right(SWAPPED(EIGHTS), 32);
    broken(SHARED_KERNEL("st.shared.b32 [%r3], %r0;\n" EIGHTS "xor.b32 %r4, %r0, 8;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\n"
                         "ld.shared.b32 %r5, [%r4];"), 32, "race", "no bar.warp.sync");
    /* by way of a lane that met both: lanes 0 to 15, then 8 to 23 */
    right(SHARED_KERNEL("setp.lt.u32 %p1, %r0, 8;\n@%p1 st.shared.b32 [%r3], %r0;\nsetp.gt.u32 %p1, %r0, 15;\n@%p1 bra more;\n"
                        "bar.warp.sync 65535;\nmore: setp.lt.u32 %p1, %r0, 8;\n@%p1 bra end;\nsetp.gt.u32 %p1, %r0, 23;\n"
                        "@%p1 bra end;\nbar.warp.sync 16776960;\nand.b32 %r4, %r0, 7;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\n"
                        "ld.shared.b32 %r5, [%r4];\nend:"), 32);
    /* halves of a word, atomics, one value stored by all */
    right(SHARED_KERNEL("shl.b32 %r4, %r0, 1;\nadd.s32 %r4, %r1, %r4;\ncvt.u16.u32 %h1, %r0;\nst.shared.b16 [%r4], %h1;\n"
                        "ld.shared.u16 %h1, [%r4];\nst.shared.b16 [%r4], %h1;"), 32);
    right(SHARED_KERNEL("atom.shared.add.u32 %r4, [%r1], 1;\natom.shared.add.u32 %r4, [%r1], 1;"), 32);
    broken(SHARED_KERNEL("atom.shared.add.u32 %r4, [%r1], 1;\nsetp.ne.b32 %p1, %r0, 3;\n@%p1 bra end;\nst.shared.b32 [%r1+4], 1;\n"
                         "end:\nld.shared.b32 %r5, [%r1+4];"), 32, "race", "thread 3,0,0 of block 0,0,0 of this warp");
    right(SHARED_KERNEL("st.shared.b32 [%r1], 7;\nld.shared.b32 %r5, [%r1];"), 32);
}

/* Each thread copies a word of `in` to its own word of the tile, and another one to the word 512 bytes on. */
static void test_copies_in_flight(void **state) {
    (void)state;
#define FIRST "cp.async.ca.shared.global [%r3], [%d3], 4;\n"
#define SECOND "cp.async.ca.shared.global [%r3+512], [%d3], 4;\n"
#define COMMIT "cp.async.commit_group;\n"
#define WAIT(left) "cp.async.wait_group " #left ";\n"
#define USE(offset) "ld.shared.b32 %r5, [%r3+" #offset "];\nst.global.b32 [%d2], %r5;\n"
#define OTHERS "xor.b32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r1, %r4;\nld.shared.b32 %r5, [%r4];\nst.global.b32 [%d2], %r5;\n"
    static const struct {
        const char *right, *broken;
    } cases[] = {
        {SHARED_KERNEL(FIRST COMMIT WAIT(0) USE(0)), SHARED_KERNEL(FIRST COMMIT USE(0) WAIT(0))},
        {SHARED_KERNEL(FIRST "cp.async.wait_all;\n" USE(0)), SHARED_KERNEL(FIRST WAIT(0) USE(0))},
        {SHARED_KERNEL(FIRST COMMIT SECOND COMMIT WAIT(1) USE(0)),
         SHARED_KERNEL(FIRST COMMIT SECOND COMMIT WAIT(1) USE(512))},
        {SHARED_KERNEL(FIRST SECOND COMMIT COMMIT WAIT(1) USE(512)),
         SHARED_KERNEL(FIRST COMMIT SECOND WAIT(0) USE(512))},
        /* written while the copy is under way; copied over */
        {SHARED_KERNEL(FIRST COMMIT WAIT(0) "st.shared.b32 [%r3], 1;"),
         SHARED_KERNEL(FIRST COMMIT "st.shared.b32 [%r3], 1;\n" WAIT(0))},
        {SHARED_KERNEL(FIRST COMMIT WAIT(0) FIRST COMMIT WAIT(0)), SHARED_KERNEL(FIRST COMMIT FIRST COMMIT WAIT(0))},
        {SHARED_KERNEL(FIRST COMMIT WAIT(0) "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r1];"),
         SHARED_KERNEL(FIRST COMMIT "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r1];")},
        /* others may read after the wait and then a barrier, in this order */
        {SHARED_KERNEL(FIRST COMMIT WAIT(0) "bar.sync 0;\n" OTHERS),
         SHARED_KERNEL(FIRST COMMIT "bar.sync 0;\n" WAIT(0) OTHERS)},
        /* half of the warp does not wait */
        {SHARED_KERNEL(FIRST COMMIT "setp.gt.u32 %p1, %r0, 15;\n@%p1 bra end;\n" WAIT(0) USE(0) "end:"),
         SHARED_KERNEL(FIRST COMMIT "setp.gt.u32 %p1, %r0, 15;\n@%p1 bra use;\n" WAIT(0) "use:\n" USE(0))},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        right(cases[i].right, 64);
        broken(cases[i].broken, 64, "async_in_flight", "copies to it");
    }
    kcsim_options options = kcsim_options_default();
    options.checks &= ~(uint32_t)KCSIM_CHECK_ASYNC_IN_FLIGHT;
    run_with(&options, cases[0].broken, 1, 64, 0, (expectation){0});
    /* without a barrier it is told once, as a race */
    machine_test test = machine_open(NULL, "sm_90a", SHARED_KERNEL(FIRST COMMIT WAIT(0) OTHERS), 1 << 16);
    static const uint8_t zeros[1 << 16];
    machine_write(&test, test.in, zeros, sizeof zeros);
    assert_int_equal(machine_launch(&test, 1, 64, 0), KCSIM_FAULT);
    assert_true(machine_found(&test, "race", "no barrier"));
    assert_false(machine_found(&test, "async_in_flight", NULL));
    machine_close(&test);
    /* a ring of three stages, longer than what is remembered of a thread's groups */
    right(SHARED_KERNEL(FIRST COMMIT SECOND COMMIT "mov.b32 %r6, 0;\nmov.b32 %r7, %r3;\nmov.b32 %r8, 1024;\n"
                        "again: cp.async.wait_group 1;\nbar.sync 0;\nxor.b32 %r4, %r0, 32;\nshl.b32 %r4, %r4, 2;\n"
                        "sub.s32 %r9, %r7, %r3;\nadd.s32 %r4, %r4, %r9;\nadd.s32 %r4, %r4, %r1;\nld.shared.b32 %r5, [%r4];\n"
                        "add.s32 %r10, %r3, %r8;\ncp.async.ca.shared.global [%r10], [%d3], 4;\ncp.async.commit_group;\n"
                        "add.s32 %r8, %r8, 512;\nsetp.eq.b32 %p1, %r8, 1536;\nselp.b32 %r8, 0, %r8, %p1;\n"
                        "add.s32 %r7, %r7, 512;\nsub.s32 %r9, %r7, %r3;\nsetp.eq.b32 %p1, %r9, 1536;\nselp.b32 %r7, %r3, %r7, %p1;\n"
                        "add.s32 %r6, %r6, 1;\nsetp.ne.b32 %p1, %r6, 50;\n@%p1 bra again;\nst.global.b32 [%d2], %r5;"),
          64);
}

static void blocks(const char *ptx, const char *kind, const char *text) {
    run_with(NULL, ptx, 40, 32, 0, (expectation){kind, text});
}

static void test_races_between_blocks(void **state) {
    (void)state;
#define EACH_BLOCK "mov.u32 %r7, %ctaid.x;\nmul.wide.u32 %d5, %r7, 256;\nadd.s64 %d2, %d2, %d5;\n"
    blocks(PTX_KERNEL(EACH_BLOCK "st.global.b64 [%d2], %d4;"), NULL, NULL);
    blocks(PTX_KERNEL(EACH_BLOCK "st.global.b64 [%d2], %d4;\nld.global.b64 %d6, [%d1];"), NULL, NULL);
    blocks(PTX_KERNEL("st.global.b64 [%d2], %d4;"), "race", "\"block\": [0, 0, 0], \"thread\": [0, 0, 0]");
    blocks(PTX_KERNEL("st.global.b64 [%d2], %d4;"), "race", "\"count\": 64");
    /* block 0 writes what the others read */
    blocks(PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nsetp.ne.b32 %p1, %r7, 0;\n@%p1 bra read;\nst.global.b32 [%d3], 1;\n"
                      "read:\nld.global.b32 %r1, [%d1+8];"), "race", "\"thread\": [1, 0, 0]");
    /* halves of one word by two blocks are two places; the same half is one */
    blocks(PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nsetp.gt.u32 %p1, %r7, 1;\n@%p1 bra end;\nmul.wide.u32 %d5, %r7, 2;\n"
                      "add.s64 %d2, %d2, %d5;\nst.global.b16 [%d2], 1;\nend:"), NULL, NULL);
    blocks(PTX_KERNEL("st.global.b16 [%d2], 1;"), "race", "\"size\": 1");
    /* relaxed atomics order nothing */
    blocks(PTX_KERNEL("atom.global.add.u32 %r1, [%d1], 1;\nst.global.b32 [%d2], 1;"), "race", "nothing orders the two");
    /* a plain load before a compare-and-swap is a guess */
    blocks(PTX_KERNEL("ld.global.b32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\natom.global.cas.b32 %r3, [%d1], %r1, %r2;"), NULL, NULL);
}

static void test_barrier_divergence(void **state) {
    (void)state;
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra end;\nbar.sync 0;\nend:"), 32, "barrier_divergence", "lanes");
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra other;\nbar.sync 0;\nbra end;\nother: bar.sync 0;\nend:"), 32,
           "barrier_divergence", "different instructions");
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 47;\n@%p1 ret;\nbar.sync 0;"), 64, "barrier_divergence", "exited");
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra other;\nbar.sync 1;\nbra end;\nother: bar.sync 2;\nend:"), 32,
           "barrier_divergence", "barrier 1");
    right(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra other;\nadd.s32 %r1, %r0, 1;\nother: bar.sync 0;"), 32);
    /* whole warps may leave: exiting threads do not hold a barrier up */
    right(PTX_KERNEL("setp.gt.u32 %p1, %r0, 31;\n@%p1 ret;\nbar.sync 0;"), 64);
    right(PTX_KERNEL("bar.sync 0;\nbar.sync 0;"), 48);
}

static void test_deadlock(void **state) {
    (void)state;
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 31;\n@%p1 bra other;\nbar.sync 1;\nbra end;\nother: bar.sync 2;\nend:"), 64,
           "deadlock", "warp 1 lanes ffffffff wait at barrier 2");
    broken(PTX_KERNEL("bar.sync 1, 96;"), 64, "deadlock", NULL);
    broken(PTX_KERNEL("again: ld.volatile.global.b32 %r1, [%d1];\nsetp.eq.b32 %p1, %r1, 0;\n@%p1 bra again;"), 32, "deadlock",
           "polls");
    broken(SHARED_KERNEL("st.volatile.shared.b32 [%r1], 0;\nagain: ld.volatile.shared.b32 %r4, [%r1];\n"
                         "setp.eq.b32 %p1, %r4, 0;\n@%p1 bra again;"), 32, "deadlock", "polls");
    broken(PTX_KERNEL("setp.gt.u32 %p1, %r0, 15;\n@%p1 bra end;\nbar.warp.sync 0x1ffff;\nbra over;\n"
                      "end: bar.sync 0;\nover:"), 32, "barrier_divergence", "wait");
    /* one block waits for another that does come */
    run_with(NULL, PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nsetp.eq.b32 %p2, %r7, 1;\n@%p2 bra give;\n"
                              "again: ld.volatile.global.b32 %r1, [%d1];\nsetp.eq.b32 %p1, %r1, 0;\n@%p1 bra again;\nbra end;\n"
                              "give: st.volatile.global.b32 [%d1], 1;\nend:"), 2, 1, 0, (expectation){0});
}

static void test_trap(void **state) {
    (void)state;
    kcsim_options options = kcsim_options_default();
    options.checks = 0;
    machine_test test = machine_open(&options, "sm_90a", PTX_KERNEL("trap;"), 64);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "trap"));
    machine_close(&test);
}

static void limit(const char *ptx, uint32_t grid, uint32_t block, size_t shared, const char *text) {
    machine_test test = machine_open(NULL, "sm_90a", ptx, 64);
    assert_int_equal(machine_launch(&test, grid, block, shared), KCSIM_LAUNCH_LIMIT);
    assert_true(machine_found(&test, "launch_limit", text));
    machine_close(&test);
}

static void test_launch_limits(void **state) {
    (void)state;
    limit(PTX_KERNEL(""), 1, 1025, 0, "1024");
    limit(PTX_KERNEL(""), 1, 32, 50 * 1024, "49152");
    limit(PTX_KERNEL_LIMITS(".maxntid 128, 1, 1\n", ""), 1, 160, 0, "allows 128");
    limit(PTX_KERNEL_LIMITS(".reqntid 128\n", ""), 1, 64, 0, "requires 128");
    limit(PTX_KERNEL_LIMITS(".reqnctapercluster 2, 1, 1\n", ""), 3, 64, 0, "no multiple of the cluster");
    machine_test test = machine_open(NULL, "sm_90a", PTX_KERNEL(""), 64);
    uint64_t params[2] = {test.out, test.in};
    kcsim_launch_config config = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .dynamic_shared = 200 << 10, .shared_limit = 227 << 10};
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, sizeof params), KCSIM_OK);
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, 8), KCSIM_INVALID);
    config.grid[1] = 0;
    assert_int_equal(kcsim_launch(test.machine, test.function, &config, params, sizeof params), KCSIM_INVALID);
    machine_close(&test);
}

/* Each reason is a finding, and launches that were refused are not counted. */
static void test_refused_launches(void **state) {
    (void)state;
    machine_test test = machine_open(NULL, "sm_90a", PTX_KERNEL(""), 64);
    assert_int_equal(machine_launch(&test, 1, 1025, 0), KCSIM_LAUNCH_LIMIT);
    char *json = kcsim_counters_json(test.machine);
    assert_non_null(strstr(json, "\"launches\": 0"));
    free(json);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    assert_int_equal(machine_launch(&test, 1, 32, 50 << 10), KCSIM_LAUNCH_LIMIT);
    assert_int_equal(machine_launch(&test, 1, 1025, 0), KCSIM_LAUNCH_LIMIT);
    json = kcsim_counters_json(test.machine);
    assert_non_null(strstr(json, "\"launches\": 1"));
    assert_non_null(strstr(json, "\"count\": 2, \"other\": \"block dimension 0 is 1025, the limit is 1024\""));
    assert_non_null(strstr(json, "\"count\": 1, \"other\": \"51200 bytes of dynamic"));
    free(json);
    machine_close(&test);
}

/* With `report` a wrong access is skipped and the launch goes on; with the check off nothing is found. */
static void test_options(void **state) {
    static const char ptx[] = PTX_KERNEL("ld.global.b32 %r1, [%d1+65536];\nadd.s32 %r1, %r1, 3;\nst.global.b32 [%d2], %r1;");
    kcsim_options options = kcsim_options_default();
    const char *bad;
    (void)state;
    options.on_finding = KCSIM_ON_FINDING_REPORT;
    machine_test test = machine_open(&options, "sm_90a", ptx, 1 << 16);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    assert_true(machine_found(&test, "out_of_bounds", "\"count\": 32"));
    assert_int_equal(*(uint32_t *)kcsim_mem_host(test.machine, test.out, 4), 3);
    kcsim_reset_counters(test.machine);
    assert_int_equal(kcsim_finding_count(test.machine), 0);
    machine_close(&test);
    assert_true(kcsim_checks_parse("race,misaligned", &options.checks, &bad));
    assert_int_equal(options.checks, KCSIM_CHECK_RACE | KCSIM_CHECK_MISALIGNED);
    run_with(&options, ptx, 1, 32, 0, (expectation){0});
    assert_true(kcsim_checks_parse("none", &options.checks, &bad));
    assert_int_equal(options.checks, 0);
    assert_true(kcsim_checks_parse("all", &options.checks, &bad));
    assert_int_equal(options.checks, KCSIM_CHECK_ALL);
    assert_false(kcsim_checks_parse("race,speed", &options.checks, &bad));
    assert_string_equal(bad, "speed");
    assert_false(kcsim_checks_parse("race,", &options.checks, &bad));
    assert_string_equal(bad, "");
    assert_false(kcsim_checks_parse("race,,deadlock", &options.checks, &bad));
    assert_false(kcsim_checks_parse("all,none", &options.checks, &bad));
    assert_string_equal(bad, "all,none");
    assert_false(kcsim_checks_parse("race,none", &options.checks, &bad));
    assert_int_equal(options.checks, KCSIM_CHECK_ALL);
    assert_true(kcsim_checks_parse("", &options.checks, &bad));
    assert_int_equal(options.checks, 0);
}

/* The same findings, to the byte, on any number of host threads. */
static void test_findings_repeat(void **state) {
    static const char ptx[] = PTX_KERNEL("mov.u32 %r7, %ctaid.x;\nmul.lo.s32 %r8, %r7, 1000;\ncvt.u64.u32 %d5, %r8;\n"
                                         "add.s64 %d6, %d2, %d5;\nst.global.b64 [%d2], 7;\nst.global.b64 [%d6+1], %d5;\nst.global.b64 [%d6+65000], %d5;");
    char *first = NULL;
    (void)state;
    for (int threads = 1; threads <= 8; threads *= 2) {
        kcsim_options options = kcsim_options_default();
        options.host_threads = threads;
        machine_test test = machine_open(&options, "sm_90a", ptx, 1 << 16);
        assert_int_equal(machine_launch(&test, 60, 64, 0), KCSIM_FAULT);
        char *json = kcsim_counters_json(test.machine);
        if (first) assert_string_equal(json, first);
        if (!first)
            first = json;
        else
            free(json);
        machine_close(&test);
    }
    free(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_out_of_bounds), cmocka_unit_test(test_freed_memory),  cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_uninitialized), cmocka_unit_test(test_partly_defined), cmocka_unit_test(test_blocks_begin_undefined), cmocka_unit_test(test_shared_races), cmocka_unit_test(test_races_of_lanes),  cmocka_unit_test(test_races_between_blocks), cmocka_unit_test(test_copies_in_flight), cmocka_unit_test(test_barrier_divergence),
        cmocka_unit_test(test_deadlock),      cmocka_unit_test(test_trap),          cmocka_unit_test(test_launch_limits),
        cmocka_unit_test(test_refused_launches),
        cmocka_unit_test(test_options),       cmocka_unit_test(test_findings_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
