/* A walk through the driver interface, written as programs are: one section a subject, each call checked, and what is wrong told with
 * its line. Compiled against cuda.h, or where that is absent against our declarations (-DOWN_HEADER); run with
 * LD_LIBRARY_PATH=build/sim and two devices, an sm_90a and an sm_80. */
#ifdef OWN_HEADER
#include "tests/foreign/own_cuda.h"
#else
#include <cuda.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int line, const char *text, long long got, long long wanted) {
    if (got == wanted) return;
    fprintf(stderr, "tour.c:%d: %s is %lld, expected %lld\n", line, text, got, wanted);
    failures++;
}
#define IS(wanted, value) expect(__LINE__, #value, (long long)(value), (long long)(wanted))
#define OK(call) IS(CUDA_SUCCESS, call)
#define FAILS(error, call) IS(CUDA_ERROR_##error, call)

static const char kernels[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .const .align 4 .f32 factor = 0f40000000;\n"
    ".visible .global .align 4 .b8 counters[32];\n"
    ".visible .entry scale(.param .u64 x, .param .u32 n) .maxntid 256\n{\n"
    ".reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [x]; ld.param.u32 %r0, [n]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "mul.wide.u32 %d1, %r1, 4; add.s64 %d0, %d0, %d1; ld.const.f32 %f0, [factor]; ld.global.f32 %f1, [%d0];\n"
    "mul.f32 %f1, %f1, %f0; st.global.f32 [%d0], %f1; ret;\n}\n"
    ".visible .entry reverse(.param .u64 x)\n{\n" /* 64 words through dynamic shared memory */
    ".reg .b32 %r<5>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1; ld.global.u32 %r1, [%d0];\n"
    "mov.u32 %r2, memory; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1; bar.sync 0;\n"
    "sub.u32 %r3, 252, %r3; add.u32 %r4, %r2, %r3; ld.shared.u32 %r1, [%r4]; st.global.u32 [%d0], %r1; ret;\n}\n"
    ".visible .entry stuck() { trap; ret; }\n";
static char with_shared[sizeof kernels + 100];

static const char clusters[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry ranks(.param .u64 out)\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>;\n"
    "griddepcontrol.wait; ld.param.u64 %d0, [out]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_ctarank; mul.wide.u32 %d1, %r0, 4;\n"
    "add.s64 %d0, %d0, %d1; st.global.u32 [%d0], %r1; griddepcontrol.launch_dependents; ret;\n}\n";

static CUdevice first;
static CUcontext context;
static CUmodule module;
static CUfunction scale, reverse;

/* ---- devices, contexts ---- */

static int attribute(CUdevice_attribute which, CUdevice device) {
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, device));
    return value;
}

static void devices(void) {
    int count = 0, version = 0;
    size_t bytes = 0;
    char name[100] = "";
    CUdevice second = -1;
    const char *text = NULL;
    FAILS(NOT_INITIALIZED, cuDeviceGetCount(&count));
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    IS(13000, version);
    OK(cuDeviceGetCount(&count));
    IS(2, count);
    OK(cuDeviceGet(&first, 0));
    OK(cuDeviceGet(&second, 1));
    FAILS(INVALID_DEVICE, cuDeviceGet(&second, 2));
    OK(cuDeviceGetName(name, sizeof name, first));
    IS(1, strlen(name) > 0);
    OK(cuDeviceTotalMem(&bytes, first));
    IS(80, bytes >> 30);
    IS(9, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, first));
    IS(132, attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, first));
    IS(232448, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, first));
    IS(1, attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, first));
    IS(0, attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, second));
    IS(1, attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, first));
    IS(2048, attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, second));
    FAILS(INVALID_VALUE, cuDeviceGetAttribute(&count, (CUdevice_attribute)9999, first));
    OK(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
    IS(0, strcmp(text, "CUDA_ERROR_INVALID_VALUE"));
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    IS(0, strcmp(text, "out of memory"));
}

static void contexts(void) {
    CUcontext own = NULL, popped = NULL;
    CUdevice device = -1;
    CUdeviceptr pointer = 0;
    FAILS(INVALID_CONTEXT, cuMemAlloc(&pointer, 4));
    OK(cuCtxCreate(&own, NULL, 0, 1));
    OK(cuCtxGetDevice(&device));
    IS(1, device);
    OK(cuDevicePrimaryCtxRetain(&context, first));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxGetDevice(&device));
    IS(0, device);
    OK(cuCtxPopCurrent(&popped));
    IS(1, popped == context);
    OK(cuCtxDestroy(own));
    FAILS(CONTEXT_IS_DESTROYED, cuCtxSetCurrent(own));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize());
}

