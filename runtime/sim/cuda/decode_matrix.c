/* Matrices: ldmatrix and its kin, mma. */
#include "runtime/sim/cuda/decode.h"
#include "runtime/sim/cuda/mma.h"

bool kcsim_decode_fragment(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *list,
                           uint32_t count, unsigned bytes, bool is_written) {
    uint32_t have = operand->kind == PTX_OPERAND_VECTOR ? operand->element_count : 1;
    const ptx_operand *elements = operand->kind == PTX_OPERAND_VECTOR ? operand->elements : operand;
    if (have != count)
        return kcsim_decode_fail(decoder, "%u registers where %u are wanted", have, count);
    for (uint32_t i = 0; i < count; i++)
        if (!(is_written ? kcsim_decode_destination(decoder, &elements[i], bytes, &list[i])
                         : kcsim_decode_source(decoder, &elements[i], bytes, PTX_B32, &list[i])))
            return false;
    return true;
}

bool kcsim_decode_needs(kcsim_decoder *decoder, int target, bool suffix, int version) {
    const ptx_module *module = decoder->module;
    if (module->target < target || (suffix && !module->target_suffix))
        return kcsim_decode_fail(decoder, "this needs a target such as sm_%d%s", target,
                                 suffix ? "a" : "");
    if (module->version < version)
        return kcsim_decode_fail(decoder, "this needs PTX %d.%d", version / 10, version % 10);
    return true;
}

static bool decode_matrix_move(kcsim_decoder *decoder, bool is_store) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    ptx_modifier count = ptx_has(statement, PTX_GROUP_MATRICES);
    if (ptx_has(statement, PTX_GROUP_SHAPE) != PTX_M_M8N8)
        return kcsim_decode_matrix_bytes(decoder, is_store);
    const ptx_operand *address = &statement->operands[is_store ? 0 : 1];
    insn->kind = is_store ? KCSIM_DO_STORE_MATRIX : KCSIM_DO_LOAD_MATRIX;
    insn->count = count == PTX_M_X4 ? 4 : count == PTX_M_X2 ? 2 : 1;
    insn->bytes = 16;
    insn->space = (uint8_t)kcsim_statement_space(statement);
    insn->extend = ptx_has(statement, PTX_GROUP_TRANS) != PTX_M_NONE; /* here: transposed */
    if (statement->type_count != 1 || statement->types[0] != PTX_B16 ||
        address->kind != PTX_OPERAND_MEMORY || ptx_has(statement, PTX_GROUP_UNPACKED) ||
        ptx_has(statement, PTX_GROUP_PACKING))
        return kcsim_decode_fail(decoder, "an .m8n8 matrix is of b16");
    if (!kcsim_decode_needs(decoder, is_store ? 90 : 75, false, is_store ? 78 : 65)) return false;
    if (!kcsim_decode_address(decoder, address, &insn->a, &insn->imm, &insn->mode)) return false;
    kcsim_ref *list = kcsim_decode_list(decoder, insn->count);
    return list && kcsim_decode_fragment(decoder, &statement->operands[is_store ? 1 : 0], list,
                                         insn->count, 4, !is_store);
}

static bool decode_move_matrix(kcsim_decoder *decoder) {
    decoder->insn->kind = KCSIM_DO_MOVE_MATRIX;
    decoder->insn->bytes = 4;
    return kcsim_decode_source(decoder, &decoder->statement->operands[1], 4, PTX_B32,
                               &decoder->insn->a) &&
           kcsim_decode_destination(decoder, &decoder->statement->operands[0], 4,
                                    &decoder->insn->d);
}

/* ---- shapes ---- */

kcsim_extent kcsim_matrix_extent(const ptx_statement *statement) {
    switch (ptx_has(statement, PTX_GROUP_SHAPE)) {
    case PTX_M_M8N8K4: return (kcsim_extent){8, 8, 4};
    case PTX_M_M8N8K16: return (kcsim_extent){8, 8, 16};
    case PTX_M_M8N8K32: return (kcsim_extent){8, 8, 32};
    case PTX_M_M8N8K128: return (kcsim_extent){8, 8, 128};
    case PTX_M_M16N8K4: return (kcsim_extent){16, 8, 4};
    case PTX_M_M16N8K8: return (kcsim_extent){16, 8, 8};
    case PTX_M_M16N8K16: return (kcsim_extent){16, 8, 16};
    case PTX_M_M16N8K32: return (kcsim_extent){16, 8, 32};
    case PTX_M_M16N8K64: return (kcsim_extent){16, 8, 64};
    case PTX_M_M16N8K128: return (kcsim_extent){16, 8, 128};
    case PTX_M_M16N8K256: return (kcsim_extent){16, 8, 256};
    case PTX_M_M16N16K8: return (kcsim_extent){16, 16, 8};
    case PTX_M_M16N16K16: return (kcsim_extent){16, 16, 16};
    case PTX_M_M32N8K16: return (kcsim_extent){32, 8, 16};
    case PTX_M_M8N32K16: return (kcsim_extent){8, 32, 16};
    default: return (kcsim_extent){0, 0, 0};
    }
}

