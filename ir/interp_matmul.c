// Matrix products, and convolutions as products of matrices. Of K products, summed in any order,
// each rounded or not (fma): the error is at most K u sum |a| |b| (Jeannerod and Rump 2013: without
// higher terms), u being half an ulp relative; errors of the operands come on top, sum (|a| +
// ea)(|b| + eb) - |a||b|.
//
// Operands of f16, bf16 and f8, and f32 with `fast` or `high`, may be multiplied by matrix units:
// those accumulate in f32 too but may cut off instead of rounding, so u is twice as large. `fast`
// rounds f32 operands to TF32 (2^-11 each); `high` splits them into two and leaves out the product
// of the lower parts (2^-22) and what two parts do not hold (2^-22 each).
#include "ir/interp_machine.h"

#include <math.h>
#include <string.h>

static int64_t place(const kc_interp_matrix *x, int64_t row, int64_t column) {
    return x->first + row * x->row_stride + column * x->column_stride;
}

static double bound_at(const kc_interp_value *x, int64_t i) {
    return x->e ? x->e[i] : 0;
}

// ---- floats -------------------------------------------------------------------------------------

// The least power of two that all elements are multiples of, and the largest |x|. 0: too fine to
// matter; infinity: all are 0.
static double grain(const kc_interp_value *x, double *most) {
    double unit = INFINITY;
    *most = 0;
    for (int64_t i = 0; i < x->n; i++) {
        double v = fabs(x->f[i]);
        if (!isfinite(v)) return 0;
        if (v > *most) *most = v;
        while (v != 0 && fmod(v, fmin(unit, 0x1p100)) != 0) {
            unit = fmin(unit, 0x1p100) / 2;
            if (unit < 0x1p-100) return 0;
        }
        if (v != 0) unit = fmin(unit, 0x1p100);
    }
    return unit;
}

static bool never_rounds(const kc_interp_product *p) {
    double most_a, most_b;
    double unit_a = grain(p->a.x, &most_a), unit_b = unit_a > 0 ? grain(p->b.x, &most_b) : 0;
    if (unit_a == 0 || unit_b == 0) return false;
    if (isinf(unit_a) || isinf(unit_b)) return true;
    int digits = kc_dtype_table[p->precision.type].mantissa_bits + 1;
    return (double)p->depth * most_a * most_b <= ldexp(unit_a * unit_b, digits);
}

// Relative error of a product before it is summed, from the precision asked for. fast: both operands lose the bits that
// a tf32 has not. high: the product of what both leave is left out, and what is left is rounded.
static double operand_error(const kc_op *op, kc_dtype elem) {
    const char *precision = kc_attr_string(op, KC_ATTR_PRECISION, "ieee");
    if (elem != KC_f32 || strcmp(precision, "ieee") == 0) return 0;
    return strcmp(precision, "fast") == 0 ? 0x1.1p-9 : 0x1.9p-21;
}

static double unit_error(const kc_interp_product *p) {
    kc_dtype elem = p->a.x->elem;
    bool matrix_unit = kc_dtype_table[elem].bits < 32 || operand_error(p->op, elem) > 0;
    return matrix_unit ? 2 * p->precision.unit : p->precision.unit;
}

// Whether a sum with an infinite or NaN term could have come out otherwise.
static bool open_sum(const kc_interp_product *p, int64_t row, int64_t column) {
    for (int64_t k = 0; p->loose && k < p->depth; k++) {
        int64_t i = place(&p->a, row, k), j = place(&p->b, k, column);
        double a = fabs(p->a.x->f[i]), b = fabs(p->b.x->f[j]), ea = bound_at(p->a.x, i),
               eb = bound_at(p->b.x, j);
        if (isinf(ea) || isinf(eb) || (isinf(a) && eb > 0 && eb >= b) ||
            (isinf(b) && ea > 0 && ea >= a))
            return true;
    }
    return false;
}

