/* mma of a sparse A, with factors of blocks, and m8n8k4: random numbers go into registers lane by lane, where the formulas of the
 * PTX ISA's sections say that elements lie ("Matrix fragments for multiply-accumulate operation with sparse matrix A", "Sparse
 * matrix storage", "Block Scaling for mma.sync", "Matrix Fragments for mma.m8n8k4"); the product is taken from the matrices. */
#include <math.h>

#include "tests/unit/sim/machine_test.h"
#include "tests/unit/sim/numbers.h"

/* ---- forms ---- */

typedef struct mma_form {
    const char *text; /* what lies between ".row.col" and ".f32" */
    const char *arch;
    code a, b;
    int k, container;  /* bits of an element in a register */
    bool sparse, ordered, saturates, half; /* half: C and D are f16 */
    int selectors;     /* how many there are */
    int factors;       /* a row; 0: none */
    bool e4m3_factors;
} mma_form;

/* What the lanes hold: A, B, metadata, factors of A and of B. */
typedef struct lane_words {
    uint32_t a[4], b[4], metadata, factor_a, factor_b, unused[5];
} lane_words;

typedef struct product {
    double a[16][128], b[128][8];
} product;

static void put(uint32_t *registers, int element, int container, uint32_t bits, code type) {
    if (type == E2M1 && container == 8) bits = bits << 2 | (any(4) | any(4) << 6); /* padding holds anything */
    else if (codes[type].bits == 6) bits |= any(4) << 6;
    int each = 32 / container;
    registers[element / each] |= bits << container * (element % each);
}

/* Lane 4g + t: register r holds row g + 8 * (r % 2), from column E * t + 4E * (r / 2) on, of B column g and E rows. */
static void fill_dense(const mma_form *form, lane_words all[32], product *matrices) {
    int each = 32 / form->container, registers = form->k / (4 * each);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < registers * each; i++) {
            int r = i / each, value = any_value(form->b);
            put(all[lane].b, i, form->container, encode(form->b, value), form->b);
            matrices->b[each * (lane % 4) + 4 * each * r + i % each][lane / 4] = value;
        }
    for (int lane = 0; !form->sparse && lane < 32; lane++)
        for (int i = 0; i < 2 * registers * each; i++) {
            int r = i / each, value = any_value(form->a);
            put(all[lane].a, i, form->container, encode(form->a, value), form->a);
            matrices->a[lane / 4 + 8 * (r % 2)][each * (lane % 4) + 4 * each * (r / 2) + i % each] = value;
        }
}

/* The indices of a chunk: of two of four, of one of two. */
static uint32_t any_indices(const mma_form *form) {
    static const uint32_t ordered[] = {4, 8, 9, 12, 13, 14};
    uint32_t indices = ordered[any(6)];
    if (form->container == 32) return any(2) ? 14 : 4;
    return form->ordered || any(2) ? indices : (indices >> 2 | indices << 2) & 15;
}

/* The bits of row `row`, chunk c (in all of k) of A. */
static void put_indices(const mma_form *form, lane_words all[32], int selector, int row, int c, uint32_t indices) {
    int lane = 4 * (row % 8), chunks = form->container >= 16 ? 4 : 8; /* of a row in a lane */
    if (form->container >= 16) { /* rows g and g + 8 share a lane; k beyond goes to the next lane */
        lane += form->selectors == 4 ? selector : 2 * selector + c / chunks;
        all[lane].metadata |= indices << (4 * (c % chunks) + 16 * (row / 8));
    } else {
        lane += row / 8 + 2 * (form->selectors == 2 ? selector : c / chunks);
        all[lane].metadata |= indices << 4 * (c % chunks);
    }
}

