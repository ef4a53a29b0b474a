// Split k: a matrix product of few tiles and many products becomes several, each of a part of k,
// and their sum.
//
//   y = matmul a[M, K], b[K, N]   ->   p = matmul a[S, M, L], b[S, L, N];  y = sum of p over S
//
// K is filled up to S * L.
//
// The parts are a batch dimension of one product, so nothing else has to know of them. They are
// summed in order: every run gives the same bits.
#include "passes/cost.h"
#include "passes/products.h"
#include "passes/split.h"
#include "passes/tensor_build.h"

#include <string.h>

typedef struct {
    kc_pass_context *pass;
    kc_expr_pool *pool;
    kc_builder build;
    int64_t parts;
    const kc_expr *k, *length; // of a part
} splitter;

enum {
    LONG_PART = 512,  // along k: such parts are multiples of four units, shorter ones of two
    SHORT_PART = 128, // shorter ones still of one
    LEAST_UNIT = 16,
    FEW = 64, // a symbol with so small a bound counts as that bound
};

// Parts are whole steps of the loop over k where they are long, whole vectors else.
static const kc_expr *part_length(splitter *s) {
    const kc_expr *share = kc_expr_cdiv(s->pool, s->k, kc_expr_const(s->pool, s->parts));
    int64_t longest = kc_expr_max_value(s->pool, share), unit = LEAST_UNIT;
    if (longest >= SHORT_PART) unit *= 2;
    if (longest >= LONG_PART) unit *= 2;
    const kc_expr *units = kc_expr_cdiv(s->pool, share, kc_expr_const(s->pool, unit));
    return kc_expr_mul(s->pool, units, kc_expr_const(s->pool, unit));
}

static kc_value *fill_up(splitter *s, kc_value *v, int axis) {
    const kc_expr *whole = kc_expr_mul(s->pool, s->length, kc_expr_const(s->pool, s->parts)),
                  *none[KC_MAX_RANK], *high[KC_MAX_RANK];
    if (kc_expr_known_equal(s->pool, whole, s->k)) return v;
    kc_type type = kc_type_tensor(v->type.elem, v->type.rank, v->type.shape);
    for (int d = 0; d < type.rank; d++)
        none[d] = high[d] = kc_expr_const(s->pool, 0);
    high[axis] = kc_expr_sub(s->pool, whole, s->k);
    type.shape[axis] = whole;
    kc_value *filled = kc_build_1(&s->build, KC_OP_PAD, type, 1, &v);
    kc_attr_set_exprs(s->pass->module, filled->def, KC_ATTR_LOW, type.rank, none);
    kc_attr_set_exprs(s->pass->module, filled->def, KC_ATTR_HIGH, type.rank, high);
    kc_attr_set_float(filled->def, KC_ATTR_VALUE, 0);
    return filled;
}

// [.., S, rows or L, L or columns]: k falls into parts where it stands, and the parts go before
// both dimensions.
static kc_value *in_parts(splitter *s, kc_value *v, int axis) {
    kc_dtype elem = kc_product_elem(v->type.elem);
    if (elem != v->type.elem) v = kc_build_cast(&s->build, v, elem);
    v = fill_up(s, v, axis);
    int rank = v->type.rank + 1;
    const kc_expr *shape[KC_MAX_RANK];
    memcpy(shape, v->type.shape, sizeof(shape[0]) * (size_t)axis);
    shape[axis] = kc_expr_const(s->pool, s->parts);
    shape[axis + 1] = s->length;
    if (axis == rank - 3) shape[rank - 1] = v->type.shape[rank - 2];
    v = kc_tensor_reshape(&s->build, v, rank, shape);
    if (axis == rank - 3) return v;
    int64_t perm[KC_MAX_RANK];
    for (int d = 0; d < rank; d++)
        perm[d] = d;
    perm[rank - 3] = rank - 2, perm[rank - 2] = rank - 3;
    const kc_expr *rows = shape[rank - 3];
    shape[rank - 3] = shape[rank - 2], shape[rank - 2] = rows;
    v = kc_build_1(&s->build, KC_OP_TRANSPOSE, kc_type_tensor(v->type.elem, rank, shape), 1, &v);
    kc_attr_set_ints(s->pass->module, v->def, KC_ATTR_PERM, rank, perm);
    return v;
}

// A size that is known, or known to be small, as the rows of a variant for few are.
static bool extent_of(const kc_expr_pool *pool, const kc_expr *e, int64_t *extent) {
    if (kc_expr_is_const(e, extent)) return true;
    *extent = kc_expr_max_value(pool, e);
    return *extent <= FEW;
}

// Other symbols are left alone: which sizes would gain is known at launch. Without fusion the parts
// would be copies.
int64_t kc_split_worth(kc_pass_context *pass, const kc_op *op, const kc_op *schedule) {
    const kc_type *type = &kc_result(op, 0)->type;
    int64_t extent;
    const kc_expr *k = kc_operand(op, 0)->type.shape[kc_product_axis_of_k(op, 0)];
    bool fixed = kc_expr_is_const(k, &extent);
    if (!pass->target || pass->no_fusion || type->rank == KC_MAX_RANK) return 1;
    for (int d = 0; d < type->rank; d++)
        fixed = fixed && extent_of(kc_op_pool(op), type->shape[d], &extent) && extent > 0;
    if (!fixed) return 1;
    kc_cost_choice wish = {0};
    kc_cost_problem p = kc_cost_of_product(pass->target, kc_op_pool(op), op);
    if (schedule) {
        p.unit = kc_attr_string(schedule, KC_ATTR_UNIT, p.unit);
        wish = kc_cost_wish(schedule, &p);
    }
    return kc_cost_parts(pass->target, &p, &wish);
}

kc_op *kc_split_product(kc_pass_context *pass, kc_op *scope, kc_op *op, int64_t parts) {
    kc_type type = kc_result(op, 0)->type;
    int axes[2] = {kc_product_axis_of_k(op, 0), kc_product_axis_of_k(op, 1)}, rank = type.rank;
    if (rank == KC_MAX_RANK) return NULL;
    splitter s = {.pass = pass,
                  .pool = kc_op_pool(scope),
                  .build = kc_builder_before(pass->module, op),
                  .parts = parts,
                  .k = kc_operand(op, 0)->type.shape[axes[0]]};
    s.length = part_length(&s);
    kc_value *operands[2];
    for (int i = 0; i < 2; i++)
        operands[i] = in_parts(&s, kc_operand(op, i), axes[i]);
    for (int d = rank; d > rank - 2; d--)
        type.shape[d] = type.shape[d - 1];
    type.shape[rank - 2] = kc_expr_const(s.pool, parts);
    type.rank = rank + 1;
    kc_value *product = kc_build_1(&s.build, KC_OP_MATMUL, type, 2, operands);
    for (int i = 0; i < op->n_attrs; i++)
        product->def->attrs[product->def->n_attrs++] = op->attrs[i];
    kc_attr_set_int(product->def, KC_ATTR_SPLIT, parts);
    product->name = kc_result(op, 0)->name;
    int64_t axis = rank - 2;
    kc_value *sum = kc_tensor_reduce(&s.build, KC_OP_ADD, product, 1, &axis, 0);
    kc_op_replace(op, sum);
    sum->name = NULL; // the product is what schedules speak of
    return product->def;
}
