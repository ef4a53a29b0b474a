// One function: reads its keys in the order that the meaning needs, not in the file's.
#include <string.h>

#include "compiler/frontend/function.h"

static bool is_suffix(const char *text, size_t length, const char *suffix, size_t suffix_length) {
    return length >= suffix_length && !memcmp(text + length - suffix_length, suffix, suffix_length);
}

// First columns of the lines of a literal block: YAML took the indentation away, the file has it.
// False: the block's lines are not where they are expected (an anchor on a line of its own).
static bool find_columns(const kc_source *source, const kc_yaml *node, uint32_t *columns) {
    const char *line = node->text;
    for (uint32_t i = 0;; i++) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line), source_length;
        const char *text = kc_source_line(source, node->loc.line + 1 + i, &source_length);
        bool found = is_suffix(text, source_length, line, length);
        if (!found && length) return false;
        columns[i] = 1 + (found ? kc_source_columns(text, source_length - length) : 0);
        if (!end) return true;
        line = end + 1;
    }
}

static kc_body_text literal_text(kc_function *fn, const kc_yaml *node) {
    size_t lines = 2;
    for (size_t i = 0; i < node->length; i++)
        lines += node->text[i] == '\n';
    uint32_t *columns = KC_NEW_ARRAY(fn->arena, uint32_t, lines);
    kc_body_text text = {.text = node->text, .length = node->length, .start = node->loc};
    text.fixed = !find_columns(&fn->model->source, node, columns);
    if (text.fixed) return text;
    text.columns = columns;
    text.start = (kc_loc){node->loc.line + 1, columns[0]};
    return text;
}

static void read_body(kc_function *fn, const kc_yaml *node) {
    if (node->kind != KC_YAML_SCALAR || node->style == KC_YAML_FOLDED ||
        (node->style != KC_YAML_LITERAL && !node->verbatim)) {
        KC_FN_ERROR(
            fn, node->loc,
            "'body' must be a literal block: write 'body: |' and the statements on the next lines");
        fn->body.broken = true;
        return;
    }
    if (node->length > KC_MODEL_MAX_BODY) {
        KC_FN_ERROR(fn, node->loc, "the body has %zu bytes; at most %d are allowed", node->length,
                    (int)KC_MODEL_MAX_BODY);
        fn->body.broken = true;
        return;
    }
    kc_body_text text = {.text = node->text, .length = node->length, .start = kc_yaml_loc(node, 0)};
    if (node->style == KC_YAML_LITERAL) text = literal_text(fn, node);
    fn->body = kc_body_parse(fn->arena, fn->diag, text);
    for (int i = 0; i < fn->body.count; i++)
        if (fn->body.statements[i].value) kc_dims_scan_body(fn, fn->body.statements[i].value);
}

static const kc_yaml *required(kc_function *fn, const kc_yaml *map, const char *key,
                               const char *what) {
    const kc_yaml *node = kc_yaml_find(map, key);
    if (!node) KC_FN_ERROR(fn, fn->loc, "function '%s' has no '%s': %s", fn->name, key, what);
    return node;
}

static const kc_yaml *read_map(kc_function *fn, const kc_yaml *node, const char *what) {
    return node ? kc_model_map(fn->model, node, what) : NULL;
}

static void read_options(kc_function *fn, const kc_yaml *map) {
    const kc_yaml *doc = kc_yaml_find(map, "doc"), *fast = kc_yaml_find(map, "fast");
    if (doc && doc->kind != KC_YAML_SCALAR)
        KC_FN_ERROR(fn, doc->loc, "'doc' must be text, not %s", kc_yaml_describe(fn->arena, doc));
    else if (doc) kc_func_set_doc(fn->model->module, fn->func, doc->text);
    bool on = false;
    if (fast && kc_model_bool(fn->model, fast, "'fast'", &on) && on)
        kc_attr_set_int(fn->func, KC_ATTR_FAST, 1);
}

static void read_arguments(kc_function *fn, const kc_yaml *map) {
    const kc_yaml *inputs = read_map(fn, kc_yaml_find(map, "inputs"), "'inputs'");
    const kc_yaml *inouts = read_map(fn, kc_yaml_find(map, "inouts"), "'inouts'");
    const kc_yaml *outputs = inouts && inouts->count
                                 ? kc_yaml_find(map, "outputs")
                                 : required(fn, map, "outputs", "a map of names and types");
    const kc_yaml *output_map = read_map(fn, outputs, "'outputs'");
    if (output_map && !output_map->count && !(inouts && inouts->count))
        KC_FN_ERROR(fn, outputs->loc, "'outputs' is empty: a function has at least one output");
    kc_types_read_arguments(fn, inputs, inouts, output_map);
}

static kc_function *create(kc_model *model, const char *name, kc_loc loc) {
    kc_function *fn = KC_NEW(model->arena, kc_function);
    *fn = (kc_function){.arena = model->arena,
                        .diag = model->diag,
                        .model = model,
                        .name = name,
                        .loc = loc,
                        .errors_before = kc_diag_errors(model->diag)};
    fn->dim_map = kc_map_create(fn->arena);
    fn->names = kc_map_create(fn->arena);
    fn->func = kc_func_create(model->module, name, loc);
    fn->pool = kc_op_pool(fn->func);
    fn->builder = kc_builder_at_end(model->module, fn->func->body, loc);
    return fn;
}

static void warn_unused_types(const kc_function *fn) {
    for (int i = 0; i < fn->n_types; i++)
        if (!fn->types[i].used)
            kc_report(fn->diag, KC_WARNING, fn->types[i].loc,
                      "'%s' stands for no element type of the function: its instances are alike",
                      fn->types[i].name);
}

void kc_function_read_instance(kc_model *model, const char *name, kc_loc loc, const kc_yaml *map,
                               int n, const kc_type_parameter *types) {
    kc_function *fn = create(model, name, loc);
    if (n) memcpy(fn->types, types, sizeof *types * (size_t)n);
    fn->n_types = n;
    kc_model_check_keys(model, map, "a function",
                        "doc types dims constants inputs inouts outputs body schedule fast",
                        NULL);
    read_options(fn, map);
    const kc_yaml *dims = kc_yaml_find(map, "dims"), *schedule = kc_yaml_find(map, "schedule"),
                  *constants = kc_yaml_find(map, "constants");
    if (dims) kc_dims_read(fn, dims);
    if (constants) kc_constants_read(fn, constants);
    read_arguments(fn, map);
    const kc_yaml *body = required(fn, map, "body", "statements NAME = EXPRESSION");
    if (body) read_body(fn, body);
    else fn->body.broken = true;
    kc_dims_seal(fn);
    kc_constants_check(fn);
    kc_types_resolve(fn);
    kc_body_run(fn);
    if (schedule) kc_schedule_read(fn, schedule);
    kc_body_return(fn);
    if (kc_diag_errors(fn->diag) == fn->errors_before) warn_unused_types(fn);
}
