// The cost model of contractions: which tile, warps and stages suit a product on a target, and why.
//
// A roofline of one block's step along k: products against the unit's rate, fragments against the
// bandwidth of shared memory, conversions, instructions issued, tiles against the last cache; the
// longest of them limits. The step is repeated over k, by as many blocks as are resident, in as
// many waves as the grid takes; memory as a whole limits from below.
#ifndef KC_PASSES_COST_H
#define KC_PASSES_COST_H

#include "ir/ir.h"
#include "targets/target.h"

// What is multiplied: `batch` products of [m, k] and [k, n]. An extent that is not known is a
// likely one.
typedef struct {
    int64_t m, n, k, batch;
    int64_t cover[3]; // a tile larger than this would be empty in part whatever the sizes
    int64_t least[3]; // the smallest tile that the unit takes
    int64_t held;     // tiles of the result's size that are held beside the accumulator
    const kc_mma *instruction; // of tensor cores: the one that takes most of k
    kc_dtype elem, result;
    // loads are as wide as the target's; else an element each, in a register of its own
    bool vectors;
    bool direct;      // copies to shared memory pass no registers
    bool parted;      // tensor cores that drop bits take operands in two parts
    bool across[2];   // memory of the factor runs along m or n: a narrow tile takes sectors in part
    const char *unit; // "fma" or "tensor"
} kc_cost_problem;

// How. In a wish 0 is left open.
typedef struct {
    int64_t tile[3]; // m, n, k
    int64_t warps, stages;
} kc_cost_choice;

typedef enum {
    KC_COST_MATH,
    KC_COST_SHARED,
    KC_COST_CONVERT,
    KC_COST_ISSUE,
    KC_COST_CACHE,
    KC_COST_LATENCY,
    KC_COST_MEMORY,
    KC_COST_LIMITS
} kc_cost_limit;

typedef struct {
    kc_cost_choice choice;
    int64_t registers, shared; // of a thread, of a block
    int64_t blocks;            // resident on a multiprocessor
    int64_t programs;
    int64_t group; // rows of tiles that programs go down in turn; 1: they go along rows
    double waves, seconds;
    double score; // what plans are compared by: the time, and a little of what it hides
    kc_cost_limit limit;
} kc_cost_plan;

// Multiply-adds that a multiprocessor finishes in a cycle; 0: the unit does not take these
// elements.
int64_t kc_cost_rate(const kc_target *, const char *unit, kc_dtype elem);
// "tensor" where the target has an instruction for these types, and sets the smallest tile; else
// "fma".
void kc_cost_choose_unit(const kc_target *, kc_cost_problem *, const char *precision);
// Along what memory of the factors runs, as far as a contraction says.
void kc_cost_set_across(kc_cost_problem *, const kc_op *contraction);
// The problem of a matrix product, for best loads.
kc_cost_problem kc_cost_of_product(const kc_target *, kc_expr_pool *, const kc_op *matmul);
// The extent of a tile that holds a whole row (i = 1) or column (i = 0) of so many elements; 0:
// there is none.
int64_t kc_cost_whole_tile(const kc_cost_problem *, int i, int64_t extent);
// What a reduction holds of each element of a product beside it, in elements of the product:
// indices, for one.
int64_t kc_cost_held(const kc_op *reduction, kc_dtype result);
// Whether reductions of a product are best made by its kernel, whose tiles are as `whole` says (0:
// as they like), rather than by a kernel that reads the product.
bool kc_cost_joins(const kc_target *, const kc_cost_problem *, const kc_cost_choice *wish,
                   const int64_t whole[2]);
// Whether the elements of factor i of a product reach shared memory as they lie in memory.
bool kc_cost_direct(const kc_target *, const kc_op *product, int i);
// The best plans first, at most `most` of those that fit and agree with the wish. Gives their
// number.
int kc_cost_rank(const kc_target *, const kc_cost_problem *, const kc_cost_choice *wish,
                 kc_cost_plan *best, int most);
// Into how many parts of k the product is best cut, their sums being added up by a kernel of their
// own; 1: it stays whole.
int64_t kc_cost_parts(const kc_target *, const kc_cost_problem *, const kc_cost_choice *wish);
// Why a choice cannot be built: what it needs and the limit. NULL: it can.
const char *kc_cost_misfit(kc_arena *, const kc_target *, const kc_cost_problem *,
                           const kc_cost_choice *);
// What a schedule entry, or the kernel that it was copied to, wishes.
kc_cost_choice kc_cost_wish(const kc_op *, const kc_cost_problem *);
// The extent of a dimension as the model takes it.
int64_t kc_cost_likely(kc_expr_pool *, const kc_expr *);

// For people: the work, the machine's peaks, then a line a plan.
const char *kc_cost_text(kc_arena *, const kc_target *, const kc_cost_problem *,
                         const kc_cost_plan *, int n);

#endif
