/* Bulk and tensor copies: lane by lane, first all of what is read into a buffer, then out of it.
 *
 *     global memory, row by row -> buffer, the box as it lies unswizzled -> shared memory
 *
 * A plain copy is a box of one row. Outside the tensor the buffer keeps what it was filled with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/mbarrier.h"
#include "runtime/sim/cuda/talk.h"
#include "runtime/sim/cuda/transit.h"

#define SECTOR 32u
#define WAVEFRONT 128u
#define CHUNK 16u

typedef struct transfer {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    const kcsim_bulk *bulk;
    uint32_t lane;
    kcsim_tensor_map map;
    int64_t at[KCSIM_TENSOR_RANK], offsets[KCSIM_TENSOR_RANK];
    ptx_type type; /* of a reduction */
    uint64_t to, from, size;
    uint8_t *data, *marks;
    uint64_t moved, sectors; /* of global memory */
    uint32_t trip;           /* transit.h; 0: none */
    bool late;               /* late.c */
} transfer;

/* ---- reports ---- */

static void tell(const transfer *move, kcsim_finding_kind kind, ptx_space space, uint64_t address,
                 uint64_t size, const char *text) {
    uint64_t addresses[KCSIM_LANES];
    addresses[move->lane] = address;
    kcsim_report report = {.kind = kind,
                           .lanes = 1u << move->lane,
                           .space = ptx_space_name(space),
                           .addresses = addresses,
                           .size = (uint32_t)size,
                           .other = text};
    kcsim_report_lanes(move->warp, move->insn, &report);
}

static bool is_aligned(const transfer *move, ptx_space space, uint64_t address, uint64_t size,
                       uint64_t to, const char *text) {
    if (address % to == 0) return true;
    tell(move, KCSIM_FINDING_MISALIGNED, space, address, size, text);
    return false;
}

/* ---- places ---- */

/* A run of bytes, after the checks of bounds. */
static bool place(const transfer *move, ptx_space space, uint64_t address, uint64_t size,
                  kcsim_access_kind kind, kcsim_access *access) {
    uint64_t addresses[KCSIM_LANES];
    uint32_t rest = 1u << move->lane;
    for (int i = 0; i < KCSIM_LANES; i++)
        addresses[i] = address;
    *access = (kcsim_access){
        .warp = move->warp, .insn = move->insn, .size = (uint32_t)size, .kind = kind};
    kcsim_access_take_space(access, space, addresses, &rest);
    access->span.bits = 0; /* what it is aligned to has nothing to do with its size */
    kcsim_access_locate(access);
    return access->mask != 0;
}

static void get_marks(const transfer *move, const kcsim_access *access, uint64_t into,
                      uint64_t size) {
    if (access->shadowed) memcpy(move->marks + into, kcsim_marks(access, move->lane), size);
    else memset(move->marks + into, 1, size);
}

/* ---- global memory, row by row ---- */

static void count_row(transfer *move, uint64_t address, uint64_t size) {
    move->moved += size;
    move->sectors += (address + size - 1) / SECTOR - address / SECTOR + 1;
}

/* What this launch stored there by ordinary means; before any part of the copy is an access. */
static void check_row(transfer *move, uint64_t into, uint64_t address, uint64_t size) {
    const kcsim_worker *worker = move->warp->block->worker;
    kcsim_party party;
    char text[KCSIM_FINDING_TEXT];
    (void)into;
    if (!kcsim_global_race_unfenced(move->warp, address, size, &party)) return;
    kcsim_describe_party(worker->launch, &party, "stores here",
                         "and no fence.proxy.async for global memory lies between", text,
                         sizeof text);
    tell(move, KCSIM_FINDING_PROXY_FENCE, PTX_SPACE_GLOBAL, address, size, text);
}

static void read_row(transfer *move, uint64_t into, uint64_t address, uint64_t size) {
    kcsim_access access;
    if (!place(move, PTX_SPACE_GLOBAL, address, size, KCSIM_ACCESS_READ, &access)) return;
    kcsim_access_race(&access);
    memcpy(move->data + into, kcsim_host(&access, move->lane), size);
    get_marks(move, &access, into, size);
    count_row(move, address, size);
}

