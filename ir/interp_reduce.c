// Reductions. Each line of reduced elements is made contiguous and reduced by itself.
//
// An implementation may combine in any order: ir/interp_line.h bounds what that does to sums and
// products. Minimum and maximum are exact.
//
// Other combiners (argmax) run as a balanced tree, many lines at once, and their comparisons carry
// what ties leave open. If such a combiner rounds, its bound is that of the tree, times how much
// longer than the tree a chain would be.
#include "ir/interp_line.h"
#include "ir/interp_machine.h"

#include <math.h>
#include <string.h>

// ---- lines --------------------------------------------------------------------------------------

typedef struct {
    kc_interp_value *x; // kept dimensions first, then the reduced ones
    int64_t count, length;
} lines;

static lines make_lines(kc_interp *m, const kc_op *op, kc_interp_value *x, const bool *reduced) {
    int64_t strides[KC_MAX_RANK], own[KC_MAX_RANK], shape[KC_MAX_RANK], to[KC_MAX_RANK];
    int n = 0;
    lines l = {NULL, 1, 1};
    bool in_place = true;
    kc_interp_strides(x->rank, x->shape, own);
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < x->rank; d++) {
            if (reduced[d] != (pass == 1)) continue;
            in_place = in_place && n == d;
            strides[n] = own[d];
            shape[n++] = x->shape[d];
            *(pass ? &l.length : &l.count) *= x->shape[d];
        }
    if (in_place) {
        l.x = kc_interp_hold(x);
        return l;
    }
    l.x = kc_interp_make(m, op, x->elem, x->rank, shape);
    kc_interp_strides(x->rank, shape, to);
    kc_interp_copy(x->rank, shape, x->f ? (void *)l.x->f : (void *)l.x->i, to,
                   x->f ? (void *)x->f : (void *)x->i, strides);
    if (x->e) {
        kc_interp_add_bounds(m, op, l.x);
        kc_interp_copy(x->rank, shape, l.x->e, to, x->e, strides);
    }
    return l;
}

static kc_interp_value *make_kept(kc_interp *m, const kc_op *op, const kc_interp_value *x,
                                  const bool *reduced, bool keep) {
    int64_t shape[KC_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < x->rank; d++) {
        if (!reduced[d]) shape[rank++] = x->shape[d];
        else if (keep) shape[rank++] = 1;
    }
    return kc_interp_make(m, op, x->elem, rank, shape);
}

// ---- one op as the combiner ---------------------------------------------------------------------

bool kc_interp_is_identity(kc_opcode code, double init) {
    switch (code) {
    case KC_OP_ADD: return init == 0;
    case KC_OP_MUL: return init == 1;
    case KC_OP_MAX: return init == -INFINITY;
    case KC_OP_MIN: return init == INFINITY;
    default: return false;
    }
}

static kc_number line_sum(const double *v, const double *e, int64_t n, const kc_precision *p) {
    kc_summands s = {.n = 0};
    for (int64_t i = 0; i < n; i++)
        kc_summands_add(&s, v[i], e ? e[i] : 0);
    return kc_summands_sum(&s, p);
}

static kc_number line_product(const double *v, const double *e, int64_t n, const kc_precision *p) {
    kc_factors f = KC_NO_FACTORS;
    for (int64_t i = 0; i < n; i++)
        kc_factors_add(&f, v[i], e ? e[i] : 0);
    return kc_factors_product(&f, p);
}

static kc_number reduce_line(kc_opcode code, const double *v, const double *e, int64_t n,
                             double init, const kc_precision *p) {
    kc_number_op *f = kc_number_op_of(code);
    kc_number r = kc_number_literal(init, p);
    if (n == 0) return r;
    if (code == KC_OP_ADD || code == KC_OP_MUL) {
        kc_number all = code == KC_OP_ADD ? line_sum(v, e, n, p) : line_product(v, e, n, p);
        return kc_interp_is_identity(code, init) ? all : f((kc_number[]){r, all}, p);
    }
    bool open = false;
    for (int64_t i = 0; i < n; i++) {
        kc_number next = {v[i], e ? e[i] : 0};
        open = open || isinf(next.e);
        r = f((kc_number[]){r, next}, p);
    }
    return open ? (kc_number){r.v, INFINITY} : r;
}

