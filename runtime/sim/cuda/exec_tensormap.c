/* Tensor maps that a kernel makes out of others: a field at a time in shared or global memory, and
 * the copy from the former to the latter. Tensor copies read maps by a proxy of their own, so that
 * between a change and a copy lie two fences (PTX ISA, "membar, fence"):
 *
 *     tensormap.replace.global, fence.proxy.tensormap.release   or   tensormap.cp_fenceproxy
 *     fence.proxy.tensormap.acquire [map]
 *
 * The former of these is asked for where the block itself replaced a field, in whichever warp it is.
 * The latter is by any warp of the block that copies, when it knew of all that was stored to the map,
 * by whomever and with whatever, and the copy knows of it (CUDA programming guide, "Using TMA to
 * transfer multi-dimensional arrays": each block that uses a map in global memory acquires it). */
#include <string.h>

#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/tensor_map.h"

static void tell(const kcsim_access *access, kcsim_finding_kind kind, const char *text) {
    kcsim_report report = {.kind = kind,
                           .lanes = access->mask,
                           .space = ptx_space_name(access->space),
                           .addresses = access->address,
                           .size = KCSIM_TENSOR_MAP_BYTES,
                           .other = text};
    kcsim_report_lanes(access->warp, access->insn, &report);
}

/* The 128 bytes of one lane's map, after every check. They need not lie at a multiple of their
 * size. */
static bool reach(kcsim_access *access, ptx_space space, uint64_t address, uint32_t lane) {
    uint64_t addresses[KCSIM_LANES];
    uint32_t rest = 1u << lane;
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        addresses[i] = address;
    access->size = KCSIM_TENSOR_MAP_BYTES;
    kcsim_access_take_space(access, space, addresses, &rest);
    if (access->address[lane] % 64) {
        tell(access, KCSIM_FINDING_MISALIGNED, "a tensor map lies at a multiple of 64 bytes");
        return false;
    }
    access->span.bits = 0;
    kcsim_access_locate(access);
    if (!access->mask) return false;
    kcsim_access_race(access);
    kcsim_access_count(access);
    return true;
}

static void note_change(kcsim_block *block, uint64_t address, bool released) {
    uint32_t i = block->map_change_count++ % KCSIM_MAP_CHANGES;
    block->map_changes[i] = (struct kcsim_map_change){.address = address, .released = released};
}

/* The number of the map's latest change, or KCSIM_MAP_CHANGES. */
static uint32_t find_change(const kcsim_block *block, uint64_t address) {
    uint32_t count = block->map_change_count;
    for (uint32_t i = 0; i < count && i < KCSIM_MAP_CHANGES; i++) {
        uint32_t number = (count - 1 - i) % KCSIM_MAP_CHANGES;
        if (block->map_changes[number].address == address) return number;
    }
    return KCSIM_MAP_CHANGES;
}

static uint32_t fence_count(const kcsim_block *block) {
    return block->map_fence_count < KCSIM_MAP_FENCES ? block->map_fence_count : KCSIM_MAP_FENCES;
}

const char *kcsim_map_unfenced(const kcsim_warp *warp, uint64_t address, uint64_t version) {
    const kcsim_block *block = warp->block;
    uint32_t number = find_change(block, address);
    if (number != KCSIM_MAP_CHANGES && !block->map_changes[number].released)
        return "the map was changed, and no fence.proxy.tensormap released it since";
    if (!version || block->map_fence_count > KCSIM_MAP_FENCES) return NULL;
    for (uint32_t i = 0; i < fence_count(block); i++) {
        const struct kcsim_map_fence *fence = &block->map_fences[i];
        if (fence->address == address && fence->version == version &&
            (fence->warp == warp->id || fence->time <= warp->time[fence->warp]))
            return NULL;
    }
    return "the map was changed, and no fence.proxy.tensormap acquired it since";
}

/* What the warp does not know of the map is not acquired. */
static void acquire(kcsim_warp *warp, uint64_t address) {
    kcsim_block *block = warp->block;
    kcsim_party party;
    uint64_t version = 0;
    if (!block->worker->global_race ||
        !kcsim_global_race_version(warp, address, KCSIM_TENSOR_MAP_BYTES, &version, &party) ||
        !version)
        return;
    struct kcsim_map_fence *fence = NULL;
    for (uint32_t i = 0; !fence && i < fence_count(block); i++)
        if (block->map_fences[i].warp == warp->id && block->map_fences[i].address == address)
            fence = &block->map_fences[i];
    if (!fence) fence = &block->map_fences[block->map_fence_count++ % KCSIM_MAP_FENCES];
    *fence = (struct kcsim_map_fence){
        .address = address, .version = version, .warp = warp->id, .time = warp->time[warp->id]};
}

void kcsim_do_map_fence(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_block *block = warp->block;
    uint64_t addresses[KCSIM_LANES], last = 0;
    if (!insn->extend) {
        for (uint32_t i = 0; i < KCSIM_MAP_CHANGES; i++)
            block->map_changes[i].released = true;
        return;
    }
    mask = kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, addresses);
    for (; mask; mask &= mask - 1) {
        uint64_t address = addresses[__builtin_ctz(mask)];
        if (address != last) acquire(warp, address);
        last = address;
    }
}

static bool has_atom(const kcsim_tensor_map *map) {
    return map->swizzle >= KCSIM_SWIZZLE_128 && map->swizzle < KCSIM_SWIZZLE_COUNT;
}

