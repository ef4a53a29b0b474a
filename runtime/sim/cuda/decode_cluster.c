/* Clusters, mbarriers, fences, setmaxnreg. */
#include "runtime/sim/cuda/decode.h"

/* ---- addresses in the cluster ---- */

static bool address_bytes(kcsim_decoder *decoder, unsigned *bytes) {
    const ptx_statement *statement = decoder->statement;
    ptx_modifier space = ptx_has(statement, PTX_GROUP_SPACE);
    ptx_type type = statement->type_count == 1 ? statement->types[0] : PTX_NO_TYPE;
    *bytes = type == PTX_U32 ? 4 : 8;
    if (space != PTX_M_NONE && space != PTX_M_SHARED_CLUSTER)
        return kcsim_decode_fail(decoder, "only .shared::cluster is known here");
    if (type != PTX_U64 && (type != PTX_U32 || space == PTX_M_NONE))
        return kcsim_decode_fail(decoder, "u64 is needed, or u32 in .shared::cluster");
    return true;
}

static bool decode_mapa(kcsim_decoder *decoder) {
    const ptx_operand *operands = decoder->statement->operands;
    kcsim_insn *insn = decoder->insn;
    unsigned bytes;
    if (!address_bytes(decoder, &bytes)) return false;
    insn->kind = KCSIM_DO_MAP_ADDRESS;
    insn->bytes = (uint8_t)bytes;
    return kcsim_decode_source(decoder, &operands[1], bytes, PTX_U64, &insn->a) &&
           kcsim_decode_source(decoder, &operands[2], 4, PTX_U32, &insn->b) &&
           kcsim_decode_destination(decoder, &operands[0], bytes, &insn->d);
}

static bool decode_block_rank(kcsim_decoder *decoder) {
    kcsim_insn *insn = decoder->insn;
    unsigned bytes;
    if (!address_bytes(decoder, &bytes)) return false;
    insn->kind = KCSIM_DO_BLOCK_RANK;
    insn->bytes = (uint8_t)bytes;
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], bytes, PTX_U64,
                               &insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 4, &insn->d);
}

/* ---- barrier.cluster, setmaxnreg ---- */

static bool decode_cluster_barrier(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    ptx_modifier order = ptx_has(statement, PTX_GROUP_SEMANTICS);
    bool waits = statement->op == PTX_OP_BARRIER_CLUSTER_WAIT;
    insn->kind = KCSIM_DO_CLUSTER_BARRIER;
    insn->mode = waits ? KCSIM_BARRIER_SYNC : KCSIM_BARRIER_ARRIVE;
    insn->aligned = ptx_has(statement, PTX_GROUP_ALIGNED) != PTX_M_NONE;
    insn->relaxed = order == PTX_M_RELAXED;
    decoder->code->orders = true;
    bool known = order == PTX_M_NONE ||
                 (waits ? order == PTX_M_ACQUIRE : order == PTX_M_RELEASE || insn->relaxed);
    return known ||
           kcsim_decode_fail(decoder, "an arrival is .release or .relaxed, a wait .acquire");
}

/* PTX ISA, "setmaxnreg": 24 to 256, in steps of 8. */
static bool decode_registers(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    const ptx_operand *count = &statement->operands[0];
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_REGISTERS;
    insn->extend = statement->op == PTX_OP_SETMAXNREG_INC;
    insn->imm = count->integer;
    if (count->kind != PTX_OPERAND_INTEGER || insn->imm < 24 || insn->imm > 256 || insn->imm % 8)
        return kcsim_decode_fail(decoder,
                                 "setmaxnreg takes a constant from 24 to 256 in steps of 8");
    if (decoder->module->target < 90 || !decoder->module->target_suffix)
        return kcsim_decode_fail(decoder, "setmaxnreg needs a target like sm_90a");
    return true;
}

/* ---- mbarriers ---- */

static bool fill_mbarrier(kcsim_insn *insn, ptx_op op) {
    switch (op) {
    case PTX_OP_MBARRIER_INIT: insn->mode = KCSIM_MBARRIER_INIT; return true;
    case PTX_OP_MBARRIER_INVAL: insn->mode = KCSIM_MBARRIER_INVALIDATE; return true;
    case PTX_OP_MBARRIER_EXPECT_TX: insn->mode = KCSIM_MBARRIER_EXPECT; return true;
    case PTX_OP_MBARRIER_COMPLETE_TX: insn->mode = KCSIM_MBARRIER_COMPLETE; return true;
    case PTX_OP_MBARRIER_ARRIVE_EXPECT_TX: insn->extend = true; /* fall through */
    case PTX_OP_MBARRIER_ARRIVE: insn->mode = KCSIM_MBARRIER_ARRIVE; return true;
    case PTX_OP_MBARRIER_ARRIVE_NOCOMPLETE:
        insn->mode = KCSIM_MBARRIER_ARRIVE;
        insn->part = true;
        return true;
    case PTX_OP_MBARRIER_DROP_EXPECT_TX: insn->extend = true; /* fall through */
    case PTX_OP_MBARRIER_DROP: insn->mode = KCSIM_MBARRIER_DROP; return true;
    case PTX_OP_MBARRIER_DROP_NOCOMPLETE:
        insn->mode = KCSIM_MBARRIER_DROP;
        insn->part = true;
        return true;
    case PTX_OP_MBARRIER_TEST_PARITY: insn->parity = true; /* fall through */
    case PTX_OP_MBARRIER_TEST: insn->mode = KCSIM_MBARRIER_TEST; return true;
    case PTX_OP_MBARRIER_TRY_PARITY: insn->parity = true; /* fall through */
    case PTX_OP_MBARRIER_TRY: insn->mode = KCSIM_MBARRIER_TRY; return true;
    case PTX_OP_CPASYNC_ARRIVE: insn->mode = KCSIM_MBARRIER_COPIES; return true;
    case PTX_OP_CPASYNC_ARRIVE_NOINC: insn->mode = KCSIM_MBARRIER_COPIES_NOINC; return true;
    default: return false;
    }
}

