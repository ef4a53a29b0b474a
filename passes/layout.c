// layout: every tile gets a layout; conversions, shared memory and the vectors of loads and stores
// become explicit.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[M, 512]) -> (y: f32[M]) dims {M: 0..2147483647} {
//     variant {workspace = 0, aligned = ["x"]} {
//       %y = output {name = "y"} : f32[M]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = M, warps = 4} {
//       ^(%x: f32[M, 512], %y: f32[M]):
//         %i = iota {axis = 0} : tile<512xi32>
//         %row = program_id : i64
//         %zero = const {integer = 0} : i64
//         %none = const {integer = 0} : i32
//         %v = load %x base(%row, %zero) local(%none, %i) : tile<512xf32>
//         %s = reduce %v {axes = [0], init = [0]} : tile<1xf32> {
//         ^(%a: f32, %b: f32):
//           %c = add %a, %b : f32
//           yield %c
//         }
//         store %y, %s base(%row) local(%none)
//         return
//       }
//     }
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   layout #0 = #layout<tile: 4, offset: [1] [2]>
//   layout #1 = #layout<tile: 512, reg: [1] [2], lane: [4] [8] [16] [32] [64], warp: [128] [256]>
//   layout #2 = #layout<tile: 4, lane: [0] [0] [0] [0] [0], warp: [1] [2]>
//   layout #3 = #layout<tile: 4, reg: [1] [2], lane: [0] [0] [0] [0] [0], warp: [0] [0]>
//   layout #4 = #layout<tile: 1, lane: [0] [0] [0] [0] [0], warp: [0] [0]>
//   func @f(%x: f32[M, 512]) -> (y: f32[M]) dims {M: 0..2147483647} {
//     variant {workspace = 0, aligned = ["x"]} {
//       %y = output {name = "y"} : f32[M]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = M, warps = 4} {
//       ^(%x: f32[M, 512], %y: f32[M]):
//         %0 = shared_alloc : shared<4xf32, #0>
//         %i = iota {axis = 0} : tile<512xi32, #1>
//         %row = program_id : i64
//         %zero = const {integer = 0} : i64
//         %none = const {integer = 0} : i32
//         %v = load %x base(%row, %zero) local(%none, %i) {vector = 4} : tile<512xf32, #1>
//         %s = reduce %v {axes = [0], init = [0]} : tile<4xf32, #2> {
//         ^(%a: f32, %b: f32):
//           %c = add %a, %b : f32
//           yield %c
//         }
//         shared_store %0, %s
//         %s_1 = shared_load %0 : tile<4xf32, #3>
//         %s_2 = reduce %s_1 {axes = [0], init = [0]} : tile<1xf32, #4> {
//         ^(%a_1: f32, %b_1: f32):
//           %c_1 = add %a_1, %b_1 : f32
//           yield %c_1
//         }
//         store %y, %s_2 base(%row) local(%none)
//         return
//       }
//     }
//   }
//
// The main context comes from the store (or load) that moves most; a load whose memory runs along
// another dimension has its own and is converted. A dot's accumulator decides for everything after
// it: on tensor cores it is a grid of the instruction's fragments. Each of its operands is loaded
// as memory likes and fetched from shared memory as the unit likes. An access that would tear pairs
// of 4-bit elements, or touch sectors of memory in part, has a context of its own. Requires tile IR
// without layouts. Barriers are missing afterwards: that is `sync`'s work.
#include "passes/layouts.h"

#include <string.h>

enum { SECTOR_BITS = 256, MANY = 4 };

// ---- the space ----------------------------------------------------------------------------------

static void measure(kc_layouts *l, const kc_block *block) {
    KC_FOR_OPS(op, block) {
        for (int i = 0; i < op->n_results; i++) {
            const kc_type *type = &kc_result(op, i)->type;
            if (type->kind != KC_TYPE_TILE || type->rank == 0) continue;
            l->rank = type->rank;
            for (int d = 0; d < type->rank; d++)
                if (type->tile[d] > l->extent[d]) l->extent[d] = type->tile[d];
        }
        if (op->code == KC_OP_DOT && !l->dot) l->dot = op;
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) measure(l, op->body);
    }
}

