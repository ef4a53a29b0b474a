// Around the kernels: arguments, the variant, the workspace, the grid.
#include "ir/tile_machine.h"

#include <string.h>

typedef struct {
    kc_interp *m;
    const kc_tile_call *call;
    char *workspace;
    int64_t workspace_bytes;
} planner;

// ---- symbols ------------------------------------------------------------------------------------

static int64_t alignment(const kc_interp_array *array) {
    uintptr_t at = (uintptr_t)array->data;
    for (int d = 0; d < array->rank; d++)
        if (array->shape[d] == 0) return 256;
    uintptr_t low = at & (0 - at);
    return low == 0 || low > 256 ? 256 : (int64_t)low;
}

static void bind_alignment(kc_interp *m, const char *name, const kc_interp_array *array) {
    for (int i = 0; i < kc_expr_symbol_count(m->pool); i++) {
        const char *symbol = kc_expr_symbol_name(m->pool, i);
        if (m->bound[i] || strncmp(symbol, "align.", 6) || strcmp(symbol + 6, name)) continue;
        m->symbols[i] = alignment(array);
        m->bound[i] = true;
    }
}

// What is asked of the device: a small one, so that its programs have several tiles each.
static void bind_device(kc_interp *m) {
    for (int i = 0; i < kc_expr_symbol_count(m->pool); i++)
        if (!m->bound[i] && !strncmp(kc_expr_symbol_name(m->pool, i), "dev.", 4)) m->symbols[i] = 2, m->bound[i] = true;
}

static void check_inouts(planner *p) {
    const kc_output *outputs;
    int n = kc_func_outputs(p->m->func, &outputs), inouts = kc_func_inouts(p->m->func);
    int first = p->call->n_inputs - kc_func_constants(p->m->func) - inouts;
    for (int i = 0; i < inouts && i < n; i++)
        if (p->call->outputs[i].data != p->call->inputs[first + i].data)
            kc_interp_fail(p->m, p->m->func, "'%s' is one tensor, but comes in two places",
                           outputs[i].name);
}

static void bind_all(planner *p) {
    const kc_tile_call *call = p->call;
    const kc_output *outputs;
    kc_func_outputs(p->m->func, &outputs);
    kc_interp_bind(p->m, &(kc_interp_arguments){call->inputs, call->outputs, call->n_inputs,
                                                call->n_outputs, call->symbols, call->n_symbols});
    check_inouts(p);
    for (int i = 0; i < call->n_inputs; i++)
        bind_alignment(p->m, p->m->func->body->args[i]->name, &call->inputs[i]);
    for (int i = 0; i < call->n_outputs; i++)
        bind_alignment(p->m, outputs[i].name, &call->outputs[i]);
    bind_device(p->m);
}

// The values of a variant's pool: those of the function's, by name.
static void enter_pool(kc_interp *m, const kc_expr_pool *pool) {
    int n = kc_expr_symbol_count(pool), n_outer = kc_expr_symbol_count(m->pool);
    int64_t *values = kc_interp_alloc(m, m->func, n + 1, sizeof *values);
    bool *bound = kc_interp_alloc(m, m->func, n + 1, sizeof *bound);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n_outer; k++)
            if (!strcmp(kc_expr_symbol_name(pool, i), kc_expr_symbol_name(m->pool, k)))
                values[i] = m->symbols[k], bound[i] = m->bound[k];
    m->pool = pool;
    m->symbols = values;
    m->bound = bound;
}

static bool holds(kc_interp *m, const kc_op *variant) {
    const kc_expr *when = kc_attr_expr(variant, KC_ATTR_WHEN);
    return !when || kc_interp_eval(m, variant, when) != 0;
}

// ---- buffers ------------------------------------------------------------------------------------

static int output_index(planner *p, const kc_op *op) {
    const kc_output *outputs;
    int n = kc_func_outputs(p->m->func, &outputs);
    const char *name = kc_attr_string(op, KC_ATTR_NAME, "");
    for (int i = 0; i < n; i++)
        if (!strcmp(outputs[i].name, name)) return i;
    kc_interp_fail(p->m, op, "the function has no output '%s'", name);
}

static char *workspace_at(planner *p, const kc_op *op, const kc_type *type) {
    int64_t offset = kc_interp_eval(p->m, op, kc_attr_expr(op, KC_ATTR_OFFSET)), shape[KC_MAX_RANK];
    for (int d = 0; d < type->rank; d++)
        shape[d] = kc_interp_eval(p->m, op, type->shape[d]);
    int64_t bytes = kc_dtype_size(type->elem, kc_interp_elements(p->m, op, type->rank, shape));
    if (offset < 0 || bytes > p->workspace_bytes || offset > p->workspace_bytes - bytes)
        kc_interp_fail(p->m, op, "%lld bytes at %lld lie outside the workspace of %lld",
                       (long long)bytes, (long long)offset, (long long)p->workspace_bytes);
    if (offset % kc_dtype_unit(type->elem))
        kc_interp_fail(p->m, op, "offset %lld is not aligned", (long long)offset);
    return p->workspace + offset;
}