/* ---- memory ---- */

static void copies(void) {
    static unsigned char host[4 * 3 * 64], back[4 * 3 * 64];
    CUdeviceptr a = 0, b = 0, base = 0;
    size_t pitch = 0, bytes = 0, free_bytes = 0, total = 0;
    for (size_t i = 0; i < sizeof host; i++) host[i] = (unsigned char)(i * 7);
    OK(cuMemGetInfo(&free_bytes, &total));
    OK(cuMemAlloc(&a, sizeof host));
    OK(cuMemAllocPitch(&b, &pitch, 50, 12, 4));
    OK(cuMemGetAddressRange(&base, &bytes, a + 5));
    IS(a, base);
    IS(sizeof host, bytes);
    OK(cuMemcpyHtoD(a, host, sizeof host));
    OK(cuMemcpyDtoD(a + 64, a, 64));
    OK(cuMemcpyDtoH(back, a + 64, 64));
    IS(0, memcmp(back, host, 64));
    OK(cuMemcpyHtoD(a, host, sizeof host));
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = a, .srcPitch = 64, .srcXInBytes = 4, .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = b, .dstPitch = pitch, .WidthInBytes = 50, .Height = 11};
    OK(cuMemcpy2D(&flat));
    OK(cuMemcpyDtoH(back, b + pitch, 50));
    IS(0, memcmp(back, host + 2 * 64 + 4, 50));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = a, .srcPitch = 64, .srcHeight = 3, .srcZ = 1, .srcY = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = back, .dstPitch = 64, .dstHeight = 2,
                         .WidthInBytes = 32, .Height = 2, .Depth = 3};
    OK(cuMemcpy3DAsync(&box, NULL));
    OK(cuStreamSynchronize(NULL));
    IS(0, memcmp(back + 2 * 128 + 64, host + (3 * 3 + 2) * 64, 32));
    OK(cuMemsetD32(a, 0x01020304, 8));
    OK(cuMemsetD16(a + 4, 0x0506, 1));
    OK(cuMemsetD2D8(a + 8, 8, 9, 2, 3));
    OK(cuMemcpyDtoH(back, a, 32));
    IS(0, memcmp(back, "\4\3\2\1\6\5\2\1\11\11\2\1\4\3\2\1\11\11", 18));
    FAILS(INVALID_VALUE, cuMemcpyDtoH(back, a + sizeof host - 4, 8)); /* past the end */
    FAILS(INVALID_VALUE, cuMemsetD32(a + 2, 0, 1));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    FAILS(INVALID_VALUE, cuMemFree(b));
    FAILS(OUT_OF_MEMORY, cuMemAlloc(&a, total + 1));
}

static CUresult run_scale(CUdeviceptr x, unsigned n, CUstream stream) {
    void *args[] = {&x, &n};
    return cuLaunchKernel(scale, (n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, args, NULL);
}

static void host_memory(void) {
    float *pinned = NULL, *managed = NULL;
    static float registered[100];
    CUdeviceptr device = 0, address = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    unsigned type = 0;
    OK(cuMemHostAlloc((void **)&pinned, 400, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&device, pinned, 0));
    for (int i = 0; i < 100; i++) pinned[i] = (float)i;
    OK(run_scale(device, 100, NULL));
    OK(cuCtxSynchronize());
    IS(198, pinned[99]);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)pinned));
    IS(CU_MEMORYTYPE_HOST, type);
    OK(cuMemFreeHost(pinned));
    OK(cuMemAllocManaged(&device, 400, CU_MEM_ATTACH_GLOBAL));
    managed = (float *)(uintptr_t)device;
    for (int i = 0; i < 100; i++) managed[i] = (float)-i;
    OK(cuMemAdvise(device, 400, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    OK(cuMemPrefetchAsync(device, 400, here, 0, NULL));
    OK(run_scale(device, 100, NULL));
    OK(cuCtxSynchronize());
    IS(-198, managed[99]);
    OK(cuMemFree(device));
    for (int i = 0; i < 100; i++) registered[i] = 0.5f;
    OK(cuMemHostRegister(registered, sizeof registered, 0));
    OK(cuMemHostGetDevicePointer(&address, registered, 0));
    OK(run_scale(address, 100, NULL));
    OK(cuCtxSynchronize());
    IS(1, registered[99] == 1);
    OK(cuMemHostUnregister(registered));
}

static void pools(void) {
    CUmemoryPool pool = NULL;
    CUdeviceptr a = 0;
    CUstream stream = NULL;
    uint64_t keep = UINT64_MAX, used = 0;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, first));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    OK(cuMemAllocAsync(&a, 4000, stream));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    IS(1, used >= 4000);
    OK(cuMemFreeAsync(a, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy(stream));
}

