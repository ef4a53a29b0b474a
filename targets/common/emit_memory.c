// Global loads and stores.
//
// The address of an element is the sum of
//     the buffer and base[d] * stride[d]   64-bit, uniform for the block, computed once
//     what the register adds               uniform, a constant where the strides are
//     what the thread adds                 once an op, in 32 bits where the facts prove that it
//     fits
// A local coordinate that is an iota separates into a register part and a thread part; others are
// multiplied out register by register.
//
// Elements of 4 bits are counted in elements until all parts are summed, since each part may be odd;
// half the sum is the byte. One by one they are loaded as the byte and shifted; they are stored in
// whole bytes alone, because two threads that write one byte overwrite each other's half.
#include "targets/common/emit.h"

typedef struct kc_access {
    const kc_op *op;
    const kc_type *buffer;
    kc_dtype dtype;
    int bytes;    // of an element; 1 for elements of 4 bits
    bool nibbles; // elements of 4 bits
    const kc_use *base, *local;
    const kc_value *mask;              // NULL: all
    const kc_emitted *tile;            // of the result or of the value that is stored
    int vector;                        // elements an access
    int same;                          // registers that one element of a load is for
    bool read_only, narrow;            // narrow: offsets from the uniform pointer fit in 31 bits
    LLVMValueRef pointer;              // uniform
    LLVMValueRef odd;                  // nibbles: 1 where it points at a byte's second half
    LLVMValueRef stride[KC_MAX_RANK];  // i64
    int64_t known_stride[KC_MAX_RANK]; // where is_known
    bool is_known[KC_MAX_RANK];
    int iota[KC_MAX_RANK]; // axis of the tile whose index the coordinate is; -1: something else;
                           // -2: constant 0
    LLVMValueRef thread_offset; // of all iota coordinates together, in bytes; NULL when 0
} access;

// ---- setting up -----------------------------------------------------------------------------

// The iota behind casts, when its own layout's registers separate from threads in the tile's
// layout.
static int iota_axis(const access *a, const kc_value *local) {
    const kc_op *def = local->def;
    while (def && def->code == KC_OP_CAST)
        def = kc_operand(def, 0)->def;
    if (!def) return -1;
    if (def->code == KC_OP_CONST && kc_attr_int(def, KC_ATTR_INTEGER, 0) == 0 &&
        kc_attr_float(def, KC_ATTR_VALUE, 0) == 0)
        return -2;
    if (def->code != KC_OP_IOTA || !a->tile->map) return -1;
    int axis = (int)kc_attr_int(def, KC_ATTR_AXIS, 0);
    int64_t threads = kc_tile_map_thread_mask(a->tile->map, axis);
    for (int r = 0; r < a->tile->n; r++)
        if (a->tile->map->linear[r][axis] & threads) return -1;
    return axis;
}

static bool offsets_fit(kc_emit *e, const access *a, int rank) {
    __int128 most = 0;
    for (int d = 0; d < rank; d++) {
        const kc_expr *stride = kc_type_stride(e->pool, a->buffer, d);
        int64_t low = kc_expr_min_value(e->pool, stride), high = kc_expr_max_value(e->pool, stride);
        kc_range r = kc_emit_range(e, a->local[d].value);
        if (low < 0 || r.low < 0) return false;
        most += (__int128)r.high * high * a->bytes;
        if (most > INT32_MAX) return false;
    }
    return true;
}

static void find_strides(kc_emit *e, access *a, int rank) {
    for (int d = 0; d < rank; d++) {
        const kc_expr *stride = kc_type_stride(e->pool, a->buffer, d);
        a->is_known[d] = kc_expr_is_const(stride, &a->known_stride[d]);
        a->stride[d] = kc_emit_expr(e, stride);
    }
}

static LLVMValueRef scaled(kc_emit *e, LLVMValueRef offset, int bytes) {
    return LLVMBuildMul(e->builder, offset,
                        LLVMConstInt(LLVMTypeOf(offset), (uint64_t)bytes, false), "");
}

static LLVMValueRef advance(kc_emit *e, LLVMValueRef pointer, LLVMValueRef bytes) {
    return LLVMBuildGEP2(e->builder, e->i8, pointer, &bytes, 1, "");
}

static LLVMTypeRef offset_type(const kc_emit *e, const access *a) {
    return a->narrow ? e->i32 : e->i64;
}

