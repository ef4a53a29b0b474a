// What follows a product. The accumulator's layout is the instruction's, in which memory cannot be
// read or written by whole sectors. So the result is turned through shared memory on its way out,
// and each whole tile that is read behind the loop (a residual) would be turned on its way in.
// Where there is one, the accumulator is turned instead, and all that follows is read and computed
// as it is stored: two barriers, however many tiles are read. That is, if the accumulator finds
// room where the loop had its tiles; its elements may be wider than the result's.
#include "passes/layouts.h"

typedef struct {
    kc_layouts *l;
    const kc_op *store;
    kc_context *context;    // of the store
    const kc_value *turned; // comes from before what follows; NULL: nothing was met yet
    bool several, reads; // there is more than one such value; a whole tile is read as it is stored
} epilogue;

static bool is_whole(const epilogue *e, const kc_value *v) {
    return v->type.rank &&
           kc_tile_elements(&v->type) == kc_tile_elements(&kc_operand(e->store, 1)->type);
}

static bool is_inside(const epilogue *e, const kc_value *v) {
    const kc_op *op = v->def;
    return op && op->block == e->store->block && v->type.kind == KC_TYPE_TILE && v->type.rank &&
           (op->code == KC_OP_LOAD || kc_op_has(op, KC_ELEMENTWISE) ||
            (kc_op_has(op, KC_PURE) && op->n_operands == 0));
}

static bool reads_alike(const epilogue *e, const kc_op *load) {
    const kc_context *own = kc_layouts_access_context(e->l, load, &kc_result(load, 0)->type);
    return own != e->l->main && kc_layout_equal(&own->space, &e->context->space);
}

static void look(epilogue *e, const kc_value *v) {
    if (v->def && v->def->data == e->store) return;
    if (!is_inside(e, v)) {
        if (!is_whole(e, v)) return;
        e->several = e->several || (e->turned && e->turned != v);
        e->turned = v;
        return;
    }
    v->def->data = (void *)(uintptr_t)e->store; // seen
    if (v->def->code == KC_OP_LOAD)
        e->reads = e->reads || (is_whole(e, v) && reads_alike(e, v->def));
    else
        for (int i = 0; i < v->def->n_operands; i++)
            look(e, kc_operand(v->def, i));
}

static bool has_room(const epilogue *e) {
    const kc_layouts *l = e->l;
    int64_t ring = 0, elements = kc_tile_elements(&e->turned->type);
    for (int i = 0; i < 2; i++)
        ring += kc_tile_elements(&kc_operand(l->dot, i)->type) *
                kc_dtype_unit(kc_operand(l->dot, i)->type.elem);
    ring *= kc_attr_int(l->kernel, KC_ATTR_STAGES, 1);
    int64_t turned = elements * kc_dtype_unit(e->turned->type.elem),
            result = elements * kc_dtype_unit(kc_operand(e->store, 1)->type.elem);
    return turned <= ring || turned <= result;
}

static void claim(epilogue *e, kc_value *v) {
    if (!is_inside(e, v) || v->data) return;
    if (v->def->code == KC_OP_LOAD && is_whole(e, v) && !reads_alike(e, v->def)) return;
    kc_layouts_place(e->l, v, e->context);
    for (int i = 0; i < v->def->n_operands; i++)
        claim(e, kc_operand(v->def, i));
}

void kc_layouts_claim_epilogue(kc_layouts *l, kc_block *block) {
    KC_FOR_OPS(op, block) {
        if (op->code == KC_OP_FOR) kc_layouts_claim_epilogue(l, op->body);
        if (op->code != KC_OP_STORE) continue;
        kc_value *stored = kc_operand(op, 1);
        epilogue e = {l, op, kc_layouts_access_context(l, op, &stored->type), NULL, false, false};
        if (e.context == l->main) continue;
        look(&e, stored);
        if (e.reads && e.turned && !e.several && has_room(&e)) claim(&e, stored);
    }
}
