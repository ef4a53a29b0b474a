// Polynomials: how sums and products are taken apart, computed with and built again in canonical
// order.
#include "ir/expr_internal.h"

#include <string.h>

// Nodes are interned, so that below two different nodes only the first differing pair of operands
// is ever entered.
int kc_expr_compare(const kc_expr_pool *pool, const kc_expr *x, const kc_expr *y) {
    if (x == y) return 0;
    if (x == NULL || y == NULL) return x == NULL ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == KC_EXPR_SYMBOL)
        return strcmp(pool->symbols[x->symbol].name, pool->symbols[y->symbol].name);
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    int order = kc_expr_compare(pool, x->a, y->a);
    return order != 0 ? order : kc_expr_compare(pool, x->b, y->b);
}

static bool term_before(const kc_expr_pool *pool, const kc_term *x, const kc_term *y) {
    if ((x->k < 0) != (y->k < 0)) return y->k < 0;
    return kc_expr_compare(pool, x->mono, y->mono) < 0;
}

int kc_expr_chain(kc_expr_kind kind, const kc_expr *e, const kc_expr **out, int n) {
    int links = 1;
    for (const kc_expr *x = e; x->kind == kind; x = x->a)
        links++;
    if (n < 0 || n + links > KC_EXPR_FACTORS) return -1;
    for (int i = n + links - 1; i >= n; i--) {
        out[i] = i > n ? e->b : e;
        e = e->a;
    }
    return n + links;
}

const kc_expr *kc_expr_build_chain(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr **f,
                                   int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && kc_expr_compare(pool, f[j], f[j - 1]) < 0; j--) {
            const kc_expr *t = f[j];
            f[j] = f[j - 1];
            f[j - 1] = t;
        }
    const kc_expr *e = f[0];
    for (int i = 1; i < n; i++)
        e = kc_expr_plain(pool, kind, e, f[i]);
    return e;
}

// ---- polynomials --------------------------------------------------------------------------------

void kc_poly_add_term(kc_poly *p, kc_wide k, const kc_expr *mono) {
    if (mono == NULL) p->bad = true;
    if (p->bad || k == 0) return;
    int i = 0;
    while (i < p->n && p->t[i].mono != mono)
        i++;
    if (i == KC_POLY_TERMS) {
        p->bad = true;
        return;
    }
    if (i == p->n) p->t[p->n++] = (kc_term){0, mono};
    if (!kc_wide_add(p->t[i].k, k, &p->t[i].k)) p->bad = true;
    if (p->t[i].k == 0) p->t[i] = p->t[--p->n];
}

void kc_poly_add_constant(kc_poly *p, kc_wide k) {
    if (!kc_wide_add(p->constant, k, &p->constant)) p->bad = true;
}

void kc_poly_add(kc_poly *p, const kc_expr *e, kc_wide scale) {
    for (; e != NULL && e->kind == KC_EXPR_ADD; e = e->a)
        kc_poly_add(p, e->b, scale);
    kc_wide k = scale;
    if (e == NULL || !kc_wide_fits(scale)) {
        p->bad = true;
    } else if (e->kind == KC_EXPR_CONST) {
        kc_poly_add_constant(p, scale * e->value);
    } else {
        if (e->kind == KC_EXPR_MUL && e->a->kind == KC_EXPR_CONST) k *= e->a->value, e = e->b;
        kc_poly_add_term(p, k, e);
    }
}

kc_poly kc_poly_of(const kc_expr *e) {
    kc_poly p = {.bad = false};
    kc_poly_add(&p, e, 1);
    return p;
}

bool kc_poly_fits(const kc_poly *p) {
    bool ok = !p->bad && kc_wide_fits(p->constant);
    for (int i = 0; ok && i < p->n; i++)
        ok = kc_wide_fits(p->t[i].k);
    return ok;
}

static const kc_expr *mono_mul(kc_expr_pool *pool, const kc_expr *x, const kc_expr *y) {
    const kc_expr *f[KC_EXPR_FACTORS];
    int n = kc_expr_chain(KC_EXPR_MUL, y, f, kc_expr_chain(KC_EXPR_MUL, x, f, 0));
    return n < 0 ? NULL : kc_expr_build_chain(pool, KC_EXPR_MUL, f, n);
}

// k * (x // c), where c divides x, is smaller when k and c share a factor: 8 * (K // 8) is K.
// Rewrites one such term; false when there is none.
static bool reduce_term(kc_expr_pool *pool, kc_poly *p) {
    const kc_expr *f[KC_EXPR_FACTORS];
    for (int i = 0; i < p->n; i++) {
        int n = kc_expr_chain(KC_EXPR_MUL, p->t[i].mono, f, 0);
        for (int j = 0; j < n; j++) {
            kc_wide g =
                kc_expr_is_whole_quotient(f[j]) ? kc_wide_gcd(p->t[i].k, f[j]->b->value) : 1;
            if (g <= 1 || !kc_wide_fits(p->t[i].k / g)) continue;
            const kc_expr *rest = kc_expr_const(pool, (int64_t)(p->t[i].k / g));
            const kc_expr *divisor = kc_expr_const(pool, (int64_t)(f[j]->b->value / g));
            f[j] = kc_expr_floordiv(pool, f[j]->a, divisor);
            for (int m = 0; m < n; m++)
                rest = kc_expr_mul(pool, rest, f[m]);
            p->t[i] = p->t[--p->n];
            kc_poly_add(p, rest, 1);
            return true;
        }
    }
    return false;
}

