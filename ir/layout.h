// Layouts: where each element of a tile lives, as a linear map over bits.
//
// A tile is a small dense array, and its elements are spread over registers, lanes, warps and
// blocks, or over offsets in shared memory. A layout is the function from such a hardware place to
// the element's coordinates. Take a 4x4 tile on 4 lanes with 4 registers each. If every lane holds
// a row, then element (row, column) is
//
//         column 0    1    2    3           register r of lane l holds (l, r); in bits
//     row 0   l0r0 l0r1 l0r2 l0r3             register bit 0 adds [0,1]
//     row 1   l1r0 l1r1 l1r2 l1r3             register bit 1 adds [0,2]
//     row 2   l2r0 l2r1 l2r2 l2r3             lane bit 0     adds [1,0]
//     row 3   l3r0 l3r1 l3r2 l3r3             lane bit 1     adds [2,0]
//
// Everything is said by one vector per hardware bit: the coordinates of a place are the XOR of the
// vectors of the bits that are set. Such maps are linear over GF(2); they compose, invert and
// multiply as matrices. The text is
//
//     #layout<tile: 4x4, reg: [0,1] [0,2], lane: [1,0] [2,0]>
//
// Quarters instead (each lane a 2x2 square) only change the vectors:
//
//     l0r0 l0r1 l1r0 l1r1
//     l0r2 l0r3 l1r2 l1r3         #layout<tile: 4x4, reg: [0,1] [1,0], lane: [0,2] [2,0]>
//     l2r0 l2r1 l3r0 l3r1
//     l2r2 l2r3 l3r2 l3r3
//
// *Replication* is a zero vector: flipping that bit leads to the same element. Here lane bit 1 is a
// replica bit, so that lanes 2 and 3 hold what lanes 0 and 1 hold:
//
//     l0=l2 r0  r1  r2  r3
//     l1=l3 r0  r1  r2  r3        #layout<tile: 2x4, reg: [0,1] [0,2], lane: [1,0] [0,0]>
//
// A *memory layout* has one hardware dimension, the offset in elements. Row-major is the identity;
// a swizzle is a few more ones. Here rows are XORed into columns, so that neither a row nor a
// column meets a bank twice (the numbers are columns of the tile, standing at increasing offsets; 4
// banks):
//
//     offsets  0- 3    0 1 2 3
//     offsets  4- 7    1 0 3 2
//     offsets  8-11    2 3 0 1    #layout<tile: 4x4, offset: [0,1] [0,2] [1,1] [2,2]>
//     offsets 12-15    3 2 1 0
//
// *Repetitions.* Each extent is 2^k times an odd number. The 2^k part is the linear map; the odd
// part repeats it: 192 is 3 repetitions of 64. Registers (or offsets) count repetition-major:
// register r + R * (index of the repetition, last dimension fastest), R registers in the linear
// part. So two layouts of one shape always have the same linear part to compare.
//
// A layout is a value: copy it, compare it, hash it, print it. Functions that can refuse return
// NULL when done, else a sentence; *out is then unchanged. Unless a function says otherwise,
// layouts passed in are valid: those that a function of this header made.
#ifndef KC_IR_LAYOUT_H
#define KC_IR_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KC_LAYOUT_MAX_RANK = 6,
    KC_LAYOUT_MAX_BITS = 20, // of one hardware dimension; all of them together have at most 31
    KC_LAYOUT_MAX_REPS = 32767,
};

typedef enum {
    KC_LAYOUT_REGISTER,
    KC_LAYOUT_LANE,
    KC_LAYOUT_WARP,
    KC_LAYOUT_BLOCK,  // of a cluster
    KC_LAYOUT_OFFSET, // in elements; memory layouts have this one alone
    KC_LAYOUT_PLACES,
} kc_layout_place;

typedef struct kc_layout {
    uint8_t rank;
    bool memory;
    uint8_t log_tile[KC_LAYOUT_MAX_RANK]; // the linear part's extents
    uint16_t reps[KC_LAYOUT_MAX_RANK];    // odd
    uint8_t bits[KC_LAYOUT_PLACES];
    // Vectors as flat coordinates: the bits of all dimensions side by side, the last dimension
    // lowest.
    uint32_t basis[KC_LAYOUT_PLACES][KC_LAYOUT_MAX_BITS];
} kc_layout;

// NULL when the layout is valid, else what is wrong. For text and layouts made by hand.
const char *kc_layout_check(const kc_layout *);

// A plain matrix over GF(2): column[i] is what input bit i adds.
typedef struct {
    int ins;
    uint32_t column[32];
} kc_linear;

