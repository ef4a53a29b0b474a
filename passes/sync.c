// sync: places for shared buffers, and the barriers that the dependences through them need, no more.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   layout #0 = #layout<tile: 128, lane: [1] [2] [4] [8] [16], warp: [32] [64]>
//   layout #1 = #layout<tile: 128, lane: [4] [8] [16] [32] [64], warp: [1] [2]>
//   layout #2 = #layout<tile: 128, offset: [1] [2] [4] [8] [16] [32] [64]>
//   func @f(%x: f32[128]) -> (y: f32[128]) {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[128]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = 1, warps = 4} {
//       ^(%x: f32[128], %y: f32[128]):
//         %s = shared_alloc : shared<128xf32, #2>
//         %i = iota {axis = 0} : tile<128xi32, #0>
//         %j = iota {axis = 0} : tile<128xi32, #1>
//         %zero = const {integer = 0} : i64
//         %v = load %x base(%zero) local(%i) : tile<128xf32, #0>
//         shared_store %s, %v
//         %w = shared_load %s : tile<128xf32, #1>
//         store %y, %w base(%zero) local(%j)
//         return
//       }
//     }
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   layout #0 = #layout<tile: 128, offset: [1] [2] [4] [8] [16] [32] [64]>
//   layout #1 = #layout<tile: 128, lane: [1] [2] [4] [8] [16], warp: [32] [64]>
//   layout #2 = #layout<tile: 128, lane: [4] [8] [16] [32] [64], warp: [1] [2]>
//   func @f(%x: f32[128]) -> (y: f32[128]) {
//     variant {workspace = 0} {
//       %y = output {name = "y"} : f32[128]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0", grid = 1, warps = 4, shared = 512} {
//       ^(%x: f32[128], %y: f32[128]):
//         %s = shared_alloc {offset = 0} : shared<128xf32, #0>
//         %i = iota {axis = 0} : tile<128xi32, #1>
//         %j = iota {axis = 0} : tile<128xi32, #2>
//         %zero = const {integer = 0} : i64
//         %v = load %x base(%zero) local(%i) : tile<128xf32, #1>
//         shared_store %s, %v
//         barrier
//         %w = shared_load %s : tile<128xf32, #2>
//         store %y, %w base(%zero) local(%j)
//         return
//       }
//     }
//   }
//
// Buffers whose uses do not overlap in time share bytes. Then one walk keeps the accesses since the last barrier; an
// access that overlaps one of them, at least one being a write, gets a barrier before it. Loop bodies are walked twice, so
// that dependences across the back edge count. Accesses to different stages of one buffer do not conflict: stages follow the
// loop counter, so neighbouring iterations are apart, and a barrier in each iteration keeps further ones apart.
// Requires layouts. Idempotent.
#include "passes/pass.h"

enum { ALIGNMENT = 128, MAX_BUFFERS = 64, MAX_PENDING = 256 };

typedef struct {
    kc_value *buffer;
    int first, last; // positions in time
    int64_t offset, bytes;
} lifetime;

typedef struct {
    kc_pass_context *pass;
    kc_op *kernel;
    lifetime buffers[MAX_BUFFERS];
    int n_buffers, time;
} packer;

static kc_value *buffer_of(const kc_op *op) {
    return op->code == KC_OP_SHARED_STORE || op->code == KC_OP_SHARED_LOAD ? kc_operand(op, 0)
                                                                           : NULL;
}

static lifetime *lifetime_of(packer *p, const kc_value *buffer) {
    for (int i = 0; i < p->n_buffers; i++)
        if (p->buffers[i].buffer == buffer) return &p->buffers[i];
    kc_bug("a shared buffer that no shared_alloc made");
}

static void add_buffer(packer *p, kc_op *alloc) {
    if (p->n_buffers == MAX_BUFFERS) kc_bug("more than %d shared buffers in a kernel", MAX_BUFFERS);
    kc_value *buffer = kc_result(alloc, 0);
    int64_t bytes = kc_tile_elements(&buffer->type) * kc_dtype_unit(buffer->type.elem);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    p->buffers[p->n_buffers++] = (lifetime){buffer, -1, -1, -1, bytes};
}

static bool used_outside(const kc_value *buffer, const kc_block *block) {
    for (const kc_use *use = buffer->uses; use; use = use->next)
        if (use->user->block != block) return true;
    return false;
}

static void extend(lifetime *l, int first, int last) {
    if (l->first < 0 || first < l->first) l->first = first;
    if (last > l->last) l->last = last;
}

static int ops_inside(const kc_block *block) {
    int n = 0;
    KC_FOR_OPS(op, block)
        n += 1 + (op->code == KC_OP_FOR || op->code == KC_OP_IF ? ops_inside(op->body) : 0);
    return n;
}

// A buffer used in several blocks lives as long as the loops around its uses.
static void measure(packer *p, kc_block *block, int loop_first, int loop_last) {
    KC_FOR_OPS(op, block) {
        int now = p->time++;
        if (op->code == KC_OP_SHARED_ALLOC) add_buffer(p, op);
        kc_value *buffer = buffer_of(op);
        if (buffer) {
            lifetime *l = lifetime_of(p, buffer);
            if (loop_first >= 0 && used_outside(buffer, block)) extend(l, loop_first, loop_last);
            extend(l, now, now);
        }
        if (op->code != KC_OP_FOR && op->code != KC_OP_IF) continue;
        bool outermost = loop_first < 0;
        measure(p, op->body, outermost ? now : loop_first,
                outermost ? now + ops_inside(op->body) : loop_last);
    }
}

