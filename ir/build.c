// Building: modules, ops, blocks, values, and shorthands for the commonest ops.
#include "ir/internal.h"

#include <math.h>
#include <string.h>

// ---- modules and pools

kc_module *kc_module_create(kc_arena *arena, const char *name) {
    kc_module *module = KC_NEW(arena, kc_module);
    module->arena = arena;
    module->name = kc_arena_strdup(arena, name);
    module->body = KC_NEW(arena, kc_block);
    return module;
}

struct kc_layout_entry {
    kc_layout layout;
    uint64_t hash;
    struct kc_layout_entry *next;
};

const kc_layout *kc_module_layout(kc_module *module, const kc_layout *layout) {
    uint64_t hash = kc_layout_hash(layout);
    for (struct kc_layout_entry *e = module->layouts; e; e = e->next)
        if (&e->layout == layout || (e->hash == hash && kc_layout_equal(&e->layout, layout)))
            return &e->layout;
    struct kc_layout_entry *entry = KC_NEW(module->arena, struct kc_layout_entry);
    *entry = (struct kc_layout_entry){*layout, hash, module->layouts};
    module->layouts = entry;
    return &entry->layout;
}

static void release_pool(void *pool) {
    kc_expr_pool_destroy(pool);
}

kc_expr_pool *kc_pool_create(kc_module *module) {
    kc_expr_pool *pool = kc_expr_pool_create();
    if (!pool)
        kc_arena_alloc(module->arena,
                       SIZE_MAX); // takes the way of every other allocation that fails
    kc_arena_defer(module->arena, release_pool, pool);
    return pool;
}

kc_expr_pool *kc_pool_copy(kc_module *module, const kc_expr_pool *from) {
    kc_expr_pool *pool = kc_pool_create(module);
    for (int i = 0; i < kc_expr_symbol_count(from); i++) {
        const char *name = kc_expr_symbol_name(from, i);
        int index = kc_expr_symbol_index(pool, name, strlen(name));
        kc_expr_set_facts(pool, index, kc_expr_get_facts(from, i));
    }
    return pool;
}

// ---- ops

kc_builder kc_builder_at_end(kc_module *module, kc_block *block, kc_loc loc) {
    return (kc_builder){module, block, NULL, loc};
}

kc_builder kc_builder_before(kc_module *module, kc_op *op) {
    return (kc_builder){module, op->block, op, op->loc};
}

int kc_operand_capacity(int n) {
    int capacity = n > 0;
    while (capacity < n)
        capacity *= 2;
    return capacity;
}

// Fixed segments take one operand each, the first variadic or optional one takes what is left.
static void default_segments(kc_op *op) {
    kc_segment segments[KC_MAX_SEGMENTS];
    int n = kc_op_segments(op->code, segments), left = op->n_operands, open = -1;
    for (int i = 0; i < n; i++) {
        if (segments[i].mode == KC_SEGMENT_ONE) {
            op->segments[i] = 1;
            left--;
        } else if (open < 0) open = i;
    }
    if (left < 0 || (left > 0 && open < 0))
        kc_bug("%s is built with %d operands; its row says '%s'", kc_op_row(op)->name,
               op->n_operands, kc_op_row(op)->operands);
    if (open >= 0) op->segments[open] = left;
}

static void add_results(kc_module *module, kc_op *op, int n, const kc_type *types) {
    op->results = KC_NEW_ARRAY(module->arena, kc_value *, n);
    op->n_results = n;
    for (int i = 0; i < n; i++) {
        op->results[i] = KC_NEW(module->arena, kc_value);
        op->results[i]->type = types[i];
        op->results[i]->def = op;
        op->results[i]->index = i;
    }
}

kc_op *kc_build(kc_builder *b, kc_opcode code, int n_operands, kc_value *const *operands,
                int n_results, const kc_type *types) {
    kc_arena *arena = b->module->arena;
    kc_op *op = code == KC_OP_FUNC ? &KC_NEW(arena, kc_func_op)->op : KC_NEW(arena, kc_op);
    op->code = code;
    op->loc = b->loc;
    op->operands = KC_NEW_ARRAY(arena, kc_use, kc_operand_capacity(n_operands));
    op->n_operands = n_operands;
    for (int i = 0; i < n_operands; i++)
        kc_use_link(&op->operands[i], operands[i], op, i);
    default_segments(op);
    add_results(b->module, op, n_results, types);
    kc_op_insert(op, b->block, b->before);
    if (code == KC_OP_FUNC) op->pool = kc_pool_create(b->module);
    if (code == KC_OP_VARIANT && kc_block_pool(b->block))
        op->pool = kc_pool_copy(b->module, kc_block_pool(b->block));
    return op;
}

void kc_op_set_segments(kc_op *op, const int *counts) {
    kc_segment segments[KC_MAX_SEGMENTS];
    int n = kc_op_segments(op->code, segments), sum = 0;
    for (int i = 0; i < n; i++)
        sum += op->segments[i] = counts[i];
    if (sum != op->n_operands)
        kc_bug("segments of %s add up to %d of %d operands; one count each for: %s",
               kc_op_row(op)->name, sum, op->n_operands, kc_op_row(op)->operands);
}

