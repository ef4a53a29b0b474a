/* Branches, barriers, what the lanes of a warp do together. */
#include "runtime/sim/cuda/decode.h"

static bool decode_branch_index(kcsim_decoder *decoder) {
    const ptx_operand *targets = &decoder->statement->operands[1];
    decoder->insn->kind = KCSIM_DO_BRANCH_INDEX;
    kcsim_ref *list = kcsim_decode_list(decoder, targets->element_count);
    for (uint32_t i = 0; list && i < targets->element_count; i++)
        list[i] = (kcsim_ref){.at = (uint32_t)targets->elements[i].integer};
    return list && kcsim_decode_source(decoder, &decoder->statement->operands[0], 4, PTX_U32,
                                       &decoder->insn->a);
}

static bool is_arrive(ptx_op op) {
    return op == PTX_OP_BAR_ARRIVE || op == PTX_OP_BAR_CTA_ARRIVE || op == PTX_OP_BARRIER_ARRIVE ||
           op == PTX_OP_BARRIER_CTA_ARRIVE;
}

/* `bar` is aligned by itself, `barrier` where it says so. */
static bool is_aligned(const ptx_statement *statement) {
    return ptx_ops[statement->op].mnemonic[3] == '.' || ptx_has(statement, PTX_GROUP_ALIGNED);
}

static bool decode_barrier_operands(kcsim_decoder *decoder, unsigned first, unsigned end) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    const ptx_operand *id = &statement->operands[first];
    insn->kind = KCSIM_DO_BARRIER;
    insn->aligned = is_aligned(statement);
    insn->b = kcsim_absent();
    if (insn->mode == KCSIM_BARRIER_ARRIVE) decoder->code->arrives = true;
    return kcsim_decode_source(decoder, id, 4, PTX_U32, &insn->a) &&
           (end == first + 1 ||
            kcsim_decode_source(decoder, &statement->operands[first + 1], 4, PTX_U32, &insn->b));
}

static bool decode_barrier(kcsim_decoder *decoder) {
    decoder->insn->mode =
        is_arrive(decoder->statement->op) ? KCSIM_BARRIER_ARRIVE : KCSIM_BARRIER_SYNC;
    return decode_barrier_operands(decoder, 0, decoder->statement->operand_count);
}

/* bar.red.and.pred p, a {, b}, c; bar.red.popc.u32 d, a {, b}, c */
static bool decode_barrier_reduce(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    unsigned last = statement->operand_count - 1u;
    ptx_modifier op = ptx_has(statement, PTX_GROUP_BOOL);
    bool counts = op == PTX_M_BPOPC;
    if (!counts && op != PTX_M_BAND && op != PTX_M_BOR)
        return kcsim_decode_fail(decoder, ".popc, .and or .or is needed");
    decoder->insn->mode = KCSIM_BARRIER_REDUCE;
    decoder->insn->imm = op;
    decoder->insn->bytes = counts ? 4 : 0;
    return decode_barrier_operands(decoder, 1, last) &&
           kcsim_decode_predicate(decoder, &statement->operands[last], &decoder->insn->c,
                                  &decoder->insn->negate_c) &&
           kcsim_decode_destination(decoder, &statement->operands[0], decoder->insn->bytes,
                                    &decoder->insn->d);
}

static bool decode_mask(kcsim_decoder *decoder, unsigned index) {
    return kcsim_decode_source(decoder, &decoder->statement->operands[index], 4, PTX_B32,
                               &decoder->insn->e);
}

static bool decode_shuffle(kcsim_decoder *decoder) {
    const ptx_operand *operands = decoder->statement->operands;
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_SHUFFLE;
    insn->mode = (uint8_t)ptx_has(decoder->statement, PTX_GROUP_SHUFFLE);
    insn->bytes = 4;
    if (!insn->mode) return kcsim_decode_fail(decoder, ".up, .down, .bfly or .idx is needed");
    return kcsim_decode_pair(decoder, &operands[0], 4, 0) &&
           kcsim_decode_source(decoder, &operands[1], 4, PTX_B32, &insn->a) &&
           kcsim_decode_source(decoder, &operands[2], 4, PTX_B32, &insn->b) &&
           kcsim_decode_source(decoder, &operands[3], 4, PTX_B32, &insn->c) &&
           decode_mask(decoder, 4);
}

static bool decode_vote(kcsim_decoder *decoder) {
    const ptx_operand *operands = decoder->statement->operands;
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_VOTE;
    insn->mode = (uint8_t)ptx_has(decoder->statement, PTX_GROUP_VOTE);
    insn->bytes = insn->mode == PTX_M_BALLOT ? 4 : 0;
    if (!insn->mode) return kcsim_decode_fail(decoder, ".all, .any, .uni or .ballot is needed");
    return kcsim_decode_destination(decoder, &operands[0], insn->bytes, &insn->d) &&
           kcsim_decode_predicate(decoder, &operands[1], &insn->a, &insn->negate_c) &&
           decode_mask(decoder, 2);
}

