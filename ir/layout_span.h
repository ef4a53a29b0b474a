// A subspace of bit vectors, grown one vector at a time. Private to the layout files.
#ifndef KC_IR_LAYOUT_SPAN_H
#define KC_IR_LAYOUT_SPAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int rank;
    uint32_t vector[32];  // vector[p] has highest bit p, or is 0
    uint32_t made_of[32]; // which of the vectors that were added it is the sum of
} kc_span;

// What is left of v after adding vectors of the span, 0 when v lies in it. *made_of is XORed with
// the masks of those that were added.
uint32_t kc_span_reduce(const kc_span *, uint32_t v, uint32_t *made_of);
// False, and nothing changes, when v lies in the span. made_of: the mask that stands for v.
bool kc_span_add(kc_span *, uint32_t v, uint32_t made_of);

#endif
