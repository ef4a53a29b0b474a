// From --input and --dim to arrays: files give shapes, shapes give dims, dims give the shapes that
// were left out.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kcrun/task.h"

static bool parse_dims(task *t) {
    for (int i = 0; i < t->options->dim_count; i++) {
        const option_pair *pair = &t->options->dims[i];
        char *end;
        errno = 0;
        long long value = strtoll(pair->value, &end, 0);
        if (!*pair->value || *end || errno || value < 0)
            return kcrun_task_error(t, "--dim %s=%s: expected an integer from 0 on.", pair->name,
                                    pair->value);
        int index = -1;
        for (int s = 0; s < t->symbol_count; s++) {
            kcrt_symbol_info info;
            if (!kcrt_function_symbol(t->on.function, s, &info) && !strcmp(info.name, pair->name))
                index = s;
        }
        if (index < 0)
            return kcrun_task_error(t, "--dim %s: %s has no dimension or stride of that name.",
                                    pair->name, t->options->function);
        t->values[index] = value;
        t->known[index] = 1;
    }
    return true;
}

static bool check_names(const task *t, const option_pair *list, int count, bool outputs,
                        const char *option) {
    for (int i = 0; i < count; i++) {
        bool found = false;
        for (int a = 0; a < t->arg_count; a++)
            found |= !strcmp(t->args[a].info.name, list[i].name) &&
                     (outputs ? t->args[a].info.is_output : kcrun_is_input(&t->args[a]));
        if (!found)
            return kcrun_task_error(t, "%s %s: %s has no %s of that name.", option, list[i].name,
                                    t->options->function, outputs ? "output" : "input");
    }
    return true;
}

// Files and shapes that are written out; fills without a shape wait.
static bool read_input(task *t, argument *arg) {
    char error[ERROR_SIZE];
    const char *text =
        kcrun_options_find(t->options->inputs, t->options->input_count, arg->info.name);
    if (!text)
        return kcrun_task_error(t, "The input `%s` (%s) is missing: give --input %s=SPEC.",
                                arg->info.name, arg->info.type, arg->info.name);
    if (!kcrun_spec_parse(text, &arg->from, error))
        return kcrun_task_error(t, "--input %s: %s.", arg->info.name, error);
    if (arg->from.path) {
        bool rounded;
        if (!kcrun_npy_read(arg->from.path, arg->type, &arg->host, &rounded, error))
            return kcrun_task_error(t, "--input %s: %s.", arg->info.name, error);
        if (rounded) kcrun_task_note(t, "%s is rounded to %s.", arg->from.path, arg->info.type);
    } else if (arg->from.has_shape) {
        if (!kcrun_array_make(&arg->host, arg->type, arg->from.rank, arg->from.shape, error))
            return kcrun_task_error(t, "--input %s: %s.", arg->info.name, error);
    }
    if (arg->host.data && arg->host.rank != arg->info.rank)
        return kcrun_task_error(t, "--input %s: the array has rank %d and the argument rank %d.",
                                arg->info.name, arg->host.rank, arg->info.rank);
    return true;
}

// A stride name that was not given is that of a dense array, at its first place.
static bool solve(task *t) {
    DLTensor tensors[KCRT_MAX_ARGS];
    int64_t strides[KCRT_MAX_ARGS][KCRT_MAX_RANK];
    void *args[KCRT_MAX_ARGS] = {NULL};
    for (int a = 0; a < t->arg_count; a++) {
        argument *arg = &t->args[a];
        if (arg->info.is_scalar || !arg->host.data) continue;
        int64_t stride = 1;
        for (int axis = arg->host.rank - 1; axis >= 0; axis--) {
            strides[a][axis] = stride;
            stride *= arg->host.shape[axis] ? arg->host.shape[axis] : 1;
        }
        tensors[a] = kcrt_tensor(kcrt_function_device(t->on.function), NULL, arg->info.dtype,
                                 arg->host.rank, arg->host.shape, strides[a]);
        args[a] = &tensors[a];
    }
    return kcrt_function_solve(t->on.function, args, t->arg_count, t->values, t->known)
               ? kcrun_task_fail(t)
               : true;
}

static bool ask_for_dims(task *t) {
    char list[512] = "";
    size_t at = 0;
    for (int s = 0; s < t->symbol_count && at < sizeof list; s++) {
        kcrt_symbol_info info;
        if (kcrt_function_symbol(t->on.function, s, &info) || info.is_stride || t->known[s])
            continue;
        at += (size_t)snprintf(list + at, sizeof list - at, " --dim %s=VALUE", info.name);
    }
    if (!at) return false; // what is wrong was no dim
    return kcrun_task_error(t, "Give%s, or a SHAPE with an input that has it.", list);
}

