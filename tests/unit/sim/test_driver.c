/* The simulated driver as a program meets it: results of good and bad calls, copies, streams,
 * events, captures, graphs, modules, launches, faults, fork, and the simulator's own functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/sim/cuda/driver_api.h"
#include "runtime/sim/cuda/driver_unsupported.h"
#include "runtime/sim/kcsim.h"

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)
#define FAILS(result, call) assert_int_equal((call), CUDA_ERROR_##result)

static char log_path[64], report_path[64];

static const char saxpy_ptx[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".global .align 4 .b8 table[16];\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .f32 %f<5>;\n"
    "  .reg .b32 %r<6>;\n"
    "  .reg .b64 %rd<8>;\n"
    "  ld.param.u64 %rd1, [x];\n"
    "  ld.param.u64 %rd2, [y];\n"
    "  ld.param.f32 %f1, [a];\n"
    "  ld.param.u32 %r2, [n];\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r1, %r3, %r4, %r5;\n"
    "  setp.ge.u32 %p1, %r1, %r2;\n"
    "  @%p1 bra DONE;\n"
    "  cvta.to.global.u64 %rd3, %rd1;\n"
    "  cvta.to.global.u64 %rd4, %rd2;\n"
    "  mul.wide.u32 %rd5, %r1, 4;\n"
    "  add.s64 %rd6, %rd3, %rd5;\n"
    "  add.s64 %rd7, %rd4, %rd5;\n"
    "  ld.global.f32 %f2, [%rd6];\n"
    "  ld.global.f32 %f3, [%rd7];\n"
    "  fma.rn.f32 %f4, %f1, %f2, %f3;\n"
    "  st.global.f32 [%rd7], %f4;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

/* Everything before is answered NOT_INITIALIZED. */
static void before_init(void **state) {
    (void)state;
    int count = -1;
    CUcontext context;
    CUdeviceptr pointer;
    FAILS(NOT_INITIALIZED, cuDeviceGetCount(&count));
    FAILS(NOT_INITIALIZED, cuCtxGetCurrent(&context));
    FAILS(NOT_INITIALIZED, cuMemAlloc_v2(&pointer, 16));
    FAILS(NOT_INITIALIZED, cuCtxSynchronize());
    OK(cuDriverGetVersion(&count));
    assert_int_equal(count, 13000);
    FAILS(INVALID_VALUE, cuInit(1));
    OK(cuInit(0));
    OK(cuInit(0));
}

static void errors_have_names(void **state) {
    (void)state;
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_NO_BINARY_FOR_GPU, &text));
    assert_string_equal(text, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    FAILS(INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
    assert_null(text);
}

static int attribute(CUdevice device, CUdevice_attribute which) {
    int value = -1;
    OK(cuDeviceGetAttribute(&value, which, device));
    return value;
}

static void devices(void **state) {
    (void)state;
    int count, major, minor;
    CUdevice device;
    char name[64];
    size_t bytes;
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 2);
    FAILS(INVALID_DEVICE, cuDeviceGet(&device, 2));
    FAILS(INVALID_DEVICE, cuDeviceGet(&device, -1));
    OK(cuDeviceGet(&device, 1));
    OK(cuDeviceGetName(name, sizeof name, 0));
    assert_string_equal(name, "kc simulator (sm_90a)"); /* asked for as sm_90 */
    OK(cuDeviceComputeCapability(&major, &minor, device));
    assert_int_equal(major * 10 + minor, 80);
    assert_int_equal(attribute(0, CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_int_equal(attribute(0, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448);
    assert_int_equal(attribute(1, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 166912);
    assert_int_equal(attribute(1, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 49152);
    assert_int_equal(attribute(0, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 7); /* a slice */
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    assert_int_equal(bytes, 256u << 20);
    FAILS(INVALID_VALUE, cuDeviceGetAttribute(&count, (CUdevice_attribute)0, 0));
    FAILS(INVALID_VALUE, cuDeviceGetAttribute(&count, (CUdevice_attribute)148, 0));
    FAILS(INVALID_VALUE, cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    FAILS(INVALID_DEVICE, cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9));
}

static void devices_are_added(void **state) {
    (void)state;
    int count;
    assert_int_equal(kcsim_device_for_arch("sm_80"), 1);
    assert_int_equal(kcsim_device_for_arch("sm_90"), 0);
    assert_int_equal(kcsim_device_for_arch("sm_89"), 2);
    assert_int_equal(kcsim_device_for_arch("sm_89"), 2);
    assert_int_equal(kcsim_device_for_arch("sm_13"), -1);
    assert_int_equal(kcsim_device_for_arch(NULL), -1);
    OK(cuDeviceGetCount(&count));
    assert_int_equal(count, 3);
    char *json = kcsim_report_json(2);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"device\": \"sm_89\""));
    free(json);
    assert_null(kcsim_report_json(3));
}

/* ---- contexts
 * ------------------------------------------------------------------------------------- */

static void contexts(void **state) {
    (void)state;
    CUcontext current, a, b, popped;
    CUdeviceptr pointer;
    CUdevice device;
    OK(cuCtxGetCurrent(&current));
    assert_null(current);
    FAILS(INVALID_CONTEXT, cuMemAlloc_v2(&pointer, 16));
    FAILS(INVALID_CONTEXT, cuCtxPopCurrent_v2(&popped));
    FAILS(INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)&pointer));
    FAILS(INVALID_DEVICE, cuCtxCreate_v2(&a, 0, 99));
    FAILS(INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
    OK(cuCtxCreate_v2(&a, 0, 0));
    OK(cuCtxCreate_v4(&b, NULL, 0, 1));
    OK(cuCtxGetDevice(&device));
    assert_int_equal(device, 1);
    OK(cuCtxPopCurrent_v2(&popped));
    assert_ptr_equal(popped, b);
    OK(cuCtxGetDevice(&device));
    assert_int_equal(device, 0);
    OK(cuMemAlloc_v2(&pointer, 1000));
    OK(cuCtxDestroy_v2(b));
    FAILS(CONTEXT_IS_DESTROYED, cuCtxDestroy_v2(b));
    FAILS(CONTEXT_IS_DESTROYED, cuCtxPushCurrent_v2(b));
    OK(cuCtxPushCurrent_v2(a));
    OK(cuCtxDestroy_v2(a)); /* leaves the other entry on the stack */
    FAILS(CONTEXT_IS_DESTROYED, cuMemFree_v2(pointer));
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&current));
    assert_null(current);
}

static void primary_contexts(void **state) {
    (void)state;
    CUcontext a, b;
    unsigned flags, version;
    int active;
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    FAILS(INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
    OK(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_BLOCKING_SYNC));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    assert_ptr_equal(a, b);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 1);
    assert_int_equal(flags, CU_CTX_SCHED_BLOCKING_SYNC);
    FAILS(INVALID_CONTEXT, cuCtxDestroy_v2(a));
    OK(cuCtxGetApiVersion(a, &version));
    assert_int_equal(version, 13000);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    OK(cuCtxSetCurrent(a));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease_v2(0));
    FAILS(CONTEXT_IS_DESTROYED, cuCtxSynchronize());
    OK(cuCtxSetCurrent(NULL));
}