typedef struct {
    const kc_op *op;
    kc_access access;
    int64_t vector; // widest among those with the same fast dimension
} kc_choice;

static void consider(kc_layouts *l, const kc_block *block, kc_choice *best) {
    KC_FOR_OPS(op, block) {
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) consider(l, op->body, best);
        if (op->code != KC_OP_LOAD && op->code != KC_OP_STORE) continue;
        kc_access access = kc_layouts_access(l, op);
        if (access.fast < 0) continue;
        bool larger = !best->op || access.elements > best->access.elements;
        bool as_large = best->op && access.elements == best->access.elements;
        bool store_first = as_large && op->code == KC_OP_STORE && best->op->code == KC_OP_LOAD;
        if (as_large && access.fast == best->access.fast && access.vector > best->vector)
            best->vector = access.vector;
        if (larger || store_first) {
            int64_t vector =
                store_first && access.fast == best->access.fast && best->vector > access.vector
                    ? best->vector
                    : access.vector;
            *best = (kc_choice){op, access, vector};
        }
    }
}

static kc_context *main_context(kc_layouts *l) {
    kc_choice best = {NULL, {-1, -1, 1, 0}, 1};
    consider(l, l->kernel->body, &best);
    int fast = best.op ? best.access.fast : l->rank - 1;
    kc_layout space = kc_layouts_coalesced(l, l->extent, fast, best.vector);
    return kc_layouts_context(l, &space);
}

// ---- contexts of a dot's operands ---------------------------------------------------------------

static kc_context *context_of(const kc_value *v) {
    return v->data ? ((kc_placed *)v->data)->context : NULL;
}

static void widest_load(kc_layouts *l, const kc_value *v, kc_choice *best) {
    if (!v->def || v->def->data == best) return;
    v->def->data = best; // seen
    if (v->def->code == KC_OP_LOAD) {
        kc_access access = kc_layouts_access(l, v->def);
        if (!best->op || access.elements > best->access.elements)
            *best = (kc_choice){v->def, access, access.vector};
        return;
    }
    for (int i = 0; i < v->def->n_operands; i++)
        widest_load(l, kc_operand(v->def, i), best);
}

// Ops of the loop body that lead to the operand.
static void claim(kc_layouts *l, kc_value *v, kc_context *context, const kc_block *block) {
    if (!v->def || v->def->block != block || context_of(v) || v->type.kind != KC_TYPE_TILE ||
        v->type.rank == 0)
        return;
    kc_placed *placed = KC_NEW(l->pass->scratch, kc_placed);
    placed->context = context;
    v->data = placed;
    for (int i = 0; i < v->def->n_operands; i++)
        claim(l, kc_operand(v->def, i), context, block);
}

static void claim_operand(kc_layouts *l, kc_op *dot, int i) {
    kc_value *v = kc_operand(dot, i);
    kc_choice best = {NULL, {-1, -1, 1, 0}, 1};
    widest_load(l, v, &best);
    int64_t extent[KC_MAX_RANK];
    for (int d = 0; d < l->rank; d++)
        extent[d] = v->type.tile[d];
    int fast = best.op && best.access.near >= 0 ? best.access.near : l->rank - 1;
    int axis = (int)kc_attr_int(dot, KC_ATTR_AXIS, 0);
    int64_t run = fast == axis ? 1 : kc_layouts_wanted_run(l, dot);
    kc_layout space = kc_layouts_coalesced_blocks(
        l, extent, fast, best.op && extent[fast] % best.vector == 0 ? best.vector : 1, axis, run);
    claim(l, v, kc_layouts_context(l, &space), dot->block);
}

static void claim_dots(kc_layouts *l, kc_block *block) {
    KC_FOR_OPS(op, block) {
        if (op->code == KC_OP_FOR) claim_dots(l, op->body);
        if (op->code == KC_OP_DOT) claim_operand(l, op, 0), claim_operand(l, op, 1);
    }
}

// ---- placing ops --------------------------------------------------------------------------------

