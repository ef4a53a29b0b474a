// Contractions: a loop over chunks of k; each step multiplies a tile of a by a tile of b into an
// accumulator. Which elements of its operands an op multiplies is its index map, a row of the table
// at the end.
#include "passes/products.h"
#include "passes/tiler.h"

#include <string.h>

static int contracted_axis(const kc_tiler *t) {
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced) return a;
    kc_bug("a contraction's kernel has no reduced axis");
}

// Outside, both factors are zero: a product of a zero and something loaded from nowhere could be
// NaN.
static kc_value *zero_outside(kc_tiler *t, kc_value *v, kc_value *mask) {
    if (!mask || v->def->code == KC_OP_LOAD) return v;
    kc_value *zero = kc_dtype_is_float(v->type.elem)
                         ? kc_build_const(&t->build, kc_type_scalar(v->type.elem), 0)
                         : kc_tiler_int(t, v->type.elem, 0);
    return kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){mask, v, zero});
}

static kc_value *with_zero(kc_tiler *t, kc_value *v) {
    kc_dtype elem = kc_product_elem(v->type.elem);
    return elem == v->type.elem ? v : kc_build_cast(&t->build, v, elem);
}

static unsigned axes_along(const kc_coord *c, unsigned dims) {
    unsigned axes = 0;
    for (int d = 0; d < KC_MAX_RANK; d++)
        if (dims >> d & 1) axes |= c[d].axes;
    return axes;
}

// What is asked for only along other axes says nothing about the factor's elements.
static kc_value *of_factor(const kc_tiler *t, kc_value *predicate, unsigned axes) {
    if (!predicate || predicate->type.rank == 0) return predicate;
    for (int a = 0; a < t->n_axes; a++) {
        int slot = t->axes[a].slot;
        if (slot >= 0 && predicate->type.tile[slot] > 1 && (axes >> a & 1)) return predicate;
    }
    return NULL;
}

// The tile of a factor, at coordinates c of the result.
static kc_value *emit_factor(kc_tiler *t, kc_op *op, int i, const kc_coord *c, int k,
                             kc_value *predicate) {
    const kc_contraction *map = kc_tiler_contraction(op);
    kc_factor factor = map->factor(t, op, i, c, kc_tiler_axis_coord(t, k));
    unsigned axes = axes_along(c, map->own(&kc_result(op, 0)->type, i)) | 1u << k;
    kc_value *inside = of_factor(t, predicate, axes);
    if (factor.predicate)
        inside = inside ? kc_build_binary(&t->build, KC_OP_AND, inside, factor.predicate)
                        : factor.predicate;
    kc_value *v = with_zero(t, kc_tiler_emit(t, factor.value, factor.at, inside));
    v = kc_tiler_widen(t, v, axes);
    return zero_outside(t, v, kc_tiler_mask(t, 1u << k, factor.predicate));
}

kc_value *kc_tiler_emit_contraction(kc_tiler *t, kc_op *op, const kc_coord *c,
                                    kc_value *predicate) {
    int k = contracted_axis(t);
    kc_dtype dtype = kc_result(op, 0)->type.elem;
    kc_type type = kc_tiler_type(t, dtype, axes_along(c, (1u << kc_result(op, 0)->type.rank) - 1));
    kc_value *init = kc_dtype_is_float(dtype) ? kc_build_const(&t->build, type, 0)
                                              : kc_build_const_int(&t->build, type, 0);
    init->name = kc_result(op, 0)->name;
    kc_op *loop;
    kc_value *counter = kc_tiler_begin_loop(t, kc_tiler_steps(t, true), 1, &init, &loop);
    kc_tiler_scope scope = kc_tiler_enter(t);
    kc_tiler_open_axes(t, counter, true);
    kc_value *a = emit_factor(t, op, 0, c, k, predicate),
             *b = emit_factor(t, op, 1, c, k, predicate);
    kc_value *next =
        kc_build_1(&t->build, KC_OP_DOT, type, 3, (kc_value *[]){a, b, loop->body->args[1]});
    kc_attr_set_int(next->def, KC_ATTR_AXIS, t->axes[k].slot);
    const char *precision = kc_attr_string(op, KC_ATTR_PRECISION, NULL);
    if (precision) kc_attr_set_string(t->pass->module, next->def, KC_ATTR_PRECISION, precision);
    kc_attr_set_string(t->pass->module, next->def, KC_ATTR_UNIT,
                       kc_attr_string(t->kernel, KC_ATTR_UNIT, "fma"));
    kc_tiler_leave(t, scope);
    kc_tiler_end_loop(t, loop, 1, &next);
    return kc_result(loop, 0);
}