/* Lane 4g + t: register r holds what is there of row g + 8 * (r % 2), columns 2E * t + 8E * (r / 2) to 2E more. */
static void fill_sparse(const mma_form *form, lane_words all[32], product *matrices, int selector) {
    int each = 32 / form->container, unit = form->container == 4 ? 2 : 1, wide = form->container == 32 ? 2 : 4 * unit;
    uint32_t indices[16][16];
    for (int row = 0; row < 16; row++)
        for (int c = 0; c < form->k / wide; c++) put_indices(form, all, selector, row, c, indices[row][c] = any_indices(form));
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < form->k * form->container / 256 * 2 * each; i++) {
            int r = i / each, row = lane / 4 + 8 * (r % 2), value = any_value(form->a);
            int first = 2 * each * (lane % 4) + 8 * each * (r / 2), n = i % each;
            int c = first / wide + n * 2 / wide, in_chunk = n % (wide / 2);
            uint32_t two = indices[row][c];
            int to = form->container == 32 ? two == 14 : (int)(in_chunk / unit ? two >> 2 : two & 3) * unit + in_chunk % unit;
            put(all[lane].a, i, form->container, encode(form->a, value), form->a);
            matrices->a[row][wide * c + to] = value;
        }
}

static double factor_of(const mma_form *form, uint32_t bits) {
    return form->e4m3_factors ? ldexp(8 + (bits & 7), (int)(bits >> 3) - 10) : ldexp(1, (int)bits - 127);
}

/* Rows g and g + 8 of A: lanes 4g + 2 * thread and the next; column g of B: lane 4g + thread. */
static void fill_factors(const mma_form *form, lane_words all[32], product *matrices, const int selector[4]) {
    int block = form->factors ? form->k / form->factors : 1;
    for (int lane = 0; lane < 32; lane++) all[lane].factor_a = all[lane].factor_b = any(1 << 24) * 251;
    for (int i = 0; i < 24; i++)
        for (int n = 0; n < form->factors; n++) {
            bool is_a = i < 16;
            int at = is_a ? i : i - 16, lane = is_a ? 4 * (at % 8) + 2 * selector[1] + at / 8 : 4 * at + selector[3];
            uint32_t bits = form->e4m3_factors ? 0x30 + any(16) : 125 + any(5), *word = is_a ? &all[lane].factor_a : &all[lane].factor_b;
            int shift = 8 * (selector[is_a ? 0 : 2] + n);
            *word = (*word & ~(0xffu << shift)) | bits << shift;
            for (int k = block * n; k < block * (n + 1); k++) {
                double *number = is_a ? &matrices->a[at][k] : &matrices->b[k][at];
                *number *= factor_of(form, bits);
            }
        }
}

static void write_text(const mma_form *form, int selector, const int factors[4], char *text, size_t size) {
    static const char *const lists[] = {"", "{%r10}", "{%r10, %r11}", "", "{%r10, %r11, %r12, %r13}"};
    static const char *const others[] = {"", "{%r14}", "{%r14, %r15}", "", "{%r14, %r15, %r16, %r17}"};
    bool integer = !codes[form->a].exponents;
    const char *d = form->half ? "f16" : integer ? "s32" : "f32";
    int b = form->k * form->container / 128, a = form->sparse ? b : 2 * b;
    char tail[80] = "", scales[100] = "";
    if (form->sparse) snprintf(tail, sizeof tail, ", %%r18, %d", selector);
    if (form->factors)
        snprintf(scales, sizeof scales, ", %%r19, {%d, %d}, %%r20, {%d, %d}", factors[0], factors[1], factors[2], factors[3]);
    snprintf(text, size,
             ".version 8.8\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n%s"
             "ld.param.u64 %%d0, [out];\nld.param.u64 %%d1, [in];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%d4, %%r0, 64;\n"
             "add.s64 %%d2, %%d0, %%d4;\nadd.s64 %%d3, %%d1, %%d4;\nld.global.v4.b32 {%%r10, %%r11, %%r12, %%r13}, [%%d3];\n"
             "ld.global.v4.b32 {%%r14, %%r15, %%r16, %%r17}, [%%d3+16];\nld.global.v4.b32 {%%r18, %%r19, %%r20, %%r21}, [%%d3+32];\n"
             "mov.b32 %%r1, 0;\nmov.b32 %%r8, 0;\nmov.b32 %%r9, 0;\nmma%s.sync.aligned.m16n8k%d.row.col%s%s.%s.%s.%s.%s%s %s, %s, %s, %s%s%s;\n"
             "st.global.v4.b32 [%%d2], {%%r6, %%r7, %%r8, %%r9};\nret;\n}\n",
             form->arch, PTX_REGISTERS, !form->sparse ? "" : form->ordered ? ".sp::ordered_metadata" : ".sp", form->k, form->text,
             form->saturates ? ".satfinite" : "", d, codes[form->a].name, codes[form->b].name, d,
             !form->factors ? "" : form->e4m3_factors ? ".ue4m3" : ".ue8m0", form->half ? "{%r6, %r7}" : "{%r6, %r7, %r8, %r9}",
             lists[a], others[b], form->half ? "{%r1, %r1}" : "{%r1, %r1, %r1, %r1}", tail, scales);
}

