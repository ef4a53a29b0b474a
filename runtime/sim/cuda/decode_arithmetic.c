/* Instructions that one lane kernel carries out, and the carry chain. */
#include "runtime/sim/cuda/decode.h"

static bool is_float(ptx_type type) {
    return ptx_types[type].kind == PTX_KIND_FLOAT || type == PTX_F16X2 || type == PTX_BF16X2 ||
           type == PTX_F32X2;
}

static bool is_half(ptx_type type) {
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

/* op.lo, op.hi and op.wide. */
static kcsim_lane_op by_half(const ptx_statement *statement, kcsim_lane_op low, kcsim_lane_op high,
                             kcsim_lane_op wide) {
    switch (ptx_has(statement, PTX_GROUP_HALF)) {
    case PTX_M_HI: return high;
    case PTX_M_WIDE: return wide;
    case PTX_M_LO: return low;
    default: return KCSIM_LANE_OP_COUNT;
    }
}

/* By .NaN, then .xorsign.abs; of three operands .NaN, then .abs. A max follows its min. */
static kcsim_lane_op minimum_op(const ptx_statement *statement, bool is_min) {
    static const kcsim_lane_op of_two[2][2] = {{KCSIM_LANE_MIN, KCSIM_LANE_MIN_XORSIGN},
                                               {KCSIM_LANE_MIN_NAN, KCSIM_LANE_MIN_NAN_XORSIGN}};
    static const kcsim_lane_op of_three[2][2] = {{KCSIM_LANE_MIN3, KCSIM_LANE_MIN3_ABS},
                                                 {KCSIM_LANE_MIN3_NAN, KCSIM_LANE_MIN3_NAN_ABS}};
    bool nan = ptx_has(statement, PTX_GROUP_NANMODE), abs = ptx_has(statement, PTX_GROUP_ABSMODE);
    kcsim_lane_op least = statement->operand_count == 4 ? of_three[nan][abs] : of_two[nan][abs];
    return is_min ? least : (kcsim_lane_op)((int)least + 1);
}

static kcsim_lane_op shift_op(const ptx_statement *statement) {
    bool clamp = ptx_has(statement, PTX_GROUP_WRAP) == PTX_M_CLAMP;
    if (ptx_has(statement, PTX_GROUP_DIRECTION) == PTX_M_LEFT)
        return clamp ? KCSIM_LANE_SHF_L_CLAMP : KCSIM_LANE_SHF_L_WRAP;
    return clamp ? KCSIM_LANE_SHF_R_CLAMP : KCSIM_LANE_SHF_R_WRAP;
}

static kcsim_lane_op permute_op(const ptx_statement *statement) {
    switch (ptx_has(statement, PTX_GROUP_PERMUTE)) {
    case PTX_M_F4E: return KCSIM_LANE_PRMT_F4E;
    case PTX_M_B4E: return KCSIM_LANE_PRMT_B4E;
    case PTX_M_RC8: return KCSIM_LANE_PRMT_RC8;
    case PTX_M_ECL: return KCSIM_LANE_PRMT_ECL;
    case PTX_M_ECR: return KCSIM_LANE_PRMT_ECR;
    case PTX_M_RC16: return KCSIM_LANE_PRMT_RC16;
    default: return KCSIM_LANE_PRMT;
    }
}

/* The rows of dp4a and dp2a stand in the order UU US SU SS. */
static kcsim_lane_op dot_op(const ptx_statement *statement, kcsim_lane_op first) {
    if (statement->type_count != 2) return KCSIM_LANE_OP_COUNT;
    int a = statement->types[0] == PTX_S32, b = statement->types[1] == PTX_S32;
    return (kcsim_lane_op)((int)first + 2 * a + b);
}

static kcsim_lane_op lane_op(const ptx_statement *statement, ptx_type type) {
    bool wrap = ptx_has(statement, PTX_GROUP_WRAP) == PTX_M_WRAP;
    bool saturated = ptx_has(statement, PTX_GROUP_SAT) && !is_float(type);
    bool coarse = type == PTX_F64 && ptx_has(statement, PTX_GROUP_FTZ);
    switch (statement->op) {
    case PTX_OP_ADD: return saturated ? KCSIM_LANE_ADD_SAT : KCSIM_LANE_ADD;
    case PTX_OP_SUB: return saturated ? KCSIM_LANE_SUB_SAT : KCSIM_LANE_SUB;
    case PTX_OP_MUL:
        return is_float(type)
                   ? KCSIM_LANE_MUL
                   : by_half(statement, KCSIM_LANE_MUL, KCSIM_LANE_MUL_HI, KCSIM_LANE_MUL_WIDE);
    case PTX_OP_MAD:
        if (saturated) return KCSIM_LANE_MAD_HI_SAT;
        return is_float(type)
                   ? KCSIM_LANE_FMA
                   : by_half(statement, KCSIM_LANE_MAD, KCSIM_LANE_MAD_HI, KCSIM_LANE_MAD_WIDE);
    case PTX_OP_MUL24:
        return by_half(statement, KCSIM_LANE_MUL24, KCSIM_LANE_MUL24_HI, KCSIM_LANE_OP_COUNT);
    case PTX_OP_MAD24:
        if (saturated) return KCSIM_LANE_MAD24_HI_SAT;
        return by_half(statement, KCSIM_LANE_MAD24, KCSIM_LANE_MAD24_HI, KCSIM_LANE_OP_COUNT);
    case PTX_OP_FMA: return KCSIM_LANE_FMA;
    case PTX_OP_DIV:
        return ptx_has(statement, PTX_GROUP_APPROX) == PTX_M_APPROX ? KCSIM_LANE_DIV_APPROX
                                                                   : KCSIM_LANE_DIV;
    case PTX_OP_REM: return KCSIM_LANE_REM;
    case PTX_OP_ABS: return KCSIM_LANE_ABS;
    case PTX_OP_NEG: return KCSIM_LANE_NEG;
    case PTX_OP_MIN: return minimum_op(statement, true);
    case PTX_OP_MAX: return minimum_op(statement, false);
    case PTX_OP_SAD: return KCSIM_LANE_SAD;
    case PTX_OP_AND: return KCSIM_LANE_AND;
    case PTX_OP_OR: return KCSIM_LANE_OR;
    case PTX_OP_XOR: return KCSIM_LANE_XOR;
    case PTX_OP_NOT: return KCSIM_LANE_NOT;
    case PTX_OP_CNOT: return KCSIM_LANE_CNOT;
    case PTX_OP_SHL: return KCSIM_LANE_SHL;
    case PTX_OP_SHR: return KCSIM_LANE_SHR;
    case PTX_OP_SHF: return shift_op(statement);
    case PTX_OP_BFE: return KCSIM_LANE_BFE;
    case PTX_OP_BFI: return KCSIM_LANE_BFI;
    case PTX_OP_BFIND:
        return ptx_has(statement, PTX_GROUP_SHIFTAMT) ? KCSIM_LANE_BFIND_SHIFT : KCSIM_LANE_BFIND;
    case PTX_OP_BREV: return KCSIM_LANE_BREV;
    case PTX_OP_CLZ: return KCSIM_LANE_CLZ;
    case PTX_OP_POPC: return KCSIM_LANE_POPC;
    case PTX_OP_PRMT: return permute_op(statement);
    case PTX_OP_LOP3: return KCSIM_LANE_LOP3;
    case PTX_OP_BMSK: return wrap ? KCSIM_LANE_BMSK_WRAP : KCSIM_LANE_BMSK_CLAMP;
    case PTX_OP_SZEXT: return wrap ? KCSIM_LANE_SZEXT_WRAP : KCSIM_LANE_SZEXT_CLAMP;
    case PTX_OP_DP4A: return dot_op(statement, KCSIM_LANE_DP4A_UU);
    case PTX_OP_DP2A:
        return dot_op(statement, ptx_has(statement, PTX_GROUP_HALF) == PTX_M_HI
                                     ? KCSIM_LANE_DP2A_HI_UU
                                     : KCSIM_LANE_DP2A_LO_UU);
    case PTX_OP_RCP: return coarse ? KCSIM_LANE_RCP_COARSE : KCSIM_LANE_RCP;
    case PTX_OP_SQRT: return KCSIM_LANE_SQRT;
    case PTX_OP_RSQRT: return coarse ? KCSIM_LANE_RSQRT_COARSE : KCSIM_LANE_RSQRT;
    case PTX_OP_SIN: return KCSIM_LANE_SIN;
    case PTX_OP_COS: return KCSIM_LANE_COS;
    case PTX_OP_LG2: return KCSIM_LANE_LG2;
    case PTX_OP_EX2: return KCSIM_LANE_EX2;
    case PTX_OP_TANH: return KCSIM_LANE_TANH;
    case PTX_OP_COPYSIGN: return KCSIM_LANE_COPYSIGN;
    default: return KCSIM_LANE_OP_COUNT;
    }
}

/* Bytes of operand `index` (0 is the destination) where they are not those of the type. */
static unsigned operand_bytes(kcsim_lane_op op, ptx_op instruction, unsigned index,
                              unsigned bytes) {
    switch (instruction) {
    case PTX_OP_SHL:
    case PTX_OP_SHR: return index == 2 ? 4 : bytes;
    case PTX_OP_BFE: return index >= 2 ? 4 : bytes;
    case PTX_OP_BFI: return index >= 3 ? 4 : bytes;
    case PTX_OP_BFIND:
    case PTX_OP_CLZ:
    case PTX_OP_POPC: return index == 0 ? 4 : bytes;
    default: break;
    }
    bool wide = op == KCSIM_LANE_MUL_WIDE || op == KCSIM_LANE_MAD_WIDE;
    return wide && (index == 0 || index == 3) ? bytes * 2 : bytes;
}

/* add.f32.f16 and its kin: the sum is f32's, the first operand (of fma the first two) a half. */
static bool decode_mixed(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    ptx_op op = statement->op;
    bool mixes = op == PTX_OP_ADD || op == PTX_OP_SUB || op == PTX_OP_FMA;
    bool halves = statement->types[1] == PTX_F16 || statement->types[1] == PTX_BF16;
    if (!mixes || statement->types[0] != PTX_F32 || !halves)
        return kcsim_decode_fail(decoder, "these two types do not go together");
    decoder->insn->widened = op == PTX_OP_FMA ? 2 : 1;
    decoder->insn->widen =
        kcsim_lane_find(statement->types[1] == PTX_F16 ? KCSIM_LANE_FROM_F16 : KCSIM_LANE_FROM_BF16,
                        PTX_F32, false);
    return true;
}

static bool decode_operands(kcsim_decoder *decoder, kcsim_lane_op op, ptx_type type) {
    const ptx_statement *statement = decoder->statement;
    kcsim_ref *sources[] = {&decoder->insn->a, &decoder->insn->b, &decoder->insn->c,
                            &decoder->insn->e};
    unsigned bytes = kcsim_type_bytes(type);
    unsigned result = operand_bytes(op, statement->op, 0, bytes);
    decoder->insn->bytes = (uint8_t)result;
    for (unsigned i = 1; i < statement->operand_count; i++) {
        unsigned wanted =
            i <= decoder->insn->widened ? 2 : operand_bytes(op, statement->op, i, bytes);
        if (!kcsim_decode_source(decoder, &statement->operands[i], wanted, type, sources[i - 1]))
            return false;
    }
    return kcsim_decode_destination(decoder, &statement->operands[0], result, &decoder->insn->d);
}

static bool decode_rounding(kcsim_decoder *decoder, ptx_type type) {
    ptx_modifier round = ptx_has(decoder->statement, PTX_GROUP_ROUND);
    if (round == PTX_M_NONE || round == PTX_M_RN) return true;
    bool directed = round == PTX_M_RZ || round == PTX_M_RM || round == PTX_M_RP;
    bool has_modes = type == PTX_F32 || type == PTX_F64 || type == PTX_F32X2;
    if (!directed || !has_modes)
        return kcsim_decode_fail(decoder, "this rounding does not exist for this type");
    decoder->insn->round = (uint8_t)round;
    return true;
}

static bool decode_float_extras(kcsim_decoder *decoder, ptx_type type) {
    const ptx_statement *statement = decoder->statement;
    if (!decode_rounding(decoder, type)) return false;
    if (ptx_has(statement, PTX_GROUP_FTZ) && is_half(type))
        decoder->insn->flush = kcsim_lane_find(KCSIM_LANE_FLUSH, type, false);
    kcsim_lane_op post = ptx_has(statement, PTX_GROUP_SAT)    ? KCSIM_LANE_SATURATE
                         : ptx_has(statement, PTX_GROUP_RELU) ? KCSIM_LANE_RELU
                                                              : KCSIM_LANE_OP_COUNT;
    if (post == KCSIM_LANE_OP_COUNT) return true;
    decoder->insn->post = kcsim_lane_find(post, type, false);
    return decoder->insn->post ? true : kcsim_decode_fail(decoder, "this type does not saturate");
}

static bool decode_carry(kcsim_decoder *decoder, ptx_type type) {
    const ptx_statement *statement = decoder->statement;
    unsigned bytes = kcsim_type_bytes(type);
    ptx_modifier half = ptx_has(statement, PTX_GROUP_HALF);
    bool is_mad = statement->op == PTX_OP_MAD || statement->op == PTX_OP_MADC;
    if ((bytes != 4 && bytes != 8) || is_float(type) ||
        (is_mad && half != PTX_M_LO && half != PTX_M_HI))
        return kcsim_decode_fail(decoder,
                                 "carry needs a type of 32 or 64 bits, and mad .lo or .hi");
    decoder->insn->kind = KCSIM_DO_CARRY;
    return decode_operands(decoder, KCSIM_LANE_OP_COUNT, type);
}

/* and.pred and its kin: bit (2 * a + b) of imm is the result. */
static bool decode_predicates(kcsim_decoder *decoder) {
    static const struct {
        ptx_op op;
        int table;
    } tables[] = {{PTX_OP_AND, 8}, {PTX_OP_OR, 14}, {PTX_OP_XOR, 6}, {PTX_OP_NOT, 3}};
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    bool unused;
    insn->kind = KCSIM_DO_PREDICATE;
    for (unsigned i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (tables[i].op == statement->op) insn->imm = tables[i].table;
    if (!insn->imm)
        return kcsim_decode_fail(decoder, "this instruction does not work on predicates");
    return kcsim_decode_destination(decoder, &statement->operands[0], 0, &insn->d) &&
           kcsim_decode_predicate(decoder, &statement->operands[1], &insn->a, &unused) &&
           (statement->operand_count < 3 ||
            kcsim_decode_predicate(decoder, &statement->operands[2], &insn->b, &unused));
}

/* Bytes of a number of a packed type, which instructions treat one by one. */
static unsigned packed_bytes(ptx_type type) {
    if (ptx_types[type].kind != PTX_KIND_PACKED) return 0;
    return type == PTX_F32X2 ? 4 : 2;
}

static void decode_definedness(kcsim_decoder *decoder, ptx_type type) {
    static const struct {
        ptx_op op;
        kcsim_define_rule rule;
        uint8_t part;
    } rules[] = {
        {PTX_OP_AND, KCSIM_DEFINE_LOGIC, 0xc0}, {PTX_OP_OR, KCSIM_DEFINE_LOGIC, 0xfc},
        {PTX_OP_XOR, KCSIM_DEFINE_LOGIC, 0x3c}, {PTX_OP_NOT, KCSIM_DEFINE_LOGIC, 0x0f},
        {PTX_OP_SHL, KCSIM_DEFINE_MOVED, 1},    {PTX_OP_SHR, KCSIM_DEFINE_MOVED, 1},
        {PTX_OP_SHF, KCSIM_DEFINE_MOVED, 2},    {PTX_OP_PRMT, KCSIM_DEFINE_MOVED, 2},
        {PTX_OP_BFE, KCSIM_DEFINE_MOVED, 1},    {PTX_OP_BFI, KCSIM_DEFINE_MOVED, 2},
        {PTX_OP_BREV, KCSIM_DEFINE_MOVED, 1},   {PTX_OP_SZEXT, KCSIM_DEFINE_MOVED, 1},
        {PTX_OP_ADD, KCSIM_DEFINE_UPWARD, 0},   {PTX_OP_SUB, KCSIM_DEFINE_UPWARD, 0},
        {PTX_OP_MUL, KCSIM_DEFINE_UPWARD, 0},   {PTX_OP_MAD, KCSIM_DEFINE_UPWARD, 0},
        {PTX_OP_NEG, KCSIM_DEFINE_UPWARD, 0},
    };
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    bool is_high = ptx_has(statement, PTX_GROUP_HALF) == PTX_M_HI;
    insn->element = (uint8_t)kcsim_type_bytes(type);
    insn->part = (uint8_t)packed_bytes(type);
    for (unsigned i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].op != statement->op) continue;
        bool exact = !is_float(type) && !insn->part && !ptx_has(statement, PTX_GROUP_SAT);
        if (rules[i].rule == KCSIM_DEFINE_UPWARD && (is_high || !exact)) continue;
        insn->define = (uint8_t)rules[i].rule;
        insn->part = rules[i].part;
    }
    const ptx_operand *table = &statement->operands[statement->operand_count - 1];
    if (statement->op == PTX_OP_LOP3 && table->kind == PTX_OPERAND_INTEGER) {
        insn->define = KCSIM_DEFINE_LOGIC;
        insn->part = (uint8_t)table->integer;
    }
}

