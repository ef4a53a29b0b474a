// rope, quantize, dequantize: values along the last dimension meet factors that are spread over it.
#include "compiler/frontend/body_ops.h"

static kc_term poison(const kc_call *call) {
    return kc_term_poison(call->loc);
}

static kc_value *read_number(kc_call *call, int i) {
    kc_value *x = kc_call_ranked(call, i);
    if (!x || x->type.elem != KC_bool) return x;
    kc_call_refuse(call, i, "of a number type", kc_types_text(call->fn, &x->type),
                   "cast it, such as cast(x, \"f32\")");
    return NULL;
}

// The last extent of x divided by an integer, exactly. NULL after an error.
static const kc_expr *part_of_last(kc_call *call, const kc_type *x, int64_t divisor,
                                   const char *what) {
    kc_function *fn = call->fn;
    const kc_expr *last = x->shape[x->rank - 1], *by = kc_expr_const(fn->pool, divisor);
    const kc_expr *part = NULL;
    int64_t extent;
    bool fixed = kc_expr_is_const(last, &extent);
    if (!fixed || extent % divisor == 0) {
        part = kc_dims_binary(fn, call->loc, KC_EXPR_DIV, last, by);
        if (!part || kc_dims_divides(fn, last, by, part)) return part;
    }
    KC_CALL_ERROR(call, call->loc, "%s of %s wants a last dimension that %lld divides, seen %s: %s",
                  call->op->name, what, (long long)divisor, kc_types_text(fn, x),
                  fixed ? "pad it"
                        : "say so in 'dims' (multiple_of), or divide it in the type of an input");
    return NULL;
}

// ---- rope

kc_term kc_call_rope(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *values[3];
    for (int i = 0; i < 3; i++)
        if (!(values[i] = read_number(call, i))) return poison(call);
    kc_type x = values[0]->type, half = x;
    half.shape[x.rank - 1] = part_of_last(call, &x, 2, "two halves");
    if (!half.shape[x.rank - 1]) return poison(call);
    const kc_expr *shape[KC_MAX_RANK];
    int rank;
    kc_type met = kc_type_tensor(half.elem, half.rank, half.shape);
    for (int i = 1; i < 3; i++) {
        if (!kc_body_merge_shapes(fn, kc_call_loc(call, i), &met, &values[i]->type, &rank, shape))
            return poison(call);
        met = kc_type_tensor(half.elem, rank, shape);
    }
    if (!kc_expr_known_equal(fn->pool, met.shape[met.rank - 1], half.shape[x.rank - 1])) {
        kc_call_refuse(
            call, 1,
            kc_arena_printf(fn->arena, "half as long as x (%s) at the end", kc_types_text(fn, &x)),
            kc_types_text(fn, &values[1]->type), "");
        return poison(call);
    }
    kc_dtype dtype = kc_body_meet(3, call->values, KC_MEET_REAL);
    kc_type result = kc_type_tensor(dtype, met.rank, met.shape);
    result.shape[met.rank - 1] = x.shape[x.rank - 1];
    for (int i = 0; i < 3; i++)
        values[i] = kc_body_materialize(fn, call->loc, &call->values[i], dtype, met.rank,
                                        i ? met.shape : result.shape);
    fn->builder.loc = call->loc;
    return kc_term_tensor(kc_build_1(&fn->builder, KC_OP_ROPE, result, 3, values), call->loc);
}

// ---- quantize, dequantize

// The number of blocks along the last dimension, 1 without `block`.
static const kc_expr *read_blocks(kc_call *call, const kc_type *x, int64_t *block) {
    *block = 0;
    if (!call->given[2]) return kc_expr_const(call->fn->pool, 1);
    if (!kc_call_int(call, call->given[2], "'block'", block)) return NULL;
    if (*block >= 1 && *block <= INT32_MAX)
        return part_of_last(call, x, *block,
                            kc_arena_printf(call->fn->arena, "blocks of %lld", (long long)*block));
    kc_call_refuse(call, 2, "at least 1",
                   kc_arena_printf(call->fn->arena, "%lld", (long long)*block),
                   "it counts the neighbours that share a scale");
    return NULL;
}

