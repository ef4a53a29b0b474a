/* Comparisons, selections, moves, conversions. */
#include "runtime/sim/cuda/decode.h"

static bool need_types(kcsim_decoder *decoder, unsigned count) {
    if (decoder->statement->type_count == count) return true;
    return kcsim_decode_fail(decoder, "%u types are needed", count);
}

/* lo ls hi hs are the unsigned comparisons. */
static ptx_modifier plain_compare(ptx_modifier compare) {
    switch (compare) {
    case PTX_M_CLO: return PTX_M_LT;
    case PTX_M_CLS: return PTX_M_LE;
    case PTX_M_CHI: return PTX_M_GT;
    case PTX_M_CHS: return PTX_M_GE;
    default: return compare;
    }
}

static bool is_pair(ptx_type type) {
    return type == PTX_F16X2 || type == PTX_BF16X2;
}

static bool decode_compare(kcsim_decoder *decoder, ptx_type type) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    unsigned bytes = kcsim_type_bytes(type);
    bool ftz = ptx_has(statement, PTX_GROUP_FTZ) != PTX_M_NONE;
    ptx_type single = is_pair(type) ? (type == PTX_F16X2 ? PTX_F16 : PTX_BF16) : type;
    insn->count = is_pair(type) ? 2 : 1; /* pairs of halves are compared half by half */
    insn->fn.compare =
        kcsim_compare_find(plain_compare(ptx_has(statement, PTX_GROUP_COMPARE)), single, ftz);
    if (!insn->fn.compare) return kcsim_decode_fail(decoder, "this comparison is not known");
    insn->mode = (uint8_t)ptx_has(statement, PTX_GROUP_BOOL);
    if (insn->mode && statement->operand_count != 4)
        return kcsim_decode_fail(decoder, "a comparison with .and, .or or .xor has three sources");
    return kcsim_decode_source(decoder, &statement->operands[1], bytes, type, &insn->a) &&
           kcsim_decode_source(decoder, &statement->operands[2], bytes, type, &insn->b) &&
           (statement->operand_count < 4 ||
            kcsim_decode_predicate(decoder, &statement->operands[3], &insn->c, &insn->negate_c));
}

static bool decode_setp(kcsim_decoder *decoder) {
    if (!need_types(decoder, 1)) return false;
    ptx_type type = decoder->statement->types[0];
    decoder->insn->kind = is_pair(type) ? KCSIM_DO_COMPARE_PAIR : KCSIM_DO_COMPARE;
    return decode_compare(decoder, type) &&
           kcsim_decode_pair(decoder, &decoder->statement->operands[0], 0, 0);
}

static bool decode_set(kcsim_decoder *decoder) {
    if (!need_types(decoder, 2)) return false;
    ptx_type to = decoder->statement->types[0];
    decoder->insn->kind = KCSIM_DO_SET;
    decoder->insn->bytes = (uint8_t)kcsim_type_bytes(to);
    switch (to) {
    case PTX_F32: decoder->insn->imm = 0x3f800000; break;
    case PTX_F16:
    case PTX_F16X2: decoder->insn->imm = 0x3c003c00; break;
    case PTX_BF16:
    case PTX_BF16X2: decoder->insn->imm = 0x3f803f80; break;
    default: decoder->insn->imm = -1; break;
    }
    if (decoder->insn->bytes != 4 && decoder->insn->bytes != 2)
        return kcsim_decode_fail(decoder, "set gives 16 or 32 bits");
    return decode_compare(decoder, decoder->statement->types[1]) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], decoder->insn->bytes,
                                    &decoder->insn->d);
}

static bool decode_sides(kcsim_decoder *decoder, ptx_type type) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    unsigned bytes = kcsim_type_bytes(type);
    insn->bytes = (uint8_t)bytes;
    insn->define = KCSIM_DEFINE_SELECTED;
    return kcsim_decode_source(decoder, &statement->operands[1], bytes, type, &insn->a) &&
           kcsim_decode_source(decoder, &statement->operands[2], bytes, type, &insn->b) &&
           kcsim_decode_destination(decoder, &statement->operands[0], bytes, &insn->d);
}

static bool decode_selp(kcsim_decoder *decoder) {
    if (!need_types(decoder, 1)) return false;
    decoder->insn->kind = KCSIM_DO_SELECT;
    return decode_sides(decoder, decoder->statement->types[0]) &&
           kcsim_decode_predicate(decoder, &decoder->statement->operands[3], &decoder->insn->c,
                                  &decoder->insn->negate_c);
}

