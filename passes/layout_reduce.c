// Reductions over an axis that is spread over warps: each warp reduces its part, the parts meet in
// shared memory, and every thread reduces them again.
#include "passes/layouts.h"

static void unpack(const kc_layout *l, uint32_t flat, uint32_t *coordinates) {
    for (int d = l->rank - 1; d >= 0; d--) {
        coordinates[d] = flat & ((1u << l->log_tile[d]) - 1);
        flat >>= l->log_tile[d];
    }
}

static uint32_t pack(const kc_layout *l, const uint32_t *coordinates) {
    uint32_t flat = 0;
    for (int d = 0; d < l->rank; d++)
        flat = flat << l->log_tile[d] | coordinates[d];
    return flat;
}

// The layout after registers and lanes are reduced along the axes: what warp bits address along
// each is renumbered densely. Other dimensions stay. Register bits along the axes go, lane bits
// become replicas.
kc_layout kc_layouts_partial(const kc_layout *from, const kc_attr *axes) {
    kc_layout to = *from;
    uint32_t c[KC_MAX_RANK];
    int warp_bits[KC_MAX_RANK] = {0};
    bool reduced[KC_MAX_RANK] = {false};
    for (int i = 0; i < axes->count; i++) {
        int d = (int)axes->integers[i];
        reduced[d] = true;
        to.reps[d] = 1, to.log_tile[d] = 0;
        for (int b = 0; b < from->bits[KC_LAYOUT_WARP]; b++) {
            unpack(from, from->basis[KC_LAYOUT_WARP][b], c);
            to.log_tile[d] += c[d] != 0;
        }
    }
    int kept = 0;
    for (int place = 0; place < KC_LAYOUT_PLACES; place++)
        for (int b = 0; b < from->bits[place]; b++) {
            bool was_zero = from->basis[place][b] == 0, any = false;
            unpack(from, from->basis[place][b], c);
            for (int d = 0; d < from->rank; d++) {
                if (reduced[d]) c[d] = place == KC_LAYOUT_WARP && c[d] ? 1u << warp_bits[d]++ : 0;
                any = any || c[d];
            }
            if (place == KC_LAYOUT_REGISTER) {
                if (any || was_zero) to.basis[place][kept++] = pack(&to, c);
            } else {
                to.basis[place][b] = pack(&to, c);
            }
        }
    for (int b = kept; b < from->bits[KC_LAYOUT_REGISTER]; b++)
        to.basis[KC_LAYOUT_REGISTER][b] = 0;
    to.bits[KC_LAYOUT_REGISTER] = (uint8_t)kept;
    return to;
}

// Every thread holds all parts: the final layout of the result with the axes held in registers.
kc_layout kc_layouts_gathered(const kc_layout *result, const kc_layout *partial,
                              const kc_attr *axes) {
    kc_layout to = *result, next;
    for (int i = 0; i < axes->count; i++) {
        int d = (int)axes->integers[i], extent = kc_layout_extent(partial, d);
        if (extent == 1) continue;
        const char *error = kc_layout_expand(&next, &to, d, extent);
        if (error) kc_bug("no layout for the parts of a reduction: %s", error);
        to = next;
    }
    return to;
}

void kc_layouts_clone_region(kc_layouts *l, kc_op *from, kc_op *to) {
    kc_clone *clone = kc_clone_begin(l->pass->module, l->pool, l->pool);
    for (int i = 0; i < from->n_attrs; i++)
        to->attrs[to->n_attrs++] = from->attrs[i];
    kc_block *body = kc_op_add_body(l->pass->module, to);
    for (int i = 0; i < from->body->n_args; i++)
        kc_clone_map(clone, from->body->args[i],
                     kc_block_add_arg(l->pass->module, body, from->body->args[i]->type,
                                      from->body->args[i]->name));
    kc_builder inner = kc_builder_at_end(l->pass->module, body, from->loc);
    kc_clone_block_into(clone, &inner, from->body);
    kc_clone_end(clone);
}

void kc_layouts_use_instead(kc_op *op, int n, kc_op *again) {
    for (int i = 0; i < n; i++) {
        kc_value *old = kc_result(op, i), *made = kc_result(again, i);
        made->data = old->data, made->name = old->name;
        for (kc_use *use = old->uses, *next; use; use = next) {
            next = use->next;
            bool moves = use->user->code == KC_OP_CONVERT || use->user->code == KC_OP_SHARED_STORE;
            if (!moves && use->user != again) kc_op_set_operand(use->user, use->index, made);
        }
    }
}

// Results already have their final layouts. The op becomes the partial reduction; a second one
// follows it.
void kc_layouts_split_reduce(kc_layouts *l, kc_op *op) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    kc_layout partial = kc_layouts_partial(kc_operand(op, 0)->type.layout, axes);
    bool whole = true;
    for (int i = 0; i < axes->count; i++)
        whole = whole && kc_layout_extent(&partial, (int)axes->integers[i]) == 1;
    if (whole) return;
    kc_layout gathered = kc_layouts_gathered(kc_result(op, 0)->type.layout, &partial, axes);
    kc_builder b = kc_builder_at_end(l->pass->module, op->block, op->loc);
    b.before = op->next;
    kc_value *values[KC_MAX_RANK];
    kc_type types[KC_MAX_RANK];
    kc_op *again;
    for (int i = 0; i < op->n_results; i++) {
        kc_value *result = kc_result(op, i);
        types[i] = result->type;
        for (int k = 0; k < axes->count; k++)
            result->type.tile[axes->integers[k]] =
                kc_layout_extent(&partial, (int)axes->integers[k]);
        result->type.layout = kc_layouts_intern(l, &partial);
        values[i] = result;
    }
    kc_value *uses[KC_MAX_RANK];
    for (int i = 0; i < op->n_results; i++)
        uses[i] = kc_layouts_convert(l, &b, values[i], &gathered);
    again = kc_build(&b, KC_OP_REDUCE, op->n_operands, uses, op->n_results, types);
    kc_layouts_clone_region(l, op, again);
    kc_layouts_use_instead(op, op->n_results, again);
}
