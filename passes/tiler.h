// Shared by the files of the tile pass: the state of one kernel while it is turned from tensor IR
// into tile IR.
//
// The pass is demand-driven. It asks for the value of each output at the coordinates of a tile; an
// elementwise op asks its operands at the same coordinates, a movement op at changed ones, an input
// is loaded, a reduction or contraction opens its axis. What was asked before at the same
// coordinates is the same value: that is why a fused row is read once.
#ifndef KC_PASSES_TILER_H
#define KC_PASSES_TILER_H

#include "passes/movement_map.h"
#include "passes/pass.h"

// One axis of the kernel's iteration space.
typedef struct {
    const kc_expr *extent;
    const kc_expr *part,
        *parts;   // it is a row of `parts` of extent `part`, and no tile spans two; NULL: it is one
    int64_t tile; // elements a program (or a loop step) covers; 1: not tiled
    bool paired;  // the tile is even: an output of 4-bit elements runs along it
    bool reduced; // opened by a loop or held whole; else split over programs
    // reductions reduce along it; those of a product find it whole in each of its tiles
    bool folded;
    int slot;     // dimension of this axis in tile types; -1 when the tile is 1
    kc_value *base;   // first index of the current tile, i64 scalar; NULL is 0
    kc_value *local;  // offsets inside the tile, an iota; NULL is 0
    kc_value *mask;   // which offsets are inside the extent; NULL: all
    kc_value *number; // of the part that the tile lies in, i64 scalar; NULL is 0
} kc_axis;

// The index along one dimension of a tensor: base + local.
typedef struct {
    kc_value *base;  // i64 scalar; NULL is 0
    kc_value *local; // i32 or i64 tile or scalar; NULL is 0
    unsigned axes;   // bit set of the axes whose offsets it varies with
} kc_coord;

typedef struct {
    const kc_value *value;
    const kc_value *predicate;
    kc_coord coords[KC_MAX_RANK];
    kc_value *result;
} kc_memo;

// What a carrying op made of coordinates.
typedef struct {
    const kc_op *op;
    kc_coord from[KC_MAX_RANK], to[KC_MAX_RANK];
} kc_carried;

typedef struct {
    const kc_expr *expr;
    int64_t integer;
    kc_dtype dtype;
    kc_value *result;
} kc_scalar_memo;

// A scan whose prefixes go on from one chunk of its axis to the next.
typedef struct {
    kc_op *op;
    kc_value **carry, **next; // the totals before this chunk, and with it: one a component
} kc_open_scan;

typedef struct {
    kc_pass_context *pass;
    kc_op *kernel;
    kc_block *source; // the body in tensor form
    kc_expr_pool *pool;
    kc_builder build;
    kc_axis axes[KC_MAX_RANK];
    int n_axes, rank;      // rank: number of tiled axes, that of every tile
    int row_axis;          // of a contraction: that the rows of its blocks run along, or -1
    int walked;            // the axis that a program walks along, or -1
    const kc_expr *stride; // tiles of the walked axis that a program takes
    kc_op *walk;           // the loop over them
    bool rows_whole;       // axes that reductions reduce fit one tile
    bool parted; // the results are concatenations of equal parts, and the space is that of a part
    kc_memo *memo;
    int n_memo, memo_capacity;
    kc_scalar_memo *scalars;
    int n_scalars, scalars_capacity;
    // by op order of the source: the movement op that carried its result away, or NULL
    kc_op **carriers;
    kc_carried *carried;
    int n_carried, carried_capacity;
    kc_op *reduction, *contraction; // the first of each in the source, or NULL
    // of the contraction, before axes were joined: the result's dimensions, then those summed over
    kc_type space;
    int n_parallel;      // dimensions of the result in it
    int own[KC_MAX_RANK]; // under reductions: the axes of the result's dimensions
    bool own_known;       // else they are the axes in order
    int *levels;         // by op order of the source: how many reductions in a row lead to it
    kc_open_scan *scans; // of the loop over chunks that is being filled
    int n_scans;
    bool trial; // what is emitted now will be dropped: only its types matter
} kc_tiler;

// ---- tile.c
bool kc_tiler_shares_memory(const kc_tiler *); // an output may occupy an input's memory
void kc_tiler_find_parts(kc_tiler *);          // sets `parted`

// ---- tile_collapse.c: fewer axes, where memory allows; changes the tensor form
void kc_tiler_collapse(kc_tiler *);

// ---- tile_axes.c: the iteration space, tile extents and warps of a kernel
bool kc_tiler_choose_axes(kc_tiler *);
int64_t kc_tiler_whole(const kc_tiler *, int axis); // the tile that would cover the axis
int kc_tiler_plain_axes(const kc_tiler *, const kc_type *,
                        int *axes); // of a value whose dimensions are axes; its rank

