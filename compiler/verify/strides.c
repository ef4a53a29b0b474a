// Values of stride names, from the innermost axes outwards: the least with which the elements of no
// tensor fall together, given the strides that are fixed or chosen already.
#include <string.h>

#include "compiler/verify/verify.h"

enum { LARGEST = 1 << 30 }; // of a stride that is tried

typedef struct {
    const kcrt_signature *f;
    const int64_t *steps;
    int64_t pad;
    int64_t *values;
    bool chosen[KCRT_MAX_SYMBOLS]; // dims, and the names that have a value
    int widened;                   // -1, or the name whose axes count as longer than one element
} layout;

typedef struct {
    int64_t extent, stride;
} axis;

static bool uses(const kcrt_term *term, int s) {
    if (term->form == KCRT_TERM_SYMBOL) return term->symbol == s;
    return term->form == KCRT_TERM_EXPR && kc_expr_uses(term->expr, s);
}

static bool is_known(const layout *l, const kcrt_term *term) {
    for (int s = 0; s < l->f->dim_count + l->f->stride_count; s++)
        if (!l->chosen[s] && uses(term, s)) return false;
    return true;
}

// ---- the axes of one tensor ---------------------------------------------------------------------

static int insert(axis *axes, int n, axis x) {
    int i = n;
    for (; i > 0 && axes[i - 1].stride > x.stride; i--)
        axes[i] = axes[i - 1];
    axes[i] = x;
    return n + 1;
}

// By rising stride, those that put elements at several places and whose strides are known; but for
// the ones that `s` decides, unless s is -1. -1: something cannot be computed.
static int axes_without(const layout *l, const kcrt_arg *arg, int s, axis *axes) {
    int n = 0;
    for (int d = 0; d < arg->rank; d++) {
        axis x;
        if (!is_known(l, &arg->strides[d]) || (s >= 0 && uses(&arg->strides[d], s))) continue;
        if (kcrt_term_eval(&arg->shape[d], l->values, &x.extent) ||
            kcrt_term_eval(&arg->strides[d], l->values, &x.stride))
            return -1;
        if (l->widened >= 0 && uses(&arg->strides[d], l->widened) && x.extent < 2) x.extent = 2;
        bool repeats = x.stride == 0 && !arg->is_output; // an input may be read again and again
        if (x.extent > 1 && !repeats) n = insert(axes, n, x);
    }
    return n;
}

// The last element that `x` reaches, where the axes with smaller strides reach `inner`.
static int64_t reach_of(const axis *x, int64_t inner) {
    int64_t length;
    if (__builtin_mul_overflow(x->extent - 1, x->stride, &length) ||
        __builtin_add_overflow(inner, length, &inner))
        return INT64_MAX;
    return inner;
}

// The runtime's question about outputs: does each stride step past all that the smaller ones reach?
static bool is_apart(const layout *l, const kcrt_arg *arg) {
    axis axes[KCRT_MAX_RANK];
    int n = axes_without(l, arg, -1, axes);
    int64_t reach = 0;
    for (int i = 0; i < n; i++) {
        if (axes[i].stride <= reach) return false;
        reach = reach_of(&axes[i], reach);
    }
    return n >= 0;
}

static bool is_empty(const layout *l, const kcrt_arg *arg) {
    int64_t extent;
    for (int d = 0; d < arg->rank; d++)
        if (!kcrt_term_eval(&arg->shape[d], l->values, &extent) && extent == 0) return true;
    return false;
}

static bool stands_in(const kcrt_arg *arg, int s) {
    for (int d = 0; d < arg->rank; d++)
        if (uses(&arg->strides[d], s)) return true;
    return false;
}

// Outputs, and the inputs in which l->widened stands.
static bool all_apart(const layout *l) {
    for (int a = 0; a < l->f->arg_count; a++) {
        const kcrt_arg *arg = &l->f->args[a];
        if (!arg->strides) continue;
        bool asked = l->widened < 0 ? arg->is_output && !is_empty(l, arg)
                                    : arg->is_output || stands_in(arg, l->widened);
        if (asked && !is_apart(l, arg)) return false;
    }
    return true;
}

// ---- one name -----------------------------------------------------------------------------------

