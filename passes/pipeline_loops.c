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
//         %as = shared_alloc : shared<4x32x1x8xf32, #0>
//         %zero = const {integer = 0} : i64
//         %steps = sym {expr = K // 8} : i64
//         %init = const {value = 0} : tile<32x1x1xf32, #1>
//         %m = iota {axis = 0} : tile<32x1x1xi32, #1>
//         %0 = lt %zero, %steps : bool
//         %1 = const {integer = 4} : i64
//         %stage = mod %zero, %1 : i64
//         %eight = const {integer = 8} : i64
//         %at = mul %zero, %eight : i64
//         %i = iota {axis = 2} : tile<1x1x8xi32, #2>
//         %v = async_copy %x, %as base(%zero, %at) local(%m, %i) mask(%0) stage(%stage) : token<32x1x8xf32, #3>
//         %copied = async_commit %v : token
//         %2 = const {integer = 1} : i64
//         %3 = add %zero, %2 : i64
//         %4 = lt %3, %steps : bool
//         %5 = const {integer = 4} : i64
//         %stage_1 = mod %3, %5 : i64
//         %eight_1 = const {integer = 8} : i64
//         %at_1 = mul %3, %eight_1 : i64
//         %i_1 = iota {axis = 2} : tile<1x1x8xi32, #2>
//         %v_1 = async_copy %x, %as base(%zero, %at_1) local(%m, %i_1) mask(%4) stage(%stage_1) : token<32x1x8xf32, #3>
//         %copied_1 = async_commit %v_1 : token
//         %6 = const {integer = 2} : i64
//         %7 = add %zero, %6 : i64
//         %8 = lt %7, %steps : bool
//         %9 = const {integer = 4} : i64
//         %stage_2 = mod %7, %9 : i64
//         %eight_2 = const {integer = 8} : i64
//         %at_2 = mul %7, %eight_2 : i64
//         %i_2 = iota {axis = 2} : tile<1x1x8xi32, #2>
//         %v_2 = async_copy %x, %as base(%zero, %at_2) local(%m, %i_2) mask(%8) stage(%stage_2) : token<32x1x8xf32, #3>
//         %copied_2 = async_commit %v_2 : token
//         %sum, %10, %11, %12 = for %zero, %steps carried(%init, %copied, %copied_1, %copied_2) {step = 1} : tile<32x1x1xf32, #1>, token, token, token {
//         ^(%k: i64, %c: tile<32x1x1xf32, #1>, %copied_3: token, %copied_4: token, %copied_5: token):
//           async_wait %copied_3
//           %13 = const {integer = 4} : i64
//           %stage_3 = mod %k, %13 : i64
//           %14 = const {integer = 3} : i64
//           %15 = add %k, %14 : i64
//           %16 = lt %15, %steps : bool
//           %17 = const {integer = 4} : i64
//           %stage_4 = mod %15, %17 : i64
//           %eight_3 = const {integer = 8} : i64
//           %at_3 = mul %15, %eight_3 : i64
//           %i_3 = iota {axis = 2} : tile<1x1x8xi32, #2>
//           %v_3 = async_copy %x, %as base(%zero, %at_3) local(%m, %i_3) mask(%16) stage(%stage_4) : token<32x1x8xf32, #3>
//           %copied_6 = async_commit %v_3 : token
//           %a = shared_load %as stage(%stage_3) : tile<32x1x8xf32, #3>
//           %next = dot %a, %a, %c {axis = 2, unit = "fma"} : tile<32x1x1xf32, #1>
//           yield %next, %copied_4, %copied_5, %copied_6
//         }
//         async_wait %12
//         store %y, %sum base(%zero) local(%m)
//         return
//       }
//     }
//   }
//
// The loads of the next step are in flight during the products of this one, and with two stages one
// barrier a step is enough. Where the target has copies that bypass registers (`has_async_copy`)
// and a tile is stored as it was loaded, it gets a ring of `stages` buffers instead: copies are
// issued stages - 1 steps ahead, the last ones with nothing to copy, their tokens are carried round
// the loop, and what is still on its way behind the loop is waited for there:
//
//   %t0 = async_commit (copies of step 0 to stage 0)
//   %t1 = async_commit (copies of step 1 to stage 1)
//   %sum, %u0, %u1 = for %zero, %steps carried(%init, %t0, %t1) {
//   ^(%k, %c, %t, %later):
//     async_wait %t                                        // sync: {pending = 1}, and the step's one barrier
//     %t2 = async_commit (copies of step k + 2 to stage (k + 2) mod 3, if it exists)
//     ... products, reading stage k mod 3 ...
//     yield %next, %later, %t2
//   }
//   async_wait %u1
//
// The schedule's `stages` is the length of the ring: 1 leaves a loop as it is; without a wish it is
// as many up to four as the shared memory that needs no opt-in holds, but two if there is room for
// them at all. Other tiles have two buffers, since they gain nothing from more. Requires layouts,
// and that a kernel reads nothing it writes, so that loads may move.
#include "ir/shared_order.h"
#include "passes/pipeliner.h"

#include <string.h>

enum { LEAST_RING = 2, USUAL_RING = 4 };

// Ops of the body that v needs. False: it needs a carried value, or an op with an effect other than
// reading memory.
static bool mark(kc_pipeliner *p, bool *set, kc_value *v, bool carried_too) {
    kc_op *op = v->def;
    if (v->block == p->loop->body) return carried_too || v->index == 0;
    if (!op || op->block != p->loop->body || set[op->order]) return true;
    if (!carried_too && !kc_op_has(op, KC_PURE) && op->code != KC_OP_LOAD) return false;
    set[op->order] = true;
    for (int i = 0; i < op->n_operands; i++)
        if (!mark(p, set, kc_operand(op, i), carried_too)) return false;
    return true;
}

