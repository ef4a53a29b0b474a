// Shared by the files of the fuse pass.
#ifndef KC_PASSES_FUSER_H
#define KC_PASSES_FUSER_H

#include "passes/movement_map.h"
#include "passes/pass.h"

enum { MAX_RESULTS = 16, FIRST_CARRIED = 64, MOST_HEAVY = 8 };

// The axes of an op's operand and result. Dimensions that are no axis of the space get numbers of
// their own, from FIRST_CARRIED.
typedef struct kc_fuse_carried {
    const kc_op *op;
    int from[KC_MAX_RANK], to[KC_MAX_RANK];
    struct kc_fuse_carried *next;
} kc_fuse_carried;

typedef struct {
    kc_value *results[MAX_RESULTS];
    int n_results;
    kc_op *hero;          // the first reduction or the contraction; NULL for a map
    // the contraction whose result the reductions reduce in its kernel, or NULL
    kc_op *product;
    const kc_type *space; // F, or the shape of the results
    bool axis_reduced[KC_MAX_RANK];
    bool *ops;     // by op order: taken in
    int n_heavy;   // reductions and contractions among them, at most MOST_HEAVY
    bool *forward; // by op order: taken in as an op that carries its operand away (fuse_carry.c)
    kc_fuse_carried *carried; // what the ops between the hero and the result do to axes
    int (*maps)[KC_MAX_RANK]; // by op order: the axes its result was asked for along
    kc_value **inputs;
    int n_inputs;
    kc_op *built; // the FUSION op
    bool building;
} kc_cluster;

typedef struct {
    kc_pass_context *pass;
    kc_op *scope;
    const kc_op *func; // whose scope it is
    kc_expr_pool *pool;
    int n_ops;
    kc_cluster *clusters;
    int n_clusters;
    kc_value **cuts; // values that are stored between kernels
    int n_cuts;
    bool *apart;             // by op order: contractions that no reductions join
    int next_carried;        // the next number of a carried dimension
    const kc_value *forming; // the result that is being formed: a cut for everyone else
} kc_fuser;

// ---- fuse.c
bool kc_fuse_is_cut(const kc_fuser *, const kc_value *);
// Makes the last heavy op before the result whose space the result has the hero, and gives the
// result's axes. Without one the cluster is a map.
bool kc_fuse_find_hero(kc_fuser *, kc_cluster *, kc_value *result, int *axes);

bool kc_fuse_is_contraction(const kc_op *);
bool kc_fuse_is_heavy(const kc_op *); // that, or a reduction
// Whether the reduction reduces the same axes of a space of the cluster's shape.
bool kc_fuse_same_space(const kc_fuser *, const kc_cluster *, const kc_op *reduction);
void kc_fuse_add_input(kc_fuser *, kc_cluster *, kc_value *);
bool kc_fuse_has_result(const kc_cluster *, const kc_value *);

// Ops that heavy work may lie above: they keep axes in place.
bool kc_fuse_is_soft(const kc_fuser *, const kc_op *);
// Whether the heavy op can be part of the cluster when it is asked for along these axes.
bool kc_fuse_fits(const kc_fuser *, const kc_cluster *, const kc_op *, const int *axes);

// ---- fuse_join.c: reductions in the kernel of the product that they reduce
// The contraction that the cluster's reductions had best join, or NULL: its tiles hold all that is
// reduced together.
kc_op *kc_fuse_find_product(kc_fuser *, const kc_cluster *, kc_value *result, const int *axes);
// Whether op only cuts dimensions of its operand into parts, as `split` does; then the operand's
// axes. Adds the axes that count parts to *parts.
bool kc_fuse_into_parts(const kc_fuser *, const kc_op *, const int *axes, int *from,
                        unsigned *parts);
// Whether a contraction that the reductions joined is computed by another cluster as well; then
// none join it any more.
bool kc_fuse_repeats_product(kc_fuser *);

// ---- fuse_carry.c: movement ops between the hero and the result
// A hero further up, from which bijections that keep rows carry the result away: axes are those of
// the result.
bool kc_fuse_find_carried(kc_fuser *, kc_cluster *, kc_value *result, int *axes);
// Whether op does what a carrying op does with these axes; then the axes of its operand.
bool kc_fuse_carried_from(const kc_fuser *, const kc_cluster *, const kc_op *, const int *axes,
                          int *from);

// ---- fuse_merge.c
// Makes one of clusters that share what they read, as far as that may be.
void kc_fuse_merge(kc_fuser *);

// ---- fuse_repeat.c
// Whether a value that other ops read in place is too much to compute again where a movement op
// asks for it.
bool kc_fuse_repeats_much(kc_fuser *, const kc_value *);

#endif
