/* Calls through pointers, recursion, alloca, printf and assertions, in PTX written for the purpose. */
#include "tests/unit/sim/machine_test.h"

static char printed[4096], complained[4096];

static void keep(void *context, bool is_error, const char *text, size_t size) {
    (void)context;
    char *to = is_error ? complained : printed;
    size_t used = strlen(to);
    assert_true(used + size < sizeof printed);
    memcpy(to + used, text, size);
    to[used + size] = 0;
}

static machine_test open_module(const char *ptx) {
    machine_test test = machine_open(NULL, "sm_80", ptx, 32 * 8);
    printed[0] = complained[0] = 0;
    kcsim_machine_set_output(test.machine, keep, NULL);
    return test;
}

static void run(const char *ptx, const uint64_t in[32], uint64_t out[32]) {
    machine_lanes(ptx, "sm_80", in, out);
}

static void write_in(machine_test *test, uint64_t value) {
    uint64_t in[32];
    for (int i = 0; i < 32; i++)
        in[i] = value;
    machine_write(test, test->in, in, sizeof in);
}

/* ---- through pointers ------------------------------------------------------------------------ */

#define TWO_FUNCTIONS                                                                              \
    ".func (.param .b64 r) twice(.param .b64 x)\n{ .reg .b64 %a;\nld.param.u64 %a, [x];\n"         \
    "add.s64 %a, %a, %a;\nst.param.b64 [r], %a;\nret; }\n"                                         \
    ".func (.param .b64 r) next(.param .b64 x)\n{ .reg .b64 %a;\nld.param.u64 %a, [x];\n"          \
    "add.s64 %a, %a, 1;\nst.param.b64 [r], %a;\nret; }\n"                                          \
    ".func (.param .b64 r) also_next(.param .b64 x);\n.alias also_next, next;\n"                   \
    ".func narrow(.param .b32 x) { ret; }\n"                                                       \
    ".global .align 8 .u64 table[2] = {twice, also_next};\n"

#define POINTER_KERNEL(declaration, how)                                                           \
    PTX_HEADER TWO_FUNCTIONS                                                                       \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS                        \
    ".param .b64 x0;\n.param .b64 r0;\n" declaration                                               \
    "ld.param.u64 %d0, [out];\nld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\n"                    \
    "mul.wide.u32 %d4, %r0, 8;\nadd.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\n"                  \
    "ld.global.u64 %d5, [%d3];\nst.param.b64 [x0], %d5;\n" how                                     \
    "ld.param.b64 %d6, [r0];\nst.global.u64 [%d2], %d6;\nret;\n}\n"
#define PROTOTYPE "P: .callprototype (.param .b64 _) _ (.param .b64 _);\n"

static void pointers_from_a_table(void **state) {
    (void)state;
    uint64_t in[32], out[32];
    for (uint64_t i = 0; i < 32; i++)
        in[i] = i;
    run(POINTER_KERNEL(PROTOTYPE, "and.b64 %d7, %d5, 1;\nshl.b64 %d7, %d7, 3;\nmov.u64 %d8, table;\n"
                                  "add.s64 %d8, %d8, %d7;\nld.global.u64 %d9, [%d8];\n"
                                  "call (r0), %d9, (x0), P;\n"),
        in, out);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i % 2 ? i + 1 : 2 * i);
    run(POINTER_KERNEL("P: .calltargets twice, next;\n",
                       "mov.u64 %d9, twice;\nmov.u64 %d8, also_next;\n"
                       "setp.lt.u32 %p1, %r0, 9;\nselp.b64 %d9, %d9, %d8, %p1;\n"
                       "call (r0), %d9, (x0), P;\n"),
        in, out);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 9 ? 2 * i : i + 1);
    run(POINTER_KERNEL("", "call (r0), also_next, (x0);\n"), in, out); /* an alias by name */
    assert_int_equal(out[31], 32);
}

