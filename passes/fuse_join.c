// Reductions in the kernel of the product that they reduce: the softmax of scores, the norm of a
// projection. They join it where a tile of the product holds all that is reduced together, so that
// the product is never stored, and where the cost model finds that such tiles cost less than a
// kernel that reads the product. Longer rows or columns come in parts, which `split` makes of them:
// then a tile holds a part.
#include "passes/cost.h"
#include "passes/fuser.h"
#include "passes/join.h"

typedef struct {
    kc_fuser *f;
    const kc_cluster *c;
    bool *seen;
    kc_op *product;
    int where[KC_MAX_RANK]; // the axis that each of its dimensions runs along
    unsigned parts;         // axes that count the parts of the next one
    int64_t held;
    bool scans;
    int n_products;
} search;

static void look(search *s, kc_value *v, const int *axes);

static void look_above_reduction(search *s, kc_op *op, const int *axes) {
    int all[KC_MAX_RANK];
    for (int d = 0; d < KC_MAX_RANK; d++)
        all[d] = d;
    s->scans = s->scans || kc_op_has(op, KC_SCAN);
    int64_t held = kc_cost_held(op, kc_operand(op, 0)->type.elem);
    if (held > s->held) s->held = held;
    for (int i = 0; kc_fuse_fits(s->f, s->c, op, axes) && i < op->n_operands; i++)
        look(s, kc_operand(op, i), all);
}

static bool is_one(const search *s, int axis) {
    return kc_expr_is_one(s->c->space->shape[axis]);
}

// All axes that have more than one element are the product's, or count parts of them.
static bool spans_space(const search *s, const kc_op *product, const int *axes) {
    const kc_type *type = &kc_result(product, 0)->type;
    unsigned own = s->parts;
    for (int d = 0; d < type->rank; d++) {
        if (kc_expr_is_one(type->shape[d])) continue;
        if (axes[d] == NO_AXIS || axes[d] >= s->c->space->rank) return false;
        bool cut = axes[d] > 0 && (s->parts >> (axes[d] - 1) & 1);
        if (!cut && !kc_expr_known_equal(s->f->pool, type->shape[d], s->c->space->shape[axes[d]]))
            return false;
        own |= 1u << axes[d];
    }
    for (int a = 0; a < s->c->space->rank; a++)
        if (!(own >> a & 1) && !is_one(s, a)) return false;
    return true;
}

static void look_at_product(search *s, kc_op *op, const int *axes) {
    s->n_products++;
    if (!spans_space(s, op, axes)) return;
    s->product = op;
    for (int d = 0; d < kc_result(op, 0)->type.rank; d++)
        s->where[d] = kc_expr_is_one(kc_result(op, 0)->type.shape[d]) ? NO_AXIS : axes[d];
}

// Goes where the cluster would grow.
static void look(search *s, kc_value *v, const int *axes) {
    kc_op *op = v->def;
    int from[KC_MAX_RANK];
    if (!op || kc_fuse_is_cut(s->f, v) || s->seen[op->order]) return;
    s->seen[op->order] = true;
    if (kc_op_has(op, KC_CONTRACTION)) look_at_product(s, op, axes);
    else if (kc_op_has(op, KC_REDUCTION)) look_above_reduction(s, op, axes);
    else if (kc_fuse_carried_from(s->f, s->c, op, axes, from)) look(s, kc_operand(op, 0), from);
    else if (kc_fuse_is_soft(s->f, op))
        for (int i = 0; i < op->n_operands; i++) {
            kc_movement_operand_axes(s->f->pool, op, i, axes, from);
            look(s, kc_operand(op, i), from);
        }
    else if (kc_fuse_into_parts(s->f, op, axes, from, &s->parts)) look(s, kc_operand(op, 0), from);
}

// A dimension that falls into parts runs along the axis inside them.
static bool reshape_into_parts(const kc_fuser *f, const kc_op *op, const int *axes, int *from,
                               unsigned *parts) {
    const kc_type *x = &kc_operand(op, 0)->type;
    kc_reshape_group groups[2 * KC_MAX_RANK];
    int n = kc_reshape_groups(f->pool, x, &kc_result(op, 0)->type, groups);
    for (int d = 0; d < x->rank; d++)
        from[d] = NO_AXIS;
    for (int i = 0; i < n; i++) {
        kc_reshape_group g = groups[i];
        int before = g.from_end - g.from_begin, after = g.to_end - g.to_begin;
        if (before == 0 || after == 0) continue;
        if (before > 1 || after > 2) return false;
        from[g.from_begin] = axes[g.to_end - 1];
        if (after == 1) continue;
        if (from[g.from_begin] < 1 || from[g.from_begin] >= KC_MAX_RANK) return false;
        if (axes[g.to_begin] != from[g.from_begin] - 1) return false;
        *parts |= 1u << axes[g.to_begin];
    }
    return true;
}

bool kc_fuse_into_parts(const kc_fuser *f, const kc_op *op, const int *axes, int *from,
                        unsigned *parts) {
    if (op->code == KC_OP_RESHAPE) return reshape_into_parts(f, op, axes, from, parts);
    if (op->code != KC_OP_PAD) return false;
    const kc_attr *low = kc_attr_get(op, KC_ATTR_LOW);
    int64_t none;
    for (int d = 0; d < low->count; d++) {
        if (!kc_expr_is_const(low->exprs[d], &none) || none != 0) return false;
        from[d] = axes[d];
    }
    return true;
}

// The last two dimensions are those that a tile of a matrix product has. False: others are reduced,
// too.
static bool describe(const search *s, kc_join *join) {
    int rank = kc_result(s->product, 0)->type.rank;
    unsigned reduced = 0;
    for (int i = 0; i < 2; i++) {
        int axis = s->where[rank - 2 + i];
        if (axis == NO_AXIS) continue;
        join->reduced[i] = s->c->axis_reduced[axis];
        reduced |= (unsigned)join->reduced[i] << axis;
        if (axis > 0 && (s->parts >> (axis - 1) & 1)) join->part[i] = s->c->space->shape[axis];
    }
    for (int a = 0; a < s->c->space->rank; a++)
        if (s->c->axis_reduced[a] && !(reduced >> a & 1) && !is_one(s, a)) return false;
    join->held = s->held;
    return true;
}

kc_op *kc_fuse_find_product(kc_fuser *f, const kc_cluster *c, kc_value *result, const int *axes) {
    search s = {.f = f, .c = c, .seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1)};
    if (!f->pass->target || f->pass->no_fusion) return NULL;
    look(&s, result, axes);
    if (!s.product || s.n_products > 1 || s.scans || f->apart[s.product->order]) return NULL;
    if (s.product->code != KC_OP_MATMUL) return NULL; // rows of others have several dimensions
    kc_join join = kc_join_of(f->scope, s.product);
    return describe(&s, &join) && kc_join_pays(f->pass, &join) ? s.product : NULL;
}

static bool computed_again(const kc_fuser *f, const kc_cluster *c) {
    for (int i = 0; i < f->n_clusters; i++)
        if (&f->clusters[i] != c && f->clusters[i].ops[c->product->order]) return true;
    return false;
}

bool kc_fuse_repeats_product(kc_fuser *f) {
    bool any = false;
    for (int i = 0; i < f->n_clusters; i++) {
        const kc_cluster *c = &f->clusters[i];
        if (!c->product || !computed_again(f, c)) continue;
        f->apart[c->product->order] = any = true;
    }
    return any;
}
