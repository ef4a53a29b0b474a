/* Loading: what is refused, with which status and which words; what a module tells about its kernels. */
#include "tests/unit/sim/machine_test.h"

static void refuse_on(const char *arch, const char *ptx, kcsim_status expected, const char *text) {
    char log[300] = "";
    kcsim_module *module;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find(arch), NULL);
    kcsim_status status = kcsim_module_load(machine, ptx, strlen(ptx), log, sizeof log, &module);
    if (status != expected || !strstr(log, text)) print_error("%d: %s\n", (int)status, log);
    assert_int_equal(status, expected);
    assert_null(module);
    assert_non_null(strstr(log, text));
    kcsim_machine_destroy(machine);
}

static void refuse(const char *ptx, const char *text) {
    refuse_on("sm_90a", ptx, KCSIM_INVALID_PTX, text);
}

/* A line end and the body, which then starts at line 17. */
#define BODY(text) PTX_KERNEL_LIMITS("", text)

static void test_syntax_errors(void **state) {
    (void)state;
    refuse("", "no .version");
    refuse("hello", "expected a directive, found 'hello'");
    refuse(PTX_HEADER "/* no end", "line 4");
    refuse(PTX_HEADER "\x01", "this is no PTX");
    refuse(".version 8.7\n.target sm_80\n.address_size 32\n", "line 3: only .address_size 64");
    refuse(PTX_HEADER ".entry k(", "the end of the text");
    refuse(PTX_HEADER ".entry k() {", "expected '}', found the end of the text");
    refuse(PTX_HEADER ".entry k() { ret; }\n.entry k() { ret; }", "line 5: 'k' is defined twice");
    refuse(PTX_HEADER ".extern .global .b32 x;", "nothing here defines it");
    refuse(PTX_HEADER ".global .align 3 .b32 x;", "power of two");
    refuse(PTX_HEADER ".global .b32 x[2] = {1, 2, 3};", "more initial values");
    refuse(PTX_HEADER ".global .b64 x = y;", "'y' cannot be a constant");
    refuse(PTX_HEADER ".shared .b32 x = 1;", "only .global and .const");
    refuse(PTX_HEADER ".global .b8 x[99999999999][99999999999];", "too large");
    refuse(PTX_HEADER ".wonder .b8 x;", "unknown directive '.wonder'");
    refuse(PTX_HEADER ".entry k(.param .align 4 .b8 p[32765]) { ret; }",
           "line 4: 'k' takes 32765 bytes of parameters, the limit is 32764");
    refuse(".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .b64 q, .param .b8 p[4345]) { ret; }",
           "line 4: 'k' takes 4353 bytes of parameters, the limit is 4352 before PTX ISA 8.1");
}

