/* Stream-ordered allocation. Streams are always idle, so allocating and freeing in stream order is
 * allocating and freeing; a pool is a name that its allocations carry, with the attributes that
 * were set. An allocation captured into a graph is made at once and lives until its context goes;
 * replaying the graph finds the same address, as on hardware. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

struct CUmemPoolHandle_st {
    driver_object object;
    driver_device *device;
    uint64_t attributes[CU_MEMPOOL_ATTR_USED_MEM_HIGH + 1];
};

static CUresult create_pool(driver_device *device, CUmemoryPool *out) {
    CUmemoryPool pool = calloc(1, sizeof *pool);
    if (pool == NULL || !driver_object_add(&pool->object, DRIVER_POOL, NULL)) {
        free(pool);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pool->device = device;
    pool->attributes[CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = 1;
    pool->attributes[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] = 1;
    pool->attributes[CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES] = 1;
    *out = pool;
    return CUDA_SUCCESS;
}

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult current_pool(driver_device *device, CUmemoryPool *out, bool first) {
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&pool_lock);
    if (device->default_pool == NULL) {
        result = create_pool(device, &device->default_pool);
        device->pool = device->default_pool;
    }
    *out = first ? device->default_pool : device->pool;
    pthread_mutex_unlock(&pool_lock);
    return result;
}

static CUresult device_pool(CUmemoryPool *out, CUdevice ordinal, bool first) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    driver_device *device = driver_device_at(ordinal);
    if (device == NULL) return CUDA_ERROR_INVALID_DEVICE;
    return out == NULL ? CUDA_ERROR_INVALID_VALUE : current_pool(device, out, first);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return device_pool(out, ordinal, true);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return device_pool(out, ordinal, false);
}

static CUresult check(CUmemoryPool pool) {
    return driver_handle_check(pool, DRIVER_POOL, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
    CUmemoryPool before;
    CUresult result = device_pool(&before, ordinal, true);
    if (result == CUDA_SUCCESS) result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    driver_device *device = driver_device_at(ordinal);
    if (pool->device != device) return CUDA_ERROR_INVALID_VALUE;
    device->pool = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const driver_pool_properties *properties) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || properties == NULL ||
        properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != 0)
        return driver_unsupported("cuMemPoolCreate with handle types");
    driver_device *device = driver_device_at(properties->location.id);
    return device == NULL ? CUDA_ERROR_INVALID_DEVICE : create_pool(device, out);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    CUresult result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    driver_device *device = pool->device;
    if (pool == device->default_pool) return CUDA_ERROR_INVALID_VALUE;
    if (device->pool == pool) device->pool = device->default_pool;
    driver_object_remove(&pool->object);
    free(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
    (void)keep; /* freed memory goes back at once */
    return check(pool);
}

/* The flags are ints, the sizes 64-bit. */
static bool is_flag(CUmemPool_attribute attribute) {
    return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CUresult result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    if (value == NULL || attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_flag(attribute)) *(int *)value = (int)pool->attributes[attribute];
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        *(uint64_t *)value = pool->attributes[attribute];
    else *(uint64_t *)value = driver_pool_used(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    CUresult result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    if (value == NULL || attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_flag(attribute)) pool->attributes[attribute] = *(int *)value != 0;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->attributes[attribute] = *(uint64_t *)value;
    else if (*(uint64_t *)value != 0) /* the high-water marks can only be reset */
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, driver_location *place) {
    CUresult result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL || place == NULL) return CUDA_ERROR_INVALID_VALUE;
    bool own = place->type == CU_MEM_LOCATION_TYPE_DEVICE && place->id == pool->device->ordinal;
    *flags = own ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const driver_access *map, size_t count) {
    CUresult result = check(pool);
    if (result != CUDA_SUCCESS) return result;
    if (map == NULL || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (map[i].location.id != pool->device->ordinal) return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

/* ---- allocating in stream order -------------------------------------------------------------- */

/* In a capture the allocation leaves an empty node, so that order can be asked for. */
static CUresult leave_node(CUstream stream) {
    driver_op nothing = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .context = stream->object.context};
    return driver_stream_submit(stream, &nothing);
}

static CUresult allocate(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    CUcontext owner = stream->object.context;
    if (pool == NULL) result = current_pool(owner->device, &pool, false);
    if (result == CUDA_SUCCESS && pool->device != owner->device) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) result = leave_node(stream);
    if (result != CUDA_SUCCESS) return result;
    uint64_t address;
    result = driver_allocate(owner, bytes, DRIVER_MEMORY_DEVICE, 0, pool, &address);
    if (result == CUDA_SUCCESS) *out = address;
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
    return allocate(out, bytes, NULL, stream);
}
DRIVER_ALIAS(cuMemAllocAsync_ptsz, cuMemAllocAsync);

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
    CUresult result = check(pool);
    return result != CUDA_SUCCESS ? result : allocate(out, bytes, pool, stream);
}
DRIVER_ALIAS(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync);

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    driver_allocation row;
    if (!driver_allocation_find(address, &row) || row.base != address ||
        row.type != DRIVER_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    bool captured = stream->capture != NULL;
    result = leave_node(stream);
    if (result != CUDA_SUCCESS || captured) return result; /* replays need the memory */
    return driver_release(address, DRIVER_MEMORY_DEVICE);
}
DRIVER_ALIAS(cuMemFreeAsync_ptsz, cuMemFreeAsync);
