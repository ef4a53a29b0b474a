// split: reductions of few long rows, and matrix products of few tiles and long k, are cut into
// parts, so that they keep more than a few multiprocessors busy.
//
// before:
//   module @m
//   func @f(%x: f32[1000000]) -> (y: f32[]) {
//     %y = reduce %x {axes = [0], init = [0]} : f32[] {
//     ^(%a: f32, %b: f32):
//       %c = add %a, %b : f32
//       yield %c
//     }
//     return %y
//   }
// after:
//   module @m
//   func @f(%x: f32[1000000]) -> (y: f32[]) {
//     %0 = pad %x {low = [0], high = [7616], value = 0} : f32[1007616]
//     %1 = reshape %0 : f32[123, 8192]
//     %2 = reduce %1 {axes = [1], init = [0]} : f32[123] {
//     ^(%a: f32, %b: f32):
//       %c = add %a, %b : f32
//       yield %c
//     }
//     %y = reduce %2 {axes = [0], init = [0]} : f32[] {
//     ^(%a_1: f32, %b_1: f32):
//       %c_1 = add %a_1, %b_1 : f32
//       yield %c_1
//     }
//     return %y
//   }
//
// The parts are a dimension of their own: the first reduction leaves one value a part, the second
// reduces those. What is missing in the last part is filled with the identity. The number of parts
// follows from the shape alone, so that a result does not depend on the device. Rows whose elements
// are wanted again stay whole until they are huge: a block that holds or rereads them saves more
// than others would help. Reductions of a matrix product that nothing else needs are cut into parts
// that a tile of the product holds: `fuse` puts them into its kernel. Requires primitives.
#include "passes/cost.h"
#include "passes/join.h"
#include "passes/rows.h"
#include "passes/schedule.h"
#include "passes/scopes.h"
#include "passes/split.h"

#include <string.h>

enum {
    PART = 8192,           // elements that a program takes at least, about what a block holds
    PART_BITS = 32 * PART, // and of memory: parts cost a result each, written and read
    LONG = 8 * PART,       // a program that has no more stays whole
    HUGE_ROW = 1 << 20,    // longer rows are split even if they are wanted again
    FEW_PROGRAMS = 128,    // more rows than this keep a device busy
    ENOUGH_PROGRAMS = 256,
    COLUMNS_A_PROGRAM = 128,
    WHOLE_VECTORS = 64, // parts of the innermost dimension are multiples of this
};

typedef struct {
    kc_pass_context *pass;
    kc_expr_pool *pool;
    kc_op *op;
    const kc_type *type; // of an operand
    bool reduced[KC_MAX_RANK];
    const kc_expr *row, *work,
        *programs; // elements reduced to one, elements a program, and programs, without splitting
    int64_t part;  // elements a program takes at least
    int axis;      // that is cut
    const kc_expr *parts, *length; // parts of it, and the extent of each
    bool alone;                    // the first reduction reduces nothing but this axis
} splitter;

static const kc_expr *constant(splitter *s, int64_t value) {
    return kc_expr_const(s->pool, value);
}

static const kc_expr *smallest(splitter *s, const kc_expr *a, const kc_expr *b) {
    return kc_expr_binary(s->pool, KC_EXPR_MIN, a, b);
}

static void multiply(splitter *s, const kc_expr **product, const kc_expr *by) {
    *product = kc_expr_mul(s->pool, *product, by);
}

// A program takes a row, or many columns where the innermost dimension is not reduced.
static void measure(splitter *s) {
    const kc_attr *axes = kc_attr_get(s->op, KC_ATTR_AXES);
    const kc_expr *columns = constant(s, COLUMNS_A_PROGRAM);
    s->row = s->work = s->programs = constant(s, 1);
    for (int i = 0; i < axes->count; i++)
        s->reduced[axes->integers[i]] = true;
    for (int d = 0; d < s->type->rank; d++) {
        const kc_expr *extent = s->type->shape[d];
        if (s->reduced[d]) {
            multiply(s, &s->row, extent);
            multiply(s, &s->work, extent);
        } else if (d == s->type->rank - 1) {
            multiply(s, &s->work, smallest(s, extent, columns));
            multiply(s, &s->programs, kc_expr_cdiv(s->pool, extent, columns));
        } else {
            multiply(s, &s->programs, extent);
        }
    }
}

