/* Calls disappear: each call site gets its own copy of the callee, with registers and local
 * variables of its own.
 *
 *     call.uni (retval0), f, (param0);         st.param/ld.param on retval0 and param0 become
 * accesses to the
 *                                         ->   thread's local memory, and so do those on f's formal
 * parameters; `ret` in f becomes a branch behind the copy
 *
 * So the executor knows no frames, and lanes may diverge inside calls as anywhere. Recursion cannot
 * be expressed this way, nor calls through pointers: both are errors at load. */
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/code.h"

#define MOST_DEPTH 48
#define MOST_STATEMENTS 2000000u
#define MOST_REGISTERS 2000000u

typedef struct variable_pair {
    const ptx_variable *from;
    ptx_variable *to;
} variable_pair;

/* One copy of a routine. */
typedef struct frame {
    const ptx_routine *routine;
    const struct frame *caller;
    uint32_t first_register;
    variable_pair *pairs;
    size_t pair_count, pair_capacity;
    uint32_t *index; /* statement of the routine -> statement of the result; one more for its end */
    int depth;
} frame;

typedef struct flattener {
    ptx_module *module;
    kcsim_flat *flat;
    ptx_routine *entry;
} flattener;

static bool fail(flattener *state, uint32_t line, const char *text, const char *name) {
    ptx_error(state->module, line, text, name);
    return false;
}

static bool append(flattener *state, const ptx_statement *statement) {
    kcsim_flat *flat = state->flat;
    if (flat->count >= MOST_STATEMENTS)
        return fail(state, statement->line, "kernel '%s' is too large", state->entry->name);
    if (!kcsim_array_grow((void **)&flat->statements, flat->count, &flat->capacity,
                          sizeof *flat->statements))
        return fail(state, 0, "out of host memory%s", "");
    flat->statements[flat->count++] = *statement;
    return true;
}

static bool add_registers(flattener *state, const ptx_register *registers, size_t count) {
    kcsim_flat *flat = state->flat;
    for (size_t i = 0; i < count; i++) {
        if (flat->register_count >= MOST_REGISTERS ||
            !kcsim_array_grow((void **)&flat->registers, flat->register_count,
                              &flat->register_capacity, sizeof *flat->registers))
            return fail(state, 0, "kernel '%s' has too many registers", state->entry->name);
        flat->registers[flat->register_count++] = registers[i];
    }
    return true;
}

static void place_local(flattener *state, ptx_variable *variable) {
    uint64_t align = variable->align;
    variable->address = (state->flat->local_bytes + align - 1) / align * align;
    state->flat->local_bytes = variable->address + variable->bytes;
}

/* The copy of a local variable that belongs to this frame; module variables stand for themselves.
 */
static ptx_variable *variable_in(flattener *state, frame *where, ptx_variable *variable) {
    if (!variable || (variable->space != PTX_SPACE_LOCAL && variable->space != PTX_SPACE_PARAM))
        return variable;
    if (variable->space == PTX_SPACE_PARAM && where->depth == 0) return variable;
    for (size_t i = 0; i < where->pair_count; i++)
        if (where->pairs[i].from == variable) return where->pairs[i].to;
    ptx_variable *copy = kcsim_arena_alloc(&state->module->arena, sizeof *copy);
    if (!copy || !kcsim_array_grow((void **)&where->pairs, where->pair_count, &where->pair_capacity,
                                   sizeof *where->pairs)) {
        fail(state, 0, "out of host memory%s", "");
        return variable;
    }
    *copy = *variable;
    copy->space = PTX_SPACE_LOCAL;
    place_local(state, copy);
    where->pairs[where->pair_count++] = (variable_pair){variable, copy};
    return copy;
}