// Coordinates, masks and constants: made again in another context rather than moved.
static bool remade(const kc_value *v) {
    static char yes, no; // the answer is kept in the op's scratch
    kc_op *op = v->def;
    if (v->type.kind != KC_TYPE_TILE || v->type.rank == 0) return true;
    if (!op || !kc_op_has(op, KC_PURE | KC_CHEAP)) return false;
    if (op->data == &yes || op->data == &no) return op->data == &yes;
    bool all = true;
    for (int i = 0; i < op->n_operands; i++)
        all = all && remade(kc_operand(op, i));
    op->data = all ? &yes : &no;
    return all;
}

static bool dominates(const kc_block *outer, const kc_block *inner) {
    for (; inner; inner = inner->parent ? inner->parent->block : NULL)
        if (inner == outer) return true;
    return false;
}

static kc_value *in_context(kc_layouts *l, kc_builder *b, kc_value *v, kc_context *context) {
    if (v->type.kind != KC_TYPE_TILE || v->type.rank == 0 || context_of(v) == context) return v;
    kc_placed *placed = v->data;
    for (struct kc_copy *c = placed->copies; c; c = c->next)
        if (c->context == context && dominates(c->block, b->block)) return c->value;
    kc_value *made;
    if (remade(v)) {
        kc_value *operands[KC_MAX_RANK];
        for (int i = 0; i < v->def->n_operands; i++)
            operands[i] = in_context(l, b, kc_operand(v->def, i), context);
        made = kc_build_1(b, v->def->code, v->type, v->def->n_operands, operands);
        for (int i = 0; i < v->def->n_attrs; i++)
            made->def->attrs[made->def->n_attrs++] = v->def->attrs[i];
        made->name = v->name;
        kc_layouts_place(l, made, context);
    } else {
        kc_layout to = kc_layouts_project(l, &context->space, &v->type);
        made = kc_layouts_convert(l, b, v, &to);
        kc_layouts_place(l, made, context);
    }
    struct kc_copy *copy = KC_NEW(l->pass->scratch, struct kc_copy);
    *copy = (struct kc_copy){context, b->block, made, placed->copies};
    placed->copies = copy;
    return made;
}

static void operands_in_context(kc_layouts *l, kc_op *op, kc_context *context, int from, int to) {
    kc_builder b = kc_builder_before(l->pass->module, op);
    for (int i = from; i < to; i++) {
        kc_value *v = in_context(l, &b, kc_operand(op, i), context);
        if (v != kc_operand(op, i)) kc_op_set_operand(op, i, v);
    }
}

// A load whose memory runs along another dimension than the main context's threads do.
static kc_context *load_context(kc_layouts *l, kc_op *load) {
    kc_access access = kc_layouts_access(l, load);
    const kc_type *type = &kc_result(load, 0)->type;
    if (type->rank == 0 || access.fast < 0 || type->tile[access.fast] == 1) return l->main;
    kc_layout mine = kc_layouts_project(l, &l->main->space, type);
    uint32_t first_lane[KC_LAYOUT_PLACES] = {[KC_LAYOUT_LANE] = 1};
    int at[KC_LAYOUT_MAX_RANK];
    kc_layout_apply(&mine, first_lane, at);
    int run = kc_layout_run(&mine, access.fast);
    bool along_fast = at[access.fast] == run || (run >= access.vector && at[access.fast] > 0) ||
                      type->tile[access.fast] <= run;
    if (along_fast || access.elements < 4 * l->lanes) return l->main;
    kc_layout space = kc_layouts_coalesced(l, l->extent, access.fast, access.vector);
    return kc_layouts_context(l, &space);
}

// Neighbours along the dimension that a thread holds in its first registers, which is where vectors
// are made of.
static int64_t first_run(const kc_layout *layout, int dim) {
    int64_t run = 1;
    while (run < kc_layout_run(layout, dim)) {
        uint32_t place[KC_LAYOUT_PLACES] = {[KC_LAYOUT_REGISTER] = (uint32_t)run};
        int at[KC_LAYOUT_MAX_RANK];
        kc_layout_apply(layout, place, at);
        if (at[dim] != run) break;
        run *= 2;
    }
    return run;
}

