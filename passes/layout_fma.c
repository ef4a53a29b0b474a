// Dot products on FMA units: each thread multiplies what it holds.
#include "passes/integers.h"
#include "passes/layouts.h"

enum { MICRO_TILE = 4, FETCH_BYTES = 16, FETCH_DECODED = 8 };

// Lanes in a 4 x 8 pattern of 4 x 4 micro tiles; warps go where the tile is longer.
kc_layout kc_layouts_fma_accumulator(const kc_layouts *l, const kc_op *dot) {
    const kc_type *type = &kc_result(dot, 0)->type;
    int m = kc_layouts_own_dimension(dot, 0), n = kc_layouts_own_dimension(dot, 1), count = 0;
    kc_layout_blocked_spec spec = {.rank = l->rank};
    if (n >= 0) spec.order[count++] = n;
    if (m >= 0 && m != n) spec.order[count++] = m;
    for (int d = l->rank - 1; d >= 0; d--)
        if (d != m && d != n) spec.order[count++] = d;
    for (int d = 0; d < l->rank; d++) {
        spec.shape[d] = (int)type->tile[d];
        spec.size_per_thread[d] =
            d == m || d == n ? (int)smaller(MICRO_TILE, power_of_two_in(type->tile[d])) : 1;
        spec.lanes[d] = spec.warps[d] = 1;
    }
    int first = spec.order[0], second = l->rank > 1 ? spec.order[1] : first;
    int64_t lanes = l->lanes,
            room = power_of_two_in(type->tile[first]) / spec.size_per_thread[first];
    spec.lanes[first] = (int)smaller(smaller(room, l->lanes / 4), lanes);
    spec.lanes[second] = second == first ? spec.lanes[first] : 1;
    lanes /= spec.lanes[first];
    spec.lanes[second] *= (int)lanes;
    for (int w = l->warps; w > 1; w /= 2) {
        int64_t left[2];
        for (int i = 0; i < 2; i++) {
            int d = i ? second : first;
            left[i] = type->tile[d] / (spec.size_per_thread[d] * spec.lanes[d] * spec.warps[d]);
        }
        spec.warps[left[1] > left[0] ? second : first] *= 2;
    }
    kc_layout layout;
    const char *error = kc_layout_blocked(&layout, &spec);
    if (error) kc_bug("no accumulator layout: %s", error);
    return layout;
}

// Each thread holds, for its accumulators, `extent` steps of the contracted axis.
static kc_layout operand_layout(const kc_layouts *l, const kc_op *dot, int operand,
                                int64_t extent) {
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    kc_type type = kc_operand(dot, operand)->type;
    type.tile[axis] = 1;
    kc_layout layout = kc_layouts_project(l, kc_result(dot, 0)->type.layout, &type), expanded;
    const char *error = kc_layout_expand(&expanded, &layout, axis, (int)extent);
    if (error) kc_bug("no operand layout: %s", error);
    return expanded;
}

static kc_feed feed_of(const kc_layouts *l, const kc_op *dot, int operand) {
    const kc_type *type = &kc_operand(dot, operand)->type;
    int64_t depth = type->tile[kc_attr_int(dot, KC_ATTR_AXIS, 0)],
            steps = smaller(power_of_two_in(depth), FETCH_BYTES / kc_dtype_unit(type->elem));
    if (kc_dtype_is_float(type->elem))
        steps = smaller(steps, FETCH_DECODED); // each takes a register more once it is an f32
    return (kc_feed){.steps = steps,
                     .step = operand_layout(l, dot, operand, steps),
                     .whole = operand_layout(l, dot, operand, depth)};
}

void kc_layouts_fma_feeds(const kc_layouts *l, const kc_op *dot, kc_feed feeds[2]) {
    for (int i = 0; i < 2; i++)
        feeds[i] = feed_of(l, dot, i);
}
