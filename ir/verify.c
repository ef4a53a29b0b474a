// The verifier: structure, dominance and isolation, and what the op table says of every op. What
// belongs to one op alone is in verify_*.c. Nothing here trusts the module beyond its pointers
// being pointers.
#include "ir/verify.h"

#include <stdarg.h>
#include <string.h>

void kc_check_fail(kc_checker *c, const kc_op *op, const char *format, ...) {
    char text[512], result[80] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (op->n_results && op->results[0]->name)
        snprintf(result, sizeof result, "%%%s = ", op->results[0]->name);
    c->errors++;
    kc_report(c->diag, KC_ERROR, op->loc, "%s%s in @%s: %s", result, kc_op_row(op)->name,
              c->func ? kc_func_name(c->func) : "", text);
}

// ---- links and uses

static void check_links(kc_checker *c, const kc_op *op, const kc_block *block) {
    if (op->block != block) kc_check_fail(c, op, "it does not know the block it stands in");
    if (op->next ? op->next->previous != op : block->last != op)
        kc_check_fail(c, op, "the links of its block are broken");
    if (op->body && op->body->parent != op) kc_check_fail(c, op, "its region does not know it");
}

static bool use_is_linked(const kc_use *use) {
    return (use->previous ? use->previous->next == use : use->value->uses == use) &&
           (!use->next || use->next->previous == use);
}

// What keeps an op here from seeing a value; NULL: nothing.
static const char *invisible(const kc_checker *c, const kc_value *value) {
    bool isolated = false;
    for (const kc_check_scope *s = c->scope; s; s = s->outer) {
        if (kc_map_get(s->defined, value))
            return isolated ? "is defined outside a region that sees its own arguments alone"
                            : NULL;
        isolated |= s->isolated;
    }
    return "is not defined before its use";
}

static bool check_uses(kc_checker *c, const kc_op *op) {
    int before = c->errors;
    for (int i = 0; i < op->n_operands; i++) {
        const kc_use *use = &op->operands[i];
        if (!use->value) {
            kc_check_fail(c, op, "operand %d is missing", i);
            continue;
        }
        if (use->user != op || use->index != i || !use_is_linked(use))
            kc_check_fail(c, op, "the use list of operand %d is broken", i);
        const char *trouble = invisible(c, use->value);
        if (trouble)
            kc_check_fail(c, op, "operand %d%s%s %s", i, use->value->name ? " %" : "",
                          use->value->name ? use->value->name : "", trouble);
    }
    return c->errors == before;
}

// ---- types and expressions

static bool expr_belongs(const kc_expr_pool *pool, const kc_expr *expr) {
    if (!expr) return true;
    if (expr->kind == KC_EXPR_SYMBOL)
        return expr->symbol >= 0 && expr->symbol < kc_expr_symbol_count(pool);
    return expr_belongs(pool, expr->a) && expr_belongs(pool, expr->b);
}

static const char *tensor_trouble(const kc_checker *c, const kc_type *type) {
    for (int i = 0; i < type->rank; i++) {
        if (!type->shape[i] || (type->strides[0] && !type->strides[i]))
            return "lacks an extent or a stride";
        if (!c->pool || !expr_belongs(c->pool, type->shape[i]) ||
            !expr_belongs(c->pool, type->strides[i]))
            return "mentions a symbol that its function does not declare";
    }
    return NULL;
}

enum { MAX_TILE_ELEMENTS = 1 << 30 };

static bool layout_covers(const kc_type *type, int first) {
    const kc_layout *layout = type->layout;
    if (layout->rank != type->rank - first) return false;
    for (int i = first; i < type->rank; i++)
        if (kc_layout_extent(layout, i - first) != type->tile[i]) return false;
    return true;
}

// Of a shared buffer with stages, the layout may be that of one stage.
static const char *layout_trouble(const kc_type *type) {
    const kc_layout *layout = type->layout;
    bool shared = type->kind == KC_TYPE_SHARED;
    if (layout->memory != shared)
        return shared ? "is a shared buffer with a layout of threads"
                      : "is a tile with a layout of memory";
    if (kc_layout_check(layout)) return "has an invalid layout";
    if (layout_covers(type, 0) || (shared && type->rank && layout_covers(type, 1))) return NULL;
    return "has a layout of other extents";
}

