/* Copies. Every copy is one shape: rows of bytes in up to three dimensions, from an address to an
 * address. An address is first looked for in the machines (the context's own first); what no
 * machine knows is host memory, if the caller allowed that.
 *
 * Definedness travels: bytes from the host are defined, bytes from a device are as they were. */
#include "runtime/sim/cuda/driver_api.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct place {
    driver_device *device; /* NULL: host memory */
    uint64_t address;      /* of the device */
    unsigned char *bytes;
} place;

static bool in_machine(driver_device *device, uint64_t address, size_t bytes, place *out) {
    void *host = device->machine != NULL ? kcsim_mem_host(device->machine, address, bytes) : NULL;
    if (host != NULL) *out = (place){device, address, host};
    return host != NULL;
}

/* Whether the first and last bytes are in mapped memory: a stale or overrun device address must be
 * an error and not a fault of the process. */
static bool is_mapped(uint64_t address, size_t bytes) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    for (int end = 0; end < 2; end++) {
        uint64_t at = address + (end != 0 ? bytes - 1 : 0);
        if (mincore((void *)(uintptr_t)(at / page * page), 1, &resident) != 0) return false;
    }
    return true;
}

static bool find(CUcontext context, uint64_t address, size_t bytes, bool device_only, place *out) {
    if (in_machine(context->device, address, bytes, out)) return true;
    int count = driver_device_count();
    for (int i = 0; i < count; i++)
        if (in_machine(driver_device_at(i), address, bytes, out)) return true;
    driver_allocation row;
    bool known = driver_allocation_find(address, &row);
    bool inside = known && bytes <= row.bytes - (address - row.base);
    bool pinned = inside && row.type != DRIVER_MEMORY_DEVICE;
    if (device_only && !pinned) return false;
    if (known && row.type == DRIVER_MEMORY_DEVICE) return false; /* runs past its end */
    *out = (place){NULL, 0, (unsigned char *)(uintptr_t)address};
    return address != 0 && is_mapped(address, bytes);
}

/* Bytes from the first to past the last one touched; false on overflow. */
static bool span(size_t pitch, size_t rows, const driver_copy *copy, size_t *out) {
    size_t slice, body;
    if (__builtin_mul_overflow(pitch, rows, &slice)) return false;
    if (__builtin_mul_overflow(slice, copy->depth - 1, &body)) return false;
    size_t last;
    if (__builtin_mul_overflow(pitch, copy->height - 1, &last)) return false;
    if (__builtin_add_overflow(body, last, &body)) return false;
    return !__builtin_add_overflow(body, copy->width, out);
}

static bool is_empty(const driver_copy *copy) {
    return copy->width == 0 || copy->height == 0 || copy->depth == 0;
}

