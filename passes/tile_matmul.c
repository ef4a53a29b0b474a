// Contractions: a loop over chunks of k; each step multiplies a tile of a by a tile of b into an accumulator.
#include "passes/tiler.h"

static int contracted_axis(const kc_tiler *t) {
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced) return a;
    kc_bug("a contraction's kernel has no reduced axis");
}

// Coordinates of an operand: batch, then its own dimension and k in the order that the transposition says.
static void operand_coords(const kc_op *op, const kc_coord *c, kc_coord own, kc_coord k, bool k_last, kc_coord *from) {
    int rank = kc_result(op, 0)->type.rank;
    for (int d = 0; d < rank - 2; d++) from[d] = c[d];
    from[rank - 2] = k_last ? own : k;
    from[rank - 1] = k_last ? k : own;
}

// Past the end of k both factors are zero: a product of a zero and something loaded from nowhere could be NaN.
static kc_value *zero_past_end(kc_tiler *t, kc_value *v, int k) {
    kc_value *mask = t->axes[k].mask;
    if (!mask || v->def->code == KC_OP_LOAD) return v;
    kc_value *zero = kc_dtype_is_float(v->type.elem) ? kc_build_const(&t->build, kc_type_scalar(v->type.elem), 0)
                                                      : kc_tiler_int(t, v->type.elem, 0);
    return kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){mask, v, zero});
}

kc_value *kc_tiler_emit_matmul(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    int rank = kc_result(op, 0)->type.rank, k = contracted_axis(t);
    unsigned own = c[rank - 2].axes | c[rank - 1].axes;
    kc_dtype dtype = kc_result(op, 0)->type.elem;
    kc_type type = kc_tiler_type(t, dtype, own);
    kc_value *init = kc_dtype_is_float(dtype) ? kc_build_const(&t->build, type, 0) : kc_build_const_int(&t->build, type, 0);
    init->name = kc_result(op, 0)->name;
    kc_op *loop;
    kc_value *counter = kc_tiler_begin_loop(t, kc_tiler_steps(t, true), 1, &init, &loop);
    kc_tiler_scope scope = kc_tiler_enter(t);
    kc_tiler_open_axes(t, counter, true);
    kc_coord from[KC_MAX_RANK], along = kc_tiler_axis_coord(t, k);
    operand_coords(op, c, c[rank - 2], along, !kc_attr_int(op, KC_ATTR_TRANSPOSE_A, 0), from);
    kc_value *a = kc_tiler_emit(t, kc_operand(op, 0), from, predicate);
    a = zero_past_end(t, kc_tiler_widen(t, a, c[rank - 2].axes | 1u << k), k);
    operand_coords(op, c, c[rank - 1], along, kc_attr_int(op, KC_ATTR_TRANSPOSE_B, 0), from);
    kc_value *b = kc_tiler_emit(t, kc_operand(op, 1), from, predicate);
    b = zero_past_end(t, kc_tiler_widen(t, b, c[rank - 1].axes | 1u << k), k);
    kc_value *next = kc_build_1(&t->build, KC_OP_DOT, type, 3, (kc_value *[]){a, b, loop->body->args[1]});
    kc_attr_set_int(next->def, KC_ATTR_AXIS, t->axes[k].slot);
    const char *precision = kc_attr_string(op, KC_ATTR_PRECISION, NULL);
    if (precision) kc_attr_set_string(t->pass->module, next->def, KC_ATTR_PRECISION, precision);
    kc_attr_set_string(t->pass->module, next->def, KC_ATTR_UNIT, kc_attr_string(t->kernel, KC_ATTR_UNIT, "fma"));
    kc_tiler_leave(t, scope);
    kc_tiler_end_loop(t, loop, 1, &next);
    return kc_result(loop, 0);
}