static void test_instruction_errors(void **state) {
    (void)state;
    refuse(BODY("\nfoo.bar %r1;"), "line 17: unknown instruction 'foo.bar'");
    refuse(BODY("add.u32 %r1, %r2;"), "'add' takes 3 to 3 operands, not 2");
    refuse(BODY("add.u32 %r1, %r2, %r99;"), "unknown register '%r99'");
    refuse(BODY("add.u32 %r1, %r2, %h1;"), "a register of 16 bits where 32 are wanted in 'add.u32 %r1, %r2, %h1'");
    refuse(BODY("add.volatile.u32 %r1, %r2, 1;"), "'add' takes no '.volatile'");
    refuse(BODY("add.rn.rz.f32 %r1, %r2, %r3;"), "contradicts");
    refuse(BODY("add.s32 5, %r2, %r3;"), "the result must go to a register");
    refuse(BODY("mul.s32 %r1, %r2, %r3;"), "PTX has no 'mul.s32' with 3 operands");
    refuse(BODY("min.f32 %r1, %r2, %r3, %r1;"), "'min.f32' needs sm_100");
    refuse(BODY("redux.sync.min.f32 %r1, %r2, -1;"), "'redux.sync.min.f32' needs sm_100a");
    refuse(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { .reg .b32 r; activemask.b32 r; bmsk.clamp.b32 r, r, r; }",
           "line 4: 'bmsk.clamp.b32' needs PTX 7.6");
    refuse(BODY("bra nowhere;"), "'nowhere' is declared nowhere");
    refuse(BODY("here: here: ret;"), "'here' is declared twice");
    refuse(BODY("@%r1 ret;"), "'%r1' is no predicate");
    refuse(BODY("ld.global.b32 %r1, %d1;"), "an address in brackets");
    refuse(BODY("ld.global.v2.b32 %r1, [%d1];"), "1 elements where 2 are wanted");
    refuse(BODY("st.const.b32 [%d1], 1;"), "PTX has no 'st.const.b32'");
    refuse(BODY("atom.global.inc.f32 %r1, [%d1], %r2;"), "PTX has no 'atom.global.inc.f32'");
    refuse(BODY("cvt.s32.f32 %r1, %r2;"), "PTX has no 'cvt.s32.f32'");
    refuse(BODY("mma.sync.aligned.m16n8k32.row.col.f64.f64.f64.f64 {%d1,%d2}, {%d1}, {%d1}, {%d1,%d2};"), "not supported");
    refuse(BODY("mma.sync.aligned.m8n8k4.col.row.f64.f64.f64.f64 {%d1,%d2}, {%d1}, {%d1}, {%d1,%d2};"), "not supported");
    refuse(BODY("mma.sync.aligned.m8n8k4.row.row.f64.f64.f64.f64 {%d1,%d2}, {%d1}, {%d1}, {%d1,%d2};"), "not supported");
    refuse(BODY("mma.sync.aligned.m8n8k4.row.col.col.f64.f64.f64.f64 {%d1,%d2}, {%d1}, {%d1}, {%d1,%d2};"), "contradicts");
    refuse(BODY("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1,%d2}, {%d1,%d2}, {%d1}, {%d1,%d2};"), "2 registers where 1");
    refuse(BODY("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"), "not supported");
    refuse(BODY("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.add.popc {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"), "not supported");
    refuse(BODY("wmma.load.a.sync.aligned.row.m16n16k16.global.s4 {%r1,%r2}, [%d1];"), "not supported");
    refuse(BODY("wmma.load.a.sync.aligned.m16n16k16.global.s8 {%r1,%r2}, [%d1];"), "not supported");
    refuse(BODY("wmma.mma.sync.aligned.row.col.m16n16k16.f32.s8.s8.f32 {%r1}, {%r1}, {%r1}, {%r1};"), "not supported");
    refuse(BODY("wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"), "not supported");
    refuse(BODY("wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"), "not supported");
    refuse(BODY("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r1,%r2}, {%r1}, {%r1}, {%r1,%r2};"), "not supported");
    refuse(BODY("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r1}, [%d1];"), "not supported");
    refuse(BODY("ld.global.e4m3 %h1, [%d1];"), "PTX has no 'ld.global.e4m3'");
    refuse(BODY("mov.u32 %r1, %tid.w;"), "unknown register");
    refuse(BODY(".reg .v2 .b32 v;\nmov.b32 %r1, v.z;"), "a vector of 2 has no '.z'");
    refuse(BODY(".reg .v2 .pred v;"), "unknown register type '.pred'");
    refuse(BODY(".reg .v2 .b32 v;\nmov.b32 %r1, v;"), "");
    refuse(BODY("{ .reg .b32 inner; }\nmov.b32 inner, 1;"), "'inner' is declared nowhere");
    refuse(BODY("mov.u32 %r1, %envreg3;"), "of the environment registers only those are here by which the blocks of a cooperative grid meet");
    refuse(BODY("tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [%d1, {%r1,%r2}];"), "unknown instruction 'tex");
}

