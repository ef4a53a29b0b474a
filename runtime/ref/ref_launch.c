// A launch: the call's tensors and values as the interpreter takes them. What gathers clamped is
// kept for the report.
#include "runtime/ref/ref.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

// ---- what launches leave for the report ---------------------------------------------------------

enum { MAX_FUNCTIONS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[128];
    long long launches, clamped;
} functions[MAX_FUNCTIONS];
static int n_functions;

static void note_launch(const char *name, int64_t clamped) {
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < n_functions && strcmp(functions[i].name, name))
        i++;
    if (i == n_functions && i < MAX_FUNCTIONS && strlen(name) < sizeof functions->name)
        snprintf(functions[n_functions++].name, sizeof functions->name, "%s", name);
    if (i < n_functions) functions[i].launches++, functions[i].clamped += clamped;
    pthread_mutex_unlock(&lock);
}

static void write_report(FILE *out) {
    fputs("{\"device\": \"ref\", \"kernels\": [", out);
    for (int i = 0; i < n_functions; i++) {
        fprintf(out, "%s{\"name\": \"%s\", \"launches\": %lld, \"findings\": [", i ? ", " : "",
                functions[i].name, functions[i].launches);
        if (functions[i].clamped)
            fprintf(out,
                    "{\"kind\": \"out_of_bounds\", \"kernel\": \"%s\", \"instruction\": "
                    "\"gather\", \"count\": %lld}",
                    functions[i].name, functions[i].clamped);
        fputs("]}", out);
    }
    fputs("]}", out);
}

kcrt_status ref_report(void *device, char **json) {
    (void)device;
    size_t size = 0;
    FILE *out = open_memstream(json, &size);
    if (!out)
        return ref_fail(KCRT_OUT_OF_MEMORY,
                        "Not enough host memory for the report of the device `ref`.");
    pthread_mutex_lock(&lock);
    write_report(out);
    pthread_mutex_unlock(&lock);
    return fclose(out) == 0
               ? KCRT_OK
               : ref_fail(KCRT_OUT_OF_MEMORY,
                          "Not enough host memory for the report of the device `ref`.");
}

// ---- launching ----------------------------------------------------------------------------------

typedef struct {
    kc_arena *arena;
    const kc_op *func;
    const kcrt_function_call *call;
} launch;

static bool same_type(DLDataType is, kc_dtype wanted) {
    const kc_dtype_info *info = &kc_dtype_table[wanted];
    return is.code == info->dl_code && is.bits == info->dl_bits && is.lanes == 1;
}

static kcrt_status as_array(const launch *l, const DLTensor *t, const kc_type *type,
                            const char *name, kc_interp_array *out) {
    if (!same_type(t->dtype, type->elem) || t->ndim != type->rank)
        return ref_fail(KCRT_INVALID_ARGUMENT, "Argument `%.64s` of %.64s is not %s of rank %d.",
                        name, kc_func_name(l->func), kc_dtype_name(type->elem), type->rank);
    *out = (kc_interp_array){type->elem, t->ndim, t->shape, t->strides,
                             (char *)t->data + t->byte_offset};
    return KCRT_OK;
}

// Argument i of the call, which is to have this type.
static kcrt_status argument(const launch *l, int i, const kc_type *type, const char *name,
                            kc_interp_array *out) {
    const DLTensor *t = l->call->tensors[i];
    if (t) return as_array(l, t, type, name, out);
    if (type->rank)
        return ref_fail(KCRT_INVALID_ARGUMENT,
                        "Argument `%.64s` of %.64s is a tensor and comes as a value.", name,
                        kc_func_name(l->func));
    *out = (kc_interp_array){type->elem, 0, NULL, NULL, (void *)(uintptr_t)l->call->scalars[i]};
    return KCRT_OK;
}

// The body's arguments: inputs and inouts as the call has them, then constants.
static kcrt_status read_inputs(const launch *l, int passed, kc_interp_array *inputs) {
    const kc_block *body = l->func->body;
    kcrt_status status = KCRT_OK;
    for (int i = 0; i < body->n_args && !status; i++) {
        const kc_value *arg = body->args[i];
        status = i < passed ? argument(l, i, &arg->type, arg->name, &inputs[i])
                            : as_array(l, &l->call->constants[i - passed], &arg->type, arg->name,
                                       &inputs[i]);
    }
    return status;
}

// An inout is the last of the inputs that are passed, and the first of the outputs.
static kcrt_status run(void *context) {
    launch *l = context;
    const kcrt_function_call *call = l->call;
    const kc_output *outputs;
    int n_in = l->func->body->n_args, n_out = kc_func_outputs(l->func, &outputs),
        constants = kc_func_constants(l->func), n = call->arg_count;
    int first_out = n_in - constants - kc_func_inouts(l->func);
    char why[400];
    if (n != first_out + n_out || call->constant_count != constants)
        return ref_fail(KCRT_INVALID_ARGUMENT,
                        "%.64s takes %d arguments and %d constants, %d and %d are given.",
                        kc_func_name(l->func), first_out + n_out, constants, n,
                        call->constant_count);
    l->arena = kc_arena_create();
    kc_interp_array *in = KC_NEW_ARRAY(l->arena, kc_interp_array, n_in + 1);
    kc_interp_array *out = KC_NEW_ARRAY(l->arena, kc_interp_array, n_out + 1);
    kc_interp_symbol *symbols = KC_NEW_ARRAY(l->arena, kc_interp_symbol, call->symbol_count + 1);
    kcrt_status status = read_inputs(l, n_in - constants, in);
    for (int i = 0; i < n_out && !status; i++)
        status = argument(l, first_out + i, &outputs[i].type, outputs[i].name, &out[i]);
    if (status) return status;
    for (int i = 0; i < call->symbol_count; i++)
        symbols[i] = (kc_interp_symbol){call->symbol_names[i], call->symbol_values[i]};
    kc_interp_call interp = {.inputs = in,
                             .outputs = out,
                             .n_inputs = n_in,
                             .n_outputs = n_out,
                             .values = call->values ? call->values + first_out : NULL,
                             .bounds = call->bounds ? call->bounds + first_out : NULL,
                             .symbols = symbols,
                             .n_symbols = call->symbol_count};
    kc_diag *diag = kc_diag_create(l->arena, "ir", NULL, 0);
    if (kc_interp_run(l->func, &interp, diag)) {
        note_launch(kc_func_name(l->func), interp.clamped);
        return KCRT_OK;
    }
    ref_first_error(diag, why, sizeof why);
    return ref_fail(KCRT_DRIVER, "The reference cannot carry out %.64s: %s.", kc_func_name(l->func),
                    why);
}

kcrt_status ref_launch(void *device, void *module, const char *function,
                       const kcrt_function_call *call, void *stream) {
    (void)device, (void)stream;
    launch l = {NULL, ref_module_function(module, function), call};
    if (!l.func) return ref_function_check(device, module, function);
    kcrt_status status = ref_guard(run, &l);
    kc_arena_destroy(l.arena);
    return status;
}
