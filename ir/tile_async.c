// Copies on their way: their bytes come as late as they may, at the wait. Until then touching their
// target is refused, so it does not matter that the machine might bring them earlier.
#include "ir/tile_machine.h"

// The target must be free now: the bytes may come at once.
static void expect(kc_tile_machine *t, const kc_op *op, const kc_tile_part *p, void *context,
                   int64_t i, int64_t at) {
    kc_tile_copy *copy = context;
    kc_tile_note_write(t, op, p->owner, p->size, i, at);
    for (int64_t k = at; k < at + p->size; k++)
        t->shared.coming[k] = copy;
    copy->at[i] = at;
}

kc_interp_value *kc_tile_async_copy(kc_tile_machine *t, const kc_op *op) {
    kc_type tile = kc_result(op, 0)->type;
    tile.kind = KC_TYPE_TILE;
    kc_tile_copy *copy = kc_interp_alloc(t->m, op, 1, sizeof *copy), **last = &t->shared.copies;
    kc_tile_access a = kc_tile_access_begin(t, op, 2, &tile);
    copy->op = op;
    copy->values = kc_tile_read(t, op, &a, 0);
    kc_tile_access_end(t, &a);
    kc_tile_part p = kc_tile_part_of(t, op, kc_operand(op, 1), 5, &tile);
    copy->owner = p.owner;
    copy->n = copy->values->n;
    copy->at = kc_interp_alloc(t->m, op, copy->n, sizeof *copy->at);
    kc_tile_for_elements(t, op, &p, copy, expect);
    while (*last)
        last = &(*last)->next;
    *last = copy;
    return kc_interp_count(t->m, op, KC_i64, 0);
}

kc_interp_value *kc_tile_async_commit(kc_tile_machine *t, const kc_op *op) {
    t->shared.groups++;
    for (kc_tile_copy *copy = t->shared.copies; copy; copy = copy->next)
        if (!copy->group) copy->group = t->shared.groups;
    return kc_interp_count(t->m, op, KC_i64, t->shared.groups);
}

static void arrive(kc_tile_machine *t, kc_tile_copy *copy) {
    kc_tile_shared *s = &t->shared;
    const kc_interp_value *v = copy->values;
    int64_t size = kc_dtype_unit(v->elem);
    for (int64_t i = 0; i < copy->n; i++) {
        int64_t at = copy->at[i];
        for (int64_t k = at; k < at + size; k++) {
            s->coming[k] = NULL;
            s->written[k] = s->interval; // others see it behind the next barrier
        }
        if (v->f) kc_dtype_put(v->elem, s->bytes + at, 0, v->f[i]);
        else kc_dtype_put_i64(v->elem, s->bytes + at, 0, v->i[i]);
    }
}

void kc_tile_async_wait(kc_tile_machine *t, const kc_op *op) {
    int64_t token = kc_interp_operand(t->m, op, 0)->i[0],
            pending = kc_attr_int(op, KC_ATTR_PENDING, t->shared.groups - token),
            last = t->shared.groups - pending;
    if (last < token)
        kc_tile_fail(t, op, "it leaves %lld groups on their way, and so its own",
                     (long long)pending);
    while (t->shared.copies && t->shared.copies->group && t->shared.copies->group <= last) {
        kc_tile_copy *copy = t->shared.copies;
        arrive(t, copy);
        t->shared.copies = copy->next;
        kc_interp_drop(t->m, copy->values);
        kc_interp_free(t->m, copy->at);
        kc_interp_free(t->m, copy);
    }
}

void kc_tile_async_end(kc_tile_machine *t) {
    if (t->shared.copies)
        kc_tile_fail(t, t->shared.copies->op, "it is still on its way when the program ends");
    t->shared.groups = 0;
}