/* Texts behind one another are one module: names with linkage are everybody's, the others of their text alone. */
static void test_linked_texts(void **state) {
    static const char ptx[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".extern .global .align 4 .u32 scale;\n.global .align 4 .u32 own = 3;\n"
        ".extern .func (.param .b32 r) times(.param .b32 x);\n.weak .func noise() { trap; ret; }\n"
        ".func (.param .b32 r) hidden() { st.param.b32 [r], 100; ret; }\n"
        ".visible .entry k(.param .u64 out, .param .u64 in) {\n.reg .b32 %r<8>; .reg .b64 %d; .param .b32 x; .param .b32 r;\n"
        "ld.param.u64 %d, [out]; ld.global.u32 %r1, [own]; ld.global.u32 %r2, [scale];\n"
        "st.param.b32 [x], %r1; call (r), times, (x); ld.param.b32 %r3, [r]; call (r), hidden; ld.param.b32 %r4, [r];\n"
        "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r2; st.global.u32 [%d], %r3; ret; }\n"
        ".version 7.5\n.target sm_80\n.address_size 64\n"
        ".global .align 4 .u32 own = 7;\n.visible .global .align 4 .u32 scale = 1000;\n"
        ".global .align 8 .u64 table[2] = {own, hidden};\n.weak .func noise() { ret; }\n"
        ".func (.param .b32 r) hidden() { st.param.b32 [r], 5; ret; }\n"
        ".visible .func (.param .b32 r) times(.param .b32 x) {\n.reg .b32 %r<8>; .reg .b64 %d<3>; .param .b32 q;\n"
        "mov.u64 %d1, table; ld.global.u64 %d2, [%d1]; ld.global.u32 %r2, [%d2];\n"
        "ld.param.b32 %r1, [x]; mul.lo.u32 %r1, %r1, %r2; call (q), hidden; ld.param.b32 %r3, [q]; mul.lo.u32 %r1, %r1, %r3;\n"
        "st.param.b32 [r], %r1; ret; }\n";
    (void)state;
    machine_test test = machine_open(NULL, "sm_80", ptx, 256);
    assert_int_equal(machine_launch(&test, 1, 1, 0), KCSIM_OK);
    assert_int_equal(*(uint32_t *)kcsim_mem_host(test.machine, test.out, 4), 3 * 7 * 5 + 100 + 1000);
    machine_close(&test);
    refuse(PTX_HEADER ".visible .global .u32 x;\n" PTX_HEADER ".visible .global .u32 x;\n", "line 8: 'x' is declared twice");
    refuse(PTX_HEADER ".visible .func f() { ret; }\n" PTX_HEADER ".visible .func f() { ret; }\n", "line 8: 'f' is defined twice");
    refuse(PTX_HEADER ".func f() { ret; }\n" PTX_HEADER ".extern .func f();\n.entry k() { call f; ret; }\n",
           "calls 'f', which nothing here defines");
    refuse(PTX_HEADER ".extern .global .u32 x;\n" PTX_HEADER ".visible .const .u32 x;\n", "declared twice");
}

static void test_call_errors(void **state) {
    (void)state;
    refuse(PTX_HEADER ".extern .func (.param .b32 r) other(.param .b64 a, .param .b64 b);\n.entry k() {\n"
                      ".param .b64 a; .param .b32 r;\ncall.uni (r), other, (a, a);\nret; }",
           "line 7: calls 'other', which nothing here defines");
    refuse(PTX_HEADER ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.entry k() {\n"
                      ".param .b64 a; .param .b32 r;\ncall.uni (r), vprintf, (a);\nret; }",
           "line 7: a call of 'vprintf' with other arguments");
    refuse(PTX_HEADER ".func f(.param .b32 x) { call f; ret; }\n.entry k() { .param .b32 x; call f, (x); ret; }", "other arguments");
    refuse(PTX_HEADER ".func f() { .reg .b128 %q; call f; ret; }\n.entry k() { call f; ret; }", "128-bit registers");
    refuse(PTX_HEADER ".func f() { ret; }\n.alias g, f;\n.entry k() { ret; }", "'g' is no function");
    refuse(PTX_HEADER ".func f();\n.func g();\n.alias g, f;\n.entry k() { ret; }", "an alias is of a function with a body");
    refuse(PTX_HEADER ".entry k() { .reg .b64 %d<2>; P: .callprototype _ (.param .b32 x; call %d1, P; ret; }", "expected ')'");
    refuse(PTX_HEADER ".entry k() { .reg .b64 %d<2>; P: .calltargets k2; call %d1, P; ret; }", "bad list of functions");
    refuse(PTX_HEADER ".entry k() { .reg .b64 %d<2>; P: .callprototype _ (); bra P; ret; }", "not the kind of label");
    refuse(PTX_HEADER ".entry k() { .reg .b32 %r<2>; alloca.u32 %r1, 16, 3; ret; }", "no alignment");
    refuse(PTX_HEADER ".entry k() { .reg .b32 %r<2>; alloca.s32 %r1, 16; ret; }", ".u32 or .u64 is needed");
    refuse(PTX_HEADER ".func f(.param .b32 x) { ret; }\n.entry k() { call f; ret; }", "wrong number of arguments");
    refuse(PTX_HEADER ".entry k() { .reg .b64 %d<2>; call %d1; ret; }", "needs a .callprototype or .calltargets");
}

static void test_versions_and_targets(void **state) {
    static const char elf[] = "\177ELF\002\001\001";
    (void)state;
    refuse_on("sm_90a", ".version 99.0\n.target sm_90\n.brandnew\n", KCSIM_PTX_VERSION, ".version 99.0 is newer");
    refuse_on("sm_80", ".version 8.7\n.target sm_90\n", KCSIM_WRONG_TARGET, "sm_90 does not run on sm_80");
    refuse_on("sm_90", ".version 8.7\n.target sm_90a\n", KCSIM_WRONG_TARGET, "sm_90a does not run on sm_90");
    refuse_on("sm_100a", ".version 8.7\n.target sm_90a\n", KCSIM_WRONG_TARGET, "sm_90a");
    refuse_on("sm_120a", ".version 8.8\n.target sm_100f\n", KCSIM_WRONG_TARGET, "sm_100f");
    refuse_on("sm_80", elf, KCSIM_NOT_PTX, "binary");
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), NULL);
    kcsim_module *module;
    static const char older[] = ".version 6.3\n.target sm_75\n.address_size 64\n", same[] = ".version 8.7\n.target sm_90a\n";
    assert_int_equal(kcsim_module_load(machine, older, sizeof older, NULL, 0, &module), KCSIM_OK);
    assert_int_equal(kcsim_module_load(machine, same, sizeof same - 1, NULL, 0, &module), KCSIM_OK);
    kcsim_module_unload(machine, module);
    kcsim_machine_destroy(machine);
}

