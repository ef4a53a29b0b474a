// Casts as the language defines them: float to integer truncates and saturates, NaN gives 0;
// integers wrap; to bool is x != 0; every rounding is one rounding, to nearest even. Floats of 8
// and 4 bits go through f32: from it rounding is right if what came before lost nothing or rounded to
// odd.
#include "targets/common/emit.h"

static LLVMValueRef narrow(kc_emit *e, LLVMValueRef x, kc_dtype to) {
    return LLVMBuildFPTrunc(e->builder, x, kc_emit_type(e, to), "");
}

static LLVMValueRef widen(kc_emit *e, LLVMValueRef x, kc_dtype to) {
    return LLVMBuildFPExt(e->builder, x, kc_emit_type(e, to), "");
}

// f64 to f32, rounded to odd: a later rounding to a shorter type is then as if it were the only
// one. Where the conversion was inexact the result is the neighbour whose last bit is 1.
static LLVMValueRef to_odd_f32(kc_emit *e, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef near = LLVMBuildFPTrunc(b, x, e->f32, "");
    LLVMValueRef back = LLVMBuildFPExt(b, near, e->f64, "");
    LLVMValueRef bits = LLVMBuildBitCast(b, near, e->i32, "");
    LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, back, x, ""); // false for NaN
    LLVMValueRef abs_back = kc_emit_intrinsic(e, "llvm.fabs", 1, &e->f64, 1, &back);
    LLVMValueRef abs_x = kc_emit_intrinsic(e, "llvm.fabs", 1, &e->f64, 1, &x);
    LLVMValueRef away = LLVMBuildFCmp(b, LLVMRealOGT, abs_back, abs_x, "");
    LLVMValueRef toward = LLVMBuildSub(b, bits, LLVMBuildZExt(b, away, e->i32, ""), "");
    LLVMValueRef odd = LLVMBuildOr(b, toward, kc_emit_i32(e, 1), "");
    return LLVMBuildBitCast(b, LLVMBuildSelect(b, inexact, odd, bits, ""), e->f32, "");
}

static LLVMValueRef float_to_float(kc_emit *e, kc_dtype from, kc_dtype to, LLVMValueRef x) {
    int from_bits = kc_dtype_table[from].bits, to_bits = kc_dtype_table[to].bits;
    if (from_bits < to_bits) return widen(e, x, to);
    if (from_bits == to_bits) return narrow(e, widen(e, x, KC_f32), to); // f16 and bf16
    if (from == KC_f64 && to_bits == 16) return narrow(e, to_odd_f32(e, x), to);
    return narrow(e, x, to);
}

static LLVMValueRef clamp_i4(kc_emit *e, LLVMValueRef x) {
    LLVMValueRef low[] = {x, LLVMConstInt(e->i8, (uint64_t)-8, true)};
    LLVMValueRef high[] = {kc_emit_intrinsic(e, "llvm.smax", 1, &e->i8, 2, low),
                           LLVMConstInt(e->i8, 7, false)};
    return kc_emit_intrinsic(e, "llvm.smin", 1, &e->i8, 2, high);
}

