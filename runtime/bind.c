// Everything here runs on each launch: no allocation, no formatting unless a check fails.
// bind_error.c words failures.
#include "runtime/bind.h"

#include <string.h>

#include "runtime/bind_error.h"
#include "runtime/kcrt_device.h"

// ---- One tensor by itself -----------------------------------------------------------------------

static bool same_device(DLDevice is, DLDevice wanted) {
    if (is.device_type != wanted.device_type &&
        !(is.device_type == kDLCUDAManaged && wanted.device_type == kDLCUDA))
        return false;
    return is.device_id == wanted.device_id || wanted.device_type == kDLCPU;
}

static kcrt_status check_tensor(const kcrt_signature *f, int a, const DLTensor *t,
                                DLDevice device) {
    const kcrt_arg *arg = &f->args[a];
    if (!t) return kcrt_bind_fail(f, a, "is NULL");
    if (t->ndim != arg->rank)
        return kcrt_bind_fail(f, a, "has rank %d where %d is wanted", t->ndim, arg->rank);
    if (arg->rank && !t->shape) return kcrt_bind_fail(f, a, "has no shape (a NULL pointer)");
    if (t->dtype.code != arg->dtype.code || t->dtype.bits != arg->dtype.bits || t->dtype.lanes != 1)
        return kcrt_bind_type(f, a, t->dtype);
    if (!same_device(t->device, device)) return kcrt_bind_where(f, a, t->device, device);
    for (int axis = 0; axis < arg->rank; axis++)
        if (t->shape[axis] < 0)
            return kcrt_bind_fail(f, a, "has extent %lld on axis %d", (long long)t->shape[axis],
                                  axis);
    return KCRT_OK;
}

static bool is_empty(const DLTensor *t) {
    for (int axis = 0; axis < t->ndim; axis++)
        if (t->shape[axis] == 0) return true;
    return false;
}

// ---- Symbols ------------------------------------------------------------------------------------

static kcrt_status solve_affine(const kcrt_signature *f, const kcrt_binding *b, int64_t extent,
                                int64_t *values) {
    int64_t rest, scaled;
    kc_expr_status e = kc_expr_eval(b->rest, values, NULL, &rest);
    if (!e && __builtin_sub_overflow(extent, rest, &scaled)) e = KC_EXPR_OVERFLOW;
    if (e) return kcrt_bind_fail(f, b->arg, "axis %d: %s", b->axis, kc_expr_status_text(e));
    if (b->factor == -1 ? scaled == INT64_MIN : scaled % b->factor != 0)
        return kcrt_bind_extent(f, b->arg, b->axis, extent);
    values[b->symbol] = scaled / b->factor;
    return KCRT_OK;
}

static kcrt_status check_facts(const kcrt_signature *f, int symbol, int64_t value) {
    const kc_expr_facts *facts = &f->symbols[symbol].facts;
    if (value < facts->min || value > facts->max ||
        (facts->multiple_of != 1 && value % facts->multiple_of))
        return kcrt_bind_facts(f, symbol, value);
    return KCRT_OK;
}

static kcrt_status bind_dims(const kcrt_signature *f, void *const *args, int64_t *values) {
    for (int i = 0; i < f->binding_count; i++) {
        const kcrt_binding *b = &f->bindings[i];
        kcrt_status status = KCRT_OK;
        if (b->arg < 0) {
            const int64_t *passed = args[f->arg_count + b->axis];
            if (!passed) return kcrt_bind_passed(f, b->symbol);
            values[b->symbol] = *passed;
        } else {
            int64_t extent = ((const DLTensor *)args[b->arg])->shape[b->axis];
            if (!b->rest) values[b->symbol] = extent;
            else status = solve_affine(f, b, extent, values);
        }
        if (!status) status = check_facts(f, b->symbol, values[b->symbol]);
        if (status) return status;
    }
    return KCRT_OK;
}

static int64_t stride_of(const DLTensor *t, int axis) {
    if (t->strides) return t->strides[axis];
    int64_t stride = 1;
    for (int i = axis + 1; i < t->ndim; i++)
        if (__builtin_mul_overflow(stride, t->shape[i], &stride)) return -1;
    return stride;
}

