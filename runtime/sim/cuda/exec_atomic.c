/* Atomics, and copies from global to shared memory.
 *
 * Kernels with atomics on global memory run on one host thread (code.h: talks_across_blocks), and
 * shared memory belongs to one block: so read, compute and write need no host atomics. Lanes take
 * their turn in order, or under other seeds than 0 in another one. */
#include <math.h>
#include <string.h>

#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"

static double minimum(double a, double b) {
    return a != a ? b : b != b ? a : a < b || (a == b && signbit(a)) ? a : b;
}

static double maximum(double a, double b) {
    return a != a ? b : b != b ? a : a > b || (a == b && signbit(b)) ? a : b;
}

/* One number of `type`: f32 adds in float, halves in double and round once. */
static uint64_t combine_float(ptx_modifier op, ptx_type type, uint64_t old, uint64_t value) {
    if (type == PTX_F32 && op == PTX_M_ADD) {
        float a, b;
        memcpy(&a, &old, 4);
        memcpy(&b, &value, 4);
        float sum = a + b;
        uint32_t bits;
        memcpy(&bits, &sum, 4);
        return sum != sum ? 0x7fffffff : bits;
    }
    double a = kcsim_decode(type, old), b = kcsim_decode(type, value);
    double result = op == PTX_M_ADD ? a + b : op == PTX_M_MIN ? minimum(a, b) : maximum(a, b);
    if (type != PTX_F64) return kcsim_encode(type, result, PTX_M_RN);
    uint64_t bits;
    memcpy(&bits, &result, 8);
    return bits;
}

static int64_t as_signed(uint64_t value, unsigned bytes) {
    unsigned unused = 64 - 8 * bytes;
    return (int64_t)(value << unused) >> unused;
}

static bool old_is_kept(ptx_modifier op, ptx_type type, uint64_t old, uint64_t value,
                        unsigned bytes) {
    bool is_signed = ptx_types[type].kind == PTX_KIND_SINT;
    bool less = is_signed ? as_signed(old, bytes) < as_signed(value, bytes) : old < value;
    return op == PTX_M_MIN ? less || old == value : !less;
}

uint64_t kcsim_atomic_combine(ptx_modifier op, ptx_type type, uint64_t old, uint64_t value,
                              uint64_t third, unsigned bytes) {
    ptx_type_kind kind = ptx_types[type].kind;
    if (kind == PTX_KIND_PACKED) {
        ptx_type half = type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
        return combine_float(op, half, old & 0xffff, value & 0xffff) |
               combine_float(op, half, old >> 16 & 0xffff, value >> 16 & 0xffff) << 16;
    }
    if (kind == PTX_KIND_FLOAT) return combine_float(op, type, old, value);
    switch (op) {
    case PTX_M_ADD: return old + value;
    case PTX_M_MIN:
    case PTX_M_MAX: return old_is_kept(op, type, old, value, bytes) ? old : value;
    case PTX_M_INC: return old >= value ? 0 : old + 1;
    case PTX_M_DEC: return old == 0 || old > value ? value : old - 1;
    case PTX_M_AND: return old & value;
    case PTX_M_OR: return old | value;
    case PTX_M_XOR: return old ^ value;
    case PTX_M_CAS: return old == value ? third : old;
    default: return value; /* exch */
    }
}

/* One element of the atomic: of a vector or the only one. */
typedef struct element {
    kcsim_ref value, result;
    uint32_t offset; /* in memory */
    _Alignas(16) uint8_t results[512];
    uint32_t defined; /* the old values */
} element;

static element element_of(const kcsim_insn *insn, uint32_t index) {
    element one = {.value = insn->b, .result = insn->d, .defined = UINT32_MAX};
    if (!insn->list) return one;
    bool has_result = insn->list_count > insn->count;
    one.value = insn->list[index];
    one.result = has_result ? insn->list[insn->count + index] : kcsim_absent();
    one.offset = index * insn->bytes;
    return one;
}

/* What was never written cannot be added to; after an exchange it is as defined as the new value.
 */
static void define_atomic(const kcsim_access *access, uint32_t lane, element *one) {
    const kcsim_insn *insn = access->insn;
    const kcsim_warp *warp = access->warp;
    bool value = warp->full[one->value.slot] & warp->full[insn->c.slot] & 1u << lane;
    bool old = true;
    if (access->shadowed >> lane & 1) {
        uint8_t *marks = kcsim_marks(access, lane) + one->offset;
        for (uint32_t i = 0; i < insn->bytes; i++)
            old &= marks[i];
        bool after = insn->round == PTX_M_EXCH ? value : value && old;
        memset(marks, after, insn->bytes);
    }
    if (!old) one->defined &= ~(1u << lane);
}

