/* mma.sp, mma with .block_scale, and mma.sp with it: PTX ISA, "Multiply-and-Accumulate Instruction:
 * mma" and "mma.sp/mma.sp::ordered_metadata", "Block Scaling for mma.sync". */
#include "runtime/sim/cuda/decode.h"
#include "runtime/sim/cuda/mma.h"

static bool is_small_float(ptx_type type) {
    return type == PTX_E4M3 || type == PTX_E5M2 || type == PTX_E3M2 || type == PTX_E2M3 ||
           type == PTX_E2M1;
}

static bool is_byte_float(ptx_type type) {
    return type == PTX_E4M3 || type == PTX_E5M2;
}

static bool is_int(ptx_type type, unsigned bits) {
    return bits == 8 ? type == PTX_S8 || type == PTX_U8 : type == PTX_S4 || type == PTX_U4;
}

/* ---- sparse forms without factors ---- */

/* What the types ask for; bits 0: they do not go together. */
typedef struct needs {
    uint8_t bits; /* of an element in a register */
    int target, version;
    bool suffix;
} needs;

static needs needs_of(const ptx_statement *statement) {
    ptx_type a = statement->types[1], b = statement->types[2], d = statement->types[0];
    bool ordered = statement->op == PTX_OP_MMA_SPARSE_ORDERED;
    int version = ordered ? 85 : 71;
    if (ptx_has(statement, PTX_GROUP_KIND) == PTX_M_KIND_F8F6F4)
        return (needs){is_small_float(a) && is_small_float(b) && d != PTX_S32 ? 8 : 0, 120, 87,
                       true};
    if (a == PTX_F16 && b == a && d != PTX_S32) return (needs){16, 80, version, false};
    if (a == PTX_BF16 && b == a && d == PTX_F32) return (needs){16, 80, version, false};
    if (a == PTX_TF32 && b == a && d == PTX_F32) return (needs){32, 80, version, false};
    if (is_int(a, 8) && is_int(b, 8) && d == PTX_S32) return (needs){8, 80, version, false};
    if (is_int(a, 4) && is_int(b, 4) && d == PTX_S32) return (needs){4, 80, version, false};
    if (!is_byte_float(a) || !is_byte_float(b) || d == PTX_S32) return (needs){0, 0, 0, false};
    if (d == PTX_F16) return (needs){ordered ? 8 : 0, 120, 87, true};
    return (needs){8, 89, ordered ? 85 : 84, false};
}

/* Sections of a sparse product: its k over 16 elements of 16 bits, or as many of others. Bytes that
 * are floats come in two. */
static uint32_t sections_of(const ptx_statement *statement, uint32_t bits) {
    kcsim_extent extent = kcsim_matrix_extent(statement);
    uint32_t k = bits ? 256 / bits : 1, sections = extent.k / k;
    bool floats = bits == 8 && is_small_float(statement->types[1]);
    bool fits = extent.m == 16 && extent.n == 8 && extent.k == sections * k;
    return fits && sections <= 2 && sections > (floats ? 1 : 0) ? sections : 0;
}

static bool decode_sparse(kcsim_decoder *decoder, kcsim_mma_form *form) {
    const ptx_statement *statement = decoder->statement;
    needs wanted = needs_of(statement);
    bool saturates = ptx_has(statement, PTX_GROUP_SAT) != PTX_M_NONE;
    form->sections = (uint8_t)sections_of(statement, wanted.bits);
    form->bits = wanted.bits;
    if (statement->type_count != 4 || !form->sections || !wanted.bits ||
        (saturates && form->d != PTX_S32))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    return kcsim_decode_needs(decoder, wanted.target, wanted.suffix, wanted.version);
}

/* ---- forms with factors ---- */

static uint8_t factors_of(const ptx_statement *statement) {
    switch (ptx_has(statement, PTX_GROUP_SCALE_VEC)) {
    case PTX_M_SCALE_1X: return 1;
    case PTX_M_SCALE_2X: return 2;
    case PTX_M_SCALE_4X: return 4;
    default:
        return ptx_has(statement, PTX_GROUP_KIND) == PTX_M_KIND_MXF8F6F4 ? 1
               : ptx_has(statement, PTX_GROUP_KIND) == PTX_M_KIND_MXF4   ? 2
                                                                         : 0;
    }
}

