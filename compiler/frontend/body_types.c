// Promotion and broadcasting: what NumPy leaves implicit becomes `cast` and `broadcast` ops here.
#include "compiler/frontend/body_types.h"

kc_term kc_term_poison(kc_loc loc) {
    return (kc_term){.kind = KC_TERM_POISON, .loc = loc};
}

kc_term kc_term_tensor(kc_value *value, kc_loc loc) {
    return (kc_term){.kind = value ? KC_TERM_TENSOR : KC_TERM_POISON, .loc = loc, .value = value};
}

bool kc_term_any_poison(int n, const kc_term *terms) {
    for (int i = 0; i < n; i++)
        if (terms[i].kind == KC_TERM_POISON) return true;
    return false;
}

const char *kc_term_text(kc_function *fn, const kc_term *term) {
    if (term->kind == KC_TERM_TENSOR) return kc_types_text(fn, &term->value->type);
    return term->kind == KC_TERM_INT ? "an integer without a type" : "a number without a type";
}

// ---- types

static kc_dtype promote_strong(int n, const kc_term *terms) {
    kc_dtype dtype = KC_DTYPE_NONE;
    for (int i = 0; i < n; i++) {
        if (terms[i].kind != KC_TERM_TENSOR) continue;
        kc_dtype one = terms[i].value->type.elem;
        dtype = dtype == KC_DTYPE_NONE ? one : kc_dtype_promote(dtype, one);
    }
    return dtype;
}

static bool has_kind(int n, const kc_term *terms, kc_term_kind kind) {
    for (int i = 0; i < n; i++)
        if (terms[i].kind == kind) return true;
    return false;
}

static bool literals_exact(int n, const kc_term *terms, kc_dtype dtype) {
    for (int i = 0; i < n; i++) {
        double number;
        if (terms[i].kind == KC_TERM_TENSOR) continue;
        if (!kc_weak_is_number(&terms[i], &number)) return false;
        double held = kc_dtype_represent(dtype, number);
        if (held != number && (held == held || number == number)) return false;
    }
    return true;
}

kc_dtype kc_body_meet(int n, const kc_term *terms, kc_meet meet) {
    kc_dtype dtype = promote_strong(n, terms);
    bool integer = has_kind(n, terms, KC_TERM_INT), number = has_kind(n, terms, KC_TERM_REAL);
    if (dtype == KC_DTYPE_NONE) dtype = number ? KC_f32 : KC_i64;
    else if (number && !kc_dtype_is_float(dtype)) dtype = KC_f32;
    else if (integer && dtype == KC_bool) dtype = KC_i64;
    if (meet == KC_MEET_ARITHMETIC) return kc_dtype_compute(dtype);
    if (meet == KC_MEET_REAL) return kc_dtype_is_integer(dtype) ? KC_f32 : kc_dtype_compute(dtype);
    bool narrow = kc_dtype_is_float(dtype) && kc_dtype_compute(dtype) != dtype;
    if (meet == KC_MEET_COMPARE && narrow && !literals_exact(n, terms, dtype)) return KC_f32;
    return dtype;
}

// ---- shapes

static bool same_shape(kc_function *fn, const kc_type *type, int rank,
                       const kc_expr *const *shape) {
    if (type->rank != rank) return false;
    for (int d = 0; d < rank; d++)
        if (!kc_expr_known_equal(fn->pool, type->shape[d], shape[d])) return false;
    return true;
}

kc_value *kc_body_broadcast(kc_function *fn, kc_loc loc, kc_value *value, int rank,
                            const kc_expr *const *shape) {
    if (same_shape(fn, &value->type, rank, shape)) return value;
    fn->builder.loc = loc;
    return kc_build_1(&fn->builder, KC_OP_BROADCAST, kc_type_tensor(value->type.elem, rank, shape),
                      1, &value);
}

static bool is_one(kc_function *fn, const kc_expr *extent) {
    return kc_expr_known_equal(fn->pool, extent, kc_expr_const(fn->pool, 1));
}

static bool merge_extents(kc_function *fn, const kc_expr *a, const kc_expr *b,
                          const kc_expr **out) {
    *out = is_one(fn, a) ? b : a;
    return is_one(fn, a) || is_one(fn, b) || kc_expr_known_equal(fn->pool, a, b);
}

bool kc_body_merge_shapes(kc_function *fn, kc_loc loc, const kc_type *a, const kc_type *b,
                          int *rank, const kc_expr **shape) {
    int n = a->rank > b->rank ? a->rank : b->rank;
    const kc_expr *merged[KC_MAX_RANK];
    for (int d = 0; d < n; d++) {
        int da = d - (n - a->rank), db = d - (n - b->rank);
        const kc_expr *one = da >= 0 ? a->shape[da] : NULL, *other = db >= 0 ? b->shape[db] : NULL;
        if (!one || !other) merged[d] = one ? one : other;
        else if (!merge_extents(fn, one, other, &merged[d])) {
            bool numbers = kc_expr_is_const(one, NULL) && kc_expr_is_const(other, NULL);
            KC_FN_ERROR(fn, loc, "%s and %s do not broadcast: %s%s", kc_types_text(fn, a),
                        kc_types_text(fn, b), kc_dims_unequal(fn, one, other),
                        numbers ? " and neither is 1" : "");
            return false;
        }
    }
    *rank = n;
    for (int d = 0; d < n; d++)
        shape[d] = merged[d];
    return true;
}

// NumPy's broadcasting of all tensors among the terms. False after an error.
static bool merge(kc_function *fn, kc_loc loc, int n, const kc_term *terms, int *rank,
                  const kc_expr **shape) {
    *rank = 0;
    for (int i = 0; i < n; i++) {
        if (terms[i].kind != KC_TERM_TENSOR) continue;
        kc_type so_far = kc_type_tensor(terms[i].value->type.elem, *rank, shape);
        if (!kc_body_merge_shapes(fn, loc, &so_far, &terms[i].value->type, rank, shape))
            return false;
    }
    return true;
}

// ---- tensors

kc_value *kc_body_materialize(kc_function *fn, kc_loc loc, const kc_term *term, kc_dtype dtype,
                              int rank, const kc_expr *const *shape) {
    if (term->kind != KC_TERM_TENSOR)
        return kc_weak_materialize(fn, term->loc, term, dtype, rank, shape);
    fn->builder.loc = loc;
    return kc_body_broadcast(fn, loc, kc_build_cast(&fn->builder, term->value, dtype), rank, shape);
}

kc_term kc_body_elementwise(kc_function *fn, kc_loc loc, kc_opcode code, int n,
                            const kc_term *terms, kc_dtype dtype) {
    const kc_expr *shape[KC_MAX_RANK];
    kc_value *values[3];
    int rank;
    if (kc_term_any_poison(n, terms) || !merge(fn, loc, n, terms, &rank, shape))
        return kc_term_poison(loc);
    for (int i = 0; i < n; i++) {
        bool condition = code == KC_OP_SELECT && i == 0;
        double number;
        if (terms[i].kind != KC_TERM_TENSOR && kc_dtype_is_float(dtype) &&
            kc_weak_is_number(&terms[i], &number) &&
            !kc_weak_check_float(fn, terms[i].loc, number, dtype))
            return kc_term_poison(loc);
        values[i] =
            kc_body_materialize(fn, loc, &terms[i], condition ? KC_bool : dtype, rank, shape);
        if (!values[i]) return kc_term_poison(loc);
    }
    fn->builder.loc = loc;
    return kc_term_tensor(kc_build_elementwise(&fn->builder, code, n, values), loc);
}
