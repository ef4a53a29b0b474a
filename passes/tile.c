// tile: a kernel in tensor form becomes a sequential program over tiles.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647} {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[N]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0"} {
//       ^(%x: f32[N], %y: f32[N]):
//         %e = exp %x : f32[N]
//         yield %e
//       }
//     }
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647} {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[N]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = (N + 1023) // 1024, warps = 4} {
//       ^(%x: f32[N], %y: f32[N]):
//         %0 = iota {axis = 0} : tile<1024xi32>
//         %1 = program_id : i64
//         %2 = const {integer = 1024} : i64
//         %3 = mul %1, %2 : i64
//         %4 = sym {expr = N} : i64
//         %5 = sub %4, %3 : i64
//         %6 = min %5, %2 : i64
//         %7 = cast %6 {dtype = i32} : i32
//         %8 = lt %0, %7 : tile<1024xbool>
//         %x_1 = load %x base(%3) local(%0) mask(%8) : tile<1024xf32>
//         %e = exp %x_1 : tile<1024xf32>
//         store %y, %e base(%3) local(%0) mask(%8)
//         return
//       }
//     }
//   }
//
// Requires: kernels as `plan` makes them (a map; or reductions over the same axes of one space with
// elementwise ops after them; or one contraction with elementwise ops after it, and reductions of
// what its tiles hold whole). Every load and store is in bounds or masked. No layouts yet.
#include "passes/tiler.h"

#include <string.h>

static bool by_value(const kc_op *kernel, int i) {
    const kc_value *v = kc_operand(kernel, i);
    return v->type.rank == 0 && v->block && v->block->parent->code == KC_OP_FUNC;
}

// The new body has the old one's arguments, scalars by value.
static void start_body(kc_tiler *t) {
    kc_module *module = t->pass->module;
    t->source = t->kernel->body;
    t->kernel->body = NULL;
    kc_block *body = kc_op_add_body(module, t->kernel);
    for (int i = 0; i < t->source->n_args; i++) {
        kc_value *old = t->source->args[i];
        kc_type type = by_value(t->kernel, i) ? kc_type_scalar(old->type.elem) : old->type;
        old->data = kc_block_add_arg(module, body, type, old->name);
    }
    t->build = kc_builder_at_end(module, body, t->kernel->loc);
}

static kc_value *output_buffer(const kc_tiler *t, int i) {
    int outputs = t->source->last->n_operands;
    return t->source->args[t->source->n_args - outputs + i]->data;
}

// The body's argument that is the old content of an inout when the output is its new one, in the
// same shape; else NULL.
static const kc_value *old_content(const kc_tiler *t, int output) {
    const kc_op *kernel = t->kernel;
    const kc_value *written = kc_operand(kernel, kernel->segments[0] + output);
    const kc_type *type = &t->source->args[kernel->segments[0] + output]->type;
    bool packed = kc_dtype_table[type->elem].bits < 8; // half a byte cannot be left alone
    if (packed || !written->def || written->def->code != KC_OP_OUTPUT) return NULL;
    const char *name = kc_attr_string(written->def, KC_ATTR_NAME, "");
    for (int i = 0; i < kernel->segments[0]; i++) {
        const kc_value *read = kc_operand(kernel, i);
        bool same = !read->def && read->name && strcmp(read->name, name) == 0;
        if (same && kc_type_equal(t->pool, &t->source->args[i]->type, type))
            return t->source->args[i];
    }
    return NULL;
}

// A result that consists of parts is one value a part.
static int part_count(const kc_tiler *t, int output) {
    return t->parted ? kc_operand(t->source->last, output)->def->n_operands : 1;
}

static kc_change change_of(kc_tiler *t, int output, int part) {
    kc_coord c[KC_MAX_RANK];
    kc_value *result = kc_operand(t->source->last, output);
    kc_tiler_result_coords(t, result, c);
    return kc_tiler_change(t, t->parted ? kc_operand(result->def, part) : result,
                           old_content(t, output), c);
}

// Where the part stands in the whole.
static void shift_to_part(kc_tiler *t, const kc_op *concat, int part, kc_coord *c) {
    int axis = (int)kc_attr_int(concat, KC_ATTR_AXIS, 0);
    const kc_expr *before = kc_expr_mul(t->pool, kc_operand(concat, part)->type.shape[axis],
                                        kc_expr_const(t->pool, part));
    c[axis] = kc_tiler_coord_add(t, c[axis], before);
}

static void emit_store(kc_tiler *t, int output, int part, kc_change change) {
    kc_value *buffer = output_buffer(t, output), *operands[3 + 2 * KC_MAX_RANK];
    kc_coord c[KC_MAX_RANK];
    int rank = kc_tiler_result_coords(t, kc_operand(t->source->last, output), c), n = 2;
    unsigned axes = 0;
    if (change.none) return;
    if (t->parted) shift_to_part(t, kc_operand(t->source->last, output)->def, part, c);
    for (int d = 0; d < rank; d++)
        axes |= c[d].axes;
    operands[0] = buffer;
    operands[1] = axes ? kc_tiler_widen(t, change.value, axes) : change.value;
    for (int d = 0; d < rank; d++)
        operands[n++] = c[d].base ? c[d].base : kc_tiler_int(t, KC_i64, 0);
    for (int d = 0; d < rank; d++)
        operands[n++] = c[d].local ? c[d].local : kc_tiler_int(t, KC_i32, 0);
    kc_value *mask = kc_tiler_mask(t, axes, change.mask);
    if (mask) operands[n++] = mask;
    kc_op *store = kc_build(&t->build, KC_OP_STORE, n, operands, 0, NULL);
    kc_op_set_segments(store, (int[]){1, 1, rank, rank, mask != NULL});
}

// An output may occupy an input's memory: then everything is read before anything is written.
bool kc_tiler_shares_memory(const kc_tiler *t) {
    const kc_output *outputs;
    int n = kc_func_outputs(kc_op_ancestor(t->kernel, KC_OP_FUNC), &outputs);
    for (int i = 0; i < n; i++)
        if (outputs[i].alias) return true;
    return false;
}

static bool is_parted(const kc_tiler *t, const kc_value *result, const kc_op *first) {
    const kc_op *op = result->def;
    if (!op || op->code != KC_OP_CONCAT || op->n_operands != first->n_operands ||
        kc_dtype_is_packed(result->type.elem))
        return false;
    if (kc_attr_int(op, KC_ATTR_AXIS, 0) != kc_attr_int(first, KC_ATTR_AXIS, 0)) return false;
    for (int i = 0; i < op->n_operands; i++)
        if (!kc_type_same_shape(t->pool, &kc_operand(op, i)->type, &kc_operand(first, 0)->type))
            return false;
    return true;
}

// Then each program computes an element of every part, from what it loads once, and masks nothing.
void kc_tiler_find_parts(kc_tiler *t) {
    const kc_op *yield = t->source->last, *first = kc_operand(yield, 0)->def;
    bool all = first && !kc_tiler_shares_memory(t);
    KC_FOR_OPS(op, t->source)
        all = all && !kc_op_has_any(op, KC_REDUCTION | KC_CONTRACTION);
    for (int i = 0; all && i < yield->n_operands; i++)
        all = is_parted(t, kc_operand(yield, i), first);
    t->parted = all;
}

// Whether the output is written inside the loop over chunks of rows.
static bool is_looped(kc_tiler *t, int output) {
    int axes[KC_MAX_RANK],
        rank = kc_tiler_plain_axes(
            t, &kc_tiler_uncarried(t, kc_operand(t->source->last, output))->type, axes);
    bool reduced = false;
    for (int d = 0; d < rank; d++)
        reduced = reduced || (axes[d] >= 0 && t->axes[axes[d]].reduced);
    return !t->contraction && !t->rows_whole && reduced;
}

static void emit_some(kc_tiler *t, bool looped) {
    int n = t->source->last->n_operands;
    bool shared = kc_tiler_shares_memory(t);
    kc_change *changes = KC_NEW_ARRAY(t->pass->scratch, kc_change, n);
    for (int i = 0; shared && i < n; i++)
        if (is_looped(t, i) == looped) changes[i] = change_of(t, i, 0);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < part_count(t, i); p++)
            if (is_looped(t, i) == looped)
                emit_store(t, i, p, shared ? changes[i] : change_of(t, i, p));
}

