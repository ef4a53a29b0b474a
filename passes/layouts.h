// Shared by the files of the layout pass.
//
// A context is a layout of the kernel's whole space (the largest extents of its tiles). Every tile
// belongs to a context, and its layout is the context's projection to the tile's own extents. A
// tile used in another context is made again there when that is cheap (coordinates and masks), else
// converted.
#ifndef KC_PASSES_LAYOUTS_H
#define KC_PASSES_LAYOUTS_H

#include "passes/axis_info.h"
#include "passes/pass.h"
#include "targets/mma.h"

typedef struct {
    kc_layout space;
} kc_context;

typedef struct kc_placed {
    kc_context *context;
    struct kc_copy {
        const kc_context *context;
        kc_block *block;
        kc_value *value;
        struct kc_copy *next;
    } * copies;
} kc_placed; // value->data

typedef struct {
    kc_pass_context *pass;
    kc_op *kernel;
    kc_expr_pool *pool;
    int rank, warps, lanes;
    int64_t extent[KC_MAX_RANK]; // of the space
    kc_op *dot;                  // the first, or NULL
    kc_context *main;
} kc_layouts;

// ---- layout_place.c: projections, interning, access properties
const kc_layout *kc_layouts_intern(kc_layouts *, const kc_layout *);
kc_layout kc_layouts_project(const kc_layouts *, const kc_layout *space, const kc_type *);
void kc_layouts_place(kc_layouts *, kc_value *, kc_context *); // sets the type's layout
kc_context *kc_layouts_context(kc_layouts *, const kc_layout *space);
kc_access kc_layouts_access(kc_layouts *, const kc_op *load_or_store);
// Threads along `fast` first, `vector` elements each; then the other dimensions, last first,
// `later` last of all.
kc_layout kc_layouts_coalesced(const kc_layouts *, const int64_t *extent, int fast, int64_t vector);
// The same with `run` such vectors a thread, neighbours along another dimension.
kc_layout kc_layouts_coalesced_blocks(const kc_layouts *, const int64_t *extent, int fast,
                                      int64_t vector, int other, int64_t run);

// ---- layout.c
// Of a load or store of such a tile: the main one, or one of its own where the main one would touch
// sectors of memory in part.
kc_context *kc_layouts_access_context(kc_layouts *, const kc_op *, const kc_type *);

// ---- layout_epilogue.c
// Gives what follows the loops of products the contexts of their stores, where that saves turning
// tiles.
void kc_layouts_claim_epilogue(kc_layouts *, kc_block *);

// ---- layout_shared.c: through shared memory
kc_value *kc_layouts_alloc(kc_layouts *, kc_loc, const kc_type *tile, const kc_layout *memory);
// Where elements lie in shared memory: so that writer and reader are fast, or, where the schedule
// gives `swizzle`, row by row with chunks that change places within so many bytes. kept: as of
// kc_layout_choose_memory.
kc_layout kc_layouts_memory(const kc_layouts *, const kc_layout *writer, const kc_layout *reader,
                            int element_bytes, int kept);
// The value in another layout, by the cheapest way there is.
kc_value *kc_layouts_convert(kc_layouts *, kc_builder *, kc_value *, const kc_layout *to);

// ---- layout_reduce.c, layout_dot.c: ops that need more than one layout
void kc_layouts_split_reduce(kc_layouts *, kc_op *);
// Of an operand in layout `from`: one value a warp along the axes, at its place among the warps. Of
// a result: with as many parts as `partial` has, held by every thread.
kc_layout kc_layouts_partial(const kc_layout *from, const kc_attr *axes);
kc_layout kc_layouts_gathered(const kc_layout *result, const kc_layout *partial,
                              const kc_attr *axes);
void kc_layouts_clone_region(kc_layouts *, kc_op *from, kc_op *to); // attributes and region
// The results of `old` from `first` on are those of `made`, but for what moves them between
// layouts.
void kc_layouts_use_instead(kc_op *old, int n, kc_op *made);
// ---- layout_scan.c
int kc_layouts_scanned(const kc_block *); // the dimension that the kernel scans along, or -1
// `space` with the `warps` that divide the dimension moved to its highest coordinate bits.
kc_layout kc_layouts_warps_last(const kc_layouts *, const kc_layout_blocked_spec *space, int dim);
void kc_layouts_split_scan(kc_layouts *, kc_op *);

// ---- layout_dot.c: products; layout_fma.c and layout_mma.c say what a unit's operands look like
kc_layout kc_layouts_accumulator(const kc_layouts *, const kc_op *dot);
void kc_layouts_feed_dot(kc_layouts *, kc_op *);
int kc_layouts_own_dimension(const kc_op *dot, int operand);

// How a warp takes an operand from shared memory: `steps` of the contracted axis at a time.
typedef struct {
    int64_t steps;
    kc_layout step, whole; // of such a part, and of all parts together
} kc_feed;
kc_layout kc_layouts_fma_accumulator(const kc_layouts *, const kc_op *dot);
void kc_layouts_fma_feeds(const kc_layouts *, const kc_op *dot, kc_feed feeds[2]);
const kc_mma *kc_layouts_instruction(const kc_layouts *, const kc_op *dot); // NULL on FMA units
kc_layout kc_layouts_mma_accumulator(const kc_layouts *, const kc_op *dot);
void kc_layouts_mma_feeds(const kc_layouts *, const kc_op *dot, kc_feed feeds[2]);
// Neighbours along the contracted axis that a warp must find side by side in shared memory; 1: any
// order will do.
int64_t kc_layouts_wanted_run(const kc_layouts *, const kc_op *dot);

#endif
