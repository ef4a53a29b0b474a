// Elementwise ops over whole values: one loop for each kind of operands and result.
#include "ir/interp_machine.h"

#include <math.h>

static int64_t at(const kc_interp_value *v, int64_t i) {
    return v->n == 1 ? 0 : i;
}

// The operand whose shape the result has: one of many elements, else the one with the highest rank.
static const kc_interp_value *widest(kc_interp *m, const kc_op *op, int n,
                                     kc_interp_value *const *operands) {
    const kc_interp_value *like = operands[0];
    for (int i = 1; i < n; i++) {
        const kc_interp_value *v = operands[i];
        if (v->n != 1 && like->n != 1 && v->n != like->n)
            kc_interp_fail(m, op, "%s: operands have %lld and %lld elements", kc_op_row(op)->name,
                           (long long)like->n, (long long)v->n);
        if (like->n == 1 && (v->n != 1 || v->rank > like->rank)) like = v;
    }
    return like;
}

static bool any_bounds(int n, kc_interp_value *const *operands) {
    for (int i = 0; i < n; i++)
        if (operands[i]->e) return true;
    return false;
}

// Bounds that turned out to be 0 everywhere are let go.
static void settle(kc_interp *m, kc_interp_value *r, bool inexact) {
    if (inexact) return;
    kc_interp_free(m, r->e);
    r->e = NULL;
}

static bool compares(kc_opcode code) {
    return kc_op_table[code].rule == KC_RULE_COMPARE;
}

static void float_loop(kc_interp_value *r, kc_opcode code, int n, kc_interp_value *const *operands,
                       const kc_precision *p, bool *inexact) {
    kc_number_op *f = kc_number_op_of(code);
    bool same =
        compares(code) && operands[0] == operands[1]; // x != x asks for NaN: no error plays a part
    for (int64_t i = 0; i < r->n; i++) {
        kc_number x[3], y;
        bool open = false;
        for (int k = 0; k < n; k++) {
            x[k] = kc_interp_number(operands[k], at(operands[k], i));
            open = open || isinf(x[k].e);
        }
        y = f(x, p);
        if (open) y.e = compares(code) ? 1 : INFINITY;
        else if (same) y.e = 0;
        if (r->f) r->f[i] = y.v;
        else r->i[i] = (int64_t)y.v;
        if (r->e) r->e[i] = y.e;
        *inexact = *inexact || y.e > 0;
    }
}

static void integer_loop(kc_interp_value *r, kc_opcode code, int n,
                         kc_interp_value *const *operands, bool *inexact) {
    kc_integer_op *f = kc_integer_op_of(code);
    for (int64_t i = 0; i < r->n; i++) {
        kc_integer x[2] = {{0, 0}, {0, 0}};
        for (int k = 0; k < n; k++)
            x[k] = kc_interp_integer(operands[k], at(operands[k], i));
        kc_integer y = f(x, operands[0]->elem);
        r->i[i] = y.v;
        if (r->e) r->e[i] = y.e;
        *inexact = *inexact || y.e > 0;
    }
}

static void select_loop(kc_interp_value *r, kc_interp_value *const *o, bool *inexact) {
    for (int64_t i = 0; i < r->n; i++) {
        kc_integer c = kc_interp_integer(o[0], at(o[0], i));
        int64_t a = at(o[1], i), b = at(o[2], i);
        double e;
        if (r->f) {
            kc_number y = kc_number_select(c, kc_interp_number(o[1], a), kc_interp_number(o[2], b));
            r->f[i] = y.v, e = y.e;
        } else {
            kc_integer y =
                kc_integer_select(c, kc_interp_integer(o[1], a), kc_interp_integer(o[2], b));
            r->i[i] = y.v, e = y.e;
        }
        if (r->e) r->e[i] = e;
        *inexact = *inexact || e > 0;
    }
}

// Whether exact integers can give an open result.
static bool may_divide_by_zero(kc_opcode code) {
    return code == KC_OP_FLOORDIV || code == KC_OP_MOD || code == KC_OP_POW;
}

kc_interp_value *kc_interp_apply(kc_interp *m, const kc_op *op, kc_opcode code, int n,
                                 kc_interp_value *const *operands, bool contracted) {
    const kc_interp_value *like = widest(m, op, n, operands), *last = operands[n - 1];
    kc_interp_value *r = kc_interp_make_like(m, op, compares(code) ? KC_bool : last->elem, like);
    bool rounds = last->f ? kc_number_op_rounds(code) : may_divide_by_zero(code), inexact = false;
    if (any_bounds(n, operands) || (rounds && code != KC_OP_SELECT)) kc_interp_add_bounds(m, op, r);
    if (code == KC_OP_SELECT) {
        select_loop(r, operands, &inexact);
    } else if (last->f && kc_number_op_of(code)) {
        kc_precision p = kc_number_precision(last->elem);
        p.contracted = contracted;
        float_loop(r, code, n, operands, &p, &inexact);
    } else if (last->i && kc_integer_op_of(code)) {
        integer_loop(r, code, n, operands, &inexact);
    } else {
        kc_interp_fail(m, op, "%s has no meaning on %s", kc_op_table[code].name,
                       kc_dtype_name(last->elem));
    }
    settle(m, r, inexact);
    return r;
}

kc_interp_value *kc_interp_cast(kc_interp *m, const kc_op *op, kc_interp_value *x, kc_dtype to) {
    kc_interp_value *r = kc_interp_make_like(m, op, to, x);
    bool inexact = false, narrows = x->f && r->f &&
                                    kc_dtype_table[to].bits <= kc_dtype_table[x->elem].bits &&
                                    to != x->elem;
    if (x->e) kc_interp_add_bounds(m, op, r);
    for (int64_t i = 0; i < x->n; i++) {
        kc_number f = {0, 0};
        kc_integer k = {0, 0};
        if (x->f) f = kc_interp_number(x, i);
        else k = kc_interp_integer(x, i);
        if (r->f) f = x->f ? kc_number_to_float(f, x->elem, to) : kc_integer_to_float(k, to);
        else k = x->f ? kc_number_to_integer(f, to) : kc_integer_to_integer(k, to);
        if (r->f) r->f[i] = f.v;
        else r->i[i] = k.v;
        double e = r->f ? f.e : k.e;
        if (r->e) r->e[i] = e;
        inexact = inexact || e > 0;
    }
    settle(m, r, inexact);
    if (narrows) r->unrounded = kc_interp_hold(x);
    return r;
}

kc_interp_value *kc_interp_scalar(kc_interp *m, const kc_op *op, kc_dtype elem, double v) {
    kc_interp_value *r = kc_interp_make(m, op, elem, 0, NULL);
    if (r->i) {
        r->i[0] = kc_integer_wrap(elem, kc_dtype_saturate(KC_i64, v));
        return r;
    }
    kc_precision p = kc_number_precision(elem);
    kc_number x = kc_number_literal(v, &p);
    r->f[0] = x.v;
    if (x.e > 0) {
        kc_interp_add_bounds(m, op, r);
        r->e[0] = x.e;
    }
    return r;
}

kc_interp_value *kc_interp_count(kc_interp *m, const kc_op *op, kc_dtype elem, int64_t n) {
    if (kc_dtype_is_float(elem)) return kc_interp_scalar(m, op, elem, (double)n);
    kc_interp_value *r = kc_interp_make(m, op, elem, 0, NULL);
    r->i[0] = kc_integer_wrap(elem, n);
    return r;
}
