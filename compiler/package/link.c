// The manifests are joined as JSON: what this version does not know stays as it was. Only indices
// of images change. Functions that several files have must have the same signature and the same IR,
// and other architectures in each file.
#include "compiler/package/link.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/package/offload.h"
#include "ir/ir.h"

typedef struct {
    kc_arena *arena;
    kc_package_file *const *files;
    int n;
    int **place; // [file][image]: the index in the joined file
    const kcrt_entry **images;
    int n_images;
    const char **error;
} linker;

static bool fail(linker *l, const char *text) {
    *l->error = text;
    return false;
}

static const kcrt_json *functions_of(const kc_package_file *file) {
    return kcrt_json_get(file->root, "functions");
}

static int find_function(const kc_package_file *file, const char *name) {
    for (int i = 0; i < file->manifest.function_count; i++)
        if (!strcmp(file->manifest.functions[i].name, name)) return i;
    return -1;
}

// ---- images -------------------------------------------------------------------------------------

static bool same_image(const kcrt_entry *a, const kcrt_entry *b) {
    return !strcmp(a->triple, b->triple) && !strcmp(a->arch, b->arch) &&
           !strcmp(a->role, b->role) && a->size == b->size && !memcmp(a->image, b->image, a->size);
}

static void place_images(linker *l) {
    int most = 0;
    for (int f = 0; f < l->n; f++)
        most += l->files[f]->manifest.image_count;
    l->images = KC_NEW_ARRAY(l->arena, const kcrt_entry *, most + 1);
    l->place = KC_NEW_ARRAY(l->arena, int *, l->n);
    for (int f = 0; f < l->n; f++) {
        int count = l->files[f]->manifest.image_count;
        l->place[f] = KC_NEW_ARRAY(l->arena, int, count + 1);
        for (int i = 0; i < count; i++) {
            const kcrt_entry *image = kc_package_image(l->files[f], i);
            int at = 0;
            while (at < l->n_images && !same_image(l->images[at], image))
                at++;
            if (at == l->n_images) l->images[l->n_images++] = image;
            l->place[f][i] = at;
        }
    }
}

// ---- agreement ----------------------------------------------------------------------------------

static char *signature_text(const kcrt_json *function) {
    static const char *const keys[] = {"dims", "strides", "args", "constants", "unbound"};
    enum { KEYS = sizeof keys / sizeof *keys };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) kc_bug("out of memory");
    kc_json j = kc_json_to(out, 0);
    kc_json_open(&j, '[');
    for (int i = 0; i < KEYS; i++) {
        const kcrt_json *value = kcrt_json_get(function, keys[i]);
        if (value) kc_json_copy(&j, value);
        else kc_json_raw(&j, "null");
    }
    kc_json_close(&j, ']');
    fclose(out);
    return text;
}

// The text of one function's IR without its places in the model file, which a comment moves. NULL:
// the file has none.
static char *ir_text(kc_arena *arena, const kc_package_file *file, const kcrt_signature *s) {
    if (s->ir < 0) return NULL;
    const kcrt_entry *image = kc_package_image(file, s->ir);
    kc_diag *diag = kc_diag_create(arena, file->path, NULL, 0);
    kc_module *module = kc_module_parse(arena, image->image, image->size, diag);
    kc_op *func = module ? kc_func_find(module, s->name) : NULL;
    if (!func) return NULL;
    func->previous = func->next = NULL;
    module->body->first = module->body->last = func;
    size_t size, kept = 0;
    char *text = kc_module_to_text(module, &size);
    if (!text) kc_bug("out of memory");
    for (size_t i = 0; i < size;) {
        size_t digits = text[i] == '@' ? strspn(text + i + 1, "0123456789:") : 0;
        if (digits) i += 1 + digits;
        else text[kept++] = text[i++];
    }
    text[kept] = 0;
    return text;
}

static bool same_text(char *a, char *b) {
    bool same = !a || !b || !strcmp(a, b);
    free(a);
    free(b);
    return same;
}

static bool check_targets(linker *l, int a, int b, const kcrt_signature *x,
                          const kcrt_signature *y) {
    for (int i = 0; i < x->target_count; i++)
        for (int k = 0; k < y->target_count; k++)
            if (!strcmp(x->targets[i].triple, y->targets[k].triple) &&
                !strcmp(x->targets[i].arch, y->targets[k].arch))
                return fail(l, kc_arena_printf(l->arena,
                                               "function `%s` for %s:%s is in both %s and %s; "
                                               "build one of them without it",
                                               x->name, x->targets[i].triple, x->targets[i].arch,
                                               l->files[a]->path, l->files[b]->path));
    return true;
}

static const kcrt_entry *content_of(const kc_package_file *file, const kcrt_constant *constant) {
    return kc_package_image(file, constant->image);
}

