/* wmma: matrices in fragments whose layout is nobody's business but this machine's.
 *
 * A fragment holds the matrix's elements in the order of memory (accumulators: row by row), spread
 * over a register of all lanes, then over the next one. Fragments of f16 have room for more than their
 * matrix; the registers left over repeat it, so that arithmetic on all of them stays consistent. */
#include <math.h>
#include <string.h>

#include "runtime/sim/cuda/access.h"

/* ---- between memory and fragments ---- */

/* What one lane moves at once: a whole register, or an element where memory has another order. */
typedef struct piece {
    uint32_t size, first; /* bytes, and where they begin in the register */
    uint32_t index[KCSIM_LANES]; /* of the first element */
} piece;

static piece piece_of(const kcsim_insn *insn, uint32_t r, uint32_t part) {
    uint32_t size = insn->extend ? insn->element : insn->bytes, each = insn->bytes / insn->element;
    piece result = {.size = size, .first = part * size};
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        result.index[lane] = (r * KCSIM_LANES + lane) * each + part;
    return result;
}

/* Where the pieces lie. Column by column, `target` is the rows; the fragment's order is by rows. */
static void place(const kcsim_insn *insn, const piece *at, const uint64_t *base,
                  const uint32_t *stride, uint64_t *addresses) {
    uint32_t total = insn->count * KCSIM_LANES * insn->bytes / insn->element;
    uint32_t columns = total / insn->target;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
        uint32_t index = at->index[lane];
        uint32_t line = insn->extend ? index % columns : index / insn->target;
        uint32_t in_line = insn->extend ? index / columns : index % insn->target;
        addresses[lane] = base[lane] + (uint64_t)line * stride[lane] * insn->element / insn->part +
                          in_line * insn->element;
    }
}

/* Rows start at multiples of 16 bytes, or of what a lane holds of the matrix where that is less. */
static void check_rows(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                       const uint64_t *base, const uint32_t *stride) {
    uint32_t held = (uint32_t)insn->count * insn->bytes, need = held < 16 ? held : 16, bad = 0;
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        if (base[lane] & (need - 1) ||
            (uint64_t)stride[lane] * insn->element % (need * insn->part))
            bad |= 1u << lane;
    bad &= mask;
    if (!bad || !warp->block->launch->check_alignment) return;
    kcsim_report report = {.kind = KCSIM_FINDING_MISALIGNED,
                           .lanes = bad,
                           .space = ptx_space_name((ptx_space)insn->space),
                           .addresses = base,
                           .size = need,
                           .other = "the matrix and its stride are multiples of 16 bytes"};
    kcsim_report_lanes(warp, insn, &report);
}

static void load_piece(const kcsim_access *access, const piece *at, uint8_t *values,
                       uint64_t *bits) {
    KCSIM_EACH_LANE(lane, access->mask) {
        memcpy(values + lane * access->insn->bytes + at->first, kcsim_host(access, lane), at->size);
        for (uint32_t i = 0; access->shadowed >> lane & 1 && i < at->size; i++)
            if (!kcsim_marks(access, lane)[i])
                bits[lane] &= ~((uint64_t)0xff << 8 * (at->first + i));
    }
}

static void store_piece(const kcsim_access *access, const piece *at, kcsim_ref ref) {
    const uint8_t *values = kcsim_at(access->warp, ref);
    uint32_t holes = 0;
    KCSIM_EACH_LANE(lane, access->mask) {
        uint64_t bits = kcsim_defined_bits(access->warp, ref, lane) >> 8 * at->first;
        memcpy(kcsim_host(access, lane), values + lane * access->insn->bytes + at->first, at->size);
        for (uint32_t i = 0; i < at->size; i++) {
            bool defined = (bits >> 8 * i & 0xff) == 0xff;
            if (!defined) holes |= 1u << lane;
            if (access->shadowed >> lane & 1) kcsim_marks(access, lane)[i] = defined;
        }
    }
    if (!holes || !access->warp->block->launch->track || access->space != PTX_SPACE_GLOBAL) return;
    kcsim_report report = {.kind = KCSIM_FINDING_UNINITIALIZED,
                           .lanes = holes,
                           .space = "global",
                           .size = at->size,
                           .addresses = access->address,
                           .other = "the value that is stored was never written"};
    kcsim_report_lanes(access->warp, access->insn, &report);
}

