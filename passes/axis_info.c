#include "passes/axis_info.h"
#include "passes/integers.h"

enum { WHOLE = 1 << 30 }; // stands for "as far as the tile goes"

static int64_t divisor_of(int64_t n) {
    return n == 0 ? WHOLE : smaller(power_of_two_in(n), WHOLE);
}

static kc_axis_info unknown(const kc_value *v, int rank) {
    kc_axis_info info = {.divisor = 1};
    for (int d = 0; d < rank; d++) {
        info.contiguity[d] = 1;
        info.constancy[d] = v->type.rank == 0 || v->type.tile[d] == 1 ? WHOLE : 1;
    }
    return info;
}

static bool contiguous(const kc_axis_info *info, int rank) {
    for (int d = 0; d < rank; d++)
        if (info->contiguity[d] > 1) return true;
    return false;
}

// Divides every element, not only the first of each group.
static int64_t divisor_of_all(const kc_axis_info *info, int rank) {
    return contiguous(info, rank) ? 1 : info->divisor;
}

static kc_axis_info combined(const kc_value *v, int rank, const kc_axis_info *a,
                             const kc_axis_info *b) {
    kc_axis_info info = unknown(v, rank);
    for (int d = 0; d < rank; d++)
        info.constancy[d] = larger(info.constancy[d], smaller(a->constancy[d], b->constancy[d]));
    return info;
}

static kc_axis_info of_add(const kc_value *v, int rank, const kc_axis_info *a,
                           const kc_axis_info *b, bool subtract) {
    kc_axis_info info = combined(v, rank, a, b);
    for (int d = 0; d < rank; d++) {
        int64_t ab = smaller(a->contiguity[d], b->constancy[d]);
        int64_t ba = subtract ? 1 : smaller(a->constancy[d], b->contiguity[d]);
        info.contiguity[d] = larger(ab, ba);
    }
    int64_t da = a->divisor, db = b->divisor;
    for (int d = 0; d < rank; d++) { // in shorter groups only their own length is known to divide
        if (a->contiguity[d] > info.contiguity[d]) da = smaller(da, info.contiguity[d]);
        if (b->contiguity[d] > info.contiguity[d]) db = smaller(db, info.contiguity[d]);
    }
    info.divisor = smaller(da, db);
    return info;
}

// x < limit, x >= limit: whole groups fall on one side when the limit is a multiple of their
// length.
static kc_axis_info of_compare(const kc_value *v, int rank, const kc_axis_info *a,
                               const kc_axis_info *b) {
    kc_axis_info info = combined(v, rank, a, b);
    for (int d = 0; d < rank; d++) {
        int64_t group =
            smaller(smaller(a->contiguity[d], a->divisor), smaller(b->divisor, b->constancy[d]));
        info.constancy[d] = larger(info.constancy[d], group);
    }
    return info;
}

static kc_axis_info of_mod(const kc_value *v, int rank, const kc_axis_info *a,
                           const kc_axis_info *b, bool quotient) {
    kc_axis_info info = combined(v, rank, a, b);
    for (int d = 0; d < rank; d++) {
        int64_t group =
            smaller(smaller(a->contiguity[d], a->divisor), smaller(b->divisor, b->constancy[d]));
        int64_t *to = quotient ? &info.constancy[d] : &info.contiguity[d];
        *to = larger(*to, group);
    }
    if (!quotient) info.divisor = smaller(a->divisor, b->divisor);
    return info;
}

// Index arithmetic is small; an index computed from data may be a large graph with many paths, of
// which nothing is known.
enum { MOST_OPS = 500 };

