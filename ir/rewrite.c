// Changing what is there: use lists, replacing, erasing, moving.
#include "ir/internal.h"

void kc_use_link(kc_use *use, kc_value *value, kc_op *user, int index) {
    *use = (kc_use){.value = value, .user = user, .index = index, .next = value->uses};
    if (value->uses) value->uses->previous = use;
    value->uses = use;
}

static void unlink_use(kc_use *use) {
    if (use->previous) use->previous->next = use->next;
    else use->value->uses = use->next;
    if (use->next) use->next->previous = use->previous;
    use->next = use->previous = NULL;
}

void kc_op_insert(kc_op *op, kc_block *block, kc_op *before) {
    op->block = block;
    op->next = before;
    op->previous = before ? before->previous : block->last;
    if (op->previous) op->previous->next = op;
    else block->first = op;
    if (before) before->previous = op;
    else block->last = op;
}

static void unlink_op(kc_op *op) {
    if (op->previous) op->previous->next = op->next;
    else op->block->first = op->next;
    if (op->next) op->next->previous = op->previous;
    else op->block->last = op->previous;
    op->previous = op->next = NULL;
    op->block = NULL;
}

void kc_op_set_operand(kc_op *op, int index, kc_value *value) {
    if (op->operands[index].value == value) return;
    unlink_use(&op->operands[index]);
    kc_use_link(&op->operands[index], value, op, index);
}

// The array moves when it is full, and the use lists point into it.
void kc_op_add_operand(kc_module *module, kc_op *op, kc_value *value) {
    int n = op->n_operands;
    if (kc_operand_capacity(n) == n) {
        kc_use *operands = KC_NEW_ARRAY(module->arena, kc_use, kc_operand_capacity(n + 1));
        for (int i = 0; i < n; i++) {
            kc_value *old = op->operands[i].value;
            unlink_use(&op->operands[i]);
            kc_use_link(&operands[i], old, op, i);
        }
        op->operands = operands;
    }
    kc_use_link(&op->operands[n], value, op, n);
    op->n_operands++;
    kc_segment segments[KC_MAX_SEGMENTS];
    int n_segments = kc_op_segments(op->code, segments);
    if (!n_segments) kc_bug("%s takes no operands", kc_op_row(op)->name);
    op->segments[n_segments - 1]++;
}

void kc_value_replace(kc_value *old, kc_value *by) {
    if (old == by) return;
    while (old->uses)
        kc_op_set_operand(old->uses->user, old->uses->index, by);
}

bool kc_value_unused(const kc_value *value) {
    return !value->uses;
}

bool kc_op_unused(const kc_op *op) {
    for (int i = 0; i < op->n_results; i++)
        if (!kc_value_unused(op->results[i])) return false;
    return true;
}

static void drop_operands(kc_op *op) {
    for (int i = 0; i < op->n_operands; i++)
        unlink_use(&op->operands[i]);
    op->n_operands = 0;
    if (!op->body) return;
    KC_FOR_OPS(inner, op->body) drop_operands(inner);
}

void kc_op_erase(kc_op *op) {
    for (int i = 0; i < op->n_results; i++)
        if (!kc_value_unused(op->results[i]))
            kc_bug("erasing %s, whose result %d is used", kc_op_row(op)->name, i);
    drop_operands(op);
    unlink_op(op);
}

void kc_op_replace(kc_op *op, kc_value *by) {
    kc_value *old = kc_result(op, 0);
    if (by->def && !by->name) by->name = old->name;
    kc_value_replace(old, by);
    kc_op_erase(op);
}

void kc_op_move_before(kc_op *op, kc_op *before) {
    if (op == before) return;
    unlink_op(op);
    kc_op_insert(op, before->block, before);
}

void kc_block_renumber(kc_block *block) {
    int order = 0;
    for (kc_op *op = block->first; op; op = op->next)
        op->order = order++;
}
