// Movement, reductions and contractions: how the stated result follows from the operands.
#include "ir/conv2d.h"
#include "ir/verify.h"

// Operand and the one result are tensors of one element type.
static bool check_movement(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return false;
    const kc_type *result = kc_check_result(op, 0);
    if (!kc_check_kind(c, op, result, KC_TYPE_TENSOR, "the result")) return false;
    if (!op->n_operands) return true;
    const kc_type *x = kc_check_operand(c, op, 0);
    if (!kc_check_kind(c, op, x, KC_TYPE_TENSOR, "operand 0")) return false;
    if (x->elem == result->elem) return true;
    kc_check_fail(c, op, "the result is %s, its operand %s; moving keeps the element type",
                  kc_dtype_name(result->elem), kc_dtype_name(x->elem));
    return false;
}

static bool check_rank(kc_checker *c, const kc_op *op, int rank) {
    int got = kc_check_result(op, 0)->rank;
    if (got != rank) kc_check_fail(c, op, "the result has rank %d, expected %d", got, rank);
    return got == rank;
}

static void check_extent(kc_checker *c, const kc_op *op, int d, const kc_expr *expected) {
    if (!kc_check_same(c, kc_check_result(op, 0)->shape[d], expected))
        kc_check_fail(c, op, "extent %d of the result is not what follows from the operands", d);
}

static bool check_count(kc_checker *c, const kc_op *op, kc_attr_key key, int rank) {
    int count = kc_attr_get(op, key)->count;
    if (count != rank)
        kc_check_fail(c, op, "%d items in '%s' for rank %d", count, kc_attr_table[key].name, rank);
    return count == rank;
}

static void check_broadcast(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    int lead = result->rank - x->rank;
    if (lead < 0) {
        kc_check_fail(c, op, "from rank %d to rank %d", x->rank, result->rank);
        return;
    }
    for (int i = 0; i < x->rank; i++) {
        int64_t extent;
        if (kc_expr_is_const(x->shape[i], &extent) && extent == 1) continue;
        check_extent(c, op, lead + i, x->shape[i]);
    }
}

static void check_transpose(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0);
    const kc_attr *perm = kc_attr_get(op, KC_ATTR_PERM);
    bool seen[KC_MAX_RANK] = {false};
    if (!check_rank(c, op, x->rank) || !check_count(c, op, KC_ATTR_PERM, x->rank)) return;
    for (int i = 0; i < x->rank; i++) {
        int64_t from = perm->integers[i];
        if (from < 0 || from >= x->rank || seen[from]) {
            kc_check_fail(c, op, "'perm' is no permutation of the dimensions");
            return;
        }
        seen[from] = true;
        check_extent(c, op, i, x->shape[from]);
    }
}

// Whether two expressions are known to differ for all values, or for none.
static bool known_different(const kc_checker *c, const kc_expr *a, const kc_expr *b) {
    return kc_expr_max_value(c->pool, a) < kc_expr_min_value(c->pool, b) ||
           kc_expr_max_value(c->pool, b) < kc_expr_min_value(c->pool, a);
}

static void check_reshape(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    const kc_expr *before = kc_type_elements(c->pool, kc_check_operand(c, op, 0)),
                  *after = kc_type_elements(c->pool, kc_check_result(op, 0));
    if (!kc_check_same(c, before, after) && known_different(c, before, after))
        kc_check_fail(c, op, "operand and result differ in their number of elements");
}

// First and last element taken lie inside, as far as that is known and anything is taken.
static void check_slice_bounds(kc_checker *c, const kc_op *op, int d) {
    kc_expr_pool *pool = c->pool;
    const kc_expr *extent = kc_check_operand(c, op, 0)->shape[d],
                  *taken = kc_check_result(op, 0)->shape[d];
    const kc_expr *start = kc_attr_get(op, KC_ATTR_STARTS)->exprs[d];
    const kc_expr *step = kc_expr_const(pool, kc_attr_get(op, KC_ATTR_STEPS)->integers[d]);
    if (kc_expr_min_value(pool, taken) < 1) return;
    const kc_expr *last = kc_expr_add(
        pool, start, kc_expr_mul(pool, step, kc_expr_sub(pool, taken, kc_expr_const(pool, 1))));
    bool below = kc_expr_max_value(pool, start) < 0 || kc_expr_max_value(pool, last) < 0;
    if (below || kc_expr_known_le(pool, extent, start) || kc_expr_known_le(pool, extent, last))
        kc_check_fail(c, op, "dimension %d is taken beyond its extent", d);
}

