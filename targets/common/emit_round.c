// Remainders of a loop's counter by a constant, as rings of buffers use them. Where the divisor is no power of two each would
// be a multiplication and more, in every turn. So the remainder goes round with the counter, and that of a later turn is it
// plus a constant, less the divisor where that is too much.
#include "targets/common/emit.h"

struct kc_emit_round {
    const kc_value *counter;
    int64_t modulus;
    LLVMValueRef phi; // i32
    struct kc_emit_round *next;
};

static bool is_constant(const kc_value *v, int64_t *value) {
    const kc_attr *integer =
        v->def && v->def->code == KC_OP_CONST ? kc_attr_get(v->def, KC_ATTR_INTEGER) : NULL;
    if (integer) *value = integer->integer;
    return integer != NULL;
}

// Whether the op is (counter + offset) mod modulus.
static bool is_remainder(const kc_op *op, const kc_value *counter, int64_t *offset,
                         int64_t *modulus) {
    if (op->code != KC_OP_MOD || !is_constant(kc_operand(op, 1), modulus)) return false;
    const kc_value *v = kc_operand(op, 0);
    *offset = 0;
    if (v != counter && v->def && v->def->code == KC_OP_ADD &&
        is_constant(kc_operand(v->def, 1), offset))
        v = kc_operand(v->def, 0);
    return v == counter && *offset >= 0 && *modulus > 1 && *modulus <= INT16_MAX &&
           (*modulus & (*modulus - 1)) != 0;
}

static const struct kc_emit_round *find(const kc_emit *e, const kc_value *counter,
                                        int64_t modulus) {
    const struct kc_emit_round *r = e->rounds;
    while (r && (r->counter != counter || r->modulus != modulus))
        r = r->next;
    return r;
}

void kc_emit_rounds_begin(kc_emit *e, const kc_op *loop, LLVMBasicBlockRef before) {
    const kc_value *counter = loop->body->args[0];
    int64_t lower, offset, modulus;
    if (!is_constant(kc_operand(loop, 0), &lower) || lower < 0) return;
    for (const kc_op *op = loop->body->first; op; op = op->next) {
        if (!is_remainder(op, counter, &offset, &modulus) || find(e, counter, modulus)) continue;
        struct kc_emit_round *round = KC_NEW(e->arena, struct kc_emit_round);
        LLVMValueRef first = kc_emit_i32(e, lower % modulus);
        *round = (struct kc_emit_round){counter, modulus, LLVMBuildPhi(e->builder, e->i32, "round"),
                                        e->rounds};
        LLVMAddIncoming(round->phi, &first, &before, 1);
        e->rounds = round;
    }
}

static LLVMValueRef after(kc_emit *e, const struct kc_emit_round *round, int64_t turns) {
    LLVMBuilderRef b = e->builder;
    if (turns % round->modulus == 0) return round->phi;
    LLVMValueRef modulus = kc_emit_i32(e, round->modulus),
                 next = LLVMBuildNUWAdd(b, round->phi, kc_emit_i32(e, turns % round->modulus), "");
    return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, next, modulus, ""), next,
                           LLVMBuildSub(b, next, modulus, ""), "");
}

void kc_emit_rounds_end(kc_emit *e, const kc_op *loop, LLVMBasicBlockRef latch) {
    int64_t step = kc_attr_int(loop, KC_ATTR_STEP, 1);
    for (const struct kc_emit_round *r = e->rounds; r; r = r->next) {
        if (r->counter != loop->body->args[0]) continue;
        LLVMValueRef next = after(e, r, step);
        LLVMAddIncoming(r->phi, &next, &latch, 1);
    }
}

LLVMValueRef kc_emit_round(kc_emit *e, const kc_op *op) {
    int64_t offset, modulus;
    for (const struct kc_emit_round *r = e->rounds; r; r = r->next)
        if (is_remainder(op, r->counter, &offset, &modulus) && modulus == r->modulus)
            return kc_emit_convert_int(e, after(e, r, offset),
                                       kc_emit_type(e, kc_result(op, 0)->type.elem), false);
    return NULL;
}
