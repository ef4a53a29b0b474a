// slice(x, starts, ends, axes=, steps=): Python's slices with symbolic bounds. A negative number
// counts from the end; bounds are clamped to the dimension. Clamps that the facts make needless are
// not written.
#include "compiler/frontend/body_ops.h"

typedef struct {
    kc_call *call;
    kc_function *fn;
    kc_loc loc;
} place;

static const kc_expr *number(const place *p, int64_t value) {
    return kc_expr_const(p->fn->pool, value);
}

static const kc_expr *binary(const place *p, kc_expr_kind kind, const kc_expr *a,
                             const kc_expr *b) {
    return a && b ? kc_dims_binary(p->fn, p->loc, kind, a, b) : NULL;
}

// a <= b; also where a is a part of something that is: M // 4 <= M.
static bool known_le(const place *p, const kc_expr *a, const kc_expr *b) {
    kc_expr_pool *pool = p->fn->pool;
    if (kc_expr_known_le(pool, a, b)) return true;
    bool divides = a->kind == KC_EXPR_FLOORDIV || a->kind == KC_EXPR_DIV || a->kind == KC_EXPR_CDIV;
    return divides && kc_expr_min_value(pool, a->b) >= 1 && kc_expr_min_value(pool, a->a) >= 0 &&
           known_le(p, a->a, b);
}

static const kc_expr *at_least(const place *p, const kc_expr *expr, const kc_expr *least) {
    if (!expr || !least || known_le(p, least, expr)) return expr;
    if (known_le(p, expr, least)) return least;
    return binary(p, KC_EXPR_MAX, expr, least);
}

static const kc_expr *at_most(const place *p, const kc_expr *expr, const kc_expr *most) {
    if (!expr || !most || known_le(p, expr, most)) return expr;
    if (known_le(p, most, expr)) return most;
    return binary(p, KC_EXPR_MIN, expr, most);
}

// A bound within [low, high]. Far numbers, as ONNX writes them for "to the end", never meet
// arithmetic.
static const kc_expr *clamp_bound(const place *p, const kc_expr *bound, const kc_expr *extent,
                                  const kc_expr *low, const kc_expr *high) {
    int64_t value;
    if (kc_expr_is_const(bound, &value) && value < 0) {
        if (value < -((int64_t)1 << 48)) return low;
        bound = binary(p, KC_EXPR_ADD, extent, bound);
    }
    return at_most(p, at_least(p, bound, low), high);
}

// First index and number of elements along one dimension.
static bool one_slice(const place *p, const kc_expr *extent, const kc_expr *start,
                      const kc_expr *end, int64_t step, const kc_expr **first,
                      const kc_expr **count) {
    const kc_expr *zero = number(p, 0), *minus_one = number(p, -1),
                  *last = binary(p, KC_EXPR_SUB, extent, number(p, 1));
    bool up = step > 0;
    *first = clamp_bound(p, start, extent, up ? zero : minus_one, up ? extent : last);
    const kc_expr *stop = clamp_bound(p, end, extent, up ? zero : minus_one, up ? extent : last);
    const kc_expr *low = up ? *first : stop, *high = up ? stop : *first,
                  *span = binary(p, KC_EXPR_SUB, high, low);
    if (!span || !known_le(p, low, high)) span = at_least(p, span, zero);
    *count = step == 1 || step == -1 ? span
                                     : binary(p, KC_EXPR_CDIV, span, number(p, up ? step : -step));
    return *first && *count;
}

static bool read_axes(kc_call *call, const kc_type *type, int n, int *axes) {
    const kc_ast *list = call->given[3] ? kc_call_list(call, 3, "dimensions", KC_MAX_RANK) : NULL;
    if (call->given[3] && !list) return false;
    if (list ? list->count != n : n > type->rank) {
        KC_CALL_ERROR(call, kc_call_loc(call, list ? 3 : 1),
                      list ? "'starts' has %d entries but 'axes' has %d: give one for each"
                           : "'starts' has %d entries for a tensor of %d dimensions",
                      n, list ? list->count : type->rank);
        return false;
    }
    bool seen[KC_MAX_RANK] = {false};
    for (int i = 0; i < n; i++) {
        axes[i] = i;
        if (list && !kc_call_axis(call, list->args[i].value, type, &axes[i])) return false;
        if (seen[axes[i]]) {
            KC_CALL_ERROR(call, list->args[i].loc,
                          "'axes' has dimension %d of %s twice: give each once", axes[i],
                          kc_types_text(call->fn, type));
            return false;
        }
        seen[axes[i]] = true;
    }
    return true;
}

static bool read_steps(kc_call *call, int n, int64_t *steps) {
    for (int i = 0; i < n; i++)
        steps[i] = 1;
    if (!call->given[4]) return true;
    const kc_ast *list = kc_call_list(call, 4, "integers", KC_MAX_RANK);
    if (!list) return false;
    if (list->count != n) {
        KC_CALL_ERROR(call, list->loc,
                      "'steps' has %d entries but 'starts' has %d: give one for each", list->count,
                      n);
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (!kc_call_int(call, list->args[i].value, "a step", &steps[i])) return false;
        if (steps[i] && steps[i] >= -2147483647 && steps[i] <= 2147483647) continue;
        KC_CALL_ERROR(call, list->args[i].loc, "a step must fit i32 and not be 0, seen %lld",
                      (long long)steps[i]);
        return false;
    }
    return true;
}

typedef struct {
    int n, axes[KC_MAX_RANK];
    const kc_expr *starts[KC_MAX_RANK], *ends[KC_MAX_RANK];
    int64_t steps[KC_MAX_RANK];
} bounds;

static bool read_bounds(kc_call *call, const kc_type *type, bounds *b) {
    int n_ends;
    if (!kc_call_dims(call, 1, "first indices", &b->n, b->starts) ||
        !kc_call_dims(call, 2, "last indices", &n_ends, b->ends))
        return false;
    if (b->n != n_ends) {
        KC_CALL_ERROR(call, kc_call_loc(call, 2),
                      "'starts' has %d entries but 'ends' has %d: give one for each", b->n, n_ends);
        return false;
    }
    return read_axes(call, type, b->n, b->axes) && read_steps(call, b->n, b->steps);
}

kc_term kc_call_slice(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = kc_call_ranked(call, 0);
    bounds b;
    if (!x || !read_bounds(call, &x->type, &b)) return kc_term_poison(call->loc);
    int rank = x->type.rank;
    const kc_expr *starts[KC_MAX_RANK], *shape[KC_MAX_RANK];
    int64_t steps[KC_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        starts[d] = kc_expr_const(fn->pool, 0);
        shape[d] = x->type.shape[d];
        steps[d] = 1;
    }
    place p = {call, fn, call->loc};
    for (int i = 0; i < b.n; i++) {
        int d = b.axes[i];
        steps[d] = b.steps[i];
        if (!one_slice(&p, x->type.shape[d], b.starts[i], b.ends[i], b.steps[i], &starts[d],
                       &shape[d]))
            return kc_term_poison(call->loc);
    }
    fn->builder.loc = call->loc;
    kc_value *result =
        kc_build_1(&fn->builder, KC_OP_SLICE, kc_type_tensor(x->type.elem, rank, shape), 1, &x);
    kc_attr_set_exprs(fn->model->module, result->def, KC_ATTR_STARTS, rank, starts);
    kc_attr_set_ints(fn->model->module, result->def, KC_ATTR_STEPS, rank, steps);
    return kc_term_tensor(result, call->loc);
}
