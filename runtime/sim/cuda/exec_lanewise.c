/* Instructions that look at one lane at a time, other than the lane kernels that exec_warp.c calls
 * itself. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"

void kcsim_put(kcsim_warp *warp, kcsim_ref ref, const void *values, unsigned bytes, uint32_t mask) {
    if (kcsim_is_absent(ref)) return;
    void *to = warp->registers + ref.at;
    if (mask == warp->live) memcpy(to, values, bytes * 32);
    else kcsim_lanes()->blend(to, values, to, mask, bytes);
}

void kcsim_put_predicate(kcsim_warp *warp, kcsim_ref ref, uint32_t values, uint32_t mask) {
    if (kcsim_is_absent(ref)) return;
    uint32_t *to = (uint32_t *)(void *)(warp->registers + ref.at);
    *to = (*to & ~mask) | (values & mask);
}

void kcsim_round(uint8_t how) {
    fesetround(how == PTX_M_RZ   ? FE_TOWARDZERO
               : how == PTX_M_RM ? FE_DOWNWARD
               : how == PTX_M_RP ? FE_UPWARD
                                 : FE_TONEAREST);
}

/* Directed rounding, flushed inputs, saturated results: everything that is not just the kernel. */
void kcsim_do_lanes_slowly(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    _Alignas(64) uint8_t result[512], again[512], sources[3][512];
    const void *a = kcsim_at(warp, insn->a), *b = kcsim_at(warp, insn->b),
               *c = kcsim_at(warp, insn->c);
    const void *e = kcsim_at(warp, insn->e);
    if (kcsim_is_absent(insn->d)) return;
    if (insn->flush) {
        insn->flush(sources[0], a, a, a, a);
        insn->flush(sources[1], b, b, b, b);
        insn->flush(sources[2], c, c, c, c);
        a = sources[0];
        b = sources[1];
        c = sources[2];
    }
    if (insn->widened > 0) {
        insn->widen(sources[0], a, a, a, a);
        a = sources[0];
    }
    if (insn->widened > 1) {
        insn->widen(sources[1], b, b, b, b);
        b = sources[1];
    }
    if (insn->round) kcsim_round(insn->round);
    insn->fn.lanes(result, a, b, c, e);
    if (insn->round) kcsim_round(PTX_M_RN);
    const void *final = result;
    if (insn->flush) {
        insn->flush(again, result, result, result, result);
        memcpy(result, again, sizeof result);
    }
    if (insn->post) {
        insn->post(again, result, result, result, result);
        final = again;
    }
    kcsim_put(warp, insn->d, final, insn->bytes, mask);
}

/* ---- carry ---- */

typedef struct carry_step {
    uint64_t a, b, c, result;
    unsigned carry;
} carry_step;

static uint64_t lane_value(const kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)kcsim_at(warp, ref) + lane * bytes, bytes);
    return value;
}

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static uint64_t product_part(const kcsim_insn *insn, uint64_t a, uint64_t b) {
    unsigned bits = insn->bytes * 8u;
    bool is_signed = ptx_types[insn->source->types[0]].kind == PTX_KIND_SINT;
    u128 product = is_signed ? (u128)((s128)((int64_t)(a << (64 - bits)) >> (64 - bits)) *
                                      ((int64_t)(b << (64 - bits)) >> (64 - bits)))
                             : (u128)a * b;
    return (uint64_t)(ptx_has(insn->source, PTX_GROUP_HALF) == PTX_M_HI ? product >> bits
                                                                        : product);
}

