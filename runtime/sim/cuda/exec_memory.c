/* Loads and stores. */
#include <string.h>

#include "runtime/sim/cuda/talk.h"

#define ONES 0x0101010101010101u

/* ---- loads ---- */

/* Most of the time all lanes, and none has memory of its own. */
#define COPY_LANES(N)                                                                              \
    if (access->mask == UINT32_MAX && access->stride == 0) {                                       \
        const uint8_t *from = access->origin + offset;                                             \
        for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)                                        \
            memcpy(to + lane * (N), from + access->address[lane], N);                              \
    } else                                                                                         \
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {                               \
            uint32_t lane = (uint32_t)__builtin_ctz(rest);                                         \
            memcpy(to + lane * (N), kcsim_host(access, lane) + offset, N);                         \
        }

/* All lanes, one element each, one after the other. */
static bool is_dense(const kcsim_access *access) {
    return access->mask == UINT32_MAX && access->span.dense && access->insn->count == 1 &&
           access->stride == 0;
}

static void load_element(const kcsim_access *access, uint32_t k) {
    const kcsim_insn *insn = access->insn;
    uint8_t *to = access->warp->registers + insn->list[k].at;
    uint32_t offset = k * insn->bytes;
    if (is_dense(access) && insn->bytes == insn->element) {
        memcpy(to, kcsim_host(access, 0), insn->bytes * 32u);
    } else if (insn->bytes == 4 && insn->element == 4) {
        COPY_LANES(4)
    } else if (insn->bytes == 8 && insn->element == 8) {
        COPY_LANES(8)
    } else if (insn->bytes == 2 && insn->element == 2) {
        COPY_LANES(2)
    } else {
        KCSIM_EACH_LANE(lane, access->mask) {
            uint64_t value = 0;
            if (insn->bytes > 8) {
                memcpy(to + lane * insn->element, kcsim_host(access, lane) + offset, insn->bytes);
                continue;
            }
            memcpy(&value, kcsim_host(access, lane) + offset, insn->bytes);
            unsigned unused = 64 - 8u * insn->bytes;
            if (insn->extend) value = (uint64_t)((int64_t)(value << unused) >> unused);
            memcpy(to + lane * insn->element, &value, insn->element);
        }
    }
}

/* The bits of a lane's element that memory has been written with. What extends it is as defined as
 * its last byte. */
static uint64_t element_bits(const kcsim_access *access, uint32_t lane, uint32_t k) {
    const kcsim_insn *insn = access->insn;
    const uint8_t *marks = kcsim_marks(access, lane) + k * insn->bytes;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < insn->bytes && i < 8; i++)
        if (marks[i]) bits |= (uint64_t)0xff << 8 * i;
    bool last = insn->bytes >= 8 || marks[insn->bytes - 1];
    if (insn->bytes < 8 && (last || !insn->extend)) bits |= UINT64_MAX << 8 * insn->bytes;
    return bits;
}

static bool all_marked(const uint8_t *marks, uint32_t size) {
    uint64_t together = ONES, part = ONES;
    for (; size >= 8; size -= 8, marks += 8) {
        memcpy(&part, marks, 8);
        together &= part;
    }
    if (size) {
        part = ONES;
        memcpy(&part, marks, size);
        together &= part;
    }
    return together == ONES;
}

/* Every byte of every lane, by one pass over words: the usual answer is yes. */
static bool all_lanes_marked(const kcsim_access *access) {
    uint64_t together = ONES, part = ONES;
    uint32_t width = access->size < 8 ? access->size : 8;
    if (access->span.dense && access->shadowed == UINT32_MAX && access->stride == 0)
        return all_marked(kcsim_marks(access, 0), access->size * KCSIM_LANES);
    for (uint32_t rest = access->shadowed; rest; rest &= rest - 1) {
        const uint8_t *marks = kcsim_marks(access, (uint32_t)__builtin_ctz(rest));
        if (width == 4) {
            uint32_t word;
            memcpy(&word, marks, 4);
            together &= word | ONES << 32;
            continue;
        }
        for (uint32_t at = 0; at < access->size; at += width) {
            memcpy(&part, marks + at, width);
            together &= part;
        }
    }
    return together == ONES;
}

