#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/wgmma.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/mbarrier.h"
#include "runtime/sim/cuda/transit.h"

uint32_t kcsim_access_addresses(kcsim_warp *warp, const kcsim_insn *insn, kcsim_ref ref,
                                unsigned width, int64_t offset, uint32_t mask,
                                uint64_t *addresses) {
    const void *base = kcsim_at(warp, ref);
    if (width == 8) {
        const uint64_t *wide = base;
        for (int i = 0; i < KCSIM_LANES; i++)
            addresses[i] = wide[i] + (uint64_t)offset;
    } else {
        const uint32_t *narrow = base;
        for (int i = 0; i < KCSIM_LANES; i++)
            addresses[i] = narrow[i] + (uint32_t)offset; /* modulo 2^32 */
    }
    if ((warp->full[ref.slot] & mask) == mask) return mask;
    return mask & ~kcsim_report_undefined(warp, insn, ref, mask,
                                          "the address was computed from something never written");
}

static ptx_space space_of(uint64_t address) {
    if (address - KCSIM_SHARED_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_SHARED;
    if (address - KCSIM_LOCAL_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_LOCAL;
    if (address - KCSIM_PARAM_WINDOW < KCSIM_WINDOW_BYTES) return PTX_SPACE_PARAM;
    return PTX_SPACE_GLOBAL;
}

static uint64_t window_base(ptx_space space) {
    return space == PTX_SPACE_SHARED  ? KCSIM_SHARED_WINDOW
           : space == PTX_SPACE_LOCAL ? KCSIM_LOCAL_WINDOW
           : space == PTX_SPACE_PARAM ? KCSIM_PARAM_WINDOW
                                      : 0;
}

/* Lanes that are off repeat the address of one that is on, so that they change no minimum and no
 * maximum. */
static void fill_addresses(kcsim_access *access, const uint64_t *addresses, uint64_t base) {
    uint64_t filler = addresses[__builtin_ctz(access->mask)] - base;
    for (uint32_t i = 0; i < KCSIM_LANES; i++) {
        uint64_t on = 0 - (uint64_t)(access->mask >> i & 1);
        access->address[i] = ((addresses[i] - base) & on) | (filler & ~on);
    }
}

/* Of addresses in .shared::cluster, those of one block. Where no such block can be meant, the
 * address stays as it is and is out of bounds. */
static void take_block(kcsim_access *access) {
    kcsim_cluster *cluster = access->warp->block->cluster;
    uint64_t addresses[KCSIM_LANES];
    uint64_t above = access->address[__builtin_ctz(access->mask)] >> KCSIM_RANK_SHIFT;
    uint32_t lanes = 0;
    KCSIM_EACH_LANE(lane, access->mask)
    if (access->address[lane] >> KCSIM_RANK_SHIFT == above) lanes |= 1u << lane;
    memcpy(addresses, access->address, sizeof addresses);
    access->mask = lanes;
    bool own = above == 0 || above == access->warp->block->rank + 1;
    bool reaches = own || (access->insn->cluster && above <= cluster->count);
    if (above && reaches) access->home = &cluster->blocks[above - 1];
    fill_addresses(access, addresses, reaches ? above << KCSIM_RANK_SHIFT : 0);
    access->span = kcsim_lanes()->span(access->address, access->size);
}

void kcsim_access_take_space(kcsim_access *access, ptx_space space, const uint64_t *addresses,
                             uint32_t *rest) {
    access->space = space;
    access->mask = *rest;
    uint64_t base = 0;
    if (space == PTX_SPACE_GENERIC) {
        access->space = space_of(addresses[__builtin_ctz(*rest)]);
        base = window_base(access->space);
        uint32_t lanes = 0;
        KCSIM_EACH_LANE(lane, *rest)
        if (space_of(addresses[lane]) == access->space) lanes |= 1u << lane;
        access->mask = lanes;
    }
    if (access->mask == UINT32_MAX && base == 0)
        memcpy(access->address, addresses, sizeof access->address);
    else fill_addresses(access, addresses, base);
    access->span = kcsim_lanes()->span(access->address, access->size);
    access->home = access->warp->block;
    if (access->space == PTX_SPACE_SHARED && access->span.high > KCSIM_OFFSET_MASK)
        take_block(access);
    *rest &= ~access->mask;
}

/* ---- checks ---- */

void kcsim_access_report(const kcsim_access *access, kcsim_finding_kind kind, uint32_t lanes,
                         const char *text) {
    kcsim_report found = {.kind = kind,
                          .lanes = lanes,
                          .space = ptx_space_name(access->space),
                          .other = text,
                          .addresses = access->address,
                          .size = access->size};
    kcsim_report_lanes(access->warp, access->insn, &found);
}

/* What lies near an address that is not mapped. */
static void explain(const kcsim_access *access, uint32_t lane, char *text, size_t size) {
    const kcsim_memory *memory = &access->warp->block->launch->machine->memory;
    uint64_t address = access->address[lane];
    const kcsim_allocation *near = kcsim_memory_near(memory, address);
    if (!near || address - near->base > near->bytes + ((uint64_t)1 << 30))
        snprintf(text, size, "no allocation is near 0x%" PRIx64, address);
    else if (near->reserved)
        snprintf(text, size, "in reserved addresses where nothing is mapped");
    else if (!near->live)
        snprintf(text, size, "in memory that was freed: %" PRIu64 " bytes at 0x%" PRIx64,
                 near->bytes, near->base);
    else if (near->read_only && address < near->base + near->bytes)
        snprintf(text, size, "a store to constant memory");
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes past the start of an allocation of %" PRIu64
                 " bytes at 0x%" PRIx64,
                 address - near->base, near->bytes, near->base);
}

static uint32_t misaligned_lanes(const kcsim_access *access) {
    /* Sizes are powers of two, but for what is left of a copy's end. */
    uint64_t mask = access->size & (access->size - 1) ? 0 : access->size - 1;
    uint32_t bad = 0;
    if (!(access->span.bits & mask)) return 0;
    KCSIM_EACH_LANE(lane, access->mask)
    if (access->address[lane] & mask) bad |= 1u << lane;
    return bad;
}

static void drop(kcsim_access *access, kcsim_finding_kind kind, uint32_t lanes, const char *text) {
    if (!lanes) return;
    kcsim_access_report(access, kind, lanes, text);
    access->mask &= ~lanes;
}

/* ---- where the bytes are ---- */

/* Shared, local and parameter memory: one array, or one a thread. */
static void locate_array(kcsim_access *access, uint8_t *array, uint8_t *marks, uint64_t bytes,
                         uint64_t stride) {
    char text[96];
    uint32_t bad = 0;
    uint64_t skipped = stride * access->warp->index * 32u;
    access->origin = array + skipped;
    access->marks = marks ? marks + skipped : NULL;
    access->stride = stride;
    access->shadowed = marks ? access->mask : 0;
    if (bytes >= access->size && access->span.high <= bytes - access->size) return;
    KCSIM_EACH_LANE(lane, access->mask)
    if (bytes < access->size || access->address[lane] > bytes - access->size) bad |= 1u << lane;
    if (access->space == PTX_SPACE_SHARED && access->home->cluster->count > 1 &&
        access->span.high > KCSIM_OFFSET_MASK)
        snprintf(text, sizeof text, "%s",
                 access->insn->cluster ? "no block of the cluster has this address"
                                       : "an address of another block, and the instruction "
                                         "reaches .shared::cta only");
    else snprintf(text, sizeof text, "there are %" PRIu64 " bytes", bytes);
    drop(access, KCSIM_FINDING_OUT_OF_BOUNDS, bad, text);
}

/* CUDA programming guide, "Distributed Shared Memory": all blocks have to have begun. */
static void check_begun(kcsim_access *access) {
    const kcsim_block *home = access->home;
    char text[112];
    if (!access->warp->block->launch->check_race || access->warp->block->worker->talk ||
        kcsim_cluster_has_begun(access->warp, home))
        return;
    snprintf(text, sizeof text,
             "block %u,%u,%u may not have begun yet: no barrier.cluster lies before", home->id[0],
             home->id[1], home->id[2]);
    kcsim_access_report(access, KCSIM_FINDING_RACE, access->mask, text);
}

/* Another block's shared memory is there until that block's last thread exits. */
static void visit(kcsim_access *access) {
    kcsim_block *home = access->home;
    kcsim_warp *warp = access->warp;
    if (!access->mask) return;
    if (!home->live_threads) {
        char text[80];
        snprintf(text, sizeof text, "block %u,%u,%u of the cluster has exited", home->id[0],
                 home->id[1], home->id[2]);
        drop(access, KCSIM_FINDING_OUT_OF_BOUNDS, access->mask, text);
        return;
    }
    check_begun(access);
    if (access->kind != KCSIM_ACCESS_READ) home->visitors |= 1u << warp->block->rank;
    if (!home->visits) return;
    uint32_t lane = (uint32_t)__builtin_ctz(access->mask);
    home->visits[warp->id] = (kcsim_visit){.warp = warp,
                                           .insn = access->insn,
                                           .address = access->address[lane],
                                           .time = warp->time[warp->id],
                                           .lane = lane};
}

static bool all_inside(const kcsim_access *access, const kcsim_allocation *allocation) {
    bool writable = access->kind == KCSIM_ACCESS_READ || !allocation->read_only;
    return allocation->live && writable && access->span.low >= allocation->base &&
           allocation->bytes >= access->size &&
           access->span.high - allocation->base <= allocation->bytes - access->size;
}

/* Lane by lane: several allocations, or none. */
static void locate_scattered(kcsim_access *access, uint32_t *near) {
    const kcsim_memory *memory = &access->warp->block->launch->machine->memory;
    uint32_t bad = 0;
    char text[160] = "";
    access->shadowed = access->mask;
    KCSIM_EACH_LANE(lane, access->mask) {
        uint64_t at = access->address[lane];
        const kcsim_allocation *found = kcsim_memory_find(memory, at, access->size);
        if (!found || (found->read_only && access->kind != KCSIM_ACCESS_READ)) {
            if (!bad) explain(access, lane, text, sizeof text);
            bad |= 1u << lane;
            continue;
        }
        *near = (uint32_t)(found - memory->allocations);
        if (at >= found->defined_from && at + access->size <= found->defined_to)
            access->shadowed &= ~(1u << lane);
    }
    drop(access, KCSIM_FINDING_OUT_OF_BOUNDS, bad, text);
}

static void locate_global(kcsim_access *access) {
    const kcsim_block *block = access->warp->block;
    const kcsim_memory *memory = &block->launch->machine->memory;
    uint32_t *near = &block->worker->near[access->insn - block->launch->code->insns];
    access->origin = memory->host - memory->base;
    access->marks = memory->defined - memory->base;
    access->stride = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        const kcsim_allocation *allocation =
            *near < memory->count ? &memory->allocations[*near] : NULL;
        if (allocation && all_inside(access, allocation)) {
            bool defined = access->span.low >= allocation->defined_from &&
                           access->span.high + access->size <= allocation->defined_to;
            access->shadowed = defined ? 0 : access->mask;
            return;
        }
        const kcsim_allocation *found = kcsim_memory_find(memory, access->span.low, access->size);
        if (!found) break;
        *near = (uint32_t)(found - memory->allocations);
    }
    locate_scattered(access, near);
}

