// conv2d as a product over one axis k that stands for (c, r, s): the weights are a matrix [o, k],
// and the input's element at (pixel, k) is looked up where it lies, so nothing is unfolded in
// memory. Pixels are (p, q), or one axis pq that tile_collapse made of them.
//
// Groups: the axis o falls into parts, and no tile spans two of them, so that the group is one
// number for the block.
#include "passes/integers.h"
#include "passes/tiler.h"

// A coordinate whose local offsets are known to be from 0 to below - 1.
typedef struct {
    kc_coord at;
    int64_t below;
    int64_t multiple; // known to divide the base
} place;

enum { N, O, P, Q, C, R, S }; // the dimensions of the space
enum { LARGEST_NARROW = 1 << 30 };
static const int64_t unbounded = INT64_C(1) << 60;

static place place_of(const kc_tiler *t, kc_coord c, const kc_expr *extent) {
    place p = {c, c.local ? smaller(unbounded, kc_expr_max_value(t->pool, extent)) : 1, 1};
    for (int a = 0; a < t->n_axes; a++) {
        const kc_axis *axis = &t->axes[a];
        if (c.local && axis->local == c.local) p.below = smaller(p.below, axis->tile);
        if (c.base && axis->base == c.base && !axis->part) p.multiple = axis->tile;
    }
    return p;
}

// i = outer * n + inner. The base is divided by itself, once for the block, so that offsets stay
// small.
static void split(kc_tiler *t, place i, const kc_expr *n, place *outer, place *inner) {
    *outer = *inner = (place){{NULL, NULL, i.at.local ? i.at.axes : 0}, 1, 1};
    if (kc_expr_is_one(n)) {
        *outer = i;
        inner->at.axes = 0;
        return;
    }
    kc_builder *b = &t->build;
    kc_value *by = kc_tiler_sym(t, n), *start = NULL;
    int64_t most = smaller(unbounded, kc_expr_max_value(t->pool, n)), below = i.below, exact;
    if (i.at.base) outer->at.base = kc_build_binary(b, KC_OP_FLOORDIV, i.at.base, by);
    if (kc_expr_is_const(n, &exact) && i.multiple % exact == 0) {
        outer->multiple = i.multiple / exact;
    } else if (i.at.base) {
        start = kc_build_binary(b, KC_OP_MOD, i.at.base, by);
        below += most - 1;
    }
    if (!i.at.local) {
        inner->at.base = start;
        return;
    }
    kc_dtype dtype =
        i.at.local->type.elem == KC_i32 && below < LARGEST_NARROW && most < LARGEST_NARROW ? KC_i32
                                                                                           : KC_i64;
    kc_value *local = kc_build_cast(b, i.at.local, dtype);
    if (start) local = kc_build_binary(b, KC_OP_ADD, local, kc_build_cast(b, start, dtype));
    by = kc_build_cast(b, by, dtype);
    outer->at.local = kc_build_binary(b, KC_OP_FLOORDIV, local, by);
    inner->at.local = kc_build_binary(b, KC_OP_MOD, local, by);
    outer->below = below; // n may be 1
    inner->below = smaller(below, most);
}

// p * step + r * dilation - low
static kc_coord slide(kc_tiler *t, place p, int64_t step, place r, int64_t dilation,
                      const kc_expr *low) {
    kc_coord from[2] = {p.at, r.at};
    const int64_t factor[2] = {step, dilation}, below[2] = {p.below, r.below};
    bool narrow = p.below < LARGEST_NARROW / 2 / step && r.below < LARGEST_NARROW / 2 / dilation;
    for (int i = 0; i < 2; i++) {
        if (!narrow && from[i].local)
            from[i].local = kc_build_cast(&t->build, from[i].local, KC_i64);
        from[i] = kc_tiler_coord_scale(t, from[i], kc_expr_const(t->pool, factor[i]),
                                       kc_expr_const(t->pool, below[i]));
    }
    return kc_tiler_coord_add(t, kc_tiler_coord_sum(t, from[0], from[1]),
                              kc_expr_sub(t->pool, kc_expr_const(t->pool, 0), low));
}

static kc_value *clamped(kc_tiler *t, kc_value *limit) {
    limit = kc_build_binary(&t->build, KC_OP_MIN, limit, kc_tiler_int(t, KC_i64, INT32_MAX));
    limit = kc_build_binary(&t->build, KC_OP_MAX, limit, kc_tiler_int(t, KC_i64, 0));
    return kc_build_cast(&t->build, limit, KC_i32);
}

// 0 <= coordinate, or coordinate < extent. Where offsets are 32 bits wide the limit moves instead,
// once for the block.
static kc_value *compare(kc_tiler *t, kc_coord c, kc_opcode code, kc_value *limit) {
    if (!c.local || c.local->type.elem != KC_i32)
        return kc_build_binary(&t->build, code, kc_tiler_coord_value(t, c, KC_i64), limit);
    if (c.base) limit = kc_build_binary(&t->build, KC_OP_SUB, limit, c.base);
    return kc_build_binary(&t->build, code, c.local, clamped(t, limit));
}

// Whether the window hangs over an edge there; conditions that hold everywhere are left out.
static kc_value *inside(kc_tiler *t, const kc_op *op, const kc_coord *c,
                        const kc_expr *const *shape) {
    const kc_expr *zero = kc_expr_const(t->pool, 0);
    kc_value *result = NULL;
    for (int i = 0; i < 4; i++) {
        bool lower = i % 2 == 0;
        if (kc_expr_known_le(
                t->pool, kc_attr_get(op, lower ? KC_ATTR_LOW : KC_ATTR_HIGH)->exprs[i / 2], zero))
            continue;
        kc_value *holds = lower ? compare(t, c[i / 2], KC_OP_GE, kc_tiler_int(t, KC_i64, 0))
                                : compare(t, c[i / 2], KC_OP_LT, kc_tiler_sym(t, shape[i / 2]));
        result = result ? kc_build_binary(&t->build, KC_OP_AND, result, holds) : holds;
    }
    return result;
}

