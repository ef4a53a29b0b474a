/* The executor: warps of a block, their lanes' program counters, barriers, memory, checks.
 *
 *     launch (grid) -> worker (a host thread) -> cluster (one, or where blocks talk, several)
 *                   -> block -> warp -> group of lanes
 *
 * Lanes of a warp run together while they agree on the program counter. Where they part, the group
 * that is furthest behind runs, so that groups meet again at the first common instruction. A group
 * that waits (at a barrier, for other lanes of its warp) stands aside; a warp with no group to run
 * is blocked; a block with no warp to run is stuck, and that is a finding. */
#ifndef KCSIM_EXEC_H
#define KCSIM_EXEC_H

#include <stdatomic.h>

#include "runtime/sim/cuda/code.h"
#include "runtime/sim/cuda/decode.h"
#include "runtime/sim/state.h"

#define KCSIM_BARRIERS 16
#define KCSIM_WAITERS 16u
#define KCSIM_MAP_CHANGES 8u
#define KCSIM_MAP_FENCES 64u

typedef enum kcsim_group_state {
    KCSIM_GROUP_READY,
    KCSIM_GROUP_AT_BARRIER, /* of the block: `barrier` says which */
    KCSIM_GROUP_AT_CLUSTER, /* in barrier.cluster.wait */
    KCSIM_GROUP_AT_LANES,   /* for the lanes of `wanted` to come to the same instruction */
    KCSIM_GROUP_APART       /* for lanes that the seed parted them from, as far as they come */
} kcsim_group_state;

typedef struct kcsim_group {
    uint32_t pc, mask, wanted;
    uint8_t state, barrier;
} kcsim_group;

typedef struct kcsim_warp {
    struct kcsim_block *block;
    uint8_t *registers;
    const uint8_t *constants;
    uint32_t *full;                   /* a slot's lanes that are defined in every bit */
    uint64_t (*defined)[KCSIM_LANES]; /* for the other lanes: which bits are */
    bool has_holes;                   /* some lane of `defined` was set since the block began */
    uint32_t pc, mask;                /* the group that runs; mask 0: none */
    uint32_t behind;                  /* the lowest pc of the other groups that could run */
    uint32_t live, present;           /* lanes not yet exited; lanes there ever were */
    uint32_t carry, carry_defined;
    uint32_t index;
    uint32_t group_count;
    bool blocked;
    uint64_t steps; /* instructions run since the block began, up to this turn */
    uint32_t turn, left; /* how many this turn may run, and how many it has left */
    uint64_t clock; /* what it reads for them while clock_stands */
    bool clock_stands;
    uint32_t slice; /* instructions since the groups were last weighed */
    bool rotating;  /* the group that runs was chosen for fairness, not for being behind */
    bool parted;    /* interleave.c: lanes that were together are apart, by the seed */
    uint32_t ahead, ahead_turns; /* lanes that go before others meanwhile; for how long */
    uint32_t partings;           /* so far */
    uint32_t apart; /* lanes whose last .sync instruction was without others that lived */
    kcsim_group groups[KCSIM_LANES];
    uint32_t tid[3][KCSIM_LANES];
    uint32_t id;                 /* among the warps of its cluster */
    uint32_t *time;              /* order.c: what this warp knows of the others' clocks, by id */
    uint32_t knowledge;          /* changes whenever `time` does */
    uint32_t *fenced, *observed; /* NULL where nothing is ordered but by the block's barriers */
    bool yielding;               /* its turn ends before the next instruction */
    uint32_t cluster_arrived;    /* lanes at the cluster's barrier in this round */
    uint32_t cluster_owed;       /* lanes that arrived and have not waited for it yet */
    uint32_t cluster_pc;         /* where the first of them arrived */
    struct kcsim_wait {          /* the mbarrier that it polled last, in vain; pc 0: none */
        struct kcsim_block *home;
        uint64_t at;
        uint32_t pc, lanes;
    } wait;
    struct kcsim_talker {        /* talk.h */
        struct kcsim_known *known, *fenced[3], *observed[3];
    } talker;
    struct kcsim_look { /* the last load or atomic: what a loop that waits looks at */
        const kcsim_insn *insn;
        uint64_t address;
        ptx_space space;
        uint32_t size, lanes;
    } look;
    uint32_t acquired; /* waits on mbarriers that succeeded */
    uint32_t round;    /* race_lanes.c: how often all lanes were ordered */
    uint8_t tick;      /* how often some were in this round, from 1 */
    uint32_t global_steps, round_step; /* accesses to global memory; the first of this round */
    bool partly_met;   /* `known` counts: by lane, the last tick that it knows of each other lane */
    uint8_t known[KCSIM_LANES][KCSIM_LANES];
    struct kcsim_lane_release { /* by clock: whose accesses of a round that release covers */
        uint32_t time, round, lanes;
    } releases[16];
    struct kcsim_lane_release last_release;
    uint32_t quota;    /* registers a thread, as setmaxnreg left them */
    uint32_t waited;   /* early.c: its time when the launch before was over for it; 0: not yet */
    bool heard;        /* of something that the launch before wrote by a strong access */
    uint32_t *handed;  /* early.c: its `time` at the last fence for the device; or NULL */
} kcsim_warp;

