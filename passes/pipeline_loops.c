// pipeline: copies into shared memory run one step ahead of the arithmetic that uses them.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   layout #0 = #layout<tile: 32x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   layout #1 = #layout<tile: 32x1x8, offset: [0,0,1] [0,0,2] [0,0,4] [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   layout #2 = #layout<tile: 32x1x1, lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   layout #3 = #layout<tile: 1x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [0,0,0] [0,0,0] [0,0,0] [0,0,0] [0,0,0]>
//   func @f(%x: f32[32, K]) -> (y: f32[32]) dims {K: 0..2147483640 multiple 8} {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[32]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = 1, warps = 1} {
//       ^(%x: f32[32, K], %y: f32[32]):
//         %as = shared_alloc : shared<32x1x8xf32, #1>
//         %zero = const {integer = 0} : i64
//         %steps = sym {expr = K // 8} : i64
//         %init = const {value = 0} : tile<32x1x1xf32, #2>
//         %m = iota {axis = 0} : tile<32x1x1xi32, #2>
//         %sum = for %zero, %steps carried(%init) {step = 1} : tile<32x1x1xf32, #2> {
//         ^(%k: i64, %c: tile<32x1x1xf32, #2>):
//           %eight = const {integer = 8} : i64
//           %at = mul %k, %eight : i64
//           %i = iota {axis = 2} : tile<1x1x8xi32, #3>
//           %v = load %x base(%zero, %at) local(%m, %i) : tile<32x1x8xf32, #0>
//           shared_store %as, %v
//           %a = shared_load %as : tile<32x1x8xf32, #0>
//           %next = dot %a, %a, %c {axis = 2, unit = "fma"} : tile<32x1x1xf32, #2>
//           yield %next
//         }
//         store %y, %sum base(%zero) local(%m)
//         return
//       }
//     }
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   layout #0 = #layout<tile: 32x1x8, offset: [0,0,1] [0,0,2] [0,0,4] [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   layout #1 = #layout<tile: 32x1x1, lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   layout #2 = #layout<tile: 1x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [0,0,0] [0,0,0] [0,0,0] [0,0,0] [0,0,0]>
//   layout #3 = #layout<tile: 32x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>
//   func @f(%x: f32[32, K]) -> (y: f32[32]) dims {K: 0..2147483640 multiple 8} {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[32]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = 1, warps = 1} {
//       ^(%x: f32[32, K], %y: f32[32]):
//         %as = shared_alloc : shared<2x32x1x8xf32, #0>
//         %zero = const {integer = 0} : i64
//         %steps = sym {expr = K // 8} : i64
//         %init = const {value = 0} : tile<32x1x1xf32, #1>
//         %m = iota {axis = 0} : tile<32x1x1xi32, #1>
//         %0 = lt %zero, %steps : bool
//         %eight = const {integer = 8} : i64
//         %at = mul %zero, %eight : i64
//         %i = iota {axis = 2} : tile<1x1x8xi32, #2>
//         %v = load %x base(%zero, %at) local(%m, %i) mask(%0) : tile<32x1x8xf32, #3>
//         %sum, %1 = for %zero, %steps carried(%init, %v) {step = 1} : tile<32x1x1xf32, #1>, tile<32x1x8xf32, #3> {
//         ^(%k: i64, %c: tile<32x1x1xf32, #1>, %v_1: tile<32x1x8xf32, #3>):
//           %2 = const {integer = 2} : i64
//           %stage = mod %k, %2 : i64
//           shared_store %as, %v_1 stage(%stage)
//           %3 = const {integer = 1} : i64
//           %4 = add %k, %3 : i64
//           %5 = lt %4, %steps : bool
//           %eight_1 = const {integer = 8} : i64
//           %at_1 = mul %4, %eight_1 : i64
//           %i_1 = iota {axis = 2} : tile<1x1x8xi32, #2>
//           %v_2 = load %x base(%zero, %at_1) local(%m, %i_1) mask(%5) : tile<32x1x8xf32, #3>
//           %a = shared_load %as stage(%stage) : tile<32x1x8xf32, #3>
//           %next = dot %a, %a, %c {axis = 2, unit = "fma"} : tile<32x1x1xf32, #1>
//           yield %next, %v_2
//         }
//         store %y, %sum base(%zero) local(%m)
//         return
//       }
//     }
//   }
//
// The loads of the next step are in flight during the products of this one, and with two stages one barrier a step is
// enough. The schedule's `stages` is the number of buffers: 1 leaves a loop as it is; more than 2 are a longer ring, which
// synchronous copies gain nothing from. Without a wish there are two, if the shared memory that needs no opt-in holds them.
// Requires layouts, and that a kernel reads nothing it writes, so that loads may move.
#include "passes/pass.h"

