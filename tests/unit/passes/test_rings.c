// Rings of copies: how many barriers a step has, what each wait leaves on its way, and that a ring which lost a wait or a
// barrier is noticed, by the verifier before it runs and by the tile interpreter when it does.
#include "ir/shared_order.h"
#include "ir/tile_interp.h"
#include "passes/pass.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// y[m] = sum over k of x[m, k] * x[m, k], 8 of k a step, or twice that. In order: the target, the stages, and the loop with
// what stands around it.
#define SQUARES                                                                                                            \
    "module @m {target = \"%s\"}\n"                                                                                         \
    "layout #0 = #layout<tile: 32x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0], warp: [0,0,0]>\n" \
    "layout #1 = #layout<tile: 32x1x8, offset: [0,0,1] [0,0,2] [0,0,4] [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>\n"      \
    "layout #2 = #layout<tile: 32x1x1, lane: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0], warp: [0,0,0]>\n"                   \
    "layout #3 = #layout<tile: 1x1x8, reg: [0,0,1] [0,0,2] [0,0,4], lane: [0,0,0] [0,0,0] [0,0,0] [0,0,0] [0,0,0], warp: [0,0,0]>\n" \
    "layout #4 = #layout<tile: 32x1x1, offset: [1,0,0] [2,0,0] [4,0,0] [8,0,0] [16,0,0]>\n"                                \
    "func @f(%%x: f32[32, K]) -> (y: f32[32]) dims {K: 0..2147483640 multiple 8} {\n"                                      \
    "  variant {workspace = 0} {\n"                                                                                        \
    "    %%y = output {name = \"y\"} : f32[32]\n"                                                                          \
    "    kernel inputs(%%x) outputs(%%y) {name = \"k\", grid = 1, warps = 2, stages = %d} {\n"                             \
    "    ^(%%x: f32[32, K], %%y: f32[32]):\n"                                                                              \
    "      %%as = shared_alloc : shared<32x1x8xf32, #1>\n      %%bs = shared_alloc : shared<32x1x8xf32, #1>\n"             \
    "      %%cs = shared_alloc : shared<32x1x8xf32, #1>\n      %%ds = shared_alloc : shared<32x1x8xf32, #1>\n"             \
    "      %%es = shared_alloc : shared<32x1x1xf32, #4>\n"                                                                 \
    "      %%zero = const {integer = 0} : i64\n"                                                                           \
    "      %%two = const {integer = 2} : i64\n"                                                                            \
    "      %%steps = sym {expr = K // 8} : i64\n"                                                                          \
    "      %%none = const {value = 0} : tile<32x1x1xf32, #2>\n"                                                            \
    "      %%m = iota {axis = 0} : tile<32x1x1xi32, #2>\n"                                                                 \
    "%s"                                                                                                                   \
    "      store %%y, %%out base(%%zero) local(%%m)\n      return\n    }\n  }\n}\n"

#define LOOP(result, init, as, bs, value)                                                                                          \
    "      %" result " = for %zero, %steps carried(%" init ") {step = 1} : tile<32x1x1xf32, #2> {\n"                       \
    "      ^(%k: i64, %c: tile<32x1x1xf32, #2>):\n"                                                                        \
    "        %eight = const {integer = 8} : i64\n        %at = mul %k, %eight : i64\n"                                     \
    "        %i = iota {axis = 2} : tile<1x1x8xi32, #3>\n"                                                                 \
    "        %v = load %x base(%zero, %at) local(%m, %i) : tile<32x1x8xf32, #0>\n"                                         \
    "        %u = load %x base(%zero, %at) local(%m, %i) : tile<32x1x8xf32, #0>\n" value                                   \
    "        shared_store %" as ", %v\n        shared_store %" bs ", %w\n"                                                         \
    "        %a = shared_load %" as " : tile<32x1x8xf32, #0>\n        %b = shared_load %" bs " : tile<32x1x8xf32, #0>\n"           \
    "        %next = dot %a, %b, %c {axis = 2, unit = \"fma\"} : tile<32x1x1xf32, #2>\n        yield %next\n      }\n"
