// plan: the fusions of variants become kernels, with buffers for what passes between them.
//
// before:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647, align.x, align.y} {
//     variant {when = N % 4 == 0 and align.x >= 16 and align.y >= 16, aligned = ["x", "y"], reason = "whole vectors"} dims {N: 0..2147483644 multiple 4} {
//     ^(%x: f32[N]):
//       %y = fusion %x : f32[N] {
//       ^(%x: f32[N]):
//         %y = exp %x : f32[N]
//         yield %y
//       }
//       return %y
//     }
//     variant {reason = "any sizes"} {
//     ^(%x: f32[N]):
//       %y = fusion %x : f32[N] {
//       ^(%x: f32[N]):
//         %y = exp %x : f32[N]
//         yield %y
//       }
//       return %y
//     }
//   }
// after:
//   module @m {target = "cuda:sm_80"}
//   func @f(%x: f32[N]) -> (y: f32[N]) dims {N: 0..2147483647, align.x, align.y} {
//     variant {when = N % 4 == 0 and align.x >= 16 and align.y >= 16, workspace = 0, aligned = ["x", "y"], reason = "whole vectors"} dims {N: 0..2147483644 multiple 4} {
//       %y = output {name = "y"} : f32[N]
//       kernel inputs(%x) outputs(%y) {name = "f_v0_k0"} {
//       ^(%x: f32[N], %y: f32[N]):
//         %y_1 = exp %x : f32[N]
//         yield %y_1
//       }
//     }
//     variant {workspace = 0, reason = "any sizes"} {
//       %y_1 = output {name = "y"} : f32[N]
//       kernel inputs(%x) outputs(%y_1) {name = "f_v1_k0"} {
//       ^(%x: f32[N], %y: f32[N]):
//         %y_1 = exp %x : f32[N]
//         yield %y_1
//       }
//     }
//   }
//
// Requires variants and fusions. An output that may occupy an input's memory is written directly
// only by the last kernel that reads that input, and only if it reads each element where it writes
// it; else it is written to the workspace and copied last. So does the new content of an inout,
// whose memory is always that of the old one.
#include "passes/plan.h"

#include <string.h>

typedef struct {
    kc_pass_context *pass;
    kc_op *func, *variant;
    kc_op **fusions;
    int n_fusions;
    kc_op *ret;
    kc_builder build;
    kc_workspace *workspace;
    int n_kernels, index;
} planner;

static int index_of(const planner *p, const kc_op *fusion) {
    for (int i = 0; i < p->n_fusions; i++)
        if (p->fusions[i] == fusion) return i;
    return -1;
}

static int last_reader(const planner *p, const kc_value *v) {
    int last = -1;
    for (const kc_use *use = v->uses; use; use = use->next)
        if (use->user->code == KC_OP_FUSION && index_of(p, use->user) > last)
            last = index_of(p, use->user);
    return last;
}

static kc_value *input_named(const planner *p, const char *name) {
    const kc_block *body = p->variant->body;
    for (int i = 0; i < body->n_args; i++)
        if (strcmp(body->args[i]->name, name) == 0) return body->args[i];
    kc_bug("function %s has no input %s to share memory with", kc_func_name(p->func), name);
}

// Whether writing output o from fusion f may not disturb anyone's reading of the input it shares
// memory with.
static bool safe_in_place(const planner *p, const kc_output *o, int f) {
    if (!o->alias) return true;
    const kc_op *fusion = p->fusions[f];
    kc_value *input = input_named(p, o->alias);
    if (last_reader(p, input) > f) return false;
    for (int i = 0; i < fusion->n_operands; i++)
        if (kc_operand(fusion, i) == input &&
            !kc_plan_reads_in_place(p->pass->scratch, fusion, fusion->body->args[i]))
            return false;
    return true;
}

static kc_type import_type(const planner *p, const kc_type *type) {
    return kc_type_import(p->variant->pool, p->func->pool, type);
}

static kc_value *make_output(planner *p, const kc_output *o) {
    kc_value *v = kc_build_1(&p->build, KC_OP_OUTPUT, import_type(p, &o->type), 0, NULL);
    kc_attr_set_string(p->pass->module, v->def, KC_ATTR_NAME, o->name);
    v->name = o->name;
    return v;
}

