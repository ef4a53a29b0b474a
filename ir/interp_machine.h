// What the files of the reference interpreter share: values, the machine that runs blocks, and the
// op implementations.
#ifndef KC_IR_INTERP_MACHINE_H
#define KC_IR_INTERP_MACHINE_H

#include <setjmp.h>

#include "ir/interp.h"
#include "ir/interp_number.h"

// A tensor, contiguous and row-major. Inside the region of a reduction a scalar stands for many at
// once: n is then the number of them, and operands with n = 1 are alike for all.
typedef struct kc_interp_value {
    kc_dtype elem;
    int rank;
    int64_t shape[KC_MAX_RANK];
    int64_t n;
    double *f;                         // elements of float types, else NULL
    int64_t *i;                        // elements of integer types and bool, else NULL
    double *e;                         // bounds; NULL: all are 0
    struct kc_interp_value *unrounded; // what a cast to a narrower float type rounded, or NULL
    int holders;
} kc_interp_value;

enum { KC_MAX_INTERP_RESULTS = 64 };

typedef struct kc_interp_memory kc_interp_memory; // header of a block, in a list

typedef struct {
    const kc_value *key;
    kc_interp_value *value;
    int uses_left; // in the block that runs
} kc_interp_slot;

typedef struct {
    jmp_buf trouble; // where kc_interp_fail goes
    char text[400];
    kc_loc loc;
    kc_interp_memory *memory;
    size_t bytes, max_bytes;
    kc_interp_slot *slots; // open addressing
    size_t n_slots, used_slots;
    const kc_op *func;
    const kc_expr_pool *pool;
    int64_t *symbols;
    bool *bound;
    int64_t clamped;
    int batch; // inside the region of a reduction, where scalars stand for many
} kc_interp;

