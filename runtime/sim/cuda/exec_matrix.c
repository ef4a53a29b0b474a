/* Tensor-core instructions of whole warps: ldmatrix, stmatrix, movmatrix, mma.sync.
 *
 * Where elements live (lane = 4 * g + t):
 *     8x8 matrix of 16-bit elements   lane holds row g, columns 2t and 2t+1
 *     A, 16 rows                      register r: row g + 8 * (r & 1), columns 4E * (r >> 1) + E *
 * t + 0..E-1 B, 8 columns                    register r: rows 4E * r + E * t + 0..E-1, column g C
 * and D, 16 x 8                 elements 0 1: row g; 2 3: row g + 8; columns 2t and 2t+1 with E
 * elements in a 32-bit register: 4 of 8 bits, 2 of 16, 1 tf32. */
#include <string.h>

#include "runtime/sim/cuda/access.h"

/* ---- moving matrices ---- */

/* Row r of matrix i lies where lane 8 * i + r points. False when some row cannot be reached. */
static bool locate_rows(kcsim_access *access, uint32_t mask) {
    const kcsim_insn *insn = access->insn;
    uint64_t addresses[KCSIM_LANES];
    uint32_t lanes = insn->count == 4 ? UINT32_MAX : (1u << 8 * insn->count) - 1;
    uint32_t rest = kcsim_access_addresses(access->warp, insn, insn->a, insn->mode, insn->imm,
                                           mask & lanes, addresses);
    if (!rest) return false;
    kcsim_access_take_space(access, PTX_SPACE_SHARED, addresses, &rest);
    kcsim_access_locate(access);
    if (!access->mask) return false;
    kcsim_access_race(access);
    kcsim_access_count(access);
    return access->mask == lanes;
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

typedef struct mma_shape {
    uint32_t k, elements; /* in a register */
    uint32_t d_registers, a_registers, b_registers;
} mma_shape;

static mma_shape shape_of(const ptx_statement *statement) {
    unsigned bits = ptx_types[statement->types[1]].bits;
    mma_shape shape = {.elements = 32 / bits,
                       .d_registers = statement->types[0] == PTX_F16 ? 2 : 4};
    switch (ptx_has(statement, PTX_GROUP_SHAPE)) {
    case PTX_M_M16N8K4: shape.k = 4; break;
    case PTX_M_M16N8K8: shape.k = 8; break;
    case PTX_M_M16N8K16: shape.k = 16; break;
    default: shape.k = 32; break;
    }
    shape.b_registers = shape.k / (4 * shape.elements);
    shape.a_registers = 2 * shape.b_registers;
    return shape;
}

static double element_of(ptx_type type, uint32_t bits) {
    switch (type) {
    case PTX_S8: return (int8_t)bits;
    case PTX_U8: return (uint8_t)bits;
    case PTX_S32: return (int32_t)bits;
    case PTX_TF32:
        return kcsim_decode(PTX_F32,
                            bits & 0xffffe000); /* the unit reads ten bits of the fraction */
    default: return kcsim_decode(type, ptx_types[type].bits == 32 ? bits : bits & 0xffff);
    }
}

typedef struct mma_tiles {
    double a[16][32], b[32][8];
    bool row_defined[16], column_defined[8];
} mma_tiles;

static void load_tiles(const kcsim_warp *warp, const kcsim_insn *insn, mma_shape shape,
                       mma_tiles *tiles) {
    ptx_type a_type = insn->source->types[1], b_type = insn->source->types[2];
    uint32_t bits = 32 / shape.elements;
    const kcsim_ref *a = insn->list + shape.d_registers, *b = a + shape.a_registers;
    memset(tiles->row_defined, 1, sizeof tiles->row_defined);
    memset(tiles->column_defined, 1, sizeof tiles->column_defined);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t g = lane / 4, t = lane % 4;
        for (uint32_t r = 0; r < shape.a_registers; r++) {
            uint32_t word = ((const uint32_t *)kcsim_at(warp, a[r]))[lane], row = g + 8 * (r & 1);
            tiles->row_defined[row] &= warp->full[a[r].slot] >> lane & 1;
            for (uint32_t i = 0; i < shape.elements; i++)
                tiles->a[row][4 * shape.elements * (r >> 1) + shape.elements * t + i] =
                    element_of(a_type, word >> bits % 32 * i);
        }
        for (uint32_t r = 0; r < shape.b_registers; r++) {
            uint32_t word = ((const uint32_t *)kcsim_at(warp, b[r]))[lane];
            tiles->column_defined[g] &= warp->full[b[r].slot] >> lane & 1;
            for (uint32_t i = 0; i < shape.elements; i++)
                tiles->b[4 * shape.elements * r + shape.elements * t + i][g] =
                    element_of(b_type, word >> bits % 32 * i);
        }
    }
}

/* The products are exact and their sum is rounded once: at least as good as any order the hardware
 * takes. Integer sums wrap, or with .satfinite stop at the limits. */
static uint32_t dot(const mma_tiles *tiles, const ptx_statement *statement, uint32_t row,
                    uint32_t column, uint32_t k, uint32_t start) {
    ptx_type type = statement->types[0];
    double sum = element_of(type, start);
    for (uint32_t i = 0; i < k; i++)
        sum += tiles->a[row][i] * tiles->b[i][column];
    if (type != PTX_S32) return (uint32_t)kcsim_encode(type, sum, PTX_M_RN);
    if (ptx_has(statement, PTX_GROUP_SAT))
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(int64_t)sum;
}

void kcsim_do_mma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    mma_shape shape = shape_of(insn->source);
    mma_tiles tiles;
    const kcsim_ref *c = insn->list + shape.d_registers + shape.a_registers + shape.b_registers;
    uint32_t results[4][32] = {{0}}, defined[4] = {0}, each = 4 / shape.d_registers;
    load_tiles(warp, insn, shape, &tiles);
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t r = n / each, shift = each == 2 ? 16 * (n & 1) : 0;
        const uint32_t *start = kcsim_at(warp, c[r]);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t row = lane / 4 + 8 * (n >> 1), column = 2 * (lane % 4) + (n & 1);
            results[r][lane] |=
                dot(&tiles, insn->source, row, column, shape.k, start[lane] >> shift) << shift;
            bool known = tiles.row_defined[row] && tiles.column_defined[column] &&
                         warp->full[c[r].slot] >> lane & 1;
            defined[r] |= (uint32_t)known << lane;
            if (!known) defined[r] &= ~(1u << lane);
        }
    }
    for (uint32_t r = 0; r < shape.d_registers; r++) {
        kcsim_put(warp, insn->list[r], results[r], 4, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, insn->list[r], lane, 4,
                                       defined[r] >> lane & 1 ? UINT64_MAX : 0);
    }
    warp->block->worker->counts.tensor_flops += 2 * 16 * 8 * shape.k;
}
