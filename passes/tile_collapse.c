// Neighbouring axes that every buffer of a kernel walks through as if they were one become one.
// Nothing moves: arguments are seen in another shape, and the constants, broadcasts and reductions
// between them follow.
//
// It applies to kernels of elementwise ops, broadcasts, reshapes by extents of 1, reductions,
// scans, and contractions whose index map copes with joined dimensions (their space goes on with
// what is summed over); others keep their axes.
#include "passes/tiler.h"

#include <string.h>

// Of each dimension: the axis it runs along; unit(a) for an extent of 1 that is repeated along axis
// a; NO_AXIS.
typedef struct {
    bool known, fixed; // fixed: keeps its shape
    int axis[KC_MAX_RANK];
} axis_map;

static int unit(int a) {
    return -2 - a;
}

typedef struct {
    kc_pass_context *pass;
    kc_expr_pool *pool;
    kc_block *body;
    const kc_type *space;
    const kc_op *contraction;
    // factors of the contraction whose dimensions are axes of the space; others keep their shape
    unsigned follow;
    bool reduced[KC_MAX_RANK];
    bool merge[KC_MAX_RANK]; // axis a with axis a + 1
} collapser;

static axis_map *map_of(collapser *c, kc_value *v) {
    if (!v->data) v->data = KC_NEW(c->pass->scratch, axis_map);
    return v->data;
}

static bool propagate(collapser *c, kc_value *v, const int *axis);

static bool through_reshape(collapser *c, kc_op *op, const int *axis) {
    const kc_type *from = &kc_operand(op, 0)->type;
    int source[KC_MAX_RANK];
    if (!kc_movement_adds_ones(c->pool, from, &kc_result(op, 0)->type, source)) return false;
    for (int d = 0; d < from->rank; d++)
        if (source[d] != NO_AXIS) source[d] = axis[source[d]];
    return propagate(c, kc_operand(op, 0), source);
}

static bool through_broadcast(collapser *c, kc_op *op, const int *axis) {
    const kc_type *from = &kc_operand(op, 0)->type;
    int source[KC_MAX_RANK], skip = kc_result(op, 0)->type.rank - from->rank;
    for (int d = 0; d < from->rank; d++) {
        int a = axis[skip + d];
        source[d] = kc_expr_is_one(from->shape[d]) && a >= 0 ? unit(a) : a;
    }
    return propagate(c, kc_operand(op, 0), source);
}

// A reduction is asked for along the parallel axes, a scan along all; one of extent 1 may have lost
// its name on the way.
static bool at_own_axes(const collapser *c, const kc_op *op, const int *asked, int *axis) {
    int d = 0;
    for (int a = 0; a < c->space->rank; a++) {
        if (c->reduced[a] && !kc_op_has(op, KC_SCAN)) continue;
        if (asked[d] != a && !(asked[d] < 0 && kc_expr_is_one(c->space->shape[a]))) return false;
        axis[d++] = a;
    }
    return true;
}

// All results are asked for alike, also those that nothing uses.
static bool through_reduce(collapser *c, kc_op *op, const int *axis) {
    int all[KC_MAX_RANK];
    for (int d = 0; d < c->space->rank; d++)
        all[d] = d;
    for (int i = 0; i < op->n_results; i++) {
        axis_map *map = map_of(c, kc_result(op, i));
        map->known = true;
        memcpy(map->axis, axis, sizeof(int) * (size_t)kc_result(op, i)->type.rank);
    }
    for (int i = 0; i < op->n_operands; i++)
        if (!propagate(c, kc_operand(op, i), all)) return false;
    return true;
}

// Nothing above v changes its shape. False: some of it was to do so.
static bool fix(collapser *c, kc_value *v) {
    axis_map *map = map_of(c, v);
    if (map->fixed || v->type.rank == 0) return true;
    if (map->known) return false;
    map->fixed = true;
    for (int i = 0; v->def && i < v->def->n_operands; i++)
        if (!fix(c, kc_operand(v->def, i))) return false;
    return true;
}

static bool through_contraction(collapser *c, kc_op *op) {
    const kc_contraction *contraction = kc_tiler_contraction(op);
    for (int i = 0; i < 2; i++) {
        int axes[KC_MAX_RANK];
        if (!(c->follow >> i & 1)) continue;
        contraction->along(op, i, axes);
        if (!propagate(c, kc_operand(op, contraction->operand[i]), axes)) return false;
    }
    return true;
}

