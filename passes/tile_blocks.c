// Blocks of a contraction's result: the tile, warps and stages that the schedule wishes, and for
// what it leaves open those that the cost model finds best.
#include "passes/cost.h"
#include "passes/integers.h"
#include "passes/products.h"
#include "passes/rows.h"
#include "passes/tiler.h"
#include "targets/mma.h"

#include <string.h>

enum {
    MOST_EXTENT = 16384,
    MOST_REPETITIONS = 15,
    MOST_A_THREAD = 128,
    MOST_PRODUCTS = 16384, // a thread and step
    SHOWN = 3,             // candidates, to people
};

int kc_tiler_axis_of(const kc_tiler *t, unsigned dims) {
    const kc_type *type = &kc_result(t->contraction, 0)->type;
    int last = -1;
    for (int d = 0, a = 0; d < type->rank; d++) {
        if (kc_expr_is_one(type->shape[d])) continue;
        if (t->own_known) {
            if (dims >> d & 1) last = t->own[d];
            continue;
        }
        while (kc_expr_is_one(t->axes[a].extent))
            a++;
        if (dims >> d & 1) last = a;
        a++;
    }
    return last;
}

// ---- the problem --------------------------------------------------------------------------------

// The axes of the rows, the columns and k; -1: of one element.
static void axes_of(const kc_tiler *t, int axes[3]) {
    const kc_contraction *map = kc_tiler_contraction(t->contraction);
    const kc_type *result = &kc_result(t->contraction, 0)->type;
    for (int i = 0; i < 2; i++)
        axes[i] = kc_tiler_axis_of(t, map->own(result, i));
    axes[2] = t->n_axes - 1;
}

static int64_t likely(const kc_tiler *t, int a) {
    const kc_axis *axis = &t->axes[a];
    return kc_cost_likely(t->pool, axis->part ? axis->part : axis->extent);
}

static kc_dtype multiplied(const kc_tiler *t) {
    const kc_contraction *map = kc_tiler_contraction(t->contraction);
    kc_dtype elem = kc_operand(t->contraction, map->operand[0])->type.elem;
    return kc_product_elem(elem);
}

static const char *precision_of(const kc_tiler *t) {
    return kc_attr_string(t->contraction, KC_ATTR_PRECISION, "ieee");
}

static bool is_aligned(const kc_tiler *t) {
    return kc_attr_get(kc_op_parent(t->kernel), KC_ATTR_ALIGNED) != NULL;
}

// Copies that bypass registers move four bytes at least: elements of less take pointers that are
// known to be aligned.
static bool is_direct(const kc_tiler *t) {
    for (int i = 0; i < 2; i++) {
        int bytes = kc_dtype_unit(kc_operand(t->contraction, i)->type.elem);
        if (!kc_cost_direct(t->pass->target, t->contraction, i)) return false;
        if (!is_aligned(t) && bytes < 4) return false;
    }
    return true;
}

// Tiles of the product's size that its reductions hold beside it.
static int64_t held(const kc_tiler *t) {
    int64_t most = 0,
            again = kc_rows_needed_again(t->pool, t->pass->scratch, t->source, t->reduction);
    KC_FOR_OPS(op, t->source)
        if (kc_op_has(op, KC_REDUCTION))
            most = larger(most, kc_cost_held(op, kc_operand(op, 0)->type.elem));
    return again + most;
}

static kc_cost_problem problem_of(const kc_tiler *t, const int axes[3]) {
    kc_cost_problem p = {.m = 1,
                         .n = 1,
                         .k = likely(t, axes[2]),
                         .batch = 1,
                         .elem = multiplied(t),
                         .result = kc_result(t->contraction, 0)->type.elem,
                         .vectors = is_aligned(t),
                         .direct = is_direct(t)};
    for (int a = 0; a < t->n_axes; a++) {
        const kc_axis *axis = &t->axes[a];
        if (axis->part) p.batch *= kc_cost_likely(t->pool, axis->parts);
        if (a == axes[0]) p.m = likely(t, a);
        else if (a == axes[1]) p.n = likely(t, a);
        else if (!axis->reduced) p.batch *= likely(t, a);
    }
    if (t->reduction) p.held = held(t);
    for (int i = 0; i < 3; i++)
        p.cover[i] = axes[i] < 0 ? 1 : larger(kc_tiler_whole(t, axes[i]), 1);
    kc_cost_set_across(&p, t->contraction);
    kc_cost_choose_unit(t->pass->target, &p, precision_of(t));
    return p;
}

// Rows or columns that are reduced lie in one tile.
static void hold_whole(const kc_tiler *t, kc_cost_problem *p, kc_cost_choice *wish) {
    int axes[3];
    axes_of(t, axes);
    for (int i = 0; i < 2; i++) {
        if (axes[i] < 0 || !t->axes[axes[i]].folded || wish->tile[i]) continue;
        wish->tile[i] =
            kc_cost_whole_tile(p, i, kc_expr_max_value(t->pool, t->axes[axes[i]].extent));
        p->cover[i] = larger(p->cover[i], wish->tile[i]);
    }
}

