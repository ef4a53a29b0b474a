// Movement: one strided copy, and for each op where it starts and how it steps.
#include "ir/interp_machine.h"

#include <string.h>

// A cell is an element or a bound.
static void copy_row(int64_t n, uint64_t *dst, int64_t dst_stride, const uint64_t *src,
                     int64_t src_stride) {
    if (dst_stride == 1 && src_stride == 1) memcpy(dst, src, sizeof *dst * (size_t)n);
    else
        for (int64_t i = 0; i < n; i++)
            dst[i * dst_stride] = src[i * src_stride];
}

static void copy_dims(int rank, const int64_t *shape, uint64_t *dst, const int64_t *dst_strides,
                      const uint64_t *src, const int64_t *src_strides) {
    if (rank == 0) *dst = *src;
    else if (rank == 1) copy_row(shape[0], dst, dst_strides[0], src, src_strides[0]);
    else
        for (int64_t i = 0; i < shape[0]; i++)
            copy_dims(rank - 1, shape + 1, dst + i * dst_strides[0], dst_strides + 1,
                      src + i * src_strides[0], src_strides + 1);
}

void kc_interp_copy(int rank, const int64_t *shape, void *dst, const int64_t *dst_strides,
                    const void *src, const int64_t *src_strides) {
    for (int d = 0; d < rank; d++)
        if (shape[d] <= 0) return;
    copy_dims(rank, shape, dst, dst_strides, src, src_strides);
}

static void *cells(const kc_interp_value *v) {
    return v->f ? (void *)v->f : (void *)v->i;
}

typedef struct {
    int64_t start, strides[KC_MAX_RANK];
} place;

static place whole(const kc_interp_value *v) {
    place p = {0, {0}};
    kc_interp_strides(v->rank, v->shape, p.strides);
    return p;
}

// Elements and bounds of a part of x, to a part of r; r's rank. r has bounds where x has.
static void move(kc_interp_value *r, const int64_t *shape, const place *to,
                 const kc_interp_value *x, const place *from) {
    for (int d = 0; d < r->rank; d++)
        if (shape[d] <= 0) return;
    kc_interp_copy(r->rank, shape, (uint64_t *)cells(r) + to->start, to->strides,
                   (uint64_t *)cells(x) + from->start, from->strides);
    if (x->e)
        kc_interp_copy(r->rank, shape, r->e + to->start, to->strides, x->e + from->start,
                       from->strides);
}

// A result that is filled from one place of x.
static kc_interp_value *moved(kc_interp *m, const kc_op *op, kc_interp_value *r,
                              const kc_interp_value *x, const place *from) {
    place to = whole(r);
    if (x->e) kc_interp_add_bounds(m, op, r);
    move(r, r->shape, &to, x, from);
    return r;
}

kc_interp_value *kc_interp_broadcast(kc_interp *m, const kc_op *op, kc_interp_value *x, int rank,
                                     const int64_t *shape) {
    kc_interp_value *r = kc_interp_make(m, op, x->elem, rank, shape);
    place own = whole(x), from = {0, {0}};
    int lead = rank - x->rank;
    for (int d = 0; d < x->rank; d++) {
        if (x->shape[d] != 1 && x->shape[d] != shape[lead + d])
            kc_interp_fail(m, op, "%s: extent %lld does not broadcast to %lld", kc_op_row(op)->name,
                           (long long)x->shape[d], (long long)shape[lead + d]);
        from.strides[lead + d] = x->shape[d] == 1 ? 0 : own.strides[d];
    }
    return moved(m, op, r, x, &from);
}

static kc_interp_value *broadcast(kc_interp *m, const kc_op *op) {
    const kc_type *type = &kc_result(op, 0)->type;
    int64_t shape[KC_MAX_RANK];
    for (int d = 0; d < type->rank; d++)
        shape[d] = kc_interp_eval(m, op, type->shape[d]);
    return kc_interp_broadcast(m, op, kc_interp_operand(m, op, 0), type->rank, shape);
}

static kc_interp_value *transpose(kc_interp *m, const kc_op *op) {
    const kc_interp_value *x = kc_interp_operand(m, op, 0);
    const int64_t *perm = kc_attr_get(op, KC_ATTR_PERM)->integers;
    place own = whole(x), from = {0, {0}};
    int64_t shape[KC_MAX_RANK];
    for (int d = 0; d < x->rank; d++) {
        shape[d] = x->shape[perm[d]];
        from.strides[d] = own.strides[perm[d]];
    }
    return moved(m, op, kc_interp_make(m, op, x->elem, x->rank, shape), x, &from);
}