static kc_value *make_buffer(planner *p, const kc_value *result, int first, int last) {
    const kc_expr *bytes = kc_type_bytes(p->variant->pool, &result->type);
    kc_value *v = kc_build_1(&p->build, KC_OP_BUFFER, result->type, 0, NULL);
    kc_attr_set_expr(v->def, KC_ATTR_OFFSET, kc_workspace_place(p->workspace, bytes, first, last));
    v->name = result->name;
    return v;
}

// ---- kernels ------------------------------------------------------------------------------------

static kc_op *make_kernel(planner *p, int n_inputs, kc_value *const *inputs, int n_outputs,
                          kc_value *const *outputs, kc_loc loc) {
    kc_value **operands = KC_NEW_ARRAY(p->pass->scratch, kc_value *, n_inputs + n_outputs + 1);
    if (n_inputs) memcpy(operands, inputs, sizeof *inputs * (size_t)n_inputs);
    memcpy(operands + n_inputs, outputs, sizeof *outputs * (size_t)n_outputs);
    p->build.loc = loc;
    kc_op *kernel = kc_build(&p->build, KC_OP_KERNEL, n_inputs + n_outputs, operands, 0, NULL);
    kc_op_set_segments(kernel, (int[]){n_inputs, n_outputs});
    const char *name = kc_arena_printf(p->pass->scratch, "%s_v%d_k%d", kc_func_name(p->func),
                                       p->index, p->n_kernels++);
    kc_attr_set_string(p->pass->module, kernel, KC_ATTR_NAME, name);
    kc_op_add_body(p->pass->module, kernel);
    return kernel;
}

// The types of the body's arguments are those of the operands; a function's argument has one in the
// function's pool.
static kc_value *add_argument(planner *p, kc_op *kernel, kc_value *operand, const char *name) {
    kc_type type = operand->def ? operand->type : import_type(p, &operand->type);
    return kc_block_add_arg(p->pass->module, kernel->body, type, name);
}

static void add_output_arguments(planner *p, kc_op *kernel) {
    for (int i = kernel->segments[0]; i < kernel->n_operands; i++)
        add_argument(p, kernel, kc_operand(kernel, i), kc_operand(kernel, i)->name);
}

static void copy_result(planner *p, kc_value *from, kc_value *to) {
    kc_op *kernel = make_kernel(p, 1, &from, 1, &to, p->ret->loc);
    kc_value *in = add_argument(p, kernel, from, from->name);
    add_output_arguments(p, kernel);
    kc_builder inner = kc_builder_at_end(p->pass->module, kernel->body, p->ret->loc);
    kc_build(&inner, KC_OP_YIELD, 1, &in, 0, NULL);
}

typedef struct {
    kc_value *from, *to;
} late_copy;

// Where each result goes: the outputs that it is, else a buffer. results[] says which result each
// destination takes.
static int destinations(planner *p, int f, kc_value **to, int *results, late_copy *late,
                        int *n_late) {
    kc_op *fusion = p->fusions[f];
    const kc_output *outputs;
    int n_outputs = kc_func_outputs(p->func, &outputs), n = 0;
    for (int r = 0; r < fusion->n_results; r++) {
        kc_value *result = kc_result(fusion, r), *readable = NULL, *buffer = NULL;
        int last = last_reader(p, result);
        for (int o = 0; o < n_outputs; o++) {
            if (kc_operand(p->ret, o) != result) continue;
            if (safe_in_place(p, &outputs[o], f)) {
                to[n] = make_output(p, &outputs[o]), results[n++] = r;
                if (!outputs[o].alias || kc_output_is_inout(&outputs[o])) readable = to[n - 1];
                continue;
            }
            if (!buffer) to[n] = buffer = make_buffer(p, result, f, p->n_fusions), results[n++] = r;
            late[(*n_late)++] = (late_copy){buffer, NULL};
            late[*n_late - 1].to = make_output(p, &outputs[o]);
        }
        if (!readable && !buffer && (last >= 0 || n == 0 || results[n - 1] != r))
            to[n] = buffer = make_buffer(p, result, f, last), results[n++] = r;
        result->data = buffer ? buffer : readable;
    }
    return n;
}