static kc_cost_choice wish_of(const kc_tiler *t, kc_cost_problem *p) {
    const kc_contraction *map = kc_tiler_contraction(t->contraction);
    kc_cost_choice wish = kc_cost_wish(t->kernel, p);
    hold_whole(t, p, &wish);
    if (kc_attr_get(t->kernel, KC_ATTR_TILE) || !map->chunk) return wish;
    wish.tile[2] = map->chunk(t);
    p->cover[2] = larger(p->cover[2], wish.tile[2]);
    return wish;
}

// ---- the unit -----------------------------------------------------------------------------------

static const kc_mma *instruction_for(const kc_tiler *t, const kc_cost_problem *p, int64_t depth) {
    return kc_mma_find(t->pass->target, p->elem, p->result, precision_of(t), depth);
}

// Whether the tile that is wished for is one of whole fragments; its depth grows to the next that
// is.
static bool takes_wish(const kc_tiler *t, const kc_cost_problem *p, kc_cost_choice *wish) {
    bool chunked = wish->tile[2] && !kc_attr_get(t->kernel, KC_ATTR_TILE);
    const kc_mma *row = NULL;
    int64_t depth = wish->tile[2] ? wish->tile[2] : p->least[2];
    for (; !row && (depth <= KC_MMA_MOST_DEPTH || depth == wish->tile[2]); depth *= 2) {
        row = instruction_for(t, p, depth);
        if (row && wish->tile[2]) wish->tile[2] = depth;
        if (chunked) break;
    }
    return row && wish->tile[0] % row->m == 0 && wish->tile[1] % row->n == 0;
}

static bool refuse_unit(kc_tiler *t, const kc_cost_choice *c) {
    kc_arena *scratch = t->pass->scratch;
    const char *what = kc_arena_printf(
        scratch, "%s has no tensor-core instruction for %s operands with precision \"%s\"",
        t->pass->target->arch->name, kc_dtype_name(multiplied(t)), precision_of(t));
    const char *tile = "; use unit: fma";
    if (kc_attr_get(t->kernel, KC_ATTR_TILE))
        tile = kc_arena_printf(scratch,
                               " and a tile of [%lld, %lld, %lld]; use unit: fma or another tile",
                               (long long)c->tile[0], (long long)c->tile[1], (long long)c->tile[2]);
    kc_report(t->pass->diag, KC_ERROR, t->kernel->loc, "schedule key 'unit': %s%s", what, tile);
    return false;
}

static void use_fma(kc_cost_problem *p) {
    p->unit = "fma";
    for (int i = 0; i < 3; i++)
        p->least[i] = 1;
}

// False: the unit that the schedule asks for cannot do it.
static bool choose_unit(kc_tiler *t, const int axes[3], kc_cost_problem *p, kc_cost_choice *wish) {
    const char *unit = kc_attr_string(t->kernel, KC_ATTR_UNIT, NULL);
    bool tensor = strcmp(p->unit, "tensor") == 0 && axes[0] >= 0 && axes[1] >= 0 &&
                  (!unit || strcmp(unit, "tensor") == 0);
    *wish = wish_of(t, p);
    if (tensor && takes_wish(t, p, wish)) return true;
    if (unit && strcmp(unit, "tensor") == 0) return refuse_unit(t, wish);
    use_fma(p);
    *wish = wish_of(t, p);
    return true;
}

// ---- the choice ---------------------------------------------------------------------------------

// Where the model knows no plan that fits, one that mostly does.
static kc_cost_choice usual(const kc_tiler *t, const kc_cost_problem *p, kc_cost_choice wish) {
    const kc_target_attributes *limits = &t->pass->target->attributes;
    int64_t tile[3] = {64, 64, 32 / kc_dtype_unit(p->elem)};
    kc_cost_choice c = wish;
    for (int i = 0; i < 3; i++)
        if (!c.tile[i]) c.tile[i] = larger(smaller(tile[i], p->cover[i]), p->least[i]);
    int64_t most = limits->max_num_threads / limits->warp_size;
    if (!c.stages) c.stages = 2;
    if (!c.warps) c.warps = 1;
    while (!wish.warps && c.warps < most &&
           c.tile[0] * c.tile[1] > 32 * limits->warp_size * c.warps)
        c.warps *= 2;
    return c;
}

static bool fits(kc_tiler *t, const kc_cost_problem *p, const kc_cost_choice *c) {
    const char *reason = kc_cost_misfit(t->pass->scratch, t->pass->target, p, c);
    if (reason)
        kc_report(t->pass->diag, KC_ERROR, t->kernel->loc,
                  "schedule: tiles of %lldx%lldx%lld over %lld warps do not fit: %s",
                  (long long)c->tile[0], (long long)c->tile[1], (long long)c->tile[2],
                  (long long)c->warps, reason);
    return !reason;
}

