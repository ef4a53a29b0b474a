// Statements and expressions: names get their meaning, operators become ops, and the last values
// become the outputs.
#include <string.h>

#include "compiler/frontend/body_types.h"

// ---- names

static kc_name *find(const kc_function *fn, const char *name) {
    return kc_map_get_text(fn->names, name, strlen(name));
}

static kc_dim *find_dim(const kc_function *fn, const char *name) {
    return kc_map_get_text(fn->dim_map, name, strlen(name));
}

static kc_name *add(kc_function *fn, const char *text, kc_loc loc, kc_term term) {
    kc_name *name = KC_NEW(fn->arena, kc_name);
    *name = (kc_name){.name = text, .loc = loc, .term = term};
    kc_map_set_text(fn->names, text, strlen(text), name);
    int n = fn->n_names;
    if ((n & (n - 1)) == 0) { // capacity is the next power of two
        kc_name **list = KC_NEW_ARRAY(fn->arena, kc_name *, n ? 2 * n : 1);
        if (n) memcpy(list, fn->name_list, sizeof *list * (size_t)n);
        fn->name_list = list;
    }
    fn->name_list[fn->n_names++] = name;
    return name;
}

static const kc_statement *find_statement(const kc_function *fn, const char *name) {
    for (int i = 0; i < fn->body.count; i++)
        if (!strcmp(fn->body.statements[i].name, name)) return &fn->body.statements[i];
    return NULL;
}

enum { MANY_ERRORS = 100 }; // further ones are not shown: they need no thought

static const char *suggestion(kc_function *fn, const char *word) {
    static const char *const words[] = {"true", "false", "inf", "nan"};
    kc_suggest suggest;
    kc_suggest_start(&suggest, word);
    for (int i = 0; i < fn->n_names; i++)
        if (fn->name_list[i]->term.kind != KC_TERM_POISON)
            kc_suggest_offer(&suggest, fn->name_list[i]->name);
    for (int i = 0; i < fn->n_dims; i++)
        kc_suggest_offer(&suggest, fn->dims[i]->name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        kc_suggest_offer(&suggest, words[i]);
    return kc_suggest_text(&suggest, fn->arena);
}

kc_name *kc_body_lookup(kc_function *fn, const kc_ast *ast) {
    kc_name *name = find(fn, ast->text);
    if (name) {
        name->used = true;
        return name;
    }
    bool many = kc_diag_errors(fn->diag) > MANY_ERRORS;
    const kc_statement *later = many ? NULL : find_statement(fn, ast->text);
    const char *signature = kc_body_op_signature(ast->text);
    if (kc_types_parameter(fn, ast->text))
        KC_FN_ERROR(fn, ast->loc, "'%s' is an element type, not a value", ast->text);
    else if (signature && !later)
        KC_FN_ERROR(fn, ast->loc, "'%s' is an op, not a value: call it as %s(%s)", ast->text,
                    ast->text, signature);
    else if (later)
        KC_FN_ERROR(fn, ast->loc, "'%s' is used before it is assigned, on line %u", ast->text,
                    later->loc.line);
    else {
        KC_FN_ERROR(fn, ast->loc, "'%s' is not defined%s", ast->text,
                    many ? "" : suggestion(fn, ast->text));
        add(fn, ast->text, ast->loc, kc_term_poison(ast->loc))->used = true; // once is enough
    }
    return NULL;
}

static bool is_word(const char *text) {
    static const char *const words[] = {"true", "false", "inf", "nan"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i])) return true;
    return false;
}

// True when the name is free; else an error with a note where it was taken.
static bool check_free(kc_function *fn, const kc_statement *statement) {
    const kc_dim *dim = find_dim(fn, statement->name);
    const kc_name *name = find(fn, statement->name);
    const kc_type_parameter *type = kc_types_parameter(fn, statement->name);
    if (is_word(statement->name))
        KC_FN_ERROR(fn, statement->loc, "'%s' is a word of the language; choose another name",
                    statement->name);
    else if (name && name->inout) return true;
    else if (dim || name || type) {
        KC_FN_ERROR(fn, statement->loc,
                    "'%s' is already the name of %s: each name is assigned once", statement->name,
                    type             ? "an element type"
                    : dim            ? "a dimension"
                    : name->constant ? "a constant"
                    : name->input    ? "an input"
                                     : "another statement");
        kc_report(fn->diag, KC_NOTE,
                  type  ? type->loc
                  : dim ? dim->loc
                        : name->loc,
                  "that one is here");
    } else return true;
    return false;
}

static void define(kc_function *fn, const kc_statement *statement, kc_term term) {
    if (!check_free(fn, statement)) return;
    kc_value *value = term.kind == KC_TERM_TENSOR ? term.value : NULL;
    if (value && value->def && !value->name) value->name = statement->name;
    add(fn, statement->name, statement->loc, term);
}

// ---- expressions

static kc_term eval_name(kc_function *fn, const kc_ast *ast) {
    kc_dim *dim = find_dim(fn, ast->text);
    if (dim) {
        dim->used = true;
        return kc_weak_int(ast->loc, kc_dims_value(fn, dim));
    }
    const kc_name *name = kc_body_lookup(fn, ast);
    kc_term term = name ? name->term : kc_term_poison(ast->loc);
    term.loc = ast->loc;
    return term;
}