static bool collide(const lifetime *a, const lifetime *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes &&
           a->first <= b->last && b->first <= a->last;
}

// First fit: the lowest offset that no buffer alive at the same time occupies.
static int64_t place(packer *p, int i) {
    lifetime *l = &p->buffers[i];
    l->offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int k = 0; k < i; k++)
            if (collide(l, &p->buffers[k]))
                l->offset = p->buffers[k].offset + p->buffers[k].bytes, moved = true;
    }
    return l->offset + l->bytes;
}

static int64_t pack(packer *p) {
    int64_t total = 0;
    kc_expr_pool *pool = kc_op_pool(p->kernel);
    for (int i = 0; i < p->n_buffers; i++) {
        int64_t end = place(p, i);
        if (end > total) total = end;
        kc_attr_set_expr(p->buffers[i].buffer->def, KC_ATTR_OFFSET,
                         kc_expr_const(pool, p->buffers[i].offset));
    }
    return total;
}

// ---- barriers ------------------------------------------------------------------------------------------------------

typedef struct {
    const kc_value *buffer, *stage;
    bool write;
} access;

typedef struct {
    packer *p;
    access pending[MAX_PENDING];
    int n;
} walk;

static bool overlap(packer *p, const kc_value *a, const kc_value *b) {
    const lifetime *x = lifetime_of(p, a), *y = lifetime_of(p, b);
    return x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

// `same_turn`: both accesses belong to one iteration, where a stage is the same stage.
static bool conflicts(walk *w, const access *a, const access *b, bool same_turn) {
    if (!a->write && !b->write) return false;
    if (!overlap(w->p, a->buffer, b->buffer)) return false;
    return same_turn || !(a->buffer == b->buffer && a->stage && a->stage == b->stage);
}

static void add_pending(walk *w, access a) {
    for (int i = 0; i < w->n; i++)
        if (w->pending[i].buffer == a.buffer && w->pending[i].stage == a.stage &&
            w->pending[i].write == a.write)
            return;
    if (w->n == MAX_PENDING) kc_bug("more than %d shared accesses between barriers", MAX_PENDING);
    w->pending[w->n++] = a;
}

// Those before `turn` in the list come from an earlier iteration.
static void visit(walk *w, kc_op *op, int *turn) {
    if (kc_op_has(op, KC_BARRIER)) {
        w->n = *turn = 0;
        return;
    }
    kc_value *buffer = buffer_of(op);
    if (!buffer) return;
    int stage_segment = op->code == KC_OP_SHARED_STORE ? 2 : 1, n;
    kc_use *stage = kc_op_segment(op, stage_segment, &n);
    access a = {buffer, n ? stage->value : NULL, op->code == KC_OP_SHARED_STORE};
    for (int i = 0; i < w->n; i++) {
        if (!conflicts(w, &w->pending[i], &a, i >= *turn)) continue;
        kc_builder b = kc_builder_before(w->p->pass->module, op);
        kc_build(&b, KC_OP_BARRIER, 0, NULL, 0, NULL);
        w->n = *turn = 0;
        break;
    }
    add_pending(w, a);
}

static void walk_block(walk *w, kc_block *block, int turn) {
    KC_FOR_OPS(op, block) {
        if (op->code == KC_OP_FOR || op->code == KC_OP_IF) {
            walk before = *w;
            walk_block(w, op->body, 0);
            if (op->code == KC_OP_FOR) walk_block(w, op->body, w->n);
            for (int i = 0; i < before.n; i++)
                add_pending(w, before.pending[i]); // it may not run at all
        } else {
            visit(w, op, &turn);
        }
    }
}

static void sync_kernel(kc_pass_context *pass, kc_op *kernel) {
    packer p = {.pass = pass, .kernel = kernel};
    measure(&p, kernel->body, -1, -1);
    int64_t bytes = pack(&p);
    if (bytes) kc_attr_set_int(kernel, KC_ATTR_SHARED, bytes);
    walk w = {.p = &p};
    walk_block(&w, kernel->body, 0);
}

static bool fits(kc_pass_context *pass, kc_op *kernel) {
    int64_t bytes = kc_attr_int(kernel, KC_ATTR_SHARED, 0),
            most = pass->target->attributes.max_shared_memory;
    if (bytes <= most) return true;
    kc_report(pass->diag, KC_ERROR, kernel->loc,
              "kernel %s needs %lld bytes of shared memory, %s has %lld a block; a smaller tile or "
              "fewer stages would fit",
              kc_attr_string(kernel, KC_ATTR_NAME, ""), (long long)bytes, pass->target->arch->name,
              (long long)most);
    return false;
}

// A kernel that does not fit is reported for the first variant alone.
static bool run(kc_pass_context *pass) {
    bool all = true;
    KC_FOR_OPS(func, pass->module->body) {
        bool ok = true;
        KC_FOR_OPS(variant, func->body) {
            if (!ok || variant->code != KC_OP_VARIANT) continue;
            KC_FOR_OPS(kernel, variant->body) {
                if (kernel->code != KC_OP_KERNEL) continue;
                sync_kernel(pass, kernel);
                ok = fits(pass, kernel) && ok;
            }
        }
        all = all && ok;
    }
    return all;
}

const kc_pass kc_pass_sync = {
    .name = "sync",
    .meaning = "shared buffers get places; barriers where dependences need them",
    .level_in = KC_LEVEL_LAYOUT,
    .level_out = KC_LEVEL_LAYOUT,
    .needs_target = true,
    .run = run,
};
