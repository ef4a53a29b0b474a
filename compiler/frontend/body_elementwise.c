// Operators and elementwise ops: each asks which type its operands meet in, and whether the op has
// a meaning there.
#include "compiler/frontend/body_ops.h"

static bool all_weak(int n, const kc_term *terms) {
    for (int i = 0; i < n; i++)
        if (terms[i].kind == KC_TERM_TENSOR) return false;
    return true;
}

static kc_meet meet_of(kc_opcode code) {
    switch (code) {
    case KC_OP_ABS:
    case KC_OP_NEG:
    case KC_OP_MIN:
    case KC_OP_MAX:
    case KC_OP_RELU:
    case KC_OP_CLAMP: return KC_MEET_KEEP;
    case KC_OP_ADD:
    case KC_OP_SUB:
    case KC_OP_MUL:
    case KC_OP_FLOORDIV:
    case KC_OP_MOD:
    case KC_OP_POW: return KC_MEET_ARITHMETIC;
    case KC_OP_EQ:
    case KC_OP_NE:
    case KC_OP_LT:
    case KC_OP_LE:
    case KC_OP_GT:
    case KC_OP_GE: return KC_MEET_COMPARE;
    default: return KC_MEET_REAL;
    }
}

static bool is_logical(kc_opcode code) {
    return code == KC_OP_AND || code == KC_OP_OR || code == KC_OP_NOT;
}

static bool is_rounding(kc_opcode code) {
    return code == KC_OP_FLOOR || code == KC_OP_CEIL || code == KC_OP_ROUND;
}

static bool is_bool(const kc_term *term) {
    return term->kind == KC_TERM_TENSOR && term->value->type.elem == KC_bool;
}

// Bools are compared, selected and combined; arithmetic on them wants a cast. f8e8m0 has no sign.
static bool accepts(kc_function *fn, const char *spelling, kc_opcode code, int n,
                    const kc_term *terms) {
    kc_meet meet = meet_of(code);
    bool arithmetic = meet == KC_MEET_ARITHMETIC || meet == KC_MEET_REAL || code == KC_OP_ABS ||
                      code == KC_OP_NEG || code == KC_OP_RELU;
    if (code == KC_OP_NEG && terms[0].kind == KC_TERM_TENSOR &&
        terms[0].value->type.elem == KC_f8e8m0) {
        KC_FN_ERROR(fn, terms[0].loc,
                    "%s gives negative values, which f8e8m0 does not have: cast it first, such as "
                    "cast(x, \"f32\")",
                    spelling);
        return false;
    }
    for (int i = 0; arithmetic && i < n; i++) {
        if (!is_bool(&terms[i])) continue;
        KC_FN_ERROR(
            fn, terms[i].loc,
            "%s takes numbers, not %s: cast it first, such as cast(x, \"i32\"), or use and, "
            "or, not",
            spelling, kc_term_text(fn, &terms[i]));
        return false;
    }
    return true;
}

static kc_term logical(kc_function *fn, kc_loc loc, const char *spelling, kc_opcode code, int n,
                       const kc_term *terms) {
    for (int i = 0; i < n; i++) {
        if (is_bool(&terms[i])) continue;
        KC_FN_ERROR(fn, terms[i].loc, "%s combines bools, not %s: compare first, such as x != 0",
                    spelling, kc_term_text(fn, &terms[i]));
        return kc_term_poison(loc);
    }
    return kc_body_elementwise(fn, loc, code, n, terms, KC_bool);
}

static bool is_primitive(kc_opcode code) {
    return (kc_op_table[code].levels & KC_LEVEL_TENSOR) != 0;
}

static bool negative_power(kc_function *fn, kc_loc loc, kc_opcode code, kc_dtype dtype,
                           const kc_term *exponent) {
    int64_t value;
    if (code != KC_OP_POW || kc_dtype_is_float(dtype) || exponent->kind != KC_TERM_INT ||
        !kc_expr_is_const(exponent->expr, &value) || value >= 0)
        return false;
    KC_FN_ERROR(fn, loc,
                "an integer to a negative power is no integer: cast the base to a float type");
    return true;
}

