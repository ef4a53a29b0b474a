/* Host memory that the device reaches.
 *
 * Pinned memory is made by the machine, at one address for both sides. Registered memory is the
 * program's own, somewhere that the machine has no pages: the device gets a mirror of it at another
 * address (cuMemHostGetDevicePointer; the attribute CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM is 0).
 * Work runs when it is submitted, so it is enough that mirrors are loaded before it and stored
 * behind it. What a host thread writes to registered memory meanwhile may be lost. */
#include "runtime/sim/cuda/driver_api.h"

#include <string.h>

CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (out == NULL || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    uint64_t address;
    result = driver_allocate(context, bytes, DRIVER_MEMORY_HOST, flags, NULL, &address);
    if (result == CUDA_SUCCESS) *out = (void *)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocHost_v2(void **out, size_t bytes) {
    return cuMemHostAlloc(out, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    if (pointer == NULL) return CUDA_SUCCESS;
    return driver_release((uint64_t)(uintptr_t)pointer, DRIVER_MEMORY_HOST);
}

/* ---- mirrors of registered memory ------------------------------------------------------------ */

typedef void (*carry)(void *host, void *mirror, size_t bytes);

static void each_mirror(driver_device *device, carry move) {
    driver_allocation row = {0};
    while (device->mirrors && driver_allocation_after(row.base, &row)) {
        if (row.type != DRIVER_MEMORY_REGISTERED || row.device == 0) continue;
        void *mirror = row.context->device == device
                           ? kcsim_mem_host(device->machine, row.device, row.bytes)
                           : NULL;
        if (mirror != NULL) move((void *)(uintptr_t)row.base, mirror, row.bytes);
    }
}

static void load(void *host, void *mirror, size_t bytes) {
    memcpy(mirror, host, bytes);
}

/* Only what differs: the program may have made its pages read-only. */
static void store(void *host, void *mirror, size_t bytes) {
    if (memcmp(host, mirror, bytes) != 0) memcpy(host, mirror, bytes);
}

void driver_mirrors_load(driver_device *device) {
    each_mirror(device, load);
}

void driver_mirrors_store(driver_device *device) {
    each_mirror(device, store);
}

static CUresult make_mirror(driver_allocation *row) {
    driver_device *device = row->context->device;
    pthread_mutex_lock(&device->lock);
    bool made = kcsim_mem_alloc_shared(device->machine, row->bytes, &row->device) == KCSIM_OK;
    if (made && !driver_allocation_update(row)) kcsim_mem_free(device->machine, row->device);
    device->mirrors |= made;
    pthread_mutex_unlock(&device->lock);
    return made ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    driver_allocation row;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!driver_allocation_find(address, &row) || row.type == DRIVER_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (row.device == 0) result = make_mirror(&row);
    if (result == CUDA_SUCCESS) *out = row.device + (address - row.base);
    return result;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer) {
    CUcontext context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS) return result;
    driver_allocation row;
    if (flags == NULL || !driver_allocation_find((uint64_t)(uintptr_t)pointer, &row) ||
        row.type == DRIVER_MEMORY_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = row.flags;
    return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                     CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    if (pointer == NULL || bytes == 0 || bytes > UINT64_MAX - base || (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0)
        return driver_unsupported("cuMemHostRegister of I/O memory");
    if ((flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0) /* as the attribute says */
        return driver_unsupported("cuMemHostRegister of read-only memory");
    driver_allocation row = {.base = base,
                             .bytes = bytes,
                             .type = DRIVER_MEMORY_REGISTERED,
                             .context = context,
                             .flags = flags};
    return driver_allocation_insert(&row);
}

CUresult cuMemHostUnregister(void *pointer) {
    CUcontext context;
    CUresult result = driver_enter_unsafe(&context);
    if (result != CUDA_SUCCESS) return result;
    result = driver_release((uint64_t)(uintptr_t)pointer, DRIVER_MEMORY_REGISTERED);
    return result == CUDA_SUCCESS ? result : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
