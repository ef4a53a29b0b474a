// Reductions inside a warp: registers first, pairwise, then lanes by butterflies, so that every
// lane ends with the result. The order is fixed. What warps hold apart stays apart: the result has
// an extent of the number of such warps.
#include "targets/common/emit.h"

// ---- shuffles of any type -------------------------------------------------------------------

static LLVMValueRef shuffle_word(kc_emit *e, LLVMValueRef word, int mask, LLVMValueRef source) {
    return source ? e->hooks->shuffle_index(e, word, source) : e->hooks->shuffle_xor(e, word, mask);
}

static LLVMValueRef shuffle_pair(kc_emit *e, LLVMValueRef bits, int mask, LLVMValueRef source) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef pair = LLVMVectorType(e->i32, 2);
    LLVMValueRef words = LLVMBuildBitCast(b, bits, pair, ""), result = LLVMGetUndef(pair);
    for (int i = 0; i < 2; i++) {
        LLVMValueRef word = LLVMBuildExtractElement(b, words, kc_emit_i32(e, i), "");
        result = LLVMBuildInsertElement(b, result, shuffle_word(e, word, mask, source),
                                        kc_emit_i32(e, i), "");
    }
    return LLVMBuildBitCast(b, result, e->i64, "");
}

LLVMValueRef kc_emit_shuffle(kc_emit *e, LLVMValueRef value, int mask, LLVMValueRef source) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = LLVMTypeOf(value), bits_type;
    bool is_float = LLVMGetTypeKind(type) != LLVMIntegerTypeKind;
    if (!is_float) bits_type = type;
    else bits_type = type == e->f64 ? e->i64 : type == e->f32 ? e->i32 : e->i16;
    LLVMValueRef bits = is_float ? LLVMBuildBitCast(b, value, bits_type, "") : value;
    LLVMValueRef moved;
    if (bits_type == e->i64) {
        moved = shuffle_pair(e, bits, mask, source);
    } else {
        moved = shuffle_word(e, kc_emit_convert_int(e, bits, e->i32, false), mask, source);
        moved = kc_emit_convert_int(e, moved, bits_type, false);
    }
    return is_float ? LLVMBuildBitCast(b, moved, type, "") : moved;
}

// ---- combining ------------------------------------------------------------------------------

typedef kc_emit_tuple tuple;

kc_emit_tuple kc_emit_combine(kc_emit *e, const kc_op *op, int n, const tuple *a, const tuple *b) {
    tuple result;
    for (int i = 0; i < n; i++) {
        kc_emit_bind(e, op->body->args[i], a->part[i]);
        kc_emit_bind(e, op->body->args[n + i], b->part[i]);
    }
    kc_emit_block(e, op->body);
    for (int i = 0; i < n; i++)
        result.part[i] = kc_emit_scalar(kc_operand(op->body->last, i));
    return result;
}

static tuple combine(kc_emit *e, const kc_op *op, const tuple *a, const tuple *b) {
    return kc_emit_combine(e, op, op->n_results, a, b);
}

static bool is_reduced(const kc_op *op, int d) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    for (int i = 0; i < axes->count; i++)
        if (axes->integers[i] == d) return true;
    return false;
}

// A tree over what is pushed, for independence of the steps and for the error bound; as in a binary
// counter, a pair is combined once it is complete, so that few values wait. levels[i] holds 2^i
// elements where `filled` has bit i.
typedef struct {
    tuple levels[32];
    unsigned filled;
} tree;

static void push(kc_emit *e, const kc_op *op, tree *t, tuple value) {
    int i = 0;
    for (; t->filled >> i & 1; i++)
        value = combine(e, op, &t->levels[i], &value);
    t->levels[i] = value;
    t->filled = (t->filled | 1u << i) & ~((1u << i) - 1);
}

static tuple finish(kc_emit *e, const kc_op *op, const tree *t) {
    int i = __builtin_ctz(t->filled);
    tuple value = t->levels[i];
    for (i++; t->filled >> i; i++)
        if (t->filled >> i & 1) value = combine(e, op, &t->levels[i], &value);
    return value;
}

// True when input register r goes into a result whose own coordinates are `at` (0 along the axes),
// and is no copy of a lower one.
static bool belongs(const kc_op *op, const kc_tile_map *m, int r, const int64_t *at) {
    int64_t own[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < m->rank; d++) {
        own[d] = kc_tile_map_at(m, r, d);
        if (!is_reduced(op, d) && own[d] != at[d]) return false;
    }
    return kc_tile_map_find(m, own) == r;
}

static tuple reduce_registers(kc_emit *e, const kc_op *op, const kc_tile_map *m,
                              const int64_t *at) {
    tree t = {.filled = 0};
    for (int r = 0; r < m->n_registers; r++) {
        if (!belongs(op, m, r, at)) continue;
        tuple value;
        for (int i = 0; i < op->n_results; i++)
            value.part[i] = kc_emit_register(e, kc_operand(op, i), r);
        push(e, op, &t, value);
    }
    if (!t.filled) kc_bug("a reduce with a result register that no input register feeds");
    return finish(e, op, &t);
}

// Lane bits whose elements differ along the axes alone. A lane bit that moves along both is none
// that layouts give.
static unsigned lanes_to_reduce(const kc_op *op, const kc_tile_map *m) {
    unsigned lanes = 0;
    for (int b = 0; b < m->lane_bits; b++) {
        bool along = false, across = false;
        for (int d = 0; d < m->rank; d++)
            if (m->threads[b][d]) *(is_reduced(op, d) ? &along : &across) = true;
        if (along && across) kc_bug("a reduce over a layout whose lane bit %d mixes axes", b);
        if (along && !(m->redundant >> b & 1)) lanes |= 1u << b;
    }
    return lanes;
}

static tuple reduce_lanes(kc_emit *e, const kc_op *op, tuple value, unsigned lanes) {
    for (int b = 0; lanes >> b; b++) {
        if (!(lanes >> b & 1)) continue;
        tuple other;
        for (int i = 0; i < op->n_results; i++)
            other.part[i] = kc_emit_shuffle(e, value.part[i], 1 << b, NULL);
        value = combine(e, op, &value, &other);
    }
    return value;
}

void kc_emit_reduce(kc_emit *e, const kc_op *op) {
    const kc_tile_map *m = kc_emit_get(kc_operand(op, 0))->map;
    if (op->n_results > KC_MAX_PARTS) kc_bug("a reduce of %d components", op->n_results);
    kc_emitted *results[KC_MAX_PARTS];
    for (int i = 0; i < op->n_results; i++)
        results[i] = kc_emit_define(e, kc_result(op, i));
    unsigned lanes = lanes_to_reduce(op, m);
    for (int r = 0; r < results[0]->n; r++) {
        int64_t at[KC_LAYOUT_MAX_RANK];
        for (int d = 0; d < m->rank; d++)
            at[d] = kc_tile_map_at(results[0]->map, r, d);
        tuple value = reduce_registers(e, op, m, at);
        value = reduce_lanes(e, op, value, lanes);
        for (int i = 0; i < op->n_results; i++)
            results[i]->regs[r] = value.part[i];
    }
}
