// DIR/ab/cdef....kcr: 64 hexadecimal digits (SHA-256 of the rest), a newline, the records of the
// result.
#include "compiler/build/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/package/outfile.h"
#include "compiler/version.h"
#include "runtime/package.h"
#include "runtime/sha256.h"

enum { HASH_DIGITS = 64, PREFIX_BYTES = HASH_DIGITS + 1 };

struct kc_cache {
    kc_arena *arena;
    const char *path;
    FILE *records; // collects into text
    char *text;
    size_t size;
};

// Size and time of a program: a rebuilt kc or another ptxas must not find the old one's results.
static const char *fingerprint(kc_arena *arena, const char *path) {
    struct stat s;
    if (!path || !*path || stat(path, &s)) return "none";
    return kc_arena_printf(arena, "%lld %lld.%09ld", (long long)s.st_size,
                           (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

static const char *key_of(kc_arena *arena, const kc_module *module, const kc_task_options *options,
                          const kc_task *task) {
    bool assembles = task->want & KC_BUILD_OBJECT && !strcmp(task->target->kind->name, "cuda");
    char *text = NULL, *hash = kc_arena_alloc(arena, HASH_DIGITS + 1);
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fprintf(out, "kc %s %s\nllvm %s\nptxas %s %s\n", KC_VERSION,
            fingerprint(arena, "/proc/self/exe"), kc_build_llvm_version(),
            assembles && options->ptxas_version ? options->ptxas_version : "",
            assembles ? fingerprint(arena, options->ptxas) : "");
    fprintf(out, "want %d explain %d whole %d fusion %d\n", task->want, options->explain,
            !task->function, !options->no_fusion);
    kc_module_print(module, out); // names the target too
    fclose(out);
    kcrt_sha256_hex(text, size, hash);
    free(text);
    return hash;
}

static bool make_folder(const char *path) {
    return !mkdir(path, 0777) || errno == EEXIST;
}

bool kc_cache_usable(const char *folder, const char **why) {
    struct stat s;
    bool usable = make_folder(folder) && !stat(folder, &s);
    if (usable && !S_ISDIR(s.st_mode)) usable = false, errno = ENOTDIR;
    usable = usable && !access(folder, R_OK | W_OK | X_OK);
    if (!usable) *why = strerror(errno);
    return usable;
}

kc_cache *kc_cache_open(kc_arena *arena, const kc_module *module, const kc_task_options *options,
                        const kc_task *task) {
    const char *key = key_of(arena, module, options, task);
    if (!key || !make_folder(options->cache_dir)) return NULL;
    const char *folder = kc_arena_printf(arena, "%s/%.2s", options->cache_dir, key);
    if (!make_folder(folder)) return NULL;
    kc_cache *cache = KC_NEW(arena, kc_cache);
    cache->arena = arena;
    cache->path = kc_arena_printf(arena, "%s/%s.kcr", folder, key + 2);
    cache->records = open_memstream(&cache->text, &cache->size);
    return cache->records ? cache : NULL;
}

static bool intact(const char *data, size_t size) {
    char hash[HASH_DIGITS + 1];
    if (size < PREFIX_BYTES) return false;
    kcrt_sha256_hex(data + PREFIX_BYTES, size - PREFIX_BYTES, hash);
    return !memcmp(data, hash, HASH_DIGITS) && data[HASH_DIGITS] == '\n';
}

bool kc_cache_replay(kc_cache *cache, int out) {
    void *data;
    size_t size;
    if (kcrt_file_read(cache->path, KCRT_MAX_PACKAGE_BYTES, &data, &size)) return false;
    bool ok = intact(data, size);
    if (ok)
        ok = kc_record_write(out, KC_RECORD_CACHED, NULL, 0, NULL, 0) &&
             kc_record_write_bytes(out, (const char *)data + PREFIX_BYTES, size - PREFIX_BYTES);
    free(data);
    return ok;
}

void kc_cache_add(kc_cache *cache, kc_record_tag tag, const void *prefix, size_t prefix_size,
                  const void *data, size_t size) {
    kc_record_head head = {.tag = (uint32_t)tag, .size = prefix_size + size};
    fwrite(&head, sizeof head, 1, cache->records);
    if (prefix_size) fwrite(prefix, 1, prefix_size, cache->records);
    if (size) fwrite(data, 1, size, cache->records);
}

// A result that cannot be stored is still a result.
void kc_cache_store(kc_cache *cache) {
    if (fclose(cache->records)) return;
    char *file = kc_arena_alloc(cache->arena, PREFIX_BYTES + cache->size);
    const char *error;
    kcrt_sha256_hex(cache->text, cache->size, file);
    file[HASH_DIGITS] = '\n';
    memcpy(file + PREFIX_BYTES, cache->text, cache->size);
    kc_outfile_write(cache->arena, cache->path, file, PREFIX_BYTES + cache->size, &error);
    free(cache->text);
}