static const char *tile_trouble(const kc_checker *c, const kc_type *type) {
    int64_t elements = 1;
    for (int i = 0; i < type->rank; i++) {
        if (type->tile[i] < 1) return "has an extent below 1";
        if (__builtin_mul_overflow(elements, type->tile[i], &elements) ||
            elements > MAX_TILE_ELEMENTS)
            return "is too large for a tile";
    }
    if (type->layout) return layout_trouble(type);
    if (c->level == KC_LEVEL_LAYOUT && c->kernel && (type->rank || type->kind == KC_TYPE_SHARED))
        return "has no layout";
    return NULL;
}

static const char *type_trouble(const kc_checker *c, const kc_type *type) {
    if (type->rank < 0 || type->rank > KC_MAX_RANK) return "has a rank out of range";
    if (kc_type_is_group(type)) return type->rank || type->layout ? "is a group with extents" : NULL;
    if (!kc_domain_accepts(KC_DOMAIN_ANY, type->elem))
        return "has no element type";
    switch (type->kind) {
    case KC_TYPE_TENSOR: return tensor_trouble(c, type);
    case KC_TYPE_TILE:
    case KC_TYPE_TOKEN:
    case KC_TYPE_SHARED: return tile_trouble(c, type);
    case KC_TYPE_NONE: break;
    }
    return "has no type";
}

// All tiles of a kernel have the rank of its iteration space.
static void check_tile_rank(kc_checker *c, const kc_op *op, const kc_type *type) {
    if (!kc_check_in_tile_form(c) || type->kind != KC_TYPE_TILE || type->rank == 0) return;
    if (!c->kernel_rank) c->kernel_rank = type->rank;
    if (c->kernel_rank != type->rank)
        kc_check_fail(
            c, op, "a tile of rank %d in a kernel of rank %d; all tiles of a kernel have one rank",
            type->rank, c->kernel_rank);
}

static void check_value(kc_checker *c, const kc_op *op, const kc_value *value, const char *what,
                        int i) {
    const char *trouble = type_trouble(c, &value->type);
    if (trouble) kc_check_fail(c, op, "%s %d %s", what, i, trouble);
    check_tile_rank(c, op, &value->type);
    for (const kc_use *use = value->uses; use; use = use->next)
        if (use->value != value || !use->user || use->index >= use->user->n_operands ||
            &use->user->operands[use->index] != use) {
            kc_check_fail(c, op, "the uses of %s %d are broken", what, i);
            return;
        }
}

// ---- what the row says

static bool check_level(kc_checker *c, const kc_op *op) {
    int levels = kc_op_row(op)->levels;
    // Around its kernels a module at a tile level is a plan: what is legal at every level.
    bool legal = c->kernel && c->kernel != op     ? levels & c->level
                 : (c->level & KC_LEVEL_ALL_TILE) ? levels == KC_LEVEL_ALL
                                                  : levels & c->level;
    if (legal) return true;
    static const char *const names[] = {
        [1] = "composite", [2] = "tensor", [4] = "tile", [8] = "layout"};
    kc_check_fail(c, op, "the op is not legal at the %s level%s", names[c->level],
                  c->kernel ? "" : " outside a kernel");
    return false;
}

static bool check_segments(kc_checker *c, const kc_op *op) {
    kc_segment segments[KC_MAX_SEGMENTS];
    int n = kc_op_segments(op->code, segments), sum = 0, before = c->errors;
    for (int i = 0; i < n; i++) {
        int count = op->segments[i];
        sum += count;
        bool fits = count >= 0 && (segments[i].mode == KC_SEGMENT_ANY || count == 1 ||
                                   (count == 0 && segments[i].mode == KC_SEGMENT_OPTIONAL));
        if (!fits)
            kc_check_fail(c, op, "%d operands for '%.*s'; the operands are: %s", count,
                          segments[i].length, segments[i].name, kc_op_row(op)->operands);
    }
    if (sum != op->n_operands)
        kc_check_fail(c, op, "its segments add up to %d of %d operands", sum, op->n_operands);
    return c->errors == before;
}

