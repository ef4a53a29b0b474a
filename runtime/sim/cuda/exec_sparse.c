/* Products in sections: a sparse A, factors of blocks. */
#include <math.h>
#include <string.h>

#include "runtime/sim/cuda/mma.h"
#include "runtime/sim/cuda/tensor.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

/* ---- numbers ---- */

static inline double number_of_code(double code) {
    static const double numbers[16] = {0,    0.5,  1,  1.5,  2,  3,  4,  6,
                                       -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};
    return numbers[(uint32_t)(int32_t)code & 15];
}

static double factor_of(ptx_type type, uint8_t bits) {
    double value;
    if (type == PTX_UE8M0) { /* a power of two */
        uint64_t power = (uint64_t)(1023 - 127 + bits) << 52;
        memcpy(&value, &power, sizeof value);
        return bits == 0xff ? (double)NAN : value;
    }
    bits &= 0x7f; /* ue4m3 is e4m3 without its sign */
    kcsim_elements(PTX_E4M3, &bits, 1, &value);
    return value;
}

/* ---- a sparse A ---- */

/* PTX ISA, "Sparse matrix storage" and the figures of metadata below "Matrix fragments for
 * multiply-accumulate operation with sparse matrix A". Elements of 16 bits and more: a lane has
 * rows g (low half) and g + 8 of a section. Smaller ones: a lane has one of the two rows. */
static uint32_t metadata_lane(const kcsim_mma_form *form, uint32_t section, uint32_t row) {
    uint32_t quad = 4 * (row % 8), high = row / 8;
    if (form->bits >= 16) return quad + form->selector * form->sections + section;
    return quad + 2 * (form->sections == 2 ? section : form->selector) + high;
}

/* The indices of a row's chunks, four bits each; false: some are undefined. */
static bool metadata_of(const kcsim_warp *warp, const kcsim_mma_form *form, kcsim_ref ref,
                        uint32_t section, uint32_t row, uint32_t *indices) {
    uint32_t lane = metadata_lane(form, section, row);
    uint32_t shift = form->bits >= 16 ? 16 * (row / 8) : 0;
    uint32_t wanted = form->bits >= 16 ? 0xffff : UINT32_MAX;
    *indices = ((const uint32_t *)kcsim_at(warp, ref))[lane] >> shift & wanted;
    return (kcsim_defined_bits(warp, ref, lane) >> shift & wanted) == wanted;
}

/* A chunk of one element of two (tf32), two of four, or two pairs of four. The element or pair n of
 * the chunk goes to place *to of it; false: the indices mean nothing. */
static bool place_in_chunk(const kcsim_mma_form *form, uint32_t indices, uint32_t n, uint32_t *to) {
    uint32_t first = indices & 3, second = indices >> 2 & 3;
    if (form->bits == 32) {
        *to = first / 2;
        return (indices & 15) == 4 || (indices & 15) == 14;
    }
    *to = n ? second : first;
    return form->ordered ? first < second : first != second;
}

/* The first half of a row, as it is stored, goes to the columns that it belongs to: chunks of `each`
 * times `unit` elements of twice as many. */
static inline bool spread_by(const kcsim_mma_form *form, uint32_t unit, uint32_t each, double *row,
                             uint32_t indices, uint64_t *there) {
    uint32_t chunks = form->k / (2 * each * unit);
    double stored[32];
    bool good = true;
    memcpy(stored, row, form->k / 2 * sizeof *row);
    memset(row, 0, form->k * sizeof *row);
    *there = 0;
    for (uint32_t chunk = 0; chunk < chunks; chunk++)
        for (uint32_t n = 0; n < each; n++) {
            uint32_t to;
            good &= place_in_chunk(form, indices >> 4 * chunk, n, &to);
            for (uint32_t i = 0; i < unit; i++) {
                uint32_t column = (2 * each * chunk + to) * unit + i;
                row[column] = stored[(each * chunk + n) * unit + i];
                *there |= (uint64_t)1 << column;
            }
        }
    return good;
}

static bool spread(const kcsim_mma_form *form, double *row, uint32_t indices, uint64_t *there) {
    if (form->bits == 4) return spread_by(form, 2, 2, row, indices, there);
    if (form->bits == 32) return spread_by(form, 1, 1, row, indices, there);
    return spread_by(form, 1, 2, row, indices, there);
}

void kcsim_sparse_spread(kcsim_tile *tile, const kcsim_warp *warp, const kcsim_mma_form *form,
                         kcsim_ref metadata, uint32_t section, kcsim_pattern *pattern) {
    for (uint32_t row = 0; row < 16; row++) {
        uint32_t indices;
        bool known = metadata_of(warp, form, metadata, section, row, &indices);
        known &= spread(form, tile->a[row], indices, &pattern->there[row]);
        if (!known) tile->row_undefined |= 1u << row;
    }
}

/* With an infinity or NaN in B, which must not meet the zeros between what A stores. */
static void multiply_there(kcsim_tile *tile, const kcsim_pattern *pattern) {
    for (uint32_t row = 0; row < 16; row++)
        for (uint64_t rest = pattern->there[row]; rest; rest &= rest - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(rest);
            for (uint32_t column = 0; column < 8; column++)
                tile->sum[row][column] += tile->a[row][i] * tile->b[i][column];
        }
}

static bool is_finite(const kcsim_tile *tile, uint32_t k) {
    int others = 0;
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t column = 0; column < 8; column++)
            others += !(fabs(tile->b[i][column]) < (double)INFINITY);
    return !others;
}

