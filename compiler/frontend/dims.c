// Dimensions: names with facts, and integer expressions over them.
//
// `a / b` promises that b divides a. In a type it is checked at launch, where the extent is
// computed. In a body it is either provable or, when it is NAME / NUMBER, it becomes a fact of the
// name: facts are checked at launch too.
#include <string.h>

#include "compiler/frontend/function.h"

static const kc_expr_facts default_facts = {.min = 0, .max = 2147483647, .multiple_of = 1};

enum { MAX_FACT = 1 << 30 };
static const int64_t max_extent = (int64_t)1 << 48;

static kc_dim *find(const kc_function *fn, const char *name) {
    return kc_map_get_text(fn->dim_map, name, strlen(name));
}

static kc_dim *add(kc_function *fn, const char *name, kc_loc loc) {
    if (fn->n_dims == KC_MODEL_MAX_SYMBOLS) {
        KC_FN_ERROR(fn, loc, "function '%s' has more than %d dimensions and strides", fn->name,
                    (int)KC_MODEL_MAX_SYMBOLS);
        return NULL;
    }
    const kc_type_parameter *type = kc_types_parameter(fn, name);
    if (type) {
        KC_FN_ERROR(fn, loc, "'%s' is an element type and cannot be a dimension", name);
        kc_report(fn->diag, KC_NOTE, type->loc, "it is declared here");
    }
    kc_dim *dim = KC_NEW(fn->arena, kc_dim);
    *dim = (kc_dim){.name = name, .loc = loc, .facts = default_facts, .symbol = -1};
    fn->dims[fn->n_dims++] = dim;
    kc_map_set_text(fn->dim_map, name, strlen(name), dim);
    return dim;
}

// ---- the key `dims`

static void check_facts(kc_function *fn, const kc_dim *dim) {
    const kc_expr_facts *facts = &dim->facts;
    int64_t first = (facts->min + facts->multiple_of - 1) / facts->multiple_of * facts->multiple_of;
    if (facts->min > facts->max)
        KC_FN_ERROR(fn, dim->loc, "'%s' has min %lld above max %lld", dim->name,
                    (long long)facts->min, (long long)facts->max);
    else if (first > facts->max)
        KC_FN_ERROR(fn, dim->loc, "no multiple of %lld lies between min %lld and max %lld of '%s'",
                    (long long)facts->multiple_of, (long long)facts->min, (long long)facts->max,
                    dim->name);
}

static void read_facts(kc_function *fn, kc_dim *dim, const kc_yaml *map) {
    kc_model_check_keys(fn->model, map, "a dimension", "min max multiple_of", NULL);
    const kc_yaml *node;
    if ((node = kc_yaml_find(map, "min")))
        kc_model_int(fn->model, node, "'min'", 0, max_extent, &dim->facts.min);
    if ((node = kc_yaml_find(map, "max")))
        kc_model_int(fn->model, node, "'max'", 0, max_extent, &dim->facts.max);
    if ((node = kc_yaml_find(map, "multiple_of")))
        kc_model_int(fn->model, node, "'multiple_of'", 1, MAX_FACT, &dim->facts.multiple_of);
}

void kc_dims_read(kc_function *fn, const kc_yaml *node) {
    const kc_yaml *map = kc_model_map(fn->model, node, "'dims'");
    for (int i = 0; map && i < map->count; i++) {
        const char *name = kc_model_name(fn->model, map->keys[i], "a dimension");
        kc_dim *dim = name ? add(fn, name, map->keys[i]->loc) : NULL;
        if (!dim) continue;
        dim->declared = true;
        const kc_yaml *facts = kc_model_map(fn->model, map->items[i], "the facts of a dimension");
        if (facts) read_facts(fn, dim, facts);
    }
}

// ---- symbols, and facts from `/`

static void add_factor(kc_function *fn, kc_dim *dim, int64_t factor, kc_loc loc) {
    int64_t a = dim->facts.multiple_of, b = factor;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    int64_t multiple = dim->facts.multiple_of / a * factor;
    if (multiple > MAX_FACT)
        KC_FN_ERROR(fn, loc, "'%s' would have to be a multiple of %lld; at most %d is allowed",
                    dim->name, (long long)multiple, (int)MAX_FACT);
    else dim->facts.multiple_of = multiple;
}

// NAME / NUMBER: the number divides every value of the name.
static void note_division(kc_function *fn, const kc_ast *ast) {
    const kc_ast *a = ast->args[0].value, *b = ast->args[1].value;
    if (ast->op != KC_TOKEN_DIV || a->kind != KC_AST_NAME || b->kind != KC_AST_INT) return;
    kc_dim *dim = find(fn, a->text);
    if (dim && b->integer > 0 && b->integer <= MAX_FACT) add_factor(fn, dim, b->integer, ast->loc);
}

