/* Frames for routines that recurse, and memory that grows: alloca.
 *
 * Such a routine is copied once a kernel. Its variables lie in a frame on a stack at the end of the
 * thread's local memory; one register holds the running frame, one the stack's free end. A caller
 * that recurses saves its registers, because the callee uses the same ones:
 *
 *     top:  saved registers | caller's frame, return site | callee's frame: results, parameters...
 *                                                         ^ frame                    new top ^
 *
 * A return is a brx over all places that were called from. Everything here is made of ordinary
 * statements, so that definedness, bounds and counters hold as anywhere. */
#include "runtime/sim/cuda/flatten.h"

#include <stdlib.h>
#include <string.h>

#define HEADER 16 /* the caller's frame, the return site */
#define ALIGNMENT 16

static uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

/* The last statement's operand becomes known later. */
static bool patch(kcsim_flattener *state, uint32_t operand, kcsim_late what,
                  const kcsim_shared *shared) {
    if (!kcsim_array_grow((void **)&state->patches, state->patch_count, &state->patch_capacity,
                          sizeof *state->patches))
        return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    state->patches[state->patch_count++] =
        (kcsim_patch){(uint32_t)state->flat->count - 1, operand, what, shared};
    return true;
}

/* A load or a store in local memory, of `bytes` to or from a register. */
static bool move_local(kcsim_flattener *state, const ptx_statement *like, ptx_op op, unsigned bytes,
                       uint32_t reg, ptx_operand place) {
    ptx_statement move = kcsim_flat_make(like, op,
                                         bytes == 8   ? PTX_B64
                                         : bytes == 4 ? PTX_B32
                                         : bytes == 2 ? PTX_B16
                                                      : PTX_B8);
    move.modifiers[PTX_GROUP_SPACE] = PTX_M_LOCAL;
    if (op == PTX_OP_LD) return KCSIM_EMIT(state, move, kcsim_flat_register(reg), place);
    return KCSIM_EMIT(state, move, place, kcsim_flat_register(reg));
}

static bool add(kcsim_flattener *state, const ptx_statement *like, uint32_t to, uint32_t from,
                int64_t what) {
    return KCSIM_EMIT(state, kcsim_flat_make(like, PTX_OP_ADD, PTX_U64), kcsim_flat_register(to),
                      kcsim_flat_register(from), kcsim_flat_integer(what));
}

bool kcsim_stack_begin(kcsim_flattener *state) {
    ptx_statement like = {.line = state->entry->line,
                          .text = "stack",
                          .function = state->entry->name,
                          .guard = PTX_NO_REGISTER};
    ptx_statement move = kcsim_flat_make(&like, PTX_OP_MOV, PTX_U64);
    return kcsim_flat_new_register(state, 8, &state->frame) &&
           kcsim_flat_new_register(state, 8, &state->top) &&
           KCSIM_EMIT(state, move, kcsim_flat_register(state->frame), kcsim_flat_integer(0)) &&
           patch(state, 1, KCSIM_LATE_BASE, NULL) &&
           KCSIM_EMIT(state, move, kcsim_flat_register(state->top), kcsim_flat_integer(0)) &&
           patch(state, 1, KCSIM_LATE_BASE, NULL);
}

/* ---- memory that grows ----------------------------------------------------------------------- */

/* A register of 32 bits from one of 64, or back; the same where both are 64. */
static bool convert(kcsim_flattener *state, const ptx_statement *like, ptx_type to, ptx_operand d,
                    ptx_type from, ptx_operand a) {
    ptx_statement convert = kcsim_flat_make(like, to == from ? PTX_OP_MOV : PTX_OP_CVT, to);
    if (to != from) {
        convert.types[1] = from;
        convert.type_count = 2;
    }
    return KCSIM_EMIT(state, convert, d, a);
}

/* A trap where top is past the end. */
static bool stop_behind_end(kcsim_flattener *state, const ptx_statement *like) {
    ptx_statement compare = kcsim_flat_make(like, PTX_OP_SETP, PTX_U64);
    ptx_statement trap = kcsim_flat_make(like, PTX_OP_TRAP, PTX_NO_TYPE);
    uint32_t above = 0;
    compare.modifiers[PTX_GROUP_COMPARE] = PTX_M_GT;
    if (!kcsim_flat_new_register(state, 0, &above) ||
        !KCSIM_EMIT(state, compare, kcsim_flat_register(above), kcsim_flat_register(state->top),
                    kcsim_flat_integer(0)) ||
        !patch(state, 2, KCSIM_LATE_END, NULL))
        return false;
    trap.guard = above;
    return KCSIM_EMIT(state, trap, kcsim_flat_integer(KCSIM_TRAP_STACK));
}

