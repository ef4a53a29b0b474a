// The loop after pipelining. With a ring of S stages, copies that need no registers are issued S -
// 1 steps ahead, and each step's group is waited for when the step begins; tiles that pass through
// registers are loaded one step ahead.
#include "passes/pipeliner.h"

#include <string.h>

enum { MOST_VALUES = KC_MAX_CARRIED + KC_MAX_COPIES + KC_MAX_STAGES };

typedef struct {
    kc_pipeliner *p;
    kc_builder *b;
    kc_value *step, *exists; // of the step that is prepared; nothing is read unless it exists
} ahead;

static kc_value *constant(kc_builder *b, int64_t value) {
    return kc_build_const_int(b, kc_type_scalar(KC_i64), value);
}

static kc_value *stage_of(kc_builder *b, kc_value *step, int64_t stages) {
    kc_value *stage = kc_build_binary(b, KC_OP_MOD, step, constant(b, stages));
    stage->name = "stage";
    return stage;
}

static ahead prepare(kc_pipeliner *p, kc_builder *b, kc_value *from, int64_t steps) {
    kc_value *step =
        steps ? kc_build_binary(b, KC_OP_ADD, from, constant(b, steps)) : from;
    return (ahead){p, b, step, kc_build_binary(b, KC_OP_LT, step, kc_operand(p->loop, 1))};
}

static kc_value *both(kc_builder *b, kc_value *mask, kc_value *exists) {
    kc_value *v = kc_build_binary(b, KC_OP_AND, mask, exists);
    v->type.layout = mask->type.layout;
    return v;
}

// ---- tiles that pass through registers ----------------------------------------------------------

static void guard_load(ahead *a, kc_op *load) {
    kc_module *module = a->p->pass->module;
    if (load->segments[3] == 0) {
        kc_op_add_operand(module, load, a->exists);
        return;
    }
    kc_builder b = kc_builder_before(module, load);
    int last = load->n_operands - 1;
    kc_op_set_operand(load, last, both(&b, kc_operand(load, last), a->exists));
}

// Gives how many values there are: one for each such tile.
static int load_tiles(ahead a, kc_value **values) {
    kc_pipeliner *p = a.p;
    kc_clone *clone = kc_clone_begin(p->pass->module, p->pool, p->pool);
    int n = 0;
    kc_clone_map(clone, p->loop->body->args[0], a.step);
    KC_FOR_OPS(op, p->loop->body) {
        if (!p->loaded[op->order]) continue;
        kc_op *copy = kc_clone_op(clone, a.b, op);
        if (copy->code == KC_OP_LOAD) guard_load(&a, copy);
    }
    for (int i = 0; i < p->n_copies; i++)
        if (!p->copies[i].vector)
            values[n++] = kc_clone_value(clone, kc_copy_value(&p->copies[i]));
    kc_clone_end(clone);
    return n;
}

// ---- copies on their way ------------------------------------------------------------------------

static kc_value *issue(ahead *a, kc_clone *clone, const kc_copy *copy, kc_value *stage) {
    const kc_op *load = kc_copy_value(copy)->def;
    kc_value *operands[2 * KC_MAX_RANK + 4];
    int n = 0, rank = load->segments[1], masks = load->segments[3];
    operands[n++] = kc_operand(load, 0);
    operands[n++] = kc_copy_buffer(copy);
    for (int i = 0; i < 2 * rank; i++)
        operands[n++] = kc_clone_value(clone, kc_operand(load, 1 + i));
    a->b->loc = load->loc;
    operands[n++] =
        masks ? both(a->b, kc_clone_value(clone, kc_operand(load, 1 + 2 * rank)), a->exists)
              : a->exists;
    operands[n++] = stage;
    kc_type type = kc_type_copy(&kc_result(load, 0)->type);
    kc_value *made = kc_build_1(a->b, KC_OP_ASYNC_COPY, type, n, operands);
    kc_op_set_segments(made->def, (int[]){1, 1, rank, rank, 1, 1});
    if (copy->vector > 1) kc_attr_set_int(made->def, KC_ATTR_VECTOR, copy->vector);
    made->name = kc_result(load, 0)->name;
    return made;
}

// The token of the step's copies.
static kc_value *issue_copies(ahead a) {
    kc_pipeliner *p = a.p;
    kc_value *stage = stage_of(a.b, a.step, p->stages), *made[KC_MAX_COPIES];
    kc_clone *clone = kc_clone_begin(p->pass->module, p->pool, p->pool);
    int n = 0;
    kc_clone_map(clone, p->loop->body->args[0], a.step);
    KC_FOR_OPS(op, p->loop->body)
        if (p->issued[op->order]) kc_clone_op(clone, a.b, op);
    for (int i = 0; i < p->n_copies; i++)
        if (p->copies[i].vector) made[n++] = issue(&a, clone, &p->copies[i], stage);
    kc_clone_end(clone);
    kc_value *token = kc_build_1(a.b, KC_OP_ASYNC_COMMIT, kc_type_token(), n, made);
    token->name = "copied";
    return token;
}