typedef struct kcsim_barrier {
    uint32_t arrived[KCSIM_LANES]; /* lanes, by warp */
    uint32_t pc;                   /* of the first arrival */
    uint32_t expected;             /* threads; 0: all */
    bool in_use, aligned, plain, reduces, mixed; /* by sync or arrive; by red; by both, and told */
    uint32_t true_count, count; /* bar.red */
    bool undefined;
} kcsim_barrier;

typedef struct kcsim_block {
    struct kcsim_worker *worker;
    const struct kcsim_grid *launch;
    uint32_t id[3];
    uint64_t linear;
    struct kcsim_cluster *cluster;
    uint32_t rank; /* in the cluster */
    uint32_t thread_count, warp_count, live_threads;
    kcsim_warp *warps;
    uint8_t *registers;
    uint32_t *full;
    uint64_t (*defined)[KCSIM_LANES];
    uint8_t *shared, *shared_defined;
    uint8_t *local, *local_defined;
    struct kcsim_race *race;
    struct kcsim_traces *traces;
    struct kcsim_wgmma *wgmma;         /* NULL: the kernel has none, or not looked at */
    struct kcsim_copies *copies;       /* NULL: not looked for */
    struct kcsim_flags *flags;         /* NULL: shared memory orders nothing */
    struct kcsim_copies *leaving;      /* bulk copies that read; these four as well */
    struct kcsim_across *across;       /* those that go to shared memory */
    struct kcsim_flights *flights;     /* bulk copies that write */
    struct kcsim_proxy *proxy;
    struct kcsim_late *late;             /* bulk.h; NULL: nothing is */
    struct kcsim_departures *departures; /* transit.h; NULL where the worker has no transit */
    /* Tensor maps in global memory that this block changed field by field, and those that its
     * warps acquired, rings; exec_tensormap.c. */
    struct kcsim_map_change {
        uint64_t address;
        bool released;
    } map_changes[KCSIM_MAP_CHANGES];
    struct kcsim_map_fence {
        uint64_t address, version; /* what its warp knew of it */
        uint32_t warp, time;       /* of the cluster */
    } map_fences[KCSIM_MAP_FENCES];
    uint32_t map_change_count, map_fence_count;
    uint32_t *clocks;                  /* of all warps: what their `time` points into */
    uint32_t *arrivals;                /* clocks, one a barrier; NULL: all who come to it wait */
    struct kcsim_mbarriers *mbarriers; /* NULL: the kernel has none */
    struct kcsim_visit *visits;        /* from other blocks of the cluster, by warp; or NULL */
    uint32_t *handed;                  /* of all warps: what theirs point into; or NULL */
    uint32_t visitors;                 /* the blocks that wrote here, by rank */
    uint32_t register_pool;            /* what setmaxnreg.dec gave back, by warp */
    uint64_t random;
    bool stuck, trapped;
    bool interrupted;            /* its turn ends */
    uint64_t changes;            /* of memory and lanes: what could end somebody's wait */
    uint64_t quiet;              /* changes as this turn began: stores look whether they change any */
    uint64_t steps, quiet_since; /* instructions; and when the last change was */
    uint64_t patience;           /* instructions without change before polling is looked for */
    bool clock_read;             /* by some instruction */
    uint8_t *past;               /* registers that may come back: exec_poll.c; NULL: none */
    bool polls;                  /* that was found last */
    bool time_passed;            /* at this count of changes: clock_offset was moved on */
    uint64_t passed_at, clock_offset;
    kcsim_barrier barriers[KCSIM_BARRIERS];
} kcsim_block;