#define CHANGED "        %w = add %u, %u : tile<32x1x8xf32, #0>\n" // must pass through registers
#define RING LOOP("out", "none", "as", "bs", CHANGED)
#define EPILOGUE                                                                                                           \
    LOOP("sum", "none", "as", "bs", CHANGED) "      shared_store %es, %sum\n      %out = shared_load %es : tile<32x1x1xf32, #2>\n"
#define TWICE LOOP("sum", "none", "as", "bs", CHANGED) LOOP("out", "sum", "cs", "ds", CHANGED)
#define NESTED                                                                                                             \
    "      %out = for %zero, %two carried(%none) {step = 1} : tile<32x1x1xf32, #2> {\n"                                    \
    "      ^(%outer: i64, %o: tile<32x1x1xf32, #2>):\n" LOOP("sum", "o", "as", "bs", CHANGED) "        yield %sum\n      }\n"

typedef struct {
    kc_arena *arena;
    kc_diag *diag;
    kc_module *module;
    kc_op *kernel;
} program;

static kc_op *find_kernel(kc_module *module) {
    KC_FOR_OPS(op, module->body->first->body->first->body)
        if (op->code == KC_OP_KERNEL) return op;
    return NULL;
}

// Without the other operand: %bs is read where %as is.
static char *only_plain(const char *body) {
    char *copy = strdup(body), *at;
    while ((at = strstr(copy, CHANGED))) memmove(at, at + strlen(CHANGED), strlen(at + strlen(CHANGED)) + 1);
    while ((at = strstr(copy, "shared_store %bs, %w"))) memcpy(at, "shared_store %bs, %u", 20);
    return copy;
}

static program compile(const char *target, int stages, const char *body, const char *passes) {
    program p = {.arena = kc_arena_create()};
    char *text = kc_arena_printf(p.arena, SQUARES, target, stages, body);
    const char *error = NULL;
    p.diag = kc_diag_create(p.arena, "test", text, strlen(text));
    p.module = kc_module_parse(p.arena, text, strlen(text), p.diag);
    kc_diag_print(p.diag, stderr);
    assert_non_null(p.module);
    kc_pipeline_options options = {0};
    assert_true(kc_module_verify(p.module, KC_LEVEL_LAYOUT, p.diag));
    bool ok = kc_pipeline_run(kc_pipeline_parse(p.arena, passes, p.diag), p.module,
                              kc_target_parse_one(p.arena, target, &error), p.diag, &options);
    kc_diag_print(p.diag, stderr);
    assert_true(ok);
    p.kernel = find_kernel(p.module);
    return p;
}

static void release(program *p) {
    kc_arena_destroy(p->arena);
}

// ---- running ----------------------------------------------------------------------------------------------------------

// "" or why it does not run; a wrong sum is a failure.
static const char *trouble_of(program *p, int steps, double want_factor) {
    enum { ROWS = 32, MOST = 8 * 12 };
    static float x[ROWS * MOST], y[ROWS];
    int64_t shape[2] = {ROWS, 8 * steps};
    for (int i = 0; i < ROWS * 8 * steps; i++)
        x[i] = (float)(i * 7 % 11 - 5);
    kc_interp_array in = {KC_f32, 2, shape, NULL, x}, out = {KC_f32, 1, shape, NULL, y};
    kc_tile_call call = {.inputs = &in, .outputs = &out, .n_inputs = 1, .n_outputs = 1, .variant = -1};
    kc_diag *diag = kc_diag_create(p->arena, "run", "", 0);
    if (!kc_tile_run(p->module, "f", &call, diag)) {
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        kc_diag_print(diag, file);
        fclose(file);
        const char *kept = kc_arena_strdup(p->arena, text);
        free(text);
        return kept;
    }
    for (int m = 0; m < ROWS; m++) {
        double sum = 0;
        for (int k = 0; k < 8 * steps; k++)
            sum += (double)x[m * 8 * steps + k] * x[m * 8 * steps + k];
        if (y[m] != sum * want_factor) return "wrong sums";
    }
    return "";
}