static bool same_content(const kc_package_file *a, const kcrt_constant *x, const kc_package_file *b,
                         const kcrt_constant *y) {
    const char *from = content_of(a, x)->image, *to = content_of(b, y)->image;
    return x->bytes == y->bytes && !memcmp(from + x->offset, to + y->offset, x->bytes);
}

// What a function calls by one name is one tensor in both files.
static bool check_constants_of(linker *l, int a, int b, const kcrt_signature *x,
                               const kcrt_signature *y) {
    const kc_package_file *first = l->files[a], *second = l->files[b];
    for (int i = 0; i < x->constant_count; i++)
        for (int k = 0; k < y->constant_count; k++) {
            const kcrt_constant *from = &first->manifest.constants[x->constants[i].index];
            const kcrt_constant *to = &second->manifest.constants[y->constants[k].index];
            if (strcmp(x->constants[i].name, y->constants[k].name) ||
                same_content(first, from, second, to))
                continue;
            return fail(l, kc_arena_printf(l->arena,
                                           "constant `%s` of function `%s` has other content in %s "
                                           "than in %s: they come from different files",
                                           x->constants[i].name, x->name, first->path,
                                           second->path));
        }
    return true;
}

// Names come from contents, so that this finds packages that something else made.
static bool check_constants(linker *l, int a, int b) {
    const kc_package_file *first = l->files[a], *second = l->files[b];
    for (int i = 0; i < first->manifest.constant_count; i++)
        for (int k = 0; k < second->manifest.constant_count; k++) {
            const kcrt_constant *x = &first->manifest.constants[i],
                                *y = &second->manifest.constants[k];
            if (!strcmp(x->name, y->name) && !same_content(first, x, second, y))
                return fail(l, kc_arena_printf(l->arena,
                                               "constant `%s` has other content in %s than in %s",
                                               x->name, first->path, second->path));
        }
    return true;
}

static bool check_function(linker *l, int a, int b, int i) {
    const kcrt_signature *x = &l->files[a]->manifest.functions[i];
    int k = find_function(l->files[b], x->name);
    if (k < 0) return true;
    const kcrt_signature *y = &l->files[b]->manifest.functions[k];
    if (!check_constants_of(l, a, b, x, y)) return false;
    char *first = signature_text(kc_json_item(functions_of(l->files[a]), i));
    if (!same_text(first, signature_text(kc_json_item(functions_of(l->files[b]), k))))
        return fail(l, kc_arena_printf(l->arena,
                                       "function `%s` has other arguments in %s than in %s: they "
                                       "come from different models",
                                       x->name, l->files[a]->path, l->files[b]->path));
    if (!same_text(ir_text(l->arena, l->files[a], x), ir_text(l->arena, l->files[b], y)))
        return fail(l, kc_arena_printf(l->arena,
                                       "function `%s` computes something else in %s than in %s: "
                                       "they come from different models",
                                       x->name, l->files[a]->path, l->files[b]->path));
    return check_targets(l, a, b, x, y);
}

static bool check(linker *l) {
    for (int a = 0; a < l->n; a++)
        for (int b = a + 1; b < l->n; b++) {
            const kcrt_manifest *m = &l->files[a]->manifest;
            if (strcmp(m->module, l->files[b]->manifest.module))
                return fail(l, kc_arena_printf(l->arena,
                                               "%s holds module `%s` and %s holds module `%s`; "
                                               "packages of one module can be joined",
                                               l->files[a]->path, m->module, l->files[b]->path,
                                               l->files[b]->manifest.module));
            for (int i = 0; i < m->function_count; i++)
                if (!check_function(l, a, b, i)) return false;
            if (!check_constants(l, a, b)) return false;
        }
    return true;
}

// ---- the joined manifest ------------------------------------------------------------------------

static void write_targets(linker *l, kc_json *j, const char *name) {
    kc_json_key(j, "targets");
    kc_json_open(j, '[');
    for (int f = 0; f < l->n; f++) {
        int i = find_function(l->files[f], name);
        const kcrt_json *targets =
            i < 0 ? NULL : kcrt_json_get(kc_json_item(functions_of(l->files[f]), i), "targets");
        for (const kcrt_json *target = targets ? targets->first : NULL; target;
             target = target->next)
            kc_package_copy_target(j, target, l->place[f]);
    }
    kc_json_close(j, ']');
}

static void write_ir(linker *l, kc_json *j, const char *name) {
    for (int f = 0; f < l->n; f++) {
        int i = find_function(l->files[f], name);
        if (i < 0 || l->files[f]->manifest.functions[i].ir < 0) continue;
        kc_json_put_int(j, "ir", l->place[f][l->files[f]->manifest.functions[i].ir]);
        return;
    }
}

