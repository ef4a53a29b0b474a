// Elementwise ops: one scalar function an op, applied register by register.
//
// Arithmetic happens in f32, f64 and integers. On shorter floats only abs, neg, min, max, comparisons
// and select exist: they go through f32, where every value is exact, or through bits. a*b+c may
// become one fma (the flag `contract`), nothing else is reassociated.
#include "targets/common/emit.h"

static LLVMValueRef contract(LLVMValueRef value) {
    if (LLVMCanValueUseFastMathFlags(value)) LLVMSetFastMathFlags(value, LLVMFastMathAllowContract);
    return value;
}

static bool is_unsigned(kc_dtype t) {
    return kc_dtype_table[t].class != KC_CLASS_INT; // u8 and bool
}

static bool is_short_float(kc_dtype t) {
    return kc_dtype_is_float(t) && kc_dtype_table[t].bits == 16;
}

// ---- integers -------------------------------------------------------------------------------

// No fault and no undefined behaviour for any operands: division by 0 gives some value, INT_MIN //
// -1 wraps.
LLVMValueRef kc_emit_floordiv_int(kc_emit *e, LLVMValueRef a, LLVMValueRef b, bool is_signed,
                                  bool modulo) {
    LLVMBuilderRef builder = e->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = LLVMConstInt(type, 0, false), one = LLVMConstInt(type, 1, false);
    LLVMValueRef bad = LLVMBuildICmp(builder, LLVMIntEQ, b, zero, "");
    if (!is_signed) {
        LLVMValueRef safe = LLVMBuildSelect(builder, bad, one, b, "");
        return modulo ? LLVMBuildURem(builder, a, safe, "") : LLVMBuildUDiv(builder, a, safe, "");
    }
    LLVMValueRef minus =
        LLVMBuildICmp(builder, LLVMIntEQ, b, LLVMConstInt(type, UINT64_MAX, true), "");
    LLVMValueRef safe = LLVMBuildSelect(builder, LLVMBuildOr(builder, bad, minus, ""), one, b, "");
    LLVMValueRef remainder = LLVMBuildSRem(builder, a, safe, "");
    LLVMValueRef mixed =
        LLVMBuildICmp(builder, LLVMIntSLT, LLVMBuildXor(builder, remainder, safe, ""), zero, "");
    LLVMValueRef inexact = LLVMBuildICmp(builder, LLVMIntNE, remainder, zero, "");
    LLVMValueRef adjust = LLVMBuildAnd(builder, mixed, inexact, "");
    if (modulo) // of -1 and of the stand-in for 0: 0
        return LLVMBuildAdd(builder, remainder, LLVMBuildSelect(builder, adjust, safe, zero, ""),
                            "");
    LLVMValueRef quotient = LLVMBuildSDiv(builder, a, safe, "");
    quotient = LLVMBuildSub(builder, quotient, LLVMBuildZExt(builder, adjust, type, ""), "");
    return LLVMBuildSelect(builder, minus, LLVMBuildNeg(builder, a, ""), quotient, "");
}

static LLVMValueRef pow_int(kc_emit *e, kc_dtype t, LLVMValueRef *args) {
    if (kc_dtype_table[t].bits >= 32) return kc_emit_helper(e, "pow", t, 2, args);
    LLVMValueRef wide[] = {kc_emit_convert_int(e, args[0], e->i32, !is_unsigned(t)),
                           kc_emit_convert_int(e, args[1], e->i32, !is_unsigned(t))};
    return kc_emit_convert_int(e, kc_emit_helper(e, "pow", KC_i32, 2, wide), kc_emit_type(e, t),
                               true);
}

static LLVMIntPredicate int_predicate(kc_opcode code, bool u) {
    switch (code) {
    case KC_OP_EQ: return LLVMIntEQ;
    case KC_OP_NE: return LLVMIntNE;
    case KC_OP_LT: return u ? LLVMIntULT : LLVMIntSLT;
    case KC_OP_LE: return u ? LLVMIntULE : LLVMIntSLE;
    case KC_OP_GT: return u ? LLVMIntUGT : LLVMIntSGT;
    default: return u ? LLVMIntUGE : LLVMIntSGE;
    }
}

static LLVMValueRef abs_int(kc_emit *e, kc_dtype t, LLVMValueRef x) {
    if (is_unsigned(t)) return x;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[] = {x, LLVMConstInt(e->i1, 0, false)}; // the least integer wraps
    return kc_emit_intrinsic(e, "llvm.abs", 1, &type, 2, args);
}

