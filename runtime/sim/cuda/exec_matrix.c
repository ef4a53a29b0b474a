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

static double half_of(uint32_t bits) {
    uint32_t word = (bits & 0x7fff) << 13;
    float value;
    if ((bits & 0x7c00) == 0x7c00) word |= 0x7f800000; /* infinities and NaN */
    memcpy(&value, &word, sizeof value);
    if ((bits & 0x7c00) != 0x7c00) value *= 0x1p112f;
    return bits & 0x8000 ? -value : value;
}

static double single_of(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* The numbers in a register; the usual types without a detour. */
static void unpack(ptx_type type, uint64_t word, uint32_t count, uint32_t bits, double *out) {
    uint32_t low = (uint32_t)word;
    switch (type) {
    case PTX_F16:
        out[0] = half_of(low & 0xffff);
        out[1] = half_of(low >> 16);
        break;
    case PTX_BF16:
        out[0] = single_of(low << 16);
        out[1] = single_of(low & 0xffff0000);
        break;
    case PTX_TF32: out[0] = single_of(low & 0xffffe000); break;
    case PTX_S8:
        for (uint32_t i = 0; i < 4; i++) out[i] = (int8_t)(low >> 8 * i);
        break;
    default:
        for (uint32_t i = 0; i < count; i++) out[i] = kcsim_matrix_element(type, word >> bits * i);
    }
}

typedef struct mma_tiles {
    double a[16][64], b[64][8], d[16][8];
    bool row_defined[16], column_defined[8];
    uint32_t start_defined[4]; /* lanes, by register of C */
} mma_tiles;

static uint64_t word_of(const kcsim_warp *warp, kcsim_ref ref, uint32_t lane, uint32_t bytes) {
    uint64_t word = 0;
    memcpy(&word, (const uint8_t *)kcsim_at(warp, ref) + lane * bytes, bytes == 4 ? 4 : 8);
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
            uint32_t row = g + 8 * (r & halves);
            tiles->row_defined[row] &= warp->full[a[r].slot] >> lane & 1;
            unpack(a_type, word_of(warp, a[r], lane, shape.bytes), each, bits,
                   &tiles->a[row][4 * each * (r >> halves) + each * t]);
        }
        for (uint32_t r = 0; r < shape.b_registers; r++) {
            double column[8];
            tiles->column_defined[g] &= warp->full[b[r].slot] >> lane & 1;
            unpack(b_type, word_of(warp, b[r], lane, shape.bytes), each, bits, column);
            for (uint32_t i = 0; i < each; i++)
                tiles->b[4 * each * r + each * t + i][g] = column[i];
        }
    }
}

/* A register of C and D holds elements r * each and on, each being 1 or, of f16, 2. */
static void load_sums(const kcsim_warp *warp, const kcsim_insn *insn, kcsim_mma_shape shape,
                      mma_tiles *tiles) {
    const kcsim_ref *c = insn->list + shape.d_registers + shape.a_registers + shape.b_registers;
    ptx_type type = insn->source->types[0];
    uint32_t each = shape.m / 4 / shape.d_registers;
    for (uint32_t r = 0; r < shape.d_registers; r++) {
        tiles->start_defined[r] = warp->full[c[r].slot];
        for (uint32_t lane = 0; lane < 32; lane++) {
            double values[2];
            uint32_t n = r * each, row = lane / 4 + 8 * (n >> 1), column = 2 * (lane % 4) + (n & 1);
            uint64_t word = word_of(warp, c[r], lane, shape.bytes);
            if (type == PTX_F32) values[0] = single_of((uint32_t)word);
            else unpack(type, word, each, 16, values);
            for (uint32_t i = 0; i < each; i++)
                tiles->d[row][column + i] = values[i];
        }
    }
}

