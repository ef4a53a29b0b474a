/* wgmma, and the fences between proxies. */
#include "runtime/sim/cuda/decode.h"
#include "runtime/sim/cuda/mma.h"
#include "runtime/sim/cuda/wgmma.h"

/* PTX ISA, wgmma.mma_async: types of A, of B, of D; k; whether the steps of n beyond 32 are 16. */
typedef struct wgmma_row {
    ptx_type a, b, d;
    uint16_t k;
    bool coarse, transposes, scales;
} wgmma_row;

static const wgmma_row rows[] = {
    {PTX_F16, PTX_F16, PTX_F16, 16, false, true, true},
    {PTX_F16, PTX_F16, PTX_F32, 16, false, true, true},
    {PTX_BF16, PTX_BF16, PTX_F32, 16, false, true, true},
    {PTX_TF32, PTX_TF32, PTX_F32, 8, false, false, true},
    {PTX_E4M3, PTX_E4M3, PTX_F16, 32, false, false, true},
    {PTX_E4M3, PTX_E4M3, PTX_F32, 32, false, false, true},
    {PTX_E4M3, PTX_E5M2, PTX_F16, 32, false, false, true},
    {PTX_E4M3, PTX_E5M2, PTX_F32, 32, false, false, true},
    {PTX_E5M2, PTX_E4M3, PTX_F16, 32, false, false, true},
    {PTX_E5M2, PTX_E4M3, PTX_F32, 32, false, false, true},
    {PTX_E5M2, PTX_E5M2, PTX_F16, 32, false, false, true},
    {PTX_E5M2, PTX_E5M2, PTX_F32, 32, false, false, true},
    {PTX_S8, PTX_S8, PTX_S32, 32, true, false, false},
    {PTX_S8, PTX_U8, PTX_S32, 32, true, false, false},
    {PTX_U8, PTX_S8, PTX_S32, 32, true, false, false},
    {PTX_U8, PTX_U8, PTX_S32, 32, true, false, false},
    {PTX_B1, PTX_B1, PTX_S32, 256, true, false, false},
};

/* A sparse A has twice the k, and none of bits. */
static bool k_fits(const ptx_statement *statement, const wgmma_row *row) {
    if (statement->op == PTX_OP_WGMMA) return statement->tile[2] == row->k;
    return statement->tile[2] == 2 * row->k && row->a != PTX_B1;
}

static const wgmma_row *find_row(const ptx_statement *statement) {
    uint32_t n = statement->tile[1];
    for (size_t i = 0; statement->type_count == 3 && i < sizeof rows / sizeof rows[0]; i++) {
        const wgmma_row *row = &rows[i];
        if (row->d != statement->types[0] || row->a != statement->types[1] ||
            row->b != statement->types[2] || statement->tile[0] != 64 ||
            !k_fits(statement, row))
            continue;
        bool steps = n % 8 == 0 && (!row->coarse || n <= 24 || n % 16 == 0);
        return n >= 8 && n <= 256 && steps ? row : NULL;
    }
    return NULL;
}

static bool decode_registers(kcsim_decoder *decoder, const ptx_operand *operand, kcsim_ref *list,
                             uint32_t count, bool is_written) {
    if (operand->kind != PTX_OPERAND_VECTOR || operand->element_count != count)
        return kcsim_decode_fail(decoder, "%u registers where %u are wanted",
                                 operand->element_count, count);
    for (uint32_t i = 0; i < count; i++)
        if (!(is_written ? kcsim_decode_destination(decoder, &operand->elements[i], 4, &list[i])
                         : kcsim_decode_source(decoder, &operand->elements[i], 4, PTX_B32,
                                               &list[i])))
            return false;
    return true;
}

/* An immediate at `*next`: one of two values. */
static bool decode_choice(kcsim_decoder *decoder, uint32_t *next, int64_t no, int64_t yes,
                          bool *chosen) {
    const ptx_statement *statement = decoder->statement;
    const ptx_operand *operand = &statement->operands[*next];
    if (*next >= statement->operand_count || operand->kind != PTX_OPERAND_INTEGER ||
        (operand->integer != no && operand->integer != yes))
        return kcsim_decode_fail(decoder, "operand %u must be %d or %d", *next + 1, (int)no,
                                 (int)yes);
    *chosen = operand->integer == yes;
    ++*next;
    return true;
}

/* What follows scale-d: signs of A and B, then which of them are transposed. */
static bool decode_choices(kcsim_decoder *decoder, const wgmma_row *row,
                           struct kcsim_wgmma_form *form) {
    uint32_t next = form->sparse ? 6 : 4;
    bool negative_a = false, negative_b = false;
    if (row->scales && (!decode_choice(decoder, &next, 1, -1, &negative_a) ||
                        !decode_choice(decoder, &next, 1, -1, &negative_b)))
        return false;
    form->negative = negative_a != negative_b;
    if (row->transposes && !form->a_registers &&
        !decode_choice(decoder, &next, 0, 1, &form->a_transposed))
        return false;
    if (row->transposes && !decode_choice(decoder, &next, 0, 1, &form->b_transposed)) return false;
    return next == decoder->statement->operand_count ||
           kcsim_decode_fail(decoder, "an operand too many");
}