static kc_number settle(const kc_interp_product *p, int64_t row, int64_t column, double v) {
    double size = p->sizes[column], reach = p->reaches[column];
    if (!isfinite(v)) return (kc_number){v, open_sum(p, row, column) ? INFINITY : 0};
    double e = reach - size + (double)p->depth * (unit_error(p) * reach + p->precision.least) +
               operand_error(p->op, p->a.x->elem) * reach;
    if (size + e < p->precision.overflow) return (kc_number){v, e};
    if (isnan(e) || isinf(e)) return (kc_number){v, INFINITY};
    // Some order may overflow on the way; all do if the terms have one sign and their sum is too
    // large.
    bool certain = fabs(v) >= size * (1 - 0x1p-40) && fabs(v) - e >= p->precision.overflow;
    return (kc_number){fabs(v) >= p->precision.overflow ? copysign(INFINITY, v) : v,
                       certain ? 0 : INFINITY};
}

static void add_scaled(int64_t n, double *sum, double a, const double *b) {
    for (int64_t j = 0; j < n; j++)
        sum[j] += a * b[j];
}

static void multiply_row(const kc_interp_product *p, int64_t row, double *sum) {
    size_t bytes = sizeof(double) * (size_t)p->columns;
    memset(p->sizes, 0, bytes);
    memset(p->reaches, 0, bytes);
    for (int64_t k = 0; k < p->depth; k++) {
        int64_t at = place(&p->a, row, k), from = k * p->columns;
        double a = p->a.x->f[at];
        add_scaled(p->columns, sum, a, p->b_v + from);
        if (p->exact) continue;
        add_scaled(p->columns, p->sizes, fabs(a), p->b_size + from);
        if (p->loose)
            add_scaled(p->columns, p->reaches, fabs(a) + bound_at(p->a.x, at), p->b_reach + from);
    }
    if (!p->loose) memcpy(p->reaches, p->sizes, bytes);
}

static void unpack_b(const kc_interp_product *p) {
    for (int64_t k = 0; k < p->depth; k++)
        for (int64_t j = 0; j < p->columns; j++) {
            int64_t to = k * p->columns + j, from = place(&p->b, k, j);
            p->b_v[to] = p->b.x->f[from];
            p->b_size[to] = fabs(p->b.x->f[from]);
            p->b_reach[to] = p->b_size[to] + bound_at(p->b.x, from);
        }
}

// Whether every term of the sum is -0.
static bool minus_zeros(const kc_interp_product *p, int64_t row, int64_t column) {
    for (int64_t k = 0; k < p->depth; k++) {
        double term = p->a.x->f[place(&p->a, row, k)] * p->b.x->f[place(&p->b, k, column)];
        if (term != 0 || !signbit(term)) return false;
    }
    return p->depth > 0;
}

static void multiply_floats(kc_interp_product *p, int64_t batch) {
    unpack_b(p);
    for (int64_t i = 0; i < p->rows; i++) {
        int64_t to = (batch * p->rows + i) * p->columns;
        multiply_row(p, i, p->r->f + to);
        for (int64_t j = 0; p->exact && j < p->columns; j++) {
            if (p->r->f[to + j] != 0 || !minus_zeros(p, i, j)) continue;
            kc_interp_add_bounds(p->m, p->op, p->r);
            p->r->e[to + j] = KC_NUMBER_ZERO.e;
        }
        for (int64_t j = 0; !p->exact && j < p->columns; j++) {
            kc_number y = settle(p, i, j, p->r->f[to + j]);
            p->r->f[to + j] = y.v;
            p->r->e[to + j] = y.e;
        }
    }
}

static void prepare_floats(kc_interp_product *p) {
    p->exact = !p->loose && never_rounds(p);
    if (!p->exact) kc_interp_add_bounds(p->m, p->op, p->r);
    double **of_b[] = {&p->b_v, &p->b_size, &p->b_reach}, **of_row[] = {&p->sizes, &p->reaches};
    for (int i = 0; i < 3; i++)
        *of_b[i] = kc_interp_alloc(p->m, p->op, p->depth * p->columns, sizeof(double));
    for (int i = 0; i < 2; i++)
        *of_row[i] = kc_interp_alloc(p->m, p->op, p->columns, sizeof(double));
}

