#include "passes/rows.h"

static bool is_reduction_above(const kc_value *v, bool *seen) {
    if (!v->def || seen[v->def->order]) return false;
    seen[v->def->order] = true;
    if (kc_op_has(v->def, KC_REDUCTION)) return true;
    for (int i = 0; i < v->def->n_operands; i++)
        if (is_reduction_above(kc_operand(v->def, i), seen)) return true;
    return false;
}

bool kc_rows_needed_again(kc_expr_pool *pool, kc_arena *scratch, kc_block *body,
                          const kc_op *reduction) {
    const kc_op *yield = body->last;
    for (int i = 0; i < yield->n_operands; i++)
        if (kc_type_same_shape(pool, &kc_operand(yield, i)->type, &kc_operand(reduction, 0)->type))
            return true;
    kc_block_renumber(body);
    return is_reduction_above(kc_operand(reduction, 0),
                              KC_NEW_ARRAY(scratch, bool, yield->order + 1));
}
