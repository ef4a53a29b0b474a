// A launch: check and bind the arguments, take the first variant that holds, evaluate its steps,
// hand them to the device.
//
// Nothing is allocated here (but a growing workspace pool), and nothing is looked up: kernels were
// resolved when the module was loaded, and expressions were parsed then.
#include <string.h>

#include "runtime/object.h"

typedef struct {
    const kcrt_function *f;
    void *const *args;
    const kcrt_bound *bound;
    void *workspace;
    size_t workspace_bytes; // what the variant asked for
    void *stream;           // the device's
} launch;

static kcrt_status failed(const kcrt_function *f, const char *thing, const char *name,
                          kc_expr_status e) {
    return kcrt_fail(KCRT_INVALID_ARGUMENT,
                     "%s: the %s of `%s` cannot be computed for these arguments: %s.",
                     f->signature->name, thing, name, kc_expr_status_text(e));
}

// A count of something: 0 to `most`.
static kcrt_status eval_count(const launch *l, const kcrt_term *term, const char *thing,
                              const char *name, uint64_t most, uint64_t *out) {
    int64_t value = 0;
    kc_expr_status e = kcrt_term_eval(term, l->bound->values, &value);
    if (e) return failed(l->f, thing, name, e);
    *out = (uint64_t)value;
    if (value >= 0 && *out <= most) return KCRT_OK;
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s: the %s of `%s` would be %lld; the limit is %llu.",
                     l->f->signature->name, thing, name, (long long)value,
                     (unsigned long long)most);
}

// ---- Choosing -----------------------------------------------------------------------------------

static kcrt_status choose(const kcrt_function *f, const kcrt_bound *bound, int *variant,
                          uint64_t *workspace) {
    const kcrt_target *target = f->target;
    launch l = {.f = f, .bound = bound};
    for (int v = 0; v < target->variant_count; v++) {
        int64_t holds = 1;
        kc_expr_status e = target->variants[v].has_when
                               ? kcrt_term_eval(&target->variants[v].when, bound->values, &holds)
                               : KC_EXPR_OK;
        if (e) return failed(f, "condition", "when", e);
        if (!holds) continue;
        *variant = v;
        return eval_count(&l, &target->variants[v].workspace, "size", "workspace", SIZE_MAX / 2,
                          workspace);
    }
    return kcrt_fail(
        KCRT_INVALID_ARGUMENT,
        "%s: none of the %d variants for %s is for these sizes, strides and alignments.",
        f->signature->name, target->variant_count, target->arch);
}

// ---- Steps --------------------------------------------------------------------------------------

static kcrt_status eval_place(const launch *l, const kcrt_step_place *place, void **base,
                              uint64_t *offset) {
    const char *name = place->arg < 0 ? "workspace" : l->f->signature->args[place->arg].name;
    kcrt_status status = eval_count(l, &place->offset, "offset", name,
                                    place->arg < 0 ? l->workspace_bytes : UINT64_MAX / 4, offset);
    if (status) return status;
    *base = l->workspace;
    if (place->arg < 0) return KCRT_OK;
    const DLTensor *t = l->args[place->arg];
    *base = t->data;
    *offset += t->byte_offset;
    return KCRT_OK;
}

static kcrt_status eval_expr_param(const launch *l, const kcrt_param *param, const char *kernel,
                                   kcrt_kernel_arg *out) {
    int64_t value = 0;
    kc_expr_status e = kcrt_term_eval(&param->expr, l->bound->values, &value);
    if (e) return failed(l->f, "arguments", kernel, e);
    if (param->size == 4 && value != (int32_t)value)
        return kcrt_fail(KCRT_INVALID_ARGUMENT,
                         "%s: an argument of `%s` would be %lld, which does not fit in 32 bits.",
                         l->f->signature->name, kernel, (long long)value);
    out->value = (uint64_t)value;
    return KCRT_OK;
}

