// Reductions in the kernel of the product that they reduce: the softmax of scores, the norm of a
// projection. They join it where a tile of the product holds all that is reduced together, so that
// the product is never stored, and where the cost model finds that such tiles cost less than a
// kernel that reads the product.
#include "passes/cost.h"
#include "passes/fuser.h"
#include "passes/schedule.h"

typedef struct {
    kc_fuser *f;
    const kc_cluster *c;
    bool *seen;
    kc_op *product;
    int64_t held; // words a word of the product
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

// Dimension d of the product runs along axis where[d] of the reductions' space; those left over
// have extent 1.
static bool spans_space(const search *s, const kc_op *product, int *where) {
    return kc_movement_adds_ones(s->f->pool, &kc_result(product, 0)->type, s->c->space, where);
}

static void look_at_product(search *s, kc_op *op, const int *axes) {
    int where[KC_MAX_RANK];
    bool own = spans_space(s, op, where);
    for (int d = 0; own && d < kc_result(op, 0)->type.rank; d++)
        own = where[d] == NO_AXIS || where[d] == axes[d];
    s->n_products++;
    if (own) s->product = op;
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
}

// Which of the last two dimensions are reduced: those that a tile of a matrix product has. False:
// others are, too.
static bool find_reduced(const search *s, bool reduced[2]) {
    int where[KC_MAX_RANK], rank = kc_result(s->product, 0)->type.rank;
    spans_space(s, s->product, where);
    for (int d = 0; d < rank; d++) {
        bool is_reduced = where[d] != NO_AXIS && s->c->axis_reduced[where[d]];
        if (d >= rank - 2) reduced[d - (rank - 2)] = is_reduced;
        else if (is_reduced) return false;
    }
    return true;
}

enum { FEW = 16 };
static const double PATIENCE = 1.5;

// Rows that are a symbol may be few: a tile that holds them whole should not cost much more then.
static bool pays(const search *s, const bool reduced[2]) {
    const kc_target *target = s->f->pass->target;
    const kc_type *type = &kc_result(s->product, 0)->type;
    kc_cost_problem p = kc_cost_of_product(target, s->f->pool, s->product);
    kc_op *entry = kc_schedule_entry(target, s->f->pass->scratch, s->f->scope, s->product);
    if (entry && kc_attr_get(entry, KC_ATTR_UNIT)) p.unit = kc_attr_string(entry, KC_ATTR_UNIT, "");
    kc_cost_choice wish = entry ? kc_cost_wish(entry, &p) : (kc_cost_choice){0};
    int64_t whole[2] = {0};
    for (int i = 0; i < 2; i++) {
        const kc_expr *extent = type->shape[type->rank - 2 + i];
        if (!reduced[i]) continue;
        whole[i] = kc_cost_whole_tile(&p, i, kc_expr_max_value(s->f->pool, extent));
        if (whole[i] == 0) return false;
    }
    p.held = 1 + s->held;
    if (!kc_cost_joins(target, &p, &wish, whole, 1)) return false;
    if (kc_expr_min_value(s->f->pool, type->shape[type->rank - 2]) > FEW || p.m <= FEW) return true;
    p.m = FEW;
    return kc_cost_joins(target, &p, &wish, whole, PATIENCE);
}

kc_op *kc_fuse_find_product(kc_fuser *f, const kc_cluster *c, kc_value *result, const int *axes) {
    search s = {.f = f, .c = c, .seen = KC_NEW_ARRAY(f->pass->scratch, bool, f->n_ops + 1)};
    bool reduced[2];
    if (!f->pass->target || f->pass->no_fusion) return NULL;
    look(&s, result, axes);
    if (!s.product || s.n_products > 1 || s.scans || f->apart[s.product->order]) return NULL;
    bool built = s.product->code == KC_OP_MATMUL; // tiles of others have rows of several dimensions
    return built && find_reduced(&s, reduced) && pays(&s, reduced) ? s.product : NULL;
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
