// Floats of 8 and 4 bits. In registers they are their codes, which move, are selected and change
// their sign as they are; for all else they are decoded to f32, where every value is exact. The
// conversions are C, see math/small.c, where the target has no instruction.
#include "targets/common/emit.h"

static LLVMValueRef constant(LLVMValueRef like, int64_t value) {
    return LLVMConstInt(LLVMTypeOf(like), (uint64_t)value, false);
}

bool kc_emit_is_small(kc_dtype t) {
    return kc_dtype_is_float(t) && kc_dtype_table[t].bits < 16;
}

LLVMValueRef kc_emit_decode(kc_emit *e, kc_dtype t, LLVMValueRef code) {
    LLVMValueRef known = e->hooks->decode ? e->hooks->decode(e, t, code) : NULL;
    if (known) return known;
    LLVMValueRef wide = LLVMBuildZExt(e->builder, code, e->i32, "");
    const char *name = kc_arena_printf(e->arena, "kc_math_f32_of_%s", kc_dtype_name(t));
    return kc_emit_call(e, name, e->f32, 1, &wide);
}

LLVMValueRef kc_emit_encode(kc_emit *e, kc_dtype t, LLVMValueRef x) {
    LLVMValueRef known = e->hooks->encode ? e->hooks->encode(e, t, x) : NULL;
    if (known) return known;
    const char *name = kc_arena_printf(e->arena, "kc_math_%s_of_f32", kc_dtype_name(t));
    LLVMValueRef code = kc_emit_call(e, name, e->i32, 1, &x);
    return LLVMBuildTrunc(e->builder, code, kc_emit_type(e, t), "");
}

// ---- ops that keep the type -----------------------------------------------------------------

static int64_t sign_bit(kc_dtype t) {
    return INT64_C(1) << (kc_dtype_table[t].bits - 1);
}

// The formats whose only NaN is where -0 would be.
static bool is_fnuz(kc_dtype t) {
    return t == KC_f8e4m3fnuz || t == KC_f8e5m2fnuz;
}

// Where -0 is NaN neither it nor 0 changes. f8e8m0 has no sign, and no neg.
static LLVMValueRef sign_op(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    if (t == KC_f8e8m0) return x;
    LLVMValueRef size = LLVMBuildAnd(b, x, constant(x, sign_bit(t) - 1), "");
    LLVMValueRef result =
        code == KC_OP_ABS ? size : LLVMBuildXor(b, x, constant(x, sign_bit(t)), "");
    if (!is_fnuz(t)) return result;
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, size, constant(x, 0), "");
    return LLVMBuildSelect(b, none, x, result, "");
}

static LLVMValueRef is_nan(kc_emit *e, LLVMValueRef value) {
    return LLVMBuildFCmp(e->builder, LLVMRealUNO, value, value, "");
}

// One of the two codes: the first NaN, else the lesser or greater value, -0 being less than 0.
static LLVMValueRef min_max(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef x = kc_emit_decode(e, t, args[0]), y = kc_emit_decode(e, t, args[1]);
    bool least = code == KC_OP_MIN;
    LLVMValueRef first = LLVMBuildFCmp(b, least ? LLVMRealOLT : LLVMRealOGT, x, y, "");
    if (t != KC_f8e8m0 && !is_fnuz(t)) { // equal values differ in the sign of zero at most
        LLVMValueRef equal = LLVMBuildFCmp(b, LLVMRealOEQ, x, y, "");
        LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntUGE, least ? args[0] : args[1],
                                              constant(args[0], sign_bit(t)), "");
        first = LLVMBuildOr(b, first, LLVMBuildAnd(b, equal, negative, ""), "");
    }
    first = LLVMBuildOr(b, first, is_nan(e, x), "");
    return LLVMBuildSelect(b, first, args[0], args[1], "");
}

LLVMValueRef kc_emit_small_keeps(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    switch (code) {
    case KC_OP_ABS:
    case KC_OP_NEG: return sign_op(e, code, t, args[0]);
    case KC_OP_MIN:
    case KC_OP_MAX: return min_max(e, code, t, args);
    default: return NULL;
    }
}