// Splits k by the trailing dimensions of the weights, as tile_collapse has left them.
static void weight_place(kc_tiler *t, const kc_type *w, place k, kc_coord *at) {
    for (int d = 1; d < w->rank; d++) {
        const kc_expr *rest = kc_expr_const(t->pool, 1);
        place outer;
        for (int i = d + 1; i < w->rank; i++)
            rest = kc_expr_mul(t->pool, rest, w->shape[i]);
        if (kc_expr_is_one(w->shape[d])) continue;
        split(t, k, rest, &outer, &k);
        at[d] = outer.at;
    }
}

static void space(const kc_op *op, kc_type *type) {
    const kc_type *w = &kc_operand(op, 1)->type;
    for (int d = 1; d < w->rank; d++)
        type->shape[type->rank++] = w->shape[d];
}

static unsigned own(const kc_type *result, int i) {
    return i == 0 ? 1u << O : ((1u << result->rank) - 1) & ~(1u << O);
}

// The channel that k stands for, in the group that the block works on.
static kc_coord in_group(kc_tiler *t, kc_coord channel) {
    for (int a = 0; a < t->n_axes; a++) {
        if (!t->axes[a].number) continue;
        kc_value *first = kc_build_binary(&t->build, KC_OP_MUL, t->axes[a].number,
                                          kc_tiler_sym(t, t->space.shape[C]));
        channel.base =
            channel.base ? kc_build_binary(&t->build, KC_OP_ADD, channel.base, first) : first;
    }
    return channel;
}

static void input_place(kc_tiler *t, kc_op *op, const kc_coord *c, place k, kc_factor *factor) {
    const kc_expr *const *shape = t->space.shape;
    const kc_attr *steps = kc_attr_get(op, KC_ATTR_STEPS),
                  *dilation = kc_attr_get(op, KC_ATTR_DILATION);
    const kc_attr *low = kc_attr_get(op, KC_ATTR_LOW);
    bool joined = kc_result(op, 0)->type.rank == Q; // p and q are one dimension
    place channel, window, r, s, p, q;
    factor->at[0] = c[N];
    split(t, k, shape[S], &window, &s);
    split(t, window, shape[R], &channel, &r);
    factor->at[1] = in_group(t, channel.at);
    if (factor->value->type.rank == 3) { // of the input, too
        factor->at[2] = c[P];
        return;
    }
    if (joined)
        split(t, place_of(t, c[P], kc_expr_mul(t->pool, shape[P], shape[Q])), shape[Q], &p, &q);
    else p = place_of(t, c[P], shape[P]), q = place_of(t, c[Q], shape[Q]);
    factor->at[2] = slide(t, p, steps->integers[0], r, dilation->integers[0], low->exprs[0]);
    factor->at[3] = slide(t, q, steps->integers[1], s, dilation->integers[1], low->exprs[1]);
    factor->predicate = inside(t, op, factor->at + 2, factor->value->type.shape + 2);
}

static kc_factor factor(kc_tiler *t, kc_op *op, int i, const kc_coord *c, kc_coord k) {
    kc_factor made = {.value = kc_operand(op, i == 0)};
    place along = place_of(t, k, kc_tiler_depth(t));
    if (i) input_place(t, op, c, along, &made);
    else weight_place(t, &made.value->type, along, made.at), made.at[0] = c[O];
    return made;
}

// Whole windows, or whole rows of large ones: which element of them a register holds is then known
// when it is compiled.
static int64_t chunk(const kc_tiler *t) {
    enum { USUAL = 16, MOST = 25 };
    int64_t rows, n, depth = kc_expr_max_value(t->pool, kc_tiler_depth(t));
    if (!kc_expr_is_const(t->space.shape[R], &rows) || !kc_expr_is_const(t->space.shape[S], &n))
        return USUAL;
    if (n <= MOST / rows) n *= rows;
    if (n > MOST || (n & (n - 1)) == 0) return USUAL;
    while (2 * n <= MOST && n < depth)
        n *= 2;
    return n;
}

static const kc_expr *parts(const kc_op *op) {
    return kc_attr_expr(op, KC_ATTR_GROUPS);
}

// A window of one element that takes every one: pixels of the input are pixels of the result.
static bool pointwise(const kc_op *op, const kc_type *w) {
    for (int i = 0; i < 2; i++) {
        int64_t low, high;
        bool known = kc_expr_is_const(kc_attr_get(op, KC_ATTR_LOW)->exprs[i], &low) &&
                     kc_expr_is_const(kc_attr_get(op, KC_ATTR_HIGH)->exprs[i], &high);
        if (!known || low || high || kc_attr_get(op, KC_ATTR_STEPS)->integers[i] != 1 ||
            !kc_expr_is_one(w->shape[2 + i]))
            return false;
    }
    return true;
}

// For tile_collapse: the axes of the weights; those of the input where pixels are the same.
static bool along(const kc_op *op, int i, int *axes) {
    static const int of_weights[] = {O, C, R, S}, of_input[] = {N, -1, P, Q};
    if (i == 1 && !pointwise(op, &kc_operand(op, 1)->type)) return false;
    for (int d = 0; d < 4; d++)
        axes[d] = i == 0 ? of_weights[d] : of_input[d];
    return true;
}

const kc_contraction kc_tiler_conv2d = {
    .operand = {1, 0},
    .space = space,
    .own = own,
    .factor = factor,
    .parts = parts,
    .row = O,
    .chunk = chunk,
    .joins = P,
    .along = along,
};
