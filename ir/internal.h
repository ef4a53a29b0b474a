// What the files of the IR share among themselves: node allocation, use lists, a function's record,
// type rules.
#ifndef KC_IR_INTERNAL_H
#define KC_IR_INTERNAL_H

#include "ir/ir.h"

// A FUNC is allocated with its record behind it.
typedef struct {
    kc_op op;
    const char *doc;
    kc_output *outputs;
    int n_outputs, outputs_capacity;
    const char **constants; // hashes of the last arguments
    int n_constants, constants_capacity;
} kc_func_op;

static inline kc_func_op *kc_func_record(const kc_op *func) {
    return (kc_func_op *)(uintptr_t)func;
}

static inline kc_expr_pool *kc_block_pool(const kc_block *block) {
    return block->parent ? kc_op_pool(block->parent) : NULL;
}

// Layouts made by kc_module_layout are one pointer when equal; others are compared.
static inline bool kc_layout_same(const kc_layout *a, const kc_layout *b) {
    return a == b || (a && b && kc_layout_equal(a, b));
}

void kc_use_link(kc_use *, kc_value *, kc_op *user, int index);
void kc_op_insert(kc_op *, kc_block *, kc_op *before); // before NULL: at the end
int kc_operand_capacity(int n); // operand arrays have room for a power of two

// The value of attribute `key`, appended when absent.
kc_attr *kc_attr_slot(kc_op *, kc_attr_key);

enum { KC_WHY = 256 };
// The result type of an op whose rule is SAME, COMPARE, SELECT or CAST (to `cast`). False: `why`
// says what does not fit.
bool kc_type_rule_apply(kc_expr_pool *, kc_opcode, int n, const kc_type *const *operands,
                        kc_dtype cast, kc_type *result, char why[KC_WHY]);
const char *kc_domain_text(kc_domain); // "floats", as in "expected floats"
bool kc_domain_accepts(kc_domain, kc_dtype);

#endif