static void check_slice(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    int rank = kc_check_operand(c, op, 0)->rank;
    if (!check_rank(c, op, rank) || !check_count(c, op, KC_ATTR_STARTS, rank) ||
        !check_count(c, op, KC_ATTR_STEPS, rank))
        return;
    for (int i = 0; i < rank; i++) {
        if (kc_attr_get(op, KC_ATTR_STEPS)->integers[i] == 0)
            kc_check_fail(c, op, "step %d is 0", i);
        else check_slice_bounds(c, op, i);
    }
}

static void check_concat(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    if (!op->n_operands) {
        kc_check_fail(c, op, "nothing to join");
        return;
    }
    const kc_type *first = kc_check_operand(c, op, 0);
    if (!check_rank(c, op, first->rank) || !kc_check_axis(c, op, first->rank)) return;
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    const kc_expr *sum = kc_expr_const(c->pool, 0);
    for (int i = 0; i < op->n_operands; i++) {
        const kc_type *x = kc_check_operand(c, op, i);
        if (x->kind != KC_TYPE_TENSOR || x->rank != first->rank || x->elem != first->elem) {
            kc_check_fail(c, op, "operand %d has not the rank and element type of operand 0", i);
            return;
        }
        for (int d = 0; d < x->rank; d++)
            if (d != axis) check_extent(c, op, d, x->shape[d]);
        sum = kc_expr_add(c->pool, sum, x->shape[axis]);
    }
    check_extent(c, op, axis, sum);
}

static void check_pad(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0);
    if (!check_rank(c, op, x->rank) || !check_count(c, op, KC_ATTR_LOW, x->rank) ||
        !check_count(c, op, KC_ATTR_HIGH, x->rank))
        return;
    for (int i = 0; i < x->rank; i++) {
        const kc_expr *low = kc_attr_get(op, KC_ATTR_LOW)->exprs[i],
                      *high = kc_attr_get(op, KC_ATTR_HIGH)->exprs[i];
        check_extent(c, op, i, kc_expr_add(c->pool, kc_expr_add(c->pool, low, x->shape[i]), high));
    }
}