static void test_descriptions(void **state) {
    static const char ptx[] = PTX_HEADER
        ".func helper() { ret; }\n"
        ".visible .entry first(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .align 64 .b8 c[128], .param .f32 d)\n"
        ".maxntid 64, 4\n{\n.shared .align 8 .b8 s[100];\n.local .b32 l[5];\n.reg .b32 %r<9>;\n"
        "mov.b32 %r1, s; mov.b32 %r2, l; ret;\n}\n"
        ".visible .entry second()\n.reqntid 96, 1, 1\n.minnctapersm 2\n{ ret; }\n";
    const kcsim_function *function;
    (void)state;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_default_variant("sm_90"), NULL);
    kcsim_module *module;
    char log[300];
    assert_string_equal(kcsim_machine_arch(machine)->name, "sm_90a");
    assert_int_equal(kcsim_module_load(machine, ptx, sizeof ptx, log, sizeof log, &module), KCSIM_OK);
    assert_int_equal(kcsim_module_function_count(module), 2);
    assert_int_equal(kcsim_module_find_function(module, "helper", &function), KCSIM_NOT_FOUND);
    assert_int_equal(kcsim_module_find_function(module, "first", &function), KCSIM_OK);
    kcsim_function_info info = kcsim_function_describe(function);
    assert_int_equal(info.param_count, 4);
    static const size_t offsets[] = {0, 8, 64, 192}, sizes[] = {1, 8, 128, 4};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(info.params[i].offset, offsets[i]);
        assert_int_equal(info.params[i].size, sizes[i]);
    }
    assert_int_equal(info.param_bytes, 196);
    assert_int_equal(info.max_threads, 256);
    assert_int_equal(info.static_shared, 100);
    assert_int_equal(info.local_bytes, 32);
    assert_int_equal(info.ptx_version, 87);
    assert_int_equal(info.target, 80);
    assert_in_range(info.registers, 16, 32);
    assert_int_equal(kcsim_occupancy(machine, function, 256, 0), 8);
    assert_int_equal(kcsim_occupancy(machine, function, 256, 100 << 10), 2);
    kcsim_function_info second = kcsim_function_describe(kcsim_module_function_at(module, 1));
    assert_string_equal(second.name, "second");
    assert_int_equal(second.max_threads, 96);
    assert_int_equal(second.reqntid[0], 96);
    kcsim_machine_destroy(machine);
}

