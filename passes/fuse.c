// fuse: primitives are gathered into fusions, each of which becomes one kernel.
//
// before:
//   module @m
//   func @f(%x: f32[M, K], %w: f32[K, N], %b: f32[N]) -> (y: f32[M, N]) dims {M: 0..2147483647, K: 0..2147483647, N: 0..2147483647} {
//     %h = matmul %x, %w : f32[M, N]
//     %1 = broadcast %b : f32[M, N]
//     %y = add %h, %1 : f32[M, N]
//     return %y
//   }
// after:
//   module @m
//   func @f(%x: f32[M, K], %w: f32[K, N], %b: f32[N]) -> (y: f32[M, N]) dims {M: 0..2147483647, K: 0..2147483647, N: 0..2147483647} {
//     %y = fusion %x, %w, %b : f32[M, N] {
//     ^(%x: f32[M, K], %w: f32[K, N], %b: f32[N]):
//       %h = matmul %x, %w : f32[M, N]
//       %0 = broadcast %b : f32[M, N]
//       %y = add %h, %0 : f32[M, N]
//       yield %y
//     }
//     return %y
//   }
//
// A fusion has one iteration space, and is one of three kinds, which is what `tile` can emit:
//   map          any graph of elementwise and movement ops; all results have one shape
//   reduction    reductions and scans over the same axes of one space F, with a map before them, and
//                elementwise ops, broadcasts and reshapes by extents of 1 after them; results have
//                the shape of F or of its parallel axes
//   contraction  one matrix product, with cheap maps on its operands and elementwise ops after it;
//                where a tile of the product holds all that is reduced together, reductions and
//                what follows them, too (fuse_join.c)
// A result of the last two may be carried on by reshapes and transpositions that keep rows
// (fuse_carry.c).
//
// It works from the outputs upwards: a fusion takes in what it can and makes the rest results of
// other fusions ("cut"). Cheap work is repeated rather than stored. Requires primitives; leaves
// only fusions, schedules and the return. Without fusion (`kc build --fusion off`) all results are
// cut but those of ops without operands, which cost nothing.
#include "passes/fuser.h"
#include "passes/scopes.h"

#include <string.h>

// ---- questions about the graph ------------------------------------------------------------------

bool kc_fuse_is_heavy(const kc_op *op) {
    return kc_op_has_any(op, KC_REDUCTION | KC_CONTRACTION);
}

static bool listed(const kc_fuser *f, const kc_value *v) {
    for (int i = 0; i < f->n_cuts; i++)
        if (f->cuts[i] == v) return true;
    return false;
}

bool kc_fuse_is_cut(const kc_fuser *f, const kc_value *v) {
    return v != f->forming && listed(f, v);
}

static void cut(kc_fuser *f, kc_value *v) {
    if (v->def && !listed(f, v)) f->cuts[f->n_cuts++] = v;
}

// Ops that heavy work may lie above: they keep axes in place.
bool kc_fuse_is_soft(const kc_fuser *f, const kc_op *op) {
    int where[KC_MAX_RANK];
    if (kc_op_has(op, KC_ELEMENTWISE) || op->n_operands == 0 || op->code == KC_OP_BROADCAST)
        return true;
    return op->code == KC_OP_RESHAPE &&
           kc_movement_adds_ones(f->pool, &kc_operand(op, 0)->type, &kc_result(op, 0)->type, where);
}

// Whether some op above v, not past a cut, satisfies `is`.
static bool any_above(kc_fuser *f, kc_value *v, bool (*is)(const kc_op *), bool *seen) {
    if (!v->def || kc_fuse_is_cut(f, v) || seen[v->def->order]) return false;
    seen[v->def->order] = true;
    if (is(v->def)) return true;
    for (int i = 0; i < v->def->n_operands; i++)
        if (any_above(f, kc_operand(v->def, i), is, seen)) return true;
    return false;
}

static bool above(kc_fuser *f, kc_value *v, bool (*is)(const kc_op *)) {
    bool *seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
    return any_above(f, v, is, seen);
}

static bool costly(const kc_op *op) {
    return kc_fuse_is_heavy(op) || !kc_op_has_any(op, KC_CHEAP | KC_MOVEMENT);
}

bool kc_fuse_is_contraction(const kc_op *op) {
    return kc_op_has(op, KC_CONTRACTION);
}

