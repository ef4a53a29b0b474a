/* Warps that poll in vain, and what is told of them.
 *
 * A warp polls when it comes back to a state it was in before, registers and all, while nothing in
 * memory changed: it will do so for ever unless somebody else changes memory. Warps of a block may
 * go round together as well, and meet at its barriers meanwhile:
 *
 *     again:  @%p0 ld.acquire.gpu.global.b32 %r1, [%d1];     thread 0 looks
 *             setp.ne.b32 %p1, %r1, 0;
 *             barrier.red.or.pred %p2, 0, %p1;               and all hear of it
 *             @!%p2 bra again;
 *
 * Whoever is watched runs alone. Clocks stand still meanwhile, and leap before the block is given
 * up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"
#include "runtime/sim/cuda/mbarrier.h"

#define MOST_WARPS 32u
#define MOST_ROUNDS 256u
#define LONGEST_PERIOD 20000u
#define CLOCK_LEAP (((uint64_t)1 << 40) + ((uint64_t)1 << 30)) /* much, in 32 bits too */

/* ---- one warp ---- */

/* A state to come back to. */
typedef struct state {
    uint8_t *registers; /* in block->past */
    uint32_t pc, mask, carry, group_count;
    kcsim_group groups[KCSIM_LANES];
} state;

/* Where block->past keeps the registers: of every warp, and behind them of the one that runs. */
static uint8_t *place(const kcsim_block *block, uint32_t index) {
    return block->past + index * block->launch->code->register_bytes;
}

static void remember(const kcsim_warp *warp, state *past) {
    past->pc = warp->pc;
    past->mask = warp->mask;
    past->carry = warp->carry;
    past->group_count = warp->group_count;
    memcpy(past->groups, warp->groups, warp->group_count * sizeof *warp->groups);
    memcpy(past->registers, warp->registers, warp->block->launch->code->register_bytes);
}

static bool is_back(const kcsim_warp *warp, const state *past) {
    size_t bytes = warp->block->launch->code->register_bytes;
    return warp->pc == past->pc && warp->mask == past->mask && warp->carry == past->carry &&
           warp->group_count == past->group_count &&
           memcmp(past->groups, warp->groups, warp->group_count * sizeof *warp->groups) == 0 &&
           memcmp(past->registers, warp->registers, bytes) == 0;
}

typedef enum outcome {
    GOES_ON, /* it changed something, or is not back after a long way */
    IS_BACK,
    WAITS /* for other warps */
} outcome;

/* Runs the warp alone, instruction by instruction. */
static outcome go_round(kcsim_warp *warp) {
    kcsim_block *block = warp->block;
    uint64_t changes = block->changes;
    state past = {.registers = place(block, block->warp_count)};
    remember(warp, &past);
    for (uint32_t i = 0; i < LONGEST_PERIOD; i++) {
        kcsim_warp_run(warp, 1);
        block->steps++;
        if (block->changes != changes || block->trapped) return GOES_ON;
        if (warp->blocked) return WAITS;
        /* Slices are not part of the state: weigh the groups as the scheduler would. */
        if (warp->group_count && warp->slice > KCSIM_FAIR_SLICE) return GOES_ON;
        if (is_back(warp, &past)) return IS_BACK;
        if (i & (i - 1)) continue;
        /* Brent's way to find a cycle that is entered later: the state to come back to moves on. */
        remember(warp, &past);
    }
    return GOES_ON;
}

/* Each group of the warp's lanes in turn. */
static outcome come_back(kcsim_warp *warp) {
    uint32_t seen = 0;
    outcome result;
    do {
        seen |= warp->mask;
        warp->slice = 0;
        result = go_round(warp);
    } while (result == IS_BACK && kcsim_warp_take(warp, ~seen));
    return result;
}

/* ---- all of a block ---- */

typedef struct watch {
    kcsim_block *block;
    state past[MOST_WARPS];
    kcsim_barrier barriers[KCSIM_BARRIERS];
    uint32_t idle[MOST_WARPS]; /* lanes that go round by themselves */
} watch;

static uint32_t ready_lanes(const kcsim_warp *warp) {
    uint32_t lanes = warp->mask;
    for (uint32_t i = 0; i < warp->group_count; i++)
        if (warp->groups[i].state == KCSIM_GROUP_READY) lanes |= warp->groups[i].mask;
    return lanes;
}

