// Packing the buffers between kernels. Sizes may be symbolic: a place is taken over when its buffer
// is dead and it is proved to be large enough, else a new one is made behind the others.
#include "passes/plan.h"

enum { ALIGNMENT = 256 };

typedef struct place {
    const kc_expr *offset, *bytes;
    int busy_until; // last step that reads what is there
    struct place *next;
} place;

struct kc_workspace {
    kc_arena *arena;
    kc_expr_pool *pool;
    place *places;
    const kc_expr *end;
};

kc_workspace *kc_workspace_create(kc_arena *arena, kc_expr_pool *pool) {
    kc_workspace *w = KC_NEW(arena, kc_workspace);
    *w = (kc_workspace){arena, pool, NULL, kc_expr_const(pool, 0)};
    return w;
}

static const kc_expr *aligned(kc_expr_pool *pool, const kc_expr *bytes) {
    const kc_expr *unit = kc_expr_const(pool, ALIGNMENT);
    return kc_expr_mul(pool, kc_expr_cdiv(pool, bytes, unit), unit);
}

const kc_expr *kc_workspace_place(kc_workspace *w, const kc_expr *bytes, int first, int last) {
    bytes = aligned(w->pool, bytes);
    for (place *p = w->places; p; p = p->next)
        if (p->busy_until < first && kc_expr_known_le(w->pool, bytes, p->bytes)) {
            p->busy_until = last;
            return p->offset;
        }
    place *p = KC_NEW(w->arena, place);
    *p = (place){w->end, bytes, last, w->places};
    w->places = p;
    w->end = kc_expr_add(w->pool, w->end, bytes);
    return p->offset;
}

const kc_expr *kc_workspace_bytes(const kc_workspace *w) {
    return w->end;
}
