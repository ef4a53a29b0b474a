/* ldmatrix and stmatrix of bytes. Of a lane 4 * g + t, byte j of a register is
 *
 *     ldmatrix .m16n16 .trans   register r of a matrix: row 4t + j, column g + 8r
 *     ldmatrix .m8n16           row g, column 4t + j
 *     stmatrix .m16n8 .trans    row 2t + j % 2, column g + 8 * (j / 2)
 *
 * where a row is the 16 bytes that a lane's address names, and elements of 6 or 4 bits lie packed
 * at their beginning (PTX ISA, "ldmatrix" and "stmatrix", figures of the fragment layouts, and
 * "Optional Decompression"). */
#include <string.h>

#include "runtime/sim/cuda/access.h"

typedef struct line { /* a row, unpacked: its elements and which of their bits are known */
    uint8_t value[16], known[16];
} line;

/* Row r of all matrices lies where lane r points. */
static bool locate_lines(kcsim_access *access, uint32_t mask) {
    uint32_t rows = access->insn->count * (access->insn->extend ? 16u : 8u);
    return kcsim_access_rows(access, rows, mask);
}

static void unpack_line(const kcsim_access *access, uint32_t row, line *out) {
    uint32_t bits = access->insn->part;
    uint8_t raw[17] = {0}, marks[17], ones = (uint8_t)((1u << bits) - 1);
    memcpy(raw, kcsim_host(access, row), 16);
    memset(marks, 1, sizeof marks);
    if (access->shadowed >> row & 1) memcpy(marks, kcsim_marks(access, row), 16);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t at = i * bits / 8, shift = i * bits % 8;
        bool two = shift + bits > 8;
        out->value[i] = (uint8_t)((raw[at] | (uint32_t)raw[at + 1] << 8) >> shift) & ones;
        out->known[i] = marks[at] && (!two || marks[at + 1]) ? 0xff : (uint8_t)~ones;
    }
}

/* Register `index` of a lane. */
static uint32_t gather(const kcsim_insn *insn, const line *lines, uint32_t index, uint32_t lane,
                       uint64_t *known) {
    uint32_t value = 0, bits = 0;
    for (uint32_t j = 0; j < 4; j++) {
        uint32_t row = insn->extend ? 16 * (index / 2) + 4 * (lane % 4) + j : 8 * index + lane / 4;
        uint32_t column = insn->extend ? lane / 4 + 8 * (index % 2) : 4 * (lane % 4) + j;
        value |= (uint32_t)lines[row].value[column] << 8 * j;
        bits |= (uint32_t)lines[row].known[column] << 8 * j;
    }
    *known = bits | UINT64_MAX << 32;
    return value;
}

void kcsim_do_load_bytes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_access access = {.warp = warp, .insn = insn, .size = 16, .kind = KCSIM_ACCESS_READ};
    line lines[32];
    memset(lines, 0, sizeof lines);
    if (locate_lines(&access, mask)) {
        for (uint32_t rest = access.mask; rest; rest &= rest - 1)
            unpack_line(&access, (uint32_t)__builtin_ctz(rest), &lines[__builtin_ctz(rest)]);
    } else {
        for (uint32_t row = 0; row < 32; row++) /* reported; nothing that only follows from it */
            memset(lines[row].known, 0xff, 16);
    }
    for (uint32_t index = 0; index < insn->list_count; index++) {
        uint32_t values[32];
        uint64_t known[32];
        for (uint32_t lane = 0; lane < 32; lane++)
            values[lane] = gather(insn, lines, index, lane, &known[lane]);
        kcsim_put(warp, insn->list[index], values, 4, mask);
        for (uint32_t lane = 0; warp->block->launch->track && lane < 32; lane++)
            if (mask >> lane & 1)
                kcsim_set_defined_bits(warp, insn->list[index], lane, 4, known[lane]);
    }
}

void kcsim_do_store_bytes(kcsim_warp *warp, const kcsim_insn *insn, uint32_t mask) {
    kcsim_access access = {.warp = warp, .insn = insn, .size = 16, .kind = KCSIM_ACCESS_WRITE};
    if (!locate_lines(&access, mask)) return;
    for (uint32_t index = 0; index < insn->list_count; index++) {
        const uint32_t *values = kcsim_at(warp, insn->list[index]);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint64_t known = kcsim_defined_bits(warp, insn->list[index], lane);
            for (uint32_t j = 0; j < 4; j++) {
                uint32_t row = 8 * index + 2 * (lane % 4) + j % 2, column = lane / 4 + 8 * (j / 2);
                kcsim_host(&access, row)[column] = (uint8_t)(values[lane] >> 8 * j);
                if (access.shadowed >> row & 1)
                    kcsim_marks(&access, row)[column] = (known >> 8 * j & 0xff) == 0xff;
            }
        }
    }
    warp->block->changes++;
}
