// Any kind by its operands; building again with a symbol replaced, or in another pool.
#include "ir/expr_internal.h"

#include <string.h>

const kc_expr *kc_expr_binary(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                              const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    if (a->kind == KC_EXPR_CONST && b->kind == KC_EXPR_CONST) {
        kc_wide v;
        bool ok = kc_expr_apply(kind, a->value, b->value, &v) == KC_EXPR_OK && kc_wide_fits(v);
        if (ok) return kc_expr_const(pool, (int64_t)v);
    }
    switch (kind) {
    case KC_EXPR_ADD: return kc_expr_add(pool, a, b);
    case KC_EXPR_SUB: return kc_expr_sub(pool, a, b);
    case KC_EXPR_MUL: return kc_expr_mul(pool, a, b);
    case KC_EXPR_FLOORDIV: return kc_expr_floordiv(pool, a, b);
    case KC_EXPR_MOD: return kc_expr_mod(pool, a, b);
    case KC_EXPR_DIV: return kc_expr_exact_div(pool, a, b);
    case KC_EXPR_CDIV: return kc_expr_cdiv(pool, a, b);
    case KC_EXPR_MIN:
    case KC_EXPR_MAX: return kc_expr_choose(pool, kind, a, b);
    case KC_EXPR_AND:
    case KC_EXPR_OR: return kc_expr_logic(pool, kind, a, b);
    case KC_EXPR_EQ:
    case KC_EXPR_NE:
    case KC_EXPR_LT:
    case KC_EXPR_LE:
    case KC_EXPR_GT:
    case KC_EXPR_GE: return kc_expr_comparison(pool, kind, a, b);
    case KC_EXPR_CONST:
    case KC_EXPR_SYMBOL:
    case KC_EXPR_NOT: break;
    }
    return NULL;
}

// Whether the pool's facts leave the symbol one value that those it comes from do not.
static bool is_fixed_here(const kc_expr_pool *pool, int index, kc_expr_facts from, int64_t *value) {
    kc_expr_facts facts = kc_expr_get_facts(pool, index);
    *value = facts.min;
    return facts.min == facts.max && from.min != from.max;
}

// Builds e again in `pool`: symbols through `from` by name (NULL: the same pool), and one replaced
// by `by`.
static const kc_expr *rebuild(kc_expr_pool *pool, const kc_expr_pool *from, const kc_expr *e,
                              int index, const kc_expr *by) {
    if (e == NULL) return NULL;
    if (e->kind == KC_EXPR_CONST) return kc_expr_const(pool, e->value);
    if (e->kind == KC_EXPR_SYMBOL && from == NULL) return e->symbol == index ? by : e;
    if (e->kind == KC_EXPR_SYMBOL) {
        const kc_expr_named *s = &from->symbols[e->symbol];
        bool known = kc_expr_find_symbol(pool, s->name, strlen(s->name)) >= 0;
        int at = kc_expr_symbol_index(pool, s->name, strlen(s->name));
        if (!known && at >= 0) kc_expr_set_facts(pool, at, s->facts);
        int64_t value;
        if (known && is_fixed_here(pool, at, s->facts, &value)) return kc_expr_const(pool, value);
        return kc_expr_symbol_node(pool, at);
    }
    const kc_expr *a = rebuild(pool, from, e->a, index, by);
    if (e->kind == KC_EXPR_NOT) return kc_expr_not(pool, a);
    return kc_expr_binary(pool, e->kind, a, rebuild(pool, from, e->b, index, by));
}

const kc_expr *kc_expr_substitute(kc_expr_pool *pool, const kc_expr *e, int index,
                                  const kc_expr *by) {
    return rebuild(pool, NULL, e, index, by);
}

const kc_expr *kc_expr_import(kc_expr_pool *to, const kc_expr_pool *from, const kc_expr *e) {
    return to == from ? e : rebuild(to, from, e, -1, NULL);
}