/* ---- modules, functions, launches ---- */

static void modules(void) {
    CUdeviceptr factor = 0;
    size_t bytes = 0;
    int value = 0;
    float three = 3, two = 2;
    CUfunction none = NULL;
    snprintf(with_shared, sizeof with_shared, "%.*s.extern .shared .align 16 .b8 memory[];\n%s",
             (int)(strstr(kernels, ".visible") - kernels), kernels, strstr(kernels, ".visible"));
    OK(cuModuleLoadData(&module, with_shared));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&reverse, module, "reverse"));
    FAILS(NOT_FOUND, cuModuleGetFunction(&none, module, "nothing"));
    OK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    IS(4, bytes);
    OK(cuMemcpyHtoD(factor, &three, 4));
    OK(cuMemcpyHtoD(factor, &two, 4));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    IS(256, value);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, scale));
    IS(90, value);
    OK(cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
    FAILS(INVALID_VALUE, cuFuncSetAttribute(reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300 << 10));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, reverse, 1024, 100 << 10));
    IS(2, value);
}

static void launches(void) {
    uint32_t words[64];
    CUdeviceptr x = 0;
    CUstream stream = NULL;
    void *args[] = {&x};
    size_t size = sizeof x;
    for (uint32_t i = 0; i < 64; i++) words[i] = i;
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuMemAlloc(&x, sizeof words));
    OK(cuMemcpyHtoDAsync(x, words, sizeof words, stream));
    OK(cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, 256, stream, args, NULL));
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &x, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, 99 << 10, stream, NULL, extra));
    OK(cuLaunchKernel(reverse, 1, 1, 1, 64, 1, 1, 256, stream, args, NULL));
    OK(cuMemcpyDtoHAsync(words, x, sizeof words, stream));
    OK(cuStreamSynchronize(stream));
    IS(63, words[0]);
    IS(0, words[63]);
    FAILS(INVALID_VALUE, cuLaunchKernel(reverse, 0, 1, 1, 64, 1, 1, 256, stream, args, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(scale, 1, 1, 1, 512, 1, 1, 0, stream, args, NULL)); /* over .maxntid */
    FAILS(INVALID_HANDLE, cuLaunchKernel((CUfunction)(void *)words, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(cuMemFree(x));
    OK(cuStreamDestroy(stream));
}

static void clusters_and_dependence(void) {
    CUmodule own = NULL;
    CUfunction ranks = NULL;
    CUdeviceptr out = 0;
    uint32_t got[8] = {0};
    int count = 0;
    _Alignas(64) unsigned char map[128];
    CUlaunchAttribute attributes[2];
    OK(cuModuleLoadData(&own, clusters));
    OK(cuModuleGetFunction(&ranks, own, "ranks"));
    OK(cuMemAlloc(&out, sizeof got));
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 4;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    CUlaunchConfig config = {.gridDimX = 8, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
                             .attrs = attributes, .numAttrs = 2};
    void *args[] = {&out};
    OK(cuLaunchKernelEx(&config, ranks, args, NULL));
    OK(cuLaunchKernelEx(&config, ranks, args, NULL));
    OK(cuMemcpyDtoH(got, out, sizeof got));
    for (uint32_t i = 0; i < 8; i++) IS(i % 4, got[i]);
    OK(cuOccupancyMaxActiveClusters(&count, ranks, &config));
    IS(1, count > 0);
    attributes[0].value.clusterDim.x = 3;
    FAILS(INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, ranks, args, NULL));
    uint64_t sizes[2] = {64, 32}, strides[1] = {128};
    uint32_t box[2] = {16, 8}, steps[2] = {1, 1};
    OK(cuTensorMapEncodeTiled((void *)map, 6, 2, (void *)(uintptr_t)out, sizes, strides, box, steps, 0, 1, 0, 0));
    box[0] = 300;
    FAILS(INVALID_VALUE, cuTensorMapEncodeTiled((void *)map, 6, 2, (void *)(uintptr_t)out, sizes, strides, box, steps, 0, 1, 0, 0));
    OK(cuMemFree(out));
    OK(cuModuleUnload(own));
}

/* ---- streams, events, graphs ---- */

static void count_up(void *data) {
    ++*(int *)data;
}

static void streams_and_events(void) {
    CUstream stream = NULL, other = NULL;
    CUevent start = NULL, stop = NULL, untimed = NULL;
    CUdeviceptr x = 0;
    float milliseconds = -1, one = 1;
    int called = 0, least = 0, greatest = 0;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&x, 4));
    FAILS(INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, stop)); /* recorded neither */
    OK(cuMemcpyHtoDAsync(x, &one, 4, stream));
    OK(cuEventRecord(start, stream));
    for (int i = 0; i < 10; i++) OK(run_scale(x, 1, stream));
    OK(cuLaunchHostFunc(stream, count_up, &called));
    OK(cuEventRecord(stop, stream));
    OK(cuStreamWaitEvent(other, stop, 0));
    OK(cuEventSynchronize(stop));
    OK(cuEventQuery(stop));
    OK(cuStreamQuery(other));
    OK(cuEventElapsedTime(&milliseconds, start, stop));
    IS(1, milliseconds > 0 && milliseconds < 10000);
    OK(cuEventRecord(untimed, stream));
    FAILS(INVALID_HANDLE, cuEventElapsedTime(&milliseconds, start, untimed));
    IS(1, called);
    OK(cuMemcpyDtoH(&one, x, 4));
    IS(1024, one);
    OK(cuStreamWriteValue32(stream, x, 5, 0));
    OK(cuStreamWaitValue32(stream, x, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuMemFree(x));
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(stop));
    OK(cuEventDestroy(untimed));
    OK(cuStreamDestroy(stream));
    FAILS(INVALID_HANDLE, cuStreamSynchronize(stream));
    OK(cuStreamDestroy(other));
}

