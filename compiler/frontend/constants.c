// The key `constants`: tensors of files that belong to the function. A file is read once, whatever
// uses it. The file says the type; the model may say it too, and then the two must agree: nothing
// is converted. A name that stands alone in that type is the number that the file has there.
#include <string.h>

#include "compiler/frontend/function.h"
#include "compiler/frontend/tensor_file.h"
#include "runtime/sha256.h"

typedef struct kc_constant_data {
    kc_tensor_data tensor;
    char sha256[65];
} kc_constant_data;

// ---- files --------------------------------------------------------------------------------------

static void note_file(kc_model *model, const char *path) {
    kc_file_name **end = &model->module->files;
    for (; *end; end = &(*end)->next)
        if (!strcmp((*end)->path, path)) return;
    *end = KC_NEW(model->arena, kc_file_name);
    **end = (kc_file_name){.path = path};
}

// What a byte of a bool is, no other code than 0 and 1 may decide.
static bool check_bools(const kc_tensor_data *tensor, const char *path,
                        char error[KC_TENSOR_ERROR]) {
    const unsigned char *at = tensor->data;
    if (tensor->type != KC_bool) return true;
    for (size_t i = 0; i < tensor->size; i++) {
        if (at[i] <= 1) continue;
        snprintf(error, KC_TENSOR_ERROR, "%.300s: holds %d where a bool is 0 or 1", path, at[i]);
        return false;
    }
    return true;
}

static const kc_constant_data *load(kc_model *model, const char *path, const char *tensor,
                                    kc_dtype as, char error[KC_TENSOR_ERROR]) {
    const char *key = kc_arena_printf(model->arena, "%s\n%s\n%d", path, tensor ? tensor : "", (int)as);
    kc_constant_data *data = kc_map_get_text(model->tensors, key, strlen(key));
    if (data) return data;
    note_file(model, path);
    data = KC_NEW(model->arena, kc_constant_data);
    if (!kc_tensor_file_read(model->arena, path, tensor, as, &data->tensor, error) ||
        !check_bools(&data->tensor, path, error))
        return NULL;
    model->tensor_bytes += data->tensor.size;
    if (model->tensor_bytes > KC_TENSOR_MAX_BYTES) {
        snprintf(error, KC_TENSOR_ERROR, "%.300s: with it the constants have more than 1 GiB", path);
        return NULL;
    }
    kcrt_sha256_hex(data->tensor.data, data->tensor.size, data->sha256);
    kc_map_set_text(model->tensors, key, strlen(key), data);
    return data;
}

// ---- reading the key ----------------------------------------------------------------------------

static const char *text_of(kc_function *fn, const kc_yaml *node, const char *what,
                           const char *constant) {
    if (node && node->kind == KC_YAML_SCALAR && node->length) return node->text;
    if (node)
        KC_FN_ERROR(fn, node->loc, "'%s' of constant '%s' must be text, not %s", what, constant,
                    kc_yaml_describe(fn->arena, node));
    return NULL;
}

static bool read_map(kc_function *fn, kc_constant_entry *c, const kc_yaml *map, const char **tensor) {
    bool good = kc_model_check_keys(fn->model, map, "a constant", "file tensor type", NULL);
    const kc_yaml *file = kc_yaml_find(map, "file"), *name = kc_yaml_find(map, "tensor"),
                  *type = kc_yaml_find(map, "type");
    if (!file) KC_FN_ERROR(fn, map->loc, "constant '%s' has no 'file'", c->name);
    c->path = text_of(fn, file, "file", c->name);
    *tensor = text_of(fn, name, "tensor", c->name);
    if (file) c->file_loc = file->loc;
    if (type) c->typed = kc_types_parse(fn, &c->declared, type);
    return good && c->path && (!name || *tensor) && (!type || c->typed);
}

// Names that stand alone become the file's extents.
static bool fix_names(kc_function *fn, kc_constant_entry *c) {
    const kc_tensor_data *tensor = &c->data->tensor;
    if (c->declared.rank != tensor->rank) {
        KC_FN_ERROR(fn, c->declared.type_loc, "'%s' is declared with %d dimensions but %s has %d",
                    c->name, c->declared.rank, c->path, tensor->rank);
        return false;
    }
    for (int d = 0; d < tensor->rank; d++) {
        const kc_ast *extent = c->declared.shape[d];
        if (extent->kind == KC_AST_NAME)
            kc_dims_fix(fn, extent->text, extent->loc, tensor->shape[d], c->name);
        else kc_dims_scan(fn, extent);
    }
    return true;
}