// The identities of max and min are infinite: the ends of the type.
int64_t kc_interp_integer_init(kc_dtype elem, double init) {
    if (elem == KC_bool) return init > 0;
    return kc_integer_wrap(elem, kc_dtype_saturate(elem, init));
}

static kc_interp_value *reduce_by(kc_interp *m, const kc_op *op, kc_opcode code, kc_interp_value *x,
                                  const bool *reduced, bool keep, double init) {
    lines l = make_lines(m, op, x, reduced);
    kc_interp_value *r = make_kept(m, op, x, reduced, keep);
    kc_precision p = kc_number_precision(x->elem);
    kc_integer_op *f = kc_integer_op_of(code);
    for (int64_t k = 0; k < l.count; k++) {
        const double *e = l.x->e ? l.x->e + k * l.length : NULL;
        double bound;
        if (x->f) {
            kc_number y = reduce_line(code, l.x->f + k * l.length, e, l.length, init, &p);
            r->f[k] = y.v, bound = y.e;
        } else {
            kc_integer y = {kc_interp_integer_init(x->elem, init), 0};
            for (int64_t i = 0; i < l.length; i++)
                y = f((kc_integer[]){y, {l.x->i[k * l.length + i], e ? e[i] : 0}}, x->elem);
            r->i[k] = y.v, bound = y.e;
        }
        if (bound > 0) kc_interp_add_bounds(m, op, r);
        if (bound > 0) r->e[k] = bound;
    }
    kc_interp_drop(m, l.x);
    return r;
}

kc_interp_value *kc_interp_reduce_by(kc_interp *m, const kc_op *op, kc_opcode code,
                                     kc_interp_value *x, const bool *reduced, bool keep) {
    double init = code == KC_OP_ADD   ? 0
                  : code == KC_OP_MUL ? 1
                  : code == KC_OP_MAX ? (x->elem == KC_f8e8m0 ? 0 : -INFINITY)
                                      : INFINITY;
    return reduce_by(m, op, code, x, reduced, keep, init);
}

// ---- any combiner -------------------------------------------------------------------------------

kc_opcode kc_interp_combiner(const kc_op *op, int i) {
    int n = op->n_operands;
    const kc_value *left = op->body->args[i], *right = op->body->args[n + i];
    const kc_op *by = kc_operand(op->body->last, i)->def;
    if (!by || by->n_operands != 2) return KC_OP_COUNT;
    const kc_value *a = kc_operand(by, 0), *b = kc_operand(by, 1);
    if (!((a == left && b == right) || (a == right && b == left))) return KC_OP_COUNT;
    switch (by->code) {
    case KC_OP_ADD:
    case KC_OP_MUL:
    case KC_OP_MIN:
    case KC_OP_MAX:
    case KC_OP_AND:
    case KC_OP_OR: return by->code;
    default: return KC_OP_COUNT;
    }
}

bool kc_interp_combiner_rounds(const kc_op *op) {
    KC_FOR_OPS (inner, op->body)
        if (kc_op_has(inner, KC_ELEMENTWISE) && kc_number_op_rounds(inner->code) &&
            inner->code != KC_OP_SELECT) {
            if (kc_dtype_is_float(kc_result(inner, 0)->type.elem)) return true;
        }
    return false;
}

// Every second element of each line, from `first`, as a list of count * half.
static kc_interp_value *every_second(kc_interp *m, const kc_op *op, const lines *l, int64_t first) {
    int64_t half = l->length / 2, n = l->count * half;
    kc_interp_value *r = kc_interp_make(m, op, l->x->elem, 1, &n);
    if (l->x->e) kc_interp_add_bounds(m, op, r);
    for (int64_t k = 0; k < l->count; k++)
        for (int64_t i = 0; i < half; i++) {
            int64_t from = k * l->length + 2 * i + first, to = k * half + i;
            if (r->f) r->f[to] = l->x->f[from];
            else r->i[to] = l->x->i[from];
            if (r->e) r->e[to] = l->x->e[from];
        }
    return r;
}