void kcsim_sparse_multiply(kcsim_tile *tile, const kcsim_pattern *pattern, uint32_t k) {
    if (is_finite(tile, k)) kcsim_tile_multiply(tile, 16, k, false);
    else multiply_there(tile, pattern);
}

/* ---- factors ---- */

/* Of a row or column: its factors; which lanes hold them is said by the {byte, thread} behind them.
 * PTX ISA, "Block Scaling for mma.sync". */
typedef struct factors {
    double of[16][4];
    uint32_t undefined;
} factors;

/* A selector is the same number in all lanes, and one that the form has. */
static bool selector_of(const kcsim_warp *warp, kcsim_ref ref, uint32_t limit, uint32_t step,
                        uint32_t *value) {
    const uint16_t *values = kcsim_at(warp, ref);
    bool good = warp->full[ref.slot] == UINT32_MAX || !ref.slot;
    *value = values[0];
    for (uint32_t lane = 1; lane < KCSIM_LANES; lane++)
        good &= values[lane] == *value;
    return good && *value < limit && *value % step == 0;
}

static void take_factors(const kcsim_warp *warp, const kcsim_mma_form *form, const kcsim_ref *list,
                         bool is_a, factors *out) {
    const uint32_t *words = kcsim_at(warp, list[0]);
    uint32_t byte, thread, count = form->factors;
    bool good = selector_of(warp, list[1], 4, count, &byte);
    good &= selector_of(warp, list[2], is_a ? 2 : 4, 1, &thread);
    memset(out->of, 0, sizeof out->of);
    out->undefined = good ? 0 : UINT32_MAX;
    for (uint32_t i = 0; good && i < (is_a ? 16 : 8); i++) {
        uint32_t lane = is_a ? 4 * (i % 8) + 2 * thread + i / 8 : 4 * i + thread;
        uint32_t bits = words[lane] >> 8 * byte, wanted = UINT32_MAX >> (32 - 8 * count);
        for (uint32_t n = 0; n < count; n++)
            out->of[i][n] = factor_of(form->scale, (uint8_t)(bits >> 8 * n));
        if ((kcsim_defined_bits(warp, list[0], lane) >> 8 * byte & wanted) != wanted)
            out->undefined |= 1u << i;
    }
}

static void scale_section(const kcsim_mma_form *form, uint32_t section, const factors *of_a,
                          const factors *of_b, kcsim_tile *tile) {
    uint32_t block = form->sections * form->k / form->factors, size = 0;
    for (uint32_t i = 0; i < form->k; i += size) {
        uint32_t n = (section * form->k + i) / block;
        size = block < form->k ? block : form->k;
        double of_columns[8];
        for (uint32_t row = 0; row < 16; row++)
            for (uint32_t k = i; k < i + size; k++)
                tile->a[row][k] *= of_a->of[row][n];
        for (uint32_t column = 0; column < 8; column++)
            of_columns[column] = of_b->of[column][n];
        for (uint32_t k = i; k < i + size; k++)
            for (uint32_t column = 0; column < 8; column++)
                tile->b[k][column] *= of_columns[column];
    }
}

/* ---- the product ---- */

static void take_section(const kcsim_warp *warp, const kcsim_mma_form *form, const kcsim_ref *a,
                         const kcsim_ref *b, kcsim_tile *tile) {
    kcsim_tile_take_a(tile, warp, form->a, a, form->a_registers, true);
    kcsim_tile_take_b(tile, warp, form->b, b, form->b_registers);
    uint32_t stored = form->sparse ? form->k / 2 : form->k;
    for (uint32_t row = 0; form->codes && row < 16; row++)
        for (uint32_t i = 0; i < stored; i++)
            tile->a[row][i] = number_of_code(tile->a[row][i]);
    for (uint32_t i = 0; form->codes && i < form->k; i++)
        for (uint32_t column = 0; column < 8; column++)
            tile->b[i][column] = number_of_code(tile->b[i][column]);
}

void kcsim_do_mma_sections(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const kcsim_mma_form *form = insn->fn.mma;
    const kcsim_ref *a = insn->list + form->d_registers;
    const kcsim_ref *b = a + form->sections * form->a_registers;
    const kcsim_ref *c = b + form->sections * form->b_registers;
    const kcsim_ref *metadata = c + form->d_registers, *scales = metadata + form->sparse;
    factors of_a, of_b;
    kcsim_pattern pattern;
    kcsim_tile tile;
    tile.row_undefined = tile.column_undefined = 0;
    kcsim_tile_take_c(&tile, warp, form->d, c, form->d_registers);
    if (form->scale) {
        take_factors(warp, form, scales, true, &of_a);
        take_factors(warp, form, scales + 3, false, &of_b);
        tile.row_undefined |= of_a.undefined & 0xffff;
        tile.column_undefined |= of_b.undefined & 0xff;
    }
    for (uint32_t section = 0; section < form->sections; section++) {
        take_section(warp, form, a + section * form->a_registers, b + section * form->b_registers,
                     &tile);
        if (form->sparse) kcsim_sparse_spread(&tile, warp, form, *metadata, section, &pattern);
        if (form->scale) scale_section(form, section, &of_a, &of_b, &tile);
        if (form->sparse) kcsim_sparse_multiply(&tile, &pattern, form->k);
        else kcsim_tile_multiply(&tile, 16, form->k, false);
    }
    kcsim_tile_give(&tile, warp, form->d, form->saturate, insn->list, form->d_registers, mask);
    kcsim_cost_of(warp)->flops += 2u * 16 * 8 * form->sections * form->k;
}
