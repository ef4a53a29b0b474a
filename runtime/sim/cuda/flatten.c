/* Calls disappear: each call site gets its own copy of the callee, with registers and local
 * variables of its own.
 *
 *     call.uni (retval0), f, (param0);      st.param and ld.param on retval0 and param0 become
 *                                      ->   accesses to the thread's local memory, and so do those
 *                                           on f's formal parameters; `ret` in f becomes a branch
 *                                           behind the copy
 *
 * So the executor knows no frames, and lanes may diverge inside calls as anywhere. Routines that
 * recurse are the exception: flatten_stack.c. */
#include "runtime/sim/cuda/flatten.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STATEMENTS 2000000u
#define MOST_REGISTERS 2000000u

bool kcsim_flat_fail(kcsim_flattener *state, uint32_t line, const char *text, const char *name) {
    ptx_error(state->module, line, text, name);
    return false;
}

ptx_statement kcsim_flat_make(const ptx_statement *like, ptx_op op, ptx_type type) {
    ptx_statement made = {.op = op,
                          .line = like->line,
                          .text = like->text,
                          .function = like->function,
                          .guard = like->guard,
                          .guard_negated = like->guard_negated,
                          .type_count = type == PTX_NO_TYPE ? 0 : 1};
    made.types[0] = type;
    return made;
}

ptx_operand kcsim_flat_register(uint32_t reg) {
    return (ptx_operand){.kind = PTX_OPERAND_REGISTER, .reg = reg};
}

ptx_operand kcsim_flat_integer(int64_t value) {
    return (ptx_operand){.kind = PTX_OPERAND_INTEGER, .reg = PTX_NO_REGISTER, .integer = value};
}

ptx_operand kcsim_flat_memory(uint32_t base, int64_t offset) {
    return (ptx_operand){.kind = PTX_OPERAND_MEMORY, .reg = base, .integer = offset};
}

bool kcsim_flat_emit(kcsim_flattener *state, ptx_statement statement, uint32_t count,
                     const ptx_operand *operands) {
    statement.operand_count = (uint8_t)count;
    memcpy(statement.operands, operands, count * sizeof *operands);
    return kcsim_flat_append(state, &statement);
}

bool kcsim_flat_append(kcsim_flattener *state, const ptx_statement *statement) {
    kcsim_flat *flat = state->flat;
    if (flat->count >= MOST_STATEMENTS)
        return kcsim_flat_fail(state, statement->line, "kernel '%s' is too large",
                               state->entry->name);
    if (!kcsim_array_grow((void **)&flat->statements, flat->count, &flat->capacity,
                          sizeof *flat->statements))
        return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    flat->statements[flat->count++] = *statement;
    return true;
}

static bool add_registers(kcsim_flattener *state, const ptx_register *registers, size_t count) {
    kcsim_flat *flat = state->flat;
    for (size_t i = 0; i < count; i++) {
        if (flat->register_count >= MOST_REGISTERS ||
            !kcsim_array_grow((void **)&flat->registers, flat->register_count,
                              &flat->register_capacity, sizeof *flat->registers))
            return kcsim_flat_fail(state, 0, "kernel '%s' has too many registers",
                                   state->entry->name);
        flat->registers[flat->register_count++] = registers[i];
    }
    return true;
}

bool kcsim_flat_new_register(kcsim_flattener *state, uint8_t bytes, uint32_t *out) {
    ptx_register reg = {.bytes = bytes};
    *out = (uint32_t)state->flat->register_count;
    return add_registers(state, &reg, 1);
}

bool kcsim_flat_pair(kcsim_flattener *state, kcsim_frame *where, const ptx_variable *from,
                     ptx_variable *to) {
    if (!kcsim_array_grow((void **)&where->pairs, where->pair_count, &where->pair_capacity,
                          sizeof *where->pairs))
        return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    where->pairs[where->pair_count++] = (kcsim_variable_pair){from, to};
    return true;
}

/* In the thread's local memory, or in the frame of what recurses. */
static void place_local(kcsim_flattener *state, const kcsim_frame *where, ptx_variable *variable) {
    uint64_t align = variable->align ? variable->align : 1;
    uint64_t *end = where->shared ? &where->shared->frame_bytes : &state->flat->local_bytes;
    variable->in_frame = where->shared != NULL;
    variable->address = (*end + align - 1) / align * align;
    *end = variable->address + variable->bytes;
}

ptx_variable *kcsim_flat_variable(kcsim_flattener *state, kcsim_frame *where,
                                  ptx_variable *variable) {
    if (!variable || (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_PARAM))
        return variable;
    if (variable->space == PTX_SPACE_PARAM && where->depth == 0) return variable;
    for (size_t i = 0; i < where->pair_count; i++)
        if (where->pairs[i].from == variable) return where->pairs[i].to;
    ptx_variable *copy = kcsim_arena_alloc(&state->module->arena, sizeof *copy);
    if (!copy || !kcsim_flat_pair(state, where, variable, copy)) {
        kcsim_flat_fail(state, 0, "out of host memory%s", "");
        return variable;
    }
    *copy = *variable;
    copy->space = PTX_SPACE_LOCAL;
    place_local(state, where, copy);
    return copy;
}

