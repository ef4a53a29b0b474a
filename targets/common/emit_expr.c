// Integer expressions over the kernel's symbols, in i64, and ranges of integer values.
//
// 64-bit division is a long instruction sequence: where the facts prove operands non-negative it is
// unsigned, and where they prove them below 2^31 it is done in 32 bits.
#include "targets/common/emit.h"

// ---- division by proved ranges --------------------------------------------------------------

static bool non_negative(kc_range r) {
    return r.low >= 0;
}

static bool fits_i32(kc_range r) {
    return r.low >= INT32_MIN && r.high <= INT32_MAX;
}

// a // b or a % b of values that are not negative.
static LLVMValueRef divide_unsigned(kc_emit *e, LLVMValueRef a, LLVMValueRef b, bool modulo,
                                    bool narrow) {
    LLVMBuilderRef builder = e->builder;
    LLVMTypeRef type = LLVMTypeOf(a);
    narrow = narrow && type == e->i64;
    if (narrow) {
        a = LLVMBuildTrunc(builder, a, e->i32, "");
        b = LLVMBuildTrunc(builder, b, e->i32, "");
    }
    LLVMValueRef result =
        modulo ? LLVMBuildURem(builder, a, b, "") : LLVMBuildUDiv(builder, a, b, "");
    return narrow ? LLVMBuildZExt(builder, result, type, "") : result;
}

LLVMValueRef kc_emit_divide(kc_emit *e, LLVMValueRef a, LLVMValueRef b, kc_range of_a,
                            kc_range of_b, bool modulo) {
    if (!non_negative(of_a) || of_b.low < 1)
        return kc_emit_floordiv_int(e, a, b, true, modulo);
    return divide_unsigned(e, a, b, modulo, fits_i32(of_a) && fits_i32(of_b));
}

// ---- expressions ----------------------------------------------------------------------------

static kc_range range_of_expr(kc_emit *e, const kc_expr *x) {
    return (kc_range){kc_expr_min_value(e->pool, x), kc_expr_max_value(e->pool, x)};
}

static LLVMValueRef truth(kc_emit *e, LLVMValueRef i1) {
    return LLVMBuildZExt(e->builder, i1, e->i64, "");
}

static LLVMValueRef compare(kc_emit *e, LLVMIntPredicate predicate, LLVMValueRef a,
                            LLVMValueRef b) {
    return truth(e, LLVMBuildICmp(e->builder, predicate, a, b, ""));
}

static LLVMValueRef choose(kc_emit *e, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, predicate, a, b, ""), a, b, "");
}

static LLVMValueRef nonzero(kc_emit *e, LLVMValueRef a) {
    return LLVMBuildICmp(e->builder, LLVMIntNE, a, kc_emit_i64(e, 0), "");
}

// ceil(a / b) for b > 0 is (a + b - 1) // b; in general -((-a) // b).
static LLVMValueRef ceiling(kc_emit *e, const kc_expr *x, LLVMValueRef a, LLVMValueRef b) {
    kc_range ra = range_of_expr(e, x->a), rb = range_of_expr(e, x->b);
    if (non_negative(ra) && rb.low >= 1 && ra.high <= INT64_MAX / 4 && rb.high <= INT64_MAX / 4) {
        LLVMValueRef up =
            LLVMBuildAdd(e->builder, a, LLVMBuildSub(e->builder, b, kc_emit_i64(e, 1), ""), "");
        return kc_emit_divide(e, up, b, (kc_range){0, ra.high + rb.high}, rb, false);
    }
    LLVMValueRef down = kc_emit_floordiv_int(e, LLVMBuildNeg(e->builder, a, ""), b, true, false);
    return LLVMBuildNeg(e->builder, down, "");
}

static LLVMValueRef emit_symbol(kc_emit *e, const kc_expr *x) {
    if (x->symbol >= e->n_symbols || !e->symbols[x->symbol])
        kc_bug("symbol %s is no parameter of this kernel", kc_expr_symbol_name(e->pool, x->symbol));
    return e->symbols[x->symbol];
}

