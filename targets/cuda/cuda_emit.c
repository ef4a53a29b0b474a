// What LLVM IR for PTX needs that is NVIDIA's own.
#include "targets/common/emit.h"
#include "targets/cuda/cuda_mma.h"

static void kernel(kc_emit *e, LLVMValueRef function, int threads) {
    enum { PTX_KERNEL = 71 };
    LLVMSetFunctionCallConv(function, PTX_KERNEL);
    kc_emit_text_attribute(e, function, "nvvm.reqntid", kc_arena_printf(e->arena, "%d", threads));
}

static LLVMValueRef thread_id(kc_emit *e) {
    return kc_emit_intrinsic(e, "llvm.nvvm.read.ptx.sreg.tid.x", 0, NULL, 0, NULL);
}

static LLVMValueRef program_id(kc_emit *e) {
    return kc_emit_intrinsic(e, "llvm.nvvm.read.ptx.sreg.ctaid.x", 0, NULL, 0, NULL);
}

static void barrier(kc_emit *e) {
    LLVMValueRef all = kc_emit_i32(e, 0);
    kc_emit_intrinsic(e, "llvm.nvvm.barrier.cta.sync.aligned.all", 0, NULL, 1, &all);
}

static LLVMValueRef shuffle_xor(kc_emit *e, LLVMValueRef value, int mask) {
    LLVMValueRef args[] = {kc_emit_i32(e, -1), value, kc_emit_i32(e, mask), kc_emit_i32(e, 31)};
    return kc_emit_intrinsic(e, "llvm.nvvm.shfl.sync.bfly.i32", 0, NULL, 4, args);
}

static LLVMValueRef shuffle_index(kc_emit *e, LLVMValueRef value, LLVMValueRef source) {
    LLVMValueRef args[] = {kc_emit_i32(e, -1), value, source, kc_emit_i32(e, 31)};
    return kc_emit_intrinsic(e, "llvm.nvvm.shfl.sync.idx.i32", 0, NULL, 4, args);
}

// ---- predicated access: one instruction, no branch ------------------------------------------

typedef struct {
    LLVMTypeRef word;   // of a register
    const char *suffix; // .v4.b32
    char constraint;
    int n; // registers
} shape;

static shape shape_of(kc_emit *e, LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
    int n = vector ? (int)LLVMGetVectorSize(type) : 1;
    if (element == e->i64) return (shape){element, n == 2 ? ".v2.b64" : ".b64", 'l', n};
    if (element == e->i32)
        return (shape){element, n == 4 ? ".v4.b32" : n == 2 ? ".v2.b32" : ".b32", 'r', n};
    return (shape){e->i16, element == e->i16 ? ".b16" : ".b8", 'h', 1};
}

static LLVMValueRef word_of(kc_emit *e, const shape *s, LLVMValueRef value, int i) {
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind)
        return LLVMBuildExtractElement(e->builder, value, kc_emit_i32(e, i), "");
    return kc_emit_convert_int(e, value, s->word, false);
}

// "{$0, $1}" or "$0", counting from `first`.
static const char *operands(kc_emit *e, int first, int n) {
    if (n == 1) return kc_arena_printf(e->arena, "$%d", first);
    const char *text = kc_arena_printf(e->arena, "{$%d", first);
    for (int i = 1; i < n; i++)
        text = kc_arena_printf(e->arena, "%s, $%d", text, first + i);
    return kc_arena_printf(e->arena, "%s}", text);
}

static LLVMValueRef assemble(kc_emit *e, const shape *s, LLVMValueRef call, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return kc_emit_convert_int(e, call, type, false);
    LLVMValueRef result = LLVMGetPoison(type);
    for (int i = 0; i < s->n; i++) {
        LLVMValueRef word = LLVMBuildExtractValue(e->builder, call, (unsigned)i, "");
        result = LLVMBuildInsertElement(e->builder, result, word, kc_emit_i32(e, i), "");
    }
    return result;
}

// The outputs start as `otherwise`: tied operands.
static LLVMValueRef load_masked(kc_emit *e, LLVMValueRef pointer, LLVMValueRef mask,
                                LLVMValueRef otherwise, bool read_only) {
    LLVMTypeRef type = LLVMTypeOf(otherwise), words[4];
    shape s = shape_of(e, type);
    LLVMValueRef args[6];
    const char *outputs = "", *tied = "";
    for (int i = 0; i < s.n; i++) {
        words[i] = s.word;
        args[i] = word_of(e, &s, otherwise, i);
        outputs = kc_arena_printf(e->arena, "%s%s=%c", outputs, i ? "," : "", s.constraint);
        tied = kc_arena_printf(e->arena, "%s,%d", tied, i);
    }
    args[s.n] = mask;
    args[s.n + 1] = pointer;
    const char *text =
        kc_arena_printf(e->arena, "@$%d ld.global%s%s %s, [$%d];", 2 * s.n, read_only ? ".nc" : "",
                        s.suffix, operands(e, 0, s.n), 2 * s.n + 1);
    const char *constraints =
        kc_arena_printf(e->arena, "%s%s,b,l%s", outputs, tied, read_only ? "" : ",~{memory}");
    LLVMTypeRef result =
        s.n == 1 ? s.word : LLVMStructTypeInContext(e->context, words, (unsigned)s.n, false);
    return assemble(e, &s, kc_emit_assembly(e, true, result, text, constraints, s.n + 2, args),
                    type);
}

