// The verifier's state and the functions its files share. A check reports every violation that it
// finds.
#ifndef KC_IR_VERIFY_H
#define KC_IR_VERIFY_H

#include "ir/internal.h"
#include "ir/map.h"

typedef struct kc_check_scope {
    struct kc_check_scope *outer;
    kc_map *defined; // values; the map holds the value itself
    bool isolated;
} kc_check_scope;

typedef struct {
    const kc_module *module;
    int level;
    kc_diag *diag;
    kc_arena *scratch;
    kc_check_scope *scope;
    kc_expr_pool *pool;  // of the op that is checked
    const kc_op *func;   // that it is in
    const kc_op *kernel; // that it is in, or NULL
    int kernel_rank;     // of the tiles met in the kernel so far, 0: none
    int errors;
} kc_checker;

void kc_check_fail(kc_checker *, const kc_op *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// In kernels, at a tile level: tile IR is expected.
static inline bool kc_check_in_tile_form(const kc_checker *c) {
    return c->kernel && (c->level & KC_LEVEL_ALL_TILE);
}

// Types as the pool of the checked op sees them: a variant has another pool than the function's
// arguments are typed in.
const kc_type *kc_check_type(kc_checker *, const kc_type *, const kc_expr_pool *);
const kc_type *kc_check_operand(kc_checker *, const kc_op *, int i);
static inline const kc_type *kc_check_result(const kc_op *op, int i) {
    return &op->results[i]->type;
}

bool kc_check_same(const kc_checker *, const kc_expr *, const kc_expr *); // proved equal
bool kc_check_scalar(const kc_type *, kc_dtype); // rank 0; KC_DTYPE_NONE: any element type
bool kc_check_results(kc_checker *, const kc_op *, int expected);
bool kc_check_axis(kc_checker *, const kc_op *, int rank); // attribute axis
bool kc_check_axes(kc_checker *, const kc_op *, int rank,
                   bool reduced[KC_MAX_RANK]); // attribute axes, ascending
// Operand i is of that kind, with `what` for its name in the message.
bool kc_check_kind(kc_checker *, const kc_op *, const kc_type *, kc_type_kind, const char *what);
// A tensor in memory: 4-bit elements have rules, see kc_type_packing.
void kc_check_packing(kc_checker *, const kc_op *, const kc_type *, const char *what);
const kc_op *kc_check_terminator(
    const kc_op *); // of the op's body: its last op when that ends regions, else NULL

// Facts that belong to one op: verify_plan.c, verify_tensor.c, verify_composite.c, verify_tile.c,
// verify_async.c.
// They may trust that operand counts, attributes and types are well formed.
typedef void kc_check_facts(kc_checker *, const kc_op *);
kc_check_facts *kc_check_plan_facts(kc_opcode), *kc_check_tensor_facts(kc_opcode),
    *kc_check_composite_facts(kc_opcode), *kc_check_tile_facts(kc_opcode),
    *kc_check_async_facts(kc_opcode);
// Buffer, coordinates and mask (segments base_segment to base_segment + 2) of an access to global
// memory that moves the tile; buffer (operand `buffer`), stage and offsets of one to shared memory.
void kc_check_access(kc_checker *, const kc_op *, const kc_type *tile, int base_segment);
void kc_check_shared_access(kc_checker *, const kc_op *, const kc_type *tile, int buffer,
                            int stage_segment);
void kc_check_copies(kc_checker *, const kc_op *kernel); // that waits and barriers order them
kc_check_facts kc_check_scan, kc_check_scan_carry; // verify_scan.c
// The region combines two tuples of n scalars that have the element types of operands 0 to n - 1.
void kc_check_combiner(kc_checker *, const kc_op *, int n);
void kc_check_region_yields(kc_checker *, const kc_op *, int n, const kc_type *const *types);

#endif
