// hip: LLVM's AMDGPU, then lld in this process.
#include "targets/backend.h"
#include "targets/common/process.h"
#include "targets/hip/lld_shim.h"
#include "targets/hip/metadata.h"
#include "targets/kinds.h"
#include <errno.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTarget(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUAsmPrinter(void);
void LLVMInitializeAMDGPUAsmParser(void);

static void initialize(void) {
    static bool done;
    if (done) return;
    done = true;
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser(); // for inline assembly
}

static const char *features(kc_arena *arena, const kc_target *target, const kc_module *tile) {
    (void)tile;
    (void)arena, (void)target;
    return ""; // the processor's own; xnack and sramecc stay "any"
}

static bool fail(kc_build_job *job, const char *what, const char *said) {
    kc_report(job->diag, KC_ERROR, (kc_loc){0, 0}, "%s: %s", what, said);
    return false;
}

// lld writes through a named temporary file, which a kill would leave behind; only its standard
// output needs no name. So for the time of the link descriptor 1 is a memory file.
static int link_to(int output, const char *input, char **said) {
    const char *argv[] = {"ld.lld", "-shared", "--no-undefined", "--threads=1", "-o", "-", input};
    fflush(stdout);
    int saved = dup(1);
    if (saved < 0 || dup2(output, 1) < 0) {
        close(saved);
        return -1;
    }
    int status = kc_lld_link(sizeof argv / sizeof *argv, argv, said);
    dup2(saved, 1);
    close(saved);
    return status;
}

static bool link_object(kc_build_job *job, LLVMMemoryBufferRef object, int output) {
    int input = kc_process_memory_file(LLVMGetBufferStart(object), LLVMGetBufferSize(object));
    if (input < 0) return fail(job, "cannot hold the object for the linker", strerror(errno));
    char path[40], *said = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", input);
    int status = link_to(output, path, &said);
    close(input);
    if (status)
        fail(job, "linking the code object failed", said ? said : "the linker said nothing");
    free(said);
    return status == 0;
}

static bool add_object(kc_build_job *job, LLVMMemoryBufferRef object) {
    int output = kc_process_memory_file("", 0);
    if (output < 0) return fail(job, "cannot hold the code object", strerror(errno));
    size_t size = 0;
    bool ok = link_object(job, object, output);
    const char *data = ok ? kc_process_read_file(job->arena, output, &size) : NULL;
    close(output);
    if (!data) return ok ? fail(job, "cannot read the code object back", strerror(errno)) : false;
    int n = kc_metadata_read(job->arena, data, size, &job->out->kernels);
    if (n < 0) kc_bug("the code object of %s has no readable metadata", job->target->arch->name);
    job->out->n_kernels = n;
    kc_build_add_image(job, "hsaco", data, size);
    return true;
}

static bool finish(kc_build_job *job) {
    bool wants_object = job->options->want & KC_BUILD_OBJECT;
    if ((job->options->want & KC_BUILD_ASSEMBLY) &&
        !kc_build_emit_image(job, LLVMAssemblyFile, wants_object, "asm"))
        return false;
    if (!wants_object) return true;
    LLVMMemoryBufferRef object = kc_build_emit(job, LLVMObjectFile, false);
    if (!object) return false;
    bool ok = add_object(job, object);
    LLVMDisposeMemoryBuffer(object);
    return ok;
}

const kc_backend kc_backend_hip = {
    .kind = &kc_target_hip,
    .initialize = initialize,
    .features = features,
    // amdgpu-attributor must come last: without it every kernel carries hidden arguments.
    .passes = "always-inline,globaldce,function(early-cse,simplifycfg,loop-mssa(licm),gvn,"
              "instcombine<no-verify-fixpoint>,adce),amdgpu-attributor",
    .hooks = &kc_emit_hooks_hip,
    .finish = finish,
};