/* ---- mma ---- */

/* Which shapes there are for which types of A, and of C and D. */
static const struct {
    ptx_modifier shape;
    ptx_type a, d;
} mma_forms[] = {
    {PTX_M_M16N8K8, PTX_F16, PTX_F32},    {PTX_M_M16N8K16, PTX_F16, PTX_F32},
    {PTX_M_M16N8K8, PTX_F16, PTX_F16},    {PTX_M_M16N8K16, PTX_F16, PTX_F16},
    {PTX_M_M16N8K8, PTX_BF16, PTX_F32},   {PTX_M_M16N8K16, PTX_BF16, PTX_F32},
    {PTX_M_M16N8K4, PTX_TF32, PTX_F32},   {PTX_M_M16N8K8, PTX_TF32, PTX_F32},
    {PTX_M_M16N8K16, PTX_S8, PTX_S32},    {PTX_M_M16N8K32, PTX_S8, PTX_S32},
    {PTX_M_M16N8K16, PTX_U8, PTX_S32},    {PTX_M_M16N8K32, PTX_U8, PTX_S32},
    {PTX_M_M8N8K16, PTX_S8, PTX_S32},     {PTX_M_M8N8K16, PTX_U8, PTX_S32},
    {PTX_M_M8N8K32, PTX_S4, PTX_S32},     {PTX_M_M8N8K32, PTX_U4, PTX_S32},
    {PTX_M_M16N8K32, PTX_S4, PTX_S32},    {PTX_M_M16N8K64, PTX_S4, PTX_S32},
    {PTX_M_M16N8K32, PTX_U4, PTX_S32},    {PTX_M_M16N8K64, PTX_U4, PTX_S32},
    {PTX_M_M8N8K128, PTX_B1, PTX_S32},    {PTX_M_M16N8K128, PTX_B1, PTX_S32},
    {PTX_M_M16N8K256, PTX_B1, PTX_S32},   {PTX_M_M16N8K16, PTX_E4M3, PTX_F32},
    {PTX_M_M16N8K32, PTX_E4M3, PTX_F32},  {PTX_M_M16N8K16, PTX_E5M2, PTX_F32},
    {PTX_M_M16N8K32, PTX_E5M2, PTX_F32},  {PTX_M_M16N8K16, PTX_E4M3, PTX_F16},
    {PTX_M_M16N8K32, PTX_E4M3, PTX_F16},  {PTX_M_M16N8K16, PTX_E5M2, PTX_F16},
    {PTX_M_M16N8K32, PTX_E5M2, PTX_F16},  {PTX_M_M8N8K4, PTX_F64, PTX_F64},
    {PTX_M_M16N8K4, PTX_F64, PTX_F64},    {PTX_M_M16N8K8, PTX_F64, PTX_F64},
    {PTX_M_M16N8K16, PTX_F64, PTX_F64},
};

/* Signed and unsigned numbers mix, and so do the two of 8 bits. */
static bool mixes(ptx_type a, ptx_type b) {
    static const ptx_type pairs[][2] = {
        {PTX_S8, PTX_U8}, {PTX_S4, PTX_U4}, {PTX_E4M3, PTX_E5M2}};
    if (a == b) return true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((pairs[i][0] == a && pairs[i][1] == b) || (pairs[i][0] == b && pairs[i][1] == a))
            return true;
    return false;
}

bool kcsim_decode_rounding(kcsim_decoder *decoder) {
    ptx_modifier round = ptx_has(decoder->statement, PTX_GROUP_ROUND);
    if (round == PTX_M_RZ || round == PTX_M_RM || round == PTX_M_RP)
        decoder->insn->round = (uint8_t)round;
    return round == PTX_M_NONE || (decoder->statement->types[0] == PTX_F64 &&
                                   (round == PTX_M_RN || decoder->insn->round));
}