static void check_defined(const transfer *move, uint64_t from, uint64_t address, uint64_t size) {
    if (move->warp->block->launch->track && memchr(move->marks + from, 0, size))
        tell(move, KCSIM_FINDING_UNINITIALIZED, PTX_SPACE_GLOBAL, address, size,
             "the shared memory that is copied was never written");
}

void kcsim_bulk_write(const kcsim_bulk_bytes *to) {
    if (to->op == PTX_M_NONE) {
        memcpy(to->host, to->data, to->size);
        return;
    }
    unsigned bytes = kcsim_type_bytes((ptx_type)to->type);
    for (uint64_t i = 0; i + bytes <= to->size; i += bytes) {
        uint64_t old = 0, value = 0;
        memcpy(&old, to->host + i, bytes);
        memcpy(&value, to->data + i, bytes);
        old = kcsim_atomic_combine((ptx_modifier)to->op, (ptx_type)to->type, old, value, 0, bytes);
        memcpy(to->host + i, &old, bytes);
    }
}

static kcsim_bulk_bytes bytes_to(const transfer *move, uint8_t *host, uint64_t from,
                                 uint64_t size) {
    return (kcsim_bulk_bytes){.host = host,
                              .data = move->data + from,
                              .size = size,
                              .op = move->bulk->op,
                              .type = (uint8_t)move->type};
}

static void write_row(transfer *move, uint64_t from, uint64_t address, uint64_t size) {
    kcsim_access access;
    bool reduces = move->bulk->op != PTX_M_NONE;
    if (!place(move, PTX_SPACE_GLOBAL, address, size,
               reduces ? KCSIM_ACCESS_ATOMIC : KCSIM_ACCESS_WRITE, &access))
        return;
    kcsim_access_race(&access);
    if (move->trip)
        kcsim_transit_touch(move->warp->block->worker->transit, move->trip, address, size,
                            access.kind);
    check_defined(move, from, address, size);
    kcsim_bulk_bytes bytes = bytes_to(move, kcsim_host(&access, move->lane), from, size);
    uint32_t thread = move->warp->index * KCSIM_LANES + move->lane;
    if (!move->late) kcsim_bulk_write(&bytes);
    else if (!kcsim_late_add(move->warp->block->late, thread, &bytes))
        move->warp->block->worker->failed = true;
    uint8_t *marks = access.shadowed ? kcsim_marks(&access, move->lane) : NULL;
    for (uint64_t i = 0; marks && i < size; i++)
        marks[i] = move->marks[from + i] && (marks[i] || !reduces);
    count_row(move, address, size);
}

/* The source, when it is known what the copy's end is told to. */
static void touch_row(transfer *move, uint64_t into, uint64_t address, uint64_t size) {
    (void)into;
    kcsim_transit_touch(move->warp->block->worker->transit, move->trip, address, size,
                        KCSIM_ACCESS_READ);
}

typedef void (*row_fn)(transfer *move, uint64_t buffer, uint64_t address, uint64_t size);

/* The part of a row that lies in the tensor, if any. */
static void do_row(transfer *move, row_fn row, const int64_t where[KCSIM_TENSOR_RANK],
                   uint64_t buffer) {
    const kcsim_tensor_map *map = &move->map;
    uint64_t address = map->address, bytes = map->strides[0];
    int64_t first = move->at[0] < 0 ? -move->at[0] : 0;
    int64_t end = (int64_t)map->dims[0] - move->at[0];
    if (end > map->box[0]) end = map->box[0];
    for (unsigned d = 1; d < map->rank; d++) {
        if (where[d] < 0 || where[d] >= (int64_t)map->dims[d]) return;
        address += (uint64_t)where[d] * map->strides[d];
    }
    if (first >= end) return;
    row(move, buffer + (uint64_t)first * bytes, address + (uint64_t)(move->at[0] + first) * bytes,
        (uint64_t)(end - first) * bytes);
}

