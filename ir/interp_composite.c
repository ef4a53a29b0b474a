// Composite ops by their definitions: formulas over the same elementwise ops and reductions that a
// compiler has, so that values and bounds are those of evaluating the formula op by op.
#include "ir/interp_machine.h"

#include <math.h>

typedef kc_interp_value value;

// A formula being evaluated: values it made are dropped at its end.
enum { MAX_TERMS = 24 };
typedef struct {
    kc_interp *m;
    const kc_op *op;
    value *terms[MAX_TERMS];
    int n;
} formula;

static value *keep(formula *f, value *v) {
    f->terms[f->n++] = v;
    return v;
}

static value *finish(formula *f, value *result) {
    kc_interp_hold(result);
    for (int i = 0; i < f->n; i++)
        kc_interp_drop(f->m, f->terms[i]);
    return result;
}

static value *operand(formula *f, int i) {
    return kc_interp_operand(f->m, f->op, i);
}

static value *unary(formula *f, kc_opcode code, value *x) {
    return keep(f, kc_interp_apply(f->m, f->op, code, 1, &x, false));
}

static value *binary(formula *f, kc_opcode code, value *a, value *b) {
    return keep(f, kc_interp_apply(f->m, f->op, code, 2, (value *[]){a, b}, false));
}

// a * b where a sum follows.
static value *times(formula *f, value *a, value *b) {
    return keep(f, kc_interp_apply(f->m, f->op, KC_OP_MUL, 2, (value *[]){a, b}, true));
}

static value *literal(formula *f, double v) {
    return keep(f, kc_interp_scalar(f->m, f->op, kc_result(f->op, 0)->type.elem, v));
}

// ---- activations --------------------------------------------------------------------------------

// v * sigmoid(x), by exp(x) / (1 + exp(x)) to the left of 0 and 1 / (1 + exp(-x)) else: neither exp
// overflows.
static value *times_sigmoid(formula *f, value *v, value *x) {
    value *t = unary(f, KC_OP_EXP, unary(f, KC_OP_NEG, unary(f, KC_OP_ABS, x)));
    value *is_left = binary(f, KC_OP_LT, x, literal(f, 0));
    value *terms[] = {is_left, binary(f, KC_OP_MUL, v, t), v};
    value *above = keep(f, kc_interp_apply(f->m, f->op, KC_OP_SELECT, 3, terms, false));
    return binary(f, KC_OP_DIV, above, binary(f, KC_OP_ADD, t, literal(f, 1)));
}

static value *sigmoid(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, times_sigmoid(&f, literal(&f, 1), operand(&f, 0)));
}

static value *silu(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, times_sigmoid(&f, operand(&f, 0), operand(&f, 0)));
}

static value *relu(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, binary(&f, KC_OP_MAX, operand(&f, 0), literal(&f, 0)));
}

static value *clamp(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, binary(&f, KC_OP_MIN, binary(&f, KC_OP_MAX, operand(&f, 0), operand(&f, 1)),
                             operand(&f, 2)));
}

// x/2 * (1 + inner)
static value *gelu_with(formula *f, value *inner) {
    return binary(f, KC_OP_MUL, times(f, operand(f, 0), literal(f, 0.5)),
                  binary(f, KC_OP_ADD, inner, literal(f, 1)));
}

static value *gelu(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(
        &f, gelu_with(&f, unary(&f, KC_OP_ERF,
                                binary(&f, KC_OP_MUL, operand(&f, 0), literal(&f, M_SQRT1_2)))));
}

// tanh(sqrt(2/pi) * x * (1 + 0.044715 x^2))
static value *gelu_tanh(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *x = operand(&f, 0);
    value *cubic =
        binary(&f, KC_OP_ADD, times(&f, times(&f, x, x), literal(&f, 0.044715)), literal(&f, 1));
    value *inner =
        binary(&f, KC_OP_MUL, binary(&f, KC_OP_MUL, x, cubic), literal(&f, M_2_SQRTPI * M_SQRT1_2));
    return finish(&f, gelu_with(&f, unary(&f, KC_OP_TANH, inner)));
}