// Outputs of the parallel shape, then those of the whole space, in one loop over chunks where rows
// are long.
static void emit_outputs(kc_tiler *t) {
    kc_chunks chunks = {.n_roots = 0};
    emit_some(t, false);
    for (int i = 0; i < t->source->last->n_operands; i++)
        if (is_looped(t, i)) chunks.roots[chunks.n_roots++] = kc_operand(t->source->last, i);
    if (!chunks.n_roots) return;
    kc_tiler_begin_chunks(t, &chunks, 0, NULL);
    emit_some(t, true);
    kc_tiler_end_chunks(t, &chunks, 0, NULL);
}

static bool tile_kernel(kc_pass_context *pass, kc_op *kernel) {
    kc_tiler t = {.pass = pass,
                  .kernel = kernel,
                  .pool = kc_op_pool(kernel),
                  .row_axis = -1,
                  .walked = -1};
    kc_tiler_find_contraction(&t);
    kc_tiler_collapse(&t);
    start_body(&t);
    kc_tiler_find_carriers(&t);
    kc_tiler_find_parts(&t);
    if (!kc_tiler_choose_axes(&t)) return false;
    kc_attr_set_expr(kernel, KC_ATTR_GRID, kc_tiler_steps(&t, false));
    kc_tiler_make_offsets(&t);
    kc_value *program = kc_build_1(&t.build, KC_OP_PROGRAM_ID, kc_type_scalar(KC_i64), 0, NULL);
    kc_tiler_open_axes(&t, kc_tiler_raster(&t, program), false);
    if (t.rows_whole && !t.contraction) kc_tiler_open_axes(&t, NULL, true);
    kc_tiler_begin_walk(&t);
    if (t.reduction) kc_tiler_emit_reductions(&t);
    emit_outputs(&t);
    kc_tiler_end_walk(&t);
    kc_build(&t.build, KC_OP_RETURN, 0, NULL, 0, NULL);
    return true;
}

static bool tile_variant(kc_pass_context *pass, kc_op *variant) {
    bool ok = true;
    KC_FOR_OPS(kernel, variant->body)
        if (kernel->code == KC_OP_KERNEL && !tile_kernel(pass, kernel)) ok = false;
    return ok;
}

// What is wrong with one variant is wrong with all of them, and is said once.
static bool run(kc_pass_context *pass) {
    bool all = true;
    KC_FOR_OPS(func, pass->module->body) {
        bool ok = true;
        KC_FOR_OPS(variant, func->body)
            if (ok && variant->code == KC_OP_VARIANT) ok = tile_variant(pass, variant);
        all = all && ok;
    }
    return all;
}

const kc_pass kc_pass_tile = {
    .name = "tile",
    .meaning = "kernels become programs over tiles",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TILE,
    .needs_target = true,
    .run = run,
};
