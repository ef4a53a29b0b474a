// Tile IR: copies on their way. Facts of the three ops, and over a whole kernel that what a copy
// brings is read behind its wait, and behind a barrier once `sync` has placed the buffers.
#include "ir/shared_order.h"
#include "ir/verify.h"

static bool takes_copies(const kc_op *op) {
    return op->code == KC_OP_ASYNC_COMMIT;
}

// The commit that makes the machine's group: the first after the copy.
static const kc_op *next_commit(const kc_op *copy) {
    for (const kc_op *op = copy->next; op; op = op->next) {
        if (takes_copies(op)) return op;
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) return NULL;
    }
    return NULL;
}

static void check_async_copy(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    const kc_value *copy = kc_result(op, 0);
    if (!kc_check_kind(c, op, &copy->type, KC_TYPE_TOKEN, "the result")) return;
    if (kc_type_is_group(&copy->type)) {
        kc_check_fail(c, op, "the result does not say which tile is copied");
        return;
    }
    kc_type tile = copy->type;
    tile.kind = KC_TYPE_TILE;
    kc_check_access(c, op, &tile, 2);
    kc_check_shared_access(c, op, &tile, 1, 5);
    bool once = copy->uses && !copy->uses->next;
    if (!once || copy->uses->user != next_commit(op))
        kc_check_fail(c, op, "the copy is not in the group that is committed next in its block");
}

static void check_async_commit(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    if (!kc_type_is_group(kc_check_result(op, 0)))
        kc_check_fail(c, op, "the result is no token of a group");
    for (int i = 0; i < op->n_operands; i++)
        if (!kc_operand(op, i)->def || kc_operand(op, i)->def->code != KC_OP_ASYNC_COPY)
            kc_check_fail(c, op, "operand %d is no copy", i);
}

static void check_async_wait(kc_checker *c, const kc_op *op) {
    if (!kc_type_is_group(kc_check_operand(c, op, 0)))
        kc_check_fail(c, op, "the operand is no token of a group");
}

kc_check_facts *kc_check_async_facts(kc_opcode code) {
    switch (code) {
    case KC_OP_ASYNC_COPY: return check_async_copy;
    case KC_OP_ASYNC_COMMIT: return check_async_commit;
    case KC_OP_ASYNC_WAIT: return check_async_wait;
    default: return NULL;
    }
}

// ---- order --------------------------------------------------------------------------------------

typedef struct {
    kc_checker *c;
    bool placed;
    kc_map *told; // second of a pair -> first
} copies;

static void hazard(void *context, const kc_op *first, kc_op *second, kc_op *const *gaps, int n) {
    copies *of = context;
    bool copied = first->code == KC_OP_ASYNC_COPY || second->code == KC_OP_ASYNC_COPY;
    (void)gaps;
    if (!copied || (n && !of->placed) || kc_map_get(of->told, second)) return;
    kc_map_set(of->told, second, second);
    const char *name = kc_operand(first, first->code == KC_OP_ASYNC_COPY)->name;
    if (!n)
        kc_check_fail(of->c, second, "a copy to %%%s may be on its way: no async_wait orders the two",
                      name ? name : "?");
    else
        kc_check_fail(of->c, second, "no barrier is between this and %s of %%%s",
                      kc_op_row(first)->name, name ? name : "?");
}

static bool has_copies(const kc_block *block, bool *placed) {
    bool found = false;
    for (const kc_op *op = block->first; op; op = op->next) {
        if (op->code == KC_OP_SHARED_ALLOC && kc_attr_get(op, KC_ATTR_OFFSET)) *placed = true;
        found = found || op->code == KC_OP_ASYNC_COPY;
        if (op->body) found = has_copies(op->body, placed) || found;
    }
    return found;
}

void kc_check_copies(kc_checker *c, const kc_op *kernel) {
    copies of = {.c = c, .placed = false, .told = kc_map_create(c->scratch)};
    if (!has_copies(kernel->body, &of.placed)) return;
    kc_shared_visitor visitor = {.context = &of, .hazard = hazard, .trust_pending = of.placed};
    kc_shared_order_walk(c->scratch, kernel, &visitor);
}
