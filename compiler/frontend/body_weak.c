// Weak terms: integer literals and expressions of dimensions stay integer expressions; reals are
// small trees that are folded where that is exact on every machine (no libm but sqrt) and computed
// in the type they meet.
#include <math.h>

#include "compiler/frontend/body_types.h"

enum { MAX_WEAK = 64 };

kc_term kc_weak_int(kc_loc loc, const kc_expr *expr) {
    return (kc_term){.kind = KC_TERM_INT, .loc = loc, .expr = expr};
}

static kc_term real(kc_function *fn, kc_loc loc, kc_weak node) {
    kc_weak *weak = KC_NEW(fn->arena, kc_weak);
    *weak = node;
    weak->size = 1 + (node.a ? node.a->size : 0) + (node.b ? node.b->size : 0);
    if (weak->size > MAX_WEAK) {
        KC_FN_ERROR(fn, loc,
                    "more than %d literals, dimensions and operators make one scalar; cast a part "
                    "of it to a type",
                    (int)MAX_WEAK);
        return kc_term_poison(loc);
    }
    return (kc_term){.kind = KC_TERM_REAL, .loc = loc, .weak = weak};
}

kc_term kc_weak_number(kc_function *fn, kc_loc loc, double number) {
    return real(fn, loc, (kc_weak){.code = KC_OP_CONST, .number = number});
}

bool kc_weak_is_number(const kc_term *term, double *value) {
    int64_t integer;
    if (term->kind == KC_TERM_INT && kc_expr_is_const(term->expr, &integer))
        *value = (double)integer;
    else if (term->kind == KC_TERM_REAL && term->weak->code == KC_OP_CONST)
        *value = term->weak->number;
    else return false;
    return true;
}

bool kc_weak_check_float(kc_function *fn, kc_loc loc, double number, kc_dtype dtype) {
    double rounded = kc_dtype_round(dtype, number);
    bool far = isinf(rounded) || fabs(number) - fabs(rounded) > kc_dtype_ulp(dtype, rounded) / 2;
    if (!isfinite(number) || isnan(rounded) || !far) return true;
    const char *instead =
        isinf(rounded) ? kc_arena_printf(fn->arena, ", or write %g", rounded) : "";
    KC_FN_ERROR(fn, loc, "%g does not fit %s, where it would be %g: cast to a wider type first%s",
                number, kc_dtype_name(dtype), rounded, instead);
    return false;
}

// ---- integers

static kc_term int_result(kc_loc loc, const kc_expr *expr) {
    return expr ? kc_weak_int(loc, expr) : kc_term_poison(loc);
}

static const kc_expr *int_power(kc_function *fn, kc_loc loc, const kc_expr *base,
                                int64_t exponent) {
    const kc_expr *power = kc_expr_const(fn->pool, 1);
    for (int64_t i = 0; power && i < exponent; i++)
        power = kc_dims_binary(fn, loc, KC_EXPR_MUL, power, base);
    return power;
}

// True when the op stays within the integers; the result in *out.
static bool apply_int(kc_function *fn, kc_loc loc, kc_opcode code, int n, const kc_term *terms,
                      kc_term *out) {
    const kc_expr *a = terms[0].expr, *b = n > 1 ? terms[1].expr : NULL,
                  *zero = kc_expr_const(fn->pool, 0);
    static const struct {
        kc_opcode code;
        kc_expr_kind kind;
    } kinds[] = {{KC_OP_ADD, KC_EXPR_ADD}, {KC_OP_SUB, KC_EXPR_SUB},
                 {KC_OP_MUL, KC_EXPR_MUL}, {KC_OP_FLOORDIV, KC_EXPR_FLOORDIV},
                 {KC_OP_MOD, KC_EXPR_MOD}, {KC_OP_MIN, KC_EXPR_MIN},
                 {KC_OP_MAX, KC_EXPR_MAX}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].code != code) continue;
        *out = int_result(loc, kc_dims_binary(fn, loc, kinds[i].kind, a, b));
        return true;
    }
    int64_t exponent;
    bool power =
        code == KC_OP_POW && kc_expr_is_const(b, &exponent) && exponent >= 0 && exponent <= 64;
    if (power) *out = int_result(loc, int_power(fn, loc, a, exponent));
    else if (code == KC_OP_NEG)
        *out = int_result(loc, kc_dims_binary(fn, loc, KC_EXPR_SUB, zero, a));
    else if (code == KC_OP_FLOOR || code == KC_OP_CEIL || code == KC_OP_ROUND) *out = terms[0];
    else if (code == KC_OP_ABS) {
        const kc_expr *negative = kc_dims_binary(fn, loc, KC_EXPR_SUB, zero, a);
        *out = int_result(loc, negative ? kc_dims_binary(fn, loc, KC_EXPR_MAX, a, negative) : NULL);
    } else return false;
    return true;
}

