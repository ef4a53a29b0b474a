// Matrix loads as layouts: see ir/layout.h. Nothing here knows rows from columns: a row is whatever
// coordinates the 16 bytes of a lane run along.
#include "ir/layout.h"

#include <string.h>

enum { WORD_BYTES = 4, ROW_BYTES = 16, ROW_BITS = 3, LANE_BITS = 5 };

static int log2_of(int v) {
    return 31 - __builtin_clz((unsigned)v);
}

// Which vectors of `threads` lie along a row and which lead from row to row.
typedef struct {
    uint32_t along[4], across[ROW_BITS];
    int n_along, used_registers;
} matrix;

static matrix plain_matrix(const kc_layout *threads, int element_bytes) {
    matrix m = {.n_along = log2_of(ROW_BYTES / element_bytes)};
    m.used_registers = log2_of(WORD_BYTES / element_bytes);
    memcpy(m.along, threads->basis[KC_LAYOUT_REGISTER],
           (size_t)m.used_registers * sizeof m.along[0]);
    for (int i = m.used_registers; i < m.n_along; i++)
        m.along[i] = threads->basis[KC_LAYOUT_LANE][i - m.used_registers];
    memcpy(m.across, threads->basis[KC_LAYOUT_LANE] + 2, sizeof m.across);
    return m;
}

static matrix transposed_matrix(const kc_layout *threads) {
    matrix m = {.n_along = ROW_BITS, .used_registers = 1};
    memcpy(m.along, threads->basis[KC_LAYOUT_LANE] + 2, sizeof m.across);
    m.across[0] = threads->basis[KC_LAYOUT_REGISTER][0];
    memcpy(m.across + 1, threads->basis[KC_LAYOUT_LANE], 2 * sizeof m.across[0]);
    return m;
}

const char *kc_layout_matrix_rows(kc_layout *rows, int *matrices, const kc_layout *threads,
                                  int element_bytes, kc_matrix_order order) {
    bool transposed = order == KC_MATRIX_TRANSPOSED;
    if (threads->memory || threads->bits[KC_LAYOUT_LANE] != LANE_BITS)
        return "ldmatrix is for warps of 32 lanes";
    if (element_bytes > WORD_BYTES || (transposed && element_bytes != 2))
        return transposed ? "only elements of 2 bytes are transposed"
                          : "an element has at most 4 bytes";
    int registers = threads->bits[KC_LAYOUT_REGISTER];
    if (registers < log2_of(WORD_BYTES / element_bytes)) return "a thread holds less than a word";
    if (kc_layout_replicas(threads, KC_LAYOUT_LANE)) return "lanes hold copies";
    matrix m = transposed ? transposed_matrix(threads) : plain_matrix(threads, element_bytes);
    kc_layout l = *threads;
    int rest = registers - m.used_registers, picked = rest < 2 ? rest : 2, n = 0;
    const uint32_t *more = threads->basis[KC_LAYOUT_REGISTER] + m.used_registers;
    for (int i = 0; i < m.n_along; i++)
        l.basis[KC_LAYOUT_REGISTER][n++] = m.along[i];
    for (int i = picked; i < rest; i++)
        l.basis[KC_LAYOUT_REGISTER][n++] = more[i];
    l.bits[KC_LAYOUT_REGISTER] = (uint8_t)n;
    for (int i = 0; i < LANE_BITS; i++)
        l.basis[KC_LAYOUT_LANE][i] = i < ROW_BITS            ? m.across[i]
                                     : i - ROW_BITS < picked ? more[i - ROW_BITS]
                                                             : 0;
    *rows = l;
    *matrices = 1 << picked;
    return kc_layout_check(&l);
}

bool kc_layout_rows_in(const kc_layout *rows, const kc_layout *memory, int element_bytes) {
    return kc_layout_run_in(rows, memory, ROW_BYTES / element_bytes);
}
