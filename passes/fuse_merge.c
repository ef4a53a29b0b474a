// Fusions that become one when all of them are formed: they compute from the same, along the same
// axes, and neither waits for the other. A kernel then reads once what both need.
#include "passes/fuser.h"

// Whether b waits for a result of a, perhaps through other fusions. For when all of them are
// formed.
static bool waits_for(kc_fuser *f, const kc_cluster *b, const kc_cluster *a, bool *seen) {
    if (a == b) return true;
    if (seen[b - f->clusters]) return false;
    seen[b - f->clusters] = true;
    for (int i = 0; i < b->n_inputs; i++)
        for (int k = 0; k < f->n_clusters; k++)
            if (b->inputs[i]->def && kc_fuse_has_result(&f->clusters[k], b->inputs[i]) &&
                waits_for(f, &f->clusters[k], a, seen))
                return true;
    return false;
}

static bool independent(kc_fuser *f, const kc_cluster *a, const kc_cluster *b) {
    return !waits_for(f, a, b, KC_NEW_ARRAY(f->pass->scratch, bool, f->n_clusters)) &&
           !waits_for(f, b, a, KC_NEW_ARRAY(f->pass->scratch, bool, f->n_clusters));
}

static bool share(kc_fuser *f, const kc_cluster *a, const kc_cluster *b) {
    for (int i = 0; i < f->n_ops; i++)
        if (a->ops[i] && b->ops[i]) return true;
    for (int i = 0; i < a->n_inputs; i++)
        for (int k = 0; k < b->n_inputs; k++)
            if (a->inputs[i] == b->inputs[k] && a->inputs[i]->type.rank > 0) return true;
    return false;
}

// A value that one takes in and the other is given: merged, it would be computed along the wrong
// axes.
static bool disagree(const kc_cluster *a, const kc_cluster *b) {
    for (int i = 0; i < b->n_inputs; i++)
        if (b->inputs[i]->def && a->ops[b->inputs[i]->def->order]) return true;
    return false;
}

static int heavy_in_both(const kc_fuser *f, const kc_cluster *a, const kc_cluster *b) {
    int n = 0;
    KC_FOR_OPS(op, f->scope->body)
        if (op->code != KC_OP_FUSION && op->order < f->n_ops && kc_fuse_is_heavy(op))
            n += a->ops[op->order] || b->ops[op->order];
    return n;
}

static bool updates_in_place(const kc_fuser *f) {
    const kc_output *outputs;
    int n = kc_func_outputs(f->func, &outputs);
    for (int i = 0; i < n; i++)
        if (outputs[i].alias) return true;
    return false;
}

// A map of the elements that a reduction reads comes out of its loop: a sum of two tensors that is
// normalised and wanted itself. An update in place stays by itself: who reads the old content may
// come first.
static bool is_map_of_rows(kc_fuser *f, const kc_cluster *map, const kc_cluster *rows) {
    if (updates_in_place(f) || map->hero || !rows->hero || kc_fuse_is_contraction(rows->hero) ||
        rows->product)
        return false;
    if (!kc_type_same_shape(f->pool, &map->results[0]->type, rows->space)) return false;
    for (int i = 0; i < map->n_inputs; i++)
        for (int k = 0; k < rows->n_inputs; k++)
            if (map->inputs[i] == rows->inputs[k] &&
                kc_type_same_shape(f->pool, &map->inputs[i]->type, rows->space))
                return !disagree(map, rows) && !disagree(rows, map) && independent(f, map, rows);
    return false;
}

// What is made of a product elsewhere comes out of the kernel whose reductions joined it.
static bool is_map_of_product(kc_fuser *f, const kc_cluster *map, const kc_cluster *rows) {
    return rows->product && map->hero == rows->product &&
           kc_type_same_shape(f->pool, &map->results[0]->type, rows->space) &&
           !disagree(map, rows) && !disagree(rows, map) && independent(f, map, rows);
}

static bool may_merge(kc_fuser *f, const kc_cluster *a, const kc_cluster *b) {
    if (a->n_results + b->n_results > MAX_RESULTS || a->carried || b->carried) return false;
    if (heavy_in_both(f, a, b) > MOST_HEAVY) return false;
    if (is_map_of_rows(f, a, b) || is_map_of_rows(f, b, a)) return true;
    if (is_map_of_product(f, a, b) || is_map_of_product(f, b, a)) return true;
    if (a->product != b->product) return false;
    if (!a->hero != !b->hero ||
        (a->hero && kc_fuse_is_contraction(a->hero) != kc_fuse_is_contraction(b->hero)))
        return false;
    if (a->hero && kc_fuse_is_contraction(a->hero) && a->hero != b->hero) return false;
    if (a->hero && !kc_fuse_is_contraction(a->hero) && !kc_fuse_same_space(f, a, b->hero))
        return false;
    if ((!a->hero || kc_fuse_is_contraction(a->hero)) &&
        !kc_type_same_shape(f->pool, &a->results[0]->type, &b->results[0]->type))
        return false;
    return share(f, a, b) && !disagree(a, b) && !disagree(b, a) && independent(f, a, b);
}

static void merge(kc_fuser *f, kc_cluster *a, kc_cluster *b) {
    if ((!a->hero && b->hero) || a->hero == b->product) { // a map into a reduction
        kc_cluster map = *a;
        *a = *b, *b = map;
    }
    for (int i = 0; i < b->n_results; i++)
        a->results[a->n_results++] = b->results[i];
    for (int i = 0; i < f->n_ops; i++)
        a->ops[i] = a->ops[i] || b->ops[i];
    for (int i = 0; i < b->n_inputs; i++)
        kc_fuse_add_input(f, a, b->inputs[i]);
    *b = f->clusters[--f->n_clusters];
}

void kc_fuse_merge(kc_fuser *f) {
    for (int i = 0; i < f->n_clusters; i++)
        for (int k = i + 1; k < f->n_clusters;)
            if (may_merge(f, &f->clusters[i], &f->clusters[k]))
                merge(f, &f->clusters[i], &f->clusters[k]);
            else k++;
}