void kcsim_access_locate(kcsim_access *access) {
    const kcsim_block *block = access->warp->block;
    const kcsim_grid *launch = block->launch;
    access->shadowed = 0;
    if (launch->check_alignment)
        drop(access, KCSIM_FINDING_MISALIGNED, misaligned_lanes(access),
             "addresses are multiples of the size");
    if (!access->mask) return;
    switch (access->space) {
    case PTX_SPACE_SHARED:
        locate_array(access, access->home->shared, access->home->shared_defined,
                     launch->shared_bytes, 0);
        if (access->home != block) visit(access);
        break;
    case PTX_SPACE_LOCAL:
        locate_array(access, block->local, block->local_defined, launch->code->local_bytes,
                     launch->code->local_bytes);
        break;
    case PTX_SPACE_PARAM:
        locate_array(access, (uint8_t *)(uintptr_t)launch->params, NULL, launch->param_bytes, 0);
        if (access->kind != KCSIM_ACCESS_READ)
            drop(access, KCSIM_FINDING_OUT_OF_BOUNDS, access->mask, "parameters cannot be written");
        break;
    default: locate_global(access); break;
    }
    access->shadowed &= launch->track ? access->mask : 0;
}

/* ---- races ---- */

/* Lanes of one store that meet at an address with different values: which one stays is anybody's
 * guess. */