// ---- reductions ---------------------------------------------------------------------------------

static value *reduced_by(formula *f, kc_opcode combine, value *x) {
    bool reduced[KC_MAX_RANK] = {false};
    const kc_attr *axes = kc_attr_get(f->op, KC_ATTR_AXES);
    for (int i = 0; i < axes->count; i++)
        reduced[axes->integers[i]] = true;
    return keep(f, kc_interp_reduce_by(f->m, f->op, combine, x, reduced,
                                       kc_attr_int(f->op, KC_ATTR_KEEPDIMS, 0)));
}

static value *accumulated(formula *f) {
    return keep(f, kc_interp_cast(f->m, f->op, operand(f, 0), kc_result(f->op, 0)->type.elem));
}

static value *sum(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, reduced_by(&f, KC_OP_ADD, accumulated(&f)));
}

static value *prod(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, reduced_by(&f, KC_OP_MUL, accumulated(&f)));
}

static value *amax(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, reduced_by(&f, KC_OP_MAX, operand(&f, 0)));
}

static value *amin(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, reduced_by(&f, KC_OP_MIN, operand(&f, 0)));
}

static value *mean(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    int64_t count = 1;
    for (int i = 0; i < axes->count; i++)
        count *= operand(&f, 0)->shape[axes->integers[i]];
    value *total = reduced_by(&f, KC_OP_ADD, operand(&f, 0));
    if (axes->count == 0) return finish(&f, total);
    return finish(&f, binary(&f, KC_OP_DIV, total, literal(&f, (double)count)));
}

// ---- indices of extremes ------------------------------------------------------------------------

// Of one line, with `sign` -1 for the smallest: the first of the largest, the first NaN if there is
// one. Every element whose interval reaches the largest lower end may be found instead.
static kc_integer index_of_largest(const value *x, int64_t first, int64_t stride, int64_t n,
                                   double sign) {
    int64_t best = 0;
    double floor_of_best = -INFINITY, far = 0;
    bool open = false;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = first + i * stride, was = first + best * stride;
        double e = x->e ? x->e[at] : 0;
        open = open || isinf(e);
        if (x->i) {
            bool better = sign > 0 ? x->i[at] > x->i[was] : x->i[at] < x->i[was];
            if (better) best = i;
            continue;
        }
        if (isnan(x->f[at])) return (kc_integer){i, open ? INFINITY : 0};
        if (sign * x->f[at] > sign * x->f[was]) best = i;
        floor_of_best = fmax(floor_of_best, sign * x->f[at] - e);
    }
    for (int64_t i = 0; x->e && i < n; i++) {
        int64_t at = first + i * stride;
        double v = x->f ? x->f[at] : (double)x->i[at];
        bool may = x->f ? sign * v + x->e[at] >= floor_of_best
                        : x->e[at] > 0; // of integers with open values: anything
        if (may && i != best) far = fmax(far, fabs((double)(i - best)));
    }
    return (kc_integer){best, open ? INFINITY : n == 0 ? INFINITY : far};
}

static value *index_of(kc_interp *m, const kc_op *op, double sign) {
    const value *x = kc_interp_operand(m, op, 0);
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    int axis = axes->count == 1 ? (int)axes->integers[0] : -1;
    int64_t n = axis < 0 ? x->n : x->shape[axis];
    int64_t inner =
        axis < 0 ? 1 : kc_interp_elements(m, op, x->rank - axis - 1, x->shape + axis + 1);
    for (int64_t k = 0; k < r->n; k++) {
        kc_integer y = index_of_largest(x, k / inner * n * inner + k % inner, inner, n, sign);
        r->i[k] = y.v;
        if (y.e == 0) continue;
        kc_interp_add_bounds(m, op, r);
        r->e[k] = y.e;
    }
    return r;
}

static value *argmax(kc_interp *m, const kc_op *op) {
    return index_of(m, op, 1);
}
static value *argmin(kc_interp *m, const kc_op *op) {
    return index_of(m, op, -1);
}

