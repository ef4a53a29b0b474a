// Which files come of a build. All are on disk before the first one gets its name.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/build_command.h"
#include "compiler/package/outfile.h"

static const kc_emit_kind kinds[] = {
    {"kcb", KC_EMIT_KCB, 0, NULL, NULL, NULL},
    {"obj", KC_EMIT_OBJ, 0, NULL, NULL, NULL},
    {"c", KC_EMIT_C, 0, NULL, NULL, NULL},
    {"ptx", KC_EMIT_SINGLE, KC_BUILD_ASSEMBLY, "cuda", "ptx", "ptx"},
    {"cubin", KC_EMIT_SINGLE, KC_BUILD_OBJECT, "cuda", "cubin", "cubin"},
    {"asm", KC_EMIT_SINGLE, KC_BUILD_ASSEMBLY, "hip", "asm", "s"},
    {"hsaco", KC_EMIT_SINGLE, KC_BUILD_OBJECT, "hip", "hsaco", "hsaco"},
    {"llvm", KC_EMIT_SINGLE, KC_BUILD_LLVM, NULL, "llvm", "ll"},
    {"tile", KC_EMIT_SINGLE, KC_TASK_TILE, NULL, "tile", "tile.kcir"},
    {"tensor", KC_EMIT_SINGLE, KC_TASK_TENSOR, NULL, "tensor", "tensor.kcir"},
};
const char kc_emit_kind_names[] = "kcb, obj, c, ptx, cubin, asm, hsaco, llvm, tile or tensor";

const kc_emit_kind *kc_emit_kind_find(const char *name) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name)) return &kinds[i];
    return NULL;
}

// ---- a set of files -----------------------------------------------------------------------------

typedef struct {
    kc_arena *arena;
    kc_outfile **files;
    int n;
    const char *error;
} file_set;

static bool add(file_set *set, const char *path, const char *data, size_t size) {
    kc_outfile *file = kc_outfile_stage(set->arena, path, data, size, &set->error);
    if (file) set->files[set->n++] = file;
    return file != NULL;
}

static bool commit(file_set *set, bool ok) {
    for (int i = 0; i < set->n; i++) {
        if (ok) ok = kc_outfile_commit(set->files[i], &set->error);
        else kc_outfile_drop(set->files[i]);
    }
    return ok;
}

// ---- contents -----------------------------------------------------------------------------------

static void release(void *data) {
    free(data);
}

typedef struct {
    char *data;
    size_t size;
    FILE *out;
} text_buffer;

static bool open_buffer(text_buffer *b) {
    b->out = open_memstream(&b->data, &b->size);
    return b->out != NULL;
}

static void close_buffer(kc_arena *arena, text_buffer *b) {
    fclose(b->out);
    kc_arena_defer(arena, release, b->data);
}

static bool add_package(file_set *set, kc_build_run *run, const kc_build_command *o) {
    if (o->emit->form == KC_EMIT_KCB) return add(set, o->output, run->package, run->package_size);
    text_buffer b;
    if (!open_buffer(&b)) return false;
    if (o->emit->form == KC_EMIT_C)
        kc_embed_write_c(b.out, run->module->name, run->package, run->package_size);
    else kc_embed_write_object(b.out, o->host, run->module->name, run->package, run->package_size);
    close_buffer(run->arena, &b);
    return add(set, o->output, b.data, b.size);
}

static const kc_image *image_of(const kc_task_result *result, const char *role) {
    for (int i = 0; i < result->n_images; i++)
        if (!strcmp(result->images[i].role, role)) return &result->images[i];
    kc_bug("a finished compilation has no %s", role);
}

static bool is_folder(const char *path) {
    struct stat s;
    size_t n = strlen(path);
    return (n && path[n - 1] == '/') || (!stat(path, &s) && S_ISDIR(s.st_mode));
}

static bool add_singles(file_set *set, kc_build_run *run, const kc_build_command *o) {
    if (!is_folder(o->output)) {
        const kc_image *image = image_of(&run->results[0], o->emit->role);
        return add(set, o->output, image->data, image->size);
    }
    if (mkdir(o->output, 0777) && errno != EEXIST) {
        set->error = kc_arena_printf(run->arena, "cannot make the folder %s: %s", o->output,
                                     strerror(errno));
        return false;
    }
    for (int i = 0; i < run->n_tasks; i++) {
        const kc_image *image = image_of(&run->results[i], o->emit->role);
        const char *path = kc_arena_printf(run->arena, "%s/%s.%s.%s", o->output, run->module->name,
                                           run->tasks[i].target->arch->name, o->emit->extension);
        if (!add(set, path, image->data, image->size)) return false;
    }
    return true;
}

static bool add_header(file_set *set, kc_build_run *run, const kc_build_command *o) {
    text_buffer b;
    if (!open_buffer(&b)) return false;
    kc_header_write(b.out, run->module);
    close_buffer(run->arena, &b);
    return add(set, o->header, b.data, b.size);
}

// A name as make reads it.
static void write_make_name(FILE *out, const char *name) {
    for (; *name; name++) {
        if (*name == '$') fputc('$', out);
        if (*name == ' ' || *name == '#' || *name == '\t') fputc('\\', out);
        fputc(*name, out);
    }
}

static bool add_depend(file_set *set, kc_build_run *run, const kc_build_command *o) {
    text_buffer b;
    if (!open_buffer(&b)) return false;
    write_make_name(b.out, o->output);
    if (o->header) fputc(' ', b.out), write_make_name(b.out, o->header);
    fputs(": ", b.out);
    write_make_name(b.out, run->path);
    for (const kc_file_name *file = run->module->files; file; file = file->next)
        fputc(' ', b.out), write_make_name(b.out, file->path);
    fputc('\n', b.out);
    close_buffer(run->arena, &b);
    return add(set, o->depend, b.data, b.size);
}

static bool print_single(kc_build_run *run, const kc_build_command *o) {
    const kc_image *image = image_of(&run->results[0], o->emit->role);
    fwrite(image->data, 1, image->size, stdout); // main.c sees whether it arrived
    return true;
}

// The main output comes last: where it stands, the others do too.
bool kc_build_write_files(kc_build_run *run, const kc_build_command *o, const char **error) {
    file_set set = {run->arena, KC_NEW_ARRAY(run->arena, kc_outfile *, run->n_tasks + 3), 0,
                    "out of memory"};
    bool ok = !o->header || add_header(&set, run, o);
    ok = ok && (!o->depend || add_depend(&set, run, o));
    if (ok && o->output)
        ok =
            o->emit->form == KC_EMIT_SINGLE ? add_singles(&set, run, o) : add_package(&set, run, o);
    ok = commit(&set, ok);
    if (ok && o->to_stdout) ok = print_single(run, o);
    if (!ok) *error = set.error;
    return ok;
}