// Memory of a kernel's operand; *array where it is an argument of the function.
static char *memory_of(planner *p, const kc_op *kernel, const kc_value *operand,
                       const kc_interp_array **array) {
    *array = NULL;
    if (operand->block == p->m->func->body) *array = &p->call->inputs[operand->index];
    else if (operand->def && operand->def->code == KC_OP_OUTPUT)
        *array = &p->call->outputs[output_index(p, operand->def)];
    else if (operand->def && operand->def->code == KC_OP_BUFFER)
        return workspace_at(p, operand->def, &operand->type);
    else kc_interp_fail(p->m, kernel, "an operand of the kernel is no memory");
    return (*array)->data;
}

static void check_strides(planner *p, const kc_op *kernel, const kc_tile_buffer *b,
                          const kc_interp_array *array, const char *name) {
    int64_t strides[KC_MAX_RANK];
    kc_interp_strides(array->rank, array->shape, strides);
    bool same_shape = array->rank == b->rank &&
                      !memcmp(array->shape, b->shape, sizeof *b->shape * (size_t)b->rank);
    for (int d = 0; d < array->rank; d++) {
        int64_t given = array->strides ? array->strides[d] : strides[d],
                expected = same_shape ? b->strides[d] : strides[d];
        if (array->shape[d] > 1 && given != expected)
            kc_interp_fail(
                p->m, kernel,
                "argument '%s' has stride %lld in dimension %d, the kernel takes it to be %lld",
                name, (long long)given, d, (long long)expected);
    }
}

static kc_tile_buffer make_buffer(planner *p, const kc_op *kernel, int i) {
    const kc_value *argument = kernel->body->args[i], *operand = kc_operand(kernel, i);
    const kc_type *type = &argument->type;
    const kc_interp_array *array;
    kc_tile_buffer b = {.argument = argument,
                        .data = memory_of(p, kernel, operand, &array),
                        .elem = type->elem,
                        .rank = type->rank};
    if (type->kind != KC_TYPE_TENSOR) { // a scalar, by value
        kc_interp_set(
            p->m, argument,
            kc_interp_load(p->m, kernel, &(kc_interp_array){type->elem, 0, NULL, NULL, b.data}));
        b.data = NULL;
        return b;
    }
    for (int d = 0; d < b.rank; d++)
        b.shape[d] = kc_interp_eval(p->m, kernel, type->shape[d]);
    kc_interp_strides(b.rank, b.shape, b.strides);
    for (int d = 0; type->strides[0] && d < b.rank; d++)
        b.strides[d] = kc_interp_eval(p->m, kernel, type->strides[d]);
    if (array) check_strides(p, kernel, &b, array, operand->name ? operand->name : "?");
    if (i >= kernel->segments[0])
        b.writers = kc_interp_alloc(p->m, kernel, kc_interp_elements(p->m, kernel, b.rank, b.shape),
                                    sizeof *b.writers);
    return b;
}

// ---- kernels ------------------------------------------------------------------------------------

static bool in_tensor_form(const kc_op *kernel) {
    const kc_op *last = kernel->body->last;
    return last && kc_op_has(last, KC_TERMINATOR) && last->n_operands > 0;
}

static kc_interp_array array_of(const kc_tile_buffer *b) {
    return (kc_interp_array){b->elem, b->rank, b->shape, b->strides, b->data};
}

static void store_result(planner *p, const kc_op *kernel, const kc_interp_value *v,
                         const kc_tile_buffer *b) {
    kc_interp_array array = array_of(b);
    kc_interp_cursor c = kc_interp_start(&array);
    if (v->n != kc_interp_elements(p->m, kernel, b->rank, b->shape))
        kc_interp_fail(p->m, kernel, "a result has not the shape of its output");
    for (int64_t i = 0; i < v->n; i++, kc_interp_advance(&c)) {
        double x = !v->f ? 0 : v->unrounded ? kc_dtype_round(v->elem, v->f[i]) : v->f[i];
        if (v->f) kc_dtype_put(v->elem, b->data, c.at, x);
        else kc_dtype_put_i64(v->elem, b->data, c.at, v->i[i]);
    }
}

// What it means, on what is in memory.
static void run_tensor_form(planner *p, const kc_op *kernel) {
    int inputs = kernel->segments[0], outputs = kernel->segments[1];
    kc_interp_value **results = kc_interp_alloc(p->m, kernel, outputs + 1, sizeof *results);
    for (int i = 0; i < inputs; i++) {
        kc_tile_buffer b = make_buffer(p, kernel, i);
        kc_interp_array array = array_of(&b);
        if (b.data)
            kc_interp_set(p->m, kernel->body->args[i], kc_interp_load(p->m, kernel, &array));
    }
    kc_interp_block(p->m, kernel->body, outputs, results);
    for (int i = 0; i < outputs; i++) {
        const kc_interp_array *array;
        const kc_value *operand = kc_operand(kernel, inputs + i);
        char *data = memory_of(p, kernel, operand, &array);
        kc_tile_buffer b = {.data = data, .elem = operand->type.elem, .rank = operand->type.rank};
        for (int d = 0; d < b.rank; d++)
            b.shape[d] = kc_interp_eval(p->m, kernel, operand->type.shape[d]);
        kc_interp_strides(b.rank, b.shape, b.strides);
        for (int d = 0; array && array->strides && d < b.rank; d++)
            b.strides[d] = array->strides[d];
        store_result(p, kernel, results[i], &b);
        kc_interp_drop(p->m, results[i]);
    }
    kc_interp_free(p->m, results);
}