static CUresult locate(CUcontext context, const driver_copy *copy, place *from, place *to) {
    bool rows = copy->height > 1 || copy->depth > 1;
    if (rows && (copy->source_pitch < copy->width || copy->target_pitch < copy->width))
        return CUDA_ERROR_INVALID_VALUE;
    if (copy->depth > 1 &&
        (copy->source_height < copy->height || copy->target_height < copy->height))
        return CUDA_ERROR_INVALID_VALUE;
    size_t source_bytes, target_bytes;
    if (!span(copy->source_pitch, copy->source_height, copy, &source_bytes) ||
        !span(copy->target_pitch, copy->target_height, copy, &target_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext source = copy->source_context != NULL ? copy->source_context : context;
    CUcontext target = copy->target_context != NULL ? copy->target_context : context;
    if (!find(source, copy->source, source_bytes, copy->source_device, from) ||
        !find(target, copy->target, target_bytes, copy->target_device, to))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult driver_copy_check(CUcontext context, const driver_copy *copy) {
    place from, to;
    return is_empty(copy) ? CUDA_SUCCESS : locate(context, copy, &from, &to);
}

/* ---- carrying it out ------------------------------------------------------------------------- */

/* Device locks, in the order of ordinals; both may be the same or absent. */
static void lock_pair(driver_device *a, driver_device *b, bool lock) {
    if (a != NULL && b != NULL && a->ordinal > b->ordinal) {
        driver_device *swap = a;
        a = b;
        b = swap;
    }
    int (*change)(pthread_mutex_t *) = lock ? pthread_mutex_lock : pthread_mutex_unlock;
    if (a != NULL) change(&a->lock);
    if (b != NULL && b != a) change(&b->lock);
}

/* Between two machines definedness is copied in halves, down to pieces that are one or the other.
 */
static void carry_defined(const place *to, uint64_t target, const place *from, uint64_t source,
                          size_t bytes) {
    if (kcsim_mem_defined(from->device->machine, source, bytes)) {
        kcsim_mem_written(to->device->machine, target, bytes);
    } else if (bytes > 1) {
        size_t half = bytes / 2;
        carry_defined(to, target, from, source, half);
        carry_defined(to, target + half, from, source + half, bytes - half);
    }
}

static void mark_row(const place *to, size_t to_offset, const place *from, size_t from_offset,
                     size_t bytes) {
    if (to->device == NULL) return;
    uint64_t target = to->address + to_offset, source = from->address + from_offset;
    if (from->device == NULL) kcsim_mem_written(to->device->machine, target, bytes);
    else if (from->device == to->device)
        kcsim_mem_copy_defined(to->device->machine, target, source, bytes);
    else carry_defined(to, target, from, source, bytes);
}

CUresult driver_copy_run(CUcontext context, const driver_copy *copy) {
    place from, to;
    if (is_empty(copy)) return CUDA_SUCCESS;
    CUresult result = locate(context, copy, &from, &to);
    if (result != CUDA_SUCCESS) return result;
    driver_device *source = from.device, *target = to.device;
    lock_pair(source, target, true);
    if (source != NULL) driver_mirrors_load(source);
    if (target != NULL && target != source) driver_mirrors_load(target);
    result = locate(context, copy, &from, &to); /* it may have been freed since */
    if (result == CUDA_SUCCESS && (from.device != source || to.device != target))
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t z = 0; z < copy->depth && result == CUDA_SUCCESS; z++)
        for (size_t y = 0; y < copy->height; y++) {
            size_t from_offset = (z * copy->source_height + y) * copy->source_pitch;
            size_t to_offset = (z * copy->target_height + y) * copy->target_pitch;
            memmove(to.bytes + to_offset, from.bytes + from_offset, copy->width);
            mark_row(&to, to_offset, &from, from_offset, copy->width);
        }
    if (target != NULL) driver_mirrors_store(target);
    lock_pair(source, target, false);
    return result;
}

/* ---- from the caller's descriptions ---------------------------------------------------------- */

static CUresult side(unsigned type, const void *host, CUdeviceptr device, uint64_t *address,
                     bool *device_only) {
    *device_only = type == CU_MEMORYTYPE_DEVICE;
    switch (type) {
    case CU_MEMORYTYPE_HOST: *address = (uint64_t)(uintptr_t)host; return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: *address = device; return CUDA_SUCCESS;
    case CU_MEMORYTYPE_ARRAY: return driver_unsupported("copies of CUDA arrays");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_copy_from_3d(const driver_memcpy3d *from, bool peer, driver_copy *copy) {
    *copy = (driver_copy){.source_pitch = from->srcPitch,
                          .source_height = from->srcHeight,
                          .target_pitch = from->dstPitch,
                          .target_height = from->dstHeight,
                          .width = from->WidthInBytes,
                          .height = from->Height,
                          .depth = from->Depth};
    CUresult result = side(from->srcMemoryType, from->srcHost, from->srcDevice, &copy->source,
                           &copy->source_device);
    if (result == CUDA_SUCCESS)
        result = side(from->dstMemoryType, from->dstHost, from->dstDevice, &copy->target,
                      &copy->target_device);
    if (result != CUDA_SUCCESS) return result;
    if (from->srcLOD != 0 || from->dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
    if (copy->source_pitch == 0) copy->source_pitch = from->srcXInBytes + from->WidthInBytes;
    if (copy->target_pitch == 0) copy->target_pitch = from->dstXInBytes + from->WidthInBytes;
    if (copy->source_height == 0) copy->source_height = from->srcY + from->Height;
    if (copy->target_height == 0) copy->target_height = from->dstY + from->Height;
    copy->source +=
        (from->srcZ * copy->source_height + from->srcY) * copy->source_pitch + from->srcXInBytes;
    copy->target +=
        (from->dstZ * copy->target_height + from->dstY) * copy->target_pitch + from->dstXInBytes;
    if (peer) {
        copy->source_context = from->reserved0;
        copy->target_context = from->reserved1;
    } else if (from->reserved0 != NULL || from->reserved1 != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
