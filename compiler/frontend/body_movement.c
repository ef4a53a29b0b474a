// Ops that move elements: shape inference with symbolic dimensions.
#include "compiler/frontend/body_ops.h"

static kc_term poison(const kc_call *call) {
    return kc_term_poison(call->loc);
}

static kc_value *build(kc_call *call, kc_dtype dtype, int rank, const kc_expr *const *shape, int n,
                       kc_value *const *operands) {
    call->fn->builder.loc = call->loc;
    return kc_build_1(&call->fn->builder, call->op->code, kc_type_tensor(dtype, rank, shape), n,
                      operands);
}

// ---- transpose

kc_term kc_call_transpose(kc_call *call) {
    kc_value *x = kc_call_ranked(call, 0);
    const kc_ast *list = x ? kc_call_list(call, 1, "dimensions", KC_MAX_RANK) : NULL;
    if (!list) return poison(call);
    int64_t perm[KC_MAX_RANK];
    const kc_expr *shape[KC_MAX_RANK];
    bool seen[KC_MAX_RANK] = {false};
    if (list->count != x->type.rank) {
        KC_CALL_ERROR(call, list->loc,
                      "'perm' has %d entries but %s has %d dimensions: list each once", list->count,
                      kc_types_text(call->fn, &x->type), x->type.rank);
        return poison(call);
    }
    for (int d = 0; d < list->count; d++) {
        int axis;
        if (!kc_call_axis(call, list->args[d].value, &x->type, &axis)) return poison(call);
        if (seen[axis]) {
            KC_CALL_ERROR(call, list->args[d].loc, "'perm' has dimension %d twice: list each once",
                          axis);
            return poison(call);
        }
        seen[axis] = true;
        perm[d] = axis;
        shape[d] = x->type.shape[axis];
    }
    kc_value *result = build(call, x->type.elem, x->type.rank, shape, 1, &x);
    kc_attr_set_ints(call->fn->model->module, result->def, KC_ATTR_PERM, list->count, perm);
    return kc_term_tensor(result, call->loc);
}

// ---- reshape

static bool is_minus_one(const kc_expr *extent) {
    int64_t value;
    return kc_expr_is_const(extent, &value) && value == -1;
}

enum { MAX_FACTORS = 4 * KC_MAX_RANK };

typedef struct {
    const kc_expr *at[MAX_FACTORS]; // products taken apart, as far as there is room
    int n;
} factors;

static void add_factors(factors *f, const kc_expr *expr) {
    bool apart = expr->kind == KC_EXPR_MUL && f->n + 1 < MAX_FACTORS - KC_MAX_RANK;
    if (apart) {
        add_factors(f, expr->a);
        add_factors(f, expr->b);
    } else f->at[f->n++] = expr;
}

// Takes out what both have: a dimension may be 0, so that dividing by it would prove nothing.
static void cancel_factors(factors *f, factors *g) {
    for (int i = 0; i < f->n; i++)
        for (int j = 0; j < g->n; j++) {
            if (f->at[i] != g->at[j]) continue;
            f->at[i--] = f->at[--f->n];
            g->at[j] = g->at[--g->n];
            break;
        }
}

static const kc_expr *product(kc_call *call, const factors *f) {
    const kc_expr *result = kc_expr_const(call->fn->pool, 1);
    for (int i = 0; result && i < f->n; i++)
        result = kc_dims_binary(call->fn, kc_call_loc(call, 1), KC_EXPR_MUL, result, f->at[i]);
    return result;
}

// The extent that -1 stands for, or NULL: the extents of x divided by all the others, provided that
// this is exact.
static const kc_expr *missing_extent(kc_call *call, const kc_type *x, int rank,
                                     const kc_expr *const *shape, int missing) {
    kc_function *fn = call->fn;
    kc_loc loc = kc_call_loc(call, 1);
    factors have = {.n = 0}, given = {.n = 0};
    for (int d = 0; d < x->rank; d++)
        add_factors(&have, x->shape[d]);
    for (int d = 0; d < rank; d++)
        if (d != missing) add_factors(&given, shape[d]);
    cancel_factors(&have, &given);
    const kc_expr *total = product(call, &have), *rest = product(call, &given);
    const kc_expr *quotient =
        total && rest ? kc_dims_binary(fn, loc, KC_EXPR_DIV, total, rest) : NULL;
    if (!quotient) return NULL;
    if (kc_dims_divides(fn, total, rest, quotient)) return quotient;
    KC_CALL_ERROR(
        call, loc,
        "-1 needs %s to be a multiple of %s, which cannot be shown: write the extent, or give "
        "the dimension a 'multiple_of' in 'dims'",
        kc_dims_text(fn, total), kc_dims_text(fn, rest));
    return NULL;
}