static bool shape_known(task *t, argument *arg, int index) {
    char error[ERROR_SIZE];
    int64_t shape[KCRT_MAX_RANK];
    if (kcrt_function_shape(t->on.function, index, t->values, t->known, shape, NULL)) {
        kcrun_task_fail(t);
        return ask_for_dims(t);
    }
    if (!kcrun_array_make(&arg->host, arg->type, arg->info.rank, shape, error))
        return kcrun_task_error(t, "%s: %s.", arg->info.name, error);
    return true;
}

static bool fill(task *t, argument *arg, int index) {
    char error[ERROR_SIZE];
    if (!kcrun_is_input(arg) || arg->from.path) return true;
    uint64_t seed = t->options->seed;
    return kcrun_spec_fill(&arg->from, &arg->host, seed, (uint64_t)index, error)
               ? true
               : kcrun_task_error(t, "--input %s: %s.", arg->info.name, error);
}

static bool all_passed_known(const task *t) {
    for (int s = 0; s < t->symbol_count; s++) {
        kcrt_symbol_info info;
        if (kcrt_function_symbol(t->on.function, s, &info)) return kcrun_task_fail(t);
        if (info.is_passed && !t->known[s])
            return kcrun_task_error(t, "No argument determines %s: give --dim %s=VALUE.", info.name,
                                    info.name);
    }
    return true;
}

static bool describe(task *t) {
    t->arg_count = kcrt_function_arg_count(t->on.function);
    t->symbol_count = kcrt_function_symbol_count(t->on.function);
    for (int a = 0; a < t->arg_count; a++) {
        argument *arg = &t->args[a];
        if (kcrt_function_arg(t->on.function, a, &arg->info)) return kcrun_task_fail(t);
        arg->type = kc_dtype_find(arg->info.type, strlen(arg->info.type));
    }
    return true;
}

static bool device_layout(task *t, argument *arg, int index) {
    int64_t shape[KCRT_MAX_RANK], last = 0, step;
    if (arg->info.is_scalar) return true;
    if (kcrt_function_shape(t->on.function, index, t->values, t->known, shape, arg->strides))
        return kcrun_task_fail(t);
    for (int axis = 0; axis < arg->info.rank; axis++)
        if (shape[axis] != arg->host.shape[axis])
            return kcrun_task_error(
                t, "--input %s: axis %d has extent %lld, and the dimensions make it %lld.",
                arg->info.name, axis, (long long)arg->host.shape[axis], (long long)shape[axis]);
    for (int axis = 0; axis < arg->info.rank && arg->host.count; axis++)
        if (__builtin_mul_overflow(arg->host.shape[axis] - 1, arg->strides[axis], &step) ||
            __builtin_add_overflow(last, step, &last) || last > INT64_MAX / 32)
            return kcrun_task_error(t, "The argument `%s` is too large.", arg->info.name);
    arg->span = arg->host.count ? (size_t)kc_dtype_size(arg->type, last + 1) : 0;
    return true;
}

bool kcrun_make_room(const task *t, argument *arg) {
    char error[ERROR_SIZE];
    if (!arg->info.is_inout || arg->before.data) return true;
    arg->before = arg->host;
    return kcrun_array_make(&arg->host, arg->type, arg->before.rank, arg->before.shape, error)
               ? true
               : kcrun_task_error(t, "%s: %s.", arg->info.name, error);
}

bool kcrun_inputs_prepare(task *t) {
    const options *o = t->options;
    if (!describe(t) || !parse_dims(t)) return false;
    if (!check_names(t, o->inputs, o->input_count, false, "--input") ||
        !check_names(t, o->outputs, o->output_count, true, "--output"))
        return false;
    for (int a = 0; a < t->arg_count; a++)
        if (kcrun_is_input(&t->args[a]) && !read_input(t, &t->args[a])) return false;
    if (!solve(t) || !all_passed_known(t)) return false;
    for (int a = 0; a < t->arg_count; a++)
        if (!t->args[a].host.data && !shape_known(t, &t->args[a], a)) return false;
    if (!solve(t)) return false; // stride names of arrays that were just made
    for (int a = 0; a < t->arg_count; a++)
        if (!fill(t, &t->args[a], a) || !device_layout(t, &t->args[a], a)) return false;
    return true;
}
