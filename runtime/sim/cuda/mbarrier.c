#include "runtime/sim/cuda/mbarrier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u
#define MOST_OBJECTS 65535u

struct kcsim_mbarriers {
    uint64_t words;  /* of 8 bytes */
    uint16_t *index; /* by word: 0, or the object's index + 1 */
    kcsim_mbarrier *items;
    uint32_t *clocks; /* two an object */
    uint32_t count, capacity, clock_count;
    uint32_t late; /* objects that wait to be told */
};

kcsim_mbarriers *kcsim_mbarriers_create(uint64_t shared_bytes, uint32_t clock_count) {
    kcsim_mbarriers *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->words = shared_bytes / 8;
    made->clock_count = clock_count;
    made->index = calloc(made->words + 1, sizeof *made->index);
    if (made->index) return made;
    free(made);
    return NULL;
}

void kcsim_mbarriers_destroy(kcsim_mbarriers *mbarriers) {
    if (!mbarriers) return;
    free(mbarriers->index);
    free(mbarriers->items);
    free(mbarriers->clocks);
    free(mbarriers);
}

void kcsim_mbarriers_reset(kcsim_mbarriers *mbarriers) {
    if (!mbarriers) return;
    for (uint32_t i = 0; i < mbarriers->count; i++)
        mbarriers->index[mbarriers->items[i].at / 8] = 0;
    mbarriers->count = mbarriers->late = 0;
}

static void point_at_clocks(kcsim_mbarriers *all, uint32_t i) {
    all->items[i].gathered = all->clocks + (size_t)i * 2 * all->clock_count;
    all->items[i].passed = all->items[i].gathered + all->clock_count;
}

static bool grow(kcsim_mbarriers *all) {
    if (all->count < all->capacity) return true;
    uint32_t wanted = all->capacity ? all->capacity * 2 : FIRST_CAPACITY;
    if (all->count >= MOST_OBJECTS) return false;
    kcsim_mbarrier *items = realloc(all->items, wanted * sizeof *items);
    if (items) all->items = items;
    uint32_t *clocks = realloc(all->clocks, (size_t)wanted * 2 * all->clock_count * sizeof *clocks);
    if (clocks) all->clocks = clocks;
    if (!items || !clocks) return false;
    all->capacity = wanted;
    for (uint32_t i = 0; i < all->count; i++)
        point_at_clocks(all, i);
    return true;
}

static kcsim_mbarrier *object_at(const kcsim_mbarriers *all, uint64_t word) {
    return word < all->words && all->index[word] ? &all->items[all->index[word] - 1] : NULL;
}

kcsim_mbarrier *kcsim_mbarrier_find(const kcsim_block *home, uint64_t at) {
    kcsim_mbarrier *found = home->mbarriers ? object_at(home->mbarriers, at / 8) : NULL;
    return found && found->live ? found : NULL;
}

kcsim_mbarrier *kcsim_mbarrier_overlap(const kcsim_block *home, uint64_t at, uint64_t size) {
    if (!home->mbarriers || !home->mbarriers->count) return NULL;
    for (uint64_t word = at / 8; word <= (at + size - 1) / 8; word++) {
        kcsim_mbarrier *found = object_at(home->mbarriers, word);
        if (found && found->live) return found;
    }
    return NULL;
}

/* The memory's copy: opaque, but the same from run to run. */
static void show(kcsim_block *home, const kcsim_mbarrier *object) {
    uint64_t state = kcsim_mbarrier_state(object) ^ (uint64_t)object->bytes << 40;
    memcpy(home->shared + object->at, &state, sizeof state);
}

const char *kcsim_mbarrier_init(kcsim_block *home, uint64_t at, uint32_t count, uint32_t line) {
    kcsim_mbarriers *all = home->mbarriers;
    kcsim_mbarrier *object = object_at(all, at / 8);
    if (object && object->live) return "there is a live mbarrier here: mbarrier.inval comes first";
    if (count == 0 || count > KCSIM_MBARRIER_MOST)
        return "an mbarrier expects 1 to 1048575 arrivals";
    if (!object) {
        if (!grow(all)) return "the host has no memory for another mbarrier";
        object = &all->items[all->count++];
        all->index[at / 8] = (uint16_t)all->count;
        point_at_clocks(all, all->count - 1);
    }
    uint32_t *gathered = object->gathered, *passed = object->passed;
    *object = (kcsim_mbarrier){.at = at,
                               .live = true,
                               .expected = count,
                               .pending = count,
                               .line = line,
                               .gathered = gathered,
                               .passed = passed};
    memset(gathered, 0, 2 * all->clock_count * sizeof *gathered);
    show(home, object);
    return NULL;
}

