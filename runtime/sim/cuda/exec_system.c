/* Calls that the driver's own code answers on hardware: printf, failed assertions, the heap; and
 * traps.
 *
 * Arguments lie in the thread's local memory, where calls put them. What is printed is collected
 * and handed out when the launch ends; kernels with such calls run on one host thread, so that its
 * order repeats. CUDA C++ programming guide, "Formatted Output", "Assertion", "Dynamic Global
 * Memory Allocation". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/cuda/exec.h"


typedef struct caller {
    kcsim_warp *warp;
    const kcsim_insn *insn;
    uint32_t lane;
} caller;

static void complain(const caller *who, kcsim_finding_kind kind, const char *space,
                     uint64_t address, const char *text) {
    uint64_t addresses[KCSIM_LANES] = {0};
    addresses[who->lane] = address;
    kcsim_report report = {.kind = kind,
                           .lanes = 1u << who->lane,
                           .space = space,
                           .addresses = addresses,
                           .size = 1,
                           .other = text};
    kcsim_report_lanes(who->warp, who->insn, &report);
}

/* ---- what ends a launch ---------------------------------------------------------------------- */

/* Only the first is remembered. */
static void stop(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask, const char *word,
                 const char *text) {
    kcsim_block *block = warp->block;
    unsigned lane = (unsigned)__builtin_ctz(mask);
    block->trapped = true;
    block->worker->faulted = true;
    if (block->worker->fault[0]) return;
    char kernel[KCSIM_FINDING_QUOTE], quote[KCSIM_FINDING_QUOTE];
    kcsim_text_fit(kernel, sizeof kernel, block->launch->function->name);
    kcsim_text_fit(quote, sizeof quote, insn->source->text);
    snprintf(block->worker->fault, sizeof block->worker->fault,
             "%s in kernel %s, line %u (%s), block %u,%u,%u thread %u,%u,%u%s%s", word, kernel,
             insn->line, quote, block->id[0], block->id[1], block->id[2], warp->tid[0][lane],
             warp->tid[1][lane], warp->tid[2][lane], text[0] ? ": " : "", text);
}

static const char *trap_reason(const kcsim_insn *insn) {
    return insn->imm == KCSIM_TRAP_POINTER ? "the pointer is to no function of this type"
           : insn->imm == KCSIM_TRAP_STACK ? "the stack of the thread is used up"
                                           : "";
}

void kcsim_do_trap(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    char text[120];
    snprintf(text, sizeof text, "the stack of the thread is used up: %" PRIu64 " bytes",
             warp->block->launch->function->module->ptx.stack_bytes);
    kcsim_report report = {.kind = KCSIM_FINDING_OUT_OF_BOUNDS,
                           .lanes = mask,
                           .space = "local",
                           .other = text};
    if (insn->imm == KCSIM_TRAP_STACK) kcsim_report_lanes(warp, insn, &report);
    stop(warp, insn, mask, "trap", trap_reason(insn));
}

/* ---- memory, one thread's view --------------------------------------------------------------- */

typedef struct stretch {
    uint8_t *bytes, *marks;
    uint64_t size; /* to the end of what the address is in; 0: nothing is there */
} stretch;

static stretch local_at(const caller *who, uint64_t address) {
    const kcsim_block *block = who->warp->block;
    uint64_t size = block->launch->code->local_bytes;
    uint64_t skipped = size * (who->warp->index * 32u + who->lane);
    if (address >= size) return (stretch){0};
    return (stretch){block->local + skipped + address, block->local_defined + skipped + address,
                     size - address};
}

static stretch generic_at(const caller *who, uint64_t address) {
    const kcsim_block *block = who->warp->block;
    kcsim_memory *memory = &block->launch->machine->memory;
    uint64_t shared = address - KCSIM_SHARED_WINDOW, size = block->launch->shared_bytes;
    if (address - KCSIM_LOCAL_WINDOW < KCSIM_WINDOW_BYTES)
        return local_at(who, address - KCSIM_LOCAL_WINDOW);
    if (shared < KCSIM_WINDOW_BYTES)
        return shared < size ? (stretch){block->shared + shared, block->shared_defined + shared,
                                         size - shared}
                             : (stretch){0};
    const kcsim_allocation *found = kcsim_memory_find(memory, address, 1);
    if (!found) return (stretch){0};
    uint64_t offset = address - memory->base;
    bool told = address >= found->defined_from && address < found->defined_to;
    return (stretch){memory->host + offset, told ? NULL : memory->defined + offset,
                     found->base + found->bytes - address};
}