/* One piece of every lane; loads go to `values` and `bits`, stores come from `ref`. */
static void move_piece(kcsim_access *access, const piece *at, const uint64_t *addresses,
                       uint32_t rest, kcsim_ref ref, uint8_t *values, uint64_t *bits) {
    access->size = at->size;
    while (rest) {
        kcsim_access_take_space(access, (ptx_space)access->insn->space, addresses, &rest);
        kcsim_access_locate(access);
        kcsim_access_race(access);
        kcsim_access_count(access);
        if (access->kind == KCSIM_ACCESS_READ) load_piece(access, at, values, bits);
        else store_piece(access, at, ref);
    }
}

/* A loaded register, and those that repeat it. */
static void put_loaded(kcsim_warp *warp, const kcsim_insn *insn, uint32_t r, uint32_t mask,
                       const uint8_t *values, const uint64_t *bits) {
    for (; r < insn->list_count; r += insn->count) {
        if (kcsim_is_absent(insn->list[r])) continue;
        kcsim_put(warp, insn->list[r], values, insn->bytes, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < KCSIM_LANES; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, insn->list[r], lane, insn->bytes, bits[lane]);
    }
}

static void move_fragment(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                          kcsim_access_kind kind) {
    uint64_t base[KCSIM_LANES], addresses[KCSIM_LANES];
    const uint32_t *stride = kcsim_at(warp, insn->b);
    kcsim_access access = {.warp = warp, .insn = insn, .kind = kind};
    uint32_t parts = insn->extend ? insn->bytes / insn->element : 1;
    uint32_t good = kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, base);
    good &= ~kcsim_report_undefined(warp, insn, insn->b, good, "the stride was never written");
    check_rows(warp, insn, good, base, stride);
    for (uint32_t r = 0; r < insn->count; r++) {
        uint8_t values[KCSIM_LANES * 8] = {0};
        uint64_t bits[KCSIM_LANES];
        memset(bits, 0xff, sizeof bits);
        for (uint32_t part = 0; part < parts; part++) {
            piece at = piece_of(insn, r, part);
            place(insn, &at, base, stride, addresses);
            move_piece(&access, &at, addresses, good, insn->list[r], values, bits);
        }
        if (kind == KCSIM_ACCESS_READ) put_loaded(warp, insn, r, mask, values, bits);
    }
}

void kcsim_do_wmma_load(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    move_fragment(warp, insn, mask, KCSIM_ACCESS_READ);
}

void kcsim_do_wmma_store(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    move_fragment(warp, insn, mask, KCSIM_ACCESS_WRITE);
    warp->block->changes++;
}

/* ---- the product ---- */

typedef struct fragment {
    const kcsim_ref *list;
    ptx_type type;
    uint32_t rows, columns, bytes;
    bool by_rows;
} fragment;

/* Of an element; 32 of b1 are one. */
static uint32_t bits_of(ptx_type type) {
    return type == PTX_B1 ? 32 : ptx_types[type].bits;
}

static uint32_t registers_of(const fragment *part) {
    return part->rows * part->columns * bits_of(part->type) / (8 * KCSIM_LANES * part->bytes);
}

static double element_at(const kcsim_warp *warp, const fragment *part, uint32_t row,
                         uint32_t column, bool *defined) {
    uint32_t index = part->by_rows ? row * part->columns + column : column * part->rows + row;
    uint32_t size = bits_of(part->type), word = index * size / (8 * part->bytes);
    uint32_t lane = word % KCSIM_LANES, at = index * size % (8 * part->bytes);
    kcsim_ref ref = part->list[word / KCSIM_LANES];
    uint64_t bits = 0, wanted = UINT64_MAX >> (64 - size);
    memcpy(&bits, (const uint8_t *)kcsim_at(warp, ref) + lane * part->bytes, part->bytes);
    *defined = (kcsim_defined_bits(warp, ref, lane) >> at & wanted) == wanted;
    return kcsim_matrix_element(part->type, bits >> at);
}

