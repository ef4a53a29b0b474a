// Variants: symbolic sizes would cost the fast paths, so a function is compiled several times under
// facts that are checked at launch. Three questions are asked: are pointers, rows and strides
// multiples of the widest access; is a reduced row short enough to be held by one block; has a
// matrix product few rows, which want smaller tiles. A function has at most six.
#include "passes/plan.h"
#include "passes/rows.h"

#include <string.h>

typedef struct {
    kc_pass_context *pass;
    kc_op *func;
    kc_expr_pool *pool;
} planner;

static const kc_expr *condition_and(planner *p, const kc_expr *a, const kc_expr *b) {
    return a ? kc_expr_binary(p->pool, KC_EXPR_AND, a, b) : b;
}

static int64_t least_common_multiple(int64_t a, int64_t b) {
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y, y = rest;
    }
    return a / x * b;
}

static void add_multiple(planner *p, kc_variant_plan *plan, const kc_expr *e, int64_t vector) {
    if (e->kind != KC_EXPR_SYMBOL || kc_expr_divisor(p->pool, e) % vector == 0) return;
    int64_t multiple =
        least_common_multiple(kc_expr_get_facts(p->pool, e->symbol).multiple_of, vector);
    for (int i = 0; i < plan->n; i++)
        if (plan->facts[i].symbol == e->symbol) {
            plan->facts[i].multiple_of =
                least_common_multiple(plan->facts[i].multiple_of, multiple);
            return;
        }
    if (plan->n == KC_PLAN_MAX_FACTS) return;
    plan->facts[plan->n].symbol = e->symbol;
    plan->facts[plan->n].max = 0;
    plan->facts[plan->n++].multiple_of = multiple;
}

// The last dimension and every stride that is not 1 decide whether a row starts on a vector.
static void add_argument(planner *p, kc_variant_plan *plan, const char *name, const kc_type *type) {
    if (type->rank == 0) return;
    int64_t vector = 8 * p->pass->target->attributes.vector_bytes / kc_dtype_bits(type->elem), one;
    plan->aligned[plan->n_aligned++] = name;
    add_multiple(p, plan, type->shape[type->rank - 1], vector);
    if (!type->strides[0]) return;
    for (int d = 0; d < type->rank; d++)
        if (!(kc_expr_is_const(type->strides[d], &one) && one == 1))
            add_multiple(p, plan, type->strides[d], vector);
}

static void make_divisible(planner *p, kc_variant_plan *plan) {
    const kc_output *outputs;
    int n_outputs = kc_func_outputs(p->func, &outputs);
    plan->aligned =
        KC_NEW_ARRAY(p->pass->module->arena, const char *, p->func->body->n_args + n_outputs + 1);
    for (int i = 0; i < p->func->body->n_args - kc_func_constants(p->func); i++)
        add_argument(p, plan, p->func->body->args[i]->name, &p->func->body->args[i]->type);
    for (int i = 0; i < n_outputs; i++)
        if (!kc_output_is_inout(&outputs[i]))
            add_argument(p, plan, outputs[i].name, &outputs[i].type);
    for (int i = 0; i < plan->n; i++) {
        const kc_expr *symbol =
            kc_expr_symbol(p->pool, kc_expr_symbol_name(p->pool, plan->facts[i].symbol));
        const kc_expr *rest = kc_expr_binary(p->pool, KC_EXPR_MOD, symbol,
                                             kc_expr_const(p->pool, plan->facts[i].multiple_of));
        plan->when = condition_and(
            p, plan->when, kc_expr_binary(p->pool, KC_EXPR_EQ, rest, kc_expr_const(p->pool, 0)));
    }
    for (int i = 0; i < plan->n_aligned; i++) {
        const char *name = kc_arena_printf(p->pass->scratch, "align.%s", plan->aligned[i]);
        const kc_expr *symbol = kc_expr_symbol(p->pool, name),
                      *bytes = kc_expr_const(p->pool, p->pass->target->attributes.vector_bytes);
        plan->when =
            condition_and(p, plan->when, kc_expr_binary(p->pool, KC_EXPR_GE, symbol, bytes));
    }
}

// A reduced axis of symbolic extent that may be longer than a block holds.
typedef struct {
    int symbol;  // -1: there is none
    bool reread; // the row is needed again after a reduction, so holding it saves reading it twice
} long_row;

static void look_at(planner *p, const kc_op *fusion, const kc_op *op, long_row *row) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    const kc_expr *extent = kc_operand(op, 0)->type.shape[axes->integers[axes->count - 1]];
    if (extent->kind != KC_EXPR_SYMBOL || kc_expr_max_value(p->pool, extent) <= KC_PLAN_SHORT_ROW)
        return;
    bool again = kc_rows_needed_again(p->pool, p->pass->scratch, fusion->body, op);
    if (kc_result(op, 0)->type.rank == 0 && !again) return; // one row, read once: a loop does it
    if (row->symbol >= 0 && (row->reread || !again)) return;
    *row = (long_row){extent->symbol, again};
}

static long_row find_long_row(planner *p) {
    long_row row = {-1, false};
    KC_FOR_OPS(fusion, p->func->body) {
        if (fusion->code != KC_OP_FUSION) continue;
        KC_FOR_OPS(op, fusion->body)
            if (kc_op_has(op, KC_REDUCTION)) look_at(p, fusion, op, &row);
    }
    return row;
}

