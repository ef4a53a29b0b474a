// Modules: opening a package on a device, finding functions, describing them.
#include <stdlib.h>
#include <string.h>

#include "runtime/object.h"

static kcrt_status no_memory(const char *what) {
    return kcrt_fail(KCRT_OUT_OF_MEMORY, "Not enough host memory to load %s.", what);
}

static void read_options(kcrt_module *m, const kcrt_load_options *options) {
    m->options = (kcrt_load_options){.size = sizeof m->options};
    // A caller of another version has a shorter or longer structure: take what both have.
    if (options && options->size)
        memcpy(&m->options, options,
               options->size < sizeof *options ? options->size : sizeof *options);
}

static kcrt_status make_functions(kcrt_module *m) {
    size_t images = (size_t)m->manifest.image_count, functions = (size_t)m->manifest.function_count;
    m->images = KCRT_NEW(&m->arena, kcrt_loaded_image, images);
    m->constants = KCRT_NEW(&m->arena, void *, images);
    m->functions = KCRT_NEW(&m->arena, kcrt_function, functions);
    if (!m->images || !m->constants || !m->functions) return no_memory(m->what);
    for (size_t i = 0; i < functions; i++) {
        m->functions[i].module = m;
        m->functions[i].signature = &m->manifest.functions[i];
    }
    return KCRT_OK;
}

static kcrt_status load_all(kcrt_module *m) {
    kcrt_status status = KCRT_OK;
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < m->manifest.function_count && !status && !m->options.lazy; i++)
        status = kcrt_function_load(&m->functions[i]);
    pthread_mutex_unlock(&m->lock);
    return status;
}

// Takes over `bytes` when owned, also on failure.
static kcrt_status load(kcrt_device *device, const char *what, void *owned, const void *bytes,
                        size_t size, const kcrt_load_options *options, kcrt_module **out) {
    kcrt_module *m = calloc(1, sizeof *m);
    if (!m) {
        free(owned);
        return no_memory(what);
    }
    m->device = device;
    m->bytes = owned;
    pthread_mutex_init(&m->lock, NULL);
    read_options(m, options);
    m->what = kcrt_arena_string(&m->arena, what, strlen(what));
    kcrt_status status = m->what ? KCRT_OK : no_memory(what);
    if (!status) status = kcrt_package_read(&m->arena, m->what, bytes, size, &m->package);
    if (!status) status = kcrt_manifest_read(&m->arena, m->what, &m->package, &m->manifest);
    if (!status) status = make_functions(m);
    if (!status) status = load_all(m);
    if (!status) *out = m;
    else kcrt_module_unload(m);
    return status;
}

kcrt_status kcrt_module_load_file(kcrt_device *device, const char *path,
                                  const kcrt_load_options *options, kcrt_module **out) {
    if (out) *out = NULL;
    if (!device || !path || !out) return kcrt_null_argument("kcrt_module_load_file");
    void *bytes;
    size_t size;
    kcrt_status status = kcrt_file_read(path, KCRT_MAX_PACKAGE_BYTES, &bytes, &size);
    return status ? status : load(device, path, bytes, bytes, size, options, out);
}

kcrt_status kcrt_module_load_memory(kcrt_device *device, const void *bytes, size_t size,
                                    const kcrt_load_options *options, kcrt_module **out) {
    if (out) *out = NULL;
    if (!device || !bytes || !out) return kcrt_null_argument("kcrt_module_load_memory");
    return load(device, "The package in memory", NULL, bytes, size, options, out);
}

void kcrt_module_unload(kcrt_module *m) {
    if (!m) return;
    for (int i = 0; m->images && i < m->manifest.image_count; i++) {
        if (m->images[i].state == KCRT_IMAGE_LOADED)
            m->device->api->module_unload(m->device->handle, m->images[i].handle);
        if (m->constants && m->constants[i])
            m->device->api->free(m->device->handle, m->constants[i]);
    }
    kcrt_manifest_release(&m->manifest);
    kcrt_arena_release(&m->arena);
    pthread_mutex_destroy(&m->lock);
    free(m->bytes);
    free(m);
}

const char *kcrt_module_name(kcrt_module *m) {
    return m->manifest.module;
}

int kcrt_module_function_count(kcrt_module *m) {
    return m->manifest.function_count;
}

static kcrt_status get(kcrt_module *m, kcrt_function *f, kcrt_function **out) {
    pthread_mutex_lock(&m->lock);
    kcrt_status status = kcrt_function_load(f);
    pthread_mutex_unlock(&m->lock);
    if (!status) *out = f;
    return status;
}