static carry_step step(const kcsim_insn *insn, uint64_t a, uint64_t b, uint64_t c,
                       unsigned carry_in) {
    ptx_op op = insn->source->op;
    unsigned bits = insn->bytes * 8u;
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    bool uses_carry = op == PTX_OP_ADDC || op == PTX_OP_SUBC || op == PTX_OP_MADC;
    bool subtracts = op == PTX_OP_SUB || op == PTX_OP_SUBC;
    if (op == PTX_OP_MAD || op == PTX_OP_MADC) {
        a = product_part(insn, a, b) & mask;
        b = c;
    }
    /* a - b is a + ~b + 1: after a subtraction the carry is set when nothing was borrowed. PTX's
     * text reads otherwise, but its compilers follow a subtraction by `addc` and count on this. */
    if (subtracts) b = ~b & mask;
    u128 sum = (u128)a + b + (uses_carry ? carry_in : subtracts);
    return (carry_step){.result = (uint64_t)sum & mask, .carry = (unsigned)(sum >> bits & 1)};
}

void kcsim_do_carry(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t result[512];
    ptx_op op = insn->source->op;
    bool uses = op == PTX_OP_ADDC || op == PTX_OP_SUBC || op == PTX_OP_MADC;
    uint32_t carry = 0;
    memset(result, 0, sizeof result);
    for (unsigned lane = 0; lane < 32; lane++) {
        carry_step done =
            step(insn, lane_value(warp, insn->a, lane, insn->bytes),
                 lane_value(warp, insn->b, lane, insn->bytes),
                 lane_value(warp, insn->c, lane, insn->bytes), warp->carry >> lane & 1);
        memcpy(result + lane * insn->bytes, &done.result, insn->bytes);
        carry |= done.carry << lane;
    }
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
    uint32_t defined = warp->full[insn->a.slot] & warp->full[insn->b.slot] &
                       warp->full[insn->c.slot] & (uses ? warp->carry_defined : UINT32_MAX);
    if (warp->block->launch->track) {
        for (uint32_t bad = mask & ~defined; bad; bad &= bad - 1)
            kcsim_set_defined_bits(warp, insn->d, (unsigned)__builtin_ctz(bad), insn->bytes, 0);
        warp->full[insn->d.slot] |= mask & defined;
    }
    if (ptx_has(insn->source, PTX_GROUP_CC)) {
        warp->carry = (warp->carry & ~mask) | (carry & mask);
        warp->carry_defined = (warp->carry_defined & ~mask) | (defined & mask);
    }
}

/* ---- predicates ---- */

static uint32_t combine(const kcsim_warp *warp, const kcsim_insn *insn, uint32_t result) {
    uint32_t c = kcsim_predicate(warp, insn->c) ^ (insn->negate_c ? UINT32_MAX : 0);
    switch (insn->mode) {
    case PTX_M_BAND: return result & c;
    case PTX_M_BOR: return result | c;
    case PTX_M_BXOR: return result ^ c;
    default: return result;
    }
}

/* The comparison of half number `half` of every lane. */
static uint32_t compare_half(const kcsim_warp *warp, const kcsim_insn *insn, int half) {
    uint16_t a[32], b[32];
    const uint16_t *left = kcsim_at(warp, insn->a), *right = kcsim_at(warp, insn->b);
    for (int lane = 0; lane < 32; lane++) {
        a[lane] = left[2 * lane + half];
        b[lane] = right[2 * lane + half];
    }
    return combine(warp, insn, insn->fn.compare(a, b));
}

void kcsim_do_compare_pair(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t low = compare_half(warp, insn, 0), high = compare_half(warp, insn, 1);
    uint32_t defined =
        warp->full[insn->a.slot] & warp->full[insn->b.slot] & warp->full[insn->c.slot];
    kcsim_put_predicate(warp, insn->d, low, mask);
    kcsim_put_predicate(warp, insn->d2, high, mask);
    if (!warp->block->launch->track) return;
    kcsim_set_defined(warp, insn->d, mask, defined);
    kcsim_set_defined(warp, insn->d2, mask, defined);
}

