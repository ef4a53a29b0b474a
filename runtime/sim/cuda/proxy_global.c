/* Proxy fences for global memory: proxy.c's question, where the store, the fence and the copy may
 * each be another cluster's.
 *
 *     cluster 0   stores x - releases a flag
 *     cluster 7   ---------- acquires it - fence: knows of x's storing - bulk load of x
 *
 * Of a launch's fences the last ones are kept, each with what its warp knew. Where older ones were
 * dropped, nothing is said. Nor is it asked in which block the fence is. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/talk.h"

#define REMEMBERED 1024u

typedef struct fence {
    uint32_t key, time;
    kcsim_known *known; /* of other clusters */
} fence;

struct kcsim_proxy_global {
    uint32_t count, clock_count;
    fence list[REMEMBERED]; /* a ring */
    uint32_t *clocks;       /* of a fence: what its warp knew of its own cluster */
};

kcsim_proxy_global *kcsim_proxy_global_create(uint32_t clock_count) {
    kcsim_proxy_global *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->clock_count = clock_count;
    made->clocks = calloc((size_t)REMEMBERED * clock_count, sizeof *made->clocks);
    if (made->clocks) return made;
    free(made);
    return NULL;
}

void kcsim_proxy_global_begin(kcsim_proxy_global *fences) {
    for (uint32_t i = 0; i < fences->count && i < REMEMBERED; i++) {
        kcsim_known_drop(fences->list[i].known);
        fences->list[i].known = NULL;
    }
    fences->count = 0;
}

void kcsim_proxy_global_destroy(kcsim_proxy_global *fences) {
    if (!fences) return;
    kcsim_proxy_global_begin(fences);
    free(fences->clocks);
    free(fences);
}

void kcsim_proxy_global_fence(kcsim_warp *warp) {
    kcsim_proxy_global *fences = warp->block->worker->proxy_global;
    uint32_t at = fences->count++ % REMEMBERED, count = fences->clock_count;
    kcsim_known_drop(fences->list[at].known);
    fences->list[at] = (fence){.key = kcsim_warp_key(warp),
                               .time = warp->time[warp->id],
                               .known = kcsim_known_use(warp->talker.known)};
    memcpy(fences->clocks + (size_t)at * count, warp->time, count * sizeof *warp->time);
    kcsim_order_tick(warp);
}

static bool knew(const kcsim_proxy_global *fences, uint32_t at, uint32_t key, uint32_t time) {
    const fence *past = &fences->list[at];
    uint32_t count = fences->clock_count, id = key - past->key / count * count;
    return id < count ? fences->clocks[(size_t)at * count + id] >= time
                      : kcsim_known_has(past->known, key, time);
}

bool kcsim_proxy_global_is_fenced(const kcsim_warp *warp, uint32_t key, uint32_t time) {
    const kcsim_proxy_global *fences = warp->block->worker->proxy_global;
    if (!fences) return true;
    for (uint32_t i = 0; i < fences->count && i < REMEMBERED; i++) {
        uint32_t at = (fences->count - 1 - i) % REMEMBERED;
        if (kcsim_is_ordered(warp, fences->list[at].key, fences->list[at].time) &&
            knew(fences, at, key, time))
            return true;
    }
    return fences->count > REMEMBERED;
}
