/* Happens-before through global memory, in kernels whose blocks talk (they run on one host
 * thread).
 *
 *     block 0, warp 0   writes x at tick 3 - fence.gpu - flag = 1     the flag: {0.0:3}
 *     block 7, warp 2   reads the flag - fence.gpu: knows {0.0:3} - reads x: ordered
 *
 * What a warp knows of the warps of other clusters is a set of (warp, tick), shared by whoever
 * knows the same. Words that are released through have such sets, one a scope: a release reaches
 * those who are within its scope and within the scope of their own acquire (PTX ISA, "Memory
 * Consistency Model": morally strong). What happens within a cluster is order.c's; here it goes
 * along. */
#ifndef KCSIM_TALK_H
#define KCSIM_TALK_H

#include "runtime/sim/cuda/access.h"

typedef enum kcsim_scope { KCSIM_SCOPE_CTA, KCSIM_SCOPE_CLUSTER, KCSIM_SCOPE_GPU } kcsim_scope;
#define KCSIM_SCOPES 3

typedef struct kcsim_known kcsim_known; /* NULL: nothing */
/* One more user of it, and one less. */
kcsim_known *kcsim_known_use(kcsim_known *known);
void kcsim_known_drop(kcsim_known *known);
bool kcsim_known_has(const kcsim_known *known, uint32_t key, uint32_t time);

/* A warp's share (exec.h): what it knows; what it knew at its last fence of each scope; what
 * relaxed loads have seen, by how near those were who released it. */
typedef struct kcsim_talker kcsim_talker;

typedef struct kcsim_talk kcsim_talk; /* a worker's */
kcsim_talk *kcsim_talk_create(void);
void kcsim_talk_destroy(kcsim_talk *talk);

/* The scope that an access, an atomic or a fence has. */
kcsim_scope kcsim_scope_of(const kcsim_insn *insn);
/* A strong access, an atomic: relaxed at the least. */
bool kcsim_is_strong(const kcsim_insn *insn);
/* Of all warps there are: of its cluster, and by its number within. */
uint32_t kcsim_warp_key(const kcsim_warp *warp);

void kcsim_talk_forget(kcsim_warp *warp); /* it begins anew */
void kcsim_talk_fence(kcsim_warp *warp, kcsim_scope scope);
/* An access that may release and acquire, behind its race check. */
void kcsim_talk_pass(const kcsim_access *access);
/* The warps of the mask have waited for each other. */
void kcsim_talk_meet(kcsim_block *block, uint32_t warps);
/* The warp heard of another one of its cluster, by other means: of which is not followed, so it
 * knows what any of them does. */
void kcsim_talk_share(kcsim_warp *warp);
/* Whether what another cluster's warp did at `time` comes before what this warp does now. */
bool kcsim_talk_is_ordered(const kcsim_warp *warp, uint32_t key, uint32_t time);
/* The same of any warp; where clusters do not talk another's counts as ordered. */
bool kcsim_is_ordered(const kcsim_warp *warp, uint32_t key, uint32_t time);

/* ---- past.c: values that strong loads may still return, under other seeds than 0 ---- */

typedef struct kcsim_past kcsim_past; /* a worker's, where blocks talk */
kcsim_past *kcsim_past_create(void);
void kcsim_past_destroy(kcsim_past *past);
/* Before a lane's strong store or atomic changes global memory. */
void kcsim_past_change(kcsim_past *past, const kcsim_access *access, uint32_t lane);
/* The lane reads what memory holds. */
void kcsim_past_see(kcsim_past *past, const kcsim_access *access, uint32_t lane);
/* The warp fences or releases: what it knows of is everybody's. */
void kcsim_past_perform(kcsim_past *past, const kcsim_warp *warp);
/* After a strong load of global memory: some lanes get an older value. */
void kcsim_past_load(kcsim_past *past, const kcsim_access *access);

/* ---- race_global.c: races on global memory, within a cluster and between those that talk ---- */

typedef struct kcsim_global_race kcsim_global_race; /* a worker's */
kcsim_global_race *kcsim_global_race_create(const kcsim_memory *memory);
void kcsim_global_race_destroy(kcsim_global_race *race);
/* A cluster begins that does not talk to those before it. */
void kcsim_global_race_begin(kcsim_global_race *race);
void kcsim_global_race_access(kcsim_access *access);
/* For bulk copies, before they are an access: an ordinary store to these bytes that comes before
 * now, with no proxy fence between. */
bool kcsim_global_race_unfenced(const kcsim_warp *warp, uint64_t address, uint64_t size,
                                kcsim_party *party);
/* For tensor maps: a number that another store to these bytes changes; 0: this launch has stored
 * nothing there. False when a store is not ordered before now: *party. */
bool kcsim_global_race_version(const kcsim_warp *warp, uint64_t address, uint64_t size,
                               uint64_t *version, kcsim_party *party);

#endif
