// Tensor-core instructions as rows of data: what one multiplies, and where its operands' elements
// live. Needs neither LLVM nor a vendor's tool; passes choose by it, code generation prints it.
//
// A row is D[m, n] = C[m, n] + sum over k of A[m, k] * B[n, k], carried out by one warp. Fragments
// are layouts over (m, k), (n, k) and (m, n): B is written with its own dimension first, as A is.
#ifndef KC_TARGETS_MMA_H
#define KC_TARGETS_MMA_H

#include "ir/dtype.h"
#include "ir/layout.h"
#include "targets/target.h"

struct kc_mma {
    const char *name;   // in the IR: the attribute `instruction` of a dot
    const char *text;   // the instruction without operands
    kc_dtype operand;   // of A and B
    kc_dtype accumulator;
    int m, n, k;
    const char *a, *b, *c; // fragments, as layout text
    kc_layout *fragments;  // the same three, each read when it is first asked for
    const char *note;      // "tf32": it drops the low 13 bits of its operands; "": it takes them whole
    int compute_capability; // the least that has it
    int ptx_version;        // the least that has it
};

enum { KC_MMA_MOST_DEPTH = 32 }; // of k, of any row

typedef enum { KC_MMA_A, KC_MMA_B, KC_MMA_C } kc_mma_side;

// The instruction with the longest k that is at most `depth` and divides it; NULL: the target has
// none for these types. precision is that of the language: f32 operands become tf32 where it is
// "high" (three products of the parts) or "fast" (one), and have no instruction otherwise.
const kc_mma *kc_mma_find(const kc_target *, kc_dtype operand, kc_dtype accumulator,
                          const char *precision, int64_t depth);
const kc_mma *kc_mma_named(const kc_target *, const char *name); // NULL when there is none
const kc_layout *kc_mma_fragment(const kc_mma *, kc_mma_side);
// Neighbours along k that fragments of such operands must find side by side in memory. They are
// words of neighbours; matrix loads put those of 16 bits together from any order, and what is wider
// fills its word, but what is smaller has to be in order already. 1: any order will do.
int kc_mma_run(kc_dtype operand);
// How many warps share the rows, and how many the columns, of so many fragments: warps halve what
// is longer, so that a warp's part is nearly square: the operands it fetches are then fewest.
void kc_mma_deal(const kc_mma *, const int64_t fragments[2], int64_t warps, int64_t dealt[2]);

#endif