/* A variable in a frame: an offset from the register that holds the frame's address. */
static void into_frame(kcsim_flattener *state, ptx_operand *operand) {
    if (operand->kind != PTX_OPERAND_MEMORY || !operand->variable || !operand->variable->in_frame)
        return;
    operand->integer += (int64_t)operand->variable->address;
    operand->variable = NULL;
    operand->reg = state->frame;
}

ptx_operand kcsim_flat_place(kcsim_flattener *state, kcsim_frame *where, ptx_variable *variable,
                             int64_t offset) {
    ptx_operand place = kcsim_flat_memory(PTX_NO_REGISTER, offset);
    place.variable = kcsim_flat_variable(state, where, variable);
    into_frame(state, &place);
    return place;
}

static ptx_routine *named(ptx_routine *routine) {
    return routine->alias_of ? routine->alias_of : routine;
}

static void rewrite_operand(kcsim_flattener *state, kcsim_frame *where, ptx_operand *operand) {
    if (operand->reg != PTX_NO_REGISTER &&
        (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_MEMORY))
        operand->reg += where->first_register;
    operand->variable = kcsim_flat_variable(state, where, operand->variable);
    into_frame(state, operand);
    if (operand->kind == PTX_OPERAND_ROUTINE) /* its address */
        *operand = kcsim_flat_integer((int64_t)named(operand->routine)->address);
    if (!operand->element_count) return;
    ptx_operand *elements =
        kcsim_arena_alloc(&state->module->arena, operand->element_count * sizeof *elements);
    if (!elements) {
        kcsim_flat_fail(state, 0, "out of host memory%s", "");
        return;
    }
    for (uint32_t i = 0; i < operand->element_count; i++) {
        elements[i] = operand->elements[i];
        rewrite_operand(state, where, &elements[i]);
    }
    operand->elements = elements;
}

static bool special_is_wide(ptx_special special) {
    return special == PTX_SPECIAL_CLOCK64 || special == PTX_SPECIAL_GLOBALTIMER ||
           special == PTX_SPECIAL_GRIDID;
}

/* Special registers are read by `mov` alone; other instructions get the value from a register of
 * their own. */
static bool lift_specials(kcsim_flattener *state, ptx_statement *statement) {
    for (uint32_t i = 0; statement->op != PTX_OP_MOV && i < statement->operand_count; i++) {
        ptx_operand *operand = &statement->operands[i];
        if (operand->kind != PTX_OPERAND_SPECIAL) continue;
        bool wide = special_is_wide(operand->special);
        ptx_statement move = kcsim_flat_make(statement, PTX_OP_MOV, wide ? PTX_U64 : PTX_U32);
        uint32_t reg;
        move.guard = PTX_NO_REGISTER;
        if (!kcsim_flat_new_register(state, wide ? 8 : 4, &reg) ||
            !KCSIM_EMIT(state, move, kcsim_flat_register(reg), *operand))
            return false;
        *operand = kcsim_flat_register(reg);
    }
    return true;
}

/* The address of a variable in a frame is the frame's and an offset. */
static bool address_in_frame(kcsim_flattener *state, ptx_statement *statement) {
    for (uint32_t i = 0; i < statement->operand_count; i++) {
        ptx_operand *operand = &statement->operands[i];
        if (operand->kind != PTX_OPERAND_VARIABLE || !operand->variable->in_frame) continue;
        bool wide = statement->type_count == 1 && ptx_types[statement->types[0]].bits == 64;
        if (statement->op != PTX_OP_MOV || i != 1 || !wide)
            return kcsim_flat_fail(state, statement->line,
                                   "in a function that recurses, an address is taken by mov.u64 "
                                   "alone ('%s')",
                                   statement->text);
        int64_t offset = (int64_t)operand->variable->address + operand->integer;
        statement->op = PTX_OP_ADD;
        statement->types[0] = PTX_U64;
        statement->operands[1] = kcsim_flat_register(state->frame);
        statement->operands[2] = kcsim_flat_integer(offset);
        statement->operand_count = 3;
    }
    return true;
}

static bool is_stack_op(ptx_op op) {
    return op == PTX_OP_ALLOCA || op == PTX_OP_STACKSAVE || op == PTX_OP_STACKRESTORE;
}