/* PTX ISA, table "Valid combinations of .scale_vec_size and .kind qualifier". */
static bool factors_fit(const ptx_statement *statement, uint8_t factors) {
    const ptx_type *types = statement->types;
    bool e2m1 = types[1] == PTX_E2M1 && types[2] == PTX_E2M1;
    switch (ptx_has(statement, PTX_GROUP_KIND)) {
    case PTX_M_KIND_MXF8F6F4:
        return is_small_float(types[1]) && is_small_float(types[2]) && factors == 1 &&
               types[4] == PTX_UE8M0;
    case PTX_M_KIND_MXF4: return e2m1 && factors == 2 && types[4] == PTX_UE8M0;
    case PTX_M_KIND_MXF4NVF4:
        return e2m1 &&
               ((factors == 2 && types[4] == PTX_UE8M0) || (factors == 4 && types[4] == PTX_UE4M3));
    default: return false;
    }
}

static bool decode_scaled(kcsim_decoder *decoder, kcsim_mma_form *form) {
    const ptx_statement *statement = decoder->statement;
    bool wide = ptx_has(statement, PTX_GROUP_KIND) == PTX_M_KIND_MXF8F6F4;
    kcsim_extent extent = kcsim_matrix_extent(statement);
    form->bits = wide ? 8 : 4;
    form->codes = !wide;
    form->sections = form->sparse ? 2 : 1;
    form->scale = statement->types[4];
    form->factors = factors_of(statement);
    if (statement->type_count != 5 || form->d != PTX_F32 || extent.m != 16 || extent.n != 8 ||
        extent.k != form->sections * 256u / form->bits || !factors_fit(statement, form->factors) ||
        ptx_has(statement, PTX_GROUP_SAT) || ptx_has(statement, PTX_GROUP_ROUND) ||
        ptx_has(statement, PTX_GROUP_ATOMIC) || ptx_has(statement, PTX_GROUP_POPC))
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (form->sparse && !wide && decoder->module->target_suffix == 'f')
        return kcsim_decode_fail(decoder, "this needs a target such as sm_120a, not a family");
    return kcsim_decode_needs(decoder, 120, true, 87);
}

/* ---- operands ---- */

/* {byte, thread}: numbers, or registers of 16 bits. PTX ISA, table "Valid values for various
 * selector components". */
static bool decode_selectors(kcsim_decoder *decoder, const kcsim_mma_form *form,
                             const ptx_operand *operand, int64_t threads, kcsim_ref *list) {
    if (operand->kind != PTX_OPERAND_VECTOR || operand->element_count != 2)
        return kcsim_decode_fail(decoder, "the factors need a {byte, thread}");
    for (uint32_t i = 0; i < 2; i++) {
        const ptx_operand *chosen = &operand->elements[i];
        int64_t value = chosen->integer, limit = i ? threads : 4;
        bool bad = value < 0 || value >= limit || (!i && value % form->factors);
        if (chosen->kind == PTX_OPERAND_INTEGER && bad)
            return kcsim_decode_fail(decoder, "the selector %d is not one of this form",
                                     (int)value);
        if (!kcsim_decode_source(decoder, chosen, 2, PTX_U16, &list[i])) return false;
    }
    return true;
}

static bool decode_factors(kcsim_decoder *decoder, const kcsim_mma_form *form, uint32_t first,
                           kcsim_ref *list) {
    const ptx_operand *operands = decoder->statement->operands + first;
    return kcsim_decode_source(decoder, &operands[0], 4, PTX_B32, &list[0]) &&
           decode_selectors(decoder, form, &operands[1], 2, &list[1]) &&
           kcsim_decode_source(decoder, &operands[2], 4, PTX_B32, &list[3]) &&
           decode_selectors(decoder, form, &operands[3], 4, &list[4]);
}

