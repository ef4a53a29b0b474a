// The tile interpreter: runs the kernels of a planned function, so that a pass can be checked by
// executing its input and its output.
//
// It takes modules from `variants` on. A variant in tensor form is run as the reference interpreter
// runs functions; from `plan` on its kernels are in tensor form, in tile form, or have layouts. Their
// arithmetic is that of the machine: every op rounds to its type, functions are those of
// double, rounded. A tile is a plain array: layouts do not decide where elements are, but what
// needs them to be right is watched:
//
// - an access in vectors is one in aligned runs of consecutive elements, each masked as a whole;
// - an access outside a buffer, or to memory where the mask is false, is an error that names
// kernel, op and coordinates;
// - so is an element of an output that two programs write;
// - so is reading shared memory that was never written, or that another buffer has overwritten
// since;
// - so is touching the target of a copy on its way, to which bytes come no earlier than at the wait
// for its group (once `sync` was there, at the first that lets no more than `pending` groups go
// on), and ending a program before all have come;
// - once `sync` has given shared buffers their places: touching bytes that were written since the
// last barrier, or writing
//   bytes that were read since.
//
// The workspace is filled with bytes of 0xff before the first kernel: NaN, or -1.
#ifndef KC_IR_TILE_INTERP_H
#define KC_IR_TILE_INTERP_H

#include "ir/interp.h"

typedef struct {
    const kc_interp_array *inputs, *outputs; // in the function's order
    int n_inputs, n_outputs;
    const kc_interp_symbol *symbols; // align.NAME too; those not given follow from the address: 256
                                     // at most, 256 of an empty tensor; dev.NAME is 2
    int n_symbols;
    int variant;      // counted from 0; -1: the first whose `when` holds
    size_t max_bytes; // of memory; 0: KC_INTERP_MEMORY
    int ran; // out: the variant that ran; -1: the one asked for does not hold, nothing was done
} kc_tile_call;

// The module must have been verified. False: the reason is in the sink.
bool kc_tile_run(const kc_module *, const char *function, kc_tile_call *, kc_diag *);

#endif
