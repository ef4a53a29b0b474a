// Types as text, `f16[M, K]`, and the arguments that have them.
//
// A type is a name and a list of the expression language: the body's parser reads it. Reading gives
// syntax alone; the expressions are built by kc_types_resolve, after all facts are known.
#include <stdio.h>
#include <string.h>

#include "compiler/frontend/function.h"

// ---- element types

static const char *other_name(const char *name) {
    static const char *const table[][2] = {
        {"float64", "f64"},   {"double", "f64"},  {"float32", "f32"}, {"float", "f32"},
        {"fp32", "f32"},      {"float16", "f16"}, {"half", "f16"},    {"fp16", "f16"},
        {"bfloat16", "bf16"}, {"int64", "i64"},   {"int32", "i32"},   {"int", "i32"},
        {"int16", "i16"},     {"int8", "i8"},     {"uint8", "u8"},    {"fp8", "f8e4m3"},
        {"f8", "f8e4m3"},     {"boolean", "bool"},  {"fp4", "f4e2m1"}, {"f4", "f4e2m1"},
        {"int4", "i4"},       {"e4m3", "f8e4m3"}, {"e5m2", "f8e5m2"}, {"e8m0", "f8e8m0"},
        {"u4", "i4"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i][0])) return table[i][1];
    return NULL;
}

kc_dtype kc_types_dtype(kc_function *fn, kc_loc loc, const char *name) {
    kc_type_parameter *parameter = kc_types_parameter(fn, name);
    if (parameter) name = parameter->dtype;
    kc_dtype dtype = kc_dtype_find(name, strlen(name));
    if (dtype != KC_DTYPE_NONE) return dtype;
    kc_suggest suggest;
    kc_suggest_start(&suggest, name);
    for (int i = 0; i < KC_DTYPE_COUNT; i++)
        kc_suggest_offer(&suggest, kc_dtype_table[i].name);
    for (int i = 0; i < fn->n_types; i++)
        kc_suggest_offer(&suggest, fn->types[i].name);
    if (other_name(name)) suggest.best = other_name(name);
    KC_FN_ERROR(fn, loc, "unknown element type '%.64s'%s", name,
                kc_suggest_text(&suggest, fn->arena));
    return KC_DTYPE_NONE;
}

const char *kc_types_text(kc_function *fn, const kc_type *type) {
    const char *text = kc_dtype_name(type->elem);
    for (int d = 0; d < type->rank; d++)
        text = kc_arena_printf(fn->arena, "%s%s%s", text, d ? ", " : "[",
                               kc_dims_text(fn, type->shape[d]));
    return type->rank ? kc_arena_printf(fn->arena, "%s]", text) : text;
}

// ---- syntax

static kc_body_text text_of(const kc_yaml *node, size_t from) {
    return (kc_body_text){.text = node->text + from,
                          .length = node->length - from,
                          .start = kc_yaml_loc(node, from),
                          .fixed = !node->verbatim};
}

static bool parse_shape(kc_function *fn, kc_argument *argument, const kc_yaml *node, size_t from) {
    kc_ast *list = kc_expression_parse(fn->arena, fn->diag, text_of(node, from));
    if (!list) return false;
    if (list->kind != KC_AST_LIST) {
        KC_FN_ERROR(fn, list->loc, "expected a type such as f16[M, K], seen %s",
                    kc_yaml_describe(fn->arena, node));
        return false;
    }
    if (list->count > KC_MAX_RANK) {
        KC_FN_ERROR(fn, list->loc, "a tensor has at most %d dimensions, this one has %d",
                    (int)KC_MAX_RANK, list->count);
        return false;
    }
    for (int d = 0; d < list->count; d++)
        argument->shape[d] = list->args[d].value;
    argument->rank = list->count;
    return true;
}

