/* The loop over instructions. */
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/wgmma.h"

static inline void do_lanes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, bool track) {
    if (track) kcsim_define(warp, insn, mask);
    if (insn->is_slow) {
        kcsim_do_lanes_slowly(warp, insn, mask);
        return;
    }
    const void *a = kcsim_at(warp, insn->a), *b = kcsim_at(warp, insn->b),
               *c = kcsim_at(warp, insn->c);
    const void *e = kcsim_at(warp, insn->e);
    uint8_t *d = warp->registers + insn->d.at;
    if (mask == warp->live && !insn->in_place) {
        insn->fn.lanes(d, a, b, c, e);
        return;
    }
    _Alignas(64) uint8_t result[512];
    insn->fn.lanes(result, a, b, c, e);
    kcsim_put(warp, insn->d, result, insn->bytes, mask);
}

static inline void do_move(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, bool track) {
    if (track) kcsim_define(warp, insn, mask);
    kcsim_put(warp, insn->d, kcsim_at(warp, insn->a), insn->bytes, mask);
}

static inline void do_compare(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, bool track) {
    uint32_t result = insn->fn.compare(kcsim_at(warp, insn->a), kcsim_at(warp, insn->b)),
             opposite = ~result;
    uint32_t defined =
        warp->full[insn->a.slot] & warp->full[insn->b.slot] & warp->full[insn->c.slot];
    if (insn->mode) {
        uint32_t c = kcsim_predicate(warp, insn->c) ^ (insn->negate_c ? UINT32_MAX : 0);
        uint32_t known = warp->full[insn->c.slot];
        if (insn->mode == PTX_M_BAND) {
            defined |= known & ~c;
            result &= c;
            opposite &= c;
        } else if (insn->mode == PTX_M_BOR) {
            defined |= known & c;
            result |= c;
            opposite |= c;
        } else {
            result ^= c;
            opposite ^= c;
        }
    }
    kcsim_put_predicate(warp, insn->d, result, mask);
    kcsim_put_predicate(warp, insn->d2, opposite, mask);
    if (track) {
        kcsim_set_defined(warp, insn->d, mask, defined);
        kcsim_set_defined(warp, insn->d2, mask, defined);
    }
}

static void do_active_mask(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t values[32];
    for (int i = 0; i < 32; i++)
        values[i] = mask;
    kcsim_put(warp, insn->d, values, 4, mask);
    kcsim_set_defined(warp, insn->d, mask, UINT32_MAX);
}

/* Instructions that change which lanes run. Everything else falls through to the next one. */
static void do_control(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    bool barrier = insn->kind == KCSIM_DO_BARRIER || insn->kind == KCSIM_DO_CLUSTER_BARRIER ||
                   insn->kind == KCSIM_DO_REGISTERS;
    if (barrier && kcsim_warp_await(warp)) return;
    switch (insn->kind) {
    case KCSIM_DO_BRANCH: kcsim_warp_branch(warp, mask, insn->target); break;
    case KCSIM_DO_BRANCH_INDEX: kcsim_warp_branch_index(warp, insn, mask); break;
    case KCSIM_DO_EXIT: kcsim_warp_exit(warp, mask); break;
    case KCSIM_DO_BARRIER: kcsim_warp_barrier(warp, insn, mask); break;
    case KCSIM_DO_TRAP: kcsim_do_trap(warp, insn, mask); break;
    case KCSIM_DO_ENDLESS: kcsim_warp_endless(warp, insn, mask); break;
    case KCSIM_DO_CLUSTER_BARRIER: kcsim_warp_cluster_barrier(warp, insn, mask); break;
    case KCSIM_DO_REGISTERS:
        if (kcsim_warp_registers(warp, insn, mask)) warp->pc++;
        break;
    default: break;
    }
}

/* Instructions of several lanes: first all that are named have to be here. */
static void do_together(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    if (kcsim_warp_await(warp)) return;
    if (mask != warp->mask) kcsim_warp_leave_behind(warp, mask);
    if (!kcsim_warp_gather(warp, insn)) return;
    mask = warp->mask; /* lanes that waited here have joined */
    kcsim_warp_met(warp, warp->pc, mask, mask);
    switch (insn->kind) {
    case KCSIM_DO_SHUFFLE: kcsim_do_shuffle(warp, insn, mask); break;
    case KCSIM_DO_VOTE: kcsim_do_vote(warp, insn, mask); break;
    case KCSIM_DO_MATCH: kcsim_do_match(warp, insn, mask); break;
    case KCSIM_DO_REDUCE: kcsim_do_reduce(warp, insn, mask); break;
    case KCSIM_DO_ELECT: kcsim_do_elect(warp, insn, mask); break;
    default: kcsim_do_warp_barrier(warp, insn, mask); break;
    }
    warp->pc++;
}

