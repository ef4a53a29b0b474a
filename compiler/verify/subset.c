// Taking one target out keeps the loader from preferring another image of the package: the one
// under test is executed.
#include <stdlib.h>
#include <string.h>

#include "compiler/package/offload.h"
#include "compiler/verify/verify.h"
#include "ir/diag.h"

typedef struct {
    const kc_package_file *file;
    int *images; // of the package
    int n;
    int *place; // by image of the package: its index in images, or -1
} selection;

static void select_image(selection *s, int image) {
    if (s->place[image] >= 0) return;
    s->place[image] = s->n;
    s->images[s->n++] = image;
}

static void select_images(selection *s, const kcrt_signature *function, const kcrt_target *target) {
    for (int i = 0; i < s->file->manifest.image_count; i++)
        s->place[i] = -1;
    for (int i = 0; i < target->image_count; i++)
        if (strcmp(s->file->manifest.images[target->images[i]].role, "cubin"))
            select_image(s, target->images[i]);
    if (function->ir >= 0) select_image(s, function->ir);
    for (int i = 0; i < function->constant_count; i++)
        select_image(s, s->file->manifest.constants[function->constants[i].index].image);
}

static void write_function(const selection *s, kc_json *j, const kcrt_json *function, int target) {
    kc_json_open(j, '{');
    for (const kcrt_json *item = function->first; item; item = item->next) {
        kc_json_key(j, item->key);
        if (!strcmp(item->key, "ir")) {
            kc_json_int(j, s->place[item->integer]);
        } else if (!strcmp(item->key, "targets")) {
            kc_json_open(j, '[');
            kc_package_copy_target(j, kc_json_item(item, target), s->place);
            kc_json_close(j, ']');
        } else {
            kc_json_copy(j, item);
        }
    }
    kc_json_close(j, '}');
}

static void write_manifest(const selection *s, FILE *out, int function, int target) {
    kc_json j = kc_json_to(out, 1);
    kc_json_open(&j, '{');
    for (const kcrt_json *item = s->file->root->first; item; item = item->next) {
        kc_json_key(&j, item->key);
        if (!strcmp(item->key, "images")) {
            kc_json_open(&j, '[');
            for (int i = 0; i < s->n; i++)
                kc_json_copy(&j, kc_json_item(item, s->images[i]));
            kc_json_close(&j, ']');
        } else if (!strcmp(item->key, "constants")) {
            kc_json_open(&j, '[');
            for (const kcrt_json *c = item->first; c; c = c->next)
                kc_package_copy_constant(&j, c, s->place);
            kc_json_close(&j, ']');
        } else if (!strcmp(item->key, "functions")) {
            kc_json_open(&j, '[');
            write_function(s, &j, kc_json_item(item, function), target);
            kc_json_close(&j, ']');
        } else {
            kc_json_copy(&j, item);
        }
    }
    kc_json_close(&j, '}');
}

char *kc_verify_subset(const kc_package_file *file, int function, int target, size_t *size) {
    const kcrt_signature *f = &file->manifest.functions[function];
    selection s = {.file = file,
                   .images = calloc((size_t)file->manifest.image_count + 1, sizeof(int)),
                   .place = calloc((size_t)file->manifest.image_count + 1, sizeof(int))};
    if (!s.place || !s.images) kc_bug("out of memory");
    select_images(&s, f, &f->targets[target]);
    char *manifest = NULL, *package = NULL;
    size_t manifest_size = 0;
    FILE *out = open_memstream(&manifest, &manifest_size);
    if (!out) kc_bug("out of memory");
    write_manifest(&s, out, function, target);
    fclose(out);
    out = open_memstream(&package, size);
    if (!out) kc_bug("out of memory");
    kc_offload_write(out,
                     &(kc_offload_image){"kc", "manifest", "manifest", manifest, manifest_size});
    for (int i = 0; i < s.n; i++) {
        const kcrt_entry *e = kc_package_image(file, s.images[i]);
        kc_offload_write(out, &(kc_offload_image){e->triple, e->arch, e->role, e->image, e->size});
    }
    fclose(out);
    free(manifest);
    free(s.place);
    free(s.images);
    return package;
}