static LLVMValueRef min_max_int(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    // LLVM makes umax of one bit of a compare and select, and its NVPTX selection compares that as
    // signed.
    if (t == KC_bool)
        return code == KC_OP_MIN ? LLVMBuildAnd(e->builder, args[0], args[1], "")
                                 : LLVMBuildOr(e->builder, args[0], args[1], "");
    LLVMIntPredicate first = int_predicate(code == KC_OP_MIN ? KC_OP_LT : KC_OP_GT, is_unsigned(t));
    LLVMValueRef c = LLVMBuildICmp(e->builder, first, args[0], args[1], "");
    return LLVMBuildSelect(e->builder, c, args[0], args[1], "");
}

static LLVMValueRef int_element(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    LLVMBuilderRef b = e->builder;
    switch (code) {
    case KC_OP_ABS: return abs_int(e, t, args[0]);
    case KC_OP_NEG: return LLVMBuildNeg(b, args[0], "");
    case KC_OP_NOT: return LLVMBuildNot(b, args[0], "");
    case KC_OP_ADD: return LLVMBuildAdd(b, args[0], args[1], "");
    case KC_OP_SUB: return LLVMBuildSub(b, args[0], args[1], "");
    case KC_OP_MUL: return LLVMBuildMul(b, args[0], args[1], "");
    case KC_OP_AND: return LLVMBuildAnd(b, args[0], args[1], "");
    case KC_OP_OR: return LLVMBuildOr(b, args[0], args[1], "");
    case KC_OP_FLOORDIV: return kc_emit_floordiv_int(e, args[0], args[1], !is_unsigned(t), false);
    case KC_OP_MOD: return kc_emit_floordiv_int(e, args[0], args[1], !is_unsigned(t), true);
    case KC_OP_POW: return pow_int(e, t, args);
    case KC_OP_MIN:
    case KC_OP_MAX: return min_max_int(e, code, t, args);
    case KC_OP_EQ:
    case KC_OP_NE:
    case KC_OP_LT:
    case KC_OP_LE:
    case KC_OP_GT:
    case KC_OP_GE:
        return LLVMBuildICmp(b, int_predicate(code, is_unsigned(t)), args[0], args[1], "");
    default: kc_bug("op %s has no meaning on %s", kc_op_table[code].name, kc_dtype_name(t));
    }
}

// ---- floats ---------------------------------------------------------------------------------

static LLVMValueRef float_intrinsic(kc_emit *e, const char *name, int n, LLVMValueRef *args) {
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    return kc_emit_intrinsic(e, name, 1, &type, n, args);
}

static LLVMValueRef math(kc_emit *e, const char *name, kc_dtype t, int n, LLVMValueRef *args) {
    return kc_emit_call(e, kc_arena_printf(e->arena, "kc_math_%s_%s", name, kc_dtype_name(t)),
                        kc_emit_type(e, t), n, args);
}

static LLVMValueRef copysign_of(kc_emit *e, LLVMValueRef size, LLVMValueRef sign) {
    return float_intrinsic(e, "llvm.copysign", 2, (LLVMValueRef[]){size, sign});
}

// True where the truncated remainder r has to move by b to get b's sign.
static LLVMValueRef must_move(kc_emit *e, LLVMValueRef r, LLVMValueRef divisor) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef zero = LLVMConstReal(LLVMTypeOf(r), 0);
    LLVMValueRef r_negative = LLVMBuildFCmp(b, LLVMRealOLT, r, zero, "");
    LLVMValueRef divisor_negative = LLVMBuildFCmp(b, LLVMRealOLT, divisor, zero, "");
    LLVMValueRef nonzero = LLVMBuildFCmp(b, LLVMRealUNE, r, zero, "");
    return LLVMBuildAnd(b, nonzero, LLVMBuildXor(b, r_negative, divisor_negative, ""), "");
}

// NumPy's remainder; a zero result takes the divisor's sign.
static LLVMValueRef mod_float(kc_emit *e, kc_dtype t, LLVMValueRef *args) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef zero = LLVMConstReal(LLVMTypeOf(args[0]), 0),
                 r = kc_emit_helper(e, "fmod", t, 2, args);
    LLVMValueRef moved =
        LLVMBuildSelect(b, must_move(e, r, args[1]), LLVMBuildFAdd(b, r, args[1], ""), r, "");
    LLVMValueRef none = LLVMBuildFCmp(b, LLVMRealOEQ, r, zero, "");
    return LLVMBuildSelect(b, none, copysign_of(e, zero, args[1]), moved, "");
}

