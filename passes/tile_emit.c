// Values at coordinates: the heart of the tile pass.
#include "passes/tiler.h"

#include <string.h>

// ---- what was asked before ----------------------------------------------------------------------

bool kc_tiler_same_coords(const kc_coord *a, const kc_coord *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (a[d].base != b[d].base || a[d].local != b[d].local) return false;
    return true;
}

kc_value *kc_tiler_find(kc_tiler *t, const kc_value *v, const kc_coord *c,
                        const kc_value *predicate) {
    for (int i = t->n_memo - 1; i >= 0; i--) {
        const kc_memo *m = &t->memo[i];
        if (m->value == v && m->predicate == predicate &&
            kc_tiler_same_coords(m->coords, c, v->type.rank))
            return m->result;
    }
    return NULL;
}

void kc_tiler_remember(kc_tiler *t, const kc_value *v, const kc_coord *c, const kc_value *predicate,
                       kc_value *result) {
    if (t->n_memo == t->memo_capacity) {
        int capacity = t->memo_capacity ? 2 * t->memo_capacity : 64;
        kc_memo *grown = KC_NEW_ARRAY(t->pass->scratch, kc_memo, capacity);
        if (t->n_memo) memcpy(grown, t->memo, sizeof *grown * (size_t)t->n_memo);
        t->memo = grown, t->memo_capacity = capacity;
    }
    kc_memo *m = &t->memo[t->n_memo++];
    *m = (kc_memo){.value = v, .predicate = predicate, .result = result};
    memcpy(m->coords, c, sizeof *c * (size_t)v->type.rank);
}

kc_tiler_scope kc_tiler_enter(const kc_tiler *t) {
    return (kc_tiler_scope){t->n_memo, t->n_scalars, t->n_carried};
}

void kc_tiler_leave(kc_tiler *t, kc_tiler_scope scope) {
    t->n_memo = scope.memo, t->n_scalars = scope.scalars, t->n_carried = scope.carried;
}

// ---- inputs -------------------------------------------------------------------------------------

static unsigned axes_of(const kc_coord *c, int rank) {
    unsigned axes = 0;
    for (int d = 0; d < rank; d++)
        axes |= c[d].axes;
    return axes;
}

// Segment counts {buffer, base, local, mask}.
static kc_value *emit_load(kc_tiler *t, kc_value *source, const kc_coord *c, kc_value *predicate) {
    kc_value *buffer = source->data;
    if (buffer->type.kind == KC_TYPE_TILE) return buffer; // a scalar argument
    int rank = source->type.rank;
    unsigned axes = axes_of(c, rank);
    kc_value *mask = kc_tiler_mask(t, axes, predicate);
    kc_value *operands[2 + 2 * KC_MAX_RANK] = {buffer};
    for (int d = 0; d < rank; d++) {
        operands[1 + d] = c[d].base ? c[d].base : kc_tiler_int(t, KC_i64, 0);
        operands[1 + rank + d] = c[d].local ? c[d].local : kc_tiler_int(t, KC_i32, 0);
    }
    int n = 1 + 2 * rank;
    if (mask) operands[n++] = mask;
    kc_type type =
        axes ? kc_tiler_type(t, source->type.elem, axes) : kc_type_scalar(source->type.elem);
    if (mask && mask->type.rank) {
        if (!type.rank) type = kc_tiler_type(t, source->type.elem, 0);
        for (int d = 0; d < type.rank; d++)
            if (mask->type.tile[d] > type.tile[d]) type.tile[d] = mask->type.tile[d];
    }
    kc_value *loaded = kc_build_1(&t->build, KC_OP_LOAD, type, n, operands);
    kc_op_set_segments(loaded->def, (int[]){1, rank, rank, mask != NULL});
    loaded->name = source->name;
    return loaded;
}

// ---- ops ----------------------------------------------------------------------------------------