/* The rest runs in a context of device 0; *state is it. */
static int with_context(void **state) {
    CUcontext context;
    CUresult result = cuCtxCreate_v2(&context, 0, 0);
    *state = context;
    return result == CUDA_SUCCESS ? 0 : -1;
}

static int without_context(void **state) {
    return cuCtxDestroy_v2(*state) == CUDA_SUCCESS ? 0 : -1;
}

static void limits(void **state) {
    (void)state;
    size_t value;
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 1024);
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 4096);
    FAILS(INVALID_VALUE, cuCtxGetLimit(&value, (CUlimit)77));
    FAILS(UNSUPPORTED_LIMIT, cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
}

/* ---- memory
 * --------------------------------------------------------------------------------------- */

static void allocations(void **state) {
    (void)state;
    CUdeviceptr a, base;
    size_t bytes, before, after, total, pitch;
    FAILS(INVALID_VALUE, cuMemAlloc_v2(&a, 0));
    FAILS(INVALID_VALUE, cuMemAlloc_v2(NULL, 4));
    FAILS(OUT_OF_MEMORY, cuMemAlloc_v2(&a, 1u << 30)); /* the card has 256 MiB */
    OK(cuMemGetInfo_v2(&before, &total));
    assert_int_equal(total, 256u << 20);
    OK(cuMemAlloc_v2(&a, 1000));
    assert_int_equal(a % 256, 0);
    OK(cuMemGetInfo_v2(&after, &total));
    assert_true(after <= before - 1000);
    OK(cuMemGetAddressRange_v2(&base, &bytes, a + 999));
    assert_int_equal(base, a);
    assert_int_equal(bytes, 1000);
    FAILS(NOT_FOUND, cuMemGetAddressRange_v2(&base, &bytes, a + 1000));
    FAILS(INVALID_VALUE, cuMemFree_v2(a + 4));
    OK(cuMemFree_v2(a));
    FAILS(INVALID_VALUE, cuMemFree_v2(a));
    OK(cuMemFree_v2(0));
    OK(cuMemAllocPitch_v2(&a, &pitch, 100, 3, 4));
    assert_int_equal(pitch, 512);
    OK(cuMemGetAddressRange_v2(NULL, &bytes, a));
    assert_int_equal(bytes, 1536);
    FAILS(INVALID_VALUE, cuMemAllocPitch_v2(&a, &pitch, 100, 3, 5));
    OK(cuMemFree_v2(a));
}

static void host_memory(void **state) {
    void *host, *same;
    CUdeviceptr device, other;
    unsigned flags, type;
    size_t before, after, total;
    char bytes[8] = "pinned!";
    OK(cuMemGetInfo_v2(&before, &total));
    FAILS(INVALID_VALUE, cuMemHostAlloc(&host, 64, 0x80));
    OK(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before, after);
    memcpy(host, bytes, sizeof bytes);
    OK(cuMemHostGetFlags(&flags, host));
    assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuMemHostGetDevicePointer_v2(&device, host, 0));
    memset(bytes, 0, sizeof bytes);
    OK(cuMemcpyDtoH_v2(bytes, device, sizeof bytes)); /* the device's view */
    assert_string_equal(bytes, "pinned!");
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)host));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    OK(cuPointerGetAttribute(&other, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (uintptr_t)host + 3));
    assert_int_equal(other, device + 3);
    FAILS(INVALID_VALUE, cuMemFree_v2((uintptr_t)host));
    OK(cuMemFreeHost(host));
    FAILS(INVALID_VALUE, cuMemFreeHost(host));
    FAILS(INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, bytes, 0));
    OK(cuMemHostRegister_v2(bytes, sizeof bytes, 0));
    FAILS(HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2(bytes + 1, 2, 0));
    OK(cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)bytes));
    assert_ptr_equal(same, *state);
    OK(cuMemHostUnregister(bytes));
    FAILS(HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(bytes));
}

static void pointer_attributes(void **state) {
    CUdeviceptr a, start = 1;
    CUcontext context = NULL;
    unsigned type = 9;
    int ordinal = 9;
    size_t size = 9;
    OK(cuMemAlloc_v2(&a, 100));
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *data[] = {&context, &type, &ordinal, &start, &size};
    OK(cuPointerGetAttributes(5, which, data, a + 50));
    assert_ptr_equal(context, *state);
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(ordinal, 0);
    assert_int_equal(start, a);
    assert_int_equal(size, 100);
    OK(cuPointerGetAttributes(5, which, data, (uintptr_t)&type)); /* unknown: zeros, no error */
    assert_null(context);
    assert_int_equal(type, 0);
    assert_int_equal(ordinal, -2);
    FAILS(INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type));
    FAILS(INVALID_VALUE, cuPointerGetAttribute(&type, (CUpointer_attribute)99, a));
    OK(cuMemFree_v2(a));
}