// NumPy's floor_divide: (a - fmod(a, b)) / b, less 1 where the remainder moves, rounded to the
// integer it nearly is.
static LLVMValueRef floordiv_float(kc_emit *e, kc_dtype t, LLVMValueRef *args) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    LLVMValueRef zero = LLVMConstReal(type, 0), one = LLVMConstReal(type, 1);
    LLVMValueRef plain = LLVMBuildFDiv(b, args[0], args[1], ""),
                 r = kc_emit_helper(e, "fmod", t, 2, args);
    LLVMValueRef q = LLVMBuildFDiv(b, LLVMBuildFSub(b, args[0], r, ""), args[1], "");
    q = LLVMBuildSelect(b, must_move(e, r, args[1]), LLVMBuildFSub(b, q, one, ""), q, "");
    LLVMValueRef down = float_intrinsic(e, "llvm.floor", 1, &q);
    LLVMValueRef far =
        LLVMBuildFCmp(b, LLVMRealOGT, LLVMBuildFSub(b, q, down, ""), LLVMConstReal(type, 0.5), "");
    LLVMValueRef whole = LLVMBuildSelect(b, far, LLVMBuildFAdd(b, down, one, ""), down, "");
    LLVMValueRef none = LLVMBuildFCmp(b, LLVMRealOEQ, q, zero, "");
    LLVMValueRef result = LLVMBuildSelect(b, none, copysign_of(e, zero, plain), whole, "");
    LLVMValueRef by_zero = LLVMBuildFCmp(b, LLVMRealOEQ, args[1], zero, "");
    return LLVMBuildSelect(b, by_zero, plain, result, "");
}

static LLVMRealPredicate float_predicate(kc_opcode code) {
    switch (code) {
    case KC_OP_EQ: return LLVMRealOEQ;
    case KC_OP_NE: return LLVMRealUNE;
    case KC_OP_LT: return LLVMRealOLT;
    case KC_OP_LE: return LLVMRealOLE;
    case KC_OP_GT: return LLVMRealOGT;
    default: return LLVMRealOGE;
    }
}

static LLVMValueRef transcendental(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    return math(e, kc_op_table[code].name, t, code == KC_OP_POW ? 2 : 1, args);
}

static LLVMValueRef float_element(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    LLVMBuilderRef b = e->builder;
    switch (code) {
    case KC_OP_ABS: return float_intrinsic(e, "llvm.fabs", 1, args);
    case KC_OP_NEG: return LLVMBuildFNeg(b, args[0], "");
    case KC_OP_SQRT: return float_intrinsic(e, "llvm.sqrt", 1, args);
    case KC_OP_FLOOR: return float_intrinsic(e, "llvm.floor", 1, args);
    case KC_OP_CEIL: return float_intrinsic(e, "llvm.ceil", 1, args);
    case KC_OP_ROUND: return float_intrinsic(e, "llvm.roundeven", 1, args);
    case KC_OP_ADD: return contract(LLVMBuildFAdd(b, args[0], args[1], ""));
    case KC_OP_SUB: return contract(LLVMBuildFSub(b, args[0], args[1], ""));
    case KC_OP_MUL: return contract(LLVMBuildFMul(b, args[0], args[1], ""));
    case KC_OP_DIV: return LLVMBuildFDiv(b, args[0], args[1], "");
    case KC_OP_FLOORDIV: return floordiv_float(e, t, args);
    case KC_OP_MOD: return mod_float(e, t, args);
    case KC_OP_MIN: return float_intrinsic(e, "llvm.minimum", 2, args);
    case KC_OP_MAX: return float_intrinsic(e, "llvm.maximum", 2, args);
    case KC_OP_EQ:
    case KC_OP_NE:
    case KC_OP_LT:
    case KC_OP_LE:
    case KC_OP_GT:
    case KC_OP_GE: return LLVMBuildFCmp(b, float_predicate(code), args[0], args[1], "");
    case KC_OP_RSQRT:
    case KC_OP_EXP:
    case KC_OP_EXP2:
    case KC_OP_LOG:
    case KC_OP_LOG2:
    case KC_OP_SIN:
    case KC_OP_COS:
    case KC_OP_TANH:
    case KC_OP_ERF:
    case KC_OP_POW: return transcendental(e, code, t, args);
    default: kc_bug("op %s has no meaning on %s", kc_op_table[code].name, kc_dtype_name(t));
    }
}

// ---- f16 and bf16 ---------------------------------------------------------------------------

// abs and neg change the sign bit and nothing else, of NaN too.
static LLVMValueRef short_sign(kc_emit *e, kc_opcode code, LLVMValueRef x) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef bits = LLVMBuildBitCast(b, x, e->i16, "");
    bits = code == KC_OP_ABS ? LLVMBuildAnd(b, bits, LLVMConstInt(e->i16, 0x7fff, false), "")
                             : LLVMBuildXor(b, bits, LLVMConstInt(e->i16, 0x8000, false), "");
    return LLVMBuildBitCast(b, bits, LLVMTypeOf(x), "");
}

