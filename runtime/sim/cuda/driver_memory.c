/* Allocations: one table sorted by base for the whole process, and the calls that fill it.
 *
 * The machine keeps the bytes and knows every bound; the table adds what only the driver knows: the
 * context that owns an allocation (it goes with the context), what kind of memory it is, and its
 * pool. Pinned and managed memory has one address for the host and the device and is none of the
 * card's. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

static struct {
    driver_allocation *rows;
    size_t count, capacity;
} table;

/* ---- the table, with the global lock held ---------------------------------------------------- */

/* The first row whose base is above `address`. */
static size_t above(uint64_t address) {
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.rows[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static driver_allocation *containing(uint64_t address) {
    size_t at = above(address);
    if (at == 0) return NULL;
    driver_allocation *row = &table.rows[at - 1];
    return address - row->base < row->bytes ? row : NULL;
}

static bool insert(const driver_allocation *row) {
    if (table.count == table.capacity) {
        size_t capacity = table.capacity > 0 ? table.capacity * 2 : 64;
        void *rows = realloc(table.rows, capacity * sizeof *table.rows);
        if (rows == NULL) return false;
        table.rows = rows;
        table.capacity = capacity;
    }
    size_t at = above(row->base);
    memmove(&table.rows[at + 1], &table.rows[at], (table.count - at) * sizeof *row);
    table.rows[at] = *row;
    table.count++;
    return true;
}

static void erase(driver_allocation *row) {
    size_t at = (size_t)(row - table.rows);
    memmove(row, row + 1, (table.count - at - 1) * sizeof *row);
    table.count--;
}

bool driver_allocation_find(uint64_t address, driver_allocation *out) {
    driver_lock();
    const driver_allocation *row = containing(address);
    if (row != NULL) *out = *row;
    driver_unlock();
    return row != NULL;
}

bool driver_allocation_after(uint64_t address, driver_allocation *out) {
    driver_lock();
    size_t at = above(address);
    if (at < table.count) *out = table.rows[at];
    bool found = at < table.count;
    driver_unlock();
    return found;
}

CUresult driver_allocation_insert(driver_allocation *row) {
    CUresult result = CUDA_SUCCESS;
    driver_lock();
    size_t next = above(row->base);
    bool overlaps = containing(row->base) != NULL ||
                    (next < table.count && table.rows[next].base - row->base < row->bytes);
    row->id = driver_next_id();
    if (overlaps) result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else if (!insert(row)) result = CUDA_ERROR_OUT_OF_MEMORY;
    driver_unlock();
    return result;
}

bool driver_allocation_update(const driver_allocation *row) {
    driver_lock();
    driver_allocation *found = containing(row->base);
    bool same = found != NULL && found->id == row->id;
    if (same) *found = *row;
    driver_unlock();
    return same;
}

size_t driver_pool_used(CUmemoryPool pool) {
    size_t bytes = 0;
    driver_lock();
    for (size_t i = 0; i < table.count; i++)
        if (table.rows[i].pool == pool) bytes += table.rows[i].bytes;
    driver_unlock();
    return bytes;
}

/* ---- allocating and releasing ---------------------------------------------------------------- */

static CUresult result_of(kcsim_status status) {
    switch (status) {
    case KCSIM_OK: return CUDA_SUCCESS;
    case KCSIM_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_allocate(CUcontext context, size_t bytes, driver_memory_type type, unsigned flags,
                         CUmemoryPool pool, uint64_t *address) {
    driver_device *device = context->device;
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    driver_allocation row = {
        .bytes = bytes, .type = type, .context = context, .flags = flags, .pool = pool};
    pthread_mutex_lock(&device->lock);
    bool shared = type != DRIVER_MEMORY_DEVICE;
    CUresult result = result_of(shared ? kcsim_mem_alloc_shared(device->machine, bytes, &row.device)
                                       : kcsim_mem_alloc(device->machine, bytes, &row.device));
    if (result == CUDA_SUCCESS) {
        row.base = row.device;
        result = driver_allocation_insert(&row);
        if (result != CUDA_SUCCESS) kcsim_mem_free(device->machine, row.device);
    }
    pthread_mutex_unlock(&device->lock);
    if (result == CUDA_SUCCESS) *address = row.base;
    return result;
}

static void give_back(const driver_allocation *row) {
    driver_device *device = row->context->device;
    if (row->device == 0) return;
    pthread_mutex_lock(&device->lock);
    kcsim_mem_free(device->machine, row->device);
    pthread_mutex_unlock(&device->lock);
}

CUresult driver_release(uint64_t address, driver_memory_type type) {
    driver_lock();
    driver_allocation *found = containing(address);
    bool right = found != NULL && found->base == address && found->type == type;
    driver_allocation row = right ? *found : (driver_allocation){0};
    if (right) erase(found);
    driver_unlock();
    if (!right) return CUDA_ERROR_INVALID_VALUE;
    give_back(&row);
    return CUDA_SUCCESS;
}

void driver_release_context(CUcontext context) {
    for (;;) {
        driver_lock();
        size_t i = 0;
        while (i < table.count && table.rows[i].context != context)
            i++;
        bool found = i < table.count;
        driver_allocation row = found ? table.rows[i] : (driver_allocation){0};
        if (found) erase(&table.rows[i]);
        driver_unlock();
        if (!found) return;
        give_back(&row);
    }
}

/* ---- device memory --------------------------------------------------------------------------- */

CUresult driver_enter_unsafe(CUcontext *context) {
    CUresult result = driver_enter(context);
    return result != CUDA_SUCCESS ? result : driver_unsafe_call();
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    uint64_t address;
    result = driver_allocate(context, bytes, DRIVER_MEMORY_DEVICE, 0, NULL, &address);
    if (result == CUDA_SUCCESS) *out = address;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned element) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || pitch == NULL || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (width == 0 || height == 0 || width > SIZE_MAX - 511) return CUDA_ERROR_INVALID_VALUE;
    size_t row = (width + 511) / 512 * 512;
    if (row > SIZE_MAX / height) return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t address;
    result = driver_allocate(context, row * height, DRIVER_MEMORY_DEVICE, 0, NULL, &address);
    if (result != CUDA_SUCCESS) return result;
    *out = address;
    *pitch = row;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    if (address == 0) return CUDA_SUCCESS;
    result = driver_release(address, DRIVER_MEMORY_DEVICE);
    return result == CUDA_SUCCESS ? result : driver_release(address, DRIVER_MEMORY_MANAGED);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (free_bytes == NULL || total_bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
    driver_device *device = context->device;
    pthread_mutex_lock(&device->lock);
    kcsim_mem_info(device->machine, free_bytes, total_bytes);
    pthread_mutex_unlock(&device->lock);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    driver_allocation row;
    uint64_t start;
    size_t size;
    if (driver_allocation_find(address, &row) && row.type != DRIVER_MEMORY_REGISTERED) {
        start = row.base;
        size = row.bytes;
    } else if (kcsim_mem_range(context->device->machine, address, &start, &size) != KCSIM_OK) {
        return CUDA_ERROR_NOT_FOUND;
    }
    if (base != NULL) *base = start;
    if (bytes != NULL) *bytes = size;
    return CUDA_SUCCESS;
}
