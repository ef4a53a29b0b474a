// Symbolic sizes would cost the fast paths, so a function is compiled several times. Three
// questions are asked: are pointers, rows and strides multiples of the widest access; is a reduced
// row short enough to be held by one block; has a matrix product few rows, which want smaller
// tiles, or one, which makes it a reduction.
#include "passes/products.h"
#include "passes/schedule.h"
#include "passes/variants.h"

enum {
    SHORT_ROW = 1024, // of which a block takes several
    WHOLE_ROW = 8192, // that a block holds
    FEW_ROWS = 3,
    MOST_BOUNDS = FEW_ROWS + 1,
};

// Rows of a product, at most, that have variants of their own.
static const int64_t few_rows[FEW_ROWS] = {1, 16, 64};

// A size that variants bound: its symbol, -1 where there is none, and the bounds in ascending
// order; the last one is none.
typedef struct {
    int symbol, n;
    int64_t bounds[MOST_BOUNDS];
} bounded;

typedef struct {
    kc_pass_context *pass;
    kc_op *func;
    kc_expr_pool *pool;
    bounded row, rows; // a reduced row; those of a product
} chooser;

static const kc_expr *condition_and(chooser *c, const kc_expr *a, const kc_expr *b) {
    return a ? kc_expr_binary(c->pool, KC_EXPR_AND, a, b) : b;
}

static void add_condition(chooser *c, kc_variant_plan *plan, kc_expr_kind kind, const kc_expr *a,
                          int64_t b) {
    const kc_expr *condition = kc_expr_binary(c->pool, kind, a, kc_expr_const(c->pool, b));
    plan->when = condition_and(c, plan->when, condition);
}

static const kc_expr *symbol(chooser *c, int index) {
    return kc_expr_symbol(c->pool, kc_expr_symbol_name(c->pool, index));
}

// NULL: there is no room for one more.
static kc_variant_fact *fact_of(chooser *c, kc_variant_plan *plan, int index) {
    for (int i = 0; i < plan->n; i++)
        if (plan->facts[i].symbol == index) return &plan->facts[i];
    if (plan->n == KC_VARIANT_MAX_FACTS) return NULL;
    kc_expr_facts facts = kc_expr_get_facts(c->pool, index);
    plan->facts[plan->n] = (kc_variant_fact){index, facts.multiple_of, facts.min, facts.max};
    return &plan->facts[plan->n++];
}

// ---- divisible sizes ----------------------------------------------------------------------------

static int64_t least_common_multiple(int64_t a, int64_t b) {
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y, y = rest;
    }
    return a / x * b;
}

static void add_multiple(chooser *c, kc_variant_plan *plan, const kc_expr *e, int64_t vector) {
    if (e->kind != KC_EXPR_SYMBOL || kc_expr_divisor(c->pool, e) % vector == 0) return;
    kc_variant_fact *fact = fact_of(c, plan, e->symbol);
    if (fact) fact->multiple_of = least_common_multiple(fact->multiple_of, vector);
}

// The last dimension and every stride that is not 1 decide whether a row starts on a vector.
// A vector with an element for each row of a product is short beside it, and asks nothing.
static void add_argument(chooser *c, kc_variant_plan *plan, const char *name, const kc_type *type) {
    if (type->rank == 0) return;
    const kc_expr *last = type->shape[type->rank - 1];
    if (type->rank == 1 && last->kind == KC_EXPR_SYMBOL && last->symbol == c->rows.symbol) return;
    int64_t vector = 8 * c->pass->target->attributes.vector_bytes / kc_dtype_bits(type->elem), one;
    plan->aligned[plan->n_aligned++] = name;
    add_multiple(c, plan, last, vector);
    if (!type->strides[0]) return;
    for (int d = 0; d < type->rank; d++)
        if (!(kc_expr_is_const(type->strides[d], &one) && one == 1))
            add_multiple(c, plan, type->strides[d], vector);
}