typedef struct product {
    double a[32][32], b[32][32], c[32][32];
    bool row[32], column[32], defined[32][32];
} product;

static void load_product(const kcsim_warp *warp, const fragment *a, const fragment *b,
                         const fragment *c, product *all) {
    bool defined;
    memset(all->row, 1, sizeof all->row);
    memset(all->column, 1, sizeof all->column);
    for (uint32_t k = 0; k < a->columns; k++) {
        for (uint32_t row = 0; row < a->rows; row++) {
            all->a[row][k] = element_at(warp, a, row, k, &defined);
            all->row[row] &= defined;
        }
        for (uint32_t column = 0; column < b->columns; column++) {
            all->b[k][column] = element_at(warp, b, k, column, &defined);
            all->column[column] &= defined;
        }
    }
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t column = 0; column < b->columns; column++) {
            all->c[row][column] = element_at(warp, c, row, column, &defined);
            all->defined[row][column] = defined && all->row[row] && all->column[column];
        }
}

static double counted(const ptx_statement *statement, double a, double b) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    return __builtin_popcount(statement->op == PTX_OP_WMMA_XOR ? x ^ y : x & y);
}

static uint64_t sum_of(const product *all, const ptx_statement *statement, uint32_t row,
                       uint32_t column, uint32_t k) {
    ptx_type type = statement->types[0];
    double sum = all->c[row][column];
    for (uint32_t i = 0; i < k; i++)
        sum = type == PTX_F64 ? fma(all->a[row][i], all->b[i][column], sum)
              : statement->op != PTX_OP_WMMA
                  ? sum + counted(statement, all->a[row][i], all->b[i][column])
                  : sum + all->a[row][i] * all->b[i][column];
    if (type != PTX_S32) return kcsim_encode(type, sum, PTX_M_RN);
    if (ptx_has(statement, PTX_GROUP_SAT))
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(int64_t)sum;
}

static void put_product(kcsim_warp *warp, const kcsim_insn *insn, const fragment *d, uint32_t k,
                        uint32_t mask, const product *all) {
    uint32_t size = kcsim_type_bytes(d->type), each = d->bytes / size;
    for (uint32_t r = 0; r < registers_of(d); r++) {
        uint8_t values[KCSIM_LANES * 8];
        uint64_t bits[KCSIM_LANES];
        for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
            bits[lane] = UINT64_MAX;
            for (uint32_t i = 0; i < each; i++) {
                uint32_t index = (r * KCSIM_LANES + lane) * each + i;
                uint32_t row = index / d->columns, column = index % d->columns;
                uint64_t value = sum_of(all, insn->source, row, column, k);
                memcpy(values + lane * d->bytes + i * size, &value, size);
                if (!all->defined[row][column]) bits[lane] = 0;
            }
        }
        kcsim_put(warp, d->list[r], values, d->bytes, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < KCSIM_LANES; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, d->list[r], lane, d->bytes, bits[lane]);
    }
}

void kcsim_do_wmma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const ptx_statement *statement = insn->source;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    bool short_form = statement->type_count == 2;
    ptx_type type = short_form ? PTX_F16 : statement->types[1];
    bool a_rows = ptx_has(statement, PTX_GROUP_LAYOUT_A) == PTX_M_ROW;
    bool b_rows = ptx_has(statement, PTX_GROUP_LAYOUT_B) == PTX_M_ROW_B;
    uint32_t k = type == PTX_B1 ? extent.k / 32 : extent.k;
    product all;
    fragment d = {insn->list, statement->types[0], extent.m, extent.n, insn->bytes, true};
    fragment a = {insn->list + registers_of(&d), type, extent.m, k, insn->bytes, a_rows};
    fragment b = {a.list, type, k, extent.n, insn->bytes, b_rows};
    fragment c = {NULL, statement->types[statement->type_count - 1], extent.m, extent.n,
                  insn->bytes, true};
    c.list = insn->list + insn->list_count - registers_of(&c);
    b.list = a.list + insn->target; /* registers of A */
    load_product(warp, &a, &b, &c, &all);
    put_product(warp, insn, &d, k, mask, &all);
    kcsim_cost_of(warp)->flops += 2 * extent.m * extent.n * extent.k;
}