static void copies(void **state) {
    (void)state;
    CUdeviceptr a, b;
    unsigned char from[256], to[256];
    for (int i = 0; i < 256; i++)
        from[i] = (unsigned char)i;
    OK(cuMemAlloc_v2(&a, 256));
    OK(cuMemAlloc_v2(&b, 256));
    OK(cuMemcpyHtoD_v2(a, from, 256));
    OK(cuMemcpyDtoD_v2(b + 1, a, 255));
    OK(cuMemcpyDtoH_v2(to, b + 1, 255));
    assert_memory_equal(to, from, 255);
    OK(cuMemcpy(b, (uintptr_t)from, 256));
    memset(to, 0, sizeof to);
    OK(cuMemcpyAsync((uintptr_t)to, b, 256, NULL));
    assert_memory_equal(to, from, 256);
    OK(cuMemcpyHtoD_v2(a, NULL, 0));
    FAILS(INVALID_VALUE, cuMemcpyHtoD_v2(a, from, 257));
    FAILS(INVALID_VALUE, cuMemcpyHtoD_v2(a + 200, from, 100));
    FAILS(INVALID_VALUE, cuMemcpyDtoH_v2(to, (uintptr_t)from, 16)); /* not a device's address */
    FAILS(INVALID_VALUE, cuMemcpy(a, b + 250, 100));
    FAILS(INVALID_VALUE, cuMemcpyDtoD_v2(a, b, SIZE_MAX));
    OK(cuMemFree_v2(b));
    FAILS(INVALID_VALUE, cuMemcpyDtoD_v2(a, b, 4));
    FAILS(INVALID_VALUE, cuMemcpy(a, b, 4));
    OK(cuMemFree_v2(a));
}

static void copies_of_boxes(void **state) {
    (void)state;
    CUdeviceptr a;
    unsigned char from[24], to[24];
    for (int i = 0; i < 24; i++)
        from[i] = (unsigned char)(i + 1);
    OK(cuMemAlloc_v2(&a, 64));
    OK(cuMemsetD8_v2(a, 0xee, 64));
    /* A 2x3 window of 4-byte rows at (1, 1) to device rows of 16 bytes at (2, 1). */
    driver_memcpy2d in = {.srcXInBytes = 1,
                          .srcY = 1,
                          .srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = from,
                          .srcPitch = 4,
                          .dstXInBytes = 2,
                          .dstY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = a,
                          .dstPitch = 16,
                          .WidthInBytes = 2,
                          .Height = 3};
    OK(cuMemcpy2D_v2(&in));
    unsigned char all[64];
    OK(cuMemcpyDtoH_v2(all, a, 64));
    for (int i = 0; i < 64; i++) {
        int y = i / 16 - 1, x = i % 16 - 2;
        bool inside = y >= 0 && y < 3 && x >= 0 && x < 2;
        assert_int_equal(all[i], inside ? from[(y + 1) * 4 + x + 1] : 0xee);
    }
    in.WidthInBytes = 17; /* wider than the rows */
    FAILS(INVALID_VALUE, cuMemcpy2D_v2(&in));
    in.WidthInBytes = 2;
    in.Height = 5; /* past the end */
    FAILS(INVALID_VALUE, cuMemcpy2D_v2(&in));
    in.dstMemoryType = 77;
    FAILS(INVALID_VALUE, cuMemcpy2D_v2(&in));
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    FAILS(NOT_SUPPORTED, cuMemcpy2D_v2(&in));
    /* Two slices of 2x3 out of slices of 3 rows of 4. */
    driver_memcpy3d box = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = (uintptr_t)from,
                           .srcPitch = 4,
                           .srcHeight = 3,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = to,
                           .dstPitch = 3,
                           .dstHeight = 2,
                           .WidthInBytes = 3,
                           .Height = 2,
                           .Depth = 2};
    OK(cuMemcpy3D_v2(&box));
    static const unsigned char expected[] = {1, 2, 3, 5, 6, 7, 13, 14, 15, 17, 18, 19};
    assert_memory_equal(to, expected, sizeof expected);
    OK(cuMemFree_v2(a));
}

static void copies_between_devices(void **state) {
    CUcontext other;
    CUdeviceptr a, b;
    int from = 7, to = 0, can = 1;
    OK(cuMemAlloc_v2(&a, 4));
    OK(cuMemcpyHtoD_v2(a, &from, 4));
    OK(cuCtxCreate_v2(&other, 0, 1));
    OK(cuMemAlloc_v2(&b, 4));
    OK(cuMemcpyPeer(b, other, a, *state, 4));
    OK(cuMemcpyDtoH_v2(&to, b, 4));
    assert_int_equal(to, 7);
    FAILS(INVALID_CONTEXT, cuMemcpyPeer(b, (CUcontext)&to, a, *state, 4));
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 0);
    FAILS(PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(*state, 0));
    OK(cuCtxDestroy_v2(other));
    OK(cuMemFree_v2(a));
}