// ---- the machine (interp_value.c) ---------------------------------------------------------------
_Noreturn void kc_interp_fail(kc_interp *, const kc_op *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *kc_interp_alloc(kc_interp *, const kc_op *, int64_t n, size_t size); // zeroed
void kc_interp_free(kc_interp *, void *);                                  // accepts NULL
void kc_interp_close(kc_interp *);                                         // frees everything
int64_t kc_interp_eval(kc_interp *, const kc_op *, const kc_expr *);
int64_t kc_interp_elements(kc_interp *, const kc_op *, int rank, const int64_t *shape);
// A new value with one holder.
kc_interp_value *kc_interp_make(kc_interp *, const kc_op *, kc_dtype, int rank,
                                const int64_t *shape);
kc_interp_value *kc_interp_make_typed(kc_interp *, const kc_op *,
                                      const kc_type *); // shape by the symbols
kc_interp_value *kc_interp_make_like(kc_interp *, const kc_op *, kc_dtype,
                                     const kc_interp_value *shape);
void kc_interp_add_bounds(kc_interp *, const kc_op *, kc_interp_value *);
kc_interp_value *kc_interp_hold(kc_interp_value *);
void kc_interp_drop(kc_interp *, kc_interp_value *); // accepts NULL
kc_interp_value *kc_interp_get(kc_interp *, const kc_op *, const kc_value *);
void kc_interp_set(kc_interp *, const kc_value *, kc_interp_value *); // takes over the hold
void kc_interp_used(kc_interp *,
                    const kc_value *); // one use less to come; the last one drops the value

static inline kc_interp_value *kc_interp_operand(kc_interp *m, const kc_op *op, int i) {
    return kc_interp_get(m, op, kc_operand(op, i));
}
static inline kc_number kc_interp_number(const kc_interp_value *v, int64_t i) {
    return (kc_number){v->f[i], v->e ? v->e[i] : 0};
}
static inline kc_integer kc_interp_integer(const kc_interp_value *v, int64_t i) {
    return (kc_integer){v->i[i], v->e ? v->e[i] : 0};
}

// ---- blocks (interp.c): runs the ops; results[] are what its terminator gives, with a hold each
void kc_interp_block(kc_interp *, const kc_block *, int n_results, kc_interp_value **results);
// The body of a function or variant whose symbols are bound, from the call's inputs to its outputs.
void kc_interp_scope(kc_interp *, const kc_op *scope, const kc_interp_call *);

// ---- arguments (interp_arguments.c) -------------------------------------------------------------
typedef struct {
    const kc_interp_array *inputs, *outputs;
    int n_inputs, n_outputs;
    const kc_interp_symbol *symbols;
    int n_symbols;
} kc_interp_arguments;
void kc_interp_bind(
    kc_interp *,
    const kc_interp_arguments *); // values for the symbols of m->pool; checks the arguments

typedef struct {
    int64_t at; // offset in elements
    int64_t index[KC_MAX_RANK], strides[KC_MAX_RANK];
    const kc_interp_array *array;
} kc_interp_cursor;
kc_interp_cursor kc_interp_start(const kc_interp_array *);
void kc_interp_advance(kc_interp_cursor *); // in row-major order
kc_interp_value *kc_interp_load(kc_interp *, const kc_op *, const kc_interp_array *);

// ---- ops. Each gives its result with a hold. ----------------------------------------------------
typedef kc_interp_value *kc_interp_op(kc_interp *, const kc_op *);
kc_interp_op *kc_interp_movement_of(kc_opcode); // NULL: not one of these
kc_interp_op *kc_interp_composite_of(kc_opcode);
kc_interp_op kc_interp_matmul, kc_interp_conv2d;
void kc_interp_reduce(kc_interp *, const kc_op *, kc_interp_value **results);
void kc_interp_scan(kc_interp *, const kc_op *, kc_interp_value **results); // interp_scan.c

// ---- products of matrices (interp_matmul.c) -----------------------------------------------------
typedef struct {
    const kc_interp_value *x;
    int64_t first, row_stride, column_stride; // of its elements
} kc_interp_matrix;

typedef struct {
    kc_interp *m;
    const kc_op *op;
    kc_precision precision;
    int64_t rows, columns, depth;
    kc_interp_matrix a, b;
    kc_interp_value *r;
    bool exact;                     // no partial sum is ever rounded
    bool loose;                     // operands have bounds
    double *b_v, *b_size, *b_reach; // [depth, columns]: b, |b|, |b| + e
    double *sizes, *reaches;        // of a row of the result: sum |a| |b|, sum (|a| + ea)(|b| + eb)
} kc_interp_product;

// r[batch, rows, columns] = a[rows, depth] @ b[depth, columns]. `begin` is told the values whose
// elements the factors of all batches are (and zeros); a begun product must be ended.
kc_interp_product kc_interp_product_begin(kc_interp *, const kc_op *, kc_interp_value *r,
                                          const kc_interp_value *a, const kc_interp_value *b,
                                          const int64_t rows_columns_depth[3]);
void kc_interp_multiply(kc_interp_product *, int64_t batch, kc_interp_matrix a, kc_interp_matrix b);
void kc_interp_product_end(kc_interp_product *);

// ---- elementwise --------------------------------------------------------------------------------
// `op` names the place of a failure. contracted: see kc_precision.
kc_interp_value *kc_interp_apply(kc_interp *, const kc_op *op, kc_opcode, int n,
                                 kc_interp_value *const *operands, bool contracted);
kc_interp_value *kc_interp_cast(kc_interp *, const kc_op *op, kc_interp_value *, kc_dtype to);
kc_interp_value *kc_interp_scalar(kc_interp *, const kc_op *op, kc_dtype,
                                  double v); // a literal, rank 0
kc_interp_value *kc_interp_count(kc_interp *, const kc_op *op, kc_dtype,
                                 int64_t); // an integer, rank 0

// x reduced over axes by one op; kept axes have extent 1 when `keep`.
kc_interp_value *kc_interp_reduce_by(kc_interp *, const kc_op *op, kc_opcode combine,
                                     kc_interp_value *x, const bool *reduced, bool keep);
// x scanned along one axis by one op whose identity is init.
kc_interp_value *kc_interp_scan_by(kc_interp *, const kc_op *op, kc_opcode combine,
                                   kc_interp_value *x, int axis, double init);
// Of a reduction's region: the op that alone combines component i, KC_OP_COUNT if there is none;
// whether anything in it rounds; its initial values as integers, where infinities are the ends of the type; its ops applied to two
// tuples of lists, args[2n], which are taken over.
kc_opcode kc_interp_combiner(const kc_op *, int i);
bool kc_interp_combiner_rounds(const kc_op *);
bool kc_interp_is_identity(kc_opcode, double init);
int64_t kc_interp_integer_init(kc_dtype, double init);
void kc_interp_combine(kc_interp *, const kc_op *op, kc_interp_value **args,
                       kc_interp_value **results);
// NumPy broadcasting.
kc_interp_value *kc_interp_broadcast(kc_interp *, const kc_op *op, kc_interp_value *x, int rank,
                                     const int64_t *shape);
// dst and src stand at their first element; strides in elements. Elements, or bounds: all have 8
// bytes.
void kc_interp_copy(int rank, const int64_t *shape, void *dst, const int64_t *dst_strides,
                    const void *src, const int64_t *src_strides);
void kc_interp_strides(int rank, const int64_t *shape, int64_t *strides); // contiguous

#endif
