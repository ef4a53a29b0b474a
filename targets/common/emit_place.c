// Where threads hold elements: coordinates from the thread's number, representatives of copies,
// conversions inside a warp.
#include "targets/common/emit.h"

// ---- linear functions of the thread ---------------------------------------------------------

// The bits b..b+n-1 of the thread, placed at value bits k..k+n-1.
static LLVMValueRef move_bits(kc_emit *e, int b, int n, int k) {
    LLVMBuilderRef builder = e->builder;
    LLVMValueRef bits = LLVMBuildAnd(builder, e->thread, kc_emit_i32(e, ((1LL << n) - 1) << b), "");
    if (k > b) return LLVMBuildShl(builder, bits, kc_emit_i32(e, k - b), "");
    return k < b ? LLVMBuildLShr(builder, bits, kc_emit_i32(e, b - k), "") : bits;
}

static bool is_power_of_two(int64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

// XOR of vector over the threads whose bit b is set.
static LLVMValueRef whole_vector(kc_emit *e, int b, int64_t vector) {
    LLVMValueRef bit = LLVMBuildAnd(e->builder, e->thread, kc_emit_i32(e, 1LL << b), "");
    LLVMValueRef set = LLVMBuildICmp(e->builder, LLVMIntNE, bit, kc_emit_i32(e, 0), "");
    return LLVMBuildSelect(e->builder, set, kc_emit_i32(e, vector), kc_emit_i32(e, 0), "");
}

LLVMValueRef kc_emit_thread_part(kc_emit *e, const int64_t *basis, int bits) {
    LLVMValueRef result = NULL;
    int64_t used = 0;
    for (int b = 0, n; b < bits; b += n) {
        n = 1;
        if (basis[b] == 0) continue;
        bool moves = is_power_of_two(basis[b]);
        while (moves && b + n < bits && basis[b + n] == basis[b] << n)
            n++;
        LLVMValueRef piece = moves ? move_bits(e, b, n, __builtin_ctzll((uint64_t)basis[b]))
                                   : whole_vector(e, b, basis[b]);
        int64_t touched = moves ? basis[b] * ((1LL << n) - 1) : basis[b];
        if (!result) result = piece;
        else if (used & touched) result = LLVMBuildXor(e->builder, result, piece, "");
        else result = LLVMBuildOr(e->builder, result, piece, "");
        used |= touched;
    }
    return result ? result : kc_emit_i32(e, 0);
}

static void basis_along(const kc_tile_map *m, int d, int64_t *basis) {
    for (int b = 0; b < m->thread_bits; b++)
        basis[b] = m->threads[b][d];
}

// ---- iota -----------------------------------------------------------------------------------

LLVMValueRef kc_emit_iota_register(kc_emit *e, const kc_op *op, int r) {
    const kc_value *result = kc_result(op, 0);
    kc_emitted *v = result->data;
    LLVMTypeRef type = kc_emit_type(e, result->type.elem);
    int d = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    if (!v->map) kc_bug("iota of rank 0");
    int64_t basis[KC_MAX_THREAD_BITS], mask = kc_tile_map_thread_mask(v->map, d);
    basis_along(v->map, d, basis);
    if (!v->thread_part) v->thread_part = kc_emit_thread_part(e, basis, v->map->thread_bits);
    int64_t linear = v->map->linear[r][d], repeat = v->map->repeats[r][d];
    LLVMValueRef x = v->thread_part;
    if (linear & mask) {
        x = LLVMBuildXor(e->builder, x, kc_emit_i32(e, linear), "");
        linear = 0;
    }
    if (linear + repeat) x = LLVMBuildNUWAdd(e->builder, x, kc_emit_i32(e, linear + repeat), "");
    if (kc_dtype_bits(result->type.elem) <= 8)
        return kc_emit_cast_element(e, KC_i32, result->type.elem, x);
    if (kc_dtype_is_float(result->type.elem)) return LLVMBuildUIToFP(e->builder, x, type, "");
    return kc_emit_convert_int(e, x, type, false);
}

LLVMValueRef kc_emit_representative(kc_emit *e, const kc_tile_map *m) {
    if (!m->redundant) return NULL;
    LLVMValueRef bits = LLVMBuildAnd(e->builder, e->thread, kc_emit_i32(e, m->redundant), "");
    return LLVMBuildICmp(e->builder, LLVMIntEQ, bits, kc_emit_i32(e, 0), "");
}

// Where several registers hold the same element one of them stands for all.
bool kc_emit_is_copy(const kc_tile_map *m, int r) {
    int64_t at[KC_LAYOUT_MAX_RANK];
    if (!m) return false;
    for (int d = 0; d < m->rank; d++)
        at[d] = kc_tile_map_at(m, r, d);
    return kc_tile_map_find(m, at) != r;
}

// ---- convert --------------------------------------------------------------------------------

// The linear map from a place in the result (registers of one repetition, then lanes, then warps)
// to the place to fetch from.
typedef struct {
    kc_linear source;
    int from_registers, to_registers, lanes, threads; // bits
    uint32_t choices[1 << KC_MAX_THREAD_BITS];        // what threads add to the source register
    int n_choices;
    LLVMValueRef choice, lane; // of this thread; NULL where all threads do alike
} conversion;

// What thread bit b adds to the source.
static uint32_t thread_column(const conversion *c, int b) {
    return c->source.column[c->to_registers + b];
}

// The span of what thread bits add to the source register's number: all registers that some thread
// may want.
static void find_choices(conversion *c) {
    uint32_t mask = (1u << c->from_registers) - 1;
    c->n_choices = 1;
    c->choices[0] = 0;
    for (int b = 0; b < c->threads; b++) {
        uint32_t add = thread_column(c, b) & mask;
        bool known = false;
        for (int i = 0; i < c->n_choices; i++)
            known = known || c->choices[i] == add;
        for (int i = 0; !known && i < c->n_choices; i++)
            c->choices[c->n_choices + i] = c->choices[i] ^ add;
        if (!known) c->n_choices *= 2;
    }
}

static LLVMValueRef thread_function(kc_emit *e, const conversion *c, int shift, int bits) {
    int64_t basis[KC_MAX_THREAD_BITS] = {0};
    for (int b = 0; b < c->threads; b++)
        basis[b] = thread_column(c, b) >> shift & ((1u << bits) - 1);
    return kc_emit_thread_part(e, basis, c->threads);
}

// Result register r: one value (fetched by a shuffle) for each source register that some thread
// wants, then a choice.
static LLVMValueRef fetch(kc_emit *e, const conversion *c, const kc_value *x, int r) {
    uint32_t at = kc_linear_apply(&c->source, (uint32_t)(r & ((1 << c->to_registers) - 1)));
    uint32_t own = at & ((1u << c->from_registers) - 1);
    uint32_t lane_constant = at >> c->from_registers & ((1u << c->lanes) - 1);
    int repetition = r >> c->to_registers << c->from_registers;
    LLVMValueRef from = NULL, result = NULL;
    if (c->lane) from = LLVMBuildXor(e->builder, c->lane, kc_emit_i32(e, lane_constant), "");
    for (int i = 0; i < c->n_choices; i++) {
        LLVMValueRef value = kc_emit_register(e, x, repetition + (int)(own ^ c->choices[i]));
        if (from) value = kc_emit_shuffle(e, value, 0, from);
        if (i) {
            LLVMValueRef mine =
                LLVMBuildICmp(e->builder, LLVMIntEQ, c->choice, kc_emit_i32(e, c->choices[i]), "");
            value = LLVMBuildSelect(e->builder, mine, value, result, "");
        }
        result = value;
    }
    return result;
}

void kc_emit_convert(kc_emit *e, const kc_op *op) {
    const kc_value *operand = kc_operand(op, 0);
    const kc_layout *from = operand->type.layout, *to = kc_result(op, 0)->type.layout;
    kc_emitted *v = kc_emit_define(e, kc_result(op, 0));
    kc_convert_kind kind = kc_layout_convert_kind(from, to);
    if (kind > KC_CONVERT_SHUFFLE)
        kc_bug("a convert between warps: it should go through shared memory");
    if (from->bits[KC_LAYOUT_LANE] != v->map->lane_bits ||
        to->bits[KC_LAYOUT_LANE] != v->map->lane_bits)
        kc_bug("a convert between layouts of other than %d lane bits", v->map->lane_bits);
    conversion *c = KC_NEW(e->arena, conversion);
    c->source = kc_layout_source(from, to);
    c->from_registers = from->bits[KC_LAYOUT_REGISTER];
    c->to_registers = to->bits[KC_LAYOUT_REGISTER];
    c->lanes = v->map->lane_bits;
    c->threads = c->lanes + to->bits[KC_LAYOUT_WARP];
    find_choices(c);
    if (c->n_choices > 1) c->choice = thread_function(e, c, 0, c->from_registers);
    if (kind == KC_CONVERT_SHUFFLE) c->lane = thread_function(e, c, c->from_registers, c->lanes);
    for (int r = 0; r < v->n; r++)
        v->regs[r] = fetch(e, c, operand, r);
}
