// The path of one module through LLVM. Vendors differ in their hooks alone.
#include "targets/backend.h"
#include "targets/common/math/math_link.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>
#include <unistd.h>

static const kc_backend *const backends[] = {&kc_backend_cuda, &kc_backend_hip};

// ---- faults inside LLVM ---------------------------------------------------------------------

static void (*fatal_hook)(void *, const char *);
static void *fatal_context;

static void fatal(const char *text) {
    if (fatal_hook) fatal_hook(fatal_context, text);
    fprintf(stderr, "kc: internal error: LLVM: %s\n", text);
    fflush(stderr);
    _exit(3);
}

void kc_build_on_fatal(void (*hook)(void *, const char *), void *context) {
    fatal_hook = hook;
    fatal_context = context;
}

// LLVM's diagnostics of a context: errors (a register budget that cannot be met, say) are ours to
// report.
static void diagnose(LLVMDiagnosticInfoRef info, void *context) {
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    kc_report(context, KC_ERROR, (kc_loc){0, 0}, "the code generator refuses this kernel: %s",
              text);
    LLVMDisposeMessage(text);
}

// ---- steps ----------------------------------------------------------------------------------

static LLVMTargetMachineRef create_machine(const kc_backend *backend, const kc_target *target,
                                           const kc_module *tile, kc_arena *arena, kc_diag *diag) {
    LLVMTargetRef llvm_target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(target->kind->triple, &llvm_target, &error)) {
        kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "this kc has no code generator for %s: %s",
                  target->kind->name, error);
        LLVMDisposeMessage(error);
        return NULL;
    }
    return LLVMCreateTargetMachine(llvm_target, target->kind->triple, target->arch->name,
                                   backend->features(arena, target, tile), LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelDefault);
}

static void set_layout(LLVMModuleRef module, const kc_target *target,
                       LLVMTargetMachineRef machine) {
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *text = LLVMCopyStringRepOfTargetData(layout);
    LLVMSetTarget(module, target->kind->triple);
    LLVMSetDataLayout(module, text);
    LLVMDisposeMessage(text);
    LLVMDisposeTargetData(layout);
}

// A module that we made and LLVM finds malformed is a fault of ours.
static void verify(LLVMModuleRef module) {
    char *error = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &error))
        kc_bug("emitted LLVM IR does not verify: %s", error);
    LLVMDisposeMessage(error);
}

static bool optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
                     kc_diag *diag) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return true;
    char *text = LLVMGetErrorMessage(error);
    kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "LLVM's passes failed: %s", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

void kc_build_add_image(kc_build_job *job, const char *role, const char *data, size_t size) {
    kc_image *image = &job->out->images[job->out->n_images++];
    char *copy = kc_arena_alloc(job->arena, size + 1);
    memcpy(copy, data, size);
    *image = (kc_image){role, copy, size};
}

LLVMMemoryBufferRef kc_build_emit(kc_build_job *job, LLVMCodeGenFileType type, bool again) {
    LLVMModuleRef module = again ? LLVMCloneModule(job->module) : job->module;
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    int errors = kc_diag_errors(job->diag);
    if (LLVMTargetMachineEmitToMemoryBuffer(job->machine, module, type, &error, &buffer)) {
        kc_report(job->diag, KC_ERROR, (kc_loc){0, 0}, "code generation failed: %s", error);
        LLVMDisposeMessage(error);
        buffer = NULL;
    }
    if (again) LLVMDisposeModule(module);
    if (!buffer || kc_diag_errors(job->diag) == errors) return buffer;
    LLVMDisposeMemoryBuffer(buffer);
    return NULL;
}

bool kc_build_emit_image(kc_build_job *job, LLVMCodeGenFileType type, bool again,
                         const char *role) {
    LLVMMemoryBufferRef buffer = kc_build_emit(job, type, again);
    if (!buffer) return false;
    kc_build_add_image(job, role, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

static void add_llvm_text(kc_build_job *job) {
    char *text = LLVMPrintModuleToString(job->module);
    kc_build_add_image(job, "llvm", text, strlen(text));
    LLVMDisposeMessage(text);
}

static bool link_math(LLVMModuleRef module) {
    char *error = NULL;
    if (!kc_math_link(module, &error)) kc_bug("cannot link the math library: %s", error);
    return true;
}

static bool run(const kc_backend *backend, kc_build_job *job, const kc_module *tile) {
    set_layout(job->module, job->target, job->machine);
    if (!kc_emit_module(job->module, job->target, backend->hooks, tile, job->diag)) return false;
    link_math(job->module);
    verify(job->module);
    if (!optimize(job->module, job->machine, backend->passes, job->diag)) return false;
    if (job->options->want & KC_BUILD_LLVM) add_llvm_text(job);
    return backend->finish(job);
}

// ---- entry ----------------------------------------------------------------------------------

static const kc_backend *find_backend(const kc_target *target) {
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (backends[i]->kind == target->kind) return backends[i];
    kc_bug("target kind '%s' has no backend", target->kind->name);
}

bool kc_target_build(const kc_target *target, const kc_module *tile,
                     const kc_build_options *options, kc_arena *arena, kc_diag *diag,
                     kc_images *out) {
    static bool installed;
    if (!installed) LLVMInstallFatalErrorHandler(fatal);
    installed = true;
    *out = (kc_images){0};
    const kc_backend *backend = find_backend(target);
    backend->initialize();
    LLVMTargetMachineRef machine = create_machine(backend, target, tile, arena, diag);
    if (!machine) return false;
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, diagnose, diag);
    kc_build_job job = {target, options, arena, diag, NULL, machine, out};
    job.module = LLVMModuleCreateWithNameInContext(tile->name ? tile->name : "kc", context);
    bool ok = run(backend, &job, tile);
    LLVMDisposeModule(job.module);
    LLVMContextDispose(context);
    LLVMDisposeTargetMachine(machine);
    return ok;
}

const char *kc_build_llvm_version(void) {
    static char text[32];
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, patch);
    return text;
}
