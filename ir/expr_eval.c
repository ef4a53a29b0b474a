// The meaning of each kind of expression, and evaluation.
#include "ir/expr_internal.h"

kc_expr_status kc_expr_apply(kc_expr_kind kind, kc_wide a, kc_wide b, kc_wide *out) {
    if (kind >= KC_EXPR_FLOORDIV && kind <= KC_EXPR_CDIV && b == 0) return KC_EXPR_DIVIDE_BY_ZERO;
    switch (kind) {
    case KC_EXPR_ADD: return kc_wide_add(a, b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_SUB: return kc_wide_add(a, -b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_MUL: return kc_wide_multiply(a, b, out) ? KC_EXPR_OK : KC_EXPR_OVERFLOW;
    case KC_EXPR_FLOORDIV: *out = kc_wide_floor_div(a, b); break;
    case KC_EXPR_CDIV: *out = -kc_wide_floor_div(-a, b); break;
    case KC_EXPR_MOD: *out = kc_wide_floor_mod(a, b); break;
    case KC_EXPR_DIV:
        if (kc_wide_floor_mod(a, b) != 0) return KC_EXPR_INEXACT;
        *out = kc_wide_floor_div(a, b);
        break;
    case KC_EXPR_MIN: *out = a < b ? a : b; break;
    case KC_EXPR_MAX: *out = a > b ? a : b; break;
    case KC_EXPR_EQ: *out = a == b; break;
    case KC_EXPR_NE: *out = a != b; break;
    case KC_EXPR_LT: *out = a < b; break;
    case KC_EXPR_LE: *out = a <= b; break;
    case KC_EXPR_GT: *out = a > b; break;
    case KC_EXPR_GE: *out = a >= b; break;
    case KC_EXPR_AND: *out = a && b; break;
    case KC_EXPR_OR: *out = a || b; break;
    case KC_EXPR_NOT: *out = !a; break;
    case KC_EXPR_CONST:
    case KC_EXPR_SYMBOL: break;
    }
    return KC_EXPR_OK;
}

static kc_expr_status eval(const kc_expr *e, const int64_t *values, const bool *bound,
                           kc_wide *out) {
    if (e->kind == KC_EXPR_CONST) {
        *out = e->value;
        return KC_EXPR_OK;
    }
    if (e->kind == KC_EXPR_SYMBOL) {
        if (bound != NULL && !bound[e->symbol]) return KC_EXPR_UNBOUND;
        *out = values[e->symbol];
        return KC_EXPR_OK;
    }
    kc_wide a, b = 0;
    kc_expr_status status = eval(e->a, values, bound, &a);
    if (status != KC_EXPR_OK) return status;
    bool decided = (e->kind == KC_EXPR_AND && a == 0) || (e->kind == KC_EXPR_OR && a != 0);
    if (e->b != NULL && !decided) status = eval(e->b, values, bound, &b);
    return status == KC_EXPR_OK ? kc_expr_apply(e->kind, a, b, out) : status;
}

kc_expr_status kc_expr_eval(const kc_expr *e, const int64_t *values, const bool *bound,
                            int64_t *out) {
    kc_wide v = 0;
    *out = 0;
    kc_expr_status status = eval(e, values, bound, &v);
    if (status == KC_EXPR_OK && !kc_wide_fits(v)) status = KC_EXPR_OVERFLOW;
    if (status == KC_EXPR_OK) *out = (int64_t)v;
    return status;
}