// ---- the loop -----------------------------------------------------------------------------------

static void add_stages(const kc_pipeliner *p, const kc_copy *copy) {
    kc_type *type = &kc_copy_buffer(copy)->type;
    memmove(type->tile + 1, type->tile, sizeof(int64_t) * (size_t)type->rank);
    type->tile[0] = kc_copy_stages(p, copy);
    type->rank++;
}

static const kc_copy *copy_to(const kc_pipeliner *p, const kc_value *buffer) {
    for (int i = 0; i < p->n_copies; i++)
        if (kc_copy_buffer(&p->copies[i]) == buffer) return &p->copies[i];
    return NULL;
}

typedef struct {
    kc_value *ring, *pair; // stages of this step, in the ring and where there are two
} stages;

static kc_value *stage_for(const stages *s, const kc_copy *copy) {
    return copy->vector ? s->ring : s->pair;
}

static void store_tiles(kc_pipeliner *p, kc_builder *b, kc_value *const *values, const stages *s) {
    for (int i = 0; i < p->n_copies; i++) {
        const kc_copy *copy = &p->copies[i];
        if (copy->vector) continue;
        kc_value *operands[3] = {kc_copy_buffer(copy), *values++, stage_for(s, copy)};
        b->loc = copy->store->loc;
        kc_op *store = kc_build(b, KC_OP_SHARED_STORE, 3, operands, 0, NULL);
        kc_op_set_segments(store, (int[]){1, 1, 1});
    }
}

static void await(kc_pipeliner *p, kc_builder *b, kc_value *token) {
    b->loc = p->loop->loc;
    kc_build(b, KC_OP_ASYNC_WAIT, 1, &token, 0, NULL);
}

// The first fragments of a step, whose copies have been waited for.
static void fetch(kc_pipeliner *p, kc_builder *b, kc_value *stage, kc_value **values) {
    for (int i = 0; i < p->n_fetches; i++) {
        const kc_op *load = p->fetches[i];
        const kc_attr *offsets = kc_attr_get(load, KC_ATTR_OFFSETS);
        kc_value *operands[2] = {kc_operand(load, 0), stage};
        b->loc = load->loc;
        values[i] = kc_build_1(b, KC_OP_SHARED_LOAD, kc_result(load, 0)->type, 2, operands);
        kc_op_set_segments(values[i]->def, (int[]){1, 1});
        if (offsets)
            kc_attr_set_ints(p->pass->module, values[i]->def, KC_ATTR_OFFSETS, offsets->count,
                             offsets->integers);
        values[i]->name = kc_result(load, 0)->name;
    }
}

static void fetch_next(kc_pipeliner *p, kc_builder *b, kc_value *step, kc_value *token,
                       kc_value **values) {
    await(p, b, token);
    kc_value *next = kc_build_binary(b, KC_OP_ADD, step, constant(b, 1));
    fetch(p, b, stage_of(b, next, p->stages), values);
}

static bool is_fetched(const kc_pipeliner *p, const kc_op *op) {
    for (int i = 0; i < p->n_fetches; i++)
        if (p->fetches[i] == op) return true;
    return false;
}

// The rest of the body, reading the stages of this step, with what it yields. `fetched` are the
// first fragments: those of this step, then of the next, once `token` has been waited for.
static void copy_rest(kc_pipeliner *p, kc_builder *b, kc_block *body, const stages *s,
                      kc_value *const *fetched, kc_value *token, kc_value **yields) {
    kc_clone *clone = kc_clone_begin(p->pass->module, p->pool, p->pool);
    int n = p->loop->n_results;
    for (int i = 0; i < p->loop->body->n_args; i++)
        kc_clone_map(clone, p->loop->body->args[i], body->args[i]);
    for (int i = 0; i < p->n_fetches; i++)
        kc_clone_map(clone, kc_result(p->fetches[i], 0), fetched[i]);
    KC_FOR_OPS(op, p->loop->body) {
        if (!p->now[op->order] || kc_op_has(op, KC_TERMINATOR) || is_fetched(p, op)) continue;
        if (p->n_fetches && op == p->last_dot)
            fetch_next(p, b, body->args[0], token, yields + n);
        kc_op *made = kc_clone_op(clone, b, op);
        const kc_copy *copy =
            made->code == KC_OP_SHARED_LOAD ? copy_to(p, kc_operand(made, 0)) : NULL;
        if (!copy) continue;
        kc_op_add_operand(p->pass->module, made, stage_for(s, copy));
        kc_op_set_segments(made, (int[]){1, 1});
    }
    for (int i = 0; i < n; i++)
        yields[i] = kc_clone_value(clone, kc_operand(p->loop->body->last, i));
    kc_clone_end(clone);
}

