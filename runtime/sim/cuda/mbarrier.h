/* mbarrier objects of a block's shared memory (PTX ISA, "Parallel Synchronization and
 * Communication Instructions: mbarrier").
 *
 * An object counts the arrivals its phase still wants, and the bytes of asynchronous copies it
 * still expects; when both are 0 the phase is complete and the next one begins:
 *
 *     init 2     phase 0: 2 pending, 0 bytes
 *     arrive     phase 0: 1 pending          (state: phase 0, 2 pending before)
 *     expect 64  phase 0: 1 pending, 64 bytes
 *     arrive     phase 0: 0 pending, 64 bytes
 *     copy of 64 arrives: phase 1: 2 pending, 0 bytes; who waits for phase 0 (parity 0) goes on
 *
 * The objects are kept beside the memory they are in; the memory itself holds a copy of the state
 * that nobody may interpret. Functions that can be misused answer with a sentence, or NULL. */
#ifndef KCSIM_MBARRIER_H
#define KCSIM_MBARRIER_H

#include "runtime/sim/cuda/exec.h"

#define KCSIM_MBARRIER_MOST 0xfffffu /* of arrivals, and of bytes either way */

typedef struct kcsim_mbarrier {
    uint64_t at; /* in the block's shared memory */
    bool live;
    uint32_t phase, expected, pending;
    int64_t bytes;               /* expected and not there yet */
    int64_t late;                /* come, and the object has not been told */
    uint32_t line;               /* of its initialisation */
    uint32_t *gathered, *passed; /* clocks: of this phase's arrivals, of the complete phases' */
} kcsim_mbarrier;

typedef struct kcsim_mbarriers kcsim_mbarriers;
kcsim_mbarriers *kcsim_mbarriers_create(uint64_t shared_bytes, uint32_t clock_count);
void kcsim_mbarriers_destroy(kcsim_mbarriers *mbarriers);
void kcsim_mbarriers_reset(kcsim_mbarriers *mbarriers);

/* The live object at `at` (a multiple of 8 inside the block's shared memory), or NULL. */
kcsim_mbarrier *kcsim_mbarrier_find(const kcsim_block *home, uint64_t at);
/* One that [at, at + size) overlaps. */
kcsim_mbarrier *kcsim_mbarrier_overlap(const kcsim_block *home, uint64_t at, uint64_t size);

const char *kcsim_mbarrier_init(kcsim_block *home, uint64_t at, uint32_t count, uint32_t line);
void kcsim_mbarrier_invalidate(kcsim_block *home, kcsim_mbarrier *object);
/* More bytes to wait for. */
const char *kcsim_mbarrier_expect(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes);
/* Bytes have come, by the asynchronous proxy: may complete the phase. */
const char *kcsim_mbarrier_complete(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes);
/* The same of a copy: now, or by the seed later, when kcsim_mbarriers_tell is called. That tells
 * some of the objects or all, and whether there were any. */
const char *kcsim_mbarrier_come(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes);
bool kcsim_mbarriers_tell(kcsim_block *home, bool all);
/* `count` arrivals; `drop`: later phases expect as many fewer. *state is what the phase was before
 * (see kcsim_mbarrier_state). The caller has put the arriving warp's clock into `gathered`. */
const char *kcsim_mbarrier_arrive(kcsim_block *home, kcsim_mbarrier *object, uint32_t count,
                                  bool drop, uint64_t *state);
/* One more arrival that this phase wants, without one that later phases want. */
const char *kcsim_mbarrier_increase(kcsim_block *home, kcsim_mbarrier *object);

/* A state: the phase above, the pending arrivals below. */
static inline uint64_t kcsim_mbarrier_state(const kcsim_mbarrier *object) {
    return (uint64_t)object->phase << 32 | 1u << 31 | object->pending;
}

/* What an object waits for, as text of at most KCSIM_MBARRIER_TEXT bytes. */
#define KCSIM_MBARRIER_TEXT 144
void kcsim_mbarrier_describe(const kcsim_mbarrier *object, char *text, size_t size);

#endif
