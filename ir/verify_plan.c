// Functions, variants, kernels and what else surrounds computation.
#include "ir/verify.h"

#include <string.h>

static const kc_value *find_input(const kc_op *func, const char *name) {
    for (int i = 0; i < func->body->n_args; i++)
        if (func->body->args[i]->name && !strcmp(func->body->args[i]->name, name))
            return func->body->args[i];
    return NULL;
}

static const kc_output *find_output(const kc_op *func, const char *name) {
    const kc_output *outputs;
    int n = kc_func_outputs(func, &outputs);
    for (int i = 0; i < n; i++)
        if (!strcmp(outputs[i].name, name)) return &outputs[i];
    return NULL;
}

static bool has_variants(const kc_op *func) {
    for (const kc_op *op = func->body->first; op; op = op->next)
        if (op->code == KC_OP_VARIANT) return true;
    return false;
}

static bool same_value_type(kc_expr_pool *pool, const kc_type *a, const kc_type *b) {
    return a->elem == b->elem && kc_type_same_shape(pool, a, b);
}

// The function's type as a body sees it that may have a pool, and facts, of its own.
static bool has_type_of(const kc_checker *c, const kc_op *op, const kc_value *value,
                        const kc_type *of_function) {
    kc_type type = kc_type_import(op->pool, c->func->pool, of_function);
    return same_value_type(op->pool, &value->type, &type);
}

// The body of a function, or of a variant that computes it.
static void check_return(kc_checker *c, const kc_op *op) {
    const kc_output *outputs;
    int n = kc_func_outputs(c->func, &outputs);
    const kc_op *last = kc_check_terminator(op);
    if (!last || last->code != KC_OP_RETURN) {
        kc_check_fail(c, op, "its body does not end in return");
        return;
    }
    if (last->n_operands != n) {
        kc_check_fail(c, last, "%d values for %d outputs", last->n_operands, n);
        return;
    }
    for (int i = 0; i < n; i++)
        if (!has_type_of(c, op, last->operands[i].value, &outputs[i].type))
            kc_check_fail(c, last, "value %d has not the type of output '%s'", i, outputs[i].name);
}

// One tensor, as an input and as an output: the last inputs are the first outputs, in order.
static void check_inout(kc_checker *c, const kc_op *func, const kc_output *output, int index) {
    int inputs = func->body->n_args - kc_func_constants(func);
    int place = inputs - kc_func_inouts(func) + index;
    const kc_value *input = find_input(func, output->name);
    if (!input) return; // reported as an alias
    if (place >= inputs || func->body->args[place] != input)
        kc_check_fail(c, func, "'%s' is updated in place, but its input and output do not pair up: "
                      "such inputs come last, such outputs first, in the same order", output->name);
    if (!kc_type_equal(func->pool, &input->type, &output->type) || !output->type.rank)
        kc_check_fail(c, func, "'%s' is updated in place: its input and output have one type, of "
                      "rank 1 or more", output->name);
}

static void check_output(kc_checker *c, const kc_op *func, const kc_output *output, int index) {
    const kc_value *aliased = output->alias ? find_input(func, output->alias) : NULL;
    if (output->type.kind != KC_TYPE_TENSOR)
        kc_check_fail(c, func, "output '%s' is no tensor", output->name);
    kc_check_packing(c, func, &output->type, "an output");
    if (kc_output_is_inout(output)) check_inout(c, func, output, index);
    else if (find_input(func, output->name))
        kc_check_fail(c, func, "'%s' is an input and an output, but no alias of itself",
                      output->name);
    else if (aliased && find_output(func, output->alias))
        kc_check_fail(c, func, "output '%s' aliases '%s', which is updated in place", output->name,
                      output->alias);
    if (aliased && kc_constant_hash(aliased))
        kc_check_fail(c, func, "output '%s' aliases '%s', which is a constant", output->name,
                      output->alias);
    const kc_output *outputs;
    kc_func_outputs(func, &outputs);
    if (find_output(func, output->name) != &outputs[index])
        kc_check_fail(c, func, "two outputs are called '%s'", output->name);
    if (output->alias && !aliased)
        kc_check_fail(c, func, "output '%s' aliases '%s', which is no input", output->name,
                      output->alias);
}

static void check_constant(kc_checker *c, const kc_op *func, const kc_value *v) {
    const char *hash = kc_constant_hash(v), *name = v->name ? v->name : "";
    if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
        kc_check_fail(c, func, "constant '%s' is not named by 64 lowercase hexadecimal digits", name);
    bool fixed = v->type.rank > 0 && !v->type.strides[0];
    for (int d = 0; d < v->type.rank; d++)
        fixed = fixed && v->type.shape[d] && kc_expr_is_const(v->type.shape[d], NULL);
    if (!fixed)
        kc_check_fail(c, func, "constant '%s' has a fixed shape, of rank 1 or more, and no strides", name);
}

