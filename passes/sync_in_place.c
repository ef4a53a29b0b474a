// Kernels that update a tensor in place. Each element is read where it is written, but the threads
// that read it may be others than the one that writes it: where a tile is smaller than the threads,
// several hold each element, and a conversion between layouts moves elements to other lanes. All
// must have read before the one writes:
//
//   %v = load %x ..            lanes 0 and 8 read x[0]
//   %w = abs %v
//   barrier
//   store %y, %w ..            lane 0 writes x[0]
//
// Elements of other iterations and programs are others, so that only what comes before in the same
// iteration matters.
#include "ir/kernel_params.h"
#include "passes/syncer.h"

typedef struct {
    kc_module *module;
    const kc_op *kernel;
} syncer;

static const kc_value *given(const kc_op *kernel, const kc_value *argument) {
    return kc_operand(kernel, argument->index);
}

static bool is_argument(const syncer *s, const kc_value *v) {
    return v->block == s->kernel->body;
}

// Whether every element is read by the thread that stores it, and by no other.
static bool by_the_same(const kc_op *read, const kc_op *store) {
    const kc_layout *reader = read->code == KC_OP_LOAD ? kc_result(read, 0)->type.layout : NULL;
    return reader && reader == kc_operand(store, 1)->type.layout &&
           !kc_layout_replicas(reader, KC_LAYOUT_LANE) &&
           !kc_layout_replicas(reader, KC_LAYOUT_WARP);
}

static bool reads(const syncer *s, const kc_op *op, const kc_op *store) {
    if (op->body)
        for (const kc_op *inner = op->body->first; inner; inner = inner->next)
            if (reads(s, inner, store)) return true;
    if (!kc_op_has(op, KC_READS_GLOBAL) || !is_argument(s, kc_operand(op, 0))) return false;
    const kc_value *from = given(s->kernel, kc_operand(op, 0)),
                   *to = given(s->kernel, kc_operand(store, 0));
    return kc_kernel_may_overlap(s->kernel, from, to) && !by_the_same(op, store);
}

static bool needs_barrier(const syncer *s, const kc_op *store) {
    for (const kc_op *at = store; at != s->kernel; at = kc_op_parent(at))
        for (const kc_op *op = at->previous; op; op = op->previous) {
            if (op->code == KC_OP_BARRIER) return false;
            if (reads(s, op, store)) return true;
        }
    return false;
}

static void order_stores(const syncer *s, kc_block *block) {
    KC_FOR_OPS(op, block) {
        if (op->body) order_stores(s, op->body);
        if (op->code != KC_OP_STORE || !is_argument(s, kc_operand(op, 0))) continue;
        if (!needs_barrier(s, op)) continue;
        kc_builder b = kc_builder_before(s->module, op);
        kc_build(&b, KC_OP_BARRIER, 0, NULL, 0, NULL);
    }
}

void kc_sync_in_place(kc_module *module, kc_op *kernel) {
    syncer s = {module, kernel};
    order_stores(&s, kernel->body);
}
