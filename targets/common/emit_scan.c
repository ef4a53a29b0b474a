// Scans inside a warp, one bit of the coordinate after the other, the lowest first: where bit b is
// set, the element takes in, from the left, the last element before that bit was set (Sklansky).
//
//     index       0  1  2  3  4  5  6  7
//     bit 0          0     2     4     6      takes in element
//     bit 1             1  1        5  5
//     bit 2                   3  3  3  3
//
// A bit that registers hold costs nothing but the combining, and a shuffle where lanes hold lower
// bits; a bit that lanes hold costs a shuffle for each element that is taken in, which many
// registers share. Order is kept, so that the combiner need not commute. In each half, a prefix is
// what the lower half gives plus a smaller prefix: a running sum of what is not negative never
// decreases, rounded as it is.
//
// Bits above, which warps hold, separate segments; scan_carry joins them by the totals.
#include "targets/common/emit.h"

typedef kc_emit_tuple tuple;

typedef struct {
    kc_emit *e;
    const kc_op *op;
    int n, axis;
    int64_t segment;
    const kc_tile_map *map;
    tuple *value;       // by register; those that are copies of a lower one are left out
    int64_t held;       // bits along the axis that threads hold
    LLVMValueRef lane;  // i32
    tuple identity;
} scan;

static int axis_of(const kc_op *op) {
    return (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
}

static tuple identity_of(kc_emit *e, const kc_op *op, int n) {
    const double *init = kc_attr_get(op, KC_ATTR_INIT)->numbers;
    tuple result;
    for (int i = 0; i < n; i++) {
        kc_dtype dtype = kc_operand(op, i)->type.elem;
        result.part[i] = kc_dtype_is_float(dtype)
                             ? kc_emit_constant(e, dtype, init[i])
                             : kc_emit_int(e, dtype, kc_dtype_saturate(dtype, init[i]));
    }
    return result;
}

// The coordinates of register r, other than those along the axis, and `along`.
static int register_at(const kc_tile_map *find_in, const kc_tile_map *m, int r, int axis,
                       int64_t along) {
    int64_t at[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < m->rank; d++)
        at[d] = d == axis ? along : kc_tile_map_at(m, r, d);
    int found = kc_tile_map_find(find_in, at);
    if (found < 0) kc_bug("a scan over a layout that lacks a register");
    return found;
}

static int original(const kc_tile_map *m, int r, int axis) {
    return register_at(m, m, r, axis, kc_tile_map_at(m, r, axis));
}

// ---- lanes ----------------------------------------------------------------------------------

// The lane bit that holds bit p of the axis, or -1.
static int lane_bit(const scan *s, int64_t p) {
    for (int b = 0; b < s->map->lane_bits; b++)
        if (s->map->threads[b][s->axis] == p && !(s->map->redundant >> b & 1)) return b;
    return -1;
}

// Lanes that hold bits below p: their bits of the lane's number.
static unsigned lanes_below(const scan *s, int64_t p) {
    unsigned lanes = 0;
    for (int64_t q = 1; q < p; q *= 2)
        if (lane_bit(s, q) >= 0) lanes |= 1u << lane_bit(s, q);
    return lanes;
}

// The value of the lane with the bits of `set`, and without those of `clear`.
static tuple from_lane(const scan *s, const tuple *value, unsigned set, unsigned clear) {
    kc_emit *e = s->e;
    LLVMValueRef source = NULL;
    if (set) {
        source = LLVMBuildAnd(e->builder, s->lane, kc_emit_i32(e, ~(int64_t)clear), "");
        source = LLVMBuildOr(e->builder, source, kc_emit_i32(e, set), "");
    }
    tuple result;
    for (int i = 0; i < s->n; i++)
        result.part[i] = kc_emit_shuffle(e, value->part[i], (int)clear, source);
    return result;
}

// ---- one bit --------------------------------------------------------------------------------

// What the elements of register r with bit p set take in: from which register.
static int source_of(const scan *s, int r, int64_t p) {
    int64_t own = kc_tile_map_at(s->map, r, s->axis);
    return register_at(s->map, s->map, r, s->axis, (own & ~p) | ((p - 1) & ~s->held));
}

static void register_step(scan *s, int64_t p) {
    unsigned lanes = lanes_below(s, p);
    tuple *moved = KC_NEW_ARRAY(s->e->arena, tuple, s->map->n_registers);
    for (int r = 0; r < s->map->n_registers; r++) {
        if (original(s->map, r, s->axis) != r || !(kc_tile_map_at(s->map, r, s->axis) & p)) continue;
        int from = source_of(s, r, p);
        if (!moved[from].part[0])
            moved[from] = lanes ? from_lane(s, &s->value[from], lanes, 0) : s->value[from];
        s->value[r] = kc_emit_combine(s->e, s->op, s->n, &moved[from], &s->value[r]);
    }
}

static void lane_step(scan *s, int64_t p, int b) {
    kc_emit *e = s->e;
    tuple *moved = KC_NEW_ARRAY(e->arena, tuple, s->map->n_registers);
    LLVMValueRef bit = LLVMBuildAnd(e->builder, s->lane, kc_emit_i32(e, 1LL << b), "");
    LLVMValueRef set = LLVMBuildICmp(e->builder, LLVMIntNE, bit, kc_emit_i32(e, 0), "");
    for (int r = 0; r < s->map->n_registers; r++) {
        if (original(s->map, r, s->axis) != r) continue;
        int from = source_of(s, r, p);
        if (moved[from].part[0]) continue;
        moved[from] = from_lane(s, &s->value[from], lanes_below(s, p), 1u << b);
        for (int i = 0; i < s->n; i++)
            moved[from].part[i] = LLVMBuildSelect(e->builder, set, moved[from].part[i],
                                                  s->identity.part[i], "");
    }
    for (int r = 0; r < s->map->n_registers; r++)
        if (original(s->map, r, s->axis) == r)
            s->value[r] =
                kc_emit_combine(e, s->op, s->n, &moved[source_of(s, r, p)], &s->value[r]);
}

// Bits along the axis are one hardware bit each: lanes and registers below the segment's size, warps
// from there on, in order.
static void check_layout(const scan *s) {
    const kc_tile_map *m = s->map;
    int64_t next_warp = s->segment;
    for (int b = 0; b < m->thread_bits; b++) {
        int64_t along = m->threads[b][s->axis];
        if (!along) continue;
        bool warp = b >= m->lane_bits, mixed = (along & (along - 1)) != 0;
        for (int d = 0; d < m->rank; d++)
            mixed = mixed || (d != s->axis && m->threads[b][d]);
        if (mixed || warp != (along >= s->segment) || (warp && along != next_warp))
            kc_bug("a scan over a layout whose thread bit %d does not suit it", b);
        if (warp) next_warp *= 2;
    }
    for (int r = 0; r < m->n_registers; r++)
        if (kc_tile_map_at(m, r, s->axis) >= s->segment)
            kc_bug("a scan over a layout with registers above its warps");
}

// ---- scan -----------------------------------------------------------------------------------

static scan begin(kc_emit *e, const kc_op *op, int n) {
    scan s = {.e = e, .op = op, .n = n, .axis = axis_of(op)};
    if (n > KC_MAX_PARTS) kc_bug("a scan of %d components", n);
    s.map = kc_emit_get(kc_operand(op, 0))->map;
    s.held = kc_tile_map_thread_mask(s.map, s.axis);
    s.identity = identity_of(e, op, n);
    s.lane = LLVMBuildAnd(e->builder, e->thread, kc_emit_i32(e, (1LL << s.map->lane_bits) - 1), "");
    return s;
}

// The last element of the segment, for every lane.
static void emit_totals(scan *s, kc_emitted *const *totals) {
    const kc_tile_map *to = totals[0]->map;
    unsigned lanes = lanes_below(s, s->segment);
    for (int r = 0; r < totals[0]->n; r++) {
        int last = register_at(s->map, to, r, s->axis, (s->segment - 1) & ~s->held);
        tuple value = lanes ? from_lane(s, &s->value[last], lanes, 0) : s->value[last];
        for (int i = 0; i < s->n; i++)
            totals[i]->regs[r] = value.part[i];
    }
}

void kc_emit_scan(kc_emit *e, const kc_op *op) {
    int n = op->n_operands;
    scan s = begin(e, op, n);
    kc_emitted *results[2 * KC_MAX_PARTS];
    for (int i = 0; i < 2 * n; i++)
        results[i] = kc_emit_define(e, kc_result(op, i));
    s.segment = s.map->extent[s.axis] / kc_result(op, n)->type.tile[s.axis];
    check_layout(&s);
    s.value = KC_NEW_ARRAY(e->arena, tuple, s.map->n_registers);
    for (int r = 0; r < s.map->n_registers; r++)
        for (int i = 0; i < n; i++)
            s.value[r].part[i] = kc_emit_register(e, kc_operand(op, i), r);
    for (int64_t p = 1; p < s.segment; p *= 2) {
        int b = lane_bit(&s, p);
        if (b >= 0) lane_step(&s, p, b);
        else register_step(&s, p);
    }
    for (int r = 0; r < s.map->n_registers; r++)
        for (int i = 0; i < n; i++)
            results[i]->regs[r] = s.value[original(s.map, r, s.axis)].part[i];
    bool used = false;
    for (int i = n; i < 2 * n; i++)
        used = used || !kc_value_unused(kc_result(op, i));
    if (used) emit_totals(&s, results + n);
}

// ---- joining segments -----------------------------------------------------------------------

// Which segment this thread is in, compared with 1, 2, ...: is_at[k] for segment k.
static LLVMValueRef *find_segment(const scan *s, int segments) {
    kc_emit *e = s->e;
    int64_t basis[KC_MAX_THREAD_BITS];
    LLVMValueRef *is_at = KC_NEW_ARRAY(e->arena, LLVMValueRef, segments);
    for (int b = 0; b < s->map->thread_bits; b++)
        basis[b] = s->map->threads[b][s->axis] / s->segment;
    LLVMValueRef mine = kc_emit_thread_part(e, basis, s->map->thread_bits);
    for (int k = 1; k < segments; k++)
        is_at[k] = LLVMBuildICmp(e->builder, LLVMIntEQ, mine, kc_emit_i32(e, k), "");
    return is_at;
}

// Of the segments in one line: what comes before this thread's, and everything.
static void fold(const scan *s, const kc_tile_map *line, int r, LLVMValueRef *const is_at,
                 int segments, tuple *before, tuple *all) {
    const kc_tile_map *from = kc_emit_get(kc_operand(s->op, s->n))->map;
    *before = s->identity;
    for (int k = 0; k < segments; k++) {
        tuple next;
        int at = register_at(from, line, r, s->axis, k);
        for (int i = 0; i < s->n; i++) {
            next.part[i] = kc_emit_register(s->e, kc_operand(s->op, s->n + i), at);
            if (k > 0)
                before->part[i] = LLVMBuildSelect(s->e->builder, is_at[k], all->part[i],
                                                  before->part[i], "");
        }
        *all = k ? kc_emit_combine(s->e, s->op, s->n, all, &next) : next;
    }
}

void kc_emit_scan_carry(kc_emit *e, const kc_op *op) {
    int n = op->segments[0];
    scan s = begin(e, op, n);
    int segments = (int)kc_operand(op, n)->type.tile[s.axis];
    kc_emitted *results[2 * KC_MAX_PARTS];
    for (int i = 0; i < 2 * n; i++)
        results[i] = kc_emit_define(e, kc_result(op, i));
    s.segment = s.map->extent[s.axis] / segments;
    check_layout(&s);
    LLVMValueRef *is_at = find_segment(&s, segments);
    const kc_tile_map *lines = results[n]->map;
    tuple *before = KC_NEW_ARRAY(e->arena, tuple, lines->n_registers), all;
    for (int r = 0; r < lines->n_registers; r++) {
        fold(&s, lines, r, is_at, segments, &before[r], &all);
        for (int i = 0; i < n; i++)
            results[n + i]->regs[r] = all.part[i];
    }
    for (int r = 0; r < s.map->n_registers; r++) {
        tuple own, joined;
        for (int i = 0; i < n; i++)
            own.part[i] = kc_emit_register(e, kc_operand(op, i), r);
        int line = register_at(lines, s.map, r, s.axis, 0);
        joined = kc_emit_combine(e, op, n, &before[line], &own);
        for (int i = 0; i < n; i++)
            results[i]->regs[r] = joined.part[i];
    }
}
