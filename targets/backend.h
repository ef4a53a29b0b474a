// What a kind of target supplies to code generation. One table each, found by kind in build.c.
#ifndef KC_TARGETS_BACKEND_H
#define KC_TARGETS_BACKEND_H

#include "targets/build.h"
#include "targets/common/emit.h"
#include <llvm-c/TargetMachine.h>

typedef struct {
    const kc_target *target;
    const kc_build_options *options;
    kc_arena *arena;
    kc_diag *diag;
    LLVMModuleRef module; // optimised; may be consumed
    LLVMTargetMachineRef machine;
    kc_images *out;
} kc_build_job;

typedef struct {
    const kc_target_kind *kind;
    void (*initialize)(void); // LLVM's components, once a process
    // For the target machine; the module may ask for more than the target does.
    const char *(*features)(kc_arena *, const kc_target *, const kc_module *tile);
    const char *passes; // for LLVMRunPasses
    const kc_emit_hooks *hooks;
    bool (*finish)(kc_build_job *); // module to assembly and object images
} kc_backend;

extern const kc_backend kc_backend_cuda, kc_backend_hip;

// Helpers for finish.
void kc_build_add_image(kc_build_job *, const char *role, const char *data, size_t size);
// Runs the code generator, which changes the module: on a copy of it where it is to run again. The buffer is the
// caller's; NULL after an error in the sink.
LLVMMemoryBufferRef kc_build_emit(kc_build_job *, LLVMCodeGenFileType, bool again);
// As above into an image.
bool kc_build_emit_image(kc_build_job *, LLVMCodeGenFileType, bool again, const char *role);

#endif
