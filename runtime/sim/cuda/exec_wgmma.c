/* wgmma.mma_async: one warp's 16 rows of D = A * B + D.
 *
 * A matrix in shared memory is told by a descriptor (PTX ISA, "Matrix Descriptor"): bits 0-13 the
 * start address, 16-29 the leading dimension byte offset, 32-45 the stride dimension byte offset,
 * all of them in units of 16 bytes; 49-51 the base offset; 62-63 the swizzle: 0 none, 1 of 128
 * bytes, 2 of 64, 3 of 32. A line is as long as the swizzle (16 bytes without one), eight lines are
 * a core. K is 32 bytes, `outer` is m or n; P elements are 16 bytes, W pieces of 16 bytes a line:
 *
 *     K contiguous      lines are outer = 0..7, stride offset to the next eight;
 *                       bytes 16-31 of K follow, without swizzle a leading offset away
 *     outer contiguous  lines are k = 0..7; a line holds W * P of outer.
 *                       Swizzled: leading offset to the next W * P of outer, stride to the
 *                       next 8 k. Without: stride offset to the next P of outer, leading to
 *                       the next 8 k
 *
 * Swizzling exchanges pieces of a line: bits 4.. of the address are xored with bits 7.., as many as
 * the swizzle has; the base offset is taken off those first. */
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/tensor.h"
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/wgmma.h"

typedef struct matrix {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    uint32_t mask, start, leading, stride, base, pieces; /* of a line */
    bool is_transposed, outside, undefined;
    uint32_t racing, racing_at;
    kcsim_racer other;
    uint32_t copied, copied_at;
} matrix;

static matrix open_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, kcsim_ref ref,
                          bool transposed) {
    static const uint8_t pieces[] = {1, 8, 4, 2};
    const uint64_t *values = kcsim_at(warp, ref);
    uint64_t bits = values[__builtin_ctz(mask)];
    kcsim_report_undefined(warp, insn, ref, mask, "the matrix descriptor was never written");
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .space = "warp",
                           .other = "the lanes name different matrices"};
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        if (mask >> lane & 1 && values[lane] != bits) report.lanes |= 1u << lane;
    if (report.lanes) kcsim_report_lanes(warp, insn, &report);
    return (matrix){.warp = warp,
                    .insn = insn,
                    .mask = mask,
                    .start = (uint32_t)(bits & 0x3fff) << 4,
                    .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                    .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                    .base = (uint32_t)(bits >> 49 & 7),
                    .pieces = pieces[bits >> 62],
                    .is_transposed = transposed};
}

/* Address of the 16 bytes where, K contiguous, row `outer` has its piece `k`; else where row `k`
 * has piece `outer`. */
static uint32_t piece_address(const matrix *at, uint32_t outer, uint32_t k) {
    uint32_t line = at->pieces * 16, offset;
    if (!at->is_transposed)
        offset = outer % 8 * line + outer / 8 * at->stride +
                 k * (at->pieces == 1 ? at->leading : 16);
    else if (at->pieces == 1) offset = outer * at->stride + k % 8 * 16 + k / 8 * at->leading;
    else
        offset = outer % at->pieces * 16 + outer / at->pieces * at->leading + k % 8 * line +
                 k / 8 * at->stride;
    uint32_t address = at->start + offset;
    return address ^ ((((address >> 7) - at->base) & (at->pieces - 1)) << 4);
}

/* NULL when it is outside. Everything that is to be said of reading it is noted. */
static const uint8_t *take_piece(matrix *at, uint32_t address, bool *defined) {
    kcsim_block *block = at->warp->block;
    uint32_t thread = 0;
    kcsim_racer other = {.warp = 0};
    *defined = true;
    if (address + 16u > block->launch->shared_bytes) {
        if (!at->outside) {
            uint64_t addresses[KCSIM_LANES];
            for (uint32_t i = 0; i < KCSIM_LANES; i++)
                addresses[i] = address;
            kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                                   .lanes = at->mask,
                                   .space = "shared",
                                   .size = 16,
                                   .addresses = addresses,
                                   .other = "the matrix reaches past the end of shared memory"};
            kcsim_report_lanes(at->warp, at->insn, &report);
        }
        at->outside = true;
        return NULL;
    }
    if (block->race &&
        kcsim_race_access(block->race, at->warp, address, 16, KCSIM_ACCESS_READ, &other) &&
        !at->racing++) {
        at->racing_at = address;
        at->other = other;
    }
    if (block->copies && kcsim_copies_look(block->copies, at->warp, address, 16, &thread) !=
                             KCSIM_COPY_DONE && !at->copied++)
        at->copied_at = address;
    uint64_t mbarrier;
    if (block->flights && kcsim_flights_look(block->flights, at->warp, address, 16, &mbarrier) &&
        !at->copied++)
        at->copied_at = address;
    kcsim_wgmma_read(at->warp, at->insn, address, at->mask);
    static const uint8_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    if (block->launch->track)
        *defined = memcmp(block->shared_defined + address, ones, sizeof ones) == 0;
    return block->shared + address;
}

