// The manifest's top level, and each function's signature: symbols, arguments, facts.
// manifest_target.c reads what is compiled for each architecture.
#include "runtime/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dtype.h"
#include "runtime/fields.h"
#include "runtime/kcrt_device.h"

#define MAX_MANIFEST_BYTES (16 << 20)
#define MAX_IMAGES 65536

const struct kcrt_device_symbol kcrt_device_symbols[KCRT_DEVICE_SYMBOLS] = {
    {"dev.multiprocessors", KCRT_ATTR_MULTIPROCESSORS},
    {"dev.warp_size", KCRT_ATTR_WARP_SIZE},
    {"dev.max_threads_per_block", KCRT_ATTR_MAX_THREADS_PER_BLOCK},
    {"dev.shared_memory_per_block", KCRT_ATTR_SHARED_MEMORY_PER_BLOCK},
    {"dev.shared_memory_per_multiprocessor", KCRT_ATTR_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {"dev.registers_per_block", KCRT_ATTR_REGISTERS_PER_BLOCK},
    {"dev.clock_khz", KCRT_ATTR_CLOCK_KHZ},
    {"dev.l2_bytes", KCRT_ATTR_L2_BYTES},
    {"dev.total_memory", KCRT_ATTR_TOTAL_MEMORY},
};

// The table of ir/dtype.h; its functions stay in the compiler.
static const kcrt_type types[] = {
#define X(name, bits, class, code, dl_bits, exponent, mantissa) {#name, bits, {code, dl_bits, 1}},
    KC_DTYPES(X)
#undef X
};

const kcrt_type *kcrt_find_type(const char *name) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    return NULL;
}

// ---- Symbols ------------------------------------------------------------------------------------

static kcrt_status declare(const kcrt_reader *r, const char *name, kc_expr_facts facts) {
    kcrt_signature *signature = r->signature;
    int index = kc_expr_symbol_index(signature->pool, name, strlen(name));
    if (index < 0) return kcrt_no_memory(r);
    if (index != signature->symbol_count)
        return kcrt_bad_manifest(r, "the name `%s` is declared twice", name);
    kc_expr_set_facts(signature->pool, index, facts);
    signature->symbol_count++;
    return KCRT_OK;
}

static kcrt_status read_symbol(const kcrt_reader *r, const kcrt_json *item, bool is_dim,
                               kcrt_symbol *out) {
    kcrt_status status = kcrt_field_name(r, item, "name", &out->name);
    if (!status) status = kcrt_field_int_or(r, item, "min", 0, INT64_MAX, 0, &out->facts.min);
    if (!status)
        status = kcrt_field_int_or(r, item, "max", 0, INT64_MAX, is_dim ? INT32_MAX : INT64_MAX / 4,
                                   &out->facts.max);
    if (!status)
        status =
            kcrt_field_int_or(r, item, "multiple_of", 1, INT64_MAX, 1, &out->facts.multiple_of);
    if (status) return status;
    if (out->facts.min > out->facts.max)
        return kcrt_bad_manifest(r, "`%s` has its min above its max", out->name);
    return declare(r, out->name, out->facts);
}

static kcrt_status read_symbols(const kcrt_reader *r, const kcrt_json *function) {
    kcrt_signature *signature = r->signature;
    const kcrt_json *dims, *strides;
    kcrt_status status = kcrt_field_list(r, function, "dims", &dims);
    if (!status) status = kcrt_field_list_or(r, function, "strides", &strides);
    if (status) return status;
    if (dims->length > KCRT_MAX_NAMES || strides->length > KCRT_MAX_NAMES)
        return kcrt_bad_manifest(r, "there are more than %d dims or strides", KCRT_MAX_NAMES);
    signature->symbols = KCRT_NEW(r->arena, kcrt_symbol, dims->length + strides->length);
    if (!signature->symbols) return kcrt_no_memory(r);
    signature->dim_count = (int)dims->length;
    signature->stride_count = (int)strides->length;
    kcrt_symbol *next = signature->symbols;
    for (const kcrt_json *item = dims->first; item && !status; item = item->next)
        status = read_symbol(r, item, true, next++);
    for (const kcrt_json *item = strides->first; item && !status; item = item->next)
        status = read_symbol(r, item, false, next++);
    return status;
}

