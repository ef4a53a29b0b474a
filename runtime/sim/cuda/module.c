/* Modules: parse, place variables, decode every kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/code.h"
#include "runtime/sim/cuda/ptx_scope.h"
#include "runtime/sim/state.h"

#define MOST_BYTES ((size_t)1 << 30)

/* ---- which images this machine takes ---- */

static bool is_other_image(const char *data, size_t size) {
    static const unsigned char elf[4] = {0x7f, 'E', 'L', 'F'}, fatbin[4] = {0x50, 0xed, 0x55, 0xba};
    return size >= 4 && (memcmp(data, elf, 4) == 0 || memcmp(data, fatbin, 4) == 0);
}

/* Plain targets run on anything as new; `a` on exactly that; `f` on the same family. */
static bool target_runs(const ptx_module *ptx, const kcsim_arch *arch) {
    int device = arch->major * 10 + arch->minor;
    if (ptx->target_suffix == 'a') return arch->suffix == 'a' && ptx->target == device;
    if (ptx->target_suffix == 'f') return ptx->target / 10 == arch->major && ptx->target <= device;
    return ptx->target <= device;
}

/* A newer PTX may not even parse: then its version is the news, not the word that was not
 * understood. */
static kcsim_status check_header(ptx_module *ptx, const kcsim_arch *arch) {
    char suffix[2] = {ptx->target_suffix, 0};
    char text[sizeof ptx->error];
    kcsim_status status = KCSIM_OK;
    if (ptx->version > arch->max_ptx_version) {
        snprintf(text, sizeof text,
                 ".version %d.%d is newer than %d.%d, the newest this machine knows",
                 ptx->version / 10, ptx->version % 10, arch->max_ptx_version / 10,
                 arch->max_ptx_version % 10);
        status = KCSIM_PTX_VERSION;
    } else if (ptx->target && !target_runs(ptx, arch)) {
        snprintf(text, sizeof text, ".target sm_%d%s does not run on %s", ptx->target, suffix,
                 arch->name);
        status = KCSIM_WRONG_TARGET;
    }
    if (status == KCSIM_OK) return KCSIM_OK;
    memcpy(ptx->error, text, sizeof text);
    ptx->status = (int)status;
    return status;
}

/* ---- variables ---- */

static kcsim_status place_variable(kcsim_machine *machine, kcsim_module *module,
                                   ptx_variable *variable) {
    kcsim_memory *memory = &machine->memory;
    if (!kcsim_array_grow((void **)&module->allocations, module->allocation_count,
                          &module->allocation_capacity, sizeof *module->allocations))
        return KCSIM_NO_MEMORY;
    uint64_t bytes = variable->bytes ? variable->bytes : 1;
    kcsim_allocation *made = variable->managed ? kcsim_memory_alloc_shared(memory, bytes)
                                               : kcsim_memory_alloc(memory, bytes);
    if (!made) return KCSIM_NO_MEMORY;
    made->read_only = variable->space == PTX_SPACE_CONST;
    variable->address = made->base;
    module->allocations[module->allocation_count++] = made->base;
    if (variable->space == PTX_SPACE_CONST) module->const_bytes += variable->bytes;
    if (variable->data)
        memcpy(memory->host + (made->base - memory->base), variable->data, variable->bytes);
    kcsim_memory_mark(memory, made->base, made->bytes); /* without a value they are zeros */
    return KCSIM_OK;
}

/* ---- pointers to functions ---- */

#define FIRST_CODE ((uint64_t)0x100000000000) /* where no memory is */

static void take_addresses(const ptx_routine *routine) {
    for (size_t i = 0; i < routine->statement_count; i++) {
        const ptx_statement *statement = &routine->statements[i];
        for (uint32_t k = 0; statement->op != PTX_OP_CALL && k < statement->operand_count; k++) {
            ptx_routine *named = statement->operands[k].routine;
            if (named) (named->alias_of ? named->alias_of : named)->address_taken = true;
        }
    }
}

/* Every function has an address of its own in the machine's life. */
static void give_addresses(kcsim_machine *machine, kcsim_module *module) {
    for (ptx_routine *routine = module->ptx.routines; routine; routine = routine->next) {
        routine->address = FIRST_CODE + machine->code_next;
        machine->code_next += 128;
    }
    for (ptx_routine *routine = module->ptx.routines; routine; routine = routine->next)
        take_addresses(routine);
}

