// Loads and stores of a kernel, global and shared, with the watch that is kept over them.
#include "ir/tile_machine.h"

#include <stdio.h>
#include <string.h>

// ---- global memory ------------------------------------------------------------------------------

static kc_tile_buffer *buffer_of(kc_tile_machine *t, const kc_op *op) {
    const kc_value *v = kc_operand(op, 0);
    if (v->block != t->kernel->body || !t->buffers[v->index].data)
        kc_tile_fail(t, op, "its buffer is no argument of the kernel");
    return &t->buffers[v->index];
}

kc_tile_access kc_tile_access_begin(kc_tile_machine *t, const kc_op *op, int base_segment,
                                    const kc_type *tile) {
    kc_tile_access a = {.tile = tile};
    int n_local, n_mask;
    kc_use *base = kc_op_segment(op, base_segment, &a.rank),
           *local = kc_op_segment(op, base_segment + 1, &n_local);
    kc_use *mask = kc_op_segment(op, base_segment + 2, &n_mask);
    for (int d = 0; d < a.rank; d++) {
        a.base[d] = kc_interp_get(t->m, op, base[d].value)->i[0];
        a.local[d] = kc_tile_spread(t, op, kc_interp_get(t->m, op, local[d].value), tile);
    }
    if (n_mask) a.mask = kc_tile_spread(t, op, kc_interp_get(t->m, op, mask->value), tile);
    return a;
}

void kc_tile_access_end(kc_tile_machine *t, kc_tile_access *a) {
    for (int d = 0; d < a->rank; d++)
        kc_interp_drop(t->m, a->local[d]);
    kc_interp_drop(t->m, a->mask);
}

static bool masked_off(const kc_tile_access *a, int64_t i) {
    return a->mask && !a->mask->i[i];
}

static _Noreturn void outside(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                              const int64_t *c) {
    char text[160];
    size_t at = 0;
    for (int d = 0; d < b->rank; d++)
        at +=
            (size_t)snprintf(text + at, sizeof text - at, "%s%lld", d ? ", " : "", (long long)c[d]);
    at += (size_t)snprintf(text + at, sizeof text - at, "] of [");
    for (int d = 0; d < b->rank; d++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld", d ? ", " : "",
                               (long long)b->shape[d]);
    kc_tile_fail(t, op, "element [%s] of %%%s lies outside", text,
                 b->argument->name ? b->argument->name : "?");
}

// Where element i lies: offset in elements, and its row-major index.
static int64_t place(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                     const kc_tile_access *a, int64_t i, int64_t *index) {
    int64_t c[KC_MAX_RANK], offset = 0;
    bool inside = true;
    *index = 0;
    for (int d = 0; d < b->rank; d++) {
        if (__builtin_add_overflow(a->base[d], a->local[d]->i[i], &c[d])) c[d] = -1;
        inside = inside && c[d] >= 0 && c[d] < b->shape[d];
    }
    if (!inside) outside(t, op, b, c);
    for (int d = 0; d < b->rank; d++)
        offset += c[d] * b->strides[d], *index = *index * b->shape[d] + c[d];
    return offset;
}

// ---- vectors ------------------------------------------------------------------------------------

enum { NOWHERE = -1 };

static int64_t element_of(const kc_type *tile, const uint32_t place[KC_LAYOUT_PLACES]) {
    int c[KC_LAYOUT_MAX_RANK];
    int64_t i = 0;
    kc_layout_apply(tile->layout, place, c);
    for (int d = 0; d < tile->rank; d++)
        i = i * tile->tile[d] + c[d];
    return i;
}

static void check_vector(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                         const kc_type *tile, const int64_t *offsets, uint32_t *place, int vector) {
    int64_t first = offsets[element_of(tile, place)], bits = kc_dtype_bits(b->elem);
    uint32_t start = place[KC_LAYOUT_REGISTER];
    for (int k = 1; k < vector; k++) {
        place[KC_LAYOUT_REGISTER] = start + (uint32_t)k;
        int64_t at = offsets[element_of(tile, place)];
        if ((at == NOWHERE) != (first == NOWHERE))
            kc_tile_fail(t, op, "a vector of %d is masked in part", vector);
        if (first != NOWHERE && at != first + k)
            kc_tile_fail(t, op, "a vector of %d takes elements at %lld and %lld", vector,
                         (long long)first, (long long)at);
    }
    if (first != NOWHERE &&
        ((uintptr_t)b->data * 8 + (uintptr_t)(first * bits)) % (uintptr_t)(vector * bits))
        kc_tile_fail(t, op, "a vector of %d at element %lld is not aligned to its %lld bytes",
                     vector, (long long)first, (long long)(vector * bits / 8));
}

