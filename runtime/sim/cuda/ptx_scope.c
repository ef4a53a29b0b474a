#include "runtime/sim/cuda/ptx_scope.h"

#include <ctype.h>
#include <string.h>

static size_t hash(const char *text, size_t length) {
    size_t value = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        value = (value ^ (unsigned char)text[i]) * 1099511628211u;
    return value ^ value >> 29;
}

ptx_scope *ptx_scope_open(kcsim_arena *arena, ptx_scope *outer, size_t buckets) {
    ptx_scope *scope = kcsim_arena_alloc(arena, sizeof *scope);
    if (!scope) return NULL;
    scope->outer = outer;
    scope->buckets = kcsim_arena_alloc(arena, buckets * sizeof *scope->buckets);
    scope->bucket_count = scope->buckets ? buckets : 0;
    return scope->buckets ? scope : NULL;
}

ptx_name *ptx_scope_here(const ptx_scope *scope, const char *text, size_t length) {
    ptx_name *name = scope->buckets[hash(text, length) % scope->bucket_count];
    while (name && (name->length != length || memcmp(name->text, text, length) != 0))
        name = name->next;
    return name;
}

/* `%r12` is number 12 of the range `%r<20>`, written without leading zeros. */
static ptx_name *find_in_range(const ptx_scope *scope, const char *text, size_t length,
                               uint32_t *reg) {
    size_t stem = length;
    while (stem > 0 && isdigit((unsigned char)text[stem - 1]))
        stem--;
    if (stem == length || length - stem > 7 || (text[stem] == '0' && length - stem > 1))
        return NULL;
    ptx_name *name = ptx_scope_here(scope, text, stem);
    uint32_t number = 0;
    for (size_t i = stem; i < length; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    if (!name || name->kind != PTX_NAME_REGISTERS || number >= name->count) return NULL;
    *reg = name->first + number;
    return name;
}

ptx_name *ptx_scope_find(const ptx_scope *scope, const char *text, size_t length, uint32_t *reg) {
    for (; scope; scope = scope->outer) {
        ptx_name *name = ptx_scope_here(scope, text, length);
        bool bare_range = name && name->kind == PTX_NAME_REGISTERS && name->count > 0;
        if (name && !bare_range) {
            *reg = name->first;
            return name;
        }
        name = find_in_range(scope, text, length, reg);
        if (name) return name;
    }
    return NULL;
}

ptx_name *ptx_scope_add(kcsim_arena *arena, ptx_scope *scope, const char *text, size_t length,
                        ptx_name_kind kind) {
    if (ptx_scope_here(scope, text, length)) return NULL;
    ptx_name *name = kcsim_arena_alloc(arena, sizeof *name);
    if (!name) return NULL;
    ptx_name **bucket = &scope->buckets[hash(text, length) % scope->bucket_count];
    *name = (ptx_name){.text = text, .length = length, .kind = kind, .next = *bucket};
    *bucket = name;
    return name;
}