static double result_of(const mma_form *form, const uint32_t words[4], int i) {
    float value;
    if (form->half) return half_of(words[i / 2] >> 16 * (i % 2));
    if (!codes[form->a].exponents) return (int32_t)words[i];
    memcpy(&value, &words[i], sizeof value);
    return (double)value;
}

static void compare(const mma_form *form, const product *matrices, const uint32_t *out) {
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
            double sum = 0, got = result_of(form, out + 16 * lane, i);
            for (int k = 0; k < form->k; k++) sum += matrices->a[row][k] * matrices->b[k][column];
            if (sum != got) print_error("%s k%d %s: [%d][%d] is %g, not %g\n", form->text, form->k, codes[form->a].name, row, column, got, sum);
            assert_true(sum == got);
        }
}

static void run(const mma_form *form, int selector, const int factors[4]) {
    lane_words all[32] = {0};
    product matrices = {0};
    char text[2500];
    fill_dense(form, all, &matrices);
    if (form->sparse) fill_sparse(form, all, &matrices, selector);
    fill_factors(form, all, &matrices, factors);
    write_text(form, selector, factors, text, sizeof text);
    machine_test test = machine_open(NULL, strcmp(form->arch, "sm_120f") ? form->arch : "sm_120a", text, sizeof all);
    machine_write(&test, test.in, all, sizeof all);
    kcsim_status status = machine_launch(&test, 1, 32, 0);
    if (status != KCSIM_OK) print_error("%s\n", kcsim_last_fault(test.machine));
    assert_int_equal(status, KCSIM_OK);
    compare(form, &matrices, kcsim_mem_host(test.machine, test.out, sizeof all));
    machine_close(&test);
}

/* ---- sparse ---- */

static const mma_form sparse_forms[] = {
    {"", "sm_80", F16, F16, 16, 16, .sparse = true, .selectors = 4},
    {"", "sm_80", F16, F16, 16, 16, .sparse = true, .selectors = 4, .half = true, .ordered = true},
    {"", "sm_80", F16, F16, 32, 16, .sparse = true, .selectors = 2},
    {"", "sm_90a", BF16, BF16, 16, 16, .sparse = true, .selectors = 4, .ordered = true},
    {"", "sm_80", BF16, BF16, 32, 16, .sparse = true, .selectors = 2, .ordered = true},
    {"", "sm_80", TF32, TF32, 8, 32, .sparse = true, .selectors = 4},
    {"", "sm_80", TF32, TF32, 16, 32, .sparse = true, .selectors = 2, .ordered = true},
    {"", "sm_80", S8, S8, 32, 8, .sparse = true, .selectors = 2},
    {"", "sm_80", U8, S8, 32, 8, .sparse = true, .selectors = 2, .ordered = true, .saturates = true},
    {"", "sm_80", S8, U8, 64, 8, .sparse = true, .selectors = 1},
    {"", "sm_80", S4, U4, 64, 4, .sparse = true, .selectors = 2},
    {"", "sm_80", U4, S4, 128, 4, .sparse = true, .selectors = 1, .ordered = true, .saturates = true},
    {"", "sm_89", E4M3, E5M2, 64, 8, .sparse = true, .selectors = 1},
    {"", "sm_89", E5M2, E4M3, 64, 8, .sparse = true, .selectors = 1, .ordered = true},
    {"", "sm_120a", E5M2, E4M3, 64, 8, .sparse = true, .selectors = 1, .ordered = true, .half = true},
    {".kind::f8f6f4", "sm_120a", E3M2, E2M1, 64, 8, .sparse = true, .selectors = 1, .ordered = true},
    {".kind::f8f6f4", "sm_120f", E2M1, E2M3, 64, 8, .sparse = true, .selectors = 1, .ordered = true, .half = true},
};

