// A small arena for what lives exactly as long as one module or one JSON text: many allocations,
// one release.
#ifndef KCRT_ARENA_H
#define KCRT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct kcrt_arena_block kcrt_arena_block;
typedef struct {
    kcrt_arena_block *blocks;
    size_t used, limit; // bytes handed out, and the most that may be; limit 0: none
} kcrt_arena;

// Zeroed, aligned to 16. NULL when memory is out or the limit is reached.
void *kcrt_arena_alloc(kcrt_arena *, size_t count, size_t size);
char *kcrt_arena_string(kcrt_arena *, const char *text, size_t length); // a copy with a NUL
void kcrt_arena_release(kcrt_arena *); // leaves it empty, ready for use

#define KCRT_NEW(arena, type, count) ((type *)kcrt_arena_alloc(arena, (count), sizeof(type)))

#endif