/* Each warp until it waits or is back by itself, which is as good: no barrier is going to free it.
 * The order does not matter where nobody changes memory. False when somebody goes on. */
static bool run_round(watch *watched, bool *moved) {
    kcsim_block *block = watched->block;
    *moved = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        if (warp->blocked || !warp->live) continue;
        kcsim_warp_rejoin(warp);
        if (watched->idle[w] && watched->idle[w] == ready_lanes(warp)) continue;
        if (!warp->mask && !kcsim_warp_choose(warp)) continue;
        outcome result = come_back(warp);
        if (result == GOES_ON) return false;
        watched->idle[w] = result == IS_BACK ? ready_lanes(warp) : 0;
        *moved = true;
    }
    return true;
}

static void remember_all(watch *watched) {
    const kcsim_block *block = watched->block;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        watched->past[w].registers = place(block, w);
        remember(&block->warps[w], &watched->past[w]);
    }
    memcpy(watched->barriers, block->barriers, sizeof watched->barriers);
}

static bool all_back(const watch *watched) {
    const kcsim_block *block = watched->block;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (!is_back(&block->warps[w], &watched->past[w])) return false;
    for (uint32_t id = 0; id < KCSIM_BARRIERS; id++) {
        const kcsim_barrier *now = &block->barriers[id], *then = &watched->barriers[id];
        if (memcmp(now->arrived, then->arrived, sizeof now->arrived) != 0 ||
            now->count != then->count || now->true_count != then->true_count)
            return false;
    }
    return true;
}

static bool any_idle(const watch *watched) {
    uint32_t lanes = 0;
    for (uint32_t w = 0; w < watched->block->warp_count; w++)
        lanes |= watched->idle[w];
    return lanes != 0;
}

/* Rounds until one is like one before, or nobody is left but who goes round alone. */
static bool run_rounds(watch *watched) {
    for (uint32_t i = 0; i < MOST_ROUNDS; i++) {
        bool moved;
        if (!run_round(watched, &moved)) return false;
        if (!moved) return any_idle(watched);
        if (i && all_back(watched)) return true;
        if (!(i & (i - 1))) remember_all(watched); /* as above */
    }
    return false;
}

static void begin(kcsim_warp *warp) {
    warp->look.insn = NULL;    /* until it looks at something */
    warp->clock_stands = true; /* many loops look at a clock to wait a little longer each time */
    warp->clock = warp->steps;
}

bool kcsim_block_goes_round(kcsim_block *block) {
    watch watched = {.block = block};
    size_t bytes = block->launch->code->register_bytes;
    if (!block->past) block->past = malloc((block->warp_count + 1u) * bytes + 1);
    if (!block->past) return false;
    for (uint32_t w = 0; w < block->warp_count; w++)
        begin(&block->warps[w]);
    block->quiet = block->changes;
    bool round = run_rounds(&watched);
    for (uint32_t w = 0; w < block->warp_count; w++)
        block->warps[w].clock_stands = false;
    return round;
}

bool kcsim_block_polls_in_vain(kcsim_block *block) {
    block->polls = !block->clock_read || (block->time_passed && block->passed_at == block->changes);
    if (block->polls) return true;
    block->time_passed = true;
    block->passed_at = block->changes;
    block->clock_offset += CLOCK_LEAP;
    return false;
}

/* ---- what is told ---- */

/* The warps that wait for one mbarrier: which, what it still wants, and who they are. */
static bool tell_mbarrier(kcsim_block *block, kcsim_warp *first) {
    const struct kcsim_wait *wait = &first->wait;
    kcsim_mbarrier *object = kcsim_mbarrier_find(wait->home, wait->at);
    char text[KCSIM_FINDING_TEXT], what[KCSIM_MBARRIER_TEXT], number[12];
    uint64_t addresses[KCSIM_LANES];
    if (!object) return false;
    kcsim_mbarrier_describe(object, what, sizeof what);
    snprintf(text, sizeof text, "%s; waiting for it: warps", what);
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const kcsim_warp *warp = &block->warps[w];
        bool same = warp->live && warp->wait.lanes && warp->wait.home == wait->home &&
                    warp->wait.at == wait->at;
        snprintf(number, sizeof number, "%u", w);
        if (same) kcsim_text_list(text, sizeof text, " ", number);
    }
    for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
        addresses[lane] = wait->at;
    kcsim_report report = {.kind = KCSIM_FINDING_DEADLOCK,
                           .lanes = wait->lanes,
                           .space = "shared",
                           .addresses = addresses,
                           .size = 8,
                           .other = text};
    kcsim_report_lanes(first, &block->launch->code->insns[wait->pc], &report);
    if (!block->worker->fault[0])
        snprintf(block->worker->fault, sizeof block->worker->fault,
                 "block %u,%u,%u is stuck: %s", block->id[0], block->id[1], block->id[2], text);
    return true;
}

