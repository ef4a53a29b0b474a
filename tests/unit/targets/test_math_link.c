// Linking the mathematical functions into modules for both vendors, and what becomes of them there:
// every function inlined, no library call, no memory, no approximate or fused operation that was
// not written.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "targets/common/math/math_link.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define PASSES                                                                                     \
    "always-inline,function(sroa,early-cse,instcombine,simplifycfg,loop-mssa(licm),gvn,adce)"

static const char *const names[] = {"exp", "exp2", "log",  "log2", "rsqrt",
                                    "sin", "cos",  "tanh", "erf",  "pow"};

static const char *const small[] = {"f8e4m3",     "f8e5m2", "f8e4m3fnuz",
                                    "f8e5m2fnuz", "f8e8m0", "f4e2m1"};

typedef struct {
    const char *triple, *arch, *features;
    unsigned calling_convention;
} Machine;

static const Machine machines[] = {
    {"nvptx64-nvidia-cuda", "sm_75", "+ptx70", 71}, {"nvptx64-nvidia-cuda", "sm_90a", "+ptx80", 71},
    {"amdgcn-amd-amdhsa", "gfx90a", "", 91},        {"amdgcn-amd-amdhsa", "gfx942", "", 91},
    {"amdgcn-amd-amdhsa", "gfx1100", "", 91},       {"amdgcn-amd-amdhsa", "gfx1201", "", 91},
};

static LLVMTargetMachineRef open_machine(const Machine *machine) {
    char *error = NULL;
    LLVMTargetRef target;
    assert_int_equal(LLVMGetTargetFromTriple(machine->triple, &target, &error), 0);
    return LLVMCreateTargetMachine(target, machine->triple, machine->arch, machine->features,
                                   LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
}

// 'f' float, 'd' double, 'i' i32.
static LLVMTypeRef type_of(LLVMContextRef context, char letter) {
    return letter == 'd'   ? LLVMDoubleTypeInContext(context)
           : letter == 'f' ? LLVMFloatTypeInContext(context)
                           : LLVMInt32TypeInContext(context);
}

// A kernel `out[0] = name(in[0], in[1])` that declares the function; `types`: of argument and
// result.
static LLVMModuleRef make_module(LLVMContextRef context, const Machine *machine,
                                 LLVMTargetMachineRef target, const char *name,
                                 const char *types) {
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", context);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(target);
    LLVMSetTarget(module, machine->triple);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    LLVMTypeRef element = type_of(context, types[0]);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 1);
    unsigned arity = strncmp(name, "kc_math_pow", 11) == 0 ? 2 : 1;
    LLVMTypeRef type = LLVMFunctionType(type_of(context, types[1]),
                                        (LLVMTypeRef[]){element, element}, arity, 0);
    LLVMTypeRef kernel_type = LLVMFunctionType(LLVMVoidTypeInContext(context),
                                               (LLVMTypeRef[]){pointer, pointer, pointer}, 3, 0);
    LLVMValueRef function = LLVMAddFunction(module, name, type),
                 kernel = LLVMAddFunction(module, "kernel", kernel_type);
    LLVMSetFunctionCallConv(kernel, machine->calling_convention);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, kernel, ""));
    LLVMValueRef x = LLVMBuildLoad2(builder, element, LLVMGetParam(kernel, 0), "");
    LLVMValueRef y = LLVMBuildLoad2(builder, element, LLVMGetParam(kernel, 1), "");
    LLVMValueRef result =
        LLVMBuildCall2(builder, type, function, (LLVMValueRef[]){x, y}, arity, "");
    LLVMBuildStore(builder, result, LLVMGetParam(kernel, 2));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    return module;
}

static void assert_without(const char *text, const char *name, const char *arch,
                           const char *forbidden) {
    if (strstr(text, forbidden)) fail_msg("%s for %s contains '%s'", name, arch, forbidden);
}

static void check_assembly(const char *text, const char *name, const Machine *machine) {
    static const char *const ptx[] = {"call",    ".local",  ".const",  ".approx",
                                      "mad.f",   "mul.f32", "add.f32", "mul.f64",
                                      "add.f64", ".ftz",    "brx",     ".shared"};
    static const char *const gcn[] = {"s_swappc", "s_setpc", "scratch_load", "scratch_store",
                                      "buffer_",  "v_mac_f", "v_mad_f",      "s_getpc"};
    bool nvptx = machine->calling_convention == 71;
    for (size_t i = 0; nvptx && i < COUNT(ptx); i++)
        assert_without(text, name, machine->arch, ptx[i]);
    for (size_t i = 0; !nvptx && i < COUNT(gcn); i++)
        assert_without(text, name, machine->arch, gcn[i]);
    if (!nvptx && !strstr(text, "private_segment_fixed_size 0\n"))
        fail_msg("%s for %s uses scratch memory", name, machine->arch);
}

