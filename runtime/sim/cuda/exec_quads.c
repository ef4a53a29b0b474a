/* mma.m8n8k4 of f16: four products, each by the eight lanes 4q..4q+3 and 16+4q..16+4q+3.
 *
 * PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type". Eight lanes are counted
 * 0 to 7 here, the last four being those from 16 on. Of A, stored by rows, lane r has row r; by
 * columns, lanes k and 4 + k have the upper and the lower half of column k. B is its mirror image.
 * Of C and D in f16, lane r has row r; in f32, element i of lane l is in row (l & 5) + (i & 2),
 * column (i & 5) + (l & 2). */
#include <string.h>

#include "runtime/sim/cuda/convert.h"
#include "runtime/sim/cuda/tensor.h"

typedef struct cell {
    double value;
    bool known;
} cell;

static uint32_t lane_of(uint32_t quad, uint32_t place) {
    return 4 * quad + place % 4 + (place >= 4 ? 16 : 0);
}

/* Element `i` of a lane: halves lie two in a register. */
static cell take(const kcsim_warp *warp, const kcsim_ref *list, ptx_type type, uint32_t lane,
                 uint32_t i) {
    kcsim_ref ref = list[type == PTX_F16 ? i / 2 : i];
    uint32_t shift = type == PTX_F16 ? 16 * (i % 2) : 0;
    uint32_t word = ((const uint32_t *)kcsim_at(warp, ref))[lane] >> shift;
    uint64_t wanted = type == PTX_F16 ? 0xffff : UINT32_MAX;
    return (cell){kcsim_matrix_element(type, word),
                  (kcsim_defined_bits(warp, ref, lane) >> shift & wanted) == wanted};
}

/* A[outer][k], or B[k][outer]; `runs`: k lies within a lane. */
static cell operand(const kcsim_warp *warp, const kcsim_ref *list, uint32_t quad, uint32_t outer,
                    uint32_t k, bool runs) {
    uint32_t place = runs ? outer : k + (outer & 4);
    return take(warp, list, PTX_F16, lane_of(quad, place), runs ? k : outer % 4);
}

/* Where an element of C or D is: the lane's place and the element's number. */
static uint32_t place_of(ptx_type type, uint32_t row, uint32_t column, uint32_t *i) {
    if (type == PTX_F16) {
        *i = column;
        return row;
    }
    *i = (column & 5) | (row & 2);
    return (row & 5) | (column & 2);
}

static cell element(const kcsim_warp *warp, const kcsim_insn *insn, uint32_t quad, uint32_t row,
                    uint32_t column) {
    const ptx_statement *statement = insn->source;
    bool a_runs = ptx_has(statement, PTX_GROUP_LAYOUT_A) == PTX_M_ROW;
    bool b_runs = ptx_has(statement, PTX_GROUP_LAYOUT_B) == PTX_M_COL_B;
    const kcsim_ref *a = insn->list + (statement->types[0] == PTX_F16 ? 4 : 8);
    uint32_t i, place = place_of(statement->types[3], row, column, &i);
    cell sum = take(warp, a + 4, statement->types[3], lane_of(quad, place), i);
    for (uint32_t k = 0; k < 4; k++) {
        cell left = operand(warp, a, quad, row, k, a_runs);
        cell right = operand(warp, a + 2, quad, column, k, b_runs);
        sum.value += left.value * right.value;
        sum.known &= left.known && right.known;
    }
    return sum;
}

void kcsim_do_mma_quads(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    ptx_type type = insn->source->types[0];
    uint32_t registers = type == PTX_F16 ? 4 : 8, values[8][32] = {{0}};
    uint64_t known[8][32];
    memset(known, 0xff, sizeof known);
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t quad = n / 64, row = n / 8 % 8, column = n % 8, i;
        cell sum = element(warp, insn, quad, row, column);
        uint32_t lane = lane_of(quad, place_of(type, row, column, &i));
        uint32_t index = type == PTX_F16 ? i / 2 : i, shift = type == PTX_F16 ? 16 * (i % 2) : 0;
        values[index][lane] |= (uint32_t)kcsim_encode(type, sum.value, PTX_M_RN) << shift;
        if (!sum.known)
            known[index][lane] &= ~((type == PTX_F16 ? 0xffffull : UINT32_MAX) << shift);
    }
    for (uint32_t r = 0; r < registers; r++) {
        kcsim_put(warp, insn->list[r], values[r], 4, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, insn->list[r], lane, 4, known[r][lane]);
    }
    kcsim_cost_of(warp)->flops += 4 * 2 * 8 * 8 * 4;
}