// ---- matmul -------------------------------------------------------------------------------------

static void matmul_space(const kc_op *op, kc_type *space) {
    const kc_type *a = &kc_operand(op, 0)->type;
    space->shape[space->rank++] = a->shape[kc_product_axis_of_k(op, 0)];
}

static unsigned matmul_own(const kc_type *result, int i) {
    return 1u << (result->rank - 2 + i);
}

// Batch, then the factor's own dimension and k in the order that the transposition says.
static kc_factor matmul_factor(kc_tiler *t, kc_op *op, int i, const kc_coord *c, kc_coord k) {
    (void)t;
    int rank = kc_result(op, 0)->type.rank;
    bool k_last = kc_product_k_last(op, i);
    kc_factor factor = {.value = kc_operand(op, i)};
    for (int d = 0; d < rank - 2; d++)
        factor.at[d] = c[d];
    factor.at[rank - 2] = k_last ? c[rank - 2 + i] : k;
    factor.at[rank - 1] = k_last ? k : c[rank - 2 + i];
    return factor;
}

// -------------------------------------------------------------------------------------------------

const kc_contraction *kc_tiler_contraction(const kc_op *op) {
    static const kc_contraction matmul = {
        .operand = {0, 1}, .space = matmul_space, .own = matmul_own, .factor = matmul_factor};
    switch (op->code) {
    case KC_OP_MATMUL: return &matmul;
    case KC_OP_CONV2D: return &kc_tiler_conv2d;
    default: kc_bug("the tile pass has no index map for op %s", kc_op_row(op)->name);
    }
}

void kc_tiler_find_contraction(kc_tiler *t) {
    KC_FOR_OPS(op, t->kernel->body) {
        if (!kc_op_has(op, KC_CONTRACTION)) continue;
        t->contraction = op;
        t->space = kc_result(op, 0)->type;
        t->n_parallel = t->space.rank;
        kc_tiler_contraction(op)->space(op, &t->space);
        return;
    }
}

// ---- under reductions ---------------------------------------------------------------------------

// From a reduction's operand, whose dimensions are axes, up to the contraction.
static bool follow(kc_tiler *t, bool *seen, const kc_value *v, const int *axes) {
    kc_op *op = v->def;
    int from[KC_MAX_RANK];
    if (!op || seen[op->order] || kc_op_has(op, KC_REDUCTION)) return false;
    seen[op->order] = true;
    if (op == t->contraction) {
        memcpy(t->own, axes, sizeof *axes * (size_t)v->type.rank);
        return true;
    }
    for (int i = 0; i < op->n_operands; i++) {
        kc_movement_operand_axes(t->pool, op, i, axes, from);
        if (follow(t, seen, kc_operand(op, i), from)) return true;
    }
    return false;
}

void kc_tiler_find_own_axes(kc_tiler *t) {
    int axes[KC_MAX_RANK];
    kc_block_renumber(t->source);
    bool *seen = KC_NEW_ARRAY(t->pass->scratch, bool, t->source->last->order + 1);
    for (int d = 0; d < KC_MAX_RANK; d++)
        axes[d] = d;
    KC_FOR_OPS(op, t->source)
        for (int i = 0; kc_op_has(op, KC_REDUCTION) && !t->own_known && i < op->n_operands; i++)
            t->own_known = follow(t, seen, kc_operand(op, i), axes);
}

const kc_expr *kc_tiler_depth(const kc_tiler *t) {
    const kc_expr *depth = kc_expr_const(t->pool, 1);
    for (int d = t->n_parallel; d < t->space.rank; d++)
        depth = kc_expr_mul(t->pool, depth, t->space.shape[d]);
    return depth;
}
