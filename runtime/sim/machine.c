#include "runtime/sim/machine.h"

#include <stdlib.h>
#include <unistd.h>

#include "runtime/sim/state.h"

const char *kcsim_status_text(kcsim_status status) {
    switch (status) {
    case KCSIM_OK: return "ok";
    case KCSIM_INVALID: return "invalid argument";
    case KCSIM_NO_MEMORY: return "out of memory";
    case KCSIM_INVALID_PTX: return "invalid PTX";
    case KCSIM_WRONG_TARGET: return "PTX for another architecture";
    case KCSIM_PTX_VERSION: return "PTX version not supported";
    case KCSIM_NOT_PTX: return "not PTX";
    case KCSIM_NOT_FOUND: return "not found";
    case KCSIM_LAUNCH_LIMIT: return "launch over a limit";
    case KCSIM_FAULT: return "the kernel faulted";
    }
    return "unknown status";
}

kcsim_options kcsim_options_default(void) {
    return (kcsim_options){.checks = KCSIM_CHECK_ALL, .on_finding = KCSIM_ON_FINDING_ERROR};
}

static int host_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (int)cores;
}

kcsim_machine *kcsim_machine_create(const kcsim_arch *arch, const kcsim_options *options) {
    kcsim_machine *machine = arch ? calloc(1, sizeof *machine) : NULL;
    if (!machine) return NULL;
    machine->arch = arch;
    machine->options = options ? *options : kcsim_options_default();
    if (machine->options.memory <= 0) machine->options.memory = arch->total_memory;
    if (machine->options.multiprocessors <= 0)
        machine->options.multiprocessors = arch->multiprocessors;
    if (machine->options.host_threads <= 0) machine->options.host_threads = host_cores();
    machine->findings.owns_text = true;
    if (!kcsim_memory_create(&machine->memory, (uint64_t)machine->options.memory)) {
        free(machine);
        return NULL;
    }
    pthread_mutex_init(&machine->lock, NULL);
    kcsim_machine_set_stack(machine, 0);
    kcsim_machine_set_heap(machine, (size_t)8 << 20);
    return machine;
}

void kcsim_machine_destroy(kcsim_machine *machine) {
    if (!machine) return;
    kcsim_modules_free(machine);
    kcsim_finding_clear(&machine->findings);
    kcsim_counters_clear(&machine->counters);
    kcsim_conflicts_destroy(machine->conflicts);
    kcsim_earlier_destroy(machine->earlier);
    kcsim_memory_destroy(&machine->memory);
    pthread_mutex_destroy(&machine->lock);
    free(machine);
}

const kcsim_arch *kcsim_machine_arch(const kcsim_machine *machine) {
    return machine->arch;
}

const kcsim_options *kcsim_machine_options(const kcsim_machine *machine) {
    return &machine->options;
}

void kcsim_machine_set_seed(kcsim_machine *machine, uint64_t seed) {
    pthread_mutex_lock(&machine->lock);
    machine->options.seed = seed;
    pthread_mutex_unlock(&machine->lock);
}

#define STACK_LEAST ((size_t)16 << 10)
#define STACK_MOST ((size_t)256 << 10)

void kcsim_machine_set_stack(kcsim_machine *machine, size_t bytes) {
    size_t most = bytes < STACK_MOST ? bytes : STACK_MOST;
    pthread_mutex_lock(&machine->lock);
    machine->stack_bytes = (most > STACK_LEAST ? most : STACK_LEAST) / 16 * 16;
    pthread_mutex_unlock(&machine->lock);
}

void kcsim_machine_set_heap(kcsim_machine *machine, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    machine->heap_limit = bytes;
    pthread_mutex_unlock(&machine->lock);
}

void kcsim_machine_set_output(kcsim_machine *machine, kcsim_output output, void *context) {
    pthread_mutex_lock(&machine->lock);
    machine->output = output;
    machine->output_context = context;
    pthread_mutex_unlock(&machine->lock);
}