const kc_expr *kc_poly_build(kc_expr_pool *pool, kc_poly *p) {
    while (kc_poly_fits(p) && reduce_term(pool, p)) {
    }
    if (!kc_poly_fits(p)) return NULL;
    for (int i = 1; i < p->n; i++)
        for (int j = i; j > 0 && term_before(pool, &p->t[j], &p->t[j - 1]); j--) {
            kc_term t = p->t[j];
            p->t[j] = p->t[j - 1];
            p->t[j - 1] = t;
        }
    const kc_expr *sum = NULL;
    for (int i = 0; i < p->n; i++) {
        const kc_expr *e = p->t[i].mono;
        if (p->t[i].k != 1)
            e = kc_expr_plain(pool, KC_EXPR_MUL, kc_expr_const(pool, (int64_t)p->t[i].k), e);
        sum = i == 0 ? e : kc_expr_plain(pool, KC_EXPR_ADD, sum, e);
        if (sum == NULL) return NULL;
    }
    const kc_expr *constant = kc_expr_const(pool, (int64_t)p->constant);
    if (p->n == 0) return constant;
    if (p->constant != 0) sum = kc_expr_plain(pool, KC_EXPR_ADD, sum, constant);
    return sum;
}

const kc_expr *kc_poly_build_or(kc_expr_pool *pool, kc_poly *p, kc_expr_kind kind, const kc_expr *a,
                                const kc_expr *b) {
    const kc_expr *e = kc_poly_build(pool, p);
    return e != NULL ? e : kc_expr_plain(pool, kind, a, b);
}

const kc_expr *kc_expr_add(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    kc_poly p = kc_poly_of(a);
    kc_poly_add(&p, b, 1);
    return kc_poly_build_or(pool, &p, KC_EXPR_ADD, a, b);
}

const kc_expr *kc_poly_scaled(kc_expr_pool *pool, const kc_expr *e, int64_t k) {
    if (e == NULL) return NULL;
    kc_poly p = {.bad = false};
    kc_poly_add(&p, e, k);
    return kc_poly_build_or(pool, &p, KC_EXPR_MUL, kc_expr_const(pool, k), e);
}

const kc_expr *kc_expr_sub(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    kc_poly p = kc_poly_of(a);
    kc_poly_add(&p, b, -1);
    const kc_expr *e = kc_poly_build(pool, &p);
    return e != NULL ? e : kc_expr_plain(pool, KC_EXPR_ADD, a, kc_poly_scaled(pool, b, -1));
}

static kc_poly poly_product(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    kc_poly x = kc_poly_of(a), y = kc_poly_of(b), p = {.bad = false};
    if (!kc_poly_fits(&x) || !kc_poly_fits(&y) || (x.n + 1) * (y.n + 1) > 2 * KC_POLY_TERMS)
        p.bad = true;
    for (int i = 0; !p.bad && i <= x.n; i++)
        for (int j = 0; !p.bad && j <= y.n; j++) {
            kc_wide k = (i < x.n ? x.t[i].k : x.constant) * (j < y.n ? y.t[j].k : y.constant);
            if (i == x.n && j == y.n) kc_poly_add_constant(&p, k);
            else if (i == x.n) kc_poly_add_term(&p, k, y.t[j].mono);
            else if (j == y.n) kc_poly_add_term(&p, k, x.t[i].mono);
            else kc_poly_add_term(&p, k, mono_mul(pool, x.t[i].mono, y.t[j].mono));
        }
    return p;
}

const kc_expr *kc_expr_mul(kc_expr_pool *pool, const kc_expr *a, const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST) return kc_poly_scaled(pool, b, a->value);
    if (b->kind == KC_EXPR_CONST) return kc_poly_scaled(pool, a, b->value);
    kc_poly p = poly_product(pool, a, b);
    return kc_poly_build_or(pool, &p, KC_EXPR_MUL, a, b);
}

bool kc_expr_linear_in(kc_expr_pool *pool, const kc_expr *e, int wanted, int64_t *c,
                       const kc_expr **rest) {
    kc_poly p = kc_poly_of(e), others = {.constant = p.constant};
    kc_wide k = 0;
    for (int i = 0; !p.bad && i < p.n; i++) {
        const kc_expr *mono = p.t[i].mono;
        if (mono->kind == KC_EXPR_SYMBOL && mono->symbol == wanted) k = p.t[i].k;
        else if (kc_expr_uses(mono, wanted)) return false;
        else kc_poly_add_term(&others, p.t[i].k, mono);
    }
    const kc_expr *r = p.bad || k == 0 || !kc_wide_fits(k) ? NULL : kc_poly_build(pool, &others);
    if (r == NULL) return false;
    *c = (int64_t)k;
    *rest = r;
    return true;
}
