// Reading is the runtime's business; this only keeps things together.
#include "compiler/package/reader.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    kc_package_file file;
    kcrt_arena arena;
    void *owned;
} holder;

static void release(void *object) {
    holder *h = object;
    kcrt_manifest_release(&h->file.manifest);
    kcrt_arena_release(&h->arena);
    free(h->owned);
}

static kc_package_file *read_all(kc_arena *arena, holder *h, const char **error) {
    kc_package_file *f = &h->file;
    kcrt_status status = kcrt_package_read(&h->arena, f->path, f->data, f->size, &f->package);
    if (!status) status = kcrt_manifest_read(&h->arena, f->path, &f->package, &f->manifest);
    if (status) {
        *error = kc_arena_strdup(arena, kcrt_last_error());
        return NULL;
    }
    const char *problem;
    size_t at;
    const kcrt_entry *entry = f->package.entries;
    f->root = kcrt_json_parse(&h->arena, entry->image, entry->size, &problem, &at);
    if (!f->root) *error = problem; // out of memory: it was parsed once already
    return f->root ? f : NULL;
}

static holder *create(kc_arena *arena, const char *path) {
    holder *h = KC_NEW(arena, holder);
    h->file.path = path;
    kc_arena_defer(arena, release, h);
    return h;
}

kc_package_file *kc_package_open_memory(kc_arena *arena, const char *path, const void *data,
                                        size_t size, const char **error) {
    holder *h = create(arena, path);
    h->file.data = data;
    h->file.size = size;
    return read_all(arena, h, error);
}

kc_package_file *kc_package_open(kc_arena *arena, const char *path, const char **error) {
    holder *h = create(arena, path);
    if (kcrt_file_read(path, KCRT_MAX_PACKAGE_BYTES, &h->owned, &h->file.size)) {
        *error = kc_arena_strdup(arena, kcrt_last_error());
        return NULL;
    }
    h->file.data = h->owned;
    return read_all(arena, h, error);
}

const kcrt_json *kc_json_item(const kcrt_json *list, int index) {
    const kcrt_json *item = list ? list->first : NULL;
    while (item && index-- > 0)
        item = item->next;
    return item;
}

const char *kc_json_text_or(const kcrt_json *object, const char *key, const char *otherwise) {
    const kcrt_json *value = kcrt_json_get(object, key);
    return value && value->kind == KCRT_JSON_STRING ? value->text : otherwise;
}

void kc_json_copy(kc_json *j, const kcrt_json *value) {
    switch (value->kind) {
    case KCRT_JSON_NULL: kc_json_raw(j, "null"); break;
    case KCRT_JSON_BOOL: kc_json_bool(j, value->integer); break;
    case KCRT_JSON_INT: kc_json_int(j, value->integer); break;
    case KCRT_JSON_REAL: kc_json_raw(j, value->text); break;
    case KCRT_JSON_STRING: kc_json_string(j, value->text); break;
    case KCRT_JSON_LIST:
        kc_json_open(j, '[');
        for (const kcrt_json *item = value->first; item; item = item->next)
            kc_json_copy(j, item);
        kc_json_close(j, ']');
        break;
    case KCRT_JSON_OBJECT:
        kc_json_open(j, '{');
        for (const kcrt_json *item = value->first; item; item = item->next) {
            kc_json_key(j, item->key);
            kc_json_copy(j, item);
        }
        kc_json_close(j, '}');
        break;
    }
}

void kc_package_copy_target(kc_json *j, const kcrt_json *target, const int *place) {
    kc_json_open(j, '{');
    for (const kcrt_json *item = target->first; item; item = item->next) {
        kc_json_key(j, item->key);
        if (strcmp(item->key, "images")) {
            kc_json_copy(j, item);
            continue;
        }
        kc_json_open(j, '[');
        for (const kcrt_json *index = item->first; index; index = index->next)
            if (place[index->integer] >= 0) kc_json_int(j, place[index->integer]);
        kc_json_close(j, ']');
    }
    kc_json_close(j, '}');
}

void kc_package_copy_constant(kc_json *j, const kcrt_json *constant, const int *place) {
    const kcrt_json *image = kcrt_json_get(constant, "image");
    if (place[image->integer] < 0) return;
    kc_json_open(j, '{');
    for (const kcrt_json *item = constant->first; item; item = item->next) {
        kc_json_key(j, item->key);
        if (item == image) kc_json_int(j, place[item->integer]);
        else kc_json_copy(j, item);
    }
    kc_json_close(j, '}');
}