kcrt_status kcrt_module_function(kcrt_module *m, int index, kcrt_function **out) {
    if (out) *out = NULL;
    if (!m || !out) return kcrt_null_argument("kcrt_module_function");
    if (index < 0 || index >= m->manifest.function_count)
        return kcrt_fail(KCRT_NOT_FOUND, "%s has %d functions; there is no number %d.", m->what,
                         m->manifest.function_count, index);
    return get(m, &m->functions[index], out);
}

kcrt_status kcrt_function_get(kcrt_module *m, const char *name, kcrt_function **out) {
    if (out) *out = NULL;
    if (!m || !name || !out) return kcrt_null_argument("kcrt_function_get");
    for (int i = 0; i < m->manifest.function_count; i++)
        if (!strcmp(m->manifest.functions[i].name, name)) return get(m, &m->functions[i], out);
    char list[1024] = "";
    size_t at = 0;
    for (int i = 0; i < m->manifest.function_count && at + 300 < sizeof list; i++) {
        const char *text = m->manifest.functions[i].name;
        if (i) list[at++] = ',', list[at++] = ' ';
        memcpy(list + at, text, strlen(text) + 1);
        at += strlen(text);
    }
    return kcrt_fail(KCRT_NOT_FOUND, "%s has no function `%.100s`; it has: %s.", m->what, name,
                     at ? list : "none");
}

// ---- Descriptions -------------------------------------------------------------------------------

const char *kcrt_function_name(kcrt_function *f) {
    return f ? f->signature->name : "";
}

DLDevice kcrt_function_device(kcrt_function *f) {
    return f ? f->module->device->dl : (DLDevice){0};
}

int kcrt_function_arg_count(kcrt_function *f) {
    return f ? f->signature->arg_count : 0;
}

kcrt_status kcrt_function_arg(kcrt_function *f, int index, kcrt_arg_info *out) {
    if (!f || !out) return kcrt_null_argument("kcrt_function_arg");
    const kcrt_signature *s = f->signature;
    *out = (kcrt_arg_info){0};
    if (index < 0 || index >= s->arg_count)
        return kcrt_fail(KCRT_NOT_FOUND, "%s has %d arguments; there is no number %d.", s->name,
                         s->arg_count, index);
    const kcrt_arg *a = &s->args[index];
    out->name = a->name;
    out->type = a->type;
    out->dtype = a->dtype;
    out->is_scalar = a->is_scalar;
    out->is_output = a->is_output;
    out->is_inout = a->is_inout;
    out->rank = a->rank;
    out->has_strides = a->strides != NULL;
    out->alias = a->alias >= 0 ? s->args[a->alias].name : NULL;
    return KCRT_OK;
}

int kcrt_function_symbol_count(kcrt_function *f) {
    return f ? f->signature->dim_count + f->signature->stride_count : 0;
}

kcrt_status kcrt_function_symbol(kcrt_function *f, int index, kcrt_symbol_info *out) {
    if (!f || !out) return kcrt_null_argument("kcrt_function_symbol");
    *out = (kcrt_symbol_info){0};
    if (index < 0 || index >= kcrt_function_symbol_count(f))
        return kcrt_fail(KCRT_NOT_FOUND, "%s has %d dimensions and strides; there is no number %d.",
                         f->signature->name, kcrt_function_symbol_count(f), index);
    const kcrt_symbol *s = &f->signature->symbols[index];
    out->name = s->name;
    out->is_stride = index >= f->signature->dim_count;
    out->is_passed = s->is_passed;
    out->min = s->facts.min;
    out->max = s->facts.max;
    out->multiple_of = s->facts.multiple_of;
    return KCRT_OK;
}

kcrt_status kcrt_function_solve(kcrt_function *f, void *const *args, int n, int64_t *values,
                                unsigned char *known) {
    if (!f || (!args && n) || !values || !known) return kcrt_null_argument("kcrt_function_solve");
    return kcrt_bind_solve(f->signature, args, n, values, known);
}

kcrt_status kcrt_function_shape(kcrt_function *f, int index, const int64_t *values,
                                const unsigned char *known, int64_t *shape, int64_t *strides) {
    if (!f || !values || !known || !shape) return kcrt_null_argument("kcrt_function_shape");
    if (index < 0 || index >= f->signature->arg_count)
        return kcrt_fail(KCRT_NOT_FOUND, "%s has no argument number %d.", f->signature->name,
                         index);
    return kcrt_bind_shape(f->signature, index, values, known, shape, strides);
}
