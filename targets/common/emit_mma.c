// dot on tensor cores. Registers of a tile are fragments side by side, a whole one each, so that a
// fragment is named by its first register and found by its coordinates.
#include "targets/common/emit.h"

#include <string.h>

enum { WORD_BYTES = 4, SPLITS = 2 };

typedef struct {
    const kc_value *value;
    const kc_tile_map *map;
    int registers, words;       // of a fragment
    LLVMValueRef *word[SPLITS]; // all fragments' words; [1]: of three products, what is left
} side;

static int registers_of(const kc_mma *row, kc_mma_side which) {
    return (int)kc_layout_count(kc_mma_fragment(row, which), KC_LAYOUT_REGISTER);
}

static LLVMValueRef as_f32(kc_emit *e, LLVMValueRef word) {
    return LLVMBuildBitCast(e->builder, word, e->f32, "");
}

// Three products: an f32 is a tf32 and what that leaves. For one product the instruction drops the
// bits that a tf32 has not. An infinity is the largest tf32 and an infinity: were it the first and
// what that leaves, the sum would be no number.
static void split_tf32(kc_emit *e, side *s, int i) {
    LLVMValueRef x = as_f32(e, s->word[0][i]), most = LLVMConstReal(e->f32, 0x1.ffcp+127),
                 least = LLVMConstReal(e->f32, -0x1.ffcp+127);
    LLVMValueRef low =
                     kc_emit_intrinsic(e, "llvm.minnum", 1, &e->f32, 2, (LLVMValueRef[]){x, most}),
                 finite = kc_emit_intrinsic(e, "llvm.maxnum", 1, &e->f32, 2,
                                            (LLVMValueRef[]){low, least});
    s->word[0][i] = e->hooks->round_tf32(e, finite);
    LLVMValueRef rest = LLVMBuildFSub(e->builder, x, as_f32(e, s->word[0][i]), "");
    s->word[1][i] = e->hooks->round_tf32(e, rest);
}

static side operand(kc_emit *e, const kc_value *value, const kc_mma *row, kc_mma_side which,
                    bool high) {
    side s = {
        .value = value, .map = kc_emit_get(value)->map, .registers = registers_of(row, which)};
    kc_dtype t = value->type.elem;
    int in_word = kc_emit_in_word(t), n = kc_emit_get(value)->n / in_word;
    s.words = s.registers / in_word;
    for (int i = 0; i < SPLITS; i++)
        s.word[i] = KC_NEW_ARRAY(e->arena, LLVMValueRef, n);
    for (int i = 0; i < n; i++) {
        LLVMValueRef elements[WORD_BYTES];
        for (int j = 0; j < in_word; j++)
            elements[j] = kc_emit_register(e, value, i * in_word + j);
        s.word[0][i] = t == KC_f64 ? elements[0] : kc_emit_pack(e, t, elements, in_word);
        if (high) split_tf32(e, &s, i);
    }
    return s;
}

// The words of the fragment that begins at these coordinates along the operand's own dimensions.
static int fragment_at(const side *s, const int64_t *at) {
    int64_t own[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < s->map->rank; d++)
        own[d] = s->value->type.tile[d] == 1 ? 0 : at[d];
    int r = kc_tile_map_find(s->map, own);
    if (r < 0 || r % s->registers) kc_bug("dot: an operand has no fragment where one is needed");
    return r / s->registers * s->words;
}

// One fragment of the accumulator. Of three products the small ones come first.
static void multiply(kc_emit *e, const kc_mma *row, bool high, const side *a, int at_a,
                     const side *b, int at_b, int n_c, LLVMValueRef *c) {
    static const int parts[][2] = {{1, 0}, {0, 1}, {0, 0}};
    for (int i = high ? 0 : 2; i < 3; i++)
        e->hooks->multiply_matrices(e, row, a->words, a->word[parts[i][0]] + at_a, b->words,
                                    b->word[parts[i][1]] + at_b, n_c, c);
}

void kc_emit_mma(kc_emit *e, const kc_op *op, const kc_mma *row) {
    if (!row) kc_bug("dot: an instruction that the target does not have");
    const kc_value *sum = kc_operand(op, 2);
    bool high = row->note[0] && strcmp(kc_attr_string(op, KC_ATTR_PRECISION, ""), "high") == 0;
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, -1), n_c = registers_of(row, KC_MMA_C);
    kc_emitted *v = kc_emit_define(e, kc_result(op, 0));
    side a = operand(e, kc_operand(op, 0), row, KC_MMA_A, high),
         b = operand(e, kc_operand(op, 1), row, KC_MMA_B, high);
    int64_t depth = kc_operand(op, 0)->type.tile[axis];
    for (int r = 0; r < v->n; r++)
        v->regs[r] = kc_emit_register(e, sum, r);
    for (int64_t k = 0; k < depth; k += row->k)
        for (int r = 0; r < v->n; r += n_c) {
            int64_t at[KC_LAYOUT_MAX_RANK];
            for (int d = 0; d < v->map->rank; d++)
                at[d] = d == axis ? k : kc_tile_map_at(v->map, r, d);
            multiply(e, row, high, &a, fragment_at(&a, at), &b, fragment_at(&b, at), n_c,
                     &v->regs[r]);
        }
}
