// A package file opened for inspection: checked by the runtime's reader, with the manifest's JSON
// beside it for what that reader does not keep (resources, schedules, notes).
#ifndef KC_COMPILER_PACKAGE_READER_H
#define KC_COMPILER_PACKAGE_READER_H

#include "compiler/package/json_writer.h"
#include "ir/arena.h"
#include "runtime/json.h"
#include "runtime/manifest.h"

typedef struct {
    const char *path;
    const void *data;
    size_t size;
    kcrt_package package;
    kcrt_manifest manifest;
    const kcrt_json *root; // of the manifest
} kc_package_file;

// NULL: *error is a sentence. Everything lives as long as the arena.
kc_package_file *kc_package_open(kc_arena *, const char *path, const char **error);
// The same of bytes in memory, which are borrowed; `path` names them in messages.
kc_package_file *kc_package_open_memory(kc_arena *, const char *path, const void *data, size_t size,
                                        const char **error);

// Image i and its bytes.
static inline const kcrt_entry *kc_package_image(const kc_package_file *f, int i) {
    return &f->package.entries[i + 1];
}
// The manifest's items, in step with manifest.functions and their targets and variants. NULL when
// there is none.
const kcrt_json *kc_json_item(const kcrt_json *list, int index);
const char *kc_json_text_or(const kcrt_json *object, const char *key, const char *otherwise);
// Writes a value that was read.
void kc_json_copy(kc_json *, const kcrt_json *);
// Writes an item of `targets`, its images renumbered: image i becomes place[i]; -1 leaves it out.
void kc_package_copy_target(kc_json *, const kcrt_json *target, const int *place);
// Likewise an item of the package's `constants`, which has one image.
void kc_package_copy_constant(kc_json *, const kcrt_json *constant, const int *place);

#endif
