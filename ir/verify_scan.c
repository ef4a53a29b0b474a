// Scans: prefixes along an axis, and in tile IR the totals of the segments that restart.
#include "ir/verify.h"

// The one axis, or -1.
static int axis_of(kc_checker *c, const kc_op *op, int rank) {
    bool scanned[KC_MAX_RANK];
    if (!kc_check_axes(c, op, rank, scanned)) return -1;
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    if (axes->count == 1) return (int)axes->integers[0];
    kc_check_fail(c, op, "%d axes, a scan runs along one", axes->count);
    return -1;
}

// Operands first to first + n - 1 have one shape. NULL: they do not.
static const kc_type *common_type(kc_checker *c, const kc_op *op, int first, int n) {
    const kc_type *type = kc_check_operand(c, op, first);
    for (int i = first; i < first + n; i++) {
        const kc_type *x = kc_check_operand(c, op, i);
        if (x->kind != KC_TYPE_SHARED && kc_type_same_shape(c->pool, x, type)) continue;
        kc_check_fail(c, op, "operand %d has not the shape of operand %d", i, first);
        return NULL;
    }
    return type;
}

static void check_prefix(kc_checker *c, const kc_op *op, int i) {
    const kc_type *x = kc_check_operand(c, op, i), *result = kc_check_result(op, i);
    if (result->kind != x->kind || result->elem != x->elem ||
        !kc_type_same_shape(c->pool, result, x))
        kc_check_fail(c, op, "result %d has not the type of input %d", i, i);
}

// Like x, with `parts` along the axis.
static bool is_total(const kc_type *total, const kc_type *x, int axis, int64_t parts) {
    if (total->kind != KC_TYPE_TILE || total->elem != x->elem || total->rank != x->rank)
        return false;
    for (int d = 0; d < x->rank; d++)
        if (total->tile[d] != (d == axis ? parts : x->tile[d])) return false;
    return true;
}

static bool check_init(kc_checker *c, const kc_op *op, int n) {
    int count = kc_attr_get(op, KC_ATTR_INIT)->count;
    if (count != n) kc_check_fail(c, op, "%d initial values for %d inputs", count, n);
    return count == n;
}

void kc_check_scan(kc_checker *c, const kc_op *op) {
    int n = op->n_operands;
    if (n < 1) {
        kc_check_fail(c, op, "nothing to scan");
        return;
    }
    const kc_type *x = common_type(c, op, 0, n);
    if (!x) return;
    bool tiles = x->kind == KC_TYPE_TILE;
    int axis = axis_of(c, op, x->rank);
    if (axis < 0 || !kc_check_results(c, op, tiles ? 2 * n : n) || !check_init(c, op, n)) return;
    int64_t parts = tiles && kc_check_result(op, n)->rank == x->rank
                        ? kc_check_result(op, n)->tile[axis]
                        : 1;
    if (parts != 1 && (c->level != KC_LEVEL_LAYOUT || parts < 1 || x->tile[axis] % parts))
        kc_check_fail(c, op, "%lld segments of an axis of %lld", (long long)parts,
                      (long long)x->tile[axis]);
    for (int i = 0; i < n; i++) {
        check_prefix(c, op, i);
        if (tiles && !is_total(kc_check_result(op, n + i), kc_check_operand(c, op, i), axis, parts))
            kc_check_fail(c, op, "result %d is not the total of input %d", n + i, i);
    }
    kc_check_combiner(c, op, n);
}

void kc_check_scan_carry(kc_checker *c, const kc_op *op) {
    int n = op->segments[0];
    if (n < 1 || op->segments[1] != n) {
        kc_check_fail(c, op, "%d inputs and %d totals", n, op->segments[1]);
        return;
    }
    const kc_type *x = common_type(c, op, 0, n), *parts = common_type(c, op, n, n);
    if (!x || !parts || !kc_check_kind(c, op, x, KC_TYPE_TILE, "an input") ||
        !kc_check_kind(c, op, parts, KC_TYPE_TILE, "a total"))
        return;
    int axis = axis_of(c, op, x->rank);
    if (axis < 0 || !kc_check_results(c, op, 2 * n) || !check_init(c, op, n)) return;
    int64_t segments = parts->rank == x->rank ? parts->tile[axis] : 0;
    if (segments < 1 || x->tile[axis] % segments)
        kc_check_fail(c, op, "%lld segments of an axis of %lld", (long long)segments,
                      (long long)x->tile[axis]);
    for (int i = 0; i < n; i++) {
        const kc_type *input = kc_check_operand(c, op, i);
        check_prefix(c, op, i);
        if (!is_total(kc_check_operand(c, op, n + i), input, axis, segments))
            kc_check_fail(c, op, "operand %d is not the totals of input %d", n + i, i);
        if (!is_total(kc_check_result(op, n + i), input, axis, 1))
            kc_check_fail(c, op, "result %d is not the total of input %d", n + i, i);
    }
    kc_check_combiner(c, op, n);
}
