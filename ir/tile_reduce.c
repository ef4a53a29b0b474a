// Contractions and reductions of tiles, element after element in row-major order.
#include "ir/tile_machine.h"

#include <string.h>

// ---- dot ----------------------------------------------------------------------------------------

static double round_to(kc_dtype t, double v) {
    return t == KC_f32 ? (double)(float)v : kc_dtype_represent(t, v);
}

typedef struct {
    const kc_interp_value *v;
    int64_t strides[KC_MAX_RANK]; // 0 along extents of 1
} view;

static view view_of(const kc_interp_value *v) {
    view w = {v, {0}};
    kc_interp_strides(v->rank, v->shape, w.strides);
    for (int d = 0; d < v->rank; d++)
        if (v->shape[d] == 1) w.strides[d] = 0;
    return w;
}

static void dot_line(kc_interp_value *r, int64_t to, const view *a, int64_t at_a, const view *b,
                     int64_t at_b, int axis, int64_t n) {
    for (int64_t k = 0; k < n; k++, at_a += a->strides[axis], at_b += b->strides[axis]) {
        if (r->f) r->f[to] = round_to(r->elem, r->f[to] + a->v->f[at_a] * b->v->f[at_b]);
        else
            r->i[to] = kc_integer_wrap(
                r->elem,
                (int64_t)((uint64_t)r->i[to] + (uint64_t)a->v->i[at_a] * (uint64_t)b->v->i[at_b]));
    }
}

// Each product goes into the sum unrounded, as in a fused multiply-add.
kc_interp_value *kc_tile_dot(kc_tile_machine *t, const kc_op *op) {
    view a = view_of(kc_interp_operand(t->m, op, 0)), b = view_of(kc_interp_operand(t->m, op, 1));
    kc_interp_value *sum = kc_interp_operand(t->m, op, 2),
                    *r = kc_interp_make_like(t->m, op, sum->elem, sum);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    int64_t c[KC_MAX_RANK] = {0};
    if (!a.v->f != !r->f || !b.v->f != !r->f)
        kc_tile_fail(t, op, "operands and accumulator are of different kinds");
    for (int64_t i = 0; i < r->n; i++) {
        int64_t at_a = 0, at_b = 0;
        if (r->f) r->f[i] = sum->f[i];
        else r->i[i] = sum->i[i];
        for (int d = 0; d < r->rank; d++)
            at_a += c[d] * a.strides[d], at_b += c[d] * b.strides[d];
        dot_line(r, i, &a, at_a, &b, at_b, axis, a.v->shape[axis]);
        for (int d = r->rank - 1; d >= 0 && ++c[d] == r->shape[d]; d--)
            c[d] = 0;
    }
    return r;
}

// ---- reduce -------------------------------------------------------------------------------------

// Which result element each operand element goes to. An axis whose result keeps e parts is cut into
// e runs: which elements a warp really reduces is the layout's affair, and the second reduction
// makes up for it.
static int64_t *targets(kc_tile_machine *t, const kc_op *op, const kc_interp_value *x,
                        const kc_type *result) {
    int64_t *to = kc_interp_alloc(t->m, op, x->n, sizeof *to), strides[KC_MAX_RANK],
            c[KC_MAX_RANK] = {0};
    kc_interp_strides(result->rank, result->tile, strides);
    for (int d = 0; d < x->rank; d++)
        if (x->shape[d] % result->tile[d])
            kc_tile_fail(t, op, "%lld parts of an axis of %lld", (long long)result->tile[d],
                         (long long)x->shape[d]);
    for (int64_t i = 0; i < x->n; i++) {
        for (int d = 0; d < x->rank; d++)
            to[i] += c[d] / (x->shape[d] / result->tile[d]) * strides[d];
        for (int d = x->rank - 1; d >= 0 && ++c[d] == x->shape[d]; d--)
            c[d] = 0;
    }
    return to;
}

// Element number `round` of every target: positions in the operand, [round][target].
static int64_t *rounds(kc_tile_machine *t, const kc_op *op, const kc_interp_value *x,
                       const kc_type *result) {
    int64_t n = kc_tile_elements(result), *to = targets(t, op, x, result);
    int64_t *at = kc_interp_alloc(t->m, op, x->n, sizeof *at),
            *filled = kc_interp_alloc(t->m, op, n, sizeof *filled);
    for (int64_t i = 0; i < x->n; i++)
        at[filled[to[i]]++ * n + to[i]] = i;
    kc_interp_free(t->m, to);
    kc_interp_free(t->m, filled);
    return at;
}

static kc_interp_value *picked(kc_tile_machine *t, const kc_op *op, const kc_interp_value *x,
                               const int64_t *at, int64_t n) {
    kc_interp_value *r = kc_interp_make(t->m, op, x->elem, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        if (r->f) r->f[i] = x->f[at[i]];
        else r->i[i] = x->i[at[i]];
    }
    return r;
}

static void shape_result(kc_tile_machine *t, const kc_op *op, kc_interp_value **r,
                         const kc_type *type) {
    int64_t n = kc_tile_elements(type);
    if ((*r)->n != n) { // the combiner gave a constant
        kc_interp_value *wide = kc_interp_broadcast(t->m, op, *r, 1, &n);
        kc_interp_drop(t->m, *r);
        *r = wide;
    }
    (*r)->rank = type->rank;
    for (int d = 0; d < type->rank; d++)
        (*r)->shape[d] = type->tile[d];
}

void kc_tile_reduce(kc_tile_machine *t, const kc_op *op, kc_interp_value **results) {
    int n = op->n_operands;
    const kc_type *type = &kc_result(op, 0)->type;
    const kc_interp_value *first = kc_interp_operand(t->m, op, 0);
    int64_t elements = kc_tile_elements(type), *at = rounds(t, op, first, type);
    for (int i = 0; i < n; i++)
        results[i] = picked(t, op, kc_interp_operand(t->m, op, i), at, elements);
    t->m->batch++;
    for (int64_t k = 1; k < first->n / elements; k++) {
        for (int i = 0; i < n; i++) {
            kc_interp_set(t->m, op->body->args[i], results[i]);
            kc_interp_set(
                t->m, op->body->args[n + i],
                picked(t, op, kc_interp_operand(t->m, op, i), at + k * elements, elements));
        }
        kc_tile_block(t, op->body, n, results);
    }
    t->m->batch--;
    for (int i = 0; i < n; i++)
        shape_result(t, op, &results[i], &kc_result(op, i)->type);
    kc_interp_free(t->m, at);
}
