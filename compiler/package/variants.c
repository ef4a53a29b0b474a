// A walk over the variants of a planned function. Kernels are launched as code generation reads
// them: programs along x, warps * warp size threads, shared memory all dynamic, parameters in the
// order of kc_kernel_params.
#include "compiler/package/variants.h"

#include <string.h>

#include "compiler/package/manifest.h"
#include "ir/kernel_params.h"

typedef struct {
    kc_json json;
    kc_arena *arena;
    const kc_target *target;
    const kc_images *images;
} writer;

// ---- arguments ----------------------------------------------------------------------------------

// The function argument that a kernel's operand is; NULL for a buffer.
static const char *argument_name(const kc_value *operand) {
    if (!operand->def) return operand->name;
    return operand->def->code == KC_OP_OUTPUT ? kc_attr_string(operand->def, KC_ATTR_NAME, NULL)
                                              : NULL;
}

static void write_pointer(writer *w, const kc_op *kernel, const kc_param *param) {
    const char *name = argument_name(param->operand), *hash = kc_constant_hash(param->operand);
    if (hash) {
        char constant[KC_CONSTANT_NAME];
        kc_constant_name(hash, constant);
        kc_json_put_string(&w->json, "constant", constant);
        return;
    }
    if (name) {
        kc_json_put_string(&w->json, "pointer", name);
        return;
    }
    const kc_op *buffer = param->operand->def;
    if (!buffer || buffer->code != KC_OP_BUFFER)
        kc_bug("kernel %s is given a value that is neither an argument nor a buffer",
               kc_attr_string(kernel, KC_ATTR_NAME, "?"));
    kc_json_key(&w->json, "workspace");
    kc_json_expr(&w->json, kc_op_pool(buffer), kc_attr_expr(buffer, KC_ATTR_OFFSET));
}

static void write_argument(writer *w, const kc_op *kernel, const kc_param *param) {
    kc_json_open(&w->json, '{');
    if (param->kind == KC_PARAM_POINTER) {
        write_pointer(w, kernel, param);
    } else if (param->kind == KC_PARAM_SCALAR) {
        if (!argument_name(param->operand))
            kc_bug("a scalar parameter that is no argument of the function");
        kc_json_put_string(&w->json, "scalar", argument_name(param->operand));
    } else {
        kc_json_put_string(&w->json, "expr",
                           kc_expr_symbol_name(kc_op_pool(kernel), param->symbol));
        kc_json_put_string(&w->json, "type", "i64");
    }
    kc_json_close(&w->json, '}');
}

static void write_arguments(writer *w, const kc_op *kernel) {
    kc_param *params;
    int n = kc_kernel_params(w->arena, kernel, &params);
    kc_json_key(&w->json, "args");
    kc_json_open(&w->json, '[');
    for (int i = 0; i < n; i++)
        write_argument(w, kernel, &params[i]);
    kc_json_close(&w->json, ']');
}

// ---- steps --------------------------------------------------------------------------------------

static int threads_of(const writer *w, const kc_op *kernel) {
    return (int)kc_attr_int(kernel, KC_ATTR_WARPS, 4) * kc_target_warp_size(w->target);
}

static void write_step(writer *w, const kc_op *kernel) {
    kc_json *j = &w->json;
    kc_json_open(j, '{');
    kc_json_put_string(j, "kernel", kc_attr_string(kernel, KC_ATTR_NAME, ""));
    kc_json_key(j, "grid");
    kc_json_open(j, '[');
    const kc_expr *grid = kc_attr_expr(kernel, KC_ATTR_GRID);
    if (grid) kc_json_expr(j, kc_op_pool(kernel), grid);
    else kc_json_int(j, 1);
    kc_json_int(j, 1);
    kc_json_int(j, 1);
    kc_json_close(j, ']');
    kc_json_key(j, "block");
    kc_json_open(j, '[');
    kc_json_int(j, threads_of(w, kernel));
    kc_json_int(j, 1);
    kc_json_int(j, 1);
    kc_json_close(j, ']');
    int64_t shared = kc_attr_int(kernel, KC_ATTR_SHARED, 0);
    if (shared) kc_json_put_int(j, "shared", shared);
    write_arguments(w, kernel);
    kc_json_close(j, '}');
}