// ---- what a fusion's heavy op must be -----------------------------------------------------------

bool kc_fuse_same_space(const kc_fuser *f, const kc_cluster *c, const kc_op *op) {
    const kc_type *space = &kc_operand(op, 0)->type;
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    if (!kc_type_same_shape(f->pool, space, c->space)) return false;
    int next = 0;
    for (int d = 0; d < space->rank; d++) {
        bool reduced = next < axes->count && axes->integers[next] == d;
        next += reduced;
        if (reduced != c->axis_reduced[d]) return false;
    }
    return true;
}

// map[d] is the axis that dimension d runs along. A reduction must be asked for exactly at the
// parallel axes, a scan at all axes, a contraction at the axes of the results in order.
bool kc_fuse_fits(const kc_fuser *f, const kc_cluster *c, const kc_op *op, const int *map) {
    const kc_type *type = &kc_result(op, 0)->type;
    if (!c->hero) return false;
    if (kc_fuse_is_contraction(op)) {
        if (op != c->hero && op != c->product) return false;
        for (int d = 0, last = NO_AXIS; d < type->rank; d++) {
            if (kc_expr_is_one(type->shape[d])) continue;
            if (map[d] <= last) return false;
            last = map[d];
        }
        return true;
    }
    if (kc_fuse_is_contraction(c->hero) || !kc_fuse_same_space(f, c, op)) return false;
    int d = 0;
    for (int a = 0; a < c->space->rank; a++) {
        if (c->axis_reduced[a] && !kc_op_has(op, KC_SCAN)) continue;
        bool at_zero = map[d] == NO_AXIS && kc_expr_is_one(c->space->shape[a]);
        if (map[d++] != a && !at_zero) return false;
    }
    return true;
}

static bool result_map(kc_fuser *f, const kc_cluster *c, const kc_type *type, int *map) {
    bool all = kc_type_same_shape(f->pool, type, c->space);
    for (int d = 0; all && d < type->rank; d++)
        map[d] = d;
    return all || kc_movement_kept_axes(f->pool, type, c->space, c->axis_reduced, map);
}

// ---- gathering ----------------------------------------------------------------------------------

void kc_fuse_add_input(kc_fuser *f, kc_cluster *c, kc_value *v) {
    for (int i = 0; i < c->n_inputs; i++)
        if (c->inputs[i] == v) return;
    kc_value **grown = KC_NEW_ARRAY(f->pass->scratch, kc_value *, c->n_inputs + 1);
    if (c->n_inputs) memcpy(grown, c->inputs, sizeof *grown * (size_t)c->n_inputs);
    grown[c->n_inputs++] = v;
    c->inputs = grown;
}

static void gather(kc_fuser *f, kc_cluster *c, kc_value *v, const int *map, bool pure);

static void gather_hard(kc_fuser *f, kc_cluster *c, kc_op *op) {
    for (int i = 0; i < op->n_operands; i++) {
        kc_value *x = kc_operand(op, i);
        if (above(f, x, kc_fuse_is_heavy) || kc_fuse_repeats_much(f, x)) cut(f, x);
        gather(f, c, x, NULL, true);
    }
}

static void gather_heavy(kc_fuser *f, kc_cluster *c, kc_op *op) {
    if (kc_fuse_is_contraction(op)) {
        for (int i = 0; i < op->n_operands; i++) {
            if (above(f, kc_operand(op, i), costly)) cut(f, kc_operand(op, i));
            gather(f, c, kc_operand(op, i), NULL, true);
        }
        return;
    }
    int all[KC_MAX_RANK];
    for (int d = 0; d < KC_MAX_RANK; d++)
        all[d] = d;
    for (int i = 0; i < op->n_operands; i++)
        gather(f, c, kc_operand(op, i), all, false);
}

static bool same_map(const kc_cluster *c, const kc_op *op, const int *map) {
    return memcmp(c->maps[op->order], map, sizeof(int) * (size_t)kc_result(op, 0)->type.rank) == 0;
}

