// Scans: each prefix of a line, with the bound of a reduction of that many elements.
//
// Sums and products keep what their bound follows from and add one term at a time. Any other
// combiner runs as a tree, all lines at once, with bounds as in interp_reduce.c.
#include "ir/interp_line.h"
#include "ir/interp_machine.h"

#include <math.h>
#include <string.h>

// Line k begins at start + k / step * n * step + k % step and goes on in steps of `step`.
typedef struct {
    int64_t count, n, step;
} lines;

static lines lines_of(kc_interp *m, const kc_op *op, const kc_interp_value *x, int axis) {
    lines l = {.n = x->shape[axis]};
    l.step = kc_interp_elements(m, op, x->rank - axis - 1, x->shape + axis + 1);
    l.count = l.n ? x->n / l.n : 0;
    return l;
}

static int64_t place(const lines *l, int64_t line, int64_t i) {
    return (line / l->step * l->n + i) * l->step + line % l->step;
}

static void set_bound(kc_interp *m, const kc_op *op, kc_interp_value *r, int64_t at, double bound) {
    if (bound <= 0) return;
    kc_interp_add_bounds(m, op, r);
    r->e[at] = bound;
}

// ---- one op as the combiner ---------------------------------------------------------------------

typedef struct {
    kc_opcode code;
    kc_precision p;
    kc_summands summands;
    kc_factors factors;
    kc_number init, last;
    bool identity, open;
} running;

static running start(kc_opcode code, double init, kc_dtype elem) {
    running r = {.code = code, .p = kc_number_precision(elem), .summands.sum = -0.0};
    r.factors = KC_NO_FACTORS;
    r.init = r.last = kc_number_literal(init, &r.p);
    r.identity = kc_interp_is_identity(code, init);
    return r;
}

static kc_number next(running *r, kc_number x) {
    kc_number_op *f = kc_number_op_of(r->code);
    if (r->code == KC_OP_ADD || r->code == KC_OP_MUL) {
        kc_number all;
        if (r->code == KC_OP_ADD) {
            kc_summands_add(&r->summands, x.v, x.e);
            all = kc_summands_sum(&r->summands, &r->p);
        } else {
            kc_factors_add(&r->factors, x.v, x.e);
            all = kc_factors_product(&r->factors, &r->p);
        }
        return r->identity ? all : f((kc_number[]){r->init, all}, &r->p);
    }
    r->open = r->open || isinf(x.e);
    r->last = f((kc_number[]){r->last, x}, &r->p);
    return r->open ? (kc_number){r->last.v, INFINITY} : r->last;
}

static void scan_numbers(kc_interp *m, const kc_op *op, kc_opcode code, const kc_interp_value *x,
                         const lines *l, double init, kc_interp_value *r) {
    for (int64_t k = 0; k < l->count; k++) {
        running state = start(code, init, x->elem);
        for (int64_t i = 0; i < l->n; i++) {
            int64_t at = place(l, k, i);
            kc_number y = next(&state, kc_interp_number(x, at));
            r->f[at] = y.v;
            set_bound(m, op, r, at, y.e);
        }
    }
}

static void scan_integers(kc_interp *m, const kc_op *op, kc_opcode code, const kc_interp_value *x,
                          const lines *l, double init, kc_interp_value *r) {
    kc_integer_op *f = kc_integer_op_of(code);
    for (int64_t k = 0; k < l->count; k++) {
        kc_integer y = {kc_interp_integer_init(x->elem, init), 0};
        for (int64_t i = 0; i < l->n; i++) {
            int64_t at = place(l, k, i);
            y = f((kc_integer[]){y, kc_interp_integer(x, at)}, x->elem);
            r->i[at] = y.v;
            set_bound(m, op, r, at, y.e);
        }
    }
}

kc_interp_value *kc_interp_scan_by(kc_interp *m, const kc_op *op, kc_opcode code,
                                   kc_interp_value *x, int axis, double init) {
    kc_interp_value *r = kc_interp_make_like(m, op, x->elem, x);
    lines l = lines_of(m, op, x, axis);
    if (x->f) scan_numbers(m, op, code, x, &l, init, r);
    else scan_integers(m, op, code, x, &l, init, r);
    return r;
}

// ---- any combiner -------------------------------------------------------------------------------

