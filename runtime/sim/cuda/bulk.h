/* Bulk copies, and asynchronous stores: what their decoder and their executor share, and what the
 * checks remember of them.
 *
 * A bulk copy is made when it is issued; what is late is the permission to touch its bytes:
 *
 *     into shared memory    until the reader has waited for the mbarrier's phase      kcsim_flights
 *     out of shared memory  until the thread's wait_group, for who writes there again  kcsim_copies
 *     to another block's    until somebody has waited for its mbarrier, the same      kcsim_across
 *
 * And it goes by the asynchronous proxy: what ordinary stores wrote it may see only behind a
 * fence.proxy.async (kcsim_proxy). */
#ifndef KCSIM_BULK_H
#define KCSIM_BULK_H

#include "runtime/sim/cuda/access.h"
#include "runtime/sim/cuda/tensor_map.h"

typedef enum kcsim_bulk_way {
    KCSIM_BULK_IN,     /* global to shared memory */
    KCSIM_BULK_OUT,    /* shared to global */
    KCSIM_BULK_ACROSS, /* shared to shared, of another block mostly */
    KCSIM_BULK_SEND,   /* st.async, red.async: registers to shared, by the generic proxy */
    KCSIM_BULK_PREFETCH
} kcsim_bulk_way;

typedef struct kcsim_bulk_address {
    kcsim_ref ref;
    int64_t offset;
    uint8_t width; /* bytes of the register */
} kcsim_bulk_address;

typedef struct kcsim_bulk {
    uint8_t way;  /* kcsim_bulk_way */
    uint8_t rank; /* of the tensor; 0: plain bytes */
    uint8_t op;   /* ptx_modifier of a reduction, or none */
    uint8_t type; /* ptx_type of its elements; a tensor's map says it */
    bool multicast, masked;
    kcsim_bulk_address to, from; /* a tensor's is the address of its map */
    kcsim_bulk_address mbarrier;
    kcsim_ref size, blocks; /* bytes; 16 bits: the blocks of a multicast */
    kcsim_ref mask; /* 16 bits: the bytes of each chunk that are copied, where it is masked */
    kcsim_ref at[KCSIM_TENSOR_RANK];
    bool im2col, four; /* four: rows of a matrix; `at` is a column and the rows */
    kcsim_ref offsets[KCSIM_TENSOR_RANK - 2]; /* of its pixels; 16 bits */
    kcsim_ref values[4]; /* that are sent */
    uint8_t value_count, value_bytes;
} kcsim_bulk;

static inline uint32_t kcsim_bulk_coordinates(const kcsim_bulk *bulk) {
    return bulk->four ? 5 : bulk->rank;
}

/* ---- flights.c: copies on their way into shared memory, by word ---- */

kcsim_flights *kcsim_flights_create(uint64_t shared_bytes, uint32_t clock_count);
void kcsim_flights_destroy(kcsim_flights *flights);
void kcsim_flights_reset(kcsim_flights *flights);
/* Bytes come to [address, address + size), or are reduced there; the mbarrier at `at` is told, in
 * `phase`. False: the host has no memory. */
bool kcsim_flights_begin(kcsim_flights *flights, uint64_t at, uint32_t phase, uint64_t address,
                         uint64_t size, bool reduces);
/* A warp has seen that all phases before `phase` are complete. */
void kcsim_flights_observed(kcsim_flights *flights, const kcsim_warp *warp, uint64_t at,
                            uint32_t phase);
/* Some of these bytes are on their way, as far as `warp` knows; *at is the mbarrier. `reduces`: the
 * question is a reduction's, which may go over others. */
bool kcsim_flights_look(const kcsim_flights *flights, const kcsim_warp *warp, uint64_t address,
                        uint64_t size, bool reduces, uint64_t *at);

/* The block's last thread exits: do copies still read its shared memory? */
void kcsim_bulk_leave(kcsim_warp *warp, uint32_t mask);

/* ---- across.c: copies from a block's shared memory to shared memory of its cluster ---- */

kcsim_across *kcsim_across_create(uint64_t shared_bytes, uint32_t clock_count);
void kcsim_across_destroy(kcsim_across *across);
void kcsim_across_reset(kcsim_across *across);
/* A lane copies [address, address + size) of `source`; the mbarrier at `at` of `home` is told, in
 * `phase`. False: the host has no memory. */
bool kcsim_across_begin(const kcsim_block *source, const kcsim_warp *warp, uint32_t lane,
                        uint64_t address, uint64_t size, const kcsim_block *home, uint64_t at,
                        uint32_t phase);
/* A warp has seen that all phases before `phase` of an mbarrier of `home` are complete. */
void kcsim_across_observed(const kcsim_block *home, const kcsim_warp *warp, uint64_t at,
                           uint32_t phase);
/* Reports lanes that write where such a copy may still read; and the last thread's exit. */
void kcsim_across_check(kcsim_access *access, uint32_t lanes);
void kcsim_across_leave(kcsim_warp *warp, uint32_t mask);

/* ---- proxy.c: fences between ordinary accesses and the asynchronous proxy ---- */

kcsim_proxy *kcsim_proxy_create(uint32_t warp_count, uint32_t clock_count);
void kcsim_proxy_destroy(kcsim_proxy *proxy);
void kcsim_proxy_reset(kcsim_proxy *proxy);
void kcsim_proxy_fence(kcsim_warp *warp);
/* A fence lies between what warp `writer` did at `time` and now, as `warp` knows it. */
bool kcsim_proxy_is_fenced(const kcsim_warp *warp, uint32_t writer, uint32_t time);

/* ---- late.c: bytes on their way to global memory, under other seeds than 0; a block's ---- */

typedef struct kcsim_bulk_bytes {
    uint8_t *host;
    const uint8_t *data;
    uint64_t size;
    uint8_t op, type; /* of a reduction; or PTX_M_NONE */
} kcsim_bulk_bytes;
void kcsim_bulk_write(const kcsim_bulk_bytes *bytes); /* exec_bulk.c */

typedef struct kcsim_late kcsim_late;
kcsim_late *kcsim_late_create(uint32_t thread_count);
void kcsim_late_destroy(kcsim_late *late);
void kcsim_late_reset(kcsim_late *late);
/* Whether the copy that is issued is late. */
bool kcsim_late_begins(kcsim_block *block);
/* In the thread's open group. False: the host has no memory. */
bool kcsim_late_add(kcsim_late *late, uint32_t thread, const kcsim_bulk_bytes *bytes);
void kcsim_late_commit(kcsim_warp *warp, uint32_t lanes);
void kcsim_late_wait(kcsim_warp *warp, uint32_t lanes, uint64_t left);
void kcsim_late_land(kcsim_block *block); /* all of it */

/* ---- proxy_global.c: the same for global memory; a worker's ---- */

typedef struct kcsim_proxy_global kcsim_proxy_global;
kcsim_proxy_global *kcsim_proxy_global_create(uint32_t clock_count);
void kcsim_proxy_global_destroy(kcsim_proxy_global *fences);
/* A cluster begins that does not talk to those before it. */
void kcsim_proxy_global_begin(kcsim_proxy_global *fences);
void kcsim_proxy_global_fence(kcsim_warp *warp);
/* A fence lies between what the warp `key` did at `time` and now, as `warp` knows it. */
bool kcsim_proxy_global_is_fenced(const kcsim_warp *warp, uint32_t key, uint32_t time);

#endif
