// Which copies to shared memory need no registers on their way: a plain load whose value is stored
// as it is, and whose layout lets each thread move 4, 8 or 16 bytes that are neighbours in both
// memories.
#include "passes/pipeliner.h"

#include <math.h>

enum { LEAST_BYTES = 4, MOST_BYTES = 16 };

// Whether v depends on nothing that the loop carries but its counter, and on no memory.
static bool is_coordinate(const kc_pipeliner *p, const kc_value *v) {
    const kc_op *op = v->def;
    if (v->block == p->loop->body) return v->index == 0;
    if (!op || op->block != p->loop->body) return true;
    if (!kc_op_has(op, KC_PURE)) return false;
    for (int i = 0; i < op->n_operands; i++)
        if (!is_coordinate(p, kc_operand(op, i))) return false;
    return true;
}

static bool fills_with_zero(const kc_op *load) {
    double fill = kc_attr_float(load, KC_ATTR_VALUE, 0);
    return fill == 0 && !signbit(fill);
}

int64_t kc_copy_vector(const kc_pipeliner *p, const kc_op *store) {
    const kc_value *v = kc_operand(store, 1);
    const kc_op *load = v->def;
    const kc_type *buffer = &kc_operand(store, 0)->type;
    int64_t bytes = kc_dtype_unit(v->type.elem);
    if (!p->pass->target->attributes.has_async_copy || !load || load->code != KC_OP_LOAD ||
        load->block != p->loop->body || v->uses->next || kc_dtype_is_packed(v->type.elem) ||
        !fills_with_zero(load) || kc_attr_get(load, KC_ATTR_SAME) ||
        !kc_layout_same_shape(v->type.layout, buffer->layout))
        return 0;
    for (int i = 0; i < load->n_operands; i++)
        if (!is_coordinate(p, kc_operand(load, i))) return 0;
    int64_t vector = kc_attr_int(load, KC_ATTR_VECTOR, 1);
    while (vector * bytes > MOST_BYTES ||
           (vector > 1 && (!kc_layout_run_in(v->type.layout, buffer->layout, (int)vector) ||
                           kc_tile_elements(buffer) % vector)))
        vector /= 2;
    return vector * bytes < LEAST_BYTES ? 0 : vector;
}
