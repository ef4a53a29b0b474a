/* wmma: PTX ISA, "Matrix multiply-accumulate operation using wmma instructions". */
#include "runtime/sim/cuda/decode.h"

/* Registers of the fragments of A and B. */
static const struct {
    ptx_modifier shape;
    ptx_type type;
    uint8_t a, b;
} wmma_forms[] = {
    {PTX_M_M16N16K16, PTX_F16, 8, 8}, {PTX_M_M32N8K16, PTX_F16, 8, 8},
    {PTX_M_M8N32K16, PTX_F16, 8, 8},  {PTX_M_M16N16K16, PTX_BF16, 4, 4},
    {PTX_M_M32N8K16, PTX_BF16, 8, 2}, {PTX_M_M8N32K16, PTX_BF16, 2, 8},
    {PTX_M_M16N16K8, PTX_TF32, 4, 4}, {PTX_M_M16N16K16, PTX_S8, 2, 2},
    {PTX_M_M32N8K16, PTX_S8, 4, 1},   {PTX_M_M8N32K16, PTX_S8, 1, 4},
    {PTX_M_M16N16K16, PTX_U8, 2, 2},  {PTX_M_M32N8K16, PTX_U8, 4, 1},
    {PTX_M_M8N32K16, PTX_U8, 1, 4},   {PTX_M_M8N8K4, PTX_F64, 1, 1},
    {PTX_M_M8N8K32, PTX_S4, 1, 1},    {PTX_M_M8N8K32, PTX_U4, 1, 1},
    {PTX_M_M8N8K128, PTX_B1, 1, 1},
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
    case PTX_U8:
    case PTX_S4:
    case PTX_U4:
    case PTX_B1: return d == PTX_S32;
    case PTX_F64: return d == PTX_F64;
    default: return d == PTX_F32;
    }
}

static bool is_packed(ptx_type type) {
    return ptx_types[type].bits < 8;
}

/* Bits name their product, and only they. */
static bool names_product(const ptx_statement *statement, ptx_type a) {
    return (a == PTX_B1) == (statement->op != PTX_OP_WMMA);
}

/* PTX ISA, "wmma.mma", PTX ISA Notes and Target ISA Notes. */
static bool has_target(kcsim_decoder *decoder, ptx_type a) {
    if (decoder->statement->op == PTX_OP_WMMA_AND)
        return kcsim_decode_needs(decoder, 80, false, 71);
    if (a == PTX_F64 || a == PTX_BF16 || a == PTX_TF32)
        return kcsim_decode_needs(decoder, 80, false, 70);
    return kcsim_decode_needs(decoder, is_packed(a) ? 75 : 70, false, 63);
}

static uint32_t accumulator_registers(const ptx_statement *statement, ptx_type type) {
    static const ptx_type all[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_S8, PTX_F64, PTX_S4, PTX_B1};
    kcsim_extent extent = kcsim_matrix_extent(statement);
    bool exists = false;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        exists |= accumulates(ptx_has(statement, PTX_GROUP_SHAPE), all[i], type);
    return exists ? extent.m * extent.n / (type == PTX_F16 ? 64 : 32) : 0;
}

/* Below 8 bits A lies by rows and B by columns; it is said of both, or of the one that is loaded. */
static bool layouts_fit(const ptx_statement *statement, ptx_type type) {
    bool by_rows = ptx_has(statement, PTX_GROUP_LAYOUT_A) == PTX_M_ROW;
    if (!is_packed(type)) return true;
    if (statement->op == PTX_OP_WMMA_LOAD_A) return by_rows;
    if (statement->op == PTX_OP_WMMA_LOAD_B) return !by_rows;
    return by_rows && ptx_has(statement, PTX_GROUP_LAYOUT_B) == PTX_M_COL_B;
}