static bool read_bytes(const caller *who, stretch from, uint64_t address, void *out,
                       unsigned bytes) {
    if (from.size < bytes) {
        complain(who, KCSIM_FINDING_OUT_OF_BOUNDS, "generic", address,
                 "an argument of printf cannot be read");
        return false;
    }
    if (from.marks && memchr(from.marks, 0, bytes))
        complain(who, KCSIM_FINDING_UNINITIALIZED, "local", address,
                 "the call is given something never written");
    memcpy(out, from.bytes, bytes);
    return true;
}

/* Where the running frame of what recurses begins; 0 elsewhere. */
static uint64_t base_of(const caller *who) {
    return ((const uint64_t *)kcsim_at(who->warp, who->insn->a))[who->lane];
}

static uint64_t argument(const caller *who, uint32_t index, unsigned bytes) {
    uint64_t value = 0, address = base_of(who) + who->insn->list[index].at;
    read_bytes(who, local_at(who, address), address, &value, bytes);
    return value;
}

static void give_result(const caller *who, uint64_t value, unsigned bytes) {
    stretch to = local_at(who, base_of(who) + (uint64_t)who->insn->imm);
    if (who->insn->imm < 0 || to.size < bytes) return;
    memcpy(to.bytes, &value, bytes);
    memset(to.marks, 1, bytes);
}

/* A copy of the string at `address`, malloc'd. */
static char *string_at(const caller *who, uint64_t address) {
    stretch from = generic_at(who, address);
    const void *end = from.size ? memchr(from.bytes, 0, from.size) : NULL;
    if (!end) {
        complain(who, KCSIM_FINDING_OUT_OF_BOUNDS, "generic", address, "no string is there");
        return strdup("");
    }
    return strdup((const char *)from.bytes);
}

/* ---- printf ---------------------------------------------------------------------------------- */

typedef struct printer {
    caller who;
    kcsim_text *out;
    uint64_t next; /* the argument, a generic address */
    int count;
} printer;

/* Arguments are aligned to their size, as a C compiler passes them. */
static uint64_t next_argument(printer *state, unsigned bytes) {
    uint64_t value = 0;
    state->next = (state->next + bytes - 1) / bytes * bytes;
    read_bytes(&state->who, generic_at(&state->who, state->next), state->next, &value, bytes);
    state->next += bytes;
    state->count++;
    return value;
}

/* Flags, width and precision, with stars filled in. */
static const char *take_spec(printer *state, const char *at, char *spec, size_t size) {
    size_t used = 1;
    spec[0] = '%';
    for (; *at && strchr("-+ #0123456789.*", *at); at++) {
        if (used + 12 > size) continue;
        if (*at == '*')
            used += (size_t)snprintf(spec + used, size - used, "%d",
                                     (int)next_argument(state, 4) % 10000);
        else spec[used++] = *at;
    }
    spec[used] = 0;
    return at;
}

static void print_number(printer *state, char *spec, char conversion, bool is_long) {
    size_t end = strlen(spec);
    bool is_signed = conversion == 'd' || conversion == 'i';
    if (conversion == 'c') {
        spec[end] = 'c';
        spec[end + 1] = 0;
        kcsim_text_add(state->out, spec, (int)next_argument(state, 4));
        return;
    }
    memcpy(spec + end, "ll", 2);
    spec[end + 2] = conversion;
    spec[end + 3] = 0;
    uint64_t value = next_argument(state, is_long ? 8 : 4);
    if (is_signed && !is_long) value = (uint64_t)(int64_t)(int32_t)value;
    kcsim_text_add(state->out, spec, (long long)value);
}

