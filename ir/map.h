// A hash map in an arena, keyed by pointers or by text (one kind a map). For look-ups alone: it has
// no order.
#ifndef KC_IR_MAP_H
#define KC_IR_MAP_H

#include "ir/arena.h"

typedef struct kc_map kc_map;

kc_map *kc_map_create(kc_arena *);
void *kc_map_get(const kc_map *, const void *key); // NULL when absent
void kc_map_set(kc_map *, const void *key, void *value);
void *kc_map_get_text(const kc_map *, const char *key, size_t length);
void kc_map_set_text(kc_map *, const char *key, size_t length, void *value); // copies the key

#endif