static const struct {
    kc_token_kind token;
    kc_opcode code;
} operators[] = {
#define OPERATOR(ID, TEXT, REFUSES, TYPES, EXTENTS, MEANING, BOUND) {KC_TOKEN_##ID, KC_OP_##ID},
#include "compiler/frontend/body_ops.def"
};

static kc_opcode opcode_of(kc_token_kind token) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].token == token) return operators[i].code;
    kc_bug("operator %d has no op", (int)token);
}

static kc_term eval_operand(kc_function *fn, const kc_ast *ast, int i) {
    const kc_ast *operand = ast->args[i].value;
    if (operand->kind != KC_AST_STRING && operand->kind != KC_AST_LIST)
        return kc_body_eval(fn, operand);
    KC_FN_ERROR(fn, operand->loc, "%s takes tensors and numbers, not %s",
                kc_body_token_text(ast->op), kc_ast_text(fn->arena, operand));
    return kc_term_poison(operand->loc);
}

static kc_term eval_unary(kc_function *fn, const kc_ast *ast) {
    kc_opcode code = ast->op == KC_TOKEN_NOT ? KC_OP_NOT : KC_OP_NEG;
    return kc_body_unary(fn, ast->loc, kc_body_token_text(ast->op), code, eval_operand(fn, ast, 0));
}

static kc_term eval_binary(kc_function *fn, const kc_ast *ast) {
    kc_term a = eval_operand(fn, ast, 0), b = eval_operand(fn, ast, 1);
    return kc_body_binary(fn, ast->loc, kc_body_token_text(ast->op), opcode_of(ast->op), a, b);
}

static kc_term eval_bool(kc_function *fn, const kc_ast *ast) {
    fn->builder.loc = ast->loc;
    return kc_term_tensor(
        kc_build_const_int(&fn->builder, kc_type_tensor(KC_bool, 0, NULL), ast->integer), ast->loc);
}

static kc_term eval_node(kc_function *fn, const kc_ast *ast) {
    switch (ast->kind) {
    case KC_AST_INT: return kc_weak_int(ast->loc, kc_expr_const(fn->pool, ast->integer));
    case KC_AST_FLOAT: return kc_weak_number(fn, ast->loc, ast->number);
    case KC_AST_BOOL: return eval_bool(fn, ast);
    case KC_AST_NAME: return eval_name(fn, ast);
    case KC_AST_CALL: return kc_body_call(fn, ast);
    case KC_AST_BINARY: return eval_binary(fn, ast);
    case KC_AST_UNARY: return eval_unary(fn, ast);
    case KC_AST_STRING:
    case KC_AST_LIST: break;
    }
    KC_FN_ERROR(fn, ast->loc,
                "expected a value, seen %s: it can only stand as an argument that asks for one",
                kc_ast_text(fn->arena, ast));
    return kc_term_poison(ast->loc);
}

kc_term kc_body_eval(kc_function *fn, const kc_ast *ast) {
    if (fn->depth >= KC_MODEL_MAX_NESTING) {
        KC_FN_ERROR(fn, ast->loc,
                    "the expression is nested deeper than %d levels; use more statements",
                    (int)KC_MODEL_MAX_NESTING);
        return kc_term_poison(ast->loc);
    }
    fn->depth++;
    kc_term term = eval_node(fn, ast);
    fn->depth--;
    return term;
}

// ---- the body

static void define_inputs(kc_function *fn) {
    for (int i = 0; i < fn->n_inputs + fn->n_inouts; i++) {
        const kc_argument *input = &fn->arguments[i];
        if (find_dim(fn, input->name)) continue; // reported
        kc_term term = kc_term_poison(input->loc);
        if (!input->broken)
            term = kc_term_tensor(
                kc_block_add_arg(fn->model->module, fn->func->body, input->type, input->name),
                input->loc);
        kc_name *name = add(fn, input->name, input->loc, term);
        name->input = true;
        name->inout = name->used = input->direction == KC_INOUT; // it may be overwritten unread
    }
}

// Behind the arguments, whose names they may not have.
static void define_constants(kc_function *fn) {
    for (int i = 0; i < fn->n_constants; i++) {
        const kc_constant_entry *constant = &fn->constants[i];
        const kc_dim *dim = find_dim(fn, constant->name);
        const kc_name *before = find(fn, constant->name);
        const kc_type_parameter *type = kc_types_parameter(fn, constant->name);
        if (dim || before || type) {
            KC_FN_ERROR(fn, constant->loc, "'%s' is already the name of %s", constant->name,
                        type  ? "an element type"
                        : dim ? "a dimension"
                              : "an argument");
            continue;
        }
        kc_term term = kc_term_tensor(kc_constants_define(fn, i), constant->loc);
        add(fn, constant->name, constant->loc, term)->constant = true;
    }
}