static LLVMValueRef emit_binary(kc_emit *e, const kc_expr *x, LLVMValueRef a, LLVMValueRef b) {
    LLVMBuilderRef builder = e->builder;
    switch (x->kind) {
    case KC_EXPR_ADD: return LLVMBuildNSWAdd(builder, a, b, "");
    case KC_EXPR_SUB: return LLVMBuildNSWSub(builder, a, b, "");
    case KC_EXPR_MUL: return LLVMBuildNSWMul(builder, a, b, "");
    case KC_EXPR_FLOORDIV:
    case KC_EXPR_DIV: return kc_emit_divide(e, a, b, range_of_expr(e, x->a), range_of_expr(e, x->b), false);
    case KC_EXPR_MOD: return kc_emit_divide(e, a, b, range_of_expr(e, x->a), range_of_expr(e, x->b), true);
    case KC_EXPR_CDIV: return ceiling(e, x, a, b);
    case KC_EXPR_MIN: return choose(e, LLVMIntSLT, a, b);
    case KC_EXPR_MAX: return choose(e, LLVMIntSGT, a, b);
    case KC_EXPR_EQ: return compare(e, LLVMIntEQ, a, b);
    case KC_EXPR_NE: return compare(e, LLVMIntNE, a, b);
    case KC_EXPR_LT: return compare(e, LLVMIntSLT, a, b);
    case KC_EXPR_LE: return compare(e, LLVMIntSLE, a, b);
    case KC_EXPR_GT: return compare(e, LLVMIntSGT, a, b);
    case KC_EXPR_GE: return compare(e, LLVMIntSGE, a, b);
    case KC_EXPR_AND: return truth(e, LLVMBuildAnd(builder, nonzero(e, a), nonzero(e, b), ""));
    case KC_EXPR_OR: return truth(e, LLVMBuildOr(builder, nonzero(e, a), nonzero(e, b), ""));
    default: kc_bug("expression kind %d cannot be emitted", (int)x->kind);
    }
}

// The launch has evaluated the same expressions without overflow, so no wrap is possible here.
// `and` and `or` do not stop early: division never faults.
LLVMValueRef kc_emit_expr(kc_emit *e, const kc_expr *x) {
    if (!x) kc_bug("an expression is missing");
    if (x->kind == KC_EXPR_CONST) return kc_emit_i64(e, x->value);
    if (x->kind == KC_EXPR_SYMBOL) return emit_symbol(e, x);
    LLVMValueRef a = kc_emit_expr(e, x->a);
    if (x->kind == KC_EXPR_NOT) return compare(e, LLVMIntEQ, a, kc_emit_i64(e, 0));
    return emit_binary(e, x, a, kc_emit_expr(e, x->b));
}

// ---- ranges of values -----------------------------------------------------------------------

static kc_range full(kc_dtype t) {
    switch (t) {
    case KC_i64: return (kc_range){INT64_MIN, INT64_MAX};
    case KC_i32: return (kc_range){INT32_MIN, INT32_MAX};
    case KC_i16: return (kc_range){INT16_MIN, INT16_MAX};
    case KC_i4: return (kc_range){-8, 7};
    case KC_i8: return (kc_range){INT8_MIN, INT8_MAX};
    case KC_u8: return (kc_range){0, UINT8_MAX};
    case KC_bool: return (kc_range){0, 1};
    default: return (kc_range){INT64_MIN, INT64_MAX};
    }
}