uint64_t kcsim_launch_number(const kcsim_machine *machine) {
    return machine->launches;
}

const char *kcsim_last_fault(const kcsim_machine *machine) {
    return machine->fault;
}

static kcsim_status allocate(kcsim_machine *machine, size_t bytes, uint64_t *address,
                             kcsim_allocation *(*make)(kcsim_memory *, uint64_t)) {
    *address = 0;
    if (bytes == 0) return KCSIM_INVALID;
    pthread_mutex_lock(&machine->lock);
    const kcsim_allocation *made = make(&machine->memory, bytes);
    if (made) *address = made->base;
    pthread_mutex_unlock(&machine->lock);
    return made ? KCSIM_OK : KCSIM_NO_MEMORY;
}

kcsim_status kcsim_mem_alloc(kcsim_machine *machine, size_t bytes, uint64_t *address) {
    return allocate(machine, bytes, address, kcsim_memory_alloc);
}

kcsim_status kcsim_mem_alloc_shared(kcsim_machine *machine, size_t bytes, uint64_t *address) {
    return allocate(machine, bytes, address, kcsim_memory_alloc_shared);
}

bool kcsim_mem_is_shared(kcsim_machine *machine, uint64_t address) {
    pthread_mutex_lock(&machine->lock);
    const kcsim_allocation *found = kcsim_memory_find(&machine->memory, address, 1);
    bool shared = found && found->shared;
    pthread_mutex_unlock(&machine->lock);
    return shared;
}

kcsim_status kcsim_mem_free(kcsim_machine *machine, uint64_t address) {
    pthread_mutex_lock(&machine->lock);
    bool freed = kcsim_memory_free(&machine->memory, address);
    pthread_mutex_unlock(&machine->lock);
    return freed ? KCSIM_OK : KCSIM_INVALID;
}

kcsim_status kcsim_mem_reserve(kcsim_machine *machine, size_t bytes, size_t align,
                               uint64_t *address) {
    pthread_mutex_lock(&machine->lock);
    bool made = kcsim_memory_reserve(&machine->memory, bytes, align, address);
    pthread_mutex_unlock(&machine->lock);
    return made ? KCSIM_OK : KCSIM_NO_MEMORY;
}

kcsim_status kcsim_mem_unreserve(kcsim_machine *machine, uint64_t address) {
    pthread_mutex_lock(&machine->lock);
    bool done = kcsim_memory_unreserve(&machine->memory, address);
    pthread_mutex_unlock(&machine->lock);
    return done ? KCSIM_OK : KCSIM_INVALID;
}

kcsim_status kcsim_mem_create(kcsim_machine *machine, size_t bytes, kcsim_backing **out) {
    kcsim_backing *backing = calloc(1, sizeof *backing);
    pthread_mutex_lock(&machine->lock);
    bool made = backing && kcsim_backing_create(&machine->memory, bytes, backing);
    pthread_mutex_unlock(&machine->lock);
    if (!made) free(backing);
    *out = made ? backing : NULL;
    return made ? KCSIM_OK : KCSIM_NO_MEMORY;
}

void kcsim_mem_destroy(kcsim_machine *machine, kcsim_backing *backing) {
    pthread_mutex_lock(&machine->lock);
    kcsim_backing_destroy(&machine->memory, backing);
    pthread_mutex_unlock(&machine->lock);
    free(backing);
}

kcsim_status kcsim_mem_map(kcsim_machine *machine, uint64_t address, kcsim_backing *backing) {
    pthread_mutex_lock(&machine->lock);
    bool done = kcsim_memory_map(&machine->memory, address, backing);
    pthread_mutex_unlock(&machine->lock);
    return done ? KCSIM_OK : KCSIM_INVALID;
}

kcsim_status kcsim_mem_unmap(kcsim_machine *machine, uint64_t address, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    bool done = kcsim_memory_unmap(&machine->memory, address, bytes);
    pthread_mutex_unlock(&machine->lock);
    return done ? KCSIM_OK : KCSIM_INVALID;
}