static void count_bits(mma_tiles *tiles, uint32_t rows, uint32_t k, ptx_modifier product) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < 8; column++)
            for (uint32_t i = 0; i < k; i++) {
                uint32_t a = (uint32_t)tiles->a[row][i], b = (uint32_t)tiles->b[i][column];
                uint32_t both = product == PTX_M_XOR ? a ^ b : a & b;
                tiles->d[row][column] += __builtin_popcount(both);
            }
}

static void add_fused(mma_tiles *tiles, uint32_t rows, uint32_t k) {
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t column = 0; column < 8; column++)
            for (uint32_t i = 0; i < k; i++)
                tiles->d[row][column] =
                    fma(tiles->a[row][i], tiles->b[i][column], tiles->d[row][column]);
}

static void add_products(mma_tiles *tiles, uint32_t rows, uint32_t k) {
    for (uint32_t row = 0; row < rows; row++) {
        double sums[8];
        memcpy(sums, tiles->d[row], sizeof sums);
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t column = 0; column < 8; column++)
                sums[column] += tiles->a[row][i] * tiles->b[i][column];
        memcpy(tiles->d[row], sums, sizeof sums);
    }
}

/* Products of f64 are added one after the other by fma. Of the others they are exact and their sum
 * is rounded once: at least as good as any order the hardware takes. */
static void multiply(mma_tiles *tiles, const ptx_statement *statement, kcsim_mma_shape shape) {
    if (statement->types[1] == PTX_B1)
        count_bits(tiles, shape.m, shape.k, ptx_has(statement, PTX_GROUP_ATOMIC));
    else if (statement->types[0] == PTX_F64) add_fused(tiles, shape.m, shape.k);
    else add_products(tiles, shape.m, shape.k);
}

/* Integer sums wrap, or with .satfinite stop at the limits. */
static uint64_t pack(ptx_type type, double sum, bool saturate) {
    if (type == PTX_F32) {
        float value = (float)sum;
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        return isnan(value) ? 0x7fffffff : word;
    }
    if (type != PTX_S32) return kcsim_encode(type, sum, PTX_M_RN);
    if (saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(int64_t)sum;
}

static void put_sums(kcsim_warp *warp, const kcsim_insn *insn, kcsim_mma_shape shape,
                     const mma_tiles *tiles, uint32_t r, uint32_t mask) {
    uint32_t each = shape.m / 4 / shape.d_registers, defined = tiles->start_defined[r];
    bool saturate = ptx_has(insn->source, PTX_GROUP_SAT);
    uint8_t result[32 * 8];
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t n = r * each, row = lane / 4 + 8 * (n >> 1), column = 2 * (lane % 4) + (n & 1);
        uint64_t word = 0;
        for (uint32_t i = 0; i < each; i++) {
            word |= pack(insn->source->types[0], tiles->d[row][column + i], saturate) << 16 * i;
            if (!tiles->row_defined[row] || !tiles->column_defined[column + i])
                defined &= ~(1u << lane);
        }
        memcpy(result + lane * shape.bytes, &word, shape.bytes == 4 ? 4 : 8);
    }
    kcsim_put(warp, insn->list[r], result, shape.bytes, mask);
    if (!warp->block->launch->track) return;
    kcsim_set_defined(warp, insn->list[r], mask, defined);
    for (uint32_t rest = mask & ~defined; rest; rest &= rest - 1)
        kcsim_set_defined_bits(warp, insn->list[r], (uint32_t)__builtin_ctz(rest), shape.bytes, 0);
}

void kcsim_do_mma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_mma_shape shape = kcsim_mma_shape_of(insn->source);
    kcsim_extent extent = kcsim_matrix_extent(insn->source);
    mma_tiles tiles;
    load_tiles(warp, insn, shape, &tiles);
    load_sums(warp, insn, shape, &tiles);
    multiply(&tiles, insn->source, shape);
    for (uint32_t r = 0; r < shape.d_registers; r++)
        put_sums(warp, insn, shape, &tiles, r, mask);
    warp->block->worker->counts.tensor_flops += 2 * extent.m * extent.n * extent.k;
}
