#include "runtime/sim/cuda/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u
#define ZERO_BYTES 512u /* the widest register: absent operands read from here */

bool kcsim_decode_fail(kcsim_decoder *decoder, const char *format, ...) {
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ptx_error(decoder->module, decoder->statement->line, "%s in '%.80s'", text,
              decoder->statement->text);
    return false;
}

kcsim_ref kcsim_absent(void) {
    return (kcsim_ref){.at = KCSIM_NOWHERE};
}

/* ---- constants ---- */

static bool reserve_constants(kcsim_decoder *decoder, size_t more) {
    while (decoder->constant_count + more > decoder->constant_capacity) {
        size_t wanted = decoder->constant_capacity ? decoder->constant_capacity * 2 : 16384;
        uint8_t *grown = wanted < KCSIM_CONSTANT ? realloc(decoder->constants, wanted) : NULL;
        if (!grown) return kcsim_decode_fail(decoder, "out of host memory for constants");
        decoder->constants = grown;
        decoder->constant_capacity = wanted;
    }
    return true;
}

kcsim_ref kcsim_decode_constant(kcsim_decoder *decoder, uint64_t bits, unsigned bytes) {
    if (bytes < 8) bits &= ((uint64_t)1 << 8 * bytes) - 1;
    uint64_t mixed = (bits + bytes) * 0x9e3779b97f4a7c15u;
    uint32_t at = (uint32_t)(mixed >> 40) % BUCKETS;
    for (uint32_t tries = 0; tries < BUCKETS && decoder->buckets[at];
         tries++, at = (at + 1) % BUCKETS) {
        uint32_t offset = decoder->buckets[at] & 0x7ffffff0u, width = decoder->buckets[at] & 0xf;
        uint64_t known = 0;
        memcpy(&known, decoder->constants + offset, width == 15 ? 8 : width);
        if (known == bits && width == (bytes == 16 ? 15 : bytes))
            return (kcsim_ref){.at = offset | KCSIM_CONSTANT};
    }
    uint32_t offset = (uint32_t)decoder->constant_count;
    if (!reserve_constants(decoder, bytes * 32)) return (kcsim_ref){.at = KCSIM_CONSTANT};
    memset(decoder->constants + offset, 0, bytes * 32);
    for (unsigned i = 0; i < 32; i++)
        memcpy(decoder->constants + offset + i * bytes, &bits, bytes < 8 ? bytes : 8);
    decoder->constant_count += bytes * 32;
    if (!decoder->buckets[at]) decoder->buckets[at] = offset | (bytes == 16 ? 15 : bytes);
    return (kcsim_ref){.at = offset | KCSIM_CONSTANT};
}

/* ---- operands ---- */

int kcsim_register_bytes(const kcsim_decoder *decoder, const ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER ? decoder->flat->registers[operand->reg].bytes
                                                 : -1;
}

static kcsim_ref ref_of(const kcsim_decoder *decoder, uint32_t reg) {
    uint32_t slot = decoder->slot_of[reg];
    return (kcsim_ref){.at = decoder->code->slots[slot].at, .slot = slot};
}

uint64_t kcsim_variable_address(const kcsim_decoder *decoder, const ptx_variable *variable) {
    if (variable->space == PTX_SPACE_SHARED && variable->external)
        return decoder->code->dynamic_shared_at;
    return variable->address;
}