static void graphs(void) {
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr x = 0;
    float values[200];
    size_t nodes = 0;
    int called = 0;
    for (int i = 0; i < 200; i++) values[i] = 1;
    OK(cuMemAlloc(&x, sizeof values));
    OK(cuMemcpyHtoD(x, values, sizeof values));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(run_scale(x, 200, stream));
    OK(run_scale(x, 200, stream));
    OK(cuLaunchHostFunc(stream, count_up, &called));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(run_scale(x, 200, stream));
    OK(run_scale(x, 200, stream));
    OK(cuLaunchHostFunc(stream, count_up, &called));
    OK(cuStreamEndCapture(stream, &graph));
    IS(0, called);
    OK(cuGraphGetNodes(graph, NULL, &nodes));
    IS(3, nodes);
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(values, x, sizeof values));
    IS(64, values[199]);
    IS(3, called);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(x));
}

/* ---- entry points, and the end of a context ---- */

static void entry_points(void) {
    CUresult (*count_of)(int *) = NULL;
    void *found = NULL;
    int count = 0;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress("cuDeviceGetCount", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    memcpy(&count_of, &found, sizeof found);
    OK(count_of(&count));
    IS(2, count);
    FAILS(NOT_FOUND, cuGetProcAddress("cuNothing", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
}

/* A trap poisons the context: every call says so, until it is gone. */
static void faults(void) {
    CUcontext own = NULL;
    CUmodule lost = NULL;
    CUfunction stuck = NULL;
    CUdeviceptr x = 0;
    OK(cuCtxCreate(&own, NULL, 0, 1));
    OK(cuModuleLoadData(&lost, with_shared));
    OK(cuModuleGetFunction(&stuck, lost, "stuck"));
    CUresult status = cuLaunchKernel(stuck, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
    IS(CUDA_ERROR_LAUNCH_FAILED, status);
    FAILS(LAUNCH_FAILED, cuMemAlloc(&x, 4));
    FAILS(LAUNCH_FAILED, cuCtxSynchronize());
    OK(cuCtxDestroy(own));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&x, 4)); /* the other context lives */
    OK(cuMemFree(x));
}

int main(void) {
    devices();
    contexts();
    copies();
    modules();
    launches();
    host_memory();
    pools();
    clusters_and_dependence();
    streams_and_events();
    graphs();
    entry_points();
    faults();
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease(first));
    if (failures == 0) printf("the tour is over\n");
    return failures != 0;
}