static void test_sparse(void **state) {
    static const int none[4];
    (void)state;
    for (size_t f = 0; f < sizeof sparse_forms / sizeof sparse_forms[0]; f++)
        for (int selector = 0; selector < sparse_forms[f].selectors; selector++) run(&sparse_forms[f], selector, none);
}

/* ---- factors ---- */

static const mma_form scaled_forms[] = {
    {".kind::mxf8f6f4.block_scale.scale_vec::1X", "sm_120a", E4M3, E5M2, 32, 8, .factors = 1},
    {".kind::mxf8f6f4.block_scale", "sm_120f", E3M2, E2M1, 32, 8, .factors = 1},
    {".kind::mxf8f6f4.block_scale", "sm_120a", E2M1, E2M3, 32, 8, .factors = 1},
    {".kind::mxf4.block_scale.scale_vec::2X", "sm_120a", E2M1, E2M1, 64, 4, .factors = 2},
    {".kind::mxf4.block_scale", "sm_120a", E2M1, E2M1, 64, 4, .factors = 2},
    {".kind::mxf4nvf4.block_scale.scale_vec::2X", "sm_120a", E2M1, E2M1, 64, 4, .factors = 2},
    {".kind::mxf4nvf4.block_scale.scale_vec::4X", "sm_120a", E2M1, E2M1, 64, 4, .factors = 4, .e4m3_factors = true},
    {".kind::mxf8f6f4.block_scale.scale_vec::1X", "sm_120a", E4M3, E2M1, 64, 8, .sparse = true, .selectors = 1, .ordered = true, .factors = 1},
    {".kind::mxf4.block_scale", "sm_120a", E2M1, E2M1, 128, 4, .sparse = true, .selectors = 1, .ordered = true, .factors = 2},
    {".kind::mxf4nvf4.block_scale.scale_vec::4X", "sm_120a", E2M1, E2M1, 128, 4, .sparse = true, .selectors = 1, .ordered = true, .factors = 4,
     .e4m3_factors = true},
};

static void test_scaled(void **state) {
    (void)state;
    for (size_t f = 0; f < sizeof scaled_forms / sizeof scaled_forms[0]; f++)
        for (int n = 0; n < 16; n++) {
            int step = scaled_forms[f].factors, most = 4 / step;
            int factors[4] = {n % most * step, n / 4 % 2, (n + 1) % most * step, n % 4};
            run(&scaled_forms[f], 0, factors);
        }
}

/* ---- m8n8k4 ---- */

