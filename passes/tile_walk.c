// A program that walks: it takes several tiles one after another along one parallel axis, so that
// what does not change along it (a bias, the scale of a normalisation) is loaded once and stays in
// registers.
//
// There are about as many programs as keep the device busy; each takes its share of the tiles.
// Where each has many, there are twice as many programs: while one reduces, another waits for
// memory. The number of multiprocessors is an argument of the kernel: one image serves a whole GPU
// and a slice of one.
#include "passes/tiler.h"

#include <string.h>

enum { WARPS_A_MULTIPROCESSOR = 8, MANY_TILES = 16, MOST_MULTIPROCESSORS = 4096 };

// All pools of a function have the same symbols in the same order.
static const kc_expr *multiprocessors(kc_tiler *t) {
    static const char name[] = "dev.multiprocessors";
    const kc_expr_facts facts = {1, MOST_MULTIPROCESSORS, 1};
    const kc_op *func = kc_op_ancestor(t->kernel, KC_OP_FUNC);
    kc_expr_set_facts(func->pool, kc_expr_symbol_index(func->pool, name, strlen(name)), facts);
    KC_FOR_OPS(variant, func->body)
        if (variant->pool)
            kc_expr_set_facts(variant->pool,
                              kc_expr_symbol_index(variant->pool, name, strlen(name)), facts);
    return kc_expr_symbol(t->pool, name);
}

void kc_tiler_walk(kc_tiler *t, int axis, int warps) {
    if (kc_expr_is_one(kc_tiler_tiles(t, axis))) return;
    int64_t a_multiprocessor = warps < WARPS_A_MULTIPROCESSOR ? WARPS_A_MULTIPROCESSOR / warps : 1;
    const kc_expr *steps = kc_tiler_steps(t, false),
                  *few = kc_expr_mul(t->pool, multiprocessors(t),
                                     kc_expr_const(t->pool, a_multiprocessor)),
                  *twice = kc_expr_mul(t->pool, few, kc_expr_const(t->pool, 2)),
                  *most = kc_expr_binary(t->pool, KC_EXPR_FLOORDIV, steps,
                                         kc_expr_const(t->pool, MANY_TILES));
    const kc_expr *wanted = kc_expr_binary(t->pool, KC_EXPR_MAX, few,
                                           kc_expr_binary(t->pool, KC_EXPR_MIN, most, twice));
    const kc_expr *share = kc_expr_cdiv(t->pool, steps, wanted);
    t->walked = axis;
    t->stride = kc_expr_binary(t->pool, KC_EXPR_MAX, share, kc_expr_const(t->pool, 1));
}

// From the first tile of this program's share to its last, or the axis' last.
void kc_tiler_begin_walk(kc_tiler *t) {
    if (t->walked < 0) return;
    kc_axis *axis = &t->axes[t->walked];
    kc_value *stride = kc_tiler_sym(t, t->stride),
             *tiles = kc_tiler_sym(t, kc_tiler_tiles(t, t->walked));
    kc_value *lower = axis->base ? kc_build_binary(&t->build, KC_OP_MUL, axis->base, stride)
                                 : kc_tiler_int(t, KC_i64, 0);
    kc_value *upper = kc_build_binary(&t->build, KC_OP_MIN,
                                      kc_build_binary(&t->build, KC_OP_ADD, lower, stride), tiles);
    kc_value *step = kc_tiler_begin_range(t, lower, upper, 0, NULL, &t->walk);
    kc_tiler_open_axis(t, t->walked, step);
}

// ---- what does not change from tile to tile -----------------------------------------------------

static bool defined_inside(const kc_value *v, const kc_block *loop) {
    const kc_block *block = v->def ? v->def->block : v->block;
    for (; block; block = block->parent ? block->parent->block : NULL)
        if (block == loop) return true;
    return false;
}

static bool changes(const kc_tiler *t, const kc_op *op, const kc_block *loop) {
    bool moves = kc_op_has(op, KC_PURE) || (op->code == KC_OP_LOAD && !kc_tiler_shares_memory(t));
    if (!moves || kc_op_has(op, KC_TERMINATOR)) return true;
    for (int i = 0; i < op->n_operands; i++)
        if (defined_inside(kc_operand(op, i), loop)) return true;
    return false;
}

void kc_tiler_end_walk(kc_tiler *t) {
    if (t->walked < 0) return;
    kc_tiler_end_loop(t, t->walk, 0, NULL);
    KC_FOR_OPS(op, t->walk->body)
        if (!changes(t, op, t->walk->body)) kc_op_move_before(op, t->walk);
}