uint32_t kc_linear_apply(const kc_linear *, uint32_t in);
kc_linear kc_linear_compose(const kc_linear *outer, const kc_linear *inner); // outer(inner(x))

// ---- making layouts -----------------------------------------------------------------------------

// The standard distributed layout: each thread holds size_per_thread neighbours, lanes and warps
// (and blocks) continue, all in `order` (order[0] is the fastest dimension). Threads beyond the
// tile replicate it; what the tile has beyond the threads goes to further registers and
// repetitions. All sizes but the shape are powers of two.
typedef struct {
    int rank;
    int shape[KC_LAYOUT_MAX_RANK];
    int size_per_thread[KC_LAYOUT_MAX_RANK], lanes[KC_LAYOUT_MAX_RANK], warps[KC_LAYOUT_MAX_RANK];
    int blocks[KC_LAYOUT_MAX_RANK]; // 0 is taken as 1
    int order[KC_LAYOUT_MAX_RANK];
} kc_layout_blocked_spec;
const char *kc_layout_blocked(kc_layout *out, const kc_layout_blocked_spec *);

// Offsets in `order`, order[0] fastest (NULL: row-major).
const char *kc_layout_memory(kc_layout *out, int rank, const int *shape, const int *order);

// The fragment repeated over a larger shape by registers (offsets) and repetitions, in `order`
// (NULL: row-major). Each extent is a multiple of the fragment's, whose repetitions are all 1.
const char *kc_layout_extend(kc_layout *out, const kc_layout *fragment, const int *shape,
                             const int *order);

// ---- asking -------------------------------------------------------------------------------------

int kc_layout_extent(const kc_layout *, int dim);
uint32_t kc_layout_count(const kc_layout *, kc_layout_place); // registers, offsets: all repetitions
// coordinates[rank] of a place (an index per hardware dimension; unused ones are ignored).
void kc_layout_apply(const kc_layout *, const uint32_t place[KC_LAYOUT_PLACES], int *coordinates);
bool kc_layout_equal(const kc_layout *, const kc_layout *);
uint64_t kc_layout_hash(const kc_layout *);
bool kc_layout_same_shape(const kc_layout *, const kc_layout *);
bool kc_layout_is_surjective(const kc_layout *); // every element is somewhere
// Which bits of a hardware dimension lead only to copies, registers before lanes before warps
// before blocks. Places where all these bits are 0 hold every element that is somewhere exactly
// once.
uint32_t kc_layout_replicas(const kc_layout *, kc_layout_place);
// The longest aligned run of elements along `dim` that each thread holds, a power of two; the
// registers of a run are those whose vectors are 1, 2, 4 ... along dim.
int kc_layout_run(const kc_layout *, int dim);

// ---- algebra (of the linear parts) --------------------------------------------------------------

// The whole linear part, hardware bits side by side, registers lowest, to flat coordinates.
kc_linear kc_layout_linear(const kc_layout *);
// Flat coordinates to the one place that has no replica bit set; surjective layouts only.
kc_linear kc_layout_invert(const kc_layout *);
// Each element of `outer` replaced by a whole `inner`, which has no repetitions. Hardware bits:
// inner's, then outer's.
const char *kc_layout_product(kc_layout *out, const kc_layout *inner, const kc_layout *outer);
// The outer with product(inner, outer) == whole.
const char *kc_layout_divide(kc_layout *out, const kc_layout *whole, const kc_layout *inner);
// Extent `dim` becomes 1; its bits become replicas (register bits are dropped instead when
// `compact`).
kc_layout kc_layout_slice(const kc_layout *, int dim, bool compact);
// Extent `dim`, now 1, becomes `extent`: every thread holds all of it in further registers.
const char *kc_layout_expand(kc_layout *out, const kc_layout *, int dim, int extent);
// Dimension i of the result is dimension permutation[i].
kc_layout kc_layout_permute(const kc_layout *, const int *permutation);
// The same threads and coordinates in a tile of the extents of `whole`, which are not smaller: where
// a part that begins at 0 is read from. Not surjective, unless the extents are equal.
const char *kc_layout_inside(kc_layout *out, const kc_layout *part, const kc_layout *whole);
// Dimension i of the layout becomes dimension dims[i] of `rank`; the others have extent 1.
const char *kc_layout_embed(kc_layout *out, const kc_layout *, int rank, const int *dims);
// Row-major order is kept; without repetitions only.
const char *kc_layout_reshape(kc_layout *out, const kc_layout *, int rank, const int *shape);

// ---- conversions --------------------------------------------------------------------------------

