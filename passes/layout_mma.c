// Dot products on tensor cores: the accumulator is a grid of fragments, dealt out to warps in one
// piece each, and the operands are what the instruction wants beside it. Everything follows from
// two layouts: the instruction's fragments, and the grid; an operand's layout is its fragment times
// the grid without the dimension that it lacks.
#include "passes/integers.h"
#include "passes/layouts.h"

#include <string.h>

const kc_mma *kc_layouts_instruction(const kc_layouts *l, const kc_op *dot) {
    if (strcmp(kc_attr_string(dot, KC_ATTR_UNIT, "fma"), "tensor") != 0) return NULL;
    const kc_type *a = &kc_operand(dot, 0)->type;
    const kc_mma *row = kc_mma_find(l->pass->target, a->elem, kc_result(dot, 0)->type.elem,
                                    kc_attr_string(dot, KC_ATTR_PRECISION, "ieee"),
                                    a->tile[kc_attr_int(dot, KC_ATTR_AXIS, 0)]);
    if (!row) kc_bug("a dot on tensor cores that have no instruction for it");
    return row;
}

static void must(const char *error) {
    if (error) kc_bug("layouts of a tensor-core dot: %s", error);
}

// The grid of fragments: neighbours along n first.
static kc_layout grid_of(const kc_layouts *l, const kc_op *dot, const kc_mma *row) {
    const kc_type *type = &kc_result(dot, 0)->type;
    int m = kc_layouts_own_dimension(dot, 0), n = kc_layouts_own_dimension(dot, 1), count = 0;
    kc_layout_blocked_spec spec = {.rank = l->rank};
    spec.order[count++] = n;
    spec.order[count++] = m;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != m && d != n) spec.order[count++] = d;
    for (int d = 0; d < l->rank; d++) {
        spec.shape[d] = (int)type->tile[d] / (d == m ? row->m : d == n ? row->n : 1);
        spec.size_per_thread[d] = (int)power_of_two_in(spec.shape[d]);
        spec.lanes[d] = spec.warps[d] = 1;
    }
    int64_t fragments[2] = {spec.size_per_thread[m], spec.size_per_thread[n]}, dealt[2];
    kc_mma_deal(row, fragments, l->warps, dealt);
    for (int i = 0; i < 2; i++) {
        int d = i ? n : m;
        spec.warps[d] = (int)dealt[i];
        spec.size_per_thread[d] /= (int)smaller(spec.size_per_thread[d], dealt[i]);
    }
    kc_layout grid;
    must(kc_layout_blocked(&grid, &spec));
    return grid;
}

static kc_layout embedded(const kc_layouts *l, const kc_mma *row, kc_mma_side side, int first,
                          int second) {
    kc_layout out;
    must(kc_layout_embed(&out, kc_mma_fragment(row, side), l->rank, (int[]){first, second}));
    return out;
}

kc_layout kc_layouts_mma_accumulator(const kc_layouts *l, const kc_op *dot) {
    const kc_mma *row = kc_layouts_instruction(l, dot);
    kc_layout grid = grid_of(l, dot, row), whole;
    kc_layout fragment = embedded(l, row, KC_MMA_C, kc_layouts_own_dimension(dot, 0),
                                  kc_layouts_own_dimension(dot, 1));
    must(kc_layout_product(&whole, &fragment, &grid));
    return whole;
}

static kc_feed feed_of(const kc_layouts *l, const kc_op *dot, int operand, const kc_mma *row,
                       const kc_layout *all) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0), own = kc_layouts_own_dimension(dot, operand),
        other = kc_layouts_own_dimension(dot, 1 - operand);
    int64_t depth = kc_operand(dot, operand)->type.tile[axis];
    kc_layout fragment = embedded(l, row, operand ? KC_MMA_B : KC_MMA_A, own, axis);
    kc_layout grid = kc_layout_slice(all, other, true), deep = grid;
    if (depth > row->k) must(kc_layout_expand(&deep, &grid, axis, (int)depth / row->k));
    kc_feed feed = {.steps = row->k};
    must(kc_layout_product(&feed.step, &fragment, &grid));
    must(kc_layout_product(&feed.whole, &fragment, &deep));
    return feed;
}

void kc_layouts_mma_feeds(const kc_layouts *l, const kc_op *dot, kc_feed feeds[2]) {
    const kc_mma *row = kc_layouts_instruction(l, dot);
    kc_layout grid = grid_of(l, dot, row);
    for (int i = 0; i < 2; i++)
        feeds[i] = feed_of(l, dot, i, row, &grid);
}
