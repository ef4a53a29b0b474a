// What the files of the tile interpreter share. It runs on the machine of the reference
// interpreter: the same values, without bounds, rounded after every op.
#ifndef KC_IR_TILE_MACHINE_H
#define KC_IR_TILE_MACHINE_H

#include "ir/interp_machine.h"
#include "ir/tile_interp.h"

// Global memory as a kernel sees it.
typedef struct {
    const kc_value *argument;
    char *data;
    kc_dtype elem;
    int rank;
    int64_t shape[KC_MAX_RANK], strides[KC_MAX_RANK]; // strides in elements
    int64_t *writers; // of an output: 1 + the program that wrote the element, by row-major index;
                      // else NULL
} kc_tile_buffer;

// A copy on its way: what it brings, and where to, one byte offset an element.
typedef struct kc_tile_copy {
    const kc_op *op;
    int64_t group; // counted from 1 in the order of commits; 0: none has it yet
    int owner;     // 1 + index of its buffer
    int64_t n, *at;
    kc_interp_value *values;
    struct kc_tile_copy *next;
} kc_tile_copy;

// Shared memory of a block, a shadow for each byte.
typedef struct {
    char *bytes;
    int64_t size;
    int *owners;              // 1 + index of the buffer that wrote it last
    kc_tile_copy **coming;    // the copy that is on its way to it, or NULL
    kc_tile_copy *copies;     // on their way, oldest first
    int64_t groups;           // committed so far
    int64_t *written, *read;  // barrier interval of the last access, from 1; 0: none
    const kc_value **buffers; // shared_alloc results, in order
    int64_t *offsets;
    int n_buffers;
    int64_t interval;
    bool placed; // `sync` was here: accesses have to be ordered by barriers
} kc_tile_shared;

typedef struct {
    kc_interp *m;
    const kc_op *kernel;
    kc_tile_buffer *buffers; // by argument; scalars have data NULL
    kc_tile_shared shared;
    int64_t program;
} kc_tile_machine;

// Runs the ops; results[] are what its yield gives, with a hold each.
void kc_tile_block(kc_tile_machine *, const kc_block *, int n_results, kc_interp_value **results);
_Noreturn void kc_tile_fail(kc_tile_machine *, const kc_op *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Extents of 1 spread to those of `type`, which is a tile.
kc_interp_value *kc_tile_spread(kc_tile_machine *, const kc_op *, kc_interp_value *,
                                const kc_type *type); // with a hold

// ---- memory (tile_memory.c) ---------------------------------------------------------------------
kc_interp_value *kc_tile_load(kc_tile_machine *, const kc_op *);
void kc_tile_store(kc_tile_machine *, const kc_op *);
void kc_tile_shared_begin(kc_tile_machine *); // at the start of a kernel: finds its buffers
void kc_tile_shared_clear(kc_tile_machine *); // at the start of a program
kc_interp_value *kc_tile_shared_load(kc_tile_machine *, const kc_op *);
void kc_tile_shared_store(kc_tile_machine *, const kc_op *);

// Coordinates and mask of an access to global memory, spread over its tile.
typedef struct {
    const kc_type *tile;
    int rank;
    int64_t base[KC_MAX_RANK];
    kc_interp_value *local[KC_MAX_RANK], *mask;
} kc_tile_access;
kc_tile_access kc_tile_access_begin(kc_tile_machine *, const kc_op *, int base_segment,
                                    const kc_type *tile);
void kc_tile_access_end(kc_tile_machine *, kc_tile_access *);
// What the access reads, checked; `otherwise` where the mask is false.
kc_interp_value *kc_tile_read(kc_tile_machine *, const kc_op *, const kc_tile_access *,
                              double otherwise);

// A part of a shared buffer: where the elements of a tile lie.
typedef struct {
    int owner;                                 // 1 + index of the buffer
    int64_t first, size, strides[KC_MAX_RANK]; // in bytes
    const kc_type *tile;
} kc_tile_part;
kc_tile_part kc_tile_part_of(kc_tile_machine *, const kc_op *, const kc_value *buffer,
                             int stage_segment, const kc_type *tile);
// Calls visit for each element of the tile, in row-major order, with its byte offset.
void kc_tile_for_elements(kc_tile_machine *, const kc_op *, const kc_tile_part *, void *context,
                          void (*visit)(kc_tile_machine *, const kc_op *, const kc_tile_part *,
                                        void *context, int64_t i, int64_t at));
// Refuses what a write to the element's bytes may not meet; notes it.
void kc_tile_note_write(kc_tile_machine *, const kc_op *, int owner, int64_t size, int64_t i,
                        int64_t at);

// ---- copies on their way (tile_async.c) ---------------------------------------------------------
kc_interp_value *kc_tile_async_copy(kc_tile_machine *, const kc_op *);
kc_interp_value *kc_tile_async_commit(kc_tile_machine *, const kc_op *);
void kc_tile_async_wait(kc_tile_machine *, const kc_op *);
// All copies must have been waited for: the end of a program.
void kc_tile_async_end(kc_tile_machine *);

// ---- contractions and reductions (tile_reduce.c) ------------------------------------------------
kc_interp_value *kc_tile_dot(kc_tile_machine *, const kc_op *);
void kc_tile_reduce(kc_tile_machine *, const kc_op *, kc_interp_value **results);
// ---- scans (tile_scan.c) ------------------------------------------------------------------------
void kc_tile_scan(kc_tile_machine *, const kc_op *, kc_interp_value **results);
void kc_tile_scan_carry(kc_tile_machine *, const kc_op *, kc_interp_value **results);

#endif