static void check_func(kc_checker *c, const kc_op *func) {
    const kc_output *outputs;
    int n = kc_func_outputs(func, &outputs);
    if (!func->pool) {
        kc_check_fail(c, func, "it has no pool of expressions");
        return;
    }
    if (kc_func_find(c->module, kc_func_name(func)) != func)
        kc_check_fail(c, func, "two functions have this name");
    for (int i = 0; i < func->body->n_args; i++) {
        kc_check_kind(c, func, &func->body->args[i]->type, KC_TYPE_TENSOR, "an input");
        if (!func->body->args[i]->name) kc_check_fail(c, func, "input %d has no name", i);
        if (kc_constant_hash(func->body->args[i])) check_constant(c, func, func->body->args[i]);
        kc_check_packing(c, func, &func->body->args[i]->type, "an input");
    }
    for (int i = 0; i < n; i++)
        check_output(c, func, &outputs[i], i);
    const kc_op *last = kc_check_terminator(func);
    if (!has_variants(func) || (last && last->n_operands)) check_return(c, func);
}

static void check_return_place(kc_checker *c, const kc_op *op) {
    const kc_op *parent = kc_op_parent(op);
    if (parent->code == KC_OP_FUNC || parent->code == KC_OP_VARIANT) return; // checked with it
    if (parent->code != KC_OP_KERNEL || op->n_operands)
        kc_check_fail(c, op, "it ends functions; this region ends in yield");
}

static void check_yield_place(kc_checker *c, const kc_op *op) {
    if (kc_op_parent(op)->code == KC_OP_FUNC) kc_check_fail(c, op, "a function ends in return");
}

static void check_schedule(kc_checker *c, const kc_op *op) {
    kc_opcode parent = kc_op_parent(op)->code;
    if (parent != KC_OP_FUNC && parent != KC_OP_VARIANT)
        kc_check_fail(c, op, "a schedule stands in the body of a function or variant");
}

static void check_fusion(kc_checker *c, const kc_op *op) {
    if (op->body->n_args != op->n_operands)
        kc_check_fail(c, op, "%d arguments for %d inputs", op->body->n_args, op->n_operands);
    else
        for (int i = 0; i < op->n_operands; i++)
            if (!same_value_type(c->pool, kc_check_operand(c, op, i), &op->body->args[i]->type))
                kc_check_fail(c, op, "argument %d has not the type of its input", i);
    const kc_type **types = KC_NEW_ARRAY(c->scratch, const kc_type *, op->n_results);
    for (int i = 0; i < op->n_results; i++)
        types[i] = kc_check_result(op, i);
    kc_check_region_yields(c, op, op->n_results, types);
}

static void check_empty_end(kc_checker *c, const kc_op *op) {
    const kc_op *last = kc_check_terminator(op);
    if (last && last->n_operands)
        kc_check_fail(c, op, "its region ends with values, expected none");
}

// In tensor form it computes the function: it has its inputs, seen under its own facts, and returns its outputs.
static void check_tensor_form(kc_checker *c, const kc_op *op) {
    const kc_block *inputs = c->func->body;
    if (op->body->n_args != inputs->n_args) {
        kc_check_fail(c, op, "its region takes %d arguments, the function %d", op->body->n_args,
                      inputs->n_args);
        return;
    }
    for (int i = 0; i < inputs->n_args; i++)
        if (!has_type_of(c, op, op->body->args[i], &inputs->args[i]->type))
            kc_check_fail(c, op, "argument %d has not the type of the function's", i);
    check_return(c, op);
}

static void check_variant(kc_checker *c, const kc_op *op) {
    const kc_attr *aligned = kc_attr_get(op, KC_ATTR_ALIGNED);
    if (kc_op_parent(op)->code != KC_OP_FUNC)
        kc_check_fail(c, op, "a variant stands in a function's body");
    if (!op->pool) kc_check_fail(c, op, "it has no pool of expressions");
    for (int i = 0; aligned && i < aligned->count; i++)
        if (!find_input(c->func, aligned->strings[i]) && !find_output(c->func, aligned->strings[i]))
            kc_check_fail(c, op, "aligned '%s' is no argument", aligned->strings[i]);
    if (op->body->n_args || kc_variant_computes(op)) check_tensor_form(c, op);
    else check_empty_end(c, op);
}

static void check_output_buffer(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    const char *name = kc_attr_string(op, KC_ATTR_NAME, "");
    const kc_output *output = find_output(c->func, name);
    if (!output) kc_check_fail(c, op, "the function has no output '%s'", name);
    else if (!same_value_type(c->pool, kc_check_result(op, 0),
                              kc_check_type(c, &output->type, c->func->pool)))
        kc_check_fail(c, op, "its type is not that of output '%s'", name);
}

static void check_buffer(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    const kc_type *type = kc_check_result(op, 0);
    if (kc_check_kind(c, op, type, KC_TYPE_TENSOR, "the result"))
        kc_check_packing(c, op, type, "the buffer");
}

// ---- kernels

