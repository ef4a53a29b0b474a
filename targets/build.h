// From tile IR with layouts to images: emission, LLVM, assembler or linker. One call, one target,
// one image a role.
//
// Runs in a forked worker: LLVM may end the process on faults of its own. Needs LLVM; target.h does
// not.
#ifndef KC_TARGETS_BUILD_H
#define KC_TARGETS_BUILD_H

#include "ir/ir.h"
#include "targets/target.h"

// What is wanted: any set of these.
enum {
    KC_BUILD_LLVM = 1,     // role "llvm": optimised LLVM IR as text
    KC_BUILD_ASSEMBLY = 2, // role "ptx" on cuda; role "asm" on hip
    KC_BUILD_OBJECT = 4,   // role "cubin" on cuda (needs ptxas), "hsaco" on hip
};

typedef struct {
    int want;
    const char *ptxas; // the assembler; NULL: kc_build_find_ptxas. An empty string: there is none
    double assembler_seconds; // give up after; 0: 120
} kc_build_options;

typedef struct {
    const char *role;
    const char *data; // in the arena; followed by a NUL that `size` does not count
    size_t size;
} kc_image;

// As the assembler or the code object reports them; -1 where it does not.
typedef struct {
    const char *kernel;
    int64_t registers, scalar_registers, spills /* bytes stored and loaded, or registers on hip */,
        stack, shared;
} kc_kernel_resources;

typedef struct {
    kc_image images[3];
    int n_images;
    kc_kernel_resources *kernels; // only when an object was made
    int n_kernels;
} kc_images;

// Every kernel of the module goes into each image. The module must verify at KC_LEVEL_LAYOUT; its
// values' data is used as scratch. Errors go to the sink. The same module, target and tools give
// the same bytes.
bool kc_target_build(const kc_target *, const kc_module *, const kc_build_options *, kc_arena *,
                     kc_diag *, kc_images *out);

// An absolute path or NULL: $KC_PTXAS, then PATH, then /usr/local/cuda/bin. When KC_PTXAS is set
// nothing else is tried.
const char *kc_build_find_ptxas(kc_arena *);
// "13.0.88", or NULL when it does not say.
const char *kc_build_ptxas_version(kc_arena *, const char *ptxas);
const char *kc_build_llvm_version(void);

// What to do when LLVM meets a fatal error: the hook gets the text and must not return (write it to
// the parent, _exit). Without a hook: the text on stderr as an internal error, then _exit(3).
void kc_build_on_fatal(void (*hook)(void *context, const char *text), void *context);

#endif