static void fills(void **state) {
    (void)state;
    CUdeviceptr a;
    uint32_t words[16];
    OK(cuMemAlloc_v2(&a, 64));
    OK(cuMemsetD32_v2(a, 0x01020304, 16));
    OK(cuMemsetD16Async(a + 4, 0xabcd, 2, NULL));
    OK(cuMemsetD8_v2(a + 8, 0x55, 3));
    OK(cuMemsetD2D8_v2(a + 32, 16, 0xff, 2, 2));
    OK(cuMemcpyDtoH_v2(words, a, 64));
    assert_int_equal(words[0], 0x01020304);
    assert_int_equal(words[1], 0xabcdabcd);
    assert_int_equal(words[2], 0x01555555);
    assert_int_equal(words[8], 0x0102ffff);
    assert_int_equal(words[12], 0x0102ffff);
    OK(cuMemsetD32_v2(a, 0, 0));
    FAILS(INVALID_VALUE, cuMemsetD32_v2(a + 2, 0, 1));
    FAILS(INVALID_VALUE, cuMemsetD32_v2(a, 0, 17));
    FAILS(INVALID_VALUE, cuMemsetD32_v2(a, 0, SIZE_MAX / 2));
    FAILS(INVALID_VALUE, cuMemsetD8_v2((uintptr_t)words, 0, 4));
    FAILS(INVALID_VALUE, cuMemsetD2D32_v2(a, 6, 0, 1, 2));
    OK(cuMemFree_v2(a));
}

static void pools(void **state) {
    (void)state;
    CUmemoryPool pool;
    CUdeviceptr a;
    uint64_t used, threshold = 4096;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemAllocAsync(&a, 100, NULL));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 100);
    OK(cuMemsetD8Async(a, 1, 100, NULL));
    FAILS(INVALID_VALUE, cuMemFreeAsync(a + 1, NULL));
    OK(cuMemFreeAsync(a, NULL));
    FAILS(INVALID_VALUE, cuMemFreeAsync(a, NULL));
    FAILS(INVALID_VALUE, cuMemPoolDestroy(pool));
    FAILS(INVALID_VALUE, cuMemPoolTrimTo((CUmemoryPool)&a, 0));
}

/* ---- streams and events
 * ---------------------------------------------------------------------------- */

static void count_call(void *data) {
    ++*(int *)data;
}

static void streams_and_events(void **state) {
    CUstream stream, bad = (CUstream)&stream;
    CUevent start, end, untimed;
    CUcontext context;
    int least, greatest, priority, calls = 0;
    float milliseconds = -1;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -99));
    OK(cuStreamGetPriority(stream, &priority));
    assert_int_equal(priority, greatest);
    OK(cuStreamGetCtx(stream, &context));
    assert_ptr_equal(context, *state);
    FAILS(INVALID_VALUE, cuStreamCreate(&stream, 8));
    FAILS(INVALID_HANDLE, cuStreamSynchronize(bad));
    FAILS(INVALID_HANDLE, cuStreamDestroy_v2(bad));
    FAILS(INVALID_HANDLE, cuStreamDestroy_v2(NULL));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(start));
    FAILS(INVALID_HANDLE, cuEventElapsedTime_v2(&milliseconds, start, end));
    OK(cuEventRecord(start, stream));
    OK(cuLaunchHostFunc(stream, count_call, &calls));
    assert_int_equal(calls, 1);
    OK(cuEventRecord(end, stream));
    OK(cuStreamWaitEvent(NULL, end, 0));
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime_v2(&milliseconds, start, end));
    assert_true(milliseconds >= 0);
    OK(cuEventRecord(untimed, stream));
    FAILS(INVALID_HANDLE, cuEventElapsedTime_v2(&milliseconds, start, untimed));
    FAILS(INVALID_HANDLE, cuEventRecord((CUevent)stream, stream));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    OK(cuEventDestroy_v2(start));
    FAILS(INVALID_HANDLE, cuEventDestroy_v2(start));
    OK(cuStreamDestroy_v2(stream));
    FAILS(INVALID_HANDLE, cuStreamQuery(stream)); /* the rest goes with the context */
}

/* ---- capture and graphs
 * ---------------------------------------------------------------------------- */

static void capture_and_replay(void **state) {
    (void)state;
    CUstream one, two;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    CUdeviceptr a;
    uint32_t words[2] = {0, 0};
    int calls = 0;
    OK(cuMemAlloc_v2(&a, 8));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamIsCapturing(one, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD32Async(a, 5, 2, one));
    OK(cuEventRecord(fork, one));
    FAILS(CAPTURED_EVENT, cuEventQuery(fork));
    OK(cuStreamWaitEvent(two, fork, 0));
    OK(cuMemsetD32Async(a + 4, 6, 1, two));
    OK(cuLaunchHostFunc(one, count_call, &calls));
    OK(cuEventRecord(join, two));
    OK(cuStreamWaitEvent(one, join, 0));
    OK(cuMemcpyDtoHAsync_v2(words, a, 8, one));
    OK(cuStreamEndCapture(one, &graph));
    assert_int_equal(calls, 0);
    assert_int_equal(words[0], 0); /* nothing ran */
    OK(cuStreamIsCapturing(two, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CUgraphNode nodes[8], from[8], to[8];
    CUgraphNodeType type;
    size_t count = 8, edges = 8, roots = 0;
    OK(cuGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 4);
    OK(cuGraphNodeGetType(nodes[3], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMCPY);
    OK(cuGraphGetEdges(graph, from, to, &edges));
    assert_int_equal(edges, 4); /* one fork, one join */
    OK(cuGraphGetRootNodes(graph, NULL, &roots));
    assert_int_equal(roots, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, one));
    assert_int_equal(calls, 3);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[1], 6);
    OK(cuGraphExecDestroy(exec));
    FAILS(INVALID_VALUE, cuGraphLaunch(exec, one));
    OK(cuMemFree_v2(a));
}

/* What captures forbid, and that it invalidates them. */
static void capture_rules(void **state) {
    (void)state;
    CUstream one, two, blocking;
    CUevent event;
    CUgraph graph;
    CUdeviceptr a;
    CUmodule module;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuMemAlloc_v2(&a, 8));
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2(NULL, 0));
    FAILS(ILLEGAL_STATE, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(ILLEGAL_STATE, cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuModuleLoadData(&module, saxpy_ptx));
    OK(cuStreamIsCapturing(one, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    FAILS(STREAM_CAPTURE_INVALIDATED, cuMemsetD8Async(a, 0, 8, one));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));
    assert_null(graph);

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    CUdeviceptr b;
    OK(cuMemAlloc_v2(&b, 8));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    FAILS(STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(one));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FAILS(STREAM_CAPTURE_IMPLICIT, cuMemcpyDtoD_v2(a, b, 8));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));

    OK(cuEventRecord(event, two));
    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(one, event, 0));
    FAILS(STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(one, &graph));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD8Async(a, 0, 8, one));
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(cuMemsetD8Async(a, 0, 8, two));
    FAILS(STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(two, &graph));
    FAILS(STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));
    OK(cuMemsetD8Async(a, 0, 8, one)); /* all is as before */
    OK(cuMemFree_v2(a));

    OK(cuStreamBeginCapture_v2(one, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamDestroy_v2(one)); /* takes its capture along */
    OK(cuMemFree_v2(b));
}