static void write_function(linker *l, kc_json *j, const kcrt_json *function) {
    const char *name = kc_json_text_or(function, "name", "");
    kc_json_open(j, '{');
    for (const kcrt_json *item = function->first; item; item = item->next) {
        if (!strcmp(item->key, "ir") || !strcmp(item->key, "targets")) continue;
        kc_json_key(j, item->key);
        kc_json_copy(j, item);
    }
    write_ir(l, j, name);
    write_targets(l, j, name);
    kc_json_close(j, '}');
}

static void write_functions(linker *l, kc_json *j) {
    kc_json_key(j, "functions");
    kc_json_open(j, '[');
    for (int f = 0; f < l->n; f++)
        for (const kcrt_json *function = functions_of(l->files[f])->first; function;
             function = function->next) {
            bool earlier = false;
            for (int e = 0; e < f; e++)
                earlier = earlier ||
                          find_function(l->files[e], kc_json_text_or(function, "name", "")) >= 0;
            if (!earlier) write_function(l, j, function);
        }
    kc_json_close(j, ']');
}

static void write_images(linker *l, kc_json *j) {
    kc_json_key(j, "images");
    kc_json_open(j, '[');
    for (int i = 0; i < l->n_images; i++)
        for (int f = 0, found = 0; f < l->n && !found; f++)
            for (int k = 0; k < l->files[f]->manifest.image_count && !found; k++) {
                if (l->place[f][k] != i) continue;
                kc_json_copy(j, kc_json_item(kcrt_json_get(l->files[f]->root, "images"), k));
                found = 1;
            }
    kc_json_close(j, ']');
}

static bool in_earlier_file(const linker *l, int file, const char *constant) {
    for (int f = 0; f < file; f++)
        for (int i = 0; i < l->files[f]->manifest.constant_count; i++)
            if (!strcmp(l->files[f]->manifest.constants[i].name, constant)) return true;
    return false;
}

static void write_constants(linker *l, kc_json *j) {
    bool any = false;
    for (int f = 0; f < l->n; f++)
        any = any || l->files[f]->manifest.constant_count;
    if (!any) return;
    kc_json_key(j, "constants");
    kc_json_open(j, '[');
    for (int f = 0; f < l->n; f++) {
        const kcrt_json *list = kcrt_json_get(l->files[f]->root, "constants");
        for (const kcrt_json *c = list ? list->first : NULL; c; c = c->next)
            if (!in_earlier_file(l, f, kc_json_text_or(c, "name", "")))
                kc_package_copy_constant(j, c, l->place[f]);
    }
    kc_json_close(j, ']');
}

// Versions that differ are both named.
static void write_tools(linker *l, kc_json *j) {
    static const char *const names[] = {"kc", "llvm", "ptxas"};
    kc_json_key(j, "tools");
    kc_json_open(j, '{');
    for (int t = 0; t < 3; t++) {
        const char *text = NULL;
        for (int f = 0; f < l->n; f++) {
            const char *version =
                kc_json_text_or(kcrt_json_get(l->files[f]->root, "tools"), names[t], NULL);
            if (version && !text) text = version;
            else if (version && !strstr(text, version))
                text = kc_arena_printf(l->arena, "%s, %s", text, version);
        }
        kc_json_key(j, names[t]);
        kc_json_string_or_null(j, text);
    }
    kc_json_close(j, '}');
}

static void write_manifest(linker *l, FILE *out) {
    kc_json j = kc_json_to(out, 3);
    const char *note = NULL;
    kc_json_open(&j, '{');
    kc_json_put_int(&j, "format", 1);
    kc_json_put_string(&j, "module", l->files[0]->manifest.module);
    write_tools(l, &j);
    for (int f = 0; f < l->n && !note; f++)
        note = kc_json_text_or(l->files[f]->root, "note", NULL);
    if (note) kc_json_put_string(&j, "note", note);
    write_images(l, &j);
    write_constants(l, &j);
    write_functions(l, &j);
    kc_json_close(&j, '}');
    fputc('\n', out);
}

bool kc_package_link(kc_arena *arena, kc_package_file *const *files, int n, FILE *out,
                     const char **error) {
    linker l = {.arena = arena, .files = files, .n = n, .error = error};
    if (!check(&l)) return false;
    place_images(&l);
    char *text = NULL;
    size_t size = 0;
    FILE *manifest = open_memstream(&text, &size);
    if (!manifest) kc_bug("out of memory");
    write_manifest(&l, manifest);
    fclose(manifest);
    kc_offload_write(out, &(kc_offload_image){"kc", "manifest", "manifest", text, size});
    for (int i = 0; i < l.n_images; i++) {
        const kcrt_entry *e = l.images[i];
        kc_offload_write(out, &(kc_offload_image){e->triple, e->arch, e->role, e->image, e->size});
    }
    free(text);
    return true;
}