static void make_divisible(chooser *c, kc_variant_plan *plan) {
    const kc_block *body = c->func->body;
    const kc_output *outputs;
    int n_outputs = kc_func_outputs(c->func, &outputs);
    plan->aligned =
        KC_NEW_ARRAY(c->pass->module->arena, const char *, body->n_args + n_outputs + 1);
    for (int i = 0; i < body->n_args - kc_func_constants(c->func); i++)
        add_argument(c, plan, body->args[i]->name, &body->args[i]->type);
    for (int i = 0; i < n_outputs; i++)
        if (!kc_output_is_inout(&outputs[i]))
            add_argument(c, plan, outputs[i].name, &outputs[i].type);
    for (int i = 0; i < plan->n; i++) {
        const kc_expr *multiple = kc_expr_const(c->pool, plan->facts[i].multiple_of);
        const kc_expr *rest =
            kc_expr_binary(c->pool, KC_EXPR_MOD, symbol(c, plan->facts[i].symbol), multiple);
        add_condition(c, plan, KC_EXPR_EQ, rest, 0);
    }
    for (int i = 0; i < plan->n_aligned; i++) {
        const char *name = kc_arena_printf(c->pass->scratch, "align.%s", plan->aligned[i]);
        add_condition(c, plan, KC_EXPR_GE, kc_expr_symbol(c->pool, name),
                      c->pass->target->attributes.vector_bytes);
    }
}

// ---- bounds -------------------------------------------------------------------------------------

static void bound(chooser *c, kc_variant_plan *plan, int index, int64_t max) {
    kc_variant_fact *fact = fact_of(c, plan, index);
    if (!fact) return;
    fact->max = max;
    if (max == 1) fact->min = 1; // an empty result starts no kernel
    add_condition(c, plan, max == 1 ? KC_EXPR_EQ : KC_EXPR_LE, symbol(c, index), max);
}

// Whether elements of the shape that the reduction reads are wanted once it is known. Another
// kernel, behind a product, reads them again anyway.
static bool wanted_again(chooser *c, const kc_op *op, const kc_type *row, bool *seen) {
    for (int i = 0; i < op->n_results; i++)
        for (const kc_use *use = kc_result(op, i)->uses; use; use = use->next) {
            const kc_op *user = use->user;
            if (user->block != op->block || kc_op_has(user, KC_CONTRACTION) || seen[user->order])
                continue;
            seen[user->order] = true;
            if (user->n_results && kc_type_same_shape(c->pool, &kc_result(user, 0)->type, row))
                return true;
            if (wanted_again(c, user, row, seen)) return true;
        }
    return false;
}

static bool needed_again(chooser *c, const kc_op *op) {
    bool *seen = KC_NEW_ARRAY(c->pass->scratch, bool, c->func->body->last->order + 1);
    return wanted_again(c, op, &kc_operand(op, 0)->type, seen);
}

// A reduced axis of symbolic extent that may be longer than a block holds. Rows that are read once
// profit from being held only when they are so short that a block takes several.
static bounded long_rows(chooser *c) {
    bounded row = {.symbol = -1};
    bool reread = false;
    KC_FOR_OPS(op, c->func->body) {
        if (!kc_op_has(op, KC_REDUCTION) || kc_op_unused(op)) continue;
        const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
        const kc_expr *extent = kc_operand(op, 0)->type.shape[axes->integers[axes->count - 1]];
        if (extent->kind != KC_EXPR_SYMBOL || kc_expr_max_value(c->pool, extent) <= SHORT_ROW)
            continue;
        bool again = needed_again(c, op);
        if (kc_result(op, 0)->type.rank == 0 && !again)
            continue; // one row, read once: a loop does it
        if (row.symbol >= 0 && (reread || !again)) continue;
        row.symbol = extent->symbol, reread = again;
    }
    int64_t longest = row.symbol >= 0 ? kc_expr_get_facts(c->pool, row.symbol).max : 0;
    if (longest > SHORT_ROW) row.bounds[row.n++] = SHORT_ROW;
    if (longest > WHOLE_ROW && reread) row.bounds[row.n++] = WHOLE_ROW;
    row.bounds[row.n++] = INT64_MAX;
    return row;
}

// One column, or one element along k: a sum, or no sum at all, whatever the rows.
static bool is_thin(const kc_op *product) {
    const kc_type *a = &kc_operand(product, 0)->type, *y = &kc_result(product, 0)->type;
    return kc_expr_is_one(y->shape[y->rank - 1]) ||
           kc_expr_is_one(a->shape[kc_product_axis_of_k(product, 0)]);
}

static bool has_schedule(const chooser *c) {
    KC_FOR_OPS(op, c->func->body)
        if (op->code == KC_OP_SCHEDULE && kc_schedule_matches(c->pass->target, op)) return true;
    return false;
}

