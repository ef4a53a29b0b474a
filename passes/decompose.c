// decompose: composite ops become primitives. The only pass that knows ops one by one.
//
// before:
//   module @m
//   func @f(%x: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..2147483647, N: 0..2147483647} {
//     %y = softmax %x {axis = 1} : f32[M, N]
//     return %y
//   }
// after:
//   module @m
//   func @f(%x: f32[M, N]) -> (y: f32[M, N]) dims {M: 0..2147483647, N: 0..2147483647} {
//     %0 = reduce %x {axes = [1], init = [-inf]} : f32[M] {
//     ^(%a: f32[], %b: f32[]):
//       %1 = max %a, %b : f32[]
//       yield %1
//     }
//     %2 = reshape %0 : f32[M, 1]
//     %3 = broadcast %2 : f32[M, N]
//     %4 = sub %x, %3 : f32[M, N]
//     %5 = exp %4 : f32[M, N]
//     %6 = reduce %5 {axes = [1], init = [0]} : f32[M] {
//     ^(%a_1: f32[], %b_1: f32[]):
//       %7 = add %a_1, %b_1 : f32[]
//       yield %7
//     }
//     %8 = reshape %6 : f32[M, 1]
//     %9 = broadcast %8 : f32[M, N]
//     %y = div %5, %9 : f32[M, N]
//     return %y
//   }
//
// Requires nothing.
#include "passes/decompose.h"
#include "passes/pass.h"

#include <math.h>
#include <string.h>

static kc_value *binary(kc_builder *b, kc_opcode code, kc_value *x, kc_value *y) {
    return kc_build_binary(b, code, x, y);
}

static kc_value *scaled(kc_builder *b, kc_value *x, double by) {
    return binary(b, KC_OP_MUL, x, kc_tensor_const(b, &x->type, by));
}

static kc_value *plus(kc_builder *b, kc_value *x, double by) {
    return binary(b, KC_OP_ADD, x, kc_tensor_const(b, &x->type, by));
}

// ---- activations --------------------------------------------------------------------------------

// v * sigmoid(x), by exp(x) / (1 + exp(x)) to the left of 0 and 1 / (1 + exp(-x)) else: neither exp
// overflows.
static kc_value *times_sigmoid(kc_builder *b, kc_value *v, kc_value *x) {
    kc_value *t =
        kc_build_unary(b, KC_OP_EXP, kc_build_unary(b, KC_OP_NEG, kc_build_unary(b, KC_OP_ABS, x)));
    kc_value *is_left = binary(b, KC_OP_LT, x, kc_tensor_const(b, &x->type, 0));
    kc_value *above = kc_build_elementwise(b, KC_OP_SELECT, 3,
                                           (kc_value *[]){is_left, binary(b, KC_OP_MUL, v, t), v});
    return binary(b, KC_OP_DIV, above, plus(b, t, 1));
}

static kc_value *expand_sigmoid(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    return times_sigmoid(b, kc_tensor_const(b, &x->type, 1), x);
}

static kc_value *expand_silu(kc_builder *b, kc_op *op) {
    return times_sigmoid(b, kc_operand(op, 0), kc_operand(op, 0));
}

static kc_value *expand_relu(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    return binary(b, KC_OP_MAX, x, kc_tensor_const(b, &x->type, 0));
}

// x/2 * (1 + inner)
static kc_value *gelu_with(kc_builder *b, kc_value *x, kc_value *inner) {
    return binary(b, KC_OP_MUL, scaled(b, x, 0.5), plus(b, inner, 1));
}

static kc_value *expand_gelu(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    return gelu_with(b, x, kc_build_unary(b, KC_OP_ERF, scaled(b, x, M_SQRT1_2)));
}

// tanh(sqrt(2/pi) * (x + 0.044715 x^3))
static kc_value *expand_gelu_tanh(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0), *square = binary(b, KC_OP_MUL, x, x);
    kc_value *inner = binary(b, KC_OP_MUL, x, plus(b, scaled(b, square, 0.044715), 1));
    return gelu_with(b, x, kc_build_unary(b, KC_OP_TANH, scaled(b, inner, M_2_SQRTPI * M_SQRT1_2)));
}