static bool fill_missing(kc_call *call, const kc_type *x, int rank, const kc_expr **shape) {
    int missing = -1;
    for (int d = 0; d < rank; d++) {
        if (!is_minus_one(shape[d])) continue;
        if (missing >= 0) {
            KC_CALL_ERROR(call, kc_call_loc(call, 1),
                          "'shape' has -1 more than once: one extent can follow from the others");
            return false;
        }
        missing = d;
    }
    return missing < 0 || (shape[missing] = missing_extent(call, x, rank, shape, missing));
}

kc_term kc_call_reshape(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_tensor(call, 0);
    const kc_expr *shape[KC_MAX_RANK];
    int rank;
    if (!x || !kc_call_dims(call, 1, "dimensions", &rank, shape)) return poison(call);
    const kc_expr *total = kc_types_elements(fn, call->loc, &x->type);
    if (!total || !fill_missing(call, &x->type, rank, shape)) return poison(call);
    kc_type type = kc_type_tensor(x->type.elem, rank, shape);
    const kc_expr *elements = kc_types_check(fn, kc_call_loc(call, 1), &type)
                                  ? kc_types_elements(fn, call->loc, &type)
                                  : NULL;
    if (!elements) return poison(call);
    if (!kc_expr_known_equal(fn->pool, total, elements)) {
        KC_CALL_ERROR(
            call, kc_call_loc(call, 1),
            "cannot reshape %s to %s: %s and %s elements %s; -1 stands for an extent that "
            "follows from the others",
            kc_types_text(fn, &x->type), kc_types_text(fn, &type), kc_dims_text(fn, total),
            kc_dims_text(fn, elements),
            kc_expr_is_const(total, NULL) && kc_expr_is_const(elements, NULL)
                ? "differ"
                : "cannot be shown to be equal");
        return poison(call);
    }
    return kc_term_tensor(build(call, x->type.elem, rank, shape, 1, &x), call->loc);
}

// ---- broadcast

kc_term kc_call_broadcast(kc_call *call) {
    kc_function *fn = call->fn;
    const kc_term *x = &call->values[0];
    const kc_expr *shape[KC_MAX_RANK], *merged[KC_MAX_RANK];
    int rank, merged_rank = 0;
    if (!kc_call_dims(call, 1, "dimensions", &rank, shape)) return poison(call);
    kc_dtype dtype = kc_body_meet(1, x, KC_MEET_KEEP);
    kc_type type = kc_type_tensor(dtype, rank, shape);
    if (!kc_types_check(fn, kc_call_loc(call, 1), &type)) return poison(call);
    double number;
    if (x->kind == KC_TERM_REAL && kc_weak_is_number(x, &number) &&
        !kc_weak_check_float(fn, x->loc, number, dtype))
        return poison(call);
    if (x->kind != KC_TERM_TENSOR)
        return kc_term_tensor(kc_weak_materialize(fn, call->loc, x, dtype, rank, shape), call->loc);
    if (!kc_body_merge_shapes(fn, call->loc, &x->value->type, &type, &merged_rank, merged))
        return poison(call);
    kc_type result = kc_type_tensor(dtype, merged_rank, merged);
    if (!kc_type_same_shape(fn->pool, &result, &type)) {
        KC_CALL_ERROR(call, kc_call_loc(call, 1),
                      "%s cannot be broadcast to %s: only extents of 1 are repeated",
                      kc_types_text(fn, &x->value->type), kc_types_text(fn, &type));
        return poison(call);
    }
    return kc_term_tensor(kc_body_broadcast(fn, call->loc, x->value, rank, shape), call->loc);
}

// ---- concat

static bool check_part(kc_call *call, const kc_ast_arg *arg, const kc_value *first,
                       const kc_value *part, int axis) {
    kc_function *fn = call->fn;
    bool same = part->type.rank == first->type.rank;
    for (int d = 0; same && d < first->type.rank; d++)
        same =
            d == axis || kc_expr_known_equal(fn->pool, first->type.shape[d], part->type.shape[d]);
    if (!same)
        KC_CALL_ERROR(call, arg->loc,
                      "concat along dimension %d: %s and %s must have the same other dimensions",
                      axis, kc_types_text(fn, &first->type), kc_types_text(fn, &part->type));
    return same;
}

