// Scalars, tile types, axes and coordinates of the tile pass.
#include "passes/tiler.h"

#include <string.h>

static kc_value *find_scalar(const kc_tiler *t, const kc_expr *expr, kc_dtype dtype,
                             int64_t integer) {
    for (int i = t->n_scalars - 1; i >= 0; i--) {
        const kc_scalar_memo *m = &t->scalars[i];
        if (m->expr == expr && m->dtype == dtype && m->integer == integer) return m->result;
    }
    return NULL;
}

static kc_value *remember_scalar(kc_tiler *t, kc_scalar_memo entry) {
    if (t->n_scalars == t->scalars_capacity) {
        int capacity = t->scalars_capacity ? 2 * t->scalars_capacity : 64;
        kc_scalar_memo *grown = KC_NEW_ARRAY(t->pass->scratch, kc_scalar_memo, capacity);
        if (t->n_scalars) memcpy(grown, t->scalars, sizeof *grown * (size_t)t->n_scalars);
        t->scalars = grown, t->scalars_capacity = capacity;
    }
    t->scalars[t->n_scalars++] = entry;
    return entry.result;
}

kc_value *kc_tiler_int(kc_tiler *t, kc_dtype dtype, int64_t value) {
    kc_value *known = find_scalar(t, NULL, dtype, value);
    if (known) return known;
    kc_value *made = kc_build_const_int(&t->build, kc_type_scalar(dtype), value);
    return remember_scalar(t, (kc_scalar_memo){NULL, value, dtype, made});
}

kc_value *kc_tiler_sym(kc_tiler *t, const kc_expr *expr) {
    int64_t value;
    if (kc_expr_is_const(expr, &value)) return kc_tiler_int(t, KC_i64, value);
    kc_value *known = find_scalar(t, expr, KC_i64, 0);
    if (known) return known;
    kc_value *made = kc_build_sym(&t->build, kc_type_scalar(KC_i64), expr);
    return remember_scalar(t, (kc_scalar_memo){expr, 0, KC_i64, made});
}

kc_type kc_tiler_type(const kc_tiler *t, kc_dtype dtype, unsigned axes) {
    int64_t extents[KC_MAX_RANK];
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].slot >= 0) extents[t->axes[a].slot] = axes >> a & 1 ? t->axes[a].tile : 1;
    return kc_type_tile(dtype, t->rank, extents);
}

// The extents of a value, widened to axes.
static kc_type full_type(const kc_tiler *t, const kc_value *v, unsigned axes) {
    kc_type type = kc_tiler_type(t, v->type.elem, axes);
    for (int d = 0; d < v->type.rank; d++)
        if (v->type.tile[d] > type.tile[d]) type.tile[d] = v->type.tile[d];
    return type;
}

kc_value *kc_tiler_widen(kc_tiler *t, kc_value *v, unsigned axes) {
    kc_type full = full_type(t, v, axes);
    if (v->type.rank == full.rank &&
        memcmp(v->type.tile, full.tile, sizeof(int64_t) * (size_t)full.rank) == 0)
        return v;
    kc_type flags = kc_type_tile(KC_bool, full.rank, full.tile);
    kc_value *always = kc_build_const_int(&t->build, flags, 1);
    return kc_build_elementwise(&t->build, KC_OP_SELECT, 3, (kc_value *[]){always, v, v});
}

static const kc_expr *span_of(const kc_axis *axis) {
    return axis->part ? axis->part : axis->extent;
}

const kc_expr *kc_tiler_tiles(kc_tiler *t, int a) {
    const kc_axis *axis = &t->axes[a];
    if (axis->folded && !axis->reduced) return kc_expr_const(t->pool, 1);
    const kc_expr *tiles = kc_expr_cdiv(t->pool, span_of(axis), kc_expr_const(t->pool, axis->tile));
    return axis->part ? kc_expr_mul(t->pool, tiles, axis->parts) : tiles;
}

// The programs or steps side by side along the axis: of the walked one each takes several tiles.
static const kc_expr *shares(kc_tiler *t, int a) {
    const kc_expr *tiles = kc_tiler_tiles(t, a);
    return a == t->walked ? kc_expr_cdiv(t->pool, tiles, t->stride) : tiles;
}

const kc_expr *kc_tiler_steps(kc_tiler *t, bool reduced) {
    const kc_expr *steps = kc_expr_const(t->pool, 1);
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced == reduced) steps = kc_expr_mul(t->pool, steps, shares(t, a));
    return steps;
}

