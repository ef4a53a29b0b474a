// Bytes into the package reader, the manifest reader and the loader: a status each time, never a
// fault. What loads is launched, on a device that does nothing.
//
//     fuzz_package [SECONDS [SEED]]
//
// Without arguments the corpus is run once, with every truncation. With a time, packages are
// mutated for so long: half of them as bytes, half as manifest text and images with the hashes made
// right again. The seed is printed, and the input that brought the program down is written to
// fuzz_package.crash in the current folder.
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include "runtime/kcrt.h"
#include "runtime/package.h"
#include "tests/fuzz/crash.h"
#include "tests/unit/runtime/fake.h"
#include "tests/unit/runtime/pack.h"

enum { INPUT_LIMIT = 1 << 17, SEED_LIMIT = 256 };

static unsigned char input[INPUT_LIMIT];
static size_t input_size;
static long accepted, launched;
static kcrt_device *device;
static uint64_t random_state;

static uint32_t next_random(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)(random_state >> 33) % below : 0;
}

// ---- A device that takes everything and does nothing --------------------------------------------

static int take_all(void *d, const char *triple, const char *arch, const char *role,
                    const char **reason) {
    (void)d, (void)triple, (void)arch, (void)reason;
    return strcmp(role, "ir") != 0;
}

static kcrt_status no_copy(void *d, kcrt_copy_kind kind, void *dst, uint64_t to, const void *src,
                           uint64_t from, size_t n, void *stream) {
    (void)d, (void)kind, (void)dst, (void)to, (void)src, (void)from, (void)n, (void)stream;
    return KCRT_OK;
}

static kcrt_status no_memset(void *d, void *base, uint64_t at, int value, size_t n, void *stream) {
    (void)d, (void)base, (void)at, (void)value, (void)n, (void)stream;
    return KCRT_OK;
}

static kcrt_status small_alloc(void *d, size_t n, void **base) {
    (void)d;
    if (n > 1 << 20) return kcrt_fail(KCRT_OUT_OF_MEMORY, "Too much for a fuzzer.");
    *base = aligned_alloc(256, (n + 255) & ~(size_t)255);
    return KCRT_OK;
}

static kcrt_status attribute(void *d, kcrt_attr a, int64_t *out) {
    (void)d;
    *out = a == KCRT_ATTR_L2_BYTES ? INT64_MAX / 2 : 7;
    return KCRT_OK;
}

static void check(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "fuzz_package: %s: %s\n", what, kcrt_last_error());
    abort();
}

// ---- One input ----------------------------------------------------------------------------------

static void launch(kcrt_function *f, int64_t extent) {
    _Alignas(256) static unsigned char memory[64 * 256];
    int64_t values[256], shapes[64][16], strides[64][16];
    unsigned char known[256];
    DLTensor tensors[64];
    uint64_t scalar = 0;
    void *args[64 + 128];
    int n = kcrt_function_arg_count(f), count = n;
    for (int i = 0; i < 256; i++)
        values[i] = extent, known[i] = 1;
    for (int a = 0; a < n; a++) {
        kcrt_arg_info info;
        check(!kcrt_function_arg(f, a, &info), "an argument is missing");
        args[a] = &scalar;
        if (info.is_scalar) continue;
        if (kcrt_function_shape(f, a, values, known, shapes[a], strides[a])) return;
        tensors[a] = kcrt_tensor(kcrt_function_device(f), memory + 256 * a, info.dtype, info.rank,
                                 shapes[a], strides[a]);
        args[a] = &tensors[a];
    }
    for (int s = 0; s < kcrt_function_symbol_count(f); s++) {
        kcrt_symbol_info info;
        check(!kcrt_function_symbol(f, s, &info), "a symbol is missing");
        if (info.is_passed) args[count++] = &values[s];
    }
    kcrt_status status = kcrt_launch(f, NULL, args, count, NULL, 0);
    launched += !status;
    check(!status || strlen(kcrt_last_error()) > 10, "a launch failed without a sentence");
}

static void run(const unsigned char *bytes, size_t size) {
    kcrt_module *module;
    unsigned char *exact = malloc(size ? size : 1); // so that a read past the end is seen
    memcpy(exact, bytes, size);
    kcrt_status status = kcrt_module_load_memory(device, exact, size, NULL, &module);
    check(!status == (module != NULL), "the status and the module disagree");
    check(!status || strlen(kcrt_last_error()) > 10, "a load failed without a sentence");
    for (int i = 0; module && i < kcrt_module_function_count(module); i++) {
        kcrt_function *f;
        check(!kcrt_module_function(module, i, &f), "a function is missing");
        launch(f, 8);
        launch(f, 0);
    }
    accepted += module != NULL;
    kcrt_module_unload(module);
    free(exact);
    fake_log[0] = 0;
}

// ---- Mutations ----------------------------------------------------------------------------------