/* What compilers write around the code is skipped. */
static void test_furniture(void **state) {
    static const char ptx[] =
        "//\n// Generated\n//\n.version 7.8\n.target sm_80, debug\n.address_size 64\n.file 1 \"/a/b.cu\", 123, 456\n"
        ".visible .entry k(.param .u64 out, .param .u64 in) // @k\n{\n.pragma \"nounroll\";\n.loc 1 3 5\n"
        ".loc 1 4 6, function_name $L__info_string0, inlined_at 1 2 3\n$L__tmp0: ret;\n}\n"
        ".section .debug_str { .b8 65, 0; .b64 $L__tmp0; }\n.section .debug_loc { }\n";
    (void)state;
    machine_test test = machine_open(NULL, "sm_80", ptx, 64);
    assert_int_equal(machine_launch(&test, 1, 32, 0), KCSIM_OK);
    machine_close(&test);
}

/* Cut anywhere, or with a byte changed, a module loads or is refused, and nothing else happens. */
static void test_mutations(void **state) {
    static const char ptx[] = PTX_HEADER
        ".extern .shared .align 16 .b8 pool[];\n.global .align 4 .f32 t[2] = {1.5, 0f3F800000};\n"
        ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r<3>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }\n"
        ".visible .entry k(.param .u64 out, .param .align 8 .b8 in[8]) .maxntid 32, 1, 1\n{\n.local .align 4 .b8 d[8];\n" PTX_REGISTERS
        "l: ld.param.u64 %d0, [out]; mov.b64 {%r1, %r2}, %d0; setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;\n"
        "@!%p1 bra l; tab: .branchtargets l, m; brx.idx %r1, tab; m: ld.global.v4.f32 {%r3, %r4, _, %r5}, [t+4];\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 7; call.uni (b), f, (a); ld.param.b32 %r6, [b]; }\n"
        "shfl.sync.bfly.b32 %r7|%p4, %r6, 1, 31, -1; cvt.rn.f32.s32 %r8, %r7; bar.sync 0; ret;\n}\n";
    char copy[sizeof ptx], log[300];
    kcsim_module *module;
    uint64_t random = 1;
    (void)state;
    kcsim_machine *machine = kcsim_machine_create(kcsim_arch_find("sm_90a"), NULL);
    assert_int_equal(kcsim_module_load(machine, ptx, sizeof ptx, log, sizeof log, &module), KCSIM_OK);
    for (size_t i = 0; i < sizeof ptx; i++) {
        if (kcsim_module_load(machine, ptx, i, log, sizeof log, &module) != KCSIM_OK) assert_true(log[0]);
        kcsim_module_unload(machine, module);
    }
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, ptx, sizeof ptx);
        for (int n = 0; n < 1 + i % 3; n++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = (random >> 33) % (sizeof ptx - 1);
            copy[at] = (random >> 20 & 3) ? ptx[(random >> 13) % (sizeof ptx - 1)] : (char)(random >> 25);
        }
        if (kcsim_module_load(machine, copy, sizeof ptx, log, sizeof log, &module) != KCSIM_OK) assert_true(log[0]);
        kcsim_module_unload(machine, module);
    }
    kcsim_machine_destroy(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syntax_errors), cmocka_unit_test(test_instruction_errors),
        cmocka_unit_test(test_call_errors),
        cmocka_unit_test(test_linked_texts),
        cmocka_unit_test(test_versions_and_targets),
        cmocka_unit_test(test_descriptions),  cmocka_unit_test(test_furniture),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