static void find_base(kc_emit *e, access *a, LLVMValueRef buffer, int rank) {
    LLVMValueRef sum = kc_emit_i64(e, 0);
    for (int d = 0; d < rank; d++) {
        const kc_value *base = a->base[d].value;
        LLVMValueRef b = kc_emit_convert_int(e, kc_emit_scalar(base), e->i64, true);
        sum = LLVMBuildAdd(e->builder, sum, LLVMBuildMul(e->builder, b, a->stride[d], ""), "");
    }
    if (a->nibbles) {
        LLVMValueRef one = kc_emit_i64(e, 1), odd = LLVMBuildAnd(e->builder, sum, one, "");
        a->odd = kc_emit_convert_int(e, odd, offset_type(e, a), false);
        sum = LLVMBuildAShr(e->builder, sum, one, "");
    }
    a->pointer = advance(e, buffer, scaled(e, sum, a->bytes));
}

// stride as an i32 or i64, as offsets are computed
static LLVMValueRef stride_of(kc_emit *e, const access *a, int d) {
    return a->narrow ? LLVMBuildTrunc(e->builder, a->stride[d], e->i32, "") : a->stride[d];
}

static void find_thread_offset(kc_emit *e, access *a, int rank) {
    const kc_tile_map *m = a->tile->map;
    for (int d = 0; d < rank; d++) {
        if (a->iota[d] < 0) continue;
        int64_t basis[KC_MAX_THREAD_BITS];
        for (int b = 0; b < m->thread_bits; b++)
            basis[b] = m->threads[b][a->iota[d]];
        if (!kc_tile_map_thread_mask(m, a->iota[d])) continue;
        LLVMValueRef t = kc_emit_thread_part(e, basis, m->thread_bits);
        t = kc_emit_convert_int(e, t, offset_type(e, a), false);
        t = scaled(e, LLVMBuildMul(e->builder, t, stride_of(e, a, d), ""), a->bytes);
        a->thread_offset = a->thread_offset ? LLVMBuildAdd(e->builder, a->thread_offset, t, "") : t;
    }
}

// What the layout pass says, at most what the target moves at once.
static int vector_of(const kc_emit *e, const access *a) {
    int vector = (int)kc_attr_int(a->op, KC_ATTR_VECTOR, 1),
        most = (int)e->target->attributes.vector_bytes * 8 / kc_dtype_table[a->dtype].bits;
    if (most < 1) most = 1;
    if (vector > most) vector = most;
    if (vector < 1 || a->tile->n % vector)
        kc_bug("%s: %d registers in vectors of %d", kc_op_row(a->op)->name, a->tile->n, vector);
    return vector;
}

static access begin(kc_emit *e, const kc_op *op, const kc_value *buffer, const kc_value *tile,
                    int base_segment) {
    access a = {.op = op, .buffer = &buffer->type, .dtype = buffer->type.elem};
    int rank = buffer->type.rank, n, masks;
    const kc_use *mask;
    a.bytes = kc_dtype_unit(a.dtype);
    a.nibbles = kc_dtype_is_packed(a.dtype);
    a.base = kc_op_segment(op, base_segment, &n);
    a.local = kc_op_segment(op, base_segment + 1, &masks);
    if (n != rank || masks != rank)
        kc_bug("%s: %d bases and %d locals for rank %d", kc_op_row(op)->name, n, masks, rank);
    mask = kc_op_segment(op, base_segment + 2, &masks);
    a.mask = masks ? mask->value : NULL;
    a.tile = kc_emit_get(tile);
    a.read_only = kc_emit_get(buffer)->read_only;
    a.narrow = offsets_fit(e, &a, rank);
    find_strides(e, &a, rank);
    find_base(e, &a, kc_emit_get(buffer)->regs[0], rank);
    for (int d = 0; d < rank; d++)
        a.iota[d] = iota_axis(&a, a.local[d].value);
    find_thread_offset(e, &a, rank);
    a.vector = vector_of(e, &a);
    a.same = (int)kc_attr_int(op, KC_ATTR_SAME, 1);
    if (a.same < 1 || a.tile->n % a.same || (a.same > 1 && a.vector > 1))
        kc_bug("%s: %d registers that are the same, of %d", kc_op_row(op)->name, a.same, a.tile->n);
    return a;
}

// ---- one register's address -----------------------------------------------------------------

// Coordinates that do not separate, multiplied out.
static LLVMValueRef other_offset(kc_emit *e, const access *a, int r) {
    LLVMValueRef sum = a->thread_offset;
    for (int d = 0; d < a->buffer->rank; d++) {
        if (a->iota[d] != -1) continue;
        const kc_value *local = a->local[d].value;
        LLVMValueRef x = kc_emit_operand_register(e, a->tile, r, local);
        bool is_signed = kc_dtype_table[local->type.elem].class == KC_CLASS_INT;
        x = kc_emit_convert_int(e, x, offset_type(e, a), is_signed);
        x = scaled(e, LLVMBuildMul(e->builder, x, stride_of(e, a, d), ""), a->bytes);
        sum = sum ? LLVMBuildAdd(e->builder, sum, x, "") : x;
    }
    return sum;
}