static void record(kc_tiler *t, const kc_cost_problem *p, const kc_cost_plan *plans, int n) {
    kc_module *module = t->pass->module;
    int64_t parts = kc_attr_int(t->contraction, KC_ATTR_SPLIT, 1);
    if (parts > 1) kc_attr_set_int(t->kernel, KC_ATTR_SPLIT, parts);
    if (n && plans[0].group > 1 && !kc_attr_get(t->kernel, KC_ATTR_RASTER))
        kc_attr_set_string(
            module, t->kernel, KC_ATTR_RASTER,
            kc_arena_printf(t->pass->scratch, "grouped:%lld", (long long)plans[0].group));
    if (t->pass->explain)
        kc_attr_set_string(module, t->kernel, KC_ATTR_REASON,
                           kc_cost_text(t->pass->scratch, t->pass->target, p, plans, n));
}

int kc_tiler_choose_blocks(kc_tiler *t) {
    int axes[3];
    kc_cost_plan plans[SHOWN];
    kc_cost_choice wish;
    const kc_target *target = t->pass->target;
    axes_of(t, axes);
    t->row_axis = axes[0];
    kc_cost_problem p = problem_of(t, axes);
    if (!choose_unit(t, axes, &p, &wish)) return 0;
    int n = kc_cost_rank(target, &p, &wish, plans, SHOWN);
    if (!n && !kc_attr_get(t->kernel, KC_ATTR_UNIT)) {
        use_fma(&p);
        wish = wish_of(t, &p);
        n = kc_cost_rank(target, &p, &wish, plans, SHOWN);
    }
    kc_cost_choice c = n ? plans[0].choice : usual(t, &p, wish);
    if (!n && !fits(t, &p, &c)) return 0;
    for (int i = 0; i < 3; i++)
        if (axes[i] >= 0) t->axes[axes[i]].tile = c.tile[i];
    kc_attr_set_ints(t->pass->module, t->kernel, KC_ATTR_TILE, 3, c.tile);
    kc_attr_set_int(t->kernel, KC_ATTR_STAGES, c.stages);
    kc_attr_set_string(t->pass->module, t->kernel, KC_ATTR_UNIT, p.unit);
    record(t, &p, plans, n);
    return (int)c.warps;
}

// ---- wishes that cannot be met ------------------------------------------------------------------

static bool refuse(kc_tiler *t, const char *text) {
    kc_report(t->pass->diag, KC_ERROR, t->kernel->loc, "schedule key 'tile': %s", text);
    return false;
}

static int64_t most_threads(const kc_tiler *t) {
    const kc_target_attributes *limits = &t->pass->target->attributes;
    return kc_attr_int(t->kernel, KC_ATTR_WARPS, limits->max_num_threads / limits->warp_size) *
           limits->warp_size;
}

bool kc_tiler_fits_registers(kc_tiler *t, int64_t elements) {
    int64_t threads = most_threads(t), a_thread = elements / threads;
    if (a_thread <= MOST_A_THREAD) return true;
    return refuse(t, kc_arena_printf(t->pass->scratch,
                                     "%lld elements over %lld warps are %lld a thread; at most %d "
                                     "fit its registers (a smaller tile or more warps)",
                                     (long long)elements,
                                     (long long)threads / t->pass->target->attributes.warp_size,
                                     (long long)a_thread, MOST_A_THREAD));
}

// A step of the loop is unrolled: its size decides how long compiling takes.
static bool fits_unrolling(kc_tiler *t, const int64_t *tile) {
    int64_t products = tile[0] * tile[1] / most_threads(t) * tile[2];
    if (products <= MOST_PRODUCTS) return true;
    return refuse(t, kc_arena_printf(t->pass->scratch,
                                     "a step of %lld products a thread is more than the %d that "
                                     "are unrolled; a smaller k or more warps",
                                     (long long)products, MOST_PRODUCTS));
}

static bool holds_whole(kc_tiler *t, const int64_t *tile) {
    int axes[3];
    axes_of(t, axes);
    for (int i = 0; i < 2; i++) {
        const kc_axis *axis = axes[i] < 0 ? NULL : &t->axes[axes[i]];
        if (!axis || !axis->folded || kc_expr_max_value(t->pool, axis->extent) <= tile[i]) continue;
        return refuse(
            t, kc_arena_printf(t->pass->scratch,
                               "the product's %s of %lld elements are reduced in its kernel, and "
                               "have to fit a tile",
                               i ? "rows" : "columns",
                               (long long)kc_expr_max_value(t->pool, axis->extent)));
    }
    return true;
}

bool kc_tiler_check_blocks(kc_tiler *t, const kc_attr *tile) {
    if (tile->count != 3) return refuse(t, "a matrix product takes three extents: [m, n, k]");
    for (int i = 0; i < 3; i++)
        if (tile->integers[i] < 1 || tile->integers[i] > MOST_EXTENT ||
            tile->integers[i] / (tile->integers[i] & -tile->integers[i]) > MOST_REPETITIONS)
            return refuse(
                t, kc_arena_printf(
                       t->pass->scratch,
                       "extents are from 1 to %d, a power of two times an odd number up to %d",
                       MOST_EXTENT, MOST_REPETITIONS));
    return holds_whole(t, tile->integers) &&
           kc_tiler_fits_registers(t, tile->integers[0] * tile->integers[1]) &&
           fits_unrolling(t, tile->integers);
}
