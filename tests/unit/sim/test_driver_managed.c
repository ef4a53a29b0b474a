/* Memory that the host and the device both use: pinned, managed, registered. */
#include "tests/unit/sim/driver_fixture.h"

#include <pthread.h>
#include <signal.h>

#define N 1000u

/* saxpy with the given addresses. */
static CUresult launch(CUdeviceptr x, CUdeviceptr y, float a) {
    CUmodule module;
    CUfunction function;
    uint32_t n = N;
    void *arguments[] = {&x, &y, &a, &n};
    OK(cuModuleLoadData(&module, saxpy_ptx));
    OK(cuModuleGetFunction(&function, module, "saxpy"));
    CUresult result =
        cuLaunchKernel(function, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL);
    OK(cuModuleUnload(module));
    return result;
}

static void fill(float *x, float *y) {
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
}

static void check(const float *y) {
    for (uint32_t i = 0; i < N; i++)
        assert_true(y[i] == 1 + 3 * (float)i);
}

static void managed_memory_has_one_address(void **state) {
    (void)state;
    CUdeviceptr x, y;
    int value;
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    assert_int_equal(value, 1);
    FAILS(INVALID_VALUE, cuMemAllocManaged(&x, 0, CU_MEM_ATTACH_GLOBAL));
    FAILS(INVALID_VALUE, cuMemAllocManaged(&x, 64, 0));
    FAILS(INVALID_VALUE, cuMemAllocManaged(NULL, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocManaged(&x, N * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocManaged(&y, N * sizeof(float), CU_MEM_ATTACH_HOST));
    fill((float *)(uintptr_t)x, (float *)(uintptr_t)y);
    OK(launch(x, y, 3));
    check((float *)(uintptr_t)y);
    unsigned type;
    unsigned char managed = 9;
    void *host;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, y));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, y + 4));
    assert_int_equal(managed, 1);
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, y + 4));
    assert_int_equal((uintptr_t)host, y + 4);
    OK(cuMemsetD32_v2(y, 7, N));
    assert_int_equal(((uint32_t *)(uintptr_t)y)[N - 1], 7);
    OK(cuMemFree_v2(x));
    OK(cuMemFree_v2(y));
    FAILS(INVALID_VALUE, cuMemFree_v2(y));
}

/* The machine's rules hold for it as for any memory. */
static void managed_memory_has_bounds(void **state) {
    (void)state;
    CUdeviceptr x, y;
    OK(cuMemAllocManaged(&x, 16 * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocManaged(&y, N * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    FAILS(ILLEGAL_ADDRESS, launch(x, y, 3));
    FAILS(ILLEGAL_ADDRESS, cuMemFree_v2(x)); /* sticky; the memory goes with the context */
}

static void managed_variables(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".global .attribute(.managed) .align 4 .u32 counter = 5;\n"
        ".visible .global .align 4 .u32 plain = 5;\n"
        ".visible .entry k()\n{\n.reg .b32 %r;\nld.global.u32 %r, [counter];\n"
        "add.u32 %r, %r, 1;\nst.global.u32 [counter], %r;\nret;\n}\n";
    CUlibrary library;
    CUmodule module;
    CUfunction function;
    CUdeviceptr address, same;
    CUcontext primary;
    size_t bytes;
    unsigned char managed;
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxPushCurrent_v2(primary));
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetManaged(&same, &bytes, library, "counter"));
    assert_int_equal(bytes, 4);
    FAILS(NOT_FOUND, cuLibraryGetManaged(&same, &bytes, library, "plain"));
    OK(cuLibraryGetModule(&module, library));
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "counter"));
    assert_int_equal(address, same);
    volatile uint32_t *counter = (volatile uint32_t *)(uintptr_t)address;
    assert_int_equal(*counter, 5);
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    assert_int_equal(managed, 1);
    *counter = 40;
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    assert_int_equal(*counter, 41);
    OK(cuLibraryUnload(library));
    OK(cuCtxPopCurrent_v2(&primary));
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