static bool decode_match(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    unsigned bytes = statement->type_count ? kcsim_type_bytes(statement->types[0]) : 0;
    decoder->insn->kind = KCSIM_DO_MATCH;
    decoder->insn->mode = statement->op == PTX_OP_MATCH_ALL;
    decoder->insn->bytes = (uint8_t)bytes;
    if (bytes != 4 && bytes != 8) return kcsim_decode_fail(decoder, "match compares 32 or 64 bits");
    return kcsim_decode_pair(decoder, &statement->operands[0], 4, 0) &&
           kcsim_decode_source(decoder, &statement->operands[1], bytes, statement->types[0],
                               &decoder->insn->a) &&
           decode_mask(decoder, 2);
}

static bool decode_redux(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    ptx_modifier op = ptx_has(statement, PTX_GROUP_ATOMIC);
    ptx_type type = statement->type_count ? statement->types[0] : PTX_NO_TYPE;
    bool bits = op == PTX_M_AND || op == PTX_M_OR || op == PTX_M_XOR;
    bool extreme = op == PTX_M_MIN || op == PTX_M_MAX;
    bool known = bits ? type == PTX_B32
                      : (op == PTX_M_ADD || extreme) && (type == PTX_U32 || type == PTX_S32);
    if (!known && !(extreme && type == PTX_F32))
        return kcsim_decode_fail(decoder, "this reduction is not known");
    decoder->insn->kind = KCSIM_DO_REDUCE;
    decoder->insn->mode = (uint8_t)op;
    decoder->insn->bytes = 4;
    return kcsim_decode_destination(decoder, &statement->operands[0], 4, &decoder->insn->d) &&
           kcsim_decode_source(decoder, &statement->operands[1], 4, type, &decoder->insn->a) &&
           decode_mask(decoder, 2);
}

/* The first operand is the call, the second the place of the result; in a function that recurses,
 * places are offsets from a register. */
static bool decode_system_call(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_SYSTEM;
    insn->mode = (uint8_t)statement->operands[0].integer;
    insn->imm = -1;
    insn->a = kcsim_decode_constant(decoder, 0, 8);
    decoder->code->system_calls = true;
    kcsim_ref *list = kcsim_decode_list(decoder, statement->operand_count);
    for (uint32_t i = 1; list && i < statement->operand_count; i++) {
        const ptx_operand *place = &statement->operands[i];
        if (place->kind != PTX_OPERAND_MEMORY) continue; /* there is no result */
        uint64_t at = (uint64_t)place->integer + (place->variable ? place->variable->address : 0);
        ptx_operand base = {.kind = PTX_OPERAND_REGISTER, .reg = place->reg};
        if (i == 1) insn->imm = (int64_t)at;
        else list[i - 2].at = (uint32_t)at;
        if (place->reg != PTX_NO_REGISTER &&
            !kcsim_decode_source(decoder, &base, 8, PTX_U64, &insn->a))
            return false;
    }
    return list != NULL;
}

bool kcsim_decode_control(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    switch (ptx_ops[statement->op].family) {
    case PTX_FAMILY_BRA:
        insn->kind = KCSIM_DO_BRANCH;
        insn->target = (uint32_t)statement->operands[0].integer;
        return true;
    case PTX_FAMILY_BRX: return decode_branch_index(decoder);
    case PTX_FAMILY_RET:
    case PTX_FAMILY_EXIT: insn->kind = KCSIM_DO_EXIT; return true;
    case PTX_FAMILY_TRAP:
        insn->kind = KCSIM_DO_TRAP;
        insn->imm = statement->operand_count ? statement->operands[0].integer : KCSIM_TRAP_ASKED;
        return true;
    case PTX_FAMILY_CALL: return decode_system_call(decoder);
    case PTX_FAMILY_NANOSLEEP: insn->kind = KCSIM_DO_NOTHING; return true;
    case PTX_FAMILY_BAR: return decode_barrier(decoder);
    case PTX_FAMILY_BAR_RED: return decode_barrier_reduce(decoder);
    case PTX_FAMILY_WARPSYNC: insn->kind = KCSIM_DO_WARP_BARRIER; return decode_mask(decoder, 0);
    case PTX_FAMILY_SHFL: return decode_shuffle(decoder);
    case PTX_FAMILY_VOTE: return decode_vote(decoder);
    case PTX_FAMILY_MATCH: return decode_match(decoder);
    case PTX_FAMILY_REDUX: return decode_redux(decoder);
    case PTX_FAMILY_ACTIVEMASK:
        insn->kind = KCSIM_DO_ACTIVE_MASK;
        insn->bytes = 4;
        return kcsim_decode_destination(decoder, &statement->operands[0], 4, &insn->d);
    case PTX_FAMILY_ELECT:
        insn->kind = KCSIM_DO_ELECT;
        return kcsim_decode_pair(decoder, &statement->operands[0], 4, 0) && decode_mask(decoder, 1);
    default: return kcsim_decode_matrix(decoder);
    }
}