static bool stride_matters(const DLTensor *t, int axis) {
    return t->shape[axis] > 1 && !is_empty(t);
}

// A stride that no address depends on: as the tensor has it if the facts allow that, else the least
// that they allow.
static int64_t idle_stride(const kc_expr_facts *facts, int64_t stride) {
    if (stride >= facts->min && stride <= facts->max && stride % facts->multiple_of == 0)
        return stride;
    int64_t up = facts->min % facts->multiple_of;
    return up ? facts->min + (facts->multiple_of - up) : facts->min;
}

static kcrt_status bind_strides(const kcrt_signature *f, void *const *args, int64_t *values) {
    for (int i = 0; i < f->stride_site_count;) {
        int symbol = f->stride_sites[i].symbol, chosen = -1, first = i;
        for (; i < f->stride_site_count && f->stride_sites[i].symbol == symbol; i++)
            if (chosen < 0 && stride_matters(args[f->stride_sites[i].arg], f->stride_sites[i].axis))
                chosen = i;
        const kcrt_binding *site = &f->stride_sites[chosen < 0 ? first : chosen];
        int64_t stride = stride_of(args[site->arg], site->axis);
        values[symbol] = chosen < 0 ? idle_stride(&f->symbols[symbol].facts, stride) : stride;
        if (chosen >= 0 && stride < 0)
            return kcrt_bind_fail(f, site->arg,
                                  "has a negative stride or too large an extent on axis %d",
                                  site->axis);
        kcrt_status status = chosen < 0 ? KCRT_OK : check_facts(f, symbol, stride);
        if (status) return status;
    }
    return KCRT_OK;
}

// ---- Agreement ----------------------------------------------------------------------------------

static kcrt_status check_shape(const kcrt_signature *f, int a, const DLTensor *t,
                               const int64_t *values) {
    const kcrt_arg *arg = &f->args[a];
    for (int axis = 0; axis < arg->rank; axis++) {
        int64_t wanted;
        kc_expr_status e = kcrt_term_eval(&arg->shape[axis], values, &wanted);
        if (e)
            return kcrt_bind_fail(f, a, "axis %d cannot be computed: %s", axis,
                                  kc_expr_status_text(e));
        if (t->shape[axis] != wanted)
            return kcrt_bind_disagree(f, a, axis, "extent", t->shape[axis], wanted, values);
    }
    return KCRT_OK;
}

// Two 4-bit elements share a byte: that is as the manifest's facts promise it.
static kcrt_status check_packing(const kcrt_signature *f, int a, const DLTensor *t) {
    int last = t->ndim - 1;
    if (t->shape[last] % 2)
        return kcrt_bind_fail(f, a, "has extent %lld on axis %d, which must be even",
                              (long long)t->shape[last], last);
    for (int axis = 0; axis < t->ndim; axis++) {
        int64_t stride = t->shape[axis] > 1 && t->strides ? t->strides[axis] : axis == last;
        if (axis == last ? stride != 1 : stride % 2)
            return kcrt_bind_fail(f, a, "has stride %lld on axis %d, which must be %s",
                                  (long long)stride, axis, axis == last ? "1" : "even");
    }
    return KCRT_OK;
}

// Sets *elements to one past the last element's index; 0 when empty.
static kcrt_status check_strides(const kcrt_signature *f, int a, const DLTensor *t,
                                 const int64_t *values, int64_t *elements) {
    const kcrt_arg *arg = &f->args[a];
    int64_t contiguous = 1, last = 0, step;
    *elements = 0;
    if (is_empty(t)) return KCRT_OK;
    for (int axis = arg->rank - 1; axis >= 0; axis--) {
        if (t->shape[axis] == 1) continue;
        int64_t wanted = contiguous, stride = t->strides ? t->strides[axis] : contiguous;
        if (arg->strides) {
            kc_expr_status e = kcrt_term_eval(&arg->strides[axis], values, &wanted);
            if (e)
                return kcrt_bind_fail(f, a, "the stride of axis %d cannot be computed: %s", axis,
                                      kc_expr_status_text(e));
        }
        if (stride != wanted || stride < 0)
            return kcrt_bind_disagree(f, a, axis, "stride", stride, wanted, values);
        if (__builtin_mul_overflow(t->shape[axis] - 1, stride, &step) ||
            __builtin_add_overflow(last, step, &last) ||
            __builtin_mul_overflow(contiguous, t->shape[axis], &contiguous))
            return kcrt_bind_fail(f, a, "is larger than 2^63 elements");
    }
    *elements = last + 1;
    return arg->packed ? check_packing(f, a, t) : KCRT_OK;
}