void kc_body_run(kc_function *fn) {
    define_inputs(fn);
    define_constants(fn);
    for (int i = 0; i < fn->body.count; i++) {
        const kc_statement *statement = &fn->body.statements[i];
        define(fn, statement,
               statement->value ? kc_body_eval(fn, statement->value)
                                : kc_term_poison(statement->loc));
    }
}

// ---- outputs

static const char *kind_text(const kc_argument *output) {
    return output->direction == KC_INOUT ? "inout" : "output";
}

static kc_value *output_kind_error(kc_function *fn, const kc_argument *output,
                                   const kc_name *name) {
    KC_FN_ERROR(fn, name->loc, "%s '%s' is declared %s but '%s' is %s: write cast(..., \"%s\")",
                kind_text(output), output->name, kc_types_text(fn, &output->type), name->name,
                kc_term_text(fn, &name->term), kc_dtype_name(output->elem));
    kc_report(fn->diag, KC_NOTE, output->loc, "declared here");
    return NULL;
}

// What keeps a value from having the output's shape; NULL when it has it.
static const char *shape_trouble(kc_function *fn, const kc_type *output, const kc_type *type) {
    if (type->rank < output->rank) return "broadcast gives it the dimensions that it lacks";
    if (type->rank > output->rank) return "it has dimensions that the output lacks";
    for (int d = 0; d < output->rank; d++)
        if (!kc_expr_known_equal(fn->pool, output->shape[d], type->shape[d]))
            return kc_dims_unequal(fn, output->shape[d], type->shape[d]);
    return NULL;
}

static bool same_shape(kc_function *fn, const kc_argument *output, const kc_type *type,
                       kc_loc loc) {
    const char *trouble = shape_trouble(fn, &output->type, type);
    if (!trouble) return true;
    KC_FN_ERROR(fn, loc, "%s '%s' is declared %s but its value has type %s: %s", kind_text(output),
                output->name, kc_types_text(fn, &output->type), kc_types_text(fn, type), trouble);
    kc_report(fn->diag, KC_NOTE, output->loc, "declared here");
    return false;
}

// Rounding between float types is what an output does; any other change of type wants a cast.
static kc_value *output_value(kc_function *fn, const kc_argument *output, const kc_name *name) {
    const kc_term *term = &name->term;
    bool to_float = kc_dtype_is_float(output->elem);
    kc_type type =
        term->kind == KC_TERM_TENSOR ? term->value->type : kc_type_tensor(output->elem, 0, NULL);
    bool same_kind = term->kind == KC_TERM_INT ? output->elem != KC_bool
                     : term->kind == KC_TERM_REAL
                         ? to_float
                         : type.elem == output->elem || (to_float && kc_dtype_is_float(type.elem));
    if (!same_kind) return output_kind_error(fn, output, name);
    if (!same_shape(fn, output, &type, name->loc)) return NULL;
    kc_value *value = kc_body_materialize(fn, name->loc, term, output->elem, type.rank, type.shape);
    if (value && term->kind != KC_TERM_TENSOR) value->name = name->name;
    return value;
}

static kc_value *find_output(kc_function *fn, const kc_argument *output) {
    kc_name *name = find(fn, output->name);
    if (name && !name->input) {
        name->used = true;
        bool known = !output->broken && name->term.kind != KC_TERM_POISON;
        return known ? output_value(fn, output, name) : NULL;
    }
    bool old = name && name->inout;
    if ((!name || old) && !fn->body.broken)
        KC_FN_ERROR(fn, output->loc, "%s '%s' is never assigned in the body%s", kind_text(output),
                    output->name, old ? ": as an input it would do" : "");
    return NULL;
}

static void warn_unused(kc_function *fn) {
    for (int i = 0; i < fn->n_names; i++) {
        const kc_name *name = fn->name_list[i];
        if (!name->used)
            kc_report(fn->diag, KC_WARNING, name->loc, "%s '%s' is never used",
                      name->input      ? "input"
                      : name->constant ? "constant"
                                       : "the value of",
                      name->name);
    }
    for (int i = 0; i < fn->n_dims; i++)
        if (!fn->dims[i]->used)
            kc_report(fn->diag, KC_WARNING, fn->dims[i]->loc,
                      "dimension '%s' stands in no type and no statement; it must be passed at "
                      "each launch",
                      fn->dims[i]->name);
}

void kc_body_return(kc_function *fn) {
    kc_value *values[KC_MODEL_MAX_ARGUMENTS];
    bool complete = true;
    int n = fn->n_inouts + fn->n_outputs;
    for (int i = 0; i < n; i++) {
        const kc_argument *output = &fn->arguments[fn->n_inputs + i];
        bool inout = output->direction == KC_INOUT;
        values[i] = find_output(fn, output);
        complete = complete && values[i];
        if (output->broken) continue;
        kc_output described = {
            .name = output->name, .type = output->type, .loc = output->loc,
            .alias = inout ? output->name : output->alias};
        kc_func_add_output(fn->model->module, fn->func, &described);
    }
    fn->builder.loc = fn->loc;
    if (complete) kc_build(&fn->builder, KC_OP_RETURN, n, values, 0, NULL);
    if (kc_diag_errors(fn->diag) == fn->errors_before) warn_unused(fn);
}
