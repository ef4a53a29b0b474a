/* A program as anybody writes it: the driver interface, no runtime, nothing of ours. Compiled against cuda.h, or where that is
 * absent against our declarations (-DOWN_HEADER), and run with LD_LIBRARY_PATH=build/sim.
 *
 *     bare blocks.sm_80.ptx */
#ifdef OWN_HEADER
#include "tests/foreign/own_cuda.h"
#else
#include <cuda.h>
#endif
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 70, COLUMNS = 45 };

static void check(CUresult status, const char *call) {
    const char *text = "?";
    if (status == CUDA_SUCCESS) return;
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", call, text);
    exit(1);
}
#define CHECK(call) check(call, #call)

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file == NULL || text == NULL || fread(text, 1, (1 << 20) - 1, file) == 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return text;
}

static void transpose(CUfunction function, CUstream stream, const float *in, float *out) {
    size_t bytes = sizeof(float) * ROWS * COLUMNS;
    CUdeviceptr from, to;
    int rows = ROWS, columns = COLUMNS;
    CHECK(cuMemAlloc(&from, bytes));
    CHECK(cuMemAlloc(&to, bytes));
    CHECK(cuMemcpyHtoDAsync(from, in, bytes, stream));
    void *args[] = {&from, &to, &rows, &columns};
    CHECK(cuLaunchKernel(function, (COLUMNS + 31) / 32, (ROWS + 31) / 32, 1, 32, 8, 1, 0, stream, args, NULL));
    CHECK(cuMemcpyDtoHAsync(out, to, bytes, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFree(from));
    CHECK(cuMemFree(to));
}

/* Past the end of what there is: the launch fails, and says so at the next synchronisation at the latest. */
static void fail(CUfunction function, CUstream stream) {
    CUdeviceptr small;
    int rows = ROWS, columns = COLUMNS;
    CHECK(cuMemAlloc(&small, 64));
    void *args[] = {&small, &small, &rows, &columns};
    CUresult status = cuLaunchKernel(function, 2, 3, 1, 32, 8, 1, 0, stream, args, NULL);
    if (status == CUDA_SUCCESS) status = cuStreamSynchronize(stream);
    if (status == CUDA_ERROR_ILLEGAL_ADDRESS) return;
    fprintf(stderr, "an access out of bounds gave %d\n", (int)status);
    exit(1);
}

int main(int argc, char **argv) {
    static float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
    char name[100], *ptx = read_file(argc > 1 ? argv[1] : "blocks.sm_80.ptx");
    int major = 0, minor = 0, blocks = 0;
    float milliseconds = -1;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUevent start, stop;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&function, module, "transpose"));
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    for (int i = 0; i < ROWS * COLUMNS; i++) in[i] = (float)i;
    CHECK(cuEventRecord(start, stream));
    transpose(function, stream, in, out);
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuEventSynchronize(stop));
    CHECK(cuEventElapsedTime(&milliseconds, start, stop));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        if (out[i] != in[i % ROWS * COLUMNS + i / ROWS]) {
            fprintf(stderr, "element %d is %g\n", i, out[i]);
            return 1;
        }
    if (major == 0 || blocks < 1 || milliseconds < 0) return 1;
    printf("%s, sm_%d%d\n", name, major, minor);
    CHECK(cuEventDestroy(start));
    CHECK(cuEventDestroy(stop));
    fail(function, stream);
    free(ptx);
    return 0;
}