/* PTX ISA, "Sparse matrix storage": one thread of four, two of them or all hold the metadata. */
static bool decode_metadata(kcsim_decoder *decoder, kcsim_mma_form *form, kcsim_ref *list) {
    const ptx_operand *operands = decoder->statement->operands;
    uint32_t threads = form->sections * (form->bits >= 16 ? 1u : 2u);
    if (operands[5].kind != PTX_OPERAND_INTEGER || operands[5].integer < 0 ||
        operands[5].integer >= 4 / threads)
        return kcsim_decode_fail(decoder, "the sparsity selector must be a number below %u",
                                 4 / threads);
    form->selector = (uint8_t)operands[5].integer;
    return kcsim_decode_source(decoder, &operands[4], 4, PTX_B32, list);
}

static bool decode_operands(kcsim_decoder *decoder, kcsim_mma_form *form) {
    const ptx_operand *operands = decoder->statement->operands;
    uint32_t d = form->d_registers, a = form->sections * form->a_registers;
    uint32_t b = form->sections * form->b_registers, last = 2 * d + a + b;
    uint32_t wanted = 4 + (form->sparse ? 2 : 0) + (form->scale ? 4 : 0);
    if (decoder->statement->operand_count != wanted)
        return kcsim_decode_fail(decoder, "%u operands where %u are wanted",
                                 decoder->statement->operand_count, wanted);
    kcsim_ref *list = kcsim_decode_list(decoder, kcsim_mma_list_count(form));
    return list && kcsim_decode_fragment(decoder, &operands[0], list, d, 4, true) &&
           kcsim_decode_fragment(decoder, &operands[1], list + d, a, 4, false) &&
           kcsim_decode_fragment(decoder, &operands[2], list + d + a, b, 4, false) &&
           kcsim_decode_fragment(decoder, &operands[3], list + d + a + b, d, 4, false) &&
           (!form->sparse || decode_metadata(decoder, form, list + last)) &&
           (!form->scale || decode_factors(decoder, form, form->sparse ? 6 : 4,
                                           list + last + (form->sparse ? 1 : 0)));
}

bool kcsim_decode_mma_sections(kcsim_decoder *decoder) {
    const ptx_statement *statement = decoder->statement;
    bool scaled = ptx_has(statement, PTX_GROUP_BLOCK_SCALE) != PTX_M_NONE;
    kcsim_mma_form *form = kcsim_arena_alloc(&decoder->module->arena, sizeof *form);
    if (!form) return kcsim_decode_fail(decoder, "out of host memory");
    *form = (kcsim_mma_form){.d = statement->types[0], .rows = 16};
    form->sparse = statement->op != PTX_OP_MMA;
    form->ordered = statement->op == PTX_OP_MMA_SPARSE_ORDERED;
    form->saturate = ptx_has(statement, PTX_GROUP_SAT) != PTX_M_NONE;
    decoder->insn->kind = KCSIM_DO_MMA_SECTIONS;
    decoder->insn->fn.mma = form;
    if (statement->type_count < 4 || statement->types[3] != form->d ||
        (form->d != PTX_F32 && form->d != PTX_F16 && form->d != PTX_S32) ||
        ptx_has(statement, PTX_GROUP_LAYOUT_A) != PTX_M_ROW ||
        ptx_has(statement, PTX_GROUP_LAYOUT_B) != PTX_M_COL_B)
        return kcsim_decode_fail(decoder, "this shape and these types are not supported");
    if (!(scaled ? decode_scaled(decoder, form) : decode_sparse(decoder, form))) return false;
    form->k = (uint8_t)(256 / form->bits);
    form->a = form->codes ? PTX_U4 : statement->types[1];
    form->b = form->codes ? PTX_U4 : statement->types[2];
    form->d_registers = form->d == PTX_F16 ? 2 : 4;
    form->a_registers = form->sparse ? 2 : 4;
    form->b_registers = 2;
    return decode_operands(decoder, form);
}