// The vector of an access: what memory allows and the layout holds side by side.
static void set_vector(kc_layouts *l, kc_op *op, const kc_value *tile) {
    kc_access access = kc_layouts_access(l, op);
    if (tile->type.rank == 0 || access.fast < 0) return;
    int64_t run = first_run(tile->type.layout, access.fast);
    int64_t vector = run < access.vector ? run : access.vector;
    if (vector > 1) kc_attr_set_int(op, KC_ATTR_VECTOR, vector);
    else kc_attr_remove(op, KC_ATTR_VECTOR);
}

// What a thread holds side by side may be one element again and again: the scale of a block. It is
// read once.
static void set_same(kc_layouts *l, kc_op *load) {
    const kc_type *type = &kc_result(load, 0)->type;
    int64_t same = 1;
    for (int d = 0; d < type->rank; d++) {
        int64_t run = first_run(type->layout, d);
        if (run < 2) continue;
        int64_t equal = kc_access_same(l->pool, load, d);
        same = run < equal ? run : equal;
    }
    if (same > 1 && !kc_attr_get(load, KC_ATTR_VECTOR)) kc_attr_set_int(load, KC_ATTR_SAME, same);
    else kc_attr_remove(load, KC_ATTR_SAME);
}

// Neighbours along the dimension that the lanes of a warp reach together when each moves a vector.
static int64_t reached(const kc_layout *layout, int dim, int64_t vector) {
    int64_t n = vector;
    for (int b = 0; b < layout->bits[KC_LAYOUT_LANE]; b++) {
        uint32_t place[KC_LAYOUT_PLACES] = {[KC_LAYOUT_LANE] = 1u << b};
        int at[KC_LAYOUT_MAX_RANK];
        kc_layout_apply(layout, place, at);
        if (at[dim] == n) n *= 2;
    }
    return n;
}

// An access of a tile that would touch sectors of memory in part, in the main context, has one of
// its own. A store of 4-bit elements writes whole bytes, so that each thread must hold pairs along
// the last dimension.
kc_context *kc_layouts_access_context(kc_layouts *l, const kc_op *op, const kc_type *type) {
    kc_access access = kc_layouts_access(l, op);
    if (type->rank == 0 || access.fast < 0) return l->main;
    kc_layout mine = kc_layouts_project(l, &l->main->space, type);
    int64_t run = first_run(&mine, access.fast), wanted = access.vector,
            bits = kc_dtype_bits(type->elem),
            whole = SECTOR_BITS / bits < type->tile[access.fast] ? SECTOR_BITS / bits
                                                                 : type->tile[access.fast];
    bool packed = kc_dtype_is_packed(type->elem) && op->code == KC_OP_STORE;
    if (packed && wanted < 2)
        kc_bug("4-bit elements of %s that cannot be written in pairs",
               kc_attr_string(l->kernel, KC_ATTR_NAME, "?"));
    bool torn = packed && run < 2;
    bool partial = wanted > 1 && access.elements >= MANY * l->lanes &&
                   reached(&mine, access.fast, run < wanted ? run : wanted) < whole;
    if (!torn && !partial) return l->main;
    kc_layout space = kc_layouts_coalesced(l, type->tile, access.fast, wanted);
    return kc_layouts_context(l, &space);
}

static void place_block(kc_layouts *l, kc_block *block);

static void place_loop(kc_layouts *l, kc_op *loop) {
    operands_in_context(l, loop, l->main, 2, loop->n_operands);
    for (int i = 1; i < loop->body->n_args; i++)
        kc_layouts_place(l, loop->body->args[i], l->main);
    for (int i = 0; i < loop->n_results; i++)
        kc_layouts_place(l, kc_result(loop, i), l->main);
    place_block(l, loop->body);
    kc_op *yield = loop->body->last;
    operands_in_context(l, yield, l->main, 0, yield->n_operands);
}

static void place_results(kc_layouts *l, kc_op *op, kc_context *context) {
    for (int i = 0; i < op->n_results; i++)
        kc_layouts_place(l, kc_result(op, i), context);
}