static void build_kernel(planner *p, int f, late_copy *late, int *n_late) {
    kc_op *fusion = p->fusions[f], *yield = fusion->body->last;
    int most = fusion->n_results + p->ret->n_operands + 1;
    kc_value **to = KC_NEW_ARRAY(p->pass->scratch, kc_value *, most),
             **yields = KC_NEW_ARRAY(p->pass->scratch, kc_value *, most);
    kc_value **inputs = KC_NEW_ARRAY(p->pass->scratch, kc_value *, fusion->n_operands + 1);
    int *results = KC_NEW_ARRAY(p->pass->scratch, int, most),
        n = destinations(p, f, to, results, late, n_late);
    for (int i = 0; i < fusion->n_operands; i++) {
        kc_value *v = kc_operand(fusion, i);
        inputs[i] = v->def ? v->data : p->func->body->args[v->index];
    }
    kc_op *kernel = make_kernel(p, fusion->n_operands, inputs, n, to, fusion->loc);
    kc_clone *clone = kc_clone_begin(p->pass->module, p->variant->pool, p->variant->pool);
    for (int i = 0; i < fusion->n_operands; i++)
        kc_clone_map(clone, fusion->body->args[i],
                     add_argument(p, kernel, inputs[i], fusion->body->args[i]->name));
    add_output_arguments(p, kernel);
    kc_builder inner = kc_builder_at_end(p->pass->module, kernel->body, fusion->loc);
    KC_FOR_OPS(op, fusion->body)
        if (op != yield) kc_clone_op(clone, &inner, op);
    for (int i = 0; i < n; i++)
        yields[i] = kc_clone_value(clone, kc_operand(yield, results[i]));
    inner.loc = yield->loc;
    kc_build(&inner, KC_OP_YIELD, n, yields, 0, NULL);
    kc_clone_end(clone);
    kc_plan_schedule(p->pass, p->variant, kernel);
}

// ---- variants -----------------------------------------------------------------------------------

static void erase_tensor_body(planner *p) {
    kc_op_erase(p->ret);
    for (int i = p->n_fusions - 1; i >= 0; i--)
        kc_op_erase(p->fusions[i]);
    KC_FOR_OPS(op, p->variant->body)
        if (op->code == KC_OP_SCHEDULE) kc_op_erase(op);
    kc_block_drop_args(p->variant->body);
}

static void build_kernels(planner *p) {
    late_copy *late = KC_NEW_ARRAY(p->pass->scratch, late_copy, p->ret->n_operands + 1);
    int n_late = 0;
    for (int f = 0; f < p->n_fusions; f++)
        build_kernel(p, f, late, &n_late);
    for (int i = 0; i < n_late; i++)
        copy_result(p, late[i].from, late[i].to);
    kc_attr_set_expr(p->variant, KC_ATTR_WORKSPACE, kc_workspace_bytes(p->workspace));
}

static void collect_fusions(planner *p) {
    KC_FOR_OPS(op, p->variant->body)
        p->n_fusions += op->code == KC_OP_FUSION;
    p->fusions = KC_NEW_ARRAY(p->pass->scratch, kc_op *, p->n_fusions + 1);
    int f = 0;
    KC_FOR_OPS(op, p->variant->body)
        if (op->code == KC_OP_FUSION) p->fusions[f++] = op;
}

static bool plan_variant(kc_pass_context *pass, kc_op *variant, int index) {
    planner p = {.pass = pass,
                 .func = kc_op_parent(variant),
                 .variant = variant,
                 .ret = variant->body->last,
                 .build = kc_builder_before(pass->module, variant->body->last),
                 .workspace = kc_workspace_create(pass->scratch, variant->pool),
                 .index = index};
    p.build.loc = p.func->loc;
    if (!kc_plan_check_schedules(pass, variant)) return false;
    kc_plan_widen(pass->module, variant);
    collect_fusions(&p);
    build_kernels(&p);
    erase_tensor_body(&p);
    return true;
}

// Variants have the same schedules: what is wrong with one of them is said once.
static bool plan_function(kc_pass_context *pass, kc_op *func) {
    int index = 0;
    KC_FOR_OPS(variant, func->body)
        if (!plan_variant(pass, variant, index++)) return false;
    return true;
}

static bool run(kc_pass_context *pass) {
    bool ok = true;
    KC_FOR_OPS(func, pass->module->body)
        ok = plan_function(pass, func) && ok;
    return ok;
}

const kc_pass kc_pass_plan = {
    .name = "plan",
    .meaning = "fusions become kernels; buffers get places",
    .level_in = KC_LEVEL_TENSOR,
    .level_out = KC_LEVEL_TENSOR,
    .needs_target = true,
    .run = run,
};
