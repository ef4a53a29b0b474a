// A layout as code generation wants it: numbers in tables. Thread bits are lane bits, then warp
// bits: thread = warp * lanes + lane.
//
// The coordinate of register r of a thread along dimension d is
//     (linear[r][d] XOR threads[b][d] over the set bits b of the thread) + repeats[r][d]
// The repeats are multiples of the linear part's extent, so a bit is in one of the two alone.
#ifndef KC_TARGETS_COMMON_TILE_MAP_H
#define KC_TARGETS_COMMON_TILE_MAP_H

#include "ir/ir.h"

enum { KC_MAX_THREAD_BITS = 10 };

typedef struct {
    const kc_layout *layout; // borrowed
    int rank, n_registers, lane_bits, thread_bits;
    int64_t extent[KC_LAYOUT_MAX_RANK];
    int64_t threads[KC_MAX_THREAD_BITS][KC_LAYOUT_MAX_RANK];
    int64_t (*linear)[KC_LAYOUT_MAX_RANK];
    int64_t (*repeats)[KC_LAYOUT_MAX_RANK];
    unsigned redundant; // thread bits that lead only to copies
    int *by_coordinate; // registers, sorted by coordinate
} kc_tile_map;

// Of a distributed layout, for warps of 2^lane_bits lanes and blocks of 2^thread_bits threads:
// threads that the layout does not mention hold copies.
const kc_tile_map *kc_tile_map_create(kc_arena *, const kc_layout *, int lane_bits,
                                      int thread_bits);

// The lowest register whose own part of the coordinates is this; -1 when there is none.
int kc_tile_map_find(const kc_tile_map *, const int64_t *coordinate);
static inline int64_t kc_tile_map_at(const kc_tile_map *m, int r, int d) {
    return m->linear[r][d] + m->repeats[r][d];
}
// All bits of dimension d that threads change.
int64_t kc_tile_map_thread_mask(const kc_tile_map *, int d);

// A memory layout's coordinates to offsets. Offset of a coordinate: XOR of column[d][bit] over the
// set bits of coordinate[d] below bits[d], plus what whole repetitions add.
typedef struct {
    int rank, bits[KC_LAYOUT_MAX_RANK];
    int64_t reps[KC_LAYOUT_MAX_RANK], linear_size;
    int64_t column[KC_LAYOUT_MAX_RANK][KC_LAYOUT_MAX_BITS];
} kc_memory_map;

const kc_memory_map *kc_memory_map_create(kc_arena *, const kc_layout *);
// The XOR part of a coordinate along one dimension.
int64_t kc_memory_map_linear(const kc_memory_map *, int d, int64_t coordinate);
// What the repetitions of a coordinate add.
int64_t kc_memory_map_repeat(const kc_memory_map *, const int64_t *coordinate);

#endif
