/* Names and what they mean. Scopes nest: module, routine, the braces that inline assembly and call
 * sequences open. */
#ifndef KCSIM_PTX_SCOPE_H
#define KCSIM_PTX_SCOPE_H

#include "runtime/sim/cuda/ptx.h"

typedef enum ptx_name_kind {
    PTX_NAME_REGISTERS,
    PTX_NAME_VARIABLE,
    PTX_NAME_LABEL,
    PTX_NAME_ROUTINE
} ptx_name_kind;

typedef struct ptx_name {
    const char *text;
    size_t length;
    ptx_name_kind kind;
    uint32_t first,
        count; /* registers: `%r<5>` is first..first+4, count 5; a single one has count 0 */
    uint32_t vector; /* `.reg .v2`: each is so many registers, one behind the other; else 0 */
    ptx_variable *variable;
    ptx_label *label;
    ptx_routine *routine;
    struct ptx_name *next;
} ptx_name;

typedef struct ptx_scope {
    struct ptx_scope *outer;
    ptx_name **buckets;
    size_t bucket_count;
} ptx_scope;

ptx_scope *ptx_scope_open(kcsim_arena *arena, ptx_scope *outer, size_t buckets);
/* The entry for exactly this text in this scope alone. */
ptx_name *ptx_scope_here(const ptx_scope *scope, const char *text, size_t length);
/* Outwards through all scopes; ranges of registers match too, and *reg is then the register's
 * number. */
ptx_name *ptx_scope_find(const ptx_scope *scope, const char *text, size_t length, uint32_t *reg);
/* NULL when the name is taken in this scope. */
ptx_name *ptx_scope_add(kcsim_arena *arena, ptx_scope *scope, const char *text, size_t length,
                        ptx_name_kind kind);

#endif