static bool one_of(const char *value, const char *const *choices) {
    for (; *choices; choices++)
        if (!strcmp(value, *choices)) return true;
    return false;
}

// Values that no op could use, whatever it is.
static const char *attr_trouble(const kc_attr *attr) {
    switch (attr->key) {
    case KC_ATTR_WARPS:
    case KC_ATTR_STAGES:
    case KC_ATTR_SPLIT:
    case KC_ATTR_BLOCK:
    case KC_ATTR_STEP: return attr->integer < 1 ? "is below 1" : NULL;
    case KC_ATTR_VECTOR:
    case KC_ATTR_SAME:
        return attr->integer < 1 || (attr->integer & (attr->integer - 1)) ? "is no power of two"
                                                                          : NULL;
    case KC_ATTR_SHARED:
    case KC_ATTR_PENDING:
    case KC_ATTR_SWIZZLE: return attr->integer < 0 ? "is below 0" : NULL;
    case KC_ATTR_KEEPDIMS:
    case KC_ATTR_APPROXIMATE:
    case KC_ATTR_TRANSPOSE_A:
    case KC_ATTR_TRANSPOSE_B:
    case KC_ATTR_FAST: return attr->integer & ~(int64_t)1 ? "is neither 0 nor 1" : NULL;
    case KC_ATTR_UNIT:
        return one_of(attr->string, (const char *const[]){"fma", "tensor", NULL})
                   ? NULL
                   : "is neither \"fma\" nor \"tensor\"";
    case KC_ATTR_PRECISION:
        return one_of(attr->string, (const char *const[]){"ieee", "high", "fast", NULL})
                   ? NULL
                   : "is none of \"ieee\", \"high\", \"fast\"";
    case KC_ATTR_TILE:
        for (int i = 0; i < attr->count; i++)
            if (attr->integers[i] < 1) return "has an extent below 1";
        return NULL;
    default: return NULL;
    }
}

static const char *attr_missing(const kc_attr *attr) {
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_STRING: return attr->string ? NULL : "has no value";
    case KC_KIND_EXPR: return attr->expr ? NULL : "has no value";
    case KC_KIND_EXPRS:
        for (int i = 0; i < attr->count; i++)
            if (!attr->exprs[i]) return "lacks an item";
        return NULL;
    default: return NULL;
    }
}

static bool attr_symbols_known(const kc_op *op, const kc_attr *attr) {
    const kc_expr_pool *pool = kc_attr_pool(op, attr->key);
    kc_attr_kind kind = kc_attr_table[attr->key].kind;
    if (kind != KC_KIND_EXPR && kind != KC_KIND_EXPRS) return true;
    if (!pool) return false;
    if (kind == KC_KIND_EXPR) return expr_belongs(pool, attr->expr);
    for (int i = 0; i < attr->count; i++)
        if (!expr_belongs(pool, attr->exprs[i])) return false;
    return true;
}

static bool check_attrs(kc_checker *c, const kc_op *op) {
    int before = c->errors;
    kc_attr_key keys[KC_MAX_ATTRS];
    int n = kc_op_attr_keys(op->code, keys);
    for (int i = 0; i < n; i++)
        if (kc_op_attr_need(op->code, keys[i]) == 2 && !kc_attr_get(op, keys[i]))
            kc_check_fail(c, op, "attribute '%s' is missing", kc_attr_table[keys[i]].name);
    for (int i = 0; i < op->n_attrs; i++) {
        const kc_attr *attr = &op->attrs[i];
        const char *name = kc_attr_table[attr->key].name;
        const char *trouble = !kc_op_attr_need(op->code, attr->key) ? "does not belong to this op"
                                                                    : attr_missing(attr);
        if (!trouble && !attr_symbols_known(op, attr))
            trouble = "mentions a symbol that its function does not declare";
        if (!trouble) trouble = attr_trouble(attr);
        if (kc_attr_get(op, attr->key) != attr) trouble = "is given twice";
        if (trouble) kc_check_fail(c, op, "attribute '%s' %s", name, trouble);
    }
    return c->errors == before;
}