static void store_masked(kc_emit *e, LLVMValueRef pointer, LLVMValueRef mask, LLVMValueRef value) {
    shape s = shape_of(e, LLVMTypeOf(value));
    LLVMValueRef args[6] = {mask, pointer};
    const char *constraints = "b,l";
    for (int i = 0; i < s.n; i++) {
        args[2 + i] = word_of(e, &s, value, i);
        constraints = kc_arena_printf(e->arena, "%s,%c", constraints, s.constraint);
    }
    const char *text =
        kc_arena_printf(e->arena, "@$0 st.global%s [$1], %s;", s.suffix, operands(e, 2, s.n));
    kc_emit_assembly(e, true, LLVMVoidTypeInContext(e->context), text,
                     kc_arena_printf(e->arena, "%s,~{memory}", constraints), 2 + s.n, args);
}

// ---- copies to shared memory that bypass registers ------------------------------------------

// 16 bytes stay out of the first cache. Of the bytes copied, those beyond the size given are zeros.
static void async_copy(kc_emit *e, LLVMValueRef shared, LLVMValueRef global, int bytes,
                       LLVMValueRef mask) {
    static const char *const names[3][2] = {
        {"llvm.nvvm.cp.async.ca.shared.global.4", "llvm.nvvm.cp.async.ca.shared.global.4.s"},
        {"llvm.nvvm.cp.async.ca.shared.global.8", "llvm.nvvm.cp.async.ca.shared.global.8.s"},
        {"llvm.nvvm.cp.async.cg.shared.global.16", "llvm.nvvm.cp.async.cg.shared.global.16.s"},
    };
    LLVMValueRef args[3] = {shared, global};
    const char *name = names[bytes / 8][mask != NULL];
    if (mask)
        args[2] = LLVMBuildSelect(e->builder, mask, kc_emit_i32(e, bytes), kc_emit_i32(e, 0), "");
    kc_emit_intrinsic(e, name, 0, NULL, mask ? 3 : 2, args);
}

static void async_commit(kc_emit *e) {
    kc_emit_intrinsic(e, "llvm.nvvm.cp.async.commit.group", 0, NULL, 0, NULL);
}

static void async_wait(kc_emit *e, int pending) {
    LLVMValueRef groups = kc_emit_i32(e, pending);
    kc_emit_intrinsic(e, "llvm.nvvm.cp.async.wait.group", 0, NULL, 1, &groups);
}

// ---- conversions of f8 ----------------------------------------------------------------------

// They are PTX text rather than LLVM's intrinsics, which ask for a later version than PTX does.
static bool has_f8(const kc_emit *e) {
    const kc_target_attributes *a = &e->target->attributes;
    return a->ptx_version_f8 && a->ptx_version >= a->ptx_version_f8;
}

// The instructions take pairs: the upper one is 0 here.
static LLVMValueRef encode(kc_emit *e, kc_dtype t, LLVMValueRef value) {
    if (!has_f8(e) || (t != KC_f8e4m3 && t != KC_f8e5m2)) return NULL;
    const char *text = t == KC_f8e4m3 ? "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;"
                                      : "cvt.rn.satfinite.e5m2x2.f32 $0, $1, $2;";
    LLVMValueRef args[] = {LLVMConstReal(e->f32, 0), value};
    LLVMValueRef pair = kc_emit_assembly(e, false, e->i16, text, "=h,f,f", 2, args);
    return LLVMBuildTrunc(e->builder, pair, e->i8, "");
}

static LLVMValueRef decode(kc_emit *e, kc_dtype t, LLVMValueRef code) {
    if (!has_f8(e) || t != KC_f8e4m3) return NULL; // f8e5m2 is half an f16
    LLVMBuilderRef b = e->builder;
    LLVMValueRef pair = LLVMBuildZExt(b, code, e->i16, "");
    pair = kc_emit_assembly(e, false, e->i32, "cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h", 1, &pair);
    LLVMValueRef half = LLVMBuildBitCast(b, LLVMBuildTrunc(b, pair, e->i16, ""), e->f16, "");
    return LLVMBuildFPExt(b, half, e->f32, "");
}

const kc_emit_hooks kc_emit_hooks_cuda = {
    .kernel = kernel,
    .thread_id = thread_id,
    .program_id = program_id,
    .barrier = barrier,
    .shuffle_xor = shuffle_xor,
    .shuffle_index = shuffle_index,
    .load_masked = load_masked,
    .store_masked = store_masked,
    .async_copy = async_copy,
    .async_commit = async_commit,
    .async_wait = async_wait,
    .decode = decode,
    .encode = encode,
    .load_matrices = kc_cuda_load_matrices,
    .multiply_matrices = kc_cuda_multiply_matrices,
    .round_tf32 = kc_cuda_round_tf32,
};
