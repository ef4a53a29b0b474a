/* Fills: rows of elements of one, two or four bytes. */
#include "runtime/sim/cuda/driver_api.h"

#include <string.h>

static size_t row_bytes(const driver_fill *fill) {
    return fill->width * fill->element;
}

/* The host bytes of the whole fill and the machine they are in; NULL when not one allocation. */
static unsigned char *locate(CUcontext context, const driver_fill *fill, driver_device **device) {
    size_t bytes;
    if (fill->height > 1 && fill->pitch < row_bytes(fill)) return NULL;
    if (__builtin_mul_overflow(fill->pitch, fill->height - 1, &bytes) ||
        __builtin_add_overflow(bytes, row_bytes(fill), &bytes))
        return NULL;
    int count = driver_device_count();
    for (int i = -1; i < count; i++) {
        *device = i < 0 ? context->device : driver_device_at(i);
        if ((*device)->machine == NULL) continue;
        unsigned char *found = kcsim_mem_host((*device)->machine, fill->target, bytes);
        if (found != NULL) return found;
    }
    return NULL;
}

static bool is_empty(const driver_fill *fill) {
    return fill->width == 0 || fill->height == 0;
}

CUresult driver_fill_check(CUcontext context, const driver_fill *fill) {
    driver_device *device;
    if (fill->target % fill->element != 0 || fill->width > SIZE_MAX / fill->element)
        return CUDA_ERROR_INVALID_VALUE;
    if (fill->height > 1 && fill->pitch % fill->element != 0) return CUDA_ERROR_INVALID_VALUE;
    if (is_empty(fill)) return CUDA_SUCCESS;
    return locate(context, fill, &device) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void fill_row(unsigned char *row, const driver_fill *fill) {
    if (fill->element == 1) {
        memset(row, (int)(fill->value & 0xff), fill->width);
        return;
    }
    uint16_t half = (uint16_t)fill->value;
    uint32_t word = fill->value;
    const void *value = fill->element == 2 ? (const void *)&half : (const void *)&word;
    for (size_t i = 0; i < fill->width; i++)
        memcpy(row + i * fill->element, value, fill->element);
}

CUresult driver_fill_run(CUcontext context, const driver_fill *fill) {
    driver_device *device, *again;
    if (is_empty(fill)) return CUDA_SUCCESS;
    if (locate(context, fill, &device) == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&device->lock);
    unsigned char *rows = locate(context, fill, &again); /* it may have been freed since */
    bool found = rows != NULL && again == device;
    driver_mirrors_load(device);
    for (size_t y = 0; found && y < fill->height; y++) {
        fill_row(rows + y * fill->pitch, fill);
        kcsim_mem_written(device->machine, fill->target + y * fill->pitch, row_bytes(fill));
    }
    driver_mirrors_store(device);
    pthread_mutex_unlock(&device->lock);
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static CUresult submit(const driver_fill *fill, CUstream handle) {
    CUstream stream;
    CUresult result = driver_stream_enter(handle, &stream);
    if (result != CUDA_SUCCESS) return result;
    driver_op op = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .context = stream->object.context};
    op.u.fill = *fill;
    result = driver_fill_check(op.context, fill);
    return result != CUDA_SUCCESS ? result : driver_stream_submit(stream, &op);
}

static CUresult line(CUdeviceptr target, unsigned element, unsigned value, size_t count,
                     CUstream stream) {
    driver_fill fill = {
        .target = target, .width = count, .height = 1, .element = element, .value = value};
    return submit(&fill, stream);
}

static CUresult plane(CUdeviceptr target, size_t pitch, unsigned element, unsigned value,
                      size_t width, size_t height, CUstream stream) {
    driver_fill fill = {.target = target,
                        .pitch = pitch,
                        .width = width,
                        .height = height,
                        .element = element,
                        .value = value};
    return submit(&fill, stream);
}

/* The four calls of one element size, with their per-thread names. */
#define FILLS(bits, type)                                                                          \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr target, type value, size_t count) {                  \
        return line(target, (bits) / 8, value, count, CU_STREAM_LEGACY);                           \
    }                                                                                              \
    CUresult cuMemsetD##bits##Async(CUdeviceptr target, type value, size_t count,                  \
                                    CUstream stream) {                                             \
        return line(target, (bits) / 8, value, count, stream);                                     \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr target, size_t pitch, type value, size_t width,    \
                                    size_t height) {                                               \
        return plane(target, pitch, (bits) / 8, value, width, height, CU_STREAM_LEGACY);           \
    }                                                                                              \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr target, size_t pitch, type value, size_t width,  \
                                      size_t height, CUstream stream) {                            \
        return plane(target, pitch, (bits) / 8, value, width, height, stream);                     \
    }                                                                                              \
    DRIVER_ALIAS(cuMemsetD##bits##_v2_ptds, cuMemsetD##bits##_v2);                                 \
    DRIVER_ALIAS(cuMemsetD##bits##Async_ptsz, cuMemsetD##bits##Async);                             \
    DRIVER_ALIAS(cuMemsetD2D##bits##_v2_ptds, cuMemsetD2D##bits##_v2);                             \
    DRIVER_ALIAS(cuMemsetD2D##bits##Async_ptsz, cuMemsetD2D##bits##Async)

FILLS(8, unsigned char);
FILLS(16, unsigned short);
FILLS(32, unsigned);
