/* What becomes of a call.
 *
 *     of a routine           its copy; where it recurses, a jump to the one copy there is
 *     through a pointer      a comparison with each function of that type whose address is taken,
 *                            and its call; a pointer to none of them is a trap
 *     of printf and such     one instruction: exec_system.c
 */
#include "runtime/sim/cuda/flatten.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 48
#define MOST_CALLEES 256

typedef struct callees {
    ptx_routine *list[MOST_CALLEES];
    uint32_t count;
    bool too_many;
} callees;

/* The parts of `call f`, `call f, (a)`, `call (r), f, (a)`, `call (r), %p, (a), prototype`. */
typedef struct call_parts {
    const ptx_operand *results, *target, *arguments;
    const ptx_label *type; /* of a call through a pointer */
} call_parts;

static call_parts parts_of(const ptx_statement *call) {
    const ptx_operand *at = call->operands, *end = at + call->operand_count;
    call_parts parts = {0};
    if (at < end && at->kind == PTX_OPERAND_LIST) parts.results = at++;
    if (at < end) parts.target = at++;
    if (at < end && at->kind == PTX_OPERAND_LIST) parts.arguments = at++;
    if (at < end && at->kind == PTX_OPERAND_LABEL) parts.type = at->label;
    return parts;
}

static ptx_routine *named(ptx_routine *routine) {
    return routine->alias_of ? routine->alias_of : routine;
}

static bool same_sizes(ptx_variable *const *a, uint32_t a_count, ptx_variable *const *b,
                       uint32_t b_count) {
    if (a_count != b_count) return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (a[i]->bytes != b[i]->bytes) return false;
    return true;
}

static bool has_type(const ptx_routine *routine, const ptx_routine *type) {
    return same_sizes(routine->results, routine->result_count, type->results, type->result_count) &&
           same_sizes(routine->parameters, routine->parameter_count, type->parameters,
                      type->parameter_count);
}

static void add_callee(callees *found, ptx_routine *routine) {
    if (found->count == MOST_CALLEES) found->too_many = true;
    else found->list[found->count++] = routine;
}

/* The routines with a body that a call may reach. */
static void find_callees(const ptx_module *module, const ptx_statement *call, callees *found) {
    call_parts parts = parts_of(call);
    found->count = 0;
    found->too_many = false;
    if (!parts.target) return;
    if (parts.target->kind == PTX_OPERAND_ROUTINE) {
        ptx_routine *routine = named(parts.target->routine);
        if (routine->has_body) add_callee(found, routine);
        return;
    }
    if (parts.target->kind != PTX_OPERAND_REGISTER || !parts.type) return;
    for (uint32_t i = 0; i < parts.type->routine_count; i++)
        if (named(parts.type->routines[i])->has_body)
            add_callee(found, named(parts.type->routines[i]));
    for (ptx_routine *routine = module->routines; parts.type->prototype && routine;
         routine = routine->next)
        if (routine->has_body && !routine->is_entry && routine->address_taken &&
            has_type(routine, parts.type->prototype))
            add_callee(found, routine);
}

/* ---- who recurses ---------------------------------------------------------------------------- */

/* A walk over the calls from `routine`; true as soon as `found` says so of one that it reaches. */
static bool walk(ptx_module *module, ptx_routine *routine,
                 bool (*found)(ptx_module *, ptx_routine *, void *), void *context, int depth) {
    if (depth > 4 * MOST_DEPTH) return false; /* refused when it is copied */
    routine->mark = module->marks;
    for (size_t i = 0; i < routine->statement_count; i++) {
        if (routine->statements[i].op != PTX_OP_CALL) continue;
        callees *reached = malloc(sizeof *reached);
        bool yes = false;
        if (reached) find_callees(module, &routine->statements[i], reached);
        for (uint32_t k = 0; reached && k < reached->count && !yes; k++) {
            ptx_routine *callee = reached->list[k];
            yes =
                found(module, callee, context) ||
                (callee->mark != module->marks && walk(module, callee, found, context, depth + 1));
        }
        free(reached);
        if (yes) return true;
    }
    return false;
}

static bool is_the_one(ptx_module *module, ptx_routine *routine, void *context) {
    (void)module;
    return routine == context;
}

static bool recurses(ptx_module *module, ptx_routine *routine) {
    if (routine->recursion == PTX_RECURSION_UNKNOWN) {
        module->marks++;
        routine->recursion =
            walk(module, routine, is_the_one, routine, 0) ? PTX_RECURSES : PTX_RECURSES_NOT;
    }
    return routine->recursion == PTX_RECURSES;
}