// What has to move so that a tile in `from` is found in `to`, cheapest first.
typedef enum {
    KC_CONVERT_NOTHING,   // each place already holds its element
    KC_CONVERT_REGISTERS, // each thread renames or copies its own registers
    KC_CONVERT_SHUFFLE,   // lanes of one warp exchange
    KC_CONVERT_SHARED,    // warps of one block exchange
    KC_CONVERT_CLUSTER,   // blocks exchange
    KC_CONVERT_NEVER,     // shapes differ, or `from` lacks an element
} kc_convert_kind;
kc_convert_kind kc_layout_convert_kind(const kc_layout *from, const kc_layout *to);
// For NOTHING to CLUSTER: the place in `from` to fetch from, for each place in `to` (both as in
// kc_layout_linear; the repetition stays). It leaves as much as possible as it is: warps stay for a
// shuffle, lanes for registers.
kc_linear kc_layout_source(const kc_layout *from, const kc_layout *to);

// ---- shared memory ------------------------------------------------------------------------------

// Memory layouts here are surjective, and threads and memory have one shape.

// Place of `threads` to offset in `memory`, for one repetition; further ones add the linear part's
// size.
kc_linear kc_layout_access(const kc_layout *threads, const kc_layout *memory);

// Whether registers 0 to n - 1 of each thread, and all further groups of n, lie side by side in
// memory, in their order, at multiples of n. n is a power of two.
bool kc_layout_run_in(const kc_layout *threads, const kc_layout *memory, int n);

// What it costs one warp to move all its registers to or from memory with the widest vectors that
// fit (16 bytes at most). Banks are 4 bytes wide; lanes whose vectors fill all banks once go
// together (32 banks: 32 lanes of 4 bytes, 16 of 8, 8 of 16); equal words are fetched once.
// conflicts: wavefronts above one for each such group.
typedef struct {
    int vector_bytes;
    int64_t instructions, wavefronts, conflicts;
} kc_layout_cost;
kc_layout_cost kc_layout_access_cost(const kc_layout *threads, const kc_layout *memory,
                                     int element_bytes, int banks);
// The memory layout with the fewest wavefronts of writer and reader together, then the fewest
// instructions. element_bytes is 1, 2, 4, 8 or 16; banks a power of two (32, or 64). The first
// `kept` registers of the writer (a power of two, 16 bytes at most) lie side by side, in their
// order, as copies that pass no register need them; 1: it does not matter.
const char *kc_layout_choose_memory(kc_layout *out, const kc_layout *writer,
                                    const kc_layout *reader, int element_bytes, int banks,
                                    int kept);

// ---- matrix loads -------------------------------------------------------------------------------

// NVIDIA's ldmatrix gives each thread of a warp a word (4 bytes) of each of one, two or four 8 x 8
// matrices of 16-bit elements. Lane l points at a row of 16 bytes: row l % 8 of matrix l / 8.
// Register j of the result is from matrix j: lane l gets the word l % 4 of row l / 4; or, when the
// matrix is transposed as it comes, the elements l / 4 of rows 2 * (l % 4) and 2 * (l % 4) + 1.
// (PTX ISA, ldmatrix.)
//
// So a tile that shall stand in `threads` can come by ldmatrix when its first registers and lanes
// are spread like that. *rows is then how the rows are read: each lane takes 16 bytes (its first
// registers), and the lanes beyond the matrices that there are repeat the first. What it costs, and
// which memory layout suits it, the functions above say of *rows as of any layout of threads.
typedef enum { KC_MATRIX_PLAIN, KC_MATRIX_TRANSPOSED } kc_matrix_order;
// NULL, or why it cannot be; *matrices are 1, 2 or 4 an instruction.
const char *kc_layout_matrix_rows(kc_layout *rows, int *matrices, const kc_layout *threads,
                                  int element_bytes, kc_matrix_order);
// Whether `memory` holds each of the rows in one piece, so that a lane can point at it.
bool kc_layout_rows_in(const kc_layout *rows, const kc_layout *memory, int element_bytes);

// ---- text ---------------------------------------------------------------------------------------

// `#layout<tile: 16x8, reg: [0,1] [8,0], lane: ..., warp: ..., block: ..., rep: 1x3>`: tile is the
// linear part; dimensions without bits and all-1 repetitions are left out. print returns the length
// that the whole text needs, as snprintf. parse: false on error, with *error a static sentence and
// *error_at the offset.
size_t kc_layout_print(const kc_layout *, char *buffer, size_t size);
bool kc_layout_parse(kc_layout *out, const char *text, size_t length, const char **error,
                     size_t *error_at);

#endif
