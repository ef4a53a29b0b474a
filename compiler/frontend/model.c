// The file's outline: top-level keys, functions, and helpers to read keys and scalars.
#include <ctype.h>
#include <string.h>

#include "compiler/frontend/function.h"

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; length && at && (at = strstr(at, word)); at++)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return !strchr(word, ' ');
    return false;
}

bool kc_model_check_keys(kc_model *model, const kc_yaml *map, const char *what, const char *known,
                         const char *reserved) {
    bool good = true;
    for (int i = 0; i < map->count; i++) {
        const kc_yaml *key = map->keys[i];
        if (has_word(known, key->text)) continue;
        if (has_word(reserved, key->text))
            kc_report(model->diag, KC_ERROR, key->loc, "key '%s' of %s is not built yet", key->text,
                      what);
        else
            kc_report(model->diag, KC_ERROR, key->loc, "unknown key '%.64s' in %s%s; known: %s",
                      key->text, what, kc_suggest_from(model->arena, key->text, known), known);
        good = false;
    }
    return good;
}

const char *kc_model_name(kc_model *model, const kc_yaml *node, const char *what) {
    static const char *const reserved[] = {"true", "false", "inf", "nan", "and",
                                           "or",   "not",   "min", "max", "cdiv"};
    bool good =
        node->kind == KC_YAML_SCALAR && node->length > 0 && !isdigit((unsigned char)*node->text);
    for (size_t i = 0; good && i < node->length; i++) {
        unsigned char c = (unsigned char)node->text[i];
        good = c < 128 && (isalnum(c) || c == '_');
    }
    if (!good) {
        kc_report(model->diag, KC_ERROR, node->loc,
                  "%s must be a name (letters, digits and _, not starting with a digit), not %s",
                  what, kc_yaml_describe(model->arena, node));
        return NULL;
    }
    if (node->length > KC_MODEL_MAX_NAME) {
        kc_report(model->diag, KC_ERROR, node->loc,
                  "a name has at most %d characters, this one has %zu", (int)KC_MODEL_MAX_NAME,
                  node->length);
        return NULL;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(node->text, reserved[i]) != 0) continue;
        kc_report(model->diag, KC_ERROR, node->loc,
                  "'%s' is a word of the language; choose another name", node->text);
        return NULL;
    }
    return node->text;
}

// Decimal digits with an optional minus, plain style, within int64.
static bool parse_int(const kc_yaml *node, int64_t *out) {
    if (node->kind != KC_YAML_SCALAR || node->style != KC_YAML_PLAIN) return false;
    const char *at = node->text;
    bool negative = *at == '-';
    at += negative;
    if (!isdigit((unsigned char)*at)) return false;
    int64_t value = 0;
    for (; isdigit((unsigned char)*at); at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *at - '0', &value))
            return false;
    if (*at || (!negative && value == INT64_MIN)) return false;
    *out = negative ? value : -value;
    return true;
}

bool kc_model_int(kc_model *model, const kc_yaml *node, const char *what, int64_t min, int64_t max,
                  int64_t *out) {
    int64_t value;
    if (!parse_int(node, &value)) {
        kc_report(model->diag, KC_ERROR, node->loc, "%s must be an integer, not %s", what,
                  kc_yaml_describe(model->arena, node));
        return false;
    }
    if (value < min || value > max) {
        kc_report(model->diag, KC_ERROR, node->loc, "%s must lie between %lld and %lld, not %lld",
                  what, (long long)min, (long long)max, (long long)value);
        return false;
    }
    *out = value;
    return true;
}

bool kc_model_bool(kc_model *model, const kc_yaml *node, const char *what, bool *out) {
    bool scalar = node->kind == KC_YAML_SCALAR && node->style == KC_YAML_PLAIN;
    *out = scalar && !strcmp(node->text, "true");
    if (*out || (scalar && !strcmp(node->text, "false"))) return true;
    kc_report(model->diag, KC_ERROR, node->loc, "%s must be true or false, not %s", what,
              kc_yaml_describe(model->arena, node));
    return false;
}

