/* ldmatrix and stmatrix of 8 bits and less: PTX ISA, "Warp-level matrix load instruction: ldmatrix"
 * and its counterpart. A row is 16 bytes of memory whatever an element takes of them. */
#include "runtime/sim/cuda/decode.h"

/* Bits of an element in memory; 0: there is no such form. */
static uint8_t packed_bits(const ptx_statement *statement) {
    ptx_modifier packing = ptx_has(statement, PTX_GROUP_PACKING);
    if (ptx_has(statement, PTX_GROUP_UNPACKED) != PTX_M_NONE)
        return statement->type_count    ? 0
               : packing == PTX_M_B6X16 ? 6
               : packing == PTX_M_B4X16 ? 4
                                        : 0;
    bool bytes = statement->type_count == 1 && statement->types[0] == PTX_B8;
    return bytes && packing == PTX_M_NONE ? 8 : 0;
}

static bool form_exists(const ptx_statement *statement, bool is_store, uint8_t bits) {
    ptx_modifier shape = ptx_has(statement, PTX_GROUP_SHAPE);
    ptx_modifier count = ptx_has(statement, PTX_GROUP_MATRICES);
    bool transposed = ptx_has(statement, PTX_GROUP_TRANS) != PTX_M_NONE;
    if (!bits || count == PTX_M_NONE) return false;
    if (is_store) return shape == PTX_M_M16N8 && transposed;
    if (shape == PTX_M_M16N16) return transposed && count != PTX_M_X4;
    return shape == PTX_M_M8N16 && !transposed && bits < 8;
}

bool kcsim_decode_matrix_bytes(kcsim_decoder *decoder, bool is_store) {
    const ptx_statement *statement = decoder->statement;
    const ptx_operand *address = &statement->operands[is_store ? 0 : 1];
    kcsim_insn *insn = decoder->insn;
    ptx_modifier count = ptx_has(statement, PTX_GROUP_MATRICES);
    insn->kind = is_store ? KCSIM_DO_STORE_BYTES : KCSIM_DO_LOAD_BYTES;
    insn->count = count == PTX_M_X4 ? 4 : count == PTX_M_X2 ? 2 : 1;
    insn->part = packed_bits(statement);
    insn->bytes = 16;
    insn->space = (uint8_t)kcsim_statement_space(statement);
    insn->extend = ptx_has(statement, PTX_GROUP_SHAPE) == PTX_M_M16N16;
    if (!form_exists(statement, is_store, insn->part) || address->kind != PTX_OPERAND_MEMORY)
        return kcsim_decode_fail(decoder, "these matrices are not supported");
    if (!kcsim_decode_needs(decoder, 100, true, 86) ||
        !kcsim_decode_address(decoder, address, &insn->a, &insn->imm, &insn->mode))
        return false;
    uint32_t registers = insn->count * (insn->extend ? 2u : 1u);
    kcsim_ref *list = kcsim_decode_list(decoder, registers);
    return list && kcsim_decode_fragment(decoder, &statement->operands[is_store ? 1 : 0], list,
                                         registers, 4, !is_store);
}