static LLVMValueRef address(kc_emit *e, const access *a, int r) {
    LLVMValueRef pointer = a->pointer;
    int64_t constant = 0;
    for (int d = 0; d < a->buffer->rank; d++) {
        if (a->iota[d] < 0) continue;
        int64_t c = kc_tile_map_at(a->tile->map, r, a->iota[d]) * a->bytes;
        if (a->is_known[d]) constant += c * a->known_stride[d];
        else if (c)
            pointer =
                advance(e, pointer, LLVMBuildMul(e->builder, a->stride[d], kc_emit_i64(e, c), ""));
    }
    LLVMValueRef offset = other_offset(e, a, r);
    if (offset) // narrow offsets are not negative
        pointer =
            advance(e, pointer, a->narrow ? LLVMBuildZExt(e->builder, offset, e->i64, "") : offset);
    return constant ? advance(e, pointer, kc_emit_i64(e, constant)) : pointer;
}

// Elements from `pointer` to register r's, `odd` included.
static LLVMValueRef nibble_offset(kc_emit *e, const access *a, int r) {
    LLVMBuilderRef b = e->builder;
    LLVMTypeRef type = offset_type(e, a);
    LLVMValueRef sum = a->odd, other = other_offset(e, a, r);
    if (other) sum = LLVMBuildAdd(b, sum, other, "");
    for (int d = 0; d < a->buffer->rank; d++) {
        if (a->iota[d] < 0) continue;
        int64_t c = kc_tile_map_at(a->tile->map, r, a->iota[d]);
        LLVMValueRef times = LLVMConstInt(type, (uint64_t)c, false);
        if (c) sum = LLVMBuildAdd(b, sum, LLVMBuildMul(b, stride_of(e, a, d), times, ""), "");
    }
    return sum;
}

static LLVMValueRef byte_address(kc_emit *e, const access *a, LLVMValueRef nibble) {
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(nibble), 1, false);
    if (!a->narrow) return advance(e, a->pointer, LLVMBuildAShr(e->builder, nibble, one, ""));
    LLVMValueRef byte = LLVMBuildLShr(e->builder, nibble, one, "");
    return advance(e, a->pointer, LLVMBuildZExt(e->builder, byte, e->i64, ""));
}

static LLVMValueRef both(kc_emit *e, LLVMValueRef a, LLVMValueRef b) {
    return !a ? b : !b ? a : LLVMBuildAnd(e->builder, a, b, "");
}

static LLVMValueRef mask_of(kc_emit *e, const access *a, int r) {
    return a->mask ? kc_emit_operand_register(e, a->tile, r, a->mask) : NULL;
}

static bool is_always(LLVMValueRef mask) {
    return !mask || (LLVMIsAConstantInt(mask) && LLVMConstIntGetZExtValue(mask) == 1);
}

// ---- ops ------------------------------------------------------------------------------------

static LLVMValueRef fill_of(kc_emit *e, const access *a, int vector) {
    enum { WIDEST = 32 };
    LLVMValueRef fill[WIDEST],
        one = kc_emit_constant(e, a->dtype, kc_attr_float(a->op, KC_ATTR_VALUE, 0));
    if (a->nibbles && vector == 1) vector = 2; // both halves of the byte
    for (int i = 0; i < vector; i++)
        fill[i] = one;
    if (a->nibbles) return kc_emit_pack_nibbles(e, fill, vector);
    return kc_emit_pack(e, a->dtype, fill, vector); // folds to a constant
}

// The half of a byte that register r's offset says.
static LLVMValueRef half_of(kc_emit *e, kc_dtype dtype, LLVMValueRef byte, LLVMValueRef nibble) {
    LLVMBuilderRef b = e->builder;
    LLVMValueRef odd = LLVMBuildTrunc(b, nibble, e->i1, "");
    LLVMValueRef high = LLVMBuildLShr(b, byte, LLVMConstInt(e->i8, 4, false), "");
    return kc_emit_from_nibble(e, dtype, LLVMBuildSelect(b, odd, high, byte, ""));
}

// The vector that begins with register r.
static void load_vector(kc_emit *e, const access *a, kc_emitted *v, int r) {
    LLVMValueRef fill = fill_of(e, a, a->vector), mask = mask_of(e, a, r);
    LLVMValueRef nibble = a->nibbles ? nibble_offset(e, a, r) : NULL;
    LLVMValueRef pointer = nibble ? byte_address(e, a, nibble) : address(e, a, r);
    LLVMValueRef value = is_always(mask)
                             ? kc_emit_plain_load(e, LLVMTypeOf(fill), pointer, a->read_only)
                             : e->hooks->load_masked(e, pointer, mask, fill, a->read_only);
    if (!nibble) kc_emit_unpack(e, a->dtype, value, &v->regs[r], a->vector);
    else if (a->vector > 1) kc_emit_unpack_nibbles(e, a->dtype, value, &v->regs[r], a->vector);
    else v->regs[r] = half_of(e, a->dtype, value, nibble);
    for (int i = 1; i < a->same; i++)
        v->regs[r + i] = v->regs[r];
}

