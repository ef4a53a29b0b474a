/* What the files of the flattener share. flatten.c copies routines into one list of statements,
 * flatten_call.c says what becomes of a call, flatten_stack.c keeps frames for what recurses. */
#ifndef KCSIM_FLATTEN_H
#define KCSIM_FLATTEN_H

#include "runtime/sim/cuda/code.h"

typedef struct kcsim_variable_pair {
    const ptx_variable *from;
    ptx_variable *to;
} kcsim_variable_pair;

/* A routine that recurses: one copy a kernel, whose variables lie in frames on a stack. */
typedef struct kcsim_shared {
    const ptx_routine *routine;
    uint32_t entry;       /* the copy's first statement */
    uint64_t frame_bytes; /* results and parameters first, in their order */
    kcsim_variable_pair *formals;
    uint32_t formal_count;
    bool copied;
} kcsim_shared;

/* One copy of a routine. */
typedef struct kcsim_frame {
    const ptx_routine *routine;
    const struct kcsim_frame *caller; /* NULL: the entry, or a shared copy */
    kcsim_shared *shared;             /* NULL: the entry and what is copied into it */
    uint32_t first_register;
    kcsim_variable_pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *index; /* statement of the routine -> statement of the result; one more for its end */
    int depth;       /* 0: the entry */
} kcsim_frame;

/* An operand that is known at the end. */
typedef enum kcsim_late {
    KCSIM_LATE_ENTRY,       /* where a shared copy begins */
    KCSIM_LATE_FRAME,       /* how large its frames are */
    KCSIM_LATE_BASE,        /* where the stack begins */
    KCSIM_LATE_END,         /* and ends */
    KCSIM_LATE_RETURN_SITES /* all places that shared copies return to */
} kcsim_late;

typedef struct kcsim_patch {
    uint32_t statement, operand;
    kcsim_late what;
    const kcsim_shared *shared;
} kcsim_patch;

typedef struct kcsim_flattener {
    ptx_module *module;
    kcsim_flat *flat;
    ptx_routine *entry;
    uint32_t frame, top; /* registers: the running frame, the stack's free end */
    bool has_stack;
    kcsim_shared **shared;
    size_t shared_count, shared_capacity;
    kcsim_patch *patches;
    size_t patch_count, patch_capacity;
    uint32_t *sites;
    size_t site_count, site_capacity;
} kcsim_flattener;

/* ---- flatten.c ------------------------------------------------------------------------------- */
bool kcsim_flat_fail(kcsim_flattener *state, uint32_t line, const char *text, const char *name);
bool kcsim_flat_append(kcsim_flattener *state, const ptx_statement *statement);
bool kcsim_flat_new_register(kcsim_flattener *state, uint8_t bytes, uint32_t *out);
/* The frame's copy of a variable; module variables stand for themselves. */
ptx_variable *kcsim_flat_variable(kcsim_flattener *state, kcsim_frame *where,
                                  ptx_variable *variable);
/* [variable + offset] of the frame's copy. */
ptx_operand kcsim_flat_place(kcsim_flattener *state, kcsim_frame *where, ptx_variable *variable,
                             int64_t offset);
bool kcsim_flat_pair(kcsim_flattener *state, kcsim_frame *where, const ptx_variable *from,
                     ptx_variable *to);
bool kcsim_flat_copy(kcsim_flattener *state, kcsim_frame *where);

/* A statement of one type in the place of `like`, whose guard it has. */
ptx_statement kcsim_flat_make(const ptx_statement *like, ptx_op op, ptx_type type);
ptx_operand kcsim_flat_register(uint32_t reg);
ptx_operand kcsim_flat_integer(int64_t value);
ptx_operand kcsim_flat_memory(uint32_t base, int64_t offset);
/* Appends it with these operands (as many as are given). */
bool kcsim_flat_emit(kcsim_flattener *state, ptx_statement statement, uint32_t count,
                     const ptx_operand *operands);
#define KCSIM_EMIT(state, statement, ...)                                                          \
    kcsim_flat_emit(state, statement, sizeof((ptx_operand[]){__VA_ARGS__}) / sizeof(ptx_operand),  \
                    (ptx_operand[]){__VA_ARGS__})

/* ---- flatten_call.c -------------------------------------------------------------------------- */
bool kcsim_flat_call(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call);
/* The entry reaches a routine that recurses, or memory that grows: it needs a stack. */
bool kcsim_flat_needs_stack(kcsim_flattener *state);

/* ---- flatten_stack.c ------------------------------------------------------------------------- */
/* The registers, and their first values. */
bool kcsim_stack_begin(kcsim_flattener *state);
/* A call of a routine that recurses. The lists are those of the statement, or NULL. */
bool kcsim_stack_call(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                      const ptx_routine *routine, const ptx_operand *results,
                      const ptx_operand *arguments);
bool kcsim_stack_return(kcsim_flattener *state, const ptx_statement *like);
/* alloca, stacksave, stackrestore; operands are those of the flat list already. */
bool kcsim_stack_statement(kcsim_flattener *state, const ptx_statement *statement);
/* Shared copies, and everything that had to wait for them. */
bool kcsim_stack_end(kcsim_flattener *state);
void kcsim_stack_free(kcsim_flattener *state);

#endif
