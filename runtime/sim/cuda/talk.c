#include "runtime/sim/cuda/talk.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KNOWN (1u << 20) /* of one set; behind it nothing is added, and nothing is said */

typedef struct entry {
    uint32_t key, time;
} entry;

struct kcsim_known {
    uint32_t uses, count;
    entry entries[]; /* by key */
};

/* What was released through a word, to whom: all, or those of one cluster or block. */
typedef struct part {
    uint64_t owner;
    kcsim_known *known;
} part;

typedef struct flag {
    uint64_t address; /* of the word, + 1; 0: none */
    part *parts;
    uint32_t count;
} flag;

struct kcsim_talk {
    flag *flags; /* by hash */
    uint64_t count, capacity;
    bool failed; /* out of memory, or a set too large: everything counts as ordered */
};

kcsim_talk *kcsim_talk_create(void) {
    kcsim_talk *talk = calloc(1, sizeof *talk);
    if (!talk) return NULL;
    talk->capacity = 256;
    talk->flags = calloc(talk->capacity, sizeof *talk->flags);
    if (talk->flags) return talk;
    free(talk);
    return NULL;
}

/* ---- sets ---- */

static kcsim_known *use(kcsim_known *known) {
    if (known) known->uses++;
    return known;
}

static void drop(kcsim_known *known) {
    if (known && --known->uses == 0) free(known);
}

static void set(kcsim_known **place, kcsim_known *known) {
    kcsim_known *old = *place;
    *place = known;
    drop(old);
}

static bool covers(const kcsim_known *all, const kcsim_known *some) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < some->count; i++) {
        while (at < all->count && all->entries[at].key < some->entries[i].key)
            at++;
        if (at == all->count || all->entries[at].key != some->entries[i].key ||
            all->entries[at].time < some->entries[i].time)
            return false;
    }
    return true;
}

static kcsim_known *make(kcsim_talk *talk, uint32_t count) {
    kcsim_known *made =
        count < MOST_KNOWN ? malloc(sizeof *made + count * sizeof *made->entries) : NULL;
    if (made) *made = (kcsim_known){.uses = 1};
    else talk->failed = true;
    return made;
}

static void join(kcsim_talk *talk, kcsim_known **into, kcsim_known *from) {
    kcsim_known *to = *into;
    if (!from || to == from) return;
    if (!to || covers(from, to)) {
        set(into, use(from));
        return;
    }
    if (covers(to, from)) return;
    kcsim_known *made = make(talk, to->count + from->count);
    if (!made) return;
    for (uint32_t i = 0, k = 0; i < to->count || k < from->count;) {
        bool first =
            k == from->count || (i < to->count && to->entries[i].key <= from->entries[k].key);
        entry next = first ? to->entries[i++] : from->entries[k++];
        if (first && k < from->count && from->entries[k].key == next.key) {
            if (from->entries[k].time > next.time) next.time = from->entries[k].time;
            k++;
        }
        made->entries[made->count++] = next;
    }
    set(into, made);
}

uint32_t kcsim_warp_key(const kcsim_warp *warp) {
    const kcsim_block *block = warp->block;
    uint32_t cluster = (uint32_t)block->cluster->number;
    return cluster * block->launch->clock_count + warp->id;
}

/* All that the warp knows, of its own cluster too. */
static kcsim_known *all_of(kcsim_warp *warp) {
    kcsim_talk *talk = warp->block->worker->talk;
    uint32_t count = warp->block->launch->clock_count, first = kcsim_warp_key(warp) - warp->id;
    kcsim_known *own = make(talk, count), *all = use(warp->talker.known);
    if (!own) return all;
    for (uint32_t i = 0; i < count; i++)
        if (warp->time[i])
            own->entries[own->count++] = (entry){.key = first + i, .time = warp->time[i]};
    join(talk, &all, own);
    drop(own);
    return all;
}

static void learn(kcsim_warp *warp, kcsim_known *known) {
    uint32_t count = warp->block->launch->clock_count, first = kcsim_warp_key(warp) - warp->id;
    if (!known) return;
    join(warp->block->worker->talk, &warp->talker.known, known);
    for (uint32_t i = 0; i < known->count; i++) {
        entry at = known->entries[i];
        if (at.key - first >= count || at.time <= warp->time[at.key - first]) continue;
        warp->time[at.key - first] = at.time;
        warp->knowledge++;
    }
}

kcsim_known *kcsim_known_use(kcsim_known *known) {
    return use(known);
}

void kcsim_known_drop(kcsim_known *known) {
    drop(known);
}