static LLVMValueRef float_to_int(kc_emit *e, kc_dtype from, kc_dtype to, LLVMValueRef x) {
    if (kc_dtype_table[from].bits == 16) x = widen(e, x, KC_f32);
    LLVMTypeRef types[] = {kc_emit_type(e, to), LLVMTypeOf(x)};
    bool is_unsigned = kc_dtype_table[to].class == KC_CLASS_UINT;
    x = kc_emit_intrinsic(e, is_unsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat", 2, types, 1, &x);
    return to == KC_i4 ? clamp_i4(e, x) : x;
}

static LLVMValueRef plain_int_to_float(kc_emit *e, kc_dtype from, LLVMTypeRef to, LLVMValueRef x) {
    bool is_signed = kc_dtype_table[from].class == KC_CLASS_INT;
    return is_signed ? LLVMBuildSIToFP(e->builder, x, to, "")
                     : LLVMBuildUIToFP(e->builder, x, to, "");
}

// i64 to f32 with round to odd: the leading 24 bits, the last of them ORed with all that were cut
// off, scaled back.
static LLVMValueRef i64_to_odd_f32(kc_emit *e, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef flags[] = {x, LLVMConstInt(e->i1, 0, false)};
    LLVMValueRef size =
        kc_emit_intrinsic(e, "llvm.abs", 1, &e->i64, 2, flags); // unsigned from here
    LLVMValueRef count[] = {size, LLVMConstInt(e->i1, 0, false)};
    LLVMValueRef zeros = kc_emit_intrinsic(e, "llvm.ctlz", 1, &e->i64, 2, count);
    LLVMValueRef shift =
        LLVMBuildAnd(b, zeros, kc_emit_i64(e, 63), ""); // 64 only for 0, where any will do
    LLVMValueRef full = LLVMBuildShl(b, size, shift, "");
    LLVMValueRef rest = LLVMBuildAnd(b, full, kc_emit_i64(e, (1LL << 40) - 1), "");
    LLVMValueRef sticky = LLVMBuildICmp(b, LLVMIntNE, rest, kc_emit_i64(e, 0), "");
    LLVMValueRef top =
        LLVMBuildTrunc(b, LLVMBuildLShr(b, full, kc_emit_i64(e, 40), ""), e->i32, "");
    top = LLVMBuildOr(b, top, LLVMBuildZExt(b, sticky, e->i32, ""), "");
    LLVMValueRef value = LLVMBuildUIToFP(b, top, e->f32, ""); // exact
    LLVMValueRef exponent =
        LLVMBuildSub(b, kc_emit_i32(e, 127 + 40), LLVMBuildTrunc(b, shift, e->i32, ""), "");
    LLVMValueRef power =
        LLVMBuildBitCast(b, LLVMBuildShl(b, exponent, kc_emit_i32(e, 23), ""), e->f32, "");
    value = LLVMBuildFMul(b, value, power, "");
    LLVMValueRef negative = LLVMBuildICmp(b, LLVMIntSLT, x, kc_emit_i64(e, 0), "");
    return LLVMBuildSelect(b, negative, LLVMBuildFNeg(b, value, ""), value, "");
}

static LLVMValueRef int_to_float(kc_emit *e, kc_dtype from, kc_dtype to, LLVMValueRef x) {
    if (kc_dtype_table[to].bits >= 32) return plain_int_to_float(e, from, kc_emit_type(e, to), x);
    int bits = kc_dtype_table[from].bits;
    if (to == KC_bf16 && bits == 64) return narrow(e, i64_to_odd_f32(e, x), to);
    if (to == KC_bf16 && bits == 32)
        return narrow(e, to_odd_f32(e, plain_int_to_float(e, from, e->f64, x)), to);
    // Up to 2^24 f32 is exact, and beyond 2^16 f16 is infinity whatever the first rounding did.
    return narrow(e, plain_int_to_float(e, from, e->f32, x), to);
}

static LLVMValueRef to_bool(kc_emit *e, kc_dtype from, LLVMValueRef x) {
    if (!kc_dtype_is_float(from))
        return LLVMBuildICmp(e->builder, LLVMIntNE, x, kc_emit_int(e, from, 0), "");
    if (kc_dtype_table[from].bits == 16) x = widen(e, x, KC_f32);
    return LLVMBuildFCmp(e->builder, LLVMRealUNE, x, LLVMConstReal(LLVMTypeOf(x), 0),
                         ""); // NaN is true
}

// Integers up to 2^24 are exact in f32; past that all formats saturate but e8m0.
static LLVMValueRef to_small(kc_emit *e, kc_dtype from, kc_dtype to, LLVMValueRef x) {
    int bits = kc_dtype_table[from].bits;
    if (!kc_dtype_is_float(from)) {
        if (to == KC_f8e8m0 && bits == 64) x = i64_to_odd_f32(e, x);
        else if (to == KC_f8e8m0 && bits == 32)
            x = to_odd_f32(e, plain_int_to_float(e, from, e->f64, x));
        else x = plain_int_to_float(e, from, e->f32, x);
    } else if (from == KC_f64) {
        x = to_odd_f32(e, x);
    } else if (bits == 16) {
        x = widen(e, x, KC_f32);
    }
    return kc_emit_encode(e, to, x);
}

LLVMValueRef kc_emit_cast_element(kc_emit *e, kc_dtype from, kc_dtype to, LLVMValueRef x) {
    if (from == to) return x;
    if (kc_emit_is_small(from))
        return kc_emit_cast_element(e, KC_f32, to, kc_emit_decode(e, from, x));
    if (kc_emit_is_small(to)) return to_small(e, from, to, x);
    if (to == KC_bool) return to_bool(e, from, x);
    bool from_float = kc_dtype_is_float(from), to_float = kc_dtype_is_float(to);
    if (from_float && to_float) return float_to_float(e, from, to, x);
    if (from_float) return float_to_int(e, from, to, x);
    if (to_float) return int_to_float(e, from, to, x);
    x = kc_emit_convert_int(e, x, kc_emit_type(e, to), kc_dtype_table[from].class == KC_CLASS_INT);
    return kc_emit_wrap(e, to, x);
}