// Two indices of a strided output must not be one place. Axes by rising stride: each stride must
// step past everything that the smaller ones reach. That refuses a few exotic layouts that do not
// overlap, and none that any library makes.
static kcrt_status check_injective(const kcrt_signature *f, int a, const DLTensor *t) {
    int64_t reach = 0, previous = -1;
    for (int done = 0; done < t->ndim;) {
        int64_t stride = INT64_MAX;
        for (int axis = 0; axis < t->ndim; axis++) {
            int64_t s = t->shape[axis] > 1 ? stride_of(t, axis) : -1;
            if (s > previous && s < stride) stride = s;
        }
        if (stride == INT64_MAX) return KCRT_OK;
        for (int axis = 0; axis < t->ndim; axis++) {
            if (t->shape[axis] <= 1 || stride_of(t, axis) != stride) continue;
            if (stride <= reach)
                return kcrt_bind_fail(
                    f, a, "is an output whose strides make elements overlap (axis %d)", axis);
            reach += (t->shape[axis] - 1) * stride; // check_strides has shown that the sum fits
            done++;
        }
        previous = stride;
    }
    return KCRT_OK;
}

static kcrt_status place_tensor(const kcrt_signature *f, const kcrt_bind_device *device, int a,
                                const DLTensor *t, int64_t elements, kcrt_bound *out) {
    const kcrt_arg *arg = &f->args[a];
    uint64_t bytes = 0, address = device->address(t->data, t->byte_offset);
    int64_t *align = &out->values[arg->align_symbol];
    *align = KCRT_ALIGN_CAP;
    out->start[a] = out->end[a] = 0;
    if (!elements) return KCRT_OK;
    if (!t->data) return kcrt_bind_fail(f, a, "has no data (a NULL pointer)");
    uint64_t lowest = address & -address;
    if (lowest && lowest < KCRT_ALIGN_CAP) *align = (int64_t)lowest;
    if (address & (uint64_t)(arg->bytes - 1))
        return kcrt_bind_fail(f, a,
                              "starts at 0x%llx, which is not a multiple of its element size %d",
                              (unsigned long long)address, arg->bytes);
    uint64_t units = (uint64_t)elements;
    if (arg->packed) units = units / 2 + units % 2;
    if (__builtin_mul_overflow(units, (uint64_t)arg->bytes, &bytes) ||
        address + bytes < address)
        return kcrt_bind_fail(f, a, "reaches past the end of the address space");
    out->start[a] = address;
    out->end[a] = address + bytes;
    return KCRT_OK;
}

static kcrt_status check_overlap(const kcrt_signature *f, const kcrt_bound *bound) {
    for (int a = 0; a < f->arg_count; a++) {
        if (!f->args[a].is_output || bound->start[a] == bound->end[a]) continue;
        for (int b = 0; b < a; b++) {
            if (f->args[b].is_scalar || bound->start[b] >= bound->end[a] ||
                bound->start[a] >= bound->end[b])
                continue;
            bool same = bound->start[a] == bound->start[b] && bound->end[a] == bound->end[b];
            if (f->args[a].alias != b || !same) return kcrt_bind_overlap(f, a, b);
        }
    }
    return KCRT_OK;
}

// ---- A launch -----------------------------------------------------------------------------------

static kcrt_status check_args(const kcrt_signature *f, const kcrt_bind_device *device,
                              void *const *args, int n, bool with_scalars) {
    if (n != f->arg_count + f->passed_count || !args) return kcrt_bind_count(f, n);
    for (int a = 0; a < f->arg_count; a++) {
        kcrt_status status = KCRT_OK;
        if (!f->args[a].is_scalar) status = check_tensor(f, a, args[a], device->device);
        else if (with_scalars && !args[a]) status = kcrt_bind_fail(f, a, "is NULL");
        if (status) return status;
    }
    return KCRT_OK;
}