static void mutate(unsigned char *bytes, size_t size, bool text) {
    static const char alphabet[] = "0123456789999\"\"[]{},,::-abMNKxyz *+/%().<=\\";
    for (uint32_t i = 0, n = 1 + next_random(4); i < n && size; i++) {
        size_t at = next_random((uint32_t)size);
        size_t length = next_random(4) ? 1 : next_random(24), from = next_random((uint32_t)size);
        if (length == 1)
            bytes[at] = text ? (unsigned char)alphabet[next_random(sizeof alphabet - 1)]
                             : (unsigned char)next_random(256);
        else if (at + length <= size && from + length <= size)
            memmove(bytes + at, bytes + from, length);
    }
}

// Where the manifest's text holds the hash of an image, the new one takes its place.
static void fix_hash(char *manifest, const char *old, const char *new) {
    for (char *at = manifest; (at = strstr(at, old)); at += 64)
        memcpy(at, new, 64);
}

static void mutate_inside(const unsigned char *bytes, size_t size) {
    kcrt_arena arena = {0};
    kcrt_package package;
    if (!kcrt_package_read(&arena, "seed", bytes, size, &package) && package.count > 1) {
        pack_image *images = calloc((size_t)package.count, sizeof *images);
        char *manifest = calloc(1, package.entries[0].size + 1);
        memcpy(manifest, package.entries[0].image, package.entries[0].size);
        if (next_random(4)) mutate((unsigned char *)manifest, strlen(manifest), true);
        for (int i = 1; i < package.count; i++) {
            const kcrt_entry *e = &package.entries[i];
            char old[65], new[65];
            unsigned char *copy = malloc(e->size ? e->size : 1);
            memcpy(copy, e->image, e->size);
            kcrt_sha256_hex(copy, e->size, old);
            if (!next_random(3)) mutate(copy, e->size, false);
            kcrt_sha256_hex(copy, e->size, new);
            fix_hash(manifest, old, new);
            images[i - 1] = (pack_image){e->triple, e->arch, e->role, copy, e->size};
        }
        pack p = pack_with(manifest, images, package.count - 1);
        input_size = p.size < INPUT_LIMIT ? p.size : INPUT_LIMIT;
        memcpy(input, p.data, input_size);
        for (int i = 1; i < package.count; i++)
            free((void *)(uintptr_t)images[i - 1].bytes);
        free(p.data);
        free(manifest);
        free(images);
    }
    kcrt_arena_release(&arena);
}

// ---- The corpus ---------------------------------------------------------------------------------

static struct {
    unsigned char *bytes;
    size_t size;
} seeds[SEED_LIMIT];
static int seed_count;

static void read_corpus(const char *folder) {
    DIR *directory = opendir(folder);
    for (struct dirent *entry;
         directory && (entry = readdir(directory)) && seed_count < SEED_LIMIT;) {
        char path[1024];
        void *bytes;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || kcrt_file_read(path, INPUT_LIMIT, &bytes, &size)) continue;
        seeds[seed_count].bytes = bytes;
        seeds[seed_count++].size = size;
    }
    if (directory) closedir(directory);
}

static void run_corpus(void) {
    for (int i = 0; i < seed_count; i++)
        for (size_t n = seeds[i].size + 1; n-- > 0;) {
            memcpy(input, seeds[i].bytes, n);
            input_size = n;
            if (n == seeds[i].size || n % 13 == 0) run(input, n);
        }
}

static void run_for(double seconds) {
    time_t end = time(NULL) + (time_t)seconds;
    for (long round = 0; time(NULL) < end; round++) {
        int i = (int)next_random((uint32_t)seed_count);
        memcpy(input, seeds[i].bytes, seeds[i].size);
        input_size = seeds[i].size;
        if (round & 1) mutate_inside(seeds[i].bytes, seeds[i].size);
        else mutate(input, input_size, false);
        run(input, input_size);
    }
}

int main(int argc, char **argv) {
    static kcrt_device_api api;
    api = fake_api;
    api.rank = take_all;
    api.copy = no_copy;
    api.memset = no_memset;
    api.alloc = small_alloc;
    api.attr = attribute;
    if (kcrt_device_register("fuzz", kDLExtDev, &api) || kcrt_device_open("fuzz", &device))
        return 1;
    crash_watch("fuzz_package.crash", input, &input_size);
    read_corpus("tests/fuzz/corpus/package");
    check(seed_count > 0, "there is no corpus: run it from the root of the repository");
    random_state = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    run_corpus();
    if (argc > 1) {
        printf("seed %llu\n", (unsigned long long)random_state);
        run_for(atof(argv[1]));
    }
    for (int i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
    kcrt_device_close(device);
    printf("fuzz_package: %d seeds, %ld loaded, %ld launches\n", seed_count, accepted, launched);
    return 0;
}
