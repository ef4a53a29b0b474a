/* Tensor-core instructions of whole warps: ldmatrix, stmatrix, movmatrix, mma.sync.
 *
 * Where elements live (lane = 4 * g + t):
 *     8x8 matrix of 16-bit elements   lane holds row g, columns 2t and 2t+1
 *     A, 16 rows      register r: row g + 8 * (r & 1), columns 4E * (r >> 1) + E * t + 0..E-1
 *     A, 8 rows       register r: row g, columns 4E * r + E * t + 0..E-1
 *     B, 8 columns    register r: rows 4E * r + E * t + 0..E-1, column g
 *     C and D         elements 0 1: row g; 2 3: row g + 8; columns 2t and 2t+1
 * with E elements in a register: of 32 bits 8 of 4, 4 of 8, 2 of 16, 1 tf32 or 32 single bits;
 * 1 f64. */
#include <math.h>
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

typedef struct mma_tiles {
    double a[16][64], b[64][8];
    bool row_defined[16], column_defined[8];
} mma_tiles;

static uint64_t word_of(const kcsim_warp *warp, kcsim_ref ref, uint32_t lane, uint32_t bytes) {
    uint64_t word = 0;
    memcpy(&word, (const uint8_t *)kcsim_at(warp, ref) + lane * bytes, bytes);
    return word;
}

static void load_tiles(const kcsim_warp *warp, const kcsim_insn *insn, kcsim_mma_shape shape,
                       mma_tiles *tiles) {
    ptx_type a_type = insn->source->types[1], b_type = insn->source->types[2];
    uint32_t bits = shape.bits % 64, each = shape.elements, halves = shape.m / 16;
    const kcsim_ref *a = insn->list + shape.d_registers, *b = a + shape.a_registers;
    memset(tiles->row_defined, 1, sizeof tiles->row_defined);
    memset(tiles->column_defined, 1, sizeof tiles->column_defined);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t g = lane / 4, t = lane % 4;
        for (uint32_t r = 0; r < shape.a_registers; r++) {
            uint64_t word = word_of(warp, a[r], lane, shape.bytes);
            uint32_t row = g + 8 * (r & halves);
            tiles->row_defined[row] &= warp->full[a[r].slot] >> lane & 1;
            for (uint32_t i = 0; i < each; i++)
                tiles->a[row][4 * each * (r >> halves) + each * t + i] =
                    kcsim_matrix_element(a_type, word >> bits * i);
        }
        for (uint32_t r = 0; r < shape.b_registers; r++) {
            uint64_t word = word_of(warp, b[r], lane, shape.bytes);
            tiles->column_defined[g] &= warp->full[b[r].slot] >> lane & 1;
            for (uint32_t i = 0; i < each; i++)
                tiles->b[4 * each * r + each * t + i][g] =
                    kcsim_matrix_element(b_type, word >> bits * i);
        }
    }
}

static double count_bits(const mma_tiles *tiles, uint32_t row, uint32_t column, uint32_t k,
                         ptx_modifier product) {
    int count = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t a = (uint32_t)tiles->a[row][i], b = (uint32_t)tiles->b[i][column];
        count += __builtin_popcount(product == PTX_M_XOR ? a ^ b : a & b);
    }
    return count;
}

/* Products of f64 are added one after the other by fma. Of the others they are exact and their sum
 * is rounded once: at least as good as any order the hardware takes. Integer sums wrap, or with
 * .satfinite stop at the limits. */
static uint64_t dot(const mma_tiles *tiles, const ptx_statement *statement, uint32_t row,
                    uint32_t column, uint32_t k, uint64_t start) {
    ptx_type type = statement->types[0];
    double sum = kcsim_matrix_element(type, start);
    if (statement->types[1] == PTX_B1)
        sum += count_bits(tiles, row, column, k, ptx_has(statement, PTX_GROUP_ATOMIC));
    else if (type == PTX_F64)
        for (uint32_t i = 0; i < k; i++)
            sum = fma(tiles->a[row][i], tiles->b[i][column], sum);
    else
        for (uint32_t i = 0; i < k; i++)
            sum += tiles->a[row][i] * tiles->b[i][column];
    if (type != PTX_S32) return kcsim_encode(type, sum, PTX_M_RN);
    if (ptx_has(statement, PTX_GROUP_SAT))
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(int64_t)sum;
}

/* What a register of D is in its lanes: one number, or two halves. */
static uint32_t multiply(const kcsim_warp *warp, const kcsim_insn *insn, kcsim_mma_shape shape,
                         const mma_tiles *tiles, uint32_t r, uint8_t *result) {
    const kcsim_ref *c = insn->list + shape.d_registers + shape.a_registers + shape.b_registers;
    uint32_t each = shape.m / 4 / shape.d_registers, defined = warp->full[c[r].slot];
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint64_t start = word_of(warp, c[r], lane, shape.bytes), word = 0;
        for (uint32_t i = 0; i < each; i++) {
            uint32_t n = r * each + i, row = lane / 4 + 8 * (n >> 1);
            uint32_t column = 2 * (lane % 4) + (n & 1);
            word |= dot(tiles, insn->source, row, column, shape.k, start >> 16 * i) << 16 * i;
            if (!tiles->row_defined[row] || !tiles->column_defined[column])
                defined &= ~(1u << lane);
        }
        memcpy(result + lane * shape.bytes, &word, shape.bytes);
    }
    return defined;
}

void kcsim_do_mma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_mma_shape shape = kcsim_mma_shape_of(insn->source);
    mma_tiles tiles;
    uint8_t results[4][32 * 8];
    uint32_t defined[4];
    load_tiles(warp, insn, shape, &tiles);
    for (uint32_t r = 0; r < shape.d_registers; r++)
        defined[r] = multiply(warp, insn, shape, &tiles, r, results[r]);
    for (uint32_t r = 0; r < shape.d_registers; r++) {
        kcsim_put(warp, insn->list[r], results[r], shape.bytes, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, insn->list[r], lane, shape.bytes,
                                       defined[r] >> lane & 1 ? UINT64_MAX : 0);
    }
    kcsim_extent extent = kcsim_matrix_extent(insn->source);
    warp->block->worker->counts.tensor_flops += 2 * extent.m * extent.n * extent.k;
}