static bool check_domain(kc_checker *c, const kc_op *op) {
    int before = c->errors;
    for (int i = 0; i < op->n_operands; i++) {
        kc_dtype elem = kc_check_operand(c, op, i)->elem;
        if (!kc_domain_accepts(kc_op_row(op)->domain, elem))
            kc_check_fail(c, op, "operand %d is %s, expected %s", i, kc_dtype_name(elem),
                          kc_domain_text(kc_op_row(op)->domain));
    }
    return c->errors == before;
}

enum { MAX_RULE_OPERANDS = 8 };

static void check_operand_layouts(kc_checker *c, const kc_op *op) {
    const kc_type *result = kc_check_result(op, 0);
    for (int i = 0; i < op->n_operands; i++) {
        const kc_type *operand = kc_check_operand(c, op, i);
        if (operand->rank && kc_type_same_shape(NULL, operand, result) &&
            !kc_layout_same(operand->layout, result->layout))
            kc_check_fail(c, op, "operand %d and the result have different layouts", i);
    }
}

static void check_rule(kc_checker *c, const kc_op *op) {
    const kc_type *operands[MAX_RULE_OPERANDS];
    kc_type expected;
    char why[KC_WHY];
    const kc_attr *dtype = kc_attr_get(op, KC_ATTR_DTYPE);
    if (op->n_operands > MAX_RULE_OPERANDS || !kc_check_results(c, op, 1)) return;
    for (int i = 0; i < op->n_operands; i++)
        operands[i] = kc_check_operand(c, op, i);
    if (!kc_type_rule_apply(c->pool, op->code, op->n_operands, operands,
                            dtype ? dtype->dtype : KC_DTYPE_NONE, &expected, why)) {
        kc_check_fail(c, op, "%s", why);
        return;
    }
    const kc_type *result = kc_check_result(op, 0);
    if (result->elem != expected.elem)
        kc_check_fail(c, op, "the result is %s, expected %s", kc_dtype_name(result->elem),
                      kc_dtype_name(expected.elem));
    if (!kc_type_same_shape(c->pool, result, &expected))
        kc_check_fail(c, op, "the result's shape is not that of its operands");
    if (result->kind == KC_TYPE_TILE && c->level == KC_LEVEL_LAYOUT) check_operand_layouts(c, op);
}

static void check_facts(kc_checker *c, const kc_op *op) {
    kc_check_facts *(*const tables[])(kc_opcode) = {kc_check_plan_facts, kc_check_tensor_facts,
                                                    kc_check_composite_facts, kc_check_tile_facts,
                                                    kc_check_async_facts};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        kc_check_facts *facts = tables[i](op->code);
        if (facts) facts(c, op);
    }
}

// ---- regions

static bool needs_body(kc_opcode code) {
    switch (code) {
    case KC_OP_FUNC:
    case KC_OP_FUSION:
    case KC_OP_VARIANT:
    case KC_OP_KERNEL:
    case KC_OP_REDUCE:
    case KC_OP_SCAN:
    case KC_OP_SCAN_CARRY:
    case KC_OP_FOR:
    case KC_OP_IF: return true;
    default: return false;
    }
}

static void check_block(kc_checker *c, const kc_block *block);

static void check_region(kc_checker *c, const kc_op *op) {
    // A reduction's combiner is called by code that knows nothing of what surrounds the reduction.
    bool isolated = kc_op_is_isolated(op) || kc_op_has(op, KC_REDUCTION);
    kc_check_scope scope = {c->scope, kc_map_create(c->scratch), isolated};
    kc_checker outer = *c;
    c->scope = &scope;
    c->pool = kc_op_pool(op);
    if (op->code == KC_OP_KERNEL) {
        c->kernel = op;
        c->kernel_rank = 0;
    }
    for (int i = 0; i < op->body->n_args; i++) {
        check_value(c, op, op->body->args[i], "argument", i);
        kc_map_set(scope.defined, op->body->args[i], op->body->args[i]);
    }
    check_block(c, op->body);
    if (op->code == KC_OP_KERNEL && c->level == KC_LEVEL_LAYOUT && c->errors == outer.errors)
        kc_check_copies(c, op);
    c->scope = outer.scope;
    c->pool = outer.pool;
    c->kernel = outer.kernel;
    if (op->code == KC_OP_KERNEL) c->kernel_rank = outer.kernel_rank;
}

