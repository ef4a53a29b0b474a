// Open addressing with linear probing; at most half full, never shrinks, removes by setting NULL.
#include "ir/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const void *key; // NULL: free
    size_t length;   // of text
    uint64_t hash;
    void *value;
} slot;

struct kc_map {
    kc_arena *arena;
    slot *slots;
    size_t capacity, used;
};

kc_map *kc_map_create(kc_arena *arena) {
    kc_map *map = KC_NEW(arena, kc_map);
    map->arena = arena;
    map->capacity = 16;
    map->slots = KC_NEW_ARRAY(arena, slot, map->capacity);
    return map;
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static uint64_t hash_text(const char *text, size_t length) {
    uint64_t hash = length;
    for (size_t i = 0; i < length; i++)
        hash = mix(hash ^ (unsigned char)text[i]);
    return hash;
}

static bool same_key(const slot *s, uint64_t hash, const void *key, size_t length, bool text) {
    if (s->hash != hash) return false;
    return text ? s->length == length && !memcmp(s->key, key, length) : s->key == key;
}

static slot *find(const kc_map *map, uint64_t hash, const void *key, size_t length, bool text) {
    size_t at = hash & (map->capacity - 1);
    while (map->slots[at].key && !same_key(&map->slots[at], hash, key, length, text))
        at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

static void grow(kc_map *map) {
    slot *old = map->slots;
    size_t n = map->capacity;
    map->capacity *= 2;
    map->slots = KC_NEW_ARRAY(map->arena, slot, map->capacity);
    for (size_t i = 0; i < n; i++) {
        if (!old[i].key) continue;
        size_t at = old[i].hash & (map->capacity - 1);
        while (map->slots[at].key)
            at = (at + 1) & (map->capacity - 1);
        map->slots[at] = old[i];
    }
}

void *kc_map_get(const kc_map *map, const void *key) {
    return find(map, mix((uintptr_t)key), key, 0, false)->value;
}

void kc_map_set(kc_map *map, const void *key, void *value) {
    if (2 * (map->used + 1) > map->capacity) grow(map);
    slot *s = find(map, mix((uintptr_t)key), key, 0, false);
    map->used += !s->key;
    *s = (slot){key, 0, mix((uintptr_t)key), value};
}

void *kc_map_get_text(const kc_map *map, const char *key, size_t length) {
    return find(map, hash_text(key, length), key, length, true)->value;
}

void kc_map_set_text(kc_map *map, const char *key, size_t length, void *value) {
    if (2 * (map->used + 1) > map->capacity) grow(map);
    uint64_t hash = hash_text(key, length);
    slot *s = find(map, hash, key, length, true);
    if (!s->key) {
        map->used++;
        *s = (slot){kc_arena_strndup(map->arena, key, length), length, hash, NULL};
    }
    s->value = value;
}