/* Of bits, and only of them, the product and how it is added up are named. */
static bool names_product(const ptx_statement *statement) {
    ptx_modifier product = ptx_has(statement, PTX_GROUP_ATOMIC);
    bool counts = ptx_has(statement, PTX_GROUP_POPC) == PTX_M_POPC;
    if (statement->types[1] != PTX_B1) return product == PTX_M_NONE && !counts;
    return (product == PTX_M_AND || product == PTX_M_XOR) && counts;
}

/* Each of these with each, a byte an element: PTX ISA, mma with .kind::f8f6f4. */
static bool is_f8f6f4(const ptx_statement *statement) {
    const ptx_type *types = statement->types;
    bool small = true;
    for (int i = 1; i <= 2; i++)
        small &= types[i] == PTX_E4M3 || types[i] == PTX_E5M2 || types[i] == PTX_E3M2 ||
                 types[i] == PTX_E2M3 || types[i] == PTX_E2M1;
    return small && ptx_has(statement, PTX_GROUP_KIND) == PTX_M_KIND_F8F6F4 &&
           (types[0] == PTX_F32 || types[0] == PTX_F16) &&
           ptx_has(statement, PTX_GROUP_SHAPE) == PTX_M_M16N8K32 && names_product(statement) &&
           ptx_has(statement, PTX_GROUP_ROUND) == PTX_M_NONE;
}

static bool mma_exists(const ptx_statement *statement) {
    const ptx_type *types = statement->types;
    if (statement->type_count != 4 || ptx_has(statement, PTX_GROUP_SCALE_VEC) ||
        ptx_has(statement, PTX_GROUP_LAYOUT_A) != PTX_M_ROW ||
        ptx_has(statement, PTX_GROUP_LAYOUT_B) != PTX_M_COL_B || types[3] != types[0])
        return false;
    if (ptx_has(statement, PTX_GROUP_KIND)) return is_f8f6f4(statement);
    for (size_t i = 0; i < sizeof mma_forms / sizeof mma_forms[0]; i++)
        if (mma_forms[i].shape == ptx_has(statement, PTX_GROUP_SHAPE) &&
            mma_forms[i].a == types[1] && mma_forms[i].d == types[0])
            return mixes(types[1], types[2]) && names_product(statement);
    return false;
}

/* PTX ISA, "Multiply-and-Accumulate Instruction: mma", PTX ISA Notes and Target ISA Notes. */
static bool has_target(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    bool is_and = ptx_has(statement, PTX_GROUP_ATOMIC) == PTX_M_AND, rows_8 = extent.m == 8;
    if (ptx_has(statement, PTX_GROUP_KIND)) return kcsim_decode_needs(decoder, 120, true, 87);
    switch (statement->types[1]) {
    case PTX_F16:
        if (rows_8) return kcsim_decode_needs(decoder, 70, false, 64);
        return kcsim_decode_needs(decoder, extent.k == 8 ? 75 : 80, false, extent.k == 8 ? 65 : 70);
    case PTX_B1:
        return kcsim_decode_needs(decoder, rows_8 && !is_and ? 75 : 80, false, is_and ? 71 : 70);
    case PTX_S8:
    case PTX_U8:
    case PTX_S4:
    case PTX_U4: return kcsim_decode_needs(decoder, rows_8 ? 75 : 80, false, rows_8 ? 65 : 70);
    case PTX_F64: return kcsim_decode_needs(decoder, rows_8 ? 80 : 90, false, rows_8 ? 70 : 78);
    case PTX_E4M3:
    case PTX_E5M2:
        return kcsim_decode_needs(decoder, 89, false,
                                  extent.k == 32 && statement->types[0] == PTX_F32 ? 84 : 87);
    default: return kcsim_decode_needs(decoder, 80, false, 70);
    }
}

/* m8n8k4 of f16: D is f32 where C is; every pair of layouts. */
static bool decode_quads(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    const ptx_type *types = statement->types;
    bool fits = statement->type_count == 4 && types[2] == PTX_F16 &&
                (types[0] == PTX_F32 || types[0] == PTX_F16) &&
                (types[3] == PTX_F16 || (types[3] == PTX_F32 && types[0] == PTX_F32));
    if (!fits || !ptx_has(statement, PTX_GROUP_LAYOUT_B) || statement->operand_count != 4 ||
        ptx_has(statement, PTX_GROUP_SAT) || ptx_has(statement, PTX_GROUP_ROUND) ||
        ptx_has(statement, PTX_GROUP_KIND) || !names_product(statement))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    decoder->insn->kind = KCSIM_DO_MMA_QUADS;
    uint32_t d = types[0] == PTX_F16 ? 4 : 8, c = types[3] == PTX_F16 ? 4 : 8;
    kcsim_ref *list = kcsim_decode_list(decoder, d + 4 + c);
    return has_target(decoder) && list &&
           kcsim_decode_fragment(decoder, &statement->operands[0], list, d, 4, true) &&
           kcsim_decode_fragment(decoder, &statement->operands[1], list + d, 2, 4, false) &&
           kcsim_decode_fragment(decoder, &statement->operands[2], list + d + 2, 2, 4, false) &&
           kcsim_decode_fragment(decoder, &statement->operands[3], list + d + 4, c, 4, false);
}

