// The walk over a kernel that finds accesses to shared memory which nothing orders.
//
// What it carries along is a list of accesses since the last barrier, and of copies on their way,
// each with its age: the groups that were made since its own. Tokens have ages too, so that states
// that come together from several ways need no common count.
#include "ir/shared_order.h"

#include <string.h>

#include "ir/map.h"

// An integer that is followed: base (NULL: none) + offset. Not known: anything.
typedef struct {
    const kc_value *base;
    int64_t offset;
    bool known;
} linear;

enum { UNCOMMITTED = -1, ARRIVED = -2 };

typedef struct {
    const kc_op *op;
    const kc_value *buffer;
    bool staged, write;
    linear stage; // its offset is below the modulus
    int64_t age;  // of a copy on its way; UNCOMMITTED; ARRIVED: no copy, or one that was waited for
    int since;    // a barrier from this place in the trace on orders it
} access;

typedef struct {
    const kc_value *value;
    int64_t age;
} token;

typedef struct {
    access *accesses;
    token *tokens;
    int n_accesses, n_tokens, access_room, token_room;
} state;

typedef struct {
    kc_arena *scratch;
    const kc_op *kernel;
    const kc_shared_visitor *visitor;
    kc_map *counters; // loop counter -> linear
    kc_op **trace;    // ops in the order they were met: places for barriers
    int n_trace, trace_room;
    state now;
    int64_t budget; // of ops
} walk;

// ---- accesses -----------------------------------------------------------------------------------

bool kc_shared_access_of(const kc_op *op, kc_shared_access *a) {
    int segment, n;
    switch (op->code) {
    case KC_OP_SHARED_STORE: segment = 2; break;
    case KC_OP_SHARED_LOAD: segment = 1; break;
    case KC_OP_ASYNC_COPY: segment = 5; break;
    default: return false;
    }
    kc_use *stage = kc_op_segment(op, segment, &n);
    *a = (kc_shared_access){kc_operand(op, op->code == KC_OP_ASYNC_COPY), n ? stage->value : NULL,
                            op->code != KC_OP_SHARED_LOAD};
    return true;
}

// ---- numbers ------------------------------------------------------------------------------------

static bool is_constant(const kc_value *v, int64_t *value) {
    if (!v->def || v->def->code != KC_OP_CONST || !kc_attr_get(v->def, KC_ATTR_INTEGER))
        return false;
    *value = kc_attr_int(v->def, KC_ATTR_INTEGER, 0);
    return true;
}

enum { DEEPEST = 16 };

static linear linear_of(const walk *w, const kc_value *v, int depth) {
    const linear unknown = {NULL, 0, false}, *counter = kc_map_get(w->counters, v);
    int64_t c;
    if (counter) return *counter;
    if (is_constant(v, &c)) return (linear){NULL, c, true};
    if (v->def && v->def->code == KC_OP_CAST && depth)
        return linear_of(w, kc_operand(v->def, 0), depth - 1);
    bool sum = v->def && (v->def->code == KC_OP_ADD || v->def->code == KC_OP_SUB);
    if (sum && depth && is_constant(kc_operand(v->def, 1), &c)) {
        linear x = linear_of(w, kc_operand(v->def, 0), depth - 1);
        if (v->def->code == KC_OP_SUB && __builtin_sub_overflow(0, c, &c)) return unknown;
        if (__builtin_add_overflow(x.offset, c, &x.offset)) return unknown;
        return x;
    }
    bool fixed = v->def && v->def->block == w->kernel->body; // one value for all turns
    return fixed ? (linear){v, 0, true} : unknown;
}

static linear stage_of(const walk *w, const kc_value *v, int64_t modulus) {
    linear unknown = {NULL, 0, false}, x;
    int64_t divisor;
    if (is_constant(v, &divisor)) return (linear){NULL, divisor, true};
    if (!v->def || v->def->code != KC_OP_MOD || !is_constant(kc_operand(v->def, 1), &divisor) ||
        divisor != modulus || modulus < 1)
        return unknown;
    x = linear_of(w, kc_operand(v->def, 0), DEEPEST);
    x.offset = (x.offset % modulus + modulus) % modulus;
    return x;
}

// ---- states -------------------------------------------------------------------------------------

static void *grown(kc_arena *arena, const void *old, int n, int *room, size_t size) {
    *room = 2 * n + 16;
    void *wider = kc_arena_alloc(arena, (size_t)*room * size);
    if (n) memcpy(wider, old, (size_t)n * size);
    return wider;
}

static bool same_linear(const linear *a, const linear *b) {
    return a->known == b->known && (!a->known || (a->base == b->base && a->offset == b->offset));
}

static bool alike(const access *a, const access *b) {
    return a->op == b->op && a->buffer == b->buffer && a->staged == b->staged &&
           same_linear(&a->stage, &b->stage) && a->age == b->age;
}

