// What is compiled for each architecture: targets, variants, steps, kernel parameters.
#include <string.h>

#include "runtime/fields.h"
#include "runtime/kcrt_device.h"

#define MAX_TARGETS 1024
#define MAX_VARIANTS 64
#define MAX_STEPS 256

// In steps, places and parameters the key is the kind: nothing is skipped over.
static kcrt_status check_keys(const kcrt_reader *r, const kcrt_json *object, const char *thing,
                              const char *const *allowed) {
    if (object->kind != KCRT_JSON_OBJECT)
        return kcrt_bad_manifest(r, "%s must be an object and is %s", thing,
                                 kcrt_json_kind_name(object->kind));
    for (const kcrt_json *item = object->first; item; item = item->next) {
        const char *const *a = allowed;
        while (*a && strcmp(*a, item->key))
            a++;
        if (!*a)
            return kcrt_bad_manifest(r, "%s has the key `%.80s`, which this runtime does not know",
                                     thing, item->key);
    }
    return KCRT_OK;
}

static kcrt_status term_or(const kcrt_reader *r, const kcrt_json *object, const char *key,
                           int64_t absent, kcrt_term *out) {
    const kcrt_json *field = kcrt_json_get(object, key);
    *out = (kcrt_term){.form = KCRT_TERM_CONST,
                       .value = absent,
                       .expr = kc_expr_const(r->signature->pool, absent)};
    if (!out->expr) return kcrt_no_memory(r);
    return field ? kcrt_read_term(r, field, key, r->signature->symbol_count, out) : KCRT_OK;
}

static kcrt_status read_arg_name(const kcrt_reader *r, const kcrt_json *object, const char *key,
                                 bool scalar, int *out) {
    const char *name;
    kcrt_status status = kcrt_field_name(r, object, key, &name);
    if (status) return status;
    *out = kcrt_find_arg(r->signature, name);
    if (*out < 0 || r->signature->args[*out].is_scalar != scalar)
        return kcrt_bad_manifest(r, "`%s` names `%s`, which is not a %s argument", key, name,
                                 scalar ? "scalar" : "tensor");
    return KCRT_OK;
}

// Of an object whose keys were checked.
static kcrt_status read_place(const kcrt_reader *r, const kcrt_json *object, kcrt_step_place *out) {
    out->arg = -1;
    if (!kcrt_json_get(object, "pointer")) {
        if (kcrt_json_get(object, "offset"))
            return kcrt_bad_manifest(r, "`offset` belongs to a `pointer`");
        return kcrt_read_term(r, kcrt_json_get(object, "workspace"), "workspace",
                              r->signature->symbol_count, &out->offset);
    }
    if (kcrt_json_get(object, "workspace"))
        return kcrt_bad_manifest(r, "a place is a `pointer` or a `workspace`, not both");
    kcrt_status status = read_arg_name(r, object, "pointer", false, &out->arg);
    return status ? status : term_or(r, object, "offset", 0, &out->offset);
}

static kcrt_status read_place_field(const kcrt_reader *r, const kcrt_json *object, const char *key,
                                    kcrt_step_place *out) {
    static const char *const keys[] = {"pointer", "offset", "workspace", NULL};
    const kcrt_json *place = kcrt_json_get(object, key);
    if (!place) return kcrt_bad_manifest(r, "`%s` is missing", key);
    kcrt_status status = check_keys(r, place, "a place", keys);
    return status ? status : read_place(r, place, out);
}

// ---- Kernel parameters --------------------------------------------------------------------------

static kcrt_status read_constant_param(const kcrt_reader *r, const kcrt_json *item,
                                       kcrt_param *out) {
    const char *name;
    kcrt_status status = kcrt_field_name(r, item, "constant", &name);
    if (status) return status;
    for (out->index = 0; out->index < r->manifest->constant_count; out->index++)
        if (!strcmp(r->manifest->constants[out->index].name, name)) return KCRT_OK;
    return kcrt_bad_manifest(r, "there is no constant `%s`", name);
}