/* d = c >= 0 ? a : b */
static bool decode_slct(kcsim_decoder *decoder) {
    if (!need_types(decoder, 2)) return false;
    ptx_type type = decoder->statement->types[1];
    unsigned bytes = kcsim_type_bytes(type);
    decoder->insn->kind = KCSIM_DO_SELECT;
    decoder->insn->fn.compare = kcsim_compare_find(
        PTX_M_GE, type, type == PTX_F32 && ptx_has(decoder->statement, PTX_GROUP_FTZ));
    if (!decoder->insn->fn.compare) return kcsim_decode_fail(decoder, "slct compares s32 or f32");
    return decode_sides(decoder, decoder->statement->types[0]) &&
           kcsim_decode_source(decoder, &decoder->statement->operands[3], bytes, type,
                               &decoder->insn->c);
}

static bool decode_testp(kcsim_decoder *decoder) {
    if (!need_types(decoder, 1)) return false;
    ptx_type type = decoder->statement->types[0];
    decoder->insn->kind = KCSIM_DO_TESTP;
    decoder->insn->mode = (uint8_t)ptx_has(decoder->statement, PTX_GROUP_TEST);
    decoder->insn->bytes = (uint8_t)kcsim_type_bytes(type);
    if (!decoder->insn->mode || (type != PTX_F32 && type != PTX_F64))
        return kcsim_decode_fail(decoder, "testp needs a test, and f32 or f64");
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], decoder->insn->bytes,
                               type, &decoder->insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 0,
                                    &decoder->insn->d);
}

/* ---- mov ---- */

static bool decode_pack(kcsim_decoder *decoder, unsigned bytes) {
    const ptx_operand *vector = &decoder->statement->operands[1];
    unsigned part = vector->element_count ? bytes / vector->element_count : 0;
    if (part < 1 || part * vector->element_count != bytes)
        return kcsim_decode_fail(decoder, "the parts must fill the register");
    decoder->insn->kind = KCSIM_DO_PACK;
    decoder->insn->element = (uint8_t)part;
    kcsim_ref *list = kcsim_decode_list(decoder, vector->element_count);
    for (uint32_t i = 0; list && i < vector->element_count; i++)
        if (!kcsim_decode_source(decoder, &vector->elements[i], part < 2 ? 2 : part, PTX_NO_TYPE,
                                 &list[i]))
            return false;
    return list && kcsim_decode_destination(decoder, &decoder->statement->operands[0], bytes,
                                            &decoder->insn->d);
}

static bool decode_unpack(kcsim_decoder *decoder, unsigned bytes) {
    const ptx_operand *vector = &decoder->statement->operands[0];
    unsigned part = vector->element_count ? bytes / vector->element_count : 0;
    if (part < 1 || part * vector->element_count != bytes)
        return kcsim_decode_fail(decoder, "the parts must fill the register");
    decoder->insn->kind = KCSIM_DO_UNPACK;
    decoder->insn->element = (uint8_t)part;
    kcsim_ref *list = kcsim_decode_list(decoder, vector->element_count);
    for (uint32_t i = 0; list && i < vector->element_count; i++)
        if (!kcsim_decode_destination(decoder, &vector->elements[i], part < 2 ? 2 : part, &list[i]))
            return false;
    return list && kcsim_decode_source(decoder, &decoder->statement->operands[1], bytes,
                                       PTX_NO_TYPE, &decoder->insn->a);
}

static bool decode_mov_predicate(kcsim_decoder *decoder) {
    const ptx_operand *source = &decoder->statement->operands[1];
    bool negated = false;
    decoder->insn->kind = KCSIM_DO_PREDICATE;
    decoder->insn->imm = 12; /* a */
    if (source->kind == PTX_OPERAND_SPECIAL) {
        decoder->insn->kind = KCSIM_DO_SPECIAL;
        decoder->insn->mode = (uint8_t)source->special;
        if (source->special != PTX_SPECIAL_IS_EXPLICIT_CLUSTER)
            return kcsim_decode_fail(decoder, "this special register is no predicate");
    } else if (source->kind == PTX_OPERAND_INTEGER) decoder->insn->imm = source->integer ? 15 : 0;
    else if (!kcsim_decode_predicate(decoder, source, &decoder->insn->a, &negated)) return false;
    if (negated) decoder->insn->imm = 3;
    return kcsim_decode_destination(decoder, &decoder->statement->operands[0], 0,
                                    &decoder->insn->d);
}

