// Shared by the files of the pipeline pass.
#ifndef KC_PASSES_PIPELINER_H
#define KC_PASSES_PIPELINER_H

#include "passes/pass.h"

enum { KC_MAX_COPIES = 8, KC_MAX_CARRIED = 2 * KC_MAX_RANK, KC_MAX_STAGES = 16 };

// What a step of the loop brings into one shared buffer.
typedef struct {
    kc_op *store;
    int64_t vector; // elements of an asynchronous copy; 0: the tile is held in registers for a step
} kc_copy;

typedef struct {
    kc_pass_context *pass;
    kc_op *loop;
    kc_expr_pool *pool;
    int64_t stages; // of the ring
    kc_copy copies[KC_MAX_COPIES];
    int n_copies, n_async;
    // loads of a step's first fragments that go before the last dot of
    kc_op *fetches[2], *last_dot;
    int n_fetches;                // the step before
    // By order in the body, what is computed: for the step whose copies are issued, for the step
    // whose tiles are loaded into registers, for the current step.
    bool *issued, *loaded, *now;
} kc_pipeliner;

static inline kc_value *kc_copy_buffer(const kc_copy *c) {
    return kc_operand(c->store, 0);
}
static inline kc_value *kc_copy_value(const kc_copy *c) {
    return kc_operand(c->store, 1);
}
// Buffers that the tile gets: more than two help those copies alone that nobody waits for at once.
static inline int64_t kc_copy_stages(const kc_pipeliner *p, const kc_copy *c) {
    return c->vector ? p->stages : 2;
}

// pipeline_copies.c: elements that an asynchronous copy can move at a time; 0: there can be none.
int64_t kc_copy_vector(const kc_pipeliner *, const kc_op *store);
// pipeline_fetch.c: finds p->fetches, if there are to be any.
void kc_pipeline_find_fetches(kc_pipeliner *);
// pipeline_rotate.c: puts another loop into the place of p->loop.
void kc_pipeline_rotate(kc_pipeliner *);

#endif