// Of accesses that are alike the last is kept: what orders it orders the earlier ones.
static void add_access(walk *w, state *s, access a) {
    for (int i = 0; i < s->n_accesses; i++)
        if (alike(&s->accesses[i], &a)) {
            if (a.since > s->accesses[i].since) s->accesses[i].since = a.since;
            return;
        }
    if (s->n_accesses == s->access_room)
        s->accesses = grown(w->scratch, s->accesses, s->n_accesses, &s->access_room, sizeof a);
    s->accesses[s->n_accesses++] = a;
}

static token *find_token(state *s, const kc_value *v) {
    for (int i = 0; i < s->n_tokens; i++)
        if (s->tokens[i].value == v) return &s->tokens[i];
    return NULL;
}

static void set_token(walk *w, state *s, const kc_value *v, int64_t age) {
    token *t = find_token(s, v);
    if (!t && s->n_tokens == s->token_room)
        s->tokens = grown(w->scratch, s->tokens, s->n_tokens, &s->token_room, sizeof *t);
    if (!t) t = &s->tokens[s->n_tokens++];
    *t = (token){v, age};
}

static int64_t age_of(state *s, const kc_value *v) {
    const token *t = find_token(s, v);
    return t ? t->age : 0;
}

static state copy_state(walk *w, const state *s) {
    state copy = *s;
    copy.accesses = grown(w->scratch, s->accesses, s->n_accesses, &copy.access_room,
                          sizeof *copy.accesses);
    copy.tokens = grown(w->scratch, s->tokens, s->n_tokens, &copy.token_room, sizeof *copy.tokens);
    return copy;
}

// Either may have happened. The younger of two ages is the one that a wait has to make sure of.
static void join(walk *w, state *into, state *from) {
    for (int i = 0; i < from->n_accesses; i++)
        add_access(w, into, from->accesses[i]);
    for (int i = 0; i < from->n_tokens; i++) {
        token *t = find_token(into, from->tokens[i].value);
        if (!t || from->tokens[i].age < t->age)
            set_token(w, into, from->tokens[i].value, from->tokens[i].age);
    }
}

// ---- single ops ---------------------------------------------------------------------------------

static void remember(walk *w, kc_op *op) {
    if (w->n_trace == w->trace_room)
        w->trace = grown(w->scratch, w->trace, w->n_trace, &w->trace_room, sizeof op);
    w->trace[w->n_trace++] = op;
}

static bool places_overlap(const kc_value *a, const kc_value *b) {
    int64_t first[2], bytes[2];
    const kc_value *buffers[2] = {a, b};
    if (a == b) return true;
    for (int i = 0; i < 2; i++) {
        const kc_type *type = &buffers[i]->type;
        const kc_expr *x = buffers[i]->def ? kc_attr_expr(buffers[i]->def, KC_ATTR_OFFSET) : NULL;
        if (!x || !kc_expr_is_const(x, &first[i])) return false;
        bytes[i] = kc_tile_elements(type) * kc_dtype_unit(type->elem);
    }
    return first[0] < first[1] + bytes[1] && first[1] < first[0] + bytes[0];
}

static bool conflict(const access *a, const access *b) {
    if ((!a->write && !b->write) || !places_overlap(a->buffer, b->buffer)) return false;
    bool apart = a->buffer == b->buffer && a->staged && b->staged && a->stage.known &&
                 b->stage.known && a->stage.base == b->stage.base &&
                 a->stage.offset != b->stage.offset;
    return !apart;
}

static void touch(walk *w, kc_op *op) {
    kc_shared_access of;
    kc_shared_access_of(op, &of);
    access a = {op, of.buffer, of.stage != NULL, of.write, {NULL, 0, false}, ARRIVED, w->n_trace};
    if (of.stage) a.stage = stage_of(w, of.stage, of.buffer->type.tile[0]);
    if (op->code == KC_OP_ASYNC_COPY) a.age = UNCOMMITTED;
    remember(w, op);
    for (int i = 0; i < w->now.n_accesses; i++) {
        const access *before = &w->now.accesses[i];
        if (!conflict(before, &a) || !w->visitor->hazard) continue;
        bool arrived = before->age == ARRIVED;
        w->visitor->hazard(w->visitor->context, before->op, op,
                           arrived ? w->trace + before->since : NULL,
                           arrived ? w->n_trace - before->since : 0);
    }
    a.since = w->n_trace;
    add_access(w, &w->now, a);
}

static void commit(walk *w, kc_op *op) {
    for (int i = 0; i < w->now.n_accesses; i++)
        if (w->now.accesses[i].age != ARRIVED) w->now.accesses[i].age++;
    for (int i = 0; i < w->now.n_tokens; i++)
        w->now.tokens[i].age++;
    set_token(w, &w->now, kc_result(op, 0), 0);
}