// align.ARG for each argument (scalars too: the group is then indexed by argument), and dev.*.
static kcrt_status declare_environment(const kcrt_reader *r) {
    kcrt_signature *signature = r->signature;
    kcrt_status status = KCRT_OK;
    signature->align_base = signature->symbol_count;
    for (int i = 0; i < signature->arg_count && !status; i++) {
        char name[300];
        snprintf(name, sizeof name, "align.%s", signature->args[i].name);
        signature->args[i].align_symbol = signature->symbol_count;
        status = declare(r, name, (kc_expr_facts){1, KCRT_ALIGN_CAP, 1});
    }
    signature->device_base = signature->symbol_count;
    for (int i = 0; i < KCRT_DEVICE_SYMBOLS && !status; i++)
        status = declare(r, kcrt_device_symbols[i].name, (kc_expr_facts){0, INT64_MAX / 4, 1});
    return status;
}

// ---- Arguments ----------------------------------------------------------------------------------

static kcrt_status read_type(const kcrt_reader *r, kcrt_arg *arg) {
    const kcrt_type *type = kcrt_find_type(arg->type);
    if (!type)
        return kcrt_bad_manifest(r,
                                 "argument `%s` has type `%.40s`, which this runtime does not know",
                                 arg->name, arg->type);
    arg->type = type->name;
    arg->packed = type->bits < 8;
    arg->bytes = arg->packed ? 1 : type->bits / 8;
    arg->dtype = type->dtype;
    return KCRT_OK;
}

static kcrt_status read_head(const kcrt_reader *r, const kcrt_json *item, kcrt_arg *arg) {
    const char *direction, *kind;
    kcrt_status status = kcrt_field_name(r, item, "name", &arg->name);
    if (!status) status = kcrt_field_string(r, item, "direction", &direction);
    if (!status) status = kcrt_field_string(r, item, "kind", &kind);
    if (!status) status = kcrt_field_string(r, item, "type", &arg->type);
    if (!status) status = read_type(r, arg);
    if (status) return status;
    arg->is_inout = !strcmp(direction, "inout");
    arg->is_output = arg->is_inout || !strcmp(direction, "output");
    arg->is_scalar = !strcmp(kind, "scalar");
    if (!arg->is_output && strcmp(direction, "input"))
        return kcrt_bad_manifest(
            r, "argument `%s`: the direction is none of `input`, `inout` and `output`", arg->name);
    if (!arg->is_scalar && strcmp(kind, "tensor"))
        return kcrt_bad_manifest(r, "argument `%s`: the kind is neither `tensor` nor `scalar`",
                                 arg->name);
    if (arg->is_scalar && arg->is_output)
        return kcrt_bad_manifest(r, "argument `%s`: a scalar is an input", arg->name);
    if (arg->is_scalar && arg->packed)
        return kcrt_bad_manifest(r, "argument `%s`: a scalar has whole bytes", arg->name);
    return KCRT_OK;
}

static kcrt_status read_terms(const kcrt_reader *r, const kcrt_json *list, const char *key,
                              int scope, kcrt_term *out) {
    kcrt_status status = KCRT_OK;
    for (const kcrt_json *item = list->first; item && !status; item = item->next)
        status = kcrt_read_term(r, item, key, scope, out++);
    return status;
}

