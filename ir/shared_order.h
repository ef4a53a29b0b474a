// What orders the accesses of a kernel to shared memory, and what does not.
//
// Accesses conflict when they touch the same bytes and one of them writes. A barrier between them
// orders them. An asynchronous copy writes from its issue until each of its threads has waited for
// its group, and like any write it is seen by others after a barrier only, behind that wait.
//
// The walk follows the kernel from its start, and a loop turn by turn, until its rings of buffers
// have come round: stages are known as (base, offset, modulus), so that in one turn k mod 3 and
// (k + 2) mod 3 are apart, and k mod 3 of this turn is (k + 1) mod 3 of the turn before. A stage
// that is no such remainder may be any. Where a loop may end, and after a condition, what may have
// happened is joined.
#ifndef KC_IR_SHARED_ORDER_H
#define KC_IR_SHARED_ORDER_H

#include "ir/ir.h"

typedef struct {
    kc_value *buffer, *stage; // stage NULL: the whole buffer
    bool write;
} kc_shared_access;

// False: the op does not touch shared memory.
bool kc_shared_access_of(const kc_op *, kc_shared_access *);

// Told of each pair that nothing orders, as often as the walk meets it, and of each wait.
typedef struct {
    void *context;
    // A barrier before any of the gaps would order the pair. No gaps: `first` is a copy that may be
    // on its way still, which no barrier changes. May be NULL.
    void (*hazard)(void *context, const kc_op *first, kc_op *second, kc_op *const *gaps, int n);
    // `later` groups were made after the one that the op waits for. May be NULL.
    void (*wait)(void *context, kc_op *wait, int64_t later);
    // Waits leave on their way what their `pending` says, rather than all that is later than their
    // group.
    bool trust_pending;
} kc_shared_visitor;

// Buffers that have places overlap where these do; others are apart. Layouts are not looked at.
// False: the loops are nested so deeply that the walk gave up; what it did not come to is unknown.
bool kc_shared_order_walk(kc_arena *scratch, const kc_op *kernel, const kc_shared_visitor *);

#endif
