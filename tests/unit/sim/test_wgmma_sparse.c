/* wgmma of a sparse A: random numbers, indices and layouts of B against the sum over the matrices. PTX ISA,
 * "wgmma.mma_async.sp", its "Sparse matrix storage" and "Matrix fragments ... with sparse matrix A". */
#include "tests/unit/sim/machine_test.h"
#include "tests/unit/sim/numbers.h"

/* What the kernel finds in `in`: shared memory as it is to be, the metadata of 128 threads, A as fragments. */
typedef struct image {
    uint8_t a[2048], b[1024];
    uint32_t metadata[128], fragments[128][4];
} image;

typedef enum placing { STRAIGHT, SWIZZLED_128, SWIZZLED_64, ACROSS } placing; /* of B; ACROSS: n is contiguous, not k */

typedef struct form {
    code a, b;
    bool half, registers, negative;
    placing of_b;
    int selector;
} form;

#define KERNEL_START                                                                                                   \
    ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"          \
    ".shared .align 1024 .b8 tile[3072];\n" PTX_REGISTERS                                                              \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d4, %r0, 16;\n"            \
    "mul.wide.u32 %d5, %r0, 8;\nmul.wide.u32 %d6, %r0, 4;\nadd.s64 %d7, %d1, %d4;\nadd.s64 %d8, %d1, %d5;\n"           \
    "add.s64 %d9, %d1, %d6;\nadd.s64 %d2, %d0, %d4;\nmov.b32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nshl.b32 %r3, %r0, 3;\n" \
    "add.s32 %r2, %r2, %r1;\nadd.s32 %r3, %r3, %r1;\nld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%d7];\n"              \
    "st.shared.v4.b32 [%r2], {%r10, %r11, %r12, %r13};\nld.global.v2.b32 {%r10, %r11}, [%d8+2048];\n"                  \
    "st.shared.v2.b32 [%r3+2048], {%r10, %r11};\nld.global.b32 %r20, [%d9+3072];\n"                                    \
    "ld.global.v4.b32 {%r21, %r22, %r23, %r24}, [%d7+3584];\nmov.b32 %r6, 0;\nmov.b32 %r7, 0;\nmov.b32 %r8, 0;\nmov.b32 %r9, 0;\n" \
    "shr.u32 %r4, %r1, 4;\ncvt.u64.u32 %d10, %r4;\nor.b64 %d11, %d10, 0x0000000800400000;\n"                           \
    "fence.proxy.async.shared::cta;\nbar.sync 0;\nwgmma.fence.sync.aligned;\nadd.s64 %d12, %d10, 128;\n"
#define KERNEL_END                                                                                                     \
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"                                             \
    "st.global.v4.b32 [%d2], {%r6, %r7, %r8, %r9};\nret;\n}\n"

static int container(const form *f) {
    return codes[f->a].bits;
}

static int k_of(const form *f) {
    return 512 / container(f);
}

/* The place of byte `at` of K in row n of B, or of element (k, n). */
static uint32_t place(const form *f, int n, int at) {
    switch (f->of_b) {
    case SWIZZLED_128: return (uint32_t)(n * 128 + ((at / 16 ^ n) * 16 | at % 16));
    case SWIZZLED_64: return (uint32_t)(n * 64 + ((at / 16 ^ n / 2 % 4) * 16 | at % 16));
    case ACROSS: return (uint32_t)(at / 2 * 16 + n * 2 + at % 2); /* 8 halves a line, lines one after another */
    default: return (uint32_t)(at / 16 * 128 + n * 16 + at % 16);
    }
}

static uint32_t any_indices(const form *f) {
    static const uint32_t all[] = {4, 8, 9, 12, 13, 14, 1, 2, 6, 3, 7, 11};
    return container(f) == 32 ? (any(2) ? 14 : 4) : all[any(12)];
}

static void fill(const form *f, image *in, double a[64][64], double b[64][8]) {
    int bytes = container(f) / 8, k = k_of(f), each = 4 / bytes, wide = bytes == 4 ? 2 : 4, chunks = bytes == 1 ? 8 : 4;
    for (int n = 0; n < 8; n++)
        for (int i = 0; i < k; i++) {
            int value = any_value(f->b);
            uint32_t bits = encode(f->b, value);
            b[i][n] = value;
            for (int byte = 0; byte < bytes; byte++) in->b[place(f, n, i * bytes + byte)] = (uint8_t)(bits >> 8 * byte);
        }
    for (int row = 0; row < 64; row++)
        for (int c = 0; c < k / wide; c++) {
            uint32_t indices = any_indices(f), lane = (uint32_t)(32 * (row / 16) + 4 * (row % 8)), half = (uint32_t)(row / 8 % 2);
            if (bytes == 1) lane += half + 2 * (uint32_t)(c / chunks); /* a row of 32 columns a thread */
            else lane += (uint32_t)(2 * f->selector + c / chunks);     /* rows g and g + 8 of half of K */
            in->metadata[lane] |= indices << (4 * (c % chunks) + (bytes == 1 ? 0 : 16 * half));
            for (int n = 0; n < wide / 2; n++) {
                int value = any_value(f->a), stored = c * wide / 2 + n, r = 2 * (stored / (4 * each)) + (int)half;
                uint32_t bits = encode(f->a, value);
                a[row][wide * c + (wide == 2 ? indices == 14 : (int)(indices >> 2 * n & 3))] = f->negative ? -value : value;
                for (int byte = 0; byte < bytes; byte++) {
                    int at = stored * bytes + byte;
                    in->a[at / 16 * 1024 + row * 16 + at % 16] = (uint8_t)(bits >> 8 * byte);
                }
                in->fragments[32 * (row / 16) + 4 * (row % 8) + stored % (4 * each) / each][r] |= bits << 8 * bytes * (stored % each);
            }
        }
}