bool kc_types_parse(kc_function *fn, kc_argument *argument, const kc_yaml *node) {
    argument->type_loc = node->loc;
    if (node->kind != KC_YAML_SCALAR || kc_yaml_is_null(node)) {
        KC_FN_ERROR(fn, node->loc, "the type of '%s' must be text such as f16[M, K], not %s%s",
                    argument->name, kc_yaml_describe(fn->arena, node),
                    node->kind == KC_YAML_LIST ? " (quote types inside { })" : "");
        return false;
    }
    size_t length = strcspn(node->text, "[ \t\n");
    argument->elem = kc_types_dtype(fn, node->loc, kc_arena_strndup(fn->arena, node->text, length));
    bool shape = node->text[length + strspn(node->text + length, " \t\n")]
                     ? parse_shape(fn, argument, node, length)
                     : true;
    return argument->elem != KC_DTYPE_NONE && shape;
}

static bool parse_strides(kc_function *fn, kc_argument *argument, const kc_yaml *node) {
    if (node->kind != KC_YAML_LIST) {
        KC_FN_ERROR(fn, node->loc,
                    "'strides' must be a list with one entry a dimension, such as [ld, 1], not %s",
                    kc_yaml_describe(fn->arena, node));
        return false;
    }
    if (node->count != argument->rank) {
        KC_FN_ERROR(fn, node->loc, "'%s' has %d dimensions but %d strides", argument->name,
                    argument->rank, node->count);
        return false;
    }
    argument->strided = argument->rank > 0;
    bool good = true;
    for (int d = 0; d < node->count; d++) {
        const kc_yaml *item = node->items[d];
        if (item->kind == KC_YAML_SCALAR)
            argument->strides[d] = kc_expression_parse(fn->arena, fn->diag, text_of(item, 0));
        else
            KC_FN_ERROR(fn, item->loc, "a stride is an expression, not %s",
                        kc_yaml_describe(fn->arena, item));
        good = good && argument->strides[d];
    }
    return good;
}

static bool parse_alias(kc_function *fn, kc_argument *argument, const kc_yaml *node) {
    argument->alias_loc = node->loc;
    if (argument->direction != KC_OUTPUT) {
        KC_FN_ERROR(fn, node->loc,
                    "'alias' belongs to an output: it names the input that the output may overlap");
        return false;
    }
    argument->alias = kc_model_name(fn->model, node, "'alias'");
    return argument->alias;
}

static bool parse_argument_map(kc_function *fn, kc_argument *argument, const kc_yaml *map) {
    bool good = kc_model_check_keys(fn->model, map, "an argument", "type strides alias", NULL);
    const kc_yaml *type = kc_yaml_find(map, "type"), *strides = kc_yaml_find(map, "strides");
    const kc_yaml *alias = kc_yaml_find(map, "alias");
    if (!type) {
        KC_FN_ERROR(fn, map->loc, "'%s' has no 'type'", argument->name);
        return false;
    }
    bool typed = kc_types_parse(fn, argument, type);
    if (strides && typed) good = parse_strides(fn, argument, strides) && good;
    if (alias) good = parse_alias(fn, argument, alias) && good;
    return typed && good;
}

static const char *what_it_is(kc_direction direction) {
    return direction == KC_INPUT ? "an input" : direction == KC_INOUT ? "an inout" : "an output";
}

int kc_types_argument_count(const kc_function *fn) {
    return fn->n_inputs + fn->n_inouts + fn->n_outputs;
}

static void read_argument(kc_function *fn, const kc_yaml *key, const kc_yaml *value,
                          kc_direction direction, int *count) {
    const char *name = kc_model_name(fn->model, key, what_it_is(direction));
    if (kc_types_argument_count(fn) == KC_MODEL_MAX_ARGUMENTS) {
        KC_FN_ERROR(fn, key->loc, "function '%s' has more than %d arguments", fn->name,
                    (int)KC_MODEL_MAX_ARGUMENTS);
        return;
    }
    if (!name) return;
    kc_argument *argument = &fn->arguments[kc_types_argument_count(fn)];
    *argument = (kc_argument){.name = name, .loc = key->loc, .direction = direction};
    bool good = value->kind == KC_YAML_MAP ? parse_argument_map(fn, argument, value)
                                           : kc_types_parse(fn, argument, value);
    if (good && direction == KC_INOUT && !argument->rank) {
        KC_FN_ERROR(fn, argument->type_loc,
                    "'%s' has no dimensions, so that it would be passed by value; an inout is a "
                    "tensor, such as %s[1]",
                    name, kc_dtype_name(argument->elem));
        good = false;
    }
    argument->broken = !good;
    ++*count;
}