// Whether the buffer can have stages: this step alone uses it, as a whole.
static bool is_own(const kc_pipeliner *p, const kc_op *store) {
    for (const kc_use *use = kc_operand(store, 0)->uses; use; use = use->next) {
        kc_shared_access a;
        if (use->user->block != p->loop->body || !kc_shared_access_of(use->user, &a) || a.stage ||
            (a.write && use->user != store))
            return false;
    }
    return true;
}

static bool find_copies(kc_pipeliner *p) {
    bool dots = false;
    KC_FOR_OPS(op, p->loop->body) {
        dots = dots || op->code == KC_OP_DOT;
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) return false;
        if (op->code != KC_OP_SHARED_STORE) continue;
        if (p->n_copies == KC_MAX_COPIES || !is_own(p, op)) return false;
        kc_copy copy = {op, kc_copy_vector(p, op)};
        p->n_async += copy.vector > 0;
        p->copies[p->n_copies++] = copy;
    }
    return dots && p->n_copies > 0;
}

static int64_t bytes_of(const kc_pipeliner *p) {
    int64_t bytes = 0;
    for (int i = 0; i < p->n_copies; i++) {
        const kc_type *buffer = &kc_copy_buffer(&p->copies[i])->type;
        bytes += kc_copy_stages(p, &p->copies[i]) * kc_tile_elements(buffer) *
                 kc_dtype_unit(buffer->elem);
    }
    return bytes;
}

// A wish that does not fit is left to `sync`, which knows all of the kernel's shared memory and
// refuses it with the reason.
static bool choose_stages(kc_pipeliner *p, const kc_attr *wish) {
    const kc_target_attributes *target = &p->pass->target->attributes;
    p->stages = wish ? wish->integer : USUAL_RING;
    while (!wish && p->stages > LEAST_RING && bytes_of(p) > target->shared_memory_static)
        p->stages--;
    return wish || bytes_of(p) <= (p->n_async ? target->max_shared_memory
                                              : target->shared_memory_static);
}

static bool mark_all(kc_pipeliner *p) {
    kc_block *body = p->loop->body;
    kc_block_renumber(body);
    bool **sets[] = {&p->issued, &p->loaded, &p->now};
    for (int i = 0; i < 3; i++)
        *sets[i] = KC_NEW_ARRAY(p->pass->scratch, bool, body->last->order + 1);
    for (int i = 0; i < p->n_copies; i++) {
        kc_value *v = kc_copy_value(&p->copies[i]);
        if (!p->copies[i].vector && !mark(p, p->loaded, v, false)) return false;
        for (int k = 0; p->copies[i].vector && k < v->def->n_operands; k++)
            if (!mark(p, p->issued, kc_operand(v->def, k), false)) return false;
    }
    return true;
}

// What is left for the current step. A load that it shares with the next one would be done twice.
static bool mark_rest(kc_pipeliner *p) {
    kc_block *body = p->loop->body;
    bool *copied = KC_NEW_ARRAY(p->pass->scratch, bool, body->last->order + 1);
    for (int i = 0; i < p->n_copies; i++)
        if (p->copies[i].vector) copied[kc_copy_value(&p->copies[i])->def->order] = true;
    KC_FOR_OPS(op, body) {
        bool before = p->issued[op->order] || p->loaded[op->order] || copied[op->order];
        if (before || op->code == KC_OP_SHARED_STORE) continue;
        p->now[op->order] = true;
        for (int i = 0; i < op->n_operands; i++)
            mark(p, p->now, kc_operand(op, i), true);
    }
    KC_FOR_OPS(op, body)
        if (op->code == KC_OP_LOAD && p->loaded[op->order] && p->now[op->order]) return false;
    return true;
}

static bool applies(kc_pipeliner *p, const kc_attr *wish) {
    bool fits = p->loop->body->n_args <= KC_MAX_CARRIED &&
                kc_attr_int(p->loop, KC_ATTR_STEP, 1) == 1;
    return fits && find_copies(p) && choose_stages(p, wish) && p->stages <= KC_MAX_STAGES &&
           mark_all(p) && mark_rest(p);
}

static void pipeline_block(kc_pass_context *pass, kc_block *block, const kc_attr *wish) {
    KC_FOR_OPS(op, block) {
        if (op->code != KC_OP_FOR && op->code != KC_OP_IF) continue;
        kc_pipeliner p = {.pass = pass, .loop = op, .pool = kc_op_pool(op)};
        if (op->code == KC_OP_FOR && applies(&p, wish)) {
            kc_pipeline_find_fetches(&p);
            kc_pipeline_rotate(&p);
        } else pipeline_block(pass, op->body, wish);
    }
}

static bool run(kc_pass_context *pass) {
    KC_FOR_OPS(func, pass->module->body)
        KC_FOR_OPS(variant, func->body) {
            if (variant->code != KC_OP_VARIANT) continue;
            KC_FOR_OPS(kernel, variant->body) {
                if (kernel->code != KC_OP_KERNEL || kc_attr_int(kernel, KC_ATTR_STAGES, 2) < 2)
                    continue;
                pipeline_block(pass, kernel->body, kc_attr_get(kernel, KC_ATTR_STAGES));
            }
        }
    return true;
}

const kc_pass kc_pass_pipeline = {
    .name = "pipeline",
    .meaning = "copies of later steps overlap the arithmetic of this one",
    .level_in = KC_LEVEL_LAYOUT,
    .level_out = KC_LEVEL_LAYOUT,
    .needs_target = true,
    .run = run,
};