static void rewrite_operand(flattener *state, frame *where, ptx_operand *operand) {
    if (operand->reg != PTX_NO_REGISTER &&
        (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_MEMORY))
        operand->reg += where->first_register;
    operand->variable = variable_in(state, where, operand->variable);
    if (!operand->element_count) return;
    ptx_operand *elements =
        kcsim_arena_alloc(&state->module->arena, operand->element_count * sizeof *elements);
    if (!elements) {
        fail(state, 0, "out of host memory%s", "");
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
static bool lift_specials(flattener *state, ptx_statement *statement) {
    for (uint32_t i = 0; statement->op != PTX_OP_MOV && i < statement->operand_count; i++) {
        ptx_operand *operand = &statement->operands[i];
        if (operand->kind != PTX_OPERAND_SPECIAL) continue;
        ptx_register reg = {.bytes = special_is_wide(operand->special) ? 8 : 4};
        ptx_statement move = {.op = PTX_OP_MOV,
                              .line = statement->line,
                              .text = statement->text,
                              .guard = PTX_NO_REGISTER,
                              .type_count = 1,
                              .operand_count = 2};
        move.types[0] = reg.bytes == 8 ? PTX_U64 : PTX_U32;
        move.operands[0] = (ptx_operand){.kind = PTX_OPERAND_REGISTER,
                                         .reg = (uint32_t)state->flat->register_count};
        move.operands[1] = *operand;
        if (!add_registers(state, &reg, 1) || !append(state, &move)) return false;
        *operand = move.operands[0];
    }
    return true;
}

static bool copy_routine(flattener *state, frame *where);

static bool bind_arguments(flattener *state, frame *callee, frame *caller, const ptx_operand *list,
                           ptx_variable *const *formals, uint32_t count,
                           const ptx_statement *call) {
    uint32_t given = list ? list->element_count : 0;
    if (given != count)
        return fail(state, call->line, "a call of '%s' with the wrong number of arguments",
                    callee->routine->name);
    for (uint32_t i = 0; i < count; i++) {
        const ptx_operand *actual = &list->elements[i];
        if (actual->kind != PTX_OPERAND_VARIABLE)
            return fail(state, call->line, "arguments of a call must be .param variables ('%s')",
                        callee->routine->name);
        if (!kcsim_array_grow((void **)&callee->pairs, callee->pair_count, &callee->pair_capacity,
                              sizeof *callee->pairs))
            return fail(state, 0, "out of host memory%s", "");
        callee->pairs[callee->pair_count++] =
            (variable_pair){formals[i], variable_in(state, caller, actual->variable)};
    }
    return true;
}

static bool is_running(const frame *where, const ptx_routine *routine) {
    for (; where; where = where->caller)
        if (where->routine == routine) return true;
    return false;
}

/* `call f`, `call f, (a)`, `call (r), f, (a)`. */
static bool inline_call(flattener *state, frame *where, const ptx_statement *call) {
    const ptx_operand *results = NULL, *arguments = NULL, *target = &call->operands[0];
    if (target->kind == PTX_OPERAND_LIST) {
        results = target;
        target = &call->operands[1];
    }
    if (target + 1 < call->operands + call->operand_count) arguments = target + 1;
    if (target->kind == PTX_OPERAND_REGISTER)
        return fail(state, call->line, "calls through pointers are not supported%s", "");
    if (target->kind != PTX_OPERAND_ROUTINE || !target->routine->has_body)
        return fail(state, call->line, "calls '%s', which nothing here defines",
                    target->routine ? target->routine->name : call->text);
    if (is_running(where, target->routine) || where->depth >= MOST_DEPTH)
        return fail(state, call->line, "recursion is not supported ('%s')", target->routine->name);
    frame callee = {.routine = target->routine, .caller = where, .depth = where->depth + 1};
    bool done = bind_arguments(state, &callee, where, results, target->routine->results,
                               target->routine->result_count, call) &&
                bind_arguments(state, &callee, where, arguments, target->routine->parameters,
                               target->routine->parameter_count, call);
    uint32_t skip = (uint32_t)state->flat->count;
    if (done && call->guard != PTX_NO_REGISTER) { /* a guarded call is branched around */
        ptx_statement branch = {.op = PTX_OP_BRA,
                                .line = call->line,
                                .text = call->text,
                                .operand_count = 1,
                                .guard = call->guard + where->first_register,
                                .guard_negated = !call->guard_negated};
        branch.operands[0] = (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER};
        done = append(state, &branch);
    }
    done = done && copy_routine(state, &callee);
    if (done && call->guard != PTX_NO_REGISTER)
        state->flat->statements[skip].operands[0].integer = (int64_t)state->flat->count;
    free(callee.pairs);
    return done;
}

static bool copy_statement(flattener *state, frame *where, const ptx_statement *original) {
    ptx_statement statement = *original;
    if (statement.op == PTX_OP_CALL) return inline_call(state, where, original);
    if (statement.guard != PTX_NO_REGISTER) statement.guard += where->first_register;
    for (uint32_t i = 0; i < statement.operand_count; i++)
        rewrite_operand(state, where, &statement.operands[i]);
    if (statement.op == PTX_OP_RET && where->depth > 0) {
        statement.op = PTX_OP_BRA;
        statement.operand_count = 1;
        statement.operands[0] = (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER};
    }
    return lift_specials(state, &statement) && append(state, &statement);
}

static void resolve_list(flattener *state, const frame *where, ptx_operand *operand) {
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

/* Labels are known by index once the whole copy stands. */
static void resolve_branches(flattener *state, const frame *where) {
    const ptx_routine *routine = where->routine;
    for (size_t i = 0; i < routine->statement_count; i++) {
        ptx_op op = routine->statements[i].op;
        if (op != PTX_OP_BRA && op != PTX_OP_BRX && op != PTX_OP_RET) continue;
        ptx_statement *copy = &state->flat->statements[where->index[i + 1] - 1];
        ptx_operand *target = &copy->operands[op == PTX_OP_BRX ? 1 : 0];
        if (op == PTX_OP_RET) {
            if (where->depth > 0) target->integer = where->index[routine->statement_count];
        } else if (target->kind != PTX_OPERAND_LABEL) {
            fail(state, copy->line, "a branch needs a label: '%s'", copy->text);
        } else if (op == PTX_OP_BRA && target->label->target_count == 0) {
            target->integer = where->index[target->label->at];
        } else if (op == PTX_OP_BRX && target->label->target_count > 0) {
            resolve_list(state, where, target);
        } else {
            fail(state, copy->line, "not the kind of label this branch needs: '%s'", copy->text);
        }
    }
}

static bool copy_routine(flattener *state, frame *where) {
    const ptx_routine *routine = where->routine;
    where->first_register = (uint32_t)state->flat->register_count;
    where->index = malloc((routine->statement_count + 1) * sizeof *where->index);
    if (!where->index) return fail(state, 0, "out of host memory%s", "");
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
    flattener state = {.module = module, .flat = flat, .entry = entry};
    frame where = {.routine = entry};
    bool done = copy_routine(&state, &where);
    free(where.pairs);
    /* Falling off the end is a return. */
    ptx_statement end = {
        .op = PTX_OP_RET, .line = entry->line, .text = "ret", .guard = PTX_NO_REGISTER};
    return done && append(&state, &end);
}
