/* Tiles on any host, and the choice between the two sets. */
#include "runtime/sim/cuda/tensor.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#define TENSOR_TABLE kcsim_tensor_base
#include "runtime/sim/cuda/tensor_impl.h"

static const kcsim_tensor_table *table(void) {
    return kcsim_lanes() == &kcsim_lanes_avx2 ? &kcsim_tensor_avx2 : &kcsim_tensor_base;
}

void kcsim_elements(ptx_type type, const void *from, uint32_t count, double *out) {
    table()->elements(type, from, count, out);
}

void kcsim_tile_take_a(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers, bool halves) {
    table()->take_a(tile, warp, type, list, registers, halves);
}

void kcsim_tile_take_b(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers) {
    table()->take_b(tile, warp, type, list, registers);
}

void kcsim_tile_take_c(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers) {
    table()->take_c(tile, warp, type, list, registers);
}

void kcsim_tile_take_rows(kcsim_tile *tile, ptx_type type, const uint8_t *const pieces[16][2]) {
    table()->take_rows(tile, type, pieces);
}

void kcsim_tile_take_columns(kcsim_tile *tile, ptx_type type, const uint8_t *const rows[2][8]) {
    table()->take_columns(tile, type, rows);
}

void kcsim_tile_multiply(kcsim_tile *tile, uint32_t rows, uint32_t k, bool is_double) {
    table()->multiply(tile, rows, k, is_double);
}

void kcsim_tile_count(kcsim_tile *tile, uint32_t rows, uint32_t words, bool is_xor) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < 8; column++)
            for (uint32_t i = 0; i < words; i++) {
                uint32_t a = (uint32_t)tile->a[row][i], b = (uint32_t)tile->b[i][column];
                tile->sum[row][column] += __builtin_popcount(is_xor ? a ^ b : a & b);
            }
}

void kcsim_tile_give(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, bool saturate,
                     const kcsim_ref *list, uint32_t registers, uint32_t mask) {
    table()->give(tile, warp, type, saturate, list, registers, mask);
}

void kcsim_tile_mma(kcsim_warp *warp, const kcsim_mma_form *form, const kcsim_ref *list,
                    uint32_t mask) {
    table()->mma(warp, form, list, mask);
}
