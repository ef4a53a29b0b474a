/* Bulk and tensor copies (PTX ISA, "Data Movement and Conversion Instructions: Bulk copy" and
 * "Tensor copy"). */
#include "runtime/sim/cuda/bulk.h"
#include "runtime/sim/cuda/decode.h"

typedef struct operands {
    const ptx_operand *next;
    uint32_t left;
} operands;

static const ptx_operand *take(operands *rest) {
    if (!rest->left) return NULL;
    rest->left--;
    return rest->next++;
}

static bool take_address(kcsim_decoder *decoder, operands *rest, kcsim_bulk_address *out) {
    const ptx_operand *operand = take(rest);
    if (!operand) return kcsim_decode_fail(decoder, "an address is missing");
    return kcsim_decode_address(decoder, operand, &out->ref, &out->offset, &out->width);
}

static bool take_value(kcsim_decoder *decoder, operands *rest, unsigned bytes, kcsim_ref *out) {
    const ptx_operand *operand = take(rest);
    if (!operand) return kcsim_decode_fail(decoder, "an operand is missing");
    return kcsim_decode_source(decoder, operand, bytes, PTX_U32, out);
}

/* [map, {x, y, ...}] */
static bool take_tensor(kcsim_decoder *decoder, operands *rest, kcsim_bulk *bulk,
                        kcsim_bulk_address *out) {
    const ptx_operand *operand = rest->left ? rest->next : NULL;
    uint32_t count = kcsim_bulk_coordinates(bulk);
    if (!operand || operand->kind != PTX_OPERAND_MEMORY || operand->element_count != count)
        return kcsim_decode_fail(decoder, "a tensor map and %u coordinates were expected", count);
    for (uint32_t i = 0; i < count; i++)
        if (!kcsim_decode_source(decoder, &operand->elements[i], 4, PTX_S32, &bulk->at[i]))
            return false;
    ptx_operand map = *take(rest);
    map.element_count = 0;
    return kcsim_decode_address(decoder, &map, &out->ref, &out->offset, &out->width);
}

/* {w, h, d}, added to the pixels. */
static bool take_offsets(kcsim_decoder *decoder, operands *rest, kcsim_bulk *bulk) {
    const ptx_operand *operand = take(rest);
    if (!operand || operand->kind != PTX_OPERAND_VECTOR ||
        operand->element_count != bulk->rank - 2u)
        return kcsim_decode_fail(decoder, "%u offsets were expected", bulk->rank - 2u);
    for (uint32_t i = 0; i + 2 < bulk->rank; i++)
        if (!kcsim_decode_source(decoder, &operand->elements[i], 2, PTX_U16, &bulk->offsets[i]))
            return false;
    return true;
}

/* PTX ISA, cp.async.bulk.tensor, Target ISA Notes: sm_100a and its like, but for a block's own
 * shared memory. */
static bool decode_four(kcsim_decoder *decoder, kcsim_bulk *bulk, bool scatters) {
    bool own = ptx_has(decoder->statement, PTX_GROUP_SPACE) == PTX_M_SHARED_CTA;
    bulk->four = true;
    if (bulk->rank != 2 || scatters != (bulk->way == KCSIM_BULK_OUT))
        return kcsim_decode_fail(decoder, "this copy has no such mode");
    if (!own && decoder->module->target >= 120)
        return kcsim_decode_fail(decoder, "this needs a target such as sm_100a");
    return kcsim_decode_needs(decoder, 100, !own, 86);
}

/* Im2col: into shared memory with offsets, out of it without. */
static bool find_mode(kcsim_decoder *decoder, kcsim_bulk *bulk) {
    ptx_modifier mode = ptx_has(decoder->statement, PTX_GROUP_TILE_MODE);
    bool out = bulk->way == KCSIM_BULK_OUT;
    if (mode == PTX_M_NONE || mode == PTX_M_TILE) return true;
    if (mode == PTX_M_GATHER4 || mode == PTX_M_SCATTER4)
        return decode_four(decoder, bulk, mode == PTX_M_SCATTER4);
    bulk->im2col = true;
    if (bulk->rank >= 3 && mode == (out ? PTX_M_IM2COL_NO_OFFSETS : PTX_M_IM2COL)) return true;
    return kcsim_decode_fail(decoder, "this copy has no such mode");
}