static int64_t clamp(__int128 x) {
    return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static kc_range hull(__int128 a, __int128 b, __int128 c, __int128 d) {
    __int128 low = a < b ? a : b, high = a < b ? b : a;
    if (c < low) low = c;
    if (d < low) low = d;
    if (c > high) high = c;
    if (d > high) high = d;
    return (kc_range){clamp(low), clamp(high)};
}

static kc_range range_binary(kc_opcode code, kc_range a, kc_range b, kc_range all) {
    __int128 al = a.low, ah = a.high, bl = b.low, bh = b.high;
    switch (code) {
    case KC_OP_ADD: return hull(al + bl, ah + bh, al + bl, ah + bh);
    case KC_OP_SUB: return hull(al - bh, ah - bl, al - bh, ah - bl);
    case KC_OP_MUL: return hull(al * bl, al * bh, ah * bl, ah * bh);
    case KC_OP_MIN:
        return (kc_range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
    case KC_OP_MAX:
        return (kc_range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
    case KC_OP_FLOORDIV:
        return a.low >= 0 && b.low >= 1 ? (kc_range){a.low / b.high, a.high / b.low} : all;
    case KC_OP_MOD:
        if (b.low < 1) return all;
        return (kc_range){0, a.low >= 0 && a.high < b.high - 1 ? a.high : b.high - 1};
    case KC_OP_EQ:
    case KC_OP_NE:
    case KC_OP_LT:
    case KC_OP_LE:
    case KC_OP_GT:
    case KC_OP_GE: return (kc_range){0, 1};
    default: return all;
    }
}

static kc_range range_of_op(kc_emit *e, const kc_op *op, kc_range all) {
    const kc_attr *integer;
    switch (op->code) {
    case KC_OP_CONST:
        integer = kc_attr_get(op, KC_ATTR_INTEGER);
        if (integer) return (kc_range){integer->integer, integer->integer};
        int64_t value = kc_dtype_saturate(KC_i64, kc_attr_float(op, KC_ATTR_VALUE, 0));
        return (kc_range){value, value};
    case KC_OP_SYM: return range_of_expr(e, kc_attr_expr(op, KC_ATTR_EXPR));
    case KC_OP_IOTA:
        return (kc_range){0, kc_result(op, 0)->type.tile[kc_attr_int(op, KC_ATTR_AXIS, 0)] - 1};
    case KC_OP_PROGRAM_ID: {
        const kc_expr *grid = kc_attr_expr(e->kernel, KC_ATTR_GRID);
        int64_t most = grid ? kc_expr_max_value(e->pool, grid) - 1 : INT32_MAX - 1;
        return (kc_range){0, most < 0 || most > INT32_MAX - 1 ? INT32_MAX - 1 : most};
    }
    case KC_OP_CAST:
    case KC_OP_CONVERT: {
        kc_dtype from = kc_operand(op, 0)->type.elem;
        return kc_dtype_is_float(from) ? all : kc_emit_range(e, kc_operand(op, 0));
    }
    case KC_OP_SELECT: {
        kc_range a = kc_emit_range(e, kc_operand(op, 1)), b = kc_emit_range(e, kc_operand(op, 2));
        return hull(a.low, a.high, b.low, b.high);
    }
    default: break;
    }
    bool binary = kc_op_has(op, KC_ELEMENTWISE) && op->n_operands == 2 &&
                  !kc_dtype_is_float(kc_operand(op, 0)->type.elem);
    if (!binary) return all;
    return range_binary(op->code, kc_emit_range(e, kc_operand(op, 0)),
                        kc_emit_range(e, kc_operand(op, 1)), all);
}

// A loop's counter stays below its upper bound; what loops carry is not followed.
static kc_range range_of_argument(kc_emit *e, const kc_value *value, kc_range all) {
    const kc_op *loop = value->block->parent;
    if (!loop || loop->code != KC_OP_FOR || value->index != 0) return all;
    kc_range lower = kc_emit_range(e, kc_operand(loop, 0)),
             upper = kc_emit_range(e, kc_operand(loop, 1));
    int64_t last = upper.high == INT64_MIN ? upper.high : upper.high - 1;
    return (kc_range){lower.low, last < lower.low ? lower.low : last};
}

// Arithmetic that could wrap may give anything.
kc_range kc_emit_range(kc_emit *e, const kc_value *value) {
    kc_emitted *v = value->data;
    if (v && v->range_known) return v->range;
    kc_range all = full(value->type.elem), r = all;
    if (!kc_dtype_is_float(value->type.elem) && value->type.kind == KC_TYPE_TILE)
        r = value->def ? range_of_op(e, value->def, all) : range_of_argument(e, value, all);
    if (r.low < all.low || r.high > all.high) r = all;
    if (v) v->range = r, v->range_known = true;
    return r;
}