/* Im2col: the channels of one pixel after another. */
static void each_pixel(transfer *move, row_fn row, uint64_t length) {
    int64_t base[KCSIM_TENSOR_RANK], where[KCSIM_TENSOR_RANK];
    memcpy(base, move->at, sizeof base);
    for (uint64_t buffer = 0; buffer < move->size; buffer += length) {
        for (unsigned d = 1; d < move->map.rank; d++)
            where[d] = base[d] + move->offsets[d];
        do_row(move, row, where, buffer);
        kcsim_tensor_map_step(&move->map, base);
    }
}

/* Four rows, wherever they are. */
static void each_of_four(transfer *move, row_fn row, uint64_t length) {
    for (uint32_t i = 0; i < 4; i++) {
        const int64_t where[KCSIM_TENSOR_RANK] = {move->at[0], move->at[1 + i]};
        do_row(move, row, where, i * length);
    }
}

/* PTX ISA, "cp.async.bulk": bit i of the mask is byte i of every chunk. Runs of bytes are rows. */
static void each_run(transfer *move, row_fn row) {
    uint32_t mask = ((const uint16_t *)kcsim_at(move->warp, move->bulk->mask))[move->lane];
    for (uint64_t from = 0, to; from < move->size; from = to + 1) {
        for (to = from; to < move->size && mask >> to % CHUNK & 1; to++) {}
        if (to > from) row(move, from, move->to + from, to - from);
    }
}

static void each_row(transfer *move, row_fn row) {
    const kcsim_tensor_map *map = &move->map;
    uint32_t index[KCSIM_TENSOR_RANK] = {0};
    uint64_t length = move->size;
    if (move->bulk->masked) {
        each_run(move, row);
        return;
    }
    if (!move->bulk->rank) {
        row(move, 0, move->bulk->way == KCSIM_BULK_OUT ? move->to : move->from, length);
        return;
    }
    length = map->box[0] * map->strides[0];
    if (map->im2col) {
        each_pixel(move, row, length);
        return;
    }
    if (move->bulk->four) {
        each_of_four(move, row, length);
        return;
    }
    for (uint64_t buffer = 0; buffer < move->size; buffer += length) {
        int64_t where[KCSIM_TENSOR_RANK];
        for (unsigned d = 1; d < map->rank; d++)
            where[d] = move->at[d] + (int64_t)index[d] * map->steps[d];
        do_row(move, row, where, buffer);
        for (unsigned d = 1; d < map->rank; d++) {
            if (++index[d] < kcsim_tensor_map_count(map, d)) break;
            index[d] = 0;
        }
    }
}

/* Zeros, or NaN. */
static void fill(transfer *move) {
    static const uint64_t nans[9] = {[2] = 0x7fff, [4] = 0x7fffffff, [8] = 0x7fffffffffffffff};
    uint64_t bytes = move->map.strides[0];
    memset(move->data, 0, move->size);
    memset(move->marks, 1, move->size);
    for (uint64_t i = 0; move->bulk->rank && move->map.fill_nan && i < move->size; i += bytes)
        memcpy(move->data + i, &nans[bytes], bytes);
}

static void flush_subnormals(const transfer *move) {
    for (uint64_t i = 0; i < move->size; i += 4) {
        uint32_t bits;
        memcpy(&bits, move->data + i, 4);
        if (!(bits & 0x7f800000)) bits &= 0x80000000;
        memcpy(move->data + i, &bits, 4);
    }
}

/* ---- shared memory ---- */

static void check_proxy(const transfer *move, const kcsim_access *access, uint64_t size,
                        bool writes) {
    uint32_t writer = 0, warps = move->warp->block->warp_count;
    uint64_t address = access->address[move->lane];
    char text[120];
    if (!access->home->race ||
        !kcsim_race_unfenced(access->home->race, move->warp, address, size, &writer))
        return;
    snprintf(text, sizeof text, "warp %u stored to what the copy %s, without fence.proxy.async",
             writer % warps, writes ? "writes" : "reads");
    tell(move, KCSIM_FINDING_PROXY_FENCE, PTX_SPACE_SHARED, address, size, text);
}