static kc_value *expand_clamp(kc_builder *b, kc_op *op) {
    return binary(b, KC_OP_MIN, binary(b, KC_OP_MAX, kc_operand(op, 0), kc_operand(op, 1)),
                  kc_operand(op, 2));
}

// ---- reductions ---------------------------------------------------------------------------------

static kc_value *with_result_shape(kc_builder *b, kc_op *op, kc_value *v) {
    const kc_type *type = &kc_result(op, 0)->type;
    return kc_tensor_reshape(b, v, type->rank, type->shape);
}

static kc_value *reduced(kc_builder *b, kc_op *op, kc_opcode combine, double init) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    kc_value *x = kc_operand(op, 0);
    if (axes->count == 0) return x;
    return kc_tensor_reduce(b, combine, x, axes->count, axes->integers, init);
}

static kc_value *expand_sum(kc_builder *b, kc_op *op) {
    return with_result_shape(b, op, reduced(b, op, KC_OP_ADD, 0));
}

static kc_value *expand_prod(kc_builder *b, kc_op *op) {
    return with_result_shape(b, op, reduced(b, op, KC_OP_MUL, 1));
}

// The identities of max and min; integers and floats without infinities saturate to their ends.
static double lowest(kc_dtype t) {
    return t == KC_bool || t == KC_f8e8m0 ? 0 : -INFINITY;
}

static double highest(kc_dtype t) {
    return t == KC_bool ? 1 : INFINITY;
}

static kc_value *expand_amax(kc_builder *b, kc_op *op) {
    return with_result_shape(b, op,
                             reduced(b, op, KC_OP_MAX, lowest(kc_operand(op, 0)->type.elem)));
}

static kc_value *expand_amin(kc_builder *b, kc_op *op) {
    return with_result_shape(b, op,
                             reduced(b, op, KC_OP_MIN, highest(kc_operand(op, 0)->type.elem)));
}

static kc_value *mean_of(kc_builder *b, kc_value *x, int n_axes, const int64_t *axes) {
    kc_value *sum = kc_tensor_reduce(b, KC_OP_ADD, x, n_axes, axes, 0);
    kc_value *count = kc_tensor_count(b, &x->type, n_axes, axes, x->type.elem);
    return binary(b, KC_OP_DIV, sum,
                  kc_tensor_broadcast(b, count, sum->type.rank, sum->type.shape));
}

static kc_value *expand_mean(kc_builder *b, kc_op *op) {
    const kc_attr *axes = kc_attr_get(op, KC_ATTR_AXES);
    kc_value *x = kc_operand(op, 0);
    if (axes->count == 0) return with_result_shape(b, op, x);
    return with_result_shape(b, op, mean_of(b, x, axes->count, axes->integers));
}

// Whether (bv, bi) comes before (av, ai): better, or as good and earlier; a NaN is better than any
// number.
static kc_value *second_wins(kc_builder *b, kc_opcode better, kc_value *const *v) {
    kc_value *wins = binary(b, better, v[2], v[0]), *tie = binary(b, KC_OP_EQ, v[2], v[0]);
    if (kc_dtype_is_float(v[0]->type.elem)) {
        kc_value *nan_a = binary(b, KC_OP_NE, v[0], v[0]), *nan_b = binary(b, KC_OP_NE, v[2], v[2]);
        kc_value *only_b = binary(b, KC_OP_AND, nan_b, kc_build_unary(b, KC_OP_NOT, nan_a));
        wins = binary(b, KC_OP_OR, wins, only_b);
        tie = binary(b, KC_OP_OR, tie, binary(b, KC_OP_AND, nan_a, nan_b));
    }
    return binary(b, KC_OP_OR, wins, binary(b, KC_OP_AND, tie, binary(b, KC_OP_LT, v[3], v[1])));
}

