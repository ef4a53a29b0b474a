/* Loads, stores, atomics, asynchronous copies. */
#include "runtime/sim/cuda/decode.h"

static kcsim_class class_of(ptx_space space, bool is_store) {
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC)
        return is_store ? KCSIM_CLASS_STORE_GLOBAL : KCSIM_CLASS_LOAD_GLOBAL;
    if (space == PTX_SPACE_SHARED)
        return is_store ? KCSIM_CLASS_STORE_SHARED : KCSIM_CLASS_LOAD_SHARED;
    return KCSIM_CLASS_OTHER;
}

bool kcsim_decode_address(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *out,
                          int64_t *offset, uint8_t *width) {
    if (operand->kind != PTX_OPERAND_MEMORY)
        return kcsim_decode_fail(decoder, "an address in brackets was expected");
    if (operand->element_count) return kcsim_decode_fail(decoder, "no coordinates belong here");
    *offset = operand->integer;
    *width = 8;
    if (operand->variable) *offset += (int64_t)kcsim_variable_address(decoder, operand->variable);
    if (operand->reg == PTX_NO_REGISTER) {
        *out = kcsim_decode_constant(decoder, 0, 8);
        return true;
    }
    ptx_operand base = {.kind = PTX_OPERAND_REGISTER, .reg = operand->reg};
    int bytes = kcsim_register_bytes(decoder, &base);
    if (bytes != 4 && bytes != 8)
        return kcsim_decode_fail(decoder, "an address register has 32 or 64 bits");
    *width = (uint8_t)bytes;
    return kcsim_decode_source(decoder, &base, (unsigned)bytes, PTX_U64, out);
}

static bool space_fits(kcsim_decoder *decoder, const ptx_operand *operand, ptx_space space) {
    const ptx_variable *variable = operand->variable;
    if (!variable || operand->reg != PTX_NO_REGISTER || variable->space == space) return true;
    bool constant = space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL;
    if (constant && (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST))
        return true;
    return kcsim_decode_fail(decoder, "'%s' lies in %s memory", variable->name,
                             ptx_space_name(variable->space));
}

/* The address, its space, and how many elements of which type. */
static bool decode_access(kcsim_decoder *decoder, const ptx_operand *address) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    if (statement->type_count != 1) return kcsim_decode_fail(decoder, "one type is needed");
    ptx_space space = kcsim_statement_space(statement);
    /* .param names of a routine's own calls are local memory. */
    if (space == PTX_SPACE_PARAM && address->variable &&
        address->variable->space == PTX_SPACE_LOCAL)
        space = PTX_SPACE_LOCAL;
    ptx_modifier vector = ptx_has(statement, PTX_GROUP_VECTOR);
    insn->space = (uint8_t)space;
    insn->cluster = kcsim_reaches_cluster(statement);
    insn->bytes = (uint8_t)kcsim_type_bytes(statement->types[0]);
    insn->count = vector == PTX_M_V2 ? 2 : vector == PTX_M_V4 ? 4 : vector == PTX_M_V8 ? 8 : 1;
    insn->extend = ptx_types[statement->types[0]].kind == PTX_KIND_SINT;
    if (insn->bytes * insn->count > 32)
        return kcsim_decode_fail(decoder, "an access has at most 32 bytes");
    ptx_type_kind kind = ptx_types[statement->types[0]].kind;
    if (kind == PTX_KIND_PRED || kind == PTX_KIND_ELEMENT)
        return kcsim_decode_fail(decoder, "memory has no such type");
    return space_fits(decoder, address, space) &&
           kcsim_decode_address(decoder, address, &insn->a, &insn->imm, &insn->mode);
}

/* The elements, which may sit in registers wider than they are; all in registers of one width. */
static bool decode_elements(kcsim_decoder *decoder, const ptx_operand *value, bool is_store) {
    kcsim_insn *insn = decoder->insn;
    bool vector = value->kind == PTX_OPERAND_VECTOR;
    const ptx_operand *elements = vector ? value->elements : value;
    uint32_t count = vector ? value->element_count : 1;
    if (count != insn->count)
        return kcsim_decode_fail(decoder, "%u elements where %u are wanted", count, insn->count);
    unsigned width = insn->bytes < 2 ? 2 : insn->bytes;
    for (uint32_t i = 0; i < count; i++) {
        int have = kcsim_register_bytes(decoder, &elements[i]);
        if (have > (int)width) width = (unsigned)have;
    }
    insn->element = (uint8_t)width;
    kcsim_ref *list = kcsim_decode_list(decoder, count);
    if (!list) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(is_store ? kcsim_decode_source(decoder, &elements[i], width,
                                             decoder->statement->types[0], &list[i])
                       : kcsim_decode_destination(decoder, &elements[i], width, &list[i])))
            return false;
    return true;
}

/* Atomics and strong accesses may order the warps of a block through shared memory: by what they say,
 * or by fences beside them. */
