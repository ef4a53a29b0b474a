/* Blocks that talk: which begins next, and whose turn it is. One host thread runs them, as many at
 * once as the device would hold.
 *
 * The hardware promises neither. Seed 0 is the tame way: clusters (mostly of one block) begin in
 * the order of the grid, each when all that run poll, and have long turns one after the other. Any
 * other seed begins any of the clusters that are near in the grid, or anywhere in it, has several
 * under way, and gives each turn to any of them, for one instruction or for thousands. */
#include <stdlib.h>

#include "runtime/sim/cuda/exec.h"

#define TURN ((uint64_t)1 << 15) /* instructions of a block before another has its turn */
#define ROUNDS 64u /* turns of all after which one more is begun, in case they poll unseen */
#define FEW 256u   /* the same under other seeds: one turn in so many */
#define WIDEST 65536u

typedef struct resident {
    kcsim_cluster cluster;
    bool created, running, polling;
    uint64_t polled_at; /* changes in all of them when it was found polling */
} resident;

typedef struct resident_set {
    kcsim_worker *worker;
    resident *items;
    uint32_t used, limit, running; /* places made; how many may run, and do */
    uint32_t crowd;                /* how many run where nobody waits */
    uint64_t changes, rounds, random;
    uint64_t next, total; /* clusters that were not yet looked at */
    uint64_t *waiting;    /* those of which one begins next: as many as are left of `window` */
    uint32_t waiting_count, window;
} resident_set;

/* ---- beginning ---- */

static bool can_start(const resident_set *set) {
    return set->running < set->limit && (set->waiting_count || set->next < set->total);
}

static uint64_t next_number(resident_set *set) {
    while (set->waiting_count < set->window && set->next < set->total)
        set->waiting[set->waiting_count++] = set->next++;
    uint32_t at = set->window > 1 ? (uint32_t)(kcsim_random(&set->random) % set->waiting_count) : 0;
    uint64_t number = set->waiting[at];
    set->waiting[at] = set->waiting[--set->waiting_count];
    return number;
}

static bool start_next(resident_set *set) {
    resident *place = set->items;
    while (place->running)
        place++;
    if (!place->created && !kcsim_cluster_create(&place->cluster, set->worker)) {
        set->limit = set->running; /* fewer at once will do, unless there is none */
        return set->running > 0;
    }
    if (!place->created) set->used++;
    place->created = place->running = true;
    place->polling = false;
    kcsim_cluster_start(&place->cluster, next_number(set));
    set->running++;
    return true;
}

/* ---- turns ---- */

/* A block that polls has its turn again when something has changed since. */
static bool can_go_on(const resident_set *set, const resident *place) {
    return place->running && !(place->polling && place->polled_at == set->changes);
}

static void take_turn(resident_set *set, resident *place, uint64_t budget) {
    uint64_t before = kcsim_cluster_changes(&place->cluster);
    place->cluster.elsewhere = set->changes - before;
    kcsim_progress progress = kcsim_cluster_run(&place->cluster, budget);
    set->changes += kcsim_cluster_changes(&place->cluster) - before;
    place->polling = progress == KCSIM_PROGRESS_POLLING;
    place->polled_at = set->changes;
    if (progress != KCSIM_PROGRESS_DONE) return;
    place->running = false;
    set->running--;
}

static bool all_wait(const resident_set *set) {
    for (uint32_t i = 0; i < set->used; i++)
        if (can_go_on(set, &set->items[i])) return false;
    return true;
}

/* All poll, and nobody can begin: what has not begun never will. */
static void give_up(resident_set *set) {
    for (uint32_t i = 0; i < set->used; i++) {
        if (set->items[i].running) kcsim_cluster_polls_forever(&set->items[i].cluster);
        set->items[i].running = false;
    }
    set->running = set->waiting_count = 0;
    set->next = set->total;
}

static bool run_in_order(resident_set *set) {
    for (;;) {
        bool wanted = all_wait(set) || ++set->rounds % ROUNDS == 0;
        if (wanted && can_start(set)) {
            if (!start_next(set)) return false;
        } else if (set->running && all_wait(set)) {
            give_up(set);
        }
        if (!set->running && !can_start(set)) return true;
        for (uint32_t i = 0; i < set->used; i++)
            if (can_go_on(set, &set->items[i])) take_turn(set, &set->items[i], TURN);
    }
}

/* Any of those that can go on; NULL: all wait. */
static resident *pick(resident_set *set) {
    uint32_t first = set->used ? (uint32_t)(kcsim_random(&set->random) % set->used) : 0;
    for (uint32_t i = 0; i < set->used; i++) {
        resident *place = &set->items[(first + i) % set->used];
        if (can_go_on(set, place)) return place;
    }
    return NULL;
}

static bool run_by_seed(resident_set *set) {
    for (;;) {
        resident *place = pick(set);
        bool wanted = !place || set->running < set->crowd || kcsim_random(&set->random) % FEW == 0;
        if (wanted && can_start(set)) {
            if (!start_next(set)) return false;
        } else if (place) {
            take_turn(set, place, kcsim_turn(&set->random, KCSIM_BLOCK_BITS));
        } else if (set->running) {
            give_up(set);
        } else {
            return true;
        }
    }
}

/* ---- the whole ---- */

static void plan(resident_set *set, const kcsim_grid *grid) {
    uint64_t widest = grid->cluster_total < WIDEST ? grid->cluster_total : WIDEST;
    set->window = 1;
    if (!grid->by_seed) return;
    set->random = grid->machine->options.seed * 0x94d049bb133111ebu;
    set->window = kcsim_random(&set->random) & 1 ? (uint32_t)widest : set->limit;
    set->crowd = (2u << kcsim_random(&set->random) % 4) / grid->cluster_blocks;
    if (set->crowd < 2) set->crowd = 2;
}

void kcsim_run_talking(kcsim_worker *worker, const kcsim_grid *grid, uint32_t residents) {
    resident_set set = {.worker = worker, .limit = residents, .total = grid->cluster_total};
    plan(&set, grid);
    set.items = calloc(residents, sizeof *set.items);
    set.waiting = calloc(set.window, sizeof *set.waiting);
    worker->failed =
        !set.items || !set.waiting || !(grid->by_seed ? run_by_seed(&set) : run_in_order(&set));
    for (uint32_t i = 0; i < set.used; i++)
        if (set.items[i].created) kcsim_cluster_destroy(&set.items[i].cluster);
    free(set.items);
    free(set.waiting);
}