static void write_steps(writer *w, const kc_op *variant) {
    kc_json_key(&w->json, "steps");
    kc_json_open(&w->json, '[');
    for (const kc_op *op = variant->body->first; op; op = op->next)
        if (op->code == KC_OP_KERNEL) write_step(w, op);
    kc_json_close(&w->json, ']');
}

// ---- what people look at ------------------------------------------------------------------------

static const kc_kernel_resources *find_resources(const kc_images *images, const char *kernel) {
    for (int i = 0; images && i < images->n_kernels; i++)
        if (!strcmp(images->kernels[i].kernel, kernel)) return &images->kernels[i];
    return NULL;
}

static void put_known(kc_json *j, const char *key, int64_t value) {
    if (value >= 0) kc_json_put_int(j, key, value);
}

// `shared` counts what a launch asks for too, so that it says what a block occupies.
static void write_resources_of(writer *w, const kc_op *kernel, const kc_kernel_resources *r) {
    kc_json *j = &w->json;
    kc_json_key(j, r->kernel);
    kc_json_open(j, '{');
    put_known(j, "registers", r->registers);
    put_known(j, "scalar_registers", r->scalar_registers);
    put_known(j, "spills", r->spills);
    put_known(j, "stack", r->stack);
    if (r->shared >= 0)
        kc_json_put_int(j, "shared", r->shared + kc_attr_int(kernel, KC_ATTR_SHARED, 0));
    kc_json_close(j, '}');
}

static void write_resources(writer *w, const kc_op *variant) {
    bool open = false;
    for (const kc_op *op = variant->body->first; op; op = op->next) {
        if (op->code != KC_OP_KERNEL) continue;
        const kc_kernel_resources *r =
            find_resources(w->images, kc_attr_string(op, KC_ATTR_NAME, ""));
        if (!r) continue;
        if (!open) {
            kc_json_key(&w->json, "resources");
            kc_json_open(&w->json, '{');
            open = true;
        }
        write_resources_of(w, op, r);
    }
    if (open) kc_json_close(&w->json, '}');
}

static void write_choice(kc_json *j, const kc_attr *attr) {
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_INT: kc_json_put_int(j, kc_attr_table[attr->key].name, attr->integer); break;
    case KC_KIND_STRING: kc_json_put_string(j, kc_attr_table[attr->key].name, attr->string); break;
    case KC_KIND_INTS:
        kc_json_key(j, kc_attr_table[attr->key].name);
        kc_json_open(j, '[');
        for (int i = 0; i < attr->count; i++)
            kc_json_int(j, attr->integers[i]);
        kc_json_close(j, ']');
        break;
    default: break; // the grid is in the step
    }
}

// Every attribute of the kernel but those that the steps have.
static void write_schedule(writer *w, const kc_op *variant) {
    kc_json *j = &w->json;
    const char *reason = kc_attr_string(variant, KC_ATTR_REASON, NULL);
    kc_json_key(j, "schedule");
    kc_json_open(j, '{');
    if (reason) kc_json_put_string(j, "reason", reason);
    kc_json_key(j, "kernels");
    kc_json_open(j, '{');
    for (const kc_op *op = variant->body->first; op; op = op->next) {
        if (op->code != KC_OP_KERNEL) continue;
        kc_json_key(j, kc_attr_string(op, KC_ATTR_NAME, ""));
        kc_json_open(j, '{');
        for (int i = 0; i < op->n_attrs; i++) // reasons are for `--explain`, which changes no byte
            if (op->attrs[i].key != KC_ATTR_NAME && op->attrs[i].key != KC_ATTR_SHARED &&
                op->attrs[i].key != KC_ATTR_REASON)
                write_choice(j, &op->attrs[i]);
        kc_json_close(j, '}');
    }
    kc_json_close(j, '}');
    kc_json_close(j, '}');
}

// ---- variants -----------------------------------------------------------------------------------

static bool is_zero(const kc_expr *expr) {
    int64_t value;
    return kc_expr_is_const(expr, &value) && value == 0;
}

static void write_variant(writer *w, const kc_op *variant) {
    kc_json *j = &w->json;
    const kc_expr *when = kc_attr_expr(variant, KC_ATTR_WHEN),
                  *workspace = kc_attr_expr(variant, KC_ATTR_WORKSPACE);
    kc_json_open(j, '{');
    if (when) {
        kc_json_key(j, "when");
        kc_json_expr(j, kc_attr_pool(variant, KC_ATTR_WHEN), when);
    }
    if (workspace && !is_zero(workspace)) {
        kc_json_key(j, "workspace");
        kc_json_expr(j, variant->pool, workspace);
    }
    write_steps(w, variant);
    write_resources(w, variant);
    write_schedule(w, variant);
    kc_json_close(j, '}');
}