// Bits of memory behind an element: of the tensors that have as many elements, up to the ops that
// make them.
static int64_t bits_behind(splitter *s, const kc_value *v, bool *seen) {
    const kc_op *op = v->def;
    bool follows =
        op && op->n_operands > 0 && (kc_op_row(op)->traits & (KC_ELEMENTWISE | KC_MOVEMENT));
    int64_t bits = 0;
    if (op && seen[op->order]) return 0;
    if (op) seen[op->order] = true;
    for (int i = 0; follows && i < op->n_operands; i++)
        bits += bits_behind(s, kc_operand(op, i), seen);
    if (follows) return bits;
    const kc_expr *elements = kc_type_elements(s->pool, &v->type);
    bool as_many = kc_expr_known_equal(s->pool, elements, kc_type_elements(s->pool, s->type));
    return as_many ? kc_dtype_bits(v->type.elem) : 0;
}

static void measure_part(splitter *s, kc_block *body) {
    kc_block_renumber(body);
    bool *seen = KC_NEW_ARRAY(s->pass->scratch, bool, body->last->order + 1);
    int64_t bits = bits_behind(s, kc_operand(s->op, 0), seen);
    s->part = bits > 0 && PART_BITS / bits > PART ? PART_BITS / bits : PART;
}

static bool worth_it(splitter *s, kc_block *body) {
    int64_t longest = kc_expr_max_value(s->pool, s->work);
    if (longest <= LONG || kc_expr_max_value(s->pool, s->programs) > FEW_PROGRAMS) return false;
    bool huge = kc_expr_min_value(s->pool, s->row) >= HUGE_ROW;
    return huge || !kc_rows_needed_again(s->pool, s->pass->scratch, body, s->op);
}

// The outermost reduced dimension that is long enough for the most parts there may be, else the
// longest one.
static void choose_axis(splitter *s) {
    int64_t best = -1;
    for (int d = 0; d < s->type->rank; d++) {
        int64_t extent = s->reduced[d] ? kc_expr_max_value(s->pool, s->type->shape[d]) : -1;
        if (extent > ENOUGH_PROGRAMS) extent = ENOUGH_PROGRAMS;
        if (extent > best) best = extent, s->axis = d;
    }
}

static void choose_parts(splitter *s, int64_t wish) {
    const kc_expr *extent = s->type->shape[s->axis], *one = constant(s, 1);
    const kc_expr *share = kc_expr_cdiv(s->pool, constant(s, ENOUGH_PROGRAMS),
                                        kc_expr_binary(s->pool, KC_EXPR_MAX, s->programs, one));
    s->parts = smallest(s, kc_expr_cdiv(s->pool, s->work, constant(s, s->part)),
                        smallest(s, share, extent));
    if (wish) s->parts = smallest(s, constant(s, wish), extent);
    s->parts = kc_expr_binary(s->pool, KC_EXPR_MAX, s->parts, one);
    s->length = kc_expr_cdiv(s->pool, extent, s->parts);
    if (s->axis == s->type->rank - 1) {
        const kc_expr *unit = constant(s, WHOLE_VECTORS);
        s->length = kc_expr_mul(s->pool, kc_expr_cdiv(s->pool, s->length, unit), unit);
    }
}

// ---- rewriting ----------------------------------------------------------------------------------

static kc_value *fill_up(splitter *s, kc_builder *b, kc_value *v, double identity) {
    const kc_expr *whole = kc_expr_mul(s->pool, s->parts, s->length), *none[KC_MAX_RANK],
                  *high[KC_MAX_RANK];
    if (kc_expr_known_equal(s->pool, whole, s->type->shape[s->axis])) return v;
    kc_type type = kc_type_tensor(v->type.elem, s->type->rank, s->type->shape);
    for (int d = 0; d < type.rank; d++)
        none[d] = high[d] = constant(s, 0);
    high[s->axis] = kc_expr_sub(s->pool, whole, type.shape[s->axis]);
    type.shape[s->axis] = whole;
    kc_value *filled = kc_build_1(b, KC_OP_PAD, type, 1, &v);
    kc_attr_set_exprs(s->pass->module, filled->def, KC_ATTR_LOW, type.rank, none);
    kc_attr_set_exprs(s->pass->module, filled->def, KC_ATTR_HIGH, type.rank, high);
    kc_attr_set_float(filled->def, KC_ATTR_VALUE, identity);
    return filled;
}

static kc_value *in_parts(splitter *s, kc_builder *b, kc_value *v) {
    const kc_expr *shape[KC_MAX_RANK];
    int n = 0;
    for (int d = 0; d < s->type->rank; d++) {
        if (d == s->axis) shape[n++] = s->parts;
        shape[n++] = d == s->axis ? s->length : s->type->shape[d];
    }
    return kc_build_1(b, KC_OP_RESHAPE, kc_type_tensor(v->type.elem, n, shape), 1, &v);
}

