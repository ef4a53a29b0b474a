/* wgmma.mma_async: one warp's 16 rows of D = A * B + D. wgmma_plan.c says where they lie. */
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/mma.h"
#include "runtime/sim/cuda/tensor.h"
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/wgmma.h"

#define PIECE KCSIM_WGMMA_PIECE

typedef struct matrix {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    const kcsim_wgmma_plan *plan;
    uint32_t mask, start;
    bool is_transposed, holes; /* holes: some byte is undefined */
    bool racing;
    uint32_t racing_at;
    kcsim_racer other;
    uint32_t copied, copied_at;
} matrix;

static bool is_inside(const matrix *at, uint32_t number) {
    return at->start + at->plan->addresses[number] + PIECE <=
           at->warp->block->launch->shared_bytes;
}

static void tell_outside(const matrix *at) {
    uint64_t addresses[KCSIM_LANES];
    uint32_t first = 0;
    while (is_inside(at, first))
        first++;
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        addresses[i] = at->start + at->plan->addresses[first];
    kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                           .lanes = at->mask,
                           .space = "shared",
                           .size = PIECE,
                           .addresses = addresses,
                           .other = "the matrix reaches past the end of shared memory"};
    kcsim_report_lanes(at->warp, at->insn, &report);
}

/* Every byte of these stretches, multiples of 16. */
static bool is_defined(const matrix *at, const kcsim_stretch *list, uint32_t count) {
    const kcsim_block *block = at->warp->block;
    uint64_t together = UINT64_MAX, parts[2];
    if (!block->launch->track) return true;
    for (uint32_t n = 0; n < count; n++) {
        const uint8_t *marks = block->shared_defined + at->start + list[n].at;
        for (const uint8_t *end = marks + list[n].size; marks < end; marks += sizeof parts) {
            memcpy(parts, marks, sizeof parts);
            together &= parts[0] & parts[1];
        }
    }
    return (together & 0x0101010101010101u) == 0x0101010101010101u;
}

static void note_copies(matrix *at, uint32_t address, uint32_t size) {
    const kcsim_block *block = at->warp->block;
    uint32_t thread = 0;
    uint64_t mbarrier;
    if (block->copies && kcsim_copies_look(block->copies, at->warp, address, size, &thread) !=
                             KCSIM_COPY_DONE && !at->copied++)
        at->copied_at = address;
    if (block->flights && kcsim_flights_look(block->flights, at->warp, address, size, false, &mbarrier) &&
        !at->copied++)
        at->copied_at = address;
}

/* Notes everything that is to be said of reading these stretches. */
static void note_reading(matrix *at, const kcsim_stretch *list, uint32_t count) {
    kcsim_block *block = at->warp->block;
    uint32_t which = 0;
    if (block->race)
        at->racing = kcsim_race_read(block->race, at->warp, at->start, list, count, &at->other,
                                     &which);
    if (at->racing) at->racing_at = at->start + list[which].at;
    for (uint32_t i = 0; (block->copies || block->flights) && i < count; i++)
        note_copies(at, at->start + list[i].at, list[i].size);
    kcsim_wgmma_read(at->warp, at->insn, at->start, list, count, at->mask);
    at->holes = !is_defined(at, list, count);
}

/* A matrix that reaches past the end: what is inside is looked at as ever. */
static void note_part(matrix *at, uint32_t end) {
    kcsim_stretch inside[KCSIM_WGMMA_PIECES];
    uint32_t count = 0;
    tell_outside(at);
    for (uint32_t i = 0; i < at->plan->run_count; i++) {
        kcsim_stretch run = at->plan->runs[i];
        uint32_t from = at->start + run.at;
        if (from >= end) continue;
        if (run.size > end - from) run.size = (end - from) / PIECE * PIECE;
        inside[count++] = run;
    }
    note_reading(at, inside, count);
}

static void tell_different(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                           const uint64_t *values, uint64_t bits) {
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .space = "warp",
                           .other = "the lanes name different matrices"};
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        if (mask >> lane & 1 && values[lane] != bits) report.lanes |= 1u << lane;
    if (report.lanes) kcsim_report_lanes(warp, insn, &report);
}

/* The descriptor: the first lane's. */
static uint64_t descriptor(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                           kcsim_ref ref) {
    const uint64_t *values = kcsim_at(warp, ref);
    uint64_t bits = values[__builtin_ctz(mask)];
    kcsim_report_undefined(warp, insn, ref, mask, "the matrix descriptor was never written");
    uint64_t different = 0;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        different |= values[lane] ^ bits;
    if (different) tell_different(warp, insn, mask, values, bits);
    return bits;
}