void kc_dims_note_even(kc_function *fn, const kc_ast *ast) {
    kc_dim *dim = ast->kind == KC_AST_NAME ? find(fn, ast->text) : NULL;
    if (dim) add_factor(fn, dim, 2, ast->loc);
}

// min(a, b) and max(a, b, ...) of dimensions.
static bool is_extremum(const kc_ast *ast) {
    return ast->kind == KC_AST_CALL && (!strcmp(ast->text, "min") || !strcmp(ast->text, "max"));
}

void kc_dims_scan(kc_function *fn, const kc_ast *ast) {
    if (ast->kind == KC_AST_NAME) {
        kc_dim *dim = find(fn, ast->text);
        if (!dim) dim = add(fn, ast->text, ast->loc);
        if (dim) dim->used = true;
    }
    if (ast->kind != KC_AST_UNARY && ast->kind != KC_AST_BINARY && !is_extremum(ast)) return;
    for (int i = 0; i < ast->count; i++)
        kc_dims_scan(fn, ast->args[i].value);
    if (ast->kind == KC_AST_BINARY) note_division(fn, ast);
}

static void scan_list(kc_function *fn, const kc_ast *ast) {
    if (ast->kind == KC_AST_CALL && !is_extremum(ast))
        return; // a value: `/` is true division there
    for (int i = 0; i < ast->count; i++)
        scan_list(fn, ast->args[i].value);
    if (ast->kind == KC_AST_BINARY) note_division(fn, ast);
}

void kc_dims_scan_body(kc_function *fn, const kc_ast *ast) {
    bool values = ast->kind == KC_AST_CALL && !strcmp(ast->text, "concat"); // its list holds values
    for (int i = 0; i < ast->count; i++) {
        const kc_ast *one = ast->args[i].value;
        if (one->kind == KC_AST_LIST && !values) scan_list(fn, one);
        kc_dims_scan_body(fn, one);
    }
}

void kc_dims_fix(kc_function *fn, const char *name, kc_loc loc, int64_t value,
                 const char *constant) {
    kc_dim *dim = find(fn, name);
    if (!dim) dim = add(fn, name, loc);
    if (!dim) return;
    if (dim->fixed && dim->value != value)
        KC_FN_ERROR(fn, loc, "'%s' is %lld by the shape of '%s' and %lld by that of '%s'", name,
                    (long long)dim->value, dim->fixed_by, (long long)value, constant);
    dim->fixed = dim->used = true;
    dim->value = value;
    dim->fixed_by = constant;
}

static void check_fixed(kc_function *fn, const kc_dim *dim) {
    const kc_expr_facts *facts = &dim->facts;
    if (dim->value < facts->min || dim->value > facts->max)
        KC_FN_ERROR(fn, dim->loc,
                    "'%s' is %lld by the shape of '%s', and is to lie between %lld and %lld",
                    dim->name, (long long)dim->value, dim->fixed_by, (long long)facts->min,
                    (long long)facts->max);
    else if (dim->value % facts->multiple_of)
        KC_FN_ERROR(fn, dim->loc, "'%s' is %lld by the shape of '%s', and is to be a multiple of %lld",
                    dim->name, (long long)dim->value, dim->fixed_by,
                    (long long)facts->multiple_of);
}

const kc_expr *kc_dims_value(kc_function *fn, const kc_dim *dim) {
    return dim->fixed ? kc_expr_const(fn->pool, dim->value) : kc_expr_symbol(fn->pool, dim->name);
}

void kc_dims_seal(kc_function *fn) {
    for (int i = 0; i < fn->n_dims; i++) {
        kc_dim *dim = fn->dims[i];
        check_facts(fn, dim);
        if (dim->fixed) {
            check_fixed(fn, dim);
            continue;
        }
        dim->symbol = kc_expr_symbol_index(fn->pool, dim->name, strlen(dim->name));
        kc_expr_set_facts(fn->pool, dim->symbol, dim->facts);
    }
}

// ---- expressions

const char *kc_dims_text(kc_function *fn, const kc_expr *expr) {
    size_t length = kc_expr_print(fn->pool, expr, NULL, 0);
    char *text = kc_arena_alloc(fn->arena, length + 1);
    kc_expr_print(fn->pool, expr, text, length + 1);
    return text;
}

