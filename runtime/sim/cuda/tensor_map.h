/* Tensor maps: the 128 bytes that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col fill in and
 * that tensor copies read.
 *
 * The vendor's encoding is opaque, and so is this one. It carries a mark and a sum over its bytes,
 * so that a map that was copied wrongly or never written is told from a good one. */
#ifndef KCSIM_TENSOR_MAP_H
#define KCSIM_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#define KCSIM_TENSOR_MAP_BYTES 128u
#define KCSIM_TENSOR_RANK 5u

/* Numbers are those of CUtensorMapDataType. */
typedef enum kcsim_tensor_type {
    KCSIM_TENSOR_U8,
    KCSIM_TENSOR_U16,
    KCSIM_TENSOR_U32,
    KCSIM_TENSOR_S32,
    KCSIM_TENSOR_U64,
    KCSIM_TENSOR_S64,
    KCSIM_TENSOR_F16,
    KCSIM_TENSOR_F32,
    KCSIM_TENSOR_F64,
    KCSIM_TENSOR_BF16,
    KCSIM_TENSOR_F32_FTZ,
    KCSIM_TENSOR_TF32,
    KCSIM_TENSOR_TF32_FTZ,
    KCSIM_TENSOR_TYPE_COUNT
} kcsim_tensor_type;

/* Numbers are those of CUtensorMapSwizzle. */
typedef enum kcsim_tensor_swizzle {
    KCSIM_SWIZZLE_NONE,
    KCSIM_SWIZZLE_32,
    KCSIM_SWIZZLE_64,
    KCSIM_SWIZZLE_128,
    KCSIM_SWIZZLE_128_ATOM_32,
    KCSIM_SWIZZLE_128_FLIP, /* not built */
    KCSIM_SWIZZLE_128_ATOM_64,
    KCSIM_SWIZZLE_COUNT
} kcsim_tensor_swizzle;

typedef struct kcsim_tensor_map {
    uint32_t mark;
    uint8_t type, rank, swizzle;
    uint8_t fill_nan;
    uint64_t address;
    uint64_t strides[KCSIM_TENSOR_RANK]; /* in bytes; [0] is the element's size */
    uint64_t dims[KCSIM_TENSOR_RANK];    /* 1 above the rank; so are box and steps */
    uint16_t box[KCSIM_TENSOR_RANK];
    uint8_t steps[KCSIM_TENSOR_RANK]; /* [0] is 1 */
    /* Im2col: a box is box[0] channels of box[1] pixels. The base pixels of W, H and D lie between
     * lower[i] and the last one plus upper[i]. */
    uint8_t im2col;
    int16_t lower[KCSIM_TENSOR_RANK - 2], upper[KCSIM_TENSOR_RANK - 2];
    uint32_t sum;
} kcsim_tensor_map;

/* Bytes of an element. */
unsigned kcsim_tensor_type_bytes(kcsim_tensor_type type);
/* Why the vendor's driver would refuse these, or NULL. */
const char *kcsim_tensor_map_problem(const kcsim_tensor_map *map);
/* Fills in mark and sum, and writes the 128 bytes. */
void kcsim_tensor_map_write(kcsim_tensor_map *map, void *bytes);
/* False: these bytes are no tensor map. One that was changed field by field may still have a
 * problem. */
bool kcsim_tensor_map_read(kcsim_tensor_map *map, const void *bytes);

/* Elements of a box along a dimension: every steps-th of what it spans. */
uint32_t kcsim_tensor_map_count(const kcsim_tensor_map *map, unsigned dim);
/* Im2col: the next base pixel behind `at`, in the order W, H, D, N. PTX ISA, "im2col mode". */
void kcsim_tensor_map_step(const kcsim_tensor_map *map, int64_t at[KCSIM_TENSOR_RANK]);
/* Im2col: whether a base pixel lies within the bounding box. */
bool kcsim_tensor_map_has(const kcsim_tensor_map *map, const int64_t at[KCSIM_TENSOR_RANK]);
/* Of the whole box in shared memory, filled-in parts included: what its mbarrier is told. */
uint64_t kcsim_tensor_map_box_bytes(const kcsim_tensor_map *map);

/* Where the byte at `address` of a box that lies row after row is put instead (PTX ISA, "Swizzling
 * modes"): 16-byte chunks change places within rows of 32, 64 or 128 bytes, by the number of the
 * 128-byte line; with 128_ATOM_32, pairs of chunks do,
 * with 128_ATOM_64 fours.
 *
 *     32: a line is rows 0 and 1 ...  chunks 0 1 of every row; swapped in every second line
 *     128: line n: chunk c goes to c ^ (n mod 8) */
uint64_t kcsim_tensor_swizzled(kcsim_tensor_swizzle swizzle, uint64_t address);

#endif