static uint64_t float_constant(const ptx_operand *operand, ptx_type type) {
    if (operand->kind != PTX_OPERAND_FLOAT64 || ptx_types[type].bits != 32)
        return (uint64_t)operand->integer;
    double wide;
    memcpy(&wide, &operand->integer, sizeof wide);
    float narrow = (float)wide;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

bool kcsim_decode_source(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                         ptx_type type, kcsim_ref *out) {
    int have = kcsim_register_bytes(decoder, operand);
    if (have >= 0) {
        if ((unsigned)have != bytes)
            return kcsim_decode_fail(decoder, "a register of %d bits where %u are wanted",
                                     have ? have * 8 : 1, bytes ? bytes * 8 : 1);
        *out = ref_of(decoder, operand->reg);
        return true;
    }
    uint64_t bits = (uint64_t)operand->integer;
    switch (operand->kind) {
    case PTX_OPERAND_INTEGER: break;
    case PTX_OPERAND_FLOAT32:
    case PTX_OPERAND_FLOAT64: bits = float_constant(operand, type); break;
    case PTX_OPERAND_VARIABLE: bits += kcsim_variable_address(decoder, operand->variable); break;
    default: return kcsim_decode_fail(decoder, "an operand that is no value");
    }
    if (bytes == 0) return kcsim_decode_fail(decoder, "a predicate was expected");
    *out = kcsim_decode_constant(decoder, bits, bytes);
    return true;
}

bool kcsim_decode_destination(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                              kcsim_ref *out) {
    *out = kcsim_absent();
    if (operand->kind == PTX_OPERAND_SINK) return true;
    int have = kcsim_register_bytes(decoder, operand);
    if (have < 0) return kcsim_decode_fail(decoder, "the result must go to a register");
    if ((unsigned)have != bytes)
        return kcsim_decode_fail(decoder, "a result of %u bits in a register of %d",
                                 bytes ? bytes * 8 : 1, have ? have * 8 : 1);
    *out = ref_of(decoder, operand->reg);
    return true;
}

bool kcsim_decode_predicate(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *out,
                            bool *negated) {
    *negated = operand->negated;
    return kcsim_decode_source(decoder, operand, 0, PTX_PRED, out);
}

bool kcsim_decode_pair(kcsim_decoder *decoder, const ptx_operand *operand, unsigned bytes,
                       unsigned second_bytes) {
    decoder->insn->d2 = kcsim_absent();
    if (operand->kind != PTX_OPERAND_PAIR)
        return kcsim_decode_destination(decoder, operand, bytes, &decoder->insn->d);
    return kcsim_decode_destination(decoder, &operand->elements[0], bytes, &decoder->insn->d) &&
           kcsim_decode_destination(decoder, &operand->elements[1], second_bytes,
                                    &decoder->insn->d2);
}

kcsim_ref *kcsim_decode_list(kcsim_decoder *decoder, uint32_t count) {
    decoder->insn->list =
        kcsim_arena_alloc(&decoder->module->arena, (count + 1) * sizeof(kcsim_ref));
    if (!decoder->insn->list) kcsim_decode_fail(decoder, "out of host memory");
    decoder->insn->list_count = decoder->insn->list ? count : 0;
    return decoder->insn->list;
}

ptx_space kcsim_statement_space(const ptx_statement *statement) {
    switch (ptx_has(statement, PTX_GROUP_SPACE)) {
    case PTX_M_GLOBAL: return PTX_SPACE_GLOBAL;
    case PTX_M_SHARED:
    case PTX_M_SHARED_CTA:
    case PTX_M_SHARED_CLUSTER: return PTX_SPACE_SHARED;
    case PTX_M_LOCAL: return PTX_SPACE_LOCAL;
    case PTX_M_PARAM:
    case PTX_M_PARAM_ENTRY:
    case PTX_M_PARAM_FUNC: return PTX_SPACE_PARAM;
    case PTX_M_CONST: return PTX_SPACE_CONST;
    default: return PTX_SPACE_GENERIC;
    }
}

bool kcsim_reaches_cluster(const ptx_statement *statement) {
    ptx_modifier space = ptx_has(statement, PTX_GROUP_SPACE);
    return space == PTX_M_NONE || space == PTX_M_SHARED_CLUSTER;
}

/* ---- shared memory ---- */

static void place_shared(kcsim_code *code, ptx_variable *variable) {
    if (!variable || variable->space != PTX_SPACE_SHARED) return;
    if (variable->external) return;
    if (variable->address != UINT64_MAX) return;
    variable->address =
        (code->shared_bytes + variable->align - 1) / variable->align * variable->align;
    code->shared_bytes = variable->address + variable->bytes;
}

/* As ptxas does it: 16 at least, whichever of the module's arrays the kernel uses; nothing to align
 * where the module has none. */
static uint64_t dynamic_alignment(const ptx_module *module) {
    uint64_t align = 1;
    for (const ptx_variable *variable = module->variables; variable; variable = variable->next)
        if (variable->space == PTX_SPACE_SHARED && variable->external) {
            if (align < 16) align = 16;
            if (variable->align > align) align = variable->align;
        }
    return align;
}

/* Static variables that this kernel names come first, in that order; what the launch gives follows
 * them. */
static void lay_out_shared(kcsim_decoder *decoder) {
    kcsim_code *code = decoder->code;
    for (ptx_variable *variable = decoder->module->variables; variable; variable = variable->next)
        if (variable->space == PTX_SPACE_SHARED) variable->address = UINT64_MAX;
    for (size_t i = 0; i < decoder->flat->count; i++) {
        const ptx_statement *statement = &decoder->flat->statements[i];
        for (uint32_t k = 0; k < statement->operand_count; k++) {
            place_shared(code, statement->operands[k].variable);
            for (uint32_t n = 0; n < statement->operands[k].element_count; n++)
                place_shared(code, statement->operands[k].elements[n].variable);
        }
    }
    uint64_t align = dynamic_alignment(decoder->module);
    code->dynamic_shared_at = (uint32_t)((code->shared_bytes + align - 1) / align * align);
}

/* ---- statements ---- */

static bool decode_family(kcsim_decoder *decoder) {
    ptx_family family = ptx_ops[decoder->statement->op].family;
    if (family == PTX_FAMILY_LANES) return kcsim_decode_arithmetic(decoder);
    if (family <= PTX_FAMILY_MAPA) return kcsim_decode_other(decoder);
    if (family <= PTX_FAMILY_COPYGROUP) return kcsim_decode_memory(decoder);
    return kcsim_decode_control(decoder);
}

static bool shares_slot(const kcsim_insn *insn) {
    uint32_t slot = insn->d.slot;
    return slot && (slot == insn->a.slot || slot == insn->b.slot || slot == insn->c.slot ||
                    slot == insn->e.slot);
}

static bool decode_statement(kcsim_decoder *decoder, const ptx_statement *statement,
                             kcsim_insn *insn) {
    kcsim_ref zero = {.at = KCSIM_CONSTANT};
    *insn = (kcsim_insn){.class = (uint8_t)ptx_ops[statement->op].class,
                         .line = statement->line,
                         .a = zero,
                         .b = zero,
                         .c = zero,
                         .e = zero,
                         .d = kcsim_absent(),
                         .d2 = kcsim_absent(),
                         .source = statement};
    decoder->statement = statement;
    decoder->insn = insn;
    if (statement->guard != PTX_NO_REGISTER) {
        kcsim_ref guard = ref_of(decoder, statement->guard);
        insn->guard = guard.slot;
        insn->guard_at = guard.at;
        insn->negate_guard = statement->guard_negated;
    }
    if (!decode_family(decoder)) return false;
    insn->in_place = shares_slot(insn);
    insn->is_slow =
        insn->round || insn->flush || insn->post || insn->widened || kcsim_is_absent(insn->d);
    return true;
}

static bool keep_statements(kcsim_decoder *decoder, kcsim_flat *flat) {
    ptx_statement *kept = flat->statements;
    if (!kcsim_arena_adopt(&decoder->module->arena, kept)) return false;
    flat->statements = NULL;
    decoder->code->insns =
        kcsim_arena_alloc(&decoder->module->arena, flat->count * sizeof *decoder->code->insns);
    decoder->code->insn_count = (uint32_t)flat->count;
    for (size_t i = 0; decoder->code->insns && i < flat->count; i++)
        if (!decode_statement(decoder, &kept[i], &decoder->code->insns[i])) return false;
    return decoder->code->insns != NULL;
}

static bool keep_constants(kcsim_decoder *decoder) {
    kcsim_code *code = decoder->code;
    code->constants = kcsim_arena_alloc(&decoder->module->arena, decoder->constant_count);
    if (!code->constants) return false;
    memcpy(code->constants, decoder->constants, decoder->constant_count);
    code->constant_bytes = (uint32_t)decoder->constant_count;
    return true;
}

static bool decode_flat(ptx_module *module, kcsim_flat *flat, kcsim_code *code, uint32_t *slot_of) {
    kcsim_decoder decoder = {.module = module, .flat = flat, .slot_of = slot_of, .code = code};
    decoder.buckets = calloc(BUCKETS, sizeof *decoder.buckets);
    decoder.statement = flat->statements;
    bool done = decoder.buckets && kcsim_assign_slots(module, flat, slot_of, code) &&
                reserve_constants(&decoder, ZERO_BYTES);
    if (done) {
        memset(decoder.constants, 0, ZERO_BYTES);
        decoder.constant_count = ZERO_BYTES;
        lay_out_shared(&decoder);
        code->local_bytes = (flat->local_bytes + 15) / 16 * 16;
        done = keep_statements(&decoder, flat) && keep_constants(&decoder);
        done = done && kcsim_find_endless(code);
        code->flags |= code->strong_shared && code->fences;
        code->orders |= code->flags;
    }
    free(decoder.constants);
    free(decoder.buckets);
    return done && !module->error[0];
}

bool kcsim_decode_kernel(ptx_module *module, ptx_routine *entry, kcsim_code *code) {
    kcsim_flat flat = {0};
    memset(code, 0, sizeof *code);
    bool done = kcsim_flatten(module, entry, &flat);
    uint32_t *slot_of = done ? calloc(flat.register_count + 1, sizeof *slot_of) : NULL;
    done = slot_of && decode_flat(module, &flat, code, slot_of);
    if (!done)
        ptx_error(module, 0, "out of host memory"); /* unless something else is recorded already */
    free(slot_of);
    free(flat.statements);
    free(flat.registers);
    return done;
}