static kc_value *arg_reduce(kc_builder *b, kc_op *op, kc_opcode better, double init) {
    kc_module *module = b->module;
    kc_expr_pool *pool = kc_op_pool(op);
    const kc_attr *attr = kc_attr_get(op, KC_ATTR_AXES);
    kc_value *x = kc_operand(op, 0);
    int64_t axis = attr->count == 1 ? attr->integers[0] : 0;
    if (attr->count != 1) { // of the flattened tensor
        const kc_expr *all = kc_type_elements(pool, &x->type);
        x = kc_tensor_reshape(b, x, 1, &all);
    }
    kc_value *index =
        kc_build_1(b, KC_OP_IOTA, kc_type_tensor(KC_i64, x->type.rank, x->type.shape), 0, NULL);
    kc_attr_set_int(index->def, KC_ATTR_AXIS, axis);
    kc_type types[2] = {kc_tensor_reduced_type(&x->type, 1, &axis, x->type.elem, false, pool),
                        kc_tensor_reduced_type(&x->type, 1, &axis, KC_i64, false, pool)};
    kc_op *reduce = kc_build(b, KC_OP_REDUCE, 2, (kc_value *[]){x, index}, 2, types);
    kc_attr_set_ints(module, reduce, KC_ATTR_AXES, 1, &axis);
    kc_attr_set_floats(module, reduce, KC_ATTR_INIT, 2, (double[]){init, INFINITY});
    kc_block *body = kc_op_add_body(module, reduce);
    const char *names[4] = {"av", "ai", "bv", "bi"};
    for (int i = 0; i < 4; i++)
        kc_block_add_arg(module, body, kc_type_tensor(i % 2 ? KC_i64 : x->type.elem, 0, NULL),
                         names[i]);
    kc_builder inner = kc_builder_at_end(module, body, b->loc);
    kc_value *wins = second_wins(&inner, better, body->args), *next[2];
    for (int i = 0; i < 2; i++)
        next[i] = kc_build_elementwise(&inner, KC_OP_SELECT, 3,
                                       (kc_value *[]){wins, body->args[2 + i], body->args[i]});
    kc_build(&inner, KC_OP_YIELD, 2, next, 0, NULL);
    return with_result_shape(b, op, kc_result(reduce, 1));
}

static kc_value *expand_argmax(kc_builder *b, kc_op *op) {
    return arg_reduce(b, op, KC_OP_GT, lowest(kc_operand(op, 0)->type.elem));
}

static kc_value *expand_argmin(kc_builder *b, kc_op *op) {
    return arg_reduce(b, op, KC_OP_LT, highest(kc_operand(op, 0)->type.elem));
}

// The identity of a sum is -0: it leaves a first element of -0 as it is.
static kc_value *expand_cumsum(kc_builder *b, kc_op *op) {
    kc_value *x = kc_build_cast(b, kc_operand(op, 0), kc_result(op, 0)->type.elem);
    double zero = kc_dtype_is_float(x->type.elem) ? -0.0 : 0;
    return kc_tensor_scan(b, KC_OP_ADD, x, kc_attr_int(op, KC_ATTR_AXIS, 0), zero);
}

// ---- normalisations -----------------------------------------------------------------------------

// x - max(x) and the sum of its exponentials, both with the shape of x.
static void shifted_and_sum(kc_builder *b, kc_op *op, kc_value **shifted, kc_value **exponential,
                            kc_value **sum) {
    kc_value *x = kc_operand(op, 0);
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    kc_value *largest = kc_tensor_reduce(b, KC_OP_MAX, x, 1, &axis, -INFINITY);
    *shifted = binary(b, KC_OP_SUB, x, kc_tensor_spread(b, largest, 1, &axis, &x->type));
    *exponential = kc_build_unary(b, KC_OP_EXP, *shifted);
    *sum = kc_tensor_reduce(b, KC_OP_ADD, *exponential, 1, &axis, 0);
}

static kc_value *expand_softmax(kc_builder *b, kc_op *op) {
    kc_value *shifted, *exponential, *sum;
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    shifted_and_sum(b, op, &shifted, &exponential, &sum);
    return binary(b, KC_OP_DIV, exponential, kc_tensor_spread(b, sum, 1, &axis, &shifted->type));
}

static kc_value *expand_log_softmax(kc_builder *b, kc_op *op) {
    kc_value *shifted, *exponential, *sum;
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    shifted_and_sum(b, op, &shifted, &exponential, &sum);
    kc_value *log = kc_build_unary(b, KC_OP_LOG, sum);
    return binary(b, KC_OP_SUB, shifted, kc_tensor_spread(b, log, 1, &axis, &shifted->type));
}

