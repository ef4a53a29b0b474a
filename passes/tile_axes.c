// The iteration space of a kernel: which axes it has, how they are tiled, how many warps work on a
// tile.
//
// Memory decides. Each buffer has a dimension whose neighbours are neighbours in memory; followed
// through the movement ops of the kernel, that is an axis of the space: a fast axis. Tiles are long
// along the fast axes: one for most kernels, two for a transposition.
#include "passes/integers.h"
#include "passes/rows.h"
#include "passes/tiler.h"

#include <string.h>

enum {
    THREADS_OF_A_MAP = 128,
    VECTORS_A_THREAD = 2,
    ROWS_OF_VECTORS = 4,
    ELEMENTS_A_MAP_THREAD = 32,
    LARGEST_WHOLE_ROW = 8192,
    ELEMENTS_A_ROW_THREAD = 16,
    SECTOR_BYTES = 32,
    BYTES_OF_ROWS = 128,
    THREADS_OF_REPEATED_ROWS = 256,
    MOST_EXTENT = 16384,
};

// The tile that would cover the whole axis. A reduced axis that may be empty needs a mask, so it is
// tiled.
int64_t kc_tiler_whole(const kc_tiler *t, int a) {
    const kc_expr *extent = t->axes[a].part ? t->axes[a].part : t->axes[a].extent;
    bool masked = (t->axes[a].reduced || t->axes[a].folded) &&
                  kc_expr_min_value(t->pool, extent) < 1;
    int64_t least = masked || t->axes[a].paired ? 2 : 1;
    return larger(least, power_of_two_at_least(kc_expr_max_value(t->pool, extent)));
}

// ---- fast axes ----------------------------------------------------------------------------------

enum { MOST_INPUTS = 64 }; // that are looked at

typedef struct {
    kc_tiler *t;
    int most_axes;                // of the input that varies along most axes
    int fast_of_largest;          // its fast axis, or -1
    unsigned fast;                // fast axes of all inputs that vary along at least two axes
    int least_bits;               // of an element of any buffer
    unsigned varies[MOST_INPUTS]; // the axes that each input varies along
    int n_inputs;
} kc_trace;

static void trace_buffer(kc_trace *trace, const kc_value *v, const int *map) {
    int fast = kc_type_unit_stride(trace->t->pool, &v->type), covered = 0;
    unsigned axes = 0;
    for (int d = 0; d < v->type.rank; d++)
        if (map[d] != NO_AXIS) covered++, axes |= 1u << map[d];
    if (trace->n_inputs < MOST_INPUTS) trace->varies[trace->n_inputs++] = axes;
    int bits = kc_dtype_bits(v->type.elem);
    if (covered > 0 && bits < trace->least_bits) trace->least_bits = bits;
    if (covered > trace->most_axes) {
        trace->most_axes = covered;
        trace->fast_of_largest = fast >= 0 ? map[fast] : NO_AXIS;
    }
    if (covered > 1 && fast >= 0 && map[fast] != NO_AXIS) trace->fast |= 1u << map[fast];
}

static void trace_value(kc_trace *, kc_value *, const int *map);

static void trace_gather(kc_trace *trace, kc_op *op, const int *map) {
    kc_value *x = kc_operand(op, 0), *indices = kc_operand(op, 1);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0), from[KC_MAX_RANK];
    for (int d = 0; d < x->type.rank; d++)
        from[d] = d < axis ? map[d] : d == axis ? NO_AXIS : map[d + indices->type.rank - 1];
    trace_value(trace, x, from);
    trace_value(trace, indices, map + axis);
}

// The axes of a reduction's operand: those of the result, and the reduced ones in order.
static void trace_reduce(kc_trace *trace, kc_op *op, const int *map) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int from[KC_MAX_RANK], next = 0, kept = 0, opened = 0;
    for (int d = 0; d < kc_operand(op, 0)->type.rank; d++) {
        if (next < axes->count && axes->integers[next] == d) {
            while (!trace->t->axes[opened].folded)
                opened++;
            from[d] = opened++, next++;
        } else {
            from[d] = map[kept++];
        }
    }
    for (int i = 0; i < op->n_operands; i++)
        trace_value(trace, kc_operand(op, i), from);
}