static LLVMValueRef short_element(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    if (code == KC_OP_ABS || code == KC_OP_NEG) return short_sign(e, code, args[0]);
    LLVMValueRef wide[2];
    for (int i = 0; i < 2; i++)
        wide[i] = kc_emit_cast_element(e, t, KC_f32, args[i]);
    LLVMValueRef result = float_element(e, code, KC_f32, wide);
    bool keeps_type = code == KC_OP_MIN || code == KC_OP_MAX;
    return keeps_type ? kc_emit_cast_element(e, KC_f32, t, result) : result;
}

static LLVMValueRef small_element(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    LLVMValueRef kept = kc_emit_small_keeps(e, code, t, args);
    if (kept) return kept;
    LLVMValueRef wide[] = {kc_emit_decode(e, t, args[0]), kc_emit_decode(e, t, args[1])};
    return float_element(e, code, KC_f32, wide); // a comparison
}

// What may leave the range of a type; the other ops give an operand or a flag.
static bool is_arithmetic(kc_opcode code) {
    switch (code) {
    case KC_OP_ABS:
    case KC_OP_NEG:
    case KC_OP_ADD:
    case KC_OP_SUB:
    case KC_OP_MUL:
    case KC_OP_FLOORDIV:
    case KC_OP_POW: return true;
    default: return false;
    }
}

// All but select and cast.
static LLVMValueRef element(kc_emit *e, kc_opcode code, kc_dtype t, LLVMValueRef *args) {
    if (t == KC_i4 && is_arithmetic(code)) return kc_emit_wrap(e, t, int_element(e, code, t, args));
    if (!kc_dtype_is_float(t)) return int_element(e, code, t, args);
    if (kc_emit_is_small(t)) return small_element(e, code, t, args);
    return is_short_float(t) ? short_element(e, code, t, args) : float_element(e, code, t, args);
}

// ---- tiles ----------------------------------------------------------------------------------

LLVMValueRef kc_emit_operand_register(kc_emit *e, const kc_emitted *result, int r,
                                      const kc_value *operand) {
    const kc_emitted *v = kc_emit_get(operand);
    if (!v->map) return v->regs[0];
    if (v->map == result->map) return kc_emit_register(e, operand, r);
    int64_t at[KC_LAYOUT_MAX_RANK] = {0};
    for (int d = 0; d < v->map->rank; d++)
        at[d] = operand->type.tile[d] == 1 ? 0 : kc_tile_map_at(result->map, r, d);
    int found = kc_tile_map_find(v->map, at);
    if (found < 0)
        kc_bug("an operand's layout is no projection of the result's: no register for register %d",
               r);
    return kc_emit_register(e, operand, found);
}

static void check_projection(const kc_emitted *result, const kc_value *operand) {
    const kc_tile_map *m = result->map, *o = kc_emit_get(operand)->map;
    if (!o || o == m) return;
    for (int b = 0; b < m->thread_bits; b++)
        for (int d = 0; d < m->rank; d++)
            if (o->threads[b][d] != (operand->type.tile[d] == 1 ? 0 : m->threads[b][d]))
                kc_bug("an operand's layout is no projection of the result's: thread bit %d, "
                       "dimension %d",
                       b, d);
}

LLVMValueRef kc_emit_elementwise_register(kc_emit *e, const kc_op *op, int r) {
    const kc_value *result = kc_result(op, 0);
    const kc_emitted *v = kc_emit_get(result);
    kc_dtype from = kc_operand(op, op->n_operands - 1)->type.elem;
    LLVMValueRef args[3] = {0};
    for (int i = 0; i < op->n_operands; i++)
        args[i] = kc_emit_operand_register(e, v, r, kc_operand(op, i));
    if (op->code == KC_OP_CAST) return kc_emit_cast_element(e, from, result->type.elem, args[0]);
    if (op->code == KC_OP_SELECT) return LLVMBuildSelect(e->builder, args[0], args[1], args[2], "");
    bool divides = op->code == KC_OP_FLOORDIV || op->code == KC_OP_MOD;
    if (divides && (from == KC_i64 || from == KC_i32))
        return kc_emit_divide(e, args[0], args[1], kc_emit_range(e, kc_operand(op, 0)),
                              kc_emit_range(e, kc_operand(op, 1)), op->code == KC_OP_MOD);
    return element(e, op->code, from, args);
}

// Scalars at once; tiles late, once it is sure that the operands' layouts fit.
void kc_emit_elementwise(kc_emit *e, const kc_op *op) {
    kc_value *result = kc_result(op, 0);
    kc_emitted *v = kc_emit_define(e, result);
    if (v->map) {
        v->late = op;
        for (int i = 0; i < op->n_operands; i++)
            check_projection(v, kc_operand(op, i));
    } else {
        LLVMValueRef round = kc_emit_round(e, op);
        v->regs[0] = round ? round : kc_emit_elementwise_register(e, op, 0);
    }
}
