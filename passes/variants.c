// variants: a function becomes several of its kind, each under facts that are checked at launch.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647} {
//     %y = exp %x : f32[N]
//     return %y
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647, align.x, align.y} {
//     variant {when = N % 4 == 0 and align.x >= 16 and align.y >= 16, aligned = ["x", "y"], reason = "whole vectors"} dims {N: 0..2147483644 multiple 4} {
//     ^(%x: f32[N]):
//       %y = exp %x : f32[N]
//       return %y
//     }
//     variant {reason = "any sizes"} {
//     ^(%x: f32[N]):
//       %y = exp %x : f32[N]
//       return %y
//     }
//   }
//
// Sizes that the facts leave one value are that value from here on. The passes behind treat each
// variant as a function of its own (scopes.h), until `plan` makes kernels of it.
#include "passes/variants.h"

static void set_facts(kc_expr_pool *pool, const kc_variant_plan *plan) {
    for (int i = 0; i < plan->n; i++) {
        kc_expr_facts facts = kc_expr_get_facts(pool, plan->facts[i].symbol);
        int64_t multiple = plan->facts[i].multiple_of;
        if (plan->facts[i].max < facts.max) facts.max = plan->facts[i].max;
        if (plan->facts[i].min > facts.min) facts.min = plan->facts[i].min;
        facts.multiple_of = multiple;
        facts.max -= facts.max % multiple;
        facts.min += (multiple - facts.min % multiple) % multiple;
        kc_expr_set_facts(pool, plan->facts[i].symbol, facts);
    }
}

static void copy_body(kc_module *module, kc_op *func, kc_op *variant) {
    kc_block *body = kc_op_add_body(module, variant);
    kc_clone *clone = kc_clone_begin(module, func->pool, variant->pool);
    for (int i = 0; i < func->body->n_args; i++) {
        const kc_value *arg = func->body->args[i];
        kc_type type = kc_type_import(variant->pool, func->pool, &arg->type);
        kc_clone_map(clone, func->body->args[i], kc_block_add_arg(module, body, type, arg->name));
    }
    kc_builder inner = kc_builder_at_end(module, body, func->loc);
    KC_FOR_OPS(op, func->body)
        if (op->code != KC_OP_VARIANT) kc_clone_op(clone, &inner, op);
    kc_clone_end(clone);
}

static void add_variant(kc_pass_context *pass, kc_op *func, const kc_variant_plan *plan) {
    kc_module *module = pass->module;
    kc_builder outer = kc_builder_before(module, func->body->last);
    outer.loc = func->loc;
    kc_op *variant = kc_build(&outer, KC_OP_VARIANT, 0, NULL, 0, NULL);
    if (plan->when) kc_attr_set_expr(variant, KC_ATTR_WHEN, plan->when);
    if (plan->n_aligned)
        kc_attr_set_strings(module, variant, KC_ATTR_ALIGNED, plan->n_aligned, plan->aligned);
    kc_attr_set_string(module, variant, KC_ATTR_REASON, plan->reason);
    set_facts(variant->pool, plan);
    copy_body(module, func, variant);
}

static bool run(kc_pass_context *pass) {
    kc_variant_plan *plans = KC_NEW_ARRAY(pass->scratch, kc_variant_plan, KC_VARIANT_MOST);
    KC_FOR_OPS(func, pass->module->body) {
        int n = kc_variants_choose(pass, func, plans);
        for (int i = 0; i < n; i++)
            add_variant(pass, func, &plans[i]);
        for (kc_op *op = func->body->last, *before; op; op = before) {
            before = op->previous;
            if (op->code != KC_OP_VARIANT) kc_op_erase(op);
        }
    }
    return true;
}

const kc_pass kc_pass_variants = {
    .name = "variants",
    .meaning = "a function becomes several, under facts that are checked at launch",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TENSOR,
    .needs_target = true,
    .run = run,
};