typedef struct kcsim_grid {
    kcsim_machine *machine;
    const kcsim_function *function;
    const kcsim_code *code;
    uint32_t grid[3], block[3];
    uint32_t cluster[3], cluster_blocks; /* 1 without clusters */
    bool explicit_cluster;
    uint32_t clock_count; /* warps of a cluster */
    uint32_t quota;       /* registers a thread that setmaxnreg finds */
    uint64_t block_total, cluster_total;
    bool by_seed; /* atomics or strong accesses, and a seed that is not 0: interleave.c */
    uint64_t shared_bytes; /* static and dynamic */
    uint64_t dynamic_shared;
    const uint8_t *params;
    size_t param_bytes;
    bool cooperative;   /* all blocks are resident at once */
    uint64_t workspace; /* of a cooperative grid; else 0 */
    bool track; /* definedness */
    bool check_alignment, check_bounds, check_race, check_copies, check_proxy;
    bool check_wgmma; /* any of what its books tell */
    bool check_order; /* any of those that ask who happened before whom */
    kcsim_conflicts *conflicts; /* between blocks; NULL: not looked for */
    kcsim_earlier *earlier;     /* between launches; NULL: not looked for */
    bool is_early;              /* it began before another has ended: early.c */
    bool hands_over;            /* by fences before launch_dependents */
    _Atomic uint64_t next_cluster;
} kcsim_grid;

typedef struct kcsim_worker {
    const kcsim_grid *launch;
    uint64_t *executed; /* warp instructions, by pc */
    uint64_t thread_instructions;
    uint32_t *near; /* by pc: the allocation that the last access hit */
    struct kcsim_talk *talk;               /* talk.h; NULL: blocks do not talk */
    struct kcsim_waiter { /* early.c: the first warps that waited, by talk.h's key */
        uint32_t key, time;
    } waiters[KCSIM_WAITERS];
    uint32_t waiter_count;
    struct kcsim_global_race *global_race; /* NULL: not looked for */
    struct kcsim_past *past;               /* talk.h; NULL: loads return what was stored last */
    struct kcsim_proxy_global *proxy_global; /* bulk.h; NULL: not looked for */
    struct kcsim_transit *transit; /* transit.h; NULL: nothing is copied, or not looked for */
    struct kcsim_wgmma_plan *plans; /* wgmma.h; NULL: the kernel has none */
    kcsim_cost *costs; /* by pc */
    uint64_t barriers;
    kcsim_finding_set findings;
    kcsim_conflict_list conflicts;
    kcsim_text printed, complained; /* standard output and error */
    bool faulted; /* something ended a block early */
    bool failed;  /* out of host memory */
    char fault[KCSIM_FAULT_TEXT];
} kcsim_worker;

/* What the instruction that the warp is at costs. */
static inline kcsim_cost *kcsim_cost_of(const kcsim_warp *warp) {
    return &warp->block->worker->costs[warp->pc];
}

/* ---- operands -------------------------------------------------------------------------------- */

static inline void *kcsim_at(const kcsim_warp *warp, kcsim_ref ref) {
    const uint8_t *base = ref.at & KCSIM_CONSTANT ? warp->constants : warp->registers;
    return (void *)(base + (ref.at & ~KCSIM_CONSTANT));
}