static bool find_way(kcsim_decoder *decoder, kcsim_bulk *bulk) {
    const ptx_statement *statement = decoder->statement;
    ptx_modifier to = ptx_has(statement, PTX_GROUP_SPACE),
                 from = ptx_has(statement, PTX_GROUP_FROM);
    bool shared = to == PTX_M_SHARED_CLUSTER || to == PTX_M_SHARED_CTA;
    if (statement->op == PTX_OP_BULK_PREFETCH || statement->op == PTX_OP_BULK_TENSOR_PREFETCH) {
        bulk->way = KCSIM_BULK_PREFETCH;
        return to == PTX_M_GLOBAL && from == PTX_M_NONE;
    }
    bulk->way = to == PTX_M_GLOBAL     ? KCSIM_BULK_OUT
                : from == PTX_M_GLOBAL ? KCSIM_BULK_IN
                                       : KCSIM_BULK_ACROSS;
    if (bulk->way == KCSIM_BULK_IN) return shared;
    if (bulk->way == KCSIM_BULK_ACROSS && (bulk->rank || to != PTX_M_SHARED_CLUSTER)) return false;
    return from == PTX_M_SHARED_CTA;
}

static bool is_reduction(ptx_op op) {
    return op == PTX_OP_BULK_REDUCE || op == PTX_OP_BULK_TENSOR_REDUCE;
}

/* PTX ISA, cp.reduce.async.bulk: which types each operation has, to global and to shared memory. */
static bool reduction_exists(ptx_modifier op, ptx_type type, bool to_global) {
    bool half = type == PTX_F16 || type == PTX_BF16;
    switch (op) {
    case PTX_M_AND:
    case PTX_M_OR:
    case PTX_M_XOR: return type == PTX_B32 || (type == PTX_B64 && to_global);
    case PTX_M_INC:
    case PTX_M_DEC: return type == PTX_U32;
    case PTX_M_ADD:
        if (type == PTX_U32 || type == PTX_S32 || type == PTX_U64) return true;
        return to_global && (half || type == PTX_F32 || type == PTX_F64);
    case PTX_M_MIN:
    case PTX_M_MAX:
        if (type == PTX_U32 || type == PTX_S32) return true;
        return to_global && (half || type == PTX_U64 || type == PTX_S64);
    default: return false;
    }
}

static bool decode_reduction(kcsim_decoder *decoder, kcsim_bulk *bulk) {
    const ptx_statement *statement = decoder->statement;
    bool to_global = bulk->way == KCSIM_BULK_OUT;
    bulk->op = (uint8_t)ptx_has(statement, PTX_GROUP_ATOMIC);
    decoder->code->talks_across_blocks |= to_global;
    if (bulk->way == KCSIM_BULK_IN || bulk->op == PTX_M_NONE || bulk->op == PTX_M_EXCH ||
        bulk->op == PTX_M_CAS)
        return kcsim_decode_fail(decoder, "this reduction is not known");
    if (bulk->rank) return statement->type_count == 0;
    bulk->type = (uint8_t)statement->types[0];
    bool noftz = ptx_has(statement, PTX_GROUP_NOFTZ) != PTX_M_NONE;
    bool half = bulk->type == PTX_F16 || bulk->type == PTX_BF16;
    if (statement->type_count != 1 || noftz != (half && bulk->op == PTX_M_ADD) ||
        !reduction_exists((ptx_modifier)bulk->op, (ptx_type)bulk->type, to_global))
        return kcsim_decode_fail(decoder, "this reduction is not known");
    return true;
}

