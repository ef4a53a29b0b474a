/* Managed memory: one address for the host and the device.
 *
 * The machine maps its pages for both sides, so nothing migrates: prefetching moves nothing, and
 * advice is remembered for the whole allocation that it names a part of. A machine sees its own
 * device's managed memory alone. */
#include "runtime/sim/cuda/driver_api.h"

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t address;
    result = driver_allocate(context, bytes, DRIVER_MEMORY_MANAGED, flags, NULL, &address);
    if (result == CUDA_SUCCESS) *out = address;
    return result;
}

/* The managed allocation that holds the whole range. */
static CUresult range_of(CUdeviceptr address, size_t bytes, driver_allocation *row) {
    if (!driver_allocation_find(address, row) || row->type != DRIVER_MEMORY_MANAGED || bytes == 0 ||
        bytes > row->bytes - (address - row->base))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static bool is_host(int type) {
    return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static CUresult check_location(driver_location location) {
    if (is_host(location.type)) return CUDA_SUCCESS;
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    return driver_device_at(location.id) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* What the older calls name by an ordinal, the host's being CU_DEVICE_CPU. */
static driver_location location_of(CUdevice ordinal) {
    if (ordinal == CU_DEVICE_CPU) return (driver_location){CU_MEM_LOCATION_TYPE_HOST, 0};
    return (driver_location){CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
}

static void set_accessed_by(driver_advice *advice, driver_location location, bool on) {
    if (is_host(location.type)) {
        advice->accessed_by_host = on;
        return;
    }
    uint64_t bit = (uint64_t)1 << location.id;
    advice->accessed_by = on ? advice->accessed_by | bit : advice->accessed_by & ~bit;
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                        driver_location location) {
    CUcontext context;
    driver_allocation row;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = range_of(address, bytes, &row);
    bool names_a_place = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                         advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                         advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (result == CUDA_SUCCESS && names_a_place) result = check_location(location);
    if (result != CUDA_SUCCESS) return result;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        row.advice.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: row.advice.preferred = location; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: row.advice.preferred = (driver_location){0}; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        set_accessed_by(&row.advice, location, advice == CU_MEM_ADVISE_SET_ACCESSED_BY);
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return driver_allocation_update(&row) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice ordinal) {
    return cuMemAdvise_v2(address, bytes, advice, location_of(ordinal));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, driver_location location,
                               unsigned flags, CUstream handle) {
    CUstream stream;
    driver_allocation row;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result == CUDA_SUCCESS && flags != 0) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) result = range_of(address, bytes, &row);
    if (result == CUDA_SUCCESS) result = check_location(location);
    if (result != CUDA_SUCCESS) return result;
    row.advice.prefetched = location;
    return driver_allocation_update(&row) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
DRIVER_ALIAS(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync_v2);

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice ordinal, CUstream handle) {
    return cuMemPrefetchAsync_v2(address, bytes, location_of(ordinal), 0, handle);
}
DRIVER_ALIAS(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync);

/* A location as an ordinal: the host is CU_DEVICE_CPU, none is CU_DEVICE_INVALID. */
static int ordinal_of(driver_location location) {
    if (location.type == CU_MEM_LOCATION_TYPE_INVALID) return -2;
    return is_host(location.type) ? CU_DEVICE_CPU : location.id;
}

/* As many ordinals as there is room for, the rest CU_DEVICE_INVALID. */
static void list_accessed_by(const driver_advice *advice, int *out, size_t room) {
    size_t count = 0;
    if (advice->accessed_by_host && count < room) out[count++] = CU_DEVICE_CPU;
    for (int i = 0; i < DRIVER_MAX_DEVICES && count < room; i++)
        if (advice->accessed_by >> i & 1) out[count++] = i;
    while (count < room)
        out[count++] = -2;
}

static CUresult answer(const driver_advice *advice, CUmem_range_attribute attribute, int *data,
                       size_t size) {
    if (data == NULL || size == 0 || size % 4 != 0) return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        list_accessed_by(advice, data, size / 4);
        return CUDA_SUCCESS;
    }
    if (size != 4) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *data = advice->read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *data = ordinal_of(advice->preferred); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *data = ordinal_of(advice->prefetched);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *data = advice->preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *data = advice->preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *data = advice->prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *data = advice->prefetched.id; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
                                 size_t count, CUdeviceptr address, size_t bytes) {
    CUcontext context;
    driver_allocation row;
    CUresult result = driver_enter(&context);
    if (result == CUDA_SUCCESS) result = range_of(address, bytes, &row);
    if (result != CUDA_SUCCESS) return result;
    if (data == NULL || sizes == NULL || attributes == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = answer(&row.advice, attributes[i], data[i], sizes[i]);
    return result;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
                                CUdeviceptr address, size_t bytes) {
    return cuMemRangeGetAttributes(&data, &size, &attribute, 1, address, bytes);
}

/* Streams are always idle, so that any of them may have any memory. */
CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes,
                                unsigned flags) {
    CUstream stream;
    driver_allocation row;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    bool known = driver_allocation_find(address, &row) && row.type == DRIVER_MEMORY_MANAGED &&
                 row.base == address && (bytes == 0 || bytes == row.bytes);
    bool one = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
               flags == CU_MEM_ATTACH_SINGLE;
    bool shared_stream = handle == NULL || handle == CU_STREAM_LEGACY;
    if (!known || !one || (flags == CU_MEM_ATTACH_SINGLE && shared_stream))
        return CUDA_ERROR_INVALID_VALUE;
    row.flags = flags;
    return driver_allocation_update(&row) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
DRIVER_ALIAS(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync);
