// Quotients and remainders: what the facts prove to divide is divided, the rest stays a quotient of
// the smallest operands.
#include "ir/expr_internal.h"

static bool nonzero(const kc_expr *e) {
    return e->min > 0 || e->max < 0;
}

// (k*m) / c as an expression when the facts prove that it divides, else NULL. Divides the
// coefficient as far as it goes, then a factor, then the whole monomial.
static const kc_expr *divide_term(kc_expr_pool *pool, const kc_term *t, kc_wide c) {
    const kc_expr *f[KC_EXPR_FACTORS], *q = t->mono;
    kc_wide g = kc_wide_gcd(t->k, c), rest = c / g;
    int n = kc_expr_chain(KC_EXPR_MUL, t->mono, f, 0), at = n;
    if (rest != 1) {
        for (int i = n - 1; i >= 0; i--)
            if (kc_wide_divides(rest, f[i]->divisor)) at = i;
        const kc_expr *whole = at < n ? f[at] : t->mono;
        if (!kc_wide_divides(rest, whole->divisor)) return NULL;
        if (kc_expr_is_whole_quotient(whole) && kc_wide_fits(rest * whole->b->value))
            q = kc_expr_floordiv(pool, whole->a, kc_expr_constant(pool, rest * whole->b->value));
        else q = kc_expr_atom(pool, KC_EXPR_FLOORDIV, whole, kc_expr_constant(pool, rest));
        for (int i = 0; at < n && i < n; i++)
            if (i != at) q = kc_expr_mul(pool, q, f[i]);
    }
    return kc_wide_fits(t->k / g) ? kc_poly_scaled(pool, q, (int64_t)(t->k / g)) : NULL;
}

// a / b when b is a single product that stands, as it is, in every term of a; else NULL.
static const kc_expr *cancel(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    const kc_expr *f[KC_EXPR_FACTORS], *g[KC_EXPR_FACTORS];
    kc_poly x = kc_poly_of(a), y = kc_poly_of(b), q = {.bad = false};
    if (!nonzero(b) || !kc_poly_fits(&x) || !kc_poly_fits(&y)) return NULL;
    if (y.n != 1 || y.constant != 0 || x.constant != 0) return NULL;
    int m = kc_expr_chain(KC_EXPR_MUL, y.t[0].mono, g, 0);
    for (int i = 0; i < x.n; i++) {
        int n = kc_expr_chain(KC_EXPR_MUL, x.t[i].mono, f, 0);
        if (n < 0 || m < 0 || !kc_wide_divides(y.t[0].k, x.t[i].k)) return NULL;
        for (int j = 0; j < m; j++) {
            int k = 0;
            while (k < n && f[k] != g[j])
                k++;
            if (k == n) return NULL;
            for (n--; k < n; k++)
                f[k] = f[k + 1];
        }
        kc_wide scale = x.t[i].k / y.t[0].k;
        if (n == 0) kc_poly_add_constant(&q, scale);
        else kc_poly_add_term(&q, scale, kc_expr_build_chain(pool, KC_EXPR_MUL, f, n));
    }
    return kc_poly_build(pool, &q);
}

// Divides p's coefficients and c by what they share.
static kc_wide take_common(kc_poly *p, kc_wide *c, bool with_constant) {
    kc_wide g = with_constant ? kc_wide_gcd(*c, p->constant) : *c;
    for (int i = 0; i < p->n; i++)
        g = kc_wide_gcd(g, p->t[i].k);
    for (int i = 0; i < p->n; i++)
        p->t[i].k /= g;
    p->constant = kc_wide_floor_div(p->constant, g);
    *c /= g;
    return g;
}

// Moves what c surely divides from p to *quotient; only the rest stays, with its constant in [0,
// c).
static void split_multiples(kc_expr_pool *pool, kc_poly *p, kc_wide c, kc_poly *quotient) {
    kc_poly rest = {.bad = p->bad};
    for (int i = 0; i < p->n; i++) {
        const kc_expr *q = divide_term(pool, &p->t[i], c);
        if (q != NULL) kc_poly_add(quotient, q, 1);
        else kc_poly_add_term(&rest, p->t[i].k, p->t[i].mono);
    }
    kc_wide k = kc_wide_floor_div(p->constant, c);
    kc_poly_add_constant(quotient, k);
    rest.constant = p->constant - k * c;
    *p = rest;
}

// floor(e / c) and e - c*floor(e / c) are known when all of e's bounds lie between two multiples of
// c.
static bool one_quotient(const kc_expr *e, kc_wide c, kc_wide *q) {
    *q = kc_wide_floor_div(e->min, c);
    return e->min != INT64_MIN && e->max != INT64_MAX && kc_wide_floor_div(e->max, c) == *q;
}

static const kc_expr *floordiv_rest(kc_expr_pool *pool, kc_poly *rest, kc_wide c) {
    kc_wide q;
    take_common(rest, &c, false);
    const kc_expr *x = rest->t[0].mono;
    bool nested = rest->n == 1 && rest->t[0].k == 1 && x->kind == KC_EXPR_FLOORDIV &&
                  x->b->kind == KC_EXPR_CONST && x->b->value > 0;
    if (nested && kc_wide_fits(c * x->b->value) && kc_wide_fits(rest->constant * x->b->value)) {
        kc_wide inner = x->b->value;
        const kc_expr *sum =
            kc_expr_add(pool, x->a, kc_expr_constant(pool, rest->constant * inner));
        return kc_expr_floordiv(pool, sum, kc_expr_constant(pool, c * inner));
    }
    const kc_expr *e = kc_poly_build(pool, rest);
    if (e != NULL && one_quotient(e, c, &q)) return kc_expr_constant(pool, q);
    return kc_expr_atom(pool, KC_EXPR_FLOORDIV, e, kc_expr_constant(pool, c));
}

