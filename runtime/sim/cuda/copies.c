/* Copies in flight: cp.async into shared memory, from its issue until its thread has waited for it.
 *
 * The bytes are moved at once; what is late is the permission to touch them. Every word of shared
 * memory remembers the last copy to it, as a thread and the number of that thread's group; a thread
 * counts the groups it has committed and those that it has waited for:
 *
 *     cp.async [s]   word s: thread 5, group 1      thread 5: committed 0, waited 0
 *     commit_group                                  thread 5: committed 1, waited 0
 *     wait_group 0                                  thread 5: committed 1, waited 1    s is there
 *
 * What was waited for belongs to the waiting warp until a barrier passes it on (race.c has the
 * clocks), so a group also remembers when its wait was; of the last few groups only. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/transit.h"

#define REMEMBERED 16u

typedef struct copying_thread {
    uint32_t committed, waited;
    uint32_t latest; /* the group of its last copy */
    uint32_t when[REMEMBERED]; /* by group: the warp's clock at the wait */
    /* cp.async.mbarrier.arrive hands over all copies so far, to whoever waits for the mbarrier.
     * The copies between two of them are a batch; by batch: the warp's clock and its count of such
     * waits when it was handed over. */
    uint32_t batches;
    struct {
        uint32_t at, acquired;
    } handed[REMEMBERED];
} copying_thread;

struct kcsim_copies {
    uint64_t count;
    uint64_t *words;                 /* 0, or batch << 40 | group << 16 | thread + 1 */
    uint32_t thread_count, first_id; /* of the warps, in the cluster */
    copying_thread *threads;
    bool used; /* since the block began */
};

kcsim_copies *kcsim_copies_create(uint64_t shared_bytes, uint32_t warp_count, uint32_t first_id) {
    kcsim_copies *copies = calloc(1, sizeof *copies);
    if (!copies) return NULL;
    copies->count = (shared_bytes + 3) / 4;
    copies->words = calloc(copies->count + 1, sizeof *copies->words);
    copies->first_id = first_id;
    copies->thread_count = warp_count * KCSIM_LANES;
    copies->threads = calloc(copies->thread_count, sizeof *copies->threads);
    if (copies->words && copies->threads) return copies;
    kcsim_copies_destroy(copies);
    return NULL;
}

void kcsim_copies_destroy(kcsim_copies *copies) {
    if (!copies) return;
    free(copies->words);
    free(copies->threads);
    free(copies);
}

void kcsim_copies_reset(kcsim_copies *copies) {
    if (!copies || !copies->used) return;
    memset(copies->words, 0, copies->count * sizeof *copies->words);
    memset(copies->threads, 0, copies->thread_count * sizeof *copies->threads);
    copies->used = false;
}

void kcsim_copies_begin(kcsim_copies *copies, const kcsim_warp *warp, uint32_t lane,
                        uint64_t address, uint64_t size) {
    uint32_t thread = warp->index * KCSIM_LANES + lane;
    uint64_t group = (copies->threads[thread].committed + 1) & 0xffffff;
    uint64_t word = (uint64_t)copies->threads[thread].batches << 40 | group << 16 | (thread + 1);
    for (uint64_t at = address / 4; at < (address + size + 3) / 4; at++)
        copies->words[at] = word;
    copies->threads[thread].latest = (uint32_t)group;
    copies->used = true;
}

bool kcsim_copies_any(const kcsim_copies *copies, uint32_t *thread) {
    for (uint32_t i = 0; copies->used && i < copies->thread_count; i++) {
        if (copies->threads[i].latest <= copies->threads[i].waited) continue;
        *thread = i;
        return true;
    }
    return false;
}

