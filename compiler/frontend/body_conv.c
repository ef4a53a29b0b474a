// conv2d(x, w, stride, padding, dilation, groups): a window slides over height and width. Each
// option is a number for both or a list [height, width]; a padding may also be a pair [before,
// after].
#include "compiler/frontend/body_ops.h"
#include "ir/conv2d.h"

enum { HEIGHT = 0, WIDTH = 1 };

typedef struct {
    int64_t step[2], dilation[2];
    const kc_expr *low[2], *high[2], *groups;
} window;

static const char *const sides[] = {"height", "width"};

// ---- options

// The entry of a list for height or width, or the one number for both. NULL after an error.
static const kc_ast *entry(kc_call *call, int i, int side) {
    const kc_ast *ast = call->given[i];
    if (ast->kind != KC_AST_LIST) return ast;
    if (ast->count == 2) return ast->args[side].value;
    KC_CALL_ERROR(call, ast->loc,
                  "'%s' of conv2d has %d entries; expected one number or [height, width]",
                  call->names[i], ast->count);
    return NULL;
}

static bool read_numbers(kc_call *call, int i, int64_t out[2]) {
    for (int side = HEIGHT; side <= WIDTH; side++) {
        out[side] = 1;
        if (!call->given[i]) continue;
        const kc_ast *ast = entry(call, i, side);
        const char *what = kc_arena_printf(call->fn->arena, "'%s' of conv2d", call->names[i]);
        if (!ast || !kc_call_int(call, ast, what, &out[side])) return false;
        if (out[side] >= 1 && out[side] <= INT32_MAX) continue;
        KC_CALL_ERROR(call, ast->loc, "'%s' of conv2d must be at least 1 and fit i32, not %lld",
                      call->names[i], (long long)out[side]);
        return false;
    }
    return true;
}

static const kc_expr *read_amount(kc_call *call, const kc_ast *ast) {
    const kc_expr *amount = kc_dims_eval(call->fn, ast, true);
    if (!amount || kc_expr_min_value(call->fn->pool, amount) >= 0) return amount;
    KC_CALL_ERROR(call, ast->loc,
                  "a padding of %s may be negative: use slice to take elements away",
                  kc_dims_text(call->fn, amount));
    return NULL;
}

static bool read_padding(kc_call *call, int i, window *w) {
    for (int side = HEIGHT; side <= WIDTH; side++) {
        w->low[side] = w->high[side] = kc_expr_const(call->fn->pool, 0);
        if (!call->given[i]) continue;
        const kc_ast *ast = entry(call, i, side);
        if (!ast) return false;
        bool pair = ast->kind == KC_AST_LIST;
        if (pair && ast->count != 2) {
            KC_CALL_ERROR(call, ast->loc,
                          "the padding of the %s has %d entries; expected one "
                          "number or [before, after]",
                          sides[side], ast->count);
            return false;
        }
        w->low[side] = read_amount(call, pair ? ast->args[0].value : ast);
        w->high[side] = pair ? read_amount(call, ast->args[1].value) : w->low[side];
        if (!w->low[side] || !w->high[side]) return false;
    }
    return true;
}

static bool read_groups(kc_call *call, int i, window *w) {
    kc_function *fn = call->fn;
    w->groups = kc_expr_const(fn->pool, 1);
    if (!call->given[i]) return true;
    w->groups = kc_dims_eval(fn, call->given[i], true);
    if (!w->groups || kc_expr_min_value(fn->pool, w->groups) >= 1) return w->groups;
    KC_CALL_ERROR(
        call, kc_call_loc(call, i),
        kc_expr_is_const(w->groups, NULL)
            ? "'groups' of conv2d must be at least 1, not %s"
            : "'groups' of conv2d must be at least 1; %s may be less: write facts in 'dims'",
        kc_dims_text(fn, w->groups));
    return false;
}

// ---- operands

static kc_value *read_operand(kc_call *call, int i, const char *layout) {
    kc_value *value = kc_call_tensor(call, i);
    if (!value || !kc_contract_operand(call, i, value)) return NULL;
    if (value->type.rank == 4) return value;
    KC_CALL_ERROR(call, kc_call_loc(call, i),
                  "'%s' of conv2d must have four dimensions, %s, not %s: reshape gives it others",
                  call->names[i], layout, kc_types_text(call->fn, &value->type));
    return NULL;
}