/* What is no function, or one of another type, is a trap that says so. */
static void wild_pointers_trap(void **state) {
    static const char *const pointers[] = {"mov.u64 %d9, 0;\n", "mov.u64 %d9, narrow;\n",
                                           "mov.u64 %d9, table;\n"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char ptx[4096];
        static const char text[] = POINTER_KERNEL(PROTOTYPE, "mov.u64 %d8, twice;\n\001call (r0), %d9, (x0), P;\n");
        const char *at = strchr(text, '\001');
        snprintf(ptx, sizeof ptx, "%.*s%s%s", (int)(at - text), text, pointers[i], at + 1);
        machine_test test = open_module(ptx);
        write_in(&test, 1);
        assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
        assert_non_null(strstr(kcsim_last_fault(test.machine), "trap in kernel k"));
        assert_non_null(strstr(kcsim_last_fault(test.machine), "no function of this type"));
        machine_close(&test);
    }
}

/* ---- recursion, alloca ----------------------------------------------------------------------- */

/* The sum 0 + 1 + ... + x, by itself; `bytes` of local memory in each frame. */
#define SUM(bytes)                                                                                 \
    PTX_HEADER ".func (.param .b64 r) sum(.param .b64 x)\n{ .reg .b64 %a<6>; .reg .pred %q;\n"     \
               ".local .align 8 .b8 room[" bytes "];\n.param .b64 x0;\n.param .b64 r0;\n"          \
               "ld.param.u64 %a0, [x];\nmov.u64 %a1, room;\nst.local.u64 [%a1], %a0;\n"            \
               "setp.eq.u64 %q, %a0, 0;\nmov.u64 %a4, 0;\n@%q bra DONE;\n"                         \
               "sub.u64 %a3, %a0, 1;\nst.param.b64 [x0], %a3;\ncall (r0), sum, (x0);\n"            \
               "ld.param.b64 %a4, [r0];\nDONE:\nld.local.u64 %a2, [room];\n"                       \
               "add.u64 %a4, %a4, %a2;\nst.param.b64 [r], %a4;\nret; }\n"                          \
               ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS             \
               ".param .b64 x0;\n.param .b64 r0;\nld.param.u64 %d0, [out];\n"                      \
               "ld.param.u64 %d1, [in];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %d4, %r0, 8;\n"        \
               "add.s64 %d2, %d0, %d4;\nadd.s64 %d3, %d1, %d4;\nld.global.u64 %d5, [%d3];\n"       \
               "st.param.b64 [x0], %d5;\ncall (r0), sum, (x0);\nld.param.b64 %d6, [r0];\n"         \
               "st.global.u64 [%d2], %d6;\nret;\n}\n"

static void recursion(void **state) {
    (void)state;
    uint64_t in[32], out[32];
    for (uint64_t i = 0; i < 32; i++)
        in[i] = (i * 7) % 32;
    run(SUM("8"), in, out);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(out[i], in[i] * (in[i] + 1) / 2);
}

static void recursion_ends_with_the_stack(void **state) {
    (void)state;
    machine_test test = open_module(SUM("4000"));
    write_in(&test, 30);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "out_of_bounds"));
    machine_close(&test);
}

/* Though the function's frame is empty. */
static void recursion_without_end_ends(void **state) {
    (void)state;
    machine_test test = open_module(PTX_HEADER ".func f()\n{\ncall f;\nret; }\n"
                                               ".visible .entry k(.param .u64 out, .param .u64 in)\n{\ncall f;\nret;\n}\n");
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "function f, line 6 (call f), block 0,0,0 thread 0,0,0: "
                                                           "the stack of the thread is used up: 16384 bytes"));
    assert_true(machine_found(&test, "out_of_bounds", "\"space\": \"local\""));
    machine_close(&test);
}