static bool decode_pending_count(kcsim_decoder *decoder) {
    kcsim_insn *insn = decoder->insn;
    insn->mode = KCSIM_MBARRIER_PENDING;
    insn->bytes = 4;
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], 8, PTX_B64, &insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 4, &insn->d);
}

/* [addr] {, count}; d, [addr] {, count}; p, [addr], state or parity {, time} */
static bool decode_mbarrier_operands(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    const ptx_operand *operands = statement->operands;
    kcsim_insn *insn = decoder->insn;
    bool waits = insn->mode == KCSIM_MBARRIER_TEST || insn->mode == KCSIM_MBARRIER_TRY;
    unsigned first = ptx_ops[statement->op].destinations;
    unsigned given = statement->operand_count - first - 1u;
    insn->b = kcsim_absent();
    insn->bytes = waits ? 0 : 8;
    if (!kcsim_decode_address(decoder, &operands[first], &insn->a, &insn->imm, &insn->element))
        return false;
    if (first && !kcsim_decode_destination(decoder, &operands[0], insn->bytes, &insn->d))
        return false;
    if (!waits)
        return !given || kcsim_decode_source(decoder, &operands[first + 1], 4, PTX_U32, &insn->b);
    return kcsim_decode_source(decoder, &operands[2], insn->parity ? 4 : 8, PTX_U64, &insn->c);
}

static bool decode_mbarrier(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    ptx_space space = kcsim_statement_space(statement);
    ptx_modifier order = ptx_has(statement, PTX_GROUP_SEMANTICS);
    insn->kind = KCSIM_DO_MBARRIER;
    insn->space = (uint8_t)space;
    insn->cluster = kcsim_reaches_cluster(statement);
    insn->relaxed = order == PTX_M_RELAXED;
    decoder->code->orders = decoder->code->mbarriers = true;
    if (statement->type_count != 1 || statement->types[0] != PTX_B64)
        return kcsim_decode_fail(decoder, "an mbarrier has type b64");
    if (statement->op == PTX_OP_MBARRIER_PENDING_COUNT) return decode_pending_count(decoder);
    if (!fill_mbarrier(insn, statement->op))
        return kcsim_decode_fail(decoder, "this instruction is not known");
    if (space != PTX_SPACE_SHARED && space != PTX_SPACE_GENERIC)
        return kcsim_decode_fail(decoder, "an mbarrier lies in shared memory");
    bool waits = insn->mode == KCSIM_MBARRIER_TEST || insn->mode == KCSIM_MBARRIER_TRY;
    bool local = waits || insn->mode == KCSIM_MBARRIER_INIT ||
                 insn->mode == KCSIM_MBARRIER_INVALIDATE || insn->part;
    if (local && ptx_has(statement, PTX_GROUP_SPACE) == PTX_M_SHARED_CLUSTER)
        return kcsim_decode_fail(decoder, "this is for the block's own mbarriers: .shared::cta");
    if (local) insn->cluster = false;
    bool known =
        order == PTX_M_NONE || insn->relaxed || order == (waits ? PTX_M_ACQUIRE : PTX_M_RELEASE);
    if (!known) return kcsim_decode_fail(decoder, "an arrival releases, a wait acquires");
    return decode_mbarrier_operands(decoder);
}

bool kcsim_decode_cluster(kcsim_decoder *decoder) {
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_MAPA: return decode_mapa(decoder);
    case PTX_FAMILY_BLOCK_RANK: return decode_block_rank(decoder);
    case PTX_FAMILY_CLUSTER_BARRIER: return decode_cluster_barrier(decoder);
    case PTX_FAMILY_SETMAXNREG: return decode_registers(decoder);
    case PTX_FAMILY_MBARRIER: return decode_mbarrier(decoder);
    case PTX_FAMILY_FENCE:
        decoder->insn->kind = KCSIM_DO_FENCE;
        decoder->code->fences = true;
        kcsim_note_scope(decoder);
        return true;
    default: return kcsim_decode_fail(decoder, "this instruction is not known");
    }
}