static bool grows_stack(const ptx_routine *routine) {
    for (size_t i = 0; i < routine->statement_count; i++) {
        ptx_op op = routine->statements[i].op;
        if (op == PTX_OP_ALLOCA || op == PTX_OP_STACKSAVE || op == PTX_OP_STACKRESTORE) return true;
    }
    return false;
}

/* The one that is reached may recurse: asked when the walk is over, for it needs marks too. */
static bool note(ptx_module *module, ptx_routine *routine, void *context) {
    (void)module;
    callees *all = context;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i] == routine) return false;
    add_callee(all, routine);
    return grows_stack(routine);
}

bool kcsim_flat_needs_stack(kcsim_flattener *state) {
    callees *all = calloc(1, sizeof *all);
    if (!all) return false;
    state->module->marks++;
    bool needs = grows_stack(state->entry) || walk(state->module, state->entry, note, all, 0) ||
                 all->too_many;
    for (uint32_t i = 0; i < all->count && !needs; i++)
        needs = recurses(state->module, all->list[i]);
    free(all);
    return needs;
}

/* ---- calls that PTX does not define ---------------------------------------------------------- */

static const struct {
    const char *name;
    kcsim_system_call call;
    uint8_t result, count, bytes[5];
} system_calls[] = {
    {"vprintf", KCSIM_SYSTEM_PRINT, 4, 2, {8, 8}},
    {"__assertfail", KCSIM_SYSTEM_ASSERT, 0, 5, {8, 8, 4, 8, 8}},
    {"malloc", KCSIM_SYSTEM_ALLOCATE, 8, 1, {8}},
    {"free", KCSIM_SYSTEM_FREE, 0, 1, {8}},
};

