/* Virtual memory management: reserved addresses, memory without them, and what maps one to the other. */
#include "tests/unit/sim/driver_fixture.h"

#define MIB ((size_t)1 << 20)

static const driver_generic_properties on_first = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const driver_access both_ways = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                        CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUmemGenericAllocationHandle create(size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemCreate(&handle, bytes, &on_first, 0));
    return handle;
}

static void arguments_are_checked(void **state) {
    (void)state;
    CUmemGenericAllocationHandle handle;
    driver_generic_properties wrong = on_first;
    size_t granularity;
    CUdeviceptr range;
    OK(cuMemGetAllocationGranularity(&granularity, &on_first, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_int_equal(granularity, 2 * MIB);
    FAILS(INVALID_VALUE, cuMemCreate(&handle, MIB, &on_first, 0));
    FAILS(OUT_OF_MEMORY, cuMemCreate(&handle, 512 * MIB, &on_first, 0)); /* of 256 */
    wrong.location.id = 40;
    FAILS(INVALID_DEVICE, cuMemCreate(&handle, 2 * MIB, &wrong, 0));
    wrong = on_first;
    wrong.requestedHandleTypes = 1;
    FAILS(NOT_SUPPORTED, cuMemCreate(&handle, 2 * MIB, &wrong, 0));
    FAILS(INVALID_VALUE, cuMemAddressReserve(&range, MIB, 0, 0, 0));
    FAILS(INVALID_VALUE, cuMemRelease(1234));
    OK(cuMemAddressReserve(&range, 4 * MIB, 8 * MIB, 0, 0));
    assert_int_equal(range % (8 * MIB), 0);
    handle = create(2 * MIB);
    FAILS(INVALID_VALUE, cuMemMap(range, 4 * MIB, 0, handle, 0)); /* another size */
    FAILS(INVALID_VALUE, cuMemMap(range + 4 * MIB, 2 * MIB, 0, handle, 0)); /* not reserved */
    FAILS(INVALID_VALUE, cuMemSetAccess(range, 2 * MIB, &both_ways, 1)); /* not mapped */
    OK(cuMemMap(range, 2 * MIB, 0, handle, 0));
    FAILS(INVALID_VALUE, cuMemMap(range, 2 * MIB, 0, handle, 0)); /* taken */
    FAILS(INVALID_VALUE, cuMemAddressFree(range, 4 * MIB));
    FAILS(INVALID_VALUE, cuMemUnmap(range, 4 * MIB));
    FAILS(INVALID_VALUE, cuMemFree_v2(range));
    OK(cuMemUnmap(range, 2 * MIB));
    OK(cuMemRelease(handle));
    FAILS(INVALID_VALUE, cuMemRelease(handle));
    FAILS(INVALID_VALUE, cuMemAddressFree(range, 2 * MIB));
    OK(cuMemAddressFree(range, 4 * MIB));
    FAILS(INVALID_VALUE, cuMemAddressFree(range, 4 * MIB));
}

/* As an allocator that grows uses it: pieces that adjoin are one array. */
static void pieces_adjoin(void **state) {
    (void)state;
    CUdeviceptr range, base;
    size_t before, after, total, bytes;
    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuMemAddressReserve(&range, 64 * MIB, 0, 0, 0));
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before, after); /* addresses cost nothing */
    for (size_t i = 0; i < 3; i++) {
        size_t at = (i == 1 ? 2 : i == 2 ? 1 : 0) * 2 * MIB; /* first, third, second */
        CUmemGenericAllocationHandle handle = create(2 * MIB);
        OK(cuMemMap(range + at, 2 * MIB, 0, handle, 0));
        OK(cuMemRelease(handle)); /* the mapping holds it */
        OK(cuMemSetAccess(range + at, 2 * MIB, &both_ways, 1));
    }
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before - after, 6 * MIB);
    OK(cuMemGetAddressRange_v2(&base, &bytes, range + 3 * MIB));
    assert_int_equal(base, range);
    assert_int_equal(bytes, 6 * MIB);
    OK(cuMemsetD32_v2(range, 0x3f800000, 6 * MIB / 4));
    saxpy s;
    saxpy_open(&s, 1000);
    s.arguments[1] = &(CUdeviceptr){range + 2 * MIB - 2000}; /* y lies over a seam */
    OK(saxpy_launch(&s, NULL));
    float got[1000];
    OK(cuMemcpyDtoH_v2(got, range + 2 * MIB - 2000, sizeof got));
    for (int i = 0; i < 1000; i++)
        assert_true(got[i] == 1 + 2 * (float)i);
    saxpy_close(&s);
    OK(cuMemUnmap(range + 2 * MIB, 2 * MIB)); /* a hole */
    FAILS(INVALID_VALUE, cuMemsetD32_v2(range, 0, 6 * MIB / 4));
    OK(cuMemcpyDtoH_v2(got, range + 2 * MIB - 2000, 2000));
    assert_true(got[499] == 1 + 2 * 499.0f);
    OK(cuMemUnmap(range, 2 * MIB));
    OK(cuMemUnmap(range + 4 * MIB, 2 * MIB));
    OK(cuMemAddressFree(range, 64 * MIB));
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before, after);
}