// Elements `at` of x as a list, and back; a list of one element stands for all.
static kc_interp_value *gathered(kc_interp *m, const kc_op *op, const kc_interp_value *x,
                                 const int64_t *at, int64_t n) {
    kc_interp_value *r = kc_interp_make(m, op, x->elem, 1, &n);
    if (x->e) kc_interp_add_bounds(m, op, r);
    for (int64_t k = 0; k < n; k++) {
        if (r->f) r->f[k] = x->f[at[k]];
        else r->i[k] = x->i[at[k]];
        if (r->e) r->e[k] = x->e[at[k]];
    }
    return r;
}

static void scatter(kc_interp *m, const kc_op *op, kc_interp_value *r, const kc_interp_value *list,
                    const int64_t *at, int64_t n) {
    if (list->e) kc_interp_add_bounds(m, op, r);
    for (int64_t k = 0; k < n; k++) {
        int64_t from = list->n == 1 ? 0 : k;
        if (r->f) r->f[at[k]] = list->f[from];
        else r->i[at[k]] = list->i[from];
        if (r->e) r->e[at[k]] = list->e ? list->e[from] : 0;
    }
}

// Elements whose index has bit p take in the last one before that bit was set.
static void double_prefixes(kc_interp *m, const kc_op *op, const lines *l, int64_t p,
                            kc_interp_value **r) {
    int n = op->n_operands;
    int64_t found = 0, *to = kc_interp_alloc(m, op, r[0]->n, sizeof *to),
            *from = kc_interp_alloc(m, op, r[0]->n, sizeof *from);
    for (int64_t k = 0; k < l->count; k++)
        for (int64_t i = p; i < l->n; i++)
            if (i & p) {
                to[found] = place(l, k, i);
                from[found++] = place(l, k, (i & ~(2 * p - 1)) + p - 1);
            }
    kc_interp_value **args = kc_interp_alloc(m, op, 3 * n, sizeof *args);
    for (int i = 0; i < n; i++) {
        args[i] = gathered(m, op, r[i], from, found);
        args[n + i] = gathered(m, op, r[i], to, found);
    }
    kc_interp_combine(m, op, args, args + 2 * n);
    for (int i = 0; i < n; i++) {
        scatter(m, op, r[i], args[2 * n + i], to, found);
        kc_interp_drop(m, args[2 * n + i]);
    }
    kc_interp_free(m, args);
    kc_interp_free(m, to);
    kc_interp_free(m, from);
}

// A chain of i steps instead of a tree of as many levels as i has bits.
static void scale_bounds(const lines *l, kc_interp_value *r) {
    for (int64_t k = 0; r->e && k < l->count; k++)
        for (int64_t i = 2; i < l->n; i++)
            r->e[place(l, k, i)] *= (double)i / (64 - __builtin_clzll((uint64_t)i));
}

static void scan_tree(kc_interp *m, const kc_op *op, int axis, kc_interp_value **results) {
    lines l = lines_of(m, op, kc_interp_operand(m, op, 0), axis);
    for (int i = 0; i < op->n_operands; i++) {
        const kc_interp_value *x = kc_interp_operand(m, op, i);
        size_t size = sizeof(double) * (size_t)x->n; // of either kind of element, and of a bound
        results[i] = kc_interp_make_like(m, op, x->elem, x);
        if (x->f) memcpy(results[i]->f, x->f, size);
        else memcpy(results[i]->i, x->i, size);
        if (!x->e) continue;
        kc_interp_add_bounds(m, op, results[i]);
        memcpy(results[i]->e, x->e, size);
    }
    for (int64_t p = 1; p < l.n && l.count; p *= 2)
        double_prefixes(m, op, &l, p, results);
    for (int i = 0; i < op->n_operands && kc_interp_combiner_rounds(op); i++)
        scale_bounds(&l, results[i]);
}

void kc_interp_scan(kc_interp *m, const kc_op *op, kc_interp_value **results) {
    int axis = (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
    const double *init = kc_attr_get(op, KC_ATTR_INIT)->numbers;
    bool simple = true;
    for (int i = 0; i < op->n_operands; i++)
        simple = simple && kc_interp_combiner(op, i) != KC_OP_COUNT;
    if (!simple) {
        scan_tree(m, op, axis, results);
        return;
    }
    for (int i = 0; i < op->n_operands; i++)
        results[i] = kc_interp_scan_by(m, op, kc_interp_combiner(op, i),
                                       kc_interp_operand(m, op, i), axis, init[i]);
}
