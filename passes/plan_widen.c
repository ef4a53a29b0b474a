// 4-bit values between kernels. In memory they stand two a byte along rows of even length
// (kc_type_packing); values have any shape. What cannot be stored so goes from kernel to kernel in
// 8 bits: a cast where it is made, one where it is used.
#include "passes/plan.h"

static kc_dtype wide(kc_dtype t) {
    return kc_dtype_is_float(t) ? KC_f8e4m3 : KC_i8; // holds every value
}

static void widen_use(kc_module *module, const kc_use *use, kc_dtype narrow) {
    kc_block *body = use->user->body;
    kc_value *arg = body->args[use->index];
    if (use->user->code != KC_OP_FUSION)
        kc_bug("a value that no output can hold is used outside fusions");
    arg->type.elem = wide(narrow);
    kc_builder b = kc_builder_before(module, body->first);
    kc_value *cast = kc_build_cast(&b, arg, narrow);
    kc_value_replace(arg, cast);
    kc_op_set_operand(cast->def, 0, arg);
}

static void widen(kc_module *module, kc_op *fusion, int i) {
    kc_value *result = kc_result(fusion, i);
    kc_dtype narrow = result->type.elem;
    kc_op *yield = fusion->body->last;
    kc_builder b = kc_builder_before(module, yield);
    kc_op_set_operand(yield, i, kc_build_cast(&b, kc_operand(yield, i), wide(narrow)));
    result->type.elem = wide(narrow);
    for (const kc_use *use = result->uses; use; use = use->next)
        widen_use(module, use, narrow);
}

void kc_plan_widen(kc_module *module, kc_op *variant) {
    KC_FOR_OPS(fusion, variant->body) {
        if (fusion->code != KC_OP_FUSION) continue;
        for (int i = 0; i < fusion->n_results; i++)
            if (kc_type_packing(variant->pool, &kc_result(fusion, i)->type))
                widen(module, fusion, i);
    }
}