static void graphs_by_hand(void **state) {
    CUgraph graph, clone;
    CUgraphNode first, second, third, found;
    CUgraphExec exec;
    CUdeviceptr a;
    uint32_t word = 0;
    int calls = 0;
    OK(cuMemAlloc_v2(&a, 4));
    OK(cuGraphCreate(&graph, 0));
    driver_memcpy3d out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = a,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = &word,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
    driver_memset_node fill = {.dst = a, .value = 9, .elementSize = 4, .width = 1, .height = 1};
    driver_host_node call = {count_call, &calls};
    OK(cuGraphAddMemcpyNode(&first, graph, NULL, 0, &out, *state));
    OK(cuGraphAddMemsetNode(&second, graph, NULL, 0, &fill, *state));
    OK(cuGraphAddHostNode(&third, graph, &first, 1, &call));
    FAILS(INVALID_VALUE, cuGraphAddEmptyNode(&found, graph, (CUgraphNode *)&graph, 1));
    OK(cuGraphAddDependencies(graph, &second, &first, 1)); /* the copy comes after the fill */
    FAILS(INVALID_VALUE, cuGraphAddDependencies(graph, &second, &first, 1));
    OK(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 9);
    assert_int_equal(calls, 1);
    fill.value = 10;
    OK(cuGraphExecMemsetNodeSetParams(exec, second, &fill, *state));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 10);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&found, third, clone));
    OK(cuGraphDestroyNode(found));
    driver_update_result result;
    FAILS(GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, clone, &result));
    assert_int_equal(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphExecUpdate_v2(exec, graph, &result));
    OK(cuGraphLaunch(exec, NULL));
    assert_int_equal(word, 9);
    OK(cuGraphAddDependencies(graph, &first, &second, 1)); /* a cycle */
    CUgraphExec none;
    FAILS(INVALID_VALUE, cuGraphInstantiate_v2(&none, graph, NULL, NULL, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(graph));
    FAILS(INVALID_VALUE, cuGraphDestroy(graph));
    OK(cuMemFree_v2(a));
}

/* ---- images and modules
 * ----------------------------------------------------------------------------- */

static void put(unsigned char *at, uint64_t value, size_t bytes) {
    memcpy(at, &value, bytes);
}

/* A fat binary of one entry around `payload`. */
static unsigned char *fatbin(const void *payload, size_t bytes, int kind, int sm, uint64_t flags,
                             size_t expanded) {
    unsigned char *image = calloc(1, 16 + 64 + bytes);
    assert_non_null(image);
    put(image, 0xba55ed50u, 4);
    put(image + 4, 1, 2);
    put(image + 6, 16, 2);
    put(image + 8, 64 + bytes, 8);
    put(image + 16, (uint64_t)kind, 2);
    put(image + 20, 64, 4);
    put(image + 24, bytes, 8);
    put(image + 32, bytes, 4);
    put(image + 44, (uint64_t)sm, 4);
    put(image + 56, flags, 8);
    put(image + 72, expanded, 8);
    memcpy(image + 80, payload, bytes);
    return image;
}

static void refused(CUresult expected, const void *image, const char *part_of_log) {
    char log[256] = "untouched";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)3};
    CUmodule module = (CUmodule)log;
    assert_int_equal(cuModuleLoadDataEx(&module, image, 3, options, values), expected);
    if (strstr(log, part_of_log) == NULL) fail_msg("'%s' lacks '%s'", log, part_of_log);
    assert_int_equal((uintptr_t)values[1], strlen(log) + 1);
}

static void images(void **state) {
    (void)state;
    CUmodule module;
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, "\177ELF\2\1\1\0", "cubin");
    refused(CUDA_ERROR_INVALID_IMAGE, "\1\2\3", "neither");
    refused(CUDA_ERROR_INVALID_IMAGE, "", "neither");
    refused(CUDA_ERROR_INVALID_PTX,
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n  foo.bar;\n}\n",
            "line 5");
    refused(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ".version 99.0\n.target sm_80\n.address_size 64\n",
            "");
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, ".version 8.6\n.target sm_100\n.address_size 64\n", "");
    unsigned char *image = fatbin("\177ELF", 4, 2, 90, 0, 0);
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "no PTX");
    free(image);
    image = fatbin(saxpy_ptx, sizeof saxpy_ptx, 1, 120, 0, 0);
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "newer");
    free(image);
    image = fatbin("\xf0\xff\xff", 3, 1, 80, 0x2000, 100); /* LZ4 that ends too early */
    refused(CUDA_ERROR_NO_BINARY_FOR_GPU, image, "decompressed");
    free(image);
    FAILS(INVALID_VALUE, cuModuleLoadData(&module, NULL));
    FAILS(FILE_NOT_FOUND, cuModuleLoad(&module, "/nonexistent/file.ptx"));
    CUjit_option unknown = (CUjit_option)4000;
    void *value = NULL;
    FAILS(INVALID_VALUE, cuModuleLoadDataEx(&module, saxpy_ptx, 1, &unknown, &value));
}