// Of 4-bit elements the last dimension and all strides but the last are even: facts of names.
static void scan_argument(kc_function *fn, const kc_argument *argument) {
    int last = argument->rank - 1;
    bool packed = kc_dtype_is_packed(argument->elem);
    for (int d = 0; d <= last; d++)
        kc_dims_scan(fn, argument->shape[d]);
    if (packed && last >= 0) kc_dims_note_even(fn, argument->shape[last]);
    for (int d = 0; argument->strided && d <= last; d++) {
        if (argument->strides[d]) kc_dims_scan(fn, argument->strides[d]);
        if (argument->strides[d] && packed && d < last) kc_dims_note_even(fn, argument->strides[d]);
    }
}

static int count_of(const kc_yaml *map) {
    return map ? map->count : 0;
}

void kc_types_read_arguments(kc_function *fn, const kc_yaml *inputs, const kc_yaml *inouts,
                             const kc_yaml *outputs) {
    int n = count_of(inputs) + count_of(inouts) + count_of(outputs);
    fn->arguments = KC_NEW_ARRAY(fn->arena, kc_argument,
                                 n < KC_MODEL_MAX_ARGUMENTS ? n : KC_MODEL_MAX_ARGUMENTS);
    for (int i = 0; i < count_of(inputs); i++)
        read_argument(fn, inputs->keys[i], inputs->items[i], KC_INPUT, &fn->n_inputs);
    for (int i = 0; i < count_of(inouts); i++)
        read_argument(fn, inouts->keys[i], inouts->items[i], KC_INOUT, &fn->n_inouts);
    for (int i = 0; i < count_of(outputs); i++)
        read_argument(fn, outputs->keys[i], outputs->items[i], KC_OUTPUT, &fn->n_outputs);
    for (int i = 0; i < kc_types_argument_count(fn); i++)
        if (!fn->arguments[i].broken) scan_argument(fn, &fn->arguments[i]);
}

// ---- expressions

static const kc_argument *find_argument(const kc_function *fn, const char *name,
                                        const kc_argument *before) {
    for (const kc_argument *at = fn->arguments; at < before; at++)
        if (!strcmp(at->name, name)) return at;
    return NULL;
}

static void check_name(kc_function *fn, const kc_argument *argument) {
    const kc_dim *dim = kc_map_get_text(fn->dim_map, argument->name, strlen(argument->name));
    const kc_argument *before = find_argument(fn, argument->name, argument);
    const kc_type_parameter *type = kc_types_parameter(fn, argument->name);
    if (!dim && !before && !type) return;
    KC_FN_ERROR(fn, argument->loc, "'%s' is already the name of %s", argument->name,
                type  ? "an element type"
                : dim ? "a dimension"
                      : what_it_is(before->direction));
    kc_report(fn->diag, KC_NOTE, type ? type->loc : dim ? dim->loc : before->loc,
              "that one is here");
}

static bool check_stride(kc_function *fn, const kc_argument *argument, int d,
                         const kc_expr *stride) {
    int64_t value, extent;
    if (kc_expr_max_value(fn->pool, stride) < 0) {
        KC_FN_ERROR(fn, argument->strides[d]->loc,
                    "the stride %s is negative; strides are at least 0", kc_dims_text(fn, stride));
        return false;
    }
    bool repeats = kc_expr_is_const(stride, &value) && value == 0 &&
                   !(kc_expr_is_const(argument->type.shape[d], &extent) && extent <= 1);
    if (argument->direction != KC_INPUT && repeats) {
        KC_FN_ERROR(fn, argument->strides[d]->loc,
                    "stride 0 would write several elements of %s '%s' to one place",
                    argument->direction == KC_INOUT ? "inout" : "output", argument->name);
        return false;
    }
    return true;
}