// Nodes of the expression as a tree, counted no further than the limit.
static int count_nodes(const kc_expr *expr, int limit) {
    if (!expr || limit <= 0) return 0;
    int n = 1 + count_nodes(expr->a, limit - 1);
    return n + count_nodes(expr->b, limit - n);
}

static bool has_symbol(const kc_expr *expr) {
    if (!expr) return false;
    return expr->kind == KC_EXPR_SYMBOL || has_symbol(expr->a) || has_symbol(expr->b);
}

static const kc_expr *checked(kc_function *fn, kc_loc loc, const kc_expr *expr) {
    int64_t value;
    if (count_nodes(expr, KC_MODEL_MAX_DIM_NODES + 1) > KC_MODEL_MAX_DIM_NODES) {
        KC_FN_ERROR(
            fn, loc,
            "the dimension's expression has more than %d parts; name a new dimension instead",
            (int)KC_MODEL_MAX_DIM_NODES);
        return NULL;
    }
    if (kc_expr_is_const(expr, NULL) || has_symbol(expr)) return expr;
    kc_expr_status status = kc_expr_eval(expr, NULL, NULL, &value);
    if (status == KC_EXPR_OK) return kc_expr_const(fn->pool, value);
    KC_FN_ERROR(fn, loc, "'%s' has no value: %s", kc_dims_text(fn, expr),
                kc_expr_status_text(status));
    return NULL;
}

const kc_expr *kc_dims_binary(kc_function *fn, kc_loc loc, kc_expr_kind kind, const kc_expr *a,
                              const kc_expr *b) {
    int64_t divisor;
    bool divides = kind == KC_EXPR_FLOORDIV || kind == KC_EXPR_MOD || kind == KC_EXPR_DIV;
    if (divides && kc_expr_is_const(b, &divisor) && divisor == 0) {
        KC_FN_ERROR(fn, loc, "division by zero");
        return NULL;
    }
    return checked(fn, loc, kc_expr_binary(fn->pool, kind, a, b));
}

static bool has_division(const kc_expr *expr) {
    if (!expr) return false;
    return expr->kind == KC_EXPR_DIV || has_division(expr->a) || has_division(expr->b);
}

bool kc_dims_divides(kc_function *fn, const kc_expr *a, const kc_expr *b, const kc_expr *quotient) {
    int64_t divisor;
    return !has_division(quotient) ||
           (kc_expr_is_const(b, &divisor) && kc_expr_divisor(fn->pool, a) % divisor == 0);
}

static bool is_declared_division(const kc_function *fn, const kc_expr *quotient) {
    for (int i = 0; i < fn->n_divisions; i++)
        if (fn->divisions[i] == quotient) return true;
    return false;
}

static const kc_expr *divide(kc_function *fn, kc_loc loc, const kc_expr *a, const kc_expr *b,
                             bool in_body) {
    const kc_expr *quotient = kc_dims_binary(fn, loc, KC_EXPR_DIV, a, b);
    if (!quotient) return NULL;
    if (!in_body) {
        if (fn->n_divisions < KC_MODEL_MAX_SYMBOLS) fn->divisions[fn->n_divisions++] = quotient;
        return quotient;
    }
    if (kc_dims_divides(fn, a, b, quotient) || is_declared_division(fn, quotient)) return quotient;
    KC_FN_ERROR(
        fn, loc,
        "cannot show that %s divides %s: use a type with %s in its shape, facts in 'dims', or '//'",
        kc_dims_text(fn, b), kc_dims_text(fn, a), kc_dims_text(fn, quotient));
    return NULL;
}

static const kc_expr *eval_name(kc_function *fn, const kc_ast *ast, bool in_body) {
    kc_dim *dim = find(fn, ast->text);
    if (dim) {
        dim->used = true;
        return kc_dims_value(fn, dim);
    }
    if (!in_body) return NULL; // was one too many: reported by kc_dims_scan
    kc_name *name = kc_body_lookup(fn, ast);
    if (!name || name->term.kind == KC_TERM_POISON) return NULL;
    if (name->term.kind == KC_TERM_INT) return name->term.expr;
    KC_FN_ERROR(fn, ast->loc,
                "'%s' is %s, not a dimension: extents and bounds are integers and names of "
                "dimensions",
                ast->text,
                name->term.kind == KC_TERM_TENSOR ? kc_types_text(fn, &name->term.value->type)
                                                  : "not an integer");
    return NULL;
}