// Every value must be asked for along one set of axes.
static bool propagate(collapser *c, kc_value *v, const int *axis) {
    axis_map *map = map_of(c, v);
    int own[KC_MAX_RANK];
    if (map->fixed) return false;
    if (v->def && kc_op_has_any(v->def, KC_REDUCTION | KC_CONTRACTION)) {
        if (!at_own_axes(c, v->def, axis, own)) return false;
        axis = own;
    }
    size_t bytes = sizeof(int) * (size_t)v->type.rank;
    if (map->known) return memcmp(map->axis, axis, bytes) == 0;
    map->known = true;
    memcpy(map->axis, axis, bytes);
    kc_op *op = v->def;
    if (!op || op->code == KC_OP_CONST || op->code == KC_OP_SYM) return true;
    if (op->code == KC_OP_RESHAPE) return through_reshape(c, op, axis);
    if (op->code == KC_OP_BROADCAST) return through_broadcast(c, op, axis);
    if (kc_op_has(op, KC_REDUCTION)) return through_reduce(c, op, axis);
    if (kc_op_has(op, KC_CONTRACTION)) return through_contraction(c, op);
    if (op->code == KC_OP_IOTA) {
        int a = axis[kc_attr_int(op, KC_ATTR_AXIS, 0)];
        if (a > 0) c->merge[a - 1] = false;
        if (a >= 0) c->merge[a] = false;
        return true;
    }
    if (!kc_op_has(op, KC_ELEMENTWISE)) return false;
    for (int i = 0; i < op->n_operands; i++)
        if (!propagate(c, kc_operand(op, i), axis)) return false;
    return true;
}

// Both axes absent, or side by side in memory.
static bool allows(collapser *c, const kc_type *type, const axis_map *map, int a, bool buffer) {
    int first = NO_AXIS, second = NO_AXIS;
    for (int d = 0; d < type->rank; d++) {
        if (map->axis[d] == a) first = d;
        if (map->axis[d] == a + 1) second = d;
    }
    if (first == NO_AXIS && second == NO_AXIS) return true;
    if (first == NO_AXIS || second != first + 1) return false;
    if (!buffer) return true;
    const kc_expr *row =
        kc_expr_mul(c->pool, kc_type_stride(c->pool, type, second), type->shape[second]);
    return kc_expr_known_equal(c->pool, kc_type_stride(c->pool, type, first), row);
}

static void restrict_merges(collapser *c, kc_value *v) {
    axis_map *map = v->data;
    if (!map || !map->known) return;
    for (int a = 0; a + 1 < c->space->rank; a++)
        if (!allows(c, &v->type, map, a, v->def == NULL)) c->merge[a] = false;
}

// ---- rewriting ----------------------------------------------------------------------------------

// Whether dimension d is absorbed by the one before it.
static bool joins(const collapser *c, const axis_map *map, int d) {
    if (d == 0) return false;
    int before = map->axis[d - 1], a = map->axis[d];
    if (a > 0) return before == a - 1 && c->merge[a - 1];
    for (int u = 1; u < c->space->rank; u++)
        if (a == unit(u)) return before == unit(u - 1) && c->merge[u - 1];
    return false;
}

static void retype(collapser *c, kc_value *v) {
    axis_map *map = v->data;
    if (!map || !map->known) return;
    kc_type type = v->type;
    type.rank = 0;
    for (int d = 0; d < v->type.rank; d++) {
        if (joins(c, map, d)) {
            const kc_expr **last = &type.shape[type.rank - 1];
            *last = kc_expr_mul(c->pool, *last, v->type.shape[d]);
            if (type.strides[0]) type.strides[type.rank - 1] = v->type.strides[d];
            continue;
        }
        type.shape[type.rank] = v->type.shape[d];
        if (v->type.strides[0]) type.strides[type.rank] = v->type.strides[d];
        type.rank++;
    }
    v->type = type;
}

static void renumber_axes(collapser *c, kc_op *op) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int64_t kept[KC_MAX_RANK];
    int n = 0, dim = 0;
    for (int a = 0; a < c->space->rank; a++) {
        bool joins = a > 0 && c->merge[a - 1];
        bool listed = false;
        for (int i = 0; i < axes->count; i++)
            listed = listed || axes->integers[i] == a;
        if (!joins && listed) kept[n++] = dim;
        if (a + 1 == c->space->rank || !c->merge[a]) dim++;
    }
    kc_attr_set_ints(c->pass->module, op, KC_ATTR_AXES, n, kept);
}