static bool check_packing(kc_function *fn, const kc_argument *argument) {
    const char *trouble = kc_type_packing(fn->pool, &argument->type);
    if (trouble) KC_FN_ERROR(fn, argument->type_loc, "'%s' %s", argument->name, trouble);
    return !trouble;
}

static bool resolve(kc_function *fn, kc_argument *argument) {
    const kc_expr *shape[KC_MAX_RANK];
    for (int d = 0; d < argument->rank; d++) {
        shape[d] = kc_dims_eval(fn, argument->shape[d], false);
        if (!shape[d] || !kc_dims_check_extent(fn, argument->shape[d]->loc, shape[d])) return false;
    }
    argument->type = kc_type_tensor(argument->elem, argument->rank, shape);
    if (!kc_types_check(fn, argument->type_loc, &argument->type)) return false;
    int divisions = fn->n_divisions;
    for (int d = 0; argument->strided && d < argument->rank; d++) {
        const kc_expr *stride = kc_dims_eval(fn, argument->strides[d], false);
        if (!stride || !check_stride(fn, argument, d, stride)) return false;
        argument->type.strides[d] = stride;
    }
    fn->n_divisions = divisions; // a launch does not look at every stride: they prove nothing
    return check_packing(fn, argument);
}

static void check_alias(kc_function *fn, kc_argument *argument) {
    const kc_argument *input = find_argument(fn, argument->alias, fn->arguments + fn->n_inputs);
    if (input && (input->broken || input->rank > 0)) return;
    kc_suggest suggest;
    kc_suggest_start(&suggest, argument->alias);
    for (int i = 0; i < fn->n_inputs; i++)
        if (fn->arguments[i].rank) kc_suggest_offer(&suggest, fn->arguments[i].name);
    if (find_argument(fn, argument->alias, fn->arguments + fn->n_inputs + fn->n_inouts) != input)
        KC_FN_ERROR(fn, argument->alias_loc,
                    "'%s' is updated in place: no output can overlap it", argument->alias);
    else if (input)
        KC_FN_ERROR(fn, argument->alias_loc,
                    "input '%s' is passed by value: nothing can overlap it", input->name);
    else
        KC_FN_ERROR(fn, argument->alias_loc, "'alias' names an input; there is no input '%s'%s",
                    argument->alias, kc_suggest_text(&suggest, fn->arena));
    argument->broken = true;
}

void kc_types_resolve(kc_function *fn) {
    for (int i = 0; i < kc_types_argument_count(fn); i++) {
        kc_argument *argument = &fn->arguments[i];
        check_name(fn, argument);
        if (argument->broken) continue;
        argument->broken = !resolve(fn, argument);
        if (!argument->broken && argument->alias) check_alias(fn, argument);
    }
}

// ---- sizes

bool kc_types_check(kc_function *fn, kc_loc loc, const kc_type *type) {
    int64_t elements = 1, extent;
    for (int d = 0; d < type->rank; d++) {
        if (!kc_dims_check_extent(fn, loc, type->shape[d])) return false;
        if (!kc_expr_is_const(type->shape[d], &extent) || extent == 0) continue;
        if (!__builtin_mul_overflow(elements, extent, &elements) && elements <= (int64_t)1 << 48)
            continue;
        KC_FN_ERROR(fn, loc, "%s has more elements than any memory holds", kc_types_text(fn, type));
        return false;
    }
    return true;
}

const kc_expr *kc_types_elements(kc_function *fn, kc_loc loc, const kc_type *type) {
    const kc_expr *elements = kc_expr_const(fn->pool, 1);
    for (int d = 0; elements && d < type->rank; d++)
        elements = kc_dims_binary(fn, loc, KC_EXPR_MUL, elements, type->shape[d]);
    return elements;
}