/* Byte i of the buffer lies at chunk i / 16 of shared memory, swizzled. */
static uint64_t chunk_at(const transfer *move, uint64_t address, uint64_t i) {
    if (!move->bulk->rank) return i;
    return kcsim_tensor_swizzled((kcsim_tensor_swizzle)move->map.swizzle, address + i) - address;
}

static bool read_shared(transfer *move) {
    kcsim_access access;
    if (!place(move, PTX_SPACE_SHARED, move->from, move->size, KCSIM_ACCESS_READ, &access))
        return false;
    kcsim_access_race(&access);
    check_proxy(move, &access, move->size, false);
    uint64_t address = access.address[move->lane];
    const uint8_t *host = kcsim_host(&access, move->lane);
    const uint8_t *marks = access.shadowed ? kcsim_marks(&access, move->lane) : NULL;
    for (uint64_t i = 0; i < move->size; i += CHUNK) {
        uint64_t chunk = chunk_at(move, address, i);
        memcpy(move->data + i, host + chunk, CHUNK);
        if (marks) memcpy(move->marks + i, marks + chunk, CHUNK);
    }
    return true;
}

static void store_chunks(const transfer *move, const kcsim_access *access) {
    uint64_t address = access->address[move->lane];
    uint8_t *host = kcsim_host(access, move->lane);
    uint8_t *marks = access->shadowed ? kcsim_marks(access, move->lane) : NULL;
    for (uint64_t i = 0; i < move->size; i += CHUNK) {
        uint64_t chunk = chunk_at(move, address, i);
        uint64_t size = move->size - i < CHUNK ? move->size - i : CHUNK;
        kcsim_bulk_bytes bytes = bytes_to(move, host + chunk, i, size);
        kcsim_bulk_write(&bytes);
        for (uint64_t k = 0; marks && k < size; k++)
            marks[chunk + k] =
                move->marks[i + k] && (marks[chunk + k] || move->bulk->op == PTX_M_NONE);
    }
}

/* The mbarrier of one destination; it lies in the same block. */
static kcsim_mbarrier *find_mbarrier(const transfer *move, uint64_t at, const kcsim_block *home,
                                     kcsim_access *access) {
    kcsim_racer other;
    if (at % 8) {
        tell(move, KCSIM_FINDING_MBARRIER, PTX_SPACE_SHARED, at, 8,
             "an mbarrier lies at a multiple of 8 bytes");
        return NULL;
    }
    if (!place(move, PTX_SPACE_SHARED, at, 8, KCSIM_ACCESS_ATOMIC, access)) return NULL;
    kcsim_mbarrier *found = kcsim_mbarrier_find(access->home, access->address[move->lane]);
    const char *problem = !found ? "no mbarrier was initialised here, or it was invalidated"
                          : access->home != home
                              ? "the mbarrier is not in the block that the copy goes to"
                              : NULL;
    if (problem) tell(move, KCSIM_FINDING_MBARRIER, PTX_SPACE_SHARED, at, 8, problem);
    if (problem) return NULL;
    if (home->race &&
        kcsim_race_access(home->race, move->warp, found->at, 8, KCSIM_ACCESS_ATOMIC, &other))
        tell(move, KCSIM_FINDING_RACE, PTX_SPACE_SHARED, at, 8,
             "nothing orders the mbarrier's initialisation before this copy");
    return found;
}

static void leave_across(const transfer *move, const kcsim_block *home,
                         const kcsim_mbarrier *object) {
    kcsim_access access;
    if (place(move, PTX_SPACE_SHARED, move->from, move->size, KCSIM_ACCESS_READ, &access) &&
        !kcsim_across_begin(access.home, move->warp, move->lane, access.address[move->lane],
                            move->size, home, object->at, object->phase))
        move->warp->block->worker->failed = true;
}

