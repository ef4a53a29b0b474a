// Types, constants, calls: the small pieces that every emitter uses.
#include "targets/common/emit.h"
#include <string.h>

LLVMTypeRef kc_emit_type(const kc_emit *e, kc_dtype dtype) {
    switch (dtype) {
    case KC_f64: return e->f64;
    case KC_f32: return e->f32;
    case KC_f16: return e->f16;
    case KC_bf16: return e->bf16;
    case KC_bool: return e->i1;
    default: return kc_emit_memory_type(e, dtype);
    }
}

LLVMTypeRef kc_emit_memory_type(const kc_emit *e, kc_dtype dtype) {
    switch (kc_dtype_unit(dtype)) {
    case 8: return e->i64;
    case 4: return e->i32;
    case 2: return e->i16;
    default: return e->i8;
    }
}

static LLVMValueRef code_of(const kc_emit *e, kc_dtype dtype, double value) {
    uint8_t code = 0;
    kc_dtype_put(dtype, &code, 0, value);
    return LLVMConstInt(kc_emit_type(e, dtype), code, false);
}

LLVMValueRef kc_emit_constant(const kc_emit *e, kc_dtype dtype, double value) {
    LLVMTypeRef type = kc_emit_type(e, dtype);
    if (kc_emit_is_small(dtype)) return code_of(e, dtype, value);
    if (kc_dtype_is_float(dtype)) return LLVMConstReal(type, value);
    if (dtype == KC_bool) return LLVMConstInt(type, value != 0, false);
    return LLVMConstInt(type, (uint64_t)kc_dtype_saturate(KC_i64, value), true);
}

LLVMValueRef kc_emit_int(const kc_emit *e, kc_dtype dtype, int64_t value) {
    LLVMTypeRef type = kc_emit_type(e, dtype);
    if (kc_dtype_is_float(dtype)) return kc_emit_constant(e, dtype, (double)value);
    return LLVMConstInt(type, dtype == KC_bool ? value != 0 : (uint64_t)value, true);
}

LLVMValueRef kc_emit_i32(const kc_emit *e, int64_t value) {
    return LLVMConstInt(e->i32, (uint64_t)value, true);
}

LLVMValueRef kc_emit_i64(const kc_emit *e, int64_t value) {
    return LLVMConstInt(e->i64, (uint64_t)value, true);
}

LLVMValueRef kc_emit_to_memory(kc_emit *e, kc_dtype dtype, LLVMValueRef value) {
    if (dtype == KC_bool) return LLVMBuildZExt(e->builder, value, e->i8, "");
    if (!kc_dtype_is_float(dtype) || kc_emit_is_small(dtype)) return value;
    return LLVMBuildBitCast(e->builder, value, kc_emit_memory_type(e, dtype), "");
}

LLVMValueRef kc_emit_from_memory(kc_emit *e, kc_dtype dtype, LLVMValueRef value) {
    if (dtype == KC_bool)
        return LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstInt(e->i8, 0, false), "");
    if (!kc_dtype_is_float(dtype) || kc_emit_is_small(dtype)) return value;
    return LLVMBuildBitCast(e->builder, value, kc_emit_type(e, dtype), "");
}

LLVMValueRef kc_emit_convert_int(kc_emit *e, LLVMValueRef value, LLVMTypeRef to, bool is_signed) {
    unsigned from = LLVMGetIntTypeWidth(LLVMTypeOf(value)), width = LLVMGetIntTypeWidth(to);
    if (from == width) return value;
    if (from > width) return LLVMBuildTrunc(e->builder, value, to, "");
    return is_signed ? LLVMBuildSExt(e->builder, value, to, "")
                     : LLVMBuildZExt(e->builder, value, to, "");
}

LLVMValueRef kc_emit_wrap(kc_emit *e, kc_dtype dtype, LLVMValueRef value) {
    if (dtype != KC_i4) return value;
    LLVMValueRef four = LLVMConstInt(e->i8, 4, false);
    return LLVMBuildAShr(e->builder, LLVMBuildShl(e->builder, value, four, ""), four, "");
}

// ---- calls ----------------------------------------------------------------------------------

enum { MAX_ARGS = 24 };

static LLVMTypeRef function_type(LLVMTypeRef result, int n, LLVMValueRef *args) {
    LLVMTypeRef types[MAX_ARGS];
    if (n > MAX_ARGS) kc_bug("call with %d arguments", n);
    for (int i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    return LLVMFunctionType(result, types, (unsigned)n, false);
}

LLVMValueRef kc_emit_call(kc_emit *e, const char *name, LLVMTypeRef result, int n,
                          LLVMValueRef *args) {
    LLVMTypeRef type = function_type(result, n, args);
    LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
    if (!function) function = LLVMAddFunction(e->module, name, type);
    return LLVMBuildCall2(e->builder, type, function, args, (unsigned)n, "");
}

// Looking an intrinsic up builds its mangled name: what was asked for before is kept. Names are
// literals, so pointers compare.
static kc_emit_function *look_up(kc_emit *e, const char *name, int n_types, LLVMTypeRef *types) {
    LLVMTypeRef first = n_types ? types[0] : NULL, second = n_types > 1 ? types[1] : NULL;
    int known = sizeof e->functions / sizeof *e->functions, i;
    for (i = 0; i < known && e->functions[i].name; i++)
        if (e->functions[i].name == name && e->functions[i].first == first &&
            e->functions[i].second == second)
            return &e->functions[i];
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (!id) kc_bug("LLVM has no intrinsic %s", name);
    kc_emit_function *f = &e->functions[i < known ? i : known - 1];
    *f = (kc_emit_function){name, first, second,
                            LLVMGetIntrinsicDeclaration(e->module, id, types, (size_t)n_types),
                            LLVMIntrinsicGetType(e->context, id, types, (size_t)n_types)};
    return f;
}

LLVMValueRef kc_emit_intrinsic(kc_emit *e, const char *name, int n_types, LLVMTypeRef *types, int n,
                               LLVMValueRef *args) {
    const kc_emit_function *f = look_up(e, name, n_types, types);
    return LLVMBuildCall2(e->builder, f->type, f->function, args, (unsigned)n, "");
}

LLVMValueRef kc_emit_assembly(kc_emit *e, bool effects, LLVMTypeRef result, const char *text,
                              const char *constraints, int n, LLVMValueRef *args) {
    LLVMTypeRef type = function_type(result, n, args);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                         effects, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, code, args, (unsigned)n, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->context, kind, 0));
    return call;
}

void kc_emit_attribute(kc_emit *e, LLVMValueRef function, unsigned index, const char *name,
                       uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind) kc_bug("LLVM has no attribute %s", name);
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(e->context, kind, value));
}

void kc_emit_text_attribute(kc_emit *e, LLVMValueRef function, const char *name,
                            const char *value) {
    LLVMAttributeRef a = LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}