// Whether every tile that is worked on lies inside the extent. An empty extent has none: no program
// or loop step starts, but an axis that is held whole is looked at all the same.
static bool always_inside(const kc_tiler *t, const kc_axis *axis) {
    if (axis->slot < 0) return true;
    if (kc_expr_divisor(t->pool, span_of(axis)) % axis->tile != 0) return false;
    return !(axis->folded && t->rows_whole) || kc_expr_min_value(t->pool, axis->extent) > 0;
}

// Offsets inside the extent: local < min(extent - base, tile). NULL when the tile always fits.
static kc_value *mask_of(kc_tiler *t, const kc_axis *axis) {
    if (always_inside(t, axis)) return NULL;
    kc_value *left = kc_tiler_sym(t, span_of(axis));
    if (axis->base) left = kc_build_binary(&t->build, KC_OP_SUB, left, axis->base);
    left = kc_build_binary(&t->build, KC_OP_MIN, left, kc_tiler_int(t, KC_i64, axis->tile));
    return kc_build_binary(&t->build, KC_OP_LT, axis->local,
                           kc_build_cast(&t->build, left, KC_i32));
}

void kc_tiler_make_offsets(kc_tiler *t) {
    for (int a = 0; a < t->n_axes; a++) {
        kc_axis *axis = &t->axes[a];
        if (axis->slot < 0) continue;
        axis->local = kc_build_1(&t->build, KC_OP_IOTA, kc_tiler_type(t, KC_i32, 1u << a), 0, NULL);
        kc_attr_set_int(axis->local->def, KC_ATTR_AXIS, axis->slot);
    }
}

// The part that a tile lies in, and the tile's number inside it.
static kc_value *open_part(kc_tiler *t, kc_axis *axis, kc_value *index) {
    const kc_expr *each = kc_expr_cdiv(t->pool, axis->part, kc_expr_const(t->pool, axis->tile));
    axis->number = index;
    if (!index || kc_expr_is_one(each)) return NULL;
    axis->number = kc_build_binary(&t->build, KC_OP_FLOORDIV, index, kc_tiler_sym(t, each));
    return kc_build_binary(&t->build, KC_OP_MOD, index, kc_tiler_sym(t, each));
}

void kc_tiler_open_axis(kc_tiler *t, int a, kc_value *index) {
    kc_axis *axis = &t->axes[a];
    if (axis->part) index = open_part(t, axis, index);
    axis->base = index;
    if (index && axis->tile != 1)
        axis->base =
            kc_build_binary(&t->build, KC_OP_MUL, index, kc_tiler_int(t, KC_i64, axis->tile));
    axis->mask = mask_of(t, axis);
    if (!axis->number) return;
    kc_value *first =
        kc_build_binary(&t->build, KC_OP_MUL, axis->number, kc_tiler_sym(t, axis->part));
    axis->base = axis->base ? kc_build_binary(&t->build, KC_OP_ADD, axis->base, first) : first;
}

static bool any_before(kc_tiler *t, int a, bool reduced) {
    for (int b = 0; b < a; b++)
        if (t->axes[b].reduced == reduced && !kc_expr_is_one(shares(t, b))) return true;
    return false;
}

// The last axis runs fastest: neighbouring programs work on neighbouring memory. The walked axis
// keeps the index of its share until the walk opens it.
void kc_tiler_open_axes(kc_tiler *t, kc_value *index, bool reduced) {
    for (int a = t->n_axes - 1; a >= 0; a--) {
        if (t->axes[a].reduced != reduced) continue;
        const kc_expr *n = shares(t, a);
        kc_value *mine = NULL;
        if (index && !kc_expr_is_one(n)) {
            bool others = any_before(t, a, reduced);
            mine =
                others ? kc_build_binary(&t->build, KC_OP_MOD, index, kc_tiler_sym(t, n)) : index;
            if (others)
                index = kc_build_binary(&t->build, KC_OP_FLOORDIV, index, kc_tiler_sym(t, n));
        }
        if (a == t->walked) t->axes[a].base = mine;
        else kc_tiler_open_axis(t, a, mine);
    }
}

kc_coord kc_tiler_axis_coord(const kc_tiler *t, int a) {
    const kc_axis *axis = &t->axes[a];
    return (kc_coord){axis->base, axis->local, axis->local ? 1u << a : 0};
}