static void read_constant(kc_function *fn, const kc_yaml *key, const kc_yaml *value) {
    const char *name = kc_model_name(fn->model, key, "a constant"), *tensor = NULL;
    char error[KC_TENSOR_ERROR];
    if (!name) return;
    kc_constant_entry *c = &fn->constants[fn->n_constants++];
    *c = (kc_constant_entry){.name = name, .loc = key->loc, .file_loc = value->loc, .broken = true};
    c->declared = (kc_argument){.name = name, .loc = key->loc};
    if (value->kind == KC_YAML_MAP ? !read_map(fn, c, value, &tensor)
                                   : !(c->path = text_of(fn, value, "file", name)))
        return;
    if (*c->path != '/') c->path = kc_arena_printf(fn->arena, "%s%s", fn->model->folder, c->path);
    c->data = load(fn->model, c->path, tensor, c->typed ? c->declared.elem : KC_DTYPE_NONE, error);
    if (!c->data) KC_FN_ERROR(fn, c->file_loc, "constant '%s': %s", name, error);
    c->broken = !c->data || (c->typed && !fix_names(fn, c));
}

void kc_constants_read(kc_function *fn, const kc_yaml *node) {
    const kc_yaml *map = kc_model_map(fn->model, node, "'constants'");
    if (map && map->count > KC_MODEL_MAX_CONSTANTS) {
        KC_FN_ERROR(fn, node->loc, "function '%s' has %d constants; at most %d are allowed", fn->name,
                    map->count, (int)KC_MODEL_MAX_CONSTANTS);
        return;
    }
    fn->constants = KC_NEW_ARRAY(fn->arena, kc_constant_entry, map ? map->count : 0);
    for (int i = 0; map && i < map->count; i++)
        read_constant(fn, map->keys[i], map->items[i]);
}

// ---- once dimensions are known ------------------------------------------------------------------

static bool check_extent(kc_function *fn, const kc_constant_entry *c, int d) {
    const kc_ast *ast = c->declared.shape[d];
    const kc_expr *extent = kc_dims_eval(fn, ast, false);
    int64_t value, is = c->data->tensor.shape[d];
    if (!extent) return false;
    if (!kc_expr_is_const(extent, &value))
        KC_FN_ERROR(fn, ast->loc,
                    "the extent %s of constant '%s' is no number: names are fixed where they stand "
                    "alone in the type of a constant",
                    kc_dims_text(fn, extent), c->name);
    else if (value != is)
        KC_FN_ERROR(fn, ast->loc, "dimension %d of constant '%s' is declared %lld but %s has %lld", d,
                    c->name, (long long)value, c->path, (long long)is);
    else return true;
    return false;
}

void kc_constants_check(kc_function *fn) {
    for (int i = 0; i < fn->n_constants; i++) {
        kc_constant_entry *c = &fn->constants[i];
        for (int d = 0; !c->broken && c->typed && d < c->declared.rank; d++)
            c->broken = !check_extent(fn, c, d);
    }
}

// A number, or nothing at all, needs no memory.
static kc_value *as_op(kc_function *fn, const kc_tensor_data *tensor, const kc_type *type) {
    if (kc_dtype_is_float(type->elem)) {
        double value = tensor->size ? kc_dtype_load(type->elem, tensor->data) : 0;
        return kc_build_const(&fn->builder, *type, value);
    }
    int64_t value = tensor->size ? kc_dtype_load_i64(type->elem, tensor->data) : 0;
    return kc_build_const_int(&fn->builder, *type, value);
}

kc_value *kc_constants_define(kc_function *fn, int i) {
    const kc_constant_entry *c = &fn->constants[i];
    const kc_expr *shape[KC_MAX_RANK];
    if (c->broken) return NULL;
    const kc_tensor_data *tensor = &c->data->tensor;
    for (int d = 0; d < tensor->rank; d++)
        shape[d] = kc_expr_const(fn->pool, tensor->shape[d]);
    kc_type type = kc_type_tensor(tensor->type, tensor->rank, shape);
    if (!kc_types_check(fn, c->file_loc, &type)) return NULL;
    fn->builder.loc = c->loc;
    if (!tensor->rank || !tensor->size) return as_op(fn, tensor, &type);
    kc_module *module = fn->model->module;
    kc_module_add_constant(module, &(kc_constant){c->data->sha256, tensor->data, tensor->size, NULL});
    return kc_func_add_constant(module, fn->func, type, c->name, c->data->sha256);
}