/* Matrices are the whole warp's: every lane is here, at once. */
static void do_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    bool guarded = mask != warp->mask;
    if (kcsim_warp_await(warp)) return;
    if (!guarded && mask != UINT32_MAX && !kcsim_warp_gather(warp, insn)) return;
    if (!guarded) mask = warp->mask;
    if (mask != UINT32_MAX)
        kcsim_report_divergence(warp, warp->pc, mask, "all lanes of the warp execute this at once");
    else warp->apart = 0;
    if (insn->round) kcsim_round(insn->round); /* f64 */
    switch (insn->kind) {
    case KCSIM_DO_LOAD_MATRIX: kcsim_do_load_matrix(warp, insn, mask); break;
    case KCSIM_DO_STORE_MATRIX: kcsim_do_store_matrix(warp, insn, mask); break;
    case KCSIM_DO_MOVE_MATRIX: kcsim_do_move_matrix(warp, insn, mask); break;
    case KCSIM_DO_LOAD_BYTES: kcsim_do_load_bytes(warp, insn, mask); break;
    case KCSIM_DO_STORE_BYTES: kcsim_do_store_bytes(warp, insn, mask); break;
    case KCSIM_DO_MMA: kcsim_do_mma(warp, insn, mask); break;
    case KCSIM_DO_MMA_SECTIONS: kcsim_do_mma_sections(warp, insn, mask); break;
    case KCSIM_DO_MMA_QUADS: kcsim_do_mma_quads(warp, insn, mask); break;
    case KCSIM_DO_MAP_COPY: kcsim_do_map_copy(warp, insn, mask); break;
    case KCSIM_DO_WMMA_LOAD: kcsim_do_wmma_load(warp, insn, mask); break;
    case KCSIM_DO_WMMA_STORE: kcsim_do_wmma_store(warp, insn, mask); break;
    case KCSIM_DO_WMMA: kcsim_do_wmma(warp, insn, mask); break;
    case KCSIM_DO_WGMMA: kcsim_do_wgmma(warp, insn, mask); break;
    case KCSIM_DO_WGMMA_FENCE: kcsim_do_wgmma_fence(warp); break;
    case KCSIM_DO_WGMMA_GROUP: kcsim_do_wgmma_group(warp, insn); break;
    default: break;
    }
    if (insn->round) kcsim_round(PTX_M_RN);
    warp->pc++;
}

static void do_rest(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    switch (insn->kind) {
    case KCSIM_DO_CARRY: kcsim_do_carry(warp, insn, mask); break;
    case KCSIM_DO_COMPARE_PAIR: kcsim_do_compare_pair(warp, insn, mask); break;
    case KCSIM_DO_LOGIC_TEST: kcsim_do_logic_test(warp, insn, mask); break;
    case KCSIM_DO_SET: kcsim_do_set(warp, insn, mask); break;
    case KCSIM_DO_TESTP: kcsim_do_testp(warp, insn, mask); break;
    case KCSIM_DO_PREDICATE: kcsim_do_predicate(warp, insn, mask); break;
    case KCSIM_DO_PACK: kcsim_do_pack(warp, insn, mask); break;
    case KCSIM_DO_UNPACK: kcsim_do_unpack(warp, insn, mask); break;
    case KCSIM_DO_SPECIAL: kcsim_do_special(warp, insn, mask); break;
    case KCSIM_DO_CONVERT: kcsim_do_convert(warp, insn, mask); break;
    case KCSIM_DO_WINDOW: kcsim_do_window(warp, insn, mask); break;
    case KCSIM_DO_ISSPACE: kcsim_do_isspace(warp, insn, mask); break;
    case KCSIM_DO_SELECT: kcsim_do_select(warp, insn, mask); break;
    case KCSIM_DO_ATOMIC: kcsim_do_atomic(warp, insn, mask); break;
    case KCSIM_DO_COPY_ASYNC: kcsim_do_copy_async(warp, insn, mask); break;
    case KCSIM_DO_BULK: kcsim_do_bulk(warp, insn, mask); break;
    case KCSIM_DO_MAP_FIELD: kcsim_do_map_field(warp, insn, mask); break;
    case KCSIM_DO_MAP_FENCE: kcsim_do_map_fence(warp, insn, mask); break;
    case KCSIM_DO_COPY_GROUP: kcsim_do_copy_group(warp, insn, mask); break;
    case KCSIM_DO_MAP_ADDRESS: kcsim_do_map_address(warp, insn, mask); break;
    case KCSIM_DO_BLOCK_RANK: kcsim_do_block_rank(warp, insn, mask); break;
    case KCSIM_DO_PROXY_FENCE: kcsim_do_proxy_fence(warp, insn); break;
    case KCSIM_DO_FENCE:
        kcsim_order_fence(warp);
        kcsim_early_fence(warp, insn);
        if (ptx_has(insn->source, PTX_GROUP_SEMANTICS) != PTX_M_RELEASE) kcsim_lanes_order(warp);
        if (warp->block->worker->talk) kcsim_talk_fence(warp, kcsim_scope_of(insn));
        break;
    case KCSIM_DO_MBARRIER: kcsim_do_mbarrier(warp, insn, mask); break;
    case KCSIM_DO_EARLY_WAIT: kcsim_early_wait(warp); break;
    case KCSIM_DO_EARLY_TRIGGER: kcsim_early_trigger(warp); break;
    case KCSIM_DO_SYSTEM: kcsim_do_system(warp, insn, mask); break;
    case KCSIM_DO_ACTIVE_MASK: do_active_mask(warp, insn, mask); break;
    default: break;
    }
}

