#include "runtime/bind_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/kcrt_device.h"

static size_t put(char *buffer, size_t size, size_t at, const char *text) {
    size_t n = strlen(text);
    if (at + n >= size) n = size - 1 - at;
    memcpy(buffer + at, text, n);
    buffer[at + n] = 0;
    return at + n;
}

// "f16[M, K]", as the model file writes it.
static const char *describe(const kcrt_signature *f, int arg, char *buffer, size_t size) {
    const kcrt_arg *a = &f->args[arg];
    size_t at = put(buffer, size, 0, a->type);
    for (int axis = 0; axis < a->rank; axis++) {
        char text[128];
        kc_expr_print(f->pool, a->shape[axis].expr, text, sizeof text);
        at = put(buffer, size, at, axis ? ", " : "[");
        at = put(buffer, size, at, text);
    }
    if (a->rank) put(buffer, size, at, "]");
    return buffer;
}

kcrt_status kcrt_bind_fail(const kcrt_signature *f, int arg, const char *format, ...) {
    char text[512], type[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s: argument `%s` (%s) %s.", f->name,
                     f->args[arg].name, describe(f, arg, type, sizeof type), text);
}

kcrt_status kcrt_bind_count(const kcrt_signature *f, int given) {
    char passed[512] = "";
    size_t at = 0;
    for (int s = 0; s < f->dim_count; s++) {
        if (!f->symbols[s].is_passed) continue;
        at = put(passed, sizeof passed, at, at ? ", " : ", then int64_t pointers for ");
        at = put(passed, sizeof passed, at, f->symbols[s].name);
    }
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s takes %d arguments (%d%s) and was given %d.",
                     f->name, f->arg_count + f->passed_count, f->arg_count, passed, given);
}

kcrt_status kcrt_bind_type(const kcrt_signature *f, int arg, DLDataType is) {
    static const char *const codes[] = {"int",    "uint",    "float", "handle",
                                        "bfloat", "complex", "bool"};
    char name[64];
    if (is.code < 7) snprintf(name, sizeof name, "%s%d", codes[is.code], is.bits);
    else snprintf(name, sizeof name, "DLPack code %d with %d bits", is.code, is.bits);
    if (is.lanes != 1)
        return kcrt_bind_fail(f, arg, "has elements of %s with %d lanes; lanes must be 1", name,
                              is.lanes);
    return kcrt_bind_fail(f, arg, "has elements of type %s where %s is wanted", name,
                          f->args[arg].type);
}

static const char *device_text(DLDevice d, char *buffer, size_t size) {
    const char *kind = d.device_type == kDLCPU    ? "cpu"
                       : d.device_type == kDLCUDA ? "cuda"
                       : d.device_type == kDLROCM ? "rocm"
                                                  : NULL;
    if (kind) snprintf(buffer, size, "%s:%d", kind, (int)d.device_id);
    else snprintf(buffer, size, "DLPack device type %d:%d", (int)d.device_type, (int)d.device_id);
    return buffer;
}

kcrt_status kcrt_bind_where(const kcrt_signature *f, int arg, DLDevice is, DLDevice wanted) {
    char a[48], b[48];
    return kcrt_bind_fail(f, arg, "is on %s and the function was loaded on %s",
                          device_text(is, a, sizeof a), device_text(wanted, b, sizeof b));
}

kcrt_status kcrt_bind_extent(const kcrt_signature *f, int arg, int axis, int64_t extent) {
    char text[128];
    kc_expr_print(f->pool, f->args[arg].shape[axis].expr, text, sizeof text);
    return kcrt_bind_fail(f, arg, "has extent %lld on axis %d, which `%s` gives for no value",
                          (long long)extent, axis, text);
}

kcrt_status kcrt_bind_facts(const kcrt_signature *f, int symbol, int64_t value) {
    const kcrt_symbol *s = &f->symbols[symbol];
    const char *from = "passed by the caller";
    char place[320];
    for (int i = 0; i < f->binding_count; i++) {
        if (f->bindings[i].symbol != symbol || f->bindings[i].arg < 0) continue;
        snprintf(place, sizeof place, "from argument `%s`, axis %d",
                 f->args[f->bindings[i].arg].name, f->bindings[i].axis);
        from = place;
    }
    for (int i = 0; i < f->stride_site_count && symbol >= f->dim_count; i++)
        if (f->stride_sites[i].symbol == symbol) {
            snprintf(place, sizeof place, "a stride of argument `%s`",
                     f->args[f->stride_sites[i].arg].name);
            from = place;
        }
    return kcrt_fail(
        KCRT_INVALID_ARGUMENT,
        "%s: %s is %lld (%s); the function was built for %lld to %lld in multiples of %lld.",
        f->name, s->name, (long long)value, from, (long long)s->facts.min, (long long)s->facts.max,
        (long long)s->facts.multiple_of);
}

kcrt_status kcrt_bind_passed(const kcrt_signature *f, int symbol) {
    return kcrt_fail(KCRT_INVALID_ARGUMENT, "%s: the pointer to the dimension %s is NULL.", f->name,
                     f->symbols[symbol].name);
}

kcrt_status kcrt_bind_disagree(const kcrt_signature *f, int arg, int axis, const char *thing,
                               int64_t is, int64_t wanted, const int64_t *values) {
    const kcrt_arg *a = &f->args[arg];
    bool of_stride = !strcmp(thing, "stride");
    if (of_stride && !a->strides)
        return kcrt_bind_fail(
            f, arg, "must be contiguous, so the stride of axis %d must be %lld, and it is %lld",
            axis, (long long)wanted, (long long)is);
    const kc_expr *expr = of_stride ? a->strides[axis].expr : a->shape[axis].expr;
    char text[128], where[512] = "";
    size_t at = 0;
    kc_expr_print(f->pool, expr, text, sizeof text);
    for (int s = 0; s < f->dim_count + f->stride_count; s++) {
        if (!kc_expr_uses(expr, s)) continue;
        char one[300];
        snprintf(one, sizeof one, "%s%s = %lld", at ? ", " : " with ", f->symbols[s].name,
                 (long long)values[s]);
        at = put(where, sizeof where, at, one);
    }
    return kcrt_bind_fail(f, arg, "has %s %lld on axis %d, and `%s`%s makes it %lld", thing,
                          (long long)is, axis, text, where, (long long)wanted);
}

kcrt_status kcrt_bind_overlap(const kcrt_signature *f, int output, int other) {
    const char *name = f->args[other].name;
    if (f->args[output].alias == other)
        return kcrt_bind_fail(
            f, output, "may be the same memory as `%s`, but here it overlaps it in part", name);
    if (f->args[output].is_inout || f->args[other].is_inout)
        return kcrt_bind_fail(f, output, "overlaps `%s` in memory, and `%s` is updated in place",
                              name, f->args[output].is_inout ? f->args[output].name : name);
    return kcrt_bind_fail(
        f, output, "overlaps `%s` in memory, which the model does not allow (`alias`)", name);
}

kcrt_status kcrt_bind_unknown(const kcrt_signature *f, int arg, int symbol) {
    return kcrt_bind_fail(f, arg, "has a shape that depends on %s, which is not known yet",
                          f->symbols[symbol].name);
}