kcrt_status kcrt_bind(const kcrt_signature *f, const kcrt_bind_device *device, void *const *args,
                      int n, bool with_scalars, kcrt_bound *out) {
    kcrt_status status = check_args(f, device, args, n, with_scalars);
    if (!status) status = bind_dims(f, args, out->values);
    for (int a = 0; a < f->arg_count && !status; a++)
        if (!f->args[a].is_scalar) status = check_shape(f, a, args[a], out->values);
    if (!status) status = bind_strides(f, args, out->values);
    for (int a = 0; a < f->arg_count && !status; a++) {
        if (f->args[a].is_scalar) {
            out->start[a] = out->end[a] = 0;
            out->values[f->args[a].align_symbol] = KCRT_ALIGN_CAP;
            continue;
        }
        int64_t elements;
        status = check_strides(f, a, args[a], out->values, &elements);
        if (!status && elements && f->args[a].is_output && f->args[a].strides)
            status = check_injective(f, a, args[a]);
        if (!status) status = place_tensor(f, device, a, args[a], elements, out);
    }
    if (!status) status = check_overlap(f, out);
    if (!status)
        memcpy(&out->values[f->device_base], device->attributes,
               KCRT_DEVICE_SYMBOLS * sizeof(int64_t));
    return status;
}

// ---- Partial knowledge --------------------------------------------------------------------------

static bool rest_known(const kcrt_signature *f, const kc_expr *rest, const unsigned char *known) {
    for (int s = 0; s < f->dim_count; s++)
        if (!known[s] && kc_expr_uses(rest, s)) return false;
    return true;
}

static const DLTensor *tensor_given(const kcrt_signature *f, void *const *args, int n, int a) {
    const DLTensor *t = a < n && !f->args[a].is_scalar ? args[a] : NULL;
    return t && t->ndim == f->args[a].rank && (t->shape || !t->ndim) ? t : NULL;
}

// Whether the site could be solved now and was.
static kcrt_status solve_site(const kcrt_signature *f, const kcrt_binding *b, void *const *args,
                              int n, int64_t *values, unsigned char *known, bool *progress) {
    const DLTensor *t = tensor_given(f, args, n, b->arg);
    if (known[b->symbol] || !t || (b->rest && !rest_known(f, b->rest, known))) return KCRT_OK;
    values[b->symbol] = t->shape[b->axis];
    kcrt_status status = b->rest ? solve_affine(f, b, t->shape[b->axis], values) : KCRT_OK;
    if (!status) known[b->symbol] = *progress = true;
    return status;
}

static void solve_passed_and_strides(const kcrt_signature *f, void *const *args, int n,
                                     int64_t *values, unsigned char *known) {
    for (int i = 0; i < f->binding_count; i++) {
        const kcrt_binding *b = &f->bindings[i];
        int at = f->arg_count + b->axis;
        if (b->arg >= 0 || known[b->symbol] || at >= n || !args[at]) continue;
        values[b->symbol] = *(const int64_t *)args[at];
        known[b->symbol] = 1;
    }
    for (int i = 0; i < f->stride_site_count; i++) {
        const kcrt_binding *b = &f->stride_sites[i];
        const DLTensor *t = tensor_given(f, args, n, b->arg);
        if (!t || known[b->symbol]) continue;
        values[b->symbol] = stride_of(t, b->axis);
        known[b->symbol] = 1;
    }
}

// e = slope * symbol + rest, where the other symbols have values. False: not of that form, or too
// large.
static bool as_line(const kc_expr *e, int symbol, const int64_t *values, int64_t *slope,
                    int64_t *rest) {
    int64_t a, b, c, d;
    *slope = *rest = 0;
    if (!kc_expr_uses(e, symbol)) return !kc_expr_eval(e, values, NULL, rest);
    if (e->kind == KC_EXPR_SYMBOL) {
        *slope = 1;
        return true;
    }
    if (e->kind != KC_EXPR_ADD && e->kind != KC_EXPR_SUB && e->kind != KC_EXPR_MUL) return false;
    if (!as_line(e->a, symbol, values, &a, &b) || !as_line(e->b, symbol, values, &c, &d))
        return false;
    if (e->kind == KC_EXPR_ADD)
        return !__builtin_add_overflow(a, c, slope) && !__builtin_add_overflow(b, d, rest);
    if (e->kind == KC_EXPR_SUB)
        return !__builtin_sub_overflow(a, c, slope) && !__builtin_sub_overflow(b, d, rest);
    bool left = a != 0; // the side that has the symbol
    return !(a && c) && !__builtin_mul_overflow(left ? a : c, left ? d : b, slope) &&
           !__builtin_mul_overflow(b, d, rest);
}

