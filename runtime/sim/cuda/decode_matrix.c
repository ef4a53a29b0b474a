/* Matrices: ldmatrix and its kin, mma, wmma. */
#include "runtime/sim/cuda/decode.h"

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
    insn->space = PTX_SPACE_SHARED;
    insn->extend = ptx_has(statement, PTX_GROUP_TRANS) != PTX_M_NONE; /* here: transposed */
    if (statement->type_count != 1 || statement->types[0] != PTX_B16 ||
        address->kind != PTX_OPERAND_MEMORY || ptx_has(statement, PTX_GROUP_UNPACKED) ||
        ptx_has(statement, PTX_GROUP_PACKING))
        return kcsim_decode_fail(decoder, "an .m8n8 matrix is of b16");
    if (!kcsim_decode_needs(decoder, is_store ? 90 : 75, false, is_store ? 78 : 65)) return false;
    if (!kcsim_decode_address(decoder, address, &insn->a, &insn->imm, &insn->mode)) return false;
    /* Without .shared the address is a generic one. */
    if (kcsim_statement_space(statement) == PTX_SPACE_GENERIC) insn->imm -= KCSIM_SHARED_WINDOW;
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

kcsim_mma_shape kcsim_mma_shape_of(const ptx_statement *statement) {
    kcsim_extent extent = kcsim_matrix_extent(statement);
    unsigned bits = ptx_types[statement->types[1]].bits;
    kcsim_mma_shape shape = {.m = extent.m, .k = extent.k, .bytes = 4, .bits = bits};
    if (bits == 1) { /* an element is a word, whose bits are counted */
        shape.bits = 32;
        shape.k /= 32;
    }
    if (bits == 64) shape.bytes = 8;
    shape.elements = 8 * shape.bytes / shape.bits;
    shape.b_registers = shape.k / (4 * shape.elements);
    shape.a_registers = shape.b_registers * shape.m / 8;
    shape.d_registers = statement->types[0] == PTX_F16 ? shape.m / 8 : shape.m / 4;
    return shape;
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

static bool rounds_to_nearest(const ptx_statement *statement) {
    ptx_modifier round = ptx_has(statement, PTX_GROUP_ROUND);
    return round == PTX_M_NONE || (round == PTX_M_RN && statement->types[0] == PTX_F64);
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
            return mixes(types[1], types[2]) && rounds_to_nearest(statement) &&
                   names_product(statement);
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

/* Lists hold D, A, B, C in this order. */
static bool decode_mma(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    if (ptx_has(statement, PTX_GROUP_BLOCK_SCALE)) return kcsim_decode_mma_sections(decoder);
    if (ptx_has(statement, PTX_GROUP_SHAPE) == PTX_M_M8N8K4 && statement->types[1] == PTX_F16)
        return decode_quads(decoder);
    if (!mma_exists(statement) || statement->operand_count != 4)
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (!has_target(decoder)) return false;
    kcsim_mma_shape shape = kcsim_mma_shape_of(statement);
    kcsim_insn *insn = decoder->insn;
    insn->kind = KCSIM_DO_MMA;
    insn->bytes = (uint8_t)shape.bytes;
    uint32_t d = shape.d_registers, a = shape.a_registers, b = shape.b_registers;
    kcsim_ref *list = kcsim_decode_list(decoder, d + a + b + d);
    return list &&
           kcsim_decode_fragment(decoder, &statement->operands[0], list, d, shape.bytes, true) &&
           kcsim_decode_fragment(decoder, &statement->operands[1], list + d, a, shape.bytes,
                                 false) &&
           kcsim_decode_fragment(decoder, &statement->operands[2], list + d + a, b, shape.bytes,
                                 false) &&
           kcsim_decode_fragment(decoder, &statement->operands[3], list + d + a + b, d, shape.bytes,
                                 false);
}

/* ---- wmma: PTX ISA, "Warp-level Matrix Instructions", Matrix Fragments for WMMA ---- */

/* Registers of the fragments of A and B. */
static const struct {
    ptx_modifier shape;
    ptx_type type;
    uint8_t a, b;
} wmma_forms[] = {
    {PTX_M_M16N16K16, PTX_F16, 8, 8},  {PTX_M_M32N8K16, PTX_F16, 8, 8},
    {PTX_M_M8N32K16, PTX_F16, 8, 8},   {PTX_M_M16N16K16, PTX_BF16, 4, 4},
    {PTX_M_M32N8K16, PTX_BF16, 8, 2},  {PTX_M_M8N32K16, PTX_BF16, 2, 8},
    {PTX_M_M16N16K8, PTX_TF32, 4, 4},  {PTX_M_M16N16K16, PTX_S8, 2, 2},
    {PTX_M_M32N8K16, PTX_S8, 4, 1},    {PTX_M_M8N32K16, PTX_S8, 1, 4},
    {PTX_M_M16N16K16, PTX_U8, 2, 2},   {PTX_M_M32N8K16, PTX_U8, 4, 1},
    {PTX_M_M8N32K16, PTX_U8, 1, 4},    {PTX_M_M8N8K4, PTX_F64, 1, 1},
};

static uint32_t wmma_registers(ptx_modifier shape, ptx_type type, bool is_b) {
    for (size_t i = 0; i < sizeof wmma_forms / sizeof wmma_forms[0]; i++)
        if (wmma_forms[i].shape == shape && wmma_forms[i].type == type)
            return is_b ? wmma_forms[i].b : wmma_forms[i].a;
    return 0;
}

/* Which accumulators belong to a type of A; what it says when the type of A is not told. */
static bool accumulates(ptx_modifier shape, ptx_type a, ptx_type d) {
    if (!wmma_registers(shape, a, false)) return false;
    switch (a) {
    case PTX_F16: return d == PTX_F16 || d == PTX_F32;
    case PTX_S8:
    case PTX_U8: return d == PTX_S32;
    case PTX_F64: return d == PTX_F64;
    default: return d == PTX_F32;
    }
}

static uint32_t accumulator_registers(const ptx_statement *statement, ptx_type type) {
    static const ptx_type all[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_S8, PTX_F64};
    kcsim_extent extent = kcsim_matrix_extent(statement);
    bool exists = false;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        exists |= accumulates(ptx_has(statement, PTX_GROUP_SHAPE), all[i], type);
    return exists ? extent.m * extent.n / (type == PTX_F16 ? 64 : 32) : 0;
}

static bool decode_wmma(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    ptx_modifier shape = ptx_has(statement, PTX_GROUP_SHAPE);
    /* Of f16 the types of D and C are told, of others those of D, A, B and C. */
    bool short_form = statement->type_count == 2;
    ptx_type d = statement->types[0], c = statement->types[statement->type_count - 1];
    ptx_type a = short_form ? PTX_F16 : statement->types[1];
    bool told = short_form || (statement->type_count == 4 && statement->types[2] == a);
    if (!told || !ptx_has(statement, PTX_GROUP_LAYOUT_B) || !accumulates(shape, a, d) ||
        !accumulates(shape, a, c) || !rounds_to_nearest(statement))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    uint32_t counts[4] = {accumulator_registers(statement, d), wmma_registers(shape, a, false),
                          wmma_registers(shape, a, true), accumulator_registers(statement, c)};
    unsigned bytes = a == PTX_F64 ? 8 : 4;
    decoder->insn->kind = KCSIM_DO_WMMA;
    decoder->insn->bytes = (uint8_t)bytes;
    decoder->insn->target = counts[1];
    kcsim_ref *list =
        kcsim_decode_list(decoder, counts[0] + counts[1] + counts[2] + counts[3]);
    for (uint32_t i = 0; list && i < 4; list += counts[i++])
        if (!kcsim_decode_fragment(decoder, &statement->operands[i], list, counts[i], bytes,
                                   i == 0))
            return false;
    return list != NULL;
}

static kcsim_class class_of_space(ptx_space space, bool is_store) {
    if (space == PTX_SPACE_SHARED)
        return is_store ? KCSIM_CLASS_STORE_SHARED : KCSIM_CLASS_LOAD_SHARED;
    return is_store ? KCSIM_CLASS_STORE_GLOBAL : KCSIM_CLASS_LOAD_GLOBAL;
}

/* wmma.load r, [p] {, stride}; wmma.store [p], r {, stride}. The decoded instruction: `count`
 * registers hold the matrix once, `target` elements lie side by side in memory, `extend` when they
 * do not in the fragment, b is the stride in elements. */
static bool decode_wmma_move(kcsim_decoder *decoder, bool is_store) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    ptx_type type = statement->types[0];
    bool is_a = statement->op == PTX_OP_WMMA_LOAD_A, is_b = statement->op == PTX_OP_WMMA_LOAD_B;
    bool by_rows = ptx_has(statement, PTX_GROUP_LAYOUT_A) == PTX_M_ROW;
    uint32_t rows = is_b ? extent.k : extent.m, columns = is_a ? extent.k : extent.n;
    uint32_t registers =
        statement->type_count != 1 ? 0
        : is_a || is_b ? wmma_registers(ptx_has(statement, PTX_GROUP_SHAPE), type, is_b)
                       : accumulator_registers(statement, type);
    ptx_space space = kcsim_statement_space(statement);
    if (!registers || !ptx_has(statement, PTX_GROUP_LAYOUT_A) ||
        (space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED))
        return kcsim_decode_fail(decoder, "this shape and this type are not supported");
    insn->kind = is_store ? KCSIM_DO_WMMA_STORE : KCSIM_DO_WMMA_LOAD;
    insn->class = (uint8_t)class_of_space(space, is_store);
    insn->space = (uint8_t)space;
    insn->bytes = type == PTX_F64 ? 8 : 4;
    insn->element = (uint8_t)kcsim_type_bytes(type);
    insn->count = (uint8_t)(rows * columns * insn->element / (32u * insn->bytes));
    insn->target = by_rows ? columns : rows;
    insn->extend = !is_a && !is_b && !by_rows;
    kcsim_ref *list = kcsim_decode_list(decoder, registers);
    insn->b = kcsim_decode_constant(decoder, insn->target, 4);
    return list &&
           (statement->operand_count < 3 ||
            kcsim_decode_source(decoder, &statement->operands[2], 4, PTX_U32, &insn->b)) &&
           kcsim_decode_address(decoder, &statement->operands[is_store ? 0 : 1], &insn->a,
                                &insn->imm, &insn->mode) &&
           kcsim_decode_fragment(decoder, &statement->operands[is_store ? 1 : 0], list, registers,
                           insn->bytes, !is_store);
}

bool kcsim_decode_matrix(kcsim_decoder *decoder) {
    decoder->insn->e = kcsim_decode_constant(decoder, UINT32_MAX, 4); /* the lanes that take part */
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_LDMATRIX: return decode_matrix_move(decoder, false);
    case PTX_FAMILY_STMATRIX: return decode_matrix_move(decoder, true);
    case PTX_FAMILY_MOVMATRIX: return decode_move_matrix(decoder);
    case PTX_FAMILY_MMA: return decode_mma(decoder);
    case PTX_FAMILY_MMA_SPARSE: return kcsim_decode_mma_sections(decoder);
    case PTX_FAMILY_WMMA_LOAD: return decode_wmma_move(decoder, false);
    case PTX_FAMILY_WMMA_STORE: return decode_wmma_move(decoder, true);
    case PTX_FAMILY_WMMA: return decode_wmma(decoder);
    default: return kcsim_decode_wgmma(decoder);
    }
}
