// sync: places for shared buffers, and the barriers that the dependences through them need, no
// more.
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
// Buffers whose uses do not overlap in time share bytes; a buffer that copies go to is in use until
// they have been waited for. Then kc_shared_order_walk finds the pairs of accesses that nothing
// orders, across the back edges of loops too, and the places where a barrier would order them. The
// place that serves most pairs gets one (among equals, the one in the fewest loops, then the last),
// until no pair is left. So a ring of copies has one barrier a step, between the wait for this
// step's copies and the issue of later ones: it shows what has arrived, and it ends the reading of
// the stage that is filled next. At last each wait is told how many later groups it may leave on
// their way. Requires layouts. Idempotent.
#include "ir/map.h"
#include "ir/shared_order.h"
#include "passes/syncer.h"

enum { ALIGNMENT = 128, MAX_BUFFERS = 64 };

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

// The place in time of an op, and of the outermost loop around it: -1 when there is none.
typedef struct {
    int now, loop_first, loop_last;
} moment;

// A buffer used in several blocks lives as long as the loops around its uses.
static void use_buffer(packer *p, const kc_value *buffer, const kc_block *block, moment at) {
    lifetime *l = lifetime_of(p, buffer);
    if (at.loop_first >= 0 && used_outside(buffer, block)) extend(l, at.loop_first, at.loop_last);
    extend(l, at.now, at.now);
}

// The buffers of the copies that a token stands for, whichever way it came.
static void use_token(packer *p, const kc_value *token, const kc_block *block, moment at,
                      kc_map *seen) {
    if (kc_map_get(seen, token)) return;
    kc_map_set(seen, token, p);
    const kc_op *op = token->def ? token->def : token->block->parent;
    if (op->code == KC_OP_ASYNC_COMMIT) {
        for (int i = 0; i < op->n_operands; i++)
            use_buffer(p, kc_operand(kc_operand(op, i)->def, 1), block, at);
    } else if (op->code == KC_OP_FOR) {
        int i = token->index - !token->def; // the counter is no carried value
        use_token(p, kc_operand(op, 2 + i), block, at, seen);
        use_token(p, kc_operand(op->body->last, i), block, at, seen);
    }
}

static void measure(packer *p, kc_block *block, int loop_first, int loop_last) {
    KC_FOR_OPS(op, block) {
        moment at = {p->time++, loop_first, loop_last};
        kc_shared_access access;
        if (op->code == KC_OP_SHARED_ALLOC) add_buffer(p, op);
        if (kc_shared_access_of(op, &access)) use_buffer(p, access.buffer, block, at);
        if (op->code == KC_OP_ASYNC_WAIT)
            use_token(p, kc_operand(op, 0), block, at, kc_map_create(p->pass->scratch));
        if (op->code != KC_OP_FOR && op->code != KC_OP_IF) continue;
        bool outermost = loop_first < 0;
        measure(p, op->body, outermost ? at.now : loop_first,
                outermost ? at.now + ops_inside(op->body) : loop_last);
    }
}

static bool collide(const lifetime *a, const lifetime *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes &&
           a->first <= b->last && b->first <= a->last;
}

// First fit: the lowest offset that no buffer alive at the same time occupies.
static int64_t place_buffer(packer *p, int i) {
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
        int64_t end = place_buffer(p, i);
        if (end > total) total = end;
        kc_attr_set_expr(p->buffers[i].buffer->def, KC_ATTR_OFFSET,
                         kc_expr_const(pool, p->buffers[i].offset));
    }
    return total;
}

// ---- barriers -----------------------------------------------------------------------------------

// A place for a barrier: before an op.
typedef struct place {
    kc_op *before;
    int64_t pairs; // that a barrier here would order
    int64_t latest; // pair that was counted last
    int depth;     // loops around it
    struct place *next;
} place;

typedef struct {
    kc_pass_context *pass;
    kc_map *places; // op -> place
    place *all;     // the last one met first
    int64_t pairs;
    const kc_op *unready; // touches what a copy may be on its way to
} search;

static int depth_of(const kc_op *op) {
    int depth = 0;
    while ((op = kc_op_parent(op)))
        depth += op->code == KC_OP_FOR;
    return depth;
}

static place *place_of(search *s, kc_op *op) {
    place *p = kc_map_get(s->places, op);
    if (p) return p;
    p = KC_NEW(s->pass->scratch, place);
    *p = (place){op, 0, 0, depth_of(op), s->all};
    s->all = p;
    kc_map_set(s->places, op, p);
    return p;
}

static void count(void *context, const kc_op *first, kc_op *second, kc_op *const *gaps, int n) {
    search *s = context;
    (void)first;
    if (!n) s->unready = second;
    s->pairs++;
    for (int i = 0; i < n; i++) {
        place *p = place_of(s, gaps[i]);
        p->pairs += p->latest != s->pairs;
        p->latest = s->pairs;
    }
}

static const place *best(const search *s) {
    const place *best = s->all;
    for (const place *p = s->all; p; p = p->next)
        if (p->pairs > best->pairs || (p->pairs == best->pairs && p->depth < best->depth)) best = p;
    return best;
}

// False: something cannot be ordered, which is told.
static bool add_barriers(kc_pass_context *pass, kc_op *kernel) {
    for (;;) {
        search s = {.pass = pass, .places = kc_map_create(pass->scratch)};
        kc_shared_visitor visitor = {.context = &s, .hazard = count};
        const char *trouble = NULL;
        if (!kc_shared_order_walk(pass->scratch, kernel, &visitor))
            trouble = "its loops are nested too deeply to order its shared memory";
        if (s.unready) trouble = "it touches shared memory that a copy may be on its way to";
        if (trouble) {
            kc_report(pass->diag, KC_ERROR, (s.unready ? s.unready : kernel)->loc, "kernel %s: %s",
                      kc_attr_string(kernel, KC_ATTR_NAME, ""), trouble);
            return false;
        }
        if (!s.pairs) return true;
        kc_builder b = kc_builder_before(pass->module, best(&s)->before);
        kc_build(&b, KC_OP_BARRIER, 0, NULL, 0, NULL);
    }
}

// A wait that is met several times leaves what each time may be left.
static void note_wait(void *context, kc_op *wait, int64_t later) {
    (void)context;
    if (later < kc_attr_int(wait, KC_ATTR_PENDING, INT64_MAX))
        kc_attr_set_int(wait, KC_ATTR_PENDING, later);
}

static void clear_waits(kc_block *block) {
    KC_FOR_OPS(op, block) {
        if (op->code == KC_OP_ASYNC_WAIT) kc_attr_remove(op, KC_ATTR_PENDING);
        if (op->body) clear_waits(op->body);
    }
}

static bool sync_kernel(kc_pass_context *pass, kc_op *kernel) {
    packer p = {.pass = pass, .kernel = kernel};
    measure(&p, kernel->body, -1, -1);
    int64_t bytes = pack(&p);
    if (bytes) kc_attr_set_int(kernel, KC_ATTR_SHARED, bytes);
    clear_waits(kernel->body);
    if (!add_barriers(pass, kernel)) return false;
    kc_sync_in_place(pass->module, kernel);
    kc_shared_visitor visitor = {.wait = note_wait};
    kc_shared_order_walk(pass->scratch, kernel, &visitor);
    return true;
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
                ok = sync_kernel(pass, kernel) && fits(pass, kernel) && ok;
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