/* LZ4 with literals only, and a match that copies its own output. */
static void compressed_images(void **state) {
    (void)state;
    CUmodule module;
    size_t length = sizeof saxpy_ptx - 1;
    unsigned char *packed = malloc(length + length / 255 + 16), *at = packed;
    assert_non_null(packed);
    *at++ = 0x1f; /* one literal and a long match of blanks, which PTX may start with */
    *at++ = ' ';
    *at++ = 1;
    *at++ = 0;
    *at++ = 100 - 4 - 15;
    *at++ = 0xf0;
    size_t left = length - 15;
    for (; left >= 255; left -= 255)
        *at++ = 255;
    *at++ = (unsigned char)left;
    memcpy(at, saxpy_ptx, length);
    at += length;
    unsigned char *image = fatbin(packed, (size_t)(at - packed), 1, 80, 0x2000, 1 + 100 + length);
    OK(cuModuleLoadFatBinary(&module, image));
    OK(cuModuleUnload(module));
    const void *wrapper[3] = {NULL, image, NULL};
    put((unsigned char *)wrapper, 0x466243b1u, 4);
    OK(cuModuleLoadData(&module, wrapper));
    OK(cuModuleUnload(module));
    free(image);
    free(packed);
}

static void modules(void **state) {
    (void)state;
    CUmodule module, of;
    CUfunction function, none;
    CUdeviceptr table;
    size_t bytes, offset;
    const char *name;
    unsigned count;
    OK(cuModuleLoadData(&module, saxpy_ptx));
    OK(cuModuleGetFunction(&function, module, "saxpy"));
    FAILS(NOT_FOUND, cuModuleGetFunction(&none, module, "daxpy"));
    FAILS(INVALID_HANDLE, cuModuleGetFunction(&none, (CUmodule)function, "saxpy"));
    OK(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 1);
    OK(cuFuncGetName(&name, function));
    assert_string_equal(name, "saxpy");
    OK(cuFuncGetModule(&of, function));
    assert_ptr_equal(of, module);
    OK(cuFuncGetParamInfo(function, 2, &offset, &bytes));
    assert_int_equal(offset, 16);
    assert_int_equal(bytes, 4);
    FAILS(INVALID_VALUE, cuFuncGetParamInfo(function, 4, &offset, &bytes));
    OK(cuModuleGetGlobal_v2(&table, &bytes, module, "table"));
    assert_int_equal(bytes, 16);
    OK(cuMemsetD8_v2(table, 1, 16));
    FAILS(INVALID_VALUE, cuMemsetD8_v2(table, 1, 17));
    FAILS(NOT_FOUND, cuModuleGetGlobal_v2(&table, &bytes, module, "chair"));
    int value;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    assert_int_equal(value, 1024);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
    assert_int_equal(value, 90);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(value, 49152);
    FAILS(INVALID_VALUE,
          cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
    assert_int_equal(value, 232448);
    FAILS(INVALID_VALUE, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8));
    OK(cuModuleUnload(module));
    FAILS(INVALID_HANDLE, cuModuleUnload(module));
    FAILS(INVALID_HANDLE, cuFuncGetName(&name, function));
}

static void libraries(void **state) {
    (void)state;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    const char *name;
    OK(cuLibraryLoadData(&library, saxpy_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "saxpy"));
    FAILS(NOT_FOUND, cuLibraryGetKernel(&kernel, library, "daxpy"));
    OK(cuKernelGetName(&name, kernel));
    assert_string_equal(name, "saxpy");
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLibraryGetModule(&module, library));
    FAILS(NOT_PERMITTED, cuModuleUnload(module));
    OK(cuLibraryUnload(library));
    FAILS(INVALID_HANDLE, cuKernelGetFunction(&function, kernel));
}

/* ---- launches
 * --------------------------------------------------------------------------------------- */

typedef struct saxpy {
    CUmodule module;
    CUfunction function;
    CUdeviceptr x, y;
    float a;
    uint32_t n;
    void *arguments[4];
} saxpy;

static void saxpy_open(saxpy *s, uint32_t n) {
    float *values = malloc(n * sizeof *values);
    assert_non_null(values);
    OK(cuModuleLoadData(&s->module, saxpy_ptx));
    OK(cuModuleGetFunction(&s->function, s->module, "saxpy"));
    OK(cuMemAlloc_v2(&s->x, n * sizeof *values));
    OK(cuMemAlloc_v2(&s->y, n * sizeof *values));
    for (uint32_t i = 0; i < n; i++)
        values[i] = (float)i;
    OK(cuMemcpyHtoD_v2(s->x, values, n * sizeof *values));
    OK(cuMemsetD32_v2(s->y, 0x3f800000, n)); /* ones */
    s->a = 2;
    s->n = n;
    s->arguments[0] = &s->x;
    s->arguments[1] = &s->y;
    s->arguments[2] = &s->a;
    s->arguments[3] = &s->n;
    free(values);
}

static CUresult saxpy_launch(saxpy *s, CUstream stream) {
    return cuLaunchKernel(s->function, (s->n + 127) / 128, 1, 1, 128, 1, 1, 0, stream, s->arguments,
                          NULL);
}

/* After `times` launches y is 1 + times * 2 * i. */
static void saxpy_check(saxpy *s, int times) {
    float *values = malloc(s->n * sizeof *values);
    assert_non_null(values);
    OK(cuMemcpyDtoH_v2(values, s->y, s->n * sizeof *values));
    for (uint32_t i = 0; i < s->n; i++)
        assert_true(values[i] == 1 + (float)times * 2 * (float)i);
    free(values);
}

