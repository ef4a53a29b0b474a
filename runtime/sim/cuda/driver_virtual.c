/* Virtual memory management: addresses, memory, and what is mapped where.
 *
 * A handle is memory of one device without an address; it lives while it is held or mapped. The
 * machine maps it when access is given, so that memory without access faults as it should. A
 * machine has addresses of its own: a reservation is the current device's, and takes that
 * device's memory alone. */
#include "runtime/sim/cuda/driver_api.h"

#include <stdlib.h>
#include <string.h>

#define GRANULARITY ((size_t)2 << 20)

typedef struct generic_memory {
    driver_object object;
    driver_device *device;
    kcsim_backing *backing;
    size_t bytes;
    unsigned holds; /* by the program, and by mappings */
    driver_generic_properties properties;
} generic_memory;

/* The lists are held by one lock; the machine is called with it, never the other way round. */
typedef struct mapping {
    uint64_t address;
    size_t bytes;
    generic_memory *memory;
    bool accessible;
    struct mapping *next;
} mapping;

typedef struct reservation {
    uint64_t address;
    size_t bytes;
    driver_device *device;
    struct reservation *next;
} reservation;

static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static mapping *mappings;
static reservation *reservations;

static generic_memory *memory_of(CUmemGenericAllocationHandle handle) {
    void *pointer = (void *)(uintptr_t)handle;
    return driver_handle_is(pointer, DRIVER_GENERIC) ? pointer : NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static CUresult check_properties(const driver_generic_properties *properties) {
    if (properties == NULL || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->requestedHandleTypes != 0)
        return driver_unsupported("cuMemCreate with handle types");
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return driver_unsupported("cuMemCreate of memory that is not a device's");
    return driver_device_at(properties->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemGetAllocationGranularity(size_t *out, const driver_generic_properties *properties,
                                       int option) {
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS) result = check_properties(properties);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || option < 0 || option > 1) return CUDA_ERROR_INVALID_VALUE;
    *out = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const driver_generic_properties *properties, unsigned long long flags) {
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS) result = check_properties(properties);
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || bytes == 0 || bytes % GRANULARITY != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    driver_device *device = driver_device_at(properties->location.id);
    kcsim_machine *machine = driver_device_machine(device);
    generic_memory *memory = calloc(1, sizeof *memory);
    if (machine == NULL || memory == NULL ||
        kcsim_mem_create(machine, bytes, &memory->backing) != KCSIM_OK) {
        free(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory->device = device;
    memory->bytes = bytes;
    memory->holds = 1;
    memory->properties = *properties;
    if (!driver_object_add(&memory->object, DRIVER_GENERIC, NULL)) {
        kcsim_mem_destroy(machine, memory->backing);
        free(memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (uintptr_t)memory;
    return CUDA_SUCCESS;
}

/* With the lists' lock held. */
static void let_go(generic_memory *memory) {
    if (--memory->holds > 0) return;
    driver_object_remove(&memory->object);
    kcsim_mem_destroy(memory->device->machine, memory->backing);
    free(memory);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&lists_lock);
    generic_memory *memory = memory_of(handle);
    if (memory != NULL) let_go(memory);
    pthread_mutex_unlock(&lists_lock);
    return memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationPropertiesFromHandle(driver_generic_properties *out,
                                                CUmemGenericAllocationHandle handle) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&lists_lock);
    const generic_memory *memory = memory_of(handle);
    if (memory != NULL && out != NULL) *out = memory->properties;
    pthread_mutex_unlock(&lists_lock);
    return memory != NULL && out != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- addresses ------------------------------------------------------------------------------- */

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr wish,
                             unsigned long long flags) {
    CUresult result = driver_ready();
    CUcontext context = NULL;
    (void)wish; /* a hint */
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL || bytes == 0 || bytes % GRANULARITY != 0 || flags != 0 ||
        (align & (align - 1)) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    bool current = cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL;
    driver_device *device = current ? context->device : driver_device_at(0);
    kcsim_machine *machine = driver_device_machine(device);
    reservation *made = calloc(1, sizeof *made);
    if (align < GRANULARITY) align = GRANULARITY;
    if (machine == NULL || made == NULL ||
        kcsim_mem_reserve(machine, bytes, align, &made->address) != KCSIM_OK) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    made->bytes = bytes;
    made->device = device;
    pthread_mutex_lock(&lists_lock);
    made->next = reservations;
    reservations = made;
    pthread_mutex_unlock(&lists_lock);
    *out = made->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&lists_lock);
    reservation **link = &reservations;
    while (*link != NULL && (*link)->address != address)
        link = &(*link)->next;
    reservation *found = *link;
    bool mapped = false;
    for (const mapping *at = mappings; found != NULL && at != NULL; at = at->next)
        mapped |= at->address - address < bytes;
    bool right = found != NULL && found->bytes == bytes && !mapped;
    if (right) {
        kcsim_mem_unreserve(found->device->machine, address);
        *link = found->next;
        free(found);
    }
    pthread_mutex_unlock(&lists_lock);
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- mapping --------------------------------------------------------------------------------- */

static bool overlaps(const mapping *at, uint64_t address, size_t bytes) {
    return at->address < address + bytes && at->address + at->bytes > address;
}

static const reservation *reserved(uint64_t address, size_t bytes) {
    const reservation *at = reservations;
    while (at != NULL &&
           (address - at->address > at->bytes || bytes > at->bytes - (address - at->address)))
        at = at->next;
    return at;
}

/* With the lock held. */
static CUresult add_mapping(uint64_t address, size_t bytes, generic_memory *memory) {
    const reservation *in = reserved(address, bytes);
    if (memory == NULL || in == NULL || bytes != memory->bytes || address % GRANULARITY != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (const mapping *at = mappings; at != NULL; at = at->next)
        if (overlaps(at, address, bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (in->device != memory->device)
        return driver_unsupported("cuMemMap of another device's memory");
    mapping *made = calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (mapping){address, bytes, memory, false, mappings};
    mappings = made;
    memory->holds++;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (bytes == 0 || offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lists_lock);
    result = add_mapping(address, bytes, memory_of(handle));
    pthread_mutex_unlock(&lists_lock);
    return result;
}

/* Bytes of the range that whole mappings cover. */
static size_t covered(uint64_t address, size_t bytes) {
    size_t sum = 0;
    for (const mapping *at = mappings; at != NULL; at = at->next)
        if (at->address >= address && at->address + at->bytes <= address + bytes) sum += at->bytes;
    return sum;
}

static CUresult set_access(mapping *at, bool on) {
    kcsim_machine *machine = at->memory->device->machine;
    if (at->accessible == on) return CUDA_SUCCESS;
    kcsim_status status = on ? kcsim_mem_map(machine, at->address, at->memory->backing)
                             : kcsim_mem_unmap(machine, at->address, at->bytes);
    if (status != KCSIM_OK) return CUDA_ERROR_INVALID_VALUE;
    at->accessible = on;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    pthread_mutex_lock(&lists_lock);
    bool right = bytes > 0 && covered(address, bytes) == bytes;
    for (mapping **link = &mappings; right && *link != NULL;) {
        mapping *at = *link;
        if (!overlaps(at, address, bytes)) {
            link = &at->next;
            continue;
        }
        set_access(at, false);
        *link = at->next;
        let_go(at->memory);
        free(at);
    }
    pthread_mutex_unlock(&lists_lock);
    return right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Of the machine's own device only: none sees another's memory. */
static CUresult access_of(const driver_access *list, size_t count, const driver_device *device,
                          bool *on) {
    for (size_t i = 0; i < count; i++) {
        const driver_access *wish = &list[i];
        if (wish->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            return driver_unsupported("cuMemSetAccess for the host");
        if (wish->location.id != device->ordinal)
            return driver_unsupported("cuMemSetAccess for another device");
        if (wish->flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
            return driver_unsupported("cuMemSetAccess for reading alone");
        if (wish->flags != 0 && wish->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        *on = wish->flags != 0;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const driver_access *list,
                        size_t count) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (list == NULL || count == 0 || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lists_lock);
    const reservation *in = reserved(address, bytes);
    bool on = false;
    if (in == NULL || covered(address, bytes) != bytes) result = CUDA_ERROR_INVALID_VALUE;
    else result = access_of(list, count, in->device, &on);
    for (mapping *at = mappings; at != NULL && result == CUDA_SUCCESS; at = at->next)
        if (overlaps(at, address, bytes)) result = set_access(at, on);
    pthread_mutex_unlock(&lists_lock);
    return result;
}

/* The mapping that holds an address, with the lock held. */
static mapping *mapping_at(uint64_t address) {
    mapping *at = mappings;
    while (at != NULL && address - at->address >= at->bytes)
        at = at->next;
    return at;
}

CUresult cuMemGetAccess(unsigned long long *flags, const driver_location *location,
                        CUdeviceptr address) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (flags == NULL || location == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lists_lock);
    const mapping *at = mapping_at(address);
    bool own = at != NULL && location->type == CU_MEM_LOCATION_TYPE_DEVICE &&
               location->id == at->memory->device->ordinal;
    if (at != NULL) *flags = own && at->accessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
    pthread_mutex_unlock(&lists_lock);
    return at != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS) return result;
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lists_lock);
    const mapping *at = mapping_at((uintptr_t)address);
    if (at != NULL) {
        at->memory->holds++;
        *out = (uintptr_t)at->memory;
    }
    pthread_mutex_unlock(&lists_lock);
    return at != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