static void define_loaded(const kcsim_access *access) {
    const kcsim_insn *insn = access->insn;
    kcsim_warp *warp = access->warp;
    uint32_t holes = 0, checked = access->shadowed;
    if (checked && all_lanes_marked(access)) checked = 0;
    KCSIM_EACH_LANE(lane, checked) {
        if (!all_marked(kcsim_marks(access, lane), access->size)) holes |= 1u << lane;
    }
    for (uint32_t k = 0; k < insn->list_count; k++) {
        kcsim_ref ref = insn->list[k];
        if (kcsim_is_absent(ref)) continue;
        warp->full[ref.slot] |= access->mask & ~holes;
        KCSIM_EACH_LANE(lane, holes) {
            uint64_t bits = element_bits(access, lane, k);
            kcsim_set_defined_bits(warp, ref, lane, insn->element, bits);
            if (insn->bytes > 8 &&
                !all_marked(kcsim_marks(access, lane) + k * insn->bytes, insn->bytes))
                warp->full[ref.slot] &= ~(1u << lane);
        }
    }
}

/* A lane whose load is refused gets zeros: one finding, and no others that only follow from it. */
static void load_zeros(kcsim_warp *warp, const kcsim_insn *insn, uint32_t lanes) {
    static const uint8_t zeros[512];
    for (uint32_t k = 0; lanes && k < insn->list_count; k++) {
        if (kcsim_is_absent(insn->list[k])) continue;
        kcsim_put(warp, insn->list[k], zeros, insn->element, lanes);
        warp->full[insn->list[k].slot] |= lanes;
    }
}

/* By the seed, what a strong load may return instead of what memory holds. */
static void load_older(const kcsim_access *access) {
    kcsim_past *past = access->warp->block->worker->past;
    if (past && access->space == PTX_SPACE_GLOBAL) kcsim_past_load(past, access);
}

void kcsim_do_load(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    kcsim_access access;
    bool by_seed = insn->seen && warp->block->launch->by_seed;
    if (by_seed) mask = kcsim_part(warp, mask);
    access.warp = warp;
    access.insn = insn;
    access.size = (uint32_t)insn->bytes * insn->count;
    access.kind = KCSIM_ACCESS_READ;
    uint32_t rest = kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask,
                                           addresses),
             done = 0;
    while (rest) {
        kcsim_access_take_space(&access, (ptx_space)insn->space, addresses, &rest);
        kcsim_access_locate(&access);
        kcsim_access_race(&access);
        kcsim_access_look(&access);
        if (insn->strong && access.space == PTX_SPACE_SHARED && access.home->flags)
            kcsim_flags_pass(&access);
        kcsim_access_count(&access);
        for (uint32_t k = 0; k < insn->list_count; k++)
            if (!kcsim_is_absent(insn->list[k])) load_element(&access, k);
        if (warp->block->launch->track) define_loaded(&access);
        if (by_seed) load_older(&access);
        done |= access.mask;
    }
    if (done != mask) load_zeros(warp, insn, mask & ~done);
    if (by_seed) kcsim_interrupt(warp);
}

/* ---- stores ---- */

#define STORE_LANES(N)                                                                             \
    if (access->mask == UINT32_MAX && access->stride == 0) {                                       \
        uint8_t *to = access->origin + offset;                                                     \
        for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)                                        \
            memcpy(to + access->address[lane], from + lane * (N), N);                              \
    } else                                                                                         \
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {                               \
            uint32_t lane = (uint32_t)__builtin_ctz(rest);                                         \
            memcpy(kcsim_host(access, lane) + offset, from + lane * (N), N);                       \
        }

static void store_element(const kcsim_access *access, uint32_t k) {
    const kcsim_insn *insn = access->insn;
    const uint8_t *from = kcsim_at(access->warp, insn->list[k]);
    uint32_t offset = k * insn->bytes;
    if (is_dense(access) && insn->bytes == insn->element) {
        memcpy(kcsim_host(access, 0), from, insn->bytes * 32u);
    } else if (insn->bytes == 4 && insn->element == 4) {
        STORE_LANES(4)
    } else if (insn->bytes == 8 && insn->element == 8) {
        STORE_LANES(8)
    } else if (insn->bytes == 2 && insn->element == 2) {
        STORE_LANES(2)
    } else {
        KCSIM_EACH_LANE(lane, access->mask) {
            memcpy(kcsim_host(access, lane) + offset, from + lane * insn->element, insn->bytes);
        }
    }
}

