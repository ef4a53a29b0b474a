// What LLVM IR for AMD code objects needs that is AMD's own.
#include "targets/common/emit.h"
#include <string.h>

// Version 5 is what older runtimes load; generic architectures need version 6.
static void module(kc_emit *e) {
    static const char key[] = "amdhsa_code_object_version";
    bool generic = strstr(e->target->arch->name, "generic");
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorError, key, sizeof key - 1,
                      LLVMValueAsMetadata(kc_emit_i32(e, generic ? 600 : 500)));
}

static void kernel(kc_emit *e, LLVMValueRef function, int threads) {
    enum { AMDGPU_KERNEL = 91 };
    LLVMSetFunctionCallConv(function, AMDGPU_KERNEL);
    kc_emit_text_attribute(e, function, "amdgpu-flat-work-group-size",
                           kc_arena_printf(e->arena, "%d,%d", threads, threads));
    kc_emit_text_attribute(e, function, "uniform-work-group-size", "true");
}

static LLVMValueRef thread_id(kc_emit *e) {
    return kc_emit_intrinsic(e, "llvm.amdgcn.workitem.id.x", 0, NULL, 0, NULL);
}

static LLVMValueRef program_id(kc_emit *e) {
    return kc_emit_intrinsic(e, "llvm.amdgcn.workgroup.id.x", 0, NULL, 0, NULL);
}

// Only shared memory is ordered: without the annotation the fences would also wait for global loads
// under way.
static void fence(kc_emit *e, LLVMAtomicOrdering ordering) {
    unsigned scope = LLVMGetSyncScopeID(e->context, "workgroup", 9);
    LLVMValueRef f = LLVMBuildFenceSyncScope(e->builder, ordering, scope, "");
    LLVMMetadataRef pair[] = {LLVMMDStringInContext2(e->context, "amdgpu-synchronize-as", 21),
                              LLVMMDStringInContext2(e->context, "local", 5)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, pair, 2);
    LLVMSetMetadata(f, LLVMGetMDKindIDInContext(e->context, "mmra", 4),
                    LLVMMetadataAsValue(e->context, node));
}

static void barrier(kc_emit *e) {
    fence(e, LLVMAtomicOrderingRelease);
    kc_emit_intrinsic(e, "llvm.amdgcn.s.barrier", 0, NULL, 0, NULL);
    fence(e, LLVMAtomicOrderingAcquire);
}

// ---- shuffles -------------------------------------------------------------------------------

static LLVMValueRef lane_id(kc_emit *e) {
    return LLVMBuildAnd(e->builder, e->thread, kc_emit_i32(e, kc_target_warp_size(e->target) - 1),
                        "");
}

static LLVMValueRef shuffle_index(kc_emit *e, LLVMValueRef value, LLVMValueRef source) {
    LLVMValueRef args[] = {LLVMBuildShl(e->builder, source, kc_emit_i32(e, 2), ""), value};
    return kc_emit_intrinsic(e, "llvm.amdgcn.ds.bpermute", 0, NULL, 2, args);
}

// Neighbours by a data-parallel primitive of the vector unit, others inside 32 lanes by a swizzle
// with an XOR mask.
static LLVMValueRef shuffle_xor(kc_emit *e, LLVMValueRef value, int mask) {
    if (mask >= 32)
        return shuffle_index(e, value,
                             LLVMBuildXor(e->builder, lane_id(e), kc_emit_i32(e, mask), ""));
    if (mask < 4) {
        static const int quad[] = {0xe4, 0xb1, 0x4e, 0x1b}; // quad_perm of lane ^ mask
        LLVMTypeRef type = e->i32;
        LLVMValueRef args[] = {value,
                               value,
                               kc_emit_i32(e, quad[mask]),
                               kc_emit_i32(e, 15),
                               kc_emit_i32(e, 15),
                               LLVMConstInt(e->i1, 1, false)};
        return kc_emit_intrinsic(e, "llvm.amdgcn.update.dpp", 1, &type, 6, args);
    }
    LLVMValueRef args[] = {value, kc_emit_i32(e, mask << 10 | 0x1f)};
    return kc_emit_intrinsic(e, "llvm.amdgcn.ds.swizzle", 0, NULL, 2, args);
}

const kc_emit_hooks kc_emit_hooks_hip = {
    .module = module,
    .kernel = kernel,
    .thread_id = thread_id,
    .program_id = program_id,
    .barrier = barrier,
    .shuffle_xor = shuffle_xor,
    .shuffle_index = shuffle_index,
    .load_masked = kc_emit_load_by_branch,
    .store_masked = kc_emit_store_by_branch,
};