static void wait(walk *w, kc_op *op) {
    int64_t later = age_of(&w->now, kc_operand(op, 0)), left = later;
    if (w->visitor->wait) w->visitor->wait(w->visitor->context, op, later);
    if (w->visitor->trust_pending) left = kc_attr_int(op, KC_ATTR_PENDING, later);
    remember(w, op);
    int n = w->now.n_accesses;
    access *old = w->now.accesses;
    w->now.accesses = NULL;
    w->now.n_accesses = w->now.access_room = 0;
    for (int i = 0; i < n; i++) {
        access a = old[i];
        if (a.age >= left) a.age = ARRIVED, a.since = w->n_trace;
        add_access(w, &w->now, a);
    }
}

static void barrier(walk *w) {
    int n = 0;
    for (int i = 0; i < w->now.n_accesses; i++)
        if (w->now.accesses[i].age != ARRIVED) w->now.accesses[n++] = w->now.accesses[i];
    w->now.n_accesses = n;
}

// ---- regions ------------------------------------------------------------------------------------

static void walk_block(walk *w, const kc_block *block);

// Behind a region not every way came past the places inside it.
static void leave_region(walk *w, state *s) {
    for (int i = 0; i < s->n_accesses; i++)
        s->accesses[i].since = w->n_trace;
}

static void set_carried(walk *w, kc_value **to, const kc_use *from, int n) {
    int64_t *ages = KC_NEW_ARRAY(w->scratch, int64_t, n + 1);
    for (int i = 0; i < n; i++)
        ages[i] = age_of(&w->now, from[i].value);
    for (int i = 0; i < n; i++)
        if (to[i]->type.kind == KC_TYPE_TOKEN) set_token(w, &w->now, to[i], ages[i]);
}

// Until all that differs from turn to turn has been seen: the ring comes round once until the loop
// lives on its own copies, and once more.
static int turns_of(const kc_op *loop) {
    enum { LONGEST_RING = 64 };
    int64_t ring = 0;
    int tokens = 0;
    for (const kc_op *op = loop->body->first; op; op = op->next) {
        kc_shared_access a;
        if (kc_shared_access_of(op, &a) && a.stage && a.buffer->type.tile[0] > ring)
            ring = a.buffer->type.tile[0];
    }
    for (int i = 1; i < loop->body->n_args; i++)
        tokens += loop->body->args[i]->type.kind == KC_TYPE_TOKEN;
    return 2 + 2 * (int)(ring < LONGEST_RING ? ring : LONGEST_RING) + tokens;
}

static void walk_loop(walk *w, kc_op *loop) {
    linear *counter = KC_NEW(w->scratch, linear), start = linear_of(w, kc_operand(loop, 0), DEEPEST);
    int64_t step = kc_attr_int(loop, KC_ATTR_STEP, 1);
    int n = loop->n_results, turns = turns_of(loop);
    const kc_use *from = loop->operands + 2;
    kc_map_set(w->counters, loop->body->args[0], counter);
    remember(w, loop);
    *counter = start;
    set_carried(w, loop->results, from, n);
    state ends = copy_state(w, &w->now); // it may not run at all
    for (int turn = 0; turn < turns && w->budget > 0; turn++) {
        set_carried(w, loop->body->args + 1, from, n);
        walk_block(w, loop->body);
        from = loop->body->last->operands;
        set_carried(w, loop->results, from, n);
        join(w, &ends, &w->now);
        if (__builtin_add_overflow(counter->offset, step, &counter->offset)) counter->known = false;
    }
    w->now = ends;
    leave_region(w, &w->now);
}

static void walk_if(walk *w, kc_op *op) {
    remember(w, op);
    state before = copy_state(w, &w->now);
    walk_block(w, op->body);
    join(w, &w->now, &before);
    leave_region(w, &w->now);
}

static void walk_block(walk *w, const kc_block *block) {
    kc_shared_access a;
    for (kc_op *op = block->first; op && w->budget > 0; op = op->next) {
        w->budget--;
        if (op->code == KC_OP_FOR) walk_loop(w, op);
        else if (op->code == KC_OP_IF) walk_if(w, op);
        else if (op->code == KC_OP_ASYNC_COMMIT) commit(w, op);
        else if (op->code == KC_OP_ASYNC_WAIT) wait(w, op);
        else if (kc_op_has(op, KC_BARRIER)) barrier(w);
        else if (kc_shared_access_of(op, &a)) touch(w, op);
    }
}

bool kc_shared_order_walk(kc_arena *scratch, const kc_op *kernel,
                          const kc_shared_visitor *visitor) {
    enum { MOST_OPS = 1 << 22 };
    walk w = {.scratch = scratch,
              .kernel = kernel,
              .visitor = visitor,
              .counters = kc_map_create(scratch),
              .budget = MOST_OPS};
    walk_block(&w, kernel->body);
    return w.budget > 0;
}
