// Tile IR: control, global and shared memory, contractions.
#include "ir/verify.h"

static void check_program_id(kc_checker *c, const kc_op *op) {
    if (kc_check_results(c, op, 1) && !kc_check_scalar(kc_check_result(op, 0), KC_i64))
        kc_check_fail(c, op, "its result is i64");
}

// ---- control

static bool same_carried(const kc_type *a, const kc_type *b) {
    return a->elem == b->elem && kc_type_same_shape(NULL, a, b) &&
           kc_layout_same(a->layout, b->layout);
}

static void check_for(kc_checker *c, const kc_op *op) {
    int n = op->segments[2];
    if (!kc_check_results(c, op, n)) return;
    for (int i = 0; i < 2; i++)
        if (!kc_check_scalar(kc_check_operand(c, op, i), KC_i64))
            kc_check_fail(c, op, "bound %d is no i64 scalar", i);
    if (op->body->n_args != n + 1) {
        kc_check_fail(c, op,
                      "its region takes %d arguments, expected the counter and %d carried values",
                      op->body->n_args, n);
        return;
    }
    if (!kc_check_scalar(&op->body->args[0]->type, KC_i64))
        kc_check_fail(c, op, "the counter is no i64 scalar");
    const kc_type **types = KC_NEW_ARRAY(c->scratch, const kc_type *, n);
    for (int i = 0; i < n; i++) {
        types[i] = kc_check_operand(c, op, i + 2);
        if (types[i]->kind == KC_TYPE_TENSOR)
            kc_check_fail(c, op, "carried value %d is a tensor", i);
        if (types[i]->kind == KC_TYPE_TOKEN && !kc_type_is_group(types[i]))
            kc_check_fail(c, op, "carried value %d is a copy that no group has", i);
        if (!same_carried(types[i], &op->body->args[i + 1]->type))
            kc_check_fail(c, op, "argument %d has not the type of its carried value", i + 1);
        if (!same_carried(types[i], kc_check_result(op, i)))
            kc_check_fail(c, op, "result %d has not the type of its carried value", i);
    }
    kc_check_region_yields(c, op, n, types);
}

static void check_if(kc_checker *c, const kc_op *op) {
    const kc_op *last = kc_check_terminator(op);
    if (!kc_check_scalar(kc_check_operand(c, op, 0), KC_bool))
        kc_check_fail(c, op, "the condition is no bool scalar");
    if (op->body->n_args) kc_check_fail(c, op, "its region takes no arguments");
    if (last && (last->code != KC_OP_YIELD || last->n_operands))
        kc_check_fail(c, op, "its region ends with values, expected none");
}

// ---- global memory

// Every part (coordinates, mask) is a scalar or a tile whose extents are 1 or the whole's.
static bool fits_whole(const kc_type *part, const kc_type *whole) {
    if (part->kind != KC_TYPE_TILE) return false;
    if (part->rank == 0) return true;
    if (part->rank != whole->rank) return false;
    for (int i = 0; i < part->rank; i++)
        if (part->tile[i] != 1 && part->tile[i] != whole->tile[i]) return false;
    return true;
}

static void check_coordinates(kc_checker *c, const kc_op *op, int base_segment,
                              const kc_type *buffer, const kc_type *whole) {
    int n_base, n_local;
    kc_use *base = kc_op_segment(op, base_segment, &n_base),
           *local = kc_op_segment(op, base_segment + 1, &n_local);
    if (n_base != buffer->rank || n_local != buffer->rank) {
        kc_check_fail(c, op, "%d base and %d local coordinates for a buffer of rank %d", n_base,
                      n_local, buffer->rank);
        return;
    }
    for (int i = 0; i < n_base; i++) {
        const kc_type *at = &local[i].value->type;
        if (!kc_check_scalar(&base[i].value->type, KC_i64))
            kc_check_fail(c, op, "base coordinate %d is no i64 scalar", i);
        if (at->elem != KC_i32 && at->elem != KC_i64)
            kc_check_fail(c, op, "local coordinate %d is %s, expected i32 or i64", i,
                          kc_dtype_name(at->elem));
        if (!fits_whole(at, whole))
            kc_check_fail(c, op,
                          "local coordinate %d does not fit the tile (extents are 1 or the tile's)",
                          i);
    }
}

