/* mma: plain, of a sparse A (mma.sp), of blocks with factors (.block_scale), and of both at once.
 *
 * Such a product is one or two sections along k, each a plain product of tiles. In a section the
 * lanes hold `k` elements of a row of A, or half of them where A is sparse: then the metadata says
 * which columns they belong to. Factors are multiplied into A and B before the product. */
#ifndef KCSIM_MMA_H
#define KCSIM_MMA_H

#include "runtime/sim/cuda/tensor.h"

typedef struct kcsim_mma_form {
    ptx_type a, b, d; /* how registers are read; d of C too */
    uint8_t d_registers;
    uint8_t a_registers, b_registers, sections, k; /* of a section; of b1, k counts words */
    uint8_t rows; /* 16 but for some plain products */
    bool is_xor;  /* of b1: else and */
    bool codes;           /* a and b are read as numbers 0 to 15 that stand for e2m1 */
    bool sparse, ordered; /* ordered: the two indices of a chunk ascend */
    uint8_t bits;         /* of an element in a register */
    uint8_t selector;     /* whose metadata it is */
    bool saturate;
    ptx_type scale;  /* PTX_NO_TYPE: no factors */
    uint8_t factors; /* a row or column has, over all k */
} kcsim_mma_form;

/* insn->list: D, A, B, C; the metadata of a sparse A; factors, byte and thread of A, then of B. */
static inline uint32_t kcsim_mma_list_count(const kcsim_mma_form *form) {
    return 2u * form->d_registers + form->sections * (form->a_registers + form->b_registers) +
           form->sparse + (form->scale ? 6u : 0u);
}

/* Which columns of a section's rows a sparse A has; what it has not takes no part, not even of an
 * infinity. */
typedef struct kcsim_pattern {
    uint64_t there[16];
} kcsim_pattern;
/* What take_a found, half as wide as the section, goes where the metadata says. Rows of which that
 * is not known, or means nothing, become undefined. */
void kcsim_sparse_spread(kcsim_tile *tile, const kcsim_warp *warp, const kcsim_mma_form *form,
                         kcsim_ref metadata, uint32_t section, kcsim_pattern *pattern);
void kcsim_sparse_multiply(kcsim_tile *tile, const kcsim_pattern *pattern, uint32_t k);

#endif