static void run_kernel(planner *p, const kc_op *kernel) {
    if (in_tensor_form(kernel)) {
        run_tensor_form(p, kernel);
        return;
    }
    const kc_expr *grid = kc_attr_expr(kernel, KC_ATTR_GRID);
    int n = kernel->n_operands;
    kc_tile_machine t = {.m = p->m,
                         .kernel = kernel,
                         .buffers = kc_interp_alloc(p->m, kernel, n + 1, sizeof *t.buffers)};
    if (!grid)
        kc_interp_fail(p->m, kernel, "kernel %s has no grid",
                       kc_attr_string(kernel, KC_ATTR_NAME, ""));
    int64_t programs = kc_interp_eval(p->m, kernel, grid);
    if (programs < 0)
        kc_interp_fail(p->m, kernel, "kernel %s has a grid of %lld",
                       kc_attr_string(kernel, KC_ATTR_NAME, ""), (long long)programs);
    for (int i = 0; i < n && programs; i++)
        t.buffers[i] = make_buffer(p, kernel, i);
    if (programs) kc_tile_shared_begin(&t);
    for (t.program = 0; t.program < programs; t.program++) {
        kc_tile_shared_clear(&t);
        kc_tile_block(&t, kernel->body, 0, NULL);
        kc_tile_async_end(&t);
    }
}

// ---- variants -----------------------------------------------------------------------------------

static void run_variant(planner *p, const kc_op *variant) {
    kc_interp *m = p->m;
    enter_pool(m, variant->pool);
    if (kc_variant_computes(variant)) {
        const kc_tile_call *call = p->call;
        kc_interp_scope(m, variant, &(kc_interp_call){.inputs = call->inputs,
                                                      .outputs = call->outputs,
                                                      .n_inputs = call->n_inputs,
                                                      .n_outputs = call->n_outputs});
        return;
    }
    const kc_expr *bytes = kc_attr_expr(variant, KC_ATTR_WORKSPACE);
    p->workspace_bytes = bytes ? kc_interp_eval(m, variant, bytes) : 0;
    if (p->workspace_bytes < 0)
        kc_interp_fail(m, variant, "the workspace has %lld bytes", (long long)p->workspace_bytes);
    char *room = kc_interp_alloc(m, variant, p->workspace_bytes + 256, 1);
    p->workspace = room + (256 - (uintptr_t)room % 256); // as the runtime aligns it
    memset(p->workspace, 0xff, (size_t)p->workspace_bytes);
    for (const kc_op *op = variant->body->first; op; op = op->next) {
        if (op->code == KC_OP_KERNEL) run_kernel(p, op);
        else if (op->code != KC_OP_OUTPUT && op->code != KC_OP_BUFFER &&
                 !kc_op_has(op, KC_TERMINATOR))
            kc_interp_fail(m, op, "%s has no meaning between kernels", kc_op_row(op)->name);
    }
}

static int run(kc_interp *m, const kc_tile_call *call) {
    planner p = {.m = m, .call = call};
    int index = 0;
    bind_all(&p);
    for (const kc_op *op = m->func->body->first; op; op = op->next) {
        if (op->code != KC_OP_VARIANT) continue;
        bool wanted = call->variant < 0 || call->variant == index;
        if (wanted && holds(m, op)) {
            run_variant(&p, op);
            return index;
        }
        if (call->variant == index) return -1;
        index++;
    }
    if (call->variant >= 0 && index)
        kc_interp_fail(m, m->func, "there is no variant %d; there are %d", call->variant, index);
    kc_interp_fail(m, m->func,
                   index ? "no variant holds for these arguments"
                         : "it has no variants: run the reference interpreter");
}

static bool guarded(kc_interp *m, kc_tile_call *call) {
    if (setjmp(m->trouble)) return false;
    call->ran = run(m, call);
    return true;
}

bool kc_tile_run(const kc_module *module, const char *function, kc_tile_call *call, kc_diag *diag) {
    const kc_op *func = kc_func_find(module, function);
    call->ran = -1;
    if (!func) {
        kc_report(diag, KC_ERROR, (kc_loc){0, 0}, "the module has no function @%s", function);
        return false;
    }
    kc_interp m = {.func = func,
                   .pool = func->pool,
                   .max_bytes = call->max_bytes ? call->max_bytes : KC_INTERP_MEMORY};
    bool ok = guarded(&m, call);
    kc_interp_close(&m);
    if (!ok) kc_report(diag, KC_ERROR, m.loc, "@%s: %s", function, m.text);
    return ok;
}
