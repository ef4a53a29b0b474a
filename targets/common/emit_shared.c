// Shared memory: a buffer is a range of one dynamic array; a tile goes there by its layout composed
// with the buffer's.
//
// The offset of an element is thread part XOR register part, plus what repetitions and stages add.
// Register bits that no thread bit touches add a constant, which the instruction holds; the rest
// are XORed once for each different value.
#include "targets/common/emit.h"
#include "targets/dispatch.h"
#include <stdlib.h>

typedef struct {
    int64_t inside;  // XOR part of the element offset that the register adds
    int64_t outside; // added part
    int reg;
} slot;

typedef struct kc_shared_place {
    kc_dtype dtype;
    int bytes, vector, n; // n: different slots
    const kc_tile_map *tile;
    const kc_memory_map *memory;
    int skip;                     // leading dimensions of the buffer's layout that are stages
    int dim[KC_LAYOUT_MAX_RANK];  // of the layout, for each one of the tile; -1 for an extent of 1
                                  // that it lacks
    slot *slots;                  // sorted, copies left out
    int *slot_of;                 // register to slot
    int64_t touched;              // offset bits that threads change
    LLVMValueRef pointer, thread; // first byte of the stage; thread part in elements
    int64_t cached_value;
    LLVMValueRef cached_pointer;
} access;

// ---- the buffer -----------------------------------------------------------------------------

static LLVMValueRef shared_array(kc_emit *e) {
    static const char name[] = "kc_shared";
    LLVMValueRef array = LLVMGetNamedGlobal(e->module, name);
    if (array) return array;
    array = LLVMAddGlobalInAddressSpace(e->module, LLVMArrayType2(e->i8, 0), name, 3);
    LLVMSetLinkage(array, LLVMExternalLinkage);
    LLVMSetAlignment(array, 16);
    return array;
}

static int64_t alloc_offset(const kc_op *alloc) {
    int64_t offset;
    const kc_expr *x = kc_attr_expr(alloc, KC_ATTR_OFFSET);
    if (!x || !kc_expr_is_const(x, &offset))
        kc_bug("shared_alloc without a constant offset: `sync` has not run");
    return offset;
}

void kc_emit_shared_alloc(kc_emit *e, const kc_op *op) {
    LLVMValueRef offset = kc_emit_i32(e, alloc_offset(op));
    LLVMValueRef pointer = LLVMBuildGEP2(e->builder, e->i8, shared_array(e), &offset, 1, "");
    kc_emit_bind(e, kc_result(op, 0), pointer);
}

// Elements from one stage to the next, for a buffer whose layout has the stages as its first
// dimension or not at all.
static int64_t stage_size(const kc_memory_map *m, int skip) {
    int64_t elements = m->linear_size;
    for (int d = 0; d < m->rank; d++)
        elements *= m->reps[d];
    if (!skip) return elements;
    for (int b = 1; b < m->bits[0]; b++)
        if (m->column[0][b] != m->column[0][0] << b)
            kc_bug("stages of a shared buffer are not one after the other");
    if (!m->bits[0]) return elements / m->reps[0];
    if (m->reps[0] > 1 && (m->column[0][0] << m->bits[0]) != elements / m->reps[0])
        kc_bug("stages of a shared buffer are not one after the other");
    return m->column[0][0];
}

// ---- offsets --------------------------------------------------------------------------------

static slot slot_of_register(const access *a, const kc_op *op, int r) {
    const kc_attr *part = kc_attr_get(op, KC_ATTR_OFFSETS);
    slot s = {.reg = r};
    int64_t at[KC_LAYOUT_MAX_RANK] = {0};
    for (int d = 0; d < a->tile->rank; d++) {
        int64_t added = a->tile->repeats[r][d] + (part ? part->integers[d] : 0);
        int64_t own = a->tile->linear[r][d], threads = kc_tile_map_thread_mask(a->tile, d);
        int to = a->dim[d];
        if (to < 0) continue;
        if (added & (own | threads))
            kc_bug("%s: offsets that are no multiple of the tile", kc_op_row(op)->name);
        if (threads >> a->memory->bits[to])
            kc_bug("%s: threads reach over repetitions of the buffer", kc_op_row(op)->name);
        at[to] = own | added;
        s.inside ^= kc_memory_map_linear(a->memory, to, at[to]);
    }
    s.outside = kc_memory_map_repeat(a->memory, at);
    return s;
}

static int compare_slots(const void *x, const void *y) {
    const slot *a = x, *b = y;
    if (a->outside != b->outside) return a->outside < b->outside ? -1 : 1;
    if (a->inside != b->inside) return a->inside < b->inside ? -1 : 1;
    return a->reg - b->reg;
}

