// Loops and conditions. Every register that a loop carries is a phi; small elements share one, as
// they do in the memory that they mostly come from and go to.
#include "targets/common/emit.h"

typedef struct {
    LLVMValueRef counter;
    LLVMValueRef **carried; // [value][phi]
    LLVMBasicBlockRef header, body, end;
} loop;

// Registers that share a phi.
static int shared_by(const kc_value *v, int registers) {
    const kc_dtype_info *t = &kc_dtype_table[v->type.elem];
    int n = t->class == KC_CLASS_BOOL || t->bits < 8 ? 1 : kc_emit_in_word(v->type.elem);
    return registers % n ? 1 : n;
}

static LLVMValueRef joined(kc_emit *e, const kc_value *v, const LLVMValueRef *regs, int n) {
    return n == 1 ? regs[0] : kc_emit_pack(e, v->type.elem, regs, n);
}

// The phis stand together at the head of the block; what unpacks them comes after.
static void make_phis(kc_emit *e, const kc_op *op, loop *l, LLVMBasicBlockRef before) {
    LLVMValueRef lower = kc_emit_scalar(kc_operand(op, 0));
    l->counter = LLVMBuildPhi(e->builder, LLVMTypeOf(lower), "k");
    LLVMAddIncoming(l->counter, &lower, &before, 1);
    kc_emit_bind(e, op->body->args[0], l->counter);
    for (int i = 0; i < op->n_results; i++) {
        const kc_emitted *initial = kc_emit_get(kc_operand(op, 2 + i));
        kc_emitted *inside = kc_emit_define(e, op->body->args[1 + i]);
        if (initial->n != inside->n) kc_bug("a loop carries a value whose layout changes");
        int n = shared_by(op->body->args[1 + i], inside->n);
        for (int r = 0; r < inside->n; r += n) {
            LLVMValueRef *first = &l->carried[i][r / n];
            LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(*first), "");
            LLVMAddIncoming(phi, first, &before, 1);
            *first = phi;
        }
    }
    kc_emit_rounds_begin(e, op, before);
    for (int i = 0; i < op->n_results; i++) {
        kc_emitted *inside = (kc_emitted *)op->body->args[1 + i]->data;
        int n = shared_by(op->body->args[1 + i], inside->n);
        for (int r = 0; r < inside->n; r += n)
            if (n == 1) inside->regs[r] = l->carried[i][r];
            else
                kc_emit_unpack(e, op->body->args[1 + i]->type.elem, l->carried[i][r / n],
                               &inside->regs[r], n);
    }
}

// What each phi begins with.
static void join_initial(kc_emit *e, const kc_op *op, loop *l) {
    l->carried = KC_NEW_ARRAY(e->arena, LLVMValueRef *, op->n_results + 1);
    for (int i = 0; i < op->n_results; i++) {
        const kc_value *v = kc_operand(op, 2 + i);
        const kc_emitted *initial = kc_emit_get(v);
        int n = shared_by(v, initial->n);
        l->carried[i] = KC_NEW_ARRAY(e->arena, LLVMValueRef, initial->n + 1);
        for (int r = 0; r < initial->n; r += n)
            l->carried[i][r / n] = joined(e, v, &initial->regs[r], n);
    }
}

static void close_phis(kc_emit *e, const kc_op *op, loop *l) {
    for (int i = 0; i < op->n_results; i++)
        kc_emit_force(e, kc_operand(op->body->last, i));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMValueRef step =
        kc_emit_int(e, kc_operand(op, 0)->type.elem, kc_attr_int(op, KC_ATTR_STEP, 1));
    LLVMValueRef next = LLVMBuildNSWAdd(e->builder, l->counter, step, "");
    LLVMAddIncoming(l->counter, &next, &latch, 1);
    kc_emit_rounds_end(e, op, latch);
    for (int i = 0; i < op->n_results; i++) {
        const kc_value *v = kc_operand(op->body->last, i);
        const kc_emitted *yielded = kc_emit_get(v);
        int n = shared_by(v, yielded->n);
        for (int r = 0; r < yielded->n; r += n) {
            LLVMValueRef next_value = joined(e, v, &yielded->regs[r], n);
            LLVMAddIncoming(l->carried[i][r / n], &next_value, &latch, 1);
        }
    }
    LLVMBuildBr(e->builder, l->header);
}

void kc_emit_for(kc_emit *e, const kc_op *op) {
    for (int i = 0; i < op->n_operands; i++)
        kc_emit_force(e, kc_operand(op, i));
    kc_emit_force_used(e, op->body);
    loop l = {.header = kc_emit_new_block(e, "loop"),
              .body = kc_emit_new_block(e, "body"),
              .end = kc_emit_new_block(e, "end")};
    join_initial(e, op, &l);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, l.header);
    kc_emit_enter(e, l.header);
    make_phis(e, op, &l, before);
    LLVMValueRef more =
        LLVMBuildICmp(e->builder, LLVMIntSLT, l.counter, kc_emit_scalar(kc_operand(op, 1)), "");
    LLVMBuildCondBr(e->builder, more, l.body, l.end);
    kc_emit_enter(e, l.body);
    kc_emit_block(e, op->body);
    close_phis(e, op, &l);
    kc_emit_enter(e, l.end);
    for (int i = 0; i < op->n_results; i++) {
        kc_emitted *v = kc_emit_define(e, kc_result(op, i));
        for (int r = 0; r < v->n; r++)
            v->regs[r] = kc_emit_get(op->body->args[1 + i])->regs[r];
    }
}

// The condition is the same for the whole block, so barriers inside are met by all threads.
void kc_emit_if(kc_emit *e, const kc_op *op) {
    kc_emit_force_used(e, op->body);
    LLVMBasicBlockRef then = kc_emit_new_block(e, "then"), end = kc_emit_new_block(e, "end");
    LLVMBuildCondBr(e->builder, kc_emit_scalar(kc_operand(op, 0)), then, end);
    kc_emit_enter(e, then);
    kc_emit_block(e, op->body);
    LLVMBuildBr(e->builder, end);
    kc_emit_enter(e, end);
}
