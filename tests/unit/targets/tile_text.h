// Tile IR texts for the tests of code generation, and building them.
#ifndef KC_TESTS_TARGETS_TILE_TEXT_H
#define KC_TESTS_TARGETS_TILE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ir/ir.h"
#include "targets/target.h"

static kc_module *parse_tile(kc_arena *arena, const char *text, kc_diag **diag) {
    *diag = kc_diag_create(arena, "test.tile", text, strlen(text));
    kc_module *module = kc_module_parse(arena, text, strlen(text), *diag);
    if (module && kc_module_verify(module, KC_LEVEL_LAYOUT, *diag)) return module;
    kc_diag_print(*diag, stderr);
    return NULL;
}

// One tile of 64 elements along dimension 0 and 1 warp, whatever the warp size: 2 registers on 32
// lanes, or twice that.
static const char *line_layout(int warp_size) {
    return warp_size == 64 ? "#layout<tile: 64, reg: [1], lane: [2] [4] [8] [16] [32] [0]>"
                           : "#layout<tile: 64, reg: [1], lane: [2] [4] [8] [16] [32]>";
}

// True when the op's row accepts this element type.
static inline bool accepts(const kc_op_info *row, kc_dtype t) {
    bool wide = kc_dtype_table[t].bits >= 32, is_float = kc_dtype_is_float(t);
    switch (row->domain) {
    case KC_DOMAIN_ANY: return true;
    case KC_DOMAIN_REAL: return is_float && wide;
    case KC_DOMAIN_FLOAT: return is_float;
    case KC_DOMAIN_NUMBER: return is_float ? wide : t != KC_bool;
    case KC_DOMAIN_ORDERED: return true;
    case KC_DOMAIN_SIGNED: return t != KC_f8e8m0;
    case KC_DOMAIN_INTEGER: return kc_dtype_is_integer(t);
    case KC_DOMAIN_BOOL: return !is_float;
    default: return false;
    }
}

static inline bool is_tile_elementwise(const kc_op_info *row) {
    return (row->traits & KC_ELEMENTWISE) && (row->levels & KC_LEVEL_LAYOUT);
}

static inline char *module_head(kc_arena *arena, int warp_size) {
    return kc_arena_printf(arena, "module @m {target = \"cuda:sm_80\"}\nlayout #0 = %s\n",
                           line_layout(warp_size));
}

// A function with a kernel of the same name: o = expression(c, x, y) on 64 elements.
static inline char *element_kernel(kc_arena *arena, const char *name, const char *expression,
                                   kc_dtype from, kc_dtype to) {
    const char *f = kc_dtype_name(from), *t = kc_dtype_name(to);
    return kc_arena_printf(
        arena,
        "func @%s(%%c: bool[64], %%x: %s[64], %%y: %s[64]) -> (o: %s[64]) {\n"
        "  variant {workspace = 0} {\n"
        "    %%o = output {name = \"o\"} : %s[64]\n"
        "    kernel inputs(%%c, %%x, %%y) outputs(%%o) {name = \"%s\", grid = 1, warps = 1} {\n"
        "    ^(%%c: bool[64], %%x: %s[64], %%y: %s[64], %%o: %s[64]):\n"
        "      %%z = const {integer = 0} : i64\n"
        "      %%i = iota {axis = 0} : tile<64xi32, #0>\n"
        "      %%vc = load %%c base(%%z) local(%%i) : tile<64xbool, #0>\n"
        "      %%vx = load %%x base(%%z) local(%%i) : tile<64x%s, #0>\n"
        "      %%vy = load %%y base(%%z) local(%%i) : tile<64x%s, #0>\n"
        "      %%r = %s : tile<64x%s, #0>\n"
        "      store %%o, %%r base(%%z) local(%%i)%s\n"
        "      return\n"
        "    }\n  }\n}\n",
        name, f, f, t, t, name, f, f, t, f, f, expression, t,
        kc_dtype_is_packed(to) ? " {vector = 2}" : "");
}

#endif
