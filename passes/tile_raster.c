// The raster of a contraction: in which order programs take the tiles of its result.
//
// `row` goes along the rows, as every kernel does. `grouped:N` goes down N rows of tiles before it
// turns to the next column: the programs that run at the same time then need fewer different tiles
// of the operands, which the last cache holds.
//
//   row          grouped:2
//   0 1 2 3      0 2 4 6
//   4 5 6 7      1 3 5 7
//   8 9 ..       8 9 ..       the last group has what rows are left
#include "passes/tiler.h"

#include <stdlib.h>
#include <string.h>

static int64_t rows_of_a_group(const kc_tiler *t) {
    const char *raster = kc_attr_string(t->kernel, KC_ATTR_RASTER, "row");
    return strncmp(raster, "grouped:", 8) == 0 ? strtoll(raster + 8, NULL, 10) : 1;
}

static kc_value *binary(kc_tiler *t, kc_opcode code, kc_value *a, kc_value *b) {
    return kc_build_binary(&t->build, code, a, b);
}

// The tiles from one axis on to the last parallel one.
static const kc_expr *tiles_from(kc_tiler *t, int first) {
    const kc_expr *tiles = kc_expr_const(t->pool, 1);
    for (int a = first; a < t->n_axes; a++)
        if (!t->axes[a].reduced) tiles = kc_expr_mul(t->pool, tiles, kc_tiler_tiles(t, a));
    return tiles;
}

static kc_value *grouped(kc_tiler *t, kc_value *index, int64_t height, const kc_expr *rows,
                         const kc_expr *columns) {
    const kc_expr *size = kc_expr_mul(t->pool, columns, kc_expr_const(t->pool, height));
    kc_value *group = binary(t, KC_OP_FLOORDIV, index, kc_tiler_sym(t, size)),
             *inside = binary(t, KC_OP_MOD, index, kc_tiler_sym(t, size)),
             *first = binary(t, KC_OP_MUL, group, kc_tiler_int(t, KC_i64, height)),
             *left = binary(t, KC_OP_SUB, kc_tiler_sym(t, rows), first),
             *high = binary(t, KC_OP_MIN, left, kc_tiler_int(t, KC_i64, height)),
             *row = binary(t, KC_OP_ADD, first, binary(t, KC_OP_MOD, inside, high)),
             *column = binary(t, KC_OP_FLOORDIV, inside, high);
    return binary(t, KC_OP_ADD, binary(t, KC_OP_MUL, row, kc_tiler_sym(t, columns)), column);
}

kc_value *kc_tiler_raster(kc_tiler *t, kc_value *program) {
    int64_t height = rows_of_a_group(t);
    if (!t->contraction || t->row_axis < 0 || height < 2) return program;
    const kc_expr *rows = kc_tiler_tiles(t, t->row_axis), *columns = tiles_from(t, t->row_axis + 1),
                  *matrix = kc_expr_mul(t->pool, rows, columns);
    if (kc_expr_is_one(rows) || kc_expr_is_one(columns)) return program;
    if (kc_expr_known_equal(t->pool, matrix, tiles_from(t, 0)))
        return grouped(t, program, height, rows, columns);
    kc_value *size = kc_tiler_sym(t, matrix), *inside = binary(t, KC_OP_MOD, program, size),
             *before = binary(t, KC_OP_SUB, program, inside);
    return binary(t, KC_OP_ADD, before, grouped(t, inside, height, rows, columns));
}