/* An atomicity stays while the swizzle is one of 128 bytes. */
static void set_swizzle(kcsim_tensor_map *map, uint32_t mode) {
    if (mode != KCSIM_SWIZZLE_128 || !has_atom(map)) map->swizzle = (uint8_t)mode;
}

/* Numbered from KCSIM_SWIZZLE_128 on. */
static void set_atom(kcsim_tensor_map *map, uint32_t atom) {
    if (has_atom(map)) map->swizzle = (uint8_t)(KCSIM_SWIZZLE_128 + atom);
}

/* A number that does not fit its field becomes one that no map may have. */
static void set_field(kcsim_tensor_map *map, ptx_modifier field, uint32_t i, uint64_t value) {
    uint32_t small = (uint32_t)value;
    switch (field) {
    case PTX_M_MAP_ADDRESS: map->address = value; break;
    case PTX_M_MAP_RANK: map->rank = (uint8_t)(small < KCSIM_TENSOR_RANK ? small + 1 : 0); break;
    case PTX_M_MAP_BOX: map->box[i] = (uint16_t)(small <= 256 ? small : 0); break;
    case PTX_M_MAP_DIM: map->dims[i] = small; break;
    case PTX_M_MAP_STRIDE: map->strides[i + 1] = value; break;
    case PTX_M_MAP_STEP: map->steps[i] = (uint8_t)(i == 0 ? 1 : small <= 8 ? small : 0); break;
    case PTX_M_MAP_TYPE:
        map->type = (uint8_t)small;
        map->strides[0] = kcsim_tensor_type_bytes((kcsim_tensor_type)small);
        break;
    case PTX_M_MAP_SWIZZLE: set_swizzle(map, small); break;
    case PTX_M_MAP_ATOM: set_atom(map, small); break;
    case PTX_M_MAP_FILL: map->fill_nan = (uint8_t)small; break;
    default: break; /* no interleave: it is the only layout */
    }
}

static uint64_t value_of(const kcsim_warp *warp, const kcsim_insn *insn, uint32_t lane) {
    const void *values = kcsim_at(warp, insn->b);
    return insn->bytes == 8 ? ((const uint64_t *)values)[lane] : ((const uint32_t *)values)[lane];
}

void kcsim_do_map_field(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t addresses[KCSIM_LANES];
    uint32_t good =
        kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, addresses);
    good &= ~kcsim_report_undefined(warp, insn, insn->b, good,
                                    "the new value of the field was never written");
    for (; good; good &= good - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(good);
        kcsim_access access = {.warp = warp, .insn = insn, .kind = KCSIM_ACCESS_WRITE};
        kcsim_tensor_map map;
        if (!reach(&access, (ptx_space)insn->space, addresses[lane], lane)) continue;
        if (access.space != PTX_SPACE_SHARED && access.space != PTX_SPACE_GLOBAL) {
            tell(&access, KCSIM_FINDING_OUT_OF_BOUNDS,
                 "a tensor map that is changed lies in shared or global memory");
            continue;
        }
        if (!kcsim_tensor_map_read(&map, kcsim_host(&access, lane))) {
            tell(&access, KCSIM_FINDING_UNINITIALIZED,
                 "these bytes are no tensor map: never encoded, or copied wrongly");
            continue;
        }
        set_field(&map, (ptx_modifier)insn->part, insn->target, value_of(warp, insn, lane));
        kcsim_tensor_map_write(&map, kcsim_host(&access, lane));
        if (access.space == PTX_SPACE_GLOBAL) note_change(warp->block, access.address[lane], false);
    }
    warp->block->changes++;
}

/* All lanes name the same two places. */
void kcsim_do_map_copy(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    uint64_t to[KCSIM_LANES], from[KCSIM_LANES];
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    kcsim_access target = {.warp = warp, .insn = insn, .kind = KCSIM_ACCESS_WRITE};
    kcsim_access source = {.warp = warp, .insn = insn, .kind = KCSIM_ACCESS_READ};
    uint32_t good = kcsim_access_addresses(warp, insn, insn->a, insn->mode, insn->imm, mask, to);
    good &=
        kcsim_access_addresses(warp, insn, insn->b, insn->part, (int32_t)insn->target, mask, from);
    uint32_t apart = 0;
    for (uint32_t i = 0; i < KCSIM_LANES; i++)
        if (good >> i & 1 && (to[i] != to[lane] || from[i] != from[lane])) apart |= 1u << i;
    if (apart) {
        kcsim_report report = {.kind = KCSIM_FINDING_BARRIER_DIVERGENCE,
                               .lanes = apart,
                               .space = "warp",
                               .other = "the lanes name different tensor maps"};
        kcsim_report_lanes(warp, insn, &report);
    }
    if (!(good >> lane & 1) || !reach(&source, PTX_SPACE_SHARED, from[lane], lane) ||
        !reach(&target, PTX_SPACE_GLOBAL, to[lane], lane))
        return;
    memcpy(kcsim_host(&target, lane), kcsim_host(&source, lane), KCSIM_TENSOR_MAP_BYTES);
    if (target.shadowed) {
        uint8_t *marks = kcsim_marks(&target, lane);
        if (source.shadowed) memcpy(marks, kcsim_marks(&source, lane), KCSIM_TENSOR_MAP_BYTES);
        else memset(marks, 1, KCSIM_TENSOR_MAP_BYTES);
    }
    note_change(warp->block, target.address[lane], true);
    warp->block->changes++;
}
