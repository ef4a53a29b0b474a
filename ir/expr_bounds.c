// Bounds and divisors: each node gets both when it is made.
#include "ir/expr_internal.h"

kc_expr_range kc_expr_range_of(const kc_expr *e) {
    return (kc_expr_range){e->min == INT64_MIN ? -KC_INFINITE : e->min,
                           e->max == INT64_MAX ? KC_INFINITE : e->max};
}

static int64_t clamp(kc_wide v) {
    return v <= INT64_MIN ? INT64_MIN : v >= INT64_MAX ? INT64_MAX : (int64_t)v;
}

// Extremes over the corners of two ranges; operands are at most 2^63 in magnitude, so products fit.
static kc_expr_range corners(kc_expr_range a, kc_expr_range b, bool divide) {
    kc_expr_range r = {0, 0};
    for (int i = 0; i < 4; i++) {
        kc_wide x = i & 1 ? a.max : a.min, y = i & 2 ? b.max : b.min;
        kc_wide v = divide ? kc_wide_floor_div(x, y) : x * y;
        if (i == 0 || v < r.min) r.min = v;
        if (i == 0 || v > r.max) r.max = v;
    }
    return r;
}

static kc_expr_range sum_range(kc_expr_range a, kc_expr_range b) {
    kc_expr_range r = {a.min + b.min, a.max + b.max};
    if (a.min == -KC_INFINITE || b.min == -KC_INFINITE) r.min = -KC_INFINITE;
    if (a.max == KC_INFINITE || b.max == KC_INFINITE) r.max = KC_INFINITE;
    return r;
}