/* The bytes are there, and the mbarrier is told; who has not waited for it may not look. */
static void land(transfer *move, uint64_t to, uint64_t mbarrier) {
    kcsim_access access, signal;
    bool reduces = move->bulk->op != PTX_M_NONE;
    if (!place(move, PTX_SPACE_SHARED, to, move->size,
               reduces ? KCSIM_ACCESS_ATOMIC : KCSIM_ACCESS_WRITE, &access))
        return;
    if (move->bulk->way != KCSIM_BULK_SEND)
        check_proxy(move, &access, move->size, true); /* before the copy is the last writer */
    kcsim_access_race(&access);
    kcsim_block *home = access.home;
    uint64_t address = access.address[move->lane];
    if (home->race) kcsim_race_forget(home->race, address, move->size);
    store_chunks(move, &access);
    kcsim_mbarrier *object = find_mbarrier(move, mbarrier, home, &signal);
    if (!object) return;
    if (home->visits && home != move->warp->block)
        home->visits[move->warp->id].address = address; /* not the mbarrier's */
    if (home->flights &&
        !kcsim_flights_begin(home->flights, object->at, object->phase, address, move->size,
                             reduces))
        move->warp->block->worker->failed = true;
    if (home->departures && move->bulk->way == KCSIM_BULK_IN)
        move->trip = kcsim_transit_landing(move->warp, move->lane, home, object->at, object->phase,
                                           move->trip);
    if (home->across && move->bulk->way == KCSIM_BULK_ACROSS) leave_across(move, home, object);
    const char *problem = kcsim_mbarrier_come(home, object, (uint32_t)move->size);
    if (problem) tell(move, KCSIM_FINDING_MBARRIER, PTX_SPACE_SHARED, mbarrier, 8, problem);
    home->changes++;
    kcsim_cost_of(move->warp)->wavefronts += (move->size + WAVEFRONT - 1) / WAVEFRONT;
}

static uint64_t address_of(const transfer *move, const kcsim_bulk_address *address) {
    const void *base = kcsim_at(move->warp, address->ref);
    if (address->width == 8)
        return ((const uint64_t *)base)[move->lane] + (uint64_t)address->offset;
    return ((const uint32_t *)base)[move->lane] + (uint32_t)address->offset; /* modulo 2^32 */
}

static uint64_t in_block(uint64_t address, uint32_t rank) {
    return (address & KCSIM_OFFSET_MASK) | (uint64_t)(rank + 1) << KCSIM_RANK_SHIFT;
}

static void land_everywhere(transfer *move) {
    const kcsim_cluster *cluster = move->warp->block->cluster;
    uint64_t mbarrier = address_of(move, &move->bulk->mbarrier);
    if (mbarrier - KCSIM_SHARED_WINDOW < KCSIM_WINDOW_BYTES) mbarrier -= KCSIM_SHARED_WINDOW;
    if (!move->bulk->multicast) {
        land(move, move->to, mbarrier);
        return;
    }
    uint32_t blocks = ((const uint16_t *)kcsim_at(move->warp, move->bulk->blocks))[move->lane];
    for (uint32_t rank = 0; rank < 16; rank++) {
        if (!(blocks >> rank & 1)) continue;
        if (rank < cluster->count) land(move, in_block(move->to, rank), in_block(mbarrier, rank));
        else
            tell(move, KCSIM_FINDING_OUT_OF_BOUNDS, PTX_SPACE_SHARED, move->to, move->size,
                 "the multicast names a block that the cluster does not have");
    }
}

/* ---- one lane ---- */

static const uint8_t reduction_types[KCSIM_TENSOR_TYPE_COUNT] = {
    PTX_U8,  PTX_U16, PTX_U32,  PTX_S32, PTX_U64, PTX_S64, PTX_F16,
    PTX_F32, PTX_F64, PTX_BF16, PTX_F32, PTX_F32, PTX_F32};

