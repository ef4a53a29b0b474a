// Arguments of a call: what they say of symbols, whether they fit the function, and walking over
// their elements.
#include "ir/interp_machine.h"

#include <string.h>

static void bind(kc_interp *m, const char *name, int64_t value) {
    for (int i = 0; i < kc_expr_symbol_count(m->pool); i++)
        if (strcmp(kc_expr_symbol_name(m->pool, i), name) == 0)
            m->symbols[i] = value, m->bound[i] = true;
}

static void bind_bare(kc_interp *m, const kc_expr *e, int64_t value) {
    if (e->kind != KC_EXPR_SYMBOL || m->bound[e->symbol]) return;
    m->symbols[e->symbol] = value;
    m->bound[e->symbol] = true;
}

static void bind_from(kc_interp *m, const kc_type *type, const kc_interp_array *array) {
    for (int d = 0; d < type->rank; d++) {
        bind_bare(m, type->shape[d], array->shape[d]);
        if (type->strides[0] && array->strides) bind_bare(m, type->strides[d], array->strides[d]);
    }
}

static void check_array(kc_interp *m, const kc_type *type, const char *name,
                        const kc_interp_array *array) {
    if (array->type != type->elem || array->rank != type->rank)
        kc_interp_fail(m, m->func, "argument '%s' is %s of rank %d, expected %s of rank %d", name,
                       kc_dtype_name(array->type), array->rank, kc_dtype_name(type->elem),
                       type->rank);
    for (int d = 0; d < type->rank; d++) {
        int64_t expected = kc_interp_eval(m, m->func, type->shape[d]);
        if (array->shape[d] != expected)
            kc_interp_fail(m, m->func,
                           "argument '%s' has extent %lld in dimension %d, expected %lld", name,
                           (long long)array->shape[d], d, (long long)expected);
    }
}

void kc_interp_bind(kc_interp *m, const kc_interp_arguments *call) {
    const kc_output *outputs;
    const kc_op *func = m->func;
    int n_outputs = kc_func_outputs(func, &outputs), n = kc_expr_symbol_count(m->pool);
    m->symbols = kc_interp_alloc(m, func, n + 1, sizeof *m->symbols);
    m->bound = kc_interp_alloc(m, func, n + 1, sizeof *m->bound);
    if (call->n_inputs != func->body->n_args || call->n_outputs != n_outputs)
        kc_interp_fail(m, func, "%d inputs and %d outputs are given; @%s has %d and %d",
                       call->n_inputs, call->n_outputs, kc_func_name(func), func->body->n_args,
                       n_outputs);
    for (int i = 0; i < call->n_symbols; i++)
        bind(m, call->symbols[i].name, call->symbols[i].value);
    for (int i = 0; i < call->n_inputs; i++) {
        const kc_type *type = &func->body->args[i]->type;
        if (call->inputs[i].rank == type->rank) bind_from(m, type, &call->inputs[i]);
    }
    for (int i = 0; i < call->n_outputs; i++)
        if (call->outputs[i].rank == outputs[i].type.rank)
            bind_from(m, &outputs[i].type, &call->outputs[i]);
    for (int i = 0; i < call->n_inputs; i++)
        check_array(m, &func->body->args[i]->type, func->body->args[i]->name, &call->inputs[i]);
    for (int i = 0; i < call->n_outputs; i++)
        check_array(m, &outputs[i].type, outputs[i].name, &call->outputs[i]);
}

// ---- elements -----------------------------------------------------------------------------------

kc_interp_cursor kc_interp_start(const kc_interp_array *array) {
    kc_interp_cursor c = {.array = array};
    kc_interp_strides(array->rank, array->shape, c.strides);
    for (int d = 0; array->strides && d < array->rank; d++)
        c.strides[d] = array->strides[d];
    return c;
}

void kc_interp_advance(kc_interp_cursor *c) {
    for (int d = c->array->rank - 1; d >= 0; d--) {
        c->at += c->strides[d];
        if (++c->index[d] < c->array->shape[d]) return;
        c->at -= c->index[d] * c->strides[d];
        c->index[d] = 0;
    }
}

kc_interp_value *kc_interp_load(kc_interp *m, const kc_op *op, const kc_interp_array *array) {
    kc_interp_value *v = kc_interp_make(m, op, array->type, array->rank, array->shape);
    kc_interp_cursor c = kc_interp_start(array);
    for (int64_t i = 0; i < v->n; i++, kc_interp_advance(&c)) {
        if (v->f) v->f[i] = kc_dtype_get(v->elem, array->data, c.at);
        else v->i[i] = kc_dtype_get_i64(v->elem, array->data, c.at);
    }
    return v;
}