// Takes in what computes v. `pure`: below a movement that changes axes, where nothing heavy may be.
static void gather(kc_fuser *f, kc_cluster *c, kc_value *v, const int *map, bool pure) {
    if (!v->def || kc_fuse_is_cut(f, v)) {
        kc_fuse_add_input(f, c, v);
        return;
    }
    kc_op *op = v->def;
    bool full = c->n_heavy == MOST_HEAVY && !c->ops[op->order];
    if (kc_fuse_is_heavy(op) && (pure || full || !kc_fuse_fits(f, c, op, map))) {
        cut(f, v);
        kc_fuse_add_input(f, c, v);
        return;
    }
    if (c->ops[op->order] && (pure || same_map(c, op, map))) return;
    c->n_heavy += kc_fuse_is_heavy(op) && !c->ops[op->order];
    c->ops[op->order] = true;
    if (map) memcpy(c->maps[op->order], map, sizeof(int) * (size_t)v->type.rank);
    int carried_from[KC_MAX_RANK];
    unsigned parts = 0;
    if (kc_fuse_is_heavy(op)) gather_heavy(f, c, op);
    else if (!pure && kc_fuse_carried_from(f, c, op, map, carried_from)) {
        c->forward[op->order] = true;
        gather(f, c, kc_operand(op, 0), carried_from, false);
    } else if (!kc_fuse_is_soft(f, op)) {
        bool cuts = c->product && !pure && kc_fuse_into_parts(f, op, map, carried_from, &parts);
        if (cuts) gather(f, c, kc_operand(op, 0), carried_from, false);
        else gather_hard(f, c, op);
    } else
        for (int i = 0; i < op->n_operands; i++) {
            int from[KC_MAX_RANK];
            if (!pure) kc_movement_operand_axes(f->pool, op, i, map, from);
            gather(f, c, kc_operand(op, i), from, pure);
        }
}

// ---- choosing the space -------------------------------------------------------------------------

static void set_hero(kc_cluster *c, kc_op *op, kc_value *result) {
    memset(c->axis_reduced, 0, sizeof c->axis_reduced);
    c->hero = op;
    c->space = &result->type;
    if (!op || kc_fuse_is_contraction(op)) return;
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    c->space = &kc_operand(op, 0)->type;
    for (int i = 0; i < axes->count; i++)
        c->axis_reduced[axes->integers[i]] = true;
}

// Whether a fusion of `op` can give the result; then it is the hero.
static bool suits(kc_fuser *f, kc_cluster *c, kc_op *op, kc_value *result) {
    int map[KC_MAX_RANK];
    set_hero(c, op, result);
    bool ok = kc_fuse_is_contraction(op)
                  ? kc_movement_adds_ones(f->pool, &kc_result(op, 0)->type, &result->type, map)
                  : result_map(f, c, &result->type, map);
    if (!ok) set_hero(c, NULL, result);
    return ok;
}

// Marks the ops above v that ops which keep axes in place lead to, heavy ones included.
static void reach(kc_fuser *f, kc_value *v, bool *seen) {
    if (!v->def || kc_fuse_is_cut(f, v) || seen[v->def->order]) return;
    seen[v->def->order] = true;
    if (kc_fuse_is_heavy(v->def) || !kc_fuse_is_soft(f, v->def)) return;
    for (int i = 0; i < v->def->n_operands; i++)
        reach(f, kc_operand(v->def, i), seen);
}

bool kc_fuse_find_hero(kc_fuser *f, kc_cluster *c, kc_value *result, int *axes) {
    bool *seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
    set_hero(c, NULL, result);
    reach(f, result, seen);
    for (kc_op *op = f->scope->body->last; op && !c->hero; op = op->previous)
        if (op->order < f->n_ops && seen[op->order] && kc_fuse_is_heavy(op))
            suits(f, c, op, result);
    result_map(f, c, &result->type, axes);
    return c->hero != NULL;
}

// Before a reduction's operand is taken in, a contraction inside it that the reductions do not join
// is cut off with the elementwise work that follows it: the operand of the innermost reduction is
// what gets stored.
static bool another_contraction_above(kc_fuser *f, const kc_cluster *c, kc_value *v) {
    bool *seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
    if (c->product) seen[c->product->order] = true;
    return any_above(f, v, kc_fuse_is_contraction, seen);
}

static bool used_elsewhere(const kc_value *v, const kc_op *op) {
    for (const kc_use *use = v->uses; use; use = use->next)
        if (use->user != op) return true;
    return false;
}