/* Lanes of one product: 4q to 4q + 3 and 16 + 4q to 16 + 4q + 3; `high` are the latter. */
static void quads(const char *a_layout, const char *b_layout, bool d_half, bool c_half) {
    char text[2500];
    bool a_rows = !strcmp(a_layout, "row"), b_columns = !strcmp(b_layout, "col");
    uint32_t in[32][16] = {{0}};
    double a[4][8][4] = {{{0}}}, b[4][4][8] = {{{0}}}, c[4][8][8] = {{{0}}};
    for (int lane = 0; lane < 32; lane++) {
        int q = lane / 4 % 4, t = lane % 4, high = lane / 16 * 4;
        for (int i = 0; i < 4; i++) {
            int x = any_value(F16), y = any_value(F16);
            in[lane][i / 2] |= encode(F16, x) << 16 * (i % 2);
            in[lane][2 + i / 2] |= encode(F16, y) << 16 * (i % 2);
            *(a_rows ? &a[q][t + high][i] : &a[q][i + high][t]) = x;
            *(b_columns ? &b[q][i][t + high] : &b[q][t][i + high]) = y;
        }
        for (int i = 0; i < 8; i++) {
            int z = any_value(F16), row = c_half ? t + high : (lane & 1) + (i & 2) + high, column = c_half ? i : (i & 4) + (lane & 2) + (i & 1);
            float single = (float)z;
            if (c_half) in[lane][4 + i / 2] |= encode(F16, z) << 16 * (i % 2);
            else memcpy(&in[lane][4 + i], &single, 4);
            c[q][row][column] = z;
        }
    }
    snprintf(text, sizeof text,
             ".version 6.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n%s"
             "ld.param.u64 %%d0, [out];\nld.param.u64 %%d1, [in];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%d4, %%r0, 64;\n"
             "add.s64 %%d2, %%d0, %%d4;\nadd.s64 %%d3, %%d1, %%d4;\nld.global.v4.b32 {%%r1, %%r2, %%r3, %%r4}, [%%d3];\n"
             "ld.global.v4.b32 {%%r10, %%r11, %%r12, %%r13}, [%%d3+16];\nld.global.v4.b32 {%%r14, %%r15, %%r16, %%r17}, [%%d3+32];\n"
             "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s {%%r20, %%r21, %%r22, %%r23%s}, {%%r1, %%r2}, {%%r3, %%r4}, {%%r10, %%r11, %%r12, %%r13%s};\n"
             "st.global.v4.b32 [%%d2], {%%r20, %%r21, %%r22, %%r23};\n%sret;\n}\n",
             PTX_REGISTERS, a_layout, b_layout, d_half ? "f16" : "f32", c_half ? "f16" : "f32", d_half ? "" : ", %r24, %r25, %r26, %r27",
             c_half ? "" : ", %r14, %r15, %r16, %r17", d_half ? "" : "st.global.v4.b32 [%d2+16], {%r24, %r25, %r26, %r27};\n");
    machine_test test = machine_open(NULL, "sm_75", text, sizeof in);
    machine_write(&test, test.in, in, sizeof in);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    const uint32_t(*out)[16] = kcsim_mem_host(test.machine, test.out, sizeof in);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int q = lane / 4 % 4, high = lane / 16 * 4, row = d_half ? lane % 4 + high : (lane & 1) + (i & 2) + high;
            int column = d_half ? i : (i & 4) + (lane & 2) + (i & 1);
            double sum = c[q][row][column];
            float single;
            for (int k = 0; k < 4; k++) sum += a[q][row][k] * b[q][k][column];
            memcpy(&single, &out[lane][i], 4);
            assert_true(sum == (d_half ? half_of(out[lane][i / 2] >> 16 * (i % 2)) : (double)single));
        }
    machine_close(&test);
}

static void test_quads(void **state) {
    static const char *const layouts[] = {"row", "col"};
    (void)state;
    for (int n = 0; n < 12; n++) quads(layouts[n % 2], layouts[n / 2 % 2], n / 4 == 0, n / 4 <= 1);
}

/* ---- edges ---- */

/* A has 1 where metadata %r18 puts it; B and factors as the body says. %r10 1 (f16), %r11 an infinity, %r12 zeros, %r13 NaN. */
#define EDGE(target, body)                                                                                             \
    PTX_KERNEL_FOR(target, "mov.b32 %r10, 0x3c003c00;\nmov.b32 %r11, 0x7c007c00;\nmov.b32 %r12, 0;\nmov.b32 %r13, 0x7e007e00;\n" body \
                           "\nst.global.v2.b32 [%d2], {%r6, %r7};")