static void trace_operands(kc_trace *trace, kc_op *op, const int *map) {
    for (int i = 0; i < op->n_operands; i++) {
        int from[KC_MAX_RANK];
        kc_movement_operand_axes(trace->t->pool, op, i, map, from);
        trace_value(trace, kc_operand(op, i), from);
    }
}

static void trace_value(kc_trace *trace, kc_value *v, const int *map) {
    if (v->data == trace) return; // seen
    if (!v->def) {
        trace_buffer(trace, v, map);
        return;
    }
    v->data = trace;
    kc_op *op = v->def;
    if (op->code == KC_OP_GATHER) trace_gather(trace, op, map);
    else if (kc_op_has(op, KC_REDUCTION) && !kc_op_has(op, KC_SCAN)) trace_reduce(trace, op, map);
    else if (!kc_op_has(op, KC_CONTRACTION)) trace_operands(trace, op, map);
}

// ---- outputs ------------------------------------------------------------------------------------

// Axes of an output's dimensions: all of them when it has the shape of the whole space, else the
// parallel ones; a dimension of extent 1 that no axis matches is NO_AXIS.
int kc_tiler_plain_axes(const kc_tiler *t, const kc_type *type, int *map) {
    bool all = t->reduction && type->rank == kc_operand(t->reduction, 0)->type.rank;
    for (int d = 0; all && d < type->rank; d++)
        all = kc_expr_known_equal(t->pool, type->shape[d], t->axes[d].extent);
    int a = 0;
    for (int d = 0; d < type->rank; d++) {
        while (!all && a < t->n_axes &&
               (t->axes[a].reduced || t->axes[a].folded ||
                (kc_expr_is_one(t->axes[a].extent) && !kc_expr_is_one(type->shape[d]))))
            a++;
        if (a < t->n_axes && kc_expr_known_equal(t->pool, type->shape[d], t->axes[a].extent))
            map[d] = a++;
        else map[d] = NO_AXIS;
    }
    return type->rank;
}

static kc_trace trace_kernel(kc_tiler *t, unsigned *output_fast) {
    kc_trace trace = {.t = t, .fast_of_largest = NO_AXIS, .least_bits = 64};
    kc_op *yield = t->source->last;
    *output_fast = 0;
    int first_output = t->source->n_args - yield->n_operands;
    for (int i = 0; i < yield->n_operands; i++) {
        int map[KC_MAX_RANK];
        const kc_type *type = &t->source->args[first_output + i]->type;
        kc_tiler_result_axes(t, kc_operand(yield, i), map);
        int fast = kc_type_unit_stride(t->pool, type);
        if (fast >= 0 && map[fast] != NO_AXIS) *output_fast |= 1u << map[fast];
        trace.least_bits = (int)smaller(trace.least_bits, kc_dtype_bits(type->elem));
        trace_value(&trace, kc_operand(yield, i), map);
    }
    return trace;
}

// The last parallel axis along which an input repeats that runs along the fast axis: a bias repeats
// along the rows.
static int repeated_axis(const kc_trace *trace, int fast) {
    for (int a = trace->t->n_axes - 1; a >= 0; a--) {
        const kc_axis *axis = &trace->t->axes[a];
        if (axis->reduced || a == fast || kc_expr_is_one(axis->extent)) continue;
        for (int i = 0; i < trace->n_inputs; i++)
            if ((trace->varies[i] >> fast & 1) && !(trace->varies[i] >> a & 1)) return a;
    }
    return NO_AXIS;
}

// ---- the three kinds of kernel ------------------------------------------------------------------

static void add_axis(kc_tiler *t, const kc_expr *extent, bool reduced) {
    if (t->n_axes == KC_MAX_RANK) kc_bug("a kernel has more than %d axes", KC_MAX_RANK);
    t->axes[t->n_axes++] = (kc_axis){.extent = extent, .tile = 1, .reduced = reduced, .slot = -1};
}

static int last_bit(unsigned set) {
    int last = -1;
    for (int i = 0; i < 32; i++)
        if (set >> i & 1) last = i;
    return last;
}

static int schedule_warps(const kc_tiler *t, int64_t elements, int64_t a_thread) {
    int64_t threads = larger(elements / a_thread, 1), size = t->pass->target->attributes.warp_size;
    int64_t most = t->pass->target->attributes.max_num_threads / size;
    return (int)kc_attr_int(t->kernel, KC_ATTR_WARPS, smaller(larger(threads / size, 1), most));
}

