// How dims and stride names get their values, decided once when the package is read.
//
// A dim is taken where it stands bare in a shape; else, repeatedly, from a shape that is affine in it with everything
// else known; else the caller passes it. The compiler decides the same way (docs/PACKAGE.md).
#include "runtime/fields.h"

static void add(kcrt_signature *signature, kcrt_binding binding, bool *known) {
    signature->bindings[signature->binding_count++] = binding;
    known[binding.symbol] = true;
}

static void bind_passed(kcrt_signature *signature, bool *known) {
    int place = 0;
    for (int s = 0; s < signature->dim_count; s++)
        if (signature->symbols[s].is_passed) add(signature, (kcrt_binding){.symbol = s, .arg = -1, .axis = place++}, known);
}

static void bind_bare(kcrt_signature *signature, bool *known) {
    for (int a = 0; a < signature->arg_count; a++) {
        const kcrt_arg *arg = &signature->args[a];
        for (int axis = 0; axis < arg->rank; axis++) {
            const kcrt_term *term = &arg->shape[axis];
            if (term->form == KCRT_TERM_SYMBOL && !known[term->symbol])
                add(signature, (kcrt_binding){.symbol = term->symbol, .arg = a, .axis = axis, .factor = 1}, known);
        }
    }
}

// The one unknown dim of the expression; -1 when there are none or several.
static int only_unknown(const kcrt_signature *signature, const kc_expr *expr, const bool *known) {
    int found = -1;
    for (int s = 0; s < signature->dim_count; s++) {
        if (known[s] || !kc_expr_uses(expr, s)) continue;
        if (found >= 0) return -1;
        found = s;
    }
    return found;
}

static bool bind_one_affine(kcrt_signature *signature, bool *known) {
    for (int a = 0; a < signature->arg_count; a++) {
        const kcrt_arg *arg = &signature->args[a];
        for (int axis = 0; axis < arg->rank; axis++) {
            kcrt_binding b = {.arg = a, .axis = axis};
            b.symbol = only_unknown(signature, arg->shape[axis].expr, known);
            if (b.symbol < 0) continue;
            if (!kc_expr_linear_in(signature->pool, arg->shape[axis].expr, b.symbol, &b.factor, &b.rest)) continue;
            add(signature, b, known);
            return true;
        }
    }
    return false;
}

static void find_stride_sites(kcrt_signature *signature, int symbol) {
    for (int a = 0; a < signature->arg_count; a++) {
        const kcrt_arg *arg = &signature->args[a];
        for (int axis = 0; arg->strides && axis < arg->rank; axis++)
            if (arg->strides[axis].form == KCRT_TERM_SYMBOL && arg->strides[axis].symbol == symbol)
                signature->stride_sites[signature->stride_site_count++] =
                    (kcrt_binding){.symbol = symbol, .arg = a, .axis = axis};
    }
}

static kcrt_status plan_strides(const kcrt_reader *r) {
    kcrt_signature *signature = r->signature;
    size_t most = 0;
    for (int a = 0; a < signature->arg_count; a++) most += (size_t)signature->args[a].rank;
    signature->stride_sites = KCRT_NEW(r->arena, kcrt_binding, most);
    if (!signature->stride_sites) return kcrt_no_memory(r);
    for (int i = 0; i < signature->stride_count; i++) {
        int before = signature->stride_site_count;
        find_stride_sites(signature, signature->dim_count + i);
        if (signature->stride_site_count == before)
            return kcrt_bad_manifest(r, "the stride `%s` stands bare in no `strides`", signature->symbols[signature->dim_count + i].name);
    }
    return KCRT_OK;
}

kcrt_status kcrt_plan_bindings(const kcrt_reader *r) {
    kcrt_signature *signature = r->signature;
    bool known[KCRT_MAX_NAMES] = {false};
    signature->bindings = KCRT_NEW(r->arena, kcrt_binding, (size_t)signature->dim_count);
    if (!signature->bindings) return kcrt_no_memory(r);
    bind_passed(signature, known);
    bind_bare(signature, known);
    while (bind_one_affine(signature, known)) {
    }
    for (int s = 0; s < signature->dim_count; s++)
        if (!known[s])
            return kcrt_bad_manifest(r, "no shape determines the dim `%s`, and `unbound` does not list it", signature->symbols[s].name);
    return plan_strides(r);
}