static void the_stack_can_be_larger(void **state) {
    (void)state;
    kcsim_module *module;
    machine_test test = open_module(SUM("4000"));
    kcsim_machine_set_stack(test.machine, 200 << 10);
    kcsim_machine_set_heap(test.machine, 1 << 20);
    assert_int_equal(kcsim_module_load(test.machine, SUM("4000"), sizeof SUM("4000"), NULL, 0, &module), KCSIM_OK);
    assert_int_equal(kcsim_module_find_function(module, "k", &test.function), KCSIM_OK);
    write_in(&test, 30);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    assert_int_equal(*(uint64_t *)kcsim_mem_host(test.machine, test.out, 8), 30 * 31 / 2);
    machine_close(&test);
}

static void alloca_gives_memory(void **state) {
    (void)state;
    uint64_t in[32], out[32];
    for (uint64_t i = 0; i < 32; i++)
        in[i] = 8 * i + 8;
    run(PTX_KERNEL("ld.global.u64 %d5, [%d3];\nstacksave.u64 %d9;\nalloca.u64 %d6, %d5, 8;\n"
                   "st.local.u64 [%d6], %d5;\nalloca.u64 %d7, %d5, 64;\nst.local.u64 [%d7], 5;\n"
                   "sub.s64 %d8, %d7, %d6;\nstackrestore.u64 %d9;\nalloca.u64 %d10, 8, 8;\n"
                   "sub.s64 %d10, %d10, %d6;\nshl.b64 %d10, %d10, 32;\nld.local.u64 %d11, [%d6];\n"
                   "setp.ge.u64 %p1, %d8, %d11;\nselp.u64 %d12, 1, 0, %p1;\nadd.u64 %d12, %d12, %d10;\n"
                   "st.global.u64 [%d2], %d12;\n"),
        in, out);
    for (int i = 0; i < 32; i++)
        assert_int_equal(out[i], 1); /* apart from each other, and again the same after the restore */
}

static void alloca_ends_with_the_stack(void **state) {
    (void)state;
    machine_test test =
        open_module(PTX_KERNEL("ld.global.u64 %d5, [%d3];\nalloca.u64 %d6, %d5;\nst.global.u64 [%d2], %d6;\n"));
    write_in(&test, 1 << 20);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "the stack of the thread is used up"));
    machine_close(&test);
}

/* ---- printf, assert -------------------------------------------------------------------------- */

#define PRINT(format, stores, pointer)                                                             \
    PTX_HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"            \
               ".global .align 1 .b8 text[64] = {" format "};\n"                                   \
               ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS             \
               ".local .align 16 .b8 room[32];\n.param .b64 f;\n.param .b64 a;\n.param .b32 r;\n"   \
               "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\n"                                  \
               "mul.wide.u32 %d4, %r0, 4;\nadd.s64 %d2, %d0, %d4;\n" stores                        \
               "mov.u64 %d5, " pointer ";\ncvta.global.u64 %d5, %d5;\nmov.u64 %d6, room;\n"        \
               "cvta.local.u64 %d6, %d6;\nst.param.b64 [f], %d5;\nst.param.b64 [a], %d6;\n"        \
               "call.uni (r), vprintf, (f, a);\nld.param.b32 %r5, [r];\n"                          \
               "st.global.u32 [%d2], %r5;\nret;\n}\n"

static void printf_prints(void **state) {
    (void)state;
    /* "%d %5.2f|%s|%lx%%\n" with the thread, a double, the format's own tail, a long */
    machine_test test = open_module(
        PRINT("37, 100, 32, 37, 53, 46, 50, 102, 124, 37, 115, 124, 37, 108, 120, 37, 37, 10, 0",
              "st.local.u32 [room], %r0;\nmov.f64 %d7, 0d4004000000000000;\nst.local.f64 [room+8], %d7;\n"
              "mov.u64 %d8, text;\ncvta.global.u64 %d8, %d8;\nadd.s64 %d8, %d8, 15;\nst.local.u64 [room+16], %d8;\n"
              "mov.u64 %d9, 1311768467463790320;\nst.local.u64 [room+24], %d9;\n",
              "text"));
    assert_int_equal(machine_launch(&test, 1, 2, 0), KCSIM_OK);
    assert_string_equal(printed, "0  2.50|%%\n|123456789abcdef0%\n1  2.50|%%\n|123456789abcdef0%\n");
    uint32_t *count = kcsim_mem_host(test.machine, test.out, 8);
    assert_int_equal(count[0], 4);
    machine_close(&test);
}

