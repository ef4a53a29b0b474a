/* What tensor-core instructions share: fragments as numbers, and the product of two tiles.
 *
 * The arithmetic is a definition, not a copy of any chip: products are exact, they are added to C
 * one after another with k ascending in double, and the sum is rounded once, to nearest even, to
 * the type of D. f64 is a chain of fused multiply-adds. Integer sums are exact, then wrap or
 * (satfinite) stop at the limits. Hardware aligns the terms of a block and truncates: its last bits
 * differ.
 *
 * Where elements live (lane = 4 * g + t, E elements in a register; PTX ISA, "Matrix Fragments for
 * mma"; a warp's part of a wgmma is alike):
 *     A, 16 rows    register r: row g + 8 * (r & 1), columns 4E * (r >> 1) + E * t + 0 .. E-1
 *     A, 8 rows     register r: row g, columns 4E * r + E * t + 0 .. E-1
 *     B, 8 columns  register r: rows 4E * r + E * t + 0 .. E-1, column g
 *     C and D       elements 0 1: row g; 2 3 (of 16 rows): row g + 8; columns 2t and 2t+1
 * So the four lanes of a g hold 4E neighbours, and a register of the warp, read as memory, is eight
 * such runs one after another. */
#ifndef KCSIM_TENSOR_H
#define KCSIM_TENSOR_H

#include "runtime/sim/cuda/exec.h"

typedef struct kcsim_tile {
    _Alignas(64) double a[16][64], b[64][8], sum[16][8]; /* sum: C, then C + A * B */
    uint32_t row_undefined, column_undefined;            /* a bit each */
    uint32_t sum_defined[4];                             /* a register of C: its lanes */
} kcsim_tile;

/* `count` elements of `type`, packed as tightly as it allows. 32 bits of b1 are one number. */
void kcsim_elements(ptx_type type, const void *from, uint32_t count, double *out);
void kcsim_tile_take_a(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers, bool halves);
void kcsim_tile_take_b(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers);
void kcsim_tile_take_c(kcsim_tile *tile, const kcsim_warp *warp, ptx_type type,
                       const kcsim_ref *list, uint32_t registers);
/* From memory, 32 bytes along k, in pieces of 16. Not for 4 or 64 bits. A: of 16 rows the two
 * pieces; B: of eight columns the first pieces and the last. */
void kcsim_tile_take_rows(kcsim_tile *tile, ptx_type type, const uint8_t *const pieces[16][2]);
void kcsim_tile_take_columns(kcsim_tile *tile, ptx_type type, const uint8_t *const rows[2][8]);
/* sum += a * b over k, for `rows` rows. */
void kcsim_tile_multiply(kcsim_tile *tile, uint32_t rows, uint32_t k, bool is_double);
/* sum += population counts of (a and b) or (a xor b), over words of bits. */
void kcsim_tile_count(kcsim_tile *tile, uint32_t rows, uint32_t words, bool is_xor);
/* The sums become registers of D, with what is known of them. */
void kcsim_tile_give(const kcsim_tile *tile, kcsim_warp *warp, ptx_type type, bool saturate,
                     const kcsim_ref *list, uint32_t registers, uint32_t mask);
/* All of a plain mma: D, A, B and C are listed in this order. */
struct kcsim_mma_form;
void kcsim_tile_mma(kcsim_warp *warp, const struct kcsim_mma_form *form, const kcsim_ref *list,
                    uint32_t mask);

/* What each set of host instructions provides. */
typedef struct kcsim_tensor_table {
    void (*elements)(ptx_type, const void *, uint32_t, double *);
    void (*take_a)(kcsim_tile *, const kcsim_warp *, ptx_type, const kcsim_ref *, uint32_t, bool);
    void (*take_b)(kcsim_tile *, const kcsim_warp *, ptx_type, const kcsim_ref *, uint32_t);
    void (*take_c)(kcsim_tile *, const kcsim_warp *, ptx_type, const kcsim_ref *, uint32_t);
    void (*take_rows)(kcsim_tile *, ptx_type, const uint8_t *const[16][2]);
    void (*take_columns)(kcsim_tile *, ptx_type, const uint8_t *const[2][8]);
    void (*multiply)(kcsim_tile *, uint32_t, uint32_t, bool);
    void (*give)(const kcsim_tile *, kcsim_warp *, ptx_type, bool, const kcsim_ref *, uint32_t,
                 uint32_t);
    void (*mma)(kcsim_warp *, const struct kcsim_mma_form *, const kcsim_ref *, uint32_t);
} kcsim_tensor_table;
extern const kcsim_tensor_table kcsim_tensor_base, kcsim_tensor_avx2;

#endif