// Registers that load_vector fills.
static int group_of(const access *a) {
    return a->same > 1 ? a->same : a->vector;
}

void kc_emit_load_register(kc_emit *e, const kc_op *op, int r) {
    kc_emitted *v = kc_result(op, 0)->data;
    if (!v->access) {
        v->access = KC_NEW(e->arena, access);
        *v->access = begin(e, op, kc_operand(op, 0), kc_result(op, 0), 1);
    }
    load_vector(e, v->access, v, r - r % group_of(v->access));
}

// What a loop needs is asked for when it begins; what only comes after it need not be held through
// it.
static bool loop_follows(const kc_op *op) {
    while ((op = op->next))
        if (op->code == KC_OP_FOR) return true;
    return false;
}

void kc_emit_load(kc_emit *e, const kc_op *op) {
    kc_value *result = kc_result(op, 0);
    kc_emitted *v = kc_emit_define(e, result);
    bool outside_loops = op->block == e->kernel->body;
    if (outside_loops && v->map && kc_emit_get(kc_operand(op, 0))->read_only &&
        (e->loads_much || loop_follows(op))) {
        v->late = op;
        return;
    }
    access a = begin(e, op, kc_operand(op, 0), result, 1);
    for (int r = 0; r < v->n; r += group_of(&a))
        load_vector(e, &a, v, r);
}

// Loads are emitted where they stand, all at once, so that their latencies overlap, as long as what
// they hold leaves registers to work with.
bool kc_emit_loads_much(const kc_op *kernel) {
    enum { WORDS_A_THREAD = 48 };
    int64_t words = 0;
    for (const kc_op *op = kernel->body->first; op; op = op->next) {
        if (op->code != KC_OP_LOAD || !kc_result(op, 0)->type.layout) continue;
        int bytes = kc_dtype_bytes(kc_result(op, 0)->type.elem);
        words += (int64_t)kc_layout_count(kc_result(op, 0)->type.layout, KC_LAYOUT_REGISTER) *
                 (bytes > 4 ? 2 : 1);
    }
    return words > WORDS_A_THREAD;
}

static LLVMValueRef writer(kc_emit *e, const kc_tile_map *m) {
    if (m) return kc_emit_representative(e, m);
    return LLVMBuildICmp(e->builder, LLVMIntEQ, e->thread, kc_emit_i32(e, 0), "");
}

// The vector that begins with register r.
static void store_vector(kc_emit *e, const access *a, const kc_value *value, int r,
                         LLVMValueRef representative) {
    LLVMValueRef mask = both(e, representative, mask_of(e, a, r));
    LLVMValueRef pointer =
        a->nibbles ? byte_address(e, a, nibble_offset(e, a, r)) : address(e, a, r);
    for (int i = 0; i < a->vector; i++)
        kc_emit_register(e, value, r + i);
    const LLVMValueRef *first = &a->tile->regs[r];
    LLVMValueRef packed = a->nibbles ? kc_emit_pack_nibbles(e, first, a->vector)
                                     : kc_emit_pack(e, a->dtype, first, a->vector);
    if (is_always(mask)) kc_emit_plain_store(e, packed, pointer);
    else e->hooks->store_masked(e, pointer, mask, packed);
}

void kc_emit_store(kc_emit *e, const kc_op *op) {
    const kc_value *value = kc_operand(op, 1);
    access a = begin(e, op, kc_operand(op, 0), value, 2);
    if (a.nibbles && a.vector < 2) kc_bug("store: elements of 4 bits by the half byte");
    LLVMValueRef representative = writer(e, a.tile->map);
    for (int r = 0; r < a.tile->n; r += a.vector) {
        if (!kc_emit_is_copy(a.tile->map, r)) store_vector(e, &a, value, r, representative);
    }
}

// ---- for copies -----------------------------------------------------------------------------

kc_global_place *kc_emit_global_place(kc_emit *e, const kc_op *op, const kc_value *buffer,
                                      const kc_value *tile, int base_segment) {
    access *a = KC_NEW(e->arena, access);
    *a = begin(e, op, buffer, tile, base_segment);
    return a;
}

LLVMValueRef kc_emit_global_address(kc_emit *e, const kc_global_place *a, int r) {
    return address(e, a, r);
}

LLVMValueRef kc_emit_global_mask(kc_emit *e, const kc_global_place *a, int r) {
    LLVMValueRef mask = mask_of(e, a, r);
    return is_always(mask) ? NULL : mask;
}