static void bound_row(planner *p, kc_variant_plan *plan, int symbol, int64_t max) {
    int i = 0;
    while (i < plan->n && plan->facts[i].symbol != symbol)
        i++;
    if (i == KC_PLAN_MAX_FACTS) return;
    if (i == plan->n) {
        plan->facts[plan->n].symbol = symbol;
        plan->facts[plan->n++].multiple_of = kc_expr_get_facts(p->pool, symbol).multiple_of;
    }
    plan->facts[i].max = max;
    const kc_expr *row = kc_expr_symbol(p->pool, kc_expr_symbol_name(p->pool, symbol));
    plan->when = condition_and(
        p, plan->when, kc_expr_binary(p->pool, KC_EXPR_LE, row, kc_expr_const(p->pool, max)));
}

// Bounds of the row lengths that get variants of their own, ascending; the last one is none. Rows
// that are read once profit from being held only when they are so short that a block takes several.
static int row_bounds(planner *p, const long_row *row, int64_t bounds[3]) {
    int n = 0;
    int64_t longest = row->symbol >= 0 ? kc_expr_get_facts(p->pool, row->symbol).max : 0;
    if (longest > KC_PLAN_SHORT_ROW) bounds[n++] = KC_PLAN_SHORT_ROW;
    if (longest > KC_PLAN_WHOLE_ROW && row->reread) bounds[n++] = KC_PLAN_WHOLE_ROW;
    bounds[n++] = INT64_MAX;
    return n;
}

// ---- rows of products ---------------------------------------------------------------------------

// The symbol that the rows of the function's first matrix product are, if there may be many of
// them; -1: there is none.
static int find_product_rows(planner *p) {
    KC_FOR_OPS(fusion, p->func->body) {
        if (fusion->code != KC_OP_FUSION) continue;
        KC_FOR_OPS(op, fusion->body) {
            if (op->code != KC_OP_MATMUL) continue;
            const kc_type *type = &kc_result(op, 0)->type;
            const kc_expr *rows = type->shape[type->rank - 2];
            bool many = kc_expr_max_value(p->pool, rows) > KC_PLAN_FEW_ROWS;
            if (rows->kind == KC_EXPR_SYMBOL && many) return rows->symbol;
        }
    }
    return -1;
}

// Only where loads are wide: other sizes are rare, and served by one variant.
static int product_bounds(int symbol, bool divisible, int64_t least, int64_t bounds[3]) {
    int n = 0;
    if (symbol >= 0 && divisible && least <= KC_PLAN_FEWEST_ROWS) bounds[n++] = KC_PLAN_FEWEST_ROWS;
    if (symbol >= 0 && divisible && least <= KC_PLAN_FEW_ROWS) bounds[n++] = KC_PLAN_FEW_ROWS;
    bounds[n++] = INT64_MAX;
    return n;
}

static const char *row_text(const long_row *row, int64_t bound) {
    if (row->symbol < 0) return "";
    return bound == KC_PLAN_SHORT_ROW   ? ", short rows"
           : bound == KC_PLAN_WHOLE_ROW ? ", rows a block holds"
                                        : ", long rows";
}

static const char *reason_text(planner *p, bool divisible, const char *rows, int64_t few) {
    kc_arena *arena = p->pass->module->arena;
    const char *start = divisible ? "whole vectors" : "any sizes";
    if (few == INT64_MAX) return kc_arena_printf(arena, "%s%s", start, rows);
    return kc_arena_printf(arena, "%s, at most %lld rows", start, (long long)few);
}

typedef struct {
    kc_variant_plan *plans;
    int n, most;
} plan_list;

static void add_plan(planner *p, plan_list *list, bool divisible, const long_row *row,
                     int64_t longest, int rows, int64_t most_rows) {
    if (list->n == list->most) kc_bug("more variants than planned for");
    kc_variant_plan *plan = &list->plans[list->n];
    memset(plan, 0, sizeof *plan);
    if (divisible) make_divisible(p, plan);
    if (divisible && !plan->when) return; // no tensors: nothing to be divisible
    if (longest != INT64_MAX) bound_row(p, plan, row->symbol, longest);
    if (most_rows != INT64_MAX) bound_row(p, plan, rows, most_rows);
    plan->reason = reason_text(p, divisible, row_text(row, longest), most_rows);
    list->n++;
}

int kc_plan_variants(kc_pass_context *pass, kc_op *func, kc_variant_plan *plans, int most) {
    planner p = {pass, func, kc_op_pool(func)};
    plan_list list = {plans, 0, most};
    long_row row = find_long_row(&p);
    int64_t lengths[3], bounds[3];
    int n_lengths = row_bounds(&p, &row, lengths),
        rows = n_lengths == 1 ? find_product_rows(&p) : -1;
    int64_t least = rows >= 0 ? kc_expr_get_facts(p.pool, rows).min : 0;
    for (int divisible = 1; divisible >= 0; divisible--)
        for (int i = 0; i < n_lengths; i++)
            for (int b = 0, n = product_bounds(rows, divisible, least, bounds); b < n; b++)
                add_plan(&p, &list, divisible, &row, lengths[i], rows, bounds[b]);
    return list.n;
}