static void rewrite(collapser *c) {
    KC_FOR_OPS(op, c->body) {
        if (kc_op_has(op, KC_REDUCTION)) renumber_axes(c, op);
        axis_map *map = op->n_results ? kc_result(op, 0)->data : NULL;
        if (op->code == KC_OP_IOTA && map) {
            int before = 0, at = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
            for (int d = 1; d <= at; d++)
                before += joins(c, map, d);
            kc_attr_set_int(op, KC_ATTR_AXIS, at - before);
        }
    }
    for (int i = 0; i < c->body->n_args; i++)
        retype(c, c->body->args[i]);
    KC_FOR_OPS(op, c->body)
        for (int i = 0; i < op->n_results; i++)
            retype(c, kc_result(op, i));
}

// ---- the space ----------------------------------------------------------------------------------

static bool find_space(collapser *c, const kc_tiler *t) {
    c->space = t->contraction ? &t->space : &kc_operand(c->body->last, 0)->type;
    c->contraction = t->contraction;
    for (int a = 0; t->contraction && a < t->space.rank; a++)
        c->reduced[a] = a >= t->n_parallel;
    KC_FOR_OPS(op, c->body) {
        if (!kc_op_has(op, KC_REDUCTION)) continue;
        const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
        c->space = &kc_operand(op, 0)->type;
        memset(c->reduced, 0, sizeof c->reduced);
        for (int i = 0; i < axes->count; i++)
            c->reduced[axes->integers[i]] = true;
    }
    // An extent of 1 may come and go between the reductions and the results: such axes stay by
    // themselves.
    for (int a = 0; a + 1 < c->space->rank; a++)
        c->merge[a] = c->reduced[a] == c->reduced[a + 1] && !kc_expr_is_one(c->space->shape[a]) &&
                      !kc_expr_is_one(c->space->shape[a + 1]);
    for (int a = 0; t->contraction && a < t->n_parallel; a++)
        if (a != kc_tiler_contraction(t->contraction)->joins) c->merge[a] = false;
    return c->space->rank > 1;
}

// The axes of a result: those of the space, or the parallel ones.
static bool result_axes(collapser *c, const kc_type *type, int *axis) {
    bool all = !c->contraction && kc_type_same_shape(c->pool, type, c->space);
    for (int d = 0; all && d < type->rank; d++)
        axis[d] = d;
    return all || kc_movement_kept_axes(c->pool, type, c->space, c->reduced, axis);
}

static bool find_axes(collapser *c) {
    kc_op *yield = c->body->last;
    for (int i = 0; i < c->body->n_args; i++)
        c->body->args[i]->data = NULL;
    KC_FOR_OPS(op, c->body)
        for (int i = 0; i < op->n_results; i++)
            kc_result(op, i)->data = NULL;
    for (int i = 0; c->contraction && i < 2; i++)
        if (!(c->follow >> i & 1) &&
            !fix(c, kc_operand(c->contraction, kc_tiler_contraction(c->contraction)->operand[i])))
            return false;
    int first_output = c->body->n_args - yield->n_operands;
    for (int i = 0; i < yield->n_operands; i++) {
        int axis[KC_MAX_RANK];
        kc_value *output = c->body->args[first_output + i];
        if (!result_axes(c, &output->type, axis) || !propagate(c, kc_operand(yield, i), axis) ||
            !propagate(c, output, axis))
            return false;
    }
    return true;
}

static bool collapse(kc_tiler *t, unsigned follow, bool wants_parallel) {
    collapser c = {.pass = t->pass, .pool = t->pool, .body = t->kernel->body, .follow = follow};
    if (!find_space(&c, t) || !find_axes(&c)) return false;
    kc_type space = *c.space; // types are rewritten below
    c.space = &space;
    for (int i = 0; i < c.body->n_args; i++)
        restrict_merges(&c, c.body->args[i]);
    KC_FOR_OPS(op, c.body)
        for (int i = 0; i < op->n_results; i++)
            restrict_merges(&c, kc_result(op, i));
    bool joined = !wants_parallel;
    for (int a = 0; a + 1 < space.rank; a++)
        joined = joined || (c.merge[a] && !c.reduced[a]);
    if (joined) rewrite(&c);
    return joined;
}

// Following a factor may forbid what is possible without it: the way that follows most factors is
// taken, among those that join axes of the result if there are any.
void kc_tiler_collapse(kc_tiler *t) {
    const kc_contraction *contraction =
        t->contraction ? kc_tiler_contraction(t->contraction) : NULL;
    int axes[KC_MAX_RANK];
    unsigned most = 0;
    if (contraction && !contraction->along) return;
    for (int i = 0; contraction && i < 2; i++)
        if (contraction->along(t->contraction, i, axes)) most |= 1u << i;
    for (int wants_parallel = 1; wants_parallel >= 0; wants_parallel--)
        for (unsigned left = most + 1; left > 0; left--)
            if (((left - 1) & ~most) == 0 && collapse(t, left - 1, wants_parallel)) return;
}
