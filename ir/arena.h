// Arena: memory that is freed all at once. One arena a compilation; passes may use a scratch arena of their own.
// Allocation never returns NULL: when the system is out of memory, or the arena passes its cap, the arena calls
// its `out_of_memory` hook, which must not return (the compiler's worker exits with a diagnostic; libkcrt_ref longjmps).
#ifndef KC_IR_ARENA_H
#define KC_IR_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct kc_arena kc_arena;

kc_arena *kc_arena_create(void);
void kc_arena_destroy(kc_arena *);                                  // accepts NULL
void kc_arena_on_out_of_memory(void (*hook)(void *), void *context); // process-wide; default: message and abort
void *kc_arena_alloc(kc_arena *, size_t bytes);                     // zeroed, aligned to 16
char *kc_arena_strndup(kc_arena *, const char *, size_t length);
char *kc_arena_strdup(kc_arena *, const char *);
char *kc_arena_printf(kc_arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t kc_arena_bytes(const kc_arena *);
void kc_arena_set_cap(kc_arena *, size_t bytes);                    // default: none
// Runs release(object) when the arena is destroyed, last registered first: for what an arena owns but did not allocate.
void kc_arena_defer(kc_arena *, void (*release)(void *), void *object);

#define KC_NEW(arena, type) ((type *)kc_arena_alloc((arena), sizeof(type)))
#define KC_NEW_ARRAY(arena, type, n) ((type *)kc_arena_alloc((arena), sizeof(type) * (size_t)(n)))

#endif