static kc_expr_range narrower(kc_expr_range a, kc_expr_range b) {
    return (kc_expr_range){a.min > b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
}

// The bounds of a sum of products whose atoms each stand at most once in a product: it is linear in
// every atom, so that its extremes over the box of the atoms' bounds are at corners. (M-1)*(N-1),
// multiplied out, gets its true bounds this way.
static kc_expr_range corner_range(const kc_expr *sum) {
    enum { MAX_ATOMS = 6 };
    const kc_expr_range unknown = {-KC_INFINITE, KC_INFINITE};
    kc_expr_range r = unknown;
    const kc_expr *atoms[MAX_ATOMS], *f[KC_EXPR_FACTORS];
    unsigned masks[KC_POLY_TERMS];
    int count = 0;
    const kc_poly p = kc_poly_of(sum);
    if (!kc_poly_fits(&p)) return unknown;
    for (int i = 0; i < p.n; i++) {
        int n = kc_expr_chain(KC_EXPR_MUL, p.t[i].mono, f, 0);
        masks[i] = 0;
        for (int j = 0; j < n; j++) {
            int a = 0;
            while (a < count && atoms[a] != f[j])
                a++;
            if (a == MAX_ATOMS || f[j]->min == INT64_MIN || f[j]->max == INT64_MAX) return unknown;
            if (a == count) atoms[count++] = f[j];
            if (masks[i] >> a & 1) return unknown;
            masks[i] |= 1u << a;
        }
        if (n < 0) return unknown;
    }
    for (unsigned corner = 0; corner < 1u << count; corner++) {
        kc_wide total = p.constant;
        for (int i = 0; i < p.n; i++) {
            kc_wide v = p.t[i].k;
            for (int a = 0; a < count; a++)
                if ((masks[i] >> a & 1) &&
                    !kc_wide_multiply(v, corner >> a & 1 ? atoms[a]->max : atoms[a]->min, &v))
                    return unknown;
            if (!kc_wide_add(total, v, &total)) return unknown;
        }
        if (corner == 0 || total < r.min) r.min = total;
        if (corner == 0 || total > r.max) r.max = total;
    }
    return r;
}

static kc_expr_range quotient_range(kc_expr_range a, kc_expr_range b) {
    // Whatever the divisor, a quotient of integers is no larger than the dividend.
    kc_wide most = kc_wide_magnitude(a.min) > kc_wide_magnitude(a.max) ? kc_wide_magnitude(a.min)
                                                                       : kc_wide_magnitude(a.max);
    kc_expr_range r = {-most, most};
    if (b.min > 0) {
        r = corners(a, b, true);
        if (a.min == -KC_INFINITE) r.min = -KC_INFINITE;
        if (a.max == KC_INFINITE) r.max = KC_INFINITE;
    }
    return r;
}

static kc_expr_range mod_range(kc_expr_range a, kc_expr_range b) {
    kc_expr_range r = {b.min < 0 ? b.min + 1 : 0, b.max > 0 ? b.max - 1 : 0};
    if (b.max == KC_INFINITE) r.max = KC_INFINITE;
    if (b.min == -KC_INFINITE) r.min = -KC_INFINITE;
    if (b.min > 0 && a.min >= 0 && a.max < r.max) r.max = a.max;
    if (b.min > 0 && a.min >= 0 && a.max < b.min) r.min = a.min;
    return r;
}

static kc_expr_range node_range(const kc_expr_pool *pool, const kc_expr *e) {
    if (e->kind == KC_EXPR_CONST) return (kc_expr_range){e->value, e->value};
    if (e->kind == KC_EXPR_SYMBOL) {
        kc_expr_facts f = pool->symbols[e->symbol].facts;
        return kc_expr_range_of(&(kc_expr){.min = f.min, .max = f.max});
    }
    kc_expr_range a = kc_expr_range_of(e->a), b = e->b != NULL ? kc_expr_range_of(e->b) : a;
    switch (e->kind) {
    case KC_EXPR_ADD: return narrower(corner_range(e), sum_range(a, b));
    case KC_EXPR_MUL: return corners(a, b, false);
    case KC_EXPR_FLOORDIV:
    case KC_EXPR_DIV: return quotient_range(a, b);
    case KC_EXPR_CDIV: {
        kc_expr_range q = quotient_range((kc_expr_range){-a.max, -a.min}, b);
        return (kc_expr_range){-q.max, -q.min};
    }
    case KC_EXPR_MOD: return mod_range(a, b);
    case KC_EXPR_MIN:
        return (kc_expr_range){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
    case KC_EXPR_MAX:
        return (kc_expr_range){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
    default: return (kc_expr_range){0, 1};
    }
}

static kc_wide node_divisor(const kc_expr_pool *pool, const kc_expr *e) {
    kc_wide a = e->a != NULL ? e->a->divisor : 1, b = e->b != NULL ? e->b->divisor : 1;
    switch (e->kind) {
    case KC_EXPR_CONST:
        return e->value == INT64_MIN ? INT64_MAX / 2 + 1 : kc_wide_magnitude(e->value);
    case KC_EXPR_SYMBOL: return pool->symbols[e->symbol].facts.multiple_of;
    case KC_EXPR_MUL: return kc_wide_fits(a * b) ? a * b : a > b ? a : b;
    case KC_EXPR_ADD:
    case KC_EXPR_MOD:
    case KC_EXPR_MIN:
    case KC_EXPR_MAX: return kc_wide_gcd(a, b);
    case KC_EXPR_FLOORDIV: return kc_expr_is_whole_quotient(e) ? a / b : 1;
    case KC_EXPR_DIV:
        return e->b->kind == KC_EXPR_CONST && e->b->value > 0 ? a / kc_wide_gcd(a, b) : 1;
    default: return 1;
    }
}

// Sets bounds and divisor; bounds are pulled in to multiples of the divisor.
static void set_bounds(kc_expr *e, kc_expr_range r) {
    kc_wide d = e->divisor;
    if (r.min < -KC_INFINITE) r.min = -KC_INFINITE;
    if (r.max > KC_INFINITE) r.max = KC_INFINITE;
    if (d > 1 && r.min > -KC_INFINITE) r.min = -kc_wide_floor_div(-r.min, d) * d;
    if (d > 1 && r.max < KC_INFINITE) r.max = kc_wide_floor_div(r.max, d) * d;
    // No value at all (facts that contradict each other, or an operand that always fails): claim
    // nothing.
    if (r.min > r.max) r = (kc_expr_range){-KC_INFINITE, KC_INFINITE};
    e->min = clamp(r.min);
    e->max = clamp(r.max);
}

void kc_expr_analyse(const kc_expr_pool *pool, kc_expr *e) {
    e->divisor = clamp(node_divisor(pool, e));
    set_bounds(e, node_range(pool, e));
}

int64_t kc_expr_min_value(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->min;
}

int64_t kc_expr_max_value(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->max;
}

int64_t kc_expr_divisor(const kc_expr_pool *pool, const kc_expr *e) {
    (void)pool;
    return e->divisor;
}