#include <string.h>

enum { USUAL_STAGES = 2, MAX_COPIES = 8, MAX_CARRIED = 2 * KC_MAX_RANK };

typedef struct {
    kc_pass_context *pass;
    kc_op *loop;
    kc_expr_pool *pool;
    int64_t stages;
    int64_t room; // bytes of shared memory that the buffers may take
    kc_op *stores[MAX_COPIES];
    int n_stores;
    bool *ahead, *now; // by op order in the body: computed for the next step, for the current one
} rotation;

// Ops of the body that v needs. False: it needs a carried value, or an op with an effect other than reading memory.
static bool mark(rotation *r, bool *set, kc_value *v, bool carried_too) {
    kc_op *op = v->def;
    if (v->block == r->loop->body) return carried_too || v->index == 0;
    if (!op || op->block != r->loop->body || set[op->order]) return true;
    if (!carried_too && !kc_op_has(op, KC_PURE) && op->code != KC_OP_LOAD) return false;
    set[op->order] = true;
    for (int i = 0; i < op->n_operands; i++)
        if (!mark(r, set, kc_operand(op, i), carried_too)) return false;
    return true;
}

static bool find_stores(rotation *r) {
    int64_t bytes = 0;
    bool dots = false;
    KC_FOR_OPS(op, r->loop->body) {
        dots = dots || op->code == KC_OP_DOT;
        if (op->code != KC_OP_SHARED_STORE) continue;
        if (r->n_stores == MAX_COPIES) return false;
        const kc_type *buffer = &kc_operand(op, 0)->type;
        r->stores[r->n_stores++] = op;
        bytes += r->stages * kc_tile_elements(buffer) * kc_dtype_unit(buffer->elem);
    }
    return dots && r->n_stores > 0 && bytes <= r->room;
}

static bool applies(rotation *r) {
    kc_block *body = r->loop->body;
    kc_block_renumber(body);
    if (!find_stores(r) || body->n_args > MAX_CARRIED) return false;
    r->ahead = KC_NEW_ARRAY(r->pass->scratch, bool, body->last->order + 1);
    r->now = KC_NEW_ARRAY(r->pass->scratch, bool, body->last->order + 1);
    for (int i = 0; i < r->n_stores; i++)
        if (!mark(r, r->ahead, kc_operand(r->stores[i], 1), false)) return false;
    KC_FOR_OPS(op, body) {
        if (r->ahead[op->order] || op->code == KC_OP_SHARED_STORE) continue;
        r->now[op->order] = true;
        for (int i = 0; i < op->n_operands; i++)
            mark(r, r->now, kc_operand(op, i), true);
    }
    KC_FOR_OPS(op, body) // a load that both need would be done twice
        if (op->code == KC_OP_LOAD && r->ahead[op->order] && r->now[op->order]) return false;
    return true;
}