/* Rows `first` .. ; lines: of K, when that is not contiguous, else 0. */
static matrix open_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, uint64_t bits,
                          uint32_t first, uint32_t rows, uint32_t lines) {
    kcsim_wgmma_plan *plans = warp->block->worker->plans;
    uint32_t end = (uint32_t)warp->block->launch->shared_bytes;
    matrix at = {.warp = warp,
                 .insn = insn,
                 .mask = mask,
                 .start = ((uint32_t)(bits & 0x3fff) << 4) & ~1023u,
                 .plan = kcsim_wgmma_plan_of(plans, bits, first, rows, lines),
                 .is_transposed = lines != 0};
    if (at.start + at.plan->end > end) note_part(&at, end);
    else note_reading(&at, at.plan->runs, at.plan->run_count);
    return at;
}

static void count_reading(const matrix *at) {
    kcsim_cost *cost = kcsim_cost_of(at->warp);
    cost->wavefronts += at->plan->wavefronts;
    cost->bank_conflicts += at->plan->bank_conflicts;
}

/* Zeros where it is outside. */
static const uint8_t *piece_at(const matrix *at, uint32_t number) {
    static const uint8_t zeros[PIECE];
    if (!is_inside(at, number)) return zeros;
    return at->warp->block->shared + at->start + at->plan->addresses[number];
}

static void close_matrix(const matrix *at) {
    uint64_t addresses[KCSIM_LANES];
    char text[KCSIM_FINDING_TEXT];
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
    const kcsim_stretch piece = {at->plan->addresses[number], PIECE};
    return !is_inside(at, number) || is_defined(at, &piece, 1);
}

/* Rows, a bit each, of which a byte is undefined. */
static uint32_t undefined_rows(const matrix *at, uint32_t first, uint32_t count) {
    uint32_t undefined = 0;
    if (!at->holes) return 0;
    for (uint32_t row = 0; !at->is_transposed && row < count; row++)
        for (uint32_t piece = 0; piece < 2; piece++)
            if (!piece_is_defined(at, 2 * (first + row) + piece)) undefined |= 1u << row;
    for (uint32_t i = 0; at->is_transposed && i < at->plan->key.lines; i++)
        for (uint32_t row = 0; row < count; row += 8)
            if (!piece_is_defined(at, at->plan->across * i + (first + row) / 8))
                undefined |= 0xffu << row;
    return undefined;
}

/* A's 16 rows. */
static void take_rows(const matrix *at, kcsim_tile *tile, ptx_type type) {
    const uint8_t *pieces[16][2];
    for (uint32_t i = 0; !at->is_transposed && i < 32; i++)
        pieces[i / 2][i % 2] = piece_at(at, i);
    if (!at->is_transposed) kcsim_tile_take_rows(tile, type, pieces);
    for (uint32_t i = 0; at->is_transposed && i < 2 * at->plan->key.lines; i++) {
        double values[8];
        kcsim_elements(type, piece_at(at, i), 8, values);
        for (uint32_t n = 0; n < 8; n++)
            tile->a[i % 2 * 8 + n][i / 2] = values[n];
    }
    tile->row_undefined = undefined_rows(at, 0, 16);
}

/* Eight columns of B. */
static void take_columns(const matrix *at, kcsim_tile *tile, ptx_type type, uint32_t first) {
    const uint8_t *rows[2][8];
    for (uint32_t i = 0; !at->is_transposed && i < 16; i++)
        rows[i / 8][i % 8] = piece_at(at, 2 * (first + i % 8) + i / 8);
    if (!at->is_transposed) kcsim_tile_take_columns(tile, type, rows);
    for (uint32_t i = 0; at->is_transposed && i < at->plan->key.lines; i++)
        kcsim_elements(type, piece_at(at, at->plan->across * i + first / 8), 8, tile->b[i]);
    tile->column_undefined = undefined_rows(at, first, 8);
}

