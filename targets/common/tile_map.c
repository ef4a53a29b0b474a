#include "targets/common/tile_map.h"
#include <stdlib.h>

// A flat vector's part along dimension d: the last dimension is lowest.
static int64_t part(const kc_layout *layout, uint32_t flat, int d) {
    int shift = 0;
    for (int i = layout->rank - 1; i > d; i--)
        shift += layout->log_tile[i];
    return (flat >> shift) & ((1u << layout->log_tile[d]) - 1);
}

static uint32_t apply(const kc_layout *layout, kc_layout_place place, uint32_t index) {
    uint32_t flat = 0;
    for (int b = 0; b < layout->bits[place]; b++)
        if (index >> b & 1) flat ^= layout->basis[place][b];
    return flat;
}

static void fill_registers(kc_tile_map *m, const kc_layout *layout) {
    int linear = 1 << layout->bits[KC_LAYOUT_REGISTER];
    for (int r = 0; r < m->n_registers; r++) {
        uint32_t flat = apply(layout, KC_LAYOUT_REGISTER, (uint32_t)(r % linear));
        int rest = r / linear;
        for (int d = m->rank - 1; d >= 0; d--) {
            m->linear[r][d] = part(layout, flat, d);
            m->repeats[r][d] = (int64_t)(rest % layout->reps[d]) << layout->log_tile[d];
            rest /= layout->reps[d];
        }
    }
}

static void fill_threads(kc_tile_map *m, const kc_layout *layout) {
    int lanes = layout->bits[KC_LAYOUT_LANE], warps = layout->bits[KC_LAYOUT_WARP];
    if (lanes > m->lane_bits || m->lane_bits + warps > m->thread_bits)
        kc_bug("a layout of %d lane and %d warp bits in a block of %d and %d", lanes, warps,
               m->lane_bits, m->thread_bits - m->lane_bits);
    for (int d = 0; d < m->rank; d++) {
        for (int b = 0; b < lanes; b++)
            m->threads[b][d] = part(layout, layout->basis[KC_LAYOUT_LANE][b], d);
        for (int b = 0; b < warps; b++)
            m->threads[m->lane_bits + b][d] = part(layout, layout->basis[KC_LAYOUT_WARP][b], d);
    }
    unsigned mentioned = ((1u << lanes) - 1) | ((1u << warps) - 1) << m->lane_bits;
    m->redundant = ((1u << m->thread_bits) - 1) & ~mentioned;
    m->redundant |= kc_layout_replicas(layout, KC_LAYOUT_LANE);
    m->redundant |= kc_layout_replicas(layout, KC_LAYOUT_WARP) << m->lane_bits;
}

// ---- finding registers ----------------------------------------------------------------------

static int compare(const kc_tile_map *m, int r, const int64_t *at) {
    for (int d = 0; d < m->rank; d++) {
        int64_t own = kc_tile_map_at(m, r, d);
        if (own != at[d]) return own < at[d] ? -1 : 1;
    }
    return 0;
}

static int compare_registers(const void *a, const void *b, void *map) {
    const kc_tile_map *m = map;
    int i = *(const int *)a, j = *(const int *)b;
    int64_t at[KC_LAYOUT_MAX_RANK];
    for (int d = 0; d < m->rank; d++)
        at[d] = kc_tile_map_at(m, j, d);
    int order = compare(m, i, at);
    return order ? order : i - j;
}

int kc_tile_map_find(const kc_tile_map *m, const int64_t *coordinate) {
    int low = 0, high = m->n_registers;
    while (low < high) {
        int middle = (low + high) / 2;
        if (compare(m, m->by_coordinate[middle], coordinate) < 0) low = middle + 1;
        else high = middle;
    }
    bool hit = low < m->n_registers && compare(m, m->by_coordinate[low], coordinate) == 0;
    return hit ? m->by_coordinate[low] : -1;
}

int64_t kc_tile_map_thread_mask(const kc_tile_map *m, int d) {
    int64_t mask = 0;
    for (int b = 0; b < m->thread_bits; b++)
        mask |= m->threads[b][d];
    return mask;
}

const kc_tile_map *kc_tile_map_create(kc_arena *arena, const kc_layout *layout, int lane_bits,
                                      int thread_bits) {
    if (!layout || layout->memory) kc_bug("a tile without a distributed layout");
    if (thread_bits > KC_MAX_THREAD_BITS) kc_bug("a block of 2^%d threads", thread_bits);
    kc_tile_map *m = KC_NEW(arena, kc_tile_map);
    m->layout = layout;
    m->rank = layout->rank;
    m->n_registers = (int)kc_layout_count(layout, KC_LAYOUT_REGISTER);
    m->lane_bits = lane_bits;
    m->thread_bits = thread_bits;
    for (int d = 0; d < m->rank; d++)
        m->extent[d] = kc_layout_extent(layout, d);
    m->linear = kc_arena_alloc(arena, sizeof *m->linear * (size_t)m->n_registers);
    m->repeats = kc_arena_alloc(arena, sizeof *m->repeats * (size_t)m->n_registers);
    fill_registers(m, layout);
    fill_threads(m, layout);
    m->by_coordinate = KC_NEW_ARRAY(arena, int, m->n_registers);
    for (int r = 0; r < m->n_registers; r++)
        m->by_coordinate[r] = r;
    qsort_r(m->by_coordinate, (size_t)m->n_registers, sizeof(int), compare_registers, m);
    return m;
}

// ---- shared memory --------------------------------------------------------------------------

const kc_memory_map *kc_memory_map_create(kc_arena *arena, const kc_layout *layout) {
    if (!layout || !layout->memory) kc_bug("a shared buffer without a memory layout");
    kc_memory_map *m = KC_NEW(arena, kc_memory_map);
    kc_linear inverse = kc_layout_invert(layout);
    m->rank = layout->rank;
    m->linear_size = 1LL << layout->bits[KC_LAYOUT_OFFSET];
    int flat = 0;
    for (int d = m->rank - 1; d >= 0; d--) {
        m->bits[d] = layout->log_tile[d];
        m->reps[d] = layout->reps[d];
        for (int b = 0; b < m->bits[d]; b++)
            m->column[d][b] = inverse.column[flat++];
    }
    return m;
}

int64_t kc_memory_map_linear(const kc_memory_map *m, int d, int64_t coordinate) {
    int64_t offset = 0;
    for (int b = 0; b < m->bits[d]; b++)
        if (coordinate >> b & 1) offset ^= m->column[d][b];
    return offset;
}

int64_t kc_memory_map_repeat(const kc_memory_map *m, const int64_t *coordinate) {
    int64_t index = 0;
    for (int d = 0; d < m->rank; d++)
        index = index * m->reps[d] + (coordinate[d] >> m->bits[d]);
    return index * m->linear_size;
}
