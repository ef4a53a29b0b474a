#include "passes/scopes.h"

static bool visit_function(kc_pass_context *pass, kc_op *func,
                           bool (*visit)(kc_pass_context *, kc_op *)) {
    bool variants = false;
    KC_FOR_OPS(op, func->body) {
        if (op->code != KC_OP_VARIANT) continue;
        variants = true;
        if (kc_variant_computes(op) && !visit(pass, op)) return false;
    }
    return variants || visit(pass, func);
}

bool kc_scopes(kc_pass_context *pass, bool (*visit)(kc_pass_context *, kc_op *)) {
    bool ok = true;
    KC_FOR_OPS(func, pass->module->body)
        ok = visit_function(pass, func, visit) && ok;
    return ok;
}

const kc_op *kc_scope_func(const kc_op *scope) {
    return scope->code == KC_OP_FUNC ? scope : kc_op_parent(scope);
}