static void take_a(kcsim_tile *tile, kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t k = form->a == PTX_B1 ? form->k / 32 : form->k;
    if (form->a_registers) {
        kcsim_tile_take_a(tile, warp, form->a, insn->list + form->d_registers, 4, true);
    } else {
        matrix a = open_matrix(warp, insn, mask, descriptor(warp, insn, mask, insn->a),
                               16 * (warp->index % 4), 16, form->a_transposed ? k : 0);
        count_reading(&a);
        take_rows(&a, tile, form->a);
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

/* ---- a sparse A ---- */

/* The second 32 bytes of K: as a loop over K finds them, too. */
static uint64_t advanced(uint64_t bits, bool is_transposed) {
    uint64_t leading = bits >> 16 & 0x3fff, stride = bits >> 32 & 0x3fff, swizzle = bits >> 62;
    uint64_t by = is_transposed ? 2 * (swizzle ? stride : leading) : swizzle ? 2 : 2 * leading;
    return (bits & ~(uint64_t)0x3fff) | ((bits + by) & 0x3fff);
}

/* A section's half of what A holds, spread over its columns. */
static void take_section(kcsim_tile *to, const kcsim_tile *all, const kcsim_warp *warp,
                         const kcsim_insn *insn, uint32_t section, kcsim_pattern *pattern) {
    const kcsim_mma_form *sparse = insn->fn.wgmma->sparse;
    uint32_t half = sparse->k / 2u;
    to->row_undefined = all->row_undefined;
    for (uint32_t row = 0; row < 16; row++)
        memcpy(to->a[row], all->a[row] + section * half, half * sizeof to->a[row][0]);
    kcsim_sparse_spread(to, warp, sparse, insn->list[insn->list_count - 1], section, pattern);
}

/* B[0] and b[1] times the two sections; the sum goes from one to the other. */
static void multiply_sections(kcsim_tile tiles[2], const matrix b[2],
                              const kcsim_pattern patterns[2], const struct kcsim_wgmma_form *form,
                              uint32_t first) {
    take_columns(&b[0], &tiles[0], form->b, first);
    kcsim_sparse_multiply(&tiles[0], &patterns[0], form->k);
    memcpy(tiles[1].sum, tiles[0].sum, sizeof tiles[1].sum);
    memcpy(tiles[1].sum_defined, tiles[0].sum_defined, sizeof tiles[1].sum_defined);
    take_columns(&b[1], &tiles[1], form->b, first);
    kcsim_sparse_multiply(&tiles[1], &patterns[1], form->k);
    tiles[1].column_undefined |= tiles[0].column_undefined;
    tiles[1].row_undefined |= tiles[0].row_undefined;
}

static void do_sparse(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, bool accumulate) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t registers = form->d == PTX_F16 ? 2 : 4, lines = form->b_transposed ? form->k : 0;
    uint64_t bits = descriptor(warp, insn, mask, insn->b);
    kcsim_tile all, tiles[2];
    kcsim_pattern patterns[2];
    all.row_undefined = 0;
    take_a(&all, warp, insn, mask);
    matrix b[2] = {open_matrix(warp, insn, mask, bits, 0, form->n, lines)};
    const kcsim_wgmma_plan first = *b[0].plan; /* the next may take its place */
    b[0].plan = &first;
    b[1] = open_matrix(warp, insn, mask, advanced(bits, form->b_transposed), 0, form->n, lines);
    for (uint32_t section = 0; section < 2; section++) {
        take_section(&tiles[section], &all, warp, insn, section, &patterns[section]);
        if (warp->index % 4 == 0) count_reading(&b[section]);
    }
    for (uint32_t n = 0; n < form->n; n += 8) {
        const kcsim_ref *d = insn->list + n / 8 * registers;
        start_sum(&tiles[0], warp, form->d, d, registers, accumulate);
        multiply_sections(tiles, b, patterns, form, n);
        kcsim_tile_give(&tiles[1], warp, form->d, form->saturate, d, registers, mask);
    }
    close_matrix(&b[0]);
    close_matrix(&b[1]);
    kcsim_cost_of(warp)->flops += 2u * 16 * form->n * 2 * form->k;
}

void kcsim_do_wgmma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const struct kcsim_wgmma_form *form = insn->fn.wgmma;
    uint32_t k = form->a == PTX_B1 ? form->k / 32 : form->k;
    uint32_t registers = form->d == PTX_F16 ? 2 : 4;
    kcsim_tile tile;
    kcsim_wgmma_issue(warp, insn, mask);
    bool accumulate = adds(warp, insn, mask);
    if (form->sparse) {
        do_sparse(warp, insn, mask, accumulate);
        return;
    }
    tile.row_undefined = 0;
    take_a(&tile, warp, insn, mask);
    matrix b = open_matrix(warp, insn, mask, descriptor(warp, insn, mask, insn->b), 0, form->n,
                           form->b_transposed ? k : 0);
    if (warp->index % 4 == 0) count_reading(&b); /* the warpgroup reads it once */
    for (uint32_t n = 0; n < form->n; n += 8) {
        const kcsim_ref *d = insn->list + n / 8 * registers;
        take_columns(&b, &tile, form->b, n);
        start_sum(&tile, warp, form->d, d, registers, accumulate);
        if (form->a == PTX_B1) kcsim_tile_count(&tile, 16, k, false);
        else kcsim_tile_multiply(&tile, 16, k, false);
        kcsim_tile_give(&tile, warp, form->d, form->saturate, d, registers, mask);
    }
    close_matrix(&b);
    kcsim_cost_of(warp)->flops += 2u * 16 * form->n * form->k;
}
