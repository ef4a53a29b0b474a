// min and max, comparisons, logic: decided where bounds and divisors decide them.
#include "ir/expr_internal.h"

bool kc_expr_known_le(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return false;
    if (a == b || (a->max <= b->min && a->max != INT64_MAX && b->min != INT64_MIN)) return true;
    const kc_expr *difference = kc_expr_sub(pool, b, a);
    return difference != NULL && difference->min >= 0;
}

bool kc_expr_known_equal(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return false;
    const kc_expr *difference = a == b ? NULL : kc_expr_sub(pool, a, b);
    return a == b || (difference != NULL && difference->min == 0 && difference->max == 0);
}

const kc_expr *kc_expr_choose(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                              const kc_expr *b) {
    const kc_expr *f[KC_EXPR_FACTORS];
    int n = kc_expr_chain(kind, b, f, kc_expr_chain(kind, a, f, 0));
    if (n < 0) return kc_expr_plain(pool, kind, a, b);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            bool wins = i != j && (kind == KC_EXPR_MIN ? kc_expr_known_le(pool, f[i], f[j])
                                                       : kc_expr_known_le(pool, f[j], f[i]));
            if (!wins) continue;
            f[j] = f[--n];
            i = j = -1;
            break;
        }
    return kc_expr_build_chain(pool, kind, f, n);
}

// What `P kind R` is for a polynomial P and a constant R, given P's bounds and divisor: 0, 1 or -1
// (unknown).
static int decide(const kc_expr *p, kc_wide r, kc_expr_kind kind) {
    kc_expr_range b = kc_expr_range_of(p);
    bool never = r < b.min || r > b.max || !kc_wide_divides(p->divisor, r);
    bool always = b.min == r && b.max == r;
    switch (kind) {
    case KC_EXPR_EQ: return never ? 0 : always ? 1 : -1;
    case KC_EXPR_NE: return never ? 1 : always ? 0 : -1;
    case KC_EXPR_LE: return b.max < KC_INFINITE && b.max <= r ? 1 : b.min > r ? 0 : -1;
    default: return b.min > -KC_INFINITE && b.min >= r ? 1 : b.max < r ? 0 : -1;
    }
}

static kc_expr_kind mirrored(kc_expr_kind kind) {
    switch (kind) {
    case KC_EXPR_LT: return KC_EXPR_GT;
    case KC_EXPR_LE: return KC_EXPR_GE;
    case KC_EXPR_GT: return KC_EXPR_LT;
    case KC_EXPR_GE: return KC_EXPR_LE;
    default: return kind;
    }
}

// Writes `P kind r` (kind: == != <= >=) with positive terms on the left, negative ones on the
// right, and the constant where it is positive: `M < N`, `2*M <= N + 3`, `M >= 1`.
static const kc_expr *build_comparison(kc_expr_pool *pool, const kc_poly *p, kc_expr_kind kind,
                                       kc_wide r) {
    kc_poly left = {.bad = false}, right = {.bad = false};
    for (int i = 0; i < p->n; i++)
        kc_poly_add_term(p->t[i].k > 0 ? &left : &right, kc_wide_magnitude(p->t[i].k),
                         p->t[i].mono);
    if (right.n > 0 && kind == KC_EXPR_LE && r == -1) kind = KC_EXPR_LT, r = 0;
    if (right.n > 0 && kind == KC_EXPR_GE && r == 1) kind = KC_EXPR_GT, r = 0;
    if (right.n > 0 && r < 0) left.constant = -r;
    else right.constant = r;
    return kc_expr_atom(pool, kind, kc_poly_build(pool, &left), kc_poly_build(pool, &right));
}

const kc_expr *kc_expr_comparison(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                                  const kc_expr *b) {
    kc_poly p = kc_poly_of(a);
    kc_poly_add(&p, b, -1);
    if (kc_poly_build(pool, &p) == NULL) return kc_expr_plain(pool, kind, a, b);
    // The side that holds the first monomial of all stands on the left.
    int first = 0;
    for (int i = 1; i < p.n; i++)
        if (kc_expr_compare(pool, p.t[i].mono, p.t[first].mono) < 0) first = i;
    bool flip = p.n > 0 && p.t[first].k < 0;
    for (int i = 0; flip && i < p.n; i++)
        p.t[i].k = -p.t[i].k;
    if (flip) kind = mirrored(kind);
    kc_wide r = flip ? p.constant : -p.constant, g = 0;
    if (kind == KC_EXPR_LT) kind = KC_EXPR_LE, r--;
    if (kind == KC_EXPR_GT) kind = KC_EXPR_GE, r++;
    p.constant = 0;
    for (int i = 0; i < p.n; i++)
        g = kc_wide_gcd(g, p.t[i].k);
    const kc_expr *e = kc_poly_build(pool, &p);
    int known = e == NULL ? -1 : decide(e, r, kind);
    if (g != 0 && !kc_wide_divides(g, r) && kind == KC_EXPR_EQ) known = 0;
    if (g != 0 && !kc_wide_divides(g, r) && kind == KC_EXPR_NE) known = 1;
    if (known >= 0) return kc_expr_const(pool, known);
    if (e == NULL || g == 0) return kc_expr_plain(pool, kind, a, b);
    for (int i = 0; i < p.n; i++)
        p.t[i].k /= g;
    r = kind == KC_EXPR_GE ? -kc_wide_floor_div(-r, g) : kc_wide_floor_div(r, g);
    const kc_expr *c = build_comparison(pool, &p, kind, r);
    return c != NULL ? c : kc_expr_plain(pool, kind, a, b);
}

static bool is_truth(const kc_expr *e) {
    return e->min >= 0 && e->max <= 1;
}

static const kc_expr *truth(kc_expr_pool *pool, const kc_expr *e) {
    return is_truth(e) ? e : kc_expr_comparison(pool, KC_EXPR_NE, e, kc_expr_const(pool, 0));
}

const kc_expr *kc_expr_logic(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                             const kc_expr *b) {
    a = truth(pool, a), b = truth(pool, b);
    if (a == NULL || b == NULL) return NULL;
    bool neutral = kind == KC_EXPR_AND;
    for (int side = 0; side < 2; side++) {
        const kc_expr *one = side ? b : a, *other = side ? a : b;
        if (one->kind == KC_EXPR_CONST) return (one->value != 0) == neutral ? other : one;
    }
    if (a == b || (a->kind == kind && a->b == b)) return a;
    // Left-deep, in the order written: evaluation stops early.
    if (b->kind == kind) return kc_expr_logic(pool, kind, kc_expr_logic(pool, kind, a, b->a), b->b);
    return kc_expr_plain(pool, kind, a, b);
}

const kc_expr *kc_expr_not(kc_expr_pool *pool, const kc_expr *a) {
    static const kc_expr_kind opposite[] = {KC_EXPR_NE, KC_EXPR_EQ, KC_EXPR_GE,
                                            KC_EXPR_GT, KC_EXPR_LE, KC_EXPR_LT};
    if (a == NULL) return NULL;
    if (a->kind == KC_EXPR_NOT) return a->a;
    a = truth(pool, a);
    if (a == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST) return kc_expr_const(pool, !a->value);
    if (a->kind >= KC_EXPR_EQ && a->kind <= KC_EXPR_GE)
        return kc_expr_binary(pool, opposite[a->kind - KC_EXPR_EQ], a->a, a->b);
    return kc_expr_intern(pool, (kc_expr){.kind = KC_EXPR_NOT, .a = a});
}