static kc_term apply(kc_function *fn, kc_loc loc, const char *spelling, kc_opcode code, int n,
                     const kc_term *terms) {
    if (kc_term_any_poison(n, terms)) return kc_term_poison(loc);
    if (is_logical(code)) return logical(fn, loc, spelling, code, n, terms);
    kc_meet meet = meet_of(code);
    if (all_weak(n, terms) && meet != KC_MEET_COMPARE && is_primitive(code))
        return kc_weak_apply(fn, loc, code, n, terms);
    kc_dtype dtype = kc_body_meet(n, terms, meet);
    kc_dtype met = kc_body_meet(n, terms, KC_MEET_KEEP);
    if (!accepts(fn, spelling, code, n, terms) ||
        negative_power(fn, loc, code, dtype, &terms[n - 1]))
        return kc_term_poison(loc);
    if (is_rounding(code) && kc_dtype_is_integer(met))
        return terms[0]; // integers are whole already
    return kc_body_elementwise(fn, loc, code, n, terms, dtype);
}

kc_term kc_body_unary(kc_function *fn, kc_loc loc, const char *spelling, kc_opcode code,
                      kc_term x) {
    return apply(fn, loc, spelling, code, 1, &x);
}

kc_term kc_body_binary(kc_function *fn, kc_loc loc, const char *spelling, kc_opcode code, kc_term a,
                       kc_term b) {
    return apply(fn, loc, spelling, code, 2, (kc_term[]){a, b});
}

// ---- ops by name

kc_term kc_call_unary(kc_call *call) {
    return kc_body_unary(call->fn, call->loc, call->op->name, call->op->code, call->values[0]);
}

kc_term kc_call_binary(kc_call *call) {
    return kc_body_binary(call->fn, call->loc, call->op->name, call->op->code, call->values[0],
                          call->values[1]);
}

kc_term kc_call_clamp(kc_call *call) {
    kc_dtype dtype = kc_body_meet(3, call->values, KC_MEET_KEEP);
    return kc_body_elementwise(call->fn, call->loc, KC_OP_CLAMP, 3, call->values, dtype);
}

kc_term kc_call_where(kc_call *call) {
    const kc_term *condition = &call->values[0];
    if (condition->kind != KC_TERM_TENSOR || condition->value->type.elem != KC_bool) {
        kc_call_refuse(call, 0, "bool", kc_term_text(call->fn, condition),
                       "compare first, such as x != 0");
        return kc_term_poison(call->loc);
    }
    kc_dtype dtype = kc_body_meet(2, call->values + 1, KC_MEET_KEEP);
    return kc_body_elementwise(call->fn, call->loc, KC_OP_SELECT, 3, call->values, dtype);
}

kc_term kc_call_cast(kc_call *call) {
    kc_function *fn = call->fn;
    const char *name = kc_call_string(call, 1, NULL);
    kc_dtype dtype = name ? kc_types_dtype(fn, kc_call_loc(call, 1), name) : KC_DTYPE_NONE;
    const kc_term *x = &call->values[0];
    if (dtype == KC_DTYPE_NONE) return kc_term_poison(call->loc);
    bool direct = x->kind == KC_TERM_TENSOR || kc_dtype_is_float(dtype) ||
                  (x->kind == KC_TERM_INT && dtype != KC_bool);
    kc_value *value =
        direct ? kc_body_materialize(fn, call->loc, x, dtype, x->value ? x->value->type.rank : 0,
                                     x->value ? x->value->type.shape : NULL)
               : kc_weak_materialize(fn, call->loc, x, x->kind == KC_TERM_INT ? KC_i64 : KC_f32, 0,
                                     NULL);
    if (value && value->type.elem != dtype) {
        fn->builder.loc = call->loc;
        value = kc_build_cast(&fn->builder, value, dtype);
    }
    return kc_term_tensor(value, call->loc);
}
