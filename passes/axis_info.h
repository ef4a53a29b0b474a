// What is known of an integer or flag tile without running it: how its elements follow each other
// along each dimension.
//
// A group is a run of consecutive positions along one dimension that starts at a multiple of its
// length.
#ifndef KC_PASSES_AXIS_INFO_H
#define KC_PASSES_AXIS_INFO_H

#include "ir/ir.h"

typedef struct {
    int64_t contiguity[KC_MAX_RANK]; // groups of this many elements go up by one
    int64_t constancy[KC_MAX_RANK];  // groups of this many elements are equal
    int64_t divisor; // power of two that divides the first element of each contiguous group
} kc_axis_info;

kc_axis_info kc_axis_info_of(kc_expr_pool *, const kc_value *, int rank);

// How a load or store walks through memory.
typedef struct {
    int fast; // tile dimension along which neighbours are neighbours in memory; -1: none
    int near; // dimension along which most neighbours lie closest together in memory; -1: unknown
    int64_t
        vector; // elements that can go in one access, by alignment, contiguity and mask; at least 1
    int64_t elements;
} kc_access;

// `aligned`: the buffer's base is a multiple of 16 bytes. `widest`: of an access, in bytes.
kc_access kc_access_of(kc_expr_pool *, const kc_op *load_or_store, bool aligned, int64_t widest);

// Groups of this many positions along dimension `d` of the tile read one element under one mask.
int64_t kc_access_same(kc_expr_pool *, const kc_op *load, int d);

#endif
