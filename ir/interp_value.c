// The interpreter's machine: memory that is counted and freed all at once, values, failures.
#include "ir/interp_machine.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void kc_interp_fail(kc_interp *m, const kc_op *op, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(m->text, sizeof m->text, format, args);
    va_end(args);
    m->loc = op->loc;
    longjmp(m->trouble, 1);
}

// ---- memory -------------------------------------------------------------------------------------

struct kc_interp_memory {
    kc_interp_memory *next, *previous;
    size_t bytes;
    size_t unused; // what follows is aligned to 16
};

void *kc_interp_alloc(kc_interp *m, const kc_op *op, int64_t n, size_t size) {
    size_t bytes;
    if (n < 0 || __builtin_mul_overflow((size_t)n, size, &bytes) || bytes > m->max_bytes - m->bytes)
        kc_interp_fail(m, op, "%s needs more memory than the interpreter may use (%zu MiB)",
                       kc_op_row(op)->name, m->max_bytes >> 20);
    kc_interp_memory *block = calloc(1, sizeof *block + bytes);
    if (!block)
        kc_interp_fail(m, op, "out of memory: %s needs %zu bytes", kc_op_row(op)->name, bytes);
    block->bytes = bytes;
    block->next = m->memory;
    if (block->next) block->next->previous = block;
    m->memory = block;
    m->bytes += bytes;
    return block + 1;
}

void kc_interp_free(kc_interp *m, void *p) {
    if (!p) return;
    kc_interp_memory *block = (kc_interp_memory *)p - 1;
    if (block->next) block->next->previous = block->previous;
    if (block->previous) block->previous->next = block->next;
    else m->memory = block->next;
    m->bytes -= block->bytes;
    free(block);
}

void kc_interp_close(kc_interp *m) {
    while (m->memory)
        kc_interp_free(m, m->memory + 1);
}

// ---- expressions and shapes ---------------------------------------------------------------------

static const char *unbound_symbol(kc_interp *m, const kc_expr *e) {
    if (!e) return NULL;
    if (e->kind == KC_EXPR_SYMBOL)
        return m->bound[e->symbol] ? NULL : kc_expr_symbol_name(m->pool, e->symbol);
    const char *name = unbound_symbol(m, e->a);
    return name ? name : unbound_symbol(m, e->b);
}

int64_t kc_interp_eval(kc_interp *m, const kc_op *op, const kc_expr *e) {
    int64_t value = 0;
    kc_expr_status status = kc_expr_eval(e, m->symbols, m->bound, &value);
    if (status == KC_EXPR_UNBOUND)
        kc_interp_fail(m, op, "no value is given for %s, and no shape determines it",
                       unbound_symbol(m, e));
    if (status != KC_EXPR_OK)
        kc_interp_fail(m, op, "an expression of %s: %s", kc_op_row(op)->name,
                       kc_expr_status_text(status));
    return value;
}

int64_t kc_interp_elements(kc_interp *m, const kc_op *op, int rank, const int64_t *shape) {
    int64_t n = 1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0)
            kc_interp_fail(m, op, "%s: extent %d is %lld", kc_op_row(op)->name, d,
                           (long long)shape[d]);
        if (shape[d] == 0) return 0;
    }
    for (int d = 0; d < rank; d++)
        if (__builtin_mul_overflow(n, shape[d], &n))
            kc_interp_fail(m, op, "%s: the tensor has more than 2^63 elements",
                           kc_op_row(op)->name);
    return n;
}

void kc_interp_strides(int rank, const int64_t *shape, int64_t *strides) {
    int64_t stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= shape[d];
    }
}

// ---- values -------------------------------------------------------------------------------------

kc_interp_value *kc_interp_make(kc_interp *m, const kc_op *op, kc_dtype elem, int rank,
                                const int64_t *shape) {
    kc_interp_value *v = kc_interp_alloc(m, op, 1, sizeof *v);
    v->elem = elem;
    v->rank = rank;
    if (rank) memcpy(v->shape, shape, sizeof *shape * (size_t)rank);
    v->n = kc_interp_elements(m, op, rank, shape);
    if (kc_dtype_is_float(elem)) v->f = kc_interp_alloc(m, op, v->n, sizeof *v->f);
    else v->i = kc_interp_alloc(m, op, v->n, sizeof *v->i);
    v->holders = 1;
    return v;
}

kc_interp_value *kc_interp_make_typed(kc_interp *m, const kc_op *op, const kc_type *type) {
    int64_t shape[KC_MAX_RANK];
    for (int d = 0; d < type->rank; d++)
        shape[d] =
            type->kind == KC_TYPE_TENSOR ? kc_interp_eval(m, op, type->shape[d]) : type->tile[d];
    return kc_interp_make(m, op, type->elem, type->rank, shape);
}

kc_interp_value *kc_interp_make_like(kc_interp *m, const kc_op *op, kc_dtype elem,
                                     const kc_interp_value *like) {
    kc_interp_value *v = kc_interp_make(m, op, elem, 1, &like->n);
    v->rank = like->rank;
    memcpy(v->shape, like->shape, sizeof v->shape);
    return v;
}

void kc_interp_add_bounds(kc_interp *m, const kc_op *op, kc_interp_value *v) {
    if (!v->e) v->e = kc_interp_alloc(m, op, v->n, sizeof *v->e);
}

kc_interp_value *kc_interp_hold(kc_interp_value *v) {
    v->holders++;
    return v;
}

void kc_interp_drop(kc_interp *m, kc_interp_value *v) {
    if (!v || --v->holders > 0) return;
    kc_interp_drop(m, v->unrounded);
    kc_interp_free(m, v->f);
    kc_interp_free(m, v->i);
    kc_interp_free(m, v->e);
    kc_interp_free(m, v);
}

// ---- what IR values hold ------------------------------------------------------------------------

static kc_interp_slot *slot_of(kc_interp *m, const kc_value *key) {
    size_t at = ((uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (m->n_slots - 1);
    while (m->slots[at].key && m->slots[at].key != key)
        at = (at + 1) & (m->n_slots - 1);
    return &m->slots[at];
}

static void grow(kc_interp *m) {
    kc_interp_slot *old = m->slots;
    size_t n = m->n_slots;
    m->n_slots = n ? 2 * n : 64;
    m->slots = kc_interp_alloc(m, m->func, (int64_t)m->n_slots, sizeof *m->slots);
    for (size_t i = 0; i < n; i++)
        if (old[i].key) *slot_of(m, old[i].key) = old[i];
    kc_interp_free(m, old);
}

void kc_interp_set(kc_interp *m, const kc_value *key, kc_interp_value *value) {
    if (2 * (m->used_slots + 1) > m->n_slots) grow(m);
    kc_interp_slot *slot = slot_of(m, key);
    if (!slot->key) m->used_slots++;
    else kc_interp_drop(m, slot->value);
    int uses = 0;
    for (const kc_use *use = key->uses; use; use = use->next)
        uses++;
    if (!uses) kc_interp_drop(m, value), value = NULL;
    *slot = (kc_interp_slot){key, value, uses};
}

kc_interp_value *kc_interp_get(kc_interp *m, const kc_op *op, const kc_value *key) {
    kc_interp_slot *slot = slot_of(m, key);
    if (!slot->key || !slot->value)
        kc_interp_fail(m, op, "%s uses a value that was not computed", kc_op_row(op)->name);
    return slot->value;
}

void kc_interp_used(kc_interp *m, const kc_value *key) {
    kc_interp_slot *slot = slot_of(m, key);
    if (!slot->key || --slot->uses_left > 0) return;
    kc_interp_drop(m, slot->value);
    slot->value = NULL;
}