const kc_yaml *kc_model_map(kc_model *model, const kc_yaml *node, const char *what) {
    static const kc_yaml empty = {.kind = KC_YAML_MAP};
    if (kc_yaml_is_null(node)) return &empty;
    if (node->kind == KC_YAML_MAP) return node;
    kc_report(model->diag, KC_ERROR, node->loc, "%s must be a map, not %s", what,
              kc_yaml_describe(model->arena, node));
    return NULL;
}

static void check_version(kc_model *model, const kc_yaml *root) {
    const kc_yaml *version = kc_yaml_find(root, "kc");
    int64_t number;
    if (!version)
        kc_report(model->diag, KC_ERROR, root->loc,
                  "expected the key 'kc', the format version: 'kc: 1'");
    else if (!parse_int(version, &number))
        kc_report(model->diag, KC_ERROR, version->loc,
                  "'kc' is the format version: expected 1, seen %s",
                  kc_yaml_describe(model->arena, version));
    else if (number != 1)
        kc_report(model->diag, KC_ERROR, version->loc,
                  "this kc reads format version 1, the file has version %lld", (long long)number);
}

// The module's name: the key, else the file's name without folder and extension, made an
// identifier.
static const char *module_name(kc_model *model, const kc_yaml *root, const char *file_name) {
    const kc_yaml *node = kc_yaml_find(root, "module");
    if (node) return kc_model_name(model, node, "the name of a module");
    const char *slash = file_name ? strrchr(file_name, '/') : NULL;
    char *name = kc_arena_printf(model->arena, "%.*s", (int)KC_MODEL_MAX_NAME,
                                 slash       ? slash + 1
                                 : file_name ? file_name
                                             : "");
    name[strcspn(name, ".")] = 0;
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127) *at = '_';
    if (!*name || isdigit((unsigned char)*name)) return "model";
    return name;
}

static void read_functions(kc_model *model, const kc_yaml *root) {
    const kc_yaml *node = kc_yaml_find(root, "functions");
    if (!node) {
        kc_report(model->diag, KC_ERROR, root->loc,
                  "expected the key 'functions': a map of functions by name");
        return;
    }
    const kc_yaml *functions = kc_model_map(model, node, "'functions'");
    if (functions && !functions->count)
        kc_report(model->diag, KC_ERROR, node->loc,
                  "'functions' is empty: a module has at least one function");
    if (functions && functions->count > KC_MODEL_MAX_FUNCTIONS) {
        kc_report(model->diag, KC_ERROR, node->loc,
                  "the file has %d functions; at most %d are allowed", functions->count,
                  (int)KC_MODEL_MAX_FUNCTIONS);
        return;
    }
    for (int i = 0; functions && i < functions->count; i++)
        kc_function_read(model, functions->keys[i], functions->items[i]);
}

kc_module *kc_frontend_load(kc_arena *arena, const char *file_name, const char *text, size_t size,
                            kc_diag *diag) {
    kc_model model = {.arena = arena, .diag = diag};
    int before = kc_diag_errors(diag);
    if (!kc_source_check(&model.source, arena, text, size, diag)) return NULL;
    const kc_yaml *root = kc_yaml_read(arena, &model.source, diag);
    if (!root) return NULL;
    if (root->kind != KC_YAML_MAP) {
        kc_report(diag, KC_ERROR, root->loc,
                  "a model file is a map with the keys kc, module and functions, not %s",
                  kc_yaml_describe(arena, root));
        return NULL;
    }
    kc_model_check_keys(&model, root, "the file", "kc module functions", NULL);
    check_version(&model, root);
    const char *name = module_name(&model, root, file_name);
    model.module = kc_module_create(arena, name ? name : "model");
    model.functions = kc_map_create(arena);
    model.tensors = kc_map_create(arena);
    const char *slash = file_name ? strrchr(file_name, '/') : NULL;
    model.folder = slash ? kc_arena_strndup(arena, file_name, (size_t)(slash + 1 - file_name)) : "";
    read_functions(&model, root);
    return kc_diag_errors(diag) > before ? NULL : model.module;
}