static void printf_looks_at_its_arguments(void **state) {
    (void)state;
    machine_test test = open_module(PRINT("37, 100, 10, 0", "", "text")); /* nothing was stored */
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "uninitialized"));
    machine_close(&test);
    test = open_module(PRINT("37, 115, 10, 0", "mov.u64 %d7, 64;\nst.local.u64 [room], %d7;\n", "text"));
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "out_of_bounds"));
    assert_non_null(strstr(kcsim_last_fault(test.machine), "no string is there"));
    machine_close(&test);
    test = open_module(PRINT("37,108,100, 37,108,100, 37,108,100, 37,108,100, 37,108,100, 37,108,100, 37,108,100, 37,108,100, 37,108,100, 0",
                             "", "text")); /* nine longs are more than the thread has memory */
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_FAULT);
    char *json = kcsim_findings_json(test.machine);
    assert_non_null(strstr(json, "an argument of printf cannot be read"));
    free(json);
    machine_close(&test);
    test = open_module(PRINT("0", "", "0"));
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_OK);
    assert_int_equal(*(int32_t *)kcsim_mem_host(test.machine, test.out, 4), -1);
    machine_close(&test);
}

#define HEAP(body)                                                                                 \
    PTX_HEADER ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"                            \
               ".extern .func free(.param .b64 p);\n"                                              \
               ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS             \
               ".param .b64 n;\n.param .b64 p;\nld.param.u64 %d0, [out];\nmov.u64 %d1, 64;\n"      \
               "st.param.b64 [n], %d1;\ncall.uni (p), malloc, (n);\nld.param.b64 %d2, [p];\n" body \
               "ret;\n}\n"