// Of a square that is summed and what is squared, which is wanted again, only this has to be
// stored.
static kc_value *before_squaring(kc_fuser *f, const kc_cluster *c, kc_value *v) {
    while (kc_op_has(v->def, KC_ELEMENTWISE)) {
        kc_value *only = NULL;
        for (int i = 0; i < v->def->n_operands; i++) {
            kc_value *x = kc_operand(v->def, i);
            if (x == only || !another_contraction_above(f, c, x)) continue;
            if (only) return v;
            only = x;
        }
        if (!only || !used_elsewhere(only, v->def)) return v;
        v = only;
    }
    return v;
}

static void cut_under_reductions(kc_fuser *f, kc_cluster *c) {
    KC_FOR_OPS(op, f->scope->body) {
        if (!kc_op_has(op, KC_REDUCTION) || !kc_fuse_same_space(f, c, op)) continue;
        for (int i = 0; i < op->n_operands; i++)
            if (another_contraction_above(f, c, kc_operand(op, i)))
                cut(f, before_squaring(f, c, kc_operand(op, i)));
    }
}

static void mark_above(kc_fuser *f, kc_value *v, bool *seen) {
    if (!v->def || kc_fuse_is_cut(f, v) || seen[v->def->order]) return;
    seen[v->def->order] = true;
    for (int i = 0; i < v->def->n_operands; i++)
        mark_above(f, kc_operand(v->def, i), seen);
}

// What is cut when v has to be: a broadcast is made again from less.
static kc_value *before_repeating(kc_value *v) {
    while (v->def && v->def->code == KC_OP_BROADCAST)
        v = kc_operand(v->def, 0);
    return v;
}

// A chain of many reductions is cut in time: what comes before the last few of them is stored where
// it is needed after.
static void cut_long_chains(kc_fuser *f, kc_value *result) {
    bool *seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
    int n = 0, from = 0;
    mark_above(f, result, seen);
    for (kc_op *op = f->scope->body->last; op && n < MOST_HEAVY + 1; op = op->previous)
        if (op->order < f->n_ops && op->code != KC_OP_FUSION && seen[op->order] &&
            kc_fuse_is_heavy(op)) {
            if (++n == MOST_HEAVY) from = op->order;
        }
    if (n <= MOST_HEAVY) return;
    KC_FOR_OPS(op, f->scope->body) {
        if (op->order >= from || op->code == KC_OP_FUSION || !seen[op->order]) continue;
        for (int i = 0; i < op->n_results; i++)
            for (kc_use *use = kc_result(op, i)->uses; use; use = use->next) {
                kc_value *v = before_repeating(kc_result(op, i));
                int user = use->user->order;
                bool after = user >= from && user < f->n_ops && seen[user];
                if (after && above(f, v, kc_fuse_is_heavy)) cut(f, v);
            }
    }
}

// A value that was taken in along some axes and then asked for along others is cut after all. What
// is formed, and the other results of its op, are taken in rightly.
static bool took_in_a_cut(const kc_fuser *f, const kc_cluster *c) {
    for (int i = 0; i < f->n_cuts; i++)
        if (f->cuts[i]->def != f->forming->def && c->ops[f->cuts[i]->def->order]) return true;
    return false;
}

static void form(kc_fuser *f, kc_cluster *c, kc_value *result) {
    f->forming = result;
    do {
        int map[KC_MAX_RANK];
        *c = (kc_cluster){.results = {result}, .n_results = 1};
        c->ops = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
        c->forward = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
        c->maps = kc_arena_alloc(f->pass->scratch, sizeof *c->maps * (size_t)(f->n_ops + 1));
        if (!kc_fuse_find_hero(f, c, result, map) && !kc_fuse_find_carried(f, c, result, map))
            kc_fuse_find_hero(f, c, result, map);
        if (c->hero && !kc_fuse_is_contraction(c->hero)) {
            cut_long_chains(f, result);
            c->product = kc_fuse_find_product(f, c, result, map);
            cut_under_reductions(f, c);
        }
        gather(f, c, result, map, false);
    } while (took_in_a_cut(f, c));
    if (c->hero && !c->ops[c->hero->order]) { // it was asked for along other axes
        set_hero(c, NULL, result);
        c->carried = NULL;
    }
    if (c->product && !c->ops[c->product->order]) c->product = NULL;
    f->forming = NULL;
}

// ---- results that come out of a fusion that exists ----------------------------------------------

