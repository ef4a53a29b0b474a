// What changes of a tensor that is updated in place. An element that keeps its old value is neither
// loaded nor stored: a `select`, a concatenation or padding with the old contents at the very place
// that is written becomes a mask of the store. So putting a row into a cache moves a row.
#include "passes/tiler.h"

enum {
    MOST_LEVELS = 12
}; // of selects that are looked through: two operands each may have a select above them

typedef struct {
    kc_tiler *t;
    const kc_value *old;
    const kc_coord *at; // where the result is written
} keeper;

// Whether a value of `narrow` is the same after a cast to `wide` and back.
static bool holds(kc_dtype wide, kc_dtype narrow) {
    const kc_dtype_info *w = &kc_dtype_table[wide], *n = &kc_dtype_table[narrow];
    if (wide == narrow) return true;
    if (w->class == KC_CLASS_FLOAT)
        return n->class == KC_CLASS_FLOAT && w->bits >= 32 && w->bits > n->bits;
    return w->class == n->class && w->class == KC_CLASS_INT && w->bits > n->bits;
}

static bool shifts(const kc_op *op) {
    if (op->code == KC_OP_CONCAT || op->code == KC_OP_PAD) return true;
    const kc_attr *steps = op->code == KC_OP_SLICE ? kc_attr_get(op, KC_ATTR_STEPS) : NULL;
    bool ones = steps != NULL;
    for (int d = 0; steps && d < steps->count; d++)
        ones = ones && steps->integers[d] == 1;
    return ones;
}

// Whether the value may be the old content somewhere, as far as one can tell without coordinates.
static bool may_keep(const keeper *k, const kc_value *v, int levels) {
    if (v == k->old) return true;
    const kc_op *op = v->def;
    if (!op || levels == 0) return false;
    if (op->code == KC_OP_CAST)
        return holds(v->type.elem, k->old->type.elem) && may_keep(k, kc_operand(op, 0), levels);
    if (op->code != KC_OP_SELECT && !shifts(op)) return false;
    for (int i = op->code == KC_OP_SELECT; i < op->n_operands; i++)
        if (may_keep(k, kc_operand(op, i), levels - 1)) return true;
    return false;
}

static kc_value *negation(keeper *k, kc_value *flags) {
    return kc_build_unary(&k->t->build, KC_OP_NOT, flags);
}

static kc_value *either(keeper *k, kc_value *a, kc_value *b) {
    return kc_build_binary(&k->t->build, KC_OP_OR, a, b);
}

// a where the condition holds, else b.
static kc_change choose(keeper *k, kc_value *condition, kc_change a, kc_change b) {
    if (a.none && b.none) return a;
    if (b.none) return (kc_change){a.value, kc_tiler_both(k->t, condition, a.mask), false};
    kc_value *otherwise = a.none || a.mask ? negation(k, condition) : NULL;
    if (a.none) return (kc_change){b.value, kc_tiler_both(k->t, otherwise, b.mask), false};
    kc_change result = {.mask = NULL};
    result.value = kc_build_elementwise(&k->t->build, KC_OP_SELECT, 3,
                                        (kc_value *[]){condition, a.value, b.value});
    if (!a.mask && !b.mask) return result;
    if (!a.mask) result.mask = either(k, condition, b.mask);
    else if (!b.mask) result.mask = either(k, otherwise, a.mask);
    else
        result.mask = either(k, kc_tiler_both(k->t, condition, a.mask),
                             kc_tiler_both(k->t, otherwise, b.mask));
    return result;
}

static kc_change change(keeper *k, kc_value *v, const kc_coord *c, kc_value *predicate, int levels);

// The old content at the place that is written.
static bool is_kept(const keeper *k, const kc_value *v, const kc_coord *c) {
    while (v != k->old && v->def && v->def->code == KC_OP_CAST &&
           holds(v->type.elem, k->old->type.elem))
        v = kc_operand(v->def, 0);
    return v == k->old && kc_tiler_same_coords(c, k->at, v->type.rank);
}

// What is chosen is loaded only where it is chosen. Where rows are reduced or multiplied their
// operands are loaded for all elements together, so there it is not.
static kc_change change_select(keeper *k, kc_op *op, const kc_coord *c, kc_value *predicate,
                               int levels) {
    kc_value *condition = kc_tiler_emit(k->t, kc_operand(op, 0), c, predicate),
             *x = kc_operand(op, 1), *y = kc_operand(op, 2);
    bool light = !k->t->reduction && !k->t->contraction;
    kc_value *at_x =
        light && !is_kept(k, x, c) ? kc_tiler_both(k->t, predicate, condition) : predicate;
    kc_value *at_y = light && !is_kept(k, y, c)
                         ? kc_tiler_both(k->t, predicate, negation(k, condition))
                         : predicate;
    kc_change a = change(k, x, c, at_x, levels - 1), b = change(k, y, c, at_y, levels - 1);
    return choose(k, condition, a, b);
}

static kc_value *fill_of(keeper *k, const kc_op *pad) {
    kc_dtype elem = kc_result(pad, 0)->type.elem;
    double fill = kc_attr_float(pad, KC_ATTR_VALUE, 0);
    if (!kc_dtype_is_float(elem)) return kc_tiler_int(k->t, elem, (int64_t)fill);
    return kc_build_const(&k->t->build, kc_type_scalar(elem), fill);
}

static kc_change change_shifted(keeper *k, kc_op *op, const kc_coord *c, kc_value *predicate,
                                int levels) {
    kc_change result = {.none = true};
    for (int i = 0; i < op->n_operands; i++) {
        kc_coord from[KC_MAX_RANK];
        kc_value *within = kc_tiler_shift(k->t, op, i, c, from);
        kc_change part =
            change(k, kc_operand(op, i), from, kc_tiler_both(k->t, predicate, within), levels - 1);
        if (op->code == KC_OP_PAD && within)
            return choose(k, within, part, (kc_change){.value = fill_of(k, op)});
        result = i > 0 && within ? choose(k, within, part, result) : part;
    }
    return result;
}

static kc_change change(keeper *k, kc_value *v, const kc_coord *c, kc_value *predicate,
                        int levels) {
    kc_op *op = v->def;
    if (is_kept(k, v, c)) return (kc_change){.none = true};
    if (v == k->old || !may_keep(k, v, levels))
        return (kc_change){.value = kc_tiler_emit(k->t, v, c, predicate)};
    if (op->code == KC_OP_SELECT) return change_select(k, op, c, predicate, levels);
    if (op->code != KC_OP_CAST) return change_shifted(k, op, c, predicate, levels);
    kc_change result = change(k, kc_operand(op, 0), c, predicate, levels);
    if (!result.none) result.value = kc_build_cast(&k->t->build, result.value, v->type.elem);
    return result;
}

kc_change kc_tiler_change(kc_tiler *t, kc_value *v, const kc_value *old, const kc_coord *c) {
    keeper k = {t, old, c};
    return old ? change(&k, v, c, NULL, MOST_LEVELS)
               : (kc_change){.value = kc_tiler_emit(t, v, c, NULL)};
}
