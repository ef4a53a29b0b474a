/* Tensor-core instructions of whole warps: ldmatrix, stmatrix, movmatrix, mma.sync.
 *
 * An 8x8 matrix of 16-bit elements: lane 4 * g + t holds row g, columns 2t and 2t+1. */
#include <string.h>

#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/mma.h"

/* ---- moving matrices ---- */

/* Row r of matrix i lies where lane 8 * i + r points. */
static bool locate_rows(kcsim_access *access, uint32_t mask) {
    uint32_t rows = 8 * access->insn->count;
    return kcsim_access_rows(access, rows, mask);
}

static uint32_t matrix_cell(uint32_t lane, uint32_t half, bool transposed, uint32_t *column) {
    uint32_t row = lane / 4, at = 2 * (lane % 4) + half;
    *column = transposed ? row : at;
    return transposed ? at : row;
}

void kcsim_do_load_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_access access = {.warp = warp, .insn = insn, .size = 16, .kind = KCSIM_ACCESS_READ};
    bool whole = locate_rows(&access, mask);
    for (uint32_t i = 0; i < insn->count; i++) {
        uint32_t values[32] = {0};
        uint64_t bits[32];
        for (uint32_t lane = 0; lane < 32; lane++) {
            bits[lane] = UINT64_MAX;
            for (uint32_t half = 0; whole && half < 2; half++) {
                uint32_t column, row = 8 * i + matrix_cell(lane, half, insn->extend, &column);
                uint16_t element;
                memcpy(&element, kcsim_host(&access, row) + 2 * column, 2);
                values[lane] |= (uint32_t)element << 16 * half;
                bool shadowed = access.shadowed >> row & 1;
                if (shadowed && !kcsim_marks(&access, row)[2 * column])
                    bits[lane] &= ~((uint64_t)0xff << 16 * half);
                if (shadowed && !kcsim_marks(&access, row)[2 * column + 1])
                    bits[lane] &= ~((uint64_t)0xff00 << 16 * half);
            }
        }
        kcsim_put(warp, insn->list[i], values, 4, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
            if (mask >> lane & 1) kcsim_set_defined_bits(warp, insn->list[i], lane, 4, bits[lane]);
    }
}

void kcsim_do_store_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_access access = {.warp = warp, .insn = insn, .size = 16, .kind = KCSIM_ACCESS_WRITE};
    if (!locate_rows(&access, mask)) return;
    for (uint32_t i = 0; i < insn->count; i++) {
        const uint32_t *values = kcsim_at(warp, insn->list[i]);
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t half = 0; half < 2; half++) {
                uint32_t column, row = 8 * i + matrix_cell(lane, half, insn->extend, &column);
                uint16_t element = (uint16_t)(values[lane] >> 16 * half);
                uint64_t bits = kcsim_defined_bits(warp, insn->list[i], lane) >> 16 * half;
                memcpy(kcsim_host(&access, row) + 2 * column, &element, 2);
                if (!(access.shadowed >> row & 1)) continue;
                kcsim_marks(&access, row)[2 * column] = (bits & 0xff) == 0xff;
                kcsim_marks(&access, row)[2 * column + 1] = (bits >> 8 & 0xff) == 0xff;
            }
    }
    warp->block->changes++;
}

void kcsim_do_move_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint32_t *a = kcsim_at(warp, insn->a);
    uint32_t result[32] = {0};
    uint64_t bits[32] = {0};
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t half = 0; half < 2; half++) {
            uint32_t row = 2 * (lane % 4) + half, column = lane / 4, from = 4 * row + column / 2;
            result[lane] |= (a[from] >> 16 * (column % 2) & 0xffff) << 16 * half;
            bits[lane] |= (kcsim_defined_bits(warp, insn->a, from) >> 16 * (column % 2) & 0xffff)
                          << 16 * half;
        }
    kcsim_put(warp, insn->d, result, 4, mask);
    for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
        if (mask >> lane & 1) kcsim_set_defined_bits(warp, insn->d, lane, 4, bits[lane]);
}

/* ---- mma ---- */

double kcsim_matrix_element(ptx_type type, uint64_t bits) {
    switch (type) {
    case PTX_S4: return (int32_t)((uint32_t)bits << 28) >> 28;
    case PTX_U4: return bits & 0xf;
    case PTX_S8: return (int8_t)bits;
    case PTX_U8: return (uint8_t)bits;
    case PTX_B1: return (uint32_t)bits; /* 32 of them */
    case PTX_S32: return (int32_t)bits;
    case PTX_E4M3: return kcsim_decode(PTX_E4M3X2, bits & 0xff);
    case PTX_E5M2: return kcsim_decode(PTX_E5M2X2, bits & 0xff);
    case PTX_TF32: /* the unit reads ten bits of the fraction */
        return kcsim_decode(PTX_F32, bits & 0xffffe000);
    case PTX_F32: return kcsim_decode(type, bits & UINT32_MAX);
    case PTX_F64: return kcsim_decode(type, bits);
    default: return kcsim_decode(type, bits & 0xffff);
    }
}

void kcsim_do_mma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const kcsim_mma_form *form = insn->fn.mma;
    kcsim_tile_mma(warp, form, insn->list, mask);
    kcsim_cost_of(warp)->flops += 2u * form->rows * 8 * form->k * (form->a == PTX_B1 ? 32 : 1);
}
