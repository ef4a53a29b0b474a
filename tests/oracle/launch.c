// Launches many functions of one package in one process. usage: launch PACKAGE DEVICE CALLS RESULTS
//
// CALLS and RESULTS are streams of i64 words and of blobs; a blob is its size, then its bytes, padded to 8. A call:
//     name (blob), number of arguments, arguments
// and an argument, in the order of the function's signature, then of its free dimensions:
//     kind (enum), rank, shape, strides (elements), byte offset of the first element, memory (blob)
// A result:
//     status, message (blob), then for each output: memory (blob), and on `ref` the values before rounding and their
//     bounds (two blobs of doubles)
// Memory is what lies around the tensor too, so that the caller sees what is written where nothing belongs.
#include "runtime/kcrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 96, MAX_RANK = 8 };
enum { INPUT, OUTPUT, VALUE, DIMENSION }; // VALUE: a scalar's bytes; DIMENSION: an i64, as memory

typedef struct {
    int64_t kind, rank, shape[MAX_RANK], strides[MAX_RANK], offset;
    size_t bytes;
    void *host, *device;
    DLTensor tensor;
    double *value, *bound; // of outputs on `ref`
} argument;

static FILE *calls, *results;
static kcrt_device *device;
static int is_ref;

static _Noreturn void die(const char *what) {
    fprintf(stderr, "launch: %s: %s\n", what, kcrt_last_error());
    exit(2);
}

static void read_exactly(void *to, size_t bytes) {
    if (bytes && fread(to, 1, bytes, calls) != bytes) die("CALLS ends early");
}

static int64_t read_word(void) {
    int64_t word;
    read_exactly(&word, sizeof word);
    return word;
}

static void *allocate(size_t bytes) {
    void *p = calloc(1, bytes + 1);
    if (!p) die("no memory");
    return p;
}

static char *read_blob(size_t *bytes) {
    char padding[8];
    *bytes = (size_t)read_word();
    char *p = allocate(*bytes);
    read_exactly(p, *bytes);
    read_exactly(padding, (8 - *bytes % 8) % 8);
    return p;
}

static void write_word(int64_t word) {
    if (fwrite(&word, sizeof word, 1, results) != 1) die("RESULTS cannot be written");
}

static void write_blob(const void *from, size_t bytes) {
    write_word((int64_t)bytes);
    size_t padding = (8 - bytes % 8) % 8;
    if ((bytes && fwrite(from, 1, bytes, results) != bytes) || fwrite("\0\0\0\0\0\0\0", 1, padding, results) != padding)
        die("RESULTS cannot be written");
}

static void read_argument(argument *a) {
    memset(a, 0, sizeof *a);
    a->kind = read_word();
    a->rank = read_word();
    if (a->rank < 0 || a->rank > MAX_RANK) die("a rank is wrong");
    read_exactly(a->shape, (size_t)a->rank * sizeof(int64_t));
    read_exactly(a->strides, (size_t)a->rank * sizeof(int64_t));
    a->offset = read_word();
    a->host = read_blob(&a->bytes);
}

static size_t elements(const argument *a) {
    size_t n = 1;
    for (int d = 0; d < a->rank; d++)
        n *= (size_t)a->shape[d];
    return n;
}

static kcrt_status upload(kcrt_function *f, int i, argument *a) {
    if (a->kind == VALUE || a->kind == DIMENSION) return KCRT_OK;
    kcrt_arg_info info;
    kcrt_status s = kcrt_function_arg(f, i, &info);
    if (s == KCRT_OK) s = kcrt_alloc(device, a->bytes, &a->device);
    if (s == KCRT_OK) s = kcrt_copy((kcrt_place){device, a->device, 0}, (kcrt_place){NULL, a->host, 0}, a->bytes, NULL);
    if (s != KCRT_OK) return s;
    a->tensor = kcrt_tensor(kcrt_device_dl(device), a->device, info.dtype, (int)a->rank, a->shape, a->strides);
    a->tensor.byte_offset = (uint64_t)a->offset;
    if (is_ref && a->kind == OUTPUT) {
        a->value = allocate(elements(a) * sizeof(double));
        a->bound = allocate(elements(a) * sizeof(double));
    }
    return KCRT_OK;
}

static kcrt_status launch(kcrt_function *f, argument *args, int n) {
    void *pointers[MAX_ARGS];
    double *values[MAX_ARGS], *bounds[MAX_ARGS];
    kcrt_status s = KCRT_OK;
    for (int i = 0; i < n && s == KCRT_OK; i++) {
        s = upload(f, i, &args[i]);
        pointers[i] = args[i].kind == VALUE || args[i].kind == DIMENSION ? args[i].host : (void *)&args[i].tensor;
        values[i] = args[i].value;
        bounds[i] = args[i].bound;
    }
    if (s == KCRT_OK)
        s = is_ref ? kcrt_launch_bounded(f, NULL, pointers, n, values, bounds) : kcrt_launch(f, NULL, pointers, n, NULL, 0);
    if (s == KCRT_OK) s = kcrt_device_sync(device);
    for (int i = 0; i < n && s == KCRT_OK; i++)
        if (args[i].kind == OUTPUT)
            s = kcrt_copy((kcrt_place){NULL, args[i].host, 0}, (kcrt_place){device, args[i].device, 0}, args[i].bytes, NULL);
    return s;
}

static void write_result(kcrt_status s, const argument *args, int n) {
    const char *message = s == KCRT_OK ? "" : kcrt_last_error();
    write_word(s);
    write_blob(message, strlen(message));
    for (int i = 0; i < n; i++) {
        if (args[i].kind != OUTPUT) continue;
        write_blob(args[i].host, args[i].bytes);
        if (!is_ref) continue;
        size_t bytes = args[i].value ? elements(&args[i]) * sizeof(double) : 0;
        write_blob(args[i].value, bytes);
        write_blob(args[i].bound, bytes);
    }
}

static void call(kcrt_module *module) {
    static argument args[MAX_ARGS];
    size_t length;
    char *name = read_blob(&length);
    int64_t n = read_word();
    if (n < 0 || n > MAX_ARGS) die("too many arguments");
    for (int i = 0; i < n; i++)
        read_argument(&args[i]);
    kcrt_function *f;
    kcrt_status s = kcrt_function_get(module, name, &f);
    if (s == KCRT_OK) s = launch(f, args, (int)n);
    write_result(s, args, (int)n);
    for (int i = 0; i < n; i++) {
        kcrt_free(device, args[i].device);
        free(args[i].host), free(args[i].value), free(args[i].bound);
    }
    free(name);
}

int main(int argc, char **argv) {
    kcrt_module *module;
    if (argc != 5) return fprintf(stderr, "usage: launch PACKAGE DEVICE CALLS RESULTS\n"), 2;
    calls = fopen(argv[3], "rb");
    results = fopen(argv[4], "wb");
    if (!calls || !results) die("CALLS or RESULTS cannot be opened");
    is_ref = strcmp(argv[2], "ref") == 0;
    if (kcrt_device_open(argv[2], &device) != KCRT_OK) die(argv[2]);
    if (kcrt_module_load_file(device, argv[1], NULL, &module) != KCRT_OK) die(argv[1]);
    for (int next; (next = fgetc(calls)) != EOF;) {
        ungetc(next, calls);
        call(module);
    }
    kcrt_module_unload(module);
    kcrt_device_close(device);
    fclose(calls);
    return fclose(results) != 0;
}