/* Whether memory holds the value already, in every lane. */
static bool holds_element(const kcsim_access *access, uint32_t k) {
    const kcsim_insn *insn = access->insn;
    const uint8_t *from = kcsim_at(access->warp, insn->list[k]);
    KCSIM_EACH_LANE(lane, access->mask) {
        if (memcmp(kcsim_host(access, lane) + k * insn->bytes, from + lane * insn->element,
                   insn->bytes) != 0)
            return false;
    }
    return true;
}

/* Marks what is written. Undefined bytes that leave for global memory are a finding; elsewhere they
 * stay undefined. */
static void mark_stored(const kcsim_access *access) {
    const kcsim_insn *insn = access->insn;
    kcsim_warp *warp = access->warp;
    uint32_t holes = 0;
    for (uint32_t k = 0; k < insn->list_count; k++) {
        uint32_t bad = access->mask & ~warp->full[insn->list[k].slot];
        for (; bad; bad &= bad - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(bad);
            uint64_t bits = insn->bytes > 8 ? 0 : kcsim_defined_bits(warp, insn->list[k], lane);
            uint64_t wanted = insn->bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * insn->bytes) - 1;
            if ((bits & wanted) == wanted) continue;
            holes |= 1u << lane;
            for (uint32_t i = 0; access->shadowed >> lane & 1 && i < insn->bytes; i++)
                kcsim_marks(access, lane)[k * insn->bytes + i] =
                    i < 8 && (bits >> 8 * i & 0xff) == 0xff;
        }
    }
    if (!holes && access->shadowed == UINT32_MAX && access->span.dense && access->stride == 0) {
        memset(kcsim_marks(access, 0), 1, access->size * 32);
        return;
    }
    for (uint32_t rest = access->shadowed & ~holes; rest; rest &= rest - 1)
        memset(kcsim_marks(access, (uint32_t)__builtin_ctz(rest)), 1, access->size);
    KCSIM_EACH_LANE(lane, access->shadowed & holes) {
        for (uint32_t k = 0; k < insn->list_count; k++)
            if (warp->full[insn->list[k].slot] >> lane & 1)
                memset(kcsim_marks(access, lane) + k * insn->bytes, 1, insn->bytes);
    }
    if (!holes || access->space != PTX_SPACE_GLOBAL) return;
    kcsim_access_report(access, KCSIM_FINDING_UNINITIALIZED, holes,
                        "the value that is stored was never written");
}

static void keep_older(const kcsim_access *access) {
    kcsim_past *past = access->warp->block->worker->past;
    if (!past || access->space != PTX_SPACE_GLOBAL) return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        kcsim_past_change(past, access, (uint32_t)__builtin_ctz(rest));
}

void kcsim_do_store(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    kcsim_block *block = warp->block;
    kcsim_access access;
    bool by_seed = insn->seen && block->launch->by_seed;
    if (by_seed) mask = kcsim_part(warp, mask);
    access.warp = warp;
    access.insn = insn;
    access.size = (uint32_t)insn->bytes * insn->count;
    access.kind = KCSIM_ACCESS_WRITE;
    uint32_t rest =
        kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, addresses);
    while (rest) {
        kcsim_access_take_space(&access, (ptx_space)insn->space, addresses, &rest);
        kcsim_access_locate(&access);
        kcsim_access_race(&access);
        if (insn->strong && access.space == PTX_SPACE_SHARED && access.home->flags)
            kcsim_flags_pass(&access);
        kcsim_access_count(&access);
        if (by_seed) keep_older(&access);
        for (uint32_t k = 0; k < insn->list_count; k++) {
            bool same = block->changes == block->quiet && holds_element(&access, k);
            if (!same) block->changes++;
            store_element(&access, k);
        }
        if (block->launch->track) mark_stored(&access);
    }
    if (by_seed) kcsim_interrupt(warp);
}