static void close_matrix(const matrix *at) {
    uint64_t addresses[KCSIM_LANES];
    char text[120];
    kcsim_report report = {
        .lanes = at->mask, .space = "shared", .size = 16, .addresses = addresses, .other = text};
    bool racing = at->racing && at->warp->block->launch->check_race;
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        addresses[i] = racing ? at->racing_at : at->copied_at;
    if (racing) {
        report.kind = KCSIM_FINDING_RACE;
        kcsim_race_describe(at->warp->block, at->other, text, sizeof text);
        kcsim_report_lanes(at->warp, at->insn, &report);
    } else if (at->copied) {
        report.kind = KCSIM_FINDING_ASYNC_IN_FLIGHT;
        snprintf(text, sizeof text, "a copy to it was not waited for, or no barrier lies between");
        kcsim_report_lanes(at->warp, at->insn, &report);
    }
}

/* Elements [count][k] of outer = first .. into `out`, a row of 64 each; bits of `undefined`. */
static uint32_t take_rows(matrix *at, ptx_type type, uint32_t first, uint32_t count, uint32_t k,
                          double (*out)[64]) {
    uint32_t each = 128 / ptx_types[type].bits, undefined = 0;
    if (type == PTX_B1) each = 4; /* words */
    bool defined;
    for (uint32_t row = 0; !at->is_transposed && row < count; row++)
        for (uint32_t piece = 0; piece < 2; piece++) {
            const uint8_t *bytes = take_piece(at, piece_address(at, first + row, piece), &defined);
            if (bytes) kcsim_elements(type, bytes, each, out[row] + piece * each);
            else memset(out[row] + piece * each, 0, each * sizeof(double));
            if (!defined) undefined |= 1u << row;
        }
    for (uint32_t i = 0; at->is_transposed && i < k; i++)
        for (uint32_t row = 0; row < count; row += each) {
            double values[8] = {0};
            const uint8_t *bytes =
                take_piece(at, piece_address(at, (first + row) / each, i), &defined);
            if (bytes) kcsim_elements(type, bytes, each, values);
            for (uint32_t n = 0; n < each; n++)
                out[row + n][i] = values[n];
            if (!defined) undefined |= ((1u << each) - 1) << row;
        }
    return undefined;
}

static void take_a(kcsim_tile *tile, kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t k = form->a == PTX_B1 ? form->k / 32 : form->k;
    if (form->a_registers) {
        kcsim_tile_take_a(tile, warp, form->a, insn->list + form->d_registers, 4, true);
    } else {
        matrix a = open_matrix(warp, insn, mask, insn->a, form->a_transposed);
        tile->row_undefined = take_rows(&a, form->a, 16 * (warp->index % 4), 16, k, tile->a);
        close_matrix(&a);
    }
    for (uint32_t row = 0; form->negative && row < 16; row++)
        for (uint32_t i = 0; i < k; i++)
            tile->a[row][i] = -tile->a[row][i];
}

/* Whether D counts: the predicate of the first lane; it must be known, and the same in all. */
static bool adds(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t value = kcsim_predicate(warp, insn->c) ^ (insn->negate_c ? UINT32_MAX : 0);
    kcsim_report_undefined(warp, insn, insn->c, mask, "scale-d was never written");
    if ((value & mask) != mask && (value & mask)) {
        kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                               .lanes = mask & ~value,
                               .space = "warp",
                               .other = "the lanes have different values of scale-d"};
        kcsim_report_lanes(warp, insn, &report);
    }
    return value & mask;
}

static void start_sum(kcsim_tile *tile, kcsim_warp *warp, ptx_type type, const kcsim_ref *list,
                      uint32_t registers, bool accumulate) {
    if (accumulate) {
        kcsim_tile_take_c(tile, warp, type, list, registers);
        return;
    }
    memset(tile->sum, 0, sizeof tile->sum);
    memset(tile->sum_defined, 0xff, sizeof tile->sum_defined);
}

void kcsim_do_wgmma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t k = form->a == PTX_B1 ? form->k / 32 : form->k;
    uint32_t registers = form->d == PTX_F16 ? 2 : 4;
    kcsim_tile tile;
    double columns[8][64];
    kcsim_wgmma_issue(warp, insn, mask);
    bool accumulate = adds(warp, insn, mask);
    tile.row_undefined = 0;
    take_a(&tile, warp, insn, mask);
    matrix b = open_matrix(warp, insn, mask, insn->b, form->b_transposed);
    for (uint32_t n = 0; n < form->n; n += 8) {
        const kcsim_ref *d = insn->list + n / 8 * registers;
        tile.column_undefined = take_rows(&b, form->b, n, 8, k, columns);
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t column = 0; column < 8; column++)
                tile.b[i][column] = columns[column][i];
        start_sum(&tile, warp, form->d, d, registers, accumulate);
        if (form->a == PTX_B1) kcsim_tile_count(&tile, 16, k, false);
        else kcsim_tile_multiply(&tile, 16, k, false);
        kcsim_tile_give(&tile, warp, form->d, form->saturate, d, registers, mask);
    }
    close_matrix(&b);
    warp->block->worker->counts.tensor_flops += 2u * 16 * form->n * form->k;
}