// The rows of the function's first matrix product, if there may be many of them. Who gives its tile
// in the schedule has said how few rows are treated. One row only is a reduction, for which entries
// that are meant for the product, or what follows it, make no sense.
static bounded product_rows(chooser *c) {
    bounded rows = {.symbol = -1};
    const kc_op *schedule = NULL;
    KC_FOR_OPS(op, c->func->body) {
        if (op->code != KC_OP_MATMUL || rows.symbol >= 0 || kc_op_unused(op) || is_thin(op))
            continue;
        const kc_type *type = &kc_result(op, 0)->type;
        const kc_expr *extent = type->shape[type->rank - 2];
        bool many = kc_expr_max_value(c->pool, extent) > few_rows[FEW_ROWS - 1];
        if (extent->kind != KC_EXPR_SYMBOL || !many) continue;
        schedule = kc_schedule_entry(c->pass->target, c->pass->scratch, c->func, op);
        rows.symbol = extent->symbol;
    }
    bool tiled = schedule && kc_attr_get(schedule, KC_ATTR_TILE);
    for (int i = 0; rows.symbol >= 0 && !tiled && i < FEW_ROWS; i++) {
        kc_expr_facts facts = kc_expr_get_facts(c->pool, rows.symbol);
        if (facts.min > few_rows[i] || facts.multiple_of > few_rows[i]) continue;
        if (few_rows[i] > 1 || !has_schedule(c)) rows.bounds[rows.n++] = few_rows[i];
    }
    rows.bounds[rows.n++] = INT64_MAX;
    return rows;
}

// ---- variants -----------------------------------------------------------------------------------

static const char *row_text(const chooser *c, int64_t most) {
    if (c->row.symbol < 0) return "";
    return most == SHORT_ROW   ? ", short rows"
           : most == WHOLE_ROW ? ", rows a block holds"
                               : ", long rows";
}

static const char *reason_text(chooser *c, bool divisible, int64_t longest, int64_t few) {
    kc_arena *arena = c->pass->module->arena;
    const char *start = divisible ? "whole vectors" : "any sizes";
    if (few == INT64_MAX) return kc_arena_printf(arena, "%s%s", start, row_text(c, longest));
    if (few == 1) return kc_arena_printf(arena, "%s, one row", start);
    return kc_arena_printf(arena, "%s, at most %lld rows", start, (long long)few);
}

static bool contradicts(const kc_variant_plan *plan, int index, int64_t max) {
    for (int i = 0; i < plan->n; i++)
        if (plan->facts[i].symbol == index && plan->facts[i].multiple_of > max) return true;
    return false;
}

// Whether there is such a variant. longest, few: bounds of a reduced row, of a product's rows.
static bool choose(chooser *c, kc_variant_plan *plan, bool divisible, int64_t longest,
                   int64_t few) {
    *plan = (kc_variant_plan){0};
    if (divisible) make_divisible(c, plan);
    if (divisible && !plan->when) return false; // no tensors: nothing to be divisible
    if (few != INT64_MAX && contradicts(plan, c->rows.symbol, few)) return false;
    if (longest != INT64_MAX) bound(c, plan, c->row.symbol, longest);
    if (few != INT64_MAX) bound(c, plan, c->rows.symbol, few);
    plan->reason = reason_text(c, divisible, longest, few);
    return true;
}

int kc_variants_choose(kc_pass_context *pass, kc_op *func, kc_variant_plan *plans) {
    static const bounded unbounded = {.symbol = -1, .n = 1, .bounds = {INT64_MAX}};
    chooser c = {.pass = pass, .func = func, .pool = kc_op_pool(func)};
    kc_block_renumber(func->body);
    c.row = long_rows(&c);
    c.rows = c.row.symbol < 0 ? product_rows(&c) : unbounded;
    int n = 0;
    for (int divisible = 1; divisible >= 0; divisible--)
        for (int i = 0; i < c.row.n; i++)
            // Few rows only where loads are wide: other sizes are rare, and served by one variant.
            for (int b = divisible ? 0 : c.rows.n - 1; b < c.rows.n; b++) {
                if (n == KC_VARIANT_MOST) kc_bug("more variants than planned for");
                n += choose(&c, &plans[n], divisible, c.row.bounds[i], c.rows.bounds[b]);
            }
    return n;
}