// One access serves the whole group.
static void check_same(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                       const kc_type *tile, const int64_t *offsets, uint32_t *place, int same) {
    int64_t first = offsets[element_of(tile, place)];
    uint32_t start = place[KC_LAYOUT_REGISTER];
    (void)b;
    for (int k = 1; k < same; k++) {
        place[KC_LAYOUT_REGISTER] = start + (uint32_t)k;
        int64_t at = offsets[element_of(tile, place)];
        if (at != first)
            kc_tile_fail(t, op, "registers that are to be the same take elements at %lld and %lld",
                         (long long)first, (long long)at);
    }
}

typedef void check_group(kc_tile_machine *, const kc_op *, const kc_tile_buffer *, const kc_type *,
                         const int64_t *offsets, uint32_t *place, int size);

static void check_groups(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                         const kc_type *tile, const int64_t *offsets, int size,
                         check_group *check) {
    const kc_layout *layout = tile->layout;
    if (size < 2 || !layout || tile->rank > KC_LAYOUT_MAX_RANK) return;
    uint32_t registers = kc_layout_count(layout, KC_LAYOUT_REGISTER),
             lanes = kc_layout_count(layout, KC_LAYOUT_LANE);
    uint32_t warps = kc_layout_count(layout, KC_LAYOUT_WARP);
    if (registers % (uint32_t)size)
        kc_tile_fail(t, op, "%u registers in vectors of %d", registers, size);
    for (uint32_t w = 0; w < warps; w++)
        for (uint32_t l = 0; l < lanes; l++)
            for (uint32_t r = 0; r < registers; r += (uint32_t)size)
                check(t, op, b, tile, offsets,
                      (uint32_t[KC_LAYOUT_PLACES]){
                          [KC_LAYOUT_REGISTER] = r, [KC_LAYOUT_LANE] = l, [KC_LAYOUT_WARP] = w},
                      size);
}

// Registers move in groups of `vector`: each group is one aligned access, masked as a whole.
static void check_vectors(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                          const kc_type *tile, const int64_t *offsets) {
    int vector = (int)kc_attr_int(op, KC_ATTR_VECTOR, 1),
        same = (int)kc_attr_int(op, KC_ATTR_SAME, 1);
    if (vector > 1 && same > 1) kc_tile_fail(t, op, "a vector of registers that are the same");
    check_groups(t, op, b, tile, offsets, vector, check_vector);
    check_groups(t, op, b, tile, offsets, same, check_same);
}

kc_interp_value *kc_tile_read(kc_tile_machine *t, const kc_op *op, const kc_tile_access *a,
                              double otherwise) {
    const kc_tile_buffer *b = buffer_of(t, op);
    kc_interp_value *r = kc_interp_make_typed(t->m, op, a->tile);
    int64_t index, *offsets = kc_interp_alloc(t->m, op, r->n, sizeof *offsets);
    for (int64_t i = 0; i < r->n; i++) {
        if (masked_off(a, i)) {
            offsets[i] = NOWHERE;
            if (r->f) r->f[i] = kc_dtype_represent(r->elem, otherwise);
            else r->i[i] = kc_integer_wrap(r->elem, kc_dtype_saturate(KC_i64, otherwise));
            continue;
        }
        offsets[i] = place(t, op, b, a, i, &index);
        if (r->f) r->f[i] = kc_dtype_get(r->elem, b->data, offsets[i]);
        else r->i[i] = kc_dtype_get_i64(r->elem, b->data, offsets[i]);
    }
    check_vectors(t, op, b, a->tile, offsets);
    kc_interp_free(t->m, offsets);
    return r;
}

kc_interp_value *kc_tile_load(kc_tile_machine *t, const kc_op *op) {
    kc_tile_access a = kc_tile_access_begin(t, op, 1, &kc_result(op, 0)->type);
    kc_interp_value *r = kc_tile_read(t, op, &a, kc_attr_float(op, KC_ATTR_VALUE, 0));
    kc_tile_access_end(t, &a);
    return r;
}

static void note_writer(kc_tile_machine *t, const kc_op *op, const kc_tile_buffer *b,
                        int64_t index) {
    int64_t *writer = b->writers ? &b->writers[index] : NULL;
    if (!writer)
        kc_tile_fail(t, op, "%%%s is an input", b->argument->name ? b->argument->name : "?");
    if (*writer && *writer != t->program + 1)
        kc_tile_fail(t, op, "element %lld of %%%s was written by program %lld too",
                     (long long)index, b->argument->name ? b->argument->name : "?",
                     (long long)*writer - 1);
    *writer = t->program + 1;
}