static kc_interp_value *reshape(kc_interp *m, const kc_op *op) {
    const kc_interp_value *x = kc_interp_operand(m, op, 0);
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    if (r->n != x->n)
        kc_interp_fail(m, op, "reshape of %lld elements to %lld", (long long)x->n, (long long)r->n);
    if (x->e) kc_interp_add_bounds(m, op, r);
    if (x->n) memcpy(cells(r), cells(x), sizeof(uint64_t) * (size_t)x->n);
    if (x->e && x->n) memcpy(r->e, x->e, sizeof *x->e * (size_t)x->n);
    return r;
}

static kc_interp_value *slice(kc_interp *m, const kc_op *op) {
    const kc_interp_value *x = kc_interp_operand(m, op, 0);
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    const kc_attr *starts = kc_attr_get(op, KC_ATTR_STARTS),
                  *steps = kc_attr_get(op, KC_ATTR_STEPS);
    place own = whole(x), from = {0, {0}};
    for (int d = 0; d < x->rank && r->n; d++) {
        int64_t start = kc_interp_eval(m, op, starts->exprs[d]), step = steps->integers[d], last;
        if (__builtin_mul_overflow(step, r->shape[d] - 1, &last) ||
            __builtin_add_overflow(last, start, &last))
            last = -1;
        if (start < 0 || start >= x->shape[d] || last < 0 || last >= x->shape[d])
            kc_interp_fail(m, op,
                           "slice takes %lld elements of dimension %d from %lld in steps of %lld; "
                           "its extent is %lld",
                           (long long)r->shape[d], d, (long long)start, (long long)step,
                           (long long)x->shape[d]);
        from.start += start * own.strides[d];
        from.strides[d] = step * own.strides[d];
    }
    return moved(m, op, r, x, &from);
}

static kc_interp_value *concat(kc_interp *m, const kc_op *op) {
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    place to = whole(r);
    int64_t filled = 0;
    for (int i = 0; i < op->n_operands; i++) {
        const kc_interp_value *x = kc_interp_operand(m, op, i);
        place from = whole(x);
        for (int d = 0; d < r->rank; d++)
            if (d != axis && x->shape[d] != r->shape[d])
                kc_interp_fail(
                    m, op, "concat: operand %d has extent %lld in dimension %d, the result %lld", i,
                    (long long)x->shape[d], d, (long long)r->shape[d]);
        if (x->shape[axis] > r->shape[axis] - filled)
            kc_interp_fail(m, op, "concat: operands are longer than the result");
        if (x->e) kc_interp_add_bounds(m, op, r);
        to.start = filled * to.strides[axis];
        move(r, x->shape, &to, x, &from);
        filled += x->shape[axis];
    }
    if (filled != r->shape[axis])
        kc_interp_fail(m, op, "concat: operands have %lld elements along the axis, the result %lld",
                       (long long)filled, (long long)r->shape[axis]);
    return r;
}

static void fill(kc_interp *m, const kc_op *op, kc_interp_value *r, double value) {
    kc_interp_value *scalar = kc_interp_scalar(m, op, r->elem, value);
    if (scalar->e) kc_interp_add_bounds(m, op, r);
    for (int64_t i = 0; i < r->n; i++) {
        if (r->f) r->f[i] = scalar->f[0];
        else r->i[i] = scalar->i[0];
        if (scalar->e) r->e[i] = scalar->e[0];
    }
    kc_interp_drop(m, scalar);
}

// Negative amounts take elements away.
static kc_interp_value *pad(kc_interp *m, const kc_op *op) {
    const kc_interp_value *x = kc_interp_operand(m, op, 0);
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    const kc_attr *lows = kc_attr_get(op, KC_ATTR_LOW), *highs = kc_attr_get(op, KC_ATTR_HIGH);
    place to = whole(r), from = whole(x);
    int64_t shape[KC_MAX_RANK];
    fill(m, op, r, kc_attr_float(op, KC_ATTR_VALUE, 0));
    for (int d = 0; d < x->rank; d++) {
        int64_t low = kc_interp_eval(m, op, lows->exprs[d]),
                high = kc_interp_eval(m, op, highs->exprs[d]), total;
        if (__builtin_add_overflow(low, high, &total) ||
            __builtin_add_overflow(total, x->shape[d], &total) || total != r->shape[d])
            kc_interp_fail(m, op, "pad: extent %d of the result is not low + extent + high", d);
        shape[d] = x->shape[d] + (low < 0 ? low : 0) + (high < 0 ? high : 0);
        from.start -= low < 0 ? low * from.strides[d] : 0;
        to.start += low > 0 ? low * to.strides[d] : 0;
    }
    if (x->e && !r->e) kc_interp_add_bounds(m, op, r);
    if (!x->e && r->e) { // the fill has bounds and x has none: these are 0
        kc_interp_value exact = *x;
        exact.e = kc_interp_alloc(m, op, x->n, sizeof *exact.e);
        move(r, shape, &to, &exact, &from);
        kc_interp_free(m, exact.e);
    } else {
        move(r, shape, &to, x, &from);
    }
    return r;
}