/* exch and cas of 16 bytes; whether memory changed. */
static bool replace_wide(const kcsim_insn *insn, uint8_t *at, const uint8_t *value,
                         const uint8_t *third, uint8_t *old) {
    bool swaps = insn->round == PTX_M_CAS;
    memcpy(old, at, insn->bytes);
    if (swaps && memcmp(old, value, insn->bytes) != 0) return false;
    memcpy(at, swaps ? third : value, insn->bytes);
    return memcmp(at, old, insn->bytes) != 0;
}

static void atomic_lanes(kcsim_access *access, element *one) {
    const kcsim_insn *insn = access->insn;
    kcsim_warp *warp = access->warp;
    const uint8_t *b = kcsim_at(warp, one->value), *c = kcsim_at(warp, insn->c);
    bool by_seed = warp->block->launch->by_seed;
    kcsim_past *past = access->space == PTX_SPACE_GLOBAL ? warp->block->worker->past : NULL;
    uint32_t first = by_seed ? kcsim_random(&warp->block->random) % KCSIM_LANES : 0;
    for (uint32_t i = 0; i < KCSIM_LANES; i++) {
        uint32_t lane = i ^ first;
        if (!(access->mask >> lane & 1)) continue;
        uint64_t old = 0, value = 0, third = 0;
        uint8_t *at = kcsim_host(access, lane) + one->offset;
        uint32_t place = lane * insn->bytes;
        if (insn->bytes > 8) {
            warp->block->changes +=
                replace_wide(insn, at, b + place, c + place, one->results + place);
            if (warp->block->launch->track) define_atomic(access, lane, one);
            continue;
        }
        memcpy(&old, at, insn->bytes);
        memcpy(&value, b + place, insn->bytes);
        memcpy(&third, c + place, insn->bytes);
        uint64_t fresh = kcsim_atomic_combine((ptx_modifier)insn->round, insn->source->types[0],
                                              old, value, third, insn->bytes);
        if (past && memcmp(&fresh, &old, insn->bytes) != 0) kcsim_past_change(past, access, lane);
        else if (past) kcsim_past_see(past, access, lane);
        memcpy(at, &fresh, insn->bytes);
        memcpy(one->results + place, &old, insn->bytes);
        if (memcmp(&fresh, &old, insn->bytes) != 0) warp->block->changes++;
        if (warp->block->launch->track) define_atomic(access, lane, one);
    }
}

static void put_old(kcsim_warp *warp, const kcsim_insn *insn, const element *one, uint32_t mask) {
    kcsim_put(warp, one->result, one->results, insn->bytes, mask);
    if (!warp->block->launch->track || kcsim_is_absent(one->result)) return;
    warp->full[one->result.slot] |= mask & one->defined;
    for (uint32_t bad = mask & ~one->defined; bad; bad &= bad - 1)
        kcsim_set_defined_bits(warp, one->result, (unsigned)__builtin_ctz(bad), insn->bytes, 0);
}

void kcsim_do_atomic(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    element elements[8];
    kcsim_access access;
    access.warp = warp;
    access.insn = insn;
    access.size = (uint32_t)insn->bytes * insn->count;
    access.kind = KCSIM_ACCESS_ATOMIC;
    uint32_t rest =
        kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, addresses);
    for (uint32_t i = 0; i < insn->count; i++) {
        elements[i] = element_of(insn, i);
        if (insn->space != PTX_SPACE_SHARED)
            kcsim_report_undefined(warp, insn, elements[i].value, rest,
                                   "the operand was never written");
    }
    if (insn->space != PTX_SPACE_SHARED)
        kcsim_report_undefined(warp, insn, insn->c, rest, "the operand was never written");
    while (rest) {
        kcsim_access_take_space(&access, (ptx_space)insn->space, addresses, &rest);
        kcsim_access_locate(&access);
        kcsim_access_race(&access);
        kcsim_access_look(&access);
        if (access.space == PTX_SPACE_SHARED && access.home->flags) kcsim_flags_pass(&access);
        for (uint32_t i = 0; i < insn->count; i++)
            atomic_lanes(&access, &elements[i]);
    }
    for (uint32_t i = 0; i < insn->count; i++)
        put_old(warp, insn, &elements[i], mask);
    if (warp->block->launch->by_seed) kcsim_interrupt(warp);
}

/* ---- cp.async -------------------------------------------------------------------------------- */