// ---- counting ---------------------------------------------------------------------------------------------------------

static int count(const kc_block *block, kc_opcode code) {
    int n = 0;
    for (const kc_op *op = block->first; op; op = op->next)
        n += op->code == code;
    return n;
}

static kc_op *find(const kc_block *block, kc_opcode code) {
    for (kc_op *op = block->first; op; op = op->next)
        if (op->code == code) return op;
    return NULL;
}

static int64_t pending(const kc_block *block) {
    return kc_attr_int(find(block, KC_OP_ASYNC_WAIT), KC_ATTR_PENDING, -1);
}

static void one_barrier_a_step(void **state) {
    (void)state;
    for (int plain = 0; plain < 2; plain++)
        for (int stages = 2; stages <= 6; stages++) {
            char *body = plain ? only_plain(RING) : strdup(RING);
            program p = compile("cuda:sm_80", stages, body, "pipeline,sync");
            const kc_block *loop = find(p.kernel->body, KC_OP_FOR)->body;
            assert_int_equal(count(loop, KC_OP_BARRIER), 1);
            assert_int_equal(count(p.kernel->body, KC_OP_BARRIER), 0);
            assert_int_equal(count(loop, KC_OP_ASYNC_COPY), 1 + plain);
            assert_int_equal(count(loop, KC_OP_SHARED_STORE), 1 - plain);
            assert_int_equal(pending(loop), stages - 2);
            assert_int_equal(pending(p.kernel->body), 0);
            for (int steps = 0; steps < 9; steps++)
                assert_string_equal(trouble_of(&p, steps, plain ? 1 : 2), "");
            release(&p);
            free(body);
        }
}

static void without_rings(void **state) {
    (void)state;
    program p = compile("cuda:sm_80", 1, RING, "pipeline,sync"); // before the loads and behind them
    assert_int_equal(count(find(p.kernel->body, KC_OP_FOR)->body, KC_OP_BARRIER), 2);
    assert_string_equal(trouble_of(&p, 3, 2), "");
    release(&p);
    for (int stages = 2; stages < 5; stages++) {
        p = compile("cuda:sm_75", stages, RING, "pipeline,sync"); // has no such copies
        assert_null(find(find(p.kernel->body, KC_OP_FOR)->body, KC_OP_ASYNC_COPY));
        assert_int_equal(count(find(p.kernel->body, KC_OP_FOR)->body, KC_OP_BARRIER), 1);
        assert_string_equal(trouble_of(&p, 3, 2), "");
        release(&p);
    }
}

// What follows a ring may have its bytes: behind the last wait and a barrier.
static void bytes_are_used_again(void **state) {
    (void)state;
    for (int stages = 2; stages < 5; stages++) {
        program p = compile("cuda:sm_80", stages, EPILOGUE, "pipeline,sync");
        assert_int_equal(count(p.kernel->body, KC_OP_BARRIER), 2); // before the store and before the load
        for (int steps = 0; steps < 6; steps++)
            assert_string_equal(trouble_of(&p, steps, 2), "");
        release(&p);
        p = compile("cuda:sm_80", stages, TWICE, "pipeline,sync");
        for (const kc_op *op = p.kernel->body->first; op; op = op->next)
            if (op->code == KC_OP_FOR) assert_int_equal(count(op->body, KC_OP_BARRIER), 1);
        for (int steps = 0; steps < 6; steps++)
            assert_string_equal(trouble_of(&p, steps, 4), "");
        release(&p);
    }
}