static bool decode_mov(kcsim_decoder *decoder) {
    if (!need_types(decoder, 1)) return false;
    const ptx_operand *operands = decoder->statement->operands;
    ptx_type type = decoder->statement->types[0];
    unsigned bytes = kcsim_type_bytes(type);
    kcsim_insn *insn = decoder->insn;
    if (type == PTX_PRED) return decode_mov_predicate(decoder);
    insn->bytes = (uint8_t)bytes;
    insn->define = KCSIM_DEFINE_LOGIC;
    insn->part = 0xf0; /* a */
    if (operands[1].kind == PTX_OPERAND_VECTOR) return decode_pack(decoder, bytes);
    if (operands[0].kind == PTX_OPERAND_VECTOR) return decode_unpack(decoder, bytes);
    if (operands[1].kind == PTX_OPERAND_SPECIAL) {
        insn->kind = KCSIM_DO_SPECIAL;
        insn->mode = (uint8_t)operands[1].special;
    } else {
        insn->kind = KCSIM_DO_MOVE;
        if (!kcsim_decode_source(decoder, &operands[1], bytes, type, &insn->a)) return false;
    }
    return kcsim_decode_destination(decoder, &operands[0], bytes, &insn->d);
}

/* ---- cvt ---- */

static kcsim_lane_op extension(unsigned from_bits, bool is_signed) {
    if (from_bits == 16) return is_signed ? KCSIM_LANE_EXTEND_S16 : KCSIM_LANE_EXTEND_U16;
    return is_signed ? KCSIM_LANE_EXTEND_S32 : KCSIM_LANE_EXTEND_U32;
}

static bool is_integer(ptx_type type) {
    return ptx_types[type].kind == PTX_KIND_UINT || ptx_types[type].kind == PTX_KIND_SINT;
}

/* The lane kernel of a common conversion; NULL sends it the long way. The type names the result's
 * width. */
static kcsim_lane_fn fast_conversion(const kcsim_conversion *conversion) {
    ptx_type to = conversion->to, from = conversion->from;
    unsigned to_bits = ptx_types[to].bits, from_bits = ptx_types[from].bits;
    bool plain =
        !conversion->sat && !conversion->relu && !conversion->satfinite && !conversion->ftz;
    if (!plain || to_bits != conversion->to_bytes * 8u || from_bits != conversion->from_bytes * 8u)
        return NULL;
    ptx_type unsigned_to = to_bits == 16 ? PTX_U16 : to_bits == 32 ? PTX_U32 : PTX_U64;
    if (is_integer(from) && is_integer(to)) {
        if (to_bits > from_bits)
            return kcsim_lane_find(extension(from_bits, ptx_types[from].kind == PTX_KIND_SINT),
                                   unsigned_to, false);
        if (to_bits < from_bits)
            return kcsim_lane_find(from_bits == 64 ? KCSIM_LANE_TRUNCATE_64
                                                   : KCSIM_LANE_TRUNCATE_32,
                                   unsigned_to, false);
        return NULL;
    }
    bool nearest = conversion->round == PTX_M_RN;
    if (from == PTX_S32 && nearest) return kcsim_lane_find(KCSIM_LANE_FROM_S32, to, false);
    if (from == PTX_U32 && nearest) return kcsim_lane_find(KCSIM_LANE_FROM_U32, to, false);
    if (conversion->round != PTX_M_NONE && !nearest) return NULL;
    if (from == PTX_F16 && to == PTX_F32) return kcsim_lane_find(KCSIM_LANE_FROM_F16, to, false);
    if (from == PTX_BF16 && to == PTX_F32) return kcsim_lane_find(KCSIM_LANE_FROM_BF16, to, false);
    bool widens = to == PTX_F64 || to == PTX_F16 || to == PTX_BF16;
    if (from == PTX_F32 && widens) return kcsim_lane_find(KCSIM_LANE_FROM_F32, to, false);
    return NULL;
}

/* A register may be wider than the type that is read from it or put into it. */
static bool decode_wide_operand(kcsim_decoder *decoder, const ptx_operand *operand, ptx_type type,
                                bool source, uint8_t *bytes, kcsim_ref *out) {
    int have = kcsim_register_bytes(decoder, operand);
    unsigned least = kcsim_type_bytes(type) < 2 ? 2 : kcsim_type_bytes(type);
    *bytes = (uint8_t)(have > 0 && (unsigned)have > least ? (unsigned)have : least);
    return source ? kcsim_decode_source(decoder, operand, *bytes, type, out)
                  : kcsim_decode_destination(decoder, operand, *bytes, out);
}