// One value a part: the parts are a parallel dimension, at the place of the one that was cut. Gives
// the dimensions that are left to reduce.
static int part_types(splitter *s, kc_type *types, int64_t *left) {
    const kc_expr *shape[KC_MAX_RANK];
    int n = 0, n_left = 0;
    for (int d = 0; d < s->type->rank; d++) {
        bool cut = d == s->axis, kept = !s->reduced[d];
        if (!cut && !kept && !s->alone) continue;
        if (cut || !kept) left[n_left++] = n;
        shape[n++] = cut ? s->parts : s->type->shape[d];
    }
    for (int i = 0; i < s->op->n_results; i++)
        types[i] = kc_type_tensor(kc_result(s->op, i)->type.elem, n, shape);
    return n_left;
}

// The axes of the first reduction: the parts stand before the one that was cut.
static int first_axes(const splitter *s, int64_t *axes) {
    int n = 0;
    for (int d = 0; d < s->type->rank; d++)
        if (d == s->axis || (s->reduced[d] && !s->alone)) axes[n++] = d + (d >= s->axis);
    return n;
}

static void rewrite(splitter *s) {
    kc_builder b = kc_builder_before(s->pass->module, s->op);
    const kc_attr *init = kc_attr_get(s->op, KC_ATTR_INIT);
    kc_clone *clone = kc_clone_begin(s->pass->module, s->pool, s->pool);
    for (int i = 0; i < s->op->n_operands; i++) {
        kc_value *v = kc_operand(s->op, i);
        kc_clone_map(clone, v, in_parts(s, &b, fill_up(s, &b, v, init->numbers[i])));
    }
    kc_op *first = kc_clone_op(clone, &b, s->op);
    kc_clone_end(clone);
    kc_type types[KC_MAX_RANK];
    int64_t left[KC_MAX_RANK], axes[KC_MAX_RANK];
    int n_left = part_types(s, types, left), n_axes = first_axes(s, axes);
    kc_attr_set_ints(s->pass->module, first, KC_ATTR_AXES, n_axes, axes);
    for (int i = 0; i < first->n_results; i++) {
        kc_result(first, i)->type = types[i];
        kc_result(first, i)->name = NULL;
        kc_op_set_operand(s->op, i, kc_result(first, i));
    }
    kc_attr_set_ints(s->pass->module, s->op, KC_ATTR_AXES, n_left, left);
}

// ---- reductions of products ---------------------------------------------------------------------

// The matrix product that v is made of, element by element, and that nothing else needs.
static kc_op *product_of(kc_value *v) {
    kc_op *op = v->def, *product = NULL;
    for (const kc_use *use = v->uses; use; use = use->next)
        if (use->user != v->uses->user) return NULL;
    if (!op || !v->uses) return NULL;
    if (op->code == KC_OP_MATMUL || !kc_op_has(op, KC_ELEMENTWISE))
        return op->code == KC_OP_MATMUL ? op : NULL;
    for (int i = 0; i < op->n_operands && !product; i++)
        product = product_of(kc_operand(op, i));
    return product;
}

// Cut into parts that a tile of the product holds: then they join its kernel, and the product is
// never stored.
static bool cut_for_product(splitter *s, kc_join *join, int i) {
    int64_t tile = kc_join_tile(s->pass, join, i);
    if (tile == 0 || tile >= kc_expr_max_value(s->pool, join->extent[i])) return false;
    join->reduced[i] = true;
    join->part[i] = s->length = constant(s, tile);
    if (!kc_join_pays(s->pass, join)) return false;
    s->axis = s->type->rank - 2 + i;
    s->parts = kc_expr_cdiv(s->pool, join->extent[i], s->length);
    s->alone = !join->reduced[1 - i];
    rewrite(s);
    return true;
}

