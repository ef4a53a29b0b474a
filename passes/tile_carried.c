// Results that movement ops carry away from the kernel's axes: heads split off a product's columns,
// a softmax seen in another shape. What is computed along the axes is stored elsewhere: coordinates
// are followed from the operand to the result, not, as everywhere else, from the result to the
// operand. `fuse` marks such ops `forward`.
#include "passes/tiler.h"

#include <string.h>

// The last such op before the value; between them are elementwise ops.
static kc_op *carrier(const kc_tiler *t, const kc_value *v) {
    return v->def ? t->carriers[v->def->order] : NULL;
}

void kc_tiler_find_carriers(kc_tiler *t) {
    kc_block_renumber(t->source);
    t->carriers = KC_NEW_ARRAY(t->pass->scratch, kc_op *, t->source->last->order + 1);
    KC_FOR_OPS(op, t->source) {
        if (kc_attr_int(op, KC_ATTR_FORWARD, 0)) t->carriers[op->order] = op;
        else if (kc_op_has(op, KC_ELEMENTWISE))
            for (int i = 0; i < op->n_operands && !t->carriers[op->order]; i++)
                t->carriers[op->order] = carrier(t, kc_operand(op, i));
    }
}

kc_value *kc_tiler_uncarried(const kc_tiler *t, kc_value *result) {
    kc_op *op = carrier(t, result);
    if (t->parted) return kc_operand(result->def, 0);
    return op ? kc_tiler_uncarried(t, kc_operand(op, 0)) : result;
}

int kc_tiler_result_axes(const kc_tiler *t, kc_value *result, int *axes) {
    kc_op *op = carrier(t, result);
    if (!op) return kc_tiler_plain_axes(t, &kc_tiler_uncarried(t, result)->type, axes);
    int from[KC_MAX_RANK], rank = result->type.rank;
    kc_tiler_result_axes(t, kc_operand(op, 0), from);
    if (op->code == KC_OP_TRANSPOSE) {
        const int64_t *perm = kc_attr_get(op, KC_ATTR_PERM)->integers;
        for (int d = 0; d < rank; d++)
            axes[d] = from[perm[d]];
        return rank;
    }
    kc_reshape_group groups[2 * KC_MAX_RANK];
    int n = kc_reshape_groups(t->pool, &kc_operand(op, 0)->type, &kc_result(op, 0)->type, groups);
    for (int d = 0; d < rank; d++)
        axes[d] = -1;
    for (int i = 0; i < n; i++) // the innermost one runs along the innermost one
        if (groups[i].from_end > groups[i].from_begin && groups[i].to_end > groups[i].to_begin)
            axes[groups[i].to_end - 1] = from[groups[i].from_end - 1];
    return rank;
}

static const kc_carried *find(const kc_tiler *t, const kc_op *op, const kc_coord *from,
                              const kc_coord *to) {
    int from_rank = kc_operand(op, 0)->type.rank, to_rank = kc_result(op, 0)->type.rank;
    for (int i = t->n_carried - 1; i >= 0; i--) {
        const kc_carried *c = &t->carried[i];
        if (!kc_movement_same(t->pool, c->op, op)) continue;
        if (from ? kc_tiler_same_coords(c->from, from, from_rank)
                 : kc_tiler_same_coords(c->to, to, to_rank))
            return c;
    }
    return NULL;
}

static kc_carried *add(kc_tiler *t) {
    if (t->n_carried == t->carried_capacity) {
        int capacity = t->carried_capacity ? 2 * t->carried_capacity : 8;
        kc_carried *grown = KC_NEW_ARRAY(t->pass->scratch, kc_carried, capacity);
        if (t->n_carried) memcpy(grown, t->carried, sizeof *grown * (size_t)t->n_carried);
        t->carried = grown, t->carried_capacity = capacity;
    }
    return &t->carried[t->n_carried++];
}

static const kc_carried *carry(kc_tiler *t, const kc_op *op, const kc_coord *from) {
    const kc_carried *known = find(t, op, from, NULL);
    if (known) return known;
    const kc_type *operand = &kc_operand(op, 0)->type, *result = &kc_result(op, 0)->type;
    kc_carried made = {.op = op};
    memcpy(made.from, from, sizeof *from * (size_t)operand->rank);
    if (op->code == KC_OP_TRANSPOSE)
        for (int d = 0; d < result->rank; d++)
            made.to[d] = from[kc_attr_get(op, KC_ATTR_PERM)->integers[d]];
    else kc_tiler_reshape_coords(t, result, operand, from, made.to);
    kc_carried *kept = add(t);
    *kept = made;
    return kept;
}

int kc_tiler_result_coords(kc_tiler *t, kc_value *result, kc_coord *c) {
    kc_op *op = carrier(t, result);
    if (op) {
        kc_coord from[KC_MAX_RANK];
        kc_tiler_result_coords(t, kc_operand(op, 0), from);
        memcpy(c, carry(t, op, from)->to, sizeof *c * (size_t)result->type.rank);
        return result->type.rank;
    }
    int axes[KC_MAX_RANK], rank = kc_tiler_result_axes(t, result, axes);
    for (int d = 0; d < rank; d++)
        c[d] = axes[d] < 0 ? (kc_coord){0} : kc_tiler_axis_coord(t, axes[d]);
    return rank;
}

bool kc_tiler_carried_from(const kc_tiler *t, const kc_op *op, const kc_coord *to, kc_coord *from) {
    const kc_carried *known = kc_attr_int(op, KC_ATTR_FORWARD, 0) ? find(t, op, NULL, to) : NULL;
    if (known) memcpy(from, known->from, sizeof *from * (size_t)kc_operand(op, 0)->type.rank);
    return known != NULL;
}
