// Work that a fusion would repeat. A value that is read in place and moved (a stencil, a running
// sum by doubling) is computed anew at each place it is asked for; in a chain of such steps the
// places double with every step. From some amount on the value is stored instead.
#include "passes/fuser.h"

enum { MOST_REPEATED = 64, SATURATED = 1 << 20 };

// Ops that computing the value from what is stored takes, counted once for each path, up to
// SATURATED.
static int work(kc_fuser *f, const kc_value *v) {
    int *ops = KC_NEW_ARRAY(f->pass->scratch, int, f->n_ops + 1);
    KC_FOR_OPS(op, f->scope->body) {
        if (op->order > v->def->order) break;
        if (op->code == KC_OP_FUSION || op->order >= f->n_ops) continue;
        int sum = 1;
        for (int i = 0; i < op->n_operands; i++) {
            const kc_value *x = kc_operand(op, i);
            bool stored = !x->def || kc_fuse_is_cut(f, x);
            bool again = i > 0 && x == kc_operand(op, i - 1);
            if (!stored && !again) sum += ops[x->def->order];
        }
        bool once = kc_op_has_any(op, KC_REDUCTION | KC_CONTRACTION);
        ops[op->order] = once ? 1 : sum > SATURATED ? SATURATED : sum;
    }
    return ops[v->def->order];
}

bool kc_fuse_repeats_much(kc_fuser *f, const kc_value *v) {
    bool several = v->def && v->uses && v->uses->next;
    return several && v->def->n_operands > 0 && !kc_fuse_is_cut(f, v) && work(f, v) > MOST_REPEATED;
}