const kc_expr *kc_expr_floordiv(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind != KC_EXPR_CONST) {
        const kc_expr *q = cancel(pool, a, b);
        return q != NULL ? q : kc_expr_atom(pool, KC_EXPR_FLOORDIV, a, b);
    }
    kc_wide c = b->value;
    if (c == 0 || c == INT64_MIN) return kc_expr_plain(pool, KC_EXPR_FLOORDIV, a, b);
    if (c < 0)
        return kc_expr_floordiv(pool, kc_poly_scaled(pool, a, -1), kc_expr_constant(pool, -c));
    kc_poly p = kc_poly_of(a), quotient = {.bad = false};
    if (!kc_poly_fits(&p)) return kc_expr_plain(pool, KC_EXPR_FLOORDIV, a, b);
    split_multiples(pool, &p, c, &quotient);
    if (p.n > 0) kc_poly_add(&quotient, floordiv_rest(pool, &p, c), 1);
    return kc_poly_build_or(pool, &quotient, KC_EXPR_FLOORDIV, a, b);
}

// The rest shares g with c: (g*r + s) % (g*d) is g*(r % d) + s for 0 <= s < g.
static const kc_expr *mod_rest(kc_expr_pool *pool, kc_poly *rest, kc_wide c) {
    kc_wide q, below = rest->constant, g = take_common(rest, &c, false);
    below -= rest->constant * g;
    const kc_expr *e = kc_poly_build(pool, rest), *x = rest->t[0].mono;
    if (e == NULL) return NULL;
    if (e == x && x->kind == KC_EXPR_MOD && x->b->kind == KC_EXPR_CONST && x->b->value > 0 &&
        kc_wide_divides(c, x->b->value))
        e = kc_expr_mod(pool, x->a, kc_expr_constant(pool, c));
    else if (one_quotient(e, c, &q)) e = kc_expr_sub(pool, e, kc_expr_constant(pool, q * c));
    else e = kc_expr_atom(pool, KC_EXPR_MOD, e, kc_expr_constant(pool, c));
    return kc_expr_add(pool, kc_poly_scaled(pool, e, (int64_t)g), kc_expr_constant(pool, below));
}

const kc_expr *kc_expr_mod(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind != KC_EXPR_CONST) {
        if (b->min > 0 && a->min >= 0 && a->max < b->min) return a;
        return cancel(pool, a, b) != NULL ? kc_expr_const(pool, 0)
                                          : kc_expr_atom(pool, KC_EXPR_MOD, a, b);
    }
    kc_wide c = b->value;
    if (c == 0 || c == INT64_MIN) return kc_expr_plain(pool, KC_EXPR_MOD, a, b);
    if (c < 0)
        return kc_poly_scaled(
            pool, kc_expr_mod(pool, kc_poly_scaled(pool, a, -1), kc_expr_constant(pool, -c)), -1);
    kc_poly p = kc_poly_of(a), quotient = {.bad = false};
    if (!kc_poly_fits(&p)) return kc_expr_plain(pool, KC_EXPR_MOD, a, b);
    split_multiples(pool, &p, c, &quotient);
    for (int i = 0; i < p.n; i++)
        p.t[i].k %= c;
    const kc_expr *e = p.n > 0 ? mod_rest(pool, &p, c) : kc_expr_constant(pool, p.constant);
    return e != NULL ? e : kc_expr_plain(pool, KC_EXPR_MOD, a, b);
}

const kc_expr *kc_expr_exact_div(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (b->kind != KC_EXPR_CONST) {
        const kc_expr *q = cancel(pool, a, b);
        return q != NULL ? q : kc_expr_plain(pool, KC_EXPR_DIV, a, b);
    }
    kc_wide c = b->value;
    if (c != 0 && c != INT64_MIN && kc_wide_divides(c, a->divisor))
        return kc_expr_floordiv(pool, a, b);
    if (c == 0 || c == INT64_MIN) return kc_expr_plain(pool, KC_EXPR_DIV, a, b);
    if (c < 0)
        return kc_expr_binary(pool, KC_EXPR_DIV, kc_poly_scaled(pool, a, -1),
                              kc_expr_constant(pool, -c));
    kc_poly p = kc_poly_of(a);
    if (!kc_poly_fits(&p)) return kc_expr_plain(pool, KC_EXPR_DIV, a, b);
    take_common(&p, &c, true);
    const kc_expr *e = kc_poly_build(pool, &p);
    if (e == NULL) return kc_expr_plain(pool, KC_EXPR_DIV, a, b);
    return c == 1 ? e : kc_expr_plain(pool, KC_EXPR_DIV, e, kc_expr_constant(pool, c));
}

const kc_expr *kc_expr_cdiv(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (b->kind == KC_EXPR_CONST && b->value > 0)
        return kc_expr_floordiv(pool, kc_expr_add(pool, a, kc_expr_const(pool, b->value - 1)), b);
    if (b->kind == KC_EXPR_CONST && b->value < 0 && b->value != INT64_MIN)
        return kc_poly_scaled(pool, kc_expr_floordiv(pool, a, kc_expr_const(pool, -b->value)), -1);
    const kc_expr *q = cancel(pool, a, b);
    return q != NULL ? q : kc_expr_atom(pool, KC_EXPR_CDIV, a, b);
}
