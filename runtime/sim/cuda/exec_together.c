/* What the lanes of a warp do together: shuffles, votes, matches, reductions. Lanes that name the
 * same mask are a team; half a warp may hold one team and the other half another. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"

/* The first team among *rest, taken out of it. */
static uint32_t next_team(kcsim_warp *warp, const kcsim_insn *insn, uint32_t *rest) {
    const uint32_t *masks = kcsim_at(warp, insn->e);
    uint32_t wanted = masks[__builtin_ctz(*rest)], team = 0;
    KCSIM_EACH_LANE(lane, *rest) if (masks[lane] == wanted) team |= 1u << lane;
    *rest &= ~team;
    if (!(team & ~wanted)) return team;
    char text[96];
    snprintf(text, sizeof text,
             "lanes %08" PRIx32 " run this with the mask %08" PRIx32 ", which does not name them",
             team & ~wanted, wanted);
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .lanes = team & ~wanted,
                           .space = "warp",
                           .other = text};
    kcsim_report_lanes(warp, insn, &report);
    return team;
}

/* Everything of a team's result depends on everything of its inputs. */
static void define_team(kcsim_warp *warp, const kcsim_insn *insn, uint32_t team) {
    bool defined = (warp->full[insn->a.slot] & team) == team;
    if (!warp->block->launch->track) return;
    KCSIM_EACH_LANE(lane, team) {
        if (!defined) kcsim_set_defined_bits(warp, insn->d, lane, insn->bytes, 0);
    }
    kcsim_set_defined(warp, insn->d, team, defined ? UINT32_MAX : 0);
    kcsim_set_defined(warp, insn->d2, team, defined ? UINT32_MAX : 0);
}

/* Lanes that exited are not waited for, as the hardware has it. But those that ran others of these
 * instructions meanwhile were meant to run this one:
 *
 *     lanes 0-15    shfl.sync ..., 0xffffffff                  names lanes 16-31
 *     lanes 16-31   shfl.sync ..., 0xffff0000; exit            and they never come */
static void check_exited(kcsim_warp *warp, uint32_t pc, uint32_t lanes) {
    const kcsim_insn *insn = &warp->block->launch->code->insns[pc];
    const uint32_t *masks = kcsim_at(warp, insn->e);
    uint32_t gone = warp->apart & ~warp->live, bad = 0, named = 0;
    char text[120];
    KCSIM_EACH_LANE(lane, lanes) {
        if (masks[lane] & gone) bad |= 1u << lane;
        named |= masks[lane] & gone;
    }
    if (!bad) return;
    snprintf(text, sizeof text,
             "the mask names lanes %08" PRIx32 ", which exited: they ran other .sync instructions "
             "than these lanes",
             named);
    kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                           .lanes = bad,
                           .space = "warp",
                           .other = text};
    kcsim_report_lanes(warp, insn, &report);
    warp->apart &= ~named; /* told once */
}

void kcsim_warp_met(kcsim_warp *warp, uint32_t pc, uint32_t lanes, uint32_t all) {
    if (warp->apart & ~warp->live) check_exited(warp, pc, lanes);
    if (all == warp->live) warp->apart &= ~all;
    else warp->apart |= all;
}

/* ---- shuffle ---- */

static uint32_t source_lane(ptx_modifier mode, uint32_t lane, uint32_t b, uint32_t c,
                            bool *inside) {
    uint32_t clamp = c & 31, segment = c >> 8 & 31, offset = b & 31;
    int32_t most = (int32_t)((lane & segment) | (clamp & ~segment)), from = (int32_t)lane;
    switch (mode) {
    case PTX_M_UP: from = (int32_t)lane - (int32_t)offset; break;
    case PTX_M_DOWN: from = (int32_t)(lane + offset); break;
    case PTX_M_BFLY: from = (int32_t)(lane ^ offset); break;
    default: from = (int32_t)((lane & segment) | (offset & ~segment)); break;
    }
    *inside = mode == PTX_M_UP ? from >= most : from <= most;
    return *inside ? (uint32_t)from & 31 : lane;
}

void kcsim_do_shuffle(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const uint32_t *a = kcsim_at(warp, insn->a), *b = kcsim_at(warp, insn->b),
                   *c = kcsim_at(warp, insn->c);
    const uint32_t *masks = kcsim_at(warp, insn->e);
    uint32_t result[32] = {0}, inside = 0, absent = 0;
    uint64_t bits[32];
    uint32_t operands = warp->full[insn->b.slot] & warp->full[insn->c.slot];
    for (uint32_t rest = mask; rest;)
        next_team(warp, insn, &rest);
    KCSIM_EACH_LANE(lane, mask) {
        bool in_range;
        uint32_t from = source_lane((ptx_modifier)insn->mode, lane, b[lane], c[lane], &in_range);
        inside |= (uint32_t)in_range << lane;
        result[lane] = a[from];
        /* A lane that does not take part gives nothing. */
        if (!(mask & masks[lane] & 1u << from)) absent |= 1u << lane;
        bits[lane] = kcsim_defined_bits(warp, insn->a, from);
    }
    kcsim_put(warp, insn->d, result, 4, mask);
    kcsim_put_predicate(warp, insn->d2, inside, mask);
    if (!warp->block->launch->track) return;
    KCSIM_EACH_LANE(reader, mask) {
        bool known = operands >> reader & 1 && !(absent >> reader & 1);
        kcsim_set_defined_bits(warp, insn->d, reader, 4, known ? bits[reader] : 0);
    }
    kcsim_set_defined(warp, insn->d2, mask, operands);
}

