// Tensors that come with a package: where their bytes are, and which functions use them under which
// names and shapes.
#include <stdlib.h>
#include <string.h>

#include "runtime/fields.h"

#define MAX_CONSTANTS 65536

// ---- The package's ------------------------------------------------------------------------------

static kcrt_status read_constant(const kcrt_reader *r, const kcrt_json *item, kcrt_constant *out) {
    int64_t image = 0, offset = 0, bytes = 0;
    kcrt_status status = kcrt_field_name(r, item, "name", &out->name);
    if (!status) status = kcrt_field_int(r, item, "image", 0, r->manifest->image_count - 1, &image);
    if (!status) status = kcrt_field_int(r, item, "offset", 0, INT64_MAX, &offset);
    if (!status) status = kcrt_field_int(r, item, "bytes", 0, INT64_MAX, &bytes);
    if (status) return status;
    const kcrt_image *in = &r->manifest->images[image];
    if (strcmp(in->role, "const") || offset % 256 || (uint64_t)offset > in->size ||
        (uint64_t)bytes > in->size - (uint64_t)offset)
        return kcrt_bad_manifest(
            r,
            "constant `%s` is not in a `const` image, or outside it, or not at a multiple of 256",
            out->name);
    out->image = (int)image;
    out->offset = (uint64_t)offset;
    out->bytes = (uint64_t)bytes;
    return KCRT_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static kcrt_status check_names(const kcrt_reader *r) {
    const kcrt_manifest *m = r->manifest;
    const char **names = KCRT_NEW(r->arena, const char *, (size_t)m->constant_count);
    if (!names) return kcrt_no_memory(r);
    for (int i = 0; i < m->constant_count; i++)
        names[i] = m->constants[i].name;
    qsort(names, (size_t)m->constant_count, sizeof *names, compare_names);
    for (int i = 1; i < m->constant_count; i++)
        if (!strcmp(names[i - 1], names[i]))
            return kcrt_bad_manifest(r, "two constants are called `%s`", names[i]);
    return KCRT_OK;
}

kcrt_status kcrt_read_constants(const kcrt_reader *r, const kcrt_json *root) {
    const kcrt_json *list;
    kcrt_manifest *m = r->manifest;
    kcrt_status status = kcrt_field_list_or(r, root, "constants", &list);
    if (!status)
        status = kcrt_new_items(r, list, "constants", MAX_CONSTANTS, sizeof *m->constants,
                                (void **)&m->constants, &m->constant_count);
    int n = 0;
    for (const kcrt_json *item = status ? NULL : list->first; item && !status;
         item = item->next, n++)
        status = read_constant(r, item, &m->constants[n]);
    return status ? status : check_names(r);
}

// ---- A function's -------------------------------------------------------------------------------

static kcrt_status read_shape(const kcrt_reader *r, const kcrt_json *item, kcrt_constant_use *out,
                              uint64_t *elements) {
    const kcrt_json *shape;
    kcrt_status status = kcrt_field_list(r, item, "shape", &shape);
    if (status) return status;
    if (shape->length > KCRT_MAX_RANK)
        return kcrt_bad_manifest(r, "constant `%s` has a rank above %d", out->name, KCRT_MAX_RANK);
    out->shape = KCRT_NEW(r->arena, int64_t, shape->length + 1);
    if (!out->shape) return kcrt_no_memory(r);
    *elements = 1;
    for (const kcrt_json *extent = shape->first; extent && !status; extent = extent->next) {
        int64_t *at = &out->shape[out->rank++];
        status = kcrt_read_int(r, extent, "shape", 0, INT64_MAX, at);
        if (!status && __builtin_mul_overflow(*elements, (uint64_t)*at, elements))
            return kcrt_bad_manifest(r, "constant `%s` is larger than 2^64 elements", out->name);
    }
    return status;
}

static kcrt_status find_constant(const kcrt_reader *r, const char *name, int *out) {
    for (*out = 0; *out < r->manifest->constant_count; ++*out)
        if (!strcmp(r->manifest->constants[*out].name, name)) return KCRT_OK;
    return kcrt_bad_manifest(r, "there is no constant `%s`", name);
}

static kcrt_status read_use(const kcrt_reader *r, const kcrt_json *item, kcrt_constant_use *out) {
    const char *name;
    uint64_t elements = 1, bits;
    kcrt_status status = kcrt_field_name(r, item, "name", &out->name);
    if (!status) status = kcrt_field_string(r, item, "type", &out->type);
    if (!status) status = kcrt_field_name(r, item, "constant", &name);
    if (!status) status = find_constant(r, name, &out->index);
    if (!status) status = read_shape(r, item, out, &elements);
    if (status) return status;
    const kcrt_type *type = kcrt_find_type(out->type);
    if (!type)
        return kcrt_bad_manifest(r,
                                 "constant `%s` has type `%.40s`, which this runtime does not know",
                                 out->name, out->type);
    out->type = type->name;
    out->dtype = type->dtype;
    if (__builtin_mul_overflow(elements, (uint64_t)type->bits, &bits) || bits % 8 ||
        bits / 8 != r->manifest->constants[out->index].bytes)
        return kcrt_bad_manifest(r, "constant `%s` does not have as many bytes as its shape",
                                 out->name);
    return KCRT_OK;
}

kcrt_status kcrt_read_constant_uses(const kcrt_reader *r, const kcrt_json *function) {
    const kcrt_json *list;
    kcrt_signature *signature = r->signature;
    kcrt_constant_use *uses;
    int n = 0;
    kcrt_status status = kcrt_field_list_or(r, function, "constants", &list);
    if (!status)
        status = kcrt_new_items(r, list, "constants", MAX_CONSTANTS, sizeof *uses, (void **)&uses,
                                &signature->constant_count);
    if (status) return status;
    signature->constants = uses;
    for (const kcrt_json *item = list->first; item && !status; item = item->next)
        status = read_use(r, item, &uses[n++]);
    return status;
}