bool kcsim_decode_wmma(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    ptx_modifier shape = ptx_has(statement, PTX_GROUP_SHAPE);
    /* Of f16 the types of D and C are told, of others those of D, A, B and C. */
    bool short_form = statement->type_count == 2;
    ptx_type d = statement->types[0], c = statement->types[short_form ? 1 : 3];
    ptx_type a = short_form ? PTX_F16 : statement->types[1];
    bool told = short_form || (statement->type_count == 4 && statement->types[2] == a);
    if (!told || !ptx_has(statement, PTX_GROUP_LAYOUT_B) || !accumulates(shape, a, d) ||
        !accumulates(shape, a, c) || !kcsim_decode_rounding(decoder) ||
        !names_product(statement, a) || !layouts_fit(statement, a))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (!has_target(decoder, a)) return false;
    uint32_t counts[4] = {accumulator_registers(statement, d), wmma_registers(shape, a, false),
                          wmma_registers(shape, a, true), accumulator_registers(statement, c)};
    unsigned bytes = a == PTX_F64 ? 8 : 4;
    decoder->insn->kind = KCSIM_DO_WMMA;
    decoder->insn->bytes = (uint8_t)bytes;
    decoder->insn->target = counts[1];
    kcsim_ref *list = kcsim_decode_list(decoder, counts[0] + counts[1] + counts[2] + counts[3]);
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
 * do not in the fragment, b is the stride in elements. Below 8 bits an element is a byte, and `part`
 * of the stride's elements are in it. */
bool kcsim_decode_wmma_move(kcsim_decoder *decoder, bool is_store) {
    const ptx_statement *statement = decoder->statement;
    kcsim_insn *insn = decoder->insn;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    ptx_type type = statement->types[0];
    bool is_a = statement->op == PTX_OP_WMMA_LOAD_A, is_b = statement->op == PTX_OP_WMMA_LOAD_B;
    bool by_rows = ptx_has(statement, PTX_GROUP_LAYOUT_A) == PTX_M_ROW;
    uint32_t rows = is_b ? extent.k : extent.m, columns = is_a ? extent.k : extent.n;
    uint32_t registers = statement->type_count != 1 ? 0
                         : is_a || is_b
                             ? wmma_registers(ptx_has(statement, PTX_GROUP_SHAPE), type, is_b)
                             : accumulator_registers(statement, type);
    ptx_space space = kcsim_statement_space(statement);
    if (!registers || !ptx_has(statement, PTX_GROUP_LAYOUT_A) || !layouts_fit(statement, type) ||
        (space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED))
        return kcsim_decode_fail(decoder, "this shape and this type are not supported");
    if (!has_target(decoder, type)) return false;
    insn->kind = is_store ? KCSIM_DO_WMMA_STORE : KCSIM_DO_WMMA_LOAD;
    insn->class = (uint8_t)class_of_space(space, is_store);
    insn->space = (uint8_t)space;
    insn->bytes = type == PTX_F64 ? 8 : 4;
    insn->element = (uint8_t)kcsim_type_bytes(type);
    insn->part = is_packed(type) ? (uint8_t)(8 / ptx_types[type].bits) : 1;
    insn->count = (uint8_t)(rows * columns * insn->element / (32u * insn->bytes * insn->part));
    insn->target = (by_rows ? columns : rows) / insn->part;
    insn->extend = !is_a && !is_b && !by_rows;
    kcsim_ref *list = kcsim_decode_list(decoder, registers);
    insn->b = kcsim_decode_constant(decoder, insn->target * insn->part, 4);
    return list &&
           (statement->operand_count < 3 ||
            kcsim_decode_source(decoder, &statement->operands[2], 4, PTX_U32, &insn->b)) &&
           kcsim_decode_address(decoder, &statement->operands[is_store ? 0 : 1], &insn->a,
                                &insn->imm, &insn->mode) &&
           kcsim_decode_fragment(decoder, &statement->operands[is_store ? 1 : 0], list, registers,
                                 insn->bytes, !is_store);
}
