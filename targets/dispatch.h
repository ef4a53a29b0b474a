// Which hardware path carries out an op, by scope, layout and type. Passes ask what a choice of
// layouts would cost, code generation asks what to emit: the same function answers both.
#ifndef KC_TARGETS_DISPATCH_H
#define KC_TARGETS_DISPATCH_H

#include "ir/layout.h"
#include "targets/target.h"

typedef enum {
    KC_PATH_PLAIN,             // a vector a thread
    KC_PATH_MATRIX,            // ldmatrix
    KC_PATH_MATRIX_TRANSPOSED, // ldmatrix.trans
} kc_shared_path;

typedef struct {
    kc_shared_path path;
    kc_layout_cost cost;
    kc_layout rows; // of matrix paths: how rows are read, in the extents of the tile
    int matrices;   // of matrix paths: 1, 2 or 4 an instruction
} kc_shared_plan;

// Reading `tile`, a part of `memory` or all of it, from shared memory: the fewest wavefronts, then
// the fewest instructions.
kc_shared_plan kc_dispatch_shared_load(const kc_target *, const kc_layout *tile,
                                       const kc_layout *memory, int element_bytes);
// The memory layout that makes a writer and the best path of a reader cheapest together. kept: as of
// kc_layout_choose_memory.
const char *kc_dispatch_choose_memory(kc_layout *out, const kc_target *, const kc_layout *writer,
                                      const kc_layout *reader, int element_bytes, int kept);

#endif