static kcrt_status eval_param(const launch *l, const kcrt_param *param, const char *kernel,
                              kcrt_kernel_arg *out) {
    const kcrt_module *m = l->f->module;
    out->size = (uint32_t)param->size;
    out->is_memory = param->kind == KCRT_PARAM_PLACE || param->kind == KCRT_PARAM_CONSTANT;
    out->value = 0;
    switch (param->kind) {
    case KCRT_PARAM_PLACE: return eval_place(l, &param->place, &out->base, &out->value);
    case KCRT_PARAM_EXPR: return eval_expr_param(l, param, kernel, out);
    case KCRT_PARAM_SCALAR: memcpy(&out->value, l->args[param->index], (size_t)param->size); break;
    case KCRT_PARAM_CONSTANT:
        out->base = m->constants[m->manifest.constants[param->index].image];
        out->value = m->manifest.constants[param->index].offset;
        break;
    }
    return KCRT_OK;
}

static kcrt_status run_kernel(const launch *l, const kcrt_step *step, void *kernel) {
    kcrt_kernel_arg args[KCRT_MAX_KERNEL_ARGS];
    kcrt_launch_shape shape;
    uint64_t value = 0;
    kcrt_status status = KCRT_OK;
    for (int i = 0; i < 3 && !status; i++) {
        status = eval_count(l, &step->grid[i], "grid", step->kernel, INT32_MAX, &value);
        if (!status && !value) return KCRT_OK; // an empty result starts no kernel
        shape.grid[i] = (uint32_t)value;
    }
    memcpy(shape.block, step->block, sizeof shape.block);
    memcpy(shape.cluster, step->cluster, sizeof shape.cluster);
    if (!status)
        status = eval_count(l, &step->shared, "shared memory", step->kernel, INT32_MAX, &value);
    shape.dynamic_shared = (uint32_t)value;
    for (int i = 0; i < step->param_count && !status; i++)
        status = eval_param(l, &step->params[i], step->kernel, &args[i]);
    if (status) return status;
    kcrt_device *device = l->f->module->device;
    return kcrt_from_device(device->api, device->api->launch(device->handle, kernel, &shape, args,
                                                             step->param_count, l->stream));
}

static kcrt_status run_memory_step(const launch *l, const kcrt_step *step) {
    kcrt_device *device = l->f->module->device;
    const kcrt_device_api *api = device->api;
    void *to = NULL, *from = NULL;
    uint64_t to_offset = 0, from_offset = 0, bytes = 0;
    bool is_copy = step->kind == KCRT_STEP_COPY;
    kcrt_status status = eval_place(l, &step->to, &to, &to_offset);
    if (!status && is_copy) status = eval_place(l, &step->from, &from, &from_offset);
    if (!status)
        status = eval_count(l, &step->bytes, "length", is_copy ? "copy" : "memset", SIZE_MAX / 2,
                            &bytes);
    if (status || !bytes) return status;
    if (is_copy)
        return kcrt_from_device(api, api->copy(device->handle, KCRT_DEVICE_TO_DEVICE, to, to_offset,
                                               from, from_offset, bytes, l->stream));
    return kcrt_from_device(
        api, api->memset(device->handle, to, to_offset, step->value, bytes, l->stream));
}

static kcrt_status run_steps(const launch *l, int variant) {
    const kcrt_variant *v = &l->f->target->variants[variant];
    for (int s = 0; s < v->step_count; s++) {
        const kcrt_step *step = &v->steps[s];
        kcrt_status status = step->kind == KCRT_STEP_KERNEL
                                 ? run_kernel(l, step, l->f->kernels[variant][s])
                                 : run_memory_step(l, step);
        if (status) return status;
    }
    return KCRT_OK;
}

// ---- Workspace ----------------------------------------------------------------------------------

// The pool is locked until the steps are in the queue: another thread may not grow it in between.
static kcrt_status run_with_pool(launch *l, kcrt_stream *stream, int variant) {
    kcrt_status status =
        kcrt_refuse_capture(stream->device, stream, "A launch without a workspace of its own");
    if (status) return status;
    pthread_mutex_lock(&stream->lock);
    status = kcrt_pool_reserve(stream, l->workspace_bytes, &l->workspace);
    if (!status) status = run_steps(l, variant);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static kcrt_status check_workspace(const launch *l, size_t given) {
    const kcrt_function *f = l->f;
    if (given < l->workspace_bytes)
        return kcrt_fail(KCRT_INVALID_ARGUMENT,
                         "%s needs %zu bytes of workspace for these arguments and was given %zu.",
                         f->signature->name, l->workspace_bytes, given);
    if (l->workspace_bytes && f->module->device->api->address(l->workspace, 0) % KCRT_ALIGN_CAP)
        return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s: the workspace must be aligned to 256 bytes.",
                         f->signature->name);
    return KCRT_OK;
}