void kcsim_mbarrier_invalidate(kcsim_block *home, kcsim_mbarrier *object) {
    if (object->late) home->mbarriers->late--;
    object->late = 0;
    object->live = false;
    memset(home->shared + object->at, 0, 8);
}

static void advance(kcsim_block *home, kcsim_mbarrier *object) {
    uint32_t clocks = home->mbarriers->clock_count;
    if (object->pending == 0 && object->bytes == 0) {
        object->phase++;
        object->pending = object->expected;
        /* Arrivals are read-modify-writes of one object: a later phase carries the earlier ones. */
        kcsim_order_join(object->passed, object->gathered, clocks);
        memset(object->gathered, 0, clocks * sizeof *object->gathered);
    }
    show(home, object);
}

const char *kcsim_mbarrier_expect(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes) {
    if (bytes > KCSIM_MBARRIER_MOST || object->bytes + bytes > KCSIM_MBARRIER_MOST)
        return "an mbarrier's tx-count goes up to 1048575";
    object->bytes += bytes;
    show(home, object);
    return NULL;
}

const char *kcsim_mbarrier_complete(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes) {
    if (bytes > KCSIM_MBARRIER_MOST ||
        object->bytes - (int64_t)bytes < -(int64_t)KCSIM_MBARRIER_MOST)
        return "an mbarrier's tx-count goes down to -1048575";
    object->bytes -= bytes;
    advance(home, object);
    return NULL;
}

const char *kcsim_mbarrier_come(kcsim_block *home, kcsim_mbarrier *object, uint32_t bytes) {
    if (kcsim_random(&home->random) & 1) return kcsim_mbarrier_complete(home, object, bytes);
    if (bytes > KCSIM_MBARRIER_MOST ||
        object->bytes - object->late - (int64_t)bytes < -(int64_t)KCSIM_MBARRIER_MOST)
        return "an mbarrier's tx-count goes down to -1048575";
    if (!object->late) home->mbarriers->late++;
    object->late += bytes;
    return NULL;
}

static void tell(kcsim_block *home, kcsim_mbarrier *object) {
    object->bytes -= object->late;
    object->late = 0;
    home->mbarriers->late--;
    home->changes++;
    if (object->live) advance(home, object);
}

bool kcsim_mbarriers_tell(kcsim_block *home, bool all) {
    kcsim_mbarriers *mbarriers = home->mbarriers;
    if (!mbarriers || !mbarriers->late) return false;
    for (uint32_t i = 0; i < mbarriers->count; i++)
        if (mbarriers->items[i].late && (all || kcsim_random(&home->random) % 4 == 0))
            tell(home, &mbarriers->items[i]);
    return true;
}

const char *kcsim_mbarrier_arrive(kcsim_block *home, kcsim_mbarrier *object, uint32_t count,
                                  bool drop, uint64_t *state) {
    *state = kcsim_mbarrier_state(object);
    if (count == 0 || count > KCSIM_MBARRIER_MOST) return "an arrival counts for 1 to 1048575";
    if (count > object->pending) return "more arrivals than the mbarrier's phase expects";
    if (drop) object->expected -= count;
    object->pending -= count;
    advance(home, object);
    return NULL;
}

const char *kcsim_mbarrier_increase(kcsim_block *home, kcsim_mbarrier *object) {
    if (object->pending >= KCSIM_MBARRIER_MOST)
        return "an mbarrier expects at most 1048575 arrivals";
    object->pending++;
    show(home, object);
    return NULL;
}

void kcsim_mbarrier_describe(const kcsim_mbarrier *object, char *text, size_t size) {
    bool over = object->bytes < 0;
    snprintf(text, size,
             "mbarrier 0x%" PRIx64 " in phase %u wants %u of %u arrivals%s%" PRId64 " bytes%s",
             object->at, object->phase, object->pending, object->expected,
             over ? ", and " : " and ", over ? -object->bytes : object->bytes,
             over ? " more have come than were expected" : "");
}
