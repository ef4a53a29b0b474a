/* Bytes of bulk copies to global memory that come late: when the thread waits for their group, or
 * when the block has ended. Who reads too early gets what was there before.
 *
 * What memory counts as written is so from the copy's issue on: an early read is one mistake. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/bulk.h"

#define MOST_BYTES (1u << 20) /* of a block; with them on their way a copy is at once */

typedef struct piece {
    struct piece *next; /* issued after it */
    uint8_t *host;
    uint32_t thread, group;
    uint8_t op, type;
    uint64_t size;
    uint8_t data[];
} piece;

struct kcsim_late {
    uint32_t *committed; /* groups, by thread */
    uint32_t thread_count;
    uint64_t bytes;
    piece *first, **end;
};

kcsim_late *kcsim_late_create(uint32_t thread_count) {
    kcsim_late *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->committed = calloc(thread_count, sizeof *made->committed);
    made->thread_count = thread_count;
    made->end = &made->first;
    if (made->committed) return made;
    free(made);
    return NULL;
}

/* A block that ended before its time: its memory is nobody's. */
void kcsim_late_reset(kcsim_late *late) {
    if (!late) return;
    for (piece *next; late->first; late->first = next) {
        next = late->first->next;
        free(late->first);
    }
    late->end = &late->first;
    late->bytes = 0;
    memset(late->committed, 0, late->thread_count * sizeof *late->committed);
}

void kcsim_late_destroy(kcsim_late *late) {
    if (!late) return;
    kcsim_late_reset(late);
    free(late->committed);
    free(late);
}

bool kcsim_late_begins(kcsim_block *block) {
    return block->late && block->late->bytes < MOST_BYTES && kcsim_random(&block->random) & 1;
}

bool kcsim_late_add(kcsim_late *late, uint32_t thread, const kcsim_bulk_bytes *bytes) {
    piece *made = malloc(sizeof *made + bytes->size);
    if (!made) return false;
    *made = (piece){.host = bytes->host,
                    .thread = thread,
                    .group = late->committed[thread] + 1,
                    .op = bytes->op,
                    .type = bytes->type,
                    .size = bytes->size};
    memcpy(made->data, bytes->data, bytes->size);
    late->bytes += bytes->size;
    *late->end = made;
    late->end = &made->next;
    return true;
}

static void land(const piece *late) {
    kcsim_bulk_write(&(kcsim_bulk_bytes){.host = late->host,
                                         .data = late->data,
                                         .size = late->size,
                                         .op = late->op,
                                         .type = late->type});
}

/* Those of `thread` up to that group, in the order of issues; or all. */
static void land_until(kcsim_block *block, bool all, uint32_t thread, uint32_t group) {
    kcsim_late *late = block->late;
    piece **link = &late->first;
    while (*link) {
        piece *at = *link;
        if (!all && (at->thread != thread || at->group > group)) {
            link = &at->next;
            continue;
        }
        land(at);
        late->bytes -= at->size;
        *link = at->next;
        free(at);
        block->changes++;
    }
    late->end = link;
}

void kcsim_late_commit(kcsim_warp *warp, uint32_t lanes) {
    uint32_t *committed = warp->block->late->committed + warp->index * KCSIM_LANES;
    for (; lanes; lanes &= lanes - 1)
        committed[__builtin_ctz(lanes)]++;
}

void kcsim_late_wait(kcsim_warp *warp, uint32_t lanes, uint64_t left) {
    const kcsim_late *late = warp->block->late;
    for (; lanes && late->first; lanes &= lanes - 1) {
        uint32_t thread = warp->index * KCSIM_LANES + (uint32_t)__builtin_ctz(lanes);
        if (late->committed[thread] > left)
            land_until(warp->block, false, thread, late->committed[thread] - (uint32_t)left);
    }
}

void kcsim_late_land(kcsim_block *block) {
    land_until(block, true, 0, 0);
}
