// Loops and conditions. Every register that a loop carries is a phi.
#include "targets/common/emit.h"

typedef struct {
    LLVMValueRef counter;
    LLVMValueRef **carried; // [value][register]
    LLVMBasicBlockRef header, body, end;
} loop;

static void make_phis(kc_emit *e, const kc_op *op, loop *l, LLVMBasicBlockRef before) {
    LLVMValueRef lower = kc_emit_scalar(kc_operand(op, 0));
    l->counter = LLVMBuildPhi(e->builder, LLVMTypeOf(lower), "k");
    LLVMAddIncoming(l->counter, &lower, &before, 1);
    kc_emit_bind(e, op->body->args[0], l->counter);
    l->carried = KC_NEW_ARRAY(e->arena, LLVMValueRef *, op->n_results + 1);
    for (int i = 0; i < op->n_results; i++) {
        const kc_emitted *initial = kc_emit_get(kc_operand(op, 2 + i));
        kc_emitted *inside = kc_emit_define(e, op->body->args[1 + i]);
        if (initial->n != inside->n) kc_bug("a loop carries a value whose layout changes");
        for (int r = 0; r < inside->n; r++) {
            inside->regs[r] = LLVMBuildPhi(e->builder, LLVMTypeOf(initial->regs[r]), "");
            LLVMAddIncoming(inside->regs[r], &initial->regs[r], &before, 1);
        }
        l->carried[i] = inside->regs;
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
    for (int i = 0; i < op->n_results; i++) {
        const kc_emitted *yielded = kc_emit_get(kc_operand(op->body->last, i));
        const kc_emitted *inside = kc_emit_get(op->body->args[1 + i]);
        for (int r = 0; r < inside->n; r++) {
            LLVMAddIncoming(l->carried[i][r], &yielded->regs[r], &latch, 1);
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
            v->regs[r] = l.carried[i][r];
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