void kcsim_do_copy_group(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    ptx_op op = insn->source->op;
    bool bulk = op == PTX_OP_BULK_COMMIT || op == PTX_OP_BULK_WAIT;
    kcsim_copies *copies = bulk ? warp->block->leaving : warp->block->copies;
    bool waits = op != PTX_OP_CPASYNC_COMMIT && op != PTX_OP_BULK_COMMIT;
    /* wait_all takes along what no group was made of yet */
    bool commits = op != PTX_OP_CPASYNC_WAIT && op != PTX_OP_BULK_WAIT;
    bool departs = warp->block->departures != NULL, late = bulk && warp->block->late;
    bool ends = waits && ptx_has(insn->source, PTX_GROUP_READ) == PTX_M_NONE;
    if (departs && commits) kcsim_transit_commit(warp, bulk, mask);
    if (departs && ends) kcsim_transit_wait(warp, bulk, mask, (uint64_t)insn->imm);
    if (late && commits) kcsim_late_commit(warp, mask);
    if (late && ends) kcsim_late_wait(warp, mask, (uint64_t)insn->imm);
    for (uint32_t rest = copies ? mask : 0; rest; rest &= rest - 1) {
        copying_thread *thread =
            &copies->threads[warp->index * KCSIM_LANES + (uint32_t)__builtin_ctz(rest)];
        if (commits) thread->committed++;
        if (!waits || thread->committed <= insn->imm) continue;
        uint32_t done = thread->committed - (uint32_t)insn->imm;
        if (done > thread->waited + REMEMBERED) thread->waited = done - REMEMBERED;
        while (thread->waited < done)
            thread->when[++thread->waited % REMEMBERED] = warp->time[warp->id];
    }
}

void kcsim_copies_hand_over(kcsim_copies *copies, const kcsim_warp *warp, uint32_t lane) {
    copying_thread *thread = &copies->threads[warp->index * KCSIM_LANES + lane];
    uint32_t at = thread->batches++ % REMEMBERED;
    thread->handed[at].at = warp->time[warp->id];
    thread->handed[at].acquired = warp->acquired;
}

/* Through an mbarrier: another warp knows by its clock, the thread's own by having waited. */
static bool is_handed_over(const copying_thread *thread, const kcsim_warp *warp, uint32_t owner,
                           uint32_t batch) {
    uint32_t at = batch % REMEMBERED;
    if (batch >= thread->batches) return false;
    if (thread->batches - batch > REMEMBERED) return true;
    return owner == warp->id ? warp->acquired > thread->handed[at].acquired
                             : thread->handed[at].at <= warp->time[owner];
}

static kcsim_copy_state state_of(const kcsim_copies *copies, const kcsim_warp *warp,
                                 uint64_t word) {
    uint32_t number = (uint32_t)(word & 0xffff) - 1;
    uint32_t owner = copies->first_id + number / KCSIM_LANES;
    uint32_t group = (uint32_t)(word >> 16) & 0xffffff, batch = (uint32_t)(word >> 40);
    const copying_thread *thread = &copies->threads[number];
    if (is_handed_over(thread, warp, owner, batch)) return KCSIM_COPY_DONE;
    if (group > thread->waited) return KCSIM_COPY_IN_FLIGHT;
    if (owner == warp->id || thread->waited - group >= REMEMBERED) return KCSIM_COPY_DONE;
    return thread->when[group % REMEMBERED] <= warp->time[owner] ? KCSIM_COPY_DONE
                                                                 : KCSIM_COPY_NOT_PASSED_ON;
}

kcsim_copy_state kcsim_copies_look(const kcsim_copies *copies, const kcsim_warp *warp,
                                   uint64_t address, uint32_t size, uint32_t *thread) {
    uint64_t known = 0;
    if (!copies->used) return KCSIM_COPY_DONE;
    for (uint64_t at = address / 4; at < (address + size + 3) / 4; at++) {
        uint64_t word = copies->words[at];
        if (word == known || word == 0) continue;
        kcsim_copy_state state = state_of(copies, warp, word);
        *thread = (uint32_t)(word & 0xffff) - 1;
        if (state != KCSIM_COPY_DONE) return state;
        known = word;
    }
    return KCSIM_COPY_DONE;
}