// ---- normalisations -----------------------------------------------------------------------------

static int axis_of(const formula *f) {
    return (int)kc_attr_int(f->op, KC_ATTR_AXIS, 0);
}

// Summed along the axis, every prefix.
static value *cumsum(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *x = accumulated(&f);
    return finish(&f, keep(&f, kc_interp_scan_by(m, op, KC_OP_ADD, x, axis_of(&f), 0)));
}

// Reduced along the axis and spread over it again.
static value *along_axis(formula *f, kc_opcode combine, value *x) {
    bool reduced[KC_MAX_RANK] = {false};
    reduced[axis_of(f)] = true;
    return keep(f, kc_interp_reduce_by(f->m, f->op, combine, x, reduced, true));
}

static value *spread(formula *f, value *kept) {
    const value *x = operand(f, 0);
    return keep(f, kc_interp_broadcast(f->m, f->op, kept, x->rank, x->shape));
}

static value *mean_along(formula *f, value *x) {
    return binary(f, KC_OP_DIV, along_axis(f, KC_OP_ADD, x),
                  literal(f, (double)x->shape[axis_of(f)]));
}

static value *shifted(formula *f) {
    value *x = operand(f, 0);
    return binary(f, KC_OP_SUB, x, spread(f, along_axis(f, KC_OP_MAX, x)));
}

static value *softmax(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *e = unary(&f, KC_OP_EXP, shifted(&f));
    return finish(&f, binary(&f, KC_OP_DIV, e, spread(&f, along_axis(&f, KC_OP_ADD, e))));
}

static value *log_softmax(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *x = shifted(&f), *total = along_axis(&f, KC_OP_ADD, unary(&f, KC_OP_EXP, x));
    return finish(&f, binary(&f, KC_OP_SUB, x, spread(&f, unary(&f, KC_OP_LOG, total))));
}

// Operand i, a vector along the axis, over the shape of x.
static value *parameter(formula *f, int i) {
    value *vector = operand(f, i), along = *vector; // the same elements, standing along the axis
    along.rank = operand(f, 0)->rank;
    for (int d = 0; d < along.rank; d++)
        along.shape[d] = d == axis_of(f) ? vector->n : 1;
    return spread(f, &along);
}

static value *normalised(formula *f, value *x) {
    value *square = mean_along(f, times(f, x, x));
    value *inverse =
        unary(f, KC_OP_RSQRT,
              binary(f, KC_OP_ADD, square, literal(f, kc_attr_float(f->op, KC_ATTR_EPS, 0))));
    return times(f, binary(f, KC_OP_MUL, x, spread(f, inverse)), parameter(f, 1));
}

static value *rmsnorm(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, normalised(&f, operand(&f, 0)));
}

static value *layernorm(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *x = operand(&f, 0), *centred = binary(&f, KC_OP_SUB, x, spread(&f, mean_along(&f, x)));
    return finish(&f, binary(&f, KC_OP_ADD, normalised(&f, centred), parameter(&f, 2)));
}

// ---- factors along the last dimension -----------------------------------------------------------

// Half 0 or 1 of the last dimension.
static value *half(formula *f, value *x, int which) {
    int last = x->rank - 1;
    int64_t shape[KC_MAX_RANK], to[KC_MAX_RANK], from[KC_MAX_RANK];
    for (int d = 0; d <= last; d++)
        shape[d] = x->shape[d];
    shape[last] /= 2;
    value *r = keep(f, kc_interp_make(f->m, f->op, x->elem, x->rank, shape));
    kc_interp_strides(x->rank, shape, to);
    kc_interp_strides(x->rank, x->shape, from);
    int64_t start = which * shape[last];
    kc_interp_copy(x->rank, shape, r->f, to, x->f + start, from);
    if (!x->e) return r;
    kc_interp_add_bounds(f->m, f->op, r);
    kc_interp_copy(x->rank, shape, r->e, to, x->e + start, from);
    return r;
}

