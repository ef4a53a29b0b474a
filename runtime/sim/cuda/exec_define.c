/* Definedness: which lanes of which registers hold something that was ever computed.
 *
 * A register has a bit a lane, `full`, and where that is off a bit a byte. Arithmetic on anything
 * undefined is undefined; moves and logic are followed byte by byte, so that a wide load over a
 * hole, or a pair of halves of which one was never written, is no finding unless the hole is used.
 */
#include <string.h>

#include "runtime/sim/cuda/exec.h"

uint64_t kcsim_defined_bits(const kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes) {
    if (ref.slot == 0 || warp->full[ref.slot] >> lane & 1) return UINT64_MAX;
    uint64_t bits = 0;
    for (unsigned i = 0; i < bytes && i < 8; i++)
        if (warp->bytes[ref.slot][i] >> lane & 1) bits |= (uint64_t)0xff << 8 * i;
    return bits;
}

void kcsim_set_defined_bits(kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes,
                            uint64_t bits) {
    uint32_t lane_bit = 1u << lane;
    bool full = true;
    if (ref.slot == 0) return;
    for (unsigned i = 0; i < bytes && i < 8; i++) {
        bool defined = (bits >> 8 * i & 0xff) == 0xff;
        full &= defined;
        uint32_t *byte = &warp->bytes[ref.slot][i];
        *byte = defined ? *byte | lane_bit : *byte & ~lane_bit;
    }
    uint32_t *all = &warp->full[ref.slot];
    *all = full ? *all | lane_bit : *all & ~lane_bit;
}

static uint64_t value_of(const kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)kcsim_at(warp, ref) + lane * bytes, bytes < 8 ? bytes : 8);
    return value;
}

static uint64_t width_mask(unsigned bytes) {
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
}

static uint64_t logic_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    unsigned bytes = insn->bytes;
    uint64_t a = kcsim_defined_bits(warp, insn->a, lane, bytes),
             b = kcsim_defined_bits(warp, insn->b, lane, bytes);
    uint64_t x = value_of(warp, insn->a, lane, bytes), y = value_of(warp, insn->b, lane, bytes);
    if (insn->source->op == PTX_OP_AND) return (a & b) | (a & ~x) | (b & ~y);
    if (insn->source->op == PTX_OP_OR) return (a & b) | (a & x) | (b & y);
    return a & b;
}

static uint64_t shift_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    unsigned width = insn->bytes * 8u;
    uint64_t mask = width_mask(insn->bytes),
             a = kcsim_defined_bits(warp, insn->a, lane, insn->bytes) & mask;
    if (kcsim_defined_bits(warp, insn->b, lane, 4) != UINT64_MAX) return 0;
    uint64_t amount = value_of(warp, insn->b, lane, 4);
    bool is_signed = ptx_types[insn->source->types[0]].kind == PTX_KIND_SINT;
    if (amount >= width) amount = is_signed && insn->source->op == PTX_OP_SHR ? width - 1 : width;
    if (amount == 0) return a;
    if (insn->source->op == PTX_OP_SHL)
        return amount >= width ? mask : (a << amount) | (((uint64_t)1 << amount) - 1);
    uint64_t moved = amount >= 64 ? 0 : a >> amount;
    uint64_t vacated = amount >= width ? mask : mask & ~(mask >> amount);
    bool sign_known = a >> (width - 1) & 1;
    return moved | (is_signed && !sign_known ? 0 : vacated);
}

static uint64_t permute_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    if (ptx_has(insn->source, PTX_GROUP_PERMUTE) ||
        kcsim_defined_bits(warp, insn->c, lane, 4) != UINT64_MAX)
        return 0;
    uint64_t bytes = (kcsim_defined_bits(warp, insn->a, lane, 4) & 0xffffffff) |
                     kcsim_defined_bits(warp, insn->b, lane, 4) << 32;
    uint64_t selector = value_of(warp, insn->c, lane, 4), result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= (bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

/* cvt between integers: the low bytes move; those above are the sign's, or zeros. */
static uint64_t extend_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    ptx_type from = insn->source->types[1];
    unsigned from_bits = ptx_types[from].bits;
    uint64_t mask = from_bits >= 64 ? UINT64_MAX : ((uint64_t)1 << from_bits) - 1;
    uint64_t a = kcsim_defined_bits(warp, insn->a, lane, 8) & mask;
    bool sign_known = ptx_types[from].kind != PTX_KIND_SINT || a >> (from_bits - 1) & 1;
    return sign_known ? a | ~mask : a;
}

static uint64_t select_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    if (insn->fn.compare || !(warp->full[insn->c.slot] >> lane & 1)) return 0;
    bool first = (kcsim_predicate(warp, insn->c) >> lane & 1) != insn->negate_c;
    return kcsim_defined_bits(warp, first ? insn->a : insn->b, lane, insn->bytes);
}

static uint64_t result_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    switch (insn->source->op) {
    case PTX_OP_MOV: return kcsim_defined_bits(warp, insn->a, lane, insn->bytes);
    case PTX_OP_SELP:
    case PTX_OP_SLCT: return select_bits(warp, insn, lane);
    case PTX_OP_SHL:
    case PTX_OP_SHR: return shift_bits(warp, insn, lane);
    case PTX_OP_PRMT: return permute_bits(warp, insn, lane);
    case PTX_OP_CVT: return extend_bits(warp, insn, lane);
    default: return logic_bits(warp, insn, lane);
    }
}

void kcsim_define_slowly(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t sources = warp->full[insn->a.slot] & warp->full[insn->b.slot] &
                       warp->full[insn->c.slot] & warp->full[insn->e.slot];
    uint32_t slow = mask & ~sources;
    if (insn->d.slot == 0) return; /* nobody reads the result */
    /* The slow lanes keep their old state until their turn: the destination may also be a source.
     */
    warp->full[insn->d.slot] |= sources & mask;
    for (; slow; slow &= slow - 1) {
        unsigned lane = (unsigned)__builtin_ctz(slow);
        uint64_t bits = insn->bytewise && insn->bytes <= 8 ? result_bits(warp, insn, lane) : 0;
        kcsim_set_defined_bits(warp, insn->d, lane, insn->bytes, bits);
        if (insn->bytes > 8) warp->full[insn->d.slot] &= ~(1u << lane);
    }
}