static bool check_channels(kc_call *call, const kc_type *x, const kc_type *w, const window *view) {
    kc_function *fn = call->fn;
    const kc_expr *wanted = kc_dims_binary(fn, call->loc, KC_EXPR_MUL, view->groups, w->shape[1]);
    if (!wanted) return false;
    if (!kc_expr_known_equal(fn->pool, x->shape[1], wanted)) {
        KC_CALL_ERROR(call, call->loc,
                      "conv2d of %s and %s with groups=%s: x has %s channels, w "
                      "takes %s",
                      kc_types_text(fn, x), kc_types_text(fn, w), kc_dims_text(fn, view->groups),
                      kc_dims_text(fn, x->shape[1]), kc_dims_text(fn, wanted));
        return false;
    }
    const kc_expr *rest = kc_dims_binary(fn, call->loc, KC_EXPR_MOD, w->shape[0], view->groups);
    if (!rest) return false;
    if (kc_expr_known_equal(fn->pool, rest, kc_expr_const(fn->pool, 0))) return true;
    KC_CALL_ERROR(call, call->loc,
                  kc_expr_is_const(rest, NULL)
                      ? "conv2d: the %s output channels of w do not fall into %s equal groups"
                      : "conv2d: cannot show that the %s output channels of w fall into %s equal "
                        "groups: write facts in 'dims'",
                  kc_dims_text(fn, w->shape[0]), kc_dims_text(fn, view->groups));
    return false;
}

static bool check_kernel(kc_call *call, const kc_type *w) {
    kc_function *fn = call->fn;
    for (int side = HEIGHT; side <= WIDTH; side++) {
        const kc_expr *extent = w->shape[2 + side];
        if (kc_expr_min_value(fn->pool, extent) >= 1) continue;
        KC_CALL_ERROR(call, kc_call_loc(call, 1),
                      kc_expr_is_const(extent, NULL)
                          ? "conv2d: the kernel's %s is %s; it must be at least 1"
                          : "conv2d: the kernel's %s %s must be at least 1: write facts in 'dims'",
                      sides[side], kc_dims_text(fn, extent));
        return false;
    }
    return true;
}

// ---- the result

static bool find_extent(kc_call *call, const kc_type *x, const kc_type *w, const window *view,
                        int side, const kc_expr **extent) {
    kc_function *fn = call->fn;
    *extent = kc_conv2d_extent(fn->pool, x->shape[2 + side], w->shape[2 + side], view->low[side],
                               view->high[side], view->step[side], view->dilation[side]);
    if (!*extent) {
        KC_CALL_ERROR(call, call->loc, "conv2d: the %s of the result is too large an expression",
                      sides[side]);
        return false;
    }
    if (kc_expr_max_value(fn->pool, *extent) >= 1 ||
        kc_expr_max_value(fn->pool, x->shape[2 + side]) < 1)
        return true;
    KC_CALL_ERROR(call, call->loc,
                  "conv2d: a kernel of %s %s%s is larger than its input of %s with "
                  "padding %s and %s",
                  sides[side], kc_dims_text(fn, w->shape[2 + side]),
                  view->dilation[side] > 1 ? ", dilated," : "",
                  kc_dims_text(fn, x->shape[2 + side]), kc_dims_text(fn, view->low[side]),
                  kc_dims_text(fn, view->high[side]));
    return false;
}

static kc_value *build(kc_call *call, kc_value *x, kc_value *w, const window *view,
                       const kc_type *type) {
    kc_module *module = call->fn->model->module;
    call->fn->builder.loc = call->loc;
    kc_value *result = kc_build_1(&call->fn->builder, KC_OP_CONV2D, *type, 2, (kc_value *[]){x, w});
    kc_attr_set_ints(module, result->def, KC_ATTR_STEPS, 2, view->step);
    kc_attr_set_exprs(module, result->def, KC_ATTR_LOW, 2, view->low);
    kc_attr_set_exprs(module, result->def, KC_ATTR_HIGH, 2, view->high);
    kc_attr_set_ints(module, result->def, KC_ATTR_DILATION, 2, view->dilation);
    kc_attr_set_expr(result->def, KC_ATTR_GROUPS, view->groups);
    return result;
}

kc_term kc_call_conv2d(kc_call *call) {
    kc_function *fn = call->fn;
    kc_value *x = read_operand(call, 0, "[N, C, H, W]");
    kc_value *w = x ? read_operand(call, 1, "[O, C / groups, R, S]") : NULL;
    window view;
    bool good = w && read_numbers(call, 2, view.step) && read_padding(call, 3, &view) &&
                read_numbers(call, 4, view.dilation) && read_groups(call, 5, &view);
    if (!good || !kc_contract_same_type(call, x, w)) return kc_term_poison(call->loc);
    if (!check_channels(call, &x->type, &w->type, &view) || !check_kernel(call, &w->type))
        return kc_term_poison(call->loc);
    const kc_expr *shape[4] = {x->type.shape[0], w->type.shape[0]};
    for (int side = HEIGHT; side <= WIDTH; side++)
        if (!find_extent(call, &x->type, &w->type, &view, side, &shape[2 + side]))
            return kc_term_poison(call->loc);
    kc_type type = kc_type_tensor(kc_contract_result(x->type.elem), 4, shape);
    if (!kc_types_check(fn, call->loc, &type)) return kc_term_poison(call->loc);
    return kc_term_tensor(build(call, x, w, &view, &type), call->loc);
}