static void guard_load(rotation *r, kc_op *load, kc_value *exists) {
    if (load->segments[3] == 0) {
        kc_op_add_operand(r->pass->module, load, exists);
        return;
    }
    kc_builder b = kc_builder_before(r->pass->module, load);
    int last = load->n_operands - 1;
    kc_value *mask = kc_operand(load, last), *both = kc_build_binary(&b, KC_OP_AND, mask, exists);
    both->type.layout = mask->type.layout;
    kc_op_set_operand(load, last, both);
}

// What the stores of step `step` store; nothing is loaded unless the step exists.
static void copy_ahead(rotation *r, kc_builder *b, kc_value *step, kc_value *exists,
                       kc_value **values) {
    kc_clone *clone = kc_clone_begin(r->pass->module, r->pool, r->pool);
    kc_clone_map(clone, r->loop->body->args[0], step);
    KC_FOR_OPS(op, r->loop->body) {
        if (!r->ahead[op->order]) continue;
        kc_op *copy = kc_clone_op(clone, b, op);
        if (copy->code == KC_OP_LOAD) guard_load(r, copy, exists);
    }
    for (int i = 0; i < r->n_stores; i++)
        values[i] = kc_clone_value(clone, kc_operand(r->stores[i], 1));
    kc_clone_end(clone);
}

static void add_stages(const rotation *r, kc_value *buffer) {
    memmove(buffer->type.tile + 1, buffer->type.tile, sizeof(int64_t) * (size_t)buffer->type.rank);
    buffer->type.tile[0] = r->stages;
    buffer->type.rank++;
}

static bool is_staged(const rotation *r, const kc_value *buffer) {
    for (int i = 0; i < r->n_stores; i++)
        if (kc_operand(r->stores[i], 0) == buffer) return true;
    return false;
}

static void store_copies(rotation *r, kc_builder *b, kc_block *body, int first, kc_value *stage) {
    for (int i = 0; i < r->n_stores; i++) {
        kc_value *operands[3] = {kc_operand(r->stores[i], 0), body->args[first + i], stage};
        b->loc = r->stores[i]->loc;
        kc_op *store = kc_build(b, KC_OP_SHARED_STORE, 3, operands, 0, NULL);
        kc_op_set_segments(store, (int[]){1, 1, 1});
    }
}

// The rest of the body, reading the stage of this step. Gives what it yields.
static void copy_rest(rotation *r, kc_builder *b, kc_block *body, kc_value *stage,
                      kc_value **yields) {
    kc_clone *clone = kc_clone_begin(r->pass->module, r->pool, r->pool);
    for (int i = 0; i < r->loop->body->n_args; i++)
        kc_clone_map(clone, r->loop->body->args[i], body->args[i]);
    KC_FOR_OPS(op, r->loop->body) {
        if (!r->now[op->order] || kc_op_has(op, KC_TERMINATOR)) continue;
        kc_op *copy = kc_clone_op(clone, b, op);
        if (copy->code == KC_OP_SHARED_LOAD && is_staged(r, kc_operand(copy, 0))) {
            kc_op_add_operand(r->pass->module, copy, stage);
            kc_op_set_segments(copy, (int[]){1, 1});
        }
    }
    const kc_op *yield = r->loop->body->last;
    for (int i = 0; i < yield->n_operands; i++)
        yields[i] = kc_clone_value(clone, kc_operand(yield, i));
    kc_clone_end(clone);
}

static kc_op *build_loop(rotation *r, kc_value *const *first) {
    kc_builder b = kc_builder_before(r->pass->module, r->loop);
    int n = r->loop->n_operands - 2;
    kc_value *operands[2 + MAX_CARRIED + MAX_COPIES];
    kc_type types[MAX_CARRIED + MAX_COPIES];
    for (int i = 0; i < n + 2; i++)
        operands[i] = kc_operand(r->loop, i);
    for (int i = 0; i < r->n_stores; i++)
        operands[2 + n++] = first[i];
    for (int i = 0; i < n; i++)
        types[i] = operands[2 + i]->type;
    kc_op *loop = kc_build(&b, KC_OP_FOR, 2 + n, operands, n, types);
    kc_attr_set_int(loop, KC_ATTR_STEP, kc_attr_int(r->loop, KC_ATTR_STEP, 1));
    kc_block *body = kc_op_add_body(r->pass->module, loop);
    for (int i = 0; i < n + 1; i++) {
        const kc_value *like = i < r->loop->body->n_args ? r->loop->body->args[i] : operands[1 + i];
        kc_block_add_arg(r->pass->module, body, like->type, like->name);
    }
    return loop;
}