void kcsim_do_set(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t values[32 * 4];
    uint32_t low, high;
    if (insn->count == 2) {
        low = compare_half(warp, insn, 0);
        high = compare_half(warp, insn, 1);
    } else {
        low = high =
            combine(warp, insn, insn->fn.compare(kcsim_at(warp, insn->a), kcsim_at(warp, insn->b)));
    }
    for (unsigned lane = 0; lane < 32; lane++) {
        uint32_t value = (low >> lane & 1 ? 0xffffu : 0) | (high >> lane & 1 ? 0xffff0000u : 0);
        value &= (uint32_t)insn->imm;
        memcpy(values + lane * insn->bytes, &value, insn->bytes);
    }
    kcsim_put(warp, insn->d, values, insn->bytes, mask);
    if (warp->block->launch->track) kcsim_define(warp, insn, mask);
}

static bool test_passes(ptx_modifier test, double value, bool is_double) {
    double least = is_double ? 0x1p-1022 : 0x1p-126;
    switch (test) {
    case PTX_M_FINITE: return isfinite(value);
    case PTX_M_INFINITE: return isinf(value);
    case PTX_M_NUMBER: return value == value;
    case PTX_M_NOTANUMBER: return value != value;
    case PTX_M_NORMAL: return isfinite(value) && fabs(value) >= least;
    default: return value != 0 && fabs(value) < least;
    }
}

void kcsim_do_testp(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t result = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        double value = insn->bytes == 8 ? ((const double *)kcsim_at(warp, insn->a))[lane]
                                        : (double)((const float *)kcsim_at(warp, insn->a))[lane];
        result |= (uint32_t)test_passes((ptx_modifier)insn->mode, value, insn->bytes == 8) << lane;
    }
    kcsim_put_predicate(warp, insn->d, result, mask);
    if (warp->block->launch->track)
        kcsim_set_defined(warp, insn->d, mask, warp->full[insn->a.slot]);
}

/* Undefined only where the other operand does not decide: false and x, true or x. */
void kcsim_do_predicate(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t a = kcsim_predicate(warp, insn->a), b = kcsim_predicate(warp, insn->b);
    uint32_t table[4];
    for (int i = 0; i < 4; i++)
        table[i] = insn->imm >> i & 1 ? UINT32_MAX : 0;
    uint32_t result =
        (a & b & table[3]) | (a & ~b & table[2]) | (~a & b & table[1]) | (~a & ~b & table[0]);
    if (insn->source->op == PTX_OP_NOT) result = ~a;
    uint32_t known_a = warp->full[insn->a.slot], known_b = warp->full[insn->b.slot];
    uint32_t defined = known_a & known_b;
    if (insn->source->op == PTX_OP_AND) defined |= (known_a & ~a) | (known_b & ~b);
    if (insn->source->op == PTX_OP_OR) defined |= (known_a & a) | (known_b & b);
    kcsim_put_predicate(warp, insn->d, result, mask);
    if (warp->block->launch->track) kcsim_set_defined(warp, insn->d, mask, defined);
}

void kcsim_do_select(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    _Alignas(64) uint8_t zeros[512], result[512];
    uint32_t chosen;
    if (insn->fn.compare) {
        memset(zeros, 0, sizeof zeros);
        chosen = insn->fn.compare(kcsim_at(warp, insn->c), zeros);
    } else {
        chosen = kcsim_predicate(warp, insn->c) ^ (insn->negate_c ? UINT32_MAX : 0);
    }
    kcsim_lanes()->blend(result, kcsim_at(warp, insn->a), kcsim_at(warp, insn->b), chosen,
                         insn->bytes);
    /* Definedness first: it looks at the sources, one of which may be the destination. */
    if (warp->block->launch->track) kcsim_define(warp, insn, mask);
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
}

/* ---- moves ---- */

#define SPREAD(N)                                                                                  \
    for (unsigned lane = 0; lane < KCSIM_LANES; lane++)                                            \
        memcpy(to + lane * to_step, from + lane * from_step, N);                                   \
    break

/* An element of each lane from one distance to another. */
static void spread(uint8_t *to, unsigned to_step, const uint8_t *from, unsigned from_step,
                   unsigned bytes) {
    switch (bytes) {
    case 1: SPREAD(1);
    case 2: SPREAD(2);
    case 4: SPREAD(4);
    case 8: SPREAD(8);
    default: SPREAD(bytes);
    }
}

