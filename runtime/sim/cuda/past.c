/* Older values: strong stores and atomics on global memory that nothing has ordered yet may be late.
 *
 *     block 0   st.volatile data, 7      (no fence)     atom.add flag
 *     block 1                                                   atom.add flag    ld.volatile data: 0
 *
 * A word that was stored to last by another warp keeps its value of before, for relaxed and volatile
 * loads to return by the seed, as the memory model lets them (PTX ISA, "Memory Consistency Model",
 * "Coherence", "Causality"):
 *
 * - until the store is performed: a fence or a release, of any scope, by a warp that the store
 *   happens before. That is more than the model asks for, which wants an acquire at the load's
 *   side as well; but it is how programs have been written, and how the hardware has done;
 * - to warps that nothing orders behind the store;
 * - in one location no warp goes back: who read the new value, or changed it, reads no older one;
 * - not for ever: a store is older for some loads at most. What an atomic reads is the newest.
 *
 * So few are kept that what is forgotten reads as new. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/talk.h"

#define PAIRS 128u
#define LATE_BITS 4u /* a store is late for about 2^4 loads of a lane */

typedef struct place {
    uint64_t address, older; /* of 4 or 8 bytes */
    uint64_t fresh;          /* warps that may not go back, by number modulo 64 */
    uint32_t key, time;      /* the warp that stored, and when */
    uint32_t left;           /* loads that may return `older`; 0: no such place */
    uint8_t size;
    bool defined;
} place;

/* Of 8 bytes in memory: the two words, or all of it in the first. */
typedef place pair[2];

struct kcsim_past {
    pair pairs[PAIRS];
};

kcsim_past *kcsim_past_create(void) {
    return calloc(1, sizeof(kcsim_past));
}

void kcsim_past_destroy(kcsim_past *past) {
    free(past);
}

static pair *pair_of(kcsim_past *past, uint64_t address) {
    return &past->pairs[(address / 8 * 0x9e3779b97f4a7c15u >> 40) % PAIRS];
}

static uint64_t bit_of(const kcsim_warp *warp) {
    return (uint64_t)1 << kcsim_warp_key(warp) % 64;
}

/* One number of 4 or 8 bytes a lane. */
static bool is_kept(const kcsim_access *access) {
    const kcsim_insn *insn = access->insn;
    return insn->count == 1 && (insn->bytes == 4 || insn->bytes == 8);
}

static bool is_written(const kcsim_access *access, uint32_t lane) {
    if (!(access->shadowed >> lane & 1)) return true;
    for (uint32_t i = 0; i < access->size; i++)
        if (!kcsim_marks(access, lane)[i]) return false;
    return true;
}

void kcsim_past_change(kcsim_past *past, const kcsim_access *access, uint32_t lane) {
    kcsim_warp *warp = access->warp;
    uint64_t address = access->address[lane], end = address + access->size;
    for (uint64_t at = address / 8 * 8; at < end; at += 8) {
        pair *both = pair_of(past, at);
        bool whole = access->size == 8 || (*both)[0].size == 8;
        for (uint32_t i = 0; i < 2; i++)
            if (whole || i == (address >> 2 & 1)) (*both)[i].left = 0;
    }
    if (!is_kept(access)) return;
    place *at = &(*pair_of(past, address))[access->size == 4 && (address & 4)];
    *at = (place){.address = address,
                  .size = (uint8_t)access->size,
                  .fresh = bit_of(warp),
                  .key = kcsim_warp_key(warp),
                  .time = warp->time[warp->id],
                  .left = kcsim_turn(&warp->block->random, LATE_BITS),
                  .defined = is_written(access, lane)};
    memcpy(&at->older, kcsim_host(access, lane), access->size);
}

void kcsim_past_see(kcsim_past *past, const kcsim_access *access, uint32_t lane) {
    for (uint64_t at = 0; at < access->size; at += 8) {
        pair *both = pair_of(past, access->address[lane] + at);
        (*both)[0].fresh |= bit_of(access->warp);
        (*both)[1].fresh |= bit_of(access->warp);
    }
}

void kcsim_past_perform(kcsim_past *past, const kcsim_warp *warp) {
    for (uint32_t i = 0; i < 2 * PAIRS; i++) {
        place *at = &past->pairs[i / 2][i % 2];
        if (at->left && kcsim_is_ordered(warp, at->key, at->time)) at->left = 0;
    }
}

/* The place whose older value this lane's load returns, or NULL. */
static place *older_place(kcsim_past *past, const kcsim_access *access, uint32_t lane) {
    kcsim_warp *warp = access->warp;
    uint64_t address = access->address[lane];
    place *at = &(*pair_of(past, address))[access->size == 4 && (address & 4)];
    if (!at->left || at->address != address || at->size != access->size) return NULL;
    if (at->fresh & bit_of(warp) || kcsim_is_ordered(warp, at->key, at->time)) return NULL;
    return kcsim_random(&warp->block->random) & 1 ? at : NULL;
}

static void give(const kcsim_access *access, uint32_t lane, place *at) {
    const kcsim_insn *insn = access->insn;
    kcsim_ref to = insn->list[0];
    at->left--;
    memcpy(access->warp->registers + to.at + lane * insn->element, &at->older, insn->bytes);
    if (access->warp->block->launch->track)
        kcsim_set_defined_bits(access->warp, to, lane, insn->element, at->defined ? UINT64_MAX : 0);
}

void kcsim_past_load(kcsim_past *past, const kcsim_access *access) {
    const kcsim_insn *insn = access->insn;
    bool may = is_kept(access) && insn->bytes == insn->element && !kcsim_is_absent(insn->list[0]) &&
               ptx_has(insn->source, PTX_GROUP_SEMANTICS) != PTX_M_ACQUIRE &&
               !access->warp->clock_stands; /* it is watched for coming back to where it was */
    KCSIM_EACH_LANE(lane, access->mask) {
        place *at = may ? older_place(past, access, lane) : NULL;
        if (at) give(access, lane, at);
        else kcsim_past_see(past, access, lane);
    }
}