/* Bits, and only they, name the product and how it is added up; the ISA has .and.popc alone. */
static bool modifiers_fit(const ptx_statement *statement) {
    ptx_modifier product = ptx_has(statement, PTX_GROUP_ATOMIC);
    bool counts = ptx_has(statement, PTX_GROUP_POPC) == PTX_M_POPC;
    bool saturates = ptx_has(statement, PTX_GROUP_SAT) != PTX_M_NONE;
    if (statement->types[1] == PTX_B1) return product == PTX_M_AND && counts && !saturates;
    return product == PTX_M_NONE && !counts && (!saturates || statement->types[0] == PTX_S32);
}

static bool meet(kcsim_decoder *decoder, kcsim_kind kind) {
    decoder->insn->kind = (uint8_t)kind;
    decoder->insn->e = kcsim_decode_constant(decoder, UINT32_MAX, 4); /* all lanes of the warp */
    decoder->code->wgmma = true;
    if (decoder->module->target != 90 || decoder->module->target_suffix != 'a')
        return kcsim_decode_fail(decoder, "this needs the target sm_90a");
    return true;
}

/* scale-d: a predicate, or (the assembler takes it) a number. */
static bool decode_scale(kcsim_decoder *decoder, const ptx_operand *operand) {
    kcsim_insn *insn = decoder->insn;
    if (operand->kind != PTX_OPERAND_INTEGER)
        return kcsim_decode_predicate(decoder, operand, &insn->c, &insn->negate_c);
    insn->c = kcsim_decode_constant(decoder, operand->integer ? UINT32_MAX : 0, 4);
    return true;
}

/* PTX ISA, "wgmma.mma_async.sp": sp-meta and sp-sel behind the descriptors. */
static bool decode_sparsity(kcsim_decoder *decoder, struct kcsim_wgmma_form *form,
                            kcsim_ref *list) {
    const ptx_operand *operands = decoder->statement->operands;
    kcsim_mma_form *sparse = kcsim_arena_alloc(&decoder->module->arena, sizeof *sparse);
    if (!sparse) return kcsim_decode_fail(decoder, "out of host memory");
    uint8_t bits = ptx_types[form->a].bits;
    int64_t limit = bits >= 16 ? 2 : 1;
    if (operands[4].kind != PTX_OPERAND_INTEGER || operands[4].integer < 0 ||
        operands[4].integer >= limit)
        return kcsim_decode_fail(decoder, "the sparsity selector must be a number below %d",
                                 (int)limit);
    *sparse = (kcsim_mma_form){.sparse = true,
                               .sections = 2,
                               .bits = bits,
                               .k = (uint8_t)(256 / bits),
                               .selector = (uint8_t)operands[4].integer};
    form->sparse = sparse;
    return kcsim_decode_source(decoder, &operands[3], 4, PTX_B32, list);
}

static bool decode_product(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    const wgmma_row *row = find_row(statement);
    kcsim_insn *insn = decoder->insn;
    struct kcsim_wgmma_form *form = kcsim_arena_alloc(&decoder->module->arena, sizeof *form);
    if (!row || !modifiers_fit(statement))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (!form) return kcsim_decode_fail(decoder, "out of host memory");
    *form = (struct kcsim_wgmma_form){
        .n = statement->tile[1], .k = row->k, .a = row->a, .b = row->b, .d = row->d};
    form->d_registers = (uint8_t)(form->n / (row->d == PTX_F16 ? 4 : 2));
    form->a_registers = statement->operands[1].kind == PTX_OPERAND_VECTOR ? 4 : 0;
    form->saturate = ptx_has(statement, PTX_GROUP_SAT) == PTX_M_SATFINITE;
    insn->fn.wgmma = form;
    insn->bytes = 4;
    bool sparse = statement->op == PTX_OP_WGMMA_SPARSE;
    uint32_t registers = form->d_registers + form->a_registers;
    kcsim_ref *list = kcsim_decode_list(decoder, registers + sparse);
    if (sparse && (!list || !decode_sparsity(decoder, form, list + registers))) return false;
    bool a = list && (form->a_registers
                          ? decode_registers(decoder, &statement->operands[1],
                                             list + form->d_registers, 4, false)
                          : kcsim_decode_source(decoder, &statement->operands[1], 8, PTX_U64,
                                                &insn->a));
    return a && meet(decoder, KCSIM_DO_WGMMA) &&
           decode_registers(decoder, &statement->operands[0], list, form->d_registers, true) &&
           kcsim_decode_source(decoder, &statement->operands[2], 8, PTX_U64, &insn->b) &&
           decode_scale(decoder, &statement->operands[sparse ? 5 : 3]) &&
           decode_choices(decoder, row, form);
}

static bool decode_group(kcsim_decoder *decoder) {
    const ptx_operand *operand = &decoder->statement->operands[0];
    decoder->insn->imm = -1;
    if (decoder->statement->op == PTX_OP_WGMMA_WAIT) {
        if (operand->kind != PTX_OPERAND_INTEGER || operand->integer < 0)
            return kcsim_decode_fail(decoder, "a number of groups was expected");
        decoder->insn->imm = operand->integer;
    }
    return meet(decoder, KCSIM_DO_WGMMA_GROUP);
}

bool kcsim_decode_wgmma(kcsim_decoder *decoder) {
    switch (ptx_ops[decoder->statement->op].family) {
    case PTX_FAMILY_WGMMA: return decode_product(decoder);
    case PTX_FAMILY_WGMMA_FENCE: return meet(decoder, KCSIM_DO_WGMMA_FENCE);
    case PTX_FAMILY_WGMMA_GROUP: return decode_group(decoder);
    case PTX_FAMILY_PROXY_FENCE: decoder->insn->kind = KCSIM_DO_PROXY_FENCE; return true;
    default: return kcsim_decode_cluster(decoder);
    }
}