static int tiled_axes(const kc_tiler *t) {
    int n = 0;
    for (int a = 0; a < t->n_axes; a++)
        n += t->axes[a].tile > 1;
    return n;
}

// Spreads `budget` elements over the axes of one kind, `first` first, then from the last one.
static void spread(kc_tiler *t, int first, int64_t budget, bool reduced) {
    if (first >= 0 && t->axes[first].reduced == reduced) {
        t->axes[first].tile = smaller(budget, kc_tiler_whole(t, first));
        budget /= t->axes[first].tile;
    }
    for (int a = t->n_axes - 1; a >= 0 && budget > 1 && tiled_axes(t) < KC_LAYOUT_MAX_RANK; a--) {
        if (a == first || t->axes[a].reduced != reduced) continue;
        t->axes[a].tile = smaller(budget, kc_tiler_whole(t, a));
        budget /= t->axes[a].tile;
    }
}

// A thread holds a few rows of the same columns, and walks down them: what repeats along the rows
// is loaded once.
static int tile_repeated(kc_tiler *t, int fast, int repeated, int64_t vector) {
    t->axes[fast].tile = smaller(THREADS_OF_A_MAP * vector, kc_tiler_whole(t, fast));
    int64_t a_thread = smaller(ROWS_OF_VECTORS * vector, 2 * ELEMENTS_A_MAP_THREAD);
    int64_t elements = t->axes[fast].tile;
    for (int a = t->n_axes - 1;
         a >= 0 && elements < THREADS_OF_A_MAP * vector && tiled_axes(t) < KC_LAYOUT_MAX_RANK - 1;
         a--) {
        if (a == fast || a == repeated) continue;
        t->axes[a].tile = smaller(THREADS_OF_A_MAP * vector / elements, kc_tiler_whole(t, a));
        elements *= t->axes[a].tile;
    }
    t->axes[repeated].tile =
        smaller(THREADS_OF_A_MAP * a_thread / elements, kc_tiler_whole(t, repeated));
    int warps = schedule_warps(t, elements * t->axes[repeated].tile, a_thread);
    kc_tiler_walk(t, repeated, warps);
    return warps;
}

static int tile_map(kc_tiler *t) {
    unsigned output_fast;
    kc_trace trace = trace_kernel(t, &output_fast);
    int fast = last_bit(output_fast), other = last_bit(trace.fast & ~output_fast);
    int64_t vector = 128 / trace.least_bits,
            a_thread = smaller(VECTORS_A_THREAD * vector, ELEMENTS_A_MAP_THREAD);
    const kc_attr *wish = kc_attr_get(t->kernel, KC_ATTR_TILE);
    if (wish) {
        int64_t elements = 1;
        for (int i = 0; i < wish->count; i++)
            elements *= t->axes[t->n_axes - wish->count + i].tile = wish->integers[i];
        return schedule_warps(t, elements, a_thread);
    }
    if (fast >= 0 && other >= 0) {
        t->axes[fast].tile = smaller(64, kc_tiler_whole(t, fast));
        t->axes[other].tile = smaller(64, kc_tiler_whole(t, other));
        return schedule_warps(t, t->axes[fast].tile * t->axes[other].tile, 16);
    }
    int repeated = fast >= 0 ? repeated_axis(&trace, fast) : NO_AXIS;
    if (repeated != NO_AXIS) return tile_repeated(t, fast, repeated, vector);
    spread(t, fast, THREADS_OF_A_MAP * a_thread, false);
    int64_t elements = 1;
    for (int a = 0; a < t->n_axes; a++)
        elements *= t->axes[a].tile;
    return schedule_warps(t, elements, a_thread);
}

// The longest row that a block holds; with what else a row needs, its registers hold fewer of twice
// the size.
static int64_t largest_whole_row(const kc_tiler *t) {
    return kc_dtype_bytes(kc_operand(t->reduction, 0)->type.elem) > 4 ? LARGEST_WHOLE_ROW / 2
                                                                      : LARGEST_WHOLE_ROW;
}