static void compile(const Machine *machine, const char *name, const char *types) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMTargetMachineRef target = open_machine(machine);
    LLVMModuleRef module = make_module(context, machine, target, name, types);
    char *error = NULL;
    if (!kc_math_link(module, &error)) fail_msg("%s: %s", name, error);
    assert_int_equal(LLVMVerifyModule(module, LLVMReturnStatusAction, &error), 0);
    LLVMDisposeMessage(error);
    assert_null(LLVMGetFirstNamedMetadata(module));
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(module, PASSES, target, options);
    assert_null(failed);
    assert_null(LLVMGetNamedFunction(module, name));
    LLVMMemoryBufferRef assembly = NULL;
    error = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(target, module, LLVMAssemblyFile, &error, &assembly))
        fail_msg("%s: %s", name, error);
    check_assembly(LLVMGetBufferStart(assembly), name, machine);
    LLVMDisposeMemoryBuffer(assembly);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeModule(module);
    LLVMDisposeTargetMachine(target);
    LLVMContextDispose(context);
}

static void test_every_function_everywhere(void **state) {
    (void)state;
    for (size_t m = 0; m < COUNT(machines); m++) {
        for (size_t i = 0; i < 2 * COUNT(names); i++) {
            char name[64];
            snprintf(name, sizeof name, "kc_math_%s_%s", names[i / 2], i & 1 ? "f64" : "f32");
            compile(&machines[m], name, i & 1 ? "dd" : "ff");
        }
        for (size_t i = 0; i < COUNT(small); i++) {
            char name[64];
            snprintf(name, sizeof name, "kc_math_%s_of_f32", small[i]);
            compile(&machines[m], name, "fi");
            snprintf(name, sizeof name, "kc_math_f32_of_%s", small[i]);
            compile(&machines[m], name, "if");
        }
    }
}

static void test_unknown_function(void **state) {
    (void)state;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", context);
    LLVMTypeRef element = LLVMFloatTypeInContext(context);
    LLVMAddFunction(module, "kc_math_gamma_f32", LLVMFunctionType(element, &element, 1, 0));
    char *error = NULL;
    assert_false(kc_math_link(module, &error));
    assert_non_null(strstr(error, "kc_math_gamma_f32"));
    LLVMDisposeMessage(error);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static void test_wrong_type(void **state) {
    (void)state;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", context);
    LLVMTypeRef element = LLVMDoubleTypeInContext(context);
    LLVMAddFunction(module, "kc_math_exp_f32", LLVMFunctionType(element, &element, 1, 0));
    char *error = NULL;
    assert_false(kc_math_link(module, &error));
    assert_non_null(strstr(error, "another type"));
    LLVMDisposeMessage(error);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static void test_nothing_to_link(void **state) {
    (void)state;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("test", context);
    char *error = NULL;
    assert_true(kc_math_link(module, &error));
    assert_null(error);
    assert_null(LLVMGetFirstFunction(module));
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

// Printed, not judged: a machine under load is not an error.
static void test_time(void **state) {
    (void)state;
    LLVMContextRef context = LLVMContextCreate();
    LLVMTargetMachineRef target = open_machine(&machines[0]);
    for (int n = 0; n < 2; n++) {
        LLVMModuleRef module = make_module(context, &machines[0], target,
                                           n ? "kc_math_exp_f32" : "kc_math_sin_f64", n ? "ff" : "dd");
        char *error = NULL;
        clock_t start = clock();
        assert_true(kc_math_link(module, &error));
        print_message("  linking one function: %.2f ms\n",
                      (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC);
        LLVMDisposeModule(module);
    }
    LLVMDisposeTargetMachine(target);
    LLVMContextDispose(context);
}

static int set_up(void **state) {
    (void)state;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_every_function_everywhere),
        cmocka_unit_test(test_unknown_function),
        cmocka_unit_test(test_wrong_type),
        cmocka_unit_test(test_nothing_to_link),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