static void managed_memory_takes_advice(void **state) {
    (void)state;
    CUdeviceptr m, plain;
    int one = 9, list[3];
    driver_location host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    driver_location card = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    OK(cuMemAllocManaged(&m, 8192, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc_v2(&plain, 8192));
    FAILS(INVALID_VALUE, cuMemAdvise(plain, 8192, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    FAILS(INVALID_VALUE, cuMemAdvise(m, 8193, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    FAILS(INVALID_VALUE, cuMemAdvise(m, 8192, (CUmem_advise)77, 0));
    FAILS(INVALID_DEVICE, cuMemAdvise(m, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 50));
    OK(cuMemRangeGetAttribute(&one, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, 8192));
    assert_int_equal(one, -2);
    OK(cuMemAdvise(m, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    OK(cuMemAdvise(m, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    OK(cuMemAdvise_v2(m, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, card));
    OK(cuMemAdvise_v2(m, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cuMemRangeGetAttribute(&one, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m, 8192));
    assert_int_equal(one, CU_DEVICE_CPU);
    OK(cuMemRangeGetAttribute(&one, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 8192));
    assert_int_equal(one, 1);
    OK(cuMemRangeGetAttribute(list, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, m, 8192));
    assert_int_equal(list[0], CU_DEVICE_CPU);
    assert_int_equal(list[1], 1);
    assert_int_equal(list[2], -2);
    OK(cuMemPrefetchAsync(m, 8192, 0, NULL));
    OK(cuMemRangeGetAttribute(&one, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, m, 8192));
    assert_int_equal(one, 0);
    OK(cuMemPrefetchAsync_v2(m, 8192, host, 0, NULL));
    OK(cuMemRangeGetAttribute(&one, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, m, 64));
    assert_int_equal(one, CU_MEM_LOCATION_TYPE_HOST);
    FAILS(INVALID_VALUE, cuMemPrefetchAsync(plain, 8192, 0, NULL));
    FAILS(INVALID_VALUE, cuMemRangeGetAttribute(&one, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 1));
    CUstream stream;
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamAttachMemAsync(stream, m, 0, CU_MEM_ATTACH_SINGLE));
    FAILS(INVALID_VALUE, cuStreamAttachMemAsync(NULL, m, 0, CU_MEM_ATTACH_SINGLE));
    FAILS(INVALID_VALUE, cuStreamAttachMemAsync(stream, plain, 0, CU_MEM_ATTACH_GLOBAL));
}

static void pinned_memory_has_one_address(void **state) {
    (void)state;
    float *x, *y;
    OK(cuMemHostAlloc((void **)&x, N * sizeof *x, 0));
    OK(cuMemAllocHost_v2((void **)&y, N * sizeof *y));
    fill(x, y);
    OK(launch((uintptr_t)x, (uintptr_t)y, 3));
    check(y);
    OK(cuMemFreeHost(x));
    OK(cuMemFreeHost(y));
}

/* None of the card's: more of it than the card has. */
static void host_memory_is_not_the_cards(void **state) {
    (void)state;
    size_t free_bytes, total;
    CUdeviceptr large, managed;
    OK(cuMemGetInfo_v2(&free_bytes, &total));
    FAILS(OUT_OF_MEMORY, cuMemAlloc_v2(&large, total + 1));
    OK(cuMemAllocManaged(&managed, 2 * total, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAlloc_v2(&large, total / 2));
    OK(cuMemFree_v2(managed));
    OK(cuMemFree_v2(large));
}

static void registered_memory_is_mirrored(void **state) {
    (void)state;
    static float x[N], y[N];
    CUdeviceptr dx, dy;
    FAILS(INVALID_VALUE, cuMemHostRegister_v2(x, sizeof x, 0x80));
    OK(cuMemHostRegister_v2(x, sizeof x, 0));
    OK(cuMemHostRegister_v2(y, sizeof y, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&dx, x, 0));
    OK(cuMemHostGetDevicePointer_v2(&dy, y, 0));
    fill(x, y);
    OK(launch(dx, dy, 3));
    check(y);
    y[5] = 50;
    float back = 0;
    OK(cuMemcpyDtoH_v2(&back, dy + 20, 4)); /* through the device's address */
    assert_true(back == 50);
    OK(cuMemsetD32_v2(dx, 0x40000000, 1));
    assert_true(x[0] == 2 && x[1] == 1);
    OK(cuMemcpyHtoD_v2(dx + 4, &back, 4));
    assert_true(x[1] == 50);
    OK(cuMemHostUnregister(x));
    FAILS(ILLEGAL_ADDRESS, launch(dx, dy, 3)); /* its mirror went with it */
}

/* A device pointer that the host follows is no memory of the host's. */
static void device_memory_is_not_the_hosts(void **state) {
    (void)state;
    CUdeviceptr a;
    OK(cuMemAlloc_v2(&a, 4096));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        _exit(*(volatile char *)(uintptr_t)a & 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cuMemFree_v2(a));
}

/* ---- values that streams write and wait for --------------------------------------------------- */

static void *write_later(void *context) {
    usleep(20000);
    *(volatile uint32_t *)context = 5;
    return NULL;
}

static void streams_write_and_wait(void **state) {
    (void)state;
    CUdeviceptr a, m;
    CUstream stream;
    uint64_t value = 0;
    pthread_t other;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&a, 16));
    OK(cuMemAllocManaged(&m, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamWriteValue32_v2(stream, a, 7, 0));
    OK(cuStreamWriteValue64_v2(stream, a + 8, (uint64_t)1 << 40, 0));
    OK(cuMemcpyDtoH_v2(&value, a, 4));
    assert_int_equal(value, 7);
    OK(cuStreamWaitValue32_v2(stream, a, 7, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWaitValue32_v2(stream, a, 0xfffffff0, CU_STREAM_WAIT_VALUE_GEQ)); /* cyclic */
    OK(cuStreamWaitValue32_v2(stream, a, 3, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWaitValue64_v2(stream, a + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWaitValue64_v2(stream, a + 8, 0, CU_STREAM_WAIT_VALUE_NOR));
    FAILS(INVALID_VALUE, cuStreamWaitValue32_v2(stream, a + 2, 0, 0));
    FAILS(INVALID_VALUE, cuStreamWaitValue32_v2(stream, a, 0, 9));
    FAILS(INVALID_VALUE, cuStreamWriteValue32_v2(stream, a + 16, 0, 0));
    FAILS(NOT_SUPPORTED, cuStreamWaitValue32_v2(stream, a, 8, CU_STREAM_WAIT_VALUE_EQ));
    assert_true(file_has(log_path, "a stream waits for a value that nobody writes"));
    *(volatile uint32_t *)(uintptr_t)m = 0;
    assert_int_equal(pthread_create(&other, NULL, write_later, (void *)(uintptr_t)m), 0);
    OK(cuStreamWaitValue32_v2(stream, m, 5, CU_STREAM_WAIT_VALUE_EQ));
    assert_int_equal(pthread_join(other, NULL), 0);
    driver_memory_op ops[3] = {
        {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = m + 4, .value64 = 9},
        {.operation = CU_STREAM_MEM_OP_BARRIER},
        {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, .address = m + 4, .value64 = 9}};
    OK(cuStreamBatchMemOp_v2(stream, 3, ops, 0));
    assert_int_equal(*(uint32_t *)(uintptr_t)(m + 4), 9);
    ops[1].operation = 77;
    FAILS(INVALID_VALUE, cuStreamBatchMemOp_v2(stream, 3, ops, 0));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(managed_memory_has_one_address),
        IN_CONTEXT(managed_memory_has_bounds),
        IN_CONTEXT(managed_variables),
        IN_CONTEXT(managed_memory_takes_advice),
        IN_CONTEXT(pinned_memory_has_one_address),
        IN_CONTEXT(host_memory_is_not_the_cards),
        IN_CONTEXT(registered_memory_is_mirrored),
        IN_CONTEXT(device_memory_is_not_the_hosts),
        IN_CONTEXT(streams_write_and_wait),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
