// Reductions: an axis that fits one tile is reduced where it stands; a longer one is opened by a
// loop over chunks with running values, and reduced once after it. Reductions that do not need each
// other share a loop.
#include "passes/tiler.h"

#include <string.h>

unsigned kc_tiler_axes(const kc_tiler *t, bool reduced) {
    unsigned axes = 0;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced == reduced) axes |= 1u << a;
    return axes;
}

unsigned kc_tiler_folded(const kc_tiler *t) {
    unsigned axes = 0;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].folded) axes |= 1u << a;
    return axes;
}

// The reduction's operand coordinates: those of its result, with the opened axes put in.
static void operand_coords(kc_tiler *t, kc_op *op, const kc_coord *c, kc_coord *from) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int next_axis = 0, next_kept = 0, opened = 0;
    for (int d = 0; d < kc_operand(op, 0)->type.rank; d++) {
        if (next_axis < axes->count && axes->integers[next_axis] == d) {
            while (!t->axes[opened].folded)
                opened++;
            from[d] = kc_tiler_axis_coord(t, opened++);
            next_axis++;
        } else {
            from[d] = c[next_kept++];
        }
    }
}

kc_value *kc_tiler_identity(kc_tiler *t, const kc_op *op, int i, kc_type type) {
    double value = kc_attr_get(op, KC_ATTR_INIT)->numbers[i];
    if (kc_dtype_is_float(type.elem)) return kc_build_const(&t->build, type, value);
    return kc_build_const_int(&t->build, type, kc_dtype_saturate(type.elem, value));
}

// The operands as full tiles over the reduced axes, with the identity where an axis has ended.
static void emit_operands(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value **values) {
    kc_coord from[KC_MAX_RANK];
    operand_coords(t, op, c, from);
    unsigned axes = kc_tiler_folded(t);
    kc_value *mask = kc_tiler_mask(t, axes, NULL);
    for (int i = 0; i < op->n_operands; i++) {
        kc_value *v = kc_tiler_widen(t, kc_tiler_emit(t, kc_operand(op, i), from, NULL), axes);
        if (mask) {
            kc_value *none = kc_tiler_identity(t, op, i, kc_type_scalar(v->type.elem));
            v = kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){mask, v, none});
        }
        values[i] = v;
    }
}

// All components vary along the same axes before they are combined.
static void widen_alike(kc_tiler *t, int n, kc_value **values) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int a = 0; a < t->n_axes; a++)
                if (t->axes[a].slot >= 0 && values[k]->type.tile[t->axes[a].slot] > 1)
                    values[i] = kc_tiler_widen(t, values[i], 1u << a);
}

void kc_tiler_build_combiner(kc_tiler *t, kc_op *op, const kc_op *source) {
    kc_module *module = t->pass->module;
    int n = source->n_operands;
    const kc_attr *init = kc_attr_get(source, KC_ATTR_INIT);
    kc_attr_set_floats(module, op, KC_ATTR_INIT, init->count, init->numbers);
    kc_block *body = kc_op_add_body(module, op);
    kc_value *args[2 * KC_MAX_RANK], *results[KC_MAX_RANK];
    for (int i = 0; i < 2 * n; i++)
        args[i] = kc_block_add_arg(module, body, kc_type_scalar(kc_operand(op, i % n)->type.elem),
                                   source->body->args[i]->name);
    kc_builder outer = t->build;
    kc_tiler_scope scope = kc_tiler_enter(t);
    t->n_scalars = 0; // the region sees nothing outside it
    t->build = kc_builder_at_end(module, body, source->loc);
    kc_tiler_inline(t, source->body, args, results);
    kc_build(&t->build, KC_OP_YIELD, n, results, 0, NULL);
    t->build = outer;
    kc_tiler_leave(t, scope);
}

static void build_reduce(kc_tiler *t, kc_op *source, kc_value **values) {
    int n = source->n_operands;
    int64_t slots[KC_MAX_RANK];
    int n_slots = 0;
    kc_type types[KC_MAX_RANK];
    widen_alike(t, n, values);
    for (int i = 0; i < n; i++)
        types[i] = values[i]->type;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].folded && t->axes[a].slot >= 0) slots[n_slots++] = t->axes[a].slot;
    for (int i = 0; i < n; i++)
        for (int s = 0; s < n_slots; s++)
            types[i].tile[slots[s]] = 1;
    if (n_slots == 0) return; // extents of 1: what was emitted is the result
    kc_op *op = kc_build(&t->build, KC_OP_REDUCE, n, values, n, types);
    kc_attr_set_ints(t->pass->module, op, KC_ATTR_AXES, n_slots, slots);
    kc_tiler_build_combiner(t, op, source);
    for (int i = 0; i < n; i++) {
        values[i] = kc_result(op, i);
        values[i]->name = kc_result(source, i)->name;
    }
}

