#include "runtime/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct kcrt_arena_block {
    kcrt_arena_block *next;
    size_t used, size;
    _Alignas(16) unsigned char data[];
};

static kcrt_arena_block *add_block(kcrt_arena *arena, size_t bytes) {
    size_t size = bytes > 4096 ? bytes : 4096;
    kcrt_arena_block *block = calloc(1, sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *kcrt_arena_alloc(kcrt_arena *arena, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    bytes = bytes ? (bytes + 15) & ~(size_t)15 : 16;
    if (arena->limit && bytes > arena->limit - arena->used) return NULL;
    kcrt_arena_block *block = arena->blocks;
    if (!block || bytes > block->size - block->used) block = add_block(arena, bytes);
    if (!block) return NULL;
    void *at = block->data + block->used;
    block->used += bytes;
    arena->used += bytes;
    return at;
}

char *kcrt_arena_string(kcrt_arena *arena, const char *text, size_t length) {
    char *copy = kcrt_arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void kcrt_arena_release(kcrt_arena *arena) {
    for (kcrt_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
    arena->used = 0;
}