// ---- tile_blocks.c: the tile of a contraction
// sets the tiles of its axes; its warps. 0: an error was reported
int kc_tiler_choose_blocks(kc_tiler *);
// wishes of the schedule; false: an error was reported
bool kc_tiler_check_blocks(kc_tiler *, const kc_attr *tile);
// held at a time by a block, of any kernel
bool kc_tiler_fits_registers(kc_tiler *, int64_t elements);
// The axis of the last of these dimensions of the contraction that has more than one element, or
// -1. What lies between it and the results may drop and add extents of 1.
int kc_tiler_axis_of(const kc_tiler *, unsigned dims);

// ---- tile_values.c: scalars, tiles and coordinates
kc_value *kc_tiler_int(kc_tiler *, kc_dtype, int64_t);
kc_value *kc_tiler_sym(kc_tiler *, const kc_expr *); // i64
kc_type kc_tiler_type(const kc_tiler *, kc_dtype,
                      unsigned axes); // a tile that varies along these axes
kc_value *kc_tiler_widen(kc_tiler *, kc_value *,
                         unsigned axes); // the same values, repeated to vary along axes
void kc_tiler_make_offsets(kc_tiler *);  // the iotas, before any loop
void kc_tiler_open_axes(kc_tiler *, kc_value *index,
                        bool reduced); // sets base, local and mask from a linear tile index
const kc_expr *kc_tiler_tiles(kc_tiler *, int axis); // how many tiles cover the axis
const kc_expr *kc_tiler_steps(kc_tiler *,
                              bool reduced); // how many programs, or steps, cover those axes
void kc_tiler_open_axis(kc_tiler *, int axis,
                        kc_value *index); // one of them, from the index of its tile
kc_coord kc_tiler_axis_coord(const kc_tiler *, int axis);
kc_value *kc_tiler_mask(kc_tiler *, unsigned axes, kc_value *predicate); // conjunction, or NULL
kc_value *kc_tiler_coord_value(kc_tiler *, kc_coord, kc_dtype); // base + local as one value
kc_coord kc_tiler_coord_add(kc_tiler *, kc_coord, const kc_expr *);
kc_coord kc_tiler_coord_scale(kc_tiler *, kc_coord, const kc_expr *, const kc_expr *extent);
kc_coord kc_tiler_coord_sum(kc_tiler *, kc_coord, kc_coord);

// ---- tile_walk.c: programs that take several tiles in turn
void kc_tiler_walk(kc_tiler *, int axis,
                   int warps); // decides the stride; nothing to do when one tile covers the axis
void kc_tiler_begin_walk(kc_tiler *); // around what a program does for each tile
void kc_tiler_end_walk(kc_tiler *);

// ---- tile_raster.c
kc_value *kc_tiler_raster(kc_tiler *, kc_value *program); // the number of the tile that it takes

// ---- tile_emit.c: values at coordinates
kc_value *kc_tiler_emit(kc_tiler *, kc_value *, const kc_coord *, kc_value *predicate);
bool kc_tiler_same_coords(const kc_coord *, const kc_coord *, int rank);
kc_value *kc_tiler_find(kc_tiler *, const kc_value *, const kc_coord *, const kc_value *predicate);
void kc_tiler_remember(kc_tiler *, const kc_value *, const kc_coord *, const kc_value *predicate,
                       kc_value *result);
typedef struct {
    int memo, scalars, carried;
} kc_tiler_scope;
kc_tiler_scope kc_tiler_enter(const kc_tiler *); // what is made inside a loop is forgotten
void kc_tiler_leave(kc_tiler *, kc_tiler_scope); // when the loop ends
// Copies the ops of a scalar region with its arguments replaced by `args`; gives what it yields.
void kc_tiler_inline(kc_tiler *, kc_block *, kc_value *const *args, kc_value **results);

// ---- tile_movement.c: the index map of each movement op. NULL: not such an op
typedef kc_value *(*kc_movement)(kc_tiler *, kc_op *, const kc_coord *, kc_value *predicate);
kc_movement kc_tiler_movement(kc_opcode);
// Where an operand of a concat, slice or pad is asked for, and the flags for where it is asked at
// all; NULL: everywhere.
kc_value *kc_tiler_shift(kc_tiler *, kc_op *, int operand, const kc_coord *, kc_coord *from);
kc_value *kc_tiler_both(kc_tiler *, kc_value *, kc_value *); // their conjunction; NULL is true
// The coordinates of a reshape's operand from those of its result.
void kc_tiler_reshape_coords(kc_tiler *, const kc_type *from_type, const kc_type *to_type,
                             const kc_coord *to, kc_coord from[KC_MAX_RANK]);