static bool copy_statement(kcsim_flattener *state, kcsim_frame *where,
                           const ptx_statement *original) {
    ptx_statement statement = *original;
    if (statement.op == PTX_OP_CALL) return kcsim_flat_call(state, where, original);
    if (statement.guard != PTX_NO_REGISTER) statement.guard += where->first_register;
    bool of_parameters = ptx_has(original, PTX_GROUP_SPACE) == PTX_M_PARAM ||
                         ptx_has(original, PTX_GROUP_SPACE) == PTX_M_PARAM_FUNC;
    for (uint32_t i = 0; i < statement.operand_count; i++) {
        const ptx_operand *operand = &statement.operands[i];
        bool memory = operand->kind == PTX_OPERAND_MEMORY && operand->variable;
        rewrite_operand(state, where, &statement.operands[i]);
        if (memory && !operand->variable && of_parameters)
            statement.modifiers[PTX_GROUP_SPACE] = PTX_M_LOCAL;
    }
    if (statement.op == PTX_OP_RET && where->depth > 0) {
        statement.op = PTX_OP_BRA;
        statement.operand_count = 1;
        statement.operands[0] = (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER};
    }
    if (!lift_specials(state, &statement)) return false;
    if (is_stack_op(statement.op)) return kcsim_stack_statement(state, &statement);
    return address_in_frame(state, &statement) && kcsim_flat_append(state, &statement);
}

static void resolve_list(kcsim_flattener *state, const kcsim_frame *where, ptx_operand *operand) {
    const ptx_label *list = operand->label;
    operand->element_count = list->target_count;
    operand->elements = kcsim_arena_alloc(&state->module->arena,
                                          (list->target_count + 1) * sizeof *operand->elements);
    for (uint32_t i = 0; operand->elements && i < list->target_count; i++)
        operand->elements[i] = (ptx_operand){.kind = PTX_OPERAND_LABEL,
                                             .reg = PTX_NO_REGISTER,
                                             .integer = where->index[list->targets[i]->at]};
    if (!operand->elements) operand->element_count = 0;
}

static bool is_place(const ptx_label *label) {
    return label->target_count == 0 && label->routine_count == 0 && !label->prototype;
}

/* Labels are known by index once the whole copy stands. */
static void resolve_branches(kcsim_flattener *state, const kcsim_frame *where) {
    const ptx_routine *routine = where->routine;
    for (size_t i = 0; i < routine->statement_count; i++) {
        ptx_op op = routine->statements[i].op;
        if (op != PTX_OP_BRA && op != PTX_OP_BRX && op != PTX_OP_RET) continue;
        ptx_statement *copy = &state->flat->statements[where->index[i + 1] - 1];
        ptx_operand *target = &copy->operands[op == PTX_OP_BRX ? 1 : 0];
        if (op == PTX_OP_RET) {
            if (where->depth > 0) target->integer = where->index[routine->statement_count];
        } else if (target->kind != PTX_OPERAND_LABEL) {
            kcsim_flat_fail(state, copy->line, "a branch needs a label: '%s'", copy->text);
        } else if (op == PTX_OP_BRA && is_place(target->label)) {
            target->integer = where->index[target->label->at];
        } else if (op == PTX_OP_BRX && target->label->target_count > 0) {
            resolve_list(state, where, target);
        } else {
            kcsim_flat_fail(state, copy->line, "not the kind of label this branch needs: '%s'",
                            copy->text);
        }
    }
}

bool kcsim_flat_copy(kcsim_flattener *state, kcsim_frame *where) {
    const ptx_routine *routine = where->routine;
    where->first_register = (uint32_t)state->flat->register_count;
    where->index = malloc((routine->statement_count + 1) * sizeof *where->index);
    if (!where->index) return kcsim_flat_fail(state, 0, "out of host memory%s", "");
    bool done = add_registers(state, routine->registers, routine->register_count);
    for (size_t i = 0; done && i < routine->statement_count; i++) {
        where->index[i] = (uint32_t)state->flat->count;
        done = copy_statement(state, where, &routine->statements[i]);
    }
    where->index[routine->statement_count] = (uint32_t)state->flat->count;
    if (done) resolve_branches(state, where);
    free(where->index);
    return done && !state->module->error[0];
}

bool kcsim_flatten(ptx_module *module, ptx_routine *entry, kcsim_flat *flat) {
    kcsim_flattener state = {.module = module,
                             .flat = flat,
                             .entry = entry,
                             .frame = PTX_NO_REGISTER,
                             .top = PTX_NO_REGISTER};
    kcsim_frame where = {.routine = entry};
    /* Falling off the end is a return. */
    ptx_statement end = {.op = PTX_OP_RET,
                         .line = entry->line,
                         .text = "ret",
                         .function = entry->name,
                         .guard = PTX_NO_REGISTER};
    state.has_stack = kcsim_flat_needs_stack(&state);
    bool done = (!state.has_stack || kcsim_stack_begin(&state)) &&
                kcsim_flat_copy(&state, &where) && kcsim_flat_append(&state, &end) &&
                (!state.has_stack || kcsim_stack_end(&state));
    free(where.pairs);
    kcsim_stack_free(&state);
    return done && !module->error[0];
}