static void check_mask(kc_checker *c, const kc_op *op, int segment, const kc_type *whole) {
    int n;
    kc_use *mask = kc_op_segment(op, segment, &n);
    if (!n) return;
    if (mask->value->type.elem != KC_bool)
        kc_check_fail(c, op, "the mask is %s, expected bool",
                      kc_dtype_name(mask->value->type.elem));
    if (!fits_whole(&mask->value->type, whole))
        kc_check_fail(c, op, "the mask does not fit the tile (extents are 1 or the tile's)");
}

void kc_check_access(kc_checker *c, const kc_op *op, const kc_type *whole, int base_segment) {
    const kc_type *buffer = kc_check_operand(c, op, 0);
    if (!kc_check_kind(c, op, buffer, KC_TYPE_TENSOR, "the buffer") ||
        !kc_check_kind(c, op, whole, KC_TYPE_TILE, "the tile"))
        return;
    if (buffer->elem != whole->elem)
        kc_check_fail(c, op, "the tile is %s, the buffer %s", kc_dtype_name(whole->elem),
                      kc_dtype_name(buffer->elem));
    check_coordinates(c, op, base_segment, buffer, whole);
    check_mask(c, op, base_segment + 2, whole);
}

static void check_load(kc_checker *c, const kc_op *op) {
    if (kc_check_results(c, op, 1)) kc_check_access(c, op, kc_check_result(op, 0), 1);
}

static void check_store(kc_checker *c, const kc_op *op) {
    const kc_value *buffer = kc_operand(op, 0);
    kc_check_access(c, op, kc_check_operand(c, op, 1), 2);
    if (buffer->block && buffer->block->parent == c->kernel && c->kernel &&
        buffer->index < c->kernel->segments[0])
        kc_check_fail(c, op, "it writes to an input of the kernel");
}

// ---- contractions

static void check_dot(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    const kc_type *a = kc_check_operand(c, op, 0), *b = kc_check_operand(c, op, 1),
                  *sum = kc_check_operand(c, op, 2), *result = kc_check_result(op, 0);
    for (int i = 0; i < 3; i++)
        if (!kc_check_kind(c, op, kc_check_operand(c, op, i), KC_TYPE_TILE, "an operand")) return;
    if (a->elem != b->elem)
        kc_check_fail(c, op, "operands are %s and %s", kc_dtype_name(a->elem),
                      kc_dtype_name(b->elem));
    if (sum->elem != KC_f32 && sum->elem != KC_f64 && sum->elem != KC_i32 && sum->elem != KC_i64)
        kc_check_fail(c, op, "the accumulator is %s, expected f32, f64, i32 or i64",
                      kc_dtype_name(sum->elem));
    if (!same_carried(sum, result) || result->kind != KC_TYPE_TILE)
        kc_check_fail(c, op, "the result has not the accumulator's type");
    if (a->rank != sum->rank || b->rank != sum->rank) {
        kc_check_fail(c, op, "operands of ranks %d and %d with an accumulator of rank %d", a->rank,
                      b->rank, sum->rank);
        return;
    }
    if (!kc_check_axis(c, op, sum->rank)) return;
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    if (sum->tile[axis] != 1)
        kc_check_fail(c, op, "the accumulator has extent %lld along the axis, expected 1",
                      (long long)sum->tile[axis]);
    if (a->tile[axis] != b->tile[axis])
        kc_check_fail(c, op, "the extents that are summed over differ");
    for (int d = 0; d < sum->rank; d++) {
        bool fits = (a->tile[d] == 1 || a->tile[d] == sum->tile[d]) &&
                    (b->tile[d] == 1 || b->tile[d] == sum->tile[d]) &&
                    (a->tile[d] == sum->tile[d] || b->tile[d] == sum->tile[d]);
        if (d != axis && !fits)
            kc_check_fail(c, op, "extents along dimension %d do not fit the accumulator", d);
    }
}

// ---- shared memory

static void check_convert(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    const kc_type *x = kc_check_operand(c, op, 0), *result = kc_check_result(op, 0);
    if (!kc_check_kind(c, op, x, KC_TYPE_TILE, "the operand")) return;
    if (x->elem != result->elem || !kc_type_same_shape(NULL, x, result))
        kc_check_fail(c, op, "it changes the layout alone");
}