// The one dim of the expression that is not known, or -1.
static int only_unknown(const kcrt_signature *f, const kc_expr *e, const unsigned char *known) {
    int found = -1;
    for (int s = 0; s < f->dim_count; s++) {
        if (known[s] || !kc_expr_uses(e, s)) continue;
        if (found >= 0) return -1;
        found = s;
    }
    return found;
}

// N*K is an equation for K once N is known. The launch checks the shape again, so what has no
// answer is left unknown.
static void solve_extents(const kcrt_signature *f, void *const *args, int n, int64_t *values,
                          unsigned char *known, bool *progress) {
    for (int a = 0; a < f->arg_count; a++) {
        const DLTensor *t = tensor_given(f, args, n, a);
        for (int axis = 0; t && axis < f->args[a].rank; axis++) {
            const kc_expr *e = f->args[a].shape[axis].expr;
            int64_t slope, rest, scaled;
            int s = only_unknown(f, e, known);
            if (s < 0 || !as_line(e, s, values, &slope, &rest) || slope == 0 ||
                __builtin_sub_overflow(t->shape[axis], rest, &scaled) ||
                (slope == -1 ? scaled > 0 : scaled % slope != 0 || scaled / slope < 0))
                continue;
            values[s] = slope == -1 ? -scaled : scaled / slope;
            known[s] = *progress = true;
        }
    }
}

// As often as a dim becomes known: each round that makes progress solves at least one.
kcrt_status kcrt_bind_solve(const kcrt_signature *f, void *const *args, int n, int64_t *values,
                            unsigned char *known) {
    solve_passed_and_strides(f, args, n, values, known);
    for (bool progress = true; progress;) {
        progress = false;
        for (int i = 0; i < f->shape_site_count; i++) {
            kcrt_status status =
                solve_site(f, &f->shape_sites[i], args, n, values, known, &progress);
            if (status) return status;
        }
        if (!progress) solve_extents(f, args, n, values, known, &progress);
    }
    return KCRT_OK;
}

static kcrt_status known_value(const kcrt_signature *f, int a, const kcrt_term *term,
                               const int64_t *values, const bool *bound, int64_t *out) {
    for (int s = 0; s < f->dim_count + f->stride_count; s++)
        if (!bound[s] && kc_expr_uses(term->expr, s)) return kcrt_bind_unknown(f, a, s);
    kc_expr_status e = kc_expr_eval(term->expr, values, bound, out);
    if (e) return kcrt_bind_fail(f, a, "has no shape for these dims: %s", kc_expr_status_text(e));
    if (*out < 0)
        return kcrt_bind_fail(f, a, "would have the extent or stride %lld", (long long)*out);
    return KCRT_OK;
}

kcrt_status kcrt_bind_shape(const kcrt_signature *f, int index, const int64_t *values,
                            const unsigned char *known, int64_t *shape, int64_t *strides) {
    bool bound[KCRT_MAX_SYMBOLS] = {false};
    const kcrt_arg *arg = &f->args[index];
    int64_t contiguous = 1;
    for (int s = 0; s < f->dim_count + f->stride_count; s++)
        bound[s] = known[s] != 0;
    for (int axis = arg->rank - 1; axis >= 0; axis--) {
        kcrt_status status = known_value(f, index, &arg->shape[axis], values, bound, &shape[axis]);
        if (status) return status;
        if (!strides) continue;
        strides[axis] = contiguous;
        if (arg->strides)
            status = known_value(f, index, &arg->strides[axis], values, bound, &strides[axis]);
        if (status) return status;
        if (__builtin_mul_overflow(contiguous, shape[axis] ? shape[axis] : 1, &contiguous))
            return kcrt_bind_fail(f, index, "is larger than 2^63 elements");
    }
    return KCRT_OK;
}
