// Typed access to the arguments of a call.
#include <string.h>

#include "compiler/frontend/body_ops.h"

kc_loc kc_call_loc(const kc_call *call, int i) {
    return call->given[i] ? call->given[i]->loc : call->loc;
}

kc_value *kc_call_tensor(kc_call *call, int i) {
    const kc_term *term = &call->values[i];
    if (term->kind == KC_TERM_TENSOR) return term->value;
    KC_CALL_ERROR(call, kc_call_loc(call, i),
                  "'%s' of %s must be a tensor, not %s: give it a type with cast or broadcast",
                  call->names[i], call->op->name, kc_term_text(call->fn, term));
    return NULL;
}

kc_value *kc_call_ranked(kc_call *call, int i) {
    kc_value *value = kc_call_tensor(call, i);
    if (!value || value->type.rank > 0) return value;
    KC_CALL_ERROR(call, kc_call_loc(call, i), "'%s' of %s has no dimensions", call->names[i],
                  call->op->name);
    return NULL;
}

bool kc_call_bool(kc_call *call, int i, bool *out) {
    const kc_ast *ast = call->given[i];
    *out = ast && ast->kind == KC_AST_BOOL && ast->integer;
    if (!ast || ast->kind == KC_AST_BOOL) return true;
    KC_CALL_ERROR(call, ast->loc, "'%s' must be true or false", call->names[i]);
    return false;
}

bool kc_call_number(kc_call *call, int i, double otherwise, double *out) {
    *out = otherwise;
    if (!call->given[i]) return true;
    kc_term term = kc_body_eval(call->fn, call->given[i]);
    if (term.kind == KC_TERM_POISON) return false;
    if (kc_weak_is_number(&term, out)) return true;
    KC_CALL_ERROR(call, term.loc, "'%s' must be a number, not %s", call->names[i],
                  term.kind == KC_TERM_TENSOR ? "a tensor" : "an expression of dimensions");
    return false;
}

const char *kc_call_string(kc_call *call, int i, const char *otherwise) {
    const kc_ast *ast = call->given[i];
    if (!ast) return otherwise;
    if (ast->kind == KC_AST_STRING) return ast->text;
    if (ast->kind == KC_AST_NAME && kc_types_parameter(call->fn, ast->text))
        return ast->text; // an element type's name needs no quotes
    KC_CALL_ERROR(call, ast->loc, "'%s' must be a string%s%s%s", call->names[i],
                  ast->kind == KC_AST_NAME ? ", such as \"" : "",
                  ast->kind == KC_AST_NAME ? ast->text : "", ast->kind == KC_AST_NAME ? "\"" : "");
    return NULL;
}

bool kc_call_int(kc_call *call, const kc_ast *ast, const char *what, int64_t *out) {
    const kc_expr *expr = kc_dims_eval(call->fn, ast, true);
    if (!expr) return false;
    if (kc_expr_is_const(expr, out)) return true;
    KC_CALL_ERROR(call, ast->loc, "%s must be an integer, not the expression %s", what,
                  kc_dims_text(call->fn, expr));
    return false;
}

static bool axis_by_name(kc_call *call, const kc_ast *ast, const kc_type *type,
                         const kc_expr *symbol, int *axis) {
    int n = 0;
    for (int d = 0; d < type->rank; d++) {
        if (!kc_expr_known_equal(call->fn->pool, type->shape[d], symbol)) continue;
        *axis = d;
        n++;
    }
    if (n == 1) return true;
    KC_CALL_ERROR(call, ast->loc,
                  n ? "%s has dimension %s more than once: give its number"
                    : "%s has no dimension %s",
                  kc_types_text(call->fn, type), ast->text);
    return false;
}

bool kc_call_axis(kc_call *call, const kc_ast *ast, const kc_type *type, int *axis) {
    kc_function *fn = call->fn;
    bool word = ast->kind == KC_AST_NAME || ast->kind == KC_AST_STRING;
    kc_dim *dim = word ? kc_map_get_text(fn->dim_map, ast->text, strlen(ast->text)) : NULL;
    int64_t number;
    if (dim) {
        dim->used = true;
        return axis_by_name(call, ast, type, kc_expr_symbol(fn->pool, dim->name), axis);
    }
    if (ast->kind == KC_AST_STRING || ast->kind == KC_AST_LIST) {
        KC_CALL_ERROR(call, ast->loc,
                      ast->kind == KC_AST_LIST ? "expected one dimension, seen a list"
                                               : "there is no dimension of this name");
        return false;
    }
    if (!kc_call_int(call, ast, "a dimension's number", &number)) return false;
    if (number < -type->rank || number >= type->rank) {
        KC_CALL_ERROR(
            call, ast->loc, "dimension %lld is out of range: %s has %d, numbered %d to %d",
            (long long)number, kc_types_text(fn, type), type->rank, -type->rank, type->rank - 1);
        return false;
    }
    *axis = (int)(number < 0 ? number + type->rank : number);
    return true;
}

bool kc_call_axis_or(kc_call *call, int i, const kc_type *type, int otherwise, int *axis) {
    *axis = otherwise < 0 ? otherwise + type->rank : otherwise;
    return !call->given[i] || kc_call_axis(call, call->given[i], type, axis);
}

const kc_ast *kc_call_list(kc_call *call, int i, const char *what, int max) {
    const kc_ast *ast = call->given[i];
    if (ast->kind != KC_AST_LIST)
        KC_CALL_ERROR(call, ast->loc, "'%s' must be a list of %s, in brackets", call->names[i],
                      what);
    else if (ast->count > max)
        KC_CALL_ERROR(call, ast->loc, "'%s' has %d entries; expected at most %d", call->names[i],
                      ast->count, max);
    else return ast;
    return NULL;
}

bool kc_call_dims(kc_call *call, int i, const char *what, int *n,
                  const kc_expr *dims[KC_MAX_RANK]) {
    const kc_ast *list = kc_call_list(call, i, what, KC_MAX_RANK);
    if (!list) return false;
    bool good = true;
    for (int d = 0; d < list->count; d++) {
        dims[d] = kc_dims_eval(call->fn, list->args[d].value, true);
        good = good && dims[d];
    }
    *n = list->count;
    return good;
}