static bool tell_mbarriers(kcsim_block *block) {
    bool any = false;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_warp *warp = &block->warps[w];
        bool told = false;
        if (!warp->live || !warp->wait.lanes) continue;
        for (uint32_t k = 0; k < w; k++)
            told |= block->warps[k].live && block->warps[k].wait.lanes &&
                    block->warps[k].wait.home == warp->wait.home &&
                    block->warps[k].wait.at == warp->wait.at;
        any |= told || tell_mbarrier(block, warp);
    }
    return any;
}

/* The warp looks at memory in a loop, or at nothing. One that has no lanes to run now goes round by
 * way of barriers. */
static void describe_loop(const kcsim_warp *warp, char *text, size_t size) {
    bool alone = warp->mask != 0;
    if (warp->look.insn)
        snprintf(text, size, "polls memory that nobody will change any more%s",
                 alone ? "" : ", and meets the block's barriers meanwhile");
    else
        snprintf(text, size,
                 "goes round for ever%s: it looks at no memory, and its registers come back to "
                 "what they were",
                 alone ? "" : " by way of barriers");
}

/* What one warp waits for that looks at memory in a loop, or wants registers. */
static void tell_polling(kcsim_warp *warp) {
    kcsim_block *block = warp->block;
    uint32_t pc = warp->mask || !warp->group_count ? warp->pc : warp->groups[0].pc;
    const kcsim_insn *insn = &block->launch->code->insns[pc];
    const struct kcsim_look *look = &warp->look;
    uint64_t addresses[KCSIM_LANES];
    char text[120];
    kcsim_report report = {
        .kind = KCSIM_FINDING_DEADLOCK, .lanes = ready_lanes(warp), .space = "loop", .other = text};
    describe_loop(warp, text, sizeof text);
    if (warp->mask && insn->kind == KCSIM_DO_REGISTERS) {
        report.space = "registers";
        snprintf(text, sizeof text,
                 "asks for %d registers a thread and holds %u; the block's warps gave back %u",
                 (int)insn->imm, warp->quota, block->register_pool);
    } else if (look->insn) {
        insn = look->insn;
        report.space = ptx_space_name(look->space);
        report.lanes = look->lanes;
        report.size = look->size;
        report.addresses = addresses;
        for (uint32_t lane = 0; lane < KCSIM_LANES; lane++)
            addresses[lane] = look->address;
    }
    kcsim_report_lanes(warp, insn, &report);
    if (!block->worker->fault[0])
        snprintf(block->worker->fault, sizeof block->worker->fault, "block %u,%u,%u is stuck: %s",
                 block->id[0], block->id[1], block->id[2], text);
}

/* Of those that meet at barriers: whoever looks at global memory, and shares what it saw with the
 * others; else whoever looks at any. */
static bool is_told(const kcsim_warp *warp, bool global) {
    if (!warp->live || warp->mask) return warp->live != 0;
    return warp->look.insn && (!global || warp->look.space == PTX_SPACE_GLOBAL);
}

/* Whoever only meets the others at barriers is not told, unless all do. */
void kcsim_block_polls_forever(kcsim_block *block) {
    kcsim_warp *other = NULL;
    bool told = false, global = false;
    block->stuck = true;
    block->worker->faulted = true;
    if (tell_mbarriers(block)) return;
    for (uint32_t w = block->warp_count; w-- > 0;) {
        kcsim_warp *warp = &block->warps[w];
        if (ready_lanes(warp)) other = warp;
        global |= warp->live && warp->look.insn && warp->look.space == PTX_SPACE_GLOBAL;
    }
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (!is_told(&block->warps[w], global)) continue;
        tell_polling(&block->warps[w]);
        told = true;
    }
    if (!told && other) tell_polling(other);
}
