// Dot products: operands go through shared memory, and each warp fetches what its accumulators
// need, a few steps of the contracted axis at a time. What a warp needs is the unit's doing:
// layout_fma.c, layout_mma.c.
#include "passes/layouts.h"
#include "targets/dispatch.h"

enum { LEAST_COPY = 4 }; // bytes

// The last dimension along which the operand varies, the contracted one aside; -1: none.
int kc_layouts_own_dimension(const kc_op *dot, int operand) {
    int64_t axis = kc_attr_int(dot, KC_ATTR_AXIS, 0);
    const kc_type *type = &kc_operand(dot, operand)->type;
    for (int d = type->rank - 1; d >= 0; d--)
        if (d != axis && type->tile[d] > 1) return d;
    return -1;
}

kc_layout kc_layouts_accumulator(const kc_layouts *l, const kc_op *dot) {
    return kc_layouts_instruction(l, dot) ? kc_layouts_mma_accumulator(l, dot)
                                          : kc_layouts_fma_accumulator(l, dot);
}

// Elements that stay side by side: what one access of the load brings. Copies need it that pass no
// register, and matrix loads find their rows in it; for FMA units any order will do where copies
// pass registers.
static int kept_together(const kc_layouts *l, const kc_op *dot, int operand) {
    const kc_value *v = kc_operand(dot, operand);
    const kc_op *load = v->def;
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0), at[KC_LAYOUT_MAX_RANK];
    kc_layout_apply(v->type.layout, (uint32_t[KC_LAYOUT_PLACES]){[KC_LAYOUT_REGISTER] = 1}, at);
    if (kc_layouts_wanted_run(l, dot) > 1 && at[axis] != 1) return 1; // turned on its way
    bool matters = l->pass->target->attributes.has_async_copy || kc_layouts_instruction(l, dot);
    if (!matters || !load || load->code != KC_OP_LOAD || kc_dtype_is_packed(v->type.elem)) return 1;
    int64_t vector = kc_attr_int(load, KC_ATTR_VECTOR, 1);
    return vector * kc_dtype_unit(v->type.elem) >= LEAST_COPY ? (int)vector : 1;
}

int64_t kc_layouts_wanted_run(const kc_layouts *l, const kc_op *dot) {
    return kc_layouts_instruction(l, dot) ? kc_mma_run(kc_operand(dot, 0)->type.elem) : 1;
}

// The layout with only those registers that `part` has; each of the others as if it were another
// warp's: no vector then joins two of them.
static kc_layout others_apart(const kc_layout *whole, const uint32_t *part, int bits) {
    kc_layout apart = *whole;
    apart.bits[KC_LAYOUT_REGISTER] = 0;
    for (int i = 0; i < whole->bits[KC_LAYOUT_REGISTER]; i++) {
        uint32_t v = whole->basis[KC_LAYOUT_REGISTER][i];
        int known = 0;
        while (known < bits && part[known] != v)
            known++;
        kc_layout_place place = known < bits ? KC_LAYOUT_REGISTER : KC_LAYOUT_WARP;
        apart.basis[place][apart.bits[place]++] = v;
    }
    return apart;
}

static kc_layout parts_apart(const kc_feed *feed) {
    kc_layout part;
    const char *error = kc_layout_inside(&part, &feed->step, &feed->whole);
    if (error) kc_bug("a part of an operand: %s", error);
    return others_apart(&feed->whole, part.basis[KC_LAYOUT_REGISTER],
                        part.bits[KC_LAYOUT_REGISTER]);
}

// As shared memory is written. A copy that passes no register brings what lies side by side in
// global memory, whatever else the thread moves.
static kc_layout writes(const kc_layouts *l, const kc_op *dot, int operand, int kept) {
    const kc_value *v = kc_operand(dot, operand);
    const kc_layout *writer = v->type.layout;
    bool copied = l->pass->target->attributes.has_async_copy && v->def &&
                  v->def->code == KC_OP_LOAD && kept * kc_dtype_unit(v->type.elem) >= LEAST_COPY;
    if (!copied) return *writer;
    return others_apart(writer, writer->basis[KC_LAYOUT_REGISTER], __builtin_ctz((unsigned)kept));
}

static int64_t conflicts(const kc_layouts *l, const kc_layout *held, const kc_layout *writer,
                         const kc_feed *feed, const kc_layout *memory, int bytes, int64_t parts) {
    const kc_target *target = l->pass->target;
    int banks = (int)target->attributes.shared_banks;
    int64_t times = kc_layout_count(held, KC_LAYOUT_REGISTER) /
                    kc_layout_count(writer, KC_LAYOUT_REGISTER);
    return times * kc_layout_access_cost(writer, memory, bytes, banks).conflicts +
           parts * kc_dispatch_shared_load(target, &feed->step, memory, bytes).cost.conflicts;
}

