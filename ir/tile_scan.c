// Scans of tiles: prefixes inside each segment by doubling, the totals, and what joins segments.
#include "ir/tile_machine.h"

// A tile as lines along the axis: element i of line k is at (k / step * n + i) * step + k % step.
typedef struct {
    int64_t count, n, step;
} lines;

static lines lines_of(kc_tile_machine *t, const kc_op *op, const kc_interp_value *x) {
    int axis = (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
    lines l = {.n = x->shape[axis]};
    l.step = kc_interp_elements(t->m, op, x->rank - axis - 1, x->shape + axis + 1);
    l.count = x->n / l.n;
    return l;
}

static int64_t place(const lines *l, int64_t line, int64_t i) {
    return (line / l->step * l->n + i) * l->step + line % l->step;
}

static void copy_element(kc_interp_value *to, int64_t i, const kc_interp_value *from, int64_t k) {
    if (to->f) to->f[i] = from->f[k];
    else to->i[i] = from->i[k];
}

// What may stand for all lines.
static void copy_from_list(kc_interp_value *to, int64_t i, const kc_interp_value *list, int64_t k) {
    copy_element(to, i, list, list->n == 1 ? 0 : k);
}

static kc_interp_value *copied(kc_tile_machine *t, const kc_op *op, const kc_interp_value *x) {
    kc_interp_value *r = kc_interp_make_like(t->m, op, x->elem, x);
    for (int64_t i = 0; i < x->n; i++)
        copy_element(r, i, x, i);
    return r;
}

static void combine(kc_tile_machine *t, const kc_op *op, int n, kc_interp_value **args,
                    kc_interp_value **results) {
    for (int i = 0; i < 2 * n; i++)
        kc_interp_set(t->m, op->body->args[i], args[i]);
    t->m->batch++;
    kc_tile_block(t, op->body, n, results);
    t->m->batch--;
}

// Elements with bit p of their index in the segment take in the last one before that bit was set.
static void double_prefixes(kc_tile_machine *t, const kc_op *op, int n, int64_t segment, int64_t p,
                            kc_interp_value **r) {
    lines l = lines_of(t, op, r[0]);
    int64_t *to = kc_interp_alloc(t->m, op, r[0]->n, sizeof *to),
            *from = kc_interp_alloc(t->m, op, r[0]->n, sizeof *from), found = 0;
    for (int64_t k = 0; k < l.count; k++)
        for (int64_t i = 0; i < l.n; i++) {
            int64_t inside = i % segment;
            if (!(inside & p)) continue;
            to[found] = place(&l, k, i);
            from[found++] = place(&l, k, i - inside + (inside & ~(2 * p - 1)) + p - 1);
        }
    kc_interp_value **args = kc_interp_alloc(t->m, op, 3 * n, sizeof *args);
    for (int i = 0; i < n && found; i++) {
        args[i] = kc_interp_make(t->m, op, r[i]->elem, 1, &found);
        args[n + i] = kc_interp_make(t->m, op, r[i]->elem, 1, &found);
        for (int64_t k = 0; k < found; k++) {
            copy_element(args[i], k, r[i], from[k]);
            copy_element(args[n + i], k, r[i], to[k]);
        }
    }
    if (found) combine(t, op, n, args, args + 2 * n);
    for (int i = 0; i < n && found; i++) {
        for (int64_t k = 0; k < found; k++)
            copy_from_list(r[i], to[k], args[2 * n + i], k);
        kc_interp_drop(t->m, args[2 * n + i]);
    }
    kc_interp_free(t->m, args);
    kc_interp_free(t->m, to);
    kc_interp_free(t->m, from);
}

static kc_interp_value *last_of_segments(kc_tile_machine *t, const kc_op *op,
                                         const kc_interp_value *prefixes, const kc_type *type) {
    kc_interp_value *r = kc_interp_make(t->m, op, type->elem, type->rank, type->tile);
    lines from = lines_of(t, op, prefixes), to = lines_of(t, op, r);
    int64_t segment = from.n / to.n;
    for (int64_t k = 0; k < to.count; k++)
        for (int64_t i = 0; i < to.n; i++)
            copy_element(r, place(&to, k, i), prefixes, place(&from, k, (i + 1) * segment - 1));
    return r;
}

void kc_tile_scan(kc_tile_machine *t, const kc_op *op, kc_interp_value **results) {
    int n = op->n_operands, axis = (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
    int64_t segment = kc_interp_operand(t->m, op, 0)->shape[axis] / kc_result(op, n)->type.tile[axis];
    for (int i = 0; i < n; i++)
        results[i] = copied(t, op, kc_interp_operand(t->m, op, i));
    for (int64_t p = 1; p < segment; p *= 2)
        double_prefixes(t, op, n, segment, p, results);
    for (int i = 0; i < n; i++)
        results[n + i] = last_of_segments(t, op, results[i], &kc_result(op, n + i)->type);
}

// ---- between segments ---------------------------------------------------------------------------

static kc_interp_value *initial(kc_tile_machine *t, const kc_op *op, int i, kc_dtype elem) {
    double init = kc_attr_get(op, KC_ATTR_INIT)->numbers[i];
    if (kc_dtype_is_float(elem)) return kc_interp_scalar(t->m, op, elem, init);
    return kc_interp_count(t->m, op, elem, kc_interp_integer_init(elem, init));
}

// What the elements at index i of all lines become when `before`, a list of one for each line,
// comes first. Gives them as a list.
static void prepend(kc_tile_machine *t, const kc_op *op, int n, kc_interp_value *const *before,
                    kc_interp_value *const *x, int64_t i, kc_interp_value **lists) {
    kc_interp_value **args = kc_interp_alloc(t->m, op, 2 * n, sizeof *args);
    for (int c = 0; c < n; c++) {
        lines l = lines_of(t, op, x[c]);
        args[c] = kc_interp_hold(before[c]);
        args[n + c] = kc_interp_make(t->m, op, x[c]->elem, 1, &l.count);
        for (int64_t k = 0; k < l.count; k++)
            copy_element(args[n + c], k, x[c], place(&l, k, i));
    }
    combine(t, op, n, args, lists);
    kc_interp_free(t->m, args);
}

static void put_list(kc_tile_machine *t, const kc_op *op, kc_interp_value *r,
                     kc_interp_value *list, int64_t i) {
    lines l = lines_of(t, op, r);
    for (int64_t k = 0; k < l.count; k++)
        copy_from_list(r, place(&l, k, i), list, k);
    kc_interp_drop(t->m, list);
}

void kc_tile_scan_carry(kc_tile_machine *t, const kc_op *op, kc_interp_value **results) {
    int n = op->segments[0], axis = (int)kc_attr_get(op, KC_ATTR_AXES)->integers[0];
    kc_interp_value **work = kc_interp_alloc(t->m, op, 3 * n, sizeof *work);
    kc_interp_value **totals = work, **before = work + n, **list = work + 2 * n;
    for (int c = 0; c < n; c++) {
        results[c] = copied(t, op, kc_interp_operand(t->m, op, c));
        totals[c] = kc_interp_operand(t->m, op, n + c);
        before[c] = initial(t, op, c, totals[c]->elem);
    }
    int64_t segments = totals[0]->shape[axis], segment = results[0]->shape[axis] / segments;
    for (int64_t s = 0; s < segments; s++) {
        for (int64_t i = s * segment; i < (s + 1) * segment; i++) {
            prepend(t, op, n, before, results, i, list);
            for (int c = 0; c < n; c++)
                put_list(t, op, results[c], list[c], i);
        }
        prepend(t, op, n, before, totals, s, list);
        for (int c = 0; c < n; c++) {
            kc_interp_drop(t->m, before[c]);
            before[c] = list[c];
        }
    }
    for (int c = 0; c < n; c++) {
        const kc_type *type = &kc_result(op, n + c)->type;
        results[n + c] = kc_interp_make(t->m, op, type->elem, type->rank, type->tile);
        put_list(t, op, results[n + c], before[c], 0);
    }
    kc_interp_free(t->m, work);
}
