// Dot products on FMA units: operands go through shared memory, and each thread fetches what its accumulators need, a few
// steps of the contracted axis at a time.
#include "passes/layouts.h"

enum { MICRO_TILE = 4, FETCH_BYTES = 16, FETCH_DECODED = 8 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// The last dimension along which the operand varies, the contracted one aside; -1: none.
static int own_dimension(const kc_op *dot, int operand) {
    int64_t axis = kc_attr_int(dot, KC_ATTR_AXIS, 0);
    const kc_type *type = &kc_operand(dot, operand)->type;
    for (int d = type->rank - 1; d >= 0; d--)
        if (d != axis && type->tile[d] > 1) return d;
    return -1;
}

static int64_t pow2_part(int64_t n) {
    return n & -n;
}

// Lanes in a 4 x 8 pattern of 4 x 4 micro tiles; warps go where the tile is longer.
kc_layout kc_layouts_accumulator(const kc_layouts *l, const kc_op *dot) {
    const kc_type *type = &kc_result(dot, 0)->type;
    int m = own_dimension(dot, 0), n = own_dimension(dot, 1), count = 0;
    kc_layout_blocked_spec spec = {.rank = l->rank};
    if (n >= 0) spec.order[count++] = n;
    if (m >= 0 && m != n) spec.order[count++] = m;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != m && d != n) spec.order[count++] = d;
    for (int d = 0; d < l->rank; d++) {
        spec.shape[d] = (int)type->tile[d];
        spec.size_per_thread[d] =
            d == m || d == n ? (int)smaller(MICRO_TILE, pow2_part(type->tile[d])) : 1;
        spec.lanes[d] = spec.warps[d] = 1;
    }
    int first = spec.order[0], second = l->rank > 1 ? spec.order[1] : first;
    int64_t lanes = l->lanes, room = pow2_part(type->tile[first]) / spec.size_per_thread[first];
    spec.lanes[first] = (int)smaller(smaller(room, l->lanes / 4), lanes);
    spec.lanes[second] = second == first ? spec.lanes[first] : 1;
    lanes /= spec.lanes[first];
    spec.lanes[second] *= (int)lanes;
    for (int w = l->warps; w > 1; w /= 2) {
        int64_t left[2];
        for (int i = 0; i < 2; i++) {
            int d = i ? second : first;
            left[i] = type->tile[d] / (spec.size_per_thread[d] * spec.lanes[d] * spec.warps[d]);
        }
        spec.warps[left[1] > left[0] ? second : first] *= 2;
    }
    kc_layout layout;
    const char *error = kc_layout_blocked(&layout, &spec);
    if (error) kc_bug("no accumulator layout: %s", error);
    return layout;
}

// Each thread holds, for its accumulators, `extent` steps of the contracted axis.
static kc_layout operand_layout(const kc_layouts *l, const kc_op *dot, int operand,
                                int64_t extent) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    kc_type type = kc_operand(dot, operand)->type;
    type.tile[axis] = 1;
    kc_layout layout = kc_layouts_project(l, kc_result(dot, 0)->type.layout, &type), expanded;
    const char *error = kc_layout_expand(&expanded, &layout, axis, (int)extent);
    if (error) kc_bug("no operand layout: %s", error);
    return expanded;
}

static kc_value *stage_operand(kc_layouts *l, kc_builder *b, const kc_op *dot, int operand) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    kc_value *v = kc_operand(dot, operand);
    kc_layout reader = operand_layout(l, dot, operand, v->type.tile[axis]), memory;
    const char *error =
        kc_layout_choose_memory(&memory, v->type.layout, &reader, kc_dtype_unit(v->type.elem),
                                (int)l->pass->target->attributes.shared_banks);
    if (error) kc_bug("no shared layout for a dot operand: %s", error);
    kc_value *buffer = kc_layouts_alloc(l, dot->loc, &v->type, &memory);
    buffer->name = operand ? "bs" : "as";
    kc_op *store = kc_build(b, KC_OP_SHARED_STORE, 2, (kc_value *[]){buffer, v}, 0, NULL);
    kc_op_set_segments(store, (int[]){1, 1, 0});
    return buffer;
}

static kc_value *fetch(kc_layouts *l, kc_builder *b, const kc_op *dot, int operand,
                       kc_value *buffer, int64_t at, int64_t steps) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    kc_type type = kc_operand(dot, operand)->type;
    int64_t offsets[KC_MAX_RANK] = {0};
    offsets[axis] = at;
    type.tile[axis] = steps;
    kc_layout layout = operand_layout(l, dot, operand, steps);
    type.layout = kc_layouts_intern(l, &layout);
    kc_value *part = kc_build_1(b, KC_OP_SHARED_LOAD, type, 1, &buffer);
    kc_op_set_segments(part->def, (int[]){1, 0});
    kc_attr_set_ints(l->pass->module, part->def, KC_ATTR_OFFSETS, type.rank, offsets);
    part->name = operand ? "b" : "a";
    return part;
}

void kc_layouts_feed_dot(kc_layouts *l, kc_op *dot) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    int64_t depth = kc_operand(dot, 0)->type.tile[axis];
    kc_dtype elem = kc_operand(dot, 0)->type.elem;
    int64_t steps = smaller(pow2_part(depth), FETCH_BYTES / kc_dtype_unit(elem));
    if (kc_dtype_is_float(elem))
        steps = smaller(steps, FETCH_DECODED); // each takes a register more once it is an f32
    kc_builder b = kc_builder_before(l->pass->module, dot);
    kc_value *as = stage_operand(l, &b, dot, 0), *bs = stage_operand(l, &b, dot, 1),
             *acc = kc_operand(dot, 2);
    for (int64_t k = 0; k < depth; k += steps) {
        kc_value *operands[3] = {fetch(l, &b, dot, 0, as, k, steps),
                                 fetch(l, &b, dot, 1, bs, k, steps), acc};
        acc = kc_build_1(&b, KC_OP_DOT, kc_result(dot, 0)->type, 3, operands);
        for (int i = 0; i < dot->n_attrs; i++)
            acc->def->attrs[acc->def->n_attrs++] = dot->attrs[i];
        acc->name = kc_result(dot, 0)->name;
    }
    kc_value_replace(kc_result(dot, 0), acc);
    acc->data = kc_result(dot, 0)->data;
    kc_op_erase(dot);
}
