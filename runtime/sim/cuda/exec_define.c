/* Definedness: which bits of which registers hold something that was ever computed.
 *
 * A register has a bit a lane, `full`, and where that is off a mask of the lane's defined bits.
 * What becomes of undefined bits is the instruction's rule (kcsim_define_rule): compilers pack a
 * register that was never written beside one that was and then use only the latter, and that is no
 * finding; so moves, shifts, fields, permutations and logic are followed bit by bit, packed
 * arithmetic part by part, sums and products upwards. Anything else of something undefined is
 * undefined.
 *
 *     mov.b64 %d, {%a, %b}   %a never written      defined: ffffffff00000000
 *     bfe.s64 %e, %d, 32, 8                        defined: all
 *     or.b64  %f, %d, 255                          defined: ffffffff000000ff */
#include <string.h>

#include "runtime/sim/cuda/exec.h"

uint64_t kcsim_defined_bits(const kcsim_warp *warp, kcsim_ref ref, unsigned lane) {
    if (warp->full[ref.slot] >> lane & 1) return UINT64_MAX;
    return warp->defined[ref.slot][lane];
}

static uint64_t width_mask(unsigned bytes) {
    return bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
}

void kcsim_set_defined_bits(kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes,
                            uint64_t bits) {
    uint32_t lane_bit = 1u << lane, *full = &warp->full[ref.slot];
    if (ref.slot == 0) return;
    bits |= ~width_mask(bytes);
    *full = bits == UINT64_MAX ? *full | lane_bit : *full & ~lane_bit;
    warp->defined[ref.slot][lane] = bits;
    warp->has_holes |= bits != UINT64_MAX;
}

static uint64_t undefined_bits(const kcsim_warp *warp, kcsim_ref ref, unsigned lane) {
    return ~kcsim_defined_bits(warp, ref, lane);
}

static uint64_t value_of(const kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)kcsim_at(warp, ref) + lane * bytes, bytes);
    return value;
}

/* ---- the rules: the undefined bits of a result ---- */

static uint64_t spoiled_parts(uint64_t undefined, unsigned part) {
    uint64_t result = 0, mask = width_mask(part);
    if (part == 0) return undefined ? UINT64_MAX : 0;
    for (unsigned at = 0; at < 64; at += 8 * part)
        if (undefined >> at & mask) result |= mask << at;
    return result;
}

/* A bit is undefined when what is undefined could make it 0, and could make it 1. */
static uint64_t spoiled_logic(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    kcsim_ref refs[3] = {insn->a, insn->b, insn->c};
    uint64_t value[3], undefined[3], can[2] = {0, 0};
    for (int i = 0; i < 3; i++) {
        value[i] = value_of(warp, refs[i], lane, insn->bytes);
        undefined[i] = undefined_bits(warp, refs[i], lane);
    }
    for (unsigned row = 0; row < 8; row++) {
        uint64_t possible = UINT64_MAX;
        for (int i = 0; i < 3; i++)
            possible &= undefined[i] | (row >> (2 - i) & 1 ? value[i] : ~value[i]);
        can[insn->part >> row & 1] |= possible;
    }
    return can[0] & can[1];
}

static uint64_t spoiled_selection(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    if (insn->fn.compare || !(warp->full[insn->c.slot] >> lane & 1)) return UINT64_MAX;
    bool first = (kcsim_predicate(warp, insn->c) >> lane & 1) != insn->negate_c;
    return undefined_bits(warp, first ? insn->a : insn->b, lane);
}

/* Numbers that are narrower than their register; pairs of them, from one source or from two. */
static uint64_t spoiled_conversion(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    const kcsim_conversion *conversion = insn->fn.conversion;
    unsigned from = ptx_types[conversion->from].bits, half = ptx_types[conversion->to].bits / 2;
    uint64_t a = undefined_bits(warp, insn->a, lane) & width_mask(from / 8),
             b = undefined_bits(warp, insn->b, lane), low = ((uint64_t)1 << half) - 1;
    bool from_pair = ptx_types[conversion->from].kind == PTX_KIND_PACKED;
    if (kcsim_is_absent(insn->b) && !from_pair) return a ? UINT64_MAX : 0;
    if (from_pair) {
        b = a & width_mask(from / 16);
        a &= ~b;
    }
    return (a ? low << half : 0) | (b ? low : 0);
}

static uint64_t spoiled_bits(const kcsim_warp *warp, const kcsim_insn *insn, unsigned lane) {
    uint64_t any = undefined_bits(warp, insn->a, lane) | undefined_bits(warp, insn->b, lane) |
                   undefined_bits(warp, insn->c, lane);
    switch ((kcsim_define_rule)insn->define) {
    case KCSIM_DEFINE_UPWARD: return 0 - (any & (0 - any));
    case KCSIM_DEFINE_LOGIC: return spoiled_logic(warp, insn, lane);
    case KCSIM_DEFINE_SELECTED: return spoiled_selection(warp, insn, lane);
    case KCSIM_DEFINE_CONVERTED: return spoiled_conversion(warp, insn, lane);
    default: return spoiled_parts(any | undefined_bits(warp, insn->e, lane), insn->part);
    }
}

/* Instructions that only move bits move undefined ones alike: the masks go through the kernel in
 * place of the values. So a zero that is shifted in is defined, and a copied sign as much as the
 * sign. The other sources say where to, and must be defined. */
static void moved_bits(const kcsim_warp *warp, const kcsim_insn *insn, uint32_t lanes,
                       uint64_t spoiled[KCSIM_LANES]) {
    _Alignas(64) uint8_t a[512] = {0}, b[512] = {0}, result[512];
    bool both = insn->part == 2;
    uint32_t known = warp->full[insn->c.slot] & warp->full[insn->e.slot] &
                     (both ? UINT32_MAX : warp->full[insn->b.slot]);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t mask = undefined_bits(warp, insn->a, lane);
        memcpy(a + lane * insn->element, &mask, insn->element);
        mask = undefined_bits(warp, insn->b, lane);
        memcpy(b + lane * insn->element, &mask, insn->element);
    }
    if (insn->kind == KCSIM_DO_CONVERT) kcsim_convert(insn->fn.conversion, result, a, NULL);
    else
        insn->fn.lanes(result, a, both ? b : kcsim_at(warp, insn->b), kcsim_at(warp, insn->c),
                       kcsim_at(warp, insn->e));
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        spoiled[lane] = 0;
        memcpy(&spoiled[lane], result + lane * insn->bytes, insn->bytes);
        if (!(known >> lane & 1)) spoiled[lane] = UINT64_MAX;
    }
}

void kcsim_define_slowly(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t sources = warp->full[insn->a.slot] & warp->full[insn->b.slot] &
                       warp->full[insn->c.slot] & warp->full[insn->e.slot];
    uint32_t slow = mask & ~sources;
    bool moved = insn->define == KCSIM_DEFINE_MOVED, wide = insn->bytes > 8;
    uint64_t spoiled[KCSIM_LANES];
    if (insn->d.slot == 0) return; /* nobody reads the result */
    if (moved && !wide) moved_bits(warp, insn, slow, spoiled);
    /* The slow lanes keep their old state until their turn: the destination may also be a source.
     */
    warp->full[insn->d.slot] |= sources & mask;
    for (; slow; slow &= slow - 1) {
        unsigned lane = (unsigned)__builtin_ctz(slow);
        if (wide) spoiled[lane] = UINT64_MAX;
        else if (!moved) spoiled[lane] = spoiled_bits(warp, insn, lane);
        kcsim_set_defined_bits(warp, insn->d, lane, insn->bytes, ~spoiled[lane]);
    }
}