static void release_floats(kc_interp_product *p) {
    double *all[] = {p->b_v, p->b_size, p->b_reach, p->sizes, p->reaches};
    for (int i = 0; i < 5; i++)
        kc_interp_free(p->m, all[i]);
}

// ---- integers -----------------------------------------------------------------------------------

// Two's complement: sums and products wrap alike in 64 bits and in fewer. What is open in an
// operand is not followed further.
static void multiply_integers(kc_interp_product *p, int64_t batch) {
    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++) {
            uint64_t sum = 0;
            int64_t to = (batch * p->rows + i) * p->columns + j;
            for (int64_t k = 0; k < p->depth; k++)
                sum += (uint64_t)p->a.x->i[place(&p->a, i, k)] *
                       (uint64_t)p->b.x->i[place(&p->b, k, j)];
            p->r->i[to] = kc_integer_wrap(p->r->elem, (int64_t)sum);
            if (p->loose) p->r->e[to] = INFINITY;
        }
}

// ---- the product of two values ------------------------------------------------------------------

kc_interp_product kc_interp_product_begin(kc_interp *m, const kc_op *op, kc_interp_value *r,
                                          const kc_interp_value *a, const kc_interp_value *b,
                                          const int64_t extents[3]) {
    kc_interp_product p = {.m = m,
                           .op = op,
                           .precision = kc_number_precision(r->elem),
                           .rows = extents[0],
                           .columns = extents[1],
                           .depth = extents[2],
                           .a = {a, 0, 0, 0},
                           .b = {b, 0, 0, 0},
                           .r = r,
                           .loose = a->e || b->e};
    if (r->f) prepare_floats(&p);
    else if (p.loose) kc_interp_add_bounds(m, op, r);
    return p;
}

void kc_interp_multiply(kc_interp_product *p, int64_t batch, kc_interp_matrix a,
                        kc_interp_matrix b) {
    p->a = a;
    p->b = b;
    if (p->r->f) multiply_floats(p, batch);
    else multiply_integers(p, batch);
}

void kc_interp_product_end(kc_interp_product *p) {
    if (p->r->f) release_floats(p);
}

// ---- matmul -------------------------------------------------------------------------------------

static kc_interp_matrix matrix_of(const kc_interp_value *x, int64_t batch, int64_t rows,
                                  int64_t columns, bool transposed) {
    return (kc_interp_matrix){x, batch * rows * columns, transposed ? 1 : columns,
                              transposed ? rows : 1};
}

kc_interp_value *kc_interp_matmul(kc_interp *m, const kc_op *op) {
    const kc_interp_value *a = kc_interp_operand(m, op, 0), *b = kc_interp_operand(m, op, 1);
    bool ta = kc_attr_int(op, KC_ATTR_TRANSPOSE_A, 0), tb = kc_attr_int(op, KC_ATTR_TRANSPOSE_B, 0);
    kc_interp_value *r = kc_interp_make_typed(m, op, &kc_result(op, 0)->type);
    int last = r->rank - 1;
    int64_t rows = r->shape[last - 1], columns = r->shape[last],
            depth = a->shape[ta ? last - 1 : last];
    int64_t batches = kc_interp_elements(m, op, last - 1, r->shape);
    if (a->n != batches * rows * depth || b->n != batches * depth * columns)
        kc_interp_fail(m, op, "matmul: the operands' shapes do not fit the result's");
    if (r->n == 0) return r;
    kc_interp_product p =
        kc_interp_product_begin(m, op, r, a, b, (const int64_t[]){rows, columns, depth});
    for (int64_t k = 0; k < batches; k++)
        kc_interp_multiply(&p, k, matrix_of(a, k, rows, depth, ta),
                           matrix_of(b, k, depth, columns, tb));
    kc_interp_product_end(&p);
    return r;
}
