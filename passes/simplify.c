// simplify: what can be said with fewer ops is; nothing changes in value.
//
// before:
//   module @m
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647} {
//     %0 = const {value = 2} : f32[]
//     %1 = broadcast %0 : f32[N]
//     %2 = pow %x, %1 : f32[N]
//     %y = reshape %2 : f32[N]
//     return %y
//   }
// after:
//   module @m
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647} {
//     %y = mul %x, %x : f32[N]
//     return %y
//   }
//
// Movements of constants are constants; movements that move nothing go; chains of reshapes,
// transpositions and broadcasts become one; elementwise ops go inside concatenations; equal pure
// ops become one; unused ops go. Arithmetic identities only where they hold for every value, NaN,
// infinities and signed zeros included. Runs to a fixed point, so it is idempotent. Requires
// primitives.
#include "passes/scopes.h"
#include "passes/simplify.h"

#include <string.h>

typedef kc_value *(*rule)(kc_builder *, kc_op *); // what replaces the op's result, or NULL

static bool constant(const kc_value *v, double *value) {
    if (!v->def || v->def->code != KC_OP_CONST) return false;
    const kc_attr *integer = kc_attr_get(v->def, KC_ATTR_INTEGER);
    *value = integer ? (double)integer->integer : kc_attr_float(v->def, KC_ATTR_VALUE, 0);
    return true;
}

static bool same_type(kc_op *op) {
    return kc_type_equal(kc_op_pool(op), &kc_operand(op, 0)->type, &kc_result(op, 0)->type);
}

static bool same_shape(kc_op *op) {
    return kc_type_same_shape(kc_op_pool(op), &kc_operand(op, 0)->type, &kc_result(op, 0)->type);
}

static kc_value *constant_moves(kc_builder *b, kc_op *op) {
    const kc_value *x = kc_operand(op, 0);
    if (!x->def || x->def->code != KC_OP_CONST) return NULL;
    kc_type type = kc_result(op, 0)->type;
    const kc_attr *integer = kc_attr_get(x->def, KC_ATTR_INTEGER);
    if (integer) return kc_build_const_int(b, type, integer->integer);
    return kc_build_const(b, type, kc_attr_float(x->def, KC_ATTR_VALUE, 0));
}

static kc_value *simplify_cast(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    kc_type type = kc_result(op, 0)->type;
    double value;
    (void)b;
    if (type.elem == x->type.elem) return x;
    if (constant(x, &value) && kc_dtype_is_float(type.elem) && kc_dtype_is_float(x->type.elem))
        return kc_build_const(b, type, kc_dtype_round(type.elem, value));
    return NULL;
}

static kc_value *simplify_broadcast(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    if (same_type(op)) return x;
    if (x->def && x->def->code == KC_OP_BROADCAST)
        return kc_build_1(b, KC_OP_BROADCAST, kc_result(op, 0)->type, 1,
                          (kc_value *[]){kc_operand(x->def, 0)});
    return constant_moves(b, op);
}

static kc_value *simplify_reshape(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    if (same_shape(op)) return x;
    if (x->def && x->def->code == KC_OP_RESHAPE)
        return kc_build_1(b, KC_OP_RESHAPE, kc_result(op, 0)->type, 1,
                          (kc_value *[]){kc_operand(x->def, 0)});
    return constant_moves(b, op);
}

static kc_value *simplify_transpose(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    const kc_attr *perm = kc_attr_get(op, KC_ATTR_PERM);
    bool still = true;
    for (int d = 0; d < perm->count; d++)
        still = still && perm->integers[d] == d;
    if (still) return x;
    if (!x->def || x->def->code != KC_OP_TRANSPOSE) return constant_moves(b, op);
    const kc_attr *inner = kc_attr_get(x->def, KC_ATTR_PERM);
    int64_t both[KC_MAX_RANK];
    for (int d = 0; d < perm->count; d++)
        both[d] = inner->integers[perm->integers[d]];
    kc_value *t = kc_build_1(b, KC_OP_TRANSPOSE, kc_result(op, 0)->type, 1,
                             (kc_value *[]){kc_operand(x->def, 0)});
    kc_attr_set_ints(b->module, t->def, KC_ATTR_PERM, perm->count, both);
    return t;
}

static kc_value *simplify_slice(kc_builder *b, kc_op *op) {
    const kc_attr *starts = kc_attr_get(op, KC_ATTR_STARTS),
                  *steps = kc_attr_get(op, KC_ATTR_STEPS);
    int64_t start;
    bool whole = same_type(op);
    for (int d = 0; d < steps->count; d++)
        whole = whole && steps->integers[d] == 1 && kc_expr_is_const(starts->exprs[d], &start) &&
                start == 0;
    return whole ? kc_operand(op, 0) : constant_moves(b, op);
}

static kc_value *simplify_concat(kc_builder *b, kc_op *op) {
    (void)b;
    return op->n_operands == 1 ? kc_operand(op, 0) : NULL;
}

// x * 1 and x / 1 are x, also for NaN and -0. (x + 0 is not: -0 + 0 is +0.)
static kc_value *simplify_mul(kc_builder *b, kc_op *op) {
    double value;
    (void)b;
    if (constant(kc_operand(op, 1), &value) && value == 1) return kc_operand(op, 0);
    if (constant(kc_operand(op, 0), &value) && value == 1) return kc_operand(op, 1);
    return NULL;
}

static kc_value *simplify_div(kc_builder *b, kc_op *op) {
    double value;
    (void)b;
    return constant(kc_operand(op, 1), &value) && value == 1 ? kc_operand(op, 0) : NULL;
}

static kc_value *simplify_pow(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    double value;
    if (!constant(kc_operand(op, 1), &value)) return NULL;
    if (value == 1) return x;
    if (value == 2) return kc_build_binary(b, KC_OP_MUL, x, x);
    return NULL;
}

static const rule rules[KC_OP_COUNT] = {
    [KC_OP_CAST] = simplify_cast,       [KC_OP_BROADCAST] = simplify_broadcast,
    [KC_OP_RESHAPE] = simplify_reshape, [KC_OP_TRANSPOSE] = simplify_transpose,
    [KC_OP_SLICE] = simplify_slice,     [KC_OP_CONCAT] = simplify_concat,
    [KC_OP_MUL] = simplify_mul,         [KC_OP_DIV] = simplify_div,
    [KC_OP_POW] = simplify_pow,         [KC_OP_MATMUL] = kc_simplify_product,
};

// ---- elementwise ops of concatenations ----------------------------------------------------------

static kc_value *constant_like(kc_builder *b, const kc_op *op, const kc_type *shape) {
    kc_type type = kc_type_tensor(kc_result(op, 0)->type.elem, shape->rank, shape->shape);
    const kc_attr *integer = kc_attr_get(op, KC_ATTR_INTEGER);
    return integer ? kc_build_const_int(b, type, integer->integer)
                   : kc_build_const(b, type, kc_attr_float(op, KC_ATTR_VALUE, 0));
}

// The concatenation among the operands, when the others are constants and nobody else needs it.
static kc_op *only_concat(const kc_op *op) {
    kc_op *found = NULL;
    for (int i = 0; i < op->n_operands; i++) {
        kc_op *def = kc_operand(op, i)->def;
        if (!def || (def->code != KC_OP_CONST && def->code != KC_OP_CONCAT)) return NULL;
        if (def->code == KC_OP_CONST) continue;
        if (found || kc_result(def, 0)->uses->next) return NULL;
        found = def;
    }
    return found;
}

// f(concat(a, b)) is concat(f(a), f(b)): parts that are computed apart can be stored apart.
static kc_value *apply_to_parts(kc_builder *b, kc_op *op) {
    kc_op *concat = kc_op_has(op, KC_ELEMENTWISE) ? only_concat(op) : NULL;
    if (!concat || kc_result(op, 0)->type.rank == 0) return NULL;
    kc_value **parts = KC_NEW_ARRAY(b->module->arena, kc_value *, concat->n_operands);
    for (int p = 0; p < concat->n_operands; p++) {
        kc_value *operands[KC_MAX_RANK];
        const kc_type *shape = &kc_operand(concat, p)->type;
        for (int i = 0; i < op->n_operands; i++)
            operands[i] = kc_operand(op, i)->def == concat
                              ? kc_operand(concat, p)
                              : constant_like(b, kc_operand(op, i)->def, shape);
        kc_type type = kc_type_tensor(kc_result(op, 0)->type.elem, shape->rank, shape->shape);
        parts[p] = kc_build_1(b, op->code, type, op->n_operands, operands);
        for (int i = 0; i < op->n_attrs; i++)
            parts[p]->def->attrs[parts[p]->def->n_attrs++] = op->attrs[i];
    }
    kc_value *whole =
        kc_build_1(b, KC_OP_CONCAT, kc_result(op, 0)->type, concat->n_operands, parts);
    kc_attr_set_int(whole->def, KC_ATTR_AXIS, kc_attr_int(concat, KC_ATTR_AXIS, 0));
    return whole;
}

// ---- equal ops ----------------------------------------------------------------------------------

static bool same_attr(const kc_attr *a, const kc_attr *b) {
    if (a->key != b->key || a->count != b->count) return false;
    switch (kc_attr_table[a->key].kind) {
    case KC_KIND_INTS:
        return memcmp(a->integers, b->integers, sizeof(int64_t) * (size_t)a->count) == 0;
    case KC_KIND_EXPRS:
        return memcmp(a->exprs, b->exprs, sizeof(kc_expr *) * (size_t)a->count) == 0;
    case KC_KIND_FLOATS:
        return memcmp(a->numbers, b->numbers, sizeof(double) * (size_t)a->count) == 0;
    case KC_KIND_STRING: return strcmp(a->string, b->string) == 0;
    case KC_KIND_DTYPE: return a->dtype == b->dtype;
    case KC_KIND_STRINGS: return false;
    default: return a->integer == b->integer; // by bits, so that -0 and 0 differ
    }
}

static bool same_position(const kc_value *a, const kc_value *b) {
    if (a->block) return b->block && a->index == b->index;
    return b->def && a->index == b->index && a->def->order == b->def->order;
}

static bool alike(const kc_op *a, const kc_op *b);

// Combiners see their own values alone, so they are equal when ops in the same places are alike.
static bool equal_regions(kc_block *a, kc_block *b) {
    if (!a || !b) return !a && !b;
    kc_block_renumber(a), kc_block_renumber(b);
    const kc_op *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (!alike(x, y) || x->body || y->body) return false;
        for (int i = 0; i < x->n_operands; i++)
            if (!same_position(kc_operand(x, i), kc_operand(y, i))) return false;
    }
    return !x && !y;
}