// ---- reals

static const kc_weak *as_real(kc_function *fn, const kc_term *term) {
    if (term->kind == KC_TERM_REAL) return term->weak;
    kc_weak *weak = KC_NEW(fn->arena, kc_weak);
    int64_t integer;
    *weak = (kc_weak){.code = KC_OP_SYM, .expr = term->expr, .size = 1};
    if (kc_expr_is_const(term->expr, &integer)) {
        weak->code = KC_OP_CONST;
        weak->number = (double)integer;
    }
    return weak;
}

// NaN if either is.
static double smaller(double a, double b) {
    return isnan(a) || a < b ? a : b;
}

// a modulo b with b's sign, as floor division has it.
static double modulo(double a, double b) {
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool fold(kc_opcode code, double a, double b, double *out) {
    switch (code) {
    case KC_OP_ADD: *out = a + b; return true;
    case KC_OP_SUB: *out = a - b; return true;
    case KC_OP_MUL: *out = a * b; return true;
    case KC_OP_DIV: *out = a / b; return true;
    case KC_OP_FLOORDIV: *out = floor(a / b); return true;
    case KC_OP_MOD: *out = modulo(a, b); return true;
    case KC_OP_MIN: *out = smaller(a, b); return true;
    case KC_OP_MAX: *out = -smaller(-a, -b); return true;
    case KC_OP_NEG: *out = -a; return true;
    case KC_OP_ABS: *out = fabs(a); return true;
    case KC_OP_SQRT: *out = sqrt(a); return true;
    case KC_OP_FLOOR: *out = floor(a); return true;
    case KC_OP_CEIL: *out = ceil(a); return true;
    case KC_OP_ROUND: *out = rint(a); return true;
    default: return false;
    }
}

kc_term kc_weak_apply(kc_function *fn, kc_loc loc, kc_opcode code, int n, const kc_term *terms) {
    bool integers = terms[0].kind == KC_TERM_INT && (n < 2 || terms[1].kind == KC_TERM_INT);
    kc_term result;
    if (integers && apply_int(fn, loc, code, n, terms, &result)) return result;
    const kc_weak *a = as_real(fn, &terms[0]), *b = n > 1 ? as_real(fn, &terms[1]) : NULL;
    double number;
    if (integers && code == KC_OP_DIV && b->code == KC_OP_CONST && b->number == 0) {
        KC_FN_ERROR(fn, loc, "division by zero");
        return kc_term_poison(loc);
    }
    if (a->code == KC_OP_CONST && (!b || b->code == KC_OP_CONST) &&
        fold(code, a->number, b ? b->number : 0, &number))
        return kc_weak_number(fn, loc, number);
    return real(fn, loc, (kc_weak){.code = code, .a = a, .b = b});
}

// ---- becoming values

static kc_value *constant(kc_function *fn, kc_dtype dtype, int rank, const kc_expr *const *shape,
                          double number) {
    double held = kc_dtype_represent(dtype, number);
    return kc_build_const(&fn->builder, kc_type_tensor(dtype, rank, shape), held);
}

static kc_dtype computed_in(kc_dtype dtype) {
    return dtype == KC_f64 ? KC_f64 : KC_f32;
}

// A tree at rank 0, in f32 or f64.
static kc_value *build_tree(kc_function *fn, const kc_weak *weak, kc_dtype dtype) {
    if (weak->code == KC_OP_CONST) return constant(fn, dtype, 0, NULL, weak->number);
    if (weak->code == KC_OP_SYM)
        return kc_build_sym(&fn->builder, kc_type_tensor(dtype, 0, NULL), weak->expr);
    kc_value *operands[2] = {build_tree(fn, weak->a, dtype),
                             weak->b ? build_tree(fn, weak->b, dtype) : NULL};
    return kc_build_elementwise(&fn->builder, weak->code, weak->b ? 2 : 1, operands);
}

static int64_t least_of(kc_dtype dtype) {
    int bits = kc_dtype_table[dtype].bits;
    return kc_dtype_table[dtype].class == KC_CLASS_UINT ? 0 : -(int64_t)(UINT64_C(1) << (bits - 1));
}

static int64_t largest_of(kc_dtype dtype) {
    int bits = kc_dtype_table[dtype].bits;
    bool is_unsigned = kc_dtype_table[dtype].class == KC_CLASS_UINT;
    return (int64_t)((UINT64_C(1) << (bits - !is_unsigned)) - 1);
}

static bool fits(kc_function *fn, kc_loc loc, const kc_expr *expr, kc_dtype dtype) {
    if (dtype == KC_i64) return true;
    int64_t least = kc_expr_min_value(fn->pool, expr), largest = kc_expr_max_value(fn->pool, expr);
    if (least >= least_of(dtype) && largest <= largest_of(dtype)) return true;
    KC_FN_ERROR(fn, loc,
                "%s does not fit %s (%lld to %lld): cast the other operand to a wider type%s",
                kc_dims_text(fn, expr), kc_dtype_name(dtype), (long long)least_of(dtype),
                (long long)largest_of(dtype),
                kc_expr_is_const(expr, NULL) ? "" : " or bound the dimensions in 'dims'");
    return false;
}

static kc_value *materialize_int(kc_function *fn, kc_loc loc, const kc_expr *expr, kc_dtype dtype,
                                 int rank, const kc_expr *const *shape) {
    int64_t integer;
    bool is_float = kc_dtype_is_float(dtype);
    if (!is_float && !fits(fn, loc, expr, dtype)) return NULL;
    if (kc_expr_is_const(expr, &integer)) {
        if (is_float) return constant(fn, dtype, rank, shape, (double)integer);
        return kc_build_const_int(&fn->builder, kc_type_tensor(dtype, rank, shape), integer);
    }
    kc_type scalar = kc_type_tensor(is_float ? computed_in(dtype) : dtype, 0, NULL);
    kc_value *value = kc_build_cast(&fn->builder, kc_build_sym(&fn->builder, scalar, expr), dtype);
    return kc_body_broadcast(fn, loc, value, rank, shape);
}

kc_value *kc_weak_materialize(kc_function *fn, kc_loc loc, const kc_term *term, kc_dtype dtype,
                              int rank, const kc_expr *const *shape) {
    double number;
    if (dtype == KC_f8e8m0 && kc_weak_is_number(term, &number) && number < 0) {
        KC_FN_ERROR(fn, loc, "%g meets f8e8m0, which has no sign: cast the other operand to f32",
                    number);
        return NULL;
    }
    fn->builder.loc = loc;
    if (term->kind == KC_TERM_INT) return materialize_int(fn, loc, term->expr, dtype, rank, shape);
    const kc_weak *weak = term->weak;
    if (weak->code == KC_OP_CONST) return constant(fn, dtype, rank, shape, weak->number);
    kc_value *value = kc_build_cast(&fn->builder, build_tree(fn, weak, computed_in(dtype)), dtype);
    return kc_body_broadcast(fn, loc, value, rank, shape);
}