static kc_value *join(kc_call *call, const kc_ast *list, kc_value **parts, int axis) {
    kc_function *fn = call->fn;
    const kc_type *first = &parts[0]->type;
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < first->rank; d++)
        shape[d] = first->shape[d];
    for (int i = 1; i < list->count; i++) {
        if (!check_part(call, &list->args[i], parts[0], parts[i], axis)) return NULL;
        shape[axis] =
            kc_dims_binary(fn, call->loc, KC_EXPR_ADD, shape[axis], parts[i]->type.shape[axis]);
        if (!shape[axis]) return NULL;
    }
    kc_type type = kc_type_tensor(first->elem, first->rank, shape);
    if (!kc_types_check(fn, call->loc, &type)) return NULL;
    kc_value *result = build(call, first->elem, first->rank, shape, list->count, parts);
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    return result;
}

static bool read_parts(kc_call *call, const kc_ast *list, kc_term *terms) {
    bool good = true;
    for (int i = 0; i < list->count; i++) {
        terms[i] = kc_call_value(call, 0, list->args[i].value);
        bool ranked = terms[i].kind == KC_TERM_TENSOR && terms[i].value->type.rank > 0;
        if (!ranked && terms[i].kind != KC_TERM_POISON)
            KC_CALL_ERROR(call, list->args[i].loc,
                          "concat joins tensors of one dimension or more, not %s: reshape or "
                          "broadcast gives it one",
                          kc_term_text(call->fn, &terms[i]));
        good = good && ranked;
    }
    return good;
}

kc_term kc_call_concat(kc_call *call) {
    enum { MAX_PARTS = 64 };
    kc_function *fn = call->fn;
    const kc_ast *list = kc_call_list(call, 0, "tensors", MAX_PARTS);
    kc_term terms[MAX_PARTS];
    kc_value *parts[MAX_PARTS];
    int axis;
    if (!list) return poison(call);
    if (!list->count) {
        KC_CALL_ERROR(call, list->loc, "concat wants at least one tensor, seen an empty list");
        return poison(call);
    }
    if (!read_parts(call, list, terms) ||
        !kc_call_axis(call, call->given[1], &terms[0].value->type, &axis))
        return poison(call);
    kc_dtype dtype = kc_body_meet(list->count, terms, KC_MEET_KEEP);
    fn->builder.loc = call->loc;
    for (int i = 0; i < list->count; i++)
        parts[i] = kc_build_cast(&fn->builder, terms[i].value, dtype);
    return kc_term_tensor(join(call, list, parts, axis), call->loc);
}

// ---- pad

static bool read_amount(kc_call *call, const kc_ast *ast, const kc_expr **out) {
    *out = kc_dims_eval(call->fn, ast, true);
    if (!*out || kc_expr_min_value(call->fn->pool, *out) >= 0) return *out;
    KC_CALL_ERROR(call, ast->loc, "a pad of %s may be negative: use slice to take elements away",
                  kc_dims_text(call->fn, *out));
    return false;
}

static bool read_amounts(kc_call *call, const kc_type *x, const kc_expr **low,
                         const kc_expr **high) {
    const kc_ast *list = kc_call_list(call, 1, "[low, high] pairs", KC_MAX_RANK);
    if (!list) return false;
    if (list->count != x->rank) {
        KC_CALL_ERROR(call, list->loc,
                      "'amounts' has %d pairs but %s has %d dimensions: give one for each",
                      list->count, kc_types_text(call->fn, x), x->rank);
        return false;
    }
    for (int d = 0; d < list->count; d++) {
        const kc_ast *pair = list->args[d].value;
        if (pair->kind != KC_AST_LIST || pair->count != 2) {
            KC_CALL_ERROR(call, pair->loc, "expected a pair [low, high] for dimension %d, seen %s",
                          d,
                          pair->kind == KC_AST_LIST
                              ? kc_arena_printf(call->fn->arena, "%d entries", pair->count)
                              : kc_call_seen(call, pair));
            return false;
        }
        if (!read_amount(call, pair->args[0].value, &low[d]) ||
            !read_amount(call, pair->args[1].value, &high[d]))
            return false;
    }
    return true;
}

// The fill as the element type has it.
static bool check_fill(kc_call *call, kc_dtype dtype, double *fill) {
    if (kc_dtype_is_float(dtype)) {
        if (!kc_weak_check_float(call->fn, kc_call_loc(call, 2), *fill, dtype)) return false;
        *fill = kc_dtype_represent(dtype, *fill);
        return true;
    }
    bool fits = *fill >= -0x1p53 && *fill <= 0x1p53 && (double)(int64_t)*fill == *fill;
    if (fits && dtype != KC_i64) {
        char element[8] = {0};
        kc_dtype_store_i64(dtype, element, (int64_t)*fill);
        fits = kc_dtype_load(dtype, element) == *fill;
    }
    if (!fits)
        kc_call_refuse(
            call, 2,
            kc_arena_printf(call->fn->arena, "a value of %s, the type of x", kc_dtype_name(dtype)),
            kc_arena_printf(call->fn->arena, "%.17g", *fill), "");
    return fits;
}

