// Functions: their record of outputs and documentation, and the way from an op to what surrounds
// it.
#include "ir/internal.h"

#include <string.h>

kc_op *kc_func_create(kc_module *module, const char *name, kc_loc loc) {
    kc_builder b = kc_builder_at_end(module, module->body, loc);
    kc_op *func = kc_build(&b, KC_OP_FUNC, 0, NULL, 0, NULL);
    kc_attr_set_string(module, func, KC_ATTR_NAME, name);
    kc_op_add_body(module, func);
    return func;
}

kc_op *kc_func_find(const kc_module *module, const char *name) {
    for (kc_op *op = module->body->first; op; op = op->next)
        if (op->code == KC_OP_FUNC && !strcmp(kc_func_name(op), name)) return op;
    return NULL;
}

const char *kc_func_name(const kc_op *func) {
    return kc_attr_string(func, KC_ATTR_NAME, "");
}

void kc_func_add_output(kc_module *module, kc_op *func, const kc_output *output) {
    kc_func_op *record = kc_func_record(func);
    if (record->n_outputs == record->outputs_capacity) {
        int capacity = record->outputs_capacity ? 2 * record->outputs_capacity : 4;
        kc_output *outputs = KC_NEW_ARRAY(module->arena, kc_output, capacity);
        for (int i = 0; i < record->n_outputs; i++)
            outputs[i] = record->outputs[i];
        record->outputs = outputs;
        record->outputs_capacity = capacity;
    }
    kc_output *copy = &record->outputs[record->n_outputs++];
    *copy = *output;
    copy->name = kc_arena_strdup(module->arena, output->name);
    if (output->alias) copy->alias = kc_arena_strdup(module->arena, output->alias);
}

int kc_func_outputs(const kc_op *func, const kc_output **outputs) {
    *outputs = kc_func_record(func)->outputs;
    return kc_func_record(func)->n_outputs;
}

kc_value *kc_func_add_constant(kc_module *module, kc_op *func, kc_type type, const char *name,
                               const char *sha256) {
    kc_func_op *record = kc_func_record(func);
    if (record->n_constants == record->constants_capacity) {
        int capacity = record->constants_capacity ? 2 * record->constants_capacity : 4;
        const char **constants = KC_NEW_ARRAY(module->arena, const char *, capacity);
        for (int i = 0; i < record->n_constants; i++)
            constants[i] = record->constants[i];
        record->constants = constants;
        record->constants_capacity = capacity;
    }
    record->constants[record->n_constants++] = kc_arena_strdup(module->arena, sha256);
    return kc_block_add_arg(module, func->body, type, name);
}

int kc_func_constants(const kc_op *func) {
    return kc_func_record(func)->n_constants;
}

const char *kc_constant_hash(const kc_value *value) {
    const kc_op *func = value->block ? value->block->parent : NULL;
    if (!func || func->code != KC_OP_FUNC) return NULL;
    int i = value->index - (func->body->n_args - kc_func_constants(func));
    return i >= 0 ? kc_func_record(func)->constants[i] : NULL;
}

const kc_constant *kc_module_find_constant(const kc_module *module, const char *sha256) {
    const kc_constant *at = module->constants;
    while (at && strcmp(at->sha256, sha256))
        at = at->next;
    return at;
}

void kc_module_add_constant(kc_module *module, const kc_constant *constant) {
    if (kc_module_find_constant(module, constant->sha256)) return;
    kc_constant **end = &module->constants;
    while (*end)
        end = &(*end)->next;
    *end = KC_NEW(module->arena, kc_constant);
    **end = *constant;
    (*end)->next = NULL;
}

bool kc_output_is_inout(const kc_output *output) {
    return output->alias && !strcmp(output->alias, output->name);
}

bool kc_variant_computes(const kc_op *variant) {
    const kc_op *last = variant->body->last;
    return last && last->code == KC_OP_RETURN && last->n_operands > 0;
}

bool kc_op_is_isolated(const kc_op *op) {
    return kc_op_has(op, KC_ISOLATED) || (op->code == KC_OP_VARIANT && op->body->n_args > 0);
}

int kc_func_inouts(const kc_op *func) {
    const kc_func_op *record = kc_func_record(func);
    int n = 0;
    for (int i = 0; i < record->n_outputs; i++)
        n += kc_output_is_inout(&record->outputs[i]);
    return n;
}

int kc_func_arg_count(const kc_op *func) {
    return func->body->n_args - kc_func_constants(func) + kc_func_record(func)->n_outputs -
           kc_func_inouts(func);
}

kc_func_arg kc_func_arg_at(const kc_op *func, int i) {
    int inputs = func->body->n_args - kc_func_constants(func), inouts = kc_func_inouts(func);
    if (i < inputs) {
        const kc_value *input = func->body->args[i];
        kc_direction direction = i < inputs - inouts ? KC_INPUT : KC_INOUT;
        return (kc_func_arg){direction, input->name, &input->type, NULL};
    }
    const kc_output *output = &kc_func_record(func)->outputs[i - inputs + inouts];
    return (kc_func_arg){KC_OUTPUT, output->name, &output->type, output->alias};
}

void kc_func_set_doc(kc_module *module, kc_op *func, const char *doc) {
    kc_func_record(func)->doc = doc ? kc_arena_strdup(module->arena, doc) : NULL;
}

const char *kc_func_doc(const kc_op *func) {
    return kc_func_record(func)->doc;
}

kc_op *kc_op_parent(const kc_op *op) {
    return op->block ? op->block->parent : NULL;
}

kc_expr_pool *kc_op_pool(const kc_op *op) {
    while (op && !op->pool)
        op = kc_op_parent(op);
    return op ? op->pool : NULL;
}

kc_expr_pool *kc_attr_pool(const kc_op *op, kc_attr_key key) {
    return key == KC_ATTR_WHEN && op->block ? kc_block_pool(op->block) : kc_op_pool(op);
}

kc_op *kc_op_ancestor(const kc_op *op, kc_opcode code) {
    kc_op *up = kc_op_parent(op);
    while (up && up->code != code)
        up = kc_op_parent(up);
    return up;
}