static bool decode_cvt(kcsim_decoder *decoder) {
    if (!need_types(decoder, 2)) return false;
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    ptx_modifier sat = ptx_has(statement, PTX_GROUP_SAT);
    kcsim_conversion *conversion = kcsim_arena_alloc(&decoder->module->arena, sizeof *conversion);
    if (!conversion) return kcsim_decode_fail(decoder, "out of host memory");
    *conversion = (kcsim_conversion){.to = statement->types[0],
                                     .from = statement->types[1],
                                     .round = ptx_has(statement, PTX_GROUP_ROUND),
                                     .ftz = ptx_has(statement, PTX_GROUP_FTZ),
                                     .sat = sat == PTX_M_SAT,
                                     .satfinite = sat == PTX_M_SATFINITE,
                                     .relu = ptx_has(statement, PTX_GROUP_RELU)};
    const char *problem = kcsim_conversion_problem(conversion, statement->operand_count == 3);
    if (problem) return kcsim_decode_fail(decoder, "%s", problem);
    uint8_t second;
    if (!decode_wide_operand(decoder, &statement->operands[0], conversion->to, false,
                             &conversion->to_bytes, &insn->d) ||
        !decode_wide_operand(decoder, &statement->operands[1], conversion->from, true,
                             &conversion->from_bytes, &insn->a))
        return false;
    insn->b = kcsim_absent();
    if (statement->operand_count == 3 &&
        !decode_wide_operand(decoder, &statement->operands[2], conversion->from, true, &second,
                             &insn->b))
        return false;
    insn->bytes = conversion->to_bytes;
    kcsim_lane_fn fast = statement->operand_count == 2 ? fast_conversion(conversion) : NULL;
    if (is_integer(conversion->from) && is_integer(conversion->to) && !conversion->sat) {
        insn->define = KCSIM_DEFINE_MOVED;
        insn->part = 1;
        insn->element = conversion->from_bytes;
    } else if (!fast) {
        insn->define = KCSIM_DEFINE_CONVERTED;
    }
    if (fast) {
        insn->kind = KCSIM_DO_LANES;
        insn->fn.lanes = fast;
        insn->b = (kcsim_ref){.at = KCSIM_CONSTANT};
    } else {
        insn->kind = KCSIM_DO_CONVERT;
        insn->fn.conversion = conversion;
    }
    return true;
}

/* ---- addresses ---- */

/* Global and const addresses are generic ones; the other spaces lie in windows. */
static int64_t window_of(ptx_space space) {
    switch (space) {
    case PTX_SPACE_SHARED: return KCSIM_SHARED_WINDOW;
    case PTX_SPACE_LOCAL: return KCSIM_LOCAL_WINDOW;
    case PTX_SPACE_PARAM: return KCSIM_PARAM_WINDOW;
    default: return 0;
    }
}

static bool decode_cvta(kcsim_decoder *decoder) {
    if (!need_types(decoder, 1)) return false;
    ptx_space space = kcsim_statement_space(decoder->statement);
    ptx_type type = decoder->statement->types[0];
    bool to = ptx_has(decoder->statement, PTX_GROUP_TO);
    if (space == PTX_SPACE_GENERIC) return kcsim_decode_fail(decoder, "cvta needs a space");
    if (type != PTX_U64) return kcsim_decode_fail(decoder, "only 64-bit addresses are supported");
    decoder->insn->kind = KCSIM_DO_WINDOW;
    decoder->insn->bytes = 8;
    decoder->insn->imm = to ? -window_of(space) : window_of(space);
    if (space == PTX_SPACE_SHARED && !to) decoder->code->uses_shared_window = true;
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], 8, type,
                               &decoder->insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 8,
                                    &decoder->insn->d);
}

static bool decode_isspacep(kcsim_decoder *decoder) {
    decoder->insn->kind = KCSIM_DO_ISSPACE;
    decoder->insn->space = (uint8_t)kcsim_statement_space(decoder->statement);
    decoder->insn->cluster = kcsim_reaches_cluster(decoder->statement);
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], 8, PTX_U64,
                               &decoder->insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 0,
                                    &decoder->insn->d);
}

bool kcsim_decode_other(kcsim_decoder *decoder) {
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_SETP: return decode_setp(decoder);
    case PTX_FAMILY_SET: return decode_set(decoder);
    case PTX_FAMILY_SELP: return decode_selp(decoder);
    case PTX_FAMILY_SLCT: return decode_slct(decoder);
    case PTX_FAMILY_TESTP: return decode_testp(decoder);
    case PTX_FAMILY_MOV: return decode_mov(decoder);
    case PTX_FAMILY_CVT: return decode_cvt(decoder);
    case PTX_FAMILY_CVTA: return decode_cvta(decoder);
    case PTX_FAMILY_ISSPACEP: return decode_isspacep(decoder);
    case PTX_FAMILY_MAPA: return kcsim_decode_cluster(decoder);
    default: return kcsim_decode_fail(decoder, "this instruction is not known");
    }
}