static uint32_t colliding_lanes(const kcsim_access *access) {
    const kcsim_insn *insn = access->insn;
    uint32_t bad = 0;
    KCSIM_EACH_LANE(lane, access->mask) {
        KCSIM_EACH_LANE(other, access->mask & ((1u << lane) - 1)) {
            if (access->address[other] != access->address[lane]) continue;
            for (uint32_t k = 0; k < insn->list_count; k++) {
                const uint8_t *values = kcsim_at(access->warp, insn->list[k]);
                if (memcmp(values + lane * insn->element, values + other * insn->element,
                           insn->bytes) != 0)
                    bad |= 1u << lane;
            }
        }
    }
    return bad;
}

static bool has_duplicates(const kcsim_access *access) {
    uint64_t seen[4] = {0};
    KCSIM_EACH_LANE(lane, access->mask) {
        uint64_t slot = access->address[lane] / access->size % 256;
        if (seen[slot / 64] >> (slot % 64) & 1) return true;
        seen[slot / 64] |= (uint64_t)1 << (slot % 64);
    }
    return false;
}

static void find_collisions(kcsim_access *access) {
    if (access->kind == KCSIM_ACCESS_WRITE && access->insn->kind == KCSIM_DO_STORE &&
        !access->span.dense && has_duplicates(access))
        kcsim_access_report(access, KCSIM_FINDING_RACE, colliding_lanes(access),
               "lanes of one warp store different values here");
}