static void place_op(kc_layouts *l, kc_op *op) {
    kc_context *context =
        op->n_results && context_of(kc_result(op, 0)) ? context_of(kc_result(op, 0)) : l->main;
    switch (op->code) {
    case KC_OP_FOR: place_loop(l, op); return;
    case KC_OP_IF: place_block(l, op->body); return;
    case KC_OP_DOT:
        operands_in_context(l, op, l->main, 2, 3);
        place_results(l, op, l->main);
        kc_layouts_feed_dot(l, op);
        return;
    case KC_OP_LOAD:
        if (context == l->main)
            context = l->dot ? kc_layouts_access_context(l, op, &kc_result(op, 0)->type)
                             : load_context(l, op);
        operands_in_context(l, op, context, 1, op->n_operands);
        place_results(l, op, context);
        set_vector(l, op, kc_result(op, 0));
        set_same(l, op);
        return;
    case KC_OP_STORE:
        context = kc_layouts_access_context(l, op, &kc_operand(op, 1)->type);
        operands_in_context(l, op, context, 1, op->n_operands);
        set_vector(l, op, kc_operand(op, 1));
        return;
    default:
        if (kc_op_has(op, KC_TERMINATOR)) return;
        operands_in_context(l, op, context, 0, op->n_operands);
        place_results(l, op, context);
        if (op->code == KC_OP_REDUCE) kc_layouts_split_reduce(l, op);
        if (op->code == KC_OP_SCAN) kc_layouts_split_scan(l, op);
    }
}

static void place_block(kc_layouts *l, kc_block *block) {
    KC_FOR_OPS(op, block)
        place_op(l, op);
}

static void drop_unused(kc_block *block) {
    for (kc_op *op = block->last, *before; op; op = before) {
        before = op->previous;
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) drop_unused(op->body);
        if (kc_op_has(op, KC_PURE) && kc_op_unused(op)) kc_op_erase(op);
    }
}

static void clear(kc_block *block) {
    for (int i = 0; i < block->n_args; i++)
        block->args[i]->data = NULL;
    KC_FOR_OPS(op, block) {
        op->data = NULL;
        for (int i = 0; i < op->n_results; i++)
            kc_result(op, i)->data = NULL;
        if (op->body) clear(op->body);
    }
}

static void layout_kernel(kc_pass_context *pass, kc_op *kernel) {
    kc_layouts l = {.pass = pass, .kernel = kernel, .pool = kc_op_pool(kernel)};
    l.warps = (int)kc_attr_int(kernel, KC_ATTR_WARPS, 1);
    l.lanes = (int)pass->target->attributes.warp_size;
    clear(kernel->body);
    measure(&l, kernel->body);
    if (l.rank == 0) return; // scalars live in every thread
    if (l.dot) {
        int axis = (int)kc_attr_int(l.dot, KC_ATTR_AXIS, 0);
        kc_layout accumulator = kc_layouts_accumulator(&l, l.dot), space = accumulator;
        const char *error = l.extent[axis] > 1
                                ? kc_layout_expand(&space, &accumulator, axis, (int)l.extent[axis])
                                : NULL;
        if (error) kc_bug("no layout for the space of a dot: %s", error);
        l.main = kc_layouts_context(&l, &space);
        claim_dots(&l, kernel->body);
        kc_layouts_claim_epilogue(&l, kernel->body);
    } else {
        l.main = main_context(&l);
    }
    place_block(&l, kernel->body);
    drop_unused(kernel->body);
}

static bool run(kc_pass_context *pass) {
    KC_FOR_OPS(func, pass->module->body)
        KC_FOR_OPS(variant, func->body) {
            if (variant->code != KC_OP_VARIANT) continue;
            KC_FOR_OPS(kernel, variant->body)
                if (kernel->code == KC_OP_KERNEL) layout_kernel(pass, kernel);
        }
    return true;
}

const kc_pass kc_pass_layout = {
    .name = "layout",
    .meaning = "where each element of each tile lives; shared memory and vectors become explicit",
    .level_in = KC_LEVEL_TILE,
    .level_out = KC_LEVEL_LAYOUT,
    .needs_target = true,
    .run = run,
};
