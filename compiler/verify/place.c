// Buffers are exactly as long as the tensor, so that a simulator sees the first byte outside.
#include "compiler/verify/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "not enough memory";

static bool fail(const char **error, const char *text) {
    static char kept[1024];
    snprintf(kept, sizeof kept, "%s", text);
    *error = kept;
    return false;
}

// ---- shapes -------------------------------------------------------------------------------------

static bool prepare(task *t, int a, const char **error) {
    static char text[ERROR_SIZE];
    argument *arg = &t->args[a];
    int64_t shape[KCRT_MAX_RANK] = {0}, last = 0;
    bool scalar = arg->info.is_scalar;
    if (!scalar && kcrt_function_shape(t->on.function, a, t->values, t->known, shape, arg->strides))
        return fail(error, kcrt_last_error());
    if (!kcrun_array_make(&arg->host, arg->type, scalar ? 0 : arg->info.rank, shape, text))
        return fail(error, text);
    for (int d = 0; d < arg->info.rank && arg->host.count; d++)
        last += (shape[d] - 1) * arg->strides[d];
    arg->span = arg->host.count ? (size_t)kc_dtype_size(arg->type, last + 1) : 0;
    return true;
}

bool kc_place_prepare(task *t, const char **error) {
    t->arg_count = kcrt_function_arg_count(t->on.function);
    for (int a = 0; a < t->arg_count; a++) {
        argument *arg = &t->args[a];
        if (kcrt_function_arg(t->on.function, a, &arg->info)) return fail(error, kcrt_last_error());
        arg->type = kc_dtype_find(arg->info.type, strlen(arg->info.type));
        if (!prepare(t, a, error)) return false;
    }
    return true;
}

// ---- elements -----------------------------------------------------------------------------------

// All of the span is written, gaps too: vectors may read them.
static bool upload(const task *t, const argument *arg, void *base, size_t offset,
                   const char **error) {
    char *bytes = calloc(arg->span, 1);
    if (!bytes) return fail(error, no_memory);
    kcrun_array_spread(&arg->host, arg->strides, bytes);
    kcrt_status status = kcrt_copy((kcrt_place){t->on.device, base, offset},
                                   (kcrt_place){NULL, bytes, 0}, arg->span, NULL);
    free(bytes);
    return status ? fail(error, kcrt_last_error()) : true;
}

// ---- placing ------------------------------------------------------------------------------------

// The input whose memory output `a` takes over; -1: none, or their shapes differ.
static int shared_with(const task *t, int a, const kc_place_wishes *wishes) {
    int input = wishes->aliases && t->args[a].info.is_output ? wishes->aliases[a] : -1;
    if (input < 0 || t->args[input].info.is_scalar) return -1;
    const argument *x = &t->args[a], *y = &t->args[input];
    bool same = x->type == y->type && x->info.rank == y->info.rank && x->span == y->span;
    for (int d = 0; same && d < x->info.rank; d++)
        same = x->host.shape[d] == y->host.shape[d] && x->strides[d] == y->strides[d];
    return same ? input : -1;
}

static bool place(task *t, const kc_place_wishes *wishes, kc_placement *p, int a,
                  const char **error) {
    argument *arg = &t->args[a];
    int shared = shared_with(t, a, wishes);
    p->offset[a] = wishes->misaligned && arg->span ? (size_t)kc_dtype_unit(arg->type) : 0;
    if (shared < 0 &&
        kcrt_alloc(t->on.device, arg->span ? arg->span + p->offset[a] : 0, &p->memory[a]))
        return fail(error, kcrt_last_error());
    void *base = shared < 0 ? p->memory[a] : p->memory[shared];
    p->tensors[a] = kcrt_tensor(kcrt_device_dl(t->on.device), base, arg->info.dtype, arg->info.rank,
                                arg->host.shape, arg->strides);
    p->tensors[a].byte_offset = p->offset[a];
    return !kcrun_is_input(arg) || !arg->span || upload(t, arg, base, p->offset[a], error);
}

bool kc_place_all(task *t, const kc_place_wishes *wishes, kc_placement *p, const char **error) {
    memset(p, 0, sizeof *p);
    for (int a = 0; a < t->arg_count; a++) {
        bool scalar = t->args[a].info.is_scalar;
        p->pointers[p->n++] = scalar ? t->args[a].host.data : (void *)&p->tensors[a];
        if (!scalar && !place(t, wishes, p, a, error)) return false;
    }
    for (int s = 0; s < t->symbol_count; s++) {
        kcrt_symbol_info info;
        if (kcrt_function_symbol(t->on.function, s, &info)) return fail(error, kcrt_last_error());
        if (info.is_passed) p->pointers[p->n++] = &t->values[s];
    }
    return true;
}

static bool fetch(task *t, const kc_placement *p, int a, const char **error) {
    argument *arg = &t->args[a];
    if (!arg->span) return true;
    char *bytes = calloc(arg->span, 1);
    if (!bytes) return fail(error, no_memory);
    kcrt_status status =
        kcrt_copy((kcrt_place){NULL, bytes, 0},
                  (kcrt_place){t->on.device, p->tensors[a].data, p->offset[a]}, arg->span, NULL);
    bool room = status || kcrun_make_room(t, arg);
    if (!status && room) kcrun_array_collect(&arg->host, arg->strides, bytes);
    free(bytes);
    return status ? fail(error, kcrt_last_error()) : room || fail(error, no_memory);
}

bool kc_place_fetch(task *t, const kc_placement *p, const char **error) {
    for (int a = 0; a < t->arg_count; a++)
        if (t->args[a].info.is_output && !fetch(t, p, a, error)) return false;
    return true;
}

void kc_place_release(const task *t, kc_placement *p) {
    for (int a = 0; a < t->arg_count; a++)
        kcrt_free(t->on.device, p->memory[a]);
}