// Where tokens may come from and go to: nothing else knows values without elements.
static void check_tokens(kc_checker *c, const kc_op *op) {
    bool carries = op->code == KC_OP_FOR || op->code == KC_OP_YIELD;
    bool takes = carries || op->code == KC_OP_ASYNC_COMMIT || op->code == KC_OP_ASYNC_WAIT;
    bool gives = carries || op->code == KC_OP_ASYNC_COMMIT || op->code == KC_OP_ASYNC_COPY;
    for (int i = 0; !takes && i < op->n_operands; i++)
        if (kc_operand(op, i)->type.kind == KC_TYPE_TOKEN)
            kc_check_fail(c, op, "operand %d is a token", i);
    for (int i = 0; !gives && i < op->n_results; i++)
        if (kc_check_result(op, i)->kind == KC_TYPE_TOKEN)
            kc_check_fail(c, op, "result %d is a token", i);
    for (int i = 0; !carries && op->body && i < op->body->n_args; i++)
        if (op->body->args[i]->type.kind == KC_TYPE_TOKEN)
            kc_check_fail(c, op, "argument %d of its region is a token", i);
}

static void check_op(kc_checker *c, const kc_op *op, const kc_block *block) {
    int before = c->errors;
    check_links(c, op, block);
    if (!check_uses(c, op)) return;
    check_tokens(c, op);
    if (c->errors > before) return;
    if (kc_op_has(op, KC_TERMINATOR) && op->next)
        kc_check_fail(c, op, "ops follow after the end of the region");
    if (needs_body(op->code) != (op->body != NULL))
        kc_check_fail(c, op, op->body ? "it has a region" : "it has no region");
    if ((op->code == KC_OP_FUNC) != (block == c->module->body))
        kc_check_fail(c, op, "functions, and nothing else, stand in a module");
    check_level(c, op);
    for (int i = 0; i < op->n_results; i++)
        check_value(c, op, op->results[i], "result", i);
    check_attrs(c, op);
    check_segments(c, op);
    if (c->errors == before && op->body) check_region(c, op);
    if (c->errors > before) return; // its facts may trust that the rest is well formed
    kc_type_rule rule = kc_op_row(op)->rule;
    if (rule == KC_RULE_GIVEN || rule == KC_RULE_NONE) {
        if (rule == KC_RULE_NONE) kc_check_results(c, op, 0);
        if (check_domain(c, op) && c->errors == before) check_facts(c, op);
    } else {
        check_rule(c, op);
    }
}

static void check_block(kc_checker *c, const kc_block *block) {
    for (const kc_op *op = block->first; op; op = op->next) {
        if (op->code == KC_OP_FUNC) c->func = op;
        check_op(c, op, block);
        for (int i = 0; i < op->n_results; i++)
            kc_map_set(c->scope->defined, op->results[i], op->results[i]);
    }
}

bool kc_module_verify(const kc_module *module, int level, kc_diag *diag) {
    kc_arena *scratch = kc_arena_create();
    kc_check_scope scope = {NULL, kc_map_create(scratch), true};
    kc_checker c = {
        .module = module, .level = level, .diag = diag, .scratch = scratch, .scope = &scope};
    if (level != KC_LEVEL_COMPOSITE && level != KC_LEVEL_TENSOR && level != KC_LEVEL_TILE &&
        level != KC_LEVEL_LAYOUT)
        kc_bug("verifying at level %d, which is none", level);
    check_block(&c, module->body);
    kc_arena_destroy(scratch);
    return c.errors == 0;
}
