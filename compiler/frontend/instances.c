// The key `types`: a function that is written once for several element types is read once for each
// combination of them, as if the names stood for that combination's types.
//
// Each reading has a sink of its own, so that a mistake that all instances share is told once, and
// another one with the names of those that have it.
#include <string.h>

#include "compiler/frontend/function.h"

kc_type_parameter *kc_types_parameter(kc_function *fn, const char *name) {
    for (int i = 0; i < fn->n_types; i++) {
        if (strcmp(fn->types[i].name, name) != 0) continue;
        fn->types[i].used = true;
        return &fn->types[i];
    }
    return NULL;
}

// ---- reading the key

typedef struct {
    const char *name;
    kc_loc loc;
    const kc_yaml *choices; // a list of scalars, not empty
} axis;

typedef struct {
    axis axes[KC_MAX_TYPE_PARAMETERS];
    int n, instances;
} axes;

static bool check_choice(kc_model *model, const kc_yaml *list, int i) {
    const kc_yaml *item = list->items[i];
    if (item->kind != KC_YAML_SCALAR || kc_dtype_find(item->text, item->length) == KC_DTYPE_NONE) {
        kc_report(model->diag, KC_ERROR, item->loc,
                  "expected an element type such as f16, seen %s",
                  kc_yaml_describe(model->arena, item));
        return false;
    }
    for (int before = 0; before < i; before++) {
        const kc_yaml *earlier = list->items[before];
        if (earlier->kind != KC_YAML_SCALAR || strcmp(earlier->text, item->text) != 0) continue;
        kc_report(model->diag, KC_ERROR, item->loc, "%s stands in the list twice", item->text);
        return false;
    }
    return true;
}

static bool read_axis(kc_model *model, const kc_yaml *key, const kc_yaml *list, axis *out) {
    const char *name = kc_model_name(model, key, "an element type's name");
    if (!name) return false;
    if (kc_dtype_find(name, strlen(name)) != KC_DTYPE_NONE) {
        kc_report(model->diag, KC_ERROR, key->loc,
                  "'%s' is an element type already; choose another name, such as T", name);
        return false;
    }
    if (list->kind != KC_YAML_LIST || !list->count) {
        kc_report(model->diag, KC_ERROR, list->loc,
                  "'%s' must be a list of element types, such as [f16, bf16], not %s", name,
                  list->kind == KC_YAML_LIST ? "an empty one"
                                             : kc_yaml_describe(model->arena, list));
        return false;
    }
    bool good = true;
    for (int i = 0; i < list->count; i++)
        good = check_choice(model, list, i) && good;
    *out = (axis){name, key->loc, list};
    return good;
}

static bool read_axes(kc_model *model, const kc_yaml *node, axes *out) {
    *out = (axes){.instances = 1};
    const kc_yaml *map = node ? kc_model_map(model, node, "'types'") : NULL;
    if (!map) return !node;
    if (map->count > KC_MAX_TYPE_PARAMETERS) {
        kc_report(model->diag, KC_ERROR, node->loc, "'types' has %d names; at most %d are allowed",
                  map->count, KC_MAX_TYPE_PARAMETERS);
        return false;
    }
    bool good = true;
    for (int i = 0; i < map->count; i++) {
        if (!read_axis(model, map->keys[i], map->items[i], &out->axes[out->n])) good = false;
        else out->instances *= out->axes[out->n++].choices->count;
        if (out->instances <= KC_MAX_INSTANCES) continue;
        kc_report(model->diag, KC_ERROR, node->loc,
                  "'types' makes more than %d instances; write several functions",
                  KC_MAX_INSTANCES);
        return false;
    }
    return good;
}

// ---- instances

// The types of an instance by its number: the last name varies fastest.
static const char *choose(kc_model *model, const axes *a, const char *base, int instance,
                          kc_type_parameter *types) {
    for (int i = a->n - 1; i >= 0; i--) {
        const axis *x = &a->axes[i];
        types[i] = (kc_type_parameter){
            x->name, x->loc, x->choices->items[instance % x->choices->count]->text, false};
        instance /= x->choices->count;
    }
    for (int i = 0; i < a->n; i++)
        base = kc_arena_printf(model->arena, "%s_%s", base, types[i].dtype);
    return base;
}

static bool claim_name(kc_model *model, const char *name, const kc_yaml *key) {
    const kc_loc *before = kc_map_get_text(model->functions, name, strlen(name));
    if (before) {
        kc_report(model->diag, KC_ERROR, key->loc,
                  "'%s' would be the name of two functions: the types of an instance are part of "
                  "its name",
                  name);
        kc_report(model->diag, KC_NOTE, *before, "the other one is here");
        return false;
    }
    kc_loc *loc = KC_NEW(model->arena, kc_loc);
    *loc = key->loc;
    kc_map_set_text(model->functions, name, strlen(name), loc);
    return true;
}

static void read_instances(kc_model *model, const kc_yaml *key, const char *base,
                           const kc_yaml *map, const axes *a) {
    kc_diag *all = model->diag, *readings[KC_MAX_INSTANCES];
    const char *names[KC_MAX_INSTANCES];
    int n = 0;
    for (int i = 0; i < a->instances; i++) {
        kc_type_parameter types[KC_MAX_TYPE_PARAMETERS];
        names[n] = choose(model, a, base, i, types);
        if (!claim_name(model, names[n], key)) continue;
        model->diag = readings[n] = kc_diag_create(model->arena, NULL, NULL, 0);
        kc_function_read_instance(model, names[n++], key->loc, map, a->n, types);
        model->diag = all;
    }
    kc_diag_merge(all, n, readings, names);
}

void kc_function_read(kc_model *model, const kc_yaml *key, const kc_yaml *value) {
    axes a;
    const char *name = kc_model_name(model, key, "the name of a function");
    const kc_yaml *map = kc_model_map(model, value, "a function");
    if (!name || !map || !read_axes(model, kc_yaml_find(map, "types"), &a)) return;
    model->n_functions += a.instances;
    if (model->n_functions > KC_MODEL_MAX_FUNCTIONS) {
        kc_report(model->diag, KC_ERROR, key->loc,
                  "the file has more than %d functions, instances counted",
                  (int)KC_MODEL_MAX_FUNCTIONS);
        return;
    }
    if (a.n) read_instances(model, key, name, map, &a);
    else if (claim_name(model, name, key))
        kc_function_read_instance(model, name, key->loc, map, 0, NULL);
}