static const ptx_variable *find_variable(const kcsim_module *module, const char *name) {
    for (const ptx_variable *variable = module->ptx.variables; variable; variable = variable->next)
        if (strcmp(variable->name, name) == 0 &&
            (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST))
            return variable;
    return NULL;
}

static bool address_of(const ptx_relocation *place, uint64_t *address) {
    uint32_t reg;
    const ptx_name *name =
        ptx_scope_find(place->scope, place->symbol, strlen(place->symbol), &reg);
    if (name && name->kind == PTX_NAME_ROUTINE && !name->routine->is_entry) {
        ptx_routine *routine = name->routine->alias_of ? name->routine->alias_of : name->routine;
        routine->address_taken = true;
        *address = routine->address;
        return true;
    }
    if (!name || name->kind != PTX_NAME_VARIABLE) return false;
    *address = name->variable->address;
    return name->variable->space == PTX_SPACE_GLOBAL || name->variable->space == PTX_SPACE_CONST;
}

static bool relocate(kcsim_machine *machine, kcsim_module *module, const ptx_variable *variable) {
    for (const ptx_relocation *place = variable->relocations; place; place = place->next) {
        uint64_t value;
        if (!address_of(place, &value) || place->offset + place->bytes > variable->bytes) {
            ptx_error(&module->ptx, place->line, "the address of '%s' cannot be a constant here",
                      place->symbol);
            return false;
        }
        value += (uint64_t)place->addend;
        memcpy(machine->memory.host + (variable->address - machine->memory.base) + place->offset,
               &value, place->bytes);
    }
    return true;
}

static kcsim_status place_variables(kcsim_machine *machine, kcsim_module *module) {
    for (ptx_variable *variable = module->ptx.variables; variable; variable = variable->next) {
        if (variable->space != PTX_SPACE_GLOBAL && variable->space != PTX_SPACE_CONST) continue;
        kcsim_status status = place_variable(machine, module, variable);
        if (status != KCSIM_OK) return status;
    }
    for (const ptx_variable *variable = module->ptx.variables; variable; variable = variable->next)
        if (!relocate(machine, module, variable)) return KCSIM_INVALID_PTX;
    return KCSIM_OK;
}

/* ---- kernels ---- */

static bool add_function(kcsim_module *module, ptx_routine *routine, kcsim_function **last) {
    kcsim_arena *arena = &module->ptx.arena;
    kcsim_function *function = kcsim_arena_alloc(arena, sizeof *function);
    if (!function) return false;
    function->name = routine->name;
    function->routine = routine;
    function->module = module;
    function->params =
        kcsim_arena_alloc(arena, (routine->parameter_count + 1) * sizeof *function->params);
    if (!function->params || !kcsim_decode_kernel(&module->ptx, routine, &function->code))
        return false;
    for (uint32_t i = 0; i < routine->parameter_count; i++)
        function->params[i] = (kcsim_param){.offset = routine->parameters[i]->address,
                                            .size = routine->parameters[i]->bytes,
                                            .align = routine->parameters[i]->align};
    if (*last) (*last)->next = function;
    else module->functions = function;
    *last = function;
    module->function_count++;
    return true;
}

static kcsim_status build(kcsim_machine *machine, kcsim_module *module, const char *text,
                          size_t size) {
    module->ptx.stack_bytes = machine->stack_bytes;
    bool parsed = ptx_parse(&module->ptx, text, size);
    kcsim_status status = check_header(&module->ptx, machine->arch);
    if (status != KCSIM_OK) return status;
    if (!parsed) return (kcsim_status)module->ptx.status;
    give_addresses(machine, module);
    status = place_variables(machine, module);
    kcsim_function *last = NULL;
    for (ptx_routine *routine = module->ptx.routines; status == KCSIM_OK && routine;
         routine = routine->next)
        if (routine->is_entry && routine->has_body && !add_function(module, routine, &last))
            status = KCSIM_INVALID_PTX;
    return status;
}

static void free_module(kcsim_machine *machine, kcsim_module *module) {
    for (size_t i = 0; i < module->allocation_count; i++)
        kcsim_memory_free(&machine->memory, module->allocations[i]);
    free(module->allocations);
    ptx_module_free(&module->ptx);
    free(module);
}

