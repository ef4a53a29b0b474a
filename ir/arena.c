// Bump allocation in chunks that double up to 1 MiB; a large request gets a chunk of its own.
#include "ir/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 16 << 10, LAST_CHUNK = 1 << 20, ALIGNMENT = 16 };

typedef struct chunk {
    struct chunk *next;
    size_t size, used; // of the bytes after the header
} chunk;

typedef struct deferred {
    void (*release)(void *);
    void *object;
    struct deferred *next;
} deferred;

struct kc_arena {
    chunk *chunks; // the first one is filled
    deferred *deferred;
    size_t bytes, cap, next_size;
};

enum { HEADER = (sizeof(chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

static void (*out_of_memory_hook)(void *);
static void *out_of_memory_context;

void kc_arena_on_out_of_memory(void (*hook)(void *), void *context) {
    out_of_memory_hook = hook;
    out_of_memory_context = context;
}

static _Noreturn void out_of_memory(void) {
    if (out_of_memory_hook) out_of_memory_hook(out_of_memory_context);
    fputs("kc: out of memory\n", stderr);
    abort();
}

kc_arena *kc_arena_create(void) {
    kc_arena *arena = calloc(1, sizeof *arena);
    if (!arena) out_of_memory();
    arena->cap = SIZE_MAX;
    arena->next_size = FIRST_CHUNK;
    return arena;
}

void kc_arena_destroy(kc_arena *arena) {
    if (!arena) return;
    for (deferred *d = arena->deferred; d; d = d->next)
        d->release(d->object);
    for (chunk *c = arena->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(arena);
}

void kc_arena_set_cap(kc_arena *arena, size_t bytes) {
    arena->cap = bytes;
}

size_t kc_arena_bytes(const kc_arena *arena) {
    return arena->bytes;
}

// The chunk with room for `bytes`; a big one goes second in the list, so that the first stays open
// for small requests.
static chunk *add_chunk(kc_arena *arena, size_t bytes) {
    size_t left = arena->cap > arena->bytes ? arena->cap - arena->bytes : 0;
    size_t size =
        bytes > arena->next_size / 4 || arena->next_size > left ? bytes : arena->next_size;
    if (size > SIZE_MAX - HEADER || size > left) out_of_memory();
    chunk *c = calloc(1, HEADER + size);
    if (!c) out_of_memory();
    c->size = size;
    arena->bytes += size;
    if (size == arena->next_size && arena->next_size < LAST_CHUNK) arena->next_size *= 2;
    chunk **at = arena->chunks && size == bytes ? &arena->chunks->next : &arena->chunks;
    c->next = *at;
    *at = c;
    return c;
}

void *kc_arena_alloc(kc_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX - HEADER - ALIGNMENT) out_of_memory();
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    chunk *c = arena->chunks;
    if (!c || bytes > c->size - c->used) c = add_chunk(arena, bytes);
    void *at = (char *)c + HEADER + c->used;
    c->used += bytes;
    return at;
}

void kc_arena_defer(kc_arena *arena, void (*release)(void *), void *object) {
    deferred *d = KC_NEW(arena, deferred);
    *d = (deferred){release, object, arena->deferred};
    arena->deferred = d;
}

char *kc_arena_strndup(kc_arena *arena, const char *text, size_t length) {
    char *copy = kc_arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *kc_arena_strdup(kc_arena *arena, const char *text) {
    return kc_arena_strndup(arena, text, strlen(text));
}

char *kc_arena_printf(kc_arena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = kc_arena_alloc(arena, (length < 0 ? 0 : (size_t)length) + 1);
    if (length > 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
