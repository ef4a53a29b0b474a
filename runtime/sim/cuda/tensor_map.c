#include "runtime/sim/cuda/tensor_map.h"

#include <stddef.h>
#include <string.h>

#define MARK 0x70614d54u
#define MOST_DIM ((uint64_t)1 << 32)
#define MOST_STRIDE ((uint64_t)1 << 40)

_Static_assert(sizeof(kcsim_tensor_map) <= KCSIM_TENSOR_MAP_BYTES, "a map has 128 bytes");

unsigned kcsim_tensor_type_bytes(kcsim_tensor_type type) {
    static const uint8_t bytes[KCSIM_TENSOR_TYPE_COUNT] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return bytes[type];
}

static bool is_float(kcsim_tensor_type type) {
    return type >= KCSIM_TENSOR_F16;
}

static const char *box_problem(const kcsim_tensor_map *map, unsigned i) {
    if (!map->im2col)
        return map->box[i] && map->box[i] <= 256 ? NULL
                                                 : "boxDim: a box has 1 to 256 elements a side";
    if (i == 0 && (map->box[0] == 0 || map->box[0] > 256))
        return "channelsPerPixel: a pixel has 1 to 256 channels";
    if (i == 1 && (map->box[1] == 0 || map->box[1] > 1024))
        return "pixelsPerColumn: a column has 1 to 1024 pixels";
    return NULL;
}

/* The corners have 16, 8 or 5 bits, and something between them. */
static const char *corner_problem(const kcsim_tensor_map *map) {
    if (map->rank < 3) return "tensorRank: im2col needs 3 to 5 dimensions";
    int32_t limit = map->rank == 3 ? 32768 : map->rank == 4 ? 128 : 16;
    for (unsigned i = 0; i + 2u < map->rank; i++) {
        int32_t lower = map->lower[i], upper = map->upper[i];
        if (lower < -limit || lower >= limit || upper < -limit || upper >= limit)
            return "pixelBoxLowerCorner, pixelBoxUpperCorner: out of their range";
        if (lower >= (int64_t)map->dims[i + 1] + upper)
            return "pixelBoxLowerCorner, pixelBoxUpperCorner: the bounding box is empty";
    }
    return NULL;
}

static const char *dim_problem(const kcsim_tensor_map *map, unsigned i) {
    if (map->dims[i] == 0 || map->dims[i] > MOST_DIM) return "globalDim: sizes are from 1 to 2^32";
    if (box_problem(map, i)) return box_problem(map, i);
    if (map->steps[i] == 0 || map->steps[i] > 8) return "elementStrides: steps are from 1 to 8";
    if (i == 0) return NULL;
    if (map->strides[i] % 16) return "globalStrides: strides are multiples of 16 bytes";
    if (map->strides[i] >= MOST_STRIDE) return "globalStrides: strides are below 2^40 bytes";
    return NULL;
}

static uint64_t swizzle_bytes(kcsim_tensor_swizzle swizzle) {
    static const uint8_t bytes[KCSIM_SWIZZLE_COUNT] = {0, 32, 64, 128, 128, 128, 128};
    return bytes[swizzle];
}

const char *kcsim_tensor_map_problem(const kcsim_tensor_map *map) {
    if (map->type >= KCSIM_TENSOR_TYPE_COUNT) return "tensorDataType is unknown";
    if (map->rank == 0 || map->rank > KCSIM_TENSOR_RANK) return "tensorRank is from 1 to 5";
    if (map->swizzle >= KCSIM_SWIZZLE_COUNT || map->swizzle == KCSIM_SWIZZLE_128_FLIP)
        return "swizzle is unknown";
    if (map->address % 16) return "globalAddress is a multiple of 16";
    for (unsigned i = 0; i < map->rank; i++) {
        const char *problem = dim_problem(map, i);
        if (problem) return problem;
    }
    if (map->im2col && corner_problem(map)) return corner_problem(map);
    uint64_t inner = map->box[0] * map->strides[0], span = swizzle_bytes(map->swizzle);
    if (inner % 16) return "boxDim[0]: the inner side of a box has a multiple of 16 bytes";
    if (span && inner > span)
        return "boxDim[0]: the inner side of a box is longer than the swizzle";
    if (map->fill_nan && !is_float(map->type)) return "oobFill: NaN is for floating-point types";
    return NULL;
}

static uint32_t sum_of(const kcsim_tensor_map *map) {
    uint8_t bytes[sizeof *map];
    uint32_t sum = 0x811c9dc5;
    memcpy(bytes, map, sizeof bytes);
    for (size_t i = 0; i < offsetof(kcsim_tensor_map, sum); i++)
        sum = (sum ^ bytes[i]) * 0x01000193;
    return sum;
}

void kcsim_tensor_map_write(kcsim_tensor_map *map, void *bytes) {
    map->mark = MARK;
    map->sum = sum_of(map);
    memset(bytes, 0, KCSIM_TENSOR_MAP_BYTES);
    memcpy(bytes, map, sizeof *map);
}

bool kcsim_tensor_map_read(kcsim_tensor_map *map, const void *bytes) {
    memcpy(map, bytes, sizeof *map);
    return map->mark == MARK && map->sum == sum_of(map);
}

uint32_t kcsim_tensor_map_count(const kcsim_tensor_map *map, unsigned dim) {
    if (map->im2col) return dim < 2 ? map->box[dim] : 1;
    return (map->box[dim] + map->steps[dim] - 1u) / map->steps[dim];
}

static bool within(const kcsim_tensor_map *map, unsigned d, int64_t at) {
    return at >= map->lower[d - 1] && at < (int64_t)map->dims[d] + map->upper[d - 1];
}

bool kcsim_tensor_map_has(const kcsim_tensor_map *map, const int64_t at[KCSIM_TENSOR_RANK]) {
    bool good = true;
    for (unsigned d = 1; d + 1u < map->rank; d++)
        good &= within(map, d, at[d]);
    return good;
}

void kcsim_tensor_map_step(const kcsim_tensor_map *map, int64_t at[KCSIM_TENSOR_RANK]) {
    for (unsigned d = 1; d + 1u < map->rank; d++) {
        at[d] += map->steps[d];
        if (within(map, d, at[d])) return;
        at[d] = map->lower[d - 1];
    }
    at[map->rank - 1]++;
}

uint64_t kcsim_tensor_map_box_bytes(const kcsim_tensor_map *map) {
    uint64_t bytes = map->strides[0];
    for (unsigned i = 0; i < map->rank; i++)
        bytes *= kcsim_tensor_map_count(map, i);
    return bytes;
}

uint64_t kcsim_tensor_swizzled(kcsim_tensor_swizzle swizzle, uint64_t address) {
    switch (swizzle) {
    case KCSIM_SWIZZLE_32: return address ^ (address >> 3 & 0x10);
    case KCSIM_SWIZZLE_64: return address ^ (address >> 3 & 0x30);
    case KCSIM_SWIZZLE_128: return address ^ (address >> 3 & 0x70);
    case KCSIM_SWIZZLE_128_ATOM_32: return address ^ (address >> 2 & 0x60);
    case KCSIM_SWIZZLE_128_ATOM_64: return address ^ (address >> 1 & 0x40);
    default: return address;
    }
}
