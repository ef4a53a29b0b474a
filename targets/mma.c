// Looking up rows of tensor-core instructions.
#include "targets/mma.h"

#include "ir/diag.h"
#include <string.h>

static bool is_there(const kc_target *target, const kc_mma *row) {
    return target->attributes.compute_capability >= row->compute_capability;
}

const kc_mma *kc_mma_find(const kc_target *target, kc_dtype operand, kc_dtype accumulator,
                          const char *precision, int64_t depth) {
    bool rounds = strcmp(precision, "ieee") != 0;
    const kc_mma *best = NULL;
    for (int i = 0; i < target->kind->n_mmas; i++) {
        const kc_mma *row = &target->kind->mmas[i];
        if (row->operand != operand || row->accumulator != accumulator || !is_there(target, row))
            continue;
        if ((row->note[0] && !rounds) || row->k > depth || depth % row->k) continue;
        if (!best || row->k > best->k || (row->k == best->k && row->m > best->m)) best = row;
    }
    return best;
}

const kc_mma *kc_mma_named(const kc_target *target, const char *name) {
    for (int i = 0; i < target->kind->n_mmas; i++)
        if (strcmp(target->kind->mmas[i].name, name) == 0) return &target->kind->mmas[i];
    return NULL;
}

const kc_layout *kc_mma_fragment(const kc_mma *row, kc_mma_side side) {
    const char *text = side == KC_MMA_A ? row->a : side == KC_MMA_B ? row->b : row->c, *error;
    kc_layout *layout = &row->fragments[side];
    size_t at;
    if (layout->rank) return layout;
    if (!kc_layout_parse(layout, text, strlen(text), &error, &at))
        kc_bug("fragment of %s: %s at %zu", row->name, error, at);
    return layout;
}

int kc_mma_run(kc_dtype operand) {
    enum { WORD = 4, TRANSPOSED = 2 }; // bytes
    int bytes = kc_dtype_unit(operand);
    return bytes < TRANSPOSED ? WORD / bytes : 1;
}

void kc_mma_deal(const kc_mma *row, const int64_t fragments[2], int64_t warps, int64_t dealt[2]) {
    int64_t left[2] = {fragments[0], fragments[1]};
    dealt[0] = dealt[1] = 1;
    for (; warps > 1; warps /= 2) {
        bool by_rows =
            left[1] < 2 || (left[0] > 1 && left[0] * row->m >= left[1] * row->n);
        int d = by_rows ? 0 : 1;
        dealt[d] *= 2;
        if (left[d] > 1) left[d] /= 2;
    }
}
