// cuda: LLVM's NVPTX and ptxas.
#include "targets/backend.h"
#include "targets/cuda/ptxas.h"
#include "targets/kinds.h"
#include "targets/mma.h"
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>

void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);

// Strength reduction of straight lines takes a quarter of the code generator's time and makes kernels no shorter: addresses
// are emitted as bases and constant offsets.
static const char *const llvm_options[] = {"kc", "-opt-disable=slsr"};

static void initialize(void) {
    static bool done;
    if (done) return;
    done = true;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMParseCommandLineOptions(sizeof llvm_options / sizeof *llvm_options, llvm_options, NULL);
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

// The least PTX version that has all instructions of these ops.
static int version_of(const kc_target *target, const kc_block *block) {
    int version = 0;
    KC_FOR_OPS(op, block) {
        const char *name = kc_attr_string(op, KC_ATTR_INSTRUCTION, NULL);
        const kc_mma *row = name ? kc_mma_named(target, name) : NULL;
        if (row) version = larger(version, row->ptx_version);
        if (op->body) version = larger(version, version_of(target, op->body));
    }
    return version;
}

// What few modules use asks for no later driver than they need.
static const char *features(kc_arena *arena, const kc_target *target, const kc_module *tile) {
    int version = larger((int)target->attributes.ptx_version, version_of(target, tile->body));
    return kc_arena_printf(arena, "+ptx%d", version);
}

// ---- PTX, then ptxas ------------------------------------------------------------------------

typedef struct {
    LLVMMemoryBufferRef ptx;
    const char *cubin;
    size_t cubin_size;
    kc_kernel_resources *kernels;
    int n_kernels;
} assembled;

static const char *find_ptxas(kc_build_job *job) {
    const char *ptxas = job->options->ptxas;
    if (!ptxas) ptxas = kc_build_find_ptxas(job->arena);
    if (ptxas && *ptxas) return ptxas;
    kc_report(job->diag, KC_ERROR, (kc_loc){0, 0},
              "a cubin needs ptxas, and there is none in KC_PTXAS, PATH or /usr/local/cuda/bin; "
              "install the CUDA "
              "toolkit's assembler, or build PTX alone with --images ptx");
    return NULL;
}

static bool assemble(kc_build_job *job, const char *ptxas, kc_diag *diag, assembled *out) {
    double seconds = job->options->assembler_seconds > 0 ? job->options->assembler_seconds : 120;
    out->ptx = kc_build_emit(job, LLVMAssemblyFile, true);
    return out->ptx &&
           kc_ptxas_assemble(job->arena, diag, ptxas, seconds, job->target->arch->name,
                             LLVMGetBufferStart(out->ptx), LLVMGetBufferSize(out->ptx), &out->cubin,
                             &out->cubin_size, &out->kernels, &out->n_kernels);
}

static int64_t spills_of(const assembled *a) {
    int64_t sum = 0;
    for (int i = 0; i < a->n_kernels; i++)
        sum += a->kernels[i].spills > 0 ? a->kernels[i].spills : 0;
    return sum;
}

// ptxas sometimes spills only to let more blocks reside: say that one is enough.
static void want_one_block(kc_build_job *job, const assembled *a) {
    for (int i = 0; i < a->n_kernels; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(job->module, a->kernels[i].kernel);
        if (a->kernels[i].spills <= 0 || !function) continue;
        LLVMAttributeRef one = LLVMCreateStringAttribute(LLVMGetModuleContext(job->module),
                                                         "nvvm.minctasm", 13, "1", 1);
        LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, one);
    }
}

static void retry_without_spills(kc_build_job *job, const char *ptxas, assembled *first) {
    kc_diag *quiet = kc_diag_create(job->arena, "", NULL, 0);
    assembled second = {0};
    want_one_block(job, first);
    bool better = assemble(job, ptxas, quiet, &second) && spills_of(&second) < spills_of(first);
    if (better) LLVMDisposeMemoryBuffer(first->ptx);
    else if (second.ptx) LLVMDisposeMemoryBuffer(second.ptx);
    if (better) *first = second;
}

static bool finish_object(kc_build_job *job) {
    assembled a = {0};
    const char *ptxas = find_ptxas(job);
    bool ok = ptxas && assemble(job, ptxas, job->diag, &a);
    if (ok && spills_of(&a)) retry_without_spills(job, ptxas, &a);
    if (ok) {
        if (job->options->want & KC_BUILD_ASSEMBLY) // the very text that the cubin was made from
            kc_build_add_image(job, "ptx", LLVMGetBufferStart(a.ptx), LLVMGetBufferSize(a.ptx));
        kc_build_add_image(job, "cubin", a.cubin, a.cubin_size);
        job->out->kernels = a.kernels;
        job->out->n_kernels = a.n_kernels;
    }
    if (a.ptx) LLVMDisposeMemoryBuffer(a.ptx);
    return ok;
}

static bool finish(kc_build_job *job) {
    if (job->options->want & KC_BUILD_OBJECT) return finish_object(job);
    return !(job->options->want & KC_BUILD_ASSEMBLY) ||
           kc_build_emit_image(job, LLVMAssemblyFile, false, "ptx");
}

const kc_backend kc_backend_cuda = {
    .kind = &kc_target_cuda,
    .initialize = initialize,
    .features = features,
    // A short list costs a tenth of -O3 and gives the same registers: there is no memory to
    // promote, and loops are the ones we want.
    .passes = "always-inline,globaldce,function(early-cse,simplifycfg,loop-mssa(licm),"
              "early-cse<memssa>,instcombine<no-verify-fixpoint>,adce)",
    .hooks = &kc_emit_hooks_cuda,
    .finish = finish,
};