static void rings_inside_loops(void **state) {
    (void)state;
    for (int stages = 2; stages < 5; stages++) {
        program p = compile("cuda:sm_80", stages, NESTED, "pipeline,sync");
        const kc_block *outer = find(p.kernel->body, KC_OP_FOR)->body, *inner = find(outer, KC_OP_FOR)->body;
        assert_int_equal(count(inner, KC_OP_BARRIER), 1);
        assert_int_equal(count(outer, KC_OP_BARRIER), 1); // the next round's first copies behind the last one's reads
        for (int steps = 0; steps < 6; steps++)
            assert_string_equal(trouble_of(&p, steps, 4), "");
        release(&p);
    }
}

static void sync_is_idempotent(void **state) {
    (void)state;
    program once = compile("cuda:sm_80", 3, NESTED, "pipeline,sync"), twice = compile("cuda:sm_80", 3, NESTED, "pipeline,sync,sync");
    size_t size;
    char *a = kc_module_to_text(once.module, &size), *b = kc_module_to_text(twice.module, &size);
    assert_string_equal(a, b);
    free(a), free(b);
    release(&once), release(&twice);
}

// ---- rings that lost something ------------------------------------------------------------------------------------------

static void lose_wait(program *p) {
    kc_op_erase(find(find(p->kernel->body, KC_OP_FOR)->body, KC_OP_ASYNC_WAIT));
}
static void weaken_wait(program *p) {
    kc_op *wait = find(find(p->kernel->body, KC_OP_FOR)->body, KC_OP_ASYNC_WAIT);
    kc_attr_set_int(wait, KC_ATTR_PENDING, kc_attr_int(wait, KC_ATTR_PENDING, 0) + 1);
}
static void lose_barrier(program *p) {
    kc_op_erase(find(find(p->kernel->body, KC_OP_FOR)->body, KC_OP_BARRIER));
}
static void lose_last_wait(program *p) {
    kc_op_erase(find(p->kernel->body, KC_OP_ASYNC_WAIT));
}
static void wait_late(program *p) {
    kc_op *wait = find(find(p->kernel->body, KC_OP_FOR)->body, KC_OP_ASYNC_WAIT);
    kc_op_move_before(wait, find(wait->block, KC_OP_SHARED_LOAD));
}
static void copy_early(program *p) {
    kc_block *body = find(p->kernel->body, KC_OP_FOR)->body;
    kc_op_move_before(find(body, KC_OP_BARRIER), find(body, KC_OP_SHARED_LOAD));
}

static void what_is_lost_is_missed(void **state) {
    (void)state;
    static const struct {
        void (*lose)(program *);
        const char *refused, *met;
    } rows[] = {
        {lose_wait, "may be on its way: no async_wait orders the two", "a copy is on its way to element 0"},
        {weaken_wait, "may be on its way: no async_wait orders the two", "it leaves 2 groups on their way, and so its own"},
        {lose_barrier, "no barrier is between this and", "since the last barrier"},
        {lose_last_wait, "may be on its way: no async_wait orders the two", "a copy is on its way to element 0"},
        {wait_late, "no barrier is between this and async_copy of %as", "element 0 was written since the last barrier"},
        {copy_early, "no barrier is between this and shared_load of %as", "was read since the last barrier"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        program p = compile("cuda:sm_80", 3, EPILOGUE, "pipeline,sync");
        rows[i].lose(&p);
        const char *met = trouble_of(&p, 5, 2);
        if (!strstr(met, rows[i].met)) fail_msg("row %zu: expected '%s', the interpreter says: %s", i, rows[i].met, met);
        kc_diag *diag = kc_diag_create(p.arena, "verify", "", 0);
        assert_false(kc_module_verify(p.module, KC_LEVEL_LAYOUT, diag));
        char *text = NULL;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        kc_diag_print(diag, file);
        fclose(file);
        if (!strstr(text, rows[i].refused)) fail_msg("row %zu: expected '%s', the verifier says: %s", i, rows[i].refused, text);
        free(text);
        release(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_barrier_a_step),   cmocka_unit_test(without_rings),
        cmocka_unit_test(bytes_are_used_again), cmocka_unit_test(rings_inside_loops),
        cmocka_unit_test(sync_is_idempotent),   cmocka_unit_test(what_is_lost_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