static void put_half(formula *f, value *whole, const value *x, int which) {
    int64_t to[KC_MAX_RANK], from[KC_MAX_RANK], start = which * x->shape[x->rank - 1];
    kc_interp_strides(x->rank, x->shape, from);
    kc_interp_strides(x->rank, whole->shape, to);
    kc_interp_copy(x->rank, x->shape, whole->f + start, to, x->f, from);
    if (!x->e) return;
    kc_interp_add_bounds(f->m, f->op, whole);
    kc_interp_copy(x->rank, x->shape, whole->e + start, to, x->e, from);
}

static value *rope(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    value *x = operand(&f, 0), *cosine = operand(&f, 1), *sine = operand(&f, 2);
    if (x->shape[x->rank - 1] % 2)
        kc_interp_fail(m, op, "rope: the last dimension of %lld has no halves",
                       (long long)x->shape[x->rank - 1]);
    value *x1 = half(&f, x, 0), *x2 = half(&f, x, 1);
    value *left = binary(&f, KC_OP_SUB, times(&f, x1, cosine), times(&f, x2, sine));
    value *right = binary(&f, KC_OP_ADD, times(&f, x2, cosine), times(&f, x1, sine));
    value *whole = keep(&f, kc_interp_make(m, op, x->elem, x->rank, x->shape));
    put_half(&f, whole, left, 0);
    put_half(&f, whole, right, 1);
    return finish(&f, whole);
}

// The scale of each element: one for a block of neighbours, then NumPy's broadcasting.
static value *scales(formula *f) {
    value *scale = operand(f, 1);
    int64_t block = kc_attr_int(f->op, KC_ATTR_BLOCK, 0), shape[KC_MAX_RANK];
    int last = scale->rank - 1;
    if (last < 0 || block < 2 || scale->shape[last] == 1) return spread(f, scale);
    for (int d = 0; d <= last; d++)
        shape[d] = scale->shape[d];
    shape[last] *= block;
    value *each = keep(f, kc_interp_make(f->m, f->op, scale->elem, scale->rank, shape));
    if (scale->e) kc_interp_add_bounds(f->m, f->op, each);
    for (int64_t i = 0; i < each->n; i++) {
        each->f[i] = scale->f[i / block];
        if (scale->e) each->e[i] = scale->e[i / block];
    }
    return spread(f, each);
}

static value *quantize(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    kc_dtype to = kc_result(op, 0)->type.elem;
    value *q = binary(&f, KC_OP_DIV, operand(&f, 0), scales(&f));
    if (kc_dtype_is_integer(to)) q = unary(&f, KC_OP_ROUND, q);
    return finish(&f, to == q->elem ? q : keep(&f, kc_interp_cast(m, op, q, to)));
}

static value *dequantize(kc_interp *m, const kc_op *op) {
    formula f = {.m = m, .op = op};
    return finish(&f, times(&f, operand(&f, 0), scales(&f)));
}

kc_interp_op *kc_interp_composite_of(kc_opcode code) {
    static kc_interp_op *const table[KC_OP_COUNT] = {
        [KC_OP_SIGMOID] = sigmoid,
        [KC_OP_RELU] = relu,
        [KC_OP_GELU] = gelu,
        [KC_OP_GELU_TANH] = gelu_tanh,
        [KC_OP_SILU] = silu,
        [KC_OP_CLAMP] = clamp,
        [KC_OP_SUM] = sum,
        [KC_OP_PROD] = prod,
        [KC_OP_CUMSUM] = cumsum,
        [KC_OP_MEAN] = mean,
        [KC_OP_AMAX] = amax,
        [KC_OP_AMIN] = amin,
        [KC_OP_ARGMAX] = argmax,
        [KC_OP_ARGMIN] = argmin,
        [KC_OP_SOFTMAX] = softmax,
        [KC_OP_LOG_SOFTMAX] = log_softmax,
        [KC_OP_LAYERNORM] = layernorm,
        [KC_OP_RMSNORM] = rmsnorm,
        [KC_OP_ROPE] = rope,
        [KC_OP_QUANTIZE] = quantize,
        [KC_OP_DEQUANTIZE] = dequantize,
    };
    return table[code];
}