static kc_axis_info info_of(kc_expr_pool *pool, const kc_value *v, int rank, int *budget) {
    kc_axis_info info = unknown(v, rank), a, b;
    const kc_op *op = v->def;
    if (!op || --*budget < 0) return info;
    if (op->code == KC_OP_IOTA) {
        int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
        info.contiguity[axis] = divisor_of(v->type.tile[axis]);
        info.divisor = info.contiguity[axis];
        return info;
    }
    if (op->code == KC_OP_CONST) {
        for (int d = 0; d < rank; d++)
            info.constancy[d] = WHOLE;
        info.divisor = divisor_of(kc_attr_int(op, KC_ATTR_INTEGER, 1));
        return info;
    }
    if (op->code == KC_OP_SYM) {
        info.divisor = divisor_of(kc_expr_divisor(pool, kc_attr_expr(op, KC_ATTR_EXPR)));
        return info;
    }
    if (!kc_op_has(op, KC_ELEMENTWISE)) return info;
    a = info_of(pool, kc_operand(op, 0), rank, budget);
    if (op->code == KC_OP_CAST) return a;
    if (op->n_operands < 2) return combined(v, rank, &a, &a);
    b = info_of(pool, kc_operand(op, 1), rank, budget);
    switch (op->code) {
    case KC_OP_ADD: return of_add(v, rank, &a, &b, false);
    case KC_OP_SUB: return of_add(v, rank, &a, &b, true);
    case KC_OP_LT:
    case KC_OP_GE: return of_compare(v, rank, &a, &b);
    case KC_OP_MOD: return of_mod(v, rank, &a, &b, false);
    case KC_OP_FLOORDIV: return of_mod(v, rank, &a, &b, true);
    case KC_OP_MUL:
        info = combined(v, rank, &a, &b);
        info.divisor = smaller(divisor_of_all(&a, rank) * divisor_of_all(&b, rank), WHOLE);
        return info;
    case KC_OP_MIN:
    case KC_OP_MAX:
        info = combined(v, rank, &a, &b);
        info.divisor = smaller(divisor_of_all(&a, rank), divisor_of_all(&b, rank));
        return info;
    default:
        info = combined(v, rank, &a, &b);
        if (op->n_operands > 2) {
            kc_axis_info c = info_of(pool, kc_operand(op, 2), rank, budget);
            info = combined(v, rank, &info, &c);
        }
        return info;
    }
}

kc_axis_info kc_axis_info_of(kc_expr_pool *pool, const kc_value *v, int rank) {
    int budget = MOST_OPS;
    return info_of(pool, v, rank, &budget);
}

// ---- what lies near -----------------------------------------------------------------------------

// Along one dimension: by how much most neighbours differ, and how many of them do so in a row.
typedef struct {
    int64_t step, run;
} kc_walk;

static bool known_integer(const kc_value *v, int64_t *value) {
    while (v->def && v->def->code == KC_OP_CAST)
        v = kc_operand(v->def, 0);
    if (!v->def || v->def->code != KC_OP_CONST || !kc_attr_get(v->def, KC_ATTR_INTEGER))
        return false;
    *value = kc_attr_int(v->def, KC_ATTR_INTEGER, 0);
    return true;
}

static kc_walk walk_of(const kc_value *v, int d, int *budget) {
    const kc_walk still = {0, WHOLE}, unknown_walk = {0, 1};
    const kc_op *op = v->def;
    int64_t by;
    if (v->type.rank == 0 || v->type.tile[d] == 1) return still;
    if (!op || --*budget < 0) return unknown_walk;
    if (op->code == KC_OP_IOTA)
        return kc_attr_int(op, KC_ATTR_AXIS, 0) == d ? (kc_walk){1, v->type.tile[d]} : still;
    if (op->code == KC_OP_CONST) return still;
    if (!kc_op_has(op, KC_ELEMENTWISE) || op->n_operands > 2) return unknown_walk;
    kc_walk a = walk_of(kc_operand(op, 0), d, budget);
    if (op->code == KC_OP_CAST) return a;
    if (op->n_operands < 2) return unknown_walk;
    kc_walk b = walk_of(kc_operand(op, 1), d, budget);
    int64_t run = smaller(a.run, b.run);
    bool known = known_integer(kc_operand(op, 1), &by);
    switch (op->code) {
    case KC_OP_ADD: return (kc_walk){a.step + b.step, run};
    case KC_OP_SUB: return (kc_walk){a.step - b.step, run};
    case KC_OP_MUL:
        return known && by > 0 && by < WHOLE / larger(larger(a.step, -a.step), 1)
                   ? (kc_walk){a.step * by, run}
               : a.step || b.step ? unknown_walk
                                  : (kc_walk){0, run};
    case KC_OP_MOD: return (kc_walk){a.step, known && by > 0 ? smaller(run, by) : run};
    case KC_OP_FLOORDIV: return (kc_walk){0, known && by > 0 ? smaller(run, by) : run};
    default: return unknown_walk;
    }
}

