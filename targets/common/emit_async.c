// Copies from global to shared memory that pass no registers: the addresses of both sides, vector by vector.
#include "targets/common/emit.h"

static void expect_hooks(const kc_emit *e, const kc_op *op) {
    if (!e->hooks->async_copy)
        kc_bug("%s for %s, which has no such copies", kc_op_row(op)->name, e->target->arch->name);
}

static void copy_vectors(kc_emit *e, const kc_op *op) {
    const kc_value *copy = kc_result(op, 0);
    const kc_tile_map *m = kc_emit_get(copy)->map;
    int vector = (int)kc_attr_int(op, KC_ATTR_VECTOR, 1);
    int bytes = vector * kc_dtype_unit(copy->type.elem);
    kc_global_place *from = kc_emit_global_place(e, op, kc_operand(op, 0), copy, 2);
    kc_shared_place *to = kc_emit_shared_place(e, op, kc_operand(op, 1), copy, 5);
    for (int r = 0; r < m->n_registers; r += vector)
        if (!kc_emit_is_copy(m, r))
            e->hooks->async_copy(e, kc_emit_shared_address(e, to, r),
                                 kc_emit_global_address(e, from, r), bytes,
                                 kc_emit_global_mask(e, from, r));
}

// Of threads that hold the same elements one copies them.
void kc_emit_async_copy(kc_emit *e, const kc_op *op) {
    expect_hooks(e, op);
    const kc_tile_map *m = kc_emit_define(e, kc_result(op, 0))->map;
    if (!m) kc_bug("async_copy of a scalar");
    LLVMValueRef representative = kc_emit_representative(e, m);
    if (!representative) {
        copy_vectors(e, op);
        return;
    }
    for (int i = 0; i < op->n_operands; i++)
        kc_emit_force(e, kc_operand(op, i)); // others use them too
    LLVMBasicBlockRef copy = kc_emit_new_block(e, "copy"), end = kc_emit_new_block(e, "copied");
    LLVMBuildCondBr(e->builder, representative, copy, end);
    kc_emit_enter(e, copy);
    copy_vectors(e, op);
    LLVMBuildBr(e->builder, end);
    kc_emit_enter(e, end);
}

void kc_emit_async_commit(kc_emit *e, const kc_op *op) {
    expect_hooks(e, op);
    kc_emit_define(e, kc_result(op, 0));
    e->hooks->async_commit(e);
}

void kc_emit_async_wait(kc_emit *e, const kc_op *op) {
    expect_hooks(e, op);
    const kc_attr *pending = kc_attr_get(op, KC_ATTR_PENDING);
    if (!pending) kc_bug("async_wait without its pending groups: `sync` has not run");
    e->hooks->async_wait(e, (int)pending->integer);
}