kcsim_status kcsim_mem_range(kcsim_machine *machine, uint64_t address, uint64_t *base,
                             size_t *bytes) {
    pthread_mutex_lock(&machine->lock);
    const kcsim_allocation *found = kcsim_memory_find(&machine->memory, address, 1);
    if (base) *base = found ? found->base : 0;
    if (bytes) *bytes = found ? found->bytes : 0;
    pthread_mutex_unlock(&machine->lock);
    return found ? KCSIM_OK : KCSIM_INVALID;
}

void kcsim_mem_info(kcsim_machine *machine, size_t *free_bytes, size_t *total_bytes) {
    pthread_mutex_lock(&machine->lock);
    uint64_t used = machine->memory.used, limit = machine->memory.limit;
    pthread_mutex_unlock(&machine->lock);
    if (free_bytes) *free_bytes = used < limit ? limit - used : 0;
    if (total_bytes) *total_bytes = limit;
}

void *kcsim_mem_host(kcsim_machine *machine, uint64_t address, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    bool inside = kcsim_memory_find(&machine->memory, address, bytes) != NULL;
    pthread_mutex_unlock(&machine->lock);
    return inside ? machine->memory.host + (address - machine->memory.base) : NULL;
}

void kcsim_mem_written(kcsim_machine *machine, uint64_t address, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    kcsim_memory_mark(&machine->memory, address, bytes);
    pthread_mutex_unlock(&machine->lock);
}

bool kcsim_mem_defined(kcsim_machine *machine, uint64_t address, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    bool defined = kcsim_memory_is_defined(&machine->memory, address, bytes);
    pthread_mutex_unlock(&machine->lock);
    return defined;
}

void kcsim_mem_copy_defined(kcsim_machine *machine, uint64_t to, uint64_t from, size_t bytes) {
    pthread_mutex_lock(&machine->lock);
    kcsim_memory_copy_marks(&machine->memory, to, from, bytes);
    pthread_mutex_unlock(&machine->lock);
}

size_t kcsim_finding_count(kcsim_machine *machine) {
    pthread_mutex_lock(&machine->lock);
    size_t count = machine->findings.count;
    pthread_mutex_unlock(&machine->lock);
    return count;
}

char *kcsim_findings_json(kcsim_machine *machine) {
    kcsim_text text = {0};
    pthread_mutex_lock(&machine->lock);
    kcsim_finding_sort(&machine->findings);
    kcsim_text_add(&text, "[");
    for (size_t i = 0; i < machine->findings.count; i++) {
        kcsim_text_add(&text, "%s", i ? ", " : "");
        kcsim_finding_json(&text, &machine->findings.items[i]);
    }
    kcsim_text_add(&text, "]");
    pthread_mutex_unlock(&machine->lock);
    return kcsim_text_take(&text);
}

char *kcsim_counters_json(kcsim_machine *machine) {
    kcsim_text text = {0};
    pthread_mutex_lock(&machine->lock);
    kcsim_finding_sort(&machine->findings);
    kcsim_counters_json_text(&text, &machine->counters, machine->arch->name, &machine->findings);
    pthread_mutex_unlock(&machine->lock);
    return kcsim_text_take(&text);
}

char *kcsim_counters_table(kcsim_machine *machine) {
    kcsim_text text = {0};
    pthread_mutex_lock(&machine->lock);
    kcsim_finding_sort(&machine->findings);
    kcsim_counters_table_text(&text, &machine->counters, machine->arch->name, &machine->findings);
    pthread_mutex_unlock(&machine->lock);
    return kcsim_text_take(&text);
}

void kcsim_reset_counters(kcsim_machine *machine) {
    pthread_mutex_lock(&machine->lock);
    kcsim_counters_clear(&machine->counters);
    kcsim_finding_clear(&machine->findings);
    pthread_mutex_unlock(&machine->lock);
}