static kc_op *build_loop(kc_pipeliner *p, kc_value *const *more, int n_more) {
    kc_builder b = kc_builder_before(p->pass->module, p->loop);
    int n = p->loop->n_operands - 2;
    kc_value *operands[2 + MOST_VALUES];
    kc_type types[MOST_VALUES];
    for (int i = 0; i < n + 2; i++)
        operands[i] = kc_operand(p->loop, i);
    for (int i = 0; i < n_more; i++)
        operands[2 + n++] = more[i];
    for (int i = 0; i < n; i++)
        types[i] = operands[2 + i]->type;
    kc_op *loop = kc_build(&b, KC_OP_FOR, 2 + n, operands, n, types);
    kc_attr_set_int(loop, KC_ATTR_STEP, 1);
    kc_block *body = kc_op_add_body(p->pass->module, loop);
    for (int i = 0; i < n + 1; i++) {
        const kc_value *like = i < p->loop->body->n_args ? p->loop->body->args[i] : operands[1 + i];
        kc_block_add_arg(p->pass->module, body, like->type, like->name);
    }
    return loop;
}

// The loop carries `n_held` tiles or fragments of the coming step, then the tokens of the steps
// whose copies are on their way.
static void fill_body(kc_pipeliner *p, kc_op *loop, int n_held, int n_tokens) {
    kc_block *body = loop->body;
    kc_builder b = kc_builder_at_end(p->pass->module, body, p->loop->loc);
    kc_value **held = body->args + p->loop->body->n_args, *yields[MOST_VALUES];
    kc_value *tokens[KC_MAX_STAGES] = {NULL};
    int n = p->loop->n_results, n_tiles = p->n_fetches ? 0 : n_held;
    stages s = {NULL, NULL};
    for (int i = 0; i < n_tokens; i++)
        tokens[i] = held[n_held + i];
    if (p->n_async && !p->n_fetches) await(p, &b, tokens[0]);
    if (p->n_async) s.ring = stage_of(&b, body->args[0], p->stages);
    if (n_tiles) s.pair = stage_of(&b, body->args[0], 2);
    store_tiles(p, &b, held, &s);
    if (p->n_async) tokens[n_tokens] = issue_copies(prepare(p, &b, body->args[0], p->stages - 1));
    for (int i = 0; i < n_tokens; i++)
        yields[n + n_held + i] = tokens[i + 1];
    if (n_tiles) load_tiles(prepare(p, &b, body->args[0], 1), yields + n);
    copy_rest(p, &b, body, &s, held, tokens[0], yields);
    b.loc = p->loop->loc;
    kc_build(&b, KC_OP_YIELD, n + n_held + n_tokens, yields, 0, NULL);
}

void kc_pipeline_rotate(kc_pipeliner *p) {
    kc_module *module = p->pass->module;
    kc_value *more[KC_MAX_COPIES + KC_MAX_STAGES], *lower = kc_operand(p->loop, 0);
    kc_value *tokens[KC_MAX_STAGES] = {NULL}, **left = tokens;
    kc_builder outer = kc_builder_before(module, p->loop);
    int n_held = p->n_fetches, n_tokens = p->n_async ? (int)p->stages - 1 : 0;
    if (p->n_async < p->n_copies) n_held = load_tiles(prepare(p, &outer, lower, 0), more);
    for (int i = 0; i < n_tokens; i++)
        tokens[i] = issue_copies(prepare(p, &outer, lower, i));
    for (int i = 0; i < p->n_copies; i++)
        add_stages(p, &p->copies[i]);
    if (p->n_fetches) { // the first step's copies are waited for here
        await(p, &outer, tokens[0]);
        fetch(p, &outer, stage_of(&outer, lower, p->stages), more);
        left++, n_tokens--;
    }
    if (n_tokens) memcpy(more + n_held, left, sizeof *left * (size_t)n_tokens);
    kc_op *loop = build_loop(p, more, n_held + n_tokens);
    fill_body(p, loop, n_held, n_tokens);
    for (int i = 0; i < p->loop->n_results; i++) {
        kc_result(loop, i)->name = kc_result(p->loop, i)->name;
        kc_value_replace(kc_result(p->loop, i), kc_result(loop, i));
    }
    outer = kc_builder_before(module, p->loop);
    if (n_tokens) await(p, &outer, kc_result(loop, loop->n_results - 1));
    kc_op_erase(p->loop);
}
