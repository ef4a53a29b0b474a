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

#define PIECE 16u
#define MOST_PIECES 512u                           /* 256 rows or columns of 32 bytes */
#define SHARED_WORDS ((256u << 10) / PIECE / 64u) /* a bit a piece of all shared memory */

typedef struct matrix {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    uint32_t mask, start, leading, stride, base, pieces; /* of a line */
    bool is_transposed, holes;                           /* holes: some byte is undefined */
    uint32_t racing, racing_at;
    kcsim_racer other;
    uint32_t copied, copied_at;
    /* K contiguous: piece k of `outer` at 2 * outer + k; else piece `outer` of line k at
     * across * k + outer. */
    uint32_t across;
    uint32_t addresses[MOST_PIECES];
} matrix;

static void open_matrix(matrix *at, kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                        kcsim_ref ref, bool transposed) {
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
    at->warp = warp;
    at->insn = insn;
    at->mask = mask;
    at->start = (uint32_t)(bits & 0x3fff) << 4;
    at->leading = (uint32_t)(bits >> 16 & 0x3fff) << 4;
    at->stride = (uint32_t)(bits >> 32 & 0x3fff) << 4;
    at->base = (uint32_t)(bits >> 49 & 7);
    at->pieces = pieces[bits >> 62];
    at->is_transposed = transposed;
    at->holes = false;
    at->racing = at->copied = 0;
}

static inline uint32_t swizzled(const matrix *at, uint32_t offset) {
    uint32_t address = at->start + offset;
    return address ^ ((((address >> 7) - at->base) & (at->pieces - 1)) << 4);
}

/* Addresses of the two pieces of each of `rows` rows. */
static uint32_t place_rows(matrix *at, uint32_t first, uint32_t rows) {
    uint32_t line = at->pieces * PIECE, second = at->pieces == 1 ? at->leading : PIECE;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t offset = (first + i) % 8 * line + (first + i) / 8 * at->stride;
        at->addresses[2 * i] = swizzled(at, offset);
        at->addresses[2 * i + 1] = swizzled(at, offset + second);
    }
    return 2 * rows;
}

/* Of each of k lines those of `across` pieces. */
static uint32_t place_lines(matrix *at, uint32_t first, uint32_t k) {
    uint32_t shift = (uint32_t)__builtin_ctz(at->pieces), line = at->pieces * PIECE, count = 0;
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t piece = first; piece < first + at->across; piece++) {
            uint32_t offset =
                at->pieces == 1
                    ? piece * at->stride + i % 8 * PIECE + i / 8 * at->leading
                    : piece % at->pieces * PIECE + (piece >> shift) * at->leading + i % 8 * line +
                          i / 8 * at->stride;
            at->addresses[count++] = swizzled(at, offset);
        }
    return count;
}

static void tell_outside(const matrix *at, uint32_t address) {
    uint64_t addresses[KCSIM_LANES];
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        addresses[i] = address;
    kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                           .lanes = at->mask,
                           .space = "shared",
                           .size = PIECE,
                           .addresses = addresses,
                           .other = "the matrix reaches past the end of shared memory"};
    kcsim_report_lanes(at->warp, at->insn, &report);
}

static bool is_defined(const matrix *at, uint32_t address, uint32_t size) {
    const uint8_t *marks = at->warp->block->shared_defined + address;
    uint64_t together = UINT64_MAX, part;
    if (!at->warp->block->launch->track) return true;
    for (uint32_t i = 0; i < size; i += 8) {
        memcpy(&part, marks + i, 8);
        together &= part;
    }
    return (together & 0x0101010101010101u) == 0x0101010101010101u;
}

/* Notes everything that is to be said of reading these pieces, which follow each other. */
static void note_run(matrix *at, uint32_t address, uint32_t size) {
    kcsim_block *block = at->warp->block;
    uint32_t thread = 0;
    kcsim_racer other = {.warp = 0};
    uint64_t mbarrier;
    if (block->race &&
        kcsim_race_access(block->race, at->warp, address, size, KCSIM_ACCESS_READ, &other) &&
        !at->racing++) {
        at->racing_at = address;
        at->other = other;
    }
    if (block->copies && kcsim_copies_look(block->copies, at->warp, address, size, &thread) !=
                             KCSIM_COPY_DONE && !at->copied++)
        at->copied_at = address;
    if (block->flights && kcsim_flights_look(block->flights, at->warp, address, size, &mbarrier) &&
        !at->copied++)
        at->copied_at = address;
    kcsim_wgmma_read(at->warp, at->insn, address, size, at->mask);
    at->holes |= !is_defined(at, address, size);
}

/* The first piece of [from, end) that is in the set, or is not; `end` when there is none. */
static uint32_t next_piece(const uint64_t *set, uint32_t from, uint32_t end, bool is_in) {
    while (from < end) {
        uint64_t word = (is_in ? set[from / 64] : ~set[from / 64]) >> from % 64;
        if (word) {
            from += (uint32_t)__builtin_ctzll(word);
            return from < end ? from : end;
        }
        from = (from / 64 + 1) * 64;
    }
    return end;
}