static bool check_completion(kcsim_decoder *decoder, const kcsim_bulk *bulk) {
    ptx_modifier given = ptx_has(decoder->statement, PTX_GROUP_COMPLETION);
    ptx_modifier wanted = bulk->way == KCSIM_BULK_PREFETCH ? PTX_M_NONE
                          : bulk->way == KCSIM_BULK_OUT    ? PTX_M_BULK_GROUP
                                                           : PTX_M_COMPLETE_BYTES;
    if (given == wanted) return true;
    return kcsim_decode_fail(decoder, "%s",
                             wanted == PTX_M_BULK_GROUP ? "a copy to global memory is .bulk_group"
                                                        : "a copy to shared memory is "
                                                          ".mbarrier::complete_tx::bytes");
}

static bool decode_operands(kcsim_decoder *decoder, kcsim_bulk *bulk) {
    operands rest = {decoder->statement->operands, decoder->statement->operand_count};
    bool in = bulk->way == KCSIM_BULK_IN || bulk->way == KCSIM_BULK_ACROSS;
    bool prefetch = bulk->way == KCSIM_BULK_PREFETCH;
    bool tensor_first = bulk->rank && !in;
    if (!prefetch && !(tensor_first ? take_tensor(decoder, &rest, bulk, &bulk->to)
                                    : take_address(decoder, &rest, &bulk->to)))
        return false;
    if (!(bulk->rank && (in || prefetch) ? take_tensor(decoder, &rest, bulk, &bulk->from)
                                         : take_address(decoder, &rest, &bulk->from)))
        return false;
    if (!bulk->rank && !take_value(decoder, &rest, 4, &bulk->size)) return false;
    if (in && !take_address(decoder, &rest, &bulk->mbarrier)) return false;
    if (bulk->im2col && (in || prefetch) && !take_offsets(decoder, &rest, bulk)) return false;
    if (bulk->multicast && !take_value(decoder, &rest, 2, &bulk->blocks)) return false;
    kcsim_ref policy;
    bool hinted = ptx_has(decoder->statement, PTX_GROUP_L2HINT) != PTX_M_NONE;
    if (hinted && !take_value(decoder, &rest, 8, &policy)) return false;
    if (bulk->masked && !take_value(decoder, &rest, 2, &bulk->mask)) return false;
    return !rest.left || kcsim_decode_fail(decoder, "an operand too many");
}

/* PTX ISA, "st.async", "red.async": of sm_90; those that store to global memory are sm_100's. */
static bool send_exists(const ptx_statement *statement) {
    ptx_modifier order = ptx_has(statement, PTX_GROUP_SEMANTICS),
                 op = ptx_has(statement, PTX_GROUP_ATOMIC);
    ptx_type type = statement->type_count == 1 ? statement->types[0] : PTX_NO_TYPE;
    bool wide = type == PTX_U64 || type == PTX_S64;
    if (ptx_has(statement, PTX_GROUP_COMPLETION) != PTX_M_COMPLETE_BYTES) return false;
    if (statement->op == PTX_OP_ST_ASYNC)
        return (order == PTX_M_NONE || order == PTX_M_WEAK) &&
               (type == PTX_B32 || type == PTX_B64 || type == PTX_U32 || type == PTX_S32 || wide ||
                type == PTX_F32 || type == PTX_F64);
    return order == PTX_M_RELAXED && ptx_has(statement, PTX_GROUP_SCOPE) == PTX_M_CLUSTER &&
           (reduction_exists(op, type, false) || (op == PTX_M_ADD && wide)) && type != PTX_B64;
}