static const kc_expr *eval_binary(kc_function *fn, const kc_ast *ast, bool in_body) {
    const kc_expr *a = kc_dims_eval(fn, ast->args[0].value, in_body);
    const kc_expr *b = kc_dims_eval(fn, ast->args[1].value, in_body);
    if (!a || !b) return NULL;
    switch (ast->op) {
    case KC_TOKEN_ADD: return kc_dims_binary(fn, ast->loc, KC_EXPR_ADD, a, b);
    case KC_TOKEN_SUB: return kc_dims_binary(fn, ast->loc, KC_EXPR_SUB, a, b);
    case KC_TOKEN_MUL: return kc_dims_binary(fn, ast->loc, KC_EXPR_MUL, a, b);
    case KC_TOKEN_FLOORDIV: return kc_dims_binary(fn, ast->loc, KC_EXPR_FLOORDIV, a, b);
    case KC_TOKEN_MOD: return kc_dims_binary(fn, ast->loc, KC_EXPR_MOD, a, b);
    case KC_TOKEN_DIV: return divide(fn, ast->loc, a, b, in_body);
    default: break;
    }
    KC_FN_ERROR(fn, ast->loc,
                "%s does not stand in dimensions; they know + - * // %% and an exact /",
                kc_body_token_text(ast->op));
    return NULL;
}

static const kc_expr *eval_extremum(kc_function *fn, const kc_ast *ast, bool in_body) {
    kc_expr_kind kind = ast->text[1] == 'i' ? KC_EXPR_MIN : KC_EXPR_MAX;
    bool plain = ast->count >= 2;
    for (int i = 0; i < ast->count; i++)
        plain = plain && !ast->args[i].keyword;
    if (!plain) {
        KC_FN_ERROR(fn, ast->loc, "%s of dimensions takes two or more of them: %s(a, b)", ast->text,
                    ast->text);
        return NULL;
    }
    const kc_expr *result = kc_dims_eval(fn, ast->args[0].value, in_body);
    for (int i = 1; result && i < ast->count; i++) {
        const kc_expr *next = kc_dims_eval(fn, ast->args[i].value, in_body);
        result = next ? kc_dims_binary(fn, ast->loc, kind, result, next) : NULL;
    }
    return result;
}

static const kc_expr *eval_node(kc_function *fn, const kc_ast *ast, bool in_body) {
    const kc_expr *operand;
    switch (ast->kind) {
    case KC_AST_INT: return kc_expr_const(fn->pool, ast->integer);
    case KC_AST_NAME: return eval_name(fn, ast, in_body);
    case KC_AST_BINARY: return eval_binary(fn, ast, in_body);
    case KC_AST_UNARY:
        if (ast->op != KC_TOKEN_SUB) break;
        operand = kc_dims_eval(fn, ast->args[0].value, in_body);
        return operand
                   ? kc_dims_binary(fn, ast->loc, KC_EXPR_SUB, kc_expr_const(fn->pool, 0), operand)
                   : NULL;
    case KC_AST_CALL:
        if (is_extremum(ast)) return eval_extremum(fn, ast, in_body);
        break;
    default: break;
    }
    KC_FN_ERROR(fn, ast->loc,
                "expected a dimension (names, integers, + - * // %% /, min and max), seen %s",
                kc_ast_text(fn->arena, ast));
    return NULL;
}

const kc_expr *kc_dims_eval(kc_function *fn, const kc_ast *ast, bool in_body) {
    if (++fn->depth > KC_MODEL_MAX_NESTING) {
        KC_FN_ERROR(fn, ast->loc, "the expression is nested deeper than %d levels",
                    (int)KC_MODEL_MAX_NESTING);
        fn->depth--;
        return NULL;
    }
    const kc_expr *expr = eval_node(fn, ast, in_body);
    fn->depth--;
    return expr;
}

const char *kc_dims_unequal(kc_function *fn, const kc_expr *a, const kc_expr *b) {
    bool numbers = kc_expr_is_const(a, NULL) && kc_expr_is_const(b, NULL);
    return kc_arena_printf(
        fn->arena, "%s and %s %s", kc_dims_text(fn, a), kc_dims_text(fn, b),
        numbers ? "differ" : "cannot be shown to be equal; if they are, give them one name");
}

bool kc_dims_check_extent(kc_function *fn, kc_loc loc, const kc_expr *extent) {
    int64_t value;
    if (kc_expr_max_value(fn->pool, extent) < 0) {
        KC_FN_ERROR(fn, loc, "the dimension %s is negative", kc_dims_text(fn, extent));
        return false;
    }
    if (kc_expr_is_const(extent, &value) && value > max_extent) {
        KC_FN_ERROR(fn, loc, "the dimension %lld is larger than any memory holds",
                    (long long)value);
        return false;
    }
    return true;
}
