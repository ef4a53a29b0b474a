#include "compiler/frontend/binding.h"

#include <string.h>

enum { MAX_TYPES = 512 };

typedef struct {
    const kc_op *func;
    kc_expr_pool *pool;
    const kc_type *types[MAX_TYPES]; // of inputs, then outputs
    int n_types, n_symbols;
    kc_bound *bound;
} solver;

static void collect_types(solver *s) {
    const kc_output *outputs;
    int n_outputs = kc_func_outputs(s->func, &outputs);
    const kc_block *body = s->func->body;
    for (int i = 0; i < body->n_args && s->n_types < MAX_TYPES; i++)
        s->types[s->n_types++] = &body->args[i]->type;
    for (int i = 0; i < n_outputs && s->n_types < MAX_TYPES; i++)
        s->types[s->n_types++] = &outputs[i].type;
}

// The only unknown symbol of an expression, -1 when it has none, -2 when it has several.
static int only_unknown(const solver *s, const kc_expr *expr) {
    if (!expr) return -1;
    if (expr->kind == KC_EXPR_SYMBOL)
        return s->bound[expr->symbol] == KC_BOUND_PASSED ? expr->symbol : -1;
    int a = only_unknown(s, expr->a), b = only_unknown(s, expr->b);
    if (a == -1 || a == b) return b;
    return b == -1 ? a : -2;
}

static void bind_bare(solver *s) {
    for (int i = 0; i < s->n_types; i++)
        for (int d = 0; d < s->types[i]->rank; d++)
            if (s->types[i]->shape[d]->kind == KC_EXPR_SYMBOL)
                s->bound[s->types[i]->shape[d]->symbol] = KC_BOUND_SHAPE;
}

static bool bind_affine_once(solver *s) {
    for (int i = 0; i < s->n_types; i++)
        for (int d = 0; d < s->types[i]->rank; d++) {
            const kc_expr *extent = s->types[i]->shape[d], *rest;
            int symbol = only_unknown(s, extent);
            int64_t factor;
            if (symbol < 0 || !kc_expr_linear_in(s->pool, extent, symbol, &factor, &rest)) continue;
            s->bound[symbol] = KC_BOUND_SHAPE;
            return true;
        }
    return false;
}

static void bind_strides(solver *s) {
    for (int i = 0; i < s->n_types; i++)
        for (int d = 0; d < s->types[i]->rank; d++) {
            const kc_expr *stride = s->types[i]->strides[0] ? s->types[i]->strides[d] : NULL;
            if (stride && stride->kind == KC_EXPR_SYMBOL &&
                s->bound[stride->symbol] == KC_BOUND_PASSED)
                s->bound[stride->symbol] = KC_BOUND_STRIDE;
        }
}

void kc_func_bindings(const kc_op *func, kc_bound *bound) {
    solver s = {.func = func, .pool = kc_op_pool(func), .bound = bound};
    s.n_symbols = kc_expr_symbol_count(s.pool);
    for (int i = 0; i < s.n_symbols; i++)
        bound[i] = strchr(kc_expr_symbol_name(s.pool, i), '.') ? KC_BOUND_SHAPE : KC_BOUND_PASSED;
    collect_types(&s);
    bind_bare(&s);
    while (bind_affine_once(&s))
        continue;
    bind_strides(&s);
}