void kc_tile_store(kc_tile_machine *t, const kc_op *op) {
    const kc_tile_buffer *b = buffer_of(t, op);
    const kc_interp_value *v = kc_interp_operand(t->m, op, 1);
    kc_tile_access a = kc_tile_access_begin(t, op, 2, &kc_operand(op, 1)->type);
    int64_t index, *offsets = kc_interp_alloc(t->m, op, v->n, sizeof *offsets);
    for (int64_t i = 0; i < v->n; i++) {
        offsets[i] = NOWHERE;
        if (masked_off(&a, i)) continue;
        offsets[i] = place(t, op, b, &a, i, &index);
        note_writer(t, op, b, index);
        if (v->f) kc_dtype_put(v->elem, b->data, offsets[i], v->f[i]);
        else kc_dtype_put_i64(v->elem, b->data, offsets[i], v->i[i]);
    }
    check_vectors(t, op, b, a.tile, offsets);
    kc_interp_free(t->m, offsets);
    kc_tile_access_end(t, &a);
}

// ---- shared memory ------------------------------------------------------------------------------

static int64_t bytes_of(const kc_type *type) {
    return kc_tile_elements(type) * kc_dtype_unit(type->elem);
}

static void find_buffers(kc_tile_machine *t, const kc_block *block) {
    kc_tile_shared *s = &t->shared;
    for (const kc_op *op = block->first; op; op = op->next) {
        if (op->body) find_buffers(t, op->body);
        if (op->code != KC_OP_SHARED_ALLOC) continue;
        const kc_value *buffer = kc_result(op, 0);
        const kc_expr *offset = kc_attr_expr(op, KC_ATTR_OFFSET);
        if (s->buffers) {
            s->buffers[s->n_buffers] = buffer;
            s->offsets[s->n_buffers] = offset ? kc_interp_eval(t->m, op, offset) : s->size;
            int64_t end = s->offsets[s->n_buffers] + bytes_of(&buffer->type);
            if (s->offsets[s->n_buffers] < 0) kc_tile_fail(t, op, "its offset is negative");
            if (end > s->size) s->size = end;
            s->placed = s->placed || offset;
        }
        s->n_buffers++;
    }
}

void kc_tile_shared_begin(kc_tile_machine *t) {
    kc_tile_shared *s = &t->shared;
    *s = (kc_tile_shared){.size = 0};
    find_buffers(t, t->kernel->body);
    if (!s->n_buffers) return;
    s->buffers = kc_interp_alloc(t->m, t->kernel, s->n_buffers, sizeof *s->buffers);
    s->offsets = kc_interp_alloc(t->m, t->kernel, s->n_buffers, sizeof *s->offsets);
    s->n_buffers = 0;
    find_buffers(t, t->kernel->body);
    int64_t stated = kc_attr_int(t->kernel, KC_ATTR_SHARED, s->size);
    if (stated < s->size)
        kc_tile_fail(t, t->kernel,
                     "%lld bytes of shared memory are asked for, its buffers take %lld",
                     (long long)stated, (long long)s->size);
    s->bytes = kc_interp_alloc(t->m, t->kernel, s->size, 1);
    s->owners = kc_interp_alloc(t->m, t->kernel, s->size, sizeof *s->owners);
    s->coming = kc_interp_alloc(t->m, t->kernel, s->size, sizeof *s->coming);
    s->written = kc_interp_alloc(t->m, t->kernel, s->size, sizeof *s->written);
    s->read = kc_interp_alloc(t->m, t->kernel, s->size, sizeof *s->read);
}

void kc_tile_shared_clear(kc_tile_machine *t) {
    kc_tile_shared *s = &t->shared;
    s->interval = 1;
    if (!s->n_buffers) return;
    memset(s->bytes, 0xff, (size_t)s->size);
    memset(s->owners, 0, sizeof *s->owners * (size_t)s->size);
    memset(s->written, 0, sizeof *s->written * (size_t)s->size);
    memset(s->read, 0, sizeof *s->read * (size_t)s->size);
}

kc_tile_part kc_tile_part_of(kc_tile_machine *t, const kc_op *op, const kc_value *buffer,
                             int stage_segment, const kc_type *tile) {
    const kc_type *type = &buffer->type;
    int staged, index = 0;
    kc_use *stage = kc_op_segment(op, stage_segment, &staged);
    while (index < t->shared.n_buffers && t->shared.buffers[index] != buffer)
        index++;
    if (index == t->shared.n_buffers)
        kc_tile_fail(t, op, "its buffer is made by no shared_alloc of the kernel");
    kc_tile_part p = {
        index + 1, t->shared.offsets[index], kc_dtype_unit(type->elem), {0}, tile};
    int64_t strides[KC_MAX_RANK];
    kc_interp_strides(type->rank, type->tile, strides);
    if (staged) {
        int64_t k = kc_interp_get(t->m, op, stage->value)->i[0];
        if (k < 0 || k >= type->tile[0])
            kc_tile_fail(t, op, "stage %lld of %lld", (long long)k, (long long)type->tile[0]);
        p.first += k * strides[0] * p.size;
    }
    const kc_attr *offsets = kc_attr_get(op, KC_ATTR_OFFSETS);
    if (offsets) {
        for (int d = 0; d < tile->rank; d++) {
            p.first += offsets->integers[d] * strides[d + staged] * p.size;
            p.strides[d] = strides[d + staged] * p.size;
        }
    } else { // extents of 1 may differ: the order of elements is the same
        kc_interp_strides(tile->rank, tile->tile, p.strides);
        for (int d = 0; d < tile->rank; d++)
            p.strides[d] *= p.size;
    }
    return p;
}