/* Where the pieces of rows `first` .. are, and a note of each run of neighbours. */
static void survey(matrix *at, ptx_type type, uint32_t first, uint32_t rows, uint32_t k) {
    uint64_t set[SHARED_WORDS];
    uint64_t end = at->warp->block->launch->shared_bytes, outside = 0;
    uint32_t each = 128 / ptx_types[type].bits, low = UINT32_MAX, high = 0;
    at->across = rows / each;
    uint32_t count =
        at->is_transposed ? place_lines(at, first / each, k) : place_rows(at, first, rows);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t address = at->addresses[i];
        if (address + PIECE > end) {
            outside = outside ? outside : address;
        } else {
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
    }
    if (outside) tell_outside(at, (uint32_t)outside);
    if (low > high) return;
    uint32_t from = low / PIECE / 64 * 64, to = high / PIECE + 1;
    memset(set, 0, ((to - from) / 64 + 1) * sizeof *set);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t piece = at->addresses[i] / PIECE - from;
        if (at->addresses[i] + PIECE <= end) set[piece / 64] |= (uint64_t)1 << piece % 64;
    }
    for (uint32_t piece = 0, last; piece < to - from; piece = last) {
        piece = next_piece(set, piece, to - from, true);
        last = next_piece(set, piece, to - from, false);
        if (piece < last) note_run(at, (from + piece) * PIECE, (last - piece) * PIECE);
    }
}

/* Zeros where it is outside. */
static const uint8_t *piece_at(const matrix *at, uint32_t number) {
    static const uint8_t zeros[PIECE];
    uint32_t address = at->addresses[number];
    bool inside = address + PIECE <= at->warp->block->launch->shared_bytes;
    return inside ? at->warp->block->shared + address : zeros;
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

static bool piece_is_defined(const matrix *at, uint32_t number) {
    uint32_t address = at->addresses[number];
    bool inside = address + PIECE <= at->warp->block->launch->shared_bytes;
    return !inside || is_defined(at, address, PIECE);
}

/* Rows, a bit each, of which a byte is undefined. */
static uint32_t undefined_rows(const matrix *at, ptx_type type, uint32_t first, uint32_t count,
                               uint32_t k) {
    uint32_t each = 128 / ptx_types[type].bits, undefined = 0;
    if (!at->holes) return 0;
    for (uint32_t row = 0; !at->is_transposed && row < count; row++)
        for (uint32_t piece = 0; piece < 2; piece++)
            if (!piece_is_defined(at, 2 * (first + row) + piece)) undefined |= 1u << row;
    for (uint32_t i = 0; at->is_transposed && i < k; i++)
        for (uint32_t row = 0; row < count; row += each)
            if (!piece_is_defined(at, at->across * i + (first + row) / each))
                undefined |= ((1u << each) - 1) << row;
    return undefined;
}

static uint32_t elements_of_piece(ptx_type type) {
    return type == PTX_B1 ? 4 : 128 / ptx_types[type].bits; /* bits go by words */
}

/* A's 16 rows. */
static void take_rows(const matrix *at, kcsim_tile *tile, ptx_type type, uint32_t k) {
    uint32_t each = elements_of_piece(type);
    for (uint32_t i = 0; !at->is_transposed && i < 32; i++)
        kcsim_elements(type, piece_at(at, i), each, tile->a[i / 2] + i % 2 * each);
    for (uint32_t i = 0; at->is_transposed && i < k; i++)
        for (uint32_t row = 0; row < 16; row += each) {
            double values[8];
            kcsim_elements(type, piece_at(at, at->across * i + row / each), each, values);
            for (uint32_t n = 0; n < each; n++)
                tile->a[row + n][i] = values[n];
        }
    tile->row_undefined = undefined_rows(at, type, 0, 16, k);
}

/* Eight columns of B. */
static void take_columns(const matrix *at, kcsim_tile *tile, ptx_type type, uint32_t first,
                         uint32_t k) {
    const uint8_t *rows[2][8];
    for (uint32_t i = 0; !at->is_transposed && i < 16; i++)
        rows[i / 8][i % 8] = piece_at(at, 2 * (first + i % 8) + i / 8);
    if (!at->is_transposed) kcsim_tile_take_columns(tile, type, rows);
    for (uint32_t i = 0; at->is_transposed && i < k; i++)
        kcsim_elements(type, piece_at(at, at->across * i + first / 8), 8, tile->b[i]);
    tile->column_undefined = undefined_rows(at, type, first, 8, k);
}

static void take_a(kcsim_tile *tile, kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t k = form->a == PTX_B1 ? form->k / 32 : form->k;
    if (form->a_registers) {
        kcsim_tile_take_a(tile, warp, form->a, insn->list + form->d_registers, 4, true);
    } else {
        matrix a;
        open_matrix(&a, warp, insn, mask, insn->a, form->a_transposed);
        survey(&a, form->a, 16 * (warp->index % 4), 16, k);
        take_rows(&a, tile, form->a, k);
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
    kcsim_wgmma_issue(warp, insn, mask);
    bool accumulate = adds(warp, insn, mask);
    tile.row_undefined = 0;
    take_a(&tile, warp, insn, mask);
    matrix b;
    open_matrix(&b, warp, insn, mask, insn->b, form->b_transposed);
    survey(&b, form->b, 0, form->n, k);
    for (uint32_t n = 0; n < form->n; n += 8) {
        const kcsim_ref *d = insn->list + n / 8 * registers;
        take_columns(&b, &tile, form->b, n, k);
        start_sum(&tile, warp, form->d, d, registers, accumulate);
        if (form->a == PTX_B1) kcsim_tile_count(&tile, 16, k, false);
        else kcsim_tile_multiply(&tile, 16, k, false);
        kcsim_tile_give(&tile, warp, form->d, form->saturate, d, registers, mask);
    }
    close_matrix(&b);
    warp->block->worker->counts.tensor_flops += 2u * 16 * form->n * form->k;
}
