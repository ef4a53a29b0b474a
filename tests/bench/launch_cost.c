// What a launch costs beyond the bare driver call: kcrt_launch on a driver that does nothing,
// against calling that driver directly. The target is within 1 microsecond.
//
//     launch_cost LIBNULL_CUDA.so [LAUNCHES]     prints one line of JSON; exit 1 when the target is
//     missed
//
// The function is a linear layer: five arguments of rank 1 and 2, a stride name, two variants, nine
// kernel parameters.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/driver_calls.h"
#include "runtime/kcrt.h"
#include "tests/unit/runtime/pack.h"

static const char function[] =
    "{\"name\":\"linear\",\"dims\":[{\"name\":\"M\"},{\"name\":\"K\",\"multiple_of\":8},{\"name\":"
    "\"N\"}],\"strides\":[{\"name\":\"ldw\"}],"
    "\"args\":[{\"name\":\"x\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f16\","
    "\"shape\":[\"M\",\"K\"]},"
    "{\"name\":\"w\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f16\",\"shape\":[\"K\","
    "\"N\"],\"strides\":[\"ldw\",1]},"
    "{\"name\":\"b\",\"direction\":\"input\",\"kind\":\"tensor\",\"type\":\"f16\",\"shape\":[\"N\"]"
    "},"
    "{\"name\":\"alpha\",\"direction\":\"input\",\"kind\":\"scalar\",\"type\":\"f32\",\"shape\":[]}"
    ","
    "{\"name\":\"y\",\"direction\":\"output\",\"kind\":\"tensor\",\"type\":\"f16\",\"shape\":["
    "\"M\",\"N\"]}],"
    "\"targets\":[{\"triple\":\"cuda\",\"arch\":\"sm_80\",\"images\":[0],\"variants\":[%s]}]}";
static const char variant[] =
    "{%s\"steps\":[{\"kernel\":\"k\",\"grid\":[\"cdiv(M, 64) * cdiv(N, "
    "64)\",1,1],\"block\":[128,1,1],\"shared\":\"64 * 72 * 4\",\"args\":["
    "{\"pointer\":\"x\"},{\"pointer\":\"w\"},{\"pointer\":\"b\"},{\"scalar\":\"alpha\"},{"
    "\"pointer\":\"y\"},{\"expr\":\"M\",\"type\":\"i32\"},"
    "{\"expr\":\"K\",\"type\":\"i32\"},{\"expr\":\"N\",\"type\":\"i32\"},{\"expr\":\"ldw\","
    "\"type\":\"i64\"}]}]}";

static int launches = 2000000;

// Processor time: a launch on this driver waits for nothing, but the machine may be shared.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int stop(const char *what) {
    fprintf(stderr, "launch_cost: %s: %s\n", what, kcrt_last_error());
    return 1;
}

static pack build(void) {
    static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
    pack_image image = {"cuda", "sm_80", "ptx", ptx, sizeof ptx};
    char one[1024], two[1024], both[2200], all[4000];
    snprintf(one, sizeof one, variant,
             "\"when\":\"K % 8 == 0 and N % 8 == 0 and ldw % 8 == 0 and align.x >= 16 and align.w "
             ">= 16 and align.y >= 16\",");
    snprintf(two, sizeof two, variant, "");
    snprintf(both, sizeof both, "%s,%s", one, two);
    snprintf(all, sizeof all, function, both);
    return pack_functions(all, "", &image, 1);
}

// Seconds a launch through kcrt.
static double through_kcrt(kcrt_device *device, kcrt_function *f, kcrt_stream *stream) {
    void *memory;
    int64_t M = 128, K = 256, N = 512, sx[] = {M, K}, sw[] = {K, N}, tw[] = {N, 1}, sy[] = {M, N};
    float alpha = 1;
    if (kcrt_alloc(device, 1 << 20, &memory)) return -1;
    DLDevice on = kcrt_device_dl(device);
    double start = now();
    for (int i = 0; i < launches; i++) {
        DLTensor x = kcrt_tensor(on, memory, kcrt_dtype(2, 16), 2, sx, NULL),
                 w = kcrt_tensor(on, memory, kcrt_dtype(2, 16), 2, sw, tw);
        DLTensor b = kcrt_tensor(on, memory, kcrt_dtype(2, 16), 1, &N, NULL),
                 y = kcrt_tensor(on, memory, kcrt_dtype(2, 16), 2, sy, NULL);
        x.byte_offset = 0, w.byte_offset = 65536, b.byte_offset = 65536 + 262144,
        y.byte_offset = 65536 + 262144 + 1024;
        void *args[] = {&x, &w, &b, &alpha, &y};
        if (kcrt_launch(f, stream, args, 5, NULL, 0)) return -1;
    }
    double seconds = (now() - start) / launches;
    kcrt_free(device, memory);
    return seconds;
}

static double direct(void *library) {
    driver_result (*launch)(driver_kernel, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, unsigned, driver_stream, void **, void **);
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    unsigned long long values[9] = {0};
    void *parameters[9];
    double start = now();
    for (int i = 0; i < launches; i++) {
        for (int p = 0; p < 9; p++)
            values[p] = (unsigned)i, parameters[p] = &values[p];
        launch(NULL, 16, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL);
    }
    return (now() - start) / launches;
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: launch_cost LIBNULL_CUDA.so [LAUNCHES]\n"), 2;
    if (argc > 2) launches = atoi(argv[2]);
    setenv("KCRT_CUDA_SIM", argv[1], 1);
    kcrt_device *device;
    kcrt_module *module;
    kcrt_function *f;
    kcrt_stream *stream;
    pack p = build();
    if (kcrt_device_open("cuda-sim", &device)) return stop("open");
    if (kcrt_module_load_memory(device, p.data, p.size, NULL, &module)) return stop("load");
    if (kcrt_function_get(module, "linear", &f)) return stop("get");
    if (kcrt_stream_create(device, &stream)) return stop("stream");
    double best = 1, bare = 1;
    for (int i = 0; i < 5; i++) {
        double a = through_kcrt(device, f, stream), b = direct(dlopen(argv[1], RTLD_NOW));
        if (a < 0) return stop("launch");
        if (a < best) best = a;
        if (b < bare) bare = b;
    }
    printf(
        "{\"launch_ns\": %.1f, \"driver_ns\": %.1f, \"overhead_ns\": %.1f, \"target_ns\": 1000}\n",
        best * 1e9, bare * 1e9, (best - bare) * 1e9);
    kcrt_stream_free(stream);
    kcrt_module_unload(module);
    kcrt_device_close(device);
    free(p.data);
    return (best - bare) * 1e9 > 1000;
}