static void note_strong(kcsim_decoder *decoder, ptx_space space) {
    ptx_modifier semantics = ptx_has(decoder->statement, PTX_GROUP_SEMANTICS);
    bool is_atomic = decoder->insn->kind == KCSIM_DO_ATOMIC;
    bool is_weak = semantics == PTX_M_NONE || semantics == PTX_M_WEAK;
    bool others =
        space == PTX_SPACE_SHARED || space == PTX_SPACE_GENERIC || space == PTX_SPACE_GLOBAL;
    decoder->insn->seen = !is_atomic && !is_weak && others;
    if (space != PTX_SPACE_SHARED) kcsim_note_scope(decoder);
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC) return;
    if (!is_atomic && is_weak) return;
    decoder->insn->strong = true;
    decoder->code->strong_shared = true;
    if (semantics == PTX_M_ACQUIRE || semantics == PTX_M_RELEASE || semantics == PTX_M_ACQ_REL)
        decoder->code->flags = true;
}

/* A load that other blocks' stores are waited for with. */
static bool polls(const ptx_statement *statement, ptx_space space) {
    ptx_modifier semantics = ptx_has(statement, PTX_GROUP_SEMANTICS);
    bool strong = semantics != PTX_M_NONE && semantics != PTX_M_WEAK;
    return strong && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC);
}

static bool decode_load(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    if (!decode_access(decoder, &statement->operands[1])) return false;
    ptx_space space = (ptx_space)decoder->insn->space;
    decoder->insn->kind = KCSIM_DO_LOAD;
    decoder->insn->class = (uint8_t)class_of(space, false);
    note_strong(decoder, space);
    decoder->code->talks_across_blocks |= polls(statement, space);
    return decode_elements(decoder, &statement->operands[0], false);
}

static bool decode_store(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    if (!decode_access(decoder, &statement->operands[0])) return false;
    ptx_space space = (ptx_space)decoder->insn->space;
    decoder->insn->kind = KCSIM_DO_STORE;
    decoder->insn->class = (uint8_t)class_of(space, true);
    note_strong(decoder, space);
    decoder->code->talks_across_blocks |= polls(statement, space);
    if (space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST)
        return kcsim_decode_fail(decoder, "%s memory cannot be written", ptx_space_name(space));
    return decode_elements(decoder, &statement->operands[1], true);
}

static bool atomic_exists(ptx_modifier op, ptx_type type) {
    ptx_type_kind kind = ptx_types[type].kind;
    unsigned bits = ptx_types[type].bits;
    bool integer = (kind == PTX_KIND_UINT || kind == PTX_KIND_SINT) && (bits == 32 || bits == 64);
    bool half = type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
    switch (op) {
    case PTX_M_ADD: return integer || half || type == PTX_F32 || type == PTX_F64;
    case PTX_M_MIN:
    case PTX_M_MAX: return integer || half;
    case PTX_M_INC:
    case PTX_M_DEC: return type == PTX_U32;
    case PTX_M_AND:
    case PTX_M_OR:
    case PTX_M_XOR: return kind == PTX_KIND_BITS && (bits == 32 || bits == 64);
    case PTX_M_EXCH:
    case PTX_M_CAS:
        return (kind == PTX_KIND_BITS || integer) && bits >= 16;
    default: return false;
    }
}

/* Each element is an operation of its own. insn->list: the values, then where the old ones go. */
static bool decode_atomic_vector(kcsim_decoder *decoder, const ptx_operand *old,
                                 const ptx_operand *value) {
    kcsim_insn *insn = decoder->insn;
    uint32_t count = insn->count;
    ptx_type type = decoder->statement->types[0];
    if (value->kind != PTX_OPERAND_VECTOR || value->element_count != count ||
        (old && old->kind != PTX_OPERAND_SINK &&
         (old->kind != PTX_OPERAND_VECTOR || old->element_count != count)))
        return kcsim_decode_fail(decoder, "vectors of %u elements are wanted", count);
    kcsim_ref *list = kcsim_decode_list(decoder, old ? 2 * count : count);
    for (uint32_t i = 0; list && i < count; i++) {
        if (!kcsim_decode_source(decoder, &value->elements[i], insn->bytes, type, &list[i]))
            return false;
        const ptx_operand *to = old && old->kind == PTX_OPERAND_VECTOR ? &old->elements[i] : old;
        if (old && !kcsim_decode_destination(decoder, to, insn->bytes, &list[count + i]))
            return false;
    }
    return list != NULL;
}