/* A flat CALL: the system call, the place of its result (or 0), the places of its arguments. */
static bool system_call(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                        const call_parts *parts, size_t which) {
    uint32_t given = parts->arguments ? parts->arguments->element_count : 0;
    uint32_t results = parts->results ? parts->results->element_count : 0;
    bool fits = given == system_calls[which].count && results <= (system_calls[which].result > 0);
    ptx_statement statement = kcsim_flat_make(call, PTX_OP_CALL, PTX_NO_TYPE);
    statement.operands[0] = kcsim_flat_integer(system_calls[which].call);
    statement.operands[1] = kcsim_flat_integer(0);
    for (uint32_t i = 0; fits && i < given + results; i++) {
        const ptx_operand *actual =
            i < given ? &parts->arguments->elements[i] : &parts->results->elements[0];
        uint64_t bytes = i < given ? system_calls[which].bytes[i] : system_calls[which].result;
        ptx_operand *place = &statement.operands[i < given ? i + 2 : 1];
        fits = actual->kind == PTX_OPERAND_VARIABLE && actual->variable->bytes == bytes;
        if (!fits) break;
        *place = kcsim_flat_place(state, where, actual->variable, 0);
    }
    statement.operand_count = (uint8_t)(given + 2);
    if (!fits)
        return kcsim_flat_fail(state, call->line, "a call of '%s' with other arguments than its",
                               system_calls[which].name);
    return kcsim_flat_append(state, &statement);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool bind_arguments(kcsim_flattener *state, kcsim_frame *callee, kcsim_frame *caller,
                           const ptx_operand *list, ptx_variable *const *formals, uint32_t count,
                           const ptx_statement *call) {
    uint32_t given = list ? list->element_count : 0;
    if (given != count)
        return kcsim_flat_fail(state, call->line,
                               "a call of '%s' with the wrong number of arguments",
                               callee->routine->name);
    for (uint32_t i = 0; i < count; i++) {
        const ptx_operand *actual = &list->elements[i];
        if (actual->kind != PTX_OPERAND_VARIABLE)
            return kcsim_flat_fail(state, call->line,
                                   "arguments of a call must be .param variables ('%s')",
                                   callee->routine->name);
        if (!kcsim_flat_pair(state, callee, formals[i],
                             kcsim_flat_variable(state, caller, actual->variable)))
            return false;
    }
    return true;
}

static bool copy_callee(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                        const call_parts *parts, ptx_routine *routine) {
    if (recurses(state->module, routine))
        return kcsim_stack_call(state, where, call, routine, parts->results, parts->arguments);
    if (where->depth >= MOST_DEPTH)
        return kcsim_flat_fail(state, call->line, "calls nest too deeply ('%s')", routine->name);
    kcsim_frame callee = {
        .routine = routine, .caller = where, .shared = where->shared, .depth = where->depth + 1};
    bool done = bind_arguments(state, &callee, where, parts->results, routine->results,
                               routine->result_count, call) &&
                bind_arguments(state, &callee, where, parts->arguments, routine->parameters,
                               routine->parameter_count, call) &&
                kcsim_flat_copy(state, &callee);
    free(callee.pairs);
    return done;
}

/* A branch to what follows the statements that are appended after it: `patch_to_here`. */
static bool branch_ahead(kcsim_flattener *state, const ptx_statement *like, uint32_t guard,
                         bool negated, uint32_t *at) {
    ptx_statement branch = kcsim_flat_make(like, PTX_OP_BRA, PTX_NO_TYPE);
    branch.guard = guard;
    branch.guard_negated = negated;
    *at = (uint32_t)state->flat->count;
    return KCSIM_EMIT(state, branch,
                      (ptx_operand){.kind = PTX_OPERAND_LABEL, .reg = PTX_NO_REGISTER});
}

static void patch_to_here(kcsim_flattener *state, uint32_t branch) {
    state->flat->statements[branch].operands[0].integer = (int64_t)state->flat->count;
}

/* `if (pointer == f) f(); else if (pointer == g) g(); else trap;` */
static bool call_through(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                         const call_parts *parts, const callees *reached) {
    uint32_t pointer = parts->target->reg + where->first_register;
    uint32_t *ends = malloc((reached->count + 1) * sizeof *ends);
    bool done = ends != NULL;
    for (uint32_t i = 0; done && i < reached->count; i++) {
        ptx_statement compare = kcsim_flat_make(call, PTX_OP_SETP, PTX_U64);
        uint32_t same, next;
        compare.modifiers[PTX_GROUP_COMPARE] = PTX_M_EQ;
        done = kcsim_flat_new_register(state, 0, &same) &&
               KCSIM_EMIT(state, compare, kcsim_flat_register(same), kcsim_flat_register(pointer),
                          kcsim_flat_integer((int64_t)reached->list[i]->address)) &&
               branch_ahead(state, call, same, true, &next) &&
               copy_callee(state, where, call, parts, reached->list[i]) &&
               branch_ahead(state, call, PTX_NO_REGISTER, false, &ends[i]);
        if (done) patch_to_here(state, next);
    }
    ptx_statement trap = kcsim_flat_make(call, PTX_OP_TRAP, PTX_NO_TYPE);
    done = done && KCSIM_EMIT(state, trap, kcsim_flat_integer(KCSIM_TRAP_POINTER));
    for (uint32_t i = 0; done && i < reached->count; i++)
        patch_to_here(state, ends[i]);
    free(ends);
    return done;
}

static bool call_known(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call,
                       const callees *reached) {
    call_parts parts = parts_of(call);
    if (!parts.target)
        return kcsim_flat_fail(state, call->line, "a call of nothing: '%s'", call->text);
    if (parts.target->kind == PTX_OPERAND_REGISTER) {
        if (!parts.type || (!parts.type->prototype && !parts.type->routine_count))
            return kcsim_flat_fail(state, call->line,
                                   "a call through a pointer needs a .callprototype or "
                                   ".calltargets: '%s'",
                                   call->text);
        if (reached->too_many)
            return kcsim_flat_fail(state, call->line, "too many functions can be called: '%s'",
                                   call->text);
        return call_through(state, where, call, &parts, reached);
    }
    if (reached->count) return copy_callee(state, where, call, &parts, reached->list[0]);
    const char *name =
        parts.target->kind == PTX_OPERAND_ROUTINE ? parts.target->routine->name : call->text;
    for (size_t i = 0; i < sizeof system_calls / sizeof system_calls[0]; i++)
        if (strcmp(name, system_calls[i].name) == 0)
            return system_call(state, where, call, &parts, i);
    return kcsim_flat_fail(state, call->line, "calls '%s', which nothing here defines", name);
}

/* A guarded call is branched around. */
bool kcsim_flat_call(kcsim_flattener *state, kcsim_frame *where, const ptx_statement *call) {
    ptx_statement plain = *call;
    callees *reached = malloc(sizeof *reached);
    uint32_t skip = 0;
    bool guarded = call->guard != PTX_NO_REGISTER;
    bool done = reached != NULL;
    plain.guard = PTX_NO_REGISTER;
    if (done) find_callees(state->module, call, reached);
    if (done && guarded)
        done = branch_ahead(state, call, call->guard + where->first_register, !call->guard_negated,
                            &skip);
    done = done && call_known(state, where, &plain, reached);
    if (done && guarded) patch_to_here(state, skip);
    free(reached);
    return done;
}