/* How many bytes each lane reads; the rest is filled with zeros. */
static void source_bytes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask,
                         uint32_t sizes[KCSIM_LANES]) {
    uint32_t ignored = 0;
    if (!kcsim_is_absent(insn->e))
        ignored = kcsim_predicate(warp, insn->e) ^ (insn->negate_c ? UINT32_MAX : 0);
    const uint32_t *given = kcsim_is_absent(insn->c) ? NULL : kcsim_at(warp, insn->c);
    if (given)
        kcsim_report_undefined(warp, insn, insn->c, mask, "the number of bytes was never written");
    for (int lane = 0; lane < KCSIM_LANES; lane++) {
        sizes[lane] = given && given[lane] < insn->bytes ? given[lane] : insn->bytes;
        if (ignored >> lane & 1) sizes[lane] = 0;
    }
}

static void copy_lane(const kcsim_access *from, const kcsim_access *to, uint32_t lane,
                      uint32_t size) {
    uint8_t data[16] = {0}, marks[16];
    memset(marks, 1, sizeof marks);
    if (from->mask >> lane & 1) {
        memcpy(data, kcsim_host(from, lane), size);
        if (from->shadowed >> lane & 1) memcpy(marks, kcsim_marks(from, lane), size);
    }
    memcpy(kcsim_host(to, lane), data, to->insn->bytes);
    if (to->shadowed >> lane & 1) memcpy(kcsim_marks(to, lane), marks, to->insn->bytes);
}

/* The bytes are on their way until the wait. */
static void depart(const kcsim_access *from) {
    kcsim_transit *transit = from->warp->block->worker->transit;
    for (uint32_t rest = from->mask, lanes; rest; rest &= ~lanes) {
        lanes = rest;
        uint32_t trip = kcsim_transit_group(from->warp, false, &lanes);
        if (from->span.dense && lanes == UINT32_MAX) {
            kcsim_transit_touch(transit, trip, from->span.low, from->size * KCSIM_LANES,
                                KCSIM_ACCESS_READ);
            continue;
        }
        for (uint32_t each = lanes; each; each &= each - 1)
            kcsim_transit_touch(transit, trip, from->address[__builtin_ctz(each)], from->size,
                                KCSIM_ACCESS_READ);
    }
}

/* The bytes are copied at once; copies.c knows that they are not there before the wait. */
void kcsim_do_copy_async(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    uint32_t sizes[KCSIM_LANES], reading = 0;
    kcsim_access from = {
        .warp = warp, .insn = insn, .size = insn->bytes, .kind = KCSIM_ACCESS_READ};
    kcsim_access to = {.warp = warp, .insn = insn, .size = insn->bytes, .kind = KCSIM_ACCESS_WRITE};
    source_bytes(warp, insn, mask, sizes);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (sizes[__builtin_ctz(rest)]) reading |= rest & (0 - rest);
    uint32_t lanes =
        kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, addresses);
    while (lanes) {
        kcsim_access_take_space(&to, PTX_SPACE_SHARED, addresses, &lanes);
        kcsim_access_locate(&to);
        kcsim_access_race(&to);
        kcsim_access_count(&to);
        KCSIM_EACH_LANE(lane, warp->block->copies ? to.mask : 0) {
            kcsim_copies_begin(warp->block->copies, warp, lane, to.address[lane], to.size);
        }
    }
    uint32_t source = kcsim_access_addresses(warp, insn, insn->b, insn->element,
                                             (int32_t)insn->target, reading, addresses);
    uint64_t read_at[KCSIM_LANES];
    uint32_t groups = 0, read = 0;
    /* Lanes that read equally much go together: bounds are those of what is read. */
    for (uint32_t size = insn->bytes; size; size--) {
        uint32_t group = 0;
        for (uint32_t rest = source; rest; rest &= rest - 1)
            if (sizes[__builtin_ctz(rest)] == size) group |= rest & (0 - rest);
        if (!group) continue;
        uint32_t left = group;
        from.size = size;
        kcsim_access_take_space(&from, PTX_SPACE_GLOBAL, addresses, &left);
        kcsim_access_locate(&from);
        kcsim_access_race(&from);
        if (warp->block->departures) depart(&from);
        for (uint32_t rest = from.mask; rest; rest &= rest - 1)
            read_at[__builtin_ctz(rest)] = from.address[__builtin_ctz(rest)];
        read |= from.mask;
        groups++;
        KCSIM_EACH_LANE(lane, group & to.mask) {
            copy_lane(&from, &to, lane, size);
        }
    }
    if (groups == 1) kcsim_access_count(&from);
    else if (read) kcsim_access_count_ranges(warp, read_at, sizes, read);
    for (uint32_t rest = to.mask & ~source; rest; rest &= rest - 1) {
        kcsim_access none = {.mask = 0};
        copy_lane(&none, &to, (uint32_t)__builtin_ctz(rest), 0);
    }
    warp->block->changes++;
}