static int64_t allowed(const layout *l, int s, int64_t v) {
    return kc_verify_allowed(&l->f->symbols[s].facts, v, l->steps ? l->steps[s] : 1);
}

// The least allowed value of `s` that makes `term`, in which it stands, larger than `reach`; -1:
// none. Strides do not fall as the names in them rise.
static int64_t least_above(layout *l, const kcrt_term *term, int s, int64_t reach) {
    int64_t low = 0, high = LARGEST, stride;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        l->values[s] = allowed(l, s, middle);
        bool above = l->values[s] < 0 || kcrt_term_eval(term, l->values, &stride) || stride > reach;
        if (above) high = middle;
        else low = middle + 1;
    }
    l->values[s] = allowed(l, s, low);
    bool there_is = l->values[s] >= 0 && !kcrt_term_eval(term, l->values, &stride);
    return there_is && stride > reach ? l->values[s] : -1;
}

static bool works(layout *l, int s, int64_t v) {
    l->values[s] = v;
    return v >= 0 && all_apart(l);
}

// Takes the least value, or where every one puts elements of an input together, the largest. What
// does not do without the gap is not made to do by it.
static void consider(layout *l, int s, int64_t v, bool inputs_too, int64_t *best) {
    if (!works(l, s, v)) return;
    v = allowed(l, s, v + l->pad);
    bool better = *best < 0 || (inputs_too ? v < *best : v > *best);
    if (better && works(l, s, v)) *best = v;
}

// Just above what some of the other axes of a tensor reach.
static void consider_axis(layout *l, int s, const kcrt_arg *arg, int d, bool inputs_too,
                          int64_t *best) {
    axis axes[KCRT_MAX_RANK];
    int n = axes_without(l, arg, s, axes);
    int64_t reach = 0;
    for (int i = 0; i <= n && reach < INT64_MAX; i++) {
        consider(l, s, least_above(l, &arg->strides[d], s, reach), inputs_too, best);
        if (i < n) reach = reach_of(&axes[i], reach);
    }
}

static bool choose(layout *l, int s, bool inputs_too) {
    int64_t best = -1;
    l->chosen[s] = true;
    l->widened = inputs_too ? s : -1; // rows stay apart where there is one row, too
    for (int a = 0; a < l->f->arg_count; a++) {
        const kcrt_arg *arg = &l->f->args[a];
        for (int d = 0; arg->strides && d < arg->rank; d++)
            if (uses(&arg->strides[d], s) && is_known(l, &arg->strides[d]))
                consider_axis(l, s, arg, d, inputs_too, &best);
    }
    l->values[s] = best;
    return best >= 0;
}

// ---- all of them --------------------------------------------------------------------------------

// The first dimension whose stride is 1, or the rank.
static int unit_dimension(const kcrt_arg *arg) {
    int d = 0;
    while (d < arg->rank &&
           !(arg->strides[d].form == KCRT_TERM_CONST && arg->strides[d].value == 1))
        d++;
    return d;
}

// How many axes lie inside the one of `s`: the later ones, or the earlier ones where the first
// elements lie there; in the tensor with most of them.
static int depth_of(const kcrt_signature *f, int s) {
    int deepest = 0;
    for (int a = 0; a < f->arg_count; a++)
        for (int d = 0; f->args[a].strides && d < f->args[a].rank; d++) {
            if (!uses(&f->args[a].strides[d], s)) continue;
            int inside = unit_dimension(&f->args[a]) < d ? d : f->args[a].rank - 1 - d;
            if (inside > deepest) deepest = inside;
        }
    return deepest;
}

static int innermost(const layout *l) {
    int best = -1;
    for (int s = l->f->dim_count; s < l->f->dim_count + l->f->stride_count; s++)
        if (!l->chosen[s] && (best < 0 || depth_of(l->f, s) <= depth_of(l->f, best))) best = s;
    return best;
}

bool kc_verify_strides(const kcrt_signature *f, const int64_t *steps, int64_t pad,
                       int64_t *values) {
    layout l = {.f = f, .steps = steps, .pad = pad, .values = values};
    for (int s = 0; s < f->dim_count; s++)
        l.chosen[s] = true;
    for (int s; (s = innermost(&l)) >= 0;)
        if (!choose(&l, s, true) && !choose(&l, s, false)) return false;
    l.widened = -1;
    return all_apart(&l);
}