bool kcsim_known_has(const kcsim_known *known, uint32_t key, uint32_t time) {
    uint32_t low = 0, high = known ? known->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (known->entries[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return known && low < known->count && known->entries[low].key == key &&
           known->entries[low].time >= time;
}

bool kcsim_talk_is_ordered(const kcsim_warp *warp, uint32_t key, uint32_t time) {
    return warp->block->worker->talk->failed || kcsim_known_has(warp->talker.known, key, time);
}

bool kcsim_is_ordered(const kcsim_warp *warp, uint32_t key, uint32_t time) {
    uint32_t id = key - (kcsim_warp_key(warp) - warp->id);
    if (id < warp->block->launch->clock_count) return id == warp->id || time <= warp->time[id];
    return !warp->block->worker->talk || kcsim_talk_is_ordered(warp, key, time);
}

/* ---- words ---- */

static void drop_parts(flag *at) {
    for (uint32_t i = 0; i < at->count; i++)
        drop(at->parts[i].known);
    at->count = 0;
}

void kcsim_talk_destroy(kcsim_talk *talk) {
    if (!talk) return;
    for (uint64_t i = 0; i < talk->capacity; i++) {
        drop_parts(&talk->flags[i]);
        free(talk->flags[i].parts);
    }
    free(talk->flags);
    free(talk);
}

static flag *place_of(flag *flags, uint64_t capacity, uint64_t address) {
    uint64_t at = address * 0x9e3779b97f4a7c15u >> 20;
    while (flags[at % capacity].address && flags[at % capacity].address != address)
        at++;
    return &flags[at % capacity];
}

static bool grow(kcsim_talk *talk) {
    flag *grown = calloc(talk->capacity * 2, sizeof *grown);
    if (!grown) return false;
    for (uint64_t i = 0; i < talk->capacity; i++)
        if (talk->flags[i].address)
            *place_of(grown, talk->capacity * 2, talk->flags[i].address) = talk->flags[i];
    free(talk->flags);
    talk->flags = grown;
    talk->capacity *= 2;
    return true;
}

/* NULL where there is none, or no memory to `add` one. */
static flag *flag_at(kcsim_talk *talk, uint64_t address, bool add) {
    uint64_t word = address / 4 + 1;
    flag *found = place_of(talk->flags, talk->capacity, word);
    if (found->address) return found;
    if (!add) return NULL;
    if (talk->count * 2 >= talk->capacity) {
        if (!grow(talk)) {
            talk->failed = true;
            return NULL;
        }
        found = place_of(talk->flags, talk->capacity, word);
    }
    talk->count++;
    found->address = word;
    return found;
}

static void add_part(kcsim_talk *talk, flag *at, uint64_t owner, kcsim_known *known) {
    for (uint32_t i = 0; i < at->count; i++)
        if (at->parts[i].owner == owner) {
            join(talk, &at->parts[i].known, known);
            return;
        }
    part *grown = realloc(at->parts, (at->count + 1) * sizeof *grown);
    if (!grown) {
        talk->failed = true;
        return;
    }
    at->parts = grown;
    at->parts[at->count++] = (part){.owner = owner, .known = use(known)};
}

/* Who is within a scope: 0 all. */
static uint64_t owner_of(const kcsim_warp *warp, kcsim_scope scope) {
    if (scope == KCSIM_SCOPE_GPU) return 0;
    if (scope == KCSIM_SCOPE_CTA) return 1 + 2 * warp->block->linear;
    return 2 + 2 * warp->block->cluster->number;
}

/* Kernels without narrow scopes need but one part. */
static kcsim_scope nearest(const kcsim_warp *warp) {
    return warp->block->launch->code->narrow_scopes ? KCSIM_SCOPE_CTA : KCSIM_SCOPE_GPU;
}

static void release(kcsim_warp *warp, flag *at, kcsim_scope scope, bool relaxed) {
    kcsim_talk *talk = warp->block->worker->talk;
    kcsim_known *all = relaxed ? NULL : all_of(warp);
    for (kcsim_scope reach = nearest(warp); reach <= KCSIM_SCOPE_GPU; reach++) {
        if (reach > scope && scope != KCSIM_SCOPE_GPU) break;
        kcsim_known *told = relaxed ? warp->talker.fenced[reach] : all;
        if (told) add_part(talk, at, owner_of(warp, reach), told);
    }
    drop(all);
}

static void acquire(kcsim_warp *warp, const flag *at, kcsim_scope scope, bool relaxed) {
    for (uint32_t i = 0; i < at->count; i++)
        for (kcsim_scope reach = nearest(warp); reach <= scope; reach++) {
            if (at->parts[i].owner != owner_of(warp, reach)) continue;
            if (!relaxed) learn(warp, at->parts[i].known);
            else join(warp->block->worker->talk, &warp->talker.observed[reach], at->parts[i].known);
        }
}

/* ---- what warps do ---- */

kcsim_scope kcsim_scope_of(const kcsim_insn *insn) {
    switch (ptx_has(insn->source, PTX_GROUP_SCOPE)) {
    case PTX_M_CTA: return KCSIM_SCOPE_CTA;
    case PTX_M_CLUSTER: return KCSIM_SCOPE_CLUSTER;
    default: return KCSIM_SCOPE_GPU; /* .gpu, .gl, .sys; atomics without one; volatile */
    }
}

bool kcsim_is_strong(const kcsim_insn *insn) {
    ptx_modifier semantics = ptx_has(insn->source, PTX_GROUP_SEMANTICS);
    if (insn->kind == KCSIM_DO_BULK) return true; /* reductions; plain ones are no atomics */
    return insn->kind == KCSIM_DO_ATOMIC || (semantics != PTX_M_NONE && semantics != PTX_M_WEAK);
}

void kcsim_talk_forget(kcsim_warp *warp) {
    kcsim_talker *talker = &warp->talker;
    set(&talker->known, NULL);
    for (int i = 0; i < KCSIM_SCOPES; i++) {
        set(&talker->fenced[i], NULL);
        set(&talker->observed[i], NULL);
    }
}

void kcsim_talk_fence(kcsim_warp *warp, kcsim_scope scope) {
    kcsim_talker *talker = &warp->talker;
    for (kcsim_scope reach = 0; reach <= scope; reach++)
        learn(warp, talker->observed[reach]);
    kcsim_known *all = all_of(warp);
    for (kcsim_scope reach = 0; reach <= scope; reach++)
        set(&talker->fenced[reach], use(all));
    drop(all);
    if (warp->block->worker->past) kcsim_past_perform(warp->block->worker->past, warp);
    kcsim_order_tick(warp);
}

void kcsim_talk_pass(const kcsim_access *access) {
    kcsim_warp *warp = access->warp;
    kcsim_talk *talk = warp->block->worker->talk;
    const kcsim_insn *insn = access->insn;
    ptx_modifier semantics = ptx_has(insn->source, PTX_GROUP_SEMANTICS);
    kcsim_scope scope = kcsim_scope_of(insn);
    bool writes = access->kind != KCSIM_ACCESS_READ, reads = access->kind != KCSIM_ACCESS_WRITE;
    bool releases = semantics == PTX_M_RELEASE || semantics == PTX_M_ACQ_REL;
    bool acquires = semantics == PTX_M_ACQUIRE || semantics == PTX_M_ACQ_REL;
    bool tells = writes && (releases || warp->talker.fenced[0]);
    if (writes && releases && warp->block->worker->past)
        kcsim_past_perform(warp->block->worker->past, warp);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        flag *at = flag_at(talk, access->address[__builtin_ctz(rest)], tells);
        if (!at) continue;
        if (reads) acquire(warp, at, scope, !acquires);
        if (writes && !reads) drop_parts(at);
        if (tells) release(warp, at, scope, !releases);
    }
    if (writes && releases) kcsim_order_tick(warp);
}

void kcsim_talk_meet(kcsim_block *block, uint32_t warps) {
    kcsim_talk *talk = block->worker->talk;
    kcsim_talker all = {.known = NULL};
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const kcsim_talker *talker = &block->warps[w].talker;
        join(talk, &all.known, talker->known);
        for (int i = 0; i < KCSIM_SCOPES; i++)
            join(talk, &all.fenced[i], talker->fenced[i]);
    }
    for (uint32_t w = 0; w < block->warp_count; w++) {
        kcsim_talker *talker = &block->warps[w].talker;
        if (!(warps >> w & 1)) continue;
        set(&talker->known, use(all.known));
        for (int i = 0; i < KCSIM_SCOPES; i++)
            set(&talker->fenced[i], use(all.fenced[i]));
    }
    drop(all.known);
    for (int i = 0; i < KCSIM_SCOPES; i++)
        drop(all.fenced[i]);
}

void kcsim_talk_share(kcsim_warp *warp) {
    const kcsim_cluster *cluster = warp->block->cluster;
    for (uint32_t b = 0; b < cluster->count; b++)
        for (uint32_t w = 0; w < cluster->blocks[b].warp_count; w++) {
            const kcsim_talker *other = &cluster->blocks[b].warps[w].talker;
            join(warp->block->worker->talk, &warp->talker.known, other->known);
            for (int i = 0; i < KCSIM_SCOPES; i++)
                join(warp->block->worker->talk, &warp->talker.fenced[i], other->fenced[i]);
        }
}