/* top rounded up is the answer; top moves on behind it. */
static bool allocate(kcsim_flattener *state, const ptx_statement *statement, ptx_type type) {
    int64_t align = statement->operand_count > 2 ? statement->operands[2].integer : 8;
    ptx_statement mask = kcsim_flat_make(statement, PTX_OP_AND, PTX_B64);
    ptx_statement sum = kcsim_flat_make(statement, PTX_OP_ADD, PTX_U64);
    uint32_t size = 0;
    if (align <= 0 || (align & (align - 1)) != 0 || align > 1024)
        return kcsim_flat_fail(state, statement->line, "no alignment: '%s'", statement->text);
    if (statement->guard != PTX_NO_REGISTER)
        return kcsim_flat_fail(state, statement->line, "alloca has no guard: '%s'",
                               statement->text);
    return kcsim_flat_new_register(state, 8, &size) &&
           convert(state, statement, PTX_U64, kcsim_flat_register(size), type,
                   statement->operands[1]) &&
           add(state, statement, state->top, state->top, align - 1) &&
           KCSIM_EMIT(state, mask, kcsim_flat_register(state->top),
                      kcsim_flat_register(state->top), kcsim_flat_integer(-align)) &&
           convert(state, statement, type, statement->operands[0], PTX_U64,
                   kcsim_flat_register(state->top)) &&
           KCSIM_EMIT(state, sum, kcsim_flat_register(state->top),
                      kcsim_flat_register(state->top), kcsim_flat_register(size)) &&
           stop_behind_end(state, statement);
}