static bool may_yield(kc_fuser *f, const kc_cluster *c, const kc_value *v) {
    int map[KC_MAX_RANK];
    if (c->n_results == MAX_RESULTS) return false;
    if (c->carried) return result_map(f, c, &v->type, map) && same_map(c, v->def, map);
    if (c->hero && !kc_fuse_is_contraction(c->hero)) return result_map(f, c, &v->type, map);
    return kc_type_same_shape(f->pool, &v->type, &c->results[0]->type);
}

static bool is_ancestor(const kc_value *old, const kc_value *young, bool *seen) {
    if (old == young) return true;
    if (!young->def || seen[young->def->order]) return false;
    seen[young->def->order] = true;
    for (int i = 0; i < young->def->n_operands; i++)
        if (is_ancestor(old, kc_operand(young->def, i), seen)) return true;
    return false;
}

bool kc_fuse_has_result(const kc_cluster *c, const kc_value *v) {
    for (int i = 0; i < c->n_results; i++)
        if (c->results[i] == v) return true;
    return false;
}

// Whether an input of c is computed from v.
static bool needs(kc_fuser *f, const kc_cluster *c, const kc_value *v) {
    bool *seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1);
    for (int i = 0; i < c->n_inputs; i++)
        if (c->inputs[i]->def && is_ancestor(v, c->inputs[i], seen)) return true;
    return false;
}

static void want(kc_fuser *f, kc_value *v) {
    for (int i = 0; i < f->n_clusters; i++)
        if (kc_fuse_has_result(&f->clusters[i], v)) return;
    for (int i = 0; i < f->n_clusters; i++) {
        kc_cluster *c = &f->clusters[i];
        if (v->def && c->ops[v->def->order] && may_yield(f, c, v) && !needs(f, c, v)) {
            c->results[c->n_results++] = v;
            return;
        }
    }
    form(f, &f->clusters[f->n_clusters++], v);
}

// ---- building -----------------------------------------------------------------------------------

static void build(kc_fuser *f, kc_cluster *c, kc_op *ret);

static kc_cluster *producer(kc_fuser *f, const kc_value *v, int *result) {
    for (int i = 0; i < f->n_clusters; i++)
        for (int k = 0; k < f->clusters[i].n_results; k++)
            if (f->clusters[i].results[k] == v) {
                *result = k;
                return &f->clusters[i];
            }
    kc_bug("fuse lost the value %s", v->name ? v->name : "(unnamed)");
}

static kc_value *built_value(kc_fuser *f, kc_value *v, kc_op *ret) {
    if (!v->def) return v;
    int result;
    kc_cluster *c = producer(f, v, &result);
    build(f, c, ret);
    return kc_result(c->built, result);
}

static void build_body(kc_fuser *f, kc_cluster *c) {
    kc_module *module = f->pass->module;
    kc_block *body = kc_op_add_body(module, c->built);
    kc_builder inner = kc_builder_at_end(module, body, c->built->loc);
    kc_clone *clone = kc_clone_begin(module, f->pool, f->pool);
    for (int i = 0; i < c->n_inputs; i++)
        kc_clone_map(clone, c->inputs[i],
                     kc_block_add_arg(module, body, c->inputs[i]->type, c->inputs[i]->name));
    KC_FOR_OPS(op, f->scope->body)
        if (op->code != KC_OP_FUSION && op->order < f->n_ops && c->ops[op->order]) {
            kc_op *copy = kc_clone_op(clone, &inner, op);
            if (c->carried && c->forward[op->order]) kc_attr_set_int(copy, KC_ATTR_FORWARD, 1);
        }
    kc_value *results[MAX_RESULTS];
    for (int i = 0; i < c->n_results; i++)
        results[i] = kc_clone_value(clone, c->results[i]);
    kc_build(&inner, KC_OP_YIELD, c->n_results, results, 0, NULL);
    kc_clone_end(clone);
}