/* The bitwise operations and inc and dec are for integers. */
static bool type_fits(const transfer *move) {
    ptx_type_kind kind = ptx_types[move->type].kind;
    bool arithmetic =
        move->bulk->op == PTX_M_ADD || move->bulk->op == PTX_M_MIN || move->bulk->op == PTX_M_MAX;
    return ptx_types[move->type].bits >= (kind == PTX_KIND_FLOAT ? 16 : 32) &&
           (arithmetic || kind != PTX_KIND_FLOAT);
}

/* A map in global memory, which this launch may have changed. It is read by a proxy of its own, so
 * that it is no access like others. */
static void check_map(const transfer *move, const kcsim_access *access) {
    const kcsim_worker *worker = move->warp->block->worker;
    uint64_t address = access->address[move->lane], version = 0;
    kcsim_party party;
    char text[KCSIM_FINDING_TEXT];
    if (worker->launch->conflicts) kcsim_access_note_conflicts(access);
    if (!worker->global_race) return;
    if (!kcsim_global_race_version(move->warp, address, KCSIM_TENSOR_MAP_BYTES, &version, &party)) {
        kcsim_describe_party(worker->launch, &party, "changes the map here",
                             "and nothing orders that before this copy", text, sizeof text);
        tell(move, KCSIM_FINDING_RACE, PTX_SPACE_GLOBAL, address, KCSIM_TENSOR_MAP_BYTES, text);
        return;
    }
    const char *problem = kcsim_map_unfenced(move->warp, address, version);
    if (problem)
        tell(move, KCSIM_FINDING_PROXY_FENCE, PTX_SPACE_GLOBAL, address, KCSIM_TENSOR_MAP_BYTES,
             problem);
}

static bool read_map(transfer *move) {
    const kcsim_bulk_address *where =
        move->bulk->way == KCSIM_BULK_OUT ? &move->bulk->to : &move->bulk->from;
    uint64_t address = address_of(move, where);
    kcsim_access access;
    const char *problem = NULL;
    if (!is_aligned(move, PTX_SPACE_GENERIC, address, KCSIM_TENSOR_MAP_BYTES, 64,
                    "a tensor map lies at a multiple of 64 bytes"))
        return false;
    if (!place(move, PTX_SPACE_GENERIC, address, KCSIM_TENSOR_MAP_BYTES, KCSIM_ACCESS_READ,
               &access))
        return false;
    if (access.space != PTX_SPACE_GLOBAL && access.space != PTX_SPACE_PARAM)
        problem = "a tensor map lies in parameters, constant or global memory";
    else if (!kcsim_tensor_map_read(&move->map, kcsim_host(&access, move->lane)))
        problem = "these bytes are no tensor map: never encoded, or copied wrongly";
    else if (kcsim_tensor_map_problem(&move->map))
        problem = kcsim_tensor_map_problem(&move->map);
    else if (move->map.rank != move->bulk->rank)
        problem = "the tensor map has another number of dimensions than the instruction";
    else if (move->bulk->four && move->map.box[1] != 1)
        problem = "boxDim[1]: four rows take a box of one";
    else if (move->map.im2col != move->bulk->im2col)
        problem = move->bulk->im2col ? "the tensor map is not one of im2col, as the instruction is"
                                     : "the tensor map is one of im2col, and the instruction not";
    if (problem)
        tell(move, KCSIM_FINDING_OUT_OF_BOUNDS, access.space, address, KCSIM_TENSOR_MAP_BYTES,
             problem);
    if (problem) return false;
    if (access.space == PTX_SPACE_GLOBAL) check_map(move, &access);
    move->type = (ptx_type)reduction_types[move->map.type];
    move->size = kcsim_tensor_map_box_bytes(&move->map) * (move->bulk->four ? 4 : 1);
    for (unsigned i = 0; i < kcsim_bulk_coordinates(move->bulk); i++)
        move->at[i] = ((const int32_t *)kcsim_at(move->warp, move->bulk->at[i]))[move->lane];
    for (unsigned i = 1; move->bulk->im2col && i + 1u < move->bulk->rank; i++)
        move->offsets[i] =
            ((const uint16_t *)kcsim_at(move->warp, move->bulk->offsets[i - 1]))[move->lane];
    if (move->bulk->im2col && !kcsim_tensor_map_has(&move->map, move->at)) {
        tell(move, KCSIM_FINDING_OUT_OF_BOUNDS, access.space, address, KCSIM_TENSOR_MAP_BYTES,
             "the base pixel lies outside the map's bounding box");
        return false;
    }
    if (move->bulk->op == PTX_M_NONE || type_fits(move)) return true;
    tell(move, KCSIM_FINDING_OUT_OF_BOUNDS, access.space, address, KCSIM_TENSOR_MAP_BYTES,
         "the tensor's type has no such reduction");
    return false;
}