/* Lanes in which the guard holds. An undefined guard is a finding where it decides what others can
 * see. */
static inline uint32_t guard_lanes(kcsim_warp *warp, const kcsim_insn *insn, bool track) {
    uint32_t value = *(const uint32_t *)(const void *)(warp->registers + insn->guard_at);
    uint32_t mask = warp->mask & (insn->negate_guard ? ~value : value);
    if (track && (warp->mask & ~warp->full[insn->guard])) {
        kcsim_ref guard = {.at = insn->guard_at, .slot = insn->guard};
        kcsim_report_undefined(warp, insn, guard, warp->mask, "the predicate was never written");
    }
    return mask;
}

static inline void step(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, bool track) {
    switch (insn->kind) {
    case KCSIM_DO_LANES: do_lanes(warp, insn, mask, track); break;
    case KCSIM_DO_MOVE: do_move(warp, insn, mask, track); break;
    case KCSIM_DO_COMPARE: do_compare(warp, insn, mask, track); break;
    case KCSIM_DO_LOAD: kcsim_do_load(warp, insn, mask); break;
    case KCSIM_DO_STORE: kcsim_do_store(warp, insn, mask); break;
    case KCSIM_DO_NOTHING: break;
    case KCSIM_DO_BRANCH:
    case KCSIM_DO_BRANCH_INDEX:
    case KCSIM_DO_EXIT:
    case KCSIM_DO_TRAP:
    case KCSIM_DO_ENDLESS:
    case KCSIM_DO_CLUSTER_BARRIER:
    case KCSIM_DO_REGISTERS:
    case KCSIM_DO_BARRIER: do_control(warp, insn, mask); return;
    case KCSIM_DO_WARP_BARRIER:
    case KCSIM_DO_SHUFFLE:
    case KCSIM_DO_VOTE:
    case KCSIM_DO_MATCH:
    case KCSIM_DO_REDUCE:
    case KCSIM_DO_ELECT: do_together(warp, insn, mask); return;
    case KCSIM_DO_LOAD_MATRIX:
    case KCSIM_DO_STORE_MATRIX:
    case KCSIM_DO_MOVE_MATRIX:
    case KCSIM_DO_LOAD_BYTES:
    case KCSIM_DO_STORE_BYTES:
    case KCSIM_DO_MMA:
    case KCSIM_DO_MMA_SECTIONS:
    case KCSIM_DO_MMA_QUADS:
    case KCSIM_DO_MAP_COPY:
    case KCSIM_DO_WMMA_LOAD:
    case KCSIM_DO_WMMA_STORE:
    case KCSIM_DO_WGMMA:
    case KCSIM_DO_WGMMA_FENCE:
    case KCSIM_DO_WGMMA_GROUP:
    case KCSIM_DO_WMMA: do_matrix(warp, insn, mask); return;
    default: do_rest(warp, insn, mask); break;
    }
    warp->pc++;
}

void kcsim_warp_run(kcsim_warp *warp, uint32_t budget) {
    const kcsim_block *block = warp->block;
    const kcsim_insn *insns = block->launch->code->insns;
    kcsim_worker *worker = block->worker;
    uint64_t *executed = worker->executed, threads = 0;
    bool track = block->launch->track;
    uint32_t left = budget;
    warp->turn = warp->left = budget;
    if (warp->yielding || warp->ahead) kcsim_warp_stay(warp);
    if (!warp->mask && !kcsim_warp_choose(warp)) left = 0;
    while (left && warp->mask && !block->trapped) {
        if (warp->pc >= warp->behind) {
            if (warp->yielding) break;
            kcsim_warp_set_aside(warp);
            kcsim_warp_choose(warp);
        }
        const kcsim_insn *insn = &insns[warp->pc];
        uint32_t mask = insn->guard ? guard_lanes(warp, insn, track) : warp->mask;
        executed[warp->pc]++;
        threads += mask == UINT32_MAX ? KCSIM_LANES : (uint32_t)__builtin_popcount(mask);
        warp->left = --left;
        if (block->wgmma && mask) kcsim_wgmma_watch(warp, insn, mask);
        if (mask) step(warp, insn, mask, track);
        else warp->pc++;
    }
    worker->thread_instructions += threads;
    warp->steps += budget - left;
    warp->slice += budget - left;
    warp->turn = warp->left = 0;
    warp->blocked = !warp->mask;
}