/* Between blocks: what is found is told when all have run (launch.c). */
void kcsim_access_note_conflicts(const kcsim_access *access) {
    const kcsim_block *block = access->warp->block;
    kcsim_conflict_list *found = &block->worker->conflicts;
    kcsim_conflicts *conflicts = block->launch->conflicts;
    const kcsim_cluster *cluster = block->cluster;
    kcsim_accessor accessor = {.block = cluster->number * cluster->count + block->rank,
                               .place = (uint32_t)(access->insn - block->launch->code->insns),
                               .thread = access->warp->index * 32};
    bool is_write = access->kind != KCSIM_ACCESS_READ;
    /* One call does for lanes that go on from each other, or all the same. */
    if (access->span.dense && access->mask == UINT32_MAX) {
        kcsim_conflicts_access(conflicts, access->span.low, access->size * 32, access->size,
                               is_write, accessor, found);
        return;
    }
    if (access->span.same) {
        accessor.thread += (uint32_t)__builtin_ctz(access->mask);
        kcsim_conflicts_access(conflicts, access->span.low, access->size, access->size, is_write,
                               accessor, found);
        return;
    }
    KCSIM_EACH_LANE(lane, access->mask) {
        accessor.thread = access->warp->index * 32 + lane;
        kcsim_conflicts_access(conflicts, access->address[lane], access->size, access->size,
                               is_write, accessor, found);
    }
}