static void the_heap_has_bounds(void **state) {
    (void)state;
    static const struct {
        const char *ptx, *fault;
    } cases[] = {
        {HEAP("st.global.u32 [%d2+60], 1;\ncall.uni free, (p);\n"), NULL},
        {HEAP("st.global.u32 [%d2+64], 1;\n"), "out_of_bounds"},
        {HEAP("call.uni free, (p);\nst.global.u32 [%d2], 1;\n"), "in memory that was freed"},
        {HEAP("call.uni free, (p);\ncall.uni free, (p);\n"), "gave back already"},
        {HEAP("st.param.b64 [p], %d0;\ncall.uni free, (p);\n"), "gave back already"}, /* not the heap's */
        {HEAP("ld.global.u32 %r1, [%d2];\nst.global.u32 [%d0], %r1;\n"), "uninitialized"},
        {HEAP("mov.u64 %d1, 9000000;\nst.param.b64 [n], %d1;\ncall.uni (p), malloc, (n);\n" /* more than there is */
              "ld.param.b64 %d2, [p];\nsetp.eq.u64 %p1, %d2, 0;\n@%p1 trap;\n"),
         "trap"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        machine_test test = open_module(cases[i].ptx);
        kcsim_status status = machine_launch(&test, 1, 1, 0);
        assert_int_equal(status, cases[i].fault ? KCSIM_FAULT : KCSIM_OK);
        if (cases[i].fault) assert_non_null(strstr(kcsim_last_fault(test.machine), cases[i].fault));
        machine_close(&test);
    }
}

/* Blocks print in their order, however many host threads there are. */
static void printf_repeats(void **state) {
    (void)state;
    machine_test test = open_module(
        PRINT("37, 100, 32, 0", "mov.u32 %r1, %ctaid.x;\nst.local.u32 [room], %r1;\n"
              "mul.wide.u32 %d4, %r1, 4;\nadd.s64 %d2, %d0, %d4;\n",
              "text"));
    assert_int_equal(machine_launch(&test, 6, 1, 0), KCSIM_OK);
    assert_string_equal(printed, "0 1 2 3 4 5 ");
    machine_close(&test);
}

static void assertions_end_the_launch(void **state) {
    (void)state;
    machine_test test = open_module(
        PTX_HEADER ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
                   ".global .align 1 .b8 text[4] = {120, 62, 48, 0};\n.global .align 1 .b8 file[4] = {97, 46, 99, 0};\n"
                   ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n" PTX_REGISTERS
                   ".param .b64 m;\n.param .b64 f;\n.param .b32 l;\n.param .b64 n;\n.param .b64 s;\n"
                   "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p1, %r0, 5;\n@%p1 bra GOOD;\n"
                   "mov.u64 %d5, text;\ncvta.global.u64 %d5, %d5;\nmov.u64 %d6, file;\ncvta.global.u64 %d6, %d6;\n"
                   "st.param.b64 [m], %d5;\nst.param.b64 [f], %d6;\nst.param.b32 [l], 77;\nst.param.b64 [n], %d6;\n"
                   "mov.u64 %d7, 1;\nst.param.b64 [s], %d7;\ncall.uni __assertfail, (m, f, l, n, s);\nGOOD:\nret;\n}\n");
    assert_int_equal(machine_launch(&test, 1, 5, 0), KCSIM_OK);
    assert_string_equal(complained, "");
    assert_int_equal(machine_launch(&test, 1, 7, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "assert in kernel k"));
    assert_non_null(strstr(kcsim_last_fault(test.machine), "thread 5,0,0: `x>0` failed at a.c:77"));
    assert_string_equal(complained, "a.c:77: a.c: block: [0,0,0], thread: [5,0,0] Assertion `x>0` failed.\n"
                                    "a.c:77: a.c: block: [0,0,0], thread: [6,0,0] Assertion `x>0` failed.\n");
    machine_close(&test);
}

/* ---- findings -------------------------------------------------------------------------------- */

/* A finding names the function of the text, wherever it was copied to. */
static void findings_name_the_function(void **state) {
    (void)state;
    machine_test test = open_module(
        PTX_HEADER ".func inner(.param .b64 a)\n{ .reg .b64 %d;\nld.param.u64 %d, [a];\nst.global.u32 [%d], 1;\nret; }\n"
                   ".func outer(.param .b64 a)\n{ .reg .b64 %d;\n.param .b64 x;\nld.param.u64 %d, [a];\n"
                   "st.param.b64 [x], %d;\ncall inner, (x);\nret; }\n"
                   ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b64 %d<2>;\n.param .b64 x;\n"
                   "mov.u64 %d0, 16;\nst.param.b64 [x], %d0;\ncall outer, (x);\nst.global.u32 [%d0+16], 1;\nret;\n}\n");
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_FAULT);
    assert_non_null(strstr(kcsim_last_fault(test.machine), "out_of_bounds in kernel k, function inner, line "));
    char *json = kcsim_findings_json(test.machine);
    assert_non_null(strstr(json, "\"kernel\": \"k\", \"function\": \"inner\""));
    assert_non_null(strstr(json, "\"kernel\": \"k\", \"function\": \"k\""));
    free(json);
    machine_close(&test);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_from_a_table),
        cmocka_unit_test(wild_pointers_trap),
        cmocka_unit_test(recursion),
        cmocka_unit_test(recursion_ends_with_the_stack),
        cmocka_unit_test(recursion_without_end_ends),
        cmocka_unit_test(the_stack_can_be_larger),
        cmocka_unit_test(alloca_gives_memory),
        cmocka_unit_test(alloca_ends_with_the_stack),
        cmocka_unit_test(printf_prints),
        cmocka_unit_test(printf_looks_at_its_arguments),
        cmocka_unit_test(the_heap_has_bounds),
        cmocka_unit_test(printf_repeats),
        cmocka_unit_test(assertions_end_the_launch),
        cmocka_unit_test(findings_name_the_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
