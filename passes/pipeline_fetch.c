// Which fragments a step finds in registers when it begins. With tensor cores a step is few
// instructions, so that waiting for its first fragments behind the barrier would be a good part of
// it. They are loaded before the last dot of the step before, whose products run meanwhile:
//
//   ... dot of the last but one slice ...
//   async_wait of the next step's copies      // the step's barrier comes here
//   %next = shared_load of the next step's first slice
//   %c = dot of the last slice
//
// Not where tiles pass through registers too: they are stored when a step begins, which wants a
// barrier there.
#include "passes/pipeliner.h"

enum { OTHER_REGISTERS = 56 }; // addresses, counters, fragments of one more slice in part

static int64_t words_of(const kc_value *v) {
    int64_t bytes = kc_dtype_unit(v->type.elem);
    return (kc_layout_count(v->type.layout, KC_LAYOUT_REGISTER) * bytes + 3) / 4;
}

static bool in_ring(const kc_pipeliner *p, const kc_op *load) {
    for (int i = 0; i < p->n_copies; i++)
        if (kc_copy_buffer(&p->copies[i]) == kc_operand(load, 0)) return p->copies[i].vector > 0;
    return false;
}

void kc_pipeline_find_fetches(kc_pipeliner *p) {
    kc_op *first = NULL;
    KC_FOR_OPS(op, p->loop->body) {
        if (op->code != KC_OP_DOT) continue;
        if (!first) first = op;
        p->last_dot = op;
    }
    if (p->n_async < p->n_copies || !kc_attr_get(first, KC_ATTR_INSTRUCTION)) return;
    int64_t words = words_of(kc_result(first, 0)) + OTHER_REGISTERS;
    kc_op *loads[2];
    for (int i = 0; i < 2; i++) {
        loads[i] = kc_operand(first, i)->def;
        bool fits = loads[i] && loads[i]->code == KC_OP_SHARED_LOAD &&
                    loads[i]->block == p->loop->body && in_ring(p, loads[i]);
        if (!fits) return;
        words += 2 * words_of(kc_result(loads[i], 0));
    }
    if (words > p->pass->target->attributes.max_registers) return;
    p->n_fetches = loads[0] == loads[1] ? 1 : 2;
    for (int i = 0; i < p->n_fetches; i++)
        p->fetches[i] = loads[i];
}