kc_value *kc_tiler_mask(kc_tiler *t, unsigned axes, kc_value *predicate) {
    kc_value *mask = predicate;
    for (int a = 0; a < t->n_axes; a++) {
        kc_value *m = axes >> a & 1 ? t->axes[a].mask : NULL;
        if (m && m != mask) mask = mask ? kc_build_binary(&t->build, KC_OP_AND, mask, m) : m;
    }
    return mask;
}

kc_value *kc_tiler_coord_value(kc_tiler *t, kc_coord c, kc_dtype dtype) {
    kc_value *base = c.base ? kc_build_cast(&t->build, c.base, dtype) : NULL;
    kc_value *local = c.local ? kc_build_cast(&t->build, c.local, dtype) : NULL;
    if (base && local) return kc_build_binary(&t->build, KC_OP_ADD, base, local);
    return base ? base : local ? local : kc_tiler_int(t, dtype, 0);
}

// The expression that a scalar of the kernel is the value of, or NULL.
static const kc_expr *expr_of(kc_tiler *t, const kc_value *v) {
    if (!v || !v->def) return NULL;
    if (v->def->code == KC_OP_SYM) return kc_attr_expr(v->def, KC_ATTR_EXPR);
    return v->def->code == KC_OP_CONST ? kc_expr_const(t->pool, kc_const_int(v->def)) : NULL;
}

// A shift of something shifted is one shift, or none: then it is the same value, which is how one
// knows it again.
kc_coord kc_tiler_coord_add(kc_tiler *t, kc_coord c, const kc_expr *e) {
    int64_t zero;
    if (kc_expr_is_const(e, &zero) && zero == 0) return c;
    bool sum = c.base && c.base->def && c.base->def->code == KC_OP_ADD;
    kc_value *start = sum ? kc_operand(c.base->def, 0) : NULL;
    const kc_expr *before = expr_of(t, sum ? kc_operand(c.base->def, 1) : c.base);
    if (before) {
        e = kc_expr_add(t->pool, before, e);
        c.base = start;
        if (kc_expr_is_const(e, &zero) && zero == 0) return c;
    }
    kc_value *by = kc_tiler_sym(t, e);
    c.base = c.base ? kc_build_binary(&t->build, KC_OP_ADD, c.base, by) : by;
    return c;
}

// Offsets stay 32 bits wide while the largest one is proved to fit, with room for a sum of
// KC_MAX_RANK of them.
enum { LARGEST_NARROW = 1 << 28 };

// `extent` bounds the coordinate before scaling.
kc_coord kc_tiler_coord_scale(kc_tiler *t, kc_coord c, const kc_expr *by, const kc_expr *extent) {
    int64_t one;
    if (kc_expr_is_const(by, &one) && one == 1) return c;
    if (c.base) c.base = kc_build_binary(&t->build, KC_OP_MUL, c.base, kc_tiler_sym(t, by));
    if (!c.local) return c;
    int64_t largest = kc_expr_max_value(t->pool, extent), factor = kc_expr_max_value(t->pool, by);
    for (int a = 0; a < t->n_axes; a++)
        if (c.axes == 1u << a && t->axes[a].local == c.local && t->axes[a].tile < largest)
            largest = t->axes[a].tile;
    bool narrow = c.local->type.elem == KC_i32 && factor < LARGEST_NARROW &&
                  largest < LARGEST_NARROW / (factor > 0 ? factor : 1);
    kc_dtype dtype = narrow ? KC_i32 : KC_i64;
    kc_value *scalar = kc_build_cast(&t->build, kc_tiler_sym(t, by), dtype);
    c.local =
        kc_build_binary(&t->build, KC_OP_MUL, kc_build_cast(&t->build, c.local, dtype), scalar);
    return c;
}

kc_coord kc_tiler_coord_sum(kc_tiler *t, kc_coord a, kc_coord b) {
    kc_coord sum = {a.base ? a.base : b.base, a.local ? a.local : b.local, a.axes | b.axes};
    if (a.base && b.base) sum.base = kc_build_binary(&t->build, KC_OP_ADD, a.base, b.base);
    if (a.local && b.local) {
        bool same = a.local->type.elem == b.local->type.elem;
        kc_dtype dtype = same ? a.local->type.elem : KC_i64;
        sum.local = kc_build_binary(&t->build, KC_OP_ADD, kc_build_cast(&t->build, a.local, dtype),
                                    kc_build_cast(&t->build, b.local, dtype));
    }
    return sum;
}
