/* A bump allocator: everything a module owns is freed at once. Memory comes zeroed. */
#ifndef KCSIM_ARENA_H
#define KCSIM_ARENA_H

#include <stddef.h>

typedef struct kcsim_arena {
    struct kcsim_arena_chunk *chunks;
} kcsim_arena;

/* NULL only when the host is out of memory. Aligned for any type, and to 64 bytes when `bytes` is
 * 64 or more. */
void *kcsim_arena_alloc(kcsim_arena *arena, size_t bytes);
/* A copy of text[0..length) with a NUL after it. */
char *kcsim_arena_text(kcsim_arena *arena, const char *text, size_t length);
/* A malloc'd block is freed with the arena from now on; 0 when the host is out of memory. */
int kcsim_arena_adopt(kcsim_arena *arena, void *block);
void kcsim_arena_free(kcsim_arena *arena);

/* Makes room for one more element in a malloc'd array that doubles. False when the host is out of
 * memory. */
int kcsim_array_grow(void **items, size_t count, size_t *capacity, size_t item_bytes);

#endif
