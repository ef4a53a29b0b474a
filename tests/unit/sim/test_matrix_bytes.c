/* ldmatrix and stmatrix of 8, 6 and 4 bits. Fragments are compared with the layouts of PTX ISA, "ldmatrix" (figures of the
 * 16x16 and the 8x16 matrix) and "stmatrix" (figure of the 16x8 matrix), written as places of a matrix of bytes. */
#include "tests/unit/sim/machine_test.h"

/* Lane l fills row l of 32 rows of 16 bytes from `in`; `body` finds the row's address in %r1, and 16 bytes of out in %d2. */
#define ROWS(target, body)                                                                                             \
    ".version 8.7\n.target " target "\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"      \
    ".shared .align 16 .b8 rows[512];\n" PTX_REGISTERS                                                                 \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d4, %r0, 16;\n"            \
    "add.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\nmov.b32 %r1, rows;\nshl.b32 %r2, %r0, 4;\nadd.s32 %r1, %r1, %r2;\n" \
    "ld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d3];\n" body "\nret;\n}\n"
#define FILL "st.shared.v4.b32 [%r1], {%r3, %r4, %r5, %r6};\nbar.warp.sync -1;\n"
#define SHOW "st.global.v4.b32 [%d2], {%r10, %r11, %r12, %r13};"

typedef uint8_t rows[32][16];

static void run(const char *ptx, const char *arch, const char *kind, rows in, rows out) {
    machine_test test = machine_open(NULL, arch, ptx, 512);
    machine_write(&test, test.in, in, 512);
    memset(kcsim_mem_host(test.machine, test.out, 512), 0, 512);
    kcsim_status status = machine_launch(&test, 1, 32, 0);
    if (!kind && status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&test, kind, NULL));
    memcpy(out, kcsim_mem_host(test.machine, test.out, 512), 512);
    machine_close(&test);
}

static void fill(rows in) {
    for (int row = 0; row < 32; row++)
        for (int column = 0; column < 16; column++) in[row][column] = (uint8_t)(row * 37 + column * 11 + row * column);
}