static void saxpy_close(saxpy *s) {
    OK(cuMemFree_v2(s->x));
    OK(cuMemFree_v2(s->y));
    OK(cuModuleUnload(s->module));
}

static void launches(void **state) {
    (void)state;
    saxpy s;
    saxpy_open(&s, 1000);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    struct {
        CUdeviceptr x, y;
        float a;
        uint32_t n;
    } block = {s.x, s.y, s.a, s.n};
    size_t bytes = sizeof block;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(s.function, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    saxpy_check(&s, 2);
    driver_launch_attribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY};
    driver_launch_config config = {8, 1, 1, 128, 1, 1, 0, NULL, &priority, 1};
    OK(cuLaunchKernelEx(&config, s.function, s.arguments, NULL));
    saxpy_check(&s, 3);
    OK(cuLaunchCooperativeKernel(s.function, 8, 1, 1, 128, 1, 1, 0, NULL, s.arguments));
    saxpy_check(&s, 4);
    FAILS(COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel(s.function, 1000, 1, 1, 1024, 1, 1, 0, NULL, s.arguments));
    saxpy_close(&s);
}

static void bad_launches(void **state) {
    (void)state;
    saxpy s;
    CUcontext other;
    saxpy_open(&s, 1000);
    void **arguments = s.arguments, *extra[] = {CU_LAUNCH_PARAM_END};
    CUfunction f = s.function;
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, extra));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 65536, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 128, 0, NULL, arguments, NULL));
    FAILS(INVALID_HANDLE,
          cuLaunchKernel((CUfunction)&s, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    FAILS(INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    /* More than 48 KiB of shared memory has to be asked for. */
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65536, NULL, arguments, NULL));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    OK(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65536, NULL, arguments, NULL));
    FAILS(INVALID_VALUE, cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 65540, NULL, arguments, NULL));
    saxpy_check(&s, 1); /* only one of them ran */
    OK(cuCtxCreate_v2(&other, 0, 1));
    FAILS(INVALID_HANDLE, saxpy_launch(&s, NULL)); /* a function of another context */
    OK(cuCtxDestroy_v2(other));
    saxpy_close(&s);
}

static void captured_launches(void **state) {
    (void)state;
    saxpy s;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    size_t one = 1;
    saxpy_open(&s, 300);
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(saxpy_launch(&s, stream));
    OK(cuStreamEndCapture(stream, &graph));
    saxpy_check(&s, 0);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    float kept = s.a;
    s.a = 99; /* parameters were copied when they were captured */
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    saxpy_check(&s, 2);
    driver_kernel_node params;
    OK(cuGraphGetNodes(graph, &node, &one));
    OK(cuGraphKernelNodeGetParams_v2(node, &params));
    assert_ptr_equal(params.func, s.function);
    assert_int_equal(params.gridDimX, 3);
    assert_true(*(float *)params.kernelParams[2] == kept);
    s.a = 0; /* now changed on purpose */
    params.kernelParams = s.arguments;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    OK(cuGraphLaunch(exec, stream));
    saxpy_check(&s, 2);
    saxpy_close(&s);
    FAILS(INVALID_HANDLE, cuGraphLaunch(exec, stream)); /* its function went with the module */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static void occupancy(void **state) {
    (void)state;
    saxpy s;
    int blocks, grid, block;
    saxpy_open(&s, 100);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s.function, 1024, 0));
    assert_int_equal(blocks, 2);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, s.function, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 2 * 7);
    FAILS(INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s.function, 0, 0));
    saxpy_close(&s);
}

/* ---- faults
 * ------------------------------------------------------------------------------------------ */

static void faults_poison_the_context(void **state) {
    (void)state;
    CUcontext context, fresh;
    saxpy s;
    CUdeviceptr pointer;
    CUstream stream;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuStreamCreate(&stream, 0));
    saxpy_open(&s, 100);
    uint32_t honest = s.n;
    s.n = 101; /* one past the end */
    FAILS(ILLEGAL_ADDRESS, saxpy_launch(&s, stream));
    s.n = honest;
    FAILS(ILLEGAL_ADDRESS, saxpy_launch(&s, stream));
    FAILS(ILLEGAL_ADDRESS, cuCtxSynchronize());
    FAILS(ILLEGAL_ADDRESS, cuMemAlloc_v2(&pointer, 4));
    FAILS(ILLEGAL_ADDRESS, cuMemFree_v2(s.x));
    FAILS(ILLEGAL_ADDRESS, cuStreamQuery(stream));
    char *text = kcsim_fault_text(0);
    assert_non_null(text);
    assert_non_null(strstr(text, "saxpy"));
    free(text);
    char *json = kcsim_report_json(0);
    assert_non_null(json);
    assert_non_null(strstr(json, "out_of_bounds"));
    free(json);
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
    json = kcsim_report_json(0);
    assert_non_null(json);
    assert_null(strstr(json, "out_of_bounds"));
    free(json);
    OK(cuCtxCreate_v2(&fresh, 0, 0)); /* the device goes on */
    saxpy_open(&s, 100);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    saxpy_close(&s);
    OK(cuCtxDestroy_v2(fresh));
}