static void check_shared_alloc(kc_checker *c, const kc_op *op) {
    if (kc_check_results(c, op, 1))
        kc_check_kind(c, op, kc_check_result(op, 0), KC_TYPE_SHARED, "the result");
}

// The extents of one stage of a buffer, without those that are 1: layouts may drop or add these.
static int squeeze(const kc_type *type, int first, int64_t extents[KC_MAX_RANK]) {
    int n = 0;
    for (int i = first; i < type->rank; i++)
        if (type->tile[i] != 1) extents[n++] = type->tile[i];
    return n;
}

static bool same_extents(const kc_type *buffer, bool staged, const kc_type *tile) {
    int64_t a[KC_MAX_RANK], b[KC_MAX_RANK];
    int n = squeeze(buffer, staged, a);
    if (n != squeeze(tile, 0, b)) return false;
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) return false;
    return true;
}

// The part at `offsets` lies inside the buffer, dimension by dimension of the tile.
static void check_part(kc_checker *c, const kc_op *op, const kc_type *buffer, bool staged,
                       const kc_type *tile) {
    const kc_attr *offsets = kc_attr_get(op, KC_ATTR_OFFSETS);
    if (offsets->count != tile->rank || buffer->rank - staged != tile->rank) {
        kc_check_fail(c, op, "%d offsets for a tile of rank %d in a buffer of rank %d",
                      offsets->count, tile->rank, buffer->rank - staged);
        return;
    }
    for (int i = 0; i < tile->rank; i++) {
        int64_t extent = buffer->tile[i + staged], room = extent - tile->tile[i];
        if (offsets->integers[i] < 0 || offsets->integers[i] > room)
            kc_check_fail(c, op, "dimension %d of the part lies outside the buffer", i);
    }
}

void kc_check_shared_access(kc_checker *c, const kc_op *op, const kc_type *tile, int operand,
                            int stage_segment) {
    const kc_type *buffer = kc_check_operand(c, op, operand);
    int staged;
    kc_use *stage = kc_op_segment(op, stage_segment, &staged);
    if (!kc_check_kind(c, op, buffer, KC_TYPE_SHARED, "the buffer") ||
        !kc_check_kind(c, op, tile, KC_TYPE_TILE, "the tile"))
        return;
    if (buffer->elem != tile->elem)
        kc_check_fail(c, op, "the tile is %s, the buffer %s", kc_dtype_name(tile->elem),
                      kc_dtype_name(buffer->elem));
    if (staged && (!kc_check_scalar(&stage->value->type, KC_DTYPE_NONE) ||
                   !kc_dtype_is_integer(stage->value->type.elem)))
        kc_check_fail(c, op, "the stage is no integer scalar");
    if (staged && buffer->rank == 0) kc_check_fail(c, op, "the buffer has no stages");
    else if (kc_attr_get(op, KC_ATTR_OFFSETS)) check_part(c, op, buffer, staged, tile);
    else if (!same_extents(buffer, staged, tile))
        kc_check_fail(c, op, "the tile has not the extents of %s",
                      staged ? "a stage of the buffer" : "the buffer");
}

static void check_shared_store(kc_checker *c, const kc_op *op) {
    kc_check_shared_access(c, op, kc_check_operand(c, op, 1), 0, 2);
}

static void check_shared_load(kc_checker *c, const kc_op *op) {
    if (kc_check_results(c, op, 1)) kc_check_shared_access(c, op, kc_check_result(op, 0), 0, 1);
}

kc_check_facts *kc_check_tile_facts(kc_opcode code) {
    switch (code) {
    case KC_OP_PROGRAM_ID: return check_program_id;
    case KC_OP_FOR: return check_for;
    case KC_OP_IF: return check_if;
    case KC_OP_LOAD: return check_load;
    case KC_OP_STORE: return check_store;
    case KC_OP_DOT: return check_dot;
    case KC_OP_CONVERT: return check_convert;
    case KC_OP_SCAN_CARRY: return kc_check_scan_carry;
    case KC_OP_SHARED_ALLOC: return check_shared_alloc;
    case KC_OP_SHARED_STORE: return check_shared_store;
    case KC_OP_SHARED_LOAD: return check_shared_load;
    default: return NULL;
    }
}
