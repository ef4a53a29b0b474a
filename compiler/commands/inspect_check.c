// kc inspect --verify and --extract: images against what the manifest says about them.
#include <string.h>

#include "compiler/commands/inspect_command.h"
#include "compiler/package/outfile.h"
#include "runtime/object.h"

// ---- checks -------------------------------------------------------------------------------------

static void add(kc_arena *arena, kc_texts *list, const char *text) {
    const char **bigger = KC_NEW_ARRAY(arena, const char *, list->n + 1);
    if (list->n) memcpy(bigger, list->items, sizeof *bigger * (size_t)list->n);
    bigger[list->n] = kc_arena_strdup(arena, text);
    list->items = bigger;
    list->n++;
}

// Whether the image defines the kernel: an .entry of PTX, a name in the string table of an ELF
// file.
static bool has_kernel(const kcrt_entry *image, const char *kernel) {
    const char *at = image->image, *end = at + image->size;
    size_t n = strlen(kernel);
    bool text = !strcmp(image->role, "ptx");
    while ((at = memmem(at, (size_t)(end - at), kernel, n))) {
        char before = at > (const char *)image->image ? at[-1] : 0,
             after = at + n < end ? at[n] : 0;
        if (text ? before == ' ' && after == '(' : before == 0 && after == 0) return true;
        at++;
    }
    return false;
}

static void check_target(kc_arena *arena, const kc_package_file *file, const kcrt_signature *s,
                         const kcrt_target *t, kc_texts *list) {
    for (int v = 0; v < t->variant_count; v++)
        for (int k = 0; k < t->variants[v].step_count; k++) {
            const kcrt_step *step = &t->variants[v].steps[k];
            for (int i = 0; step->kind == KCRT_STEP_KERNEL && i < t->image_count; i++)
                if (!has_kernel(kc_package_image(file, t->images[i]), step->kernel))
                    add(arena, list,
                        kc_arena_printf(arena,
                                        "function `%s`, %s:%s: image %d does not hold kernel `%s`",
                                        s->name, t->triple, t->arch, t->images[i], step->kernel));
        }
}

kc_texts kc_inspect_check(kc_arena *arena, const kc_package_file *file) {
    kc_texts list = {0};
    const kcrt_manifest *m = &file->manifest;
    for (int i = 0; i < m->image_count; i++)
        if (kcrt_image_verify(file->path, &m->images[i], kc_package_image(file, i)->image))
            add(arena, &list, kcrt_last_error());
    for (int f = 0; f < m->function_count; f++)
        for (int t = 0; t < m->functions[f].target_count; t++)
            check_target(arena, file, &m->functions[f], &m->functions[f].targets[t], &list);
    return list;
}

// ---- extraction ---------------------------------------------------------------------------------

// Whether image `index` belongs to the function; images of role ir and const belong to all.
static bool serves(const kcrt_manifest *m, int index, const char *function) {
    for (int f = 0; f < m->function_count; f++) {
        if (strcmp(m->functions[f].name, function)) continue;
        if (m->functions[f].ir == index) return true;
        for (int t = 0; t < m->functions[f].target_count; t++)
            for (int i = 0; i < m->functions[f].targets[t].image_count; i++)
                if (m->functions[f].targets[t].images[i] == index) return true;
    }
    return false;
}

// "ARCH", "ARCH:ROLE" or "ARCH:ROLE:FUNCTION"; architectures may hold colons themselves.
static bool matches(const kc_package_file *file, int index, const char *what, size_t length) {
    const kcrt_image *image = &file->manifest.images[index];
    size_t arch = strlen(image->arch), role = strlen(image->role);
    if (length < arch || strncmp(what, image->arch, arch)) return false;
    if (length == arch) return true;
    if (what[arch] != ':' || length - arch - 1 < role ||
        strncmp(what + arch + 1, image->role, role))
        return false;
    size_t used = arch + 1 + role;
    if (length == used) return true;
    char function[256];
    if (what[used] != ':' || length - used - 1 >= sizeof function) return false;
    memcpy(function, what + used + 1, length - used - 1);
    function[length - used - 1] = 0;
    return serves(&file->manifest, index, function);
}

static const char *list_images(kc_arena *arena, const kc_package_file *file, const char *what,
                               size_t length, bool all) {
    const char *text = "";
    for (int i = 0; i < file->manifest.image_count; i++) {
        const kcrt_image *image = &file->manifest.images[i];
        if (!all && !matches(file, i, what, length)) continue;
        const char *name = kc_arena_printf(arena, "%s:%s", image->arch, image->role);
        for (int f = 0; f < file->manifest.function_count && !all; f++)
            if (serves(&file->manifest, i, file->manifest.functions[f].name) &&
                file->manifest.function_count > 1)
                name = kc_arena_printf(arena, "%s:%s:%s", image->arch, image->role,
                                       file->manifest.functions[f].name);
        if (!strstr(text, kc_arena_printf(arena, " %s,", name)))
            text = kc_arena_printf(arena, "%s %s,", text, name);
    }
    size_t n = strlen(text);
    return n ? kc_arena_strndup(arena, text, n - 1) : " nothing";
}

const char *kc_inspect_extract_file(const char *what) {
    const char *equals = strrchr(what, '=');
    return equals && equals > what && equals[1] ? equals + 1 : NULL;
}

bool kc_inspect_extract(kc_arena *arena, const kc_package_file *file, const char *what,
                        const char **error) {
    const char *path = kc_inspect_extract_file(what);
    size_t length = (size_t)(path - 1 - what);
    int found = -1, count = 0;
    for (int i = 0; i < file->manifest.image_count; i++)
        if (matches(file, i, what, length)) found = i, count++;
    if (count != 1) {
        *error = kc_arena_printf(arena, "--extract %.*s: %s:%s", (int)length, what,
                                 count ? "several images; say which"
                                       : "there is no such image; the file has",
                                 list_images(arena, file, what, length, count == 0));
        return false;
    }
    const kcrt_entry *image = kc_package_image(file, found);
    size_t terminator = !strcmp(image->role, "ptx"); // assemblers refuse the NUL that drivers want
    return kc_outfile_write(arena, path, image->image, image->size - terminator, error);
}