static kc_value *emit_elementwise(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value *predicate) {
    kc_value *operands[KC_MAX_RANK];
    for (int i = 0; i < op->n_operands; i++)
        operands[i] = kc_tiler_emit(t, kc_operand(op, i), c, predicate);
    t->build.loc = op->loc;
    if (op->code == KC_OP_CAST)
        return kc_build_cast(&t->build, operands[0], kc_result(op, 0)->type.elem);
    kc_value *made = kc_build_elementwise(&t->build, op->code, op->n_operands, operands);
    for (int i = 0; i < op->n_attrs; i++)
        made->def->attrs[made->def->n_attrs++] = op->attrs[i];
    made->name = kc_result(op, 0)->name;
    return made;
}

static kc_value *emit_const(kc_tiler *t, kc_op *op) {
    kc_type type = kc_type_scalar(kc_result(op, 0)->type.elem);
    const kc_attr *integer = kc_attr_get(op, KC_ATTR_INTEGER);
    if (integer) return kc_tiler_int(t, type.elem, integer->integer);
    return kc_build_const(&t->build, type, kc_attr_float(op, KC_ATTR_VALUE, 0));
}

static kc_value *emit_sym(kc_tiler *t, kc_op *op) {
    return kc_build_cast(&t->build, kc_tiler_sym(t, kc_attr_expr(op, KC_ATTR_EXPR)),
                         kc_result(op, 0)->type.elem);
}

static kc_value *emit_op(kc_tiler *t, kc_value *v, const kc_coord *c, kc_value *predicate) {
    kc_op *op = v->def;
    kc_movement movement = kc_tiler_movement(op->code);
    if (movement) return movement(t, op, c, predicate);
    if (kc_op_has(op, KC_ELEMENTWISE)) return emit_elementwise(t, op, c, predicate);
    if (kc_op_has(op, KC_SCAN)) return kc_tiler_emit_scan(t, op, v->index, c);
    if (kc_op_has(op, KC_REDUCTION)) return kc_tiler_emit_reduce(t, op, v->index, c);
    if (kc_op_has(op, KC_CONTRACTION)) return kc_tiler_emit_contraction(t, op, c, predicate);
    switch (op->code) {
    case KC_OP_CONST: return emit_const(t, op);
    case KC_OP_SYM: return emit_sym(t, op);
    case KC_OP_IOTA:
        return kc_build_cast(&t->build,
                             kc_tiler_coord_value(t, c[kc_attr_int(op, KC_ATTR_AXIS, 0)], KC_i64),
                             v->type.elem);
    default: kc_bug("the tile pass has no rule for op %s", kc_op_row(op)->name);
    }
}

kc_value *kc_tiler_emit(kc_tiler *t, kc_value *v, const kc_coord *c, kc_value *predicate) {
    kc_value *known = kc_tiler_find(t, v, c, predicate);
    if (known) return known;
    kc_loc outer = t->build.loc;
    if (v->def) t->build.loc = v->def->loc;
    kc_value *made = v->def ? emit_op(t, v, c, predicate) : emit_load(t, v, c, predicate);
    t->build.loc = outer;
    kc_tiler_remember(t, v, c, predicate, made);
    return made;
}

void kc_tiler_inline(kc_tiler *t, kc_block *region, kc_value *const *args, kc_value **results) {
    for (int i = 0; i < region->n_args; i++)
        region->args[i]->data = args[i];
    KC_FOR_OPS(op, region) {
        if (op->code == KC_OP_YIELD) {
            for (int i = 0; i < op->n_operands; i++)
                results[i] = kc_operand(op, i)->data;
            return;
        }
        if (op->code == KC_OP_CONST) {
            kc_result(op, 0)->data = emit_const(t, op);
            continue;
        }
        kc_value *operands[KC_MAX_RANK];
        for (int i = 0; i < op->n_operands; i++)
            operands[i] = kc_operand(op, i)->data;
        kc_value *made = op->code == KC_OP_CAST
                             ? kc_build_cast(&t->build, operands[0], kc_result(op, 0)->type.elem)
                             : kc_build_elementwise(&t->build, op->code, op->n_operands, operands);
        kc_result(op, 0)->data = made;
    }
}