static void check_gather(kc_checker *c, const kc_op *op) {
    if (!check_movement(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *indices = kc_check_operand(c, op, 1);
    if (!kc_check_kind(c, op, indices, KC_TYPE_TENSOR, "indices")) return;
    if (!kc_dtype_is_integer(indices->elem))
        kc_check_fail(c, op, "indices are %s, expected an integer type",
                      kc_dtype_name(indices->elem));
    if (!kc_check_axis(c, op, x->rank) || !check_rank(c, op, x->rank - 1 + indices->rank)) return;
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0), at = 0;
    for (int i = 0; i < x->rank; i++) {
        if (i != axis) check_extent(c, op, at++, x->shape[i]);
        else
            for (int j = 0; j < indices->rank; j++)
                check_extent(c, op, at++, indices->shape[j]);
    }
}

// ---- reductions

void kc_check_combiner(kc_checker *c, const kc_op *op, int n) {
    const kc_type **types = KC_NEW_ARRAY(c->scratch, const kc_type *, n);
    if (op->body->n_args != 2 * n) {
        kc_check_fail(c, op, "its region takes %d arguments, expected two tuples of %d",
                      op->body->n_args, n);
        return;
    }
    for (int i = 0; i < 2 * n; i++)
        if (!kc_check_scalar(&op->body->args[i]->type, kc_check_operand(c, op, i % n)->elem))
            kc_check_fail(c, op,
                          "argument %d of its region is no scalar of the element type of input %d",
                          i, i % n);
    for (int i = 0; i < n; i++)
        types[i] = &op->body->args[i]->type;
    kc_check_region_yields(c, op, n, types);
}

static void check_reduced_tensor(kc_checker *c, const kc_op *op, int i, const bool *reduced) {
    const kc_type *x = kc_check_operand(c, op, i), *result = kc_check_result(op, i);
    int at = 0;
    bool fits = result->kind == KC_TYPE_TENSOR;
    for (int d = 0; fits && d < x->rank; d++)
        if (!reduced[d])
            fits = at < result->rank && kc_check_same(c, x->shape[d], result->shape[at++]);
    if (!fits || at != result->rank)
        kc_check_fail(c, op, "result %d has not the shape that is left", i);
}

// A tile keeps its rank. A reduced axis has extent 1; spread over warps, its partial results remain
// until they are exchanged.
static void check_reduced_tile(kc_checker *c, const kc_op *op, int i, const bool *reduced) {
    const kc_type *x = kc_check_operand(c, op, i), *result = kc_check_result(op, i);
    bool fits = result->kind == KC_TYPE_TILE && result->rank == x->rank;
    for (int d = 0; fits && d < x->rank; d++) {
        int64_t extent = result->tile[d];
        bool partial =
            c->level == KC_LEVEL_LAYOUT && extent <= x->tile[d] && !(extent & (extent - 1));
        fits = reduced[d] ? extent == 1 || partial : extent == x->tile[d];
    }
    if (!fits)
        kc_check_fail(
            c, op, "result %d has not the extents that are left (reduced axes keep extent 1)", i);
}

static void check_reduce(kc_checker *c, const kc_op *op) {
    int n = op->n_operands;
    bool reduced[KC_MAX_RANK];
    if (n < 1) {
        kc_check_fail(c, op, "nothing to reduce");
        return;
    }
    const kc_type *first = kc_check_operand(c, op, 0);
    if (!kc_check_results(c, op, n) || !kc_check_axes(c, op, first->rank, reduced)) return;
    if (kc_attr_get(op, KC_ATTR_INIT)->count != n)
        kc_check_fail(c, op, "%d initial values for %d inputs",
                      kc_attr_get(op, KC_ATTR_INIT)->count, n);
    for (int i = 0; i < n; i++) {
        const kc_type *x = kc_check_operand(c, op, i);
        if (x->kind == KC_TYPE_SHARED || !kc_type_same_shape(c->pool, x, first)) {
            kc_check_fail(c, op, "input %d has not the shape of input 0", i);
            return;
        }
        if (x->elem != kc_check_result(op, i)->elem)
            kc_check_fail(c, op, "result %d has not the element type of input %d", i, i);
        if (x->kind == KC_TYPE_TENSOR) check_reduced_tensor(c, op, i, reduced);
        else check_reduced_tile(c, op, i, reduced);
    }
    kc_check_combiner(c, op, n);
}

// ---- contractions

static void check_matmul_shape(kc_checker *c, const kc_op *op, const kc_type *a, const kc_type *b) {
    int rank = a->rank, row = rank - 2, column = rank - 1;
    int64_t ta = kc_attr_int(op, KC_ATTR_TRANSPOSE_A, 0),
            tb = kc_attr_int(op, KC_ATTR_TRANSPOSE_B, 0);
    for (int i = 0; i < row; i++) {
        if (!kc_check_same(c, a->shape[i], b->shape[i]))
            kc_check_fail(c, op, "batch dimension %d of the operands differs; broadcast is an op",
                          i);
        check_extent(c, op, i, a->shape[i]);
    }
    if (!kc_check_same(c, a->shape[ta ? row : column], b->shape[tb ? column : row]))
        kc_check_fail(c, op, "the extents that are summed over differ");
    check_extent(c, op, row, a->shape[ta ? column : row]);
    check_extent(c, op, column, b->shape[tb ? row : column]);
}

// Two tensors of one element type, and what their products are summed in.
static bool check_factors(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return false;
    const kc_type *a = kc_check_operand(c, op, 0), *b = kc_check_operand(c, op, 1),
                  *result = kc_check_result(op, 0);
    bool tensors = kc_check_kind(c, op, a, KC_TYPE_TENSOR, "operand 0") &&
                   kc_check_kind(c, op, b, KC_TYPE_TENSOR, "operand 1") &&
                   kc_check_kind(c, op, result, KC_TYPE_TENSOR, "the result");
    if (!tensors) return false;
    if (a->elem != b->elem || a->elem == KC_bool)
        kc_check_fail(c, op, "operands are %s and %s", kc_dtype_name(a->elem),
                      kc_dtype_name(b->elem));
    kc_dtype expected = kc_dtype_is_float(a->elem) ? (a->elem == KC_f64 ? KC_f64 : KC_f32)
                        : a->elem == KC_i64        ? KC_i64
                                                   : KC_i32;
    if (result->elem != expected)
        kc_check_fail(c, op, "the result is %s, expected %s", kc_dtype_name(result->elem),
                      kc_dtype_name(expected));
    return true;
}

static void check_matmul(kc_checker *c, const kc_op *op) {
    if (!check_factors(c, op)) return;
    const kc_type *a = kc_check_operand(c, op, 0), *b = kc_check_operand(c, op, 1);
    if (a->rank < 2 || a->rank != b->rank)
        kc_check_fail(c, op,
                      "operands of ranks %d and %d; equal ranks of at least 2 are multiplied",
                      a->rank, b->rank);
    else if (check_rank(c, op, a->rank)) check_matmul_shape(c, op, a, b);
}

// What kc_conv2d_op_extent needs to be meaningful.
static bool check_window(kc_checker *c, const kc_op *op) {
    int before = c->errors;
    const kc_attr *steps = kc_attr_get(op, KC_ATTR_STEPS),
                  *dilation = kc_attr_get(op, KC_ATTR_DILATION);
    for (int i = 0; i < 2; i++) {
        if (steps->integers[i] < 1 || dilation->integers[i] < 1)
            kc_check_fail(c, op, "step %lld and dilation %lld; both are at least 1",
                          (long long)steps->integers[i], (long long)dilation->integers[i]);
        if (kc_expr_max_value(c->pool, kc_attr_get(op, KC_ATTR_LOW)->exprs[i]) < 0 ||
            kc_expr_max_value(c->pool, kc_attr_get(op, KC_ATTR_HIGH)->exprs[i]) < 0)
            kc_check_fail(c, op, "negative padding");
        if (kc_expr_max_value(c->pool, kc_check_operand(c, op, 1)->shape[2 + i]) < 1)
            kc_check_fail(c, op, "an empty kernel");
    }
    return c->errors == before;
}

static void check_channels(kc_checker *c, const kc_op *op) {
    const kc_expr *groups = kc_attr_expr(op, KC_ATTR_GROUPS);
    const kc_type *x = kc_check_operand(c, op, 0), *w = kc_check_operand(c, op, 1);
    if (kc_expr_max_value(c->pool, groups) < 1) {
        kc_check_fail(c, op, "no groups");
        return;
    }
    if (!kc_check_same(c, x->shape[1], kc_expr_mul(c->pool, groups, w->shape[1])))
        kc_check_fail(c, op, "the channels of x are not those of w in every group");
    const kc_expr *rest = kc_expr_binary(c->pool, KC_EXPR_MOD, w->shape[0], groups);
    if (!kc_check_same(c, rest, kc_expr_const(c->pool, 0)))
        kc_check_fail(c, op, "groups of different sizes");
}

static void check_conv2d(kc_checker *c, const kc_op *op) {
    if (!check_factors(c, op)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *w = kc_check_operand(c, op, 1);
    static const kc_attr_key pairs[] = {KC_ATTR_STEPS, KC_ATTR_LOW, KC_ATTR_HIGH, KC_ATTR_DILATION};
    if (x->rank != 4 || w->rank != 4) {
        kc_check_fail(c, op, "operands of ranks %d and %d; both have 4", x->rank, w->rank);
        return;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (kc_attr_get(op, pairs[i])->count == 2) continue;
        kc_check_fail(c, op, "%d items in '%s', expected 2", kc_attr_get(op, pairs[i])->count,
                      kc_attr_table[pairs[i]].name);
        return;
    }
    if (!check_rank(c, op, 4) || !check_window(c, op)) return;
    check_channels(c, op);
    check_extent(c, op, 0, x->shape[0]);
    check_extent(c, op, 1, w->shape[0]);
    for (int i = 0; i < 2; i++)
        check_extent(c, op, 2 + i,
                     kc_conv2d_extent(c->pool, x->shape[2 + i], w->shape[2 + i],
                                      kc_attr_get(op, KC_ATTR_LOW)->exprs[i],
                                      kc_attr_get(op, KC_ATTR_HIGH)->exprs[i],
                                      kc_attr_get(op, KC_ATTR_STEPS)->integers[i],
                                      kc_attr_get(op, KC_ATTR_DILATION)->integers[i]));
}

kc_check_facts *kc_check_tensor_facts(kc_opcode code) {
    switch (code) {
    case KC_OP_BROADCAST: return check_broadcast;
    case KC_OP_TRANSPOSE: return check_transpose;
    case KC_OP_RESHAPE: return check_reshape;
    case KC_OP_SLICE: return check_slice;
    case KC_OP_CONCAT: return check_concat;
    case KC_OP_PAD: return check_pad;
    case KC_OP_GATHER: return check_gather;
    case KC_OP_REDUCE: return check_reduce;
    case KC_OP_SCAN: return kc_check_scan;
    case KC_OP_MATMUL: return check_matmul;
    case KC_OP_CONV2D: return check_conv2d;
    default: return NULL;
    }
}
