// How dims and stride names get their values, decided once when the package is read.
//
// A dim is taken where it stands bare in a shape; else, repeatedly, from a shape that is affine in
// it with everything else known; else the caller passes it. The compiler decides the same way
// (docs/PACKAGE.md).
#include "runtime/fields.h"

// Every place where a shape determines a dim once the others are known: bare (rest NULL) or affine
// in it.
static kcrt_status find_shape_sites(const kcrt_reader *r) {
    kcrt_signature *f = r->signature;
    size_t most = 0;
    for (int a = 0; a < f->arg_count; a++)
        for (int axis = 0; axis < f->args[a].rank; axis++)
            for (int s = 0; s < f->dim_count; s++)
                most += kc_expr_uses(f->args[a].shape[axis].expr, s);
    f->shape_sites = KCRT_NEW(r->arena, kcrt_binding, most);
    if (!f->shape_sites) return kcrt_no_memory(r);
    for (int a = 0; a < f->arg_count; a++)
        for (int axis = 0; axis < f->args[a].rank; axis++)
            for (int s = 0; s < f->dim_count; s++) {
                const kcrt_term *term = &f->args[a].shape[axis];
                kcrt_binding b = {.symbol = s, .arg = a, .axis = axis, .factor = 1};
                if (!kc_expr_uses(term->expr, s)) continue;
                if (term->form != KCRT_TERM_SYMBOL &&
                    !kc_expr_linear_in(f->pool, term->expr, s, &b.factor, &b.rest))
                    continue;
                f->shape_sites[f->shape_site_count++] = b;
            }
    return KCRT_OK;
}

static void add(kcrt_signature *f, kcrt_binding binding, bool *known) {
    f->bindings[f->binding_count++] = binding;
    known[binding.symbol] = true;
}

static void bind_passed(kcrt_signature *f, bool *known) {
    int place = 0;
    for (int s = 0; s < f->dim_count; s++)
        if (f->symbols[s].is_passed)
            add(f, (kcrt_binding){.symbol = s, .arg = -1, .axis = place++}, known);
}

static bool needs_unknown(const kcrt_signature *f, const kcrt_binding *site, const bool *known) {
    for (int s = 0; s < f->dim_count && site->rest; s++)
        if (!known[s] && kc_expr_uses(site->rest, s)) return true;
    return false;
}

// The first site that can be solved now; bare ones in the first round.
static bool bind_one(kcrt_signature *f, bool *known, bool bare) {
    for (int i = 0; i < f->shape_site_count; i++) {
        const kcrt_binding *site = &f->shape_sites[i];
        if (known[site->symbol] || (bare && site->rest) || needs_unknown(f, site, known)) continue;
        add(f, *site, known);
        return true;
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
    for (int a = 0; a < signature->arg_count; a++)
        most += (size_t)signature->args[a].rank;
    signature->stride_sites = KCRT_NEW(r->arena, kcrt_binding, most);
    if (!signature->stride_sites) return kcrt_no_memory(r);
    for (int i = 0; i < signature->stride_count; i++) {
        int before = signature->stride_site_count;
        find_stride_sites(signature, signature->dim_count + i);
        if (signature->stride_site_count == before)
            return kcrt_bad_manifest(r, "the stride `%s` stands bare in no `strides`",
                                     signature->symbols[signature->dim_count + i].name);
    }
    return KCRT_OK;
}

kcrt_status kcrt_plan_bindings(const kcrt_reader *r) {
    kcrt_signature *signature = r->signature;
    bool known[KCRT_MAX_NAMES] = {false};
    signature->bindings = KCRT_NEW(r->arena, kcrt_binding, (size_t)signature->dim_count);
    if (!signature->bindings) return kcrt_no_memory(r);
    kcrt_status status = find_shape_sites(r);
    if (status) return status;
    bind_passed(signature, known);
    while (bind_one(signature, known, true)) {
    }
    while (bind_one(signature, known, false)) {
    }
    for (int s = 0; s < signature->dim_count; s++)
        if (!known[s])
            return kcrt_bad_manifest(
                r, "no shape determines the dim `%s`, and `unbound` does not list it",
                signature->symbols[s].name);
    return plan_strides(r);
}