/* Of b1 an element is a word, whose bits are counted. */
static kcsim_mma_form form_of(const ptx_statement *statement, uint32_t bytes) {
    const ptx_type *types = statement->types;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    uint32_t bits = types[1] == PTX_B1 ? 32 : ptx_types[types[1]].bits;
    uint32_t k = types[1] == PTX_B1 ? extent.k / 32 : extent.k;
    kcsim_mma_form form = {.d = types[0], .a = types[1], .b = types[2], .sections = 1};
    form.rows = (uint8_t)extent.m;
    form.k = (uint8_t)k;
    form.b_registers = (uint8_t)(k * bits / (32 * bytes));
    form.a_registers = (uint8_t)(form.b_registers * extent.m / 8);
    form.d_registers = (uint8_t)(form.d == PTX_F16 ? extent.m / 8 : extent.m / 4);
    form.saturate = ptx_has(statement, PTX_GROUP_SAT) != PTX_M_NONE;
    form.is_xor = ptx_has(statement, PTX_GROUP_ATOMIC) == PTX_M_XOR;
    return form;
}

/* Lists hold D, A, B, C in this order. */
static bool decode_mma(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    if (ptx_has(statement, PTX_GROUP_BLOCK_SCALE)) return kcsim_decode_mma_sections(decoder);
    if (ptx_has(statement, PTX_GROUP_SHAPE) == PTX_M_M8N8K4 && statement->types[1] == PTX_F16)
        return decode_quads(decoder);
    if (!mma_exists(statement) || statement->operand_count != 4 || !kcsim_decode_rounding(decoder))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (!has_target(decoder)) return false;
    kcsim_insn *insn = decoder->insn;
    kcsim_mma_form *form = kcsim_arena_alloc(&decoder->module->arena, sizeof *form);
    if (!form) return kcsim_decode_fail(decoder, "out of host memory");
    uint32_t bytes = statement->types[1] == PTX_F64 ? 8 : 4;
    *form = form_of(statement, bytes);
    insn->kind = KCSIM_DO_MMA;
    insn->bytes = (uint8_t)bytes;
    insn->fn.mma = form;
    uint32_t d = form->d_registers, a = form->a_registers, b = form->b_registers;
    kcsim_ref *list = kcsim_decode_list(decoder, kcsim_mma_list_count(form));
    return list && kcsim_decode_fragment(decoder, &statement->operands[0], list, d, bytes, true) &&
           kcsim_decode_fragment(decoder, &statement->operands[1], list + d, a, bytes, false) &&
           kcsim_decode_fragment(decoder, &statement->operands[2], list + d + a, b, bytes, false) &&
           kcsim_decode_fragment(decoder, &statement->operands[3], list + d + a + b, d, bytes,
                                 false);
}

bool kcsim_decode_matrix(kcsim_decoder *decoder) {
    decoder->insn->e = kcsim_decode_constant(decoder, UINT32_MAX, 4); /* the lanes that take part */
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_LDMATRIX: return decode_matrix_move(decoder, false);
    case PTX_FAMILY_STMATRIX: return decode_matrix_move(decoder, true);
    case PTX_FAMILY_MOVMATRIX: return decode_move_matrix(decoder);
    case PTX_FAMILY_MMA: return decode_mma(decoder);
    case PTX_FAMILY_MMA_SPARSE: return kcsim_decode_mma_sections(decoder);
    case PTX_FAMILY_WMMA_LOAD: return kcsim_decode_wmma_move(decoder, false);
    case PTX_FAMILY_WMMA_STORE: return kcsim_decode_wmma_move(decoder, true);
    case PTX_FAMILY_WMMA: return kcsim_decode_wmma(decoder);
    default: return kcsim_decode_wgmma(decoder);
    }
}