static void remember_results(kc_tiler *t, kc_op *op, const kc_coord *c, kc_value **values) {
    for (int i = 0; i < op->n_results; i++)
        kc_tiler_remember(t, kc_result(op, i), c, NULL, values[i]);
}

// ---- loops --------------------------------------------------------------------------------------

kc_value *kc_tiler_begin_loop(kc_tiler *t, const kc_expr *steps, int n, kc_value *const *init,
                              kc_op **loop) {
    kc_value *lower = kc_tiler_int(t, KC_i64, 0);
    return kc_tiler_begin_range(t, lower, kc_tiler_sym(t, steps), n, init, loop);
}

kc_value *kc_tiler_begin_range(kc_tiler *t, kc_value *lower, kc_value *upper, int n,
                               kc_value *const *init, kc_op **loop) {
    kc_module *module = t->pass->module;
    kc_value **operands = KC_NEW_ARRAY(t->pass->scratch, kc_value *, 2 + n);
    kc_type *types = KC_NEW_ARRAY(t->pass->scratch, kc_type, n + 1);
    operands[0] = lower, operands[1] = upper;
    for (int i = 0; i < n; i++)
        operands[2 + i] = init[i], types[i] = init[i]->type;
    kc_op *op = kc_build(&t->build, KC_OP_FOR, 2 + n, operands, n, types);
    kc_attr_set_int(op, KC_ATTR_STEP, 1);
    kc_block *body = kc_op_add_body(module, op);
    kc_value *counter = kc_block_add_arg(module, body, kc_type_scalar(KC_i64), "step");
    for (int i = 0; i < n; i++)
        kc_block_add_arg(module, body, types[i], init[i]->name);
    t->build.block = body, t->build.before = NULL;
    *loop = op;
    return counter;
}

void kc_tiler_end_loop(kc_tiler *t, kc_op *loop, int n, kc_value *const *next) {
    kc_build(&t->build, KC_OP_YIELD, n, next, 0, NULL);
    t->build.block = loop->block, t->build.before = NULL;
}

// Scans are emitted where they are asked for, as maps are.
static bool is_reduction(const kc_op *op) {
    return kc_op_has(op, KC_REDUCTION) && !kc_op_has(op, KC_SCAN);
}

// The level of a reduction is one more than that of the reductions it depends on. By op order of
// the source block.
static void find_levels(kc_tiler *t) {
    kc_block_renumber(t->source);
    t->levels = KC_NEW_ARRAY(t->pass->scratch, int, t->source->last->order + 1);
    KC_FOR_OPS(op, t->source) {
        for (int i = 0; i < op->n_operands; i++) {
            const kc_op *above = kc_operand(op, i)->def;
            if (above && t->levels[above->order] > t->levels[op->order])
                t->levels[op->order] = t->levels[above->order];
        }
        t->levels[op->order] += is_reduction(op);
    }
}

static void parallel_coords(kc_tiler *t, kc_op *op, kc_coord *c) {
    int n = 0;
    for (int a = 0; a < t->n_axes; a++)
        if (!t->axes[a].reduced && !t->axes[a].folded) c[n++] = kc_tiler_axis_coord(t, a);
    if (n != kc_result(op, 0)->type.rank)
        kc_bug("a reduction's result does not have the kernel's parallel axes");
}

typedef struct {
    kc_op *ops[KC_MAX_RANK];
    int n_ops;
    kc_value *running[2 * KC_MAX_RANK]; // all components of all ops
    int n_running;
} kc_reduction_group;

static kc_reduction_group group_of_level(kc_tiler *t, int level) {
    kc_reduction_group g = {.n_ops = 0};
    KC_FOR_OPS(op, t->source)
        if (is_reduction(op) && t->levels[op->order] == level && g.n_ops < KC_MAX_RANK &&
            g.n_running + op->n_operands <= 2 * KC_MAX_RANK) {
            g.ops[g.n_ops++] = op;
            g.n_running += op->n_operands;
        }
    return g;
}