// A vector along `axis`, repeated over the other dimensions of `like`.
static kc_value *along_axis(kc_builder *b, kc_value *vector, int64_t axis, const kc_type *like) {
    kc_expr_pool *pool = kc_op_pool(b->block->parent);
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < like->rank; d++)
        shape[d] = d == axis ? vector->type.shape[0] : kc_expr_const(pool, 1);
    return kc_tensor_broadcast(b, kc_tensor_reshape(b, vector, like->rank, shape), like->rank,
                               like->shape);
}

// x / sqrt(mean(x * x) + eps) along the axis, times scale.
static kc_value *normalised(kc_builder *b, kc_op *op, kc_value *x) {
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    kc_value *mean_square = mean_of(b, binary(b, KC_OP_MUL, x, x), 1, &axis);
    kc_value *inverse =
        kc_build_unary(b, KC_OP_RSQRT, plus(b, mean_square, kc_attr_float(op, KC_ATTR_EPS, 0)));
    kc_value *unit = binary(b, KC_OP_MUL, x, kc_tensor_spread(b, inverse, 1, &axis, &x->type));
    return binary(b, KC_OP_MUL, unit, along_axis(b, kc_operand(op, 1), axis, &x->type));
}

static kc_value *expand_rmsnorm(kc_builder *b, kc_op *op) {
    return normalised(b, op, kc_operand(op, 0));
}

static kc_value *expand_layernorm(kc_builder *b, kc_op *op) {
    kc_value *x = kc_operand(op, 0);
    int64_t axis = kc_attr_int(op, KC_ATTR_AXIS, 0);
    kc_value *centred =
        binary(b, KC_OP_SUB, x, kc_tensor_spread(b, mean_of(b, x, 1, &axis), 1, &axis, &x->type));
    return binary(b, KC_OP_ADD, normalised(b, op, centred),
                  along_axis(b, kc_operand(op, 2), axis, &x->type));
}

// -------------------------------------------------------------------------------------------------

static kc_expansion *const expansions[KC_OP_COUNT] = {
    [KC_OP_SIGMOID] = expand_sigmoid,
    [KC_OP_RELU] = expand_relu,
    [KC_OP_GELU] = expand_gelu,
    [KC_OP_GELU_TANH] = expand_gelu_tanh,
    [KC_OP_SILU] = expand_silu,
    [KC_OP_CLAMP] = expand_clamp,
    [KC_OP_SUM] = expand_sum,
    [KC_OP_PROD] = expand_prod,
    [KC_OP_MEAN] = expand_mean,
    [KC_OP_AMAX] = expand_amax,
    [KC_OP_AMIN] = expand_amin,
    [KC_OP_ARGMAX] = expand_argmax,
    [KC_OP_ARGMIN] = expand_argmin,
    [KC_OP_CUMSUM] = expand_cumsum,
    [KC_OP_SOFTMAX] = expand_softmax,
    [KC_OP_LOG_SOFTMAX] = expand_log_softmax,
    [KC_OP_LAYERNORM] = expand_layernorm,
    [KC_OP_RMSNORM] = expand_rmsnorm,
    [KC_OP_ROPE] = kc_expand_rope,
    [KC_OP_QUANTIZE] = kc_expand_quantize,
    [KC_OP_DEQUANTIZE] = kc_expand_dequantize,
};

static void expand(kc_module *module, kc_op *op) {
    if (!expansions[op->code]) return;
    kc_builder b = kc_builder_before(module, op);
    kc_value *by = expansions[op->code](&b, op);
    if (by) kc_op_replace(op, by);
}

static bool run(kc_pass_context *pass) {
    KC_FOR_OPS(func, pass->module->body)
        KC_FOR_OPS(op, func->body)
            expand(pass->module, op);
    return true;
}

const kc_pass kc_pass_decompose = {
    .name = "decompose",
    .meaning = "composite ops become primitives",
    .level_in = KC_LEVEL_COMPOSITE,
    .level_out = KC_LEVEL_TENSOR,
    .run = run,
};