kcsim_status kcsim_module_load(kcsim_machine *machine, const char *ptx, size_t size, char *log,
                               size_t log_size, kcsim_module **out) {
    *out = NULL;
    if (log && log_size) log[0] = 0;
    if (is_other_image(ptx, size)) {
        if (log && log_size)
            snprintf(log, log_size, "this machine runs PTX, and this is a binary image");
        return KCSIM_NOT_PTX;
    }
    const char *end = memchr(ptx, 0, size);
    if (end) size = (size_t)(end - ptx);
    kcsim_module *module = size <= MOST_BYTES ? calloc(1, sizeof *module) : NULL;
    if (!module) return KCSIM_NO_MEMORY;
    pthread_mutex_lock(&machine->lock);
    kcsim_status status = build(machine, module, ptx, size);
    if (status == KCSIM_OK) {
        module->next = machine->modules;
        machine->modules = module;
        *out = module;
    } else {
        if (log && log_size)
            snprintf(log, log_size, "%s",
                     module->ptx.error[0] ? module->ptx.error : kcsim_status_text(status));
        free_module(machine, module);
    }
    pthread_mutex_unlock(&machine->lock);
    return status;
}

void kcsim_module_unload(kcsim_machine *machine, kcsim_module *module) {
    if (!module) return;
    pthread_mutex_lock(&machine->lock);
    kcsim_module **link = &machine->modules;
    while (*link && *link != module)
        link = &(*link)->next;
    if (*link) {
        *link = module->next;
        free_module(machine, module);
    }
    pthread_mutex_unlock(&machine->lock);
}

void kcsim_modules_free(kcsim_machine *machine) {
    while (machine->modules) {
        kcsim_module *next = machine->modules->next;
        free_module(machine, machine->modules);
        machine->modules = next;
    }
}

/* ---- questions ---- */

size_t kcsim_module_function_count(const kcsim_module *module) {
    return module->function_count;
}

const kcsim_function *kcsim_module_function_at(const kcsim_module *module, size_t index) {
    const kcsim_function *function = module->functions;
    while (function && index--)
        function = function->next;
    return function;
}

kcsim_status kcsim_module_find_function(const kcsim_module *module, const char *name,
                                        const kcsim_function **out) {
    const kcsim_function *function = module->functions;
    while (function && strcmp(function->name, name) != 0)
        function = function->next;
    *out = function;
    return function ? KCSIM_OK : KCSIM_NOT_FOUND;
}

kcsim_status kcsim_module_find_global(const kcsim_module *module, const char *name,
                                      uint64_t *address, size_t *bytes) {
    const ptx_variable *variable = find_variable(module, name);
    if (address) *address = variable ? variable->address : 0;
    if (bytes) *bytes = variable ? variable->bytes : 0;
    return variable ? KCSIM_OK : KCSIM_NOT_FOUND;
}

static int most_threads(const ptx_routine *routine) {
    const uint32_t *bound = routine->reqntid[0] ? routine->reqntid : routine->maxntid;
    uint64_t threads = (uint64_t)bound[0] * bound[1] * bound[2];
    return threads && threads < 1024 ? (int)threads : 1024;
}

kcsim_function_info kcsim_function_describe(const kcsim_function *function) {
    const ptx_routine *routine = function->routine;
    kcsim_function_info info = {.name = function->name,
                                .param_count = routine->parameter_count,
                                .params = function->params,
                                .param_bytes = routine->parameter_bytes,
                                .max_threads = most_threads(routine),
                                .static_shared = function->code.dynamic_shared_at,
                                .local_bytes = function->code.local_bytes,
                                .const_bytes = function->module->const_bytes,
                                .registers = function->code.registers,
                                .ptx_version = function->module->ptx.version,
                                .target = function->module->ptx.target,
                                .max_cluster = (int)routine->max_cluster,
                                .cluster_must_be_set =
                                    routine->explicit_cluster && !routine->cluster[0],
                                .grid_of_clusters = routine->blocks_are_clusters};
    for (int i = 0; i < 3; i++) {
        info.reqntid[i] = (int)routine->reqntid[i];
        info.cluster[i] = (int)routine->cluster[i];
    }
    return info;
}