static inline uint32_t kcsim_predicate(const kcsim_warp *warp, kcsim_ref ref) {
    return *(const uint32_t *)kcsim_at(warp, ref);
}

static inline void kcsim_set_defined(kcsim_warp *warp, kcsim_ref ref, uint32_t mask,
                                     uint32_t defined) {
    uint32_t *full = &warp->full[ref.slot];
    if (ref.slot) *full = (*full & ~mask) | (defined & mask);
}

/* Stores a result for the lanes of `mask` from 32 computed ones. */
void kcsim_put(kcsim_warp *warp, kcsim_ref ref, const void *values, unsigned bytes, uint32_t mask);
void kcsim_put_predicate(kcsim_warp *warp, kcsim_ref ref, uint32_t values, uint32_t mask);

/* ---- definedness: exec_define.c -------------------------------------------------------------- */

/* Which bits of a register's lane are defined; those above its width always are. Of registers wider
 * than 8 bytes all or none. */
uint64_t kcsim_defined_bits(const kcsim_warp *warp, kcsim_ref ref, unsigned lane);
void kcsim_set_defined_bits(kcsim_warp *warp, kcsim_ref ref, unsigned lane, unsigned bytes,
                            uint64_t bits);
/* The result of `insn` in the lanes of `mask`, where some source is not fully defined. */
void kcsim_define_slowly(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);

static inline void kcsim_define(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t sources = warp->full[insn->a.slot] & warp->full[insn->b.slot] &
                       warp->full[insn->c.slot] & warp->full[insn->e.slot];
    if ((sources & mask) == mask) warp->full[insn->d.slot] |= mask;
    else kcsim_define_slowly(warp, insn, mask);
}

/* ---- reports: exec_report.c ------------------------------------------------------------------ */

typedef struct kcsim_report {
    kcsim_finding_kind kind;
    uint32_t lanes;
    const char *space;
    const uint64_t *addresses; /* by lane, or NULL */
    uint32_t size;
    const char *other;
} kcsim_report;

void kcsim_report_lanes(kcsim_warp *warp, const kcsim_insn *insn, const kcsim_report *report);

/* The other access of a race. */
typedef struct kcsim_party {
    uint32_t block[3], thread[3];
    uint32_t place; /* its instruction; UINT32_MAX: not known */
} kcsim_party;
void kcsim_thread_at(const kcsim_grid *grid, uint32_t thread, uint32_t id[3]);
/* What a remembered access keeps of its instruction: the pc, or UINT16_MAX, which is not told. */
static inline uint16_t kcsim_place_of(const kcsim_warp *warp) {
    return warp->pc < UINT16_MAX ? (uint16_t)warp->pc : UINT16_MAX;
}
/* A lane of the warp `key` (talk.h) at a place so kept. */
kcsim_party kcsim_party_of(const kcsim_grid *grid, uint32_t key, uint32_t lane, uint16_t place);
/* "thread 3,0,0 of block 1,0,0 WHAT at line 27 (ld.global.b32 %r1, [%rd1]), END" */
void kcsim_describe_party(const kcsim_grid *grid, const kcsim_party *party, const char *what,
                          const char *end, char *text, size_t size);
/* Lanes of `mask` whose `ref` is undefined, after reporting them as `what` ("address"). */
uint32_t kcsim_report_undefined(kcsim_warp *warp, const kcsim_insn *insn, kcsim_ref ref,
                                uint32_t mask, const char *what);

/* ---- the instructions ------------------------------------------------------------------------ */