// ---- Functions that are executed from their IR --------------------------------------------------

static kcrt_status run_function(const launch *l, double *const *exact, double *const *bounds) {
    const kcrt_signature *s = l->f->signature;
    kcrt_device *device = l->f->module->device;
    const DLTensor *tensors[KCRT_MAX_ARGS];
    const void *scalars[KCRT_MAX_ARGS];
    const char *names[2 * KCRT_MAX_NAMES];
    for (int a = 0; a < s->arg_count; a++) {
        tensors[a] = s->args[a].is_scalar ? NULL : l->args[a];
        scalars[a] = s->args[a].is_scalar ? l->args[a] : NULL;
    }
    int symbols = s->dim_count + s->stride_count;
    for (int i = 0; i < symbols; i++)
        names[i] = s->symbols[i].name;
    kcrt_function_call call = {.arg_count = s->arg_count,
                               .tensors = tensors,
                               .scalars = scalars,
                               .values = exact,
                               .bounds = bounds,
                               .symbol_count = symbols,
                               .symbol_names = names,
                               .symbol_values = l->bound->values,
                               .constant_count = s->constant_count,
                               .constants = l->f->constants};
    return kcrt_from_device(device->api, device->api->launch_function(device->handle, l->f->image,
                                                                      s->name, &call, l->stream));
}

// ---- The calls ----------------------------------------------------------------------------------

static kcrt_status check_stream(const kcrt_function *f, const kcrt_stream *stream) {
    if (!stream || stream->device == f->module->device) return KCRT_OK;
    const kcrt_device *is = stream->device, *wanted = f->module->device;
    if (is->api == wanted->api && is->dl.device_id == wanted->dl.device_id)
        return KCRT_OK; // opened twice
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s was loaded on %s and was given a stream of %s.",
                     f->signature->name, wanted->name, is->name);
}

kcrt_status kcrt_launch(kcrt_function *f, kcrt_stream *stream, void *const *args, int n,
                        void *workspace, size_t workspace_bytes) {
    if (!f) return kcrt_null_argument("kcrt_launch");
    kcrt_bound bound;
    kcrt_status status = check_stream(f, stream);
    if (!status) status = kcrt_bind(f->signature, &f->bind, args, n, true, &bound);
    if (status) return status;
    launch l = {.f = f,
                .args = args,
                .bound = &bound,
                .workspace = workspace,
                .stream = kcrt_native(stream)};
    if (!f->target) return run_function(&l, NULL, NULL);
    int variant = 0;
    uint64_t needed = 0;
    status = choose(f, &bound, &variant, &needed);
    if (status) return status;
    l.workspace_bytes = (size_t)needed;
    if (needed && !workspace)
        return run_with_pool(&l, stream ? stream : &f->module->device->queue, variant);
    status = check_workspace(&l, workspace_bytes);
    return status ? status : run_steps(&l, variant);
}

kcrt_status kcrt_launch_bounded(kcrt_function *f, kcrt_stream *stream, void *const *args, int n,
                                double *const *values, double *const *bounds) {
    if (!f) return kcrt_null_argument("kcrt_launch_bounded");
    if (f->target)
        return kcrt_fail(KCRT_UNSUPPORTED,
                         "%s runs kernels, which carry no error bounds; the device `ref` does.",
                         f->module->device->name);
    kcrt_bound bound;
    kcrt_status status = check_stream(f, stream);
    if (!status) status = kcrt_bind(f->signature, &f->bind, args, n, true, &bound);
    launch l = {.f = f, .args = args, .bound = &bound, .stream = kcrt_native(stream)};
    return status ? status : run_function(&l, values, bounds);
}

kcrt_status kcrt_function_workspace(kcrt_function *f, const DLTensor *const *args, int n,
                                    size_t *bytes) {
    if (bytes) *bytes = 0;
    if (!f || !bytes) return kcrt_null_argument("kcrt_function_workspace");
    kcrt_bound bound;
    kcrt_status status =
        kcrt_bind(f->signature, &f->bind, (void *const *)(uintptr_t)args, n, false, &bound);
    if (status || !f->target) return status;
    int variant = 0;
    uint64_t needed = 0;
    status = choose(f, &bound, &variant, &needed);
    if (!status) *bytes = (size_t)needed;
    return status;
}
