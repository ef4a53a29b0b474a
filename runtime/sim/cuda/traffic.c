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

/* One after the other without holes, or all the same: most accesses. */
static bool regular(const uint64_t *addresses, uint32_t mask, uint32_t size, traffic *out) {
    uint32_t first = (uint32_t)__builtin_ctz(mask);
    uint32_t lanes = mask >> first;
    if (lanes & (lanes + 1)) return false; /* lanes are not neighbours */
    uint32_t count = (uint32_t)__builtin_popcount(mask);
    uint64_t base = addresses[first], wrong = 0, different = 0;
    for (uint32_t i = 0; i < count; i++) {
        wrong |= addresses[first + i] ^ (base + (uint64_t)i * size);
        different |= addresses[first + i] ^ base;
    }
    if (wrong && different) return false;
    uint64_t bytes = wrong ? size : (uint64_t)count * size;
    *out = (traffic){.bytes = bytes, .sectors = (base + bytes - 1) / SECTOR - base / SECTOR + 1};
    return true;
}

/* The banks of one pass: how often the busiest one has to answer. Lanes that want the same word
 * share the answer. */
static uint32_t wavefronts_of_pass(const uint64_t *addresses, uint32_t mask, uint32_t size) {
    uint32_t words = size < 4 ? 1 : size / 4, most = 0;
    uint8_t depth[BANKS] = {0};
    uint64_t wanted[BANKS][8]; /* 8 lanes x 4 words, 16 x 2 or 32 x 1: the first 8 a bank, then
                                  every one counts */
    for (; mask; mask &= mask - 1) {
        uint64_t word = addresses[__builtin_ctz(mask)] / 4;
        for (uint32_t i = 0; i < words; i++, word++) {
            uint32_t bank = (uint32_t)(word % BANKS), n = 0;
            while (n < depth[bank] && n < 8 && wanted[bank][n] != word)
                n++;
            if (n < depth[bank] && n < 8) continue;
            if (depth[bank] < 8) wanted[bank][depth[bank]] = word;
            depth[bank]++;
            if (depth[bank] > most) most = depth[bank];
        }
    }
    return most;
}

/* Beyond eight words a bank: exactly, by comparing with every earlier lane. */
static uint32_t wavefronts_exactly(const uint64_t *addresses, uint32_t mask, uint32_t size) {
    uint32_t words = size < 4 ? 1 : size / 4, count[BANKS] = {0}, most = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
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

void kcsim_count_shared(kcsim_counts *counts, const uint64_t *addresses, uint32_t mask,
                        uint32_t size) {
    /* 32 lanes x 4 bytes fit one wavefront; 8-byte accesses go by half warps, 16-byte ones by
     * quarters. */
    uint32_t lanes = size <= 4 ? 32 : size == 8 ? 16 : 8;
    for (uint32_t first = 0; first < 32; first += lanes) {
        uint32_t pass = lanes == 32 ? mask : mask & (((1u << lanes) - 1) << first);
        if (!pass) continue;
        uint32_t wavefronts = wavefronts_of_pass(addresses, pass, size);
        if (wavefronts > 8) wavefronts = wavefronts_exactly(addresses, pass, size);
        counts->shared_wavefronts += wavefronts;
        counts->shared_bank_conflicts += wavefronts - 1;
    }
}

void kcsim_access_count(kcsim_access *access) {
    kcsim_counts *counts = &access->warp->block->worker->counts;
    traffic cost;
    if (!access->mask) return;
    if (access->space == PTX_SPACE_SHARED) {
        kcsim_count_shared(counts, access->address, access->mask, access->size);
        return;
    }
    if (access->space != PTX_SPACE_GLOBAL) return;
    if (!regular(access->address, access->mask, access->size, &cost))
        cost = scattered(access->address, access->mask, access->size);
    uint64_t ideal = (cost.bytes + SECTOR - 1) / SECTOR;
    if (access->kind == KCSIM_ACCESS_READ) {
        counts->global_load_bytes += cost.bytes;
        counts->global_load_sectors += cost.sectors;
        counts->global_load_sectors_ideal += ideal;
    } else {
        counts->global_store_bytes += cost.bytes;
        counts->global_store_sectors += cost.sectors;
        counts->global_store_sectors_ideal += ideal;
    }
}