// Everything but the operands and the region.
static bool alike(const kc_op *a, const kc_op *b) {
    if (a->code != b->code || a->n_operands != b->n_operands || a->n_attrs != b->n_attrs ||
        a->n_results != b->n_results)
        return false;
    for (int i = 0; i < a->n_attrs; i++)
        if (!same_attr(&a->attrs[i], &b->attrs[i])) return false;
    for (int i = 0; i < a->n_results; i++)
        if (!kc_type_equal(kc_op_pool(a), &kc_result(a, i)->type, &kc_result(b, i)->type))
            return false;
    return true;
}

static bool equal_ops(const kc_op *a, const kc_op *b) {
    if (!alike(a, b) || a->n_results != 1) return false;
    for (int i = 0; i < a->n_operands; i++)
        if (kc_operand(a, i) != kc_operand(b, i)) return false;
    return equal_regions(a->body, b->body);
}

// Candidates share an operand, so its use list is the index; ops without operands are few and are
// scanned.
static kc_op *earlier_equal(kc_op *op) {
    if (op->n_operands == 0) {
        for (kc_op *e = op->block->first; e != op; e = e->next)
            if (equal_ops(e, op)) return e;
        return NULL;
    }
    for (kc_use *use = kc_operand(op, 0)->uses; use; use = use->next)
        if (use->user != op && use->user->block == op->block && use->user->order < op->order &&
            equal_ops(use->user, op))
            return use->user;
    return NULL;
}