/* PTX ISA, "lop3": d|p = the table of (a, b, c), whether that is not 0 and (or) q. */
static bool decode_logic_test(kcsim_decoder *decoder) {
    const ptx_operand *operands = decoder->statement->operands;
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_LOGIC_TEST;
    insn->mode = (uint8_t)ptx_has(decoder->statement, PTX_GROUP_BOOL);
    insn->bytes = 4;
    if (operands[0].kind != PTX_OPERAND_PAIR || operands[4].kind != PTX_OPERAND_INTEGER ||
        operands[4].integer < 0 || operands[4].integer > 255)
        return kcsim_decode_fail(decoder, "a pair d|p and a table from 0 to 255 were expected");
    insn->define = KCSIM_DEFINE_LOGIC;
    insn->part = (uint8_t)operands[4].integer;
    return kcsim_decode_pair(decoder, &operands[0], 4, 0) &&
           kcsim_decode_source(decoder, &operands[1], 4, PTX_B32, &insn->a) &&
           kcsim_decode_source(decoder, &operands[2], 4, PTX_B32, &insn->b) &&
           kcsim_decode_source(decoder, &operands[3], 4, PTX_B32, &insn->c) &&
           kcsim_decode_predicate(decoder, &operands[5], &insn->e, &insn->negate_c);
}