static void rotate(rotation *r) {
    kc_module *module = r->pass->module;
    kc_type index = kc_type_scalar(KC_i64);
    kc_value *first[MAX_COPIES], *yields[MAX_CARRIED + MAX_COPIES], *upper = kc_operand(r->loop, 1);
    kc_builder outer = kc_builder_before(module, r->loop);
    copy_ahead(r, &outer, kc_operand(r->loop, 0),
               kc_build_binary(&outer, KC_OP_LT, kc_operand(r->loop, 0), upper), first);
    kc_op *loop = build_loop(r, first);
    kc_block *body = loop->body;
    kc_builder b = kc_builder_at_end(module, body, r->loop->loc);
    kc_value *stage =
        kc_build_binary(&b, KC_OP_MOD, body->args[0], kc_build_const_int(&b, index, r->stages));
    stage->name = "stage";
    int n = r->loop->body->n_args - 1;
    for (int i = 0; i < r->n_stores; i++)
        add_stages(r, kc_operand(r->stores[i], 0));
    store_copies(r, &b, body, 1 + n, stage);
    kc_value *step =
        kc_build_binary(&b, KC_OP_ADD, body->args[0],
                        kc_build_const_int(&b, index, kc_attr_int(loop, KC_ATTR_STEP, 1)));
    copy_ahead(r, &b, step, kc_build_binary(&b, KC_OP_LT, step, upper), yields + n);
    copy_rest(r, &b, body, stage, yields);
    kc_build(&b, KC_OP_YIELD, n + r->n_stores, yields, 0, NULL);
    for (int i = 0; i < r->loop->n_results; i++) {
        kc_result(loop, i)->name = kc_result(r->loop, i)->name;
        kc_value_replace(kc_result(r->loop, i), kc_result(loop, i));
    }
    kc_op_erase(r->loop);
}

// A wish that does not fit is left to `sync`, which knows all of the kernel's shared memory and refuses it with the reason.
static void pipeline_kernel(kc_pass_context *pass, kc_op *kernel) {
    const kc_attr *wish = kc_attr_get(kernel, KC_ATTR_STAGES);
    int64_t stages = wish ? wish->integer : USUAL_STAGES;
    if (stages < 2) return;
    KC_FOR_OPS(op, kernel->body) {
        if (op->code != KC_OP_FOR) continue;
        rotation r = {.pass = pass,
                      .loop = op,
                      .pool = kc_op_pool(op),
                      .stages = stages,
                      .room = wish ? INT64_MAX : pass->target->attributes.shared_memory_static};
        if (applies(&r)) rotate(&r);
    }
}

static bool run(kc_pass_context *pass) {
    KC_FOR_OPS(func, pass->module->body)
        KC_FOR_OPS(variant, func->body) {
            if (variant->code != KC_OP_VARIANT) continue;
            KC_FOR_OPS(kernel, variant->body)
                if (kernel->code == KC_OP_KERNEL) pipeline_kernel(pass, kernel);
        }
    return true;
}

const kc_pass kc_pass_pipeline = {
    .name = "pipeline",
    .meaning = "loads of the next step overlap the arithmetic of this one",
    .level_in = KC_LEVEL_LAYOUT,
    .level_out = KC_LEVEL_LAYOUT,
    .needs_target = true,
    .run = run,
};