void kc_variants_write(FILE *out, const kc_op *func, const kc_target *target,
                       const kc_images *images) {
    writer w = {kc_json_to(out, 0), kc_arena_create(), target, images};
    kc_json_open(&w.json, '[');
    for (const kc_op *op = func->body->first; op; op = op->next)
        if (op->code == KC_OP_VARIANT) write_variant(&w, op);
    kc_json_close(&w.json, ']');
    kc_arena_destroy(w.arena);
}

// ---- explain ------------------------------------------------------------------------------------

static void print_expr(FILE *out, const kc_expr_pool *pool, const kc_expr *expr) {
    char text[1024];
    kc_expr_print(pool, expr, text, sizeof text);
    fputs(text, out);
}

static void explain_attr(FILE *out, const kc_attr *attr) {
    const char *name = kc_attr_table[attr->key].name;
    switch (kc_attr_table[attr->key].kind) {
    case KC_KIND_INT: fprintf(out, ", %s %lld", name, (long long)attr->integer); break;
    case KC_KIND_STRING: fprintf(out, ", %s %s", name, attr->string); break;
    case KC_KIND_INTS:
        fprintf(out, ", %s", name);
        for (int i = 0; i < attr->count; i++)
            fprintf(out, "%s%lld", i ? "x" : " ", (long long)attr->integers[i]);
        break;
    default: break;
    }
}

static bool said_before(const kc_op *kernel, const char *reason) {
    const kc_op *here = kc_op_parent(kernel);
    for (const kc_op *v = here->block->first; v != here; v = v->next) {
        if (v->code != KC_OP_VARIANT) continue;
        for (const kc_op *k = v->body->first; k; k = k->next)
            if (k->code == KC_OP_KERNEL &&
                strcmp(kc_attr_string(k, KC_ATTR_REASON, ""), reason) == 0)
                return true;
    }
    return false;
}

// The reason of a kernel's schedule has a line a candidate; variants often share it.
static void explain_reason(FILE *out, const kc_op *kernel) {
    const char *reason = kc_attr_string(kernel, KC_ATTR_REASON, NULL);
    if (!reason || said_before(kernel, reason)) return;
    for (const char *line = reason; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(out, "      %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void explain_kernel(FILE *out, const kc_op *kernel) {
    const kc_expr *grid = kc_attr_expr(kernel, KC_ATTR_GRID);
    fprintf(out, "    %s: grid ", kc_attr_string(kernel, KC_ATTR_NAME, "?"));
    if (grid) print_expr(out, kc_op_pool(kernel), grid);
    else fputc('1', out);
    for (int i = 0; i < kernel->n_attrs; i++)
        if (kernel->attrs[i].key != KC_ATTR_NAME && kernel->attrs[i].key != KC_ATTR_REASON)
            explain_attr(out, &kernel->attrs[i]);
    fputc('\n', out);
    explain_reason(out, kernel);
}

static void explain_variant(FILE *out, const kc_op *variant, int index) {
    const kc_expr *when = kc_attr_expr(variant, KC_ATTR_WHEN),
                  *workspace = kc_attr_expr(variant, KC_ATTR_WORKSPACE);
    fprintf(out, "  variant %d (%s): ", index,
            kc_attr_string(variant, KC_ATTR_REASON, "no reason given"));
    if (when) print_expr(out, kc_attr_pool(variant, KC_ATTR_WHEN), when);
    else fputs("always", out);
    if (workspace && !is_zero(workspace)) {
        fputs(", workspace ", out);
        print_expr(out, variant->pool, workspace);
    }
    fputc('\n', out);
    for (const kc_op *op = variant->body->first; op; op = op->next)
        if (op->code == KC_OP_KERNEL) explain_kernel(out, op);
}

void kc_variants_explain(FILE *out, const kc_op *func, const kc_target *target) {
    fprintf(out, "%s for %s:%s\n", kc_func_name(func), target->kind->name, target->arch->name);
    int index = 0;
    for (const kc_op *op = func->body->first; op; op = op->next)
        if (op->code == KC_OP_VARIANT) explain_variant(out, op, index++);
}
