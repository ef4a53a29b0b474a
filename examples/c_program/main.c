// A program that launches the functions of vectors.yaml by name. It links libkcrt alone: no CUDA, no HIP, no compiler.
//
//     main [DEVICE [FILE.kcb]]     DEVICE: cuda:0, hip:0, cuda-sim, ref; default cuda-sim. Without FILE: the embedded package
//
// Two ways to launch: the generated header's typed functions (saxpy) and kcrt_launch with tensors (normalize).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "vectors.h"

extern const unsigned char kc_vectors_kcb[]; // vectors_kcb.c, by `kc build --emit c`
extern const size_t kc_vectors_kcb_size;

enum { ROWS = 3, COLUMNS = 1000, COUNT = ROWS * COLUMNS };

typedef struct {
    kcrt_device *device;
    kcrt_module *module;
    kcrt_stream *stream;
    void *x, *y, *z; // on the device, COUNT floats each
} session;

// Every call of kcrt says how it went; the sentence behind a failure is kcrt_last_error().
static int failed(kcrt_status status, const char *what) {
    if (status != KCRT_OK) fprintf(stderr, "%s: %s: %s\n", what, kcrt_status_name(status), kcrt_last_error());
    return status != KCRT_OK;
}

static kcrt_place on_host(const void *p) { return (kcrt_place){NULL, (void *)(uintptr_t)p, 0}; }
static kcrt_place on_device(const session *s, void *p) { return (kcrt_place){s->device, p, 0}; }

// Everything is loaded here: a GPU that the package does not suit is refused now, not at the first launch.
static int start(session *s, const char *device, const char *file) {
    if (failed(kcrt_device_open(device, &s->device), "opening the device")) return 1;
    kcrt_status status = file ? kcrt_module_load_file(s->device, file, NULL, &s->module)
                              : kcrt_module_load_memory(s->device, kc_vectors_kcb, kc_vectors_kcb_size, NULL, &s->module);
    if (failed(status, "loading the package")) return 1;
    if (failed(kcrt_stream_create(s->device, &s->stream), "making a stream")) return 1;
    void **buffers[] = {&s->x, &s->y, &s->z};
    for (int i = 0; i < 3; i++)
        if (failed(kcrt_alloc(s->device, COUNT * sizeof(float), buffers[i]), "allocating")) return 1;
    return 0;
}

// Closing takes NULL, so that a start that failed half way needs nothing else.
static void stop(session *s) {
    if (s->device) kcrt_free(s->device, s->x), kcrt_free(s->device, s->y), kcrt_free(s->device, s->z);
    kcrt_stream_free(s->stream);
    kcrt_module_unload(s->module);
    kcrt_device_close(s->device);
}

static int fetch(const session *s, float *host, void *device) {
    return failed(kcrt_copy(on_host(host), on_device(s, device), COUNT * sizeof(float), s->stream), "copying back") ||
           failed(kcrt_stream_sync(s->stream), "waiting");
}

// The generated header knows the arguments: pointers and values in order, then each dimension.
static int saxpy(const session *s, const float *x, const float *y) {
    static float z[COUNT];
    kcrt_function *f;
    if (failed(kcrt_function_get(s->module, "saxpy", &f), "looking up saxpy")) return 1;
    if (failed(kc_vectors_saxpy(f, s->stream, 0.5f, s->x, s->y, s->z, COUNT), "launching saxpy")) return 1;
    if (fetch(s, z, s->z)) return 1;
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += fabsf(z[i] - (0.5f * x[i] + y[i])) > 1e-6f * (fabsf(x[i]) + fabsf(y[i]));
    printf("saxpy: z[10] = %g, %d of %d wrong\n", (double)z[10], wrong, COUNT);
    return wrong;
}

// Tensors (DLPack) say shape and type themselves, so that arrays of other libraries can be passed as they are.
static int normalize(const session *s) {
    static float y[COUNT];
    kcrt_function *f;
    if (failed(kcrt_function_get(s->module, "normalize", &f), "looking up normalize")) return 1;
    int64_t shape[] = {ROWS, COLUMNS};
    DLTensor in = kcrt_tensor(kcrt_device_dl(s->device), s->x, kcrt_dtype(2, 32), 2, shape, NULL), out = in;
    out.data = s->z;
    void *args[] = {&in, &out};
    if (failed(kcrt_launch(f, s->stream, args, 2, NULL, 0), "launching normalize") || fetch(s, y, s->z)) return 1;
    int wrong = 0;
    for (int row = 0; row < ROWS; row++) {
        double square = 0;
        for (int i = 0; i < COLUMNS; i++) square += (double)y[row * COLUMNS + i] * (double)y[row * COLUMNS + i];
        printf("normalize: row %d has length %.6f\n", row, sqrt(square));
        wrong += fabs(sqrt(square) - 1) > 1e-5;
    }
    return wrong;
}

// What a mistake looks like: the launch is refused before anything runs, and the sentence names the argument.
static int mistake(const session *s) {
    kcrt_function *f;
    if (failed(kcrt_function_get(s->module, "normalize", &f), "looking up normalize")) return 1;
    int64_t shape[] = {ROWS, COLUMNS}, smaller[] = {ROWS, COLUMNS - 1};
    DLTensor in = kcrt_tensor(kcrt_device_dl(s->device), s->x, kcrt_dtype(2, 32), 2, shape, NULL), out = in;
    out.data = s->z;
    out.shape = smaller;
    void *args[] = {&in, &out};
    kcrt_status status = kcrt_launch(f, s->stream, args, 2, NULL, 0);
    printf("a wrong shape: %s: %s\n", kcrt_status_name(status), status ? kcrt_last_error() : "");
    return status == KCRT_OK;
}

int main(int argc, char **argv) {
    static float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = (float)(i % 17) - 8, y[i] = (float)i / COUNT;
    session s = {0};
    int wrong = start(&s, argc > 1 ? argv[1] : "cuda-sim", argc > 2 ? argv[2] : NULL) ||
                failed(kcrt_copy(on_device(&s, s.x), on_host(x), sizeof x, s.stream), "copying x") ||
                failed(kcrt_copy(on_device(&s, s.y), on_host(y), sizeof y, s.stream), "copying y");
    if (!wrong) wrong = saxpy(&s, x, y) || normalize(&s) || mistake(&s);
    stop(&s);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