bool kcsim_stack_statement(kcsim_flattener *state, const ptx_statement *statement) {
    ptx_type type = statement->type_count == 1 ? statement->types[0] : PTX_NO_TYPE;
    if (type != PTX_U32 && type != PTX_U64)
        return kcsim_flat_fail(state, statement->line, ".u32 or .u64 is needed: '%s'",
                               statement->text);
    if (statement->op == PTX_OP_ALLOCA) return allocate(state, statement, type);
    if (statement->op == PTX_OP_STACKSAVE)
        return convert(state, statement, type, statement->operands[0], PTX_U64,
                       kcsim_flat_register(state->top));
    return convert(state, statement, PTX_U64, kcsim_flat_register(state->top), type,
                   statement->operands[0]);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool place_formal(kcsim_flattener *state, kcsim_shared *shared, ptx_variable *formal) {
    ptx_variable *copy = kcsim_arena_alloc(&state->module->arena, sizeof *copy);
    if (!copy) return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    *copy = *formal;
    copy->space = PTX_SPACE_LOCAL;
    copy->in_frame = true;
    copy->address = round_up(shared->frame_bytes, formal->align ? formal->align : 1);
    shared->frame_bytes = copy->address + formal->bytes;
    shared->formals[shared->formal_count++] = (kcsim_variable_pair){formal, copy};
    return true;
}

static kcsim_shared *shared_copy(kcsim_flattener *state, const ptx_routine *routine) {
    for (size_t i = 0; i < state->shared_count; i++)
        if (state->shared[i]->routine == routine) return state->shared[i];
    kcsim_arena *arena = &state->module->arena;
    kcsim_shared *made = kcsim_arena_alloc(arena, sizeof *made);
    uint32_t formals = routine->result_count + routine->parameter_count;
    if (!made || !kcsim_array_grow((void **)&state->shared, state->shared_count,
                                   &state->shared_capacity, sizeof(kcsim_shared *)))
        return NULL;
    *made = (kcsim_shared){.routine = routine};
    made->formals = kcsim_arena_alloc(arena, (formals + 1) * sizeof *made->formals);
    if (!made->formals) return NULL;
    state->shared[state->shared_count++] = made;
    for (uint32_t i = 0; i < routine->result_count; i++)
        if (!place_formal(state, made, routine->results[i])) return NULL;
    for (uint32_t i = 0; i < routine->parameter_count; i++)
        if (!place_formal(state, made, routine->parameters[i])) return NULL;
    return made;
}

/* Stores or loads the registers of the caller and of all it was copied into, from top on. */
static bool keep_registers(kcsim_flattener *state, const kcsim_frame *where,
                           const ptx_statement *like, bool save, uint64_t *bytes) {
    ptx_statement to_word = kcsim_flat_make(like, PTX_OP_SELP, PTX_B32);
    ptx_statement to_predicate = kcsim_flat_make(like, PTX_OP_SETP, PTX_U32);
    uint32_t word = 0;
    bool done = kcsim_flat_new_register(state, 4, &word);
    to_predicate.modifiers[PTX_GROUP_COMPARE] = PTX_M_NE;
    *bytes = 0;
    for (; where && where->shared; where = where->caller)
        for (size_t i = 0; done && i < where->routine->register_count; i++) {
            uint32_t reg = where->first_register + (uint32_t)i, kept = reg;
            unsigned size = where->routine->registers[i].bytes;
            if (size > 8)
                return kcsim_flat_fail(state, like->line,
                                       "a function that recurses has 128-bit registers ('%s')",
                                       where->routine->name);
            if (size == 0) kept = word;
            *bytes = round_up(*bytes, size ? size : 4);
            ptx_operand place = kcsim_flat_memory(state->top, (int64_t)*bytes);
            if (size == 0 && save)
                done = KCSIM_EMIT(state, to_word, kcsim_flat_register(word), kcsim_flat_integer(1),
                                  kcsim_flat_integer(0), kcsim_flat_register(reg));
            done = done && move_local(state, like, save ? PTX_OP_ST : PTX_OP_LD, size ? size : 4,
                                      kept, place);
            if (done && size == 0 && !save)
                done = KCSIM_EMIT(state, to_predicate, kcsim_flat_register(reg),
                                  kcsim_flat_register(word), kcsim_flat_integer(0));
            *bytes += size ? size : 4;
        }
    *bytes = round_up(*bytes, ALIGNMENT);
    return done;
}

static unsigned piece(const ptx_variable *variable, uint64_t at) {
    uint64_t left = variable->bytes - at;
    unsigned size = variable->align >= 8 ? 8 : variable->align >= 4 ? 4 : 1;
    while (size > left || at % size != 0)
        size /= 2;
    return size;
}

/* Piece by piece through registers: from the caller's variable into the callee's frame. */
static bool pass(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *like,
                 ptx_variable *actual, const ptx_variable *formal, int64_t frame_at) {
    unsigned size;
    for (uint64_t at = 0; at < formal->bytes; at += size) {
        uint32_t reg;
        size = piece(formal, at);
        if (!kcsim_flat_new_register(state, size == 8 ? 8 : 4, &reg) ||
            !move_local(state, like, PTX_OP_LD, size, reg,
                        kcsim_flat_place(state, where, actual, (int64_t)at)) ||
            !move_local(state, like, PTX_OP_ST, size, reg,
                        kcsim_flat_memory(state->top, frame_at + (int64_t)(formal->address + at))))
            return false;
    }
    return true;
}

static bool fits(kcsim_flattener *state, const ptx_statement *call, const ptx_operand *list,
                 ptx_variable *const *formals, uint32_t count) {
    uint32_t given = list ? list->element_count : 0;
    bool good = given == count;
    for (uint32_t i = 0; good && i < count; i++)
        good = list->elements[i].kind == PTX_OPERAND_VARIABLE &&
               list->elements[i].variable->bytes == formals[i]->bytes;
    if (good) return true;
    return kcsim_flat_fail(state, call->line, "a call with other arguments than it needs: '%s'",
                           call->text);
}

static bool jump(kcsim_flattener *state, const ptx_statement *call, uint64_t saved,
                 const kcsim_shared *shared) {
    uint32_t site;
    ptx_statement move = kcsim_flat_make(call, PTX_OP_MOV, PTX_U32);
    ptx_statement branch = kcsim_flat_make(call, PTX_OP_BRA, PTX_NO_TYPE);
    int64_t header = (int64_t)saved;
    return kcsim_flat_new_register(state, 4, &site) &&
           KCSIM_EMIT(state, move, kcsim_flat_register(site),
                      kcsim_flat_integer((int64_t)state->site_count)) &&
           move_local(state, call, PTX_OP_ST, 8, state->frame,
                      kcsim_flat_memory(state->top, header)) &&
           move_local(state, call, PTX_OP_ST, 4, site, kcsim_flat_memory(state->top, header + 8)) &&
           add(state, call, state->frame, state->top, header + HEADER) &&
           add(state, call, state->top, state->frame, 0) &&
           patch(state, 2, KCSIM_LATE_FRAME, shared) && stop_behind_end(state, call) &&
           KCSIM_EMIT(state, branch,
                      (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER}) &&
           patch(state, 0, KCSIM_LATE_ENTRY, shared);
}

/* Behind the call: results out of the callee's frame, then the caller's frame and registers. */
static bool come_back(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                      uint64_t saved, const kcsim_shared *shared, const ptx_operand *results) {
    if (!kcsim_array_grow((void **)&state->sites, state->site_count, &state->site_capacity,
                          sizeof *state->sites))
        return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    state->sites[state->site_count++] = (uint32_t)state->flat->count;
    int64_t below = (int64_t)(saved + HEADER);
    bool done = add(state, call, state->top, state->frame, -below) &&
                move_local(state, call, PTX_OP_LD, 8, state->frame,
                           kcsim_flat_memory(state->frame, -HEADER));
    for (uint32_t i = 0; results && i < results->element_count; i++) {
        const ptx_variable *formal = shared->formals[i].to;
        unsigned size;
        for (uint64_t at = 0; done && at < formal->bytes; at += size) {
            uint32_t reg;
            size = piece(formal, at);
            done = kcsim_flat_new_register(state, size == 8 ? 8 : 4, &reg) &&
                   move_local(
                       state, call, PTX_OP_LD, size, reg,
                       kcsim_flat_memory(state->top, below + (int64_t)(formal->address + at))) &&
                   move_local(
                       state, call, PTX_OP_ST, size, reg,
                       kcsim_flat_place(state, where, results->elements[i].variable, (int64_t)at));
        }
    }
    return done && keep_registers(state, where, call, false, &saved);
}

bool kcsim_stack_call(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                      const ptx_routine *routine, const ptx_operand *results,
                      const ptx_operand *arguments) {
    kcsim_shared *shared = shared_copy(state, routine);
    uint64_t saved;
    if (!shared) return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    if (!fits(state, call, results, routine->results, routine->result_count) ||
        !fits(state, call, arguments, routine->parameters, routine->parameter_count) ||
        !keep_registers(state, where, call, true, &saved))
        return false;
    for (uint32_t i = 0; i < routine->parameter_count; i++)
        if (!pass(state, where, call, arguments->elements[i].variable,
                  shared->formals[routine->result_count + i].to, (int64_t)(saved + HEADER)))
            return false;
    return jump(state, call, saved, shared) &&
           come_back(state, where, call, saved, shared, results);
}

bool kcsim_stack_return(kcsim_flattener *state, const ptx_statement *like) {
    uint32_t site;
    return kcsim_flat_new_register(state, 4, &site) &&
           move_local(state, like, PTX_OP_LD, 4, site,
                      kcsim_flat_memory(state->frame, 8 - HEADER)) &&
           KCSIM_EMIT(state, kcsim_flat_make(like, PTX_OP_BRX, PTX_NO_TYPE),
                      kcsim_flat_register(site),
                      (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER}) &&
           patch(state, 1, KCSIM_LATE_RETURN_SITES, NULL);
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool copy_shared(kcsim_flattener *state, kcsim_shared *shared) {
    kcsim_frame where = {.routine = shared->routine, .shared = shared, .depth = 1};
    ptx_statement like = {.line = shared->routine->line,
                          .text = "ret",
                          .function = shared->routine->name,
                          .guard = PTX_NO_REGISTER};
    bool done = true;
    shared->entry = (uint32_t)state->flat->count;
    shared->copied = true;
    for (uint32_t i = 0; done && i < shared->formal_count; i++)
        done = kcsim_flat_pair(state, &where, shared->formals[i].from, shared->formals[i].to);
    done = done && kcsim_flat_copy(state, &where) && kcsim_stack_return(state, &like);
    free(where.pairs);
    return done;
}

static bool fill_sites(kcsim_flattener *state, ptx_operand *operand) {
    operand->elements =
        kcsim_arena_alloc(&state->module->arena, (state->site_count + 1) * sizeof(ptx_operand));
    if (!operand->elements) return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    operand->element_count = (uint32_t)state->site_count;
    for (size_t i = 0; i < state->site_count; i++)
        operand->elements[i] = (ptx_operand){
            .kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER, .integer = state->sites[i]};
    return true;
}

bool kcsim_stack_end(kcsim_flattener *state) {
    for (size_t i = 0; i < state->shared_count; i++) /* it grows on the way */
        if (!state->shared[i]->copied && !copy_shared(state, state->shared[i])) return false;
    kcsim_flat *flat = state->flat;
    uint64_t base = round_up(flat->local_bytes, ALIGNMENT);
    flat->local_bytes = base + state->module->stack_bytes;
    for (size_t i = 0; i < state->patch_count; i++) {
        const kcsim_patch *late = &state->patches[i];
        ptx_operand *operand = &flat->statements[late->statement].operands[late->operand];
        switch (late->what) {
        case KCSIM_LATE_ENTRY: operand->integer = late->shared->entry; break;
        case KCSIM_LATE_FRAME:
            operand->integer = (int64_t)round_up(late->shared->frame_bytes, ALIGNMENT);
            break;
        case KCSIM_LATE_BASE: operand->integer = (int64_t)base; break;
        case KCSIM_LATE_END: operand->integer = (int64_t)flat->local_bytes; break;
        case KCSIM_LATE_RETURN_SITES:
            if (!fill_sites(state, operand)) return false;
            break;
        }
    }
    return true;
}

void kcsim_stack_free(kcsim_flattener *state) {
    free(state->shared);
    free(state->patches);
    free(state->sites);
}