/* Lanes of a shared access that nothing orders after another lane's of the warp. */
static uint32_t lanes_apart(kcsim_access *access) {
    const kcsim_block *home = access->home;
    uint32_t warps = home->warp_count;
    char text[KCSIM_FINDING_TEXT];
    kcsim_racer other = {.place = UINT32_MAX};
    uint32_t bad = kcsim_traces_access(home->traces, access->warp, access->address, access->mask,
                                       access->size, access->kind, &other);
    if (!bad) return 0;
    bool own = other.warp == access->warp->id;
    kcsim_party party = {.place = other.place};
    memcpy(party.block, home->cluster->blocks[other.warp / warps].id, sizeof party.block);
    kcsim_thread_at(home->launch, other.warp % warps * KCSIM_LANES + (uint32_t)other.lane,
                    party.thread);
    kcsim_describe_party(home->launch, &party, own           ? "of this warp used it too"
                         : other.reads ? "read this"
                                       : "stored here",
                         own ? "and no bar.warp.sync lies between"
                             : "and no bar.warp.sync lies before another lane's release",
                         text, sizeof text);
    kcsim_access_report(access, KCSIM_FINDING_RACE, bad, text);
    return bad;
}

/* Lanes of a shared access that no barrier orders after another warp's. */
static uint32_t racing_lanes(kcsim_access *access) {
    kcsim_race *race = access->home->race;
    ptx_modifier semantics = ptx_has(access->insn->source, PTX_GROUP_SEMANTICS);
    bool strong = semantics != PTX_M_NONE && semantics != PTX_M_WEAK;
    char text[KCSIM_FINDING_TEXT];
    if (!race || (strong && access->kind != KCSIM_ACCESS_ATOMIC)) return 0;
    kcsim_racer first = {.warp = 0};
    uint32_t bad = kcsim_race_lanes(race, access, &first);
    if (!access->warp->block->launch->check_race) return 0;
    if (!bad) return lanes_apart(access);
    kcsim_race_describe(access->home, first, text, sizeof text);
    kcsim_access_report(access, KCSIM_FINDING_RACE, bad, text);
    return bad;
}

/* Lanes that touch what a copy may still be writing. */
static void find_copies(kcsim_access *access, uint32_t lanes) {
    const kcsim_copies *copies = access->home->copies;
    uint32_t bad = 0, thread = 0, first = 0;
    kcsim_copy_state how = KCSIM_COPY_DONE;
    char text[96];
    KCSIM_EACH_LANE(lane, lanes) {
        kcsim_copy_state state =
            kcsim_copies_look(copies, access->warp, access->address[lane], access->size, &thread);
        if (state == KCSIM_COPY_DONE) continue;
        if (!bad) {
            first = thread;
            how = state;
        }
        bad |= 1u << lane;
    }
    if (!bad) return;
    snprintf(text, sizeof text, "lane %u of warp %u copies to it and %s", first % KCSIM_LANES,
             first / KCSIM_LANES,
             how == KCSIM_COPY_IN_FLIGHT ? "has not waited for that copy"
                                         : "waited, but no barrier lies between");
    kcsim_access_report(access, KCSIM_FINDING_ASYNC_IN_FLIGHT, bad, text);
}

static void tell_of_bulk(kcsim_access *access, uint32_t lanes, const char *text) {
    if (lanes) kcsim_access_report(access, KCSIM_FINDING_ASYNC_IN_FLIGHT, lanes, text);
}

/* Lanes that touch what a bulk copy may still be writing, or write where one may still read. */
static void find_bulk_copies(kcsim_access *access, uint32_t lanes) {
    const kcsim_block *home = access->home;
    uint32_t early = 0, over = 0, reader = 0;
    uint64_t at = 0;
    char text[112];
    bool reduces = access->insn->kind == KCSIM_DO_BULK && access->kind == KCSIM_ACCESS_ATOMIC;
    KCSIM_EACH_LANE(lane, lanes) {
        uint64_t address = access->address[lane];
        uint32_t thread = 0;
        if (kcsim_flights_look(home->flights, access->warp, address, access->size, reduces, &at))
            early |= 1u << lane;
        else if (access->kind != KCSIM_ACCESS_READ &&
                 kcsim_copies_look(home->leaving, access->warp, address, access->size, &thread)) {
            over |= 1u << lane;
            reader = thread;
        }
    }
    snprintf(text, sizeof text,
             "a bulk copy writes it, and its mbarrier 0x%" PRIx64 " was not waited for", at);
    tell_of_bulk(access, early, text);
    snprintf(text, sizeof text,
             "lane %u of warp %u copies from it in bulk, and nothing says that it was read",
             reader % KCSIM_LANES, reader / KCSIM_LANES);
    tell_of_bulk(access, over, text);
}

