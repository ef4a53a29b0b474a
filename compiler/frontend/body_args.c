// Typed access to the arguments of a call.
#include <string.h>

#include "compiler/frontend/body_ops.h"

kc_loc kc_call_loc(const kc_call *call, int i) {
    return call->given[i] ? call->given[i]->loc : call->loc;
}

// ---- messages

void kc_call_refuse_at(kc_call *call, int i, kc_loc loc, const char *expected, const char *seen,
                       const char *hint) {
    KC_CALL_ERROR(call, loc, "'%s' of %s must be %s, not %s%s%s", call->names[i], call->op->name,
                  expected, seen, *hint ? ": " : "", hint);
}

void kc_call_refuse(kc_call *call, int i, const char *expected, const char *seen,
                    const char *hint) {
    kc_call_refuse_at(call, i, kc_call_loc(call, i), expected, seen, hint);
}

const char *kc_call_seen(kc_call *call, const kc_ast *ast) {
    const kc_name *name = ast->kind == KC_AST_NAME
                              ? kc_map_get_text(call->fn->names, ast->text, strlen(ast->text))
                              : NULL;
    if (!name || name->term.kind == KC_TERM_POISON) return kc_ast_text(call->fn->arena, ast);
    return kc_term_text(call->fn, &name->term);
}

// ---- values

kc_term kc_call_value(kc_call *call, int i, const kc_ast *ast) {
    if (ast->kind != KC_AST_STRING && ast->kind != KC_AST_LIST) return kc_body_eval(call->fn, ast);
    bool known = ast->kind == KC_AST_STRING &&
                 kc_map_get_text(call->fn->names, ast->text, strlen(ast->text));
    kc_call_refuse_at(call, i, ast->loc, "a tensor or a number", kc_ast_text(call->fn->arena, ast),
                      known ? "names are written without quotes"
                      : ast->kind == KC_AST_LIST
                          ? "concat joins tensors, iota and broadcast make them"
                          : "");
    return kc_term_poison(ast->loc);
}

kc_value *kc_call_tensor(kc_call *call, int i) {
    const kc_term *term = &call->values[i];
    if (term->kind == KC_TERM_TENSOR) return term->value;
    kc_call_refuse(call, i, "a tensor", kc_term_text(call->fn, term),
                   "give it a type with cast or broadcast");
    return NULL;
}

kc_value *kc_call_ranked(kc_call *call, int i) {
    kc_value *value = kc_call_tensor(call, i);
    if (!value || value->type.rank > 0) return value;
    kc_call_refuse(
        call, i, "a tensor with dimensions",
        kc_arena_printf(call->fn->arena, "%s of rank 0", kc_dtype_name(value->type.elem)),
        "reshape(x, [1]) gives it one");
    return NULL;
}

// ---- attributes

bool kc_call_bool(kc_call *call, int i, bool *out) {
    const kc_ast *ast = call->given[i];
    *out = ast && ast->kind == KC_AST_BOOL && ast->integer;
    if (!ast || ast->kind == KC_AST_BOOL) return true;
    kc_call_refuse(call, i, "true or false", kc_call_seen(call, ast), "");
    return false;
}

bool kc_call_number(kc_call *call, int i, double otherwise, double *out) {
    *out = otherwise;
    if (!call->given[i]) return true;
    const kc_ast *ast = call->given[i];
    bool evaluable = ast->kind != KC_AST_STRING && ast->kind != KC_AST_LIST;
    kc_term term = evaluable ? kc_body_eval(call->fn, ast) : kc_term_poison(ast->loc);
    if (term.kind == KC_TERM_POISON && evaluable) return false;
    if (evaluable && kc_weak_is_number(&term, out)) return true;
    kc_call_refuse(call, i, "a number that stands in the model",
                   term.kind == KC_TERM_POISON   ? kc_call_seen(call, ast)
                   : term.kind == KC_TERM_TENSOR ? kc_term_text(call->fn, &term)
                                                 : "an expression of dimensions",
                   "");
    return false;
}

const char *kc_call_string(kc_call *call, int i, const char *otherwise) {
    const kc_ast *ast = call->given[i];
    if (!ast) return otherwise;
    if (ast->kind == KC_AST_STRING) return ast->text;
    if (ast->kind == KC_AST_NAME && kc_types_parameter(call->fn, ast->text))
        return ast->text; // an element type's name needs no quotes
    kc_call_refuse(call, i, "a string", kc_call_seen(call, ast),
                   ast->kind == KC_AST_NAME
                       ? kc_arena_printf(call->fn->arena, "write \"%s\" in quotes", ast->text)
                       : "");
    return NULL;
}

bool kc_call_int(kc_call *call, const kc_ast *ast, const char *what, int64_t *out) {
    bool literal = ast->kind == KC_AST_FLOAT || ast->kind == KC_AST_BOOL ||
                   ast->kind == KC_AST_STRING || ast->kind == KC_AST_LIST;
    const kc_expr *expr = literal ? NULL : kc_dims_eval(call->fn, ast, true);
    if (!expr && !literal) return false;
    if (expr && kc_expr_is_const(expr, out)) return true;
    KC_CALL_ERROR(call, ast->loc, "%s must be an integer that stands in the model, not %s", what,
                  expr ? kc_dims_text(call->fn, expr) : kc_ast_text(call->fn->arena, ast));
    return false;
}

static void no_dimension(kc_call *call, const kc_ast *ast, const kc_type *type) {
    KC_CALL_ERROR(call, ast->loc,
                  "%s has no dimension '%s': give one of its names or a number from %d to %d",
                  kc_types_text(call->fn, type), ast->text, -type->rank, type->rank - 1);
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
    if (n)
        KC_CALL_ERROR(call, ast->loc, "%s has dimension %s more than once: give its number",
                      kc_types_text(call->fn, type), ast->text);
    else no_dimension(call, ast, type);
    return false;
}

bool kc_call_axis(kc_call *call, const kc_ast *ast, const kc_type *type, int *axis) {
    kc_function *fn = call->fn;
    bool word = ast->kind == KC_AST_NAME || ast->kind == KC_AST_STRING;
    kc_dim *dim = word ? kc_map_get_text(fn->dim_map, ast->text, strlen(ast->text)) : NULL;
    int64_t number;
    if (dim) {
        dim->used = true;
        return axis_by_name(call, ast, type, kc_dims_value(fn, dim), axis);
    }
    if (ast->kind == KC_AST_STRING) {
        no_dimension(call, ast, type);
        return false;
    }
    if (ast->kind == KC_AST_LIST || ast->kind == KC_AST_FLOAT || ast->kind == KC_AST_BOOL) {
        KC_CALL_ERROR(
            call, ast->loc,
            "expected one dimension of %s, seen %s: give a name or a number from %d to %d",
            kc_types_text(fn, type), kc_ast_text(fn->arena, ast), -type->rank, type->rank - 1);
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
    kc_arena *arena = call->fn->arena;
    if (ast->kind != KC_AST_LIST)
        kc_call_refuse(call, i, kc_arena_printf(arena, "a list of %s", what),
                       kc_call_seen(call, ast), "lists stand in brackets");
    else if (ast->count > max)
        kc_call_refuse(call, i, kc_arena_printf(arena, "a list of at most %d entries", max),
                       kc_arena_printf(arena, "%d", ast->count), "");
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