// Whether neighbouring dimensions of the one, joined, are the dimensions of the other. It finds
// shapes of as many elements where the products of all dimensions are too large to be compared.
static bool joins(kc_expr_pool *pool, const kc_type *fine, const kc_type *coarse) {
    int d = 0;
    for (int i = 0; i < coarse->rank; i++) {
        const kc_expr *joined = kc_expr_const(pool, 1);
        do {
            if (d == fine->rank) return false;
            joined = kc_expr_mul(pool, joined, fine->shape[d++]);
        } while (!kc_expr_known_equal(pool, joined, coarse->shape[i]));
    }
    while (d < fine->rank && kc_expr_is_one(fine->shape[d])) d++;
    return d == fine->rank;
}

// An argument is the operand's buffer, perhaps seen in another shape of as many elements; in tile
// form a tensor of one element may come by value.
static void check_kernel_argument(kc_checker *c, const kc_op *kernel, int i) {
    const kc_type *operand = kc_check_operand(c, kernel, i),
                  *argument = &kernel->body->args[i]->type;
    if (!kc_check_kind(c, kernel, operand, KC_TYPE_TENSOR, "an operand")) return;
    if (argument->elem != operand->elem) {
        kc_check_fail(c, kernel, "argument %d is %s, its operand %s", i,
                      kc_dtype_name(argument->elem), kc_dtype_name(operand->elem));
        return;
    }
    const kc_expr *elements = kc_type_elements(c->pool, operand);
    bool fits = false;
    if (argument->kind == KC_TYPE_TENSOR)
        fits = kc_type_same_shape(c->pool, operand, argument) ||
               kc_check_same(c, elements, kc_type_elements(c->pool, argument)) ||
               joins(c->pool, operand, argument);
    else if (argument->kind == KC_TYPE_TILE && argument->rank == 0 && i < kernel->segments[0])
        fits = kc_check_same(c, elements, kc_expr_const(c->pool, 1));
    if (!fits) kc_check_fail(c, kernel, "argument %d does not fit its operand", i);
    else kc_check_packing(c, kernel, argument, "an argument");
}

static void check_kernel(kc_checker *c, const kc_op *op) {
    bool tiles = c->level & KC_LEVEL_ALL_TILE;
    int n = op->body->n_args, inputs = op->segments[0], outputs = op->segments[1];
    if (n != op->n_operands && (tiles || n != inputs)) {
        kc_check_fail(c, op, "%d arguments for %d inputs and %d outputs", n, inputs, outputs);
        return;
    }
    for (int i = 0; i < n; i++)
        check_kernel_argument(c, op, i);
    const kc_op *last = kc_check_terminator(op);
    if (tiles || !last || !last->n_operands) {
        check_empty_end(c, op);
        return;
    }
    const kc_type **types = KC_NEW_ARRAY(c->scratch, const kc_type *, outputs);
    for (int i = 0; i < outputs; i++)
        types[i] = kc_check_operand(c, op, inputs + i);
    kc_check_region_yields(c, op, outputs, types);
}

// ---- values from nowhere

static void check_const(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    bool is_float = kc_dtype_is_float(kc_check_result(op, 0)->elem);
    kc_attr_key has = is_float ? KC_ATTR_VALUE : KC_ATTR_INTEGER,
                lacks = is_float ? KC_ATTR_INTEGER : KC_ATTR_VALUE;
    if (!kc_attr_get(op, has) || kc_attr_get(op, lacks))
        kc_check_fail(c, op, "a constant of this type has attribute '%s' alone",
                      kc_attr_table[has].name);
    if (kc_check_result(op, 0)->kind == KC_TYPE_SHARED)
        kc_check_fail(c, op, "a constant is no shared buffer");
}

static void check_sym(kc_checker *c, const kc_op *op) {
    if (kc_check_results(c, op, 1) && !kc_check_scalar(kc_check_result(op, 0), KC_DTYPE_NONE))
        kc_check_fail(c, op, "its result has rank 0");
}

static void check_iota(kc_checker *c, const kc_op *op) {
    if (!kc_check_results(c, op, 1)) return;
    kc_check_axis(c, op, kc_check_result(op, 0)->rank);
    if (kc_check_result(op, 0)->elem == KC_bool)
        kc_check_fail(c, op, "indices are numbers, not bool");
}

kc_check_facts *kc_check_plan_facts(kc_opcode code) {
    switch (code) {
    case KC_OP_FUNC: return check_func;
    case KC_OP_RETURN: return check_return_place;
    case KC_OP_YIELD: return check_yield_place;
    case KC_OP_SCHEDULE: return check_schedule;
    case KC_OP_FUSION: return check_fusion;
    case KC_OP_VARIANT: return check_variant;
    case KC_OP_OUTPUT: return check_output_buffer;
    case KC_OP_BUFFER: return check_buffer;
    case KC_OP_KERNEL: return check_kernel;
    case KC_OP_CONST: return check_const;
    case KC_OP_SYM: return check_sym;
    case KC_OP_IOTA: return check_iota;
    default: return NULL;
    }
}
