// Integer expressions: the pool, its interned nodes and its symbols. What nodes are made is decided
// by the constructors of the other files; all of them end in kc_expr_intern.
#include "ir/expr_internal.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_NODES = 64 };

struct kc_expr_chunk {
    kc_expr_chunk *next;
    int used;
    kc_expr nodes[CHUNK_NODES];
};

kc_expr_pool *kc_expr_pool_create(void) {
    return calloc(1, sizeof(kc_expr_pool));
}

void kc_expr_pool_destroy(kc_expr_pool *pool) {
    if (pool == NULL) return;
    for (kc_expr_chunk *c = pool->chunks, *next; c != NULL; c = next) {
        next = c->next;
        free(c);
    }
    for (int i = 0; i < pool->symbol_count; i++)
        free(pool->symbols[i].name);
    free(pool->symbols);
    free(pool->table);
    free(pool);
}

static uint64_t mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_node(const kc_expr *e) {
    uint64_t h = mix(mix(mix(1, (uint64_t)e->kind), (uint64_t)e->symbol), (uint64_t)e->value);
    return mix(mix(h, e->a ? e->a->hash : 0), e->b ? e->b->hash : 0);
}

static bool same_node(const kc_expr *x, const kc_expr *y) {
    return x->hash == y->hash && x->kind == y->kind && x->symbol == y->symbol &&
           x->value == y->value && x->a == y->a && x->b == y->b;
}

static const kc_expr **slot_of(const kc_expr_pool *pool, const kc_expr *e) {
    size_t i = e->hash & (pool->capacity - 1);
    while (pool->table[i] != NULL && !same_node(pool->table[i], e))
        i = (i + 1) & (pool->capacity - 1);
    return &pool->table[i];
}

static bool grow_table(kc_expr_pool *pool) {
    const kc_expr **old = pool->table;
    size_t old_capacity = pool->capacity;
    size_t capacity = old_capacity ? old_capacity * 2 : 64;
    const kc_expr **table = calloc(capacity, sizeof *table);
    if (table == NULL) return false;
    pool->table = table;
    pool->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] != NULL) *slot_of(pool, old[i]) = old[i];
    free(old);
    return true;
}

static kc_expr *new_node(kc_expr_pool *pool) {
    if (pool->chunks == NULL || pool->chunks->used == CHUNK_NODES) {
        kc_expr_chunk *c = malloc(sizeof *c);
        if (c == NULL) return NULL;
        c->next = pool->chunks;
        c->used = 0;
        pool->chunks = c;
    }
    return &pool->chunks->nodes[pool->chunks->used++];
}

const kc_expr *kc_expr_intern(kc_expr_pool *pool, kc_expr wanted) {
    const kc_expr *a = wanted.a, *b = wanted.b;
    wanted.depth = 1 + (a ? a->depth : 0);
    if (b != NULL && b->depth >= wanted.depth) wanted.depth = b->depth + 1;
    wanted.size = 1 + (a ? a->size : 0) + (b ? b->size : 0);
    if (wanted.depth > KC_EXPR_MAX_DEPTH || wanted.size > KC_EXPR_MAX_SIZE) return NULL;
    wanted.hash = hash_node(&wanted);
    if (pool->count * 2 >= pool->capacity && !grow_table(pool)) return NULL;
    const kc_expr **slot = slot_of(pool, &wanted);
    if (*slot != NULL) return *slot;
    kc_expr *e = new_node(pool);
    if (e == NULL) return NULL;
    *e = wanted;
    kc_expr_analyse(pool, e);
    pool->count++;
    return *slot = e;
}

const kc_expr *kc_expr_plain(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                             const kc_expr *b) {
    if (a == NULL || b == NULL) return NULL;
    return kc_expr_intern(pool, (kc_expr){.kind = kind, .a = a, .b = b});
}

const kc_expr *kc_expr_const(kc_expr_pool *pool, int64_t value) {
    return kc_expr_intern(pool, (kc_expr){.kind = KC_EXPR_CONST, .value = value});
}

const kc_expr *kc_expr_atom(kc_expr_pool *pool, kc_expr_kind kind, const kc_expr *a,
                            const kc_expr *b) {
    const kc_expr *e = kc_expr_plain(pool, kind, a, b);
    bool one = e != NULL && e->min == e->max && e->min != INT64_MIN && e->max != INT64_MAX;
    return one ? kc_expr_const(pool, e->min) : e;
}

const kc_expr *kc_expr_constant(kc_expr_pool *pool, kc_wide v) {
    return kc_wide_fits(v) ? kc_expr_const(pool, (int64_t)v) : NULL;
}

bool kc_expr_is_const(const kc_expr *e, int64_t *value) {
    if (e->kind != KC_EXPR_CONST) return false;
    if (value != NULL) *value = e->value;
    return true;
}

bool kc_expr_uses(const kc_expr *e, int wanted) {
    if (e->kind == KC_EXPR_SYMBOL) return e->symbol == wanted;
    return (e->a != NULL && kc_expr_uses(e->a, wanted)) ||
           (e->b != NULL && kc_expr_uses(e->b, wanted));
}

// ---- symbols ------------------------------------------------------------------------------------

int kc_expr_find_symbol(const kc_expr_pool *pool, const char *name, size_t length) {
    for (int i = 0; i < pool->symbol_count; i++) {
        const char *s = pool->symbols[i].name;
        if (strncmp(s, name, length) == 0 && s[length] == '\0') return i;
    }
    return -1;
}

int kc_expr_symbol_index(kc_expr_pool *pool, const char *name, size_t length) {
    int found = kc_expr_find_symbol(pool, name, length);
    if (found >= 0) return found;
    if (pool->symbol_count == pool->symbol_capacity) {
        int capacity = pool->symbol_capacity ? pool->symbol_capacity * 2 : 16;
        kc_expr_named *grown = realloc(pool->symbols, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return -1;
        pool->symbols = grown;
        pool->symbol_capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL) return -1;
    memcpy(copy, name, length);
    copy[length] = '\0';
    pool->symbols[pool->symbol_count] = (kc_expr_named){copy, {INT64_MIN / 4, INT64_MAX / 4, 1}};
    return pool->symbol_count++;
}

int kc_expr_symbol_count(const kc_expr_pool *pool) {
    return pool->symbol_count;
}

const char *kc_expr_symbol_name(const kc_expr_pool *pool, int index) {
    return pool->symbols[index].name;
}

const kc_expr *kc_expr_symbol_node(kc_expr_pool *pool, int index) {
    return index < 0 ? NULL
                     : kc_expr_intern(pool, (kc_expr){.kind = KC_EXPR_SYMBOL, .symbol = index});
}

const kc_expr *kc_expr_symbol(kc_expr_pool *pool, const char *name) {
    return kc_expr_symbol_node(pool, kc_expr_symbol_index(pool, name, strlen(name)));
}

void kc_expr_set_facts(kc_expr_pool *pool, int index, kc_expr_facts facts) {
    if (facts.multiple_of < 1) facts.multiple_of = 1;
    pool->symbols[index].facts = facts;
    // The pool owns its nodes, so that the symbol's may be brought up to date.
    const kc_expr *e = kc_expr_symbol_node(pool, index);
    if (e != NULL) kc_expr_analyse(pool, (kc_expr *)e);
}

kc_expr_facts kc_expr_get_facts(const kc_expr_pool *pool, int index) {
    return pool->symbols[index].facts;
}