/* [to], value or {values}, [mbarrier] */
static bool decode_send(kcsim_decoder *decoder, kcsim_bulk *bulk) {
    const ptx_statement *statement = decoder->statement;
    const ptx_operand *value = &statement->operands[1];
    ptx_modifier vector = ptx_has(statement, PTX_GROUP_VECTOR);
    uint32_t count = vector == PTX_M_V2 ? 2 : vector == PTX_M_V4 ? 4 : 1;
    ptx_modifier space = ptx_has(statement, PTX_GROUP_SPACE);
    bool shared = space == PTX_M_NONE || space == PTX_M_SHARED || space == PTX_M_SHARED_CTA ||
                  space == PTX_M_SHARED_CLUSTER;
    if (!shared || vector == PTX_M_V8 || !send_exists(statement) ||
        count * kcsim_type_bytes(statement->types[0]) > 16)
        return kcsim_decode_fail(decoder, "this form is not known");
    bulk->way = KCSIM_BULK_SEND;
    bulk->op = (uint8_t)ptx_has(statement, PTX_GROUP_ATOMIC);
    bulk->type = (uint8_t)statement->types[0];
    bulk->value_count = (uint8_t)count;
    bulk->value_bytes = (uint8_t)kcsim_type_bytes(statement->types[0]);
    if (count > 1 && (value->kind != PTX_OPERAND_VECTOR || value->element_count != count))
        return kcsim_decode_fail(decoder, "%u values were expected", count);
    for (uint32_t i = 0; i < count; i++)
        if (!kcsim_decode_source(decoder, count > 1 ? &value->elements[i] : value,
                                 bulk->value_bytes, statement->types[0], &bulk->values[i]))
            return false;
    operands rest = {statement->operands, 1};
    if (!take_address(decoder, &rest, &bulk->to)) return false;
    rest = (operands){statement->operands + 2, 1};
    return take_address(decoder, &rest, &bulk->mbarrier) &&
           kcsim_decode_needs(decoder, 90, false, 81);
}

bool kcsim_decode_bulk(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    kcsim_bulk *bulk = kcsim_arena_alloc(&decoder->module->arena, sizeof *bulk);
    if (!bulk) return kcsim_decode_fail(decoder, "out of host memory");
    kcsim_ref zero = {.at = KCSIM_CONSTANT};
    *bulk = (kcsim_bulk){.size = zero, .blocks = zero, .mask = zero, .offsets = {zero, zero, zero}};
    bulk->to.ref = bulk->from.ref = bulk->mbarrier.ref = zero;
    ptx_modifier dimensions = ptx_has(statement, PTX_GROUP_DIMENSIONS);
    if (ptx_op_takes(statement->op, PTX_GROUP_DIMENSIONS)) {
        if (!dimensions) return kcsim_decode_fail(decoder, "a tensor copy is .1d to .5d");
        bulk->rank = (uint8_t)(dimensions - PTX_M_DIM1 + 1);
    }
    insn->kind = KCSIM_DO_BULK;
    insn->fn.bulk = bulk;
    insn->cluster = true;
    decoder->code->bulk = decoder->code->orders = true;
    if (statement->op == PTX_OP_ST_ASYNC || statement->op == PTX_OP_RED_ASYNC)
        return decode_send(decoder, bulk);
    if (!find_way(decoder, bulk))
        return kcsim_decode_fail(decoder, "a copy between these spaces is not known");
    bulk->multicast = ptx_has(statement, PTX_GROUP_MULTICAST) != PTX_M_NONE;
    if (bulk->multicast &&
        (bulk->way != KCSIM_BULK_IN || ptx_has(statement, PTX_GROUP_SPACE) != PTX_M_SHARED_CLUSTER))
        return kcsim_decode_fail(decoder, "a multicast goes from global to .shared::cluster");
    bulk->masked = ptx_has(statement, PTX_GROUP_CP_MASK) != PTX_M_NONE;
    if (bulk->masked && bulk->way != KCSIM_BULK_OUT)
        return kcsim_decode_fail(decoder, "a masked copy goes from .shared::cta to global");
    if (bulk->masked && !kcsim_decode_needs(decoder, 100, false, 86)) return false;
    if (decoder->module->target < 90)
        return kcsim_decode_fail(decoder, "bulk copies need a target of sm_90 or newer");
    if (!find_mode(decoder, bulk)) return false;
    if (is_reduction(statement->op) && !decode_reduction(decoder, bulk)) return false;
    return check_completion(decoder, bulk) && decode_operands(decoder, bulk);
}
