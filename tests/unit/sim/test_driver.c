/* The simulated driver as a program meets it: devices, contexts, memory, copies, streams, events,
 * entry points, fork. */
#include "tests/unit/sim/driver_fixture.h"
#include "runtime/sim/cuda/driver_unsupported.h"

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

/* ---- contexts -------------------------------------------------------------------------------- */

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

/* ---- memory ---------------------------------------------------------------------------------- */

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
    assert_int_equal(device, (uintptr_t)host); /* one address for both */
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

/* ---- streams and events ---------------------------------------------------------------------- */

static void call_back(void *results) {
    CUresult *inside = results;
    CUdeviceptr address = 0;
    CUcontext context;
    inside[0] = cuMemAlloc_v2(&address, 4);
    inside[1] = cuCtxGetCurrent(&context);
    inside[2] = cuCtxSynchronize();
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
    CUresult inside[3] = {CUDA_SUCCESS};
    OK(cuLaunchHostFunc(stream, call_back, inside));
    for (int i = 0; i < 3; i++) assert_int_equal(inside[i], CUDA_ERROR_NOT_PERMITTED);
    OK(cuStreamQuery(stream));
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

/* ---- the rest -------------------------------------------------------------------------------- */

static void missing_calls_say_so(void **state) {
    (void)state;
    FAILS(NOT_SUPPORTED, cuIpcGetMemHandle());
    FAILS(NOT_SUPPORTED, cuTexObjectCreate());
    const void *table = &table;
    driver_uuid id = {{0x6b, (char)0xd5, (char)0xfb, 0x6c, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    FAILS(INVALID_VALUE, cuGetExportTable(&table, NULL));
    FAILS(NOT_SUPPORTED, cuGetExportTable(&table, &id));
    assert_null(table);
    assert_true(file_has(log_path, "6bd5fb6c-0506-0708-090a-0b0c0d0e0f10 is not supported"));
    assert_true(file_has(log_path, "cuIpcGetMemHandle is not supported"));
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

int main(void) {
    set_environment();
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
        cmocka_unit_test(missing_calls_say_so),
        cmocka_unit_test(entry_points),
        cmocka_unit_test(fork_children),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