/* Registers lie in memory one behind the other. */
static void take_values(const transfer *move) {
    const kcsim_bulk *bulk = move->bulk;
    uint32_t bytes = bulk->value_bytes;
    for (uint32_t i = 0; i < bulk->value_count; i++) {
        const uint8_t *values = kcsim_at(move->warp, bulk->values[i]);
        memcpy(move->data + i * bytes, values + move->lane * bytes, bytes);
        memset(move->marks + i * bytes,
               move->warp->full[bulk->values[i].slot] >> move->lane & 1, bytes);
    }
}

/* Where no space is said the addresses are generic. */
static bool prepare_sending(transfer *move) {
    move->size = (uint64_t)move->bulk->value_count * move->bulk->value_bytes;
    if (move->to - KCSIM_SHARED_WINDOW < KCSIM_WINDOW_BYTES) move->to -= KCSIM_SHARED_WINDOW;
    return is_aligned(move, PTX_SPACE_SHARED, move->to, move->size, move->size,
                      "addresses are multiples of the size");
}

/* What is copied from and to where, with the alignment that each has. */
static bool prepare(transfer *move) {
    const kcsim_bulk *bulk = move->bulk;
    bool out = bulk->way == KCSIM_BULK_OUT, prefetch = bulk->way == KCSIM_BULK_PREFETCH;
    move->type = (ptx_type)bulk->type;
    move->to = address_of(move, &bulk->to);
    move->from = address_of(move, &bulk->from);
    if (bulk->way == KCSIM_BULK_SEND) return prepare_sending(move);
    if (bulk->rank) {
        uint64_t shared = out ? move->from : move->to;
        return read_map(move) &&
               (prefetch || is_aligned(move, PTX_SPACE_SHARED, shared, move->size, 128,
                                       "a tensor copy's box lies at a multiple of 128 bytes"));
    }
    move->size = ((const uint32_t *)kcsim_at(move->warp, bulk->size))[move->lane];
    ptx_space from = out || bulk->way == KCSIM_BULK_ACROSS ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    ptx_space to = out ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
    if (move->size % CHUNK) {
        tell(move, KCSIM_FINDING_MISALIGNED, from, move->from, move->size,
             "the size of a bulk copy is a multiple of 16 bytes");
        return false;
    }
    return is_aligned(move, from, move->from, move->size, CHUNK,
                      "a bulk copy's addresses are multiples of 16 bytes") &&
           (prefetch || is_aligned(move, to, move->to, move->size, CHUNK,
                                   "a bulk copy's addresses are multiples of 16 bytes"));
}

static void count_global(const transfer *move) {
    kcsim_cost *cost = kcsim_cost_of(move->warp);
    cost->stores = move->bulk->way == KCSIM_BULK_OUT;
    if (cost->stores) cost->wavefronts += (move->size + WAVEFRONT - 1) / WAVEFRONT;
    cost->bytes += move->moved;
    cost->sectors += move->sectors;
    cost->sectors_ideal += (move->moved + SECTOR - 1) / SECTOR;
}

static void leave(const transfer *move) {
    kcsim_access access;
    kcsim_copies *leaving = move->warp->block->leaving;
    if (leaving &&
        place(move, PTX_SPACE_SHARED, move->from, move->size, KCSIM_ACCESS_READ, &access))
        kcsim_copies_begin(leaving, move->warp, move->lane, access.address[move->lane], move->size);
}