static bool merge_equal(kc_block *block) {
    bool changed = false;
    kc_block_renumber(block);
    KC_FOR_OPS(op, block) {
        if (!kc_op_has(op, KC_PURE) || op->n_results != 1) continue;
        kc_op *earlier = earlier_equal(op);
        if (!earlier) continue;
        kc_op_replace(op, kc_result(earlier, 0));
        changed = true;
    }
    return changed;
}

static bool apply_rules(kc_module *module, kc_block *block) {
    bool changed = false;
    KC_FOR_OPS(op, block) {
        kc_builder b = kc_builder_before(module, op);
        kc_value *by = rules[op->code] ? rules[op->code](&b, op) : NULL;
        if (!by) by = apply_to_parts(&b, op);
        if (!by) continue;
        kc_op_replace(op, by);
        changed = true;
    }
    return changed;
}

static bool drop_unused(kc_block *block) {
    bool changed = false;
    for (kc_op *op = block->last, *before; op; op = before) {
        before = op->previous;
        if (!kc_op_has(op, KC_PURE) || !kc_op_unused(op)) continue;
        kc_op_erase(op);
        changed = true;
    }
    return changed;
}

static bool simplify_scope(kc_pass_context *pass, kc_op *scope) {
    bool changed = true;
    while (changed) {
        changed = apply_rules(pass->module, scope->body);
        changed = merge_equal(scope->body) || changed;
        changed = drop_unused(scope->body) || changed;
    }
    return true;
}

static bool run(kc_pass_context *pass) {
    return kc_scopes(pass, simplify_scope);
}

const kc_pass kc_pass_simplify = {
    .name = "simplify",
    .meaning = "redundant ops go, equal ops become one",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TENSOR,
    .run = run,
};