static void build(kc_fuser *f, kc_cluster *c, kc_op *ret) {
    if (c->built) return;
    if (c->building) kc_bug("fusions need each other's results");
    c->building = true;
    kc_value **inputs = KC_NEW_ARRAY(f->pass->scratch, kc_value *, c->n_inputs + 1);
    for (int i = 0; i < c->n_inputs; i++)
        inputs[i] = built_value(f, c->inputs[i], ret);
    kc_type types[MAX_RESULTS];
    for (int i = 0; i < c->n_results; i++)
        types[i] = kc_type_tensor(c->results[i]->type.elem, c->results[i]->type.rank,
                                  c->results[i]->type.shape);
    kc_builder b = kc_builder_before(f->pass->module, ret);
    if (c->results[0]->def) b.loc = c->results[0]->def->loc;
    c->built = kc_build(&b, KC_OP_FUSION, c->n_inputs, inputs, c->n_results, types);
    for (int i = 0; i < c->n_results; i++)
        kc_result(c->built, i)->name = c->results[i]->name;
    build_body(f, c);
}

static void return_built(kc_fuser *f, kc_op *ret, int i) {
    int result;
    kc_cluster *c = producer(f, kc_operand(ret, i), &result);
    build(f, c, ret);
    kc_op_set_operand(ret, i, kc_result(c->built, result));
}

static void erase_originals(kc_fuser *f) {
    for (kc_op *op = f->scope->body->last, *before; op; op = before) {
        before = op->previous;
        bool keep =
            op->code == KC_OP_FUSION || op->code == KC_OP_SCHEDULE || kc_op_has(op, KC_TERMINATOR);
        if (!keep) kc_op_erase(op);
    }
}

static void cut_everywhere(kc_fuser *f) {
    KC_FOR_OPS(op, f->scope->body)
        for (int i = 0; op->n_operands > 0 && i < op->n_results; i++)
            if (kc_result(op, i)->uses) cut(f, kc_result(op, i));
}

// Who uses the new contents of an inout reads them where they are written: computed again, they
// would need the old ones, and these are gone then.
static void cut_inouts(kc_fuser *f, const kc_op *ret) {
    for (int i = 0; i < kc_func_inouts(f->func); i++) {
        kc_value *v = kc_operand(ret, i);
        if (v->uses && v->uses->next) cut(f, v);
    }
}

static void form_clusters(kc_fuser *f, kc_op *ret) {
    f->n_clusters = f->n_cuts = 0;
    f->next_carried = FIRST_CARRIED;
    if (f->pass->no_fusion) cut_everywhere(f);
    cut_inouts(f, ret);
    // Later outputs first: an earlier one may come out of the same fusion on the way.
    for (int done = 0; done < f->n_ops; done++)
        for (int i = 0; i < ret->n_operands; i++)
            if (kc_operand(ret, i)->def && kc_operand(ret, i)->def->order == f->n_ops - 1 - done)
                want(f, kc_operand(ret, i));
    for (int i = 0; i < ret->n_operands; i++)
        if (!kc_operand(ret, i)->def) form(f, &f->clusters[f->n_clusters++], kc_operand(ret, i));
    for (int i = 0; i < f->n_cuts; i++)
        want(f, f->cuts[i]);
    if (!f->pass->no_fusion) kc_fuse_merge(f);
}

static bool fuse_scope(kc_pass_context *pass, kc_op *scope) {
    kc_block_renumber(scope->body);
    kc_fuser f = {.pass = pass,
                  .scope = scope,
                  .func = kc_scope_func(scope),
                  .pool = kc_op_pool(scope),
                  .n_ops = scope->body->last->order + 1};
    int most = 2 * f.n_ops + scope->body->last->n_operands + 1;
    f.apart = KC_NEW_ARRAY(pass->scratch, bool, f.n_ops + 1);
    f.clusters = KC_NEW_ARRAY(pass->scratch, kc_cluster, most);
    f.cuts = KC_NEW_ARRAY(pass->scratch, kc_value *, most);
    kc_op *ret = scope->body->last;
    do
        form_clusters(&f, ret);
    while (kc_fuse_repeats_product(&f));
    // Inouts last: where nothing needs their new contents, the old ones are read before they go.
    int inouts = kc_func_inouts(f.func);
    for (int i = inouts; i < ret->n_operands; i++)
        return_built(&f, ret, i);
    for (int i = 0; i < inouts; i++)
        return_built(&f, ret, i);
    erase_originals(&f);
    return true;
}

static bool run(kc_pass_context *pass) {
    return kc_scopes(pass, fuse_scope);
}

const kc_pass kc_pass_fuse = {
    .name = "fuse",
    .meaning = "primitives gather into fusions, one a kernel",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TENSOR,
    .run = run,
};