static kcrt_status read_expr_param(const kcrt_reader *r, const kcrt_json *item, kcrt_param *out) {
    const char *type;
    kcrt_status status = kcrt_field_string(r, item, "type", &type);
    if (status) return status;
    out->size = !strcmp(type, "i64") ? 8 : 4;
    if (out->size == 4 && strcmp(type, "i32"))
        return kcrt_bad_manifest(r, "a parameter of type `%.40s`: `expr` may be i32 or i64", type);
    return kcrt_read_term(r, kcrt_json_get(item, "expr"), "expr", r->signature->symbol_count,
                          &out->expr);
}

static kcrt_status read_param(const kcrt_reader *r, const kcrt_json *item, kcrt_param *out) {
    static const struct {
        const char *keys[4];
        kcrt_param_kind kind;
    } forms[] = {{{"pointer", "offset"}, KCRT_PARAM_PLACE},
                 {{"workspace"}, KCRT_PARAM_PLACE},
                 {{"constant"}, KCRT_PARAM_CONSTANT},
                 {{"scalar"}, KCRT_PARAM_SCALAR},
                 {{"expr", "type"}, KCRT_PARAM_EXPR}};
    size_t form = 0, count = sizeof forms / sizeof *forms;
    while (form < count && !kcrt_json_get(item, forms[form].keys[0]))
        form++;
    if (form == count) {
        const char *seen =
            item->kind == KCRT_JSON_OBJECT && item->first ? item->first->key : "nothing";
        return kcrt_bad_manifest(r,
                                 "a kernel argument has `%.80s`; this runtime knows pointer, "
                                 "workspace, constant, scalar and expr",
                                 seen);
    }
    kcrt_status status = check_keys(r, item, "a kernel argument", forms[form].keys);
    if (status) return status;
    out->kind = forms[form].kind;
    out->size = 8;
    switch (out->kind) {
    case KCRT_PARAM_PLACE: return read_place(r, item, &out->place);
    case KCRT_PARAM_CONSTANT: return read_constant_param(r, item, out);
    case KCRT_PARAM_EXPR: return read_expr_param(r, item, out);
    case KCRT_PARAM_SCALAR: break;
    }
    status = read_arg_name(r, item, "scalar", true, &out->index);
    if (!status) out->size = r->signature->args[out->index].bytes;
    return status;
}

static kcrt_status read_params(const kcrt_reader *r, const kcrt_json *item, kcrt_step *step) {
    const kcrt_json *list;
    kcrt_status status = kcrt_field_list(r, item, "args", &list);
    if (!status)
        status = kcrt_new_items(r, list, "args", KCRT_MAX_KERNEL_ARGS, sizeof *step->params,
                                (void **)&step->params, &step->param_count);
    int n = 0;
    for (const kcrt_json *param = status ? NULL : list->first; param && !status;
         param = param->next)
        status = read_param(r, param, &step->params[n++]);
    return status; // 128 parameters of 8 bytes cannot pass the 4096 bytes that drivers allow
}

// ---- Steps --------------------------------------------------------------------------------------

static kcrt_status read_extents(const kcrt_reader *r, const kcrt_json *item, const char *key,
                                uint32_t out[3]) {
    const kcrt_json *list;
    kcrt_status status = kcrt_field_list(r, item, key, &list);
    if (status) return status;
    if (list->length != 3) return kcrt_bad_manifest(r, "`%s` must have three items", key);
    int n = 0;
    for (const kcrt_json *extent = list->first; extent && !status; extent = extent->next) {
        int64_t value = 0;
        status = kcrt_read_int(r, extent, key, 1, 65535, &value);
        out[n++] = (uint32_t)value;
    }
    return status;
}