static void run(const form *f) {
    static image in;
    static double a[64][64], b[64][8];
    static const char *const of_b[] = {"0x0000000800080000", "0x4000004000000000", "0x8000002000000000", "0x0000000800080000"};
    char text[3000];
    bool integer = !codes[f->a].exponents;
    const char *d = f->half ? "f16" : integer ? "s32" : "f32";
    memset(&in, 0, sizeof in);
    memset(a, 0, sizeof a);
    fill(f, &in, a, b);
    bool transposes = f->a == F16 || f->a == BF16;
    snprintf(text, sizeof text, "%sor.b64 %%d12, %%d12, %s;\nwgmma.mma_async.sp.sync.aligned.m64n8k%d.%s.%s.%s %s, %s, %%d12, %%r20, %d, 0%s%s%s;\n%s",
             KERNEL_START, of_b[f->of_b], k_of(f), d, codes[f->a].name, codes[f->b].name, f->half ? "{%r6, %r7}" : "{%r6, %r7, %r8, %r9}",
             f->registers ? "{%r21, %r22, %r23, %r24}" : "%d11", f->selector, integer ? "" : f->negative ? ", -1, 1" : ", 1, 1",
             transposes && !f->registers ? ", 0" : "", !transposes ? "" : f->of_b == ACROSS ? ", 1" : ", 0", KERNEL_END);
    machine_test test = machine_open(NULL, "sm_90a", text, sizeof in);
    machine_write(&test, test.in, &in, sizeof in);
    kcsim_status status = machine_launch(&test, 1, 128, 0);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    const uint32_t(*out)[4] = kcsim_mem_host(test.machine, test.out, 2048);
    for (int thread = 0; thread < 128; thread++)
        for (int i = 0; i < 4; i++) {
            int row = 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2), column = 2 * (thread % 4) + i % 2;
            double sum = 0;
            float single;
            for (int k = 0; k < k_of(f); k++) sum += a[row][k] * b[k][column];
            memcpy(&single, &out[thread][i], 4);
            double got = f->half ? half_of(out[thread][i / 2] >> 16 * (i % 2)) : integer ? (int32_t)out[thread][i] : (double)single;
            if (sum != got) print_error("%s %d: [%d][%d] is %g, not %g\n", codes[f->a].name, f->of_b, row, column, got, sum);
            assert_true(sum == got);
        }
    machine_close(&test);
}

static void test_forms(void **state) {
    static const form forms[] = {
        {F16, F16, .of_b = STRAIGHT},
        {F16, F16, .half = true, .of_b = SWIZZLED_128, .selector = 1},
        {F16, F16, .of_b = ACROSS, .negative = true},
        {F16, F16, .of_b = SWIZZLED_64, .registers = true, .selector = 1},
        {BF16, BF16, .of_b = SWIZZLED_128, .negative = true},
        {TF32, TF32, .of_b = STRAIGHT, .selector = 1},
        {TF32, TF32, .of_b = SWIZZLED_64, .registers = true},
        {S8, U8, .of_b = SWIZZLED_128},
        {U8, S8, .of_b = STRAIGHT, .registers = true},
        {E4M3, E5M2, .of_b = SWIZZLED_64},
        {E5M2, E4M3, .half = true, .of_b = STRAIGHT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) run(&forms[i]);
}

/* Metadata is a register in flight; a selector that is none. */
static void expect(const char *ptx, const char *kind, const char *text) {
    static image in;
    machine_test test = machine_open(NULL, "sm_90a", ptx, sizeof in);
    memset(in.metadata, 0x44, sizeof in.metadata);
    machine_write(&test, test.in, &in, sizeof in);
    assert_int_equal(machine_launch(&test, 1, 128, 0), kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&test, kind, text));
    machine_close(&test);
}

#define SPARSE                                                                                                         \
    "or.b64 %d12, %d12, 0x0000000800080000;\n"                                                                         \
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%r6, %r7, %r8, %r9}, %d11, %d12, %r20, 0, 0, 1, 1, 0, 0;\n"

static void test_flight(void **state) {
    char log[300] = "";
    kcsim_module *module;
    static const char bad[] = KERNEL_START
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {%r6, %r7, %r8, %r9}, %d11, %d12, %r20, 1, 0;\n" KERNEL_END;
    (void)state;
    expect(KERNEL_START SPARSE KERNEL_END, NULL, NULL);
    expect(KERNEL_START SPARSE "mov.b32 %r20, 0;\n" KERNEL_END, "async_in_flight", "that was not waited for reads it");
    expect(KERNEL_START "mov.b32 %r20, %r30;\nwgmma.fence.sync.aligned;\n" SPARSE KERNEL_END, "uninitialized", "never written");
    expect(KERNEL_START "mov.b32 %r20, 0;\nwgmma.fence.sync.aligned;\n" SPARSE KERNEL_END, "uninitialized", "never written");
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), NULL);
    assert_int_not_equal(kcsim_module_load(machine, bad, strlen(bad), log, sizeof log, &module), KCSIM_OK);
    assert_non_null(strstr(log, "selector must be a number below 1"));
    kcsim_machine_destroy(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_flight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
