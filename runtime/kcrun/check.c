// Comparison with the reference: |got - value| <= bound + half an ulp of the output's type, element
// by element.
//
// NaN equals NaN. An infinity equals the same infinity, and the largest finite value stands next to
// it: either is right where the bound reaches past the place at which the type rounds to infinity.
// The value comes as casts have it: where the type saturates, an infinity is one that was moved.
// Integers with a bound of 0 are compared exactly.
#include <math.h>
#include <stdlib.h>

#include "runtime/kcrun/task.h"

static double half_ulp(kc_dtype type, double a, double b) {
    double x = kc_dtype_ulp(type, a), y = kc_dtype_ulp(type, b);
    return 0.5 * (x > y ? x : y);
}

// 0 when equal; up to 1 within; above 1 outside; INFINITY when there is no distance.
static double excess(kc_dtype type, double got, double value, double bound) {
    if (isnan(value) || isnan(got))
        return isnan(value) && isnan(got) ? 0 : isinf(bound) ? 1 : INFINITY;
    if (got == value || got == kc_dtype_represent(type, value)) return 0;
    if (isnan(bound)) return INFINITY;
    if (isinf(bound)) return 1;
    double low = kc_dtype_represent(type, value - bound),
           high = kc_dtype_represent(type, value + bound);
    if (isinf(got) || isinf(value)) return got >= low && got <= high ? 1 : INFINITY;
    double allowed = bound + half_ulp(type, got, value);
    return fabs(got - value) / allowed;
}

static double excess_integer(int64_t got, int64_t want, double value, double bound) {
    if (got == want) return 0;
    if (!(bound > 0)) return INFINITY;
    double distance = fabs((double)got - value);
    return distance / bound;
}

static void compare(const task *t, int a, const double *values, const double *bounds,
                    const array *exact, check_result *r) {
    const argument *arg = &t->args[a];
    *r = (check_result){.output = arg->info.name, .worst = -1};
    for (size_t i = 0; i < arg->host.count; i++) {
        bool is_float = kc_dtype_is_float(arg->type);
        double got = is_float ? kc_dtype_load(arg->type, array_at(&arg->host, i))
                              : (double)kc_dtype_load_i64(arg->type, array_at(&arg->host, i));
        double e = is_float ? excess(arg->type, got, values[i], bounds[i])
                            : excess_integer(kc_dtype_load_i64(arg->type, array_at(&arg->host, i)),
                                             kc_dtype_load_i64(arg->type, array_at(exact, i)),
                                             values[i], bounds[i]);
        r->wrong += e > 1;
        if (e <= r->worst) continue;
        r->worst = e;
        r->index = i;
        r->got = got;
        r->want = is_float ? values[i] : (double)kc_dtype_load_i64(arg->type, array_at(exact, i));
        r->bound = bounds[i];
    }
    if (r->worst < 0) r->worst = 0;
}

static bool check_with(const task *t, const session *ref, check_result *results, int *count) {
    double *values[KCRT_MAX_ARGS] = {NULL}, *bounds[KCRT_MAX_ARGS] = {NULL};
    array exact[KCRT_MAX_ARGS] = {{.data = NULL}};
    bool good = kcrun_task_reference(t, ref, values, bounds, exact);
    for (int a = 0; a < t->arg_count; a++) {
        if (good && t->args[a].info.is_output)
            compare(t, a, values[a], bounds[a], &exact[a], &results[(*count)++]);
        free(values[a]);
        free(bounds[a]);
        kcrun_array_free(&exact[a]);
    }
    return good;
}

bool kcrun_check_outputs(const task *t, check_result *results, int *count) {
    session ref;
    *count = 0;
    bool good = kcrun_session_open(t, "ref", &ref) && check_with(t, &ref, results, count);
    kcrun_session_close(&ref);
    for (int i = 0; i < *count; i++)
        good &= results[i].wrong == 0;
    return good;
}