kc_use *kc_op_segment(const kc_op *op, int segment, int *count) {
    int first = 0;
    for (int i = 0; i < segment; i++)
        first += op->segments[i];
    *count = op->segments[segment];
    return op->operands + first;
}

kc_block *kc_op_add_body(kc_module *module, kc_op *op) {
    if (op->body) kc_bug("%s has a body already", kc_op_row(op)->name);
    op->body = KC_NEW(module->arena, kc_block);
    op->body->parent = op;
    return op->body;
}

void kc_block_drop_args(kc_block *block) {
    for (int i = 0; i < block->n_args; i++)
        if (!kc_value_unused(block->args[i]))
            kc_bug("argument %s of a block is used", block->args[i]->name);
    block->n_args = 0;
}

kc_value *kc_block_add_arg(kc_module *module, kc_block *block, kc_type type, const char *name) {
    if (block->n_args == block->args_capacity) {
        int capacity = block->args_capacity ? 2 * block->args_capacity : 4;
        kc_value **args = KC_NEW_ARRAY(module->arena, kc_value *, capacity);
        for (int i = 0; i < block->n_args; i++)
            args[i] = block->args[i];
        block->args = args;
        block->args_capacity = capacity;
    }
    kc_value *arg = KC_NEW(module->arena, kc_value);
    arg->type = type;
    arg->name = name ? kc_arena_strdup(module->arena, name) : NULL;
    arg->block = block;
    arg->index = block->n_args;
    return block->args[block->n_args++] = arg;
}

// ---- shorthands

kc_value *kc_build_1(kc_builder *b, kc_opcode code, kc_type type, int n,
                     kc_value *const *operands) {
    return kc_result(kc_build(b, code, n, operands, 1, &type), 0);
}

enum { MAX_ELEMENTWISE = 4 };

static kc_value *build_by_rule(kc_builder *b, kc_opcode code, int n, kc_value *const *operands,
                               kc_dtype cast) {
    const kc_type *types[MAX_ELEMENTWISE];
    kc_type result;
    char why[KC_WHY];
    if (n > MAX_ELEMENTWISE)
        kc_bug("%s with %d operands is not elementwise", kc_op_table[code].name, n);
    for (int i = 0; i < n; i++)
        types[i] = &operands[i]->type;
    if (!kc_type_rule_apply(kc_block_pool(b->block), code, n, types, cast, &result, why))
        kc_bug("building %s: %s", kc_op_table[code].name, why);
    return kc_build_1(b, code, result, n, operands);
}

kc_value *kc_build_elementwise(kc_builder *b, kc_opcode code, int n, kc_value *const *operands) {
    return build_by_rule(b, code, n, operands, KC_DTYPE_NONE);
}

kc_value *kc_build_unary(kc_builder *b, kc_opcode code, kc_value *x) {
    return kc_build_elementwise(b, code, 1, &x);
}

kc_value *kc_build_binary(kc_builder *b, kc_opcode code, kc_value *x, kc_value *y) {
    return kc_build_elementwise(b, code, 2, (kc_value *[]){x, y});
}

kc_value *kc_build_cast(kc_builder *b, kc_value *x, kc_dtype to) {
    if (x->type.elem == to) return x;
    kc_value *result = build_by_rule(b, KC_OP_CAST, 1, &x, to);
    kc_attr_set_dtype(result->def, KC_ATTR_DTYPE, to);
    return result;
}

kc_value *kc_build_const(kc_builder *b, kc_type type, double number) {
    if (!kc_dtype_is_float(type.elem)) {
        if (!(fabs(number) <= 0x1p53) || number != trunc(number))
            kc_bug("%.17g is no small integer", number);
        return kc_build_const_int(b, type, (int64_t)number);
    }
    kc_value *result = kc_build_1(b, KC_OP_CONST, type, 0, NULL);
    kc_attr_set_float(result->def, KC_ATTR_VALUE, number);
    return result;
}

kc_value *kc_build_const_int(kc_builder *b, kc_type type, int64_t integer) {
    if (kc_dtype_is_float(type.elem)) return kc_build_const(b, type, (double)integer);
    kc_value *result = kc_build_1(b, KC_OP_CONST, type, 0, NULL);
    kc_attr_set_int(result->def, KC_ATTR_INTEGER, integer);
    return result;
}

double kc_const_number(const kc_op *op) {
    const kc_attr *attr = kc_attr_get(op, KC_ATTR_INTEGER);
    return attr ? (double)attr->integer : kc_attr_float(op, KC_ATTR_VALUE, 0);
}

int64_t kc_const_int(const kc_op *op) {
    const kc_attr *attr = kc_attr_get(op, KC_ATTR_INTEGER);
    return attr ? attr->integer : (int64_t)kc_attr_float(op, KC_ATTR_VALUE, 0);
}

kc_value *kc_build_sym(kc_builder *b, kc_type scalar, const kc_expr *expr) {
    kc_value *result = kc_build_1(b, KC_OP_SYM, scalar, 0, NULL);
    kc_attr_set_expr(result->def, KC_ATTR_EXPR, expr);
    return result;
}