// The combined pairs, and at the end of each line the element that had no partner.
static void next_lines(kc_interp *m, const kc_op *op, lines *l, kc_interp_value *pairs) {
    int64_t half = l->length / 2, length = half + l->length % 2, n = l->count * length;
    kc_interp_value *r = kc_interp_make(m, op, l->x->elem, 1, &n);
    if (l->x->e || pairs->e) kc_interp_add_bounds(m, op, r);
    for (int64_t k = 0; k < l->count; k++)
        for (int64_t i = 0; i < length; i++) {
            const kc_interp_value *src = i < half ? pairs : l->x;
            int64_t from = i < half ? (pairs->n == 1 ? 0 : k * half + i) : (k + 1) * l->length - 1,
                    to = k * length + i;
            if (r->f) r->f[to] = src->f[from];
            else r->i[to] = src->i[from];
            if (r->e) r->e[to] = src->e ? src->e[from] : 0;
        }
    kc_interp_drop(m, pairs);
    kc_interp_drop(m, l->x);
    l->x = r;
    l->length = length;
}

void kc_interp_combine(kc_interp *m, const kc_op *op, kc_interp_value **args,
                       kc_interp_value **results) {
    for (int i = 0; i < 2 * op->n_operands; i++)
        kc_interp_set(m, op->body->args[i], args[i]);
    m->batch++;
    kc_interp_block(m, op->body, op->n_operands, results);
    m->batch--;
}

static void scale_bounds(kc_interp_value *x, double by) {
    for (int64_t i = 0; x->e && i < x->n; i++)
        x->e[i] *= by;
}

static void reduce_tree(kc_interp *m, const kc_op *op, const bool *reduced,
                        kc_interp_value **results) {
    int n = op->n_operands;
    lines *l = kc_interp_alloc(m, op, n, sizeof *l);
    kc_interp_value **args = kc_interp_alloc(m, op, 2 * n, sizeof(kc_interp_value *));
    const double *init = kc_attr_get(op, KC_ATTR_INIT)->numbers;
    for (int i = 0; i < n; i++)
        l[i] = make_lines(m, op, kc_interp_operand(m, op, i), reduced);
    int64_t length = l[0].length;
    int depth = 0;
    for (; l[0].length > 1; depth++) {
        for (int i = 0; i < n; i++)
            args[i] = every_second(m, op, &l[i], 0), args[n + i] = every_second(m, op, &l[i], 1);
        kc_interp_combine(m, op, args, results);
        for (int i = 0; i < n; i++)
            next_lines(m, op, &l[i], results[i]);
    }
    for (int i = 0; i < n; i++) {
        kc_dtype elem = l[i].x->elem;
        args[i] = kc_dtype_is_float(elem)
                      ? kc_interp_scalar(m, op, elem, init[i])
                      : kc_interp_count(m, op, elem, kc_interp_integer_init(elem, init[i]));
        args[n + i] = kc_interp_hold(l[i].x);
    }
    if (length > 0) kc_interp_combine(m, op, args, results);
    for (int i = 0; i < n; i++) {
        kc_interp_value *kept = make_kept(m, op, kc_interp_operand(m, op, i), reduced, false);
        kc_interp_value *flat = length > 0 ? results[i] : args[i];
        kc_interp_value list = *flat; // a constant of the combiner stands for all lines
        list.rank = 1, list.shape[0] = flat->n;
        results[i] = kc_interp_broadcast(m, op, &list, 1, &kept->n);
        results[i]->rank = kept->rank;
        memcpy(results[i]->shape, kept->shape, sizeof kept->shape);
        if (depth > 1 && kc_interp_combiner_rounds(op))
            scale_bounds(results[i], (double)(length - 1) / depth);
        kc_interp_drop(m, flat);
        if (length == 0) kc_interp_drop(m, args[n + i]);
        kc_interp_drop(m, l[i].x);
        kc_interp_drop(m, kept);
    }
    kc_interp_free(m, l);
    kc_interp_free(m, args);
}

void kc_interp_reduce(kc_interp *m, const kc_op *op, kc_interp_value **results) {
    bool reduced[KC_MAX_RANK] = {false}, simple = true;
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES), *init = kc_attr_get(op, KC_ATTR_INIT);
    for (int i = 0; i < axes->count; i++)
        reduced[axes->integers[i]] = true;
    for (int i = 0; i < op->n_operands; i++)
        simple = simple && kc_interp_combiner(op, i) != KC_OP_COUNT;
    if (!simple) {
        reduce_tree(m, op, reduced, results);
        return;
    }
    for (int i = 0; i < op->n_operands; i++)
        results[i] = reduce_by(m, op, kc_interp_combiner(op, i), kc_interp_operand(m, op, i), reduced,
                               false, init->numbers[i]);
}