static void collect_slots(kc_emit *e, access *a, const kc_op *op) {
    int n = a->tile->n_registers;
    a->slots = KC_NEW_ARRAY(e->arena, slot, n);
    a->slot_of = KC_NEW_ARRAY(e->arena, int, n);
    for (int r = 0; r < n; r++)
        a->slots[r] = slot_of_register(a, op, r);
    qsort(a->slots, (size_t)n, sizeof(slot), compare_slots);
    for (int i = 0; i < n; i++) {
        slot s = a->slots[i];
        bool copy = a->n && a->slots[a->n - 1].inside == s.inside &&
                    a->slots[a->n - 1].outside == s.outside;
        if (!copy) a->slots[a->n++] = s;
        a->slot_of[s.reg] = a->n - 1;
    }
}

static bool vectors_fit(const access *a, int v, int64_t alignment) {
    if (a->touched & (v - 1) || a->n % v || alignment % (v * a->bytes) ||
        a->memory->linear_size < v)
        return false;
    for (int i = 0; i < a->n; i++) {
        const slot *first = &a->slots[i / v * v];
        if (first->inside & (v - 1) || a->slots[i].outside != first->outside) return false;
        if (a->slots[i].inside != first->inside + i % v) return false;
    }
    return true;
}

static void find_vector(const kc_emit *e, access *a, int64_t alignment) {
    a->vector = (int)e->target->attributes.vector_bytes / a->bytes;
    while (a->vector > 1 && !vectors_fit(a, a->vector, alignment))
        a->vector /= 2;
    if (a->vector < 1) a->vector = 1;
}

static void find_thread_part(kc_emit *e, access *a) {
    int64_t basis[KC_MAX_THREAD_BITS];
    for (int b = 0; b < a->tile->thread_bits; b++) {
        basis[b] = 0;
        for (int d = 0; d < a->tile->rank; d++)
            if (a->dim[d] >= 0)
                basis[b] ^= kc_memory_map_linear(a->memory, a->dim[d], a->tile->threads[b][d]);
        a->touched |= basis[b];
    }
    a->thread = kc_emit_thread_part(e, basis, a->tile->thread_bits);
}

// Dimensions correspond in order; where the ranks differ, those of extent 1 are left out on both
// sides.
static void match_dimensions(access *a, const kc_op *op) {
    const kc_memory_map *m = a->memory;
    int next = a->skip;
    bool alike = m->rank - a->skip == a->tile->rank;
    for (int d = 0; d < a->tile->rank; d++) {
        while (!alike && next < m->rank && m->bits[next] == 0 && m->reps[next] == 1)
            next++;
        bool skipped = !alike && a->tile->extent[d] == 1;
        a->dim[d] = skipped ? -1 : next++;
        if (a->dim[d] >= m->rank)
            kc_bug("%s: the extents of buffer and tile differ", kc_op_row(op)->name);
    }
}

static access begin(kc_emit *e, const kc_op *op, const kc_value *buffer, const kc_tile_map *tile,
                    int stage_segment) {
    access a = {.dtype = buffer->type.elem, .tile = tile, .cached_value = -1};
    a.bytes = kc_dtype_unit(a.dtype);
    a.memory = kc_memory_map_create(e->arena, buffer->type.layout);
    if (!a.tile) kc_bug("%s of a scalar", kc_op_row(op)->name);
    int stages;
    const kc_use *stage = kc_op_segment(op, stage_segment, &stages);
    a.skip = stages && a.memory->rank == buffer->type.rank;
    match_dimensions(&a, op);
    find_thread_part(e, &a);
    collect_slots(e, &a, op);
    int64_t size = stage_size(a.memory, a.skip) * a.bytes;
    int64_t offset = buffer->def ? alloc_offset(buffer->def) : 0;
    int64_t mixed = offset | (stages ? size : 0) | 16;
    find_vector(e, &a, mixed & -mixed);
    a.pointer = kc_emit_get(buffer)->regs[0];
    if (stages) {
        LLVMValueRef s = kc_emit_convert_int(e, kc_emit_scalar(stage->value), e->i32, true);
        s = LLVMBuildMul(e->builder, s, kc_emit_i32(e, size), "");
        a.pointer = LLVMBuildGEP2(e->builder, e->i8, a.pointer, &s, 1, "");
    }
    return a;
}