static kcrt_status read_grid(const kcrt_reader *r, const kcrt_json *item, kcrt_term grid[3]) {
    const kcrt_json *list;
    kcrt_status status = kcrt_field_list(r, item, "grid", &list);
    if (status) return status;
    if (list->length != 3) return kcrt_bad_manifest(r, "`grid` must have three items");
    int n = 0;
    for (const kcrt_json *extent = list->first; extent && !status; extent = extent->next)
        status = kcrt_read_term(r, extent, "grid", r->signature->symbol_count, &grid[n++]);
    return status;
}

static bool is_symbol(const char *text) {
    size_t n = strlen(text);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f) return false;
    return n >= 1 && n <= 255;
}

static kcrt_status read_kernel(const kcrt_reader *r, const kcrt_json *item, kcrt_step *step) {
    static const char *const keys[] = {"kernel", "grid", "block", "cluster",
                                       "shared", "args", NULL};
    kcrt_status status = check_keys(r, item, "a kernel step", keys);
    if (!status) status = kcrt_field_string(r, item, "kernel", &step->kernel);
    if (!status && !is_symbol(step->kernel))
        status = kcrt_bad_manifest(r, "a kernel's symbol is empty, long or unprintable");
    if (!status) status = read_grid(r, item, step->grid);
    if (!status) status = read_extents(r, item, "block", step->block);
    step->cluster[0] = step->cluster[1] = step->cluster[2] = 1;
    if (!status && kcrt_json_get(item, "cluster"))
        status = read_extents(r, item, "cluster", step->cluster);
    if (!status) status = term_or(r, item, "shared", 0, &step->shared);
    return status ? status : read_params(r, item, step);
}

static kcrt_status read_memset(const kcrt_reader *r, const kcrt_json *item, kcrt_step *step) {
    static const char *const keys[] = {"to", "value", "bytes", NULL};
    int64_t value = 0;
    kcrt_status status = check_keys(r, item, "a memset step", keys);
    if (!status) status = read_place_field(r, item, "to", &step->to);
    if (!status) status = kcrt_field_int(r, item, "value", 0, 255, &value);
    step->value = (int)value;
    return status ? status
                  : kcrt_read_term(r, kcrt_json_get(item, "bytes"), "bytes",
                                   r->signature->symbol_count, &step->bytes);
}

static kcrt_status read_copy(const kcrt_reader *r, const kcrt_json *item, kcrt_step *step) {
    static const char *const keys[] = {"to", "from", "bytes", NULL};
    kcrt_status status = check_keys(r, item, "a copy step", keys);
    if (!status) status = read_place_field(r, item, "to", &step->to);
    if (!status) status = read_place_field(r, item, "from", &step->from);
    return status ? status
                  : kcrt_read_term(r, kcrt_json_get(item, "bytes"), "bytes",
                                   r->signature->symbol_count, &step->bytes);
}

static kcrt_status read_step(const kcrt_reader *r, const kcrt_json *item, kcrt_step *step) {
    const kcrt_json *set = kcrt_json_get(item, "memset"), *copy = kcrt_json_get(item, "copy");
    if (kcrt_json_get(item, "kernel")) return read_kernel(r, item, step);
    if (item->kind == KCRT_JSON_OBJECT && item->length == 1 && set) {
        step->kind = KCRT_STEP_MEMSET;
        return read_memset(r, set, step);
    }
    if (item->kind == KCRT_JSON_OBJECT && item->length == 1 && copy) {
        step->kind = KCRT_STEP_COPY;
        return read_copy(r, copy, step);
    }
    return kcrt_bad_manifest(r, "a step must be one of kernel, memset and copy");
}

// ---- Variants and targets -----------------------------------------------------------------------

static kcrt_status check_needs(const kcrt_reader *r, const kcrt_json *item) {
    const kcrt_json *needs;
    kcrt_status status = kcrt_field_list_or(r, item, "needs", &needs);
    for (const kcrt_json *need = status ? NULL : needs->first; need; need = need->next) {
        if (need->kind != KCRT_JSON_STRING)
            return kcrt_bad_manifest(r, "`needs` must list strings");
        if (strcmp(need->text, "cluster"))
            return kcrt_fail(KCRT_UNSUPPORTED,
                             "%s: function `%s` needs the feature `%.80s`, which this runtime (%s) "
                             "does not have.",
                             r->what, r->function, need->text, kcrt_version());
    }
    return status;
}