/* Of a part: a byte lies in a register of two. */
static unsigned register_bytes(const kcsim_insn *insn) {
    return insn->element < 2 ? 2 : insn->element;
}

void kcsim_do_pack(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t result[512];
    for (uint32_t i = 0; i < insn->list_count; i++)
        spread(result + i * insn->element, insn->bytes, kcsim_at(warp, insn->list[i]),
               register_bytes(insn), insn->element);
    if (warp->block->launch->track) {
        uint32_t all = mask;
        for (uint32_t i = 0; i < insn->list_count; i++)
            all &= warp->full[insn->list[i].slot];
        uint64_t bits[32] = {0};
        for (uint32_t rest = mask & ~all; rest && insn->bytes <= 8; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t part =
                insn->element == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * insn->element) - 1;
            for (uint32_t i = 0; i < insn->list_count; i++)
                bits[lane] |= (kcsim_defined_bits(warp, insn->list[i], lane) & part)
                              << 8 * i * insn->element;
        }
        warp->full[insn->d.slot] |= all;
        for (uint32_t rest = mask & ~all; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            kcsim_set_defined_bits(warp, insn->d, lane, insn->bytes, bits[lane]);
            if (insn->bytes > 8) warp->full[insn->d.slot] &= ~(1u << lane);
        }
    }
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
}

void kcsim_do_unpack(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t source[512], part[512];
    uint64_t bits[32];
    uint32_t full = warp->full[insn->a.slot];
    memcpy(source, kcsim_at(warp, insn->a), insn->bytes * 32u);
    for (unsigned lane = 0; full != UINT32_MAX && lane < 32; lane++)
        bits[lane] = kcsim_defined_bits(warp, insn->a, lane);
    for (uint32_t i = 0; i < insn->list_count; i++) {
        if (kcsim_is_absent(insn->list[i])) continue;
        if (insn->element < 2) memset(part, 0, sizeof part);
        spread(part, register_bytes(insn), source + i * insn->element, insn->bytes, insn->element);
        kcsim_put(warp, insn->list[i], part, register_bytes(insn), mask);
        if (!warp->block->launch->track) continue;
        warp->full[insn->list[i].slot] |= mask & full;
        for (uint32_t rest = mask & ~full; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            uint64_t shifted = insn->bytes > 8 ? 0 : bits[lane] >> 8 * i * insn->element;
            kcsim_set_defined_bits(warp, insn->list[i], lane, insn->element, shifted);
        }
    }
}

void kcsim_do_convert(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    _Alignas(64) uint8_t result[512];
    bool has_second = !kcsim_is_absent(insn->b);
    kcsim_convert(insn->fn.conversion, result, kcsim_at(warp, insn->a),
                  has_second ? kcsim_at(warp, insn->b) : NULL);
    if (warp->block->launch->track) kcsim_define(warp, insn, mask);
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
}

void kcsim_do_window(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t result[32];
    const uint64_t *a = kcsim_at(warp, insn->a);
    for (int lane = 0; lane < 32; lane++)
        result[lane] = a[lane] + (uint64_t)insn->imm;
    if (warp->block->launch->track) kcsim_define(warp, insn, mask);
    kcsim_put(warp, insn->d, result, 8, mask);
}

