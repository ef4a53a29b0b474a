// The key `schedule`: wishes for one statement and target. Each entry becomes a `schedule` op of
// the function; whether it can be built is decided where kernels are made.
#include <ctype.h>
#include <string.h>

#include "compiler/frontend/function.h"

typedef struct {
    kc_function *fn;
    kc_op *op;
} entry;

static void set_string(entry *e, kc_attr_key key, const char *text) {
    kc_attr_set_string(e->fn->model->module, e->op, key, text);
}

static bool want_text(entry *e, const kc_yaml *node, const char *what) {
    if (node->kind == KC_YAML_SCALAR && node->length) return true;
    KC_FN_ERROR(e->fn, node->loc, "%s must be text, not %s", what,
                kc_yaml_describe(e->fn->arena, node));
    return false;
}

// kind or kind:arch
static void read_target(entry *e, const kc_yaml *node) {
    if (!want_text(e, node, "'target'")) return;
    const char *at = node->text;
    bool good = islower((unsigned char)*at);
    while (islower((unsigned char)*at) || isdigit((unsigned char)*at))
        at++;
    if (*at == ':') {
        at++;
        good = good && isalnum((unsigned char)*at);
        while (isalnum((unsigned char)*at) || (*at && strchr("_-+:", *at)))
            at++;
    }
    if (good && !*at) set_string(e, KC_ATTR_TARGET, node->text);
    else
        KC_FN_ERROR(e->fn, node->loc,
                    "'target' must be a kind or kind:arch, such as cuda or cuda:sm_90a, not %s",
                    kc_yaml_describe(e->fn->arena, node));
}

static void read_kernel(entry *e, const kc_yaml *node) {
    kc_function *fn = e->fn;
    if (!want_text(e, node, "'kernel'")) return;
    const kc_name *name = kc_map_get_text(fn->names, node->text, node->length);
    if (name && !name->input && name->term.kind == KC_TERM_POISON) return;
    if (name && !name->input && name->term.kind == KC_TERM_TENSOR && name->term.value->def) {
        set_string(e, KC_ATTR_KERNEL, name->term.value->name);
        return;
    }
    if (fn->body.broken) return;
    kc_suggest suggest;
    kc_suggest_start(&suggest, node->text);
    for (int i = 0; i < fn->n_names; i++)
        if (!fn->name_list[i]->input) kc_suggest_offer(&suggest, fn->name_list[i]->name);
    KC_FN_ERROR(fn, node->loc, "'kernel' names a statement of the body; '%.64s' is %s%s",
                node->text,
                !name         ? "none"
                : name->input ? "an input"
                              : "nothing that a kernel computes",
                name ? "" : kc_suggest_text(&suggest, fn->arena));
}

static void read_unit(entry *e, const kc_yaml *node) {
    if (!want_text(e, node, "'unit'")) return;
    if (!strcmp(node->text, "fma") || !strcmp(node->text, "tensor"))
        set_string(e, KC_ATTR_UNIT, node->text);
    else
        KC_FN_ERROR(e->fn, node->loc, "'unit' must be fma or tensor, not %s",
                    kc_yaml_describe(e->fn->arena, node));
}

static void read_tile(entry *e, const kc_yaml *node) {
    int64_t tile[KC_MAX_RANK];
    if (node->kind != KC_YAML_LIST || !node->count || node->count > KC_MAX_RANK) {
        KC_FN_ERROR(e->fn, node->loc,
                    "'tile' must be a list of 1 to %d extents, such as [128, 128, 32]",
                    (int)KC_MAX_RANK);
        return;
    }
    for (int i = 0; i < node->count; i++)
        if (!kc_model_int(e->fn->model, node->items[i], "a tile extent", 1, 65536, &tile[i]))
            return;
    kc_attr_set_ints(e->fn->model->module, e->op, KC_ATTR_TILE, node->count, tile);
}

