// Scans: each warp scans one contiguous segment of the axis by itself; the totals of the segments
// meet in shared memory.
//
// For that the coordinate bits along the axis belong to registers and lanes below and to warps
// above:
//
//     axis of 4096, vectors of 4, 8 warps      bits 0 1      2 3 4 5 6   7 8        9 10 11
//                                              a vector      lanes       registers  warps
//
// A warp still reads whole lines of memory at a time, vector by vector.
#include "passes/layouts.h"

int kc_layouts_scanned(const kc_block *block) {
    KC_FOR_OPS(op, block) {
        if (kc_op_has(op, KC_SCAN)) return (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
        int inside = op->body && !kc_op_has(op, KC_REDUCTION) ? kc_layouts_scanned(op->body) : -1;
        if (inside >= 0) return inside;
    }
    return -1;
}

static kc_layout blocked(const kc_layout_blocked_spec *spec) {
    kc_layout layout;
    const char *error = kc_layout_blocked(&layout, spec);
    if (error) kc_bug("no coalesced layout: %s", error);
    return layout;
}

// What the warps share out along the dimension is cut off, and put back on top.
kc_layout kc_layouts_warps_last(const kc_layouts *l, const kc_layout_blocked_spec *space, int dim) {
    if (dim < 0) return blocked(space);
    int warps = 1; // without those that are replicas
    while (warps < space->warps[dim] &&
           2 * warps * space->size_per_thread[dim] * space->lanes[dim] <= space->shape[dim])
        warps *= 2;
    if (warps == 1) return blocked(space);
    kc_layout_blocked_spec inner = *space, outer = {.rank = l->rank};
    inner.shape[dim] /= warps, inner.warps[dim] /= warps;
    for (int d = 0; d < l->rank; d++) {
        outer.shape[d] = outer.warps[d] = d == dim ? warps : 1;
        outer.size_per_thread[d] = outer.lanes[d] = 1;
        outer.order[d] = d;
    }
    kc_layout low = blocked(&inner), high = blocked(&outer), layout;
    const char *error = kc_layout_product(&layout, &low, &high);
    if (error) kc_bug("no layout for a scan: %s", error);
    return layout;
}

// Results already have their final layouts. The op becomes the scan of each segment; what joins
// them follows it.
void kc_layouts_split_scan(kc_layouts *l, kc_op *op) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int n = op->n_operands, axis = (int)axes->integers[0];
    kc_layout partial = kc_layouts_partial(kc_operand(op, 0)->type.layout, axes);
    if (kc_layout_extent(&partial, axis) == 1) return;
    kc_layout gathered = kc_layouts_gathered(kc_result(op, n)->type.layout, &partial, axes);
    kc_builder b = kc_builder_at_end(l->pass->module, op->block, op->loc);
    b.before = op->next;
    kc_value *operands[2 * KC_MAX_RANK];
    kc_type types[2 * KC_MAX_RANK];
    for (int i = 0; i < 2 * n; i++)
        types[i] = kc_result(op, i)->type;
    for (int i = 0; i < n; i++) {
        kc_value *total = kc_result(op, n + i);
        total->type.tile[axis] = kc_layout_extent(&partial, axis);
        total->type.layout = kc_layouts_intern(l, &partial);
        operands[i] = kc_result(op, i);
        operands[n + i] = kc_layouts_convert(l, &b, total, &gathered);
    }
    kc_op *carry = kc_build(&b, KC_OP_SCAN_CARRY, 2 * n, operands, 2 * n, types);
    kc_op_set_segments(carry, (int[]){n, n});
    kc_layouts_clone_region(l, op, carry);
    kc_layouts_use_instead(op, 2 * n, carry);
}