/* Only mbarrier instructions touch a live mbarrier. */
static void find_mbarriers(kcsim_access *access) {
    uint32_t bad = 0, line = 0;
    char text[80];
    KCSIM_EACH_LANE(lane, access->mask) {
        const kcsim_mbarrier *object =
            kcsim_mbarrier_overlap(access->home, access->address[lane], access->size);
        if (!object) continue;
        bad |= 1u << lane;
        line = object->line;
    }
    if (!bad) return;
    snprintf(text, sizeof text, "writes over a live mbarrier, initialised at line %u", line);
    kcsim_access_report(access, KCSIM_FINDING_MBARRIER, bad, text);
}

void kcsim_access_race(kcsim_access *access) {
    const kcsim_block *block = access->warp->block;
    if (access->space == PTX_SPACE_GLOBAL && access->mask && block->launch->conflicts)
        kcsim_access_note_conflicts(access);
    if (access->space == PTX_SPACE_GLOBAL && access->mask && block->worker->global_race)
        kcsim_global_race_access(access);
    if (access->space == PTX_SPACE_GLOBAL && access->mask && block->launch->earlier)
        kcsim_early_access(access);
    if (access->space == PTX_SPACE_GLOBAL && access->mask && block->worker->transit)
        kcsim_transit_check(access);
    if (block->worker->talk && access->space == PTX_SPACE_GLOBAL && kcsim_is_strong(access->insn) &&
        access->insn->kind != KCSIM_DO_BULK)
        kcsim_talk_pass(access);
    if (block->launch->check_race && access->space != PTX_SPACE_LOCAL) find_collisions(access);
    if (access->space != PTX_SPACE_SHARED) return;
    if (access->home->visitors && access->kind != KCSIM_ACCESS_WRITE &&
        kcsim_is_strong(access->insn))
        kcsim_cluster_hear(access->warp, access->home);
    if (access->home->mbarriers && access->kind != KCSIM_ACCESS_READ &&
        access->insn->kind != KCSIM_DO_MBARRIER)
        find_mbarriers(access);
    uint32_t racing = racing_lanes(access);
    if (access->home->wgmma) kcsim_wgmma_touch(access);
    if (access->home->copies) find_copies(access, access->mask & ~racing);
    if (access->home->flights) find_bulk_copies(access, access->mask & ~racing);
    if (access->home->across && access->kind != KCSIM_ACCESS_READ)
        kcsim_across_check(access, access->mask & ~racing);
}

bool kcsim_access_rows(kcsim_access *access, uint32_t rows, uint32_t mask) {
    const kcsim_insn *insn = access->insn;
    uint64_t addresses[KCSIM_LANES];
    uint32_t lanes = rows == KCSIM_LANES ? UINT32_MAX : (1u << rows) - 1;
    uint32_t rest = kcsim_access_addresses(access->warp, insn, insn->a, insn->mode, insn->imm,
                                           mask & lanes, addresses);
    if (!rest) return false;
    /* Without .shared the address is a generic one. */
    for (uint32_t lane = 0; insn->space == PTX_SPACE_GENERIC && lane < rows; lane++)
        addresses[lane] -= KCSIM_SHARED_WINDOW;
    kcsim_access_take_space(access, PTX_SPACE_SHARED, addresses, &rest);
    kcsim_access_locate(access);
    if (!access->mask) return false;
    kcsim_access_race(access);
    kcsim_access_count(access);
    return access->mask == lanes;
}