/* Constants lie among the allocations of global memory, as those that nobody may write. */
static ptx_space space_of(const kcsim_warp *warp, uint64_t address) {
    if (address - KCSIM_SHARED_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_SHARED;
    if (address - KCSIM_LOCAL_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_LOCAL;
    if (address - KCSIM_PARAM_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_PARAM;
    const kcsim_allocation *found =
        kcsim_memory_find(&warp->block->launch->machine->memory, address, 1);
    return found && found->read_only ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL;
}

void kcsim_do_isspace(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint64_t *a = kcsim_at(warp, insn->a);
    uint32_t result = 0;
    for (int lane = 0; lane < 32; lane++) {
        ptx_space space = space_of(warp, a[lane]);
        uint32_t above = (uint32_t)a[lane] >> KCSIM_RANK_SHIFT;
        bool mine = space != PTX_SPACE_SHARED || insn->cluster || above == 0 ||
                    above == warp->block->rank + 1;
        result |= (uint32_t)(space == insn->space && mine) << lane;
    }
    kcsim_put_predicate(warp, insn->d, result, mask);
    if (warp->block->launch->track)
        kcsim_set_defined(warp, insn->d, mask, warp->full[insn->a.slot]);
}

/* ---- lop3 with a predicate ---- */

static uint32_t logic_of(const kcsim_warp *warp, const kcsim_insn *insn, uint32_t lane) {
    uint32_t a = ((const uint32_t *)kcsim_at(warp, insn->a))[lane],
             b = ((const uint32_t *)kcsim_at(warp, insn->b))[lane],
             c = ((const uint32_t *)kcsim_at(warp, insn->c))[lane], result = 0;
    for (uint32_t row = 0; row < 8; row++)
        if (insn->part >> row & 1)
            result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
}

void kcsim_do_logic_test(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t result[KCSIM_LANES], is_set = 0, known = UINT32_MAX;
    bool track = warp->block->launch->track, both = insn->mode == PTX_M_BAND;
    uint32_t q = kcsim_predicate(warp, insn->e) ^ (insn->negate_c ? UINT32_MAX : 0);
    if (track) known = warp->full[insn->a.slot] & warp->full[insn->b.slot] &
                       warp->full[insn->c.slot];
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++) {
        result[lane] = logic_of(warp, insn, lane);
        if (result[lane]) is_set |= 1u << lane;
    }
    uint32_t q_known = warp->full[insn->e.slot], decided = both ? ~q : q;
    uint32_t defined = (known & q_known) | (q_known & decided) |
                       (known & (both ? ~is_set : is_set));
    if (track) kcsim_define(warp, insn, mask);
    kcsim_put(warp, insn->d, result, 4, mask);
    kcsim_put_predicate(warp, insn->d2, both ? is_set & q : is_set | q, mask);
    if (track) kcsim_set_defined(warp, insn->d2, mask, defined);
}

/* ---- special registers ---- */

/* A clock that repeats from run to run; exec_block.c says when it stands and leaps. */
static uint64_t read_clock(const kcsim_warp *warp) {
    warp->block->clock_read = true;
    uint64_t now = warp->clock_stands ? warp->clock : warp->steps + (warp->turn - warp->left);
    return now * 4 + warp->block->clock_offset;
}

static uint64_t same_for_all(const kcsim_warp *warp, ptx_special special) {
    const kcsim_block *block = warp->block;
    const kcsim_grid *launch = block->launch;
    int sms = launch->machine->options.multiprocessors;
    switch (special) {
    case PTX_SPECIAL_NTID_X:
    case PTX_SPECIAL_NTID_Y:
    case PTX_SPECIAL_NTID_Z: return launch->block[special - PTX_SPECIAL_NTID_X];
    case PTX_SPECIAL_CTAID_X:
    case PTX_SPECIAL_CTAID_Y:
    case PTX_SPECIAL_CTAID_Z: return block->id[special - PTX_SPECIAL_CTAID_X];
    case PTX_SPECIAL_CLUSTERID_X:
    case PTX_SPECIAL_CLUSTERID_Y:
    case PTX_SPECIAL_CLUSTERID_Z:
        return block->id[special - PTX_SPECIAL_CLUSTERID_X] /
               launch->cluster[special - PTX_SPECIAL_CLUSTERID_X];
    case PTX_SPECIAL_NCTAID_X:
    case PTX_SPECIAL_NCTAID_Y:
    case PTX_SPECIAL_NCTAID_Z: return launch->grid[special - PTX_SPECIAL_NCTAID_X];
    case PTX_SPECIAL_NCLUSTERID_X:
    case PTX_SPECIAL_NCLUSTERID_Y:
    case PTX_SPECIAL_NCLUSTERID_Z:
        return launch->grid[special - PTX_SPECIAL_NCLUSTERID_X] /
               launch->cluster[special - PTX_SPECIAL_NCLUSTERID_X];
    case PTX_SPECIAL_CLUSTER_CTAID_X:
    case PTX_SPECIAL_CLUSTER_CTAID_Y:
    case PTX_SPECIAL_CLUSTER_CTAID_Z:
        return block->id[special - PTX_SPECIAL_CLUSTER_CTAID_X] %
               launch->cluster[special - PTX_SPECIAL_CLUSTER_CTAID_X];
    case PTX_SPECIAL_CLUSTER_NCTAID_X:
    case PTX_SPECIAL_CLUSTER_NCTAID_Y:
    case PTX_SPECIAL_CLUSTER_NCTAID_Z:
        return launch->cluster[special - PTX_SPECIAL_CLUSTER_NCTAID_X];
    case PTX_SPECIAL_CLUSTER_CTARANK: return block->rank;
    case PTX_SPECIAL_CLUSTER_NCTARANK: return launch->cluster_blocks;
    case PTX_SPECIAL_IS_EXPLICIT_CLUSTER: return launch->explicit_cluster;
    case PTX_SPECIAL_WARPID: return warp->index;
    case PTX_SPECIAL_NWARPID:
        return (uint64_t)launch->machine->arch->max_threads_per_multiprocessor / 32;
    case PTX_SPECIAL_SMID: return block->linear % (uint64_t)sms;
    case PTX_SPECIAL_NSMID: return (uint64_t)sms;
    case PTX_SPECIAL_GRIDID: return launch->machine->launches;
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK64:
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO: return read_clock(warp);
    case PTX_SPECIAL_CLOCK_HI:
    case PTX_SPECIAL_GLOBALTIMER_HI: return read_clock(warp) >> 32;
    case PTX_SPECIAL_TOTAL_SMEM:
    case PTX_SPECIAL_AGGR_SMEM: return launch->shared_bytes;
    case PTX_SPECIAL_ENVREG1: return launch->workspace >> 32;
    case PTX_SPECIAL_ENVREG2: return launch->workspace & UINT32_MAX;
    case PTX_SPECIAL_DYNAMIC_SMEM: return launch->dynamic_shared;
    default: return 0;
    }
}

static uint64_t of_lane(const kcsim_warp *warp, ptx_special special, unsigned lane,
                        uint64_t common) {
    switch (special) {
    case PTX_SPECIAL_TID_X: return warp->tid[0][lane];
    case PTX_SPECIAL_TID_Y: return warp->tid[1][lane];
    case PTX_SPECIAL_TID_Z: return warp->tid[2][lane];
    case PTX_SPECIAL_LANEID: return lane;
    case PTX_SPECIAL_LANEMASK_EQ: return 1u << lane;
    case PTX_SPECIAL_LANEMASK_LT: return (1u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_LE: return (2u << lane) - 1;
    case PTX_SPECIAL_LANEMASK_GE: return ~((1u << lane) - 1);
    case PTX_SPECIAL_LANEMASK_GT: return ~((2u << lane) - 1);
    default: return common;
    }
}

void kcsim_do_special(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t result[512];
    ptx_special special = (ptx_special)insn->mode;
    uint64_t common = same_for_all(warp, special);
    if (insn->bytes == 0) {
        kcsim_put_predicate(warp, insn->d, common ? UINT32_MAX : 0, mask);
        if (warp->block->launch->track) kcsim_set_defined(warp, insn->d, mask, UINT32_MAX);
        return;
    }
    for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t value = of_lane(warp, special, lane, common);
        memcpy(result + lane * insn->bytes, &value, insn->bytes);
    }
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
    if (warp->block->launch->track) warp->full[insn->d.slot] |= mask;
}