static void print_float(printer *state, char *spec, char conversion) {
    size_t end = strlen(spec);
    uint64_t bits = next_argument(state, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    spec[end] = conversion;
    spec[end + 1] = 0;
    kcsim_text_add(state->out, spec, value);
}

static void print_string(printer *state, char *spec) {
    size_t end = strlen(spec);
    char *text = string_at(&state->who, next_argument(state, 8));
    spec[end] = 's';
    spec[end + 1] = 0;
    if (text) kcsim_text_add(state->out, spec, text);
    free(text);
}

/* One conversion, from behind its '%'. */
static const char *print_one(printer *state, const char *at) {
    char spec[64];
    bool is_long = false;
    at = take_spec(state, at, spec, sizeof spec - 4);
    for (; *at && strchr("hlzjtL", *at); at++)
        is_long |= *at != 'h';
    if (*at == '%') kcsim_text_add(state->out, "%%");
    else if (*at && strchr("diouxXc", *at)) print_number(state, spec, *at, is_long);
    else if (*at && strchr("aAeEfFgG", *at)) print_float(state, spec, *at);
    else if (*at == 's') print_string(state, spec);
    else if (*at == 'p') {
        uint64_t value = next_argument(state, 8);
        kcsim_text_add(state->out, "0x%llx", (unsigned long long)value);
    }
    return *at ? at + 1 : at;
}

static void print(const caller *who) {
    uint64_t format_address = argument(who, 0, 8);
    printer state = {
        .who = *who, .out = &who->warp->block->worker->printed, .next = argument(who, 1, 8)};
    if (!format_address) {
        give_result(who, (uint64_t)-1, 4);
        return;
    }
    char *format = string_at(who, format_address);
    for (const char *at = format; at && *at;) {
        size_t plain = strcspn(at, "%");
        kcsim_text_add(state.out, "%.*s", (int)plain, at);
        at += plain;
        if (*at) at = print_one(&state, at + 1);
    }
    free(format);
    give_result(who, (uint64_t)state.count, 4);
}

/* ---- assertions, the heap -------------------------------------------------------------------- */

static void report_assertion(const caller *who) {
    const kcsim_warp *warp = who->warp;
    const kcsim_block *block = warp->block;
    char *message = string_at(who, argument(who, 0, 8)),
         *file = string_at(who, argument(who, 1, 8));
    char *function = string_at(who, argument(who, 3, 8));
    char text[KCSIM_FINDING_TEXT], said[140], in[140];
    unsigned line = (unsigned)argument(who, 2, 4);
    kcsim_text_fit(said, sizeof said, message ? message : "?");
    kcsim_text_fit(in, sizeof in, file ? file : "?");
    snprintf(text, sizeof text, "`%s` failed at %s:%u", said, in, line);
    stop(who->warp, who->insn, 1u << who->lane, "assert", text);
    kcsim_text_add(&block->worker->complained,
                   "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                   file ? file : "?", line, function ? function : "?", block->id[0], block->id[1],
                   block->id[2], warp->tid[0][who->lane], warp->tid[1][who->lane],
                   warp->tid[2][who->lane], message ? message : "?");
    free(message);
    free(file);
    free(function);
}

/* NULL when the heap is used up, as on hardware. What is never freed lives as the machine does. */
static void allocate(const caller *who) {
    kcsim_machine *machine = who->warp->block->launch->machine;
    uint64_t bytes = argument(who, 0, 8), address = 0;
    uint64_t left = machine->heap_used < machine->heap_limit ? machine->heap_limit - machine->heap_used : 0;
    if (bytes && bytes <= left) {
        kcsim_allocation *made = kcsim_memory_alloc(&machine->memory, bytes);
        if (made) {
            made->heap = true;
            address = made->base;
            machine->heap_used += made->bytes;
        }
    }
    give_result(who, address, 8);
}

static void release(const caller *who) {
    kcsim_machine *machine = who->warp->block->launch->machine;
    uint64_t address = argument(who, 0, 8);
    if (!address) return;
    const kcsim_allocation *found = kcsim_memory_find(&machine->memory, address, 1);
    uint64_t bytes = found ? found->bytes : 0;
    bool ours = found && found->heap;
    if (ours && kcsim_memory_free(&machine->memory, address)) machine->heap_used -= bytes;
    else
        complain(who, KCSIM_FINDING_OUT_OF_BOUNDS, "global", address,
                 "free of what malloc did not give, or gave back already");
}

void kcsim_do_system(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        caller who = {warp, insn, (uint32_t)__builtin_ctz(rest)};
        switch ((kcsim_system_call)insn->mode) {
        case KCSIM_SYSTEM_PRINT: print(&who); break;
        case KCSIM_SYSTEM_ASSERT: report_assertion(&who); break;
        case KCSIM_SYSTEM_ALLOCATE: allocate(&who); break;
        case KCSIM_SYSTEM_FREE: release(&who); break;
        }
    }
}