/* What memory holds goes along when it is mapped elsewhere. */
static void memory_moves(void **state) {
    (void)state;
    CUdeviceptr range;
    CUmemGenericAllocationHandle handle = create(2 * MIB), same;
    uint32_t word = 0;
    unsigned long long flags;
    OK(cuMemAddressReserve(&range, 8 * MIB, 0, 0, 0));
    OK(cuMemMap(range, 2 * MIB, 0, handle, 0));
    OK(cuMemSetAccess(range, 2 * MIB, &both_ways, 1));
    OK(cuMemGetAccess(&flags, &on_first.location, range + 100));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemsetD32_v2(range + 400, 77, 1));
    OK(cuMemUnmap(range, 2 * MIB));
    OK(cuMemMap(range + 6 * MIB, 2 * MIB, 0, handle, 0));
    FAILS(INVALID_VALUE, cuMemcpyDtoH_v2(&word, range + 6 * MIB + 400, 4)); /* no access yet */
    OK(cuMemSetAccess(range + 6 * MIB, 2 * MIB, &both_ways, 1));
    OK(cuMemcpyDtoH_v2(&word, range + 6 * MIB + 400, 4));
    assert_int_equal(word, 77);
    OK(cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)(range + 7 * MIB)));
    assert_int_equal(same, handle);
    driver_access none = both_ways;
    none.flags = 0;
    OK(cuMemSetAccess(range + 6 * MIB, 2 * MIB, &none, 1));
    FAILS(INVALID_VALUE, cuMemcpyDtoH_v2(&word, range + 6 * MIB + 400, 4));
    none.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    FAILS(NOT_SUPPORTED, cuMemSetAccess(range + 6 * MIB, 2 * MIB, &none, 1));
    OK(cuMemRelease(handle));
    OK(cuMemRelease(same));
    OK(cuMemUnmap(range + 6 * MIB, 2 * MIB));
    OK(cuMemAddressFree(range, 8 * MIB));
}

/* The machine's checks hold: fresh pieces are undefined, and what is not mapped is out of bounds. */
static void checks_hold(void **state) {
    (void)state;
    CUdeviceptr range, x;
    saxpy s;
    OK(cuMemAddressReserve(&range, 4 * MIB, 0, 0, 0));
    CUmemGenericAllocationHandle handle = create(2 * MIB);
    OK(cuMemMap(range, 2 * MIB, 0, handle, 0));
    OK(cuMemRelease(handle));
    OK(cuMemSetAccess(range, 2 * MIB, &both_ways, 1));
    saxpy_open(&s, 1000);
    x = range;
    s.arguments[0] = &x;
    FAILS(LAUNCH_FAILED, saxpy_launch(&s, NULL));
    char *text = kcsim_fault_text(0);
    assert_non_null(strstr(text, "uninitialized"));
    free(text);
    OK(cuMemsetD32_v2(range, 0, 1000));
    OK(saxpy_launch(&s, NULL));
    x = range + 2 * MIB;
    FAILS(ILLEGAL_ADDRESS, saxpy_launch(&s, NULL));
}

int main(void) {
    set_environment();
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    const struct CMUnitTest tests[] = {
        IN_CONTEXT(arguments_are_checked),
        IN_CONTEXT(pieces_adjoin),
        IN_CONTEXT(memory_moves),
        IN_CONTEXT(checks_hold),
    };
    return clean_up(cmocka_run_group_tests(tests, NULL, NULL));
}