void kcsim_do_carry(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_compare_pair(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_logic_test(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_set(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_testp(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_predicate(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_pack(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_unpack(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_special(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_convert(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_window(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_isspace(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_select(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* How the host rounds: a ptx_modifier. Whoever changes it puts PTX_M_RN back. */
void kcsim_round(uint8_t how);
void kcsim_do_lanes_slowly(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);

void kcsim_do_load(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_store(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_atomic(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_copy_async(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* What memory holds after an atomic operation; `third` is that of cas. */
uint64_t kcsim_atomic_combine(ptx_modifier op, ptx_type type, uint64_t old, uint64_t value,
                              uint64_t third, unsigned bytes);
void kcsim_do_bulk(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_map_field(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_map_copy(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_map_fence(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* Why a tensor copy may not see what this launch made of the map at `address`, which is `version`
 * of it by now (talk.h), or NULL. */
const char *kcsim_map_unfenced(const kcsim_warp *warp, uint64_t address, uint64_t version);
void kcsim_do_copy_group(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);

void kcsim_do_shuffle(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_vote(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_match(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_reduce(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* mapa, getctarank: exec_cluster.c */
void kcsim_do_map_address(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_block_rank(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_mbarrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* exec_system.c */
void kcsim_do_system(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_trap(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_elect(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_warp_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);

void kcsim_do_load_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_store_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_move_matrix(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_load_bytes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_store_bytes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_mma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_mma_sections(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_mma_quads(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_wmma_load(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_wmma_store(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_do_wmma(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* A number of a matrix from the low bits of its register. */
double kcsim_matrix_element(ptx_type type, uint64_t bits); /* exec_matrix.c */

/* ---- control: exec_control.c ----------------------------------------------------------------- */

/* Chooses the next group to run; false when every group waits. */
bool kcsim_warp_choose(kcsim_warp *warp);
/* Puts the running group among the others. */
void kcsim_warp_set_aside(kcsim_warp *warp);
/* For fairness: lets a group run that is ahead, so that it can give what the one behind polls for.
 */
void kcsim_warp_rotate(kcsim_warp *warp);
/* Runs a group that has some of these lanes, ready as it is; false when there is none. */
bool kcsim_warp_take(kcsim_warp *warp, uint32_t lanes);
/* After a yield: the running group stays. */
void kcsim_warp_stay(kcsim_warp *warp);
/* Of the running group only these lanes go on, and before the others, for some turns; until lanes
 * have to be together again. */
void kcsim_warp_part(kcsim_warp *warp, uint32_t lanes, uint32_t turns);
/* Parted lanes have come to where they have to be together: true when they wait for the others. */
bool kcsim_warp_await(kcsim_warp *warp);
/* No lane waits any longer for those that it was parted from. */
void kcsim_warp_rejoin(kcsim_warp *warp);
/* Splits the running group: the lanes of `taken` go to `target`, the rest to the next instruction.
 */
void kcsim_warp_branch(kcsim_warp *warp, uint32_t taken, uint32_t target);
void kcsim_warp_branch_index(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
void kcsim_warp_exit(kcsim_warp *warp, uint32_t mask);
/* These lanes stay at the instruction; the others, which its guard switches off, go on. */
void kcsim_warp_leave_behind(kcsim_warp *warp, uint32_t lanes);
/* Lanes whose mask operand names lanes that are not here stand aside; true when some can go on. */
bool kcsim_warp_gather(kcsim_warp *warp, const kcsim_insn *insn);
/* These lanes of `all` that meet run the instruction at `pc`: whom they name did not go elsewhere. */
void kcsim_warp_met(kcsim_warp *warp, uint32_t pc, uint32_t lanes, uint32_t all);
void kcsim_warp_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* Lanes of a waiting group go on behind its instruction. */
void kcsim_warp_release(kcsim_warp *warp, uint32_t index);
/* Lanes stop at their instruction in `state`; the others of the running group go on behind it. */
void kcsim_warp_stop(kcsim_warp *warp, uint32_t mask, kcsim_group_state state, uint8_t barrier);
void kcsim_report_divergence(kcsim_warp *warp, uint32_t pc, uint32_t lanes, const char *text);
/* The warp's turn ends: what it waits for has not happened. */
static inline void kcsim_warp_yield(kcsim_warp *warp) {
    warp->yielding = true;
    warp->behind = 0; /* the run loop looks up at once */
}
/* KCSIM_DO_ENDLESS: the block cannot end, and is given up. */
void kcsim_warp_endless(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* Finds out why nothing can run, and records it. */
void kcsim_block_stuck(kcsim_block *block);

/* Runs at most `budget` instructions; returns when they are used up or the warp is blocked or done.
 */
void kcsim_warp_run(kcsim_warp *warp, uint32_t budget);

/* ---- blocks: exec_block.c -------------------------------------------------------------------- */

bool kcsim_block_create(kcsim_block *block, struct kcsim_cluster *cluster, uint32_t rank);
void kcsim_block_destroy(kcsim_block *block);
void kcsim_block_start(kcsim_block *block, const uint32_t id[3]);
typedef enum kcsim_progress {
    KCSIM_PROGRESS_DONE,   /* every thread exited, or nothing can go on */
    KCSIM_PROGRESS_PAUSED, /* the budget is used up */
    KCSIM_PROGRESS_POLLING /* every warp waits for what only another block can do: to change memory,
                              or to come to the cluster's barrier */
} kcsim_progress;
kcsim_progress kcsim_block_run(kcsim_block *block, uint64_t budget);
uint64_t kcsim_random(uint64_t *state);
/* residents.c: blocks that talk, at most so many at once. */
void kcsim_run_talking(kcsim_worker *worker, const kcsim_grid *grid, uint32_t residents);

/* ---- polling: exec_poll.c ---- */

#define KCSIM_FAIR_SLICE 8192u /* instructions after which another group of the lanes runs */
/* Whether all warps that can run come back to where they were, and nothing has changed. */
bool kcsim_block_goes_round(kcsim_block *block);
/* They do. Where somebody looked at a clock, time passes in one go, once: false. Then loops that
 * only wait for a time end, and those that poll in vain go on as before. */
bool kcsim_block_polls_in_vain(kcsim_block *block);
/* Records a polling block as deadlocked. */
void kcsim_block_polls_forever(kcsim_block *block);

/* ---- interleave.c: what seeds other than 0 do, where warps or blocks may see each other by
 * atomics and strong accesses ---- */

#define KCSIM_WARP_BITS 9u
#define KCSIM_BLOCK_BITS 15u
/* The length of a turn: as likely to be of one instruction as of about 2^bits, or between. */
uint32_t kcsim_turn(uint64_t *random, unsigned bits);
/* Behind an atomic or a strong access: now and then the turn ends, of the warp or of its block. */
void kcsim_interrupt(kcsim_warp *warp);
/* Before a strong load or store by the lanes of the mask: often the warp parts. The lanes that
 * do it now. */
uint32_t kcsim_part(kcsim_warp *warp, uint32_t mask);

/* ---- clusters: exec_cluster.c ----------------------------------------------------------------
 *
 * Every block is in a cluster, mostly alone. The blocks of one take turns on one host thread. */

/* The last visit of a warp to another block's shared memory. */
typedef struct kcsim_visit {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    uint64_t address;
    uint32_t time, lane;
} kcsim_visit;

typedef struct kcsim_cluster {
    kcsim_worker *worker;
    kcsim_block *blocks;
    uint32_t count;
    uint64_t number;
    uint64_t random;
    uint64_t elsewhere; /* changes that other clusters have made, as of this one's turn */
    struct kcsim_turn {
        bool done, polling;
        uint64_t polled_at; /* changes of all clusters when it was found polling */
    } * turns;
    bool lanes_release;          /* some warp had lanes that a release did not cover */
    bool across;                 /* some block has copied to another's shared memory */
    bool gathering;              /* somebody is at the cluster's barrier */
    uint32_t *gathered, *passed; /* clocks: of this round's arrivals, of the last round's */
} kcsim_cluster;

/* Where a cluster's block is in the grid: clusters are numbered in x, then y, then z, so are
 * ranks. */
void kcsim_block_at(const kcsim_grid *grid, uint64_t cluster, uint32_t rank, uint32_t id[3]);
bool kcsim_cluster_create(kcsim_cluster *cluster, kcsim_worker *worker);
void kcsim_cluster_destroy(kcsim_cluster *cluster);
void kcsim_cluster_start(kcsim_cluster *cluster, uint64_t number);
kcsim_progress kcsim_cluster_run(kcsim_cluster *cluster, uint64_t budget);
/* What its blocks have changed since it began. */
uint64_t kcsim_cluster_changes(const kcsim_cluster *cluster);
void kcsim_cluster_polls_forever(kcsim_cluster *cluster);
void kcsim_warp_cluster_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);
/* After an exit: the cluster's barrier waits for those that are left; and a block that is empty
 * now must not be visited any more. */
void kcsim_cluster_left(kcsim_block *block);
/* Whether the warp knows that a block's threads have begun: their clocks do at 1, and what they do
 * is later. Who sees what they wrote to `home` knows. */
bool kcsim_cluster_has_begun(const kcsim_warp *warp, const kcsim_block *block);
void kcsim_cluster_hear(kcsim_warp *warp, const kcsim_block *home);
/* setmaxnreg; false while the registers are not there */
bool kcsim_warp_registers(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask);

/* ---- order: order.c --------------------------------------------------------------------------
 *
 * Happens-before by vector clocks: one component a warp of the cluster. A release puts what the
 * warp knows into an object's clock and begins a new tick; an acquire takes the object's clock.
 * Relaxed operations do so by way of the fences around them. */
/* The warp's own clock goes on. */
static inline void kcsim_order_tick(kcsim_warp *warp) {
    warp->time[warp->id]++;
    warp->knowledge++;
}
void kcsim_order_join(uint32_t *into, const uint32_t *from, uint32_t count);
void kcsim_order_release(kcsim_warp *warp, uint32_t *into, bool relaxed);
void kcsim_order_acquire(kcsim_warp *warp, const uint32_t *from, bool relaxed);
void kcsim_order_fence(kcsim_warp *warp);

/* ---- launches that begin before another has ended: early.c ---- */

void kcsim_early_wait(kcsim_warp *warp); /* griddepcontrol.wait */
void kcsim_early_fence(kcsim_warp *warp, const kcsim_insn *insn);
void kcsim_early_trigger(kcsim_warp *warp); /* griddepcontrol.launch_dependents */

/* ---- races: race.c --------------------------------------------------------------------------- */

typedef struct kcsim_race kcsim_race;
/* One of `blocks` of a cluster. */
kcsim_race *kcsim_race_create(uint64_t shared_bytes, uint32_t blocks);
void kcsim_race_destroy(kcsim_race *race);
void kcsim_race_reset(kcsim_race *race);
typedef enum kcsim_access_kind {
    KCSIM_ACCESS_READ,
    KCSIM_ACCESS_WRITE,
    KCSIM_ACCESS_ATOMIC
} kcsim_access_kind;
/* flags.c: clocks of words of shared memory. */
typedef struct kcsim_flags kcsim_flags;
kcsim_flags *kcsim_flags_create(uint64_t shared_bytes, uint32_t clock_count);
void kcsim_flags_destroy(kcsim_flags *flags);
void kcsim_flags_reset(kcsim_flags *flags);

typedef struct kcsim_racer {
    uint32_t warp;  /* of the cluster */
    uint32_t place; /* its instruction; UINT32_MAX: not known, as there are several */
    uint64_t word;
    bool reads;
    int lane; /* of kcsim_traces_access */
} kcsim_racer;
/* Records an access by the instruction that the warp is at; true when another warp's conflicting
 * one is not ordered before it. *other: that one. */
bool kcsim_race_access(kcsim_race *race, const kcsim_warp *warp, uint64_t address, uint32_t size,
                       kcsim_access_kind kind, kcsim_racer *other);
/* The same of reading several stretches behind `start`. *which: the first where it is a race. */
typedef struct kcsim_stretch {
    uint32_t at, size;
} kcsim_stretch;
bool kcsim_race_read(kcsim_race *race, const kcsim_warp *warp, uint64_t start,
                     const kcsim_stretch *list, uint32_t count, kcsim_racer *other,
                     uint32_t *which);
/* "thread 96,0,0 of block 0,0,0 used it too at line 27 (...), and no barrier lies between" */
void kcsim_race_describe(const kcsim_block *home, kcsim_racer other, char *text, size_t size);
/* A warp arrives at a barrier and does not wait: what it did so far is known to those who do. */
void kcsim_race_arrive(kcsim_warp *warp, uint32_t barrier);
/* The warps of the mask waited at a barrier that is complete now. */
void kcsim_race_meet(kcsim_block *block, uint32_t warps, uint32_t barrier);

/* For bulk copies: the word's last writer by an ordinary store that no proxy fence follows, as far
 * as `warp` knows. */
bool kcsim_race_unfenced(const kcsim_race *race, const kcsim_warp *warp, uint64_t address,
                         uint64_t size, uint32_t *writer);
/* What follows is ordered by other means than clocks. */
void kcsim_race_forget(kcsim_race *race, uint64_t address, uint64_t size);

/* ---- races between lanes of a warp: race_lanes.c ---- */

typedef struct kcsim_traces kcsim_traces;
kcsim_traces *kcsim_traces_create(uint64_t shared_bytes);
void kcsim_traces_destroy(kcsim_traces *traces);
void kcsim_traces_start(kcsim_block *block); /* before its warps start */
/* Records the lanes' accesses; those that nothing orders after another lane's, *other of the first.
 * Of other warps only what race.c takes for ordered by a release that another
 * lane made. */
uint32_t kcsim_traces_access(kcsim_traces *traces, const kcsim_warp *warp,
                             const uint64_t *addresses, uint32_t mask, uint32_t size,
                             kcsim_access_kind kind, kcsim_racer *other);
/* A lane of this warp of the cluster that used the word of late; -1: not known. */
int kcsim_traces_lane(const kcsim_traces *traces, uint64_t word, uint32_t warp, bool reads);
/* These lanes release, at the warp's present clock: before whatever else the instruction does. */
void kcsim_lanes_release(kcsim_warp *warp, uint32_t lanes);
/* What these lanes did is ordered before what they will do; or what all lanes did. */
void kcsim_lanes_meet(kcsim_warp *warp, uint32_t lanes);
void kcsim_lanes_order(kcsim_warp *warp);

/* ---- copies in flight: copies.c ---- */

typedef struct kcsim_flights kcsim_flights; /* bulk.h */
typedef struct kcsim_proxy kcsim_proxy;
typedef struct kcsim_across kcsim_across;

typedef struct kcsim_copies kcsim_copies;
typedef enum kcsim_copy_state {
    KCSIM_COPY_DONE,
    KCSIM_COPY_IN_FLIGHT,    /* its thread has not waited for it */
    KCSIM_COPY_NOT_PASSED_ON /* it has, but no barrier since tells this warp so */
} kcsim_copy_state;
kcsim_copies *kcsim_copies_create(uint64_t shared_bytes, uint32_t warp_count, uint32_t first_id);
void kcsim_copies_destroy(kcsim_copies *copies);
void kcsim_copies_reset(kcsim_copies *copies);
/* A lane issues a copy to [address, address + size). */
void kcsim_copies_begin(kcsim_copies *copies, const kcsim_warp *warp, uint32_t lane,
                        uint64_t address, uint64_t size);
/* Some thread has not waited for all of its copies. */
bool kcsim_copies_any(const kcsim_copies *copies, uint32_t *thread);
/* A lane's copies so far are waited for by way of an mbarrier. */
void kcsim_copies_hand_over(kcsim_copies *copies, const kcsim_warp *warp, uint32_t lane);
/* The first copy to these bytes that is not done, as a lane of `warp` sees it; *thread issued it.
 */
kcsim_copy_state kcsim_copies_look(const kcsim_copies *copies, const kcsim_warp *warp,
                                   uint64_t address, uint32_t size, uint32_t *thread);

#endif