// Long runs of small steps are near; a lane's worth is enough.
static int nearest(const kc_value *local, int rank) {
    enum { LANES = 32 };
    int near = -1;
    int64_t best = 0;
    for (int d = 0; d < rank; d++) {
        int budget = MOST_OPS;
        kc_walk walk = walk_of(local, d, &budget);
        if (walk.step == 0) continue;
        int64_t score = LANES * smaller(walk.run, LANES) / larger(walk.step, -walk.step);
        if (score > best) near = d, best = score;
    }
    return near;
}

// ---- accesses -----------------------------------------------------------------------------------

static int64_t tile_extent(const kc_use *locals, int n, int d) {
    int64_t extent = 1;
    for (int i = 0; i < n; i++)
        if (locals[i].value->type.rank && locals[i].value->type.tile[d] > extent)
            extent = locals[i].value->type.tile[d];
    return extent;
}

static bool is_zero(const kc_value *v) {
    return v->def && v->def->code == KC_OP_CONST && v->type.rank == 0 &&
           kc_attr_int(v->def, KC_ATTR_INTEGER, 1) == 0;
}

static int tile_rank(const kc_use *locals, int n, const kc_value *mask) {
    int rank = mask ? mask->type.rank : 0;
    for (int i = 0; i < n; i++)
        if (locals[i].value->type.rank > rank) rank = locals[i].value->type.rank;
    return rank;
}

// What every other dimension adds to the address must keep the alignment, and must not change along
// the fast one.
static int64_t limit_by_others(kc_expr_pool *pool, const kc_type *type, const kc_use *base,
                               const kc_use *local, int unit, int fast, int rank, int64_t vector) {
    for (int d = 0; d < type->rank; d++) {
        if (d == unit) continue;
        kc_axis_info l = kc_axis_info_of(pool, local[d].value, rank);
        vector = smaller(vector, l.constancy[fast]);
        if (!is_zero(base[d].value) || !is_zero(local[d].value))
            vector = smaller(vector,
                             divisor_of(kc_expr_divisor(pool, kc_type_stride(pool, type, d))));
    }
    return vector;
}

kc_access kc_access_of(kc_expr_pool *pool, const kc_op *op, bool aligned, int64_t widest) {
    const kc_type *type = &kc_operand(op, 0)->type;
    const kc_use *base = op->operands + (op->code == KC_OP_STORE ? 2 : 1),
                 *local = base + type->rank;
    int n = type->rank;
    const kc_value *mask = base + 2 * n < op->operands + op->n_operands ? base[2 * n].value : NULL;
    int rank = tile_rank(local, n, mask), unit = kc_type_unit_stride(pool, type);
    kc_access access = {-1, -1, 1, 1};
    for (int d = 0; d < rank; d++)
        access.elements *= tile_extent(local, n, d);
    if (unit < 0 || rank == 0) return access;
    kc_axis_info along = kc_axis_info_of(pool, local[unit].value, rank);
    for (int d = 0; d < rank; d++)
        if (along.contiguity[d] > 1 &&
            (access.fast < 0 || along.contiguity[d] > along.contiguity[access.fast]))
            access.fast = d;
    access.near = access.fast >= 0 ? access.fast : nearest(local[unit].value, rank);
    if (access.fast < 0) return access;
    int64_t vector = smaller(along.contiguity[access.fast], along.divisor);
    kc_axis_info start = kc_axis_info_of(pool, base[unit].value, rank);
    vector = smaller(vector, start.divisor);
    vector = smaller(vector, 8 * widest / kc_dtype_bits(type->elem));
    vector = limit_by_others(pool, type, base, local, unit, access.fast, rank, vector);
    if (mask) vector = smaller(vector, kc_axis_info_of(pool, mask, rank).constancy[access.fast]);
    if (!aligned)
        vector =
            smaller(vector, kc_dtype_is_packed(type->elem) ? 2 : 1); // a byte is always aligned
    access.vector = larger(vector, 1);
    return access;
}

int64_t kc_access_same(kc_expr_pool *pool, const kc_op *load, int d) {
    int rank = kc_result(load, 0)->type.rank, n_local, n_mask;
    const kc_use *local = kc_op_segment(load, 2, &n_local), *mask = kc_op_segment(load, 3, &n_mask);
    int64_t same = WHOLE;
    for (int i = 0; i < n_local; i++)
        same = smaller(same, kc_axis_info_of(pool, local[i].value, rank).constancy[d]);
    for (int i = 0; i < n_mask; i++)
        same = smaller(same, kc_axis_info_of(pool, mask[i].value, rank).constancy[d]);
    return same;
}