void kc_tile_for_elements(kc_tile_machine *t, const kc_op *op, const kc_tile_part *p, void *context,
                          void (*visit)(kc_tile_machine *, const kc_op *, const kc_tile_part *,
                                        void *context, int64_t i, int64_t at)) {
    int64_t c[KC_MAX_RANK] = {0}, n = kc_tile_elements(p->tile);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = p->first;
        for (int d = 0; d < p->tile->rank; d++)
            at += c[d] * p->strides[d];
        if (at < 0 || at + p->size > t->shared.size)
            kc_tile_fail(t, op, "element %lld lies outside shared memory", (long long)i);
        visit(t, op, p, context, i, at);
        for (int d = p->tile->rank - 1; d >= 0 && ++c[d] == p->tile->tile[d]; d--)
            c[d] = 0;
    }
}

static void refuse_coming(kc_tile_machine *t, const kc_op *op, int64_t i, int64_t byte) {
    if (t->shared.coming[byte])
        kc_tile_fail(t, op, "a copy is on its way to element %lld: nothing has waited for it",
                     (long long)i);
}

static void read_element(kc_tile_machine *t, const kc_op *op, const kc_tile_part *p, void *context,
                         int64_t i, int64_t at) {
    kc_tile_shared *s = &t->shared;
    kc_interp_value *v = context;
    for (int64_t k = at; k < at + p->size; k++) {
        refuse_coming(t, op, i, k);
        if (!s->owners[k])
            kc_tile_fail(t, op, "element %lld is read and was never written", (long long)i);
        if (s->owners[k] != p->owner)
            kc_tile_fail(t, op, "element %lld was overwritten by another buffer at the same place",
                         (long long)i);
        if (s->placed && s->written[k] == s->interval)
            kc_tile_fail(t, op, "element %lld was written since the last barrier", (long long)i);
        s->read[k] = s->interval;
    }
    if (v->f) v->f[i] = kc_dtype_get(v->elem, s->bytes + at, 0);
    else v->i[i] = kc_dtype_get_i64(v->elem, s->bytes + at, 0);
}

void kc_tile_note_write(kc_tile_machine *t, const kc_op *op, int owner, int64_t size, int64_t i,
                        int64_t at) {
    kc_tile_shared *s = &t->shared;
    for (int64_t k = at; k < at + size; k++) {
        refuse_coming(t, op, i, k);
        if (s->placed && s->written[k] == s->interval)
            kc_tile_fail(t, op, "element %lld is written twice since the last barrier",
                         (long long)i);
        if (s->placed && s->read[k] == s->interval)
            kc_tile_fail(t, op, "element %lld was read since the last barrier", (long long)i);
        s->written[k] = s->interval;
        s->owners[k] = owner;
    }
}

static void write_element(kc_tile_machine *t, const kc_op *op, const kc_tile_part *p, void *context,
                          int64_t i, int64_t at) {
    const kc_interp_value *v = context;
    kc_tile_note_write(t, op, p->owner, p->size, i, at);
    if (v->f) kc_dtype_put(v->elem, t->shared.bytes + at, 0, v->f[i]);
    else kc_dtype_put_i64(v->elem, t->shared.bytes + at, 0, v->i[i]);
}

kc_interp_value *kc_tile_shared_load(kc_tile_machine *t, const kc_op *op) {
    kc_tile_part p = kc_tile_part_of(t, op, kc_operand(op, 0), 1, &kc_result(op, 0)->type);
    kc_interp_value *r = kc_interp_make_typed(t->m, op, p.tile);
    kc_tile_for_elements(t, op, &p, r, read_element);
    return r;
}

void kc_tile_shared_store(kc_tile_machine *t, const kc_op *op) {
    kc_tile_part p = kc_tile_part_of(t, op, kc_operand(op, 0), 2, &kc_operand(op, 1)->type);
    kc_tile_for_elements(t, op, &p, kc_interp_operand(t->m, op, 1), write_element);
}