// Slots are sorted, so the same XORed value comes many times in a row.
static LLVMValueRef address(kc_emit *e, access *a, int i) {
    const slot *s = &a->slots[i];
    int64_t mixed = s->inside & a->touched, constant = (s->inside ^ mixed) + s->outside;
    if (!a->cached_pointer || a->cached_value != mixed) {
        LLVMValueRef x =
            mixed ? LLVMBuildXor(e->builder, a->thread, kc_emit_i32(e, mixed), "") : a->thread;
        x = LLVMBuildMul(e->builder, x, kc_emit_i32(e, a->bytes), "");
        a->cached_pointer = LLVMBuildGEP2(e->builder, e->i8, a->pointer, &x, 1, "");
        a->cached_value = mixed;
    }
    LLVMValueRef bytes = kc_emit_i32(e, constant * a->bytes);
    return constant ? LLVMBuildGEP2(e->builder, e->i8, a->cached_pointer, &bytes, 1, "")
                    : a->cached_pointer;
}

// ---- ops ------------------------------------------------------------------------------------

// Each lane points at a row; registers come in the order of the tile's: words of a matrix, matrices, instructions.
static void load_matrices(kc_emit *e, const kc_op *op, const kc_shared_plan *plan, kc_emitted *v) {
    enum { WORD = 4, ROW = 16 };
    const kc_tile_map *rows =
        kc_tile_map_create(e->arena, &plan->rows, v->map->lane_bits, v->map->thread_bits);
    access a = begin(e, op, kc_operand(op, 0), rows, 1);
    int in_row = ROW / a.bytes, in_word = WORD / a.bytes, next = 0;
    for (int r = 0; r < rows->n_registers; r += in_row) {
        LLVMValueRef words[4];
        e->hooks->load_matrices(e, address(e, &a, a.slot_of[r]), plan->matrices,
                                plan->path == KC_PATH_MATRIX_TRANSPOSED, words);
        for (int i = 0; i < plan->matrices; i++, next += in_word)
            kc_emit_unpack(e, a.dtype, words[i], &v->regs[next], in_word);
    }
}

void kc_emit_shared_load(kc_emit *e, const kc_op *op) {
    kc_emitted *v = kc_emit_define(e, kc_result(op, 0));
    const kc_type *tile = &kc_result(op, 0)->type, *buffer = &kc_operand(op, 0)->type;
    kc_shared_plan plan = kc_dispatch_shared_load(e->target, tile->layout, buffer->layout,
                                                  kc_dtype_unit(buffer->elem));
    if (plan.path != KC_PATH_PLAIN) {
        load_matrices(e, op, &plan, v);
        return;
    }
    access a = begin(e, op, kc_operand(op, 0), v->map, 1);
    LLVMTypeRef type = kc_emit_access_type(e, a.dtype, a.vector);
    LLVMValueRef *loaded = KC_NEW_ARRAY(e->arena, LLVMValueRef, a.n);
    for (int i = 0; i < a.n; i += a.vector)
        kc_emit_unpack(e, a.dtype, kc_emit_plain_load(e, type, address(e, &a, i), false),
                       &loaded[i], a.vector);
    for (int r = 0; r < v->n; r++)
        v->regs[r] = loaded[a.slot_of[r]];
}

// Each vector is computed where it is stored: what it was made of need not be held until the last is.
void kc_emit_shared_store(kc_emit *e, const kc_op *op) {
    const kc_value *value = kc_operand(op, 1);
    access a = begin(e, op, kc_operand(op, 0), kc_emit_get(value)->map, 2);
    LLVMValueRef representative = kc_emit_representative(e, a.tile);
    LLVMBasicBlockRef end = NULL;
    if (representative) { // one of the threads that hold the same elements writes them
        kc_emit_force(e, value);
        LLVMBasicBlockRef store = kc_emit_new_block(e, "store");
        end = kc_emit_new_block(e, "stored");
        LLVMBuildCondBr(e->builder, representative, store, end);
        kc_emit_enter(e, store);
    }
    for (int i = 0; i < a.n; i += a.vector) {
        LLVMValueRef elements[16];
        for (int j = 0; j < a.vector; j++)
            elements[j] = kc_emit_register(e, value, a.slots[i + j].reg);
        kc_emit_plain_store(e, kc_emit_pack(e, a.dtype, elements, a.vector), address(e, &a, i));
    }
    if (!end) return;
    LLVMBuildBr(e->builder, end);
    kc_emit_enter(e, end);
}

// ---- for copies -----------------------------------------------------------------------------

kc_shared_place *kc_emit_shared_place(kc_emit *e, const kc_op *op, const kc_value *buffer,
                                      const kc_value *tile, int stage_segment) {
    access *a = KC_NEW(e->arena, access);
    *a = begin(e, op, buffer, kc_emit_get(tile)->map, stage_segment);
    return a;
}

LLVMValueRef kc_emit_shared_address(kc_emit *e, kc_shared_place *a, int r) {
    return address(e, a, a->slot_of[r]);
}
