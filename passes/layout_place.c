// Projections of contexts, and the layouts that memory asks for.
#include "passes/layouts.h"

#include <string.h>

const kc_layout *kc_layouts_intern(kc_layouts *l, const kc_layout *layout) {
    return kc_module_layout(l->pass->module, layout);
}

// Extents of 1 lose their register bits; lanes and warps that were spread along them become
// replicas.
kc_layout kc_layouts_project(const kc_layouts *l, const kc_layout *space, const kc_type *type) {
    kc_layout layout = *space;
    for (int d = 0; d < l->rank; d++)
        if (type->tile[d] == 1 && kc_layout_extent(&layout, d) > 1)
            layout = kc_layout_slice(&layout, d, true);
    return layout;
}

void kc_layouts_place(kc_layouts *l, kc_value *v, kc_context *context) {
    kc_placed *placed = v->data;
    if (!placed) v->data = placed = KC_NEW(l->pass->scratch, kc_placed);
    placed->context = context;
    if (v->type.kind != KC_TYPE_TILE || v->type.rank == 0) return;
    kc_layout layout = kc_layouts_project(l, &context->space, &v->type);
    v->type.layout = kc_layouts_intern(l, &layout);
}

kc_context *kc_layouts_context(kc_layouts *l, const kc_layout *space) {
    kc_context *context = KC_NEW(l->pass->scratch, kc_context);
    context->space = *space;
    return context;
}

// The base of a buffer: an argument that the variant knows to be aligned, a constant, or a place in
// the workspace.
static bool is_aligned(const kc_layouts *l, const kc_value *buffer) {
    const kc_value *operand = kc_operand(l->kernel, buffer->index);
    if (operand->def && operand->def->code == KC_OP_BUFFER) return true;
    if (kc_constant_hash(operand)) return true;
    const char *name =
        operand->def ? kc_attr_string(operand->def, KC_ATTR_NAME, "") : operand->name;
    const kc_attr *aligned = kc_attr_get(kc_op_parent(l->kernel), KC_ATTR_ALIGNED);
    for (int i = 0; aligned && i < aligned->count; i++)
        if (strcmp(aligned->strings[i], name) == 0) return true;
    return false;
}

kc_access kc_layouts_access(kc_layouts *l, const kc_op *op) {
    int64_t widest =
        kc_attr_int(l->kernel, KC_ATTR_VECTOR, l->pass->target->attributes.vector_bytes);
    return kc_access_of(l->pool, op, is_aligned(l, kc_operand(op, 0)), widest);
}

enum { WARP_RANKS = 3 };

static int take(int64_t *left, int64_t most) {
    int64_t n = 1;
    while (*left > 1 && n * 2 <= most)
        n *= 2, *left /= 2;
    return (int)n;
}

static int warp_rank(const kc_layouts *l, int d);

kc_layout kc_layouts_coalesced(const kc_layouts *l, const int64_t *extent, int fast,
                               int64_t vector) {
    return kc_layouts_coalesced_blocks(l, extent, fast, vector, fast, 1);
}

kc_layout kc_layouts_coalesced_blocks(const kc_layouts *l, const int64_t *extent, int fast,
                                      int64_t vector, int other, int64_t run) {
    kc_layout_blocked_spec spec = {.rank = l->rank};
    int n = 0;
    spec.order[n++] = fast;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != fast) spec.order[n++] = d;
    int64_t rest[KC_MAX_RANK] = {0}, lanes = l->lanes, warps = l->warps;
    for (int d = 0; d < l->rank; d++) {
        spec.shape[d] = (int)extent[d];
        spec.size_per_thread[d] = (int)(d == fast ? vector : d == other ? run : 1);
        spec.lanes[d] = spec.warps[d] = 1;
        rest[d] = extent[d] & -extent[d];
    }
    rest[fast] /= vector;
    if (other != fast) rest[other] /= run;
    for (int i = 0; i < l->rank; i++) {
        int d = spec.order[i];
        spec.lanes[d] = take(&lanes, rest[d]);
        rest[d] /= spec.lanes[d];
    }
    for (int turn = 0; turn < WARP_RANKS; turn++)
        for (int i = 0; i < l->rank; i++) {
            int d = spec.order[i];
            if (warp_rank(l, d) != turn) continue;
            spec.warps[d] = take(&warps, rest[d]);
            rest[d] /= spec.warps[d];
        }
    spec.lanes[spec.order[l->rank - 1]] *= (int)lanes; // replicas
    spec.warps[spec.order[l->rank - 1]] *= (int)warps;
    return kc_layouts_warps_last(l, &spec, kc_layouts_scanned(l->kernel->body));
}

static bool reduces(const kc_block *block, int d) {
    KC_FOR_OPS(op, block) {
        if (kc_op_has(op, KC_REDUCTION)) {
            const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
            for (int i = 0; i < axes->count; i++)
                if (axes->integers[i] == d) return true;
        } else if (op->body && reduces(op->body, d)) {
            return true;
        }
    }
    return false;
}

// Whether most of what some load brings is the same all along d.
static bool repeats(const kc_layouts *l, const kc_block *block, int d) {
    KC_FOR_OPS(op, block) {
        const kc_type *type = op->n_results ? &kc_result(op, 0)->type : NULL;
        if (op->code == KC_OP_LOAD && type->rank && type->tile[d] == 1 &&
            kc_tile_elements(type) > l->lanes)
            return true;
        if ((op->code == KC_OP_FOR || op->code == KC_OP_IF) && repeats(l, op->body, d)) return true;
    }
    return false;
}

// Which dimensions warps are spread along first: those that are not reduced, because what one warp
// reduces needs no shared memory; last those along which loads repeat, because every warp would
// load the same. The operands of a dot have contexts of their own.
static int warp_rank(const kc_layouts *l, int d) {
    if (l->dot) return 0;
    return repeats(l, l->kernel->body, d) ? 2 : reduces(l->kernel->body, d) ? 1 : 0;
}