static kcrt_status read_variant(const kcrt_reader *r, const kcrt_json *item, kcrt_variant *out) {
    const kcrt_json *steps;
    kcrt_status status = check_needs(r, item);
    out->has_when = kcrt_json_get(item, "when") != NULL;
    if (!status) status = term_or(r, item, "when", 1, &out->when);
    if (!status) status = term_or(r, item, "workspace", 0, &out->workspace);
    if (!status) status = kcrt_field_list(r, item, "steps", &steps);
    if (!status)
        status = kcrt_new_items(r, steps, "steps", MAX_STEPS, sizeof *out->steps,
                                (void **)&out->steps, &out->step_count);
    int n = 0;
    for (const kcrt_json *step = status ? NULL : steps->first; step && !status; step = step->next)
        status = read_step(r, step, &out->steps[n++]);
    return status;
}

static kcrt_status read_target_images(const kcrt_reader *r, const kcrt_json *item,
                                      kcrt_target *out) {
    const kcrt_json *list;
    kcrt_status status = kcrt_field_list(r, item, "images", &list);
    if (!status)
        status = kcrt_new_items(r, list, "images", 16, sizeof *out->images, (void **)&out->images,
                                &out->image_count);
    int n = 0;
    for (const kcrt_json *index = status ? NULL : list->first; index; index = index->next, n++) {
        int64_t value = 0;
        status = kcrt_read_int(r, index, "images", 0, r->manifest->image_count - 1, &value);
        if (status) return status;
        const kcrt_image *image = &r->manifest->images[value];
        if (strcmp(image->triple, out->triple) || strcmp(image->arch, out->arch))
            return kcrt_bad_manifest(r, "the target `%.40s` lists an image of `%.40s`", out->arch,
                                     image->arch);
        out->images[n] = (int)value;
    }
    return status;
}

static kcrt_status read_target(const kcrt_reader *r, const kcrt_json *item, kcrt_target *out) {
    const kcrt_json *variants;
    r->signature->device_used = 0;
    kcrt_status status = kcrt_field_string(r, item, "triple", &out->triple);
    if (!status) status = kcrt_field_string(r, item, "arch", &out->arch);
    if (!status) status = read_target_images(r, item, out);
    if (!status) status = kcrt_field_list(r, item, "variants", &variants);
    if (!status)
        status = kcrt_new_items(r, variants, "variants", MAX_VARIANTS, sizeof *out->variants,
                                (void **)&out->variants, &out->variant_count);
    int n = 0;
    for (const kcrt_json *variant = status ? NULL : variants->first; variant && !status;
         variant = variant->next)
        status = read_variant(r, variant, &out->variants[n++]);
    out->device_used = r->signature->device_used;
    return status;
}

kcrt_status kcrt_read_targets(kcrt_reader *r, const kcrt_json *function) {
    const kcrt_json *list;
    kcrt_signature *signature = r->signature;
    kcrt_target *targets;
    int count, n = 0;
    kcrt_status status = kcrt_field_list(r, function, "targets", &list);
    if (!status)
        status = kcrt_new_items(r, list, "targets", MAX_TARGETS, sizeof *targets, (void **)&targets,
                                &count);
    if (status) return status;
    signature->targets = targets;
    signature->target_count = count;
    for (const kcrt_json *item = list->first; item && !status; item = item->next, n++) {
        status = read_target(r, item, &targets[n]);
        for (int i = 0; i < n && !status; i++)
            if (!strcmp(targets[i].triple, targets[n].triple) &&
                !strcmp(targets[i].arch, targets[n].arch))
                status = kcrt_bad_manifest(r, "two targets are `%.40s`", targets[n].arch);
    }
    return status;
}