static bool decode_atomic(kcsim_decoder *decoder, bool has_result) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    unsigned first = has_result ? 1 : 0;
    const ptx_operand *address = &statement->operands[first];
    ptx_modifier op = ptx_has(statement, PTX_GROUP_ATOMIC);
    if (statement->type_count != 1 || !atomic_exists(op, statement->types[0]))
        return kcsim_decode_fail(decoder, "this atomic operation is not known");
    ptx_space space = kcsim_statement_space(statement);
    ptx_type type = statement->types[0];
    if (space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED)
        return kcsim_decode_fail(decoder, "atomics work on global and shared memory");
    insn->kind = KCSIM_DO_ATOMIC;
    insn->space = (uint8_t)space;
    insn->cluster = kcsim_reaches_cluster(statement);
    insn->bytes = (uint8_t)kcsim_type_bytes(type);
    insn->round = (uint8_t)op;
    decoder->code->talks_across_blocks |= space != PTX_SPACE_SHARED;
    note_strong(decoder, space);
    unsigned values = op == PTX_M_CAS ? 2 : 1;
    if (statement->operand_count < first + 1 + values)
        return kcsim_decode_fail(decoder, "an operand is missing");
    ptx_modifier vector = ptx_has(statement, PTX_GROUP_VECTOR);
    insn->count = vector == PTX_M_V2 ? 2 : vector == PTX_M_V4 ? 4 : vector == PTX_M_V8 ? 8 : 1;
    if (!space_fits(decoder, address, space) ||
        !kcsim_decode_address(decoder, address, &insn->a, &insn->imm, &insn->mode))
        return false;
    if (insn->count > 1)
        return decode_atomic_vector(decoder, has_result ? &statement->operands[0] : NULL,
                                    &statement->operands[first + 1]);
    return kcsim_decode_source(decoder, &statement->operands[first + 1], insn->bytes, type,
                               &insn->b) &&
           (values == 1 || kcsim_decode_source(decoder, &statement->operands[first + 2],
                                               insn->bytes, type, &insn->c)) &&
           (!has_result ||
            kcsim_decode_destination(decoder, &statement->operands[0], insn->bytes, &insn->d));
}

/* cp.async [dst], [src], bytes {, bytes that are read | ignore the source}. */
static bool decode_copy(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    const ptx_operand *size = &statement->operands[2];
    int64_t source_offset;
    insn->kind = KCSIM_DO_COPY_ASYNC;
    decoder->code->copies = true;
    insn->c = insn->e = kcsim_absent();
    if (size->kind != PTX_OPERAND_INTEGER ||
        (size->integer != 4 && size->integer != 8 && size->integer != 16))
        return kcsim_decode_fail(decoder, "cp.async copies 4, 8 or 16 bytes");
    insn->bytes = (uint8_t)size->integer;
    if (!kcsim_decode_address(decoder, &statement->operands[0], &insn->a, &insn->imm,
                              &insn->mode) ||
        !kcsim_decode_address(decoder, &statement->operands[1], &insn->b, &source_offset,
                              &insn->element))
        return false;
    if (source_offset != (int32_t)source_offset)
        return kcsim_decode_fail(decoder, "the offset is too large");
    insn->target = (uint32_t)(int32_t)source_offset;
    bool hinted = ptx_has(statement, PTX_GROUP_L2HINT);
    if (statement->operand_count < (hinted ? 5 : 4)) return true;
    if (kcsim_register_bytes(decoder, &statement->operands[3]) == 0)
        return kcsim_decode_predicate(decoder, &statement->operands[3], &insn->e, &insn->negate_c);
    return kcsim_decode_source(decoder, &statement->operands[3], 4, PTX_U32, &insn->c);
}

static bool decode_copy_group(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    decoder->insn->kind = KCSIM_DO_COPY_GROUP;
    if (statement->operand_count == 0) return true;
    if (statement->operands[0].kind != PTX_OPERAND_INTEGER || statement->operands[0].integer < 0)
        return kcsim_decode_fail(decoder, "a number of groups was expected");
    decoder->insn->imm = statement->operands[0].integer;
    return true;
}

static bool decode_policy(kcsim_decoder *decoder) {
    decoder->insn->kind = KCSIM_DO_MOVE;
    decoder->insn->bytes = 8;
    decoder->insn->a = kcsim_decode_constant(decoder, 0, 8);
    return kcsim_decode_destination(decoder, &decoder->statement->operands[0], 8,
                                    &decoder->insn->d);
}

bool kcsim_decode_memory(kcsim_decoder *decoder) {
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_LD: return decode_load(decoder);
    case PTX_FAMILY_ST: return decode_store(decoder);
    case PTX_FAMILY_ATOM: return decode_atomic(decoder, true);
    case PTX_FAMILY_RED: return decode_atomic(decoder, false);
    case PTX_FAMILY_CPASYNC: return decode_copy(decoder);
    case PTX_FAMILY_BULK: return kcsim_decode_bulk(decoder);
    case PTX_FAMILY_TENSORMAP:
    case PTX_FAMILY_TENSORMAP_COPY:
    case PTX_FAMILY_TENSORMAP_FENCE: return kcsim_decode_tensormap(decoder);
    case PTX_FAMILY_POLICY: return decode_policy(decoder);
    case PTX_FAMILY_COPYGROUP: return decode_copy_group(decoder);
    case PTX_FAMILY_NOP:
        decoder->insn->kind = KCSIM_DO_NOTHING;
        if (decoder->statement->op == PTX_OP_GRIDDEP_WAIT)
            decoder->insn->kind = KCSIM_DO_EARLY_WAIT;
        if (decoder->statement->op != PTX_OP_GRIDDEP_LAUNCH) return true;
        decoder->insn->kind = KCSIM_DO_EARLY_TRIGGER;
        decoder->code->triggers = true;
        return true;
    default: return kcsim_decode_fail(decoder, "this instruction is not known");
    }
}