#define SPARSE(b) "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r6, %r7, %r8, %r9}, {%r10, %r10}, {" b "}, {%r12, %r12, %r12, %r12}, %r18, 0;\n"
#define SCALED                                                                                                         \
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "               \
    "{%r6, %r7, %r8, %r9}, {%r20, %r20, %r20, %r20}, {%r20, %r20}, {%r12, %r12, %r12, %r12}, "

static void expect(const char *ptx, const char *kind, const char *text, float wanted) {
    static const uint8_t zeros[256];
    machine_test test = machine_open(NULL, "sm_120a", ptx, 256);
    machine_write(&test, test.in, zeros, sizeof zeros);
    kcsim_status status = machine_launch(&test, 1, 32, 0);
    assert_int_equal(status, kind ? KCSIM_FAULT : KCSIM_OK);
    if (kind) assert_true(machine_found(&test, kind, text));
    const float *out = kcsim_mem_host(test.machine, test.out, 256);
    for (int i = 0; !kind && i < 64; i++) assert_true(isnan(wanted) ? isnan(out[i]) : out[i] == wanted);
    machine_close(&test);
}

/* Columns 0, 1 of each four in even chunks, 2, 3 in odd ones; an infinity in rows of B that no index names is not met. */
static void test_edges(void **state) {
    (void)state;
    expect(EDGE("sm_80", "mov.b32 %r18, 0x44444444;\n" SPARSE("%r10, %r10")), NULL, NULL, 8);
    expect(EDGE("sm_80", "and.b32 %r1, %r0, 1;\nsetp.eq.b32 %p1, %r1, 0;\nselp.b32 %r2, %r10, %r11, %p1;\n"
                         "mov.b32 %r18, 0x44444444;\n" SPARSE("%r2, %r2")), NULL, NULL, 8);
    expect(EDGE("sm_80", "and.b32 %r1, %r0, 1;\nsetp.eq.b32 %p1, %r1, 0;\nselp.b32 %r2, %r10, %r13, %p1;\n"
                         "mov.b32 %r18, 0xeeeeeeee;\n" SPARSE("%r2, %r2")), NULL, NULL, NAN);
    expect(EDGE("sm_80", "mov.b32 %r18, 0x11111111;\n" SPARSE("%r10, %r10")), NULL, NULL, 8);
    /* Two indices that are one, and metadata of which a bit is not known: what they give is not known. */
    expect(EDGE("sm_80", "mov.b32 %r18, 0x44444494;\nmov.b32 %r18, 0x44444454;\n" SPARSE("%r10, %r10")), "uninitialized", "never written", 0);
    expect(EDGE("sm_80", SPARSE("%r10, %r10")), "uninitialized", "never written", 0);
    /* Only the selected lanes' metadata counts. */
    expect(EDGE("sm_80", "and.b32 %r1, %r0, 3;\nsetp.eq.b32 %p1, %r1, 0;\n@%p1 mov.b32 %r18, 0x44444444;\n" SPARSE("%r10, %r10")), NULL, NULL, 8);
    /* e2m1 1 everywhere, factors 1.5 and 2: 64 * 3; a factor that is NaN; a selector in a register, a wrong one. */
    expect(EDGE("sm_120a", "mov.b32 %r20, 0x22222222;\nmov.b32 %r21, 0x3c3c3c3c;\nmov.b32 %r22, 0x40404040;\n" SCALED
                           "%r21, {0, 1}, %r22, {0, 3};"), NULL, NULL, 192);
    expect(EDGE("sm_120a", "mov.b32 %r20, 0x22222222;\nmov.b32 %r21, 0x3c3c3c7f;\nmov.b32 %r22, 0x40404040;\n" SCALED
                           "%r21, {0, 1}, %r22, {0, 3};"), NULL, NULL, NAN);
    expect(EDGE("sm_120a", "mov.b32 %r20, 0x22222222;\nmov.b32 %r21, 0x3c3c3c3c;\nmov.b32 %r22, 0x40404040;\nmov.b16 %h1, 0;\nmov.b16 %h2, 1;\n"
                           SCALED "%r21, {%h1, %h2}, %r22, {0, %h2};"), NULL, NULL, 192);
    expect(EDGE("sm_120a", "mov.b32 %r20, 0x22222222;\nmov.b32 %r21, 0x3c3c3c3c;\nmov.b32 %r22, 0x40404040;\nmov.b16 %h1, 0;\nmov.b16 %h2, 2;\n"
                           SCALED "%r21, {%h1, %h2}, %r22, {0, 0};"), "uninitialized", "never written", 0);
    expect(EDGE("sm_120a", "mov.b32 %r20, 0x22222222;\nmov.b32 %r22, 0x40404040;\n" SCALED "%r21, {0, 0}, %r22, {0, 0};"), "uninitialized",
           "never written", 0);
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

#define FOUR "{%r6, %r7, %r8, %r9}"
#define OF_2_4(types) types " " FOUR ", {%r10, %r10}, {%r10, %r10}, " FOUR ", %r18, "
#define OF_4_4(types) types " " FOUR ", " FOUR ", " FOUR ", " FOUR ", %r18, "
#define MX(types) "mma.sync.aligned.m16n8k" types " " FOUR ", " FOUR ", {%r10, %r10}, " FOUR ", %r18, "

static void test_refusals(void **state) {
    (void)state;
    refuse(EDGE("sm_75", OF_2_4("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") "0;"), "such as sm_80");
    refuse(EDGE("sm_80", OF_4_4("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32") "0;"), "such as sm_89");
    refuse(EDGE("sm_90", OF_4_4("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e4m3.f32") "0;"), "such as sm_120a");
    refuse(EDGE("sm_120", MX("32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0") "{0, 0}, %r18, {0, 0};"), "such as sm_120a");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") "4;"), "selector must be a number below 4");
    refuse(EDGE("sm_80", OF_4_4("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32") "2;"), "selector must be a number below 2");
    refuse(EDGE("sm_80", OF_4_4("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32") "1;"), "selector must be a number below 1");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") "%r1;"), "selector must be a number");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32") "0;"), "not supported");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32") "0;"), "not supported");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32") "0;"), "2 registers where 4");
    refuse(EDGE("sm_80", OF_2_4("mma.sp.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32") "0;"), "not supported");
    refuse(EDGE("sm_120a", MX("32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0") "{0, 0}, %r18, {0, 0};"), "not supported");
    refuse(EDGE("sm_120a", MX("64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3") "{0, 0}, %r18, {0, 0};"), "not supported");
    refuse(EDGE("sm_120a", MX("64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0") "{0, 0}, %r18, {0, 0};"), "not supported");
    refuse(EDGE("sm_120a", MX("64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0") "{1, 0}, %r18, {0, 0};"), "the selector 1");
    refuse(EDGE("sm_120a", MX("64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0") "{2, 2}, %r18, {0, 0};"), "the selector 2");
    refuse(EDGE("sm_120a", MX("64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0") "{2, 1}, %r18, {2, 4};"), "the selector 4");
    refuse(EDGE("sm_120a", "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32 " FOUR ", " FOUR ", {%r10, %r10}, " FOUR ";"),
           "not supported");
    refuse(EDGE("sm_80", "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32 " FOUR ", {%r1, %r2}, {%r1, %r2}, " FOUR ";"), "not supported");
    refuse(EDGE("sm_75", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " FOUR ", " FOUR ", {%r1, %r2}, " FOUR ";"), "such as sm_80");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_quads),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