static bool read_scale(kc_call *call) {
    const kc_term *scale = &call->values[1];
    if (scale->kind != KC_TERM_TENSOR || kc_dtype_is_float(scale->value->type.elem)) return true;
    kc_call_refuse(call, 1, "of a float type", kc_types_text(call->fn, &scale->value->type),
                   "cast it, such as cast(scale, \"f32\")");
    return false;
}

// Scales broadcast against [..., blocks]; they make nothing larger.
static bool check_scale(kc_call *call, const kc_type *x, const kc_expr *blocks,
                        const kc_type *scale) {
    kc_function *fn = call->fn;
    kc_type each = kc_type_tensor(x->elem, x->rank, x->shape);
    each.shape[x->rank - 1] = blocks;
    int lead = x->rank - scale->rank;
    bool fits = lead >= 0;
    for (int d = 0; fits && d < scale->rank; d++)
        fits = kc_expr_is_one(scale->shape[d]) ||
               kc_expr_known_equal(fn->pool, scale->shape[d], each.shape[lead + d]);
    bool deep = fits && scale->rank == KC_MAX_RANK && call->given[2];
    if (fits && !deep) return true;
    each.elem = scale->elem;
    kc_call_refuse(
        call, 1,
        deep ? kc_arena_printf(fn->arena, "of at most %d dimensions", (int)KC_MAX_RANK - 1)
             : kc_arena_printf(fn->arena, "such that it broadcasts to %s, one for each block of %s",
                               kc_types_text(fn, &each), kc_types_text(fn, x)),
        kc_types_text(fn, scale), "");
    return false;
}

static kc_dtype computed_in(const kc_call *call) {
    for (int i = 0; i < 2; i++)
        if (call->values[i].kind == KC_TERM_TENSOR && call->values[i].value->type.elem == KC_f64)
            return KC_f64;
    return KC_f32;
}

// x and its scales in the type they are computed in. False after an error.
static bool read_scaled(kc_call *call, kc_value *values[2], int64_t *block) {
    kc_function *fn = call->fn;
    kc_value *x = read_number(call, 0);
    if (!x || !read_scale(call)) return false;
    const kc_expr *blocks = read_blocks(call, &x->type, block);
    kc_value *scale = call->values[1].value;
    if (!blocks || (scale && !check_scale(call, &x->type, blocks, &scale->type))) return false;
    kc_dtype dtype = computed_in(call);
    values[0] = kc_build_cast(&fn->builder, x, dtype);
    values[1] = kc_body_materialize(fn, call->loc, &call->values[1], dtype,
                                    scale ? scale->type.rank : 0, scale ? scale->type.shape : NULL);
    fn->builder.loc = call->loc;
    return values[1];
}

kc_term kc_call_quantize(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *values[2];
    int64_t block;
    const char *name = kc_call_string(call, 3, NULL);
    kc_dtype dtype = name ? kc_types_dtype(fn, kc_call_loc(call, 3), name) : KC_DTYPE_NONE;
    if (dtype == KC_bool) kc_call_refuse(call, 3, "a number type", "bool", "");
    if (dtype == KC_DTYPE_NONE || dtype == KC_bool || !read_scaled(call, values, &block))
        return poison(call);
    const kc_type *x = &values[0]->type;
    kc_value *result = kc_build_1(&fn->builder, KC_OP_QUANTIZE,
                                  kc_type_tensor(dtype, x->rank, x->shape), 2, values);
    if (block) kc_attr_set_int(result->def, KC_ATTR_BLOCK, block);
    kc_attr_set_dtype(result->def, KC_ATTR_DTYPE, dtype);
    return kc_term_tensor(result, call->loc);
}

kc_term kc_call_dequantize(kc_call *call) {
    kc_value *values[2];
    int64_t block;
    if (!read_scaled(call, values, &block)) return poison(call);
    const kc_type *x = &values[0]->type;
    kc_value *result = kc_build_1(&call->fn->builder, KC_OP_DEQUANTIZE,
                                  kc_type_tensor(x->elem, x->rank, x->shape), 2, values);
    if (block) kc_attr_set_int(result->def, KC_ATTR_BLOCK, block);
    return kc_term_tensor(result, call->loc);
}
