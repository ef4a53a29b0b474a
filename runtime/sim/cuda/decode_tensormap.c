/* tensormap.replace, tensormap.cp_fenceproxy and the fence between them and tensor copies: PTX ISA,
 * "Data Movement and Conversion Instructions: tensormap.replace", "Parallel Synchronization and
 * Communication Instructions: tensormap.cp_fenceproxy" and "membar, fence". */
#include "runtime/sim/cuda/decode.h"
#include "runtime/sim/cuda/tensor_map.h"

/* The table "Tensormap new_val validity" in the numbers of tensor_map.h; -1: not built. */
static int field_value(ptx_modifier field, int64_t value) {
    static const uint8_t types[] = {KCSIM_TENSOR_U8,      KCSIM_TENSOR_U16,  KCSIM_TENSOR_U32,
                                    KCSIM_TENSOR_S32,     KCSIM_TENSOR_U64,  KCSIM_TENSOR_S64,
                                    KCSIM_TENSOR_F16,     KCSIM_TENSOR_F32,  KCSIM_TENSOR_F32_FTZ,
                                    KCSIM_TENSOR_F64,     KCSIM_TENSOR_BF16, KCSIM_TENSOR_TF32,
                                    KCSIM_TENSOR_TF32_FTZ};
    static const int most[] = {sizeof types - 1, 0, 3, 3, 1};
    uint32_t which = (uint32_t)field - PTX_M_MAP_TYPE;
    if (value < 0 || value > most[which]) return -1;
    if (field == PTX_M_MAP_ATOM && value == 2) return -1; /* with a flip of 8 bytes */
    return field == PTX_M_MAP_TYPE ? types[value] : (int)value;
}

/* Fields of which there is one a dimension; their number is the second operand. */
static bool has_number(ptx_modifier field) {
    return field >= PTX_M_MAP_BOX && field <= PTX_M_MAP_STEP;
}

static bool decode_number(kcsim_decoder *decoder, ptx_modifier field) {
    const ptx_operand *operand = &decoder->statement->operands[1];
    int64_t limit = field == PTX_M_MAP_STRIDE ? KCSIM_TENSOR_RANK - 1 : KCSIM_TENSOR_RANK;
    if (operand->kind != PTX_OPERAND_INTEGER || operand->integer < 0 || operand->integer >= limit)
        return kcsim_decode_fail(decoder, "the dimension must be a number below %d", (int)limit);
    decoder->insn->target = (uint32_t)operand->integer;
    return true;
}

static bool decode_choice(kcsim_decoder *decoder, ptx_modifier field, const ptx_operand *operand) {
    int value = operand->kind == PTX_OPERAND_INTEGER ? field_value(field, operand->integer) : -1;
    if (value < 0) return kcsim_decode_fail(decoder, "this value of the field is not supported");
    decoder->insn->b = kcsim_decode_constant(decoder, (uint64_t)value, 4);
    return true;
}

static bool decode_replace(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    ptx_modifier field = ptx_has(statement, PTX_GROUP_MAP_FIELD);
    ptx_modifier space = ptx_has(statement, PTX_GROUP_SPACE);
    bool wide = field == PTX_M_MAP_ADDRESS || field == PTX_M_MAP_STRIDE;
    uint32_t last = has_number(field) ? 2 : 1;
    insn->kind = KCSIM_DO_MAP_FIELD;
    insn->part = (uint8_t)field;
    insn->bytes = wide ? 8 : 4;
    insn->space = (uint8_t)kcsim_statement_space(statement);
    if (!field || !ptx_has(statement, PTX_GROUP_MAP_SIZE) || statement->type_count != 1 ||
        statement->types[0] != (wide ? PTX_B64 : PTX_B32) || statement->operand_count != last + 1 ||
        (space && space != PTX_M_GLOBAL && space != PTX_M_SHARED_CTA))
        return kcsim_decode_fail(decoder, "this form is not known");
    bool atom = field == PTX_M_MAP_ATOM;
    if (!kcsim_decode_needs(decoder, atom ? 100 : 90, true, atom ? 86 : 83) ||
        (last == 2 && !decode_number(decoder, field)) ||
        !kcsim_decode_address(decoder, &statement->operands[0], &insn->a, &insn->imm, &insn->mode))
        return false;
    const ptx_operand *value = &statement->operands[last];
    return field >= PTX_M_MAP_TYPE
               ? decode_choice(decoder, field, value)
               : kcsim_decode_source(decoder, value, insn->bytes, statement->types[0], &insn->b);
}

static bool is_map_size(const ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_INTEGER && operand->integer == KCSIM_TENSOR_MAP_BYTES;
}

static bool decode_copy(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    int64_t offset;
    insn->kind = KCSIM_DO_MAP_COPY;
    insn->e = kcsim_decode_constant(decoder, UINT32_MAX, 4); /* all lanes of the warp */
    if (!ptx_has(statement, PTX_GROUP_SCOPE) || !ptx_has(statement, PTX_GROUP_SYNC) ||
        !ptx_has(statement, PTX_GROUP_ALIGNED) || !is_map_size(&statement->operands[2]))
        return kcsim_decode_fail(decoder, "this form is not known");
    if (!kcsim_decode_needs(decoder, 90, false, 83) ||
        !kcsim_decode_address(decoder, &statement->operands[1], &insn->b, &offset, &insn->part))
        return false;
    insn->target = (uint32_t)offset;
    return kcsim_decode_address(decoder, &statement->operands[0], &insn->a, &insn->imm,
                                &insn->mode);
}

static bool decode_fence(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    bool acquires = ptx_has(statement, PTX_GROUP_SEMANTICS) == PTX_M_ACQUIRE;
    bool releases = ptx_has(statement, PTX_GROUP_SEMANTICS) == PTX_M_RELEASE;
    insn->kind = KCSIM_DO_MAP_FENCE;
    insn->extend = acquires;
    if ((!acquires && !releases) || !ptx_has(statement, PTX_GROUP_SCOPE) ||
        statement->operand_count != (acquires ? 2 : 0) ||
        (acquires && !is_map_size(&statement->operands[1])))
        return kcsim_decode_fail(decoder, "this form is not known");
    return kcsim_decode_needs(decoder, 90, false, 83) &&
           (releases || kcsim_decode_address(decoder, &statement->operands[0], &insn->a, &insn->imm,
                                             &insn->mode));
}

bool kcsim_decode_tensormap(kcsim_decoder *decoder) {
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_TENSORMAP: return decode_replace(decoder);
    case PTX_FAMILY_TENSORMAP_COPY: return decode_copy(decoder);
    default: return decode_fence(decoder);
    }
}