// ---- tile_keep.c: what changes of a tensor that is updated in place
// `mask`: where there is something to store, NULL: everywhere; `none`: nowhere, and there is no
// value.
typedef struct {
    kc_value *value, *mask;
    bool none;
} kc_change;
// The value at the coordinates, as the next content of a buffer that holds `old` there; old NULL:
// of any buffer.
kc_change kc_tiler_change(kc_tiler *, kc_value *, const kc_value *old, const kc_coord *);

// ---- tile_contract.c: contractions
// Each is a product of two factors: 0 varies along the rows of a block of the result,
// 1 along its columns, both along k, which stands for all dimensions that are summed over.
typedef struct {
    kc_value *value;          // the operand
    kc_coord at[KC_MAX_RANK]; // its coordinates
    kc_value *predicate;      // where there is such an element; elsewhere it is 0. NULL: everywhere
} kc_factor;

typedef struct {
    int operand[2];                          // which operands the factors are
    void (*space)(const kc_op *, kc_type *); // appends the dimensions summed over to the result's
    unsigned (*own)(const kc_type *result,
                    int factor); // dimensions of the result that the factor varies along
    kc_factor (*factor)(kc_tiler *, kc_op *, int factor, const kc_coord *result, kc_coord k);
    const kc_expr *(*parts)(const kc_op *); // into how many parts dimension `row` falls; NULL: one
    int row;
    int64_t (*chunk)(const kc_tiler *); // an extent of tiles along k that suits it; NULL: any
    int joins; // the dimension of the result that may be joined with the next
    bool (*along)(const kc_op *, int factor,
                  int *axes); // which dimensions of the space the factor's are, -1: none of
                              // them. False: it keeps its shape. No function: all keep theirs
} kc_contraction;
const kc_contraction *kc_tiler_contraction(const kc_op *);
extern const kc_contraction kc_tiler_conv2d;     // tile_conv.c
void kc_tiler_find_contraction(kc_tiler *);      // sets contraction, space and n_parallel
void kc_tiler_find_own_axes(kc_tiler *);         // when the axes are those of a reduction's operand
const kc_expr *kc_tiler_depth(const kc_tiler *); // the extent of k
kc_value *kc_tiler_emit_contraction(kc_tiler *, kc_op *, const kc_coord *, kc_value *predicate);

// ---- tile_carried.c: results that movement ops carry away from the kernel's axes
void kc_tiler_find_carriers(kc_tiler *); // before the others; numbers the ops of the source
// The axis that each dimension of a result runs along, as far as there is one; -1. Gives the rank.
int kc_tiler_result_axes(const kc_tiler *, kc_value *result, int *axes);
int kc_tiler_result_coords(kc_tiler *, kc_value *result, kc_coord *);
// The value before it is carried anywhere: its dimensions are axes.
kc_value *kc_tiler_uncarried(const kc_tiler *, kc_value *result);
// Whether these are the coordinates that the carrying op gave its result: then those of its
// operand.
bool kc_tiler_carried_from(const kc_tiler *, const kc_op *, const kc_coord *to, kc_coord *from);

// ---- tile_reduce.c
void kc_tiler_emit_reductions(kc_tiler *);
kc_value *kc_tiler_emit_reduce(kc_tiler *, kc_op *, int result, const kc_coord *);
kc_value *kc_tiler_begin_range(kc_tiler *, kc_value *lower, kc_value *upper, int n,
                               kc_value *const *init, kc_op **loop);
kc_value *kc_tiler_begin_loop(kc_tiler *, const kc_expr *steps, int n, kc_value *const *init,
                              kc_op **loop);            // from 0
unsigned kc_tiler_axes(const kc_tiler *, bool reduced); // set of those axes
unsigned kc_tiler_folded(const kc_tiler *);             // those that reductions reduce along
kc_value *kc_tiler_identity(kc_tiler *, const kc_op *, int component, kc_type);
void kc_tiler_build_combiner(
    kc_tiler *, kc_op *, const kc_op *source); // init and region of a reduction or scan of tiles
void kc_tiler_end_loop(kc_tiler *, kc_op *loop, int n, kc_value *const *next);

// ---- tile_scan.c
kc_value *kc_tiler_emit_scan(kc_tiler *, kc_op *, int result, const kc_coord *);
// A loop over the chunks of the reduced axes. It carries n values of the caller, and the totals of
// the scans that the roots need: values of the source that will be asked for inside.
typedef struct {
    kc_value *roots[4 * KC_MAX_RANK];
    int n_roots;
    kc_op *loop; // set by begin
    kc_tiler_scope scope;
} kc_chunks;
void kc_tiler_begin_chunks(kc_tiler *, kc_chunks *, int n, kc_value *const *init);
void kc_tiler_end_chunks(kc_tiler *, kc_chunks *, int n, kc_value *const *next);

#endif
