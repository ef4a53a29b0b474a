/* Proxy fences. PTX ISA, "Memory Consistency Model": two accesses by different proxies are ordered
 * where a proxy fence lies between them along the order of causality. Whose fence it is does not
 * matter:
 *
 *     warp 0  writes x at tick 3 - fence: knows {0:3}, tick 4 - barrier
 *     warp 1  ------------------------------------------------- barrier - bulk copy of x
 *
 * The copy asks: is there a fence that knows of x's writing, and that the copying warp knows of?
 * Of each warp's fences the last few are kept; where older ones were dropped, nothing is said. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"

#define REMEMBERED 16u

struct kcsim_proxy {
    uint32_t warp_count, clock_count;
    uint32_t *count;  /* fences, by warp of the block */
    uint32_t *clocks; /* of a fence: what its warp knew */
};

kcsim_proxy *kcsim_proxy_create(uint32_t warp_count, uint32_t clock_count) {
    kcsim_proxy *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->warp_count = warp_count;
    made->clock_count = clock_count;
    made->count = calloc(warp_count, sizeof *made->count);
    made->clocks = calloc((size_t)warp_count * REMEMBERED * clock_count, sizeof *made->clocks);
    if (made->count && made->clocks) return made;
    kcsim_proxy_destroy(made);
    return NULL;
}

void kcsim_proxy_destroy(kcsim_proxy *proxy) {
    if (!proxy) return;
    free(proxy->count);
    free(proxy->clocks);
    free(proxy);
}

void kcsim_proxy_reset(kcsim_proxy *proxy) {
    if (proxy) memset(proxy->count, 0, proxy->warp_count * sizeof *proxy->count);
}

static uint32_t *clocks_of(const kcsim_proxy *proxy, uint32_t warp, uint32_t fence) {
    return proxy->clocks + ((size_t)warp * REMEMBERED + fence % REMEMBERED) * proxy->clock_count;
}

void kcsim_proxy_fence(kcsim_warp *warp) {
    kcsim_proxy *proxy = warp->block->proxy;
    memcpy(clocks_of(proxy, warp->index, proxy->count[warp->index]++), warp->time,
           proxy->clock_count * sizeof *warp->time);
    kcsim_order_tick(warp);
}

/* The warp `by`, number `id` of the cluster, has made such a fence. */
static bool fenced_by(const kcsim_warp *warp, const kcsim_warp *by, uint32_t writer,
                      uint32_t time) {
    const kcsim_proxy *proxy = by->block->proxy;
    uint32_t count = proxy->count[by->index];
    for (uint32_t i = 0; i < count && i < REMEMBERED; i++) {
        const uint32_t *knew = clocks_of(proxy, by->index, count - 1 - i);
        bool heard_of = by == warp || knew[by->id] <= warp->time[by->id];
        if (heard_of) return knew[writer] >= time; /* older fences knew no more */
    }
    return count > REMEMBERED;
}

bool kcsim_proxy_is_fenced(const kcsim_warp *warp, uint32_t writer, uint32_t time) {
    const kcsim_block *block = warp->block;
    for (uint32_t id = 0; id < block->launch->clock_count; id++) {
        const kcsim_block *other = block->cluster->blocks + id / block->warp_count;
        if (other->proxy && fenced_by(warp, &other->warps[id % block->warp_count], writer, time))
            return true;
    }
    return false;
}