static void read_int(entry *e, const kc_yaml *node, const char *what, kc_attr_key key, int64_t min,
                     int64_t max) {
    int64_t value;
    if (kc_model_int(e->fn->model, node, what, min, max, &value))
        kc_attr_set_int(e->op, key, value);
}

static void read_vector(entry *e, const kc_yaml *node) {
    int64_t value;
    if (!kc_model_int(e->fn->model, node, "'vector'", 1, 16, &value)) return;
    if (value & (value - 1))
        KC_FN_ERROR(e->fn, node->loc,
                    "'vector' is the widest access in bytes: 1, 2, 4, 8 or 16, not %lld",
                    (long long)value);
    else kc_attr_set_int(e->op, KC_ATTR_VECTOR, value);
}

static void read_swizzle(entry *e, const kc_yaml *node) {
    int64_t value;
    if (!kc_model_int(e->fn->model, node, "'swizzle'", 0, 128, &value)) return;
    if (value == 0 || value == 32 || value == 64 || value == 128)
        kc_attr_set_int(e->op, KC_ATTR_SWIZZLE, value);
    else
        KC_FN_ERROR(e->fn, node->loc, "'swizzle' is 0, 32, 64 or 128 bytes, not %lld",
                    (long long)value);
}

static void read_raster(entry *e, const kc_yaml *node) {
    if (!want_text(e, node, "'raster'")) return;
    const char *text = node->text;
    bool good = !strcmp(text, "row") || !strcmp(text, "hilbert");
    if (!strncmp(text, "grouped:", 8)) {
        size_t digits = strspn(text + 8, "0123456789");
        good = digits > 0 && digits < 6 && !text[8 + digits] && text[8] != '0';
    }
    if (good) set_string(e, KC_ATTR_RASTER, text);
    else
        KC_FN_ERROR(
            e->fn, node->loc,
            "'raster' must be row, grouped:N with N between 1 and 99999, or hilbert, not %s",
            kc_yaml_describe(e->fn->arena, node));
}

static void read_key(entry *e, const char *key, const kc_yaml *node) {
    if (!strcmp(key, "target")) read_target(e, node);
    else if (!strcmp(key, "kernel")) read_kernel(e, node);
    else if (!strcmp(key, "unit")) read_unit(e, node);
    else if (!strcmp(key, "tile")) read_tile(e, node);
    else if (!strcmp(key, "warps")) read_int(e, node, "'warps'", KC_ATTR_WARPS, 1, 32);
    else if (!strcmp(key, "vector")) read_vector(e, node);
    else if (!strcmp(key, "stages")) read_int(e, node, "'stages'", KC_ATTR_STAGES, 1, 16);
    else if (!strcmp(key, "split")) read_int(e, node, "'split'", KC_ATTR_SPLIT, 1, 65535);
    else if (!strcmp(key, "raster")) read_raster(e, node);
    else if (!strcmp(key, "swizzle")) read_swizzle(e, node);
}

static void read_entry(kc_function *fn, const kc_yaml *node) {
    const kc_yaml *map = kc_model_map(fn->model, node, "an entry of 'schedule'");
    if (!map) return;
    kc_model_check_keys(fn->model, map, "a schedule",
                        "target kernel unit tile warps vector stages split raster swizzle",
                        "cluster roles");
    fn->builder.loc = node->loc;
    entry e = {.fn = fn, .op = kc_build(&fn->builder, KC_OP_SCHEDULE, 0, NULL, 0, NULL)};
    for (int i = 0; i < map->count; i++)
        read_key(&e, map->keys[i]->text, map->items[i]);
}

void kc_schedule_read(kc_function *fn, const kc_yaml *node) {
    if (kc_yaml_is_null(node)) return;
    if (node->kind != KC_YAML_LIST) {
        KC_FN_ERROR(fn, node->loc,
                    "'schedule' must be a list of maps, such as - {target: cuda, tile: [64, 64, "
                    "32]}, not %s",
                    kc_yaml_describe(fn->arena, node));
        return;
    }
    for (int i = 0; i < node->count; i++)
        read_entry(fn, node->items[i]);
}