// The types of the running values are only known once the operands were emitted; a trial emission
// at the end of a detached block tells, and is dropped.
static void running_types(kc_tiler *t, const kc_reduction_group *g, kc_type *types) {
    kc_builder outer = t->build;
    kc_tiler_scope scope = kc_tiler_enter(t);
    kc_block *trial = KC_NEW(t->pass->scratch, kc_block);
    trial->parent = t->kernel;
    t->build.block = trial, t->build.before = NULL;
    t->trial = true;
    int n = 0;
    for (int k = 0; k < g->n_ops; k++) {
        kc_coord c[KC_MAX_RANK];
        kc_value *values[KC_MAX_RANK];
        parallel_coords(t, g->ops[k], c);
        emit_operands(t, g->ops[k], c, values);
        widen_alike(t, g->ops[k]->n_operands, values);
        for (int i = 0; i < g->ops[k]->n_operands; i++)
            types[n++] = values[i]->type;
    }
    while (trial->last) {
        kc_op *last = trial->last;
        kc_op_erase(last);
    }
    t->trial = false;
    t->build = outer;
    kc_tiler_leave(t, scope);
}

static void loop_over(kc_tiler *t, kc_reduction_group *g) {
    kc_type types[2 * KC_MAX_RANK];
    kc_value *init[2 * KC_MAX_RANK] = {NULL}, *next[2 * KC_MAX_RANK];
    kc_tiler_open_axes(t, kc_tiler_int(t, KC_i64, 0), true); // so that a trial has coordinates
    running_types(t, g, types);
    for (int k = 0, n = 0; k < g->n_ops; k++)
        for (int i = 0; i < g->ops[k]->n_operands; i++, n++) {
            init[n] = kc_tiler_identity(t, g->ops[k], i, types[n]);
            init[n]->name = kc_result(g->ops[k], i)->name;
        }
    kc_chunks chunks = {.n_roots = 0};
    for (int k = 0; k < g->n_ops; k++)
        for (int i = 0; i < g->ops[k]->n_operands; i++)
            chunks.roots[chunks.n_roots++] = kc_operand(g->ops[k], i);
    kc_tiler_begin_chunks(t, &chunks, g->n_running, init);
    for (int k = 0, n = 0; k < g->n_ops; k++) {
        kc_op *op = g->ops[k];
        kc_coord c[KC_MAX_RANK];
        kc_value *args[2 * KC_MAX_RANK];
        parallel_coords(t, op, c);
        emit_operands(t, op, c, args + op->n_operands);
        for (int i = 0; i < op->n_operands; i++)
            args[i] = chunks.loop->body->args[1 + n + i];
        kc_tiler_inline(t, op->body, args, next + n);
        n += op->n_operands;
    }
    kc_tiler_end_chunks(t, &chunks, g->n_running, next);
    for (int i = 0; i < g->n_running; i++)
        g->running[i] = kc_result(chunks.loop, i);
}

static void emit_level(kc_tiler *t, int level) {
    kc_reduction_group g = group_of_level(t, level);
    if (!t->rows_whole) loop_over(t, &g);
    for (int k = 0, n = 0; k < g.n_ops; n += g.ops[k++]->n_operands) {
        kc_coord c[KC_MAX_RANK];
        kc_value *values[KC_MAX_RANK];
        parallel_coords(t, g.ops[k], c);
        if (t->rows_whole) emit_operands(t, g.ops[k], c, values);
        else memcpy(values, g.running + n, sizeof *values * (size_t)g.ops[k]->n_operands);
        build_reduce(t, g.ops[k], values);
        remember_results(t, g.ops[k], c, values);
    }
}

// In order of dependence, before anything else is emitted: later requests find the results.
void kc_tiler_emit_reductions(kc_tiler *t) {
    int levels = 0;
    find_levels(t);
    KC_FOR_OPS(op, t->source)
        if (t->levels[op->order] > levels) levels = t->levels[op->order];
    for (int level = 1; level <= levels; level++)
        emit_level(t, level);
}

kc_value *kc_tiler_emit_reduce(kc_tiler *t, kc_op *op, int result, const kc_coord *c) {
    kc_value *known = kc_tiler_find(t, kc_result(op, result), c, NULL);
    if (!known) kc_bug("a reduction is used at coordinates other than the kernel's parallel ones");
    return known;
}