static void misaligned_addresses(void **state) {
    (void)state;
    CUcontext context;
    saxpy s;
    OK(cuCtxCreate_v2(&context, 0, 0));
    saxpy_open(&s, 100);
    s.x += 2;
    s.n = 50;
    FAILS(MISALIGNED_ADDRESS, saxpy_launch(&s, NULL));
    FAILS(MISALIGNED_ADDRESS, cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
}

/* Hardware would not notice a value that nobody wrote: the launch fails, the context lives. */
static void other_findings_do_not_poison(void **state) {
    (void)state;
    static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry branch(.param .u64 p)\n{\n"
                              "  .reg .pred %p<2>;\n  .reg .b32 %r<2>;\n  .reg .b64 %rd<2>;\n"
                              "  ld.param.u64 %rd1, [p];\n"
                              "  ld.global.u32 %r1, [%rd1];\n"
                              "  setp.eq.u32 %p1, %r1, 0;\n"
                              "  @%p1 bra OUT;\n"
                              "  st.global.u32 [%rd1], 1;\n"
                              "OUT:\n  ret;\n}\n";
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "branch"));
    OK(cuMemAlloc_v2(&p, 4));
    void *arguments[] = {&p};
    FAILS(LAUNCH_FAILED, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemsetD32_v2(p, 0, 1));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuCtxDestroy_v2(context));
    kcsim_report_reset(0);
}

/* ---- the rest
 * --------------------------------------------------------------------------------------- */

static bool file_has(const char *path, const char *text) {
    char line[4096];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, text) != NULL;
    if (file != NULL) fclose(file);
    return found;
}

static void missing_calls_say_so(void **state) {
    (void)state;
    FAILS(NOT_SUPPORTED, cuMemAllocManaged());
    FAILS(NOT_SUPPORTED, cuTexObjectCreate());
    FAILS(NOT_SUPPORTED, cuGetExportTable(NULL, NULL));
    assert_true(file_has(log_path, "cuMemAllocManaged is not supported"));
    assert_true(file_has(log_path, "cuTexObjectCreate is not supported"));
    assert_false(file_has(log_path, "cuArrayCreate"));
}

static void entry_points(void **state) {
    (void)state;
    void *pointer;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress_v2("cuMemAlloc", &pointer, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    assert_true(pointer == (void *)(uintptr_t)cuMemAlloc_v2);
    OK(cuGetProcAddress_v2("cuMemAlloc", &pointer, 3000, 0, &status));
    assert_true(pointer == (void *)(uintptr_t)cuMemAlloc);
    OK(cuGetProcAddress_v2("cuLaunchKernel", &pointer, 13000,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    assert_true(pointer == (void *)(uintptr_t)cuLaunchKernel_ptsz);
    OK(cuGetProcAddress_v2("cuLaunchKernelEx", &pointer, 9000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_null(pointer);
    OK(cuGetProcAddress_v2("cuMakeCoffee", &pointer, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    FAILS(NOT_FOUND, cuGetProcAddress("cuMakeCoffee", &pointer, 13000, 0));
}

static void reports(void **state) {
    (void)state;
    CUcontext context;
    saxpy s;
    OK(cuCtxCreate_v2(&context, 0, 0));
    saxpy_open(&s, 10);
    assert_int_equal(kcsim_set_seed(42), 0);
    OK(saxpy_launch(&s, NULL));
    saxpy_check(&s, 1);
    OK(cuCtxSynchronize());
    assert_true(file_has(report_path, "\"kernels\""));
    assert_true(file_has(report_path, "saxpy"));
    OK(cuCtxDestroy_v2(context));
}

/* As with the real driver: nothing works in the child, and nothing hangs. */
static void fork_children(void **state) {
    (void)state;
    CUcontext context;
    OK(cuCtxCreate_v2(&context, 0, 0));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int count;
        CUdeviceptr pointer;
        bool right = cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                     cuMemAlloc_v2(&pointer, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                     cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && kcsim_report_json(0) == NULL;
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cuCtxSynchronize());
    OK(cuCtxDestroy_v2(context));
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, with_context, without_context)

int main(void) {
    snprintf(log_path, sizeof log_path, "/tmp/kcsim-test-%ld.log", (long)getpid());
    snprintf(report_path, sizeof report_path, "/tmp/kcsim-test-%ld.json", (long)getpid());
    setenv("KCSIM_LOG", log_path, 1);
    setenv("KCSIM_REPORT", report_path, 1);
    setenv("KCSIM_CUDA_DEVICES", "sm_90,sm_80", 1);
    setenv("KCSIM_MEMORY", "256M", 1);
    setenv("KCSIM_MULTIPROCESSORS", "7", 1);
    unsetenv("KCSIM_CHECKS");
    unsetenv("KCSIM_ON_FINDING");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_init), /* first */
        cmocka_unit_test(errors_have_names),
        cmocka_unit_test(devices),
        cmocka_unit_test(devices_are_added),
        cmocka_unit_test(contexts),
        cmocka_unit_test(primary_contexts),
        IN_CONTEXT(limits),
        IN_CONTEXT(allocations),
        IN_CONTEXT(host_memory),
        IN_CONTEXT(pointer_attributes),
        IN_CONTEXT(copies),
        IN_CONTEXT(copies_of_boxes),
        IN_CONTEXT(copies_between_devices),
        IN_CONTEXT(fills),
        IN_CONTEXT(pools),
        IN_CONTEXT(streams_and_events),
        IN_CONTEXT(capture_and_replay),
        IN_CONTEXT(capture_rules),
        IN_CONTEXT(graphs_by_hand),
        IN_CONTEXT(images),
        IN_CONTEXT(compressed_images),
        IN_CONTEXT(modules),
        IN_CONTEXT(libraries),
        IN_CONTEXT(launches),
        IN_CONTEXT(bad_launches),
        IN_CONTEXT(captured_launches),
        IN_CONTEXT(occupancy),
        cmocka_unit_test(faults_poison_the_context),
        cmocka_unit_test(misaligned_addresses),
        cmocka_unit_test(other_findings_do_not_poison),
        cmocka_unit_test(missing_calls_say_so),
        cmocka_unit_test(entry_points),
        cmocka_unit_test(reports),
        cmocka_unit_test(fork_children),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(log_path);
    unlink(report_path);
    unsetenv("KCSIM_REPORT");
    return failed;
}