// What suits a reader of the whole tile need not suit one of its parts: vectors may join those; and
// what suits a thread that holds its elements need not suit copies of them.
static kc_layout operand_memory(const kc_layouts *l, const kc_op *dot, int operand,
                                const kc_feed *feed) {
    const kc_value *v = kc_operand(dot, operand);
    int bytes = kc_dtype_unit(v->type.elem), kept = kept_together(l, dot, operand);
    int64_t parts = v->type.tile[kc_attr_int(dot, KC_ATTR_AXIS, 0)] / feed->steps;
    kc_layout writer = writes(l, dot, operand, kept);
    kc_layout memory = kc_layouts_memory(l, v->type.layout, &feed->whole, bytes, kept);
    int64_t least = conflicts(l, v->type.layout, &writer, feed, &memory, bytes, parts);
    if (!least || kc_attr_get(l->kernel, KC_ATTR_SWIZZLE)) return memory;
    kc_layout apart = parts_apart(feed);
    const kc_layout *writers[] = {v->type.layout, &writer, &writer},
                    *readers[] = {&apart, &feed->whole, &apart};
    for (int i = 0; i < 3; i++) {
        kc_layout other = kc_layouts_memory(l, writers[i], readers[i], bytes, kept);
        int64_t found = conflicts(l, v->type.layout, &writer, feed, &other, bytes, parts);
        if (found < least) least = found, memory = other;
    }
    return memory;
}

static kc_value *stage_operand(kc_layouts *l, kc_builder *b, const kc_op *dot, int operand,
                               const kc_feed *feed) {
    kc_value *v = kc_operand(dot, operand);
    kc_layout memory = operand_memory(l, dot, operand, feed);
    kc_value *buffer = kc_layouts_alloc(l, dot->loc, &v->type, &memory);
    buffer->name = operand ? "bs" : "as";
    kc_op *store = kc_build(b, KC_OP_SHARED_STORE, 2, (kc_value *[]){buffer, v}, 0, NULL);
    kc_op_set_segments(store, (int[]){1, 1, 0});
    return buffer;
}

static kc_value *fetch(kc_layouts *l, kc_builder *b, const kc_op *dot, int operand,
                       kc_value *buffer, int64_t at, int64_t steps, const kc_layout *layout) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    kc_type type = kc_operand(dot, operand)->type;
    int64_t offsets[KC_MAX_RANK] = {0};
    offsets[axis] = at;
    type.tile[axis] = steps;
    type.layout = kc_layouts_intern(l, layout);
    kc_value *part = kc_build_1(b, KC_OP_SHARED_LOAD, type, 1, &buffer);
    kc_op_set_segments(part->def, (int[]){1, 0});
    kc_attr_set_ints(l->pass->module, part->def, KC_ATTR_OFFSETS, type.rank, offsets);
    part->name = operand ? "b" : "a";
    return part;
}

void kc_layouts_feed_dot(kc_layouts *l, kc_op *dot) {
    const kc_mma *instruction = kc_layouts_instruction(l, dot);
    kc_feed feed[2];
    if (instruction) kc_layouts_mma_feeds(l, dot, feed);
    else kc_layouts_fma_feeds(l, dot, feed);
    kc_builder b = kc_builder_before(l->pass->module, dot);
    kc_value *as = stage_operand(l, &b, dot, 0, &feed[0]),
             *bs = stage_operand(l, &b, dot, 1, &feed[1]), *acc = kc_operand(dot, 2);
    int64_t depth = kc_operand(dot, 0)->type.tile[kc_attr_int(dot, KC_ATTR_AXIS, 0)];
    for (int64_t k = 0, steps = feed[0].steps; k < depth; k += steps) {
        kc_value *operands[3] = {fetch(l, &b, dot, 0, as, k, steps, &feed[0].step),
                                 fetch(l, &b, dot, 1, bs, k, steps, &feed[1].step), acc};
        acc = kc_build_1(&b, KC_OP_DOT, kc_result(dot, 0)->type, 3, operands);
        for (int i = 0; i < dot->n_attrs; i++)
            acc->def->attrs[acc->def->n_attrs++] = dot->attrs[i];
        if (instruction)
            kc_attr_set_string(l->pass->module, acc->def, KC_ATTR_INSTRUCTION, instruction->name);
        acc->name = kc_result(dot, 0)->name;
    }
    kc_value_replace(kc_result(dot, 0), acc);
    acc->data = kc_result(dot, 0)->data;
    kc_op_erase(dot);
}
