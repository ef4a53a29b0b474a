// The parameters of a kernel, in the one order that code generation and the package agree on.
#include "ir/kernel_params.h"

#include <string.h>

typedef struct {
    bool *mentioned; // by symbol
    int n;
} symbols;

static void mention(symbols *s, const kc_expr *expr) {
    if (!expr) return;
    if (expr->kind == KC_EXPR_SYMBOL && expr->symbol < s->n) s->mentioned[expr->symbol] = true;
    mention(s, expr->a);
    mention(s, expr->b);
}

static void mention_type(symbols *s, const kc_type *type) {
    if (type->kind != KC_TYPE_TENSOR) return;
    for (int i = 0; i < type->rank; i++) {
        mention(s, type->shape[i]);
        mention(s, type->strides[i]);
    }
}

static void mention_attrs(symbols *s, const kc_op *op) {
    for (int i = 0; i < op->n_attrs; i++) {
        const kc_attr *attr = &op->attrs[i];
        kc_attr_kind kind = kc_attr_table[attr->key].kind;
        if (kind == KC_KIND_EXPR) mention(s, attr->expr);
        for (int j = 0; kind == KC_KIND_EXPRS && j < attr->count; j++)
            mention(s, attr->exprs[j]);
    }
}

static void mention_op(symbols *s, const kc_op *op) {
    mention_attrs(s, op);
    for (int i = 0; i < op->n_results; i++)
        mention_type(s, &op->results[i]->type);
    if (!op->body) return;
    for (int i = 0; i < op->body->n_args; i++)
        mention_type(s, &op->body->args[i]->type);
    for (const kc_op *inner = op->body->first; inner; inner = inner->next)
        mention_op(s, inner);
}

static bool is_scalar(const kc_value *argument) {
    return argument->type.kind == KC_TYPE_TILE && argument->type.rank == 0;
}

int kc_kernel_params(kc_arena *arena, const kc_op *kernel, kc_param **params) {
    symbols s = {.n = kc_expr_symbol_count(kc_op_pool(kernel))};
    s.mentioned = KC_NEW_ARRAY(arena, bool, s.n);
    mention_op(&s, kernel);
    int n = 0, inputs = kernel->segments[0];
    *params = KC_NEW_ARRAY(arena, kc_param, kernel->n_operands + s.n);
    if (kernel->body->n_args != kernel->n_operands)
        kc_bug("kernel with %d operands and %d body arguments", kernel->n_operands,
               kernel->body->n_args);
    for (int i = 0; i < kernel->n_operands; i++) {
        kc_value *argument = kernel->body->args[i];
        kc_param_kind kind = i < inputs && is_scalar(argument) ? KC_PARAM_SCALAR : KC_PARAM_POINTER;
        (*params)[n++] = (kc_param){kind, argument, kc_operand(kernel, i), i >= inputs, -1};
    }
    for (int i = 0; i < s.n; i++)
        if (s.mentioned[i]) (*params)[n++] = (kc_param){.kind = KC_PARAM_SYMBOL, .symbol = i};
    return n;
}

static const char *alias_of(const kc_op *func, const char *output) {
    const kc_output *outputs;
    int n = kc_func_outputs(func, &outputs);
    for (int i = 0; i < n; i++)
        if (!strcmp(outputs[i].name, output)) return outputs[i].alias;
    return NULL;
}

bool kc_kernel_may_overlap(const kc_op *kernel, const kc_value *read, const kc_value *written) {
    if (read == written) return true;
    if (!written->def || written->def->code != KC_OP_OUTPUT) return false;
    const char *name = kc_attr_string(written->def, KC_ATTR_NAME, "");
    if (read->def && read->def->code == KC_OP_OUTPUT)
        return !strcmp(name, kc_attr_string(read->def, KC_ATTR_NAME, ""));
    const char *alias = alias_of(kc_op_ancestor(kernel, KC_OP_FUNC), name);
    return alias && !read->def && read->name && !strcmp(alias, read->name);
}
