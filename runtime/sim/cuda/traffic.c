/* What an access costs: sectors of global memory, wavefronts of shared memory. */
#include <string.h>

#include "runtime/sim/cuda/access.h"

#define SECTOR 32u
#define BANKS 32u

/* A set of at most 64 numbers. */
typedef struct small_set {
    uint64_t items[128];
    uint8_t used[128];
    uint32_t count;
} small_set;

static void set_add(small_set *set, uint64_t item) {
    uint32_t at = (uint32_t)((item * 0x9e3779b97f4a7c15u) >> 57);
    while (set->used[at] && set->items[at] != item)
        at = (at + 1) % 128;
    if (set->used[at]) return;
    set->used[at] = 1;
    set->items[at] = item;
    set->count++;
}

typedef struct traffic {
    uint64_t bytes, sectors;
} traffic;

static traffic scattered(const uint64_t *addresses, uint32_t mask, uint32_t size) {
    small_set starts, sectors;
    memset(starts.used, 0, sizeof starts.used);
    memset(sectors.used, 0, sizeof sectors.used);
    starts.count = sectors.count = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t address = addresses[__builtin_ctz(mask)];
        set_add(&starts, address);
        set_add(&sectors, address / SECTOR);
        set_add(&sectors, (address + size - 1) / SECTOR);
    }
    /* Aligned accesses of one size coincide or are apart. */
    return (traffic){.bytes = (uint64_t)starts.count * size, .sectors = sectors.count};
}

/* Ranges of several sizes, in the order of their addresses: what each adds to those before. */
static traffic ranges(const uint64_t *addresses, const uint32_t *sizes, uint32_t mask) {
    traffic sum = {0};
    uint64_t end = 0, sector_end = 0;
    while (mask) {
        uint32_t least = (uint32_t)__builtin_ctz(mask);
        KCSIM_EACH_LANE(lane, mask) {
            if (addresses[lane] < addresses[least]) least = lane;
        }
        mask &= ~(1u << least);
        uint64_t from = addresses[least], to = from + sizes[least];
        uint64_t sector = from / SECTOR, last = (to + SECTOR - 1) / SECTOR;
        if (to > end) sum.bytes += to - (from > end ? from : end);
        if (last > sector_end) sum.sectors += last - (sector > sector_end ? sector : sector_end);
        if (to > end) end = to;
        if (last > sector_end) sector_end = last;
    }
    return sum;
}

/* One after the other without holes, or all the same: most accesses. */
static bool regular(const kcsim_access *access, traffic *out) {
    if (!access->span.same && !(access->span.dense && access->mask == UINT32_MAX)) return false;
    uint64_t bytes = access->span.same ? access->size : 32u * access->size, base = access->span.low;
    *out = (traffic){.bytes = bytes, .sectors = (base + bytes - 1) / SECTOR - base / SECTOR + 1};
    return true;
}

/* A pass in which no bank is asked for two words, as it should be: lanes that want the same word
 * share the answer. */
static bool is_conflict_free(const uint64_t *addresses, uint32_t mask, uint32_t words) {
    uint32_t busy = 0;
    uint32_t wanted[BANKS];
    for (; mask; mask &= mask - 1) {
        uint32_t word = (uint32_t)(addresses[__builtin_ctz(mask)] / 4);
        for (uint32_t i = 0; i < words; i++, word++) {
            uint32_t bank = word % BANKS;
            if (busy >> bank & 1 && wanted[bank] != word) return false;
            busy |= 1u << bank;
            wanted[bank] = word;
        }
    }
    return true;
}

/* How often the busiest bank has to answer. */
static uint32_t wavefronts_of_pass(const uint64_t *addresses, uint32_t mask, uint32_t size) {
    uint32_t words = size < 4 ? 1 : size / 4, count[BANKS] = {0}, most = 0;
    KCSIM_EACH_LANE(lane, mask) {
        for (uint32_t i = 0; i < words; i++) {
            uint64_t word = addresses[lane] / 4 + i;
            bool seen = false;
            for (uint32_t before = mask & ((1u << lane) - 1); before && !seen;
                 before &= before - 1) {
                uint64_t other = addresses[__builtin_ctz(before)] / 4;
                seen = word >= other && word < other + words;
            }
            uint32_t bank = (uint32_t)(word % BANKS);
            if (!seen && ++count[bank] > most) most = count[bank];
        }
    }
    return most;
}

/* 32 lanes x 4 bytes fit one wavefront; 8-byte accesses go by half warps, 16-byte ones by quarters.
 */
static void count_shared(kcsim_cost *cost, const kcsim_access *access) {
    uint32_t size = access->size, lanes = size <= 4 ? 32 : size == 8 ? 16 : 8;
    bool easy = access->span.same || (access->span.dense && access->mask == UINT32_MAX);
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t pass = lanes == 32 ? access->mask : access->mask & (((1u << lanes) - 1) << first);
        if (!pass) continue;
        uint32_t wavefronts = 1;
        if (!easy && !is_conflict_free(access->address, pass, size < 4 ? 1 : size / 4))
            wavefronts = wavefronts_of_pass(access->address, pass, size);
        cost->wavefronts += wavefronts;
        cost->bank_conflicts += wavefronts - 1;
    }
}

static void add_global(kcsim_cost *cost, traffic moved, bool stores) {
    cost->stores = stores;
    cost->bytes += moved.bytes;
    cost->sectors += moved.sectors;
    cost->sectors_ideal += (moved.bytes + SECTOR - 1) / SECTOR;
}

void kcsim_access_count_ranges(const kcsim_warp *warp, const uint64_t *addresses,
                               const uint32_t *sizes, uint32_t mask) {
    add_global(kcsim_cost_of(warp), ranges(addresses, sizes, mask), false);
}

void kcsim_access_count(kcsim_access *access) {
    kcsim_cost *cost = kcsim_cost_of(access->warp);
    traffic moved;
    if (!access->mask) return;
    if (access->space == PTX_SPACE_SHARED) {
        count_shared(cost, access);
        return;
    }
    if (access->space != PTX_SPACE_GLOBAL) return;
    if (!regular(access, &moved)) moved = scattered(access->address, access->mask, access->size);
    add_global(cost, moved, access->kind != KCSIM_ACCESS_READ);
}