kc_term kc_call_pad(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_ranked(call, 0);
    const kc_expr *low[KC_MAX_RANK], *high[KC_MAX_RANK], *shape[KC_MAX_RANK];
    double fill;
    if (!x || !read_amounts(call, &x->type, low, high) || !kc_call_number(call, 2, 0, &fill) ||
        !check_fill(call, x->type.elem, &fill))
        return poison(call);
    for (int d = 0; d < x->type.rank; d++) {
        const kc_expr *more = kc_dims_binary(fn, call->loc, KC_EXPR_ADD, low[d], high[d]);
        shape[d] = more ? kc_dims_binary(fn, call->loc, KC_EXPR_ADD, x->type.shape[d], more) : NULL;
        if (!shape[d]) return poison(call);
    }
    kc_type type = kc_type_tensor(x->type.elem, x->type.rank, shape);
    if (!kc_types_check(fn, call->loc, &type)) return poison(call);
    kc_value *result = build(call, x->type.elem, x->type.rank, shape, 1, &x);
    kc_attr_set_exprs(fn->model->module, result->def, KC_ATTR_LOW, x->type.rank, low);
    kc_attr_set_exprs(fn->model->module, result->def, KC_ATTR_HIGH, x->type.rank, high);
    kc_attr_set_float(result->def, KC_ATTR_VALUE, fill);
    return kc_term_tensor(result, call->loc);
}

// ---- gather

static kc_value *read_indices(kc_call *call) {
    kc_function *fn = call->fn;
    const kc_term *term = &call->values[1];
    if (term->kind == KC_TERM_INT) return kc_weak_materialize(fn, call->loc, term, KC_i64, 0, NULL);
    if (term->kind == KC_TERM_TENSOR && kc_dtype_is_integer(term->value->type.elem))
        return term->value;
    kc_call_refuse(call, 1, "of an integer type", kc_term_text(fn, term), "cast it to i32 or i64");
    return NULL;
}

kc_term kc_call_gather(kc_call *call) {
    kc_value *x = kc_call_ranked(call, 0), *indices = x ? read_indices(call) : NULL;
    int axis;
    if (!indices || !kc_call_axis_or(call, 2, &x->type, 0, &axis)) return poison(call);
    const kc_expr *shape[2 * KC_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < axis; d++)
        shape[rank++] = x->type.shape[d];
    for (int d = 0; d < indices->type.rank; d++)
        shape[rank++] = indices->type.shape[d];
    for (int d = axis + 1; d < x->type.rank; d++)
        shape[rank++] = x->type.shape[d];
    if (rank > KC_MAX_RANK) {
        KC_CALL_ERROR(
            call, call->loc,
            "the result has %d dimensions, %d of x and %d of indices; a tensor has at most %d",
            rank, x->type.rank - 1, indices->type.rank, (int)KC_MAX_RANK);
        return poison(call);
    }
    kc_type type = kc_type_tensor(x->type.elem, rank, shape);
    if (!kc_types_check(call->fn, call->loc, &type)) return poison(call);
    kc_value *result = build(call, x->type.elem, rank, shape, 2, (kc_value *[]){x, indices});
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    return kc_term_tensor(result, call->loc);
}

// ---- iota

kc_term kc_call_iota(kc_call *call) {
    kc_function *fn = call->fn;
    const kc_expr *shape[KC_MAX_RANK];
    int rank, axis;
    if (!kc_call_dims(call, 0, "dimensions", &rank, shape)) return poison(call);
    const char *name = kc_call_string(call, 2, "i64");
    kc_dtype dtype = name ? kc_types_dtype(fn, kc_call_loc(call, 2), name) : KC_DTYPE_NONE;
    if (dtype == KC_DTYPE_NONE) return poison(call);
    kc_type type = kc_type_tensor(dtype, rank, shape);
    if (!rank || dtype == KC_bool) {
        kc_call_refuse(call, rank ? 2 : 0, rank ? "a number type" : "a list of dimensions",
                       rank ? "bool" : "an empty list", "");
        return poison(call);
    }
    if (!kc_types_check(fn, kc_call_loc(call, 0), &type) ||
        !kc_call_axis_or(call, 1, &type, 0, &axis))
        return poison(call);
    kc_value *result = build(call, dtype, rank, shape, 0, NULL);
    kc_attr_set_int(result->def, KC_ATTR_AXIS, axis);
    return kc_term_tensor(result, call->loc);
}