// Negative indices count from the end; what is still outside is counted and clamped.
static int64_t clamped(kc_interp *m, int64_t index, int64_t extent) {
    if (index < 0 && index >= -extent) index += extent;
    if (index >= 0 && index < extent) return index;
    m->clamped++;
    return index < 0 ? 0 : extent - 1;
}

// x seen as [outer, extent, inner]; the result is [outer, indices, inner].
static kc_interp_value *gather(kc_interp *m, const kc_op *op) {
    const kc_interp_value *x = kc_interp_operand(m, op, 0), *indices = kc_interp_operand(m, op, 1);
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    int64_t extent = x->shape[axis], outer = kc_interp_elements(m, op, axis, x->shape);
    int64_t inner = kc_interp_elements(m, op, x->rank - axis - 1, x->shape + axis + 1);
    if (r->n == 0) return r;
    if (extent == 0) { // there is nothing to clamp to: every element is 0
        memset(cells(r), 0, sizeof(uint64_t) * (size_t)r->n);
        m->clamped += indices->n;
        return r;
    }
    if (r->n != outer * indices->n * inner)
        kc_interp_fail(m, op, "gather: the result has not the shape of x and indices");
    if (x->e || indices->e) kc_interp_add_bounds(m, op, r);
    for (int64_t k = 0; k < indices->n; k++) {
        int64_t index = clamped(m, indices->i[k], extent);
        bool open = indices->e && indices->e[k] > 0;
        for (int64_t o = 0; o < outer; o++) {
            int64_t to = (o * indices->n + k) * inner, from = (o * extent + index) * inner;
            memcpy((uint64_t *)cells(r) + to, (uint64_t *)cells(x) + from,
                   sizeof(uint64_t) * (size_t)inner);
            if (x->e) memcpy(r->e + to, x->e + from, sizeof *x->e * (size_t)inner);
            for (int64_t i = 0; open && i < inner; i++)
                r->e[to + i] = __builtin_inf();
        }
    }
    return r;
}

static kc_interp_value *constant(kc_interp *m, const kc_op *op) {
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    if (r->f) fill(m, op, r, kc_const_number(op));
    else
        for (int64_t i = 0; i < r->n; i++)
            r->i[i] = kc_integer_wrap(r->elem, kc_const_int(op));
    return r;
}

static kc_interp_value *sym(kc_interp *m, const kc_op *op) {
    return kc_interp_count(m, op, kc_result(op, 0)->type.elem,
                           kc_interp_eval(m, op, kc_attr_expr(op, KC_ATTR_EXPR)));
}

static kc_interp_value *iota(kc_interp *m, const kc_op *op) {
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    int axis = (int)kc_attr_int(op, KC_ATTR_AXIS, 0);
    int64_t inner = kc_interp_elements(m, op, r->rank - axis - 1, r->shape + axis + 1);
    kc_precision p = kc_number_precision(r->elem);
    for (int64_t i = 0; i < r->n; i++) {
        int64_t index = i / inner % r->shape[axis];
        if (r->i) r->i[i] = kc_integer_wrap(r->elem, index);
        if (!r->f) continue;
        kc_number x = kc_number_literal((double)index, &p);
        r->f[i] = x.v;
        if (x.e == 0) continue;
        kc_interp_add_bounds(m, op, r);
        r->e[i] = x.e;
    }
    return r;
}

kc_interp_op *kc_interp_movement_of(kc_opcode code) {
    switch (code) {
    case KC_OP_BROADCAST: return broadcast;
    case KC_OP_TRANSPOSE: return transpose;
    case KC_OP_RESHAPE: return reshape;
    case KC_OP_SLICE: return slice;
    case KC_OP_CONCAT: return concat;
    case KC_OP_PAD: return pad;
    case KC_OP_GATHER: return gather;
    case KC_OP_CONST: return constant;
    case KC_OP_SYM: return sym;
    case KC_OP_IOTA: return iota;
    default: return NULL;
    }
}