// Something repeats from row to row: a thread holds the same few columns of several rows, so that
// it is shared, and the reductions of all these rows go together.
static int tile_repeated_rows(kc_tiler *t, int repeated, int64_t row, int64_t vector) {
    int64_t held =
        BYTES_OF_ROWS / larger(4, kc_dtype_bytes(kc_operand(t->reduction, 0)->type.elem));
    int64_t threads = smaller(larger(row / vector, t->pass->target->attributes.warp_size),
                              THREADS_OF_REPEATED_ROWS);
    threads = larger(threads, row / ELEMENTS_A_ROW_THREAD);
    int64_t rows = smaller(larger(held * threads / row, 1), ROWS_OF_VECTORS);
    t->axes[repeated].tile =
        smaller(rows * larger(threads * vector / row, 1), kc_tiler_whole(t, repeated));
    return schedule_warps(t, threads, 1);
}

// Rows along the fast axis: whole when they fit, several a block when they are short.
static int tile_rows(kc_tiler *t, int64_t vector, int repeated) {
    int64_t row = 1, rows = 1;
    t->rows_whole = true;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced) {
            int64_t extent = kc_tiler_whole(t, a);
            if (extent > largest_whole_row(t) || row * extent > largest_whole_row(t))
                t->rows_whole = false;
            else row *= extent;
        }
    if (t->rows_whole) {
        for (int a = 0; a < t->n_axes; a++)
            if (t->axes[a].reduced) t->axes[a].tile = kc_tiler_whole(t, a);
        if (repeated != NO_AXIS) return tile_repeated_rows(t, repeated, row, vector);
    } else {
        row =
            smaller(1024 * vector, LARGEST_WHOLE_ROW / 2); // of the widest elements, too, a few fit
        spread(t, -1, row, true);
    }
    if (row < 1024) spread(t, -1, 1024 / row, false);
    for (int a = 0; a < t->n_axes; a++)
        if (!t->axes[a].reduced) rows *= t->axes[a].tile;
    return schedule_warps(t, row * rows,
                          t->rows_whole ? larger(ELEMENTS_A_ROW_THREAD, vector)
                                        : smaller(vector * 2, 2 * ELEMENTS_A_ROW_THREAD));
}

// The fast axis is not reduced: lanes run along it, and each thread walks down its columns. Deep
// columns that are wanted again are held whole, fewer at a time, as long as they fill the sectors
// of memory.
static int tile_columns(kc_tiler *t, int fast, int least_bytes) {
    int64_t columns = smaller(128, kc_tiler_whole(t, fast)), depth = 1;
    t->rows_whole = true;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].reduced)
            depth =
                kc_tiler_whole(t, a) > INT32_MAX / depth ? INT32_MAX : depth * kc_tiler_whole(t, a);
    if (kc_rows_needed_again(t->pool, t->pass->scratch, t->source, t->reduction))
        while (columns * least_bytes > SECTOR_BYTES && depth * columns > largest_whole_row(t) &&
               depth * SECTOR_BYTES <= largest_whole_row(t) * least_bytes)
            columns /= 2;
    t->axes[fast].tile = columns;
    if (depth * columns > largest_whole_row(t))
        t->rows_whole = false, depth = LARGEST_WHOLE_ROW / 2 / columns;
    spread(t, -1, depth, true);
    return schedule_warps(t, columns * depth, ELEMENTS_A_ROW_THREAD);
}

static int tile_reduction(kc_tiler *t) {
    unsigned output_fast;
    kc_trace trace = trace_kernel(t, &output_fast);
    int fast = trace.fast_of_largest;
    bool columns = fast >= 0 && !t->axes[fast].reduced;
    int repeated = fast >= 0 ? repeated_axis(&trace, fast) : NO_AXIS;
    int warps = columns ? tile_columns(t, fast, (trace.least_bits + 7) / 8)
                        : tile_rows(t, larger(1, 128 / trace.least_bits), repeated);
    if (repeated != NO_AXIS && t->rows_whole) kc_tiler_walk(t, repeated, warps);
    return warps;
}

// A thread writes elements of 4 bits in pairs: the axis that such an output runs along gets an even
// tile. Its extent is even, and what sets the tile later sets it to no less.
static void pair_axes(kc_tiler *t) {
    kc_op *yield = t->source->last;
    for (int i = 0; i < yield->n_operands; i++) {
        int map[KC_MAX_RANK], rank = kc_tiler_result_axes(t, kc_operand(yield, i), map);
        if (!kc_dtype_is_packed(kc_operand(yield, i)->type.elem) || rank == 0 ||
            map[rank - 1] == NO_AXIS)
            continue;
        t->axes[map[rank - 1]].paired = true;
        t->axes[map[rank - 1]].tile = 2;
    }
}