/* ---- votes ---- */

void kcsim_do_vote(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t values = kcsim_predicate(warp, insn->a) ^ (insn->negate_c ? UINT32_MAX : 0),
             ballots[32] = {0};
    for (uint32_t rest = mask; rest;) {
        uint32_t team = next_team(warp, insn, &rest), yes = values & team;
        bool holds = insn->mode == PTX_M_ALL   ? yes == team
                     : insn->mode == PTX_M_ANY ? yes != 0
                                               : yes == team || !yes;
        KCSIM_EACH_LANE(lane, team) ballots[lane] = yes;
        if (insn->mode == PTX_M_BALLOT) kcsim_put(warp, insn->d, ballots, 4, team);
        else kcsim_put_predicate(warp, insn->d, holds ? UINT32_MAX : 0, team);
        define_team(warp, insn, team);
    }
}

void kcsim_do_match(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint8_t values[256];
    uint32_t result[32] = {0};
    memcpy(values, kcsim_at(warp, insn->a), insn->bytes * 32u);
    for (uint32_t rest = mask; rest;) {
        uint32_t team = next_team(warp, insn, &rest);
        KCSIM_EACH_LANE(lane, team)
        KCSIM_EACH_LANE(other, team)
        if (memcmp(values + lane * insn->bytes, values + other * insn->bytes, insn->bytes) == 0)
            result[lane] |= 1u << other;
        bool all = result[__builtin_ctz(team)] == team;
        KCSIM_EACH_LANE(member, team) if (insn->mode && !all) result[member] = 0;
        kcsim_put_predicate(warp, insn->d2, all ? UINT32_MAX : 0, team);
        kcsim_put(warp, insn->d, result, 4, team);
        /* The result is 32 bits wide whatever was compared. */
        kcsim_insn narrow = *insn;
        narrow.bytes = 4;
        define_team(warp, &narrow, team);
    }
}

/* ---- reductions ---- */

static uint32_t reduce_float(const kcsim_insn *insn, uint32_t a, uint32_t b) {
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    if (ptx_has(insn->source, PTX_GROUP_ABSMODE)) {
        x = fabsf(x);
        y = fabsf(y);
    }
    bool has_nan = x != x || y != y;
    if (has_nan && ptx_has(insn->source, PTX_GROUP_NANMODE)) return 0x7fffffff;
    float chosen = x != x ? y : y != y ? x : insn->mode == PTX_M_MIN ? fminf(x, y) : fmaxf(x, y);
    uint32_t bits;
    memcpy(&bits, &chosen, 4);
    return chosen != chosen ? 0x7fffffff : bits;
}

static uint32_t reduce(const kcsim_insn *insn, uint32_t a, uint32_t b) {
    bool is_signed = insn->source->types[0] == PTX_S32;
    bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    if (insn->source->types[0] == PTX_F32) return reduce_float(insn, a, b);
    switch (insn->mode) {
    case PTX_M_ADD: return a + b;
    case PTX_M_MIN: return less ? a : b;
    case PTX_M_MAX: return less ? b : a;
    case PTX_M_AND: return a & b;
    case PTX_M_OR: return a | b;
    default: return a ^ b;
    }
}

void kcsim_do_reduce(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t values[32], result[32] = {0};
    memcpy(values, kcsim_at(warp, insn->a), sizeof values);
    for (uint32_t rest = mask; rest;) {
        uint32_t team = next_team(warp, insn, &rest), first = (uint32_t)__builtin_ctz(team);
        uint32_t sum = values[first];
        KCSIM_EACH_LANE(lane, team & (team - 1)) sum = reduce(insn, sum, values[lane]);
        KCSIM_EACH_LANE(member, team) result[member] = sum;
        kcsim_put(warp, insn->d, result, 4, team);
        define_team(warp, insn, team);
    }
}

void kcsim_do_elect(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint32_t leaders[32] = {0}, is_leader = 0;
    for (uint32_t rest = mask; rest;) {
        uint32_t team = next_team(warp, insn, &rest), leader = (uint32_t)__builtin_ctz(team);
        KCSIM_EACH_LANE(lane, team) leaders[lane] = leader;
        is_leader |= 1u << leader;
    }
    kcsim_put(warp, insn->d, leaders, 4, mask);
    kcsim_put_predicate(warp, insn->d2, is_leader, mask);
    kcsim_set_defined(warp, insn->d, mask, UINT32_MAX);
    kcsim_set_defined(warp, insn->d2, mask, UINT32_MAX);
}

/* Having met is all. */
void kcsim_do_warp_barrier(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    for (uint32_t rest = mask; rest;)
        kcsim_lanes_meet(warp, next_team(warp, insn, &rest));
}