// Shapes and strides, once all symbols are declared.
static kcrt_status read_shape(const kcrt_reader *r, const kcrt_json *item, kcrt_arg *arg) {
    const kcrt_json *shape, *strides;
    kcrt_signature *signature = r->signature;
    kcrt_status status = kcrt_field_list(r, item, "shape", &shape);
    if (!status) status = kcrt_field_list_or(r, item, "strides", &strides);
    if (status) return status;
    bool strided = kcrt_json_get(item, "strides") != NULL;
    if (shape->length > KCRT_MAX_RANK || (strided && strides->length != shape->length) ||
        (arg->is_scalar && shape->length))
        return kcrt_bad_manifest(
            r, "argument `%s`: the rank is above %d, or `strides` has another, or it is a scalar's",
            arg->name, KCRT_MAX_RANK);
    if (arg->packed && !shape->length)
        return kcrt_bad_manifest(r, "argument `%s`: 4-bit elements want a last axis", arg->name);
    arg->rank = (int)shape->length;
    arg->shape = KCRT_NEW(r->arena, kcrt_term, shape->length);
    if (strided) arg->strides = KCRT_NEW(r->arena, kcrt_term, shape->length);
    if (!arg->shape || (strided && !arg->strides)) return kcrt_no_memory(r);
    status = read_terms(r, shape, "shape", signature->dim_count, arg->shape);
    if (!status && strided)
        status = read_terms(r, strides, "strides", signature->dim_count + signature->stride_count,
                            arg->strides);
    return status;
}

static kcrt_status read_alias(const kcrt_reader *r, const kcrt_json *item, kcrt_arg *arg) {
    arg->alias = -1;
    if (!kcrt_json_get(item, "alias")) return KCRT_OK;
    const char *name;
    kcrt_status status = kcrt_field_name(r, item, "alias", &name);
    if (status) return status;
    arg->alias = kcrt_find_arg(r->signature, name);
    const kcrt_arg *other = arg->alias >= 0 ? &r->signature->args[arg->alias] : NULL;
    if (!arg->is_output || arg->is_inout || !other || other->is_output || other->is_scalar)
        return kcrt_bad_manifest(
            r, "argument `%s`: `alias` wants an output here and an input tensor there", arg->name);
    return KCRT_OK;
}

static int order_of(const kcrt_arg *arg) {
    return arg->is_output + (arg->is_output && !arg->is_inout);
}

static kcrt_status read_args(const kcrt_reader *r, const kcrt_json *list) {
    kcrt_signature *signature = r->signature;
    kcrt_arg *args;
    int count, n = 0;
    kcrt_status status =
        kcrt_new_items(r, list, "args", KCRT_MAX_ARGS, sizeof *args, (void **)&args, &count);
    if (status) return status;
    signature->args = args;
    for (const kcrt_json *item = list->first; item && !status; item = item->next, n++) {
        status = read_head(r, item, &args[n]);
        if (status) return status;
        if (kcrt_find_arg(signature, args[n].name) >= 0)
            return kcrt_bad_manifest(r, "two arguments are called `%s`", args[n].name);
        if (n && order_of(&args[n - 1]) > order_of(&args[n]))
            return kcrt_bad_manifest(
                r, "`%s` is out of order: inputs come first, then inouts, then outputs",
                args[n].name);
        signature->arg_count = n + 1;
    }
    if (!status) status = declare_environment(r);
    n = 0;
    for (const kcrt_json *item = list->first; item && !status; item = item->next, n++) {
        status = read_shape(r, item, &args[n]);
        if (!status) status = read_alias(r, item, &args[n]);
    }
    return status;
}

// ---- Functions ----------------------------------------------------------------------------------

static kcrt_status read_unbound(const kcrt_reader *r, const kcrt_json *function) {
    kcrt_signature *signature = r->signature;
    const kcrt_json *list;
    kcrt_status status = kcrt_field_list_or(r, function, "unbound", &list);
    int last = -1;
    for (const kcrt_json *item = status ? NULL : list->first; item; item = item->next) {
        int index = 0;
        while (index < signature->dim_count && (item->kind != KCRT_JSON_STRING ||
                                                strcmp(signature->symbols[index].name, item->text)))
            index++;
        if (index == signature->dim_count || index <= last)
            return kcrt_bad_manifest(r,
                                     "`unbound` must list dims, each once, in the order of `dims`");
        signature->symbols[index].is_passed = true;
        signature->passed_count++;
        last = index;
    }
    return status;
}