// False: it is a reduction like others.
static bool join_product(splitter *s, kc_op *scope) {
    kc_op *product = NULL;
    for (int i = 0; i < s->op->n_operands && !product; i++)
        product = product_of(kc_operand(s->op, i));
    if (!s->pass->target || s->pass->no_fusion || !product || s->type->rank == KC_MAX_RANK ||
        !kc_type_same_shape(s->pool, s->type, &kc_result(product, 0)->type))
        return false;
    kc_join join = kc_join_of(scope, product);
    for (int d = 0; d < s->type->rank - 2; d++)
        if (s->reduced[d]) return false;
    bool wanted[2] = {s->reduced[s->type->rank - 2], s->reduced[s->type->rank - 1]};
    join.held = kc_cost_held(s->op, s->type->elem);
    for (int i = 0; i < 2; i++)
        join.reduced[i] = wanted[i];
    if (kc_join_pays(s->pass, &join)) return true;
    for (int i = 0; i < 2; i++) { // one is cut where the other is held whole
        kc_join cut = join;
        cut.reduced[i] = false;
        if (wanted[i] && cut_for_product(s, &cut, i)) return true;
    }
    kc_join cut = kc_join_of(scope, product);
    cut.held = join.held;
    return wanted[0] && wanted[1] && cut_for_product(s, &cut, 1);
}

// `wish`: parts that the schedule asks for; 0: as many as are worth it.
static bool split_reduction(kc_pass_context *pass, kc_op *scope, kc_op *op, int64_t wish) {
    splitter s = {.pass = pass, .pool = kc_op_pool(scope), .op = op};
    kc_type type = kc_operand(op, 0)->type; // operands change below
    s.type = &type;
    measure(&s);
    if (!wish && join_product(&s, scope)) return true;
    if (type.rank == KC_MAX_RANK || (!wish && !worth_it(&s, scope->body))) return false;
    measure_part(&s, scope->body);
    choose_axis(&s);
    choose_parts(&s, wish);
    if (!kc_expr_is_one(s.parts)) rewrite(&s);
    return true;
}

// ---- schedules ----------------------------------------------------------------------------------

static bool has_product(const kc_op *scope) {
    KC_FOR_OPS(op, scope->body)
        if (op->code == KC_OP_MATMUL) return true;
    return false;
}

// The entry speaks of the product from now on: the statement that it names may be in the kernel
// that sums the parts.
static void follow(kc_pass_context *pass, kc_op *schedule, kc_value *product) {
    const char *name = kc_attr_string(schedule, KC_ATTR_KERNEL, NULL);
    if (!name) return;
    if (!product->name) product->name = kc_arena_printf(pass->module->arena, "%s.parts", name);
    kc_attr_set_string(pass->module, schedule, KC_ATTR_KERNEL, product->name);
}

static bool split_product(kc_pass_context *pass, kc_op *scope, kc_op *op, kc_op *schedule,
                          int64_t wish) {
    int64_t parts = wish ? wish : kc_split_worth(pass, op, schedule);
    kc_op *product = parts > 1 ? kc_split_product(pass, scope, op, parts) : NULL;
    if (product && schedule) follow(pass, schedule, kc_result(product, 0));
    return product;
}

static bool refuse(kc_pass_context *pass, const kc_op *schedule) {
    kc_report(pass->diag, KC_ERROR, schedule->loc,
              "schedule key 'split': there is no matrix product or reduction of less than %d "
              "dimensions that it could cut into parts",
              KC_MAX_RANK);
    return false;
}

// An entry for all statements speaks of products where there are any. What was split is not looked
// at again.
static bool split_scope(kc_pass_context *pass, kc_op *scope) {
    bool products = has_product(scope), ok = true;
    KC_FOR_OPS(op, scope->body)
        op->data = NULL;
    for (kc_op *op = scope->body->first, *next; op; op = next) {
        next = op->next;
        bool product = op->code == KC_OP_MATMUL;
        if (op->code != KC_OP_REDUCE && !product) continue;
        kc_op *schedule = kc_schedule_entry(pass->target, pass->scratch, scope, op);
        bool meant = schedule && (product || !products || kc_attr_get(schedule, KC_ATTR_KERNEL));
        int64_t wish = meant ? kc_attr_int(schedule, KC_ATTR_SPLIT, 0) : 0;
        bool done = wish == 1 ? true
                    : product ? split_product(pass, scope, op, schedule, wish)
                              : split_reduction(pass, scope, op, wish);
        if (done && schedule) schedule->data = op;
    }
    KC_FOR_OPS(op, scope->body) {
        bool wishes = op->code == KC_OP_SCHEDULE && kc_attr_int(op, KC_ATTR_SPLIT, 1) > 1;
        if (wishes && op->data == NULL && kc_schedule_matches(pass->target, op))
            ok = refuse(pass, op) && ok;
    }
    return ok;
}

static bool run(kc_pass_context *pass) {
    return kc_scopes(pass, split_scope);
}

const kc_pass kc_pass_split = {
    .name = "split",
    .meaning =
        "reductions of few long rows, and products of few tiles and long k, are cut into parts",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TENSOR,
    .run = run,
};