static bool flushes(const transfer *move) {
    return move->bulk->rank &&
           (move->map.type == KCSIM_TENSOR_F32_FTZ || move->map.type == KCSIM_TENSOR_TF32_FTZ);
}

static void copy(transfer *move) {
    if (move->bulk->way == KCSIM_BULK_SEND) {
        take_values(move);
        land_everywhere(move);
        return;
    }
    fill(move);
    bool from_global = move->bulk->way == KCSIM_BULK_IN;
    const kcsim_worker *worker = move->warp->block->worker;
    if (worker->proxy_global && worker->global_race && move->bulk->way != KCSIM_BULK_ACROSS)
        each_row(move, check_row);
    if (from_global) each_row(move, read_row);
    else if (!read_shared(move)) return;
    if (flushes(move)) flush_subnormals(move);
    if (move->bulk->way == KCSIM_BULK_OUT) {
        uint32_t lanes = 1u << move->lane;
        if (move->warp->block->departures)
            move->trip = kcsim_transit_group(move->warp, true, &lanes);
        move->late = kcsim_late_begins(move->warp->block);
        each_row(move, write_row);
        leave(move);
    } else {
        land_everywhere(move);
        if (from_global && move->trip) each_row(move, touch_row);
    }
    if (move->bulk->way != KCSIM_BULK_ACROSS) count_global(move);
}

static void do_lane(transfer *move) {
    if (!prepare(move) || move->size == 0 || move->bulk->way == KCSIM_BULK_PREFETCH) return;
    uint64_t most = move->warp->block->launch->shared_bytes;
    if (move->size > most) {
        tell(move, KCSIM_FINDING_OUT_OF_BOUNDS, PTX_SPACE_SHARED, move->to, move->size,
             "it is larger than the block's shared memory");
        return;
    }
    move->data = malloc(2 * move->size);
    move->marks = move->data + move->size;
    if (move->data) copy(move);
    else move->warp->block->worker->failed = true;
    free(move->data);
}

void kcsim_bulk_leave(kcsim_warp *warp, uint32_t mask) {
    uint32_t thread = 0;
    char text[120];
    if (!kcsim_copies_any(warp->block->leaving, &thread)) return;
    snprintf(text, sizeof text,
             "the block exits, and lane %u of warp %u has not waited for its bulk copies from here",
             thread % KCSIM_LANES, thread / KCSIM_LANES);
    kcsim_report report = {.kind = KCSIM_FINDING_ASYNC_IN_FLIGHT,
                           .lanes = mask & (0 - mask),
                           .space = "shared",
                           .other = text};
    kcsim_report_lanes(warp, &warp->block->launch->code->insns[warp->pc], &report);
}

static uint32_t defined_lanes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    const kcsim_bulk *bulk = insn->fn.bulk;
    const kcsim_ref refs[] = {bulk->to.ref, bulk->from.ref, bulk->mbarrier.ref, bulk->size,
                              bulk->blocks, bulk->mask};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++)
        mask &= ~kcsim_report_undefined(warp, insn, refs[i], mask,
                                        "an operand of the copy was never written");
    for (unsigned i = 0; i < kcsim_bulk_coordinates(bulk); i++)
        mask &= ~kcsim_report_undefined(warp, insn, bulk->at[i], mask,
                                        "a coordinate of the copy was never written");
    for (unsigned i = 0; i + 2 < bulk->rank; i++)
        mask &= ~kcsim_report_undefined(warp, insn, bulk->offsets[i], mask,
                                        "an offset of the copy was never written");
    return mask;
}

void kcsim_do_bulk(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    for (uint32_t rest = defined_lanes(warp, insn, mask); rest; rest &= rest - 1) {
        transfer move = {.warp = warp,
                         .insn = insn,
                         .bulk = insn->fn.bulk,
                         .lane = (uint32_t)__builtin_ctz(rest)};
        do_lane(&move);
    }
    warp->block->changes++;
}
