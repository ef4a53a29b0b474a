// cuda: LLVM's NVPTX and ptxas.
#include "targets/backend.h"
#include "targets/cuda/ptxas.h"
#include "targets/kinds.h"
#include <llvm-c/Core.h>

void LLVMInitializeNVPTXTargetInfo(void);
void LLVMInitializeNVPTXTarget(void);
void LLVMInitializeNVPTXTargetMC(void);
void LLVMInitializeNVPTXAsmPrinter(void);

static void initialize(void) {
    static bool done;
    if (done) return;
    done = true;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
}

static const char *features(kc_arena *arena, const kc_target *target) {
    return kc_arena_printf(arena, "+ptx%d", (int)target->attributes.ptx_version);
}

static bool add_cubin(kc_build_job *job, const char *ptx, size_t size) {
    const char *ptxas = job->options->ptxas;
    if (!ptxas) ptxas = kc_build_find_ptxas(job->arena);
    if (!ptxas || !*ptxas) {
        kc_report(job->diag, KC_ERROR, (kc_loc){0, 0},
                  "a cubin needs ptxas, and there is none in KC_PTXAS, PATH or /usr/local/cuda/bin; "
                  "install the CUDA toolkit's assembler, or build PTX alone with --images ptx");
        return false;
    }
    double seconds = job->options->assembler_seconds > 0 ? job->options->assembler_seconds : 120;
    const char *cubin = NULL;
    size_t cubin_size = 0;
    if (!kc_ptxas_assemble(job->arena, job->diag, ptxas, seconds, job->target->arch->name, ptx, size,
                           &cubin, &cubin_size, &job->out->kernels, &job->out->n_kernels))
        return false;
    kc_build_add_image(job, "cubin", cubin, cubin_size);
    return true;
}

static bool finish(kc_build_job *job) {
    if (!(job->options->want & (KC_BUILD_ASSEMBLY | KC_BUILD_OBJECT))) return true;
    LLVMMemoryBufferRef ptx = kc_build_emit(job, LLVMAssemblyFile);
    if (!ptx) return false;
    const char *text = LLVMGetBufferStart(ptx);
    size_t size = LLVMGetBufferSize(ptx);
    if (job->options->want & KC_BUILD_ASSEMBLY) kc_build_add_image(job, "ptx", text, size);
    bool ok = !(job->options->want & KC_BUILD_OBJECT) || add_cubin(job, text, size);
    LLVMDisposeMemoryBuffer(ptx);
    return ok;
}

const kc_backend kc_backend_cuda = {
    .kind = &kc_target_cuda,
    .initialize = initialize,
    .features = features,
    // A short list costs a seventh of -O3 and gives the same registers: loops are already the ones we want.
    .passes = "always-inline,globaldce,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
              "instcombine<no-verify-fixpoint>,adce,simplifycfg)",
    .hooks = &kc_emit_hooks_cuda,
    .finish = finish,
};