/* Element `i` of 16 that lie packed from the lowest bit of a row on. */
static uint8_t packed(const uint8_t row[16], int i, int bits) {
    uint32_t value = 0;
    for (int b = 0; b < bits; b++) value |= (uint32_t)(row[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1) << b;
    return (uint8_t)value;
}

/* Register r, byte j: the transposed matrix's row g + 8r, column 4t + j: of the matrix in memory, that column of that row. */
static void transposed(const char *ptx, int bits) {
    rows in, out;
    fill(in);
    run(ptx, "sm_120a", NULL, in, out);
    for (int lane = 0; lane < 32; lane++)
        for (int at = 0; at < 16; at++) {
            int matrix = at / 8, r = at / 4 % 2, j = at % 4;
            assert_int_equal(out[lane][at], packed(in[16 * matrix + 4 * (lane % 4) + j], lane / 4 + 8 * r, bits));
        }
}

static void test_16x16(void **state) {
    (void)state;
    transposed(ROWS("sm_120a", FILL "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), 8);
    transposed(ROWS("sm_120a", FILL "ldmatrix.sync.aligned.m16n16.x2.trans.shared::cta.b8x16.b6x16_p32 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), 6);
    transposed(ROWS("sm_120f", FILL "cvt.u64.u32 %d5, %r1;\ncvta.shared.u64 %d5, %d5;\n"
                    "ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b4x16_p64 {%r10, %r11, %r12, %r13}, [%d5];\n" SHOW), 4);
    transposed(ROWS("sm_120a", FILL "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r1];\nshl.b32 %r2, %r0, 4;\n"
                    "xor.b32 %r2, %r2, 256;\nmov.b32 %r7, rows;\nadd.s32 %r7, %r7, %r2;\n"
                    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r12, %r13}, [%r7];\n" SHOW), 8);
}

static void straight(const char *ptx, int bits) {
    rows in, out;
    fill(in);
    run(ptx, "sm_100a", NULL, in, out);
    for (int lane = 0; lane < 32; lane++)
        for (int at = 0; at < 16; at++)
            assert_int_equal(out[lane][at], packed(in[8 * (at / 4) + lane / 4], 4 * (lane % 4) + at % 4, bits));
}

static void test_8x16(void **state) {
    (void)state;
    straight(ROWS("sm_100a", FILL "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), 6);
    straight(ROWS("sm_100a", FILL "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), 4);
}

/* Byte j of a register: row g + 8 * (j / 2), column 2t + j % 2, as C of an mma has them; stored column by column. */
static void test_store(void **state) {
    rows in, out;
    (void)state;
    fill(in);
    run(ROWS("sm_120a", "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r1], {%r3, %r4, %r5, %r6};\nbar.warp.sync -1;\n"
                        "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), "sm_120a", NULL, in, out);
    for (int lane = 0; lane < 32; lane++)
        for (int at = 0; at < 16; at++) {
            int j = at % 4, row = lane / 4 + 8 * (j / 2), column = 2 * (lane % 4) + j % 2;
            assert_int_equal(out[8 * (at / 4) + column][row], in[lane][at]);
        }
}

/* What was never written is known to the byte, and padding need not be written. */
static void test_definedness(void **state) {
    rows in, out;
    (void)state;
    fill(in);
    run(ROWS("sm_100a", "st.shared.b64 [%r1], %d4;\nbar.warp.sync -1;\n"
                        "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), "sm_100a", NULL, in, out);
    run(ROWS("sm_100a", "st.shared.b64 [%r1], %d4;\nbar.warp.sync -1;\n"
                        "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32 {%r10, %r11, %r12, %r13}, [%r1];\n" SHOW), "sm_100a", "uninitialized", in, out);
    /* 8 bytes of 6 bits are ten elements and four bits: of lanes 4g+2, the bytes 0 and 1 are known. */
    run(ROWS("sm_100a", "st.shared.b64 [%r1], %d4;\nbar.warp.sync -1;\n"
                        "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}, [%r1];\nand.b32 %r9, %r0, 3;\nsetp.lt.u32 %p1, %r9, 2;\n"
                        "@%p1 st.global.b32 [%d2], %r10;\nsetp.eq.u32 %p2, %r9, 2;\n@%p2 st.global.b16 [%d2], %r10;"), "sm_100a", NULL, in, out);
    run(ROWS("sm_100a", "mov.b32 %r7, %r8;\nstmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r8};\nbar.warp.sync -1;\n"
                        "ld.shared.b32 %r10, [%r1];\n@!%p1 st.global.b32 [%d2], %r10;"), "sm_100a", "uninitialized", in, out);
}

static void test_reach(void **state) {
    rows in, out;
    (void)state;
    fill(in);
    run(ROWS("sm_100a", FILL "add.s32 %r1, %r1, 8;\nldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}, [%r1];"), "sm_100a",
        "misaligned", in, out);
    run(ROWS("sm_100a", FILL "add.s32 %r1, %r1, 272;\nldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r1];"), "sm_100a",
        "out_of_bounds", in, out);
    run(ROWS("sm_100a", FILL "add.s32 %r1, %r1, 256;\nldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r1];"), "sm_100a", NULL,
        in, out);
}

/* Rows one after another cost the least there is; four rows 128 bytes apart meet in the same banks. */
static void test_wavefronts(void **state) {
    static const struct {
        const char *ptx;
        long wavefronts, conflicts;
    } forms[] = {
        {ROWS("sm_120a", "mov.b32 %r10, 0;\nstmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%r1], {%r10, %r10, %r10, %r10};"), 4, 0},
        {ROWS("sm_120a", "mov.b32 %r10, 0;\nstmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r10};"), 1, 0},
        {ROWS("sm_120a", "and.b32 %r2, %r2, 48;\nshl.b32 %r2, %r2, 3;\nmov.b32 %r1, rows;\nadd.s32 %r1, %r1, %r2;\nmov.b32 %r10, 0;\n"
                         "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r10};"), 4, 3},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        static rows in;
        machine_test test = machine_open(NULL, "sm_120a", forms[i].ptx, 512);
        machine_write(&test, test.in, in, 512);
        assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
        assert_int_equal(machine_counter(&test, "shared_wavefronts"), forms[i].wavefronts);
        assert_int_equal(machine_counter(&test, "shared_bank_conflicts"), forms[i].conflicts);
        machine_close(&test);
    }
}

static void refuse(const char *ptx, const char *text) {
    char log[300] = "";
    kcsim_module *module;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_120a"), NULL);
    assert_int_not_equal(kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module), KCSIM_OK);
    if (!strstr(log, text) || !strstr(log, "line ")) print_error("%s\n", log);
    assert_non_null(strstr(log, text));
    assert_non_null(strstr(log, "line "));
    kcsim_machine_destroy(machine);
}

static void test_refusals(void **state) {
    (void)state;
    refuse(ROWS("sm_120", "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r10, %r11}, [%r1];"), "such as sm_100a");
    refuse(ROWS("sm_90", "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r10};"), "such as sm_100a");
    refuse(ROWS("sm_80", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r10};"), "such as sm_90");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r10, %r11}, [%r1];"), "not supported");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r10, %r11, %r12, %r13}, [%r1];"), "not supported");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32 {%r10}, [%r1];"), "not supported");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r10}, [%r1];"), "not supported");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16 {%r10}, [%r1];"), "not supported");
    refuse(ROWS("sm_120a", "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r10}, [%r1];"), "is of b16");
    refuse(ROWS("sm_120a", "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r1], {%r10};"), "not supported");
    refuse(ROWS("sm_120a", "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r1], {%r10, %r11};"), "2 registers where 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_16x16), cmocka_unit_test(test_8x16),       cmocka_unit_test(test_store),    cmocka_unit_test(test_definedness),
        cmocka_unit_test(test_reach), cmocka_unit_test(test_wavefronts), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