// ---- wishes of the schedule ---------------------------------------------------------------------

static bool refuse(kc_tiler *t, const char *text) {
    kc_report(t->pass->diag, KC_ERROR, t->kernel->loc, "schedule key 'tile': %s", text);
    return false;
}

static bool check_map_tile(kc_tiler *t, const kc_attr *tile) {
    int64_t elements = 1;
    if (tile->count < 1 || tile->count > t->n_axes || tile->count > KC_LAYOUT_MAX_RANK)
        return refuse(t, kc_arena_printf(t->pass->scratch,
                                         "this kernel has %d axes (neighbouring ones are joined "
                                         "where memory allows); a tile names the last ones of them",
                                         t->n_axes));
    for (int i = 0; i < tile->count; i++) {
        if (!is_power_of_two(tile->integers[i]) || tile->integers[i] > MOST_EXTENT)
            return refuse(
                t, kc_arena_printf(t->pass->scratch,
                                   "extents of elementwise kernels are powers of two up to %d",
                                   MOST_EXTENT));
        elements *= tile->integers[i];
    }
    return kc_tiler_fits_registers(t, elements);
}

static bool check_tile(kc_tiler *t) {
    const kc_attr *tile = kc_attr_get(t->kernel, KC_ATTR_TILE);
    if (!tile) return true;
    if (t->reduction && !t->contraction)
        return refuse(t, "tiles of reductions are chosen by the compiler; leave the key out");
    return t->contraction ? kc_tiler_check_blocks(t, tile) : check_map_tile(t, tile);
}

static bool check_pairs(kc_tiler *t) {
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].paired && t->axes[a].tile % 2 != 0)
            return refuse(
                t, "an output of 4-bit elements is written in pairs: its last extent is even");
    return true;
}

static void find_ops(kc_tiler *t) {
    KC_FOR_OPS(op, t->source) {
        if (!t->reduction && kc_op_has(op, KC_REDUCTION)) t->reduction = op;
        if (!t->contraction && kc_op_has(op, KC_CONTRACTION)) t->contraction = op;
    }
}

static void axes_of_reduction(kc_tiler *t) {
    const kc_type *type = &kc_operand(t->reduction, 0)->type;
    const kc_attr *axes = kc_attr_get(t->reduction, KC_ATTR_AXES);
    for (int d = 0, next = 0; d < type->rank; d++) {
        bool reduced = next < axes->count && axes->integers[next] == d;
        next += reduced;
        add_axis(t, type->shape[d], reduced && !t->contraction);
        t->axes[d].folded = reduced;
    }
    t->rows_whole = t->contraction != NULL;
    if (t->contraction) kc_tiler_find_own_axes(t);
}

static void axes_of_output(kc_tiler *t) {
    const kc_type *type = &kc_tiler_uncarried(t, kc_operand(t->source->last, 0))->type;
    for (int d = 0; d < type->rank; d++)
        add_axis(t, type->shape[d], false);
}

static void axes_of_contraction(kc_tiler *t) {
    add_axis(t, kc_tiler_depth(t), true);
    const kc_contraction *map = kc_tiler_contraction(t->contraction);
    const kc_expr *parts = map->parts ? map->parts(t->contraction) : kc_expr_const(t->pool, 1);
    if (kc_expr_is_one(parts)) return;
    kc_axis *row = &t->axes[kc_tiler_axis_of(t, 1u << map->row)];
    row->parts = parts;
    row->part = kc_expr_binary(t->pool, KC_EXPR_FLOORDIV, row->extent, parts);
}

bool kc_tiler_choose_axes(kc_tiler *t) {
    find_ops(t);
    if (t->reduction) axes_of_reduction(t);
    else axes_of_output(t);
    if (t->contraction) axes_of_contraction(t);
    pair_axes(t);
    if (!check_tile(t)) return false;
    int warps = t->contraction ? kc_tiler_choose_blocks(t)
                : t->reduction ? tile_reduction(t)
                               : tile_map(t);
    if (warps == 0 || !check_pairs(t)) return false;
    for (int a = 0; a < t->n_axes; a++)
        if (t->axes[a].tile > 1 || (t->contraction && t->axes[a].reduced))
            t->axes[a].slot = t->rank++;
    kc_attr_set_int(t->kernel, KC_ATTR_WARPS, warps);
    return true;
}
