// dot on FMA units: each thread multiplies what it already holds. The operands' layouts are
// projections of the accumulator's, and the contracted axis lies in registers, so no thread needs
// another's elements.
#include "targets/common/emit.h"

// Operands as the accumulation wants them: exact in f32 or f64, sign- or zero-extended to i32.
static void widen(kc_emit *e, const kc_value *operand, kc_dtype to, LLVMValueRef *out) {
    const kc_emitted *v = kc_emit_get(operand);
    for (int r = 0; r < v->n; r++)
        out[r] = kc_emit_cast_element(e, operand->type.elem, to, kc_emit_register(e, operand, r));
}

static LLVMValueRef multiply_add(kc_emit *e, kc_dtype t, LLVMValueRef a, LLVMValueRef b,
                                 LLVMValueRef c) {
    if (!kc_dtype_is_float(t))
        return LLVMBuildAdd(e->builder, LLVMBuildMul(e->builder, a, b, ""), c, "");
    LLVMTypeRef type = kc_emit_type(e, t);
    return kc_emit_intrinsic(e, "llvm.fma", 1, &type, 3, (LLVMValueRef[]){a, b, c});
}

static int find(const kc_value *operand, const int64_t *at) {
    const kc_tile_map *m = kc_emit_get(operand)->map;
    int64_t own[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < m->rank; d++)
        own[d] = operand->type.tile[d] == 1 ? 0 : at[d];
    int r = kc_tile_map_find(m, own);
    if (r < 0) kc_bug("dot: an operand's layout is no projection of the accumulator's");
    return r;
}

static void check(const kc_tile_map *m, const kc_value *operand, int axis) {
    const kc_tile_map *o = kc_emit_get(operand)->map;
    for (int b = 0; b < m->thread_bits; b++)
        for (int d = 0; d < m->rank; d++) {
            int64_t want = d == axis || operand->type.tile[d] == 1 ? 0 : m->threads[b][d];
            if (o->threads[b][d] != want)
                kc_bug("dot: thread bit %d of an operand is no projection of the accumulator's", b);
        }
}

void kc_emit_dot(kc_emit *e, const kc_op *op) {
    const kc_value *a = kc_operand(op, 0), *b = kc_operand(op, 1), *c = kc_operand(op, 2);
    const char *instruction = kc_attr_string(op, KC_ATTR_INSTRUCTION, NULL);
    if (instruction) {
        kc_emit_mma(e, op, kc_mma_named(e->target, instruction));
        return;
    }
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, -1);
    kc_dtype t = c->type.elem;
    kc_emitted *v = kc_emit_define(e, kc_result(op, 0));
    check(v->map, a, axis);
    check(v->map, b, axis);
    LLVMValueRef *wa = KC_NEW_ARRAY(e->arena, LLVMValueRef, kc_emit_get(a)->n);
    LLVMValueRef *wb = KC_NEW_ARRAY(e->arena, LLVMValueRef, kc_emit_get(b)->n);
    widen(e, a, t, wa);
    widen(e, b, t, wb);
    for (int r = 0; r < v->n; r++)
        v->regs[r] = kc_emit_register(e, c, r);
    // One step of the axis after the other: neighbouring accumulators are independent.
    for (int64_t k = 0; k < a->type.tile[axis]; k++)
        for (int r = 0; r < v->n; r++) {
            int64_t at[KC_LAYOUT_MAX_RANK];
            for (int d = 0; d < v->map->rank; d++)
                at[d] = d == axis ? k : kc_tile_map_at(v->map, r, d);
            v->regs[r] = multiply_add(e, t, wa[find(a, at)], wb[find(b, at)], v->regs[r]);
        }
}
