// Deep copies. Values of the copied region are mapped to their copies; others stay, unless they
// were mapped before.
#include "ir/map.h"
#include "ir/text.h"

#include <string.h>

struct kc_clone {
    kc_module *module;
    kc_arena *scratch;
    kc_map *values;
    const kc_expr_pool *from;
    kc_expr_pool *to;
};

kc_clone *kc_clone_begin(kc_module *module, const kc_expr_pool *from, kc_expr_pool *to) {
    kc_arena *scratch = kc_arena_create();
    kc_clone *clone = KC_NEW(scratch, kc_clone);
    *clone = (kc_clone){.module = module, .scratch = scratch, .from = from, .to = to};
    clone->values = kc_map_create(scratch);
    return clone;
}

void kc_clone_end(kc_clone *clone) {
    if (clone) kc_arena_destroy(clone->scratch);
}

void kc_clone_map(kc_clone *clone, kc_value *from, kc_value *to) {
    kc_map_set(clone->values, from, to);
}

kc_value *kc_clone_value(kc_clone *clone, kc_value *value) {
    kc_value *to = kc_map_get(clone->values, value);
    return to ? to : value;
}

static const kc_expr *copy_expr(const kc_expr_pool *from, kc_expr_pool *to, const kc_expr *expr) {
    return expr && from != to ? kc_expr_import(to, from, expr) : expr;
}

static kc_type copy_type(kc_clone *clone, const kc_type *type) {
    kc_type copy = kc_type_import(clone->to, clone->from, type);
    if (type->layout) copy.layout = kc_module_layout(clone->module, type->layout);
    return copy;
}

static void copy_exprs(kc_clone *clone, kc_op *to, const kc_attr *attr,
                       const kc_expr_pool *from_pool, kc_expr_pool *to_pool) {
    const kc_expr **exprs = KC_NEW_ARRAY(clone->scratch, const kc_expr *, attr->count);
    for (int i = 0; i < attr->count; i++)
        exprs[i] = copy_expr(from_pool, to_pool, attr->exprs[i]);
    kc_attr_set_exprs(clone->module, to, attr->key, attr->count, exprs);
}

static void copy_attr(kc_clone *clone, kc_op *to, const kc_attr *attr,
                      const kc_expr_pool *from_pool, kc_expr_pool *to_pool) {
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_STRING: kc_attr_set_string(clone->module, to, attr->key, attr->string); return;
    case KC_KIND_EXPR:
        kc_attr_set_expr(to, attr->key, copy_expr(from_pool, to_pool, attr->expr));
        return;
    case KC_KIND_INTS:
        kc_attr_set_ints(clone->module, to, attr->key, attr->count, attr->integers);
        return;
    case KC_KIND_FLOATS:
        kc_attr_set_floats(clone->module, to, attr->key, attr->count, attr->numbers);
        return;
    case KC_KIND_STRINGS:
        kc_attr_set_strings(clone->module, to, attr->key, attr->count, attr->strings);
        return;
    case KC_KIND_EXPRS: copy_exprs(clone, to, attr, from_pool, to_pool); return;
    case KC_KIND_INT:
    case KC_KIND_FLOAT:
    case KC_KIND_DTYPE: *kc_attr_slot(to, attr->key) = *attr; return;
    }
}

// Attributes of an op with a pool of its own: `when` belongs to the pool around it, which is the
// clone's outer pair.
static void copy_attrs(kc_clone *clone, kc_op *to, const kc_op *op, const kc_expr_pool *outer_from,
                       kc_expr_pool *outer_to) {
    for (int i = 0; i < op->n_attrs; i++) {
        bool outer = op->attrs[i].key == KC_ATTR_WHEN;
        copy_attr(clone, to, &op->attrs[i], outer ? outer_from : clone->from,
                  outer ? outer_to : clone->to);
    }
}

static const char *copy_name(kc_clone *clone, const char *name) {
    return name ? kc_arena_strdup(clone->module->arena, name) : NULL;
}

static void copy_outputs(kc_clone *clone, kc_op *to, const kc_op *func) {
    const kc_output *outputs;
    int n = kc_func_outputs(func, &outputs);
    for (int i = 0; i < n; i++) {
        kc_output output = outputs[i];
        output.type = copy_type(clone, &outputs[i].type);
        kc_func_add_output(clone->module, to, &output);
    }
    kc_func_set_doc(clone->module, to, kc_func_doc(func));
}

static void copy_body(kc_clone *clone, kc_op *to, const kc_op *op) {
    kc_block *body = kc_op_add_body(clone->module, to);
    for (int i = 0; i < op->body->n_args; i++) {
        kc_value *arg = op->body->args[i];
        const char *hash = kc_constant_hash(arg);
        kc_type type = copy_type(clone, &arg->type);
        kc_clone_map(clone, arg,
                     hash ? kc_func_add_constant(clone->module, to, type, arg->name, hash)
                          : kc_block_add_arg(clone->module, body, type, arg->name));
    }
    kc_builder inner = kc_builder_at_end(clone->module, body, op->loc);
    kc_clone_block_into(clone, &inner, op->body);
}

// The op with operands and results, still in the outer pools.
static kc_op *copy_node(kc_clone *clone, kc_builder *b, const kc_op *op) {
    kc_value **operands = KC_NEW_ARRAY(clone->scratch, kc_value *, op->n_operands);
    kc_type *types = KC_NEW_ARRAY(clone->scratch, kc_type, op->n_results);
    for (int i = 0; i < op->n_operands; i++)
        operands[i] = kc_clone_value(clone, kc_operand(op, i));
    for (int i = 0; i < op->n_results; i++)
        types[i] = copy_type(clone, &op->results[i]->type);
    kc_builder at = *b;
    at.loc = op->loc;
    kc_op *to = kc_build(&at, op->code, op->n_operands, operands, op->n_results, types);
    kc_op_set_segments(to, op->segments);
    for (int i = 0; i < op->n_results; i++) {
        to->results[i]->name = copy_name(clone, op->results[i]->name);
        kc_clone_map(clone, op->results[i], to->results[i]);
    }
    return to;
}

kc_op *kc_clone_op(kc_clone *clone, kc_builder *b, kc_op *op) {
    kc_op *to = copy_node(clone, b, op);
    const kc_expr_pool *outer_from = clone->from;
    kc_expr_pool *outer_to = clone->to;
    if (op->pool) {
        to->pool = kc_pool_copy(clone->module, op->pool);
        clone->from = op->pool;
        clone->to = to->pool;
    }
    copy_attrs(clone, to, op, outer_from, outer_to);
    if (op->code == KC_OP_FUNC) copy_outputs(clone, to, op);
    if (op->body) copy_body(clone, to, op);
    clone->from = outer_from;
    clone->to = outer_to;
    return to;
}

void kc_clone_block_into(kc_clone *clone, kc_builder *b, kc_block *from) {
    KC_FOR_OPS(op, from) kc_clone_op(clone, b, op);
}

kc_module *kc_module_clone(kc_arena *arena, const kc_module *module) {
    kc_module *copy = kc_module_create(arena, module->name);
    if (module->target) copy->target = kc_arena_strdup(arena, module->target);
    kc_clone *clone = kc_clone_begin(copy, NULL, NULL);
    kc_builder b = kc_builder_at_end(copy, copy->body, (kc_loc){0});
    kc_clone_block_into(clone, &b, module->body);
    kc_clone_end(clone);
    return copy;
}
