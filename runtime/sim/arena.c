#include "runtime/sim/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct kcsim_arena_chunk {
    struct kcsim_arena_chunk *next;
    char *at, *end;
    void *adopted;
};

static struct kcsim_arena_chunk *add_chunk(kcsim_arena *arena, size_t payload) {
    struct kcsim_arena_chunk *chunk = calloc(1, sizeof *chunk + payload);
    if (!chunk) return NULL;
    chunk->at = (char *)(chunk + 1);
    chunk->end = chunk->at + payload;
    /* A large block gets a chunk of its own behind the head, so that the head's room is not lost.
     */
    if (payload > CHUNK_BYTES && arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

static void *take(struct kcsim_arena_chunk *chunk, size_t bytes, size_t align) {
    uintptr_t start = ((uintptr_t)chunk->at + align - 1) & ~(uintptr_t)(align - 1);
    if (start > (uintptr_t)chunk->end || (uintptr_t)chunk->end - start < bytes) return NULL;
    chunk->at = (char *)start + bytes;
    return (void *)start;
}

void *kcsim_arena_alloc(kcsim_arena *arena, size_t bytes) {
    size_t align = bytes >= 64 ? 64 : 16;
    if (bytes > SIZE_MAX / 2) return NULL;
    if (bytes == 0) bytes = 1;
    void *block = arena->chunks ? take(arena->chunks, bytes, align) : NULL;
    if (block) return block;
    struct kcsim_arena_chunk *chunk =
        add_chunk(arena, bytes + align > CHUNK_BYTES ? bytes + align : CHUNK_BYTES);
    return chunk ? take(chunk, bytes, align) : NULL;
}

int kcsim_arena_adopt(kcsim_arena *arena, void *block) {
    struct kcsim_arena_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return 0;
    chunk->adopted = block;
    chunk->next = arena->chunks;
    if (arena->chunks) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        arena->chunks = chunk;
    }
    return 1;
}

char *kcsim_arena_text(kcsim_arena *arena, const char *text, size_t length) {
    char *copy = kcsim_arena_alloc(arena, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void kcsim_arena_free(kcsim_arena *arena) {
    while (arena->chunks) {
        struct kcsim_arena_chunk *next = arena->chunks->next;
        free(arena->chunks->adopted);
        free(arena->chunks);
        arena->chunks = next;
    }
}

int kcsim_array_grow(void **items, size_t count, size_t *capacity, size_t item_bytes) {
    if (count < *capacity) return 1;
    size_t wanted = *capacity ? *capacity * 2 : 16;
    if (wanted > SIZE_MAX / item_bytes) return 0;
    void *grown = realloc(*items, wanted * item_bytes);
    if (!grown) return 0;
    *items = grown;
    *capacity = wanted;
    return 1;
}