bool kcsim_decode_arithmetic(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    if (statement->type_count == 0) return kcsim_decode_fail(decoder, "a type is missing");
    ptx_type type = statement->types[0];
    if (type == PTX_PRED) return decode_predicates(decoder);
    if (ptx_has(statement, PTX_GROUP_BOOL)) return decode_logic_test(decoder);
    bool carries = statement->op == PTX_OP_ADDC || statement->op == PTX_OP_SUBC ||
                   statement->op == PTX_OP_MADC;
    if (carries || ptx_has(statement, PTX_GROUP_CC)) return decode_carry(decoder, type);
    kcsim_lane_op op = lane_op(statement, type);
    bool ftz = ptx_has(statement, PTX_GROUP_FTZ) && (type == PTX_F32 || type == PTX_F32X2);
    insn->kind = KCSIM_DO_LANES;
    insn->fn.lanes = op == KCSIM_LANE_OP_COUNT ? NULL : kcsim_lane_find(op, type, ftz);
    if (!insn->fn.lanes)
        return kcsim_decode_fail(decoder, "this form of the instruction is not known");
    decode_definedness(decoder, type);
    if (is_float(type) && statement->op == PTX_OP_MUL) insn->class = KCSIM_CLASS_FMA;
    if (is_float(type) && (statement->op == PTX_OP_ADD || statement->op == PTX_OP_SUB))
        insn->class = KCSIM_CLASS_FMA;
    bool is_dot = statement->op == PTX_OP_DP4A || statement->op == PTX_OP_DP2A;
    if (statement->type_count > 1 && !is_dot && !decode_mixed(decoder)) return false;
    return decode_operands(decoder, op, type) &&
           ((!is_float(type) && !ptx_has(statement, PTX_GROUP_RELU)) ||
            decode_float_extras(decoder, type));
}