static kcrt_status read_ir(const kcrt_reader *r, const kcrt_json *function) {
    int64_t ir;
    kcrt_status status =
        kcrt_field_int_or(r, function, "ir", 0, r->manifest->image_count - 1, -1, &ir);
    r->signature->ir = (int)ir;
    if (!status && ir >= 0 && strcmp(r->manifest->images[ir].role, "ir"))
        return kcrt_bad_manifest(r, "`ir` names image %d, whose role is `%s`", (int)ir,
                                 r->manifest->images[ir].role);
    return status;
}

static kcrt_status read_function(kcrt_reader *r, const kcrt_json *item) {
    const kcrt_json *args;
    kcrt_signature *signature = r->signature;
    kcrt_status status = kcrt_field_name(r, item, "name", &signature->name);
    if (status) return status;
    r->function = signature->name;
    signature->doc = "";
    if (kcrt_json_get(item, "doc")) status = kcrt_field_string(r, item, "doc", &signature->doc);
    if (!status && !(signature->pool = kc_expr_pool_create())) status = kcrt_no_memory(r);
    if (!status) status = read_symbols(r, item);
    if (!status) status = kcrt_field_list(r, item, "args", &args);
    if (!status) status = read_args(r, args);
    if (!status) status = read_unbound(r, item);
    if (!status) status = kcrt_plan_bindings(r);
    if (!status) status = kcrt_read_constant_uses(r, item);
    if (!status) status = read_ir(r, item);
    if (!status) status = kcrt_read_targets(r, item);
    r->function = NULL;
    return status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static kcrt_status check_function_names(const kcrt_reader *r) {
    const kcrt_manifest *m = r->manifest;
    const char **names = KCRT_NEW(r->arena, const char *, (size_t)m->function_count);
    if (!names) return kcrt_no_memory(r);
    for (int i = 0; i < m->function_count; i++)
        names[i] = m->functions[i].name;
    qsort(names, (size_t)m->function_count, sizeof *names, compare_names);
    for (int i = 1; i < m->function_count; i++)
        if (!strcmp(names[i - 1], names[i]))
            return kcrt_bad_manifest(r, "two functions are called `%s`", names[i]);
    return KCRT_OK;
}

static kcrt_status read_functions(kcrt_reader *r, const kcrt_json *root) {
    const kcrt_json *list;
    kcrt_signature *functions;
    int count;
    kcrt_status status = kcrt_field_list(r, root, "functions", &list);
    if (!status)
        status = kcrt_new_items(r, list, "functions", MAX_IMAGES, sizeof *functions,
                                (void **)&functions, &count);
    if (status) return status;
    r->manifest->functions = functions;
    for (const kcrt_json *item = list->first; item && !status; item = item->next) {
        r->signature = &functions[r->manifest->function_count++]; // counted first, so that release
                                                                  // sees its pool
        status = read_function(r, item);
    }
    return status ? status : check_function_names(r);
}

// ---- Images -------------------------------------------------------------------------------------

static kcrt_status read_image(const kcrt_reader *r, const kcrt_json *item, const kcrt_entry *entry,
                              kcrt_image *out) {
    int64_t size = 0;
    kcrt_status status = kcrt_field_string(r, item, "triple", &out->triple);
    if (!status) status = kcrt_field_string(r, item, "arch", &out->arch);
    if (!status) status = kcrt_field_string(r, item, "role", &out->role);
    if (!status) status = kcrt_field_string(r, item, "sha256", &out->sha256);
    if (!status) status = kcrt_field_int(r, item, "size", 0, INT64_MAX, &size);
    if (status) return status;
    out->size = (uint64_t)size;
    if (strcmp(out->triple, entry->triple) || strcmp(out->arch, entry->arch) ||
        strcmp(out->role, entry->role) || out->size != entry->size)
        return kcrt_bad_manifest(
            r,
            "`images` describes `%.40s %.40s` of %zu bytes where the file has `%.40s %.40s` of %zu",
            out->arch, out->role, (size_t)out->size, entry->arch, entry->role, entry->size);
    if (strlen(out->sha256) != 64 || strspn(out->sha256, "0123456789abcdef") != 64)
        return kcrt_bad_manifest(r, "`sha256` must be 64 lowercase hexadecimal digits");
    if (!strcmp(out->role, "ptx") &&
        (!entry->size || ((const char *)entry->image)[entry->size - 1]))
        return kcrt_bad_manifest(r, "the PTX image for `%.40s` does not end with a NUL", out->arch);
    return KCRT_OK;
}

static kcrt_status read_images(const kcrt_reader *r, const kcrt_json *root,
                               const kcrt_package *package) {
    const kcrt_json *list;
    kcrt_manifest *m = r->manifest;
    kcrt_status status = kcrt_field_list(r, root, "images", &list);
    if (!status)
        status = kcrt_new_items(r, list, "images", MAX_IMAGES, sizeof *m->images,
                                (void **)&m->images, &m->image_count);
    if (status) return status;
    if (m->image_count != package->count - 1)
        return kcrt_bad_manifest(r, "`images` has %d items and the file has %d images",
                                 m->image_count, package->count - 1);
    int n = 0;
    for (const kcrt_json *item = list->first; item && !status; item = item->next, n++)
        status = read_image(r, item, &package->entries[n + 1], &m->images[n]);
    return status;
}

// ---- The whole ----------------------------------------------------------------------------------

static kcrt_status parse(const kcrt_reader *r, const kcrt_package *package, kcrt_json **root) {
    const kcrt_entry *entry = package->entries;
    if (strcmp(entry->triple, "kc") || strcmp(entry->role, "manifest"))
        return kcrt_fail(KCRT_BAD_PACKAGE,
                         "%s is not a usable package: its first entry is not a manifest.", r->what);
    if (entry->size > MAX_MANIFEST_BYTES) return kcrt_bad_manifest(r, "it is larger than 16 MiB");
    const char *error;
    size_t at;
    *root = kcrt_json_parse(r->arena, entry->image, entry->size, &error, &at);
    if (!*root) return kcrt_bad_manifest(r, "the JSON is wrong at byte %zu: %s", at, error);
    return KCRT_OK;
}

kcrt_status kcrt_manifest_read(kcrt_arena *arena, const char *what, const kcrt_package *package,
                               kcrt_manifest *out) {
    *out = (kcrt_manifest){0};
    kcrt_reader r = {.arena = arena, .what = what, .manifest = out};
    kcrt_json *root;
    int64_t format;
    kcrt_status status = parse(&r, package, &root);
    if (!status) status = kcrt_field_int(&r, root, "format", 0, INT64_MAX, &format);
    if (!status && format != 1)
        status = kcrt_fail(KCRT_BAD_PACKAGE,
                           "%s has manifest format %lld; this runtime (%s) reads format 1.", what,
                           (long long)format, kcrt_version());
    if (!status) status = kcrt_field_name(&r, root, "module", &out->module);
    if (!status) status = read_images(&r, root, package);
    if (!status) status = kcrt_read_constants(&r, root);
    if (!status) status = read_functions(&r, root);
    return status;
}

void kcrt_manifest_release(kcrt_manifest *m) {
    for (int i = 0; i < m->function_count; i++)
        kc_expr_pool_destroy(m->functions[i].pool);
    *m = (kcrt_manifest){0};
}
